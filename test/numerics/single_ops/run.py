"""Random single-op programs against StableHLO's reference interpreter and XLA.

  run.py [--count=N] [--seed=S] [--ops=NAME,..|unusual] [--batch=N] [--zero] [--json=FILE]
Case i has seed S + i and is the same in every batch: `run.py --count=1 --seed=THAT --show` prints its program. --batch=1 compiles a
program for each case. An element is right when the interpreter or XLA gives it, within what its type and the length of its sums allow.
../command_line.py tells which binaries, and which processor the programs are for.
"""
import collections
import json
import os
import re
import sys
import tempfile
import time

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import command_line
import contractions
import control
import elementwise
import indexing
import movement
import reductions
import rewritten
import seeded
import unusual
from case import module
from oracles import Oracles
from verdict import differ

FAMILIES = [elementwise, movement, reductions, indexing, contractions, control, rewritten]
GENERATORS = [(name, make, weight) for family in FAMILIES for name, make, weight in family.GENERATORS]


# What docs/limits.md says is refused.
REFUSED = ["no kernel code for element type", "no kernel code for 'stablehlo.", "which programs cannot take"]


def generate(seed, generators, zero=False):
    rng = np.random.default_rng(seed)
    weights = np.array([weight for _, _, weight in generators], float)
    _, make, _ = generators[rng.choice(len(generators), p=weights / weights.sum())]
    case = make(rng, zero=zero)
    case.seed = seed
    return case


class Refused(Exception):
    """The compiler's or the runtime's error line; `crash` when it died otherwise."""

    def __init__(self, message, crash):
        super().__init__(message)
        self.message, self.crash = message, crash


def tessera(*arguments):
    done = command_line.tessera(*arguments)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.startswith("error:")]
        raise Refused("\n".join(lines) or f"exit code {done.returncode}: {done.stderr[-300:]}", done.returncode != 1 or not lines)


def as_input(x):
    """16-bit and narrower floats travel as float32; narrow integers as int8."""
    if "float" in str(x.dtype) and x.dtype.itemsize < 4:
        return x.astype(np.float32)
    if str(x.dtype) in ("int2", "int4", "uint2", "uint4"):
        return x.astype(str(x.dtype).replace("2", "8").replace("4", "8"))
    return x


def execute(cases):
    """The outputs of each case, by one program of them all."""
    with tempfile.TemporaryDirectory() as directory:
        path = lambda name: os.path.join(directory, name)
        with open(path("p.mlir"), "w") as f:
            f.write(module(cases))
        tessera("compile", path("p.mlir"), "-o", path("p.tsr"))
        inputs = [x for c in cases for x in c.data]
        np.savez(path("in.npz"), **{f"in{i}": as_input(x) for i, x in enumerate(inputs)})
        tessera("run", path("p.tsr"), f"--inputs={path('in.npz')}", f"--outputs={path('out.npz')}")
        with np.load(path("out.npz")) as found:
            outputs = iter([found[f"out{i}"] for i in range(len(found.files))])
        return [[next(outputs) for _ in c.results] for c in cases]


def outcomes(cases):
    """For each case its outputs or a Refused. A program that is refused for one case is tried again without it."""
    if not cases:
        return {}
    try:
        return dict(zip((c.number for c in cases), execute(cases)))
    except Refused as refused:
        if len(cases) == 1:
            return {cases[0].number: refused}
        named = {int(n) for n in re.findall(r"case(\d+)\b", refused.message)} & {c.number for c in cases}
        if named and not refused.crash:
            found = {n: Refused(refused.message, False) for n in named}
            return found | outcomes([c for c in cases if c.number not in named])
        half = len(cases) // 2
        return outcomes(cases[:half]) | outcomes(cases[half:])


def scales(cases, oracle, oracles):
    """The magnitudes that a sum of products adds up: the op on its operands' magnitudes."""
    found = {}
    asked = [c for c in cases if c.tolerance.by_magnitude]
    kept = [c.data for c in asked]
    for c in asked:
        with np.errstate(all="ignore"):
            c.data = [np.abs(x).astype(x.dtype) if value.type.kind in ("float", "complex") else x for x, value in zip(c.data, c.args)]
    for c, answer, data in zip(asked, oracles.answers(oracle, asked), kept):
        c.data = data
        if not isinstance(answer, str):
            found[c.number] = answer
    return found


