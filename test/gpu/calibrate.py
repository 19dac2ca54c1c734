"""`tessera calibrate --target=cuda`, on the stand-in for NVIDIA's driver ($LD_LIBRARY_PATH names it): what it writes is a topology with
rates, of which figures mean nothing here, that a program is compiled by; and without a GPU it says so and writes nothing.
"""
import json
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "..", "numerics"))
from command_line import tessera

PROGRAM = """func.func @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %y = stablehlo.add %x, %x : tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}
"""


def wrong_of(directory):
    path = lambda name: os.path.join(directory, name)
    done = tessera("calibrate", "--target=cuda", "--quick", "-o", path("gpu.json"))
    if done.returncode or "5 programs on a GPU" not in done.stderr:
        return f"calibrate: {done.stderr.strip()}"
    with open(path("gpu.json")) as file:
        topology = json.load(file)
    rates = [topology["flops"], topology["flops_by_type"]["bf16"], topology["flops_by_type"]["f16"], topology["memory"]]
    if topology["name"] != "calibrated" or min(rates) <= 1 or topology["launch"] < 0 or topology["step"] < 0:
        return f"{topology} is no GPU"
    if topology["processors"] != 108 or topology["spaces"]["device"]["bytes"] != 8e10:
        return "what is not measured is not the A100's, which sm_80 is the architecture of"
    with open(path("program.mlir"), "w") as file:
        file.write(PROGRAM)
    done = tessera("compile", path("program.mlir"), "-o", path("program.tsr"), "--target=cuda", f"--topology={path('gpu.json')}", "--quiet")
    if done.returncode:
        return f"compile: {done.stderr.strip()}"
    done = tessera("calibrate", "--target=cuda", "--comm=mpi", "-o", path("none.json"))
    if done.returncode != 1 or "goes with neither --comm=mpi nor --report" not in done.stderr:
        return f"with --comm=mpi: {done.stderr.strip()}"
    del os.environ["LD_LIBRARY_PATH"]
    done = tessera("calibrate", "--target=cuda", "--quick", "-o", path("none.json"))
    if done.returncode != 1 or "error: calibration program 'a small kernel': " not in done.stderr or os.path.exists(path("none.json")):
        return f"without a GPU: {done.stderr.strip()}"
    return None


def main():
    with tempfile.TemporaryDirectory() as directory:
        wrong = wrong_of(directory)
    print(wrong or "a GPU is calibrated")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
