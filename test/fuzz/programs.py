"""Random programs give the right numbers, on one device and on many.

  programs.py [--count=N] [--seconds=S] [--seed=S] [--jobs=N] [--keep=DIR] [--no-shrink] [--only=K] [--show] [--cells]
              [--bounds | --plan] [--options='OPTION ..']

The K-th program of seed S is the same everywhere. It is written as StableHLO with shardings, compiled, run, and compared with an evaluation
by numpy: mostly of numbers for which all arithmetic is exact, so that every element must be equal; see README.md. Prints each program that
is refused, crashes, or has a wrong number or figure, shrinks it to a small .mlir in DIR, and exits with 1 when there was one.
With --bounds each is compiled again with less memory than it takes, with --plan its shardings are found by the compiler.
"""
import argparse
import collections
import multiprocessing
import os
import pathlib
import re
import sys
import tempfile
import time
import traceback

sys.dont_write_bytecode = True
import numpy as np

from generate import check, meshes, modes, shrink
from generate.generate import generate
from generate.program import Printer

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "test" / "numerics"))
from command_line import TARGET_CPU  # of $TESSERA_TARGET_CPU

BIN = pathlib.Path(os.environ.get("TESSERA_BIN", ROOT / "build" / "bin"))


def placements(rng, program, options):
    """None for one device without annotations, and a mesh or two; for plans mostly none."""
    if options.plan and rng.random() < 0.75:
        yield meshes.Placement(program.mesh, {}) if program.mesh else None
        return
    if rng.random() < 0.35 and not program.mesh:
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
        self.checker = check.Checker(BIN / "tessera-fuzz", scratch, options.limit, target_cpu=TARGET_CPU, options=options.options.split())
        self.counts, self.cells = collections.Counter(), collections.Counter()

    def number(self, number):
        program, rng = generate(self.options.seed, number)
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


def work(options, job, numbers):
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as scratch:
        worker = Worker(options, pathlib.Path(scratch))
        end = time.monotonic() + options.seconds if options.seconds else None
        for number in numbers:
            if end and time.monotonic() > end:
                break
            try:
                worker.number(number)
            except Exception:
                print(f"--seed={options.seed} --only={number}: the fuzzer fails\n{traceback.format_exc()}", flush=True)
                worker.counts["bad"] += 1
            if options.first_only and worker.counts["bad"]:
                break
            if worker.counts["programs"] % 500 == 0 and worker.counts["programs"]:
                print(f"seed {options.seed}: {worker.counts['programs']} programs, {worker.counts['bad']} bad", file=sys.stderr, flush=True)
        worker.counts.update({f"ms to {k}": int(1000 * s) for k, s in worker.checker.seconds.items()})
        worker.counts.update(worker.checker.counts)
        worker.checker.close()
    worker.counts.update({("cell", cell): count for cell, count in worker.cells.items()})
    return worker.counts


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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seconds", type=float, help="stop after this time")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first program")
    parser.add_argument("--only", type=int, help="number of the only one")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path, help="where programs that end badly are kept")
    parser.add_argument("--no-shrink", action="store_true", help="keep them as they are")
    parser.add_argument("--show", action="store_true", help="print the programs and run nothing")
    parser.add_argument("--cells", action="store_true", help="print how often each op was sharded along each kind of factor")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--bounds", action="store_true", help="compile again with less memory than a program takes")
    mode.add_argument("--plan", action="store_true", help="let the compiler find the shardings")
    parser.add_argument("--options", default="", help="more options of compile, for each program")
    parser.add_argument("--first-only", action="store_true", help="stop at the first that ends badly")
    parser.add_argument("--limit", type=int, default=20, help="seconds of a core for one program")
    return parser.parse_args(arguments)


def main():
    options = parse()
    begin = time.monotonic()
    if options.only is not None:
        counts = work(options, 0, [options.only])
    elif options.jobs == 1:
        counts = work(options, 0, range(options.first, options.first + options.count))
    else:
        with multiprocessing.Pool(options.jobs) as pool:
            numbers = [range(options.first + job, options.first + options.count, options.jobs) for job in range(options.jobs)]
            counts = sum(pool.starmap(work, [(options, job, numbers[job]) for job in range(options.jobs)]), collections.Counter())
    seconds = time.monotonic() - begin
    print(f"seed {options.seed}: {counts['programs']} programs of {counts['ops'] / max(1, counts['programs']):.1f} operations, {counts['runs']} runs, "
          f"{counts['bad']} bad, {seconds:.0f} s ({counts['ms to compile'] / 1000:.0f} compiling, {counts['ms to run'] / 1000:.0f} running)")
    if options.bounds:
        print(f"{counts['bounds']} programs within a bound, {counts['refused bounds']} bounds refused")
    if options.plan:
        print(f"{counts['plans']} plans")
    if options.cells:
        print_cells(counts)
    return 1 if counts["bad"] else 0


if __name__ == "__main__":
    sys.exit(main())
