"""Random programs of one or a few ops that move rows between shards, on random meshes and mostly uneven sizes: what
localize makes of them, run by XLA (spmd_oracle.py), beside JAX on one device. Half of them are compiled for links that cost bytes only.

  spmd_random.py [--seed 0] [--count 40] [--only NAME] [--opt tessera-opt]       program N of a seed is the same everywhere
"""
import os
import sys

os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=16"
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding

import seeded
import spmd_oracle
from random_spec import random_spec

MESHES = ({"x": 2, "y": 4}, {"x": 8}, {"x": 3, "y": 2}, {"x": 5}, {"x": 2, "y": 2, "z": 2}, {"x": 4}, {"x": 7, "y": 2})


def pick(rng, *choices):
    return choices[int(rng.integers(len(choices)))]


def size(rng):
    return int(rng.integers(1, 14))


# Each gives (function, shapes); a shape of integers as (shape, bound).
def convolution(rng):
    h, w, k = int(rng.integers(5, 17)), int(rng.integers(4, 9)), int(rng.integers(1, 5))
    stride, padding = int(rng.integers(1, 4)), pick(rng, "SAME", "VALID", ((2, 1), (0, 3)))
    dilate, rhs = pick(rng, (1, 1), (1, 1), (2, 1)), pick(rng, (1, 1), (1, 1), (2, 1))
    if padding != "SAME" and (k - 1) * rhs[0] + 1 > 4:
        padding = "SAME"
    if isinstance(padding, str) and dilate != (1, 1):
        padding = ((k, k), (1, 1))
    c, o = pick(rng, 3, 4), pick(rng, 4, 6)
    return lambda x, f: lax.conv_general_dilated(x, f, (stride, 1), padding, dilate, rhs, ("NHWC", "HWIO", "NHWC")), \
        [(2, h, w, c), (k, min(k, 3), c, o)]


def convolution_gradient(rng):
    f, shapes = convolution(rng)
    return lambda x, k: jax.grad(lambda a, b: jnp.sum(jnp.sin(f(a, b))), (0, 1))(x, k), shapes


def pooling(rng):
    h, k, s = int(rng.integers(5, 19)), int(rng.integers(1, 4)), int(rng.integers(1, 4))
    padding = pick(rng, "SAME", "VALID")
    return lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, k, 2), (1, s, 1), padding), [(3, h, 6)]


def pooling_gradient(rng):
    f, shapes = pooling(rng)
    return lambda x: jax.grad(lambda a: jnp.sum(jnp.sin(f(a))))(x), shapes


def average(rng):
    h, k = int(rng.integers(5, 19)), int(rng.integers(1, 5))
    return lambda x: lax.reduce_window(x, 0.0, lax.add, (k, 1), (1, 1), ((k - 1, 0), (0, 0))), [(h, 3)]


def cumulative(rng):
    first, second = pick(rng, lax.cumsum, lax.cumlogsumexp, lax.cumprod), pick(rng, lax.cummax, lax.cummin, lax.cumsum)
    back, forth = pick(rng, True, False), pick(rng, True, False)
    return lambda x: (first(x, 0, reverse=back), second(x, 1, reverse=forth)), [(size(rng), size(rng))]


def padding(rng):
    low, high, between = int(rng.integers(-2, 4)), int(rng.integers(-2, 4)), int(rng.integers(0, 3))
    return lambda x: lax.pad(x, 7.0, ((low, high, between), (0, 0, 0))), [(int(rng.integers(5, 14)), 3)]


def slicing(rng):
    n = int(rng.integers(4, 17))
    begin, stride = int(rng.integers(0, 3)), int(rng.integers(1, 4))
    end = int(rng.integers(begin + 1, n + 1))
    return lambda x: jnp.sin(lax.slice(x, (begin, 0), (end, 3), (stride, 1))), [(n, 3)]


def joining(rng):
    a, b, c = size(rng), size(rng), size(rng)
    return lambda x, y, z: jnp.sin(jnp.concatenate([x, y, z])), [(a, 4), (b, 4), (c, 4)]


def rolling(rng):
    n = size(rng)
    by, axis = int(rng.integers(0, n)), pick(rng, 0, 1)
    return lambda x: jnp.roll(jnp.sin(x), by, axis), [(n, n)]


def rolling_gradient(rng):
    f, shapes = rolling(rng)
    return lambda x: jax.grad(lambda a: jnp.sum(jnp.sin(f(a)) * a))(x), shapes


