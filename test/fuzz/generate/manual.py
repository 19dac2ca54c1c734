"""Manual computations: programs for each device of some axes, with collectives among them and offsets that depend on the device."""
import itertools

import numpy as np

from . import arithmetic, elements, movement, reduction
from .builder import Builder, i64s
from .elements import F32, I1, I32, INTEGERS, Inexact, check, check_sum
from .program import Region, Value

UI32 = INTEGERS["ui32"]


class ManualBuilder(Builder):
    """Values are those of the first device; `others` holds the arrays of the rest, which each operation computes, too."""

    def __init__(self, parent, axes):
        super().__init__(parent.rng, element=parent.element, most=parent.most, parent=parent)
        self.own_arguments = False
        self.mesh, self.axes = parent.top().mesh, axes  # axes: those that are manual
        self.devices = list(itertools.product(*(range(self.mesh[a]) for a in axes)))
        self.held = [{} for _ in self.devices]
        self.channels = itertools.count(1)

    def array(self, device, value):
        return self.held[device].get(value, value.data)

    def emit(self, name, operands, types, evaluate, attributes="", regions=(), rounds=False, evaluated=None, together=None):
        """`together`: of a collective, from the operand's arrays of all devices to the results'."""
        if together:
            found = together([self.array(d, operands[0]) for d in range(len(self.devices))])
            results = super().emit(name, operands, types, None, attributes, regions, evaluated=[found[0]])
            for held, array in zip(self.held, found):
                held[results[0]] = check(results[0].element, np.asarray(array, dtype=results[0].element.held))
            return results
        results = super().emit(name, operands, types, evaluate, attributes, regions, rounds, evaluated)
        for d, held in enumerate(self.held):
            arrays = evaluate(*[self.array(d, v) for v in operands]) if d else [v.data for v in results]
            for value, array in zip(results, arrays):
                held[value] = check(value.element, np.asarray(array, dtype=value.element.held))
        return results

    def groups(self):
        """Some of the manual axes; the groups of places in `devices` along them; and all groups as device numbers."""
        along = sorted(self.rng.sample(self.axes, self.rng.choice([1, len(self.axes)])), key=list(self.mesh).index)
        groups = {}
        for place, coordinates in enumerate(self.devices):
            rest = tuple(c for a, c in zip(self.axes, coordinates) if a not in along)
            groups.setdefault(rest, []).append(place)
        numbered = {}
        for number, coordinates in enumerate(itertools.product(*(range(n) for n in self.mesh.values()))):
            rest = tuple(c for a, c in zip(self.mesh, coordinates) if a not in along)
            numbered.setdefault(rest, []).append(number)
        rows = list(numbered.values())
        text = f"replica_groups = dense<{rows}> : tensor<{len(rows)}x{len(rows[0])}xi64>"
        return list(groups.values()), text

    def channel(self):
        return f"channel_handle = #stablehlo.channel_handle<handle = {next(self.channels)}, type = 1>"


def by_group(groups, function):
    """From the arrays of all devices to those of all: `function` for each group."""
    def together(arrays):
        out = [None] * len(arrays)
        for group in groups:
            for place, array in zip(group, function([arrays[p] for p in group])):
                out[place] = array
        return out
    return together


def summed(element, arrays, name):
    stack = np.stack(arrays)
    if name == "add":
        check_sum(element, np.sum(np.abs(stack), 0), stack)
    return reduction.KINDS[name].function(stack, 0)


def operand(b):
    return b.pick(lambda v: v.exact and v.element.kind in "fiu" and v.size <= 3000)


def all_reduce(b):
    x = operand(b)
    if not x:
        return False
    name = b.rng.choice(["add", "add", "maximum", "minimum"])
    groups, text = b.groups()
    together = by_group(groups, lambda arrays: [summed(x.element, arrays, name)] * len(arrays))
    return b.emit("stablehlo.all_reduce", [x], [(x.element, x.shape)], None, f"{b.channel()}, {text}, use_global_device_ids",
                  [reduction.simple(name)(x.element)], together=together)


def all_gather(b):
    x = operand(b)
    if not x or not x.rank:
        return False
    groups, text = b.groups()
    d, n = b.rng.randrange(x.rank), len(groups[0])
    shape = [k * n if e == d else k for e, k in enumerate(x.shape)]
    together = by_group(groups, lambda arrays: [np.concatenate(arrays, d)] * len(arrays))
    return b.emit("stablehlo.all_gather", [x], [(x.element, shape)], None, f"{b.channel()}, {text}, use_global_device_ids, all_gather_dim = {d} : i64",
                  together=together)


def divided(b, n):
    """A value with a dimension that n divides."""
    x = b.pick(lambda v: v.exact and v.element.kind in "fiu" and v.size <= 3000 and any(k % n == 0 for k in v.shape))
    return (x, b.rng.choice([d for d, k in enumerate(x.shape) if k % n == 0])) if x else (None, 0)


