"""Flax NNX: a transformer that generates tokens one by one with a cache of keys and values, heads over four devices."""
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from jax import jit
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

VOCABULARY, WIDTH, HEADS, LAYERS, LENGTH, BATCH = 256, 256, 8, 4, 128, 8
mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)


def linear(inputs, outputs, spec, rngs):
    init = nnx.with_partitioning(nnx.initializers.lecun_normal(), spec)
    return nnx.Linear(inputs, outputs, use_bias=False, kernel_init=init, rngs=rngs)


class Attention(nnx.Module):
    def __init__(self, rngs):
        self.qkv = linear(WIDTH, 3 * WIDTH, (None, "model"), rngs)
        self.out = linear(WIDTH, WIDTH, ("model", None), rngs)
        empty = jnp.zeros((BATCH, LENGTH, HEADS, WIDTH // HEADS))
        self.keys, self.values = nnx.Cache(empty), nnx.Cache(empty)

    def __call__(self, x, position):
        q, k, v = jnp.moveaxis(self.qkv(x).reshape(BATCH, HEADS, 3, -1), 2, 0)
        self.keys[...] = jax.lax.dynamic_update_slice_in_dim(self.keys[...], k[:, None], position, 1)
        self.values[...] = jax.lax.dynamic_update_slice_in_dim(self.values[...], v[:, None], position, 1)
        scores = jnp.einsum("bhc,bshc->bhs", q, self.keys[...]) * q.shape[-1] ** -0.5
        scores = jnp.where(jnp.arange(LENGTH) <= position, scores, -jnp.inf)
        return self.out(jnp.einsum("bhs,bshc->bhc", nnx.softmax(scores), self.values[...]).reshape(x.shape))


class Block(nnx.Module):
    def __init__(self, rngs):
        self.norm1, self.norm2 = nnx.LayerNorm(WIDTH, rngs=rngs), nnx.LayerNorm(WIDTH, rngs=rngs)
        self.attention = Attention(rngs)
        self.up = linear(WIDTH, 4 * WIDTH, (None, "model"), rngs)
        self.down = linear(4 * WIDTH, WIDTH, ("model", None), rngs)

    def __call__(self, x, position):
        x = x + self.attention(self.norm1(x), position)
        return x + self.down(nnx.gelu(self.up(self.norm2(x))))


class Decoder(nnx.Module):
    def __init__(self, rngs):
        self.embed = nnx.Embed(VOCABULARY, WIDTH, rngs=rngs)
        self.position = nnx.Param(jax.random.normal(rngs.params(), (LENGTH, WIDTH)))
        self.blocks = nnx.List([Block(rngs) for _ in range(LAYERS)])
        self.norm = nnx.LayerNorm(WIDTH, rngs=rngs)

    def __call__(self, tokens, position):
        x = self.embed(tokens) + self.position[...][position]
        for block in self.blocks:
            x = block(x, position)
        return self.embed.attend(self.norm(x))


def steps():
    with jax.set_mesh(mesh):
        graph, params, cache = nnx.split(Decoder(nnx.Rngs(0)), nnx.Param, nnx.Cache)
    cache = jax.device_put(cache, NamedSharding(mesh, P("data", None, "model")))

    @partial(jit, donate_argnums=1)
    def decode(params, cache, tokens, position):
        model = nnx.merge(graph, params, cache)
        logits = model(tokens, position)
        return nnx.state(model, nnx.Cache), jnp.argmax(logits, -1), logits

    random = np.random.default_rng(0)
    tokens = jax.device_put(random.integers(VOCABULARY, size=BATCH).astype(np.int32), NamedSharding(mesh, P("data")))
    position = 0
    while True:
        cache, tokens, logits = decode(params, cache, tokens, position)
        yield logits
        position = (position + 1) % LENGTH


if __name__ == "__main__":
    for step, logits in zip(range(100), steps()):
        print(f"token {step}  {np.asarray(logits).argmax(-1)}")
