"""Flax NNX: jit for functions that take, change and return modules, as flax.nnx.jit."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, overload

from flax import nnx

from ._jit.api import JAX_OPTIONS
from ._jit.api import jit as jit_arrays

P = ParamSpec("P")
R = TypeVar("R")


@overload
def jit(fun: Callable[P, R], **options: Any) -> Callable[P, R]: ...
@overload
def jit(**options: Any) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def jit(fun: Any = None, **options: Any) -> Any:
    """flax.nnx.jit, compiled and executed by Tessera: what the function changes in modules and optimizers is changed
    afterwards. Takes the options of tessera.jit; shardings may be nnx.StateShardings. Without `fun` a decorator."""
    if fun is None:
        return functools.partial(jit, **options)
    of_jax = {name: options.pop(name) for name in JAX_OPTIONS if name in options}
    wrapped: Any = nnx.jit(fun, **of_jax)
    wrapped.jitted_fn = jit_arrays(wrapped.jitted_fn, **options)
    return wrapped
