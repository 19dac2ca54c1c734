"""Programs on GPUs without a GPU: compiled with --target=cuda and run by `tessera run` over a stand-in for NVIDIA's driver
($LD_LIBRARY_PATH names it; test/gpu/emulator), beside the same programs on the cpu. Bits are the same: both have the code of one
emitter, and orders of sums are the operation's own (docs/numbers.md); but for products of bf16 and f16, which tensor cores add up in their
own order, and for attention: those are held against their distance from f64. What the emulator counts is held against the least. Where CUDA's `ptxas` is installed, it assembles every kernel, which must spill no register.

  programs.py [--first-only] [NAME..]       --first-only: up to the first that is wrong
"""
import collections
import json
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "numerics"), HERE]

import jax

jax.config.update("jax_enable_x64", True)
import jax.numpy as jnp
import numpy as np
from jax import lax
import ptxas
from command_line import tessera

# cpu: with FMA, without the tiles of AMX, whose order of sums is the instruction's.
TARGETS = {"cpu": ["--target-cpu=x86-64-v3", "--topology=a100"], "cuda": ["--target=cuda:sm_80"], "sm_90a": ["--target=cuda:sm_80,sm_90a"]}
PROGRAMS = {}
Program = collections.namedtuple("Program", "function arguments least donate banks near warpgroups")


def program(*shapes, dtypes="float32", least=None, donate=(), banks=None, near=False, warpgroups=None):
    """`least`: at most so many times the least bytes and sectors may be moved, by all kernels together; `banks`: the same of the turns in which
    banks of shared memory are asked; None: any. `near`: sums have an order of their own. `warpgroups`: the program is for sm_90a too,
    and runs on one; whether its products are those of warpgroups."""
    def add(function):
        kinds = [dtypes] * len(shapes) if isinstance(dtypes, str) else dtypes
        arguments = [jax.ShapeDtypeStruct(s, k) for s, k in zip(shapes, kinds)]
        PROGRAMS[function.__name__] = Program(function, arguments, least, donate, banks, near, warpgroups)
        return function
    return add


@program((128, 256), (256,))
def add_row(x, y):
    return jnp.exp(x + y)


@program((1000, 37), (1000, 37), least=1.05)
def no_multiple_of_anything(x, y):
    return jnp.where(x > y, x * 2 - y, jnp.sqrt(jnp.abs(y)) / (1 + x * x))


@program((33, 130), banks=1.05)
def transposed(x):
    return x.T + 1, x[::2, 5:90], x[::-1]


@program((64, 96), (96, 64), least=1.05, banks=1.05)
def transposed_and_added(x, y):
    return x.T + y, (x + y.T).astype(jnp.bfloat16)


@program((3, 40, 72), dtypes="uint8", banks=1.05)
def transposed_bytes(x):
    return x.transpose(0, 2, 1) + 1


@program((17, 64), (17, 30))
def concatenated(x, y):
    return jnp.concatenate([x, -y, x], axis=1), jnp.pad(y, ((1, 2), (0, 3)), constant_values=7)


@program((64, 96), dtypes="bfloat16", least=1.05)
def bf16(x):
    return x * x + jnp.bfloat16(0.3), jnp.tanh(x.astype(jnp.float32))


@program((100, 37), (5, 37, 53), (5,), dtypes=["float32", "float32", "uint8"])
def ragged_rows(x, w, sizes):
    return lax.ragged_dot(x, w, (sizes % 40).astype(jnp.int32))


@program((60, 16), (14, 16, 24), (14,), dtypes=["float32", "float32", "uint8"])
def ragged_short_rows(x, w, sizes):
    return lax.ragged_dot(x, w, (sizes % 8).astype(jnp.int32))


@program((150, 40), (3, 40, 72), (3,), (150, 72), dtypes=["float32", "float32", "uint8", "float32"])
def ragged_gradients(x, w, sizes, g):
    return jax.vjp(lambda x, w: lax.ragged_dot(x, w, (sizes % 70).astype(jnp.int32)), x, w)[1](g)


@program((150, 64), (4, 64, 72), (4,), (150, 72), dtypes=["bfloat16", "bfloat16", "uint8", "bfloat16"], near=True)
def ragged_bf16(x, w, sizes, g):
    product, back = jax.vjp(lambda x, w: lax.ragged_dot(x, w, (sizes % 50).astype(jnp.int32)), x, w)
    return product, *back(g)


@program((50, 40), dtypes="float16")
def f16(x):
    return x * x - x / 3, x.astype(jnp.float32) * 1e-3


@program((3000,), (3000,), dtypes="int32")
def integers(x, y):
    return x // jnp.where(y == 0, 3, y), x % 7, jnp.bitwise_xor(x << 3, y >> 2), lax.population_count(x), lax.clz(y), jnp.maximum(x, y)


@program((300,), (300,), dtypes=("uint8", "int64"))
def narrow_and_wide(x, y):
    return x + 200, x // 3, y * y, y >> 7, (y > 5) & (x < 100)


@program((40, 50))
def functions(x):
    return jnp.exp(x), jnp.log(jnp.abs(x)), jnp.tanh(x), jax.nn.sigmoid(x), lax.erf(x), jnp.expm1(x), jnp.log1p(jnp.abs(x)), jnp.power(jnp.abs(x), 1.7), lax.cbrt(x), jnp.arctan2(x, 2 - x), jnp.sign(x), jnp.round(x * 8)


