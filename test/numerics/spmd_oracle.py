"""The partitioned program against the sequential one, before there is any back end: what tessera-opt leaves after
localize is run by XLA on its CPU devices, one replica a device, each on its own padded local arrays.

  spmd_oracle.py [--opt tessera-opt] [--mesh '["x"=2, "y"=3]'] NAME.mlir..     with NAME.npz (in0.., out0..) beside each
      prints right or wrong, and the wire bytes a device sends (loop trips included)
  --mesh   replaces the mesh's axis sizes, for uneven shards
  --communicate   also runs the communicate phase
  --road          other passes than the phases up to localize
  --xla X.json    prints wire bytes beside those of {NAME: {"wire_bytes": n}}
"""
import argparse
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROAD = ["--tessera-import", "--tessera-propagate", "--tessera-reshard", "--tessera-localize"]
NUMPY = {"f64": "float64", "f32": "float32", "i64": "int64", "i32": "int32", "i16": "int16", "i8": "int8", "i1": "bool",
         "ui64": "uint64", "ui32": "uint32", "ui16": "uint16", "ui8": "uint8", "f16": "float16",
         "complex<f32>": "complex64", "complex<f64>": "complex128"}


def element(name):
    import ml_dtypes
    import numpy as np
    return np.dtype(NUMPY[name]) if name in NUMPY else np.dtype(getattr(ml_dtypes, {"bf16": "bfloat16"}.get(name, name)))


class Program:
    """@main of a localized module: the mesh, and for each parameter its global and local shape and its axes."""

    def __init__(self, text):
        mesh = re.search(r'sdy\.mesh @[\w".]+ = <\[([^\[\]]+)\](?:, device_ids=\[(.*?)\])?>', text)
        self.axes = [(n, int(s)) for n, s in re.findall(r'"([^"]+)"=(\d+)', mesh.group(1))] if mesh else []
        self.ids = [int(x) for x in mesh.group(2).split(",")] if mesh and mesh.group(2) else None
        self.devices = 1
        for _, size in self.axes:
            self.devices *= size
        head = text[text.index("func.func public @main("):]
        head = head[:head.index("{\n")]
        arguments, results = head.split(") -> ", 1) if ") -> " in head else (head, "")
        self.inputs, self.outputs = self.parameters(arguments), self.parameters(results)

    @staticmethod
    def parameters(text):
        found = []
        for m in re.finditer(r"tensor<([^<>]*(?:<\w+>)?)> \{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}", text):
            local, attributes = m.group(1), m.group(2)
            whole = re.search(r"tessera\.global = tensor<([^<>]*(?:<\w+>)?)>", attributes).group(1)
            sharding = re.search(r"sdy\.sharding = #sdy\.sharding<@[\w\".]+, \[(.*?)\](?:,[^\[\]]*)?>", attributes)
            dims = re.findall(r"\{([^{}]*)\}", sharding.group(1)) if sharding else []
            shape = lambda t: [int(x) for x in re.findall(r"(\d+)x", t)]
            axes = [[(a, int(p or 1), int(s or 0)) for a, p, s in re.findall(r'"([^"]+)"(?::\((\d+)\)(\d+))?', d)] for d in dims]
            found.append((shape(whole), shape(local), axes or [[] for _ in shape(whole)], re.search(r"(?:\d+x)*(.*)$", whole).group(1)))
        return found

    def index(self, device, axes):
        """The device's rank along axes (name, preSize, size), major to minor."""
        position = self.ids.index(device) if self.ids else device
        sizes = dict(self.axes)
        coordinates, rest = {}, position
        for name, size in reversed(self.axes):
            coordinates[name], rest = rest % size, rest // size
        rank = 0
        for name, before, size in axes:
            size = size or sizes[name]
            after = sizes[name] // (before * size)
            rank = rank * size + coordinates[name] // after % size
        return rank

    def rows(self, device, parameter):
        """Per dimension (begin, end) of what the device holds; empty where begin >= end."""
        whole, local, axes, _ = parameter
        found = []
        for n, tile, dim in zip(whole, local, axes):
            begin = self.index(device, dim) * tile if dim else 0
            found.append((min(begin, n), min(n, begin + tile)))
        return found


def to_local(program, parameter, array):
    import numpy as np
    locals_ = []
    for device in range(program.devices):
        rows = program.rows(device, parameter)
        # Padding is poison: who reads it is found out.
        poison = {"f": np.nan, "c": np.nan, "V": np.nan}.get(array.dtype.kind, np.nan if "float" in array.dtype.name else 77)
        if array.dtype == np.bool_:
            poison = True
        part = np.full(parameter[1], poison, array.dtype)
        part[tuple(slice(0, e - b) for b, e in rows)] = array[tuple(slice(b, e) for b, e in rows)]
        locals_.append(part)
    return locals_


