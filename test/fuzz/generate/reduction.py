"""Reductions of all kinds: whole dimensions, windows, running ones, select_and_scatter; and sorts."""
import numpy as np

from . import elements
from .arithmetic import BINARY, constant_like, quotient, same_shape, tame
from .builder import i64s, table
from .contraction import small, windows
from .elements import F32, I1, I32, check_sum
from .movement import padded


def computation(element, lines, terminator="stablehlo.return"):
    """A region on two scalars %lhs and %rhs."""
    t = f"tensor<{element.name}>"
    body = "\n".join("  " + line.replace("$T", t) for line in lines[:-1])
    return f"^bb0(%lhs: {t}, %rhs: {t}):\n{body}\n  \"{terminator}\"({lines[-1]}) : ({t}) -> ()"


def simple(name):
    return lambda element: computation(element, [f'%res = "stablehlo.{name}"(%lhs, %rhs) : ($T, $T) -> $T', "%res"])


# (1 + x) (1 + y) - 1: associative, commutative, and no op that anybody knows
def joined(element):
    return computation(element, ['%p = "stablehlo.multiply"(%lhs, %rhs) : ($T, $T) -> $T', '%q = "stablehlo.add"(%lhs, %rhs) : ($T, $T) -> $T',
                                 '%res = "stablehlo.add"(%p, %q) : ($T, $T) -> $T', "%res"])


def lowest(element):
    return -np.inf if element.is_float else False if element.kind == "b" else np.iinfo(element.held).min


def highest(element):
    return np.inf if element.is_float else True if element.kind == "b" else np.iinfo(element.held).max


def maximum_reduce(a, axis):
    largest = np.maximum.reduce(a, axis=axis)
    return np.where(largest == 0, np.where(np.all(np.signbit(a), axis), -0.0, 0.0), largest).astype(a.dtype) if a.dtype.kind == "f" else largest


def minimum_reduce(a, axis):
    return -maximum_reduce(-a, axis) if a.dtype.kind == "f" else np.minimum.reduce(a, axis=axis)


def joined_reduce(a, axis):
    axes = (axis,) if isinstance(axis, int) else axis
    return np.subtract(np.multiply.reduce(a + a.dtype.type(1), axis=axes, dtype=a.dtype), np.ones((), a.dtype))


class Kind:
    """A reduction: its region, its neutral, its numpy function (array, axes) -> array, and the elements it is for."""

    def __init__(self, region, neutral, function, kinds):
        self.region, self.neutral, self.function, self.kinds = region, neutral, function, kinds


KINDS = {
    "add": Kind(simple("add"), lambda e: 0, lambda a, axis: np.add.reduce(a, axis=axis, dtype=a.dtype), "fiuc"),
    "maximum": Kind(simple("maximum"), lowest, maximum_reduce, "fiu"),
    "minimum": Kind(simple("minimum"), highest, minimum_reduce, "fiu"),
    "multiply": Kind(simple("multiply"), lambda e: 1, lambda a, axis: np.multiply.reduce(a, axis=axis, dtype=a.dtype), "iu"),
    "and": Kind(simple("and"), lambda e: True if e.kind == "b" else np.array(-1).astype(e.held), lambda a, axis: np.bitwise_and.reduce(a, axis=axis), "iub"),
    "or": Kind(simple("or"), lambda e: False if e.kind == "b" else 0, lambda a, axis: np.bitwise_or.reduce(a, axis=axis), "iub"),
    "xor": Kind(simple("xor"), lambda e: False if e.kind == "b" else 0, lambda a, axis: np.bitwise_xor.reduce(a, axis=axis), "iub"),
    "joined": Kind(joined, lambda e: 0, joined_reduce, "iu"),
}


def draw(b, v, common=0.55):
    names = [name for name, kind in KINDS.items() if v.element.kind in kind.kinds]
    if not names:
        return None, None
    name = "add" if "add" in names and b.rng.random() < common else b.rng.choice(names)
    return name, KINDS[name]


