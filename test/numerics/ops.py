"""Single ops by family: one program a family, an output an op, its operands sharded in every dimension and unevenly."""
import jax
import jax.numpy as jnp
import numpy as np
from harness import Case
from jax import lax
from jax.sharding import PartitionSpec as P

MESHES = [{"x": 2, "y": 4}, {"x": 3, "y": 1}, {"x": 1, "y": 1}]


def data(seed, *shape, low=-2.0, high=2.0):
    return np.random.default_rng(seed).uniform(low, high, shape).astype(np.float32)


def family(name, operands, table, specs=None, **options):
    """A case whose outputs are the ops of `table` (name -> function of the operands)."""
    specs = specs or tuple(P(*("x", "y")[: np.ndim(x)]) for x in operands)

    def build(mesh):
        return (lambda *args: tuple(op(*args) for op in table.values())), operands, specs, None

    return Case(name, build, MESHES, labels=list(table), **options)


def elementwise():
    a, b = data(0, 6, 10), data(1, 6, 10)
    one = {name: getattr(jnp, name) for name in (
        "abs ceil cos cosh exp expm1 floor negative rint round sign sin sinh square tan tanh cbrt sinc").split()}
    one |= {"logistic": jax.nn.sigmoid, "erf": lax.erf, "erfc": lax.erfc, "atan": jnp.arctan, "asinh": jnp.arcsinh,
            "erf_inv": lambda x: lax.erf_inv(x / 2.1), "acos": lambda x: jnp.arccos(x / 2.1),
            "asin": lambda x: jnp.arcsin(x / 2.1), "atanh": lambda x: jnp.arctanh(x / 2.1),
            "isfinite": lambda x: jnp.isfinite(x / (x - x[0, 0]))}
    positive = {"log": jnp.log, "log1p": jnp.log1p, "sqrt": jnp.sqrt, "rsqrt": lax.rsqrt, "acosh": lambda x: jnp.arccosh(1 + x),
                "lgamma": lax.lgamma, "digamma": lax.digamma}
    two = {"add": jnp.add, "sub": jnp.subtract, "mul": jnp.multiply, "div": jnp.divide, "max": jnp.maximum, "min": jnp.minimum,
           "atan2": jnp.arctan2, "remainder": lax.rem, "pow": lambda a, b: jnp.abs(a) ** b, "nextafter": jnp.nextafter,
           "select": lambda a, b: jnp.where(a < b, a, b), "clamp": lambda a, b: jnp.clip(a, -1, b + 2),
           "eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "le": lambda a, b: a <= b,
           "logaddexp": jnp.logaddexp, "convert": lambda a, b: (a * 3).astype(jnp.int32) + (b > 0)}
    return [
        family("elementwise_one", (a,), one),
        family("elementwise_positive", (np.abs(a) + 0.3,), positive),
        family("elementwise_two", (a, b), two, exact=False),
    ]


def integers():
    rng = np.random.default_rng(2)
    a, b = (rng.integers(-50, 50, (6, 10)).astype(np.int32) for _ in range(2))
    unsigned = rng.integers(0, 2**32, (6, 10), np.uint32)
    table = {
        "add": lambda a, b, u: a + b, "mul": lambda a, b, u: a * b, "div": lambda a, b, u: a // jnp.where(b == 0, 1, b),
        "rem": lambda a, b, u: lax.rem(a, jnp.where(b == 0, 7, b)), "and": lambda a, b, u: a & b, "or": lambda a, b, u: a | b,
        "xor": lambda a, b, u: a ^ b, "not": lambda a, b, u: ~a, "shl": lambda a, b, u: a << 3, "shr": lambda a, b, u: a >> 2,
        "shr_logical": lambda a, b, u: u >> 5, "popcount": lambda a, b, u: lax.population_count(u), "clz": lambda a, b, u: lax.clz(u),
        "sign": lambda a, b, u: jnp.sign(a), "abs": lambda a, b, u: jnp.abs(a), "max": lambda a, b, u: jnp.maximum(a, b),
        "sum": lambda a, b, u: jnp.sum(a, 1), "umax": lambda a, b, u: jnp.max(u, 0), "prod": lambda a, b, u: jnp.prod(a, 0),
        "narrow": lambda a, b, u: a.astype(jnp.int8) + u.astype(jnp.int8), "wide": lambda a, b, u: u.astype(jnp.float32),
        "bitcast": lambda a, b, u: lax.bitcast_convert_type(a, jnp.float32) * 0, "bool": lambda a, b, u: (a > 0) ^ (b > 0),
        "dot": lambda a, b, u: a @ b.T,
    }
    return [family("integers", (a, b, unsigned), table, exact=False)]


