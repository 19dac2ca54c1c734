"""Operations that move elements and change none."""
import numpy as np

from .builder import i64s, table
from .elements import I32, I64, INTEGERS


def fits(b):
    return lambda v: v.size <= b.most


def transpose(b):
    x = b.pick(lambda v: v.rank > 1)
    if not x:
        return False
    order = list(range(x.rank))
    while order == sorted(order):
        b.rng.shuffle(order)
    return b.emit("stablehlo.transpose", [x], [(x.element, [x.shape[d] for d in order])],
                  lambda a: [np.transpose(a, order)], f"permutation = {i64s(order)}")


def factors(rng, n):
    """n as a product of one to three numbers."""
    parts = []
    while n > 1 and len(parts) < 2:
        k = rng.choice([k for k in range(1, n + 1) if n % k == 0])
        parts.append(k)
        n //= k
    return parts + [n]


def reshape(b):
    x = b.pick(lambda v: v.size > 1)
    if not x:
        return False
    shape = list(x.shape)
    for _ in range(b.rng.choice([1, 1, 2])):
        kind = b.rng.random()
        if kind < 0.42 and len(shape) > 1:  # merge
            d = b.rng.randrange(len(shape) - 1)
            shape[d : d + 2] = [shape[d] * shape[d + 1]]
        elif kind < 0.78 and shape:  # split
            d = b.rng.randrange(len(shape))
            shape[d : d + 1] = factors(b.rng, shape[d])
        elif kind < 0.85:
            shape.insert(b.rng.randrange(len(shape) + 1), 1)
        else:
            shape = factors(b.rng, x.size)  # across the boundaries of dimensions
    if len(shape) > 5:
        return False
    return b.emit("stablehlo.reshape", [x], [(x.element, shape)], lambda a: [a.reshape(shape)])


def broadcast(b):
    x = b.pick(lambda v: v.rank < 4 and v.size * 2 <= b.most)
    if not x:
        return False
    shape, dims = [], []
    at = 0
    size = x.size
    extra = b.rng.choice([0, 0, 1, 1, 1, 2])
    order = ["new"] * extra + ["old"] * x.rank
    b.rng.shuffle(order)
    numbering = list(range(x.rank))
    if b.rng.random() < 0.25:
        b.rng.shuffle(numbering)
    dims = [0] * x.rank
    for kind in order:
        if kind == "old":
            d = numbering[at]
            at += 1
            n = x.shape[d]
            if n == 1 and b.rng.random() < 0.5:
                n = b.rng.choice([k for k in (b.dim(), 3, 2) if size * k <= b.most] or [1])
                size *= n
            dims[d] = len(shape)
        else:
            n = b.rng.choice([k for k in (b.dim(), b.dim(), 3, 2) if size * k <= b.most] or [1])
            size *= n
        shape.append(n)
    if tuple(shape) == x.shape and dims == sorted(dims) and b.rng.random() < 0.9:
        return False
    return b.emit("stablehlo.broadcast_in_dim", [x], [(x.element, shape)], lambda a: [spread(a, shape, dims)],
                  f"broadcast_dimensions = {i64s(dims)}")


def spread(a, shape, dims):
    order = np.argsort(dims, kind="stable")
    places = [1] * len(shape)
    for d, place in enumerate(dims):
        places[place] = a.shape[d]
    return np.broadcast_to(np.transpose(a, order).reshape(places), shape).copy()


