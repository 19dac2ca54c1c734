"""Graphs for solve-graph, which runs lib/solver, and for HiGHS, which is its oracle."""
import dataclasses
import json
import os
import subprocess
import tempfile

import numpy as np

SOLVE = os.path.join(os.environ.get("TESSERA_BIN", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "build", "bin")), "solve-graph")
FORBIDDEN = float("inf")


@dataclasses.dataclass
class Graph:
    """As lib/solver/Graph.h has it; matrices are two-dimensional arrays, holds (vertex, begin, end, bytes of each choice)."""
    costs: list
    matrices: list = dataclasses.field(default_factory=list)
    edges: list = dataclasses.field(default_factory=list)  # (from, to, matrix, factor)
    holds: list = dataclasses.field(default_factory=list)
    capacity: int = 0  # any

    def text(self):
        numbers = lambda values: " ".join("inf" if v == FORBIDDEN else repr(v) for v in map(lambda v: v.item() if hasattr(v, "item") else v, values))
        lines = [str(self.capacity), str(len(self.costs))]
        lines += [f"{len(costs)} {numbers(costs)}" for costs in self.costs]
        lines += [str(len(self.matrices)), *(f"{m.shape[0]} {m.shape[1]} {numbers(m.ravel().tolist())}" for m in self.matrices)]
        lines += [str(len(self.edges)), *(f"{a} {b} {m} {factor!r}" for a, b, m, factor in self.edges)]
        lines += [str(len(self.holds)), *(f"{v} {begin} {end} {numbers(held)}" for v, begin, end, held in self.holds)]
        return "\n".join(lines)

    def cost(self, choices):
        return (sum(costs[c] for costs, c in zip(self.costs, choices))
                + sum(factor * self.matrices[m][choices[a], choices[b]] for a, b, m, factor in self.edges))

    def peak(self, choices):
        change = {}
        for v, begin, end, held in self.holds:
            if begin < end:
                change[begin] = change.get(begin, 0) + held[choices[v]]
                change[end] = change.get(end, 0) - held[choices[v]]
        held = peak = 0
        for step in sorted(change):
            held += change[step]
            peak = max(peak, held)
        return peak


def solve(graph, effort=3, seconds=0):
    """What solve-graph prints, as a dictionary."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(graph.text())
        file.flush()
        done = subprocess.run([SOLVE, file.name, f"--seconds={seconds}", f"--effort={effort}"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def highs(graph, seconds=None):
    """(cost, bound) by HiGHS of the integer program: a variable for each choice and each pair of an edge. Infinite cost: none was found; infinite bound: there is none."""
    import scipy.optimize
    import scipy.sparse

    first = np.concatenate([[0], np.cumsum([len(costs) for costs in graph.costs])])
    pairs = np.concatenate([[0], np.cumsum([graph.matrices[m].size for _, _, m, _ in graph.edges])]).astype(int) + first[-1]
    cost = np.concatenate([np.concatenate(graph.costs), *(np.where(np.isinf(graph.matrices[m]), FORBIDDEN, factor * graph.matrices[m]).ravel() for _, _, m, factor in graph.edges)])
    allowed = np.isfinite(cost)
    rows, columns, values, low, high = [], [], [], [], []

    def constrain(where, factors, least, most):
        rows.append(np.full(len(where), len(low)))
        columns.append(where)
        values.append(factors)
        low.append(least)
        high.append(most)

    for v, costs in enumerate(graph.costs):
        constrain(np.arange(first[v], first[v + 1]), np.ones(len(costs)), 1, 1)
    for (a, b, m, _), at in zip(graph.edges, pairs):
        numbers = at + np.arange(graph.matrices[m].size).reshape(graph.matrices[m].shape)
        for v, lists in ((a, numbers), (b, numbers.T)):
            for i, row in enumerate(lists):
                constrain(np.append(row, first[v] + i), np.append(np.ones(len(row)), -1), 0, 0)
    for step in sorted({begin for _, begin, end, _ in graph.holds if begin < end}) if graph.capacity else ():
        held = [h for h in graph.holds if h[1] <= step < h[2]]
        constrain(np.concatenate([np.arange(first[v], first[v + 1]) for v, *_ in held]), np.concatenate([b for *_, b in held]) / graph.capacity, -np.inf, 1)
    matrix = scipy.sparse.csr_array((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape=(len(low), len(cost)))
    found = scipy.optimize.milp(np.where(allowed, cost, 0), integrality=np.arange(len(cost)) < first[-1], bounds=scipy.optimize.Bounds(0, allowed.astype(float)),
                                constraints=scipy.optimize.LinearConstraint(matrix, low, high), options={"mip_rel_gap": 0, **({"time_limit": seconds} if seconds else {})})
    if found.status == 2:
        return FORBIDDEN, FORBIDDEN
    return (found.fun if found.x is not None else FORBIDDEN), (found.mip_dual_bound if found.mip_dual_bound is not None else -FORBIDDEN)
