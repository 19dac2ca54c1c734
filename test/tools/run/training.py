"""training.py make|check FOLDER: the arrays of training.test, and whether its runs gave what five steps give."""
import json
import pathlib
import struct
import sys

import ml_dtypes
import numpy as np

folder = pathlib.Path(sys.argv[2])
BATCHES = np.arange(20, dtype=np.float32).reshape(5, 4) / 4
TYPES = {"F32": np.float32, "BF16": ml_dtypes.bfloat16, "I32": np.int32}


def write_safetensors(path, arrays):
    """As the format's own library does: the header in alphabetical order, the bytes in another."""
    names = {v: k for k, v in TYPES.items()}
    header, data = {"__metadata__": {"made": 'by "hand"'}}, b""
    for name, array in reversed(arrays.items()):
        header[name] = {"dtype": names[array.dtype.type], "shape": array.shape, "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    text = json.dumps(dict(sorted(header.items()))).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def read_safetensors(path):
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    assert size % 8 == 0, "bytes begin at a multiple of 8"
    body = data[8 + size:]
    return {name: np.frombuffer(body[slice(*entry["data_offsets"])], TYPES[entry["dtype"]]).reshape(entry["shape"])
            for name, entry in json.loads(data[8:8 + size]).items()}


def make():
    b, w, step = np.full(4, 1, ml_dtypes.bfloat16), np.arange(4, dtype=np.float32), np.int32(0)
    np.savez(folder / "start.npz", **{"state['b']": b, "in1": w, "state['step']": step})
    np.savez(folder / "first.npz", x=BATCHES[:3])
    write_safetensors(folder / "second.safetensors", {"in3": BATCHES[3:]})
    np.savez_compressed(folder / "all.npz", x=np.asfortranarray(BATCHES))
    np.savez(folder / "other.npz", out0=b, out1=w[:3], out2=step, out3=step)


def expected(steps):
    b, w = np.float32(1), np.arange(4, dtype=np.float32)
    for i in range(steps):
        b = b + np.float32(0.5)
        w = w + BATCHES[i] + b
    return b, w


def check():
    b, w = expected(3)
    three = read_safetensors(folder / "a.safetensors")
    assert list(three) == ["out0", "out1", "out2", "out3", "out4"], list(three)
    assert three["out0"].dtype == ml_dtypes.bfloat16 and (three["out0"].astype(np.float32) == b).all(), three["out0"]
    assert (three["out1"] == w).all() and three["out2"] == 3, three
    b, w = expected(5)
    resumed, whole = np.load(folder / "b.npz"), np.load(folder / "c.npz")
    assert set(resumed) == {"result[0]['b']", "result[0]['w']", "result[0]['step']", "result[1]['loss']", "result[2]"}, set(resumed)
    assert (resumed["result[0]['w']"] == w).all() and (whole["out1"] == w).all(), (resumed["result[0]['w']"], whole["out1"], w)
    assert (resumed["result[0]['b']"] == b).all() and resumed["result[0]['b']"].dtype == np.float32
    assert resumed["result[0]['step']"] == whole["out2"] == 5


{"make": make, "check": check}[sys.argv[1]]()
