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
import time

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

    def __init__(self, directory, text, target="cuda", environment={}, **shapes):
        self.directory, self.text = directory, text
        random = np.random.default_rng(7)
        self.inputs = {name: random.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}
        self.path("p.mlir", text)
        np.savez(self.path("in.npz"), **self.inputs)
        for name, target in (("cuda", [f"--target={target}"]), ("cpu", ["--target=cpu", "--target-cpu=x86-64-v3", "--topology=a100"])):
            done = self.tessera(["compile", self.path("p.mlir"), "-o", self.path(f"{name}.tsr"), "--quiet", *target], **environment)
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
def a_step_of_all_devices_is_one_command(directory):
    program = training(directory)
    first, step = program.calls(1), calls_of_a_step(program)
    require(step.get("cuGraphLaunch") == 1, f"a step takes {step}")
    # How soon the outputs' memory comes round is not the same in each run: what the first steps take differs.
    others = {name for name, calls in step.items() if abs(calls) >= 1} - {"cuGraphLaunch", "cuEventRecord", "cuMemAllocAsync", "cuMemFreeAsync", "cuStreamSynchronize"}
    require(not others and step["cuEventRecord"] < 1.5, f"a step takes {step}")
    print(f"  8 devices, {first['cuLaunchKernel']} launches: {sum(step.values()):.0f} calls, {json.dumps(step, sort_keys=True)}")


# A loop that data ends, with a sum over all devices in each trip; what follows needs what came before it, too.
DECIDED = """
sdy.mesh @m = <["x"=8]>
func.func @main(%x: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>})
    -> (tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}, tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}]>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %most = stablehlo.constant dense<1.0> : tensor<f32>
  %half = stablehlo.constant dense<0.5> : tensor<16x16xf32>
  %g = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %r = stablehlo.while(%v = %x) : tensor<16x16xf32>
  cond {
    %s = stablehlo.multiply %v, %v : tensor<16x16xf32>
    %a = stablehlo.reduce(%s init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<16x16xf32>, tensor<f32>) -> tensor<f32>
    %c = stablehlo.compare GT, %a, %most : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %t = stablehlo.tanh %v : tensor<16x16xf32>
    %h = stablehlo.multiply %t, %half : tensor<16x16xf32>
    stablehlo.return %h : tensor<16x16xf32>
  }
  %p = stablehlo.dot_general %r, %g, contracting_dims = [1] x [0] : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %q = stablehlo.dot_general %p, %p, contracting_dims = [0] x [0] : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  return %p, %q : tensor<16x16xf32>, tensor<16x16xf32>
}
"""


@case
def a_decision_of_the_host_ends_a_graph(directory):
    program = Program(directory, DECIDED, in0=(16, 16))
    for seed in range(4):
        program.same_as_cpu("--repeat=4", TESSERA_EMULATOR_SEED=seed, TESSERA_EMULATOR_LAG=1000, TESSERA_EMULATOR_POOL=seed % 2)


@case
def a_loop_that_data_never_ends_is_cut_off(directory):
    """Its trips are launches, and the host decides on each: a time limit is looked at there, as on the cpu."""
    program = Program(directory, DECIDED.replace("dense<1.0> : tensor<f32>", "dense<-1.0> : tensor<f32>"), in0=(16, 16))
    loop = next(number for number, line in enumerate(program.text.splitlines(), 1) if "stablehlo.while" in line)
    for target in ("cpu", "cuda"):
        done, _ = program.run("--time-limit=1", target=target)
        require(re.search(rf"error: a step took longer than the time limit of 1 s: device \d was in the loop at \S*p.mlir:{loop}:", done.stderr), done.stderr)


@case
def who_decides_longest_ends_as_well(directory):
    """Where each command is carried out before the next, devices come to their ends at different times."""
    program = Program(directory, DECIDED, in0=(16, 16))
    for seed in range(6):
        program.same_as_cpu("--repeat=2", f"--trace={program.path('trace.json')}", TESSERA_EMULATOR_SEED=seed)


