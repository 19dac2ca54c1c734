"""Programs on GPUs without a GPU: compiled with --target=cuda and run by `tessera run` over a stand-in for NVIDIA's driver
($LD_LIBRARY_PATH names it; test/gpu/emulator), beside the same programs on the cpu. Bits are the same: both have the code of one
emitter, and orders of sums are the operation's own (docs/numbers.md); but for products of bf16 and f16, which tensor cores add up in their
own order, and for attention: those are held against their distance from f64. What the emulator counts is held against the least. Where CUDA's `ptxas` is installed, it assembles every kernel, which must spill no register.

  programs.py [--first-only] [NAME..]       --first-only: up to the first that is wrong
"""
import collections
import json
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "numerics"), HERE]

import jax

jax.config.update("jax_enable_x64", True)
import jax.numpy as jnp
import numpy as np
import ptxas
from command_line import tessera
from program_table import PROGRAMS

import element_programs  # each puts its programs into the table
import product_programs
import row_programs

# cpu: with FMA, without the tiles of AMX, whose order of sums is the instruction's.
TARGETS = {"cpu": ["--target-cpu=x86-64-v3", "--topology=a100"], "cuda": ["--target=cuda:sm_80"], "sm_90a": ["--target=cuda:sm_80,sm_90a"]}

# The mesh of some, in sdy's text; arguments are cut along their first dimension.
SHARDED = {"dense": 2, "sums": 4, "layer_norm": 8}


def values(argument, random):
    kind = np.dtype(argument.dtype)
    if kind == np.bool_:
        return random.integers(0, 2, argument.shape).astype(bool)
    if kind.kind in "iu":
        information = np.iinfo(kind)
        return random.integers(information.min, information.max, argument.shape, dtype=kind) if argument.shape else np.asarray(41, kind)
    if kind.kind == "c":
        return (random.standard_normal(argument.shape) + 1j * random.standard_normal(argument.shape)).astype(kind)
    return random.standard_normal(argument.shape).astype(np.float64 if kind == np.float64 else np.float32)


def text_of(function, arguments, donate, devices):
    if devices == 1:
        return jax.jit(function, donate_argnums=donate).lower(*arguments).as_text()
    from jax.sharding import AbstractMesh, AxisType, NamedSharding, PartitionSpec
    mesh = AbstractMesh((devices,), ("x",), axis_types=(AxisType.Auto,))
    cut = lambda a: PartitionSpec("x") if a.shape and a is arguments[0] else PartitionSpec()
    placed = [jax.ShapeDtypeStruct(a.shape, a.dtype, sharding=NamedSharding(mesh, cut(a))) for a in arguments]
    return jax.jit(function, donate_argnums=donate).trace(*placed).lower(lowering_platforms=("cpu",)).as_text()


def run(name, target, text, inputs, directory):
    """(outputs, counts by kernel), or what went wrong."""
    path = lambda suffix: os.path.join(directory, f"{name}.{target}.{suffix}")
    with open(path("mlir"), "w") as file:
        file.write(text)
    np.savez(path("in.npz"), **{f"in{i}": x for i, x in enumerate(inputs)})
    report = os.environ["TESSERA_EMULATOR_REPORT"] = path("counts")
    os.environ["TESSERA_EMULATOR_SM"] = "90" if target == "sm_90a" else "80"
    for arguments in (["compile", path("mlir"), "-o", path("tsr"), "--verify-each", *TARGETS[target]],
                      ["run", path("tsr"), f"--inputs={path('in.npz')}", f"--outputs={path('out.npz')}", "--quiet"]):
        done = tessera(*arguments)
        if done.returncode:
            return done.stderr.strip()
    counts = []
    if os.path.exists(report):
        with open(report) as file:
            counts = [json.loads(line) for line in file]
    with np.load(path("out.npz")) as found:
        return [found[f"out{i}"] for i in range(len(found.files))], counts


def total_of(counts):
    total = collections.Counter()
    for kernel in counts:
        total.update({key: value for key, value in kernel.items() if key != "kernel"})
    return total


