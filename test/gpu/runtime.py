"""What the runtime does with a GPU, on the stand-in for its driver (docs/rationale/gpu.md): how many calls of the driver a step takes, that
nothing goes by way of the host, what is said where kernels fail, memory runs out or a peer dies, and that results don't depend on how
late streams are.

  runtime.py [NAME..]
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "numerics"))

import numpy as np
from command_line import BIN

CASES = []


def case(function):
    CASES.append(function)
    return function


class Wrong(Exception):
    pass


def require(holds, message):
    if not holds:
        raise Wrong(message)


class Program:
    """A program in StableHLO, compiled for cuda (and, as oracle, for the cpu), in a directory of its own."""

    def __init__(self, directory, text, **shapes):
        self.directory = directory
        random = np.random.default_rng(7)
        self.inputs = {name: random.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}
        self.path("p.mlir", text)
        np.savez(self.path("in.npz"), **self.inputs)
        for target in (["--target=cuda"], ["--target=cpu", "--target-cpu=x86-64-v3", "--topology=a100"]):
            done = self.tessera(["compile", self.path("p.mlir"), "-o", self.path(f"{target[0][9:]}.tsr"), "--quiet", *target])
            require(done.returncode == 0, done.stderr)

    def path(self, name, text=None):
        path = os.path.join(self.directory, name)
        if text is not None:
            with open(path, "w") as file:
                file.write(text)
        return path

    def tessera(self, arguments, launcher=(), **environment):
        return subprocess.run([*launcher, os.path.join(BIN, "tessera"), *arguments], capture_output=True, text=True, timeout=120,
                              env=os.environ | {name: str(value) for name, value in environment.items()})

    def run(self, *arguments, target="cuda", launcher=(), **environment):
        """The ended process, the outputs."""
        outputs = self.path("out.npz")
        if os.path.exists(outputs):
            os.remove(outputs)
        inputs = [] if any(a.startswith("--inputs") for a in arguments) else [f"--inputs={self.path('in.npz')}"]
        done = self.tessera(["run", self.path(f"{target}.tsr"), *inputs, f"--outputs={outputs}", *arguments], launcher, **environment)
        if done.returncode:
            return done, None
        with np.load(outputs) as found:
            return done, [found[name] for name in found.files]

    def same_as_cpu(self, *arguments, **environment):
        done, found = self.run(*arguments, **environment)
        require(found is not None, done.stderr)
        plain = [a for a in arguments if not a.startswith("--comm")]
        _, expected = self.run(*plain, target="cpu")
        for a, b in zip(expected, found, strict=True):
            require(np.array_equal(a, b), f"other numbers than the cpu's: {np.count_nonzero(a != b)} of {a.size}")

    def error(self, *arguments, **environment):
        done, _ = self.run(*arguments, **environment)
        require(done.returncode == 1, f"ended with {done.returncode}: {done.stderr}")
        return done.stderr

    def calls(self, steps, *arguments, **environment):
        """Calls of the driver by function, of a run of so many steps."""
        report = self.path("calls")
        if os.path.exists(report):
            os.remove(report)
        done, _ = self.run(f"--repeat={steps}", *arguments, TESSERA_EMULATOR_CALLS=report, TESSERA_EMULATOR_POOL=1, **environment)
        require(done.returncode == 0, done.stderr)
        with open(report) as file:
            counts = json.loads(file.readline())
        counts.pop("cuEventQuery", None)  # as often as the streams are late
        return counts

    def kernels(self):
        """In the order of their names; the runtime's own among them."""
        report = self.path("counts")
        done, _ = self.run(TESSERA_EMULATOR_REPORT=report)
        require(done.returncode == 0, done.stderr)
        with open(report) as file:
            return [json.loads(line)["kernel"] for line in file]


def calls_of_a_step(program, *arguments):
    """As steps take in the long run, when the outputs' memory has come round."""
    few, many = program.calls(30, *arguments), program.calls(40, *arguments)
    names = {*few, *many}
    return {name: (many.get(name, 0) - few.get(name, 0)) / 10 for name in names if many.get(name, 0) != few.get(name, 0)}


