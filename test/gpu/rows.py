"""What kernels of rows move, counted by the stand-in for NVIDIA's driver (programs.py, which says how): softmax, cross entropy, norms and
their gradients, Adam and transposes of rows from one element to 40,001, sizes that divide nothing among them. Each is one kernel. It may
read at most 1.05 times its inputs and write at most 1.05 times its outputs, in at most 1.1 times the sectors of 32 bytes that these
take; rows that find no room in shared memory and registers are read in each pass over them, from anywhere in a sector, and so are those of
one pass that are too long for what a kernel declares of shared memory. A vector that all rows read (a norm's scale) comes from
the cache, in each pass, from anywhere in a sector. Transposes ask the banks of shared memory at most 1.05 times as often as they must, rows that
teams of threads have 1.15 times (at the ends of rows banks meet); shorter ones are not held against a bound. Where a transpose's lines begin within sectors, the least is what these touch, line by line; of lines of less than a warp it is
the array's. Bits are those of the cpu.

  rows.py [--table] [FORM[:LENGTH]..]       --table: prints each one's figures
"""
import collections
import math
import sys
import tempfile

sys.dont_write_bytecode = True
from programs import differing, run, text_of, total_of, values

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

LENGTHS = [2, 3, 7, 16, 33, 64, 100, 127, 255, 768, 1001, 4096, 5003, 9217, 16500, 40001]
LONG = [*LENGTHS, 25000, 32000, 50257, 64000]  # those that registers have parts of among them
LINES = [32, 64, 96, 768]  # of transposes: whole sectors, as are its 96 rows
ROOM = 46 << 10  # bytes of shared memory that a row may take of what the code declares
ROOM_OF_PASSES = 250 << 10  # with what a launch asks for, and with registers: for rows that several passes read
FORMS = {}
Form = collections.namedtuple("Form", "function others passes lengths dtype vectors donate rows banks lines")


def form(*others, passes=1, lengths=LENGTHS, dtype="float32", vectors=0, donate=(), rows=None, banks=None, lines=False):
    """A function of an array of rows, of `others`, each of its shape ("rows") or of an integer for each row ("labels"), and of `vectors`
    along the rows; it goes over a row in so many passes. `lines`: each line is read by itself."""
    def add(function):
        FORMS[function.__name__] = Form(function, others, passes, lengths, dtype, vectors, donate, rows, banks, lines)
        return function
    return add


@form(lengths=LONG, passes=3)
def softmax(x):
    return jax.nn.softmax(x, axis=-1)


@form(lengths=LONG, passes=3, dtype="bfloat16")
def softmax_bf16(x):
    return jax.nn.softmax(x.astype(jnp.float32), axis=-1).astype(jnp.bfloat16)


@form(lengths=LONG, passes=3)
def log_softmax(x):
    return jax.nn.log_softmax(x, axis=-1)


@form("labels", lengths=LONG, passes=3)
def cross_entropy(x, labels):
    picked = jnp.arange(x.shape[1]) == labels[:, None]
    return -jnp.sum(jnp.where(picked, jax.nn.log_softmax(x, axis=-1), 0), axis=-1)


@form("labels", lengths=LONG, passes=3)
def cross_entropy_gradient(x, labels):
    picked = jnp.arange(x.shape[1]) == labels[:, None]
    return jax.grad(lambda x: -jnp.sum(jnp.where(picked, jax.nn.log_softmax(x, axis=-1), 0)))(x)


def normed(x):
    centred = x - x.mean(-1, keepdims=True)
    return centred * lax.rsqrt((centred * centred).mean(-1, keepdims=True) + 1e-5)


@form(lengths=LONG, passes=3, vectors=2)
def layer_norm(x, scale, bias):
    return normed(x) * scale + bias


@form("rows", lengths=LONG, passes=4, vectors=1)
def layer_norm_gradient(x, g, scale):
    return jax.vjp(lambda x: normed(x) * scale, x)[1](g)[0]


@form(lengths=LONG, passes=2, dtype="bfloat16", vectors=1, banks=1.25)  # turns are few, and rows' ends a larger part of them
def rms_norm_bf16(x, scale):
    wide = x.astype(jnp.float32)
    return (wide * lax.rsqrt((wide * wide).mean(-1, keepdims=True) + 1e-6)).astype(x.dtype) * scale


@form("rows", lengths=LONG, passes=3, vectors=1)
def rms_norm_gradient(x, g, scale):
    return jax.vjp(lambda x: x * lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6) * scale, x)[1](g)[0]


@form()
def sums(x):
    return (x * x).sum(-1)


@form("rows", "rows", "rows", donate=(0, 1, 2), lengths=LENGTHS[:11])
def adam(weight, m, v, gradient):
    m, v = 0.9 * m + 0.1 * gradient, 0.999 * v + 0.001 * gradient * gradient
    return weight - 1e-3 * m / (jnp.sqrt(v * v) + 1e-8), m, v


@form(lengths=LINES, rows=96, banks=1.05)
def transposed(x):
    return x.T


@form(lengths=LINES, rows=96, banks=1.05, dtype="bfloat16")
def transposed_bf16(x):
    return x.T


@form(lengths=[2, 4, 7, 31, 33, 100, 257, 1001], banks=1.05, lines=True)
def transposed_within_sectors(x):
    return x.T


