"""Each operation rounds once, to its own type, whatever it is fused with or sharded over.

Chains of the operations that are rounded correctly, beside the same chains where numpy computes each in float64 and
rounds it: twice, by way of float32, which is as good as once, for 24 bits are more than 2 * 11 + 1 (S. A. Figueroa,
"When is double rounding innocuous?", 1995)."""
import dataclasses
import tempfile
from typing import Callable

import export as exporting
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from harness import run_text
from jax.sharding import PartitionSpec as P

MESHES = [{"x": 2, "y": 4}, {"x": 3, "y": 1}, {"x": 1, "y": 1}]
TYPES = {"f64": np.float64, "f32": np.float32, "bf16": ml_dtypes.bfloat16, "f16": np.float16}


class Rounded:
    """An array of a type as float64, with that type's arithmetic."""

    def __init__(self, value, dtype):
        value = np.asarray(value, np.float64)
        self.dtype = dtype
        self.value = value if dtype == np.float64 else value.astype(np.float32).astype(dtype).astype(np.float64)

    def of(self, other):
        return other.value if isinstance(other, Rounded) else Rounded(other, self.dtype).value

    __add__ = __radd__ = lambda self, other: Rounded(self.value + self.of(other), self.dtype)
    __mul__ = __rmul__ = lambda self, other: Rounded(self.value * self.of(other), self.dtype)
    __sub__ = lambda self, other: Rounded(self.value - self.of(other), self.dtype)
    __rsub__ = lambda self, other: Rounded(self.of(other) - self.value, self.dtype)
    __truediv__ = lambda self, other: Rounded(self.value / self.of(other), self.dtype)
    __rtruediv__ = lambda self, other: Rounded(self.of(other) / self.value, self.dtype)
    __neg__ = lambda self: Rounded(-self.value, self.dtype)
    __gt__ = lambda self, other: self.value > self.of(other)


class Numpy:
    """The functions that chains use, on Rounded."""

    sqrt = staticmethod(lambda x: Rounded(np.sqrt(x.value), x.dtype))
    abs = staticmethod(lambda x: Rounded(np.abs(x.value), x.dtype))
    maximum = staticmethod(lambda x, y: Rounded(np.maximum(x.value, y.value), x.dtype))
    where = staticmethod(lambda p, x, y: Rounded(np.where(p, x.value, y.value), x.dtype))
    first_row = staticmethod(lambda x: Rounded(np.broadcast_to(x.value[:1], x.value.shape), x.dtype))
    first_column = staticmethod(lambda x: Rounded(np.broadcast_to(x.value[:, :1], x.value.shape), x.dtype))
    to = staticmethod(lambda x, dtype: Rounded(x.value, dtype))
    product_in_f32 = staticmethod(lambda x, y: Rounded(x.value * y.value, np.float32))


class Jax:
    sqrt, abs, maximum, where = jnp.sqrt, jnp.abs, jnp.maximum, jnp.where
    first_row = staticmethod(lambda x: jnp.broadcast_to(x[:1], x.shape))
    first_column = staticmethod(lambda x: jnp.broadcast_to(x[:, :1], x.shape))
    to = staticmethod(lambda x, dtype: x.astype(dtype))
    product_in_f32 = staticmethod(lambda x, y: (x * y).astype(jnp.float32))


CHAINS = {
    "product_and_sum": lambda o, a, b: a * b + a,
    "difference_of_products": lambda o, a, b: a * a - b * b,
    "mixed": lambda o, a, b: (a * b + a - b) * b / a,
    "moments": lambda o, a, b: 0.9 * a + 0.1 * b * b,
    "step": lambda o, a, b: a - 0.01 * b / (o.sqrt(b * b * 0.001 + a * a) + 1e-3),
    "horner": lambda o, a, b: ((0.3 * a + 0.7) * a - b) * a + 1,
    "by_a_constant": lambda o, a, b: a / 3 + b / 192,
    "by_a_power_of_two": lambda o, a, b: o.where(a / 2 > 0.5 * a, b, a),
    "by_a_quotient": lambda o, a, b: a / (b / (a / 7)),
    "by_a_root": lambda o, a, b: b / o.sqrt(o.abs(a)),
    "by_rows": lambda o, a, b: (a - o.first_column(b)) / o.first_column(a),
    "by_columns": lambda o, a, b: a / o.first_row(b) * b,
    "select": lambda o, a, b: o.where(a * b + b > a, a * b, o.sqrt(o.abs(a) + b * b)),
    "maximum": lambda o, a, b: o.maximum(a * b - a, b) * 3 - b,
}
CONVERSIONS = {
    "f16_to_f32": lambda o, a, b: o.to(o.to(a, np.float16) * o.to(b, np.float16), np.float32) + a,
    "bf16_to_f32": lambda o, a, b: o.to(o.to(a, ml_dtypes.bfloat16), np.float32) * o.to(o.to(b, ml_dtypes.bfloat16), np.float32) + a,
    # What a program converts from bf16 to f32 at once is computed in f32.
    "product_in_f32": lambda o, a, b: o.product_in_f32(o.to(a, ml_dtypes.bfloat16), o.to(b, ml_dtypes.bfloat16)) + a,
    "f32_to_bf16": lambda o, a, b: o.to(a * b, ml_dtypes.bfloat16) + o.to(b, ml_dtypes.bfloat16),
}


