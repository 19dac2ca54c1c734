"""Mutants prove the fuzzer: planted wrong rules, of which it must find 95 %, each within five minutes (docs/mutants.md).

  mutants.py check                     every place is still there, once
  mutants.py list                      names, and what is wrong
  mutants.py plant                     a copy of the tree with all of them in build-mutants/, and its build
  mutants.py hunt [--seconds=300]      the fuzzer on one after the other until it finds a mismatch; goes on where it stopped
  mutants.py table                     what it found, as the table of docs/mutants.md
"""
import argparse
import collections
import dataclasses
import fnmatch
import importlib
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import hunter
from mutant import ROOT, SWITCH, planted

LISTS = ("propagate", "reshard", "localize", "communicate", "fuse", "memory", "codegen", "attention", "gpu", "warpgroups", "flash", "rows", "groups", "runtime")


def catalogue(only="*"):
    found = []
    for module in map(importlib.import_module, LISTS):
        fuzzer = getattr(module, "FUZZER", "programs")
        found += [dataclasses.replace(each, fuzzer=fuzzer) for each in module.MUTANTS]
    return [each for each in found if any(fnmatch.fnmatch(each.name, pattern) for pattern in only.split(","))]


def check(mutants):
    errors = planted(mutants)[1]
    names = [each.name for each in mutants]
    errors += [f"{name}: twice in the list" for name in sorted(set(names)) if names.count(name) > 1]
    print("\n".join(errors) or f"{len(mutants)} mutants have their places")
    return bool(errors)


def write(path, data):
    """Leaves a file alone that is as it should be: nothing is compiled again for it."""
    if not path.exists() or path.read_bytes() != data:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def plant(mutants, folder):
    texts, errors = planted(mutants)
    if errors:
        sys.exit("\n".join(errors))
    write(folder / "mutant_switch.h", SWITCH.encode())
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"], capture_output=True, check=True).stdout
    for name in filter(None, listed.decode().split("\0")):
        source = ROOT / name
        if source.is_file():
            write(folder / name, texts[name].encode() if name in texts else source.read_bytes())
            (folder / name).chmod(source.stat().st_mode)
    print(f"{len(mutants)} mutants in {folder}")


def build(folder):
    subprocess.run(["cmake", "-G", "Ninja", "-Wno-dev", "-S", folder, "-B", folder / "build"], check=True)  # refuses the build of another tree
    subprocess.run(["ninja", "-C", folder / "build", "tessera", "tessera-fuzz", "tessera_emulator"], check=True)


def kind_of(how):
    """wrong number, refusal, .. of a line of programs.py."""
    for sign, kind in (("wrong:", "wrong numbers"), (" differ: ", "wrong numbers"), (" from f64", "wrong numbers"), ("emulator:", "the emulator"), ("would do", "counts"), ("bytes_read", "counts"), (" ! ", "counts"), ("figures:", "wrong figures"), ("refuses", "refusal"), ("no end", "no end"), ("signal", "crash")):
        if sign in how:
            return kind
    return "crash"


def table(mutants, results):
    rows, found = hunter.recorded(results), collections.Counter()
    print("| mutant | what is wrong | seen by | program | seconds |\n| --- | --- | --- | --- | --- |")
    for each in mutants:
        row = rows.get(each.name, {"how": None, "program": "", "seconds": 0})
        found[bool(row["how"])] += 1
        seen = f"{kind_of(row['how'])} | {row['program']} | {max(1, round(row['seconds']))}" if row["how"] else "**not found** | | "
        print(f"| {each.name} | {each.why} | {seen} |")
    print(f"\n{found[True]} of {found[True] + found[False]} found")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["check", "list", "plant", "hunt", "table"])
    parser.add_argument("--only", default="*", help="names, with * and commas")
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build-mutants")
    parser.add_argument("--no-build", action="store_true", help="plant: the copy only")
    parser.add_argument("--bin", type=pathlib.Path, help="binaries that hold the mutants; those of the folder")
    parser.add_argument("--seconds", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    a = parser.parse_args()
    mutants = catalogue(a.only)
    if a.command == "check":
        sys.exit(check(mutants))
    if a.command == "list":
        print("\n".join(f"{each.name:44} {each.why}" for each in mutants))
    if a.command == "plant":
        plant(mutants, a.folder.resolve())
        if not a.no_build:
            build(a.folder.resolve())
    if a.command == "hunt":
        of_gpus = [each for each in mutants if each.fuzzer == "gpu"]
        hunter.hunt_on_gpus(of_gpus, a.folder / "build", a.folder)
        if rest := [each for each in mutants if each.fuzzer != "gpu"]:
            hunter.hunt(rest, a.bin or a.folder / "build" / "bin", a.seed, a.seconds, a.folder)
    if a.command == "table":
        table(mutants, a.folder / "found.jsonl")


if __name__ == "__main__":
    main()
