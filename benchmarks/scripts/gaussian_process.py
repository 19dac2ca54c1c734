"""Plain JAX and optax: a Gaussian process whose likelihood is maximised through Cholesky factors, tasks over devices."""
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import jit
from jax.scipy.linalg import cho_factor, cho_solve
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

TASKS, POINTS = 16, 96
mesh = jax.make_mesh((8,), ("task",), axis_types=(AxisType.Auto,))
rows = NamedSharding(mesh, P("task"))


def negative_log_likelihood(params, x, y):
    scale, amplitude, noise = (jax.nn.softplus(params[name]) for name in ("scale", "amplitude", "noise"))
    kernel = amplitude * jnp.exp(-0.5 * ((x[:, None] - x) / scale) ** 2) + (noise + 1e-3) * jnp.eye(POINTS)
    factor = cho_factor(kernel, lower=True)
    return 0.5 * y @ cho_solve(factor, y) + jnp.sum(jnp.log(jnp.diag(factor[0])))


optimizer = optax.adam(0.05)


def update(params, state, x, y):
    def loss_of(params):
        return jax.vmap(negative_log_likelihood)(params, x, y).mean()

    loss, gradient = jax.value_and_grad(loss_of)(params)
    updates, state = optimizer.update(gradient, state)
    return optax.apply_updates(params, updates), state, loss


step = jit(update, in_shardings=(rows, None, rows, rows))


def steps():
    random = np.random.default_rng(0)
    x = np.sort(random.uniform(-3, 3, (TASKS, POINTS)).astype(np.float32))
    y = (np.sin(2 * x) + 0.1 * random.normal(size=x.shape)).astype(np.float32)
    params = {name: jnp.zeros(TASKS) for name in ("scale", "amplitude", "noise")}
    state = optimizer.init(params)
    while True:
        params, state, loss = step(params, state, x, y)
        yield loss


if __name__ == "__main__":
    for number, loss in zip(range(100), steps()):
        print(f"step {number}  loss {loss:.4f}")
