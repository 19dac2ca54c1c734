"""Holds the evaluation of random programs against StableHLO's interpreter, once: reference.py [--count=N] [--seed=S]"""
import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import numpy as np
from jaxlib.mlir import ir
from jax._src.interpreters.mlir import make_ir_context
from jaxlib.mlir.dialects import stablehlo

from generate.generate import generate
from generate.program import Printer


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
        return ir.DenseElementsAttr.get(np.packbits(array, bitorder="little"), shape=v.shape, type=ir.IntegerType.get_signless(1))
    return ir.DenseElementsAttr.get(array, signless=v.element.kind != "u")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    bad = compared = skipped = 0
    for number in range(options.count):
        program, _ = generate(options.seed, number)
        if not program.results:
            continue
        try:
            found = interpreted(program)
        except ValueError:  # an op that the interpreter does not have
            skipped += 1
            continue
        for i, (value, got) in enumerate(zip(program.results, found)):
            if got is None or not value.exact:
                continue
            compared += 1
            if got.shape != value.shape or not np.array_equal(got.astype(value.data.dtype), value.data):
                print(f"--seed={options.seed} --only={number}: out{i} {value.type}: {got.flat[:5]}, not {value.data.flat[:5]}")
                bad += 1
    print(f"{compared} values, {bad} bad, {skipped} programs that the interpreter refuses")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
