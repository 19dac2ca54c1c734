"""How much of the collectives' time is hidden behind computation, as predicted and as measured on simulated links.

  overlap.py [NAME | FILE.mlir ..] [--share=0.5] [--steps=N] [--predicted]

Each program is run without links first, which says how fast this machine computes it on its eight devices; a topology is
made whose device is as fast and whose links take `share` of that time for the program's collectives. Then `--overlap=off`
and `auto` are compiled for it and run in turns, with its links simulated.

hidden: the part of the collectives' time that nobody waits for; predicted, from compile's report; measured, by how much
auto's step is longer than the same program's without links. (Not by what it saves of off's step: devices that share a core
compute while others wait, so that off hides some, too.) auto/off: their steps, predicted and measured (medians of rounds), and
their memory.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import programs
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec as P
from programs import normal

BIN = os.environ.get("TESSERA_BIN", os.path.join(os.path.dirname(__file__), "..", "build", "bin"))
LAYERS, WIDTH, HEADS, CHANNELS, HIDDEN = 6, 256, 8, 32, 704
COLUMNS = ("share", "hidden", "measured", "auto/off", "measured", "memory")


def constrain(mesh, *axes):
    return lambda x: jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P(*axes)))


def transformer(mesh, batch, length, specs, rows):
    """The gradient of layers in a scan, recomputed in the backward pass. `rows` says where a residual lies."""
    shapes = {"qkv": (3, WIDTH, HEADS, CHANNELS), "out": (HEADS, CHANNELS, WIDTH), "up": (2, WIDTH, HIDDEN),
              "down": (HIDDEN, WIDTH)}
    weights = {name: normal(i, LAYERS, *shape, scale=0.06) for i, (name, shape) in enumerate(shapes.items())}
    x = normal(9, batch, length, WIDTH)
    rows = constrain(mesh, *rows)

    def normed(x):
        return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6)

    def layer(x, w):
        q, k, v = jnp.einsum("btd,cdhk->cbthk", normed(x), w["qkv"])
        scores = jnp.einsum("bthk,bshk->bhts", q, k) * CHANNELS**-0.5
        scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e30)
        mixed = jnp.einsum("bhts,bshk->bthk", jax.nn.softmax(scores, -1), v)
        x = rows(x + jnp.einsum("bthk,hkd->btd", mixed, w["out"]))
        gate, up = jnp.einsum("btd,cdf->cbtf", normed(x), w["up"])
        return rows(x + (jax.nn.silu(gate) * up) @ w["down"]), None

    def step(weights, x):
        return jax.value_and_grad(lambda w: jnp.mean(jax.lax.scan(jax.checkpoint(layer), x, w)[0] ** 2))(weights)

    return mesh, step, (weights, x), (specs, P("data")), (P(), specs)


def fsdp(devices):
    """Weights and batch in parts on the same eight devices."""
    specs = {"qkv": P(None, None, "data"), "out": P(None, None, None, "data"), "up": P(None, None, "data"),
             "down": P(None, None, "data")}
    return transformer(programs.make_mesh(8, 1, devices), 8, 128, specs, ("data",))


def tensor(devices):
    """Megatron's tensor parallelism, with sequences in parts between the products."""
    specs = {"qkv": P(None, None, None, "model"), "out": P(None, "model"), "up": P(None, None, None, "model"),
             "down": P(None, "model")}
    return transformer(programs.make_mesh(2, 4, devices), 8, 128, specs, ("data", "model"))


def fsdp_tensor(devices):
    """Both: weights in parts over all eight devices."""
    specs = {"qkv": P(None, None, "data", "model"), "out": P(None, "model", None, "data"),
             "up": P(None, None, "data", "model"), "down": P(None, "model", "data")}
    return transformer(programs.make_mesh(2, 4, devices), 8, 128, specs, ("data", "model"))


