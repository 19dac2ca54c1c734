"""Products that travel around a ring: the numbers beside float64, as near as the same program without rings on one device; and that
there is a ring where one is expected, that sends no byte more, in as many transfers as the compiler says.

  ring_products.py [NAME..] [--count=N] [--seed=S]    the cases below, or those named, and N random ones
"""
import argparse
import json
import os
import sys
import tempfile

os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=8"
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import PartitionSpec as P

from command_line import tessera
from rows_across_shards import annotated

# Products and links take about as long, and nothing else counts.
SLOW = {"name": "slow", "alpha": 1e-9, "beta": 1e5, "flops": 5e5, "memory": 1e12}
MESHES = {"1": {"x": 1}, "2": {"x": 2}, "3": {"x": 3}, "4": {"x": 4}, "8": {"x": 8}, "2x4": {"y": 2, "x": 4}, "4x2": {"x": 4, "y": 2}}


class Mesh:
    """What `annotated` asks of a mesh."""

    def __init__(self, shape):
        self.shape = shape


class Case:
    """A function of float32 or bf16 arrays of these shapes, with their shardings and its result's; `rings`: how many are expected."""

    def __init__(self, name, function, shapes, specs, outs, rings=1, dtype=jnp.float32):
        self.name, self.function, self.shapes, self.specs, self.outs, self.rings, self.dtype = name, function, shapes, specs, outs, rings, dtype


def gelu(x):
    return 0.5 * x * (1 + jnp.tanh(0.8 * (x + 0.045 * x * x * x)))


def mlp(x, w, v):
    return gelu(x @ w) @ v


def grads(x, w, v):
    loss = lambda x, w, v: jnp.sum(jnp.square(mlp(x, w, v)).astype(jnp.float32))
    return jax.grad(loss, (0, 1, 2))(x, w, v)


def qkv(x, a, b, c):
    return (x @ a) * (x @ b) + jnp.tanh(x @ c)


def cases():
    X, N = "x", None
    for n in (24, 29):  # 29 rows on 4 devices: 8 8 8 5
        rows = lambda name, *more, **kinds: Case(f"{name}_{n}", *more, **kinds)
        yield rows("gather_rows", lambda x, w: x @ w, [(n, 16), (16, 24)], [P(X, N), P(N, X)], [P(N, X)])
        yield rows("gather_right", lambda w, x: w @ x.T, [(24, 16), (n, 16)], [P(X, N), P(X, N)], [P(X, N)])
        yield rows("gather_contracted", lambda x, w: x @ w, [(16, n), (n, 24)], [P(X, N), P(X, N)], [P(X, N)])
        yield rows("gather_batch", lambda x, w: jnp.einsum("bik,bkj->bij", x, w), [(n, 1, 6), (n, 6, 64)], [P(X, N, N), P(N, N, X)], [P(N, N, X)])
        yield rows("scatter_rows", lambda h, v: h @ v, [(n, 16), (16, 24)], [P(N, X), P(X, N)], [P(X, N)])
        yield rows("scatter_columns", lambda h, v: h @ v, [(24, 16), (16, n)], [P(N, X), P(X, N)], [P(N, X)])
        yield rows("scatter_batch", lambda x, w: jnp.einsum("bik,bkj->bij", x, w), [(n, 5, 64), (n, 64, 4)], [P(N, N, X), P(N, X, N)], [P(X, N, N)])
        yield rows("two_sums_scattered", lambda h, v, g, u: h @ v + g @ u, [(n, 16), (16, 24), (n, 8), (8, 24)],
                   [P(N, X), P(X, N)] * 2, [P(X, N)])
        yield rows("mlp", mlp, [(n, 16), (16, 96), (96, 16)], [P(X, N), P(N, X), P(X, N)], [P(X, N)], rings=2)
        yield rows("qkv", qkv, [(n, 16)] + [(16, 24)] * 3, [P(X, N)] + [P(N, X)] * 3, [P(N, X)])
        yield rows("gradients", grads, [(n, 16), (16, 96), (96, 16)], [P(X, N), P(N, X), P(X, N)], [P(X, N), P(N, X), P(X, N)])
        yield rows("bf16_gather_contracted", lambda x, w: x @ w, [(64, n), (n, 24)], [P(X, N), P(X, N)], [P(X, N)], dtype=jnp.bfloat16)
        yield rows("bf16_mlp", mlp, [(n, 16), (16, 96), (96, 16)], [P(X, N), P(N, X), P(X, N)], [P(X, N)], dtype=jnp.bfloat16)
        yield rows("scatter_parts", lambda h, v: h @ v, [(n, 16), (16, 256)], [P(N, X), P(X, N)], [P(X, N)])
        yield rows("two_parts_beside", lambda h, v, a, b: (h @ v, a @ b), [(n, 32), (32, 128), (n, 16), (16, 128)],
                   [P(N, X), P(X, N), P(), P(N, X)], [P(X, N), P(N, X)], rings=0)
        yield rows("bf16_scatter_rows", lambda h, v: h @ v, [(n, 16), (16, 256)], [P(N, X), P(X, N)], [P(X, N)], dtype=jnp.bfloat16)
        yield rows("scores", lambda q, k: jnp.einsum("sd,td->st", q, k), [(n, 16), (n, 16)], [P(X, N), P(X, N)], [P(X, N)])
        yield rows("experts", lambda x, w: jnp.einsum("ecd,edf->ecf", x, w), [(3, n, 16), (3, 16, 64)], [P(N, X, N), P(N, N, X)], [P(N, N, X)])


