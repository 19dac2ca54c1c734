"""Training steps of large language models without any annotation, exported from shapes alone: no array is made.

    benchmarks/large_models.py NAME FOLDER [--layers=N] [--batch=N] [--sequence=N] [--scanned] [--kind=f32]

writes FOLDER/NAME.mlir (NAME-scanned.mlir). Names: llama3-8b, llama3-405b, mixtral-8x22b; llama-small, which a machine of
two cores trains (benchmarks/kernels.py llama). Sizes are the published ones:
Dubey et al. 2024, The Llama 3 Herd of Models, table 3; Jiang et al. 2024, Mixtral of Experts, and the 8x22B release's
configuration. Weights in bf16, moments of Adam and the master copy in f32 (all in f32 with --kind=f32); each layer is computed again in the backward
pass, as who trains these does. Experts are computed as in Lepikhin et al. 2021, GShard: each takes so many tokens of a sequence at most.
"""
import argparse
import dataclasses
import pathlib

import jax
import jax.numpy as jnp

jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")


@dataclasses.dataclass(frozen=True)
class Size:
    layers: int
    width: int
    hidden: int
    heads: int
    keys: int  # heads of keys and values
    vocabulary: int
    experts: int = 0  # 0: one hidden layer for all tokens
    chosen: int = 2


SIZES = {
    "llama-small": Size(12, 768, 2048, 12, 4, 32000),
    "llama3-8b": Size(32, 4096, 14336, 32, 8, 128256),
    "llama3-405b": Size(126, 16384, 53248, 128, 8, 128256),
    "mixtral-8x22b": Size(56, 6144, 16384, 48, 8, 32768, experts=8),
}


def shapes(size):
    """The weights of the model; those of layers under "layers", each without the number of the layer."""
    head = size.width // size.heads
    up, down = (size.width, size.hidden), (size.hidden, size.width)
    if size.experts:
        hidden = {"router": (size.width, size.experts), "gate": (size.experts, *up), "up": (size.experts, *up), "down": (size.experts, *down)}
    else:
        hidden = {"gate": up, "up": up, "down": down}
    layer = {
        "attention_norm": (size.width,),
        "query": (size.width, size.heads, head),
        "key": (size.width, size.keys, head),
        "value": (size.width, size.keys, head),
        "output": (size.heads, head, size.width),
        "hidden_norm": (size.width,),
        **hidden,
    }
    return {"embedding": (size.vocabulary, size.width), "norm": (size.width,), "head": (size.width, size.vocabulary), "layers": layer}


def normed(x, scale):
    wide = x.astype(jnp.float32)
    return (wide * jax.lax.rsqrt(jnp.mean(wide**2, axis=-1, keepdims=True) + 1e-5)).astype(x.dtype) * scale


def rotated(x):
    """Positions as rotations (Su et al. 2021); x: [batch, sequence, .., head]."""
    half = x.shape[-1] // 2
    angle = jnp.arange(x.shape[1])[:, None] * 500000.0 ** (-jnp.arange(half) / half)
    angle = angle.reshape(1, x.shape[1], *[1] * (x.ndim - 3), half)
    a, b = jnp.split(x.astype(jnp.float32), 2, axis=-1)
    return jnp.concatenate([a * jnp.cos(angle) - b * jnp.sin(angle), a * jnp.sin(angle) + b * jnp.cos(angle)], -1).astype(x.dtype)


def attended(size, w, x):
    group = size.heads // size.keys
    q = rotated(jnp.einsum("bsd,dhe->bshe", x, w["query"]))
    k = rotated(jnp.einsum("bsd,dhe->bshe", x, w["key"]))
    v = jnp.einsum("bsd,dhe->bshe", x, w["value"])
    q = q.reshape(*q.shape[:2], size.keys, group, q.shape[-1])
    scores = jnp.einsum("bskge,btke->bkgst", q, k).astype(jnp.float32) * q.shape[-1] ** -0.5
    seen = jnp.tril(jnp.ones((x.shape[1], x.shape[1]), bool))
    parts = jax.nn.softmax(jnp.where(seen, scores, -1e30)).astype(x.dtype)
    y = jnp.einsum("bkgst,btke->bskge", parts, v)
    return jnp.einsum("bshe,hed->bsd", y.reshape(*y.shape[:2], size.heads, -1), w["output"])


