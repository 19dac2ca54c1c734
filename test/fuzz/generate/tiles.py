"""Products whose columns end within a tile of registers, with all that is fused around them: operands and results whose elements lie a few apart,
backwards, or where data says, of any type.

Every operand of a step is made for it and has no other reader, so that one kernel reads it where it lies.
"""
import numpy as np

from . import elements
from .arithmetic import ORDER, maximum, minimum
from .arranged import once, part, step
from .builder import i64s
from .contraction import dot
from .elements import BF16, F16, F32, F64, I1, I32, INTEGERS
from .movement import spread

I8, I16, UI8 = INTEGERS["i8"], INTEGERS["i16"], INTEGERS["ui8"]
# what is read in the place of a type: (elements, weights)
NARROWER = {"f32": ([F32, BF16, F16, I8, I32, UI8, F64], [6, 3, 2, 1, 1, 0.5, 0.5]), "f64": ([F64, F32, BF16, I32], [6, 2, 1, 1]), "i32": ([I32, I8, I16], [4, 3, 1]),
            "bf16": ([BF16, F32, I8], [5, 2, 1]), "f16": ([F16, F32, I8], [5, 2, 1])}


def columns(b, element):
    """Around a tile's end: of one to four vectors of AVX-512 or AVX2."""
    vector = 8 if element is F64 else 16
    low, high = b.rng.choice([(2, 3), (2, 3), (2, 3), (0, 1), (1, 2), (3, 4)])
    return b.rng.choice([b.rng.randint(low * vector + 1, high * vector), high * vector, high * vector - 1, low * vector + 1])


def apart(b, element, shape, span=3):
    """An argument whose elements along one dimension, mostly the last, lie one to eight apart, or backwards."""
    if not shape:
        return b.argument(element, shape, span)
    d = len(shape) - 1 if b.rng.random() < 0.7 else b.rng.randrange(len(shape))
    by = b.rng.choice([1, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 8])
    way = b.rng.choice(["slice", "column", "column", "transpose", "reverse"])
    if way == "slice":
        source, start, limit, stride = list(shape), [0] * len(shape), list(shape), [1] * len(shape)
        start[d], stride[d] = b.rng.choice([0, 0, 1, by, by - 1]), by
        limit[d] = start[d] + (shape[d] - 1) * by + 1
        source[d] = limit[d] + b.rng.choice([0, 0, 1, by])
        return part(b, b.argument(element, source, span), start, limit, stride)
    if way == "column":  # of rows of a few, of which one is read
        at = b.rng.randrange(by)
        x = part(b, b.argument(element, [*shape, by], span), [0] * len(shape) + [at], [*shape, at + 1])
        return step(b, "reshape", [x], shape, lambda a: [a.reshape(shape)])
    if way == "transpose":
        order = b.rng.sample(range(len(shape)), len(shape))
        source = [0] * len(shape)
        for to, at in enumerate(order):
            source[at] = shape[to]
        return step(b, "transpose", [b.argument(element, source, span)], shape, lambda a: [np.transpose(a, order).copy()], f"permutation = {i64s(order)}")
    return step(b, "reverse", [apart(b, element, shape, span)], shape, lambda a: [np.flip(a, d).copy()], f"dimensions = {i64s([d])}")


def converted(b, x, element):
    return x if x.element is element else once(b, [x], b.emit("stablehlo.convert", [x], [(element, x.shape)], lambda a: [a.astype(element.held)])[0])


def beside(b, element, shape, span=3):
    """Something to combine a value of this shape with: of all its dimensions or of some, of the type or a narrower one."""
    dims = list(range(len(shape)))
    if b.rng.random() < 0.35:
        dims = sorted(b.rng.sample(dims, b.rng.randint(0, len(dims) - 1)) if b.rng.random() < 0.5 else dims[-1:])
    read = element
    if element.name in NARROWER and not (elements.rounds_narrow and element is not F32):
        read = b.rng.choices(*NARROWER[element.name])[0]
    x = converted(b, apart(b, read, [shape[d] for d in dims], span), element)
    if len(dims) == len(shape):
        return x
    return step(b, "broadcast_in_dim", [x], shape, lambda a: [spread(a, shape, dims)], f"broadcast_dimensions = {i64s(dims)}")


def looked_up(b, element, shape, span=3):
    """Rows of a table that another array names, along one dimension; the others lie side by side."""
    d, n = b.rng.randrange(len(shape)), b.rng.choice([3, 17, 40])
    source = [n if e == d else k for e, k in enumerate(shape)]
    table = apart(b, element, source, span)
    at = b.argument(I32, (shape[d],), data=np.random.default_rng(b.rng.getrandbits(64)).integers(0, n, shape[d]).astype(np.int32))
    offsets = [e for e in range(len(shape)) if e != d]
    return step(b, "gather", [table, at], shape, lambda a, i: [np.take(a, i, d)],
                f"dimension_numbers = #stablehlo.gather<{f'offset_dims = {offsets}, ' if offsets else ''}collapsed_slice_dims = [{d}], start_index_map = [{d}], index_vector_dim = 1>, "
                f"slice_sizes = {i64s([1 if e == d else k for e, k in enumerate(shape)])}, indices_are_sorted = false")