def to_global(program, parameter, parts):
    import numpy as np
    whole = np.zeros(parameter[0], parts[0].dtype)
    for device, part in enumerate(parts):
        rows = program.rows(device, parameter)
        whole[tuple(slice(b, e) for b, e in rows)] = part[tuple(slice(0, e - b) for b, e in rows)]
    for device, part in enumerate(parts):  # replicas hold the same bits
        rows = program.rows(device, parameter)
        mine, all_ = part[tuple(slice(0, e - b) for b, e in rows)], whole[tuple(slice(b, e) for b, e in rows)]
        if mine.tobytes() != np.ascontiguousarray(all_).tobytes():
            raise ValueError(f"device {device} holds another value than its replicas")
    return whole


WIDTH = {"i1": 1, "i8": 1, "ui8": 1, "i16": 2, "ui16": 2, "bf16": 2, "f16": 2, "i64": 8, "ui64": 8, "f64": 8,
         "complex<f32>": 8, "complex<f64>": 16}


def tensor_bytes(text):
    n = 1
    for d in re.findall(r"(\d+)x", text):
        n *= int(d)
    return n * WIDTH.get(re.search(r"(?:\d+x)*(.*)$", text).group(1), 4)


def wire(text):
    """{kind: [count, bytes sent]} of one device, by walking the printed program: loops multiply by their trips."""
    total, factor, depth = {}, [1], []
    pending = 1
    for line in text.splitlines():
        m = re.search(r"comm\.(all_reduce|all_gather|reduce_scatter|all_to_all|permute|shift|broadcast) ", line + " ") or \
            re.search(r"comm\.(all_gather|all_to_all|permute|shift|broadcast)\(", line)
        if m:
            kind = m.group(1)
            g = 1
            for size in re.findall(r'"=(\d+)|:\(\d+\)(\d+)', line[line.index("over <"):]):
                g *= int(size[0] or size[1])
            operands, results = line[line.rindex(" : ("):].split(") -> ")
            if " loc(" in results:
                results = results[:results.index(" loc(")]
            count = lambda t: sum(tensor_bytes(x) for x in re.findall(r"tensor<([^<>]*(?:<\w+>)?)>", t))
            b = count(operands) if kind == "reduce_scatter" else count(results)
            w = {"all_reduce": 2 * b * (g - 1) // g, "all_gather": b * (g - 1) // g, "reduce_scatter": b * (g - 1) // g,
                 "all_to_all": b * (g - 1) // g}.get(kind, b)
            trips = 1
            for f in factor:
                trips *= f
            entry = total.setdefault(kind, [0, 0])
            entry[0] += trips
            entry[1] += w * trips
        if "stablehlo.while" in line:
            pending = int((re.search(r"tessera\.trip_count = #tessera\.trip_count<(\d+)>", line) or [0, 1])[1])
        opens, closes = line.count("{"), line.count("}")
        stripped = line.strip()
        if stripped.startswith("} do {"):
            factor[-1] = depth.pop()
        elif stripped.startswith("cond {"):
            trips = re.search(r"tessera\.trip_count = #tessera\.trip_count<(\d+)>", line)
            depth.append(pending)
            factor.append(pending)
            pending = 1
        elif opens > closes:
            factor += [1] * (opens - closes)
        elif closes > opens:
            del factor[len(factor) - (closes - opens):]
    return total


def run_tool(opt, passes, text):
    p = subprocess.run([opt, *passes], input=text, capture_output=True, text=True, timeout=600)
    if p.returncode:
        lines = [x for x in p.stderr.splitlines() if "error" in x or "Assert" in x] or p.stderr.splitlines() or ["failed"]
        raise RuntimeError(lines[0][:300])
    return p.stdout


def execute(program, text, inputs):
    import jax
    import numpy as np
    from jax._src import compiler, xla_bridge
    from jax._src.interpreters import mlir as jmlir
    from jaxlib.mlir import ir

    backend = xla_bridge.get_backend("cpu")
    devices = tuple(backend.devices()[:program.devices])
    context = jmlir.make_ir_context()
    with context:
        module = ir.Module.parse(text)
        for name in ("mhlo.num_partitions", "mhlo.num_replicas"):
            if name in module.operation.attributes:
                del module.operation.attributes[name]
        module.operation.attributes["sym_name"] = ir.StringAttr.get("local")
        options = compiler.get_compile_options(program.devices, 1, np.arange(program.devices).reshape(-1, 1))
        compiled = compiler.backend_compile_and_load(
            backend, module, jax._src.lib.xla_client.DeviceList(devices), options, [])
    flat = [[jax.device_put(part, device) for part, device in zip(parts, devices)] for parts in inputs]
    return compiled, flat


def outputs_of(compiled, flat, program):
    import jax
    import numpy as np
    devices = compiled.local_devices()
    mesh = jax.sharding.Mesh(np.array(devices), ("r",))
    replicated = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec())
    # Every device has an array of its own of the local shape; the runtime takes them as shards of one array.
    arrays = [jax.make_array_from_single_device_arrays(parts[0].shape, replicated, parts) for parts in flat]
    results = compiled.execute_sharded(arrays).disassemble_into_single_device_arrays()
    return [[np.asarray(part) for part in result] for result in results]


