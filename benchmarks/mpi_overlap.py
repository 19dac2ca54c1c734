"""An all-reduce beside independent computation, two processes over MPI: how much longer both take than the longer of them alone.

  mpi_overlap.py [--build=FOLDER] [--megabytes=8] [--milliseconds=20] [--steps=20] [--rounds=9] [--hidden=SHARE]

Three programs for two devices: the all-reduce; a loop of products beside an all-reduce of 64 bytes, which keeps the ranks in step; and
both, the all-reduce started before the loop and waited for behind it. They run in turns, and times are medians of steps. The loop alone is
measured before and behind both, and its mean counts: a pace that drifts from run to run is in both sides of the ratio then. What a round
cannot cancel, the median over the rounds does. Where processes share cores, moving and adding take time from the loop, and the ratio is
above 1 by that, however well they overlap. What is hidden is told by the wait: of the rank that comes to it last, in a step, which
waits for nobody's loop. --hidden: less than this share of the wait of the all-reduce alone is an error.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
WIDTH, SMALL = 48, 16  # products in the nearest cache: what the all-reduce takes is time, not room
REDUCE = """  %sum = "stablehlo.all_reduce"(%g) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
      replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<ELEMENTSxf32>) -> tensor<ELEMENTSxf32>
"""
LOOP = """  %i0 = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %trips = stablehlo.constant dense<TRIPS> : tensor<i32>
  %i, %r = stablehlo.while(%iterArg = %i0, %iterArg_0 = %a) : tensor<i32>, tensor<WxWxf32>
    cond {
    %c = stablehlo.compare LT, %iterArg, %trips : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %p = stablehlo.dot_general %iterArg_0, %iterArg_0, contracting_dims = [1] x [0] : (tensor<WxWxf32>, tensor<WxWxf32>) -> tensor<WxWxf32>
    %t = stablehlo.tanh %p : tensor<WxWxf32>
    %n = stablehlo.add %iterArg, %one : tensor<i32>
    stablehlo.return %n, %t : tensor<i32>, tensor<WxWxf32>
  }
"""


def module(elements, trips):
    text = "module attributes {mhlo.num_partitions = 2 : i32} {\n"
    text += "func.func @main(%g: tensor<ELEMENTSxf32>, %a: tensor<WxWxf32>) -> (tensor<ELEMENTSxf32>, tensor<WxWxf32>) {\n"
    text += REDUCE + (LOOP if trips else "") + f"  return %sum, {'%r' if trips else '%a'} : tensor<ELEMENTSxf32>, tensor<WxWxf32>\n}}\n}}\n"
    return text.replace("ELEMENTS", str(elements)).replace("TRIPS", str(trips)).replace("WxW", f"{WIDTH}x{WIDTH}")


class Programs:
    def __init__(self, build, folder, steps):
        self.tessera, self.folder, self.steps = build / "bin/tessera", folder, steps

    def compile(self, name, text):
        (self.folder / f"{name}.mlir").write_text(text)
        subprocess.run([self.tessera, "compile", self.folder / f"{name}.mlir", "-o", self.folder / f"{name}.tsr", "--overlap=on", "--quiet"],
                       check=True, stdout=subprocess.DEVNULL)

    def run(self, name, steps, result):
        """The contents of the file that the option `result` makes the run write."""
        file = self.folder / "result.json"
        allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        subprocess.run(["mpirun", "--oversubscribe", "-n", "2", self.tessera, "run", self.folder / f"{name}.tsr", "--comm=mpi",
                        f"--repeat={steps}", f"--{result}={file}", "--quiet"], check=True, env=os.environ | allowed)
        return json.loads(file.read_text())

    def milliseconds(self, name):
        """Of a step, without the first ones."""
        return 1e3 * statistics.median(self.run(name, self.steps, "report")["steps"][self.steps // 4:])

    def round(self):
        before, reducing, both, behind = (self.milliseconds(name) for name in ("computing", "reducing", "both", "computing"))
        return {"computing": (before + behind) / 2, "reducing": reducing, "both": both}

    def wait(self, name):
        """Milliseconds of a step that the rank waits which comes last."""
        ranks = {}
        for event in self.run(name, 12, "trace"):
            if event["name"].startswith("wait "):
                ranks.setdefault(event["pid"], []).append(event["dur"] / 1e3)
        return statistics.median([min(pair) for pair in zip(*ranks.values(), strict=True)][3:])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--megabytes", type=float, default=8)
    parser.add_argument("--milliseconds", type=float, default=20)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--hidden", type=float)
    options = parser.parse_args()
    elements = round(options.megabytes * 1e6 / 4)
    with tempfile.TemporaryDirectory() as folder:
        programs = Programs(options.build.resolve(), pathlib.Path(folder), options.steps)
        trips = 1000
        for _ in range(2):  # what does not grow with the trips makes the first guess too small
            programs.compile("computing", module(SMALL, trips))
            trips = max(1, round(trips * options.milliseconds / programs.milliseconds("computing")))
        for name, parts in {"computing": (SMALL, trips), "reducing": (elements, 0), "both": (elements, trips)}.items():
            programs.compile(name, module(*parts))
        rounds = [programs.round() for _ in range(options.rounds)]
        waits = {name: programs.wait(name) for name in ("reducing", "both")}
    ratios = [times["both"] / max(times["computing"], times["reducing"]) for times in rounds]
    for times, ratio in zip(rounds, ratios):
        print("  ".join(f"{name} {value:.2f} ms" for name, value in times.items()), f" both / longer {ratio:.2f}")
    print(f"both / longer, median of {len(ratios)} rounds: {statistics.median(ratios):.3f}")
    hidden = 1 - waits["both"] / waits["reducing"]
    print(f"waiting {waits['reducing']:.2f} ms alone, {waits['both']:.2f} ms behind the loop: {100 * hidden:.0f}% hidden")
    if options.hidden is not None and hidden < options.hidden:
        sys.exit(f"error: {100 * hidden:.0f}% of the all-reduce are hidden, not {100 * options.hidden:.0f}%")


if __name__ == "__main__":
    main()
