"""What else this machine has for matrix products: numpy's BLAS, and oneDNN where a C++ compiler finds it."""
import os
import shutil
import subprocess
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))


class Shape:
    """M,N,K[,LAYOUT[,BATCH]]"""

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
    """The program of onednn_products.cpp: bf16. It waits between its products: its threads are in nobody's way."""

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


def square_rate():
    """FLOPs a second of numpy's BLAS for a square product of f32."""
    shape = Shape("2048,2048,2048")
    return shape.flops / Numpy(shape).seconds()