def initial(b, v, kind, name):
    """A scalar: the neutral, mostly; always where only a neutral makes the order of no matter."""
    if name not in ("joined", "xor") and b.rng.random() < 0.18 and v.element.kind in "fiu" and v.exact:
        return b.argument(v.element, (), 3) if b.rng.random() < 0.5 else b.constant(v.element, b.rng.randint(1, 3))
    return b.constant_unchecked(v.element, kind.neutral(v.element))


def combine(kind, name, a, init, axes):
    """All of `axes` and the initial value, once for each result."""
    reduced = kind.function(a, tuple(axes))
    both = np.stack([np.broadcast_to(init, reduced.shape).astype(a.dtype), reduced])
    return kind.function(both, 0)


def reduce(b):
    x = b.pick(lambda v: v.rank and v.size > 1)
    if not x:
        return False
    name, kind = draw(b, x)
    if not name:
        return False
    if name == "add" and b.rng.random() < 0.4:
        x = small(b, x)
    axes = sorted(b.rng.sample(range(x.rank), min(x.rank, b.rng.choice([1, 1, 1, 2, 3]))))
    init = initial(b, x, kind, name)
    if name in ("add", "maximum", "minimum") and x.exact and all(x.shape[d] == 1 for d in axes) and b.rng.random() < 0.4:
        init = b.constant(x.element, b.rng.randint(1, 3))  # the only thing that such a reduction does
    return reduced(b, x, name, axes, init)


def reduced(b, x, name, axes, init=None):
    kind = KINDS[name]
    init = init or b.constant_unchecked(x.element, kind.neutral(x.element))
    shape = [n for d, n in enumerate(x.shape) if d not in axes]
    def evaluate(a, i):
        if name == "add":
            check_sum(x.element, np.sum(np.abs(a), tuple(axes)) + np.abs(i), np.append(a.reshape(-1), i))
        return [combine(kind, name, a, i, axes)]
    return b.emit("stablehlo.reduce", [x, init], [(x.element, shape)], evaluate, f"dimensions = {i64s(axes)}", [kind.region(x.element)])


def meeting(b):
    """Reductions of one shape that meet each other, a constant or another value: parts of them may not be combined as wholes are."""
    x = b.pick(lambda v: v.rank and v.size > 1 and v.element.kind in "fiu" and v.exact)
    if not x:
        return False
    axes = sorted(b.rng.sample(range(x.rank), min(x.rank, b.rng.choice([1, 1, 2]))))
    alike = [v for v in b.pool if v.element is x.element and v.shape == x.shape and v.exact]
    def one():
        name = b.rng.choice(["add", "add", "add", "maximum", "minimum"])
        v = b.rng.choice([x, b.rng.choice(alike)])
        return reduced(b, small(b, v) if name == "add" else v, name, axes)[0]
    p = one()
    other = b.rng.random()
    q = one() if other < 0.45 else p if other < 0.55 else constant_like(b, p, b.rng.randint(1, 5)) if other < 0.85 else same_shape(b, p, 9)
    name = b.rng.choice(["add", "add", "subtract", "subtract", "multiply", "multiply", "maximum", "minimum"])
    operands = [p, q] if b.rng.random() < 0.5 else [q, p]
    if x.element.is_integer and b.rng.random() < 0.35:
        return quotient(b, p, b.rng.choice([2, 3, 7]))
    return b.emit(f"stablehlo.{name}", operands, [(p.element, p.shape)], lambda p, q: [BINARY[name](p, q)])


