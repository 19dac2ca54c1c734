"""Programs that the tests share. Eight devices are asked of JAX before it is imported."""

import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["TESSERA_CACHE_DIR"] = ""  # none but where a test is about it

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import tessera


def sharded(*axes):
    """Along axes of the mesh data=2, model=4."""
    mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    return jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*axes))


@pytest.fixture(scope="session")
def client():
    return tessera.Client(device=os.environ.get("TESSERA_TEST_DEVICE", "cpu"))


@pytest.fixture(scope="session")
def layer():
    """tanh(x @ w), on eight devices."""
    w, x = np.zeros((16, 12), np.float32), np.zeros((6, 16), np.float32)
    function = jax.jit(lambda w, x: jnp.tanh(x @ w), in_shardings=(sharded(None, "model"), sharded("data")))
    return tessera.compile(function.lower(w, x))


@pytest.fixture(scope="session")
def update():
    """A step that takes its state over: (state + x.sum(0), sum of state)."""
    function = jax.jit(
        lambda state, x: (state + x.sum(0), state.sum()), in_shardings=(sharded("model"), sharded("data")), donate_argnums=0
    )
    return tessera.compile(function.lower(np.zeros(8, np.float32), np.zeros((6, 8), np.float32)))


def repeated(trips, donate):
    """x + trips, one by one; a step of about `trips` microseconds."""
    function = jax.jit(
        lambda x: jax.lax.fori_loop(0, trips, lambda i, x: jax.lax.optimization_barrier(x + 1), x),
        in_shardings=sharded("data"),
        out_shardings=sharded("data"),
        donate_argnums=0 if donate else (),
    )
    return tessera.compile(function.lower(np.zeros(64, np.float32)))


@pytest.fixture
def rng():
    return np.random.default_rng(1)
