"""reduce, reduce_window, select_and_scatter, sort and map: ops whose region is a computation on scalars."""
import numpy as np
from case import Case, array_attribute, matrix_attribute
from element_types import F32, I1, I32, PLAIN, choose, data, of

COMMUTATIVE = {"add": PLAIN, "multiply": PLAIN, "maximum": of("bool", "int", "float"), "minimum": of("bool", "int", "float"),
               "and": of("bool", "int"), "or": of("bool", "int"), "xor": of("bool", "int")}


def _compare(c, a, b, direction, kind=None):
    attributes = f"comparison_direction = #stablehlo<comparison_direction {direction}>"
    return c.emit("compare", [a, b], I1, (), attributes + (f", compare_type = #stablehlo<comparison_type {kind}>" if kind else ""))


def fold(c, types_allowed=None):
    """A reducer: (types of its components, their data's edges, body, initial values, how exact)."""
    kind = c.rng.choice(["simple", "simple", "simple", "argmax", "several", "composed"])
    if kind == "argmax":
        t, index = choose(c.rng, of("int", "float")), choose(c.rng, of("int"))
        direction = c.pick(["GT", "GE", "LT", "LE"])

        def body(a, i, b, j):
            better, same = _compare(c, a, b, direction), _compare(c, a, b, "EQ")
            lower = _compare(c, i, j, "LT")
            keeps = c.emit("or", [better, c.emit("and", [same, lower], I1, ())], I1, ())
            if direction in ("GE", "LE"):  # a tie goes to the lower index
                strict = c.emit("and", [better, c.emit("not", [same], I1, ())], I1, ())
                keeps = c.emit("or", [strict, c.emit("and", [same, lower], I1, ())], I1, ())
            return [c.emit("select", [keeps, a, b], t, ()), c.emit("select", [keeps, i, j], index, ())]

        return [t, index], ["finite", "index"], body, False
    if kind == "several":
        names = [c.pick(list(COMMUTATIVE)) for _ in range(c.rng.integers(2, 4))]
        types = [choose(c.rng, COMMUTATIVE[name], narrow_too=name not in ("add", "multiply")) for name in names]  # f8 soon overflows

        def body(*values):
            return [c.emit(name, [a, b], t, ()) for name, t, a, b in zip(names, types, values[:len(names)], values[len(names):])]

        return types, ["special"] * len(types), body, any(n in ("add", "multiply") for n in names)
    if kind == "composed":
        t = choose(c.rng, of("int", "float"))
        form = c.pick(["max by compare", "clamped max", "magnitude", "wide"])

        def body(a, b):
            if form == "max by compare":
                return c.emit("select", [_compare(c, a, b, "GE"), a, b], t, ())
            if form == "clamped max":
                return c.emit("maximum", [c.emit("maximum", [a, b], t, ()), c.constant(t, (), "1.0" if t.kind == "float" else "1")], t, ())
            if form == "magnitude" and t.kind != "uint":
                return c.emit("maximum", [c.emit("abs", [a], t, ()), c.emit("abs", [b], t, ())], t, ())
            return c.emit("minimum", [b, a], t, ())

        return [t], ["finite"], body, False
    name = c.pick(list(COMMUTATIVE))
    t = choose(c.rng, COMMUTATIVE[name], narrow_too=name != "multiply")
    return [t], ["special"], lambda a, b: c.emit(name, [a, b], t, ()), name in ("add", "multiply")


def _values(c, t, shape, edges):
    if edges == "index":
        return (np.arange(int(np.prod(shape, dtype=int))).reshape(shape) % 100).astype(t.dtype)
    if edges == "finite":
        x = data(c.rng, t, shape, None if t.kind == "float" else "all")
        return np.round(x.astype(np.float64)).astype(t.dtype) if t.kind == "float" and c.chance() else x
    return data(c.rng, t, shape, edges)


def _operands(c, types, edges, shape):
    inputs = [c.argument(t, shape, _values(c, t, shape, e)) for t, e in zip(types, edges)]
    inits = [c.argument(t, (), _values(c, t, (), e)) for t, e in zip(types, edges)]
    return inputs, inits