def random_case(rng, i):
    """An einsum of two arrays of three dimensions at most, any of which lies on x."""
    while True:
        letters = {"b": int(rng.integers(1, 7)), "i": int(rng.integers(1, 40)), "k": int(rng.integers(1, 40)), "j": int(rng.integers(1, 40))}
        batch = rng.random() < 0.4
        a, c, out = (["b", "i", "k"], ["b", "k", "j"], ["b", "i", "j"]) if batch else (["i", "k"], ["k", "j"], ["i", "j"])
        a, c = [str(l) for l in rng.permutation(a)], [str(l) for l in rng.permutation(c)]
        spec = lambda names: P(*["x" if l == on else None for l in names]) if (on := rng.choice(names + ["-"])) != "-" else P()
        specs = [spec(a), spec(c)]
        if specs != [P(), P()]:
            break
    text = f"{''.join(a)},{''.join(c)}->{''.join(out)}"
    name = f"random_{i}_{text}_{'_'.join(str(n) for n in letters.values())}"
    sizes = lambda names: tuple(letters[l] for l in names)
    return Case(name, lambda x, w: jnp.einsum(text, x, w), [sizes(a), sizes(c)], specs, [spec(out)], rings=None,
                dtype=jnp.bfloat16 if rng.random() < 0.3 else jnp.float32)


def run(case, axes, arrays, directory, *more):
    path = lambda name: os.path.join(directory, name)
    arguments = [jax.ShapeDtypeStruct(s, case.dtype) for s in case.shapes]
    place = lambda spec: P(*[d if d in axes else None for d in spec])
    with open(path("p.mlir"), "w") as f:
        text = jax.jit(case.function, keep_unused=True).lower(*arguments).as_text()
        f.write(annotated(text, Mesh(axes), [place(s) for s in [*case.specs, *case.outs]]))
    np.savez(path("in.npz"), **{f"in{i}": np.asarray(a, np.float32) for i, a in enumerate(arrays)})
    for command in (["compile", path("p.mlir"), "-o", path("p.tsr"), f"--report={path('c.json')}", f"--topology={path('slow.json')}", *more],
                    ["run", path("p.tsr"), f"--inputs={path('in.npz')}", f"--outputs={path('out.npz')}", f"--report={path('r.json')}"]):
        done = tessera(*command)
        if done.returncode:
            raise RuntimeError(done.stderr[-600:])
    load = lambda name: json.load(open(path(name)))
    with np.load(path("out.npz")) as found:
        return [found[f"out{i}"] for i in range(len(found.files))], load("c.json"), load("r.json")


def distance(got, exact):
    return np.sqrt(sum(np.sum((np.float64(g) - e) ** 2) for g, e in zip(got, exact)) / max(1e-30, sum(np.sum(e ** 2) for e in exact)))


