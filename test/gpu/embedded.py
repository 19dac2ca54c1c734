"""A host of the C interface with a GPU for each device, in a process of its own; several.py says what must come of it.

  embedded.py DIR session STEPS [COMMUNICATOR [SECONDS]]
                                  a session of DIR/cuda.tsr on DIR/in.npz, which waits so long: how each step ends; the last one's results in
                                  DIR/last.npz. Where one failed, how another session of the process is made
  embedded.py DIR client          a client with all GPUs: two steps that take their one input over, the first while it is held, too; their results
                                  and what was held in DIR/tiles.npz
"""
import ctypes
import os
import sys
import time

import numpy as np

LIBRARY = ctypes.CDLL(os.path.join(os.environ["TESSERA_BIN"], "..", "lib", "libtessera_runtime.so"))
LIBRARY.tessera_error_message.restype = ctypes.c_char_p
size, pointer = ctypes.c_size_t, ctypes.c_void_p


class SessionOptions(ctypes.Structure):  # its first members
    _fields_ = [("struct_size", size), ("workers", ctypes.c_uint32), ("communicator", ctypes.c_char_p)]


class ClientOptions(ctypes.Structure):
    _fields_ = [("struct_size", size), ("workers", ctypes.c_uint32), ("communicator", ctypes.c_char_p), ("device", ctypes.c_char_p)]


class Failed(Exception):
    pass


def call(name, *arguments):
    if getattr(LIBRARY, f"tessera_{name}")(*arguments):
        raise Failed(LIBRARY.tessera_error_message().decode())


def made(name, *arguments):
    handle = pointer()
    call(name, *arguments, ctypes.byref(handle))
    return handle


def data(array):
    return array.ctypes.data_as(pointer)


def load(directory):
    with np.load(os.path.join(directory, "in.npz")) as given:
        return made("program_load_file", os.path.join(directory, "cuda.tsr").encode()), [given[name] for name in given.files]


def session(directory, steps, communicator="nccl", seconds="0"):
    program, host = load(directory)
    options = SessionOptions(ctypes.sizeof(SessionOptions), 0, communicator.encode())
    handle = made("session_create", program, ctypes.byref(options))
    time.sleep(float(seconds))
    fails = False
    inputs = (pointer * len(host))(*[made("array_place", handle, size(i), data(array), size(array.nbytes)) for i, array in enumerate(host)])
    for _ in range(int(steps)):
        outputs = (pointer * len(host))()
        try:
            call("session_execute", handle, inputs, size(len(host)), outputs, size(len(host)))
        except Failed as failure:
            print(failure)
            fails = True
            continue
        print("ok")
        results = [np.empty_like(array) for array in host]
        for array, into in zip(outputs, results):
            call("array_read", pointer(array), data(into), size(into.nbytes))
            LIBRARY.tessera_array_free(pointer(array))
        np.savez(os.path.join(directory, "last.npz"), **{f"out{i}": array for i, array in enumerate(results)})
    for array in inputs:
        LIBRARY.tessera_array_free(pointer(array))
    LIBRARY.tessera_session_free(handle)
    if fails:
        try:
            LIBRARY.tessera_session_free(made("session_create", program, ctypes.byref(options)))
            print("another session")
        except Failed as failure:
            print(failure)
    LIBRARY.tessera_program_free(program)


def placed(client, device, tile):
    handle, shape = pointer(), (ctypes.c_int64 * 2)(*tile.shape)
    call("buffer_from_host", client, ctypes.c_uint32(device), b"f32", size(2), shape, data(tile), size(tile.nbytes), ctypes.byref(handle), None)
    return handle


def fetched(buffers, tile):
    into = [np.empty_like(tile) for _ in buffers]
    for buffer, array in zip(buffers, into):
        call("buffer_to_host", buffer, data(array), size(array.nbytes), None)
    return np.concatenate(into)


def client(directory):
    program, (host,) = load(directory)
    options = ClientOptions(ctypes.sizeof(ClientOptions), 0, b"nccl", b"cuda")
    handle = made("client_create", ctypes.byref(options))
    executable = made("executable_load", handle, program)
    step = made("call_create", executable, None)
    tiles = [np.ascontiguousarray(part) for part in np.split(host, 2)]
    results = {}
    for name in ("first", "second"):
        inputs = [placed(handle, device, tile) for device, tile in enumerate(tiles)]
        held = [made("buffer_share", buffer) for buffer in inputs] if name == "first" else []
        call("call_bind", step, size(0), (pointer * 2)(*inputs), size(2))
        outputs = (pointer * 2)()
        call("call_start", step, outputs, size(2), None)
        results[name] = fetched([pointer(buffer) for buffer in outputs], tiles[0])
        if held:
            results["kept"] = fetched(held, tiles[0])
        for buffer in [*inputs, *held, *map(pointer, outputs)]:
            LIBRARY.tessera_buffer_free(buffer)
    np.savez(os.path.join(directory, "tiles.npz"), **results)
    try:
        placed(handle, 3, tiles[0])
    except Failed as failure:
        print(failure)
    LIBRARY.tessera_call_free(step)
    LIBRARY.tessera_executable_free(executable)
    LIBRARY.tessera_client_free(handle)


if __name__ == "__main__":
    {"session": session, "client": client}[sys.argv[2]](sys.argv[1], *sys.argv[3:])
