"""Ops that move elements: each element of the result is one of an operand."""
import numpy as np
from case import Case, array_attribute
from element_types import I32, PLAIN, choose, data, of


def _operand(c, low=0, high=4):
    t, shape = choose(c.rng, PLAIN), c.shape(low, high, c.may_be_large(0.06))
    return t, shape, c.argument(t, shape, data(c.rng, t, shape))


def _starts(c, n, sizes):
    """Scalar start indices: inside, or far outside; and their type."""
    t = choose(c.rng, of("int"))
    starts = []
    for size in sizes:
        value = np.asarray(c.rng.integers(0, max(size, 1)) if c.chance(0.6) else data(c.rng, t, ()), np.int64 if t.kind == "sint" else np.uint64)
        starts.append(c.argument(t, (), value.astype(t.dtype)))
    return starts


def broadcast_in_dim(rng, **options):
    c = Case(rng, "broadcast_in_dim", **options)
    t, shape, x = _operand(c, high=3)
    result = list(c.shape(len(shape), 5, 200))
    dims = [int(d) for d in rng.permutation(len(result))[:len(shape)]]
    if c.chance(0.7):
        dims.sort()
    for d, size in zip(dims, shape):
        if size != 1 or c.chance(0.3):
            result[d] = size
    return c.returns(c.emit("broadcast_in_dim", [x], t, result, f"broadcast_dimensions = {array_attribute(dims)}"))


def concatenate(rng, **options):
    c = Case(rng, "concatenate", **options)
    t, shape = choose(rng, PLAIN), list(c.shape(low=1))
    d = int(rng.integers(len(shape)))
    operands = []
    for _ in range(rng.integers(1, 5)):
        shape[d] = c.size()
        operands.append(c.argument(t, shape, data(rng, t, shape)))
    shape[d] = sum(x.shape[d] for x in operands)
    return c.returns(c.emit("concatenate", operands, t, shape, f"dimension = {d} : i64"))


def dynamic_slice(rng, **options):
    c = Case(rng, "dynamic_slice", **options)
    t, shape, x = _operand(c)
    sizes = [int(rng.integers(min(1, n), n, endpoint=True)) for n in shape]
    return c.returns(c.emit("dynamic_slice", [x, *_starts(c, len(shape), shape)], t, sizes, f"slice_sizes = {array_attribute(sizes)}"))


def dynamic_update_slice(rng, **options):
    c = Case(rng, "dynamic_update_slice", **options)
    t, shape, x = _operand(c)
    sizes = [int(rng.integers(min(1, n), n, endpoint=True)) for n in shape]
    update = c.argument(t, sizes, data(rng, t, sizes))
    return c.returns(c.emit("dynamic_update_slice", [x, update, *_starts(c, len(shape), shape)], t, shape))


def pad(rng, **options):
    c = Case(rng, "pad", **options)
    t, shape, x = _operand(c)
    while True:
        low, high = (rng.integers(-3, 4, len(shape)) for _ in "lh")
        interior = rng.integers(0, 3, len(shape)) * (rng.random(len(shape)) < 0.4)
        result = [int(l + h + n + max(n - 1, 0) * i) for l, h, n, i in zip(low, high, shape, interior)]
        if all(n >= (0 if c.zero else 1) for n in result):
            break
    value = c.argument(t, (), data(rng, t, ()))
    return c.returns(c.emit("pad", [x, value], t, result, f"edge_padding_low = {array_attribute(low)}, edge_padding_high = {array_attribute(high)},"
                            f" interior_padding = {array_attribute(interior)}"))


def reshape(rng, **options):
    c = Case(rng, "reshape", **options)
    t, shape, x = _operand(c, high=5)
    sizes, left = [], int(np.prod(shape))
    while left > 1 and len(sizes) < 5:
        divisors = [n for n in range(1, left + 1) if left % n == 0]
        sizes.append(int(c.pick(divisors)))
        left //= sizes[-1]
    sizes += ([left] if left != 1 or c.chance(0.2) else []) + [1] * int(rng.integers(0, 2))
    sizes = [int(n) for n in rng.permutation(sizes)]
    return c.returns(c.emit("reshape", [x], t, sizes if np.prod(sizes, dtype=int) == np.prod(shape, dtype=int) else shape))


def reverse(rng, **options):
    c = Case(rng, "reverse", **options)
    t, shape, x = _operand(c)
    return c.returns(c.emit("reverse", [x], t, shape, f"dimensions = {array_attribute(c.subset(len(shape)))}"))


def slice_(rng, **options):
    c = Case(rng, "slice", **options)
    t, shape, x = _operand(c)
    low = 0 if c.zero else 1
    starts = [int(rng.integers(0, max(n - low, 0), endpoint=True)) for n in shape]
    limits = [int(rng.integers(min(s + low, n), n, endpoint=True)) for s, n in zip(starts, shape)]
    strides = [int(rng.integers(1, 4)) for _ in shape]
    result = [-(-(l - s) // k) for s, l, k in zip(starts, limits, strides)]
    return c.returns(c.emit("slice", [x], t, result, f"start_indices = {array_attribute(starts)}, limit_indices = {array_attribute(limits)},"
                            f" strides = {array_attribute(strides)}"))


def transpose(rng, **options):
    c = Case(rng, "transpose", **options)
    t, shape, x = _operand(c, high=5)
    order = rng.permutation(len(shape))
    return c.returns(c.emit("transpose", [x], t, [shape[d] for d in order], f"permutation = {array_attribute(order)}"))


def get_dimension_size(rng, **options):
    c = Case(rng, "get_dimension_size", **options)
    t, shape, x = _operand(c, low=1)
    return c.returns(c.emit("get_dimension_size", [x], I32, (), f"dimension = {rng.integers(len(shape))} : i64"))


def optimization_barrier(rng, **options):
    c = Case(rng, "optimization_barrier", **options)
    operands = [_operand(c)[2] for _ in range(rng.integers(1, 4))]
    return c.returns(*c.emit_many("optimization_barrier", operands, [(x.type, x.shape) for x in operands]))


GENERATORS = [("broadcast_in_dim", broadcast_in_dim, 2), ("concatenate", concatenate, 2), ("dynamic_slice", dynamic_slice, 3),
              ("dynamic_update_slice", dynamic_update_slice, 3), ("pad", pad, 3), ("reshape", reshape, 2), ("reverse", reverse, 2),
              ("slice", slice_, 2), ("transpose", transpose, 2), ("get_dimension_size", get_dimension_size, 1),
              ("optimization_barrier", optimization_barrier, 1)]
