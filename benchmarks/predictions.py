"""What the compiler predicts of a step beside what the runtime measures.

    benchmarks/predictions.py PROGRAM.mlir|FOLDER .. [--one-device] [--links] [--kernels=N] [--rounds=N] [--machine=machine.json | --recalibrate=N]

Measures this machine (`tessera calibrate`), unless a file of it is given, compiles every program for it, runs all of them in
short rounds, and prints predicted and measured seconds of a step, their ratio, and the median and largest error, of topologies
with links also all together. --one-device: each also with a mesh of one device. --links: programs for several devices also with
simulated links, as fast as the memory, and such that collectives take half and twice as long as computation. --kernels: also
the N kernels of each program whose time is furthest from what was predicted, and what the cores did beside kernels.

In each round each program runs some steps, and counts by the same rule as a calibration's do: the best 20 ms of steps in a row,
of steps of less than a tenth of a millisecond the least (lib/cost/OnePace.h). A program's ratio is the median of its rounds';
its measured seconds are, too, with the least and the most beside.

A shared machine computes at one pace now and at another some seconds later. So a product and a copy of the calibration run
before and after each program in each round; what they take there, of what they took in the calibration, are the paces of
computing and of bytes. A second ratio, `paced`, is that of the prediction at those paces: all that computes times the first,
all bytes times the second, by the prediction's own parts, added as the compiler does (lib/cost/KernelTerms.h); links keep their
time. A round counts as disturbed where a pace before and after differ by more than a tenth, and nobody knows which the
program had: it is in the raw ratio, and in the paced one only where fewer than three rounds would be left. How many were is
printed. With --machine, the calibration's paces are those of a quick one now. --recalibrate: calibrates again before
every N-th file of a program, so that no more than N of them lie between a calibration and what it predicts.

TESSERA_BIN: the folder of the binary, build/bin without it.
"""
import argparse
import json
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

TESSERA = pathlib.Path(os.environ.get("TESSERA_BIN", pathlib.Path(__file__).parent.parent / "build/bin")) / "tessera"
# Of a step's work: bytes that nobody waits for, bytes that computing waits for; the rest computes (lib/cost/KernelTerms.h).
STRIPS = ("cold_strips", "memory_strips")
BYTES = ("warm", "streams", "written_strips", "memory_streams", "memory_written", "taken_back", "exchanged", "combined")
WITHOUT_LINKS = ("as they are", "on one device")
DISTURBED = 1.1  # how much another pace after a program is another
ENOUGH = 3  # rounds
SPAN, SHORT_STEP = 0.02, 1e-4  # seconds (compiler/calibrate/Calibrate.cpp, Run.cpp)


def tessera(*arguments):
    ran = subprocess.run([TESSERA, *map(str, arguments)], capture_output=True, text=True)
    return ran.stderr.strip().splitlines()[-1] if ran.returncode else ""


def for_one_device(text):
    """The program on a mesh whose axes have one device each."""
    text = re.sub(r"(sdy\.mesh @\S+ = <\[)([^\]]*)(\])", lambda m: m[1] + re.sub(r"=\d+", "=1", m[2]) + m[3], text)
    return re.sub(r"mhlo\.num_partitions = \d+", "mhlo.num_partitions = 1", text)


def at_best(steps):
    """Seconds of a step, as a calibration takes them of its programs."""
    least, row, first = math.inf, 0, 0
    for i, seconds in enumerate(steps):
        row += seconds
        while first < i and row - steps[first] >= SPAN:
            row -= steps[first]
            first += 1
        if row >= SPAN:
            least = min(least, row / (i + 1 - first))
    if min(steps) < SHORT_STEP:
        return min(steps)
    return least if least < math.inf else statistics.mean(steps)


def run(program, steps, report, *more):
    """The report of a run, or an error."""
    wrong = tessera("run", program, f"--repeat={steps}", "--quiet", f"--report={report}", *more)
    return (None, wrong) if wrong else (json.loads(report.read_text()), "")


class Pace:
    """How fast this machine computes and copies: the seconds of two of a calibration's programs, of what they took then."""

    def __init__(self, folder, programs):
        self.folder, self.then = folder, {}
        for name, wanted in (("product", "product f32 1x256x256x256"), ("copy", "stream 8388608")):
            row = next(row for row in programs if row["program"] == wanted)
            (folder / f"{name}.mlir").write_text(row["text"])
            if wrong := tessera("compile", folder / f"{name}.mlir", "-o", folder / f"{name}.tsr", "--quiet"):
                sys.exit(wrong)
            self.then[name] = row["seconds"]

    def now(self):
        paces = []
        for name, seconds in self.then.items():
            report, wrong = run(self.folder / f"{name}.tsr", 6 if name == "copy" else 60, self.folder / "pace.json")
            if wrong:
                sys.exit(wrong)
            paces.append(at_best(report["steps"][1:]) / seconds)
        return paces


