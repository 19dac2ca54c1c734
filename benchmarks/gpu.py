"""Programs on a GPU, beside what it can do: fused kernels and transposes as share of a copy's bandwidth, products as share of the peak
of their type, attention, the overhead of launches, and training steps beside jax.jit and torch.compile where those are installed for
this GPU. It writes the device and what was measured on it, or says that there is none.

  gpu.py [--build=FOLDER] [--steps=30] [--peak=TYPE=TFLOPS,..] [--json=FILE] [--check] [FAMILY..]

Families: copies elementwise rows columns transposes products attention launches training. A kernel's time is the step's of a program
that has this kernel, less that of an empty one; the median of --steps after 5 others. A copy's bandwidth is measured first: y = x + 1
over 256 MiB, bytes read and written; no faster one is assumed. Peaks are those of the machine's topology (docs/topology.md) unless
--peak names them. Nothing else should run on the GPU.

--check: small sizes, one step, results against numpy's: what is left of it on a machine without a GPU, where the stand-in for NVIDIA's
driver (test/gpu/emulator, through LD_LIBRARY_PATH) takes its place. No time is written then.
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

import jax
import jax.numpy as jnp
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
STAND_IN = "emulator"  # as its device is called
WARM_STEPS = 5


class Case:
    """`flops` of 0: measured by the bytes of its arguments and results, each once."""
    def __init__(self, family, name, function, *shapes, dtype="float32", flops=0, kind=None):
        self.family, self.name, self.function, self.flops, self.kind = family, name, function, flops, kind
        self.arguments = [jax.ShapeDtypeStruct(s, d) for s, d in ((s if isinstance(s[0], tuple) else (s, dtype)) for s in shapes)]

    def bytes(self):
        arrays = [*self.arguments, *jax.tree.leaves(jax.eval_shape(self.function, *self.arguments))]
        return sum(int(np.prod(a.shape)) * jnp.dtype(a.dtype).itemsize for a in arrays)


def norm(x):
    centred = x - x.mean(-1, keepdims=True)
    return centred * jax.lax.rsqrt((centred * centred).mean(-1, keepdims=True) + 1e-5)


def attention(causal):
    def attend(q, k, v):
        scores = jnp.einsum("hqd,hkd->hqk", q, k, preferred_element_type=jnp.float32) / np.sqrt(q.shape[-1])
        if causal:
            scores = jnp.where(jnp.tril(jnp.ones(scores.shape[1:], bool)), scores, -jnp.inf)
        return jnp.einsum("hqk,hkd->hqd", jax.nn.softmax(scores).astype(q.dtype), v)
    return attend


def adam(weight, m, v, gradient):
    m, v = 0.9 * m + 0.1 * gradient, 0.999 * v + 0.001 * gradient * gradient
    return weight - 1e-3 * m / (jnp.sqrt(v) + 1e-8), m, v


def chain(x):
    """Kernels that nothing fuses: each needs the sums of all rows of the one before."""
    for _ in range(64):
        x = x + x.sum(axis=0) * 1e-6
    return x


def train(weights, x, y):
    """A step of a perceptron with a norm, by gradient descent."""
    def loss(weights):
        h = x
        for w in weights:
            h = jax.nn.gelu(norm(h) @ w) + h
        return jnp.mean((h - y)**2)
    value, gradients = jax.value_and_grad(loss)(weights)
    return value, [w - 1e-3 * g for w, g in zip(weights, gradients)]


def cases(check):
    n, rows = (64, 128) if check else (8192, 32768)
    yield Case("copies", "x + 1", lambda x: x + 1, (rows, 2 * 1024 if not check else 96))
    for kind in ("float32", "bfloat16"):
        yield Case("elementwise", f"gelu(x) * y, {kind}", lambda x, y: jax.nn.gelu(x) * y, (n, n), (n, n), dtype=kind)
    yield Case("elementwise", "Adam", adam, *[(n, n)] * 4)
    for length in (48, 768, 4096, 11000) if not check else (48, 300):
        shape = (rows * 1024 // length if not check else 9, length)
        yield Case("rows", f"softmax of rows of {length}", lambda x: jax.nn.softmax(x, axis=-1), shape)
        yield Case("rows", f"layer norm of rows of {length}, bf16", lambda x: norm(x.astype(jnp.float32)).astype(x.dtype), shape, dtype="bfloat16")
    yield Case("columns", "sums over columns", lambda x: x.sum(0), (n, n))
    yield Case("transposes", "x.T + 1", lambda x: x.T + 1, (n, n))
    size = 96 if check else 8192
    for kind in ("float32", "bfloat16"):
        yield Case("products", f"{size} x {size} x {size}, {kind}", lambda x, w: x @ w, (size, size), (size, size), dtype=kind, flops=2 * size**3, kind=kind)
    heads, length, width = (2, 64, 32) if check else (32, 4096, 128)
    for causal in (False, True):
        yield Case("attention", f"{heads} heads, {length} x {width}{', causal' if causal else ''}, bf16", attention(causal), *[(heads, length, width)] * 3, dtype="bfloat16",
                   flops=4 * heads * length**2 * width / (2 if causal else 1), kind="bfloat16")


class Machine:
    def __init__(self, arguments, folder):
        self.tessera, self.steps, self.folder = arguments.build / "bin/tessera", arguments.steps, folder
        self.device = None

    def run(self, name, text, inputs, steps):
        """(outputs, seconds of the steps, the device). Ends with what tessera said, where that fails."""
        path = lambda suffix: self.folder / f"{re.sub('[^a-z0-9]', '_', name.lower())}.{suffix}"
        path("mlir").write_text(text)
        np.savez(path("in.npz"), **{f"in{i}": x for i, x in enumerate(inputs)})
        self.call("compile", path("mlir"), "-o", path("tsr"), "--target=cuda:sm_80,sm_90a", "--quiet")
        self.call("run", path("tsr"), f"--inputs={path('in.npz')}", f"--outputs={path('out.npz')}", f"--repeat={steps}", f"--report={path('json')}", "--quiet")
        report = json.loads(path("json").read_text())
        with np.load(path("out.npz")) as found:
            outputs = [found[f"out{i}"] for i in range(len(found.files))]
        return outputs, report["steps"], report.get("predicted_seconds")

    def call(self, *arguments):
        done = subprocess.run([self.tessera, *map(str, arguments)], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr.strip() or f"tessera {arguments[0]} ended with {done.returncode}")


def device_name():
    """What the driver calls the first GPU; none: None. The same library that the runtime opens."""
    import ctypes
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None
    count, device, name = ctypes.c_int(), ctypes.c_int(), ctypes.create_string_buffer(200)
    if driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)) or not count.value or driver.cuDeviceGet(ctypes.byref(device), 0) or driver.cuDeviceGetName(name, 200, device):
        return None
    return name.value.decode()


def inputs_of(case):
    random = np.random.default_rng(1)
    return [np.abs(random.standard_normal(a.shape, np.float32)) for a in case.arguments]


def text_of(function, arguments):
    return jax.jit(function).lower(*arguments).as_text()


def check(case, machine):
    inputs = inputs_of(case)
    rounded = [jnp.asarray(x, a.dtype) for x, a in zip(inputs, case.arguments)]
    found, _, _ = machine.run(case.name, text_of(case.function, case.arguments), inputs, 1)
    expected = [np.asarray(x, np.float32) for x in jax.tree.leaves(jax.jit(case.function)(*rounded))]
    bound = 4e-2 if any(a.dtype == jnp.bfloat16 for a in case.arguments) else 1e-4
    far = max(float(np.abs(a - b).max() / (np.abs(a).max() + 1e-9)) for a, b in zip(expected, found, strict=True))
    print(f"{case.family:12} {case.name:44} {'right' if far <= bound else f'WRONG by {far:.2g}'}", flush=True)
    return far <= bound


def seconds_of(machine, name, function, arguments, inputs):
    _, steps, predicted = machine.run(name, text_of(function, arguments), inputs, WARM_STEPS + machine.steps)
    return statistics.median(steps[WARM_STEPS:]), predicted


def peaks_of(device, named):
    """TFLOP/s by type, of the data sheets (docs/topology.md); what is named on the command line goes before."""
    known = {"A100": (19.5, 312), "H100": (67, 989), "H200": (67, 989), "B200": (75, 2250)}
    f32, bf16 = next((rates for name, rates in known.items() if name in device), (None, None))
    return {"float32": f32, "bfloat16": bf16, **named}


def beside_peers(rows, machine, function, arguments, inputs, seconds):
    if any(d.platform == "gpu" for d in jax.devices()):
        import time
        step, placed = jax.jit(function), jax.device_put([jnp.asarray(x, a.dtype) for x, a in zip(inputs, arguments)])
        times = []
        for _ in range(WARM_STEPS + machine.steps):
            begin = time.perf_counter()
            jax.block_until_ready(step(*placed))
            times.append(time.perf_counter() - begin)
        rows["jax.jit"] = statistics.median(times[WARM_STEPS:]) / seconds
    else:
        rows["jax.jit"] = "not installed for this GPU"


def measure(machine, device, families, peaks):
    empty = jax.ShapeDtypeStruct((8,), "float32")
    overhead, _ = seconds_of(machine, "empty", lambda x: x * 2, [empty], [np.ones(8, np.float32)])
    print(f"{device}; a step of one small kernel takes {overhead * 1e6:.1f} us, which is taken off below")
    found, copied = {"device": device, "empty_step_seconds": overhead, "kernels": []}, None
    for case in cases(check=False):
        if case.family not in families and case.family != "copies":
            continue
        seconds, predicted = seconds_of(machine, case.name, case.function, case.arguments, inputs_of(case))
        seconds = max(seconds - overhead, 1e-9)
        row = {"family": case.family, "name": case.name, "seconds": seconds, "predicted_seconds": predicted}
        if case.family == "copies":
            copied = case.bytes() / seconds
            found["copied_bytes_per_second"] = copied
            text = f"{copied / 1e9:.0f} GB/s"
        elif case.flops:
            row["tflops"] = case.flops / seconds / 1e12
            peak = peaks.get(case.kind)
            row["share_of_peak"] = peak and row["tflops"] / peak
            text = f"{row['tflops']:.1f} TFLOP/s" + (f", {row['share_of_peak']:.2f} of the peak" if peak else "")
        else:
            row["share_of_copy"] = case.bytes() / seconds / copied
            text = f"{row['share_of_copy']:.2f} of a copy"
        found["kernels"].append(row)
        print(f"{case.family:12} {case.name:44} {text}", flush=True)
    if "launches" in families:
        x = jax.ShapeDtypeStruct((64, 64), "float32")
        seconds, _ = seconds_of(machine, "chain", chain, [x], [np.ones((64, 64), np.float32)])
        found["launch_seconds"] = (seconds - overhead) / 127
        print(f"launches     128 small kernels one after the other, as graphs: {seconds * 1e6:.0f} us a step, {found['launch_seconds'] * 1e6:.2f} us a kernel")
    if "training" in families:
        width = 4096
        arguments = [[jax.ShapeDtypeStruct((width, width), "bfloat16")] * 6, *[jax.ShapeDtypeStruct((8192, width), "bfloat16")] * 2]
        flat, tree = jax.tree.flatten(arguments)
        function = lambda *leaves: train(*jax.tree.unflatten(tree, leaves))
        inputs = [np.random.default_rng(i).standard_normal(a.shape, np.float32) * 0.02 for i, a in enumerate(flat)]
        seconds, predicted = seconds_of(machine, "training", function, flat, inputs)
        row = found["training"] = {"seconds": seconds, "predicted_seconds": predicted, "torch.compile": "not measured: the same step is written in JAX only"}
        beside_peers(row, machine, function, flat, inputs, seconds)
        print("training     beside jax.jit: " + (f"{row['jax.jit']:.2f} times as fast" if isinstance(row["jax.jit"], float) else row["jax.jit"]))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("families", nargs="*")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--peak", default="")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    device = device_name()
    if device is None:
        print("there is no GPU: nothing was measured")
        return 0 if not arguments.check else 1
    families = arguments.families or ["elementwise", "rows", "columns", "transposes", "products", "attention", "launches", "training"]
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(arguments, pathlib.Path(folder))
        if arguments.check:
            right = [check(case, machine) for case in cases(check=True) if not arguments.families or case.family in families]
            print(f"{len(right)} kernels on {device}, {right.count(False)} wrong; nothing was measured")
            return 0 if all(right) else 1
        if STAND_IN in device.lower():
            print(f"'{device}' is the stand-in for NVIDIA's driver, not a GPU: nothing was measured (--check runs the kernels)")
            return 0
        named = {name: float(rate) for name, rate in (part.split("=") for part in arguments.peak.split(",") if part)}
        found = measure(machine, device, families, peaks_of(device, named))
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