def movement():
    a, b, c = data(3, 6, 10), data(4, 6, 10), data(5, 4, 6, 10)
    table = {
        "transpose": lambda a, b, c: a.T, "transpose3": lambda a, b, c: jnp.transpose(c, (2, 0, 1)),
        "flatten": lambda a, b, c: a.reshape(60), "split": lambda a, b, c: a.reshape(3, 2, 5, 2), "merge": lambda a, b, c: c.reshape(24, 10),
        "mix": lambda a, b, c: a.reshape(10, 6), "broadcast": lambda a, b, c: jnp.broadcast_to(a[:, None, :], (6, 3, 10)),
        "slice": lambda a, b, c: a[1:5, 2:9], "strided": lambda a, b, c: a[::2, 1::3], "reverse": lambda a, b, c: a[::-1, ::-1],
        "concat0": lambda a, b, c: jnp.concatenate([a, b, a]), "concat1": lambda a, b, c: jnp.concatenate([a[:, :3], b], 1),
        "concat_many1": lambda a, b, c: jnp.concatenate([c + i for i in range(48)], 1), "concat_many2": lambda a, b, c: jnp.concatenate([c, c * 2] * 24, 2),
        "pad": lambda a, b, c: jnp.pad(a, ((1, 2), (0, 3))), "pad_inside": lambda a, b, c: lax.pad(a, 0.5, ((1, -1, 1), (-2, 1, 2))),
        "roll": lambda a, b, c: jnp.roll(a, 3, 1), "roll0": lambda a, b, c: jnp.roll(a, -1, 0), "tile": lambda a, b, c: jnp.tile(a, (2, 3)),
        "repeat": lambda a, b, c: jnp.repeat(a, 2, 1), "stack": lambda a, b, c: jnp.stack([a, b], 1), "iota": lambda a, b, c: a + lax.iota(jnp.float32, 10),
        "tril": lambda a, b, c: jnp.tril(a), "dynamic_slice": lambda a, b, c: lax.dynamic_slice(a, (jnp.int32(1), jnp.int32(7)), (3, 4)),
        "dynamic_update": lambda a, b, c: lax.dynamic_update_slice(a, b[:2, :3], (jnp.int32(3), jnp.int32(6))),
        "gather": lambda a, b, c: a[jnp.array([5, 0, 3])], "squeeze": lambda a, b, c: c[2, :, 4:5].squeeze(1), "expand": lambda a, b, c: a[None, :, None],
        "diagonal": lambda a, b, c: jnp.diagonal(a), "identity": lambda a, b, c: a,
    }
    return [family("movement", (a, b, c), table, specs=(P("x", "y"), P("y", "x"), P(None, "y", "x")), exact=False)]


