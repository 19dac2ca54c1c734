"""Devices that have a GPU each, several of them in a process, by the stand-ins for the driver and for NCCL (docs/rationale/gpu.md): the same
bits as on the cpu in one process and in several, which GPUs are taken, and what is said where one of them fails, has no memory, or is gone.

  several.py [NAME..]
"""
import ctypes.util
import json
import os
import re
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import numpy as np
import runtime
from runtime import DECIDED, TRAINING, Program, driver_alone, embedded, processes, require

CASES = []


def case(function):
    CASES.append(function)
    return function


def training(directory, devices):
    return Program(directory, TRAINING.replace('"x"=8', f'"x"={devices}'), in0=(16, 16), in1=(16, 16))


# Sums over the rows and over the columns of a mesh, and over both, blocks that are gathered, turned and exchanged: of no even sizes.
GRID = """
sdy.mesh @m = <["x"=2, "y"=2]>
func.func @main(%x: tensor<10x14xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y"}]>},
                %w: tensor<14x7xf32> {sdy.sharding = #sdy.sharding<@m, [{"y"}, {}]>})
    -> (tensor<7x7xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}]>}, tensor<14x10xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y"}]>},
        tensor<10x7xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {"x"}]>}, tensor<10x14xf32> {sdy.sharding = #sdy.sharding<@m, [{"y", "x"}, {}]>}) {
  %h = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<10x14xf32>, tensor<14x7xf32>) -> tensor<10x7xf32>
  %t = stablehlo.tanh %h : tensor<10x7xf32>
  %g = stablehlo.dot_general %t, %t, contracting_dims = [0] x [0] : (tensor<10x7xf32>, tensor<10x7xf32>) -> tensor<7x7xf32>
  %turned = stablehlo.transpose %x, dims = [1, 0] : (tensor<10x14xf32>) -> tensor<14x10xf32>
  %last = stablehlo.slice %x [9:10, 0:14] : (tensor<10x14xf32>) -> tensor<1x14xf32>
  %first = stablehlo.slice %x [0:9, 0:14] : (tensor<10x14xf32>) -> tensor<9x14xf32>
  %moved = stablehlo.concatenate %last, %first, dim = 0 : (tensor<1x14xf32>, tensor<9x14xf32>) -> tensor<10x14xf32>
  %s = stablehlo.add %moved, %x : tensor<10x14xf32>
  return %g, %turned, %t, %s : tensor<7x7xf32>, tensor<14x10xf32>, tensor<10x7xf32>, tensor<10x14xf32>
}
"""


def grid(directory):
    return Program(directory, GRID, in0=(10, 14), in1=(14, 7))


def own_gpus(number, **settings):
    return {"TESSERA_EMULATOR_GPUS": number, **settings}


@case
def devices_have_a_gpu_each(directory):
    for devices in (2, 4):
        program = training(directory, devices)
        for seed in range(3):
            program.same_as_cpu("--repeat=4", **own_gpus(devices, TESSERA_EMULATOR_SEED=seed, TESSERA_EMULATOR_LAG=2000, TESSERA_EMULATOR_POOL=seed % 2))
        program.same_as_cpu("--repeat=3", "--comm=nccl", **own_gpus(devices, TESSERA_NCCL_LAG=2000))
        program.same_as_cpu("--repeat=3", **own_gpus(devices, TESSERA_WORKERS=1))


@case
def any_groups_of_devices(directory):
    program = grid(directory)
    for seed in range(3):
        program.same_as_cpu("--repeat=4", **own_gpus(4, TESSERA_EMULATOR_SEED=seed, TESSERA_EMULATOR_LAG=1000, TESSERA_EMULATOR_POOL=1))


@case
def data_decides_on_each_device(directory):
    program = Program(directory, DECIDED.replace('"x"=8', '"x"=4'), in0=(16, 16))
    for seed in range(3):
        program.same_as_cpu("--repeat=3", **own_gpus(4, TESSERA_EMULATOR_SEED=seed, TESSERA_EMULATOR_LAG=1000))


