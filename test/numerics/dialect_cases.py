"""Every operation of stablehlo, chlo and sdy in generic form, each with several types and attributes: what `dialect_text.py` checks."""

FLOATS = ("f4E2M1FN f6E2M3FN f6E3M2FN f8E3M4 f8E4M3 f8E4M3FN f8E4M3FNUZ f8E4M3B11FNUZ f8E5M2 f8E5M2FNUZ f8E8M0FNU bf16 f16 f32 f64").split()
INTS = "i2 i4 i8 i16 i32 i64 ui2 ui4 ui8 ui16 ui32 ui64".split()
COMPLEX = ["complex<f32>", "complex<f64>"]
QUANT = "!quant.uniform<i8:f32, 2.000000e+00:15>"
QUANTIZED = [QUANT, "!quant.uniform<i4<-7:7>:f32, 5.000000e-01>", "!quant.uniform<u8:f32, 3.400000e+01:16>", "!quant.uniform<i8:bf16, 2.000000e+00>"]
PER_AXIS = "!quant.uniform<i8:f32:1, {1.000000e-01,2.000000e-01:2,3.000000e-01}>"
SCALAR_SUM = '({^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> ()})'
SCALAR_GE = '({^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = "stablehlo.compare"(%x, %y) <{comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1> "stablehlo.return"(%s) : (tensor<i1>) -> ()})'
MESH = '"sdy.mesh"() <{sym_name = "mesh", mesh = #sdy.mesh<["x"=2, "y"=4, "z"=2]>}> : () -> ()'
SUM_FUNCTION = 'func.func private @f(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> { func.return %a : tensor<f32> }'


def t(element="f32", *shape):
    return "tensor<" + "".join(f"{d}x" for d in shape) + element + ">"


def op(name, ins, outs, attrs="", regions="", extra="", before="", captured=()):
    """(name, module text): one operation on the function's arguments. `attrs` goes into <{..}>, `extra` into {..}. Regions may use `%c0`.. of types `captured`."""
    outs = [outs] if isinstance(outs, str) else list(outs)
    args = ", ".join([f"%arg{i}: {ty}" for i, ty in enumerate(ins)] + [f"%c{i}: {ty}" for i, ty in enumerate(captured)])
    uses = ", ".join(f"%arg{i}" for i in range(len(ins)))
    results = f"%r:{len(outs)} = " if outs else ""
    text = f'{results}"{name}"({uses})' + (f" <{{{attrs}}}>" if attrs else "") + (f" {regions}" if regions else "") + (f" {{{extra}}}" if extra else "")
    text += f" : ({', '.join(ins)}) -> ({', '.join(outs)})"
    values = ", ".join(f"%r#{i}" for i in range(len(outs)))
    back = f"func.return {values} : {', '.join(outs)}" if outs else "func.return"
    return name, f"{before}\nfunc.func @main({args}) -> ({', '.join(outs)}) {{\n  {text}\n  {back}\n}}"


def dims(**lists):
    return ", ".join(f"{k} = [{', '.join(map(str, v))}]" for k, v in lists.items() if v)


def i64s(**lists):
    return ", ".join(f"{k} = array<i64{': ' if v else ''}{', '.join(map(str, v))}>" for k, v in lists.items())


def i64(**numbers):
    return ", ".join(f"{k} = {v} : i64" for k, v in numbers.items())


