"""What a device holds is what the author had in mind: recomputation that was asked for stays where it frees memory,
results are memory until they are written, state that is donated is updated where it is. Bounds are in arrays of the
case's size; the numbers are as near to float64 as JAX's, and the runtime counts what the compiler says.
"""
import argparse
import json
import os
import sys
import tempfile

import export as exporting
import jax
import jax.numpy as jnp
import numpy as np
from compare import differ
from harness import Case, references, run_text
from jax.sharding import PartitionSpec as P
from models.mlp import RNG, normal

DATA = {"data": 8, "model": 1}
BOTH = {"data": 2, "model": 4}
LAYERS, WIDTH, ROWS = 6, 32, 4096
ACTIVATION = ROWS // 8 * WIDTH * 4


def checkpointed(block):
    """The gradient of an MLP whose blocks of so many layers are computed again."""
    def build(mesh):
        rng = RNG(block)
        weights = [normal(rng, WIDTH, WIDTH, scale=0.2) for _ in range(LAYERS)]
        x = normal(rng, ROWS, WIDTH)

        @jax.checkpoint
        def layers(x, weights):
            for w in weights:
                x = jnp.tanh(x @ w)
            return x

        def gradient(weights, x):
            def loss(weights):
                y = x
                for first in range(0, LAYERS, block):
                    y = layers(y, weights[first:first + block])
                return jnp.mean(y**2)

            return jax.grad(loss)(weights)

        return gradient, (weights, x), (P(), P("data")), P()

    return build


def momentum(mesh):
    """A step of an optimizer: as many bytes of state come as go."""
    rng = RNG(3)
    weights, speeds = ([normal(rng, 256, 256, scale=0.05) for _ in range(4)] for _ in range(2))
    x = normal(rng, 16, 256)

    def step(weights, speeds, x):
        def loss(weights):
            y = x
            for w in weights:
                y = jnp.tanh(y @ w)
            return jnp.mean(y**2)

        speeds = [0.9 * v + g for v, g in zip(speeds, jax.grad(loss)(weights))]
        return [w - 0.1 * v for w, v in zip(weights, speeds)], speeds

    return step, (weights, speeds, x), (P(), P(), P("data")), P()


def decoding(mesh):
    """A token through layers with caches, which are updated."""
    rng = RNG(4)
    layers, length, heads, width = 3, 64, 8, 8
    caches = [normal(rng, 4, length, heads, width) for _ in range(2 * layers)]
    weights = [normal(rng, heads * width, heads, width, scale=0.2) for _ in range(3 * layers)]
    x = normal(rng, 4, heads * width)

    def step(caches, weights, x, at):
        updated = []
        for layer in range(layers):
            q, k, v = (jnp.einsum("bd,dhk->bhk", x, w) for w in weights[3 * layer:3 * layer + 3])
            keys, values = (jax.lax.dynamic_update_slice_in_dim(c, part[:, None], at, 1)
                            for c, part in zip(caches[2 * layer:2 * layer + 2], (k, v)))
            scores = jnp.einsum("bhk,bthk->bht", q, keys)
            scores = jax.nn.softmax(jnp.where(jnp.arange(length) <= at, scores, -1e9), -1)
            x = x + jnp.einsum("bht,bthk->bhk", scores, values).reshape(x.shape)
            updated += [keys, values]
        return updated, x

    cache = P("data", None, "model")
    return step, (caches, weights, x, np.int32(9)), (cache, P(None, "model"), P("data"), P()), (cache, P("data"))


# case, donated, bytes of the array that is counted, how many of them temporaries and results may take; of what they take
# without overlap how much with it, where there is little to gain
CASES = [
    (Case("checkpoint_1", checkpointed(1), [DATA]), False, ACTIVATION, 6.5, 1.03),
    (Case("checkpoint_2", checkpointed(2), [DATA]), False, ACTIVATION, 4.5, 1.03),
    (Case("checkpoint_3", checkpointed(3), [DATA]), False, ACTIVATION, 4.5, 1.03),
    (Case("momentum", momentum, [DATA]), False, 256 * 256 * 4, 9.5, 1.03),
    (Case("momentum_donated", momentum, [DATA]), True, 256 * 256 * 4, 2.5, 2),
    (Case("decoding", decoding, [BOTH]), False, 2 * 64 * 2 * 8 * 4, 6.5, 1.03),
    (Case("decoding_donated", decoding, [BOTH]), True, 2 * 64 * 2 * 8 * 4, 0.5, 1.03),
]


def check(case, donated, array, most, most_for_overlap):
    """What is wrong or None, and how many arrays the program takes."""
    args, plain, exact = references(case, exporting.ones(case.meshes[0]))
    text = exporting.export(case.build, case.meshes[0], False, donated=donated)
    wrong, taken = None, {}
    with tempfile.TemporaryDirectory() as directory:
        for overlap in ("off", "auto"):
            failed, found = run_text(text, args, directory, (f"--overlap={overlap}",))
            wrong = wrong or failed
            if failed:
                return wrong, 0
            for got, reference, precise in zip(found, plain, exact):
                wrong = wrong or differ(got, reference, precise)
            with open(os.path.join(directory, "c.json")) as report:
                memory = json.load(report)["memory"]
            taken[overlap] = (memory["arena"] + memory["outputs"]) / array
    if max(taken.values()) > most:
        wrong = wrong or f"takes {taken}, at most {most} were expected"
    if taken["auto"] > most_for_overlap * taken["off"]:
        wrong = wrong or f"takes {taken['auto']:.2f} for overlap, {taken['off']:.2f} without"
    return wrong, taken["auto"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="cases; all when absent")
    names = parser.parse_args().names
    bad = 0
    for case, *bounds in CASES:
        if names and case.name not in names:
            continue
        wrong, taken = check(case, *bounds)
        bad += wrong is not None
        print(f"{case.name}: {wrong or 'ok'}, {taken:.2f} arrays", flush=True)
    sys.exit(bad != 0)


if __name__ == "__main__":
    main()
