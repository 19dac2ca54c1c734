"""jraph: a graph network that learns a property of small graphs, a batch of graphs on each of eight devices."""
from functools import partial

import haiku as hk
import jax
import jax.numpy as jnp
import jraph
import numpy as np
import optax
from jax import jit
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

DEVICES, GRAPHS, NODES, EDGES = 8, 8, 64, 256  # of each device: graphs, with one of padding; nodes; edges
mesh = jax.make_mesh((DEVICES,), ("data",), axis_types=(AxisType.Auto,))


def network(graph):
    def mlp(name):
        return hk.Sequential([hk.nets.MLP([64, 32], name=name), hk.LayerNorm(-1, True, True)])

    embed = jraph.GraphMapFeatures(hk.Linear(32), hk.Linear(32), hk.Linear(32))
    update = jraph.GraphNetwork(
        update_edge_fn=jraph.concatenated_args(mlp("edge")),
        update_node_fn=jraph.concatenated_args(mlp("node")),
        update_global_fn=jraph.concatenated_args(mlp("globals")))
    graph = embed(graph)
    for _ in range(2):
        new = update(graph)
        graph = new._replace(nodes=graph.nodes + new.nodes, edges=graph.edges + new.edges,
                             globals=graph.globals + new.globals)
    return hk.Linear(1)(graph.globals)[:, 0]


model = hk.without_apply_rng(hk.transform(network))
optimizer = optax.adam(1e-3)


@partial(jit, donate_argnums=(0, 1))
def train_step(params, opt_state, graphs, targets):
    def loss_of(params):
        found = jax.vmap(partial(model.apply, params))(graphs)
        mask = jax.vmap(jraph.get_graph_padding_mask)(graphs)
        return jnp.sum(jnp.where(mask, (found - targets) ** 2, 0)) / jnp.sum(mask)

    loss, gradient = jax.value_and_grad(loss_of)(params)
    updates, opt_state = optimizer.update(gradient, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


def batch(random):
    """Graphs of one device, padded, and what is to be learned: the mean feature of nodes that are pointed at."""
    graphs, targets = [], []
    for _ in range(GRAPHS - 1):
        nodes, edges = random.integers(4, 9), random.integers(10, 33)
        features = random.normal(size=(nodes, 4)).astype(np.float32)
        senders, receivers = random.integers(nodes, size=(2, edges)).astype(np.int32)
        graphs.append(jraph.GraphsTuple(
            features, np.ones((edges, 1), np.float32), receivers, senders, np.zeros((1, 1), np.float32),
            np.array([nodes], np.int32), np.array([edges], np.int32)))
        targets.append(features[receivers, 0].mean())
    padded = jraph.pad_with_graphs(jraph.batch_np(graphs), NODES, EDGES, GRAPHS)
    return padded, np.array([*targets, 0], np.float32)


def steps():
    random = np.random.default_rng(0)
    params = model.init(jax.random.PRNGKey(0), batch(random)[0])
    opt_state = optimizer.init(params)
    while True:
        stacked = jax.tree.map(lambda *x: np.stack(x), *[batch(random) for _ in range(DEVICES)])
        graphs, targets = jax.device_put(stacked, NamedSharding(mesh, P("data")))
        params, opt_state, loss = train_step(params, opt_state, graphs, targets)
        yield loss


if __name__ == "__main__":
    for step, loss in zip(range(100), steps()):
        print(f"step {step}  loss {loss:.4f}")
