"""Mistakes are exceptions of the class that Python uses for them, with what is expected, and where."""

import functools
import subprocess
import sys

import jax
import ml_dtypes
import numpy as np
import pytest
import tessera


def test_shapes(client, layer):
    with pytest.raises(ValueError, match=r"input 1 \('x'\) has shape \(5, 16\), expected is \(6, 16\)") as e:
        client.load(layer)(np.zeros((16, 12), np.float32), np.zeros((5, 16), np.float32))
    assert isinstance(e.value, tessera.Error) and e.value.code is tessera.Code.INVALID_ARGUMENT
    with pytest.raises(ValueError, match="has 2 inputs, 1 are given"):
        client.load(layer)(np.zeros((16, 12), np.float32))
    small = tessera.device_put(np.zeros((16, 11), np.float32), client=client)
    with pytest.raises(ValueError, match=r"float32\[16,11\], the program expects float32\[16,12\] in tiles \[16,3\]"):
        client.load(layer)(small, np.zeros((6, 16), np.float32))


def test_dtypes(client, layer):
    x = np.zeros((6, 16), np.float32)
    with pytest.raises(TypeError, match=r"input 0 \('w'\) is float64, expected is float32"):
        client.load(layer)(np.zeros((16, 12)), x)
    with pytest.raises(TypeError, match="float64"):
        client.load(layer)(tessera.device_put(np.zeros((16, 12)), client=client), x)
    with pytest.raises(TypeError, match="expected is float32"):
        client.load(layer)("weights", x)


def test_numbers_of_python_are_taken(client):
    program = tessera.compile(jax.jit(lambda x, n: x * n).lower(np.float32(0), np.int32(0)))
    executable = client.load(program)
    assert float(executable(0.1, 3)[0]) == pytest.approx(0.3)
    with pytest.raises(TypeError, match=r"0\.5.* is no int32"):
        executable(0.1, 0.5)
    with pytest.raises(TypeError, match="is no int32"):
        executable(0.1, 2**40)
    with pytest.raises(TypeError, match="is no float32"):
        executable(1j, 3)
    with pytest.raises(TypeError, match="is no float32"):
        executable(["1"], 3)
    place = functools.partial(tessera.device_put, client=client)
    with pytest.raises(TypeError, match=r"2\.5.* is no int4"):
        place(2.5, dtype=ml_dtypes.int4)
    with pytest.raises(TypeError, match="is no int8"):
        place([1, 300], dtype=np.int8)
    assert np.asarray(place(257, dtype=ml_dtypes.bfloat16)) == 256  # rounded
    assert np.asarray(place(np.int32(300), dtype=np.int8)) == 44  # an array is converted


def test_meshes():
    for axes, message in (({"a": 0}, "size from 1 on"), ({3: 2}, "a name"), ({"a": 1 << 40}, "at most 16777216")):
        with pytest.raises(ValueError, match=message):
            tessera.Mesh(axes)
    with pytest.raises(tessera.CompileError, match=f"programs are for {tessera._native.MAX_DEVICES} at most"):
        tessera.compile('sdy.mesh @m = <["x"=1048576, "y"=64]>\nfunc.func @main() { return }')


def test_what_is_no_option(client):
    with pytest.raises(ValueError, match="workers=-1"):
        tessera.Client(workers=-1)
    with pytest.raises(TypeError, match="3 is no sharding"):
        tessera.device_put(np.ones(3), 3, client=client)
    with pytest.raises(ValueError, match="topology=''"):
        tessera.compile("", topology="")


def test_what_is_no_program(client):
    with pytest.raises(TypeError, match="is no tessera.Program"):
        client.load("step.tsr")
    with pytest.raises(tessera.CompileError, match="no function @main"):
        tessera.compile("")


def test_names(client, layer):
    executable = client.load(layer)
    w, x = np.ones((16, 12), np.float32), np.ones((6, 16), np.float32)
    (y,) = executable(x=x, w=w)
    np.testing.assert_array_equal(executable(w, x=x)[0], y)
    with pytest.raises(KeyError, match="^no input 'x' is given; the program's inputs are w, x$"):
        executable(w=w)
    with pytest.raises(KeyError, match="no input 'X'; the program's inputs are w, x"):
        executable(w=w, X=x)
    with pytest.raises(KeyError, match="no input 'weights'; the program's inputs are w, x"):
        executable(w=w, x=x, weights=w)
    with pytest.raises(ValueError, match="'w' is given by number and by name"):
        executable(w, x, w=w)


def test_donated_twice(client, update):
    executable = client.load(update)
    program = tessera.compile(
        jax.jit(lambda a, b: (a + b, b), donate_argnums=(0, 1)).lower(np.zeros(4, np.float32), np.zeros(4, np.float32))
    )
    x = tessera.device_put(np.zeros(4, np.float32), client=client)
    with pytest.raises(ValueError, match="donated, and given twice"):
        client.load(program)(x, x)
    assert not x.is_deleted()
    assert executable.program is update


def test_a_refused_module_shows_the_users_line():
    refused = """
module {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.bogus %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
"""
    with pytest.raises(tessera.CompileError) as e:
        tessera.compile(refused, name="wrong.mlir")
    assert e.value.location == tessera.Location("wrong.mlir", 4, 10)


def test_a_refused_op_of_jax_shows_the_line_of_python():
    step = jax.jit(
        lambda x: jax.pure_callback(lambda v: v, jax.ShapeDtypeStruct((4,), np.float32), x),  # the line
    )
    with pytest.raises(tessera.CompileError) as e:
        tessera.compile(step.lower(np.zeros(4, np.float32)))
    assert e.value.location is not None and e.value.location.file.endswith("test_errors.py")
    assert "# the line" in str(e.value)


def test_a_module_of_one_line_is_no_path():
    program = tessera.compile("func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }")
    assert [p.shape for p in program.inputs] == [(2,)]
    with pytest.raises(tessera.CompileError, match="1:27"):
        tessera.compile("func.func @main() { return 3 }")


def test_a_file_that_is_not_there_or_damaged(layer, tmp_path):
    with pytest.raises(FileNotFoundError):
        tessera.compile(tmp_path / "none.mlir")
    with pytest.raises(FileNotFoundError):
        tessera.Program.load(tmp_path / "none.tsr")
    damaged = bytearray(layer.to_bytes())
    damaged[len(damaged) // 2] ^= 1
    with pytest.raises(tessera.DataLossError):
        tessera.Program.from_bytes(bytes(damaged))
    with pytest.raises(tessera.Error):
        tessera.Program.from_bytes(b"no program")


def test_what_is_no_module(client):
    with pytest.raises(TypeError, match=r"tessera\.jit"):
        tessera.compile(lambda x: x)
    with pytest.raises(TypeError, match="no module: int"):
        tessera.compile(5)
    with pytest.raises(tessera.CompileError, match="target"):
        tessera.compile("func.func @main() { return }\n", target="toaster")
    with pytest.raises(NotImplementedError, match="toaster"):
        tessera.Client(device="toaster")


def test_a_compiler_that_cannot_be_loaded_names_debians_packages():
    text = """
import os, pathlib, sys, tessera.compiler
tessera.compiler._native.open_compiler = lambda path: "libLLVM.so.22.1: cannot open shared object file"
try:
    tessera.compile("func.func @main() { return }\\n")
except ImportError as e:
    print(e)
"""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert "apt-get install libllvm22" in done.stdout

