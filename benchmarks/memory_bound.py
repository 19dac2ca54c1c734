"""What `--memory` brings a program down to: compiled without a bound, then with a share of what it takes.

    benchmarks/memory_bound.py [--share=0.6] PROGRAM.mlir ..

One row a program and bound. "whole": the share of arguments, results and arena together; "arena": of the arena alone,
beside the arguments and results, which are the caller's. A bound that these alone exceed is left out. Where a bound
cannot be kept, the row has the least that can, as the error names it. Times are ratios: of the predicted step, and of
compiling (of the processor's time, with that of the compilation without a bound as one).
"""
import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile

TESSERA = os.path.join(os.environ.get("TESSERA_BIN", "build/bin"), "tessera")


def compile_program(program, directory, memory=None):
    """(error or None, report or None, seconds of the processor)"""
    report = os.path.join(directory, "report.json")
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run([TESSERA, "compile", program, "-o", os.path.join(directory, "p.tsr"), f"--report={report}"] +
                          ([f"--memory={memory}"] if memory else []), capture_output=True, text=True)
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    if done.returncode:
        return done.stderr, None, seconds
    with open(report) as f:
        return None, json.load(f), seconds


def rows(program, share, directory):
    name = os.path.basename(program).removesuffix(".mlir")
    wrong, plain, plain_seconds = compile_program(program, directory)
    if wrong:
        yield f"| {name} | | | {wrong.splitlines()[0]} | | |"
        return
    memory = plain["memory"]
    callers, arena = memory["arguments"] + memory["outputs"], memory["arena"]
    for kind, bound in (("whole", int(share * (callers + arena))), ("arena", callers + int(share * arena))):
        if bound <= callers:
            continue
        wrong, report, seconds = compile_program(program, directory, bound)
        least = re.search(r"Allow --memory=(\d+)", wrong or "")
        if wrong and not least:
            yield f"| {name} | {kind} | | {wrong.splitlines()[0]} | | |"
            continue
        takes = (int(least[1]) if wrong else sum(report["memory"].values())) - callers
        kept = "no" if wrong else "yes" if callers + takes <= bound else "NO, and no error"
        longer = "" if wrong else f"{report['predicted']['seconds'] / plain['predicted']['seconds']:.2f}"
        yield (f"| {name} | {kind} | {(bound - callers) / arena:.2f} | {kept}: {takes / arena:.2f} | {longer} | "
               f"{seconds / plain_seconds:.1f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--share", type=float, default=0.6)
    parser.add_argument("programs", nargs="+", metavar="PROGRAM.mlir")
    arguments = parser.parse_args()
    print("| program | share of | arena allowed | kept: arena taken | step | compile time |\n| --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as directory:
        for program in arguments.programs:
            for row in rows(program, arguments.share, directory):
                print(row, flush=True)


if __name__ == "__main__":
    sys.exit(main())
