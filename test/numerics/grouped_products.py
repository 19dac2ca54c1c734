"""chlo.ragged_dot whose rows, or contracted elements, fall into groups, as one kernel: within the bounds of docs/numbers.md beside long double, on one device
and sharded by rows, columns, contracted elements and groups; of groups that are empty, of one row, or all rows, and rows past the last one.
"""
import os
import sys
import tempfile

import numpy as np
from command_line import NOT_YET, tessera
from element_types import FLOATS
from sums import LONG, bound, product_additions, within

DIMS = {"rows": "lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]",
        "rows_of_turned": "lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]",
        "terms": "lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0], lhs_ragged_dimensions = [0]"}


def shapes(mode, m, k, n, groups):
    return {"rows": ((m, k), (groups, k, n), (m, n)), "rows_of_turned": ((m, k), (groups, n, k), (m, n)), "terms": ((k, m), (k, n), (groups, m, n))}[mode]


def text(mode, sizes, groups, kind, shardings):
    t = lambda shape, kind=kind: f"tensor<{'x'.join(map(str, shape))}x{kind}>"
    lhs, rhs, out = shapes(mode, *sizes, groups)
    result = t(out, "i32" if kind == "i8" else kind)
    types = t(lhs), t(rhs), t((groups,), "i32")
    notes = [f" {{sdy.sharding = #sdy.sharding<@mesh, [{note}]>}}" for note in shardings] if shardings else [""] * 3
    arguments = ", ".join(f"%a{i}: {type}{note}" for i, (type, note) in enumerate(zip(types, notes)))
    return (('sdy.mesh @mesh = <["x"=2, "y"=3]>\n' if shardings else "") + f"func.func @main({arguments}) -> {result} {{\n"
            f'  %r = "chlo.ragged_dot"(%a0, %a1, %a2) <{{ragged_dot_dimension_numbers = #chlo.ragged_dot<{DIMS[mode]}>}}> : ({", ".join(types)}) -> {result}\n'
            f"  return %r : {result}\n}}\n")


def group_sizes(rng, length, groups, how):
    cuts = np.sort(rng.integers(0, length, groups, endpoint=True))  # the last rows have no group
    sizes = np.diff(cuts, prepend=0)
    if how == "empty":
        sizes[::2] = 0
    elif how != "any":
        sizes[:] = {"ones": 1, "none": 0, "one": 0}[how]
        sizes[groups // 2] = length if how == "one" else sizes[groups // 2]
    return sizes.astype(np.int32)


def numbers(rng, shape, kind):
    if kind == "i8":
        return rng.integers(-128, 128, shape).astype(np.int8)
    wide = rng.standard_normal(shape)
    return wide if kind == "f64" else wide.astype(np.float32).astype(FLOATS[kind]).astype(np.float32)


def products(mode, a, b, sizes, out):
    """The exact results, and the sums of their terms' magnitudes."""
    exact, magnitudes, start = np.zeros(out, LONG), np.zeros(out, LONG), 0
    for group, size in enumerate(sizes):
        part = slice(start, start + size)
        x, y, where = (a[part].T, b[part], group) if mode == "terms" else (a[part], b[group] if mode == "rows" else b[group].T, part)
        exact[where], magnitudes[where] = x @ y, np.abs(x) @ np.abs(y)
        start += size
    return exact, magnitudes


def run(source, arrays):
    with tempfile.TemporaryDirectory() as directory:
        path = lambda name: os.path.join(directory, name)
        with open(path("p.mlir"), "w") as file:
            file.write(source)
        np.savez(path("in.npz"), **{f"in{i}": x for i, x in enumerate(arrays)})
        for command in (("compile", path("p.mlir"), "-o", path("p.tsr")), ("run", path("p.tsr"), f"--inputs={path('in.npz')}", f"--outputs={path('out.npz')}")):
            done = tessera(*command)
            if done.returncode:
                return done.stderr.strip()
        return np.load(path("out.npz"))["out0"]


def wrong_of(mode, sizes, groups, kind, how="any", shardings=None):
    rng = np.random.default_rng(sum(sizes) + groups)
    lhs, rhs, out = shapes(mode, *sizes, groups)
    a, b = numbers(rng, lhs, kind), numbers(rng, rhs, kind)
    each = group_sizes(rng, lhs[0], groups, how)
    if mode != "terms" and kind != "i8":
        b[np.flatnonzero(each == 0)] = np.inf  # of no row
    got = run(text(mode, sizes, groups, kind, shardings), (a, b, each))
    if isinstance(got, str):
        return None if NOT_YET in got else got
    exact, magnitudes = products(mode, a.astype(LONG), b.astype(LONG), each, out)
    if kind == "i8":
        return None if np.array_equal(got, exact.astype(np.int32)) else "other integers"
    additions = product_additions(sizes[1]) + (3 if shardings else 0)
    allowed = bound(kind, additions, magnitudes, exact)
    if shardings and kind in ("bf16", "f16"):  # each part is rounded as it travels
        allowed = allowed + bound(kind, 0, magnitudes, magnitudes)
    return within(got, exact, allowed)


def cases():
    for mode in ("rows", "rows_of_turned", "terms"):
        for how in ("any", "empty", "ones", "one", "none"):
            yield mode, (100, 337, 53), 7, "f32", how
        for kind in ("bf16", "f16", "f64", "i8"):
            yield mode, (100, 164, 72), 5, kind
        for sizes, groups in (((3, 64, 64), 8), ((1, 140, 40), 3), ((513, 300, 256), 16), ((64, 5000, 64), 4), ((40, 9001, 33), 70)):
            yield mode, sizes, groups, "f32"
    of_rows = [("{'x'}, {}", "{}, {}, {}", "{}"), ("{}, {}", "{'y'}, {}, {}", "{}"), ("{}, {}", "{}, {}, {'y'}", "{}"), ("{}, {'x'}", "{}, {'x'}, {}", "{}"), ("{'y'}, {}", "{'x'}, {}, {}", "{'x'}")]
    of_terms = [("{}, {'x'}", "{}, {'y'}", "{}"), ("{'y'}, {}", "{'y'}, {'x'}", "{'x'}"), ("{'x', 'y'}, {}", "{'x', 'y'}, {}", "{}")]
    for mode, ways in (("rows", of_rows), ("terms", of_terms)):
        for way in ways:
            for kind in ("f32", "bf16"):
                yield mode, (101, 367, 53), 7, kind, "any", [note.replace("'", '"') for note in way]


def main():
    failures = 0
    for case in cases():
        wrong = wrong_of(*case)
        failures += wrong is not None
        print(*case, wrong or "ok", flush=True)
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