ARGMAX = """^bb0(%a: tensor<{0}>, %i: tensor<i32>, %b: tensor<{0}>, %j: tensor<i32>):
  %gt = "stablehlo.compare"(%a, %b) {{comparison_direction = #stablehlo<comparison_direction {1}>}} : (tensor<{0}>, tensor<{0}>) -> tensor<i1>
  %eq = "stablehlo.compare"(%a, %b) {{comparison_direction = #stablehlo<comparison_direction EQ>}} : (tensor<{0}>, tensor<{0}>) -> tensor<i1>
  %lt = "stablehlo.compare"(%i, %j) {{comparison_direction = #stablehlo<comparison_direction LT>}} : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %tie = "stablehlo.and"(%eq, %lt) : (tensor<i1>, tensor<i1>) -> tensor<i1>
  %first = "stablehlo.or"(%gt, %tie) : (tensor<i1>, tensor<i1>) -> tensor<i1>
  %v = "stablehlo.select"(%first, %a, %b) : (tensor<i1>, tensor<{0}>, tensor<{0}>) -> tensor<{0}>
  %k = "stablehlo.select"(%first, %i, %j) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
  "stablehlo.return"(%v, %k) : (tensor<{0}>, tensor<i32>) -> ()"""


def argmax(b):
    """Value and place of the largest or smallest, the first of equal ones."""
    x = b.pick(lambda v: v.rank and v.size > 1 and v.exact and v.element.kind in "fiu")
    if not x:
        return False
    largest = b.rng.random() < 0.5
    axes = [b.rng.randrange(x.rank)] if b.rng.random() < 0.8 else sorted(b.rng.sample(range(x.rank), min(2, x.rank)))
    rest = [d for d in range(x.rank) if d not in axes]
    shape = [x.shape[d] for d in rest]
    k = int(np.prod([x.shape[d] for d in axes]))
    places = np.broadcast_to(np.arange(k).reshape([x.shape[d] if d in axes else 1 for d in range(x.rank)]), x.shape).astype(np.int32)
    if len(axes) == 1:
        d = axes[0]
        numbers = b.emit("stablehlo.iota", [], [(I32, x.shape)], lambda: [places], f"iota_dimension = {d} : i64")[0]
    else:
        numbers = b.argument(I32, x.shape, data=places)
    worst = b.constant_unchecked(x.element, lowest(x.element) if largest else highest(x.element))
    none = b.constant(I32, 2**31 - 1)
    def evaluate(a, p, w, n):
        flat = np.transpose(a, rest + axes).reshape(shape + [k])
        order = np.transpose(p, rest + axes).reshape(shape + [k])
        best = flat.max(-1) if largest else flat.min(-1)
        place = np.where(flat == best[..., None], order, 2**31 - 1).min(-1)
        return [best, place.astype(np.int32)]
    return b.emit("stablehlo.reduce", [x, numbers, worst, none], [(x.element, shape), (I32, shape)], evaluate, f"dimensions = {i64s(axes)}",
                  [ARGMAX.format(x.element.name, "GT" if largest else "LT")])


def pair(b):
    """Two results of one reduction: a sum and a maximum."""
    x = b.pick(lambda v: v.rank and v.size > 1 and v.element.kind in "fiu")
    if not x:
        return False
    y = b.pick(lambda v: v.shape == x.shape and v.element.kind in "fiu" and v.exact == x.exact) or x
    axes = sorted(b.rng.sample(range(x.rank), min(x.rank, b.rng.choice([1, 1, 2]))))
    shape = [n for d, n in enumerate(x.shape) if d not in axes]
    s, t = f"tensor<{x.element.name}>", f"tensor<{y.element.name}>"
    region = (f"^bb0(%a: {s}, %b: {t}, %c: {s}, %d: {t}):\n  %s = \"stablehlo.add\"(%a, %c) : ({s}, {s}) -> {s}\n"
              f"  %m = \"stablehlo.maximum\"(%b, %d) : ({t}, {t}) -> {t}\n  \"stablehlo.return\"(%s, %m) : ({s}, {t}) -> ()")
    zero, least = b.constant(x.element, 0), b.constant_unchecked(y.element, lowest(y.element))
    def evaluate(p, q, z, l):
        check_sum(x.element, np.sum(np.abs(p), tuple(axes)), p, each_rounded=True)
        return [np.add.reduce(p, axis=tuple(axes), dtype=p.dtype), maximum_reduce(q, tuple(axes))]
    return b.emit("stablehlo.reduce", [x, y, zero, least], [(x.element, shape), (y.element, shape)], evaluate, f"dimensions = {i64s(axes)}", [region])


