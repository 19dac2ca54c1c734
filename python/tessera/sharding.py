"""Meshes of devices, and how arrays are cut into parts along their axes."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
import operator
import re
from collections.abc import Mapping, Sequence
from typing import Any

from . import _native
from .errors import InvalidArgumentError


def check_axes(axes: Mapping[str, int]) -> None:
    """Raises where a name is none, or a size is none."""
    for name, size in axes.items():
        if not isinstance(name, str) or operator.index(size) < 1:
            raise InvalidArgumentError(f"a mesh axis has a name and a size from 1 on, not {name!r}: {size!r}")


class Mesh:
    """Devices along named axes: `Mesh({"data": 2, "model": 4})`.

    `devices` numbers them in row-major order of the axes; without it, from 0 on. Equal meshes are equal.
    """

    __slots__ = ("axes", "devices")

    axes: dict[str, int]
    devices: tuple[int, ...]

    def __init__(self, axes: Mapping[str, int], devices: Sequence[int] | None = None) -> None:
        self.axes = dict(axes)
        check_axes(self.axes)
        if self.size > _native.MAX_DEVICES:
            raise InvalidArgumentError(f"a mesh of {self.size} devices: at most {_native.MAX_DEVICES}")
        self.devices = tuple(range(self.size)) if devices is None else tuple(devices)
        if len(self.devices) != self.size:
            raise InvalidArgumentError(f"a mesh of {self.size} devices with {len(self.devices)} numbers")

    @property
    def size(self) -> int:
        """The number of devices."""
        return math.prod(self.axes.values())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mesh) and list(self.axes.items()) == list(other.axes.items()) and self.devices == other.devices

    def __hash__(self) -> int:
        return hash((tuple(self.axes.items()), self.devices))

    def __repr__(self) -> str:
        plain = self.devices == tuple(range(self.size))
        return f"Mesh({self.axes!r}{'' if plain else f', devices={self.devices!r}'})"


Spec = Sequence[str | Sequence[str] | None]


@dataclasses.dataclass(frozen=True)
class Sharding:
    """How an array lies on a mesh: for each dimension the axes that it is cut along, major to minor.

    `Sharding(mesh, ["data", None])` cuts the first dimension along axis "data"; dimensions that are left out are
    whole. "x:(2)4" is a part of an axis: of size 4, with 2 more major.
    """

    mesh: Mesh
    spec: tuple[tuple[str, ...], ...]

    def __init__(self, mesh: Mesh, spec: Spec = ()) -> None:
        object.__setattr__(self, "mesh", mesh)
        axes = tuple((a,) if isinstance(a, str) else tuple(a or ()) for a in spec)
        object.__setattr__(self, "spec", axes)
        used = [axis for dimension in axes for axis in dimension]
        for axis in used:
            self._part(axis)
            if used.count(axis) > 1:
                raise InvalidArgumentError(f"axis {axis!r} is used twice in {list(spec)!r}")

    def _part(self, axis: str) -> tuple[str, int, int]:
        """(axis, size of what is more major, size) of an axis or a part of one."""
        name, _, part = axis.partition(":")
        if name not in self.mesh.axes:
            raise InvalidArgumentError(f"there is no mesh axis {name!r}; axes are {', '.join(self.mesh.axes) or 'none'}")
        if not part:
            return name, 1, self.mesh.axes[name]
        found = re.fullmatch(r"\((\d+)\)(\d+)", part)
        if not found or self.mesh.axes[name] % (int(found[1]) * int(found[2])):
            raise InvalidArgumentError(f"{axis!r} is no part of axis {name!r}, whose size is {self.mesh.axes[name]}")
        return name, int(found[1]), int(found[2])

    def dimensions(self, rank: int) -> tuple[tuple[str, ...], ...]:
        """The axes of each of `rank` dimensions."""
        if len(self.spec) > rank:
            raise InvalidArgumentError(f"a sharding of {len(self.spec)} dimensions for an array of {rank}")
        return self.spec + ((),) * (rank - len(self.spec))

    def tile(self, shape: Sequence[int]) -> tuple[int, ...]:
        """The shape of what a device holds: sizes that the mesh does not divide are rounded up."""
        sizes = [math.prod(self._part(axis)[2] for axis in axes) for axes in self.dimensions(len(shape))]
        return tuple(-(-size // parts) for size, parts in zip(shape, sizes))

    def parts(self, shape: Sequence[int]) -> list[tuple[list[int], list[int]]]:
        """For each device in the order of the mesh: where its part begins, and how many elements it has."""
        tile = self.tile(shape)
        parts = []
        for place in itertools.product(*(range(size) for size in self.mesh.axes.values())):
            at = dict(zip(self.mesh.axes, place))
            start, extent = [], []
            for size, step, axes in zip(shape, tile, self.dimensions(len(shape))):
                index = 0
                for axis in axes:
                    name, major, count = self._part(axis)
                    minor = self.mesh.axes[name] // (major * count)
                    index = index * count + at[name] // minor % count
                start.append(min(size, index * step))
                extent.append(min(step, size - start[-1]))
            parts.append((start, extent))
        return parts

    @property
    def is_fully_replicated(self) -> bool:
        """Whether every device holds the whole array."""
        return all(self._part(axis)[2] == 1 for axes in self.spec for axis in axes)

    def __repr__(self) -> str:
        shown = [None if not axes else axes[0] if len(axes) == 1 else axes for axes in self.spec]
        return f"Sharding({self.mesh!r}, {shown!r})"


@functools.lru_cache(maxsize=4096)
def placement(sharding: Sharding, element_type: str, shape: tuple[int, ...], device: int | None = None) -> Any:
    """What the extension knows of a sharding, for arrays of a type and shape; of one device, where the others are
    processes of their own."""
    tile, parts, first = list(sharding.tile(shape)), sharding.parts(shape), min(sharding.mesh.devices)
    if device is not None:
        if device not in sharding.mesh.devices:
            raise InvalidArgumentError(f"{sharding.mesh!r} has no device {device}, which this process is")
        parts, first = [parts[sharding.mesh.devices.index(device)]], 0
    return _native.placement(element_type, list(shape), tile, parts, first)
