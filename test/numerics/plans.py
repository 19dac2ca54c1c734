"""Layouts that people know, found from plain models: no annotation, a machine whose links make the answer clear, and what
the plan's report says. Shapes only: nothing is executed.

  plans.py [NAME ..]   all without names
"""
import json
import os
import sys
import tempfile

import jax
import jax.numpy as jnp
from command_line import tessera

jax.config.update("jax_num_cpu_devices", 8) # for annotations

FAST = {"alpha": 2e-6, "beta": 3e11, "flops": 1e14, "memory": 1e12}  # links as between GPUs of a host
# Four devices a host; between hosts links of a sixteenth of the rate.
HOSTS = FAST | {"levels": [{"name": "host", "devices": 4, "alpha": 2e-6, "beta": 1e12},
                           {"name": "network", "alpha": 1e-5, "beta": 6e10}]}


def array(*shape, type=jnp.float32):
    return jax.ShapeDtypeStruct(shape, type)


class Plan:
    """What `tessera plan` writes and reports, and what its program's compiler does."""

    def __init__(self, text, report, compiled):
        self.text, self.report, self.collectives = text, report, compiled["collectives"]
        self.sizes = report["mesh"]

    def axes(self, argument):
        return self.report["arguments"][argument]

    def names(self, tree):
        """Of the arguments tree['name']."""
        return [name[len(tree) + 2:-2] for name in self.report["arguments"] if name.startswith(f"{tree}['")]

    def shards(self, argument):
        """In how many parts each dimension lies."""
        counts = []
        for dim in self.axes(argument):
            count = 1
            for axis in dim:
                count *= int(axis.split(":(")[-1].split(")")[1]) if ":(" in axis else self.sizes[axis]
            counts.append(count)
        return counts

    def parts(self, argument):
        count = 1
        for dim in self.shards(argument):
            count *= dim
        return count

    def count(self, *kinds):
        return sum(c["count"] for c in self.collectives if c["kind"] in kinds)

    def large(self, *kinds):
        """Collectives of a step, but for those of a few numbers: the loss, statistics."""
        return sum(c["count"] for c in self.collectives if c["bytes"] > 4096 and (not kinds or c["kind"] in kinds))

    def arrays(self, kind, size):
        """Arrays of so many bytes that collectives of a kind carry: one may go in parts, each beside the product of the next."""
        return sum(c["count"] * c["bytes"] for c in self.collectives if c["kind"] == kind and c["bytes"] > 4096) / size

    def why(self):
        """What the costliest of its decisions is worth."""
        first = next((each for each in self.report["decisions"] if each["next"]), None)
        if not first:
            return "all else takes as long"
        return f"{first['what']} {first['spec']}: with {first['next']} {100 * first['fraction']:+.1f}%"

    def __str__(self):
        lines = [f"{self.report['kind']} on {self.report['axes']}, {self.report['predicted']}"]
        lines += [f"  {name}: {axes}" for name, axes in self.report["arguments"].items()]
        lines += [f"  {other['kind']} on {other['mesh']}: {other['seconds']:.3e} s, {other['peak_bytes']} bytes"
                  for other in self.report["alternatives"]]
        lines += [f"  {c['count']} {c['kind']} over {c['axes']}: {c['bytes']} bytes" for c in self.collectives]
        return "\n".join(lines)


def plan(step, arguments, topology, *options, donate=(), **shardings):
    text = jax.jit(step, donate_argnums=donate, **shardings).lower(*arguments).as_text(debug_info=True)
    with tempfile.TemporaryDirectory() as directory:
        path = lambda name: os.path.join(directory, name)
        with open(path("p.mlir"), "w") as file:
            file.write(text)
        with open(path("t.json"), "w") as file:
            json.dump(topology, file)
        machine = f"--topology={path('t.json')}"
        for command in (("plan", path("p.mlir"), "-o", path("q.mlir"), machine, f"--report={path('r.json')}", *options),
                        ("compile", path("q.mlir"), "-o", path("q.tsr"), machine, f"--report={path('c.json')}",
                         *(option for option in options if option.startswith("--memory")))):
            done = tessera(*command, "--quiet")
            if done.returncode:
                raise AssertionError(done.stderr.strip())
        with open(path("q.mlir")) as text, open(path("r.json")) as report, open(path("c.json")) as compiled:
            return Plan(text.read(), json.load(report), json.load(compiled))


def descent(loss):
    """A step of gradient descent that gives the weights back."""
    def step(weights, *inputs):
        value, gradients = jax.value_and_grad(loss)(weights, *inputs)
        return value, jax.tree.map(lambda w, g: w - 0.01 * g, weights, gradients)

    return step


