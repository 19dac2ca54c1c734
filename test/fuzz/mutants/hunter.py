"""Lets the fuzzer look for mutants, one after the other.

First it runs without any, and notes of each program its seconds of a core, whether it is bad anyway, and the mutants whose places are reached:
only those programs can show a mutant, so only they are run with it. The time to find one is that of all programs up to the one that shows it.
"""
import contextlib
import importlib
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))


def processor_seconds(process):
    """Of another process and its children that have ended."""
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


class Trial:
    """The fuzzer's worker with a mutant, or none."""

    def __init__(self, fuzzer, binaries, seed, mutant="", reached=""):
        os.environ.update(TESSERA_BIN=str(binaries), TESSERA_MUTANT=mutant, TESSERA_REACHED=reached)
        if not reached:
            del os.environ["TESSERA_REACHED"]
        programs = importlib.import_module(fuzzer)
        self.folder = tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
        self.worker = programs.Worker(programs.parse([f"--seed={seed}", "--first-only"]), pathlib.Path(self.folder.name))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.worker.close()
        self.folder.cleanup()

    def run(self, number):
        """What is bad about a program, or None."""
        before, said = self.worker.counts["bad"], io.StringIO()
        with contextlib.redirect_stdout(said):
            try:
                self.worker.number(number)
            except Exception as error:  # the server is gone
                return f"crash: {error!r}"
        return said.getvalue().strip() if self.worker.counts["bad"] > before else None

    def seconds(self):
        return sum(os.times()[:2]) + processor_seconds(self.worker.checker.engine.process)


def recorded(path, key="name"):
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    return {row[key]: row for row in rows}


def without_mutants(fuzzer, binaries, seed, seconds, path):
    """Of each program that five minutes hold."""
    rows = recorded(path, "program")
    spent = sum(row["seconds"] for row in rows.values())
    with tempfile.NamedTemporaryFile() as reached, Trial(fuzzer, binaries, seed, reached=reached.name) as trial, open(path, "a") as file:
        number = len(rows)
        while spent < seconds:
            os.truncate(reached.name, 0)
            begin = trial.seconds()
            bad = trial.run(number)
            row = {"program": number, "seconds": round(trial.seconds() - begin, 3), "bad": bad,
                   "reached": sorted(set(pathlib.Path(reached.name).read_text().split()))}
            print(json.dumps(row), file=file, flush=True)
            rows[number], spent, number = row, spent + row["seconds"], number + 1
    return rows


def hunt(mutants, binaries, seed, seconds, folder):
    for fuzzer in sorted({each.fuzzer for each in mutants}):
        hunt_by(fuzzer, [each for each in mutants if each.fuzzer == fuzzer], binaries, seed, seconds, folder)


def hunt_by(fuzzer, mutants, binaries, seed, seconds, folder):
    rows = without_mutants(fuzzer, binaries, seed, seconds, folder / f"{fuzzer}.jsonl")
    upto, spent = {}, 0.0
    for number, row in sorted(rows.items()):
        spent += row["seconds"]
        upto[number] = spent
    print(f"{len(rows)} programs take {spent:.0f} s of a core, {sum(bool(row['bad']) for row in rows.values())} are bad without a mutant", flush=True)
    done = recorded(folder / "found.jsonl")
    with open(folder / "found.jsonl", "a") as file:
        for each in mutants:
            before = done.get(each.name, {"how": None, "upto": -1})
            if before["how"] or before["upto"] >= len(rows) - 1:
                continue
            able = [number for number, row in sorted(rows.items()) if number > before["upto"] and not row["bad"] and each.name in row["reached"]]
            with Trial(fuzzer, binaries, seed, each.name) as trial:
                found, how = next(((number, how) for number in able if (how := trial.run(number))), (None, None))
            row = {"name": each.name, "program": found, "seconds": round(upto.get(found, spent), 1), "how": how, "upto": len(rows) - 1}
            print(json.dumps(row), file=file, flush=True)
            print(f"{each.name:44} " + (f"program {found}, {row['seconds']:.0f} s: {how[:100]}" if how else f"not found, of {len(able)} programs that reach it"),
                  flush=True)


def hunt_on_gpus(mutants, build, folder):
    """Those of kernels for GPUs: by the programs of test/gpu, over the stand-in for a GPU, one after the other until one is wrong; what
    they don't show, by what kernels of rows move, and those of whole programs."""
    done = recorded(folder / "found.jsonl")
    scripts = pathlib.Path(__file__).resolve().parents[2] / "gpu"
    with open(folder / "found.jsonl", "a") as file:
        for each in mutants:
            if each.name in done:
                continue
            environment = dict(os.environ, TESSERA_MUTANT=each.name, TESSERA_BIN=str(build / "bin"), LD_LIBRARY_PATH=str(build / "lib" / "emulator"))
            begin = sum(os.times()[2:4])
            for command in (["programs.py", "--first-only"], ["rows.py"], ["counted.py"]):
                ran = subprocess.run([sys.executable, scripts / command[0], *command[1:]], capture_output=True, text=True, env=environment)
                if ran.returncode:
                    break
            seconds = round(sum(os.times()[2:4]) - begin, 1)
            how = (ran.stdout.strip().splitlines() or [ran.stderr[-300:]])[0] if ran.returncode else None
            row = {"name": each.name, "program": how.split(" ")[0] if how else None, "seconds": seconds, "how": how, "upto": 0}
            print(json.dumps(row), file=file, flush=True)
            print(f"{each.name:44} {(how or 'not found')[:140]}", flush=True)
