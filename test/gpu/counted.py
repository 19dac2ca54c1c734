"""What the kernels of whole programs move, beside the least: each byte that a kernel touches once, in sectors of 32 bytes that each block
asks for once (its processor's cache has them then); counted by the stand-in for NVIDIA's driver in some blocks of each kernel's first
launch ($TESSERA_EMULATOR_SAMPLE), so that programs of any size are done soon. Inputs are random ones, and what is computed of parts is no
result: only counts are looked at.

  counted.py [--architecture=sm_80] [--blocks=N] [--all] FILE.mlir ..      without files: the training step of examples/char_transformer, and pieces.mlir

A fused kernel may take 1.05 times the least bytes, in 1.1 times the sectors of these, or that these lie in where all of its blocks are carried
out: a slice of rows may begin and end within sectors, and each number that is an array has one for itself. Products read tiles of their operands again, and what has
a gather or the like goes where data says: those have no bound, and are printed with --all. Banks: of products and transposes, 1.05 times
the least turns.
"""
import argparse
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = {os.path.join(HERE, "..", "..", "examples", "char_transformer", "train_step.mlir"): 2,
            os.path.join(HERE, "pieces.mlir"): 64}  # blocks: what two of them both read is seen where both are carried out
BIN = os.environ.get("TESSERA_BIN", os.path.join(HERE, "..", "..", "build", "bin"))
BYTES, SECTORS, BANKS = 1.05, 1.1, 1.05
SLACK = 8  # sectors: at the ends of arrays, and of numbers that a kernel reads beside them
PRODUCTS = ("dot_general", "convolution")
BY_DATA = re.compile(r"stablehlo\.(gather|scatter|dynamic_slice|dynamic_update_slice|sort|select_and_scatter)|chlo\.top_k")
Row = collections.namedtuple("Row", "name kernel sectors asked banks bytes outside")


def counts_of(path, directory, architecture, blocks):
    """A line for each kernel that ran; a string: what went wrong."""
    program, printed, counts = (os.path.join(directory, name) for name in ("p.tsr", "p.mlir", "counts"))
    if os.path.exists(counts):
        os.remove(counts)
    environment = os.environ | {"TESSERA_EMULATOR_REPORT": counts, "TESSERA_EMULATOR_SAMPLE": str(blocks), "TESSERA_EMULATOR_MEMORY": str(64 << 30),
                                "TESSERA_EMULATOR_LAG": "1", "TESSERA_EMULATOR_SM": architecture.strip("sm_a")}
    compiled = ["compile", path, f"--target=cuda:{architecture}", "--quiet", "-o"]
    for call in ([*compiled, program], [*compiled, printed, "--stop-after=memory"],
                 ["run", program, "--comm=local", f"--outputs={os.path.join(directory, 'out.npz')}", "--quiet", "--time-limit=600"]):
        done = subprocess.run([os.path.join(BIN, "tessera"), *call], capture_output=True, text=True, env=environment)
        if done.returncode:
            return done.stderr.strip()[:300]
    with open(printed) as file:
        bodies = dict(re.findall(r"^  exec\.kernel @(\w+)\((.*?)^  }", file.read(), re.MULTILINE | re.DOTALL))
    with open(counts) as file:
        lines = list(map(json.loads, file))
    return [line | {"by_data": bool(BY_DATA.search(bodies[line["kernel"]]))} for line in lines if line["kernel"] in bodies]


def row_of(name, count):
    """What a kernel takes of the least."""
    kernel = count["kernel"]
    moved, least = count["block_sectors_read"] + count["block_sectors_written"], (count["least_read"] + count["least_written"]) / 32 + SLACK
    if count["carried_out"] * count["launches"] == count["blocks"]:  # all of the first launch: what it touches is known
        least = max(least, count["least_sectors_read"] + count["least_sectors_written"])
    asked = (count["sectors_read"] + count["sectors_written"]) / least
    sectors, banks = moved / least, count["bank_turns"] / max(1, count["least_bank_turns"])
    outside = []
    if not kernel.startswith(PRODUCTS) and not count["by_data"] and sectors > BYTES * SECTORS:
        outside.append("sectors")
    if kernel.startswith((*PRODUCTS, "transpose")) and banks > BANKS:
        outside.append("banks")
    return Row(name, kernel, sectors, asked, banks, 32 * (moved - least) * count["blocks"] / max(1, count["carried_out"]), outside)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", default=list(EXAMPLES))
    parser.add_argument("--architecture", default="sm_80")
    parser.add_argument("--blocks", type=int, help="2, without files as many as the examples need")
    parser.add_argument("--all", action="store_true")
    arguments = parser.parse_args()
    wrong, rows = 0, []
    with tempfile.TemporaryDirectory() as directory:
        for path in arguments.files:
            name = os.path.basename(path).removesuffix(".mlir")
            counts = counts_of(path, directory, arguments.architecture, arguments.blocks or EXAMPLES.get(path, 2))
            if isinstance(counts, str):
                wrong += 1
                print(f"{name}: {counts}", flush=True)
                continue
            found = [row_of(name, count) for count in counts]
            rows += found
            for row in sorted(found, key=lambda row: -row.bytes):
                if row.outside or arguments.all:
                    text = f"{name} {row.kernel}: sectors {row.sectors:.2f} (by warps {row.asked:.2f}), banks {row.banks:.2f}, {row.bytes:.0f} bytes too many"
                    print(text + (f" ! {' '.join(row.outside)}" if row.outside else ""), flush=True)
    for what in ("sectors", "banks"):
        print(f"{sum(what in row.outside for row in rows)} of {len(rows)} kernels take too many {what}")
    return 1 if wrong or not rows or any(row.outside for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
