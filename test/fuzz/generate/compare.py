"""How far results may be from what the oracle has."""
import numpy as np


def difference(value, got):
    """None, or how `got` differs from the value. Exact values are to be met exactly."""
    want = value.data
    if got.shape != value.shape:
        return f"shape {got.shape}, not {value.shape}"
    if value.exact:
        if got.dtype.kind in "fc":
            got = got.astype(want.dtype)
        wrong = got != want
    else:
        bound = tolerance(value)
        wrong = ~(np.abs(got.astype(want.dtype) - want) <= bound)
    if not np.any(wrong):
        return None
    where = tuple(int(i[0]) for i in np.nonzero(wrong)) if wrong.ndim else ()
    note = "" if value.exact else f" (bound {np.max(bound):.2g}, f32 itself {np.max(np.abs(value.approx - want)):.2g})"
    return f"{np.count_nonzero(wrong)} of {want.size} elements, first at {list(where)}: {got[where]}, not {want[where]}{note}"


def tolerance(value):
    """Several times the distance of f32 arithmetic, and some units in the last place of the largest element, or of the largest term of a sum."""
    want = value.data
    if not want.size:
        return 0.0
    scale = max(np.max(np.abs(want)), value.scale)
    unit = 2.0**-23
    bound = 8 * np.max(np.abs(value.approx - want)) + 32 * unit * scale + 1e-30
    return bound * 2.0**-20 if value.element.name == "f64" else bound
