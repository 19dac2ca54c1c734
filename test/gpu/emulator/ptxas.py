#!/usr/bin/env python3
"""A stand-in for CUDA's ptxas: wraps the PTX in what looks like its machine code, which the emulator takes.

  ptxas --version | ptxas --gpu-name=sm_80 [--split-compile=8] --fmad=false --output-file OUT IN
"""
import re
import struct
import sys

ELF_HEADER = "<4sBBBBB7xHHIQQQIHHHHHH"  # of 64 bits
CUDA = 190


def main(arguments):
    if arguments == ["--version"]:
        print("Cuda compilation tools, release 13.0, V13.0.1")
        return 0
    name, *threads, fmad, option, target, source = arguments
    assert threads in ([], ["--split-compile=8"]), arguments
    assert fmad == "--fmad=false" and option == "--output-file", arguments
    with open(source) as file:
        text = file.read()
    architecture = name.removeprefix("--gpu-name=")
    if not re.search(rf"^\.target {architecture}$", text, re.MULTILINE):
        print(f"ptxas stand-in: the code is not for {architecture}", file=sys.stderr)
        return 1
    header = struct.pack(ELF_HEADER, b"\x7fELF", 2, 1, 1, 51, 8, 2, CUDA, 130, 0, 0, 0, 0, 64, 56, 0, 64, 0, 0)
    with open(target, "wb") as file:
        file.write(header + b"// ptxas stand-in\n" + text.encode() + b"\0")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
