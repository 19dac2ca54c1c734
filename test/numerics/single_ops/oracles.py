"""What a case should give: by StableHLO's reference interpreter, and by XLA on the CPU.

The interpreter takes and gives bit patterns: its inputs are constants of the module, so that every element type can pass. Both run in
processes of their own, since some inputs end them."""
import itertools
import multiprocessing
import os
import signal

import numpy as np
from case import module, tensor

STORED = {1: "ui8", 2: "ui8", 4: "ui8", 8: "ui8", 16: "ui16", 32: "ui32", 64: "ui64"}


def _through(t):
    """Numbers of types without a bit pattern of whole bytes travel in a wider type."""
    return "f32" if t.kind == "float" and t.bits < 8 else "i8" if t.kind == "sint" and t.bits < 8 else "ui8"


def _literal(x, name, shape):
    return f'{name} = stablehlo.constant dense<{chr(34) + "0x" + x.tobytes().hex().upper() + chr(34) if x.size else ""}>'


class _Closed:
    """A case as a function of nothing: constants first, bit patterns last."""

    def __init__(self, case):
        self.number, self.args, self.header, self.functions = case.number, [], case.header, case.functions
        names = itertools.count()
        fresh = lambda: f"%o{case.number}_{next(names)}"
        before, after, self.results, self.decoders = [], [], [], []
        for value, x in zip(case.args, case.data):
            t, shape = value.type, value.shape
            narrow = t.bits < 8
            if not narrow:
                before.append(f"  {_literal(np.ascontiguousarray(x), value.name, shape)} : {value.text}")
                continue
            stored = fresh()
            kind = {"f32": np.float32, "i8": np.int8, "ui8": np.uint8}[_through(t)]
            before.append(f"  {_literal(np.ascontiguousarray(x).astype(kind), stored, shape)} : {tensor(_through(t), shape)}")
            before.append(f"  {value} = stablehlo.convert {stored} : ({tensor(_through(t), shape)}) -> {value.text}")
        for value in case.results:
            t, parts = value.type, [value.name]
            if t.kind == "complex":
                parts = [fresh(), fresh()]
                for part, op in zip(parts, ("real", "imag")):
                    after.append(f"  {part} = stablehlo.{op} {value} : ({value.text}) -> {tensor(t.real, value.shape)}")
                self._give(after, fresh, parts, t.real, value.shape)
                self.decoders.append((t, 2))
                continue
            self._give(after, fresh, parts, t, value.shape)
            self.decoders.append((t, 1))
        self.lines = before + case.lines + after

    def _give(self, lines, fresh, parts, t, shape):
        for part in parts:
            if t.kind in ("sint", "uint") and t.bits >= 8:
                self.results.append(_Raw(part, tensor(t, shape)))
                continue
            to, op = (_through(t), "convert") if t.bits < 8 else (STORED[t.bits], "bitcast_convert")
            given = fresh()
            lines.append(f"  {given} = stablehlo.{op} {part} : ({tensor(t, shape)}) -> {tensor(to, shape)}")
            self.results.append(_Raw(given, tensor(to, shape)))

    def decode(self, arrays):
        values = []
        for t, count in self.decoders:
            part = [next(arrays) for _ in range(count)]
            if t.bits >= 8 and t.kind in ("float", "complex"):
                part = [p.view(t.real.dtype) for p in part]
            if count == 2:
                z = np.empty(part[0].shape, t.dtype)
                z.real, z.imag = part
                part = [z]
            values.append(part[0].astype(t.dtype))
        return values


class _Raw:
    sharding = ""

    def __init__(self, name, text):
        self.name, self.text = name, text

    def __str__(self):
        return self.name


def _interpret(case):
    from jax._src.interpreters import mlir
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo

    closed = _Closed(case)
    with mlir.make_ir_context():
        found = stablehlo.eval_module(ir.Module.parse(module([closed])), [])
        return closed.decode(np.array(x) for x in found)


def _signed(x, t):
    if t.bits >= 8:
        return x.view(t.dtype)
    x = x.astype(np.int64)
    return np.where(x >> (t.bits - 1), x - 2**t.bits, x).astype(t.dtype)


def _xla(case):
    import jax
    jax.config.update("jax_enable_x64", True)
    from jax._src import compiler
    from jax._src.interpreters import mlir
    from jaxlib.mlir import ir
    import jax.extend.backend as backend

    with mlir.make_ir_context():
        client = backend.get_backend()
        parsed = ir.Module.parse(module([case]))
        from jax._src.lib import xla_client
        executable = client.compile_and_load(parsed, xla_client.DeviceList(tuple(client.local_devices()[:1])),
                                             compiler.get_compile_options(num_replicas=1, num_partitions=1))
        found = [np.asarray(x) for x in executable.execute([jax.device_put(x) for x in case.data])]
        # Random bits come as unsigned integers whatever the type.
        return [_signed(x, r.type) if x.dtype.name.startswith("uint") and r.type.kind == "sint" else x for x, r in zip(found, case.results)]


def _answer(which, cases, pipe):
    for case in cases:
        try:
            pipe.send({"interpreter": _interpret, "xla": _xla}[which](case))
        except Exception as error:  # the message is all that the other side needs
            pipe.send(str(error)[:300])
    os._exit(0)


def _serve(pipe):
    """Each batch is answered by a fork, so that after an end only the fork is made again, not the imports."""
    import jax.extend.backend  # noqa: F401
    from jax._src.interpreters import mlir  # noqa: F401
    from jaxlib.mlir.dialects import stablehlo  # noqa: F401
    while True:
        which, cases = pipe.recv()
        while cases:
            mine, its = multiprocessing.Pipe(duplex=False)
            fork = os.fork()
            if not fork:
                _answer(which, cases, its)
            its.close()
            done = 0
            try:
                while done < len(cases):
                    if not mine.poll(100):
                        os.kill(fork, signal.SIGKILL)
                    answer = mine.recv()
                    pipe.send(answer)
                    done += 1
            except EOFError:
                pipe.send(f"the {which} ended without an answer")
                done += 1
            os.waitpid(fork, 0)
            mine.close()
            cases = cases[done:]


class Oracles:
    def __init__(self):
        self.process = None

    def _start(self):
        context = multiprocessing.get_context("spawn")
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=_serve, args=(other,), daemon=True)
        self.process.start()
        other.close()

    def answers(self, which, cases):
        """For each case its results, or a text: why this oracle can't tell."""
        found = []
        while len(found) < len(cases):
            if not self.process:
                self._start()
            try:
                self.pipe.send((which, [_Plain(c) for c in cases[len(found):]]))
                while len(found) < len(cases):
                    if not self.pipe.poll(120):
                        raise EOFError
                    found.append(self.pipe.recv())
            except (EOFError, BrokenPipeError, ConnectionResetError):
                self.process.kill()
                self.process = None
                found.append(f"the {which} ended without an answer")
        return found


    def stop(self):
        if self.process:
            self.process.kill()


class _Plain:
    """What of a case goes to the other process."""

    def __init__(self, case):
        for field in ("number", "args", "data", "lines", "results", "header", "functions"):
            setattr(self, field, getattr(case, field))
