"""Operations other than elementwise ones in every element type: movement, reductions, products, sort, scatter, windows, loops."""
import numpy as np
from element_types import BITS, FLOATS, TYPES, Case, integers, module, run, same, shape


def small_numbers(name):
    """6 x 10 numbers whose sums stay exact in most types; the others wrap or round the same way in any order."""
    rng, kind = np.random.default_rng(0), TYPES[name]
    if name == "i1":
        return rng.integers(0, 2, (6, 10)).astype(bool)
    if name.startswith("complex"):
        return (rng.integers(-3, 4, (6, 10)) + 1j * rng.integers(-3, 4, (6, 10))).astype(kind)
    if name == "f8E8M0FNU":
        return (2.0 ** rng.integers(-2, 3, (6, 10))).astype(np.float32).astype(kind)
    if name in FLOATS:
        return rng.integers(-2, 3, (6, 10)).astype(np.float32).astype(kind)
    low, high = 0 if name.startswith("u") else -2, 2 if BITS[name] == 2 else 4
    return rng.integers(low, high, (6, 10)).astype(np.int64).astype(kind)


def wide(x, name):
    """In a type that adds without rounding."""
    if name in FLOATS:
        return x.astype(np.float64)
    return x if name == "i1" or name.startswith("complex") else x.astype(object)


def narrow(x, name):
    """Back, with one rounding or wrapped."""
    x = np.asarray(x)
    if name == "i1" or name.startswith("complex") or name in ("f32", "f64"):
        return x.astype(TYPES[name])
    if name in FLOATS:
        return x.astype(np.float32).astype(TYPES[name])
    bits = BITS[name]
    wrapped = [int(v) % 2**bits for v in x.ravel()]
    if not name.startswith("u"):
        wrapped = [v - 2**bits if v >= 2 ** (bits - 1) else v for v in wrapped]
    return integers(wrapped, name).reshape(x.shape)


class Builder:
    def __init__(self, name):
        self.name, self.lines, self.outputs, self.wanted, self.labels = name, [], [], [], []

    def type(self, *sizes):
        return f"tensor<{shape(*sizes, self.name)}>"

    def add(self, label, text, result, wanted):
        """`text` defines %r; the other values that it names begin with %r too."""
        self.lines += text.replace("%r", f"%{label}").splitlines()
        self.outputs.append((f"%{label}#1" if label == "while" else f"%{label}", shape(*result, self.name)))
        self.labels.append(label)
        self.wanted.append(wanted)


def region(t, operation):
    return f"^bb0(%p: {t}, %q: {t}):\n  %s = stablehlo.{operation} %p, %q : {t}\n  stablehlo.return %s : {t}\n}})"


def movement(b, x, one):
    t = b.type
    b.add("transpose", f"%r = stablehlo.transpose %a0, dims = [1, 0] : ({t(6, 10)}) -> {t(10, 6)}", (10, 6), x.T)
    b.add("slice", f"%r = stablehlo.slice %a0 [1:5:2, 2:9] : ({t(6, 10)}) -> {t(2, 7)}", (2, 7), x[1:5:2, 2:9])
    b.add("reverse", f"%r = stablehlo.reverse %a0, dims = [1] : {t(6, 10)}", (6, 10), x[:, ::-1])
    b.add("concatenate", f"%r = stablehlo.concatenate %a0, %a0, dim = 1 : ({t(6, 10)}, {t(6, 10)}) -> {t(6, 20)}", (6, 20), np.concatenate([x, x], 1))
    padded = np.full((6, 13), one, x.dtype)
    padded[:, 1:11] = x
    b.add("pad", f"%r = stablehlo.pad %a0, %init, low = [0, 1], high = [0, 2], interior = [0, 0] : ({t(6, 10)}, {t()}) -> {t(6, 13)}", (6, 13), padded)
    updated = x.copy()
    updated[1:3, 1:4] = x[:2, :3]
    b.add("update", f"%r_u = stablehlo.slice %a0 [0:2, 0:3] : ({t(6, 10)}) -> {t(2, 3)}\n"
          f"%r = stablehlo.dynamic_update_slice %a0, %r_u, %one, %one : ({t(6, 10)}, {t(2, 3)}, tensor<i32>, tensor<i32>) -> {t(6, 10)}", (6, 10), updated)
    # Parts of a few lanes that rows decide on: whole registers of a vector are left alone where masks are vectors.
    for label, low, width in (("update_first", 0, 4), ("update_last", 7, 3)):
        updated = x.copy()
        updated[2:4, low:low + width] = x[:2, :width]
        b.add(label, f"%r_u = stablehlo.slice %a0 [0:2, 0:{width}] : ({t(6, 10)}) -> {t(2, width)}\n"
              f"%r_two = stablehlo.constant dense<2> : tensor<i32>\n%r_low = stablehlo.constant dense<{low}> : tensor<i32>\n"
              f"%r = stablehlo.dynamic_update_slice %a0, %r_u, %r_two, %r_low : ({t(6, 10)}, {t(2, width)}, tensor<i32>, tensor<i32>) -> {t(6, 10)}", (6, 10), updated)
    b.add("gather", f'%r = "stablehlo.gather"(%a0, %places) <{{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], '
          f"start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 10>}}> : ({t(6, 10)}, tensor<3x1xi32>) -> {t(3, 10)}", (3, 10), x[[0, 2, 0]])


