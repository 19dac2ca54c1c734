"""Kernels beside what else this machine has for them, in turns, in one run.

  kernels.py [--rounds=N] [--shape=M,N,K[,LAYOUT[,BATCH]]..]

Products: ours of bf16 and of f32, oneDNN's of bf16 where a C++ compiler finds it (Debian's libdnnl-dev), numpy's BLAS of
f32. LAYOUT says how the operands lie: nn, tn (the first is transposed), nt, tt. Each gets the quickest of its steps; the
last columns are ours as shares of the best. Needs build/bin and the Python environment that scripts/bootstrap makes.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import tempfile
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
BIN = os.environ.get("TESSERA_BIN", os.path.join(HERE, "..", "build", "bin"))
SHAPES = ["256,256,256", "512,512,512", "1024,1024,1024", "2048,768,2048", "2048,2048,2048", "4096,4096,4096",
          "1024,1024,1024,tn", "1024,1024,1024,nt", "1024,1024,1024,tt", "4096,128,4096", "16,4096,4096",
          "1000,1000,1000", "1024,1024,64,nt,32", "1024,64,1024,nn,32"]


class Shape:
    def __init__(self, text):
        fields = text.split(",")
        self.m, self.n, self.k = map(int, fields[:3])
        self.layout = fields[3] if len(fields) > 3 else "nn"
        self.batch = int(fields[4]) if len(fields) > 4 else 1
        self.flops = 2.0 * self.batch * self.m * self.n * self.k
        self.repeat = int(min(100, max(3, 1e10 / self.flops)))

    def operands(self):
        sizes = (self.m, self.k), (self.k, self.n)
        return [(self.batch, *(size[::-1] if way == "t" else size)) for size, way in zip(sizes, self.layout)]

    def __str__(self):
        name = f"{self.m} x {self.n} x {self.k} {self.layout}"
        return name if self.batch == 1 else f"{self.batch} of {name}"


def module(shape, kind):
    a, b = ("x".join(map(str, operand)) + "x" + kind for operand in shape.operands())
    result = f"{shape.batch}x{shape.m}x{shape.n}x{kind}"
    contracted = [1 if shape.layout[0] == "t" else 2, 2 if shape.layout[1] == "t" else 1]
    return f"""func.func @main(%a: tensor<{a}>, %b: tensor<{b}>) -> tensor<{result}> {{
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [{contracted[0]}] x [{contracted[1]}] : (tensor<{a}>, tensor<{b}>) -> tensor<{result}>
  return %0 : tensor<{result}>
}}
"""


class Tessera:
    def __init__(self, shape, kind, directory):
        self.shape = shape
        self.program = os.path.join(directory, f"{kind}.tsr")
        self.report = os.path.join(directory, "report.json")
        source = os.path.join(directory, "product.mlir")
        with open(source, "w") as f:
            f.write(module(shape, kind))
        self.tessera("compile", source, "-o", self.program, "--quiet")

    def tessera(self, *arguments):
        subprocess.run([os.path.join(BIN, "tessera"), *arguments], check=True, stdout=subprocess.DEVNULL)

    def seconds(self):
        self.tessera("run", self.program, f"--repeat={self.shape.repeat + 1}", f"--report={self.report}", "--quiet")
        with open(self.report) as f:
            return min(json.load(f)["steps"][1:])


class Numpy:
    def __init__(self, shape):
        self.shape = shape
        draw = np.random.default_rng(0).standard_normal
        a, b = (draw(operand, np.float32) for operand in shape.operands())
        self.a = a.swapaxes(1, 2) if shape.layout[0] == "t" else a
        self.b = b.swapaxes(1, 2) if shape.layout[1] == "t" else b

    def seconds(self):
        best = float("inf")
        for _ in range(self.shape.repeat + 1):
            start = time.perf_counter()
            np.matmul(self.a, self.b)
            best = min(best, time.perf_counter() - start)
        return best


class OneDnn:
    """The program of onednn_products.cpp. It waits between its products: its threads are in nobody's way."""

    def __init__(self, shape, program):
        self.program = program
        a, b = (int(way == "t") for way in shape.layout)
        self.line = f"{shape.batch} {shape.m} {shape.n} {shape.k} {a} {b} {shape.repeat}\n"

    def seconds(self):
        done = subprocess.run([self.program], input=self.line, capture_output=True, text=True, check=True)
        return float(done.stdout)

    @staticmethod
    def build(directory):
        """Its path; None where it can't be built."""
        compiler, program = shutil.which("c++"), os.path.join(directory, "onednn_products")
        if not compiler:
            return None
        source = os.path.join(HERE, "onednn_products.cpp")
        done = subprocess.run([compiler, "-O2", "-std=c++17", source, "-ldnnl", "-o", program], capture_output=True)
        return program if done.returncode == 0 else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--shape", action="append")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        onednn = OneDnn.build(directory)
        if not onednn:
            print("oneDNN is not here: bf16 is compared with our f32 alone")
        print(f"{'GFLOP/s':28}{'bf16':>8}{'oneDNN':>8}{'f32':>8}{'numpy':>8}{'bf16/oneDNN':>13}{'f32/numpy':>11}{'bf16/f32':>10}", flush=True)
        shares = {"bf16 / oneDNN": [], "f32 / numpy": [], "bf16 / f32": []}
        for shape in map(Shape, options.shape or SHAPES):
            peers = {"bf16": Tessera(shape, "bf16", directory), "f32": Tessera(shape, "f32", directory), "numpy": Numpy(shape)}
            if onednn:
                peers["oneDNN"] = OneDnn(shape, onednn)
            best = dict.fromkeys(peers, float("inf"))
            for _ in range(options.rounds):
                for name, peer in peers.items():
                    best[name] = min(best[name], peer.seconds())
            row = f"{str(shape):28}"
            for name in ("bf16", "oneDNN", "f32", "numpy"):
                row += f"{shape.flops / best[name] / 1e9:8.0f}" if name in best else f"{'-':>8}"
            for (pair, found), width in zip(shares.items(), (13, 11, 10)):
                ours, peer = pair.split(" / ")
                share = best[peer] / best[ours] if peer in best else None
                found += [share] if share else []
                row += f"{share:{width}.2f}" if share else f"{'-':>{width}}"
            print(row, flush=True)
        for pair, found in shares.items():
            if found:
                print(f"{pair}: {statistics.geometric_mean(found):.2f} as geometric mean, {min(found):.2f} at least")


if __name__ == "__main__":
    main()
