"""Values that a program puts into the host's memory and takes back: beside JAX on one device without any placement, on several meshes,
uneven ones among them. Each program says how many copies there are between the two memories and how many bytes lie on the host, and
compile and run must count as many (harness.py). Usage: placement.py [NAME..]"""
import json
import sys
import tempfile

import export as exporting
import jax
import jax.numpy as jnp
import numpy as np
from compare import differ
from harness import run_text
from jax import export
from jax.ad_checkpoint import checkpoint_name
from jax.sharding import NamedSharding, PartitionSpec as P
from page import run_page

SPACE = jax.memory.Space


class Plain:
    """Where nothing is placed: what the results must be."""
    host = device = staticmethod(lambda x, spec=None: x)
    policy = None


class Placed:
    def __init__(self, mesh):
        self.mesh = mesh
        self.policy = jax.checkpoint_policies.save_and_offload_only_these_names(
            names_which_can_be_saved=[], names_which_can_be_offloaded=["act"], offload_src="device", offload_dst="pinned_host")

    def put(self, x, spec, kind):
        if spec is None:
            return jax.device_put(x, SPACE.Host if kind == "pinned_host" else SPACE.Device)
        return jax.device_put(x, NamedSharding(self.mesh, spec, memory_kind=kind))

    def host(self, x, spec=None):
        return self.put(x, spec, "pinned_host")

    def device(self, x, spec=None):
        return self.put(x, spec, "device")


def normal(seed, *shape):
    return (0.4 * np.random.default_rng(seed).standard_normal(shape)).astype(np.float32)


def there_and_back(to):
    """To the host and back with other work between, in another sharding each."""
    def f(x, w):
        y = jnp.tanh(x @ w)
        kept = to.host(y, P("x", None))
        a = jnp.sin(y) @ w
        return a + to.device(kept, P(None, "y"))

    return f, (normal(0, 10, 7), normal(1, 7, 7)), (P("x", None), P(None, "y")), P()


def twice(to):
    """The same value is fetched twice, and a part of it."""
    def f(x):
        kept = to.host(x * 2)
        first = jnp.sin(to.device(kept))
        second = jnp.cos(to.device(kept)) @ first.T
        return second.sum() + to.device(kept[2:5]).sum() + to.device(kept[:, 1:3]).sum()

    return f, (normal(2, 9, 6),), (P("x", "y"),), P()


def stacked(to, layers=5):
    """Weights on the host, of which each trip of a loop takes its own."""
    def f(ws, x):
        def body(c, w):
            return jnp.tanh(c @ to.device(w)), None

        return jax.lax.scan(body, x, ws)[0]

    return f, (normal(3, layers, 6, 6), normal(4, 8, 6)), (("host", P(None, None, "y")), P("x", None)), P("x", None)


def updated(to, layers=4):
    """An optimizer whose state lies on the host: each trip takes its part and puts it back."""
    def f(state, g):
        def body(state, i):
            m = 0.9 * to.device(jax.lax.dynamic_index_in_dim(state, i, 0, keepdims=False)) + jax.lax.dynamic_index_in_dim(g, i, 0, keepdims=False)
            return jax.lax.dynamic_update_index_in_dim(state, to.host(m), i, 0), m.sum()

        state, sums = jax.lax.scan(body, state, jnp.arange(layers))
        return state, sums

    return f, (normal(5, layers, 6, 5), normal(6, layers, 6, 5)), (("host", P(None, "x")), P(None, "x")), (("host", P(None, "x")), P())


def layer(x, w):
    return jnp.sin(checkpoint_name(jnp.tanh(x @ w), "act"))


def checkpointed(to):
    def f(ws, x):
        def loss(ws):
            c = x
            for i in range(3):
                c = jax.checkpoint(layer, policy=to.policy)(c, ws[i]) if to.policy else layer(c, ws[i])
            return (c**2).sum()

        return jax.grad(loss)(ws)

    return f, (normal(7, 3, 6, 6), normal(8, 10, 6)), (P(None, None, "y"), P("x", None)), P()


