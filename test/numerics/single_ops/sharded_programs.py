"""Programs that only sharded.py runs: ops whose numbers have tests of their own (special functions, quantized values, collectives), and each
op of a family of which run.py draws one."""
import numpy as np
from case import Case, array_attribute, matrix_attribute
from element_types import BY_NAME, F32, I32, I64, data
from rewritten import BROADCAST, chlo_broadcast

C64 = BY_NAME["complex<f32>"]


def _shape(c, low=1, high=3):
    return tuple(int(c.rng.integers(2, 7)) for _ in range(c.rng.integers(low, high, endpoint=True)))


def _positive(c, shape):
    return c.argument(F32, shape, c.rng.uniform(1.5, 4, shape).astype(np.float32))


def _vector(c, numbers):
    return c.constant(I64, (len(numbers),), str([int(n) for n in numbers]))


# chlo.

def binary(rng, name, broadcast, **options):
    c = Case(rng, "chlo." + ("broadcast_" if broadcast else "") + name, **options)
    shape = _shape(c)
    other = shape[1:] if broadcast else shape
    if name == "mulhi":
        operands = [c.argument(I32, s, data(rng, I32, s)) for s in (shape, other)]
    else:
        operands = [_positive(c, s) for s in (shape, other)]
    t = operands[0].type
    return c.returns(c.emit(c.op, operands, t, shape)).allow(0 if name in ("mulhi", "next_after") else 8)


def broadcast_compare(rng, **options):
    c = Case(rng, "chlo.broadcast_compare", **options)
    shape = _shape(c)
    operands = [c.argument(I32, s, data(rng, I32, s)) for s in (shape, shape[1:])]
    return c.returns(c.emit(c.op, operands, BY_NAME["i1"], shape, "comparison_direction = #chlo<comparison_direction GT>"))


def broadcast_select(rng, **options):
    c = Case(rng, "chlo.broadcast_select", **options)
    shape = _shape(c)
    operands = [c.argument(BY_NAME["i1"], shape, rng.random(shape) < 0.5), _positive(c, shape[1:]), _positive(c, shape)]
    return c.returns(c.emit(c.op, operands, F32, shape))


def broadcast_complex(rng, **options):
    c = Case(rng, "chlo.broadcast_complex", **options)
    shape = _shape(c)
    return c.returns(c.emit(c.op, [_positive(c, shape), _positive(c, shape[1:])], C64, shape))


def asin_acos_kernel(rng, **options):
    c = Case(rng, "chlo._asin_acos_kernel", **options)
    shape = _shape(c)
    return c.returns(c.emit(c.op, [c.argument(C64, shape, data(rng, C64, shape, None))], C64, shape)).allow(64, of_norm=True)


def constant(rng, **options):
    c = Case(rng, "chlo.constant", **options)
    shape = _shape(c)
    values = rng.integers(0, 100, shape).tolist()
    return c.returns(c.emit(c.op, [], I32, shape, f"value = dense<{values}> : tensor<{'x'.join(map(str, shape))}xi32>"))


def constant_like(rng, **options):
    c = Case(rng, "chlo.constant_like", **options)
    shape = _shape(c)
    return c.returns(c.emit(c.op, [_positive(c, shape)], F32, shape, "value = 2.5 : f32"))


# Shapes from values that are known.

def dynamic_gather(rng, **options):
    c = Case(rng, "dynamic_gather", **options)
    rows, columns, count = (int(n) for n in rng.integers(2, 7, 3))
    places = rng.integers(0, rows, (count, 1)).astype(np.int32)
    numbers = "#stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>"
    operands = [_positive(c, (rows, columns)), c.argument(I32, places.shape, places), _vector(c, [1, columns])]
    return c.returns(c.emit(c.op, operands, F32, (count, columns), f"dimension_numbers = {numbers}"))


def dynamic_conv(rng, **options):
    c = Case(rng, "dynamic_conv", **options)
    batch, length, features, outputs = (int(n) for n in rng.integers(2, 7, 4))
    padding = c.constant(I64, (1, 2), "[[1, 1]]")
    operands = [_positive(c, (batch, length, features)), _positive(c, (3, features, outputs)), padding]
    return c.returns(c.emit(c.op, operands, F32, (batch, length, outputs), "dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>,"
                            " feature_group_count = 1 : i64, batch_group_count = 1 : i64")).allow(2 * 3 * features + 2, by_magnitude=True)


