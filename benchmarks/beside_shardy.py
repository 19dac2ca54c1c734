"""Wire bytes with our shardings beside those with Shardy's: both are partitioned by Tessera.

  beside_shardy.py DIR.. [NAME..]   every annotated program DIR/NAME.mlir: compiled as it is, and compiled with the shardings that Shardy's
                                    published pass pipeline (in jaxlib) gives to the values of the imported program pinned on them. Prints the
                                    ratio of what a device sends.
Options: --bin DIR (tessera's directory; build/bin), --need R (no ratio above; exit code 1 otherwise), --kinds (where bytes differ: by kind and axes),
--values (also which values differ, by source place), --random N (instead of each program, N of it with other annotations on its arguments; --seed S).
A program that Shardy's pipeline or the comparison refuses is named and left out; it has not been compared.
"""
import argparse, collections, glob, json, os, pickle, random, re, signal, subprocess, sys, tempfile, time

AXIS = re.compile(r'"[^"]+"(?::\(\d+\)\d+)?')
NUMBER = "jax.number"  # on operations: a name of a dialect whose attributes the phases let through


def context():
    from jax._src.interpreters import mlir as jmlir
    c = jmlir.JaxIrContext()
    c.append_dialect_registry(jmlir.upstream_dialects)
    c.enable_multithreading(False)
    c.load_all_available_dialects()
    jmlir.dialects.sdy.register_dialect(c)
    jmlir.dialects.mhlo.register_mhlo_dialect(c)
    jmlir.dialects.chlo.register_dialect(c)
    jmlir.dialects.hlo.register_dialect(c)
    return c


def in_child(function, seconds=120):
    """function() in a process of its own: a pass that ends the process on what it does not know ends only that."""
    import jax._src.interpreters.mlir  # once for all children
    with tempfile.NamedTemporaryFile() as file:
        child = os.fork()
        if child == 0:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            try:
                pickle.dump(function(), open(file.name, "wb"))
            except BaseException:
                os._exit(1)
            os._exit(0)
        end = time.time() + seconds
        while time.time() < end:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                return pickle.load(open(file.name, "rb")) if status == 0 else None
            time.sleep(0.02)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return None


def imported(binaries, file):
    """The imported program; where import speaks of mesh axes in a dialect of ours, as it was before that."""
    with tempfile.TemporaryDirectory() as directory:
        text = subprocess.run([f"{binaries}/tessera-opt", file, "--tessera-import", "--mlir-print-debuginfo", "--mlir-disable-threading",
                               "--mlir-print-ir-before=tessera-recover-axes", f"--mlir-print-ir-tree-dir={directory}"],
                              capture_output=True, text=True, check=True).stdout
        return open(glob.glob(f"{directory}/**/*.mlir", recursive=True)[0]).read() if " comm." in text else text


def ops_in(op):
    """All ops in the regions of `op`, outer ones first."""
    for region in op.regions:
        for block in region.blocks:
            for inner in list(block.operations):
                yield inner.operation
                yield from ops_in(inner.operation)


def without_notes(module):
    """What import found out is taken off: a program that comes in may not say it."""
    for op in (module.operation, *ops_in(module.operation)):
        for name in [a if isinstance(a, str) else a.name for a in op.attributes]:
            if name.startswith("tessera."):
                del op.attributes[name]


def replicate_the_rest(module):
    """What Shardy gives no sharding lies whole on every device: said, so that propagation doesn't go on from there."""
    from jaxlib.mlir import ir
    mesh = next(o for o in module.body.operations if o.operation.name == "sdy.mesh").attributes["sym_name"].value
    for op in ops_in(module.operation):
        if op.name.startswith("stablehlo.") and "sdy.sharding" not in op.attributes and len(op.results):
            if all(isinstance(r.type, ir.RankedTensorType) for r in op.results):
                whole = ", ".join(f"<@{mesh}, [{', '.join(['{}'] * r.type.rank)}]>" for r in op.results)
                op.attributes["sdy.sharding"] = ir.Attribute.parse(f"#sdy.sharding_per_value<[{whole}]>")


