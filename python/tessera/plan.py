"""Shardings that nobody wrote: found by the compiler, to be pasted or compiled."""

from __future__ import annotations

import dataclasses
import json
import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from . import _native
from .compiler import Module, compile_options, open_compiler, plan_request, read_module
from .errors import CompileError
from .program import CompileWarning, Program
from .program import compile as compile_module
from .sharding import Mesh


@dataclasses.dataclass(frozen=True)
class Alternative:
    """Another way to shard the program, compiled: what a step of it takes, and what a device holds."""

    kind: str
    """"data", "fsdp", "tensor", mixtures such as "data x tensor"; "search" for what has no such name."""
    mesh: str
    seconds: float
    peak_bytes: int


@dataclasses.dataclass(frozen=True)
class Decision:
    """How something lies, and what the next best way would have cost, with all else decided anew."""

    what: str
    """An argument's name, "weights[*]['up'] (4 arguments)", or "the result of dot_general at model.py:7"."""
    spec: str
    next: str | None
    """None where all else takes as long, or nothing else fits into the memory."""
    as_long: Sequence[str]
    """Other ways with which a step takes as long: a question of memory."""
    seconds: float
    """What a step would take more, as the search counts."""
    fraction: float
    """Of the step."""
    bytes: float
    """What a device would hold more."""
    proven: bool
    """That there is no better one; else `seconds` is the most that it would cost."""
    computing: float
    collectives: Sequence[Mapping[str, Any]]
    """Of what the seconds are made: computing, and collectives by kind, with count and seconds."""
    location: str
    """Around which most more is moved."""


@dataclasses.dataclass(frozen=True)
class Plan:
    """How to divide a program among devices (docs/plan.md). Prints as `tessera plan` does."""

    module: str
    """The program with the annotations that were found, as text: for `tessera.compile`."""
    text: str
    report: Mapping[str, Any]
    """What `tessera plan --report` writes."""

    @property
    def mesh(self) -> Mesh:
        names = [part.split("=") for part in self.report["axes"].split(",")]
        return Mesh({name: int(size) for name, size in names})

    @property
    def specs(self) -> dict[str, tuple[str | tuple[str, ...] | None, ...]]:
        """By the names of arguments what jax.sharding.PartitionSpec(*spec) takes: ("data", None)."""
        return {name: tuple(_entry(axes) for axes in dimensions) for name, dimensions in self.report["arguments"].items()}

    @property
    def kind(self) -> str:
        return str(self.report["kind"])

    @property
    def seconds(self) -> float:
        """Of a step, as predicted for the program with these shardings."""
        return float(self.report["predicted"]["seconds"])

    @property
    def peak_bytes(self) -> int:
        """What a device holds at most."""
        return int(self.report["predicted"]["peak_bytes"])

    @property
    def gap(self) -> float | None:
        """The part of a step that other plans on this mesh could save at most, proven (docs/plan.md); None: no bound is known."""
        gap = self.report["gap"]
        return None if gap is None else float(gap)

    @property
    def alternatives(self) -> list[Alternative]:
        """The best of other kinds, the quickest first."""
        return [Alternative(**alternative) for alternative in self.report["alternatives"]]

    @property
    def decisions(self) -> list[Decision]:
        """What each choice is worth, the costliest first."""
        return [Decision(**decision) for decision in self.report["decisions"]]

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<tessera.Plan: {self.kind} on {self.report['axes']}>"

    def compile(self, **options: Any) -> Program:
        """`tessera.compile` of the module with its annotations."""
        return compile_module(self.module, **options)


def _entry(axes: Sequence[str]) -> str | tuple[str, ...] | None:
    return None if not axes else axes[0] if len(axes) == 1 else tuple(axes)


def plan(
    module: Module,
    *,
    devices: int | None = None,
    mesh: Mesh | Mapping[str, int] | str | Any = None,
    topology: str | os.PathLike[str] | None = None,
    memory: int | str | None = None,
    effort: int = 3,
    entry: str = "main",
    input_shapes: str | None = None,
    overlap: str = "auto",
    name: str | None = None,
) -> Plan:
    """Finds the shardings with which a step of the module takes least time.

    `module` is as of `compile`, with or without annotations: those that are there hold. `devices` is how many there
    are to be, on the best mesh of up to three axes, or `mesh` says: {"data": 2, "model": 4}, "data=2,model=4", a
    tessera.Mesh or one of JAX's. `topology`, `memory` and the rest are as of `compile`; `effort`, from 1 to 5, is how
    long to search. Of a function, give what `tessera.jit(f).lower(..)` or `jax.jit(f).lower(..)` gave.

    Raises CompileError where nothing fits into `memory`, with the least that does, or annotations cannot hold.
    """
    data, label = read_module(module, name)
    request = plan_request(devices, mesh, effort)
    open_compiler()
    options = compile_options(label, entry, "cpu", "native", topology, input_shapes, overlap, memory, request)
    error, planned, report, text, said = _native.plan(data, options)
    for line in said:
        warnings.warn(line, CompileWarning, stacklevel=2)
    if error is not None:
        raise CompileError(error)
    return Plan(planned, text, json.loads(report))
