"""Each constraint of the StableHLO specification, broken by itself: tessera-opt must refuse the program and name the constraint.

Valid programs of every operation are `dialect_cases.py`'s. `--table` prints which constraint of which operation is checked where.
"""
import argparse
import os
import re
import subprocess
import sys

from dialect_cases import MESH, PER_AXIS, QUANT, SCALAR_GE, SCALAR_SUM, SUM_FUNCTION, dims, i64, i64s, op, t

# How many constraints the specification numbers for each operation.
COUNTS = dict(
    abs=2, add=7, all_gather=6, all_reduce=7, all_to_all=9, async_done=1, async_start=4, atan2=1, batch_norm_grad=5, batch_norm_inference=7,
    batch_norm_training=7, bitcast_convert=2, broadcast_in_dim=6, case=4, cbrt=1, ceil=1, cholesky=3, clamp=4, collective_broadcast=6,
    collective_permute=5, collective_reduce=4, compare=3, complex=3, composite=4, concatenate=6, constant=1, convert=1, convolution=34, cosine=1,
    count_leading_zeros=1, divide=1, dot_general=24, dynamic_broadcast_in_dim=10, dynamic_conv=34, dynamic_gather=14, dynamic_iota=2, dynamic_pad=4,
    dynamic_reshape=4, dynamic_slice=5, dynamic_update_slice=6, exponential=1, exponential_minus_one=1, fft=5, floor=1, gather=23,
    get_dimension_size=1, get_tuple_element=2, imag=2, infeed=3, iota=1, is_finite=1, log=1, log_plus_one=1, logistic=1, map=4, maximum=1,
    minimum=1, multiply=1, negate=1, optimization_barrier=1, pad=4, popcnt=1, power=1, real=2, recv=5, reduce=8, reduce_precision=3,
    reduce_scatter=9, reduce_window=16, remainder=1, reshape=3, reverse=3, rng=3, rng_bit_generator=2, round_nearest_afz=1, round_nearest_even=1,
    rsqrt=1, scatter=25, select=2, select_and_scatter=12, send=5, shift_left=1, shift_right_arithmetic=1, shift_right_logical=1, sign=1, sine=1,
    slice=5, sort=5, sqrt=1, subtract=1, tan=1, tanh=1, transpose=4, triangular_solve=4, tuple=1, uniform_dequantize=2, uniform_quantize=2, xor=1)
COUNTS |= {"and": 1, "or": 1, "not": 1, "if": 3, "while": 3}

# Constraints that nothing can break by itself: why.
IMPLIED = {
    ("add", 2): "C1 (one type)", ("add", 3): "C1 (one type)", ("add", 4): "C1 (one type)",
    ("reduce_window", 14): "C15 gives every result the same shape",
}

F, F2, F3, I = t("f32"), t("f32", 2), t("f32", 3), t("i32")
GROUPS = "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>"


def summing(element, second=None):
    """A computation that adds, in other elements."""
    a, b = t(element), t(second or element)
    return f'({{^bb0(%x: {a}, %y: {b}): "stablehlo.return"(%x) : ({a}) -> ()}})'


def elementwise():
    for name in ("atan2 cbrt ceil cosine divide exponential exponential_minus_one floor log log_plus_one logistic maximum minimum multiply negate power remainder "
                 "round_nearest_afz round_nearest_even rsqrt sign sine sqrt subtract tan tanh").split():
        operands = 2 if name in "atan2 divide maximum minimum multiply power remainder subtract".split() else 1
        yield 1, op(f"stablehlo.{name}", [F2] * operands, F3)
    for name in "and or not xor popcnt count_leading_zeros shift_left shift_right_arithmetic shift_right_logical".split():
        yield 1, op(f"stablehlo.{name}", [t("i8", 2)] * (1 if name in ("not", "popcnt", "count_leading_zeros") else 2), t("i16", 2))
    yield 1, op("stablehlo.add", [F2, F3], F2)
    plain = t(QUANT, 2, 3)
    axis0 = "!quant.uniform<i8:f32:0, {1.000000e-01,2.000000e-01}>"
    yield 5, op("stablehlo.add", [plain, t(PER_AXIS, 2, 3)], plain)
    yield 6, op("stablehlo.add", [t(PER_AXIS, 2, 3), plain], t(axis0, 2, 3))
    yield 7, op("stablehlo.add", [plain, t(PER_AXIS, 2, 3)], t(axis0, 2, 3))
    for name in ("abs", "real", "imag"):
        yield 1, op(f"stablehlo.{name}", [t("complex<f32>", 2)], F3)
        yield 2, op(f"stablehlo.{name}", [t("complex<f32>", 2)], t("f64", 2))
    yield 1, op("stablehlo.complex", [F2, t("f64", 2)], t("complex<f32>", 2))
    yield 2, op("stablehlo.complex", [F2, F2], t("complex<f32>", 3))
    yield 3, op("stablehlo.complex", [F2, F2], t("complex<f64>", 2))
    lt = "comparison_direction = #stablehlo<comparison_direction LT>"
    yield 1, op("stablehlo.compare", [F2, t("f64", 2)], t("i1", 2), lt)
    yield 2, op("stablehlo.compare", [F2, F2], t("i1", 3), lt)
    yield 3, op("stablehlo.compare", [F2, F2], t("i1", 2), lt + ", compare_type = #stablehlo<comparison_type SIGNED>")
    yield 1, op("stablehlo.convert", [F2], t("i8", 3))
    yield 1, op("stablehlo.is_finite", [F2], t("i1", 3))
    yield 1, op("stablehlo.select", [t("i1", 3), F2, F2], F2)
    yield 2, op("stablehlo.select", [t("i1"), F2, F3], F2)
    yield 1, op("stablehlo.clamp", [F3, F2, F], F2)
    yield 2, op("stablehlo.clamp", [F, F2, F3], F2)
    yield 3, op("stablehlo.clamp", [t("f64"), F2, F], F2)
    yield 4, op("stablehlo.clamp", [F, F2, F], F3)
    yield 1, op("stablehlo.bitcast_convert", [F2], t("i8", 2, 2))
    yield 2, op("stablehlo.bitcast_convert", [t("complex<f32>", 2)], t("f64", 2))
    for n, e, m in ((2, 0, 7), (3, 8, -1)):
        yield n, op("stablehlo.reduce_precision", [F2], F2, f"exponent_bits = {e} : i32, mantissa_bits = {m} : i32")
    yield 1, op("stablehlo.reduce_precision", [F2], F3, "exponent_bits = 8 : i32, mantissa_bits = 7 : i32")
    for name, a, b, c in (("uniform_quantize", F2, t(QUANT, 3), t("!quant.uniform<i8:f16, 1.000000e+00>", 2)), ("uniform_dequantize", t(QUANT, 2), F3, t("f16", 2))):
        yield 1, op(f"stablehlo.{name}", [a], b)
        yield 2, op(f"stablehlo.{name}", [a], c)