@dataclasses.dataclass
class RoundingCase:
    name: str
    dtype: type
    chains: dict[str, Callable]


EVERY = RoundingCase("every bf16", ml_dtypes.bfloat16, {"exponential": None, "quotient by a row's number": None})


SHARED = RoundingCase("quotients by a row's number", np.float32, {"of many": None, "of few": None, "by a constant": None})


ZEROS = RoundingCase("zeros", ml_dtypes.bfloat16, {"bf16": None, "bf16 converted": None, "bf16 of bits": None, "f32": None, "f32 of bits": None,
                                                  "bf16 made wider": None, "f32 of bits, negated": None, "a square root": None})


MOVED = RoundingCase("moved", ml_dtypes.bfloat16, {"bf16 transposed": None, "bf16 backwards, in pairs": None, "f16 transposed": None, "f16 backwards, in pairs": None})


def cases():
    return [RoundingCase(name, dtype, CHAINS) for name, dtype in TYPES.items()] + [RoundingCase("conversions", np.float32, CONVERSIONS), EVERY, SHARED, ZEROS, MOVED]


def check_every_bf16():
    """Each number's exponential, and each significand divided by each, at both ends of the exponents too. Subnormal results may be zero."""
    numbers = lambda *exponents: np.concatenate([np.arange(128 * e, 128 * e + 128, dtype=np.uint16) for e in exponents]).view(ml_dtypes.bfloat16)
    every, by = np.arange(1 << 16, dtype=np.uint16).view(ml_dtypes.bfloat16), numbers(1, 64, 126, 127, 128, 253, 254, 255)
    values = np.tile(np.append(numbers(1, 2, 24, 126, 127, 254, 255, 383), np.zeros(1, ml_dtypes.bfloat16)), (by.size + 1, 1))
    by = np.append(by, np.zeros(1, ml_dtypes.bfloat16))
    operands = tuple(map(jnp.asarray, (every, values, by)))
    build = lambda mesh: ((lambda x, a, b: (jnp.exp(x), a / b[:, None])), operands, (P(), P(), P()), None)
    wide = lambda x: x.astype(np.float64)
    with np.errstate(all="ignore"):
        wanted = np.exp(wide(every)), wide(values) / wide(by)[:, None]
        rounded = [x.astype(np.float32).astype(ml_dtypes.bfloat16).astype(np.float32) for x in wanted]
    sizes = {"x": 1, "y": 1}
    with tempfile.TemporaryDirectory() as directory:
        wrong, outputs = run_text(exporting.export(build, sizes, manual=False), operands, directory)
    for name, got, exact, want in zip(EVERY.chains, outputs or (), wanted, rounded):
        off = ~(np.isclose(got, want, rtol=0, atol=0, equal_nan=True) | ((got == 0) & (np.abs(exact) < 2.0**-126)))
        wrong = wrong or (f"{name}: {np.count_nonzero(off)} of {want.size} are not rounded correctly" if off.any() else None)
    yield sizes, wrong


def any_f32(random, *shape):
    """Any bits: a third of them near an end of the exponents or of the significands, or neither zero nor finite."""
    bits = random.integers(0, 1 << 32, shape, np.uint32)
    sign, exponent, last = bits & 0x80000000, bits >> 23 & 0xFF, bits & 7
    ends = [sign | 0x7F800000 * (last & 1), sign | 0x7FC00000, sign | last, sign | (exponent % 3) << 23 | last, sign | 0x7F7FFFF8 | last,
            sign | exponent << 23 | last, (sign | exponent << 23 | 0x7FFFFF) - last, sign | (124 + exponent % 8) << 23 | bits & 0x7FFFFF]
    return np.choose(random.integers(0, 24, shape), [*ends, *[bits] * 16]).astype(np.uint32).view(np.float32)


def without_subnormals(x):
    return np.where(np.abs(x) < 2.0**-126, np.copysign(0, x), x)


