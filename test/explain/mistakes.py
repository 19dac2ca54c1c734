"""Ten mistakes that people make when they annotate a program, each a function of a mesh beside the program as it should be.

A program is a step of training or inference with shapes of real size: nothing of it is run, so it has no arrays.
"""
import dataclasses
import typing

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

BATCH, LENGTH, HEADS, CHANNELS, VOCABULARY = 4, 2048, 16, 128, 32768
WIDTH, HIDDEN, LAYERS = HEADS * CHANNELS, 8192, 2


@dataclasses.dataclass
class Mistake:
    name: str  # what it is, in a few words
    mesh: dict
    build: typing.Callable  # (wrong, mesh) -> function, its arguments as shapes, their specs, those of its results
    says: str  # what explain's first entry has to name: a pattern


def array(*shape, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype)


def on(mesh):
    """`with_sharding_constraint` by a spec."""
    return lambda x, *spec: jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P(*spec)))


def normed(x):
    return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6)


def attend(q, k, v):
    """Heads in dimension 2, positions in dimension 1."""
    scores = jnp.einsum("bthk,bshk->bhts", q, k) / q.shape[-1] ** 0.5
    mask = jnp.tril(jnp.ones((q.shape[1], k.shape[1]), bool))
    return jnp.einsum("bhts,bshk->bthk", jax.nn.softmax(jnp.where(mask, scores, -1e30), -1), v)


def feed_forward(p, x):
    return x + jax.nn.gelu(normed(x) @ p["w_in"]) @ p["w_out"]


def attention(p, x):
    batch, length, width = x.shape
    q, k, v = ((normed(x) @ p[w]).reshape(batch, length, HEADS, CHANNELS) for w in ("wq", "wk", "wv"))
    return x + attend(q, k, v).reshape(batch, length, width) @ p["wo"]


def layer(p, x):
    return feed_forward(p, attention(p, x))


def layer_shapes(*stacked):
    square = array(*stacked, WIDTH, WIDTH)
    return {"wq": square, "wk": square, "wv": square, "wo": square, "w_in": array(*stacked, WIDTH, HIDDEN), "w_out": array(*stacked, HIDDEN, WIDTH)}


def layer_specs(*stacked):
    """Megatron's: columns, then rows, over "model"."""
    columns, rows = P(*stacked, None, "model"), P(*stacked, "model", None)
    return {"wq": columns, "wk": columns, "wv": columns, "wo": rows, "w_in": columns, "w_out": rows}


def hidden_batch(batch=BATCH, length=LENGTH):
    return array(batch, length, WIDTH)


def descent(loss):
    """A step of gradient descent of a loss of (params, x, y)."""

    def step(params, x, y):
        value, gradients = jax.value_and_grad(loss)(params, x, y)
        return value, jax.tree.map(lambda p, g: p - 0.01 * g, params, gradients)

    return step


def adam(loss):
    """A step of Adam, with its state as an argument."""

    def step(params, state, x, y):
        value, gradients = jax.value_and_grad(loss)(params, x, y)
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["m"], gradients)
        v = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, state["v"], gradients)
        params = jax.tree.map(lambda p, m, v: p - 1e-3 * m / (jnp.sqrt(v) + 1e-8), params, m, v)
        return value, params, {"m": m, "v": v}

    return step


def training(layer, shapes, specs, batch=P("data")):
    """Layers one after another, unrolled, trained by gradient descent on squares."""

    def loss(params, x, y):
        for p in params:
            x = layer(p, x)
        return jnp.mean((x - y) ** 2)

    params, placed = [shapes] * LAYERS, [specs] * LAYERS
    return descent(loss), (params, hidden_batch(), hidden_batch()), (placed, batch, batch), (P(), placed)


def serving(layer, shapes, specs, spec=P("data"), **sizes):
    """The same layers forward only."""

    def forward(params, x):
        for p in params:
            x = layer(p, x)
        return x

    return forward, ([shapes] * LAYERS, hidden_batch(**sizes)), ([specs] * LAYERS, spec), spec


