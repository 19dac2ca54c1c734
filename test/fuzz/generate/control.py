"""Loops and branches around programs of their own."""
import numpy as np

from . import elements
from .arithmetic import tame
from .builder import Builder, i64s
from .elements import F32, I1, I32, Inexact
from .movement import padded, spread
from .program import Op, Region, Value, run_region


def body_builder(b, arguments):
    inner = Builder(b.rng, element=b.element, rounding=b.rounding, most=b.most, parent=b)
    inner.pool = list(arguments)
    return inner


def fill(b, families, count):
    for _ in range(count * 4):
        if count <= 0:
            break
        family = b.rng.choices([f for f, _ in families], [w for _, w in families])[0]
        before = len(b.ops)
        b.attempt(family)
        count -= len(b.ops) > before


def shaped(b, v, shape):
    """v brought to another shape by slices and pads."""
    if v.shape == tuple(shape):
        return v
    n = int(np.prod(shape, dtype=np.int64))
    if v.rank != 1:
        v = b.emit("stablehlo.reshape", [v], [(v.element, (v.size,))], lambda a: [a.reshape(-1)])[0]
    if v.size != n:
        zero = b.constant(v.element, 0)
        by = n - v.size
        v = b.emit("stablehlo.pad", [v, zero], [(v.element, (n,))], lambda a, z: [padded(a, z, [0], [by], [0])],
                   f"edge_padding_low = {i64s([0])}, edge_padding_high = {i64s([by])}, interior_padding = {i64s([0])}")[0]
    if tuple(shape) == (n,):
        return v
    return b.emit("stablehlo.reshape", [v], [(v.element, shape)], lambda a: [a.reshape(shape)])[0]


def next_state(b, v):
    """A value of v's type, made of the body's values and not larger than what it holds at the start."""
    same = [w for w in b.pool if w.element is v.element and w.shape == v.shape and w is not v and (w.exact or not v.exact)]
    if same and b.rng.random() < 0.7:
        found = same[-1] if b.rng.random() < 0.7 else b.rng.choice(same)
    else:
        near = [w for w in b.pool if w.element is v.element and w.size and (w.exact or not v.exact)]
        found = shaped(b, near[-1 - min(len(near) - 1, int(b.rng.expovariate(0.7)))], v.shape)
    if v.element.is_float and v.exact and (found.size and np.max(np.abs(found.data)) > 30):
        found = tame(b, found)[0]
    return found


def while_loop(b):
    from .generate import SIMPLE
    if b.depth >= 2 or b.rounding:
        return False
    trips = b.rng.choice([0, 1, 2, 3, 4, 5])
    carried = list(dict.fromkeys(filter(None, [b.pick(lambda v: v.exact and v.element.kind != "b") for _ in range(b.rng.choice([1, 2, 3]))])))
    if not carried:
        return False
    start = b.constant(I32, b.rng.choice([0, 0, 2]))
    accumulators = []
    for _ in range(b.rng.choice([0, 1, 1])):
        v = b.pick(lambda v: v.exact and v.element.kind in "fiu")
        if v:
            accumulators.append(b.constant(v.element, np.zeros(v.shape)))
    initial = [start, *carried, *accumulators]
    arguments = [Value(v.element, v.shape, v.data) for v in initial]
    counter = arguments[0]
    from_counter = Builder(b.rng, parent=b)
    limit = from_counter.constant(I32, int(start.data) + trips)
    less = from_counter.emit("stablehlo.compare", [counter, limit], [(I1, ())], lambda p, q: [p < q],
                             "comparison_direction = #stablehlo<comparison_direction LT>")
    condition = Region(arguments, from_counter.ops, less)
    inner_arguments = [Value(v.element, v.shape, v.data) for v in initial]
    inner = body_builder(b, inner_arguments)
    if b.rng.random() < 0.5:
        inner.pool += [v for v in b.pool[-4:] if v.exact]  # seen from inside
    fill(inner, SIMPLE, b.rng.choice([1, 2, 3, 4, 6]))
    one = inner.constant(I32, 1)
    inner.pool.remove(one)
    following = [inner.emit("stablehlo.add", [inner_arguments[0], one], [(I32, ())], lambda p, q: [p + q])[0]]
    for v in inner_arguments[1 : len(carried) + 1]:
        following.append(next_state(inner, v))
    for v in inner_arguments[len(carried) + 1 :]:
        term = next_state(inner, v)
        following.append(inner.emit("stablehlo.add", [v, term], [(v.element, v.shape)], lambda p, q: [p + q])[0])
    body = Region(inner_arguments, inner.ops, following)
    def evaluate(*state, environment):
        state = list(state)
        for _ in range(trips):
            state = [elements.check(v.element, np.asarray(a)) for v, a in zip(following, run_region(body, state, environment))]
        return state
    return b.emit("stablehlo.while", initial, [(v.element, v.shape) for v in initial], evaluate, "", [condition, body],
                  evaluated=evaluate(*[v.data for v in initial], environment={}))


def branch(b):
    from .generate import SIMPLE
    if b.depth >= 2 or b.rounding:
        return False
    count = b.rng.choice([2, 2, 3])
    kind = b.pick(lambda v: v.element.kind in "fiu" and v.exact)
    if not kind:
        return False
    scalar = b.pick(lambda v: v.rank == 0 and v.element.name == "i32" and v.exact) if b.rng.random() < 0.5 else None
    scalar = scalar or b.argument(I32, (), data=np.array(b.rng.randrange(-1, count + 1), np.int32))
    regions = []
    for _ in range(count):
        inner = body_builder(b, [v for v in b.pool[-8:] if v.exact] + [kind])
        fill(inner, SIMPLE, b.rng.choice([0, 1, 2, 3]))
        regions.append(Region([], inner.ops, [next_state(inner, kind)]))
    def evaluate(index, environment):
        at = int(index)
        return run_region(regions[at if 0 <= at < count else count - 1], [], environment)
    return b.emit("stablehlo.case", [scalar], [(kind.element, kind.shape)], evaluate, "", regions, evaluated=evaluate(scalar.data, environment={}))


FAMILY = [(while_loop, 1.2), (branch, 0.5)]
