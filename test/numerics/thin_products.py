"""Products of few rows or few columns, and vectors times matrices: they have kernels of their own, which read the matrix once. Within the bounds of
docs/numbers.md, and with the bits that a part of the matrix, or a taller product, has."""
import numpy as np
from element_types import FLOATS, Case, module, run, shape
from sums import LONG, bound, product_additions, sum_additions, within


def numbers(name, *sizes):
    wide = np.random.default_rng(sum(sizes)).standard_normal(sizes)
    return wide.astype(np.float64 if name == "f64" else np.float32).astype(FLOATS[name])


def dot(result, a, b, m, k, n, name):
    kinds = f"(tensor<{shape(m, k, name)}>, tensor<{shape(k, n, name)}>) -> tensor<{shape(m, n, name)}>"
    return f"{result} = stablehlo.dot_general {a}, {b}, contracting_dims = [1] x [0] : {kinds}"


def differing(got, want):
    other = np.count_nonzero(got != want)
    return f"{other} of {got.size} have other bits" if other else None


def vectors(name):
    """A vector times a matrix that is larger than a cache, and times some of its columns, past which it is not read row by row."""
    def check():
        found = []
        few = 8
        for k, n in ((1030, 1537), (4099, 520), (600, 2500), (301, 4100)):
            a, b, starts = numbers(name, 1, k), numbers(name, k, n), (0, 504, n - few)
            lines, results = [dot("%whole", "%a0", "%a1", 1, k, n, name)], [("%whole", shape(1, n, name))]
            for i in starts:
                lines += [f"%s{i} = stablehlo.slice %a1 [0:{k}, {i}:{i + few}] : (tensor<{shape(k, n, name)}>) -> tensor<{shape(k, few, name)}>",
                          f"%c{i} = stablehlo.optimization_barrier %s{i} : tensor<{shape(k, few, name)}>", dot(f"%r{i}", "%a0", f"%c{i}", 1, k, few, name)]
                results.append((f"%r{i}", shape(1, few, name)))
            got = run(module([shape(1, k, name), shape(k, n, name)], lines, results), a, b)
            if isinstance(got, str):
                return [(name, got)]
            p, q = a.astype(LONG), b.astype(LONG)
            found.append((f"{k}x{n}", within(got[0], p @ q, bound(name, sum_additions(k) + 1, np.abs(p) @ np.abs(q), p @ q))))
            for part, i in zip(got[1:], starts):
                found.append((f"{k}x{n} from column {i}", differing(part, got[0][:, i:i + few])))
        return found

    return Case(f"vectors_{name}", check)


def computed(name):
    """A vector of functions times a matrix, also in batches, and maxima and products over columns; and functions of sums of short rows."""
    def check():
        found = []
        for batch, k, n in ((1, 2000, 8), (3, 301, 17), (1, 1030, 1537), (2, 900, 640), (1, 4, 64)):
            x, w = numbers(name, batch, k), numbers(name, batch, k, n)
            t = lambda *sizes: f"tensor<{shape(*sizes, name)}>"
            lines = [f"%e = stablehlo.exponential %a0 : {t(batch, k)}", f"%one = stablehlo.constant dense<1.0> : {t()}", f"%two = stablehlo.constant dense<-2.0> : {t()}",
                     f"%d = stablehlo.dot_general %e, %a1, batching_dims = [0] x [0], contracting_dims = [1] x [1] : ({t(batch, k)}, {t(batch, k, n)}) -> {t(batch, n)}",
                     f"%b = stablehlo.broadcast_in_dim %e, dims = [0, 1] : ({t(batch, k)}) -> {t(batch, k, n)}", f"%s = stablehlo.add %b, %a1 : {t(batch, k, n)}",
                     f"%m = stablehlo.reduce(%s init: %two) applies stablehlo.maximum across dimensions = [1] : ({t(batch, k, n)}, {t()}) -> {t(batch, n)}",
                     f"%r = stablehlo.dot_general %a1, %a2, batching_dims = [0] x [0], contracting_dims = [2] x [1] : ({t(batch, k, n)}, {t(batch, n)}) -> {t(batch, k)}",
                     f"%f = stablehlo.logistic %r : {t(batch, k)}"]
            v = numbers(name, batch, n + 1)[:, :n]
            got = run(module([shape(batch, k, name), shape(batch, k, n, name), shape(batch, n, name)], lines, [("%d", shape(batch, n, name)), ("%m", shape(batch, n, name)), ("%f", shape(batch, k, name))]), x, w, v)
            if isinstance(got, str):
                return [(name, got)]
            x, w, v = (array.astype(LONG) for array in (x, w, v))
            e = np.exp(x)
            unit = 8 * float(np.finfo(np.float64 if name == "f64" else np.float32).eps)
            sums = np.einsum("bk,bkn->bn", e, w)
            found.append((f"product {batch}x{k}x{n}", within(got[0], sums, bound(name, sum_additions(k) + 9, np.einsum("bk,bkn->bn", e, np.abs(w)), sums))))
            largest = (e[:, :, None] + w).max(1)
            found.append((f"maximum {batch}x{k}x{n}", within(got[1], largest, unit * np.abs(largest))))
            sums = np.einsum("bkn,bn->bk", w, v)
            size = np.einsum("bkn,bn->bk", np.abs(w), np.abs(v))
            found.append((f"logistic {batch}x{k}x{n}", within(got[2], 1 / (1 + np.exp(-sums)), unit + bound(name, sum_additions(n) + 1, size, sums))))
        return found

    return Case(f"computed_{name}", check)