def checkpointed_scan(to):
    def f(ws, x):
        def loss(ws):
            inner = jax.checkpoint(layer, policy=to.policy) if to.policy else layer
            return (jax.lax.scan(lambda c, w: (inner(c, w), None), x, ws)[0] ** 2).sum()

        return jax.grad(loss)(ws)

    return f, (normal(9, 6, 6, 6), normal(10, 10, 6)), (P(None, None, "y"), P("x", None)), P()


def nested(to):
    """A stash in a stash: the array of a scan in a scan."""
    def f(ws, x):
        def loss(ws):
            inner = jax.checkpoint(layer, policy=to.policy) if to.policy else layer
            outer = lambda c, w: (jax.lax.scan(lambda c, w: (inner(c, w), None), c, w)[0], None)
            return (jax.lax.scan(outer, x, ws)[0] ** 2).sum()

        return jax.grad(loss)(ws)

    return f, (normal(11, 3, 2, 6, 6), normal(12, 4, 6)), (P(None, None, None, "y"), P("x", None)), P()


def sharded_rows(to):
    """Parts along a dimension that is sharded: the device gets what it needs of the whole."""
    def f(x, i):
        kept = to.host(x, P("x", "y"))
        part = to.device(jax.lax.dynamic_slice(kept, (i, 0), (3, 8)))
        changed = to.device(jax.lax.dynamic_update_slice(kept, to.host(part * 2), (i + 1, 0)))
        return part, changed + 1

    return f, (normal(13, 12, 8), np.int32(4)), (P("x", "y"), P()), (P(), P("x", "y"))


def branches(to):
    """Either branch gives what lies on the host."""
    def f(x, i):
        kept = jax.lax.cond(i > 2, lambda x: to.host(jnp.sin(x)), lambda x: to.host(x), x)
        return to.device(kept) * 3

    return f, (normal(14, 8, 6), np.int32(3)), (P("x"), P()), P("x")


def mapped(to):
    """Inside of a shard_map."""
    def f(x):
        def g(x):
            return jax.lax.psum(to.device(to.host(jnp.tanh(x))), "x")

        return jax.shard_map(g, mesh=to.mesh, in_specs=P("x"), out_specs=P())(x) if isinstance(to, Placed) else jnp.tanh(x).reshape(4, 2, 6).sum(0)

    return f, (normal(15, 8, 6),), (P("x"),), P()


def directly(to):
    """What lies on the host is donated, and computed with: the exports for the cpu leave device_put out."""
    def f(w, x):
        w = to.device(w)
        return to.host(w * 2 + 1), w @ x

    return f, (normal(16, 6, 6), normal(17, 6, 8)), (("host", P("x", None)), P(None, "y")), (("host", P("x", None)), P("x", "y"))


# The program, its meshes, and how many copies there are to the host and from it, in how many bytes of the host's memory, on the first mesh.
CASES = {
    "there_and_back": (there_and_back, [{"x": 2, "y": 1}, {"x": 1, "y": 1}, {"x": 4, "y": 2}, {"x": 3, "y": 2}], (1, 1, 192)),
    "twice": (twice, [{"x": 1, "y": 1}, {"x": 2, "y": 3}, {"x": 4, "y": 1}], (1, 4, 256)),
    "stacked": (stacked, [{"x": 2, "y": 2}, {"x": 1, "y": 1}, {"x": 3, "y": 4}], (0, 5, 5 * 6 * 3 * 4)),
    "updated": (updated, [{"x": 2}, {"x": 1}, {"x": 4}], (4, 4, 4 * 3 * 5 * 4)),
    "checkpointed": (checkpointed, [{"x": 2, "y": 2}, {"x": 1, "y": 1}, {"x": 4, "y": 2}], (3, 3, 3 * 64)),
    "checkpointed_scan": (checkpointed_scan, [{"x": 2, "y": 2}, {"x": 1, "y": 1}, {"x": 4, "y": 4}], (7, 6, 384)),
    "nested": (nested, [{"x": 2, "y": 2}, {"x": 1, "y": 1}, {"x": 3, "y": 2}], None),
    "sharded_rows": (sharded_rows, [{"x": 1, "y": 1}, {"x": 2, "y": 1}, {"x": 4, "y": 2}], None),
    "branches": (branches, [{"x": 2}, {"x": 3}], None),
    "mapped": (mapped, [{"x": 4}], (1, 1, 64)),
    "directly": (directly, [{"x": 2, "y": 2}, {"x": 1, "y": 1}, {"x": 4, "y": 2}], None),
}


