"""Portable artifacts against StableHLO's own reader and writer, which come with JAX.

For each release: what the oracle writes is read by tessera-opt as the oracle reads it, and what
tessera-opt writes is read by the oracle as its own. The programs are the ones of the tests of the
dialects (every operation and type) and exports of JAX, with shardings and locations.

    python portable.py BUILD [--versions=0.9.0,1.13.0|all] [--each]

--each takes every program by itself, also those that a release lacks: slow, exact.
"""
import argparse, os, pathlib, subprocess, sys, tempfile

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")
import jax
import jax.numpy as jnp
import numpy as np
from jax._src.interpreters import mlir as jax_mlir
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

ROOT = pathlib.Path(__file__).resolve().parents[2]
RELEASES = [f"0.{n}.0" for n in range(9, 21)] + [f"1.{n}.0" for n in range(18)]
QUICK = ["0.9.0", "0.17.0", "1.0.0", "1.5.0", "1.8.0", "1.9.0", "1.13.0", "1.15.0", "1.17.0"]


def chunks():
    """(name, text) of every program in the dialects' tests that the oracle's parser accepts."""
    found = []
    for path in sorted((ROOT / "test/dialects").glob("*/*.mlir")):
        if path.parent.name not in ("stablehlo", "sdy", "chlo", "vhlo") or "invalid" in path.name:
            continue
        for n, text in enumerate(path.read_text().split("// -----")):
            try:
                with jax_mlir.make_ir_context():
                    module = ir.Module.parse(text)
                    found.append((f"{path.parent.name}/{path.stem}#{n}", generic(module)))
            except ir.MLIRError:
                pass  # operations that this JAX does not know, or that are to be refused
    return found


def exports():
    """(name, bytes) of JAX's own exports."""
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:8]).reshape(4, 2), ("data", "model"))
    P, S = jax.sharding.PartitionSpec, lambda *p: jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*p))
    f32 = lambda *shape: jax.ShapeDtypeStruct(shape, jnp.float32)

    def mlp(x, w1, w2):
        h = jax.nn.gelu(jax.lax.with_sharding_constraint(x @ w1, S("data", "model")))
        return jax.nn.softmax(h @ w2, axis=-1)

    def loop(x):
        return jax.lax.scan(lambda c, _: (jnp.tanh(c @ c) + jax.lax.top_k(c, 4)[0].sum(), c[0]), x, None, length=3)

    def manual(x):
        ring = [(i, (i + 1) % 4) for i in range(4)]
        body = lambda a: jax.lax.psum(jax.lax.ppermute(a, "data", ring), "model")
        return jax.shard_map(body, mesh=mesh, in_specs=P("data", "model"), out_specs=P("data"))(x)

    def numbers(x, i):
        sorted_, where = jax.lax.sort_key_val(x, i)
        cut = jax.lax.dynamic_slice(sorted_, (i[0, 0], i[0, 1]), (2, 2))
        return (cut.astype(jnp.bfloat16), x.at[where[0]].add(1.0), jnp.fft.rfft(x), jnp.linalg.cholesky(x @ x.T),
                jax.random.normal(jax.random.key(0), (3,)), jnp.where(x > 0, jax.lax.erf(x), x ** 2),
                jnp.array([True, False, True] * 5), jnp.ones(20, bool), jnp.complex64(1 + 2j) * x)

    yield "mlp", jax.export.export(jax.jit(mlp, in_shardings=(S("data"), S(None, "model"), S("model"))))(f32(16, 8), f32(8, 32), f32(32, 4))
    yield "loop", jax.export.export(jax.jit(loop))(f32(8, 8))
    yield "grad", jax.export.export(jax.jit(jax.grad(lambda x: loop(x)[0].sum())))(f32(8, 8))
    yield "manual", jax.export.export(jax.jit(manual, in_shardings=S("data", "model")))(f32(8, 8))
    yield "numbers", jax.export.export(jax.jit(numbers))(f32(4, 4), jax.ShapeDtypeStruct((4, 4), jnp.int32))
    a, = jax.export.symbolic_shape("a")
    yield "symbolic", jax.export.export(jax.jit(lambda x: jnp.sin(x).reshape(-1) @ x.reshape(-1)))(jax.ShapeDtypeStruct((a, 3), jnp.float32))


def generic(module):
    return module.operation.get_asm(print_generic_op_form=True)


def merged(texts):
    """One module of many, each a module of its own."""
    return "module {\n" + "\n".join(texts) + "\n}\n"


