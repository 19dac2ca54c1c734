"""Products whose scratch is bounded, so that their panels are smaller: the bits of the same products without a bound.

Each program is compiled up to its kernels, these get a `most_scratch`, and both run on the same inputs."""
import argparse
import os
import random
import re
import sys
import tempfile

import numpy as np
from command_line import tessera

SIZES = (1, 3, 7, 8, 17, 33, 64, 100, 130, 257)
TERMS = (3, 16, 65, 128, 300, 513, 1030)
EPILOGUES = {
    "none": "",
    "tanh": "  %1 = stablehlo.tanh %0 : tensor<{out}>\n",
    "added": "  %1 = stablehlo.add %0, %z : tensor<{out}>\n",
    "turned": "  %1 = stablehlo.transpose %0, dims = [0, 2, 1] : (tensor<{out}>) -> tensor<{turned}>\n",
}


def product(rng):
    """(text, shapes of its inputs, element type)"""
    batch, m, n, k = rng.choice((1, 1, 2, 3)), rng.choice(SIZES), rng.choice(SIZES), rng.choice(TERMS)
    element, epilogue = rng.choice(("f32", "bf16", "f64")), rng.choice(list(EPILOGUES))
    a, b = rng.choice(((batch, m, k), (batch, k, m))), rng.choice(((batch, k, n), (batch, n, k)))
    across = (1 if a == (batch, k, m) else 2), (2 if b == (batch, n, k) else 1)
    tensor = lambda *shape: "x".join(map(str, shape)) + "x" + element
    out, turned = tensor(batch, m, n), tensor(batch, n, m)
    shapes = [a, b] + [(batch, m, n)] * (epilogue == "added")
    parameters = ", ".join(f"%{name}: tensor<{tensor(*shape)}>" for name, shape in zip("xyz", shapes))
    result = f"%{int(epilogue != 'none')} : tensor<{turned if epilogue == 'turned' else out}>"
    return (f"func.func @main({parameters}) -> {result.split(' : ')[1]} {{\n"
            f"  %0 = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [{across[0]}] x [{across[1]}] : "
            f"(tensor<{tensor(*a)}>, tensor<{tensor(*b)}>) -> tensor<{out}>\n"
            + EPILOGUES[epilogue].format(out=out, turned=turned) + f"  return {result}\n}}\n"), shapes, element


def convolution(rng):
    """(text, shapes of its inputs, element type)"""
    height, width, features, filters = rng.choice((5, 9, 21)), rng.choice((7, 16, 33)), rng.choice((3, 16, 64)), rng.choice((8, 40, 96))
    kernel, stride, element = rng.choice((1, 3)), rng.choice((1, 2)), rng.choice(("f32", "bf16"))
    pad = kernel // 2
    image, weights = (2, height, width, features), (kernel, kernel, features, filters)
    out = (2, *((size + 2 * pad - kernel) // stride + 1 for size in (height, width)), filters)
    x, w, y = ("tensor<" + "x".join(map(str, shape)) + f"x{element}>" for shape in (image, weights, out))
    return (f"func.func @main(%x: {x}, %w: {w}) -> {y} {{\n"
            f"  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {{stride = [{stride}, {stride}], "
            f"pad = [[{pad}, {pad}], [{pad}, {pad}]]}} {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}} : ({x}, {w}) -> {y}\n"
            f"  return %0 : {y}\n}}\n"), [image, weights], element


def must(*arguments):
    done = tessera(*arguments)
    if done.returncode:
        sys.exit(done.stderr)


def outcome(directory, text, inputs):
    path = lambda name: os.path.join(directory, name)
    with open(path("k.mlir"), "w") as f:
        f.write(text)
    must("compile", path("k.mlir"), "-o", path("k.tsr"))
    must("run", path("k.tsr"), f"--inputs={inputs}", f"--outputs={path('out.npz')}")
    with np.load(path("out.npz")) as results:
        return results["out0"].copy()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--count", type=int, default=24)
    arguments = parser.parse_args()
    rng, failed, bounded = random.Random(arguments.seed), 0, 0
    with tempfile.TemporaryDirectory() as directory:
        source, kernels, inputs = (os.path.join(directory, name) for name in ("p.mlir", "m.mlir", "in.npz"))
        for number in range(arguments.count):
            text, shapes, element = rng.choice((product, product, convolution))(rng)
            with open(source, "w") as f:
                f.write(text)
            must("compile", source, "-o", kernels, "--stop-after=memory")
            draw = np.random.default_rng(number)
            np.savez(inputs, **{f"in{i}": draw.standard_normal(shape).astype(np.float64 if element == "f64" else np.float32)
                                for i, shape in enumerate(shapes)})
            with open(kernels) as f:
                plain = re.sub(r"tessera\.target = #tessera\.target<[^\n]*?>>(, )?", "", f.read(), count=1)
            most = rng.choice((1, 4096, 20000, 60000))
            little = re.sub(r"(exec\.kernel @\w+\(.*?\) -> .*?) \{\n", rf"\1 attributes {{most_scratch = {most} : i64}} {{\n", plain)
            bounded += little != plain
            if not np.array_equal(outcome(directory, plain, inputs), outcome(directory, little, inputs), equal_nan=True):
                failed += 1
                print(f"other bits with most_scratch = {most}:\n{text}")
    print(f"{arguments.count} programs, {bounded} with a bound, {failed} with other bits")
    return int(failed > 0 or bounded < arguments.count)


if __name__ == "__main__":
    sys.exit(main())
