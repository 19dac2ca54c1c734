"""The training of examples/torch by PyTorch and by Tessera on eight devices, on the same cores. Prints a ratio and distances.

  beside_torch.py [--steps=N] [--blocks=N]

speed: steps a second, Tessera's over PyTorch's, the median of blocks of steps that take turns. The distances are the largest
ones from PyTorch's results in float64, relative to the largest of those.
Packages: pip install -r examples/torch/requirements.txt
"""
import argparse
import copy
import itertools
import statistics
import sys
import time
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples" / "torch"))
from model import Loss, Transformer, batches
from train import logits, train, train_with_torch


def distance(results, exact):
    return np.abs(np.asarray(results, np.float64) - exact).max() / np.abs(exact).max()


def tell(what, ours, theirs, exact):
    print(f"{what}  distance from float64: Tessera {distance(ours, exact):.1e}  PyTorch {distance(theirs, exact):.1e}",
          flush=True)


def seconds(generator, steps):
    start = time.perf_counter()
    for _ in itertools.islice(generator, steps):
        pass
    return time.perf_counter() - start


def seconds_of_torch(generator, steps):
    """With as many threads as cores, or one: what is faster here. Where others use the cores, many threads wait for each other."""
    threads = torch.get_num_threads()
    times = []
    for count in {threads, 1}:
        torch.set_num_threads(count)
        times.append(seconds(generator, steps))
    torch.set_num_threads(threads)
    return min(times)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--steps", type=int, default=10, help="of a block")
    options.add_argument("--blocks", type=int, default=5)
    options = options.parse_args()
    torch.manual_seed(0)
    model = Transformer()
    wide = copy.deepcopy(model).double()
    tokens = next(batches())[:, :-1]
    with torch.no_grad():
        exact, theirs = wide(tokens).numpy(), model(tokens).numpy()
    tell("logits", logits(model, tokens), theirs, exact)

    ours, theirs = train(Loss(copy.deepcopy(model))), train_with_torch(Loss(copy.deepcopy(model)))
    exact = np.array(list(itertools.islice(train_with_torch(Loss(wide)), options.steps)))
    first = [list(itertools.islice(steps, options.steps)) for steps in (ours, theirs)]
    tell("losses", *first, exact)
    ratios = [seconds_of_torch(theirs, options.steps) / seconds(ours, options.steps) for _ in range(options.blocks)]
    print(f"speed   {statistics.median(ratios):.2f}")


if __name__ == "__main__":
    main()
