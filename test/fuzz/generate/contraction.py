"""dot_general and convolution: into and out of them, weights and gradients of layers."""
import numpy as np

from . import elements
from .arithmetic import tame
from .builder import i64s, table
from .elements import BF16, F16, F32, I32, check_sum
from .movement import cut, padded


def small(b, v):
    """v with elements small enough to be multiplied and added; larger where sums may be rounded."""
    most = 4096 if elements.is_rounded(v.element) else 12
    if not v.exact or v.element.kind not in "f" or (v.size and np.max(np.abs(v.data)) <= most):
        return v
    return tame(b, v)[0]


def wide(array, element):
    """Integer products wrap in the result's type."""
    return array.astype(element.held) if array.dtype.kind in "iub" else array


def product_type(b, x):
    if x.element in (BF16, F16) and b.rng.random() < 0.6:
        return F32
    if x.element.is_integer and x.element.held().itemsize < 4 and b.rng.random() < 0.5 and x.element.kind == "i":
        return I32
    return x.element


def letters(spec):
    """einsum's letters from labels."""
    return "".join(chr(97 + label) for label in spec)


def product(element, x, y, lhs, rhs, out):
    """einsum, checked: any order of the sums gives the same."""
    formula = f"{letters(lhs)},{letters(rhs)}->{letters(out)}"
    x, y = wide(x, element), wide(y, element)
    if elements.checking and element.kind in "fc":
        check_sum(element, np.einsum(formula, np.abs(x), np.abs(y), optimize=True) * (2 if element.kind == "c" else 1), x, y)
    return np.einsum(formula, x, y, optimize=x.dtype.kind in "fc")