def reversing(rng):
    return lambda x: jnp.sin(jnp.flip(x, 0)) + jnp.flip(x, 1), [(size(rng), size(rng))]


def reshaping(rng):
    a, b, c = size(rng), size(rng), pick(rng, 2, 3, 4)
    to = pick(rng, (a * b, c), (a, b * c), (a * b * c,), (c, a, b), (a, c, b), (1, a * c, b))
    return lambda x: jnp.sin(jnp.reshape(jnp.sin(x), to)), [(a, b, c)]


def unflattening(rng):
    a, b = size(rng), pick(rng, 2, 3, 4, 6)
    return lambda x: jnp.sin(jnp.reshape(x, (a, b, 2))), [(a * b, 2)]


def looking_up(rng):
    n = size(rng)
    return lambda t, i: jnp.take(t, i, axis=0, mode=pick(rng, "clip", "fill")), [(n, 5), ((size(rng),), n)]


def looking_up_gradient(rng):
    n = size(rng)
    return lambda t, i: jax.grad(lambda a: jnp.sum(jnp.sin(a[i])))(t), [(n, 5), ((size(rng), 2), n)]


def along(rng):
    n, m = size(rng), size(rng)
    return lambda t, i: jnp.take_along_axis(t, i, 1), [(n, m), ((n, 2), m)]


def scattering(rng):
    n, k = size(rng), size(rng)
    how = pick(rng, "add", "max", "min", "multiply")
    return lambda t, i, u: getattr(t.at[i], how)(u), [(n, 3), ((k,), n), (k, 3)]


def scattering_far(rng):  # indices beyond the end are dropped
    n, k = size(rng), size(rng)
    return lambda t, i, u: t.at[i - 2, 1].add(u, mode="drop"), [(n, 3), ((k,), n + 4), (k,)]


def dynamic(rng):
    n, m = int(rng.integers(4, 14)), int(rng.integers(4, 14))
    k, j = pick(rng, 1, 1, 2, int(rng.integers(1, n + 1))), pick(rng, 1, m, int(rng.integers(1, m + 1)))
    # Within bounds: of a slice of a slice, XLA, which is the oracle, drops the inner clamp. rows_across_shards.py has others.
    return lambda x, a, b: jnp.sin(lax.dynamic_slice(jnp.sin(x), (a, b), (k, j))), [(n, m), ((), n - k + 1), ((), m - j + 1)]


def updating(rng):
    n, k = int(rng.integers(4, 14)), pick(rng, 1, 1, 3, 4)
    m = pick(rng, 6, 2, 1, 5)
    return lambda x, u, i, j: jnp.sin(lax.dynamic_update_slice(x, u, (i, j))), [(n, 6), (k, m), ((), n), ((), 5)]


def sorting(rng):
    return lambda x: (jnp.sort(x, 0), jnp.argsort(x, 1), jnp.argmax(x, 0), lax.top_k(x, 2)[0]), [(size(rng) + 1, size(rng) + 1)]


def reducing(rng):
    return lambda x: (jnp.sum(x, 0), jnp.max(x, 1), jnp.prod(x), jnp.any(x > 1, 0), jnp.all(x > 0, 1), jnp.var(x, 0)), \
        [(size(rng), size(rng))]


def selecting(rng):
    """Reductions of several operands; the last one depends on the order of the rows."""
    def first(x, dims):
        def take(a, b):
            return jnp.where(a[1], a[0], jnp.where(b[1], b[0], 0)), a[1] | b[1]
        return lax.reduce((x, x > 0.8), (jnp.float32(0), False), take, dims)

    dims = pick(rng, (0,), (1,), (0, 1))
    return lambda x: (jnp.argmax(x), jnp.argmin(x, 1), jnp.nanargmax(x, 0), *first(x, dims)), [(size(rng), size(rng))]


def softmax(rng):
    return lambda x: jax.nn.softmax(x, -1) + jax.nn.logsumexp(x, 0), [(size(rng), size(rng))]


def contracting(rng):
    b, m, k, n = size(rng), size(rng), size(rng), size(rng)
    return lambda x, y: jnp.einsum(pick(rng, "bmk,bkn->bmn", "bmk,bkn->mn", "bmk,bkn->nb"), x, y), [(b, m, k), (b, k, n)]


