"""Programs of rows whose elements have nothing but what a row has one of, of the only row, and of vectors that end within an access."""
import jax.numpy as jnp
from program_table import program


def everywhere(sums, x):
    return jnp.broadcast_to(sums, x.shape)


@program((96,), (1, 65), (1, 1024), (4, 127), (1, 1, 300))
def sums_at_each_element(x, y, z, u, v):
    """An element is its row's sum, and reads no other value; the only row's teams are one team."""
    wide = jnp.exp(v.sum(-1, keepdims=True) / 64)
    return everywhere(x.sum(), x), everywhere(y.sum(1), y), everywhere(z.max(1), z), everywhere(jnp.tanh(u.sum(1, keepdims=True)), u), everywhere(wide, v).astype(jnp.bfloat16)


@program((1, 65), (65,), (1,))
def what_the_only_row_has_one_of(x, y, w):
    """Results of the row beside those of its elements, which follow from them and from an operand of one element."""
    squares = w * w
    highest = jnp.maximum(jnp.broadcast_to(w - squares, x.shape).max(1), 0)
    return squares + 0 * y, highest, highest[:, None] * jnp.maximum(squares + y, x), everywhere(jnp.exp(x.sum(1) / 8 - highest), x)


@program((1025,), (4, 96), (1, 150), dtypes=("complex64", "int32", "bfloat16"))
def types_at_each_element(x, y, z):
    total = -x.sum()
    return everywhere(-total, x), everywhere(total * total, x), everywhere((y // 3).max(1, keepdims=True), y), everywhere(jnp.argmax(z, 1), z), everywhere(z.sum(1), z)


@program((300,), (8, 63), (3, 63), (1025,), (4, 15), (4, 15), dtypes=("bool", "float32", "int32", "bool", "complex64", "float64"))
def vectors_that_end_within_an_access(x, y, z, u, v, w):
    """What lies behind them is no one's, and is not read."""
    return x.all(), y.sum(1), z.max(1), u.any(), v.sum(1), everywhere(w.min(1, keepdims=True), w)


@program((31,), (3,), (7,), (15, 2), dtypes=("int32", "float32", "uint8", "float64"))
def few_elements(x, y, z, w):
    return x.sum(), everywhere(y.sum(), y), z.max(), everywhere(w.sum(1, keepdims=True), w)


@program((31, 2), (5, 40), (2, 2), (2,), (3, 3000), dtypes=("int32", "int32", "float32", "float32", "int32"))
def elements_that_the_row_names(x, y, table, names, z):
    """What other threads have brought of the row, or a sum of it, says which element of an operand is read."""
    at = lambda array, *index: array.at[index].get(mode="promise_in_bounds")  # as the gather clamps it
    pairs = jnp.where(((x >= 0) & (x <= 40)).all(1), at(table, x[:, 0], x[:, 1]), 0)
    highest = at(names, y.max(1)) * at(names, y[:, 3])
    return pairs, y.sum(1) + at(names, y[:, 5]), y + highest[:, None], z.sum(1) + at(names, z[:, 2999])
