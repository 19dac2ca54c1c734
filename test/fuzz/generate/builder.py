"""Makes a program op by op: a pool of values, from which each family of operations draws operands and to which it adds results."""
import numpy as np

from . import elements
from .elements import F32, I32, Inexact, check
from .program import Op, Program, Value

SIZES = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 16, 17, 18, 20, 24, 31, 32, 33, 35, 40, 48, 60, 63, 64, 65]
LARGE = [96, 100, 127, 128, 130, 144, 192, 200, 255, 256, 257, 300, 384, 512, 520]


class Builder:
    def __init__(self, rng, *, element=F32, rounding=False, most=6000, parent=None):
        self.rng, self.element, self.rounding, self.most, self.parent = rng, element, rounding, most, parent
        self.pool, self.ops, self.arguments = [], [], parent.arguments if parent else []
        self.mesh, self.has_manual = None, False  # of the entry, where the program itself names its devices
        self.own_arguments = True  # False where a body can't see values from outside
        self.depth = parent.depth + 1 if parent else 0

    # Sizes and numbers.
    def dim(self):
        return self.rng.choice(LARGE if self.rng.random() < 0.12 else SIZES)

    def shape(self, least=0, most=4, limit=None):
        limit = limit or self.most
        rank = self.rng.choice([r for r in (0, 1, 1, 2, 2, 2, 3, 3, 4) if least <= r <= most])
        shape = []
        for _ in range(rank):
            shape.append(self.rng.choice([n for n in (self.dim() for _ in range(6)) if n * int(np.prod(shape)) <= limit] or [1]))
        self.rng.shuffle(shape)
        return tuple(shape)

    def numbers(self, element, shape, span=None):
        """Numbers that all differ as far as the type can tell them apart, or within [-span, span]."""
        n = int(np.prod(shape, dtype=np.int64))
        generator = np.random.default_rng(self.rng.getrandbits(64))
        if element.kind == "b":
            return generator.integers(0, 2, shape).astype(bool)
        if span is None:
            span = 2**element.digits - 1 if elements.is_rounded(element) else {"bf16": 100, "f16": 900, "i8": 100, "ui8": 100}.get(element.name, max(40, n // 2 + 1))
        low = 0 if element.kind == "u" else -span
        if span * (2 if low else 1) + 1 >= n > 8 or self.rng.random() < 0.3:
            values = (generator.permutation(n) if self.rng.random() < 0.5 else np.arange(n)) % (span - low + 1) + low
        else:
            values = generator.integers(low, span + 1, n)
        values = values.reshape(shape)
        if element.kind == "u" and self.rng.random() < 0.3:  # the upper half
            values = np.iinfo(element.held).max - values.astype(element.held)
        if element.kind == "c":
            return values + 1j * generator.integers(-span, span + 1, shape)
        if self.rounding and element.is_float:
            return (values + generator.random(shape)).astype(np.float32).astype(np.float64) / np.float64(span)
        return values.astype(element.held)

    # Values.
    def top(self):
        return self if not self.parent else self.parent.top()

    def argument(self, element, shape, span=None, data=None):
        """A new argument of the entry; in bodies that see nothing from outside, a constant."""
        data = self.numbers(element, shape, span) if data is None else data
        if not self.own_arguments:
            return self.constant(element, data)
        value = self.new_value(element, shape, data)
        self.top().arguments.append(value)
        if not self.parent:
            self.pool.append(value)
        return value

    def new_value(self, element, shape, data):
        if self.rounding and element.is_float:
            return Value(element, shape, data, data.astype(np.float32))
        return Value(element, shape, check(element, np.asarray(data, dtype=element.held)))

    def constant(self, element, data):
        data = np.asarray(data, dtype=element.held)
        return self.emit("stablehlo.constant", [], [(element, data.shape)], lambda: [data],
                         f"value = dense<{dense(element, data)}> : {Value(element, data.shape, data).type}")[0]

    def constant_unchecked(self, element, number):
        """A scalar that need not be finite."""
        data = np.asarray(number, dtype=element.held)
        if element.is_float and not np.isfinite(data):
            width = element.own(0).itemsize * 8
            bits = {"f32": 0x7F800000, "f64": 0x7FF0000000000000, "bf16": 0x7F80, "f16": 0x7C00}[element.name] | (int(data < 0) << (width - 1))
            text = f"0x{bits:0{width // 4}X}"
        else:
            text = dense(element, data)
        op = Op("stablehlo.constant", [], [Value(element, (), data)], f"value = dense<{text}> : tensor<{element.name}>", [], lambda: [data])
        self.ops.append(op)
        return op.results[0]

    def pick(self, fits=lambda v: True):
        found = [v for v in self.pool if fits(v)]
        if not found:
            return None
        # the last ones more often: chains grow long, but branch
        at = len(found) - 1 - min(int(self.rng.expovariate(0.5)), len(found) - 1)
        return found[at] if self.rng.random() < 0.8 else self.rng.choice(found)

    def pick_or_new(self, fits, element, shape, span=None, chance=0.5):
        value = self.pick(fits) if self.rng.random() < chance else None
        return value or self.argument(element, shape, span)

    def emit(self, name, operands, types, evaluate, attributes="", regions=(), rounds=False, evaluated=None):
        """Adds an operation. `rounds`: its results are not exact. Raises Inexact where they should be and are not."""
        exact = not rounds and all(v.exact for v in operands)
        was, elements.checking = elements.checking, exact and elements.checking
        op = Op(name, operands, [], attributes, regions, evaluate, rounds)
        try:
            with np.errstate(all="ignore"):
                arrays = evaluated if evaluated is not None else evaluate(*[v.data for v in operands])
                near = None if exact else evaluate(*[rough(v) for v in operands])
        finally:
            elements.checking = was
        for i, (element, shape) in enumerate(types):
            array = np.asarray(arrays[i])
            assert array.shape == tuple(shape), (name, array.shape, shape)
            approx = None
            if exact:
                array = np.asarray(check(element, array), dtype=element.held)
            elif element.kind in "fc":
                approx = np.asarray(near[i])
                if not np.all(np.isfinite(array)) or not np.all(np.isfinite(approx)) or (array.size and np.max(np.abs(array)) > 1e6):
                    raise Inexact
            elif not np.array_equal(array, near[i]):
                raise Inexact  # rounding decides an integer
            op.results.append(Value(element, shape, array, approx, 0.0 if exact else scale_of(name, operands, array.size)))
        self.ops.append(op)
        self.pool += op.results
        return op.results

    def attempt(self, family):
        """Lets a family add to the program; leaves nothing behind where it could not."""
        top = self.top()
        pool, ops, arguments = len(self.pool), len(self.ops), len(top.arguments)
        top_pool = len(top.pool)
        try:
            had = top.has_manual
            if family(self):
                return True
        except Inexact:
            pass
        top.has_manual = had
        del self.ops[ops:], self.pool[pool:], top.arguments[arguments:]
        if top is not self:
            del top.pool[top_pool:]
        return False


# Operations whose result may be small beside what it is added up from.
SUMS = {"stablehlo." + name for name in ("add", "subtract", "reduce", "reduce_window", "dot_general", "convolution", "fft", "real", "imag")}


def scale_of(name, operands, size):
    """The largest of the terms that a result was added up from; of many terms, what their sums on the way may come to."""
    floats = [v for v in operands if v.size and v.element.kind in "fc"]
    if name in SUMS:
        terms = max((v.size for v in floats), default=1) / max(1, size)
        return max(1.0, terms**0.5 / 8) * max((max(v.scale, float(np.max(np.abs(v.data)))) for v in floats if np.all(np.isfinite(v.data))), default=0.0)
    if name in ("stablehlo.multiply", "stablehlo.divide") and len(floats) == 2:
        with np.errstate(all="ignore"):
            x, y = floats[0].data, floats[1].data if name == "stablehlo.multiply" else 1 / floats[1].data
        scales = floats[0].scale * np.max(np.abs(y)), floats[1].scale * np.max(np.abs(x)) if name == "stablehlo.multiply" else 0.0
        return float(max(s for s in (0.0, *scales) if np.isfinite(s)))
    return max((v.scale for v in floats), default=0.0)


def rough(value):
    if value.approx is not None:
        return value.approx
    return value.data.astype({"f": np.float32, "c": np.complex64}.get(value.element.kind, value.data.dtype))


def dense(element, data):
    def one(x):
        if element.kind == "b":
            return "true" if x else "false"
        if element.is_integer:
            return str(int(x))
        if element.kind == "c":
            return f"({x.real:e}, {x.imag:e})"
        return f"{float(x):.17e}"
    def whole(array):
        return one(array[()]) if array.ndim == 0 else "[" + ", ".join(map(whole, array)) + "]"
    if data.size and np.all(data == data.flat[0]):
        return one(data.flat[0])
    return whole(data)


def i64s(values):
    return "array<i64" + (": " if len(values) else "") + ", ".join(map(str, values)) + ">"


def table(rows):
    rows = [list(map(int, row)) for row in rows]
    return f"dense<{rows}> : tensor<{len(rows)}x{len(rows[0])}xi64>" if rows else "dense<> : tensor<0x2xi64>"
