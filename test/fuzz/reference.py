"""Holds the evaluation of operations of random programs against StableHLO's interpreter: reference.py [--count=N] [--seed=S]"""
import argparse
import collections
import os
import pickle
import sys

import numpy as np
from jaxlib.mlir import ir
from jax._src.interpreters.mlir import make_ir_context
from jaxlib.mlir.dialects import stablehlo

from generate.generate import generate
from generate.program import Printer, Program


def interpreted(program):
    with make_ir_context(), ir.Location.unknown():
        module = ir.Module.parse(Printer(program).text())
        arguments = [elements_of(v) for v in program.arguments]
        return [np.array(r) if v.element.name != "bf16" else None for v, r in zip(program.results, stablehlo.eval_module(module, arguments))]


def elements_of(v):
    array = v.data.astype(v.element.own).copy(order="C")
    if v.element.name == "bf16":
        return ir.DenseElementsAttr.get(array.view(np.uint16), shape=v.shape, type=ir.BF16Type.get())
    if v.element.kind == "b":
        truths = [ir.BoolAttr.get(bool(x)) for x in array.reshape(-1)]  # packed, eight in a byte would be taken for one that is repeated
        return ir.DenseElementsAttr.get(truths, ir.RankedTensorType.get(v.shape, ir.IntegerType.get_signless(1)))
    return ir.DenseElementsAttr.get(array, signless=v.element.kind != "u")


def in_child(function, argument):
    """What a child process gives, or None where it fails."""
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(out)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            with os.fdopen(into, "wb") as file:
                pickle.dump(function(argument), file)
        finally:
            os._exit(0)
    os.close(into)
    with os.fdopen(out, "rb") as file:
        answer = file.read()
    os.waitpid(child, 0)
    return pickle.loads(answer) if answer else None


def alone(op):
    """An operation as a program, one at a time: the interpreter lets some write into values that others still use."""
    arguments = list(dict.fromkeys(op.operands))
    return Program(arguments, [op], op.results)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100, help="programs")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    compared, bad, skipped = collections.Counter(), 0, collections.Counter()
    for number in range(options.count):
        program, _ = generate(options.seed, number)
        for op in program.ops:
            if op.name in ("stablehlo.constant", "stablehlo.while", "stablehlo.case") or not all(v.exact for v in op.operands + op.results):
                continue
            answer = in_child(interpreted, alone(op))
            if answer is None:  # not an operation of the interpreter's, or a mistake in it that ends the process
                skipped[op.name] += 1
                continue
            compared[op.name] += 1
            for value, got in zip(op.results, answer):
                if got is not None and not np.array_equal(got.astype(value.data.dtype), value.data):
                    print(f"--seed={options.seed} --only={number}: {Printer(alone(op)).text()}")
                    bad += 1
    print(f"{sum(compared.values())} operations of {len(compared)} kinds, {bad} bad; not interpreted: {dict(skipped)}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