def hidden(size, w, x):
    if not size.experts:
        return (jax.nn.silu(x @ w["gate"]) * (x @ w["up"])) @ w["down"]
    places = 5 * size.chosen * x.shape[1] // (4 * size.experts)  # of each sequence an expert takes so many tokens
    chance = jax.nn.softmax((x @ w["router"]).astype(jnp.float32))
    best, which = jax.lax.top_k(chance, size.chosen)
    asked = jax.nn.one_hot(which, size.experts).transpose(0, 2, 1, 3).reshape(x.shape[0], -1, size.experts)
    place = (jnp.cumsum(asked, axis=1) - 1) * asked
    taken = asked * (place < places)
    slots = taken[..., None] * jax.nn.one_hot(place.astype(int), places)  # [batch, chosen * sequence, expert, place]
    slots = slots.reshape(x.shape[0], size.chosen, x.shape[1], size.experts, places)
    combine = jnp.einsum("bcsep,bsc->bsep", slots, best).astype(x.dtype)
    dispatch = slots.sum(1).astype(x.dtype)
    given = jnp.einsum("bsep,bsd->ebpd", dispatch, x)
    made = jax.nn.silu(jnp.einsum("ebpd,edh->ebph", given, w["gate"])) * jnp.einsum("ebpd,edh->ebph", given, w["up"])
    return jnp.einsum("bsep,ebpd->bsd", combine, jnp.einsum("ebph,ehd->ebpd", made, w["down"]))


def loss(size, scanned, weights, tokens):
    @jax.checkpoint
    def layer(x, w):
        x = x + attended(size, w, normed(x, w["attention_norm"]))
        return x + hidden(size, w, normed(x, w["hidden_norm"]))

    x = weights["embedding"][tokens[:, :-1]]
    if scanned:
        x, _ = jax.lax.scan(lambda x, w: (layer(x, w), None), x, weights["layers"])
    else:
        for w in weights["layers"]:
            x = layer(x, w)
    logits = (normed(x, weights["norm"]) @ weights["head"]).astype(jnp.float32)
    rows = jnp.take_along_axis(logits, tokens[:, 1:, None], axis=-1)[..., 0]
    return jnp.mean(jax.nn.logsumexp(logits, axis=-1) - rows)


def training_step(size, scanned, kind):
    narrow = kind != jnp.float32  # than what is updated, of which the weights are a copy then

    def step(state, tokens):
        weights = state["weights" if narrow else "master"]
        value, gradients = jax.value_and_grad(lambda w: loss(size, scanned, w, tokens))(weights)
        number = state["number"] + 1

        def adam(master, first, second, g):
            g = g.astype(jnp.float32)
            first, second = 0.9 * first + 0.1 * g, 0.95 * second + 0.05 * g**2
            scale = jnp.sqrt(1 - 0.95**number) / (1 - 0.9**number)
            return master - 3e-4 * scale * first / (jnp.sqrt(second) + 1e-8), first, second

        updated = jax.tree.map(adam, state["master"], state["first"], state["second"], gradients)
        master, first, second = (jax.tree.map(lambda t: t[i], updated, is_leaf=lambda t: isinstance(t, tuple)) for i in range(3))
        state = {"master": master, "first": first, "second": second, "number": number}
        return state | ({"weights": jax.tree.map(lambda m: m.astype(kind), master)} if narrow else {}), value

    return step


def exported(size, batch, sequence, scanned, kind=jnp.bfloat16):
    """The module's text for a training step of `batch` sequences of `sequence` tokens, with weights of that kind."""
    tree = shapes(size)
    if scanned:
        tree["layers"] = {name: (size.layers, *shape) for name, shape in tree["layers"].items()}
    else:
        tree["layers"] = [tree["layers"]] * size.layers
    of = lambda kind: jax.tree.map(lambda s: jax.ShapeDtypeStruct(s, kind), tree, is_leaf=lambda s: isinstance(s, tuple))
    state = {"master": of(jnp.float32), "first": of(jnp.float32), "second": of(jnp.float32)}
    if kind != jnp.float32:
        state["weights"] = of(kind)
    state["number"] = jax.ShapeDtypeStruct((), jnp.float32)
    tokens = jax.ShapeDtypeStruct((batch, sequence + 1), jnp.int32)
    return jax.jit(training_step(size, scanned, kind), donate_argnums=0).lower(state, tokens).as_text(debug_info=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=SIZES)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--layers", type=int, help="so many, instead of all")
    parser.add_argument("--batch", type=int, default=1024, help="sequences a step")
    parser.add_argument("--sequence", type=int, default=8192, help="tokens a sequence")
    parser.add_argument("--scanned", action="store_true", help="layers as a loop (jax.lax.scan)")
    parser.add_argument("--kind", choices=("bf16", "f32"), default="bf16", help="of the weights")
    options = parser.parse_args()
    size = SIZES[options.name]
    if options.layers:
        size = dataclasses.replace(size, layers=options.layers)
    path = options.folder / f"{options.name}{'-scanned' * options.scanned}.mlir"
    kind = {"bf16": jnp.bfloat16, "f32": jnp.float32}[options.kind]
    path.write_text(exported(size, options.batch, options.sequence, options.scanned, kind))
    print(f"{path}: {path.read_text().count(chr(10))} lines")


if __name__ == "__main__":
    main()
