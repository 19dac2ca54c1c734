"""Programs of elements, rows, columns, movements, sorts and running sums, and those that the host takes part in."""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from program_table import program


@program((128, 256), (256,))
def add_row(x, y):
    return jnp.exp(x + y)


@program(*[(64, 128), (256,), (256,), (37,), (37,), (48, 5), (3, 16)] * 4, (1,), donate=(7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20))
def optimizer_steps(*arrays):
    """One launch for what is alike, whatever its shape: of all but the arrays of 37, which end within an access, and are one launch."""
    rate, kind = arrays[28].reshape(()), 7
    steps = []
    for p, m, v, g in zip(*(arrays[i * kind : (i + 1) * kind] for i in range(4))):
        m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g
        steps.append((p - rate * m / (jnp.sqrt(v) + 1e-3), m, v))
    return [*zip(*steps)]


@program(*[(64, 48), (33, 40)] * 4)
def norms_of_arrays(*arrays):
    """Those of one shape are one launch, each with sums of its own in shared memory."""
    return tuple(jnp.sum(x * x, axis=1) for x in arrays), tuple(jnp.sum(jnp.exp(x)) for x in arrays)


@program((1000, 37), (1000, 37), least=1.05)
def no_multiple_of_anything(x, y):
    return jnp.where(x > y, x * 2 - y, jnp.sqrt(jnp.abs(y)) / (1 + x * x))


@program((64, 96), (64, 96), dtypes=["uint16", "uint32"])
def zeros_of_any_bits(x, y):
    """A subnormal number is zero to what divides by it, and to what asks before."""
    x, y = lax.bitcast_convert_type(x, jnp.bfloat16), lax.bitcast_convert_type(y, jnp.float32)
    return x == 0, jnp.where(x != 0, 1 / x, x), y == 0, jnp.where(y != 0, 1 / y, y)


@program((3, 40), (4, 300), (300, 4), dtypes="uint16")
def first_of_any_sign(x, y, z):
    """The largest come first, and a NaN comes first or last by its sign: what moves numbers, negates or chooses them keeps it."""
    signed = lambda a: lax.bitcast_convert_type(jnp.where(a % 3 == 0, a & 0x8000 | 0x7fc0, a & 0xbfff | 0x80).astype(jnp.uint16), jnp.bfloat16)
    x, y, z = map(signed, (x, y, z))
    places = lambda a, k: lax.top_k(a, k)[1]
    return places(x, 9), places(-y, 120), places(z.T, 120), places(jnp.concatenate([y, -y[:, ::-1]], axis=1), 300), places(jnp.where(z.T > 1, 1, z.T), 250)


@program((70, 40), dtypes="uint16")
def bits_of_what_is_moved(x):
    x, back = lax.bitcast_convert_type(x, jnp.bfloat16), lambda a, kind: lax.bitcast_convert_type(a, kind)
    return back(x.T, jnp.uint16), back(x[::-1], jnp.int16), back(x[3:, 5:35].reshape(67, 15, 2), jnp.uint32), back(jnp.concatenate([x, x[:, 1:9]], axis=1), jnp.uint16)


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


@program((1, 70, 8, 16), (1, 70, 1, 8), (2, 3, 18, 17), (41, 700), dtypes=["bfloat16", "float32", "float32", "float32"])
def pieces_of_rows(x, angles, image, rows):
    """A block has all pieces of some rows, the last of which are not there; of a few long rows each piece has blocks."""
    sines = jnp.sin(angles).astype(x.dtype)
    turned = jnp.concatenate([-x[..., 8:], x[..., :8]], axis=-1) * jnp.concatenate([sines, sines], axis=-1)
    return x + turned, jnp.pad(image, ((0, 0), (0, 0), (1, 1), (2, 1))), jnp.concatenate([rows, 2 * rows, rows[:, :5]], axis=1)


@program((2, 33, 640), (33, 640), (16,))
def pieces_that_share(gates, slope, vector):
    """Gradients of two factors, one behind the other: a block has both of some points, though one piece has a loop less."""
    curve = jnp.tanh(gates[0])
    by_vector = (gates[1] - curve).reshape(33, 40, 16) * vector
    return jnp.concatenate([slope * curve, slope * by_vector.reshape(33, 640)])


@program((4, 128, 4, 4), (128,), (8, 64, 16), (8, 16, 64), (5, 6, 35), banks=1.05)
def pieces_across(image, token, queries, keys, rows):
    """Pieces that lie across the results: an image's places behind a token, heads side by side, and of lines that divide nothing."""
    tokens = jnp.broadcast_to(token, (4, 1, 128))
    heads = [queries.transpose(1, 0, 2), keys.transpose(2, 0, 1)]
    return (jnp.concatenate([tokens, image.reshape(4, 128, 16).transpose(0, 2, 1)], axis=1),
            jnp.concatenate([x.reshape(64, 128) for x in heads], axis=1), jnp.pad(rows.transpose(2, 0, 1).reshape(35, 30), ((3, 0), (0, 2))))


