"""Mutated inputs end in success or in one clear error: no crash, no hang, no memory without bound.

  mutate.py [--count=N] [--seed=S] [--kinds=text,..] [--jobs=N] [--corpus=DIR ..] [--keep=DIR]

Seeds are the IR tests of this tree and the example, or the .mlir files of each --corpus. Each mutant is a function of the
seed and its number, so that `--seed=S --only=K` makes the K-th again. Prints each bad end and the count of all; exit code
1 when there was one. Kinds:

  text        of a module, compiled                 parse      of a module, read and printed as text and bytecode
  bytecode    of a module, compiled                 portable   artifact of a random release, compiled
  program     .tsr, run                             topology   file, for compile and run
  arguments   of both command lines                 execute    text of a module, compiled and run
  explain     text of a module, explained

Program files with right checksums: program_files.py; archives: archives.py.

Of inputs that are made large, not damaged, on request (deep.py):

  deep            modules that are nested, that double or have much of something, compiled, explained, printed or run
  deep-bytecode   such modules in bytecode, whole and damaged
  deep-topology   such topology files
"""
import argparse
import collections
import multiprocessing
import os
import pathlib
import random
import re
import sys
import tempfile

sys.dont_write_bytecode = True
import deep
import engine
import mutations
import seeds
import shrink
import tally

BIN = pathlib.Path(os.environ.get("TESSERA_BIN", seeds.ROOT / "build" / "bin"))
KINDS = ["text", "parse", "bytecode", "portable", "program", "topology", "arguments", "execute", "explain"]
RELEASES = ["0.9.0", "0.14.0", "0.17.0", "1.0.0", "1.5.0", "1.9.0", "1.11.0", "1.13.0", "1.17.0", "current"]
TOPOLOGY = ('{"alpha": 1e-6, "beta": 1e10, "axes": {"data": {"alpha": 1e-5, "beta": 1e9}, "model": {"beta": 1e11}}, "name": "two", '
            '"levels": [{"name": "host", "devices": 4, "directions": 2}, {"name": "pod", "beta": 1e9}], "computing_at_once": 2, '
            '"flops_by_type": {"bf16": 3e12}, "spaces": {"device": {"bytes": 8e10}, "host": {"to_device": 2e10}}}')
DYNAMIC = """func.func @main(%a: tensor<?x4xf32>, %b: tensor<4x?xf32>) -> tensor<?x?xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<?x4xf32>, tensor<4x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
"""
COMPILE = ["--input-shapes=in0:8x4xf32,in1:4x16", "--entry=main", "--target=cpu", "--target-cpu=x86-64-v3", "--target-cpu=help", "--target-cpu=z80", "--stop-after=memory", "--print-after=import",
           "--report=/dev/null", "--verify-each", "--topology=/dev/null"]
RUN = ["--inputs=/dev/null", "--outputs=/dev/null", "--comm=local", "--repeat=2", "--carry=out0:in0,out1:in1", "--report=/dev/null",
       "--trace=/dev/null", "--topology=/dev/null"]