def counting(rng):
    return lambda x: jnp.sin(x) + lax.broadcasted_iota(jnp.float32, x.shape, 0) + jnp.arange(x.shape[1]) ** 2.0 + \
        np.arange(x.shape[0] * x.shape[1], dtype=np.float32).reshape(x.shape), [(size(rng), size(rng))]


def looping(rng):
    n, m = size(rng), size(rng)
    return lambda x, w: lax.scan(lambda c, r: (jnp.tanh(c @ w + r), jnp.sum(c)), x[0], x), [(5, n, m), (m, m)]


def looping_gradient(rng):
    f, shapes = looping(rng)
    return lambda x, w: jax.grad(lambda a, b: jnp.sum(f(a, b)[0]) + jnp.sum(f(a, b)[1]), (0, 1))(x, w), shapes


def choosing(rng):
    return lambda x, i: lax.switch(i, [jnp.sin, lambda v: v @ v.T @ v, lambda v: v * jnp.sum(v)], x), [(size(rng), size(rng)), ((), 3)]


PROGRAMS = (convolution, convolution_gradient, pooling, pooling_gradient, average, cumulative, padding, slicing, joining,
            rolling, rolling_gradient, reversing, reshaping, unflattening, looking_up, looking_up_gradient, along,
            scattering, scattering_far, dynamic, updating, sorting, reducing, selecting, softmax, contracting, counting, looping,
            looping_gradient, choosing)


def main():
    p = seeded.parser(__doc__, 40)
    p.add_argument("--only", default="")
    p.add_argument("--keep", default="", help="directory for the programs that are wrong")
    p.add_argument("--opt", default=os.path.join(spmd_oracle.HERE, "../../build/bin/tessera-opt"))
    a = p.parse_args()
    jax.config.update("jax_use_shardy_partitioner", True)
    wrong = 0
    for number in range(a.count):
        rng = np.random.default_rng([a.seed, number])
        make = PROGRAMS[number % len(PROGRAMS)]
        sizes = MESHES[int(rng.integers(len(MESHES)))]
        function, shapes = make(rng)
        if a.only and a.only != make.__name__:
            continue
        mesh = Mesh(np.array(jax.devices()[:int(np.prod(list(sizes.values())))]).reshape(list(sizes.values())), tuple(sizes))
        inputs = [rng.integers(0, s[1], s[0]).astype(np.int32) if s and isinstance(s[0], tuple) or s and s == () or (len(s) == 2 and isinstance(s[0], tuple)) else
                  rng.standard_normal(s).astype(np.float32) for s in shapes]
        specs = [random_spec(rng, x.ndim, list(sizes)) for x in inputs]
        state = rng.bit_generator.state

        def whole(*args):  # the same random choices inside of the function each time it is traced
            rng.bit_generator.state = state
            return function(*args)

        def partitioned(*args):
            args = [lax.with_sharding_constraint(x, NamedSharding(mesh, s)) for x, s in zip(args, specs)]
            leaves, tree = jax.tree.flatten(whole(*args))
            local = np.random.default_rng([a.seed, number, 1])
            leaves = [lax.with_sharding_constraint(x, NamedSharding(mesh, random_spec(local, x.ndim, list(sizes)))) for x in leaves]
            return jax.tree.unflatten(tree, leaves)

        want = [np.asarray(x) for x in jax.tree.leaves(whole(*map(jnp.asarray, inputs)))]
        text, local_choice = "", np.random.default_rng([a.seed, number, 2])
        try:
            lowered = jax.jit(partitioned, keep_unused=True).lower(*inputs)
            text = lowered.as_text()
            if local_choice.integers(2):  # other choices are cheapest where only bytes cost
                text = text.replace("attributes {", "attributes {tessera.topology = #tessera.topology<alpha = 0.0, beta = 1.0e+06>, ", 1)
            error, _ = spmd_oracle.check(text, inputs, want, a.opt, communicate=True)
        except Exception as e:
            error = f"{type(e).__name__}: {str(e)[:200]}"
        wrong += error is not None
        print(f"{'right' if error is None else 'WRONG'} {number:4d} {make.__name__:22s} {'x'.join(f'{n}{s}' for n, s in sizes.items()):8s} "
              f"{[tuple(x.shape) for x in inputs]} {error or ''}", flush=True)
        if error and a.keep:
            open(f"{a.keep}/{number}.mlir", "w").write(text)
    print(f"seed {a.seed}: {wrong} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