# 1,500 trips of several commands, with a sum over the devices in each. Where the result lies is not the same in each step.
def many_trips(directory):
    return Program(directory, """
sdy.mesh @m = <["x"=2]>
func.func @main(%x: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) -> (tensor<4xi8> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}) {
  %n = stablehlo.constant dense<0> : tensor<i32>
  %end = stablehlo.constant dense<1500> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %r:2 = stablehlo.while(%i = %n, %v = %x) : tensor<i32>, tensor<4x8xf32>
  cond {
    %c = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %s = stablehlo.reduce(%v init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32>
    %b = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<8xf32>) -> tensor<4x8xf32>
    %t = stablehlo.subtract %v, %b : tensor<4x8xf32>
    %u = stablehlo.tanh %t : tensor<4x8xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %u : tensor<i32>, tensor<4x8xf32>
  }
  %e = stablehlo.reduce(%r#1 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %hundred = stablehlo.constant dense<100.0> : tensor<4xf32>
  %m = stablehlo.multiply %e, %hundred : tensor<4xf32>
  %k = stablehlo.convert %m : (tensor<4xf32>) -> tensor<4xi8>
  return %k : tensor<4xi8>
}
""", in0=(4, 8))


@case
def long_steps_are_given_in_parts(directory):
    """More commands than are gathered. Behind the parts that come again in the second step is one that doesn't."""
    program = many_trips(directory)
    program.same_as_cpu("--repeat=3", TESSERA_EMULATOR_LAG=1)
    calls = program.calls(1, TESSERA_EMULATOR_LAG=0)
    require(calls["cuLaunchKernel"] > 2 * 4096, f"a step takes {calls}")


@case
def graphs_that_are_refused_change_nothing(directory):
    for text, shapes in ((TRAINING, {"in0": (16, 16), "in1": (16, 16)}), (DECIDED, {"in0": (16, 16)})):
        program = Program(directory, text, **shapes)
        program.same_as_cpu("--repeat=4", TESSERA_EMULATOR_NO_GRAPHS=1, TESSERA_EMULATOR_POOL=1)


@case
def graphs_know_addresses(directory):
    """Inputs that come from the step before lie elsewhere in each step, in turns."""
    program = training(directory)
    carry = "--carry=out0:in1"
    for pool in (0, 1):
        program.same_as_cpu("--repeat=9", carry, TESSERA_EMULATOR_POOL=pool)


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


# Of a command that the GPU stands at, and of those after it.
HANGS = r"it does not end(, or one of the \d+ commands after it does not \(CUDA_LAUNCH_BLOCKING=1 names the one\))?: the GPU has stood there for "


@case
def a_kernel_that_never_ends_is_named(directory):
    """By a limit of its own, and by that of a step: the process ends, with all that the GPU still uses left alone."""
    program = training(directory)
    name = next(name for name in program.kernels() if name != "tessera_move")
    endless = {"TESSERA_EMULATOR_ENDLESS": name, "TESSERA_PROGRESS_TIMEOUT": 1}
    named = rf"device \d: kernel '{name}': it does not end: the GPU has stood there for [12].?\d* s"
    place = r"at \S*p.mlir:\d+:\d+"
    traced = f"--trace={program.path('trace.json')}"
    for arguments, settings in (([], {}), ([traced], {}), ([], {"CUDA_LAUNCH_BLOCKING": 1}), ([], {"TESSERA_WORKERS": 1})):
        message = program.error("--repeat=2", *arguments, **endless, **settings)
        require(re.search(rf"error: {named} \(TESSERA_PROGRESS_TIMEOUT\) {place}", message), message)
        message = program.error("--repeat=2", "--time-limit=0.5", *arguments, **endless, **settings)
        require(re.search(rf"error: a step took longer than the time limit of 0.5 s: the GPU hangs, and this process uses it no more: {named} {place}", message), message)
    # Behind others of its step, each of which is marked.
    for each in program.kernels():
        message = program.error("--repeat=2", **{**endless, "TESSERA_EMULATOR_ENDLESS": each}, TESSERA_EMULATOR_ENDLESS_FROM=0 if each == "tessera_move" else 5)
        require(each == "tessera_move" or re.search(rf"error: {named.replace(name, each)} ", message), message)
    message = program.error(**{**endless, "TESSERA_EMULATOR_ENDLESS": "tessera_move"})
    require(re.search(rf"error: (all_reduce|all_gather|all_to_all|reduce_scatter) {place}: {HANGS}", message), message)
    # Not within a graph.
    message = program.error("--repeat=9", **endless, TESSERA_EMULATOR_ENDLESS_FROM=45, TESSERA_EMULATOR_POOL=1)
    require(re.search(rf"error: device \d: kernel '\w+': it does not end, or one of the \d+ commands after it does not \(CUDA_.*\): the GPU has stood .* {place}", message), message)
    # Beside what is a library's.
    program = Program(directory, BESIDE_ARRAYS, target="cuda:sm_80+cublaslt", in0=(96, 80), in1=(80, 112), in2=(256, 256))
    message = program.error(**{**endless, "TESSERA_EMULATOR_ENDLESS": "sort"})
    require(re.search(rf"error: device 0: kernel '\w*sort\w*': {HANGS}.* {place}", message), message)


