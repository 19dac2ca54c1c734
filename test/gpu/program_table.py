"""The programs that test/gpu compiles for GPUs, by name, and what is asked of each."""
import collections

import jax

jax.config.update("jax_enable_x64", True)

PROGRAMS = {}
Program = collections.namedtuple("Program", "function arguments least donate banks near warpgroups")


def program(*shapes, dtypes="float32", least=None, donate=(), banks=None, near=False, warpgroups=None):
    """`least`: at most so many times the least bytes and sectors may be moved, by all kernels together; `banks`: the same of the turns in which
    banks of shared memory are asked; None: any. `near`: sums have an order of their own. `warpgroups`: the program is for sm_90a too,
    and runs on one; whether its products are those of warpgroups."""
    def add(function):
        kinds = [dtypes] * len(shapes) if isinstance(dtypes, str) else dtypes
        arguments = [jax.ShapeDtypeStruct(s, k) for s, k in zip(shapes, kinds)]
        PROGRAMS[function.__name__] = Program(function, arguments, least, donate, banks, near, warpgroups)
        return function
    return add
