"""Functions of f64 on GPUs, by the stand-in for NVIDIA's driver (programs.py, which says how): held against the bounds of the cpu's
(test/numerics/accuracy.py), and where arguments or results are subnormal, which GPUs keep, against one unit in the last place.
"""
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "numerics"))

import accuracy
import numpy as np
from accuracy import FUNCTIONS, LONG, measure
from element_types import module, shape
from harness import command

LEAST = 2.0 ** -1074
TINY = np.array([1, -1, 3, 7 << 20, (1 << 51) + 1, -(1 << 52) + 1]) * LEAST
# Results that are subnormal, or arguments.
SUBNORMAL = {
    "exponential": (np.array([-708.5, -720, -735.25, -745, -745.2, -746, *TINY]),),
    "exponential_minus_one": (TINY,),
    "log": (np.abs(TINY),),
    "log_plus_one": (TINY,),
    "sine": (TINY,),
    "cosine": (TINY,),
    "tan": (TINY,),
    "tanh": (TINY,),
    "logistic": (np.array([-708.5, -720, -735.25, -745, *TINY]),),
    "cbrt": (TINY,),
    "power": (np.array([2.0, 10, 1e-160, 0.5, 3 * LEAST]), np.array([-1030.5, -310, 2, 1073, 1.0])),
    "atan2": (np.array([*TINY, 1e-310]), np.array([1.0, 2, 7, -1, 1e-3, 1, -1e-312])),
    "erf": (TINY,),
    "erfc": (np.array([26.6, 27, 27.2, 28, *TINY]),),
}


def run_on_gpu(text, *inputs):
    """As element_types.run."""
    with tempfile.TemporaryDirectory() as directory:
        path = lambda name: os.path.join(directory, name)
        with open(path("p.mlir"), "w") as f:
            f.write(text)
        np.savez(path("in.npz"), **{f"in{i}": x for i, x in enumerate(inputs)})
        wrong = command("compile", path("p.mlir"), "-o", path("p.tsr"), "--target=cuda:sm_80")
        wrong = wrong or command("run", path("p.tsr"), f"--inputs={path('in.npz')}", f"--outputs={path('out.npz')}")
        if wrong:
            return wrong
        with np.load(path("out.npz")) as found:
            return [found[f"out{i}"] for i in range(len(found.files))]


def subnormal_errors():
    """Of each function what is wrong, in units of the last place of its results, which are 2^-1074 at least."""
    functions = [f for f in FUNCTIONS if f.name in SUBNORMAL]
    inputs, lines, results = [], [], []
    for i, f in enumerate(functions):
        arguments = SUBNORMAL[f.name]
        t = f"tensor<{len(arguments[0])}xf64>"
        operands = ", ".join(f"%a{len(inputs) + k}" for k in range(len(arguments)))
        inputs += arguments
        kinds = t if f.op.startswith("stablehlo.") else f"{t} -> {t}"
        lines.append(f"%r{i} = {f.op} {operands} : {kinds}")
        results.append((f"%r{i}", shape(len(arguments[0]), "f64")))
    got = run_on_gpu(module([shape(len(x), "f64") for x in inputs], lines, results), *inputs)
    if isinstance(got, str):
        raise RuntimeError(got)
    for f, result in zip(functions, got):
        exact = np.asarray(f.exact(*(x.astype(LONG) for x in SUBNORMAL[f.name])))
        unit = np.maximum(np.exp2(np.floor(np.log2(np.maximum(np.abs(exact), LONG(LEAST)))) - 52), LONG(LEAST))
        error = np.abs(result.astype(LONG) - exact) / unit
        at = int(np.argmax(error))
        yield f.name, float(error[at]), [float(x[at]).hex() for x in SUBNORMAL[f.name]], float(result[at])


def main():
    accuracy.run = run_on_gpu
    wrong = 0
    for f, error, at, result in measure(FUNCTIONS, np.float64, 400, 5):
        if not error <= f.f64:
            wrong += 1
            print(f"{f.name}: {error:.2f} units in the last place at {at}: {result}; {f.f64} allowed")
    with np.errstate(all="ignore"):
        for name, error, at, result in subnormal_errors():
            if not error <= (2 if name == "erfc" else 1):
                wrong += 1
                print(f"{name}: {error:.2f} units of what is subnormal at {at}: {result}")
    print(f"{len(FUNCTIONS) + len(SUBNORMAL)} functions, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