def adam(loss):
    def step(weights, first, second, *inputs):
        gradients = jax.grad(loss)(weights, *inputs)
        first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradients)
        second = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, second, gradients)
        weights = jax.tree.map(lambda w, m, v: w - 1e-3 * m / (jnp.sqrt(v) + 1e-8), weights, first, second)
        return weights, first, second

    return step


def convolve(x, w):
    return jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def images(weights, x):
    for w in weights:
        x = jax.nn.relu(convolve(x, w))
    return x


def data_of_small_weights():
    """4 x 9 KB of weights, 67 MB of images: gradients are all that is sent."""
    weights = [array(3, 3, 16, 16) for _ in range(4)]
    made = plan(descent(lambda w, x: jnp.mean(images(w, x) ** 2)), (weights, array(256, 64, 64, 16)), FAST, "--devices=8")
    assert made.shards("inputs[0]") == [8, 1, 1, 1], made
    assert all(made.parts(f"weights[{i}]") == 1 for i in range(4)), made
    return made


def spatial_of_one_image():
    """One image of 2048 x 2048: only rows or columns can be divided without a sum over all of it."""
    weights = [array(3, 3, 8, 8) for _ in range(3)]
    made = plan(images, (weights, array(1, 2048, 2048, 8)), FAST, "--devices=8")
    _, rows, columns, channels = made.shards("x")
    assert rows * columns == 8 and channels == 1, made
    return made


def layers(weights, x):
    for w in weights:
        x = jnp.tanh(x @ w)
    return jnp.mean(x**2)


SQUARE = [array(2048, 2048) for _ in range(4)]  # 16.8 MB each


def state_where_memory_is_short():
    """Weights and two moments are 201 MB: in 90 MB they fit in parts only."""
    made = plan(adam(layers), (SQUARE, SQUARE, SQUARE, array(4096, 2048)), FAST, "--devices=8", "--memory=150000000",
                donate=(0, 1, 2))
    state = [made.parts(f"{name}[{i}]") for name in ("weights", "first", "second") for i in range(4)]
    assert made.report["predicted"]["peak_bytes"] <= 150_000_000, made
    assert sum(16.8e6 / parts for parts in state) < 110e6, made
    return made


def moments_further_than_weights():
    """An all-reduce is a reduce-scatter and an all-gather: between them the update takes an eighth of the time. Weights in
    parts cost as little (they are gathered once, before rather than after), so a plan may have them so, too."""
    made = plan(adam(layers), (SQUARE, SQUARE, SQUARE, array(65536, 2048)), FAST, "--devices=8", donate=(0, 1, 2))
    assert made.shards("inputs[0]")[0] == 8, made
    for i in range(4):
        assert made.parts(f"first[{i}]") == made.parts(f"second[{i}]") == 8, made
        assert made.parts(f"weights[{i}]") <= 8, made
    return made


def moments_in_parts_of_whole_weights():
    """Whoever gives the weights holds them whole. With their moments whole, too, a step takes 553 MB."""
    whole = jax.NamedSharding(jax.make_mesh((8,), ("data",)), jax.P(None, None))
    left = None
    made = plan(adam(layers), (SQUARE, SQUARE, SQUARE, array(65536, 2048)), FAST, "--memory=480000000", donate=(0, 1, 2),
                in_shardings=(whole, left, left, left), out_shardings=(whole, left, left))
    assert made.shards("inputs[0]")[0] == 8, made
    for i in range(4):
        assert made.parts(f"weights[{i}]") == 1 and made.parts(f"first[{i}]") == made.parts(f"second[{i}]") == 8, made
    assert made.large("reduce-scatter") == made.large("all-gather") == 4 == made.large() / 2, made
    assert made.report["predicted"]["peak_bytes"] <= 480_000_000, made
    return made


def transformer(length, batch, heads=16, width=1024, count=2, shared=False):
    """With `shared`, all heads have one head of keys and values (Shazeer 2019)."""
    channels = width // heads
    key = array(width, 1 if shared else heads, channels)
    layer = {"query": array(width, heads, channels), "key": key, "value": key, "out": array(heads, channels, width),
             "up": array(width, 4 * width), "down": array(4 * width, width)}

    def normed(x):
        return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6)

    def loss(weights, x):
        for w in weights:
            seen = normed(x)
            q, k, v = (jnp.einsum("btd,dhc->bthc", seen, w[name]) for name in ("query", "key", "value"))
            k, v = (each[:, :, 0] if shared else each for each in (k, v))
            keys = "bsc" if shared else "bshc"
            scores = jax.nn.softmax(jnp.einsum(f"bthc,{keys}->bhts", q, k) / 8, -1)
            x = x + jnp.einsum("bthc,hcd->btd", jnp.einsum(f"bhts,{keys}->bthc", scores, v), w["out"])
            x = x + jax.nn.gelu(normed(x) @ w["up"]) @ w["down"]
        return jnp.mean(x**2)

    return loss, [layer] * count, array(batch, length, width)