def check(case, mesh, directory, seed, directions):
    """What is wrong, and a line of figures, on links that carry this many directions."""
    with open(os.path.join(directory, "slow.json"), "w") as f:
        json.dump(SLOW | {"directions": directions, "beta": SLOW["beta"] / directions}, f)
    axes = MESHES[mesh]
    rng = np.random.default_rng([seed, len(case.name)])
    arrays = [jnp.asarray(rng.uniform(-1, 1, s), case.dtype) for s in case.shapes]
    with jax.enable_x64(True):
        exact = case.function(*[np.asarray(a, np.float64) for a in arrays])
    exact = [np.asarray(e) for e in (exact if isinstance(exact, tuple) else (exact,))]
    got, compiled, counted = run(case, axes, arrays, directory, "--overlap=on")
    plain, without, _ = run(case, axes, arrays, directory, "--overlap=off")
    alone, _, _ = run(case, {"x": 1}, arrays, directory)
    wrong = []
    far, near = distance(got, exact), max(distance(plain, exact), distance(alone, exact))
    unit = 2.0 ** -8 if case.dtype == jnp.bfloat16 else 2.0 ** -24
    if not far <= 1.5 * near + unit / 4:
        wrong.append(f"{far} from float64; without rings {near}")
    collectives = compiled["collectives"]
    # Sums that are scattered part by part, as those of bf16 are, have no other order than at once; two parts are no loop.
    scattered = sum(c["kind"] == "reduce-scatter" for c in collectives)
    rings = sum(c["kind"] == "permute" and c["trips"] == axes["x"] - 1 or c["kind"] == "reduce-scatter" and c["trips"] > 1 for c in collectives)
    rings += scattered > sum(c["kind"] == "reduce-scatter" for c in without["collectives"]) and not rings
    if all(c["kind"] != "permute" for c in collectives) and any(g.tobytes() != p.tobytes() for g, p in zip(got, plain)):
        wrong.append("other bits than without loops")
    if case.rings and axes["x"] > 1 and rings < case.rings:
        wrong.append(f"{rings} rings, not {case.rings}")
    wire = lambda report: sum(c["wire_bytes"] for c in report["collectives"])
    if wire(compiled) > wire(without):
        wrong.append(f"sends {wire(compiled)} bytes, without rings {wire(without)}")
    for figure in ("count", "bytes"):
        said, was = sum(c[figure] for c in collectives), counted["collectives"][figure]
        if said != was:
            wrong.append(f"{figure}: {said} said, {was} counted")
    return wrong, f"{case.name:44s} on {mesh:4s} {rings} rings, {far:.1e} from f64, without {near:.1e}, arena {compiled['memory']['arena']} for {without['memory']['arena']}"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("names", nargs="*")
    p.add_argument("--count", type=int, default=0)
    p.add_argument("--seed", type=int, default=0)
    a = p.parse_args()
    jax.config.update("jax_use_shardy_partitioner", True)
    rng = np.random.default_rng(a.seed)
    chosen = [(c, m) for c in cases() for m in MESHES if not a.names or any(c.name.startswith(n) for n in a.names)]
    if not a.names:  # every case on one mesh, uneven ones on the next
        meshes = [m for m in MESHES if m != "1"]
        chosen = [(c, meshes[i % len(meshes)]) for i, c in enumerate(cases())] + [(next(cases()), "1")]
    chosen += [(random_case(rng, i), str(rng.choice([m for m in MESHES if m != "1"]))) for i in range(a.count)]
    failed = 0
    with tempfile.TemporaryDirectory() as directory:
        for i, (case, mesh) in enumerate(chosen):
            try:
                wrong, figures = check(case, mesh, directory, a.seed, 1 + i // 2 % 2)
            except RuntimeError as error:
                wrong, figures = [str(error)], f"{case.name} on {mesh}"
            print(figures if not wrong else f"{figures}\n  FAILED (seed {a.seed}): {'; '.join(wrong)}", flush=True)
            failed += bool(wrong)
    print(f"{len(chosen) - failed} of {len(chosen)} passed")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
