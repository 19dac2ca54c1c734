"""Random attention, forward and backward, is as near to float64 as JAX's, and its scores are in no array where docs/limits.md says so.

  random_attention.py [--count=N] [--seed=S] [--jobs=N] [--only=K] [--show] [--seconds=S]

The K-th form of seed S is the same everywhere (generate/attention.py); --show prints what it is. Some are on several devices, with one dimension of
their queries sharded. Prints each that is refused, crashes, has a wrong number or figure, or leaves a product outside of attention's
kernels though the documented form promises otherwise; exits with 1 when there was one.
"""
import collections
import dataclasses
import functools
import os
import re
import sys
import warnings

sys.dont_write_bytecode = True
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

import numbered
from generate import attention, check

sys.path.append(str(numbered.ROOT / "test" / "numerics"))
from command_line import TARGET_CPU  # of $TESSERA_TARGET_CPU


def module_text(form, arrays):
    """Exported on a mesh of one device, whose axes then get their sizes."""
    function = attention.function(form)
    given = {name: array for name, (array, _) in arrays.items()}
    if not form.axes:
        return jax.jit(function, keep_unused=True).lower(given).as_text()
    mesh = jax.make_mesh((1,) * len(form.axes), tuple(form.axes), axis_types=(AxisType.Auto,) * len(form.axes), devices=jax.devices()[:1])
    place = lambda dims: NamedSharding(mesh, P(*(dim if dim in form.axes else None for dim in dims)))
    shardings = {name: place(dims) for name, (_, dims) in arrays.items()}
    text = jax.jit(function, keep_unused=True, in_shardings=(shardings,)).lower(given).as_text()
    for axis, size in form.axes.items():
        text = text.replace(f'"{axis}"=1', f'"{axis}"={size}')
    return re.sub(r"mhlo.num_partitions = \d+", f"mhlo.num_partitions = {np.prod(list(form.axes.values()))}", text)


def widened(array):
    return array.astype(jnp.float64) if jnp.issubdtype(array.dtype, jnp.floating) else array


def as_numpy(array):
    return np.asarray(array.astype(jnp.float32) if array.dtype == jnp.bfloat16 else array)


def as_computed_by_jax(function, given):
    """None where XLA has no product of these types on a CPU."""
    try:
        return [np.asarray(out, np.float64) for out in jax.jit(function)(given)]
    except jax.errors.JaxRuntimeError:
        return None


@functools.lru_cache(maxsize=100)
def case(seed, number):
    """(form, text, inputs, results in float64, how far JAX's are from them); the same arrays for all who ask."""
    form, rng = attention.make(seed, number)
    arrays = attention.arrays(form, rng)
    given = {name: array for name, (array, _) in arrays.items()}
    function = attention.function(form)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        text = module_text(form, arrays)
        near = as_computed_by_jax(function, given) or as_computed_by_jax(attention.function(dataclasses.replace(form, widens=True)), given)
        with jax.enable_x64(True):
            exact = [np.asarray(out) for out in jax.jit(function)({name: widened(array) for name, array in given.items()})]
    distances = [float(np.nanmax(np.abs(x - y), initial=0)) for x, y in zip(near or exact, exact)]
    return form, text, [as_numpy(leaf) for leaf in jax.tree.leaves(given)], exact, distances


def difference(form, got, exact, distance):
    """None, or how a result differs."""
    if not np.array_equal(np.isnan(got), np.isnan(exact)):
        return f"NaN in {np.isnan(got).sum()} places, not {np.isnan(exact).sum()}"
    size = float(np.nanmax(np.abs(exact), initial=0))
    allowed = max(4 * distance, (2e-6 if form.kind == "f32" else 1e-2) * size) + 1e-30
    wrong = ~(np.abs(got - exact) <= allowed) & ~np.isnan(exact)
    if not wrong.any():
        return None
    where = tuple(int(i[0]) for i in np.nonzero(wrong))
    return f"{wrong.sum()} of {wrong.size} elements, first at {list(where)}: {got[where]:.6g}, not {exact[where]:.6g} (bound {allowed:.2g}, JAX {distance:.2g})"


def lonely_products(printed):
    """How many products are in kernels that have no other one."""
    counts = [kernel.split("exec.yield")[0].count("stablehlo.dot_general") for kernel in printed.split("exec.fused(")[1:]]
    assert max(counts, default=0), "no product is in a kernel"
    return counts.count(1)


class Worker:
    def __init__(self, options, scratch):
        self.options = options
        self.checker = check.Checker(numbered.BIN / "tessera-fuzz", scratch, options.limit, target_cpu=TARGET_CPU)
        self.counts = collections.Counter()

    def number(self, number):
        if self.options.show:
            print(attention.make(self.options.seed, number)[0])
            return
        wrong = self.wrong_with(*case(self.options.seed, number))
        self.counts["programs"] += 1
        if wrong:
            self.counts["bad"] += 1
            print(f"--seed={self.options.seed} --only={number}: {wrong}", flush=True)

    def wrong_with(self, form, text, inputs, exact, distances):
        path = self.checker.path
        path("p.mlir").write_text(text)
        check.write_npz(path("in.npz"), {f"in{i}": array for i, array in enumerate(inputs)})
        if wrong := self.checker.compile("p.mlir", "p", True) or self.checker.command(self.checker.engine, "run", "run", "p.tsr", "--inputs=in.npz", "--outputs=out.npz", "--report=r.json"):
            return wrong
        got = check.read_npz(path("out.npz"))
        for i, (want, distance) in enumerate(zip(exact, distances)):
            if wrong := difference(form, got[f"out{i}"].astype(np.float64), want, distance):
                return f"wrong: {('result', 'gradient of queries', 'gradient of keys', 'gradient of values')[i]}: {wrong}"
        if form.is_promised():
            self.counts["promised"] += 1
            if wrong := self.checker.compile_to("fuse", "p.mlir", "fused.mlir"):
                return wrong
            if lonely := lonely_products(path("fused.mlir").read_text()):
                return f"formed: {lonely} products are kernels of their own"
        return check.figures_differ(self.checker.report("p"), self.checker.report("r"))

    def close(self):
        self.checker.close()


def parse(arguments=None):
    return numbered.parser(__doc__, count=100, limit=30).parse_args(arguments)


def main():
    options = parse()
    counts, seconds = numbered.run(Worker, options)
    print(f"seed {options.seed}: {counts['programs']} programs, {counts['promised']} promised to be kernels, {counts['bad']} bad, {seconds:.0f} s")
    return 1 if counts["bad"] else 0


if __name__ == "__main__":
    sys.exit(main())
