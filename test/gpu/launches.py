"""Launches of a step: a program for GPUs has no more kernels to run than the same program for CPUs, trips of loops counted.

  launches.py [FILE.mlir ..]            without files: the training step of examples/char_transformer, the attention of test/numerics/models and a linear recurrence
"""
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "numerics"), HERE]

from command_line import tessera


def programs(files):
    for path in files or [os.path.join(HERE, "..", "..", "examples", "char_transformer", "train_step.mlir")]:
        with open(path) as file:
            yield os.path.basename(path), file.read()
    if files:
        return
    import export
    from models import attention

    for case in attention.CASES:
        yield f"{case.name} on {case.meshes[-1]}", export.export(case.build, case.meshes[-1], case.manual)
    yield "recurrence", recurrence()


def recurrence():
    """The gradient of an associative scan."""
    import jax
    import jax.numpy as jnp

    combine = lambda p, q: (p[0] * q[0], q[0] * p[1] + q[1])
    loss = lambda a, x: jnp.sum(jax.lax.associative_scan(combine, (jax.nn.sigmoid(a), x), axis=1)[1] ** 2)
    return jax.jit(jax.grad(loss, (0, 1))).lower(*[jax.ShapeDtypeStruct((2, 64, 128), "float32")] * 2).as_text()


def launches(text, target, directory):
    """Dispatches of a step of the instructions that the memory phase leaves; a string: why there are none."""
    source, printed = os.path.join(directory, "p.mlir"), os.path.join(directory, "q.mlir")
    with open(source, "w") as file:
        file.write(text)
    done = tessera("compile", source, "-o", printed, f"--target={target}", "--stop-after=memory", "--quiet")
    if done.returncode:
        return done.stderr.strip()[:300]
    times, count = [1], 0
    with open(printed) as file:
        for line in map(str.strip, file):
            if line.startswith("}"):
                times.pop()
            if line.endswith("{"):
                loop = re.match(r"exec\.loop (\d+)", line)
                times.append(times[-1] * (int(loop[1]) if loop else 1))
            count += times[-1] * ("exec.dispatch" in line)
    return count


def main(files):
    wrong = 0
    with tempfile.TemporaryDirectory() as directory:
        for name, text in programs(files):
            cpu, gpu = (launches(text, target, directory) for target in ("cpu", "cuda:sm_90a"))
            ok = isinstance(cpu, int) and isinstance(gpu, int) and 0 < gpu <= cpu
            wrong += not ok
            print(f"{'ok  ' if ok else 'BAD '} {name}: {gpu} launches, {cpu} kernels on a CPU", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