@case
def a_gpu_that_hangs_while_commands_are_given(directory):
    """The driver lets who gives it more than some 1,000 commands wait for them."""
    program = many_trips(directory)
    for each in program.kernels():
        message = program.error(TESSERA_EMULATOR_ENDLESS=each, TESSERA_PROGRESS_TIMEOUT=1)
        require(re.search(r"error: .* at \S*p.mlir:\d+:\d+.*it does not end: the GPU has stood" if each == "tessera_move" else rf"error: device \d: kernel '{each}': it does not end: the GPU has stood", message), message)
    message = program.error("--time-limit=1", TESSERA_EMULATOR_ENDLESS="tessera_move", TESSERA_PROGRESS_TIMEOUT=2)
    require(re.search(r"time limit of 1 s: the GPU hangs, and this process uses it no more: .*it does not end", message), message)


@case
def a_step_that_takes_long_is_waited_for(directory):
    """Longer in all than the GPU may stand at one command; and who gives a step up waits for the GPU all the same."""
    program = Program(directory, DECIDED, in0=(16, 16))
    begin = time.monotonic()
    program.same_as_cpu("--repeat=3", TESSERA_PROGRESS_TIMEOUT=1, TESSERA_EMULATOR_LAG=60000)
    require(time.monotonic() - begin > 4.5, "steps are shorter than what is allowed")
    program = training(directory)
    message = program.error("--time-limit=0.05", TESSERA_EMULATOR_LAG=200000)
    require("a step took longer than the time limit of 0.05 s" in message and "hangs" not in message, message)


def embedded(directory, *arguments, **settings):
    """What a host of the C interface says, in a process of its own."""
    done = subprocess.run([sys.executable, os.path.join(HERE, "embedded.py"), directory, *arguments], capture_output=True, text=True, timeout=120,
                          env=os.environ | {name: str(value) for name, value in settings.items()})
    require(done.returncode == 0, done.stderr)
    return done.stdout.split("\n")[:-1]


@case
def a_gpu_that_hangs_is_not_used_again(directory):
    program = training(directory)
    name = next(name for name in program.kernels() if name != "tessera_move")
    ended = embedded(directory, "session", "4", "local", TESSERA_EMULATOR_ENDLESS=name, TESSERA_EMULATOR_ENDLESS_FROM=8, TESSERA_PROGRESS_TIMEOUT=1)
    require(len(ended) == 5 and ended[0] == "ok" and HANGS.split("(")[0] in ended[1], f"{ended}")
    require(all(text.startswith("the GPU hangs, and this process uses it no more: device") for text in ended[2:]), f"{ended}")


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


