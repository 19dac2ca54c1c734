"""Attention as one kernel, forward and backward, in the forms in which people write it: as near to float64 as docs/numbers.md says, NaN
where JAX has NaN, the same bits from run to run and on any number of cores.

  attention.py [NAME..]
Each form is a function of queries, keys and values; all of a group are one program, and all with their gradients another. The number of
kernels that hold several products is counted, so a form that is no longer recognised is a failure.
"""
import argparse
import functools
import os
import sys
import tempfile

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp
import numpy as np

from command_line import tessera
from harness import as_numpy, widen

attend = jax.nn.dot_product_attention
MASKED = -1e30


def weighted(scores, v):
    return jnp.einsum("bhts,bshe->bthe", jax.nn.softmax(scores, -1), v)


def scores_of(q, k, scale=0.125):
    return jnp.einsum("bthd,bshd->bhts", q, k) * scale


def lower(queries, keys, by=0):
    return jnp.tril(jnp.ones((queries, keys), bool), by)


def masked(q, k, v, mask, fill=-jnp.inf):
    return weighted(jnp.where(mask, scores_of(q, k), fill), v)


def capped(q, k, v, fill=MASKED):
    return weighted(jnp.where(lower(q.shape[1], k.shape[1]), 30 * jnp.tanh(scores_of(q, k) / 30), fill), v)


def dropped(q, k, v, kept):
    p = jax.nn.softmax(scores_of(q, k), -1)
    return jnp.einsum("bhts,bshe->bthe", jnp.where(kept, p / 0.9, 0), v)


def divided_last(q, k, v):
    """The result is divided by the sum, as MaxText writes it; queries of a group lie side by side."""
    batch, queries, heads, channels = q.shape
    q = q.reshape(batch, queries, k.shape[2], -1, channels) * 0.125
    scores = jnp.einsum("btkgd,bskd->bkgts", q, k)
    scores = jnp.where(lower(queries, k.shape[1]), scores, MASKED)
    e = jnp.exp(scores - jnp.max(scores, -1, keepdims=True))
    total = jnp.moveaxis(jnp.sum(e, -1, keepdims=True), 3, 1)
    out = jnp.einsum("bkgts,bskd->btkgd", e, v)
    return (out / total).reshape(batch, queries, heads, channels)


def never_divided(q, k, v):
    """Exponentials that are not divided by their sum, as of attention that is computed again where that sum was kept."""
    scores = scores_of(q, k)
    return jnp.einsum("bhts,bshe->bthe", jnp.exp(scores - jax.lax.stop_gradient(scores.max(-1, keepdims=True))), v)


def scanned(q, k, v):
    return jax.lax.scan(lambda x, _: (attend(x, k, v, is_causal=True) + x, None), q, None, length=2)[0]


def inner_first(q, k, v):
    """[b, h, t, d], as PyTorch has it; the queries are scaled."""
    q, k, v = (x.swapaxes(1, 2) for x in (q, k, v))
    return jax.nn.softmax((q * 0.125) @ k.swapaxes(2, 3), -1) @ v


def shared_keys(q, k, v):
    """One head of keys for all heads of queries, without a dimension of its own (Shazeer, 2019, multi-query attention)."""
    k, v = (x.reshape(*x.shape[:2], x.shape[3]) for x in (k, v))
    scores = jnp.where(lower(q.shape[1], k.shape[1]), jnp.einsum("bthd,bsd->bhts", q, k) * 0.125, MASKED)
    return jnp.einsum("bhts,bse->bthe", jax.nn.softmax(scores, -1), v)


def shared_keys_unmasked(q, k, v):
    """Queries and heads could run as one loop, if the largest scores lay so."""
    k, v = (x.reshape(*x.shape[:2], x.shape[3]) for x in (k, v))
    return jnp.einsum("bhts,bse->bthe", jax.nn.softmax(jnp.einsum("bthd,bsd->bhts", q, k) * 0.125, -1), v)