def movement():
    x = t("f32", 2, 3)
    yield 1, ("stablehlo.constant", 'func.func @main() {\n %c = "stablehlo.constant"() <{value = dense<1> : tensor<2xi8>}> : () -> tensor<3xi8>\n func.return\n}')
    yield 1, op("stablehlo.iota", [], x, i64(iota_dimension=2))
    for name, more in (("broadcast_in_dim", []), ("dynamic_broadcast_in_dim", [t("i32", 2)])):
        full = "stablehlo." + name
        yield 1, op(full, [F3] + more, t("f64", 2, 3), i64s(broadcast_dimensions=[1]))
        yield 2, op(full, [F3] + more, x, i64s(broadcast_dimensions=[0, 1]))
        yield 3, op(full, [F3] + more, x, i64s(broadcast_dimensions=[2]))
        yield 4, op(full, [x] + more, x, i64s(broadcast_dimensions=[1, 1]))
        yield 5, op(full, [F2] + more, x, i64s(broadcast_dimensions=[1]))
        yield 6, op(full, [t(PER_AXIS, 1, 3)] + more, t(PER_AXIS, 3, 3), i64s(broadcast_dimensions=[1, 0]))
    yield 7, op("stablehlo.dynamic_broadcast_in_dim", [F3, t("i32", 3)], x, i64s(broadcast_dimensions=[1]))
    for n, a, b in ((8, [0], [0]), (9, [1], []), (10, [], [1])):
        yield n, op("stablehlo.dynamic_broadcast_in_dim", [F3, t("i32", 2)], x, i64s(broadcast_dimensions=[1], known_expanding_dimensions=a, known_nonexpanding_dimensions=b))
    yield 1, op("stablehlo.concatenate", [F2, t("f64", 2)], t("f32", 4), i64(dimension=0))
    yield 2, op("stablehlo.concatenate", [x, t("f32", 3, 3)], t("f32", 2, 6), i64(dimension=1))
    yield 3, op("stablehlo.concatenate", [], F2, i64(dimension=0))
    yield 4, op("stablehlo.concatenate", [F2], F2, i64(dimension=1))
    yield 5, op("stablehlo.concatenate", [F2], t("f64", 2), i64(dimension=0))
    yield 6, op("stablehlo.concatenate", [F2], F3, i64(dimension=0))
    starts = [I, I]
    yield 1, op("stablehlo.dynamic_slice", [x] + starts, t("f64", 1, 2), i64s(slice_sizes=[1, 2]))
    yield 2, op("stablehlo.dynamic_slice", [x, I], t("f32", 1, 2), i64s(slice_sizes=[1, 2]))
    yield 3, op("stablehlo.dynamic_slice", [x, I, t("i64")], t("f32", 1, 2), i64s(slice_sizes=[1, 2]))
    yield 4, op("stablehlo.dynamic_slice", [x] + starts, t("f32", 3, 2), i64s(slice_sizes=[3, 2]))
    yield 5, op("stablehlo.dynamic_slice", [x] + starts, t("f32", 1, 1), i64s(slice_sizes=[1, 2]))
    yield 1, op("stablehlo.dynamic_update_slice", [x, x] + starts, t("f32", 2, 2))
    yield 2, op("stablehlo.dynamic_update_slice", [x, t("f64", 1, 1)] + starts, x)
    yield 3, op("stablehlo.dynamic_update_slice", [x, F2] + starts, x)
    yield 4, op("stablehlo.dynamic_update_slice", [x, x, I], x)
    yield 5, op("stablehlo.dynamic_update_slice", [x, x, I, t("i64")], x)
    yield 6, op("stablehlo.dynamic_update_slice", [x, t("f32", 3, 3)] + starts, x)
    yield 1, op("stablehlo.get_dimension_size", [x], I, i64(dimension=2))
    pad = lambda low, high, inside: i64s(edge_padding_low=low, edge_padding_high=high, interior_padding=inside)
    yield 1, op("stablehlo.pad", [F2, t("f64")], F2, pad([0], [0], [0]))
    yield 2, op("stablehlo.pad", [F2, F], F2, pad([0], [0, 0], [0]))
    yield 3, op("stablehlo.pad", [F2, F], t("f32", 1), pad([0], [0], [-1]))
    yield 4, op("stablehlo.pad", [F2, F], F2, pad([1], [0], [0]))
    yield 1, op("stablehlo.reshape", [F2], t("f64", 2))
    yield 2, op("stablehlo.reshape", [F2], F3)
    yield 3, op("stablehlo.reshape", [t(PER_AXIS, 2, 3)], t(PER_AXIS, 1, 3, 2))
    yield 1, op("stablehlo.reverse", [F2], F3, i64s(dimensions=[0]))
    yield 2, op("stablehlo.reverse", [x], x, i64s(dimensions=[0, 0]))
    yield 3, op("stablehlo.reverse", [x], x, i64s(dimensions=[2]))
    cut = lambda start, limit, strides: i64s(start_indices=start, limit_indices=limit, strides=strides)
    yield 1, op("stablehlo.slice", [F2], t("f64", 2), cut([0], [2], [1]))
    yield 2, op("stablehlo.slice", [F2], F2, cut([0], [2], [1, 1]))
    yield 3, op("stablehlo.slice", [F2], F3, cut([0], [3], [1]))
    yield 4, op("stablehlo.slice", [F2], F2, cut([0], [2], [0]))
    yield 5, op("stablehlo.slice", [F2], F2, cut([0], [2], [2]))
    yield 1, op("stablehlo.transpose", [x], t("f64", 3, 2), i64s(permutation=[1, 0]))
    yield 2, op("stablehlo.transpose", [x], t("f32", 3, 3), i64s(permutation=[1, 1]))
    yield 3, op("stablehlo.transpose", [x], x, i64s(permutation=[1, 0]))
    yield 4, op("stablehlo.transpose", [t(PER_AXIS, 3, 3)], t(PER_AXIS, 3, 3), i64s(permutation=[1, 0]))
    yield 1, op("stablehlo.dynamic_iota", [t("i32", 2)], t("f32", "?", "?"), i64(iota_dimension=2))
    yield 2, op("stablehlo.dynamic_iota", [t("i32", 3)], t("f32", "?", "?"), i64(iota_dimension=1))
    amounts = [t("i32", 1)] * 3
    yield 1, op("stablehlo.dynamic_pad", [F2, t("f64")] + amounts, t("f32", "?"))
    yield 2, op("stablehlo.dynamic_pad", [F2, F] + [t("i32", 2)] + amounts[1:], t("f32", "?"))
    fixed = '{0}\nfunc.func @main(%x: tensor<2xf32>, %z: tensor<f32>) {{\n %a = stablehlo.constant dense<1> : tensor<1xi32>\n %b = stablehlo.constant dense<{1}> : tensor<1xi32>\n %r = "stablehlo.dynamic_pad"(%x, %z, %a, %a, %b) : (tensor<2xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<{2}xf32>\n func.return\n}}'
    yield 3, ("stablehlo.dynamic_pad", fixed.format("", -1, "?"))
    yield 4, ("stablehlo.dynamic_pad", fixed.format("", 0, 5))
    yield 1, op("stablehlo.dynamic_reshape", [F2, t("i32", 1)], t("f64", 2))
    yield 2, op("stablehlo.dynamic_reshape", [F2, t("i32", 1)], F3)
    yield 3, op("stablehlo.dynamic_reshape", [t(PER_AXIS, 2, 3), t("i32", 2)], t(QUANT, 2, 3))
    yield 4, op("stablehlo.dynamic_reshape", [F2, t("i32", 2)], t("f32", "?"))


