"""What kernels do with much at a time: sums over columns in parts, running reductions of many blocks, sorts that digits go through. Large values are read by
these operations alone, so that the rest of a program stays small."""
import numpy as np

from .builder import i64s, table
from .elements import F32, I32, check_sum
from .movement import cut, spread
from .reduction import KINDS, comparison, order_of, reduced


def an_argument(b, element, shape, span):
    """One that no other operation picks."""
    x = b.argument(element, shape, span)
    b.top().pool[:] = [v for v in b.top().pool if v is not x]
    b.pool[:] = [v for v in b.pool if v is not x]
    return x


def leave_out(b, values):
    b.pool[:] = [v for v in b.pool if not any(v is value for value in values)]


def column_sums(b):
    """Sums over the outer dimensions of an array that no cache keeps between two kernels, mostly behind what is folded of its rows."""
    element = b.element if b.element.name in ("f32", "f64") else F32
    rng = b.rng
    columns = rng.choice([16, 17, 20, 33, 64, 100, 130])
    rows = -(-rng.choice([66_000, 70_000, 90_000, 140_000]) // columns)
    inner = rng.choice([0, 0, 3, 7, 32, 33, 64, 100])
    shape = (-(-rows // inner), inner, columns) if inner else (rows, columns)
    x = an_argument(b, element, shape, 2)
    made = [x]
    rank = x.rank
    for _ in range(rng.choice([0, 1, 1, 2])):
        axes = list(range(rng.choice([rank - 1, rank - 1, max(rank - 2, 1)]), rank))
        top = reduced(b, x, "maximum", axes)[0]
        dims = [d for d in range(rank) if d not in axes]
        wide = b.emit("stablehlo.broadcast_in_dim", [top], [(element, shape)], lambda a, dims=dims: [spread(a, shape, dims)], f"broadcast_dimensions = {i64s(dims)}")[0]
        x = b.emit("stablehlo.subtract", [made[0], wide], [(element, shape)], lambda p, q: [p - q])[0]
        made += [wide, x]
    for _ in range(rng.choice([1, 1, 2, 3])):
        y = rng.choice(made[-1:] + made[:1] + made[-1:])
        axes = rng.choice([list(range(rank - 1)), list(range(rank - 1)), [0], [rank - 2]])
        total = reduced(b, y, "add", axes)[0]
        if total.size > b.most:
            leave_out(b, [total])
    leave_out(b, made)
    return True


def running(b):
    """A running sum or maximum of rows that are many blocks long."""
    element = b.element if b.element.name in ("f32", "f64", "i32", "i64") else F32
    rng = b.rng
    shape = [rng.choice([257, 300, 511, 600, 1100, 4200, 5000]), rng.choice([1, 1, 2, 3, 17])]
    if rng.random() < 0.7:
        shape.reverse()
    d = int(np.argmax(shape))
    x = an_argument(b, element, tuple(shape), 3)
    name, backward = rng.choice(["add", "add", "maximum"]), rng.random() < 0.35
    kind, n = KINDS[name], shape[d]
    init = b.constant_unchecked(element, kind.neutral(element))
    window, ones, low, high = [1] * 2, [1] * 2, [0] * 2, [0] * 2
    window[d] = n
    (high if backward else low)[d] = n - 1
    def evaluate(a, i):
        function = np.add if name == "add" else np.maximum
        turn = lambda v: np.flip(v, d) if backward else v
        if name == "add":
            check_sum(element, np.sum(np.abs(a), d), a)
        return [turn(function.accumulate(turn(a), axis=d, dtype=a.dtype)).copy()]
    result = b.emit("stablehlo.reduce_window", [x, init], [(element, tuple(shape))], evaluate,
                    f"window_dimensions = {i64s(window)}, window_strides = {i64s(ones)}, base_dilations = {i64s(ones)}, "
                    f"window_dilations = {i64s(ones)}, padding = {table(zip(low, high))}", [kind.region(element)])
    leave_out(b, result)
    return True


def first_rows(b):
    """A long sort with the places of what it sorts, of which the whole or the first rows are read."""
    element = b.element if b.element.name in ("f32", "f64", "i32", "i64", "bf16", "ui32") else F32
    rng = b.rng
    n = rng.choice([65, 130, 257, 1000, 4097])
    shape = (rng.choice([1, 2, 5]), n)
    x = an_argument(b, element, shape, rng.choice([None, 9]))
    places = an_argument(b, I32, shape, None)
    descending = rng.random() < 0.5
    def evaluate(*arrays):
        order = order_of(arrays[0], descending, 1)
        return [np.take_along_axis(a, order, 1) for a in arrays]
    whole = b.emit("stablehlo.sort", [x, places], [(element, shape), (I32, shape)], evaluate, "dimension = 1 : i64, is_stable = true",
                   [comparison([element, I32], "GT" if descending else "LT")])
    if rng.random() < 0.6:
        count = min(n, rng.choice([1, 2, 7, 16, 40]))
        for v in whole:
            cut(b, v, [0, 0], [shape[0], count])
    leave_out(b, whole)
    return True


def filter_gradient(b):
    """The gradient of a convolution's filters: a window as large as the images, many channels for it, and few places."""
    rng = b.rng
    images, size, side = rng.choice([2, 3]), rng.choice([12, 14, 16]), rng.choice([1, 3])
    channels, outputs = rng.choice([48, 64, 90]), rng.choice([8, 16, 20])
    first = rng.random() < 0.5  # channels first
    place = lambda channel: (images, channel, size, size) if first else (images, size, size, channel)
    x, by = an_argument(b, F32, place(channels), 3), an_argument(b, F32, place(outputs), 2)
    pad = (side - 1) // 2
    def evaluate(x, by):
        x, by = (np.moveaxis(v, 1, 3) if first else v for v in (x, by))
        x = np.pad(x, [(0, 0), (pad, pad), (pad, pad), (0, 0)])
        taps = [[np.tensordot(x[:, i : i + size, j : j + size], by, ([0, 1, 2], [0, 1, 2])) for j in range(side)] for i in range(side)]
        return [np.stack([np.stack(row) for row in taps])]  # position, position, channel, output
    order = ("f, b, 0, 1", "i, o, 0, 1") if first else ("f, 0, 1, b", "i, 0, 1, o")
    b.emit("stablehlo.convolution", [x, by], [(F32, (side, side, channels, outputs))], evaluate,
           f"dimension_numbers = #stablehlo.conv<[{order[0]}]x[{order[1]}]->[0, 1, b, f]>, batch_group_count = 1 : i64, feature_group_count = 1 : i64, "
           f"window_strides = array<i64: 1, 1>, padding = {table([(pad, pad)] * 2)}, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>")
    return True


FAMILY = [(column_sums, 1.0), (running, 0.6), (first_rows, 0.6), (filter_gradient, 0.6)]
