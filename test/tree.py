"""What must hold of the tree itself: each pass and each phase has a lit test of its name, links in
documentation lead somewhere, file names say what is inside."""
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
        directory = ROOT / "test" / td.parent.relative_to(ROOT)
        phase = td.parent.name
        for name, summary in re.findall(r'Pass<"tessera-([\w-]+)".*?(?:summary = "(.*?)"|(?=\ndef|\Z))', td.read_text(), re.S):
            tests = [directory / f"{name}.mlir", directory / f"{name.removeprefix(phase + '-')}.mlir"]
            if not any(f"--tessera-{name}" in t.read_text() for t in tests if t.exists()):
                yield f"{td.relative_to(ROOT)}: pass tessera-{name} has no test {tests[0].relative_to(ROOT)} that runs it"
            if len(summary) < 20:
                yield f"{td.relative_to(ROOT)}: pass tessera-{name} has no summary that a stranger understands"


def pipelines_without_test():
    for source in tracked("passes/**/*.cpp", "lib/compiler/*.cpp"):
        for name in re.findall(r'PassPipelineRegistration<>[^"]*"tessera-([\w-]+)"', source.read_text()):
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


def main():
    found = [line for check in (passes_without_test, pipelines_without_test, broken_links, vague_names, machine_paths) for line in check()]
    print("\n".join(found) or "the tree is in order")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