# What the library has epilogues for, and what it has not: sizes that divide nothing, each of 1 MFLOP at least.
PRODUCTS = """
func.func @main(%x: tensor<96x80xf32>, %w: tensor<80x112xf32>, %v: tensor<112x80xf32>, %bias: tensor<112xf32>, %r: tensor<96x112xf32>,
                %q: tensor<3x60x80xf32>, %p: tensor<3x80x90xf32>, %x16: tensor<96x80xbf16>, %w16: tensor<80x112xbf16>, %v16: tensor<112x80xbf16>)
    -> (tensor<96x112xf32>, tensor<96x112xf32>, tensor<80x112xf32>, tensor<3x60x90xf32>, tensor<96x112xbf16>, tensor<96x112xf32>, tensor<96x80xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<96x112xf32>
  %b = stablehlo.broadcast_in_dim %bias, dims = [1] : (tensor<112xf32>) -> tensor<96x112xf32>
  %plain = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<96x80xf32>, tensor<80x112xf32>) -> tensor<96x112xf32>
  %with_bias = stablehlo.add %plain, %b : tensor<96x112xf32>
  %relu = stablehlo.maximum %with_bias, %zero : tensor<96x112xf32>
  %turned = stablehlo.dot_general %x, %v, contracting_dims = [1] x [1] : (tensor<96x80xf32>, tensor<112x80xf32>) -> tensor<96x112xf32>
  %residual = stablehlo.add %r, %turned : tensor<96x112xf32>
  %gradient = stablehlo.dot_general %x, %r, contracting_dims = [0] x [0] : (tensor<96x80xf32>, tensor<96x112xf32>) -> tensor<80x112xf32>
  %batch = stablehlo.dot_general %q, %p, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<3x60x80xf32>, tensor<3x80x90xf32>) -> tensor<3x60x90xf32>
  %narrow = stablehlo.dot_general %x16, %w16, contracting_dims = [1] x [0] : (tensor<96x80xbf16>, tensor<80x112xbf16>) -> tensor<96x112xbf16>
  %wide = stablehlo.dot_general %x16, %v16, contracting_dims = [1] x [1] : (tensor<96x80xbf16>, tensor<112x80xbf16>) -> tensor<96x112xf32>
  %square = stablehlo.dot_general %r, %v, contracting_dims = [1] x [0] : (tensor<96x112xf32>, tensor<112x80xf32>) -> tensor<96x80xf32>
  %tanh = stablehlo.tanh %square : tensor<96x80xf32>
  return %relu, %residual, %gradient, %batch, %narrow, %wide, %tanh
      : tensor<96x112xf32>, tensor<96x112xf32>, tensor<80x112xf32>, tensor<3x60x90xf32>, tensor<96x112xbf16>, tensor<96x112xf32>, tensor<96x80xf32>
}
"""
SHAPES = {"in0": (96, 80), "in1": (80, 112), "in2": (112, 80), "in3": (112,), "in4": (96, 112), "in5": (3, 60, 80), "in6": (3, 80, 90),
          "in7": (96, 80), "in8": (80, 112), "in9": (112, 80)}


def report_of(program, *arguments, **environment):
    path = program.path("report.json")
    done, found = program.run(f"--report={path}", *arguments, **environment)
    require(done.returncode == 0, done.stderr)
    with open(path) as file:
        return json.load(file), found, done.stderr


def bf16(array):
    bits = np.ascontiguousarray(array, np.float32).view(np.uint32)
    return (bits + 0x7fff + (bits >> 16 & 1) & 0xffff0000).view(np.float32).astype(np.float64)


@case
def products_by_cublaslt(directory):
    program = Program(directory, PRODUCTS, target="cuda:sm_80+cublaslt", **SHAPES)
    report, found, _ = report_of(program, "--repeat=3")
    require(report["code"] == "sm_80 (PTX), 6 of 6 products by cuBLASLt 13.1.0", report["code"])
    x, w, v, bias, r, q, p, *halves = (value.astype(np.float64) for value in program.inputs.values())
    x16, w16, v16 = map(bf16, halves)
    exact = [np.maximum(x @ w + bias, 0), r + x @ v.T, x.T @ r, q @ p, x16 @ w16, x16 @ v16.T, np.tanh(r @ v)]
    for i, (true, out) in enumerate(zip(exact, found, strict=True)):
        bound = (2 ** -8 if i == 4 else 2 ** -16 if i == 6 else 2 ** -23) * np.abs(true).max()
        require(np.abs(out - true).max() <= bound, f"out{i} is {np.abs(out - true).max()} from f64")
    require(program.calls(1)["cublasLtMatmul"] == 6, "products are not the library's")
    for seed in range(4):
        _, again = program.run(TESSERA_EMULATOR_SEED=seed, TESSERA_EMULATOR_LAG=3000)
        require(again and all(np.array_equal(a, b) for a, b in zip(found, again)), "other numbers when streams are late")
    require(re.search(r"dot_general_\d \(cuBLASLt 13.1.0\)", program.run("--profile")[0].stdout), "the profile does not say whose products they are")


