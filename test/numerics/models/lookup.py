"""Gathers and scatters on sharded tables."""
import jax
import jax.numpy as jnp
import numpy as np
from harness import Case
from jax.sharding import PartitionSpec as P

from .mlp import RNG, normal


def embedding(mesh):
    """Rows of a table that is sharded by rows, and the scatter-add of the way back."""
    rng = RNG(12)
    table, weight = normal(rng, 50, 6), normal(rng, 8, 5, 6)
    rows = rng.integers(0, 50, (8, 5)).astype(np.int32)

    def step(table, rows, weight):
        return jax.value_and_grad(lambda table: jnp.sum(jnp.sin(table[rows]) * weight))(table)

    return step, (table, rows, weight), (P("model"), P("data"), P("data")), (P(), P("model"))


def cross_entropy(mesh):
    """The chosen logit of a vocabulary that is sharded: a gather along the sharded dimension."""
    rng = RNG(13)
    hidden, head = normal(rng, 6, 10), normal(rng, 10, 30)
    target = rng.integers(0, 30, (6,)).astype(np.int32)

    def loss(hidden, head, target):
        logits = jax.nn.log_softmax(hidden @ head, -1)
        return -jnp.mean(jnp.take_along_axis(logits, target[:, None], -1))

    def step(hidden, head, target):
        return jax.value_and_grad(loss, (0, 1))(hidden, head, target)

    specs = (P("data"), P(None, "model"))
    return step, (hidden, head, target), (*specs, P("data")), (P(), specs)


def scatters(mesh):
    """Set, add, max at indices, some of them outside; slices as windows."""
    rng = RNG(14)
    x, updates = normal(rng, 20, 6), normal(rng, 8, 6)
    rows = np.array([3, 19, 7, 3, 25, 0, 11, 12], np.int32)
    distinct = np.array([3, 19, 7, 4, 25, 0, 11, 12], np.int32)

    def forward(x, updates, rows, distinct):
        return (
            x.at[rows].add(updates, mode="drop"),
            x.at[rows].max(updates, mode="drop"),
            x.at[distinct].set(updates, mode="drop"),
            x.at[rows].get(mode="fill", fill_value=-1.0),
            x.at[rows].get(mode="clip"),
            jax.vmap(lambda start: jax.lax.dynamic_slice_in_dim(x, start, 3))(rows),
        )

    return forward, (x, updates, rows, distinct), (P("model", "data"), P("data"), P("data"), P("data")), None


MESHES = [{"data": 2, "model": 4}, {"data": 1, "model": 3}, {"data": 3, "model": 1}, {"data": 1, "model": 1}]
CASES = [Case("embedding", embedding, MESHES), Case("cross_entropy", cross_entropy, MESHES),
         Case("scatters", scatters, MESHES)]
