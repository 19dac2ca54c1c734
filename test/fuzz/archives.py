#!/usr/bin/env python3
"""Random .npz archives as inputs of a program that returns them. What is well-formed (any method, version and order that numpy writes, 64-bit
records, comments, descriptors) must be read; what is damaged must end in one clear error, or, where the damage is no matter, in the same arrays.
An archive that was altered with its checksums may mean other arrays: then those that numpy reads.

    archives.py --count=20000 --seed=7          archives.py --seed=7 --only=K
"""
import argparse
import collections
import io
import os
import pathlib
import random
import struct
import sys
import tempfile
import warnings
import zlib

sys.dont_write_bytecode = True
import numpy as np

import engine
import seeds

BIN = pathlib.Path(os.environ.get("TESSERA_BIN", seeds.ROOT / "build" / "bin"))
PROGRAM = """func.func @main(%a: tensor<3x5xf32>, %b: tensor<7xbf16>, %c: tensor<i64>, %d: tensor<2x2xi1>, %e: tensor<0x4xui8>, %f: tensor<40x30xf64>)
    -> (tensor<3x5xf32>, tensor<7xbf16>, tensor<i64>, tensor<2x2xi1>, tensor<0x4xui8>, tensor<40x30xf64>) {
  return %a, %b, %c, %d, %e, %f : tensor<3x5xf32>, tensor<7xbf16>, tensor<i64>, tensor<2x2xi1>, tensor<0x4xui8>, tensor<40x30xf64>
}
"""
ARRAYS = [np.arange(15, dtype="<f4").reshape(3, 5) - 4, np.arange(7, dtype="<f4") / 4, np.array(-3, "<i8"), np.array([[True, False], [False, True]]),
          np.zeros((0, 4), "u1"), np.arange(1200, dtype="<f8").reshape(40, 30)]
NUMBERS = [0, 1, 2, 7, 8, 0x7f, 0xff, 0x7fff, 0xffff, 0x10000, 0x7fffffff, 0xffffffff, 1 << 32, 1 << 40, (1 << 63) - 1, (1 << 64) - 1]


def npy(choose, array):
    """As numpy.save writes it, in one of its versions, orders and byte orders."""
    dtype = array.dtype.newbyteorder(choose.choice("<<>")) if array.dtype.itemsize > 1 else array.dtype
    fortran = array.ndim > 1 and choose.random() < 0.3
    text = f"{{'descr': '{dtype.str}', 'fortran_order': {fortran}, 'shape': {array.shape}, }}"
    version = choose.choice([1, 1, 2, 3])
    text += " " * (63 - (8 + (2 if version == 1 else 4) + len(text)) % 64) + "\n"
    head = b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(text)) + text.encode()
    return head + array.astype(dtype).tobytes("F" if fortran else "C")


