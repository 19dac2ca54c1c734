"""Wire bytes with our shardings beside those with Shardy's: both are partitioned by Tessera.

  beside_shardy.py DIR.. [NAME..]   every annotated program DIR/NAME.mlir: compiled as it is, and compiled with the shardings that Shardy's
                                    published pass pipeline (in jaxlib) gives to the values of the imported program pinned on them. Prints the
                                    ratio of what a device sends.
Options: --bin DIR (tessera's directory; build/bin), --need R (no ratio above; exit code 1 otherwise), --values (also say which values differ).
A program that Shardy's pipeline or the comparison refuses is named and left out.
"""
import argparse, glob, json, os, pickle, re, signal, subprocess, sys, tempfile, time


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
    return subprocess.run([f"{binaries}/tessera-opt", file, "--tessera-import", "--mlir-print-debuginfo"],
                          capture_output=True, text=True, check=True).stdout


def shardy(text):
    """The program with every sharding that Shardy finds, dimensions closed."""
    from jaxlib.mlir import ir, passmanager
    with context() as c:
        c.allow_unregistered_dialects = True
        module = ir.Module.parse(text)
        passmanager.PassManager.parse("builtin.module(sdy-propagation-pipeline)").run(module.operation)
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


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("what", nargs="+")
    p.add_argument("--bin", default="build/bin")
    p.add_argument("--need", type=float)
    p.add_argument("--values", action="store_true")
    a = p.parse_args()
    names = {w for w in a.what if not os.path.isdir(w)}
    files = [f for d in a.what if os.path.isdir(d) for f in sorted(glob.glob(f"{d}/*.mlir"))]
    worst = 0
    for file in files:
        name, text = os.path.basename(file)[:-5], open(file).read()
        if names and name not in names or "sdy.mesh" not in text:
            continue
        pinned = in_child(lambda: shardy(imported(a.bin, file)))
        if pinned is None:
            print(f"{name:36s}Shardy refuses it", flush=True)
            continue
        ours, error = compiled(f"{a.bin}/tessera", text)
        theirs, error2 = (None, None) if error else compiled(f"{a.bin}/tessera", pinned)
        if error or error2:
            print(f"{name:36s}{'ours: ' + error if error else 'pinned: ' + error2}", flush=True)
            continue
        o, t = total(ours), total(theirs)
        ratio = o / t if t else (1.0 if o == 0 else float("inf"))
        worst = max(worst, ratio)
        print(f"{name:36s}x{ratio:.4f}", flush=True)
        if a.values and o != t:
            left, right = by_kind(ours), by_kind(theirs)
            for key in sorted(set(left) | set(right), key=lambda k: right.get(k, 0) - left.get(k, 0)):
                if left.get(key, 0) != right.get(key, 0):
                    print(f"    {key:40s}{left.get(key, 0):12d} beside {right.get(key, 0):12d}")
    print(f"worst x{worst:.4f}")
    sys.exit(1 if a.need and worst > a.need else 0)


if __name__ == "__main__":
    main()
