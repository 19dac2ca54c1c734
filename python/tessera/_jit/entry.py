"""One kind of arguments of a jitted function, compiled: what a call does from flat arguments to results."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from ..array import Array
from ..client import Executable, device_put
from ..program import Parameter
from .arguments import SIGNATURES, kind, on_host
from .jax_internals import ArrayImpl
from .keys import LazyKeys
from .lowering import Lowering


class Entry:
    def __init__(self, executable: Executable, lowering: Lowering, leaves: Sequence[Any]) -> None:
        self._executable, self._lowering = executable, lowering
        self._signatures = [SIGNATURES[type(leaf)](leaf) for leaf in leaves]
        program, count = executable.program, len(lowering.constants)
        self._inputs = program.inputs[count:]
        self._constants = [device_put(np.asarray(constant), like)
                           for constant, like in zip(lowering.constants, program.inputs)]
        self._kept = lowering.kept
        self._tree = lowering.results_tree
        # The rest are Arrays: leaves of these types are what the entry was looked up by.
        self._hosted = [(number, Hosted(like))
                        for number, (leaf, like) in enumerate(zip(lowering.kept, self._inputs))
                        if not isinstance(leaves[leaf], Array)]
        self._keys = [(number, result.key) for number, result in enumerate(lowering.results) if result.key]
        self._zeros = [(number, np.zeros(output.shape, jax.dtypes.float0))
                       for number, (output, result) in enumerate(zip(program.outputs, lowering.results)) if result.is_float0]
        executable._set_kinds([kind(output.shape, output.dtype, output.sharding, result.weak)
                               for output, result in zip(program.outputs, lowering.results)])

    def for_leaves(self, leaves: Sequence[Any]) -> Entry | None:
        """The same program for other arguments of the same types, where Arrays lie as it wants them: what the first step of
        a loop gave comes back as the second's arguments, and need not be compiled for."""
        wanted = {leaf: like.sharding for leaf, like in zip(self._kept, self._inputs)}
        for number, (leaf, signature) in enumerate(zip(leaves, self._signatures)):
            if isinstance(leaf, Array):
                if number in wanted and leaf.sharding != wanted[number]:
                    return None
            elif SIGNATURES[type(leaf)](leaf) != signature:
                return None
        return Entry(self._executable, self._lowering, leaves)

    def __call__(self, leaves: Sequence[Any]) -> Any:
        inputs = [leaves[leaf] for leaf in self._kept]
        for number, hosted in self._hosted:
            inputs[number] = hosted.given(inputs[number])
        outputs: list[Any] = self._executable.execute(self._constants + inputs if self._constants else inputs)
        for number, implementation in self._keys:
            outputs[number] = LazyKeys(implementation, outputs[number])
        for number, zeros in self._zeros:
            outputs[number] = zeros
        return jax.tree_util.tree_unflatten(self._tree, outputs)


class Hosted:
    """An input that is given by the host. An array of JAX's that comes again, such as weights, stays on the devices: it
    can't change. Arrays of NumPy can, and are copied by each call."""

    def __init__(self, like: Parameter) -> None:
        self._like = like
        # A weak reference to the array of JAX's that came last, and that on the devices, once it has come twice. Replaced as
        # one: other threads call, too.
        self._seen: tuple[Any, Array | None] | None = None

    def given(self, leaf: Any) -> Any:
        """What the executable gets for it."""
        if type(leaf) is not ArrayImpl or self._like.donated or leaf.is_deleted():
            return on_host(leaf, self._like.dtype)
        seen = self._seen
        if seen is None or seen[0]() is not leaf:
            self._seen = weakref.ref(leaf, self._forget), None
            return on_host(leaf, self._like.dtype)
        if seen[1] is not None:
            return seen[1]
        placed = device_put(on_host(leaf, self._like.dtype), self._like)
        self._seen = seen[0], placed
        return placed

    def _forget(self, reference: Any) -> None:
        if self._seen is not None and self._seen[0] is reference:
            self._seen = None