class Mutants:
    """Mutants of all kinds, for one process. Seeds of other forms are made when first asked for."""

    def __init__(self, options, scratch):
        self.options, self.scratch = options, scratch
        self.engine = engine.Engine(BIN / "tessera-fuzz", options.seconds, options.bytes, scratch)
        self.seeds = seeds.texts(options.corpus, options.most_bytes)
        self.others = [text for _, text in self.seeds]
        self.made = {}
        self.index = self.number = 0

    def file(self, name, contents):
        path = self.scratch / name
        path.write_bytes(contents.encode(errors="replace") if isinstance(contents, str) else contents)
        return path

    def seed(self, form, *command):
        """The current seed in another form, or None where it has none."""
        key = (form, self.index)
        if key not in self.made:
            source, target = self.file("seed.mlir", self.seeds[self.index][1]), self.scratch / "seed.out"
            arguments = [{"IN": source, "OUT": target}.get(argument, argument) for argument in command]
            self.made[key] = target.read_bytes() if self.engine.run(*arguments).end == "ok" else None
        return self.made[key]

    def program(self, rng):
        """The .tsr of a seed that compiles, which is then the current one."""
        for _ in range(20):
            self.index = rng.randrange(len(self.seeds))
            entry = self.seeds[self.index][0]
            if data := self.seed("program", "compile", "IN", f"--entry={entry}", "-o", "OUT"):
                return data
        return None

    def mutant(self, rng, kind):
        """(what was mutated, the commands that take a file with it), or None."""
        if kind.startswith("deep"):
            return self.deep(rng, kind)
        self.index = rng.randrange(len(self.seeds))
        if rng.random() < 0.85:
            self.program(rng)
        entry, text = self.seeds[self.index]
        compiled = ["compile", "FILE", f"--entry={entry}", "-o", "/dev/null"]
        if kind == "text":
            return mutations.mutate_text(rng, text, self.others), [compiled]
        if kind == "parse":
            return mutations.mutate_text(rng, text, self.others), [["roundtrip", "FILE"]]
        if kind == "explain":
            return mutations.mutate_text(rng, text, self.others), [["explain", "FILE", f"--entry={entry}", "--html=/dev/null"]]
        if kind == "execute":
            target = self.scratch / "mutant.tsr"
            return mutations.mutate_text(rng, text, self.others), [compiled[:-1] + [target], ["run", target, "--outputs=/dev/null"]]
        if kind in ("bytecode", "portable"):
            release = rng.choice(RELEASES) if kind == "portable" else ""
            data = self.seed(kind + release, kind, "IN", "OUT", *[release] * (kind == "portable"))
            return data and (mutations.mutate_bytes(rng, data), [compiled])
        if kind == "topology":
            text = mutations.mutate_text(rng, TOPOLOGY, [TOPOLOGY])
            runs = [["compile", self.file("seed.mlir", self.seeds[self.index][1]), f"--entry={entry}", "-o", "/dev/null",
                     "--topology=FILE", "--stop-after=order"]]
            if data := self.program(rng):
                runs.append(["run", self.file("seed.tsr", data), "--topology=FILE"])
            return text, runs
        if kind == "arguments":
            return self.arguments(rng)
        data = self.program(rng)
        return data and (mutations.mutate_bytes(rng, data), [["run", "FILE", "--outputs=/dev/null"]])

    def deep(self, rng, kind):
        target = self.scratch / "mutant.tsr"
        compiled = ["compile", "FILE", "-o", target]
        if kind == "deep-topology":
            module, program = self.scratch / "plain.mlir", self.scratch / "plain.tsr"
            if not program.exists():
                self.engine.run("compile", self.file("plain.mlir", deep.with_attribute("1")), "-o", program)
            return deep.topology(rng), rng.choice([[["compile", module, "-o", target, "--topology=FILE"]], [["run", program, "--topology=FILE"]]])
        if kind == "deep-bytecode":
            source, written = self.file("seed.mlir", deep.module(rng, 0.2)), self.scratch / "seed.mlirbc"
            if self.engine.run("bytecode", source, written).end != "ok":
                return None
            data = written.read_bytes()
            return mutations.mutate_bytes(rng, data) if rng.random() < 0.5 else data, [compiled]
        return deep.module(rng), rng.choice([[compiled], [compiled, ["run", target, "--time-limit=3"]], [compiled[:2] + ["-o", "/dev/null", "--stop-after=import"]],
                                             [["explain", "FILE", "--html=/dev/null"]], [["roundtrip", "FILE"]]])

    def arguments(self, rng):
        compiles = rng.random() < 0.6
        line = rng.sample(COMPILE if compiles else RUN, rng.randint(1, 3))
        at = rng.randrange(len(line))
        line[at] = mutations.mutate_text(rng, line[at], [" ".join(COMPILE + RUN)]).replace("\n", "")
        line[at] = re.sub(r"(repeat=\d{3})\d+", r"\1", line[at])  # more is no mistake, but takes long
        if compiles:
            return "\t".join(line), [["compile", self.file("seed.mlir", DYNAMIC), "-o", "/dev/null", *line]]
        data = self.program(rng)
        return data and ("\t".join(line), [["run", self.file("seed.tsr", data), *line]])

    def end(self, kind, data, commands):
        path = self.file("mutant", data)
        answers = []
        for command in commands:
            line = [str(argument).replace("FILE", str(path)) for argument in command]
            answers.append(self.engine.run(*line))
            if answers[-1].end != "ok":
                break
        worst = answers[-1]
        if kind == "execute" and len(answers) == 2 and "no end" in worst.end and "while" in data:
            return answers[0]  # some programs don't end
        if kind == "deep" and len(answers) == 2 and worst.end == "error" and "longer than the time limit" not in worst.messages:
            return worst._replace(end="what was compiled does not run: " + worst.messages.strip()[:100])
        return worst

    def check(self, number):
        """(kind, end), and says and keeps what is bad."""
        kind = self.options.kinds[number % len(self.options.kinds)]
        rng = random.Random(f"{self.options.seed}/{number}")
        made = self.mutant(rng, kind)
        if not made:
            return kind, "none"
        data, commands = made
        answer = self.end(kind, data, commands)
        if answer.end in ("ok", "error"):
            return kind, answer.end
        print(f"--seed={self.options.seed} --only={number} --kinds={','.join(self.options.kinds)} ({kind}): {answer.end}", flush=True)
        if self.options.keep:
            self.keep(f"{self.options.seed}-{number}.{kind}", kind, data, commands, answer)
        return kind, "bad"

    def keep(self, name, kind, data, commands, answer):
        folder = self.options.keep
        folder.mkdir(parents=True, exist_ok=True)
        if self.options.shrink and kind not in ("arguments", "program"):
            is_bad = lambda less: engine.same_kind(self.end(kind, less, commands).end, answer.end)
            data = (shrink.shrink_text if isinstance(data, str) else shrink.shrink_bytes)(data, is_bad)
        (folder / name).write_bytes(data.encode(errors="replace") if isinstance(data, str) else data)
        for extra in ("seed.mlir", "seed.tsr"):
            if any(extra in str(argument) for command in commands for argument in command):
                (folder / f"{name}.{extra}").write_bytes((self.scratch / extra).read_bytes())
        lines = "\n".join(" ".join(map(str, command)) for command in commands)
        (folder / f"{name}.txt").write_text(f"{lines}\n{answer.end}\n{answer.messages[:4000]}\n")