def check_shared_divisors():
    """All lanes of a row are divided by one number: the same bits as a division of each, where the result is zero, infinite or NaN, too."""
    random = np.random.default_rng(81)
    parts, rows = 8, 250  # what a cache holds: where memory is read meanwhile a division is as quick
    many, few, by = any_f32(random, parts, rows, 1003), any_f32(random, parts, rows, 24), any_f32(random, parts, rows, 1)
    operands = tuple(jnp.asarray(part) for x in (many, few, by) for part in x)

    def quotients(*operands):
        many, few, by = (operands[i : i + parts] for i in range(0, 3 * parts, parts))
        return tuple(x / y for x, y in zip(many, by)), tuple(x / y for x, y in zip(few, by)), tuple(x / np.float32(1.7) for x in many)

    build = lambda mesh: (quotients, operands, (P(),) * (3 * parts), None)
    quotient = lambda x, y: without_subnormals(x.astype(np.float64)) / without_subnormals(y.astype(np.float64))
    with np.errstate(all="ignore"):
        exact = quotient(many, by), quotient(few, by), quotient(many, np.float32(1.7))
        # Rounded to 24 bits as if nothing were too small, then flushed.
        wanted = [np.where(np.abs(x) < 1, (x * 2.0**100).astype(np.float32).astype(np.float64) * 2.0**-100, x.astype(np.float32)) for x in exact]
        wanted = [without_subnormals(x).astype(np.float32) for x in wanted]
    sizes = {"x": 1, "y": 1}
    with tempfile.TemporaryDirectory() as directory:
        wrong, outputs = run_text(exporting.export(build, sizes, manual=False), operands, directory)
    outputs = [np.stack(outputs[i : i + parts]) for i in range(0, 3 * parts, parts)] if outputs else ()
    for name, got, want in zip(SHARED.chains, outputs, wanted):
        off = ~np.where(np.isnan(want), np.isnan(got), got.view(np.uint32) == want.view(np.uint32))
        wrong = wrong or (f"{name}: {np.count_nonzero(off)} of {want.size} are not rounded correctly" if off.any() else None)
    yield sizes, wrong


def check_zeros():
    """What is asked whether it is zero is flushed first, as by what computes with it: all bf16 and as many f32, whatever their bits come as.
    Each is read by one operation alone, so that it may be replaced together with what asks."""
    narrow = np.arange(1 << 16, dtype=np.uint16)
    small = np.arange(1 << 14, dtype=np.uint32)
    wide = np.concatenate([narrow[::2].astype(np.uint32) << 16 | narrow[1::2], small, small | 0x80000000])
    array = lambda kind: f"tensor<{narrow.size}x{kind}>"
    compare = lambda direction, kind, *operands: f"stablehlo.compare {direction}, {', '.join(operands)} : ({array(kind)}, {array(kind)}) -> {array('i1')}"
    text = f"""func.func @main(%0: {array("bf16")}, %1: {array("bf16")}, %2: {array("ui16")}, %3: {array("f32")}, %4: {array("ui32")},
        %a: {array("bf16")}, %b: {array("ui32")}, %c: {array("ui32")}) -> ({", ".join([array("i1")] * 8)}) {{
      %zero = stablehlo.constant dense<0.0> : {array("bf16")}
      %wide = stablehlo.constant dense<0.0> : {array("f32")}
      %one = stablehlo.constant dense<1> : {array("ui32")}
      %5 = {compare("EQ", "bf16", "%0", "%zero")}
      %6 = stablehlo.convert %1 : ({array("bf16")}) -> {array("i1")}
      %7 = stablehlo.bitcast_convert %2 : ({array("ui16")}) -> {array("bf16")}
      %8 = {compare("NE", "bf16", "%zero", "%7")}
      %9 = {compare("EQ", "f32", "%3", "%wide")}
      %10 = stablehlo.add %4, %one : {array("ui32")}
      %11 = stablehlo.bitcast_convert %10 : ({array("ui32")}) -> {array("f32")}
      %12 = {compare("NE", "f32", "%11", "%wide")}
      %13 = stablehlo.convert %a : ({array("bf16")}) -> {array("f32")}
      %14 = {compare("EQ", "f32", "%13", "%wide")}
      %15 = stablehlo.add %b, %one : {array("ui32")}
      %16 = stablehlo.bitcast_convert %15 : ({array("ui32")}) -> {array("f32")}
      %17 = stablehlo.negate %16 : {array("f32")}
      %18 = {compare("EQ", "f32", "%17", "%wide")}
      %19 = stablehlo.add %c, %one : {array("ui32")}
      %20 = stablehlo.bitcast_convert %19 : ({array("ui32")}) -> {array("f32")}
      %21 = stablehlo.sqrt %20 : {array("f32")}
      %22 = {compare("LE", "f32", "%21", "%wide")}
      return %5, %6, %8, %9, %12, %14, %18, %22 : {", ".join([array("i1")] * 8)}
    }}"""
    numbers, floats, before = narrow.view(ml_dtypes.bfloat16), wide.view(np.float32), wide - np.uint32(1)
    with tempfile.TemporaryDirectory() as directory:
        wrong, outputs = run_text(text, tuple(map(jnp.asarray, (numbers, numbers, narrow, floats, before, numbers, before, before))), directory)
    is_none = lambda x: without_subnormals(x.astype(np.float64)) != 0
    wanted = ~is_none(numbers), is_none(numbers), is_none(numbers), ~is_none(floats), is_none(floats), ~is_none(numbers), ~is_none(floats), ~is_none(floats)
    for label, got, want in zip(ZEROS.chains, outputs or (), wanted):
        off = np.asarray(got, bool) != want
        wrong = wrong or (f"{label}: {np.count_nonzero(off)} of {want.size} are taken for what they are not" if off.any() else None)
    yield {"x": 1, "y": 1}, wrong


