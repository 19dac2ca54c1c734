"""Haiku: a stack of LSTMs unrolled over time, its batch over eight devices."""
from functools import partial

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import jit
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

VOCABULARY, LENGTH, BATCH = 64, 32, 32
mesh = jax.make_mesh((8,), ("data",), axis_types=(AxisType.Auto,))


def unroll(tokens):
    """Logits [time, batch, vocabulary] of tokens [time, batch]."""
    core = hk.DeepRNN([hk.Embed(VOCABULARY, 64), hk.LSTM(128), jax.nn.relu, hk.LSTM(128), hk.nets.MLP([64, VOCABULARY])])
    logits, _ = hk.dynamic_unroll(core, tokens, core.initial_state(tokens.shape[1]))
    return logits


network = hk.without_apply_rng(hk.transform(unroll))
optimizer = optax.adam(3e-3)


@partial(jit, donate_argnums=(0, 1))
def update(params, opt_state, tokens):
    def loss_of(params):
        logits = network.apply(params, tokens[:-1])
        return optax.softmax_cross_entropy_with_integer_labels(logits, tokens[1:]).mean()

    loss, gradient = jax.value_and_grad(loss_of)(params)
    updates, opt_state = optimizer.update(gradient, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


def steps():
    params = network.init(jax.random.PRNGKey(1), jnp.zeros((LENGTH, 1), jnp.int32))
    opt_state = optimizer.init(params)
    random = np.random.default_rng(1)
    columns = NamedSharding(mesh, P(None, "data"))
    while True:
        tokens = (random.integers(VOCABULARY, size=BATCH) + np.arange(LENGTH + 1)[:, None] * 3) % VOCABULARY
        params, opt_state, loss = update(params, opt_state, jax.device_put(tokens.astype(np.int32), columns))
        yield loss


if __name__ == "__main__":
    for step, loss in zip(range(100), steps()):
        print(f"step {step}  loss {loss:.4f}")
