"""Programs: what they say of themselves, their files, and every form of module that is compiled."""

import ctypes
import pathlib
import pickle
import re
import subprocess
import sys

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pytest
import tessera
from conftest import sharded

W, X = np.ones((16, 12), np.float32), np.ones((6, 16), np.float32)


def lowered():
    function = jax.jit(
        lambda w, x: jnp.tanh(x @ w), in_shardings=(sharded("model"), sharded("data", "model")), out_shardings=sharded("data")
    )
    return function.lower(W, X)


def test_every_form_of_module(client, tmp_path):
    module = lowered()
    text = module.as_text(debug_info=True)
    path = tmp_path / "step.mlir"
    path.write_text(text)
    exported = jax.export.export(jax.jit(lambda w, x: jnp.tanh(x @ w)))(W, X)
    for form in (module, text, text.encode(), path, str(path), exported, exported.mlir_module_serialized):
        (y,) = client.load(tessera.compile(form))(W, X)
        np.testing.assert_allclose(y, np.tanh(X @ W), rtol=1e-6)


def test_what_it_says_of_itself():
    program = tessera.compile(lowered())
    mesh = tessera.Mesh({"data": 2, "model": 4})
    assert program.devices == 8 and program.mesh == mesh
    w, x = program.inputs
    assert (w.name, w.dtype, w.shape, w.nbytes) == ("w", np.float32, (16, 12), 768)
    assert w.sharding == tessera.Sharding(mesh, ["model", None]) and x.sharding.spec == (("data",), ("model",))
    assert not w.donated and program.outputs[0].sharding.spec == (("data",), ())


def test_donation_and_aliases(update):
    state, x = update.inputs
    assert state.donated and not x.donated
    assert [output.alias for output in update.outputs] == ["state", None]


def test_the_report(tmp_path):
    program = tessera.compile(lowered())
    report = program.report
    assert report.devices == 8 and report.phases and report.memory.arguments == 768 // 4 + 6 * 16 * 4 // 8
    (site,) = report.collectives
    assert site.kind == "all-reduce" and site.axes == "model" and site.bytes == 3 * 12 * 4
    assert "test_programs.py" in site.location
    text = str(report)
    assert "all-reduce" in text and "memory a device" in text and "1 collectives" not in repr(report)
    html = report._repr_html_()
    assert html.count("<table>") == 2 and "all-reduce" in html
    program.save(tmp_path / "p.tsr")
    again = tessera.Program.load(tmp_path / "p.tsr").report
    assert again.collectives == report.collectives and again.memory == report.memory and not again.phases


def test_files(client, layer, tmp_path):
    path = tmp_path / "layer.tsr"
    layer.save(path)
    assert path.read_bytes() == layer.to_bytes()
    assert [p.name for p in tmp_path.iterdir()] == ["layer.tsr"]
    import hashlib

    digest = hashlib.sha256(layer.to_bytes()).hexdigest()
    loaded = tessera.Program.load(path, sha256=digest)
    assert loaded.inputs == layer.inputs and loaded.outputs == layer.outputs
    with pytest.raises(tessera.DataLossError, match="SHA-256"):
        tessera.Program.load(path, sha256="0" * 64)
    again = pickle.loads(pickle.dumps(loaded))
    np.testing.assert_array_equal(client.load(again)(W, X)[0], client.load(layer)(W, X)[0])


def test_options():
    text = "func.func @other(%x: tensor<?xf32>) -> tensor<?xf32> { return %x : tensor<?xf32> }\n"
    program = tessera.compile(text, entry="other", input_shapes="in0:4xf32", target_cpu="x86-64-v3")
    assert program.inputs[0].shape == (4,)
    assert tessera.compile(lowered(), topology="h100", overlap="off", memory="80GB").report.predicted["seconds"] > 0
    for wrong in ({"overlap": "most"}, {"memory": "much"}, {"topology": "h101"}):
        with pytest.raises(tessera.CompileError, match=next(iter(wrong))):
            tessera.compile(lowered(), **wrong)