def elementwise():
    accuracy = ["", "result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>",
                "result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<DEFAULT>>",
                "result_accuracy = #stablehlo.result_accuracy<atol = 1.000000e-05, rtol = 0.000000e+00, ulps = 1, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>",
                "result_accuracy = #stablehlo.result_accuracy<atol = 0.000000e+00, rtol = 2.500000e-01, ulps = 0, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>"]
    for name in "cbrt cosine exponential exponential_minus_one log log_plus_one logistic rsqrt sine sqrt tan tanh".split():
        for e in FLOATS + COMPLEX + [QUANT]:
            yield op(f"stablehlo.{name}", [t(e, 4)], t(e, 4))
        for a in accuracy:
            yield op(f"stablehlo.{name}", [t("f32", 2, "?")], t("f32", 2, "?"), a)
        yield op(f"stablehlo.{name}", [t("f32", 2, "?")], t("f32", 2, 3))
    for name in "ceil floor round_nearest_afz round_nearest_even".split():
        for e in FLOATS + [QUANT]:
            yield op(f"stablehlo.{name}", [t(e)], t(e))
    for e in INTS[:6] + FLOATS + [QUANT]:
        yield op("stablehlo.abs", [t(e, 2)], t(e, 2))
        yield op("stablehlo.sign", [t(e, 2)], t(e, 2))
    for c in COMPLEX:
        yield op("stablehlo.abs", [t(c, 2)], t(c[8:-1], 2))
        yield op("stablehlo.sign", [t(c, 2)], t(c, 2))
        yield op("stablehlo.complex", [t(c[8:-1], 2)] * 2, t(c, 2))
        for part in ("real", "imag"):
            yield op(f"stablehlo.{part}", [t(c, 2)], t(c[8:-1], 2))
            yield op(f"stablehlo.{part}", [t("f16", 2)], t("f16", 2))
    for name in ("count_leading_zeros", "popcnt"):
        for e in INTS:
            yield op(f"stablehlo.{name}", [t(e, 2)], t(e, 2))
    for e in ["i1"] + INTS:
        yield op("stablehlo.not", [t(e, 2)], t(e, 2))
    for e in INTS + FLOATS + COMPLEX + [QUANT]:
        yield op("stablehlo.negate", [t(e, 2)], t(e, 2))
    for e in FLOATS + [QUANT]:
        yield op("stablehlo.is_finite", [t(e, 2)], t("i1", 2))
    everything = ["i1"] + INTS + FLOATS + COMPLEX
    for name in "add multiply maximum minimum".split():
        for e in everything + QUANTIZED:
            yield op(f"stablehlo.{name}", [t(e, 2, 3)] * 2, t(e, 2, 3))
    for name in "divide subtract power remainder".split():
        for e in everything[1:] + [QUANT]:
            yield op(f"stablehlo.{name}", [t(e, 2, 3)] * 2, t(e, 2, 3))
    yield op("stablehlo.add", [t(PER_AXIS, 2, 3)] * 2, t(PER_AXIS, 2, 3))
    yield op("stablehlo.add", [t(QUANTIZED[0], 2), t("!quant.uniform<i8:f32, 1.000000e+00:3>", 2)], t("!quant.uniform<i8:f32, 4.000000e+00>", 2))
    yield op("stablehlo.add", [t("f32", "?", 3), t("f32", 2, "?")], t("f32", 2, 3))
    yield op("stablehlo.add", ["tensor<?x3xf32, #stablehlo.bounds<4, ?>>"] * 2, "tensor<?x3xf32, #stablehlo.bounds<4, ?>>")
    for e in FLOATS + COMPLEX + [QUANT]:
        yield op("stablehlo.atan2", [t(e, 2)] * 2, t(e, 2))
    for name in "and or xor".split():
        for e in ["i1"] + INTS:
            yield op(f"stablehlo.{name}", [t(e, 2)] * 2, t(e, 2))
    for name in "shift_left shift_right_arithmetic shift_right_logical".split():
        for e in INTS:
            yield op(f"stablehlo.{name}", [t(e, 2)] * 2, t(e, 2))
    for direction in "EQ NE GE GT LE LT".split():
        for kind, e in (("", "f32"), ("FLOAT", "bf16"), ("TOTALORDER", "f64"), ("SIGNED", "i4"), ("UNSIGNED", "ui8"), ("UNSIGNED", "i1"), ("NOTYPE", "i32"), ("", QUANT)):
            a = f"comparison_direction = #stablehlo<comparison_direction {direction}>" + (f", compare_type = #stablehlo<comparison_type {kind}>" if kind else "")
            yield op("stablehlo.compare", [t(e, 2)] * 2, t("i1", 2), a)
    for c in COMPLEX:
        for direction in ("EQ", "NE"):
            yield op("stablehlo.compare", [t(c, 2)] * 2, t("i1", 2), f"comparison_direction = #stablehlo<comparison_direction {direction}>, compare_type = #stablehlo<comparison_type FLOAT>")
    for e in ["i1", "i32", "f8E5M2", "f32", QUANT] + COMPLEX:
        yield op("stablehlo.select", [t("i1", 2)] + [t(e, 2)] * 2, t(e, 2))
        yield op("stablehlo.select", [t("i1")] + [t(e, 2)] * 2, t(e, 2))
        yield op("stablehlo.clamp", [t(e, 2)] * 3, t(e, 2))
        yield op("stablehlo.clamp", [t(e), t(e, 2), t(e)], t(e, 2))
    yield op("stablehlo.select", [t("i1", "?"), t("f32", 2), t("f32", "?")], t("f32", 2))
    yield op("stablehlo.clamp", [t("f32"), t("f32", "?"), t("f32")], t("f32", 2))
    for a, b in zip(everything, everything[1:] + everything[:1]):
        yield op("stablehlo.convert", [t(a, 2)], t(b, 2))
        yield op("stablehlo.convert", [t(a)], t(a))
    for a, b in ((t("f32", 2), t("i8", 2, 4)), (t("i8", 3, 4), t("f32", 3)), (t("f32"), t("i32")), (t("complex<f64>", 2), t("complex<f32>", 2, 2)),
                 (t("i4", 2, 2), t("f8E4M3FN", 2)), (t("i1", 4, 8), t("i8", 4)), (t(QUANT, 2), t("i8", 2)), (t("f64"), t("i32", 2))):
        yield op("stablehlo.bitcast_convert", [a], b)
    for e in ["f32", "bf16", "f64", QUANT]:
        yield op("stablehlo.reduce_precision", [t(e, 2)], t(e, 2), "exponent_bits = 8 : i32, mantissa_bits = 7 : i32")
        yield op("stablehlo.reduce_precision", [t(e)], t(e), "exponent_bits = 1 : i32, mantissa_bits = 0 : i32")
    for e in QUANTIZED:
        f = e.split(",")[0].split(":")[-1]
        yield op("stablehlo.uniform_quantize", [t(f, 2)], t(e, 2))
        yield op("stablehlo.uniform_quantize", [t(e, 2)], t(e, 2))
        yield op("stablehlo.uniform_dequantize", [t(e, 2)], t(f, 2))
    yield op("stablehlo.uniform_quantize", [t("f32", 2, 3)], t(PER_AXIS, 2, 3))
    yield op("stablehlo.uniform_dequantize", [t(PER_AXIS, 2, 3)], t("f32", 2, 3))


def constants():
    def constant(value):
        return "stablehlo.constant", f'func.func @main() {{\n %c = "stablehlo.constant"() <{{value = {value}}}> : () -> {value.split(" : ")[-1]}\n func.return\n}}'
    for e in FLOATS:
        yield constant(f"dense<1.000000e+00> : tensor<{e}>")
        yield constant(f"dense<2.000000e+00> : tensor<3x2x{e}>")
        if e not in ("f8E8M0FNU",):
            yield constant(f"dense<[1.000000e+00, -2.000000e+00]> : tensor<2x{e}>")
    for e in ("bf16", "f16", "f32", "f64"):
        nan = {"bf16": "0x7FC0", "f16": "0x7E00", "f32": "0x7FC00000", "f64": "0x7FF8000000000000"}[e]
        yield constant(f"dense<[{nan}, 1.000000e+00]> : tensor<2x{e}>")
        yield constant(f"dense<> : tensor<0x{e}>")
    for e in ["i1"] + INTS:
        yield constant(f"dense<{'true' if e == 'i1' else 1}> : tensor<{e}>")
        yield constant(f"dense<{'[true, false]' if e == 'i1' else '[0, 1]'}> : tensor<2x{e}>")
    for c in COMPLEX:
        yield constant(f"dense<(1.000000e+00,-2.000000e+00)> : tensor<{c}>")
        yield constant(f"dense<[(1.000000e+00,0.000000e+00), (0.000000e+00,2.000000e+00)]> : tensor<2x{c}>")
    yield "stablehlo.constant", 'func.func @main() {\n %c = "stablehlo.constant"() <{value = dense<[1, 2]> : tensor<2xi8>}> {foo.bar = 3 : i32} : () -> tensor<2xi8>\n func.return\n}'
    yield "stablehlo.constant", f'func.func @main() {{\n %c = "stablehlo.constant"() <{{value = dense<[1, 2]> : tensor<2xi8>}}> : () -> {t(QUANT, 2)}\n func.return\n}}'
    for e in INTS + FLOATS + COMPLEX:
        yield op("stablehlo.iota", [], t(e, 2, 3), "iota_dimension = 1 : i64")
    yield op("stablehlo.iota", [], t("i32", 5), "iota_dimension = 0 : i64")


