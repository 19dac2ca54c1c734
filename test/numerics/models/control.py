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


def updates(mesh):
    """An array that loops in loops and branches carry on, changed a row at a time: of itself, of a row elsewhere in it, or not."""
    x = normal(RNG(23), 24, 10)

    def forward(x):
        def chosen(j, table):
            return jax.lax.switch(j % 4, [lambda t: t, lambda t: t.at[j].set(jnp.sin(t[j]) + t[j + 2]), lambda t: t.at[j].set(t[0]), lambda t: rows(j, t)], table)

        def rows(j, table):
            return jax.lax.fori_loop(0, 4, lambda i, t: t.at[i + j].set(0.5 * t[i + j] - t[i + j + 1]), table)

        def kept(j, table):  # the branches' operand is read behind them
            return jax.lax.cond(j % 3 == 0, lambda t: t.at[j].set(2.0), lambda t: t.at[0].add(t[j]), table) - 0.1 * table

        def whole(j, table):  # a view of all is read where a row changes
            return jax.lax.dynamic_update_slice(table, jnp.cos(jax.lax.dynamic_slice(table.reshape(-1), (10 * j + 5,), (10,)))[None], (j, 0))

        return [jax.lax.fori_loop(0, 18, step, x) for step in (chosen, rows, kept, whole)]

    return forward, (x,), (P(None, "data"),), None


MESHES = [{"data": 2, "model": 4}, {"data": 3, "model": 1}, {"data": 1, "model": 1}]
CASES = [Case("iterate", iterate, MESHES), Case("branches", branches, MESHES), Case("updates", updates, MESHES)]