def experts(devices):
    """Eight experts on eight devices, tokens exchanged before and after them, beside an expert that all tokens take."""
    mesh = programs.make_mesh(8, 1, devices)
    count, tokens, hidden = 8, 1024, 512
    shapes = {"route": (WIDTH, count), "up": (count, WIDTH, hidden), "down": (count, hidden, WIDTH),
              "all_up": (WIDTH, hidden), "all_down": (hidden, WIDTH)}
    weights = {name: normal(i, 4, *shape, scale=0.06) for i, (name, shape) in enumerate(shapes.items())}
    x = normal(9, count, tokens // count, WIDTH)
    capacity = tokens // count // count * 2
    by_tokens, by_experts = constrain(mesh, "data"), constrain(mesh, None, "data")

    def layer(x, w):
        chosen = jnp.argmax(jnp.einsum("gtd,de->gte", x, w["route"]), -1)
        places = jax.nn.one_hot(chosen, count)
        rank = jnp.cumsum(places, 1) * places - 1
        send = places[..., None] * jax.nn.one_hot(rank, capacity)
        sent = by_experts(jnp.einsum("gtec,gtd->gecd", send, x))
        done = by_experts(jnp.einsum("gecf,efd->gecd", jax.nn.silu(jnp.einsum("gecd,edf->gecf", sent, w["up"])), w["down"]))
        shared = jax.nn.silu(x @ w["all_up"]) @ w["all_down"]
        return by_tokens(x + shared + jnp.einsum("gtec,gecd->gtd", send, by_tokens(done))), None

    def step(weights, x):
        return jax.value_and_grad(lambda w: jnp.mean(jax.lax.scan(layer, x, w)[0] ** 2))(weights)

    specs = {"route": P(), "up": P(None, "data"), "down": P(None, "data"), "all_up": P(), "all_down": P()}
    return mesh, step, (weights, x), (specs, P("data")), (P(), specs)


def pipeline(devices):
    """Eight stages, sixteen micro-batches that are shifted from stage to stage in a scan."""
    mesh = programs.make_mesh(8, 1, devices)
    stages, micro, rows = 8, 16, 64
    weights = {"up": normal(0, stages, WIDTH, HIDDEN, scale=0.06), "down": normal(1, stages, HIDDEN, WIDTH, scale=0.06)}
    x = normal(2, micro, rows, WIDTH)
    by_stage = constrain(mesh, "data")

    def stage(w, x):
        return x + jax.nn.silu(x @ w["up"]) @ w["down"]

    def loss(weights, x):
        def tick(state, fed):
            state = by_stage(jnp.roll(state, 1, 0).at[0].set(fed))
            state = by_stage(jax.vmap(stage)(weights, state))
            return state, state[-1]

        fed = jnp.concatenate([x, jnp.zeros((stages - 1, rows, WIDTH))])
        return jnp.mean(jax.lax.scan(tick, jnp.zeros((stages, rows, WIDTH)), fed)[1][stages - 1:] ** 2)

    specs = {"up": P("data"), "down": P("data")}
    return mesh, jax.value_and_grad(loss), (weights, x), (specs, P()), (P(), specs)


PROGRAMS = {build.__name__: build for build in (fsdp, tensor, fsdp_tensor, experts, pipeline)}


class Program:
    """A module in a directory of its own, compiled in several ways."""

    def __init__(self, text):
        self.directory = tempfile.TemporaryDirectory()
        self.path("p.mlir").write_text(text)

    def path(self, name):
        return pathlib.Path(self.directory.name) / name

    def tessera(self, *arguments):
        done = subprocess.run([os.path.join(BIN, "tessera"), *map(str, arguments)], capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stderr)

    def compile(self, overlap, topology):
        self.path("topology.json").write_text(json.dumps(topology))
        self.tessera("compile", self.path("p.mlir"), "-o", self.path(f"{overlap}.tsr"), f"--overlap={overlap}",
                     f"--topology={self.path('topology.json')}", f"--report={self.path('c.json')}")
        return json.loads(self.path("c.json").read_text())

    def run(self, overlap, steps, links=True):
        options = [f"--topology={self.path('topology.json')}"] if links else []
        self.tessera("run", self.path(f"{overlap}.tsr"), f"--repeat={steps + 1}", f"--report={self.path('r.json')}", *options)
        return json.loads(self.path("r.json").read_text())["steps"][1:]


def topology_for(program, share, steps):
    """One whose device computes the program as fast as this machine does, with links for `share` of that time."""
    machine = {"alpha": 1e-6, "beta": 1e15, "flops": 1e10, "memory": 1e10}
    predicted = program.compile("off", machine)["predicted"]
    seconds = float(np.median(program.run("off", steps, links=False)))
    slower = seconds / predicted["compute"]
    machine |= {"flops": machine["flops"] / slower, "memory": machine["memory"] / slower, "beta": 1e9}
    for _ in range(3):  # what is sent depends on the links a little
        predicted = program.compile("off", machine)["predicted"]
        machine["beta"] *= predicted["communication"] / (share * predicted["compute"])
    return machine


def measure(text, share, steps, predicted_only):
    program = Program(text)
    topology = topology_for(program, share, steps)
    off, auto = (program.compile(overlap, topology) for overlap in ("off", "auto"))
    before, after = off["predicted"], auto["predicted"]
    row = {"share": before["communication"] / before["compute"],
           "hidden": 1 - after["exposed"] / after["communication"],
           "auto/off": after["seconds"] / before["seconds"],
           "memory": sum(auto["memory"].values()) / sum(off["memory"].values())}
    figures = [row["share"], row["hidden"], None, row["auto/off"], None, row["memory"]]
    if not predicted_only:
        rounds = [[np.median(program.run(*how)) for how in (("off", 3), ("auto", 3), ("auto", 3, False))]
                  for _ in range(max(1, steps // 3))]
        waited = float(np.median([auto - alone for _, auto, alone in rounds]))
        figures[2] = 1 - waited / after["communication"]
        figures[4] = float(np.median([auto / off for off, auto, _ in rounds]))
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="of the programs here, or files; the programs here when absent")
    parser.add_argument("--share", type=float, default=0.5, help="the collectives' time in computing's")
    parser.add_argument("--steps", type=int, default=12, help="that are timed of each")
    parser.add_argument("--predicted", action="store_true", help="time no overlap")
    arguments = parser.parse_args()
    print(f"{'':16s}" + "".join(f"{column:>10s}" for column in COLUMNS))
    for name in arguments.names or PROGRAMS:
        file = pathlib.Path(name)
        text = file.read_text() if file.suffix else programs.lower(PROGRAMS[name], 8)[0].as_text(debug_info=True)
        row = measure(text, arguments.share, arguments.steps, arguments.predicted)
        print(f"{file.stem:16s}" + "".join(f"{'-' if x is None else format(x, '.3f'):>10s}" for x in row), flush=True)


if __name__ == "__main__":
    sys.exit(main())
