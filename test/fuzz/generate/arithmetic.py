"""Operations element by element."""
import numpy as np

from .elements import BF16, C64, F16, F32, F64, I1, I32, INTEGERS, Inexact, is_rounded
from .builder import i64s
from .movement import spread


def same_shape(b, x, span=None):
    """A value of x's type: from the pool, a broadcast one, or new."""
    agrees = lambda v: v.element is x.element and v.shape == x.shape
    kind = b.rng.random()
    if kind < 0.6 and (y := b.pick(lambda v: agrees(v) and v is not x)):
        return y
    if kind < 0.85 and x.rank:
        dims = sorted(b.rng.sample(range(x.rank), b.rng.randint(0, x.rank - 1)))
        shape = tuple(x.shape[d] for d in dims)
        small = b.pick_or_new(lambda v: v.element is x.element and v.shape == shape, x.element, shape, span)
        return b.emit("stablehlo.broadcast_in_dim", [small], [(x.element, x.shape)], lambda a: [spread(a, x.shape, dims)],
                      f"broadcast_dimensions = {i64s(dims)}")[0]
    return b.argument(x.element, x.shape, span) if b.rng.random() < 0.8 else b.constant(x.element, b.numbers(x.element, x.shape, span)) \
        if x.size <= 64 else constant_like(b, x, b.rng.randint(1, 5))


def constant_like(b, x, number):
    return b.constant(x.element, np.full(x.shape, number))


def remainder(x, y):
    """Of the dividend's sign."""
    if x.dtype.kind in "iu":
        safe = np.where(y == 0, 1, y)
        if x.dtype.kind == "u":
            return x % safe
        return np.fmod(x, np.where(safe == -1, 1, safe))
    return np.fmod(x, y)


def maximum(x, y):
    """As IEEE 754 has it: 0 is larger than -0; numpy gives either."""
    largest = np.maximum(x, y)
    return np.where(largest == 0, np.where(np.signbit(x) & np.signbit(y), -0.0, 0.0), largest).astype(largest.dtype) if largest.dtype.kind == "f" else largest


def minimum(x, y):
    return -maximum(-x, -y) if x.dtype.kind == "f" else np.minimum(x, y)


BINARY = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "maximum": maximum, "minimum": minimum}
BITS = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}


def binary(b):
    x = b.pick(lambda v: v.element.kind != "b")
    if not x:
        return False
    names = ["add", "add", "subtract", "multiply", "multiply"] + ["maximum", "minimum"] * (x.element.kind != "c")
    names += list(BITS) * x.element.is_integer
    name = b.rng.choice(names)
    y = same_shape(b, x, 5 if name == "multiply" else None)
    operation = BINARY.get(name) or BITS[name]
    operands = [x, y] if b.rng.random() < 0.7 else [y, x]
    return b.emit(f"stablehlo.{name}", operands, [(x.element, x.shape)], lambda p, q: [operation(p, q)])


def logic(b):
    x = b.pick(lambda v: v.element.kind == "b")
    if not x:
        compare(b)
        x = b.pick(lambda v: v.element.kind == "b")
    if not x:
        return False
    name = b.rng.choice(list(BITS) + ["not"])
    if name == "not":
        return b.emit("stablehlo.not", [x], [(I1, x.shape)], lambda p: [~p])
    return b.emit(f"stablehlo.{name}", [x, same_shape(b, x)], [(I1, x.shape)], lambda p, q: [BITS[name](p, q)])


def sign(a):
    return np.sign(a)


UNARY = {"negate": np.negative, "abs": np.abs, "sign": sign, "floor": np.floor, "ceil": np.ceil}
ROUNDED = {"tanh": np.tanh, "sine": np.sin, "cosine": np.cos, "logistic": lambda a: 1 / (1 + np.exp(-a)),
           "exponential": lambda a: np.exp(a), "sqrt": np.sqrt, "log_plus_one": np.log1p, "rsqrt": lambda a: 1 / np.sqrt(a)}


def unary(b):
    x = b.pick(lambda v: v.element.kind in "fiuc")
    if not x:
        return False
    if not x.exact:
        name = b.rng.choice(["tanh", "sine", "cosine", "logistic", "exponential", "negate", "abs", "tanh"]) if x.element.is_float else "negate"
        if name == "exponential" and np.max(np.abs(x.data)) > 8:
            return False
        return b.emit(f"stablehlo.{name}", [x], [(x.element, x.shape)], lambda a: [(ROUNDED.get(name) or UNARY[name])(a)], rounds=True)
    names = ["negate"] + ["abs", "sign"] * (x.element.kind in "fi") + ["floor", "ceil"] * x.element.is_float + ["not"] * x.element.is_integer
    name = b.rng.choice(names)
    function = UNARY.get(name) or np.invert
    return b.emit(f"stablehlo.{name}", [x], [(x.element, x.shape)], lambda a: [function(a)])


def tame(b, x=None):
    """Small numbers from any: the remainder by a small prime."""
    x = x or b.pick(lambda v: v.element.kind in "fiu" and v.exact and v.size)
    if not x:
        return False
    prime = b.rng.choice([3, 5, 7, 11])
    return b.emit("stablehlo.remainder", [x, constant_like(b, x, prime)], [(x.element, x.shape)], lambda p, q: [remainder(p, q)])


