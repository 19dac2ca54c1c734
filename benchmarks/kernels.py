"""Kernels beside what the machine can do, in one run.

  kernels.py [FAMILY ..] [--rounds=N] [--shape=M,N,K[,LAYOUT[,BATCH]]..] [--heads=BxHxTxD..] [--kind=KIND..] [--scale=N] [--program=FILE.tsr..] [--layers=N]

Families: elementwise, rows, cross_entropy, adam, running, gathers, transposes, sorts, attention, convolutions, products,
llama; all of them without one. `llama` trains large_models.py's llama-small on 8 sequences of 256 tokens (--layers: of so
many), in f32 and in bf16: what it multiplies a second beside that product's, and its ten dearest kernels, each with the
time that the machine takes at least for what it moves and multiplies as a share of its own. What moves bytes is set
beside the cores' copies of arrays that no cache holds, in each run by `tessera run --profile`; where a cache holds a case's
own (64 MB each), --scale=N gives it N times the rows (not sorts'). What multiplies is beside the best square product of
numpy's BLAS, or of ours where it multiplies bf16. `kernels` are those that a step runs; a share below the one that is aimed at has a star.
Products of f32 are beside numpy's of the same shape, those of bf16 beside oneDNN's where a C++ compiler finds it (Debian's
libdnnl-dev); LAYOUT says how the operands lie: nn, tn (the first is transposed), nt, tt.
--program prints the ten kernels of a program that take longest. Each gets the quickest of its steps. Needs build/bin and the
Python environment that scripts/bootstrap makes.
"""
import argparse
import dataclasses
import json
import os
import statistics
import subprocess
import tempfile

import jax
import jax.numpy as jnp
import numpy as np

import large_models
from kernel_families import FAMILIES, SCALED
from kernel_peers import HERE, Numpy, OneDnn, Shape, square_rate

BIN = os.environ.get("TESSERA_BIN", os.path.join(HERE, "..", "build", "bin"))
SHAPES = ["256,256,256", "512,512,512", "1000,1000,1000", "1024,1024,1024", "2048,2048,2048", "4096,4096,4096",
          "2048,768,2048", "1024,1024,1024,tn", "1024,1024,1024,nt", "1024,1024,1024,tt", "4096,128,4096", "128,4096,4096",
          "16,4096,4096", "16384,64,64", "256,256,16384", "512,32000,768", "768,32000,512,tn", "64,64,64,nn,256",
          "1024,1024,64,nt,32", "1024,64,1024,nn,32"]


def tessera(*arguments):
    subprocess.run([os.path.join(BIN, "tessera"), *arguments, "--quiet"], check=True, stdout=subprocess.DEVNULL)


class Program:
    """A compiled program with its inputs; random ones without."""

    def __init__(self, text, directory, name="program", inputs=()):
        path = lambda suffix: os.path.join(directory, name + suffix)
        self.program, self.report = path(".tsr"), path(".json")
        with open(path(".mlir"), "w") as f:
            f.write(text)
        tessera("compile", path(".mlir"), "-o", self.program)
        self.inputs = []
        if inputs:
            wide = lambda leaf: leaf.astype(np.float32) if leaf.dtype.name == "bfloat16" else leaf
            np.savez(path(".npz"), **{f"in{i}": wide(leaf) for i, leaf in enumerate(inputs)})
            self.inputs = [f"--inputs={path('.npz')}"]

    def run(self, repeat):
        """(seconds of the quickest step, its profile)"""
        tessera("run", self.program, *self.inputs, f"--repeat={repeat + 1}", f"--report={self.report}", "--profile")
        with open(self.report) as f:
            report = json.load(f)
        return min(report["steps"][1:]), report["profile"]


def nbytes(tree):
    return sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(tree))


