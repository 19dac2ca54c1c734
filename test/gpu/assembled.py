"""The kernels of whole programs as CUDA's ptxas assembles them, for sm_80 and sm_90a: none spills, calls what is not there, or has more
registers or shared memory than a launch of it can have. Where there is no ptxas nothing is looked at, and it says so.

  assembled.py [FILE.mlir ..]           without files: the programs of test/numerics/models, on their first and last mesh, and the example's
"""
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "numerics"), HERE]

import ptxas
from command_line import tessera

ARCHITECTURES = "sm_80,sm_90a"


def programs(files):
    """Names, and texts."""
    if files:
        for path in files:
            with open(path) as file:
                yield os.path.basename(path), file.read()
        return
    import export
    import models

    with open(os.path.join(HERE, "..", "..", "examples", "char_transformer", "train_step.mlir")) as file:
        yield "char_transformer", file.read()
    for case in models.cases():
        for sizes in {str(m): m for m in (case.meshes[0], case.meshes[-1])}.values():
            yield f"{case.name} on {sizes}", export.export(case.build, sizes, case.manual)


def main(files):
    if not ptxas.PTXAS:
        print(f"nothing is assembled: there is no ptxas on the path, nor in {ptxas.CUDA}")
        return 0
    wrong, refused, seen = 0, 0, []
    with tempfile.TemporaryDirectory() as directory:
        for name, text in programs(files):
            source, program = os.path.join(directory, "p.mlir"), os.path.join(directory, "p.tsr")
            with open(source, "w") as file:
                file.write(text)
            done = tessera("compile", source, "-o", program, f"--target=cuda:{ARCHITECTURES}", "--quiet")
            if done.returncode:
                refused += "has no code for --target=cuda yet" in done.stderr
                if "for --target=cuda yet" not in done.stderr:
                    wrong += 1
                    print(f"BAD  {name}: {done.stderr.strip()[:300]}", flush=True)
                continue
            for architecture, code, threads in ptxas.texts_of(program):
                kernels = ptxas.assemble(code, architecture, threads, directory)
                problems = [kernels] if isinstance(kernels, str) else list(filter(None, map(ptxas.wrong_of, kernels)))
                seen += [] if isinstance(kernels, str) else kernels
                wrong += len(problems)
                for problem in problems:
                    print(f"BAD  {name}: {problem}", flush=True)
    if not seen:
        return 1
    most = lambda what: max(seen, key=lambda kernel: getattr(kernel, what))
    print(f"{len(seen)} kernels, {wrong} wrong; {refused} programs have no code for GPUs yet")
    for what in ("registers", "shared", "stack"):
        print(f"  most {what}: {getattr(most(what), what)}, {most(what).name} for {most(what).architecture}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
