"""Mutated inputs end in success or in one clear error: no crash, no hang, no memory without bound.

  mutate.py [--count=N] [--seed=S] [--kinds=text,bytecode,program] [--keep=DIR]

Seeds are the IR tests of this tree and the example. text: tokens dropped, doubled, swapped for others; bytecode: bytes of
what `tessera-opt --emit-bytecode` writes; program: bytes of a compiled .tsr, which is then run. Each mutant is a
function of the seed and its number, so that `--seed=S --only=K` makes the K-th again. Prints each bad end and the count
of all; exit code 1 when there was one.
"""
import argparse
import collections
import os
import pathlib
import random
import re
import resource
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("TESSERA_BIN", ROOT / "build" / "bin"))
SECONDS, BYTES = 10, 4 << 30
NUMBERS = ["0", "1", "2", "3", "4", "7", "8", "16", "64", "1000", "-1", "2147483647", "2147483648", "9223372036854775807"]
TYPES = ["f32", "f64", "f16", "bf16", "i1", "i8", "i16", "i32", "i64", "ui8", "ui32", "i4", "f8E4M3FN", "f8E5M2", "index",
         "complex<f32>", "complex<f64>", "!quant.uniform<i8:f32, 0.5>"]
TOKENS = ["0", "-1", "1", "8", "2147483648", "9223372036854775807", "f32", "i32", "bf16", "ui8", "i1", "f8E4M3FN",
          "complex<f32>", "?", "x", "*", "[", "]", "{", "}", "<", ">", "(", ")", "tensor<", "tensor<0xf32>", '"data"',
          "@main", "#sdy.sharding", "dense<", "unit", ":", "->", ",", "%0", "^bb0", '"', "loc(", "0x7FC00000", "1.0e+40"]


def limit():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if not os.environ.get("ASAN_OPTIONS"):  # a sanitizer's shadow takes terabytes of addresses
        resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))


def text_seeds():
    """(entry function, module) of each test."""
    paths = sorted(ROOT.glob("test/**/*.mlir")) + sorted(ROOT.glob("examples/**/train_step.mlir"))
    for path in paths:
        for part in re.split(r"^// -----.*$", path.read_text(), flags=re.M):
            code = "\n".join(line for line in part.splitlines() if not line.lstrip().startswith("//")).strip()
            entry = re.search(r"func\.func (?:public )?@(\w+)", code)
            if entry and len(code) < 20000:
                yield entry[1], code


def mutate_text(rng, text, others):
    for _ in range(rng.choice([1, 1, 1, 2, 4, 8])):
        spans = [m.span() for m in re.finditer(r"[\w.]+|[^\w\s]", text)]
        if not spans:
            return text
        begin, end = rng.choice(spans)
        kind = rng.random()
        old = text[begin:end]
        if kind < 0.7 and re.fullmatch(r"\d+", old):
            new = rng.choice(NUMBERS)
        elif kind < 0.7 and (shape := re.fullmatch(r"((?:\d+x)*)(bf16|[uf]?i?\d+)", old)) and old != shape[1]:
            sizes = shape[1].split("x")[:-1]
            change = rng.random()
            if change < 0.5 and sizes:
                sizes[rng.randrange(len(sizes))] = rng.choice(NUMBERS[:10])
            elif change < 0.6:
                sizes.append(rng.choice(NUMBERS[:6]))
            new = "x".join(sizes + [rng.choice(TYPES) if change > 0.6 else shape[2]])
            if rng.random() < 0.7:  # everywhere: more often a program again
                text = re.sub(rf"\b{old}\b", new, text)
                continue
        elif kind < 0.15:
            new = ""
        elif kind < 0.5:
            new = rng.choice(TOKENS)
        elif kind < 0.75:
            other = rng.choice(spans)
            new = text[slice(*other)]
        elif kind < 0.85:
            new = text[begin:end] * 2
        elif kind < 0.95:
            lines = rng.choice(others).splitlines()
            new = text[begin:end] + "\n" + rng.choice(lines) + "\n"
        else:
            new = text[begin:end]
            text = text[: rng.choice(spans)[0]] if rng.random() < 0.2 else text
        text = text[:begin] + new + text[end:]
    return text


