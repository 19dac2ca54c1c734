"""Flax linen: a variational autoencoder, as in Flax's examples; its batch over eight devices."""
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import linen as nn
from jax import jit
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

LATENTS, BATCH, PIXELS = 20, 64, 784
mesh = jax.make_mesh((8,), ("data",), axis_types=(AxisType.Auto,))


class Encoder(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Dense(500)(x))
        return nn.Dense(LATENTS)(x), nn.Dense(LATENTS)(x)


class Decoder(nn.Module):
    @nn.compact
    def __call__(self, z):
        return nn.Dense(PIXELS)(nn.relu(nn.Dense(500)(z)))


class VAE(nn.Module):
    def setup(self):
        self.encoder, self.decoder = Encoder(), Decoder()

    def __call__(self, x, key):
        mean, logvar = self.encoder(x)
        z = mean + jnp.exp(0.5 * logvar) * jax.random.normal(key, logvar.shape)
        return self.decoder(z), mean, logvar


model = VAE()
optimizer = optax.adam(1e-3)


@jit
def train_step(params, opt_state, images, key):
    def loss_of(params):
        logits, mean, logvar = model.apply(params, images, key)
        bce = jnp.mean(jnp.sum(optax.sigmoid_binary_cross_entropy(logits, images), -1))
        kld = -0.5 * jnp.mean(jnp.sum(1 + logvar - mean**2 - jnp.exp(logvar), -1))
        return bce + kld, (bce, kld)

    (loss, parts), gradient = jax.value_and_grad(loss_of, has_aux=True)(params)
    updates, opt_state = optimizer.update(gradient, opt_state)
    return optax.apply_updates(params, updates), opt_state, (loss, *parts)


def steps():
    key = jax.random.key(0)
    params = model.init(key, jnp.ones((1, PIXELS)), key)
    opt_state = optimizer.init(params)
    random = np.random.default_rng(0)
    strokes = random.random((16, PIXELS)) < 0.1
    rows = NamedSharding(mesh, P("data"))
    while True:
        chosen = random.random((BATCH, 16)) < 0.3
        images = jax.device_put((chosen.astype(np.float32) @ strokes > 0).astype(np.float32), rows)
        key, use = jax.random.split(key)
        params, opt_state, losses = train_step(params, opt_state, images, use)
        yield losses


if __name__ == "__main__":
    for step, (loss, bce, kld) in zip(range(100), steps()):
        print(f"step {step}  loss {loss:.3f}  bce {bce:.3f}  kld {kld:.3f}")