def movement():
    for e in ["i1", "i4", "f32", "f8E4M3FN", "complex<f32>", QUANT]:
        yield op("stablehlo.broadcast", [t(e, 3)], t(e, 1, 2, 3), i64s(broadcast_sizes=[1, 2]))
        yield op("stablehlo.broadcast", [t(e)], t(e), i64s(broadcast_sizes=[]))
        yield op("stablehlo.broadcast_in_dim", [t(e, 1, 3)], t(e, 3, 2, 2), i64s(broadcast_dimensions=[2, 0]))
        yield op("stablehlo.broadcast_in_dim", [t(e)], t(e, 3), i64s(broadcast_dimensions=[]))
        yield op("stablehlo.concatenate", [t(e, 2, 3), t(e, 2, 0), t(e, 2, 4)], t(e, 2, 7), i64(dimension=1))
        yield op("stablehlo.concatenate", [t(e, 2)], t(e, 2), i64(dimension=0))
        yield op("stablehlo.reshape", [t(e, 2, 3)], t(e, 6))
        yield op("stablehlo.reshape", [t(e)], t(e, 1, 1))
        yield op("stablehlo.reverse", [t(e, 2, 3)], t(e, 2, 3), i64s(dimensions=[1, 0]))
        yield op("stablehlo.reverse", [t(e, 2, 3)], t(e, 2, 3), i64s(dimensions=[]))
        yield op("stablehlo.slice", [t(e, 8, 9)], t(e, 3, 9), i64s(start_indices=[1, 0], limit_indices=[7, 9], strides=[2, 1]))
        yield op("stablehlo.slice", [t(e)], t(e), i64s(start_indices=[], limit_indices=[], strides=[]))
        yield op("stablehlo.transpose", [t(e, 2, 3, 4)], t(e, 4, 2, 3), i64s(permutation=[2, 0, 1]))
        yield op("stablehlo.transpose", [t(e)], t(e), i64s(permutation=[]))
        yield op("stablehlo.pad", [t(e, 3, 4), t(e)], t(e, 7, 4), i64s(edge_padding_low=[1, -1], edge_padding_high=[1, 1], interior_padding=[1, 0]))
        yield op("stablehlo.dynamic_slice", [t(e, 3, 4), t("i32"), t("i32")], t(e, 1, 4), i64s(slice_sizes=[1, 4]))
        yield op("stablehlo.dynamic_slice", [t(e)], t(e), i64s(slice_sizes=[]))
        yield op("stablehlo.dynamic_update_slice", [t(e, 3, 4), t(e, 1, 4), t("ui8"), t("ui8")], t(e, 3, 4))
    yield op("stablehlo.transpose", [t("f32", "?", 3)], t("f32", 3, "?"), i64s(permutation=[1, 0]))
    yield op("stablehlo.slice", [t("f32", "?", 3)], t("f32", 1, 2), i64s(start_indices=[0, 1], limit_indices=[1, 3], strides=[1, 1]))
    yield op("stablehlo.concatenate", [t("f32", "?"), t("f32", 2)], t("f32", "?"), i64(dimension=0))
    yield op("stablehlo.pad", [t("f32", "?"), t("f32")], t("f32", "?"), i64s(edge_padding_low=[1], edge_padding_high=[1], interior_padding=[1]))
    yield op("stablehlo.get_dimension_size", [t("f32", "?", 3)], t("i32"), i64(dimension=0))
    yield op("stablehlo.set_dimension_size", [t("f32", 4, 3), t("i32")], "tensor<?x3xf32, #stablehlo.bounds<4, ?>>", i64(dimension=0))
    yield op("stablehlo.torch_index_select", [t("f32", 5, 1, 5), t("i32", 2)], t("f32", 2, 1, 5), i64(dim=0, batch_dims=0))
    yield op("stablehlo.torch_index_select", [t("f32", 5, 2, 5), t("i64", 5, 3)], t("f32", 5, 3, 5), i64(dim=1, batch_dims=1))
    for sorted_ in ("", ", indices_are_sorted = true", ", indices_are_sorted = false"):
        yield op("stablehlo.gather", [t("f32", 3, 4, 2), t("i64", 2, 3, 2)], t("f32", 2, 3, 2, 2),
                 f"dimension_numbers = #stablehlo.gather<{dims(offset_dims=[2, 3], collapsed_slice_dims=[0], start_index_map=[1, 0])}, index_vector_dim = 2>, {i64s(slice_sizes=[1, 2, 2])}{sorted_}")
    yield op("stablehlo.gather", [t("f32", 2, 3, 4, 2), t("i32", 2, 2, 3, 2)], t("f32", 2, 2, 3, 2, 2),
             f"dimension_numbers = #stablehlo.gather<{dims(offset_dims=[3, 4], collapsed_slice_dims=[1], operand_batching_dims=[0], start_indices_batching_dims=[1], start_index_map=[2, 1])}, index_vector_dim = 3>, {i64s(slice_sizes=[1, 1, 2, 2])}")
    yield op("stablehlo.gather", [t("f32", 5), t("i32")], t("f32"), f"dimension_numbers = #stablehlo.gather<{dims(collapsed_slice_dims=[0], start_index_map=[0])}>, {i64s(slice_sizes=[1])}")


def dynamic():
    yield op("stablehlo.dynamic_broadcast_in_dim", [t("f32", "?"), t("index", 2)], t("f32", "?", "?"), i64s(broadcast_dimensions=[1]))
    yield op("stablehlo.dynamic_broadcast_in_dim", [t("f32", 1, 3), t("i64", 3)], t("f32", 2, 3, 2), i64s(broadcast_dimensions=[2, 1], known_expanding_dimensions=[0], known_nonexpanding_dimensions=[1]))
    yield op("stablehlo.dynamic_broadcast_in_dim", [t("f32", 1, 3), t("i32", 2)], t("f32", 2, 3), i64s(broadcast_dimensions=[0, 1], known_nonexpanding_dimensions=[1]))
    yield op("stablehlo.dynamic_gather", [t("f32", 3, 4, 2), t("i64", 2, 3, 2), t("i32", 3)], t("f32", 2, 3, "?", "?"),
             f"dimension_numbers = #stablehlo.gather<{dims(offset_dims=[2, 3], collapsed_slice_dims=[0], start_index_map=[1, 0])}, index_vector_dim = 2>")
    yield op("stablehlo.dynamic_gather", [t("f32", 3, 4, 2), t("i64", 2, 3, 2), t("i64", 3)], t("f32", 2, 3, 2, 2),
             f"dimension_numbers = #stablehlo.gather<{dims(offset_dims=[2, 3], collapsed_slice_dims=[0], start_index_map=[1, 0])}, index_vector_dim = 2>, indices_are_sorted = true")
    for e in ("i32", "i64", "index"):
        yield op("stablehlo.dynamic_iota", [t(e, 2)], t("f32", "?", 4), i64(iota_dimension=1))
        yield op("stablehlo.dynamic_reshape", [t("f32", "?", 3), t(e, 1)], t("f32", "?"))
        yield op("stablehlo.dynamic_pad", [t("f32", "?"), t("f32")] + [t(e, 1)] * 3, t("f32", "?"))
        yield op("stablehlo.real_dynamic_slice", [t("f32", "?")] + [t(e, 1)] * 3, t("f32", "?"))
    conv = "dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64"
    yield op("stablehlo.dynamic_conv", [t("f32", 1, 8, 8, 207), t("f32", 3, 3, 207, 16), t("i64", 2, 2)], t("f32", 1, "?", "?", 16), conv)
    yield op("stablehlo.dynamic_conv", [t("f32", 1, 8, 8, 207), t("f32", 3, 3, 207, 16), t("i32", 2, 2)], t("f32", 1, "?", "?", 16),
             conv + ", window_strides = array<i64: 2, 2>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 2>, window_reversal = array<i1: false, true>, precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision DEFAULT>]")


