"""Every op whose shape comes from values, on sizes that follow from --input-shapes: compiled, run, and compared with numpy. What has no shape is refused by name."""
import os
import sys
import tempfile

import numpy as np
from command_line import tessera

X = np.random.default_rng(0).uniform(-2, 2, (6, 4)).astype(np.float32)
V = X[:, 0].copy()
SIZE = "%n = stablehlo.get_dimension_size %x, dim = 0 : ({t}) -> tensor<i32>\n%s = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>\n"
VECTOR, MATRIX = "tensor<?xf32>", "tensor<?x4xf32>"


def program(argument, result, body):
    return f"func.func @main(%x: {argument}) -> {result} {{\n{SIZE.format(t=argument)}{body}\nreturn %r : {result}\n}}"


def numbers(name, *values, type="i32"):
    return f"%{name} = stablehlo.constant dense<[{', '.join(map(str, values))}]> : tensor<{len(values)}x{type}>\n"


def windows(x):
    padded = np.pad(x, (2, 1))
    return np.array([padded[i] - padded[i + 2] for i in range(len(padded) - 2)], np.float32)


def clamped(x):
    return np.stack([x[min(i, len(x) - 2):][:2] for i in (1, 99)])


CASES = {  # text, its argument, what it gives
    "real_dynamic_slice": (program(VECTOR, VECTOR, numbers("two", 2) + """%b = stablehlo.divide %s, %two : tensor<1xi32>
%r = stablehlo.real_dynamic_slice %x, %b, %s, %two : (tensor<?xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>"""), V, lambda x: x[3::2]),
    "dynamic_pad": (program(VECTOR, VECTOR, numbers("one", 1) + numbers("five", 5) + """%l = stablehlo.subtract %s, %five : tensor<1xi32>
%z = stablehlo.constant dense<7.0> : tensor<f32>
%r = stablehlo.dynamic_pad %x, %z, %l, %one, %one : (tensor<?xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>"""), V,
                    lambda x: np.concatenate([[7], np.stack([x, np.full_like(x, 7)], 1).reshape(-1)[:-1], [7]]).astype(np.float32)),
    "dynamic_iota": (program(VECTOR, "tensor<?x?xi64>", numbers("two", 2) + """%h = stablehlo.divide %s, %two : tensor<1xi32>
%d = stablehlo.concatenate %s, %h, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
%r = stablehlo.dynamic_iota %d, dim = 1 : (tensor<2xi32>) -> tensor<?x?xi64>"""), V, lambda x: np.broadcast_to(np.arange(3), (6, 3))),
    "dynamic_broadcast_in_dim": (program(VECTOR, "tensor<?x?xf32>", numbers("two", 2) + """%d = stablehlo.concatenate %two, %s, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
%r = "stablehlo.dynamic_broadcast_in_dim"(%x, %d) <{broadcast_dimensions = array<i64: 1>, known_expanding_dimensions = array<i64>, known_nonexpanding_dimensions = array<i64: 0>}> : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x?xf32>"""), V, lambda x: np.stack([x, x])),
    "dynamic_reshape": (program(MATRIX, "tensor<?x?xf32>", numbers("two", 2) + numbers("four", 4) + """%a = stablehlo.divide %s, %two : tensor<1xi32>
%b = stablehlo.multiply %four, %two : tensor<1xi32>
%d = stablehlo.concatenate %a, %b, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
%r = stablehlo.dynamic_reshape %x, %d : (tensor<?x4xf32>, tensor<2xi32>) -> tensor<?x?xf32>"""), X, lambda x: x.reshape(3, 8)),
    "dynamic_gather": (program(VECTOR, "tensor<2x?xf32>", numbers("two", 2) + numbers("four", 4) + """%w = stablehlo.subtract %s, %four : tensor<1xi32>
%i = stablehlo.constant dense<[[1], [99]]> : tensor<2x1xi32>
%r = "stablehlo.dynamic_gather"(%x, %i, %w) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], start_index_map = [0], index_vector_dim = 1>}> : (tensor<?xf32>, tensor<2x1xi32>, tensor<1xi32>) -> tensor<2x?xf32>"""), V, clamped),
    "dynamic_conv": (program("tensor<?xf32>", VECTOR, numbers("four", 4) + """%p = stablehlo.subtract %s, %four : tensor<1xi32>
%q = stablehlo.constant dense<1> : tensor<1xi32>
%pq = stablehlo.concatenate %p, %q, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
%padding = stablehlo.reshape %pq : (tensor<2xi32>) -> tensor<1x2xi32>
%one = stablehlo.constant dense<1> : tensor<1xi32>
%d = stablehlo.concatenate %one, %s, %one, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
%y = stablehlo.dynamic_reshape %x, %d : (tensor<?xf32>, tensor<3xi32>) -> tensor<1x?x1xf32>
%k = stablehlo.constant dense<[[[1.0]], [[0.0]], [[-1.0]]]> : tensor<3x1x1xf32>
%c = "stablehlo.dynamic_conv"(%y, %k, %padding) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<1x?x1xf32>, tensor<3x1x1xf32>, tensor<1x2xi32>) -> tensor<1x?x1xf32>
%m = stablehlo.get_dimension_size %c, dim = 1 : (tensor<1x?x1xf32>) -> tensor<i32>
%e = stablehlo.reshape %m : (tensor<i32>) -> tensor<1xi32>
%r = stablehlo.dynamic_reshape %c, %e : (tensor<1x?x1xf32>, tensor<1xi32>) -> tensor<?xf32>"""), V, windows),
    "set_dimension_size": (program(VECTOR, "tensor<?xf32, #stablehlo.bounds<6>>", """%two = stablehlo.constant dense<2> : tensor<i32>
%m = stablehlo.subtract %n, %two : tensor<i32>
%r = stablehlo.set_dimension_size %x, %m, dim = 0 : (tensor<?xf32>, tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<6>>"""), V, lambda x: x[:4]),
    "bounds": (program("tensor<?x4xf32, #stablehlo.bounds<8, ?>>", "tensor<4x?xf32, #stablehlo.bounds<?, 8>>", """%y = stablehlo.add %x, %x : tensor<?x4xf32, #stablehlo.bounds<8, ?>>
%r = stablehlo.transpose %y, dims = [1, 0] : (tensor<?x4xf32, #stablehlo.bounds<8, ?>>) -> tensor<4x?xf32, #stablehlo.bounds<?, 8>>"""), X, lambda x: (2 * x).T),
    "branches": (program(VECTOR, VECTOR, """%four = stablehlo.constant dense<4> : tensor<i32>
%p = stablehlo.compare GT, %n, %four : (tensor<i32>, tensor<i32>) -> tensor<i1>
%b = "stablehlo.if"(%p) ({
  %y = stablehlo.negate %x : tensor<?xf32>
  stablehlo.return %y : tensor<?xf32>
}, {
  stablehlo.return %x : tensor<?xf32>
}) : (tensor<i1>) -> tensor<?xf32>
%zero = stablehlo.constant dense<0> : tensor<i32>
%one = stablehlo.constant dense<1> : tensor<i32>
%r:2 = stablehlo.while(%i = %zero, %c = %b) : tensor<i32>, tensor<?xf32>
 cond { %q = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.return %q : tensor<i1> }
 do { %j = stablehlo.add %i, %one : tensor<i32>
  %d = stablehlo.add %c, %x : tensor<?xf32>
  stablehlo.return %j, %d : tensor<i32>, tensor<?xf32> }""").replace("return %r :", "return %r#1 :"), V, lambda x: -x + sum([x] * 6)),
}
CASES["gather of sizes at data"] = ("""func.func @main(%x: tensor<6xf32>) -> tensor<2x3xf32> {
%i = stablehlo.constant dense<[[1], [9]]> : tensor<2x1xi32>
%y = stablehlo.slice %x [0:1] : (tensor<6xf32>) -> tensor<1xf32>
%z = stablehlo.subtract %y, %y : tensor<1xf32>
%c = stablehlo.convert %z : (tensor<1xf32>) -> tensor<1xi32>
%three = stablehlo.constant dense<3> : tensor<1xi32>
%s = stablehlo.add %c, %three : tensor<1xi32>
%r = "stablehlo.dynamic_gather"(%x, %i, %s) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], start_index_map = [0], index_vector_dim = 1>}> : (tensor<6xf32>, tensor<2x1xi32>, tensor<1xi32>) -> tensor<2x3xf32>
return %r : tensor<2x3xf32>
}""", V, lambda x: np.stack([x[1:4], x[3:6]]))
REFUSED = {  # text, its argument's shape, part of the error
    "data": ("""func.func @main(%x: tensor<4xf32>, %n: tensor<1xi32>) -> tensor<?xf32> {
%r = stablehlo.dynamic_iota %n, dim = 0 : (tensor<1xi32>) -> tensor<?xf32>
return %r : tensor<?xf32>
}""", "", "depends on data"),
    "padding": ("""func.func @main(%x: tensor<4xf32>, %n: tensor<1xi32>) -> tensor<6xf32> {
%z = stablehlo.constant dense<0.0> : tensor<f32>
%i = stablehlo.constant dense<0> : tensor<1xi32>
%two = stablehlo.constant dense<2> : tensor<1xi32>
%m = stablehlo.subtract %two, %n : tensor<1xi32>
%r = stablehlo.dynamic_pad %x, %z, %n, %m, %i : (tensor<4xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<6xf32>
return %r : tensor<6xf32>
}""", "", "takes amounts from data that a compiled program must know"),
    "bound": (CASES["bounds"][0], "in0:9x4", "at most 8"),
    "fixed": (CASES["bounds"][0], "in0:6x5", "does not fit"),
    "unknown": (CASES["bounds"][0], "", "give it by --input-shapes=in0:Nx4"),
    "contradiction": (program(VECTOR, VECTOR, """%c = stablehlo.constant dense<1.0> : tensor<6xf32>
%r = stablehlo.add %x, %c : (tensor<?xf32>, tensor<6xf32>) -> tensor<?xf32>"""), "in0:5", "tensor<6xf32>"),
}


