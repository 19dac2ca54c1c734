"""What frontends seldom write and the specification allows: optional attributes given or absent, numbers at the ends of 64 bits, many dimensions,
computations that use values around them, triangles that must not be read, collectives of one device. References are numpy's where it says so."""
import numpy as np
from case import Case, array_attribute
from element_types import BY_NAME, F32, F64, I1, I32, choose, data, of
from rewritten import _expect

HUGE = 2**63 - 1
INTEGRAL = of("int")


def accuracy(rng, **options):
    c = Case(rng, "result_accuracy", **options)
    name = c.pick(["cbrt", "cosine", "exponential", "exponential_minus_one", "log", "log_plus_one", "logistic", "rsqrt", "sine", "sqrt", "tan", "tanh"])
    t, shape, mode = choose(rng, of("float")), c.shape(), c.pick(["DEFAULT", "HIGHEST", "TOLERANCE"])
    numbers = "atol = 1.000000e-05, rtol = 0.000000e+00, ulps = 2" if mode == "TOLERANCE" else "atol = 0.000000e+00, rtol = 0.000000e+00, ulps = 0"
    attribute = f"result_accuracy = #stablehlo.result_accuracy<{numbers}, mode = #stablehlo.result_accuracy_mode<{mode}>>"
    c.large = True
    return c.returns(c.emit(name, [c.argument(t, shape, data(rng, t, shape))], t, shape, attribute)).allow(8)


ALGORITHMS = [("f32", "f32", "f32", 1, 1, 2.0**-23), ("tf32", "tf32", "f32", 1, 1, 2.0**-9), ("bf16", "bf16", "f32", 1, 1, 2.0**-6),
              ("bf16", "bf16", "f32", 3, 6, 2.0**-14), ("tf32", "tf32", "f32", 1, 3, 2.0**-14), ("f64", "f64", "f64", 1, 1, 2.0**-23)]


def algorithm(rng, **options):
    c = Case(rng, "dot_general by an algorithm", **options)
    left, right, sum_type, components, products, eps = ALGORITHMS[rng.integers(len(ALGORITHMS))]
    m, k, n = (max(c.size(), 1) for _ in range(3))
    x, y = (data(rng, F32, s, None) for s in ((m, k), (k, n)))
    text = (f"#stablehlo.dot_algorithm<lhs_precision_type = {left}, rhs_precision_type = {right}, accumulation_type = {sum_type}, lhs_component_count ="
            f" {components}, rhs_component_count = {components}, num_primitive_operations = {products}, allow_imprecise_accumulation = false>")
    out = c.emit("dot_general", [c.argument(F32, x.shape, x), c.argument(F32, y.shape, y)], F32, (m, n),
                 f"dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, algorithm = {text}")
    want, size = x.astype(np.float64) @ y, np.abs(x).astype(np.float64) @ np.abs(y)
    c.check = lambda got: None if got[0].shape == want.shape and (np.abs(got[0] - want) <= 4 * eps * size + 1e-30).all() else f"{got[0]}, should be {want}"
    return c.returns(out)


MIXED = [("f8E4M3FN", "f8E5M2", "f32"), ("bf16", "i8", "bf16"), ("f16", "f32", "f32"), ("i8", "i32", "i32"), ("f8E5M2", "bf16", "f32"), ("f32", "f64", "f64"), ("i4", "i8", "i32")]


def mixed(rng, **options):
    c = Case(rng, "dot_general of two types", **options)
    left, right, to = (BY_NAME[name] for name in MIXED[rng.integers(len(MIXED))])
    m, k, n = (max(c.size(), 1) for _ in range(3))
    whole = lambda t, s: data(rng, t, s, None).astype(np.float32).round().clip(-4, 4).astype(t.dtype)  # sums stay exact
    x, y = whole(left, (m, k)), whole(right, (k, n))
    out = c.emit("dot_general", [c.argument(left, x.shape, x), c.argument(right, y.shape, y)], to, (m, n),
                 "dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>")
    return _expect(c.returns(out).allow(2), x.astype(np.float64) @ y.astype(np.float64))


