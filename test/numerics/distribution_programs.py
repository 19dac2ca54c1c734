"""One program for each way in which ops are distributed: what distribution.py compiles. Sizes tell the dimensions of a program apart."""
import re

from dialect_cases import SCALAR_GE, SCALAR_SUM, dims, i64, i64s, op, t

SCALAR_MAX = SCALAR_SUM.replace("stablehlo.add", "stablehlo.maximum")
N, M = 4096, 8192


def same(names, element="f32", count=1, result=None, attrs="", dialect="stablehlo"):
    """Ops of one form: {name: program}."""
    return {f"{dialect}.{name}": op(f"{dialect}.{name}", [t(element, N, M)] * count, t(result or element, N, M), attrs)[1] for name in names.split()}


def elementwise():
    yield same("abs cbrt ceil cosine exponential exponential_minus_one floor log log_plus_one logistic negate round_nearest_afz"
               " round_nearest_even rsqrt sign sine sqrt tan tanh")
    yield same("acos acosh asin asinh atan atanh bessel_i1e cosh digamma erf erf_inv erfc lgamma sinh square tan", dialect="chlo")
    yield same("is_inf is_neg_inf is_pos_inf", result="i1", dialect="chlo")
    yield same("_asin_acos_kernel conj", "complex<f32>", dialect="chlo")
    yield same("next_after polygamma zeta", count=2, dialect="chlo")
    yield same("mulhi", "i32", count=2, dialect="chlo")
    yield same("broadcast_add broadcast_atan2 broadcast_divide broadcast_maximum broadcast_minimum broadcast_multiply broadcast_next_after"
               " broadcast_polygamma broadcast_power broadcast_remainder broadcast_subtract broadcast_zeta", count=2, dialect="chlo")
    yield same("broadcast_and broadcast_or broadcast_shift_left broadcast_shift_right_arithmetic broadcast_shift_right_logical broadcast_xor",
               "i32", count=2, dialect="chlo")
    yield same("broadcast_compare", count=2, result="i1", attrs="comparison_direction = #chlo<comparison_direction GT>", dialect="chlo")
    yield same("broadcast_complex", count=2, result="complex<f32>", dialect="chlo")
    yield same("constant_like", attrs="value = 2.5 : f32", dialect="chlo")
    yield same("count_leading_zeros not popcnt", "i32")
    yield same("is_finite", result="i1")
    yield same("real imag", "complex<f32>", result="f32")
    yield same("complex", count=2, result="complex<f32>")
    yield same("add atan2 divide maximum minimum multiply power remainder subtract", count=2)
    yield same("and or xor shift_left shift_right_arithmetic shift_right_logical", "i32", count=2)
    yield same("compare", count=2, result="i1", attrs="comparison_direction = #stablehlo<comparison_direction GT>")
    yield same("convert", result="bf16")
    yield same("reduce_precision", attrs="exponent_bits = 8 : i32, mantissa_bits = 7 : i32")
    yield same("clamp", count=3)
    yield same("optimization_barrier")
    for name, dialect in (("select", "stablehlo"), ("broadcast_select", "chlo")):
        yield {f"{dialect}.{name}": op(f"{dialect}.{name}", [t("i1", N, M)] + [t("f32", N, M)] * 2, t("f32", N, M))[1]}
    yield {"stablehlo.map": op("stablehlo.map", [t("f32", N, M)] * 2, t("f32", N, M), i64s(dimensions=[0, 1]), SCALAR_SUM)[1]}


