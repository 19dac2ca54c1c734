"""Element types: how they are written, held by the oracle, passed to a program, and what they hold exactly.

Floats are held as float64 whatever their width. A float value is exact when its element type holds it, and a sum is exact in any order when
its terms are multiples of one power of two and their magnitudes together fit the type's digits (`check_sum`). Where `rounds_narrow` is on, it is
f32's arithmetic that is exact: what bf16 and f16 do not hold is rounded to them, once, as docs/numbers.md says.
"""
import dataclasses

import ml_dtypes
import numpy as np


class Inexact(Exception):
    """What was to be computed would be rounded."""


@dataclasses.dataclass(frozen=True)
class Element:
    name: str
    kind: str  # f: float, i, u: integer, b: i1, c: complex
    held: type  # numpy's type of the oracle's arrays
    own: type  # numpy's type of this width
    passed: type  # numpy's type in .npz files
    digits: int = 0  # of a float, in bits

    @property
    def is_float(self):
        return self.kind == "f"

    @property
    def is_integer(self):
        return self.kind in "iu"

    def __repr__(self):
        return self.name


F32 = Element("f32", "f", np.float64, np.float32, np.float32, 24)
F64 = Element("f64", "f", np.float64, np.float64, np.float64, 53)
BF16 = Element("bf16", "f", np.float64, ml_dtypes.bfloat16, np.float32, 8)
F16 = Element("f16", "f", np.float64, np.float16, np.float32, 11)
I1 = Element("i1", "b", np.bool_, np.bool_, np.bool_)
C64 = Element("complex<f32>", "c", np.complex128, np.complex64, np.complex64, 24)
INTEGERS = {name: Element(name, kind, dtype, dtype, dtype) for name, kind, dtype in [
    ("i8", "i", np.int8), ("i16", "i", np.int16), ("i32", "i", np.int32), ("i64", "i", np.int64),
    ("ui8", "u", np.uint8), ("ui16", "u", np.uint16), ("ui32", "u", np.uint32), ("ui64", "u", np.uint64)]}
I32, I64, UI32, I8 = (INTEGERS[n] for n in ("i32", "i64", "ui32", "i8"))

checking = True  # off while inexact values are computed
rounds_narrow = False  # on while a program is made whose bf16 and f16 are rounded


def is_rounded(element):
    return rounds_narrow and element in (BF16, F16)


def rounded(element, array):
    """What an operation of a narrow type makes of its exact result in f32. Infinities, of which neutral elements are made, stay."""
    if not checking or not is_rounded(element):
        return array
    with np.errstate(over="ignore"):
        single = np.asarray(array).astype(np.float32)
        narrow = single.astype(element.own).astype(element.held)
    if not np.array_equal(single, array) or not np.array_equal(np.isinf(narrow), np.isinf(array)):
        raise Inexact
    if np.any((narrow != single) & (np.abs(single) < float(ml_dtypes.finfo(element.own).smallest_normal))):
        raise Inexact
    return narrow


def grain(array):
    """The smallest g such that all elements are multiples of 2^-g."""
    parts = [array.real, array.imag] if np.iscomplexobj(array) else [array]
    for g in range(0, 40, 2):
        if all(np.array_equal(part * 2.0**g, np.floor(part * 2.0**g)) for part in parts):
            return g
    raise Inexact


def check(element, array):
    """The array, where its element type holds it or it is rounded to that."""
    if not checking or element.kind not in "fc":
        return array
    if not np.all(np.isfinite(array)):
        raise Inexact
    if is_rounded(element):
        return rounded(element, array)
    with np.errstate(over="ignore"):
        if not np.array_equal(array.astype(element.own).astype(array.dtype), array):
            raise Inexact
    if array.size and max(np.max(np.abs(array.real)), np.max(np.abs(array.imag))) * 2.0 ** grain(array) > 2.0**element.digits:
        raise Inexact
    return array


def check_sum(element, magnitudes, *terms, each_rounded=False):
    """`magnitudes`: the sums of the terms' magnitudes. Terms are products of elements of the arrays `terms`. Sums of narrow types are made in f32,
    but where each addition is `each_rounded`."""
    if not checking or element.kind not in "fc" or not magnitudes.size:
        return
    digits = F32.digits if is_rounded(element) and not each_rounded else element.digits
    if np.max(magnitudes) * 2.0 ** sum(grain(term) for term in terms) > 2.0 ** digits:
        raise Inexact
