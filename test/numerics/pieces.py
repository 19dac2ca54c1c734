"""Reductions of arrays that consist of pieces: concatenations, paddings and slices of odd sizes, over columns and over rows.

A kernel runs over each piece by itself, and cells divide what it runs over: neither need end with a whole vector. The numbers are small integers,
so that sums are exact in every order and each element must be equal; what is written beyond a piece or left out is then seen.
"""
import numpy as np
from element_types import FLOATS, TYPES, Case, module, run, shape, travels

SIZES = (1, 2, 3, 5, 7, 16, 31, 63, 64, 65, 100, 127, 128, 130, 255, 256, 300, 1000, 4096)
MOST = 400_000  # elements


def concatenated(rng, x, draw, name):
    dim, more = int(rng.integers(2)), int(rng.choice((1, 1, 2, 7, 16, 100)))
    other = draw((more, x.shape[1]) if dim == 0 else (x.shape[0], more))
    before = rng.random() < 0.3
    operands, names = ([other, x], "%a1, %a0") if before else ([x, other], "%a0, %a1")
    value = np.concatenate(operands, dim)
    kinds = ", ".join(f"tensor<{shape(*v.shape, name)}>" for v in operands)
    return value, [other], f"stablehlo.concatenate {names}, dim = {dim} : ({kinds}) -> tensor<{shape(*value.shape, name)}>"


def with_one_column(rng, x, draw, name):
    other = draw((x.shape[0], 1))
    kinds = f"tensor<{shape(*x.shape, name)}>, tensor<{shape(*other.shape, name)}>"
    value = np.concatenate([x, other], 1)
    return value, [other], f"stablehlo.concatenate %a0, %a1, dim = 1 : ({kinds}) -> tensor<{shape(*value.shape, name)}>"


def padded(rng, x, draw, name):
    low, high = ([int(n) for n in rng.choice((0, 1, 3, 70), 2)] for _ in range(2))
    value = np.full([n + a + b for n, a, b in zip(x.shape, low, high)], 0, x.dtype)
    value[low[0] : low[0] + x.shape[0], low[1] : low[1] + x.shape[1]] = x
    return value, [], (f"stablehlo.pad %a0, %zero, low = {low}, high = {high}, interior = [0, 0] : "
                       f"(tensor<{shape(*x.shape, name)}>, tensor<{name}>) -> tensor<{shape(*value.shape, name)}>")


def sliced(rng, x, draw, name):
    start = [int(rng.integers(n)) for n in x.shape]
    end = [int(rng.integers(first, n)) + 1 for first, n in zip(start, x.shape)]
    value = x[start[0] : end[0], start[1] : end[1]]
    ranges = ", ".join(f"{first}:{last}" for first, last in zip(start, end))
    return value, [], f"stablehlo.slice %a0 [{ranges}] : (tensor<{shape(*x.shape, name)}>) -> tensor<{shape(*value.shape, name)}>"


def reductions(rng, value, name, dim):
    """Lines and expected results: sums of the array and of its square over one dimension, and its largest elements."""
    result = shape(value.shape[1 - dim], name)
    full, scalar = f"tensor<{shape(*value.shape, name)}>", f"tensor<{name}>"
    lines, outputs, expected = [f"%square = stablehlo.multiply %v, %v : {full}"], [], []
    wide = value.astype(np.float64 if name in FLOATS else np.int64)
    for number, (of, op, exact) in enumerate((("%v", "add", wide.sum(dim)), ("%square", "add", (wide * wide).sum(dim)), ("%square", "maximum", (wide * wide).max(dim)))):
        if rng.random() < 0.4 and number < 2 and not (number == 1 and not outputs):
            continue
        lines.append(f"%r{number} = stablehlo.reduce({of} init: %zero) applies stablehlo.{op} across dimensions = [{dim}] : ({full}, {scalar}) -> tensor<{result}>")
        outputs.append((f"%r{number}", result))
        expected.append(exact)
    return lines, outputs, expected


def reduced(name, pieces, sizes):
    rng = np.random.default_rng([len(name), *sizes])
    kind = TYPES[name]
    draw = lambda size: rng.integers(-3, 4, size).astype(kind)
    x = draw(sizes)
    value, more, made = pieces(rng, x, draw, name)
    lines, outputs, expected = reductions(rng, value, name, 0 if pieces is with_one_column else int(rng.integers(2)))
    zero = "0.0" if name in FLOATS else "0"
    lines = [f"%zero = stablehlo.constant dense<{zero}> : tensor<{name}>", f"%v = {made}", *lines]
    inputs = [x, *more]
    got = run(module([shape(*v.shape, name) for v in inputs], lines, outputs), *inputs)
    if isinstance(got, str):
        return got
    for result, exact in zip(got, expected):
        wrong = np.flatnonzero(result != travels(exact.astype(kind)))
        if len(wrong):
            return f"{len(wrong)} of {len(exact)} elements are wrong, from {wrong[0]} on: {made}"
    return None


# What chunks of cells once cut in mid-vector, and left out or wrote beyond the end.
KNOWN = ((130, 128), (130, 127), (1000, 64), (2, 4096), (130, 255), (130, 256), (300, 1000))


def drawn(seed, count):
    rng = np.random.default_rng(seed)
    found = []
    while len(found) < count:
        sizes = tuple(int(n) for n in rng.choice(SIZES, 2))
        if 64 <= sizes[0] * sizes[1] <= MOST:
            found.append(sizes)
    return found


def case(name, pieces, seed=0, count=6):
    sizes = KNOWN + tuple(drawn(seed, count))
    return Case(f"{pieces.__name__}_{name}", lambda: [(f"{rows}x{columns}", reduced(name, pieces, (rows, columns))) for rows, columns in sizes])


def cases():
    return [case(name, pieces) for name in ("f32", "f64", "bf16", "f16", "i8") for pieces in (concatenated, with_one_column, padded, sliced)]