# Started and awaited.

def asynchronous(rng, **options):
    c = Case(rng, "async_start", **options)
    shape = _shape(c)
    x, started, inner, made = _positive(c, shape), c.fresh(), c.fresh(), c.fresh()
    result = type(x)(c.fresh(), F32, (shape[0] - 1, *shape[1:]))
    bounds = (f"start_indices = {array_attribute([1] + [0] * (len(shape) - 1))}, limit_indices = {array_attribute(shape)},"
              f" strides = {array_attribute([1] * len(shape))}")
    future = f"!stablehlo.future<{result.text}>"
    c.line(f'{started} = "stablehlo.async_start"({x}) ({{\n^bb0({inner}: {x.text}):\n'
           f'  {made} = "stablehlo.slice"({inner}) <{{{bounds}}}> : ({x.text}) -> {result.text}\n'
           f'  "stablehlo.return"({made}) : ({result.text}) -> ()\n}}) : ({x.text}) -> {future}')
    c.line(f'{result} = "stablehlo.async_done"({started}) : ({future}) -> {result.text}')
    return c.returns(result)


# Quantized values.

def quantize(rng, **options):
    c = Case(rng, "uniform_quantize", **options)
    shape = _shape(c, 2, 3)
    scales = ", ".join(f"{2.0 ** -int(rng.integers(1, 4)):e}:{rng.integers(-3, 4)}" for _ in range(shape[1]))
    element = f"!quant.uniform<i8:f32:1, {{{scales}}}>" if c.chance() else "!quant.uniform<i8:f32, 2.5e-01:3>"
    x, between = _positive(c, shape), c.fresh()
    text = f"tensor<{'x'.join(map(str, shape))}x{element}>"
    c.line(f'{between} = "stablehlo.uniform_quantize"({x}) : ({x.text}) -> {text}')
    result = type(x)(c.fresh(), F32, shape)
    c.line(f'{result} = "stablehlo.uniform_dequantize"({between}) : ({text}) -> {result.text}')
    return c.returns(result)


# Running reductions, of one value or two, from the first row or the last.

def running(rng, kind, **options):
    c = Case(rng, "reduce_window", **options)
    shape = c.shape(low=1, high=3)
    shape = [max(2, n) for n in shape]
    dim, low = int(rng.integers(len(shape))), c.chance()
    t, start = {"maximum": (I32, "-2147483648"), "argmax": (F32, "0xFF800000"), "log_plus_one": (F32, "0xFF800000"),
                "multiply": (F32, "1.0"), "add": (F32, "0.0")}[kind]
    types = [t, I32] if kind == "argmax" else [t]
    values = [(data(rng, u, shape, None) if u is I32 else rng.uniform(0.5, 1.5, shape)).astype(u.dtype) for u in types]
    inputs = [c.argument(u, shape, x) for u, x in zip(types, values)]
    inits = [c.constant(u, (), start if u is t else "0") for u in types]

    def body(*values):
        if kind == "argmax":
            a, i, b, j = values
            keeps = c.emit("compare", [a, b], BY_NAME["i1"], (), "comparison_direction = #stablehlo<comparison_direction GE>")
            return [c.emit("select", [keeps, a, b], F32, ()), c.emit("select", [keeps, i, j], I32, ())]
        if kind == "log_plus_one":
            a, b = values  # infinities of one sign: their difference is no number
            apart = c.emit("subtract", [a, b], F32, ())
            none = c.emit("compare", [apart, apart], BY_NAME["i1"], (), "comparison_direction = #stablehlo<comparison_direction NE>")
            scaled = c.emit("exponential", [c.emit("negate", [c.emit("abs", [apart], F32, ())], F32, ())], F32, ())
            total = c.emit("add", [c.emit("maximum", [a, b], F32, ()), c.emit("log_plus_one", [scaled], F32, ())], F32, ())
            return [c.emit("select", [none, c.emit("add", [a, b], F32, ()), total], F32, ())]
        return [c.emit(kind, list(values), t, ())]

    n = shape[dim]
    padding = [([n - 1, 0] if low else [0, n - 1]) if d == dim else [0, 0] for d in range(len(shape))]
    attributes = (f"window_dimensions = {array_attribute([n if d == dim else 1 for d in range(len(shape))])},"
                  f" padding = {matrix_attribute(np.array(padding))}")
    region = c.block([(u, ()) for u in types * 2], body)
    results = c.emit_many("reduce_window", inputs + inits, [(u, shape) for u in types], attributes, [region])
    return c.returns(*results).allow(0 if kind in ("maximum", "argmax") else 4 * n)