def gathers():
    operand, indices, result = t("f32", 3, 4, 2), t("i64", 2, 3, 2), t("f32", 2, 3, 2, 2)
    good = dict(offset_dims=[2, 3], collapsed_slice_dims=[0], start_index_map=[1, 0])

    def gather(operand=operand, indices=indices, result=result, vector=2, sizes=(1, 2, 2), **changes):
        d = good | changes
        text = ", ".join(filter(None, (dims(**d), f"index_vector_dim = {vector}")))
        return op("stablehlo.gather", [operand, indices], result, f"dimension_numbers = #stablehlo.gather<{text}>, {i64s(slice_sizes=sizes)}")

    def dynamic(operand=operand, indices=indices, result=result, vector=2, sizes=t("i64", 3), values=None, **changes):
        d = good | changes
        attr = f"dimension_numbers = #stablehlo.gather<{dims(**d)}, index_vector_dim = {vector}>"
        if values is None:
            return op("stablehlo.dynamic_gather", [operand, indices, sizes], result, attr)
        return "stablehlo.dynamic_gather", (f'func.func @main(%x: {operand}, %i: {indices}) {{\n %s = stablehlo.constant dense<{values}> : tensor<3xi64>\n %r = "stablehlo.dynamic_gather"(%x, %i, %s) <{{{attr}}}> : '
                                            f'({operand}, {indices}, tensor<3xi64>) -> {result}\n func.return\n}}')
    batched = dict(operand=t("f32", 2, 4, 2), indices=t("i64", 2, 3, 1), offset_dims=[2, 3], collapsed_slice_dims=[], start_index_map=[1], operand_batching_dims=[0], start_indices_batching_dims=[0])
    yield 1, gather(offset_dims=[2])
    yield 2, gather(vector=4)
    yield 3, gather(start_index_map=[1])
    yield 4, gather(offset_dims=[3, 2])
    yield 5, gather(offset_dims=[2, 4])
    yield 6, gather(operand=t("f32", 3, 4, 2, 2), collapsed_slice_dims=[0, 0], sizes=(1, 2, 2, 2))
    yield 7, gather(operand=t("f32", 3, 4, 2, 2), collapsed_slice_dims=[1, 0], sizes=(1, 1, 2, 2))
    yield 8, gather(collapsed_slice_dims=[3])
    yield 9, gather(sizes=(2, 2, 2))
    yield 10, gather(operand=t("f32", 2, 2, 4, 2), indices=t("i64", 2, 2, 1), result=t("f32", 2, 2, 2, 2), start_index_map=[2], collapsed_slice_dims=[], operand_batching_dims=[1, 0], start_indices_batching_dims=[0, 1], sizes=(1, 1, 2, 2))
    yield 11, gather(**batched | dict(operand_batching_dims=[3]))
    yield 12, gather(**batched | dict(sizes=(2, 2, 2)))
    yield 13, gather(operand=t("f32", 2, 2, 4, 2), indices=t("i64", 2, 2, 1), result=t("f32", 2, 2, 2, 2), start_index_map=[2], collapsed_slice_dims=[], operand_batching_dims=[0, 1], start_indices_batching_dims=[0, 0], sizes=(1, 1, 2, 2))
    yield 14, gather(**batched | dict(start_indices_batching_dims=[3]))
    yield 15, gather(**batched | dict(start_indices_batching_dims=[2]))
    yield 16, gather(**batched | dict(start_indices_batching_dims=[0, 1]))
    yield 17, gather(**batched | dict(start_indices_batching_dims=[1]))
    yield 18, gather(start_index_map=[1, 1])
    yield 19, gather(start_index_map=[1, 3])
    yield 20, gather(sizes=(1, 2))
    yield 21, gather(sizes=(1, 5, 2))
    yield 22, gather(result=t("f32", 2, 3, 2, 1))
    yield 23, gather(result=t("f64", 2, 3, 2, 2))
    yield 1, dynamic(offset_dims=[2])
    yield 2, dynamic(vector=4)
    yield 3, dynamic(start_index_map=[1])
    yield 4, dynamic(offset_dims=[3, 2])
    yield 5, dynamic(offset_dims=[2, 4])
    yield 6, dynamic(operand=t("f32", 3, 4, 2, 2), collapsed_slice_dims=[1, 0], sizes=t("i64", 4))
    yield 7, dynamic(collapsed_slice_dims=[3])
    yield 8, dynamic(values=[2, 2, 2])
    yield 9, dynamic(start_index_map=[1, 1])
    yield 10, dynamic(start_index_map=[1, 3])
    yield 11, dynamic(sizes=t("i64", 2))
    yield 12, dynamic(values=[1, 5, 2])
    yield 13, dynamic(values=[1, 2, 1])
    yield 14, dynamic(result=t("f64", 2, 3, 2, 2))


