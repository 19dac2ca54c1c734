"""Programs that jax.export writes with symbolic shapes, compiled for given shapes and run, against JAX on the same inputs."""
import argparse
import os
import sys
import tempfile

import command_line
import jax
import jax.numpy as jnp
import numpy as np
from jax import export, lax

A, B = export.symbolic_shape("a, b", constraints=["a >= 3", "b >= 2"])
(N,) = export.symbolic_shape("n", constraints=["n >= 3"])
(EVEN,) = export.symbolic_shape("2*n")


def attention(x, w):
    q, k = x @ w, x @ (2 * w)
    scores = jax.nn.softmax(q @ k.T / jnp.sqrt(jnp.float32(x.shape[1])), axis=-1)
    return scores @ x, jnp.mean(x, axis=0), jnp.var(x)


def movement(x, y):
    n = x.shape[0]
    return (jnp.concatenate([x, y], 0), jnp.concatenate([x, y], 0).reshape(-1)[: n // 2], jnp.arange(n) * 2, jnp.pad(x, ((1, 2), (0, 1))), x[::-1, 1:], jnp.tile(x, (2, 1)),
            x.reshape(-1, 1, 3), jnp.broadcast_to(x[:, None, :], (n, 4, 3)), jnp.zeros((n, x.shape[1] + n)), x.T, x.at[1:3].set(0.0), jnp.stack([x, x], 1), jnp.roll(x, 1, 0), jnp.repeat(x, 2, axis=0, total_repeat_length=2 * n))


def loops(x):
    n = x.shape[0]
    _, prefix = lax.scan(lambda s, row: (s + row, s * row), jnp.zeros(x.shape[1:]), x)
    total = lax.fori_loop(0, n, lambda i, s: s + x[i] * i, jnp.zeros(x.shape[1:]))
    grown = lax.while_loop(lambda c: c[0] < n, lambda c: (c[0] + 1, c[1] * 1.5), (0, x))[1]
    either = lax.cond(jnp.int32(n) > 4, lambda v: v * 2, lambda v: v - 1, x)
    switched = lax.switch(jnp.int32(n % 3), [lambda v: v, lambda v: -v, lambda v: v + 1], x)
    return prefix, total, grown, either, switched


def ordering(x):
    return jnp.sort(x, 0), jnp.argsort(x, 1), jnp.argmax(x, 0), jnp.cumsum(x, 0), jnp.cumprod(x / 2, 1), lax.top_k(x, 2)[0], jnp.max(x), jnp.flip(x), jnp.any(x > 1, 0)


def indexing(x, i):
    return x[i], jnp.take(x, i, axis=0), jnp.take_along_axis(x, i[:, None] % 3, 1), x.at[i].add(1.0), lax.dynamic_slice(x, (i[0], 0), (2, 2)), lax.dynamic_update_slice(x, x[:1] * 3, (i[1], 0)), jax.nn.one_hot(i, x.shape[0]), jnp.where(x > 0, x, jnp.float32(x.shape[0]))


def windows(x, k):
    image, kernel = x[None, :, :, None], k[:, :, None, None]
    return (lax.conv_general_dilated(image, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")), lax.conv_general_dilated(image, kernel, (2, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC")),
            lax.reduce_window(x, 0.0, lax.add, (2, 2), (1, 1), "SAME"), lax.reduce_window(x, -jnp.inf, lax.max, (2, 1), (2, 1), "VALID"), lax.cummax(x, 0))


def scalars(x):
    n = jnp.float32(x.shape[0])
    return n * 2, jnp.int32(x.shape[0] * x.shape[1] - 1), jnp.linspace(0.0, 1.0, 5) * n, jnp.eye(x.shape[0]), jnp.tri(x.shape[0]), jnp.full((x.shape[1],), n), jnp.sum(x) / x.size


