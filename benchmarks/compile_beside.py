"""This build's compiler beside another's, such as an earlier commit's: every program of DIR that both compile, cold, in turns; the least of --rounds of each.

  compile_beside.py --other=FOLDER [--build=FOLDER] [--rounds=5] [--cores=N] [--phases] [--options=OPTIONS] [--only=OPTIONS] DIR|FILE.mlir ..

Columns are ratios, ours by theirs: of processor seconds, which other work on the machine changes little, and of the clock, which it does change.
--cores: what both may use (all that this process may). --options: given to both; --only: to this build alone, as switches that the other lacks.
--phases: what each phase adds, in hundredths of the other's time by the clock; phases that one of the two does not have stand alone.
What the other refuses is named and left out; what this build refuses is an error.
"""
import argparse
import json
import math
import os
import pathlib
import resource
import shlex
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def compiled(build, source, options, directory):
    """(processor seconds, seconds, {phase: seconds}); a string: why there is none."""
    report = os.path.join(directory, "report.json")
    used = lambda: sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
    before, begin = used(), time.perf_counter()
    done = subprocess.run([build / "bin/tessera", "compile", source, "-o", os.path.join(directory, "p.tsr"), "--quiet", f"--report={report}", *options],
                          capture_output=True, text=True)
    taken = used() - before, time.perf_counter() - begin
    if done.returncode:
        return done.stderr.strip()[:200]
    with open(report) as file:
        return *taken, {phase["name"]: phase["seconds"] for phase in json.load(file)["phases"]}


def least(rounds):
    """Of each figure its least."""
    processors, clock, phases = zip(*rounds)
    return min(processors), min(clock), {name: min(each[name] for each in phases) for name in phases[0]}


def beside(sides, source, rounds, directory):
    """The least of each of two sides, (build, options); or what went wrong, and with which of them."""
    taken = [[], []]
    for number in range(rounds):
        for side in (0, 1) if number % 2 else (1, 0):  # a machine that changes its pace changes it for both
            found = compiled(sides[side][0], source, sides[side][1], directory)
            if isinstance(found, str):
                return found, side
            taken[side].append(found)
    return [least(each) for each in taken]


def phases_beside(ours, theirs):
    hundredth = sum(theirs.values()) / 100
    added = {name: (ours.get(name, 0) - theirs.get(name, 0)) / hundredth for name in {**theirs, **ours}}
    return ", ".join(f"{name} {value:+.0f}" for name, value in added.items() if abs(value) >= 0.5)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", type=pathlib.Path)
    parser.add_argument("--other", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cores", type=int)
    parser.add_argument("--phases", action="store_true")
    parser.add_argument("--options", type=shlex.split, default=[])
    parser.add_argument("--only", type=shlex.split, default=[])
    arguments = parser.parse_args()
    if arguments.cores:
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:arguments.cores])
    files = [file for path in arguments.paths for file in (sorted(path.glob("*.mlir")) if path.is_dir() else [path])]
    sides = [(arguments.build, arguments.options + arguments.only), (arguments.other, arguments.options)]
    wrong, ratios = 0, []
    with tempfile.TemporaryDirectory() as directory:
        for file in files:
            found = beside(sides, file, arguments.rounds, directory)
            if isinstance(found, tuple):
                wrong += found[1] == 0
                print(f"{file.stem:32} {'the other build: ' if found[1] else ''}{found[0]}", flush=True)
                continue
            ours, theirs = found
            ratios.append((ours[0] / theirs[0], ours[1] / theirs[1]))
            print(f"{file.stem:32} {ratios[-1][0]:.2f} (clock {ratios[-1][1]:.2f})", flush=True)
            if arguments.phases:
                print(f"    {phases_beside(ours[2], theirs[2])}", flush=True)
    for what, values in zip(("processors", "clock"), zip(*ratios)):
        print(f"{what}: mean {math.exp(sum(map(math.log, values)) / len(values)):.2f}, most {max(values):.2f}, {sum(value > 1.1 for value in values)} of {len(values)} above 1.1")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
