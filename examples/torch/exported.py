"""A PyTorch module as a JAX function of its parameters: by torch.export, and torchax, which has the ops of PyTorch in JAX."""
import re
from collections.abc import Callable, Mapping
from typing import Any

import jax
import numpy as np
import torch
import torchax
from jax.sharding import PartitionSpec
from torch.export.graph_signature import InputKind
from torchax.decompositions import DECOMPOSITIONS
from torchax.export import JaxInterpreter

Parameters = dict[str, Any]  # arrays, of whatever stage: NumPy, tracing, Tessera


class Interpreter(JaxInterpreter):
    """Ops are in scopes of the names of their modules: what Tessera's explain shows."""

    def run_node(self, n: torch.fx.Node) -> Any:
        modules = n.meta.get("nn_module_stack") or {"": ("", None)}
        with jax.named_scope(list(modules.values())[-1][0] or "forward"):
            return super().run_node(n)


def export(module: torch.nn.Module, *example: torch.Tensor) -> tuple[Callable[..., Any], Parameters]:
    """(f, parameters and buffers by name) with f(parameters, *inputs) what the module gives for inputs of `example`'s shapes."""
    torchax.default_env()  # which knows the ops
    program = torch.export.export(module, example).run_decompositions().run_decompositions(DECOMPOSITIONS)
    if changed := program.graph_signature.buffers_to_mutate:
        raise ValueError(f"forward() changes {', '.join(changed.values())}: export module.eval()")
    values = {**program.state_dict, **program.constants}
    specs = [spec for spec in program.graph_signature.input_specs if spec.kind != InputKind.USER_INPUT]
    arrays = {spec.target: np.asarray(values[spec.target].detach()) for spec in specs}
    own = [spec.target for spec in specs if spec.kind in (InputKind.PARAMETER, InputKind.BUFFER)]
    constants = {name: array for name, array in arrays.items() if name not in own}  # what forward() makes of Python's numbers

    def call(parameters: Parameters, *inputs: jax.Array) -> Any:
        known = {**constants, **parameters}
        states = [known[spec.target] for spec in specs]
        results = Interpreter(program.graph_module).run(*states, *inputs, enable_io_processing=False)
        return results[0] if len(results) == 1 else results

    return call, {name: arrays[name] for name in own}


def layout_of(parameters: Parameters, patterns: Mapping[str, PartitionSpec]) -> dict[str, PartitionSpec]:
    """The PartitionSpec of each parameter: that of the first pattern found in its name, or whole on every device."""
    return {
        name: next((spec for pattern, spec in patterns.items() if re.search(pattern, name)), PartitionSpec())
        for name in parameters
    }
