"""Modules and topologies that are nested deeply, double what they name, or have very many of something.

  deep.py FORM N        prints a form of this size; without a form, their names

A form is text whose length is proportional to N, in which something N deep or 2^N large is hidden. `module` and `topology` draw
random ones for mutate.py: forms for attributes, types and locations around a nest of branches, loops, computations
and calls.
"""
import sys

F32, I1, I32 = "tensor<f32>", "tensor<i1>", "tensor<i32>"
HEAD = f"func.func @main(%a: {F32}) -> {F32}"
RETURN = f"  return %a : {F32}\n}}\n"


def with_attribute(text, before=""):
    return f"{before}{HEAD} attributes {{x = {text}}} {{\n{RETURN}"


def with_type(text, before=""):
    return f"{before}func.func @main(%a: {text}) -> {F32} {{\n  %0 = stablehlo.constant dense<1.0> : {F32}\n  return %0 : {F32}\n}}\n"


def with_location(text, before=""):
    return f"{before}{HEAD} {{\n  %0 = stablehlo.add %a, %a : {F32} loc({text})\n  return %0 : {F32} loc({text})\n}}\n"


def around(opening, middle, closing, n):
    return opening * n + middle + closing * n


def listed(n, text, joint=", "):
    return joint.join(text.replace("$", str(i)) for i in range(n))


def chain(prefix, first, following, n):
    """Aliases, in each of which $ is the one before."""
    return f"{prefix}0 = {first}\n" + "".join(f"{prefix}{i + 1} = {following.replace('$', prefix + str(i))}\n" for i in range(n))


ATTRIBUTES = {
    "attributes": lambda n: with_attribute(around("[", "1", "]", n)),
    "dictionaries": lambda n: with_attribute(around("{a = ", "1", "}", n)),
    "affine-brackets": lambda n: with_attribute(f"affine_map<(d0) -> ({around('(', 'd0', ')', n)})>"),
    "affine-signs": lambda n: with_attribute(f"affine_map<(d0) -> ({'-' * n}d0)>"),
    "affine-sums": lambda n: with_attribute(f"affine_map<(d0, d1) -> (d0{' floordiv 3 + d1 * 5' * n})>"),
    "affine-set": lambda n: with_attribute(f"affine_set<(d0) : ({around('(', 'd0', ')', n)} >= 0)>"),
    "unknown-dialect": lambda n: with_attribute(f"#foo.bar<{around('[', '1', ']', n)}>"),
    "shardings": lambda n: with_attribute("#sdy.sharding<@mesh, [" + around("{", "", "}", n) + "]>"),
    "strings": lambda n: with_attribute('"' + "[(<{\\\\" * n + '"') + "// " + "[" * n + "\n",
    "alias-chain": lambda n: with_attribute(f"#a{n}", chain("#a", "1", "[$]", n)),
    "alias-doubling": lambda n: with_attribute(f"#a{n}", chain("#a", "1", "[$, $]", n)),
    "alias-dictionary": lambda n: with_attribute(f"#a{n}", chain("#a", "1", "{b = $, c = [$]}", n)),
}
TYPES = {
    "tensors": lambda n: with_type(around("tensor<", "f32", ">", n)),
    "complex": lambda n: with_type(around("complex<", "f32", ">", n)),
    "tuples": lambda n: with_type(around("tuple<", F32, ">", n)),
    "function-types": lambda n: with_type(around("(", F32, ") -> ()", n)),
    "type-chain": lambda n: with_type(f"!a{n}", chain("!a", F32, "tuple<$>", n)),
    "type-doubling": lambda n: with_type(f"!a{n}", chain("!a", F32, "tuple<$, $>", n)),
}
LOCATIONS = {
    "locations": lambda n: with_location(around('callsite("f" at ', '"a.py":1:2', ")", n)),
    "names": lambda n: with_location(around('"f"(', '"a.py":1:2', ")", n)),
    "fused": lambda n: with_location(around("fused[", '"a.py":1:2', "]", n)),
    "location-chain": lambda n: with_location(f"#l{n}", chain("#l", 'loc("a.py":1:2)', 'loc(callsite("f" at $))', n)),
    "location-doubling": lambda n: with_location(f"#l{n}", chain("#l", 'loc("a.py":1:2)', "loc(callsite($ at $))", n)),
    "location-fused": lambda n: with_location(f"#l{n}", chain("#l", 'loc("a.py":1:2)', 'loc(fused<[$]>[$, "f"($)])', n)),
}


def constant(n):
    return f"{HEAD} {{\n  %0 = stablehlo.constant dense<{around('[', '1.0', ']', n)}> : {F32}\n{RETURN}"


