"""Programs on quantized values, compiled and run, against StableHLO's interpreter where it knows the operation and numpy where not.

Inputs and outputs are real: what a program quantises it dequantises again.
"""
import os
import sys
import tempfile

import numpy as np
from command_line import tessera
from dialect_cases import t
from dialect_text import context
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

Q = "!quant.uniform<i8:f32, 5.000000e-01:3>"
R = "!quant.uniform<i8:f32, 2.500000e-01:-7>"
U = "!quant.uniform<u8:f32, 1.250000e-01:128>"
NARROW = "!quant.uniform<i8<-10:10>:f32, 5.000000e-01>"
WIDE = "!quant.uniform<i32:f32, 1.250000e-01>"
AXIS = "!quant.uniform<i8:f32:1, {1.250000e-01:2,5.000000e-01,2.500000e-01:-1}>"
WEIGHTS = "!quant.uniform<i8:f32:1, {1.250000e-01,5.000000e-01,2.500000e-01}>"
THIRDS = "!quant.uniform<i8:f32, 3.000000e-01:1>"  # many quotients of quarters are beside a tie
ZERO = "!quant.uniform<i8:f32, 1.250000e-01>"
OPS = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide, "maximum": np.maximum, "minimum": np.minimum}


def parameters(element, shape):
    """(scale, zero point, least, largest) of a quantized type, scales spread over a shape."""
    storage, rest = element[len("!quant.uniform<"):-1].split(":", 1)
    low, high = {"i8": (-128, 127), "u8": (0, 255), "i32": (-2**31, 2**31 - 1)}[storage.split("<")[0]]
    if "<" in element[15:]:
        low, high = -10, 10
        rest = element.split(">:", 1)[1][:-1]
    kind, numbers = rest.split(", ", 1)
    pairs = [p.split(":") for p in numbers.strip("{}").split(",")]
    scale = np.array([float(p[0]) for p in pairs], np.float32)
    zero = np.array([float(p[1]) if len(p) > 1 else 0 for p in pairs], np.float32)
    if ":" in kind:
        d = int(kind.split(":")[1])
        spread = [1] * len(shape)
        spread[d] = -1
        return scale.reshape(spread), zero.reshape(spread), low, high
    return scale[0], zero[0], low, high


def fake(x, element):
    """x quantised and dequantised."""
    scale, zero, low, high = parameters(element, x.shape)
    stored = np.rint(np.clip((x / scale).astype(np.float32) + zero, np.float32(low), np.float32(high))).astype(np.float32)
    return (stored - zero) * scale


def program(shapes, elements, body, result, shape):
    """Arguments are quantised to `elements` as %q0.., `body` makes %r of type `result`."""
    arguments = ", ".join(f"%x{i}: {t('f32', *s)}" for i, s in enumerate(shapes))
    lines = [f"%q{i} = stablehlo.uniform_quantize %x{i} : ({t('f32', *s)}) -> {t(e, *s)}" for i, (s, e) in enumerate(zip(shapes, elements)) if e]
    tail = f"%y = stablehlo.uniform_dequantize %r : ({t(result, *shape)}) -> {t('f32', *shape)}" if result else f"%y = stablehlo.reshape %r : ({t('f32', *shape)}) -> {t('f32', *shape)}"
    return f"func.func @main({arguments}) -> {t('f32', *shape)} {{\n" + "\n".join(lines + [body, tail]) + f"\nreturn %y : {t('f32', *shape)}\n}}"


