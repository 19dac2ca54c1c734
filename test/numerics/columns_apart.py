"""Products whose columns are three vectors of AVX-512 and fewer, and end within one, where what is multiplied or combined with the sums lies one to eight elements
apart, or backwards, in the product's own type or a narrower one; and results that go apart. Of small whole numbers: exact."""
import numpy as np
from element_types import TYPES, Case, module, run, same, shape

COLUMNS = {"f32": (33, 40, 41, 47, 48), "f64": (17, 20, 23, 24)}
READ = {"f32": ("f32", "bf16", "f16", "i8"), "f64": ("f64", "f32", "bf16", "i8")}
ROWS, TERMS, MANY = 19, 7, 4100  # so many are multiplied in blocks, whose sums lie behind the copied columns


def numbers(rng, name, sizes):
    return rng.integers(-3, 4, sizes).astype(np.float64).astype(TYPES[name])


def read_apart(result, source, sizes, stride, kind, name):
    """Lines that take every `stride`-th element of rows (negative: backwards), as elements of `name`."""
    rows, columns, by = *sizes, abs(stride)
    wide = shape(rows, (columns - 1) * by + 1, kind)
    lines = [f"{result}s = stablehlo.slice {source} [0:{rows}, 0:{(columns - 1) * by + 1}:{by}] : (tensor<{wide}>) -> tensor<{shape(rows, columns, kind)}>"]
    last = f"{result}s"
    if stride < 0:
        lines.append(f"{result}r = stablehlo.reverse {last}, dims = [1] : tensor<{shape(rows, columns, kind)}>")
        last = f"{result}r"
    return [*lines, f"{result} = stablehlo.convert {last} : (tensor<{shape(rows, columns, kind)}>) -> tensor<{shape(rows, columns, name)}>"]


def apart(name):
    def check():
        rng = np.random.default_rng(5)
        inputs, arrays, lines, results, wanted, labels = [], [], [], [], [], []

        def argument(kind, sizes):
            inputs.append(shape(*sizes, kind))
            arrays.append(numbers(rng, kind, sizes))
            return f"%a{len(inputs) - 1}", arrays[-1].astype(np.float64)

        def product(result, a, b, columns, terms=TERMS):
            lines.append(f"{result} = stablehlo.dot_general {a}, {b}, contracting_dims = [1] x [0] : (tensor<{shape(ROWS, terms, name)}>, "
                         f"tensor<{shape(terms, columns, name)}>) -> tensor<{shape(ROWS, columns, name)}>")

        def give(value, sizes, exact, label):
            results.append((value, shape(*sizes, name)))
            wanted.append(exact.astype(TYPES[name]))
            labels.append(label)

        for number, (stride, kind) in enumerate((stride, kind) for stride in (2, 3, 4, 5, 6, 7, 8, -1, -3, -6) for kind in READ[name]):
            # More than four apart, only whole vectors come by registers.
            columns = COLUMNS[name][-1 if stride in (5, 6, 8) else (number + number // len(READ[name])) % len(COLUMNS[name])]
            a, x = argument(name, (ROWS, TERMS))
            terms = MANY if stride in (3, 6) else TERMS
            e, v = argument("i8", (ROWS, terms))
            lines.append(f"%e{number} = stablehlo.convert {e} : (tensor<{shape(ROWS, terms, 'i8')}>) -> tensor<{shape(ROWS, terms, name)}>")
            b, y = argument(kind, (terms, (columns - 1) * abs(stride) + 1))
            c, z = argument(kind, (ROWS, (columns - 1) * abs(stride) + 1))
            lines.extend(read_apart(f"%b{number}", b, (terms, columns), stride, kind, name))
            lines.extend(read_apart(f"%c{number}", c, (ROWS, columns), stride, kind, name))
            every = lambda array: array[:, ::abs(stride)][:, ::1 if stride > 0 else -1]
            # One kernel each: copied columns, and what follows the sums.
            product(f"%p{number}", f"%e{number}", f"%b{number}", columns, terms)
            give(f"%p{number}", (ROWS, columns), v @ every(y), f"columns {columns}, {stride} apart, of {kind}")
            d, w = argument(name, (TERMS, columns))
            product(f"%q{number}", a, d, columns)
            lines.append(f"%r{number} = stablehlo.add %q{number}, %c{number} : tensor<{shape(ROWS, columns, name)}>")
            give(f"%r{number}", (ROWS, columns), x @ w + every(z), f"added to {columns} columns, {stride} apart, of {kind}")
            if stride > 0 and kind == name:  # sums that are stored so far apart
                product(f"%o{number}", a, d, columns)
                by, wide = stride, (columns - 1) * stride + 1
                lines.append(f"%z{number} = stablehlo.constant dense<0.0> : tensor<{name}>")
                lines.append(f"%t{number} = stablehlo.pad %o{number}, %z{number}, low = [0, 0], high = [0, 0], interior = [0, {by - 1}] : "
                             f"(tensor<{shape(ROWS, columns, name)}>, tensor<{name}>) -> tensor<{shape(ROWS, wide, name)}>")
                spread = np.zeros((ROWS, wide))
                spread[:, ::by] = x @ w
                give(f"%t{number}", (ROWS, wide), spread, f"{columns} columns to places {stride} apart")
        got = run(module(inputs, lines, results), *arrays)
        if isinstance(got, str):
            return [(name, got)]
        return [(label, same(g, want)) for label, g, want in zip(labels, got, wanted)]

    return Case(f"columns_apart_{name}", check)


def cases():
    return [apart(name) for name in COLUMNS]
