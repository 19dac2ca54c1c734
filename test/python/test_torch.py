"""The recipe of docs/pytorch.md, where PyTorch and torchax are installed (examples/torch/requirements.txt)."""

import copy
import importlib
import itertools
import pathlib
import sys

import jax
import numpy as np
import pytest
import tessera
from jax.sharding import PartitionSpec as P

torch = pytest.importorskip("torch")
pytest.importorskip("torchax")
sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "examples" / "torch"))

exported, example, train = map(importlib.import_module, ("exported", "model", "train"))


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(example, "LAYERS", 1)
    torch.manual_seed(0)


def distance(results, exact):
    exact = exact.detach().numpy() if isinstance(exact, torch.Tensor) else np.asarray(exact)
    return np.abs(np.asarray(results, np.float64) - exact).max() / np.abs(exact).max()


def test_logits_are_as_near_to_float64_as_pytorchs():
    model = example.Transformer()
    tokens = next(example.batches())[:, :-1]
    exact = copy.deepcopy(model).double()(tokens)
    assert distance(train.logits(model, tokens), exact) < 2 * distance(model(tokens).detach(), exact) + 1e-7


def test_losses_of_a_training_are_those_of_float64():
    module = example.Loss(example.Transformer())
    exact = list(itertools.islice(train.train_with_torch(copy.deepcopy(module).double()), 4))
    ours = list(itertools.islice(train.train(module), 4))
    assert distance(ours, exact) < 1e-5
    assert ours[3] < ours[0]


def test_parameters_lie_as_their_names_say():
    function, parameters = exported.export(example.Transformer(), next(example.batches())[:, :-1])
    layout = exported.layout_of(parameters, example.LAYOUT)
    assert layout["blocks.0.query.weight"] == P("model", None)
    assert layout["blocks.0.down.weight"] == P(None, "model")
    assert layout["blocks.0.norm1.weight"] == P()
    jitted = tessera.jit(function, mesh=train.mesh, in_shardings=(layout, P("data")))
    program = jitted.program(parameters, jax.ShapeDtypeStruct((8, 64), np.int32))
    assert program.devices == 8
    wanted = next(p for p in program.inputs if "blocks.0.query.weight" in p.name)
    assert wanted.sharding.dimensions(2) == (("model",), ())


class Odd(torch.nn.Module):
    """A buffer, a tensor of Python's numbers, a weight with two names, two results."""

    def __init__(self):
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(8)
        self.first, self.second = torch.nn.Linear(8, 8, bias=False), torch.nn.Linear(8, 8, bias=False)
        self.second.weight = self.first.weight
        self.norm.running_mean += torch.arange(8)

    def forward(self, x):
        y = self.second(torch.relu(self.first(self.norm(x)))) * torch.tensor([1.0, 2.0] * 4)
        return y, y.argmax(-1)


def test_buffers_constants_and_shared_weights_are_passed():
    module = Odd().eval()
    x = torch.randn(16, 8)
    function, parameters = exported.export(module, x)
    values, places = tessera.jit(function, mesh=train.mesh, in_shardings=(None, P("data")))(parameters, x.numpy())
    exact, wanted = module.double()(x.double())
    assert distance(values, exact) < 1e-6
    np.testing.assert_array_equal(places, wanted)


def test_a_buffer_that_forward_changes_is_refused():
    with pytest.raises(ValueError, match="norm.running_mean.*eval"):
        exported.export(Odd(), torch.randn(16, 8))
