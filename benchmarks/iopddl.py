"""Instances of the ASPLOS 2025 contest on intra-operator parallelism (github.com/google/iopddl), solved by lib/solver.

  iopddl.py FILE.json[.gz].. [--seconds=60] [--effort=9] [--highs=SECONDS] [--capacity=any]

FILE are the contest's instances as published (they are not part of this repository). Columns: vertices and edges; the cost found, a bound that
nothing is below, and the gap, (cost - bound) / cost; the peak as a part of the limit. Cost and peak are computed again from the instance.
Seconds are of the processor: the search has one thread.
--highs also gives the instance to HiGHS (through scipy) as an integer program, for so many seconds: our cost as a multiple of its, and its own gap.
--capacity=any leaves out the limit on bytes. Exits with 1 where a solution is not as good as it says, or HiGHS finds one below the bound.
"""
import argparse
import gzip
import json
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "test", "tools", "solver"))
import graphs

FORBIDDEN = 10**18  # what the instances write for it


def read(file, limited=True):
    with (gzip.open if file.endswith(".gz") else open)(file, "rt") as stream:
        problem = json.load(stream)["problem"]
    nodes, edges = problem["nodes"], problem["edges"]
    graph = graphs.Graph([[c if c < FORBIDDEN else graphs.FORBIDDEN for c in costs] for costs in nodes["costs"]], capacity=problem["usage_limit"] if limited else 0)
    known = {}
    for (a, b), costs in zip(edges["nodes"], edges["costs"]):
        key = (len(nodes["costs"][b]), np.array(costs).tobytes())
        if key not in known:
            known[key] = len(graph.matrices)
            matrix = np.array(costs, float).reshape(len(nodes["costs"][a]), len(nodes["costs"][b]))
            graph.matrices.append(np.where(matrix < FORBIDDEN, matrix, graphs.FORBIDDEN))
        graph.edges.append((a, b, known[key], 1))
    graph.holds = [(v, begin, end, usages) for v, ((begin, end), usages) in enumerate(zip(nodes["intervals"], nodes["usages"])) if begin < end and any(usages)]
    return graph


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--effort", type=int, default=9)
    parser.add_argument("--highs", type=float, default=0, metavar="SECONDS")
    parser.add_argument("--capacity", choices=["instance", "any"], default="instance")
    options = parser.parse_args()
    wrong = False
    print(f"{'instance':8} {'vertices':>8} {'edges':>7} {'cost':>14} {'bound':>14} {'gap':>8} {'peak':>6}" + (f" {'/ HiGHS':>8} {'its gap':>8}" if options.highs else ""))
    for file in options.files:
        graph = read(file, options.capacity == "instance")
        found = graphs.solve(graph, options.effort, options.seconds)
        solved = found["status"] in ("optimal", "feasible")
        peak = graph.peak(found["choices"]) if found["choices"] else 0
        wrong |= solved and (abs(graph.cost(found["choices"]) - found["cost"]) > 1e-9 * found["cost"] or 0 < graph.capacity < peak)
        name = os.path.basename(file).removesuffix(".gz").removesuffix(".json").removeprefix("asplos-2025-iopddl-")
        line = f"{name:8} {len(graph.costs):8} {len(graph.edges):7} {found['cost']:14.8g} {found['lower_bound']:14.8g} {found['gap']:8.3%} "
        line += f"{peak / graph.capacity:6.3f}" if graph.capacity else f"{'':6}"
        if options.highs:
            cost, bound = graphs.highs(graph, options.highs)
            wrong |= cost < found["lower_bound"] - 1e-6 * abs(cost)
            line += f" {found['cost'] / cost:8.4f} {1 - bound / cost if cost < graphs.FORBIDDEN else 1:8.3%}"
        print(line, "" if solved else found["status"], flush=True)
    sys.exit(wrong)


if __name__ == "__main__":
    main()