@case
def state_and_batches(directory):
    program = training(directory, 2)
    program.same_as_cpu("--repeat=5", "--carry=out0:in1", **own_gpus(2, TESSERA_EMULATOR_POOL=1))
    batches = program.path("batches.npz")
    np.savez(batches, in0=np.random.default_rng(3).standard_normal((3, 16, 16)).astype(np.float32))
    program.same_as_cpu(f"--batches={batches}", "--carry=out0:in1", "--repeat=7", **own_gpus(2))
    saved = program.path("saved.npz")
    shutil.copyfile(program.path("in.npz"), program.path("first.npz"))
    done = program.tessera(["run", program.path("cuda.tsr"), f"--inputs={program.path('first.npz')}", f"--outputs={saved}", "--carry=out0:in1", "--repeat=2"],
                           **{name: str(value) for name, value in own_gpus(2).items()})
    require(done.returncode == 0, done.stderr)
    whole = program.run("--carry=out0:in1", "--repeat=5", **own_gpus(2))[1]
    resumed = program.run("--carry=out0:in1", "--repeat=3", f"--resume={saved}", **own_gpus(2))[1]
    require(all(np.array_equal(a, b) for a, b in zip(whole, resumed, strict=True)), "a run that was resumed has other numbers")


def uses_nccl(program, *arguments, **environment):
    return program.calls(1, *arguments, **environment).get("cuLaunchHostFunc", 0) > 0


@case
def as_many_gpus_as_are_seen(directory):
    """A GPU each where there are enough, or all on one; --comm says otherwise."""
    program = training(directory, 2)
    for seen, settings in ((True, own_gpus(2)), (True, own_gpus(4, CUDA_VISIBLE_DEVICES="3,1")), (False, own_gpus(1)),
                           (False, own_gpus(4, CUDA_VISIBLE_DEVICES="2")), (False, own_gpus(2, CUDA_VISIBLE_DEVICES="1,7,0"))):
        require(uses_nccl(program, **settings) == seen, f"{settings}: {'one GPU' if seen else 'a GPU each'}")
        program.same_as_cpu(**settings)
    require(not uses_nccl(program, "--comm=local", **own_gpus(2)), "--comm=local takes two GPUs")
    message = program.error("--comm=nccl", **own_gpus(2, CUDA_VISIBLE_DEVICES="0"))
    require("a GPU for each of 2 devices of this process is wanted, and the driver shows 1: see CUDA_VISIBLE_DEVICES" in message, message)
    done, _ = program.run("--comm=nccl", target="cpu", **own_gpus(2))
    require("communicator 'nccl' is for GPUs, and the program is not: use --comm=local" in done.stderr, done.stderr)
    message = program.error(**own_gpus(2, CUDA_VISIBLE_DEVICES=""))
    require("the driver shows none: see CUDA_VISIBLE_DEVICES" in message, message)


@case
def one_gpu_where_nccl_is_not(directory):
    program = training(directory, 2)
    folder = driver_alone(directory)
    done, found = program.run(**own_gpus(2, LD_LIBRARY_PATH=folder))
    require(found is not None or ctypes.util.find_library("nccl"), done.stderr)
    if "share one GPU" not in done.stderr:
        require(ctypes.util.find_library("nccl"), f"nothing is said: {done.stderr}")
        return  # NVIDIA's own was found, which knows nothing of these GPUs
    require(re.search(r"note: the 2 devices share one GPU: communicator 'nccl': .*install NCCL", done.stderr), done.stderr)
    require("install NCCL" in program.error("--comm=nccl", **own_gpus(2, LD_LIBRARY_PATH=folder)), "it ran without NCCL")


