"""Programs of products: by threads, tensor cores and warpgroups, of integers, attention and its gradient, convolutions."""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from program_table import program


@program((46, 70), (70, 33), (33,))
def dense(x, w, b):
    return jax.nn.gelu(x @ w + b)


@program((64, 300), (300, 128), banks=1.05)
def product(x, w):
    return x @ w


@program((64, 301), (128, 301), (64, 302), (128, 302), dtypes="float32", banks=1.05)
def products_of_odd_lines(x, w, u, v):
    """Terms come one by one, or by twos."""
    return x @ w.T, u @ v.T


@program((40, 75), (75, 40), (33, 3, 8, 8), (16, 3, 3, 3), dtypes=("float64", "float64", "float32", "float32"), banks=1.05)
def odd_lines_of_doubles_and_windows(x, w, y, f):
    return x @ w, lax.conv(y, f, (1, 1), "VALID")


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