# A step of kernels that no data decides, in a loop that is counted: sorts keep them apart.
CHAIN = """
func.func @main(%x: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %n = stablehlo.constant dense<0> : tensor<i32>
  %end = stablehlo.constant dense<5> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r:2 = stablehlo.while(%i = %n, %v = %x) : tensor<i32>, tensor<16x16xf32>
  cond {
    %c = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %p = stablehlo.dot_general %v, %v, contracting_dims = [1] x [0] : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    %t = stablehlo.tanh %p : tensor<16x16xf32>
    %q = stablehlo.dot_general %t, %v, contracting_dims = [0] x [0] : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    %u = stablehlo.tanh %q : tensor<16x16xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %u : tensor<i32>, tensor<16x16xf32>
  }
  return %r#1 : tensor<16x16xf32>
}
"""


@case
def a_straight_part_is_one_command(directory):
    program = Program(directory, CHAIN, in0=(16, 16))
    program.same_as_cpu("--repeat=6")
    first, step = program.calls(1), calls_of_a_step(program)
    require(first["cuLaunchKernel"] >= 10, f"only {first} for the first step")
    require(step.get("cuGraphLaunch") == 1 and not step.get("cuLaunchKernel"), f"a step takes {step}")
    print(f"  a step of {first['cuLaunchKernel']} launches: {sum(step.values()):.0f} calls, {json.dumps(step, sort_keys=True)}")


# Two layers of a multilayer perceptron with its gradient, the batch on 8 devices.
TRAINING = """
sdy.mesh @m = <["x"=8]>
func.func @main(%x: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>},
                %w: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}]>})
    -> (tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}]>}, tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {"x"}]>}) {
  %h = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %t = stablehlo.tanh %h : tensor<16x16xf32>
  %g = stablehlo.dot_general %t, %x, contracting_dims = [0] x [0] : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %s = stablehlo.add %g, %w : tensor<16x16xf32>
  %y = stablehlo.tanh %t : tensor<16x16xf32>
  return %s, %y : tensor<16x16xf32>, tensor<16x16xf32>
}
"""


def training(directory):
    return Program(directory, TRAINING, in0=(16, 16), in1=(16, 16))


@case
def collectives_stay_on_the_gpu(directory):
    program = training(directory)
    program.same_as_cpu("--repeat=5")
    step = calls_of_a_step(program)
    require(not step.get("cuMemcpy") and not step.get("cuMemcpyAsync"), f"something is copied: {step}")
    require(not step.get("cuStreamSynchronize") or step["cuStreamSynchronize"] <= step.get("cuMemAllocAsync", 0), f"somebody waits: {step}")
    print(f"  a step of 8 devices: {json.dumps(step, sort_keys=True)}")


@case
def late_streams_change_nothing(directory):
    program = training(directory)
    for seed in range(6):
        program.same_as_cpu("--repeat=3", TESSERA_EMULATOR_SEED=seed, TESSERA_EMULATOR_LAG=3000)


@case
def a_kernel_that_fails_is_named(directory):
    program = training(directory)
    name = next(name for name in program.kernels() if name != "tessera_move")
    message = program.error(TESSERA_EMULATOR_FAIL=name)
    require("CUDA_ERROR_LAUNCH_FAILED" in message and "CUDA_LAUNCH_BLOCKING=1" in message, message)
    require(re.search(r"error: device \d: (kernel '\w+': )?the GPU failed in this command, .* at \S*p.mlir:\d+:\d+", message), message)
    message = program.error(TESSERA_EMULATOR_FAIL=name, CUDA_LAUNCH_BLOCKING=1)
    require(re.search(rf"error: device \d: kernel '{name}': the GPU failed: CUDA_ERROR_LAUNCH_FAILED at \S*p.mlir:\d+:\d+", message), message)


@case
def a_kernel_that_is_refused_is_named(directory):
    program = training(directory)
    name = next(name for name in program.kernels() if name != "tessera_move")
    message = program.error(TESSERA_EMULATOR_REFUSE=name)
    require(re.search(rf"error: device \d: kernel '{name}': it cannot be launched: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES at \S*p.mlir:\d+:\d+", message), message)