def contractions():
    precision = ["", "precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]", "precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGH>]", "precision_config = []"]
    algorithm = ("algorithm = #stablehlo.dot_algorithm<lhs_precision_type = {0}, rhs_precision_type = {0}, accumulation_type = f32, lhs_component_count = 1, "
                 "rhs_component_count = 1, num_primitive_operations = {1}, allow_imprecise_accumulation = {2}>")
    mm = "dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>"
    for p in precision:
        yield op("stablehlo.dot_general", [t("f32", 2, 3), t("f32", 3, 4)], t("f32", 2, 4), mm + (", " + p if p else ""))
        yield op("stablehlo.dot", [t("f32", 2, 3), t("f32", 3, 4)], t("f32", 2, 4), p)
        yield op("stablehlo.convolution", [t("f32", 1, 8, 8, 4), t("f32", 3, 3, 4, 16)], t("f32", 1, 6, 6, 16),
                 "dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64" + (", " + p if p else ""))
    for e, n, imprecise in (("tf32", 1, "false"), ("bf16", 3, "false"), ("f8E5M2", 1, "true")):
        yield op("stablehlo.dot_general", [t("f32", 2, 3), t("f32", 3, 4)], t("f32", 2, 4), mm + ", " + precision[1] + ", " + algorithm.format(e, n, imprecise))
        yield op("stablehlo.dot_general", [t("f32", 2, 3), t("f32", 3, 4)], t("f32", 2, 4), mm + ", " + algorithm.format(e, n, imprecise))
    for e in ["i8", "ui4", "f8E4M3FN", "f64", "complex<f32>", "i1"]:
        yield op("stablehlo.dot_general", [t(e, 5, 2, 3), t(e, 5, 3, 4)], t(e, 5, 2, 4), "dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>")
        yield op("stablehlo.dot_general", [t(e, 2), t(e, 3)], t(e, 2, 3), "dot_dimension_numbers = #stablehlo.dot<>")
        yield op("stablehlo.dot", [t(e, 3), t(e, 3)], t(e))
    yield op("stablehlo.dot_general", [t("i8", 2, 3), t("i8", 3, 4)], t("i32", 2, 4), mm)
    yield op("stablehlo.dot_general", [t("!quant.uniform<i8:f32, 2.000000e+00:15>", 2, 3), t("!quant.uniform<i8:f32, 5.000000e-01>", 3, 4)], t("!quant.uniform<i32:f32, 1.000000e+00>", 2, 4), mm)
    yield op("stablehlo.dot_general", [t("f32", 2, 3), t("!quant.uniform<i8:f32:1, {1.000000e-01,2.000000e-01}>", 3, 2)], t("f32", 2, 2), mm)
    windows = ["window_strides = array<i64: 2, 1>", "padding = dense<[[1, 2], [-1, 0]]> : tensor<2x2xi64>", "padding = dense<1> : tensor<2x2xi64>", "lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>", "window_reversal = array<i1: true, false>",
               "window_strides = array<i64: 1, 1>, padding = dense<0> : tensor<2x2xi64>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>"]
    for w in windows:
        yield op("stablehlo.convolution", [t("f32", 2, "?", "?", 4), t("f32", 3, 3, 2, 16)], t("f32", 2, "?", "?", 16),
                 w + ", dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 2 : i64, batch_group_count = 1 : i64")
    yield op("stablehlo.convolution", [t("bf16", 4, 8, 5), t("bf16", 16, 4, 3)], t("bf16", 16, 8, 3), "dimension_numbers = #stablehlo.conv<[f, b, 0]x[o, i, 0]->[f, b, 0]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64")
    yield op("stablehlo.convolution", [t("f32", 4, 8), t("f32", 8, 16)], t("f32", 4, 16), "dimension_numbers = #stablehlo.conv<[b, f]x[i, o]->[b, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64")
    yield op("stablehlo.convolution", [t(QUANT, 1, 8, 8, 4), t("!quant.uniform<i8:f32:3, {1.000000e-01,2.000000e-01}>", 3, 3, 4, 2)], t("!quant.uniform<i32:f32:3, {2.000000e-01,4.000000e-01}>", 1, 6, 6, 2),
             "dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64")
    raw = ("input_batch_dimension = 0, input_feature_dimension = 2, input_spatial_dimensions = [1], kernel_input_feature_dimension = 1, kernel_output_feature_dimension = 2, "
           "kernel_spatial_dimensions = [0], output_feature_dimension = 1, output_spatial_dimensions = [2]")
    yield op("stablehlo.convolution", [t("f32", 2, 8, 4), t("f32", 3, 4, 16)], t("f32", 2, 16, 6),
             f"dimension_numbers = #stablehlo.conv<raw {raw}>, feature_group_count = 1 : i64, batch_group_count = 1 : i64")
    yield op("stablehlo.einsum", [t("f32", 2, 3), t("f32", 3, 4)], t("f32", 2, 4), 'einsum_config = "ab,bc->ac"')
    yield op("stablehlo.unary_einsum", [t("f32", 2, 3)], t("f32", 2), 'einsum_config = "ab->a"')