def check_moved():
    """What is only moved keeps its bits, those of NaNs and subnormal numbers too, where it leaves as integers."""
    bits = np.arange(1 << 16, dtype=np.uint16).reshape(256, 256)
    pairs = np.ascontiguousarray(bits[:, ::-1]).view(np.uint32)
    cast = lambda name, operand, shape, source, target: f"{name} = stablehlo.bitcast_convert {operand} : (tensor<{shape}x{source}>) -> tensor<{shape.removesuffix('x2')}x{target}>"
    lines = []
    for i, kind in enumerate(("bf16", "f16")):
        array = f"tensor<256x256x{kind}>"
        lines += [cast(f"%x{i}", f"%bits{i}", "256x256", "ui16", kind),
                  f"%turned{i} = stablehlo.transpose %x{i}, dims = [1, 0] : ({array}) -> {array}", cast(f"%t{i}", f"%turned{i}", "256x256", kind, "ui16"),
                  f"%back{i} = stablehlo.reverse %x{i}, dims = [1] : {array}",
                  f"%halves{i} = stablehlo.reshape %back{i} : ({array}) -> tensor<256x128x2x{kind}>", cast(f"%p{i}", f"%halves{i}", "256x128x2", kind, "ui32")]
    results = ", ".join(["tensor<256x256xui16>, tensor<256x128xui32>"] * 2)
    body = "\n".join([*lines, f"return %t0, %p0, %t1, %p1 : {results}"])
    text = f"func.func @main(%bits0: tensor<256x256xui16>, %bits1: tensor<256x256xui16>) -> ({results}) {{\n{body}\n}}"
    for processor in ("native", "x86-64-v3"):
        with tempfile.TemporaryDirectory() as directory:
            wrong, outputs = run_text(text, (jnp.asarray(bits), jnp.asarray(bits)), directory, [f"--target-cpu={processor}"])
        for name, got, want in zip(MOVED.chains, outputs or (), (bits.T, pairs) * 2):
            wrong = wrong or (f"{name}: {np.count_nonzero(got != want)} of {want.size} have other bits" if (got != want).any() else None)
        yield {"x": 1, "y": 1}, wrong


def check(case):
    if case is MOVED:
        return (yield from check_moved())
    if case is ZEROS:
        return (yield from check_zeros())
    if case is EVERY:
        return (yield from check_every_bf16())
    if case is SHARED:
        return (yield from check_shared_divisors())
    random = np.random.default_rng(18)
    arguments = [random.uniform(0.1, 2.0, (24, 40)) * random.choice([-1, 1], (24, 40)) for _ in range(2)]
    exact = [Rounded(x, case.dtype) for x in arguments]
    wanted = [chain(Numpy, *exact).value for chain in case.chains.values()]
    with exporting.jax.enable_x64(case.dtype == np.float64):
        operands = tuple(jnp.asarray(x.value.astype(case.dtype)) for x in exact)

        def build(mesh):
            return (lambda *args: tuple(chain(Jax, *args) for chain in case.chains.values())), operands, (P("x", "y"),) * 2, None

        for sizes in MESHES:
            text = exporting.export(build, sizes, manual=False)
            with tempfile.TemporaryDirectory() as directory:
                wrong, outputs = run_text(text, operands, directory)
            for name, got, want in zip(case.chains, outputs or (), wanted):
                if not wrong and not np.array_equal(got, want):
                    wrong = f"{name}: {np.count_nonzero(got != want)} of {want.size} are not rounded correctly"
            yield sizes, wrong
