"""What `--memory` brings a program down to: compiled without a bound, then with a share of what it takes.

    benchmarks/memory_bound.py [--share=0.6] [--measure] PROGRAM.mlir ..
    benchmarks/memory_bound.py --least [--share=0.05] PROGRAM.mlir ..

One row a program and bound. "whole": the share of arguments, results and arena together; "arena": of the arena alone,
beside the arguments and results, which are the caller's. Shares are of the arena without a bound. "floor": what the
largest instruction needs beside arguments and results, with temporaries in results that are not written yet; no order
and no recomputation gets below. A bound below it, or one that arguments and results alone exceed, says so, and is counted
apart in the last lines. Where another
bound cannot be kept, the row has the least that can, as the error names it. Times are ratios: of the predicted step, and
of compiling (of the processor's time, with that of the compilation without a bound as one). --measure: of the step as it runs,
too, with and without the bound in turns, the least of each; and whether the runtime counted the peak that the compiler said.

--least: bounds that no program can keep, by default 5% of arguments, results and arena. Each must be answered by one error, and
the least bound that it names must compile, and be kept. Shares are of arguments, results and arena.
"""
import argparse
import collections
import json
import math
import os
import re
import resource
import subprocess
import sys
import tempfile

TESSERA = os.path.join(os.environ.get("TESSERA_BIN", "build/bin"), "tessera")


def compiled_to(directory, memory):
    return os.path.join(directory, "bounded.tsr" if memory else "plain.tsr")


def measured(directory):
    """(a step within the bound in steps without it, bytes that a device was counted to hold within it)"""
    report = os.path.join(directory, "run.json")
    least = {}
    for _ in range(5):
        for bounded in (False, True):
            subprocess.run([TESSERA, "run", compiled_to(directory, bounded), "--repeat=8", "--quiet", f"--report={report}"], check=True)
            with open(report) as f:
                ran = json.load(f)
            seconds = min(ran["steps"])
            least[bounded] = min(seconds, least.get(bounded, seconds))
    return least[True] / least[False], ran["peak_bytes"]


def compile_program(program, directory, memory=None):
    """(error or None, report or None, seconds of the processor)"""
    report = os.path.join(directory, "report.json")
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run([TESSERA, "compile", program, "-o", compiled_to(directory, memory), f"--report={report}"] +
                          ([f"--memory={memory}"] if memory else []), capture_output=True, text=True)
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    if done.returncode:
        return done.stderr, None, seconds
    with open(report) as f:
        return None, json.load(f), seconds


def bytes_of(tensor):
    *shape, element = re.fullmatch(r"tensor<((?:\d+x)*)(.*)>", tensor).groups()
    bits = sum(int(width) for width in re.findall(r"[a-z](\d+)", element)[:1]) * (2 if "complex" in element else 1)
    return math.prod(int(size) for size in shape[0].split("x")[:-1]) * max(8, bits) // 8


def largest_instruction(program, directory):
    """Bytes of the arrays that one instruction reads and writes, arguments and constants left out."""
    path = os.path.join(directory, "p.mlir")
    subprocess.run([TESSERA, "compile", program, "-o", path, "--stop-after=memory"], check=True, capture_output=True)
    arrays, most = {}, 0
    with open(path) as f:
        for line in f:
            if buffer := re.match(r"\s*(%\w+) = exec\.buffer (arena|output) ?(\d*)(?: at (\d+))? : (tensor<[^>]*>)", line):
                arrays[buffer[1]] = (buffer[2], buffer[3], buffer[4]), bytes_of(buffer[5])
            elif re.match(r"\s*exec\.(dispatch|start|copy)", line):
                touched = {}
                for name in re.findall(r"%\w+", line):
                    if name in arrays:
                        place, size = arrays[name]
                        touched[place] = max(size, touched.get(place, 0))
                most = max(most, sum(touched.values()))
    return most


