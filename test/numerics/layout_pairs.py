"""Pairs of layouts: data right, and no more wire bytes than XLA sends, nor than a plain search over collectives finds.

  layout_pairs.py [--count=1000] [--seed=0] [--uneven=0.4] [--show]     random pairs on meshes of 2 to 16 devices
  layout_pairs.py --classes=2x2x2 [--rank=3]                            all pairs on a mesh, up to names of axes and order of dimensions

A program has a batch of arguments, each of which moves from one layout to another; the links of its topology cost bytes only. XLA compiles the same text.
Dimensions that do not divide evenly are kept inside of XLA's program, as it takes none at its boundary. What is printed last are the pairs that cost more.
"""
import collections
import itertools
import json
import os
import random
import re
import sys
import tempfile
import time

import numpy as np

import layout_lattice as lattice
import seeded
from command_line import tessera

MESHES = [(2,), (3,), (5,), (8,), (2, 2), (2, 4), (3, 2), (2, 2, 2), (4, 4), (2, 3, 2), (7, 2), (16,), (2, 2, 4), (2, 2, 2, 2), (3, 5), (3, 3)]
BATCH = 60

Pair = collections.namedtuple("Pair", "mesh parts shape a b")  # layouts of parts of axes: (axis, size of what is more major, size)


def primes(n):
    found, p = [], 2
    while n > 1:
        while n % p == 0:
            found.append(p)
            n //= p
        p += 1
    return found


def cut(mesh, whole):
    """The parts of axes that layouts use: whole axes, or prime parts."""
    parts = []
    for axis, size in enumerate(mesh):
        before = 1
        for p in [size] if whole else primes(size):
            parts.append((axis, before, p))
            before *= p
    return parts


def sizes_of(pair):
    return tuple(part[2] for part in pair.parts)


def is_even(pair):
    sizes = sizes_of(pair)
    return all(n % lattice.shards(sizes, dim) == 0 for layout in (pair.a, pair.b) for n, dim in zip(pair.shape, layout))


def random_layout(rng, count, rank):
    order = rng.sample(range(count), rng.randint(0, count))
    layout = [[] for _ in range(rank)]
    for a in order:
        layout[rng.randrange(rank)].append(a)
    return tuple(map(tuple, layout))


def random_pair(rng, mesh, uneven):
    parts = cut(mesh, whole=rng.random() < 0.5)
    rank, sizes = rng.randint(1, 3), [part[2] for part in parts]
    while True:
        a, b = (random_layout(rng, len(parts), rank) for _ in range(2))
        if a != b:
            break
    if rng.random() < uneven:
        longest = 80_000 if rank == 1 and rng.random() < 0.4 else 3 * int(np.prod(mesh))  # many rows go in few messages
        shape = tuple(rng.randint(1, longest) for _ in range(rank))
    elif rng.random() < 0.5:  # whatever is done in between divides, too
        shape = tuple(int(np.prod(mesh)) * rng.randint(1, 2) for _ in range(rank))
    else:
        shape = tuple(int(np.lcm(lattice.shards(sizes, x), lattice.shards(sizes, y))) * rng.randint(1, 3) for x, y in zip(a, b))
    return Pair(mesh, tuple(parts), shape, a, b)


def classes(mesh, rank, uneven):
    """One pair of each class: axes of one size may change names, dimensions their order."""
    parts, seen = cut(mesh, whole=True), set()
    sizes = [part[2] for part in parts]
    renamings = [p for p in itertools.permutations(range(len(parts))) if all(sizes[i] == sizes[p[i]] for i in range(len(parts)))]
    every = list(lattice.layouts(len(parts), rank))
    for a, b in itertools.product(every, every):
        if a == b or (a, b) in seen:
            continue
        for p in renamings:
            renamed = [tuple(tuple(p[x] for x in dim) for dim in layout) for layout in (a, b)]
            for order in itertools.permutations(range(rank)):
                seen.add(tuple(tuple(layout[d] for d in order) for layout in renamed))
        n = int(np.prod(mesh))
        yield Pair(mesh, tuple(parts), tuple(n + 1 + d if uneven else n for d in range(rank)), a, b)


# --- One text for both compilers -------------------------------------------------------------------------------------


def sharding(pair, layout):
    def axis(part):
        name, before, size = part
        return f'"a{name}"' if size == pair.mesh[name] else f'"a{name}":({before}){size}'

    def merged(dim):  # adjacent parts of an axis are one part
        found = []
        for part in (pair.parts[i] for i in dim):
            if found and found[-1][0] == part[0] and found[-1][1] * found[-1][2] == part[1]:
                found[-1] = (part[0], found[-1][1], found[-1][2] * part[2])
            else:
                found.append(part)
        return found

    return "[" + ", ".join("{" + ", ".join(map(axis, merged(dim))) + "}" for dim in layout) + "]"


def tensor(pair):
    return f"tensor<{'x'.join(map(str, pair.shape))}xf32>"


