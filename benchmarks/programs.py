"""The programs that benchmarks run: each a function of the number of devices."""
import os

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec as P

jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")


def make_mesh(data, model, devices):
    """data x model devices, or one."""
    shape = (data, model) if devices > 1 else (1, 1)
    return jax.make_mesh(shape, ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2)


def normal(seed, *shape, scale=1.0):
    return jnp.asarray(scale * np.random.default_rng(seed).standard_normal(shape), jnp.float32)


def mlp(devices):
    """Six dense layers: batch by 2, features by 4."""
    mesh = make_mesh(2, 4, devices)
    weights = [(normal(i, 320, 1280, scale=0.05), normal(9 + i, 1280, 320, scale=0.03)) for i in range(3)]
    x = normal(20, 256, 320)

    def step(weights, x):
        def loss(weights):
            h = x
            for up, down in weights:
                h = h + jax.nn.gelu(h @ up) @ down
            return jnp.mean(h**2)

        value, gradient = jax.value_and_grad(loss)(weights)
        return jax.tree.map(lambda w, g: w - 0.1 * g, weights, gradient), value

    specs = [(P(None, "model"), P("model", None))] * 3
    return mesh, step, (weights, x), (specs, P("data")), (specs, P())


def attention(devices):
    """Four transformer layers in a scan, Megatron's shardings."""
    mesh = make_mesh(2, 4, devices)
    layers, width, heads, hidden, batch, length = 4, 128, 4, 384, 8, 128
    weights = (normal(0, layers, 3, width, heads, 32, scale=0.09), normal(1, layers, heads, 32, width, scale=0.05),
               normal(2, layers, width, hidden, scale=0.09), normal(3, layers, hidden, width, scale=0.05))
    x = normal(4, batch, length, width)

    def layer(x, weights):
        qkv, out, up, down = weights
        h = x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6)
        q, k, v = jnp.einsum("btd,cdhk->cbthk", h, qkv)
        scores = jnp.einsum("bthk,bshk->bhts", q, k) * 32**-0.5
        scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e30)
        x = x + jnp.einsum("bhts,bshk,hkd->btd", jax.nn.softmax(scores, -1), v, out)
        return x + jax.nn.silu(x @ up) @ down, None

    def step(weights, x):
        return jax.value_and_grad(lambda w: jnp.mean(jax.lax.scan(layer, x, w)[0] ** 2))(weights)

    specs = (P(None, None, None, "model"), P(None, "model"), P(None, None, "model"), P(None, "model"))
    return mesh, step, (weights, x), (specs, P("data")), (P(), specs)


def convolutions(devices):
    """Convolutions, the image cut in space."""
    mesh = make_mesh(2, 4, devices)
    weights = [normal(i, 3, 3, 32, 32, scale=0.06) for i in range(4)]
    x = normal(9, 4, 32, 32, 32)

    def step(weights, x):
        def loss(weights):
            h = x
            for w in weights:
                h = h + jax.nn.relu(jax.lax.conv_general_dilated(
                    h, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")))
            return jnp.mean(h**2)

        return jax.value_and_grad(loss)(weights)

    return mesh, step, (weights, x), ([P()] * 4, P("data", "model")), (P(), [P()] * 4)


def sharded_weights(devices):
    """Weights and moments cut on the axis of the batch (FSDP)."""
    mesh = make_mesh(8, 1, devices)
    weights = [normal(i, 512, 512, scale=0.04) for i in range(6)]
    moments = [jnp.zeros_like(w) for w in weights]
    x = normal(9, 128, 512)

    def step(weights, moments, x):
        def loss(weights):
            h = x
            for w in weights:
                h = jnp.tanh(h @ w)
            return jnp.mean(h**2)

        value, gradient = jax.value_and_grad(loss)(weights)
        moments = jax.tree.map(lambda m, g: 0.9 * m + g, moments, gradient)
        return jax.tree.map(lambda w, m: w - 0.01 * m, weights, moments), moments, value

    specs = [P("data")] * 6
    return mesh, step, (weights, moments, x), (specs, specs, P("data")), (specs, specs, P())


def lookup(devices):
    """An embedding table cut by rows, and its gradient."""
    mesh = make_mesh(2, 4, devices)
    table, weight = normal(0, 8192, 64), normal(1, 64, 32, 64)
    rows = jnp.asarray(np.random.default_rng(2).integers(0, 8192, (64, 32)), jnp.int32)

    def step(table, rows, weight):
        return jax.value_and_grad(lambda t: jnp.sum(jnp.sin(t[rows]) * weight))(table)

    return mesh, step, (table, rows, weight), (P("model"), P("data"), P("data")), (P(), P("model"))


PROGRAMS = {build.__name__: build for build in (mlp, attention, convolutions, sharded_weights, lookup)}


def lower(build, devices):
    """The program lowered by JAX, and its arguments."""
    mesh, step, args, in_specs, out_specs = build(devices)
    is_spec = lambda x: isinstance(x, P)
    place = lambda specs: jax.tree.map(lambda s: NamedSharding(mesh, s), specs, is_leaf=is_spec)
    return jax.jit(step, in_shardings=place(in_specs), out_shardings=place(out_specs)).lower(*args), args


def as_numpy(args):
    return [np.asarray(x) for x in jax.tree.leaves(args)]