def slices(b):
    x = b.pick(lambda v: v.size > 1)
    if not x:
        return False
    start, limit, stride = [], [], []
    for n in x.shape:
        lo, hi, step = 0, n, 1
        if b.rng.random() < 0.6:
            lo = b.rng.randrange(n) if b.rng.random() < 0.6 else 0
            hi = b.rng.randint(lo + 1, n) if b.rng.random() < 0.6 else n
            step = b.rng.choice([1, 1, 1, 2, 3])
        start.append(lo), limit.append(hi), stride.append(step)
    whole = all(-(-(h - l) // s) == n for l, h, s, n in zip(start, limit, stride, x.shape))
    return not whole and cut(b, x, start, limit, stride)


def cut(b, x, start, limit, stride=None):
    stride = stride or [1] * x.rank
    at = tuple(slice(*t) for t in zip(start, limit, stride))
    return b.emit("stablehlo.slice", [x], [(x.element, [-(-(h - l) // s) for l, h, s in zip(start, limit, stride)])], lambda a: [a[at].copy()],
                  f"start_indices = {i64s(start)}, limit_indices = {i64s(limit)}, strides = {i64s(stride)}")[0]


def index_value(b, n):
    """A scalar integer near [0, n): an argument, a constant, or something made of the data."""
    kind = b.rng.random()
    element = I32 if b.rng.random() < 0.8 else b.rng.choice([I64, INTEGERS["ui32"]])
    number = b.rng.choice([b.rng.randint(0, n), b.rng.randint(0, n), n - 1, n + 1, 0 if element.kind == "u" else -b.rng.randint(1, 3)])
    if kind < 0.4:
        return b.argument(element, (), data=np.array(number, element.held))
    scalar = b.pick(lambda v: v.rank == 0 and v.element.is_integer and v.exact and v.element.name != "i8")
    if scalar and kind < 0.9:
        return scalar
    row = b.pick(lambda v: v.rank == 1 and v.element.name == "i32" and v.exact)
    if row:
        at = b.rng.randrange(row.shape[0])
        one = cut(b, row, [at], [at + 1])
        return b.emit("stablehlo.reshape", [one], [(row.element, ())], lambda a: [a.reshape(())])[0]
    return b.constant(element, number)


def index_values(b, shape):
    """One scalar for each dimension, all of one type."""
    first = index_value(b, max(shape))
    same = lambda v: v.rank == 0 and v.element is first.element
    values = [first]
    most = np.iinfo(first.element.held).max
    for n in (min(n, most) for n in shape[1:]):
        values.append((b.pick(same) or first) if b.rng.random() < 0.4 else
                      b.constant(first.element, b.rng.randint(0, n)) if b.rng.random() < 0.5 else
                      b.argument(first.element, (), data=np.array(b.rng.randint(0, n), first.element.held)))
    b.rng.shuffle(values)
    return values


def starts(indices, shape, sizes):
    return [min(max(int(i), 0), n - k) for i, n, k in zip(indices, shape, sizes)]


def dynamic_slice(b):
    x = b.pick(lambda v: v.size > 1 and v.rank)
    if not x:
        return False
    sizes = [b.rng.randint(1, n) if b.rng.random() < 0.6 else n for n in x.shape]
    def evaluate(a, *indices):
        return [a[tuple(slice(s, s + k) for s, k in zip(starts(indices, a.shape, sizes), sizes))].copy()]
    return b.emit("stablehlo.dynamic_slice", [x, *index_values(b, x.shape)], [(x.element, sizes)], evaluate, f"slice_sizes = {i64s(sizes)}")


def dynamic_update_slice(b):
    x = b.pick(lambda v: v.size > 1 and v.rank)
    if not x:
        return False
    sizes = [b.rng.randint(1, n) if b.rng.random() < 0.6 else n for n in x.shape]
    u = b.pick(lambda v: v.element is x.element and v.rank == x.rank and all(k <= n for k, n in zip(v.shape, x.shape)) and v is not x)
    if b.rng.random() < 0.15:  # of its own elements
        u = cut(b, x, [0] * x.rank, sizes)
    elif not u or b.rng.random() < 0.4:
        u = b.argument(x.element, sizes)
    def evaluate(a, u, *indices):
        a = a.copy()
        a[tuple(slice(s, s + k) for s, k in zip(starts(indices, a.shape, u.shape), u.shape))] = u
        return [a]
    return b.emit("stablehlo.dynamic_update_slice", [x, u, *index_values(b, x.shape)], [(x.element, x.shape)], evaluate)


def padded(a, value, low, high, interior):
    for d in range(a.ndim):
        n = a.shape[d]
        if interior[d] and n:
            shape = list(a.shape)
            shape[d] = n + (n - 1) * interior[d]
            wide = np.full(shape, value, a.dtype)
            at = [slice(None)] * a.ndim
            at[d] = slice(None, None, interior[d] + 1)
            wide[tuple(at)] = a
            a = wide
        width = [(0, 0)] * a.ndim
        width[d] = (max(low[d], 0), max(high[d], 0))
        a = np.pad(a, width, constant_values=value)
        at = [slice(None)] * a.ndim
        at[d] = slice(max(-low[d], 0), a.shape[d] - max(-high[d], 0))
        a = a[tuple(at)]
    return a.copy()


def pad(b):
    x = b.pick(lambda v: 0 < v.size * 2 <= b.most and v.rank)
    if not x:
        return False
    low, high, interior = [0] * x.rank, [0] * x.rank, [0] * x.rank
    for d, n in enumerate(x.shape):
        if b.rng.random() < 0.6:
            reach = b.rng.choice([1, 2, 3, 5, n, n // 2 + 1])
            low[d], high[d] = b.rng.randint(-min(reach, n - 1), reach), b.rng.randint(-min(reach, n - 1), reach)
            interior[d] = b.rng.choice([0, 0, 0, 1, 2])
    shape = [n + max(n - 1, 0) * i + l + h for n, l, h, i in zip(x.shape, low, high, interior)]
    if min(shape) < 1 or int(np.prod(shape)) > b.most or not any(low + high + interior):
        return False
    value = b.constant(x.element, 0) if b.rng.random() < 0.5 else b.argument(x.element, (), span=9)
    if not value.exact and x.exact:
        return False
    return b.emit("stablehlo.pad", [x, value], [(x.element, shape)], lambda a, v: [padded(a, v, low, high, interior)],
                  f"edge_padding_low = {i64s(low)}, edge_padding_high = {i64s(high)}, interior_padding = {i64s(interior)}")


def concatenate(b):
    x = b.pick(lambda v: v.rank and v.size * 2 <= b.most)
    if not x:
        return False
    d = b.rng.randrange(x.rank)
    agrees = lambda v: v.element is x.element and v.rank == x.rank and all(v.shape[e] == n for e, n in enumerate(x.shape) if e != d)
    parts = [x]
    for _ in range(b.rng.choice([1, 1, 2, 3])):
        shape = list(x.shape)
        shape[d] = b.rng.choice([1, 2, 3, shape[d], 7])
        parts.append(b.pick_or_new(agrees, x.element, shape))
    b.rng.shuffle(parts)
    shape = list(x.shape)
    shape[d] = sum(p.shape[d] for p in parts)
    if int(np.prod(shape)) > b.most:
        return False
    return b.emit("stablehlo.concatenate", parts, [(x.element, shape)], lambda *a: [np.concatenate(a, d)], f"dimension = {d} : i64")


def reverse(b):
    x = b.pick(lambda v: v.size > 1)
    if not x:
        return False
    dims = sorted(b.rng.sample(range(x.rank), b.rng.randint(1, x.rank)))
    return b.emit("stablehlo.reverse", [x], [(x.element, x.shape)], lambda a: [np.flip(a, dims).copy()], f"dimensions = {i64s(dims)}")


def iota(b):
    shape = b.shape(1, 3)
    d = b.rng.randrange(len(shape))
    element = b.element if b.element.kind in "fiu" else I32
    if b.rounding and element.is_float:
        element = I32
    def evaluate():
        return [np.broadcast_to(np.arange(shape[d]).reshape([-1 if e == d else 1 for e in range(len(shape))]), shape).astype(element.held)]
    return b.emit("stablehlo.iota", [], [(element, shape)], evaluate, f"iota_dimension = {d} : i64")


def barrier(b):
    values = [b.pick() for _ in range(b.rng.choice([1, 2]))]
    values = list(dict.fromkeys(values))
    return b.emit("stablehlo.optimization_barrier", values, [(v.element, v.shape) for v in values], lambda *a: list(a))


FAMILY = [(transpose, 5), (reshape, 6), (broadcast, 3), (slices, 4), (dynamic_slice, 2), (dynamic_update_slice, 2), (pad, 2.5),
          (concatenate, 2.5), (reverse, 1.5), (iota, 0.7), (barrier, 0.7)]
