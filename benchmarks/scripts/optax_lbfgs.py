"""optax: logistic regression by L-BFGS with a zoom line search, its examples over eight devices."""
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import jit
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

mesh = jax.make_mesh((8,), ("data",), axis_types=(AxisType.Auto,))
rows = NamedSharding(mesh, P("data"))
random = np.random.default_rng(0)
truth = random.normal(size=(64, 10)).astype(np.float32)
features = random.normal(size=(4096, 64)).astype(np.float32)
labels = (features @ truth + random.gumbel(size=(4096, 10))).argmax(-1).astype(np.int32)

optimizer = optax.lbfgs(memory_size=8, linesearch=optax.scale_by_zoom_linesearch(max_linesearch_steps=10))


def loss_of(params, features, labels):
    logits = features @ params["w"] + params["b"]
    data = optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()
    return data + 1e-3 * jnp.sum(params["w"] ** 2)


@jit
def step(params, state, features, labels):
    def value_of(params):
        return loss_of(params, features, labels)
    value, gradient = optax.value_and_grad_from_state(value_of)(params, state=state)
    updates, state = optimizer.update(gradient, state, params, value=value, grad=gradient, value_fn=value_of)
    return optax.apply_updates(params, updates), state, (value, optax.global_norm(gradient))


def steps():
    params = {"w": jnp.zeros((64, 10)), "b": jnp.zeros(10)}
    state = optimizer.init(params)
    placed = jax.device_put((features, labels), rows)
    while True:
        params, state, result = step(params, state, *placed)
        yield result


if __name__ == "__main__":
    for number, (loss, norm) in zip(range(20), steps()):
        print(f"step {number}  loss {loss:.5f}  gradient {norm:.5f}")