def scatters():
    good = dict(update_window_dims=[2, 3], inserted_window_dims=[0], scatter_dims_to_operand_dims=[1, 0])

    def scatter(inputs=(t("f32", 3, 4, 2),), indices=t("i64", 2, 3, 2), updates=(t("f32", 2, 3, 2, 2),), results=None, vector=2, body=SCALAR_SUM, **changes):
        text = ", ".join(filter(None, (dims(**good | changes), f"index_vector_dim = {vector}")))
        return op("stablehlo.scatter", [*inputs, indices, *updates], inputs if results is None else results, f"scatter_dimension_numbers = #stablehlo.scatter<{text}>", body)
    batched = dict(inputs=(t("f32", 2, 4, 2),), indices=t("i64", 2, 3, 1), inserted_window_dims=[], scatter_dims_to_operand_dims=[1], input_batching_dims=[0], scatter_indices_batching_dims=[0])
    four = dict(inputs=(t("f32", 2, 2, 4, 2),), indices=t("i64", 2, 2, 1), updates=(t("f32", 2, 2, 2, 2),), inserted_window_dims=[], scatter_dims_to_operand_dims=[2])
    yield 1, scatter(inputs=(t("f32", 3, 4, 2), t("f32", 3, 4, 3)), updates=(t("f32", 2, 3, 2, 2),) * 2)
    yield 2, scatter(update_window_dims=[2])
    yield 3, scatter(inputs=(t("f32", 3, 4, 2),) * 2, updates=(t("f32", 2, 3, 2, 2), t("f32", 2, 3, 2, 1)))
    yield 4, scatter(updates=(t("f32", 2, 2, 2, 2),))
    yield 5, scatter(inputs=(), updates=(), results=())
    yield 6, scatter(updates=(t("f64", 2, 3, 2, 2),))
    yield 7, scatter(update_window_dims=[3, 2])
    yield 8, scatter(update_window_dims=[2, 4])
    yield 9, scatter(inputs=(t("f32", 3, 4, 2, 2),), inserted_window_dims=[0, 0])
    yield 10, scatter(inputs=(t("f32", 3, 4, 2, 2),), inserted_window_dims=[1, 0])
    yield 11, scatter(inserted_window_dims=[3])
    yield 12, scatter(**four, input_batching_dims=[1, 0], scatter_indices_batching_dims=[0, 1])
    yield 13, scatter(**batched | dict(input_batching_dims=[3]))
    yield 14, scatter(**four, input_batching_dims=[0, 1], scatter_indices_batching_dims=[0, 0])
    yield 15, scatter(**batched | dict(scatter_indices_batching_dims=[3]))
    yield 16, scatter(**batched | dict(scatter_indices_batching_dims=[2]))
    yield 17, scatter(**batched | dict(scatter_indices_batching_dims=[0, 1]))
    yield 18, scatter(**batched | dict(scatter_indices_batching_dims=[1]))
    yield 19, scatter(scatter_dims_to_operand_dims=[1])
    yield 20, scatter(scatter_dims_to_operand_dims=[1, 1])
    yield 21, scatter(scatter_dims_to_operand_dims=[1, 3])
    yield 22, scatter(vector=4)
    yield 23, scatter(body=summing("i32"))
    yield 24, scatter(results=(t("f32", 3, 4, 3),))
    yield 25, scatter(results=(t("f64", 3, 4, 2),))


