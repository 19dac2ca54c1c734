"""Random programs give the right numbers, on one device and on many.

  programs.py [--count=N] [--seconds=S] [--seed=S] [--jobs=N] [--keep=DIR] [--no-shrink] [--only=K] [--show] [--cells]
              [--narrow] [--bounds | --plan] [--options='OPTION ..']

The K-th program of seed S is the same everywhere. It is written as StableHLO with shardings, compiled, run, and compared with an evaluation
by numpy: mostly of numbers for which all arithmetic is exact, so that every element must be equal; see README.md. Prints each program that
is refused, crashes, or has a wrong number or figure, shrinks it to a small .mlir in DIR, and exits with 1 when there was one.
With --narrow they are of bf16 and f16, whose results are rounded. With --bounds each is compiled again with less memory than it takes, with
--plan its shardings are found by the compiler.
"""
import collections
import pathlib
import re
import sys

sys.dont_write_bytecode = True
import numpy as np

import numbered
from generate import check, meshes, modes, shrink
from generate.generate import generate
from generate.program import Printer

sys.path.append(str(numbered.ROOT / "test" / "numerics"))
from command_line import TARGET_CPU  # of $TESSERA_TARGET_CPU


def placements(rng, program, options):
    """None for one device without annotations, and a mesh or two; for plans mostly none. One device always where sums in parts are not judged."""
    if options.plan and rng.random() < 0.75:
        yield meshes.Placement(program.mesh, {}) if program.mesh else None
        return
    if (options.narrow or rng.random() < 0.35) and not program.mesh:
        yield None
    yield meshes.place(rng, program)
    if rng.random() < 0.3:
        yield meshes.place(rng, program)


def some_mode(rng, program, placement, options):
    if options.bounds:
        return modes.Bounds(rng.uniform(0.55, 0.95))
    return modes.some_plan(rng, program, placement) if options.plan else modes.Plain()


def same(one, other):
    """Whether two ends look like one mistake."""
    plain = lambda end: re.sub(r"\d+|'[^']*'|\[.*?\]|out#|-|\.|e\+|complex<f#>", "#", end or "")[:18]
    return bool(other) and plain(one) == plain(other)


class Worker:
    def __init__(self, options, scratch):
        self.options, self.scratch = options, scratch
        self.checker = check.Checker(numbered.BIN / "tessera-fuzz", scratch, options.limit, target_cpu=TARGET_CPU, options=options.options.split(),
                                     narrow=options.narrow)
        self.counts, self.cells = collections.Counter(), collections.Counter()

    def number(self, number):
        program, rng = generate(self.options.seed, number, self.options.narrow)
        if not program.results:
            self.counts["empty"] += 1
            return
        self.counts["programs"] += 1
        self.counts["ops"] += len(program.all_ops())
        self.counts.update({("operands of", op.name): len(op.operands) for op in program.all_ops()})
        for placement in placements(rng, program, self.options):
            thorough = rng.random() < 0.1
            mode = some_mode(rng, program, placement, self.options)
            self.counts["runs"] += 1
            if self.options.show:
                print(Printer(program, placement).text())
                continue
            wrong = self.checker.check(program, placement, thorough, mode)
            if not wrong and self.options.cells and placement:
                self.cells.update(self.checker.cells())
            if wrong:
                self.counts["bad"] += 1
                self.report(number, program, placement, wrong, thorough, mode)
                break

    def report(self, number, program, placement, wrong, thorough, mode):
        where = "one device" if placement is None else str(placement.mesh)
        line = f"--seed={self.options.seed} --only={number} ({where}): {wrong}"
        print(line, flush=True)
        if not self.options.keep:
            return
        if not self.options.no_shrink:
            program, placement = shrink.shrink(program, placement, lambda p, q: same(wrong, self.checker.check(p, q, thorough, mode)))
            wrong = self.checker.check(program, placement, thorough, mode) or wrong
        self.options.keep.mkdir(parents=True, exist_ok=True)
        base = self.options.keep / f"{self.options.seed}-{number}"
        text = Printer(program, placement).text()
        base.with_suffix(".mlir").write_text(f"// {line}\n// {wrong}\n{text}")
        check.write_npz(base.with_suffix(".npz"), {
            **{f"in{i}": v.data.astype(v.element.own).astype(v.element.passed) for i, v in enumerate(program.arguments)},
            **{f"out{i}": v.data for i, v in enumerate(program.results)}})

    def close(self):
        self.counts.update({f"ms to {k}": int(1000 * s) for k, s in self.checker.seconds.items()})
        self.counts.update(self.checker.counts)
        self.counts.update({("cell", cell): count for cell, count in self.cells.items()})
        self.checker.close()


def print_cells(counts):
    """A line for each op and kind of factor: how many programs had it even or uneven, beside whole or partial values. An op without operands
    has nothing partial beside it (a constant may: it is made again as a part)."""
    rows = collections.defaultdict(collections.Counter)
    for key, count in counts.items():
        if key[0] == "cell":
            op, kind, *cell = key[1].split()
            rows[op, kind][tuple(cell)] += count
    columns = [(even, partial) for partial in ("whole", "partial") for even in ("even", "uneven")]
    exists = lambda op, cells, column: cells[column] or counts["operands of", op] or column[1] == "whole"
    print(f"{'op':34}{'factor':18}" + "".join(f"{', '.join(c):>17}" for c in columns))
    for (op, kind), cells in sorted(rows.items()):
        print(f"{op:34}{kind:18}" + "".join(f"{cells[c] if exists(op, cells, c) else '-':>17}" for c in columns))
    all_cells = [cells[c] for (op, _), cells in rows.items() for c in columns if exists(op, cells, c)]
    print(f"{len(all_cells)} cells, {sum(count < 20 for count in all_cells)} of them in fewer than 20 programs")


def parse(arguments=None):
    parser = numbered.parser(__doc__, count=1000, limit=20)
    parser.add_argument("--keep", type=pathlib.Path, help="where programs that end badly are kept")
    parser.add_argument("--no-shrink", action="store_true", help="keep them as they are")
    parser.add_argument("--cells", action="store_true", help="print how often each op was sharded along each kind of factor")
    parser.add_argument("--narrow", action="store_true", help="programs of bf16 and f16, whose results are rounded")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--bounds", action="store_true", help="compile again with less memory than a program takes")
    mode.add_argument("--plan", action="store_true", help="let the compiler find the shardings")
    parser.add_argument("--options", default="", help="more options of compile, for each program")
    return parser.parse_args(arguments)


def main():
    options = parse()
    counts, seconds = numbered.run(Worker, options)
    print(f"seed {options.seed}: {counts['programs']} programs of {counts['ops'] / max(1, counts['programs']):.1f} operations, {counts['runs']} runs, "
          f"{counts['bad']} bad, {seconds:.0f} s ({counts['ms to compile'] / 1000:.0f} compiling, {counts['ms to run'] / 1000:.0f} running)")
    if options.narrow:
        print(f"{counts['not judged']} runs differ where devices add up rounded parts, and are not judged")
    if options.bounds:
        print(f"{counts['bounds']} programs within a bound, {counts['refused bounds']} bounds refused")
    if options.plan:
        print(f"{counts['plans']} plans")
    if options.cells:
        print_cells(counts)
    return 1 if counts["bad"] else 0


if __name__ == "__main__":
    sys.exit(main())