def judge(cases, oracles):
    """Yields (case, verdict, detail): ok, refused, crash, wrong, or unchecked."""
    ran = outcomes(cases)
    there = [c for c in cases if not isinstance(ran[c.number], Refused)]
    answers, magnitudes = {c.number: c.expected for c in there if c.expected}, {}
    first = {c.number: "xla" if c.large else "interpreter" for c in there if c.number not in answers and not c.check}
    for which in ("interpreter", "xla"):
        asked = [c for c in there if first.get(c.number) == which]
        answers |= dict(zip((c.number for c in asked), oracles.answers(which, asked)))
        magnitudes |= scales(asked, which, oracles)
    for c in cases:
        got = ran[c.number]
        if isinstance(got, Refused):
            yield c, "crash" if got.crash else "refused", got.message.splitlines()[0]
            continue
        if c.check:
            wrong = c.check(got)
            yield c, "wrong" if wrong else "ok", wrong or ""
            continue
        found = [answers[c.number]]
        wrong = compared(got, found, c, magnitudes)
        if wrong and not c.expected:
            other = "interpreter" if c.large else "xla"
            found += oracles.answers(other, [c])
            if c.number not in magnitudes:
                magnitudes |= scales([c], other, oracles)
            wrong = compared(got, found, c, magnitudes)
        if wrong and not c.expected:  # of some sorts XLA gives other results among others than alone
            wrong = compared(got, found + oracles.answers("xla", [c]), c, magnitudes)
        unchecked = all(isinstance(answer, str) for answer in found)
        yield c, "unchecked" if unchecked else "wrong" if wrong else "ok", wrong or ""


def compared(got, answers, case, magnitudes):
    known = [answer for answer in answers if not isinstance(answer, str)]
    return differ(got, known, case, magnitudes.get(case.number)) if known else answers[0]


def short(message):
    """The message without the place, the shapes, and how many more there were."""
    message = re.sub(r"^error: (\S*p\.mlir\S*: )?(case\d+: )?", "", message)
    message = re.sub(r"tensor<(?:\d+x)*([^<>]*(?:<\w+>)?)>", r"\1", message)
    return re.sub(r" \(and \d+ more\)$", "", message)


def main():
    parser = seeded.parser(__doc__, 200)
    parser.add_argument("--batch", type=int, default=40)
    parser.add_argument("--ops", default="")
    parser.add_argument("--zero", action="store_true", help="dimensions of size 0 too")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    names = arguments.ops.split(",") if arguments.ops else []
    generators = [g for g in GENERATORS + unusual.GENERATORS if g[0] in names] if names else GENERATORS
    if names == ["unusual"]:
        generators = unusual.GENERATORS
    start, oracles, tally, table = time.time(), Oracles(), collections.Counter(), []
    reasons, unexpected = collections.Counter(), 0
    for first in range(0, arguments.count, arguments.batch):
        seeds = range(arguments.seed + first, arguments.seed + min(first + arguments.batch, arguments.count))
        cases = [generate(seed, generators, arguments.zero) for seed in seeds]
        if arguments.show:
            for c in cases:
                print(module([c]), *(f"{a}: {x!r}\n" for a, x in zip(c.args, c.data)))
        for c, verdict, detail in judge(cases, oracles):
            tally[verdict] += 1
            table.append({"op": c.op, "types": c.compared_by(), "seed": c.seed, "verdict": verdict, "detail": detail})
            may_be_refused = verdict == "refused" and any(reason in detail for reason in REFUSED)
            unexpected += verdict in ("wrong", "crash") or (verdict == "refused" and not may_be_refused)
            if may_be_refused:
                reasons[f"{c.op}: {short(detail)}"] += 1
            elif verdict != "ok":
                print(f"{verdict:9s} {c.op:24s} {c.compared_by():16s} --seed={c.seed} {detail[:400]}", flush=True)
    for reason, count in reasons.most_common():
        print(f"refused {count:5d} x {reason[:200]}")
    print(f"{dict(tally)} in {time.time() - start:.1f} s")
    if arguments.json:
        with open(arguments.json, "w") as f:
            json.dump(table, f, indent=0)
    oracles.stop()
    sys.exit(1 if unexpected or not tally["ok"] else 0)


if __name__ == "__main__":
    main()
