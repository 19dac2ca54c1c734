"""Ways to damage an input: each takes a random.Random and what is to be damaged, and returns the mutant."""
import re

NUMBERS = ["0", "1", "2", "3", "4", "7", "8", "16", "64", "1000", "-1", "2147483647", "2147483648", "9223372036854775807"]
TYPES = ["f32", "f64", "f16", "bf16", "i1", "i8", "i16", "i32", "i64", "ui8", "ui32", "i4", "f8E4M3FN", "f8E5M2", "index",
         "complex<f32>", "complex<f64>", "!quant.uniform<i8:f32, 0.5>", "f4E2M1FN", "ui2", "f8E8M0FNU", "none", "i3"]
TOKENS = ["0", "-1", "1", "8", "2147483648", "9223372036854775807", "f32", "i32", "bf16", "ui8", "i1", "f8E4M3FN",
          "complex<f32>", "?", "x", "*", "[", "]", "{", "}", "<", ">", "(", ")", "tensor<", "tensor<0xf32>", '"data"',
          "@main", "#sdy.sharding", "dense<", "unit", ":", "->", ",", "%0", "^bb0", '"', "loc(", "0x7FC00000", "1.0e+40",
          "tuple<tensor<f32>>", "!stablehlo.token", "tensor<?xf32>", "tensor<*xf32>", "memref<4xf32>", "array<i64: 0>",
          "array<i64>", "none", "true", "dense<0>", "dense<[]>", "sparse<", "[]", "-2147483649", "vector<4xf32>"]
TOKEN = re.compile(r"[\w.]+|[^\w\s]")


def token_at(rng, text):
    """The span of a random token."""
    for _ in range(8):
        at = rng.randrange(len(text))
        begin = at
        while begin > 0 and at - begin < 80 and re.match(r"[\w.]", text[begin - 1]) and re.match(r"[\w.]", text[at]):
            begin -= 1
        if found := TOKEN.match(text, begin):
            return found.span()
    return 0, len(text)


def line_at(rng, text):
    """The span of a random line, its end included."""
    at = rng.randrange(len(text))
    end = text.find("\n", at)
    return text.rfind("\n", 0, at) + 1, len(text) if end < 0 else end + 1


def mutate_shape(rng, old, new_sizes=NUMBERS[:10]):
    """A part of a type such as 8x128xf32, with another size, rank or element type."""
    sizes = re.fullmatch(r"((?:\d+x)*)(bf16|[uf]?i?\d+)", old)
    element = sizes[2]
    sizes = sizes[1].split("x")[:-1]
    change = rng.random()
    if change < 0.5 and sizes:
        sizes[rng.randrange(len(sizes))] = rng.choice(NUMBERS if rng.random() < 0.1 else new_sizes)
    elif change < 0.6:
        sizes.insert(rng.randint(0, len(sizes)), rng.choice(NUMBERS[:6]))
    elif change < 0.65 and sizes:
        del sizes[rng.randrange(len(sizes))]
    else:
        element = rng.choice(TYPES)
    return "x".join(sizes + [element])


def pick(rng, pattern, text):
    """A random match, or None; looks from a random place on, so that long texts cost no more."""
    at = rng.randrange(len(text))
    return pattern.search(text, at) or pattern.search(text)


OPERAND, OPERATION = re.compile(r"%[\w#]+"), re.compile(r"\b(stablehlo|chlo|sdy)\.\w+")
NUMBER, SHAPED = re.compile(r"(?<![\w%@#.\"])-?\d+\b(?!x)"), re.compile(r"(?<=tensor<)(?:\d+x)+(?=\w)|(?<=tensor<)\w+(?=>)")
WORD = re.compile(r"(?<=[ =\[{,])[a-zA-Z_]\w*\b")


def mutate_meaning(rng, text, others):
    """Changes that mostly leave text which parses: other sizes, types, operands, operations, words."""
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        kind = rng.random()
        if kind < 0.3 and (found := pick(rng, NUMBER, text)):
            old = int(found[0])
            new = str(rng.choice([old + 1, old - 1, 2 * old, old // 2, -old, 0, 1, int(rng.choice(NUMBERS))]))
        elif kind < 0.55 and (found := pick(rng, SHAPED, text)):
            old, sizes = found[0], found[0].split("x")
            if not old[0].isdigit():  # an element type
                new = rng.choice(TYPES)
            else:
                at = rng.randrange(len(sizes) - 1)
                n = int(sizes[at])
                change = rng.random()
                sizes[at] = str(rng.choice([n + 1, max(n - 1, 0), 2 * n, 0, 1, n // 2]) if change < 0.9 else rng.choice(NUMBERS))
                if change < 0.1:
                    sizes.insert(at, "1")
                elif change < 0.2:
                    del sizes[at]
                new = "x".join(sizes)
            if rng.random() < 0.8:  # everywhere
                text = text.replace(f"<{old}", f"<{new}")
                continue
        elif kind < 0.65:
            old = rng.choice(re.findall(r"[<x]([bu]?[fi]\d\w*)>", text) or ["f32"])
            text = re.sub(rf"(?<=[<x]){old}(?=[>,])", rng.choice(TYPES), text)
            continue
        elif kind < 0.8 and (found := pick(rng, OPERAND, text)):
            new = pick(rng, OPERAND, text)[0]
        elif kind < 0.88 and (found := pick(rng, OPERATION, text)):
            other = rng.choice(others)
            new = (other and pick(rng, OPERATION, other) or found)[0]
        elif found := pick(rng, WORD, text):
            other = rng.choice(others)
            new = (pick(rng, WORD, text if rng.random() < 0.7 or not other else other) or found)[0]
        else:
            continue
        text = text[: found.start()] + new + text[found.end() :]
    return text


def mutate_text(rng, text, others):
    if text and rng.random() < 0.65:
        return mutate_meaning(rng, text, others)
    for _ in range(rng.choice([1, 1, 1, 2, 4, 8])):
        if not text:
            return text
        kind = rng.random()
        if kind > 0.94:  # whole lines: what they defined or used is gone, or in another order
            begin, end = line_at(rng, text)
            first, last = line_at(rng, text)
            line = text[begin:end]
            text = text[:begin] + (text[first:last] if kind > 0.96 else "") + text[end:]
            if kind > 0.98:
                at = min(first, len(text))
                text = text[:at] + line + text[at:]
            continue
        begin, end = token_at(rng, text)
        old = text[begin:end]
        if kind < 0.7 and re.fullmatch(r"\d+", old):
            new = rng.choice(NUMBERS)
        elif kind < 0.7 and re.fullmatch(r"(?:\d+x)+(bf16|[uf]?i?\d+)|bf16|[uf]?i?\d+", old):
            new = mutate_shape(rng, old)
            if rng.random() < 0.7:  # everywhere: more often a program again
                text = re.sub(rf"\b{old}\b", new, text)
                continue
        elif kind < 0.15:
            new = ""
        elif kind < 0.5:
            new = rng.choice(TOKENS)
        elif kind < 0.75:
            new = text[slice(*token_at(rng, text))]
        elif kind < 0.83:
            new = old * 2
        elif kind < 0.9:
            other = rng.choice(others)
            new = old + "\n" + other[slice(*line_at(rng, other))] if other else old
        else:
            new = old
            text = text[: rng.randrange(len(text))] if rng.random() < 0.2 else text
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
