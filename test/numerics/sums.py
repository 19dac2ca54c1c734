"""Sums and products within the bounds of docs/numbers.md: every term passes at most h additions, each within half a unit of its result,
and the result is rounded once to its type."""
import ml_dtypes
import numpy as np
from element_types import FLOATS, Case, module, run, shape

LONG = np.longdouble


def unit(name):
    """Half of the distance from 1 to the next number."""
    return float(ml_dtypes.finfo(FLOATS[name]).eps) / 2


def bound(name, additions, magnitudes, exact):
    """What docs/numbers.md promises; `magnitudes` is the sum of the terms' absolute values."""
    accumulator = unit("f64") if name == "f64" else unit("f32")
    inner = (additions + 1) * accumulator * magnitudes * 1.01
    own = unit(name) if name not in ("f32", "f64") else 0
    return inner + own * (np.abs(exact) + inner) * 1.01


def sum_additions(n):
    return min(n, 12 + 4 * np.log2(n))


def product_additions(k):
    return min(k, 128 + k / 128)


def within(got, exact, allowed):
    error = np.abs(got.astype(LONG) - exact)
    worst = float(np.max(error / np.maximum(allowed, np.finfo(np.float64).tiny)))
    return None if worst <= 1 else f"error {worst:.2f} times the bound"


def sums(name):
    def check():
        found = []
        for n in (7, 1000, 20000):
            x = np.random.default_rng(n).standard_normal((3, n)).astype(np.float32 if name != "f64" else np.float64)
            x[0] = 0.1  # all errors of a running sum go one way
            x = (x / (n if name.startswith("f8") else 1)).astype(FLOATS[name])
            wide = x.astype(LONG) if name == "f64" else x.astype(np.float32).astype(LONG)
            exact, size = wide.sum(1), np.abs(wide).sum(1)
            t = lambda *sizes: f"tensor<{shape(*sizes, name)}>"
            lines = [f"%zero = stablehlo.constant dense<0.0> : {t()}", f"%turned = stablehlo.transpose %a0, dims = [1, 0] : ({t(3, n)}) -> {t(n, 3)}",
                     f"%rows = stablehlo.reduce(%a0 init: %zero) applies stablehlo.add across dimensions = [1] : ({t(3, n)}, {t()}) -> {t(3)}",
                     f"%columns = stablehlo.reduce(%turned init: %zero) applies stablehlo.add across dimensions = [0] : ({t(n, 3)}, {t()}) -> {t(3)}"]
            got = run(module([shape(3, n, name)], lines, [("%rows", shape(3, name)), ("%columns", shape(3, name))]), x)
            if isinstance(got, str):
                return [(name, got)]
            found += [(f"{way} of {n}", within(g, exact, bound(name, sum_additions(n), size, exact))) for way, g in zip(("row", "column"), got)]
        return found

    return Case(f"sums_{name}", check)


def short_rows(name):
    """Sums over rows of a few columns, whose vectors go across the rows' ends."""
    def check():
        found = []
        dtype = np.float64 if name == "f64" else np.float32
        for columns in range(2, 10):
            n, rows = 900 + columns, 16 * columns + 5
            rng = np.random.default_rng(columns)
            x, scale = rng.standard_normal((n, columns)).astype(dtype), rng.standard_normal((n, rows)).astype(dtype)
            terms = scale.astype(LONG)[:, :, None] * x.astype(LONG)[:, None, :]
            t = lambda *sizes: f"tensor<{shape(*sizes, name)}>"
            all = t(n, rows, columns)
            lines = [f"%zero = stablehlo.constant dense<0.0> : {t()}", f"%x = stablehlo.broadcast_in_dim %a0, dims = [0, 2] : ({t(n, columns)}) -> {all}",
                     f"%scale = stablehlo.broadcast_in_dim %a1, dims = [0, 1] : ({t(n, rows)}) -> {all}", f"%t = stablehlo.add %x, %scale : {all}",
                     f"%p = stablehlo.multiply %x, %scale : {all}", f"%e = stablehlo.maximum %p, %t : {all}",
                     f"%r = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [0] : ({all}, {t()}) -> {t(rows, columns)}"]
            got = run(module([shape(n, columns, name), shape(n, rows, name)], lines, [("%r", shape(rows, columns, name))]), x, scale)
            if isinstance(got, str):
                return [(name, got)]
            largest = np.maximum(terms, x.astype(LONG)[:, None, :] + scale.astype(LONG)[:, :, None])
            found.append((f"{columns} columns", within(got[0], largest.sum(0), bound(name, sum_additions(n) + 1, np.abs(largest).sum(0), largest.sum(0)))))
        return found

    return Case(f"short_rows_{name}", check)