def merged_heads(q, k, v):
    """Heads of keys and of the queries that share them are one dimension for the softmax, as MaxText has it."""
    batch, queries, heads, channels = q.shape
    scores = jnp.einsum("btkgd,bskd->bkgts", q.reshape(batch, queries, k.shape[2], -1, channels), k) * 0.125
    grouped = scores.shape
    scores = jnp.where(lower(queries, k.shape[1]), scores.reshape(batch, heads, queries, -1), MASKED)
    p = jax.nn.softmax(scores, -1).reshape(grouped)
    return jnp.einsum("bkgts,bske->btkge", p, v).reshape(batch, queries, heads, v.shape[3])


def merged_blocks(q, k, v, by=0, fill=MASKED, backwards=False):
    """Two blocks of keys, whose results are merged as devices of a ring merge theirs. Of the second one the first queries see
    nothing, which then counts for nothing; of the first one neither where `by` is negative, and all counts."""
    batch, queries, heads, channels = q.shape
    size = k.shape[1] // 2
    largest, total = jnp.full((batch, heads, queries), MASKED), jnp.zeros((batch, heads, queries))
    out = jnp.zeros((batch, heads, queries, v.shape[3]))
    for first in (size, 0) if backwards else (0, size):
        own = slice(first, first + size)
        scores = jnp.where(lower(queries, size, by - first), scores_of(q, k[:, own]), fill).astype(jnp.float32)
        before, largest = largest, jnp.maximum(largest, scores.max(-1))
        p, scale = jnp.exp(scores - largest[..., None]), jnp.exp(before - largest)
        total = total * scale + p.sum(-1)
        out = out * scale[..., None] + jnp.einsum("bhts,bshe->bhte", p.astype(v.dtype), v[:, own])
    return (out / total[..., None]).swapaxes(1, 2).astype(q.dtype)


causal = functools.partial(attend, is_causal=True)