@program((4, 8, 24, 40), (70, 33, 40), (5, 33, 40), dtypes=["float32", "float32", "bfloat16"])
def sums_across(x, y, z):
    """Sums of what lies across the results: of few terms, and of many, whose parts the threads of a block have; what is added lies as they do."""
    across = lambda a: a.transpose(0, 2, 1)
    return x.transpose(0, 3, 1, 2).reshape(4, 40, 4, 2, 24).sum(3), jnp.tanh(across(y).sum(0) + x[0, 0, :1, :].T), across(z).max(0) + across(z).sum(0)


@program((5, 32, 40))
def numbered_across(x):
    """Sums of the same elements, each result's terms times its number: none are repeated."""
    return (x.swapaxes(1, 2)[:, None] * jnp.arange(3, dtype=jnp.float32)[:, None, None]).sum(0)


@program((4, 64, 16), (64, 16), (3, 33, 70), (70,), (2, 40, 64), dtypes=["float32"] * 4 + ["bfloat16"], banks=1.05)
def repeated_across(keys, table, x, row, y):
    """Heads of a group have the same keys, and all of them one table: a block has these results together."""
    twice = lambda a: jnp.broadcast_to(a[:, None], (a.shape[0], 2, *a.shape[1:])).swapaxes(2, 3)
    return twice(keys * table), twice(x + row), jnp.broadcast_to(y, (3, *y.shape)).swapaxes(2, 3)


@program((16, 512), (512,), (512,), (512,), (5, 7, 40), (7, 40), (3, 6, 33, 16), (33, 16), dtypes=["float32"] * 6 + ["bfloat16"] * 2)
def rows_that_share(x, mean, scale, bias, y, table, heads, angles):
    """Blocks have parts of all rows that read the same vector or table; rows of two pieces, too."""
    turned = jnp.concatenate([-heads[..., 8:], heads[..., :8]], axis=-1)
    return (x - mean) * scale + bias, y * table + 1, heads * angles + turned * angles[::-1]


@program((2, 8, 64, 32), (2, 64, 32), (3, 5, 21, 7), (3, 21, 7), dtypes=["bfloat16", "bool", "float32", "bool"])
def heads_that_share_masks(x, mask, y, other):
    return jnp.where(mask[:, None], x, -3).max(-1), jnp.where(other[:, None], y, 0).sum(-1)


@program((1, 61, 128), (4, 128), (40, 30))
def windows_over_rows(x, filters, y):
    """Points of a block that read the same rows."""
    shifted = [jnp.pad(x, ((0, 0), (i, 0), (0, 0)))[:, :61] * filters[3 - i] for i in range(4)]
    return sum(shifted), y[:-2, 1:-1] + y[2:, 1:-1] + y[1:-1, :-2] * y[1:-1, 2:]


@program((3, 144), (144, 144), dtypes=["int32", "bool"])
def bytes_of_numbers(positions, mask):
    """A thread has 16 bytes of a line, whose numbers it reads in four accesses; blocks have lines of two loops."""
    return (positions[:, :, None] % 3 == positions[:, None, :] % 3) & mask


@program((2, 7, 25, 32))
def larger_blocks(x):
    """Windows that overlap down and along: a block has 512 threads, the last one not all of them."""
    return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "VALID")


@program((64, 34, 30))
def framed(x):
    """The edges of images come with what is within."""
    return jnp.pad(x, ((0, 0), (1, 2), (1, 1)), constant_values=-1)


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


@program((120, 256), dtypes="uint32")
def quotients(bits):
    """Of any numbers, rare ones too."""
    x = lax.bitcast_convert_type(bits, jnp.float32)
    edges = jnp.asarray([0, -0.0, jnp.inf, -jnp.inf, jnp.nan, 1, -3, 2.0**126, 2.0**-126, -3.4e38, 1.2e-38, 8.5e37, 1.9999999, 0.99999994, -8.6e37, 2.0**-100], jnp.float32)
    x = jnp.concatenate([x, jnp.broadcast_to(edges, (1, 16, 16)).reshape(1, 256)])
    results = 1 / x, x / 192, x / -4.898979663848877, x / 1.0000001, x / 3e-9, 1 / (1 + jnp.exp(-x)), 7 / x, x / 1e11
    return bits_of(results)


def bits_of(results):
    """All that is promised of a NaN is that it is one."""
    return [lax.bitcast_convert_type(jnp.where(jnp.isnan(result), 0, result), jnp.uint32) for result in results]


