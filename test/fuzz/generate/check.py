"""Compiles and runs one program by tessera-fuzz, and says what is wrong with what came back."""
import collections
import json
import os
import re
import struct
import zlib

import numpy as np

import engine

from .compare import difference
from .modes import Plain
from .program import Printer

# What may be refused, and why: messages and the limits that they stand for.
REFUSED = []


class Ended(Exception):
    """What was wrong."""


class Checker:
    def __init__(self, binary, scratch, seconds=10, limit_bytes=4 << 30, target_cpu="native", options=(), narrow=False):
        self.engine = engine.Engine(binary, seconds, limit_bytes, scratch)
        self.crowded = None  # an engine with more workers, made when first asked for
        self.more_workers = lambda: engine.Engine(binary, seconds, limit_bytes, scratch, TESSERA_WORKERS="5")
        self.scratch, self.options = scratch, options
        self.narrow = narrow  # programs of narrow floats that are rounded
        target = os.environ.get("TESSERA_COMPILE_FOR")  # as of numerics/command_line.py
        self.target = f"--target={target}" if target else f"--target-cpu={target_cpu}"
        self.is_skipped = False
        self.counts = collections.Counter()  # of what modes did
        self.seconds = {"compile": 0.0, "run": 0.0}

    def close(self):
        self.engine.close()
        if self.crowded:
            self.crowded.close()

    def check(self, program, placement, thorough=False, mode=Plain()):
        """None, or what is wrong. `thorough`: verified after each pass, and run again by other workers."""
        return self.check_text(Printer(program, placement).text(), program, thorough, mode)

    def check_text(self, text, program, thorough=False, mode=Plain()):
        self.path("p.mlir").write_text(text)
        write_npz(self.path("in.npz"), {f"in{i}": v.data.astype(v.element.own).astype(v.element.passed) for i, v in enumerate(program.arguments)})
        return mode.check(self, program, thorough)

    def path(self, name):
        return self.scratch / name

    def compile(self, source, name, thorough, *options):
        """The program NAME.tsr and the report NAME.json."""
        wrong = self.tessera("compile", source, "-o", f"{name}.tsr", self.target, f"--report={name}.json", *options, *self.options,
                             *["--verify-each"] * thorough)
        self.is_skipped = bool(wrong) and f"for {self.target} yet" in wrong  # docs/limits.md
        self.counts[f"not {self.target}"] += self.is_skipped
        return None if self.is_skipped else wrong

    def compile_to(self, phase, source, name):
        """The module as it is after a phase."""
        return self.tessera("compile", source, "-o", name, self.target, f"--stop-after={phase}")

    def tessera(self, *line):
        """A command line in the checker's folder."""
        return self.command(self.engine, "compile", *line)

    def report(self, name):
        return json.loads(self.path(f"{name}.json").read_text())

    def counted(self, name):
        """The bytes of a device that the last run counted."""
        return self.report(f"{name}-run")["peak_bytes"]

    def command(self, engine, kind, *line):
        answer = engine.run(*line)
        self.seconds[kind] += answer.seconds
        if answer.end == "ok":
            return None
        if answer.end == "error":
            message = next(line for line in answer.messages.splitlines() if re.search(r"(^|: )error: ", line))
            if kind == "compile" and any(re.search(pattern, message) for pattern in REFUSED):
                return None
            message = re.sub(r"\S*p\.mlir:", "", message)
            return f"{kind} refuses: {message[:300]}"
        return f"{kind}: {answer.end}"

    def cells(self):
        """What the last program exercises, as tessera-fuzz has it (test/tools/fuzz/Commands.h)."""
        return [line for line in self.engine.run("cells", self.scratch / "p.mlir").messages.splitlines() if line.startswith(("stablehlo.", "sdy.", "chlo."))]

    def run(self, program, name, thorough):
        if self.is_skipped:
            return None
        wrong = self.run_once(program, name, f"{name}.npz", self.engine)
        if wrong or not thorough:
            return wrong
        self.crowded = self.crowded or self.more_workers()
        wrong = self.run_once(program, name, "again.npz", self.crowded)
        bits = lambda file: {key: array.tobytes() for key, array in read_npz(self.path(file)).items()}
        if not wrong and bits(f"{name}.npz") != bits("again.npz"):
            wrong = "wrong: another run, by five workers, gives other bits"
        return wrong

    def adds_parts(self, program, name):
        """Whether devices add up parts of sums, or of running sums, each of which is rounded to the sum's type as it travels."""
        sites = self.report(name)["collectives"]
        return any("reduce" in site["kind"] for site in sites) or bool(sites) and any(is_running(op) for op in program.all_ops())

    def run_once(self, program, name, out, engine):
        if wrong := self.command(engine, "run", "run", f"{name}.tsr", "--inputs=in.npz", f"--outputs={out}", f"--report={name}-run.json"):
            return wrong
        arrays = read_npz(self.path(out))
        for i, value in enumerate(program.results):
            if f"out{i}" not in arrays:
                return f"wrong: no out{i}"
            if differs := difference(value, arrays[f"out{i}"]):
                if self.narrow and self.adds_parts(program, name):
                    self.counts["not judged"] += 1
                    return None
                return f"wrong: out{i} {value.type}: {differs}"
        if any(op.name == "stablehlo.case" for op in program.all_ops()):
            return None  # the compiler's figures are those of the more expensive branch
        return figures_differ(self.report(name), self.report(f"{name}-run"))


def is_running(op):
    """Whether an element of its result is of all that is before it, or behind."""
    return op.name == "stablehlo.reduce_window" and max(op.results[0].shape, default=0) > 1 and "add" in str(op.regions[0]) and op.results[0].shape == op.operands[0].shape


def figures_differ(compiled, ran):
    """None, or which of the compiler's figures the runtime did not find."""
    sites = compiled["collectives"]
    if any(site["trips"] == "unknown" for site in sites):
        return None
    predicted = {key: sum(site[key] for site in sites) for key in ("count", "bytes")}
    if any(predicted[key] != ran["collectives"][key] for key in predicted):
        return f"figures: the compiler says {predicted}, the runtime counted {ran['collectives']}"
    memory = sum(compiled["memory"].values())
    if memory != ran["peak_bytes"]:
        return f"figures: the compiler says {memory} bytes of memory, the runtime counted {ran['peak_bytes']}"
    return None


def write_npz(path, arrays):
    """Stored, not deflated; numpy's own writer takes a millisecond an array."""
    body, table = b"", b""
    for name, array in arrays.items():
        header = f"{{'descr': '{array.dtype.str}', 'fortran_order': False, 'shape': {array.shape!r}, }}"
        header += " " * (-(len(header) + 11) % 64) + "\n"
        data = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + np.ascontiguousarray(array).tobytes()
        file = f"{name}.npy".encode()
        fields = struct.pack("<HHHHHIIIHH", 20, 0, 0, 0, 33, zlib.crc32(data), len(data), len(data), len(file), 0)
        table += b"PK\x01\x02" + struct.pack("<H", 20) + fields + struct.pack("<HHHII", 0, 0, 0, 0, len(body)) + file
        body += b"PK\x03\x04" + fields + file + data
    end = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, len(arrays), len(arrays), len(table), len(body), 0)
    path.write_bytes(body + table + end)


def read_npz(path):
    with np.load(path) as archive:
        return {name: archive[name] for name in archive.files}
