"""Flax NNX: a character-level transformer, its batch over two devices and its layers over four."""
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx
from flax.nnx import jit
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

VOCABULARY, WIDTH, HEADS, LAYERS, LENGTH, BATCH = 64, 128, 4, 3, 64, 8
mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)


def linear(inputs, outputs, spec, rngs):
    init = nnx.with_partitioning(nnx.initializers.lecun_normal(), spec)
    return nnx.Linear(inputs, outputs, use_bias=False, kernel_init=init, rngs=rngs)


class Block(nnx.Module):
    def __init__(self, rngs):
        self.norm1, self.norm2 = nnx.RMSNorm(WIDTH, rngs=rngs), nnx.RMSNorm(WIDTH, rngs=rngs)
        self.qkv = linear(WIDTH, 3 * WIDTH, (None, "model"), rngs)
        self.out = linear(WIDTH, WIDTH, ("model", None), rngs)
        self.up = linear(WIDTH, 4 * WIDTH, (None, "model"), rngs)
        self.down = linear(4 * WIDTH, WIDTH, ("model", None), rngs)

    def __call__(self, x):
        q, k, v = jnp.moveaxis(self.qkv(self.norm1(x)).reshape(*x.shape[:2], HEADS, 3, -1), 3, 0)
        mixed = jax.nn.dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.reshape(x.shape))
        return x + self.down(nnx.gelu(self.up(self.norm2(x))))


class Transformer(nnx.Module):
    def __init__(self, rngs):
        self.embed = nnx.Embed(VOCABULARY, WIDTH, rngs=rngs)
        self.position = nnx.Param(0.1 * jax.random.normal(rngs.params(), (LENGTH, WIDTH)))
        self.blocks = nnx.List([Block(rngs) for _ in range(LAYERS)])
        self.norm = nnx.RMSNorm(WIDTH, rngs=rngs)
        self.head = linear(WIDTH, VOCABULARY, (None, "model"), rngs)

    def __call__(self, tokens):
        x = self.embed(tokens) + self.position[...]
        for block in self.blocks:
            x = jax.lax.with_sharding_constraint(block(x), NamedSharding(mesh, P("data")))
        return self.head(self.norm(x))


@jit
def train_step(model, optimizer, tokens):
    def loss_of(model):
        logits = model(tokens[:, :-1])
        return optax.softmax_cross_entropy_with_integer_labels(logits, tokens[:, 1:]).mean()

    loss, gradient = nnx.value_and_grad(loss_of)(model)
    optimizer.update(model, gradient)
    return loss


def steps():
    with jax.set_mesh(mesh):
        model = Transformer(nnx.Rngs(0))
        optimizer = nnx.Optimizer(model, optax.adamw(3e-3), wrt=nnx.Param)
    random = np.random.default_rng(0)
    while True:
        first = random.integers(VOCABULARY, size=(BATCH, 1))
        tokens = (first + np.arange(LENGTH + 1) * random.integers(1, 5, size=(BATCH, 1))) % VOCABULARY
        yield train_step(model, optimizer, jax.device_put(tokens.astype(np.int32), NamedSharding(mesh, P("data"))))


if __name__ == "__main__":
    for step, loss in zip(range(100), steps()):
        print(f"step {step}  loss {loss:.4f}")