@case
def a_kernel_that_fails_on_one_gpu(directory):
    program = training(directory, 2)
    name = next(name for name in program.kernels() if name != "tessera_move")
    for gpu in (0, 1):
        on = own_gpus(2, TESSERA_EMULATOR_ON=gpu)
        message = program.error("--repeat=3", TESSERA_EMULATOR_FAIL=name, **on)
        require(re.search(rf"error: device {gpu}: .*CUDA_ERROR_LAUNCH_FAILED at \S*p.mlir:\d+:\d+", message), message)
        message = program.error("--repeat=3", TESSERA_EMULATOR_FAIL=name, CUDA_LAUNCH_BLOCKING=1, **on)
        require(re.search(rf"error: device {gpu}: kernel '{name}': the GPU failed: CUDA_ERROR_LAUNCH_FAILED", message), message)
        message = program.error("--repeat=3", TESSERA_EMULATOR_REFUSE=name, **on)
        require(re.search(rf"error: device {gpu}: kernel '{name}': it cannot be launched: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", message), message)
        message = program.error("--repeat=3", TESSERA_EMULATOR_FAIL="tessera_move", **on)
        require("CUDA_ERROR_LAUNCH_FAILED" in message, message)


@case
def messages_that_fail(directory):
    program = training(directory, 2)
    for rank in (0, 1):
        message = program.error("--repeat=3", **own_gpus(2, TESSERA_NCCL_ERROR=f"{rank}:2"))
        require(re.search(r"a message between devices failed: NCCL: unhandled system error \((waiting for|found behind) \w+ at \S*p.mlir", message), message)
        message = program.error("--repeat=3", **own_gpus(2, TESSERA_NCCL_REFUSE=f"{rank}:2"))
        require(re.search(r"\w+ at \S*p.mlir:\d+:\d+: messages cannot be given: NCCL: unhandled system error", message), message)


@case
def memory_that_runs_out_on_the_second_gpu(directory):
    table = np.random.default_rng(3).standard_normal((256, 256)).astype(np.float32).tobytes().hex().upper()
    program = Program(directory, f"""
sdy.mesh @m = <["x"=2]>
func.func @main(%x: tensor<256x256xf32> {{sdy.sharding = #sdy.sharding<@m, [{{"x"}}, {{}}]>}})
    -> (tensor<256x256xf32> {{sdy.sharding = #sdy.sharding<@m, [{{}}, {{}}]>}}, tensor<256x256xf32> {{sdy.sharding = #sdy.sharding<@m, [{{}}, {{}}]>}}) {{
  %c = stablehlo.constant dense<"0x{table}"> : tensor<256x256xf32>
  %a = stablehlo.add %x, %c : tensor<256x256xf32>
  %b = stablehlo.multiply %x, %c : tensor<256x256xf32>
  return %a, %b : tensor<256x256xf32>, tensor<256x256xf32>
}}
""", in0=(256, 256))
    enough = 8 << 20
    program.same_as_cpu(**own_gpus(2, TESSERA_EMULATOR_MEMORY=f"{enough},{enough}"))
    places = set()
    for kib in range(64, 4096, 192):
        done, found = program.run(**own_gpus(2, TESSERA_EMULATOR_MEMORY=f"{enough},{kib << 10}"))
        if found is not None:
            break
        require("GPU 1" in done.stderr or "on GPU 1" in done.stderr, f"with {kib} KiB: {done.stderr}")
        places.add(re.sub(r"[\d.]+ \w+|'\w+'", "", done.stderr.split("error: ")[1])[:24])
    require(len(places) >= 3, f"memory ran out in {places} only")


def traced(program, *arguments, **environment):
    path = program.path("trace.json")
    done, _ = program.run(f"--trace={path}", "--repeat=2", *arguments, **environment)
    require(done.returncode == 0, done.stderr)
    with open(path) as file:
        return json.load(file)


def rows(events):
    """Of each device its process, and how many events it has."""
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    found = {}
    for e in events:
        name = names.get((e["pid"], e.get("tid")), "")
        if e["ph"] == "X" and name.startswith("device"):
            found.setdefault((e["pid"], name), 0)
            found[e["pid"], name] += 1
    return found


