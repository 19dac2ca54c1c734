"""Mixture of experts: tokens change devices by their own choice."""
import jax
import jax.numpy as jnp
from harness import Case
from jax.sharding import NamedSharding, PartitionSpec as P

from .mlp import RNG, normal


def top_two(mesh):
    """The two best experts of each token, a fixed number of places in each, dispatch and combine by einsum."""
    rng = RNG(11)
    experts, places = 8, 5
    gate, up, down = normal(rng, 12, experts), normal(rng, experts, 12, 16, scale=0.3), normal(rng, experts, 16, 12, scale=0.2)
    x = normal(rng, 8, 10, 12)
    on_experts = lambda value: jax.lax.with_sharding_constraint(value, NamedSharding(mesh, P("expert")))

    def loss(gate, up, down, x):
        weights, chosen = jax.lax.top_k(jax.nn.softmax(x @ gate, -1), 2)
        one_hot = jax.nn.one_hot(chosen, experts, dtype=x.dtype).reshape(8, 20, experts)
        place = (jnp.cumsum(one_hot, 1) * one_hot - 1).astype(jnp.int32)
        dispatch = jax.nn.one_hot(place, places, dtype=x.dtype).reshape(8, 10, 2, experts, places)
        combine = jnp.einsum("btk,btkec->btec", weights, dispatch)
        arrived = on_experts(jnp.einsum("btkec,btd->ebcd", dispatch, x))
        left = on_experts(jnp.einsum("ebcf,efd->ebcd", jax.nn.silu(jnp.einsum("ebcd,edf->ebcf", arrived, up)), down))
        return jnp.mean((jnp.einsum("btec,ebcd->btd", combine, left) - x) ** 2)

    def step(gate, up, down, x):
        return jax.value_and_grad(loss, (0, 1, 2))(gate, up, down, x)

    e = P("expert")
    return step, (gate, up, down, x), (P(), e, e, e), (P(), (P(), e, e))


CASES = [Case("experts", top_two, [{"expert": 8}, {"expert": 4}, {"expert": 3}, {"expert": 1}])]
