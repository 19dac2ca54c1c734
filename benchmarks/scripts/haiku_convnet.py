"""Haiku: a convolutional network with state, as in Haiku's examples; its batch over eight devices."""
from typing import NamedTuple

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import jit
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

mesh = jax.make_mesh((8,), ("data",), axis_types=(AxisType.Auto,))


class Batch(NamedTuple):
    image: np.ndarray
    label: np.ndarray


class TrainState(NamedTuple):
    params: hk.Params
    state: hk.State
    opt_state: optax.OptState


def forward(images, is_training):
    x = hk.Conv2D(24, 5, stride=2)(images)
    x = jax.nn.relu(hk.BatchNorm(True, True, 0.9)(x, is_training))
    x = hk.MaxPool(3, 2, "SAME")(x)
    x = jax.nn.relu(hk.Conv2D(48, 3)(x))
    x = hk.AvgPool(2, 2, "VALID")(x)
    return hk.nets.MLP([96, 10])(hk.Flatten()(x))


network = hk.without_apply_rng(hk.transform_with_state(forward))
optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(1e-3))


def loss_of(params, state, batch):
    logits, state = network.apply(params, state, batch.image, True)
    labels = jax.nn.one_hot(batch.label, 10)
    decay = 1e-4 * sum(jnp.sum(p**2) for p in jax.tree.leaves(params))
    return -jnp.mean(jnp.sum(labels * jax.nn.log_softmax(logits), -1)) + decay, state


rows, whole = NamedSharding(mesh, P("data")), NamedSharding(mesh, P())


def update(train_state, batch):
    (loss, state), gradient = jax.value_and_grad(loss_of, has_aux=True)(train_state.params, train_state.state, batch)
    updates, opt_state = optimizer.update(gradient, train_state.opt_state)
    return TrainState(optax.apply_updates(train_state.params, updates), state, opt_state), loss


train_step = jit(update, in_shardings=(whole, rows), out_shardings=whole, donate_argnums=0)


def steps():
    params, state = jax.jit(network.init, static_argnums=2)(jax.random.PRNGKey(0), jnp.zeros((1, 28, 28, 1)), True)
    train_state = TrainState(params, state, optimizer.init(params))
    random = np.random.default_rng(0)
    patterns = random.normal(size=(10, 28, 28, 1))
    while True:
        label = random.integers(10, size=64)
        image = patterns[label] + random.normal(size=(64, 28, 28, 1))
        train_state, loss = train_step(train_state, Batch(image.astype(np.float32), label.astype(np.int32)))
        yield loss


if __name__ == "__main__":
    for step, loss in zip(range(100), steps()):
        print(f"step {step}  loss {loss:.4f}")
