"""What is executed of each op in each element type, from programs that ran.

  coverage.py --output=FILE.md [--cases=N] [--ops=NAME,..]
Each op meets each type that it takes in N random programs (edge values among them); they are judged as run.py judges.
"""
import argparse
import collections
import os
import sys
import time

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import run
from element_types import ALL, Forced
from oracles import Oracles

BATCH = 64


def cases_of(generator, t, count):
    """Programs of one op about one type; none when the op doesn't take it."""
    name, make, _ = generator
    cases = []
    for i in range(8 * count):
        Forced.type, Forced.used = t, False
        case = make(np.random.default_rng([i, len(name), t.bits]), zero=False)
        case.seed = i
        cases += [case] if Forced.used else []
        if len(cases) == count:
            break
    Forced.type = None
    return cases


def cell(verdicts, notes):
    """(symbol, note): every program right, or what else."""
    if verdicts["wrong"] or verdicts["crash"]:
        return "wrong"
    if verdicts["refused"] and not verdicts["ok"]:
        return notes
    if verdicts["refused"]:
        return "part " + notes
    return "yes" if verdicts["ok"] else "?"


def table(found, types):
    reasons, lines = {}, []
    lines.append("| op | " + " | ".join(t.name for t in types) + " |")
    lines.append("| --- |" + " --- |" * len(types))
    for op in sorted({op for op, _ in found}):
        row = []
        for t in types:
            if (op, t.name) not in found:
                row.append("")
                continue
            verdicts, messages = found[op, t.name]
            note = ""
            if messages:
                number = reasons.setdefault(messages[0], len(reasons) + 1)
                note = f"[{number}](#refused)"
            row.append(cell(verdicts, note))
        lines.append(f"| {op} | " + " | ".join(row) + " |")
    lines += ["", "## Refused", ""] + [f"{number}. {reason}" for reason, number in reasons.items()]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", required=True)
    parser.add_argument("--cases", type=int, default=3)
    parser.add_argument("--ops", default="")
    arguments = parser.parse_args()
    names = arguments.ops.split(",") if arguments.ops else []
    start, oracles = time.time(), Oracles()
    work = [(t, case) for t in ALL for generator in run.GENERATORS if not names or generator[0] in names
            for case in cases_of(generator, t, arguments.cases)]
    found = {}
    for first in range(0, len(work), BATCH):
        part = work[first:first + BATCH]
        types = {case.number: t for t, case in part}
        for case, verdict, detail in run.judge([case for _, case in part], oracles):
            verdicts, messages = found.setdefault((case.op, types[case.number].name), (collections.Counter(), []))
            verdicts[verdict] += 1
            if verdict == "refused":
                messages.append(run.short(detail))
            elif verdict in ("wrong", "crash"):
                print(f"{verdict} {case.op} {types[case.number]} {detail[:200]}", flush=True)
    oracles.stop()
    total = sum((verdicts for verdicts, _ in found.values()), collections.Counter())
    with open(arguments.output, "w") as f:
        f.write("# What is executed\n\nMade by `ninja coverage` from programs that ran: each op in each element type that it takes, with random shapes, attributes and edge\n"
                "values, against StableHLO's reference interpreter and XLA. *yes*: all right; *part*: some programs are refused; a number: refused, and why.\n"
                f"{total['ok']} programs right, {total['refused']} refused, {total['wrong'] + total['crash']} wrong, {total['unchecked']} that no reference runs.\n\n")
        f.write(table(found, ALL))
    print(f"{dict(total)} in {time.time() - start:.1f} s")
    sys.exit(1 if total["wrong"] or total["crash"] or not total["ok"] else 0)


if __name__ == "__main__":
    main()