def sorted_gather(rng, **options):
    c = Case(rng, "gather at sorted indices", **options)
    t, rows, columns = choose(rng, of("int", "float", "complex")), int(rng.integers(1, 30)), c.size()
    places = np.sort(rng.integers(0, rows, c.size())).astype(np.int32)
    x = data(rng, t, (rows, columns))
    out = c.emit("gather", [c.argument(t, x.shape, x), c.argument(I32, places.shape, places)], t, (len(places), columns),
                 "dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,"
                 f" slice_sizes = {array_attribute([1, columns])}" + c.pick([", indices_are_sorted = true", ""]))
    return _expect(c.returns(out), x[places])


def unique_scatter(rng, **options):
    c = Case(rng, "scatter to unique indices", **options)
    t, rows, columns = choose(rng, of("int", "float")), int(rng.integers(1, 30)), c.size()
    ordered = c.chance()
    places = rng.permutation(rows + 2)[:rng.integers(0 if c.zero else 1, rows, endpoint=True)].astype(np.int32) - 1  # two are outside
    places = np.sort(places) if ordered else places
    x, u = data(rng, t, (rows, columns)), data(rng, t, (len(places), columns))
    region = c.block([(t, ())] * 2, lambda a, b: b)
    attributes = f", unique_indices = true, indices_are_sorted = {str(ordered).lower()}" if c.chance(0.8) else ""
    out = c.emit_many("scatter", [c.argument(t, x.shape, x), c.argument(I32, places.shape, places), c.argument(t, u.shape, u)], [(t, x.shape)],
                      "scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0],"
                      " scatter_dims_to_operand_dims = [0], index_vector_dim = 1>" + attributes, [region])
    want, inside = x.copy(), (places >= 0) & (places < rows)
    want[places[inside]] = u[inside]
    return _expect(c.returns(*out), want)


def capture(rng, **options):
    c = Case(rng, "a computation that uses a value around it", **options)
    t, n = choose(rng, INTEGRAL, narrow_too=False), max(c.size(), 1)
    x, bound, start = data(rng, t, (n,)), data(rng, t, ()), data(rng, t, ())
    operand, outer, init = c.argument(t, (n,), x), c.argument(t, (), bound), c.argument(t, (), start)
    branches = c.chance()

    def maximum(a, b):
        if not branches:
            return c.emit("maximum", [a, b], t, ())
        greater = c.emit("compare", [a, b], I1, (), "comparison_direction = #stablehlo<comparison_direction GT>")
        return c.emit_many("if", [greater], [(t, ())], regions=[c.block([], lambda: a), c.block([], lambda: b)])[0]

    larger = lambda a, b: c.emit("maximum", [maximum(a, b), outer], t, ())
    kind = c.pick(["reduce", "reduce_window", "map", "scatter", "sort"])
    if kind == "reduce":
        out = c.emit_many("reduce", [operand, init], [(t, ())], "dimensions = array<i64: 0>", [c.block([(t, ())] * 2, larger)])
        return _expect(c.returns(*out), max(int(v) for v in (*x, bound, start)))
    if kind == "reduce_window":
        out = c.emit_many("reduce_window", [operand, init], [(t, (n,))], "window_dimensions = array<i64: 1>", [c.block([(t, ())] * 2, larger)])
        return _expect(c.returns(*out), np.maximum(np.maximum(x, bound), start))
    if kind == "map":
        out = c.emit_many("map", [operand], [(t, (n,))], "dimensions = array<i64: 0>", [c.block([(t, ())], lambda a: c.emit("xor", [a, outer], t, ()))])
        return _expect(c.returns(*out), x ^ bound)
    if kind == "scatter":
        place, update = c.constant(I32, (1,), "0"), c.argument(t, (), data(rng, t, ()))
        out = c.emit_many("scatter", [operand, place, update], [(t, (n,))], "scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],"
                          " scatter_dims_to_operand_dims = [0]>", [c.block([(t, ())] * 2, larger)])
        want = x.copy()
        want[0] = max(int(x[0]), int(bound), int(c.data[-1]))
        return _expect(c.returns(*out), want)
    turned = lambda a: c.emit("xor", [a, outer], t, ())
    less = lambda a, b: c.emit("compare", [turned(a), turned(b)], I1, (), "comparison_direction = #stablehlo<comparison_direction LT>")
    out = c.emit_many("sort", [operand], [(t, (n,))], c.pick(["", "dimension = 0 : i64"]), [c.block([(t, ())] * 2, less)])
    return _expect(c.returns(*out), x[np.argsort(x ^ bound, kind="stable")])