def reductions():
    reduce_attr = i64s(dimensions=[0])
    for name in "add multiply maximum minimum and or xor".split():
        e = "i32"
        yield op("stablehlo.reduce", [t(e, 4, 3), t(e)], t(e, 3), reduce_attr, f'({{^bb0(%x: {t(e)}, %y: {t(e)}): %s = "stablehlo.{name}"(%x, %y) : ({t(e)}, {t(e)}) -> {t(e)} "stablehlo.return"(%s) : ({t(e)}) -> ()}})')
    yield op("stablehlo.reduce", [t("f32", 4, 3), t("f32")], t("f32"), i64s(dimensions=[0, 1]), SCALAR_SUM)
    yield op("stablehlo.reduce", [t("f32", 4, 3), t("f32")], t("f32", 4, 3), i64s(dimensions=[]), SCALAR_SUM)
    yield op("stablehlo.reduce", [t("f32", 4, "?"), t("f32")], t("f32", "?"), reduce_attr, SCALAR_SUM, extra='foo.note = "kept"')
    yield op("stablehlo.reduce", [t("f32", 4, 3), t("f32")], t("f32", 3), reduce_attr, SCALAR_SUM.replace("(%x, %y)", "(%y, %x)"))
    yield op("stablehlo.reduce", [t("f32", 4), t("f32")], t("f64"), reduce_attr, SCALAR_SUM.replace("f32", "f64"))
    two = ('({^bb0(%a: tensor<f32>, %i: tensor<i32>, %b: tensor<f32>, %j: tensor<i32>): %c = "stablehlo.compare"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1> '
           '%s = "stablehlo.select"(%c, %a, %b) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s, %j) : (tensor<f32>, tensor<i32>) -> ()})')
    yield op("stablehlo.reduce", [t("f32", 4), t("i32", 4), t("f32"), t("i32")], [t("f32"), t("i32")], reduce_attr, two)
    for a in ("", ", window_strides = array<i64: 2, 1>", ", padding = dense<[[1, 1], [0, 0]]> : tensor<2x2xi64>, base_dilations = array<i64: 1, 1>, window_dilations = array<i64: 1, 1>"):
        yield op("stablehlo.reduce_window", [t("f32", "?", "?"), t("f32")], t("f32", "?", "?"), "window_dimensions = array<i64: 2, 2>" + a, SCALAR_SUM)
    yield op("stablehlo.reduce_window", [t("f32", 4), t("i32", 4), t("f32"), t("i32")], [t("f32", 3), t("i32", 3)], "window_dimensions = array<i64: 2>", two)
    yield op("stablehlo.select_and_scatter", [t("f32", 4, 2), t("f32", 2, 2), t("f32")], t("f32", 4, 2), "window_dimensions = array<i64: 3, 1>, window_strides = array<i64: 2, 1>, padding = dense<[[0, 1], [0, 0]]> : tensor<2x2xi64>", f"({SCALAR_GE[1:-1]}, {SCALAR_SUM[1:-1]})")
    yield op("stablehlo.select_and_scatter", [t("f32", 4), t("f32", 4), t("f32")], t("f32", 4), "window_dimensions = array<i64: 1>", f"({SCALAR_GE[1:-1]}, {SCALAR_SUM[1:-1]})")
    scatter = f"scatter_dimension_numbers = #stablehlo.scatter<{dims(update_window_dims=[2, 3], inserted_window_dims=[0], scatter_dims_to_operand_dims=[1, 0])}, index_vector_dim = 2>"
    for flags in ("", ", indices_are_sorted = true, unique_indices = true", ", indices_are_sorted = false, unique_indices = false"):
        yield op("stablehlo.scatter", [t("f32", 3, 4, 2), t("i64", 2, 3, 2), t("f32", 2, 3, 2, 2)], t("f32", 3, 4, 2), scatter + flags, SCALAR_SUM)
    yield op("stablehlo.scatter", [t("f32", 2, 3, 4, 2), t("i64", 2, 2, 3, 2), t("f32", 2, 2, 3, 2, 2)], t("f32", 2, 3, 4, 2),
             f"scatter_dimension_numbers = #stablehlo.scatter<{dims(update_window_dims=[3, 4], inserted_window_dims=[1], input_batching_dims=[0], scatter_indices_batching_dims=[1], scatter_dims_to_operand_dims=[2, 1])}, index_vector_dim = 3>", SCALAR_SUM)
    yield op("stablehlo.scatter", [t("f32", 4), t("i32", 4), t("i32", 2, 1), t("f32", 2), t("i32", 2)], [t("f32", 4), t("i32", 4)],
             f"scatter_dimension_numbers = #stablehlo.scatter<{dims(inserted_window_dims=[0], scatter_dims_to_operand_dims=[0])}, index_vector_dim = 1>", two)
    for a in ("", "dimension = 0 : i64", "dimension = -1 : i64, is_stable = true", "dimension = 1 : i64, is_stable = false"):
        yield op("stablehlo.sort", [t("f32", 4, 3)], t("f32", 4, 3), a, SCALAR_GE)
    yield op("stablehlo.sort", [t("f32", 4), t("i32", 4)], [t("f32", 4), t("i32", 4)], "dimension = 0 : i64", SCALAR_GE.replace("%y: tensor<f32>", "%y: tensor<f32>, %k: tensor<i32>, %l: tensor<i32>"))
    yield op("stablehlo.map", [t("f32", 4, 3)] * 2, t("f32", 4, 3), i64s(dimensions=[0, 1]), SCALAR_SUM)
    yield op("stablehlo.map", [t("f32")] * 2, t("i1"), i64s(dimensions=[]), SCALAR_GE)
    features = "epsilon = 1.000000e-03 : f32, feature_index = 1 : i64"
    for e in ("f32", "bf16"):
        yield op("stablehlo.batch_norm_training", [t(e, 2, 3)] + [t(e, 3)] * 2, [t(e, 2, 3), t(e, 3), t(e, 3)], features)
        yield op("stablehlo.batch_norm_inference", [t(e, 2, 3)] + [t(e, 3)] * 4, t(e, 2, 3), features)
        yield op("stablehlo.batch_norm_grad", [t(e, 2, 3)] + [t(e, 3)] * 3 + [t(e, 2, 3)], [t(e, 2, 3), t(e, 3), t(e, 3)], features)


