"""Convolutions and windows with the image cut in space, so that neighbours exchange boundaries."""
import jax
import jax.numpy as jnp
from harness import Case
from jax.sharding import PartitionSpec as P

from .mlp import RNG, normal


def convolution(x, w, stride=1, padding="SAME", **options):
    return jax.lax.conv_general_dilated(
        x, w, (stride, stride), padding, dimension_numbers=("NHWC", "HWIO", "NHWC"), **options)


def block(mesh):
    """Convolution, normalisation over the batch, relu, max pooling, a residual; the gradient of all."""
    rng = RNG(6)
    first, second, x = normal(rng, 5, 5, 3, 8, scale=0.2), normal(rng, 3, 3, 8, 8, scale=0.2), normal(rng, 2, 24, 20, 3)

    def loss(first, second, x):
        h = convolution(x, first, 2)
        h = jax.nn.relu((h - jnp.mean(h, (0, 1, 2))) * jax.lax.rsqrt(jnp.var(h, (0, 1, 2)) + 1e-5))
        h = jax.lax.reduce_window(h, -jnp.inf, jax.lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
        return jnp.mean((h + convolution(h, second)) ** 2)

    def step(first, second, x):
        return jax.value_and_grad(loss, (0, 1))(first, second, x)

    return step, (first, second, x), (P(), P(), P("data", "rows")), (P(), (P(), P()))


def kinds(mesh):
    """Grouped, dilated, transposed and one-dimensional convolutions, sharded in batch, space or channels."""
    rng = RNG(7)
    x, depthwise, dense = normal(rng, 4, 12, 12, 8), normal(rng, 3, 3, 1, 8), normal(rng, 3, 3, 8, 8, scale=0.2)

    def forward(x, depthwise, dense):
        return (
            convolution(x, depthwise, feature_group_count=8),
            convolution(x, dense, rhs_dilation=(2, 2)),
            convolution(x, dense, lhs_dilation=(2, 2), padding=((2, 2), (2, 2))),
            jax.lax.reduce_window(x, 0.0, jax.lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"),
        )

    return forward, (x, depthwise, dense), (P("data", "rows"), P(), P()), None


def filters(mesh):
    """Gradients of filters, with long sums: cells of several of the window's positions, whose channels fill panels, are a
    part of one or end within it; and few rows, of images' channels, past many columns."""
    rng = RNG(8)
    layouts = ("NHWC", "HWIO", "NHWC"), ("NHWC", "OIHW", "NHWC")
    shapes = [((3, 3, channels, count), 0) for channels, count in ((64, 32), (48, 64), (24, 96), (16, 32))]
    shapes.append(((96, 5, 3, 4), 1))

    def applied(x, w, layout):
        return jax.lax.conv_general_dilated(x, w, (1, 1), "VALID" if layout else "SAME", dimension_numbers=layouts[layout])

    arrays = []
    for shape, layout in shapes:
        x, w = normal(rng, 8, 24, 24, shape[2 - layout]), normal(rng, *shape)
        arrays.append((x, w, normal(rng, *jax.eval_shape(lambda x, w: applied(x, w, layout), x, w).shape)))

    def gradients(arrays):
        return [jax.vjp(lambda w: applied(x, w, layout), w)[1](by)[0] for (x, w, by), (_, layout) in zip(arrays, shapes)]

    return gradients, (arrays,), None, None


MESHES = [{"data": 2, "rows": 4}, {"data": 1, "rows": 3}, {"data": 1, "rows": 1}]
CASES = [Case("conv_block", block, MESHES), Case("conv_kinds", kinds, MESHES + [{"data": 3, "rows": 2}]), Case("conv_filters", filters, [{"data": 1}])]
