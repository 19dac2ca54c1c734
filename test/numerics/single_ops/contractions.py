"""dot_general and convolution with dimension numbers at random; batch_norm; transforms and factorisations."""
import numpy as np
from case import Case, array_attribute, matrix_attribute
from element_types import BY_NAME, F32, F64, FLOATS, PLAIN, choose, data, of


def _types(c):
    """(operand type, result type): now and then a wider result."""
    t = choose(c.rng, PLAIN)
    wider = {"bf16": ["f32"], "f16": ["f32"], "i8": ["i32"], "ui8": ["i32", "ui32"], "i16": ["i32"], "f32": ["f64"]}
    if t.name in wider and c.chance(0.4):
        return t, BY_NAME[c.pick(wider[t.name])]
    return t, t


def _precision(c, attribute):
    return f", {attribute} = [#stablehlo<precision {c.pick(['DEFAULT', 'HIGH', 'HIGHEST'])}>, #stablehlo<precision DEFAULT>]" if c.chance(0.2) else ""


def dot_general(rng, **options):
    c = Case(rng, "dot_general", **options)
    t, to = _types(c)
    c.may_be_large()
    batch, inner = [c.size() for _ in range(c.pick([0, 0, 1, 1, 2]))], [c.size() for _ in range(c.pick([0, 1, 1, 1, 2]))]
    free = [[c.size() for _ in range(rng.integers(0, 3))] for _ in "lr"]
    while np.prod(batch + inner + free[0] + free[1], dtype=float) > 3e6:
        free = [sizes[1:] for sizes in free]
        batch = batch[1:]
    shapes, batching, contracting, kept = [], [], [], []
    for side in (0, 1):
        sizes = batch + inner + free[side]
        order = rng.permutation(len(sizes))  # where each dimension goes
        shape = [0] * len(sizes)
        for size, place in zip(sizes, order):
            shape[place] = size
        shapes.append(shape)
        batching.append([int(p) for p in order[:len(batch)]])
        contracting.append([int(p) for p in order[len(batch):len(batch) + len(inner)]])
        kept.append([shape[d] for d in range(len(shape)) if d not in batching[-1] + contracting[-1]])
    operands = [c.argument(t, s, data(rng, t, s, "special" if c.chance(0.3) or t.kind != "float" else None)) for s in shapes]
    result = batch + kept[0] + kept[1]
    numbers = (f"dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = {batching[0]}, rhs_batching_dimensions = {batching[1]},"
               f" lhs_contracting_dimensions = {contracting[0]}, rhs_contracting_dimensions = {contracting[1]}>")
    c.label = str(t) if t is to else f"{t} -> {to}"
    length = int(np.prod(inner, dtype=int))
    return c.returns(c.emit("dot_general", operands, to, result, numbers + _precision(c, "precision_config"))).allow(2 * length + 2, by_magnitude=True)