def is_megatron(made, axis, layer):
    """Whether that axis divides the layer's products by columns, then by rows; other axes may divide the weights further."""
    divided = lambda name: [axis in dim for dim in made.axes(f"weights[{layer}]['{name}']")]
    return (divided("up") == [False, True] and divided("down") == [True, False]
            and divided("query") == [False, True, False] and divided("out") == [True, False, False])


def columns_then_rows():
    """One short sequence, whose length nothing divides: gradients of weights are 12 d^2 numbers a layer, activations 255 d.
    Two sums a layer each way, and nothing else; the first layer has no gradient to give back."""
    loss, weights, x = transformer(255, 1)
    made = plan(descent(loss), (weights, x), FAST, "--devices=4", donate=0)
    (axis,) = made.sizes
    assert is_megatron(made, axis, 0) and is_megatron(made, axis, 1), made
    assert made.large("all-reduce") == made.large() == 4 * len(weights) - 1, made
    return made


def sequence_between():
    """As above, with a length that divides: in the place of each sum a reduce-scatter and an all-gather, so that norms and
    residuals are computed in parts. The input is given whole, so that its first gather may be left out. Along one axis: with
    two, what is gathered over one hides better, by 2% of the step."""
    loss, weights, x = transformer(1024, 1)
    made = plan(descent(loss), (weights, x), FAST, "--mesh=x=4", donate=0)
    (axis,) = made.sizes
    assert is_megatron(made, axis, 0) and is_megatron(made, axis, 1), made
    scattered = made.arrays("reduce-scatter", x.size * x.dtype.itemsize)
    assert scattered == 4 * len(weights) - 1 and made.large("all-gather") <= 4 * len(weights), made
    assert made.large("reduce-scatter", "all-gather") == made.large(), made
    return made


def data_across_tensor_within():
    """Two hosts, two sequences: a layer's activations stay within a host, a quarter of its gradients (and of its weights, where these are in parts) goes between them."""
    loss, weights, x = transformer(2048, 2, width=2048)
    made = plan(descent(loss), (weights, x), HOSTS, "--devices=8", donate=0)
    assert made.shards("inputs[0]")[0] == 2, made
    between, within = made.sizes
    assert made.axes("inputs[0]")[0] == [between] and made.sizes[within] == 4, made
    assert is_megatron(made, within, 0), made
    return made


def experts_over_devices():
    """Eight experts of 8 MB, two layers: their gradients are not sent, tokens are."""
    experts, width, hidden, group = 8, 512, 2048, 1024
    capacity = 2 * group // experts
    weights = {"route": array(width, experts), "up": array(experts, width, hidden), "down": array(experts, hidden, width)}

    def loss(w, x):
        chosen = jax.nn.one_hot(jnp.argmax(jnp.einsum("gtd,de->gte", x, w["route"]), -1), experts)
        rank = jnp.cumsum(chosen, 1) * chosen - 1
        send = chosen[..., None] * jax.nn.one_hot(rank, capacity)
        sent = jnp.einsum("gtec,gtd->gecd", send, x)
        done = jnp.einsum("gecf,efd->gecd", jax.nn.silu(jnp.einsum("gecd,edf->gecf", sent, w["up"])), w["down"])
        return jnp.mean(jnp.einsum("gtec,gecd->gtd", send, done) ** 2)

    made = plan(descent(loss), (weights, array(8, group, width)), FAST, "--devices=8", donate=0)
    assert made.shards("weights['up']")[0] == 8 and made.shards("weights['down']")[0] == 8, made
    assert made.count("all-to-all") >= 2, made
    return made


