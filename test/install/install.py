"""An installation as its users have it: installs a build into a fresh prefix, builds and runs the examples against that with clang
and with g++, through find_package and through pkg-config, moves the prefix, and does it again.

  install.py BUILD
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
COMPILERS = {"clang": ("clang-22", "clang++-22"), "gcc": ("gcc", "g++")}
COMPONENTS = ("runtime", "runtime_dev", "compiler", "compiler_dev", "mpi", "doc")
IN_C = ("c_api.h", "compiler_api.h", "kernel_abi.h")
MODULE = ROOT / "test/tools/embed.mlir"


def run(*command, **options):
    """What a command that has to succeed prints."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    if done.returncode:
        sys.exit(f"error: {' '.join(map(str, command))}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def library_directory(prefix):
    return next(prefix.rglob("libtessera_runtime.so")).parent


def beside(prefix):
    """An environment for programs that were linked before the prefix was moved."""
    return {**os.environ, "LD_LIBRARY_PATH": str(library_directory(prefix))}


def check_program(program, prefix, scratch):
    """The example's two steps of a program that the installed compiler made."""
    module = scratch / "step.tsr"
    run(prefix / "bin/tessera", "compile", MODULE, "-o", module)
    said = run(program, module, env=beside(prefix))
    assert "[0] = 2" in said, said


def check_examples(prefix, scratch, compiler):
    """Through find_package: a project each, as a user has it."""
    c, cxx = COMPILERS[compiler]
    for example in ("embed", "outside_kernel"):
        build = scratch / f"{compiler}-{prefix.name}-{example}"
        run("cmake", "-G", "Ninja", "-S", prefix / "share/doc/tessera/examples" / example, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}",
            f"-DCMAKE_C_COMPILER={c}", f"-DCMAKE_CXX_COMPILER={cxx}")
        run("cmake", "--build", build)
        run(build / "outside-kernel") if example == "outside_kernel" else check_program(build / "embed", prefix, scratch)


def check_pkgconfig(prefix, scratch, compiler):
    c, cxx = COMPILERS[compiler]
    environment = {**os.environ, "PKG_CONFIG_PATH": str(library_directory(prefix) / "pkgconfig")}
    flags = lambda *modules: run("pkg-config", "--cflags", "--libs", *modules, env=environment).split()
    examples = prefix / "share/doc/tessera/examples"
    run(cxx, "-std=c++20", examples / "embed/embed.cpp", *flags("tessera-runtime"), "-o", scratch / f"embed-{compiler}")
    run(c, examples / "outside_kernel/outside_kernel.c", *flags("tessera-runtime", "tessera-compiler"), "-lm", "-o", scratch / f"kernel-{compiler}")
    check_program(scratch / f"embed-{compiler}", prefix, scratch)
    run(scratch / f"kernel-{compiler}", env=beside(prefix))


def headers(prefix):
    return sorted((prefix / "include/tessera").glob("*.h"))


def check_headers(prefix, scratch):
    """Each header alone, with warnings as errors; what is in C is C++17 as well."""
    assert {path.name for path in (prefix / "include").iterdir()} == {"tessera"}
    for c, cxx in COMPILERS.values():
        for header in headers(prefix):
            source = f'#include "tessera/{header.name}"\n'
            languages = ("c", "c11", c), ("c++", "c++17", cxx)
            for language, standard, compiler in languages if header.name in IN_C else (("c++", "c++20", cxx),):
                run(compiler, "-x", language, f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only",
                    f"-I{prefix / 'include'}", "-", input=source)


def check_symbols(prefix):
    """What the libraries show is what their headers declare; of the compiler, the commands that `tessera` opens, too."""
    declared = set(re.findall(r"\btessera_\w+(?=\()", "".join(header.read_text() for header in headers(prefix))))
    for library in library_directory(prefix).glob("libtessera_*.so"):
        shown = {line.split()[-1] for line in run("nm", "-D", "--defined-only", library).splitlines()}
        extra = {name for name in shown - declared if not re.fullmatch(r"tessera_\w+_command", name)}
        assert shown and not extra, f"{library.name} shows {sorted(extra)}"
        soname = re.search(r"SONAME.*\[(.*)\]", run("readelf", "-d", library)).group(1)
        assert re.fullmatch(rf"{library.name}\.\d+", soname) and (library.parent / soname).exists(), soname


def check_paths(prefix, build):
    """Nothing names the place where it was built."""
    places = re.compile(b"|".join(rb"(?<![\w./-])" + re.escape(str(place).encode()) + rb"/" for place in {ROOT, build}))
    for path in prefix.rglob("*"):
        if path.is_file() and not path.is_symlink():
            found = places.search(path.read_bytes())
            assert not found, f"{path.relative_to(prefix)} names {found.group().decode()}"


def check_manual(prefix):
    """tessera(1) has every option of every command, and troff has nothing to say to it."""
    page, = prefix.rglob("man/man1/tessera.1")
    text = page.read_text().replace("\\-", "-")
    names = re.findall(r"^\s+tessera (\w+) ", run(prefix / "bin/tessera", "--help").replace("usage:", ""), re.M)
    assert len(names) > 4, names
    for name in names:
        for option in re.findall(r"^  (-[-\w]+)", run(prefix / "bin/tessera", name, "--help"), re.M):
            assert f"\\fB{option}\\fR" in text, f"{name} {option}"
    if shutil.which("groff"):
        said = subprocess.run(["groff", "-man", "-ww", "-z", page], capture_output=True, text=True)
        assert not said.stderr, said.stderr


def check_plugin(prefix, scratch):
    """The runtime finds what is installed with it. Without MPI in the build, it says so."""
    if not list(prefix.rglob("libtessera_comm_mpi.so")):
        return
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    clean = {name: value for name, value in os.environ.items() if name != "TESSERA_PLUGIN_PATH"}
    module = scratch / "step.tsr"
    run("mpirun", "--oversubscribe", "-n", "4", prefix / "bin/tessera", "run", module, "--comm=mpi", f"--outputs={scratch / 'out.npz'}",
        env={**clean, **allowed})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    build = parser.parse_args().build.resolve()
    with tempfile.TemporaryDirectory() as directory:
        scratch = pathlib.Path(directory)
        prefix, moved = scratch / "first", scratch / "a second place"
        for component in COMPONENTS:
            run("cmake", "--install", build, "--prefix", prefix, "--component", component)
        check_paths(prefix, build)
        check_headers(prefix, scratch)
        check_symbols(prefix)
        check_manual(prefix)
        check_examples(prefix, scratch, "clang")
        check_pkgconfig(prefix, scratch, "gcc")
        shutil.move(prefix, moved)
        for program in ("embed-gcc", "clang-first-embed/embed"):
            check_program(scratch / program, moved, scratch)
        check_examples(moved, scratch, "gcc")
        check_plugin(moved, scratch)
    print("the installation is in order")


if __name__ == "__main__":
    main()
