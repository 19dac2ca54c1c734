"""Trains a model of PyTorch on eight devices of this process with Tessera, and beside it with PyTorch on one."""
import functools
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np
import optax
import tessera
import torch
from exported import Parameters, export, layout_of
from jax.sharding import PartitionSpec as P
from model import LAYOUT, Loss, Transformer, batches

mesh = tessera.make_mesh((2, 4), ("data", "model"))
STEP_SIZE = 1e-3


def train(module: torch.nn.Module) -> Iterator[float]:
    """Losses, with Tessera."""
    loss_of, parameters = export(module, next(batches()))
    adam = optax.adam(STEP_SIZE)
    state = adam.init(parameters)

    @functools.partial(
        tessera.jit, mesh=mesh, in_shardings=(layout_of(parameters, LAYOUT), None, P("data")), donate_argnums=(0, 1)
    )
    def step(parameters: Parameters, state: Any, tokens: jax.Array) -> tuple[Parameters, Any, jax.Array]:
        loss, gradient = jax.value_and_grad(loss_of)(parameters, tokens)
        updates, state = adam.update(gradient, state)
        return optax.apply_updates(parameters, updates), state, loss

    for tokens in batches():
        parameters, state, loss = step(parameters, state, tokens.numpy())
        yield float(loss)


def logits(model: torch.nn.Module, tokens: torch.Tensor) -> np.ndarray[Any, Any]:
    """What the model gives, with Tessera."""
    function, parameters = export(model, tokens)
    forward = tessera.jit(function, mesh=mesh, in_shardings=(layout_of(parameters, LAYOUT), P("data")))
    return np.asarray(forward(parameters, tokens.numpy()))


def train_with_torch(module: torch.nn.Module) -> Iterator[float]:
    adam = torch.optim.Adam(module.parameters(), STEP_SIZE)
    for tokens in batches():
        loss = module(tokens)
        adam.zero_grad()
        loss.backward()
        adam.step()
        yield loss.item()


if __name__ == "__main__":
    torch.manual_seed(0)
    module = Loss(Transformer())
    for number, ours, theirs in zip(range(100), train(module), train_with_torch(module)):
        print(f"step {number:3}  loss {ours:.4f}  PyTorch's {theirs:.4f}")
