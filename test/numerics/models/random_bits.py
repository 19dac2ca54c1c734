"""Random numbers: the same bits as JAX's on any mesh."""
import jax
import jax.numpy as jnp
import numpy as np
from harness import Case
from jax.sharding import NamedSharding, PartitionSpec as P

from .mlp import RNG, normal


def threefry(mesh):
    """Bits, uniform and normal numbers and a dropout mask from a key that is folded with the step."""
    x = normal(RNG(22), 10, 12)

    def forward(x, step):
        key = jax.random.fold_in(jax.random.key(3), step)
        first, second, third = jax.random.split(key, 3)
        bits = jax.random.bits(first, (10, 12), np.uint32)
        uniform = jax.random.uniform(second, (9,), jnp.float32)
        gauss = jax.random.normal(second, (4, 6), jnp.float32)
        kept = jnp.where(jax.random.bernoulli(third, 0.9, x.shape), x / 0.9, 0)
        place = NamedSharding(mesh, P("data", "model"))
        return jax.lax.with_sharding_constraint(bits, place), uniform, gauss, kept, jax.random.randint(first, (7,), 0, 100)

    return forward, (x, jnp.int32(5)), (P("data"), P()), None


CASES = [Case("threefry", threefry, [{"data": 2, "model": 4}, {"data": 3, "model": 2}, {"data": 1, "model": 1}], exact=False)]
