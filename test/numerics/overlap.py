"""Collectives beside computation, in loops and across their trips: the same bits with `--overlap=off`, `auto` and
`on` (but where products became rings, whose sums have an order of their own), as near to float64 as JAX; figures of the
compiler that the runtime counts, too.

Links are so slow that loops are worth rotating (passes/order): a test in which none is would show nothing, so the
programs say how many must be."""
import argparse
import json
import os
import re
import sys
import tempfile

import export as exporting
import jax
import jax.numpy as jnp
import numpy as np
from command_line import tessera
from compare import differ
from harness import Case, references, run_text
from jax.sharding import NamedSharding, PartitionSpec as P
from models.mlp import RNG, normal
from page import run_page

TOPOLOGY = {"name": "slow links", "alpha": 1e-6, "beta": 2e8, "flops": 2e9, "memory": 1e10}
ONE = [{"data": 4, "model": 1}, {"data": 3, "model": 1}]
TWO = [{"data": 2, "model": 2}, {"data": 3, "model": 2}]


def rows(mesh):
    return lambda x: jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P("data")))


def layers(trips, specs, checkpoint=False):
    """The gradient of layers under a scan: weights are gathered in each trip, gradients reduced."""
    def build(mesh):
        rng = RNG(trips)
        width, hidden, batch = 24, 52, 12
        weights = {"gain": np.ones((trips, width), np.float32), "up": normal(rng, trips, width, hidden, scale=0.2),
                   "down": normal(rng, trips, hidden, width, scale=0.2)}
        x = normal(rng, batch, width)

        def layer(x, w):
            h = x * jax.lax.rsqrt(jnp.mean(jnp.square(x), -1, keepdims=True) + 1e-6) * w["gain"]
            return rows(mesh)(x + jnp.tanh(h @ w["up"]) @ w["down"]), jnp.mean(x)

        def step(weights, x):
            def loss(weights):
                y, means = jax.lax.scan(jax.checkpoint(layer) if checkpoint else layer, x, weights)
                return jnp.mean(y**2) + jnp.sum(means)

            return jax.value_and_grad(loss)(weights)

        return step, (weights, x), (specs, P("data")), (P(), specs)

    return build


SHARDED = {"gain": P(), "up": P(None, "data"), "down": P(None, None, "data")}
REPLICATED = {"gain": P(), "up": P(), "down": P()}
BOTH = {"gain": P(), "up": P(None, "data", "model"), "down": P(None, "model", "data")}


def swapped(mesh):
    """What a trip carries changes places, is passed on unchanged, and is read two trips later."""
    rng = RNG(11)
    a, b, w = normal(rng, 12, 20), normal(rng, 12, 20), normal(rng, 6, 20, 20, scale=0.2)

    def step(a, b, w):
        def trip(carry, w):
            a, b, before, count = carry
            new = rows(mesh)(jnp.tanh(a @ w) + 0.5 * before)
            return (b, new, a, count + 2), (jnp.sum(b), count)

        return jax.lax.scan(trip, (a, b, jnp.ones_like(a), 3), w, reverse=True)

    return step, (a, b, w), (P("data"), P("data"), P(None, "data")), None


def nested(mesh):
    """A loop in a loop, both with collectives; the inner one's weights are the outer one's."""
    rng = RNG(12)
    x, w, v = normal(rng, 12, 20), normal(rng, 4, 20, 20, scale=0.2), normal(rng, 3, 20, 20, scale=0.2)

    def step(x, w, v):
        def outer(x, w):
            x, sums = jax.lax.scan(lambda x, v: (rows(mesh)(jnp.tanh(x @ w + x @ v)), jnp.sum(x)), x, v)
            return rows(mesh)(jnp.sin(x @ w)), sums

        return jax.lax.scan(outer, x, w)

    return step, (x, w, v), (P("data"), P(None, "data"), P(None, None, "data")), None


def counted_by_data(trips):
    """How often the loop runs is not known, or is never."""
    def build(mesh):
        rng = RNG(13)
        x, w = normal(rng, 12, 20), normal(rng, 5, 20, 20, scale=0.2)

        def step(x, w, trips):
            return jax.lax.fori_loop(0, trips, lambda i, x: rows(mesh)(jnp.tanh(x @ w[i % 5])), x)

        return step, (x, w, np.int32(trips)), (P("data"), P(None, "data"), P()), None

    return build


def branching(mesh):
    """A conditional in the trip, beside the gather."""
    rng = RNG(14)
    x, w = normal(rng, 12, 20), normal(rng, 5, 20, 20, scale=0.2)

    def step(x, w):
        def trip(x, element):
            i, w = element
            y = rows(mesh)(jnp.tanh(x @ w))
            return jax.lax.cond(i % 2 == 0, lambda: jnp.sin(y), lambda: y + x), jnp.max(y)

        return jax.lax.scan(trip, x, (jnp.arange(5), w))

    return step, (x, w), (P("data"), P(None, "data")), None