def main():
    failures = []

    def run(*arguments):
        done = tessera(*arguments)
        return done.returncode, done.stderr.strip()

    with tempfile.TemporaryDirectory() as directory:
        path = lambda name: os.path.join(directory, name)
        for name, (text, argument, expected) in CASES.items():
            with open(path("in.mlir"), "w") as file:
                file.write(text)
            np.savez(path("in.npz"), in0=argument)
            status, error = run("compile", path("in.mlir"), "-o", path("p.tsr"), "--verify-each", "--input-shapes=in0:" + "x".join(map(str, argument.shape)))
            if not status:
                status, error = run("run", path("p.tsr"), f"--inputs={path('in.npz')}", f"--outputs={path('out.npz')}")
            if status:
                failures.append(f"{name}: {error}")
                continue
            got, want = np.load(path("out.npz"))["out0"], expected(argument)
            if got.shape != want.shape or not np.allclose(got, want, rtol=1e-6):
                failures.append(f"{name}: {got} for {want}")
        for name, (text, shapes, message) in REFUSED.items():
            with open(path("in.mlir"), "w") as file:
                file.write(text)
            status, error = run("compile", path("in.mlir"), "-o", path("p.tsr"), *([f"--input-shapes={shapes}"] if shapes else []))
            if status != 1 or message not in error:
                failures.append(f"{name}: expected an error with '{message}', got: {error or 'none'}")
    for failure in failures:
        print(failure)
    print(f"{len(CASES)} programs, {len(REFUSED)} refused, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