@pytest.mark.parametrize("text, wrong", [
    ('{"alpha": 1e-6,}', ":1:16: a member's name in quotation marks is expected"),
    ('{"alpha": "x"}', ":1:11: 'alpha'"),
    ('{"spaces":\n {"moon": {}}}', ":2:11: no memory 'moon'"),
    ('{"alpha": 1e-6, "alpha": 2e-6}', ":1:17: 'alpha' is there twice"),
    ("", ":1:2: "),
])
def test_a_wrong_topology_is_named(tmp_path, text, wrong):
    path = tmp_path / "pod.json"
    path.write_text(text)
    with pytest.raises(tessera.CompileError, match="pod.json" + wrong):
        tessera.compile(lowered(), topology=path)


def test_advice_names_keywords():
    with pytest.raises(tessera.CompileError, match=r" Allow memory=\d+"):
        tessera.compile(lowered(), memory=1)
    with pytest.raises(tessera.CompileError, match="target_cpu=z80: .* `tessera compile --target-cpu=help` lists"):
        tessera.compile(lowered(), target_cpu="z80")


@pytest.mark.parametrize("cpu", ["x86-64-v4", "sapphirerapids"])
def test_a_program_for_another_processor_is_made_and_saved(client, tmp_path, cpu):
    program = tessera.compile("func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }", target_cpu=cpu)
    program.save(tmp_path / "p.tsr")
    again = tessera.Program.load(tmp_path / "p.tsr")
    assert again.inputs == program.inputs and again.inputs[0].shape == (4,)
    assert again.report.raw["target"]["processors"][0]["cpu"] == cpu
    try:
        tessera._native.Program(again.to_bytes())
    except tessera.FailedPreconditionError:  # this machine is none
        with pytest.raises(tessera.FailedPreconditionError, match=f"compiled for CPU '{cpu}'"):
            client.load(again)
    else:
        assert client.load(again) is not None


def test_a_kernel_from_outside_says_why_it_is_not_called(client):
    library = ctypes.CDLL(next(pathlib.Path(tessera.__file__).parent.glob("libtessera_runtime.so*")))
    called = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32)(lambda *_: 0)

    class Options(ctypes.Structure):  # tessera_kernel_options
        _fields_ = [("size", ctypes.c_size_t), ("user", ctypes.c_void_p), ("scratch", ctypes.c_int64), ("check", ctypes.c_void_p)]

    options = Options(ctypes.sizeof(Options), None, 24, None)
    assert library.tessera_register_kernel(b"of_24_bytes", called, ctypes.byref(options)) == 0
    program = tessera.compile(
        "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
        "  %y = stablehlo.custom_call @of_24_bytes(%x) : (tensor<4xf32>) -> tensor<4xf32>\n"
        "  return %y : tensor<4xf32>\n}"
    )
    with pytest.raises(tessera.FailedPreconditionError, match="needs 24 bytes of scratch"):
        client.load(program)


def test_explain():
    explanation = tessera.explain(lowered())
    assert "all-reduce" in explanation.text and "all-reduce" in str(explanation)
    assert explanation.html.startswith("<!") and "<iframe" in explanation._repr_html_()
    assert "model" in explanation.value("w")
    with pytest.raises(KeyError, match="no value 'nothing'"):
        explanation.value("nothing")
    with pytest.raises(KeyError, match="made nothing"):
        explanation.line("test_programs.py", 1)
    assert "were compiled" in explanation.text or "was compiled" in explanation.text
    plain = tessera.explain(lowered(), mends=False)
    assert "compiled" not in plain.text
    assert "at the peak" in plain.memory and "What less memory costs" not in plain.memory


def test_what_less_memory_costs():
    def loss(w, x):
        for _ in range(6):
            x = jnp.tanh(x @ w)
            x = x * jnp.cos(x)
        return x.sum()

    module = jax.jit(jax.grad(loss)).lower(np.zeros((64, 64), np.float32), np.zeros((512, 64), np.float32))
    explanation = tessera.explain(module, mends=False, frontier=True)
    assert "What less memory costs" in explanation.memory
    bound = re.search(r" memory=(\d+)", explanation.memory)
    assert bound and bound[1] in explanation.html and "--memory=" not in explanation.memory
    assert tessera.compile(module, memory=bound[1]).report.memory


def test_importing_is_light():
    text = "import sys, tessera; print([m for m in ('jax', 'scipy', 'torch') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True).stdout == "[]\n"
