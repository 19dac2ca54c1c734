"""gather and scatter."""
import numpy as np

from . import elements
from .arithmetic import BINARY, constant_like
from .builder import i64s
from .elements import I32, I64, INTEGERS, check_sum
from .reduction import simple, computation
from .contraction import small


def index_array(b, places, components, limits, unique, outside=0.1):
    """Indices into dimensions of sizes `limits`: from the pool where some fit, or new."""
    element = I32 if b.rng.random() < 0.8 else I64
    n, shape = int(np.prod(places)), places + components
    generator = np.random.default_rng(b.rng.getrandbits(64))
    far = 2 if b.rng.random() < outside and not unique else 0
    if unique:
        total = int(np.prod(limits))
        flat = generator.permutation(total)[:n]
        columns = np.unravel_index(flat, limits)
    else:
        pool = b.pick(lambda v: v.element.name == "i32" and v.exact and v.shape == tuple(shape))
        if pool and b.rng.random() < 0.5:
            return pool
        columns = [generator.integers(-far, k + far, n) for k in limits]
    return b.argument(element, shape, data=np.stack(columns, -1).reshape(shape).astype(element.held))


def lists(**named):
    return ", ".join(f"{name} = {value}" if not isinstance(value, list) or value else "" for name, value in named.items() if value != [])


def vector_last(indices, index_vector_dim):
    """Indices as an array of (places.., components)."""
    if index_vector_dim == indices.ndim:
        return indices[..., None]
    return np.moveaxis(indices, index_vector_dim, -1)


class Places:
    """How indices name windows of an operand; for gather and scatter alike."""

    def __init__(self, b, x, unique=False):
        rng = b.rng
        self.indexed = sorted(rng.sample(range(x.rank), min(x.rank, rng.choice([1, 1, 1, 2])))) if x.rank else []
        rest = [d for d in range(x.rank) if d not in self.indexed]
        self.batching = [rng.choice(rest)] if rest and rng.random() < 0.2 else []
        self.window = [1 if d in self.indexed and rng.random() < 0.75 or d in self.batching else rng.randint(1, n) if rng.random() < 0.25 else n
                       for d, n in enumerate(x.shape)]
        if unique:
            self.window = [1 if d in self.indexed else n for d, n in enumerate(self.window)]
        self.collapsed = [d for d in self.indexed if self.window[d] == 1 and rng.random() < 0.85]
        self.map = list(self.indexed)
        rng.shuffle(self.map)
        extra = [rng.choice([1, 2, 3, 5, 7, 8, 16, 17, 33])] * rng.choice([0, 1, 1, 1]) + [rng.choice([1, 2, 3])] * (rng.random() < 0.2)
        self.places = [x.shape[d] for d in self.batching] + extra
        rng.shuffle(extra)
        self.index_batching = list(range(len(self.batching)))
        limits = [x.shape[d] for d in self.map]
        if unique and int(np.prod(self.places)) > int(np.prod(limits)):
            raise elements.Inexact
        self.vector = len(self.places)
        components = [len(self.map)] if len(self.map) > 1 or rng.random() < 0.8 else []  # one may do without a dimension
        self.indices = index_array(b, self.places, components, limits, unique)
        self.kept = [d for d in range(x.rank) if d not in self.collapsed and d not in self.batching]
        count = len(self.places) + len(self.kept)
        self.offset_dims = sorted(rng.sample(range(count), len(self.kept)))
        if rng.random() < 0.6:  # as JAX has it
            self.offset_dims = list(range(len(self.places), count))
        shape, at, kept = [], 0, iter(self.kept)
        for d in range(count):
            if d in self.offset_dims:
                shape.append(self.window[next(kept)])
            else:
                shape.append(self.places[at])
                at += 1
        self.shape = shape

    def each(self, indices, operand_shape):
        """(start in the operand, place in the result) of each window."""
        vectors = vector_last(indices, self.vector).astype(np.int64)
        for place in np.ndindex(*self.places):
            start = [0] * len(operand_shape)
            for component, d in zip(vectors[place], self.map):
                start[d] = int(component)
            for d, i in zip(self.batching, self.index_batching):
                start[d] = place[i]
            yield start, place

    def at(self, place):
        parts, rest = [], iter(place)
        return tuple(slice(None) if d in self.offset_dims else next(rest) for d in range(len(self.shape)))


