"""One program through all the phases: a page of what the compiler leaves after each, made by running it.

  tour.py TESSERA OUT.md
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

MODULE = pathlib.Path(__file__).resolve().parent / "tour.mlir"
MOST_LINES = 70

START = """# One program through the phases
Two layers of a network on a mesh of 2 x 2 devices: the batch is cut on `data`, the hidden features on `model`. The user annotates arguments
and nothing else. What follows is what `tessera compile tour.mlir -o - --stop-after=PHASE` prints, made when this page was; long listings are cut.
[The road through the compiler](../../docs/phases.md) says what each phase promises.

"""
# What to look at after each phase, and what the words speak of: without that in the listing, the page is not made.
PHASES = {
    "import": ("The target stands on the module. Otherwise there is little to do here: no calls, no chlo, no loops.", "tessera.target"),
    "propagate": ("Every value has a sharding. The hidden activations are cut on `data` and `model`, as rows of `%arg0` and columns of `%arg1` are; "
                  "the second product has the rows of the batch, and its contraction runs over `model`.", '[{"data"}, {"model"}]'),
    "reshard": ("Operands and results agree with each op's rule, factor by factor. The second product contracts a dimension that is cut on `model`, so "
                "each device has a part of the sum (`unreduced`), and an explicit `sdy.reshard` adds the parts; so with the sums over the batch.",
                'unreduced={"model"}'),
    "localize": ("Shapes are those of one device: 32 rows are 16, 128 hidden features are 64. Reshards became collectives: `comm.all_reduce` over "
                 "`model` for the product, over `data` for each of the two sums.", "comm.all_reduce  sum(%2)"),
    "communicate": ("Collectives become fewer, smaller and earlier: the two sums over `data` travel as one.", ":2 = comm.all_reduce"),
    "fuse": ("`exec.fused`: each such region becomes one kernel. The first product has the tanh in it; the last sum multiplies what it adds.", "exec.fused"),
    "order": ("One total order. A collective is started as soon as its operand is there and waited for where its result is needed; "
              "what can run meanwhile stands between.", "comm."),
    "memory": ("The device program: buffers at offsets of one arena, kernels, collectives on buffers. This is what the runtime executes.", "exec.program"),
}


def stopped(tessera, phase):
    """The module after a phase, without locations, an argument a line."""
    printed = subprocess.run([tessera, "compile", MODULE, "-o", "-", f"--stop-after={phase}", "--target-cpu=x86-64-v3"],
                             capture_output=True, text=True, check=True).stdout
    printed = re.sub(r"features = \[[^]]*\]", "features = [..]", printed)
    printed = re.sub(r"(?<=, )(?=%arg\d+: tensor<\S+ \{)|(?<=main\()(?=%arg)|(?<=\) -> \()(?=tensor<\S+ \{)|(?<=\}, )(?=tensor<\S+ \{)", "\n      ", printed).replace(", \n", ",\n")
    lines = [re.sub(r" loc\((?:#loc\d*|\".*?\"[^)]*|unknown)\)", "", line) for line in printed.splitlines() if not line.startswith("#loc")]
    if len(lines) > MOST_LINES:
        lines = lines[:MOST_LINES] + [f"// .. {len(lines) - MOST_LINES} lines more"]
    return "\n".join(lines).strip()


def report(tessera):
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory)
        subprocess.run([tessera, "compile", MODULE, "-o", path / "t.tsr", f"--report={path / 'r.json'}", "--target-cpu=x86-64-v3"],
                       capture_output=True, check=True)
        return json.loads((path / "r.json").read_text())


def main():
    tessera, out = sys.argv[1:]
    page = START + "## As JAX exports it\n```mlir\n" + MODULE.read_text() + "```\n"
    for phase, (words, shown) in PHASES.items():
        listing = stopped(tessera, phase)
        if shown not in listing:
            sys.exit(f"error: after {phase} there is no {shown}, of which the page speaks:\n{listing}")
        page += f"\n## {phase}\n{words}\n\n```mlir\n{listing}\n```\n"
    made = report(tessera)
    page += "\n## codegen and package\nEach distinct kernel becomes native code, and all of it one file, `tour.tsr`. What it moves in a step, by the report:\n\n"
    page += "| collective | axes | times | bytes | sent by a device |\n| --- | --- | --- | --- | --- |\n"
    for site in made["collectives"]:
        page += f"| {site['kind']} | {site['axes']} | {site['count']} | {site['bytes']} | {site['wire_bytes']} |\n"
    memory = made["memory"]
    page += f"\nMemory of a device, in bytes: {memory['arguments']} of arguments, {memory['outputs']} of outputs, {memory['arena']} between.\n"
    pathlib.Path(out).write_text(page)


if __name__ == "__main__":
    main()
