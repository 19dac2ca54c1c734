"""What CUDA's ptxas makes of the code of a program for GPUs: registers, shared memory, spills. Nothing here needs a GPU."""
import collections
import os
import re
import shutil
import struct
import subprocess

CUDA = "/usr/local/cuda/bin"
PTXAS = shutil.which("ptxas", path=os.pathsep.join([os.environ.get("PATH", ""), CUDA]))
REGISTERS, SHARED = 65536, 48 << 10  # of a processor; of a block, without asking for more

Kernel = collections.namedtuple("Kernel", "name architecture threads registers shared stack spilled")


def texts_of(program):
    """The PTX in a .tsr, each with its architecture (include/tessera/container.h)."""
    with open(program, "rb") as file:
        content = file.read()
    count, = struct.unpack_from("<I", content, 12)
    texts = []
    for at in range(64, 64 + 64 * count, 64):
        kind, _, offset, size = struct.unpack_from("<IIQQ", content, at + 24)
        code = content[offset:offset + size]
        if kind == 2 and b".target sm_" in code and not code.startswith(b"\x7fELF"):
            text = code.rstrip(b"\0").decode()
            texts.append((re.search(r"^\.target (\w+)", text, re.MULTILINE)[1], text))
    return texts


def assemble(text, architecture, directory):
    """The kernels of a text; a string: what ptxas says instead."""
    source, target = (os.path.join(directory, f"kernels.{suffix}") for suffix in ("ptx", "cubin"))
    with open(source, "w") as file:
        file.write(text)
    done = subprocess.run([PTXAS, f"-arch={architecture}", "--fmad=false", "-v", source, "-o", target], capture_output=True, text=True)
    if done.returncode:
        return "ptxas: " + done.stderr.strip()[:300]
    threads = dict(re.findall(r"\.entry (\w+)\([^)]*\)\s*\.(?:max|req)ntid (\d+)", text))
    kernels = []
    for part in done.stderr.split("Compiling entry function")[1:]:
        name = re.search(r"'(\w+)'", part)[1]
        number = lambda pattern: sum(map(int, re.findall(pattern, part)))
        kernels.append(Kernel(name, architecture, int(threads.get(name, 0)), number(r"Used (\d+) registers"), number(r"(\d+) bytes smem"),
                              number(r"(\d+) bytes stack frame"), number(r"(\d+) bytes spill (?:stores|loads)")))
    return kernels


def wrong_of(kernel):
    """What keeps a kernel from running as its launch assumes; None."""
    if kernel.spilled:
        return f"{kernel.name} for {kernel.architecture} spills {kernel.spilled} bytes"
    if not kernel.threads:
        return f"{kernel.name} for {kernel.architecture} does not say how many threads it has"
    # Registers come in eights.
    if (kernel.registers + 7) // 8 * 8 * kernel.threads > REGISTERS:
        return f"{kernel.name} for {kernel.architecture}: {kernel.registers} registers for {kernel.threads} threads"
    if kernel.shared > SHARED:
        return f"{kernel.name} for {kernel.architecture}: {kernel.shared} bytes of shared memory"
    return None


def wrong_of_program(program, directory):
    """None, or what is wrong with a program's code."""
    for architecture, text in texts_of(program):
        kernels = assemble(text, architecture, directory)
        if isinstance(kernels, str):
            return kernels
        for wrong in filter(None, map(wrong_of, kernels)):
            return wrong
    return None