def qkv_reshape(wrong, mesh):
    """One product makes queries, keys and values; its columns are 3 x heads, and 4 devices do not divide 3."""

    def fused(p, x):
        batch, length, width = x.shape
        qkv = normed(x) @ p["wqkv"]
        if wrong:
            q, k, v = jnp.moveaxis(qkv.reshape(batch, length, 3, HEADS, CHANNELS), 2, 0)
        else:
            q, k, v = jnp.moveaxis(qkv.reshape(batch, length, HEADS, 3, CHANNELS), 3, 0)
        x = x + attend(q, k, v).reshape(batch, length, width) @ p["wo"]
        return feed_forward(p, x)

    shapes, specs = layer_shapes(), layer_specs()
    for each in ("wq", "wk", "wv"):
        del shapes[each], specs[each]
    return training(fused, {**shapes, "wqkv": array(WIDTH, 3 * WIDTH)}, {**specs, "wqkv": P(None, "model")})


def copied_spec(wrong, mesh):
    """The second weight has the first one's spec."""
    specs = layer_specs()
    if wrong:
        specs["w_out"] = specs["w_in"]
    return serving(layer, layer_shapes(), specs, length=256)


def unsharded_batch(wrong, mesh):
    """Nothing is split over "data"."""
    return training(layer, layer_shapes(), layer_specs(), P() if wrong else P("data"))


def axis_order(wrong, mesh):
    """The hidden values of a layer are constrained with the axes' names in the wrong order."""
    constrain = on(mesh)

    def constrained(p, x):
        x = attention(p, x)
        hidden = constrain(jax.nn.gelu(normed(x) @ p["w_in"]), *(("model", None, "data") if wrong else ("data", None, "model")))
        return x + hidden @ p["w_out"]

    return training(constrained, layer_shapes(), layer_specs())


def batch_of_one(wrong, mesh):
    """The batch comes with a leading dimension of size 1, for accumulation, which has the annotation."""

    def loss(params, xs, ys):
        x, y = xs[0], ys[0]
        for p in params:
            x = layer(p, x)
        return jnp.mean((x - y) ** 2)

    batch = P("data") if wrong else P(None, "data")
    params, specs, data = [layer_shapes()] * LAYERS, [layer_specs()] * LAYERS, array(1, BATCH, LENGTH, WIDTH)
    return descent(loss), (params, data, data), (specs, batch, batch), (P(), specs)


def replicated_embedding(wrong, mesh):
    """The table is whole on every device, its Adam state, too, and so are the logits."""

    def loss(params, tokens, targets):
        x = params["embedding"][tokens]
        x, _ = jax.lax.scan(lambda x, p: (layer(p, x), None), x, params["layers"])
        logits = normed(x) @ params["embedding"].T
        picked = jnp.take_along_axis(logits, targets[..., None], -1)[..., 0]
        return jnp.mean(jax.nn.logsumexp(logits, -1) - picked)

    params = {"embedding": array(VOCABULARY, WIDTH), "layers": layer_shapes(LAYERS)}
    specs = {"embedding": P() if wrong else P("model", None), "layers": layer_specs(None)}
    tokens = array(BATCH, LENGTH, dtype=jnp.int32)
    state, placed = {"m": params, "v": params}, {"m": specs, "v": specs}
    return adam(loss), (params, state, tokens, tokens), (specs, placed, P("data"), P("data")), (P(), specs, placed)


def after_transpose(wrong, mesh):
    """Positions are split over "model", but for attention, which needs them whole: heads are to be split there."""
    constrain = on(mesh)

    def sequence_layer(p, x):
        batch, length, width = x.shape
        heads = []
        for w in ("wq", "wk", "wv"):
            each = (normed(x) @ p[w]).reshape(batch, length, HEADS, CHANNELS).transpose(0, 2, 1, 3)
            heads.append(each if wrong else constrain(each, "data", "model"))
        q, k, v = heads
        scores = jax.nn.softmax(jnp.einsum("bhtk,bhsk->bhts", q, k) / CHANNELS**0.5, -1)
        mixed = jnp.einsum("bhts,bhsk->bhtk", scores, v).transpose(0, 2, 1, 3).reshape(batch, length, width)
        return feed_forward(p, x + mixed @ p["wo"])

    specs = jax.tree.map(lambda _: P(), layer_shapes())
    return serving(sequence_layer, layer_shapes(), specs, P("data", "model"), batch=2)


