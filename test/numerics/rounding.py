"""Which ops round as XLA:CPU does: the share of results with the same bits as JAX's must not fall below a floor.

docs/rationale/tolerances.md tells why it matters. XLA's order depends on the vector length: elsewhere than with AVX-512,
where it was found, nothing is checked."""
import dataclasses
import tempfile
from typing import Callable

import jax
import jax.numpy as jnp
import numpy as np
from harness import run_text

AVX512 = "avx512bw" in open("/proc/cpuinfo").read()


@dataclasses.dataclass
class RoundingCase:
    name: str
    function: Callable
    shapes: tuple
    floor: float = 1.0
    positive: bool = False
    kind: type = jnp.float32


def einsum(formula, *shapes, floor=1.0, kind=jnp.float32):
    return RoundingCase(
        f"{formula} in {kind.__name__}",
        lambda a, b: jnp.einsum(formula, a, b).astype(jnp.float32),
        shapes,
        floor,
        kind=kind,
    )


def narrow_sum(name, dims, shape, kind=jnp.bfloat16):
    """What differentiation writes; jnp.sum converts to f32."""
    return RoundingCase(name, lambda x: jax.lax.reduce(x * x, kind(0), jax.lax.add, dims), shape, kind=kind)


def cases():
    rows, heads, many_heads = (384, 192), (4, 96, 2, 24), (8, 96, 8, 24)
    scores = (4, 2, 96, 96)
    return [
        RoundingCase("exp", jnp.exp, rows),
        RoundingCase("rsqrt", jax.lax.rsqrt, rows, positive=True),
        RoundingCase("logistic", jax.nn.sigmoid, rows),
        RoundingCase("sin", jnp.sin, rows, 0.999),
        RoundingCase("cos", jnp.cos, rows, 0.999),
        RoundingCase("power", lambda k: 1 / 10000 ** (k / 24), rows, 0.99),
        RoundingCase("quotient by a constant", lambda x: x / 3, rows),
        RoundingCase("sum of rows", lambda x: jnp.sum(x, -1), rows),
        RoundingCase("sum of long rows", lambda x: jnp.sum(x, -1), (384, 640)),
        RoundingCase("sum of squares", lambda x: jnp.mean(jnp.square(x), -1), rows),
        RoundingCase("sum of products", lambda x: jnp.sum(x * jnp.flip(x, 0), -1), rows, 0.99),
        *(RoundingCase(f"sum of products in one row of a batch, {k} each", lambda x, y: jnp.sum(x * y, -1),
                       ((1, 96, k), (1, 96, k))) for k in (96, 102, 640)),
        *(RoundingCase(f"sum of columns of {shape}", lambda x: jnp.sum(x, range(x.ndim - 1)), (shape,))
          for shape in ((96, 192), (384, 192), (8, 96, 192), (20, 10, 192), (4096, 1000), (30, 20))),
        RoundingCase("root mean square", lambda x: x * jax.lax.rsqrt(jnp.mean(jnp.square(x), -1, keepdims=True) + 1e-6),
                     rows),
        RoundingCase("softmax", lambda x: jax.nn.softmax(x, -1), scores, 0.99),
        einsum("tk,kd->td", rows, (192, 128)),
        einsum("tk,kd->td", rows, (192, 24)),
        *(einsum("tk,kd->td", (48, 192), (192, n)) for n in (96, 192, 320, 512)),
        einsum("tk,dk->td", (768, 640), (192, 640)),
        einsum("kt,kd->td", (768, 192), (768, 512)),
        einsum("btd,btf->df", (4, 96, 192), (4, 96, 48)),
        einsum("bthk,bshk->bhts", heads, heads),
        einsum("bhts,bshk->bthk", scores, heads),
        einsum("bhts,bthk->bshk", scores, heads, floor=0.99),
        einsum("bhtk,bhsk->bhts", (4, 2, 24, 96), (4, 2, 24, 96)),
        *(einsum("tk,kd->td", rows, (192, n), kind=jnp.bfloat16) for n in (256, 96, 48)),
        einsum("td,fd->tf", rows, (256, 192), kind=jnp.bfloat16),
        einsum("btd,btf->df", (4, 96, 192), (4, 96, 256), kind=jnp.bfloat16),
        einsum("bthk,bshk->bhts", heads, heads, kind=jnp.bfloat16),
        einsum("bhts,bshk->bthk", scores, heads, kind=jnp.bfloat16),
        RoundingCase("softmax of a product", attention, (heads, heads), 0.99),
        RoundingCase("gradient of attention", attention_gradient, (heads,) * 4, 0.99),
        RoundingCase("gradient of attention, one row of a batch", attention_gradient, ((1, 96, 8, 24),) * 4, 0.99),
        RoundingCase("gradient of a large attention", attention_gradient, (many_heads,) * 4, 0.99),
        RoundingCase("transposed product in bf16", lambda a, b: jnp.einsum("btv,btd->vd", a, b).T,
                     ((8, 96, 640), (8, 96, 192)), kind=jnp.bfloat16),
        RoundingCase("large attention in bf16", projected_attention, (many_heads,) * 3 + ((8, 24, 192),),
                     kind=jnp.bfloat16),
        RoundingCase("gradient of a large attention in bf16", narrow_gradient, (many_heads,) * 3 + ((8, 24, 192),),
                     kind=jnp.bfloat16),
        RoundingCase("large softmax in bf16", lambda x: jax.nn.softmax(x, -1), (4096, 64), kind=jnp.bfloat16),
        RoundingCase("quotient of bf16 rows", lambda x: x / jnp.max(jnp.abs(x), -1, keepdims=True), (384, 192),
                     kind=jnp.bfloat16),
        RoundingCase("loss of bf16 logits", loss_gradient, ((8, 96, 192), (192, 640)), kind=jnp.bfloat16),
        narrow_sum("sum of bf16 rows", (1,), rows),
        narrow_sum("sum of long bf16 rows", (1,), (8, 2048)),
        narrow_sum("sum of ragged bf16 rows", (1,), (384, 100)),
        narrow_sum("sum of bf16 columns", (0, 1), (4, 96, 192)),
        narrow_sum("sum of a bf16 array", (0, 1, 2), (4, 96, 33)),
        narrow_sum("sum of f16 rows", (1,), rows, jnp.float16),
    ]


