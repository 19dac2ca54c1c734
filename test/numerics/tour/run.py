"""A tour of JAX's functions: the numbers of each, compiled and run by Tessera, against JAX's own.

  run.py [FAMILY..] [--edges] [--share=I/N] [--only=TEXT] [--table=FILE.md] [--show]
Functions of a family are outputs of one program, so that hundreds take a minute; one that is refused is taken out and named. --edges gives
the elementwise families NaN, infinities, signed zeros and extreme numbers. A result may be 16 times as far from the value in float64 as JAX's.
../command_line.py tells which binaries, and which processor the programs are for.
"""
import argparse
import collections
import os
import sys
import tempfile
import time
import warnings

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import expressions
import harness
import jax
import jax.flatten_util  # noqa: F401
import jax.numpy as jnp
import jax.scipy.special as jsp
import ml_dtypes
import numpy as np
from jax import lax

NAMES = {"jax": jax, "jnp": jnp, "lax": lax, "jsp": jsp}
FAMILIES = expressions.ELEMENTWISE | expressions.WHOLE
BATCH = 24  # expressions in one program
# Where float64 computes something else: other random bits, another number of bits.
NO_WIDER = ("random", "indexing", "movement")


def inputs(edges):
    rng = np.random.default_rng(20)
    real = lambda *shape: rng.normal(size=shape).astype(np.float32)
    x, y = real(5, 8) * 2, real(5, 8) * 2
    i, j = (rng.integers(-50, 50, (5, 8)).astype(np.int32) for _ in "ij")
    k = rng.integers(0, 2**32, (5, 8), np.uint32)
    if edges:
        special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 3e38, -3e38, 1e-30, -1e-30, 1e5, -1e5, 88.0, -104.0], np.float32)
        x.flat[:13], y.flat[:13], y.flat[13:26] = special, np.roll(special, 3), special
        i.flat[:5], j.flat[:5], k.flat[:3] = [2**31 - 1, -2**31, -2**31 + 1, 0, -1], [7, 3, 2**31 - 1, -2**31, 1], [0, 2**32 - 1, 2**31]
    m = real(6, 6)
    return dict(
        x=x, y=y, p=np.abs(real(5, 8)) + np.float32(0.1), u=rng.uniform(-0.95, 0.95, (5, 8)).astype(np.float32),
        v=rng.uniform(-0.95, 0.95, (5, 8)).astype(np.float32), m=m, n=real(6, 6), s=(m @ m.T + 6 * np.eye(6)).astype(np.float32), t=real(3, 4, 5),
        r=real(12), q=np.sort(real(12)), h=real(5, 8).astype(ml_dtypes.bfloat16), i=i, j=j, k=k, l=rng.integers(0, 12, 12).astype(np.int32),
        b=rng.random((5, 8)) < 0.5, c=rng.random((5, 8)) < 0.5, z=(real(5, 8) + 1j * real(5, 8)).astype(np.complex64),
        w=(real(5, 8) + 1j * real(5, 8)).astype(np.complex64), f=real(2, 8, 8, 3), g=real(3, 3, 3, 4))


def program(texts):
    """A function of all inputs: a tuple of results for each expression."""
    code = [compile(text, text, "eval") for text in texts]

    def run(values):
        results = []
        for one in code:
            result = eval(one, NAMES | values | {"key": jax.random.PRNGKey(7)})
            results.append(tuple(a for a in jax.tree.leaves(result)))
        return tuple(results)

    return run


class Refused(Exception):
    pass


def execute(texts, values):
    """The results of each expression by Tessera."""
    function = program(texts)
    lowered = jax.jit(function, keep_unused=True).lower(values)
    shapes = jax.tree.leaves(jax.eval_shape(function, values), is_leaf=lambda x: isinstance(x, tuple) and not any(isinstance(e, tuple) for e in x))
    with tempfile.TemporaryDirectory() as directory:
        wrong, outputs = harness.run_text(lowered.as_text(debug_info=True), values, directory)
    if outputs is None:
        raise Refused(wrong)
    found = iter(outputs)
    return [[next(found) for _ in jax.tree.leaves(jax.eval_shape(program([text]), values))] for text in texts]


def attempts(texts, values):
    """Each expression's results or the error line."""
    if not texts:
        return {}
    try:
        return dict(zip(texts, execute(texts, values)))
    except Refused as refused:
        if len(texts) == 1:
            return {texts[0]: str(refused)}
        half = len(texts) // 2
        return attempts(texts[:half], values) | attempts(texts[half:], values)


def wide(x):
    x = np.asarray(x)
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)


