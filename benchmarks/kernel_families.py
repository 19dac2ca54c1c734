"""The kernels of kernels.py: a function a family, each yielding cases. `flops` of 0: the case is measured by its bytes, each
argument read and each result written once, or by `bytes` where it does not touch all of them. Families that take a scale have
so many times the rows: what moves bytes is beside a copy out of memory, so caches should hold none of its arrays."""
import dataclasses
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


@dataclasses.dataclass
class Case:
    name: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    flops: float = 0
    bytes: float | None = None
    donated: tuple[int, ...] = ()
    target: float | None = None  # of the issue: the least share
    kind: str = "f32"  # of the square product whose rate `flops` are beside


def normal(*shape, dtype=np.float32):
    return np.random.default_rng(math.prod(shape)).standard_normal(shape, np.float32).astype(dtype)


def below(bound, *shape):
    return np.random.default_rng(7).integers(0, bound, shape, np.int32)


def elementwise(scale=1):
    x = normal(8192 * scale, 2048)
    yield Case("x + 2x, rows of 2048", lambda x: x + 2 * x, (x,), target=0.8)
    yield Case("gelu", jax.nn.gelu, (x,))
    yield Case("silu(x) * y", lambda x, y: jax.nn.silu(x) * y, (x, normal(2048, 8192 * scale).reshape(x.shape)))


def _layer_norm(x, scale, shift):
    centred = x - x.mean(-1, keepdims=True)
    return centred * jax.lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-6) * scale + shift


def _rms_norm(x, scale):
    return x * jax.lax.rsqrt((x**2).mean(-1, keepdims=True) + 1e-6) * scale


def _batch_norm(x, scale, shift):
    mean, square = x.mean((0, 1, 2)), (x**2).mean((0, 1, 2))
    return (x - mean) * jax.lax.rsqrt(square - mean**2 + 1e-5) * scale + shift, mean, square


def gradient(function):
    """Of all arguments but the last, which is the cotangent."""
    return lambda *arguments: jax.vjp(function, *arguments[:-1])[1](arguments[-1])


def rows(scale=1):
    x, by = normal(8192 * scale, 2048), normal(2048, 8192 * scale).reshape(-1, 2048)
    one, other = normal(2048), normal(1, 2048)[0]
    for name, function, arguments in (("softmax", jax.nn.softmax, (x,)), ("log-softmax", jax.nn.log_softmax, (x,)),
                                      ("layer norm", _layer_norm, (x, one, other)), ("RMS norm", _rms_norm, (x, one))):
        yield Case(f"{name}, rows of 2048", function, arguments, target=0.8)
        yield Case("  its gradient", gradient(function), (*arguments, by), target=0.8)
    images = normal(32 * scale, 56, 56, 64)
    train = lambda x, scale, shift: _batch_norm(x, scale, shift)[0]
    yield Case("batch norm, images of 56x56x64", _batch_norm, (images, normal(64), normal(1, 64)[0]), target=0.8)
    yield Case("  its gradient", gradient(train), (images, normal(64), normal(1, 64)[0], images[::-1].copy()), target=0.8)


def _cross_entropy(logits, labels):
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], -1).mean()


def cross_entropy(scale=1):
    for count, words in ((8192 * scale, 2048), (1024 * scale, 32000)):
        logits, labels = normal(count, words), below(words, count)
        yield Case(f"cross entropy, {count}x{words}", _cross_entropy, (logits, labels), target=0.8)
        yield Case("  with its gradient", jax.value_and_grad(_cross_entropy), (logits, labels), target=0.8)


def _adam(step, weights, gradients, first, second):
    step = step + 1

    def one(w, g, m, v):
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        return w - 1e-3 * (m / (1 - 0.9**step)) / (jnp.sqrt(v / (1 - 0.999**step)) + 1e-8), m, v

    done = [one(*leaf) for leaf in zip(weights, gradients, first, second)]
    return step, *map(list, zip(*done))


def adam(scale=1):
    shapes = [(512 * scale, 512)] * 32 + [(2048 * scale, 512)] * 8 + [(512,)] * 24
    trees = [[normal(*shape) for shape in shapes] for _ in range(3)] + [[abs(normal(*shape)) for shape in shapes]]
    yield Case(f"Adam, 64 arrays of {16 * scale} M", _adam, (np.float32(3), *trees), donated=(0, 1, 3, 4), target=0.8)


def _scan(gates, x):
    return jax.lax.associative_scan(lambda a, b: (a[0] * b[0], b[0] * a[1] + b[1]), (gates, x), axis=1)[1]


def running(scale=1):
    x = normal(8192 * scale, 2048)
    yield Case("sum along rows", lambda x: jnp.cumsum(x, 1), (x,), target=0.8)
    yield Case("sum along columns", lambda x: jnp.cumsum(x, 0), (x,), target=0.8)
    yield Case("maximum along rows", lambda x: jax.lax.cummax(x, 1), (x,), target=0.8)
    gates, values = normal(8 * scale, 2048, 512), normal(8 * scale, 512, 2048).reshape(-1, 2048, 512)
    yield Case("associative scan, sequences of 2048x512", _scan, (gates, values), target=0.8)