def operand_of_windows(b, common):
    """The operand, the name and the kind of a reduction by windows; no name where none fits."""
    x = b.pick(lambda v: v.rank and v.size > 1)
    name, kind = draw(b, x, common) if x else (None, None)
    return small(b, x) if name == "add" else x, name, kind


def reduce_window(b):
    x, name, kind = operand_of_windows(b, 0.4)
    if not name:
        return False
    rank = range(x.rank)
    window, stride, base, dilation, low, high = ([1] * x.rank for _ in range(6))
    low, high = [0] * x.rank, [0] * x.rank
    for d in rank:
        if b.rng.random() < 0.65:
            window[d] = b.rng.choice([1, 2, 2, 3, 3, 4, 5])
            stride[d] = b.rng.choice([1, 1, 2, 3, window[d]])
            base[d] = b.rng.choice([1, 1, 1, 2])
            dilation[d] = b.rng.choice([1, 1, 1, 2])
            low[d], high[d] = b.rng.choice([0, 0, 1, 2]), b.rng.choice([0, 0, 1, 2])
            if b.rng.random() < 0.3:  # as many windows as elements, which see what comes before
                stride[d], low[d], high[d] = 1, (window[d] - 1) * dilation[d], 0
    return windowed(b, x, name, kind, window, stride, base, dilation, low, high)


def running(b):
    """A running reduction along a dimension, forward or backward."""
    x, name, kind = operand_of_windows(b, 0.6)
    if not name:
        return False
    d = b.rng.randrange(x.rank)
    n = x.shape[d]
    if n * x.size > 400_000:
        return False
    window, ones, low, high = [1] * x.rank, [1] * x.rank, [0] * x.rank, [0] * x.rank
    window[d] = n
    (low if b.rng.random() < 0.7 else high)[d] = n - 1
    return windowed(b, x, name, kind, window, ones, ones, ones, low, high)


