"""The command line of `tessera`, as all numeric tests run it.

$TESSERA_BIN: where the binaries are; build/bin when absent. $TESSERA_TARGET_CPU: the processor that programs are compiled for (x86-64-v3,
x86-64-v4, ..) where a test says nothing else; `native` when absent. A machine that cannot run such code ends the test with exit code 77.
With $TESSERA_TARGET=shadow programs run on the runtime's device of that name, each with delays of its own: seeds count up from
$TESSERA_SHADOW_SEED. With $TESSERA_COMPILE_FOR=cuda they are compiled for that target; $LD_LIBRARY_PATH then names the stand-in for its driver
(docs/rationale/gpu.md).
"""
import itertools
import os
import subprocess
import sys
import tempfile

BIN = os.environ.get("TESSERA_BIN", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "build", "bin"))
TARGET_CPU = os.environ.get("TESSERA_TARGET_CPU", "native")
TARGET = os.environ.get("TESSERA_COMPILE_FOR")
FOR = f"--target={TARGET}" if TARGET else f"--target-cpu={TARGET_CPU}"
NOT_YET = f"for --target={TARGET} yet"  # what the compiler says of what that target has no code for (docs/limits.md)
SKIPPED = 77
SEEDS = itertools.count(int(os.environ.get("TESSERA_SHADOW_SEED", 1)))


def tessera(*arguments, timeout=300):
    """The ended process, with its output as text."""
    if arguments[0] == "compile":
        arguments = ("compile", FOR, *arguments[1:])
    environment = os.environ | {"TESSERA_SHADOW_SEED": str(next(SEEDS))}
    return subprocess.run([os.path.join(BIN, "tessera"), *arguments], capture_output=True, text=True, timeout=timeout, env=environment)


def skip_elsewhere():
    """Ends the process where the machine lacks what the target has."""
    with tempfile.TemporaryDirectory() as directory:
        source, program = os.path.join(directory, "p.mlir"), os.path.join(directory, "p.tsr")
        with open(source, "w") as file:
            file.write("func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n  return %a : tensor<4xf32>\n}\n")
        for command in (["compile", source, "-o", program], ["run", program]):
            done = tessera(*command)
            if done.returncode:
                print(done.stderr.strip())
                sys.exit(SKIPPED if "this one lacks" in done.stderr else 1)


if TARGET_CPU != "native":
    skip_elsewhere()
