"""Sorts, first rows, and reductions by regions along sharded dimensions: bit by bit what JAX has on one device, localized and
run by XLA on the devices (spmd_oracle.py), and compiled and run; sending no more than XLA's partitioned program, and sorts at most 1.1 times the lower bound of
docs/rationale/distributed-sort.md.

  sharded_sorts.py [--seed 0] [--count 24] [--only NAME] [--keep DIRECTORY]
"""
import json
import math
import os
import sys
import tempfile

os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=16"
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

import seeded
import spmd_oracle
from command_line import BIN, tessera

sys.path.insert(0, os.path.join(spmd_oracle.HERE, "..", "..", "benchmarks"))
from xla_collectives import wire_bytes

MESHES = ({"x": 4}, {"x": 8}, {"x": 2, "y": 4}, {"x": 3}, {"x": 5}, {"x": 3, "y": 2}, {"x": 2, "y": 2, "z": 2}, {"x": 7}, {"x": 16})
BYTES_ONLY = {"alpha": 0.0, "beta": 1e6, "flops": 1e15, "memory": 1e15}


def numbers(rng, shape, kind):
    """With many equal ones; of floats also NaN and zeros of both signs."""
    if kind == "i32":
        return rng.integers(-40, 40, shape).astype(np.int32)
    if kind == "distinct":
        return rng.permutation(math.prod(shape)).reshape(shape).astype(np.float32)
    x = (rng.integers(-20, 20, shape) / 4).astype(np.float32)
    x[rng.random(shape) < 0.1] = -0.0
    x[rng.random(shape) < 0.02] = np.nan
    return x if kind == "f32" else x.astype(jnp.bfloat16)


# Each gives (function, operands, the bytes of a row if it is a sort that leaves its dimension sharded). Dimension 0 is sharded.

def sort(rng, n, lines):
    kind = rng.choice(["f32", "i32", "bf16", "distinct"])
    x = numbers(rng, (n, *lines), kind)
    return (lambda x: jnp.sort(x, 0)), [x], x.dtype.itemsize


def descending(rng, n, lines):
    """Reversed after it is sorted, which moves all again."""
    x = numbers(rng, (n, *lines), "f32")
    return (lambda x: jnp.sort(x, 0, descending=True)), [x], None


def argsort(rng, n, lines):
    x = numbers(rng, (n, *lines), rng.choice(["f32", "i32"]))
    return (lambda x: jnp.argsort(x, 0)), [x], 8


def by_key(rng, n, lines):
    """Two keys and a payload."""
    a, b, c = (numbers(rng, (n, *lines), kind) for kind in ("i32", "f32", "bf16"))
    return (lambda a, b, c: lax.sort((a, b, c), 0, num_keys=2)), [a, b, c], 10


