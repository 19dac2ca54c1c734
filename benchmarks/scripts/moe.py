"""Plain JAX: a switch layer (Fedus et al., 2021) of eight experts, one a device, trained with an auxiliary loss."""
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import jit
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

EXPERTS, WIDTH, HIDDEN, TOKENS = 8, 64, 256, 1024
CAPACITY = 2 * TOKENS // EXPERTS // 8  # of an expert for the tokens of a device
mesh = jax.make_mesh((8,), ("expert",), axis_types=(AxisType.Auto,))
def place(*axes):
    return NamedSharding(mesh, P(*axes))
def constrain(x, *axes):
    return jax.lax.with_sharding_constraint(x, place(*axes))


def init(key):
    keys = jax.random.split(key, 5)
    def normal(key, *shape):
        return jax.random.normal(key, shape) * shape[-2] ** -0.5
    return {"enter": normal(keys[0], 16, WIDTH), "router": normal(keys[1], WIDTH, EXPERTS),
            "up": normal(keys[2], EXPERTS, WIDTH, HIDDEN), "down": normal(keys[3], EXPERTS, HIDDEN, WIDTH),
            "leave": normal(keys[4], WIDTH, 4)}


SPECS = {"enter": place(), "router": place(), "up": place("expert"), "down": place("expert"), "leave": place()}


def switch(params, x):
    """x [group, token, width], a group a device; each token goes to the best expert that has room for it."""
    probabilities = jax.nn.softmax(jnp.einsum("gtd,de->gte", x, params["router"]))
    gate, chosen = probabilities.max(-1), jax.nn.one_hot(probabilities.argmax(-1), EXPERTS)
    place_of = (jnp.cumsum(chosen, 1) * chosen).sum(-1).astype(jnp.int32) - 1
    slot = jax.nn.one_hot(place_of, CAPACITY)  # zero past the capacity
    dispatch = chosen[..., None] * slot[..., None, :]
    routed = constrain(jnp.einsum("gtec,gtd->egcd", dispatch, x), "expert")
    hidden = jax.nn.gelu(jnp.einsum("egcd,edf->egcf", routed, params["up"]))
    done = constrain(jnp.einsum("egcf,efd->egcd", hidden, params["down"]), "expert")
    mixed = constrain(jnp.einsum("gtec,egcd->gtd", dispatch * gate[..., None, None], done), "expert")
    balance = EXPERTS * jnp.sum(chosen.mean((0, 1)) * probabilities.mean((0, 1)))
    return x + mixed, balance


optimizer = optax.adam(1e-3)


@partial(jit, donate_argnums=(0, 1))
def train_step(params, state, x, y):
    def loss_of(params):
        hidden, balance = switch(params, jnp.tanh(x @ params["enter"]))
        return jnp.mean((hidden @ params["leave"] - y) ** 2) + 0.01 * balance, balance

    (loss, balance), gradient = jax.value_and_grad(loss_of, has_aux=True)(params)
    updates, state = optimizer.update(gradient, state)
    return optax.apply_updates(params, updates), state, {"loss": loss, "balance": balance}


def steps():
    params = jax.device_put(init(jax.random.key(0)), SPECS)
    state = optimizer.init(params)
    random = np.random.default_rng(0)
    teachers = random.normal(size=(4, 16, 4)) / 4
    while True:
        kind = random.integers(4, size=(8, TOKENS // 8))
        x = random.normal(size=(8, TOKENS // 8, 16)) + 2 * np.eye(4, 16)[kind]
        y = np.einsum("gti,gtio->gto", x, teachers[kind])
        x, y = jax.device_put((x.astype(np.float32), y.astype(np.float32)), place("expert"))
        params, state, metrics = train_step(params, state, x, y)
        yield metrics


if __name__ == "__main__":
    for step, metrics in zip(range(100), steps()):
        print(f"step {step}  loss {metrics['loss']:.4f}  balance {metrics['balance']:.3f}")
