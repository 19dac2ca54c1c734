"""What is executed of each op in each element type, from programs that ran.

  coverage.py --output=FILE.md [--cases=N] [--ops=NAME,..]     writes the table
  coverage.py --check=FILE.md [--share=I/N]                    runs every N-th cell from the I-th on; fails where the table says otherwise
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


def measure(pairs, count):
    """{(op, type): what its programs gave, refusals with their message}."""
    work = [(t, case) for t, generator in pairs for case in cases_of(generator, t, count)]
    oracles, found = Oracles(), {}
    for first in range(0, len(work), BATCH):
        part = work[first:first + BATCH]
        types = {case.number: t for t, case in part}
        for case, verdict, detail in run.judge([case for _, case in part], oracles):
            outcome = run.short(detail) if verdict == "refused" else verdict
            found.setdefault((case.op, types[case.number].name), collections.Counter())[outcome] += 1
            if verdict in ("wrong", "crash"):
                print(f"{verdict} {case.op} {types[case.number]} {detail[:200]}", flush=True)
    oracles.stop()
    return found


def cell(outcomes, number):
    """yes: every program right; else what else. `number` gives a refusal's number."""
    if outcomes["wrong"] or outcomes["crash"]:
        return "wrong"
    refusals = [text for text in outcomes if text not in ("ok", "unchecked")]
    if refusals:
        return ("part " if outcomes["ok"] else "") + f"[{number(refusals[0])}](#refused)"
    return "yes" if outcomes["ok"] else "ran"


def table(found, types):
    reasons, lines = {}, []
    number = lambda reason: reasons.setdefault(reason, len(reasons) + 1)
    lines.append("| op | " + " | ".join(t.name for t in types) + " |")
    lines.append("| --- |" + " --- |" * len(types))
    for op in sorted({op for op, _ in found}):
        row = [cell(found[op, t.name], number) if (op, t.name) in found else "" for t in types]
        lines.append(f"| {op} | " + " | ".join(row) + " |")
    if reasons:
        lines += ["", "## Refused", ""] + [f"{number}. {reason}" for reason, number in reasons.items()]
    return "\n".join(lines) + "\n"


def cells_of(path):
    """{(op, type): its cell} and {a refusal's number: its text} of a table."""
    cells, reasons, types = {}, {}, None
    with open(path) as f:
        for line in f:
            parts = [p.strip() for p in line.strip().strip("|").split("|")]
            if line.startswith("| op |"):
                types = parts[1:]
            elif line.startswith("| ") and types and "---" not in line:
                cells |= {(parts[0], t): c for t, c in zip(types, parts[1:])}
            elif types and line[:1].isdigit():
                number, text = line.strip().split(". ", 1)
                reasons[text] = int(number)
    return cells, reasons


def check(path, pairs, count):
    """Whether the table says of these cells what their programs give."""
    cells, reasons = cells_of(path)
    found, wrong = measure(pairs, count), 0
    for (op, t), outcomes in found.items():
        now = cell(outcomes, lambda reason: reasons.get(reason, reason))
        if cells.get((op, t)) != now:
            wrong += 1
            print(f"{op} in {t}: {now}, the table has {cells.get((op, t), 'nothing')!r}")
    print(f"{len(found) - wrong} of {len(found)} cells as {os.path.basename(path)} has them" + ("; ninja coverage, and copy what it wrote" if wrong else ""))
    return not wrong and bool(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output")
    parser.add_argument("--check")
    parser.add_argument("--share", default="0/1")
    parser.add_argument("--cases", type=int, default=2)
    parser.add_argument("--ops", default="")
    arguments = parser.parse_args()
    names = arguments.ops.split(",") if arguments.ops else []
    pairs = [(t, generator) for t in ALL for generator in run.GENERATORS if not names or generator[0] in names]
    first, every = map(int, arguments.share.split("/"))
    if arguments.check:
        sys.exit(0 if check(arguments.check, pairs[first::every], arguments.cases) else 1)
    start = time.time()
    found = measure(pairs, arguments.cases)
    total = sum(found.values(), collections.Counter())
    refused = sum(n for outcome, n in total.items() if outcome not in ("ok", "wrong", "crash", "unchecked"))
    with open(arguments.output, "w") as f:
        f.write("# What is executed\n\nMade by `ninja coverage` from programs that ran: each op in each element type that it takes, with random shapes, attributes and edge\n"
                "values, against StableHLO's reference interpreter, XLA or numpy. *yes*: all right; *ran*: no reference runs it; a number: refused, and why;\n"
                "*part*: some programs are refused; empty: the operation does not take the type.\n"
                f"{total['ok']} programs right, {refused} refused, {total['wrong'] + total['crash']} wrong, {total['unchecked']} that no reference runs.\n\n")
        f.write(table(found, ALL))
    print(f"{dict(total)} in {time.time() - start:.1f} s")
    sys.exit(1 if total["wrong"] or total["crash"] or not total["ok"] else 0)


if __name__ == "__main__":
    main()
