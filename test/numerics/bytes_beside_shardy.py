"""Small whole programs, as they are annotated and otherwise: none sends more than with the shardings that Shardy's pipeline in jaxlib gives.

  bytes_beside_shardy.py [--random=N] [--seed=S] [NAME..]     the programs of models/, and N of each with other annotations on its arguments
The measure is benchmarks/beside_shardy.py's.
"""
import argparse
import os
import random
import sys
import time

import export as exporting
import models
from command_line import BIN

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "benchmarks"))
from beside_shardy import compare, in_child, reannotated


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--random", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--meshes", type=int, default=10, help="how many of each program's")
    parser.add_argument("--values", action="store_true")
    arguments = parser.parse_args()
    start, ratios = time.time(), {}
    for case in models.cases():
        if case.refused or arguments.names and case.name not in arguments.names:
            continue
        for sizes in case.meshes[:arguments.meshes]:
            name = f"{case.name} {'x'.join(f'{axis}{size}' for axis, size in sizes.items())}"
            text = exporting.export(case.build, sizes, case.manual)
            texts = {name: text} | {f"{name} {k}": in_child(lambda: reannotated(text, random.Random(f"{arguments.seed} {name} {k}")))
                                    for k in range(arguments.random)}
            for name, text in texts.items():
                ratios[name] = compare(BIN, name, text, arguments.values, arguments.values)
    more = {name: ratio for name, ratio in ratios.items() if ratio is not None and ratio > 1}
    compared = [ratio for ratio in ratios.values() if ratio is not None]
    for name, ratio in more.items():
        print(f"{name} sends {ratio:.4f} times as much as with Shardy's shardings")
    print(f"{len(compared)} programs compared, {len(more)} send more, {sum(r < 1 for r in compared)} less, in {time.time() - start:.1f} s")
    sys.exit(1 if more or not compared else 0)


if __name__ == "__main__":
    main()
