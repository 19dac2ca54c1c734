"""The smallest program that still ends as badly: notes, results and operations are dropped while it does, values made arguments."""
from .meshes import Placement
from .program import Op, Printer, Program, Region


def used(program):
    """The operations that results need, in order, and the arguments."""
    needed = set(program.results)
    kept = []
    def need(op):
        needed.update(op.operands)
        for region in op.regions:
            if isinstance(region, Region):
                needed.update(region.returns)
                for inner in region.ops:
                    need(inner)
    for op in reversed(program.ops):
        if any(v in needed for v in op.results):
            need(op)
            kept.append(op)
    return needed, kept[::-1]


def rebuilt(program, placement, *, results=None, ops=None, arguments=None, donated=None):
    """Another program, with the notes that still have a place."""
    new = Program(arguments or program.arguments, ops if ops is not None else program.ops, results or program.results, mesh=program.mesh)
    needed, new.ops = used(new)
    new.arguments = [v for v in new.arguments if v in needed]
    if not new.results:
        return None
    donations = program.donated if donated is None else donated
    for i, text in donations.items():
        v = program.arguments[i]
        if v not in new.arguments:
            continue
        if "aliasing" in text:
            old = program.results[int(text.split()[2])]
            if old not in new.results:
                continue
            text = f"tf.aliasing_output = {new.results.index(old)} : i32"
        new.donated[new.arguments.index(v)] = text
    if placement is None:
        return new, None
    positions = {op: i for i, op in enumerate(new.all_ops())}
    old_ops = program.all_ops()
    notes = {}
    for key, text in placement.notes.items():
        kind, at, *rest = key
        if kind in ("argument", "constrained"):
            if program.arguments[at] in new.arguments:
                notes[kind, new.arguments.index(program.arguments[at])] = text
        elif kind == "result":
            if program.results[at] in new.results:
                notes[kind, new.results.index(program.results[at])] = text
        elif old_ops[at] in positions:
            notes[(kind, positions[old_ops[at]], *rest)] = text
    return new, Placement(placement.mesh, notes)


def candidates(program, placement):
    if len(program.results) > 1:
        for half in (program.results[: len(program.results) // 2], program.results[len(program.results) // 2 :]):
            yield rebuilt(program, placement, results=half)
        for i in range(len(program.results)):
            yield rebuilt(program, placement, results=program.results[:i] + program.results[i + 1 :])
    # an operation's results become arguments, earliest last
    for op in reversed(program.ops):
        if op.name != "stablehlo.constant":
            yield rebuilt(program, placement, ops=[o for o in program.ops if o is not op], arguments=program.arguments + op.results)
    # an operation is a result by itself
    for op in program.ops:
        for v in op.results:
            if program.results != [v]:
                yield rebuilt(program, placement, results=[v])
    if program.donated:
        yield rebuilt(program, placement, donated={})
        for i in program.donated:
            yield rebuilt(program, placement, donated={k: t for k, t in program.donated.items() if k != i})
    if placement:
        for key in placement.notes:
            yield program, Placement(placement.mesh, {k: t for k, t in placement.notes.items() if k != key})
        for key, text in placement.notes.items():
            for simpler in (text.replace(", ?", "").replace("?", ""), text.split(", unreduced")[0].removesuffix(">") + ">",
                            text.split(", replicated")[0].removesuffix(">") + ">"):
                if simpler != text:
                    yield program, Placement(placement.mesh, {**placement.notes, key: simpler})
        for axis, n in {} if program.mesh else placement.mesh.items():
            if n > 2 and all(f'"{axis}":' not in t for t in placement.notes.values()):
                yield program, Placement({**placement.mesh, axis: 2}, placement.notes)
        unused = [a for a in placement.mesh if not program.mesh and all(f'"{a}"' not in t for t in placement.notes.values())]
        if unused and len(placement.mesh) > 1:
            yield program, Placement({a: n for a, n in placement.mesh.items() if a != unused[0]}, placement.notes)
    # loops and branches give way to a region of theirs
    for at, op in enumerate(program.ops):
        for region in op.regions:
            if isinstance(region, Region) and op.name == "stablehlo.while" and region is op.regions[1]:
                flat = program.ops[:at] + region.ops + program.ops[at + 1 :]
                arguments = program.arguments + region.arguments + op.results
                yield rebuilt(program, placement, ops=flat, arguments=arguments, results=program.results + region.returns)


def shrink(program, placement, is_bad, tries=400):
    changed = True
    while changed and tries > 0:
        changed = False
        for candidate in candidates(program, placement):
            if candidate is None or size(*candidate) >= size(program, placement):
                continue
            tries -= 1
            if tries <= 0:
                break
            if is_bad(*candidate):
                program, placement, changed = *candidate, True
                break
    return program, placement


def size(program, placement):
    """What is to become small."""
    notes = sum(2 + len(t) / 100 for t in placement.notes.values()) if placement else 0
    devices = sum(placement.mesh.values()) / 50 if placement else 0
    return (6 * len(program.all_ops()) + len(program.results) + len(program.donated) + notes + devices, len(program.arguments))