def loop_in_reduction(rng, **options):
    """The sum of the numbers of bits, counted by a loop in the computation."""
    c = Case(rng, "reduce with a loop", **options)
    t = BY_NAME[c.pick(["i32", "ui8", "i64"])]
    shape = c.shape(1, 3, 60)
    dims = c.subset(len(shape))
    x = rng.integers(0, 100, shape).astype(t.dtype)

    number = lambda n: c.emit("constant", [], t, (), f"value = dense<{n}> : tensor<{t}>")
    more = c.block([(t, ())] * 2, lambda u, v: c.emit("compare", [v, number(0)], I1, (), "comparison_direction = #stablehlo<comparison_direction NE>"))
    step = c.block([(t, ())] * 2, lambda u, v: [c.emit("add", [u, number(1)], t, ()), c.emit("shift_right_logical", [v, number(1)], t, ())])
    body = lambda total, element: c.emit_many("while", [total, element], [(t, ())] * 2, "", [more, step])[0]
    start = np.asarray(3, t.dtype)
    kept = tuple(n for i, n in enumerate(shape) if i not in dims)
    out = c.emit_many("reduce", [c.argument(t, shape, x), c.argument(t, (), start)], [(t, kept)], f"dimensions = {array_attribute(dims)}",
                      [c.block([(t, ())] * 2, body)])
    lengths = np.array([int(v).bit_length() for v in x.ravel()], np.int64).reshape(shape)
    return _expect(c.returns(*out), lengths.sum(axis=tuple(dims)) + 3)


def huge_steps(rng, **options):
    c = Case(rng, "steps as long as 64 bits allow", **options)
    t, shape = choose(rng, of("int", "float", "complex", "bool")), c.shape(1, 3)
    shape = tuple(max(n, 1) for n in shape)
    x, far = data(rng, t, shape), [int(c.pick([HUGE, HUGE - 1, 2**62, 2**40])) for _ in shape]
    kind = c.pick(["slice", "pad", "reduce_window"])
    if kind == "slice":
        out = c.emit("slice", [c.argument(t, shape, x)], t, [1] * len(shape), f"start_indices = {array_attribute([0] * len(shape))},"
                     f" limit_indices = {array_attribute(shape)}, strides = {array_attribute(far)}")
        return _expect(c.returns(out), x[tuple(slice(0, 1) for _ in shape)])
    shape = tuple(1 for _ in shape)
    x = data(rng, t, shape, "special")
    if kind == "pad":
        value = data(rng, t, ())
        out = c.emit("pad", [c.argument(t, shape, x), c.argument(t, (), value)], t, [2] * len(shape), f"edge_padding_low = {array_attribute([1] * len(shape))},"
                     f" edge_padding_high = {array_attribute([0] * len(shape))}, interior_padding = {array_attribute(far)}")
        return _expect(c.returns(out), np.pad(x.astype(np.complex128) if t.kind == "complex" else x.astype(np.float64) if t.kind == "float" else x, [(1, 0)] * len(shape), constant_values=value))
    t = choose(rng, INTEGRAL)
    x, ones = data(rng, t, shape), array_attribute([1] * len(shape))
    out = c.emit_many("reduce_window", [c.argument(t, shape, x), c.constant(t, (), "0")], [(t, shape)], f"window_dimensions = {ones}, window_strides ="
                      f" {array_attribute(far)}, base_dilations = {array_attribute(far)}, window_dilations = {array_attribute(far)}",
                      [c.block([(t, ())] * 2, lambda a, b: c.emit("add", [a, b], t, ()))])
    return _expect(c.returns(*out), x)


