"""Plans that the compiler finds for models without annotations, beside those that people wrote.

    benchmarks/plans.py PROGRAM.mlir|FOLDER .. [--share=0.5] [--machine=FILE] [--topology=FILE] [--steps=15] [--predicted] [--json=FILE]

Each program is compiled as it is. Then its annotations are taken out, `tessera plan` finds others for as many devices, and
that is compiled, too. Of both: the predicted step, the measured one on simulated links, bytes sent, memory, and whether the
numbers are those of one device. Programs with manual computations are for devices as they are: they are left out.

Without --topology each program gets one of its own: this machine (`tessera calibrate`, or the file of --machine), which
takes what it takes for each kind of work, and links on which the collectives of the program as it is take `share` of the
computing's time (as benchmarks/overlap.py has it); a program that has none gets links as for a share of one with all its
bytes sent once. --predicted measures nothing, and without a machine's file the device is as fast as the default topology's.

plan/hand, predicted: at most 1 for every program, 0.9 as geometric mean. Measured: at most 1.03 for 95% of them.
"""
import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "test" / "tools"))
import plain_program  # noqa: E402

TESSERA = pathlib.Path(os.environ.get("TESSERA_BIN", ROOT / "build" / "bin")) / "tessera"
COLUMNS = ("hand ms", "plan ms", "plan/hand", "measured", "wire MB", "plan MB", "memory", "plan", "search s", "gap", "error")
STEPS_OF_A_TURN, SECONDS_OF_A_TURN = 3, 0.03  # at least
SPREAD = 0.05  # of the middle half of the ratios: where it is more, up to three times as many turns are taken
LARGEST_ERROR = 1e-2  # of the largest number of a result: what reductions in another order make of bf16


class Failed(Exception):
    pass


class Program:
    """One way to run a model: its text, its compiled program and their reports."""

    def __init__(self, folder, name, text=None):
        self.folder, self.name = folder, name
        if text is not None:
            self.path("mlir").write_text(text)

    def path(self, suffix):
        return self.folder / f"{self.name}.{suffix}"

    def tessera(self, *arguments):
        done = subprocess.run([TESSERA, *map(str, arguments)], capture_output=True, text=True)
        if done.returncode:
            raise Failed(f"{self.name}: {(done.stderr.strip().splitlines() or ['no message'])[-1]}")

    def compile(self, topology):
        self.tessera("compile", self.path("mlir"), "-o", self.path("tsr"), "--quiet", f"--report={self.path('c.json')}",
                     *([f"--topology={topology}"] if topology else []))
        self.compiled = json.loads(self.path("c.json").read_text())
        return self.compiled

    def run(self, steps, topology):
        links = [f"--topology={topology}"] if topology else []
        self.tessera("run", self.path("tsr"), f"--repeat={steps + 1}", "--quiet", f"--report={self.path('r.json')}",
                     f"--outputs={self.path('npz')}", *links)
        return json.loads(self.path("r.json").read_text())["steps"][1:]

    def outputs(self):
        with np.load(self.path("npz")) as arrays:
            return [arrays[name] for name in sorted(arrays.files)]

    @property
    def seconds(self):
        return self.compiled["predicted"]["seconds"]

    @property
    def wire(self):
        return sum(c["wire_bytes"] for c in self.compiled["collectives"])


def largest_error(one, other):
    worst = 0.0
    for a, b in zip(one, other, strict=True):
        a, b = a.astype(np.float64), b.astype(np.float64)
        same = np.isnan(a) == np.isnan(b)
        if not same.all():
            return math.inf
        scale = np.nanmax(np.abs(a), initial=1e-30)
        worst = max(worst, float(np.nanmax(np.abs(a - b), initial=0) / scale))
    return worst


