"""Ops whose rows cross the boundaries of shards, on eight devices or as many as a case says: the numbers beside those of one device or of f64,
and the wire bytes beside XLA's for the same shardings and beside the least there can be (docs/rationale/rows-across-shards.md derives it).

  rows_across_shards.py [NAME..]
Each runs twice: with the default topology, and with links that cost bytes only.
"""
import argparse
import contextlib
import json
import os
import re
import sys
import tempfile

os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=16"
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

from command_line import tessera

WIDTHS = {"pred": 1, "s8": 1, "u8": 1, "bf16": 2, "f16": 2, "s32": 4, "u32": 4, "f32": 4, "s64": 8, "f64": 8, "c64": 8, "c128": 16}
X, XY = P("x"), P(("x", "y"))


def rng_array(shape, dtype=np.float32):
    x = np.random.default_rng(list(shape)).uniform(0.5, 1.5, shape)
    return x.astype(dtype) if dtype != np.complex64 else (x + 1j * x[::-1]).astype(dtype)


class Case:
    """`least`: wire bytes that no program can do without; `within`: how many times that many are sent where only bytes cost.
    `exact`: the result of f64 inputs, from which ours is `distance` away at most, root mean square; else XLA's on one device is."""

    def __init__(self, name, function, inputs, specs, out, least=None, within=None, exact=None, devices=8, distance=1e-6):
        self.name, self.function, self.inputs, self.specs, self.out = name, function, inputs, specs, out
        self.least, self.within, self.exact, self.devices, self.distance = least, within, exact, devices, distance


