"""Compiling for a GPU beside compiling for this machine's CPU: every program of DIR, cold, in turns; the least of --rounds of each.

  compile_targets.py [--build=FOLDER] [--architecture=sm_90a] [--rounds=3] DIR|FILE.mlir ..

Columns are ratios to the CPU's: seconds of processors that PTX takes, and with machine code beside it (+cubin, by CUDA's ptxas, where that
is installed), and the same of the clock, which depends on the cores that are free; then the bytes of each program file.
"""
import argparse
import math
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def compiled(tessera, source, target, directory):
    """(processor seconds, seconds, bytes of the file); a string: why there is none."""
    program = os.path.join(directory, "p.tsr")
    used = lambda: sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
    before, begin = used(), time.perf_counter()
    done = subprocess.run([tessera, "compile", source, "-o", program, f"--target={target}", "--quiet"], capture_output=True, text=True)
    if done.returncode:
        return done.stderr.strip()[:200]
    return used() - before, time.perf_counter() - begin, os.path.getsize(program)


def ratios(tessera, source, targets, rounds, directory):
    """Of each target but the first to the first: (processor seconds, seconds), and all programs' bytes; or what went wrong."""
    least = {target: [math.inf] * 3 for target in targets}
    for _ in range(rounds):
        for target in targets:
            found = compiled(tessera, source, target, directory)
            if isinstance(found, str):
                return f"{target}: {found}"
            least[target] = list(map(min, least[target], found))
    first, *others = least.values()
    return [(other[0] / first[0], other[1] / first[1]) for other in others], [int(each[2]) for each in least.values()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--architecture", default="sm_90a")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    has_ptxas = shutil.which("ptxas", path=os.environ.get("PATH", "") + os.pathsep + "/usr/local/cuda/bin")
    targets = ["cpu", f"cuda:{arguments.architecture}", *([f"cuda:{arguments.architecture}+cubin"] if has_ptxas else [])]
    files = [file for path in arguments.paths for file in (sorted(path.glob("*.mlir")) if path.is_dir() else [path])]
    wrong, all_ratios = 0, []
    with tempfile.TemporaryDirectory() as directory:
        for file in files:
            found = ratios(arguments.build / "bin/tessera", file, targets, arguments.rounds, directory)
            if isinstance(found, str):
                wrong += 1
                print(f"{file.stem}: {found}", flush=True)
                continue
            all_ratios.append(found[0])
            texts = [f"{target.partition(':')[2]} {processor:.2f} (clock {clock:.2f})" for target, (processor, clock) in zip(targets[1:], found[0])]
            print(f"{file.stem:32} {', '.join(texts)}; {', '.join(map(str, found[1]))} bytes", flush=True)
    for target, *each in zip(targets[1:], *all_ratios):
        for what, values in zip(("processors", "clock"), zip(*each)):
            print(f"{target}, {what}: mean {math.exp(sum(map(math.log, values)) / len(values)):.2f}, most {max(values):.2f}")
    if not has_ptxas:
        print("there is no ptxas: nothing was assembled")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
