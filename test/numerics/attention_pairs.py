"""Attention of bf16 and its gradient have the same bits by pairs (AVX512_BF16) as by fused multiply-adds: docs/numbers.md makes no exception for
them. Numbers of queries and keys that fill no pair, no tile and no block, masks, and factors of which some results take pairs and others do not.

  attention_pairs.py
"""
import os
import sys
import tempfile

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ["TESSERA_TARGET_CPU"] = "cooperlake"  # AVX512_BF16, no tiles: command_line.py skips where the machine lacks it

import jax
import jax.numpy as jnp
import numpy as np

from command_line import tessera
from harness import as_numpy

# Batch x heads is 18; queries, keys, channels, channels of values, what hidden scores become, the softmax's type.
CASES = [
    (33, 64, 16, 16, None, jnp.bfloat16),  # odd queries: sums over keys go by pairs, those over queries do not
    (128, 127, 64, 64, -1e30, jnp.bfloat16),
    (130, 130, 80, 80, -1e30, jnp.float32),
    (70, 70, 32, 32, -jnp.inf, jnp.bfloat16),
    (514, 514, 12, 40, -1e30, jnp.bfloat16),
    (100, 258, 48, 48, None, jnp.float32),
    (300, 300, 64, 8, -1e30, jnp.bfloat16),
]


def attention(fill, softmax_type, q, k, v):
    scores = (jnp.einsum("bhtk,bhsk->bhts", q, k) * q.shape[-1] ** -0.5).astype(softmax_type)
    if fill is not None:
        scores = jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], bool)), scores, fill)
    return jnp.einsum("bhts,bhsk->bhtk", jax.nn.softmax(scores, -1).astype(q.dtype), v)


def bits_of(text, arrays, processor, directory):
    path = lambda name: os.path.join(directory, name)
    with open(path("p.mlir"), "w") as f:
        f.write(text)
    np.savez(path("in.npz"), **{f"in{i}": as_numpy(x) for i, x in enumerate(arrays)})
    for command in (["compile", f"--target-cpu={processor}", path("p.mlir"), "-o", path("p.tsr")],
                    ["run", path("p.tsr"), f"--inputs={path('in.npz')}", f"--outputs={path('out.npz')}"]):
        done = tessera(*command)
        assert done.returncode == 0, done.stderr
    with np.load(path("out.npz")) as out:
        return [out[name].tobytes() for name in sorted(out.files)]


def main():
    rng, failures = np.random.default_rng(0), 0
    for queries, keys, channels, wide, fill, softmax_type in CASES:
        shapes = ((2, 9, queries, channels), (2, 9, keys, channels), (2, 9, keys, wide), (2, 9, queries, wide))
        arrays = [jnp.asarray(rng.standard_normal(shape), jnp.bfloat16) for shape in shapes]

        def both(q, k, v, by):
            out, back = jax.vjp(lambda *given: attention(fill, softmax_type, *given), q, k, v)
            return out, *back(by)

        text = jax.jit(both).lower(*arrays).as_text()
        with tempfile.TemporaryDirectory() as directory:
            one, other = (bits_of(text, arrays, processor, directory) for processor in ("cooperlake", "x86-64-v4"))
        differ = [name for name, x, y in zip(("result", "of queries", "of keys", "of values"), one, other) if x != y]
        failures += bool(differ)
        print(f"{queries} x {keys}, {channels} and {wide} channels: {'other bits ' + ', '.join(differ) if differ else 'ok'}")
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
