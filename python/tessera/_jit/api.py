"""tessera.jit and what it returns."""
from __future__ import annotations

import functools
import threading
import types
import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Generic, ParamSpec, TypeVar, cast, overload

import jax

from ..array import Array
from ..compiler import plan_request, topology_text
from ..plan import Plan
from ..plan import plan as plan_module
from ..program import Program
from . import jax_internals, programs
from .arguments import SIGNATURES, abstract, anew, meshes_of, type_of
from .entry import Entry
from .lowering import Lowering, lower, trace
from .meshes import AnyMesh, as_shardings, mesh_of

P = ParamSpec("P")
R = TypeVar("R")
Numbers = int | Sequence[int] | None
Names = str | Iterable[str] | None


class JitFunction(Generic[P, R]):
    """A function that Tessera compiles for each kind of arguments that it is called with. Made by tessera.jit.

    Called while JAX traces (inside of jax.jit, jax.grad, jax.vmap, another tessera.jit, ..) it is the plain JAX function.
    It may be called from several threads."""

    def __init__(self, jitted: Any, mesh: AnyMesh | None, devices: int | None, options: programs.Options) -> None:
        functools.update_wrapper(self, jitted)
        self.__name__: str = getattr(jitted, "__name__", "a function")
        self._jitted = jitted
        self._mesh = mesh
        self._devices = devices
        self._meshes = jax_internals.meshes_of_shardings(jitted) if mesh is None else (mesh.abstract_mesh,)
        self._options = options
        self._statics = Statics(*jax_internals.static_arguments(jitted))
        self._entries: dict[Any, Entry] = {}
        self._alike: dict[Any, list[Entry]] = {}  # by types alone: those that were compiled
        self._compiling = threading.RLock()

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        if not jax_internals.nobody_traces():
            return cast(R, self._jitted(*args, **kwargs))
        dynamic, static = self._statics.split(args, kwargs) if self._statics else ((args, kwargs), None)
        leaves, tree = jax.tree_util.tree_flatten(dynamic)
        key = (tree, tuple([SIGNATURES[type(leaf)](leaf) for leaf in leaves]), jax_internals.trace_context(), static)
        entry = self._entries.get(key)
        if entry is None:
            entry = self._compile(key, leaves, args, kwargs)
        return cast(R, entry(leaves))

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<tessera.jit of {getattr(self, '__qualname__', self._jitted)}>"

    def trace(self, *args: P.args, **kwargs: P.kwargs) -> jax.stages.Traced:
        """The function traced for these arguments: JAX's object."""
        dynamic, _ = self._statics.split(args, kwargs)
        if self._options.plan:  # how arrays happen to lie is no annotation: the plan says how they are to lie
            return self._trace(args, kwargs, self._forgetting(dynamic))
        context = jax.sharding.get_abstract_mesh()
        meshes = (*self._meshes, *([] if context.empty else [context]), *meshes_of(jax.tree.leaves(dynamic)))
        return self._trace(args, kwargs, jax.tree.map(functools.partial(abstract, meshes=meshes), dynamic))

    def lower(self, *args: P.args, **kwargs: P.kwargs) -> jax.stages.Lowered:
        """The function as StableHLO, for tessera.compile: JAX's object."""
        return self._lower(args, kwargs)[0]

    def eval_shape(self, *args: P.args, **kwargs: P.kwargs) -> Any:
        """The types of its results; nothing is compiled."""
        return self.trace(*args, **kwargs).out_info

    def program(self, *args: P.args, **kwargs: P.kwargs) -> Program:
        """The program that a call with these arguments executes, with its report. They may be
        jax.ShapeDtypeStructs: nothing is executed."""
        return self._program(self._lower(args, kwargs)[1])

    def plan(self, *args: P.args, **kwargs: P.kwargs) -> Plan:
        """How a call with these arguments is best divided among the devices: found anew, whatever `plan` of tessera.jit
        says. They may be jax.ShapeDtypeStructs: nothing is executed."""
        options = self._options
        asked = options.plan or plan_request(self._devices, self._mesh, 3)
        module = self._lower(args, kwargs)[1].module
        return plan_module(module, devices=asked.devices, mesh=asked.mesh, topology=options.topology, memory=options.memory,
                           effort=asked.effort, overlap=options.overlap, name=self.__name__)

    def clear_cache(self) -> None:
        """Forgets what this function was compiled to; the cache on disk stays."""
        with self._compiling:
            self._entries.clear()
            self._alike.clear()

    def _trace(self, args: Any, kwargs: Any, seen: tuple[Any, Any]) -> jax.stages.Traced:
        return trace(self._jitted, *self._statics.join(seen, args, kwargs), self._mesh)

    def _lower(self, args: Any, kwargs: Any) -> tuple[jax.stages.Lowered, Lowering]:
        try:
            return lower(self.trace(*args, **kwargs), self._mesh)
        except ValueError:  # of JAX, where an Array lies on a mesh of other axes than the function's: it is placed anew
            dynamic, _ = self._statics.split(args, kwargs)
            if not any(isinstance(leaf, Array) for leaf in jax.tree.leaves(dynamic)):
                raise
            return lower(self._trace(args, kwargs, self._forgetting(dynamic)), self._mesh)

    @staticmethod
    def _forgetting(dynamic: Any) -> Any:
        """The types of arguments, without the shardings of Arrays."""
        return jax.tree.map(lambda leaf: anew(leaf) if isinstance(leaf, Array) else abstract(leaf), dynamic)

    def _program(self, lowering: Lowering) -> Program:
        program = programs.program_of(lowering.module, self.__name__, self._options)
        if self._devices is not None and program.devices != self._devices:
            if program.devices != 1:
                raise ValueError(f"{self.__name__} is sharded over {program.devices} devices: devices={self._devices}")
            warnings.warn(f"nothing in {self.__name__} is sharded: it runs on one device of {self._devices}",
                          stacklevel=4)
        return program

    def _compile(self, key: Any, leaves: Sequence[Any], args: Any, kwargs: Any) -> Entry:
        with self._compiling:
            if entry := self._entries.get(key):
                return entry  # another thread was faster
            tree, _, context, static = key
            types = (tree, tuple(map(type_of, leaves)), context, static)
            alike = self._alike.setdefault(types, [])
            entry = next(filter(None, (other.for_leaves(leaves) for other in alike)), None)
            if entry is None:
                _, lowering = self._lower(args, kwargs)
                entry = Entry(programs.load(self._program(lowering)), lowering, leaves)
                alike.append(entry)
            self._entries[key] = entry
            return entry