def control():
    branch, captured = '{"stablehlo.return"(%c0) : (tensor<f32>) -> ()}', [t("f32")]
    yield op("stablehlo.if", [t("i1")], t("f32"), regions=f"({branch}, {branch})", captured=captured)
    yield op("stablehlo.if", [t("i1")], [], regions='({"stablehlo.return"() : () -> ()}, {"stablehlo.return"() : () -> ()})')
    yield op("stablehlo.case", [t("i32")], t("f32"), regions=f"({branch}, {branch}, {branch})", captured=captured)
    yield op("stablehlo.case", [t("i32")], t("f32"), regions=f"({branch})", captured=captured)
    body = '%c = "stablehlo.compare"(%a, %a) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>'
    loop = '({{^bb0({0}): {1} "stablehlo.return"(%c) : (tensor<i1>) -> ()}}, {{^bb0({0}): "stablehlo.return"({2}) : ({3}) -> ()}})'
    yield op("stablehlo.while", [t("i32"), t("f32", 2)], [t("i32"), t("f32", 2)], regions=loop.format("%a: tensor<i32>, %b: tensor<2xf32>", body, "%a, %b", "tensor<i32>, tensor<2xf32>"))
    yield op("stablehlo.while", [t("i32")], [t("i32")], regions=loop.format("%a: tensor<i32>", body, "%a", "tensor<i32>"), extra="foo.bar = 1 : i64")
    yield op("stablehlo.while", [t("i32"), "!stablehlo.token"], [t("i32"), "!stablehlo.token"], regions=loop.format("%a: tensor<i32>, %b: !stablehlo.token", body, "%a, %b", "tensor<i32>, !stablehlo.token"))
    yield "stablehlo.while", 'func.func @main(%p: tensor<i1>) { "stablehlo.while"() ({"stablehlo.return"(%p) : (tensor<i1>) -> ()}, {"stablehlo.return"() : () -> ()}) : () -> () func.return }'
    yield op("stablehlo.optimization_barrier", [t("f32"), "!stablehlo.token", t("i8", "?")], [t("f32"), "!stablehlo.token", t("i8", "?")])
    yield op("stablehlo.optimization_barrier", [], [])
    yield op("stablehlo.optimization_barrier", [t("f32")], [t("f32")])
    yield op("stablehlo.tuple", [t("f32"), "!stablehlo.token"], "tuple<tensor<f32>, !stablehlo.token>")
    yield op("stablehlo.tuple", [], "tuple<>")
    yield op("stablehlo.tuple", ["tuple<tensor<f32>>"], "tuple<tuple<tensor<f32>>>")
    yield op("stablehlo.get_tuple_element", ["tuple<tensor<f32>, tuple<tensor<i8>>>"], "tuple<tensor<i8>>", "index = 1 : i32")
    for a in ("", ", composite_attributes = {n = 1 : i32, s = \"x\"}", ", version = 0 : i32", ", version = 3 : i32, composite_attributes = {}"):
        yield op("stablehlo.composite", [t("f32")] * 2, t("f32"), 'name = "my.op", decomposition = @f' + a, before=SUM_FUNCTION)
    f = 'func.func private @g(%a: tensor<2x3xf32>) -> tensor<2x3xf32> { func.return %a : tensor<2x3xf32> }'
    x = t("f32", 2, 3)
    for a in ("", "has_side_effect = true", "has_side_effect = false", 'backend_config = "text"', "backend_config = {a = 1 : i64, b = \"x\"}, api_version = 4 : i32", "api_version = 1 : i32", "api_version = 2 : i32",
              "called_computations = [@g]", "called_computations = []", "operand_layouts = [dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<[1, 0]> : tensor<2xindex>]",
              "output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]"):
        yield op("stablehlo.custom_call", [x], x, 'call_target_name = "some.target"' + (", " + a if a else ""), before=f)
    yield op("stablehlo.custom_call", [x], x, 'call_target_name = "foo bar"', extra='mhlo.frontend_attributes = {k = "v"}', before=f)
    yield op("stablehlo.custom_call", [], ["!stablehlo.token", "tuple<tensor<f32>>"], 'call_target_name = "t"')
    yield op("stablehlo.custom_call", [t("f32", 2)], ["memref<2xf32>"], 'call_target_name = "Pin"')
    yield op("stablehlo.custom_call", ["memref<2xf32>"], [t("f32", 2)], 'call_target_name = "Unpin"')
    yield op("stablehlo.async_start", [t("f32", 4)], "!stablehlo.future<tensor<8xf32>>", regions='({^bb0(%x: tensor<4xf32>): %g = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<8xf32> "stablehlo.return"(%g) : (tensor<8xf32>) -> ()})')
    yield op("stablehlo.async_start", [t("f32", 4)], "!stablehlo.future<tensor<2xf32>>", regions='({^bb0(%x: tensor<4xf32>): %g = "stablehlo.slice"(%x) <{start_indices = array<i64: 0>, limit_indices = array<i64: 2>, strides = array<i64: 1>}> : (tensor<4xf32>) -> tensor<2xf32> "stablehlo.return"(%g) : (tensor<2xf32>) -> ()})')
    yield op("stablehlo.async_done", ["!stablehlo.future<tensor<8xf32>>"], t("f32", 8))


def host():
    token, channel = "!stablehlo.token", "channel_handle = #stablehlo.channel_handle<handle = 5, type = {}>"
    yield op("stablehlo.after_all", [token, token], token)
    yield op("stablehlo.after_all", [], token)
    yield op("stablehlo.create_token", [], token)
    for a in ("", 'infeed_config = ""', 'infeed_config = "x", layout = [[0, 1], [0]]'):
        yield op("stablehlo.infeed", [token], [t("f32", 2, 3), t("i8", 2), token], a)
    yield op("stablehlo.outfeed", [t("f32", 2), token], token, 'outfeed_config = "x"')
    yield op("stablehlo.outfeed", [token], token)
    pairs = ", source_target_pairs = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>"
    for a in (channel.format(2) + ", is_host_transfer = true", channel.format(1) + ", is_host_transfer = false", channel.format(1), channel.format(1) + pairs):
        yield op("stablehlo.send", [t("f32", 2), token], token, a)
    for a in (channel.format(3) + ", is_host_transfer = true", channel.format(1) + ", is_host_transfer = false", channel.format(1), channel.format(1) + pairs):
        yield op("stablehlo.recv", [token], [t("f32", 2), token], a)


def collectives():
    groups = ["replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>",
              "replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = \"x\">]>",
              "replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = \"x\", size = 2>, #stablehlo.mesh_axis<name = \"y\", size = 4>]>, axes = [#stablehlo.axis_ref<name = \"y\", sub_axis_info = (1)2>]>",
              "replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = \"x\", size = 2>], device_ids = dense<[1, 0]> : tensor<2xi64>>, axes = [#stablehlo.axis_ref<name = \"x\">]>",
              "replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = \"x\", size = 2>, #stablehlo.mesh_axis<name = \"y\", size = 1>]>, axes = [#stablehlo.axis_ref<name = \"x\">, #stablehlo.axis_ref<name = \"y\">]>"]
    channel = ", channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>"
    yield op("stablehlo.partition_id", [], t("ui32"))
    yield op("stablehlo.replica_id", [], t("ui32"))
    for g in groups:
        for c in ("", channel, channel + ", use_global_device_ids"):
            yield op("stablehlo.all_gather", [t("f32", 2, 3)], t("f32", 4, 3), f"all_gather_dim = 0 : i64, {g}{c}", before=MESH)
            yield op("stablehlo.all_reduce", [t("f32", 2, 3)], t("f32", 2, 3), g + c, SCALAR_SUM, before=MESH)
            yield op("stablehlo.reduce_scatter", [t("f32", 4, 3)], t("f32", 2, 3), f"scatter_dimension = 0 : i64, {g}{c}", SCALAR_SUM, before=MESH)
            if "global" not in c:
                yield op("stablehlo.all_to_all", [t("f32", 4, 3)], t("f32", 2, 6), f"{i64(split_dimension=0, concat_dimension=1, split_count=2)}, {g}{c}", before=MESH)
                yield op("stablehlo.collective_broadcast", [t("f32", 4, 3)], t("f32", 4, 3), g + c, before=MESH)
    g = groups[0]
    yield op("stablehlo.all_reduce", [t("f32", 2)], t("f32", 2), "replica_groups = dense<[[0, 1], [2, -1]]> : tensor<2x2xi64>", SCALAR_SUM)
    yield op("stablehlo.all_gather", [t("f32", 2), t("i8", 3)], [t("f32", 4), t("i8", 6)], f"all_gather_dim = 0 : i64, {g}")
    yield op("stablehlo.all_reduce", [t("f32", 2), t("f32", 3)], [t("f32", 2), t("f32", 3)], g, SCALAR_SUM)
    yield op("stablehlo.all_to_all", [t("f32", 4), t("f32", 4)], [t("f32", 4), t("f32", 4)], f"{i64(split_dimension=0, concat_dimension=0, split_count=2)}, {g}")
    for c in ("", channel):
        yield op("stablehlo.collective_permute", [t("f32", 4)], t("f32", 4), "source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>" + c)
    yield op("stablehlo.collective_permute", [t("f32", 4)], t("f32", 4), "source_target_pairs = dense<> : tensor<0x2xi64>")
    yield op("stablehlo.cross-replica-sum", [t("f32", 4)], t("f32", 4), g)
    yield op("stablehlo.collective_broadcast", [t("f32", 4), t("i32", 1)], [t("f32", 4)], g + ", has_dynamic_root")
    yield op("stablehlo.collective_broadcast", [t("f32", 4), t("i8", 3)], [t("f32", 4), t("i8", 3)], g)
    yield op("stablehlo.collective_reduce", [t("f32", 4)], [t("f32", 4)], g, SCALAR_SUM)
    yield op("stablehlo.collective_reduce", [t("f32", 4), t("i32", 1)], [t("f32", 4)], g + ", has_dynamic_root", SCALAR_SUM)


