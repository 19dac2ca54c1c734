"""C++ and C are formatted as .clang-format says: each file that is not, with its first line that differs."""
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SKIPPED = 77


def main():
    formatter = shutil.which("clang-format-22")
    if not formatter:
        print("clang-format-22 is not installed")
        sys.exit(SKIPPED)
    files = subprocess.run(["git", "-C", ROOT, "ls-files", "*.cpp", "*.h", "*.c"], capture_output=True, text=True, check=True).stdout.split()
    run = subprocess.run([formatter, "--dry-run", "--ferror-limit=1", *files], cwd=ROOT, capture_output=True, text=True)
    wrong = [line for line in run.stderr.splitlines() if "-Wclang-format-violations" in line]
    print("\n".join(wrong + [f"mend them by: {formatter} -i FILE"] if wrong else [f"{len(files)} files are formatted"]))
    sys.exit(bool(wrong) or run.returncode)


if __name__ == "__main__":
    main()
