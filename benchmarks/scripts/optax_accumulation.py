"""optax: gradients accumulated over micro-batches, clipped, decayed and scheduled, with an average of the weights."""
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import jit
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

mesh = jax.make_mesh((4, 2), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
SIZES = (256, 512, 512, 10)
schedule = optax.warmup_cosine_decay_schedule(0.0, 3e-3, 10, 500)
optimizer = optax.MultiSteps(optax.chain(
    optax.clip_by_global_norm(1.0),
    optax.scale_by_adam(),
    optax.add_decayed_weights(1e-4, mask=lambda params: jax.tree.map(lambda p: p.ndim > 1, params)),
    optax.scale_by_learning_rate(schedule),
), every_k_schedule=4)
average = optax.ema(0.99)


def init(key):
    layers = []
    for rows, columns in zip(SIZES, SIZES[1:]):
        key, use = jax.random.split(key)
        layers.append({"w": jax.random.normal(use, (rows, columns)) * rows**-0.5, "b": jnp.zeros(columns)})
    return layers


def loss_of(params, images, labels):
    for layer in params[:-1]:
        images = jax.nn.silu(images @ layer["w"] + layer["b"])
    logits = images @ params[-1]["w"] + params[-1]["b"]
    return optax.losses.softmax_cross_entropy(logits, optax.smooth_labels(jax.nn.one_hot(labels, 10), 0.1)).mean()


@partial(jit, donate_argnames=("params", "opt_state", "ema_state"))
def train_step(params, opt_state, ema_state, images, labels):
    loss, gradient = jax.value_and_grad(loss_of)(params, images, labels)
    updates, opt_state = optimizer.update(gradient, opt_state, params)
    params = optax.apply_updates(params, updates)
    averaged, ema_state = average.update(params, ema_state)
    return params, opt_state, ema_state, {"loss": loss, "norm": optax.global_norm(gradient),
                                          "average": optax.global_norm(averaged)}


def steps():
    params = init(jax.random.key(0))
    placed = [{"w": P(None, "model"), "b": P("model")}, {"w": P("model"), "b": P()}, {"w": P(), "b": P()}]
    params = jax.device_put(params, jax.tree.map(partial(NamedSharding, mesh), placed))
    opt_state, ema_state = optimizer.init(params), average.init(params)
    random = np.random.default_rng(0)
    patterns = random.normal(size=(10, SIZES[0]))
    rows = NamedSharding(mesh, P("data"))
    while True:
        labels = random.integers(10, size=64)
        images = (patterns[labels] + 2 * random.normal(size=(64, SIZES[0]))).astype(np.float32)
        images, labels = jax.device_put((images, labels.astype(np.int32)), rows)
        params, opt_state, ema_state, metrics = train_step(params, opt_state, ema_state, images=images, labels=labels)
        yield metrics


if __name__ == "__main__":
    for step, metrics in zip(range(100), steps()):
        print(f"step {step}  loss {metrics['loss']:.4f}  norm {metrics['norm']:.3f}")
