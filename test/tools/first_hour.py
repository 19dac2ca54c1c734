"""The tasks of docs/first-hour.md, done by what the documentation shows and nothing else.

  first_hour.py [--install | --build=FOLDER] [--only=TASK,..] [--keep=FOLDER] CLONE

A task is a row of the page's table, which names sections. Of these, in order, a listing (python, cpp, cmake, mlir) becomes the file that
the paragraph before it names, and shows something only where that names none; `sh` runs as it stands; `text` is what the commands before
it print: line by line, `..` for anything, numbers with a point to a thousandth. Commands run in a folder of their own, which has what
the clone has, by links; those that install (`scripts/..`, `pip install`) run in the clone, and only with --install: then .venv and build/
come from them. Otherwise what is built is taken, with its Python package as it was laid out, and tasks are left out whose own requirements (MPI,
examples/*/requirements.txt) are not there.
"""
import argparse
import dataclasses
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

LISTINGS = {"python": "py", "cpp": "cpp", "cmake": "txt", "mlir": "mlir"}
INSTALLS = re.compile(r"^(scripts/|.*\bpip install\b)", re.M)
PAGE = "docs/first-hour.md"


@dataclasses.dataclass
class Block:
    """A fenced block: its language, its text, and the paragraph that stands before it."""

    language: str
    text: str
    before: str

    @property
    def file(self):
        """The name that the paragraph gives to a listing."""
        named = re.findall(r"`([\w/-]+\.\w+)`", self.before)
        ending = LISTINGS.get(self.language)
        return next((name for name in reversed(named) if name.endswith(f".{ending}")), None) if ending else None


class Pages:
    """The documentation of a clone."""

    def __init__(self, clone):
        self.clone = clone

    def section(self, page, anchor):
        """The blocks between a heading and the next one."""
        blocks, before, inside, found = [], "", False, False
        lines = iter((self.clone / page).read_text().splitlines())
        for line in lines:
            if line.startswith("```"):
                body = []
                while (inner := next(lines)) != "```":
                    body.append(inner)
                if inside:
                    blocks.append(Block(line[3:].strip(), "\n".join(body) + "\n", before))
            elif line.startswith("#"):
                title = line.lstrip("#").strip()
                inside = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") == anchor
                found |= inside
            elif line.strip():
                before = line
        if not found:
            raise ValueError(f"{page} has no section #{anchor}")
        return blocks

    def tasks(self):
        """By name, the blocks of each."""
        tasks = {}
        for name, cell in re.findall(r"^\| ([^|]+) \| (\[.*) \|$", (self.clone / PAGE).read_text(), re.M):
            links = re.findall(r"\]\(([^#)]+)#([^)]+)\)", cell)
            tasks[name] = [block for page, anchor in links for block in self.section(os.path.normpath(f"docs/{page}"), anchor)]
        return tasks


def same(shown, printed):
    """Whether a line is as the page shows it."""
    words = re.split(r"(\.\.|\d+\.\d+(?!\.))", shown)
    pattern = "".join(".*" if word == ".." else r"(-?\d+\.?\d*)" if at % 2 else re.escape(word) for at, word in enumerate(words))
    found = re.fullmatch(pattern, printed)
    numbers = [float(word) for word in words[1::2] if word != ".."]
    return found is not None and all(math.isclose(float(a), b, rel_tol=1e-3) for a, b in zip(found.groups(), numbers))


def missing(shown, printed):
    """The first line of a page's text that the output has not, or None: all come in this order, one after the other or with `..` between."""
    lines, at, anywhere = printed.splitlines(), 0, True
    for line in shown.splitlines():
        if line == "..":
            anywhere = True
            continue
        reach = range(at, len(lines)) if anywhere else range(at, min(at + 1, len(lines)))
        found = next((i for i in reach if same(line, lines[i])), None)
        if found is None:
            return line
        at, anywhere = found + 1, False
    return None


class Hour:
    def __init__(self, clone, build, folder, install):
        self.clone, self.build, self.folder, self.install = clone, build, folder, install
        opening, = Pages(clone).section(PAGE, "the-first-hour")
        self.opening = opening.text
        self.environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        if not install:
            self.environment |= {"HOME": str(folder), "PYTHONPATH": str(build / "python")}
            self.environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

    def link(self):
        """Gives the folder what the clone has by now."""
        for name, entry in {**{entry.name: entry for entry in self.clone.iterdir()}, "build": self.build}.items():
            if name != ".git" and not os.path.lexists(self.folder / name):
                (self.folder / name).symlink_to(entry)

    def lacks(self, blocks):
        """What a task needs that is not there and will not be installed."""
        if self.install:
            return None
        if any("--comm=mpi" in block.text for block in blocks) and not list(self.build.rglob("libtessera_comm_mpi.so")):
            return "MPI"
        for requirements in {r for block in blocks for r in re.findall(r"-r (\S+)", block.text)}:
            names = re.findall(r"^([\w-]+)==", (self.clone / requirements).read_text(), re.M)
            code = f"from importlib.metadata import version\nfor name in {names}: version(name)"
            if subprocess.run([self.clone / ".venv/bin/python", "-c", code], capture_output=True).returncode:
                return requirements
        return None

    def shell(self, text, where):
        self.link()
        done = subprocess.run(["bash", "-e", "-c", self.opening + text], cwd=where, env=self.environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode, done.stdout

    def carry_out(self, blocks):
        """Nothing, or what went wrong."""
        printed = ""
        for block in blocks:
            if block.language == "sh":
                installs = INSTALLS.search(block.text)
                if installs and not self.install:
                    continue
                code, printed = self.shell(block.text, self.clone if installs else self.folder)
                print("\n".join("    " + line for line in (block.text + printed).splitlines()), flush=True)
                if code:
                    return f"ended with {code}: {block.text.strip().splitlines()[-1]}"
            elif block.language == "text":
                if line := missing(block.text, printed):
                    return f"the page shows what was not printed: {line}"
            elif block.file:
                file = self.folder / block.file
                file.parent.mkdir(exist_ok=True)
                file.unlink(missing_ok=True)  # what is linked is the clone's
                file.write_text(block.text)
        return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--install", action="store_true")
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--keep")
    parser.add_argument("clone", type=pathlib.Path)
    options = parser.parse_args()
    clone, failed = options.clone.resolve(), []
    build = (options.build or clone / "build").resolve()
    tasks = Pages(clone).tasks()
    chosen = options.only.split(",") if options.only else list(tasks)
    if unknown := set(chosen) - set(tasks):
        parser.error(f"no such task: {', '.join(sorted(unknown))}; there are {', '.join(tasks)}")
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(options.keep or scratch).resolve()
        folder.mkdir(exist_ok=True)
        hour = Hour(clone, build, folder, options.install)
        for name in chosen:
            began = time.monotonic()
            lacks = hour.lacks(tasks[name])
            problem = None if lacks else hour.carry_out(tasks[name])
            said = f"left out: {lacks} is not installed" if lacks else problem or "ok"
            print(f"{name:16} {time.monotonic() - began:7.1f} s  {said}", flush=True)
            failed += [name] if problem else []
    if failed:
        sys.exit(f"error: {len(failed)} of {len(chosen)} tasks: {', '.join(failed)}")


if __name__ == "__main__":
    main()