def gathers(scale=1):
    count, rows = 16384 * scale, 32000 * scale
    table, index, update = normal(rows, 1024), below(rows, count), normal(count, 1024)
    touched = 2.0 * update.nbytes
    yield Case(f"{count} rows of 1024", lambda t, i: t[i], (table, index), bytes=touched, target=0.8)
    yield Case("  its gradient", lambda i, u: jnp.zeros((rows, 1024), u.dtype).at[i].add(u), (index, update),
               bytes=touched + update.nbytes + table.nbytes, target=0.8)


def transposes(scale=1):
    for dtype, *sizes in ((np.float32, 8192, 2048), (np.float32, 4001, 3003), (jnp.bfloat16, 4096, 8192), (jnp.bfloat16, 5001, 3007),
                          (np.int8, 8192, 8192), (np.int8, 6001, 7001)):
        x = jnp.asarray(normal(sizes[0] * scale, sizes[1], dtype=dtype))
        yield Case(f"transposed + 1, {x.dtype} {x.shape[0]}x{x.shape[1]}", lambda x: x.T + 1, (x,), target=0.7)
    yield Case("heads to the front, 1024x16x64", lambda x: x.transpose(0, 2, 1, 3) + 1, (normal(8 * scale, 1024, 16, 64),), target=0.7)
    yield Case("heads last, 16x64x1024", lambda x: x.transpose(0, 3, 1, 2) + 1, (normal(8 * scale, 16, 64, 1024),), target=0.7)
    yield Case("batched, 512x513", lambda x: x.transpose(0, 2, 1) + 1, (normal(64 * scale, 512, 513),), target=0.7)
    yield Case("back to front, 512x257", lambda x: x.transpose(2, 1, 0) + 1, (normal(128 * scale, 512, 257),), target=0.7)
    x, y = normal(4096 * scale, 4096), normal(4096, 4096 * scale)
    yield Case("x + y transposed", lambda x, y: x + y.T, (x, y), target=0.7)


def sorts():
    x = normal(512, 4096)
    yield Case("sort, 512 rows of 4096", lambda x: jnp.sort(x, -1), (x,))
    yield Case("argsort, 512 rows of 4096", lambda x: jnp.argsort(x, -1), (x,))
    yield Case("top 64 of 512 rows of 32000", lambda x: jax.lax.top_k(x, 64), (normal(512, 32000),))


def _attention(mask):
    def attend(q, k, v):
        scores = jnp.einsum("bhtk,bhsk->bhts", q, k) * q.shape[-1] ** -0.5
        if mask:
            scores = jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], bool)), scores, -1e30)
        return jnp.einsum("bhts,bhsk->bhtk", jax.nn.softmax(scores, -1), v)

    return attend


def attention(
    shapes=("4x8x1024x64", "4x8x1024x128", "2x4x4096x64", "1x2x8192x128"), kinds=("f32", "bf16")
):
    """Of the work that is computed: causal counts half."""
    for shape in shapes:
        batch, heads, length, channels = sizes = [int(size) for size in shape.split("x")]
        product = 2.0 * batch * heads * length * length * channels
        for kind in kinds:
            q, k, v, by = (normal(*sizes, dtype=jnp.bfloat16 if kind == "bf16" else np.float32) for _ in range(4))
            for name, mask, part in ((f"{shape} {kind}", False, 1), ("  causal", True, 0.5)):
                yield Case(name, _attention(mask), (q, k, v), flops=2 * part * product, target=0.75, kind=kind)
                yield Case("  its gradient", gradient(_attention(mask)), (q, k, v, by), flops=6 * part * product, target=0.65, kind=kind)


def _convolution(**options):
    return lambda x, w: jax.lax.conv_general_dilated(x, w, padding="SAME", **{
        "window_strides": (1, 1), "dimension_numbers": ("NHWC", "HWIO", "NHWC"), **options})


def convolutions():
    x, w = normal(8, 56, 56, 64), normal(3, 3, 64, 64)
    for name, w, options in (
            ("3x3, 64 channels", w, {}), ("channels first", w, {"dimension_numbers": ("NCHW", "HWIO", "NCHW")}),
            ("strided", w, {"window_strides": (2, 2)}), ("dilated", w, {"rhs_dilation": (2, 2)}),
            ("1x1", normal(1, 1, 64, 64), {}), ("depthwise", normal(3, 3, 1, 64), {"feature_group_count": 64})):
        first = name == "channels first"
        image = np.ascontiguousarray(x.transpose(0, 3, 1, 2)) if first else x
        function = _convolution(**options)
        shape = jax.eval_shape(function, image, w).shape
        flops = 2.0 * math.prod(shape) * math.prod(w.shape[:3])
        cotangent = normal(*shape)
        yield Case(name, function, (image, w), flops=flops, target=0.75)
        for what, i in (("  of the images", 0), ("  of the filters", 1)):
            yield Case(what, lambda x, w, by, f=function, i=i: jax.vjp(f, x, w)[1](by)[i], (image, w, cotangent),
                       flops=flops, target=0.75)


FAMILIES = {f.__name__: f for f in (elementwise, rows, cross_entropy, adam, running, gathers, transposes, sorts, attention,
                                    convolutions)}
SCALED = [f.__name__ for f in (elementwise, rows, cross_entropy, adam, running, gathers, transposes)]