# What sorts leave is needed at one time, and is larger than what the product takes at another.
BESIDE_ARRAYS = """func.func @main(%x: tensor<96x80xf32>, %w: tensor<80x112xf32>, %y: tensor<256x256xf32>) -> (tensor<96x112xf32>, tensor<256xf32>) {
  %rows = "stablehlo.sort"(%y) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %less = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  }) : (tensor<256x256xf32>) -> tensor<256x256xf32>
  %columns = "stablehlo.sort"(%rows) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %less = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  }) : (tensor<256x256xf32>) -> tensor<256x256xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sums = stablehlo.reduce(%columns init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<256x256xf32>, tensor<f32>) -> tensor<256xf32>
  %product = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<96x80xf32>, tensor<80x112xf32>) -> tensor<96x112xf32>
  return %product, %sums : tensor<96x112xf32>, tensor<256xf32>
}
"""


@case
def workspace_of_cublaslt_lies_in_the_arena(directory):
    program = Program(directory, BESIDE_ARRAYS, target="cuda:sm_80+cublaslt", in0=(96, 80), in1=(80, 112), in2=(256, 256))
    report, found, _ = report_of(program, "--repeat=2")
    require(report["code"] == "sm_80 (PTX), 1 of 1 products by cuBLASLt 13.1.0", report["code"])
    x, w, y = (value.astype(np.float64) for value in program.inputs.values())
    for true, out in zip((x @ w, np.sort(np.sort(y, axis=1), axis=0).sum(axis=1)), found, strict=True):
        require(np.abs(out - true).max() <= 2 ** -21 * np.abs(true).max(), "the workspace lies over an array")


@case
def products_by_cublaslt_are_in_graphs(directory):
    text = CHAIN.replace("16x16", "96x96").replace("tanh %p", "maximum %p, %zero").replace("tanh %q", "maximum %q, %zero")
    text = text.replace("  %n =", "  %zero = stablehlo.constant dense<0.0> : tensor<96x96xf32>\n  %n =")
    program = Program(directory, text, target="cuda:sm_80+cublaslt", in0=(96, 96))
    first, step = program.calls(1), calls_of_a_step(program)
    require(first["cublasLtMatmul"] == 10, f"only {first} for the first step")
    require(step.get("cuGraphLaunch") == 1 and not step.get("cublasLtMatmul"), f"a step takes {step}")


def driver_alone(directory):
    """A folder of libraries that has the driver's stand-in alone. Where CUDA is installed, its own libraries are found, for which there is no GPU."""
    folder = os.path.join(directory, "libraries")
    os.makedirs(folder)
    driver = next(path for each in os.environ["LD_LIBRARY_PATH"].split(":") if os.path.exists(path := os.path.join(each, "libcuda.so.1")))
    os.symlink(os.path.abspath(driver), os.path.join(folder, "libcuda.so.1"))
    return folder


@case
def own_kernels_where_cublaslt_is_not(directory):
    program = Program(directory, PRODUCTS, target="cuda:sm_80", **SHAPES)
    report, own, said = report_of(program)
    require(report["code"] == "sm_80 (PTX)" and "cuBLASLt" not in said, report["code"])
    program = Program(directory, PRODUCTS, target="cuda:sm_80+cublaslt", **SHAPES)
    folder = driver_alone(directory)
    for settings, reason in (({"TESSERA_CUBLASLT": "off"}, None), ({"LD_LIBRARY_PATH": folder}, "there is no libcublasLt.so.13 or .12|cannot be used here"),
                             ({"TESSERA_CUBLASLT_LACKS": 1}, "has no way to compute 6 of 6 products")):
        report, found, said = report_of(program, **settings)
        require("0 of 6 products" in report["code"], report["code"])
        require(all(re.search(reason or "", text) for text in (said, report.get("code_note", ""))), said)
        require(all(np.array_equal(a, b) for a, b in zip(own, found, strict=True)), f"{settings}: other numbers than by own kernels")
        if reason:
            require(re.search(reason, program.error(TESSERA_CUBLASLT="require", **settings)), "what is required is not there, and it ran")
    require("must be off or require" in program.error(TESSERA_CUBLASLT="yes"), "any word is taken")
    message = program.error(TESSERA_CUBLASLT_STATUS=13)
    require(re.search(r"error: (device \d: )?kernel 'dot_general_\d': it cannot be launched: cuBLASLt status 13 at \S*p.mlir:\d+:\d+", message), message)


