"""Ops that import writes by others: older ones, those of dynamic shapes with known ones, those of chlo.

References of those that no oracle runs are numpy's."""
import numpy as np
from case import Case, Value, array_attribute, matrix_attribute
from element_types import BY_NAME, F32, FLOATS, I1, I32, I64, Forced, choose, data, of

SUMMED = of("int", "float", "complex")


def _wide(x):
    return x.astype(np.complex128) if x.dtype.kind == "c" else x if x.dtype.kind in "iub" and "int" in x.dtype.name[:4] else x.astype(np.float64)


def _expect(c, *values):
    """numpy's results, in the types of the case's."""
    with np.errstate(all="ignore"):
        c.expected = [np.asarray(v).astype(r.type.dtype) for v, r in zip(values, c.results)]
    return c


def einsum(rng, **options):
    c = Case(rng, "einsum", **options)
    t = choose(rng, SUMMED)
    letters = list("abcdefgh")
    rng.shuffle(letters)
    sizes = {letter: c.size() for letter in letters}
    shared, left, right = letters[:rng.integers(0, 4)], letters[4:4 + rng.integers(0, 3)], letters[6:6 + rng.integers(0, 3)]
    lhs, rhs = list(rng.permutation(shared + left)), list(rng.permutation(shared + right))
    result = [x for x in shared if c.chance()] + left + right
    result = list(rng.permutation(result))
    operands = [c.argument(t, [sizes[x] for x in side], data(rng, t, [sizes[x] for x in side], None)) for side in (lhs, rhs)]
    config = f"{''.join(lhs)},{''.join(rhs)}->{''.join(result)}"
    out = c.emit("einsum", operands, t, [sizes[x] for x in result], f'einsum_config = "{config}"')
    length = int(np.prod([sizes[x] for x in shared if x not in result], dtype=int))
    return c.returns(out).allow(2 * length + 4, by_magnitude=True)


def unary_einsum(rng, **options):
    c = Case(rng, "unary_einsum", **options)
    t, shape = choose(rng, of("int", "float")), c.shape(0, 4)
    letters = "abcde"[:len(shape)]
    kept = [int(d) for d in rng.permutation(c.subset(len(shape)))]
    x = data(rng, t, shape, None)
    if t.kind == "float":  # sums stay exact
        x = np.round(x.astype(np.float32) / 4).astype(t.dtype)
    config = f"{letters}->{''.join(letters[d] for d in kept)}"
    out = c.emit("unary_einsum", [c.argument(t, shape, x)], t, [shape[d] for d in kept], f'einsum_config = "{config}"')
    total = np.einsum(config, x.astype(np.int64 if t.kind == "sint" else np.uint64 if t.kind == "uint" else np.float64))
    length = int(np.prod(shape, dtype=int))
    return _expect(c.returns(out).allow(length + 2 if t.bits < 32 else 4, of_norm=True), total)


def dot(rng, **options):
    c = Case(rng, "dot", **options)
    t, k = choose(rng, SUMMED), c.size()
    lhs, rhs = ([c.size()] if c.chance(0.7) else []) + [k], [k] + ([c.size()] if c.chance(0.7) else [])
    operands = [c.argument(t, s, data(rng, t, s, "special")) for s in (lhs, rhs)]
    return c.returns(c.emit("dot", operands, t, lhs[:-1] + rhs[1:])).allow(2 * k + 2, by_magnitude=True)


def torch_index_select(rng, **options):
    c = Case(rng, "torch_index_select", **options)
    t, it, shape = choose(rng, SUMMED), BY_NAME[c.pick(["i32", "i64", "ui32"])], c.shape(1, 4)
    if not all(shape):
        shape = tuple(max(n, 1) for n in shape)
    dim = int(rng.integers(len(shape)))
    batches = int(rng.integers(0, dim, endpoint=True))
    index = list(shape[:batches]) + [c.size() for _ in range(rng.integers(0, 3))]
    values = rng.integers(0, shape[dim], index).astype(it.dtype)
    result = list(shape[:dim]) + index[batches:] + list(shape[dim + 1:])
    return c.returns(c.emit("torch_index_select", [c.argument(t, shape, data(rng, t, shape)), c.argument(it, index, values)], t, result,
                            f"dim = {dim} : i64, batch_dims = {batches} : i64"))