def many_dimensions(rng, **options):
    c = Case(rng, "many dimensions", **options)
    t, rank = choose(rng, INTEGRAL + of("float")), int(rng.integers(7, 13))
    shape = [int(rng.choice([1, 1, 2, 2, 3])) for _ in range(rank)]
    while np.prod(shape) > 2000:
        shape[rng.integers(rank)] = 1
    x = data(rng, t, shape, "special")
    operand = c.argument(t, shape, x)
    kind = c.pick(["transpose", "reverse", "add", "maximum", "broadcast_in_dim", "reshape"])
    if kind == "transpose":
        order = [int(d) for d in rng.permutation(rank)]
        return _expect(c.returns(c.emit(kind, [operand], t, [shape[d] for d in order], f"permutation = {array_attribute(order)}")), x.transpose(order))
    if kind == "reverse":
        dims = c.subset(rank)
        return _expect(c.returns(c.emit(kind, [operand], t, shape, f"dimensions = {array_attribute(dims)}")), np.flip(x, dims))
    if kind == "add":
        return c.returns(c.emit(kind, [operand, operand], t, shape))
    if kind == "maximum":
        dims = c.subset(rank, 1)
        kept = [n for d, n in enumerate(shape) if d not in dims]
        c.large = True
        return c.returns(*c.emit_many("reduce", [operand, c.argument(t, (), data(rng, t, (), "special"))], [(t, kept)], f"dimensions = {array_attribute(dims)}",
                                      [c.block([(t, ())] * 2, lambda a, b: c.emit("maximum", [a, b], t, ()))]))
    if kind == "reshape":
        to = [int(n) for n in rng.permutation(shape)]
        return _expect(c.returns(c.emit(kind, [operand], t, to)), x.reshape(to))
    return _expect(c.returns(c.emit(kind, [operand], t, [2, *shape], f"broadcast_dimensions = {array_attribute(range(1, rank + 1))}")), np.broadcast_to(x, [2, *shape]))


def half_matrix(rng, **options):
    """Factors and solutions of one triangle; the other holds what must not be read."""
    c = Case(rng, "a triangle with anything beside it", **options)
    t, n, batch = choose(rng, [F32, F64, BY_NAME["complex<f32>"], BY_NAME["complex<f64>"]]), max(c.size(), 1), c.shape(0, 2)
    batch, lower, junk = tuple(max(b, 1) for b in batch), c.chance(), c.pick([np.nan, np.inf, 1e30])
    a = data(rng, t, (*batch, n, n), None)
    triangle = np.tril if lower else np.triu
    strict = np.broadcast_to(np.triu(np.ones((n, n), bool), 1) if lower else np.tril(np.ones((n, n), bool), -1), a.shape)
    if c.chance():
        a = (a @ np.conj(np.swapaxes(a, -1, -2)) + 8 * n * np.eye(n)).astype(t.dtype)
        factor = np.linalg.cholesky(a)
        want = factor if lower else np.conj(np.swapaxes(factor, -1, -2))
        given = np.where(strict, junk, a).astype(t.dtype)
        out = c.emit("cholesky", [c.argument(t, a.shape, given)], t, a.shape, f"lower = {str(lower).lower()}" if lower or c.chance() else "")
        c.unknown = strict
        return _expect(c.returns(out).allow(256, of_norm=True), want)
    unit, left, m = c.chance(), c.chance(), max(c.size(), 1)
    a = (triangle(a) / (4 * n + 1) + 2 * np.eye(n)).astype(t.dtype)
    b = data(rng, t, (*batch, n, m) if left else (*batch, m, n), None)
    eye = np.broadcast_to(np.eye(n, dtype=bool), a.shape)
    clean = np.where(eye, 1, a) if unit else a
    given = np.where(strict | (eye & unit), junk, a).astype(t.dtype)
    transpose = c.pick(["NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"])
    if transpose != "NO_TRANSPOSE":
        clean = np.swapaxes(clean, -1, -2)
        clean = np.conj(clean) if transpose == "ADJOINT" else clean
    want = np.linalg.solve(clean, b) if left else np.swapaxes(np.linalg.solve(np.swapaxes(clean, -1, -2), np.swapaxes(b, -1, -2)), -1, -2)
    out = c.emit("triangular_solve", [c.argument(t, a.shape, given), c.argument(t, b.shape, b)], t, b.shape, f"left_side = {str(left).lower()},"
                 f" lower = {str(lower).lower()}, unit_diagonal = {str(unit).lower()}, transpose_a = #stablehlo<transpose {transpose}>")
    return _expect(c.returns(out).allow(512, of_norm=True), want)


