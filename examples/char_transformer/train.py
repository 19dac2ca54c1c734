"""A character-level transformer of about 1 M parameters, trained on eight devices: 2 of them share a batch (data), 4 a
layer (model), as in Megatron-LM (Shoeybi et al., 2019).

  python train.py            writes init.mlir, train_step.mlir and losses.json beside this file

init.mlir makes the state from a seed; train_step.mlir takes (state, tokens) to (state, loss) and donates the state.
Nothing in them knows Tessera. losses.json holds what JAX gets for the same steps on the same data, and what the
C++ program must know of the shapes. Run it again after a change here, and commit what it writes.
"""
import json
import os
import time

DEVICES = 8
os.environ.setdefault("XLA_FLAGS", f"--xla_force_host_platform_device_count={DEVICES}")
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec as P

HERE = os.path.dirname(os.path.abspath(__file__))
LAYERS, WIDTH, HEADS, HIDDEN, VOCABULARY = 5, 128, 4, 512, 64
BATCH, LENGTH, STEPS = 8, 64, 300
RATE, WARM_UP, DROPOUT = 3e-3, 20, 0.1

jax.config.update("jax_default_prng_impl", "threefry2x32")
jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")  # file names without directories
jax.config.update("jax_traceback_in_locations_limit", 1)

mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
SHARDINGS = {
    "embedding": P("model", None),  # by rows: each device looks up its part of the alphabet
    "position": P(),
    "qkv": P(None, None, None, "model", None),  # layer, which, width, head, channel
    "proj": P(None, "model", None, None),
    "up": P(None, None, "model"),
    "down": P(None, "model", None),
    "norm": P(),
    "head": P(None, "model"),
}


def init(seed):
    """The state before the first step: parameters, the two moments of Adam, the step's number."""
    keys = iter(jax.random.split(jax.random.key(seed), 8))
    channels = WIDTH // HEADS

    def normal(shape, deviation):
        return deviation * jax.random.normal(next(keys), shape, jnp.float32)

    parameters = {
        "embedding": normal((VOCABULARY, WIDTH), 0.1),
        "position": normal((LENGTH, WIDTH), 0.1),
        "qkv": normal((LAYERS, 3, WIDTH, HEADS, channels), WIDTH**-0.5),
        "proj": normal((LAYERS, HEADS, channels, WIDTH), (2 * LAYERS * WIDTH) ** -0.5),
        "up": normal((LAYERS, WIDTH, HIDDEN), WIDTH**-0.5),
        "down": normal((LAYERS, HIDDEN, WIDTH), (2 * LAYERS * HIDDEN) ** -0.5),
        "norm": jnp.ones((LAYERS, 2, WIDTH), jnp.float32),
        "head": normal((WIDTH, VOCABULARY), WIDTH**-0.5),
    }
    zeros = jax.tree.map(jnp.zeros_like, parameters)
    return {"parameters": parameters, "mean": zeros, "square": zeros, "step": jnp.int32(0)}


def normalize(x, gain):
    return x * jax.lax.rsqrt(jnp.mean(jnp.square(x), -1, keepdims=True) + 1e-6) * gain


def dropout(x, key):
    return jnp.where(jax.random.bernoulli(key, 1 - DROPOUT, x.shape), x / (1 - DROPOUT), 0)


def layer(x, weights):
    """Causal attention, then an MLP, each on the residual stream. The four devices of `model` hold a head each."""
    key_attention, key_mlp = jax.random.split(weights["key"])
    h = normalize(x, weights["norm"][0])
    q, k, v = jnp.einsum("btd,cdhk->cbthk", h, weights["qkv"])
    scores = jnp.einsum("bthk,bshk->bhts", q, k) * q.shape[-1] ** -0.5
    scores = jnp.where(jnp.tril(jnp.ones((LENGTH, LENGTH), bool)), scores, -1e30)
    mixed = jnp.einsum("bhts,bshk->bthk", jax.nn.softmax(scores, -1), v)
    x = x + dropout(jnp.einsum("bthk,hkd->btd", mixed, weights["proj"]), key_attention)
    h = normalize(x, weights["norm"][1])
    x = x + dropout(jax.nn.gelu(h @ weights["up"]) @ weights["down"], key_mlp)
    return jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P("data"))), None


