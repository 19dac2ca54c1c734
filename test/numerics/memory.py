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
from harness import Case, command, references, run_text
from jax.sharding import PartitionSpec as P
from models.mlp import RNG, normal

DATA = {"data": 8, "model": 1}
BOTH = {"data": 2, "model": 4}
LAYERS, WIDTH, ROWS = 6, 32, 4096
ACTIVATION = ROWS // 8 * WIDTH * 4
LARGE = 16 << 20


def gradient_by_blocks(block, activation):
    """Of an MLP whose blocks of so many layers are computed again."""
    @jax.checkpoint
    def layers(x, weights):
        for w in weights:
            x = activation(x @ w)
        return x

    def gradient(weights, x):
        def loss(weights):
            y = x
            for first in range(0, LAYERS, block):
                y = layers(y, weights[first:first + block])
            return jnp.mean(y**2)

        return jax.grad(loss)(weights)

    return gradient


def checkpointed(block):
    def build(mesh):
        rng = RNG(block)
        weights = [normal(rng, WIDTH, WIDTH, scale=0.2) for _ in range(LAYERS)]
        x = normal(rng, ROWS, WIDTH)
        return gradient_by_blocks(block, jnp.tanh), (weights, x), (P(), P("data")), P()

    return build


def checkpointed_large(block, activation):
    """The same of shapes alone: six weights of 256 KB, and 16 MiB of each layer's values on a device."""
    def build(mesh):
        weights = [jax.ShapeDtypeStruct((256, 256), jnp.float32)] * LAYERS
        x = jax.ShapeDtypeStruct((8 * LARGE // (256 * 4), 256), jnp.float32)
        return gradient_by_blocks(block, activation), (weights, x), (P(), P("data")), P()

    return build


def frozen_large(mesh):
    """The gradient of what goes into layers whose weights lie in parts and stay as they are; shapes alone."""
    weights = [jax.ShapeDtypeStruct((256, 256), jnp.float32)] * LAYERS
    x = jax.ShapeDtypeStruct((8 * LARGE // (256 * 4), 256), jnp.float32)

    def gradient(weights, x):
        def loss(x):
            for w in weights:
                x = jax.nn.relu(x @ w)
            return jnp.mean(x**2)

        return jax.grad(loss)(x)

    return gradient, (weights, x), (P("data"), P("data")), P("data")


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

# activation, layers of a block, the arrays that an order which keeps what the author keeps holds at least: results of all
# blocks but the last, and of a block's layers those that the gradient reads: an activation's result, where that tells its
# derivative, otherwise what it is of, too. The last layer's lies where its gradient does; x is an argument.
LEAST_ARRAYS = [
    (jnp.tanh, 1, 5 + 1), (jnp.tanh, 2, 2 + 2), (jnp.tanh, 3, 1 + 3), (jnp.tanh, 6, 6),
    (jax.nn.relu, 1, 5 + 1), (jax.nn.relu, 2, 2 + 2), (jax.nn.relu, 3, 1 + 3), (jax.nn.relu, 6, 6),
    (jax.nn.silu, 1, 5 + 1), (jax.nn.silu, 2, 2 + 3), (jax.nn.silu, 3, 1 + 5), (jax.nn.silu, 6, 11),
    (jax.nn.gelu, 1, 5 + 1), (jax.nn.gelu, 2, 2 + 3), (jax.nn.gelu, 3, 1 + 5), (jax.nn.gelu, 6, 11),
]


# Without gradients of weights nothing but signs of each layer's values stays, a byte for four, but the last layer's result:
# its gradient is computed of that, and lies there. Gathered weights may stay, too.
FROZEN_ARRAYS = (LAYERS - 1) / 4 + 1 + LAYERS * (256 * 256 * 4) / LARGE


def check_large(build, least):
    """What is wrong with how much temporaries take, whether collectives overlap or not, or None."""
    text = exporting.export(build, DATA, False)
    with tempfile.TemporaryDirectory() as directory:
        path = lambda name: os.path.join(directory, name)
        with open(path("p.mlir"), "w") as f:
            f.write(text)
        for overlap in ("off", "auto"):
            wrong = command("compile", path("p.mlir"), "-o", path("p.tsr"), f"--report={path('c.json')}",
                            f"--overlap={overlap}")
            if wrong:
                return wrong
            with open(path("c.json")) as report:
                arena = json.load(report)["memory"]["arena"]
            if arena > least * LARGE + 256 * 256 * 4:  # and a gradient that is reduced meanwhile
                return f"takes {arena / LARGE:.2f} arrays with --overlap={overlap}, {least:.2f} are needed"
    return None


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
    large = {f"{activation.__name__}_{block}": (checkpointed_large(block, activation), least)
             for activation, block, least in LEAST_ARRAYS}
    large["frozen"] = (frozen_large, FROZEN_ARRAYS)
    for name, (build, least) in large.items():
        if names and name not in names:
            continue
        wrong = check_large(build, least)
        bad += wrong is not None
        print(f"{name}: {wrong or 'ok'}", flush=True)
    sys.exit(bad != 0)


if __name__ == "__main__":
    main()
