"""Dense layers under data and tensor parallelism, and the optimizer around them."""
import jax
import jax.numpy as jnp
import numpy as np
import optax
from harness import Case
from jax.sharding import PartitionSpec as P

RNG = lambda seed: np.random.default_rng(seed)


def normal(rng, *shape, scale=1.0):
    return (scale * rng.standard_normal(shape)).astype(np.float32)


def training_step(mesh):
    """Two layers, gelu, mean square error, gradient descent: Megatron's pair of shardings."""
    rng = RNG(0)
    weights = (normal(rng, 24, 60, scale=0.2), normal(rng, 60, 24, scale=0.2), normal(rng, 60))
    x, y = normal(rng, 14, 24), normal(rng, 14, 24)

    def step(weights, x, y):
        def loss(weights):
            up, down, bias = weights
            return jnp.mean((jax.nn.gelu(x @ up + bias) @ down - y) ** 2)

        value, gradient = jax.value_and_grad(loss)(weights)
        return jax.tree.map(lambda w, g: w - 0.1 * g, weights, gradient), value

    specs = (P(None, "model"), P("model", None), P("model"))
    return step, (weights, x, y), (specs, P("data"), P("data")), (specs, P())


def fully_sharded(mesh):
    """Weights in parts on the axis of the batch (ZeRO): gathered for use, gradients scattered."""
    rng = RNG(1)
    weights = [normal(rng, 20, 20, scale=0.3) for _ in range(3)]
    x = normal(rng, 12, 20)

    def step(weights, x):
        def loss(weights):
            h = x
            for w in weights:
                h = jnp.tanh(h @ w)
            return jnp.sum(h**2)

        return jax.value_and_grad(loss)(weights)

    return step, (weights, x), ([P("data")] * 3, P("data")), (P(), [P("data")] * 3)


def adamw(mesh):
    """optax: weight decay and clipping by the norm over all parameters, moments sharded like them."""
    rng = RNG(2)
    parameters = {"a": normal(rng, 10, 6), "b": normal(rng, 7), "c": normal(rng, 3, 5, 2)}
    gradient = jax.tree.map(lambda p: normal(rng, *p.shape), parameters)
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(1e-2))
    state = optimizer.init(jax.tree.map(jnp.asarray, parameters))

    def step(parameters, state, gradient):
        update, state = optimizer.update(gradient, state, parameters)
        return optax.apply_updates(parameters, update), state

    specs = {"a": P("data", "model"), "b": P("model"), "c": P(None, ("data", "model"))}
    return step, (parameters, state, gradient), (specs, None, specs), (specs, None)


def bfloat16_layer(mesh):
    """bf16 weights and activations with sums in f32, as mixed precision has them."""
    rng = RNG(3)
    w = jnp.asarray(normal(rng, 32, 48, scale=0.2), jnp.bfloat16)
    x = jnp.asarray(normal(rng, 8, 32), jnp.bfloat16)

    def forward(w, x):
        y = jnp.einsum("bi,ij->bj", x, w, preferred_element_type=jnp.float32)
        return jax.nn.relu(y).astype(x.dtype) * 2, jnp.sum(y, 0)

    return forward, (w, x), (P("model", None), P("data", "model")), (P("data"), None)


MESHES = [{"data": 2, "model": 4}, {"data": 1, "model": 1}, {"data": 3, "model": 2}, {"data": 1, "model": 7}]
CASES = [
    Case("mlp", training_step, MESHES),
    Case("mlp_fully_sharded", fully_sharded, [{"data": 4}, {"data": 8}, {"data": 3}]),
    Case("adamw", adamw, MESHES),
    Case("bfloat16_layer", bfloat16_layer, [{"data": 2, "model": 4}, {"data": 3, "model": 5}], exact=False),
]
