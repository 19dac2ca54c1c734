"""tessera.nnx.jit, where Flax is installed (benchmarks/scripts/requirements.txt)."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import tessera

nnx = pytest.importorskip("flax.nnx")


class Model(nnx.Module):
    def __init__(self, rngs):
        self.first, self.second = nnx.Linear(8, 16, rngs=rngs), nnx.Linear(16, 1, rngs=rngs)
        self.dropout, self.norm = nnx.Dropout(0.5, rngs=rngs), nnx.BatchNorm(16, rngs=rngs)
        self.calls = nnx.Variable(jnp.int32(0))

    def __call__(self, x):
        self.calls[...] += 1
        return self.second(self.dropout(self.norm(nnx.relu(self.first(x)))))


def train(jit):
    """Losses, and the model afterwards."""
    import optax
    import tessera.nnx

    @{"tessera": tessera.nnx.jit, "jax": nnx.jit}[jit]
    def step(model, optimizer, x, y):
        loss, gradient = nnx.value_and_grad(lambda model: jnp.mean((model(x) - y) ** 2))(model)
        optimizer.update(model, gradient)
        return loss

    model = Model(nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adam(1e-2), wrt=nnx.Param)
    random = np.random.default_rng(0)
    losses = []
    for _ in range(4):
        x = random.normal(size=(32, 8)).astype(np.float32)
        losses.append(float(step(model, optimizer, x, x.sum(1, keepdims=True))))
    return losses, model


def test_modules_are_changed_as_nnx_changes_them():
    ours, ours_model = train("tessera")
    theirs, model = train("jax")
    np.testing.assert_allclose(ours, theirs, 1e-4)
    assert int(ours_model.calls[...]) == 4
    for found, wanted in zip(jax.tree.leaves(nnx.state(ours_model)), jax.tree.leaves(nnx.state(model))):
        if not jax.dtypes.issubdtype(wanted.dtype, jax.dtypes.prng_key):
            np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), 1e-3, 1e-4)


def test_a_function_that_nnx_has_jitted_is_refused_with_the_way_out():
    with pytest.raises(TypeError, match=r"tessera\.nnx\.jit"):
        tessera.jit(nnx.jit(lambda x: x))
