"""options.py DOCS: holds docs/command-line.md against the commands' own help, which is made from the table of options: in the
section of a command the same options, with the same words for their values, in both directions."""
import pathlib
import re
import subprocess
import sys


def tessera(*arguments):
    return subprocess.run(["tessera", *arguments], capture_output=True, text=True, check=True).stdout


def options_of(command):
    """{option: what stands for its value} of the command's help."""
    rows = re.findall(r"^  (-[-\w]+)(?:\[?[= ]([^\s\]]+)\]?)?(?:  |$)", tessera(command, "--help"), re.M)
    return dict(rows)


def main():
    page = pathlib.Path(sys.argv[1]).read_text().replace("\\|", "|")
    wrong = []
    commands = re.findall(r"^(?:usage:|      ) tessera (\w+)", tessera("--help"), re.M)
    for command in commands:
        section = re.search(rf"^## tessera {command}\n(.*?)(?=^## |\Z)", page, re.M | re.S)
        if not section:
            wrong.append(f"docs/command-line.md has no section of tessera {command}")
            continue
        documented = dict(re.findall(r"^\| `(-[-\w]+)(?:\[?[= ]([^`\]]+)\]?)?` \|", section.group(1), re.M))
        options = options_of(command)
        for option in sorted(documented.keys() | options.keys()):
            if documented.get(option) != options.get(option):
                wrong.append(f"tessera {command} {option}: value {options.get(option)!r} in the table of options, {documented.get(option)!r} in docs")
    print("\n".join(wrong) or "the same options")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