def _finish(c, results, sums, length):
    return c.returns(*results).allow(length + 2 if sums else 0, by_magnitude=bool(sums))


def reduce(rng, **options):
    c = Case(rng, "reduce", **options)
    types, edges, body, sums = fold(c)
    shape = c.shape(high=5, most=c.may_be_large())
    dims = c.subset(len(shape))
    if c.chance(0.2):
        dims = [int(d) for d in rng.permutation(dims)]
    inputs, inits = _operands(c, types, edges, shape)
    kept = [n for d, n in enumerate(shape) if d not in dims]
    region = c.block([(t, ()) for t in types * 2], body)
    results = c.emit_many("reduce", inputs + inits, [(t, kept) for t in types], f"dimensions = {array_attribute(dims)}", [region])
    return _finish(c, results, sums, np.prod([shape[d] for d in dims], dtype=int))


def window(c, shape, plain=False):
    """(window, strides, base dilation, window dilation, padding, result shape). Plain: no dilation, no window in padding alone."""
    rank = len(shape)
    while True:
        sizes, strides = c.rng.integers(1, 4, rank), c.rng.integers(1, 4, rank)
        base = np.ones(rank, int) if plain else np.where(c.rng.random(rank) < 0.2, 2, 1)
        stretch = np.ones(rank, int) if plain else np.where(c.rng.random(rank) < 0.2, c.rng.integers(2, 4, rank), 1)
        padding = c.rng.integers(-1 if c.chance(0.3) else 0, 3, (rank, 2)) * (c.rng.random() < 0.6)
        if plain:
            padding = np.minimum(padding, sizes[:, None] - 1)
        whole = [0 if n == 0 else (n - 1) * b + 1 for n, b in zip(shape, base)] + padding.sum(1) if rank else np.zeros(0, int)
        covered = (sizes - 1) * stretch + 1
        result = [0 if n <= 0 or w > n else int((n - w) // s + 1) for n, w, s in zip(whole, covered, strides)]
        if all(n >= 0 for n in whole) and (c.zero or all(result)) and np.prod(result, dtype=int) <= max(600, np.prod(shape, dtype=int)):
            return sizes, strides, base, stretch, padding, result


def reduce_window(rng, **options):
    c = Case(rng, "reduce_window", **options)
    types, edges, body, sums = fold(c)
    shape = c.shape(high=4, most=c.may_be_large() // 2)
    sizes, strides, base, stretch, padding, result = window(c, shape)
    inputs, inits = _operands(c, types, edges, shape)
    attributes = f"window_dimensions = {array_attribute(sizes)}"
    for name, values, default in (("window_strides", strides, 1), ("base_dilations", base, 1), ("window_dilations", stretch, 1)):
        if any(values != default) or c.chance(0.2):
            attributes += f", {name} = {array_attribute(values)}"
    if padding.any() or c.chance(0.2):
        attributes += f", padding = {matrix_attribute(padding)}"
    region = c.block([(t, ()) for t in types * 2], body)
    results = c.emit_many("reduce_window", inputs + inits, [(t, result) for t in types], attributes, [region])
    return _finish(c, results, sums, np.prod(sizes, dtype=int))


def select_and_scatter(rng, **options):
    c = Case(rng, "select_and_scatter", **options)
    t = choose(rng, of("int", "float"))
    shape = c.shape(low=1, high=4, most=200)  # the interpreter counts a scalar's initial value twice
    sizes, strides, _, _, padding, result = window(c, shape, plain=True)
    name = c.pick([n for n in COMMUTATIVE if t.kind in {u.kind for u in COMMUTATIVE[n]}])
    direction = c.pick(["GE", "GT", "LE", "LT"])
    x = data(rng, t, shape, None)
    if t.kind == "float":
        x = np.round(x.astype(np.float64)).astype(t.dtype)
    operands = [c.argument(t, shape, x), c.argument(t, result, data(rng, t, result, "special")), c.argument(t, (), data(rng, t, (), "special"))]
    regions = [c.block([(t, ())] * 2, lambda a, b: _compare(c, a, b, direction)), c.block([(t, ())] * 2, lambda a, b: c.emit(name, [a, b], t, ()))]
    attributes = f"window_dimensions = {array_attribute(sizes)}, window_strides = {array_attribute(strides)}, padding = {matrix_attribute(padding)}"
    results = c.emit_many("select_and_scatter", operands, [(t, shape)], attributes, regions)
    return _finish(c, results, name in ("add", "multiply"), np.prod(sizes, dtype=int) + 1)


def sort(rng, **options):
    c = Case(rng, "sort", **options)
    shape = c.shape(low=1, high=4, most=c.may_be_large())
    d = int(rng.integers(-len(shape), len(shape)))
    keys = int(rng.integers(1, 3))
    types = [choose(rng, of("int", "float", "bool")) for _ in range(keys)] + [choose(rng, PLAIN) for _ in range(rng.integers(0, 3))]
    directions = [c.pick(["LT", "GT"]) for _ in range(keys)]
    kinds = ["TOTALORDER" if t.kind == "float" else None for t in types[:keys]]
    inputs = []
    # The interpreter has no order for NaN, XLA no sort of types below a byte.
    c.large, edges = True, None if any(t.bits < 8 and t.kind != "bool" for t in types) else "all"
    for i, t in enumerate(types):
        x = data(rng, t, shape, edges if i < keys else "all")
        if c.chance() and t.kind != "complex":  # ties
            x = rng.choice(x.ravel()[:3], shape) if x.size else x
        inputs.append(c.argument(t, shape, x.astype(t.dtype)))

    def before_by(a, b, direction, kind, t):
        """Of single keys also by other measures than the key itself; what they hold equal keeps its order."""
        if form == "constant":
            return c.constant(I1, (), "false")
        if form == "negated":
            a, b = b, a
        elif form == "magnitude" and t.kind in ("sint", "float"):
            a, b = (c.emit("abs", [v], t, ()) for v in (a, b))
        elif form == "halves" and t.kind in ("sint", "uint"):
            a, b = (c.emit("shift_right_logical", [v, c.constant(t, (), "1")], t, ()) for v in (a, b))
        return _compare(c, a, b, direction, kind)

    form = c.pick(["plain"] * 4 + ["constant", "negated", "magnitude", "halves"])

    def comparator(*pairs):
        if keys == 1:
            return before_by(pairs[0], pairs[1], directions[0], kinds[0], types[0])
        before = None
        for i in reversed(range(keys)):
            a, b = pairs[2 * i], pairs[2 * i + 1]
            less = _compare(c, a, b, directions[i], kinds[i])
            before = less if before is None else c.emit("select", [_compare(c, a, b, "EQ", kinds[i]), before, less], I1, ())
        return before

    region = c.block([(t, ()) for t in types for _ in "ab"], comparator)
    results = c.emit_many("sort", inputs, [(t, shape) for t in types], f"dimension = {d} : i64, is_stable = true", [region])
    return c.returns(*results)


def map_(rng, **options):
    c = Case(rng, "map", **options)
    t, shape = choose(rng, of("int", "float")), c.shape()
    operands = [c.argument(t, shape, data(rng, t, shape, None)) for _ in range(rng.integers(1, 3))]

    def body(*values):
        x = values[0]
        for y in values:
            x = c.emit("subtract", [c.emit("maximum", [x, y], t, ()), y], t, ())
        return x

    region = c.block([(t, ()) for _ in operands], body)
    return c.returns(*c.emit_many("map", operands, [(t, shape)], f"dimensions = {array_attribute(range(len(shape)))}", [region]))


GENERATORS = [("reduce", reduce, 6), ("reduce_window", reduce_window, 6), ("select_and_scatter", select_and_scatter, 3), ("sort", sort, 4), ("map", map_, 1)]
