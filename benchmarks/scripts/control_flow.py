"""Plain JAX: an adaptive Runge-Kutta solver (Dormand and Prince, 1980) of while loops, branches, switches and scans."""
import jax
import jax.numpy as jnp
import numpy as np
from jax import jit
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

BODIES, SYSTEMS, POINTS = 6, 64, 4
mesh = jax.make_mesh((8,), ("data",), axis_types=(AxisType.Auto,))
A = np.array([[0, 0, 0, 0, 0, 0], [1/5, 0, 0, 0, 0, 0], [3/40, 9/40, 0, 0, 0, 0], [44/45, -56/15, 32/9, 0, 0, 0],
              [19372/6561, -25360/2187, 64448/6561, -212/729, 0, 0],
              [9017/3168, -355/33, 46732/5247, 49/176, -5103/18656, 0]], np.float32)
B = np.array([35/384, 0, 500/1113, 125/192, -2187/6784, 11/84], np.float32)
ERROR = B - np.array([5179/57600, 0, 7571/16695, 393/640, -92097/339200, 187/2100], np.float32)


def forces(kind, x):
    """Of one of three laws between the bodies of each system."""
    apart = x[:, :, None] - x[:, None]
    square = jnp.sum(apart**2, -1, keepdims=True) + 0.1
    law = (lambda: -apart / square**1.5, lambda: -0.3 * apart, lambda: apart * (0.5 / square - 0.2))
    return jax.lax.switch(kind, law).sum(2)


def rate(kind, state):
    return {"x": state["v"], "v": forces(kind, state["x"])}


def runge_kutta(kind, state, h):
    stages = jax.tree.map(lambda s: jnp.zeros((6, *s.shape), s.dtype), state)

    def stage(i, stages):
        at = jax.tree.map(lambda s, k: s + h * jnp.tensordot(jnp.asarray(A)[i], k, 1), state, stages)
        return jax.tree.map(lambda k, new: k.at[i].set(new), stages, rate(kind, at))

    stages = jax.lax.fori_loop(0, 6, stage, stages)
    new = jax.tree.map(lambda s, k: s + h * jnp.tensordot(B, k, 1), state, stages)
    error = jax.tree.map(lambda k: h * jnp.tensordot(ERROR, k, 1), stages)
    return new, jnp.sqrt(sum(jnp.mean(e**2) for e in jax.tree.leaves(error)))


@jit
def solve(kind, state, times):
    """The states at these times, and how many steps were taken and refused."""

    def until(carry, end):
        def advance(carry):
            t, h, state, taken, refused = carry
            h = jnp.minimum(h, end - t)
            new, error = runge_kutta(kind, state, h)
            good = error < 1e-4
            state = jax.lax.cond(good, lambda: new, lambda: state)
            factor = jnp.clip(0.9 * (1e-4 / (error + 1e-12)) ** 0.2, 0.2, 5.0)
            return jnp.where(good, t + h, t), h * factor, state, taken + good, refused + ~good

        carry = jax.lax.while_loop(lambda carry: carry[0] < end - 1e-6, advance, carry)
        return carry, carry[2]["x"]

    carry, path = jax.lax.scan(until, (jnp.float32(0), jnp.float32(0.1), state, 0, 0), times)
    return carry[2], path, carry[3:]


def steps():
    random = np.random.default_rng(0)
    rows = NamedSharding(mesh, P("data"))
    times = np.linspace(0.1, 0.4, POINTS).astype(np.float32)
    number = 0
    while True:
        state = {name: random.normal(size=(SYSTEMS, BODIES, 3)).astype(np.float32) for name in "xv"}
        end, path, counts = solve(number % 3, jax.device_put(state, rows), times)
        yield {"end": end["x"], "path": path, "counts": counts}
        number += 1


if __name__ == "__main__":
    for step, result in zip(range(6), steps()):
        print(f"step {step}  taken, refused {[int(c) for c in result['counts']]}  {np.asarray(result['end'])[0, 0]}")