def broadcast(rng, **options):
    c = Case(rng, "broadcast", **options)
    t, shape = choose(rng, SUMMED), c.shape(0, 3)
    sizes = [c.size() for _ in range(rng.integers(0, 3))]
    return c.returns(c.emit("broadcast", [c.argument(t, shape, data(rng, t, shape))], t, sizes + list(shape), f"broadcast_sizes = {array_attribute(sizes)}"))


def _vector(c, numbers):
    numbers = [int(n) for n in numbers]
    return c.constant(I64, (len(numbers),), str(numbers) if numbers else "")


def dynamic_broadcast_in_dim(rng, **options):
    c = Case(rng, "dynamic_broadcast_in_dim", **options)
    t, result = choose(rng, SUMMED), c.shape(0, 4)
    dims = c.subset(len(result))
    shape = [1 if c.chance(0.3) else result[d] for d in dims]
    x = c.argument(t, shape, data(rng, t, shape))
    return c.returns(c.emit("dynamic_broadcast_in_dim", [x, _vector(c, result)], t, result, f"broadcast_dimensions = {array_attribute(dims)}"))


def dynamic_reshape(rng, **options):
    c = Case(rng, "dynamic_reshape", **options)
    t, shape = choose(rng, SUMMED), c.shape(0, 4)
    result = [int(n) for n in rng.permutation(shape)]
    return c.returns(c.emit("dynamic_reshape", [c.argument(t, shape, data(rng, t, shape)), _vector(c, result)], t, result))


def dynamic_iota(rng, **options):
    c = Case(rng, "dynamic_iota", **options)
    t, shape = choose(rng, SUMMED, narrow_too=False), c.shape(1, 4)
    c.label = str(t)
    return c.returns(c.emit("dynamic_iota", [_vector(c, shape)], t, shape, f"iota_dimension = {rng.integers(len(shape))} : i64"))


