"""A random program as data: values, operations, regions; its text as StableHLO; and its interpreter.

Each operation carries its own evaluation as a function of arrays, so that values are known as soon as an operation is made.
"""
import re

import numpy as np

from . import elements


class Value:
    """A tensor of the program, and its elements. `approx`: what f32 arithmetic gives, where `data` is not exact;
    `scale`: the largest of the terms that it was added up from."""

    __slots__ = ("element", "shape", "data", "approx", "scale")

    def __init__(self, element, shape, data, approx=None, scale=0.0):
        self.element, self.shape, self.data, self.approx, self.scale = element, tuple(shape), data, approx, scale

    @property
    def exact(self):
        return self.approx is None

    @property
    def rank(self):
        return len(self.shape)

    @property
    def size(self):
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def type(self):
        return tensor(self.element, self.shape)


def tensor(element, shape):
    return f"tensor<{''.join(f'{n}x' for n in shape)}{element.name}>"


class Region:
    def __init__(self, arguments, ops, returns, terminator="stablehlo.return"):
        self.arguments, self.ops, self.returns, self.terminator = arguments, ops, returns, terminator


class Op:
    """`evaluate` takes the operands' arrays and returns those of the results. `regions`: of type Region, or text. `meets_shardings`: made for that."""

    __slots__ = ("name", "operands", "results", "attributes", "regions", "evaluate", "rounds", "meets_shardings")

    def __init__(self, name, operands, results, attributes, regions, evaluate, rounds=False):
        self.name, self.operands, self.results, self.attributes = name, list(operands), results, attributes
        self.regions, self.evaluate, self.rounds, self.meets_shardings = list(regions), evaluate, rounds, False


def interpret(ops, environment):
    """Evaluates in order; `environment` maps values to arrays and is added to."""
    for op in ops:
        arrays = op.evaluate(*[environment[v] if v in environment else v.data for v in op.operands], **needs(op, environment))
        environment.update(zip(op.results, [elements.rounded(v.element, a) for v, a in zip(op.results, arrays)]))


def needs(op, environment):
    return {"environment": environment} if any(isinstance(r, Region) for r in op.regions) else {}


def run_region(region, arrays, environment):
    inner = dict(environment)
    inner.update(zip(region.arguments, arrays))
    interpret(region.ops, inner)
    return [inner[v] if v in inner else v.data for v in region.returns]


class Program:
    def __init__(self, arguments, ops, results, donated=None, mesh=None):
        self.arguments, self.ops, self.results = arguments, ops, results
        self.mesh = mesh  # of the devices that the program names itself
        self.donated = donated or {}  # argument number -> attribute text

    def all_ops(self, manual=True):
        """In order, those of regions behind the operation; without those of manual computations where `manual` is off."""
        def walk(ops):
            for op in ops:
                yield op
                for region in op.regions:
                    if isinstance(region, Region) and (manual or region.terminator != "sdy.return"):
                        yield from walk(region.ops)
        return list(walk(self.ops))


