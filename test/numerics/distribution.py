"""How each op is distributed along each of its dimensions, and what that moves: docs/distribution.md, from its sharding rule and from programs
that are compiled now.

  distribution.py [--output=FILE.md] [--check=FILE.md] [--share=I/N] [--ops=NAME,..]
For each factor of an op's rule one dimension that has it is sharded on 4, 8 and 16 devices, and propagation and resharding do the rest. The
collectives of the compiler's report are then written in terms of the sizes of arguments and results: a formula that gives the bytes of all three.
"""
import argparse
import collections
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import distribution_programs
from command_line import BIN, tessera

DEVICES = (4, 8, 16)
HEADER = """# How ops are distributed
Made by `ninja distribution` from the sharding rules and from programs that were compiled: each op (in f32, with dimensions of some thousand rows)
with one dimension at a time sharded over g devices. A dimension is written `in0.1`: dimension 1 of the first argument; all those of one factor
stand together, sharding one of them shards all. `tessera-opt --tessera-show-sharding-rules` shows the rules of a program.

- **kind**: of the factor in the op's rule. *pass-through*: a device computes its part of the result from its part of the operands. *reduction*:
  a device has a partial result, and the parts are combined. *permutation*: values cross the boundaries of shards. *whole*: each device needs all
  of the dimension. *in parts*: import has made several ops of this one, whose rules apply.
- **lies**: the results' dimensions that are sharded afterwards; *whole* where every device has all.
- **moves**: collectives, with the report's bytes of one device: what it receives or reduces. `in0` stands for the bytes of the whole argument,
  a row for an index of the sharded dimension. On the wire, in a ring, is (g-1)/g of that for all-gather, all-to-all and reduce-scatter, 2(g-1)/g for
  all-reduce, all of it for permute. Three numbers are those of 4, 8 and 16 devices, where no formula fits. What is moved depends on costs: other
  sizes, other uses of the results, or another topology can have another way.

"""


