"""Ranks of one program under mpirun, one of which is killed, stopped, late, or other than the rest.

  ranks.py [--count=N] [--seed=S] [--kinds=killed,..] [--limit=SECONDS] [--slack=SECONDS] [--keep=DIR]

Each scenario is a function of the seed and its number, so that `--seed=S --only=K` makes the K-th again. All ranks must
end within the limit of silence (TESSERA_COMM_TIMEOUT) and the slack after the fault, none by a signal of its own making, and
each that is not killed says in one line what happened: which rank, and while steps run, which collective at which source line.
What is no fault must give the numbers of a run in one process. Prints each bad end and the count of all; exit code 1 when
there was one. Kinds:

  none       all alike                              late       a rank that starts later, within the limit
  killed     SIGKILL at a random moment             stopped    SIGSTOP at a random moment
  ended      SIGTERM at a random moment             memory     a rank with too little memory
  program    another program, of the same shapes    shapes     of other shapes
  file       a program file that is not there, or damaged
  option     another option, or a bad one           argument   inputs without one of them, or of other shapes
  limit      a limit that is no time                alone      a rank that takes no part
  calls      a host that calls the C interface otherwise (test/tools/api/ranks.c)
"""
import argparse
import collections
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import numpy

import tally

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("TESSERA_BIN", ROOT / "build" / "bin"))
HOST = pathlib.Path(os.environ.get("TESSERA_API_RANKS", BIN / "api-ranks"))
KINDS = ["none", "killed", "stopped", "program", "option", "argument", "calls", "ended", "shapes", "late", "file", "memory", "limit", "alone"]
CALLS = ["null-input", "fewer-steps", "other-order", "early-end", "short-read", "null-program", "second-session"]
FOREVER = "--repeat=2000000000"
MODULE = """sdy.mesh @mesh = <["d"={ranks}]>
func.func @main(%x: tensor<{rows}x{columns}xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"d"}}, {{}}]>}},
                %b: tensor<{columns}xf32>) -> (tensor<{rows}x{columns}xf32>, tensor<{columns}xf32>) {{
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %wide = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<{columns}xf32>) -> tensor<{rows}x{columns}xf32>
  %y = stablehlo.{op} %x, %wide : tensor<{rows}x{columns}xf32>
  %sum = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<{rows}x{columns}xf32>, tensor<f32>) -> tensor<{columns}xf32>
  return %y, %sum : tensor<{rows}x{columns}xf32>, tensor<{columns}xf32>
}}
"""
PLACE = re.compile(r"all_reduce at \S+:\d+")