def convolution(rng, **options):
    c = Case(rng, "convolution", **options)
    t, to = _types(c)
    rank = c.pick([0, 1, 1, 2, 2, 2, 3])
    most = {0: 9, 1: 9, 2: 7, 3: 5}[rank]
    groups, batch_groups = 1, 1
    if c.chance(0.4):
        groups, batch_groups = (int(rng.integers(2, 5)), 1) if c.chance(0.6) else (1, int(rng.integers(2, 4)))
    deep = 40 if c.may_be_large() > 400 else 4
    depth, features = int(rng.integers(1, deep)), int(rng.integers(1, deep)) * groups * batch_groups
    batch = int(rng.integers(1, 4)) * batch_groups
    if c.zero and c.chance(0.3):
        batch = 0
    while True:
        size, kernel = rng.integers(1, most if deep == 4 else 2 * most, rank), rng.integers(1, 4, rank)
        strides = np.where(rng.random(rank) < 0.4, 2, 1)
        left, right = (np.where(rng.random(rank) < 0.2, 2, 1) for _ in "lr")
        padding = rng.integers(-1 if c.chance(0.2) else 0, 3, (rank, 2)) * (rng.random() < 0.7)
        whole = (size - 1) * left + 1 + padding.sum(1) if rank else np.zeros(0, int)
        covered = (kernel - 1) * right + 1
        if all(whole >= (0 if c.zero else covered)):
            break
    spatial = np.where(whole >= covered, (whole - covered) // strides + 1, 0)
    reversal = [bool(rng.random() < 0.2) for _ in range(rank)]

    def layout(names, sizes):
        """A random order of the dimensions: its text and the shape."""
        order = rng.permutation(len(names)) if c.chance(0.6) else range(len(names))
        return "[" + ", ".join(str(names[i]) for i in order) + "]", [int(sizes[i]) for i in order]

    lhs_text, lhs = layout(["b", "f", *range(rank)], [batch, depth * groups, *size])
    rhs_text, rhs = layout(["i", "o", *range(rank)], [depth, features, *kernel])
    out_text, out = layout(["b", "f", *range(rank)], [batch // batch_groups, features, *spatial])
    edges = "special" if c.chance(0.2) and t.kind != "int" else None
    operands = [c.argument(t, lhs, data(rng, t, lhs, edges)), c.argument(t, rhs, data(rng, t, rhs, None))]
    attributes = (f"dimension_numbers = #stablehlo.conv<{lhs_text}x{rhs_text}->{out_text}>, feature_group_count = {groups} : i64,"
                  f" batch_group_count = {batch_groups} : i64")
    for name, values, default in (("window_strides", strides, 1), ("lhs_dilation", left, 1), ("rhs_dilation", right, 1)):
        if any(values != default) or c.chance(0.2):
            attributes += f", {name} = {array_attribute(values)}"
    if padding.any() or c.chance(0.2):
        attributes += f", padding = {matrix_attribute(padding)}"
    if any(reversal):
        attributes += ", window_reversal = array<i1: " + ", ".join(str(r).lower() for r in reversal) + ">"
    c.label = str(t) if t is to else f"{t} -> {to}"
    length = depth * int(np.prod(kernel, dtype=int))
    return c.returns(c.emit("convolution", operands, to, out, attributes + _precision(c, "precision_config"))).allow(2 * length + 2, by_magnitude=True)


def batch_norm(rng, name, **options):
    c = Case(rng, name, **options)
    t, shape = choose(rng, FLOATS), c.shape(low=1)
    d = int(rng.integers(len(shape)))
    channel = [shape[d]]
    x = lambda s: c.argument(t, s, data(rng, t, s, None))
    variance = lambda: c.argument(t, channel, (np.abs(data(rng, t, channel, None).astype(np.float64)) + 0.1).astype(t.dtype))
    attributes = f"epsilon = {c.pick(['1.0e-3', '1.0e-5', '0.5'])} : f32, feature_index = {d} : i64"
    if name == "batch_norm_inference":
        operands = [x(shape), x(channel), x(channel), x(channel), variance()]
        results = [c.emit(name, operands, t, shape, attributes)]
    elif name == "batch_norm_training":
        results = c.emit_many(name, [x(shape), x(channel), x(channel)], [(t, shape), (t, channel), (t, channel)], attributes)
    else:
        operands = [x(shape), x(channel), x(channel), variance(), x(shape)]
        results = c.emit_many(name, operands, [(t, shape), (t, channel), (t, channel)], attributes)
    return c.returns(*results).allow(256, of_norm=True)


def fft(rng, **options):
    c = Case(rng, "fft", **options)
    t = BY_NAME[c.pick(["complex<f32>", "complex<f64>"])]
    kind = c.pick(["FFT", "IFFT", "RFFT", "IRFFT"])
    shape = list(c.shape(low=1, high=4))
    n = int(rng.integers(1, min(3, len(shape)), endpoint=True))
    length = shape[-n:]
    source, to, result = t, t, list(shape)
    if kind == "RFFT":
        source, result = t.real, shape[:-1] + [shape[-1] // 2 + 1 if shape[-1] else 0]
    if kind == "IRFFT":
        to, shape = t.real, shape[:-1] + [shape[-1] // 2 + 1 if shape[-1] else 0]
    x = data(rng, source, shape, None)
    return c.returns(c.emit("fft", [c.argument(source, shape, x)], to, result, f"fft_type = #stablehlo<fft_type {kind}>,"
                            f" fft_length = {array_attribute(length)}")).allow(64, of_norm=True)


def cholesky(rng, **options):
    c = Case(rng, "cholesky", **options)
    t, batch, n = choose(rng, [x for x in of("float", "complex") if x.real in (F32, F64)], narrow_too=False), c.shape(0, 2), c.size()
    a = data(rng, t, [*batch, n, n], None)
    with np.errstate(all="ignore"):
        a = (a @ np.conj(np.swapaxes(a, -1, -2)) + 8 * n * np.eye(n)).astype(t.dtype)
    lower = c.chance()
    return c.returns(c.emit("cholesky", [c.argument(t, a.shape, a)], t, a.shape, f"lower = {str(lower).lower()}")).allow(256, of_norm=True)


def triangular_solve(rng, **options):
    c = Case(rng, "triangular_solve", **options)
    t, batch, n, m = choose(rng, [x for x in of("float", "complex") if x.real in (F32, F64)], narrow_too=False), c.shape(0, 2), c.size(), c.size()
    left, lower, unit = c.chance(), c.chance(), c.chance(0.3)
    a = data(rng, t, [*batch, n, n], None) / (4 * n + 1) + 2 * np.eye(n)
    b = data(rng, t, [*batch, n, m] if left else [*batch, m, n], None)
    transpose = c.pick(["NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"])
    a = a.astype(t.dtype)
    return c.returns(c.emit("triangular_solve", [c.argument(t, a.shape, a), c.argument(t, b.shape, b)], t, b.shape,
                            f"left_side = {str(left).lower()}, lower = {str(lower).lower()}, unit_diagonal = {str(unit).lower()},"
                            f" transpose_a = #stablehlo<transpose {transpose}>")).allow(512, of_norm=True)


def rng_bit_generator(rng, **options):
    c = Case(rng, "rng_bit_generator", **options)
    algorithm = c.pick(["THREE_FRY", "PHILOX"])
    size = 2 if algorithm == "THREE_FRY" else int(c.pick([2, 3]))
    state = c.argument(BY_NAME["ui64"], [size], rng.integers(0, 2**63, [size]).astype(np.uint64))
    t, shape = choose(rng, [x for x in of("int") if x.bits > 8]), c.shape()
    c.large = True
    return c.returns(*c.emit_many("rng_bit_generator", [state], [(BY_NAME["ui64"], [size]), (t, shape)],
                                  f"rng_algorithm = #stablehlo<rng_algorithm {algorithm}>"))


GENERATORS = [("dot_general", dot_general, 8), ("convolution", convolution, 8), ("fft", fft, 2),
              ("cholesky", cholesky, 1), ("triangular_solve", triangular_solve, 2), ("rng_bit_generator", rng_bit_generator, 1)]
GENERATORS += [(name, lambda rng, name=name, **o: batch_norm(rng, name, **o), 1)
               for name in ("batch_norm_inference", "batch_norm_training", "batch_norm_grad")]