def gathered_dispatch(wrong, mesh):
    """Tokens travel to their experts: by all-to-all, if what is dispatched is split by expert."""
    constrain, experts, capacity, groups = on(mesh), 8, 256, 32

    def loss(params, x, y):
        scores = jax.nn.softmax(x @ params["router"], -1)
        best = jax.nn.one_hot(jnp.argmax(scores, -1), experts)
        place = (jnp.cumsum(best, 1) - 1) * best
        dispatch = jax.nn.one_hot(place, capacity) * best[..., None]
        sent = jnp.einsum("gsec,gsm->egcm", dispatch, x)
        sent = constrain(sent, *((None, None) if wrong else ("expert", None)))
        hidden = jax.nn.relu(jnp.einsum("egcm,emh->egch", sent, params["w_in"]))
        back = jnp.einsum("egch,ehm->egcm", hidden, params["w_out"])
        back = constrain(back, "expert", None)
        out = jnp.einsum("gsec,egcm->gsm", dispatch * jnp.max(scores, -1)[..., None, None], back)
        return jnp.mean((x + out - y) ** 2)

    params = {"router": array(WIDTH, experts), "w_in": array(experts, WIDTH, HIDDEN), "w_out": array(experts, HIDDEN, WIDTH)}
    specs = {"router": P(), "w_in": P("expert"), "w_out": P("expert")}
    data = array(groups, 512, WIDTH)
    return descent(loss), (params, data, data), (specs, P("expert"), P("expert")), (P(), specs)


def replicated_state(wrong, mesh):
    """Adam's state is whole on every device, its parameters are not."""

    def loss(params, x, y):
        for p in params:
            x = layer(p, x)
        return jnp.mean((x - y) ** 2)

    params, specs = [layer_shapes()] * LAYERS, [layer_specs()] * LAYERS
    state, placed = {"m": params, "v": params}, {"m": specs, "v": specs}
    if wrong:
        placed = jax.tree.map(lambda _: P(), state)
    return adam(loss), (params, state, hidden_batch(), hidden_batch()), (specs, placed, P("data"), P("data")), (P(), specs, placed)


def carried_value(wrong, mesh):
    """A recurrent network whose state is whole in its features between two steps, and split within each."""
    constrain, steps, width = on(mesh), 64, 4096

    def forward(params, x):
        def advance(state, each):
            state = jnp.tanh(each @ params["wx"] + state @ params["wh"])
            state = constrain(state, "data", None if wrong else "model")
            return normed(state), None

        return jax.lax.scan(advance, jnp.zeros((x.shape[1], width)), x)[0]

    params, specs = {"wx": array(WIDTH, width), "wh": array(width, width)}, {"wx": P(None, "model"), "wh": P("model", None)}
    return forward, (params, array(steps, 512, WIDTH)), (specs, P(None, "data")), P("data", "model")


BOTH, ONE = {"data": 2, "model": 4}, {"expert": 8}
MISTAKES = [
    Mistake("a reshape whose factors are in the wrong order", BOTH, qkv_reshape, r"reshape"),
    Mistake("a copied PartitionSpec", BOTH, copied_spec, r"'w_out'"),
    Mistake("an unsharded batch", BOTH, unsharded_batch, r"computed twice(.|\n)*mend: x, y .2 arguments"),
    Mistake("axis names in the wrong order", BOTH, axis_order, r"constraint on .*P\("),
    Mistake("a batch annotated on a dimension of size 1", BOTH, batch_of_one, r"mend: x, y .2 arguments"),
    Mistake("a replicated embedding", BOTH, replicated_embedding, r"'embedding'"),
    Mistake("no constraint after a transpose", BOTH, after_transpose, r"with_sharding_constraint\(.* in sequence_layer"),
    Mistake("a gathered dispatch to experts", ONE, gathered_dispatch, r"mend: the constraint on .* instead of P\(None, None, None, None\)"),
    Mistake("a replicated optimizer state", BOTH, replicated_state, r"state\["),
    Mistake("a loop-carried value resharded in each trip", BOTH, carried_value, r"constraint on"),
]
