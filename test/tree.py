"""What must hold of the tree itself: each pass and each phase has a lit test of its name, links in
documentation lead somewhere, file names say what is inside."""
import ast
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def tracked(*patterns):
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", *patterns], capture_output=True, text=True, check=True)
    return [ROOT / line for line in listed.stdout.splitlines()]


def passes_without_test():
    for td in tracked("passes/**/Passes.td"):
        phase = td.parent.name
        for name, summary in re.findall(r'Pass<"tessera-([\w-]+)".*?(?:summary = "(.*?)"|(?=\ndef|\Z))', td.read_text(), re.S):
            file = "".join(word.capitalize() for word in name.split("-")) + ".cpp"
            source = next(td.parent.rglob(file), None)
            if not source:
                yield f"{td.relative_to(ROOT)}: pass tessera-{name} has no source {file} of its own"
                continue
            directory = ROOT / "test" / source.parent.relative_to(ROOT)
            tests = [directory / f"{name}.mlir", directory / f"{name.removeprefix(phase + '-')}.mlir"]
            if not any(f"--tessera-{name}" in t.read_text() for t in tests if t.exists()):
                yield f"{source.relative_to(ROOT)}: pass tessera-{name} has no test {tests[0].relative_to(ROOT)} that runs it"
            if len(summary) < 20:
                yield f"{td.relative_to(ROOT)}: pass tessera-{name} has no summary that a stranger understands"
            definition = re.search(rf'"tessera-{name}".*?\n}}\n', td.read_text(), re.S).group()
            if not re.search(r"let description = \[\{.*?```.*?\}\]", definition, re.S):
                yield f"{td.relative_to(ROOT)}: pass tessera-{name} has no description that shows what it does"


def pipelines_without_test():
    for source in tracked("passes/**/*.cpp", "compiler/*.cpp"):
        for name in re.findall(r'PassPipelineRegistration<\w*>[^"]*"tessera-([\w-]+)"', source.read_text()):
            test = next((t for t in tracked("test/passes/*.mlir", "test/passes/**/*.mlir") if t.name == f"{name}.mlir"), None)
            if not test or f"--tessera-{name}" not in test.read_text():
                yield f"{source.relative_to(ROOT)}: pipeline tessera-{name} has no test {name}.mlir that runs it"


def broken_links():
    for page in tracked("*.md"):
        for link in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
            if "://" not in link and not (page.parent / link).exists():
                yield f"{page.relative_to(ROOT)}: link to {link}, which is not there"


def vague_names():
    for path in tracked():
        if re.search(r"%|(^|[/_-])(utils?|helpers?|common|misc)(\.|/)", str(path.relative_to(ROOT)), re.I):
            yield f"{path.relative_to(ROOT)}: the name does not say what is inside"


def machine_paths():
    for path in tracked("*.cpp", "*.h", "*.td", "*.py", "*.mlir", "*.txt", "*.cmake", "*.md", "scripts/*"):
        if path != pathlib.Path(__file__).resolve() and re.search(r"/(home|root|tmp/w)/", path.read_text(errors="replace")):
            yield f"{path.relative_to(ROOT)}: names a directory of somebody's machine"


def results_of_runs():
    for path in tracked():
        if b"\0" in path.read_bytes()[:4096]:
            yield f"{path.relative_to(ROOT)}: is no text; what a program wrote does not belong into the tree"
        elif path.parent == ROOT and path.suffix in (".mlir", ".py", ".log"):
            yield f"{path.relative_to(ROOT)}: lies at the root, where nobody looks for it"


# Folders from the lowest layer up; each may include what stands before it. Folders of one line are beside each other, and may
# include each other as long as there is no cycle.
LAYERS = """
include/tessera
lib/version lib/text lib/command lib/files lib/process lib/target lib/machines lib/links lib/steps lib/mesh lib/cost lib/sharding lib/fusion lib/mends lib/solver lib/plan
dialects
passes
compiler/explanation
compiler/source
compiler
compiler/mends
compiler/explain
compiler/plan compiler/calibrate
compiler/commands
"""
# The runtime stands beside the compiler: of what is outside it sees only these.
RUNTIME_SEES = ("include/tessera", "lib/version", "lib/text", "lib/command", "lib/files", "lib/process", "lib/machines", "lib/links", "lib/steps")
RUNTIME_LAYERS = """
runtime
runtime/array runtime/library runtime/pool
runtime/program
runtime/device runtime/trace
runtime/comm
runtime/execute
runtime/client
runtime/session
runtime/capi runtime/tool
"""


def includes():
    """(file, the file it includes) of all our own, with paths from the root."""
    for path in tracked("*.h", "*.cpp", "*.c", "*.td"):
        file = path.relative_to(ROOT)
        for name in re.findall(r'^\s*#?\s*include "([^"]+)"', path.read_text(), re.M):
            if name.startswith("tessera/"):
                name = f"include/{name}"
            if "/" not in name:
                name = f"{file.parent}/{name}"
            if name.startswith(("include/tessera/", "lib/", "dialects/", "passes/", "compiler/", "runtime/", "tools/")):
                yield file, pathlib.PurePath(name)


def rank(file, layers):
    """(the number of the layer that holds a file, the folder that it is named by); the longest name counts."""
    named = [(folder, number) for number, line in enumerate(layers.split("\n")) for folder in line.split() if str(file).startswith(f"{folder}/")]
    return max(named, key=lambda folder: len(folder[0]), default=(None, None))