def dot_general(b):
    x = b.pick(lambda v: v.element.kind in "fiuc" and v.rank and v.size > 1)
    if not x:
        return False
    dims = list(range(x.rank))
    b.rng.shuffle(dims)
    contracted = dims[: b.rng.choice([1, 1, 1, 1, 2, 0] if x.rank > 1 else [1])]
    rest = [d for d in dims if d not in contracted]
    batch = rest[: b.rng.choice([0, 0, 0, 1, 2]) if x.rank > 1 else 0]
    k = int(np.prod([x.shape[d] for d in contracted]))
    # the other operand: from the pool where one fits dimension by dimension, otherwise a weight
    y = None
    if b.rng.random() < 0.35 and not batch and len(contracted) == 1:
        y = b.pick(lambda v: v.element is x.element and x.shape[contracted[0]] in v.shape and v.rank <= 3)
    if y:
        y_contracted, y_batch = [b.rng.choice([d for d, n in enumerate(y.shape) if n == x.shape[contracted[0]]])], []
        if b.rng.random() < 0.3:  # a batch dimension of equal sizes
            pairs = [(d, e) for d in rest for e in range(y.rank) if e not in y_contracted and y.shape[e] == x.shape[d]]
            if pairs:
                d, e = b.rng.choice(pairs)
                batch, y_batch = [d], [e]
                rest = [r for r in rest if r != d]
    else:
        if b.rng.random() < 0.5 and x.element.is_float and x.exact:
            x = small(b, x)
        budget = max(1, b.most // max(1, k * int(np.prod([x.shape[d] for d in batch]))))
        free = [n for n in b.shape(0, 2) if n <= budget][: 1 if b.rng.random() < 0.8 else 2]
        labels = [("k", d) for d in contracted] + [("b", d) for d in batch] + [("f", i) for i in range(len(free))]
        b.rng.shuffle(labels)
        shape = [free[i] if kind == "f" else x.shape[i] for kind, i in labels]
        y = b.argument(x.element, shape, span=b.rng.choice([1, 2, 3, 5]))
        y_contracted = [labels.index(("k", d)) for d in contracted]
        y_batch = [labels.index(("b", d)) for d in batch]
    if x.element.is_float and x.exact:
        x, y = small(b, x), small(b, y)
    shape = dot_shape(x, y, contracted, y_contracted, batch, y_batch)
    if int(np.prod(shape)) > 2 * b.most or int(np.prod(shape)) * k > 4_000_000 or len(shape) > 5:
        return False
    element = product_type(b, x)
    if b.rng.random() < 0.5:
        return dot(b, x, y, contracted, y_contracted, batch, y_batch, element)
    return dot(b, y, x, y_contracted, contracted, y_batch, batch, element)


def dot_shape(x, y, contracted, y_contracted, batch=(), y_batch=()):
    free = lambda v, taken: [n for d, n in enumerate(v.shape) if d not in taken]
    return [x.shape[d] for d in batch] + free(x, [*contracted, *batch]) + free(y, [*y_contracted, *y_batch])


def dot(b, x, y, contracted, y_contracted, batch=(), y_batch=(), element=None):
    element = element or x.element
    lhs, rhs = list(range(x.rank)), [x.rank + d for d in range(y.rank)]  # labels for einsum
    for d, e in zip([*contracted, *batch], [*y_contracted, *y_batch]):
        rhs[e] = d
    out = [*batch] + [d for d in lhs if d not in contracted and d not in batch] + [label for label in rhs if label >= x.rank]
    return b.emit("stablehlo.dot_general", [x, y], [(element, dot_shape(x, y, contracted, y_contracted, batch, y_batch))],
                  lambda u, v: [product(element, u, v, lhs, rhs, out)],
                  f"dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = {[*batch]}, rhs_batching_dimensions = {[*y_batch]}, "
                  f"lhs_contracting_dimensions = {[*contracted]}, rhs_contracting_dimensions = {[*y_contracted]}>")


def windows(a, sizes, strides, dilations, dims):
    """A view of a with one more dimension for each of `dims`: the places in the window."""
    shape, steps = list(a.shape), list(a.strides)
    for d, n, s, w in zip(dims, sizes, strides, dilations):
        shape[d] = (a.shape[d] - (n - 1) * w - 1) // s + 1
        steps[d] = a.strides[d] * s
    shape += sizes
    steps += [a.strides[d] * w for d, w in zip(dims, dilations)]
    return np.lib.stride_tricks.as_strided(a, shape, steps)


def convolution(b):
    element = b.element if b.element.kind in "fi" else F32
    spatial = b.rng.choice([1, 1, 2, 2, 3])
    rng = b.rng
    groups = rng.choice([1, 1, 1, 2, 3, 4])
    kind = rng.choice(["features", "features", "batch"]) if groups > 1 else "features"
    size = [rng.choice([1, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17]) for _ in range(spatial)] if spatial > 1 else [rng.choice([5, 8, 16, 17, 31, 33, 64])]
    if spatial == 3:
        size = [min(n, 5) for n in size]
    window = [rng.choice([1, 2, 3, 3, 4, 5]) for _ in range(spatial)]
    stride = [rng.choice([1, 1, 1, 2, 3]) for _ in range(spatial)]
    low, high = ([rng.choice([0, 0, 1, 1, 2, 3, -1]) for _ in range(spatial)] for _ in range(2))
    base = [rng.choice([1, 1, 1, 1, 2]) for _ in range(spatial)]
    dilation = [rng.choice([1, 1, 1, 2]) for _ in range(spatial)]
    # As the gradient of filters is written: a window as large as the images, and few places for it.
    is_gradient = spatial <= 2 and rng.random() < 0.15
    if is_gradient:
        window = [rng.choice([20, 27, 32, 40]) if spatial == 2 else rng.choice([300, 513]) for _ in range(spatial)]
        size = [max((w - 1) * d + 1 - rng.choice([0, 0, 1]), 1) for w, d in zip(window, dilation)]
        base = [1] * spatial
    flip = [rng.random() < 0.1 for _ in range(spatial)]
    batch, inputs, outputs = rng.choice([1, 2, 3, 4, 5, 8]), rng.choice([1, 2, 3, 4, 5, 8]), rng.choice([1, 2, 3, 4, 6, 8, 16, 40, 48])
    per_group = inputs
    if kind == "batch":
        batch *= groups
        outputs = groups * rng.choice([1, 2, 3])
    else:
        inputs *= groups
        outputs = groups * rng.choice([1, 2, 3, 4])
    # As the last layers of a network have them: small images of many channels.
    if spatial == 2 and not is_gradient and groups == 1 and rng.random() < 0.25:
        size = [rng.choice([1, 2, 2, 3, 4]) for _ in size]
        low, high = ([rng.choice([0, 1, 1, 2]) for _ in size] for _ in range(2))
        batch, outputs = rng.choice([1, 3, 8, 33]), rng.choice([16, 17, 20, 33, 48])
    reach = [(n - 1) * e + 1 + l + h - ((w - 1) * d + 1) for n, e, l, h, w, d in zip(size, base, low, high, window, dilation)]
    if min(reach) < 0 or min((n - 1) * e + 1 + l + h for n, e, l, h in zip(size, base, low, high)) < 1:
        return False
    if any((n - 1) * e + 1 + min(l, 0) + min(h, 0) < 1 for n, e, l, h in zip(size, base, low, high)):
        return False
    result = [r // s + 1 for r, s in zip(reach, stride)]
    names = list(range(spatial))
    orders = []
    for ends in (["b", "f"], ["i", "o"], ["b", "f"]):
        order = ends[:1] + names + ends[1:] if rng.random() < 0.4 else rng.sample(ends + names, spatial + 2)
        orders.append(order)
    sizes = [{"b": batch, "f": inputs, **dict(enumerate(size))}, {"i": per_group, "o": outputs, **dict(enumerate(window))},
             {"b": batch // (groups if kind == "batch" else 1), "f": outputs, **dict(enumerate(result))}]
    shapes = [[sizes[j][name] for name in orders[j]] for j in range(3)]
    most = max(b.most, 30_000) if is_gradient else b.most
    if any(int(np.prod(s)) > 2 * most for s in shapes) or int(np.prod(shapes[2])) * per_group * int(np.prod(window)) > 2_000_000:
        return False
    def operand(shape, span):
        n = int(np.prod(shape))
        from_pool = b.pick(lambda v: v.element is element and v.size == n and v.rank) if rng.random() < 0.6 else None
        if not from_pool:
            if rng.random() < 0.5 and (other := b.pick(lambda v: v.element is element and v.size > n and v.rank)):
                from_pool = cut(b, b.emit("stablehlo.reshape", [other], [(element, (other.size,))], lambda a: [a.reshape(-1)])[0], [0], [n])
        if not from_pool:
            return b.argument(element, shape, span)
        v = small(b, from_pool)
        return v if v.shape == tuple(shape) else b.emit("stablehlo.reshape", [v], [(element, shape)], lambda a: [a.reshape(shape)])[0]
    x, w = operand(shapes[0], 5), operand(shapes[1], 3) if rng.random() < 0.3 else b.argument(element, shapes[1], 3)
    to = lambda order, wanted: [order.index(name) for name in wanted]
    def evaluate(x, w):
        x, w = wide(x, element), wide(w, element)
        x = np.transpose(x, to(orders[0], ["b", *names, "f"]))
        w = np.transpose(w, to(orders[1], [*names, "i", "o"]))
        x = padded(x, 0, [0] + low + [0], [0] + high + [0], [0] + [e - 1 for e in base] + [0])
        w = np.flip(w, [d for d in names if flip[d]])
        view = windows(np.ascontiguousarray(x), window, stride, dilation, list(range(1, spatial + 1)))  # b, out.., f, window..
        def all_groups(view, w):
            parts = []
            for g in range(groups):
                v, u = view, w
                if groups > 1:
                    m = outputs // groups
                    u = w[..., g * m : (g + 1) * m]
                    if kind == "batch":
                        c = batch // groups
                        v = view[g * c : (g + 1) * c]
                    else:
                        v = np.take(view, range(g * per_group, (g + 1) * per_group), axis=spatial + 1)
                axes = list(range(spatial + 2, 2 * spatial + 2))
                parts.append(np.tensordot(v, u, (axes + [spatial + 1], list(range(spatial)) + [spatial])))
            return np.concatenate(parts, -1)
        if elements.checking and element.kind == "f":
            check_sum(element, all_groups(np.abs(view), np.abs(w)), x, w)
        out = all_groups(view, w).astype(element.held if element.kind == "i" else x.dtype)  # b, out.., f
        return [np.transpose(out, to(["b", *names, "f"], orders[2]))]
    text = lambda order: "[" + ", ".join(map(str, order)) + "]"
    return b.emit("stablehlo.convolution", [x, w], [(element, shapes[2])], evaluate,
                  f"window_strides = {i64s(stride)}, padding = {table(zip(low, high))}, lhs_dilation = {i64s(base)}, rhs_dilation = {i64s(dilation)}, "
                  f"window_reversal = array<i1: {', '.join(str(f).lower() for f in flip)}>, "
                  f"dimension_numbers = #stablehlo.conv<{text(orders[0])}x{text(orders[1])}->{text(orders[2])}>, "
                  f"feature_group_count = {groups if kind == 'features' else 1} : i64, batch_group_count = {groups if kind == 'batch' else 1} : i64")


def layer(b):
    """A layer's product and the gradients of its operands: one value used by three contractions."""
    element = b.element if b.element.kind == "f" else F32
    x = b.pick(lambda v: v.element is element and v.rank in (2, 3) and v.size > 3)
    x = small(b, x) if x else b.argument(element, b.shape(2, 3), 3)
    n = b.dim()
    k = x.shape[-1]
    if k * n > b.most:
        return False
    w = b.argument(element, (k, n), 2)
    rows = list(range(x.rank - 1))
    if int(np.prod(x.shape[:-1])) * n > b.most:
        return False
    y = dot(b, x, w, [x.rank - 1], [0])[0]
    g = tame(b, y)[0] if y.exact else y
    dot(b, x, g, rows, rows)
    dot(b, g, w, [g.rank - 1], [1])
    return True


FAMILY = [(dot_general, 6), (convolution, 1.6), (layer, 1)]
