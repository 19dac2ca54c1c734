"""fft, top_k, calls of functions: what has a form of its own."""
import numpy as np

from .arithmetic import constant_like
from .builder import Builder, i64s
from .elements import C64, F32, I32, check_sum
from .movement import starts
from .program import Region, Value, run_region


def fft(b):
    """Of real numbers and back, small; of numbers that are rounded."""
    if not b.rounding:
        return False
    x = b.pick(lambda v: v.element is F32 and v.rank and v.size > 1 and v.shape[-1] <= 65)
    if not x:
        return False
    axes = 1 if x.rank == 1 or b.rng.random() < 0.7 else 2
    sizes = list(x.shape[-axes:])
    dims = list(range(x.rank - axes, x.rank))
    half = list(x.shape)
    half[-1] = half[-1] // 2 + 1
    narrow = lambda a, like: a.astype(np.complex64 if like.dtype in (np.float32, np.complex64) else np.complex128)
    f = b.emit("stablehlo.fft", [x], [(C64, half)], lambda a: [narrow(np.fft.rfftn(a, axes=dims), a)],
               f"fft_type = #stablehlo<fft_type RFFT>, fft_length = {i64s(sizes)}", rounds=True)[0]
    if b.rng.random() < 0.5:
        name = b.rng.choice(["FFT", "IFFT"])
        function = np.fft.fftn if name == "FFT" else np.fft.ifftn
        return b.emit("stablehlo.fft", [f], [(C64, half)], lambda a: [narrow(function(a, axes=dims), a)],
                      f"fft_type = #stablehlo<fft_type {name}>, fft_length = {i64s(half[-axes:])}", rounds=True)
    if b.rng.random() < 0.5:
        return b.emit("stablehlo.fft", [f], [(F32, x.shape)],
                      lambda a: [np.fft.irfftn(a, s=sizes, axes=dims).astype(np.float32 if a.dtype == np.complex64 else np.float64)],
                      f"fft_type = #stablehlo<fft_type IRFFT>, fft_length = {i64s(sizes)}", rounds=True)
    function, name = b.rng.choice([(np.real, "real"), (np.imag, "imag")])
    return b.emit(f"stablehlo.{name}", [f], [(F32, half)], lambda a: [function(a).copy()], rounds=True)


def top_k(b):
    x = b.pick(lambda v: v.rank and v.shape[-1] > 1 and v.exact and v.element.kind in "fi")
    if not x:
        return False
    if x.element.kind == "f" and x not in b.top().arguments:  # a sum of nothing but -0 may be either zero, which the order would show
        x = b.emit("stablehlo.add", [x, constant_like(b, x, 0)], [(x.element, x.shape)], lambda p, q: [p + q])[0]
    k = b.rng.randint(1, min(x.shape[-1], 9))
    shape = [*x.shape[:-1], k]
    def evaluate(a):
        if x.element.is_float:  # 0 comes before -0, as in JAX
            order = np.lexsort((np.signbit(a), -a), axis=-1)[..., :k]
        else:
            order = (a.shape[-1] - 1 - np.argsort(np.flip(a, -1), axis=-1, kind="stable"))[..., ::-1][..., :k]
        return [np.take_along_axis(a, order, -1), order.astype(np.int32)]
    return b.emit("chlo.top_k", [x], [(x.element, shape), (I32, shape)], evaluate, f"k = {k} : i64")


def parts_of_complex(b):
    x = b.pick(lambda v: v.element is C64)
    if x:
        function, name = b.rng.choice([(np.real, "real"), (np.imag, "imag")])
        return b.emit(f"stablehlo.{name}", [x], [(F32, x.shape)], lambda a: [function(a).copy()])
    x = b.pick(lambda v: v.element is F32 and v.size)
    y = b.pick(lambda v: v.element is F32 and v.shape == x.shape and v.exact == x.exact) if x else None
    if not y:
        return False
    return b.emit("stablehlo.complex", [x, y], [(C64, x.shape)], lambda p, q: [p + (q * 1j).astype(np.complex64 if q.dtype == np.float32 else np.complex128)])


def named(b):
    """A named computation, as calls of functions become."""
    from .control import body_builder, fill
    from .generate import SIMPLE
    if b.depth or b.rounding:
        return False
    inputs = list(dict.fromkeys(v for v in (b.pick() for _ in range(b.rng.choice([1, 2]))) if v.exact))
    if not inputs:
        return False
    inner_values = [Value(v.element, v.shape, v.data) for v in inputs]
    inner = body_builder(b, inner_values)
    inner.own_arguments = False
    fill(inner, SIMPLE, b.rng.choice([1, 2, 3, 4]))
    used = {v for op in inner.ops for v in op.operands}
    made = [v for op in inner.ops for v in op.results if op.name != "stablehlo.constant"]
    returned = [v for v in made if v not in used][-3:]
    if not returned:
        return False
    region = Region(inner_values, inner.ops, returned, "sdy.return")
    def evaluate(*arrays, environment):
        return run_region(region, arrays, environment)
    return b.emit("sdy.named_computation", inputs, [(v.element, v.shape) for v in returned], evaluate, f'name = "f{b.rng.randrange(9)}"', [region],
                  evaluated=[v.data for v in returned])


FAMILY = [(fft, 4), (top_k, 0.8), (parts_of_complex, 2.5), (named, 1)]
