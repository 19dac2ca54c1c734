"""Collectives by tables of replicas, partitions and devices, in programs written for one device of many, against numpy.

  collectives.py [--count=N] [--seed=S] [--show]
Each program runs on replicas x partitions devices; its inputs and outputs have one entry for each device (docs/limits.md). What is right
is computed here as the specification says it: process groups first, then what each process of a group gets.
"""
import os
import sys
import tempfile
import time

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import run
import seeded
from case import tensor
from element_types import BY_NAME, choose, data, of


def process_groups(kind, table, replicas, partitions):
    """Lists of (replica, partition)."""
    if kind == "cross_replica":
        return [[(r, p) for r in row] for row in table for p in range(partitions)]
    if kind == "cross_partition":
        return [[(r, p) for p in row] for row in table for r in range(replicas)]
    if kind == "cross_replica_and_partition":
        return [[(r, p) for p in range(partitions) for r in row] for row in table]
    return [[divmod(i, partitions) for i in row] for row in table]


REDUCERS = {
    "add": ("stablehlo.add %a, %b", np.add), "multiply": ("stablehlo.multiply %a, %b", np.multiply),
    "maximum": ("stablehlo.maximum %a, %b", np.maximum), "minimum": ("stablehlo.minimum %a, %b", np.minimum),
    "xor": ("stablehlo.xor %a, %b", np.bitwise_xor), "or": ("stablehlo.or %a, %b", np.bitwise_or), "and": ("stablehlo.and %a, %b", np.bitwise_and),
    # An associative one that no collective knows: the larger magnitude, the first of equals.
    "larger": (None, lambda a, b: np.where(np.abs(a) >= np.abs(b), a, b)),
}


