"""A training step of 40 equal layers with the norm of all gradients, as text; and whether what a plan of it says is so.

    many_layers.py write FILE.mlir
    many_layers.py check PLAN.json COMPILED.json
"""
import json
import sys

LAYERS, ROWS, WIDTH, HIDDEN = 40, 4096, 512, 2048
X, H = f"tensor<{ROWS}x{WIDTH}xf32>", f"tensor<{ROWS}x{HIDDEN}xf32>"
UP, DOWN, ONE = f"tensor<{WIDTH}x{HIDDEN}xf32>", f"tensor<{HIDDEN}x{WIDTH}xf32>", "tensor<f32>"


class Text:
    def __init__(self):
        self.lines, self.count = [], 0

    def add(self, text):
        self.count += 1
        self.lines.append(f"  %v{self.count} = {text}")
        return f"%v{self.count}"

    def each(self, op, type, *operands):
        return self.add(f"stablehlo.{op} {', '.join(operands)} : {type}")

    def product(self, a, b, dims, types):
        return self.add(f"stablehlo.dot_general {a}, {b}, contracting_dims = [{dims[0]}] x [{dims[1]}] : ({types[0]}, {types[1]}) -> {types[2]}")

    def spread(self, scalar, type):
        return self.add(f"stablehlo.broadcast_in_dim {scalar}, dims = [] : ({ONE}) -> {type}")

    def chain(self, value, type, length):
        for _ in range(length):
            value = self.each("tanh", type, self.each("multiply", type, value, value))
        return value


def forward(text, x, up, down):
    hidden = text.chain(text.product(x, up, (1, 0), (X, UP, H)), H, 14)
    return hidden, text.each("add", X, x, text.product(hidden, down, (1, 0), (H, DOWN, X)))


def backward(text, g, x, hidden, up, down):
    """The gradients of what comes in and of both weights."""
    of_down = text.product(hidden, g, (0, 0), (H, X, DOWN))
    of_hidden = text.product(g, down, (1, 1), (X, DOWN, H))
    of_hidden = text.each("multiply", H, of_hidden, text.chain(hidden, H, 14))
    of_up = text.product(x, of_hidden, (0, 0), (X, H, UP))
    return text.each("add", X, g, text.product(of_hidden, up, (1, 1), (H, UP, X))), of_up, of_down


def step():
    text = Text()
    zero = text.add(f"stablehlo.constant dense<0.0> : {ONE}")
    weights = [(f"%up{i}", f"%down{i}") for i in range(LAYERS)]
    x, kept = "%x", []
    for up, down in weights:
        before = x
        hidden, x = forward(text, x, up, down)
        kept.append((before, hidden))
    g, gradients = text.each("subtract", X, x, "%y"), []
    for (before, hidden), (up, down) in zip(reversed(kept), reversed(weights)):
        g, *of = backward(text, g, before, hidden, up, down)
        gradients.insert(0, of)
    total = zero
    for of in gradients:
        for value, type in zip(of, (UP, DOWN)):
            square = text.each("multiply", type, value, value)
            part = text.add(f"stablehlo.reduce({square} init: {zero}) applies stablehlo.add across dimensions = [0, 1] : ({type}, {ONE}) -> {ONE}")
            total = text.each("add", ONE, total, part)
    scale = text.each("rsqrt", ONE, total)
    results = []
    for pair, of in zip(weights, gradients):
        for weight, value, type in zip(pair, of, (UP, DOWN)):
            results.append(text.each("subtract", type, weight, text.each("multiply", type, value, text.spread(scale, type))))
    types = ", ".join([UP, DOWN] * LAYERS)
    arguments = [f"{w}: {t} {{tf.aliasing_output = {2 * i + k} : i32}}" for i, pair in enumerate(weights) for k, (w, t) in enumerate(zip(pair, (UP, DOWN)))]
    head = f"func.func @main({', '.join(arguments)}, %x: {X}, %y: {X}) -> ({types}) {{"
    return "\n".join([head, *text.lines, f"  return {', '.join(results)} : {types}", "}", ""])


def check(plan, whole):
    assert plan["predicted_by_layers"]["compiled"] == [4, 8], plan["predicted_by_layers"]
    for name, share in (("seconds", 0.03), ("compute", 0.01), ("overhead", 0.01), ("peak_bytes", 0.05)):
        said, real = plan["predicted"][name], whole["predicted"][name]
        print(f"{name}: {said / real:.4f} of {real:.6g}")
        assert abs(said - real) <= share * real, (name, said, real)


if __name__ == "__main__":
    if sys.argv[1] == "write":
        open(sys.argv[2], "w").write(step())
    else:
        check(*(json.load(open(name)) for name in sys.argv[2:]))