@form(lengths=[2, 7, 33, 100, 1001], banks=1.05, lines=True, dtype="bfloat16")
def transposed_within_sectors_bf16(x):
    return x.T


@form(lengths=[33, 100, 1001, 4097], rows=7, banks=1.05, lines=True)
def transposed_few(x):
    return x.T


@form("rows", lengths=[33, 1001], banks=1.05, lines=True)
def transposed_and_converted(x, y):
    return (x.T * 2 + y.T).astype(jnp.bfloat16)


@form(lengths=[333], rows=3 * 111, banks=1.05, lines=True)
def transposed_in_batches(x):
    return x.reshape(3, 111, 333).transpose(0, 2, 1).reshape(999, 111)


def rows_of(form, length):
    """So many that the blocks differ, and the emulator is done soon."""
    return form.rows or max(3, min(200, 24000 // length)) | 1


def arguments_of(form, length):
    rows = rows_of(form, length)
    array, labels, vector = ((rows, length), form.dtype), ((rows,), "int32"), ((length,), form.dtype)
    shapes = [array, *[labels if other == "labels" else array for other in form.others], *[vector] * form.vectors]
    return [jax.ShapeDtypeStruct(*shape) for shape in shapes]


def bytes_of(array):
    return int(np.prod(array.shape)) * jnp.dtype(array.dtype).itemsize


def measured(name, length, directory):
    """(what it is held against, what was counted), or what went wrong."""
    form = FORMS[name]
    arguments = arguments_of(form, length)
    random = np.random.default_rng(length)
    inputs = [values(a, random) if a.dtype != jnp.int32 else random.integers(0, length, a.shape, dtype=np.int32) for a in arguments]
    text = text_of(form.function, arguments, form.donate, 1)
    expected, found = (run(f"{name}_{length}", target, text, inputs, directory) for target in ("cpu", "cuda"))
    for target, result in (("cpu", expected), ("cuda", found)):
        if isinstance(result, str):
            return f"{target}: {result}"
    if wrong := differing(expected[0], found[0]):
        return wrong
    if len(found[1]) != 1:
        return f"{len(found[1])} kernels"
    return least_of(form, arguments, length), total_of(found[1])


def least_of(form, arguments, length):
    """Bytes that are read and written, and the sectors that they take; any of rows that find no room."""
    arrays, vectors = arguments[:1 + len(form.others)], arguments[1 + len(form.others):]
    row = sum(bytes_of(a) for a in arrays if len(a.shape) == 2) / rows_of(form, length)
    is_kept = row <= (ROOM_OF_PASSES if form.passes > 1 else ROOM)
    read = sum(map(bytes_of, arrays)) * (1 if is_kept else form.passes)
    passing = rows_of(form, length) * sum(map(bytes_of, vectors)) * form.passes
    results = jax.tree.leaves(jax.eval_shape(form.function, *arguments))
    written = sum(map(bytes_of, results))
    # Blocks write what a row has one of in a sector of their own.
    apart = sum(a.shape[0] for a in results if len(a.shape) == 1)
    sectors_read = sum(map(sectors_of_lines, arrays)) if form.lines else (read + 2 * passing) / 32 if is_kept else math.inf
    sectors_written = sum(map(sectors_of_lines, results)) if form.lines else written / 32 + apart
    return {"bytes_read": read + passing, "bytes_written": written, "sectors_read": sectors_read, "sectors_written": sectors_written}


def sectors_of_lines(array):
    """That the lines of an array touch, each by itself; of lines shorter than a warp, that all of it touches."""
    lines, length = array.shape if array.shape[1] >= 32 else (1, int(np.prod(array.shape)))
    size = length * jnp.dtype(array.dtype).itemsize
    return sum(-(-(line + 1) * size // 32) - line * size // 32 for line in range(lines))


def beyond(form, length, least, total):
    """Ratios of what was counted to the least, and those of which there is too much."""
    slack = {"bytes_read": 64, "bytes_written": 64, "sectors_read": 8, "sectors_written": 8}  # at the ends of arrays
    ratios = {what: total[what] / (least[what] + slack[what]) for what in least}
    bounds = {"bytes_read": 1.05, "bytes_written": 1.05, "sectors_read": 1.1, "sectors_written": 1.1}
    if total["least_bank_turns"]:
        ratios["bank_turns"], bounds["bank_turns"] = total["bank_turns"] / total["least_bank_turns"], form.banks or (1.15 if length >= 64 else None)
    return ratios, [what for what, bound in bounds.items() if bound and ratios[what] > bound]


def main():
    table = "--table" in sys.argv
    asked = [argument.split(":") for argument in sys.argv[1:] if not argument.startswith("--")]
    asked = {name: [int(length) for length in lengths] for name, *lengths in asked} or {name: [] for name in FORMS}
    wrong = count = 0
    with tempfile.TemporaryDirectory() as directory:
        for name, lengths in asked.items():
            for length in lengths or FORMS[name].lengths:
                count += 1
                found = measured(name, length, directory)
                if isinstance(found, str):
                    wrong += 1
                    print(f"{name} of {length}: {found}", flush=True)
                    continue
                ratios, far = beyond(FORMS[name], length, *found)
                wrong += bool(far)
                if table or far:
                    print(f"{name:26} {length:6}: " + ", ".join(f"{what} {ratio:.2f}" + ("!" if what in far else "") for what, ratio in ratios.items()), flush=True)
    print(f"{count} kernels of rows, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