def taking(n, argument, types="", body="  return\n", before=""):
    """A function of n arguments."""
    return f"{before}func.func @main({listed(n, argument)}){types} {{\n{body}}}\n"


def results(n):
    """n operations, each of which is a result."""
    types = listed(n, F32)
    body = listed(n, f"  %c$ = stablehlo.constant dense<$.5> : {F32}\n  %s$ = stablehlo.add %a, %c$ : {F32}\n", "")
    return f"func.func @main(%a: {F32}) -> ({types}) {{\n{body}  return {listed(n, '%s$')} : {types}\n}}\n"


def sums(n):
    body = "".join(f"  %s{i} = stablehlo.add %{f's{i - 1}' if i > 1 else 'a0'}, %a{i} : {F32}\n" for i in range(1, n))
    return taking(n, f"%a$: {F32}", f" -> {F32}", f"{body}  return %{f's{n - 1}' if n > 1 else 'a0'} : {F32}\n")


def variadic(op, compared, body, attributes, result):
    """n arrays in one op. Of each pair of elements, `body` makes %r$."""
    def text(n):
        arrays, elements = listed(n, "tensor<9xf32>"), listed(n, F32)
        operands, types, region = listed(n, "%a$"), arrays, f"{listed(n, f'%x$: {F32}')}, {listed(n, f'%y$: {F32}')}"
        if compared:
            region = listed(n, f"%x$: {F32}, %y$: {F32}")
        else:
            operands, types = f"{operands}, {listed(n, '%z')}", f"{arrays}, {elements}"
        made = body if compared else listed(n, body, "")
        returned, of = ("%r0", I1) if compared else (listed(n, "%r$"), elements)
        results = listed(n, result)
        return (f"func.func @main({listed(n, '%a$: tensor<9xf32>')}) -> ({results}) {{\n  %z = stablehlo.constant dense<0.0> : {F32}\n"
                f'  %s:{n} = "stablehlo.{op}"({operands}) <{{{attributes}}}> ({{\n  ^bb0({region}):\n{made}    stablehlo.return {returned} : {of}\n'
                f"  }}) : ({types}) -> ({results})\n  return {listed(n, '%s#$')} : {results}\n}}\n")
    return text


def cases(n):
    blocks = listed(n, f"{{ %s = stablehlo.constant dense<$.5> : {F32}  stablehlo.return %s : {F32} }}")
    return (f'{HEAD} {{\n  %i = stablehlo.convert %a : ({F32}) -> {I32}\n  %0 = "stablehlo.case"(%i) ({blocks}) : ({I32}) -> {F32}\n'
            f"  return %0 : {F32}\n}}\n")


MESH, SDY = 'sdy.mesh @mesh = <["x"=2]>\n', '{sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}'
WIDE = {
    "arguments": lambda n: taking(n, f"%a$: {F32}"),
    "donated": lambda n: taking(n, f"%a$: {F32} {{jax.buffer_donor = true}}", f" -> {F32}", f"  %0 = stablehlo.add %a0, %a0 : {F32}\n  return %0 : {F32}\n"),
    "tuple-arguments": lambda n: taking(n, f"%a$: tuple<{F32}>"),
    "annotated": lambda n: taking(n, f"%a$: tensor<4xf32> {SDY}", before=MESH),
    "gspmd": lambda n: taking(n, '%a$: tensor<4xf32> {mhlo.sharding = "{devices=[2]<=[2]}"}'),
    "sums": sums,
    "results": lambda n: f"func.func @main(%a: {F32}) -> ({listed(n, F32)}) {{\n  return {listed(n, '%a')} : {listed(n, F32)}\n}}\n",
    "results-computed": results,
    "concatenated": lambda n: f"func.func @main(%a: tensor<1xf32>) -> tensor<{n}xf32> {{\n  %0 = stablehlo.concatenate {listed(n, '%a')}, dim = 0 : "
                              f"({listed(n, 'tensor<1xf32>')}) -> tensor<{n}xf32>\n  return %0 : tensor<{n}xf32>\n}}\n",
    "reduced": variadic("reduce", False, f"    %r$ = stablehlo.add %x$, %y$ : {F32}\n", "dimensions = array<i64: 0>", F32),
    "sorted": variadic("sort", True, f"    %r0 = stablehlo.compare LT, %x0, %y0 : ({F32}, {F32}) -> {I1}\n", "dimension = 0 : i64", "tensor<9xf32>"),
    "functions": lambda n: listed(n, f"func.func private @f$(%a: {F32}) -> {F32} {{\n{RETURN}", "") + HEAD + " {\n" + RETURN,
    "numbers": lambda n: with_attribute(f"[{listed(n, '$')}]"),
    "dense": lambda n: f"{HEAD} {{\n  %0 = stablehlo.constant dense<[{listed(n, '$.5')}]> : tensor<{n}xf32>\n{RETURN}",
    "result-numbers": lambda n: with_attribute('"' + "%x#99999999 " * n + '"'),
    "cases": cases,
}


