"""Distance of every elementary and special function from the exact value, in units in the last place.

f32 is held against float64, and so are all numbers of f16 and bf16; f64 against 80-bit long double, or scipy's float64 functions with a wider bound. Arguments are taken from all
bit patterns, each an edge value or of some magnitude. Results that are subnormal are left out: kernels flush them.
The table of docs/numbers.md is what `numerics.py accuracy` prints with more samples.
"""
import dataclasses
import warnings

import ml_dtypes
import numpy as np
import scipy.special as special
from element_types import module, run, shape

LONG = np.longdouble
SQRT_PI = np.sqrt(np.arctan2(LONG(0), LONG(-1)))


def exact_erfc_tail(x):
    """erfc of x >= 2 by its continued fraction, from the inside out."""
    fraction = np.zeros_like(x)
    for k in range(200, 0, -1):
        fraction = k / 2 / (x + fraction)
    return np.exp(-x * x) / (SQRT_PI * (x + fraction))


def exact_erf_centre(x):
    """erf of |x| < 2 by the series exp(-x^2) sum 2^(k+1) x^(2k+1) / (2k+1)!! / sqrt(pi), whose terms have one sign."""
    term, total = x.copy(), x.copy()
    for k in range(1, 80):
        term = term * (2 * x * x / (2 * k + 1))
        total = total + term
    return total * np.exp(-x * x) * 2 / SQRT_PI


def exact_erf(x):
    y = np.abs(x)
    inner = exact_erf_centre(np.where(y < 2, x, 0 * x))
    return np.where(y < 2, inner, np.sign(x) * (1 - exact_erfc_tail(np.where(y < 2, 2, y))))


def exact_erfc(x):
    y = np.abs(x)
    tail = exact_erfc_tail(np.where(y < 2, 2, y))
    return np.where(y < 2, 1 - exact_erf_centre(np.where(y < 2, x, 0 * x)), np.where(x < 0, 2 - tail, tail))


def exact_erf_inv(x):
    y = special.erfinv(x.astype(np.float64)).astype(x.dtype)
    inside = np.abs(x) < 1
    z = np.where(inside & (x != 0), y, LONG(0.5))
    rest = np.where(np.abs(z) < 0.5, exact_erf(z) - x, np.sign(z) * ((1 - np.abs(x)) - exact_erfc(np.abs(z))))
    newton = z - rest * SQRT_PI / 2 * np.exp(z * z)
    return np.where(inside & (x != 0), newton, np.where(x == 0, x, y))


def exact_lgamma(x):
    return np.where(np.isinf(x), np.inf, special.gammaln(x))


def exact_digamma(x):
    pole = (x <= 0) & (np.floor(x) == x)
    return np.where(pole, np.nan, special.psi(x))


def bounded(x, low, high):
    """Folded into [low, high]."""
    span = type(x.flat[0])(high - low)
    return (low + np.abs(np.where(np.isfinite(x), x, 1)) % span).astype(x.dtype)


def away_from_poles(x):
    """Without what scipy's digamma has few digits of."""
    bad = (x < -1e4) | ((x < 0) & (np.abs(x - np.rint(x)) < 0.05))
    return np.where(bad & (x != np.rint(x)), x.dtype.type(0.5), x)


@dataclasses.dataclass
class Function:
    name: str
    op: str
    exact: object
    f32: float = 4  # bounds in units in the last place
    f64: float = 4
    operands: int = 1
    long: bool = True  # exact works in long double
    floor: float = 0  # f64: errors of results below this are measured at it, about zeros that no argument hits
    arguments: object = lambda *x: x  # where only a part of all numbers is in the domain


