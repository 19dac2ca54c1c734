"""A layout for each kind of layer of a hybrid: small forms of Griffin's, Jamba's and Qwen3-Next's layers as plain models. Shapes
only: nothing is executed.

  hybrid_plans.py [NAME ..]   all without names
"""
import sys

import jax
import jax.numpy as jnp
from plans import FAST, array, check, descent, plan

WIDTH = 1024


def normed(x):
    return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6)

def attention(w, x):
    q, k, v = (jnp.einsum("btd,dhc->bthc", x, w[name]) for name in ("query", "key", "value"))
    scores = jax.nn.softmax(jnp.einsum("bthc,bshc->bhts", q, k) / 8, -1)
    return jnp.einsum("bthc,hcd->btd", jnp.einsum("bhts,bshc->bthc", scores, v), w["out"])

def attention_weights(width, heads):
    c = width // heads
    return {"query": array(width, heads, c), "key": array(width, heads, c), "value": array(width, heads, c), "out": array(heads, c, width)}

def feed_forward(w, x):
    return jax.nn.gelu(x @ w["up"]) @ w["down"]

def feed_forward_weights(width):
    return {"up": array(width, 4 * width), "down": array(4 * width, width)}

def over_time(step, start, *inputs):
    """A recurrence along positions."""
    _, out = jax.lax.scan(step, start, [jnp.moveaxis(x, 1, 0) for x in inputs])
    return jnp.moveaxis(out, 0, 1)

