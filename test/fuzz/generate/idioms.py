"""Several operations that programs use together: what passes look for as a whole."""
import numpy as np

from .arithmetic import constant_like, tame, truncated
from .builder import i64s
from .contraction import product, small
from .elements import F32, I1, I32
from .movement import padded, spread
from .reduction import lowest, reduced


def part(b, x, d, lo, hi):
    start, limit = [0] * x.rank, list(x.shape)
    start[d], limit[d] = lo, hi
    shape = [h - l for l, h in zip(start, limit)]
    at = tuple(slice(l, h) for l, h in zip(start, limit))
    return b.emit("stablehlo.slice", [x], [(x.element, shape)], lambda a: [a[at].copy()],
                  f"start_indices = {i64s(start)}, limit_indices = {i64s(limit)}, strides = {i64s([1] * x.rank)}")[0]


def join(b, values, d):
    shape = list(values[0].shape)
    shape[d] = sum(v.shape[d] for v in values)
    return b.emit("stablehlo.concatenate", values, [(values[0].element, shape)], lambda *a: [np.concatenate(a, d)], f"dimension = {d} : i64")[0]


def roll(b):
    """Slices of one value joined again: a rotation, sometimes with a gap or an overlap."""
    x = b.pick(lambda v: v.rank and max(v.shape) > 2 and v.size * 2 <= b.most)
    if not x:
        return False
    d = b.rng.choice([d for d, n in enumerate(x.shape) if n > 2])
    n, k = x.shape[d], b.rng.randint(1, x.shape[d] - 1)
    gap = b.rng.choice([0, 0, 0, 1, -1])
    second = max(1, min(n, k + gap))
    return join(b, [part(b, x, d, n - k, n), part(b, x, d, 0, max(1, n - second))], d)


def interleave(b):
    """Two values with holes of one, added."""
    x = b.pick(lambda v: v.rank and v.element.kind in "fiu" and v.size * 3 <= b.most)
    if not x:
        return False
    y = b.pick(lambda v: v.element is x.element and v.shape == x.shape and v.exact == x.exact and v is not x) or b.argument(x.element, x.shape)
    d = b.rng.randrange(x.rank)
    zero = b.constant(x.element, 0)
    shape = list(x.shape)
    shape[d] *= 2
    halves = []
    for v, (low, high) in ((x, (0, 1)), (y, (1, 0))):
        lows, highs, inner = ([k if e == d else 0 for e in range(x.rank)] for k in (low, high, 1))
        halves.append(b.emit("stablehlo.pad", [v, zero], [(x.element, shape)], lambda a, z, lows=lows, highs=highs, inner=inner: [padded(a, z, lows, highs, inner)],
                             f"edge_padding_low = {i64s(lows)}, edge_padding_high = {i64s(highs)}, interior_padding = {i64s(inner)}")[0])
    return b.emit("stablehlo.add", halves, [(x.element, shape)], lambda p, q: [p + q])


def against_reduction(b):
    """x - max(x) or x * sum(x), as softmax and norms have it: reduce, broadcast back, combine."""
    x = b.pick(lambda v: v.rank and v.size > 1 and v.element.kind in "fiu")
    if not x:
        return False
    x = small(b, x)
    axes = sorted(b.rng.sample(range(x.rank), b.rng.choice([1, 1, x.rank])))
    r = reduced(b, x, b.rng.choice(["maximum", "add", "minimum", "add"]), axes)[0]
    if b.rng.random() < 0.3 and r.element.is_integer:
        two = constant_like(b, r, 3)
        r = b.emit("stablehlo.divide", [r, two], [(r.element, r.shape)], lambda p, q: [truncated(p, q)])[0]
    dims = [d for d in range(x.rank) if d not in axes]
    wide = b.emit("stablehlo.broadcast_in_dim", [r], [(x.element, x.shape)], lambda a: [spread(a, x.shape, dims)], f"broadcast_dimensions = {i64s(dims)}")[0]
    name = b.rng.choice(["subtract", "add", "multiply"])
    function = {"subtract": np.subtract, "add": np.add, "multiply": np.multiply}[name]
    y = b.emit(f"stablehlo.{name}", [x, wide], [(x.element, x.shape)], lambda p, q: [function(p, q)])[0]
    if b.rng.random() < 0.5:
        if name == "multiply" and y.exact and y.element.is_float:
            y = tame(b, y)[0]
        reduced(b, y, b.rng.choice(["add", "maximum"]), sorted(b.rng.sample(range(x.rank), 1)))[0]
    return True