class Scenario:
    """What is made for a kind: the command of each rank, the rank at fault, and what is done to it when."""

    def __init__(self, rng, kind, folder, options):
        self.rng, self.kind, self.folder, self.limit = rng, kind, folder, options.limit
        self.ranks = rng.choice([2, 3, 4]) if kind != "calls" else 2
        self.culprit = rng.randrange(self.ranks)
        self.environment = [{} for _ in range(self.ranks)]
        self.before = [""] * self.ranks
        self.signal = None
        # Or seconds after the start, where that may be long before all are connected.
        self.moment = "stepping" if rng.random() < 0.7 or options.connect else rng.random() * 2.5
        self.succeeds = kind in ("none", "late")
        base = self.compile("p.tsr", 3, "add")
        self.inputs(3, "in.npz")
        arguments = [f"--inputs={folder / 'in.npz'}"]
        if kind in ("none", "late"):
            arguments += [f"--outputs={folder / 'out.npz'}", "--repeat=20"]
        elif kind in ("killed", "stopped", "ended"):
            # The report is only there to be opened before the first step: then all ranks are connected.
            arguments += [FOREVER, f"--report={folder / 'report.json'}"]
            self.signal = {"killed": signal.SIGKILL, "stopped": signal.SIGSTOP, "ended": signal.SIGTERM}[kind]
        self.lines = [[BIN / "tessera", "run", base, "--comm=mpi", *arguments] for _ in range(self.ranks)]
        getattr(self, "make_" + kind, lambda line: None)(self.lines[self.culprit])

    def compile(self, name, columns, op):
        source, target = self.folder / (name + ".mlir"), self.folder / name
        source.write_text(MODULE.format(ranks=self.ranks, rows=2 * self.ranks, columns=columns, op=op))
        subprocess.run([BIN / "tessera", "compile", source, "-o", target], check=True, stdout=subprocess.DEVNULL)
        return target

    def inputs(self, columns, name, skipped=()):
        rows = numpy.arange(2 * self.ranks * columns, dtype=numpy.float32).reshape(2 * self.ranks, columns)
        arrays = {"in0": rows, "in1": numpy.full(columns, 3, numpy.float32)}
        numpy.savez(self.folder / name, **{key: value for key, value in arrays.items() if key not in skipped})
        return self.folder / name

    def make_program(self, line):
        line[2] = self.compile("other.tsr", 3, "multiply")

    def make_shapes(self, line):
        columns = self.rng.choice([1, 2, 4, 64])
        line[2] = self.compile("other.tsr", columns, "add")
        line[4] = f"--inputs={self.inputs(columns, 'other.npz')}"

    def make_file(self, line):
        data = line[2].read_bytes()
        line[2] = self.folder / "other.tsr"
        if self.rng.random() < 0.7:
            at = self.rng.randrange(len(data))
            line[2].write_bytes(data[:at] + (bytes([data[at] ^ 1]) + data[at + 1:] if self.rng.random() < 0.5 else b""))

    def make_option(self, line):
        line += [self.rng.choice(["--repeat=7", "--repeat=0", "--carry=out0:in0", "--carry=out9:in9", "--bogus", f"--outputs={self.folder / 'o.npz'}",
                                  "--outputs=/dev/null/o.npz", f"--sha256={'0' * 64}"])]

    def make_argument(self, line):
        choice = self.rng.randrange(4)
        if choice == 0:
            del line[4]
        elif choice == 1:
            line[4] = f"--inputs={self.folder / 'none.npz'}"
        else:
            line[4] = f"--inputs={self.inputs(3 if choice == 2 else 5, 'other.npz', ['in1'] if choice == 2 else [])}"

    def make_calls(self, line):
        self.calls = self.rng.choice(CALLS)
        self.lines = [[HOST, self.calls, str(self.culprit)] for _ in range(self.ranks)]

    def make_late(self, line):
        self.before[self.culprit] = f"sleep {self.rng.random() * self.limit / 3:.2f};"

    def make_memory(self, line):
        self.before[self.culprit] = f"ulimit -v {self.rng.choice([20000, 150000, 300000, 400000])};"
        line += ["--repeat=2"]
        self.environment[self.culprit]["TESSERA_WORKERS"] = "64"

    def make_limit(self, line):
        self.environment[self.culprit]["TESSERA_COMM_TIMEOUT"] = self.rng.choice(["soon", "", "-1", "0", "1e99", "nan", "inf", "4s"])

    def make_alone(self, line):
        line.remove("--comm=mpi")

    def command(self):
        """Each rank tells its process number before it becomes the program, and writes to a file of its own."""
        words = ["mpirun", "--quiet", "--oversubscribe"]
        for rank, line in enumerate(self.lines):
            sets = " ".join(f"{name}={value}" for name, value in self.environment[rank].items())
            text = " ".join(map(str, line))
            shell = f"echo $$ > {self.folder}/pid.{rank}; {self.before[rank]} exec env {sets} {text} > /dev/null 2> {self.folder}/said.{rank}"
            words += [":"] * (rank > 0) + ["-n", "1", "sh", "-c", shell]
        return words


def is_alive(pid):
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in ("Z", "X")