class Opt:
    def __init__(self, build, folder):
        self.binary, self.folder = str(pathlib.Path(build) / "bin/tessera-opt"), pathlib.Path(folder)

    def __call__(self, program, *flags, binary=False):
        source = self.folder / ("in.mlirbc" if isinstance(program, bytes) else "in.mlir")
        source.write_bytes(program) if isinstance(program, bytes) else source.write_text(program)
        run = subprocess.run([self.binary, str(source), *flags], capture_output=True, timeout=120)
        if run.returncode:
            raise RuntimeError(run.stderr.decode()[:2000] or f"exit code {run.returncode}")
        return run.stdout if binary else run.stdout.decode()

    def generic(self, program, *flags):
        return self(program, "-mlir-print-op-generic", *flags)


def mixes(release):
    """Whether operations of sdy may stand in an artifact."""
    return tuple(map(int, release.split(".")[:2])) >= (1, 11)


def oracle_write(text, release):
    with jax_mlir.make_ir_context():
        module = ir.Module.parse(text)
        return stablehlo.serialize_portable_artifact(module, release, mixes(release))


def oracle_read(artifact, locations=False):
    with jax_mlir.make_ir_context() as context:
        module = stablehlo.deserialize_portable_artifact(context, artifact)
        return module.operation.get_asm(print_generic_op_form=True, enable_debug_info=locations)


def first_difference(a, b):
    for x, y in zip(a.splitlines(), b.splitlines()):
        if x != y:
            return f"\n  expected {x.strip()[:700]}\n  got      {y.strip()[:700]}"
    return " in length"


class Check:
    def __init__(self, opt):
        self.opt, self.failures, self.done = opt, [], 0

    def expect(self, what, run):
        self.done += 1
        try:
            want, got = run()
            problem = None if want == got else "differs:" + first_difference(want, got)
        except Exception as error:
            problem = f"fails: {str(error)[:1500]}"
        if problem:
            self.failures.append(what)
            print(f"{what} {problem}", flush=True)
        return not problem

    def reads(self, name, artifact, *flags, locations=False):
        """tessera-opt reads an artifact as the oracle does."""
        return self.expect(f"{name}: reading", lambda: (
            self.opt.generic(oracle_read(artifact, locations), *flags), self.opt.generic(artifact, *flags)))

    def writes(self, name, text, release, artifact):
        """The oracle reads what tessera-opt writes as its own."""
        return self.expect(f"{name}: writing", lambda: (
            oracle_read(artifact), oracle_read(self.opt(text, f"--emit-portable={release}", binary=True))))

    def refuses(self, name, text, release):
        """tessera-opt refuses to write what the oracle refuses."""
        def run():
            try:
                self.opt(text, f"--emit-portable={release}", binary=True)
            except RuntimeError as error:
                return True, "error: " in str(error)
            return "refused", "written"
        return self.expect(f"{name}: refusing", run)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--versions", default=",".join(QUICK))
    parser.add_argument("--each", action="store_true")
    args = parser.parse_args()
    releases = RELEASES if args.versions == "all" else args.versions.split(",")
    with tempfile.TemporaryDirectory() as folder:
        check = Check(Opt(args.build, folder))
        programs = chunks()
        for release in releases:
            known, lacking = [], []
            for name, text in programs:
                if not mixes(release) and not name.startswith("stablehlo/"):
                    continue
                try:
                    known.append((name, text, oracle_write(text, release)))
                except ir.MLIRError:
                    lacking.append((name, text))
                except Exception:
                    lacking.append((name, text))
            print(f"{release}: {len(known)} programs, {len(lacking)} lack something", flush=True)
            if args.each:
                for name, text, artifact in known:
                    check.reads(f"{release} {name}", artifact)
                    check.writes(f"{release} {name}", text, release, artifact)
                for name, text in lacking:
                    check.refuses(f"{release} {name}", text, release)
                continue
            text = merged([text for _, text, _ in known])
            artifact = oracle_write(text, release)
            check.reads(f"{release} all", artifact)
            check.writes(f"{release} all", text, release, artifact)
        for name, exported in exports():
            artifact = exported.mlir_module_serialized
            check.reads(f"export {name}", artifact)
            check.reads(f"export {name} with locations", artifact, "-mlir-print-debuginfo", locations=True)
            for release in ("1.13.0", "1.15.0", "1.17.0"):
                try:
                    older = oracle_write(oracle_read(artifact), release)
                except Exception:
                    continue
                check.reads(f"export {name} {release}", older)
                check.writes(f"export {name} {release}", oracle_read(artifact), release, older)
    print(f"{check.done - len(check.failures)} of {check.done} right")
    return 1 if check.failures else 0


if __name__ == "__main__":
    sys.exit(main())