def boundaries(module):
    """(function, "arg_attrs" or "res_attrs", [the dictionary of each])"""
    from jaxlib.mlir import ir
    for function in module.body.operations:
        if function.operation.name == "func.func":
            for kind in ("arg_attrs", "res_attrs"):
                if kind in function.operation.attributes:
                    yield function.operation, kind, [ir.DictAttr(each) for each in ir.ArrayAttr(function.operation.attributes[kind])]


def dims_of(sharding):
    return re.findall(r"\{[^}]*\}", str(sharding).split("[", 1)[1].split("]", 1)[0])


def keep_uneven(module, annotated):
    """Shardy takes axes that don't divide a dimension off inputs and outputs, the user's own too: those are the program's, and stay."""
    from jaxlib.mlir import ir
    for function, kind, entries in boundaries(module):
        for i, entry in enumerate(entries):
            users = annotated.get((function.attributes["sym_name"].value, kind, i))
            if not users or "sdy.sharding" not in entry:
                continue
            dims, lost = dims_of(entry["sdy.sharding"]), False
            for d, (mine, theirs) in enumerate(zip(dims_of(users), dims)):
                own = AXIS.findall(mine)
                if AXIS.findall(theirs)[:len(own)] != own:
                    dims[d], lost = mine, True
            if lost:
                kept = ir.Attribute.parse(f"{str(entry['sdy.sharding']).split('[', 1)[0]}[{', '.join(dims)}]>")
                entries[i] = ir.DictAttr.get({e.name: kept if e.name == "sdy.sharding" else e.attr for e in entry})
        function.attributes[kind] = ir.ArrayAttr.get(entries)


def shardy(text):
    """The program with every sharding that Shardy finds, dimensions closed; what it finds none for is replicated."""
    from jaxlib.mlir import ir, passmanager
    with context() as c:
        c.allow_unregistered_dialects = True
        module = ir.Module.parse(text)
        annotated = {(function.attributes["sym_name"].value, kind, i): str(entry["sdy.sharding"])
                     for function, kind, entries in boundaries(module) for i, entry in enumerate(entries) if "sdy.sharding" in entry}
        passmanager.PassManager.parse("builtin.module(sdy-propagation-pipeline)").run(module.operation)
        without_notes(module)
        replicate_the_rest(module)
        keep_uneven(module, annotated)
        # Its own constants stand for those of StableHLO until partitioning.
        return module.operation.get_asm(enable_debug_info=True).replace("sdy.constant ", "stablehlo.constant ")


def compiled(tessera, text):
    """(collectives, None) or (None, error)."""
    with tempfile.TemporaryDirectory() as directory:
        source, report = f"{directory}/p.mlir", f"{directory}/r.json"
        open(source, "w").write(text)
        run = subprocess.run([tessera, "compile", source, "-o", f"{directory}/p.txt", "--stop-after=memory", f"--report={report}"],
                             capture_output=True, text=True)
        if run.returncode:
            return None, (run.stderr.strip().splitlines() or ["no error line"])[-1][:200]
        return json.load(open(report))["collectives"], None


def total(collectives):
    return sum(c["wire_bytes"] for c in collectives)


def by_kind(collectives):
    sums = {}
    for c in collectives:
        key = f"{c['kind']} {c['axes']}"
        sums[key] = sums.get(key, 0) + c["wire_bytes"]
    return sums