@program((20, 30), dtypes="float64")
def doubles(x):
    return x * x / 3 + jnp.sqrt(jnp.abs(x)), jnp.floor(x), x.astype(jnp.float32)


@program((6, 40), (6, 40), dtypes="float64")
def functions_of_doubles(x, y):
    near = (jnp.exp(x), jnp.expm1(x), jnp.log(jnp.abs(x)), jnp.log1p(jnp.abs(x)), jnp.tanh(x), jax.nn.sigmoid(x), lax.erf(x), lax.erfc(x), lax.cbrt(x))
    wide = x * jnp.exp2(jnp.round(y * 300))  # magnitudes of all kinds
    return *near, jnp.sin(wide), jnp.cos(wide), jnp.tan(wide), jnp.arctan2(wide, y), jnp.power(jnp.abs(wide), y), jnp.log(jnp.abs(wide)), lax.lgamma(x)


@program((5, 30), (5, 30), dtypes="complex128")
def functions_of_complex_doubles(x, y):
    return jnp.exp(x), jnp.log(y), jnp.sqrt(x), x ** y, jnp.tanh(y), jnp.sin(x)


@program((4, 50), dtypes="float32")
def huge_angles(x):
    wide = x * jnp.exp2(jnp.round(x * 40))
    return jnp.sin(wide), jnp.cos(wide), jnp.tan(wide)


@program((4, 200), dtypes="float64")
def softmax_of_doubles(x):
    return jax.nn.softmax(x, axis=-1)


@program((8, 3000))
def softmax(x):
    return jax.nn.softmax(x, axis=-1)


@program((64, 800), least=1.05)
def softmax_of_rows(x):
    return jax.nn.softmax(x, axis=-1)


@program((3, 16500))
def softmax_of_long_rows(x):
    return jax.nn.softmax(x, axis=-1)


@program((300,), (20,), (5000,), (20000,))
def single_rows(*rows):
    return tuple(jax.nn.softmax(row) for row in rows)


@program((3, 5, 7, 11), (4, 6, 100))
def rows_of_several_dimensions(x, y):
    return jax.nn.softmax(x, axis=(2, 3)), jax.nn.softmax(x, axis=-1), y / y.sum((1, 2), keepdims=True), jax.nn.softmax(y.transpose(1, 0, 2), axis=-1), jax.nn.softmax(y, axis=1)


