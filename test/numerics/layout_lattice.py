"""What moving a tensor from one layout to another must cost at least, and what a plain search over collectives finds.

A layout is a tuple, by dimension, of tuples of axes, major to minor; axes are numbers into `sizes`, each a prime or a whole mesh axis. All sizes divide
evenly here. Costs are wire bytes of a device in units of the whole tensor: an all-gather and an all-to-all of g devices (g-1)/g of what they make, a
permute all of it, a slice nothing.
"""
import functools
import heapq
import itertools
from fractions import Fraction


def shards(sizes, axes):
    n = 1
    for a in axes:
        n *= sizes[a]
    return n


def part(sizes, layout):
    """How much of the tensor a device holds."""
    return Fraction(1, shards(sizes, itertools.chain(*layout)))


def layouts(count, rank):
    """All layouts of a tensor of `rank` on `count` axes."""
    for used in range(count + 1):
        for order in itertools.permutations(range(count), used):
            for cuts in itertools.combinations_with_replacement(range(used + 1), rank - 1):
                ends = (0, *cuts, used)
                yield tuple(order[ends[d]:ends[d + 1]] for d in range(rank))


def interval(sizes, axes, coordinate):
    index = 0
    for a in axes:
        index = index * sizes[a] + coordinate[a]
    n = shards(sizes, axes)
    return Fraction(index, n), Fraction(index + 1, n)


def lacking(sizes, a, b):
    """The most that any device needs in `b` and does not hold in `a`: no way can bring it less."""
    used = sorted(set(itertools.chain(*a, *b)))
    most = Fraction(0)
    for values in itertools.product(*(range(sizes[x]) for x in used)):
        coordinate = dict(zip(used, values))
        common = Fraction(1)
        for own, wanted in zip(a, b):
            (low, high), (first, last) = interval(sizes, own, coordinate), interval(sizes, wanted, coordinate)
            common *= max(Fraction(0), min(high, last) - max(low, first))
        most = max(most, part(sizes, b) - common)
    return most


def with_dim(layout, d, axes):
    return layout[:d] + (axes,) + layout[d + 1:]


def moves(sizes, layout):
    """(next layout, cost) of all single gathers, slices and all-to-alls."""
    own = part(sizes, layout)
    free = [a for a in range(len(sizes)) if all(a not in dim for dim in layout)]
    for d, dim in enumerate(layout):
        for a in free:
            yield with_dim(layout, d, dim + (a,)), Fraction(0)
        for keep in range(len(dim)):
            g = shards(sizes, dim[keep:])
            less = with_dim(layout, d, dim[:keep])
            yield less, own * (g - 1)
            for to in range(len(layout)):
                if to != d:
                    yield with_dim(less, to, layout[to] + dim[keep:]), own * Fraction(g - 1, g)


@functools.lru_cache(maxsize=None)
def ways(sizes, rank):
    """The edges of the lattice, and its layouts by the shards of their dimensions: those are permutes of one another."""
    every = list(layouts(len(sizes), rank))
    alike = {}
    for layout in every:
        alike.setdefault(tuple(shards(sizes, dim) for dim in layout), []).append(layout)
    return {layout: list(moves(sizes, layout)) for layout in every}, alike


@functools.lru_cache(maxsize=None)
def cheapest_from(sizes, start):
    """The least cost from `start` to every layout, by Dijkstra."""
    edges, alike = ways(sizes, len(start))
    best, queue, seen, number = {start: Fraction(0)}, [(Fraction(0), 0, start)], set(), itertools.count(1)
    while queue:
        cost, _, layout = heapq.heappop(queue)
        if layout in seen:
            continue
        seen.add(layout)
        own = part(sizes, layout)
        permuted = ((other, own) for other in alike[tuple(shards(sizes, dim) for dim in layout)] if other != layout)
        for other, more in itertools.chain(edges[layout], permuted):
            if other not in seen and (other not in best or cost + more < best[other]):
                best[other] = cost + more
                heapq.heappush(queue, (cost + more, next(number), other))
    return best


def cheapest(sizes, a, b):
    return cheapest_from(tuple(sizes), a)[b]
