"""Takes all that says how a program is sharded out of its text: what is left is the model, for one device.

    plain_program.py IN.mlir [-o OUT.mlir]

Shardings of arguments, results and values, constraints, groups, barriers and reshards go, Shardy's and GSPMD's, meshes and
the number of partitions with them. A program with manual computations says what each device does, so that there is no such
model: an error.
"""
import argparse
import math
import pathlib
import re
import sys

BRACKETS = {"<": ">", "{": "}", "[": "]", "(": ")"}
# An op that gives back its operand: %result = op %operand ..
SAME_VALUE = re.compile(r'\s*(%[\w$.-]+) = (?:"?(?:sdy\.(?:sharding_constraint|reshard|propagation_barrier)|mhlo\.copy)"?\(?'
                        r'|stablehlo\.custom_call @Sharding\()\s*(%[\w$.-]+(?:#\d+)?)')
DROPPED = re.compile(r'\s*"?sdy\.(?:mesh|sharding_group)"?\b')
MESH = re.compile(r'sdy\.mesh @[\w$.-]+ = <\[([^\]]*)\]')
ATTRIBUTES = ("sdy.sharding", "mhlo.sharding", "mhlo.spmd_parameters_shardings", "mhlo.spmd_output_sharding", "xla.sdy.sharding")


class NotPlain(ValueError):
    pass


def devices(text):
    """How many devices the program is for."""
    sizes = [math.prod(int(size) for size in re.findall(r"=\s*(\d+)", axes)) for axes in MESH.findall(text)]
    partitions = re.search(r"mhlo\.num_partitions = (\d+)", text)
    return max(sizes + ([int(partitions[1])] if partitions else []) + [1])


def end_of_value(text, at):
    """Behind the attribute that begins at `at`: strings and brackets are passed over whole."""
    open_brackets = []
    while at < len(text):
        c = text[at]
        if c == '"':
            at += 1
            while text[at] != '"':
                at += 2 if text[at] == "\\" else 1
        elif c in BRACKETS:
            open_brackets.append(BRACKETS[c])
        elif open_brackets and c == open_brackets[-1] and text[at - 1] != "-":  # not an arrow
            open_brackets.pop()
        elif not open_brackets and c in ",}>)\n":
            return at
        at += 1
    return at


def without_attributes(line):
    for name in ATTRIBUTES:
        pattern = re.compile(r'(?<![\w.])"?' + re.escape(name) + r'"? = ')
        while match := pattern.search(line):
            end = end_of_value(line, match.end())
            before, after = line[: match.start()], line[end:]
            if after.startswith(","):
                after = after[1:].lstrip(" ")
            else:
                before = re.sub(r",\s*$", "", before)
            line = before + after
    return re.sub(r" (?:attributes )?\{\}(?=[,)\s]|$)", "", line)


def without_same_values(lines):
    """Lines without ops that give back their operand; whoever used their results uses the operands."""
    other = {}

    def replaced(name):
        while name in other:
            name = other[name]
        return name

    kept = []
    for line in lines:
        if line.lstrip().startswith(("func.func", '"func.func"')):
            other = {}  # names begin anew
        match = SAME_VALUE.match(line)
        if match and line.lstrip().startswith("%"):
            other[match[1]] = replaced(match[2])
            continue
        if defined := re.match(r"\s*(%[\w$.-]+)(?::\d+)? = ", line):  # a name is free again behind its region
            other.pop(defined[1], None)
        kept.append(re.sub(r"%[\w$.-]+(?:#\d+)?", lambda m: replaced(m[0]), line) if other else line)
    return kept


def plain(text):
    if "sdy.manual_computation" in text or "SPMDFullToShardShape" in text:
        raise NotPlain("has manual computations")
    lines = [line for line in text.splitlines() if not DROPPED.match(line)]
    lines = without_same_values([without_attributes(line) for line in lines])
    text = re.sub(r"mhlo\.num_partitions = \d+", "mhlo.num_partitions = 1", "\n".join(lines) + "\n")
    if left := re.search(r"[^\n]*\b(?:sdy|mhlo\.sharding)\b[^\n]*", text.split("#loc")[0]):
        raise NotPlain(f"is still annotated: {left[0].strip()[:120]}")
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("-o", "--output", type=pathlib.Path)
    arguments = parser.parse_args()
    try:
        text = plain(arguments.program.read_text())
    except NotPlain as wrong:
        sys.exit(f"error: {arguments.program}: {wrong}")
    if arguments.output:
        arguments.output.write_text(text)
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
