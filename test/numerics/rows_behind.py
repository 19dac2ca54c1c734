"""Kernels of rows whose results go past the caches, and are written beside a pass over the next row: the same bits as of few rows at a time. Rows that end within a
chunk of the pass, cells with rows left over, one loop of rows inside another, and an odd number of rows for each core."""
import numpy as np
from element_types import Case, module, run, same, shape

BYTES = 16 << 20  # of a result: smaller ones stay in the caches


def softmax(whole, row):
    return [f"%most = stablehlo.reduce(%a0 init: %least) applies stablehlo.maximum across dimensions = [2] : (tensor<{whole}>, tensor<f32>) -> tensor<{row}>",
            f"%m = stablehlo.broadcast_in_dim %most, dims = [0, 1] : (tensor<{row}>) -> tensor<{whole}>",
            f"%x = stablehlo.subtract %a0, %m : tensor<{whole}>",
            f"%e = stablehlo.exponential %x : tensor<{whole}>",
            f"%sum = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<{whole}>, tensor<f32>) -> tensor<{row}>",
            f"%s = stablehlo.broadcast_in_dim %sum, dims = [0, 1] : (tensor<{row}>) -> tensor<{whole}>",
            f"%y = stablehlo.divide %e, %s : tensor<{whole}>"]


# What follows, and the results: those of rows, and those that have one element a row.
FORMS = {
    "softmax": (lambda whole, row: [], ["%y"], []),
    "logarithms": (lambda whole, row: [f"%l = stablehlo.log %sum : tensor<{row}>",
                                       f"%b = stablehlo.broadcast_in_dim %l, dims = [0, 1] : (tensor<{row}>) -> tensor<{whole}>",
                                       f"%z = stablehlo.subtract %x, %b : tensor<{whole}>"], ["%z"], ["%l", "%most"]),
    # %a1 has a number for each row of the outer loop's trip.
    "masked": (lambda whole, row: [f"%w = stablehlo.broadcast_in_dim %a1, dims = [1] : (tensor<{row.split('x')[1]}xf32>) -> tensor<{whole}>",
                                   f"%c = stablehlo.compare GT, %a0, %w : (tensor<{whole}>, tensor<{whole}>) -> tensor<{whole.replace('f32', 'i1')}>",
                                   f"%z = stablehlo.select %c, %y, %w : tensor<{whole.replace('f32', 'i1')}>, tensor<{whole}>"], ["%z"], ["%sum"]),
    # Exponentials that the pass before has kept.
    "gradient": (lambda whole, row: [f"%p = stablehlo.multiply %y, %a0 : tensor<{whole}>",
                                     f"%t = stablehlo.reduce(%p init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<{whole}>, tensor<f32>) -> tensor<{row}>",
                                     f"%b = stablehlo.broadcast_in_dim %t, dims = [0, 1] : (tensor<{row}>) -> tensor<{whole}>",
                                     f"%d = stablehlo.subtract %a0, %b : tensor<{whole}>",
                                     f"%z = stablehlo.multiply %e, %d : tensor<{whole}>"], ["%z"], ["%sum"]),
}


def results(form, x, w):
    whole, row = shape(*x.shape, "f32"), shape(*x.shape[:2], "f32")
    following, ofElements, ofRows = FORMS[form]
    lines = ["%zero = stablehlo.constant dense<0.0> : tensor<f32>", "%least = stablehlo.constant dense<0xFF800000> : tensor<f32>"]
    outputs = [(name, whole) for name in ofElements] + [(name, row) for name in ofRows]
    return run(module([whole, f"{x.shape[1]}xf32"], lines + softmax(whole, row) + following(whole, row), outputs), x, w)


def check(form, outer, columns):
    rows = BYTES // 4 // columns // outer + 3
    rng = np.random.default_rng(columns)
    x = rng.normal(0, 3, (outer, rows, columns)).astype(np.float32)
    x[0, 1, 5], x[-1, -1, 0], x[0, 2] = np.inf, np.nan, -np.inf
    w = rng.normal(0, 1, rows).astype(np.float32)
    got = results(form, x, w)
    if isinstance(got, str):
        return [(form, got)]
    found = []
    for trip, low, high in ((0, 0, 9), (0, rows // 2, rows // 2 + 5), (outer - 1, rows - 7, rows)):
        want = results(form, x[trip : trip + 1, low:high], w[low:high])
        if isinstance(want, str):
            return [(form, want)]
        for number, (one, other) in enumerate(zip(got, want)):
            found.append((f"result {number} of rows {low} to {high} of {outer}x{rows}x{columns}", same(one[trip : trip + 1, low:high], other)))
    return found


def cases():
    sizes = {"softmax": ((1, 2048), (3, 4112), (1, 32000), (1, 1000)), "logarithms": ((3, 2064),), "masked": ((2, 2048), (400, 1040)), "gradient": ((1, 2048),)}
    return [Case(f"rows_behind_{form}_{outer}x{columns}", lambda f=form, o=outer, c=columns: check(f, o, c))
            for form, shapes in sizes.items() for outer, columns in shapes]
