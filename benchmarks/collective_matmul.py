"""How much of the collectives of products is hidden when products and shards go around a ring, on simulated links.

  collective_matmul.py [NAME..] [--devices=4] [--directions=1] [--scale=1] [--repeat=7] [--machine=machine.json]

Measures this machine (`tessera calibrate`), unless a file of it is given, for what products and copies take of each other. Each
program is compiled twice for links over which its collectives take half as long as it computes, and as long: as it is, and with
--overlap=off. Columns: whole (without loops) and with them, in multiples of the time that the program takes on links that cost nothing;
how much quicker the loops are, and as the compiler predicts it; hidden, the part of the collectives' time on the links that the loops do
not wait for; of a ring's most: where a shard travels longer than another is multiplied, all products but one shard's hide what travels, and
only sums in smaller parts hide more; arena, with loops beside whole; and wire bytes likewise. Steps of all programs alternate; times are
medians.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

TESSERA = os.path.join(os.environ.get("TESSERA_BIN", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "build", "bin")), "tessera")
FREE = {"alpha": 0, "beta": 1e15}


class Program:
    """A function in StableHLO: arguments and results as (shape, mesh axis or nothing of each dimension)."""

    def __init__(self, name, arguments, results, body, element="f32"):
        self.name, self.arguments, self.results, self.body, self.element = name, arguments, results, body, element

    def text(self, devices):
        tensor = lambda shape: f"tensor<{'x'.join(map(str, shape))}x{self.element}>"
        placed = lambda shape, axes: f"{tensor(shape)} {{sdy.sharding = #sdy.sharding<@mesh, [{', '.join('{' + (chr(34) + a + chr(34) if a else '') + '}' for a in axes)}]>}}"
        arguments = ", ".join(f"%a{i}: {placed(*a)}" for i, a in enumerate(self.arguments))
        results = ", ".join(placed(*r) for r in self.results)
        lines, names = [], {}
        shapes = {f"a{i}": shape for i, (shape, _) in enumerate(self.arguments)}
        for name, op, *operands in self.body:
            if op == "tanh" or op == "multiply":
                shapes[name] = shapes[operands[0]]
                lines.append(f"%{name} = stablehlo.{op} {', '.join('%' + o for o in operands)} : {tensor(shapes[name])}")
            else:
                left, right, (i, j) = *operands[:2], operands[2]
                shapes[name] = [n for k, n in enumerate(shapes[left]) if k != i] + [n for k, n in enumerate(shapes[right]) if k != j]
                lines.append(f"%{name} = stablehlo.dot_general %{left}, %{right}, contracting_dims = [{i}] x [{j}] : "
                             f"({tensor(shapes[left])}, {tensor(shapes[right])}) -> {tensor(shapes[name])}")
        ends = [name for name, *_ in self.body][-len(self.results):]
        types = ", ".join(tensor(shapes[name]) for name in ends)
        return "\n".join([f'sdy.mesh @mesh = <["x"={devices}]>', f"func.func @main({arguments}) -> ({results}) {{", *lines,
                          f"return {', '.join('%' + name for name in ends)} : {types}", "}"])


def programs(scale):
    n, d, h = 512 * scale, 512 * scale, 2048 * scale
    X, N = "x", None
    up_rows = ([d, d], [X, N])
    x, up, down = ([n, d], [X, N]), ([d, h], [N, X]), ([h, d], [X, N])
    for element in ("f32", "bf16"):
        yield Program(f"gather {element}", [x, up], [([n, h], [N, X])], [("y", "dot", "a0", "a1", (1, 0))], element)
    for element in ("f32", "bf16"):
        yield Program(f"scatter {element}", [([n, h], [N, X]), down], [x], [("y", "dot", "a0", "a1", (1, 0))], element)
    yield Program("mlp f32", [x, up, down], [x], [("h", "dot", "a0", "a1", (1, 0)), ("t", "tanh", "h"), ("y", "dot", "t", "a2", (1, 0))])
    yield Program("q, k, v f32", [x, up, up, up], [([n, h], [N, X])] * 3, [(r, "dot", "a0", f"a{i + 1}", (1, 0)) for i, r in enumerate("qkv")])
    yield Program("contracted f32", [([4 * n, d], [X, N]), up_rows], [([4 * n, d], [X, N])], [("y", "dot", "a0", "a1", (1, 0))])
    yield Program("mlp's gradient f32", [x, up, down, x], [x, up, down],
                  [("h", "dot", "a0", "a1", (1, 0)), ("t", "tanh", "h"), ("dt", "dot", "a3", "a2", (1, 1)), ("dh", "multiply", "dt", "t"),
                   ("dx", "dot", "dh", "a1", (1, 1)), ("du", "dot", "a0", "dh", (0, 0)), ("dd", "dot", "t", "a3", (0, 0))])


def tessera(*arguments):
    done = subprocess.run([TESSERA, *arguments], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"tessera {' '.join(arguments)}: {done.stderr}")


class Measure:
    def __init__(self, directory, repeat):
        self.directory, self.repeat = directory, repeat

    def path(self, name):
        return os.path.join(self.directory, name)

    def topology(self, name, fields):
        with open(self.path(name), "w") as f:
            json.dump(fields, f)
        return self.path(name)

    def compiled(self, name, topology, *more):
        tessera("compile", self.path("p.mlir"), "-o", self.path(name), "--quiet", f"--topology={topology}", f"--report={self.path('c.json')}", *more)
        with open(self.path("c.json")) as f:
            return json.load(f)

    def machine(self, file):
        if not file:
            file = self.path("machine.json")
            tessera("calibrate", "--quiet", "-o", file)
        with open(file) as f:
            return json.load(f)

    def seconds(self, *runs):
        """The median step of each (program, topology), in turns."""
        steps = {run: [] for run in runs}
        for _ in range(3):
            for run in runs:
                tessera("run", self.path(run[0]), f"--topology={run[1]}", f"--repeat={self.repeat}", f"--report={self.path('r.json')}", "--quiet")
                with open(self.path("r.json")) as f:
                    steps[run] += json.load(f)["steps"][1:]
        return [statistics.median(steps[run]) for run in runs]


def measure(m, program, machine, devices, directions):
    with open(m.path("p.mlir"), "w") as f:
        f.write(program.text(devices))
    free = m.topology("free.json", FREE)
    report = m.compiled("free.tsr", free, "--overlap=off")
    (alone,) = m.seconds(("free.tsr", free))
    wire = sum(c["wire_bytes"] for c in report["collectives"])
    for name, part in (("half", 0.5), ("as long", 1.0)):
        links = m.topology("links.json", machine | {"alpha": 2e-6, "beta": wire / directions / (part * alone), "directions": directions})
        whole, rings = m.compiled("whole.tsr", links, "--overlap=off"), m.compiled("rings.tsr", links)
        loops = sum(c["trips"] > 1 for c in rings["collectives"])
        slow, quick, beside, least = m.seconds(("whole.tsr", links), ("rings.tsr", links), ("rings.tsr", free), ("whole.tsr", free))
        carried = whole["predicted"]["communication"]
        hidden = 1 - (quick - beside) / carried
        most = min(1, beside / devices * (devices - 1) / carried)
        sent = sum(c["wire_bytes"] for c in rings["collectives"]) / sum(c["wire_bytes"] for c in whole["collectives"])
        print(f"| {program.name} | {name} | {loops} | {slow / least:.2f} | {quick / least:.2f} | {slow / quick:.2f} | {whole['predicted']['seconds'] / rings['predicted']['seconds']:.2f} | {hidden:.0%} | {hidden / most:.0%} "
              f"| {rings['memory']['arena'] / max(1, whole['memory']['arena']):.2f} | {sent:.2f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="programs; all when absent")
    parser.add_argument("--devices", type=int, default=4)
    parser.add_argument("--directions", type=int, default=1, choices=(1, 2), help="of the links")
    parser.add_argument("--scale", type=int, default=1, help="of all sizes")
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--machine", help="a topology file of this machine; measured without it")
    arguments = parser.parse_args()
    print("| program | collectives beside compute | loops | whole | as loops | quicker | as predicted | hidden | of a ring's most | arena | wire bytes |\n|" + " --- |" * 11)
    with tempfile.TemporaryDirectory() as directory:
        m = Measure(directory, arguments.repeat)
        machine = m.machine(arguments.machine)
        for program in programs(arguments.scale):
            if not arguments.names or any(program.name.startswith(name) for name in arguments.names):
                measure(m, program, machine, arguments.devices, arguments.directions)


if __name__ == "__main__":
    main()