def griffin_block(w, x):
    """RG-LRU: De et al. 2024."""
    gate = jax.nn.gelu(x @ w["gate"])
    u = x @ w["in"]
    u = sum(w["conv"][i] * jnp.pad(u, ((0, 0), (i, 0), (0, 0)))[:, :u.shape[1]] for i in range(4))
    b, t, c = u.shape
    blocks = w["forget"].shape[0]
    split = u.reshape(b, t, blocks, c // blocks)
    r, i = (jax.nn.sigmoid(jnp.einsum("btnc,ncd->btnd", split, w[name])).reshape(b, t, c) for name in ("forget", "input"))
    a = jnp.exp(-8 * jax.nn.softplus(w["lambda"]) * r)
    def step(h, now):
        a, u = now
        h = a * h + u
        return h, h
    h = over_time(step, jnp.zeros((b, c)), a, jnp.sqrt(1 - a * a + 1e-6) * i * u)
    return (h * gate) @ w["out"]

def griffin_weights(width, blocks=16):
    return {"gate": array(width, width), "in": array(width, width), "conv": array(4, width), "forget": array(blocks, width // blocks, width // blocks),
            "input": array(blocks, width // blocks, width // blocks), "lambda": array(width), "out": array(width, width)}

def mamba_block(w, x):
    """Gu and Dao 2023."""
    z = x @ w["gate"]
    u = x @ w["in"]
    u = jax.nn.silu(sum(w["conv"][i] * jnp.pad(u, ((0, 0), (i, 0), (0, 0)))[:, :u.shape[1]] for i in range(4)))
    rank, n = w["delta"].shape[0], w["a"].shape[1]
    small = u @ w["select"]
    delta = jax.nn.softplus(small[..., :rank] @ w["delta"])
    B, C = small[..., rank:rank + n], small[..., rank + n:]
    def step(h, now):
        delta, u, B, C = now
        h = jnp.exp(-delta[..., None] * jnp.exp(w["a"])) * h + (delta * u)[..., None] * B[:, None]
        return h, jnp.einsum("bcn,bn->bc", h, C)
    b, t, c = u.shape
    y = over_time(step, jnp.zeros((b, c, n)), delta, u, B, C)
    return ((y + u * w["skip"]) * jax.nn.silu(z)) @ w["out"]

def mamba_weights(width, inner, n=16, rank=64):
    return {"gate": array(width, inner), "in": array(width, inner), "conv": array(4, inner), "select": array(inner, rank + 2 * n), "delta": array(rank, inner),
            "a": array(inner, n), "skip": array(inner), "out": array(inner, width)}

def delta_block(w, x):
    """Gated delta rule: Yang et al. 2024."""
    q, k, v = (jnp.einsum("btd,dhc->bthc", x, w[name]) for name in ("query", "key", "value"))
    k = k * jax.lax.rsqrt(jnp.sum(k * k, -1, keepdims=True) + 1e-6)
    a, beta = (jax.nn.sigmoid(jnp.einsum("btd,dh->bth", x, w[name])) for name in ("decay", "beta"))
    def step(s, now):
        q, k, v, a, beta = now
        s = a[..., None, None] * s
        s = s + jnp.einsum("bhc,bhe->bhce", k, beta[..., None] * (v - jnp.einsum("bhce,bhc->bhe", s, k)))
        return s, jnp.einsum("bhce,bhc->bhe", s, q)
    b, t, h, c = q.shape
    y = over_time(step, jnp.zeros((b, h, c, c)), q, k, v, a, beta)
    return jnp.einsum("bthc,hcd->btd", normed(y) * jax.nn.silu(jnp.einsum("btd,dhc->bthc", x, w["gate"])), w["out"])

def delta_weights(width, heads):
    c = width // heads
    return attention_weights(width, heads) | {"gate": array(width, heads, c), "decay": array(width, heads), "beta": array(width, heads)}

def experts_block(w, x):
    experts = w["route"].shape[1]
    chosen = jax.nn.one_hot(jnp.argmax(jnp.einsum("gtd,de->gte", x, w["route"]), -1), experts)
    rank = jnp.cumsum(chosen, 1) * chosen - 1
    send = chosen[..., None] * jax.nn.one_hot(rank, 2 * x.shape[1] // experts)
    sent = jnp.einsum("gtec,gtd->gecd", send, x)
    done = jnp.einsum("gecf,efd->gecd", jax.nn.silu(jnp.einsum("gecd,edf->gecf", sent, w["up"])), w["down"])
    return jnp.einsum("gtec,gecd->gtd", send, done)

def experts_weights(width, hidden, experts):
    return {"route": array(width, experts), "up": array(experts, width, hidden), "down": array(experts, hidden, width)}

def stack(blocks):
    def loss(weights, x):
        for block, w in zip(blocks, weights):
            x = x + block(w, normed(x))
        return jnp.mean(x**2)
    return loss


def divided(made, weights, axis):
    """Of the weights of a layer, by name, the dimension that the axis divides; -1: none."""
    names = {name: made.axes(f"{weights}['{name}']") for name in made.names(weights)}
    return {name: next((d for d, axes in enumerate(dims) if axis in axes), -1) for name, dims in names.items()}


BY_CHANNELS = {"gate": 1, "in": 1, "conv": 1, "out": 0}
BY_HEADS = {"query": 1, "key": 1, "value": 1, "out": 0}
BY_COLUMNS_THEN_ROWS = {"up": 1, "down": 0}


def is_part(layout, of):
    return all(of.get(name) == dim for name, dim in layout.items())


def moves_in_recurrence(made, length):
    return sum(c["count"] for c in made.collectives if c["trips"] and c["trips"] % length == 0)


def recurrence_by_channels():
    """Griffin, one short sequence: channels of the recurrence, with the blocks of its gates, heads of attention, columns and
    rows of the rest; all along one axis, and two sums a block, in parts where positions divide."""
    length = 256
    blocks = [griffin_block, feed_forward, attention, feed_forward]
    weights = [griffin_weights(WIDTH), feed_forward_weights(WIDTH), attention_weights(WIDTH, 16), feed_forward_weights(WIDTH)]
    made = plan(descent(stack(blocks)), (weights, array(1, length, WIDTH)), FAST, "--devices=4", "--effort=1", donate=0)
    (axis,) = made.sizes
    kinds = [BY_CHANNELS | {"forget": 0, "input": 0, "lambda": 0}, BY_COLUMNS_THEN_ROWS, BY_HEADS, BY_COLUMNS_THEN_ROWS]
    for i, kind in enumerate(kinds):
        assert is_part(kind, divided(made, f"weights[{i}]", axis)), made
    assert made.large("reduce-scatter", "all-reduce") <= 2 * len(blocks) - 1 and made.large("all-gather") <= 2 * len(blocks), made
    assert made.large("reduce-scatter", "all-reduce", "all-gather") == made.large(), made
    assert not moves_in_recurrence(made, length), made
    return made


def hybrid_with_experts(blocks, weights, kinds, batch, devices):
    """What each kind of layer has, along some axis: channels, heads, columns. Experts, to which tokens are sent and from which
    they come back. Nothing moves in the rounds of a recurrence."""
    length = 256
    made = plan(descent(stack(blocks)), (weights, array(batch, length, WIDTH)), FAST, devices, "--effort=1", donate=0)
    for i, kind in enumerate(kinds):
        tree = f"weights[{i}]"
        if kind:
            assert any(is_part(kind, divided(made, tree, axis)) for axis in made.sizes), made
        else:
            assert made.shards(f"{tree}['up']")[0] > 1 and made.shards(f"{tree}['down']")[0] > 1, made
    assert made.large("all-to-all") >= 4 * kinds.count(None), made
    assert not moves_in_recurrence(made, length), made
    return made


def states_and_experts():
    """Jamba: a selective state space model by channels, experts, attention by heads, a feed-forward layer."""
    return hybrid_with_experts(
        [mamba_block, experts_block, attention, feed_forward],
        [mamba_weights(WIDTH, 2 * WIDTH), experts_weights(WIDTH, 4 * WIDTH, 8), attention_weights(WIDTH, 16), feed_forward_weights(WIDTH)],
        [BY_CHANNELS | {"select": 0, "delta": 1, "a": 0, "skip": 0}, None, BY_HEADS, BY_COLUMNS_THEN_ROWS],
        8, "--mesh=data=4,model=2")


def linear_attention_and_experts():
    """Qwen3-Next: linear attention by heads, full attention by heads, experts behind each."""
    return hybrid_with_experts(
        [delta_block, experts_block, attention, experts_block],
        [delta_weights(WIDTH, 16), experts_weights(WIDTH, 2 * WIDTH, 16), attention_weights(WIDTH, 16),
         experts_weights(WIDTH, 2 * WIDTH, 16)],
        [BY_HEADS | {"gate": 1}, None, BY_HEADS, None],
        4, "--devices=4")


if __name__ == "__main__":
    sys.exit(check([recurrence_by_channels, states_and_experts, linear_attention_and_experts]))