class Nest:
    """One region inside of the other, of the given kinds in turn; `twice` of the calls are made twice."""

    def __init__(self):
        self.functions, self.open, self.levels = [], [f"{HEAD} {{\n"], []
        self.value = "%a"

    def add(self, line):
        self.open[-1] += f"  {line}\n"

    def enter(self, kind, twice=False):
        k, value = len(self.levels), self.value
        self.levels.append((kind, twice))
        self.add(f"%v{k} = stablehlo.sine {value} : {F32}")
        self.value = f"%v{k}"
        if kind == "if":
            self.add(f"%p{k} = stablehlo.compare LT, %v{k}, {value} : ({F32}, {F32}) -> {I1}")
            self.add(f'%r{k} = "stablehlo.if"(%p{k}) ({{')
        elif kind == "else":
            self.add(f"%p{k} = stablehlo.compare LT, %v{k}, {value} : ({F32}, {F32}) -> {I1}")
            self.add(f'%r{k} = "stablehlo.if"(%p{k}) ({{ stablehlo.return %v{k} : {F32} }}, {{')
        elif kind == "case":
            self.add(f"%p{k} = stablehlo.convert %v{k} : ({F32}) -> {I32}")
            self.add(f'%r{k} = "stablehlo.case"(%p{k}) ({{ stablehlo.return %v{k} : {F32} }}, {{')
        elif kind in ("while", "condition"):  # once around; the nest is in the body or in the condition
            self.add(f"%z{k} = stablehlo.constant dense<0> : {I32}\n  %e{k} = stablehlo.constant dense<1> : {I32}\n  %o{k} = stablehlo.constant dense<1> : {I32}")
            self.add(f'%r{k}:2 = "stablehlo.while"(%z{k}, %v{k}) ({{\n^bb0(%i{k}: {I32}, %x{k}: {F32}):')
            self.value = f"%x{k}"
            if kind == "while":
                self.add(f"%q{k} = stablehlo.compare LT, %i{k}, %e{k} : ({I32}, {I32}) -> {I1}\n  stablehlo.return %q{k} : {I1}")
                self.add(f"}}, {{\n^bb0(%j{k}: {I32}, %y{k}: {F32}):\n  %n{k} = stablehlo.add %j{k}, %o{k} : {I32}")
                self.value = f"%y{k}"
        elif kind == "reduce":
            self.add(f"%b{k} = stablehlo.broadcast_in_dim %v{k}, dims = [] : ({F32}) -> tensor<4xf32>")
            self.add(f'%r{k} = "stablehlo.reduce"(%b{k}, %v{k}) <{{dimensions = array<i64: 0>}}> ({{\n^bb0(%x{k}: {F32}, %y{k}: {F32}):')
            self.add(f"%w{k} = stablehlo.add %x{k}, %y{k} : {F32}")
            self.value = f"%w{k}"
        elif kind == "map":
            self.add(f"%b{k} = stablehlo.broadcast_in_dim %v{k}, dims = [] : ({F32}) -> tensor<4xf32>")
            self.add(f'%m{k} = "stablehlo.map"(%b{k}) <{{dimensions = array<i64: 0>}}> ({{\n^bb0(%x{k}: {F32}):')
            self.value = f"%x{k}"
        else:
            self.open.append(f"func.func private @f{k}(%b{k}: {F32}) -> {F32} {{\n")
            self.value = f"%b{k}"

    def text(self):
        result = self.value
        while self.levels:
            kind, twice = self.levels.pop()
            k = len(self.levels)
            if kind == "call":
                self.functions.append(f"{self.open.pop()}  return {result} : {F32}\n}}\n")
                self.add(f"%r{k} = call @f{k}(%v{k}) : ({F32}) -> {F32}")
                if twice:
                    self.add(f"%s{k} = call @f{k}(%r{k}) : ({F32}) -> {F32}")
                result = f"%s{k}" if twice else f"%r{k}"
                continue
            if kind == "while":
                self.add(f"stablehlo.return %n{k}, {result} : {I32}, {F32}\n  }}) : ({I32}, {F32}) -> ({I32}, {F32})")
            elif kind == "condition":
                self.add(f"%t{k} = stablehlo.compare EQ, {result}, {result} : ({F32}, {F32}) -> {I1}\n  %q{k} = stablehlo.compare LT, %i{k}, %e{k} : ({I32}, {I32}) -> {I1}")
                self.add(f"%u{k} = stablehlo.and %t{k}, %q{k} : {I1}\n  stablehlo.return %u{k} : {I1}\n  }}, {{\n^bb0(%j{k}: {I32}, %y{k}: {F32}):")
                self.add(f"%n{k} = stablehlo.add %j{k}, %o{k} : {I32}\n  stablehlo.return %n{k}, %y{k} : {I32}, {F32}\n  }}) : ({I32}, {F32}) -> ({I32}, {F32})")
            elif kind == "if":
                self.add(f"stablehlo.return {result} : {F32}\n  }}, {{ stablehlo.return %v{k} : {F32} }}) : ({I1}) -> {F32}")
            elif kind == "map":
                self.add(f"stablehlo.return {result} : {F32}\n  }}) : (tensor<4xf32>) -> tensor<4xf32>")
                self.add(f"%h{k} = stablehlo.slice %m{k} [0:1] : (tensor<4xf32>) -> tensor<1xf32>\n  %r{k} = stablehlo.reshape %h{k} : (tensor<1xf32>) -> {F32}")
            else:
                types = {"else": I1, "case": I32, "reduce": f"tensor<4xf32>, {F32}"}[kind]
                self.add(f"stablehlo.return {result} : {F32}\n  }}) : ({types}) -> {F32}")
            result = f"%r{k}#1" if kind in ("while", "condition") else f"%r{k}"
        return "".join([f"{self.open.pop()}  return {result} : {F32}\n}}\n"] + self.functions)


