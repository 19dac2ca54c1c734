"""Bits don't depend on what was fused: a function as one program, and each of its operations as a program of its own.

Functions whose operations the fuse phase puts into few kernels: producers and consumers of sums along rows, columns and
both, of products of matrices and of vectors, of windows; sizes around vectors and blocks."""
import dataclasses
import tempfile
from typing import Callable

import export as exporting
import jax
import jax.numpy as jnp
import numpy as np
from harness import as_numpy, run_text
from jax import lax
from jax.extend.core import Literal


@dataclasses.dataclass
class FusionCase:
    name: str
    function: Callable
    shapes: tuple
    dtype: type = jnp.float32


def total(x, *dims):
    """jnp.sum is in f32 for bf16: a conversion, and so no rounding, of what is added (docs/numbers.md)."""
    kept = [1 if d in dims else size for d, size in enumerate(x.shape)]
    return lax.reduce(x, np.array(0, x.dtype), lax.add, dims).reshape(kept)


def softmax(x):
    e = jnp.exp(x - jnp.max(x, -1, keepdims=True))
    return e / total(e, x.ndim - 1)


def normalise(x, scale, axes=(1,)):
    mean = total(x, *axes) / 96
    variance = total((x - mean) * (x - mean), *axes) / 96
    return (x - mean) * lax.rsqrt(variance + 1e-6) * scale


def column_sums(x, y):
    """Sums over columns beside what is computed of the same elements, and what is computed of the sums."""
    dims = tuple(range(x.ndim - 1))
    p = x * y + x
    return p, total(p, *dims), total(y, *dims), total(jnp.exp(x) * y, *dims), x - total(x, *dims) * y, jnp.tanh(x) * y


def norm_gradient(x, scale, by):
    """Sums over columns of what follows from sums over rows."""
    return jax.vjp(lambda x, scale: normalise(x, scale, (x.ndim - 1,)), x, scale)[1](by)


def batch_norm_gradient(x, scale, by):
    return jax.vjp(lambda x, scale: normalise(x, scale, tuple(range(x.ndim - 1))), x, scale)[1](by)


def channels_first_gradient(x, scale, by):
    """Sums of several values along the same dimensions, some of them of others' results."""
    function = lambda x, scale: normalise(x, scale[:, None, None], (0, 2, 3))
    return jax.vjp(function, x, scale)[1](by)


def moments(x, y):
    """Reductions along the same rows, by other computations and in other orders of need."""
    last = x.ndim - 1
    m = jnp.max(x * y, last, keepdims=True)
    return total(x, last), total(x * y, last), m, jnp.min(y, last), total(x * x, last), total(jnp.exp(x - m) * y, last), total(x - total(y, last), last)


def rows(x, y):
    """Several sums along the same rows, what leads to them and what follows: for elements, and for rows."""
    m = jnp.max(x, -1, keepdims=True)
    e = jnp.exp(x - m)
    s = total(e, x.ndim - 1)
    p = e / s
    t = jnp.tanh(p * y)
    return p * (t - total(t, x.ndim - 1)), jnp.log(s) + m, e[..., ::2], jnp.argmax(t, -1)


def sums(x, y):
    """Along every choice of dimensions, of a product that is computed in the kernel of each."""
    p = x * y + x
    return tuple(lax.reduce(p, np.array(0, p.dtype), lax.add, dims)
                 for dims in ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)))


