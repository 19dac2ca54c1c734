"""Random programs with random shardings. Program N of seed S is the same everywhere: `numerics.py random --seed=S`.

A program is a list of steps over a pool of values; each step takes an op that fits the shapes of values it draws.
Dimensions are drawn from few sizes, so that shapes often agree, and mostly do not divide by the mesh.
"""
import jax
import jax.numpy as jnp
import numpy as np
from harness import Case
from jax.sharding import NamedSharding
from random_spec import random_spec

SIZES = (1, 3, 4, 6, 8, 10)
MESHES = ({"x": 2, "y": 4}, {"x": 8}, {"x": 2, "y": 2, "z": 2}, {"x": 3, "y": 2}, {"x": 5})


# Each of these gives the next value, or None when the drawn values do not fit it.
def elementwise(rng, pool):
    x = pool[int(rng.integers(len(pool)))]
    return [jnp.sin, jnp.tanh, lambda v: v * 0.5 + 1, jnp.abs, lambda v: jnp.exp(-v * v)][int(rng.integers(5))](x)


def pair(rng, pool):
    x = pool[int(rng.integers(len(pool)))]
    others = [y for y in pool if y.shape == x.shape]
    y = others[int(rng.integers(len(others)))]
    return [jnp.add, jnp.multiply, jnp.maximum, jnp.subtract][int(rng.integers(4))](x, y)


def contract(rng, pool):
    x = pool[int(rng.integers(len(pool)))]
    y = pool[int(rng.integers(len(pool)))]
    fits = [(i, j) for i in range(x.ndim) for j in range(y.ndim) if x.shape[i] == y.shape[j]]
    if not fits or x.ndim + y.ndim - 2 > 3:
        return None
    i, j = fits[int(rng.integers(len(fits)))]
    return jnp.tensordot(x, y, ((i,), (j,))) / x.shape[i]


def reduce(rng, pool):
    x = pool[int(rng.integers(len(pool)))]
    if x.ndim < 2:
        return None
    return [jnp.mean, jnp.max, jnp.min][int(rng.integers(3))](x, int(rng.integers(x.ndim)))


def transpose(rng, pool):
    x = pool[int(rng.integers(len(pool)))]
    return jnp.transpose(x, tuple(int(i) for i in rng.permutation(x.ndim)))


def reshape(rng, pool):
    x = pool[int(rng.integers(len(pool)))]
    if x.ndim < 2:
        return None
    at = int(rng.integers(x.ndim - 1))
    merged = x.reshape(*x.shape[:at], x.shape[at] * x.shape[at + 1], *x.shape[at + 2 :])
    return merged if rng.integers(2) else x.reshape(*x.shape[:at], x.shape[at + 1], x.shape[at], *x.shape[at + 2 :])


def window(rng, pool):
    x = pool[int(rng.integers(len(pool)))]
    if not x.ndim or x.size > 2000 or 1 in x.shape:
        return None
    dim = int(rng.integers(x.ndim))
    kind = int(rng.integers(4))
    if kind == 0:
        return jnp.concatenate([x, x * 0.5], dim)
    if kind == 1:
        return jnp.roll(x, 1, dim)
    if kind == 2:
        return jnp.flip(x, dim)
    return jax.lax.slice_in_dim(x, x.shape[dim] // 3, x.shape[dim], 1, dim)


def spread(rng, pool):
    x = pool[int(rng.integers(len(pool)))]
    if x.ndim > 2:
        return None
    return jnp.broadcast_to(jnp.expand_dims(x, 0), (int(rng.choice(SIZES)), *x.shape))


def look_up(rng, pool):
    x = pool[int(rng.integers(len(pool)))]
    if not x.ndim:
        return None
    rows = rng.integers(0, x.shape[0], (5,)).astype(np.int32)
    return x[rows] if rng.integers(2) else x.at[rows].add(jnp.ones((5, *x.shape[1:]), x.dtype))


STEPS = (elementwise, elementwise, pair, pair, contract, contract, reduce, transpose, reshape, window, spread, look_up)


def program(seed):
    """The build function of one program, and its mesh."""
    rng = np.random.default_rng(seed)
    sizes = MESHES[int(rng.integers(len(MESHES)))]
    axes = list(sizes)
    shapes = [tuple(int(n) for n in rng.choice(SIZES, int(rng.integers(1, 4)))) for _ in range(int(rng.integers(2, 5)))]
    args = tuple(rng.standard_normal(shape).astype(np.float32) for shape in shapes)
    in_specs = tuple(random_spec(rng, len(shape), axes) for shape in shapes)
    body_seed, gradient = int(rng.integers(2**31)), bool(rng.integers(2))

    def build(mesh):
        def forward(*args):
            rng = np.random.default_rng(body_seed)
            pool = list(args)
            for _ in range(14):
                value = STEPS[int(rng.integers(len(STEPS)))](rng, pool)
                if value is None or value.size > 4000:
                    continue
                spec = random_spec(rng, value.ndim, axes)
                if rng.integers(4) == 0:
                    value = jax.lax.with_sharding_constraint(value, NamedSharding(mesh, spec))
                pool.append(value)
            return tuple(pool[len(args) :][-4:])

        def total(*args):
            return sum(jnp.sum(jnp.sin(value)) for value in forward(*args))

        function = jax.value_and_grad(total, tuple(range(len(args)))) if gradient else forward
        return function, args, in_specs, None

    return build, sizes


def cases(seed, count):
    found = []
    for number in range(count):
        build, sizes = program([seed, number])
        found.append(Case(f"seed{seed}.{number}", build, [sizes]))
    return found
