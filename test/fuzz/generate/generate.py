"""A random program from a seed and a number."""
import random

import numpy as np

from . import arithmetic, arranged, contraction, control, elements, idioms, indexed, large, manual, meshes, movement, reduction, special, tiles
from .builder import Builder
from .elements import BF16, C64, F16, F32, F64, I32, INTEGERS
from .program import Program

# what may stand in bodies of loops and branches
SIMPLE = [*movement.FAMILY, *arithmetic.FAMILY,
          *((f, w / 2) for f, w in contraction.FAMILY + reduction.FAMILY + indexed.FAMILY + idioms.FAMILY + arranged.FAMILY)]

# (families with weights); programs have a character, so that rare kinds meet each other
CHARACTERS = [
    (3, [(movement.FAMILY, 1.0), (arithmetic.FAMILY, 0.6), (contraction.FAMILY, 1.2), (reduction.FAMILY, 0.3), (idioms.FAMILY, 1.0), (arranged.FAMILY, 2.5),
         (tiles.FAMILY, 3.0)]),
    (2, [(movement.FAMILY, 1.0), (arithmetic.FAMILY, 0.8), (reduction.FAMILY, 1.2), (idioms.FAMILY, 1.0), (arranged.FAMILY, 2.5)]),
    (2, [(movement.FAMILY, 1.0), (arithmetic.FAMILY, 0.5), (indexed.FAMILY, 2.0), (reduction.FAMILY, 0.4), (contraction.FAMILY, 0.4)]),
    (3, [(movement.FAMILY, 1.0), (arithmetic.FAMILY, 1.0), (contraction.FAMILY, 0.6), (reduction.FAMILY, 0.8), (indexed.FAMILY, 1.0), (idioms.FAMILY, 0.6),
         (arranged.FAMILY, 1.5), (tiles.FAMILY, 1.5)]),
    (2, [(movement.FAMILY, 0.7), (arithmetic.FAMILY, 0.7), (contraction.FAMILY, 0.4), (reduction.FAMILY, 0.5), (indexed.FAMILY, 0.6),
         (control.FAMILY, 8.0)]),
]
ELEMENTS = [(F32, 55), (I32, 14), (BF16, 7), (F64, 7), (F16, 4), (INTEGERS["i8"], 2), (INTEGERS["ui8"], 2), (INTEGERS["i64"], 2),
            (INTEGERS["ui32"], 2), (INTEGERS["i16"], 1), (C64, 4)]
NARROW = [(BF16, 2), (F16, 1)]
# what rounds, more often than others
ROUNDED = [(arithmetic.binary, 20), (contraction.dot_general, 12), (contraction.layer, 3), (reduction.reduce, 6), (reduction.running, 2)]


def draw(rng, weighted):
    return rng.choices([x for x, _ in weighted], [w for _, w in weighted])[0]


def generate(seed, number, narrow=False):
    """(program, rng to place it with). `narrow`: of bf16 or f16, whose results are rounded."""
    elements.rounds_narrow = narrow
    rng = random.Random(f"{seed}/{number}")
    character = draw(rng, [(c, w) for w, c in CHARACTERS])
    rounding = not narrow and rng.random() < 0.12
    element = F32 if rounding and rng.random() < 0.8 else F64 if rounding else draw(rng, NARROW if narrow else ELEMENTS)
    b = Builder(rng, element=element, rounding=rounding, most=rng.choices([300, 2000, 6000, 20000, 80000], [2, 4, 2, 1, 0.3])[0])
    if rng.random() < 0.1 and not rounding:
        b.mesh = rng.choice(meshes.MESHES)
        character = character + [(manual.FAMILY, 2.0)]
    if rng.random() < 0.3 or rounding:
        character = character + [(special.FAMILY, 1.5)]
    families = [(f, w * factor * rng.choice([0.3, 1, 1, 2.5])) for family, factor in character for f, w in family]
    if rounding:
        families.append((arithmetic.unary, 12))
    elif rng.random() < 0.04:
        families += [(f, 4 * w) for f, w in large.FAMILY]
    if narrow:
        families += ROUNDED
    for _ in range(rng.choice([1, 1, 2, 3])):
        least, span = 1, rng.choice([None, None, None, 4, 9][: 3 if narrow else 5])
        b.argument(element, b.shape(least, 4), span)
    count = rng.choice([1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20])
    for _ in range(5 * count):
        if len(b.ops) >= count:
            break
        b.attempt(draw(rng, families))
    return finish(b), rng


def finish(b):
    """What nobody uses is a result, and so are some others."""
    rng = b.rng
    used = set()
    for op in Program([], b.ops, []).all_ops():
        used.update(op.operands)
        for region in op.regions:
            if not isinstance(region, str):
                used.update(region.returns)
    arguments = [v for v in b.arguments if v in used]
    share = rng.choice([0.0, 0.1, 0.3, 0.8])
    made = [v for op in b.ops for v in op.results]
    results = [v for v in made if v not in used or rng.random() < share]
    results = [v for v in results if np.all(np.isfinite(v.data))]
    if rng.random() < 0.1 and arguments:
        results.append(rng.choice(arguments))
    if rng.random() < 0.05 and results:
        results.append(rng.choice(results))
    rng.shuffle(results)
    donated, taken = {}, set()
    if rng.random() < 0.35:
        for i, v in enumerate(arguments):
            fits = [k for k, r in enumerate(results) if r.element is v.element and r.shape == v.shape and k not in taken]
            if fits and rng.random() < 0.6:
                taken.add(fits[0])
                donated[i] = f"tf.aliasing_output = {fits[0]} : i32"
            elif rng.random() < 0.3:
                donated[i] = "jax.buffer_donor = true"
    return Program(arguments, b.ops, results, donated, b.mesh if b.has_manual and any(op.name == "sdy.manual_computation" for op in b.ops) else None)