@case
def traces_have_all_devices(directory):
    program = training(directory, 4)
    found = rows(traced(program, **own_gpus(4)))
    require(sorted(found) == [(1, f"device {d}") for d in range(4)] and len(set(found.values())) == 1, f"{found}")
    program.same_as_cpu("--repeat=2", f"--trace={program.path('t.json')}", "--profile", **own_gpus(4))


@case
def figures_are_counted(directory):
    program = grid(directory)
    report = program.path("report.json")
    counted = []
    for target, settings in (("cpu", {}), ("cuda", own_gpus(1)), ("cuda", own_gpus(4))):
        done, _ = program.run(f"--report={report}", target=target, **settings)
        require(done.returncode == 0, done.stderr)
        with open(report) as file:
            text = json.load(file)
        counted.append((text["devices"], text["collectives"], text["peak_bytes"] if target == "cuda" else None))
    require(counted[0][:2] == counted[1][:2] == counted[2][:2] and counted[1] == counted[2], f"{counted}")


# Rows of the mesh go on for other numbers of trips, with sums among their columns: processes that have other columns give them in another order.
APART = """
sdy.mesh @m = <["x"=2, "y"=2]>
func.func @main(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@m, [{"AXIS"}, {"OTHER"}]>})
    -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@m, [{"AXIS"}, {"OTHER"}]>}) {
  %r = sdy.manual_computation(%x) in_shardings=[<@m, [{"AXIS"}, {"OTHER"}]>] out_shardings=[<@m, [{"AXIS"}, {"OTHER"}]>] manual_axes={"AXIS"} (%a: tensor<4x16xf32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %most = stablehlo.constant dense<1.0> : tensor<f32>
    %half = stablehlo.constant dense<0.75> : tensor<4x16xf32>
    %w = stablehlo.while(%v = %a) : tensor<4x16xf32>
    cond {
      %s = stablehlo.multiply %v, %v : tensor<4x16xf32>
      %n = stablehlo.reduce(%s init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x16xf32>, tensor<f32>) -> tensor<f32>
      %c = stablehlo.compare GT, %n, %most : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %t = stablehlo.tanh %v : tensor<4x16xf32>
      %h = stablehlo.multiply %t, %half : tensor<4x16xf32>
      stablehlo.return %h : tensor<4x16xf32>
    }
    sdy.return %w : tensor<4x16xf32>
  } : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %r : tensor<8x16xf32>
}
"""


def apart(directory, axis):
    program = Program(directory, APART.replace("AXIS", axis).replace("OTHER", "xy".replace(axis, "")), in0=(8, 16))
    program.inputs["in0"][4:] *= 1000  # which takes more trips
    np.savez(program.path("in.npz"), **program.inputs)
    return program


@case
def rows_that_go_different_ways(directory):
    for axis in "xy":
        apart(directory, axis).same_as_cpu("--repeat=2", **own_gpus(4, TESSERA_EMULATOR_LAG=1000))


@case
def steps_after_one_that_failed(directory):
    """Connections of one process are made anew. Each fails at its fourth group of messages."""
    program = training(directory, 2)
    _, expected = program.run(target="cpu")
    ended = embedded(directory, "session", "6", **own_gpus(2, TESSERA_NCCL_ERROR="1:4"))
    another = ended.pop()
    failed = [text for text in ended if text != "ok"]
    require(another == "another session" and len(ended) == 6 and 0 < len(failed) < 6 and ended[0] == "ok", f"{ended}")
    require(any(a != "ok" and b == "ok" for a, b in zip(ended, ended[1:])), f"no step runs after one that failed: {ended}")
    require(all("a message between devices failed" in text for text in failed), f"{failed}")
    with np.load(program.path("last.npz")) as found:
        require(all(np.array_equal(a, found[f"out{i}"]) for i, a in enumerate(expected)), "other numbers after a step that failed")


