"""Plain JAX: ring attention (Liu et al., 2023) under shard_map, forward and backward, the sequence over eight devices."""
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import jit
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

BATCH, LENGTH, HEADS, CHANNELS, WIDTH = 2, 512, 4, 32, 128
mesh = jax.make_mesh((8,), ("sequence",), axis_types=(AxisType.Auto,))
rows = P(None, "sequence")


@partial(jax.shard_map, mesh=mesh, in_specs=(rows, rows, rows), out_specs=rows)
def ring_attention(q, k, v):
    """Causal attention; keys and values go round, the softmax is completed as they come (Milakov, Gimelshein, 2018)."""
    devices, me = jax.lax.axis_size("sequence"), jax.lax.axis_index("sequence")
    length = q.shape[1]
    mine = me * length + jnp.arange(length)

    @jax.checkpoint
    def turn(carry, step):
        k, v, top, total, mixed = carry
        theirs = (me - step) % devices * length + jnp.arange(length)
        scores = jnp.einsum("bthc,bshc->bhts", q, k) * CHANNELS**-0.5
        scores = jnp.where(mine[:, None] >= theirs, scores, -1e30)
        new = jnp.maximum(top, scores.max(-1))
        weights = jnp.exp(scores - new[..., None])
        old = jnp.exp(top - new)
        mixed = mixed * old[..., None] + jnp.einsum("bhts,bshc->bhtc", weights, v)
        k, v = jax.lax.ppermute((k, v), "sequence", [(i, (i + 1) % devices) for i in range(devices)])
        return (k, v, new, total * old + weights.sum(-1), mixed), None

    start = jnp.moveaxis(q, 1, 2) * 0  # varies over the devices as what comes does
    carry = (k, v, start[..., 0] - 1e30, start[..., 0], start)
    (_, _, _, total, mixed), _ = jax.lax.scan(turn, carry, jnp.arange(devices))
    return jnp.moveaxis(mixed / total[..., None], 1, 2)


optimizer = optax.adam(1e-3)


@partial(jit, donate_argnums=(0, 1))
def train_step(params, state, x, y):
    def loss_of(params):
        q, k, v = jnp.einsum("btd,sdhc->sbthc", x, params["qkv"])
        found = jnp.einsum("bthc,hcd->btd", ring_attention(q, k, v), params["out"])
        return jnp.mean((found - y) ** 2)

    loss, gradient = jax.value_and_grad(loss_of)(params)
    updates, state = optimizer.update(gradient, state)
    return optax.apply_updates(params, updates), state, loss


def steps():
    keys = jax.random.split(jax.random.key(0))
    params = {"qkv": jax.random.normal(keys[0], (3, WIDTH, HEADS, CHANNELS)) * WIDTH**-0.5,
              "out": jax.random.normal(keys[1], (HEADS, CHANNELS, WIDTH)) * WIDTH**-0.5}
    params = jax.device_put(params, NamedSharding(mesh, P()))
    state = optimizer.init(params)
    random = np.random.default_rng(0)
    while True:
        x = random.normal(size=(BATCH, LENGTH, WIDTH)).astype(np.float32)
        y = np.cumsum(x, 1, dtype=np.float32) / np.arange(1, LENGTH + 1, dtype=np.float32)[:, None]
        params, state, loss = train_step(params, state, *jax.device_put((x, y), NamedSharding(mesh, rows)))
        yield loss


if __name__ == "__main__":
    for step, loss in zip(range(100), steps()):
        print(f"step {step}  loss {loss:.5f}")
