"""Element types by their names in programs, and the NumPy dtypes that stand for them; ml_dtypes has the small ones."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from . import _native

# name: (dtype's name, kind and bits in DLPack, where it has the type)
_TYPES: dict[str, tuple[str, int, int]] = {
    "i1": ("bool", 6, 8),
    "i2": ("int2", 0, 0),
    "i4": ("int4", 0, 0),
    "i8": ("int8", 0, 8),
    "i16": ("int16", 0, 16),
    "i32": ("int32", 0, 32),
    "i64": ("int64", 0, 64),
    "u2": ("uint2", 0, 0),
    "u4": ("uint4", 0, 0),
    "u8": ("uint8", 1, 8),
    "u16": ("uint16", 1, 16),
    "u32": ("uint32", 1, 32),
    "u64": ("uint64", 1, 64),
    "bf16": ("bfloat16", 4, 16),
    "f16": ("float16", 2, 16),
    "f32": ("float32", 2, 32),
    "f64": ("float64", 2, 64),
    "c64": ("complex64", 5, 64),
    "c128": ("complex128", 5, 128),
    "f8E3M4": ("float8_e3m4", 7, 8),
    "f8E4M3": ("float8_e4m3", 8, 8),
    "f8E4M3B11FNUZ": ("float8_e4m3b11fnuz", 9, 8),
    "f8E4M3FN": ("float8_e4m3fn", 10, 8),
    "f8E4M3FNUZ": ("float8_e4m3fnuz", 11, 8),
    "f8E5M2": ("float8_e5m2", 12, 8),
    "f8E5M2FNUZ": ("float8_e5m2fnuz", 13, 8),
    "f8E8M0FNU": ("float8_e8m0fnu", 14, 8),
    "f4E2M1FN": ("float4_e2m1fn", 0, 0),
    "f6E2M3FN": ("float6_e2m3fn", 0, 0),
    "f6E3M2FN": ("float6_e3m2fn", 0, 0),
}

DTYPES: dict[str, np.dtype[Any]] = {}
"""The dtype of each element type."""

NAMES: dict[np.dtype[Any], str] = {}
"""The element type of each dtype."""


def _register() -> None:
    for name, (dtype_name, kind, bits) in _TYPES.items():
        small = getattr(ml_dtypes, dtype_name, None)
        plain = hasattr(np, dtype_name)
        if not plain and small is None:
            continue  # an older ml_dtypes
        dtype = np.dtype(dtype_name if plain else small)
        carrier = None if plain else np.dtype(f"uint{8 * dtype.itemsize}")
        DTYPES[name] = dtype
        NAMES[dtype] = name
        _native.register_type(name, dtype, carrier, kind, bits)


_register()


def name_of(dtype: Any) -> str:
    """The element type of what NumPy understands as a dtype."""
    found = NAMES.get(np.dtype(dtype))
    if found is None:
        from .errors import ArgumentTypeError

        raise ArgumentTypeError(f"programs have no element type for {np.dtype(dtype)}")
    return found
