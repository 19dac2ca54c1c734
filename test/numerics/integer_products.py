"""Products of integer matrices are exact, and wrap, in every layout of their operands: against numpy's of 64 bits.

8- and 16-bit operands go by pairs through the processor's sums of two products, where it has them: sizes that are odd, too
few for a register, or behind a last block, and the numbers whose products overflow are among what is multiplied.
"""
import dataclasses
import itertools
import tempfile

import export as exporting
import jax
import jax.numpy as jnp
import numpy as np
from harness import run_text
from jax.sharding import PartitionSpec as P

MESHES = [{"x": 1, "y": 1}, {"x": 2, "y": 3}]
SIZES = [(70, 300, 130), (17, 33, 64), (3, 5, 7), (40, 24, 515), (2, 128, 256)]  # of m, n and k
LAYOUTS = ["nn", "nt", "tn", "tt"]  # t: the contracted dimension is where a product of matrices has it not
TYPES = {"i8": (jnp.int8, jnp.int8, jnp.int32), "u8_i8": (jnp.uint8, jnp.int8, jnp.int32), "i16": (jnp.int16, jnp.int16, jnp.int32),
         "i16_i8": (jnp.int16, jnp.int8, jnp.int32), "u16": (jnp.uint16, jnp.uint16, jnp.int32), "i32": (jnp.int32, jnp.int32, jnp.int32),
         "u32": (jnp.uint32, jnp.uint32, jnp.uint32), "u8_to_u32": (jnp.uint8, jnp.uint8, jnp.uint32)}


@dataclasses.dataclass
class IntegerCase:
    name: str
    left: type
    right: type
    result: type


def cases():
    return [IntegerCase(name, *types) for name, types in TYPES.items()]


def drawn(random, kind, shape):
    """Numbers of all sizes, a third of them the greatest or the least."""
    limits = np.iinfo(kind)
    numbers = random.integers(limits.min, limits.max, shape, dtype=kind, endpoint=True)
    ends = random.choice([limits.min, limits.max], shape).astype(kind)
    return np.where(random.random(shape) < 1 / 3, ends, numbers)


def multiplied(left, right, layout, result):
    dims = ((2 if layout[0] == "n" else 1,), (1 if layout[1] == "n" else 2,))
    return jax.lax.dot_general(left.astype(result), right.astype(result), (dims, ((0,), (0,))))


def check(case):
    random = np.random.default_rng(7)
    operands, wanted, layouts = [], [], []
    for (m, n, k), layout in itertools.product(SIZES, LAYOUTS):
        left, right = drawn(random, case.left, (2, m, k)), drawn(random, case.right, (2, k, n))
        wide = np.matmul(left.astype(np.int64), right.astype(np.int64)) if case.left != jnp.uint32 else np.matmul(
            left.astype(np.uint64), right.astype(np.uint64))
        wanted.append(wide.astype(np.dtype(case.result)))
        turned = lambda x, side: np.ascontiguousarray(x if layout[side] == "n" else np.swapaxes(x, 1, 2))
        operands += [turned(left, 0), turned(right, 1)]
        layouts.append(f"{m}x{n}x{k} {layout}")

    def build(mesh):
        def products(*operands):
            whole = [multiplied(a, b, layout.split()[1], case.result) for a, b, layout in zip(operands[::2], operands[1::2], layouts)]
            # What follows is computed where the sums are: a dequantised product.
            return (*whole, whole[0].astype(jnp.float32) * 0.5)

        return products, tuple(map(jnp.asarray, operands)), (P(None, "x"), P(None, None, "y")) * len(layouts), None

    for sizes in MESHES:
        text = exporting.export(build, sizes, manual=False)
        with tempfile.TemporaryDirectory() as directory:
            wrong, outputs = run_text(text, tuple(operands), directory)
        every = [*wanted, wanted[0].astype(np.float32) * np.float32(0.5)]
        for name, got, want in zip([*layouts, "dequantised"], outputs or (), every):
            if not wrong and not np.array_equal(got, want):
                wrong = f"{name}: {np.count_nonzero(got != want)} of {want.size} are wrong"
        yield sizes, wrong