def cases():
    # An element in each step, the first sum after log2 p of them, the others one by one: as many as there are totals, and log2 p - 1.
    least = lambda totals, devices: 4 * (totals - 1 + (devices - 1).bit_length())
    for rows, columns in ((1024, 1024), (1001, 960), (4096, 1), (29, 3)):
        x = rng_array((rows, columns))
        for name, f in (("cumsum", lambda x: jnp.cumsum(x, 0)), ("cummax_reversed", lambda x: lax.cummax(x, 0, reverse=True)),
                        ("cumlogsumexp", lambda x: lax.cumlogsumexp(x, 0))):
            for axes in (X, XY):
                yield Case(f"{name}_{rows}x{columns}_{len(axes[0])}", f, [x], [axes], axes, least(columns, 8), {1: 1, 3: 1.8}.get(columns, 1.1))
    # A start that counts is taken for each place of a window outside of the array, too.
    for name, f, exact, start in (("sum", lax.add, np.cumsum, 0.7), ("product", lax.mul, np.cumprod, 0.999)):
        for rows, columns in ((1001, 960), (29, 3)):
            for devices in (6, 16) if rows > 29 else (2, 8):
                x, times = rng_array((rows, columns)) ** (0.02 if name == "product" else 1), rows - np.arange(rows)[:, None]
                f64 = lambda x, s, exact=exact, times=times: exact(x, 0) + times * s if exact is np.cumsum else exact(x, 0) * s ** times
                yield Case(f"start_of_{name}_{rows}x{columns}_on_{devices}",
                           lambda x, s, f=f, rows=rows: lax.reduce_window(x, s, f, (rows, 1), (1, 1), ((rows - 1, 0), (0, 0))),
                           [x, np.float32(start)], [X, P()], X, least(columns, devices), 1.8 if columns == 3 else 1.1, f64, devices, 1e-6 if name == "sum" else 1e-5)
    # Windows of several rows that indices name: each of their rows is where it is, alone or summed.
    at = np.array([0, 123, 124, 125, 126, 127, 128, 300, 1019], np.int32)
    windows = lambda x, at: jax.vmap(lambda i: lax.dynamic_slice(x, (i, 0), (5, 96)))(at)
    yield Case("gather_windows", windows, [x := rng_array((1024, 96)), at], [X, P()], P(), 9 * 5 * 96 * 4, 1.75)
    yield Case("gather_windows_split", windows, [x, at], [X, P()], P("x"), 2 * 5 * 96 * 4, 8)
    numbers = lax.ScatterDimensionNumbers((1, 2), (), (0,))
    for name, f in (("set", lax.scatter), ("add", lax.scatter_add)):
        there = at[[0, 2, 7, 8]] if name == "set" else at  # of windows that overlap, XLA's order is its own
        yield Case(f"scatter_windows_{name}", lambda x, at, u, f=f: f(x, at[:, None], u, numbers), [x, there, rng_array((len(there), 5, 96))],
                   [X, P(), P()], X, 1, 0)
    # Whoever lacks a row has to receive it; a sum of what each has sends it twice, but for one part.
    x = rng_array((1024, 96))
    for rows in (1, 8, 100):
        f = lambda x, i: lax.dynamic_slice(x, (i, 0), (rows, 96))
        for i in (0, 200, 1023):
            yield Case(f"dynamic_slice_{rows}_at_{i}", f, [x, np.int32(i)], [X, P()], P(), rows * 96 * 4, 1.75)
        yield Case(f"dynamic_slice_{rows}_split", f, [x, np.int32(100)], [XY, P()], P(None, "x"), rows * 96 * 4, 1.75)
    update = lambda x, u, i: lax.dynamic_update_slice(x, u, (i, 4))
    yield Case("dynamic_update_slice", update, [x, x[:100, :50] + 1, np.int32(300)], [P("x", "y"), P(), P()], P("x", "y"), 1, 0)
    # Each element goes to another shard three times in the four steps of a complex transform, twice where another dimension can take the
    # axes; a real one has half the elements, and brings them together with their mirror images.
    z, r = rng_array((4096,), np.complex64), rng_array((8192,))
    for axes in (X, XY):
        for name, f in (("fft", jnp.fft.fft), ("ifft", jnp.fft.ifft)):
            yield Case(f"{name}_4096_{len(axes[0])}", f, [z], [axes], axes, 8 * 512 * 7 / 8, 3)
        yield Case(f"rfft_8192_{len(axes[0])}", jnp.fft.rfft, [r], [axes], axes, 4 * 1024 * 7 / 8, 4.2)
        yield Case(f"irfft_8192_{len(axes[0])}", lambda z: jnp.fft.irfft(z, 8192), [rng_array((4097,), np.complex64)], [axes], axes, 4 * 1024 * 7 / 8, 4.3)
    yield Case("fft_batch", jnp.fft.fft, [rng_array((16, 1024), np.complex64)], [P(None, "x")], P(None, "x"), 8 * 2048 * 7 / 8, 2)
    yield Case("fft_small_batch", jnp.fft.fft, [rng_array((3, 1024), np.complex64)], [P(None, "x")], P(None, "x"), 8 * 384 * 7 / 8, 3)
    # What p does not divide: p * p, p itself, an odd number of reals; a prime number is gathered.
    for devices, n in ((2, 90), (3, 99), (4, 72), (6, 1200), (8, 1000), (8, 2025), (8, 101), (16, 1488), (16, 3375)):
        z, r = rng_array((n,), np.complex64), rng_array((n,))
        for name, x in (("fft", z), ("ifft", z), ("rfft", r), ("irfft", z[:n // 2 + 1])):
            if name in ("fft", "rfft") or n in (1200, 2025):
                more = {"n": n} if name == "irfft" else {}
                yield Case(f"uneven_{name}_{n}_on_{devices}", lambda x, name=name, more=more: getattr(jnp.fft, name)(x, **more), [x], [X], X,
                           exact=lambda x, name=name, more=more: getattr(np.fft, name)(x, **more), devices=devices)
    image = rng_array((64, 128))
    yield Case("fft2", jnp.fft.fft2, [image.astype(np.complex64)], [X], X, 8 * 1024 * 7 / 8, 2)
    yield Case("fft2_transposed", jnp.fft.fft2, [image.astype(np.complex64)], [X], P(None, "x"), 8 * 1024 * 7 / 8, 1)
    yield Case("rfft2", jnp.fft.rfft2, [image], [X], X)
    yield Case("irfft2", jnp.fft.irfft2, [image[:, :65].astype(np.complex64)], [X], X)
    yield Case("fftn", jnp.fft.fftn, [rng_array((16, 8, 32), np.complex64)], [P("x", "y")], P("x", "y"))
    rng = np.random.default_rng(0)
    for i in range(24):
        n, m = int(rng.choice([64, 128, 100, 9, 98, 192])), int(rng.integers(1, 12))
        two, lie = rng.random() < 0.5, [[P("x", "y"), P(None, "x"), XY, P(None, ("y", "x")), P("y"), P()][k] for k in rng.integers(0, 6, 2)]
        name, x = [("fft", rng_array((m, n), np.complex64)), ("ifft", rng_array((m, n), np.complex64)), ("rfft", rng_array((m, n))),
                   ("irfft", rng_array((m, n // 2 + 1), np.complex64))][rng.integers(4)]
        f = getattr(jnp.fft, name + "2" * two)
        yield Case(f"random_{i}_{name}{'2' * two}_{m}x{n}", f if two or name != "irfft" else (lambda x, n=n: jnp.fft.irfft(x, n)), [x], [lie[0]], lie[1])


def xla_wire_bytes(text):
    sent = 0
    for line in text.splitlines():
        m = re.match(r"\s*(?:ROOT )?%?[\w.-]+ = (.*?) (all-gather|all-reduce|reduce-scatter|all-to-all|collective-permute)(?:-start)?\(", line)
        if not m:
            continue
        size = sum(WIDTHS[t] * int(np.prod([int(n) for n in dims.split(",") if n] or [1])) for t, dims in re.findall(r"(\w+)\[([\d,]*)\]", m[1]))
        sizes = {n: int(k) for n, k in re.findall(r"'(\w+)'=(\d+)", line)}
        axes, tables = re.search(r"replica_groups=mesh\[[^\]]*\](?:, device_ids=\(.*?\)\))? \{(.*?)\}", line), re.search(r"replica_groups=(?:\{\{([\d,]+)\}|\[\d+,(\d+)\])", line)
        if axes:
            g = int(np.prod([int(part or sizes[n]) for n, part in re.findall(r"'(\w+)'(?::\(\d+\)(\d+))?", axes[1])]))
        elif tables:
            g = len(tables[1].split(",")) if tables[1] else int(tables[2])
        elif m[2] != "collective-permute":
            raise RuntimeError(f"groups of {line}")
        share = {"all-gather": lambda: (g - 1) / g, "all-reduce": lambda: 2 * (g - 1) / g, "reduce-scatter": lambda: g - 1,
                 "all-to-all": lambda: (g - 1) / g, "collective-permute": lambda: 1}
        sent += share[m[2]]() * size
    return sent


def annotated(text, mesh, specs):
    """The program with these shardings of @main's arguments and its results."""
    head = re.search(r"@main\((.*?)\) -> \((.*?)\) \{\n", text)
    text_of = lambda spec, rank: "[" + ", ".join(
        "{" + ", ".join(f'"{a}"' for a in ([d] if isinstance(d, str) else d or ())) + "}" for d in [*spec] + [None] * (rank - len(spec))) + "]"
    types = re.findall(r"tensor<[^<>]*(?:<\w+>)?>", head[1]) + re.findall(r"tensor<[^<>]*(?:<\w+>)?>", head[2])
    written = [f"{t} {{sdy.sharding = #sdy.sharding<@mesh, {text_of(s, len(re.findall(r'[0-9]+x', t)))}>}}" for t, s in zip(types, specs)]
    count = head[1].count("%arg")
    arguments = ", ".join(f"%arg{i}: {t}" for i, t in enumerate(written[:count]))
    text = text.replace(head[0], f"@main({arguments}) -> ({', '.join(written[count:])}) {{\n")
    axes = ", ".join(f'"{name}"={size}' for name, size in mesh.shape.items())
    return re.sub(r"(module [^\n]*\{\n)", lambda m: m[1] + f"  sdy.mesh @mesh = <[{axes}]>\n", text, count=1)


def compile_and_run(text, inputs, topology, directory):
    path = lambda name: os.path.join(directory, name)
    with open(path("p.mlir"), "w") as f:
        f.write(text)
    np.savez(path("in.npz"), **{f"in{i}": x for i, x in enumerate(inputs)})
    for command in (["compile", path("p.mlir"), "-o", path("p.tsr"), f"--report={path('r.json')}", *topology],
                    ["run", path("p.tsr"), f"--inputs={path('in.npz')}", f"--outputs={path('out.npz')}"]):
        done = tessera(*command)
        if done.returncode:
            raise RuntimeError(done.stderr[-600:])
    with open(path("r.json")) as f:
        sent = sum(c["wire_bytes"] for c in json.load(f)["collectives"])
    with np.load(path("out.npz")) as found:
        return [found[f"out{i}"] for i in range(len(found.files))], sent


def check(case, directory):
    """What is wrong, and a line of figures."""
    axes = {"x"} | {a for spec in [*case.specs, case.out] for dim in spec if dim for a in ([dim] if isinstance(dim, str) else dim)}
    shape, names = ((2, case.devices // 2), ("x", "y")) if "y" in axes else ((case.devices,), ("x",))
    mesh = Mesh(np.array(jax.devices()[:case.devices]).reshape(shape), names)

    text = annotated(jax.jit(case.function, keep_unused=True).lower(*case.inputs).as_text(), mesh, [*case.specs, case.out])
    doubled = [x.astype(np.complex128 if x.dtype.kind == "c" else np.float64) if x.dtype.kind in "fc" else x for x in case.inputs]
    want = np.asarray(jax.jit(case.function)(*case.inputs)) if not case.exact else case.exact(*doubled)
    xla = None
    with contextlib.suppress(ValueError):  # it has no arguments and results in uneven shards
        places = [NamedSharding(mesh, s) for s in [*case.specs, case.out]]
        compiled = jax.jit(case.function, in_shardings=tuple(places[:-1]), out_shardings=places[-1], keep_unused=True).lower(*case.inputs).compile()
        xla = xla_wire_bytes(compiled.as_text())
    wrong, figures = [], [f"{case.name:32s} XLA " + ("    uneven" if xla is None else f"{xla:10.0f}")]
    for kind, topology in (("default", []), ("bytes only", [f"--topology={os.path.join(directory, 'bytes.json')}"])):
        (got, *_), sent = compile_and_run(text, case.inputs, topology, directory)
        figures.append(f"{kind} {sent:10.0f}" + (f" ({sent / case.least:.2f} of the least)" if case.least else ""))
        scale = max(1.0, float(np.abs(want).max(initial=0)))
        if case.exact and not np.linalg.norm(got - want) <= case.distance * np.linalg.norm(want):
            wrong.append(f"{np.linalg.norm(got - want) / np.linalg.norm(want)} from f64, root mean square")
        if not np.allclose(got, want, rtol=0, atol=3e-5 * scale if want.dtype.kind in "fc" else 0, equal_nan=True):
            wrong.append(f"numbers differ by {np.abs(got - want).max()}")
        if xla is not None and sent > xla + 1:
            wrong.append(f"sends more than XLA ({kind})")
        if kind == "bytes only" and case.within and sent > case.within * case.least:
            wrong.append(f"sends {sent / case.least:.2f} times the least")
    return wrong, "  ".join(figures)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("names", nargs="*")
    a = p.parse_args()
    jax.config.update("jax_use_shardy_partitioner", True)
    failed = count = 0
    with tempfile.TemporaryDirectory() as directory:
        with open(os.path.join(directory, "bytes.json"), "w") as f:
            json.dump({"name": "bytes", "alpha": 0, "beta": 1e9, "flops": 1e15, "memory": 1e15}, f)
        for case in cases():
            if a.names and not any(case.name.startswith(n) for n in a.names):
                continue
            try:
                wrong, figures = check(case, directory)
            except RuntimeError as e:
                wrong, figures = [str(e)], case.name
            count, failed = count + 1, failed + bool(wrong)
            print("WRONG" if wrong else "right", figures, "; ".join(wrong), flush=True)
    print(f"{failed} wrong of {count}")
    sys.exit(1 if failed or not count else 0)


if __name__ == "__main__":
    main()