def gather(b):
    x = b.pick(lambda v: v.rank and v.size > 1)
    if not x:
        return False
    p = Places(b, x)
    if int(np.prod(p.shape)) > b.most or int(np.prod(p.places)) > 400:
        return False
    def evaluate(a, indices):
        out = np.zeros(p.shape, a.dtype)
        for start, place in p.each(indices, a.shape):
            start = [min(max(s, 0), n - k) for s, n, k in zip(start, a.shape, p.window)]
            part = a[tuple(slice(s, s + k) for s, k in zip(start, p.window))]
            out[p.at(place)] = part.reshape([p.window[d] for d in p.kept])
        return [out]
    numbers = lists(offset_dims=p.offset_dims, collapsed_slice_dims=p.collapsed, operand_batching_dims=p.batching,
                    start_indices_batching_dims=p.index_batching if p.batching else [], start_index_map=p.map, index_vector_dim=p.vector)
    return b.emit("stablehlo.gather", [x, p.indices], [(x.element, p.shape)], evaluate,
                  f"dimension_numbers = #stablehlo.gather<{numbers}>, slice_sizes = {i64s(p.window)}, indices_are_sorted = false")


def scatter(b):
    x = b.pick(lambda v: v.rank and v.size > 1 and v.element.kind in "fiu")
    if not x:
        return False
    name = b.rng.choice(["add", "add", "add", "maximum", "minimum", "replace"])
    if name == "add":
        x = small(b, x)
    p = Places(b, x, unique=name == "replace")
    if int(np.prod(p.shape)) > b.most or int(np.prod(p.places)) > 400:
        return False
    updates = b.pick_or_new(lambda v: v.element is x.element and v.shape == tuple(p.shape) and v.exact == x.exact, x.element, p.shape, 9)
    if b.rng.random() < 0.3:  # then what lies in padding is no zero
        updates = b.emit("stablehlo.add", [updates, constant_like(b, updates, 3)], [(x.element, p.shape)], lambda p, q: [p + q])[0]
    def evaluate(a, indices, u):
        out = a.copy()
        magnitude = np.abs(a).astype(np.float64)
        for start, place in p.each(indices, a.shape):
            part = u[p.at(place)].reshape(p.window)
            into, of = [], []
            for s, k, n in zip(start, p.window, a.shape):
                lo, hi = max(s, 0), min(s + k, n)
                into.append(slice(lo, max(hi, lo))), of.append(slice(lo - s, max(hi, lo) - s))
            into, part = tuple(into), part[tuple(of)]
            if not part.size:
                continue
            if name == "replace":
                out[into] = part
            else:
                out[into] = BINARY[name](out[into], part)
                magnitude[into] += np.abs(part)
        if name == "add":
            check_sum(x.element, magnitude, np.append(a.reshape(-1), u.reshape(-1)), each_rounded=True)
        return [out]
    region = computation(x.element, ["%rhs"]) if name == "replace" else simple(name)(x.element)
    numbers = lists(update_window_dims=p.offset_dims, inserted_window_dims=p.collapsed, input_batching_dims=p.batching,
                    scatter_indices_batching_dims=p.index_batching if p.batching else [], scatter_dims_to_operand_dims=p.map,
                    index_vector_dim=p.vector)
    return b.emit("stablehlo.scatter", [x, p.indices, updates], [(x.element, x.shape)], evaluate,
                  f"scatter_dimension_numbers = #stablehlo.scatter<{numbers}>, indices_are_sorted = false, "
                  f"unique_indices = {'true' if name == 'replace' else 'false'}", [region])


FAMILY = [(gather, 3), (scatter, 3)]
