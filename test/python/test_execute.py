"""Programs are compiled, loaded and executed; what comes back is right, and stays on the devices."""

import numpy as np
import pytest
import tessera


def test_a_step(client, layer, rng):
    w, x = rng.normal(size=(16, 12)).astype(np.float32), rng.normal(size=(6, 16)).astype(np.float32)
    (y,) = client.load(layer)(w, x)
    assert isinstance(y, tessera.Array)
    assert (y.shape, y.dtype, y.nbytes) == ((6, 12), np.float32, 6 * 12 * 4)
    np.testing.assert_allclose(np.asarray(y), np.tanh(x @ w), rtol=1e-5, atol=1e-6)


def test_outputs_are_inputs(client, update):
    executable = client.load(update)
    x = np.ones((6, 8), np.float32)
    state, total = executable(np.arange(8, dtype=np.float32), x)
    assert float(total) == 28
    for _ in range(20):
        last = state
        state, total = executable(state, x)
        assert last.is_deleted() and not state.is_deleted()
    np.testing.assert_array_equal(state, np.arange(8) + 126)


def test_an_array_that_was_donated_is_an_error(client, update):
    executable = client.load(update)
    x = np.ones((6, 8), np.float32)
    state, _ = executable(np.zeros(8, np.float32), x)
    executable(state, x)
    with pytest.raises(tessera.FailedPreconditionError, match="input 0 .* was donated"):
        executable(state, x)
    with pytest.raises(tessera.FailedPreconditionError, match="was donated"):
        np.asarray(state)
