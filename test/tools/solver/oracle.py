"""Random graphs, with and without a capacity, solved by lib/solver and by HiGHS: the same least cost, or a bound that HiGHS's is not below.

  oracle.py [--count=60] [--seed=1]
"""
import argparse
import sys

import numpy as np

import graphs


def random_graph(random):
    """Ten to forty vertices in a band, as programs are, with matrices that several edges share; forbidden pairs in some."""
    count = int(random.integers(10, 40))
    kinds = [int(k) for k in random.integers(2, 6, size=3)]
    sizes = [int(random.choice(kinds)) for _ in range(count)]
    graph = graphs.Graph([random.integers(0, 100, size=size).astype(float) for size in sizes])
    known = {}
    forbids = random.random() < 0.4
    for v in range(1, count):
        for _ in range(int(random.integers(1, 3))):
            a = int(random.integers(max(0, v - 6), v))
            key = (sizes[a], sizes[v], int(random.integers(0, 3)))
            if key not in known:
                known[key] = len(graph.matrices)
                matrix = random.integers(0, 60, size=key[:2]).astype(float)
                if forbids:
                    matrix[random.random(size=matrix.shape) < 0.2] = graphs.FORBIDDEN
                graph.matrices.append(matrix)
            graph.edges.append((a, v, known[key], float(random.choice([0.5, 1, 3]))))
    if random.random() < 0.6:
        for v in range(count):
            begin = int(v + random.integers(0, 3))
            graph.holds.append((v, begin, begin + int(random.integers(1, 12)), [int(b) for b in random.integers(0, 50, size=sizes[v])]))
        least = graph.peak([min(range(s), key=lambda i, v=v: graph.holds[v][3][i]) for v, s in enumerate(sizes)])
        most = graph.peak([max(range(s), key=lambda i, v=v: graph.holds[v][3][i]) for v, s in enumerate(sizes)])
        graph.capacity = max(1, int(least + (most - least) * random.uniform(-0.05, 0.6)))
    return graph


def wrong(graph, ours, least):
    """What is wrong with our solution, or nothing; whether it is proven to be the least."""
    if ours["status"] in ("infeasible", "unknown"):
        return None if least == graphs.FORBIDDEN or ours["status"] == "unknown" else f"{ours['status']}, but there is one of cost {least}"
    close = 1e-6 * max(1, abs(least))
    if least == graphs.FORBIDDEN:
        return "a solution where there is none"
    if abs(graph.cost(ours["choices"]) - ours["cost"]) > close:
        return f"cost {ours['cost']} is said, {graph.cost(ours['choices'])} is so"
    if graph.capacity and graph.peak(ours["choices"]) > graph.capacity:
        return f"{graph.peak(ours['choices'])} bytes, {graph.capacity} are allowed"
    if ours["lower_bound"] > least + close:
        return f"bound {ours['lower_bound']} is above the least {least}"
    if ours["status"] == "optimal" and ours["cost"] > least + close:
        return f"cost {ours['cost']} is above the least {least}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    proven = failed = 0
    for seed in range(options.seed, options.seed + options.count):
        graph = random_graph(np.random.default_rng(seed))
        ours = graphs.solve(graph)
        least, _ = graphs.highs(graph)
        proven += ours["status"] in ("optimal", "infeasible")
        if message := wrong(graph, ours, least):
            print(f"seed {seed}: {message}")
            failed += 1
    print(f"{options.count} graphs, {proven} proven, {failed} wrong")
    if proven < 0.9 * options.count:
        print("error: too few are proven")
    sys.exit(failed > 0 or proven < 0.9 * options.count)


if __name__ == "__main__":
    main()
