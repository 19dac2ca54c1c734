"""Shardings drawn at random."""
from jax.sharding import PartitionSpec as P


def random_spec(rng, rank, axes):
    """Each axis goes to some dimension, or to none."""
    dims = [[] for _ in range(rank)]
    for axis in rng.permutation(axes):
        at = int(rng.integers(-1, rank)) if rank else -1
        if at >= 0:
            dims[at].append(str(axis))
    return P(*(tuple(d) if d else None for d in dims))
