"""The bytes that the cost model prices kernels of a GPU by, beside those that the stand-in for NVIDIA's driver counts: each byte once,
what is read and what is written together, kernel by kernel, of the programs of programs.py. They are equal within 5%, but where data
decides what is touched.

  predicted.py [--table] [NAME..]
"""
import collections
import json
import os
import re
import sys
import tempfile

sys.dont_write_bytecode = True
from programs import PROGRAMS, TARGETS, tessera, text_of, values

import numpy as np

BOUND = 1.05
SLACK = 64  # bytes: of numbers that a kernel reads beside arrays
# Data decides what a gather, a scatter and an update in place touch.
BY_DATA = {"ragged_rows", "ragged_short_rows", "ragged_gradients", "ragged_bf16", "gathered", "scattered", "updated", "pooled_gradient", "until_small", "branched", "sorted_rows", "random_bits", "solved_on_the_host"}
# Places of elements that lie in a result's row while it is sorted are read again: no price knows of them.
UNPRICED = {"sorted_long_rows"}


def kernels_of(name, directory):
    """By kernel, for one launch: (bytes of the model, bytes counted); or what went wrong."""
    function, arguments, _, donate, *_ = PROGRAMS[name]
    random = np.random.default_rng(1)
    path = lambda suffix: os.path.join(directory, f"{name}.{suffix}")
    with open(path("mlir"), "w") as file:
        file.write(text_of(function, arguments, donate, 1))
    np.savez(path("in.npz"), **{f"in{i}": values(a, random) for i, a in enumerate(arguments)})
    os.environ["TESSERA_EMULATOR_REPORT"] = path("counts")
    for call in (["compile", path("mlir"), "-o", path("tsr"), *TARGETS["cuda"], "--quiet"],
                 ["run", path("tsr"), f"--inputs={path('in.npz')}", f"--outputs={path('out.npz')}", "--quiet", "--profile=all", f"--report={path('json')}"]):
        done = tessera(*call)
        if done.returncode:
            return done.stderr.strip()
    # Kernels with the same code are counted as the first of them.
    with open(path("tsr"), "rb") as file:
        first = dict(re.findall(r"\n// \.alias (\w+), (\w+);", file.read().decode("latin1")))
    model, counted = collections.Counter(), collections.Counter()
    launches = collections.Counter()
    with open(path("json")) as file:
        for row in json.load(file)["profile"]["rows"]:
            if row["kind"] == "kernel":
                model[first.get(row["name"], row["name"])] += row["bytes"]
    with open(path("counts")) as file:
        for line in map(json.loads, file):
            counted[line["kernel"]] += line["least_read"] + line["least_written"]
            launches[line["kernel"]] += line.get("launches", 1)
    return {kernel: (model[kernel], counted[kernel]) for kernel in counted}


def main():
    table = "--table" in sys.argv
    names = [argument for argument in sys.argv[1:] if argument != "--table"] or [name for name in PROGRAMS if name not in BY_DATA | UNPRICED]
    wrong = count = 0
    with tempfile.TemporaryDirectory() as directory:
        for name in names:
            found = kernels_of(name, directory)
            if isinstance(found, str):
                wrong += 1
                print(f"{name}: {found}", flush=True)
                continue
            for kernel, (model, counted) in found.items():
                far = max(model, counted) > BOUND * min(model, counted) + SLACK
                count += 1
                wrong += far
                if far or table:
                    print(f"{name}, {kernel}: {model:.0f} bytes are priced, {counted} touched" + (" !" if far else ""), flush=True)
    print(f"{count} kernels of {len(names)} programs, {wrong} priced wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