def linear_algebra():
    for e in ("f32", "f64", "complex<f32>", "complex<f64>"):
        for a in ("", "lower = true", "lower = false"):
            yield op("stablehlo.cholesky", [t(e, 2, 3, 3)], t(e, 2, 3, 3), a)
        for tr in ("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"):
            yield op("stablehlo.triangular_solve", [t(e, 3, 3), t(e, 3, 2)], t(e, 3, 2), f"left_side = true, lower = false, unit_diagonal = true, transpose_a = #stablehlo<transpose {tr}>")
    for kind, a, b in (("FFT", "complex<f32>", "complex<f32>"), ("IFFT", "complex<f64>", "complex<f64>")):
        yield op("stablehlo.fft", [t(a, 3, 8)], t(b, 3, 8), f"fft_type = #stablehlo<fft_type {kind}>, {i64s(fft_length=[8])}")
    yield op("stablehlo.fft", [t("f32", 3, 8)], t("complex<f32>", 3, 5), f"fft_type = #stablehlo<fft_type RFFT>, {i64s(fft_length=[3, 8])}")
    yield op("stablehlo.fft", [t("complex<f32>", 3, 5)], t("f32", 3, 8), f"fft_type = #stablehlo<fft_type IRFFT>, {i64s(fft_length=[8])}")
    for d in ("UNIFORM", "NORMAL"):
        yield op("stablehlo.rng", [t("f32")] * 2 + [t("i64", 2)], t("f32", 2, 3), f"rng_distribution = #stablehlo<rng_distribution {d}>")
    yield op("stablehlo.rng", [t("i32")] * 2 + [t("index", 1)], t("i32", "?"), "rng_distribution = #stablehlo<rng_distribution UNIFORM>")
    for algorithm, n in (("DEFAULT", 2), ("THREE_FRY", 2), ("PHILOX", 2), ("PHILOX", 3)):
        yield op("stablehlo.rng_bit_generator", [t("ui64", n)], [t("ui64", n), t("ui32", 2, 2)], f"rng_algorithm = #stablehlo<rng_algorithm {algorithm}>")


def chlo():
    for name in "acos acosh asin asinh atan atanh bessel_i1e conj cosh digamma erf erf_inv erfc lgamma sinh square tan _asin_acos_kernel".split():
        real, both = ("bf16", "f32", "f64"), name not in "bessel_i1e digamma erf erf_inv erfc lgamma".split()
        for e in (() if name[0] == "_" else real) + (("complex<f32>",) if both else ()):
            yield op(f"chlo.{name}", [t(e, 4, "?")], t(e, 4, "?"))
    for name in ("is_inf", "is_neg_inf", "is_pos_inf"):
        yield op(f"chlo.{name}", [t("f32", 4)], t("i1", 4))
    for name in ("next_after", "polygamma", "zeta"):
        for e in ("bf16", "f32"):
            yield op(f"chlo.{name}", [t(e, 4)] * 2, t(e, 4))
    for e in ("i32", "ui64"):
        yield op("chlo.mulhi", [t(e, 4)] * 2, t(e, 4))
    for name in "add atan2 complex divide maximum minimum multiply next_after polygamma power remainder subtract zeta".split():
        result = "complex<f32>" if name == "complex" else "f32"
        yield op(f"chlo.broadcast_{name}", [t("f32", 4, 3), t("f32", 3)], t(result, 4, 3))
        yield op(f"chlo.broadcast_{name}", [t("f32", 4, 3), t("f32", 4)], t(result, 4, 3), i64s(broadcast_dimensions=[0]))
        yield op(f"chlo.broadcast_{name}", [t("f32", "?", "?"), t("f32")], t(result, "?", "?"))
    for name in "and or xor shift_left shift_right_arithmetic shift_right_logical".split():
        yield op(f"chlo.broadcast_{name}", [t("i32", 1, 3), t("i32", 4, 1)], t("i32", 4, 3))
    for a in ("", ", compare_type = #chlo<comparison_type TOTALORDER>", ", broadcast_dimensions = array<i64: 1>, compare_type = #chlo<comparison_type FLOAT>"):
        yield op("chlo.broadcast_compare", [t("f32", 4, 3), t("f32", 3)], t("i1", 4, 3), "comparison_direction = #chlo<comparison_direction GT>" + a)
    yield op("chlo.broadcast_select", [t("i1"), t("f32", 4, 3), t("f32", 3)], t("f32", 4, 3))
    yield "chlo.constant", 'func.func @main() {\n %c = "chlo.constant"() <{value = dense<1.5> : tensor<2xf32>}> : () -> tensor<2xf32>\n func.return\n}'
    yield op("chlo.constant_like", [t("f32", "?")], t("f32", "?"), "value = 1.000000e+00 : f32")
    yield op("chlo.top_k", [t("f32", 4, 16)], [t("f32", 4, 8), t("i32", 4, 8)], "k = 8 : i64")
    yield op("chlo.top_k", [t("bf16", "?")], [t("bf16", 2), t("i32", 2)], "k = 2 : i64")
    ragged = "ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>"
    for p in ("", ", precision_config = [#chlo<precision DEFAULT>, #chlo<precision HIGH>]"):
        yield op("chlo.ragged_dot", [t("f32", 19, 8), t("f32", 3, 8, 5), t("i64", 3)], t("f32", 19, 5), ragged + p)
    scan = '({^bb0(%x: tensor<3xf32>, %c: tensor<3xf32>): %s = "stablehlo.add"(%x, %c) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32> "stablehlo.return"(%s, %s) : (tensor<3xf32>, tensor<3xf32>) -> ()})'
    for a in ("", ", is_reverse = true", ", is_reverse = true, is_associative = true, scan_dim_size = 4 : i64"):
        yield op("chlo.scan", [t("f32", 4, 3), t("f32", 3)], [t("f32", 4, 3), t("f32", 3)], "dimension = 0 : i64, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>" + a, scan)


