"""How far a result may be from JAX's: derived from how far JAX itself is from the exact one.

The function is also evaluated in float64. With e the larger of JAX's own error and a unit in the last place, a result
may be SLACK times e away: another order of summation and another exp must fit, a dropped term or a wrong row must not.
Errors are relative to the value or the output's root mean square, whichever is larger. Integers must be equal.
"""
import ml_dtypes
import numpy as np

SLACK = 16
LOOSEST = {"float32": 5e-3, "bfloat16": 2e-1, "float16": 5e-2, "float64": 1e-9, "complex64": 5e-3}


def wide(x):
    x = np.asarray(x)
    return x.astype(np.complex128 if np.iscomplexobj(x) else np.float64)


def error(got, exact):
    """The largest relative error over finite values."""
    finite = np.isfinite(exact)
    if not finite.any():
        return 0.0
    rms = np.sqrt(np.mean(np.abs(exact[finite]) ** 2))
    scale = np.maximum(np.abs(exact[finite]), rms) + 1e-30
    return float(np.max(np.abs(got[finite] - exact[finite]) / scale))


def differ(got, jax_value, exact):
    """None, or how `got` differs from what JAX computed; `exact` is the float64 value or None."""
    jax_value = np.asarray(jax_value)
    if got.shape != jax_value.shape:
        return f"shape {got.shape}, JAX has {jax_value.shape}"
    name = str(jax_value.dtype)
    if name not in LOOSEST:
        if np.array_equal(got, jax_value):
            return None
        where = np.argwhere(got != jax_value)
        at = tuple(int(i) for i in where[0])
        return f"{len(where)} of {got.size} integers differ, first at {list(at)}: {got[at]}, JAX has {jax_value[at]}"
    reference = wide(jax_value)
    got = wide(got)
    if not np.array_equal(np.isnan(got), np.isnan(reference)):
        return "NaN in other places than in JAX"
    infinite = np.isinf(reference)
    if not np.array_equal(got[infinite], reference[infinite]):
        return "infinities differ from JAX's"
    exact = reference if exact is None else np.where(np.isfinite(reference), wide(exact), reference)
    unit = float(ml_dtypes.finfo(jax_value.dtype).eps) if name != "complex64" else 1.2e-7
    allowed = SLACK * max(error(reference, exact), unit)
    if allowed > LOOSEST[name]:
        return f"the reference is too inexact to compare with (JAX is {allowed / SLACK:.1e} from the exact value)"
    found = error(got, exact)
    return None if found <= allowed else f"error {found:.1e}, allowed {allowed:.1e}"
