"""Random meshes, and random shardings of the values of a program."""

MESHES = [{"x": 2, "y": 4}, {"x": 8}, {"x": 2, "y": 2, "z": 2}, {"x": 3, "y": 2}, {"x": 5}, {"x": 7, "y": 2}, {"x": 16}, {"x": 4, "y": 4},
          {"x": 2, "y": 3, "z": 2}, {"x": 2}, {"x": 4}, {"x": 3}, {"x": 2, "y": 2}, {"x": 4, "y": 2}, {"x": 6}, {"x": 2, "y": 1, "z": 3},
          {"x": 4, "y": 3}, {"x": 8, "y": 2}]


ELEMENTWISE = {"add", "subtract", "multiply", "maximum", "minimum", "negate", "abs", "tanh", "compare", "convert", "divide", "remainder", "select"}


class Placement:
    """A mesh and notes: ("argument", i), ("constrained", i): of the entry's arguments; ("result", i); ("op", k): on the k-th operation;
    ("value", k, i): a constraint on its i-th result; ("use", k, i): a constraint on its i-th operand. All are shardings as text;
    ("value", ..) may also begin with `reshard`, or be a propagation barrier: `barrier DIRECTION`;
    ("manual", k), the axes in which the operation is a manual computation before one."""

    def __init__(self, mesh, notes):
        self.mesh, self.notes = mesh, notes

    def head(self):
        return [f"sdy.mesh @m = <[{', '.join(f'{chr(34)}{a}{chr(34)}={n}' for a, n in self.mesh.items())}]>"]