@case
def a_collective_that_fails_is_an_error(directory):
    message = training(directory).error(TESSERA_EMULATOR_FAIL="tessera_move")
    require("CUDA_ERROR_LAUNCH_FAILED" in message, message)


@case
def what_is_live_is_named_where_memory_runs_out(directory):
    table = np.random.default_rng(3).standard_normal((256, 256)).astype(np.float32).tobytes().hex().upper()
    program = Program(directory, f"""
func.func @main(%x: tensor<256x256xf32>) -> (tensor<256x256xf32>, tensor<256x256xf32>) {{
  %c = stablehlo.constant dense<"0x{table}"> : tensor<256x256xf32>
  %a = stablehlo.add %x, %c : tensor<256x256xf32>
  %b = stablehlo.multiply %x, %c : tensor<256x256xf32>
  return %a, %b : tensor<256x256xf32>, tensor<256x256xf32>
}}
""", in0=(256, 256))
    program.same_as_cpu(TESSERA_EMULATOR_MEMORY=1100 << 10)
    # What is allocated at loading is not known before.
    message = program.error(TESSERA_EMULATOR_MEMORY=900 << 10)
    wanted = r"no memory for output 'out1' of 256 KiB on each device; live are .*the constants \(256 KiB\).*input 'in0' \(256 KiB\).*; \d+ KiB of 900 KiB are taken"
    require(re.search(wanted, message), message)


def processes(number):
    return ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", str(number)]


# The parts of a sum, of a size that two do not divide, on both devices.
SUMMED = """
sdy.mesh @m = <["x"=2]>
func.func @main(%x: tensor<8x5xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}, %w: tensor<5x3xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}]>})
    -> (tensor<3x5xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}]>}) {
  %h = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x5xf32>, tensor<5x3xf32>) -> tensor<8x3xf32>
  %t = stablehlo.tanh %h : tensor<8x3xf32>
  %g = stablehlo.dot_general %t, %x, contracting_dims = [0] x [0] : (tensor<8x3xf32>, tensor<8x5xf32>) -> tensor<3x5xf32>
  return %g : tensor<3x5xf32>
}
"""


@case
def a_sum_of_two_processes_by_nccl(directory):
    program = Program(directory, SUMMED, in0=(8, 5), in1=(5, 3))
    report = program.path("report.json")
    program.same_as_cpu("--repeat=3", "--comm=nccl", "--quiet", launcher=processes(2))
    done, _ = program.run(f"--report={report}", target="cpu")
    with open(program.path("report.json")) as file:
        require(json.load(file)["collectives"]["count"] == 1, "the program has another number of collectives")


@case
def two_processes_by_nccl(directory):
    program = Program(directory, TRAINING.replace('"x"=8', '"x"=2'), in0=(16, 16), in1=(16, 16))
    launcher = processes(2)
    for seed in range(3):
        program.same_as_cpu("--repeat=3", "--comm=nccl", "--quiet", launcher=launcher, TESSERA_EMULATOR_SEED=seed)
    message = program.error("--comm=nccl", "--repeat=3", launcher=launcher, TESSERA_NCCL_FAIL=2)
    require("NCCL: unhandled system error" in message and re.search(r"\((waiting for|found behind) \w+ at \S*p.mlir", message), message)
    # A rank that dies, and one that hangs: it is named, with what was waited for.
    message = program.run("--comm=nccl", "--repeat=3", launcher=launcher, TESSERA_NCCL_DIE="1:2")[0].stderr
    require(re.search(r"rank 1\b.*\((waiting for|found behind) \w+ at \S*p.mlir", message), message)


def main():
    if not shutil.which("mpirun"):
        for each in (two_processes_by_nccl, a_sum_of_two_processes_by_nccl):
            CASES.remove(each)
            print(f"not run: {each.__name__}, as there is no mpirun")
    names = sys.argv[1:]
    wrong = 0
    for each in CASES:
        if names and each.__name__ not in names:
            continue
        with tempfile.TemporaryDirectory() as directory:
            try:
                each(directory)
                print(f"ok   {each.__name__}", flush=True)
            except Wrong as problem:
                wrong += 1
                print(f"BAD  {each.__name__}: {problem}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
