"""Meshes and shardings as the user gives them, as JAX's tracing takes them."""
from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Sequence
from typing import Any

import jax
from jax.sharding import AbstractMesh, AxisType, Mesh, NamedSharding, PartitionSpec

from ..compiler import check_devices
from ..sharding import check_axes

AnyMesh = Mesh | AbstractMesh


def make_mesh(shape: Sequence[int], names: Sequence[str], axis_types: Sequence[AxisType] | None = None) -> AbstractMesh:
    """A mesh of any size, as jax.make_mesh, but of no devices of JAX: it serves in NamedSharding, shard_map and
    with_sharding_constraint inside of functions for tessera.jit, and needs no XLA_FLAGS. Axes are Auto by default."""
    if len(shape) != len(names):
        raise ValueError(f"a mesh of {len(shape)} sizes has {len(names)} names: {tuple(shape)}, {tuple(names)}")
    axes = dict(zip(names, shape))
    check_axes(axes)  # AbstractMesh takes any
    if len(axes) != len(names):
        raise ValueError(f"a mesh axis is there twice: {tuple(names)}")
    return AbstractMesh(tuple(shape), tuple(names), axis_types=tuple(axis_types or (AxisType.Auto,) * len(names)))


def mesh_of(devices: int | None, mesh: AnyMesh | None) -> AnyMesh | None:
    """The mesh that PartitionSpecs are about: `mesh`, or one axis "devices"."""
    check_devices(devices)
    if mesh is not None:
        if not isinstance(mesh, AnyMesh):
            raise TypeError(f"mesh={mesh!r}: must be a mesh of JAX's, such as tessera.make_mesh((2, 4), (\"data\", \"model\"))")
        size = math.prod(mesh.shape.values())
        if devices is not None and devices != size:
            raise ValueError(f"devices={devices}, but the mesh has {size}: give one of both")
        return mesh
    return None if devices is None else make_mesh((devices,), ("devices",))


def as_shardings(tree: Any, mesh: AnyMesh | None) -> Any:
    """in_shardings or out_shardings with NamedShardings for PartitionSpecs, where there is a mesh that they can mean."""
    if mesh is None:
        return tree
    return jax.tree.map(lambda leaf: NamedSharding(mesh, leaf) if isinstance(leaf, PartitionSpec) else leaf,
                        tree, is_leaf=lambda leaf: leaf is None or isinstance(leaf, PartitionSpec))


@contextlib.contextmanager
def inside(mesh: AnyMesh | None) -> Iterator[None]:
    """Tracing with `mesh` in context, as jax.set_mesh puts it there."""
    if mesh is None:
        yield
    elif isinstance(mesh, Mesh):
        with jax.set_mesh(mesh):
            yield
    else:
        with jax.sharding.use_abstract_mesh(mesh):
            yield