def products(name):
    def check():
        found = []
        for m, k, n in ((3, 5, 4), (33, 700, 40), (64, 5000, 64), (50, 3000, 3), (1, 5000, 64), (64, 5000, 1), (70, 4112, 100)):
            rng = np.random.default_rng(k)
            a, b = (rng.standard_normal(s).astype(np.float64 if name == "f64" else np.float32).astype(FLOATS[name]) for s in ((m, k), (k, n)))
            a[0], b[:, 0] = 0.1, 1
            p, q = (v.astype(LONG if name == "f64" else np.float64) for v in (a, b))
            exact, size = p @ q, np.abs(p) @ np.abs(q)
            result = name if name in ("f32", "f64", "bf16", "f16") else "f32"
            kinds = f"(tensor<{shape(m, k, name)}>, tensor<{shape(k, n, name)}>) -> tensor<{shape(m, n, result)}>"
            lines = [f"%r = stablehlo.dot_general %a0, %a1, contracting_dims = [1] x [0] : {kinds}"]
            got = run(module([shape(m, k, name), shape(k, n, name)], lines, [("%r", shape(m, n, result))]), a, b)
            if isinstance(got, str):
                return [(name, got)]
            additions = product_additions(k) if min(m, n) > 1 else sum_additions(k) + 1
            found.append((f"{m}x{k}x{n}", within(got[0], exact, bound(result, additions, size, exact))))
        return found

    return Case(f"products_{name}", check)


def arranged_products(name):
    """In batches, with the operands in either order of dimensions, at sizes that tiles divide and that they don't."""
    def check():
        found = []
        for m, k, n in ((64, 96, 64), (70, 64, 100), (20, 78, 33), (40, 33, 10), (264, 528, 264)):
            for turns in ((0, 0), (1, 0), (0, 1), (1, 1)):
                rng = np.random.default_rng(k)
                sizes = [(3, *size[::-1]) if turned else (3, *size) for size, turned in zip(((m, k), (k, n)), turns)]
                a, b = (rng.standard_normal(size).astype(np.float32).astype(FLOATS[name]) for size in sizes)
                p, q = (v.astype(np.float64).swapaxes(1, 2) if turned else v.astype(np.float64) for v, turned in zip((a, b), turns))
                kinds = f"(tensor<{shape(*sizes[0], name)}>, tensor<{shape(*sizes[1], name)}>) -> tensor<{shape(3, m, n, name)}>"
                lines = [f"%r = stablehlo.dot_general %a0, %a1, batching_dims = [0] x [0], contracting_dims = [{2 - turns[0]}] x [{1 + turns[1]}] : {kinds}"]
                got = run(module([shape(*sizes[0], name), shape(*sizes[1], name)], lines, [("%r", shape(3, m, n, name))]), a, b)
                if isinstance(got, str):
                    return [(name, got)]
                exact, size = p @ q, np.abs(p) @ np.abs(q)
                found.append((f"{m}x{k}x{n} {turns}", within(got[0], exact, bound(name, product_additions(k), size, exact))))
        return found

    return Case(f"arranged_products_{name}", check)


