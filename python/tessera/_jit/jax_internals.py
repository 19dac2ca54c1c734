"""What JAX keeps to itself and tessera.jit needs, in one place: tried with JAX 0.10."""
from __future__ import annotations

import contextlib
import contextvars
import math
import pathlib
from collections.abc import Callable, Iterator
from typing import Any

import jax
from jax._src import config, core, dispatch, dtypes, pjit, source_info_util
from jax._src.array import ArrayImpl as ArrayImpl
from jax._src.interpreters import mlir
from jax._src.random.prng import PRNGKeyArray as PRNGKeyArray
from jax.sharding import AbstractMesh, NamedSharding, PartitionSpec

# Everything besides the arguments that changes what tracing gives: precision, 64 bits, the mesh in context, ..
trace_context: Callable[[], Any] = config.trace_context
# Whether nobody is tracing: not inside of jit, grad, vmap, ..
nobody_traces: Callable[[], bool] = core.trace_state_clean


# The user's frames are those beyond what calls JAX for tessera.jit.
source_info_util.register_exclusion(str(pathlib.Path(__file__).parent.parent))


def source_of(equation: Any) -> str:
    """file:line:column of the user's frame that an equation comes from."""
    frame = source_info_util.user_frame(equation.source_info.traceback)
    return f"{frame.file_name}:{frame.start_line}:{frame.start_column}" if frame else "<unknown>"


def static_arguments(jitted: Any) -> tuple[tuple[int, ...], frozenset[str]]:
    """Positions and names that a jitted function takes as static."""
    info = jitted._jit_info
    return tuple(info.static_argnums), frozenset(info.static_argnames)


def meshes_of_shardings(jitted: Any) -> tuple[AbstractMesh, ...]:
    """Those that its in_shardings and out_shardings are about."""
    info = jitted._jit_info
    shardings = [*info.in_shardings_leaves, *info.out_shardings_leaves]
    return tuple({s.mesh.abstract_mesh: None for s in shardings if isinstance(s, NamedSharding)})


@contextlib.contextmanager
def any_sizes() -> Iterator[None]:
    """Shardings of arguments and results need not divide them: JAX refuses those that don't, as XLA would."""
    token = _any_sizes.set(True)
    try:
        yield
    finally:
        _any_sizes.reset(token)


_any_sizes: contextvars.ContextVar[bool] = contextvars.ContextVar("any_sizes", default=False)
_named: Any = NamedSharding
_shard_shape = _named.shard_shape


def _axes_of(entry: Any) -> tuple[Any, ...]:
    """Of a dimension's entry in a PartitionSpec."""
    return tuple(entry) if isinstance(entry, (tuple, list)) else () if entry in (None, PartitionSpec.UNCONSTRAINED) else (entry,)


def _largest_shard_shape(self: NamedSharding, shape: tuple[int, ...]) -> Any:
    if not _any_sizes.get():
        return _shard_shape(self, shape)
    shards = [math.prod(self.mesh.shape[axis] for axis in _axes_of(entry)) for entry in self.spec]
    return (*(-(-size // count) for size, count in zip(shape, shards)), *shape[len(shards):])


_named.shard_shape = _largest_shard_shape


def lower(traced: jax.stages.Traced, platforms: tuple[str, ...]) -> jax.stages.Lowered:
    """As traced.lower, with what device_put places: for the cpu JAX leaves it out."""
    rule = getattr(dispatch, "_tpu_gpu_device_put_lowering")  # noqa: B009 (it has no type)
    parameters = mlir.LoweringParameters(override_lowering_rules=((dispatch.device_put_p, rule),))
    lowered: jax.stages.Lowered = traced.lower(lowering_platforms=platforms, _private_parameters=parameters)
    return lowered


def inputs_of(lowered: jax.stages.Lowered) -> tuple[list[Any], list[int]]:
    """What the module's parameters are: constants that come first, then the leaves of these numbers."""
    lowering = lowered._lowering
    constants = list(lowering.const_args)
    kept = sorted(index - len(constants) for index in lowering.compile_args["kept_var_idx"])
    return constants, [index for index in kept if index >= 0]


def closes_over_references(lowered: jax.stages.Lowered) -> bool:
    """Whether it reads or writes jax.Refs."""
    mutated = lowered._lowering.compile_args["mut"]
    return mutated is not None and bool(mutated.in_mut or mutated.out_mut)


def module_bytes(lowered: jax.stages.Lowered) -> bytes:
    """The StableHLO module as MLIR bytecode, with the user's source lines."""
    import io

    buffer = io.BytesIO()
    module: Any = lowered.compiler_ir("stablehlo")
    module.operation.write_bytecode(buffer)
    return buffer.getvalue()


def register_array(kind: type, convert: Callable[[Any], jax.Array], abstract: Callable[[Any], Any] | None = None) -> None:
    """Lets JAX's own functions take a `kind`: `convert` gives a jax.Array, `abstract` what jax.ShapeDtypeStruct does."""
    register: Any = dtypes.register_canonicalize_value_handler
    register(kind, convert)
    if abstract is not None:
        _described[kind] = abstract
        typeof: Any = core.typeof
        core.pytype_aval_mappings[kind] = lambda value: typeof(abstract(value))


_described: dict[type, Callable[[Any], Any]] = {}
_describe: Any = pjit.convert_to_metaty


def _describe_with_ours(value: Any) -> Any:
    """What jax.jit wants to know of an argument. Of ours it would take `sharding` for one of its own."""
    abstract = _described.get(type(value))
    return _describe(abstract(value) if abstract else value)


pjit.convert_to_metaty = _describe_with_ours
