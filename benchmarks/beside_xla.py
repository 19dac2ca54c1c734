"""Tessera beside XLA, both timed in this run, on eight devices of this machine. Prints ratios: below 1 is better than XLA.

  beside_xla.py [NAME..] [--repeat=N]

compile: wall time of the whole compile (for XLA: lowered module to executable). wire: bytes that a device sends in a
ring, both by the same formula. step: median time of a step. memory: temporaries and outputs of a device.
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
    subprocess.run([os.path.join(BIN, "tessera"), *arguments], check=True)


def measure_tessera(text, args, repeat, directory):
    path = lambda name: os.path.join(directory, name)
    with open(path("p.mlir"), "w") as f:
        f.write(text)
    np.savez(path("in.npz"), **{f"in{i}": x for i, x in enumerate(programs.as_numpy(args))})
    start = time.perf_counter()
    tessera("compile", path("p.mlir"), "-o", path("p.tsr"), f"--report={path('c.json')}")
    seconds = time.perf_counter() - start
    tessera("run", path("p.tsr"), f"--inputs={path('in.npz')}", f"--outputs={path('out.npz')}", f"--repeat={repeat + 2}",
            f"--report={path('r.json')}")
    with open(path("c.json")) as c, open(path("r.json")) as r:
        compiled, ran = json.load(c), json.load(r)
    return {"compile": seconds, "step": float(np.median(ran["steps"][2:])), "flops": compiled.get("flops"),
            "wire": sum(site["wire_bytes"] for site in compiled["collectives"]),
            "memory": compiled["memory"]["arena"] + compiled["memory"]["outputs"]}


def measure_xla(lowered, args, repeat):
    start = time.perf_counter()
    compiled = lowered.compile()
    seconds = time.perf_counter() - start
    placed = jax.tree.map(jax.device_put, args, compiled.input_shardings[0])
    steps = []
    for i in range(repeat + 2):
        start = time.perf_counter()
        jax.block_until_ready(compiled(*placed))
        steps.append(time.perf_counter() - start)
    memory = compiled.memory_analysis()
    return {"compile": seconds, "step": float(np.median(steps[2:])), "wire": wire_bytes(compiled.as_text(), len(jax.devices())),
            "memory": memory.temp_size_in_bytes + memory.output_size_in_bytes}


def ratio(ours, theirs):
    if not theirs:
        return "     -" if not ours else "   inf"
    return f"{ours / theirs:6.2f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--repeat", type=int, default=10)
    arguments = parser.parse_args()
    keys = ("compile", "wire", "step", "memory")
    print(f"{'':24s}" + "".join(f"{key:>9s}" for key in keys) + f"{'tax':>9s}")
    columns = {key: [] for key in keys}
    for name, build in programs.PROGRAMS.items():
        if arguments.names and name not in arguments.names:
            continue
        lowered, args = programs.lower(build, 8)
        with tempfile.TemporaryDirectory() as directory:
            ours = measure_tessera(lowered.as_text(debug_info=True), args, arguments.repeat, directory)
            alone = measure_tessera(programs.lower(build, 1)[0].as_text(), args, arguments.repeat, directory)
        theirs = measure_xla(lowered, args, arguments.repeat)
        for key in keys:
            if ours[key] and theirs[key]:
                columns[key].append(ours[key] / theirs[key])
        tax = f"{(ours['step'] / alone['step']) / (8 * ours['flops'] / alone['flops']):6.2f}" if ours["flops"] else "     -"
        print(f"{name:24s}" + "".join(f"   {ratio(ours[key], theirs[key])}" for key in keys) + f"   {tax}", flush=True)
    means = (f"   {np.exp(np.mean(np.log(columns[key]))):6.2f}" if columns[key] else "        -" for key in keys)
    print(f"{'geometric mean':24s}" + "".join(means))


if __name__ == "__main__":
    sys.exit(main())
