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


def varint(content, at):
    value, shift = 0, 0
    while True:
        value |= (content[at] & 0x7f) << shift
        at, shift = at + 1, shift + 7
        if content[at - 1] < 0x80:
            return value, at


def fields(message):
    """Numbers and values of a protobuf message."""
    at = 0
    while at < len(message):
        tag, at = varint(message, at)
        size = {1: 8, 5: 4}.get(tag & 7)
        if tag & 7 == 0:
            value, at = varint(message, at)
        else:
            if size is None:
                size, at = varint(message, at)
            value, at = message[at:at + size], at + size
        yield tag >> 3, value


def threads_of(manifest):
    """Of each kernel, by architecture, as the images for GPUs say (program.proto: kernels and their symbols, images and their launches)."""
    names, threads = [], {}
    for number, value in fields(manifest):
        if number == 4:
            names.append(dict(fields(value))[1].decode())
        elif number == 5:
            architecture = dict(fields(value))[2].decode()
            threads[architecture] = [dict(fields(launch)).get(1, 0) for field, launch in fields(value) if field == 7]
    return {architecture: dict(zip(names, counts)) for architecture, counts in threads.items()}


def texts_of(program):
    """The PTX in a .tsr, each with its architecture, and the threads of its kernels (include/tessera/container.h)."""
    with open(program, "rb") as file:
        content = file.read()
    count, = struct.unpack_from("<I", content, 12)
    texts, threads = [], {}  # the manifest comes first
    for at in range(64, 64 + 64 * count, 64):
        kind, _, offset, size = struct.unpack_from("<IIQQ", content, at + 24)
        code = content[offset:offset + size]
        if kind == 1:
            threads = threads_of(code)
        elif kind == 2 and b".target sm_" in code and not code.startswith(b"\x7fELF"):
            text = code.rstrip(b"\0").decode()
            architecture = re.search(r"^\.target (\w+)", text, re.MULTILINE)[1]
            texts.append((architecture, text, threads.get(architecture, {})))
    return texts


def assemble(text, architecture, threads, directory):
    """The kernels of a text; a string: what ptxas says instead."""
    source, target = (os.path.join(directory, f"kernels.{suffix}") for suffix in ("ptx", "cubin"))
    with open(source, "w") as file:
        file.write(text)
    done = subprocess.run([PTXAS, f"-arch={architecture}", "--fmad=false", "-v", source, "-o", target], capture_output=True, text=True)
    if done.returncode:
        return "ptxas: " + done.stderr.strip()[:300]
    kernels = []
    for part in done.stderr.split("Compiling entry function")[1:]:
        name = re.search(r"'(\w+)'", part)[1]
        number = lambda pattern: sum(map(int, re.findall(pattern, part)))
        kernels.append(Kernel(name, architecture, threads.get(name, 0), number(r"Used (\d+) registers"), number(r"(\d+) bytes smem"),
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
    for architecture, text, threads in texts_of(program):
        kernels = assemble(text, architecture, threads, directory)
        if isinstance(kernels, str):
            return kernels
        for wrong in filter(None, map(wrong_of, kernels)):
            return wrong
    return None
