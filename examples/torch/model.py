"""A character-level transformer in PyTorch, as one writes it for one device, and how its parameters lie on many."""
import pathlib
from collections.abc import Iterator

import torch
from jax.sharding import PartitionSpec as P
from torch import nn
from torch.nn import functional as F

VOCABULARY, WIDTH, HEADS, LAYERS, LENGTH, BATCH = 64, 128, 4, 5, 64, 8
TEXT = pathlib.Path(__file__).parent.parent / "char_transformer" / "genesis.txt"

# The first pattern that is found in a parameter's name counts; those without lie on every device. A device of "model"
# holds a head (Megatron-LM, Shoeybi et al., 2019). PyTorch's weights are [outputs, inputs].
LAYOUT = {
    r"(query|key|value|up|head)\.weight$": P("model", None),
    r"up\.bias$": P("model"),
    r"(project|down)\.weight$": P(None, "model"),
}


class Block(nn.Module):
    """Causal attention, then an MLP, each on the residual stream."""

    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.query, self.key, self.value, self.project = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(4))
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = self.norm1(x)
        q, k, v = (make(h).unflatten(-1, (HEADS, -1)).transpose(1, 2) for make in (self.query, self.key, self.value))
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.project(attended.transpose(1, 2).flatten(2))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Transformer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.position = nn.Parameter(0.1 * torch.randn(LENGTH, WIDTH))
        self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.head(self.norm(self.blocks(self.embed(tokens) + self.position)))
        return logits


class Loss(nn.Module):
    """The mean cross entropy of each next character."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(self.model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())


def batches() -> Iterator[torch.Tensor]:
    """Rows of the text from random places, as numbers of its characters."""
    text = TEXT.read_bytes()
    alphabet = torch.tensor(sorted(set(text)))
    numbers = torch.searchsorted(alphabet, torch.tensor(list(text)))
    random = torch.Generator().manual_seed(0)
    while True:
        starts = torch.randint(len(numbers) - LENGTH - 1, (BATCH,), generator=random).tolist()
        yield torch.stack([numbers[start : start + LENGTH + 1] for start in starts])
