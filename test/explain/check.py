"""Holds `tessera explain` to its word: the mistakes of mistakes.py are named by its first entry, whose mend, carried out and compiled, brings
at least 80% of what the program as it should be brings; and nothing is claimed, of these or of the right programs, that compiling does not show.

  check.py [--table=FILE]    with --table: the rows between FILE's markers are those that were measured, or the test fails
  check.py --write=FILE      writes them there
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "numerics"))
import export  # noqa: E402
from mistakes import MISTAKES  # noqa: E402

TESSERA = pathlib.Path(os.environ.get("TESSERA_BIN", HERE.parent.parent / "build/bin")) / "tessera"
MACHINE = [f"--topology={HERE / 'pod.json'}", "--overlap=off"]  # what moves counts whether it could hide or not
BEGIN, END = "<!-- made by test/explain/check.py -->\n", "<!-- end -->\n"
WORTH, CLOSE = 0.8, 0.015  # of what is to be gained; of a step, between what is claimed and what is compiled


def command(*arguments):
    run = subprocess.run([TESSERA, *map(str, arguments)], capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"tessera {' '.join(map(str, arguments))}: {run.stderr}")
    return run.stdout


def seconds(module):
    """What a step is predicted to take, by compile."""
    report = module.with_suffix(".json")
    command("compile", module, "-o", module.with_suffix(".out"), "--stop-after=memory", *MACHINE, f"--report={report}")
    return json.loads(report.read_text())["predicted"]["seconds"]


def explained(module):
    """The first entry, the share of a step that its mend is said to save (0 without), and what the program mended costs."""
    mended = module.with_suffix(".mended.mlir")
    run = subprocess.run([TESSERA, "explain", str(module), *MACHINE, f"--mended={mended}"], capture_output=True, text=True)
    text = run.stdout if run.returncode == 0 else command("explain", module, *MACHINE)
    first = re.search(r"^  #1 .*?(?=^  #2 |^$|\Z)", text, re.S | re.M)
    claim = re.search(r"mend: .*?a step less \((\d+)%\)", first[0], re.S) if first else None
    if not claim:
        return first[0] if first else "", 0, None
    return first[0], int(claim[1]) / 100, seconds(mended)


def check(mistake, wrong, right):
    """What is wrong with explain, in lines; and the row of the table."""
    complaints = []
    entry, claimed, mended = explained(wrong)
    now, ideal = seconds(wrong), seconds(right)
    if now < 1.03 * ideal:
        complaints.append(f"the mistake costs nothing: {now} where {ideal} is right")
    if mended is None or not re.search(mistake.says, entry):
        complaints.append(f"the first entry does not name {mistake.says} with a mend:\n{entry}")
    brought = (now - (mended or now)) / (now - ideal)
    if brought < WORTH:
        complaints.append(f"the mend brings {brought:.0%} of what is to be gained: {now} to {mended}, {ideal} is right\n{entry}")
    if mended and abs((now - mended) / now - claimed) > CLOSE:
        complaints.append(f"{claimed:.0%} are claimed, {(now - mended) / now:.1%} compiled\n{entry}")
    entry_of_right, claimed, mended_right = explained(right)
    if mended_right and abs((ideal - mended_right) / ideal - claimed) > CLOSE:
        complaints.append(f"of the right program {claimed:.0%} are claimed, {(ideal - mended_right) / ideal:.1%} compiled\n{entry_of_right}")
    if claimed >= (now - ideal) / now:
        complaints.append(f"of the right program {claimed:.0%} are claimed, more than of the wrong one\n{entry_of_right}")
    mend = re.search(r"mend: (.*)", entry)
    mend = re.sub(r" at \S+\.py.*?(?=( with| to) [(P]|, the result|$)", "", mend[1]) if mend else ""
    row = f"| {mistake.name} | {now * 1e3:.2f} | {(mended or now) * 1e3:.2f} | {ideal * 1e3:.2f} | {brought:.0%} | {mend.replace('|', chr(92) + '|')} |"
    return complaints, row


def alike(a, b):
    """Rows whose words are the same and whose figures differ by their last digit at most."""
    figures = r"\d+\.\d\d|\d+%"
    if re.sub(figures, "", a) != re.sub(figures, "", b):
        return False
    value = lambda text: float(text.rstrip("%"))
    return all(abs(value(x) - value(y)) <= max(0.02 * abs(value(x)), 0.011 if "." in x else 1) for x, y in zip(re.findall(figures, a), re.findall(figures, b)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", type=pathlib.Path)
    parser.add_argument("--write", type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = []
        for i, mistake in enumerate(MISTAKES):
            files = []
            for wrong in (True, False):
                files.append(pathlib.Path(directory) / f"{i}-{'wrong' if wrong else 'right'}.mlir")
                files[-1].write_text(export.export(lambda mesh: mistake.build(wrong, mesh), mistake.mesh, manual=False))
            jobs.append(pool.submit(check, mistake, *files))
        results = [job.result() for job in jobs]
    for mistake, (complaints, row) in zip(MISTAKES, results):
        print(row)
        for complaint in complaints:
            print(f"{mistake.name}: {complaint}")
    rows = [row for _, row in results]
    failed = any(complaints for complaints, _ in results)
    if page := options.write or options.table:
        text = page.read_text()
        before, rest = text.split(BEGIN)
        table, after = rest.split(END)
        head = "| mistake | ms a step | mended | as it should be | brought | the mend that is named first |\n| --- | --- | --- | --- | --- | --- |\n"
        if options.write:
            page.write_text(before + BEGIN + head + "".join(row + "\n" for row in rows) + END + after)
        else:
            there = table.removeprefix(head).splitlines()
            if len(there) != len(rows) or not all(map(alike, there, rows)):
                print(f"{page} has another table: `{pathlib.Path(__file__).name} --write` writes what was measured")
                failed = True
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
