"""Why a program is sharded as it is, and what that moves."""

from __future__ import annotations

import os
from typing import Any

from . import _native
from .compiler import Module, PlanRequest, compile_options, open_compiler, read_module
from .errors import CompileError, NotFoundError


class Explanation:
    """What `tessera explain` says (docs/explain.md). Prints as text, and shows as a page in a notebook."""

    def __init__(self, native: Any) -> None:
        self._native = native

    @property
    def text(self) -> str:
        """The whole program: collectives by time with cause and remedy, conflicts, shardings."""
        return str(self._native.text() or "")

    @property
    def html(self) -> str:
        """One self-contained page with the program as a graph."""
        return str(self._native.html() or "")

    @property
    def memory(self) -> str:
        """What a device holds over a step and at its peak, in bytes with source lines; of `explain(.., frontier=True)` also
        what less memory costs: programs by falling memory, each with its step's time and the `memory` that compiles it."""
        return str(self._native.memory() or "")

    def value(self, name: str) -> str:
        """All about the values of a name: of the text, of an argument, or the last part of a scope."""
        text = self._native.value(name)
        if text is None:
            raise NotFoundError(f"no value {name!r}; names are those of the text, of arguments, or last parts of scopes")
        return str(text)

    def line(self, file: str, line: int) -> str:
        """All that a line of your source made."""
        text = self._native.line(file, line)
        if text is None:
            raise NotFoundError(f"line {line} of {file} made nothing that is there")
        return str(text)

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        import html

        return f'<iframe srcdoc="{html.escape(self.html)}" style="width:100%;height:40em;border:0"></iframe>'


def explain(
    module: Module,
    *,
    target: str = "cpu",
    target_cpu: str = "native",
    topology: str | os.PathLike[str] | None = None,
    entry: str = "main",
    input_shapes: str | None = None,
    overlap: str = "auto",
    name: str | None = None,
    mends: bool = True,
    frontier: bool = False,
    plan: PlanRequest | None = None,
) -> Explanation:
    """Says of every sharding where it comes from and of every collective why it is there. Arguments: as `compile`.

    With `plan`, a tessera.PlanRequest, shardings are found first, as by `tessera.plan`, and the text says what each choice
    is worth, annotations of the module included. Without `mends`, no changes of the program are compiled to find what
    saves time: much faster for a large program. With `frontier`, programs of less and less memory are compiled, too, and
    `Explanation.memory` and the page list what each costs in time: some ten times as long as a compilation.
    """
    data, label = read_module(module, name)
    open_compiler()
    options = compile_options(label, entry, target, target_cpu, topology, input_shapes, overlap, plan=plan)
    explanation = _native.Explanation(data, options, mends, frontier)
    if explanation.error is not None:
        raise CompileError(explanation.error)
    return Explanation(explanation)
