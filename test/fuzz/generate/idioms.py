"""Several operations that programs use together: what passes look for as a whole."""
import numpy as np

from .arithmetic import BINARY, constant_like, tame, truncated
from .builder import i64s
from .contraction import dot, small
from .elements import F32, F64, I1, I32
from .movement import cut, padded, spread
from .reduction import comparison, lowest, reduced


def part(b, x, d, lo, hi):
    start, limit = [0] * x.rank, list(x.shape)
    start[d], limit[d] = lo, hi
    return cut(b, x, start, limit)


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


def columns_of_rows(b):
    """Columns of short rows, of coordinates or colours, in another order and partly computed, joined again."""
    if b.parent or b.element.kind not in "fiu":
        return False
    rows, columns = b.rng.choice([15, 16, 33, 64, 70, 150]), b.rng.randint(2, 8)
    x = b.argument(b.element, (rows, columns), 5)
    parts = [part(b, x, 1, d, d + 1) for d in b.rng.sample(range(columns), columns)]
    for i in b.rng.sample(range(columns), columns // 2):
        parts[i] = b.emit("stablehlo.maximum", [parts[i], parts[i - 1]], [(x.element, (rows, 1))], lambda p, q: [np.maximum(p, q)])[0]
    return join(b, parts, 1)


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
    sides = [(q, d), (w, 0)]
    if b.rng.random() < 0.5:
        sides.reverse()
    (first, c), (second, e) = sides
    return dot(b, first, second, [c], [e])


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
    y = dot(b, x, w, [1], [0] if b.rng.random() < 0.5 else [1])[0]
    return b.emit("stablehlo.add", [x, y], [(element, (n, n))], lambda p, q: [p + q])


def sorted_argument(b, shape):
    """In memory, and of its own: nothing else is computed where it is."""
    x = b.argument(b.element, shape, 9)
    return b.emit("stablehlo.sort", [x], [(x.element, shape)], lambda a: [np.sort(a, -1)], f"dimension = {len(shape) - 1} : i64, is_stable = true",
                  [comparison([x.element], "LT")])[0]


def plain_product(b, element, m, n, k, turned):
    x = b.argument(element, (k, m) if turned[0] else (m, k), 2)
    y = b.argument(element, (n, k) if turned[1] else (k, n), 2)
    return dot(b, x, y, [0 if turned[0] else 1], [1 if turned[1] else 0])[0]


def over_its_operand(b):
    """A result that may overwrite the last operand to be read: a product or a transpose added to it, or an update by its own elements."""
    if b.parent or b.rounding or b.element.kind not in "fi" or b.element.name == "i8":
        return False
    m, n, k = b.rng.choice([9, 13, 17, 20, 23, 31, 37]), b.rng.choice([17, 20, 33, 37, 40, 65, 70]), b.rng.choice([5, 8, 17, 33])
    t = sorted_argument(b, (m, n))
    kind = b.rng.choice(["product", "product", "transpose", "update"])
    if kind == "update":
        sizes = [b.rng.randint(2, m - 1), b.rng.randint(2, n - 1)]
        own = part(b, part(b, t, 0, 0, sizes[0]), 1, 0, sizes[1])
        turned = b.emit("stablehlo.negate", [own], [(t.element, own.shape)], lambda a: [-a])[0]
        at = [b.constant(I32, b.rng.randint(0, 3)) for _ in sizes]
        def evaluate(a, u, i, j):
            a, i, j = a.copy(), min(int(i), m - sizes[0]), min(int(j), n - sizes[1])
            a[i : i + sizes[0], j : j + sizes[1]] = u
            return [a]
        b.pool.remove(t)
        return b.emit("stablehlo.dynamic_update_slice", [t, turned, *at], [(t.element, t.shape)], evaluate)
    if kind == "product":
        other = plain_product(b, t.element, m, n, k, [b.rng.random() < 0.4 for _ in range(2)])
    else:
        w = b.argument(t.element, (n, m), 9)
        other = b.emit("stablehlo.transpose", [w], [(t.element, (m, n))], lambda a: [a.T.copy()], f"permutation = {i64s([1, 0])}")[0]
    b.pool.remove(t), b.pool.remove(other)
    return b.emit("stablehlo.add", [t, other], [(t.element, t.shape)], lambda p, q: [p + q])


def turned_product(b):
    """A stack of products, its dimensions in another order."""
    if b.rounding or b.element.kind not in "fi":
        return False
    s, m, n = (b.rng.choice([2, 3, 4, 4, 5, 8, 8]) for _ in range(3))
    m = m if b.rng.random() < 0.5 else s
    x, y = b.argument(b.element, (s, m, 3), 2), b.argument(b.element, (s, 3, n), 2)
    p = dot(b, x, y, [2], [1], [0], [0])[0]
    order = b.rng.choice([[0, 2, 1], [1, 0, 2], [2, 1, 0], [1, 2, 0], [2, 0, 1]])
    b.pool.remove(p)
    return b.emit("stablehlo.transpose", [p], [(p.element, [p.shape[d] for d in order])], lambda a: [np.transpose(a, order).copy()],
                  f"permutation = {i64s(order)}")


def parts_that_meet(b):
    """Reductions along one dimension, combined as their parts must not be."""
    if b.rounding or b.element.kind not in "fi":
        return False
    x = b.argument(b.element, (b.rng.choice([1, 3, 8, 16]), b.rng.choice([6, 8, 12, 16])), 5)
    one, other, name = b.rng.choice([("add", "maximum", "add"), ("add", "minimum", "add"), ("add", "add", "multiply"), ("add", None, "add"),
                                     (None, "maximum", "subtract"), (None, "minimum", "subtract"), ("add", "add", "maximum")])
    values = [reduced(b, x, kind, [1])[0] if kind else b.constant(x.element, np.full(x.shape[:1], 3)) for kind in (one, other)]
    return b.emit(f"stablehlo.{name}", values, [(x.element, x.shape[:1])], lambda p, q: [BINARY[name](p, q)])


def large_chain(b):
    """Arithmetic on more elements than one cell of the grid takes."""
    if b.parent or b.rounding or b.element.kind not in "fi":
        return False
    shape = b.rng.choice([(100_003,), (70_001,), (301, 257), (90_000,), (37, 2_501)])
    x, y = b.argument(b.element, shape, 9), b.argument(b.element, shape, 9)
    for name in b.rng.sample(["add", "multiply", "subtract", "maximum", "minimum"], 3):
        x = b.emit(f"stablehlo.{name}", [x, y], [(x.element, shape)], lambda p, q, f=BINARY[name]: [f(p, q)])[0]
        b.pool.remove(x)
    return True


def large_column_sums(b):
    """Sums over columns that are made in parts, beside other results of the same elements, and of what follows from their rows."""
    if b.parent or b.rounding or b.element not in (F32, F64):
        return False
    shape = b.rng.choice([(1300, 60), (5, 300, 60), (40, 3, 9, 72), (37, 31, 60), (2100, 40), (1030, 1, 130), (6, 70, 200)])
    x, y = b.argument(b.element, shape, 2), b.argument(b.element, shape, 2)
    axes, last = list(range(len(shape) - 1)), len(shape) - 1
    name = b.rng.choice(["add", "multiply", "subtract"])
    p = b.emit(f"stablehlo.{name}", [x, y], [(b.element, shape)], lambda u, v: [BINARY[name](u, v)])[0]
    values = [x, y, p]
    if b.rng.random() < 0.6:
        r = reduced(b, b.rng.choice(values), b.rng.choice(["maximum", "minimum"]), [last])[0]
        wide = b.emit("stablehlo.broadcast_in_dim", [r], [(b.element, shape)], lambda a: [spread(a, shape, axes)], f"broadcast_dimensions = {i64s(axes)}")[0]
        values.append(b.emit("stablehlo.subtract", [p, wide], [(b.element, shape)], lambda u, v: [u - v])[0])
    sums = [reduced(b, v, "add", axes)[0] for v in b.rng.sample(values, b.rng.choice([1, 2, 2, 3]))]
    if b.rng.random() < 0.3:  # what reads a sum is made later
        wide = b.emit("stablehlo.broadcast_in_dim", [sums[0]], [(b.element, shape)], lambda a: [spread(a, shape, [last])], f"broadcast_dimensions = {i64s([last])}")[0]
        b.emit("stablehlo.subtract", [p, wide], [(b.element, shape)], lambda u, v: [u - v])
    return True


FAMILY = [(large_column_sums, 0.15), (roll, 1), (columns_of_rows, 0.5), (interleave, 0.5), (against_reduction, 1.5), (quotient, 1), (in_place, 1), (square, 0.5),
          (large_chain, 0.15), (over_its_operand, 0.8), (turned_product, 0.3), (parts_that_meet, 1.2)]