def context_of_one_sequence():
    """One sequence of 32,768, whose keys and values are an eighth of it: they are gathered, queries and all else stay.
    Gradients of weights are 9 MB a layer, the sums between products of divided weights 67 MB each. Where the caller has
    the input whole, its parts cost nothing; so what is gathered tells."""
    length, count = 32768, 2
    what_moves_decides = FAST | {"beta": 3e10, "memory": 1e13}  # and not which ops a kernel has
    loss, weights, x = transformer(length, 1, heads=8, width=512, count=count, shared=True)
    made = plan(descent(loss), (weights, x), what_moves_decides, "--devices=8", donate=0)
    assert made.shards("inputs[0]") in ([1, 8, 1], [1, 1, 1]), made
    summed = [c for c in made.collectives if c["kind"] == "all-reduce"]  # gradients of whole weights, and the loss
    assert sum(c["bytes"] for c in summed) <= 4 * (1 + sum(leaf.size for leaf in jax.tree.leaves(weights))), made
    moved = [c for c in made.collectives if c["bytes"] >= length * 64 * 4 and c not in summed]
    assert {c["kind"] for c in moved} <= {"all-gather", "reduce-scatter"}, made
    assert all(c["bytes"] <= 2 * length * 64 * 4 for c in moved), made
    # As people do it, scores are nowhere exchanged either.
    known = [other["seconds"] for other in made.report["alternatives"] if other["kind"] in ("context", "context+fsdp")]
    assert made.report["kind"].startswith("context") or min(known) <= 1.05 * made.report["predicted"]["seconds"], made
    return made


def sequence_to_heads():
    """As above, but each head has keys of its own: to gather all would be more than to give each device all of two heads'
    queries, keys and values, and positions back (Jacobs et al. 2023, DeepSpeed Ulysses). The input is whole, so that heads
    are computed where they are needed: what is exchanged are results, and on the way back their gradient. Links are slower
    than elsewhere here: on fast ones the gathering of all keys hides behind attention's kernel."""
    loss, weights, x = transformer(16384, 1, count=1)
    made = plan(descent(loss), (weights, x), FAST | {"beta": 1e11}, "--devices=8", donate=0)
    assert made.shards("inputs[0]") in ([1, 8, 1], [1, 1, 1]), made
    assert made.large("all-to-all") >= 2, made
    return made


def vocabulary():
    """65,536 words of 256 numbers, 512 tokens: neither a table nor logits are ever whole."""
    words, width = 65536, 256

    def loss(weights, tokens, targets):
        logits = jnp.tanh(weights["embed"][tokens]) @ weights["out"]
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits, -1), targets[:, None], 1))

    weights = {"embed": array(words, width), "out": array(width, words)}
    made = plan(descent(loss), (weights, array(512, type=jnp.int32), array(512, type=jnp.int32)), FAST, "--devices=8", donate=0)
    assert made.shards("weights['out']") == [1, 8], made
    assert made.parts("weights['embed']") == 8, made
    return made


def tables_by_rows():
    """Four tables of 128 MB that one device can't hold, of four columns, beside a small network: rows of tables, samples of
    the rest."""
    tables, width, batch = 4, 4, 8192

    def loss(weights, ids, dense):
        found = [table[ids[:, i]] for i, table in enumerate(weights["tables"])]
        x = jnp.concatenate([dense, *found], -1)
        return jnp.mean((jax.nn.relu(x @ weights["up"]) @ weights["down"]) ** 2)

    weights = {"tables": [array(1 << 23, width) for _ in range(tables)], "up": array(256 + width * tables, 256), "down": array(256, 1)}
    made = plan(descent(loss), (weights, array(batch, tables, type=jnp.int32), array(batch, 256)), FAST, "--devices=8",
                "--memory=300000000", donate=0)
    assert all(made.shards(f"weights['tables'][{i}]")[0] == 8 for i in range(tables)), made
    assert made.parts("weights['up']") == 1, made
    assert made.shards("inputs[1]")[0] == 8, made
    return made


CASES = [data_of_small_weights, spatial_of_one_image, state_where_memory_is_short, moments_further_than_weights,
         moments_in_parts_of_whole_weights, columns_then_rows, sequence_between, data_across_tensor_within, experts_over_devices,
         context_of_one_sequence, sequence_to_heads, vocabulary, tables_by_rows]


def check(cases):
    """The exit code: all cases, or those that the command line names."""
    failed = 0
    for case in cases:
        if sys.argv[1:] and case.__name__ not in sys.argv[1:]:
            continue
        try:
            made = case()
            print(f"ok   {case.__name__}: {made.report['kind']} on {made.report['axes']}; {made.why()}", flush=True)
        except AssertionError as wrong:
            failed += 1
            print(f"FAIL {case.__name__}: {case.__doc__}\n{wrong}", flush=True)
    return failed > 0


if __name__ == "__main__":
    sys.exit(check(CASES))
