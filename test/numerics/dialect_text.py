"""The dialects' text forms against jaxlib's parser, printer and verifier.

For every case of `dialect_cases.py`, jaxlib's custom form must be read, and both its custom and its generic form printed, character by character.
  dialect_text.py [--opt=tessera-opt] [--only=REGEX]     all cases
  dialect_text.py --mutate=N [--seed=S]                  N mutations of the cases: accepted and refused as by jaxlib, except where KNOWN says why not
"""
import argparse
import json
import os
import random
import re
import subprocess
import sys

import dialect_cases
from jax._src.interpreters import mlir as jax_mlir
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

# Operations and attributes of the specification that this jaxlib does not have: it can't judge them.
NEWER = re.compile(r"reduction_op|stablehlo\.collective_reduce|has_dynamic_root|stablehlo\.collective_broadcast\"\(%arg0, %arg1\)")


def context():
    c = jax_mlir.JaxIrContext()
    c.append_dialect_registry(jax_mlir.upstream_dialects)
    c.enable_multithreading(False)
    c.load_all_available_dialects()
    dialects = jax_mlir.dialects
    dialects.sdy.register_dialect(c)
    dialects.chlo.register_dialect(c)
    dialects.hlo.register_dialect(c)
    # No binding registers the quantized types; reading an artifact loads them.
    empty = ir.Module.parse("module {}", c)
    stablehlo.deserialize_portable_artifact(c, stablehlo.serialize_portable_artifact(empty, "1.9.0"))
    c.allow_unregistered_dialects = True
    return c


def parsed(text, c):
    """The module, or why jaxlib refuses the text."""
    try:
        return ir.Module.parse(text, c), ""
    except (ir.MLIRError, ValueError) as error:
        return None, str(error)


def chunks(opt, modules, *flags):
    """tessera-opt over all modules at once: [output or None], the errors."""
    text = "\n// -----\n".join(modules)
    done = subprocess.run([opt, "-", "--split-input-file", "--allow-unregistered-dialect", *flags], input=text, capture_output=True, text=True)
    if done.returncode < 0:
        raise SystemExit(f"tessera-opt ended by signal {-done.returncode}")
    found = {}
    for piece in done.stdout.split("// -----"):
        name = re.search(r"@case_(\d+)|sym_name = \"case_(\d+)\"", piece)
        if name:
            found[int(name.group(1) or name.group(2))] = piece.strip()
    return found, done.stderr


def first_difference(a, b):
    for x, y in zip(a.splitlines(), b.splitlines()):
        if x != y:
            return f"    jaxlib  {x.strip()}\n    tessera {y.strip()}"
    return f"    {len(a.splitlines())} lines against {len(b.splitlines())}"


def named(text, i):
    return f"module @case_{i} {{\n{text}\n}}"


def round_trip(opt, cases):
    c, texts, bad = context(), {}, []
    for i, (name, text) in cases.items():
        module, error = parsed(named(text, i), c)
        if module is None:
            bad.append(f"{name}: the case is wrong: {error.strip()[:300]}\n{text}")
            continue
        custom, generic = str(module).strip(), module.operation.get_asm(print_generic_op_form=True).strip()
        # The custom form leaves defaults out: what it says is what jaxlib reads from it. Some of its forms it can't read.
        again, _ = parsed(custom, c)
        texts[i] = (custom, generic, again.operation.get_asm(print_generic_op_form=True).strip() if again else None)
    # Locations keep a short form from being printed where it would lose them: here there are none.
    for source, want, flags in ((0, 0, ("--strip-debuginfo",)), (0, 2, ("--mlir-print-op-generic",)), (1, 0, ("--strip-debuginfo",)), (1, 1, ("--mlir-print-op-generic",))):
        sources = {i: t for i, t in texts.items() if t[2] or not (source == 0 or want == 0)}
        got, errors = chunks(opt, [t[source] for t in sources.values()], *flags)
        for i, t in sources.items():
            form = f"{cases[i][0]} ({('custom', 'generic')[source]} to {('custom', 'generic', 'generic')[want]})"
            if i not in got:
                lines = [line for line in errors.splitlines() if "error:" in line]
                alone = subprocess.run([opt, "-", "--allow-unregistered-dialect", *flags], input=t[source], capture_output=True, text=True).stderr
                bad.append(f"{form}: refused: {alone.splitlines()[0] if alone else lines[:1]}\n{t[source]}")
            elif got[i] != t[want]:
                bad.append(f"{form}:\n{first_difference(t[want], got[i])}")
    return len(texts), bad


