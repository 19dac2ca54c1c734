"""Plain JAX and optax: a transformer in bf16 with dropout and f32 weights, its batch over two devices, layers over four."""
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import jit
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

VOCABULARY, WIDTH, HEADS, LAYERS, LENGTH, BATCH, DROPOUT = 128, 128, 4, 4, 64, 16, 0.1
mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
def place(*axes):
    return NamedSharding(mesh, P(*axes))
SPECS = {
    "embed": place("model"), "head": place(None, "model"),
    "layers": {"qkv": place(None, None, None, "model"), "out": place(None, "model"), "up": place(None, None, "model"),
               "down": place(None, "model"), "norm": place()},
}


def init(key):
    keys = jax.random.split(key, 6)
    def normal(key, *shape):
        return jax.random.normal(key, shape) * shape[-2] ** -0.5
    return {
        "embed": normal(keys[0], VOCABULARY, WIDTH), "head": normal(keys[1], WIDTH, VOCABULARY),
        "layers": {"qkv": normal(keys[2], LAYERS, 3, WIDTH, WIDTH), "out": normal(keys[3], LAYERS, WIDTH, WIDTH),
                   "up": normal(keys[4], LAYERS, WIDTH, 4 * WIDTH), "down": normal(keys[5], LAYERS, 4 * WIDTH, WIDTH),
                   "norm": jnp.ones((LAYERS, 2, WIDTH))},
    }


def norm(x, gain):
    wide = x.astype(jnp.float32)
    return (wide * jax.lax.rsqrt(jnp.mean(wide * wide, -1, keepdims=True) + 1e-6) * gain).astype(x.dtype)


def dropout(key, x):
    return jnp.where(jax.random.bernoulli(key, 1 - DROPOUT, x.shape), x / (1 - DROPOUT), 0).astype(x.dtype)


@jax.checkpoint
def layer(x, weights):
    weights, key = weights
    half = jax.tree.map(lambda w: w.astype(jnp.bfloat16), weights)
    keys = jax.random.split(key)
    q, k, v = jnp.einsum("btd,cde->cbte", norm(x, weights["norm"][0]), half["qkv"]).reshape(3, *x.shape[:2], HEADS, -1)
    scores = jnp.einsum("bthk,bshk->bhts", q, k, preferred_element_type=jnp.float32) * q.shape[-1] ** -0.5
    scores = jnp.where(jnp.tril(jnp.ones((LENGTH, LENGTH), bool)), scores, -jnp.inf)
    mixed = jnp.einsum("bhts,bshk->bthk", jax.nn.softmax(scores).astype(x.dtype), v).reshape(x.shape)
    x = x + dropout(keys[0], mixed @ half["out"])
    x = x + dropout(keys[1], jax.nn.gelu(norm(x, weights["norm"][1]) @ half["up"]) @ half["down"])
    return jax.lax.with_sharding_constraint(x, place("data")), None


def loss_of(params, tokens, key):
    x = params["embed"].astype(jnp.bfloat16)[tokens[:, :-1]]
    x, _ = jax.lax.scan(layer, x, (params["layers"], jax.random.split(key, LAYERS)))
    logits = (x @ params["head"].astype(x.dtype)).astype(jnp.float32)
    return optax.softmax_cross_entropy_with_integer_labels(logits, tokens[:, 1:]).mean()


optimizer = optax.adamw(optax.warmup_constant_schedule(0.0, 1e-3, 10))


@partial(jit, donate_argnums=(0, 1))
def train_step(params, state, tokens, key):
    loss, gradient = jax.value_and_grad(loss_of)(params, tokens, key)
    updates, state = optimizer.update(gradient, state, params)
    return optax.apply_updates(params, updates), state, loss


def steps():
    params = jax.device_put(init(jax.random.key(0)), SPECS)
    state = optimizer.init(params)
    random = np.random.default_rng(0)
    for step in range(10**9):
        first, slope = random.integers(VOCABULARY, size=(BATCH, 1)), random.integers(1, 5, size=(BATCH, 1))
        tokens = ((first + slope * np.arange(LENGTH + 1)) % VOCABULARY).astype(np.int32)
        key = jax.random.fold_in(jax.random.key(1), step)
        params, state, loss = train_step(params, state, jax.device_put(tokens, place("data")), key)
        yield loss


if __name__ == "__main__":
    for step, loss in zip(range(100), steps()):
        print(f"step {step}  loss {loss:.4f}")
