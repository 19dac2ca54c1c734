"""The package as it is installed: everything that it loads lies in its folder, or is Debian's."""

import os
import pathlib
import subprocess

import pytest
import tessera

FOLDER = os.environ.get("TESSERA_INSTALLED")
pytestmark = pytest.mark.skipif(FOLDER is None, reason="the test of an installation")


def test_nothing_is_a_link():
    package = pathlib.Path(tessera.__file__).parent
    assert package == pathlib.Path(FOLDER) / "tessera"
    assert not [path for path in package.rglob("*") if path.is_symlink()]
    for name in ("py.typed", "_native.pyi", "libtessera_runtime.so.0"):
        assert (package / name).exists()


def test_libraries_are_found_without_the_tree():
    package = pathlib.Path(tessera.__file__).parent
    for library in package.glob("*.so*"):
        listed = subprocess.run(["ldd", library], capture_output=True, text=True, check=True).stdout
        assert "not found" not in listed
        for line in listed.splitlines():
            found = line.partition("=>")[2].split(" (")[0].strip()
            if "tessera" in line.split()[0]:
                assert pathlib.Path(found).resolve().parent == package


def test_the_version_is_the_projects():
    project = pathlib.Path(__file__).parents[2] / "CMakeLists.txt"
    assert f"project(tessera VERSION {tessera.__version__} " in project.read_text()
