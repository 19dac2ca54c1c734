"""From a module to a program and its executable: compiled once a process, and once a machine where the disk keeps it."""
from __future__ import annotations

import dataclasses
import functools
import os
import pathlib
import platform
import threading
from collections import OrderedDict

from .. import _native
from ..client import Executable, default_client
from ..compiler import PlanRequest, TopologyText
from ..errors import Error
from ..program import Program
from ..program import compile as compile_module
from . import disk_cache


@dataclasses.dataclass(frozen=True)
class Options:
    """What besides the module decides what the compiler makes."""

    topology: TopologyText | None = None
    overlap: str = "auto"
    memory: int | str | None = None
    plan: PlanRequest | None = None  # shardings are found

    def key(self) -> bytes:
        return repr(dataclasses.astuple(self)).encode()


KEPT = 256  # programs in memory that no function holds any more
_lock = threading.Lock()
_programs: OrderedDict[str, Program] = OrderedDict()


@functools.cache
def compiler() -> bytes:
    """The compiler and the processor that a program depends on: the library's build, and what kernels may use."""
    package = pathlib.Path(_native.__file__).parent
    files = sorted(package.glob("libtessera_*.so*"))
    builds = [(file.name, status.st_size, status.st_mtime_ns) for file in files if (status := os.stat(file))]
    try:
        text = pathlib.Path("/proc/cpuinfo").read_text()
        features = sorted({line for line in text.splitlines() if line.startswith(("flags", "model", "vendor_id"))})
    except OSError:
        features = [platform.processor()]
    return repr((builds, features)).encode()


def program_of(module: bytes, name: str, options: Options) -> Program:
    """Compiles the module, unless this process or the disk has its program."""
    key = disk_cache.digest(module, options.key(), compiler())
    with _lock:
        if program := _programs.get(key):
            _programs.move_to_end(key)
            return program
    program = from_disk(key) or compiled(key, module, name, options)
    with _lock:
        program = _programs.setdefault(key, program)
        while len(_programs) > KEPT:
            _programs.popitem(last=False)
        return program


def from_disk(key: str) -> Program | None:
    contents = disk_cache.read(key)
    if contents is None:
        return None
    try:
        return Program.from_bytes(contents)
    except Error:  # damaged, by its checksums
        disk_cache.remove(key)
        return None


def compiled(key: str, module: bytes, name: str, options: Options) -> Program:
    program = compile_module(module, topology=options.topology, overlap=options.overlap, memory=options.memory,
                             plan=options.plan, name=name)
    disk_cache.write(key, program.to_bytes())
    return program


def load(program: Program) -> Executable:
    return default_client().load(program)
