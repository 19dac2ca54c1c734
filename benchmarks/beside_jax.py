"""Scripts of users, run by JAX and by Tessera on eight devices of this machine. Prints ratios and distances.

  beside_jax.py [NAME..] [--steps=N] [--blocks=N]

A script of scripts/ is an ordinary JAX program. Tessera runs it with one line changed: `from jax import jit` becomes
`from tessera import jit` (`from flax.nnx import jit`: `from tessera.nnx import jit`).
speed: steps a second, Tessera's over JAX's, the median of blocks of steps that take turns; the last line is the
geometric mean. JAX, Tessera: the distance of the first results from those in float64, relative to their size.
Fails where a result of Tessera's is further away than twice JAX's, or --slowest is given and a script's speed is below.
Packages that the scripts need beyond those of the tests: pip install -r benchmarks/scripts/requirements.txt
"""
import argparse
import os
import sys
import time
import types
from pathlib import Path

os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=8"
import float64
import jax
import numpy as np

HERE = Path(__file__).parent / "scripts"
CHANGES = {"from jax import jit": "from {} import jit", "from flax.nnx import jit": "from {}.nnx import jit"}
ENOUGH = 1e-6  # a distance below this is as good as none


def steps_of(name, package):
    """The script's generator of results, with its jit from `package` (None: as it is)."""
    text = (HERE / f"{name}.py").read_text()
    changed = 0
    for line, other in CHANGES.items():
        if package and f"\n{line}\n" in text:
            text = text.replace(f"\n{line}\n", f"\n{other.format(package)}\n")
            changed += 1
    assert changed == (package is not None), f"{name}.py imports jit in one line"
    names = {"__name__": name}
    exec(compile(text, str(HERE / f"{name}.py"), "exec"), names)
    return names["steps"]()


def exact_nnx_jit(function):
    from flax import nnx

    wrapped = nnx.jit(function)
    wrapped.jitted_fn = float64.jit(wrapped.jitted_fn)
    return wrapped


def next_of(steps):
    result = next(steps)
    for leaf in jax.tree.leaves(result):
        leaf.block_until_ready()
    return result


def numbers(results):
    """Leaves by step, as one array each."""
    return [np.stack([np.asarray(leaf, np.float64) for leaf in leaves])
            for leaves in zip(*(jax.tree.leaves(result) for result in results))]


def distance(found, truth):
    """The largest root mean square difference of a leaf, relative to the leaf's."""
    def size(x):
        return np.sqrt(np.mean(np.square(x)))
    return max(float(size(f - t) / (size(t) or 1)) for f, t in zip(found, truth))


def measure(name, count, blocks):
    """Distances of JAX and of Tessera, and Tessera's speed as a multiple of JAX's."""
    exact = steps_of(name, "exact")
    truth = numbers([next_of(exact) for _ in range(count)])
    running = {"jax": steps_of(name, None), "tessera": steps_of(name, "tessera")}
    distances = {kind: distance(numbers([next_of(steps) for _ in range(count)]), truth) for kind, steps in running.items()}
    ratios = []
    for _ in range(blocks):
        seconds = {}
        for kind, steps in running.items():
            start = time.perf_counter()
            for _ in range(count):
                next_of(steps)
            seconds[kind] = time.perf_counter() - start
        ratios.append(seconds["jax"] / seconds["tessera"])
    return distances["jax"], distances["tessera"], float(np.median(ratios))


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--blocks", type=int, default=5)
    parser.add_argument("--slowest", type=float, default=0.0)
    options = parser.parse_args()
    sys.modules["exact"], sys.modules["exact.nnx"] = float64, types.SimpleNamespace(jit=exact_nnx_jit)
    names = options.names or sorted(path.stem for path in HERE.glob("*.py"))
    speeds, failed = [], []
    print(f"{'':22}{'JAX':>10}{'Tessera':>10}{'speed':>8}")
    for name in names:
        peer, ours, speed = measure(name, options.steps, options.blocks)
        speeds.append(speed)
        if ours > max(2 * peer, ENOUGH) or speed < options.slowest:
            failed.append(name)
        print(f"{name:22}{peer:10.1e}{ours:10.1e}{speed:8.2f}{'  !' if name in failed else ''}", flush=True)
    print(f"{'geometric mean':42}{np.exp(np.mean(np.log(speeds))):8.2f}")
    sys.exit(f"error: {', '.join(failed)}: see above" if failed else 0)


if __name__ == "__main__":
    main()