def wide_window(rng, **options):
    c = Case(rng, "windows that compute in a wider type", **options)
    t, to = (BY_NAME[name] for name in c.pick([("bf16", "f32"), ("i8", "i32"), ("f16", "f32"), ("f32", "f64"), ("ui8", "ui32")]))
    n = int(rng.integers(2, 12))
    x, start = (data(rng, t, s, None if t.kind == "float" else "all").astype(np.float32).round().astype(t.dtype) for s in ((n,), ()))
    add = c.block([(to, ())] * 2, lambda a, b: c.emit("add", [a, b], to, ()))
    if c.chance():
        out = c.emit_many("reduce_window", [c.argument(t, (n,), x), c.argument(t, (), start)], [(to, (n - 1,))], "window_dimensions = array<i64: 2>", [add])
        return _expect(c.returns(*out), x[1:].astype(np.float64) + x[:-1] + start)
    # Windows of one element: each source goes to its place.
    source = data(rng, t, (n,), None).astype(np.float32).round().astype(t.dtype)
    choice = c.block([(t, ())] * 2, lambda a, b: c.emit("compare", [a, b], I1, (), "comparison_direction = #stablehlo<comparison_direction GE>"))
    given = c.pick(["window_dimensions = array<i64: 1>", "", "window_dimensions = array<i64: 1>, window_strides = array<i64: 1>"])
    out = c.emit_many("select_and_scatter", [c.argument(t, (n,), x), c.argument(t, (n,), source), c.argument(t, (), start)], [(to, (n,))], given, [choice, add])
    return _expect(c.returns(*out), source.astype(np.float64) + start)


def lone_collective(rng, **options):
    """Among one device."""
    c = Case(rng, "a collective of one device", **options)
    t, shape = choose(rng, of("int", "float")), c.shape(1, 3)
    d, x = int(rng.integers(len(shape))), data(rng, t, shape)
    operand, groups = c.argument(t, shape, x), "replica_groups = dense<0> : tensor<1x1xi64>"
    if c.chance():
        groups += f", channel_handle = #stablehlo.channel_handle<handle = {rng.integers(1, 9)}, type = 1>"
        if c.chance():
            groups += ", use_global_device_ids"
    plain = groups.removesuffix(", use_global_device_ids")
    add = lambda: [c.block([(t, ())] * 2, lambda a, b: c.emit("add", [a, b], t, ()))]
    kind = c.pick(["all_reduce", "all_gather", "reduce_scatter", "all_to_all", "collective_permute", "collective_broadcast", "id"])
    if kind == "id":
        out = c.emit(c.pick(["partition_id", "replica_id"]), [], BY_NAME["ui32"], ())
        return _expect(c.returns(out), 0)
    if kind == "collective_permute":
        sends = c.chance()
        pairs = "dense<0> : tensor<1x2xi64>" if sends else "dense<> : tensor<0x2xi64>"
        return _expect(c.returns(c.emit(kind, [operand], t, shape, f"source_target_pairs = {pairs}")), x if sends else np.zeros_like(x))
    attributes = {"all_reduce": groups, "all_gather": f"all_gather_dim = {d} : i64, {groups}", "reduce_scatter": f"scatter_dimension = {d} : i64, {groups}",
                  "all_to_all": f"split_dimension = {d} : i64, concat_dimension = {rng.integers(len(shape))} : i64, split_count = 1 : i64, {plain}",
                  "collective_broadcast": plain}[kind]
    out = c.emit_many(kind, [operand], [(t, shape)], attributes, add() if "reduce" in kind else ())
    return _expect(c.returns(*out), x)


GENERATORS = [(f.__name__, f, 1) for f in (accuracy, algorithm, mixed, sorted_gather, unique_scatter, capture, loop_in_reduction, huge_steps, many_dimensions, half_matrix, wide_window, lone_collective)]