def rows(program, share, measures, directory):
    """(line, share of what, what came of it)"""
    name = os.path.basename(program).removesuffix(".mlir")
    wrong, plain, plain_seconds = compile_program(program, directory)
    if wrong:
        yield f"| {name} | | | | {wrong.splitlines()[0]} | | |", "whole", "error"
        return
    memory = plain["memory"]
    callers, arena = memory["arguments"] + memory["outputs"], memory["arena"]
    floor = max(0, largest_instruction(program, directory) - memory["outputs"])
    for kind, bound in (("whole", int(share * (callers + arena))), ("arena", callers + int(share * arena))):
        allowed = f"{(bound - callers) / arena:.2f} | {floor / arena:.2f}"
        if bound <= callers + floor:
            yield f"| {name} | {kind} | {allowed} | below the floor | | |", kind, "below"
            continue
        wrong, report, seconds = compile_program(program, directory, bound)
        least = re.search(r"Allow --memory=(\d+)", wrong or "")
        if wrong and not least:
            yield f"| {name} | {kind} | {allowed} | {wrong.splitlines()[0]} | | |", kind, "error"
            continue
        takes = (int(least[1]) if wrong else sum(report["memory"].values())) - callers
        kept = "no" if wrong else "yes" if callers + takes <= bound else "NO, and no error"
        longer = "" if wrong else f"{report['predicted']['seconds'] / plain['predicted']['seconds']:.2f}"
        if measures and not wrong:
            step, peak = measured(directory)
            longer += f", measured {step:.2f}" + ("" if peak == callers + takes else f", PEAK {peak / (callers + takes):.3f} of what was said")
        yield (f"| {name} | {kind} | {allowed} | {kept}: {takes / arena:.2f} | {longer} | "
               f"{seconds / plain_seconds:.1f} |"), kind, "no" if wrong else "kept"


def named_least(program, share, directory):
    """(the least bound that the error of an impossible one names, as a share of what the program takes; what is wrong with it or None)"""
    wrong, plain, _ = compile_program(program, directory)
    if wrong:
        return None, wrong.splitlines()[0]
    whole = sum(plain["memory"].values())
    wrong, _, _ = compile_program(program, directory, int(share * whole))
    if not wrong:
        return None, "no error"
    errors = [line for line in wrong.splitlines() if "error:" in line]
    least = re.search(r"Allow --memory=(\d+)", wrong)
    if len(errors) != 1 or not least:
        return None, f"{len(errors)} errors, {'a' if least else 'no'} least: {wrong.splitlines()[0]}"
    bound = int(least[1])
    wrong, report, _ = compile_program(program, directory, bound)
    if wrong:
        return bound / whole, wrong.splitlines()[0]
    takes = sum(report["memory"].values())
    return bound / whole, None if takes <= bound else f"takes {takes / bound:.3f} of it"


def leasts(programs, share, directory):
    print("| program | least that is named | compiles |")
    print("| --- | --- | --- |")
    right = 0
    for program in programs:
        least, wrong = named_least(program, share, directory)
        right += wrong is None
        shown = "" if least is None else f"{least:.2f}"
        print(f"| {os.path.basename(program).removesuffix('.mlir')} | {shown} | {wrong or 'yes'} |", flush=True)
    print(f"one error, and a least that compiles: {right} of {len(programs)}")
    return right < len(programs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--share", type=float)
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--least", action="store_true")
    parser.add_argument("programs", nargs="+", metavar="PROGRAM.mlir")
    arguments = parser.parse_args()
    if arguments.least:
        with tempfile.TemporaryDirectory() as directory:
            return leasts(arguments.programs, arguments.share or 0.05, directory)
    print("| program | share of | arena allowed | floor | kept: arena taken | step | compile time |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    outcomes = collections.Counter()
    with tempfile.TemporaryDirectory() as directory:
        for program in arguments.programs:
            for line, kind, outcome in rows(program, arguments.share or 0.6, arguments.measure, directory):
                outcomes[kind, outcome] += 1
                print(line, flush=True)
    for kind in ("whole", "arena"):
        kept, missed, below, wrong = (outcomes[kind, outcome] for outcome in ("kept", "no", "below", "error"))
        print(f"of the {kind}: {kept} of {kept + missed} that could are kept; {below} are below the floor"
              + (f"; {wrong} errors" if wrong else ""))


if __name__ == "__main__":
    sys.exit(main())
