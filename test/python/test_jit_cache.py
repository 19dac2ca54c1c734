"""Programs of tessera.jit on disk: found again, shared by processes, bounded, and made anew where they are damaged."""

import os
import pathlib
import re
import subprocess
import sys

import jax
import numpy as np
import pytest
import tessera
from tessera._jit import disk_cache, programs

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "jax.md"


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A directory for programs; what the process has in memory is forgotten."""
    monkeypatch.setenv("TESSERA_CACHE_DIR", str(tmp_path / "programs"))
    programs._programs.clear()
    return tmp_path / "programs"


@pytest.fixture
def compiled(monkeypatch):
    """Names of functions that were compiled, as they are."""
    names = []
    real = programs.compile_module

    def counted(module, *, name, **options):
        names.append(name)
        return real(module, name=name, **options)

    monkeypatch.setattr(programs, "compile_module", counted)
    return names


def double(x):
    return x * 2


def run(x):
    """As a process that has just begun."""
    programs._programs.clear()
    np.testing.assert_array_equal(tessera.jit(double)(x), x * 2)


def test_a_program_is_compiled_once(cache, compiled):
    x = np.ones(3, np.float32)
    for _ in range(3):
        run(x)
    assert compiled == ["double"] and len(list(cache.iterdir())) == 1
    run(np.ones(4, np.float32))
    assert len(compiled) == 2 and len(list(cache.iterdir())) == 2


def test_memory_is_asked_first(cache, compiled):
    x = np.ones(3, np.float32)
    tessera.jit(double)(x)
    tessera.jit(double)(x)
    jax.tree.map(os.unlink, list(cache.iterdir()))
    tessera.jit(double)(x)
    assert len(compiled) == 1


@pytest.mark.parametrize("contents", [b"", b"nonsense", None])
def test_a_damaged_file_is_made_anew(cache, compiled, contents):
    x = np.ones(3, np.float32)
    run(x)
    (file,) = cache.iterdir()
    whole = file.read_bytes()
    file.write_bytes(contents if contents is not None else whole[: len(whole) // 2] + b"\0" * (len(whole) // 2))
    run(x)
    assert len(compiled) == 2 and len(file.read_bytes()) == len(whole)


def test_the_directory_is_bounded(cache, monkeypatch):
    for size in (2, 3, 4):
        run(np.ones(size, np.float32))
    files = sorted(cache.iterdir(), key=lambda file: file.stat().st_mtime_ns)
    for age, file in enumerate(files):
        os.utime(file, (1e9 + age, 1e9 + age))
    run(np.ones(2, np.float32))  # the oldest is used again
    monkeypatch.setenv("TESSERA_CACHE_BYTES", str(3 * files[0].stat().st_size + 1000))
    run(np.ones(5, np.float32))
    left = set(cache.iterdir())
    assert len(left) == 3 and files[0] in left and files[1] not in left


def test_a_directory_that_others_may_write_into_is_not_used(cache, compiled, capfd):
    cache.mkdir(mode=0o777)
    cache.chmod(0o777)
    run(np.ones(3, np.float32))
    assert not list(cache.iterdir()) and "others may write into it" in capfd.readouterr().err


def test_no_directory_is_no_error(monkeypatch, compiled):
    for path in ("", "/proc/none/such"):
        monkeypatch.setenv("TESSERA_CACHE_DIR", path)
        run(np.ones(3, np.float32))
    assert len(compiled) == 2


def test_where_it_lies(monkeypatch):
    monkeypatch.delenv("TESSERA_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert disk_cache.directory() == pathlib.Path("/somewhere/tessera")
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setenv("HOME", "/of/the/user")
    assert disk_cache.directory() == pathlib.Path("/of/the/user/.cache/tessera")


def test_the_page_runs_where_jax_has_one_device(cache):
    """Its example, by two processes at once."""
    (example,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.S)
    environment = {name: value for name, value in os.environ.items() if name != "XLA_FLAGS"}
    command = [sys.executable, "-c", example]
    both = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    printed = [process.communicate()[0] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    w = np.ones((16, 32))
    for _ in range(3):
        w = w - 0.1 * (np.ones((16, 8)) @ np.tanh(np.ones((8, 16)) @ w))
    assert [float(text) for text in printed] == pytest.approx([w[0, 0]] * 2, rel=1e-5)
