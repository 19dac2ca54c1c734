"""Random programs whose values lie on several meshes that cut the devices in unlike ways, compiled and run against StableHLO's interpreter.

  mesh_random.py [--count=16] [--seed=0] [--show]

Meshes have 4 to 12 devices, a fifth of them fewer than others of the program, in any order, and axes of any sizes; shardings take whole axes and
parts of them, and leave some values unreduced, arguments among them. A third of the programs say it in GSPMD's strings, the others have a manual computation on one of the meshes, with free axes. --show prints the programs.
"""
import os, random, sys

import seeded
from shardy_runs import HERE, verify_all


def names(strings):
    return ", ".join(f'"{s}"' for s in strings)


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.devices = self.random.choice([4, 6, 8, 12])
        self.shape = self.random.choice([6, 7, 8, 12, 24]), self.random.choice([6, 8, 10, 12, 24])
        self.type = "tensor<{}x{}xf32>".format(*self.shape)
        self.square = "tensor<{0}x{0}xf32>".format(self.shape[0])

    def chance(self, of):
        return self.random.random() < of

    def sizes(self, devices=None):
        """Numbers that make the number of devices."""
        rest, sizes = devices or self.devices, []
        while rest > 1:
            sizes.append(self.random.choice([k for k in range(2, rest + 1) if rest % k == 0]))
            rest //= sizes[-1]
        return sizes

    def order(self, devices=None):
        ids = list(range(devices or self.devices))
        self.random.shuffle(ids)
        return ids

    def sharding(self, mesh, open=False, unreduced=False):
        axes, dims, left = self.meshes[mesh], [[], []], []
        for index, (name, size) in enumerate(axes):
            parts = [(f'"{name}"', 0)]
            divisors = [k for k in range(2, size) if size % k == 0]
            if divisors and self.chance(0.5):
                k = self.random.choice(divisors)
                parts = [(f'"{name}":(1){k}', 0), (f'"{name}":({k}){size // k}', 1)]
            for part, place in parts:
                where = self.random.randrange(4)
                if where < 2:
                    dims[where].append(part)
                elif where == 2 and unreduced and not (left and left[-1][0] == index):
                    left.append((index, part))
        for dim in dims:  # neighbours that are one axis must be written as one
            self.random.shuffle(dim)
            for i in range(len(dim) - 1, 0, -1):
                if dim[i].split(":")[0] == dim[i - 1].split(":")[0]:
                    del dim[i]
            if open and self.chance(0.4):
                dim.append("?")
        text = f"<@{mesh}, [{', '.join('{' + ', '.join(dim) + '}' for dim in dims)}]"
        return text + (f", unreduced={{{', '.join(part for _, part in left)}}}>" if left else ">")

    def string(self, unreduced=True):
        tiles, kinds, last = [1, 1], [], []
        for size in self.sizes():
            where = self.random.randrange(4)
            if where < 2:
                tiles[where] *= size
            else:
                last.append(size)
                kinds.append("unreduced" if unreduced and where == 2 else "replicated")
        if self.chance(0.3):
            devices = ",".join(map(str, self.order()))
        else:
            shape = self.sizes()
            transposed = list(range(len(shape)))
            self.random.shuffle(transposed)
            devices = f"<=[{','.join(map(str, shape))}]T({','.join(map(str, transposed))})"
        kinds = f" last_tile_dims={{{', '.join(kinds)}}}" if kinds else ""
        return f'mhlo.sharding = "{{devices=[{",".join(map(str, tiles + last))}]{devices}{kinds}}}"'

    def declarations(self):
        fewer = self.random.choice([k for k in range(2, self.devices) if self.devices % k == 0])
        count = {name: fewer if self.chance(0.2) else self.devices for name in "abc"[:self.random.choice([2, 3])]}
        self.meshes = {name: [(f"{name}{i}", size) for i, size in enumerate(self.sizes(count[name]))] for name in count}
        for name, axes in self.meshes.items():
            order = f", device_ids={self.order(count[name])}" if self.chance(0.3) else ""
            yield f"sdy.mesh @{name} = <[{', '.join(f'{names([axis])}={size}' for axis, size in axes)}]{order}>"

    def boundary(self):
        if not self.chance(0.8):
            return ""
        return "{" + (self.string(unreduced=False) if self.strings else f"sdy.sharding = #sdy.sharding{self.sharding(self.mesh())}") + "}"

    def mesh(self):
        return self.random.choice(list(self.meshes))

    def on_op(self):
        if not self.chance(0.5):
            return ""
        return "{" + (self.string() if self.strings else
                      f"sdy.sharding = #sdy.sharding_per_value<[{self.sharding(self.mesh(), unreduced=self.chance(0.3))}]>") + "}"

    def constraint(self, result, value):
        if self.strings:
            return f"  {result} = stablehlo.custom_call @Sharding({value}) {{{self.string()}}} : ({self.type}) -> {self.type}"
        return f"  {result} = sdy.sharding_constraint {value} {self.sharding(self.mesh(), open=True, unreduced=self.chance(0.4))} : {self.type}"

    def manual(self, result, value):
        """Negates in a manual computation: axes of one mesh are manual where they divide, or free."""
        mesh, manual, local, dims = self.mesh(), [], list(self.shape), [[], []]
        for free in (False, True):
            for name, size in self.meshes[mesh]:
                where = self.random.randrange(3)
                if not free and self.chance(0.6):
                    manual.append(name)
                    if where < 2 and local[where] % size == 0:
                        dims[where].append(name)
                        local[where] //= size
                elif free and name not in manual and where < 2:
                    dims[where].append(name)
        sharding = f"<@{mesh}, [{', '.join('{' + names(dim) + '}' for dim in dims)}]>"
        inside = "tensor<{}x{}xf32>".format(*local)
        return [f"  {result} = sdy.manual_computation({value}) in_shardings=[{sharding}] out_shardings=[{sharding}] manual_axes={{{names(manual)}}} (%l: {inside}) {{",
                f"    %m = stablehlo.negate %l : {inside}", f"    sdy.return %m : {inside}", f"  }} : ({self.type}) -> {self.type}"]

    def body(self, annotated):
        one, two, value, first = self.type, self.square, "%0", "%a"
        note = self.on_op if annotated else lambda: ""
        if annotated and self.chance(0.4):
            yield self.constraint("%p", "%a")
            first = "%p"
        yield f"  %0 = stablehlo.add {first}, %b {note()} : {one}"
        if annotated:
            yield self.constraint("%1", "%0")
            value = "%1"
        yield f"  %2 = stablehlo.dot_general {value}, %b, contracting_dims = [1] x [1] {note()} : ({one}, {one}) -> {two}"
        yield f"  %3 = stablehlo.dot_general %2, {value}, contracting_dims = [1] x [0] {note()} : ({two}, {one}) -> {one}"
        if annotated:
            yield self.constraint("%4", "%3")
        yield f"  %5 = stablehlo.tanh {'%4' if annotated else '%3'} : {one}"
        if annotated and not self.strings:
            yield from self.manual("%6", "%5")
        else:
            yield f"  %6 = stablehlo.negate %5 : {one}"
        yield f"  return %6 : {one}"
        yield "}"

    def program(self, name):
        self.strings = self.chance(0.3)
        head = [] if self.strings else list(self.declarations())
        annotated = f"func.func public @main(%a: {self.type} {self.boundary()}, %b: {self.type} {self.boundary()}) -> ({self.type} {self.boundary()}) {{"
        plain = f"func.func public @main(%a: {self.type}, %b: {self.type}) -> {self.type} {{"
        return "\n".join([f"// {name}", *head, annotated, *self.body(True), "// plain:", plain, *self.body(False)]) + "\n"


def main():
    p = seeded.parser(__doc__, 16)
    p.add_argument("--show", action="store_true")
    a = p.parse_args()
    programs = [Generator(seed).program(f"seed {seed}") for seed in range(a.seed, a.seed + a.count)]
    if a.show:
        print("// -----\n".join(programs))
    else:
        sys.exit(verify_all(programs))


if __name__ == "__main__":
    main()