class Archive:
    """Members and records with their fields by name, so that one of them can be made wrong."""

    def __init__(self, choose):
        self.choose = choose
        self.members = [self.member(f"in{i}.npy" if choose.random() < 0.9 else f"in{i}", npy(choose, array)) for i, array in enumerate(ARRAYS)]
        choose.shuffle(self.members)
        self.comment = bytes(choose.randrange(40)) if choose.random() < 0.2 else b""
        self.zip64 = choose.random() < 0.3
        self.end = {}

    def member(self, name, contents):
        method = self.choose.choice([0, 8])
        compress = zlib.compressobj(self.choose.randint(0, 9), zlib.DEFLATED, -15)
        packed = contents if method == 0 else compress.compress(contents) + compress.flush()
        return {"name": name, "contents": contents, "packed": packed, "method": method, "crc": zlib.crc32(contents), "size": len(contents),
                "packed_size": len(packed), "wide": self.choose.random() < 0.3, "descriptor": self.choose.random() < 0.2}

    def bytes(self):
        out, directory = io.BytesIO(), io.BytesIO()
        for m in self.members:
            offset = m.get("offset", out.tell())
            size, packed_size, crc, method = m["size"], m["packed_size"], m["crc"], m["method"]
            narrow = lambda value: min(value, 0xffffffff) & 0xffffffff
            wide = struct.pack("<HHQQ", 1, m.get("extra_size", 16), size % 2**64, packed_size % 2**64)
            local = (0, 0, 0) if m["descriptor"] else (crc, 0xffffffff, 0xffffffff) if m["wide"] else (crc, narrow(size), narrow(packed_size))
            name, extra = m["name"].encode(), wide if m["wide"] else b""
            out.write(struct.pack("<IHHHIIIIHH", m.get("local", 0x04034b50), 45, 8 * m["descriptor"], method, 0x210000, local[0], local[2], local[1],
                                  m.get("local_name", len(name)), m.get("local_extra", len(extra))) + name + extra + m["packed"])
            if m["descriptor"]:
                out.write(struct.pack("<IIII", 0x08074b50, crc, narrow(packed_size), narrow(size)))
            if m["wide"]:
                extra = struct.pack("<HHQQQ", 1, m.get("extra_size", 24), size % 2**64, packed_size % 2**64, offset % 2**64)
                fields = (0xffffffff, 0xffffffff, 0xffffffff)
            else:
                fields = (narrow(packed_size), narrow(size), narrow(offset))
            directory.write(struct.pack("<IHHHHIIIIHHHHHII", m.get("central", 0x02014b50), 45, 45, 8 * m["descriptor"], method, 0x210000, crc, *fields[:2],
                                        m.get("central_name", len(name)), m.get("central_extra", len(extra)), m.get("central_comment", 0), 0, 0, 0,
                                        fields[2]) + name + extra)
        start, length, count = self.end.get("start", out.tell()), self.end.get("length", directory.tell()), self.end.get("count", len(self.members))
        out.write(directory.getvalue())
        wide = self.zip64 or max(start, length) >= 1 << 32
        if wide:
            at = self.end.get("end64", out.tell())
            out.write(struct.pack("<IQHHIIQQQQ", 0x06064b50, 44, 45, 45, 0, 0, count % 2**64, count % 2**64, length % 2**64, start % 2**64))
            out.write(struct.pack("<IIQI", 0x07064b50, 0, at % 2**64, 1))
        fields = (0xffff, 0xffff, 0xffffffff, 0xffffffff) if wide else (count & 0xffff, count & 0xffff, length, start)
        out.write(struct.pack("<IHHHHIIH", 0x06054b50, 0, 0, *fields, self.end.get("comment", len(self.comment))) + self.comment)
        return out.getvalue()


def number(choose):
    return choose.choice(NUMBERS) if choose.random() < 0.7 else choose.randrange(1 << choose.randint(1, 16))


def damage_record(choose, archive):
    m = choose.choice(archive.members)
    if choose.random() < 0.25:
        archive.end[choose.choice(["start", "length", "count", "end64", "comment"])] = number(choose) & (0xffff if choose.random() < 0.5 else 2**64 - 1)
        archive.end["comment"] = archive.end.get("comment", len(archive.comment)) & 0xffff
    else:
        field = choose.choice(["crc", "size", "packed_size", "offset", "method", "local", "central", "local_name", "local_extra", "central_name",
                               "central_extra", "central_comment", "extra_size", "size", "packed_size"])
        short = field in ("method", "local_name", "local_extra", "central_name", "central_extra", "central_comment", "extra_size")
        m[field] = number(choose) & (0xffff if short else 0xffffffff if field in ("crc", "local", "central") else 2**64 - 1)


def damage_array(choose, archive):
    """With its checksum, so that it means what it says."""
    at = choose.randrange(len(archive.members))
    contents = bytearray(archive.members[at]["contents"])
    header = contents[:128]
    how = choose.randrange(5)
    if how == 0:
        contents[choose.randrange(min(len(contents), 80))] = choose.randrange(256)
    elif how == 1:
        old, new = choose.choice([(b"(3, 5)", b"(5, 3)"), (b", 5)", b", 9999999999999)"), (b"(", b"(-"), (b"(", b"(9, "), (b"True", b"Tru"), (b"False", b"True"),
                                  (b"<f", b"<V"), (b"f4", b"f8"), (b"i8", b"u8"), (b"descr", b"desc"), (b"'", b'"'), (b")", b""), (b"{", b""), (b"\n", b" "),
                                  (b"<f4", b"|O8"), (b"f8", b"f9223372036854775807"), (b"(40", b"(0040"), (b"30)", b"30.0)"), (b", 5)", b", 5, 1)")])
        contents[:128] = header.replace(old, new)
    elif how == 2:
        contents[8:12] = struct.pack("<I", number(choose) & 0xffffffff)
    elif how == 3:
        del contents[choose.randrange(len(contents)):]
    else:
        contents += bytes(choose.randrange(1, 200))
    name = archive.members[at]["name"]
    archive.members[at] = archive.member(choose.choice([name] * 9 + ["in0.npy", "in9"]), bytes(contents))


