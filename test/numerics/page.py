"""The example of a page of docs/: its one program in Python and its one list of commands, carried out as written."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile


def run_page(name, script, look):
    """None, or what is wrong: that a command of docs/`name` fails where its program is `script`, or what `look` says of the directory that it leaves."""
    page = (pathlib.Path(__file__).parents[2] / "docs" / name).read_text()
    (program,), (commands,) = (re.findall(rf"```{kind}\n(.*?)```", page, re.S) for kind in ("python", "sh"))
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory)
        (path / script).write_text(program)
        binaries = [os.path.abspath(os.environ.get("TESSERA_BIN", "build/bin")), os.path.dirname(sys.executable)]
        environment = os.environ | {"PATH": os.pathsep.join(binaries + [os.environ["PATH"]])}
        done = subprocess.run(["sh", "-e", "-c", commands], cwd=path, env=environment, capture_output=True, text=True)
        if done.returncode:
            return f"exit code {done.returncode}: {done.stderr[-500:]}"
        return look(path)