def module(pairs, arguments, body, results):
    mesh = ", ".join(f'"a{i}"={n}' for i, n in enumerate(pairs[0].mesh))
    signature = ", ".join(f"%arg{i}: {tensor(p)} {{sdy.sharding = #sdy.sharding<@mesh, {arguments(p)}>}}" for i, p in enumerate(pairs))
    returned = ", ".join(f"{tensor(p)} {{sdy.sharding = #sdy.sharding<@mesh, {results(p)}>}}" for p in pairs)
    lines = "\n".join(body(i, p) for i, p in enumerate(pairs))
    return (f"module {{\n  sdy.mesh @mesh = <[{mesh}]>\n  func.func @main({signature}) -> ({returned}) {{\n{lines}\n    return "
            f"{', '.join(f'%r{i}' for i in range(len(pairs)))} : {', '.join(map(tensor, pairs))}\n  }}\n}}\n")


def constraint(pair, layout, result, operand):
    return f"    {result} = sdy.sharding_constraint {operand} <@mesh, {sharding(pair, layout)}> : {tensor(pair)}"


def bordered(pairs):
    """From the layouts of the arguments to those of the results."""
    return module(pairs, lambda p: sharding(p, p.a), lambda i, p: constraint(p, p.b, f"%r{i}", f"%arg{i}") + f' loc("p{i}")',
                  lambda p: sharding(p, p.b))


def inside(pairs, start):
    """From whole arguments to whole results, by way of both layouts; without `start`, of the second."""
    def body(i, p):
        lines, value = [], f"%arg{i}"
        for k, layout in enumerate([p.a, p.b] if start else [p.b]):
            lines += [constraint(p, layout, f"%c{i}_{k}", value), f"    %n{i}_{k} = stablehlo.negate %c{i}_{k} : {tensor(p)}"]
            value = f"%n{i}_{k}"
        return "\n".join(lines + [constraint(p, [()] * len(p.shape), f"%r{i}", value)])
    whole = lambda p: sharding(p, [()] * len(p.shape))
    return module(pairs, whole, body, whole)


# --- Tessera ---------------------------------------------------------------------------------------------------------


def tessera_compile(text, directory):
    """Wire bytes by argument."""
    path = lambda name: os.path.join(directory, name)
    with open(path("p.mlir"), "w") as f:
        f.write(text)
    with open(path("t.json"), "w") as f:
        json.dump({"name": "bytes", "alpha": 0, "beta": 1e9}, f)
    tessera("compile", path("p.mlir"), "-o", path("p.tsr"), f"--topology={path('t.json')}", f"--report={path('c.json')}").check_returncode()
    sent = collections.Counter()
    with open(path("c.json")) as f:
        for site in json.load(f)["collectives"]:
            sent[int(re.fullmatch(r"p(\d+)", site["location"]).group(1))] += site["wire_bytes"]
    return sent


def tessera_runs(pairs, directory):
    """The numbers of the pairs whose data are wrong."""
    path = lambda name: os.path.join(directory, name)
    inputs = {f"in{i}": np.arange(np.prod(p.shape), dtype=np.float32).reshape(p.shape) + i for i, p in enumerate(pairs)}
    np.savez(path("in.npz"), **inputs)
    tessera("run", path("p.tsr"), f"--inputs={path('in.npz')}", f"--outputs={path('out.npz')}").check_returncode()
    with np.load(path("out.npz")) as found:
        return [i for i in range(len(pairs)) if not np.array_equal(found[f"out{i}"], inputs[f"in{i}"])]


# --- XLA -------------------------------------------------------------------------------------------------------------

KINDS = "all-gather|all-to-all|all-reduce|reduce-scatter|collective-permute"


def group_size(line, devices):
    if found := re.search(r"replica_groups=\{\{([\d,]+)\}", line):
        return found.group(1).count(",") + 1
    if found := re.search(r"replica_groups=\[(\d+),(\d+)\]<=", line):
        return int(found.group(2))
    if found := re.search(r"replica_groups=mesh\[([^\]]*)\].*?\{([^{}]*)\}", line):  # the axes, or parts 'axis':(before)size, that a group spans
        axes = dict(re.findall(r"'(\w+)'=(\d+)", found.group(1)))
        size = 1
        for name, part in re.findall(r"'(\w+)'(?::\(\d+\)(\d+))?", found.group(2)):
            size *= int(part or axes[name])
        return size
    if "replica_groups={}" in line:
        return devices
    raise ValueError(f"groups of unknown form: {line}")


def xla_wire(kind, line, result, devices):
    size = 0
    for dims in re.findall(r"f32\[([\d,]*)\]", result):
        size += 4 * int(np.prod([int(n) for n in dims.split(",") if n] or [1]))
    if kind == "collective-permute":
        return size
    g = group_size(line, devices)
    return size * {"all-gather": (g - 1) / g, "all-to-all": (g - 1) / g, "all-reduce": 2 * (g - 1) / g, "reduce-scatter": g - 1}[kind]