def axis_parts(rng, mesh):
    """(text, size) of the mesh's axes, some cut into sub-axes, in random order. Parts of one axis don't follow each other in a dimension."""
    parts = []
    for axis, size in mesh.items():
        cuts = [k for k in range(2, size) if size % k == 0]
        if cuts and rng.random() < 0.2:
            k = rng.choice(cuts)
            parts += [(f'"{axis}":(1){k}', k), (f'"{axis}":({k}){size // k}', size // k)]
        else:
            parts.append((f'"{axis}"', size))
    rng.shuffle(parts)
    return parts


def base(part):
    return part.split(":")[0]


def sharding(rng, mesh, shape, *, open=0.2, unreduced=0.0, density=0.75, priorities=True, exactly=0.3, parts=None):
    """`parts`: the axes to place, major ones first. `exactly`: how often down to single rows where an axis allows it, so that merged
    dimensions go on with the next."""
    dims, left, replicated = [[] for _ in shape], [], []
    sharded = [1] * len(shape)
    for part, size in parts or axis_parts(rng, mesh):
        where = rng.random()
        candidates = [d for d, n in enumerate(shape) if (n >= sharded[d] * size or rng.random() < 0.06)
                      and not (dims[d] and base(dims[d][-1]) == base(part))]
        if where < density and candidates:
            single = [d for d in candidates if shape[d] == sharded[d] * size]
            d = rng.choice(single if single and rng.random() < exactly else candidates)
            dims[d].append(part)
            sharded[d] *= size
        elif rng.random() < unreduced and base(part) not in map(base, left):
            left.append(part)
        elif rng.random() < 0.08 and base(part) not in map(base, replicated):
            replicated.append(part)
            open = max(open, 0.6)
    texts = []
    for dim in dims:
        is_open = rng.random() < open
        text = "{" + ", ".join(dim + ["?"] * is_open) + "}"
        if dim and priorities and rng.random() < 0.05:
            text += f"p{rng.randrange(3)}"
        texts.append(text)
    in_mesh_order = lambda parts: ", ".join(sorted(parts, key=lambda p: (list(mesh).index(base(p).strip('"')), p)))
    return (f"<@m, [{', '.join(texts)}]" + (f", replicated={{{in_mesh_order(replicated)}}}" if replicated else "") +
            (f", unreduced={{{in_mesh_order(left)}}}" if left else "") + ">")


def manual(rng, mesh, shape):
    """Axes that are manual, and the sharding by which an operation enters and leaves; the others are free. None where none divides."""
    dims, inside, replicated, axes = [[] for _ in shape], list(shape), [], []
    order = list(mesh)
    rng.shuffle(order)
    for axis in order:
        fits = [d for d, n in enumerate(inside) if n % mesh[axis] == 0]
        if rng.random() < 0.6:
            axes.append(axis)
            if fits and rng.random() < 0.7:
                d = rng.choice(fits)
                dims[d].append(f'"{axis}"')
                inside[d] //= mesh[axis]
            elif rng.random() < 0.6:
                replicated.append(axis)
    for axis in order:
        fits = [d for d, n in enumerate(inside) if n >= mesh[axis]]
        if axis not in axes and fits and rng.random() < 0.5:
            dims[rng.choice(fits)].append(f'"{axis}"')
    if not axes:
        return None
    in_order = lambda names: ", ".join(f'"{axis}"' for axis in mesh if axis in names)
    texts = ["{" + ", ".join(dim + ["?"] * (rng.random() < 0.4)) + "}" for dim in dims]
    note = f", replicated={{{in_order(replicated)}}}" if replicated else ""
    return f"{{{in_order(axes)}}}".replace(" ", "") + f" <@m, [{', '.join(texts)}]{note}>"


def is_elementwise(op):
    return (len(op.results) == 1 and op.results[0].shape and not op.regions and op.name.removeprefix("stablehlo.") in ELEMENTWISE and
            all(v.shape == op.results[0].shape for v in op.operands))


def aimed(rng, ops):
    """A few operations that are to meet shardings on purpose: those that say so, and any, each name as likely as another however seldom it is."""
    chosen = []
    for _ in range(rng.choice([0, 1, 2, 2, 4]) if ops else 0):
        name = rng.choice(sorted({op.name for op in ops}))
        chosen.append(rng.choice([op for op in ops if op.name == name]))
    return {*chosen, *(op for op in ops if op.meets_shardings and rng.random() < 0.7)}


def some_mesh(rng, ops):
    """Mostly one with an axis as large as a dimension of what is to meet shardings."""
    sizes = {n for op in ops if op.meets_shardings for v in op.operands for n in v.shape}
    fitting = [mesh for mesh in MESHES if len(mesh) > 1 and sizes & set(mesh.values())]
    return rng.choice(fitting if fitting and rng.random() < 0.7 else MESHES)


def place(rng, program):
    """Random notes on the values of a program."""
    outside = program.all_ops(manual=False)
    mesh = program.mesh or some_mesh(rng, outside)
    notes = {}
    often = rng.choice([0.3, 0.6, 0.9])
    inside = rng.choice([0.05, 0.15, 0.4])
    partial = rng.choice([0.0, 0.0, 0.3, 0.6])
    enclosed = rng.choice([0.0, 0.0, 0.0, 0.15])
    meeting = rng.choice([0.0, 0.0, 0.4]) if all(v.exact for v in program.results) else 0.4  # operations one operand of which is to enter partial
    def random_sharding(value, **options):
        return sharding(rng, mesh, value.shape, **options)
    for i, value in enumerate(program.arguments):
        if rng.random() < often:
            notes["argument", i] = random_sharding(value, open=0.3)
        if rng.random() < inside / 2:
            notes["constrained", i] = random_sharding(value, unreduced=partial)
    for i, value in enumerate(program.results):
        if rng.random() < often / 2:
            notes["result", i] = random_sharding(value)
    targets = aimed(rng, [op for op in outside if op.name != "stablehlo.constant"])
    annotatable = set(outside)
    for k, op in enumerate(program.all_ops()):
        if op not in annotatable:
            continue
        if op in targets:
            aim(rng, mesh, op, k, notes)
            continue
        if rng.random() < inside / 2 and op.name != "sdy.manual_computation":
            alone = len(op.results) == 1 and not op.regions
            notes["op", k] = ", ".join(random_sharding(v, unreduced=partial / 2 if alone else 0.0) for v in op.results)
        if enclosed and is_elementwise(op) and ("op", k) not in notes and rng.random() < enclosed:
            if text := manual(rng, mesh, op.results[0].shape):
                notes["manual", k] = text
        for i, value in enumerate(op.results):
            if rng.random() < inside:
                notes["value", k, i] = random_sharding(value, unreduced=partial)
            elif rng.random() < inside / 8:
                notes["value", k, i] = "reshard " + random_sharding(value, open=0.0, priorities=False)
            elif rng.random() < inside / 16:
                notes["value", k, i] = "barrier " + rng.choice(["NONE", "FORWARD", "BACKWARD"])
        for i, value in enumerate(op.operands):
            if value.shape and rng.random() < inside / 3:
                notes["use", k, i] = random_sharding(value, unreduced=partial / 2)
        if op.operands and rng.random() < meeting:
            i = rng.randrange(len(op.operands))
            notes["use", k, i] = random_sharding(op.operands[i], unreduced=0.8, density=0.5)
    return Placement(mesh, notes)


def aim(rng, mesh, op, k, notes):
    """Operands and results of one operation: sharded by some of the same axes, partial, or whole."""
    parts = axis_parts(rng, mesh)
    some = lambda: [part for part in parts if rng.random() < 0.7] or parts[:1]
    kinds = [lambda: {"density": 0.95, "exactly": 0.7, "parts": some()}, lambda: {"density": 0.35, "unreduced": 1.0}, lambda: {"density": 0.0, "open": 0.0}]
    weights = [1, 0, 0] if op.meets_shardings else rng.choice([[1, 0, 0], [1, 2, 0], [1, 3, 0], [2, 1, 1], [0, 1, 0]])
    draw = lambda value: sharding(rng, mesh, value.shape, **rng.choices(kinds, weights)[0]())
    for i, value in enumerate(op.operands):
        if rng.random() < 0.7:
            notes["use", k, i] = draw(value)
    for i, value in enumerate(op.results):
        if rng.random() < 0.6:
            notes["value", k, i] = draw(value)