FUNCTIONS = [
    Function("exponential", "stablehlo.exponential", np.exp),
    Function("exponential_minus_one", "stablehlo.exponential_minus_one", np.expm1),
    Function("log", "stablehlo.log", np.log),
    Function("log_plus_one", "stablehlo.log_plus_one", np.log1p),
    Function("sine", "stablehlo.sine", np.sin),
    Function("cosine", "stablehlo.cosine", np.cos),
    Function("tan", "stablehlo.tan", np.tan),
    Function("tanh", "stablehlo.tanh", np.tanh),
    Function("logistic", "stablehlo.logistic", lambda x: 1 / (1 + np.exp(-x))),
    Function("sqrt", "stablehlo.sqrt", np.sqrt, f32=0.51, f64=0.51),
    Function("rsqrt", "stablehlo.rsqrt", lambda x: 1 / np.sqrt(x)),
    Function("cbrt", "stablehlo.cbrt", np.cbrt),
    Function("power", "stablehlo.power", np.power, operands=2),
    Function("atan2", "stablehlo.atan2", np.arctan2, operands=2),
    Function("erf", "chlo.erf", exact_erf),
    Function("erfc", "chlo.erfc", exact_erfc, f64=6),
    Function("erf_inv", "chlo.erf_inv", exact_erf_inv, f64=5),
    Function("sinh", "chlo.sinh", np.sinh),
    Function("cosh", "chlo.cosh", np.cosh),
    Function("asin", "chlo.asin", np.arcsin),
    Function("acos", "chlo.acos", np.arccos),
    Function("atan", "chlo.atan", np.arctan),
    Function("asinh", "chlo.asinh", np.arcsinh),
    Function("acosh", "chlo.acosh", np.arccosh),
    Function("atanh", "chlo.atanh", np.arctanh),
    Function("lgamma", "chlo.lgamma", exact_lgamma, f64=64, long=False, floor=1),
    Function("digamma", "chlo.digamma", exact_digamma, f64=64, long=False, floor=1, arguments=lambda x: (away_from_poles(x),)),
    Function("zeta", "chlo.zeta", special.zeta, f64=8, operands=2, long=False, arguments=lambda x, q: (bounded(x, 1.125, 9), bounded(q, 0.25, 40))),
    Function("polygamma", "chlo.polygamma", lambda n, x: special.polygamma(n.astype(int), x), f64=32, operands=2, long=False,
             arguments=lambda n, x: (np.floor(bounded(n, 0, 6)), bounded(x, 0.25, 40)), floor=1),
    Function("bessel_i1e", "chlo.bessel_i1e", special.i1e, f64=16, long=False),
]