def contractions():
    a, b, r = t("f32", 2, 3), t("f32", 3, 4), t("f32", 2, 4)

    def dot(lhs=a, rhs=b, result=r, more="", **changes):
        d = dict(lhs_contracting_dimensions=[1], rhs_contracting_dimensions=[0]) | changes
        return op("stablehlo.dot_general", [lhs, rhs], result, f"dot_dimension_numbers = #stablehlo.dot<{dims(**d)}>" + more)
    three = dict(lhs=t("f32", 5, 2, 3), rhs=t("f32", 5, 3, 4), result=t("f32", 5, 2, 4), lhs_batching_dimensions=[0], rhs_batching_dimensions=[0], lhs_contracting_dimensions=[2], rhs_contracting_dimensions=[1])
    yield 1, dot(**three | dict(rhs_batching_dimensions=[]))
    yield 2, dot(rhs_contracting_dimensions=[0, 1])
    yield 3, dot(**three | dict(lhs_contracting_dimensions=[0]))
    yield 4, dot(**three | dict(rhs_contracting_dimensions=[0]))
    yield 5, dot(**three | dict(lhs_batching_dimensions=[3]))
    yield 6, dot(lhs_contracting_dimensions=[2])
    yield 7, dot(**three | dict(rhs_batching_dimensions=[3]))
    yield 8, dot(rhs_contracting_dimensions=[2])
    yield 9, dot(**three | dict(lhs=t("f32", 4, 2, 3)))
    yield 10, dot(lhs=t("f32", 2, 4))
    yield 11, dot(more=", precision_config = [#stablehlo<precision DEFAULT>]")
    yield 12, dot(result=t("f32", 2, 5))
    yield 13, dot(rhs=t("complex<f32>", 3, 4))
    q = lambda storage="i8", expressed="f32", scale="1.000000e+00", zero="", axis="": f"!quant.uniform<{storage}:{expressed}{axis}, {scale}{zero}>"
    yield 14, dot(t(q(), 2, 3), t(q(), 3, 4), r)
    yield 15, dot(t(q(), 2, 3), t(q(zero=":3"), 3, 4), t(q("i32"), 2, 4))
    yield 16, dot(t("f32", 2, 2), t(q(scale="{1.000000e+00,2.000000e+00}", axis=":0"), 2, 4), r)
    yield 17, dot(t(q(), 2, 3), t(q("i4"), 3, 4), t(q("i32"), 2, 4))
    yield 18, dot(t(q(), 2, 3), t(q(expressed="f16"), 3, 4), t(q("i32"), 2, 4))
    yield 19, dot(t(q(), 2, 3), t(q(), 3, 2), t(q("i32", scale="{1.000000e+00,2.000000e+00}", axis=":1"), 2, 2))
    yield 20, dot(t("f16", 2, 3), t(q(), 3, 4), t("f16", 2, 4))
    algorithm = (", algorithm = #stablehlo.dot_algorithm<lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = {}, rhs_component_count = {}, "
                 "num_primitive_operations = {}, allow_imprecise_accumulation = false>")
    yield 21, dot(more=algorithm.format(1, 1, 1) + ", precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision DEFAULT>]")
    for n, counts in ((22, (0, 1, 1)), (23, (1, 0, 1)), (24, (1, 1, 0))):
        yield n, dot(more=algorithm.format(*counts))

    def conv(name, lhs=t("f32", 1, 8, 8, 4), rhs=t("f32", 3, 3, 4, 16), result=t("f32", 1, 6, 6, 16), more="", roles="[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]", groups=1, batches=1, padding=t("i64", 2, 2)):
        attr = f"dimension_numbers = #stablehlo.conv<{roles}>, feature_group_count = {groups} : i64, batch_group_count = {batches} : i64" + more
        return op(f"stablehlo.{name}", [lhs, rhs] + ([padding] if name == "dynamic_conv" else []), result, attr)
    for name in ("convolution", "dynamic_conv"):
        yield 1, conv(name, rhs=t("f32", 3, 4, 16))
        for n, attr in ((2, "window_strides = array<i64: 1>"), (3, "window_strides = array<i64: 1, 0>"), (5, "lhs_dilation = array<i64: 1>"), (6, "lhs_dilation = array<i64: 0, 1>"),
                        (7, "rhs_dilation = array<i64: 1>"), (8, "rhs_dilation = array<i64: 1, -1>"), (9, "window_reversal = array<i1: true>")):
            yield n, conv(name, more=", " + attr)
        yield 4, conv(name, padding=t("i64", 2, 1)) if name == "dynamic_conv" else conv(name, more=", padding = dense<0> : tensor<2x1xi64>")
        yield 10, conv(name, lhs=t("f32", 3, 8, 8, 4), batches=2)
        yield 11, conv(name, groups=3)
        yield 12, conv(name, roles="[b, 0, f]x[0, 1, i, o]->[b, 0, 1, f]")
        yield 13, conv(name, roles="[b, 0, ?, 1, f]x[0, 1, i, o]->[b, 0, 1, f]")
        yield 14, conv(name, rhs=t("f32", 3, 3, 5, 16))
        yield 15, conv(name, lhs=t("f32", 2, 8, 8, 4), rhs=t("f32", 3, 3, 4, 15), batches=2)
        yield 16, conv(name, rhs=t("f32", 3, 3, 2, 15), groups=2)
        yield 17, conv(name, roles="[b, 0, 1, f]x[0, i, o]->[b, 0, 1, f]")
        yield 18, conv(name, roles="[b, 0, 1, f]x[0, 1, ?, i, o]->[b, 0, 1, f]")
        yield 19, conv(name, roles="[b, 0, 1, f]x[0, 1, i, o]->[b, 0, f]")
        yield 20, conv(name, roles="[b, 0, 1, f]x[0, 1, i, o]->[b, 0, ?, 1, f]")
        yield 21, conv(name, groups=0)
        yield 22, conv(name, batches=0)
        yield 23, conv(name, lhs=t("f32", 2, 8, 8, 4), rhs=t("f32", 3, 3, 2, 16), groups=2, batches=2)
        yield 24, conv(name, more=", precision_config = [#stablehlo<precision DEFAULT>]")
        yield 25, conv(name, result=t("f32", 2, 6, 6, 16))
        yield 26, conv(name, result=t("f32", 1, 6, 16))
        yield 27, conv(name, rhs=t("i8", 3, 3, 4, 16))
        lhs, rhs, out = (lambda e: t(e, 1, 8, 8, 4)), (lambda e: t(e, 3, 3, 4, 2)), (lambda e: t(e, 1, 6, 6, 2))
        two = "{1.000000e+00,2.000000e+00}"
        yield 28, conv(name, lhs(q()), rhs(q()), out("f32"))
        yield 29, conv(name, lhs("f32"), t(q(scale="{1.000000e+00,2.000000e+00,3.000000e+00}", axis=":0"), 3, 3, 4, 2), out("f32"))
        yield 30, conv(name, lhs(q()), rhs(q(scale=two, axis=":3")), t(q("i32", scale="{1.000000e+00}", axis=":0"), 1, 6, 6, 2))
        yield 31, conv(name, lhs(q()), rhs(q("i4")), out(q("i32")))
        yield 32, conv(name, lhs(q()), rhs(q(expressed="f16")), out(q("i32")))
        yield 33, conv(name, lhs(q()), rhs(q()), out(q("i32", scale=two, axis=":3")))
        yield 34, conv(name, lhs("f16"), rhs(q()), out("f16"))


