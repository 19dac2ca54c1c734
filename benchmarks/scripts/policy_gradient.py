"""Plain JAX and optax: PPO (Schulman et al., 2017) on cart-poles that run inside of the step, over eight devices."""
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax
from jax import jit
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

ENVIRONMENTS, HORIZON = 256, 32
mesh = jax.make_mesh((8,), ("data",), axis_types=(AxisType.Auto,))


class Moment(NamedTuple):
    seen: jax.Array
    action: jax.Array
    log_probability: jax.Array
    value: jax.Array
    reward: jax.Array
    done: jax.Array


def physics(state, action, key):
    """A step of a cart-pole (Barto, Sutton, Anderson, 1983); a pole that has fallen starts again."""
    x, dx, angle, spin = jnp.moveaxis(state, -1, 0)
    force = jnp.where(action == 1, 10.0, -10.0)
    push = (force + 0.05 * spin**2 * jnp.sin(angle)) / 1.1
    bend = (9.8 * jnp.sin(angle) - jnp.cos(angle) * push) / (0.5 * (4 / 3 - 0.1 * jnp.cos(angle) ** 2 / 1.1))
    slide = push - 0.05 * bend * jnp.cos(angle) / 1.1
    new = state + 0.02 * jnp.stack([dx, slide, spin, bend], -1)
    done = (jnp.abs(new[..., 0]) > 2.4) | (jnp.abs(new[..., 2]) > 0.21)
    return jnp.where(done[..., None], jax.random.uniform(key, state.shape, minval=-0.05, maxval=0.05), new), done


def network(params, x):
    for layer in params["body"]:
        x = jnp.tanh(x @ layer["w"] + layer["b"])
    return jax.nn.log_softmax(x @ params["policy"]), (x @ params["value"])[..., 0]


def init(key):
    keys = jax.random.split(key, 4)
    def normal(key, rows, columns):
        return jax.random.normal(key, (rows, columns)) * rows**-0.5
    return {"body": [{"w": normal(keys[0], 4, 64), "b": jnp.zeros(64)}, {"w": normal(keys[1], 64, 64), "b": jnp.zeros(64)}],
            "policy": 0.01 * normal(keys[2], 64, 2), "value": normal(keys[3], 64, 1)}


optimizer = optax.chain(optax.clip_by_global_norm(0.5), optax.adam(2.5e-4))


@partial(jit, donate_argnums=(0, 1, 2))
def train_step(params, opt_state, state, key):
    def move(carry, key):
        state = carry
        key_action, key_reset = jax.random.split(key)
        logits, value = network(params, state)
        action = jax.random.categorical(key_action, logits)
        chosen = jnp.take_along_axis(logits, action[:, None], 1)[:, 0]
        new, done = physics(state, action, key_reset)
        return new, Moment(state, action, chosen, value, 1.0 - done, done)

    state, path = jax.lax.scan(move, state, jax.random.split(key, HORIZON))
    _, last = network(params, state)

    def back(carry, moment):
        advantage, next_value = carry
        alive = 1.0 - moment.done
        delta = moment.reward + 0.99 * next_value * alive - moment.value
        advantage = delta + 0.99 * 0.95 * alive * advantage
        return (advantage, moment.value), advantage

    _, advantages = jax.lax.scan(back, (jnp.zeros_like(last), last), path, reverse=True)
    targets = advantages + path.value

    def loss_of(params):
        logits, value = network(params, path.seen)
        chosen = jnp.take_along_axis(logits, path.action[..., None], -1)[..., 0]
        ratio = jnp.exp(chosen - path.log_probability)
        scaled = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        actor = -jnp.minimum(ratio * scaled, jnp.clip(ratio, 0.8, 1.2) * scaled).mean()
        entropy = -(jnp.exp(logits) * logits).sum(-1).mean()
        return actor + 0.5 * jnp.mean((value - targets) ** 2) - 0.01 * entropy

    def epoch(carry, _):
        params, opt_state = carry
        loss, gradient = jax.value_and_grad(loss_of)(params)
        updates, opt_state = optimizer.update(gradient, opt_state)
        return (optax.apply_updates(params, updates), opt_state), loss

    (params, opt_state), losses = jax.lax.scan(epoch, (params, opt_state), None, 4)
    return params, opt_state, state, {"losses": losses, "fallen": path.done.mean()}


def steps():
    key = jax.random.key(0)
    params = init(key)
    opt_state = optimizer.init(params)
    state = jax.device_put(0.01 * jax.random.normal(key, (ENVIRONMENTS, 4)), NamedSharding(mesh, P("data")))
    while True:
        key, use = jax.random.split(key)
        params, opt_state, state, metrics = train_step(params, opt_state, state, use)
        yield metrics


if __name__ == "__main__":
    for step, metrics in zip(range(100), steps()):
        print(f"step {step}  loss {metrics['losses'][-1]:.4f}  fallen {metrics['fallen']:.4f}")
