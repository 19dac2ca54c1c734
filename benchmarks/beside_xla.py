"""Tessera beside XLA, both timed in this run, on eight devices of this machine. Prints ratios: below 1 is better than XLA.

  beside_xla.py [NAME..] [--repeat=N] [--rounds=N] [--readme]

compile: wall time of the whole compile (for XLA: lowered module to executable). wire: bytes that a device sends in a
ring, both by the same formula. step: median time of a step, the two in turns. memory: temporaries and outputs of a device.
tax, Tessera's alone: (step on 8 devices / step on 1, same cores) / (FLOPs of the 8 together / of the 1). 1 is free.
Needs build/bin and the Python environment that scripts/bootstrap makes.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

import programs
import jax
import numpy as np
from xla_collectives import wire_bytes

BIN = os.environ.get("TESSERA_BIN", os.path.join(os.path.dirname(__file__), "..", "build", "bin"))


def tessera(*arguments):
    subprocess.run([os.path.join(BIN, "tessera"), *arguments], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


class Tessera:
    """A program compiled by Tessera, in a directory of its own."""

    def __init__(self, text, args):
        self.directory = tempfile.TemporaryDirectory()
        with open(self.path("p.mlir"), "w") as f:
            f.write(text)
        np.savez(self.path("in.npz"), **{f"in{i}": x for i, x in enumerate(programs.as_numpy(args))})
        start = time.perf_counter()
        tessera("compile", self.path("p.mlir"), "-o", self.path("p.tsr"), f"--report={self.path('c.json')}")
        self.compile = time.perf_counter() - start
        with open(self.path("c.json")) as c:
            report = json.load(c)
        self.flops = report.get("flops")
        self.wire = sum(site["wire_bytes"] for site in report["collectives"])
        self.memory = report["memory"]["arena"] + report["memory"]["outputs"]
        self.steps = []

    def path(self, name):
        return os.path.join(self.directory.name, name)

    def run(self, repeat):
        tessera("run", self.path("p.tsr"), f"--inputs={self.path('in.npz')}", f"--outputs={self.path('out.npz')}",
                f"--repeat={repeat + 2}", f"--report={self.path('r.json')}")
        with open(self.path("r.json")) as r:
            self.steps += json.load(r)["steps"][2:]


class Xla:
    def __init__(self, lowered, args):
        start = time.perf_counter()
        self.compiled = lowered.compile()
        self.compile = time.perf_counter() - start
        self.placed = jax.tree.map(jax.device_put, args, self.compiled.input_shardings[0])
        self.wire = wire_bytes(self.compiled.as_text(), len(jax.devices()))
        memory = self.compiled.memory_analysis()
        self.memory = memory.temp_size_in_bytes + memory.output_size_in_bytes
        self.steps = []

    def run(self, repeat):
        for i in range(repeat + 2):
            start = time.perf_counter()
            jax.block_until_ready(self.compiled(*self.placed))
            if i >= 2:
                self.steps.append(time.perf_counter() - start)


KEYS = ("compile", "wire", "step", "memory")
README = os.path.join(os.path.dirname(__file__), "..", "README.md")


def ratio(ours, theirs):
    """Text; "-" where neither has any."""
    if not theirs:
        return "-" if not ours else "inf"
    return f"{ours / theirs:.2f}"


def rows(arguments):
    """(name, {column: text}) of each program, and of their geometric mean."""
    columns = {key: [] for key in KEYS}
    for name, build in programs.PROGRAMS.items():
        if arguments.names and name not in arguments.names:
            continue
        lowered, args = programs.lower(build, 8)
        ours, theirs = Tessera(lowered.as_text(debug_info=True), args), Xla(lowered, args)
        alone = Tessera(programs.lower(build, 1)[0].as_text(), args)
        for _ in range(arguments.rounds):  # in turns, so that what else the machine does meets all alike
            for each in (ours, theirs, alone):
                each.run(arguments.repeat)
        for each in (ours, theirs, alone):
            each.step = float(np.median(each.steps))
        figures = {key: (getattr(ours, key), getattr(theirs, key)) for key in KEYS}
        for key, (own, other) in figures.items():
            if own and other:
                columns[key].append(own / other)
        tax = f"{(ours.step / alone.step) / (8 * ours.flops / alone.flops):.2f}" if ours.flops else "-"
        yield name, {**{key: ratio(*figures[key]) for key in KEYS}, "tax": tax}
    yield "geometric mean", {key: f"{np.exp(np.mean(np.log(columns[key]))):.2f}" if columns[key] else "-" for key in KEYS}


def write_readme(table):
    """Puts the table between the marks that name this command."""
    begin, end = "<!-- benchmarks/beside_xla.py --readme -->\n", "<!-- end -->"
    described = {name: (build.__doc__ or "").strip().rstrip(".") for name, build in programs.PROGRAMS.items()}
    lines = ["| a training step | step | bytes sent | memory | compile |", "| --- | --- | --- | --- | --- |"]
    for name, row in table:
        lines.append(f"| {described.get(name, f'**{name}**')} | {row['step']} | {row['wire']} | {row['memory']} | {row['compile']} |")
    with open(README) as file:
        before, _, rest = file.read().partition(begin)
    with open(README, "w") as file:
        file.write(before + begin + "\n".join(lines) + "\n" + end + rest.partition(end)[2])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--repeat", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--readme", action="store_true", help="put the table into README.md, too")
    arguments = parser.parse_args()
    columns = (*KEYS, "tax")
    print(f"{'':24s}" + "".join(f"{key:>9s}" for key in columns))
    table = []
    for name, row in rows(arguments):
        print(f"{name:24s}" + "".join(f"{row.get(key, ''):>9s}" for key in columns), flush=True)
        table.append((name, row))
    if arguments.readme:
        write_readme(table)


if __name__ == "__main__":
    sys.exit(main())
