"""Values of a wanted shape, made of arguments by movement that their readers may see through: passes merge it, products read it in place.

A way makes a value of a shape; `make` makes what it moves. What is made on the way has one reader: nothing else needs it in memory.
"""
import numpy as np

from .builder import i64s
from .contraction import dot
from .elements import BF16, F16, F32, F64, I32
from .movement import cut, padded, starts
from .reduction import reduced


def divisors(n):
    return [k for k in range(2, n) if n % k == 0]


def merged(b, make, shape, d=None):
    """Dimensions that lie apart and become one: transposed, then reshaped."""
    d = b.rng.choice([d for d, n in enumerate(shape) if divisors(n)]) if d is None else d
    k = b.rng.choice(divisors(shape[d]))
    apart = [*shape[:d], k, shape[d] // k, *shape[d + 1 :]]
    if len(apart) > 4:
        return make(shape)
    order = b.rng.sample(range(len(apart)), len(apart)) if b.rng.random() < 0.5 else list(range(len(apart)))
    if order == sorted(order):
        order[d], order[d + 1] = order[d + 1], order[d]
    source = [0] * len(apart)
    for to, at in enumerate(order):
        source[at] = apart[to]
    x = make(source)
    x = step(b, "transpose", [x], apart, lambda a: [np.transpose(a, order).copy()], f"permutation = {i64s(order)}")
    return step(b, "reshape", [x], shape, lambda a: [a.reshape(shape)])


def divided(b, make, shape):
    """A reshape that splits a dimension of the source."""
    d = b.rng.randrange(len(shape) - 1)
    x = make([*shape[:d], shape[d] * shape[d + 1], *shape[d + 2 :]])
    return step(b, "reshape", [x], shape, lambda a: [a.reshape(shape)])


def larger(b, shape):
    """(shape of a source, start, stride) of a slice."""
    start, stride, limit = [0] * len(shape), [1] * len(shape), list(shape)
    strides = [1, 1, 2, 2, 3] if int(np.prod(shape)) < 50_000 else [1]
    for d, n in enumerate(shape):
        if b.rng.random() < 0.6:
            start[d], stride[d] = b.rng.choice([0, 1, 1, 2, 3, n, 7]), b.rng.choice(strides)
        limit[d] = start[d] + (n - 1) * stride[d] + 1
    return [l + b.rng.choice([0, 0, 1, 2, 5]) for l in limit], start, stride, limit


def sliced(b, make, shape):
    source, start, stride, limit = larger(b, shape)
    return part(b, make(source), start, limit, stride)


def part(b, x, start, limit, stride=None):
    return once(b, [x], cut(b, x, start, limit, stride))


def sliced_anywhere(b, make, shape):
    source = [n + (b.rng.choice([0, 1, 3, n, 2 * n]) if b.rng.random() < 0.6 else 0) for n in shape]
    return part_anywhere(b, make(source), shape, [b.rng.randint(0, n - k) for n, k in zip(source, shape)])


def part_anywhere(b, x, shape, start):
    """At indices of the data."""
    indices = [b.argument(I32, (), data=np.array(at, np.int32)) for at in start]
    def evaluate(a, *indices):
        return [a[tuple(slice(s, s + k) for s, k in zip(starts(indices, a.shape, shape), shape))].copy()]
    return step(b, "dynamic_slice", [x, *indices], shape, evaluate, f"slice_sizes = {i64s(shape)}")


def reversed_(b, make, shape):
    dims = sorted(b.rng.sample(range(len(shape)), b.rng.randint(1, len(shape))))
    return step(b, "reverse", [make(shape)], shape, lambda a: [np.flip(a, dims).copy()], f"dimensions = {i64s(dims)}")


def edged(b, make, shape):
    low, high = ([b.rng.choice([0, 0, 1, 2]) for _ in shape] for _ in range(2))
    source = [n - l - h for n, l, h in zip(shape, low, high)]
    if min(source) < 1 or source == list(shape):
        return make(shape)
    x, none = make(source), [0] * len(shape)
    return step(b, "pad", [x, b.constant(x.element, b.rng.choice([0, 0, 1]))], shape, lambda a, v: [padded(a, v, low, high, none)],
                f"edge_padding_low = {i64s(low)}, edge_padding_high = {i64s(high)}, interior_padding = {i64s(none)}")


def negated(b, make, shape):
    return step(b, "negate", [make(shape)], shape, lambda a: [-a])


def step(b, name, operands, shape, evaluate, attributes=""):
    return once(b, operands, b.emit(f"stablehlo.{name}", operands, [(operands[0].element, shape)], evaluate, attributes)[0])


def once(b, operands, result):
    """The result of operands that nobody else is to read."""
    b.pool[:] = [value for value in b.pool if value not in operands]
    return result


def part_of_merged(b, make, shape):
    """Rows that do not lie evenly apart: a part of dimensions that lie apart and become one."""
    d = b.rng.randrange(len(shape))
    before = b.rng.choice([1, 2, 3, 7, shape[d] // 2, shape[d]])
    source, start = list(shape), [0] * len(shape)
    source[d] += before + b.rng.choice([0, 1, 2, shape[d]])
    while not divisors(source[d]):
        source[d] += 1
    x = merged(b, make, source, d)
    if b.rng.random() < 0.5:
        start[d] = before
        return part(b, x, start, [s + n for s, n in zip(start, shape)])
    return part_anywhere(b, x, shape, [b.rng.choice([before, 0]) if e == d else 0 for e in range(len(shape))])


def slice_of_slice(b, make, shape):
    return sliced(b, lambda source: sliced(b, make, source), shape)


WAYS = [(merged, 2.5, lambda shape: any(divisors(n) for n in shape)), (divided, 1, lambda shape: len(shape) > 1), (sliced, 2, any),
        (sliced_anywhere, 1, any), (part_of_merged, 2.5, any), (slice_of_slice, 1, any), (reversed_, 1, any), (edged, 1, any), (negated, 0.7, any)]


def arranged(b, element, shape, span=2, depth=None):
    """A value with elements within [-span, span]."""
    depth = b.rng.choice([1, 1, 2, 2, 3]) if depth is None else depth
    if depth == 0:
        return b.argument(element, shape, span)
    fitting = [(way, weight) for way, weight, fits in WAYS if fits(shape)]
    way = b.rng.choices([way for way, _ in fitting], [weight for _, weight in fitting])[0]
    return way(b, lambda source: arranged(b, element, source, span, depth - 1), list(shape))


def size(b):
    return b.rng.choice([2, 4, 5, 6, 8, 9, 12, 15, 16, 17, 18, 20, 24, 30, 33, 36, 40, 48, 60, 64, 96, 128, 384])


def multiplied(b, m, n, k, make, other=None):
    """The product of m x k and k x n, either of them turned; `make` makes one of the factors, and the other where nothing else does."""
    turned = [b.rng.random() < 0.4 for _ in range(2)]
    makes = [make, other or make]
    if b.rng.random() < 0.3:
        makes.reverse()
    x, y = makes[0]((k, m) if turned[0] else (m, k)), makes[1]((n, k) if turned[1] else (k, n))
    return once(b, [x, y], dot(b, x, y, [0 if turned[0] else 1], [1 if turned[1] else 0])[0])


def arranged_product(b):
    m, n, k = size(b), size(b), size(b)
    if b.rounding or b.element.kind not in "fi" or max(m * k, k * n, m * n) > max(b.most, 6000):
        return False
    return multiplied(b, m, n, k, lambda shape: arranged(b, b.element, shape), None if b.rng.random() < 0.3 else lambda shape: b.argument(b.element, shape, 2))


def arranged_value(b):
    """Read by a reduction, by arithmetic, or given back."""
    if b.rounding or b.element.kind not in "fiu":
        return False
    shape = [size(b) for _ in range(b.rng.choice([1, 2, 2, 3]))]
    if int(np.prod(shape)) > b.most:
        return False
    x = arranged(b, b.element, shape, 9, b.rng.choice([2, 2, 3]))
    reader = b.rng.random()
    if reader < 0.4:
        reduced(b, x, b.rng.choice(["add", "maximum"]), sorted(b.rng.sample(range(x.rank), b.rng.randint(1, x.rank))))
    elif reader < 0.7:
        b.emit("stablehlo.add", [x, b.argument(x.element, shape, 9)], [(x.element, shape)], lambda p, q: [p + q])
    return True


def large_product(b):
    """Of more than a cell of the grid: its rows and columns are divided among workers, and what they read is copied for each."""
    if b.parent or b.rounding or not b.element.is_float or b.element is F64 and b.rng.random() < 0.5:
        return False
    some = lambda *sizes: b.rng.choice(sizes)
    plain = lambda shape: b.argument(b.element, shape, 2)
    make = some(plain, lambda shape: arranged(b, b.element, shape, depth=1), *[lambda shape: part_of_merged(b, plain, list(shape))] * 4)
    if b.rng.random() < 0.75:
        return multiplied(b, some(700, 1000, 1500), some(20, 33, 64, 130), some(257, 384, 520), make, plain)
    return multiplied(b, some(130, 257, 384), some(130, 257, 384, 1000), some(130, 257), make, plain)


def merged_shards(b):
    """A reshape of dimensions as small as axes: split to single rows, so that the shards of a merged dimension are those of several."""
    dim = lambda: b.rng.choice([2, 2, 3, 4, 4, 5, 6, 7, 8])
    shape = [dim(), dim(), *(b.rng.choice([dim(), b.dim()]) for _ in range(b.rng.choice([0, 0, 1, 2])))]
    if b.rng.random() < 0.3:
        b.rng.shuffle(shape)
    x = b.argument(b.element, shape, 9)
    d = b.rng.randrange(len(shape) - 1)
    to = [*shape[:d], shape[d] * shape[d + 1], *shape[d + 2 :]]
    if b.rng.random() < 0.4:
        x = step(b, "reshape", [x], to, lambda a: [a.reshape(to)])
        b.emit("stablehlo.reshape", [x], [(x.element, shape)], lambda a: [a.reshape(shape)])
    else:
        b.emit("stablehlo.reshape", [x], [(x.element, to)], lambda a: [a.reshape(to)])
    b.ops[-1].meets_shardings = True
    return True


NARROWER = {"f64": [F32, BF16, F16], "f32": [BF16, F16]}


def narrowed(b):
    """A value that one reader converts to a narrower type, and another does not."""
    if b.rounding or b.element.name not in NARROWER:
        return False
    x = b.argument(b.element, b.shape(1, 3), 90)
    if b.rng.random() < 0.5:
        x = negated(b, lambda shape: x, x.shape)
    to = b.rng.choice(NARROWER[b.element.name])
    b.emit("stablehlo.convert", [x], [(to, x.shape)], lambda a: [a])
    if b.rng.random() < 0.5:
        reduced(b, x, "maximum", [b.rng.randrange(x.rank)])
    else:
        negated(b, lambda shape: x, x.shape)
    return True


FAMILY = [(arranged_product, 1.2), (arranged_value, 1), (large_product, 0.6), (narrowed, 0.4), (merged_shards, 0.8)]