def cases():
    shape = (4, 3)
    for name, function in OPS.items():
        for a, b, r in ((Q, Q, Q), (Q, R, Q), (U, U, U)):
            yield f"{name} {a} {b}", program([shape] * 2, [a, b], f'%r = "stablehlo.{name}"(%q0, %q1) : ({t(a, *shape)}, {t(b, *shape)}) -> {t(r, *shape)}', r, shape), [shape] * 2, \
                lambda x, y, a=a, b=b, r=r, f=function: fake(f(fake(x, a), fake(y, b)).astype(np.float32), r)
    for name, function in (("abs", np.abs), ("negate", np.negative), ("floor", np.floor), ("tanh", np.tanh), ("exponential", np.exp), ("cosine", np.cos)):
        yield f"{name}", program([shape], [Q], f'%r = "stablehlo.{name}"(%q0) : ({t(Q, *shape)}) -> {t(R, *shape)}', R, shape), [shape], lambda x, f=function: fake(f(fake(x, Q)).astype(np.float32), R)
    for e in (Q, R, U, NARROW, WIDE):
        yield f"quantize {e}", program([shape], [e], f"%r = stablehlo.reverse %q0, dims = [0] : {t(e, *shape)}", e, shape), [shape], lambda x, e=e: fake(x, e)[::-1]
    yield "requantize", program([shape], [Q], f"%r = stablehlo.uniform_quantize %q0 : ({t(Q, *shape)}) -> {t(R, *shape)}", R, shape), [shape], lambda x: fake(fake(x, Q), R)
    large = (64, 16)
    yield "requantize beside ties", program([large], [R], f"%r = stablehlo.uniform_quantize %q0 : ({t(R, *large)}) -> {t(THIRDS, *large)}", THIRDS, large), [large], lambda x: fake(fake(x, R), THIRDS)
    yield "transpose", program([shape], [AXIS], f"%r = stablehlo.transpose %q0, dims = [1, 0] : ({t(AXIS, *shape)}) -> {t(AXIS.replace(':1,', ':0,'), 3, 4)}", AXIS.replace(":1,", ":0,"), (3, 4)), [shape], lambda x: fake(x, AXIS).T
    yield "concatenate", program([shape] * 2, [Q, Q], f"%r = stablehlo.concatenate %q0, %q1, dim = 0 : ({t(Q, *shape)}, {t(Q, *shape)}) -> {t(Q, 8, 3)}", Q, (8, 3)), [shape] * 2, lambda x, y: fake(np.concatenate([x, y]), Q)
    yield "select", program([shape] * 2, [Q, R], f"%p = stablehlo.compare LT, %x0, %x1 : ({t('f32', *shape)}, {t('f32', *shape)}) -> {t('i1', *shape)}\n"
                            f"%r = stablehlo.select %p, %q0, %q1 : ({t('i1', *shape)}, {t(Q, *shape)}, {t(R, *shape)}) -> {t(Q, *shape)}", Q, shape), [shape] * 2, lambda x, y: np.where(x < y, fake(x, Q), fake(fake(y, R), Q))
    dot = "contracting_dims = [1] x [0]"
    yield "dot", program([(4, 5), (5, 3)], [Q, ZERO], f"%r = stablehlo.dot_general %q0, %q1, {dot} : ({t(Q, 4, 5)}, {t(ZERO, 5, 3)}) -> {t(WIDE, 4, 3)}", WIDE, shape), [(4, 5), (5, 3)], lambda x, w: fake(fake(x, Q) @ fake(w, ZERO), WIDE)
    yield "dot weights", program([(4, 5), (5, 3)], ["", WEIGHTS], f"%r = stablehlo.dot_general %x0, %q1, {dot} : ({t('f32', 4, 5)}, {t(WEIGHTS, 5, 3)}) -> {t('f32', 4, 3)}", "", shape), [(4, 5), (5, 3)], lambda x, w: x @ fake(w, WEIGHTS)
    conv = "dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}"
    kernel = WEIGHTS.replace(":1,", ":2,")
    yield "convolution", program([(2, 6, 4), (3, 4, 3)], [Q, kernel], f"%r = stablehlo.convolution(%q0, %q1) {conv} : ({t(Q, 2, 6, 4)}, {t(kernel, 3, 4, 3)}) -> {t(WIDE, 2, 6, 3)}", WIDE, (2, 6, 3)), [(2, 6, 4), (3, 4, 3)], \
        lambda x, w: fake(sum(np.pad(fake(x, Q), ((0, 0), (1, 1), (0, 0)))[:, i:i + 6] @ fake(w, kernel)[i] for i in range(3)), WIDE)
    scalar = t(Q)
    yield "reduce", program([shape, ()], [Q, Q], f'%r = "stablehlo.reduce"(%q0, %q1) <{{dimensions = array<i64: 0>}}> ({{^bb0(%a: {scalar}, %b: {scalar}): %s = stablehlo.maximum %a, %b : {scalar} "stablehlo.return"(%s) : ({scalar}) -> ()}}) : ({t(Q, *shape)}, {scalar}) -> {t(Q, 3)}', Q, (3,)), \
        [shape, ()], lambda x, z: np.maximum(fake(x, Q).max(0), fake(z, Q))
    yield "compare", program([shape] * 2, [Q, Q], f"%p = stablehlo.compare GT, %q0, %q1 : ({t(Q, *shape)}, {t(Q, *shape)}) -> {t('i1', *shape)}\n%r = stablehlo.convert %p : ({t('i1', *shape)}) -> {t('f32', *shape)}", "", shape), [shape] * 2, \
        lambda x, y: (fake(x, Q) > fake(y, Q)).astype(np.float32)


def interpreted(text, values, c):
    """What StableHLO's interpreter returns, None where it doesn't know the program."""
    with c, ir.Location.unknown(c):
        try:
            module = ir.Module.parse(text, c)
            attributes = [ir.DenseElementsAttr.get(v, type=ir.F32Type.get(c)) for v in values]
            return np.array(stablehlo.eval_module(module, attributes)[0])
        except Exception:  # the binding raises what the interpreter says as several kinds
            return None


def main():
    c, failures, count, judged = context(), 0, 0, 0
    with tempfile.TemporaryDirectory() as directory:
        path = lambda name: os.path.join(directory, name)
        for i, (name, text, shapes, reference) in enumerate(cases()):
            count += 1
            rng = np.random.default_rng(i)
            # Halves of the smallest scale: values that lie between two integers are rounded to even ones.
            values = [(rng.integers(-200, 200, s) / 16).astype(np.float32) for s in shapes]
            with open(path("in.mlir"), "w") as file:
                file.write(text)
            np.savez(path("in.npz"), **{f"in{j}": v for j, v in enumerate(values)})
            for command in (["compile", path("in.mlir"), "-o", path("p.tsr")], ["run", path("p.tsr"), f"--inputs={path('in.npz')}", f"--outputs={path('out.npz')}"]):
                done = tessera(*command)
                if done.returncode:
                    break
            if done.returncode:
                failures += 1
                print(f"{name}: {done.stderr.strip()}")
                continue
            got = np.load(path("out.npz"))["out0"]
            with np.errstate(all="ignore"):
                want = reference(*values)
            # The interpreter clamps unsigned storage as signed.
            oracle = None if U in text else interpreted(text, values, c)
            judged += oracle is not None
            # Beside a boundary between two integers the interpreter's integer arithmetic may fall on the other side.
            step = 0.5 if np.abs(want).max() > 0 else 0
            for what, expected, slack in (("numpy", want, 1e-5), ("the interpreter", oracle, step + 1e-5)):
                if expected is not None and not np.allclose(got, expected, rtol=1e-5, atol=slack, equal_nan=True):
                    failures += 1
                    print(f"{name}: differs from {what} by {np.max(np.abs(got - expected))}\n{text}")
    print(f"{count} programs, {judged} of them also by the interpreter, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