def real_dynamic_slice(rng, **options):
    c = Case(rng, "real_dynamic_slice", **options)
    t, shape = choose(rng, SUMMED), c.shape(0, 4)
    starts = [int(rng.integers(0, n, endpoint=True)) for n in shape]
    limits = [int(rng.integers(s, n, endpoint=True)) for s, n in zip(starts, shape)]
    if not c.zero:
        starts, limits = [0] * len(shape), list(shape)
    steps = [int(rng.integers(1, 4)) for _ in shape]
    x = c.argument(t, shape, data(rng, t, shape))
    result = [-(-(l - s) // k) for s, l, k in zip(starts, limits, steps)]
    return c.returns(c.emit("real_dynamic_slice", [x, *(_vector(c, v) for v in (starts, limits, steps))], t, result))


def dynamic_pad(rng, **options):
    c = Case(rng, "dynamic_pad", **options)
    t, shape = choose(rng, SUMMED), c.shape(0, 3)
    while True:
        low, high, interior = (rng.integers(least, 3, len(shape)) for least in (-1, -1, 0))
        result = [int(l + h + n + max(n - 1, 0) * i) for l, h, n, i in zip(low, high, shape, interior)]
        if all(n >= 1 for n in result):
            break
    x, value = c.argument(t, shape, data(rng, t, shape)), c.argument(t, (), data(rng, t, ()))
    return c.returns(c.emit("dynamic_pad", [x, value, *(_vector(c, v) for v in (low, high, interior))], t, result))


def set_dimension_size(rng, **options):
    c = Case(rng, "set_dimension_size", **options)
    t, shape = choose(rng, SUMMED), c.shape(1, 4)
    d = int(rng.integers(len(shape)))
    x = c.argument(t, shape, data(rng, t, shape))
    return _expect(c.returns(c.emit("set_dimension_size", [x, c.constant(I32, (), str(shape[d]))], t, shape, f"dimension = {d} : i64")), c.data[0])


def promoted_scatter(rng, **options):
    c = Case(rng, "scatter to a wider type", **options)
    t, to = (BY_NAME[name] for name in c.pick([("bf16", "f32"), ("i8", "i32"), ("f16", "f32"), ("f32", "f64")]))
    rows, columns, updates = max(c.size(), 1), max(c.size(), 1), max(c.size(), 1)
    x, u = ((data(rng, t, s, None).astype(np.float32) / 2).round().astype(t.dtype) for s in ((rows, columns), (updates, columns)))
    places = rng.integers(0, rows, (updates, 1)).astype(np.int32)
    operands = [c.argument(t, x.shape, x), c.argument(I32, places.shape, places), c.argument(t, u.shape, u)]
    region = c.block([(to, ())] * 2, lambda a, b: c.emit("add", [a, b], to, ()))
    out = c.emit_many("scatter", operands, [(to, x.shape)], "scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],"
                      " inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>", [region])
    total = x.astype(np.float64)
    np.add.at(total, places[:, 0], u.astype(np.float64))
    return _expect(c.returns(*out), total)


def promoted_reduce(rng, **options):
    c = Case(rng, "reduce to a wider type", **options)
    t, to = (BY_NAME[name] for name in c.pick([("bf16", "f32"), ("i8", "i32"), ("f16", "f32"), ("f32", "f64"), ("ui8", "ui32"), ("i4", "i32"), ("i16", "i64")]))
    shape = c.shape(1, 4)
    x, start = (data(rng, t, s, None if t.kind == "float" else "all").astype(np.float32).round().astype(t.dtype) for s in (shape, ()))
    dims, name = c.subset(len(shape)), c.pick(["add", "maximum"])
    region = c.block([(to, ())] * 2, lambda a, b: c.emit(name, [a, b], to, ()))
    kept = [n for d, n in enumerate(shape) if d not in dims]
    out = c.emit_many("reduce", [c.argument(t, shape, x), c.argument(t, (), start)], [(to, kept)], f"dimensions = {array_attribute(dims)}", [region])
    wide, first = x.astype(np.float64), float(start)
    total = wide.sum(tuple(dims)) + first if name == "add" else np.maximum(wide.max(tuple(dims), initial=-np.inf), first)
    return _expect(c.returns(*out), total)


def rng(rng, **options):
    c = Case(rng, "rng", **options)
    t, shape = choose(rng, of("int", "float", "bool")), c.shape(0, 3) if c.chance() else (c.size(), 3000)
    normal = t.kind == "float" and c.chance()
    low, high = ("false", "true") if t.kind == "bool" else ("0.0", "1.0") if t.kind == "float" else ("0", str(min(2 ** (t.bits - 1) - 1, 100)))
    if t.name == "f8E8M0FNU":
        t = F32
    bounds = [c.constant(t, (), low), c.constant(t, (), high)]
    out = c.emit("rng", [*bounds, _vector(c, shape)], t, shape, f"rng_distribution = #stablehlo<rng_distribution {'NORMAL' if normal else 'UNIFORM'}>")
    c.label = str(t)

    def check(got):
        x = got[0].astype(np.float64)
        top = {"false": 0, "true": 1}.get(high) or float(high)
        if x.shape != tuple(shape):
            return f"shape {x.shape}"
        if not normal and ((x < 0) | (x >= top + (t.kind == "bool"))).any():
            return f"{x.max()} is not in [{low}, {high})"
        mean = 0 if normal else (top - (t.kind in ("sint", "uint"))) / 2
        spread = 1 if normal else top / 12**0.5
        return f"mean {x.mean()}" if x.size > 2000 and abs(x.mean() - mean) > 0.12 * spread + (0.07 if t.bits < 16 and t.kind == "float" else 0) else None

    c.check = check
    return c.returns(out)


def ragged_dot(rng, **options):
    c = Case(rng, "ragged_dot", **options)
    t = BY_NAME[c.pick(["f32", "f32", "f64", "bf16", "i32", "f16"])]
    mode = c.pick(["rows", "contraction", "batch"])
    groups, b, m, k, n = (max(c.size(), 1) for _ in range(5))
    batch = mode == "batch" or c.chance(0.3)
    along = {"rows": m, "contraction": k, "batch": b}[mode]
    cuts = np.sort(rng.integers(0, along, groups, endpoint=True))
    sizes = np.diff(cuts, prepend=0).astype(np.int32)
    lhs = ([b] if batch else []) + [m, k]
    rhs = ([groups] if mode == "rows" else []) + ([b] if batch else []) + [k, n]
    x, w = ((data(rng, t, s, None).astype(np.float32) / 2).round().astype(t.dtype) for s in (lhs, rhs))
    g = sizes
    if batch and mode == "rows":  # groups of each batch
        g = np.broadcast_to(sizes, (b, groups)).copy()
    o = 1 if batch else 0
    numbers = (f"lhs_batching_dimensions = {[0] if batch else []}, rhs_batching_dimensions = {[1 if mode == 'rows' else 0] if batch else []},"
               f" lhs_contracting_dimensions = [{o + 1}], rhs_contracting_dimensions = [{o + (mode == 'rows')}],"
               f" lhs_ragged_dimensions = [{dict(rows=o, contraction=o + 1, batch=0)[mode]}], rhs_group_dimensions = {[0] if mode == 'rows' else []}")
    result = ([groups] if mode == "contraction" else []) + ([b] if batch else []) + [m, n]
    operands = [c.argument(t, x.shape, x), c.argument(t, w.shape, w), c.argument(I32, g.shape, g)]
    out = c.emit("chlo.ragged_dot", operands, t, result, f"ragged_dot_dimension_numbers = #chlo.ragged_dot<{numbers}>")
    p, q = x.astype(np.float64), w.astype(np.float64)
    if mode == "batch":
        want = p @ q
    else:
        want = np.zeros(result)
        start = 0
        for i, size in enumerate(sizes):
            part = slice(start, start + size)
            if mode == "rows":
                want[..., part, :] = p[..., part, :] @ q[i]
            else:
                want[i] = p[..., part] @ q[..., part, :]
            start += size
    return _expect(c.returns(out).allow(4, of_norm=True), want)


def scan(rng, **options):
    c = Case(rng, "scan", **options)
    t, shape = choose(rng, of("int")), c.shape(1, 3)
    d, reverse = int(rng.integers(len(shape))), c.chance()
    rest = [n for i, n in enumerate(shape) if i != d]
    x, start = data(rng, t, shape), data(rng, t, rest)
    region = c.block([(t, rest)] * 2, lambda e, k: [c.emit("xor", [e, k], t, rest), c.emit("add", [e, k], t, rest)])
    out = c.emit_many("chlo.scan", [c.argument(t, shape, x), c.argument(t, rest, start)], [(t, shape), (t, rest)],
                      f"dimension = {d} : i64, is_reverse = {str(reverse).lower()}, operandSegmentSizes = array<i32: 1, 1>,"
                      " resultSegmentSizes = array<i32: 1, 1>", [region])
    moved, carry, outputs = np.moveaxis(x, d, 0), start, []
    wrap = (lambda v: v) if t.bits >= 8 else (lambda v: v)
    with np.errstate(all="ignore"):
        for e in (moved[::-1] if reverse else moved):
            outputs.append(e ^ carry)
            carry = wrap(e + carry)
    stacked = np.stack(outputs[::-1] if reverse else outputs) if outputs else np.zeros([0, *rest], t.dtype)
    return _expect(c.returns(*out), np.moveaxis(stacked, 0, d), carry)


# name -> (types, in which domain, units in the last place)
CHLO = {"acos": "unit", "acosh": "above", "asin": "unit", "asinh": "any", "atan": "any", "atanh": "unit", "bessel_i1e": "any", "conj": "any", "cosh": "any",
        "digamma": "positive", "erf": "any", "erfc": "any", "erf_inv": "unit", "lgamma": "positive", "sinh": "any", "square": "any", "tan": "any",
        "is_inf": "any", "is_neg_inf": "any", "is_pos_inf": "any"}


def chlo_unary(rng, name, **options):
    c = Case(rng, "chlo." + name, **options)
    complex_too = name in ("conj", "square", "asin", "acos", "atan", "sinh", "cosh", "tan")
    t, shape = choose(rng, of("float", "complex") if complex_too and c.chance(0.4) else FLOATS), c.shape()
    if t.name == "f8E8M0FNU":  # XLA rounds to powers of two in between
        t, Forced.used = F32, False
    x = data(rng, t, shape, "all" if t.kind == "float" else None)
    if name in ("digamma", "lgamma"):
        with np.errstate(all="ignore"):
            x = np.abs(x.astype(np.float64)).astype(t.dtype)
    to = I1 if name.startswith("is_") else t
    c.large = True
    # jaxlib's own functions are some units away from the exact value.
    return c.returns(c.emit("chlo." + name, [c.argument(t, shape, x)], to, shape)).allow(0 if to is I1 else 400 if t.bits == 64 else 40, of_norm=t.kind == "complex" or name in ("digamma", "lgamma"))


BROADCAST = {"add": SUMMED, "subtract": SUMMED, "multiply": SUMMED, "divide": of("float"), "maximum": of("int", "float"), "minimum": of("int", "float"),
             "remainder": of("int", "float"), "and": of("int", "bool"), "or": of("int", "bool"), "xor": of("int", "bool"), "power": of("float"),
             "atan2": of("float"), "shift_left": of("int"), "shift_right_logical": of("int"), "shift_right_arithmetic": of("int"), "next_after": FLOATS[2:]}


def chlo_broadcast(rng, name=None, **options):
    name = name or list(BROADCAST)[rng.integers(len(BROADCAST))]
    c = Case(rng, "chlo.broadcast_" + name, **options)
    t, shape = choose(rng, BROADCAST[name]), c.shape(0, 4)
    if t.kind == "float" and t.bits < 32 and name == "next_after":
        t = F32
    small = shape[rng.integers(0, len(shape), endpoint=True):]
    shapes = [shape, small] if c.chance() else [small, shape]
    dims = f"broadcast_dimensions = {array_attribute(range(len(shape) - len(small), len(shape)))}" if len(small) < len(shape) and c.chance() else ""
    operands = [c.argument(t, s, data(rng, t, s)) for s in shapes]
    c.large = True
    return c.returns(c.emit("chlo.broadcast_" + name, operands, t, shape, dims)).allow(8 if name in ("power", "atan2", "divide") and t.kind == "float" else 4 if t.kind == "complex" else 0)


def top_k(rng, **options):
    c = Case(rng, "chlo.top_k", **options)
    t, shape = choose(rng, of("float", "int")), c.shape(1, 3)
    k = int(rng.integers(min(1, shape[-1]), shape[-1], endpoint=True))
    result = [*shape[:-1], k]
    x = data(rng, t, shape, "all" if t.kind != "float" else None)
    c.large = True
    return c.returns(*c.emit_many("chlo.top_k", [c.argument(t, shape, x)], [(t, result), (I32, result)], f"k = {k} : i64"))


GENERATORS = [(f.__name__, f, 1) for f in (einsum, unary_einsum, dot, torch_index_select, broadcast, dynamic_broadcast_in_dim, dynamic_reshape, dynamic_iota,
                                           real_dynamic_slice, dynamic_pad, set_dimension_size, promoted_scatter, promoted_reduce, rng, ragged_dot, scan, top_k)]
GENERATORS += [("chlo_broadcast", chlo_broadcast, 3)]
GENERATORS += [("chlo." + name, lambda rng, name=name, **o: chlo_unary(rng, name, **o), 0.5) for name in CHLO]