class Printer:
    """Text of a program, with the notes of a Placement (meshes.py) or of none."""

    def __init__(self, program, placement=None):
        self.program, self.placement = program, placement
        self.names, self.lines, self.count = {}, [], 0
        self.positions = {op: i for i, op in enumerate(program.all_ops())}

    def fresh(self):
        self.count += 1
        return f"%v{self.count}"

    def note(self, *key):
        return self.placement.notes.get(key) if self.placement else None

    def text(self):
        signature, returned = [], []
        for i, value in enumerate(self.program.arguments):
            self.names[value] = f"%arg{i}"
            notes = []
            if sharding := self.note("argument", i):
                notes.append(f"sdy.sharding = #sdy.sharding{sharding}")
            if i in self.program.donated:
                notes.append(self.program.donated[i])
            signature.append(f"%arg{i}: {value.type}" + (f" {{{', '.join(notes)}}}" if notes else ""))
        for i, value in enumerate(self.program.results):
            sharding = self.note("result", i)
            returned.append(value.type + (f" {{sdy.sharding = #sdy.sharding{sharding}}}" if sharding else ""))
        head = self.placement.head() if self.placement else []
        for i, value in enumerate(self.program.arguments):
            self.constrain(value, "constrained", i, "  ")
        self.ops(self.program.ops, "  ")
        types = ", ".join(v.type for v in self.program.results)
        names = ", ".join(self.names[v] for v in self.program.results)
        return "\n".join([*head, f"func.func public @main({', '.join(signature)}) -> ({', '.join(returned)}) {{", *self.lines,
                          f"  return {names} : {types}", "}", ""])

    def constrain(self, value, *key_and_indent):
        *key, indent = key_and_indent
        if note := self.note(*key):
            name = self.fresh()
            if note.startswith("reshard "):
                text = f"sdy.reshard {self.names[value]} {note.removeprefix('reshard ')}"
            elif note.startswith("barrier "):
                text = f"sdy.propagation_barrier {self.names[value]} allowed_direction={note.removeprefix('barrier ')}"
            else:
                text = f"sdy.sharding_constraint {self.names[value]} {note}"
            self.lines.append(f"{indent}{name} = {text} : {value.type}")
            self.names[value] = name

    def ops(self, ops, indent):
        for op in ops:
            at = self.positions[op]
            operands = []
            for i, value in enumerate(op.operands):
                name = self.names[value]
                if sharding := self.note("use", at, i):
                    name = self.fresh()
                    self.lines.append(f"{indent}{name} = sdy.sharding_constraint {self.names[value]} {sharding} : {value.type}")
                operands.append(name)
            results = [self.fresh() for _ in op.results]
            self.names.update(zip(op.results, results))
            attributes = op.attributes
            if manual := self.note("manual", at):
                self.manual(op, operands, results[0], manual, indent)
                continue
            if sharding := self.note("op", at):
                attributes = ", ".join(filter(None, [attributes, f"sdy.sharding = #sdy.sharding_per_value<[{sharding}]>"]))
            line = f'{indent}{", ".join(results)} = "{op.name}"({", ".join(operands)})'
            if op.regions:
                self.lines.append(line + " ({")
                for number, region in enumerate(op.regions):
                    if number:
                        self.lines.append(indent + "}, {")
                    self.region(region, indent + "  ")
                line = indent + "})"
            ins, outs = (", ".join(v.type for v in values) for values in (op.operands, op.results))
            self.lines.append(f"{line} {{{attributes}}} : ({ins}) -> ({outs})")
            for i, value in enumerate(op.results):
                self.constrain(value, "value", at, i, indent)

    def manual(self, op, operands, result, note, indent):
        """An operation on elements as a manual computation in the axes that the note begins with."""
        axes, sharding = note.split(" ", 1)
        inside = list(op.results[0].shape)
        for d, dim in enumerate(re.findall(r"\{(.*?)\}", sharding)[: len(inside)]):
            for axis in re.findall(r'"(\w+)"', dim):
                if f'"{axis}"' in axes:
                    inside[d] //= self.placement.mesh[axis]
        types = [tensor(v.element, inside) for v in (*op.operands, *op.results)]
        names = [self.fresh() for _ in operands]
        inner = self.fresh()
        self.lines += [
            f"{indent}{result} = sdy.manual_computation({', '.join(operands)}) in_shardings=[{', '.join([sharding] * len(operands))}] "
            f"out_shardings=[{sharding}] manual_axes={axes} ({', '.join(f'{n}: {t}' for n, t in zip(names, types))}) {{",
            f'{indent}  {inner} = "{op.name}"({", ".join(names)}) {{{op.attributes}}} : ({", ".join(types[:-1])}) -> ({types[-1]})',
            f"{indent}  sdy.return {inner} : {types[-1]}",
            f"{indent}}} : ({', '.join(v.type for v in op.operands)}) -> {op.results[0].type}"]

    def region(self, region, indent):
        if isinstance(region, str):
            self.lines += [indent + line for line in region.splitlines()]
            return
        for value in region.arguments:
            self.names[value] = self.fresh()
        if region.arguments:
            self.lines.append(f"{indent}^bb0({', '.join(f'{self.names[v]}: {v.type}' for v in region.arguments)}):")
        self.ops(region.ops, indent)
        names, types = (", ".join(texts) for texts in ([self.names[v] for v in region.returns], [v.type for v in region.returns]))
        self.lines.append(f'{indent}"{region.terminator}"({names}) : ({types}) -> ()')
