"""Devices, programs loaded for them, and arrays placed on them."""

from __future__ import annotations

import atexit
import operator
import os
import threading
from collections.abc import Iterable
from typing import Any

import numpy as np

from . import _native
from .array import Array, convert
from .dtypes import DTYPES, name_of
from .errors import ArgumentTypeError, InvalidArgumentError
from .program import Parameter, Program
from .sharding import Mesh, Sharding, placement


class Executable(_native.Executable):
    """A program loaded for a client. `executable(*arrays, **by_name)` starts a step and returns its outputs at once.

    An input is an `Array`, or what NumPy makes an array of the right dtype and shape of; it is placed on the devices as
    the program wants it. Threads may share an executable: their steps follow each other.
    """

    program: Program

    def __init__(self, client: Client, program: Program) -> None:
        super().__init__(
            client,
            program._loaded(),
            [p.sharding for p in program.inputs],
            [p.sharding for p in program.outputs],
        )
        self.program = program

    def __repr__(self) -> str:
        return f"<tessera.Executable of {self.program!r}>"


class Client(_native.Client):
    """Workers, devices and their memory.

    `device` is "cpu", or "shadow": devices whose memory the host can't touch, to find what assumes that it can.
    `workers` is the number of threads, 0 for TESSERA_WORKERS or one a core. `communicator` "mpi" makes this process one
    device of many; all of them then do the same.
    """

    def __init__(self, device: str = "cpu", workers: int = 0, *, communicator: str = "local") -> None:
        if operator.index(workers) < 0:
            raise InvalidArgumentError(f"workers={workers}: 0 or more")
        super().__init__(device, workers, communicator)

    def load(self, program: Program) -> Executable:
        """Makes a program ready to be executed."""
        if not isinstance(program, Program):
            raise ArgumentTypeError(f"{program!r} is no tessera.Program: tessera.compile and Program.load give one")
        return Executable(self, program)

    def __repr__(self) -> str:
        return f"<tessera.Client: {self.device}>"


_default: Client | None = None
_lock = threading.Lock()


def default_client() -> Client:
    """The client that is used where none is named: one a process, on its CPU."""
    global _default
    with _lock:
        if _default is None:
            _default = Client()
        return _default


def _forget_client() -> None:
    global _default, _lock
    _default, _lock = None, threading.Lock()


atexit.register(_native.shut_down)
os.register_at_fork(after_in_child=_forget_client)  # workers are threads of the parent


def device_put(
    value: Any,
    like: Array | Parameter | Sharding | None = None,
    *,
    client: Client | None = None,
    dtype: Any = None,
) -> Array:
    """Places an array on the devices.

    `like` says how: a sharding; an array or a parameter of a program, whose dtype is expected then; or nothing, for one
    device. `value` is what NumPy makes an array of, or an `Array`, which is placed anew. The values are copied.
    """
    where = client or (like.client if isinstance(like, Array) else None) or default_client()
    if isinstance(value, Array):
        value = np.asarray(value)
    expected = like.dtype if isinstance(like, (Array, Parameter)) else dtype
    host = np.asarray(value)
    if expected is None:
        expected = host.dtype
    sharding = like if isinstance(like, Sharding) else Sharding(Mesh({})) if like is None else getattr(like, "sharding", None)
    if not isinstance(sharding, Sharding):
        raise ArgumentTypeError(f"{like!r} is no sharding")
    element_type = name_of(expected)
    if host.dtype != DTYPES[element_type] and dtype is not None:
        numbers = isinstance(value, (bool, int, float, complex, list, tuple))
        value = convert(value, DTYPES[element_type], "the value") if numbers else host.astype(DTYPES[element_type])
    place = placement(sharding, element_type, tuple(host.shape), where.process if where.process_count > 1 else None)
    return _native.place(where, place, sharding, value)


def block_until_ready(arrays: Iterable[Array]) -> None:
    """Waits until all of them are there."""
    for array in arrays:
        array.block_until_ready()