def sharded(name):
    """Over a dimension that eight devices share: their parts are rounded to the type and added in the accumulator's."""
    def check():
        n, devices = 4001, 8  # the last device has less
        x = np.random.default_rng(n).standard_normal((3, n)).astype(np.float32).astype(FLOATS[name])
        wide = x.astype(LONG) if name == "f64" else x.astype(np.float32).astype(LONG)
        exact, size = wide.sum(1), np.abs(wide).sum(1)
        t = lambda *sizes: f"tensor<{shape(*sizes, name)}>"
        text = (f'module {{\nsdy.mesh @m = <["x"={devices}]>\nfunc.func @main(%a: {t(3, n)} {{sdy.sharding = #sdy.sharding<@m, [{{}}, {{"x"}}]>}}) -> {t(3)} {{\n'
                f"  %zero = stablehlo.constant dense<0.0> : {t()}\n"
                f"  %r = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [1] : ({t(3, n)}, {t()}) -> {t(3)}\n  return %r : {t(3)}\n}}\n}}\n")
        got = run(text, x)
        if isinstance(got, str):
            return [(name, got)]
        travel = unit(name) * size * 1.01 if name not in ("f32", "f64") else 0
        return [(f"row of {n} on {devices}", within(got[0], exact, bound(name, sum_additions(n // devices + 1) + devices, size, exact) + travel))]

    return Case(f"sharded_sums_{name}", check)


def opposite_parts(name):
    """A sum of two devices' parts, each beyond the type's largest number."""
    def check():
        most = float(ml_dtypes.finfo(FLOATS[name]).max)
        x = (np.array([[1, 1, -1, -0.5], [-1, -1, 1, 1]]) * most).astype(FLOATS[name])
        t = lambda *sizes: f"tensor<{shape(*sizes, name)}>"
        text = (f'module {{\nsdy.mesh @m = <["x"=2]>\nfunc.func @main(%a: {t(2, 4)} {{sdy.sharding = #sdy.sharding<@m, [{{}}, {{"x"}}]>}}, %b: {t(4)}) -> ({t(2)}, {t(2)}) {{\n'
                f"  %zero = stablehlo.constant dense<0.0> : {t()}\n"
                f"  %r = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [1] : ({t(2, 4)}, {t()}) -> {t(2)}\n"
                f"  %s = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : ({t(2, 4)}, {t(4)}) -> {t(2)}\n  return %r, %s : {t(2)}, {t(2)}\n}}\n}}\n")
        got = run(text, x, np.ones(4, FLOATS[name]))
        if isinstance(got, str):
            return [(name, got)]
        want = x.astype(np.float64).sum(1)
        return [(what, None if (np.asarray(values).astype(np.float64) == want).all() else f"{values}, should be {want}") for what, values in zip(("sum", "product"), got)]

    return Case(f"opposite_parts_{name}", check)


def parts(name):
    """Of large arrays, which are added up in two stages (docs/numbers.md has one order): the same bits as of a few of their columns, which are not.
    One sum of an array is made row by row; of two, which are more than the arrays, four rows at once."""
    def check():
        found = []
        width, few = 72, 8
        for sizes in ((1025,), (5000,), (20001,), (5, 300), (1, 1300, 1), (9, 20, 6), (40, 3, 9), (300, 5), (41, 30)):
            dims = list(range(len(sizes)))
            x = np.random.default_rng(sum(sizes)).standard_normal((*sizes, width)).astype(np.float64 if name == "f64" else np.float32).astype(FLOATS[name])
            t = lambda *of: f"tensor<{shape(*of, name)}>"
            sum_of = lambda result, operand, columns: f"{result} = stablehlo.reduce({operand} init: %start) applies stablehlo.add across dimensions = {dims} : ({t(*sizes, columns)}, {t()}) -> {t(columns)}"
            square = lambda result, operand, columns: f"{result} = stablehlo.multiply {operand}, {operand} : {t(*sizes, columns)}"
            start, sums = f"%start = stablehlo.constant dense<0.5> : {t()}", [sum_of("%whole", "%a0", width), square("%p", "%a0", width), sum_of("%squares", "%p", width)]
            pieces = []
            for i in range(0, width, few):
                pieces += [f"%s{i} = stablehlo.slice %a0 [{', '.join(f'0:{size}' for size in sizes)}, {i}:{i + few}] : ({t(*sizes, width)}) -> {t(*sizes, few)}",
                           sum_of(f"%r{i}", f"%s{i}", few), square(f"%p{i}", f"%s{i}", few), sum_of(f"%q{i}", f"%p{i}", few)]
            of_pieces = lambda letter: [(f"%{letter}{i}", shape(few, name)) for i in range(0, width, few)]
            operand, whole, squares = [shape(*sizes, width, name)], ("%whole", shape(width, name)), ("%squares", shape(width, name))
            programs = {"sum": ([sums[0]], [whole]), "two sums": (sums, [whole, squares]), "pieces": (pieces, of_pieces("r") + of_pieces("q"))}
            got = {what: run(module(operand, [start, *lines], results), x) for what, (lines, results) in programs.items()}
            for what, result in got.items():
                if isinstance(result, str):
                    return [(name, f"{what}: {result}")]
            count = width // few
            want = [np.concatenate(got["pieces"][:count]), np.concatenate(got["pieces"][count:])]
            for what in ("sum", "two sums"):
                other = sum(np.count_nonzero(have != those) for have, those in zip(got[what], want))
                found.append((f"{what} of {shape(*sizes)} rows", f"{other} columns have other bits than few of them" if other else None))
        return found

    return Case(f"parts_{name}", check)


def complex_products(name):
    """Matrices of complex numbers, some of them real at first, and what is computed of their products: each part within the bounds of the two
    products that it is made of."""
    def check():
        found = []
        real, kind = FLOATS[name], f"complex<{name}>"
        for m, n, k in ((64, 48, 200), (9, 70, 33), (40, 40, 600), (3, 500, 20), (1, 70, 300)):
            random = np.random.default_rng(m)
            a, b = ((random.standard_normal(size) + 1j * random.standard_normal(size)).astype(np.complex128 if name == "f64" else np.complex64) for size in ((m, k), (n, k)))
            c = random.standard_normal((k, n)).astype(real)
            t = lambda of, *sizes: f"tensor<{shape(*sizes, of)}>"
            lines = [f"%t = stablehlo.dot_general %a0, %a1, contracting_dims = [1] x [1] : ({t(kind, m, k)}, {t(kind, n, k)}) -> {t(kind, m, n)}", f"%u = stablehlo.add %t, %t : {t(kind, m, n)}",
                     f"%c = stablehlo.convert %a2 : ({t(name, k, n)}) -> {t(kind, k, n)}",
                     f"%v = stablehlo.dot_general %a0, %c, contracting_dims = [1] x [0] : ({t(kind, m, k)}, {t(kind, k, n)}) -> {t(kind, m, n)}"]
            got = run(module([shape(m, k, kind), shape(n, k, kind), shape(k, n, name)], lines, [("%u", shape(m, n, kind)), ("%v", shape(m, n, kind))]), a, b, c)
            if isinstance(got, str):
                return [(name, got)]
            x, y, z = (array.astype(np.clongdouble) for array in (a, b.T, c))
            for label, found_now, right, times in (("complex", got[0], y, 2), ("real", got[1], z, 1)):
                exact, size = times * (x @ right), times * (np.abs(x.real) + np.abs(x.imag)) @ (np.abs(right.real) + np.abs(right.imag))
                allowed = bound(name, product_additions(k) + 2, size, 0)
                found += [(f"{label} {m}x{n}x{k}, {part}", within(getattr(found_now, part), getattr(exact, part), allowed)) for part in ("real", "imag")]
        return found

    return Case(f"complex_products_{name}", check)


def cases():
    return [complex_products(name) for name in ("f32", "f64")] + [parts(name) for name in ("f32", "f64", "bf16", "f16")] + [sums(name) for name in ("f32", "f64", "bf16", "f16", "f8E5M2")] + [products(name) for name in ("f32", "f64", "bf16", "f16", "f8E4M3FN")] + [arranged_products(name) for name in ("f32", "bf16")] + [sharded(name) for name in ("f32", "f64", "bf16")] + [opposite_parts(name) for name in ("f8E5M2", "f8E4M3FN")] + [short_rows(name) for name in ("f32", "f64")]