class Comparison:
    def __init__(self, path, folder, options):
        text = path.read_text()
        self.devices = plain_program.devices(text)
        self.folder, self.options = folder, options
        self.hand = Program(folder, "hand", text)
        self.plain = Program(folder, "plain", plain_program.plain(text))
        self.planned = Program(folder, "planned")
        self.topology = options.topology

    def make_topology(self):
        """This machine, and links that take a share of its time."""
        machine = {**self.options.rates, "alpha": 1e-6}
        self.topology = self.folder / "topology.json"

        def predicted():
            self.topology.write_text(json.dumps(machine))
            return self.hand.compile(self.topology)["predicted"]

        machine["beta"] = 1e9
        for _ in range(3):  # what is sent depends on the links a little
            before = predicted()
            if before["communication"] <= 0:
                sent = sum(self.hand.compiled["memory"].values())
                machine["beta"] = sent / (self.options.share * before["compute"])
                break
            machine["beta"] *= before["communication"] / (self.options.share * before["compute"])
            machine["beta"] = min(max(machine["beta"], 1e4), 1e15)
        self.topology.write_text(json.dumps(machine))

    def row(self):
        if not self.topology:
            self.make_topology()
        self.hand.compile(self.topology)
        self.plain.tessera("plan", self.plain.path("mlir"), f"--devices={self.devices}", "-o", self.planned.path("mlir"),
                           f"--report={self.planned.path('p.json')}", f"--topology={self.topology}", "--quiet",
                           *self.options.plan_options)
        report = json.loads(self.planned.path("p.json").read_text())
        self.planned.compile(self.topology)
        row = {"devices": self.devices, "kind": report.get("kind", ""), "mesh": report["mesh"],
               "hand": self.hand.seconds, "plan": self.planned.seconds, "ratio": self.planned.seconds / self.hand.seconds,
               "hand_wire": self.hand.wire, "plan_wire": self.planned.wire,
               "hand_peak": self.hand.compiled["predicted"]["peak_bytes"],
               "plan_peak": self.planned.compiled["predicted"]["peak_bytes"],
               "foreseen": report["predicted"]["seconds"],
               "search": report["search_seconds"], "gap": report.get("gap"), "measured": None, "error": None}
        if not self.options.predicted:
            row |= self.measure()
        return row

    def measure(self):
        """Both in turns, a few steps each, now the one first and now the other: what the machine does besides, and how quick
        its memory is today, is in both, and where it changes steadily it is in neither's favour. Where turns differ, there are more."""
        hand, planned = [], []
        steps = max(STEPS_OF_A_TURN, math.ceil(SECONDS_OF_A_TURN / self.planned.seconds))
        turns = max(3, self.options.steps // STEPS_OF_A_TURN)
        while True:
            pair = ((self.hand, hand), (self.planned, planned))
            for program, taken in pair if len(hand) % 2 == 0 else reversed(pair):
                taken.append(statistics.median(program.run(steps, self.topology)))
            ratios = sorted(p / h for h, p in zip(hand, planned, strict=True))
            middle = [ratios[len(ratios) // 4], ratios[-1 - len(ratios) // 4]]
            if len(ratios) >= turns and (middle[1] <= (1 + SPREAD) * middle[0] or len(ratios) >= 3 * turns):
                break
        self.plain.compile(self.topology)
        self.plain.run(1, None)
        return {"measured": statistics.median(ratios), "measured_range": middle,
                "hand_measured": statistics.median(hand), "plan_measured": statistics.median(planned),
                "error": largest_error(self.plain.outputs(), self.planned.outputs())}


def rates_of_machine(options):
    """What this machine does in a second, for topologies with other links."""
    if options.machine:
        return json.loads(options.machine.read_text())
    if options.predicted or options.topology:
        return {"flops": 1e10, "memory": 1e10}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "machine.json"
        subprocess.run([TESSERA, "calibrate", "-o", path, "--quiet"], check=True)
        return json.loads(path.read_text())


def text_of(row):
    def number(value, form):
        return "-" if value is None else format(value, form)

    return [f"{row['hand'] * 1e3:.3f}", f"{row['plan'] * 1e3:.3f}", f"{row['ratio']:.3f}", number(row["measured"], ".3f"),
            f"{row['hand_wire'] / 1e6:.2f}", f"{row['plan_wire'] / 1e6:.2f}", f"{row['plan_peak'] / row['hand_peak']:.2f}",
            row["kind"], f"{row['search']:.2f}", number(row["gap"], ".3f"), number(row["error"], ".1e")]


def summary(rows):
    """What must hold, and whether it does."""
    ratios = [row["ratio"] for row in rows.values()]
    above = [name for name, row in rows.items() if row["ratio"] > 1]
    mean = math.exp(statistics.fmean(map(math.log, ratios)))
    lines = [f"predicted, {len(rows)} programs: geometric mean x{mean:.3f} (at most 0.9); "
             f"worst x{max(ratios):.3f} (at most 1)" + (": " + ", ".join(above) if above else "")]
    measured = [row["measured"] for row in rows.values() if row["measured"] is not None]
    if measured:
        share = sum(ratio <= 1.03 for ratio in measured) / len(measured)
        lines.append(f"measured: {100 * share:.0f}% at most x1.03 (95%), worst x{max(measured):.3f}")
        wrong = [name for name, row in rows.items() if row["error"] is not None and not row["error"] <= LARGEST_ERROR]
        lines.append("numbers: " + ("those of one device" if not wrong else "differ: " + ", ".join(wrong)))
    gaps = [row["gap"] for row in rows.values() if row["gap"] is not None]
    if gaps:
        within = [100 * sum(gap <= most for gap in gaps) / len(gaps) for most in (0.01, 0.05)]
        lines.append(f"proven gap: at most 1% of {within[0]:.0f}% (80%), at most 5% of {within[1]:.0f}% (all)")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="+", type=pathlib.Path)
    parser.add_argument("--share", type=float, default=0.5, help="the collectives' time in computing's")
    parser.add_argument("--machine", type=pathlib.Path, help="a topology file of this machine; measured without it")
    parser.add_argument("--topology", help="a machine's name or file, for all")
    parser.add_argument("--steps", type=int, default=15, help="that are timed of each")
    parser.add_argument("--predicted", action="store_true", help="run nothing")
    parser.add_argument("--json", type=pathlib.Path, help="write the rows there, each as it is done")
    options, options.plan_options = parser.parse_known_args()  # what is left is for tessera plan
    options.rates = rates_of_machine(options)
    rows = {}
    print(f"{'':32s}{'devices':>8s}" + "".join(f"{column:>{24 if column == 'plan' else 11}s}" for column in COLUMNS), flush=True)
    for given in options.programs:
        for path in sorted(given.glob("*.mlir")) if given.is_dir() else [given]:
            with tempfile.TemporaryDirectory() as folder:
                try:
                    comparison = Comparison(path, pathlib.Path(folder), options)
                    if comparison.devices == 1:
                        print(f"{path.stem:32s} is for one device: left out", flush=True)
                        continue
                    row = rows[path.stem] = comparison.row()
                except (Failed, plain_program.NotPlain) as wrong:
                    print(f"{path.stem:32s} {wrong}", flush=True)
                    continue
            print(f"{path.stem:32s}{row['devices']:8d}"
                  + "".join(f"{text:>{24 if c == 'plan' else 11}s}" for c, text in zip(COLUMNS, text_of(row))), flush=True)
            if options.json:
                options.json.write_text(json.dumps(rows, indent=1))
    if rows:
        print("\n".join(summary(rows)))


if __name__ == "__main__":
    main()