def far_from_least(total, least):
    for what in ("read", "written"):
        moved, needed, sectors = total[f"bytes_{what}"], total[f"least_{what}"], total[f"sectors_{what}"]
        if moved > least * needed:
            return f"{moved} bytes are {what}, {needed} would do"
        if sectors > 1.1 * moved / 32 + 64:
            return f"{sectors} sectors are {what}, {moved // 32} would do"
    return None


def far_from_exact(name, inputs, expected, found):
    """Of products by tensor cores: whether they lie further from what f64 gives than the cpu's do, by more than their rounding."""
    function, arguments, *_ = PROGRAMS[name]
    wide = [np.asarray(jnp.asarray(x, a.dtype).astype(jnp.float64)) for x, a in zip(inputs, arguments)]
    with_f64 = lambda *a: jax.tree.map(lambda r: r.astype(jnp.float64), function(*[v.astype(jnp.float64) for v in a]))
    exact = jax.tree.leaves(jax.jit(with_f64)(*wide))
    for i, (true, cpu, gpu) in enumerate(zip(exact, expected, found, strict=True)):
        true, bound = np.asarray(true), 2 * np.abs(cpu - np.asarray(true)).max() + 1e-6 * np.abs(true).max()
        if not np.abs(gpu - true).max() <= bound:
            return f"out{i}: {np.abs(gpu - true).max()} from f64; the cpu is {np.abs(cpu - true).max()} from it"
    return None


def differing(expected, found):
    for i, (a, b) in enumerate(zip(expected, found, strict=True)):
        if a.dtype != b.dtype or a.shape != b.shape:
            return f"out{i}: {b.dtype}{b.shape}, not {a.dtype}{a.shape}"
        same = (a == b) | ((a != a) & (b != b))
        if not same.all():
            at = tuple(np.argwhere(~same)[0])
            return f"out{i}: {np.count_nonzero(~same)} of {same.size} differ: {b[at]!r} at {at}, not {a[at]!r}"
    return None


def check(name, directory, devices):
    function, arguments, least, donate, banks, near, warpgroups = PROGRAMS[name]
    random = np.random.default_rng(len(name))
    inputs = [values(a, random) for a in arguments]
    text = text_of(function, arguments, donate, devices)
    gpu = "cuda" if warpgroups is None else "sm_90a"
    expected, found = (run(name, target, text, inputs, directory) for target in ("cpu", gpu))
    for target, result in (("cpu", expected), (gpu, found)):
        if isinstance(result, str):
            return f"{target}: {result}"
    wrong = far_from_exact(name, inputs, expected[0], found[0]) if near else differing(expected[0], found[0])
    if wrong:
        return wrong
    if not found[1]:
        return "no kernel ran on the stand-in"
    if ptxas.PTXAS and (wrong := ptxas.wrong_of_program(os.path.join(directory, f"{name}.{gpu}.tsr"), directory)):
        return wrong
    total = total_of(found[1])
    if warpgroups is not None and bool(total["warpgroup_products"]) != warpgroups:
        return f"warpgroups multiplied {total['warpgroup_products']} times"
    if banks and total["bank_turns"] > banks * total["least_bank_turns"]:
        return f"banks of shared memory are asked {total['bank_turns']} times, {total['least_bank_turns']} would do"
    return far_from_least(total, least) if least and devices == 1 else None


def main():
    names = [argument for argument in sys.argv[1:] if argument != "--first-only"] or list(PROGRAMS)
    wrong = 0
    with tempfile.TemporaryDirectory() as directory:
        for name in names:
            for devices in (1, SHARDED.get(name)):
                if devices is None:
                    continue
                problem = check(name, directory, devices)
                wrong += problem is not None
                if problem:
                    print(f"{name} on {devices}: {problem}", flush=True)
                if problem and "--first-only" in sys.argv:
                    return 1
    print(f"{len(names)} programs, {wrong} wrong" + ("" if ptxas.PTXAS else "; not assembled: there is no ptxas"))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
