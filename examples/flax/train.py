"""Trains a transformer on eight devices of this process, with Tessera and with JAX side by side."""
from collections.abc import Callable, Iterator

import jax
import optax
import tessera.nnx
from flax import nnx
from model import Transformer, batches

jax.config.update("jax_num_cpu_devices", 8)
jax.set_mesh(jax.make_mesh((2, 4), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2))


def train_step(model: Transformer, optimizer: nnx.Optimizer[Transformer], tokens: jax.Array) -> jax.Array:
    loss: jax.Array
    loss, gradient = nnx.value_and_grad(Transformer.loss)(model, tokens)
    optimizer.update(model, gradient)
    return loss


def train(step: Callable[..., jax.Array]) -> Iterator[float]:
    model = Transformer(nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adam(3e-3), wrt=nnx.Param)
    for tokens in batches():
        yield float(step(model, optimizer, jax.device_put(tokens, jax.P("data"))))


for number, ours, theirs in zip(range(100), train(tessera.nnx.jit(train_step)), train(nnx.jit(train_step))):
    print(f"step {number:3}  loss {ours:.4f}  JAX's {theirs:.4f}")