def reductions():
    a, c = data(6, 6, 10), data(7, 4, 6, 10, low=0.5, high=1.5)
    recurrence = lambda p, q: (p[0] * q[0], q[0] * p[1] + q[1])
    table = {
        "sum": lambda a, c: jnp.sum(a), "sum0": lambda a, c: jnp.sum(a, 0), "sum1": lambda a, c: jnp.sum(a, 1), "sum02": lambda a, c: jnp.sum(c, (0, 2)),
        "max": lambda a, c: jnp.max(a), "min1": lambda a, c: jnp.min(a, 1), "prod": lambda a, c: jnp.prod(c, 1), "mean": lambda a, c: jnp.mean(a, 0),
        "var": lambda a, c: jnp.var(a, 1), "any": lambda a, c: jnp.any(a > 1.9, 0), "all": lambda a, c: jnp.all(a > -1.9, 1),
        "argmax": lambda a, c: jnp.argmax(a), "argmin1": lambda a, c: jnp.argmin(a, 1), "norm": lambda a, c: jnp.linalg.norm(c, axis=2),
        "argmax_of_rows": lambda a, c: jnp.argmax(jnp.resize(jnp.round(a), (3, 333)), 1), "argmin_of_rows": lambda a, c: jnp.argmin(jnp.resize(a, (5, 70)) - 1, 1),
        "argmax_nan": lambda a, c: jnp.argmax(jnp.where(jnp.resize(a, (7, 50)) > 1, jnp.nan, 1), 1), "argmin_infinite": lambda a, c: jnp.argmin(jnp.full((2, 65), jnp.inf) + a[0, 0], 1),
        "softmax": lambda a, c: jax.nn.softmax(a, 1), "logsumexp": lambda a, c: jax.nn.logsumexp(a, 0), "count": lambda a, c: jnp.sum(a > 0, dtype=jnp.int32),
        "window_sum": lambda a, c: lax.reduce_window(a, 0.0, lax.add, (2, 3), (1, 2), "SAME"),
        "window_max": lambda a, c: lax.reduce_window(a, -jnp.inf, lax.max, (3, 3), (1, 1), "VALID"),
        # Its first windows lie on pages before the array, of which no lane may be read: 18 s, where each costs a fault.
        "far_window_sum": lambda a, c: lax.reduce_window(jnp.resize(a, 40_000), 0.0, lax.add, (39_999,), (997,), [(39_998, 0)]),
        "running_sum": lambda a, c: jnp.cumsum(jnp.resize(a, 5_000)),
        "running_sum_of_rows": lambda a, c: jnp.cumsum(jnp.resize(a, (3, 4_200)), 1),
        "running_sum_of_columns": lambda a, c: jnp.cumsum(jnp.resize(a, (300, 270)), 0),
        "running_sum_past_caches": lambda a, c: jnp.cumsum(jnp.resize(a, (600, 1024)), 0),
        "running_product_from_the_end": lambda a, c: lax.cumprod(jnp.resize(c, (2, 777)), 1, reverse=True),
        "running_sum_from_the_end": lambda a, c: lax.cumsum(jnp.resize(a, (3, 333, 2)), 1, reverse=True),
        "running_max": lambda a, c: lax.cummax(jnp.resize(a, (70, 3))), "running_logsumexp": lambda a, c: lax.cumlogsumexp(jnp.resize(a, 500)),
        "running_min_of_a_start": lambda a, c: lax.reduce_window(jnp.resize(a, (70, 3)), 0.25, lax.min, (70, 1), (1, 1), [(69, 0), (0, 0)]),
        "running_max_of_a_start": lambda a, c: lax.reduce_window(jnp.resize(a, (3, 700)), a[0, 0], lax.max, (1, 700), (1, 1), [(0, 0), (0, 699)]),
        "running_argmax": lambda a, c: lax.reduce_window(
            (a.ravel(), jnp.arange(a.size)), (-jnp.inf, 0), lambda p, q: (jnp.maximum(p[0], q[0]), jnp.where(p[0] >= q[0], p[1], q[1])),
            (a.size,), (1,), [(a.size - 1, 0)]),
        "scan_of_pairs": lambda a, c: lax.associative_scan(recurrence, (jnp.resize(c, (3, 333, 2)), jnp.resize(a, (3, 333, 2))), axis=1),
        "scan_of_pairs_from_the_end": lambda a, c: lax.associative_scan(recurrence, (jnp.resize(c, (70, 33)) - 1, jnp.resize(a, (70, 33))), reverse=True),
        "scan_of_products": lambda a, c: lax.associative_scan(jnp.multiply, jnp.resize(c, (5, 300)), axis=1),
        "scan_without_neutral_element": lambda a, c: lax.associative_scan(jnp.logaddexp, jnp.resize(a, 100)),
        "two_at_once": lambda a, c: lax.reduce((a, a * 2), (jnp.zeros((), a.dtype), jnp.zeros((), a.dtype)),
                                               lambda p, q: (p[0] + q[0], p[1] + q[1]), (0,))[1],
    }
    return [family("reductions", (a, c), table, specs=(P("x", "y"), P("x", None, "y")))]