def damage_bytes(choose, data):
    data = bytearray(data)
    for _ in range(choose.choice([1, 1, 1, 2, 5])):
        at, how = choose.randrange(len(data) or 1), choose.randrange(5)
        if how == 0:
            del data[at:]
        elif how == 1:
            del data[at:at + choose.randrange(1, 40)]
        elif how == 2:
            data[at:at] = choose.randbytes(choose.randrange(1, 40))
        else:
            data[at:at + 1] = bytes([choose.randrange(256)]) if how == 3 else bytes([(data[at] if data else 0) ^ 1 << choose.randrange(8)])
    return bytes(data)


def make(choose):
    """(kind, bytes): of one archive."""
    archive, kind = Archive(choose), choose.choice(["fine", "record", "record", "array", "array", "bytes", "bytes", "missing"])
    if kind == "record":
        damage_record(choose, archive)
    elif kind == "array":
        damage_array(choose, archive)
    elif kind == "missing":
        del archive.members[choose.randrange(len(archive.members))]
    data = archive.bytes()
    return kind, damage_bytes(choose, data) if kind == "bytes" else data


def same(left, right):
    return left.dtype == right.dtype and left.shape == right.shape and left.tobytes() == right.tobytes()


def read_by_numpy(data):
    """By number, those that numpy can read."""
    arrays = {}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with np.load(io.BytesIO(data), max_header_size=1 << 20) as archive:
                for i in range(len(ARRAYS)):
                    try:
                        arrays[i] = np.ascontiguousarray(archive[f"in{i}"]).reshape(archive[f"in{i}"].shape)
                        arrays[i] = arrays[i].astype(arrays[i].dtype.newbyteorder("<"))
                    except Exception:
                        pass
    except Exception:
        pass
    return arrays


def wrong(kind, data, answer, output):
    """Empty, or what is wrong with the end."""
    if kind == "fine" and answer.end != "ok":
        return f"a well-formed archive: {answer.end}: {answer.messages.strip()[:200]}"
    if answer.end == "error":
        return "" if answer.messages.count("\n") == 1 else f"more than one line: {answer.messages[:300]}"
    if answer.end != "ok":
        return answer.end
    if kind == "missing":
        return "an array was missing, and that is no error"
    theirs = {}
    with np.load(output) as results:
        for i, array in enumerate(ARRAYS):
            ours = results[f"out{i}"]
            if not same(ours, array):
                theirs = theirs or read_by_numpy(data)
                if kind != "array" or i not in theirs or not same(ours, theirs[i].astype(ours.dtype) if i != 1 else round_to_bf16(theirs[i])):
                    return f"in{i} was read as something else"
    return ""


def round_to_bf16(array):
    bits = np.ascontiguousarray(array, "<f4").view("<u4")
    rounded = ((bits + 0x7fff + ((bits >> 16) & 1)) & 0xffff0000).view("<f4")
    return np.where(np.isnan(array), np.float32("nan"), rounded)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int)
    parser.add_argument("--keep", type=pathlib.Path, help="where the archives that ended badly are kept")
    options = parser.parse_args()
    ends, bad = collections.Counter(), 0
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as name:
        folder = pathlib.Path(name)
        (folder / "p.mlir").write_text(PROGRAM)
        server = engine.Engine(BIN / "tessera-fuzz", 10, 0 if os.environ.get("ASAN_OPTIONS") else 2 << 30, folder, TESSERA_WORKERS="1")
        compiled = server.run("compile", folder / "p.mlir", "-o", folder / "p.tsr")
        if compiled.end != "ok":
            sys.exit(f"the program: {compiled.messages}")
        for k in [options.only] if options.only is not None else range(options.count):
            kind, data = make(random.Random(f"{options.seed}/{k}"))
            (folder / "in.npz").write_bytes(data)
            answer = server.run("run", folder / "p.tsr", f"--inputs={folder / 'in.npz'}", f"--outputs={folder / 'out.npz'}")
            problem = wrong(kind, data, answer, folder / "out.npz")
            ends[kind, answer.end] += 1
            if problem:
                bad += 1
                print(f"--seed={options.seed} --only={k} ({kind}): {problem}", flush=True)
                if options.keep:
                    options.keep.mkdir(parents=True, exist_ok=True)
                    (options.keep / f"{options.seed}-{k}.npz").write_bytes(data)
        server.close()
    for (kind, end), count in sorted(ends.items()):
        print(f"{kind:8} {end}: {count}")
    print(f"seed {options.seed}: {sum(ends.values())} archives, {bad} bad")
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