def stand_in_for_ptxas(directory):
    """Settings by which the compiler finds it."""
    tools = os.path.join(directory, "tools")
    os.makedirs(tools)
    os.symlink(os.path.join(HERE, "emulator", "ptxas.py"), os.path.join(tools, "ptxas"))
    return {"PATH": f"{tools}:{os.environ['PATH']}"}


@case
def machine_code_is_taken_first(directory):
    path = stand_in_for_ptxas(directory)
    program = Program(directory, CHAIN, target="cuda:sm_80+cubin", environment=path, in0=(16, 16))
    with open(program.path("cuda.tsr"), "rb") as file:
        first = file.read()
    Program(directory, CHAIN, target="cuda:sm_80+cubin", environment=path, in0=(16, 16))
    with open(program.path("cuda.tsr"), "rb") as file:
        require(file.read() == first, "another program from the same input")
    require(report_of(program)[0]["code"] == "sm_80 (machine code)", "PTX is compiled, though there is machine code")
    program.same_as_cpu("--repeat=3")
    # Of the same generation only; else the PTX.
    require(report_of(program, TESSERA_EMULATOR_SM=86)[0]["code"] == "sm_80 (machine code)", "sm_86 runs code for sm_80")
    require(report_of(program, TESSERA_EMULATOR_SM=90)[0]["code"] == "sm_80 (PTX)", "sm_90 does not run machine code for sm_80")
    altered = program.path("altered.tsr")
    done = program.tessera(["compile", program.path("p.mlir"), "-o", altered, "--target=cuda:sm_80+cubim"])
    require("'cubim' is none of cubin, cublaslt" in done.stderr, done.stderr)
    if shutil.which("ptxas"):  # whose code the stand-in has none of
        program = Program(directory, CHAIN, target="cuda:sm_80+cubin", in0=(16, 16))
        report, _, said = report_of(program)
        require(report["code"] == "sm_80 (PTX)" and "CUDA_ERROR_NO_BINARY_FOR_GPU: it compiled the PTX instead" in said, said)


# Rows of one length, which come in different shapes: their kernels are equal but for names, and for whose rows they are.
TWINS = """
func.func @main(%x: tensor<4x6x96xf32>, %y: tensor<24x96xf32>) -> (tensor<4x6x96xf32>, tensor<24x96xf32>) {
  %p = "stablehlo.sort"(%x) <{dimension = 2 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<4x6x96xf32>) -> tensor<4x6x96xf32>
  %q = "stablehlo.sort"(%y) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<24x96xf32>) -> tensor<24x96xf32>
  return %p, %q : tensor<4x6x96xf32>, tensor<24x96xf32>
}
"""


@case
def equal_kernels_have_one_code(directory):
    """In PTX and in the machine code that is made of it."""
    program = Program(directory, TWINS, target="cuda:sm_80+cubin", environment=stand_in_for_ptxas(directory), in0=(4, 6, 96), in1=(24, 96))
    with open(program.path("cuda.tsr"), "rb") as file:
        content = file.read()
    aliases = re.findall(rb"^// \.alias (\w+), (\w+);$", content, re.MULTILINE)
    require(len(aliases) == 2 and len(set(aliases)) == 1, f"aliases in PTX, and in what the stand-in makes of it: {aliases}")
    (other, own), entries = aliases[0], re.findall(rb"^\.visible \.entry (\w+)\(", content, re.MULTILINE)
    require(entries == [own, own], f"{entries}: {other} has code of its own")
    for architecture in (80, 90):
        program.same_as_cpu(TESSERA_EMULATOR_SM=architecture)