def windowed(b, x, name, kind, window, stride, base, dilation, low, high):
    full = [(n - 1) * e + 1 + l + h for n, e, l, h in zip(x.shape, base, low, high)]
    shape = [(n - ((w - 1) * k + 1)) // s + 1 for n, w, k, s in zip(full, window, dilation, stride)]
    if min(shape) < 1 or int(np.prod(shape)) > b.most or max(window) == 1:
        return False
    init = initial(b, x, kind, name)
    dims = list(range(x.rank))
    inside = tuple(range(x.rank, 2 * x.rank))
    def evaluate(a, i):
        if name == "add":
            view = windows(padded(np.abs(a), np.abs(i), low, high, [e - 1 for e in base]), window, stride, dilation, dims)
            check_sum(x.element, np.sum(view, inside) + np.abs(i), np.append(a.reshape(-1), i))
        a = padded(a, i, low, high, [e - 1 for e in base])  # what lies outside is the start value, too
        return [combine(kind, name, windows(a, window, stride, dilation, dims), i, inside)]
    return b.emit("stablehlo.reduce_window", [x, init], [(x.element, shape)], evaluate,
                  f"window_dimensions = {i64s(window)}, window_strides = {i64s(stride)}, base_dilations = {i64s(base)}, "
                  f"window_dilations = {i64s(dilation)}, padding = {table(zip(low, high))}", [kind.region(x.element)])


def comparison(elements, direction):
    """A region on two scalars of each of `elements`, which compares the first two."""
    types = [f"tensor<{element.name}>" for element in elements]
    names = ", ".join(f"%{side}{i}: {t}" for i, t in enumerate(types) for side in "ab")
    return (f"^bb0({names}):\n  %res = \"stablehlo.compare\"(%a0, %b0) {{comparison_direction = #stablehlo<comparison_direction "
            f"{direction}>}} : ({types[0]}, {types[0]}) -> tensor<i1>\n  \"stablehlo.return\"(%res) : (tensor<i1>) -> ()")


def select_and_scatter(b):
    x = b.pick(lambda v: v.rank and v.size > 3 and v.element.kind in "fi" and v.exact and v.element.name != "bf16")
    if not x:
        return False
    window, stride, low, high = [1] * x.rank, [1] * x.rank, [0] * x.rank, [0] * x.rank
    for d, n in enumerate(x.shape):
        if b.rng.random() < 0.7 and n > 1:
            window[d] = b.rng.choice([k for k in (1, 2, 2, 3) if k <= n])
            stride[d] = b.rng.choice([1, 2, window[d]])
            if window[d] > 1:
                low[d], high[d] = b.rng.choice([0, 0, 1]), b.rng.choice([0, 0, 1])
    full = [n + l + h for n, l, h in zip(x.shape, low, high)]
    shape = [(n - w) // s + 1 for n, w, s in zip(full, window, stride)]
    if min(shape) < 1 or max(window) == 1:
        return False
    direction = b.rng.choice(["GE", "GE", "LE"])
    source = b.pick_or_new(lambda v: v.element is x.element and v.shape == tuple(shape), x.element, shape, 9)
    init = b.constant(x.element, 0)
    def evaluate(a, s, i):
        worst = lowest(x.element) if direction == "GE" else highest(x.element)
        places = padded(np.arange(a.size).reshape(a.shape), -1, low, high, [0] * a.ndim)
        values = padded(a, worst, low, high, [0] * a.ndim)
        dims = list(range(a.ndim))
        flat = lambda v: windows(v, window, stride, [1] * a.ndim, dims).reshape(*shape, -1)
        values, places = flat(values), flat(places)
        best = values.max(-1) if direction == "GE" else values.min(-1)
        here = (values == best[..., None]) & (places >= 0)
        if not np.all(here.any(-1)):
            raise elements.Inexact  # a window without elements
        place = np.take_along_axis(places, here.argmax(-1)[..., None], -1)[..., 0]
        out = np.zeros(a.size, a.dtype)
        magnitude = np.zeros(a.size, np.float64)
        np.add.at(out, place.reshape(-1), s.reshape(-1))
        np.add.at(magnitude, place.reshape(-1), np.abs(s).reshape(-1).astype(np.float64))
        check_sum(x.element, magnitude, s, each_rounded=True)
        return [out.reshape(a.shape)]
    return b.emit("stablehlo.select_and_scatter", [x, source, init], [(x.element, x.shape)], evaluate,
                  f"window_dimensions = {i64s(window)}, window_strides = {i64s(stride)}, padding = {table(zip(low, high))}",
                  [comparison([x.element], direction), simple("add")(x.element)])


def order_of(key, descending, axis):
    n = key.shape[axis]
    if not descending:
        return np.argsort(key, axis=axis, kind="stable")
    back = np.argsort(np.flip(key, axis), axis=axis, kind="stable")
    return np.flip(n - 1 - back, axis)


def sort(b):
    """Stable, of one to three operands, by the first or by the first two."""
    x = b.pick(lambda v: v.rank and v.size > 1 and v.exact and v.element.kind in "fiu")
    if not x:
        return False
    if b.rng.random() < 0.4 and x.element.kind in "fiu":
        x = tame(b, x)[0]  # many equal ones
    operands = [x]
    for _ in range(b.rng.choice([0, 1, 1, 2])):
        y = b.pick(lambda v: v.shape == x.shape and v.exact) if b.rng.random() < 0.6 else None
        operands.append(y or b.argument(I32, x.shape))
    axis = b.rng.randrange(x.rank)
    descending = b.rng.random() < 0.4
    direction = "GT" if descending else "LT"
    def evaluate(*arrays):
        order = order_of(arrays[0], descending, axis)
        return [np.take_along_axis(a, order, axis) for a in arrays]
    return b.emit("stablehlo.sort", operands, [(v.element, v.shape) for v in operands], evaluate,
                  f"dimension = {axis} : i64, is_stable = true", [comparison([v.element for v in operands], direction)])


FAMILY = [(meeting, 3), (reduce, 5), (argmax, 1), (pair, 0.7), (reduce_window, 1.3), (running, 1.3), (select_and_scatter, 1.7), (sort, 1.3)]