def loss(parameters, tokens, key):
    """Mean cross entropy, in nats a character, of predicting tokens[:, 1:] from tokens[:, :-1]."""
    x = parameters["embedding"][tokens[:, :-1]] + parameters["position"]
    stacked = {name: parameters[name] for name in ("qkv", "proj", "up", "down", "norm")}
    x, _ = jax.lax.scan(layer, x, stacked | {"key": jax.random.split(key, LAYERS)})
    logits = normalize(x, 1.0) @ parameters["head"]
    chosen = jnp.take_along_axis(jax.nn.log_softmax(logits, -1), tokens[:, 1:, None], -1)
    return -jnp.mean(chosen)


def train_step(state, tokens):
    """One step of Adam (Kingma and Ba, 2015). The dropout masks follow from the step's number."""
    step = state["step"] + 1
    key = jax.random.fold_in(jax.random.key(1), step)
    value, gradient = jax.value_and_grad(loss)(state["parameters"], tokens, key)
    mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["mean"], gradient)
    square = jax.tree.map(lambda s, g: 0.99 * s + 0.01 * g * g, state["square"], gradient)
    t = step.astype(jnp.float32)
    rate = RATE * jnp.minimum(1.0, t / WARM_UP) * jnp.sqrt(1 - 0.99**t) / (1 - 0.9**t)
    parameters = jax.tree.map(
        lambda p, m, s: p - rate * m / (jnp.sqrt(s) + 1e-8), state["parameters"], mean, square)
    return {"parameters": parameters, "mean": mean, "square": square, "step": step}, value


def batch(text, step):
    """Rows of the text at scattered offsets (Knuth's multiplicative hash); train.cpp does the same."""
    rows = (np.arange(BATCH, dtype=np.uint32) + np.uint32(step * BATCH)) * np.uint32(2654435761)
    return np.stack([text[r : r + LENGTH + 1] for r in rows % np.uint32(len(text) - LENGTH - 1)])


def main():
    raw = open(os.path.join(HERE, "genesis.txt"), "rb").read()
    alphabet = sorted(set(raw))
    assert len(alphabet) <= VOCABULARY
    text = np.array([alphabet.index(c) for c in raw], np.int32)

    placed = {name: NamedSharding(mesh, spec) for name, spec in SHARDINGS.items()}
    whole = NamedSharding(mesh, P())
    state_placed = {"parameters": placed, "mean": placed, "square": placed, "step": whole}
    make = jax.jit(init, in_shardings=whole, out_shardings=state_placed)
    step = jax.jit(train_step, in_shardings=(state_placed, NamedSharding(mesh, P("data"))),
                   out_shardings=(state_placed, whole), donate_argnums=0)

    state = make(jnp.int32(0))
    with open(os.path.join(HERE, "init.mlir"), "w") as f:
        f.write(make.lower(jnp.int32(0)).as_text(debug_info=True))
    with open(os.path.join(HERE, "train_step.mlir"), "w") as f:
        f.write(step.lower(state, batch(text, 0)).as_text(debug_info=True))
    count = sum(x.size for x in jax.tree.leaves(state["parameters"]))
    print(f"{count:,} parameters on {mesh.devices.size} devices")

    losses = []
    for i in range(STEPS):
        if i == 2:
            start = time.time()
        state, value = step(state, batch(text, i))
        losses.append(round(float(value), 6))
        if i % 20 == 0 or i == STEPS - 1:
            print(f"step {i:3d}  loss {losses[-1]:.4f}", flush=True)
    print(f"{(time.time() - start) / (STEPS - 2) * 1e3:.0f} ms a step in JAX")
    figures = {"batch": BATCH, "length": LENGTH, "losses": losses}
    with open(os.path.join(HERE, "losses.json"), "w") as f:
        json.dump(figures, f)
        f.write("\n")


if __name__ == "__main__":
    main()