def includes_that_point_up():
    for file, included in includes():
        if str(file).startswith("runtime/"):
            (own, here), (other, there) = rank(file, RUNTIME_LAYERS), rank(included, RUNTIME_LAYERS)
            down = other and there <= here if other else str(included).startswith(RUNTIME_SEES)
        else:
            (own, here), (other, there) = rank(file, LAYERS), rank(included, LAYERS)
            if own is None:  # tools, tests and examples stand above all
                continue
            down = other and there <= here
        if not down:
            yield f"{file}: includes {included}, which is not below it (LAYERS in {pathlib.Path(__file__).name})"


def cycles_of_folders():
    folders = {}
    for file, included in includes():
        if file.parent != included.parent and file.parts[0] not in ("test", "examples"):
            folders.setdefault(str(file.parent), {}).setdefault(str(included.parent), file)
    state = {}  # absent: not seen; True: on the way here; False: done

    def walk(folder, way):
        state[folder] = True
        for other in sorted(folders.get(folder, {})):
            if state.get(other):
                circle = way[way.index(other):] + [other]
                yield "folders include each other in a circle: " + " -> ".join(circle) + f" ({folders[folder][other]})"
            elif other not in state:
                yield from walk(other, way + [other])
        state[folder] = False

    for folder in sorted(folders):
        if folder not in state:
            yield from walk(folder, [folder])


# Phases before codegen; what they need of a processor, #tessera.target says.
BEFORE_CODEGEN = ("import", "plan", "stage", "propagate", "reshard", "localize", "communicate", "fuse", "order", "memory")
CPU = re.compile(r"\b(x86|sse|avx|amx|cpu)|Cpu[A-Z]|X86", re.I)


def phases_that_know_a_cpu():
    for file, included in includes():
        if str(file).startswith("passes/codegen/kernel/") and re.match(r"passes/codegen/(?!kernel/)", str(included)):
            yield f"{file}: includes {included}; what is neutral knows no target's code"
    for path in tracked("passes/*.h", "passes/*.cpp", "passes/**/*.h", "passes/**/*.cpp"):
        file = path.relative_to(ROOT)
        if file.parts[1] not in BEFORE_CODEGEN:
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if CPU.search(line.split("//")[0]):
                yield f"{file}:{number}: names a CPU before codegen; #tessera.target says what phases need to know of one"


def marks_spelled_out():
    for path in tracked("*.h", "*.cpp", "*.td"):
        file = path.relative_to(ROOT)
        if str(file).startswith(("dialects/tessera/", "test/")):
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if re.search(r'"tessera\.', line.split("//")[0]):
                yield f"{file}:{number}: spells the name of a mark; dialects/tessera/Marks.h has functions that read and set it"


def places_of_contributing():
    for name in re.findall(r"`([^`\s]+/[^`\s]*)`", (ROOT / "CONTRIBUTING.md").read_text()):
        if not any(ROOT.glob(re.sub(r"<[^>]+>", "*", name).rstrip("/"))):
            yield f"CONTRIBUTING.md: names {name}, which is not there"


def shared_names():
    """Types, templates and inline functions of one name in two files: the linker takes one of them, without a word."""
    found = {}
    for path in tracked("*.h", "*.cpp"):
        file = path.relative_to(ROOT)
        if file.parts[0] in ("test", "examples"):
            continue
        spaces = []
        for line in path.read_text().split("\n"):
            if opened := re.match(r"(?:inline )?namespace ?([\w:]*) ?\{$", line):
                spaces.append(opened[1])
            elif re.match(r"\} *// namespace", line):
                spaces.pop()
            elif "" not in spaces:
                named = re.match(r"(?:template <.*> )?(?:struct|class|union|enum(?: class)?) (\w+\b)(?!::)[^;()]*\{", line)
                named = named or re.match(r"(?:template <.*> |inline |constexpr )[^=;]*?\b(\w+\([^;]*)$", line)
                if named:
                    found.setdefault("::".join([*spaces, named[1]]), set()).add(str(file))
    for name, files in found.items():
        if len(files) > 1:
            yield f"{', '.join(sorted(files))}: each has a {name.split('(')[0]} of its own, which are one after linking"


MOST_LINES = 100  # of a function


def functions(path):
    """(name, first line, number of lines) of the functions of a file; of C++, by the braces that clang-format lines up."""
    text = path.read_text()
    if path.suffix == ".py":
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef):
                yield node.name, node.lineno, node.end_lineno - node.lineno + 1
        return
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        at += 1
        if not lines[at - 1].endswith("{") or re.search(r"\b(namespace|struct|class|enum|union|extern)\b[^()]*\{$", lines[at - 1]):
            continue
        first = at - 1
        while first and lines[first - 1].strip() and not re.search(r"[;{}:]$|^#|^\s*//", lines[first - 1]):
            first -= 1  # the declaration's first line
        head = " ".join(lines[first:at])
        indent = len(lines[first]) - len(lines[first].lstrip())
        end = next((i for i in range(at, len(lines)) if lines[i].startswith(" " * indent + "}")), None)
        if "(" in head and end is not None:
            name = re.search(r"([\w~:]+)\s*\(", head)
            yield name.group(1) if name else "?", first + 1, end - first + 1
            at = end + 1


def functions_too_long():
    for path in tracked("*.cpp", "*.h", "*.c", "*.py"):
        for name, line, length in functions(path):
            if length > MOST_LINES:
                yield f"{path.relative_to(ROOT)}:{line}: {name} has {length} lines, more than {MOST_LINES}"


def main():
    checks = (
        passes_without_test,
        pipelines_without_test,
        broken_links,
        vague_names,
        machine_paths,
        results_of_runs,
        includes_that_point_up,
        cycles_of_folders,
        phases_that_know_a_cpu,
        marks_spelled_out,
        shared_names,
        functions_too_long,
        places_of_contributing,
    )
    found = [line for check in checks for line in check()]
    print("\n".join(found) or "the tree is in order")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