def reannotated(text, rng):
    """The program with other annotations on its arguments: a third keeps its own, the rest get axes in random dimensions, or none."""
    from jaxlib.mlir import ir
    with context() as c:
        c.allow_unregistered_dialects = True
        module = ir.Module.parse(text)
        axes = [(a, int(n)) for a, n in re.findall(r'"([^"]+)"=(\d+)', next(str(o) for o in module.body.operations if o.operation.name == "sdy.mesh")) if int(n) > 1]
        name = next(o for o in module.body.operations if o.operation.name == "sdy.mesh").attributes["sym_name"].value
        main = next(o for o in module.body.operations if o.operation.name == "func.func" and o.attributes["sym_name"].value == "main")
        attributes = []
        for type, old in zip(main.type.inputs, ir.ArrayAttr(main.operation.attributes["arg_attrs"])):
            entries = {each.name: each.attr for each in ir.DictAttr(old)}
            if rng.random() > 1 / 3:
                entries.pop("sdy.sharding", None)
                shape = list(ir.RankedTensorType(type).shape)
                dims, left = [[] for _ in shape], shape[:]
                for axis, size in rng.sample(axes, len(axes)):
                    fits = [d for d in range(len(shape)) if left[d] % size == 0]
                    if fits and rng.random() < 0.6:
                        d = rng.choice(fits)
                        dims[d].append(axis)
                        left[d] //= size
                spelled = ", ".join("{" + ", ".join([f'"{a}"' for a in d] + ([] if d else ["?"])) + "}" for d in dims)
                if any(dims):
                    entries["sdy.sharding"] = ir.Attribute.parse(f"#sdy.sharding<@{name}, [{spelled}]>")
            attributes.append(ir.DictAttr.get(entries))
        main.operation.attributes["arg_attrs"] = ir.ArrayAttr.get(attributes)
        return module.operation.get_asm(enable_debug_info=True)


def numbered(text):
    """The program with a number on every op with results, constants apart: they find it again in what passes make of it."""
    from jaxlib.mlir import ir
    with context() as c:
        c.allow_unregistered_dialects = True
        module, count = ir.Module.parse(text), 0
        for op in ops_in(module.operation):
            if op.name.startswith("stablehlo.") and op.name not in ("stablehlo.constant", "stablehlo.return") and len(op.results):
                op.attributes[NUMBER] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), count)
                count += 1
        return module.operation.get_asm(enable_debug_info=True)


def axes(attribute):
    """Of each value: a tuple of axes a dimension; None where nothing is sharded."""
    values = []
    for dims in re.findall(r"<@[\w.\-\"]*,\s*\[(.*?)\](?:,[^>]*)?>", str(attribute)):
        of = tuple(tuple(AXIS.findall(d)) for d in re.findall(r"\{([^}]*)\}", dims))
        values.append(of if any(of) else None)
    return tuple(values) if any(values) else None


def shardings(text):
    """{number, or (kind, index) of an argument or result of a function: (source place, op, axes)}"""
    from jaxlib.mlir import ir
    found = {}
    with context() as c:
        c.allow_unregistered_dialects = True
        module = ir.Module.parse(text)
        for op in ops_in(module.operation):
            if NUMBER in op.attributes:
                place = re.findall(r'"([^"]+)":(\d+)', str(op.location))
                sharding = op.attributes["sdy.sharding"] if "sdy.sharding" in op.attributes else None
                found[ir.IntegerAttr(op.attributes[NUMBER]).value] = (":".join(place[0]) if place else "", op.name, axes(sharding))
        for _, kind, entries in boundaries(module):
            for i, entry in enumerate(entries):
                sharding = entry["sdy.sharding"] if "sdy.sharding" in entry else None
                found[kind, i] = ("", f"{'argument' if kind == 'arg_attrs' else 'result'} {i}", axes(sharding))
    return found


def differing(binaries, text):
    """[(source place, op, Shardy's axes, ours)] of the values that are sharded differently."""
    text = in_child(lambda: numbered(text))
    theirs = in_child(lambda: shardings(shardy(text)))
    run = subprocess.run([f"{binaries}/tessera-opt", "--tessera-propagate", "--mlir-print-debuginfo"], input=text, capture_output=True, text=True)
    ours = in_child(lambda: shardings(run.stdout))
    if theirs is None or ours is None:
        return None
    return [(*theirs[k], ours[k][2]) for k in sorted(theirs, key=str) if k in ours and theirs[k][2] != ours[k][2]]


