"""A character-level transformer in Flax NNX: the batch over the axis "data" of the mesh, each layer over "model"."""
import pathlib
from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx
from jax.sharding import PartitionSpec as P

VOCABULARY, WIDTH, HEADS, LAYERS, LENGTH, BATCH = 64, 128, 4, 5, 64, 8
TEXT = pathlib.Path(__file__).parent.parent / "char_transformer" / "genesis.txt"


def linear(inputs: int, outputs: int, spec: tuple[str | None, ...], rngs: nnx.Rngs) -> nnx.Linear:
    init = nnx.with_partitioning(nnx.initializers.lecun_normal(), spec)
    return nnx.Linear(inputs, outputs, use_bias=False, kernel_init=init, rngs=rngs)


class Block(nnx.Module):
    """Causal attention, then an MLP, each on the residual stream. A device of "model" holds a head (Megatron-LM,
    Shoeybi et al., 2019)."""

    def __init__(self, rngs: nnx.Rngs) -> None:
        self.norm1, self.norm2 = nnx.RMSNorm(WIDTH, rngs=rngs), nnx.RMSNorm(WIDTH, rngs=rngs)
        self.query, self.key, self.value = (linear(WIDTH, WIDTH, (None, "model"), rngs) for _ in range(3))
        self.project = linear(WIDTH, WIDTH, ("model", None), rngs)
        self.up = linear(WIDTH, 4 * WIDTH, (None, "model"), rngs)
        self.down = linear(4 * WIDTH, WIDTH, ("model", None), rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        h = self.norm1(x)
        q, k, v = (make(h).reshape(*x.shape[:2], HEADS, -1) for make in (self.query, self.key, self.value))
        x = x + self.project(jax.nn.dot_product_attention(q, k, v, is_causal=True).reshape(x.shape))
        x = x + self.down(nnx.gelu(self.up(self.norm2(x))))
        placed: jax.Array = jax.lax.with_sharding_constraint(x, P("data"))
        return placed


class Transformer(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.embed = nnx.Embed(VOCABULARY, WIDTH, rngs=rngs)
        self.position = nnx.Param(0.1 * jax.random.normal(rngs.params(), (LENGTH, WIDTH)))
        self.blocks = nnx.List([Block(rngs) for _ in range(LAYERS)])
        self.norm = nnx.RMSNorm(WIDTH, rngs=rngs)
        self.head = linear(WIDTH, VOCABULARY, (None, "model"), rngs)

    def __call__(self, tokens: jax.Array) -> jax.Array:
        x: jax.Array = self.embed(tokens) + self.position[...]
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))

    def loss(self, tokens: jax.Array) -> jax.Array:
        losses = optax.softmax_cross_entropy_with_integer_labels(self(tokens[:, :-1]), tokens[:, 1:])
        return jnp.mean(losses)


def batches() -> Iterator[np.ndarray]:
    """Rows of the text from random places, as numbers of its characters."""
    text = TEXT.read_bytes()
    alphabet = np.array(sorted(set(text)))
    numbers = np.searchsorted(alphabet, np.frombuffer(text, np.uint8)).astype(np.int32)
    random = np.random.default_rng(0)
    while True:
        starts = random.integers(len(numbers) - LENGTH - 1, size=BATCH)
        yield np.stack([numbers[start : start + LENGTH + 1] for start in starts])