@program((37, 50), (37,), (50, 9), dtypes=("int32", "int32", "float32"))
def rows_that_are_looked_up(ids, row, table):
    found = jnp.take(table[:, 0], jnp.abs(ids) % 50, mode="clip") * jnp.take(table[:, 1], jnp.abs(row) % 50, mode="clip")[:, None]
    return found / (1 + found.sum(-1, keepdims=True)), jnp.argmax(found, axis=-1), (ids // (1 + jnp.abs(row)[:, None])).max(-1)


@program((33, 70), (33, 20), dtypes="float64")
def rows_of_doubles(x, y):
    return x / x.sum(-1, keepdims=True), y - y.max(-1, keepdims=True), (y > 0).any(-1)


@program((19, 500))
def rows_added_in_two_types(x):
    """Their sums lie in the same shared memory, one after the other."""
    centred = x - x.max(-1, keepdims=True)
    return centred / (centred.astype(jnp.float64) ** 2).sum(-1, keepdims=True)


@program((20, 96), (20, 96), donate=(0, 1))
def rows_in_place(x, y):
    centred = x - x.mean(-1, keepdims=True)
    return centred * 2, y + centred


@program((12, 30), (12, 34))
def joined_rows(x, y):
    joined = jnp.concatenate([x, y], axis=1)
    return joined / joined.sum(-1, keepdims=True), jnp.pad(x, ((0, 0), (1, 1))) - x.max(-1, keepdims=True)


@program((12, 40), (70, 9))
def padded_rows(x, y):
    """What a row keeps is the same for those of the padding."""
    x, y = jnp.exp(jnp.pad(x, ((3, 5), (0, 0)))), jnp.tanh(jnp.concatenate([y, y + 1]))
    return x / x.sum(-1, keepdims=True), (y / y.sum(-1, keepdims=True)).sum(-1)


@program((64, 768), dtypes="bfloat16", least=1.05)
def norm_of_rows(x):
    x = x.astype(jnp.float32)
    centred = x - x.mean(-1, keepdims=True)
    return (centred * lax.rsqrt((centred * centred).mean(-1, keepdims=True) + 1e-5)).astype(jnp.bfloat16)


@program((16, 770), (770,), (770,), donate=(0,))
def layer_norm(x, scale, bias):
    mean = x.mean(-1, keepdims=True)
    centred = x - mean
    return centred * lax.rsqrt((centred * centred).mean(-1, keepdims=True) + 1e-5) * scale + bias


@program((24, 200), donate=(0,))
def row_in_place(x):
    return x - x.max(-1, keepdims=True)


@program((7,), (13,), (5, 3), dtypes=("float32", "float64", "float32"))
def short_sums(x, y, z):
    """Vectors whose last lanes are off."""
    return x.sum(), (x * x).max(), y.sum(), z.sum(-1), z.sum(0)


@program((33, 70), dtypes=("float16",))
def halves(z):
    """What LLVM takes for magnitudes of f16, and so flushes to zero, are bits."""
    return (z > 0).any(-1), (jnp.abs(z) > 1).sum(-1)


@program((5, 1100), (5, 1100), dtypes=("float64", "bfloat16"))
def sums_of_rows(x, y):
    return x.sum(1), (y * y).sum(1), y.astype(jnp.float32).max(1), x.min(1) + x.max(1)


@program((40, 90))
def sums(x):
    return x.sum(0), x.sum(1), x.sum(), x.max(0), jnp.argmax(x, 1), jnp.cumsum(x, 0)


@program((1000, 96), (300, 33), (5, 70, 64), (90, 2, 40), (1000, 3), dtypes=("float32", "float64", "bfloat16", "float32", "float32"))
def sums_of_columns(x, y, z, w, v):
    """By blocks, in parts: the last ones smaller, of one dimension and of several."""
    return x.sum(0), jnp.tanh(y.max(0)), (z * z).sum((0, 1)), w.sum((0, 1)), (y > 0).any(0), w.sum(0), v.sum(0), (v * v).mean(0) * 2 + v[0]


@program((2100, 64), (64,), donate=(1,), least=1.05)
def sums_of_columns_of_sums(x, y):
    """One sum after the other, in an operand's place."""
    return y + ((x - x.mean(0)) ** 2).mean(0)


@program((40, 600, 40), dtypes="complex64")
def sums_of_complex_columns(x):
    return x.sum((0, 1)), x.prod(1)


@program((3000, 64), (3000,), dtypes=("float32", "int32"))
def picked_columns(x, at):
    return jnp.argmax(x, 0), jnp.where(at[:, None] > 0, x, 0).sum(0), x.min(0)


@program((46, 70), (70, 33), (33,))
def dense(x, w, b):
    return jax.nn.gelu(x @ w + b)


@program((64, 300), (300, 128), banks=1.05)
def product(x, w):
    return x @ w


@program((300, 64), (140, 300), (140,), banks=1.05)
def product_of_turned(x, w, b):
    return jax.nn.relu(x.T @ w.T + b)


@program((3, 33, 47), (3, 47, 35))
def products_of_a_batch(x, w):
    return jnp.einsum("bmk,bkn->bmn", jnp.exp(x), w)


@program((40, 150), (150, 50), dtypes="float64")
def product_of_doubles(x, w):
    return x @ w


@program((64, 96), (96, 64), (64, 64), donate=(2,))
def product_onto(x, w, y):
    return y + x @ w


@program((130, 128, 20), (130, 20, 128), banks=1.05)
def products_by_large_tiles(x, w):
    return jnp.einsum("bmk,bkn->bmn", x, w)


@program((96, 80), (80, 72), dtypes="bfloat16", banks=1.05, near=True)
def bf16_product(x, w):
    return x @ w


@program((128, 128), (64, 128), (100, 100), (100, 100), dtypes=["bfloat16", "float32", "bfloat16", "bfloat16"], banks=1.05, near=True)
def bf16_products_through_registers(x, y, u, v):
    """An operand is converted; lines are no multiples of 16 bytes."""
    return jnp.matmul(x, y.T.astype(jnp.bfloat16), preferred_element_type=jnp.float32), jnp.matmul(u, v, preferred_element_type=jnp.float32)


@program((200, 80), (136, 200), dtypes="bfloat16", banks=1.05, near=True)
def bf16_product_of_turned(x, w):
    return jnp.matmul(jnp.tanh(x).T, w.T, preferred_element_type=jnp.float32)


@program((2, 33, 47), (2, 47, 35), dtypes="float16", near=True)
def f16_products(x, w):
    return jnp.einsum("bmk,bkn->bmn", x, w)


@program((40, 4170), (4170, 24), dtypes="bfloat16", near=True)
def bf16_long_product(x, w):
    return jnp.matmul(x, w, preferred_element_type=jnp.float32)


@program((130, 128, 48), (130, 48, 128), dtypes="bfloat16", banks=1.05, near=True)
def bf16_by_large_tiles(x, w):
    return jnp.einsum("bmk,bkn->bmn", x, w, preferred_element_type=jnp.float32)


@program((40, 256, 192), (40, 192, 256), dtypes="bfloat16", banks=1.05, near=True, warpgroups=True)
def warpgroups(x, w):
    return jnp.einsum("bmk,bkn->bmn", x, w)


@program((66, 200, 136), (66, 152, 200), (152,), dtypes=("float16", "float16", "float32"), banks=1.05, near=True, warpgroups=True)
def warpgroups_of_turned(x, w, b):
    return jax.nn.relu(jnp.einsum("bkm,bnk->bmn", x, w, preferred_element_type=jnp.float32) + b)


@program((57, 97, 72), (57, 101, 72), dtypes="bfloat16", near=True, warpgroups=True)
def warpgroups_of_odd_sizes(x, w):
    return jnp.einsum("bmk,bnk->bmn", x, w, preferred_element_type=jnp.float32)


@program((57, 72, 104), (57, 72, 104), dtypes="bfloat16", banks=1.05, near=True, warpgroups=True)
def warpgroups_across(x, w):
    return jnp.einsum("bkm,bkn->bmn", x, w, preferred_element_type=jnp.float32)


@program((57, 97, 4168), (57, 101, 4168), dtypes="bfloat16", near=True, warpgroups=True)
def warpgroups_of_long_sums(x, w):
    return jnp.einsum("bmk,bnk->bmn", x[:, :, 8:], w[:, :, 8:], preferred_element_type=jnp.float32)


@program((12, 5, 98, 80), (12, 5, 80, 104), dtypes="bfloat16", near=True, warpgroups=True)
def warpgroups_of_two_batches(x, w):
    return jnp.einsum("abmk,bakn->abmn", x[:, :, 1:], w.transpose(1, 0, 2, 3), preferred_element_type=jnp.float32)


@program((57, 97, 100), (57, 100, 101), dtypes="bfloat16", near=True, warpgroups=False)
def not_for_warpgroups(x, w):
    """Lines of 200 bytes: no copy of a box takes them."""
    return jnp.einsum("bmk,bkn->bmn", x, w, preferred_element_type=jnp.float32)


def of_bytes(x, w, spec, result=jnp.int32):
    return jnp.einsum(spec, x, w, preferred_element_type=result)


@program((96, 80), (80, 64), dtypes="int8", banks=1.05)
def bytes_product(x, w):
    return of_bytes(x, w, "mk,kn->mn")


@program((40, 128, 96), (40, 128, 96), (128,), dtypes=("int8", "uint8", "float32"), banks=1.05)
def bytes_by_large_tiles(x, w, scale):
    return of_bytes(x, w, "bmk,bnk->bmn").astype(jnp.float32) * scale


@program((40, 64, 128), (40, 64, 128), dtypes=("uint8", "int8"), banks=1.05)
def bytes_across(x, w):
    return of_bytes(x, w, "bkm,bkn->bmn")


@program((40, 64, 128), (40, 128, 64), dtypes="uint8", banks=1.05)
def bytes_of_turned(x, w):
    return of_bytes(x, w, "bkm,bnk->bmn", jnp.uint32)


@program((3, 33, 47), (3, 47, 35), (35, 33), (33, 50), dtypes=("int8", "int8", "int16", "int32"))
def integers_of_odd_sizes(x, w, y, z):
    """Those that tensor cores have not go by threads."""
    return of_bytes(x, w, "bmk,bkn->bmn"), of_bytes(x * 3, w, "bmk,bkn->bnm"), of_bytes(y, z, "mk,kn->mn"), of_bytes(z, z, "mk,nk->mn")


@program((128, 64, 64), (128, 64, 64), dtypes="int32", banks=1.05)
def integers_by_tiles(x, w):
    return x @ w


@program((4, 24, 16), (4, 24, 16), (4, 24, 16))
def attention_of_few_keys(q, k, v):
    """No kernel of its own (docs/limits.md)."""
    return attended(q, k, v, jnp.tril(jnp.ones((24, 24), bool)))


def attended(q, k, v, sees=None, fill=-1e30, weights=None):
    """Queries h t d, keys h s d, values h s e."""
    scores = jnp.einsum("htd,hsd->hts", q, k) / np.sqrt(q.shape[-1]).astype(q.dtype)
    if sees is not None:
        scores = jnp.where(sees, scores, jnp.asarray(fill, scores.dtype))
    wide = jnp.float64 if q.dtype == jnp.float64 else jnp.float32
    weighted = jax.nn.softmax(scores.astype(wide)) * (1 if weights is None else weights.astype(wide))
    return jnp.einsum("hts,hse->hte", weighted.astype(q.dtype), v)


def gradients(function, *arguments):
    """Of the sum of squares."""
    wide = jnp.float64 if arguments[0].dtype == jnp.float64 else jnp.float32
    return jax.grad(lambda *a: (function(*a).astype(wide) ** 2).sum(), tuple(range(len(arguments))))(*arguments)


def seen_by_positions(queries, keys, window=None, offset=0):
    """Comparisons of positions: tiles that no query sees are left out."""
    behind = jnp.arange(queries)[:, None] + offset - jnp.arange(keys)
    return (behind >= 0) if window is None else (behind >= 0) & (behind < window)


@program((16, 64, 48), (16, 64, 48), (16, 64, 32), least=1.05, banks=1.05, near=True)
def attention_of_one_tile(q, k, v):
    """Each element is read once."""
    return attended(q, k, v)


@program((2, 256, 16), (2, 256, 16), (2, 256, 32), least=2, banks=1.05, near=True)
def attention_in_a_window(q, k, v):
    """Keys and values are read once for each tile of 64 queries that sees them: 9 of 16 tiles."""
    return attended(q, k, v, seen_by_positions(256, 256, window=100))


@program((2, 256, 64), (2, 256, 64), (2, 256, 64), dtypes="bfloat16", least=2.1, banks=1.05, near=True)
def bf16_causal_attention(q, k, v):
    """10 of 16 tiles."""
    return attended(q, k, v, seen_by_positions(256, 256))


@program((3, 150, 10), (3, 171, 10), (3, 171, 9), near=True)
def attention_of_odd_sizes(q, k, v):
    """Of queries that see nothing the result is the mean of the values."""
    return attended(q, k, v, seen_by_positions(150, 171, window=40, offset=-70))


@program((2, 130, 33), (2, 300, 33), (2, 300, 20), (2, 130, 300), dtypes="bfloat16", near=True)
def bf16_attention_of_odd_sizes(q, k, v, weights):
    """Dropout's weights."""
    return attended(q, k, v, weights=(weights > 0).astype(q.dtype) * 2)


@program((2, 3, 90, 24), (2, 140, 24), (2, 140, 24), dtypes="float16", near=True)
def attention_of_shared_keys(q, k, v):
    scores = jnp.tanh(jnp.einsum("kgtd,ksd->kgts", q, k) / 20) * 20
    return jnp.einsum("kgts,ksd->kgtd", jax.nn.softmax(scores), v)


@program((1, 256, 200), (1, 288, 200), (1, 288, 300), dtypes="bfloat16", near=True)
def attention_of_large_heads(q, k, v):
    return attended(q, k, v)


@program((1, 256, 260), (1, 256, 260), (1, 256, 270), near=True)
def f32_attention_of_large_heads(q, k, v):
    return attended(q, k, v)


@program((3, 160, 24), (3, 160, 24), (3, 160, 24), banks=1.05, near=True)
def attention_gradient(q, k, v):
    return gradients(lambda *a: attended(*a, seen_by_positions(160, 160)), q, k, v)


@program((2, 256, 64), (2, 256, 64), (2, 256, 64), dtypes="bfloat16", banks=1.05, near=True)
def bf16_attention_gradient(q, k, v):
    return gradients(lambda *a: attended(*a, seen_by_positions(256, 256)), q, k, v)


@program((2, 150, 20), (2, 250, 20), (2, 250, 36), dtypes="bfloat16", near=True)
def attention_gradient_of_odd_sizes(q, k, v):
    return gradients(lambda *a: attended(*a, seen_by_positions(150, 250, window=60, offset=-30)), q, k, v)


@program((2, 2, 100, 16), (2, 170, 16), (2, 170, 16), near=True)
def attention_gradient_of_shared_keys(q, k, v):
    """Some queries see nothing."""
    def grouped(q, k, v):
        scores = jnp.where(seen_by_positions(100, 170, offset=-20), jnp.einsum("kgtd,ksd->kgts", q, k) / 4, -1e30)
        return jnp.einsum("kgts,ksd->kgtd", jax.nn.softmax(scores), v)
    return gradients(grouped, q, k, v)


@program((2, 192, 136), (2, 192, 136), (2, 192, 136), dtypes="bfloat16", near=True)
def attention_gradient_of_large_heads(q, k, v):
    return gradients(attended, q, k, v)


@program((2, 9, 9, 3), (3, 3, 3, 8))
def convolution(x, w):
    return lax.conv_general_dilated(x, w, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


@program((100, 16), (30,), dtypes=("float32", "int32"))
def gathered(table, rows):
    return jnp.take(table, rows % 100, axis=0, mode="clip")


@program((50, 8), (3, 8), (), dtypes=("float32", "float32", "int32"), donate=(0,))
def updated(cache, fresh, at):
    return lax.dynamic_update_slice(cache, fresh, (at, jnp.int32(0)))


@program((40, 8), (60, 8), (60,), dtypes=("float32", "float32", "int32"))
def scattered(table, rows, at):
    return table.at[at % 40].add(rows), jnp.zeros((30,)).at[jnp.abs(at) % 37].max(rows[:, 0], mode="drop")


@program((2, 8, 8, 3), (2, 4, 4, 3))
def pooled_gradient(x, g):
    pool = lambda v: lax.reduce_window(v, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    return jax.vjp(pool, x)[1](g)[0]


@program((3, 13001), (2, 30001), (2, 57000), least=1.05, banks=1.05)
def long_rows(x, y, z):
    """In what a launch asks for of shared memory; with a window of each in registers; with two."""
    centred = y - y.mean(-1, keepdims=True)
    return jax.nn.softmax(x, axis=-1), centred * lax.rsqrt((centred * centred).mean(-1, keepdims=True) + 1e-5), jax.nn.log_softmax(z, axis=-1)


@program((100, 257), (2, 300, 75), (6, 500), dtypes=["float32", "bfloat16", "float32"], banks=1.05)
def transposed_within_sectors(x, y, z):
    return x.T * 2, y.transpose(0, 2, 1), x[:7, 3:].T, x[:, 1:6].T, z.T + 1


@program((8, 96, 24), (5, 16, 100), (7, 130, 6), (3, 40, 12), dtypes=["float32", "float32", "float64", "int32"], banks=1.05)
def transposed_even_lines(x, y, z, w):
    """Lines of fewer elements than a warp has threads, even ones: over their ends, and down their columns."""
    return x.swapaxes(1, 2) * 2, y.swapaxes(1, 2) + 1, z.swapaxes(1, 2), w.swapaxes(1, 2)


@program((3, 1000), (2, 129, 3), (3000,), dtypes=["float32", "int32", "bfloat16"])
def sorted_by_blocks(x, y, z):
    few, many = (x * 2).astype(jnp.int32), jnp.sort(y, axis=1)
    by_two = lax.sort((few, x, jnp.arange(3000).reshape(3, 1000)), num_keys=2)
    return jnp.argsort(few, axis=1, stable=True), by_two, many, jnp.sort(z + 1, descending=True), lax.top_k(x, 7), lax.sort_key_val(y % 3, y, dimension=1)


@program((3, 90), (65,), (7, 40), dtypes=["float64", "int64", "uint64"])
def sorted_wide_elements(x, y, z):
    """What a thread would need beside such rows finds no room in its own memory."""
    return jnp.sort(x, axis=1), jnp.argsort(y), jnp.sort(x, axis=0), lax.top_k(z, 4), jnp.sort(z[:2], axis=0)


@program((5, 300), (600,), (3, 70), (40, 3), dtypes=("int64", "float64", "complex64", "uint64"))
def running_sums_of_wide_elements(x, y, z, w):
    """What a thread would have of them at a time finds no room in its registers."""
    return jnp.cumsum(x, 1), jnp.cumsum(y), jnp.cumsum(z, 1), lax.cummax(x, 1, reverse=True), jnp.cumsum(w, 0)


@program((2, 9000), (3, 4096), (2, 257), (1, 70001), (700, 19), (2, 300, 33))
def running_sums_of_blocks(x, y, z, u, v, w):
    """Chunks of a row, and of columns, that are whole and that are not; what a chunk's levels don't reach."""
    return (jnp.cumsum(x, 1), lax.cumsum(x, 1, reverse=True), jnp.cumsum(y, 1), jnp.cumsum(z, 1), jnp.cumsum(u, 1), lax.cumprod(1 + u * 1e-3, 1, reverse=True),
            jnp.cumsum(v, 0), lax.cummax(v, 0, reverse=True), jnp.cumsum(w, 1))


@program((2, 5000), (2, 5000), (600, 5), (2, 4500), dtypes=("bfloat16", "float64", "float16", "int64"))
def running_types_of_blocks(x, y, z, w):
    return (jnp.cumsum(x, 1), lax.cummin(x, 1), jnp.cumsum(y, 1), jnp.cumsum(z, 0), jnp.cumsum(w, 1), lax.cummax(w, 1, reverse=True),
            jnp.cumsum(y[:, :2500] + 1j * y[:, 2500:], 1))


@program((70, 40), (9, 256), (3, 257), (33, 7), (5, 16), (20, 600), (1, 3))
def running_sums_of_short_rows(x, y, z, u, v, w, a):
    """Several rows a block, of one level, two and three; the last block has not all of them."""
    return (jnp.cumsum(x, 1), lax.cumsum(x, 1, reverse=True), jnp.cumsum(y, 1), lax.cummax(z, 1, reverse=True), jnp.cumsum(u, 1), lax.cumprod(v, 1),
            jnp.cumsum(w, 1), jnp.cumsum(a, 1), jnp.cumsum(u, 0), jnp.cumsum(w.reshape(20, 60, 10), 1))


@program((3, 90), (2, 40), dtypes="int8")
def running_extrema_of_bytes(x, y):
    return lax.cummax(x, 1), lax.cummin(y, 1), lax.cummax(x, 0)


@program((3, 6, 6), (4, 20), (6, 2), dtypes=["float32", "float32", "float64"])
def computed_on_the_host(x, y, z):
    """What the runtime's library computes, between kernels of the GPU, and again in a loop."""
    square = x @ x.swapaxes(1, 2) + 2 * jnp.eye(6)
    lower = jnp.linalg.cholesky(square)
    solved = lax.linalg.triangular_solve(lower[0].astype(z.dtype), z, left_side=True, lower=True)
    rounds = lax.fori_loop(0, 3, lambda i, s: jnp.linalg.cholesky(s @ s.swapaxes(1, 2) / 9 + jnp.eye(6)), square)
    spectrum = jnp.fft.rfft(y * 2)
    return lower + 1, solved, rounds, spectrum * 2, jnp.fft.irfft(spectrum, 20), jnp.linalg.eigvalsh(square), jnp.abs(jnp.linalg.qr(x)[1])


@program((3, 6, 6), (3, 6, 2))
def solved_on_the_host(x, y):
    """Rows go where the factorization says."""
    return jnp.linalg.solve(x + 4 * jnp.eye(6), y)


@program((1, 30000), (2, 51000), dtypes=["int32", "float32"])
def sorted_long_rows(x, y):
    """The numbers of the second one's elements find no room in shared memory: each row's lie where its results will."""
    return lax.sort_key_val(x % 100, x, dimension=1), jnp.argsort(jnp.round(y * 8), axis=1)


@program((32, 384), (3, 7, 100), (2000, 3), (2, 3, 16500), (9, 5, 11, 13), dtypes=["float32", "bfloat16", "float32", "float32", "float64"])
def sums_over_several(x, y, z, long, wide):
    """A block's threads have parts each: of whole rows, of rows of less than a unit, of pieces of rows and what is left over."""
    counted = (z * 8).astype(jnp.int32)
    return ((x * x).mean(), y.astype(jnp.float32).sum((0, 2)), z.sum(), counted.sum(), counted.min(), long.sum((1, 2)), long.max(),
            wide.sum((0, 2, 3)), wide.sum((1, 3)), jnp.prod(1 + wide / 64))


@program((32, 384), (3, 128, 256), least=1.05)
def means_of_all(x, y):
    return ((x - 1)**2).mean(), y.sum(), jnp.abs(y).max((1, 2))


@program((6, 5, 70), (6, 5, 70), (2, 3, 9000), donate=(0,))
def norms_over_two(x, y, long):
    """The rows stay in shared memory, or are too long for it."""
    normed = lambda a: (a - a.mean((1, 2), keepdims=True)) * lax.rsqrt(a.var((1, 2), keepdims=True) + 1e-5)
    return normed(x) * y, jnp.exp(long - long.max((1, 2), keepdims=True)) / jnp.exp(long).sum((1, 2), keepdims=True), normed(long)


@program((2, 3, 31000), (1000, 96))
def sums_of_two_widths(x, y):
    """A kernel's second sum has larger parts than the first, of rows that find no room."""
    further, wide = x - x.max((1, 2), keepdims=True), lambda a: a.astype(jnp.float64)
    apart = y - y.mean(0)
    return further / wide(further).sum((1, 2), keepdims=True).astype(jnp.float32), (y.sum(0), wide(y).sum(0)), wide(apart * apart).sum(0)


@program((2, 16500), (3, 17000), (40,), (7, 6))
def same_names_in_two_kernels(x, y, u, v):
    """Kernels are compiled in two parts: memory that launches add (long rows), and a table (angles in f64), are in each."""
    angle = lambda a: jnp.sin(a.astype(jnp.float64) * 1e9)
    return jax.nn.softmax(x, axis=-1), jax.nn.softmax(y, axis=-1), angle(u), angle(v)


@program((6, 40), (200,))
def sorted_rows(x, y):
    return jnp.sort(x, axis=1), jnp.argsort(x, axis=0), lax.top_k(x, 3), jnp.cumsum(y), jnp.cumsum(x, axis=1)


@program((400,), (400,))
def remainders(x, y):
    power = np.exp2(np.arange(400) % 90 - 45).astype(np.float32)
    return lax.rem(x * power, y), lax.rem(x, y * power), lax.rem(x.astype(jnp.float64) * 1e30, y.astype(jnp.float64)), jnp.mod(x, 0.25)


@program((500,))
def angles(x):
    huge = x * np.exp2(np.arange(500) / 4.3).astype(np.float32)
    return jnp.sin(x), jnp.cos(x * 100), jnp.tan(x), jnp.sin(huge), jnp.cos(huge * huge)


@program((12,))
def until_small(x):
    return lax.while_loop(lambda c: jnp.max(jnp.abs(c[0])) > 1e-3, lambda c: (c[0] * 0.5, c[1] + 1), (x, 0))


@program((8, 16), (16, 16))
def scanned(x, w):
    return lax.scan(lambda c, _: (jnp.tanh(c @ w), c.sum()), x, None, length=5)


@program((6,))
def branched(x):
    return lax.switch(jnp.int32(x[0] * 0 + 2), [lambda v: v, lambda v: -v, lambda v: v * v], x)


@program((128, 64), (128, 64), (128, 64), (128, 64), least=1.05, donate=(0, 1, 2))
def adam(weight, m, v, gradient):
    m, v = 0.9 * m + 0.1 * gradient, 0.999 * v + 0.001 * gradient * gradient
    return weight - 1e-3 * m / (jnp.sqrt(jnp.abs(v)) + 1e-8), m, v


@program((32,), dtypes="uint32")
def random_bits(x):
    return jax.random.bits(jax.random.key(x[0], impl="threefry2x32"), (64,), "uint32")


# The mesh of some, in sdy's text; arguments are cut along their first dimension.
SHARDED = {"dense": 2, "sums": 4, "layer_norm": 8}


def values(argument, random):
    kind = np.dtype(argument.dtype)
    if kind == np.bool_:
        return random.integers(0, 2, argument.shape).astype(bool)
    if kind.kind in "iu":
        information = np.iinfo(kind)
        return random.integers(information.min, information.max, argument.shape, dtype=kind) if argument.shape else np.asarray(41, kind)
    if kind.kind == "c":
        return (random.standard_normal(argument.shape) + 1j * random.standard_normal(argument.shape)).astype(kind)
    return random.standard_normal(argument.shape).astype(np.float64 if kind == np.float64 else np.float32)


def text_of(function, arguments, donate, devices):
    if devices == 1:
        return jax.jit(function, donate_argnums=donate).lower(*arguments).as_text()
    from jax.sharding import AbstractMesh, AxisType, NamedSharding, PartitionSpec
    mesh = AbstractMesh((devices,), ("x",), axis_types=(AxisType.Auto,))
    cut = lambda a: PartitionSpec("x") if a.shape and a is arguments[0] else PartitionSpec()
    placed = [jax.ShapeDtypeStruct(a.shape, a.dtype, sharding=NamedSharding(mesh, cut(a))) for a in arguments]
    return jax.jit(function, donate_argnums=donate).trace(*placed).lower(lowering_platforms=("cpu",)).as_text()


def run(name, target, text, inputs, directory):
    """(outputs, counts by kernel), or what went wrong."""
    path = lambda suffix: os.path.join(directory, f"{name}.{target}.{suffix}")
    with open(path("mlir"), "w") as file:
        file.write(text)
    np.savez(path("in.npz"), **{f"in{i}": x for i, x in enumerate(inputs)})
    report = os.environ["TESSERA_EMULATOR_REPORT"] = path("counts")
    os.environ["TESSERA_EMULATOR_SM"] = "90" if target == "sm_90a" else "80"
    for arguments in (["compile", path("mlir"), "-o", path("tsr"), "--verify-each", *TARGETS[target]],
                      ["run", path("tsr"), f"--inputs={path('in.npz')}", f"--outputs={path('out.npz')}", "--quiet"]):
        done = tessera(*arguments)
        if done.returncode:
            return done.stderr.strip()
    counts = []
    if os.path.exists(report):
        with open(report) as file:
            counts = [json.loads(line) for line in file]
    with np.load(path("out.npz")) as found:
        return [found[f"out{i}"] for i in range(len(found.files))], counts


def total_of(counts):
    total = collections.Counter()
    for kernel in counts:
        total.update({key: value for key, value in kernel.items() if key != "kernel"})
    return total


def far_from_least(total, least):
    for what in ("read", "written"):
        moved, needed, sectors = total[f"bytes_{what}"], total[f"least_{what}"], total[f"sectors_{what}"]
        if moved > least * needed:
            return f"{moved} bytes are {what}, {needed} would do"
        if sectors > 1.1 * moved / 32 + 64:
            return f"{sectors} sectors are {what}, {moved // 32} would do"
    return None


def far_from_exact(name, inputs, expected, found):
    """Of products by tensor cores: whether they lie further from what f64 gives than the cpu's do, by more than their rounding."""
    function, arguments, *_ = PROGRAMS[name]
    wide = [np.asarray(jnp.asarray(x, a.dtype).astype(jnp.float64)) for x, a in zip(inputs, arguments)]
    with_f64 = lambda *a: jax.tree.map(lambda r: r.astype(jnp.float64), function(*[v.astype(jnp.float64) for v in a]))
    exact = jax.tree.leaves(jax.jit(with_f64)(*wide))
    for i, (true, cpu, gpu) in enumerate(zip(exact, expected, found, strict=True)):
        true, bound = np.asarray(true), 2 * np.abs(cpu - np.asarray(true)).max() + 1e-6 * np.abs(true).max()
        if not np.abs(gpu - true).max() <= bound:
            return f"out{i}: {np.abs(gpu - true).max()} from f64; the cpu is {np.abs(cpu - true).max()} from it"
    return None


def differing(expected, found):
    for i, (a, b) in enumerate(zip(expected, found, strict=True)):
        if a.dtype != b.dtype or a.shape != b.shape:
            return f"out{i}: {b.dtype}{b.shape}, not {a.dtype}{a.shape}"
        same = (a == b) | ((a != a) & (b != b))
        if not same.all():
            at = tuple(np.argwhere(~same)[0])
            return f"out{i}: {np.count_nonzero(~same)} of {same.size} differ: {b[at]!r} at {at}, not {a[at]!r}"
    return None


def check(name, directory, devices):
    function, arguments, least, donate, banks, near, warpgroups = PROGRAMS[name]
    random = np.random.default_rng(len(name))
    inputs = [values(a, random) for a in arguments]
    text = text_of(function, arguments, donate, devices)
    gpu = "cuda" if warpgroups is None else "sm_90a"
    expected, found = (run(name, target, text, inputs, directory) for target in ("cpu", gpu))
    for target, result in (("cpu", expected), (gpu, found)):
        if isinstance(result, str):
            return f"{target}: {result}"
    wrong = far_from_exact(name, inputs, expected[0], found[0]) if near else differing(expected[0], found[0])
    if wrong:
        return wrong
    if not found[1]:
        return "no kernel ran on the stand-in"
    if ptxas.PTXAS and (wrong := ptxas.wrong_of_program(os.path.join(directory, f"{name}.{gpu}.tsr"), directory)):
        return wrong
    total = total_of(found[1])
    if warpgroups is not None and bool(total["warpgroup_products"]) != warpgroups:
        return f"warpgroups multiplied {total['warpgroup_products']} times"
    if banks and total["bank_turns"] > banks * total["least_bank_turns"]:
        return f"banks of shared memory are asked {total['bank_turns']} times, {total['least_bank_turns']} would do"
    return far_from_least(total, least) if least and devices == 1 else None


def main():
    names = [argument for argument in sys.argv[1:] if argument != "--first-only"] or list(PROGRAMS)
    wrong = 0
    with tempfile.TemporaryDirectory() as directory:
        for name in names:
            for devices in (1, SHARDED.get(name)):
                if devices is None:
                    continue
                problem = check(name, directory, devices)
                wrong += problem is not None
                if problem:
                    print(f"{name} on {devices}: {problem}", flush=True)
                if problem and "--first-only" in sys.argv:
                    return 1
    print(f"{len(names)} programs, {wrong} wrong" + ("" if ptxas.PTXAS else "; not assembled: there is no ptxas"))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
