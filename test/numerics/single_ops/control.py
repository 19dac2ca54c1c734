"""case, if, while, tuples, composites and calls: ops that run other ops."""
import numpy as np
from case import Case, Value, tensor
from element_types import BY_NAME, F32, I1, I32, PLAIN, choose, data, of


def _carried(c, low=1, high=4):
    values = []
    for _ in range(c.rng.integers(low, high, endpoint=True)):
        t, shape = choose(c.rng, PLAIN), c.shape(0, 3)
        values.append(c.argument(t, shape, data(c.rng, t, shape, "special")))
    return values


def _step(c, x):
    """Some op that keeps the type."""
    if x.type.kind == "bool":
        return c.emit("not", [x], x.type, x.shape)
    return c.emit(c.pick(["add", "multiply", "subtract"]), [x, x], x.type, x.shape)


def _branch(c, values, results):
    """A region that gives `results` types from values around it."""
    def body():
        given = []
        for t, shape in results:
            same = [v for v in values if v.type is t and v.shape == tuple(shape)]
            x = c.pick(same)
            for _ in range(c.rng.integers(0, 3)):
                x = _step(c, x)
            given.append(x)
        if c.chance(0.2):
            inner = c.emit_many("case", [c.constant(I32, (), "1")], results, regions=[_branch(c, values, results) for _ in "ab"])
            given = inner
        return given
    return c.block([], body)


def case(rng, **options):
    c = Case(rng, "case", **options)
    values = _carried(c)
    types = [(v.type, v.shape) for v in (values[i] for i in rng.integers(0, len(values), rng.integers(1, 4)))]
    branches = int(rng.integers(1, 5))
    index = c.argument(I32, (), np.int32(rng.choice([*range(-1, branches + 1), 2**31 - 1, -2**31])))
    c.label = ",".join(str(t) for t, _ in types)
    return c.returns(*c.emit_many("case", [index], types, regions=[_branch(c, values, types) for _ in range(branches)]))


def if_(rng, **options):
    c = Case(rng, "if", **options)
    values = _carried(c)
    types = [(v.type, v.shape) for v in (values[i] for i in rng.integers(0, len(values), rng.integers(1, 4)))]
    predicate = c.argument(I1, (), np.asarray(rng.random() < 0.5))
    c.label = ",".join(str(t) for t, _ in types)
    return c.returns(*c.emit_many("if", [predicate], types, regions=[_branch(c, values, types) for _ in "tf"]))


def while_(rng, **options):
    c = Case(rng, "while", **options)
    t = choose(rng, of("int"))
    counter, limit = c.argument(t, (), np.asarray(0, t.dtype)), c.argument(t, (), np.asarray(rng.integers(0, 5), t.dtype))
    values = _carried(c)
    state = [counter, *values, limit] if c.chance() else [counter, *values]
    carries_limit = len(state) > len(values) + 1
    types = [(v.type, v.shape) for v in state]
    c.label = ",".join(str(t) for t, _ in types[1:])

    def condition(*carried):
        return c.emit("compare", [carried[0], carried[-1] if carries_limit else limit], I1, (), "comparison_direction = #stablehlo<comparison_direction LT>")

    swaps = c.chance()

    def body(*carried):
        step = c.emit("add", [carried[0], c.constant(t, (), "1")], t, ())
        middle = list(carried[1:len(values) + 1])
        moved = [_step(c, x) if c.chance() else x for x in middle]
        for i in range(len(moved) - 1):  # values that change places
            if swaps and (moved[i].type, moved[i].shape) == (moved[i + 1].type, moved[i + 1].shape):
                moved[i], moved[i + 1] = moved[i + 1], moved[i]
        return [step, *moved, *carried[len(values) + 1:]]

    return c.returns(*c.emit_many("while", state, types, regions=[c.block(types, condition), c.block(types, body)]))


def tuple_(rng, **options):
    c = Case(rng, "tuple", **options)
    values = _carried(c)
    whole = c.fresh()
    text = f"tuple<{', '.join(v.text for v in values)}>"
    c.line(f'{whole} = "stablehlo.tuple"({", ".join(map(str, values))}) : ({", ".join(v.text for v in values)}) -> {text}')
    i = int(rng.integers(len(values)))
    part = Value(c.fresh(), values[i].type, values[i].shape)
    c.line(f'{part} = "stablehlo.get_tuple_element"({whole}) <{{index = {i} : i32}}> : ({text}) -> {part.text}')
    c.label = str(part.type)
    return c.returns(part)


def composite(rng, **options):
    c = Case(rng, "composite", **options)
    t, shape = choose(rng, of("int", "float")), c.shape()
    x, y = (c.argument(t, shape, data(rng, t, shape)) for _ in "xy")
    text = tensor(t, shape)
    name = f"composite_{c.number}"
    c.functions.append(f"func.func private @{name}(%a: {text}, %b: {text}) -> {text} {{\n  %r = stablehlo.maximum %a, %b : {text}\n  return %r : {text}\n}}")
    return c.returns(c.emit("composite", [x, y], t, shape, f'name = "some.maximum", decomposition = @{name}'))


def call(rng, **options):
    c = Case(rng, "call", **options)
    t, shape = choose(rng, of("int", "float")), c.shape()
    x = c.argument(t, shape, data(rng, t, shape))
    text = tensor(t, shape)
    name = f"callee_{c.number}"
    c.functions.append(f"func.func private @{name}(%a: {text}) -> ({text}, {text}) {{\n  %r = stablehlo.negate %a : {text}\n  return %r, %a : {text}, {text}\n}}")
    values = Value(c.fresh(), t, shape), Value(c.fresh(), t, shape)
    c.line(f"{values[0]}, {values[1]} = func.call @{name}({x}) : ({text}) -> ({text}, {text})")
    return c.returns(*values)


GENERATORS = [("case", case, 2), ("if", if_, 1), ("while", while_, 3), ("tuple", tuple_, 1), ("composite", composite, 1), ("call", call, 1)]