def measure(case, directory, rounds):
    """(seconds, bytes that the cores copy in one, kernels of a step)"""
    lowered = jax.jit(case.function, donate_argnums=case.donated, keep_unused=True).lower(*case.arguments)
    program = Program(lowered.as_text(), directory, inputs=[np.asarray(leaf) for leaf in jax.tree.leaves(case.arguments)])
    repeat = int(min(30, max(3, 0.5 / program.run(1)[0])))
    best, copied = float("inf"), 0.0
    for _ in range(rounds):
        seconds, profile = program.run(repeat)
        best, copied = min(best, seconds), max(copied, profile["copied_bytes_per_second"])
    return best, copied, sum(row["calls"] for row in profile["rows"] if row["kind"] == "kernel")


class Squares:
    """The best rate of a square product so far, by type: f32 by numpy, bf16 by a kernel of ours."""

    def __init__(self, directory):
        self.directory, self.best, self.own = directory, {}, None

    def rate(self, kind):
        self.best[kind] = max(self.best.get(kind, 0), square_rate() if kind == "f32" else self.of_own(kind))
        return self.best[kind]

    def of_own(self, kind):
        shape = Shape("2048,2048,2048")
        self.own = self.own or Program(product(shape, kind), self.directory, kind)
        return shape.flops / self.own.run(5)[0]


def cases_of(name, options):
    if name == "attention":
        return FAMILIES[name](**{key: value for key, value in (("shapes", options.heads), ("kinds", options.kind)) if value})
    return FAMILIES[name](*[options.scale] if name in SCALED else [])


def family(name, options, directory):
    print(f"\n{name:34}{'rate':>14}{'kernels':>9}{'share':>7}  of", flush=True)
    squares = Squares(directory)
    for case in cases_of(name, options):
        seconds, copied, kernels = measure(case, directory, options.rounds)
        if case.flops:
            square = max(squares.rate(case.kind) for _ in range(2))
            share, of = case.flops / seconds / square, f"{square / 1e9:.0f} GFLOP/s of a {case.kind} product"
            rate = f"{case.flops / seconds / 1e9:.0f} GFLOP/s"
        else:
            moved = case.bytes or nbytes(case.arguments) + nbytes(jax.eval_shape(case.function, *case.arguments))
            share, of = moved / seconds / copied, f"{copied / 1e9:.1f} GB/s copied"
            rate = f"{moved / seconds / 1e9:.1f} GB/s"
        star = "*" if case.target and share < case.target else " "
        print(f"{case.name:34}{rate:>14}{kernels:9}{share:7.2f}{star} {of}", flush=True)


def product(shape, kind):
    a, b = ("x".join(map(str, operand)) + "x" + kind for operand in shape.operands())
    result = f"{shape.batch}x{shape.m}x{shape.n}x{kind}"
    contracted = [1 if shape.layout[0] == "t" else 2, 2 if shape.layout[1] == "t" else 1]
    return f"""func.func @main(%a: tensor<{a}>, %b: tensor<{b}>) -> tensor<{result}> {{
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [{contracted[0]}] x [{contracted[1]}] : (tensor<{a}>, tensor<{b}>) -> tensor<{result}>
  return %0 : tensor<{result}>
}}
"""


