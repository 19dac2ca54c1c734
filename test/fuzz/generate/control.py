"""Loops and branches around programs of their own."""
import numpy as np

from . import elements
from .arithmetic import BINARY, ORDER, tame
from .builder import Builder, i64s
from .contraction import small
from .elements import F32, I1, I32, Inexact
from .movement import padded, spread
from .reduction import reduced
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


def count_rounds(rng):
    """The start, step and limit of a counter, the comparison that lets it go on, and how often it does."""
    trips, step = rng.choice([0, 1, 2, 3, 4, 5]), rng.choice([1, 1, 1, 2, 3, -1, -2])
    first = rng.choice([0, 0, 2])
    direction = rng.choice(["LT", "LT", "LE", "NE"] if step > 0 else ["GT", "GE", "NE"])
    last = first + (trips - 1) * step  # the last that it takes inside
    if direction == "NE":
        return first, step, first + trips * step, direction, trips
    over = rng.randrange(abs(step)) * (1 if step > 0 else -1)  # the limit need not be met
    limit = last + over if direction in ("LE", "GE") else last + over + (1 if step > 0 else -1)
    return first, step, limit, direction, trips


def loop(b, initial, body):
    """Carries `initial` and a counter; `body(inner, state)` adds to the body and gives the next state."""
    first, step, limit, direction, trips = count_rounds(b.rng)
    initial = [b.constant(I32, first), *initial]
    arguments = [Value(v.element, v.shape, v.data) for v in initial]
    from_counter = Builder(b.rng, parent=b)
    sides = [arguments[0], from_counter.constant(I32, limit)]
    if b.rng.random() < 0.2:  # the limit on the left
        sides.reverse()
        direction = {"LT": "GT", "LE": "GE", "GT": "LT", "GE": "LE"}.get(direction, direction)
    goes_on = from_counter.emit("stablehlo.compare", sides, [(I1, ())], lambda p, q: [ORDER[direction](p, q)],
                                f"comparison_direction = #stablehlo<comparison_direction {direction}>")
    state = [Value(v.element, v.shape, v.data) for v in initial]
    inner = body_builder(b, state)
    following = body(inner, state[1:])
    by = inner.constant(I32, step)
    following = [inner.emit("stablehlo.add", [state[0], by], [(I32, ())], lambda p, q: [p + q])[0], *following]
    region = Region(state, inner.ops, following)
    def evaluate(*arrays, environment):
        for _ in range(trips):
            arrays = [elements.check(v.element, np.asarray(a)) for v, a in zip(following, run_region(region, arrays, environment))]
        return list(arrays)
    return b.emit("stablehlo.while", initial, [(v.element, v.shape) for v in initial], evaluate, "", [Region(arguments, from_counter.ops, goes_on), region],
                  evaluated=evaluate(*[v.data for v in initial], environment={}))


def while_loop(b):
    """Whatever the body makes of what is carried and seen; what is carried may also take turns, or add up."""
    from .generate import SIMPLE
    if b.depth >= 2 or b.rounding:
        return False
    carried = list(dict.fromkeys(filter(None, [b.pick(lambda v: v.exact and v.element.kind != "b") for _ in range(b.rng.choice([1, 2, 3]))])))
    if carried and b.rng.random() < 0.2:  # of one type, to take turns
        alike = [v for v in b.pool if v.type == carried[0].type and v.exact]
        carried = b.rng.sample(alike, min(len(alike), 3)) if len(alike) > 1 else [carried[0], b.argument(carried[0].element, carried[0].shape)]
    if not carried:
        return False
    accumulators = []
    for _ in range(b.rng.choice([0, 1, 1])):
        v = b.pick(lambda v: v.exact and v.element.kind in "fiu")
        if v:
            accumulators.append(b.constant(v.element, np.zeros(v.shape)))
    def body(inner, state):
        state, sums = state[: len(carried)], state[len(carried) :]
        if b.rng.random() < 0.65:
            inner.pool += [v for v in b.pool[-4:] if v.exact]  # seen from inside
        fill(inner, SIMPLE, b.rng.choice([1, 2, 3, 4, 6]))
        turns = len({v.type for v in state}) == 1 and len(state) > 1 and b.rng.random() < 0.5
        following = state[1:] + state[:1] if turns else [next_state(inner, v) for v in state]
        for v in sums:
            following += inner.emit("stablehlo.add", [v, next_state(inner, v)], [(v.element, v.shape)], lambda p, q: [p + q])
        return following
    return loop(b, [*carried, *accumulators], body)


def accumulation(b):
    """The sum or maximum, over the rounds, of a reduction that each round makes: as gradients of layers add up."""
    if b.depth >= 2 or b.rounding:
        return False
    x = b.pick(lambda v: v.exact and v.rank and v.size > 1 and v.element.kind in "fi")
    if not x:
        return False
    x = small(b, x)
    axes = sorted(b.rng.sample(range(x.rank), min(x.rank, b.rng.choice([1, 1, 2]))))
    name = b.rng.choice(["add", "add", "add", "maximum"])
    shape = [n for d, n in enumerate(x.shape) if d not in axes]
    start = b.constant(x.element, np.full(shape, b.rng.choice([0, 0, 1, 2])))
    def body(inner, state):
        total, v = state
        term = reduced(inner, v, name, axes)[0]
        operands = [total, term] if b.rng.random() < 0.5 else [term, total]
        total = inner.emit(f"stablehlo.{name}", operands, [(v.element, shape)], lambda p, q: [BINARY[name](p, q)])[0]
        if b.rng.random() < 0.5:
            v = inner.emit("stablehlo.negate", [v], [(v.element, v.shape)], lambda a: [-a])[0]
        return [total, v]
    return loop(b, [start, x], body)


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


FAMILY = [(while_loop, 1.2), (accumulation, 1.2), (branch, 0.5)]
