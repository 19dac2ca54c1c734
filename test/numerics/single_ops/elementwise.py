"""Elementwise ops, conversions, constants of a shape, and selections."""
import numpy as np
from case import Case
from element_types import ALL, BY_NAME, FLOATS, Forced, I1, I32, PLAIN, choose, data, of

# name -> (types, units in the last place of its type that a result may be away)
UNARY = {
    "abs": (of("sint", "float", "complex"), 4), "cbrt": (of("float"), 8), "ceil": (of("float"), 0), "cosine": (of("float", "complex"), 8),
    "count_leading_zeros": (of("int"), 0), "exponential": (of("float", "complex"), 8), "exponential_minus_one": (of("float", "complex"), 8),
    "floor": (of("float"), 0), "log": (of("float", "complex"), 8), "log_plus_one": (of("float", "complex"), 8),
    "logistic": (of("float", "complex"), 8), "negate": (of("int", "float", "complex"), 0), "not": (of("bool", "int"), 0),
    "popcnt": (of("int"), 0), "round_nearest_afz": (of("float"), 0), "round_nearest_even": (of("float"), 0),
    "rsqrt": (of("float", "complex"), 8), "sign": (of("sint", "float", "complex"), 4), "sine": (of("float", "complex"), 8),
    "sqrt": (of("float", "complex"), 8), "tan": (of("float", "complex"), 8), "tanh": (of("float", "complex"), 8),
}
EXACT_UNARY_REAL = {"abs", "sign"}
BINARY = {
    "add": (PLAIN, 0), "and": (of("bool", "int"), 0), "atan2": (of("float", "complex"), 8), "divide": (of("int", "float", "complex"), 2),
    "maximum": (of("bool", "int", "float"), 0), "minimum": (of("bool", "int", "float"), 0), "multiply": (PLAIN, 0), "or": (of("bool", "int"), 0),
    "power": (of("int", "float", "complex"), 8), "remainder": (of("int", "float"), 0), "shift_left": (of("int"), 0),
    "shift_right_arithmetic": (of("int"), 0), "shift_right_logical": (of("int"), 0), "subtract": (of("int", "float", "complex"), 0),
    "xor": (of("bool", "int"), 0),
}


# Types below a byte, whose rounding the interpreter has not: in float64, rounded once.
BY_NUMPY = {"abs": np.abs, "cbrt": np.cbrt, "ceil": np.ceil, "cosine": np.cos, "exponential": np.exp, "exponential_minus_one": np.expm1, "floor": np.floor,
            "log": np.log, "log_plus_one": np.log1p, "logistic": lambda x: 1 / (1 + np.exp(-x)), "negate": np.negative, "round_nearest_even": np.rint,
            "round_nearest_afz": lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x), "rsqrt": lambda x: 1 / np.sqrt(x), "sign": np.sign, "sine": np.sin,
            "sqrt": np.sqrt, "tan": np.tan, "tanh": np.tanh, "add": np.add, "atan2": np.arctan2, "divide": np.divide, "maximum": np.maximum,
            "minimum": np.minimum, "multiply": np.multiply, "power": np.power, "remainder": np.fmod, "subtract": np.subtract}


def _by_numpy(c, name):
    if c.args[0].type.kind == "float" and c.args[0].type.bits < 8:
        with np.errstate(all="ignore"):
            x = BY_NUMPY[name](*(x.astype(np.float64) for x in c.data))
            known = np.where(np.isnan(x), 0, x)  # NaN has no number here
            c.expected = [known.astype(np.float32).astype(c.results[0].type.dtype)]
            c.unknown = np.isnan(x)
    return c


def unary(rng, name, **options):
    c = Case(rng, name, **options)
    types, ulps = UNARY[name]
    t, shape = choose(rng, types), c.shape()
    x = c.argument(t, shape, data(rng, t, shape))
    result = t.real if name == "abs" else t
    exact = name in EXACT_UNARY_REAL and t.kind != "complex"
    if t.kind == "complex":
        ulps *= 4
    c.returns(c.emit(name, [x], result, shape)).allow(0 if exact or t.kind not in ("float", "complex") else ulps)
    return _by_numpy(c, name)