def thin(name):
    """Two to four rows or columns, and what is computed of them: the bits of a product of nine."""
    def check():
        found = []
        for k, n in ((4100, 600), (700, 520), (300, 131), (513, 1000), (40, 128)):
            a, b = numbers(name, 9, k), numbers(name, k, n)
            turned = numbers(name, n, k), numbers(name, k, 9)
            lines, results = [dot("%tall", "%a0", "%a1", 9, k, n, name), dot("%wide", "%a2", "%a3", n, k, 9, name)], [("%tall", shape(9, n, name)), ("%wide", shape(n, 9, name))]
            for few in (2, 3, 4):
                rows, columns = f"tensor<{shape(few, k, name)}>", f"tensor<{shape(k, few, name)}>"
                lines += [f"%s{few} = stablehlo.slice %a0 [0:{few}, 0:{k}] : (tensor<{shape(9, k, name)}>) -> {rows}", f"%b{few} = stablehlo.optimization_barrier %s{few} : {rows}",
                          f"%t{few} = stablehlo.slice %a3 [0:{k}, 0:{few}] : (tensor<{shape(k, 9, name)}>) -> {columns}", f"%c{few} = stablehlo.optimization_barrier %t{few} : {columns}",
                          dot(f"%d{few}", f"%b{few}", "%a1", few, k, n, name), dot(f"%e{few}", "%a2", f"%c{few}", n, k, few, name),
                          f"%r{few} = stablehlo.negate %d{few} : tensor<{shape(few, n, name)}>", f"%q{few} = stablehlo.negate %e{few} : tensor<{shape(n, few, name)}>"]
                results += [(f"%r{few}", shape(few, n, name)), (f"%q{few}", shape(n, few, name))]
            got = run(module([shape(9, k, name), shape(k, n, name), shape(n, k, name), shape(k, 9, name)], lines, results), a, b, *turned)
            if isinstance(got, str):
                return [(name, got)]
            p, q = a.astype(LONG), b.astype(LONG)
            found.append((f"9x{k}x{n}", within(got[0], p @ q, bound(name, product_additions(k), np.abs(p) @ np.abs(q), p @ q))))
            for few, rows, columns in zip((2, 3, 4), got[2::2], got[3::2]):
                found += [(f"{few}x{k}x{n}", differing(rows, -got[0][:few])), (f"{n}x{k}x{few}", differing(columns, -got[1][:, :few]))]
        return found

    return Case(f"thin_{name}", check)


def few_terms(name):
    """Products of few terms that are added to a large array where it lies, whose rows all fall into the same places of a cache, and which end within a tile:
    what is computed of them is done once, and parts have the bits of the whole."""
    def check():
        found = []
        for m, k, n in ((513, 16, 1024), (67, 4, 512), (203, 13, 2048), (64, 16, 1040), (131, 33, 1024)):
            x, y, w = numbers(name, k, m), numbers(name, k, n), numbers(name, m, n)
            t = lambda *sizes: f"tensor<{shape(*sizes, name)}>"
            product = lambda result, a, b, rows, columns: (f"{result} = stablehlo.dot_general {a}, {b}, contracting_dims = [0] x [0] : "
                                                           f"({t(k, rows)}, {t(k, columns)}) -> {t(rows, columns)}")
            rows, columns = min(m, 19), 80
            lines = [product("%d", "%a0", "%a1", m, n), f"%s = stablehlo.add %a2, %d : {t(m, n)}",
                     f"%p = stablehlo.slice %a0 [0:{k}, 0:{rows}] : ({t(k, m)}) -> {t(k, rows)}", f"%q = stablehlo.slice %a1 [0:{k}, 16:{16 + columns}] : ({t(k, n)}) -> {t(k, columns)}",
                     f"%u = stablehlo.optimization_barrier %p : {t(k, rows)}", f"%v = stablehlo.optimization_barrier %q : {t(k, columns)}", product("%e", "%u", "%v", rows, columns),
                     f"%b = stablehlo.slice %a2 [0:{rows}, 16:{16 + columns}] : ({t(m, n)}) -> {t(rows, columns)}", f"%c = stablehlo.optimization_barrier %b : {t(rows, columns)}",
                     f"%r = stablehlo.add %c, %e : {t(rows, columns)}"]
            got = run(module([shape(k, m, name), shape(k, n, name), shape(m, n, name)], lines, [("%s", shape(m, n, name)), ("%r", shape(rows, columns, name))], gives={2: 0}), x, y, w)
            if isinstance(got, str):
                return [(name, got)]
            x, y, w = (array.astype(LONG) for array in (x, y, w))
            sums, size = x.T @ y, np.abs(x).T @ np.abs(y)
            rounded = np.abs(sums) / 256 if name == "bf16" else 0  # the product, before it is added
            found.append((f"{m}x{n}, {k} terms", within(got[0], w + sums, bound(name, product_additions(k) + 2, size + np.abs(w), w + sums) + rounded)))
            found.append((f"{m}x{n}, {k} terms, a part", differing(got[0][:rows, 16:16 + columns], got[1])))
        return found

    return Case(f"few_terms_{name}", check)


def cases():
    return [vectors(name) for name in ("f32", "f64", "bf16", "f16")] + [computed(name) for name in ("f32", "f64")] + [thin(name) for name in ("f32", "f64", "bf16")] + [few_terms(name) for name in ("f32", "f64", "bf16")]
