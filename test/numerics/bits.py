"""The same input gives the same bits: from compiling twice, on one worker and on two, run after run, and from four
processes over MPI as from four devices of one process."""
import dataclasses
import filecmp
import os
import shutil
import subprocess
import tempfile
from typing import Callable

import export as exporting
import jax
import models
import numpy as np
from command_line import BIN
from harness import as_numpy, command

NAMES = ("mlp", "attention", "conv_block", "gated_cell", "experts", "embedding", "iterate", "ring_matmul")


EXAMPLE = os.path.join(os.path.dirname(__file__), "..", "..", "examples", "char_transformer")


@dataclasses.dataclass
class BitsCase:
    name: str
    meshes: list
    make: Callable  # (sizes, directory) -> (the module's text, its inputs)


def of_model(case):
    """On four devices, and on a mesh that divides nothing."""

    def make(sizes, directory):
        _, args, _, _ = case.build(exporting.make_mesh(exporting.ones(sizes)))
        return exporting.export(case.build, sizes, case.manual), [as_numpy(x) for x in jax.tree.leaves(args)]

    axes = list(case.meshes[0])
    four = dict(zip(axes, (2, 2))) if len(axes) == 2 else {axes[0]: 4}
    return BitsCase(case.name, [four] if case.manual else [four, dict.fromkeys(axes, 3)], make)


def demo(sizes, directory):
    """The first step of examples/char_transformer from the state that its init.mlir makes."""

    def read(name):
        with open(os.path.join(EXAMPLE, name)) as f:
            return exporting.with_sizes(f.read(), sizes)

    path = lambda name: os.path.join(directory, name)
    with open(path("init.mlir"), "w") as f:
        f.write(read("init.mlir"))
    np.savez(path("seed.npz"), in0=np.int32(0))
    wrong = command("compile", path("init.mlir"), "-o", path("init.tsr"))
    wrong = wrong or run(path("init.tsr"), path("seed.npz"), path("state.npz"), 2)
    if wrong:
        raise RuntimeError(wrong)
    with np.load(path("state.npz")) as state:
        inputs = [state[f"out{i}"] for i in range(len(state.files))]
    tokens = np.random.default_rng(0).integers(0, 60, (8, 65)).astype(np.int32)
    return read("train_step.mlir"), inputs + [tokens]


def cases():
    found = [of_model(case) for case in models.cases() if case.name in NAMES]
    return found + [BitsCase("char_transformer", [{"data": 2, "model": 2}], demo)]


def run(program, inputs, outputs, workers):
    """None, or the error line."""
    done = subprocess.run([os.path.join(BIN, "tessera"), "run", program, f"--inputs={inputs}", f"--outputs={outputs}"],
                          env=os.environ | {"TESSERA_WORKERS": str(workers)}, capture_output=True, text=True, timeout=300)
    return done.stderr.strip().splitlines()[-1] if done.returncode else None


def run_processes(program, inputs, outputs, count):
    environment = os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    done = subprocess.run(
        ["mpirun", "--oversubscribe", "-n", str(count), os.path.join(BIN, "tessera"), "run", program, "--comm=mpi",
         f"--inputs={inputs}", f"--outputs={outputs}"], env=environment, capture_output=True, text=True, timeout=300)
    lines = done.stderr.strip().splitlines()
    return (lines[0] if lines else "mpirun failed") if done.returncode else None


def differ(first, second):
    """None, or the first array whose bits differ."""
    with np.load(first) as a, np.load(second) as b:
        for name in a.files:
            if a[name].tobytes() != b[name].tobytes():
                return name
    return None


def check(case):
    for sizes in case.meshes:
        with tempfile.TemporaryDirectory() as directory:
            text, inputs = case.make(sizes, directory)
            yield sizes, check_program(text, inputs, int(np.prod(list(sizes.values()))), directory)


def check_program(text, inputs, count, directory):
    """None, or which bits differ, of a program for `count` devices."""
    path = lambda name: os.path.join(directory, name)
    with open(path("p.mlir"), "w") as f:
        f.write(text)
    np.savez(path("in.npz"), **{f"in{i}": x for i, x in enumerate(inputs)})
    for name in ("a.tsr", "b.tsr"):
        if wrong := command("compile", path("p.mlir"), "-o", path(name)):
            return wrong
    if not filecmp.cmp(path("a.tsr"), path("b.tsr"), shallow=False):
        return "compiling twice gives two programs"
    for name, workers in (("one", 1), ("two", 2), ("again", 2)):
        if wrong := run(path("a.tsr"), path("in.npz"), path(f"{name}.npz"), workers):
            return wrong
    for name, what in (("two", "on one worker and on two"), ("again", "in two runs")):
        if array := differ(path("one.npz"), path(f"{name}.npz")):
            return f"{array} has other bits {what}"
    if count == 4 and shutil.which("mpirun"):
        if wrong := run_processes(path("a.tsr"), path("in.npz"), path("mpi.npz"), count):
            return "over MPI: " + wrong
        if array := differ(path("one.npz"), path("mpi.npz")):
            return f"{array} has other bits over MPI"
    return None