def reduce_scatter(b):
    groups, text = b.groups()
    n = len(groups[0])
    x, d = divided(b, n)
    if not x:
        return False
    name = b.rng.choice(["add", "add", "maximum"])
    shape = [k // n if e == d else k for e, k in enumerate(x.shape)]
    together = by_group(groups, lambda arrays: np.split(summed(x.element, arrays, name), n, d))
    return b.emit("stablehlo.reduce_scatter", [x], [(x.element, shape)], None,
                  f"{b.channel()}, {text}, use_global_device_ids, scatter_dimension = {d} : i64", [reduction.simple(name)(x.element)], together=together)


def all_to_all(b):
    groups, text = b.groups()
    n = len(groups[0])
    x, d = divided(b, n)
    if not x:
        return False
    into = b.rng.randrange(x.rank)
    shape = list(x.shape)
    shape[d] //= n
    shape[into] *= n
    def exchange(arrays):
        parts = [np.split(a, n, d) for a in arrays]
        return [np.concatenate([parts[j][i] for j in range(n)], into) for i in range(n)]
    return b.emit("stablehlo.all_to_all", [x], [(x.element, shape)], None,
                  f"{b.channel()}, {text}, split_dimension = {d} : i64, concat_dimension = {into} : i64, split_count = {n} : i64",
                  together=by_group(groups, exchange))


def permute(b):
    """A shift along one axis, as a ring or with an end, on all devices of the mesh."""
    x = operand(b)
    if not x:
        return False
    axis = b.rng.choice(b.axes)
    n, at = b.mesh[axis], list(b.mesh).index(axis)
    by = b.rng.choice([1, -1, 2])
    ring = b.rng.random() < 0.6
    def target(coordinates, at):
        """Where the device's array goes, if anywhere."""
        to = coordinates[at] + by
        return (*coordinates[:at], to % n, *coordinates[at + 1 :]) if ring or 0 <= to < n else None
    sizes = list(b.mesh.values())
    number = lambda coordinates: int(np.ravel_multi_index(coordinates, sizes))
    pairs = [[number(c), number(to)] for c in itertools.product(*map(range, sizes)) if (to := target(c, at))]
    if not pairs:
        return False
    def together(arrays):
        out = [np.zeros_like(a) for a in arrays]
        for array, coordinates in zip(arrays, b.devices):
            if to := target(coordinates, b.axes.index(axis)):
                out[b.devices.index(to)] = array
        return out
    return b.emit("stablehlo.collective_permute", [x], [(x.element, x.shape)], None,
                  f"{b.channel()}, source_target_pairs = dense<{pairs}> : tensor<{len(pairs)}x2xi64>", together=together)


def own_offset(b):
    """A slice at an offset that depends on the device."""
    if len(b.axes) != len(b.mesh):
        return False
    x = b.pick(lambda v: v.rank and v.size > 1)
    if not x:
        return False
    sizes = list(b.mesh.values())
    number = b.emit("stablehlo.partition_id", [], [(UI32, ())], lambda: [np.array(0, np.uint32)])[0]
    for place, coordinates in enumerate(b.devices):
        b.held[place][number] = np.array(np.ravel_multi_index(coordinates, sizes), np.uint32)
    index = arithmetic_on(b, number)
    d = b.rng.randrange(x.rank)
    zero = b.constant(I32, 0)
    length = [b.rng.randint(1, n) if e == d else n for e, n in enumerate(x.shape)]
    indices = [index if e == d else zero for e in range(x.rank)]
    def evaluate(a, *at):
        return [a[tuple(slice(s, s + k) for s, k in zip(movement.starts(at, a.shape, length), length))].copy()]
    return b.emit("stablehlo.dynamic_slice", [x, *indices], [(x.element, length)], evaluate, f"slice_sizes = {i64s(length)}")


def arithmetic_on(b, number):
    index = b.emit("stablehlo.convert", [number], [(I32, ())], lambda a: [a.astype(np.int32)])[0]
    factor = b.constant(I32, b.rng.choice([1, 1, 2, 3]))
    return b.emit("stablehlo.multiply", [index, factor], [(I32, ())], lambda p, q: [p * q])[0]


COLLECTIVES = [(all_reduce, 2), (all_gather, 2), (reduce_scatter, 1.5), (all_to_all, 1.5), (permute, 1.5), (own_offset, 1)]


def dims_text(dims):
    return "[" + ", ".join("{" + ", ".join(f'"{a}"' for a in dim) + "}" for dim in dims) + "]"


def parts(array, dims, mesh, axes, coordinates):
    """The part of the device at these coordinates."""
    for d, names in enumerate(dims):
        for name in names:
            array = np.split(array, mesh[name], d)[coordinates[axes.index(name)]]
    return array


def enter(b, inner, mesh, axes):
    """An operand, the value inside that stands for its parts, and the dimensions' axes; None where there is none to take."""
    rng = b.rng
    x = b.pick(lambda v: v.exact and v.rank and v.element.kind != "c")
    if not x:
        return None
    dims, shape = [[] for _ in x.shape], list(x.shape)
    for a in rng.sample(axes, len(axes)):
        fits = [d for d, n in enumerate(shape) if n % mesh[a] == 0]
        if fits and rng.random() < 0.85:
            d = rng.choice(fits)
            dims[d].append(a)
            shape[d] //= mesh[a]
    if not any(dims):  # a new argument that they divide
        shape = [rng.choice([1, 2, 3, 5]) for _ in x.shape]
        for a in axes:
            dims[rng.randrange(x.rank)].append(a)
        x = b.argument(x.element, whole_shape(shape, dims, mesh))
    local = [parts(x.data, dims, mesh, axes, c) for c in inner.devices]
    value = Value(x.element, shape, local[0])
    for held, array in zip(inner.held, local):
        held[value] = array
    return x, value, dims


def leave(b, inner, v, mesh, axes):
    """The array that v's parts make up, and the dimensions' axes; None where no dimension can have those in which they differ."""
    rng = b.rng
    grid = np.array([inner.array(d, v) for d in range(len(inner.devices))]).reshape([mesh[a] for a in axes] + list(v.shape))
    differ = [a for i, a in enumerate(axes) if not np.array_equal(grid, np.broadcast_to(np.take(grid, [0], i), grid.shape))]
    if differ and not v.rank:
        return None
    dims = [[] for _ in v.shape]
    for a in rng.sample(differ, len(differ)) + [a for a in axes if a not in differ and v.rank and rng.random() < 0.2]:
        dims[rng.randrange(v.rank)].append(a)
    whole = np.zeros(whole_shape(v.shape, dims, mesh), v.data.dtype)
    for place, coordinates in enumerate(inner.devices):
        at = []
        for n, dim in zip(v.shape, dims):
            k = 0
            for a in dim:
                k = k * mesh[a] + coordinates[axes.index(a)]
            at.append(slice(k * n, (k + 1) * n))
        whole[tuple(at)] = inner.array(place, v)
    return whole, dims


def whole_shape(shape, dims, mesh):
    return [n * int(np.prod([mesh[a] for a in dim], dtype=int)) for n, dim in zip(shape, dims)]


def manual_computation(b):
    if b.parent or b.rounding or not b.mesh or b.has_manual:
        return False
    mesh, rng = b.mesh, b.rng
    names = list(mesh)
    axes = names if rng.random() < 0.6 else sorted(rng.sample(names, rng.randint(1, len(names))), key=names.index)
    axes = [a for a in axes if mesh[a] > 1] if len(axes) < len(names) else axes
    if not axes:
        return False
    inner = ManualBuilder(b, axes)
    entered = []
    for _ in range(rng.choice([1, 2, 2, 3])):
        found = enter(b, inner, mesh, axes)
        if not found:
            return False
        entered.append(found)
    outside, inside, in_dims = zip(*entered)
    inner.pool = list(inside)
    families = COLLECTIVES + [(f, w / 4) for f, w in movement.FAMILY + arithmetic.FAMILY + reduction.FAMILY if f not in (movement.barrier,)]
    from .control import fill
    fill(inner, families, rng.choice([1, 2, 3, 4, 6]))
    made = [v for op in inner.ops for v in op.results if op.name != "stablehlo.constant"]
    used = {v for op in inner.ops for v in op.operands}
    returned = [v for v in made if v not in used or rng.random() < 0.2][-4:]
    if not returned:
        return False
    left = []
    for v in returned:
        found = leave(b, inner, v, mesh, axes)
        if not found:
            return False
        left.append(found)
    arrays, out_dims = zip(*left)
    if sum(a.size for a in arrays) > 4 * b.most:
        return False
    notes = lambda all_dims: ", ".join(f"<@m, {dims_text(dims)}>" for dims in all_dims)
    attributes = (f"in_shardings = #sdy.sharding_per_value<[{notes(in_dims)}]>, out_shardings = #sdy.sharding_per_value<[{notes(out_dims)}]>, "
                  f"manual_axes = #sdy<manual_axes{{{', '.join(chr(34) + a + chr(34) for a in axes)}}}>")
    b.has_manual = True
    return b.emit("sdy.manual_computation", outside, [(v.element, a.shape) for v, a in zip(returned, arrays)], lambda *_, environment=None: list(arrays),
                  attributes, [Region(list(inside), inner.ops, returned, "sdy.return")])


FAMILY = [(manual_computation, 6)]