def attention_gradient(q, k, v, g):
    output = lambda q, k, v: jnp.einsum("bhts,bshk->bthk", attention(q, k), v)
    return sum(jax.vjp(output, q, k, v)[1](g))


def projected_attention(q, k, v, w):
    scores = jnp.einsum("bthk,bshk->bhts", q, k).astype(jnp.float32)
    weights = jax.nn.softmax(scores, -1).astype(q.dtype)
    return jnp.einsum("bthk,hkd->btd", jnp.einsum("bhts,bshk->bthk", weights, v), w)


def narrow_gradient(q, k, v, w):
    loss = lambda q, v: jnp.mean(jnp.square(projected_attention(q, k, v, w).astype(jnp.float32)))
    of_q, of_v = jax.grad(loss, (0, 1))(q, v)
    return of_q + of_v


def loss_gradient(x, w):
    loss = lambda x: jnp.mean(jax.nn.log_softmax((x @ w).astype(jnp.float32), -1)[..., 0])
    return jax.grad(loss)(x)


def attention(q, k):
    return jax.nn.softmax(jnp.einsum("bthk,bshk->bhts", q, k), -1)


def check(case):
    if not AVX512:
        return
    shapes = case.shapes if isinstance(case.shapes[0], tuple) else (case.shapes,)
    random = np.random.default_rng(0)
    args = [random.standard_normal(shape).astype(np.float32) for shape in shapes]
    if case.positive:
        args = [np.abs(x) for x in args]
    args = [x.astype(case.kind) for x in args]
    function = jax.jit(case.function)
    wanted = np.asarray(function(*args)).astype(np.float32)
    with tempfile.TemporaryDirectory() as directory:
        wrong, outputs = run_text(function.lower(*args).as_text(), args, directory)
    if not wrong:
        share = np.mean(outputs[0] == wanted)
        wrong = None if share >= case.floor else f"{share:.4f} have JAX's bits, not {case.floor}"
    yield {}, wrong
