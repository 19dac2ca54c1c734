"""What goes wrong, as exceptions: each is a `tessera.Error`, and of the class that Python uses for such a mistake."""

from __future__ import annotations

import enum
import linecache
import re
from typing import NamedTuple

from . import _native


class Code(enum.IntEnum):
    """The canonical codes of gRPC, as the C interface has them."""

    CANCELLED = 1
    INVALID_ARGUMENT = 3
    DEADLINE_EXCEEDED = 4
    NOT_FOUND = 5
    ALREADY_EXISTS = 6
    PERMISSION_DENIED = 7
    RESOURCE_EXHAUSTED = 8
    FAILED_PRECONDITION = 9
    OUT_OF_RANGE = 11
    UNIMPLEMENTED = 12
    INTERNAL = 13
    UNAVAILABLE = 14
    DATA_LOSS = 15


class Location(NamedTuple):
    """A place in the user's source; lines and columns count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


def find_location(message: str) -> Location | None:
    """The first place of the form file:line:column that a message names."""
    found = re.search(r"(?:^|[\s(])([^\s:(]+):(\d+):(\d+)", message)
    return Location(found[1], int(found[2]), int(found[3])) if found else None


class Error(RuntimeError):
    """A failure of the compiler or the runtime. `code` says of which kind, `location` where in the user's source."""

    code: Code = Code.INTERNAL

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.location: Location | None = find_location(message)

    def __str__(self) -> str:
        return str(self.args[0])


class CompileError(Error):
    """The compiler refuses a module. Its text has the user's source line, where that can be read."""

    code = Code.INVALID_ARGUMENT

    def __str__(self) -> str:
        text = str(self.args[0])
        line = linecache.getline(self.location.file, self.location.line).rstrip() if self.location else ""
        if not self.location or not line.strip():
            return text
        number = str(self.location.line)
        mark = " " * (self.location.column - 1) + "^" if self.location.column <= len(line) else ""
        shown = f"\n  {number} | {line}"
        return text + shown + (f"\n  {' ' * len(number)} | {mark}" if mark else "")


class InvalidArgumentError(Error, ValueError):
    """Shapes, numbers or options that don't fit."""

    code = Code.INVALID_ARGUMENT


class ArgumentTypeError(Error, TypeError):
    """A value of a type, or an array of a dtype, that is not expected."""

    code = Code.INVALID_ARGUMENT


class NotFoundError(Error, KeyError):
    """There is nothing of that name; the message lists what there is."""

    code = Code.NOT_FOUND


class OutOfRangeError(Error, IndexError):
    """An index past the end."""

    code = Code.OUT_OF_RANGE


class CancelledError(Error):
    """The step was given up."""

    code = Code.CANCELLED


class DeadlineExceededError(Error, TimeoutError):
    """A step took longer than its limit."""

    code = Code.DEADLINE_EXCEEDED


class ResourceExhaustedError(Error, MemoryError):
    """There is no memory, or there are no more threads, for it."""

    code = Code.RESOURCE_EXHAUSTED


class FailedPreconditionError(Error):
    """The object is in no state for it: an array was donated; the program is for another machine."""

    code = Code.FAILED_PRECONDITION


class UnimplementedError(Error, NotImplementedError):
    """This build, or this machine, cannot do it."""

    code = Code.UNIMPLEMENTED


class UnavailableError(Error):
    """Another process is gone, or a file cannot be read."""

    code = Code.UNAVAILABLE


class DataLossError(Error, ValueError):
    """A program's bytes are damaged."""

    code = Code.DATA_LOSS


_BY_CODE: dict[int | str, type[Error]] = {
    **{kind.code: kind for kind in Error.__subclasses__() if kind not in (CompileError, ArgumentTypeError)},
    Code.INTERNAL: Error,
    Code.ALREADY_EXISTS: Error,
    Code.PERMISSION_DENIED: Error,
    "type": ArgumentTypeError,
}
_native.register_errors(_BY_CODE)