def differ(got, reference, exact):
    """None, or how `got` differs from JAX's `reference`, element by element; `exact` is the float64 value or None."""
    reference = np.asarray(reference)
    if got.shape != reference.shape:
        return f"shape {got.shape}, JAX has {reference.shape}"
    if reference.dtype.kind in "iub":
        wrong = got != reference
    else:
        eps = float(ml_dtypes.finfo(reference.dtype if reference.dtype.kind != "c" else np.float32).eps)
        got, reference = wide(got), wide(reference)
        precise = reference if exact is None or exact.shape != reference.shape else np.where(np.isfinite(reference), wide(exact), reference)
        with np.errstate(all="ignore"):
            finite = np.isfinite(reference) & np.isfinite(precise)
            rms = np.sqrt(np.mean(np.abs(reference[finite & (np.abs(reference) < 1e30)]) ** 2)) if finite.any() else 0.0
            scale = np.abs(reference) + (min(rms, 1.0) if np.isfinite(rms) else 1.0) * 0.1 + 1e-37
            theirs = np.where(finite, np.abs(reference - precise) / scale, 0)
            allowed = 16 * np.maximum(np.maximum(theirs, eps), np.median(theirs) if theirs.size else 0)
            close = np.abs(got - reference) <= allowed * scale + np.where(finite, 15 * np.abs(reference - precise), 0)
            same = (got == reference) | (np.isnan(got) & np.isnan(reference))
        wrong = ~(same | (finite & close))
    if not wrong.any():
        return None
    at = tuple(int(n) for n in np.argwhere(wrong)[0])
    return f"{wrong.sum()} of {wrong.size} elements differ, first {list(at)}: {got[at]}, JAX has {reference[at]}"


def evaluated(texts, values):
    """{expression: JAX's results, or what JAX says of one that it does not take}. Many are compiled at once: a program for each is slow."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = jax.jit(program(texts))(values)
    except Exception as error:
        if len(texts) == 1:
            return {texts[0]: f"JAX: {str(error).splitlines()[0][:120]}"}
        half = len(texts) // 2
        return evaluated(texts[:half], values) | evaluated(texts[half:], values)
    return {text: [np.asarray(a) for a in results] for text, results in zip(texts, found)}


def jax_results(texts, values):
    """{expression: (JAX's results, the same in float64 or Nones)} of those that this JAX can trace."""
    plain, exact = {}, {}
    for first in range(0, len(texts), BATCH):
        batch = texts[first:first + BATCH]
        plain |= evaluated(batch, values)
        with jax.enable_x64(True):
            exact |= evaluated(batch, jax.tree.map(harness.widen, values))
    found = {}
    for text, results in plain.items():
        # Some have no float64 form, or another number of results.
        same = not isinstance(results, str) and not isinstance(exact[text], str) and len(exact[text]) == len(results)
        found[text] = results if isinstance(results, str) else (results, exact[text] if same else [None] * len(results))
    return found


def tour(family, edges, share, only):
    """Yields (expression, verdict, detail)."""
    texts = [text for text in expressions.split(FAMILIES[family]) if not only or only in text]
    texts = texts[share[0]::share[1]]
    values = inputs(edges)
    expected = jax_results(texts, values)
    for text in [t for t in texts if isinstance(expected[t], str)]:
        yield text, "skipped", expected[text]
    texts = [t for t in texts if not isinstance(expected[t], str)]
    found = {}
    for first in range(0, len(texts), BATCH):
        found |= attempts(texts[first:first + BATCH], values)
    for text in texts:
        got = found[text]
        if isinstance(got, str):
            yield text, "refused" if got.startswith("error:") else "crash", got
            continue
        plain, exact = expected[text]
        wrong = [d for d in (differ(g, p, None if family in NO_WIDER else e) for g, p, e in zip(got, plain, exact)) if d]
        yield text, "wrong" if wrong else "ok", wrong[0] if wrong else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("families", nargs="*", choices=[[], *FAMILIES])
    parser.add_argument("--edges", action="store_true")
    parser.add_argument("--share", default="0/1", help="every N-th function from the I-th on")
    parser.add_argument("--only", default="")
    parser.add_argument("--table")
    parser.add_argument("--show", action="store_true")
    arguments = parser.parse_args()
    families = arguments.families or list(expressions.ELEMENTWISE if arguments.edges else FAMILIES)
    share = tuple(map(int, arguments.share.split("/")))
    start, tally, rows = time.time(), collections.Counter(), []
    for family in families:
        for text, verdict, detail in tour(family, arguments.edges, share, arguments.only):
            tally[verdict] += 1
            rows.append((family, text, verdict, detail))
            if verdict != "ok" or arguments.show:
                print(f"{verdict:8s} {family:12s} {text}: {detail[:300]}", flush=True)
    print(f"{dict(tally)} in {time.time() - start:.1f} s")
    if arguments.table:
        with open(arguments.table, "w") as f:
            f.write("| family | function | result | |\n| --- | --- | --- | --- |\n")
            for row in rows:
                f.write("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |\n")
    sys.exit(1 if tally["wrong"] or tally["crash"] or not tally["ok"] else 0)


if __name__ == "__main__":
    main()
