"""documented.py PAGE: runs what a page of docs/ shows, in an empty folder: its Python block as train.py, then its sh blocks as they stand,
with `tessera` and this Python in the path. Losses must be those that JAX printed."""
import pathlib
import os
import re
import subprocess
import sys
import tempfile


def losses(text):
    return [float(value) for value in re.findall(r"^step \d+: loss (\S+)$", text, re.M)]


def main():
    page, binaries = pathlib.Path(sys.argv[1]).read_text(), os.path.abspath(os.environ["TESSERA_BIN"])
    script, = re.findall(r"^```python\n(.*?)^```", page, re.M | re.S)
    commands = re.findall(r"^```sh\n(.*?)^```", page, re.M | re.S)
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "train.py").write_text(script)
        path = os.pathsep.join([binaries, os.path.dirname(sys.executable), os.environ["PATH"]])
        answers = []
        for block in commands:
            done = subprocess.run(["sh", "-e", "-c", block], cwd=folder, env=os.environ | {"PATH": path}, capture_output=True, text=True)
            print(done.stdout, done.stderr)
            if done.returncode:
                sys.exit(f"ended with {done.returncode}: {block}")
            answers.append(losses(done.stdout))
    first = answers[0]
    assert len(first) == 20, "ten steps of JAX, ten of Tessera"
    for jax, ours in zip(first[:10], first[10:]):
        assert abs(jax - ours) < 1e-3 * jax, (jax, ours)
    assert len(answers[1]) == 3 and answers[1][-1] < first[-1] < first[0], answers


if __name__ == "__main__":
    main()