def samples(dtype, count, seed):
    """Edge values, all bit patterns, and as many of moderate magnitude."""
    rng = np.random.default_rng(seed)
    unsigned = np.uint32 if dtype == np.float32 else np.uint64
    patterns = rng.integers(0, np.iinfo(unsigned).max, count // 2, unsigned, endpoint=True).view(dtype)
    near = (rng.standard_normal(count) * 10.0 ** rng.uniform(-3, 2, count)).astype(dtype)
    ends = (1 - 10.0 ** rng.uniform(-16, 0, count // 8)).astype(dtype)
    steps = np.arange(-300, 300).astype(dtype) / dtype(8)
    largest, least = np.finfo(dtype).max, np.finfo(dtype).tiny
    edge = np.array([0.0, -0.0, 1, -1, 2, 0.5, np.inf, -np.inf, np.nan, largest, -largest, least, -least, 1e30, -1e30, np.pi, np.pi / 2, 355], dtype)
    x = np.concatenate([patterns, near, ends, -ends, steps, edge])
    return np.where((np.abs(x) < least) & (x != 0), dtype(0.5), x)


def units(got, exact, dtype, floor, signs):
    """|got - exact| in units in the last place of `exact`; infinite where one is NaN or infinite and the other is not."""
    info = np.finfo(dtype)
    least, eps = float(info.tiny), float(info.eps)
    size = np.maximum(np.abs(exact), max(least, floor))
    error = np.abs(got.astype(exact.dtype) - exact) / np.exp2(np.floor(np.log2(size)) - info.nmant)
    agrees = (np.isnan(got) & np.isnan(exact)) | (got == exact.astype(dtype))
    overflows = np.isinf(got) & (np.abs(exact) > float(info.max) * (1 - 4 * eps)) & (np.sign(got) == np.sign(exact))
    error = np.where(np.isfinite(got) & np.isfinite(exact), error, np.where(agrees | overflows, 0, np.inf))
    boundary = least * (1 + 8 * eps)
    flushed = (np.abs(exact) < boundary) & (np.abs(got) <= boundary) & (exact != 0)
    wrong_zero = signs & (exact == 0) & (got == 0) & (np.signbit(got) != np.signbit(exact))
    return np.where(flushed, 0, np.where(wrong_zero, np.inf, error)).astype(np.float64)


def measure(functions, dtype, count, seed):
    """(function, worst error, its arguments, what came out) of each; all in one program."""
    name = "f32" if dtype == np.float32 else "f64"
    x, y = samples(dtype, count, seed), np.random.default_rng(seed).permutation(samples(dtype, count, seed + 1))
    n, lines, inputs, used = len(x), [], [], []
    t = f"tensor<{n}x{name}>"
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i, f in enumerate(functions):
            arguments = f.arguments(*(x, y)[: f.operands])
            used.append(arguments)
            operands = ", ".join(f"%a{len(inputs) + k}" for k in range(f.operands))
            inputs += arguments
            kinds = t if f.op.startswith("stablehlo.") else f"{t}, {t} -> {t}" if f.operands == 2 else f"{t} -> {t}"
            lines.append(f"%r{i} = {f.op} {operands} : {kinds}")
        got = run(module([shape(n, name)] * len(inputs), lines, [(f"%r{i}", shape(n, name)) for i in range(len(functions))]), *inputs)
        if isinstance(got, str):
            raise RuntimeError(got)
        for f, result, arguments in zip(functions, got, used):
            wide = LONG if f.long and (dtype == np.float64 or f.exact.__module__ == __name__) else np.float64
            exact = np.asarray(f.exact(*(v.astype(wide) for v in arguments)))
            error = units(result, exact, dtype, f.floor if dtype == np.float64 else 0, f.long)
            i = int(np.argmax(error))
            yield f, float(error[i]), [v[i] for v in arguments], result[i]


def measure_narrow(functions, name, dtype):
    """Every number of f16 or bf16: (function, worst error, argument, what came out)."""
    x = np.arange(1 << 16, dtype=np.uint16).view(dtype)
    single = x.astype(np.float32)
    x = x[np.isnan(single) | (np.abs(single) >= np.finfo(np.float32).tiny) | (single == 0)]
    info = ml_dtypes.finfo(dtype)
    t = f"tensor<{len(x)}x{name}>"
    functions = [f for f in functions if f.operands == 1]
    lines = [f"%r{i} = {f.op} %a0 : {t}" + ("" if f.op.startswith("stablehlo.") else f" -> {t}") for i, f in enumerate(functions)]
    got = run(module([shape(len(x), name)], lines, [(f"%r{i}", shape(len(x), name)) for i in range(len(functions))]), x)
    if isinstance(got, str):
        raise RuntimeError(got)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for f, result in zip(functions, got):
            argument = x.astype(LONG if f.long and f.exact.__module__ == __name__ else np.float64)
            exact = np.asarray(f.exact(argument)).astype(np.float64)
            size = np.maximum(np.abs(exact), float(info.smallest_normal))
            error = np.abs(result.astype(np.float64) - exact) / np.exp2(np.floor(np.log2(size)) - info.nmant)
            rounded = exact.astype(np.float32).astype(dtype).astype(np.float32)
            error = np.where((rounded == result) | (np.isnan(exact) & np.isnan(result)), np.where(np.isfinite(error), error, 0), error)
            flushed = (np.abs(exact) < np.finfo(np.float32).tiny) & (np.abs(result) <= np.finfo(np.float32).tiny)
            error = np.where(np.isnan(error), np.inf, np.where(flushed, 0, error))
            i = int(np.argmax(error))
            yield f, float(error[i]), [x[i]], result[i]


COMPLEX = {"exponential": np.exp, "exponential_minus_one": np.expm1, "log": np.log, "log_plus_one": np.log1p, "sine": np.sin, "cosine": np.cos,
           "tan": np.tan, "tanh": np.tanh, "logistic": lambda z: 1 / (1 + np.exp(-z)), "sqrt": np.sqrt, "rsqrt": lambda z: 1 / np.sqrt(z),
           "cbrt": lambda z: np.exp(np.log(z) / 3), "sign": lambda z: z / np.abs(z), "power": np.power, "divide": np.divide,
           "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh,
           "sinh": np.sinh, "cosh": np.cosh, "atan2": lambda y, x: atan2(y, x)}
CHLO = ("asin", "acos", "atan", "asinh", "acosh", "atanh", "sinh", "cosh")


def atan2(y, x):
    """-i log((x + iy) / sqrt(x^2 + y^2)), as an arc tangent: of no small difference."""
    root = np.sqrt(x * x + y * y)
    near = 2 * np.arctan(y / (x + root))
    return np.where((x * root.conj()).real > 0, near, -1j * np.log((x + 1j * y) / root))


def measure_complex(name, dtype, count, seed):
    """(function, |got - exact| / (eps |exact|) at its worst, arguments, what came out)."""
    rng = np.random.default_rng(seed)
    draw = lambda: (rng.standard_normal(count) * 10.0 ** rng.uniform(-3, 0.5, count)).astype(np.finfo(dtype).dtype)
    a, b = ((draw() + 1j * draw()).astype(dtype) for _ in range(2))
    t = f"tensor<{count}x{name}>"
    lines = []
    for op in COMPLEX:
        operands = "%a0, %a1" if op in ("power", "divide", "atan2") else "%a0"
        lines.append(f"%{op} = chlo.{op} %a0 : {t} -> {t}" if op in CHLO else f"%{op} = stablehlo.{op} {operands} : {t}")
    got = run(module([shape(count, name)] * 2, lines, [(f"%{op}", shape(count, name)) for op in COMPLEX]), a, b)
    if isinstance(got, str):
        raise RuntimeError(got)
    exact_type = np.clongdouble if dtype == np.complex128 else np.complex128
    for (op, exact), result in zip(COMPLEX.items(), got):
        arguments = (a, b) if op in ("power", "divide", "atan2") else (a,)
        want = exact(*(v.astype(exact_type) for v in arguments))
        error = np.abs(result.astype(exact_type) - want) / np.abs(want) / np.finfo(dtype).eps
        i = int(np.argmax(error))
        yield op, float(error[i]), [v[i] for v in arguments], result[i]


@dataclasses.dataclass
class Case:
    name: str
    measure: object  # (count, seed) -> (function, error, arguments, result)
    limit: object  # function -> error allowed


def cases():
    narrow = lambda name, dtype: Case(name, lambda count, seed: measure_narrow(FUNCTIONS, name, dtype), lambda f: 0.51)
    several = lambda name, dtype, limit: Case(name, lambda count, seed: measure_complex(name, dtype, count // 4, seed), limit)
    return [Case("f32", lambda *how: measure(FUNCTIONS, np.float32, *how), lambda f: f.f32),
            Case("f64", lambda *how: measure(FUNCTIONS, np.float64, *how), lambda f: f.f64),
            narrow("f16", np.float16), narrow("bf16", ml_dtypes.bfloat16),
            several("complex<f32>", np.complex64, lambda op: 1.5), several("complex<f64>", np.complex128, lambda op: 64 if op == "power" else 8)]


def check(case, count=1 << 14, seed=0):
    """Yields (function and its worst error, None or what is wrong)."""
    for f, error, arguments, result in case.measure(count, seed):
        limit = case.limit(f)
        yield f"{getattr(f, 'name', f)} {error:.2f}", None if error <= limit else \
            f"{error:.2f} units in the last place at {', '.join(map(repr, arguments))}: {result!r}; {limit} allowed"