def reductions():
    x, one = t("f32", 4, 3), i64s(dimensions=[0])
    yield 1, op("stablehlo.reduce", [x, t("f32", 4, 2), F, F], [F3, F3], one, SCALAR_SUM)
    yield 2, op("stablehlo.reduce", [x, I], F3, one, SCALAR_SUM)
    yield 3, op("stablehlo.reduce", [x, F], [F3, F3], one, SCALAR_SUM)
    yield 4, op("stablehlo.reduce", [x, F], F3, i64s(dimensions=[2]), SCALAR_SUM)
    yield 5, op("stablehlo.reduce", [x, F], F3, i64s(dimensions=[0, 0]), SCALAR_SUM)
    yield 6, op("stablehlo.reduce", [x, F], F3, one, summing("i32"))
    yield 7, op("stablehlo.reduce", [x, F], F2, one, SCALAR_SUM)
    yield 8, op("stablehlo.reduce", [x, F], t("f64", 3), one, SCALAR_SUM)

    def window(n, operands=(x, F), result=t("f32", 3, 3), body=SCALAR_SUM, window_dimensions=(2, 1), padding="", **more):
        return n, op("stablehlo.reduce_window", list(operands), result, i64s(window_dimensions=window_dimensions, **more) + padding, body)
    yield window(1, result=[t("f32", 3, 3)] * 2)
    yield window(2, (x, t("f32", 4, 2), F, F), [t("f32", 3, 3)] * 2)
    yield window(3, (x, I))
    yield window(4, window_dimensions=(2,))
    yield window(5, window_dimensions=(2, 0))
    for n, name in ((6, "window_strides"), (8, "base_dilations"), (10, "window_dilations")):
        yield window(n, **{name: [1]})
        yield window(n + 1, **{name: [1, 0]})
    yield window(12, padding=", padding = dense<0> : tensor<2x1xi64>")
    yield window(13, body=summing("i32"))
    yield window(15, result=t("f32", 4, 3))
    yield window(16, result=t("f64", 3, 3))

    def choose(n, operand=t("f32", 4), source=F2, init=F, result=t("f32", 4), select=SCALAR_GE, scatter=SCALAR_SUM, sizes=(2,), strides=(2,), more=""):
        attrs = i64s(window_dimensions=sizes, window_strides=strides) + more
        return n, op("stablehlo.select_and_scatter", [operand, source, init], result, attrs, f"({select[1:-1]}, {scatter[1:-1]})")
    yield choose(1, source=t("f64", 2))
    yield choose(2, source=F3)
    yield choose(3, init=I)
    yield choose(4, sizes=(2, 1))
    yield choose(5, sizes=(0,))
    yield choose(6, strides=(1, 1))
    yield choose(7, strides=(0,))
    yield choose(8, more=", padding = dense<0> : tensor<1x1xi64>")
    yield choose(9, select=SCALAR_GE.replace("f32", "f64"))
    yield choose(10, scatter=summing("i32"))
    yield choose(11, result=t("f32", 5))
    yield choose(12, result=t("f64", 4))
    yield 1, op("stablehlo.sort", [], [], "", SCALAR_GE)
    yield 2, op("stablehlo.sort", [F2], t("i32", 2), "", SCALAR_GE)
    two = SCALAR_GE.replace("%y: tensor<f32>", "%y: tensor<f32>, %k: tensor<f32>, %l: tensor<f32>")
    yield 3, op("stablehlo.sort", [F2, F3], [F2, F3], "", two)
    yield 4, op("stablehlo.sort", [F2], F2, i64(dimension=1), SCALAR_GE)
    yield 5, op("stablehlo.sort", [t("i32", 2)], t("i32", 2), "", SCALAR_GE)
    yield 1, op("stablehlo.map", [F2, F3], F2, one, SCALAR_SUM)
    yield 2, op("stablehlo.map", [], F2, one, SCALAR_SUM)
    yield 3, op("stablehlo.map", [F2, F2], F2, i64s(dimensions=[1]), SCALAR_SUM)
    yield 4, op("stablehlo.map", [F2, F2], t("i32", 2), one, SCALAR_SUM)
    norm = lambda feature=1: f"epsilon = 1.000000e-03 : f32, feature_index = {feature} : i64"
    y, wrong = t("f32", 2, 3), t("f32", 2)

    def per_feature(count, change=None, element="f32"):
        return [wrong if i == change else t(element, 3) for i in range(count)]
    yield 1, op("stablehlo.batch_norm_training", [y] + per_feature(2), [y] + per_feature(2), norm(2))
    yield 2, op("stablehlo.batch_norm_training", [y] + per_feature(2, element="f64"), [y] + per_feature(2, element="f64"), norm())
    for n in range(4):
        values = per_feature(4, n)
        yield 3 + n, op("stablehlo.batch_norm_training", [y] + values[:2], [y] + values[2:], norm())
    yield 7, op("stablehlo.batch_norm_training", [y] + per_feature(2), [t("f32", 3, 3)] + per_feature(2), norm())
    yield 1, op("stablehlo.batch_norm_inference", [y] + per_feature(4), y, norm(2))
    yield 2, op("stablehlo.batch_norm_inference", [y] + per_feature(4, element="f64"), y, norm())
    for n in range(4):
        yield 3 + n, op("stablehlo.batch_norm_inference", [y] + per_feature(4, n), y, norm())
    yield 7, op("stablehlo.batch_norm_inference", [y] + per_feature(4), t("f32", 3, 3), norm())
    grad = lambda operands, results, feature=1: op("stablehlo.batch_norm_grad", operands, results, norm(feature))
    yield 1, grad([y] + per_feature(3) + [y], [y] + per_feature(2), 2)
    yield 2, grad([y] + per_feature(3, element="f64") + [y], [y] + per_feature(2), 1)
    yield 3, grad([y] + per_feature(3) + [t("f32", 3, 3)], [y] + per_feature(2))
    yield 4, grad([y] + per_feature(3, 1) + [y], [y] + per_feature(2))
    yield 5, grad([y] + per_feature(3, 0) + [y], [y] + per_feature(2))