def binary(rng, name, **options):
    c = Case(rng, name, **options)
    types, ulps = BINARY[name]
    t, shape = choose(rng, types), c.shape()
    # Of large complex numbers the references' formula overflows.
    edges = "special" if name == "atan2" and t.kind == "complex" else "all"
    a, b = data(rng, t, shape, edges), data(rng, t, shape, edges)
    if name.startswith("shift"):
        b = np.where(c.rng.random(shape) < 0.8, rng.integers(0, t.bits, shape, endpoint=True).astype(np.int64), b.astype(np.int64)).astype(t.dtype)
    if name == "power" and t.kind in ("sint", "uint"):
        b = np.where(c.rng.random(shape) < 0.8, rng.integers(0, 3, shape).astype(np.int64), b.astype(np.int64)).astype(t.dtype)
    x, y = c.argument(t, shape, a), c.argument(t, shape, b)
    if t.kind == "complex":
        c.allow(16 if ulps else 4, of_norm=False)
    else:
        c.allow(ulps if t.kind == "float" else 0)
    return _by_numpy(c.returns(c.emit(name, [x, y], t, shape)), name)


def compare(rng, **options):
    c = Case(rng, "compare", **options)
    t, shape = choose(rng, PLAIN), c.shape()
    x, y = data(rng, t, shape), data(rng, t, shape)
    y = np.where(rng.random(shape) < 0.4, x, y).astype(t.dtype)
    direction = c.pick(["EQ", "NE"] if t.kind == "complex" else ["EQ", "NE", "GE", "GT", "LE", "LT"])
    order = {"float": ["FLOAT", "TOTALORDER"], "complex": ["FLOAT"], "sint": ["SIGNED"]}.get(t.kind, ["UNSIGNED"])
    attributes = f"comparison_direction = #stablehlo<comparison_direction {direction}>"
    kind = c.pick(order + [None])
    if kind:
        attributes += f", compare_type = #stablehlo<comparison_type {kind}>"
    return c.returns(c.emit("compare", [c.argument(t, shape, x), c.argument(t, shape, y)], I1, shape, attributes))


def clamp(rng, **options):
    c = Case(rng, "clamp", **options)
    t, shape = choose(rng, of("int", "float", "bool")), c.shape()
    bound = lambda: shape if c.chance() else ()
    low, high = bound(), bound()
    operands = [c.argument(t, s, data(rng, t, s)) for s in (low, shape, high)]
    return c.returns(c.emit("clamp", operands, t, shape))


def select(rng, **options):
    c = Case(rng, "select", **options)
    t, shape = choose(rng, PLAIN), c.shape()
    predicate = shape if c.chance(0.7) else ()
    operands = [c.argument(I1, predicate, data(rng, I1, predicate)), *(c.argument(t, shape, data(rng, t, shape)) for _ in "ab")]
    return c.returns(c.emit("select", operands, t, shape))


def convert(rng, **options):
    c = Case(rng, "convert", **options)
    types = ALL if c.chance(0.3) else PLAIN
    t, to, shape = choose(rng, types), choose(rng, types), c.shape()
    if t.kind == "complex" and to.kind != "complex":
        to = BY_NAME["f32"]
    if Forced.type:
        t, to = (t, I32) if c.chance() and t.kind != "complex" else (BY_NAME["f32"], t)
    x = c.argument(t, shape, data(rng, t, shape))
    c.label = f"{t} -> {to}"
    return c.returns(c.emit("convert", [x], to, shape))