def nested(*kinds, twice=False):
    def text(n):
        nest = Nest()
        for i in range(n):
            nest.enter(kinds[i % len(kinds)], twice)
        return nest.text()
    return text


NESTS = {
    "ifs": nested("if"), "elses": nested("else"), "cases-nested": nested("case"), "whiles": nested("while"), "conditions": nested("condition"),
    "reductions": nested("reduce"), "maps": nested("map"), "branches-in-computation": lambda n: nested(*["reduce"] + ["if"] * max(n - 1, 0))(n),
    "calls": nested("call"), "calls-twice": nested("call", twice=True), "calls-and-ifs": nested("call", "if"),
    "calls-and-loops": nested("call", "while", twice=True),
    "modules": lambda n: around("module {\n", f"func.func @f() {{\n  return\n}}\n", "}\n", n),
}
SLOW = {"results-computed": 1000, "concatenated": 2000, "reduced": 1000, "sorted": 1000}  # milliseconds of LLVM for each
FORMS = {**ATTRIBUTES, **TYPES, **LOCATIONS, "constant": constant, **WIDE, **NESTS}


def size(rng, most):
    """Small, large and in between alike."""
    return int(most ** rng.random())


def module(rng, scale=1):
    """A random module: mostly a nest, sometimes a form; sometimes with characters missing, so that what was opened stays open."""
    if rng.random() < 0.5:
        name = rng.choice(sorted(FORMS))
        most = 128 if "doubling" in name else 4000 if name in NESTS else SLOW.get(name, 20000)
        text = FORMS[name](max(size(rng, scale * most), 1))
    else:
        nest, kinds = Nest(), rng.sample(["if", "else", "case", "while", "condition", "reduce", "map", "call"], rng.randint(1, 3))
        twice = rng.choice([0, 0, 0.1, 0.5, 1])
        for _ in range(size(rng, 400)):
            nest.enter(rng.choice(kinds), rng.random() < twice)
        text = nest.text()
        if rng.random() < 0.3:
            ornaments = rng.choice([ATTRIBUTES, LOCATIONS])
            name = rng.choice(sorted(ornaments))
            text = ornaments[name](size(rng, 40 if "doubling" in name else 3000)).replace("@main", "@other") + text
    if rng.random() < 0.1:
        at = rng.randrange(len(text))
        text = text[:at] + text[at + size(rng, len(text)) :]
    return text


def topology(rng):
    n = size(rng, 200000)
    inner = rng.choice(['1', '{"alpha": 1e-6}', '"a"', "[]", "{}", "", "1e999", "-"])
    return rng.choice([
        lambda: around('{"a":', inner, "}", n), lambda: '{"alpha": 1e-6, "axes": ' + around("[", inner, "]", n) + "}",
        lambda: '{"axes": {' + listed(n, '"x$": {"alpha": 1e-6, "beta": 1e9}') + "}}", lambda: '{"axes": ' + around('{"x": ', inner, "}", n) + "}",
        lambda: '{"name": "' + "[{" * n + '"}', lambda: '{"alpha": ' + "1" * n + "}", lambda: '{"' + "\\\\" * n + '": 1}', lambda: "[" * n, lambda: '{"a":' * n,
    ])()


def main():
    if len(sys.argv) != 3:
        print("\n".join(FORMS))
        return
    sys.stdout.write(FORMS[sys.argv[1]](int(sys.argv[2])))


if __name__ == "__main__":
    main()