# Windows whose selection no value stands for: the lowest integers, and selections and combinations of no kind.

def selected(rng, kind, **options):
    c = Case(rng, "select_and_scatter", **options)
    t = I32 if kind == "lowest" else F32
    size, stride, rows, columns = int(rng.integers(2, 4)), int(rng.integers(1, 3)), int(rng.integers(4, 14)), int(rng.integers(1, 4))
    low, high = int(rng.integers(0, size)), int(rng.integers(0, size))
    sources = (rows + low + high - size) // stride + 1
    values = (lambda *shape: rng.choice([-2**31, -2**31, -2**31 + 1, 5], shape).astype(np.int32)) if kind == "lowest" else (
        lambda *shape: rng.integers(-9, 9, shape).astype(np.float32))
    operands = [c.argument(t, x.shape, x) for x in (values(rows, columns), values(sources, columns))] + [c.constant(t, (), "0" if t is I32 else "0.5")]
    compared = lambda a, b: [c.emit("compare", [a, b], BY_NAME["i1"], (), "comparison_direction = #stablehlo<comparison_direction GE>")]
    size_of = lambda x: c.emit("abs", [x], t, ())
    bodies = {"lowest": (compared, lambda a, b: [c.emit("maximum", [a, b], t, ())]),
              "magnitude": (lambda a, b: compared(size_of(a), size_of(b)), lambda a, b: [c.emit("maximum", [size_of(a), size_of(b)], t, ())])}[kind]
    attributes = (f"window_dimensions = {array_attribute([size, 1])}, window_strides = {array_attribute([stride, 1])},"
                  f" padding = {matrix_attribute(np.array([[low, high], [0, 0]]))}")
    regions = [c.block([(t, ())] * 2, body) for body in bodies]
    return c.returns(*c.emit_many("select_and_scatter", operands, [(t, (rows, columns))], attributes, regions))


# A library's function with a rule of its own: the batch may be sharded.

def custom_call(rng, **options):
    c = Case(rng, "custom_call", **options)
    batch, n = int(rng.integers(3, 8)), int(rng.integers(2, 5))
    x = rng.uniform(-1, 1, (batch, n, n)).astype(np.float32)
    x = c.argument(F32, x.shape, x + x.transpose(0, 2, 1) + 3 * np.diag(np.arange(n, dtype=np.float32)))
    attributes = (f'api_version = 4 : i32, call_target_name = "lapack_ssyevd_ffi", backend_config = {{mode = 86 : ui8, uplo = 76 : ui8}},'
                  f' operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>],'
                  f' result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>, dense<0> : tensor<1xindex>]')
    rule = (f'sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m], [i, n], [i]) {{i={batch}, j={n}, k={n}, l={n}, m={n}, n={n}}}, custom>,'
            ' mhlo.frontend_attributes = {num_batch_dims = "1"}')
    types = [(F32, (batch, n, n)), (F32, (batch, n)), (I32, (batch,))]
    results = c.emit_many("custom_call", [x], types, attributes)
    c.lines[-1] = c.lines[-1].replace("}> :", f"}}> {{{rule}}} :")
    return c.returns(results[1], results[2]).allow(32, of_norm=True)


# Collectives of a manual computation over "x"; what is sharded along "y" there is free.

GROUPS = "dense<[[0, 3], [1, 4], [2, 5]]> : tensor<3x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>"
PAIRS = "dense<[[0, 3], [3, 0], [1, 4], [4, 1], [2, 5], [5, 2]]> : tensor<6x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>"
SUM = "({{\n^bb0(%a: tensor<f32>, %b: tensor<f32>):\n  %s = stablehlo.add %a, %b : tensor<f32>\n  stablehlo.return %s : tensor<f32>\n}}) "
COLLECTIVES = {  # (attributes, region, the result's size along dimensions 0 and 1 in that of the operand)
    "all_reduce": (f"replica_groups = {GROUPS}, use_global_device_ids", True, 1, 1),
    "all_gather": (f"all_gather_dim = 1 : i64, replica_groups = {GROUPS}, use_global_device_ids", False, 1, 2),
    "reduce_scatter": (f"scatter_dimension = 1 : i64, replica_groups = {GROUPS}, use_global_device_ids", True, 1, 0.5),
    "all_to_all": (f"split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = {GROUPS}", False, 2, 0.5),
    "collective_permute": (f"source_target_pairs = {PAIRS}", False, 1, 1),
    "collective_broadcast": (f"replica_groups = {GROUPS}", False, 1, 1),
}