class Statics:
    """Arguments that are part of the program: compared by value, not passed."""

    def __init__(self, positions: tuple[int, ...], names: frozenset[str]) -> None:
        self.positions = positions
        self.names = names

    def __bool__(self) -> bool:
        return bool(self.positions or self.names)

    def split(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, Any], Any]:
        """What is passed, and what is not."""
        static = {number % len(args) for number in self.positions if -len(args) <= number < len(args)}
        dynamic = tuple(arg for number, arg in enumerate(args) if number not in static)
        named = {name: arg for name, arg in kwargs.items() if name not in self.names}
        key = (tuple((number, args[number]) for number in sorted(static)),
               tuple((name, kwargs[name]) for name in sorted(kwargs.keys() & self.names)))
        return (dynamic, named), key

    def join(self, dynamic: tuple[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
        """`args` and `kwargs` with what `split` left of them replaced by `dynamic`."""
        static = {number % len(args) for number in self.positions if -len(args) <= number < len(args)}
        new = iter(dynamic[0])
        return (tuple(arg if number in static else next(new) for number, arg in enumerate(args)),
                {name: dynamic[1].get(name, arg) for name, arg in kwargs.items()})


@overload
def jit(fun: Callable[P, R], *, in_shardings: Any = ..., out_shardings: Any = ..., static_argnums: Numbers = ...,
        static_argnames: Names = ..., donate_argnums: Numbers = ..., donate_argnames: Names = ...,
        devices: int | None = ..., mesh: AnyMesh | None = ..., topology: str | Path | None = ...,
        overlap: str = ..., memory: int | str | None = ..., plan: bool = ...,
        ) -> JitFunction[P, R]: ...
@overload
def jit(*, in_shardings: Any = ..., out_shardings: Any = ..., static_argnums: Numbers = ...,
        static_argnames: Names = ..., donate_argnums: Numbers = ..., donate_argnames: Names = ...,
        devices: int | None = ..., mesh: AnyMesh | None = ..., topology: str | Path | None = ...,
        overlap: str = ..., memory: int | str | None = ..., plan: bool = ...,
        ) -> Callable[[Callable[P, R]], JitFunction[P, R]]: ...
def jit(fun: Any = None, *, devices: int | None = None, mesh: AnyMesh | None = None,
        topology: str | Path | None = None, overlap: str = "auto", memory: int | str | None = None,
        plan: bool = False, **jax_options: Any) -> Any:
    """jax.jit, compiled and executed by Tessera.

    `fun` is a JAX function, or the result of jax.jit, whose options are kept. in_shardings, out_shardings,
    static_argnums, static_argnames, donate_argnums and donate_argnames mean what they mean to jax.jit. Without `fun` the
    result is a decorator.

    `mesh`, a jax.sharding.Mesh or AbstractMesh (tessera.make_mesh), is what PartitionSpecs are about, in shardings here and
    inside of the function; JAX need not have its devices. `devices=8` alone is a mesh of one axis "devices"; with other
    meshes in the function it says how many devices they must have. `topology` is a file that describes the machine
    (docs/topology.md), or the name of one; `overlap` and `memory` are as in tessera.compile.

    With `plan`, shardings are found (docs/plan.md): `devices=8` then is how many devices there are, on the mesh that serves
    best, and `mesh` one to plan for. What is annotated holds.

    Arguments are pytrees of tessera.Arrays, jax.Arrays, NumPy arrays, numbers and PRNG keys. Results are tessera.Arrays, at
    once: they are computed while the caller goes on. See docs/jax.md."""
    if fun is None:
        return functools.partial(jit, devices=devices, mesh=mesh, topology=topology, overlap=overlap, memory=memory,
                                 plan=plan, **jax_options)
    if unknown := jax_options.keys() - JAX_OPTIONS:
        raise TypeError(f"tessera.jit has no option {', '.join(sorted(unknown))}; of jax.jit's it takes {', '.join(JAX_OPTIONS)}")
    given = {name: option for name, option in jax_options.items() if option is not None}
    if hasattr(fun, "jitted_fn"):
        raise TypeError("for a function of nnx.jit use tessera.nnx.jit in its place")
    own_mesh = mesh_of(None if plan else devices, mesh)
    request = plan_request(devices, mesh, 3) if plan else None
    for name in ("in_shardings", "out_shardings"):
        if name in given:
            given[name] = as_shardings(given[name], own_mesh)
    jitted = fun if isinstance(fun, jax.stages.Wrapped) and not given else jax.jit(fun, **given)
    return JitFunction(jitted, mesh, devices, programs.Options(topology_text(topology), overlap, memory, request))


JAX_OPTIONS = ("in_shardings", "out_shardings", "static_argnums", "static_argnames", "donate_argnums", "donate_argnames")