class Program:
    def __init__(self, seed):
        self.rng = rng = np.random.default_rng(seed)
        self.replicas, self.partitions = [(1, 4), (2, 2), (4, 1), (2, 3), (1, 6), (3, 2), (1, 8), (8, 1), (2, 4)][rng.integers(9)]
        self.devices = self.replicas * self.partitions
        self.op = rng.choice(["all_reduce", "all_gather", "reduce_scatter", "all_to_all", "collective_permute", "collective_broadcast",
                              "rooted_broadcast", "collective_reduce", "cross_replica_sum", "ids", "send", "ragged_all_to_all"])
        self.more = []  # arguments after the first
        getattr(self, self.op)()

    # Tables.
    def numbered(self, kind):
        return {"cross_replica": self.replicas, "cross_replica_and_partition": self.replicas, "cross_partition": self.partitions,
                "flattened_ids": self.devices}[kind]

    def table(self, kind, uneven=False):
        """Every number in one group, in random order or by rows."""
        n = self.numbered(kind)
        order = [int(i) for i in (self.rng.permutation(n) if self.rng.random() < 0.6 else range(n))]
        if uneven and self.rng.random() < 0.4:
            cut = int(self.rng.integers(0, n, endpoint=True))
            return [row for row in (order[:cut], order[cut:]) if row]
        size = int(self.rng.choice([k for k in range(1, n + 1) if n % k == 0]))
        rows = [order[i:i + size] for i in range(0, n, size)]
        return rows if self.rng.random() < 0.7 else [list(row) for row in zip(*rows)]

    def kind(self, kinds):
        self.addressing = str(self.rng.choice(kinds))
        self.channel = {"cross_replica": "", "flattened_ids": ", channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids"}.get(
            self.addressing, ", channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>")
        return self.addressing

    def groups(self, rows, name="replica_groups"):
        width = max(map(len, rows), default=0)
        padded = [row + [-1] * (width - len(row)) for row in rows]
        return f"{name} = dense<{padded if rows else ''}> : tensor<{len(rows)}x{width}xi64>{self.channel}"

    # Data: one entry for each device.
    def operand(self, shape, types=of("int", "float", "bool")):
        self.type = choose(self.rng, types)
        self.x = data(self.rng, self.type, (self.devices, *shape), None)
        self.shape = tuple(shape)

    def by_device(self, process):
        return process[0] * self.partitions + process[1]

    def write(self, attributes, result_shape, region=""):
        before, after = tensor(self.type, self.shape), tensor(self.type, result_shape)
        name = {"rooted_broadcast": "collective_broadcast", "cross_replica_sum": "cross-replica-sum"}.get(self.op, self.op)
        roots = len(self.more)
        body = f'  %0 = "stablehlo.{name}"(%x{", %roots" * roots}) <{{{attributes}}}>{region} : ({before}{", tensor<1xi32>" * roots}) -> {after}\n'
        self.module(body, after, ", %roots: tensor<1xi32>" * roots)

    def module(self, body, result, more=""):
        self.text = (f"module attributes {{mhlo.num_replicas = {self.replicas} : i32, mhlo.num_partitions = {self.partitions} : i32}} {{\n"
                     f"func.func public @main(%x: {tensor(self.type, self.shape)}{more}) -> {result} {{\n{body}  return %0 : {result}\n}}\n}}\n")

    def reducer(self):
        names = ["add", "multiply", "maximum", "minimum", "larger"]
        if self.type.kind != "float":
            names = ["maximum", "minimum", "xor", "or", "and"] + (["add"] if self.type.kind != "bool" else [])
        name = str(self.rng.choice(names))
        t = tensor(self.type, ())
        line, function = REDUCERS[name]
        lines = f"    %r = {line} : {t}\n"
        if name == "larger":
            lines = (f"    %p = stablehlo.abs %a : {t}\n    %q = stablehlo.abs %b : {t}\n    %c = stablehlo.compare GE, %p, %q : ({t}, {t}) -> tensor<i1>\n"
                     f"    %r = stablehlo.select %c, %a, %b : tensor<i1>, {t}\n")
        return f" ({{\n  ^bb0(%a: {t}, %b: {t}):\n{lines}    stablehlo.return %r : {t}\n  }})", function

    def reduced(self, members, function):
        total = self.x[members[0]]
        for device in members[1:]:
            total = function(total, self.x[device]).astype(self.x.dtype)
        return total

    def everyone(self, rows):
        return [[self.by_device(p) for p in group] for group in process_groups(self.addressing, rows, self.replicas, self.partitions)]

    # Ops.
    def all_reduce(self):
        rows = self.table(self.kind(["cross_replica", "cross_replica_and_partition", "flattened_ids"]), uneven=True)
        self.operand(self.rng.integers(1, 5, self.rng.integers(0, 3)))
        region, function = self.reducer()
        self.write(self.groups(rows), self.shape, region)
        self.expected = np.empty_like(self.x)
        for members in self.everyone(rows):
            self.expected[members] = self.reduced(members, function)

    def all_gather(self):
        rows = self.table(self.kind(["cross_replica", "cross_replica_and_partition", "flattened_ids"]))
        self.operand(self.rng.integers(1, 5, self.rng.integers(1, 4)))
        dim = int(self.rng.integers(len(self.shape)))
        everyone = self.everyone(rows)
        shape = list(self.shape)
        shape[dim] *= len(everyone[0])
        self.write(f"all_gather_dim = {dim} : i64, " + self.groups(rows), shape)
        self.expected = np.empty((self.devices, *shape), self.x.dtype)
        for members in everyone:
            self.expected[members] = np.concatenate([self.x[d] for d in members], dim)

    def reduce_scatter(self):
        rows = self.table(self.kind(["cross_replica", "cross_replica_and_partition", "flattened_ids"]))
        everyone = self.everyone(rows)
        size = len(everyone[0])
        shape = [int(n) for n in self.rng.integers(1, 4, self.rng.integers(1, 4))]
        dim = int(self.rng.integers(len(shape)))
        result = list(shape)
        shape[dim] *= size
        self.operand(shape)
        region, function = self.reducer()
        self.write(f"scatter_dimension = {dim} : i64, " + self.groups(rows), result, region)
        self.expected = np.empty((self.devices, *result), self.x.dtype)
        for members in everyone:
            for device, part in zip(members, np.split(self.reduced(members, function), size, dim)):
                self.expected[device] = part

    def all_to_all(self):
        rows = self.table(self.kind(["cross_replica", "cross_partition"]))
        everyone = self.everyone(rows)
        size = len(everyone[0])
        shape = [int(n) for n in self.rng.integers(1, 4, self.rng.integers(1, 4))]
        split, concat = (int(self.rng.integers(len(shape))) for _ in "sc")
        shape[split] *= size
        self.operand(shape, of("int", "float", "bool", "complex"))
        result = list(shape)
        result[split] //= size
        result[concat] *= size
        self.write(f"split_dimension = {split} : i64, concat_dimension = {concat} : i64, split_count = {size} : i64, " + self.groups(rows), result)
        self.expected = np.empty((self.devices, *result), self.x.dtype)
        for members in everyone:
            for i, device in enumerate(members):
                self.expected[device] = np.concatenate([np.split(self.x[d], size, split)[i] for d in members], concat)

    def pairs(self):
        n = self.numbered(self.addressing)
        count = int(self.rng.integers(0 if self.op != "send" else 1, n, endpoint=True))
        return [[int(s), int(t)] for s, t in zip(self.rng.permutation(n)[:count], self.rng.permutation(n)[:count])]

    def permuted(self, pairs):
        self.expected = np.zeros_like(self.x)
        for source, target in self.everyone(pairs):
            self.expected[target] = self.x[source]

    def collective_permute(self):
        self.kind(["cross_replica", "cross_partition"])
        pairs = self.pairs()
        self.operand(self.rng.integers(1, 5, self.rng.integers(0, 4)), of("int", "float", "bool", "complex"))
        self.write(f"source_target_pairs = dense<{pairs if pairs else ''}> : tensor<{len(pairs)}x2xi64>{self.channel}", self.shape)
        self.permuted(pairs)

    def collective_broadcast(self):
        self.kind(["cross_replica", "cross_partition"])
        n = self.numbered(self.addressing)
        order = [int(i) for i in self.rng.permutation(n)[:self.rng.integers(1, n, endpoint=True)]]
        size = int(self.rng.choice([k for k in range(1, len(order) + 1) if len(order) % k == 0]))
        rows = [order[i:i + size] for i in range(0, len(order), size)]
        self.operand(self.rng.integers(1, 5, self.rng.integers(0, 3)), of("int", "float", "bool", "complex"))
        self.write(self.groups(rows), self.shape)
        self.expected = np.zeros_like(self.x)
        for members in self.everyone(rows):
            self.expected[members] = self.x[members[0]]

    def root(self, size):
        """The member of each group that is meant, as the operation's last operand half of the time. Returns the attribute."""
        self.at = 0
        if self.op == "rooted_broadcast" or self.rng.random() < 0.5:
            self.at = int(self.rng.integers(size))
            self.more = [np.full((self.devices, 1), self.at, np.int32)]
        return ", has_dynamic_root" if self.more else ""

    def rooted_broadcast(self):
        self.kind(["cross_replica", "cross_partition"])
        rows = self.table(self.addressing)
        attribute = self.root(len(rows[0]))
        self.operand(self.rng.integers(1, 5, self.rng.integers(0, 3)), of("int", "float", "bool", "complex"))
        self.write(self.groups(rows) + attribute, self.shape)
        self.expected = np.zeros_like(self.x)
        for members in self.everyone(rows):
            self.expected[members] = self.x[members[self.at]]

    def collective_reduce(self):
        rows = self.table(self.kind(["cross_replica", "cross_partition"]))
        attribute = self.root(len(rows[0]))
        self.operand(self.rng.integers(1, 5, self.rng.integers(0, 3)))
        region, function = self.reducer()
        self.write(self.groups(rows) + attribute, self.shape, region)
        self.expected = np.zeros_like(self.x)
        for members in self.everyone(rows):
            self.expected[members[self.at]] = self.reduced(members, function)

    def cross_replica_sum(self):
        self.addressing, self.channel = "cross_replica", ""
        rows = self.table(self.addressing, uneven=True)
        self.operand(self.rng.integers(1, 5, self.rng.integers(0, 3)), of("int", "float"))
        self.write(self.groups(rows), self.shape)
        self.expected = np.empty_like(self.x)
        for members in self.everyone(rows):
            self.expected[members] = self.reduced(members, np.add)

    def send(self):
        self.kind(["cross_replica", "cross_partition"])
        pairs = self.pairs()
        self.operand(self.rng.integers(1, 5, self.rng.integers(0, 3)))
        t, handle = tensor(self.type, self.shape), 0 if self.addressing == "cross_replica" else 7
        attributes = (f"<{{channel_handle = #stablehlo.channel_handle<handle = {handle}, type = 1>, is_host_transfer = false,"
                      f" source_target_pairs = dense<{pairs}> : tensor<{len(pairs)}x2xi64>}}>")
        token = "!stablehlo.token"
        self.module(f'  %t = stablehlo.create_token : {token}\n  %s = "stablehlo.send"(%x, %t) {attributes} : ({t}, {token}) -> {token}\n'
                    f'  %0, %u = "stablehlo.recv"(%s) {attributes} : ({token}) -> ({t}, {token})\n', t)
        self.permuted(pairs)

    def ragged_all_to_all(self):
        self.kind(["cross_replica", "cross_partition"])
        rows = self.table(self.addressing)
        everyone = self.everyone(rows)
        size, sent, received = len(everyone[0]), int(self.rng.integers(1, 9)), int(self.rng.integers(1, 12))
        rest = [int(n) for n in self.rng.integers(1, 4, self.rng.integers(0, 3))]
        self.operand([sent, *rest])
        output = data(self.rng, self.type, (self.devices, received, *rest), None)
        start, count, target, arriving = (np.zeros((self.devices, size), np.int32) for _ in "scta")
        self.expected = output.copy()
        for members in everyone:
            for j, receiver in enumerate(members):
                row = 0
                for i in self.rng.permutation(size):
                    sender = members[i]
                    length = int(self.rng.integers(0, min(sent, received - row), endpoint=True))
                    first = int(self.rng.integers(0, sent - length, endpoint=True))
                    start[sender, j], count[sender, j], target[sender, j], arriving[receiver, i] = first, length, row, length
                    self.expected[receiver, row:row + length] = self.x[sender, first:first + length]
                    row += length
        self.more = [output, start, count, target, arriving]
        operand, result, numbers = tensor(self.type, self.shape), tensor(self.type, output.shape[1:]), f"tensor<{size}xi32>"
        channel = 1 if self.addressing == "cross_partition" else 0
        config = f"{{channel_id = {channel} : i64, replica_groups = dense<{rows}> : tensor<{len(rows)}x{size}xi64>}}"
        self.module(f"  %0 = stablehlo.custom_call @ragged_all_to_all(%x, %o, %a, %b, %c, %d) {{api_version = 4 : i32, backend_config = {config}}} : "
                    f"({operand}, {result}{f', {numbers}' * 4}) -> {result}\n", result,
                    f", %o: {result}, " + ", ".join(f"{name}: {numbers}" for name in ("%a", "%b", "%c", "%d")))

    def ids(self):
        self.operand((), [BY_NAME["ui32"]])
        self.addressing = ""
        self.module("  %r = stablehlo.replica_id : tensor<ui32>\n  %p = stablehlo.partition_id : tensor<ui32>\n  %c = stablehlo.constant dense<100> : tensor<ui32>\n"
                    "  %m = stablehlo.multiply %r, %c : tensor<ui32>\n  %s = stablehlo.add %m, %p : tensor<ui32>\n  %0 = stablehlo.add %s, %x : tensor<ui32>\n", "tensor<ui32>")
        device = np.arange(self.devices)
        self.expected = self.x + (device // self.partitions * 100 + device % self.partitions).astype(np.uint32)


def check(program):
    """None, or what is wrong."""
    with tempfile.TemporaryDirectory() as directory:
        path = lambda name: os.path.join(directory, name)
        with open(path("p.mlir"), "w") as f:
            f.write(program.text)
        np.savez(path("in.npz"), **{f"in{i}": run.as_input(x) for i, x in enumerate([program.x, *program.more])})
        try:
            run.tessera("compile", path("p.mlir"), "-o", path("p.tsr"))
            run.tessera("run", path("p.tsr"), f"--inputs={path('in.npz')}", f"--outputs={path('out.npz')}")
        except run.Refused as refused:
            return refused.message
        with np.load(path("out.npz")) as found:
            got = found["out0"]
    expected = run.as_input(program.expected)
    if got.shape != expected.shape:
        return f"shape {got.shape}, not {expected.shape}"
    exact = program.type.kind not in ("float", "complex")
    tolerance = 0 if exact else 4 * program.devices * program.type.eps
    if exact and np.array_equal(got, expected) or not exact and np.allclose(got, expected, tolerance, tolerance):
        return None
    return f"{got.tolist()}, should be {expected.tolist()}"


def main():
    parser = seeded.parser(__doc__, 50)
    parser.add_argument("--show", action="store_true")
    arguments = parser.parse_args()
    start, failed = time.time(), 0
    for seed in range(arguments.seed, arguments.seed + arguments.count):
        program = Program(seed)
        if arguments.show:
            print(program.text, program.x)
        wrong = check(program)
        failed += wrong is not None
        if wrong:
            print(f"FAIL {program.op} {program.addressing} {program.replicas}x{program.partitions} --seed={seed} {wrong[:300]}", flush=True)
    print(f"{arguments.count - failed} of {arguments.count} as they should be in {time.time() - start:.1f} s")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
