"""One kind of arguments of a jitted function, compiled: what a call does from flat arguments to results."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from ..array import Array
from ..client import Executable
from .arguments import SIGNATURES, kind, on_host
from .keys import LazyKeys
from .lowering import Lowering


class Entry:
    def __init__(self, executable: Executable, lowering: Lowering, leaves: Sequence[Any]) -> None:
        self._execute = executable.execute
        self._constants = [np.asarray(constant) for constant in lowering.constants]
        self._kept = [parameter.leaf for parameter in lowering.parameters]
        self._tree = lowering.results_tree
        # The rest are Arrays: leaves of these types are what the entry was looked up by.
        self._hosted = [(number, parameter.dtype) for number, parameter in enumerate(lowering.parameters)
                        if not isinstance(leaves[parameter.leaf], Array)]
        self._keys = [(number, result.key) for number, result in enumerate(lowering.results) if result.key]
        executable._set_kinds([kind(output.shape, output.dtype, output.sharding, result.weak)
                               for output, result in zip(executable.program.outputs, lowering.results)])

        self._executable, self._lowering, self._leaves = executable, lowering, [SIGNATURES[type(x)](x) for x in leaves]

    def for_leaves(self, leaves: Sequence[Any]) -> Entry | None:
        """The same program for other arguments of the same types, where Arrays lie as it wants them: what the first step of
        a loop gave comes back as the second's arguments, and need not be compiled for."""
        offset = len(self._constants)
        inputs = self._executable.program.inputs
        wanted = {parameter.leaf: inputs[offset + number].sharding for number, parameter in enumerate(self._lowering.parameters)}
        for number, (leaf, signature) in enumerate(zip(leaves, self._leaves)):
            if isinstance(leaf, Array):
                if number in wanted and leaf.sharding != wanted[number]:
                    return None
            elif SIGNATURES[type(leaf)](leaf) != signature:
                return None
        return Entry(self._executable, self._lowering, leaves)

    def __call__(self, leaves: Sequence[Any]) -> Any:
        inputs = [leaves[leaf] for leaf in self._kept]
        for number, dtype in self._hosted:
            inputs[number] = on_host(inputs[number], dtype)
        outputs: list[Any] = self._execute(self._constants + inputs if self._constants else inputs)
        for number, implementation in self._keys:
            outputs[number] = LazyKeys(implementation, outputs[number])
        return jax.tree_util.tree_unflatten(self._tree, outputs)