def forms():
    """(name, function, sizes (batch, queries, keys, heads, heads of keys, channels, channels of values), further arrays)."""
    rng = np.random.default_rng(0)
    mask = rng.random((2, 1, 130, 130)) < 0.5
    mask[:, :, 7] = False  # queries that see nothing, alone and all of a tile
    mask[0, :, 64:100] = False
    segments = np.sort(rng.integers(0, 3, (2, 130)), 1).astype(np.int32)
    together = segments[:, None, :, None] == segments[:, None, None, :]
    bias = rng.standard_normal((2, 4, 130, 130)).astype(np.float32)
    kept = rng.random((2, 4, 130, 130)) < 0.9
    plain = (2, 130, 130, 4, 4, 64, 64)
    yield "plain", attend, plain
    yield "causal", causal, plain
    yield "causal_129", causal, (4, 129, 129, 4, 4, 32, 32)
    yield "more_keys", attend, (1, 70, 1031, 2, 2, 64, 64)
    yield "few_keys", attend, (1, 1031, 65, 2, 2, 64, 64)
    yield "few_queries", attend, (2, 9, 1100, 8, 8, 64, 64)
    yield "channels_80", causal, (2, 130, 130, 4, 4, 80, 80)
    yield "channels_20_and_36", lambda q, k, v: weighted(scores_of(q, k), v), (2, 130, 130, 4, 4, 20, 36)
    yield "channels_8", attend, (2, 130, 130, 4, 4, 8, 8)
    yield "channels_192", attend, (1, 200, 200, 2, 2, 192, 192)
    yield "grouped", causal, (2, 130, 130, 8, 2, 64, 64)
    yield "shared_keys", shared_keys, (2, 130, 130, 8, 1, 64, 64)
    yield "shared_keys_unmasked", shared_keys_unmasked, (2, 130, 130, 8, 1, 64, 64)
    yield "shared_keys_of_many", shared_keys, (17, 70, 90, 3, 1, 32, 32)
    yield "merged_heads", merged_heads, (2, 130, 130, 8, 2, 64, 64)
    yield "parts", attend, (2, 130, 260, 4, 4, 64, 64)
    yield "causal_parts", causal, (2, 400, 400, 2, 2, 64, 64)
    yield "grouped_parts", causal, (1, 130, 516, 8, 2, 48, 48)
    yield "inner_first_parts", inner_first, (1, 129, 384, 4, 4, 20, 36)
    yield "blind_parts", lambda q, k, v: masked(q, k, v, lower(300, 300, -9), MASKED), (1, 300, 300, 4, 4, 64, 64)
    yield "window_of_parts", functools.partial(causal, local_window_size=(100, 0)), (2, 512, 512, 2, 2, 64, 64)
    yield "window", functools.partial(causal, local_window_size=(100, 0)), (1, 700, 700, 1, 1, 64, 64)
    # The first key that a tile of queries sees is the last one of a vector.
    yield "window_of_42", functools.partial(causal, local_window_size=(41, 0)), (1, 300, 300, 2, 2, 64, 64)
    yield "window_of_both", functools.partial(attend, local_window_size=(40, 20)), (1, 300, 300, 2, 2, 64, 64)
    yield "bias", lambda q, k, v, x: weighted(scores_of(q, k) + x, v), plain, bias
    yield "mask", functools.partial(masked, fill=MASKED), plain, mask
    yield "mask_infinite", masked, plain, mask
    yield "mask_causal", lambda q, k, v, m: attend(q, k, v, mask=m, is_causal=True), plain, mask
    yield "segments", lambda q, k, v, m: attend(q, k, v, mask=m, is_causal=True), plain, together
    yield "causal_infinite", lambda q, k, v: masked(q, k, v, lower(130, 130)), plain
    yield "first_see_nothing", lambda q, k, v: masked(q, k, v, lower(130, 130, -9)), plain
    yield "first_see_all", lambda q, k, v: masked(q, k, v, lower(130, 130, -9), MASKED), plain
    yield "after_others", lambda q, k, v: masked(q, k, v, lower(100, 356, 256)), (2, 100, 356, 2, 2, 64, 64)
    yield "capped", capped, plain
    yield "dropout", dropped, plain, kept
    yield "divided_last", divided_last, (2, 130, 130, 8, 4, 64, 64)
    yield "never_divided", never_divided, plain
    yield "merged_blocks", merged_blocks, plain
    yield "merged_blocks_first_see_all", functools.partial(merged_blocks, by=-9), plain
    yield "merged_blocks_of_small_fill", functools.partial(merged_blocks, by=-9, fill=-3.0), plain
    yield "merged_blocks_backwards", functools.partial(merged_blocks, backwards=True), plain
    yield "scan", scanned, plain
    yield "inner_first", inner_first, (2, 130, 130, 4, 4, 64, 64)
    yield "as_many_channels_as_keys", inner_first, (4, 64, 64, 8, 8, 64, 64)
    yield "large_scores", lambda q, k, v: attend(q * 40, k * 20, v), plain


def gradient_kernels(heads, keys):
    """Two of few heads: one yields what is of queries, the other what is of keys. As lib/fusion/AttentionStays.h has it."""
    parts = 1
    for more in range(2, 5):
        if heads * parts < 16 and keys % more == 0 and keys // more >= 128:
            parts = more
    return 1 if heads * parts >= 8 else 2