def control():
    returned = lambda values, types: f'"stablehlo.return"({values}) : ({types}) -> ()'
    some, other, none = returned("%c0", "tensor<f32>"), returned("%c1", "tensor<i32>"), returned("", "")
    held = [F, I]
    yield 1, op("stablehlo.if", [t("i1")], F, regions="({^bb0(%x: tensor<f32>): " + some + "}, {" + some + "})", captured=held)
    yield 2, op("stablehlo.if", [t("i1")], F, regions="({" + some + "}, {" + other + "})", captured=held)
    yield 3, op("stablehlo.if", [t("i1")], I, regions="({" + some + "}, {" + some + "})", captured=held)
    yield 1, op("stablehlo.case", [I], F, regions="", captured=held)
    yield 2, op("stablehlo.case", [I], F, regions="({^bb0(%x: tensor<f32>): " + some + "})", captured=held)
    yield 3, op("stablehlo.case", [I], F, regions="({" + some + "}, {" + other + "})", captured=held)
    yield 4, op("stablehlo.case", [I], I, regions="({" + some + "})", captured=held)
    loop = lambda cond, body, a="tensor<f32>": "({^bb0(%a: " + a + "): " + cond + "}, {^bb0(%a: tensor<f32>): " + body + "})"
    yes, same = returned("%c2", "tensor<i1>"), returned("%a", "tensor<f32>")
    held = [F, I, t("i1")]
    yield 1, op("stablehlo.while", [F], F, regions=loop(yes, same, "tensor<i32>"), captured=held)
    yield 2, op("stablehlo.while", [F], F, regions=loop(yes, other), captured=held)
    yield 3, op("stablehlo.while", [F], I, regions=loop(yes, same), captured=held)
    yield 1, op("stablehlo.optimization_barrier", [F], I)
    yield 1, op("stablehlo.tuple", [F], "tuple<tensor<i32>>")
    yield 1, op("stablehlo.get_tuple_element", ["tuple<tensor<f32>>"], F, "index = 1 : i32")
    yield 2, op("stablehlo.get_tuple_element", ["tuple<tensor<f32>>"], I, "index = 0 : i32")
    for n, name, symbol, ins, out in ((1, "op", "f", [F, F], F), (2, "my.op", "g", [F, F], F), (3, "my.op", "f", [F], F), (4, "my.op", "f", [F, F], I)):
        yield n, op("stablehlo.composite", ins, out, f'name = "{name}", decomposition = @{symbol}', before=SUM_FUNCTION)
    gather = '%g = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, ' + GROUPS + '}> : (tensor<4xf32>) -> tensor<8xf32>'
    start = lambda n, inside, future="tensor<8xf32>", operand=t("f32", 4): (n, op("stablehlo.async_start", [operand], f"!stablehlo.future<{future}>", regions="({^bb0(%x: tensor<4xf32>): " + inside + ' "stablehlo.return"(%g) : (tensor<8xf32>) -> ()})'))
    yield start(1, gather + ' %h = "stablehlo.negate"(%x) : (tensor<4xf32>) -> tensor<4xf32>')
    yield start(2, '%g = "stablehlo.concatenate"(%x, %x) <{dimension = 0 : i64}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>')
    yield start(3, gather, operand=t("f32", 5))
    yield start(4, gather, future="tensor<4xf32>")
    yield 1, op("stablehlo.async_done", ["!stablehlo.future<tensor<8xf32>>"], t("f32", 4))


def host():
    token = "!stablehlo.token"
    yield 1, op("stablehlo.infeed", [token], [])
    yield 2, op("stablehlo.infeed", [token], [token, token])
    yield 3, op("stablehlo.infeed", [token], [F])
    for name, ins, outs, kind in (("send", [F, token], token, 2), ("recv", [token], [F, token], 3)):
        channel = "channel_handle = #stablehlo.channel_handle<handle = 5, type = {}>"
        for n, pairs in ((1, "[[0, 1, 2]]> : tensor<1x3xi64>"), (2, "[[0, 1], [0, 2]]> : tensor<2x2xi64>"), (3, "[[0, 1], [2, 1]]> : tensor<2x2xi64>"), (4, "[[0, -1]]> : tensor<1x2xi64>")):
            yield n, op(f"stablehlo.{name}", ins, outs, channel.format(1) + f", source_target_pairs = dense<{pairs}")
        yield 5, op(f"stablehlo.{name}", ins, outs, channel.format(1) + ", is_host_transfer = true")


def collectives():
    x = t("f32", 2, 3)
    twice, gap, negative = (f"replica_groups = dense<{g}> : tensor<1x2xi64>" for g in ("[[0, 0]]", "[[0, 2]]", "[[0, -2]]"))
    ids = ", use_global_device_ids"
    gather = lambda n, groups=GROUPS, d=0, result=t("f32", 4, 3), more="": (n, op("stablehlo.all_gather", [x], result, f"all_gather_dim = {d} : i64, {groups}{more}"))
    yield from (gather(1, d=2), gather(2, twice), gather(3, gap), gather(4, negative), gather(5, more=ids), gather(6, result=x))
    reduce = lambda n, groups=GROUPS, result=x, more="", body=SCALAR_SUM: (n, op("stablehlo.all_reduce", [x], result, groups + more, body))
    yield from (reduce(1, twice), reduce(2, gap), reduce(3, negative), reduce(4, more=ids), reduce(5, body=summing("i32")), reduce(6, result=t("f32", 2, 4)), reduce(7, result=t("f64", 2, 3)))
    exchange = lambda n, groups=GROUPS, a=0, b=1, count=2, result=t("f32", 1, 6): (n, op("stablehlo.all_to_all", [x], result, f"{i64(split_dimension=a, concat_dimension=b, split_count=count)}, {groups}"))
    yield from (exchange(1, a=2), exchange(2, a=1), exchange(3, b=2), exchange(4, count=0), exchange(5, twice), exchange(6, gap), exchange(7, negative), exchange(8, count=1), exchange(9, result=x))
    scatter = lambda n, groups=GROUPS, d=0, result=t("f32", 1, 3), more="", body=SCALAR_SUM: (n, op("stablehlo.reduce_scatter", [x], result, f"scatter_dimension = {d} : i64, {groups}{more}", body))
    yield from (scatter(1, d=1), scatter(2, d=2), scatter(3, twice), scatter(4, gap), scatter(5, negative), scatter(6, more=ids), scatter(7, body=summing("i32")), scatter(8, result=x), scatter(9, result=t("f64", 1, 3)))
    dynamic = ", has_dynamic_root"
    for name, body in (("collective_broadcast", ""), ("collective_reduce", SCALAR_SUM)):
        yield 1, op(f"stablehlo.{name}", [x], [x], twice, body)
        yield 2, op(f"stablehlo.{name}", [x], [x], negative, body)
        yield 3, op(f"stablehlo.{name}", [x], [t("f32", 2, 4)], GROUPS, body)
    yield 4, op("stablehlo.collective_reduce", [x], [x], GROUPS, summing("i32"))
    yield 4, op("stablehlo.collective_broadcast", [x, t("i32", 2)], [x], GROUPS + dynamic)
    yield 5, op("stablehlo.collective_broadcast", [x], [x, x], GROUPS)
    yield 6, ("stablehlo.collective_broadcast", f'func.func @main(%x: {x}) {{\n %i = stablehlo.constant dense<2> : tensor<1xi32>\n %r = "stablehlo.collective_broadcast"(%x, %i) <{{{GROUPS}{dynamic}}}> : ({x}, tensor<1xi32>) -> {x}\n func.return\n}}')
    for n, pairs in ((1, "[[0, 1, 2]]> : tensor<1x3xi64>"), (2, "[[0, 1], [0, 2]]> : tensor<2x2xi64>"), (3, "[[0, 1], [2, 1]]> : tensor<2x2xi64>"), (4, "[[0, -1]]> : tensor<1x2xi64>")):
        yield n, op("stablehlo.collective_permute", [x], x, f"source_target_pairs = dense<{pairs}")
    yield 5, op("stablehlo.collective_permute", [x], t("f32", 3, 3), "source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>")


