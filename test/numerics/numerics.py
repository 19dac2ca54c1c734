"""Tessera against JAX, number by number.

  numerics.py models [NAME..]          the programs of models/, each on several meshes, uneven ones among them
  numerics.py ops [NAME..]             single ops, sharded in each of their dimensions
  numerics.py bits [NAME..]            the same bits from each run, on one worker and on two, and from processes over MPI
  numerics.py types [NAME..]           every element type against numpy and ml_dtypes: conversions, bitcasts, arithmetic, other ops
  numerics.py accuracy [f32] [f64]      elementary and special functions against exact values
  numerics.py rounding [NAME..]        chains of operations that are rounded correctly, against exact arithmetic
  numerics.py integers [NAME..]        products of integer matrices, exact in every layout
  numerics.py fusion [NAME..]          the same bits from a program and from each of its operations alone
  numerics.py steps [NAME..]           training steps with Adam on uneven meshes: no farther from float64 than JAX
  numerics.py random [--seed=N] [--count=N]
                                       random programs with random shardings; a failure prints its seed
Options: --shard=I/N takes every N-th case from the I-th on. command_line.py tells which binaries, and which processor the programs are for.
"""
import argparse
import sys
import time

import accuracy
import bits
import columns_apart
import element_types
import fusion
import harness
import integer_products
import models
import ops
import optimizer_steps
import permutations
import pieces
import random_programs
import rounding
import rows_behind
import sums
import thin_products
import typed_ops
from command_line import NOT_YET


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=("models", "ops", "bits", "types", "accuracy", "rounding", "integers", "fusion", "steps", "random"))
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=24)
    parser.add_argument("--shard", default="0/1")
    arguments = parser.parse_args()

    cases = {"models": models.cases, "ops": ops.cases, "bits": bits.cases, "accuracy": accuracy.cases, "rounding": rounding.cases, "fusion": fusion.cases,
             "integers": integer_products.cases, "steps": optimizer_steps.cases,
             "types": lambda: element_types.cases() + typed_ops.cases() + permutations.cases() + sums.cases() + thin_products.cases() + columns_apart.cases() + pieces.cases() + rows_behind.cases(),
             "random": lambda: random_programs.cases(arguments.seed, arguments.count)}[arguments.kind]()
    if arguments.names:
        cases = [case for case in cases if case.name in arguments.names]
    first, every = map(int, arguments.shard.split("/"))
    cases = cases[first::every]

    failed = ran = refused = 0
    for case in cases:
        start = time.time()
        for sizes, wrong in {"bits": bits.check, "types": element_types.check, "accuracy": accuracy.check,
                            "rounding": rounding.check, "integers": integer_products.check, "fusion": fusion.check, "steps": optimizer_steps.check}.get(arguments.kind, harness.check)(case):
            mesh = sizes if isinstance(sizes, str) else "x".join(f"{axis}{size}" for axis, size in sizes.items())
            if wrong and NOT_YET in wrong:
                refused += 1
                continue
            ran += 1
            failed += wrong is not None
            print(f"{'FAIL' if wrong else 'ok  '} {case.name:32s} {mesh:16s} {wrong or ''}", flush=True)
        print(f"     {case.name}: {time.time() - start:.1f} s", flush=True)
    print(f"{ran - failed} of {ran} as they should be" + (f"; {refused} refused {NOT_YET}" if refused else ""))
    sys.exit(1 if failed or not ran else 0)


if __name__ == "__main__":
    main()