def paced(report, kernels, simulated, paces):
    """Predicted seconds of a machine whose computing and bytes take so many times as long. `kernels`: its rates."""
    predicted, now, then = report["predicted"], [0, 0], [0, 0]
    for name, amount in report["work"].items():
        if rate := kernels.get(name):
            then[name in BYTES] += amount / rate
            now[name in BYTES] += amount / rate * paces[name in BYTES + STRIPS]
    factor = math.hypot(*now) / math.hypot(*then) if any(then) else paces[0]
    links = predicted["exposed"] if simulated else 0
    return factor * (predicted["seconds"] - links) + links


class Case:
    """A program that is compiled for a topology, and what its rounds measured."""

    def __init__(self, kind, name, program, report, simulated):
        self.kind, self.name, self.program, self.report, self.simulated = kind, name, program, report, simulated
        self.predicted = report["predicted"]["seconds"]
        self.rounds, self.profile, self.wrong = [], (math.inf, []), ""  # of the round that was least

    def add_round(self, seconds, before, after, kernels):
        """`seconds`: of a step."""
        between = [math.sqrt(pace * other) for pace, other in zip(before, after)]
        changed = max(max(pace / other, other / pace) for pace, other in zip(before, after))
        self.rounds.append({"seconds": seconds, "paces": between, "disturbed": changed > DISTURBED,
                            "paced": paced(self.report, kernels, self.simulated, between) / seconds})

    def seconds(self):
        return sorted(each["seconds"] for each in self.rounds)

    def disturbed(self):
        return sum(each["disturbed"] for each in self.rounds)

    def raw_ratio(self):
        return statistics.median(self.predicted / each["seconds"] for each in self.rounds)

    def paced_ratio(self):
        steady = [each["paced"] for each in self.rounds if not each["disturbed"]]
        return statistics.median(steady if len(steady) >= ENOUGH else [each["paced"] for each in self.rounds])

    def text(self):
        if self.wrong:
            return f"  {self.name:28s} {self.wrong}"
        seconds = [1e3 * each for each in self.seconds()]
        product, copy = (statistics.median(each["paces"][i] for each in self.rounds) for i in (0, 1))
        return (f"  {self.name:28s} {self.report['devices']:3d} devices  predicted {1e3 * self.predicted:9.3f} ms"
                f"  measured {statistics.median(seconds):9.3f} ms ({seconds[0]:.3f} to {seconds[-1]:.3f})"
                f"  x{self.raw_ratio():.2f}  paced x{self.paced_ratio():.2f}"
                f"  (pace x{product:.2f}, bytes x{copy:.2f}, {self.disturbed()} of {len(self.rounds)} rounds disturbed)")

    def print_kernels(self, count):
        rows = self.profile[1]
        kernels = [row for row in rows if row["kind"] == "kernel"]
        kernels.sort(key=lambda row: -abs(row["seconds"] - row.get("predicted_seconds", 0)))
        for row in kernels[:count]:
            print(f"      {row['seconds'] * 1e3:9.3f} ms, predicted {row.get('predicted_seconds', 0) * 1e3:9.3f} ms, "
                  f"{row['calls']:6d} calls  {row['name']:30s} {row['location']}")
        beside = sum(row["seconds"] for row in rows if row["kind"] != "kernel")
        predicted = self.report["predicted"]
        print(f"      {beside * 1e3:9.3f} ms, predicted {(predicted['seconds'] - predicted['compute']) * 1e3:9.3f} ms  beside kernels")


