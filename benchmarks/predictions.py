"""What the compiler predicts of a step beside what the runtime measures.

    benchmarks/predictions.py PROGRAM.mlir|FOLDER .. [--one-device] [--links] [--kernels=N] [--machine=machine.json]

Measures this machine (`tessera calibrate`), unless a file of it is given, compiles every program for it, runs it, and prints
predicted and measured seconds of a step, their ratio, and the median and largest error. --one-device: each also with a mesh
of one device. --links: programs for several devices also with simulated links, as fast as the memory, and such that
collectives take half and twice as long as computation. --kernels: also the N kernels of each program whose time is furthest
from what was predicted, and what the cores did beside kernels.

A step's measured time is the least of its steps: what it takes when nothing else is in the way.
"""
import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

TESSERA = pathlib.Path(__file__).parent.parent / "build/bin/tessera"


def tessera(*arguments):
    ran = subprocess.run([TESSERA, *map(str, arguments)], capture_output=True, text=True)
    return ran.stderr.strip().splitlines()[-1] if ran.returncode else ""


def for_one_device(text):
    """The program on a mesh whose axes have one device each."""
    text = re.sub(r"(sdy\.mesh @\S+ = <\[)([^\]]*)(\])", lambda m: m[1] + re.sub(r"=\d+", "=1", m[2]) + m[3], text)
    return re.sub(r"mhlo\.num_partitions = \d+", "mhlo.num_partitions = 1", text)


class Bench:
    def __init__(self, machine, folder, steps, kernels):
        self.machine, self.folder, self.steps, self.kernels = machine, pathlib.Path(folder), steps, kernels
        self.rows = {}

    def compiled(self, source, topology, text):
        """The report of compiling for a topology, or an error."""
        self.source, self.topology = self.folder / "in.mlir", self.folder / "topology.json"
        self.source.write_text(text)
        self.topology.write_text(json.dumps(topology))
        wrong = tessera("compile", self.source, "-o", self.folder / "p.tsr", f"--topology={self.topology}", "--quiet",
                        f"--report={self.folder}/c.json")
        return (None, wrong) if wrong else (json.loads((self.folder / "c.json").read_text()), "")

    def measured(self, simulated, predicted):
        steps = max(self.steps, min(200, int(0.1 / predicted)))  # short ones meet more of what is in the way
        more = [f"--topology={self.topology}"] if simulated else []
        more += ["--profile"] if self.kernels else []
        wrong = tessera("run", self.folder / "p.tsr", f"--repeat={steps}", "--quiet", f"--report={self.folder}/r.json", *more)
        if wrong:
            return None, wrong
        return min(json.loads((self.folder / "r.json").read_text())["steps"][1:]), ""

    def add(self, kind, name, text, topology, simulated=False):
        report, wrong = self.compiled(name, topology, text)
        seconds, wrong = self.measured(simulated, report["predicted"]["seconds"]) if report else (None, wrong)
        if wrong:
            print(f"  {name:44s} {wrong}", flush=True)
            return None
        predicted = report["predicted"]["seconds"]
        self.rows.setdefault(kind, []).append((name, predicted / seconds - 1))
        print(f"  {name:44s} {report['devices']:3d} devices  predicted {predicted * 1e3:9.3f} ms  measured {seconds * 1e3:9.3f} ms"
              f"  x{predicted / seconds:.2f}", flush=True)
        if self.kernels:
            self.print_kernels(report["predicted"])
        return report

    def print_kernels(self, predicted):
        rows = json.loads((self.folder / "r.json").read_text())["profile"]["rows"]
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
        for kind, rows in self.rows.items():
            worst = max(rows, key=lambda row: abs(row[1]))
            print(f"{kind}: {len(rows)} programs, median error {100 * statistics.median(abs(e) for _, e in rows):.0f}%, "
                  f"largest {100 * abs(worst[1]):.0f}% ({worst[0]})")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="+", type=pathlib.Path)
    parser.add_argument("--machine", help="a topology file of this machine; measured without it")
    parser.add_argument("--one-device", action="store_true")
    parser.add_argument("--links", action="store_true")
    parser.add_argument("--kernels", type=int, default=0, metavar="N")
    parser.add_argument("--steps", type=int, default=12)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        machine = options.machine or f"{folder}/machine.json"
        wrong = "" if options.machine else tessera("calibrate", "-o", machine, "--quiet")
        if wrong:
            sys.exit(wrong)
        bench = Bench(json.loads(pathlib.Path(machine).read_text()), folder, options.steps, options.kernels)
        for given in options.programs:
            for path in sorted(given.glob("*.mlir")) if given.is_dir() else [given]:
                text = path.read_text()
                report = bench.add("as they are", path.stem, text, bench.machine)
                if options.one_device and report and report["devices"] > 1:
                    bench.add("on one device", path.stem, for_one_device(text), bench.machine)
                if options.links and report and report["devices"] > 1:
                    bench.add_links(path.stem, text)
        bench.summary()


if __name__ == "__main__":
    main()
