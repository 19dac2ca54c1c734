"""Random attention as people write it: any order of dimensions, scale, mask, softmax, dropout and way of differentiation, as a function of JAX.

Dimensions have letters: b batch, k heads of keys, g heads of queries that share one of keys, t queries, s keys, d elements of a query, e of a value.
Batch and heads may be missing: keys without k are shared by all heads.
"""
import dataclasses

import jax
import jax.numpy as jnp
import numpy as np

LEAST_SCORES = 65536  # docs/limits.md: of fewer, of fewer queries and keys, and of other elements there is no kernel
WAYS = ("forward", "gradient", "remat", "scan", "scan_remat", "scan_forward")


@dataclasses.dataclass
class Form:
    sizes: dict  # by letter
    queries: str  # the dimensions in their order
    keys: str
    values: str
    scores: str
    result: str
    swapped: tuple  # whether keys come before queries, and values before probabilities
    kind: str  # f32, bf16, or bf16 with an f32 softmax: mixed
    scale: str
    cap: float
    masks: list  # of (what, its dimensions or number)
    fill: float
    softmax: str
    dropout: str  # none, select or multiply
    way: str
    axes: dict  # {letter: devices}
    widens: bool = False  # what products multiply, to f32 first: the same numbers, where XLA has no product of narrower types

    def shape(self, dims):
        return tuple(self.sizes[dim] for dim in dims)

    def is_promised(self):
        """Whether docs/limits.md says that no scores are in memory."""
        if self.way == "scan" and self.softmax not in ("softmax", "stopped"):
            return False  # keeps how often a score is the largest
        if any(self.sizes[dim] < devices for dim, devices in self.axes.items()):
            return False
        local = {dim: -(-size // self.axes.get(dim, 1)) for dim, size in self.sizes.items()}
        pairs = np.prod([local[dim] for dim in self.scores])
        return local["t"] >= 8 and local["s"] >= 64 and all(8 <= local[dim] <= 512 for dim in "de") and pairs >= LEAST_SCORES


def shuffled(rng, dims):
    return "".join(rng.permutation(list(dims)))


def ordered(rng, dims):
    """Mostly as people have them, the dimensions of rows first and the innermost last."""
    if rng.random() < 0.4:
        return shuffled(rng, dims)
    outer, inner = [d for d in dims if d in "bkg"], [d for d in dims if d not in "bkg"]
    if rng.random() < 0.5 and inner[0] in "ts":  # b t h d
        outer.insert(min(len(outer), dims.count("b")), inner.pop(0))
    return "".join(outer + inner)


def a_size(rng, low, high, usual):
    return int(rng.choice(usual)) if rng.random() < 0.35 else int(rng.integers(low, high))


def a_mask(rng, heads, sizes):
    what = rng.choice(["causal", "causal_last", "window", "window_both", "offset", "segments", "array", "bias"], p=[0.25, 0.1, 0.12, 0.08, 0.1, 0.1, 0.12, 0.13])
    if what.startswith("window"):
        return what, int(rng.integers(1, sizes["s"] + 20))
    if what == "offset":
        return what, int(rng.integers(-sizes["t"], sizes["s"] + 10))
    if what in ("array", "bias"):
        outer = "".join(dim for dim in heads if rng.random() < 0.5)
        return what, ordered(rng, outer + ("ts" if rng.random() < 0.7 else "s"))
    return what, ""


def make(seed, number):
    """The form of this number, and a generator for its arrays."""
    rng = np.random.default_rng([seed, number])
    has = lambda chance: rng.random() < chance
    sizes = {dim: int(rng.integers(1, high)) for dim, high, chance in (("b", 5, 0.85), ("k", 5, 0.7), ("g", 6, 0.55)) if has(chance)}
    heads = "".join(sizes)
    way = str(rng.choice(WAYS, p=[0.25, 0.4, 0.1, 0.08, 0.12, 0.05]))
    sizes["t"] = a_size(rng, 8, 300, [8, 31, 32, 64, 65, 128, 129, 256])
    sizes["s"] = sizes["t"] if has(0.4) and sizes["t"] >= 64 else a_size(rng, 64, 700, [64, 65, 128, 255, 512, 513, 640])
    sizes["d"] = a_size(rng, 8, 100, [8, 16, 32, 33, 64, 80, 128])
    sizes["e"] = sizes["d"] if has(0.6) or way.startswith("scan") else a_size(rng, 8, 100, [8, 16, 31, 64, 96, 128])
    pairs = np.prod([sizes[dim] for dim in heads + "ts"])
    for dim in "gkb":  # most programs have scores enough
        if dim in sizes and pairs < LEAST_SCORES and has(0.8):
            more = int(-(-LEAST_SCORES // pairs)) + int(rng.integers(0, 2))
            pairs, sizes[dim] = pairs * more, sizes[dim] * more
    keys = "".join(dim for dim in heads if dim != "g")
    queries = ordered(rng, heads + "td")
    result = queries.replace("d", "e") if way.startswith("scan") else ordered(rng, heads + "te")
    scores = heads + "ts" if has(0.6) else shuffled(rng, heads + "ts")
    masks = [a_mask(rng, heads, sizes) for _ in range(int(rng.choice(3, p=[0.3, 0.5, 0.2])))]
    axes = {}
    if has(0.3):
        axes[str(rng.choice(list(heads + "tt")))] = int(rng.integers(2, 5))
    form = Form(sizes, queries, ordered(rng, keys + "sd"), ordered(rng, keys + "se"), scores, result, (has(0.3), has(0.3)),
                str(rng.choice(["f32", "bf16", "mixed"], p=[0.6, 0.2, 0.2])), str(rng.choice(["none", "queries", "scores", "divided", "keys"])),
                float(rng.choice([0, 5, 30], p=[0.8, 0.1, 0.1])), masks, float(rng.choice([-1e30, -np.inf, -3e38, -1e4], p=[0.4, 0.3, 0.2, 0.1])),
                str(rng.choice(["softmax", "plain", "stopped", "reciprocal", "last"], p=[0.5, 0.15, 0.15, 0.1, 0.1])),
                str(rng.choice(["none", "select", "multiply"], p=[0.8, 0.1, 0.1])), way, axes)
    return form, rng


def extras(form, rng):
    """Arrays that masks and dropout read, by name, and their dimensions."""
    for i, (what, dims) in enumerate(form.masks):
        if what == "offset":
            yield f"m{i}", np.int32(dims), ""
        elif what == "segments":
            own = [dim for dim in "b" if dim in form.sizes]
            for side in "ts":
                dims = "".join(own) + side
                yield f"m{i}{side}", np.sort(rng.integers(0, 3, form.shape(dims)), -1).astype(np.int32), dims
        elif what == "array":
            yield f"m{i}", rng.random(form.shape(dims)) < 0.7, dims
        elif what == "bias":
            yield f"m{i}", rng.standard_normal(form.shape(dims)).astype(np.float32), dims
    if form.dropout != "none":
        yield "kept", rng.random(form.shape(form.scores)) < 0.9, form.scores


def arrays(form, rng):
    """{name: (array, dimensions)}"""
    kind = jnp.float32 if form.kind == "f32" else jnp.bfloat16
    draw = lambda dims: jnp.asarray(rng.standard_normal(form.shape(dims), np.float32), kind)
    own = {"q": (draw(form.queries), form.queries), "k": (draw(form.keys), form.keys), "v": (draw(form.values), form.values)}
    return own | {name: (jnp.asarray(array), dims) for name, array, dims in extras(form, rng)}


def aligned(array, dims, to):
    """The array with its dimensions in the order of `to`, and ones for what it lacks."""
    order = [dims.index(dim) for dim in to if dim in dims]
    return jnp.transpose(array, order).reshape([array.shape[dims.index(dim)] if dim in dims else 1 for dim in to])


def position(form, dim):
    return aligned(jnp.arange(form.sizes[dim], dtype=jnp.int32), dim, form.scores)


def sees(form, i, more):
    """Where the i-th mask leaves a score."""
    what, value = form.masks[i]
    t, s = position(form, "t"), position(form, "s")
    if what == "causal":
        return t >= s
    if what == "causal_last":
        return s - t <= form.sizes["s"] - form.sizes["t"]
    if what == "window":
        return (t >= s) & (t - s < value)
    if what == "window_both":
        return (t - s < value) & (s < t + value)
    if what == "offset":
        return t + more[f"m{i}"] >= s
    if what == "segments":
        sides = [aligned(more[f"m{i}{side}"], ("b" if "b" in form.sizes else "") + side, form.scores) for side in "ts"]
        return sides[0] == sides[1]
    return aligned(more[f"m{i}"], value, form.scores)


def contract(form, left, ldims, right, rdims, result, swapped, kind):
    if swapped:
        left, ldims, right, rdims = right, rdims, left, ldims
    if form.widens:
        return jnp.einsum(f"{ldims},{rdims}->{result}", left.astype(jnp.float32), right.astype(jnp.float32)).astype(kind or left.dtype)
    return jnp.einsum(f"{ldims},{rdims}->{result}", left, right, preferred_element_type=kind)


def scored(form, q, k, more, kind):
    factor = form.sizes["d"] ** -0.5
    q, k = (q * factor if form.scale == "queries" else q), (k * factor if form.scale == "keys" else k)
    x = contract(form, q, form.queries, k, form.keys, form.scores, form.swapped[0], kind)
    x = x * factor if form.scale == "scores" else x / form.sizes["d"] ** 0.5 if form.scale == "divided" else x
    x = form.cap * jnp.tanh(x / form.cap) if form.cap else x
    for i, (what, dims) in enumerate(form.masks):
        if what == "bias":
            x = x + aligned(more[f"m{i}"], dims, form.scores).astype(x.dtype)
    visible = None
    for i, (what, _) in enumerate(form.masks):
        if what != "bias":
            visible = sees(form, i, more) if visible is None else visible & sees(form, i, more)
    return x if visible is None else jnp.where(visible, x, jnp.asarray(form.fill, x.dtype))


def attend(form, q, k, v, more):
    exact = q.dtype == jnp.float64
    kind = jnp.float64 if exact else jnp.float32 if form.kind in ("f32", "mixed") else None
    x = scored(form, q, k, more, kind)
    axis = form.scores.index("s")
    total = None
    if form.softmax == "softmax":
        p = jax.nn.softmax(x, axis)
    else:
        top = jnp.max(x, axis, keepdims=True)
        p = jnp.exp(x - (jax.lax.stop_gradient(top) if form.softmax == "stopped" else top))
        total = jnp.sum(p, axis, keepdims=True)
        p = p * (1 / total) if form.softmax == "reciprocal" else p if form.softmax == "last" else p / total
    if form.dropout != "none":
        p = jnp.where(more["kept"], p / 0.9, 0) if form.dropout == "select" else p * (more["kept"].astype(p.dtype) / 0.9)
    out = contract(form, p.astype(v.dtype), form.scores, v, form.values, form.result, form.swapped[1], kind)
    if form.softmax == "last":
        out = out / aligned(jnp.squeeze(total, axis), form.scores.replace("s", ""), form.result)
    return out.astype(v.dtype)


def function(form):
    """Of the arrays by name."""

    def whole(q, k, v, more):
        if not form.way.startswith("scan"):
            return attend(form, q, k, v, more)
        body = lambda x, _: (attend(form, x, k, v, more) + 0.5 * x, None)
        return jax.lax.scan(jax.checkpoint(body) if form.way == "scan_remat" else body, q, None, length=2)[0]

    def run(arrays):
        more = {name: array for name, array in arrays.items() if name not in "qkv"}
        q, k, v = (arrays[name] for name in "qkv")
        if form.way in ("forward", "scan_forward"):
            return [whole(q, k, v, more)]
        inner = jax.checkpoint(whole) if form.way == "remat" else whole
        out, back = jax.vjp(lambda q, k, v: inner(q, k, v, more), q, k, v)
        by = jnp.cos(jnp.arange(out.size, dtype=jnp.float32)).reshape(out.shape).astype(out.dtype)
        return [out, *back(by)]

    return run