def program(name, ins, outs, *rest, note="", starts=(), **options):
    """{name: program}; the note says which of several forms. `starts` are constants that come after the arguments: what reductions start with."""
    text = op(name, ins, outs, *rest, **options)[1]
    if starts:
        first, last = text.split("\n  ", 2)[1:]
        names = [f"%arg{len(ins)}" if i == 0 else f"%arg{len(ins) + i}" for i in range(len(starts))]
        first = re.sub(r"\(([^()]*)\)", lambda m: "(" + ", ".join([*filter(None, [m[1]]), *names]) + ")", first, count=1)
        inputs, outputs = first.rsplit(" : (", 1)[1].split(") -> ", 1)
        first = first.rsplit(" : (", 1)[0] + " : (" + ", ".join([*filter(None, [inputs]), *(type for _, type in starts)]) + ") -> " + outputs
        constants = "".join(f"{n} = stablehlo.constant dense<{value}> : {type}\n  " for n, (value, type) in zip(names, starts))
        text = text.split("\n  ", 1)[0] + "\n  " + constants + first + "\n  " + last
    return {f"{name}{note and ' ' + note}": text}


def movement():
    x, r = t("f32", N, M), t("f32", 4, N, M)
    yield program("stablehlo.transpose", [x], t("f32", M, N), i64s(permutation=[1, 0]))
    yield program("stablehlo.broadcast", [x], r, i64s(broadcast_sizes=[4]))
    yield program("stablehlo.broadcast_in_dim", [t("f32", M)], x, i64s(broadcast_dimensions=[1]))
    yield program("stablehlo.iota", [], x, i64(iota_dimension=1))
    yield program("stablehlo.constant", [], x, f"value = dense<1.5> : {x}")
    yield program("chlo.constant", [], x, f"value = dense<1.5> : {x}")
    yield program("stablehlo.reshape", [x], t("f32", N * M), note="(merged)")
    yield program("stablehlo.reshape", [x], t("f32", N, 64, M // 64), note="(split)")
    yield program("stablehlo.bitcast_convert", [x], t("i32", N, M), note="(of one width)")
    yield program("stablehlo.bitcast_convert", [x], t("i8", N, M, 4), note="(to parts)")
    yield program("stablehlo.reverse", [x], x, i64s(dimensions=[0]))
    yield program("stablehlo.concatenate", [t("f32", 2048, M), t("f32", 1024, M)], t("f32", 3072, M), i64(dimension=0))
    yield program("stablehlo.slice", [x], t("f32", N - 64, M), i64s(start_indices=[32, 0], limit_indices=[N - 32, M], strides=[1, 1]), note="(most)")
    yield program("stablehlo.slice", [x], t("f32", N // 8, M), i64s(start_indices=[N // 4, 0], limit_indices=[N // 4 + N // 8, M], strides=[1, 1]), note="(an eighth)")
    yield program("stablehlo.slice", [x], t("f32", N // 2, M), i64s(start_indices=[0, 0], limit_indices=[N, M], strides=[2, 1]), note="(every second)")
    yield program("stablehlo.pad", [x], t("f32", N + 64, M), starts=[ZERO], attrs=i64s(edge_padding_low=[32, 0], edge_padding_high=[32, 0], interior_padding=[0, 0]))
    yield program("stablehlo.dynamic_slice", [x, t("i32"), t("i32")], t("f32", 1, M), i64s(slice_sizes=[1, M]), note="(one row)")
    yield program("stablehlo.dynamic_slice", [x, t("i32"), t("i32")], t("f32", N // 2, M), i64s(slice_sizes=[N // 2, M]), note="(half)")
    yield program("stablehlo.dynamic_update_slice", [x, t("f32", 1, M), t("i32"), t("i32")], x, note="(one row)")
    yield program("stablehlo.dynamic_update_slice", [x, t("f32", N // 2, M), t("i32"), t("i32")], x, note="(half)")
    yield program("stablehlo.gather", [x, t("i32", 1024, 1)], t("f32", 1024, M), f"dimension_numbers = #stablehlo.gather<{dims(offset_dims=[1], collapsed_slice_dims=[0], start_index_map=[0])}, index_vector_dim = 1>, {i64s(slice_sizes=[1, M])}", note="(rows)")
    yield program("stablehlo.gather", [t("f32", 64, N, 64), t("i32", 64, 1024, 1)], t("f32", 64, 1024, 64), f"dimension_numbers = #stablehlo.gather<{dims(offset_dims=[2], collapsed_slice_dims=[1], operand_batching_dims=[0], start_indices_batching_dims=[0], start_index_map=[1])}, index_vector_dim = 2>, {i64s(slice_sizes=[1, 1, 64])}", note="(batched)")
    yield program("stablehlo.gather", [x, t("i32", 8, 1)], t("f32", 8, 16, M), f"dimension_numbers = #stablehlo.gather<{dims(offset_dims=[1, 2], start_index_map=[0])}, index_vector_dim = 1>, {i64s(slice_sizes=[16, M])}", note="(windows)")
    yield program("stablehlo.torch_index_select", [x, t("i32", 1024)], t("f32", 1024, M), i64(dim=0, batch_dims=0))


def contractions():
    a, b = t("f32", 4096, 2048), t("f32", 2048, 1024)
    product = "dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>"
    yield program("stablehlo.dot_general", [a, b], t("f32", 4096, 1024), product)
    yield program("stablehlo.dot_general", [t("f32", 64, 1024, 128), t("f32", 64, 128, 512)], t("f32", 64, 1024, 512), note="(batched)",
                  attrs="dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>")
    yield program("stablehlo.dot", [a, b], t("f32", 4096, 1024))
    yield program("stablehlo.einsum", [a, b], t("f32", 4096, 1024), 'einsum_config = "ab,bc->ac"')
    yield program("stablehlo.unary_einsum", [a], t("f32", 4096), 'einsum_config = "ab->a"')
    numbers = "dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, batch_group_count = 1 : i64"
    yield program("stablehlo.convolution", [t("f32", 64, 4096, 64), t("f32", 5, 64, 128)], t("f32", 64, 4096, 128),
                  f"{numbers}, feature_group_count = 1 : i64, padding = dense<[[2, 2]]> : tensor<1x2xi64>")
    yield program("stablehlo.convolution", [t("f32", 64, 4096, 64), t("f32", 5, 64, 192)], t("f32", 64, 2048, 192),
                  f"{numbers}, feature_group_count = 1 : i64, window_strides = array<i64: 2>, padding = dense<[[2, 1]]> : tensor<1x2xi64>", note="(strided)")
    yield program("stablehlo.convolution", [t("f32", 64, 4096, 64), t("f32", 5, 1, 64)], t("f32", 64, 4096, 64),
                  f"{numbers}, feature_group_count = 64 : i64, padding = dense<[[2, 2]]> : tensor<1x2xi64>", note="(depthwise)")
    ragged = ("ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1],"
              " rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>")
    yield program("chlo.ragged_dot", [a, t("f32", 16, 2048, 1024), t("i64", 16)], t("f32", 4096, 1024), ragged)


ARGMAX = ('({^bb0(%a: tensor<f32>, %i: tensor<i32>, %b: tensor<f32>, %j: tensor<i32>): '
          '%c = "stablehlo.compare"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1> '
          '%s = "stablehlo.select"(%c, %a, %b) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32> '
          '%t = "stablehlo.select"(%c, %i, %j) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32> '
          '"stablehlo.return"(%s, %t) : (tensor<f32>, tensor<i32>) -> ()})')


def reductions():
    x = t("f32", N, M)
    yield program("stablehlo.reduce", [x], t("f32", M), i64s(dimensions=[0]), SCALAR_SUM, starts=[ZERO], note="(sum)")
    yield program("stablehlo.reduce", [x], t("f32"), i64s(dimensions=[0, 1]), SCALAR_MAX, starts=[LOWEST], note="(maximum of all)")
    yield program("stablehlo.reduce", [x, t("i32", N, M)], [t("f32", M), t("i32", M)], i64s(dimensions=[0]), ARGMAX, starts=[LOWEST, ("0", t("i32"))], note="(another region)")
    yield program("stablehlo.reduce", [x, t("i32", N, M)], [t("f32"), t("i32")], i64s(dimensions=[0, 1]), ARGMAX, starts=[LOWEST, ("0", t("i32"))],
                  note="(another region, of all)")
    windows = "window_dimensions = array<i64: 5, 1>, padding = dense<[[2, 2], [0, 0]]> : tensor<2x2xi64>"
    yield program("stablehlo.reduce_window", [x], x, windows, SCALAR_SUM, starts=[ZERO], note="(overlapping)")
    yield program("stablehlo.reduce_window", [x], t("f32", N // 4, M), "window_dimensions = array<i64: 4, 1>, window_strides = array<i64: 4, 1>", SCALAR_MAX, starts=[LOWEST], note="(side by side)")
    yield program("stablehlo.reduce_window", [x], x, f"window_dimensions = array<i64: {N}, 1>, padding = dense<[[{N - 1}, 0], [0, 0]]> : tensor<2x2xi64>", SCALAR_SUM,
                  starts=[ZERO], note="(running)")
    yield program("stablehlo.select_and_scatter", [x, t("f32", N // 4, M)], x, "window_dimensions = array<i64: 4, 1>, window_strides = array<i64: 4, 1>",
                  f"({SCALAR_GE[1:-1]}, {SCALAR_SUM[1:-1]})", starts=[ZERO], note="(side by side)")
    yield program("stablehlo.select_and_scatter", [x, t("f32", N // 2, M)], x, "window_dimensions = array<i64: 3, 1>, window_strides = array<i64: 2, 1>,"
                  " padding = dense<[[1, 0], [0, 0]]> : tensor<2x2xi64>", f"({SCALAR_GE[1:-1]}, {SCALAR_SUM[1:-1]})", starts=[ZERO], note="(overlapping)")
    scatter = f"scatter_dimension_numbers = #stablehlo.scatter<{dims(update_window_dims=[1], inserted_window_dims=[0], scatter_dims_to_operand_dims=[0])}, index_vector_dim = 1>"
    yield program("stablehlo.scatter", [x, t("i32", 1024, 1), t("f32", 1024, M)], x, scatter, SCALAR_SUM, note="(sum)")
    yield program("stablehlo.scatter", [x, t("i32", 1024, 1), t("f32", 1024, M)], x, scatter, SECOND, note="(the last stays)")
    windows = f"scatter_dimension_numbers = #stablehlo.scatter<{dims(update_window_dims=[1, 2], scatter_dims_to_operand_dims=[0])}, index_vector_dim = 1>"
    yield program("stablehlo.scatter", [x, t("i32", 8, 1), t("f32", 8, 16, M)], x, windows, SCALAR_SUM, note="(windows)")
    yield program("stablehlo.sort", [x], x, i64(dimension=0), SCALAR_GE)
    yield program("stablehlo.sort", [t("f32", 16 * N * M)], t("f32", 16 * N * M), i64(dimension=0), SCALAR_GE, note="(of one dimension)")
    yield program("chlo.top_k", [x], [t("f32", N, 8), t("i32", N, 8)], "k = 8 : i64")
    scan = ('({^bb0(%x: tensor<8192xf32>, %c: tensor<8192xf32>): %s = "stablehlo.add"(%x, %c) : (tensor<8192xf32>, tensor<8192xf32>) -> tensor<8192xf32>'
            ' "stablehlo.return"(%s, %s) : (tensor<8192xf32>, tensor<8192xf32>) -> ()})')
    yield program("chlo.scan", [x, t("f32", M)], [x, t("f32", M)], "dimension = 0 : i64, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>", scan)
    features = "epsilon = 1.000000e-03 : f32, feature_index = 1 : i64"
    per, x3 = t("f32", M), t("f32", N, M)
    yield program("stablehlo.batch_norm_training", [x3, per, per], [x3, per, per], features)
    yield program("stablehlo.batch_norm_inference", [x3, per, per, per, per], x3, features)
    yield program("stablehlo.batch_norm_grad", [x3, per, per, per, x3], [x3, per, per], features)


ZERO, LOWEST = ("0.0", t("f32")), ("0xFF800000", t("f32"))
SECOND = '({^bb0(%x: tensor<f32>, %y: tensor<f32>): "stablehlo.return"(%y) : (tensor<f32>) -> ()})'


def linear_algebra():
    yield program("stablehlo.cholesky", [t("f32", 64, 256, 256)], t("f32", 64, 256, 256), "lower = true")
    yield program("stablehlo.triangular_solve", [t("f32", 64, 256, 256), t("f32", 64, 256, 128)], t("f32", 64, 256, 128),
                  "left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>")
    z, fft = t("complex<f32>", N, M), "fft_type = #stablehlo<fft_type {}>, fft_length = array<i64: {}>"
    yield program("stablehlo.fft", [z], z, fft.format("FFT", M))
    yield program("stablehlo.fft", [t("f32", N, M)], t("complex<f32>", N, M // 2 + 1), fft.format("RFFT", M), note="(of reals)")
    yield program("stablehlo.fft", [t("complex<f32>", 16 * N * M)], t("complex<f32>", 16 * N * M), fft.format("FFT", 16 * N * M), note="(of one dimension)")
    yield program("stablehlo.custom_call", [t("f32", 64, 256, 256)], [t("f32", 64, 256, 256), t("f32", 64, 256), t("i32", 64)], CALL, extra=CALL_RULE, note="(with a rule)")
    yield program("stablehlo.custom_call", [t("f32", 64, 256, 256)], [t("f32", 64, 256, 256), t("f32", 64, 256), t("i32", 64)], CALL, note="(without)")
    yield program("stablehlo.rng_bit_generator", [t("ui64", 2)], [t("ui64", 2), t("ui32", N, M)], "rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>")


CALL = ('api_version = 4 : i32, call_target_name = "lapack_ssyevd_ffi", backend_config = {mode = 86 : ui8, uplo = 76 : ui8},'
        ' operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>, dense<0> : tensor<1xindex>]')
CALL_RULE = ('sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m], [i, n], [i]) {i=64, j=256, k=256, l=256, m=256, n=256}, custom>,'
             ' mhlo.frontend_attributes = {num_batch_dims = "1"}')


AS_STATIC = "the same op with its shapes known, which import makes of it"
BODY = "values that its regions take or give have one sharding on both sides; inside, each op as above"
MANUAL = "itself a collective, along axes that are manual; other dimensions pass through"
NOTHING = "no elements to shard"
OTHERS = {
    **dict.fromkeys("dynamic_broadcast_in_dim dynamic_conv dynamic_gather dynamic_iota dynamic_pad dynamic_reshape real_dynamic_slice set_dimension_size".split(), AS_STATIC),
    **dict.fromkeys("while if case async_start async_done composite".split(), BODY),
    **dict.fromkeys("all_gather all_reduce reduce_scatter all_to_all collective_permute collective_broadcast collective_reduce cross-replica-sum send recv".split(), MANUAL),
    **dict.fromkeys("after_all create_token get_dimension_size partition_id replica_id return".split(), NOTHING),
    **dict.fromkeys("tuple get_tuple_element".split(), "parts are values of their own"),
    **dict.fromkeys("uniform_quantize uniform_dequantize".split(), "every dimension passes through; quantized values travel as their integers"),
    **dict.fromkeys("infeed outfeed".split(), "not compiled"),
    "rng": "as rng_bit_generator: every device draws all of it and keeps its part",
}


def all_programs():
    """(names of ops that are alike, a program): those of one form and one rule stand together."""
    for family in (elementwise, movement, contractions, reductions, linear_algebra):
        for found in family():
            if isinstance(found, tuple):
                yield found
                continue
            names = list(found)
            yield ", ".join(names), found[names[0]]