class Program:
    def __init__(self, name, text):
        self.name, self.text = name, text
        signature = re.search(r"func\.func @main\((.*?)\) -> \(?(.*?)\)? \{\n", text, re.S)
        self.arguments = re.findall(r"tensor<[^>]*>+", signature[1])
        self.results = re.findall(r"tensor<[^>]*>+", signature[2])

    def values(self):
        """{in0: its shape and bytes}"""
        found = {}
        for prefix, types in (("in", self.arguments), ("out", self.results)):
            for i, text in enumerate(types):
                *shape, element = re.match(r"tensor<((?:\d+x)*)(.*)>", text).groups()
                shape = [int(n) for n in shape[0].split("x")[:-1]]
                bits = int(re.search(r"\d+", element)[0]) * (2 if "complex" in element else 1)
                count = 1
                for n in shape:
                    count *= n
                found[f"{prefix}{i}"] = shape, count * max(bits // 8, 1)
        return found

    def annotated(self, place, devices):
        """The program with one dimension sharded."""
        value, dim = place
        shape = self.values()[value][0]
        dims = ", ".join('{"x"}' if d == dim else "{?}" for d in range(len(shape)))
        attribute = f" {{sdy.sharding = #sdy.sharding<@mesh, [{dims}]>}}"
        head, rest = re.match(r"(.*?func\.func @main\()(.*)", self.text, re.S).groups()
        number = int(re.search(r"\d+", value)[0])
        if value.startswith("in"):
            rest = re.sub(rf"(%arg{number}: {re.escape(self.arguments[number])})", rf"\1{attribute}", rest, count=1)
        else:
            before, after = re.match(r"(.*?\) -> )(.*)", rest, re.S).groups()
            results, after = re.match(r"\(?(.*?)\)? (\{\n.*)", after, re.S).groups()
            texts = [text + (attribute if i == number else "") for i, text in enumerate(self.results)]
            rest = before + "(" + ", ".join(texts) + ") " + after
        return f'sdy.mesh @mesh = <["x"={devices}]>\n{head}{rest}'


def factors_of(program):
    """[(dimensions, kind)] by the op's rule, those first in which the factor is the major one; without a rule, each dimension by itself."""
    done = subprocess.run([os.path.join(BIN, "tessera-opt"), "-", "--tessera-show-sharding-rules", "--mlir-print-op-generic"], input=program.text,
                          capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{program.name}: {done.stderr}")
    values = program.values()
    rules = [line for line in done.stdout.splitlines() if re.match(r" {4}\S.*op_sharding_rule<\(", line)]  # of what the entry holds
    if not rules:
        dims = [(value, d) for value, (shape, _) in values.items() for d, size in enumerate(shape) if size > 1]
        return [([place], "in parts") for place in dims if place[0][:2] == "in"] or [([place], "in parts") for place in dims]
    rule = re.search(r"op_sharding_rule<\((.*?)\)->\((.*?)\)(?: \{(.*?)\})?(.*)", rules[-1])
    places = collections.defaultdict(list)
    for prefix, text in (("in", rule[1]), ("out", rule[2])):
        for i, tensor in enumerate(re.findall(r"\[([^\]]*)\]", text)):
            for d, dim in enumerate(tensor.split(", ") if tensor else []):
                for n, letter in enumerate(re.findall(r"[a-z](?:_\d+)?", dim)):
                    places[letter].append((n, f"{prefix}{i}", d))
    kinds = collections.defaultdict(lambda: "pass-through")
    for kind, letters in re.findall(r"(reduction|need_replication|permutation)=\{([^}]*)\}", rule[4]):
        for letter in letters.split(", "):
            kinds[letter] = {"need_replication": "whole"}.get(kind, kind)
    sizes = dict(re.findall(r"([a-z](?:_\d+)?)=(\d+)", rule[3] or ""))
    return [([(value, d) for _, value, d in sorted(places[letter])], kinds[letter]) for letter in places if int(sizes[letter]) > 1]


def compiled(program, place, devices):
    """(the results' sharded dimensions, [(kind, count, bytes)]), or the error."""
    with tempfile.TemporaryDirectory() as directory:
        path = lambda name: os.path.join(directory, name)
        with open(path("p.mlir"), "w") as f:
            f.write(program.annotated(place, devices))
        done = tessera("compile", path("p.mlir"), "-o", path("out.mlir"), "--print-after=propagate", "--stop-after=memory", f"--report={path('r.json')}")
        if done.returncode:
            return done.stderr.strip().splitlines()[-1].replace(path("p.mlir"), "")
        with open(path("r.json")) as f:
            sites = json.load(f)["collectives"]
    results = re.search(r"func\.func (?:public )?@main\(.*?\) -> (.*)", done.stdout)[1]
    lies = []
    for i, text in enumerate(re.findall(r"tensor<[^>]*>+(?: \{[^#]*#sdy\.sharding<@mesh, (\[.*?\])[>,])?", results)):
        lies += [f"out{i}.{d}" for d, dim in enumerate(re.findall(r"\{([^}]*)\}", text)) if '"x"' in dim]
    return lies, [(site["kind"], site["count"], site["bytes"]) for site in sites]


SHARES = {
    "SIZE": lambda g: Fraction(1),
    "SIZE/g": lambda g: Fraction(1, g),
    "g x SIZE": lambda g: Fraction(g),
    "(g-1) x SIZE": lambda g: Fraction(g - 1),
    "log2(g) x SIZE": lambda g: Fraction(g.bit_length() - 1),
    "(g-1)/g x SIZE": lambda g: Fraction(g - 1, g),
}


def fitting(sizes, unit):
    """The share of `unit` bytes that all these sizes are, {devices: bytes}; None without one."""
    return next((name for name, share in SHARES.items() if all(unit * share(g) == size for g, size in sizes.items())), None)


def formula(program, dims, kind, sizes):
    """What gives these bytes, in words."""
    values = program.values()
    order = sorted(values, key=lambda name: name not in {name for name, _ in dims})
    if kind == "all-reduce":  # parts of results
        order.sort(key=lambda name: name.startswith("in"))
    for factor in [Fraction(1), Fraction(2), Fraction(1, 2), Fraction(3), Fraction(1, 4), Fraction(4), Fraction(1, 8)]:
        for name in order:
            share = fitting(sizes, factor * values[name][1])
            if share is not None:
                return share.replace("SIZE", name if factor == 1 else f"{factor} {name}")
    for name, dim in dims:
        row = Fraction(values[name][1], values[name][0][dim])
        for rows in range(1, 65):
            share = fitting(sizes, row * rows)
            if share is not None:
                return share.replace("SIZE", f"{rows} row{'s' * (rows > 1)} of {name}")
    for name, dim in dims:
        row = Fraction(values[name][1], values[name][0][dim])
        if all(size % row == 0 for size in sizes.values()):
            return alternatives([size / row for size in sizes.values()]) + f" rows of {name}"
    return alternatives(sizes.values()) + " bytes"


def alternatives(numbers):
    numbers = [str(n) for n in numbers]
    return numbers[0] if len(set(numbers)) == 1 else ", ".join(numbers[:-1]) + " or " + numbers[-1]


def times(counts):
    """How often, {devices: count}."""
    share = fitting(counts, 1)
    text = share.replace(" x SIZE", "").replace("SIZE", "1") if share is not None else alternatives(counts.values())
    return "" if text == "1" else f"{text} x "


def movement(program, dims, ran):
    """The collectives of {devices: [(kind, count, bytes)]} in words."""
    sequences = {tuple(kind for kind, _, _ in sites) for sites in ran.values()}
    if len(sequences) > 1:  # another way on more devices: kind by kind
        kinds = list(dict.fromkeys(kind for sites in ran.values() for kind, _, _ in sites))
        ran = {g: [(kind, sum(n for k, n, _ in sites if k == kind), sum(b for k, _, b in sites if k == kind)) for kind in kinds] for g, sites in ran.items()}
    parts = collections.OrderedDict()
    for sites in zip(*ran.values()):
        counts, sizes = ({g: site[i] for g, site in zip(ran, sites)} for i in (1, 2))
        each = {g: Fraction(sizes[g], max(counts[g], 1)) for g in ran}
        parts.setdefault((sites[0][0], formula(program, dims, sites[0][0], each)), []).append(counts)
    texts = [times({g: sum(c[g] for c in counts) for g in ran}) + f"{kind} of {size}" for (kind, size), counts in parts.items()]
    return "; ".join(texts) or "nothing"


def rows_of(program):
    """[(dimensions, kind, lies, moves)], dimensions that are alike in one."""
    found = collections.OrderedDict()
    for dims, kind in factors_of(program):
        place = next((p for p in dims if program.values()[p[0]][0][p[1]] >= DEVICES[-1]), None)
        if place is None:  # a window's, an index's
            continue
        ran = {g: compiled(program, place, g) for g in DEVICES}
        wrong = [text for text in ran.values() if isinstance(text, str)]
        if wrong:
            raise RuntimeError(f"{program.name}, {place}: {wrong[0]}")
        lies = ", ".join(ran[DEVICES[0]][0]) or "whole"
        moves = movement(program, dims, {g: sites for g, (_, sites) in ran.items()})
        names = ", ".join(f"{value}.{d}" for value, d in dims)
        found.setdefault((kind, moves, lies != "whole"), []).append((names, lies))
    rows = [(" / ".join(n for n, _ in places), kind, " / ".join(dict.fromkeys(lies for _, lies in places)), moves)
            for (kind, moves, _), places in found.items()]
    if len(rows) == 1 and rows[0][3] == "nothing" and rows[0][2] != "whole" and rows[0][1] in ("pass-through", "in parts"):
        return [("every", rows[0][1], "sharded", "nothing")]
    return rows


def table(measured):
    """Lines; programs with the same rows stand together."""
    alike = collections.OrderedDict()
    for program, rows in measured:
        alike.setdefault(tuple(rows), []).append(program.name.replace("stablehlo.", ""))
    yield "| op | dimension | kind | lies | moves |"
    yield "| --- | --- | --- | --- | --- |"
    for rows, names in alike.items():
        for i, row in enumerate(rows):
            yield f"| {', '.join(names) if i == 0 else ''} | {' | '.join(row)} |"


def measure(programs):
    with ThreadPoolExecutor(2) as pool:
        return list(zip(programs, pool.map(rows_of, programs)))


def check(path, programs):
    """Whether the page says of these programs what they give now."""
    ops, rows, stated = None, [], {}
    with open(path) as file:
        for line in file:
            if line.startswith("| ") and not line.startswith(("| op", "| ---")):
                op, *row = [part.strip() for part in line.strip().strip("|").split("|")]
                ops = op.split(", ") if op else ops
                for name in ops:
                    stated.setdefault(name, []).append(tuple(row))
    wrong = 0
    for program, rows in measure(programs):
        said = stated.get(program.name.replace("stablehlo.", "").split(", ")[0], [])
        if said != rows:
            wrong += 1
            print(f"{program.name}: now {rows}\n    {os.path.basename(path)} says {said}")
    print(f"{len(programs) - wrong} of {len(programs)} programs as {os.path.basename(path)} has them" + ("; ninja distribution, and copy what it wrote" if wrong else ""))
    return not wrong and bool(programs)


def missing(programs):
    """Ops of the dialects of which neither a program nor a sentence tells."""
    sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "single_ops"))
    from sharded import ops_of_the_dialects
    told = {name.split(" ")[0] for program in programs for name in program.name.split(", ")}
    return sorted(ops_of_the_dialects() - told - {f"stablehlo.{name}" for name in distribution_programs.OTHERS})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output")
    parser.add_argument("--check")
    parser.add_argument("--share", default="0/1")
    parser.add_argument("--ops", default="")
    arguments = parser.parse_args()
    programs = [Program(names, text) for names, text in distribution_programs.all_programs()]
    if absent := missing(programs):
        sys.exit("no program has " + ", ".join(absent) + ": distribution_programs.py")
    if arguments.ops:
        programs = [p for p in programs if any(name in p.name for name in arguments.ops.split(","))]
    first, every = map(int, arguments.share.split("/"))
    programs = programs[first::every]
    if arguments.check:
        sys.exit(0 if check(arguments.check, programs) else 1)
    lines = list(table(measure(programs)))
    if not arguments.output:
        print("\n".join(lines))
        return
    others = collections.OrderedDict()
    for name, text in distribution_programs.OTHERS.items():
        others.setdefault(text, []).append(name)
    with open(arguments.output, "w") as file:
        file.write(HEADER + "\n".join(lines) + "\n\n## Others\n" + "".join(f"- **{', '.join(names)}**: {text}.\n" for text, names in others.items()))


if __name__ == "__main__":
    main()
