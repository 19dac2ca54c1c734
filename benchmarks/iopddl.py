"""Instances of the ASPLOS 2025 contest on intra-operator parallelism (github.com/google/iopddl), solved by lib/solver.

  iopddl.py FILE.json[.gz].. [--seconds=60] [--effort=5] [--highs=SECONDS] [--capacity=any]

FILE are the contest's instances as published (they are not part of this repository). Columns: vertices and edges; the cost found, a bound that
nothing is below, and the gap, (cost - bound) / cost; the peak as a part of the limit; seconds. Cost and peak are computed again from the instance.
--highs also gives the instance to HiGHS (through scipy) as an integer program for so many seconds: its cost and bound stand beside.
--capacity=any leaves out the limit on bytes. Exits with 1 where a solution is not as good as it says.
"""
import argparse
import gzip
import json
import math
import os
import subprocess
import sys
import tempfile

SOLVE = os.path.join(os.environ.get("TESSERA_BIN", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "build", "bin")), "solve-graph")
FORBIDDEN = 10**18  # what the instances write for it


def read(file):
    with (gzip.open if file.endswith(".gz") else open)(file, "rt") as stream:
        return json.load(stream)["problem"]


def text_of(problem, limited):
    """The instance as test/tools/solver/solve_graph.cpp reads it."""
    number = lambda cost: "inf" if cost >= FORBIDDEN else str(cost)
    nodes, edges = problem["nodes"], problem["edges"]
    lines = [str(problem["usage_limit"] if limited else 0), str(len(nodes["costs"]))]
    lines += [f"{len(costs)} {' '.join(map(number, costs))}" for costs in nodes["costs"]]
    matrices, ids = [], {}
    joins = []
    for (a, b), costs in zip(edges["nodes"], edges["costs"]):
        line = f"{len(nodes['costs'][a])} {len(nodes['costs'][b])} {' '.join(map(number, costs))}"
        if line not in ids:
            ids[line] = len(matrices)
            matrices.append(line)
        joins.append(f"{a} {b} {ids[line]} 1")
    holds = [f"{v} {begin} {end} {' '.join(map(str, usages))}"
             for v, ((begin, end), usages) in enumerate(zip(nodes["intervals"], nodes["usages"])) if begin < end and any(usages)]
    for part in (matrices, joins, holds):
        lines += [str(len(part)), *part]
    return "\n".join(lines)


def evaluate(problem, choices):
    """(cost, peak) of the choices."""
    nodes, edges = problem["nodes"], problem["edges"]
    cost = sum(costs[c] for costs, c in zip(nodes["costs"], choices))
    cost += sum(costs[choices[a] * len(nodes["costs"][b]) + choices[b]] for (a, b), costs in zip(edges["nodes"], edges["costs"]))
    change = {}
    for (begin, end), usages, c in zip(nodes["intervals"], nodes["usages"], choices):
        if begin < end:
            change[begin] = change.get(begin, 0) + usages[c]
            change[end] = change.get(end, 0) - usages[c]
    held = peak = 0
    for step in sorted(change):
        held += change[step]
        peak = max(peak, held)
    return cost, peak


def solve(problem, limited, seconds, effort):
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(text_of(problem, limited))
        file.flush()
        done = subprocess.run([SOLVE, file.name, f"--seconds={seconds}", f"--effort={effort}"], capture_output=True, text=True, check=True)
    sys.stderr.write(done.stderr)
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--effort", type=int, default=5)
    parser.add_argument("--capacity", choices=["instance", "any"], default="instance")
    options = parser.parse_args()
    wrong = False
    print(f"{'instance':12} {'vertices':>8} {'edges':>7} {'cost':>14} {'bound':>14} {'gap':>8} {'peak':>6} {'seconds':>7}")
    for file in options.files:
        problem = read(file)
        limited = options.capacity == "instance"
        found = solve(problem, limited, options.seconds, options.effort)
        name = os.path.basename(file).removesuffix(".gz").removesuffix(".json").removeprefix("asplos-2025-iopddl-")
        cost, peak = evaluate(problem, found["choices"]) if found["choices"] else (math.inf, 0)
        wrong |= found["status"] in ("optimal", "feasible") and (
            cost >= FORBIDDEN or abs(cost - found["cost"]) > 1e-9 * cost or (limited and peak > problem["usage_limit"]))
        print(f"{name:12} {len(problem['nodes']['costs']):8} {len(problem['edges']['nodes']):7} {cost:14.8g} {found['lower_bound']:14.8g} "
              f"{found['gap']:8.3%} {peak / problem['usage_limit']:6.3f} {found['seconds']:7.1f} {found['status']}", flush=True)
    sys.exit(wrong)


if __name__ == "__main__":
    main()
