"""Programs on disk, by a digest of what they were made from. Several processes may use one directory at a time.

A file is written beside its place and moved there, so a reader finds a whole one or none; what is damaged all the same
(the loader's checksums say so) is removed by whom finds it, and compiled again. Program files are native code, so the
directory belongs to the user and nobody else may write into it (docs/trust.md).
"""
from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import sys
import tempfile
from pathlib import Path

LIMIT = 2 << 30  # bytes, unless TESSERA_CACHE_BYTES says otherwise
SUFFIX = ".tsr"


def directory() -> Path | None:
    """TESSERA_CACHE_DIR (empty: no cache), or tessera/ in XDG_CACHE_HOME or ~/.cache."""
    chosen = os.environ.get("TESSERA_CACHE_DIR")
    if chosen is not None:
        return Path(chosen) if chosen else None
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "tessera" if os.path.isabs(base) else None


def limit() -> int:
    try:
        return int(os.environ["TESSERA_CACHE_BYTES"])
    except (KeyError, ValueError):
        return LIMIT


def digest(*parts: bytes) -> str:
    """Of parts whose borders count."""
    found = hashlib.sha256()
    for part in parts:
        found.update(len(part).to_bytes(8, "little"))
        found.update(part)
    return found.hexdigest()


def ours(path: Path) -> bool:
    """Whether the directory is this user's alone to write."""
    status = path.stat()
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & 0o022


def opened() -> Path | None:
    """The directory, made where it is missing; None where there is none to be had."""
    path = directory()
    if path is None:
        return None
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        if ours(path):
            return path
    except OSError:
        return None
    print(f"tessera: {path} is not used as a cache: others may write into it", file=sys.stderr)
    return None


def read(key: str) -> bytes | None:
    path = opened()
    if path is None:
        return None
    try:
        contents = (path / (key + SUFFIX)).read_bytes()
        os.utime(path / (key + SUFFIX))  # used now: evicted last
        return contents
    except OSError:
        return None


def write(key: str, contents: bytes) -> None:
    """A cache that can't be written costs time, and no step: nothing is raised."""
    path = opened()
    if path is None or len(contents) > limit():
        return
    partial = None
    try:
        with tempfile.NamedTemporaryFile(dir=path, prefix=".partial-", delete=False) as file:
            partial = file.name
            file.write(contents)
        os.replace(partial, path / (key + SUFFIX))
        evict(path)
    except OSError:
        if partial is not None:
            with contextlib.suppress(OSError):
                os.unlink(partial)


def remove(key: str) -> None:
    if path := opened():
        with contextlib.suppress(OSError):
            (path / (key + SUFFIX)).unlink()


def evict(path: Path) -> None:
    """Removes what was not used for longest until the rest fits, and what killed processes left an hour ago."""
    found = []
    newest = 0.0
    for entry in os.scandir(path):
        with contextlib.suppress(OSError):
            status = entry.stat(follow_symlinks=False)
            newest = max(newest, status.st_mtime)
            if entry.name.endswith(SUFFIX) or entry.name.startswith(".partial-"):
                found.append((status.st_mtime, status.st_size, entry.path))
    total = sum(size for _, size, _ in found)
    for time, size, name in sorted(found):
        abandoned = Path(name).name.startswith(".partial-") and time < newest - 3600
        if abandoned or (total > limit() and name.endswith(SUFFIX)):
            with contextlib.suppress(OSError):
                os.unlink(name)
            total -= size