class Play:
    """A scenario as it runs."""

    def __init__(self, scenario, options):
        self.scenario, self.options = scenario, options

    def pid(self, rank):
        try:
            return int((self.scenario.folder / f"pid.{rank}").read_text())
        except (OSError, ValueError):
            return None

    def pids(self):
        return [pid for rank in range(self.scenario.ranks) if (pid := self.pid(rank))]

    def wait(self, condition, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if condition():
                return True
            time.sleep(0.02)
        return False

    def strike(self):
        """Sends the signal at its moment; False when there was nobody to send it to."""
        scenario = self.scenario
        if not self.wait(lambda: self.pid(scenario.culprit), 30):
            return False
        if scenario.moment == "stepping":
            if not self.wait(lambda: list(scenario.folder.glob(".tessera-*")), 30):
                return False
            time.sleep(0.5)
        else:
            time.sleep(scenario.moment)
        try:
            os.kill(self.pid(scenario.culprit), scenario.signal)
        except OSError:
            return False
        return True

    def run(self):
        """Nothing, or what was bad."""
        scenario, options = self.scenario, self.options
        environment = os.environ | {"TESSERA_COMM_TIMEOUT": str(options.limit), "OMPI_ALLOW_RUN_AS_ROOT": "1",
                                    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        if options.connect:
            environment["TESSERA_CONNECT_TIMEOUT"] = str(options.connect)
        started = time.monotonic()
        log = open(scenario.folder / "mpirun", "wb")
        mpirun = subprocess.Popen(scenario.command(), env=environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        if scenario.signal and not self.strike():
            mpirun.kill()
            self.kill_all()
            return "no rank was there to be struck"
        struck = time.monotonic()
        # What is wrong from the start counts from when all could be there: mpirun itself takes its time.
        patience = options.limit + options.slack + (0 if scenario.signal else options.startup)
        ended = self.wait(lambda: len(self.pids()) == scenario.ranks and not any(map(is_alive, self.pids())), patience)
        self.seconds = time.monotonic() - (struck if scenario.signal else started)
        if not ended:
            alive = [rank for rank in range(scenario.ranks) if (pid := self.pid(rank)) and is_alive(pid)]
            self.kill_all()
            mpirun.kill()
            mpirun.wait()
            return f"ranks {alive} did not end within {patience:.0f} s"
        try:
            code = mpirun.wait(60)  # its own ending is not at issue
        except subprocess.TimeoutExpired:
            mpirun.kill()
            return "mpirun did not end"
        return self.judge(code)

    def kill_all(self):
        for pid in self.pids():
            if is_alive(pid):
                os.kill(pid, signal.SIGKILL)

    def judge(self, code):
        scenario = self.scenario
        said = [(scenario.folder / f"said.{rank}").read_text(errors="replace") if (scenario.folder / f"said.{rank}").exists() else ""
                for rank in range(scenario.ranks)]
        for rank, text in enumerate(said):
            if found := re.search(r"terminate called|wrong:|Sanitizer|Segmentation|SIGSEGV|Assertion|Signal: .*", text):
                return f"rank {rank}: {found[0]}"
        signalled = re.search(r"exited on signal (\d+) \((.*?)\)", (scenario.folder / "mpirun").read_text(errors="replace"))
        if signalled and int(signalled[1]) not in (9, 15):
            return f"a rank ended by signal {signalled[1]}"
        if scenario.succeeds:
            if code != 0:
                return f"exit code {code}: {' '.join(said)[:200]}"
            return self.compare()
        if code == 0:
            return "success"
        return self.judge_messages(said)

    def judge_messages(self, said):
        scenario = self.scenario
        for rank, text in enumerate(said):
            errors = re.findall(r"^error: .*", text, re.M)
            if rank == scenario.culprit and scenario.kind in ("killed", "stopped", "ended", "alone") or scenario.kind == "calls":
                continue
            if not errors and (scenario.kind in ("alone", "memory") or scenario.signal and scenario.moment != "stepping"):
                continue  # mpirun may have ended it while it began
            if len(errors) != 1:
                return f"rank {rank} has {len(errors)} error lines: {text[:200]}"
            if rank == scenario.culprit:
                continue
            if not re.search(rf"\branks? ([\d, -]*\b)?{scenario.culprit}\b|\branks\b", errors[0]):
                return f"rank {rank} does not name rank {scenario.culprit}: {errors[0][:300]}"
            if scenario.signal and scenario.moment == "stepping" and not PLACE.search(errors[0]):
                return f"rank {rank} does not name the collective: {errors[0][:300]}"
        return None

    def compare(self):
        scenario = self.scenario
        subprocess.run([BIN / "tessera", "run", scenario.folder / "p.tsr", f"--inputs={scenario.folder / 'in.npz'}",
                        f"--outputs={scenario.folder / 'right.npz'}"], check=True)
        got, right = numpy.load(scenario.folder / "out.npz"), numpy.load(scenario.folder / "right.npz")
        return None if all(numpy.array_equal(got[name], right[name]) for name in right) else "other numbers than in one process"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=len(KINDS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, help="number of the only scenario")
    parser.add_argument("--kinds", type=lambda s: s.split(","), default=KINDS)
    parser.add_argument("--limit", type=float, default=4, help="of silence, in seconds")
    parser.add_argument("--slack", type=float, default=1, help="after the limit, in seconds")
    parser.add_argument("--connect", type=float, help="the limit until all are connected (TESSERA_CONNECT_TIMEOUT)")
    parser.add_argument("--startup", type=float, default=10, help="that mpirun and the programs take before they connect")
    parser.add_argument("--keep", type=pathlib.Path, help="where the folders of bad ends are kept")
    options = parser.parse_args()
    if not shutil.which("mpirun"):
        print("skipped: no mpirun")
        return 77
    ends, slowest = collections.Counter(), 0
    for number in [options.only] if options.only is not None else range(options.count):
        kind = options.kinds[number % len(options.kinds)]
        with tempfile.TemporaryDirectory() as folder:
            play = Play(Scenario(random.Random(f"{options.seed}/{number}"), kind, pathlib.Path(folder), options), options)
            wrong = play.run()
            if play.scenario.signal and not wrong:
                slowest = max(slowest, play.seconds)
            ends[kind, "bad" if wrong else "good"] += 1
            if wrong:
                print(f"--seed={options.seed} --only={number} --kinds={','.join(options.kinds)} ({kind}): {wrong}", flush=True)
                if options.keep:
                    shutil.copytree(folder, options.keep / f"{options.seed}-{number}", dirs_exist_ok=True)
                    (options.keep / f"{options.seed}-{number}" / "command").write_text(" ".join(play.scenario.command()))
    bad = tally.summary(options.kinds, ends)
    print(f"seed {options.seed}: {sum(ends.values())} scenarios, {bad} bad; at most {slowest:.1f} s from a signal to the end of all")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(main())