def moved_sums(x):
    """Of transposed, merged, split and repeated arrays."""
    add = lambda v, *dims: lax.reduce(v * v, np.array(0, v.dtype), lax.add, dims)
    a, b = x.shape
    return (add(x.T, 0), add(x.T, 1), add(x.reshape(a * b), 0), add(x.reshape(a, b // 4, 4), 1, 2), add(x.reshape(a, b // 4, 4), 1),
            add(lax.broadcast_in_dim(x, (a, 5, b), (0, 2)).reshape(a * 5, b), 0), add(lax.broadcast_in_dim(x, (a, b, 5), (0, 1)).reshape(a, b * 5), 1),
            add(jnp.pad(x, ((1, 2), (3, 0))), 1), add(jnp.concatenate([x, 2 * x], 1), 1), add(x[:, 1:] * x[:, :-1], 1), add(x[::2, ::3], 0, 1))


def products(x, y):
    """a of matrices, with what leads to it and what comes after it; transposed; of a vector; in batches."""
    p = jnp.tanh(x) @ (y * y)
    b = lax.dot_general(x.reshape(2, -1, x.shape[1]), (y.T * 2).reshape(2, -1, y.shape[0]), (((2,), (2,)), ((0,), (0,))))
    return p * p + p, jax.nn.relu(p).T, total(p, 0), x[0] @ (y + 1), (x - 1) @ y[:, 0], jnp.dot(x[1] * 2, y[:, 1]), b - 1, softmax(b)


def convolution(x, w):
    p = lax.conv_general_dilated(x * 2, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return jax.nn.relu(p + 1), total(p, 0, 1, 2), lax.reduce_window(p, -np.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def windows(x):
    pool = lambda v, size: lax.reduce_window(v * v, np.array(0, v.dtype), lax.add, (1, size, size), (1, 1, 1), "VALID") / size
    return pool(x, 3), pool(x, 9)


def adam(p, m, v, g):
    m = 0.9 * m + 0.1 * g
    v = 0.999 * v + 0.001 * g * g
    return p - 1e-3 * (m / 0.1) / (jnp.sqrt(jnp.abs(v) / 0.001) + 1e-8), m, v


def picked(x):
    """A cross entropy's gradient: of elements that indices name, of which some name none."""
    labels = (x[:, 0] * 40).astype(jnp.int32)
    return jax.grad(lambda x: jnp.sum(jnp.take_along_axis(jax.nn.log_softmax(x), labels[:, None], -1, mode="fill", fill_value=0)))(x)


def rows_of_table(x):
    """Rows of a table that is computed, complex, read in a loop."""
    table = jnp.exp(lax.complex(0.0, 1.0) * (jnp.arange(5000, dtype=jnp.float32)[:, None] / jnp.array([1.0, 10.0, 300.0])))
    first = (x[:, 0] * 3000).astype(jnp.int32)
    return (lax.fori_loop(0, 3, lambda i, sum: sum + jnp.take(table, first + i, 0, mode="clip").real, jnp.ones((x.shape[0], 3))),)


def updates(x, y):
    """Rows replaced at constant places, parts at places that numbers say (beyond the ends, too) or not at all, and what goes back through updates."""
    rows, i, is_updated = x.shape[0], (x[0, 0] * 5).astype(jnp.int32), y[0, 0] > 0
    rolled, doubled, put = jnp.roll(x, 1, 0), 2 * x, lambda x, i: lax.dynamic_update_slice(x, y, (i, 0))
    back = jax.grad(lambda x: jnp.sum(jnp.sin(lax.dynamic_update_slice(2 * x, y[:1], (i, 0))) * x))
    replaced = doubled.at[1].set(y[0])
    return (rolled.at[0].set(y[0]), rolled.at[2].set(y[1]), jnp.roll(x, -1, 1).at[:, 3].set(x[:, 0]), jnp.where(is_updated, put(x, i), x),
            jnp.where(is_updated, x, put(x, i + rows)), jnp.where(is_updated, put(doubled, i - rows), doubled), replaced[:1] + 1, replaced[1:2], replaced[2:], back(x))


def layers(w, x):
    """A loop and the one that goes back, which reads functions of the same arrays."""
    def layer(h, x):
        h = jnp.tanh(h @ w + x)
        gate = jax.nn.sigmoid(h @ w)
        return h * gate, h * jnp.tanh(gate)
    return (jax.grad(lambda w: jnp.sum(lax.scan(layer, jnp.zeros_like(x[0]), x)[1]))(w),)


def cases():
    f32, bf16, f16, f64 = jnp.float32, jnp.bfloat16, jnp.float16, np.float64
    return [
        *(FusionCase(f"softmax_{n}", softmax, ((33, n),)) for n in (5, 31, 32, 48, 100, 128, 4097)),
        FusionCase("softmax_f64", softmax, ((33, 170),), f64), FusionCase("softmax_bf16", softmax, ((33, 170),), bf16),
        *(FusionCase(f"rows_{'x'.join(map(str, shape))}", rows, (shape,) * 2) for shape in ((70, 3), (100, 17), (33, 2048), (2, 3, 20, 40), (2, 3, 20, 140), (1, 4, 16, 133))),
        FusionCase("rows_f64", rows, ((33, 170),) * 2, f64), FusionCase("rows_bf16", rows, ((33, 700),) * 2, bf16),
        FusionCase("normalise", normalise, ((40, 196), (196,))), FusionCase("normalise_bf16", normalise, ((40, 196), (196,)), bf16),
        FusionCase("normalise_columns", lambda x, s: normalise(x, s, (0, 2, 3)), ((6, 8, 7, 7), (7,))),
        *(FusionCase(f"{function.__name__}_{'x'.join(map(str, shape))}", function, (shape, shape[-1:], shape))
          for function, shape in ((norm_gradient, (8, 70, 256)), (norm_gradient, (3, 197, 160)), (norm_gradient, (1300, 100)), (batch_norm_gradient, (7, 12, 14, 64)), (batch_norm_gradient, (900, 130)))),
        *(FusionCase(f"channels_first_gradient_{'x'.join(map(str, shape))}", channels_first_gradient, (shape, shape[1:2], shape)) for shape in ((4, 6, 14, 14), (3, 5, 9, 56), (2, 3, 5, 115))),
        FusionCase("channels_first_gradient_bf16", channels_first_gradient, ((3, 5, 9, 28), (5,), (3, 5, 9, 28)), bf16),
        *(FusionCase(f"moments_{n}", moments, ((33, n),) * 2) for n in (7, 48, 50, 115, 2048)),
        FusionCase("moments_bf16", moments, ((33, 170),) * 2, bf16), FusionCase("moments_f64", moments, ((33, 41),) * 2, f64),
        FusionCase("norm_gradient_bf16", norm_gradient, ((5, 150, 200), (200,), (5, 150, 200)), bf16), FusionCase("norm_gradient_f64", norm_gradient, ((300, 130), (130,), (300, 130)), f64),
        *(FusionCase(f"column_sums_{'x'.join(map(str, shape))}", column_sums, (shape,) * 2) for shape in ((2100, 50), (4, 131, 150), (30, 40, 3, 25), (70, 6, 30, 33))),
        FusionCase("column_sums_bf16", column_sums, ((4, 131, 150),) * 2, bf16), FusionCase("column_sums_f64", column_sums, ((1030, 50),) * 2, f64),
        FusionCase("sums", sums, ((5, 70, 83),) * 2), FusionCase("sums_small", sums, ((3, 4, 2),) * 2), FusionCase("sums_long", sums, ((2, 300, 1030),) * 2),
        *(FusionCase(f"sums_{np.dtype(kind).name}", sums, ((5, 70, 83),) * 2, kind) for kind in (bf16, f16, f64)),
        *(FusionCase(f"range_{n}", lambda x: jnp.sum(x, 0) - jnp.min(x, 0), ((33, n),)) for n in (1, 5)),
        FusionCase("moved_sums", moved_sums, ((37, 100),)), FusionCase("moved_sums_f64", moved_sums, ((37, 100),), f64),
        FusionCase("products", products, ((6, 300), (300, 20))), FusionCase("products_thin", products, ((34, 130), (130, 2))),
        FusionCase("products_bf16", products, ((34, 140), (140, 48)), bf16), FusionCase("products_f64", products, ((6, 300), (300, 20)), f64),
        FusionCase("products_in_blocks", lambda x, y: (jax.nn.relu(x.T @ y) * 2, x.T @ (y - 1)), ((528, 264), (528, 270))),
        FusionCase("rows_of_table", rows_of_table, ((20, 7),)),
        *(FusionCase(f"updates_{n}", updates, ((6, n), (2, n))) for n in (7, 130)), FusionCase("updates_bf16", updates, ((6, 33), (2, 33)), bf16),
        FusionCase("layers", layers, ((24, 24), (7, 5, 24))),
        *(FusionCase(f"picked_{n}", picked, ((33, n),)) for n in (50, 300)),
        FusionCase("convolution", convolution, ((2, 9, 8, 20), (3, 3, 20, 24))), FusionCase("convolution_bf16", convolution, ((2, 9, 8, 20), (3, 3, 20, 24)), bf16),
        FusionCase("windows", windows, ((4, 20, 30),)), FusionCase("adam", adam, ((33, 50),) * 4), FusionCase("adam_bf16", adam, ((33, 50),) * 4, bf16),
        FusionCase("gelu", jax.nn.gelu, ((33, 50),)), FusionCase("functions", lambda x, y: jnp.log1p(jnp.exp(x * y)) * jnp.sin(x) + lax.rsqrt(x * x + y * y), ((33, 50),) * 2),
        FusionCase("complex", lambda x, y: jnp.abs(lax.complex(x, y) * lax.complex(y, x) + lax.complex(x, x) / lax.complex(x * x + 1, y)), ((33, 50),) * 2),
    ]


def run(function, arguments):
    with tempfile.TemporaryDirectory() as directory:
        wrong, outputs = run_text(jax.jit(function, keep_unused=True).lower(*arguments).as_text(), arguments, directory)
    if wrong:
        raise RuntimeError(wrong)
    return outputs


def one_by_one(jaxpr, arguments, constants):
    """The outputs of a jaxpr, each equation a program of its own, a loop too. A conversion of a bf16 result to f32 would find it rounded here."""
    values = dict(zip(jaxpr.invars, arguments)) | dict(zip(jaxpr.constvars, constants))
    read = lambda v: v.val if isinstance(v, Literal) else values[v]
    for equation in jaxpr.eqns:
        operands = [jnp.asarray(read(v), v.aval.dtype) for v in equation.invars]
        inner = equation.params.get("jaxpr", equation.params.get("call_jaxpr"))
        if inner is not None and equation.primitive is not lax.scan_p:
            results = one_by_one(inner.jaxpr, operands, inner.consts)
        else:
            bind = lambda *args: equation.primitive.bind(*args, **equation.params)
            results = run(lambda *args: bind(*args) if equation.primitive.multiple_results else [bind(*args)], operands)
        for v, result in zip(equation.outvars, results):
            values[v] = jnp.asarray(result).astype(v.aval.dtype)
    return [read(v) for v in jaxpr.outvars]


def check(case):
    with exporting.jax.enable_x64(case.dtype == np.float64):
        random = np.random.default_rng(5)
        arguments = [jnp.asarray(random.standard_normal(shape)).astype(case.dtype) for shape in case.shapes]
        traced = jax.make_jaxpr(case.function)(*arguments)
        wrong = None
        for i, (got, alone) in enumerate(zip(run(case.function, arguments), one_by_one(traced.jaxpr, arguments, traced.consts))):
            alone = as_numpy(alone)
            if got.tobytes() != alone.tobytes() and not wrong:
                wrong = f"out{i}: {np.count_nonzero(got != alone)} of {got.size} have other bits alone"
        yield {}, wrong
