"""What the sdy language can say, compiled and run, against StableHLO's reference interpreter on the program without its annotations.

  shardy_runs.py [--file=shardy_runs.mlir]

A program that cannot be freed of its annotations op by op gives its plain form after `// plain:`. `// collectives: KIND xN ..` says what the
compile report must list, with counts of one execution.
"""
import argparse, json, os, re, sys, tempfile
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "benchmarks"))
from beside_shardy import context
from command_line import tessera

FORWARDED = {"sdy.sharding_constraint", "sdy.reshard", "sdy.propagation_barrier", "sdy.all_gather", "sdy.all_slice", "sdy.all_to_all",
             "sdy.all_reduce", "sdy.collective_permute"}


def plain(block):
    for op in list(block.operations):
        o = op.operation
        for region in o.regions:
            for inner in region.blocks:
                plain(inner)
        if o.name in FORWARDED or o.name == "stablehlo.custom_call" and '"Sharding"' in str(o.attributes["call_target_name"]):
            o.results[0].replace_all_uses_with(o.operands[0])
            o.erase()
        elif o.name == "sdy.named_computation":
            body = o.regions[0].blocks[0]
            for argument, operand in zip(body.arguments, o.operands):
                argument.replace_all_uses_with(operand)
            returned = list(body.operations)[-1].operation
            values = list(returned.operands)
            for inner in list(body.operations)[:-1]:
                inner.operation.move_before(o)
            for result, value in zip(o.results, values):
                result.replace_all_uses_with(value)
            o.erase()
        elif o.name in ("sdy.mesh", "sdy.sharding_group"):
            o.erase()
        else:
            for name in [a if isinstance(a, str) else a.name for a in o.attributes]:
                if name in ("sdy.sharding", "mhlo.sharding", "arg_attrs", "res_attrs"):
                    del o.attributes[name]


def reference(text, inputs):
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo
    with context():
        module = ir.Module.parse(text)
        plain(module.body)
        results = stablehlo.eval_module(module, [ir.DenseElementsAttr.get(x) for x in inputs])
        return [np.array(r) for r in results]


def verify(program, seed=0):
    """Name and error of one program; the error is empty where compile and run do as the interpreter."""
    lines = [line[3:] for line in program.strip().splitlines() if line.startswith("// ")]
    name = next(line for line in lines if not line.startswith("What the sdy language"))
    text, _, other = program.partition("// plain:")
    shapes = re.findall(r"%\w+: tensor<([0-9x]+)xf32>", re.search(r"@main\((.*?)\) ->", text, re.S)[1])
    rng = np.random.default_rng(seed)
    inputs = [rng.standard_normal([int(n) for n in s.split("x")]).astype(np.float32) for s in shapes]
    with tempfile.TemporaryDirectory() as d:
        open(f"{d}/p.mlir", "w").write(text)
        np.savez(f"{d}/in.npz", **{f"in{i}": x for i, x in enumerate(inputs)})
        for command in (["compile", f"{d}/p.mlir", "-o", f"{d}/p.tsr", f"--report={d}/r.json"],
                        ["run", f"{d}/p.tsr", f"--inputs={d}/in.npz", f"--outputs={d}/out.npz"]):
            run = tessera(*command)
            if run.returncode:
                return name, (run.stderr.strip().splitlines() or ["no error line"])[-1]
        ours = np.load(f"{d}/out.npz")
        for i, want in enumerate(reference(other or text, inputs)):
            if not np.allclose(ours[f"out{i}"], want, rtol=2e-5, atol=1e-4):
                return name, f"result {i} differs by {np.max(np.abs(ours[f'out{i}'] - want))}"
        for line in lines:
            if line.startswith("collectives: "):
                found = sorted(f"{c['kind']} x{c['count']}" for c in json.load(open(f"{d}/r.json"))["collectives"])
                if found != sorted(line[13:].split(", ")):
                    return name, f"{line}, but found {', '.join(found)}"
    return name, ""


def verify_all(programs):
    """Prints what is wrong; the exit code."""
    bad = 0
    for program in programs:
        name, error = verify(program)
        if error:
            bad += 1
            print(f"{name}\n    {error}")
    print(f"{len(programs) - bad} of {len(programs)} programs")
    return 1 if bad else 0


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--file", default=os.path.join(HERE, "shardy_runs.mlir"))
    a = p.parse_args()
    sys.exit(verify_all(re.split(r"^// -----.*$", open(a.file).read(), flags=re.M)))


if __name__ == "__main__":
    main()