def folds(b, x, w):
    name, t = b.name, b.type
    total = (lambda v, axis: v.any(axis)) if name == "i1" else (lambda v, axis: v.sum(axis))
    reduce = lambda op, dim, n: f"%r = stablehlo.reduce(%a0 init: %init) applies stablehlo.{op} across dimensions = [{dim}] : ({t(6, 10)}, {t()}) -> {t(n)}"
    b.add("sum", reduce("add", 1, 6), (6,), narrow(total(w, 1), name))
    b.add("sum_columns", reduce("add", 0, 10), (10,), narrow(total(w, 0), name))
    if not name.startswith("complex"):
        b.add("max", reduce("maximum", 1, 6), (6,), narrow(np.maximum(w.max(1), 0), name))
        b.add("min", reduce("minimum", 0, 10), (10,), narrow(np.minimum(w.min(0), 0), name))
    product = (w[:, :, None] & w.T[None]).any(1) if name == "i1" else w @ w.T
    b.add("dot", f"%r = stablehlo.dot_general %a0, %a0, contracting_dims = [1] x [1] : ({t(6, 10)}, {t(6, 10)}) -> {t(6, 6)}", (6, 6), narrow(product, name))
    plus = np.logical_or if name == "i1" else np.add
    scattered = x.copy()
    for row, update in zip((0, 2, 0), x):
        scattered[row] = narrow(plus(wide(scattered[row], name), wide(update, name)), name)
    b.add("scatter", f"%r_u = stablehlo.slice %a0 [0:3, 0:10] : ({t(6, 10)}) -> {t(3, 10)}\n"
          '%r = "stablehlo.scatter"(%a0, %places, %r_u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], '
          "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({\n"
          f"{region(t(), 'add')} : ({t(6, 10)}, tensor<3x1xi32>, {t(3, 10)}) -> {t(6, 10)}", (6, 10), scattered)
    b.add("window", '%r = "stablehlo.reduce_window"(%a0, %init) <{window_dimensions = array<i64: 1, 3>, window_strides = array<i64: 1, 1>}> ({\n'
          f"{region(t(), 'add')} : ({t(6, 10)}, {t()}) -> {t(6, 8)}", (6, 8), narrow(plus(plus(w[:, :8], w[:, 1:9]), w[:, 2:]), name))
    carried = x
    for _ in range(3):
        carried = narrow(plus(wide(carried, name), w), name)
    b.add("while", f"%r:2 = stablehlo.while(%j = %zero, %v = %a0) : tensor<i32>, {t(6, 10)}\ncond {{\n"
          "  %t = stablehlo.compare LT, %j, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>\n  stablehlo.return %t : tensor<i1>\n} do {\n"
          f"  %n = stablehlo.add %j, %one : tensor<i32>\n  %m = stablehlo.add %v, %a0 : {t(6, 10)}\n  stablehlo.return %n, %m : tensor<i32>, {t(6, 10)}\n}}",
          (6, 10), carried)


def sort(b, w):
    t = b.type
    kind = "FLOAT" if b.name in FLOATS else "UNSIGNED" if b.name[0] == "u" or b.name == "i1" else "SIGNED"
    b.add("sort", f'%r = "stablehlo.sort"(%a0) <{{dimension = 1 : i64}}> ({{\n^bb0(%p: {t()}, %q: {t()}):\n'
          f"  %c = stablehlo.compare LT, %p, %q, {kind} : ({t()}, {t()}) -> tensor<i1>\n  stablehlo.return %c : tensor<i1>\n}}) : ({t(6, 10)}) -> {t(6, 10)}",
          (6, 10), narrow(np.sort(w, 1), b.name))


def every_op(name):
    def check():
        x = small_numbers(name)
        w, b = wide(x, name), Builder(name)
        scale_only = name == "f8E8M0FNU"  # has no zero
        init = "(0.0,0.0)" if name.startswith("complex") else "false" if name == "i1" else "1.0" if scale_only else "0.0" if name in FLOATS else "0"
        b.lines = [f"%init = stablehlo.constant dense<{init}> : {b.type()}", "%places = stablehlo.constant dense<[[0], [2], [0]]> : tensor<3x1xi32>",
                   *(f"%{word} = stablehlo.constant dense<{i}> : tensor<i32>" for i, word in ((0, "zero"), (1, "one"), (3, "three")))]
        movement(b, x, TYPES[name](1 if scale_only else 0))
        if not scale_only:
            folds(b, x, w)
        if not name.startswith("complex"):
            sort(b, w)
        got = run(module([shape(6, 10, name)], b.lines, b.outputs), x)
        if isinstance(got, str):
            return [(name, got)]
        return [(label, same(g, want)) for label, g, want in zip(b.labels, got, b.wanted)]

    return Case(f"ops_{name.strip('>').replace('<', '_')}", check)


def cases():
    return [every_op(name) for name in TYPES]