def spelled(values):
    """P(x+y, -) of each value; - of one that is nowhere sharded."""
    if values is None:
        return "-"
    return " ".join("P(" + ", ".join("+".join(a.replace('"', "") for a in d) or "-" for d in dims) + ")" if dims else "-" for dims in values)


def show_differing(found):
    if found is None:
        print("    the values cannot be compared")
        return
    groups = collections.Counter((place, op, spelled(t), spelled(o)) for place, op, t, o in found)
    for (place, op, theirs, ours), count in groups.most_common(40):
        print(f"    {count:4d} {op:28s}{place:32s}Shardy {theirs}, ours {ours}")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("what", nargs="+")
    p.add_argument("--bin", default="build/bin")
    p.add_argument("--need", type=float)
    p.add_argument("--kinds", action="store_true")
    p.add_argument("--values", action="store_true")
    p.add_argument("--random", type=int, default=0)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--keep", help="a directory for programs that send more than with Shardy's shardings")
    a = p.parse_args()
    names = {w for w in a.what if not os.path.isdir(w)}
    files = [f for d in a.what if os.path.isdir(d) for f in sorted(glob.glob(f"{d}/*.mlir"))]
    ratios = []
    for file in files:
        name, text = os.path.basename(file)[:-5], open(file).read()
        if names and name not in names or "sdy.mesh" not in text and "mhlo.sharding" not in text:
            continue
        cases = [(name, text)] if not a.random else [
            (f"{name} {k}", in_child(lambda: reannotated(text, random.Random(f"{a.seed} {name} {k}")))) for k in range(a.random)]
        for name, text in cases:
            ratio = compare(a.bin, name, text, a.kinds, a.values)
            if ratio is not None:
                ratios.append(ratio)
            if a.keep and (ratio or 0) > 1:
                open(f"{a.keep}/{name.replace(' ', '_')}.mlir", "w").write(text)
    worst = max(ratios, default=0)
    print(f"worst x{worst:.4f}; {len(ratios)} compared, {sum(r > 1 for r in ratios)} send more, {sum(r < 1 for r in ratios)} less")
    sys.exit(1 if not ratios or a.need and worst > a.need else 0)


def compare(binaries, name, text, kinds=False, values=False):
    """The ratio, printed; None where it cannot be said."""
    if text is None:
        print(f"{name:36s}cannot be annotated otherwise")
        return None
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as source:
        source.write(text)
        source.flush()
        try:
            program = imported(binaries, source.name)
        except subprocess.CalledProcessError as e:
            print(f"{name:36s}import: {(e.stderr.strip().splitlines() or ['no error line'])[0][:200]}")
            return None
    pinned = in_child(lambda: shardy(program))
    if pinned is None:
        print(f"{name:36s}Shardy refuses it", flush=True)
        return None
    ours, error = compiled(f"{binaries}/tessera", text)
    theirs, error2 = (None, None) if error else compiled(f"{binaries}/tessera", pinned)
    if error or error2:
        print(f"{name:36s}{'ours: ' + error if error else 'pinned: ' + error2}", flush=True)
        return None
    o, t = total(ours), total(theirs)
    ratio = o / t if t else (1.0 if o == 0 else float("inf"))
    print(f"{name:36s}x{ratio:.4f}", flush=True)
    if kinds and o != t:
        left, right = by_kind(ours), by_kind(theirs)
        for key in sorted(set(left) | set(right), key=lambda k: right.get(k, 0) - left.get(k, 0)):
            if left.get(key, 0) != right.get(key, 0):
                print(f"    {key:40s}{left.get(key, 0):12d} beside {right.get(key, 0):12d}")
    if values:
        show_differing(differing(binaries, program))
    return ratio


if __name__ == "__main__":
    main()
