"""Flax linen: a residual network with batch normalisation, its batch over eight devices."""
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import linen as nn
from flax.training import train_state
from jax import jit
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

mesh = jax.make_mesh((8,), ("data",), axis_types=(AxisType.Auto,))
whole, rows = NamedSharding(mesh, P()), NamedSharding(mesh, P("data"))


class Block(nn.Module):
    width: int
    stride: int

    @nn.compact
    def __call__(self, x, train):
        norm = partial(nn.BatchNorm, use_running_average=not train, momentum=0.9)
        y = nn.relu(norm()(nn.Conv(self.width, (3, 3), self.stride, use_bias=False)(x)))
        y = norm(scale_init=nn.initializers.zeros)(nn.Conv(self.width, (3, 3), use_bias=False)(y))
        if x.shape != y.shape:
            x = norm()(nn.Conv(self.width, (1, 1), self.stride, use_bias=False)(x))
        return nn.relu(x + y)


class ResNet(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        x = nn.relu(nn.BatchNorm(use_running_average=not train)(nn.Conv(16, (3, 3), use_bias=False)(x)))
        for width, stride in ((16, 1), (32, 2), (64, 2)):
            x = Block(width, stride)(x, train)
        return nn.Dense(10)(x.mean((1, 2)))


class State(train_state.TrainState):
    batch_stats: dict


@partial(jit, donate_argnums=0)
def train_step(state, images, labels):
    def loss_of(params):
        variables = {"params": params, "batch_stats": state.batch_stats}
        logits, new = state.apply_fn(variables, images, True, mutable=["batch_stats"])
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean(), (logits, new["batch_stats"])

    (loss, (logits, stats)), gradient = jax.value_and_grad(loss_of, has_aux=True)(state.params)
    state = state.apply_gradients(grads=gradient, batch_stats=stats)
    return state, {"loss": loss, "accuracy": (logits.argmax(-1) == labels).mean()}


def steps():
    model = ResNet()
    variables = model.init(jax.random.key(0), jnp.zeros((1, 32, 32, 3)), True)
    optimizer = optax.sgd(optax.cosine_decay_schedule(0.05, 1000), momentum=0.9, nesterov=True)
    state = State.create(apply_fn=model.apply, params=variables["params"], tx=optimizer,
                         batch_stats=variables["batch_stats"])
    state = jax.device_put(state, whole)
    random = np.random.default_rng(0)
    patterns = random.normal(size=(10, 32, 32, 3))
    while True:
        labels = random.integers(10, size=32)
        images = (patterns[labels] + random.normal(size=(32, 32, 32, 3))).astype(np.float32)
        state, metrics = train_step(state, *jax.device_put((images, labels.astype(np.int32)), rows))
        yield metrics


if __name__ == "__main__":
    for step, metrics in zip(range(100), steps()):
        print(f"step {step}  loss {metrics['loss']:.4f}  accuracy {metrics['accuracy']:.2f}")
