"""Arrays of PRNG keys among results: JAX's own kind of array, over data that stays on the devices until JAX wants it."""
from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..array import Array
from .jax_internals import PRNGKeyArray, register_array


class LazyKeys(PRNGKeyArray):
    """What jax.random takes as keys. As an argument of a tessera.jit function it costs no copy."""

    def __init__(self, implementation: Any, data: Array) -> None:
        self._impl = implementation
        self._consumed = False
        self.data = data
        self._converted: jax.Array | None = None

    @property
    def _base_array(self) -> jax.Array:  # type: ignore[override]
        if self._converted is None:
            self._converted = to_jax(self.data)
        return self._converted

    @property
    def shape(self) -> tuple[int, ...]:
        whole = self.data.shape
        return tuple(whole[: len(whole) - len(self._impl.key_shape)])

    def block_until_ready(self) -> LazyKeys:
        self.data.block_until_ready()
        return self


def to_jax(array: Array) -> jax.Array:
    """A copy in JAX's memory."""
    return jnp.asarray(np.asarray(array))


register_array(Array, to_jax, lambda array: jax.ShapeDtypeStruct(array.shape, array.dtype))
register_array(LazyKeys, lambda keys: jax.random.wrap_key_data(keys._base_array, impl=keys._impl.name))