class Bench:
    def __init__(self, folder, options):
        self.folder, self.options = pathlib.Path(folder), options
        self.cases = []
        self.calibrate(options.machine)

    def calibrate(self, machine=None):
        file, report = machine or self.folder / "machine.json", self.folder / "calibration.json"
        given = ["--quick"] if machine else []
        if wrong := tessera("calibrate", "-o", self.folder / "machine.json", f"--report={report}", "--quiet", *given):
            sys.exit(wrong)
        self.machine = json.loads(pathlib.Path(file).read_text())
        self.pace = Pace(self.folder, json.loads(report.read_text())["programs"])

    def compiled(self, program, topology, text):
        """The report of compiling for a topology, or an error."""
        source, file = self.folder / "in.mlir", program.with_suffix(".json")
        source.write_text(text)
        file.write_text(json.dumps(topology))
        wrong = tessera("compile", source, "-o", program, f"--topology={file}", "--quiet", f"--report={self.folder}/c.json")
        return (None, wrong) if wrong else (json.loads((self.folder / "c.json").read_text()), "")

    def add(self, kind, name, text, topology, simulated=False):
        program = self.folder / f"{len(self.cases)}.tsr"
        report, wrong = self.compiled(program, topology, text)
        if wrong:
            print(f"  {name:28s} {wrong}", flush=True)
        else:
            self.cases.append(Case(kind, name, program, report, simulated))
        return report

    def add_links(self, name, text):
        def with_links(beta):
            return {**self.machine, "alpha": 1e-6, "beta": beta}
        self.add("links as fast as memory", name, text, with_links(self.machine["memory"]), simulated=True)
        for kind, share in (("communication half of computation", 0.5), ("communication twice computation", 2)):
            beta = 1e9
            for _ in range(3):  # another program may be chosen where links are slower
                report, _ = self.compiled(self.folder / "links.tsr", with_links(beta), text)
                predicted = report["predicted"] if report else {}
                if not predicted.get("communication"):
                    return
                beta = min(max(beta * predicted["communication"] / (share * predicted["compute"]), 1e4), 1e15)
            self.add(kind, name, text, with_links(beta), simulated=True)

    def measure(self, cases):
        more = ["--profile"] if self.options.kernels else []
        for number in range(self.options.rounds):
            before = self.pace.now()
            for case in cases:
                if case.wrong:
                    continue
                steps = max(self.options.steps, min(100, int(0.1 / case.predicted)))  # short ones meet more of what is in the way
                links = [f"--topology={case.program.with_suffix('.json')}"] if case.simulated else []
                report, case.wrong = run(case.program, steps, self.folder / "r.json", *links, *more)
                if case.wrong:
                    continue
                after = self.pace.now()
                seconds = at_best(report["steps"][1:])
                case.add_round(seconds, before, after, self.machine["kernels"])
                case.profile = min(case.profile, (seconds, report.get("profile", {}).get("rows", [])), key=lambda each: each[0])
                before = after
            print(f"  round {number + 1} of {self.options.rounds}", file=sys.stderr, flush=True)
        for case in cases:
            print(case.text(), flush=True)
            if self.options.kernels and not case.wrong:
                case.print_kernels(self.options.kernels)

    def summary(self):
        kinds = {}
        for case in self.cases:
            if not case.wrong:
                kinds.setdefault(case.kind, []).append(case)
        linked = [case for kind, cases in kinds.items() if kind not in WITHOUT_LINKS for case in cases]
        for kind, cases in {**kinds, **({"all with links": linked} if linked else {})}.items():
            disturbed, rounds = sum(case.disturbed() for case in cases), sum(len(case.rounds) for case in cases)
            print(f"{kind}: {len(cases)} programs, {errors(cases, Case.raw_ratio)}; paced: {errors(cases, Case.paced_ratio)}; "
                  f"{disturbed} of {rounds} rounds disturbed")


def errors(cases, ratio):
    worst = max(cases, key=lambda case: abs(ratio(case) - 1))
    return (f"median error {100 * statistics.median(abs(ratio(case) - 1) for case in cases):.0f}%, "
            f"largest {100 * abs(ratio(worst) - 1):.0f}% ({worst.name})")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="+", type=pathlib.Path)
    given = parser.add_mutually_exclusive_group()
    given.add_argument("--machine", help="a topology file of this machine; measured without it")
    given.add_argument("--recalibrate", type=int, default=0, metavar="N")
    parser.add_argument("--one-device", action="store_true")
    parser.add_argument("--links", action="store_true")
    parser.add_argument("--kernels", type=int, default=0, metavar="N")
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(folder, options)
        paths = [path for given in options.programs for path in (sorted(given.glob("*.mlir")) if given.is_dir() else [given])]
        together = options.recalibrate or max(len(paths), 1)
        for first in range(0, len(paths), together):
            if first:
                bench.calibrate()
            known = len(bench.cases)
            for path in paths[first:first + together]:
                text = path.read_text()
                report = bench.add(WITHOUT_LINKS[0], path.stem, text, bench.machine)
                if options.one_device and report and report["devices"] > 1:
                    bench.add(WITHOUT_LINKS[1], path.stem, for_one_device(text), bench.machine)
                if options.links and report and report["devices"] > 1:
                    bench.add_links(path.stem, text)
            bench.measure(bench.cases[known:])
        bench.summary()


if __name__ == "__main__":
    main()