def truncated(p, q):
    """Integers divided, rounded towards zero."""
    return (p // q + ((p % q != 0) & ((p < 0) != (q < 0)))).astype(p.dtype)


def quotient(b, x, divisor):
    return b.emit("stablehlo.divide", [x, constant_like(b, x, divisor)], [(x.element, x.shape)], lambda p, q: [truncated(p, q)])


def divide(b):
    x = b.pick(lambda v: v.element.kind in "fiu")
    if not x:
        return False
    if x.element.is_integer:
        return quotient(b, x, b.rng.choice([2, 3, 7]))
    if x.exact:  # by a power of two
        divisor = constant_like(b, x, b.rng.choice([2, 0.5, 4, -2]))
    else:
        y = same_shape(b, x)
        square = b.emit("stablehlo.multiply", [y, y], [(x.element, x.shape)], lambda p, q: [p * q])[0]
        divisor = b.emit("stablehlo.add", [square, constant_like(b, x, 1)], [(x.element, x.shape)], lambda p, q: [p + q])[0]
    return b.emit("stablehlo.divide", [x, divisor], [(x.element, x.shape)], lambda p, q: [p / q])


ORDER = {"LT": np.less, "LE": np.less_equal, "GT": np.greater, "GE": np.greater_equal, "EQ": np.equal, "NE": np.not_equal}


def compare(b):
    x = b.pick(lambda v: v.element.kind in "fiu" and v.exact)
    if not x:
        return False
    direction = b.rng.choice(list(ORDER))
    return b.emit("stablehlo.compare", [x, same_shape(b, x)], [(I1, x.shape)], lambda p, q: [ORDER[direction](p, q)],
                  f"comparison_direction = #stablehlo<comparison_direction {direction}>")


def select(b):
    p = b.pick(lambda v: v.element.kind == "b" and b.pick(lambda w: w.shape == v.shape and w.element.kind != "b"))
    if p:
        x = b.pick(lambda v: v.shape == p.shape and v.element.kind != "b")
    else:
        x = b.pick()
        p = b.pick(lambda v: v.element.kind == "b" and v.shape == ()) if b.rng.random() < 0.3 else None
        p = p or b.argument(I1, x.shape if b.rng.random() < 0.8 else ())
    y = same_shape(b, x)
    return b.emit("stablehlo.select", [p, x, y], [(x.element, x.shape)], lambda p, x, y: [np.where(p, x, y)])


def clamp(b):
    x = b.pick(lambda v: v.element.kind in "fiu")
    if not x:
        return False
    low = b.argument(x.element, (), 3) if b.rng.random() < 0.5 else same_shape(b, x)
    high = b.argument(x.element, (), 9) if b.rng.random() < 0.5 else same_shape(b, x)
    return b.emit("stablehlo.clamp", [low, x, high], [(x.element, x.shape)], lambda l, x, h: [minimum(maximum(x, l), h)])


def convert(b):
    x = b.pick(lambda v: v.element.kind in "fiub" and v.exact)
    if not x:
        return False
    target = b.rng.choice([e for e in (F32, F32, F32, I32, BF16, F64, F16, I1, b.element, *INTEGERS.values()) if e is not x.element])
    if b.rounding and target.is_float:
        return False
    if is_rounded(x.element) and x.element is BF16 and target is F32:
        return False  # what is converted need not have been rounded
    def evaluate(a):
        if target.kind == "b":
            return [a != 0]
        if target.is_integer and x.element.is_float:
            bounds = np.iinfo(target.held)
            if np.any(np.trunc(a) < bounds.min) or np.any(np.trunc(a) > min(bounds.max, 2**52)):
                raise OutOfRange
            return [np.trunc(a).astype(np.int64).astype(target.held)]
        return [a.astype(target.held)]
    try:
        b.emit("stablehlo.convert", [x], [(target, x.shape)], evaluate)
    except OutOfRange:
        return False
    if x.element.kind != "b" and b.rng.random() < 0.2:  # another reader, of all of it
        b.emit("stablehlo.negate", [x], [(x.element, x.shape)], lambda a: [-a])
    return True


class OutOfRange(Inexact):
    """A conversion to integers whose result is not defined."""


def shift(b):
    x = b.pick(lambda v: v.element.is_integer)
    if not x:
        f = b.pick(lambda v: v.element.is_float and v.exact and v.size and np.max(np.abs(v.data)) < 2**31 - 1)
        if not f:
            return False
        x = b.emit("stablehlo.convert", [f], [(I32, f.shape)], lambda a: [np.trunc(a).astype(np.int32)])[0]
    name = b.rng.choice(["shift_left", "shift_right_logical", "shift_right_arithmetic"])
    bits = x.data.dtype.itemsize * 8
    by = constant_like(b, x, b.rng.randrange(min(bits, 5)))
    signed, unsigned = np.dtype(f"i{bits // 8}"), np.dtype(f"u{bits // 8}")
    def evaluate(a, k):
        if name == "shift_left":
            return [a << k]
        view = a.view(signed if name.endswith("arithmetic") else unsigned) if a.ndim else a.reshape(1).view(
            signed if name.endswith("arithmetic") else unsigned).reshape(())
        return [(view >> k.astype(view.dtype)).astype(a.dtype)]
    return b.emit(f"stablehlo.{name}", [x, by], [(x.element, x.shape)], evaluate)


FAMILY = [(binary, 8), (unary, 4), (tame, 1), (divide, 0.9), (compare, 1.5), (select, 2), (logic, 1.5), (clamp, 0.9), (convert, 2), (shift, 1.6)]