def combined(b, x, span=3):
    """One step of what is computed before or after a product."""
    shape, element = x.shape, x.element
    way = b.rng.choice(["add", "add", "subtract", "multiply", "maximum", "minimum", "select", "select", "predicate", "looked_up", "negate", "position"])
    if way == "negate":
        return step(b, "negate", [x], shape, lambda a: [-a])
    if way == "position":
        d = b.rng.randrange(len(shape))
        number = b.emit("stablehlo.iota", [], [(element, shape)], lambda: [spread(np.arange(shape[d]) % 2.0**element.digits if element.is_float else np.arange(shape[d]).astype(element.held), shape, [d])],
                        f"iota_dimension = {d} : i64")[0]
        return step(b, "add", [x, number], shape, lambda p, q: [p + q])
    if way in ("select", "predicate"):
        if way == "predicate":
            where = apart(b, I1, shape)
        else:
            direction, sides = b.rng.choice(list(ORDER)), [x, beside(b, element, shape, span)]
            where = b.emit("stablehlo.compare", sides, [(I1, shape)], lambda p, q: [ORDER[direction](p, q)],
                           f"comparison_direction = #stablehlo<comparison_direction {direction}>")[0]
            once(b, sides, where)
        other = beside(b, element, shape, span)
        result = b.emit("stablehlo.select", [where, x, other], [(element, shape)], lambda p, x, y: [np.where(p, x, y)])[0]
        return once(b, [where, x, other], result)
    y = looked_up(b, element, shape, span) if way == "looked_up" else beside(b, element, shape, 2 if way == "multiply" else span)
    function = {"subtract": np.subtract, "multiply": np.multiply, "maximum": maximum, "minimum": minimum}.get(way, np.add)
    return step(b, way if way != "looked_up" else "add", [x, y], shape, lambda p, q: [function(p, q)])


def side(b, element, shape):
    """An operand of a product, as it lies or computed."""
    x = beside(b, element, shape, 2) if b.rng.random() < 0.75 else b.argument(element, shape, 2)
    for _ in range(b.rng.choice([0, 0, 0, 1, 1, 2])):
        x = combined(b, x, 2)
    return x


def placed(b, x):
    """Where the result goes: as it is, turned, backwards, beside others, or in another type."""
    way, shape = b.rng.choice(["whole", "whole", "transpose", "transpose", "transpose", "reverse", "columns", "convert", "padded"]), list(x.shape)
    if way == "transpose":
        order = b.rng.sample(range(x.rank), x.rank)
        return step(b, "transpose", [x], [shape[d] for d in order], lambda a: [np.transpose(a, order).copy()], f"permutation = {i64s(order)}")
    if way == "reverse":
        d = b.rng.randrange(x.rank)
        return step(b, "reverse", [x], shape, lambda a: [np.flip(a, d).copy()], f"dimensions = {i64s([d])}")
    if way == "columns":  # of rows of a few
        x = step(b, "reshape", [x], [*shape, 1], lambda a: [a.reshape([*shape, 1])])
        values = [x, *(b.argument(x.element, x.shape, 3) for _ in range(b.rng.randint(1, 7)))]
        b.rng.shuffle(values)
        return step(b, "concatenate", values, [*shape, len(values)], lambda *a: [np.concatenate(a, -1)], f"dimension = {len(shape)} : i64")
    if way == "padded":
        by, none = b.rng.randint(1, 7), [0] * x.rank
        inner = [*none[1:], by]
        wide = [*shape[:-1], (shape[-1] - 1) * (by + 1) + 1]

        def spaced(a, v):
            out = np.full(wide, v)
            out[..., :: by + 1] = a
            return [out]
        return step(b, "pad", [x, b.constant(x.element, 0)], wide, spaced, f"edge_padding_low = {i64s(none)}, edge_padding_high = {i64s(none)}, interior_padding = {i64s(inner)}")
    if way == "convert":
        return converted(b, x, b.rng.choice([e for e in (F32, F64, BF16, F16) if e is not x.element and x.element.is_float] or [F32]))
    return x


def tiled_product(b):
    """One product; its batch dimensions and those of rows, terms and columns lie in any order."""
    element = b.element if b.element in (F32, F64, BF16, F16, I32, I8) else F32
    if b.rounding or b.parent:
        return False
    rng = b.rng
    n, m = columns(b, element), rng.choice([1, 5, 8, 9, 16, 17, 31, 40, 70, rng.randint(5, 150)])
    k = rng.choice([4, 5, 16, 17, 33, 64, 129, rng.randint(4, 100)])
    batch = [rng.choice([2, 3, 4, 5, 8])] if rng.random() < 0.4 else []
    count = len(batch)
    if batch:
        m, k = min(m, 40), min(k, 64)
    elif rng.random() < 0.1:  # in blocks, whose sums lie behind what is copied
        m, k = min(m, 17), rng.choice([300, 520, 4100, 4100])

    def ordered(rows, last):  # a side with its dimensions in some order, and where they are
        shape = [*batch, rows, last]
        order = rng.sample(range(count + 2), count + 2) if rng.random() < 0.6 else list(range(count + 2))
        return side(b, element, [shape[d] for d in order]), [order.index(d) for d in range(count + 2)]
    x, at = ordered(m, k)
    y, to = ordered(n, k) if rng.random() < 0.4 else ordered(k, n)
    terms = count + 1 if y.shape[to[count + 1]] == k and (y.shape[to[count]] == n) else count
    wide = F32 if element in (BF16, F16) and rng.random() < 0.6 else I32 if element is I8 else element
    sides = [(x, [at[count + 1]], at[:count]), (y, [to[terms]], to[:count])]
    if rng.random() < 0.4:
        sides.reverse()
    (first, c, p), (second, e, q) = sides
    z = once(b, [x, y], dot(b, first, second, c, e, p, q, wide)[0])
    for _ in range(rng.choice([0, 0, 1, 1, 2, 3])):
        z = combined(b, z)
    if rng.random() < 0.3:  # and another result of the same sums
        placed(b, combined(b, z))
        b.pool.append(z)
    placed(b, z)
    return True


FAMILY = [(tiled_product, 1)]
