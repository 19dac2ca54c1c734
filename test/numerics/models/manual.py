"""shard_map: the program of one device, written by hand with its collectives."""
import functools

import jax
import jax.numpy as jnp
from harness import Case
from jax.sharding import PartitionSpec as P

from .mlp import RNG, normal


def ring_matmul(mesh):
    """Each device multiplies the part it holds and passes it on: a gather hidden behind the products."""
    rng = RNG(15)
    x, w = normal(rng, 16, 32), normal(rng, 32, 8)
    size = mesh.shape["ring"]

    @functools.partial(jax.shard_map, mesh=mesh, in_specs=(P(None, "ring"), P()), out_specs=P(None, "ring"))
    def product(x, w):
        me, rows, width = jax.lax.axis_index("ring"), w.shape[0] // size, w.shape[1] // size

        def hop(i, carry):
            held, total = carry
            source = (me - i) % size
            block = jax.lax.dynamic_slice(w, (source * rows, me * width), (rows, width))
            held_next = jax.lax.ppermute(held, "ring", [(j, (j + 1) % size) for j in range(size)])
            return held_next, total + held @ block

        total = jax.lax.pcast(jnp.zeros((x.shape[0], width), x.dtype), ("ring",), to="varying")
        return jax.lax.fori_loop(0, size, hop, (x, total))[1]

    return product, (x, w), (P(None, "ring"), P()), P(None, "ring")


def every_collective(mesh):
    """Sums, maxima, gathers, scatters, exchanges and shifts over each axis of a mesh."""
    x = normal(RNG(16), 16, 24)

    @functools.partial(jax.shard_map, mesh=mesh, in_specs=P("a", "b"), check_vma=False,
                       out_specs=(P("a", "b"), P("a", None), P(None, "b"), P("a", "b"), P("a", "b"), P(("a", "b"))))
    def body(x):
        a, b = mesh.shape["a"], mesh.shape["b"]
        return (
            x / jax.lax.psum(jnp.abs(x), ("a", "b")) + jax.lax.axis_index("a"),
            jax.lax.all_gather(x, "b", axis=1, tiled=True),
            jax.lax.pmax(x, "a")[: 16 // a],
            jax.lax.psum_scatter(jnp.tile(x, (a, 1)), "a", scatter_dimension=0, tiled=True),
            jax.lax.ppermute(x, "b", [(i, i + 1) for i in range(b - 1)]),
            jax.lax.all_to_all(x, "b", split_axis=0, concat_axis=1, tiled=True)[:, : 24 // b],
        )

    return body, (x,), (P("a", "b"),), None


def partly_manual(mesh):
    """Manual over one axis; the compiler shards the other."""
    rng = RNG(17)
    x, w = normal(rng, 8, 12), normal(rng, 12, 16)

    @functools.partial(jax.shard_map, mesh=mesh, in_specs=(P("a"), P()), out_specs=(P("a"), P()), axis_names={"a"})
    def body(x, w):
        y = jnp.tanh(x @ w)
        return y, jax.lax.psum(jnp.sum(y, 0), "a")

    return body, (x, w), (P("a"), P(None, "b")), None


CASES = [
    Case("ring_matmul", ring_matmul, [{"ring": 8}, {"ring": 4}, {"ring": 1}], manual=True),
    Case("every_collective", every_collective, [{"a": 2, "b": 4}, {"a": 4, "b": 2}], manual=True, own_mesh=True),
    Case("partly_manual", partly_manual, [{"a": 2, "b": 4}, {"a": 4, "b": 1}], manual=True),
]