def products(options, directory):
    onednn = OneDnn.build(directory)
    if not onednn:
        print("\noneDNN is not here: bf16 is compared with our f32 alone")
    print(f"\n{'products, GFLOP/s':28}{'bf16':>8}{'oneDNN':>8}{'f32':>8}{'numpy':>8}{'bf16/oneDNN':>13}{'f32/numpy':>11}{'bf16/f32':>10}", flush=True)
    shares = {"bf16 / oneDNN": [], "f32 / numpy": [], "bf16 / f32": []}
    for shape in map(Shape, options.shape or SHAPES):
        ours = {kind: Program(product(shape, kind), directory, kind) for kind in ("bf16", "f32")}
        peers = {kind: lambda p=program: p.run(shape.repeat)[0] for kind, program in ours.items()}
        peers["numpy"] = Numpy(shape).seconds
        if onednn:
            peers["oneDNN"] = OneDnn(shape, onednn).seconds
        best = dict.fromkeys(peers, float("inf"))
        for _ in range(options.rounds):
            for name, seconds in peers.items():
                best[name] = min(best[name], seconds())
        row = f"{str(shape):28}"
        for name in ("bf16", "oneDNN", "f32", "numpy"):
            row += f"{shape.flops / best[name] / 1e9:8.0f}" if name in best else f"{'-':>8}"
        for (pair, found), width in zip(shares.items(), (13, 11, 10)):
            one, peer = pair.split(" / ")
            share = best[peer] / best[one] if peer in best else None
            found += [share] if share else []
            row += f"{share:{width}.2f}" if share else f"{'-':>{width}}"
        print(row, flush=True)
    for pair, found in shares.items():
        if found:
            print(f"{pair}: {statistics.geometric_mean(found):.2f} as geometric mean, {min(found):.2f} at least")


def llama(options, directory):
    size = large_models.SIZES["llama-small"]
    size = dataclasses.replace(size, layers=options.layers or size.layers)
    print(f"\nLlama of {size.layers} layers, 8 sequences of 256 tokens", flush=True)
    steps = {}
    for name, kind in (("f32", jnp.float32), ("bf16", jnp.bfloat16)):
        text = large_models.exported(size, 8, 256, scanned=False, kind=kind)
        seconds, profile = Program(text, directory, name).run(options.rounds)
        steps[name] = seconds
        kernels = [row for row in profile["rows"] if row["kind"] == "kernel"]
        rate, square = sum(row["flops"] for row in kernels) / seconds, square_rate()
        print(f"{name}: {seconds:.2f} s a step, {rate / 1e9:.0f} GFLOP/s, {rate / square:.2f} of {square / 1e9:.0f} multiplied by numpy"
              + (f"; {steps['f32'] / seconds:.2f} times as fast as f32" if name != "f32" else ""), flush=True)
        for row in sorted(kernels, key=lambda row: -row["seconds"])[:10]:
            print(f"{row['seconds'] / seconds:7.1%} of the step, {row['calls']:4} calls, {row['roofline_seconds'] / row['seconds']:5.2f}"
                  f" of the roofline  {row['name']} {row['location']}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("families", nargs="*", metavar="FAMILY", choices=[*FAMILIES, "products", "llama", []])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--shape", action="append", help="of a product, in place of those that are built in")
    parser.add_argument("--scale", type=int, default=1, help="of what moves bytes: so many times the rows")
    parser.add_argument("--layers", type=int, help="of the Llama, instead of all")
    parser.add_argument("--heads", action="append", help="of attention: BATCHxHEADSxLENGTHxCHANNELS, in place of those that are built in")
    parser.add_argument("--kind", action="append", choices=["f32", "bf16"], help="of attention; both")
    parser.add_argument("--program", action="append", default=[], help="a compiled program, whose kernels are listed")
    options = parser.parse_args()
    if options.scale != 1 and (rest := [name for name in options.families if name not in SCALED]):
        parser.error(f"--scale: the rows of {', '.join(rest)} are as they are; it is for {', '.join(SCALED)}")
    everything = [] if options.program or options.shape else [*FAMILIES, "products", "llama"]
    with tempfile.TemporaryDirectory() as directory:
        for name in options.families or everything:
            if name in FAMILIES:
                family(name, options, directory)
        if options.shape or "products" in (options.families or everything):
            products(options, directory)
        if "llama" in (options.families or everything):
            llama(options, directory)
    for path in options.program:
        print(f"\n{os.path.basename(path)}", flush=True)
        subprocess.run([os.path.join(BIN, "tessera"), "run", path, "--repeat=10", "--profile=10", "--quiet"], check=True)


if __name__ == "__main__":
    main()
