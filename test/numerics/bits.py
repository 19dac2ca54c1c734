"""The same input gives the same bits: from compiling twice, on one worker and on two, run after run, and from four
processes over MPI as from four devices of one process."""
import dataclasses
import filecmp
import os
import shutil
import subprocess
import tempfile

import export as exporting
import jax
import models
import numpy as np
from harness import BIN, as_numpy, command

NAMES = ("mlp", "attention", "conv_block", "gated_cell", "experts", "embedding", "iterate", "ring_matmul")


def cases():
    """Cases of models/, on four devices and on one mesh that divides nothing."""
    found = []
    for case in models.cases():
        if case.name in NAMES:
            axes = list(case.meshes[0])
            meshes = [dict(zip(axes, (2, 2)))] if len(axes) == 2 else [{axes[0]: 4}]
            found.append(dataclasses.replace(case, meshes=meshes if case.manual else meshes + [dict.fromkeys(axes, 3)]))
    return found


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
            yield sizes, check_in(case, sizes, lambda name: os.path.join(directory, name))


def check_in(case, sizes, path):
    text = exporting.export(case.build, sizes, case.manual)
    _, args, _, _ = case.build(exporting.make_mesh(exporting.ones(sizes)))
    with open(path("p.mlir"), "w") as f:
        f.write(text)
    np.savez(path("in.npz"), **{f"in{i}": as_numpy(x) for i, x in enumerate(jax.tree.leaves(args))})
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
    count = int(np.prod(list(sizes.values())))
    if count == 4 and shutil.which("mpirun"):
        if wrong := run_processes(path("a.tsr"), path("in.npz"), path("mpi.npz"), count):
            return "over MPI: " + wrong
        if array := differ(path("one.npz"), path("mpi.npz")):
            return f"{array} has other bits over MPI"
    return None