def sdy():
    x = t("f32", 8, 8)
    sharding = '#sdy.sharding<@mesh, [{}]{}>'
    for body, rest in (('{"x"}, {}', ""), ('{"x", ?}p1, {?}', ""), ('{"y":(1)2}, {"y":(2)2}', ""), ("{}, {}", ', replicated={"x"}'), ("{}, {}", ', unreduced={"x"}'), ('{"z"}, {}', ', replicated={"x"}, unreduced={"y":(1)2}'), ('{?}, {"x", "y"}', "")):
        s = sharding.format(body, rest)
        yield op("sdy.sharding_constraint", [x], x, f"sharding = {s}", before=MESH)
        yield op("sdy.reshard", [x], x, f"sharding = {s}", before=MESH)
        yield op("sdy.data_flow_edge", [x], x, f"sharding = {s}", before=MESH)
        yield op("stablehlo.tanh", [x], x, extra=f"sdy.sharding = #sdy.sharding_per_value<[{s.removeprefix('#sdy.sharding')}]>", before=MESH)
    yield op("sdy.sharding_constraint", [x], x, 'sharding = #sdy.sharding<mesh<["x"=2]>, [{"x"}, {}]>', before=MESH)
    yield op("sdy.sharding_constraint", [x], x, 'sharding = #sdy.sharding<mesh<[], device_ids=[0]>, []>', before=MESH)
    yield op("sdy.data_flow_edge", [x], x, "", before=MESH)
    yield op("sdy.func_data_flow_edge", [x], x, "", before=MESH)
    for mesh in ('<["a"=2, "b"=2]>', '<["a"=2], device_ids=[1, 0]>', "<[]>", "<[], device_ids=[3]>"):
        yield "sdy.mesh", f'"sdy.mesh"() <{{sym_name = "m", mesh = #sdy.mesh{mesh}}}> : () -> ()'
    yield op("sdy.sharding_group", [x], [], i64(group_id=7), before=MESH)
    for d in range(3):
        yield op("sdy.propagation_barrier", [x], x, f"allowed_direction = {d} : i32")
    yield "sdy.constant", 'func.func @main() {\n %c = "sdy.constant"() <{value = dense<1.5> : tensor<2xf32>}> : () -> tensor<2xf32>\n func.return\n}'
    ident = '({{^bb0(%a: {0}): "sdy.return"(%a) : ({0}) -> ()}})'
    yield op("sdy.manual_computation", [x], x, 'in_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>, manual_axes = #sdy<manual_axes{"x"}>', ident.format(t("f32", 4, 8)), before=MESH)
    yield op("sdy.manual_computation", [x], x, 'in_shardings = #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {?}], unreduced={"z"}>]>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}], replicated={"z"}>]>, manual_axes = #sdy<manual_axes{"x", "z"}>', ident.format(t("f32", 4, 8)), before=MESH)
    yield op("sdy.manual_computation", [], [], 'in_shardings = #sdy.sharding_per_value<[]>, out_shardings = #sdy.sharding_per_value<[]>, manual_axes = #sdy<manual_axes{}>', '({"sdy.return"() : () -> ()})')
    yield op("sdy.named_computation", [x], x, 'name = "layer"', ident.format(x), before=MESH)
    yield op("sdy.named_computation", [x], x, 'name = "a b", in_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{}, {?}]>]>', ident.format(x), before=MESH)

    def collective(name, attrs, before, after):
        head = f'%s = "stablehlo.tanh"(%arg0) {{sdy.sharding = #sdy.sharding_per_value<[<@mesh, {before}>]>}} : ({x}) -> {x}'
        return f"sdy.{name}", f'{MESH}\nfunc.func @main(%arg0: {x}) -> {x} {{\n {head}\n %r = "sdy.{name}"(%s) <{{{attrs}{", " if attrs else ""}out_sharding = #sdy.sharding<@mesh, {after}>}}> : ({x}) -> {x}\n func.return %r : {x}\n}}'
    yield collective("all_gather", 'gathering_axes = #sdy<list_of_axis_ref_lists[{"y"}, {}]>', '[{"x", "y"}, {}]', '[{"x"}, {}]')
    yield collective("all_slice", 'slicing_axes = #sdy<list_of_axis_ref_lists[{"y"}, {"z"}]>', '[{"x"}, {}]', '[{"x", "y"}, {"z"}]')
    yield collective("all_to_all", 'params = #sdy<all_to_all_param_list[{"x"}: 0->1]>', '[{"x"}, {}]', '[{}, {"x"}]')
    yield collective("collective_permute", "", '[{"x"}, {}]', '[{"z"}, {}]')
    yield collective("all_reduce", 'reduction_axes = #sdy<axis_ref_list{"y":(1)2}>', '[{"x"}, {}]', '[{"x"}, {}]')
    yield collective("all_reduce", 'reduction_axes = #sdy<axis_ref_list{"y"}>', '[{"x"}, {}], unreduced={"y"}', '[{"x"}, {}]')
    for r in ("sum", "max", "min", "product", "and", "or"):
        yield collective("all_reduce", f'reduction_axes = #sdy<axis_ref_list{{"y"}}>, reduction_op = #sdy.reduction_op<{r}>', '[{"x"}, {}]', '[{"x"}, {}]')
    yield collective("reduce_scatter", 'reduce_scatter_axes = #sdy<list_of_axis_ref_lists[{"y"}, {}]>', '[{"x"}, {}]', '[{"x", "y"}, {}]')
    yield collective("sharded_to_unreduced", 'axes = #sdy<list_of_axis_ref_lists[{"x"}, {}]>', '[{"x"}, {}]', '[{}, {}], unreduced={"x"}')
    yield collective("replicated_to_unreduced", 'axes = #sdy<axis_ref_list{"x"}>', '[{}, {}]', '[{}, {}], unreduced={"x"}')
    for rule in ('([i, j])->([i, j]) {i=8, j=8}', '([ij, k])->([k, ij]) {i=2, j=4, k=8}', '([i, j])->([i, j]) {i=8, j=8} need_replication={j} permutation={i} blocked_propagation={i}', '([i, j])->([j, i]) {i=8, j=8}, custom'):
        yield op("stablehlo.custom_call", [x], x, 'call_target_name = "foo"', extra=f"sdy.sharding_rule = #sdy.op_sharding_rule<{rule}>", before=MESH)


FAMILIES = (elementwise, constants, movement, dynamic, contractions, reductions, control, host, collectives, linear_algebra, chlo, sdy)


def cases():
    for family in FAMILIES:
        yield from family()
