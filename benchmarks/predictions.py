"""What the compiler predicts of a step beside what the runtime measures.

    benchmarks/predictions.py PROGRAM.mlir|FOLDER .. [--one-device] [--links] [--kernels=N] [--machine=machine.json | --recalibrate=N]

Measures this machine (`tessera calibrate`), unless a file of it is given, compiles every program for it, runs it, and prints
predicted and measured seconds of a step, their ratio, and the median and largest error, of topologies with links also
all together. --one-device: each also with a mesh of one device. --links: programs for several devices also with simulated links, as fast as the memory, and such that
collectives take half and twice as long as computation. --kernels: also the N kernels of each program whose time is furthest
from what was predicted, and what the cores did beside kernels.

A step's measured time is the least of its steps: what it takes when nothing else is in the way. A program runs again, up to
five times, until the two least times are within 3% of each other.

A shared machine computes at one pace now and at another a minute later. So a product and a copy of the calibration are run
again beside each program; what they take now, of what they took then, is the machine's pace. A program
whose best run had another pace than the calibration by more than 5% is marked by both. Its second ratio, `paced`, is that of
the prediction with all that computes times the first pace, and all bytes times the second: kernels add both parts as the
compiler does (lib/cost/KernelTerms.h), links keep their time. The summary gives errors of both, and of the programs that ran
at the calibration's pace. With --machine, paces are of a quick calibration now. --recalibrate: calibrates again before every N-th
file of a program, so that no more than N of them lie between a calibration and what it predicts; the seconds between are in each row.

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
import time

TESSERA = pathlib.Path(os.environ.get("TESSERA_BIN", pathlib.Path(__file__).parent.parent / "build/bin")) / "tessera"
# Of a step's work: bytes that nobody waits for, bytes that computing waits for; the rest computes (lib/cost/KernelTerms.h).
STRIPS = ("cold_strips", "memory_strips")
BYTES = ("warm", "streams", "written_strips", "memory_streams", "memory_written", "taken_back", "exchanged", "combined")
WITHOUT_LINKS = ("as they are", "on one device")
UNSTEADY = 1.05  # how much another pace is another


def tessera(*arguments):
    ran = subprocess.run([TESSERA, *map(str, arguments)], capture_output=True, text=True)
    return ran.stderr.strip().splitlines()[-1] if ran.returncode else ""


def for_one_device(text):
    """The program on a mesh whose axes have one device each."""
    text = re.sub(r"(sdy\.mesh @\S+ = <\[)([^\]]*)(\])", lambda m: m[1] + re.sub(r"=\d+", "=1", m[2]) + m[3], text)
    return re.sub(r"mhlo\.num_partitions = \d+", "mhlo.num_partitions = 1", text)


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
        return [least_step(self.folder, name, 5 if name == "copy" else 150)[0] / seconds for name, seconds in self.then.items()]


def least_step(folder, name, steps, *more):
    """Seconds, or an error."""
    wrong = tessera("run", folder / f"{name}.tsr", f"--repeat={steps}", "--quiet", f"--report={folder}/r.json", *more)
    return (None, wrong) if wrong else (min(json.loads((folder / "r.json").read_text())["steps"][1:]), "")


def least_of(*paces):
    return [min(each) for each in zip(*paces)]


def furthest(paces):
    """The pace of two that is furthest from one, as a factor above one."""
    return max(max(pace, 1 / pace) for pace in paces)


class Bench:
    def __init__(self, folder, steps, kernels, machine):
        self.folder, self.steps, self.kernels = pathlib.Path(folder), steps, kernels
        self.rows = {}
        self.calibrate(machine)

    def calibrate(self, machine=None):
        file, report = machine or self.folder / "machine.json", self.folder / "calibration.json"
        given = ["--quick"] if machine else []
        if wrong := tessera("calibrate", "-o", self.folder / "machine.json", f"--report={report}", "--quiet", *given):
            sys.exit(wrong)
        self.machine = json.loads(pathlib.Path(file).read_text())
        self.pace = Pace(self.folder, json.loads(report.read_text())["programs"])
        self.calibrated = time.monotonic()

    def compiled(self, source, topology, text):
        """The report of compiling for a topology, or an error."""
        self.source, self.topology = self.folder / "in.mlir", self.folder / "topology.json"
        self.source.write_text(text)
        self.topology.write_text(json.dumps(topology))
        wrong = tessera("compile", self.source, "-o", self.folder / "p.tsr", f"--topology={self.topology}", "--quiet",
                        f"--report={self.folder}/c.json")
        return (None, wrong) if wrong else (json.loads((self.folder / "c.json").read_text()), "")

    def measured(self, simulated, predicted):
        """Seconds of a step and the machine's paces around it, or an error."""
        steps = max(self.steps, min(200, int(0.1 / predicted)))  # short ones meet more of what is in the way
        more = [f"--topology={self.topology}"] if simulated else []
        more += ["--profile"] if self.kernels else []
        runs, before = [], self.pace.now()
        while len(runs) < 2 or (len(runs) < 5 and runs[1][0] > 1.03 * runs[0][0]):
            seconds, wrong = least_step(self.folder, "p", steps, *more)
            if wrong:
                return None, None, wrong
            profile = json.loads((self.folder / "r.json").read_text()).get("profile", {}).get("rows")
            after = self.pace.now()
            runs.append((seconds, least_of(before, after)))
            runs.sort()
            if runs[0][0] == seconds:
                self.profile = profile
            before = after
        return *runs[0], ""

    def paced(self, report, simulated, paces):
        """Predicted seconds of a machine whose computing and bytes take so many times as long."""
        predicted, now, then = report["predicted"], [0, 0], [0, 0]
        for name, amount in report["work"].items():
            if rate := self.machine["kernels"].get(name):
                then[name in BYTES] += amount / rate
                now[name in BYTES] += amount / rate * paces[name in BYTES + STRIPS]
        factor = math.hypot(*now) / math.hypot(*then) if any(then) else paces[0]
        links = predicted["exposed"] if simulated else 0
        return factor * (predicted["seconds"] - links) + links

    def add(self, kind, name, text, topology, simulated=False):
        report, wrong = self.compiled(name, topology, text)
        seconds, paces, wrong = self.measured(simulated, report["predicted"]["seconds"]) if report else (None, None, wrong)
        if wrong:
            print(f"  {name:44s} {wrong}", flush=True)
            return None
        predicted, paced = report["predicted"]["seconds"], self.paced(report, simulated, paces)
        age = time.monotonic() - self.calibrated
        is_steady = furthest(paces) < UNSTEADY
        self.rows.setdefault(kind, []).append((name, predicted / seconds - 1, paced / seconds - 1, is_steady))
        print(f"  {name:44s} {report['devices']:3d} devices  predicted {predicted * 1e3:9.3f} ms  measured {seconds * 1e3:9.3f} ms"
              f"  x{predicted / seconds:.2f}  paced x{paced / seconds:.2f}  {age:4.0f} s later"
              + ("" if is_steady else f"  (pace x{paces[0]:.2f}, bytes x{paces[1]:.2f})"), flush=True)
        if self.kernels:
            self.print_kernels(report["predicted"])
        return report

    def print_kernels(self, predicted):
        rows = self.profile
        kernels = [row for row in rows if row["kind"] == "kernel"]
        kernels.sort(key=lambda row: -abs(row["seconds"] - row.get("predicted_seconds", 0)))
        for row in kernels[:self.kernels]:
            print(f"      {row['seconds'] * 1e3:9.3f} ms, predicted {row.get('predicted_seconds', 0) * 1e3:9.3f} ms, "
                  f"{row['calls']:6d} calls  {row['name']:30s} {row['location']}")
        beside = sum(row["seconds"] for row in rows if row["kind"] != "kernel")
        print(f"      {beside * 1e3:9.3f} ms, predicted {(predicted['seconds'] - predicted['compute']) * 1e3:9.3f} ms  beside kernels",
              flush=True)

    def add_links(self, name, text):
        def with_links(beta):
            return {**self.machine, "alpha": 1e-6, "beta": beta}
        self.add("links as fast as memory", name, text, with_links(self.machine["memory"]), simulated=True)
        for kind, share in (("communication half of computation", 0.5), ("communication twice computation", 2)):
            beta = 1e9
            for _ in range(3):  # another program may be chosen where links are slower
                report, _ = self.compiled(name, with_links(beta), text)
                predicted = report["predicted"] if report else {}
                if not predicted.get("communication"):
                    return
                beta = min(max(beta * predicted["communication"] / (share * predicted["compute"]), 1e4), 1e15)
            self.add(kind, name, text, with_links(beta), simulated=True)

    def summary(self):
        linked = [row for kind, rows in self.rows.items() if kind not in WITHOUT_LINKS for row in rows]
        together = {"all with links": linked} if linked else {}
        for kind, rows in {**self.rows, **together}.items():
            print(f"{kind}: {len(rows)} programs, {errors(rows, 1)}; paced: {errors(rows, 2)}")
            if steady := [row for row in rows if row[3]]:
                print(f"    at the calibration's pace {len(steady)}: {errors(steady, 1)}")


def errors(rows, which):
    worst = max(rows, key=lambda row: abs(row[which]))
    return (f"median error {100 * statistics.median(abs(row[which]) for row in rows):.0f}%, "
            f"largest {100 * abs(worst[which]):.0f}% ({worst[0]})")


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
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(folder, options.steps, options.kernels, options.machine)
        paths = [path for given in options.programs for path in (sorted(given.glob("*.mlir")) if given.is_dir() else [given])]
        for number, path in enumerate(paths):
            if options.recalibrate and number and number % options.recalibrate == 0:
                bench.calibrate()
            text = path.read_text()
            report = bench.add(WITHOUT_LINKS[0], path.stem, text, bench.machine)
            if options.one_device and report and report["devices"] > 1:
                bench.add(WITHOUT_LINKS[1], path.stem, for_one_device(text), bench.machine)
            if options.links and report and report["devices"] > 1:
                bench.add_links(path.stem, text)
        bench.summary()


if __name__ == "__main__":
    main()
