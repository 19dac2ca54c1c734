"""From a JAX function and its arguments to a StableHLO module, and what its parameters and results are."""
from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

from ..errors import CompileError
from . import effects, jax_internals
from .meshes import AnyMesh, inside

LOWERED_FOR = ("cpu",)  # for which of its platforms JAX writes the module; XLA never sees it


@dataclasses.dataclass(frozen=True)
class Result:
    """A leaf of the function's results."""

    weak: bool  # promotes as a Python scalar does
    key: Any = None  # the implementation of PRNG keys, where it is an array of them
    is_float0: bool = False  # the gradient of integers, which the module gives as i1


@dataclasses.dataclass(frozen=True)
class Lowering:
    module: bytes
    constants: Sequence[Any]  # what the module takes before its parameters
    kept: Sequence[int]  # its parameters: leaves of the flattened arguments
    results: Sequence[Result]
    results_tree: Any


def is_key(dtype: Any) -> bool:
    return bool(jnp.issubdtype(dtype, jax.dtypes.prng_key))


def trace(jitted: Any, args: Any, kwargs: Any, mesh: AnyMesh | None) -> jax.stages.Traced:
    """As jitted.trace. Fails where the function does what no compiled program can."""
    with inside(mesh), jax_internals.any_sizes():
        traced: jax.stages.Traced = jitted.trace(*args, **kwargs)
    if refused := effects.refusal(traced.jaxpr.jaxpr):
        raise CompileError(f"error: {refused}")
    return traced


def lower(traced: jax.stages.Traced, mesh: AnyMesh | None) -> tuple[jax.stages.Lowered, Lowering]:
    with inside(mesh), jax_internals.any_sizes():
        lowered = jax_internals.lower(traced, LOWERED_FOR)
    if jax_internals.closes_over_references(lowered):
        raise CompileError(f"error: {traced.fun_name}: jax.Ref is not supported: pass the array, and return the new one")
    constants, kept = jax_internals.inputs_of(lowered)
    results = [Result(aval.weak_type, getattr(aval.dtype, "_impl", None) if is_key(aval.dtype) else None,
                      aval.dtype == jax.dtypes.float0)
               for aval in traced.jaxpr.out_avals]
    return lowered, Lowering(jax_internals.module_bytes(lowered), constants, kept, results, lowered.out_tree)
