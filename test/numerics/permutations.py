"""Permutations of dimensions, which run by blocks where the innermost dimension moves: around the sizes of vectors, of blocks
and of lines; results of more than 2 MiB, which go past the caches; beside other operands, cut by concatenations and padding,
of two arrays at once."""
import numpy as np
from element_types import FLOATS, TYPES, Case, module, run, same, shape

# Sizes and the order that they are brought into.
SMALL = [((7, 9), (1, 0)), ((8, 8), (1, 0)), ((17, 40), (1, 0)), ((130, 67), (1, 0)), ((9, 300), (1, 0)), ((300, 9), (1, 0)),
         ((5, 33, 70), (0, 2, 1)), ((33, 5, 70), (2, 1, 0)), ((3, 40, 2, 24), (0, 2, 1, 3)), ((4, 3, 18, 19), (3, 2, 0, 1)),
         ((20, 3, 65), (2, 0, 1)), ((2, 9, 10, 11), (0, 3, 1, 2))]
LARGE = {1: [((1031, 2050), (1, 0))], 2: [((1024, 1088), (1, 0)), ((99, 11000), (1, 0)), ((3, 257, 1500), (0, 2, 1))],
         4: [((701, 803), (1, 0)), ((99, 6000), (1, 0)), ((3, 256, 704), (0, 2, 1))], 8: [((500, 601), (1, 0))]}


def numbers(sizes, name):
    count = int(np.prod(sizes))
    values = np.random.default_rng(count).integers(0, 2 if name == "i1" else 100, count)
    kind = TYPES[name]
    x = values.astype(np.float32).astype(kind) if name in FLOATS else values.astype(kind)
    return x.reshape(sizes)


def permuted(name):
    def check():
        inputs, types, lines, outputs, wanted, labels = [], [], [], [], [], []

        def add(label, line, value, want):
            lines.append(line)
            outputs.append((value, shape(*want.shape, name)))
            wanted.append(want)
            labels.append(label)

        def argument(x):
            inputs.append(x)
            types.append(shape(*x.shape, name))
            return f"%a{len(inputs) - 1}"

        t = lambda *sizes: f"tensor<{shape(*sizes, name)}>"
        bytes = 1 if name == "i1" else np.dtype(TYPES[name]).itemsize
        large = [] if name == "complex<f32>" else LARGE[bytes]
        for i, (sizes, order) in enumerate(SMALL + large):
            x = numbers(sizes, name)
            to, want = tuple(sizes[d] for d in order), x.transpose(order)
            add(f"{sizes} by {order}", f"%t{i} = stablehlo.transpose {argument(x)}, dims = {list(order)} : ({t(*sizes)}) -> {t(*to)}", f"%t{i}", want)
            if name in ("i1", "f8E4M3FN"):
                continue
            other = numbers(to, name)
            lines.append(f"%o{i} = stablehlo.add %t{i}, %t{i} : {t(*to)}")
            lines.append(f"%c{i} = stablehlo.reshape {argument(other.ravel())} : ({t(other.size)}) -> {t(*to)}")
            sum = want + want - other
            add(f"{sizes} by {order}, in an expression", f"%s{i} = stablehlo.subtract %o{i}, %c{i} : {t(*to)}", f"%s{i}", sum)
            if len(sizes) == 2 and i < len(SMALL):
                add(f"{sizes} twice, and beside", f"%d{i} = stablehlo.concatenate %t{i}, %c{i}, %s{i}, dim = 1 : ({t(*to)}, {t(*to)}, {t(*to)}) -> "
                    f"{t(to[0], 3 * to[1])}", f"%d{i}", np.concatenate([want, other, sum], 1))
            if name in FLOATS and i >= len(SMALL):  # with narrower vectors
                root = (np.arange(other.size) % 4).astype(np.float32).astype(TYPES[name]).reshape(to)
                lines.append(f"%f{i} = stablehlo.sqrt {argument(root * root * root * root)} : {t(*to)}")
                lines.append(f"%g{i} = stablehlo.sqrt %f{i} : {t(*to)}")
                add(f"{sizes} by {order}, with roots", f"%h{i} = stablehlo.subtract %t{i}, %g{i} : {t(*to)}", f"%h{i}", want - root)
        got = run(module(types, lines, outputs), *inputs)
        if isinstance(got, str):
            return [(name, got)]
        return [(label, same(g, want)) for label, g, want in zip(labels, got, wanted)]

    return Case(f"permutations_{name.strip('>').replace('<', '_')}", check)


def cases():
    return [permuted(name) for name in ("i1", "i8", "f8E4M3FN", "bf16", "i16", "f32", "i32", "f64", "complex<f32>")]
