"""One single-op program as text and data, written by the families' generators."""
import dataclasses
import itertools

import numpy as np
from element_types import ElementType


def tensor(t, shape):
    return "tensor<" + "".join(f"{n}x" for n in shape) + f"{t}>"


@dataclasses.dataclass
class Value:
    name: str
    type: ElementType
    shape: tuple
    sharding: str = ""  # the attribute of an argument or result; sharded.py

    def __str__(self):
        return self.name

    @property
    def text(self):
        return tensor(self.type, self.shape)


@dataclasses.dataclass
class Tolerance:
    """A result may be `ulps` units in the last place of max(|reference|, scale) away; the scale of a sum of products is
    what the op gives on the operands' magnitudes (`by_magnitude`), so that cancellation is allowed for."""
    ulps: float = 0
    by_magnitude: bool = False
    of_norm: bool = False  # relative to the output's largest value (factorisations, transforms)


class Case:
    """Collects the arguments, lines and results of one program. Names are unique over all cases of a process."""
    numbers = itertools.count()

    def __init__(self, rng, op, size_limit=7, zero=False):
        self.rng, self.op, self.size_limit, self.zero = rng, op, size_limit, zero
        self.number = next(Case.numbers)
        self.names = itertools.count()
        self.args, self.data, self.lines, self.results = [], [], [], []
        self.tolerance = Tolerance()
        self.label = None  # which types it is about, for the coverage table
        self.indent = "  "
        self.header = ""  # module attributes
        self.functions = []  # private functions that it calls
        self.large = False  # XLA is asked first: the interpreter takes its time
        self.seed = None
        self.expected = None  # results, where no oracle knows the op
        self.unknown = None  # where the expected ones are not: an array of booleans
        self.check = None  # or a function of the outputs: None, or what is wrong

    # Random choices.
    def chance(self, p=0.5):
        return self.rng.random() < p

    def pick(self, values):
        return values[self.rng.integers(len(values))]

    def rank(self, low=0, high=4):
        return int(self.rng.integers(low, 6 if high >= 4 and self.chance(0.08) else high, endpoint=True))

    def shape(self, low=0, high=4, most=400):
        while True:
            shape = tuple(self.size() for _ in range(self.rank(low, high)))
            if np.prod(shape) <= most:
                return shape

    def size(self, low=1):
        if self.zero and low <= 1 and self.chance(0.2):
            return 0
        if low <= 1 and self.chance(0.2):
            return 1
        if self.chance(0.04):
            return int(self.rng.integers(8, 40))
        return int(self.rng.integers(low, self.size_limit, endpoint=True))

    def may_be_large(self, p=0.12):
        """The most elements a tensor may have: now and then, as many as kernels have other loops for."""
        if self.chance(p):
            self.size_limit, self.large = 70, True
            return 40000
        return 400

    def subset(self, n, low=0, high=None):
        """Some of range(n), ascending."""
        count = self.rng.integers(low, n if high is None else min(high, n), endpoint=True)
        return sorted(int(i) for i in self.rng.choice(n, count, replace=False))

    # Text.
    def fresh(self):
        return f"%c{self.number}_{next(self.names)}"

    def argument(self, t, shape, values):
        value = Value(self.fresh(), t, tuple(shape))
        values = np.asarray(values)
        assert values.shape == tuple(shape) and values.dtype == t.dtype, (values.shape, shape, values.dtype, t)
        self.args.append(value)
        self.data.append(values)
        return value

    def line(self, text):
        self.lines.append(self.indent + text)

    def emit(self, op, operands, t, shape, attributes=""):
        """One op of one result in the generic form."""
        return self.emit_many(op, operands, [(t, shape)], attributes)[0]

    def emit_many(self, op, operands, types, attributes="", regions=()):
        results = [Value(self.fresh(), t, tuple(shape)) for t, shape in types]
        names = ", ".join(r.name for r in results)
        self.line(f'{names + " = " if results else ""}"{op if "." in op else "stablehlo." + op}"({", ".join(map(str, operands))})'
                  + (" (" if regions else "") + (f" <{{{attributes}}}>" if attributes and not regions else ""))
        for i, region in enumerate(regions):
            self.line(("}, {" if i else "{"))
            region()
        if regions:
            self.line("})" + (f" {{{attributes}}}" if attributes else ""))
        self.lines[-1] += (" : (" + ", ".join(o.text for o in operands) + ") -> ("
                           + ", ".join(r.text for r in results) + ")")
        return results

    def block(self, types, body):
        """A region: `body` gets the block's arguments and gives what it returns."""
        def write():
            arguments = [Value(self.fresh(), t, tuple(shape)) for t, shape in types]
            if arguments:
                self.line("^bb0(" + ", ".join(f"{a}: {a.text}" for a in arguments) + "):")
            values = body(*arguments)
            values = values if isinstance(values, (list, tuple)) else [values]
            self.line(f'"stablehlo.return"({", ".join(map(str, values))}) : ({", ".join(v.text for v in values)}) -> ()')
        return write

    def constant(self, t, shape, text):
        value = Value(self.fresh(), t, tuple(shape))
        self.line(f"{value} = stablehlo.constant dense<{text}> : {value.text}")
        return value

    def returns(self, *values):
        self.results.extend(values)
        return self

    def allow(self, ulps, by_magnitude=False, of_norm=False):
        self.tolerance = Tolerance(ulps, by_magnitude, of_norm)
        return self

    def compared_by(self):
        return self.label or ",".join(dict.fromkeys(str(v.type) for v in (self.args or self.results)[:1]))


def module(cases):
    """One program whose results are those of all of the cases."""
    args = ", ".join(f"{a}: {a.text}{getattr(a, 'sharding', '')}" for c in cases for a in c.args)
    results = [r for c in cases for r in c.results]
    types = ", ".join(f"{r.text}{getattr(r, 'sharding', '')}" for r in results)
    mesh = ['sdy.mesh @mesh = <["x"=2, "y"=3]>'] if "@mesh" in "".join([args, types] + [line for c in cases for line in c.lines]) else []
    lines = [f'module @single_ops {cases[0].header}{{', *mesh, f'func.func public @main({args}) -> ({types}) {{']
    for c in cases:
        lines += [f'{line} loc("case{c.number}")' if line.rstrip().endswith((")", ">")) else line for line in c.lines]
    lines.append(f'  return {", ".join(r.name for r in results)} : {", ".join(r.text for r in results)}')
    lines.append("}")
    lines += [text for c in cases for text in c.functions]
    return "\n".join(lines + ["}"]) + "\n"


def array_attribute(values):
    return "array<i64" + (": " if len(values) else "") + ", ".join(str(int(v)) for v in values) + ">"


def matrix_attribute(rows):
    """The n x 2 integers of a padding."""
    rows = [[int(v) for v in row] for row in rows]
    return f"dense<{rows if rows else ''}> : tensor<{len(rows)}x2xi64>"