def differ(got, want, low):
    import numpy as np
    if got.shape != want.shape:
        return f"shape {got.shape}, expected {want.shape}"
    wide = np.complex128 if np.iscomplexobj(want) else np.float64
    g, w = got.astype(wide), want.astype(wide)
    if not np.array_equal(np.isnan(g), np.isnan(w)):
        return f"NaN in {int((np.isnan(g) != np.isnan(w)).sum())} other places"
    finite = np.isfinite(w)
    if not np.array_equal(g[~finite & ~np.isnan(w)], w[~finite & ~np.isnan(w)]):
        return "infinities differ"
    if not finite.any():
        return None
    rms = np.sqrt(np.mean(np.abs(w[finite]) ** 2))
    allowed = 6e-2 if low else 2e-3
    errors = np.abs(g[finite] - w[finite]) / (np.maximum(np.abs(w[finite]), 0.3 * rms) + 1e-30)
    far = errors > allowed
    return f"error {errors.max():.2e}, {far.sum()} of {far.size} beyond {allowed}" if far.any() else None


def check(text, inputs, outputs, opt, road=ROAD, communicate=False):
    """(None or what is wrong, wire bytes by kind) of one annotated module on the given global arrays."""
    local = run_tool(opt, [*road, *(["--tessera-communicate"] if communicate else [])], text)
    program = Program(local)
    collectives = wire(local)
    lowered = run_tool(opt, ["--tessera-comm-to-stablehlo"], local)
    parts = [to_local(program, p, x.astype(element(p[3]))) for p, x in zip(program.inputs, inputs)]
    compiled, flat = execute(program, lowered, parts)
    results = outputs_of(compiled, flat, program)
    if len(results) != len(outputs):
        return f"{len(results)} outputs, expected {len(outputs)}", collectives
    for i, (parameter, result, want) in enumerate(zip(program.outputs, results, outputs)):
        try:
            got = to_global(program, parameter, result)
        except ValueError as e:
            return f"out{i}: {e}", collectives
        wrong = differ(got, want, "bf16" in text)
        if wrong:
            return f"out{i}: {wrong}", collectives
    return None, collectives


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("files", nargs="+")
    p.add_argument("--opt", default=os.path.join(HERE, "../../build/bin/tessera-opt"))
    p.add_argument("--mesh", default="")
    p.add_argument("--road", default=" ".join(ROAD), help="passes, separated by spaces")
    p.add_argument("--communicate", action="store_true")
    p.add_argument("--xla", default="")
    a = p.parse_args()
    os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=16"
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    os.environ["JAX_ENABLE_X64"] = "1"
    import numpy as np
    baseline = json.load(open(a.xla)) if a.xla else {}
    wrong = 0
    for path in a.files:
        name = os.path.basename(path)[:-5]
        text = open(path).read()
        if a.mesh:
            text = re.sub(r"(sdy\.mesh @\w+ = <)\[[^\]]*\]>( \{.*\})?", r"\1" + a.mesh + ">", text)
        arrays = np.load(path[:-5] + ".npz")
        numbered = lambda s: [arrays[k] for k in sorted((k for k in arrays if k.startswith(s)), key=lambda k: int(k[len(s):]))]
        try:
            error, collectives = check(text, numbered("in"), numbered("out"), a.opt, a.road.split(), a.communicate)
        except Exception as e:
            error, collectives = f"{type(e).__name__}: {str(e)[:300]}", {}
        wrong += error is not None
        sent = sum(v[1] for v in collectives.values())
        against = baseline.get(name, {}).get("wire_bytes")
        print(f"{name:28s}{'right' if error is None else 'WRONG ' + error}   wire {sent}"
              + (f" = x{sent / against:.2f} of XLA's {against}" if against else "")
              + "  " + " ".join(f"{k}:{v[0]}/{v[1]}" for k, v in collectives.items()), flush=True)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
