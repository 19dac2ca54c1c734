"""gather and scatter with dimension numbers at random."""
import numpy as np
from case import Case, array_attribute
from element_types import PLAIN, choose, data, of
from reductions import COMMUTATIVE


def _index_data(c, t, shape, limits, vector_dim):
    """Start indices: mostly inside [0, limit), some outside. `limits`: one for each element of an index vector."""
    x = data(c.rng, t, shape, "all" if c.chance(0.4) else None)
    moved = np.moveaxis(x, vector_dim, -1) if vector_dim < len(shape) else x[..., None]
    for k, limit in enumerate(limits):
        inside = c.rng.integers(0, max(limit, 1), moved.shape[:-1]).astype(np.int64)
        moved[..., k] = np.where(c.rng.random(moved.shape[:-1]) < 0.7, inside.astype(t.dtype), moved[..., k])
    return x


def _numbers(c):
    """A random assignment: operand shape, its batching, collapsed and window dimensions, indices' shape and dimension numbers."""
    rng = c.rng
    while True:
        shape = list(c.shape(0, 4, c.may_be_large(0.06)))
        order = [int(d) for d in rng.permutation(len(shape))]
        batching = order[:rng.integers(0, min(2, len(order)), endpoint=True)] if c.chance(0.4) else []
        free = [d for d in range(len(shape)) if d not in batching]
        collapsed = [d for d in free if shape[d] and c.chance(0.4)]
        windows = [d for d in free if d not in collapsed]
        mapped = [int(d) for d in rng.permutation(free)[:rng.integers(0, len(free), endpoint=True)]]
        if c.zero or all(shape):
            break
    batch = [c.size() for _ in range(rng.integers(0, 3))]
    # The indices' batch dimensions: free ones and, in random places, those that go with the operand's.
    places = sorted(int(p) for p in rng.permutation(len(batch) + len(batching))[:len(batching)])
    pairs = [int(i) for i in rng.permutation(len(batching))]
    batch_shape, free_sizes = [], iter(batch)
    for p in range(len(batch) + len(batching)):
        batch_shape.append(shape[batching[pairs[places.index(p)]]] if p in places else next(free_sizes))
    vector_dim = int(rng.integers(0, len(batch_shape), endpoint=True))
    indices_shape = list(batch_shape)
    if len(mapped) == 1 and c.chance(0.4):
        vector_dim = len(batch_shape)
    else:
        indices_shape.insert(vector_dim, len(mapped))
    implicit = len(indices_shape) == len(batch_shape)
    # Operand batching dims in ascending order, with the indices' dims that go with them.
    position = {batching[pairs[k]]: p + (0 if implicit or p < vector_dim else 1) for k, p in enumerate(places)}
    batching = sorted(batching)
    return shape, batching, [position[d] for d in batching], collapsed, windows, mapped, batch_shape, indices_shape, vector_dim


def _result_shape(c, batch_shape, windows):
    """Interleaves the windows' dimensions with the batch's: (shape, positions of the windows')."""
    rank = len(batch_shape) + len(windows)
    offsets = sorted(int(i) for i in c.rng.permutation(rank)[:len(windows)])
    batch, window = iter(batch_shape), iter(windows)
    return [next(window) if i in offsets else next(batch) for i in range(rank)], offsets


def gather(rng, **options):
    c = Case(rng, "gather", **options)
    shape, batching, index_batching, collapsed, windows, mapped, batch_shape, indices_shape, vector_dim = _numbers(c)
    sizes = [min(1, n) if d in collapsed or d in batching else int(rng.integers(min(1, n), n, endpoint=True)) for d, n in enumerate(shape)]
    t, it = choose(rng, PLAIN), choose(rng, of("int"))
    result, offsets = _result_shape(c, batch_shape, [sizes[d] for d in windows])
    x = c.argument(t, shape, data(rng, t, shape))
    indices = c.argument(it, indices_shape, _index_data(c, it, indices_shape, [shape[d] - sizes[d] + 1 for d in mapped], vector_dim))
    numbers = (f"#stablehlo.gather<offset_dims = {offsets}, collapsed_slice_dims = {collapsed}, operand_batching_dims = {batching},"
               f" start_indices_batching_dims = {index_batching}, start_index_map = {mapped}, index_vector_dim = {vector_dim}>")
    c.label = f"{t}[{it}]"
    return c.returns(c.emit("gather", [x, indices], t, result, f"dimension_numbers = {numbers}, slice_sizes = {array_attribute(sizes)},"
                            f" indices_are_sorted = false"))


def scatter(rng, **options):
    c = Case(rng, "scatter", **options)
    shape, batching, index_batching, inserted, windows, mapped, batch_shape, indices_shape, vector_dim = _numbers(c)
    count = int(rng.integers(2, 4)) if c.chance(0.2) else 1
    names = [c.pick([*COMMUTATIVE, "set"]) for _ in range(count)]
    types = [choose(rng, COMMUTATIVE.get(name, PLAIN)) for name in names]
    it = choose(rng, of("int"))
    sizes = [int(rng.integers(min(1, shape[d]), shape[d], endpoint=True)) for d in windows]
    update, offsets = _result_shape(c, batch_shape, sizes)
    operands = [c.argument(t, shape, data(rng, t, shape, "special")) for t in types]
    width = dict(zip(windows, sizes))
    values = _index_data(c, it, indices_shape, [shape[d] - width.get(d, 1) + 1 for d in mapped], vector_dim)
    indices = c.argument(it, indices_shape, values)
    updates = [c.argument(t, update, data(rng, t, update, "special")) for t in types]
    numbers = (f"#stablehlo.scatter<update_window_dims = {offsets}, inserted_window_dims = {inserted}, input_batching_dims = {batching},"
               f" scatter_indices_batching_dims = {index_batching}, scatter_dims_to_operand_dims = {mapped}, index_vector_dim = {vector_dim}>")

    def body(*values):
        old, new = values[:count], values[count:]
        return [b if name == "set" else c.emit(name, [a, b], t, ()) for name, t, a, b in zip(names, types, old, new)]

    region = c.block([(t, ()) for t in types * 2], body)
    results = c.emit_many("scatter", [*operands, indices, *updates], [(t, shape) for t in types], f"scatter_dimension_numbers = {numbers},"
                          " indices_are_sorted = false, unique_indices = false", [region])
    sums = any(name in ("add", "multiply") for name in names)
    c.label = f"{types[0]}[{it}]"
    return c.returns(*results).allow(np.prod(batch_shape, dtype=int) + 2 if sums else 0, by_magnitude=sums)


GENERATORS = [("gather", gather, 8), ("scatter", scatter, 8)]