def bitcast_convert(rng, **options):
    c = Case(rng, "bitcast_convert", **options)
    while True:
        t, to = choose(rng, PLAIN), choose(rng, PLAIN)
        if Forced.type:
            t, to = Forced.type, {1: I1, 2: BY_NAME["ui8"], 4: BY_NAME["ui8"], 6: BY_NAME["f6E2M3FN"], 8: BY_NAME["i32"], 16: BY_NAME["i8"],
                                  32: I32, 64: BY_NAME["f64"], 128: BY_NAME["complex<f64>"]}[Forced.type.bits]
            to = t if t.kind == "complex" else to
            break
        if t.kind == to.kind == "complex" or "complex" not in (t.kind, to.kind) and min(t.bits, to.bits) > 1 and t.bits % to.bits * (to.bits % t.bits) == 0:
            break
    shape = c.shape(high=3)
    if t.bits < to.bits:
        result, shape = shape, shape + (to.bits // t.bits,)
    else:
        result = shape + ((t.bits // to.bits,) if t.bits > to.bits else ())
    values = data(rng, t, shape)
    if to.kind in ("float", "complex"):  # NaNs' bits are not kept by everyone
        values = data(rng, to, result, "special").view() if t is to else values
    return c.returns(c.emit("bitcast_convert", [c.argument(t, shape, values)], to, result))


def reduce_precision(rng, **options):
    c = Case(rng, "reduce_precision", **options)
    t, shape = choose(rng, FLOATS), c.shape()
    exponent, mantissa = int(rng.integers(1, 12)), int(rng.integers(0, 30))
    return c.returns(c.emit("reduce_precision", [c.argument(t, shape, data(rng, t, shape))], t, shape,
                            f"exponent_bits = {exponent} : i32, mantissa_bits = {mantissa} : i32"))


def part(rng, name, **options):
    c = Case(rng, name, **options)
    shape = c.shape()
    if name == "complex":
        t = choose(rng, of("complex"))
        operands = [c.argument(t.real, shape, data(rng, t.real, shape)) for _ in "ab"]
        return c.returns(c.emit(name, operands, t, shape))
    t = choose(rng, of("float") if name == "is_finite" else of("float", "complex"))
    return c.returns(c.emit(name, [c.argument(t, shape, data(rng, t, shape))], I1 if name == "is_finite" else t.real, shape))


def iota(rng, **options):
    c = Case(rng, "iota", **options)
    t, shape = choose(rng, of("int", "float", "complex")), c.shape(low=1)
    d = int(rng.integers(len(shape)))
    c.label = str(t)
    return c.returns(c.emit("iota", [], t, shape, f"iota_dimension = {d} : i64"))


def constant(rng, **options):
    c = Case(rng, "constant", **options)
    t, shape = choose(rng, PLAIN), c.shape(high=3)
    values = data(rng, t, shape, None)
    number = lambda x: f"{float(x):e}"
    scalar = lambda x: (str(bool(x)).lower() if t.kind == "bool" else number(x) if t.kind == "float" else f"({number(x.real)}, {number(x.imag)})" if t.kind == "complex"
                        else str(int(x)))
    nested = lambda x: "[" + ", ".join(map(nested, x)) + "]" if x.ndim else scalar(x)
    if values.size and c.chance(0.3):
        values = values.ravel()[0]
    c.label = str(t)
    return c.returns(c.constant(t, shape, nested(values) if values.size else ""))


GENERATORS = ([(name, lambda rng, name=name, **o: unary(rng, name, **o), 1) for name in UNARY]
              + [(name, lambda rng, name=name, **o: binary(rng, name, **o), 1) for name in BINARY]
              + [(name, lambda rng, name=name, **o: part(rng, name, **o), 0.5) for name in ("complex", "real", "imag", "is_finite")]
              + [("compare", compare, 2), ("clamp", clamp, 2), ("select", select, 2), ("convert", convert, 4), ("bitcast_convert", bitcast_convert, 2),
                 ("reduce_precision", reduce_precision, 1), ("iota", iota, 2), ("constant", constant, 1)])