@program((240, 256), (240, 256), (240,), dtypes="uint32")
def quotients_of_two(bits, others, shared):
    """Of any two numbers; by what a row, and all of them, share; near where quotients cease to be normal; roots."""
    x, y, row = (lax.bitcast_convert_type(each, jnp.float32) for each in (bits, others, shared))
    edges = jnp.asarray([0, -0.0, jnp.inf, -jnp.inf, jnp.nan, 1, -3, 2.0**126, 2.0**-126, -3.4e38, 1.2e-38, 8.5e37, 1.9999999, 0.99999994, -8.6e37, 2.0**-64], jnp.float32)
    x = jnp.concatenate([x, jnp.broadcast_to(edges, (16, 16)).reshape(1, 256)])
    y = jnp.concatenate([y, jnp.broadcast_to(edges[:, None], (16, 16)).reshape(1, 256)])
    row = jnp.concatenate([row, edges[9:10]])
    exponent, fraction = jnp.uint32(0x7f800000), jnp.uint32(0x807fffff)
    x_bits, y_bits = (lax.bitcast_convert_type(each, jnp.uint32) for each in (x, y))
    of_small = lax.bitcast_convert_type(y_bits & fraction | jnp.clip((y_bits & exponent) >> 23, 1, 127) << 23, jnp.float32)
    barely = lax.bitcast_convert_type(x_bits & fraction | ((lax.bitcast_convert_type(of_small, jnp.uint32) & exponent) >> 23) + (x_bits & 0x7f800000) % 3 + 126 << 23, jnp.float32)
    return bits_of([x / y, x / row[:, None], y / row[3], barely / of_small, of_small / barely, jnp.sqrt(x), y / jnp.sqrt(jnp.abs(x)), lax.rsqrt(y)])


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


@program((16,), (17,), (63,), dtypes=("float32", "bfloat16", "float32"))
def totals_of_few(x, y, z):
    """Sixteen threads are the lanes of a unit, which nobody has four of; and elements beside the sum of what is computed of them."""
    updated = z - jnp.tanh(z) / (jnp.sqrt(z * z + 1) + 1e-3)
    return x.sum(), (x * x).max(), y.sum(), updated, (updated * updated).sum()


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


@program((3, 3, 40, 64), (64, 40, 3, 3), (5, 33, 47), (49, 37, 2, 3), dtypes=["float32", "float32", "bfloat16", "float32"], least=1.05, banks=1.05)
def transposed_filters(x, y, z, w):
    """Places lie within channels, which follow each other: both are a line."""
    return x.transpose(3, 2, 0, 1) * 2 + y, y.transpose(2, 3, 1, 0), z.transpose(2, 1, 0), w.transpose(2, 3, 1, 0)


@program((2, 8, 32, 32, 3), (2, 64, 12, 2), (3, 70, 4, 12), (2, 100, 24, 3), (2, 64, 5, 2), dtypes=["float32", "float32", "float32", "bfloat16", "float32"], least=1.1)
def sums_of_groups(x, y, z, w, v):
    """Columns of a few elements each: a block has as many as begin and end at sectors, also where they do not divide, and of two sums."""
    mean, square = v.mean((1, 3)), (v * v).mean((1, 3))
    return x.sum((1, 2, 4)), (y * y).mean((1, 3)), z.max((1, 3)), w.sum((1, 3)), square - mean * mean


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


@program((2, 70, 40), (300, 5), (1, 4200), (2, 250, 8), (2, 250, 8), (1, 4200), dtypes=("float32", "bfloat16", "float32", "float64", "float64", "bool"))
def scans_of_several_arrays(x, y, z, v, w, flags):
    """Ladders of jax.lax.associative_scan: chunks of fewer columns, and of fewer levels, as more arrays share a block's memory."""
    linear = lambda p, q: (p[0] * q[0], q[0] * p[1] + q[1])
    segments = lambda p, q: (p[0] | q[0], jnp.where(q[0], q[1], p[1] + q[1]))
    matrices = lambda p, q: (p[0] * q[0], p[1] + p[0] * q[1], p[2] * q[2])
    scan = lambda f, arrays, axis, reverse=False: lax.associative_scan(f, arrays, axis=axis, reverse=reverse)
    waves = (v + 1j * w, w + 1j * v)
    return (*scan(linear, (x, x + 1), 1), scan(linear, (y, y * 2), 0, True)[1], *scan(segments, (flags, z), 1), scan(segments, (flags[:, :200], z[:, :200]), 1)[1],
            scan(linear, waves, 1)[1], *scan(matrices, (v, w, v + w), 1), scan(linear, tuple(a.reshape(2, 2000) for a in waves), 1, True)[0])


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


@program((3, 3), (24, 24))
def larger_and_larger_on_the_host(x, y):
    """Its operands are staged in memory that grows, while the results before are on their way from there."""
    small = jnp.linalg.cholesky(x @ x.T + 4 * jnp.eye(3))
    return small + 1, jnp.linalg.cholesky(y @ y.T / 24 + small[0, 0] * jnp.eye(24)) * 2


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


@program((256, 1024), (2, 70, 64, 64), (16, 520, 256), dtypes=["float64", "float32", "float64"], least=1.05)
def sums_of_all(x, y, z):
    """Of large arrays: lanes of rows by all blocks, and their sum."""
    return (x * x).sum(), y.sum() + 1, jnp.sqrt((y * y).sum()), z.sum()


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