def kernels_of(name, sizes, differentiates):
    """How many kernels hold several products. The loop that goes back over a scan computes the forward pass again."""
    batch, _, keys, _, groups, *_ = sizes
    blocks = 2 if name.startswith("merged_blocks") else 1
    of_one = 1 + gradient_kernels(batch * groups, keys // blocks) if differentiates else 1
    return blocks * of_one + (differentiates and name == "scan")


def with_gradient(function, q, k, v, *more):
    """The result, and the gradients of its product with numbers of one size and either sign."""
    out, back = jax.vjp(lambda q, k, v: function(q, k, v, *more), q, k, v)
    by = jnp.cos(jnp.arange(out.size, dtype=jnp.float32)).reshape(out.shape).astype(out.dtype)
    return out, *back(by)


def arrays(sizes, kind):
    batch, queries, keys, heads, groups, channels, wide = sizes
    rng = np.random.default_rng(list(sizes))
    for shape in ((batch, queries, heads, channels), (batch, keys, groups, channels), (batch, keys, groups, wide)):
        yield jnp.asarray(rng.standard_normal(shape, np.float32), kind)


def execute(function, args, directory):
    """(kernels with two products, outputs of two runs)."""
    path = lambda name: os.path.join(directory, name)
    with open(path("p.mlir"), "w") as f:
        f.write(jax.jit(function, keep_unused=True).lower(*args).as_text())
    np.savez(path("in.npz"), **{f"in{i}": as_numpy(x) for i, x in enumerate(jax.tree.leaves(args))})
    done = tessera("compile", path("p.mlir"), "-o", path("p.tsr"), "--verify-each", "--print-after=fuse")
    assert done.returncode == 0, done.stderr
    kernels = (done.stdout + done.stderr).split("exec.fused(")[1:]
    both = sum(kernel.split("exec.yield")[0].count("stablehlo.dot_general") > 1 for kernel in kernels)
    outputs = []
    cores = os.sched_getaffinity(0)
    for number, own in enumerate((cores, {min(cores)})):
        os.sched_setaffinity(0, own)  # the runtime has a worker for each of these
        done = tessera("run", path("p.tsr"), f"--inputs={path('in.npz')}", f"--outputs={path(f'o{number}.npz')}")
        os.sched_setaffinity(0, cores)
        assert done.returncode == 0, done.stderr
        with np.load(path(f"o{number}.npz")) as out:
            outputs.append([out[f"out{i}"] for i in range(len(out.files))])
    return both, outputs


def wrong_of(name, got, plain, exact, kind):
    """None, or what is wrong; JAX's own distance from float64 is the measure, beside a few units of the type."""
    if not np.array_equal(np.isnan(got), np.isnan(plain)):
        return "NaN elsewhere than JAX has it"
    distance = lambda x: float(np.nanmax(np.abs(x - exact), initial=0))
    size = float(np.nanmax(np.abs(exact), initial=0))
    allowed = max(3 * distance(plain), (1e-6 if kind == jnp.float32 else 8e-3) * size)
    return None if distance(got) <= allowed else f"off by {distance(got):.2e}, JAX by {distance(plain):.2e}"


def failures_of(chosen, kind, differentiates):
    args = {name: (*arrays(sizes, kind), *map(jnp.asarray, more)) for name, _, sizes, *more in chosen}
    functions = {name: functools.partial(with_gradient, function) if differentiates else function for name, function, *_ in chosen}
    every = lambda args: {name: functions[name](*args[name]) for name in sorted(args)}
    what = f"{kind.__name__}{' with gradients' if differentiates else ''}"
    with tempfile.TemporaryDirectory() as directory:
        kernels, (got, again) = execute(every, (args,), directory)
    plain = jax.jit(every)(args)
    with jax.enable_x64(True):
        exact = jax.tree.leaves(jax.jit(every)(jax.tree.map(widen, args)))
    failures = 0
    if (expected := sum(kernels_of(name, sizes, differentiates) for name, _, sizes, *_ in chosen)) != kernels:
        failures += 1
        print(f"{what}: {kernels} kernels hold several products, not {expected}")
    names = [name for name in sorted(args) for _ in jax.tree.leaves(plain[name])]
    for name, x, y, near, far in zip(names, got, again, jax.tree.leaves(plain), exact):
        wrong = wrong_of(name, x.astype(np.float64), np.asarray(near, np.float64), np.asarray(far), kind)
        if not np.array_equal(x, y, equal_nan=True):
            wrong = "other bits in another run"
        failures += wrong is not None
        print(f"{what} {name}: {wrong or 'ok'}")
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    names = parser.parse_args().names
    chosen = [form for form in forms() if not names or form[0] in names]
    failures = sum(failures_of(chosen, kind, differentiates) for kind in (jnp.float32, jnp.bfloat16) for differentiates in (False, True))
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
