"""Attention: heads over one axis, batch over another; and a decoding step with a cache."""
import jax
import jax.numpy as jnp
from harness import Case
from jax.sharding import NamedSharding, PartitionSpec as P

from .mlp import RNG, normal


def rope(x):
    """Rotary positions through complex multiplication."""
    length, channels = x.shape[1], x.shape[-1]
    angle = jnp.arange(length, dtype=x.dtype)[:, None] * 100.0 ** (-jnp.arange(channels // 2, dtype=x.dtype) / channels)
    pairs = x.reshape(*x.shape[:-1], channels // 2, 2)
    turned = jax.lax.complex(pairs[..., 0], pairs[..., 1]) * jnp.exp(1j * angle)[None, :, None]
    return jnp.stack([turned.real, turned.imag], -1).reshape(x.shape)


def layer(mesh):
    rng = RNG(4)
    qkv, out = normal(rng, 3, 16, 4, 8, scale=0.25), normal(rng, 4, 8, 16, scale=0.2)
    x = normal(rng, 6, 10, 16)

    def loss(qkv, out, x):
        q, k, v = jnp.einsum("btd,cdhk->cbthk", x, qkv)
        scores = jnp.einsum("bthk,bshk->bhts", rope(q), rope(k)) / 8**0.5
        scores = jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], bool)), scores, -1e30)
        mixed = jnp.einsum("bhts,bshk->bthk", jax.nn.softmax(scores, -1), v)
        y = jax.lax.with_sharding_constraint(
            jnp.einsum("bthk,hkd->btd", mixed, out), NamedSharding(mesh, P("data", None, None)))
        return jnp.mean((x + y) ** 2)

    def step(qkv, out, x):
        return jax.value_and_grad(loss, (0, 1))(qkv, out, x)

    specs = (P(None, None, "model"), P("model"))
    return step, (qkv, out, x), (*specs, P("data")), (P(), specs)


def decode(mesh):
    """One token against a cache that is sharded in its length, written in place at a position that data gives."""
    rng = RNG(5)
    cache_k, cache_v, q = normal(rng, 4, 16, 2, 8), normal(rng, 4, 16, 2, 8), normal(rng, 4, 2, 8)
    position = jnp.int32(9)

    def step(cache_k, cache_v, q, position):
        cache_k = jax.lax.dynamic_update_slice_in_dim(cache_k, jnp.tanh(q)[:, None], position, 1)
        cache_v = jax.lax.dynamic_update_slice_in_dim(cache_v, jnp.sin(q)[:, None], position, 1)
        scores = jnp.einsum("bhk,bshk->bhs", q, cache_k)
        scores = jnp.where(jnp.arange(16) <= position, scores, -jnp.inf)
        return cache_k, cache_v, jnp.einsum("bhs,bshk->bhk", jax.nn.softmax(scores, -1), cache_v)

    spec = P("data", "model")
    return step, (cache_k, cache_v, q, position), (spec, spec, P("data"), P()), (spec, spec, P("data"))


MESHES = [{"data": 2, "model": 4}, {"data": 3, "model": 2}, {"data": 1, "model": 1}]
CASES = [Case("attention", layer, MESHES), Case("decode", decode, MESHES + [{"data": 1, "model": 5}])]