def work(options, job):
    """The mutants of one process: how many of each kind ended how."""
    ends = collections.Counter()
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as scratch:
        mutants = Mutants(options, pathlib.Path(scratch))
        numbers = [options.only] if options.only is not None else range(options.first + job, options.first + options.count, options.jobs)
        for number in numbers:
            ends[mutants.check(number)] += 1
        mutants.engine.close()
    return ends


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first mutant")
    parser.add_argument("--only", type=int, help="number of the only one")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--kinds", type=lambda s: s.split(","), default=KINDS)
    parser.add_argument("--corpus", type=pathlib.Path, action="append", default=[])
    parser.add_argument("--most-bytes", type=int, default=20000, help="of a seed")
    parser.add_argument("--seconds", type=int, default=10, help="of a core, for one mutant")
    parser.add_argument("--bytes", type=int, default=4 << 30, help="of memory, for one mutant; 0: no limit")
    parser.add_argument("--keep", type=pathlib.Path, help="where the inputs that ended badly are kept")
    parser.add_argument("--shrink", action="store_true", help="make them small first")
    options = parser.parse_args()
    if os.environ.get("ASAN_OPTIONS"):  # a sanitizer's shadow takes terabytes of addresses
        options.bytes = 0
    if options.jobs == 1 or options.only is not None:
        options.jobs = 1
        ends = work(options, 0)
    else:
        with multiprocessing.Pool(options.jobs) as pool:
            ends = sum(pool.starmap(work, [(options, job) for job in range(options.jobs)]), collections.Counter())
    bad = tally.summary(options.kinds, ends)
    print(f"seed {options.seed}: {sum(ends.values())} mutants, {bad} bad")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
