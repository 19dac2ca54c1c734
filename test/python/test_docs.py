"""The example of docs/python.md runs as it is written, and its table of errors is that of the package."""

import builtins
import pathlib
import re

import tessera

PAGE = (pathlib.Path(__file__).parents[2] / "docs/python.md").read_text()


def test_the_example_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    exec(compile(example, "docs/python.md", "exec"), {})
    assert "all-reduce" in capsys.readouterr().out


def test_the_table_of_errors():
    rows = re.findall(r"^\| `(\w+Error)` \| (\w*) ?\|", PAGE, re.M)
    named = {name for name, _ in rows}
    assert named == {kind.__name__ for kind in tessera.Error.__subclasses__()} - {"UnavailableError"}
    for name, base in rows:
        if base:
            assert issubclass(getattr(tessera, name), vars(builtins)[base])


def test_all_names_are_there_and_documented():
    for name in tessera.__all__:
        assert getattr(tessera, name).__doc__, name