def stages(width):
    """A pipeline: what a stage has computed is handed to the next in parts, where its columns have such."""
    def build(mesh):
        rng = RNG(15)
        weights, x = normal(rng, 4, width, width, scale=0.1), normal(rng, 6, 20, width)
        by_stage = lambda x: jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P("data")))

        def step(weights, x):
            def tick(state, fed):
                state = by_stage(jnp.roll(state, 1, 0).at[0].set(fed))
                state = by_stage(state + jnp.tanh(jnp.einsum("srd,sde->sre", state, weights)))
                return state, state[-1]

            return jax.lax.scan(tick, jnp.zeros((4, 20, width)), x)

        return step, (weights, x), (P("data"), P()), None

    return build


# (case, loops rotated at least in all its meshes together)
CASES = [
    (Case("layers_1", layers(1, SHARDED), ONE[:1]), 0),
    (Case("layers_2", layers(2, SHARDED), ONE[:1]), 0),
    (Case("layers_5", layers(5, SHARDED), ONE), 1),
    (Case("layers_both", layers(3, BOTH), TWO), 1),
    (Case("layers_checkpoint", layers(4, SHARDED, checkpoint=True), ONE[:1]), 1),
    (Case("layers_replicated", layers(5, REPLICATED), ONE), 1),
    (Case("swapped", swapped, ONE), 1),
    (Case("nested", nested, ONE[:1]), 1),
    (Case("unknown_7", counted_by_data(7), ONE[:1]), 0),
    (Case("unknown_0", counted_by_data(0), ONE[:1]), 0),
    (Case("stages_128", stages(128), ONE[:1]), 1),
    (Case("stages_129", stages(129), ONE[:1]), 0),
    (Case("branching", branching, ONE[:1]), 1),
]


def loops(text, path, overlap, topology):
    """The trips of all loops, and whether shards travel around a ring in one."""
    with open(path, "w") as file:
        file.write(text)
    done = tessera("compile", path, "-o", path + ".tsr", f"--topology={topology}", f"--overlap={overlap}",
                   "--print-after=order")
    printed = done.stdout + done.stderr
    return [int(n) for n in re.findall(r"#tessera.trip_count<(\d+)>", printed)], bool(re.search(r"comm.start\s+shift", printed))


def check(case):
    """Yields (mesh, what is wrong or None, loops that were rotated)."""
    args, plain, exact = references(case, exporting.ones(case.meshes[0]))
    for number, sizes in enumerate(case.meshes):
        text = exporting.export(case.build, sizes, False, donated=number % 2 == 1)
        with tempfile.TemporaryDirectory() as directory:
            topology = os.path.join(directory, "topology.json")
            with open(topology, "w") as file:
                json.dump(TOPOLOGY, file)
            wrong, found, trips, rings = None, {}, {}, {}
            for overlap in ("off", "auto", "on"):
                options = (f"--topology={topology}", f"--overlap={overlap}")
                failed, found[overlap] = run_text(text, args, directory, options)
                wrong = wrong or (failed and f"{overlap}: {failed}")
                trips[overlap], rings[overlap] = loops(text, os.path.join(directory, "q.mlir"), overlap, topology)
        if not wrong:
            for overlap in ("off", "auto", "on"):
                for got, reference, precise in zip(found[overlap], plain, exact):
                    wrong = wrong or differ(got, reference, precise)
                if rings[overlap] == rings["off"] and any(a.tobytes() != b.tobytes() for a, b in zip(found["off"], found[overlap])):
                    wrong = f"other bits with --overlap={overlap}"
        yield sizes, wrong, sum(a != b for a, b in zip(trips["off"], trips["on"]))


def look_at_page(path):
    """None, or what is wrong with what the example of docs/overlap.md leaves: its loop is rotated, and moves as much."""
    if "trip_count<7>" not in (path / "auto.mlir").read_text():
        return "no loop was rotated"
    counted = [json.loads((path / f"{name}.json").read_text())["collectives"] for name in ("off", "auto")]
    return None if counted[0] == counted[1] else f"other collectives: {counted}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="cases; all when absent")
    names = parser.parse_args().names
    bad = 0
    for case, least in CASES:
        if names and case.name not in names:
            continue
        rotated = 0
        for sizes, wrong, loops in check(case):
            rotated += loops
            bad += wrong is not None
            print(f"{case.name} on {sizes}: {wrong or 'ok'}, {loops} loops rotated", flush=True)
        if rotated < least:
            bad += 1
            print(f"{case.name}: {rotated} loops rotated, at least {least} should be")
    if not names:
        wrong = run_page("overlap.md", "layers.py", look_at_page)
        bad += wrong is not None
        print(f"docs/overlap.md: {wrong or 'ok'}")
    sys.exit(bad != 0)


if __name__ == "__main__":
    main()
