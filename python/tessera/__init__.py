"""Tessera compiles a model that was written for one device into programs for many, and runs them.

    program = tessera.compile(jax.jit(step, in_shardings=.., out_shardings=..).lower(params, batch))
    executable = tessera.Client().load(program)
    outputs = executable(params, batch)      # arrays that stay on the devices, at once
    loss = float(outputs[0])                 # waits

docs/python.md has the whole of it.
"""

from typing import TYPE_CHECKING, Any

try:
    from . import _native
except ImportError as problem:
    if "protobuf" not in str(problem):
        raise
    raise ImportError(f"{problem}; on Debian: apt-get install libprotobuf-lite32") from problem

from .array import Array, Shard
from .client import Client, Executable, block_until_ready, default_client, device_put
from .compiler import PlanRequest
from .errors import (
    ArgumentTypeError,
    CancelledError,
    Code,
    CompileError,
    DataLossError,
    DeadlineExceededError,
    Error,
    FailedPreconditionError,
    InvalidArgumentError,
    Location,
    NotFoundError,
    OutOfRangeError,
    ResourceExhaustedError,
    UnavailableError,
    UnimplementedError,
)
from .explain import Explanation, explain
from .plan import Alternative, Decision, Plan, plan
from .program import CompileWarning, Parameter, Program, compile
from .report import Collective, Memory, Report
from .sharding import Mesh, Sharding

if TYPE_CHECKING:
    from ._jit.api import JitFunction as JitFunction
    from ._jit.api import jit as jit
    from ._jit.meshes import make_mesh as make_mesh

__version__: str = _native.VERSION

__all__ = [
    "Alternative",
    "ArgumentTypeError",
    "Array",
    "CancelledError",
    "Client",
    "Code",
    "Collective",
    "CompileError",
    "CompileWarning",
    "DataLossError",
    "DeadlineExceededError",
    "Decision",
    "Error",
    "Executable",
    "Explanation",
    "FailedPreconditionError",
    "InvalidArgumentError",
    "Location",
    "Memory",
    "Mesh",
    "NotFoundError",
    "OutOfRangeError",
    "Parameter",
    "Plan",
    "PlanRequest",
    "Program",
    "Report",
    "ResourceExhaustedError",
    "Shard",
    "Sharding",
    "UnavailableError",
    "UnimplementedError",
    "block_until_ready",
    "compile",
    "default_client",
    "device_put",
    "explain",
    "plan",
]


def __getattr__(name: str) -> Any:
    """What needs JAX is imported when it is first asked for."""
    if name in ("JitFunction", "jit"):
        from ._jit import api

        return getattr(api, name)
    if name == "make_mesh":
        from ._jit.meshes import make_mesh

        return make_mesh
    raise AttributeError(f"module 'tessera' has no attribute {name!r}")
