"""What the compiler is given, and its library, which is opened when something is first compiled."""

from __future__ import annotations

import dataclasses
import operator
import os
import pathlib
from collections.abc import Mapping
from typing import Any, Protocol, TypeAlias

from . import _native
from .errors import ArgumentTypeError, InvalidArgumentError


class Lowered(Protocol):
    """What `jax.jit(f).lower(..)` gives."""

    def as_text(self, dialect: str | None = None, *, debug_info: bool = False) -> str: ...


class Exported(Protocol):
    """A `jax.export.Exported`."""

    @property
    def mlir_module_serialized(self) -> bytes: ...


Module: TypeAlias = "str | bytes | os.PathLike[str] | Lowered | Exported"


def _is_path(text: str) -> bool:
    """Whether that is no module: one of a single line has braces, and is no file."""
    return bool(text) and "\n" not in text and not ("{" in text and not os.path.exists(text))


def read_module(module: Any, name: str | None) -> tuple[bytes, str]:
    """(the module's text or bytecode, the name that messages use)."""
    if isinstance(module, (bytes, bytearray, memoryview)):
        return bytes(module), name or "<module>"
    if isinstance(module, os.PathLike) or (isinstance(module, str) and _is_path(module)):
        path = pathlib.Path(module)
        return path.read_bytes(), name or str(path)
    if isinstance(module, str):
        return module.encode(), name or "<module>"
    if hasattr(module, "mlir_module_serialized"):
        return bytes(module.mlir_module_serialized), name or str(getattr(module, "fun_name", "<exported>"))
    if hasattr(module, "as_text"):
        return str(module.as_text(debug_info=True)).encode(), name or "<lowered>"
    if callable(module):
        raise ArgumentTypeError("a function is compiled by tessera.jit; tessera.compile takes what jax.jit(f).lower(..) gives")
    raise ArgumentTypeError(f"no module: {type(module).__name__}; give text, bytes, a path, or what jax.jit(f).lower(..) gives")


DEBIAN_PACKAGES = "libllvm22"


def open_compiler() -> None:
    """Opens the compiler's library, with LLVM. ImportError says which of Debian's packages are missing."""
    # Beside the extension: the folder of a build has links to these sources.
    problem = _native.open_compiler(str(pathlib.Path(_native.__file__).parent / _native.COMPILER_LIBRARY))
    if problem:
        raise ImportError(f"the compiler cannot be loaded: {problem}; on Debian: apt-get install {DEBIAN_PACKAGES}")


@dataclasses.dataclass(frozen=True)
class PlanRequest:
    """Shardings are to be found: for which devices, and how long to search."""

    devices: int | None = None  # as the mesh says, where there is one
    mesh: str | None = None  # "data=2,model=4"; the best one of so many devices, where there is none
    effort: int = 3


def check_devices(devices: int | None) -> None:
    """Raises ValueError where that is none, TypeError where it is no number."""
    if devices is not None and operator.index(devices) < 1:
        raise ValueError(f"devices={devices}: one at least")


def plan_request(devices: int | None, mesh: Any, effort: int) -> PlanRequest:
    """`mesh`: {"data": 2, "model": 4}, text, or a mesh of Tessera's or JAX's, whose axes are such a mapping."""
    check_devices(devices)
    if not 1 <= effort <= 5:
        raise ValueError(f"effort={effort}: must be 1 to 5")
    if mesh is None or isinstance(mesh, str):
        return PlanRequest(devices, mesh, effort)
    axes = mesh if isinstance(mesh, Mapping) else mesh.axes if hasattr(mesh, "axes") else mesh.shape
    return PlanRequest(devices, ",".join(f"{name}={size}" for name, size in axes.items()), effort)


def compile_options(
    name: str,
    entry: str,
    target: str,
    target_cpu: str,
    topology: str | os.PathLike[str] | None,
    input_shapes: str | None,
    overlap: str = "auto",
    memory: int | str | None = None,
    plan: PlanRequest | None = None,
) -> Any:
    """The extension's form of them."""
    size = None if memory is None else str(memory)
    asked = plan or PlanRequest()
    text = topology_text(topology)
    file = text.file if text else None
    return _native.CompileOptions(name, entry, target, target_cpu, text, file, input_shapes, overlap, size,
                                  plan is not None, asked.devices or 0, asked.mesh, asked.effort)


class TopologyText(str):
    """A machine's name, or the contents of a topology file, and which file that was."""

    file: str | None = None


def topology_text(topology: str | os.PathLike[str] | None) -> TopologyText | None:
    """What the compiler takes; contents of a file may be given themselves."""
    if topology is None or isinstance(topology, TopologyText):
        return topology
    if topology == "":
        raise InvalidArgumentError("topology='': a file, its contents, or the name of a machine")
    # Names of machines have neither dots nor slashes.
    if isinstance(topology, str) and ("{" in topology or not set(topology) & set("./")):
        return TopologyText(topology)
    # What is empty would be the default.
    text = TopologyText(pathlib.Path(topology).read_text(errors="replace") or " ")
    text.file = str(topology)
    return text
