"""Propagation of what the sdy language can say, beside Shardy's own pass pipeline in jaxlib.

  shardy_language.py [--opt=tessera-opt] [--file=shardy_language.mlir]

For every program of the file (the comment at its top is its name) the axes of every value must be Shardy's. A program whose name holds
"differs:" may differ, and must.
"""
import argparse, os, re, subprocess, sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "benchmarks"))
from beside_shardy import context, in_child, numbered, shardings


def by_shardy(text):
    from jaxlib.mlir import ir, passmanager
    with context() as c:
        c.allow_unregistered_dialects = True
        module = ir.Module.parse(text)
        passmanager.PassManager.parse("builtin.module(sdy-propagation-pipeline)").run(module.operation)
        return str(module)


def sharded(text):
    return {k: axes for k, (_, _, axes) in shardings(text).items() if axes}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--opt", default=os.path.join(HERE, "..", "..", "build", "bin", "tessera-opt"))
    p.add_argument("--file", default=os.path.join(HERE, "shardy_language.mlir"))
    a = p.parse_args()
    bad = values = 0
    programs = re.split(r"^// -----.*$", open(a.file).read(), flags=re.M)
    for program in programs:
        name = [line[3:] for line in program.strip().splitlines() if line.startswith("// ")][-1]
        text = in_child(lambda: numbered(program))
        if text is None:
            bad += 1
            print(f"{name}\n    jaxlib does not read it")
            continue
        theirs = in_child(lambda: sharded(by_shardy(text)))
        if theirs is None:
            print(f"{name}\n    Shardy has no opinion")
            continue
        run = subprocess.run([a.opt, "--tessera-propagate"], input=text, capture_output=True, text=True)
        ours = in_child(lambda: sharded(run.stdout)) if run.returncode == 0 else None
        if ours is None:
            bad += 1
            print(f"{name}\n    {(run.stderr.strip().splitlines() or ['what was printed is not read back'])[0]}")
            continue
        values += len(theirs)
        different = sorted((k for k in set(ours) | set(theirs) if ours.get(k) != theirs.get(k)), key=str)
        if bool(different) != ("differs:" in name):
            bad += 1
            print(name + ("" if different else "\n    does not differ"))
            for k in different:
                print(f"    {k}: ours {ours.get(k)}, Shardy's {theirs.get(k)}")
    print(f"{len(programs) - bad} of {len(programs)} programs, {values} sharded values")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
