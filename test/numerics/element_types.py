"""Every element type: conversions between all pairs, bitcasts between all widths, arithmetic and its corner cases, against
numpy with ml_dtypes. With TESSERA_ALL_PAIRS in the environment, conversions between all pairs rather than a third of them. Programs are written in StableHLO's text: JAX cannot express all of them."""
import dataclasses
import os
import tempfile
import warnings

import ml_dtypes
import numpy as np
from harness import command

FLOATS = {"f4E2M1FN": ml_dtypes.float4_e2m1fn, "f6E2M3FN": ml_dtypes.float6_e2m3fn, "f6E3M2FN": ml_dtypes.float6_e3m2fn,
          "f8E3M4": ml_dtypes.float8_e3m4, "f8E4M3": ml_dtypes.float8_e4m3, "f8E4M3FN": ml_dtypes.float8_e4m3fn,
          "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz, "f8E4M3B11FNUZ": ml_dtypes.float8_e4m3b11fnuz,
          "f8E5M2": ml_dtypes.float8_e5m2, "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz, "f8E8M0FNU": ml_dtypes.float8_e8m0fnu,
          "bf16": ml_dtypes.bfloat16, "f16": np.float16, "f32": np.float32, "f64": np.float64}
INTEGERS = {"i2": ml_dtypes.int2, "i4": ml_dtypes.int4, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
            "ui2": ml_dtypes.uint2, "ui4": ml_dtypes.uint4, "ui8": np.uint8, "ui16": np.uint16, "ui32": np.uint32, "ui64": np.uint64}
TYPES = {"i1": np.bool_, **INTEGERS, **FLOATS, "complex<f32>": np.complex64, "complex<f64>": np.complex128}
BITS = {"i1": 1, "f4E2M1FN": 4, "f6E2M3FN": 6, "f6E3M2FN": 6, "bf16": 16, "f16": 16, "f32": 32, "f64": 64,
        "complex<f32>": 64, "complex<f64>": 128, **{name: int(name.lstrip("ui")) for name in INTEGERS}}
ALL_PAIRS = "TESSERA_ALL_PAIRS" in os.environ
BITS |= {name: 8 for name in FLOATS if name.startswith("f8")}


def travels(x):
    """As it goes into npz: floats below f32 as float32, integers below a byte as a byte."""
    x = np.asarray(x)
    if x.dtype in [np.dtype(t) for name, t in FLOATS.items() if BITS[name] < 32]:
        return x.astype(np.float32)
    if x.dtype in (ml_dtypes.int2, ml_dtypes.int4):
        return x.astype(np.int8)
    if x.dtype in (ml_dtypes.uint2, ml_dtypes.uint4):
        return x.astype(np.uint8)
    return x


def run(text, *inputs):
    """The outputs of a module on `inputs`; an error as text."""
    with tempfile.TemporaryDirectory() as directory:
        path = lambda name: os.path.join(directory, name)
        with open(path("p.mlir"), "w") as f:
            f.write(text)
        np.savez(path("in.npz"), **{f"in{i}": travels(x) for i, x in enumerate(inputs)})
        wrong = command("compile", path("p.mlir"), "-o", path("p.tsr"), "--verify-each")
        wrong = wrong or command("run", path("p.tsr"), f"--inputs={path('in.npz')}", f"--outputs={path('out.npz')}")
        if wrong:
            return wrong
        with np.load(path("out.npz")) as found:
            return [found[f"out{i}"] for i in range(len(found.files))]


def integers(numbers, name):
    """An array of a type from Python's numbers."""
    return np.array(list(numbers), np.uint64 if name == "ui64" else np.int64).astype(TYPES[name])