def quotient(b):
    """x / p into a sum or a product, p an argument of powers of two: what lies past the end of p is zero, and its quotient no number."""
    x = b.pick(lambda v: v.rank and v.size > 1 and v.element.is_float and v.exact)
    if not x:
        return False
    x = small(b, x)
    powers = np.array([1, 2, 4, -1, -2])[np.abs(b.numbers(I32, x.shape)) % 5]
    p = b.argument(x.element, x.shape, data=powers.astype(np.float64))
    q = b.emit("stablehlo.divide", [x, p], [(x.element, x.shape)], lambda u, v: [u / v])[0]
    d = b.rng.randrange(x.rank)
    if b.rng.random() < 0.5:
        reduced(b, q, b.rng.choice(["add", "maximum", "minimum"]), [d])[0]
        return True
    n = b.rng.choice([1, 3, 8, 17])
    if x.size // x.shape[d] * n > b.most:
        return False
    w = b.argument(x.element, (x.shape[d], n), 2)
    shape = [k for e, k in enumerate(x.shape) if e != d] + [n]
    lhs, rhs = list(range(x.rank)), [d, x.rank]
    out = [e for e in lhs if e != d] + [x.rank]
    return b.emit("stablehlo.dot_general", [q, w], [(x.element, shape)], lambda u, v: [product(x.element, u, v, lhs, rhs, out)],
                  f"dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], "
                  f"lhs_contracting_dimensions = [{d}], rhs_contracting_dimensions = [0]>")


def in_place(b):
    """x + f(x) with f a movement that keeps the shape: the result may not overwrite what is still to be read."""
    x = b.pick(lambda v: v.rank and v.size > 1 and v.element.kind in "fiu")
    if not x:
        return False
    kinds = ["reverse", "reverse all"] + ["transpose"] * (x.rank > 1 and x.shape[-1] == x.shape[-2]) * 3 + ["roll"] * (max(x.shape) > 1)
    kind = b.rng.choice(kinds)
    if kind == "reverse":
        d = b.rng.randrange(x.rank)
        y = b.emit("stablehlo.reverse", [x], [(x.element, x.shape)], lambda a: [np.flip(a, d).copy()], f"dimensions = {i64s([d])}")[0]
    elif kind == "reverse all":  # by another view of the same memory
        flat = b.emit("stablehlo.reshape", [x], [(x.element, (x.size,))], lambda a: [a.reshape(-1)])[0]
        back = b.emit("stablehlo.reverse", [flat], [(x.element, (x.size,))], lambda a: [a[::-1].copy()], f"dimensions = {i64s([0])}")[0]
        y = b.emit("stablehlo.reshape", [back], [(x.element, x.shape)], lambda a: [a.reshape(x.shape)])[0]
    elif kind == "transpose":
        order = [*range(x.rank - 2), x.rank - 1, x.rank - 2]
        y = b.emit("stablehlo.transpose", [x], [(x.element, x.shape)], lambda a: [np.transpose(a, order)], f"permutation = {i64s(order)}")[0]
    else:
        d = b.rng.choice([d for d, n in enumerate(x.shape) if n > 1])
        k = b.rng.randint(1, x.shape[d] - 1)
        y = join(b, [part(b, x, d, k, x.shape[d]), part(b, x, d, 0, k)], d)
    return b.emit("stablehlo.add", [x, y], [(x.element, x.shape)], lambda p, q: [p + q])


def square(b):
    """An argument n x n, for transposes and products that could be done in place."""
    element = b.element if b.element.kind in "fi" else F32
    n = b.rng.choice([2, 3, 5, 8, 16, 17, 20, 24, 31, 33, 37])
    x = b.argument(element, (n, n), 5)
    w = b.argument(element, (n, n), 1)
    lhs, rhs = ([0, 1], [1, 2]) if b.rng.random() < 0.5 else ([0, 1], [2, 1])
    y = b.emit("stablehlo.dot_general", [x, w], [(element, (n, n))], lambda u, v: [product(element, u, v, lhs, rhs, [0, 2])],
               f"dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], "
               f"lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [{rhs.index(1)}]>")[0]
    return b.emit("stablehlo.add", [x, y], [(element, (n, n))], lambda p, q: [p + q])


def large_product(b):
    """Of more than a cell of the grid: its rows and columns are divided among workers."""
    if b.parent or b.rounding or not b.element.is_float:
        return False
    m, n, k = (b.rng.choice([130, 192, 200, 256, 257, 300, 384]) for _ in range(3))
    turned = [b.rng.random() < 0.4 for _ in range(2)]
    x = b.argument(b.element, (k, m) if turned[0] else (m, k), 2)
    y = b.argument(b.element, (n, k) if turned[1] else (k, n), 2)
    lhs, rhs = ([2, 0] if turned[0] else [0, 2]), ([1, 2] if turned[1] else [2, 1])
    return b.emit("stablehlo.dot_general", [x, y], [(b.element, (m, n))], lambda u, v: [product(b.element, u, v, lhs, rhs, [0, 1])],
                  f"dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], "
                  f"lhs_contracting_dimensions = [{lhs.index(2)}], rhs_contracting_dimensions = [{rhs.index(2)}]>")


FAMILY = [(roll, 1), (interleave, 0.5), (against_reduction, 1.5), (quotient, 1), (in_place, 1), (square, 0.5), (large_product, 0.15)]
