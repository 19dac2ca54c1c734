"""The element types: their text, what numpy holds them in, and random data with the values at their edges."""
import dataclasses

import ml_dtypes
import numpy as np


@dataclasses.dataclass(frozen=True)
class ElementType:
    name: str  # as MLIR writes it
    dtype: np.dtype
    kind: str  # bool, sint, uint, float, complex
    bits: int

    def __str__(self):
        return self.name

    @property
    def real(self):
        return BY_NAME[self.name[8:-1]] if self.kind == "complex" else self

    @property
    def eps(self):
        return float(ml_dtypes.finfo(self.real.dtype).eps)


def _make(name, dtype, kind, bits):
    return ElementType(name, np.dtype(dtype), kind, bits)


BOOL = [_make("i1", bool, "bool", 1)]
SIGNED = [_make(f"i{n}", f"int{n}", "sint", n) for n in (8, 16, 32, 64)]
UNSIGNED = [_make(f"ui{n}", f"uint{n}", "uint", n) for n in (8, 16, 32, 64)]
NARROW_INTEGERS = [_make("i4", ml_dtypes.int4, "sint", 4), _make("i2", ml_dtypes.int2, "sint", 2),
                   _make("ui4", ml_dtypes.uint4, "uint", 4), _make("ui2", ml_dtypes.uint2, "uint", 2)]
FLOATS = [_make("bf16", ml_dtypes.bfloat16, "float", 16), _make("f16", np.float16, "float", 16),
          _make("f32", np.float32, "float", 32), _make("f64", np.float64, "float", 64)]
F8 = [_make(f"f8{name}", getattr(ml_dtypes, f"float8_{name.lower()}"), "float", 8)
      for name in ("E4M3FN", "E5M2", "E4M3B11FNUZ", "E4M3FNUZ", "E5M2FNUZ", "E4M3", "E3M4", "E8M0FNU")]
F46 = [_make("f4E2M1FN", ml_dtypes.float4_e2m1fn, "float", 4), _make("f6E2M3FN", ml_dtypes.float6_e2m3fn, "float", 6),
       _make("f6E3M2FN", ml_dtypes.float6_e3m2fn, "float", 6)]
COMPLEX = [_make("complex<f32>", np.complex64, "complex", 64), _make("complex<f64>", np.complex128, "complex", 128)]

INTEGERS = SIGNED + UNSIGNED
PLAIN = BOOL + INTEGERS + FLOATS + COMPLEX  # what most programs hold
ALL = PLAIN + NARROW_INTEGERS + F8 + F46
BY_NAME = {t.name: t for t in ALL}
F32, F64, I32, I64, I1 = (BY_NAME[name] for name in ("f32", "f64", "i32", "i64", "i1"))
# Common types come up more often.
WEIGHT = {"f32": 6, "i32": 4, "bf16": 2, "f64": 2, "i1": 2, "complex<f32>": 2}


class Forced:
    """For the coverage table: the type that every choice falls on where the op takes it, and whether one did."""
    type, used = None, False


def choose(rng, types, narrow_too=True):
    """One of `types`; now and then a narrow type of the same kinds, unless there are few to choose from."""
    kinds = {t.kind for t in types}
    if Forced.type and Forced.type.kind in kinds and (Forced.type in types or (narrow_too and len(types) > 2)):
        Forced.used = True
        return Forced.type
    narrow = [t for t in NARROW_INTEGERS + F8 + F46 if t.kind in kinds]
    if narrow and not Forced.type and types is not ALL and len(types) > 4 and narrow_too and rng.random() < 0.06:
        return narrow[rng.integers(len(narrow))]
    weights = np.array([WEIGHT.get(t.name, 1) for t in types], float)
    return types[rng.choice(len(types), p=weights / weights.sum())]


def of(*kinds):
    """The plain types of some of the kinds bool, int, sint, uint, float, complex."""
    return [t for t in PLAIN if t.kind in kinds or ("int" in kinds and t.kind in ("sint", "uint"))]


FLOAT_EDGES = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.5, 2.0, -0.5, 1.5, 2.5, -2.5]


def _floats(rng, t, shape, edges):
    with np.errstate(all="ignore"):
        x = rng.standard_normal(shape) * 2.0 ** rng.integers(-2, 4)
        if edges:
            info = ml_dtypes.finfo(t.dtype)
            large = [float(info.max), float(info.min), float(info.tiny), float(info.max) / 3, 88.5, -104.0, 1e-3, 100.0, 1e5]
            chosen = np.asarray(FLOAT_EDGES + (large if edges == "all" else []))
            x = np.where(rng.random(shape) < rng.choice([0.0, 0.1, 0.5]), rng.choice(chosen, shape), x)
        if t.name == "f8E8M0FNU":
            x = np.abs(x) + 2.0 ** -20
        return x.astype(t.dtype)


def data(rng, t, shape, edges="all"):
    """Random values of a type. Edges: "all"; "special" (no numbers near overflow, so sums don't depend on their order);
    None (small ordinary numbers)."""
    shape = tuple(shape)
    if t.kind == "bool":
        return rng.random(shape) < 0.5
    if t.kind == "complex":
        part = lambda: _floats(rng, t.real, shape, edges)
        x = np.empty(shape, t.dtype)
        x.real, x.imag = part(), part()
        return x
    if t.kind == "float":
        return _floats(rng, t, shape, edges)
    low, high = (-(2 ** (t.bits - 1)), 2 ** (t.bits - 1) - 1) if t.kind == "sint" else (0, 2**t.bits - 1)
    wide = np.int64 if t.kind == "sint" else np.uint64
    small = rng.integers(max(low, -9), min(high, 9), shape, endpoint=True).astype(wide)
    if edges == "all":
        extreme = rng.choice(np.array([low, low + 1, high, high - 1, 0, 1], wide), shape)
        anywhere = rng.integers(low, high, shape, wide, endpoint=True)
        which = rng.random(shape)
        share = rng.choice([0.0, 0.2, 0.6])
        small = np.where(which < share / 2, extreme, np.where(which < share, anywhere, small))
    return small.astype(t.dtype)
