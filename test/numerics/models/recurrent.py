"""Loops that count: a recurrent network over time, layers from a stack of weights, loops in loops."""
import jax
import jax.numpy as jnp
from harness import Case
from jax.sharding import PartitionSpec as P

from .mlp import RNG, normal


def gated_cell(mesh):
    """A gated cell over time and its gradient: the weight's gradient is summed over the steps of the loop."""
    rng = RNG(8)
    w, u, x = normal(rng, 12, 24, scale=0.3), normal(rng, 12, 24, scale=0.3), normal(rng, 7, 6, 12)

    def loss(w, u, x):
        def cell(h, x):
            gate, value = jnp.split(x @ w + h @ u, 2, -1)
            gate = jax.nn.sigmoid(gate)
            h = gate * h + (1 - gate) * jnp.tanh(value)
            return h, jnp.sum(h)

        h, sums = jax.lax.scan(cell, jnp.zeros((6, 12), x.dtype), x)
        return jnp.mean(h**2) + jnp.mean(sums) ** 2

    def step(w, u, x):
        return jax.value_and_grad(loss, (0, 1))(w, u, x)

    spec = P(None, "model")
    return step, (w, u, x), (spec, spec, P(None, "data")), (P(), (spec, spec))


def stack(mesh):
    """Layers as a scan over stacked weights, with rematerialisation; each layer's input is kept for the way back."""
    rng = RNG(9)
    up, down, x = normal(rng, 4, 10, 24, scale=0.3), normal(rng, 4, 24, 10, scale=0.2), normal(rng, 6, 10)

    def loss(up, down, x):
        @jax.checkpoint
        def layer(h, weights):
            return h + jnp.tanh(h @ weights[0]) @ weights[1], None

        return jnp.mean(jax.lax.scan(layer, x, (up, down))[0] ** 2)

    def step(up, down, x):
        return jax.value_and_grad(loss, (0, 1))(up, down, x)

    specs = (P(None, None, "model"), P(None, "model", None))
    return step, (up, down, x), (*specs, P("data")), (P(), specs)


def nested(mesh):
    """A loop in a loop, with state that is sharded in both."""
    rng = RNG(10)
    a, x = normal(rng, 12, 12, scale=0.2), normal(rng, 5, 12)

    def forward(a, x):
        def inner(i, state):
            return jnp.sin(state @ a) + i

        def outer(state, _):
            state = jax.lax.fori_loop(0, 3, inner, state)
            return state, state[0]

        return jax.lax.scan(outer, x, None, length=4)

    return forward, (a, x), (P("data", "model"), P("data")), (P("data", "model"), None)


MESHES = [{"data": 2, "model": 4}, {"data": 3, "model": 2}, {"data": 1, "model": 1}]
CASES = [Case("gated_cell", gated_cell, MESHES), Case("layer_stack", stack, MESHES), Case("nested_loops", nested, MESHES)]