def integer_values(name):
    info = ml_dtypes.iinfo(TYPES[name])
    low, high = int(info.min), int(info.max)
    some = {low, low + 1, -100, -8, -3, -2, -1, 0, 1, 2, 3, 7, 8, 100, 200, 255, 256, 1000, 65503, 65505, 65519, 65520, high - 1, high,
            2**24 + 1, 2**31, 2**53 + 1, low // 2, high // 2}
    return integers((v for v in sorted(some) if low <= v <= high), name)


def float_values(name):
    """All of a small type; of the others all kinds of magnitudes, halfway cases of the narrower types, and edge values."""
    kind = TYPES[name]
    if BITS[name] <= 8:
        return np.arange(2 ** BITS[name], dtype=np.uint8).view(kind)
    rng = np.random.default_rng(3)
    random = rng.standard_normal(300) * 10.0 ** rng.uniform(-9, 9, 300)
    integers = np.arange(-40, 40) / 4
    ties = np.concatenate([np.ldexp(1 + np.arange(0, 256, 5) / 256, e) for e in (-20, -9, -1, 0, 4, 9, 15)])
    edge = [0.0, -0.0, np.inf, -np.inf, np.nan, 2e-38, 65504, 65519, 65520, 65536, 448, 464, 480, 57344, 61440, 240, 248, 30, 31, 15.5, 15.75,
            2147483520, 2147483647, 2147483648, -2147483648, 4294967295, 9.2e18, 1.8446744e19, 2e19, 3e38, 1e300,
            1 + 2**-8 + 2**-40, 1 + 2**-11 + 2**-45, 448 + 16 + 2**-40, 1.0625 + 2**-30]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.concatenate([random, integers, ties, -ties, edge]).astype(kind)


def values(name):
    if name == "i1":
        return np.array([False, True, True, False])
    if name in INTEGERS:
        return integer_values(name)
    if name in FLOATS:
        x = float_values(name)
        if name in ("f32", "f64"):  # kernels flush subnormal numbers
            x = x[(np.abs(x) == 0) | (np.abs(x) >= np.finfo(x.dtype).tiny) | np.isnan(x)]
        return x
    part = np.array([0, 1, -2, 0.5, 300, 1e30, np.inf, np.nan, -0.0])
    re, im = np.meshgrid(part, part)
    z = np.empty(re.size, TYPES[name])
    z.real, z.imag = re.ravel(), im.ravel()
    return z


def converted(x, name):
    """What the specification and XLA make of `x` in another type."""
    kind = TYPES[name]
    if np.iscomplexobj(x) and not name.startswith("complex"):
        x = x.real
    source = x.dtype
    is_float = not np.issubdtype(source, np.integer) and source.name not in ("bool", "int2", "int4", "uint2", "uint4")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if name == "i1":
            return x.astype(np.float64) != 0 if is_float else x != kind(0) if source.name != "bool" else x
        if is_float and name in INTEGERS:  # saturates, NaN is 0
            info = ml_dtypes.iinfo(kind)
            wide = np.trunc(x.astype(np.float64))
            ints = [0 if np.isnan(v) else int(info.max) if v >= float(int(info.max) + 1) else int(info.min) if v < int(info.min) else int(v)
                    for v in wide]
            return integers(ints, name)
        if name in INTEGERS:  # wraps
            bits = BITS[name]
            wrapped = [int(v) % 2**bits for v in x]
            if not name.startswith("u"):
                wrapped = [v - 2**bits if v >= 2 ** (bits - 1) else v for v in wrapped]
            return integers(wrapped, name)
        if source == np.float64 and name in FLOATS and BITS[name] < 32:
            x = rounded_to_odd(x)
        if name in FLOATS and BITS[name] < 32:
            x = x.astype(np.float32)
            if BITS[name] < 8:  # no NaN: -0
                x = np.where(np.isnan(x), np.float32(-0.0), x)
            return x.astype(kind)
        return x.astype(kind)


def rounded_to_odd(x):
    """float64 to float32 such that rounding it again is rounding once."""
    single = x.astype(np.float32)
    bits = single.view(np.uint32).copy()
    inexact = np.isfinite(x) & (single.astype(np.float64) != x)
    away = inexact & (np.abs(single.astype(np.float64)) > np.abs(x))
    bits[away] -= 1
    bits[inexact] |= 1
    return bits.view(np.float32)


def same(got, want):
    """None, or where two arrays differ: zeros have signs, NaN equals NaN."""
    want = travels(want)
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"is {got.dtype}{list(got.shape)}, should be {want.dtype}{list(want.shape)}"
    if np.iscomplexobj(want):
        return same(got.real.copy(), want.real.copy()) or same(got.imag.copy(), want.imag.copy())
    if np.issubdtype(want.dtype, np.floating):
        equal = (np.isnan(got) & np.isnan(want)) | ((got == want) & (np.signbit(got) == np.signbit(want)))
    else:
        equal = got == want
    if equal.all():
        return None
    i = tuple(np.argwhere(~equal)[0])
    return f"{(~equal).sum()} of {got.size} differ, first at {list(map(int, i))}: {got[i]!r}, should be {want[i]!r}"


def module(inputs, lines, outputs, gives={}):
    """A module with arguments %a0.. of the types `inputs` that returns the `outputs`, a list of (value, type). `gives`: outputs by the arguments whose place they take."""
    place = lambda i: f" {{tf.aliasing_output = {gives[i]} : i32}}" if i in gives else ""
    arguments = ", ".join(f"%a{i}: tensor<{t}>{place(i)}" for i, t in enumerate(inputs))
    types = ", ".join(f"tensor<{t}>" for _, t in outputs)
    body = "\n".join("    " + line for line in lines)
    return f"module {{\n  func.func public @main({arguments}) -> ({types}) {{\n{body}\n" \
           f"    return {', '.join(v for v, _ in outputs)} : {types}\n  }}\n}}\n"


def shape(*parts):
    return "x".join(str(p) for p in parts)


@dataclasses.dataclass
class Case:
    name: str
    check: object  # () -> list of (label, None or what is wrong)


def conversions(name):
    def check():
        x = values(name)
        n = len(x)
        place = list(TYPES).index(name)  # a third of all pairs, and all those with f32
        targets = [t for i, t in enumerate(TYPES) if t != name and (ALL_PAIRS or "f32" in (t, name) or (i + place) % 3 == 0)]
        lines = [f"%r{i} = stablehlo.convert %a0 : (tensor<{n}x{name}>) -> tensor<{n}x{t}>" for i, t in enumerate(targets)]
        got = run(module([shape(n, name)], lines, [(f"%r{i}", shape(n, t)) for i, t in enumerate(targets)]), x)
        if isinstance(got, str):
            return [(name, got)]
        return [(t, same(g, converted(x, t))) for t, g in zip(targets, got)]

    return Case(f"convert_{name.strip('>').replace('<', '_')}", check)


def little_endian_bits(x, name):
    """The bits of each element, lowest first, as a last dimension."""
    bits = BITS[name]
    if bits < 8:
        raw = x.astype(np.uint8) if name in ("i1", "ui2", "ui4") else x.view(np.uint8)
    else:
        raw = x.view(np.uint8).reshape(*x.shape, bits // 8)
        return np.unpackbits(raw, axis=-1, bitorder="little")
    return np.unpackbits(raw[..., None], axis=-1, bitorder="little")[..., :bits]


def from_little_endian_bits(bits, name):
    width = BITS[name]
    if width >= 8:
        return np.packbits(bits, axis=-1, bitorder="little").view(TYPES[name]).reshape(bits.shape[:-1])
    code = np.packbits(bits, axis=-1, bitorder="little").reshape(bits.shape[:-1])
    if name == "i1":
        return code.astype(bool)
    if name in ("i2", "i4"):
        code = np.where(code >= 2 ** (width - 1), code.astype(np.int16) - 2**width, code).astype(np.int8)
        return code.astype(TYPES[name])
    return code.astype(TYPES[name]) if name in INTEGERS else code.view(TYPES[name])


def bitcasts(name):
    def check():
        bits = BITS[name]
        x = values(name)[:24]
        if name in FLOATS:  # patterns of NaN need not travel
            x = np.where(np.isnan(x.astype(np.float32)), TYPES[name](1), x)
        elif name.startswith("complex"):
            x = x[np.isfinite(x.real) & np.isfinite(x.imag)][:16]
        x = np.resize(x, 32)
        all_bits = little_endian_bits(x, name).reshape(-1)
        lines, outputs, labels, wanted, args = [], [], [], [], []
        for target in TYPES:
            width = BITS[target]
            if target.startswith("complex") != name.startswith("complex") or max(width, bits) % min(width, bits) or target == name:
                continue
            if width % 6 != bits % 6 and 6 in (width, bits):
                continue
            if max(width, bits) // min(width, bits) > 32:
                continue
            if width <= bits:
                source, result = (32,), (32, bits // width) if width < bits else (32,)
            else:
                source, result = (32 // (width // bits), width // bits), (32 // (width // bits),)
            i = len(lines)
            lines.append(f"%s{i} = stablehlo.reshape %a0 : (tensor<32x{name}>) -> tensor<{shape(*source, name)}>")
            lines.append(f"%r{i} = stablehlo.bitcast_convert %s{i} : (tensor<{shape(*source, name)}>) -> tensor<{shape(*result, target)}>")
            outputs.append((f"%r{i}", shape(*result, target)))
            labels.append(target)
            wanted.append(from_little_endian_bits(all_bits.reshape(*result, width), target))
        got = run(module([shape(32, name)], lines, outputs), x)
        if isinstance(got, str):
            return [(name, got)]
        return [(t, same(g, w)) for t, g, w in zip(labels, got, wanted)]

    return Case(f"bitcast_{name.strip('>').replace('<', '_')}", check)


def arithmetic(name):
    """Floats: computed in f32 (f64 in itself, as is f8E8M0FNU, whose 2^-127 is subnormal in f32) and rounded once."""
    def check():
        kind = TYPES[name]
        x = float_values(name) if BITS[name] <= 8 else values(name)[:: len(values(name)) // 97]
        a, b = (v.ravel() for v in np.meshgrid(x, x))
        n = len(a)
        t = f"tensor<{n}x{name}>"
        wide = np.float64 if name in ("f64", "f8E8M0FNU") else np.float32
        p, q = a.astype(wide), b.astype(wide)
        with np.errstate(all="ignore"):
            table = {"add": p + q, "subtract": p - q, "multiply": p * q, "divide": p / q, "maximum": np.maximum(p, q), "minimum": np.minimum(p, q),
                     "remainder": np.fmod(p, q), "negate": -p, "abs": np.abs(p), "sign": np.sign(p), "floor": np.floor(p), "ceil": np.ceil(p),
                     "round_nearest_even": np.rint(p), "round_nearest_afz": np.copysign(np.floor(np.abs(p) + 0.5), p), "sqrt": np.sqrt(p)}
            table["sign"] = np.where(p == 0, p, table["sign"])
            tie = np.abs(p) < 2.0**23 if wide is np.float32 else np.abs(p) < 2.0**52
            table["round_nearest_afz"] = np.where(tie, table["round_nearest_afz"], p)
            wanted = [converted(v, name) for v in table.values()]
        unary = ("negate", "abs", "sign", "floor", "ceil", "round_nearest_even", "round_nearest_afz", "sqrt")
        lines = [f"%r{i} = stablehlo.{op} %a0{'' if op in unary else ', %a1'} : {t}" for i, op in enumerate(table)]
        outputs = [(f"%r{i}", shape(n, name)) for i in range(len(table))]
        for direction, function in (("EQ", np.equal), ("NE", np.not_equal), ("LT", np.less), ("LE", np.less_equal), ("GT", np.greater), ("GE", np.greater_equal)):
            lines.append(f"%c{direction} = stablehlo.compare {direction}, %a0, %a1, FLOAT : ({t}, {t}) -> tensor<{n}xi1>")
            outputs.append((f"%c{direction}", shape(n, "i1")))
            wanted.append(function(p, q))
        lines.append(f"%finite = stablehlo.is_finite %a0 : ({t}) -> tensor<{n}xi1>")
        outputs.append(("%finite", shape(n, "i1")))
        wanted.append(np.isfinite(p))
        got = run(module([shape(n, name)] * 2, lines, outputs), a, b)
        if isinstance(got, str):
            return [(name, got)]
        found = []
        for (value, _), g, w in zip(outputs, got, wanted):
            op = list(table)[int(value[2:])] if value.startswith("%r") else value[1:]
            w = travels(w)
            if op in ("maximum", "minimum"):  # of zeros of both signs either is right
                w, g = w + 0, g + 0
            if np.issubdtype(w.dtype, np.floating) and name != "f8E8M0FNU":  # subnormal results may be flushed
                tiny = np.finfo(w.dtype).tiny
                g, w = (np.where(np.abs(v) < tiny, np.copysign(0, v), v).astype(v.dtype) for v in (g, w))
            found.append((op, same(g, w)))
        return found

    return Case(f"arithmetic_{name}", check)


def integer_arithmetic(name):
    """Integers wrap; division by zero gives -1 and the operand, shifts by the width and more 0 or the sign."""
    def check():
        kind, bits, is_signed = TYPES[name], BITS[name], not name.startswith("u")
        low, high = int(ml_dtypes.iinfo(kind).min), int(ml_dtypes.iinfo(kind).max)
        x = [int(v) for v in integer_values(name)]
        a, b = [p for p in x for _ in x], [q for _ in x for q in x]
        n = len(a)
        mask = 2**bits - 1

        def wrap(v):
            v &= mask
            return v - 2**bits if is_signed and v > high else v

        def divide(p, q):
            if q == 0:
                return -1
            return -(abs(p) // abs(q)) if (p < 0) != (q < 0) else abs(p) // abs(q)

        def remainder(p, q):
            return p if q == 0 else (-1 if p < 0 else 1) * (abs(p) % abs(q))

        def power(p, q):
            if q < 0:
                return 1 if p == 1 else (1 if q % 2 == 0 else -1) if p == -1 else 0
            return pow(p & mask, q, 2**bits)

        unsigned = lambda v: v & mask
        two = {"add": lambda p, q: p + q, "subtract": lambda p, q: p - q, "multiply": lambda p, q: p * q, "divide": divide, "remainder": remainder,
               "maximum": max, "minimum": min, "and": lambda p, q: p & q, "or": lambda p, q: p | q, "xor": lambda p, q: p ^ q, "power": power,
               "shift_left": lambda p, q: p << unsigned(q) if unsigned(q) < bits else 0,
               "shift_right_logical": lambda p, q: unsigned(p) >> unsigned(q) if unsigned(q) < bits else 0,
               "shift_right_arithmetic": lambda p, q: (wrap(p) if is_signed else (p - 2**bits if p >> (bits - 1) else p)) >> min(unsigned(q), bits)}
        one = {"negate": lambda p: -p, "not": lambda p: ~p, "popcnt": lambda p: unsigned(p).bit_count(),
               "count_leading_zeros": lambda p: bits - unsigned(p).bit_length()}
        if is_signed:
            one |= {"abs": abs, "sign": lambda p: (p > 0) - (p < 0)}
        t = f"tensor<{n}x{name}>"
        lines = [f"%{op} = stablehlo.{op} %a0, %a1 : {t}" for op in two] + [f"%{op} = stablehlo.{op} %a0 : {t}" for op in one]
        outputs = [(f"%{op}", shape(n, name)) for op in list(two) + list(one)]
        wanted = [[wrap(f(p, q)) for p, q in zip(a, b)] for f in two.values()] + [[wrap(f(p)) for p in a] for f in one.values()]
        got = run(module([shape(n, name)] * 2, lines, outputs), integers(a, name), integers(b, name))
        if isinstance(got, str):
            return [(name, got)]
        return [(op[1:], same(g, integers(w, name)))
                for (op, _), g, w in zip(outputs, got, wanted)]

    return Case(f"integers_{name}", check)


def total_order(name):
    """-NaN < -inf < .. < -0 < 0 < .. < inf < NaN, as jax.lax.sort orders."""
    def check():
        top = 448 if name == "f8E4M3FN" else np.inf
        x = np.array([-top, -3, -1, -0.0, 0.0, 0.5, 2, top, np.nan]).astype(TYPES[name])
        a, b = (v.ravel() for v in np.meshgrid(x, x))
        place = np.arange(len(x))
        p, q = (v.ravel() for v in np.meshgrid(place, place))
        t = f"tensor<{len(a)}x{name}>"
        table = {"LT": p < q, "LE": p <= q, "GT": p > q, "GE": p >= q, "EQ": p == q, "NE": p != q}
        lines = [f"%{d} = stablehlo.compare {d}, %a0, %a1, TOTALORDER : ({t}, {t}) -> tensor<{len(a)}xi1>" for d in table]
        got = run(module([shape(len(a), name)] * 2, lines, [(f"%{d}", shape(len(a), "i1")) for d in table]), a, b)
        if isinstance(got, str):
            return [(name, got)]
        return [(d, same(g, w)) for (d, w), g in zip(table.items(), got)]

    return Case(f"total_order_{name}", check)


def odd_functions(name):
    """Of zeros they are those zeros, whether kernels find them in an array or LLVM in a constant."""
    def check():
        x = np.array([-0.0, 0.0] * 9).astype(TYPES[name])
        t, ops = f"tensor<18x{name}>", ["sine", "tan", "tanh", "exponential_minus_one", "log_plus_one", "cbrt", "sqrt", "sign", "round_nearest_even"]
        lines = [f"%c = stablehlo.constant dense<[{', '.join(['-0.0, 0.0'] * 9)}]> : {t}"]
        lines += [f"%{v}{op} = stablehlo.{op} %{v} : {t}" for op in ops for v in ("a0", "c")]
        got = run(module([shape(18, name)], lines, [(f"%{v}{op}", shape(18, name)) for op in ops for v in ("a0", "c")]), x)
        if isinstance(got, str):
            return [(name, got)]
        return [(op, same(g, x)) for op, g in zip([op for op in ops for _ in range(2)], got)]

    return Case(f"odd_functions_{name}", check)


def picked_across_shards(name):
    """Rows by an index, of which each of four devices has some: the very elements come, NaN, zeros with their signs, and where there is no zero."""
    def check():
        special = [np.nan, 0.25] if name == "f8E8M0FNU" else [-0.0, 0.0] if name.startswith(("f4", "f6")) else [np.nan, -0.0, 0.0]
        x = np.resize(np.array(special + [0.5, 1, 2, 4, 1]).astype(TYPES[name]), (10, 3))
        table, two, picked = f"tensor<10x3x{name}>", f"tensor<2x3x{name}>", f"tensor<4x3x{name}>"
        text = f"""sdy.mesh @m = <["x"=4]>
func.func @main(%a: {table} {{sdy.sharding = #sdy.sharding<@m, [{{"x"}}, {{}}]>}}, %i: tensor<4x1xi32>, %s: tensor<i32>) -> ({picked}, {two}) {{
  %g = "stablehlo.gather"(%a, %i) <{{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}}> : ({table}, tensor<4x1xi32>) -> {picked}
  %d = stablehlo.dynamic_slice %a, %s, %s, sizes = [2, 3] : ({table}, tensor<i32>, tensor<i32>) -> {two}
  return %g, %d : {picked}, {two}
}}
"""
        got = run(text, x, np.array([[0], [9], [4], [5]], np.int32), np.int32(2))
        if isinstance(got, str):
            return [(name, got)]
        return [(op, same(g, w)) for op, g, w in zip(("gather", "dynamic_slice"), got, (x[[0, 9, 4, 5]], x[2:4]))]

    return Case(f"picked_across_shards_{name}", check)


def infinite_parts(name):
    """Inverse functions where a part is infinite or NaN: C's Annex G by way of numpy, but for the signs that it leaves open."""
    def check():
        parts = np.array([np.inf, -np.inf, np.nan, 2.5])
        x = np.empty(16, TYPES[name])
        x.real, x.imag = np.repeat(parts, 4), np.tile(parts, 4)
        x = x[~np.isfinite(x)]
        t, table = f"tensor<{len(x)}x{name}>", {"asin": np.arcsin, "acos": np.arccos, "asinh": np.arcsinh, "acosh": np.arccosh, "atan": np.arctan, "atanh": np.arctanh}
        got = run(module([shape(len(x), name)], [f"%{op} = chlo.{op} %a0 : {t} -> {t}" for op in table], [(f"%{op}", shape(len(x), name)) for op in table]), x)
        if isinstance(got, str):
            return [(name, got)]
        magnitude = lambda v: np.stack([np.abs(v.real), np.abs(v.imag)]).round(5)
        with np.errstate(all="ignore"):
            return [(op, same(magnitude(g), magnitude(f(x)))) for (op, f), g in zip(table.items(), got)]

    return Case(f"infinite_parts_{name.strip('>').replace('<', '_')}", check)


def constants():
    def check():
        table = {"dense<[1, -2, 7, -8]> : tensor<4xi4>": np.array([1, -2, 7, -8], np.int8), "dense<-3> : tensor<2xi4>": np.array([-3, -3], np.int8),
                 "dense<[3, 0]> : tensor<2xui2>": np.array([3, 0], np.uint8), "dense<[-2, 1]> : tensor<2xi2>": np.array([-2, 1], np.int8),
                 "dense<15> : tensor<ui4>": np.array(15, np.uint8),
                 "dense<[true, false, true]> : tensor<3xi1>": np.array([True, False, True]),
                 "dense<0xFFC00000> : tensor<2xf32>": np.array([np.nan, np.nan], np.float32), "dense<0x7F800000> : tensor<f32>": np.array(np.inf, np.float32),
                 "dense<[(1.0,-2.0), (0.5,3.0)]> : tensor<2xcomplex<f32>>": np.array([1 - 2j, 0.5 + 3j], np.complex64),
                 "dense<(1.0,2.0)> : tensor<2xcomplex<f64>>": np.array([1 + 2j] * 2, np.complex128),
                 "dense<[1.5, -6.0, 0.3]> : tensor<3xf4E2M1FN>": np.array([1.5, -6, 0.5], np.float32),
                 "dense<448.0> : tensor<2xf8E4M3FN>": np.array([448, 448], np.float32), "dense<[0x7F, 0x38]> : tensor<2xf8E4M3FN>": np.array([np.nan, 1], np.float32),
                 "dense<[1.0, 0.75]> : tensor<2xbf16>": np.array([1, 0.75], np.float32), 'dense<"0x0100000000000080"> : tensor<2xi32>': np.array([1, -2**31], np.int32),
                 'dense<"0x01FF"> : tensor<2xi8>': np.array([1, -1], np.int8), "dense<1.0e+300> : tensor<f64>": np.array(1e300)}
        lines, outputs, wanted = [], [], []
        for i, (text, want) in enumerate(table.items()):
            kind = text.split("tensor<", 1)[1][:-1]
            lines.append(f"%c{i} = stablehlo.constant {text}")
            outputs.append((f"%c{i}", kind))
            wanted.append(want)
            if "f32" in kind or "i4" in kind:  # and through a kernel
                lines.append(f"%r{i} = stablehlo.negate %c{i} : tensor<{kind}>")
                outputs.append((f"%r{i}", kind))
                negative = -want
                wanted.append(np.where(negative == 8, -8, negative).astype(want.dtype) if want.dtype == np.int8 else
                              negative & 15 if want.dtype == np.uint8 else negative)
        got = run(module([], lines, outputs))
        if isinstance(got, str):
            return [("constants", got)]
        return [(f"{v} : {t}", same(g, w)) for (v, t), g, w in zip(outputs, got, wanted)]

    return Case("constants", check)


def cases():
    found = [conversions(name) for name in TYPES] + [bitcasts(name) for name in TYPES]
    found += [arithmetic(name) for name in FLOATS] + [integer_arithmetic(name) for name in INTEGERS]
    found += [total_order(name) for name in ("f8E5M2", "f8E4M3FN", "bf16", "f16", "f32", "f64")] + [constants()]
    found += [odd_functions(name) for name in ("f4E2M1FN", "f8E5M2", "bf16", "f16", "f32", "f64")]
    found += [picked_across_shards(name) for name in FLOATS]
    found += [infinite_parts(name) for name in ("complex<f32>", "complex<f64>")]
    return found


def check(case):
    """Yields (label, None or what is wrong)."""
    yield from case.check()
