"""How compile time grows: with the length of the program, with the number of devices, and beside XLA.

  scaling.py [--layers=48,96] [--devices=8,4096] [--runs=5] [--xla] [--stop-after=PHASE]

length: a training step of unrolled transformer layers. Ratios are to the row above: of seconds by the clock, and of processor seconds, which
other work on the machine changes little.
devices: the shorter program, its batch grown with the mesh so that what a device holds stays the same.
Times are the least of --runs rounds.
--stop-after: up to a phase only: --layers=160,320 --devices=8,65536 --stop-after=propagate is propagation of 37,000 lines and of twice as many.
--xla: XLA's compile of the longest program on one device, and ours of the same text, one after the other.
Needs build/bin and the Python environment that scripts/bootstrap makes.
"""
import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

import jax
import jax.numpy as jnp
from jax.sharding import AbstractMesh, NamedSharding, PartitionSpec as P

jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")
BIN = os.environ.get("TESSERA_BIN", os.path.join(os.path.dirname(__file__), "..", "build", "bin"))
WIDTH, HEADS, HIDDEN, LENGTH = 64, 4, 128, 32


def layer(x, weights):
    norm1, qkv, out, norm2, gate, up, down = weights
    h = x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * norm1
    q, k, v = (jnp.einsum("btd,dhk->bthk", h, w) for w in qkv)
    scores = jnp.einsum("bthk,bshk->bhts", q, k) * (WIDTH // HEADS) ** -0.5
    scores = jnp.where(jnp.tril(jnp.ones((LENGTH, LENGTH), bool)), scores, -1e30)
    x = x + jnp.einsum("bhts,bshk,hkd->btd", jax.nn.softmax(scores, -1), v, out)
    h = x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * norm2
    return x + (jax.nn.silu(h @ gate) * (h @ up)) @ down


def lower(layers, devices):
    """A training step lowered on a mesh of devices/4 x 4 (one device: none)."""
    data = max(1, devices // 4)
    float32 = lambda *shape: jax.ShapeDtypeStruct(shape, jnp.float32)
    head = float32(WIDTH, HEADS, WIDTH // HEADS)
    weights = [(float32(WIDTH), (head,) * 3, float32(HEADS, WIDTH // HEADS, WIDTH), float32(WIDTH),
                float32(WIDTH, HIDDEN), float32(WIDTH, HIDDEN), float32(HIDDEN, WIDTH))] * layers
    by_head = P(None, "model", None)
    specs = [(P(), (by_head,) * 3, P("model"), P(), P(None, "model"), P(None, "model"), P("model"))] * layers

    def step(weights, x):
        def loss(weights):
            h = x
            for w in weights:
                h = layer(h, w)
            return jnp.mean(h**2)

        value, gradient = jax.value_and_grad(loss)(weights)
        return jax.tree.map(lambda w, g: w - 0.1 * g, weights, gradient), value

    x = float32(2 * data, LENGTH, WIDTH)
    if devices == 1:
        return jax.jit(step).lower(weights, x)
    mesh = AbstractMesh((data, 4), ("data", "model"))
    place = lambda tree: jax.tree.map(lambda s: NamedSharding(mesh, s), tree, is_leaf=lambda s: isinstance(s, P))
    jitted = jax.jit(step, in_shardings=(place(specs), place(P("data"))), out_shardings=(place(specs), place(P())))
    return jitted.trace(weights, x).lower(lowering_platforms=("cpu",))


def compile_ours(text, directory, stop_after=None):
    """Seconds of a compile, processor seconds, and seconds of each of its phases."""
    path = lambda name: os.path.join(directory, name)
    with open(path("p.mlir"), "w") as f:
        f.write(text)
    used = lambda: sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
    before, start = used(), time.perf_counter()
    subprocess.run([os.path.join(BIN, "tessera"), "compile", path("p.mlir"), "-o", path("p.tsr"), "--quiet",
                    f"--report={path('r.json')}"] + ([f"--stop-after={stop_after}"] if stop_after else []), check=True, stdout=subprocess.DEVNULL)
    seconds, processors = time.perf_counter() - start, used() - before
    with open(path("r.json")) as r:
        return seconds, processors, {phase["name"]: phase["seconds"] for phase in json.load(r)["phases"]}


def quickest(texts, directory, runs, stop_after):
    """Of each text its quickest compile, and the least processor seconds. They take turns, so that a machine that slows down slows them alike."""
    rounds = [[compile_ours(text, directory, stop_after) for text in texts] for _ in range(runs)]
    for results in zip(*rounds):
        seconds, _, phases = min(results, key=lambda result: result[0])
        yield seconds, min(processors for _, processors, _ in results), phases


def show(label, text, result, before):
    seconds, processors, phases = result
    parts = "  ".join(f"{name} {value:.2f}" for name, value in phases.items() if value >= 0.05)
    ratios = [f"x{now / then:.2f}" for now, then in zip(result[:2], before[:2])] if before else ["", ""]
    print(f"{label:18s}{text.count(chr(10)):8d} lines {seconds:7.2f} s {ratios[0]:>6s} processors {processors:7.2f} s {ratios[1]:>6s}   {parts}", flush=True)


def main():
    numbers = lambda text: [int(n) for n in text.split(",") if n]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layers", type=numbers, default=[48, 96])
    parser.add_argument("--devices", type=numbers, default=[8, 4096])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--xla", action="store_true")
    parser.add_argument("--stop-after")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        for label, cases in (("layers", [(n, 8) for n in arguments.layers]),
                             ("devices", [(min(arguments.layers), n) for n in arguments.devices])):
            texts = [lower(layers, devices).as_text(debug_info=True) for layers, devices in cases]
            before = None
            for (layers, devices), text, result in zip(cases, texts, quickest(texts, directory, arguments.runs, arguments.stop_after)):
                show(f"{label} {layers if label == 'layers' else devices}", text, result, before)
                before = result
        if arguments.xla:
            lowered = lower(max(arguments.layers), 1)
            text = lowered.as_text(debug_info=True)
            start, before = time.perf_counter(), time.process_time()
            lowered.compile()
            show("XLA, 1 device", text, theirs := (time.perf_counter() - start, time.process_time() - before, {}), None)
            show("ours, 1 device", text, compile_ours(text, directory), theirs)


if __name__ == "__main__":
    sys.exit(main())