def in_manual(c, x, result_shape, body):
    """A manual computation over "x", by which dimension 0 of the operand and of the result is divided; `body` writes its text from the
    types of the operand and of the result there."""
    inner, made = (("tensor<" + "".join(f"{n}x" for n in (s[0] // 2, *s[1:])) + "f32>") for s in (x.shape, result_shape))
    result = type(x)(c.fresh(), F32, tuple(result_shape))
    lie = lambda rank: "[<@mesh, [" + ", ".join(['{"x", ?}'] + ["{?}"] * (rank - 1)) + "]>]"
    name = f"%m{c.number}"
    c.line(f"{result} = sdy.manual_computation({x}) in_shardings={lie(len(x.shape))} out_shardings={lie(len(result_shape))}"
           f' manual_axes={{"x"}} ({name}: {inner}) {{')
    for line in body(name, inner, made):
        c.line(line)
    c.line(f"  sdy.return %r{c.number} : {made}")
    c.line(f"}} : ({x.text}) -> {result.text}")
    c.axes = ['"y"']  # "x" is taken
    return c.returns(result)


def collective(rng, name, **options):
    c = Case(rng, name, **options)
    attributes, region, rows, columns = COLLECTIVES[name]
    shape = (2 * int(rng.integers(2, 5)), 2 * int(rng.integers(2, 5)), int(rng.integers(2, 5)))
    result = (int(shape[0] * rows), int(shape[1] * columns), shape[2])
    text = lambda operand, before, after: [f'  %r{c.number} = "stablehlo.{name}"({operand}) <{{{attributes}}}> '
                                           f'{SUM.format() if region else ""}: ({before}) -> {after}']
    return in_manual(c, _positive(c, shape), result, text).allow(4)


def device_number(rng, name, **options):
    c = Case(rng, name, **options)
    shape = (2 * int(rng.integers(2, 5)), int(rng.integers(2, 7)))

    def text(operand, before, after):
        of = lambda part: f"%{part}{c.number}"
        yield f"  {of('p')} = stablehlo.{name} : tensor<ui32>"
        yield f"  {of('q')} = stablehlo.constant dense<{3 if name == 'partition_id' else 1}> : tensor<ui32>"
        yield f"  {of('i')} = stablehlo.divide {of('p')}, {of('q')} : tensor<ui32>"
        yield f"  {of('f')} = stablehlo.convert {of('i')} : (tensor<ui32>) -> tensor<f32>"
        yield f"  {of('b')} = stablehlo.broadcast_in_dim {of('f')}, dims = [] : (tensor<f32>) -> {before}"
        yield f"  {of('r')} = stablehlo.add {operand}, {of('b')} : {before}"

    return in_manual(c, _positive(c, shape), shape, text)


GENERATORS = [(f.__name__, f) for f in (broadcast_compare, broadcast_select, broadcast_complex, asin_acos_kernel, constant, constant_like,
                                        dynamic_gather, dynamic_conv, asynchronous, quantize, custom_call)]
GENERATORS += [(("broadcast_" if b else "") + n, lambda rng, n=n, b=b, **o: binary(rng, n, b, **o)) for n in ("zeta", "polygamma", "next_after", "mulhi")
               for b in (False, True) if (n, b) != ("mulhi", True)]
GENERATORS += [("running_" + kind, lambda rng, kind=kind, **o: running(rng, kind, **o)) for kind in ("add", "maximum", "multiply", "argmax", "log_plus_one")]
GENERATORS += [("selected_" + kind, lambda rng, kind=kind, **o: selected(rng, kind, **o)) for kind in ("lowest", "magnitude")]
GENERATORS += [("broadcast_" + name, lambda rng, name=name, **o: chlo_broadcast(rng, name, **o)) for name in BROADCAST if name != "next_after"]
GENERATORS += [(name, lambda rng, name=name, **o: collective(rng, name, **o)) for name in COLLECTIVES]
GENERATORS += [(name, lambda rng, name=name, **o: device_number(rng, name, **o)) for name in ("partition_id", "replica_id")]
