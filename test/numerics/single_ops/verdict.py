"""Whether a result is right: element by element, by either oracle."""
import ml_dtypes
import numpy as np


def wide(x):
    """float64 or complex128 for floating-point types, else as it is."""
    x = np.asarray(x)
    if x.dtype == bool or x.dtype.kind in "iu":
        return x
    if x.dtype.kind == "c":
        return x.astype(np.complex128)
    if x.dtype.kind == "V" or x.dtype.kind == "f":
        return x.astype(np.float64 if "int" not in str(x.dtype) else np.int64)
    return x


def agreeing(got, reference, value, tolerance, scale):
    """Where `got` is as the reference has it: an array of booleans. `scale`: None, or the magnitudes that were summed."""
    t = value.type
    got, reference = wide(got), wide(reference)
    if t.kind not in ("float", "complex"):
        return got == reference
    tiny = float(ml_dtypes.finfo(t.real.dtype).tiny)
    with np.errstate(all="ignore"):
        size = np.abs(reference)
        if scale is not None:
            size = np.maximum(size, np.abs(wide(scale)))
        if tolerance.of_norm and size.size:
            finite = np.isfinite(size)
            size = np.full(size.shape, max(size[finite].max(initial=0.0), 1.0))
        allowed = tolerance.ulps * t.eps * size + 2 * tiny  # subnormal numbers may be flushed
        if not tolerance.ulps:
            allowed = np.where(size < tiny, tiny, 0.0)
        close = np.abs(got - reference) <= allowed
    if t.kind == "complex":
        odd = ~(np.isfinite(reference.real) & np.isfinite(reference.imag))
        same = ~(np.isfinite(got.real) & np.isfinite(got.imag))
        return np.where(odd, same, close)
    return np.where(np.isnan(reference), np.isnan(got), (got == reference) | (close & np.isfinite(reference)))


def differ(got, answers, case, scales):
    """None, or how the outputs `got` differ from every answer. `answers`: lists of results, at least one."""
    for i, value in enumerate(case.results):
        if got[i].shape != value.shape:
            return f"out{i} has shape {got[i].shape}, not {value.shape}"
        right = np.zeros(value.shape, bool)
        for answer in answers:
            right |= agreeing(got[i], answer[i], value, case.tolerance, scales[i] if scales else None)
        if case.unknown is not None:
            right |= case.unknown
        if not right.all():
            at = tuple(int(n) for n in np.argwhere(~right)[0])
            said = " or ".join(str(wide(answer[i])[at]) for answer in answers)
            return f"{(~right).sum()} of {right.size} elements of out{i} are wrong, first {list(at)}: {wide(got[i])[at]}, should be {said}"
    return None