def by_distance(rng, n, lines):
    """An order of its own: by the distance from a number."""
    x = numbers(rng, (n, *lines), "distinct")
    return (lambda x: lax.sort((jnp.abs(x - n // 3), x), 0, num_keys=1)[1]), [x], 8


def repeated(rng, n, lines):
    """In a loop, whose state stays sharded."""
    x = numbers(rng, (n, *lines), "i32")
    return (lambda x: lax.fori_loop(0, 3, lambda i, v: (jnp.sort(v, 0) * (7 + i)) % 101, x)), [x], None


def top_k(rng, n, lines):
    k = int(rng.integers(1, 12))
    x = numbers(rng, (n, *lines), rng.choice(["f32", "i32", "bf16"]))
    return (lambda x: [jnp.moveaxis(y, -1, 0) for y in lax.top_k(jnp.moveaxis(x, 0, -1), k)]), [x], None


def smallest(rng, n, lines):
    k = int(rng.integers(1, 5))
    x = numbers(rng, (n, *lines), "f32")
    return (lambda x: (jnp.sort(x, 0)[:k], jnp.argsort(x, 0)[:2 * k])), [x], None


def extremes(rng, n, lines):
    x = numbers(rng, (n, *lines), rng.choice(["f32", "i32"]))
    return (lambda x: (jnp.argmax(x, 0), jnp.argmin(x, 0), jnp.argmax(x))), [x], None


def composed(a, b):
    """Maps x -> m x + c of wrapping integers, a after b: the order of all elements counts, how they are grouped does not."""
    return a[0] * b[0], a[0] * b[1] + a[1]


def composition(rng, n, lines):
    n = int(rng.choice([24, 48, 59, 60, 61]))
    shape = (n, *lines) if rng.random() < 0.3 else (int(rng.choice([1, 2, 3, 4, 6, 8])), *lines, n)[::int(rng.integers(0, 2)) * 2 - 1]
    inputs = [rng.integers(-9, 9, shape).astype(np.int32) * 2 + 1, rng.integers(-9, 9, shape).astype(np.int32)]
    dims = [d for d in range(len(shape)) if rng.random() < 0.7] or [0]
    return (lambda m, c: lax.reduce((m, c), (np.int32(1), np.int32(0)), composed, dims)), inputs, None


def of_two_kinds(rng, n, lines):
    f, inputs, _ = composition(rng, n, lines)
    return (lambda x, y: lax.reduce((x, y), (np.int32(0), np.int32(-99)), lambda a, b: (a[0] + b[0], jnp.maximum(a[1], b[1])),
                                    list(range(x.ndim))[-2:])), inputs, None


PROGRAMS = (sort, argsort, top_k, by_key, smallest, composition, of_two_kinds, extremes, by_distance, descending, repeated)


def exact(got, want, low):
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"{got.dtype}{got.shape}, expected {want.dtype}{want.shape}"
    same = np.ascontiguousarray(got).view(np.uint8).reshape(got.shape + (-1,)) == \
        np.ascontiguousarray(want).view(np.uint8).reshape(want.shape + (-1,))
    both_nan = np.isnan(got.astype(np.float64)) & np.isnan(want.astype(np.float64))
    wrong = ~(same.all(-1) | both_nan)
    return f"{wrong.sum()} of {wrong.size} differ, first at {np.argwhere(wrong)[0].tolist()}: {got[wrong][0]}, " \
        f"expected {want[wrong][0]}" if wrong.any() else None


def run(text, inputs, want, sent):
    """What is wrong with the outputs of the compiled program, or with the figures of the two reports."""
    with tempfile.TemporaryDirectory() as d:
        f32 = lambda x: x.astype(np.float32) if x.dtype == jnp.bfloat16 else x
        np.savez(f"{d}/in.npz", **{f"in{i}": f32(x) for i, x in enumerate(inputs)})
        open(f"{d}/p.mlir", "w").write(text)
        json.dump(BYTES_ONLY, open(f"{d}/t.json", "w"))
        for command in (["compile", f"{d}/p.mlir", "-o", f"{d}/p.tsr", f"--report={d}/c.json", f"--topology={d}/t.json"],
                        ["run", f"{d}/p.tsr", f"--inputs={d}/in.npz", f"--outputs={d}/out.npz", f"--report={d}/r.json"]):
            done = tessera(*command)
            if done.returncode:
                return f"{command[0]}: {done.stderr.strip()[-300:]}"
        got, c, r = np.load(f"{d}/out.npz"), json.load(open(f"{d}/c.json")), json.load(open(f"{d}/r.json"))
        for i, x in enumerate(want):
            if wrong := exact(got[f"out{i}"], f32(x), False):
                return f"run: out{i}: {wrong}"
        if r["collectives"]["bytes"] != sum(x["bytes"] for x in c["collectives"]):
            return f"reported {c['collectives']}, counted {r['collectives']}"
        if abs(sum(x["wire_bytes"] for x in c["collectives"]) - sent) > 8 * len(c["collectives"]):
            return f"reported wire bytes {c['collectives']}, sent {sent}"


def main():
    p = seeded.parser(__doc__, 24)
    p.add_argument("--only", default="")
    p.add_argument("--keep", default="")
    a = p.parse_args()
    jax.config.update("jax_use_shardy_partitioner", True)
    spmd_oracle.differ = exact
    bad = 0
    for number in range(a.count):
        rng = np.random.default_rng([a.seed, number])
        make = PROGRAMS[number % len(PROGRAMS)]
        sizes = MESHES[int(rng.integers(len(MESHES)))]
        lines = [(), (), (3,), (2,)][int(rng.integers(4))]
        names = [str(x) for x in rng.permutation(list(sizes))]
        along = names[:int(rng.integers(1, len(names) + 1))]  # the axes of dimension 0
        shards = math.prod(sizes[n] for n in along)
        long = number % 5 == 4  # rows about boundaries are few beside the others
        tile = 60 * shards * (shards - 1) if long else max(int(rng.integers(1, 6)) * shards * (shards - 1), 20) + int(rng.integers(0, 3) * rng.integers(0, shards))
        n = max(1, tile * shards - (0 if long else int(rng.integers(0, 3) * rng.integers(0, shards))))
        function, inputs, width = make(rng, n, lines)
        if a.only and a.only != make.__name__:
            continue
        mesh = Mesh(np.array(jax.devices()[:math.prod(sizes.values())]).reshape(list(sizes.values())), tuple(sizes))
        others = [None] if not lines else [None, tuple(names[len(along):]) or None]
        spec = P(tuple(along), *([others[int(rng.integers(len(others)))]] if lines else []))
        if make in (composition, of_two_kinds):  # any dimension, by any axes
            dims = [()] * inputs[0].ndim
            for name in names:
                at = int(rng.integers(-1, inputs[0].ndim))
                if at >= 0:
                    dims[at] += (name,)
            spec = P(*(d or None for d in dims))
        place = NamedSharding(mesh, spec)
        leaves = jax.tree.leaves(jax.eval_shape(function, *inputs))
        out = [place if x.shape == inputs[0].shape else NamedSharding(mesh, P()) for x in leaves]
        flat = lambda *args: jax.tree.leaves(function(*args))
        constrain = lambda values, places: [lax.with_sharding_constraint(x, s) for x, s in zip(values, places)]
        want = [np.asarray(x) for x in flat(*map(jnp.asarray, inputs))]
        even = all(x % math.prod(sizes[y] for y in d or ()) == 0 for x, d in zip(inputs[0].shape, spec))
        lowered = (jax.jit(flat, in_shardings=place, out_shardings=out, keep_unused=True) if even else jax.jit(
            lambda *args: constrain(flat(*constrain(args, [place] * len(args))), out), keep_unused=True)).lower(*inputs)
        text = lowered.as_text()
        topology = ", ".join(f"{name} = {value:.6e}" for name, value in BYTES_ONLY.items())
        bytes_only = text.replace("attributes {", f"attributes {{tessera.topology = #tessera.topology<{topology}>, ", 1)
        error, sent, xla = None, 0, math.inf
        if even and make is not composition:  # JAX takes no others as arguments; XLA does not keep the order
            xla = wire_bytes(lowered.compile().as_text(), math.prod(sizes.values()))
        try:
            error, collectives = spmd_oracle.check(bytes_only, inputs, want, os.path.join(BIN, "tessera-opt"), communicate=True)
            sent = sum(v[1] for v in collectives.values())
            error = error or run(text, inputs, want, sent)
        except Exception as e:
            error = f"{type(e).__name__}: {str(e)[:300]}"
        if error is None and sent > xla:
            error = f"sends {sent}, XLA {xla:.0f}"
        local = math.prod(lines) // math.prod(sizes[x] for x in (spec[1] or ()) if lines) if lines else 1
        note = ""
        if width and shards > 2 and even:
            ratio = sent / (2 * (shards - 1) / shards * -(-n // shards) * max(local, 1) * width)
            note = f"{ratio:.3f} of the bound"
            if error is None and long and ratio > 1.1:
                error = "sends more than 1.1 times the bound"
        bad += error is not None
        print(f"{'right' if error is None else 'WRONG'} {number:4d} {make.__name__:12s} {'x'.join(f'{k}{v}' for k, v in sizes.items()):9s} "
              f"{[x.shape for x in inputs]} {spec} sent {sent} XLA {xla:.0f} {note} {error or ''}", flush=True)
        if error and a.keep:
            open(f"{a.keep}/{number}.mlir", "w").write(text)
    print(f"seed {a.seed}: {bad} wrong")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