def sorting():
    a = data(12, 5, 3_000)
    a[:, ::50], a[:, 7::90], a[1, 3::40], a[2, 5::40] = np.round(a[:, ::50]), -0.0, np.nan, -np.inf
    integer = lambda a: (jnp.nan_to_num(a, neginf=0) * 60).astype(jnp.int32)
    tall = lambda a: jnp.concatenate([a, a[::-1] + 1]).reshape(3_000, 10)
    table = {
        "rows": lambda a: jnp.sort(a, 1), "short_rows": lambda a: jnp.sort(a[:, :50], 1), "down": lambda a: jnp.sort(a, 1, descending=True),
        "columns": lambda a: jnp.sort(a, 0), "integers": lambda a: jnp.sort(integer(a), 1), "bytes": lambda a: jnp.sort(integer(a).astype(jnp.int8), 1),
        "booleans": lambda a: jnp.sort(a > 0, 1), "order": lambda a: jnp.argsort(a, 1), "short_order": lambda a: jnp.argsort(integer(a)[:, :33], 1),
        "bf16_order": lambda a: jnp.argsort(a.astype(jnp.bfloat16), 1), "f16": lambda a: jnp.sort(a.astype(jnp.float16), 1),
        "with_others": lambda a: lax.sort((integer(a), a, a[::-1]), dimension=1, num_keys=1), "by_two": lambda a: lax.sort((integer(a), -a), dimension=1, num_keys=2),
        "complex": lambda a: lax.sort((integer(a), lax.complex(a, -a)), dimension=1, num_keys=1)[1],
        "first": lambda a: lax.top_k(a, 3), "first_of_a_long_row": lambda a: lax.top_k(a.ravel(), 40), "first_integers": lambda a: lax.top_k(integer(a), 1),
        "first_of_rising": lambda a: lax.top_k(jnp.sort(a, 1), 20), "least": lambda a: jnp.sort(a, 1)[:, :9], "first_of_few": lambda a: lax.top_k(a[:, :60], 2),
        "quick": lambda a: lax.top_k(a.astype(jnp.bfloat16), 5)[1],
        "long_columns": lambda a: jnp.sort(tall(a), 0), "order_of_columns": lambda a: jnp.argsort(tall(a), 0, descending=True), "median": lambda a: jnp.median(tall(a), 0),
        "columns_by_two": lambda a: lax.sort((integer(tall(a)) // 20, -tall(a)), dimension=0, num_keys=2), "complex_numbers": lambda a: jnp.sort(lax.complex(jnp.round(a), a[::-1]), 1),
        "by_three": lambda a: lax.sort((integer(a) // 20, jnp.round(a[::-1]), a, a[::-1] - 1), dimension=1, num_keys=3), "lexicographic": lambda a: jnp.lexsort((a, integer(a) % 7), 1),
    }
    return [family("sorting", (a,), table, specs=(P("x", None),))]


def contractions():
    a, b, c, d = data(8, 6, 10), data(9, 10, 14), data(10, 5, 6, 10), data(11, 5, 10, 3)
    table = {
        "matmul": lambda a, b, c, d: a @ b, "left": lambda a, b, c, d: a.T @ a, "outer": lambda a, b, c, d: jnp.einsum("i,j->ij", a[:, 0], b[0]),
        "vector": lambda a, b, c, d: a @ b[:, 0], "inner": lambda a, b, c, d: jnp.vdot(a, a), "batched": lambda a, b, c, d: c @ d,
        "broadcast": lambda a, b, c, d: c @ b, "two": lambda a, b, c, d: jnp.einsum("bij,bij->b", c, c), "three": lambda a, b, c, d: jnp.einsum("bij,bjk,jl->ikl", c, d, b),
        "chain": lambda a, b, c, d: jnp.tanh(a @ b) @ b.T,
    }
    specs = (P("x", "y"), P("y", "x"), P("y", None, "x"), P(None, "x", "y"))
    return [family("contractions", (a, b, c, d), table, specs=specs)]


def complex_numbers():
    a, b = data(12, 6, 8), data(13, 6, 8)
    z = lambda a, b: lax.complex(a, b)
    table = {
        "mul": lambda a, b: jnp.imag(z(a, b) * z(b, a)), "div": lambda a, b: jnp.imag(z(a, b) / (z(b, a) + 3)), "abs": lambda a, b: jnp.abs(z(a, b)),
        "exp": lambda a, b: z(jnp.exp(a), b) * jnp.exp(z(a, b)), "conj": lambda a, b: jnp.conj(z(a, b)), "sum": lambda a, b: jnp.sum(z(a, b), 0),
    }
    transforms = {"fft": lambda a, b: jnp.fft.fft(z(a, b)), "rfft": lambda a, b: jnp.fft.rfft(a),
                  "irfft": lambda a, b: jnp.fft.irfft(z(a, b)[:, :5]), "fft2": lambda a, b: jnp.fft.fft2(z(a, b))}
    return [family("complex", (a, b), table), family("fourier", (a, b), transforms)]


def linear_algebra():
    a, b = data(14, 4, 6, 6), data(15, 4, 6, 3)
    table = {
        "cholesky": lambda a, b: jnp.linalg.cholesky(a @ jnp.swapaxes(a, 1, 2) + 4 * jnp.eye(6, dtype=a.dtype)),
        "triangular": lambda a, b: lax.linalg.triangular_solve(jnp.tril(a) + 5 * jnp.eye(6, dtype=a.dtype), b, left_side=True, lower=True),
        "solve": lambda a, b: jnp.linalg.solve(a + 5 * jnp.eye(6, dtype=a.dtype), b), "inv": lambda a, b: jnp.linalg.inv(a + 5 * jnp.eye(6, dtype=a.dtype)),
        "det": lambda a, b: jnp.linalg.det(a), "qr": lambda a, b: jnp.linalg.qr(a + 5 * jnp.eye(6, dtype=a.dtype))[1],
        "svd": lambda a, b: jnp.linalg.svd(b, compute_uv=False), "pinv": lambda a, b: jnp.linalg.pinv(b), "least": lambda a, b: jnp.linalg.norm(b, 2, (1, 2)),
        "eigh": lambda a, b: jnp.linalg.eigh(a @ jnp.swapaxes(a, 1, 2))[0], "eig": lambda a, b: jnp.sort(jnp.abs(jnp.linalg.eigvals(a)), axis=-1),
        "expm": lambda a, b: jax.scipy.linalg.expm(a / 4), "tridiagonal": lambda a, b: lax.linalg.tridiagonal_solve(
            b[..., 0], b[..., 1] + 6, b[..., 2], b), "vectors": lambda a, b: jnp.abs(jnp.linalg.svd(a, full_matrices=False)[0]),
    }
    return [family("linear_algebra", (a, b), table, specs=(P("x", None, "y"), P("x", "y")))]


def narrow_floats():
    a, b = (jnp.asarray(data(seed, 6, 10), jnp.bfloat16) for seed in (16, 17))
    table = {"add": lambda a, b: a + b, "exp": lambda a, b: jnp.exp(a), "sum": lambda a, b: jnp.sum(a.astype(jnp.float32), 1),
             "dot": lambda a, b: lax.dot_general(a, b, (((1,), (1,)), ((), ())), preferred_element_type=jnp.float32),
             "max": lambda a, b: jnp.max(b, 0), "half": lambda a, b: (a.astype(jnp.float16) * 2).astype(jnp.float32), "tanh": lambda a, b: jnp.tanh(b)}
    chains = {
        "cube": lambda a, b: a**3 - b**2, "gelu": lambda a, b: jax.nn.gelu(a), "silu": lambda a, b: jax.nn.silu(a) * b,
        "softplus": lambda a, b: jax.nn.softplus(a), "power": lambda a, b: jnp.abs(a) ** b,
    }
    wide = [data(seed, 24, 40) for seed in (18, 19)]
    # Whole numbers: their sums are exact in any order. Rows of AMX's tiles lie in one of a filter's places each.
    images, outputs, filters = (jnp.asarray(np.round(2 * data(seed, *shape)), jnp.bfloat16)
                                for seed, shape in ((16, (2, 9, 9, 32)), (17, (2, 9, 9, 24)), (18, (3, 3, 32, 24))))
    convolve = lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    gradients = {"filters": lambda x, y, w: jax.vjp(lambda w: convolve(x, w), w)[1](y)[0], "images": lambda x, y, w: jax.vjp(lambda x: convolve(x, w), x)[1](y)[0]}
    return [family("bfloat16", (a, b), table, exact=False), family("convolution_bfloat16", (images, outputs, filters), gradients, specs=(P(), P(), P()))] + [
        family(f"chains_{name}", tuple(jnp.asarray(x, dtype) for x in wide), chains)
        for name, dtype in (("bfloat16", jnp.bfloat16), ("float16", jnp.float16))]


def empty():
    a, b, z = data(18, 4, 6), data(19, 6, 3), np.zeros((0, 6), np.float32)
    table = {
        "dot": lambda a, b, z: z @ b, "dot_of_none": lambda a, b, z: z.T @ jnp.zeros((0, 3), a.dtype), "sum": lambda a, b, z: (z + 1).sum(0),
        "all": lambda a, b, z: jnp.all(z > 0), "max": lambda a, b, z: z.max(initial=3), "concatenate": lambda a, b, z: jnp.concatenate([z, a]),
        "pad": lambda a, b, z: jnp.pad(z, ((1, 2), (0, 1))), "sort": lambda a, b, z: jnp.sort(z, 0), "gather": lambda a, b, z: a[jnp.zeros((0,), jnp.int32)],
        "scatter": lambda a, b, z: a.at[jnp.zeros((0,), jnp.int32)].add(z), "identity": lambda a, b, z: z, "reshape": lambda a, b, z: z.reshape(3, 0, 2),
        "loop": lambda a, b, z: lax.fori_loop(0, 3, lambda i, c: (c[0] * 2, c[1] + 1), (z, a))[1], "window": lambda a, b, z: lax.reduce_window(
            z, jnp.float32(0), lax.add, (2, 1), (1, 1), ((1, 1), (0, 0))), "branch": lambda a, b, z: lax.cond(a[0, 0] > 0, lambda: z + 1, lambda: z),
    }
    return [family("empty", (a, b, z), table, specs=(P("x", "y"), P("y", "x"), P(None, "x")), exact=False)]


def gathered_tables():
    """Rows of tables that are computed from their rows' numbers; numbers before the first and behind the last row among them."""
    def taken(table, rows, mode="clip"):
        return lax.gather(table, rows[..., None], lax.GatherDimensionNumbers((rows.ndim,), (0,), (0,)), (1, table.shape[1]), mode=mode)

    rows, scale = np.random.default_rng(21).integers(-50, 5050, (6, 10)).astype(np.int32), data(22, 6, 3)
    angles = lambda s: jnp.arange(5000, dtype=s.dtype)[:, None] / 5000 * s[0]
    table = {
        "cosine": lambda i, s: taken(jnp.cos(angles(s)), i), "turns": lambda i, s: taken(jnp.exp(1j * angles(s)), i[0]).imag,
        "in_a_loop": lambda i, s: lax.fori_loop(0, 3, lambda k, y: y + taken(jnp.sin(angles(s)), i[:, 0] + k), s),
        "read_by_two": lambda i, s: (lambda t: taken(t, i[:, 0]) + t[:6])(jnp.sin(angles(s))), "negative": lambda i, s: jnp.cos(angles(s))[i % 100 - 100],
        "unsigned": lambda i, s: taken(jnp.cos(angles(s)[:200]), (i % 256).astype(jnp.uint8)),
    }
    return [family("gathered_tables", (rows, scale), table)]


def transposed_stacks():
    """Weights of layers that lie in a dimension of their own, which is not the first, in a scan and its gradient."""
    weights, x = data(23, 24, 4, 24) * 0.2, data(24, 6, 24)
    layer = lambda x, w: (jnp.tanh(x @ w), None)
    run = lambda w, x: lax.scan(layer, x, jnp.swapaxes(w, 0, 1))[0]
    table = {"scan": run, "gradient": jax.grad(lambda w, x: jnp.sum(run(w, x) ** 2))}
    return [family("transposed_stacks", (weights, x), table, specs=(P("x", None, "y"), P()), exact=False)]


def scanned_batches():
    """A sharded batch, cut into microbatches that a scan goes along: to and fro, from its end, in two scans, by a gradient."""
    x, w = data(25, 24, 12), data(26, 12, 12) * 0.3
    cut = lambda x: x.reshape(4, 6, 12)
    loss = lambda w, b: jnp.mean((jnp.tanh(b @ w) - b) ** 2)

    def accumulated(x, w, **options):
        def step(total, b):
            value, gradient = jax.value_and_grad(loss)(w, b)
            return total + gradient, value
        return lax.scan(step, jnp.zeros_like(w), cut(x), **options)

    table = {
        "accumulated": lambda x, w: accumulated(x, w)[0], "losses": lambda x, w: accumulated(x, w)[1], "reverse": lambda x, w: accumulated(x, w, reverse=True)[1],
        "map": lambda x, w: lax.map(lambda b: b @ w, cut(x)), "twice": lambda x, w: lax.map(jnp.sin, cut(x)).sum(0) + lax.map(jnp.cos, jnp.swapaxes(cut(x), 0, 1))[:, :1].sum(1),
        "gradient": jax.grad(lambda x, w: jnp.sum(lax.scan(lambda c, b: (jnp.tanh(c + b @ w), None), jnp.zeros((6, 12)), cut(x))[0])),
        "rows": lambda x, w: lax.scan(lambda c, r: (jnp.tanh(c @ w + r), jnp.sum(c)), jnp.zeros(12), x)[1],
    }
    return [family(f"scanned_batches.{number}", (x, w), table, specs=(spec, P()), exact=False)
            for number, spec in enumerate((P("x"), P(("x", "y")), P("x", "y")))]


def small_loops():
    """Loops over scalars and small arrays, each one kernel: with carries that change places, tables that are read and
    updated, branches, loops inside of loops, and more trips than one run of a kernel makes."""
    table, x, start = data(27, 300, 4), data(28, 7), np.int32(77031)
    halve = lambda s: (jnp.where(s[0] % 2 == 0, s[0] // 2, 3 * s[0] + 1), s[1] + 1)
    trips = lambda n: lax.while_loop(lambda s: s[0] != 1, halve, (n, 0))[1]
    ops = {
        "stacked": lambda t, x, n: lax.scan(lambda c, v: (c * 0.5 + v, (c, c.sum())), x[:4], t)[1][1],
        "from_the_end": lambda t, x, n: lax.scan(lambda c, v: (c * 0.5 + v, c), x[:4], t, reverse=True)[1],
        "rotated": lambda t, x, n: jnp.stack(lax.fori_loop(0, 100, lambda i, c: (c[1], c[2], c[0] * 0.9 + 1), (x, x + 1, x * 2))),
        "until": lambda t, x, n: trips(n), "nested": lambda t, x, n: lax.fori_loop(1, 30, lambda i, s: s + trips(i), n),
        "batch_until": lambda t, x, n: jax.vmap(trips)(jnp.arange(1, 40)),
        "no_trip": lambda t, x, n: jnp.stack(lax.fori_loop(n, n - 5, lambda i, c: (c[1], c[0] + i), (x, x * 2))),
        "branches": lambda t, x, n: lax.fori_loop(0, 90, lambda i, c: lax.switch(c % 4, [lambda c: c + 1, lambda c: c * 3, lambda c: c - 7], c), n),
        "table": lambda t, x, n: lax.fori_loop(1, 300, lambda i, t: t.at[i, 0].set(t[i - 1, 0] * 0.9 + t[i, 1]), t),
        "swapped": lambda t, x, n: lax.fori_loop(0, 300, lambda i, t: t.at[i].set(t[(i * 7) % 300]).at[(i * 7) % 300].set(t[i]), t),
        "tables_turn": lambda t, x, n: jnp.stack(lax.fori_loop(0, 31, lambda i, c: (c[1].at[i].set(i), c[0]), (t, t + 1))),
        "gradient": jax.grad(lambda t, x, n: lax.scan(lambda c, v: (jnp.sin(c * 0.5 + v), c), x[:4], t[:40])[0].sum()),
        "product": lambda t, x, n: lax.fori_loop(0, 40, lambda i, c: jnp.tanh(t[:4] @ c), x[:4]),
        "many_trips": lambda t, x, n: lax.fori_loop(0, 3000001, lambda i, c: c * 3 + i, n),
        "many_until": lambda t, x, n: lax.while_loop(lambda s: s[0] < 3000001, lambda s: (s[0] + 1, s[1] * 3 + s[0]), (0, n))[1],
    }
    return [family("small_loops", (table, x, start), ops, specs=(P("x", "y"), P("x"), P()), exact=False)]


def stacked_states():
    """States whose components a loop puts together anew each trip, sharded along them: Runge-Kutta steps, and a rotation."""
    y, v = data(29, 6, 4), data(30, 3)

    def lorenz(y):
        a, b, c = y[..., 0], y[..., 1], y[..., 2]
        return jnp.stack([2 * (b - a), a * (1 - c) - b, a * b - 2 * c, *(y[..., 3],) * (y.shape[-1] - 3)], -1)

    def step(y, _):
        first = lorenz(y)
        second = lorenz(y + 0.005 * first)
        return y + 0.01 * second, y

    table = {
        "last": lambda y, v: lax.scan(step, y, None, length=20)[0], "all": lambda y, v: lax.scan(step, y, None, length=20)[1],
        "of_one": lambda y, v: lax.scan(step, v, None, length=20)[0], "gradient": jax.grad(lambda y, v: lax.scan(step, y, None, length=5)[0].sum()),
        "rotated": lambda y, v: lax.fori_loop(0, 5, lambda i, s: jnp.stack([s[:, 3], s[:, 0], s[:, 1] * 0.5, s[:, 2]], 1), y),
        "until": lambda y, v: lax.while_loop(lambda s: jnp.sum(jnp.abs(s)) > 1, lambda s: jnp.stack([s[1], s[2], s[0]]) * 0.7, v),
    }
    return [family(f"stacked_states.{number}", (y, v), table, specs=specs, exact=False)
            for number, specs in enumerate(((P("x", "y"), P("x")), (P(None, "y"), P("y")), (P(None, ("x", "y")), P(("x", "y")))))]


def random_bits():
    state, wide = np.array([1, 2, 2**32 - 1, 2**32 - 1], np.uint32), data(20, 6, 10)
    bits = lambda algorithm, dtype, *shape: lambda s, x: lax.rng_bit_generator(s, shape, dtype=dtype, algorithm=algorithm)[1]
    table = {f"{algorithm.name} {np.dtype(dtype)} {shape}": bits(algorithm, dtype, *shape)
             for algorithm in (lax.RandomAlgorithm.RNG_DEFAULT, lax.RandomAlgorithm.RNG_THREE_FRY)
             for dtype in (np.uint8, np.uint16, np.uint32) for shape in ((), (7,), (6, 10), (5, 3, 3))}
    table |= {"state": lambda s, x: lax.rng_bit_generator(s, (9,))[0],
              "dropout": lambda s, x: x * (lax.rng_bit_generator(s, (6, 10))[1] > np.uint32(2**31)),
              "rbg": lambda s, x: jax.random.normal(jax.random.wrap_key_data(s, impl="rbg"), (6, 10)) + x}
    return [family("random_bits", (state, wide), table, specs=(P(), P("x", "y")), exact=False)]


def cases():
    found = []
    for families in (elementwise, integers, movement, reductions, sorting, contractions, complex_numbers, linear_algebra, narrow_floats, empty,
                     gathered_tables, transposed_stacks, scanned_batches, stacked_states, small_loops, random_bits):
        found += families()
    return found