# Takes its input over.
DONATED = """
sdy.mesh @m = <["x"=2]>
func.func @main(%x: tensor<6x5xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>, tf.aliasing_output = 0 : i32})
    -> (tensor<6x5xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<6x5xf32>, tensor<f32>) -> tensor<5xf32>
  %b = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<5xf32>) -> tensor<6x5xf32>
  %y = stablehlo.add %x, %b : tensor<6x5xf32>
  return %y : tensor<6x5xf32>
}
"""


@case
def buffers_of_clients(directory):
    """A client with a GPU each: a step takes buffers over, or works on copies of those that somebody else holds."""
    program = Program(directory, DONATED, in0=(6, 5))
    _, (expected,) = program.run(target="cpu")
    said = embedded(directory, "client", **own_gpus(3))
    require(said[-1] == "there is no device 3: the client has 3 GPUs", said)
    with np.load(program.path("tiles.npz")) as found:
        for name, right in (("kept", program.inputs["in0"]), ("first", expected), ("second", expected)):
            require(np.array_equal(found[name], right), f"{name}: other numbers")


def of_two_processes(*arguments, **settings):
    return ("--comm=nccl", "--quiet", *arguments), {"launcher": processes(2), **own_gpus(2, **settings)}


@case
def two_processes_of_two_gpus(directory):
    for program in (training(directory, 4), grid(directory), Program(directory, DECIDED.replace('"x"=8', '"x"=4'), in0=(16, 16)),
                    apart(directory, "x"), apart(directory, "y")):
        for seed in range(2):
            arguments, settings = of_two_processes("--repeat=3", TESSERA_EMULATOR_SEED=seed, TESSERA_EMULATOR_LAG=1000, TESSERA_WORKERS=1 + seed)
            program.same_as_cpu(*arguments, **settings)
    arguments, settings = of_two_processes("--repeat=3", TESSERA_NCCL_LAG=3000)
    program.same_as_cpu(*arguments, **settings)
    program = training(directory, 4)
    arguments, settings = of_two_processes("--carry=out0:in1", "--repeat=4")
    program.same_as_cpu(*arguments, **settings)
    arguments, settings = of_two_processes()
    found = rows(traced(program, *arguments, **settings))
    require(sorted(found) == [(1 + d // 2, f"device {d}") for d in range(4)] and len(set(found.values())) == 1, f"{found}")
    message = program.error("--comm=nccl", launcher=processes(3), **own_gpus(2))
    require("the program is for 4 devices, there are 3 processes" in message, message)


# Before they first meet, some devices go on for long.
LATE = """
sdy.mesh @m = <["x"=2, "y"=2]>
func.func @main(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y"}]>})
    -> (tensor<16xf32> {sdy.sharding = #sdy.sharding<@m, [{"y"}]>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %r = sdy.manual_computation(%x) in_shardings=[<@m, [{"x"}, {"y"}]>] out_shardings=[<@m, [{"x"}, {"y"}]>] manual_axes={"x", "y"} (%a: tensor<4x8xf32>) {
    %none = stablehlo.constant dense<0.0> : tensor<f32>
    %most = stablehlo.constant dense<1.0> : tensor<f32>
    %less = stablehlo.constant dense<0.75> : tensor<4x8xf32>
    %w = stablehlo.while(%v = %a) : tensor<4x8xf32>
    cond {
      %s = stablehlo.multiply %v, %v : tensor<4x8xf32>
      %n = stablehlo.reduce(%s init: %none) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<f32>
      %c = stablehlo.compare GT, %n, %most : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %h = stablehlo.multiply %v, %less : tensor<4x8xf32>
      stablehlo.return %h : tensor<4x8xf32>
    }
    sdy.return %w : tensor<4x8xf32>
  } : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %g = stablehlo.reduce(%r init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x16xf32>, tensor<f32>) -> tensor<16xf32>
  return %g : tensor<16xf32>
}
"""


@case
def processes_that_first_wait_for_others_of_each_other(directory):
    """One worker each: the first process would connect ranks 0 and 2 before 1 and 3, the second the other way."""
    program = Program(directory, LATE, in0=(8, 16))
    x = program.inputs["in0"]
    x *= 1e-3
    x[:4, 8:] *= 1e9
    x[4:, :8] *= 1e9
    np.savez(program.path("in.npz"), **program.inputs)
    arguments, settings = of_two_processes("--repeat=2", TESSERA_WORKERS=1, TESSERA_COMM_TIMEOUT=8)
    program.same_as_cpu(*arguments, **settings)


@case
def a_peer_of_two_gpus_that_is_gone(directory):
    program = training(directory, 4)
    for rank in (0, 3):
        arguments, settings = of_two_processes("--repeat=3", TESSERA_NCCL_DIE=f"{rank}:3")
        message = program.run(*arguments, **settings)[0].stderr
        require(re.search(rf"rank {rank // 2}\b.*\((waiting for|found behind) \w+ at \S*p.mlir", message), message)
        message = program.run(*arguments, f"--trace={program.path('trace.json')}", **settings)[0].stderr
        require(re.search(rf"rank {rank // 2}\b", message), message)
        arguments, settings = of_two_processes("--repeat=3", TESSERA_NCCL_ERROR=f"{rank}:3")
        message = program.error(*arguments, **settings)
        require("a message between processes failed: NCCL: unhandled system error" in message, message)


@case
def a_gpu_that_hangs_beside_others(directory):
    """It is the one that is named, not those that wait for its messages, whose streams go on without: and the process ends."""
    program = training(directory, 4)
    name = next(name for name in program.kernels() if name != "tessera_move")
    for gpu in (0, 3):
        settings = own_gpus(4, TESSERA_EMULATOR_ENDLESS=name, TESSERA_EMULATOR_ON=gpu, TESSERA_PROGRESS_TIMEOUT=1)
        named = rf"device {gpu}: kernel '{name}': {runtime.HANGS}"
        for arguments in ((), (f"--trace={program.path('trace.json')}",)):
            message = program.error("--repeat=3", *arguments, **settings)
            require(re.search(rf"error: {named}.* at \S*p.mlir:\d+:\d+", message), message)
        message = program.error("--repeat=3", "--time-limit=0.5", **settings)
        require(re.search(rf"time limit of 0.5 s: the GPU hangs, and this process uses it no more on GPU {gpu}: {named}", message), message)


# 48 sums over the devices, with products in between.
STRETCHES = """
sdy.mesh @m = <["x"=2]>
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) {
  %n = stablehlo.constant dense<0> : tensor<i32>
  %end = stablehlo.constant dense<48> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r:2 = stablehlo.while(%i = %n, %v = %x) : tensor<i32>, tensor<8x8xf32>
  cond {
    %c = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %g = stablehlo.dot_general %v, %v, contracting_dims = [0] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %t = stablehlo.tanh %g : tensor<8x8xf32>
    %p = stablehlo.dot_general %v, %t, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %u = stablehlo.tanh %p : tensor<8x8xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %u : tensor<i32>, tensor<8x8xf32>
  }
  return %r#1 : tensor<8x8xf32>
}
"""


@case
def a_step_of_several_graphs_takes_long(directory):
    """Longer in all than the GPU may stand at one command."""
    program = Program(directory, STRETCHES, in0=(8, 8))
    begin = time.monotonic()
    program.same_as_cpu("--repeat=3", **own_gpus(2, TESSERA_PROGRESS_TIMEOUT=2, TESSERA_EMULATOR_LAG=60000))
    require(time.monotonic() - begin > 7, "steps are shorter than what is allowed")


@case
def time_without_work_does_not_count(directory):
    program = training(directory, 2)
    ended = embedded(directory, "session", "2", "nccl", "3", **own_gpus(2, TESSERA_PROGRESS_TIMEOUT=2, TESSERA_EMULATOR_LAG=100000))
    require(ended == ["ok", "ok"], f"{ended}")


@case
def what_hangs_within_a_collective(directory):
    """It is no message of others, and said to be behind the last kernel that was marked."""
    program = training(directory, 2)
    settings = own_gpus(2, TESSERA_EMULATOR_ENDLESS="tessera_move", TESSERA_PROGRESS_TIMEOUT=1)
    message = program.error(**settings)
    require(re.search(r"error: device \d: .*: the GPU has stood there for .* at \S*p.mlir:\d+:\d+", message), message)
    message = program.error("--time-limit=0.5", **settings)
    require(re.search(r"time limit of 0.5 s: the GPU hangs, .*: device \d: .*: the GPU has stood there for .* at \S*p.mlir:\d+:\d+", message), message)


@case
def a_process_whose_gpu_hangs(directory):
    """It says so itself, where its limit comes first."""
    program = training(directory, 4)
    name = next(name for name in program.kernels() if name != "tessera_move")
    for gpus, launcher in ((1, processes(4)), (2, processes(2))):
        done, _ = program.run("--comm=nccl", "--quiet", "--repeat=3", launcher=[*launcher, "env", "TESSERA_PROGRESS_TIMEOUT=1"],
                              **own_gpus(gpus, TESSERA_EMULATOR_ENDLESS=name, TESSERA_EMULATOR_OF=1, TESSERA_EMULATOR_ON=0))
        require(re.search(rf"error: .*kernel '{name}': {runtime.HANGS}.* at \S*p.mlir:\d+:\d+", done.stderr), done.stderr)


def each_its_own(launcher, others):
    """The processes of the launcher, the second of which has no limit for its own GPU."""
    command = 'if [ "$OMPI_COMM_WORLD_RANK" = 1 ]; then export TESSERA_PROGRESS_TIMEOUT=0; else export TESSERA_PROGRESS_TIMEOUT=%s; fi; exec "$0" "$@"'
    return [*launcher, "sh", "-c", command % others]


@case
def a_kernel_that_never_ends(directory):
    """The hearts of all processes beat. Those that wait for the one name it, and what they wait for."""
    program = training(directory, 4)
    name = next(name for name in program.kernels() if name != "tessera_move")
    for gpus, launcher in ((1, processes(4)), (2, processes(2))):
        done, _ = program.run("--comm=nccl", "--quiet", "--repeat=3", launcher=each_its_own(launcher, 2),
                              **own_gpus(gpus, TESSERA_EMULATOR_ENDLESS=name, TESSERA_EMULATOR_OF=1, TESSERA_EMULATOR_ON=0))
        require(re.search(r"error: rank 1: its heart beats, but it has come to no collective for 2 s \(to \d+ before, this rank to \d+\): "
                          r"it is stuck in a kernel .*\(waiting for \w+ at \S*p.mlir:\d+:\d+\)", done.stderr), done.stderr)


@case
def all_wait_in_vain(directory):
    """One hangs within NCCL, so that all seem to wait."""
    program = training(directory, 4)
    for gpus, launcher in ((1, processes(4)), (2, processes(2))):
        done, _ = program.run("--comm=nccl", "--quiet", "--repeat=3", launcher=launcher, **own_gpus(gpus, TESSERA_NCCL_SILENT="1:3", TESSERA_COMM_TIMEOUT=3))
        require(re.search(r"the ranks wait for each other in vain since 3 s: .*\(waiting for \w+ at \S*p.mlir:\d+:\d+\)", done.stderr), done.stderr)


OF_PROCESSES = ("two_processes_of_two_gpus", "processes_that_first_wait_for_others_of_each_other", "a_peer_of_two_gpus_that_is_gone", "a_kernel_that_never_ends", "a_process_whose_gpu_hangs", "all_wait_in_vain")

if __name__ == "__main__":
    sys.exit(runtime.main(CASES, OF_PROCESSES))