def mutate_bytes(rng, data):
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 4, 16])):
        at = rng.randrange(len(data))
        kind = rng.random()
        if kind < 0.4:
            data[at] ^= 1 << rng.randrange(8)
        elif kind < 0.7:
            data[at] = rng.choice([0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)])
        elif kind < 0.8:
            del data[at : at + rng.choice([1, 2, 8, 64])]
        elif kind < 0.9:
            data[at:at] = data[rng.randrange(len(data)) :][: rng.choice([1, 4, 32])]
        else:
            del data[max(at, 8) :]
        if not data:
            data = bytearray(b"\0")
    return bytes(data)


def run(command):
    """How it ended: 'ok', 'error', or what is bad about it."""
    try:
        done = subprocess.run(command, capture_output=True, timeout=SECONDS, preexec_fn=limit)
    except subprocess.TimeoutExpired:
        return f"no end in {SECONDS} s"
    messages = done.stderr.decode(errors="replace")
    if done.returncode == 0:
        return "ok"
    if done.returncode == 1 and re.search(r"(^|: )error: ", messages, re.M):
        return "error"
    return f"exit code {done.returncode}: {messages.strip()[-400:]}"


class Inputs:
    """Mutants of one kind; `seeds` are made when first asked for."""

    def __init__(self, kind, directory):
        self.kind, self.directory = kind, directory
        self.entries, self.texts = zip(*text_seeds())
        self.binaries = {}

    def binary(self, index):
        if index not in self.binaries:
            source = self.directory / "seed.mlir"
            source.write_text(self.texts[index])
            target = self.directory / "seed.out"
            command = ([BIN / "tessera-opt", source, "--emit-bytecode", "-o", target] if self.kind == "bytecode" else
                       [BIN / "tessera", "compile", source, f"--entry={self.entries[index]}", "-o", target])
            made = run(command) == "ok"
            self.binaries[index] = target.read_bytes() if made else None
        return self.binaries[index]

    def mutant(self, rng):
        """(bytes, command) or None."""
        index = rng.randrange(len(self.texts))
        path = self.directory / f"mutant.{self.kind}"
        out = self.directory / "out"
        if self.kind == "text":
            data = mutate_text(rng, self.texts[index], self.texts).encode()
        else:
            seed = self.binary(index)
            if seed is None:
                return None
            data = mutate_bytes(rng, seed)
        path.write_bytes(data)
        if self.kind == "program":
            return data, [BIN / "tessera", "run", path, f"--outputs={out}.npz"]
        return data, [BIN / "tessera", "compile", path, f"--entry={self.entries[index]}", "-o", out]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int)
    parser.add_argument("--kinds", type=lambda s: s.split(","), default=["text", "bytecode", "program"])
    parser.add_argument("--keep", type=pathlib.Path, help="where the inputs that ended badly are kept")
    options = parser.parse_args()
    ends = collections.Counter()
    bad = 0
    with tempfile.TemporaryDirectory() as scratch:
        inputs = [Inputs(kind, pathlib.Path(scratch)) for kind in options.kinds]
        for number in range(options.count) if options.only is None else [options.only]:
            source = inputs[number % len(inputs)]
            made = source.mutant(random.Random(f"{options.seed}/{number}"))
            if made is None:
                continue
            data, command = made
            end = run(command)
            ends[f"{source.kind}: {end if end in ('ok', 'error') else 'bad'}"] += 1
            if end not in ("ok", "error"):
                bad += 1
                print(f"--seed={options.seed} --only={number} ({source.kind}): {end}", flush=True)
                if options.keep:
                    options.keep.mkdir(parents=True, exist_ok=True)
                    (options.keep / f"{options.seed}-{number}.{source.kind}").write_bytes(data)
    print(f"seed {options.seed}: " + ", ".join(f"{end} {count}" for end, count in sorted(ends.items())))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
