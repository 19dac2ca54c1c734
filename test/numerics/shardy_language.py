"""Propagation of what the sdy language can say, beside Shardy's own pass pipeline in jaxlib.

  shardy_language.py [--opt=tessera-opt] [--file=shardy_language.mlir]

For every program of the file (the comment at its top is its name) the axes of every value must be Shardy's. A program whose name holds
"differs:" may differ, and must.
"""
import argparse, os, re, subprocess, sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "benchmarks"))
from beside_shardy import context, in_child


def tagged(text):
    """The program with a number on every op with results, constants apart."""
    from jaxlib.mlir import ir
    with context() as c:
        c.allow_unregistered_dialects = True
        module, count = ir.Module.parse(text), 0

        def walk(op):
            nonlocal count
            for region in op.regions:
                for block in region.blocks:
                    for inner in block.operations:
                        o = inner.operation
                        if o.name.startswith("stablehlo.") and o.name not in ("stablehlo.constant", "stablehlo.return") and len(o.results):
                            o.attributes["test.id"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), count)
                            count += 1
                        walk(o)

        walk(module.operation)
        return str(module)


def by_shardy(text):
    from jaxlib.mlir import ir, passmanager
    with context() as c:
        c.allow_unregistered_dialects = True
        module = ir.Module.parse(text)
        passmanager.PassManager.parse("builtin.module(sdy-propagation-pipeline)").run(module.operation)
        return str(module)


def axes(sharding):
    """Of each value: a tuple of axes a dimension; None where nothing is sharded."""
    values = []
    for dims in re.findall(r"<@[\w.\-\"]*,\s*\[(.*?)\](?:,[^>]*)?>", sharding):
        of = tuple(tuple(re.findall(r'"[^"]+"(?::\(\d+\)\d+)?', d)) for d in re.findall(r"\{([^}]*)\}", dims))
        values.append(of if any(of) else None)
    return tuple(values) if any(values) else None


def shardings(text):
    from jaxlib.mlir import ir
    found = {}
    with context() as c:
        c.allow_unregistered_dialects = True
        module = ir.Module.parse(text)

        def walk(op):
            for region in op.regions:
                for block in region.blocks:
                    for inner in block.operations:
                        at = inner.operation.attributes
                        if "test.id" in at:
                            found[ir.IntegerAttr(at["test.id"]).value] = axes(str(at["sdy.sharding"])) if "sdy.sharding" in at else None
                        walk(inner.operation)

        walk(module.operation)
        for function in module.body.operations:
            if function.operation.name == "func.func":
                for kind in ("arg_attrs", "res_attrs"):
                    for i, each in enumerate(ir.ArrayAttr(function.operation.attributes[kind]) if kind in function.operation.attributes else []):
                        each = ir.DictAttr(each)
                        found[kind, i] = axes(str(each["sdy.sharding"])) if "sdy.sharding" in each else None
    return {k: v for k, v in found.items() if v}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--opt", default=os.path.join(HERE, "..", "..", "build", "bin", "tessera-opt"))
    p.add_argument("--file", default=os.path.join(HERE, "shardy_language.mlir"))
    a = p.parse_args()
    bad = values = 0
    programs = re.split(r"^// -----.*$", open(a.file).read(), flags=re.M)
    for program in programs:
        name = [line[3:] for line in program.strip().splitlines() if line.startswith("// ")][-1]
        text = in_child(lambda: tagged(program))
        if text is None:
            bad += 1
            print(f"{name}\n    jaxlib does not read it")
            continue
        theirs = in_child(lambda: shardings(by_shardy(text)))
        if theirs is None:
            print(f"{name}\n    Shardy has no opinion")
            continue
        run = subprocess.run([a.opt, "--tessera-propagate"], input=text, capture_output=True, text=True)
        ours = in_child(lambda: shardings(run.stdout)) if run.returncode == 0 else None
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