def placed(mesh, specs):
    """Of a tree of specs, and of pairs ("host", spec)."""
    if isinstance(specs, P):
        return NamedSharding(mesh, specs, memory_kind="device")
    if specs[0] == "host":
        return NamedSharding(mesh, specs[1], memory_kind="pinned_host")
    return tuple(placed(mesh, each) for each in specs)


def text_of(name, build, sizes):
    manual = name == "mapped"
    mesh = exporting.make_mesh(sizes if manual else exporting.ones(sizes))
    function, args, in_specs, out_specs = build(Placed(mesh))
    donated = (0,) if name in ("updated", "directly") else ()
    jitted = jax.jit(function, in_shardings=placed(mesh, in_specs), out_shardings=placed(mesh, out_specs), donate_argnums=donated)
    check = export.DisabledSafetyCheck.custom_call("annotate_device_placement")
    platform = "cpu" if name == "directly" else "tpu"
    given = [jax.ShapeDtypeStruct(np.shape(a), np.asarray(a).dtype, sharding=s) for a, s in zip(args, placed(mesh, in_specs))]
    module = export.export(jitted, platforms=[platform], disabled_checks=[check])(*given).mlir_module()
    return exporting.with_sizes(module, sizes), args


def check(name):
    build, meshes, figures = CASES[name]
    function, args, _, _ = build(Plain)
    plain = jax.tree.leaves(jax.jit(function)(*args))
    for number, sizes in enumerate(meshes):
        text, args = text_of(name, build, sizes)
        with tempfile.TemporaryDirectory() as directory:
            wrong, outputs, compiled = run_text(text, args, directory, reports=True)
        if outputs is None:
            yield sizes, wrong
            continue
        for i, (got, reference) in enumerate(zip(outputs, plain, strict=True)):
            difference = differ(got, np.asarray(reference), None)
            wrong = wrong or (difference and f"out{i}: {difference}")
        count = lambda kind: sum(site["count"] for site in compiled["transfers"] if site["kind"] == kind)
        found = (count("to-host"), count("to-device"), sum(compiled["host_memory"].values()))
        if figures and number == 0 and found != figures:
            wrong = wrong or f"copies to the host, from it, bytes there: {found}, not {figures}"
        if not min(found[1:]):
            wrong = wrong or f"nothing is on the host: {found}"
        yield sizes, wrong


def look_at_page(path):
    """None, or what is wrong with what the example of docs/offload.md leaves: what is offloaded is on the host."""
    kept, offloaded = (json.loads((path / f"{name}.run.json").read_text()) for name in ("kept", "offloaded"))
    stash = 8 * 1024 * 64 * 4  # of eight layers, a quarter of the batch
    print({name: (run["peak_bytes"], run["host_peak_bytes"], run["transfers"]) for name, run in (("kept", kept), ("offloaded", offloaded))})
    less, there = kept["peak_bytes"] - offloaded["peak_bytes"], offloaded["host_peak_bytes"]
    return None if there == stash and less > stash // 2 else f"{less} bytes less on a device, {there} on the host, of {stash}"


def main(names):
    failed = 0
    for name in names or CASES:
        for sizes, wrong in check(name):
            failed += wrong is not None
            print(f"{'FAIL' if wrong else 'ok  '} {name:20s} {sizes} {wrong or ''}", flush=True)
    if not names:
        wrong = run_page("offload.md", "offload.py", look_at_page)
        failed += wrong is not None
        print(f"docs/offload.md: {wrong or 'ok'}")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main(sys.argv[1:])
