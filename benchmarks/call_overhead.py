"""What a call of a small function costs beside the same one of jax.jit, on one device. Prints microseconds and ratios.

  call_overhead.py [--calls=N]

call: until the function returns. step: until its results are there, one call after the other. Arguments are the results of the
call before, 2 and 10 leaves of a dictionary. The figures are the fastest of blocks that take turns.
"""
import argparse
import time

import jax
import numpy as np
import tessera


def per_call(function, state, calls, wait):
    start = time.perf_counter()
    for _ in range(calls):
        state = function(state)
        if wait:
            next(iter(state.values())).block_until_ready()
    seconds = time.perf_counter() - start
    jax.tree.map(lambda x: x.block_until_ready(), state)
    return seconds / calls * 1e6


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--blocks", type=int, default=25)
    options = parser.parse_args()
    print(f"{'leaves':8}{'':6}{'Tessera':>10}{'JAX':>10}{'ratio':>8}")
    for leaves in (2, 10):
        start = {f"x{i}": np.float32(i) for i in range(leaves)}
        def grow(state):
            return jax.tree.map(lambda x: x + 1, state)
        functions = {"tessera": tessera.jit(grow), "jax": jax.jit(grow)}
        states = {name: function(function(start)) for name, function in functions.items()}
        for wait, label in ((False, "call"), (True, "step")):
            best = {name: min(per_call(function, states[name], options.calls, wait) for _ in range(options.blocks))
                    for name, function in functions.items()}
            print(f"{leaves:<8}{label:6}{best['tessera']:10.1f}{best['jax']:10.1f}{best['tessera'] / best['jax']:8.2f}")


if __name__ == "__main__":
    main()