def linear_algebra():
    a = t("f32", 3, 3)
    yield 1, op("stablehlo.cholesky", [a], t("f64", 3, 3))
    yield 2, op("stablehlo.cholesky", [F3], F3)
    yield 3, op("stablehlo.cholesky", [t("f32", 2, 3)], t("f32", 2, 3))
    solve = lambda n, b=t("f32", 3, 2), result=t("f32", 3, 2), a=a: (n, op("stablehlo.triangular_solve", [a, b], result, "left_side = true, lower = false, unit_diagonal = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>"))
    yield from (solve(1, t("f64", 3, 2)), solve(2, F3, F3), solve(3, t("f32", 4, 2), t("f32", 4, 2)), solve(4, result=t("f32", 3, 4)))
    fft = lambda n, kind="FFT", operand=t("complex<f32>", 3, 8), result=t("complex<f32>", 3, 8), length=(8,): (n, op("stablehlo.fft", [operand], result, f"fft_type = #stablehlo<fft_type {kind}>, {i64s(fft_length=length)}"))
    yield from (fft(1, length=(1, 3, 8)), fft(2, result=t("complex<f64>", 3, 8)), fft(3, length=()), fft(4, "RFFT", t("f32", 3, 8), t("complex<f32>", 3, 5), (7,)), fft(5, result=t("complex<f32>", 3, 7)))
    rng = lambda n, a=F, b=F, shape=t("i64", 1), result=F2, kind="UNIFORM": (n, op("stablehlo.rng", [a, b, shape], result, f"rng_distribution = #stablehlo<rng_distribution {kind}>"))
    yield from (rng(1, b=t("f64")), rng(2, I, I, result=t("i32", 2), kind="NORMAL"), rng(3, shape=t("i64", 2)))
    bits = lambda n, state=t("ui64", 2), new=t("ui64", 2), algorithm="THREE_FRY": (n, op("stablehlo.rng_bit_generator", [state], [new, t("ui32", 2)], f"rng_algorithm = #stablehlo<rng_algorithm {algorithm}>"))
    yield from (bits(1, new=t("ui64", 3)), bits(2, t("ui64", 3), t("ui64", 3)))


FAMILIES = (elementwise, movement, gathers, scatters, contractions, reductions, control, host, collectives, linear_algebra)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--opt", default=os.path.join(os.environ.get("TESSERA_BIN", "build/bin"), "tessera-opt"))
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    broken = [(number, name, text) for family in FAMILIES for number, (name, text) in family()]
    done = subprocess.run([options.opt, "-", "--split-input-file"], input="\n// -----\n".join(text for _, _, text in broken), capture_output=True, text=True)
    if done.returncode < 0:
        raise SystemExit(f"tessera-opt ended by signal {-done.returncode}")
    # Errors name the line of the whole input.
    begins, line = [], 1
    for _, _, text in broken:
        begins.append(line)
        line += text.count("\n") + 2
    said = {}
    for at, message in re.findall(r"^<stdin>:(\d+):\d+: error: (.*)$", done.stderr, re.M):
        i = max(j for j, begin in enumerate(begins) if begin <= int(at))
        said.setdefault(i, message)
    failures, covered = [], {}
    for i, (number, name, text) in enumerate(broken):
        message = said.get(i, "nothing")
        if f"'{name}' op constraint C{number}:" in message:
            covered.setdefault(name.removeprefix("stablehlo."), set()).add(number)
        else:
            failures.append(f"{name} C{number}: said {message}\n{text}")
    missing = [(name, n) for name, count in COUNTS.items() for n in range(1, count + 1) if n not in covered.get(name, ()) and (name, n) not in IMPLIED]
    for failure in failures:
        print(failure)
    if options.table:
        for name, count in COUNTS.items():
            print(f"{name}: " + " ".join(f"C{n}" + ("" if n in covered.get(name, ()) else f" ({IMPLIED.get((name, n), 'MISSING')})") for n in range(1, count + 1)))
    elif missing:
        print("not covered: " + ", ".join(f"{name} C{n}" for name, n in missing))
    total = sum(COUNTS.values())
    print(f"{len(broken)} broken programs, {len(failures)} not refused as they should be; {total - len(missing) - len(IMPLIED)} of {total} constraints covered, {len(IMPLIED)} implied by others")
    return 1 if failures or missing else 0


if __name__ == "__main__":
    sys.exit(main())