def xla_compile(text, devices, count):
    """Wire bytes by result: of the collectives that each depends on."""
    import jax
    from jax._src import compiler
    options = compiler.get_compile_options(num_replicas=1, num_partitions=devices, device_assignment=np.arange(devices).reshape(1, devices))
    options.executable_build_options.use_spmd_partitioning = True
    options.executable_build_options.use_shardy_partitioner = True
    from jax._src.lib import xla_client
    chosen = xla_client.DeviceList(tuple(jax.devices()[:devices]))
    hlo = chosen[0].client.compile_and_load(text, chosen, options).hlo_modules()[0].to_string()
    operands, wire, root = {}, {}, None
    for line in hlo[hlo.index("\nENTRY"):].splitlines():
        found = re.match(r"\s+(ROOT )?%([\w.\-]+) = (.*?) ([\w\-]+)\((.*)", line)
        if not found:
            continue
        is_root, name, result, kind, rest = found.groups()
        operands[name] = re.findall(r"%([\w.\-]+)", rest.split("), ")[0])
        if exact := re.fullmatch(f"({KINDS})(-start)?", kind):
            wire[name] = xla_wire(exact.group(1), line, result, devices)
        if is_root:
            root = name if kind != "tuple" else operands[name]
    sent = []
    for result in [root] if isinstance(root, str) else root:
        pending, seen = [result], set()
        while pending:
            name = pending.pop()
            if name not in seen:
                seen.add(name)
                pending += operands[name]
        sent.append(sum(wire.get(name, 0) for name in seen))
    assert len(sent) == count
    return sent


def xla_bytes(pairs):
    devices = int(np.prod(pairs[0].mesh))
    if all(map(is_even, pairs)):
        return xla_compile(bordered(pairs), devices, len(pairs))
    both, second = (xla_compile(inside(pairs, start), devices, len(pairs)) for start in (True, False))
    return [x - y for x, y in zip(both, second)]


# --- The comparison --------------------------------------------------------------------------------------------------


def measure(pairs, beside_xla):
    """(pair, ours, XLA's, plain search's, least) for each; None where there is none. Raises where data are wrong."""
    with tempfile.TemporaryDirectory() as directory:
        ours = tessera_compile(bordered(pairs), directory)
        if wrong := tessera_runs(pairs, directory):
            raise SystemExit("\n".join(["wrong data:"] + [describe(pairs[i]) for i in wrong]))
    theirs = xla_bytes(pairs) if beside_xla else [None] * len(pairs)
    for i, pair in enumerate(pairs):
        plain = least = None
        n = int(np.prod(pair.mesh))
        if all(size % n == 0 for size in pair.shape):
            whole = 4 * int(np.prod(pair.shape))
            plain, least = (float(f(sizes_of(pair), pair.a, pair.b) * whole) for f in (lattice.cheapest, lattice.lacking))
        yield pair, ours[i], theirs[i], plain, least


def describe(pair):
    return f"mesh {'x'.join(map(str, pair.mesh))} shape {'x'.join(map(str, pair.shape))}: {sharding(pair, pair.a)} -> {sharding(pair, pair.b)}"


def main():
    parser = seeded.parser(__doc__, 1000)
    parser.add_argument("--uneven", type=float, default=0.4)
    parser.add_argument("--classes", help="a mesh, as 2x2x2")
    parser.add_argument("--rank", type=int, default=3)
    parser.add_argument("--no-xla", action="store_true")
    parser.add_argument("--show", action="store_true", help="every pair")
    arguments = parser.parse_args()
    os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=16"
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
    start = time.time()
    if arguments.classes:
        mesh = tuple(map(int, arguments.classes.split("x")))
        found = list(classes(mesh, arguments.rank, arguments.uneven == 1))
    else:
        rng = random.Random(arguments.seed)
        found = [random_pair(rng, MESHES[i % len(MESHES)], arguments.uneven) for i in range(arguments.count)]
    groups = {}
    for pair in found:
        groups.setdefault((pair.mesh, is_even(pair)), []).append(pair)
    totals, above = collections.Counter(), collections.Counter()
    for pairs in groups.values():
        for at in range(0, len(pairs), BATCH):
            for pair, ours, theirs, plain, least in measure(pairs[at:at + BATCH], not arguments.no_xla):
                bounds = {"XLA": theirs, "a plain search": plain, "the least": least}
                for name, bound in bounds.items():
                    if bound is not None:
                        totals[f"of {name}"] += bound
                        totals[f"ours beside {name}"] += ours
                worse = [name for name, bound in bounds.items() if bound is not None and ours > bound * (1 + 1e-6)]
                above.update(worse)
                if arguments.show or set(worse) - {"the least"}:
                    print(describe(pair), f"ours {ours:g}", *(f"{name} {bound:g}" for name, bound in bounds.items() if bound is not None), sep=", ")
    for name in ("XLA", "a plain search", "the least"):
        if totals[f"of {name}"]:
            print(f"{totals[f'ours beside {name}'] / totals[f'of {name}']:.4f} of the bytes of {name}, {above[name]} pairs above")
    print(f"{len(found)} pairs, data right, {time.time() - start:.1f} s")
    sys.exit(1 if above["XLA"] or above["a plain search"] else 0)


if __name__ == "__main__":
    main()