NUMBER = re.compile(r"(?<![\w%@#.])(-?\d+)(?![\w.:(])")
TENSOR = re.compile(r"tensor<[^<>]*(?:<[^<>]*>)?[^<>]*>")


def mutated(text, rng):
    """One number or type of the text changed."""
    kind = rng.random()
    if kind < 0.5:
        spots = [m for m in NUMBER.finditer(text)]
        if not spots:
            return text
        m = rng.choice(spots)
        return text[: m.start()] + str(rng.choice((int(m.group()) + 1, int(m.group()) - 1, 0, -1, 7))) + text[m.end():]
    spots = list(TENSOR.finditer(text))
    if not spots:
        return text
    m = rng.choice(spots)
    old = m.group()
    shape = re.findall(r"(\d+|\?)x", old)
    element = re.sub(r"^tensor<(?:(?:\d+|\?)x)*", "", old)[:-1]
    if kind < 0.75 and shape:
        shape[rng.randrange(len(shape))] = str(rng.choice((0, 1, 2, 3, 5, "?")))
    elif kind < 0.85:
        shape = shape[:-1] if rng.random() < 0.5 else shape + ["2"]
    else:
        element = rng.choice(("f32", "i32", "i1", "ui8", "f64", "complex<f32>", "bf16", dialect_cases.QUANT))
    new = dialect_cases.t(element, *shape)
    if rng.random() < 0.5:  # everywhere: the argument, the operation and the return agree
        return text.replace(old, new)
    return text[: m.start()] + new + text[m.end():]


# Where the specification says otherwise than jaxlib's verifier, or jaxlib checks what no constraint says.
KNOWN = ()


def judged(texts, c):
    """For each text, "" when jaxlib accepts it, else why not; None where it doesn't survive the question."""
    verdict = []
    while len(verdict) < len(texts):
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(read)
            with os.fdopen(write, "w") as out:
                for text in texts[len(verdict):]:
                    module, error = parsed(text, c)
                    out.write(json.dumps("" if module else error or "refused") + "\n")
                    out.flush()
            os._exit(0)
        os.close(write)
        with os.fdopen(read) as answers:
            verdict += [json.loads(line) for line in answers if line.endswith("\n")]
        os.waitpid(child, 0)
        if len(verdict) < len(texts):
            verdict.append(None)
    return verdict


def verdicts(opt, cases, count, seed):
    rng, c, tried, bad = random.Random(seed), context(), {}, []
    pool = [case for case in cases.values() if not NEWER.search(case[1])]
    for i in range(count):
        name, text = rng.choice(pool)
        tried[i] = (name, mutated(text, rng))
    theirs = judged([named(text, i) for i, (_, text) in tried.items()], c)
    got, _ = chunks(opt, [named(text, i) for i, (_, text) in tried.items()])
    for i, (name, text) in tried.items():
        if theirs[i] is None:
            continue
        accepted = theirs[i] == ""
        if accepted == (i in got):
            continue
        if accepted:
            ours = subprocess.run([opt, "-", "--allow-unregistered-dialect"], input=named(text, i), capture_output=True, text=True).stderr
            why = next((line for line in ours.splitlines() if "error:" in line), "")
        else:
            why = theirs[i].strip().replace("\n", " ")
        if any(op == name and re.search(pattern, why) for op, pattern in KNOWN):
            continue
        bad.append(f"{name}: {'jaxlib accepts, tessera' if accepted else 'tessera accepts, jaxlib'}: {why[:400]}\n{text}")
    return count, bad


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--opt", default=os.path.join(os.environ.get("TESSERA_BIN", "build/bin"), "tessera-opt"))
    parser.add_argument("--only", default="")
    parser.add_argument("--mutate", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    cases = {i: case for i, case in enumerate(dialect_cases.cases()) if re.search(options.only, case[0]) and not NEWER.search(case[1])}
    count, bad = verdicts(options.opt, cases, options.mutate, options.seed) if options.mutate else round_trip(options.opt, cases)
    for failure in bad:
        print(failure)
    names = {name for name, _ in cases.values()}
    print(f"{count} cases of {len(names)} operations, {len(bad)} failures" + (f" (seed {options.seed})" if options.mutate else ""))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