def halves(x):
    return x.reshape(2, -1), x[: x.shape[0] // 2], jnp.split(x, 2)[1], x.reshape(x.shape[0] // 2, 2).sum(1)


def special(x):
    return jax.scipy.special.erf(x), jax.nn.gelu(x), jax.scipy.special.gammaln(jnp.abs(x) + 1), jnp.arcsinh(x), jax.nn.logsumexp(x, 1), jnp.linalg.norm(x, axis=0), lax.erf_inv(x / 10)


def gradient(x, w):
    return jax.grad(lambda v: jnp.sum(jnp.tanh(v @ w) ** 2))(x), jax.vmap(lambda row: jnp.outer(row, row))(x)


def mixed(x, y):
    return jnp.einsum("ak,bk->ab", x, y), jnp.minimum(x.shape[0], y.shape[0]) * x, x[: min(2, 3)], jnp.kron(x[:2], y[:2])


def moving(x, i):
    """Slices of sizes that are arithmetic on shapes, where data says."""
    recurrent = lax.scan(lambda state, row: (0.5 * state + row, state.sum()), jnp.zeros(x.shape[1]), x)
    return *recurrent, lax.dynamic_slice_in_dim(x, i, x.shape[0] // 2), lax.dynamic_index_in_dim(x, i, 1), x[i]


F = np.float32
CASES = {  # the function, its arguments' shapes and types, the shapes that it is compiled for
    "attention": (attention, [((N, 8), F), ((8, 8), F)], [[(5, 8), (8, 8)], [(16, 8), (8, 8)]]),
    "movement": (movement, [((A, 3), F), ((B, 3), F)], [[(4, 3), (5, 3)], [(7, 3), (2, 3)]]),
    "loops": (loops, [((N, 3), F)], [[(4, 3)], [(9, 3)]]),
    "ordering": (ordering, [((N, 5), F)], [[(6, 5)]]),
    "indexing": (indexing, [((N, 3), F), ((N,), np.int32)], [[(6, 3), (6,)]]),
    "moving": (moving, [((A, B), F), ((), np.int32)], [[(7, 4), ()]]),
    "windows": (windows, [((A, B), F), ((2, 2), F)], [[(6, 7), (2, 2)]]),
    "scalars": (scalars, [((A, B), F)], [[(6, 4)]]),
    "halves": (halves, [((EVEN,), F)], [[(8,)], [(2,)]]),
    "special": (special, [((A, B), F)], [[(3, 5)]]),
    "gradient": (gradient, [((N, 4), F), ((4, 6), F)], [[(5, 4), (4, 6)]]),
    "mixed": (mixed, [((A, 4), F), ((B, 4), F)], [[(5, 4), (3, 4)]]),
}


def tessera(*arguments):
    done = command_line.tessera(*arguments)
    return done.returncode, done.stderr.strip()


def check(name, directory):
    function, arguments, shapes = CASES[name]
    exported = export.export(jax.jit(function))(*(jax.ShapeDtypeStruct(s, d) for s, d in arguments))
    source, program = os.path.join(directory, "in.mlir"), os.path.join(directory, "p.tsr")
    with open(source, "w") as file:
        file.write(exported.mlir_module())
    status, error = tessera("compile", source, "-o", program)
    if status != 1 or "--input-shapes=in0:" not in error or "argument 0" not in error:
        yield f"without shapes: {error or 'compiled'}"
    for given in shapes:
        rng = np.random.default_rng(0)
        values = [rng.integers(0, 3, s).astype(d) if np.issubdtype(d, np.integer) else rng.uniform(-2, 2, s).astype(d) for s, (_, d) in zip(given, arguments)]
        text = ",".join(f"in{i}:" + "x".join([*map(str, s), "f32" if d is F else "i32"]) for i, (s, (_, d)) in enumerate(zip(given, arguments)))
        status, error = tessera("compile", source, "-o", program, f"--input-shapes={text}", "--verify-each")
        if status:
            yield f"{text}: {error}"
            continue
        np.savez(os.path.join(directory, "in.npz"), **{f"in{i}": v for i, v in enumerate(values)})
        outputs = os.path.join(directory, "out.npz")
        status, error = tessera("run", program, f"--inputs={os.path.join(directory, 'in.npz')}", f"--outputs={outputs}")
        if status:
            yield f"{text}: run: {error}"
            continue
        got = np.load(outputs)
        for i, want in enumerate(jax.tree.leaves(jax.jit(function)(*values))):
            want, have = np.asarray(want), got[f"out{i}"]
            if have.shape != want.shape or not np.allclose(have, want, rtol=2e-5, atol=2e-5, equal_nan=True):
                yield f"{text}: output {i}: shape {have.shape} for {want.shape}" if have.shape != want.shape else f"{text}: output {i}: differs by {np.max(np.abs(have - want))}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", default=[])
    options = parser.parse_args()
    failures = 0
    names = options.cases or list(CASES)
    for name in names:
        with tempfile.TemporaryDirectory() as directory:
            for failure in check(name, directory):
                failures += 1
                print(f"{name}: {failure}", flush=True)
    print(f"{len(names)} functions, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
