"""Leaves of arguments: what of them decides which program runs, what tracing sees, and what the devices get."""
from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import jax
import numpy as np
from jax.sharding import AbstractMesh, AxisType, NamedSharding, PartitionSpec

from ..array import Array
from ..sharding import Sharding
from .jax_internals import ArrayImpl, PRNGKeyArray
from .keys import LazyKeys


class Kind:
    """What of an Array decides which program runs. There is one for each: they are compared by identity."""

    __slots__ = ("dtype", "shape", "sharding", "weak")

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any], sharding: Sharding, weak: bool) -> None:
        self.shape, self.dtype, self.sharding, self.weak = shape, dtype, sharding, weak


kind = functools.cache(Kind)


def kind_of(array: Array) -> Kind:
    found: Kind | None = array._kind  # what a jitted function gave has its own
    if found is None:
        found = array._kind = kind(array.shape, array.dtype, array.sharding, False)
    return found


def of_jax_array(leaf: Any) -> Any:
    return (leaf.aval, leaf.sharding) if leaf._committed else leaf.aval


class Signatures(dict[type, Callable[[Any], Any]]):
    """By the type of a leaf: what of it decides which program runs, as a value to look it up by."""

    def __missing__(self, leaf: type) -> Callable[[Any], Any]:
        for base in leaf.__mro__[1:]:
            if base in self:
                self[leaf] = self[base]
                return self[base]
        raise TypeError(f"an argument of type {leaf.__name__} is no array and no number: mark it as static "
                        "(static_argnums), or register its type as a pytree")


SIGNATURES = Signatures({
    Array: lambda leaf: leaf._kind or kind_of(leaf),
    ArrayImpl: of_jax_array,
    LazyKeys: lambda leaf: (leaf._impl, kind_of(leaf.data)),
    PRNGKeyArray: lambda leaf: (leaf._impl, of_jax_array(leaf._base_array)),
    np.ndarray: lambda leaf: (leaf.shape, leaf.dtype),
    np.generic: lambda leaf: leaf.dtype,
    bool: type,
    int: type,
    float: type,
    complex: type,
})


@functools.lru_cache(maxsize=4096)
def named_sharding(sharding: Sharding, meshes: tuple[AbstractMesh, ...]) -> NamedSharding | None:
    """JAX's form of it, on the first of the meshes that has its axes; None where JAX has none: one device, parts of axes."""
    axes = sharding.mesh.axes
    if not axes or any(":" in axis for dimension in sharding.spec for axis in dimension):
        return None
    own = AbstractMesh(tuple(axes.values()), tuple(axes), axis_types=(AxisType.Auto,) * len(axes))
    mesh = next((mesh for mesh in meshes if dict(mesh.shape) == axes), own)
    return NamedSharding(mesh, PartitionSpec(*(dimension or None for dimension in sharding.spec)))


def abstract(leaf: Any, meshes: tuple[AbstractMesh, ...] = ()) -> Any:
    """A leaf as tracing takes it: of arrays the type, with the sharding where it is one over a mesh."""
    if isinstance(leaf, Array):
        known = kind_of(leaf)
        return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=named_sharding(known.sharding, meshes),
                                    weak_type=known.weak)
    if isinstance(leaf, LazyKeys):
        return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype)
    if isinstance(leaf, (ArrayImpl, PRNGKeyArray)):
        sharding = leaf.sharding if isinstance(leaf.sharding, NamedSharding) and leaf.committed else None
        return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=sharding, weak_type=bool(leaf.aval.weak_type))
    return leaf


def anew(array: Array) -> jax.ShapeDtypeStruct:
    """As tracing takes an Array whose sharding is to be forgotten."""
    return jax.ShapeDtypeStruct(array.shape, array.dtype, weak_type=kind_of(array).weak)


def type_of(leaf: Any) -> Any:
    """What tracing sees of a leaf besides its sharding."""
    seen = jax.typeof(anew(leaf) if isinstance(leaf, Array) else abstract(leaf) if isinstance(leaf, LazyKeys) else leaf)
    return seen.shape, seen.dtype, seen.weak_type


def meshes_of(leaves: Iterable[Any]) -> tuple[AbstractMesh, ...]:
    """Of shardings and of arrays of JAX's: those that arrays of ours may be described on."""
    found: dict[AbstractMesh, None] = {}
    for leaf in leaves:
        sharding = leaf.sharding if isinstance(leaf, jax.Array) else leaf
        if isinstance(sharding, NamedSharding):
            found[sharding.mesh.abstract_mesh] = None
    return tuple(found)


def on_host(leaf: Any, dtype: np.dtype[Any]) -> Any:
    """What is placed on the devices for a leaf: an array of NumPy, of keys their data; Arrays as they are."""
    if isinstance(leaf, LazyKeys):
        return leaf.data
    if isinstance(leaf, PRNGKeyArray):
        leaf = leaf._base_array
    if isinstance(leaf, ArrayImpl) and leaf.is_deleted():
        raise ValueError("an argument is an array of JAX that was deleted or donated")
    return np.asarray(leaf, dtype)