# By warpgroups on sm_90a, by warps on sm_80: other blocks, other memory, and parameters that the operands' addresses are encoded in.
WIDE = """
func.func @main(%x: tensor<57x97x72xbf16>, %w: tensor<57x101x72xbf16>, %v: tensor<57x101x72xbf16>) -> (tensor<57x97x101xf32>, tensor<57x97x101xf32>) {
  %p = stablehlo.dot_general %x, %w, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<57x97x72xbf16>, tensor<57x101x72xbf16>) -> tensor<57x97x101xf32>
  %q = stablehlo.dot_general %x, %v, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<57x97x72xbf16>, tensor<57x101x72xbf16>) -> tensor<57x97x101xf32>
  return %p, %q : tensor<57x97x101xf32>, tensor<57x97x101xf32>
}
"""


@case
def launches_are_those_of_their_code(directory):
    program = Program(directory, WIDE, target="cuda:sm_80,sm_90a+cubin", environment=stand_in_for_ptxas(directory),
                      in0=(57, 97, 72), in1=(57, 101, 72), in2=(57, 101, 72))
    x, w, v = map(bf16, program.inputs.values())
    exact = [x @ w.swapaxes(1, 2), x @ v.swapaxes(1, 2)]
    for architecture, code, maps in ((80, "sm_80 (PTX)", 0), (90, "sm_90a (machine code)", 4)):
        on = {"TESSERA_EMULATOR_SM": architecture}
        report, found, _ = report_of(program, **on)
        require(report["code"] == code, report["code"])
        for true, out in zip(exact, found, strict=True):
            require(np.abs(out - true).max() <= 2 ** -22 * np.abs(true).max(), f"{code} is {np.abs(out - true).max()} from f64")
        calls = program.calls(6, **on)
        # In graphs they are not encoded again.
        require(calls["cuGraphLaunch"] > 0 and calls.get("cuTensorMapEncodeTiled", 0) == maps * (6 - calls["cuGraphLaunch"] + calls["cuGraphInstantiate"]),
                f"{code}: {calls} for six steps")


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
    # An error of one rank, when its messages are given or while they are waited for, ends all.
    for rank in (0, 1):
        message = program.error("--comm=nccl", "--repeat=3", launcher=launcher, TESSERA_NCCL_ERROR=f"{rank}:2")
        require("a message between processes failed: NCCL: unhandled system error" in message, message)
        message = program.error("--comm=nccl", "--repeat=3", launcher=launcher, TESSERA_NCCL_REFUSE=f"{rank}:2")
        require(re.search(r"\w+ at \S*p.mlir:\d+:\d+: messages cannot be given: NCCL: unhandled system error", message), message)
    program.same_as_cpu("--repeat=3", "--comm=nccl", "--quiet", launcher=launcher, TESSERA_NCCL_LAG=3000)
    # A rank that dies: it is named, with what was waited for.
    message = program.run("--comm=nccl", "--repeat=3", launcher=launcher, TESSERA_NCCL_DIE="1:2")[0].stderr
    require(re.search(r"rank 1\b.*\((waiting for|found behind) \w+ at \S*p.mlir", message), message)


OF_PROCESSES = ("two_processes_by_nccl", "a_sum_of_two_processes_by_nccl")


def main(cases, of_processes):
    """Those that are named on the command line, or all; without mpirun but for those that need it."""
    names = sys.argv[1:]
    wrong = 0
    for each in cases:
        if names and each.__name__ not in names:
            continue
        if each.__name__ in of_processes and not shutil.which("mpirun"):
            print(f"not run: {each.__name__}, as there is no mpirun")
            continue
        with tempfile.TemporaryDirectory() as directory:
            try:
                each(directory)
                print(f"ok   {each.__name__}", flush=True)
            except Wrong as problem:
                wrong += 1
                print(f"BAD  {each.__name__}: {problem}", flush=True)
                if "TESSERA_MUTANT" in os.environ:  # which is found
                    break
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(CASES, OF_PROCESSES))
