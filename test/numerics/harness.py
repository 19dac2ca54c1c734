"""Compiles and runs one case with Tessera's command line, and says how it differs from JAX."""
import dataclasses
import json
import os
import tempfile
from typing import Callable

import export as exporting
import jax
import jax.numpy as jnp
import numpy as np
from command_line import tessera
from compare import differ

@dataclasses.dataclass
class Case:
    name: str
    build: Callable  # mesh -> (function, args, in_specs, out_specs)
    meshes: list  # of {"axis": size}
    manual: bool = False  # holds a shard_map: exported on the mesh itself
    own_mesh: bool = False  # what it computes depends on the mesh, so JAX runs it on the mesh too
    exact: bool = True  # compare with the value in float64 too; off where more precision means another program
    refused: str = None  # not supported: the compiler must say this (docs/limits.md)
    labels: list = None  # names of the outputs, for messages


def as_numpy(x):
    x = np.asarray(x)
    return x.astype(np.float32) if x.dtype in (jnp.bfloat16, np.float16) else x


def command(*arguments):
    """None, or the error line."""
    done = tessera(*arguments)
    if done.returncode == 0:
        return None
    lines = [line for line in done.stderr.splitlines() if line.startswith("error:")]
    return lines[-1] if lines else f"exit code {done.returncode}: {done.stderr.strip()[-300:]}"


def run_text(text, args, directory, options=(), reports=False):
    """(error, outputs) of a module on these arguments, compiled with these options; the counters of run must equal the
    figures of compile, which come third if `reports`."""
    path = lambda name: os.path.join(directory, name)
    with open(path("p.mlir"), "w") as f:
        f.write(text)
    leaves = [as_numpy(x) for x in jax.tree.leaves(args)]
    np.savez(path("in.npz"), **{f"in{i}": x for i, x in enumerate(leaves)})
    wrong = command("compile", path("p.mlir"), "-o", path("p.tsr"), "--verify-each", f"--report={path('c.json')}",
                    *options)
    wrong = wrong or command("run", path("p.tsr"), f"--inputs={path('in.npz')}", f"--outputs={path('out.npz')}",
                             f"--report={path('r.json')}")
    if wrong:
        return (wrong, None, None) if reports else (wrong, None)
    with np.load(path("out.npz")) as found:
        outputs = [found[f"out{i}"] for i in range(len(found.files))]
    with open(path("c.json")) as c, open(path("r.json")) as r:
        compiled, ran = json.load(c), json.load(r)
    wrong = figures_differ(compiled, ran)
    return (wrong, outputs, compiled) if reports else (wrong, outputs)


def figures_differ(compiled, ran):
    """None, or which of the compiler's figures the runtime did not find."""
    for kind in ("collectives", "transfers"):
        sites = compiled[kind]
        if any(site["trips"] == "unknown" for site in sites):
            return None  # the compiler's figures are for one trip
        predicted = {key: sum(site[key] for site in sites) for key in ("count", "bytes")}
        if predicted != ran[kind]:
            return f"error: the compiler says {predicted}, the runtime counted {ran[kind]}: {kind}"
    for memory, peak in (("memory", "peak_bytes"), ("host_memory", "host_peak_bytes")):
        predicted = sum(compiled[memory].values())
        if predicted != ran[peak]:
            return f"error: the compiler says {predicted} bytes of {memory}, the runtime counted {ran[peak]}"
    return None


def widen(x):
    x = np.asarray(x)
    if jnp.issubdtype(x.dtype, jnp.complexfloating):
        return x.astype(np.complex128)
    return x.astype(np.float64) if jnp.issubdtype(x.dtype, jnp.floating) else x


def references(case, sizes):
    """JAX's own results on a mesh of these sizes: as they are, and in float64."""
    function, args, _, _ = case.build(exporting.make_mesh(sizes))
    plain = jax.tree.leaves(jax.jit(function)(*args))
    if not case.exact:
        return args, plain, [None] * len(plain)
    with jax.enable_x64(True):
        function, _, _, _ = case.build(exporting.make_mesh(sizes))
        exact = jax.tree.leaves(jax.jit(function)(*jax.tree.map(widen, args)))
    return args, plain, exact


def check(case):
    """Yields (mesh, None or what is wrong) for each mesh of a case; on every second one the arguments are donated."""
    args, plain, exact = references(case, exporting.ones(case.meshes[0]))
    for number, sizes in enumerate(case.meshes):
        if case.own_mesh:
            args, plain, exact = references(case, sizes)
        text = exporting.export(case.build, sizes, case.manual, donated=number % 2 == 1)
        with tempfile.TemporaryDirectory() as directory:
            wrong, outputs = run_text(text, args, directory)
        if case.refused:
            yield sizes, None if wrong and case.refused in wrong else f"should be refused: {case.refused}"
            continue
        if outputs is None:
            yield sizes, wrong
            continue
        if len(outputs) != len(plain):
            wrong = f"{len(outputs)} outputs, JAX has {len(plain)}"
        for i, (got, reference, precise) in enumerate(zip(outputs, plain, exact)):
            difference = differ(got, reference, precise)
            if difference:
                wrong = f"out{i}{' (' + case.labels[i] + ')' if case.labels else ''}: {difference}"
                break
        yield sizes, wrong
