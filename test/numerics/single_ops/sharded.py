"""Every op along every factor of its rule: one dimension of one argument or result is sharded, propagation carries that to all that have
the factor, and the partitioned program gives what it gives on one device.

  sharded.py [--cases=N] [--seed=S] [--ops=NAME,..] [--batch=N] [--show]
Each dimension is sharded 2, 3 and 6 ways in turn: evenly, with padding, and with empty shards. The ops are those of the dialects as they
were built: one that no program here holds, and that ELSEWHERE does not name, fails the test.
"""
import argparse
import collections
import glob
import os
import re
import sys
import time

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import run
import sharded_programs
from case import module

AXES = ['"x"', '"y"', '"x", "y"']

# Ops without elements to shard, or that only compile where something else holds; and what tests those.
ELSEWHERE = {
    "stablehlo.return": "ends a region",
    "stablehlo.create_token": "tokens have no elements",
    "stablehlo.after_all": "tokens have no elements",
    "stablehlo.infeed": "transfers with the host parse but do not compile (docs/limits.md)",
    "stablehlo.outfeed": "transfers with the host",
    "stablehlo.send": "paired by import: single_ops/collectives.py",
    "stablehlo.recv": "paired by import: single_ops/collectives.py",
    "stablehlo.collective_reduce": "between replicas and partitions, of programs without shardings: single_ops/collectives.py",
    "stablehlo.cross-replica-sum": "between replicas: single_ops/collectives.py",
}


def ops_of_the_dialects():
    names = set()
    for file in glob.glob(os.path.join(run.command_line.BIN, "..", "dialects", "*", "*.h.inc")):
        with open(file) as f:
            names |= set(re.findall(r'StringLiteral\("((?:stablehlo|chlo)\.[\w-]+)"\)', f.read()))
    return names


def ops_of(case):
    return set(re.findall(r"\b((?:stablehlo|chlo)\.[\w-]+)\"?[ (]", "\n".join(case.lines + case.functions)))


def annotated(make, seed, value, dim, axes):
    """The program of this seed with dimension `dim` of its value number `value` (arguments, then results) sharded along `axes`."""
    case = make(np.random.default_rng(seed), zero=False)
    case.seed = seed
    rank = len((case.args + case.results)[value].shape)
    dims = ", ".join(f"{{{axes}}}" if d == dim else "{?}" for d in range(rank))
    (case.args + case.results)[value].sharding = f" {{sdy.sharding = #sdy.sharding<@mesh, [{dims}]>}}"
    case.what = f"{'argument' if value < len(case.args) else 'result'} {value if value < len(case.args) else value - len(case.args)}, dimension {dim} along {axes}"
    return case


def variants(make, seed, turn):
    """The program itself, and one for each of its dimensions."""
    whole = make(np.random.default_rng(seed), zero=False)
    whole.seed = seed
    places = [(v, d) for v, value in enumerate(whole.args + whole.results) for d, size in enumerate(value.shape) if size > 1]
    of = getattr(whole, "axes", AXES)
    return whole, [annotated(make, seed, v, d, of[(turn + i) % len(of)]) for i, (v, d) in enumerate(places)]


def programs(make, seed, count):
    """`count` programs of an op that have something to shard, with their variants."""
    found = 0
    for i in range(60):
        whole, parts = variants(make, seed + i, seed + i)
        if parts:
            yield whole, parts
            found += 1
        if found == count:
            return


def magnitudes(case):
    """A copy of the program on its operands' magnitudes, where its tolerance is in terms of them."""
    with np.errstate(all="ignore"):
        case.data = [np.abs(x).astype(x.dtype) if value.type.kind in ("float", "complex") else x for x, value in zip(case.data, case.args)]
    return case


def differing(whole, parts, ran, scales):
    """[(program, what is wrong)]"""
    reference = ran[whole.number]
    if isinstance(reference, run.Refused):
        return [(whole, f"refused on one device: {reference.message}")]
    wrong = []
    for part in parts:
        got = ran[part.number]
        if isinstance(got, run.Refused):
            wrong.append((part, ("crash: " if got.crash else "refused: ") + got.message.splitlines()[0]))
            continue
        difference = part.check(got) if part.check else run.differ(got, [reference], part, scales)
        if difference:
            wrong.append((part, difference))
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=1, help="programs of each op")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--ops", default="")
    parser.add_argument("--batch", type=int, default=120)
    parser.add_argument("--show", action="store_true")
    arguments = parser.parse_args()
    names = arguments.ops.split(",") if arguments.ops else []
    start, covered, count, failed = time.time(), collections.Counter(), 0, 0
    waiting, work = 0, []

    def flush():
        nonlocal count, failed, work, waiting
        wholes = [case for whole, _, scaled in work for case in (whole, scaled) if case]
        ran = run.outcomes(wholes) | run.outcomes([part for _, parts, _ in work for part in parts])
        for whole, parts, scaled in work:
            scales = ran[scaled.number] if scaled and not isinstance(ran[scaled.number], run.Refused) else None
            wrong = differing(whole, parts, ran, scales)
            count += len(parts)
            failed += len(wrong)
            for op in ops_of(whole):
                covered[op] += len(parts)
            for case, text in wrong:
                print(f"{case.op:24s} --seed={case.seed} {getattr(case, 'what', '')}: {text[:300]}", flush=True)
        work, waiting = [], 0

    generators = [(name, make) for name, make, _ in run.GENERATORS] + sharded_programs.GENERATORS
    for name, make in generators:
        if names and name not in names:
            continue
        for whole, parts in programs(make, arguments.seed, arguments.cases):
            scaled = magnitudes(make(np.random.default_rng(whole.seed), zero=False)) if whole.tolerance.by_magnitude else None
            if arguments.show:
                for part in parts:
                    print(f"// {name}: {part.what}\n{module([part])}")
            work.append((whole, parts, scaled))
            waiting += len(parts)
            if waiting >= arguments.batch:
                flush()
    flush()
    missing = sorted(ops_of_the_dialects() - set(op for op, n in covered.items() if n) - set(ELSEWHERE)) if not names else []
    if missing:
        print("no program shards", ", ".join(missing), "(give it a generator, or say in ELSEWHERE why it needs none)")
    print(f"{count - failed} of {count} sharded programs as on one device, {len(covered)} ops, in {time.time() - start:.1f} s")
    sys.exit(1 if failed or missing or not count else 0)


if __name__ == "__main__":
    main()
