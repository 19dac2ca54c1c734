"""Compiled programs: what they take and give, their files, and the compiler that makes them."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import math
import os
import warnings
from typing import Any

import numpy as np

from . import _native
from .compiler import Module, PlanRequest, compile_options, open_compiler, read_module
from .dtypes import DTYPES
from .errors import CompileError, DataLossError, FailedPreconditionError
from .report import Report, counted
from .sharding import Mesh, Sharding


@dataclasses.dataclass(frozen=True)
class Parameter:
    """An input or output of a program."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    """Of the global array."""
    sharding: Sharding
    donated: bool = False
    """An input whose array a step takes over."""
    alias: str | None = None
    """The input whose memory an output takes."""

    @property
    def nbytes(self) -> int:
        """Of the global array, as NumPy has it."""
        return self.dtype.itemsize * math.prod(self.shape)


def _mesh(raw: dict[str, Any]) -> Mesh:
    axes = {axis["axis"]: int(axis["size"]) for axis in raw["mesh"]}
    devices = [device for begin, end in raw["devices"] for device in range(begin, end)]
    return Mesh(axes, devices)


def _parameters(programs: list[dict[str, Any]], which: str, taken: set[str]) -> list[Parameter]:
    return [
        Parameter(
            name=p["name"],
            dtype=DTYPES[p["type"]],
            shape=tuple(p["shape"]),
            sharding=Sharding(_mesh(program), p["sharding"]),
            donated=p["donated"] or p["name"] in taken,
            alias=p.get("alias"),
        )
        for program in programs
        for p in program[which]
    ]


class Program:
    """A compiled program for many devices: `tessera.compile` makes one, `Program.load` reads one from a file.

    A program is native code: load none that you would not run (docs/trust.md).
    """

    def __init__(self, data: bytes, report: Report | None = None) -> None:
        self._bytes = bytes(data)
        self._is_inspected = False
        try:
            self._native = _native.Program(self._bytes)
        except FailedPreconditionError:  # it is not executed here: why is said where it would be
            self._native = _native.Program.inspect(self._bytes)
            self._is_inspected = True
        self._report = report

    def _loaded(self) -> _native.Program:
        """To be executed; raises what keeps it from that."""
        if self._is_inspected:
            self._native = _native.Program(self._bytes)
            self._is_inspected = False
        return self._native

    @classmethod
    def from_bytes(cls, data: bytes) -> Program:
        """The program that `to_bytes` gave."""
        return cls(data)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, sha256: str | None = None) -> Program:
        """Reads a .tsr file; with `sha256` (64 hexadecimal digits) no other than the one that has it."""
        with open(path, "rb") as file:
            data = file.read()
        if sha256 is not None and hashlib.sha256(data).hexdigest() != sha256.lower():
            raise DataLossError(f"{os.fspath(path)}: its SHA-256 is not {sha256}")
        return cls(data)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a .tsr file, which `tessera run` takes too. The file is there whole, or not at all."""
        part = f"{os.fspath(path)}.{os.getpid()}.part"
        try:
            with open(part, "wb") as file:
                file.write(self._bytes)
            os.replace(part, path)
        except BaseException:
            if os.path.exists(part):
                os.unlink(part)
            raise

    def to_bytes(self) -> bytes:
        """The contents of the .tsr file."""
        return self._bytes

    @functools.cached_property
    def _info(self) -> dict[str, Any]:
        info: dict[str, Any] = json.loads(self._native.info)
        return info

    @functools.cached_property
    def inputs(self) -> list[Parameter]:
        """What a step takes, in order."""
        taken = {p["alias"] for program in self._info["programs"] for p in program["outputs"] if p.get("alias")}
        return _parameters(self._info["programs"], "inputs", taken)

    @functools.cached_property
    def outputs(self) -> list[Parameter]:
        """What a step gives, in order."""
        return _parameters(self._info["programs"], "outputs", set())

    @property
    def devices(self) -> int:
        """The number of devices that the program is for."""
        return self._native.devices

    @functools.cached_property
    def mesh(self) -> Mesh:
        """The mesh of its devices; of the first program of a file that has several."""
        return _mesh(self._info["programs"][0])

    @functools.cached_property
    def report(self) -> Report:
        """Collectives, memory and predicted time, as the compiler reported them."""
        return self._report or Report(json.loads(self._native.report or "{}"))

    def __reduce__(self) -> tuple[Any, ...]:
        return Program.from_bytes, (self._bytes,)

    def __repr__(self) -> str:
        inputs, outputs = counted(len(self.inputs), "input"), counted(len(self.outputs), "output")
        return f"<tessera.Program: {inputs}, {outputs}, {counted(self.devices, 'device')}>"


def compile(
    module: Module,
    *,
    target: str = "cpu",
    target_cpu: str = "native",
    topology: str | os.PathLike[str] | None = None,
    entry: str = "main",
    input_shapes: str | None = None,
    overlap: str = "auto",
    memory: int | str | None = None,
    plan: PlanRequest | None = None,
    name: str | None = None,
) -> Program:
    """Compiles a StableHLO module with Shardy annotations.

    `module` is MLIR text or bytecode, a path of a file of either, what `jax.jit(f).lower(..)` gave, or a
    `jax.export.Exported`. `topology` is a path of a topology file, its contents, or a machine's name such as h100
    (docs/topology.md). `target_cpu` is "native", "x86-64-v3", "x86-64-v4", several of them with commas, or what else
    LLVM knows. `input_shapes` gives those of arguments that leave them open: "in0:8x128xf32". `overlap` says whether
    collectives run beside computation: "auto", "on", "off". `memory` is what each device has for the program: bytes, or
    "80GB", "1.5GiB"; without it the topology's. With `plan`, a tessera.PlanRequest, shardings are found first, as by
    `tessera.plan`. `name` stands in messages where the module names no source.

    Raises CompileError, with the line of your source, where the compiler refuses the module. Its warnings come as
    `tessera.CompileWarning`.
    """
    data, label = read_module(module, name)
    open_compiler()
    options = compile_options(label, entry, target, target_cpu, topology, input_shapes, overlap, memory, plan)
    error, program, report, said = _native.compile(data, options)
    for line in said:
        warnings.warn(line, CompileWarning, stacklevel=2)
    if error is not None:
        raise CompileError(error)
    return Program(program, Report(json.loads(report)))


class CompileWarning(UserWarning):
    """What the compiler warns of: an annotation that it drops, a value that it gathers."""
