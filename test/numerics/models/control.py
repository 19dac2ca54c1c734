"""Control flow that data decides."""
import jax
import jax.numpy as jnp
from harness import Case
from jax.sharding import PartitionSpec as P

from .mlp import RNG, normal


def iterate(mesh):
    """Newton's iteration until every element is there: the condition reduces over all devices."""
    x = abs(normal(RNG(18), 12, 5)) + 0.5

    def forward(x):
        def unfinished(state):
            root, count = state
            return (jnp.max(jnp.abs(root * root - x)) > 1e-3) & (count < 50)

        def refine(state):
            root, count = state
            return 0.5 * (root + x / root), count + 1

        return jax.lax.while_loop(unfinished, refine, (x, jnp.int32(0)))

    return forward, (x,), (P("data", "model"),), None


def branches(mesh):
    """A conditional whose branches communicate differently, and a choice of three."""
    rng = RNG(19)
    x, w = normal(rng, 8, 12), normal(rng, 12, 12)

    def forward(x, w, which):
        product = jax.lax.cond(jnp.sum(x) > 0, lambda: x @ w, lambda: x @ w.T)
        chosen = jax.lax.switch(which, [lambda v: v, jnp.sin, lambda v: v[::-1]], x)
        return product, chosen

    return forward, (x, w, jnp.int32(2)), (P("data"), P("model"), P()), (P("data", "model"), P("data"))


MESHES = [{"data": 2, "model": 4}, {"data": 3, "model": 1}, {"data": 1, "model": 1}]
CASES = [Case("iterate", iterate, MESHES), Case("branches", branches, MESHES)]
