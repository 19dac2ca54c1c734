"""Sorting, ranking and running sums along sharded dimensions."""
import jax
import jax.numpy as jnp
from harness import Case
from jax.sharding import PartitionSpec as P

from .mlp import RNG, normal


def sorting(mesh):
    x = normal(RNG(20), 6, 14)

    def forward(x):
        keys, order = jax.lax.sort_key_val(x, jnp.broadcast_to(jnp.arange(14, dtype=jnp.int32), x.shape))
        values, places = jax.lax.top_k(x, 3)
        return jnp.sort(x, 0), keys, order, values, places, jnp.argmax(x, 1), jnp.argmin(x, 0)

    return forward, (x,), (P("data", "model"),), None


def running(mesh):
    x = normal(RNG(21), 6, 14)

    def forward(x):
        return jnp.cumsum(x, 1), jax.lax.cummax(x, 0), jax.lax.cumprod(1 + 0.1 * x, 1), jax.lax.cumlogsumexp(x, 1)

    return forward, (x,), (P("data", "model"),), (P("data", "model"),) * 4


MESHES = [{"data": 2, "model": 4}, {"data": 3, "model": 2}, {"data": 1, "model": 1}]
CASES = [Case("sorting", sorting, MESHES, exact=False), Case("running", running, MESHES)]
