"""Flax NNX: a denoising diffusion model, a U-Net with attention; its batch over eight devices."""
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx
from flax.nnx import jit
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

SIZE, BATCH, WIDTH, LEVELS = 16, 16, 32, 1000
mesh = jax.make_mesh((8,), ("data",), axis_types=(AxisType.Auto,))
kept = jnp.cumprod(1 - jnp.linspace(1e-4, 0.02, LEVELS))


class Residual(nnx.Module):
    def __init__(self, inputs, outputs, rngs):
        self.norm1, self.norm2 = (nnx.GroupNorm(n, num_groups=8, rngs=rngs) for n in (inputs, outputs))
        self.conv1 = nnx.Conv(inputs, outputs, (3, 3), rngs=rngs)
        self.conv2 = nnx.Conv(outputs, outputs, (3, 3), rngs=rngs)
        self.time = nnx.Linear(4 * WIDTH, outputs, rngs=rngs)
        self.skip = nnx.Conv(inputs, outputs, (1, 1), rngs=rngs)

    def __call__(self, x, time):
        y = self.conv1(nnx.silu(self.norm1(x))) + self.time(nnx.silu(time))[:, None, None]
        return self.skip(x) + self.conv2(nnx.silu(self.norm2(y)))


class UNet(nnx.Module):
    def __init__(self, rngs):
        self.time1 = nnx.Linear(WIDTH, 4 * WIDTH, rngs=rngs)
        self.time2 = nnx.Linear(4 * WIDTH, 4 * WIDTH, rngs=rngs)
        self.enter = nnx.Conv(1, WIDTH, (3, 3), rngs=rngs)
        self.down1 = Residual(WIDTH, WIDTH, rngs)
        self.shrink = nnx.Conv(WIDTH, 2 * WIDTH, (3, 3), strides=2, rngs=rngs)
        self.middle = Residual(2 * WIDTH, 2 * WIDTH, rngs)
        self.attention = nnx.MultiHeadAttention(4, 2 * WIDTH, decode=False, rngs=rngs)
        self.grow = nnx.ConvTranspose(2 * WIDTH, WIDTH, (2, 2), strides=2, rngs=rngs)
        self.up1 = Residual(2 * WIDTH, WIDTH, rngs)
        self.leave = nnx.Conv(WIDTH, 1, (3, 3), rngs=rngs)

    def __call__(self, x, level):
        angles = level[:, None] * jnp.exp(-jnp.arange(WIDTH // 2) * (9.2 / (WIDTH // 2)))
        time = self.time2(nnx.silu(self.time1(jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], -1))))
        high = self.down1(self.enter(x), time)
        low = self.middle(self.shrink(high), time)
        flat = low.reshape(low.shape[0], -1, low.shape[-1])
        low = low + self.attention(flat).reshape(low.shape)
        return self.leave(self.up1(jnp.concatenate([high, self.grow(low)], -1), time))


@jit
def train_step(model, optimizer, images, key):
    key_level, key_noise = jax.random.split(key)
    level = jax.random.randint(key_level, images.shape[:1], 0, LEVELS)
    noise = jax.random.normal(key_noise, images.shape)
    signal = kept[level][:, None, None, None]

    def loss_of(model):
        found = model(jnp.sqrt(signal) * images + jnp.sqrt(1 - signal) * noise, level.astype(jnp.float32))
        return jnp.mean((found - noise) ** 2)

    loss, gradient = nnx.value_and_grad(loss_of)(model)
    optimizer.update(model, gradient)
    return loss


def steps():
    model = UNet(nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)
    random = np.random.default_rng(0)
    grid = np.arange(SIZE)
    for step in range(10**9):
        center, radius = random.uniform(4, 12, (2, BATCH, 1, 1)), random.uniform(2, 5, (BATCH, 1, 1))
        distance = np.hypot(grid[:, None] - center[0], grid - center[1])
        images = np.where(distance < radius, 1, -1)[..., None].astype(np.float32)
        images = jax.device_put(images, NamedSharding(mesh, P("data")))
        yield train_step(model, optimizer, images, jax.random.fold_in(jax.random.key(1), step))


if __name__ == "__main__":
    for step, loss in zip(range(100), steps()):
        print(f"step {step}  loss {loss:.4f}")
