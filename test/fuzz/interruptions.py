#!/usr/bin/env python3
"""Interrupts `compile`, `run`, `explain` and `tessera-opt` while they write over existing files: SIGINT, SIGTERM, SIGHUP, SIGKILL at random
moments (half of them while a file is being written), disks that fill up. Afterwards each file is the old or the new one, whole; files that a
command writes together are all old or all new, or it was interrupted between the moves; nothing else is there but after SIGKILL, and the next
command removes that. Then pairs of commands that write the same file at the same time.

    interruptions.py --count=500 --pairs=66 --seed=7

The disk is a tmpfs of its own where one can be mounted; otherwise `ulimit -f` fills it."""
import argparse
import collections
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

BIN = pathlib.Path(os.environ.get("TESSERA_BIN", pathlib.Path(__file__).resolve().parents[2] / "build" / "bin"))
TESSERA = BIN / "tessera"
LEFT_OVER = re.compile(r"\.tessera-[0-9a-f]{16}\.partial")
DISK = 64 << 20
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL]

Command = collections.namedtuple("Command", "name argv old new")  # old, new: contents by file name; a function where they differ in each run


def program(rows, hidden, constant):
    """Its text has the constant in it, so that the program file takes a while to write."""
    words = random.Random(constant).randbytes(hidden * 1024 * 4 // 64 * 64).hex().upper()
    return f"""sdy.mesh @m = <["x"=2]>
func.func @main(%a: tensor<{rows}x1024xf32> {{sdy.sharding = #sdy.sharding<@m, [{{"x"}}, {{}}]>}}) -> (tensor<{rows}x{hidden}xf32>, tensor<{rows}x1024xf32>) {{
  %w = stablehlo.constant dense<"0x{words}"> : tensor<1024x{hidden}xi32>
  %f = stablehlo.convert %w : (tensor<1024x{hidden}xi32>) -> tensor<1024x{hidden}xf32>
  %0 = stablehlo.dot_general %a, %f, contracting_dims = [1] x [0] : (tensor<{rows}x1024xf32>, tensor<1024x{hidden}xf32>) -> tensor<{rows}x{hidden}xf32>
  %1 = stablehlo.add %a, %a : tensor<{rows}x1024xf32>
  return %0, %1 : tensor<{rows}x{hidden}xf32>, tensor<{rows}x1024xf32>
}}
"""


def is_json(contents):
    try:
        json.loads(contents)
        return True
    except ValueError:
        return False


class Interruptions:
    def __init__(self, folder, disk, mounted, choose):
        self.folder, self.disk, self.mounted, self.choose = folder, disk, mounted, choose
        self.temporary = folder / "tmp"
        self.temporary.mkdir()
        self.environment = {**os.environ, "TMPDIR": str(self.temporary), "TESSERA_WORKERS": "2"}
        self.bad = []
        self.seen = collections.Counter()

    def start(self, argv, file_limit=None, ignored=None):
        def limit():
            for number in SIGNALS[:-1]:
                signal.signal(number, signal.SIG_IGN if number == ignored else signal.SIG_DFL)
            if file_limit is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (file_limit, file_limit))
        return subprocess.Popen([str(argument) for argument in argv], cwd=self.disk, env=self.environment, stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, preexec_fn=limit)

    def finished(self, argv):
        process = self.start(argv)
        messages = process.communicate()[1].decode()
        if process.returncode:
            sys.exit(f"{' '.join(map(str, argv))}: exit code {process.returncode}: {messages}")

    def prepare(self):
        for name, rows, hidden, constant in (("small", 64, 64, 1), ("large", 2048, 512, 2), ("other", 1024, 512, 3)):
            (self.folder / f"{name}.mlir").write_text(program(rows, hidden, constant))
            self.finished([TESSERA, "compile", self.folder / f"{name}.mlir", "-o", self.folder / f"{name}.tsr"])
        source, other = self.folder / "large.mlir", self.folder / "other.mlir"
        self.pairs = []  # two commands that write the same file, which file, and what it may hold
        for name, argv in (("p.tsr", lambda text: [TESSERA, "compile", text, "-o", "p.tsr"]),
                           ("p.npz", lambda text: [TESSERA, "run", text.with_suffix(".tsr"), "--outputs=p.npz"])):
            both, results = [argv(source), argv(other)], []
            for one in both:
                self.finished(one)
                results.append((self.disk / name).read_bytes())
            self.pairs.append((both, name, results))
        self.commands = []
        for name, files, argv in (
                ("compile", ["p.tsr", "r.json"], lambda text: [TESSERA, "compile", text, "-o", "p.tsr", "--report=r.json"]),
                ("run", ["o.npz", "r.json", "t.json"], lambda text: [TESSERA, "run", text.with_suffix(".tsr"), "--outputs=o.npz", "--report=r.json",
                                                                   "--trace=t.json"]),
                ("explain", ["page.html"], lambda text: [TESSERA, "explain", text, "--html=page.html"]),
                ("tessera-opt", ["m.mlir"], lambda text: [BIN / "tessera-opt", text, "-o", "m.mlir"])):
            contents = []
            for text in (other, source):
                began = time.monotonic()
                self.finished(argv(text))
                seconds = time.monotonic() - began
                contents.append({file: (self.disk / file).read_bytes() for file in files})
            self.commands.append((Command(name, argv(source), *contents), seconds))
        self.clean()

    def clean(self):
        for path in self.disk.iterdir():
            path.unlink()

    def sizes(self):
        sizes = {}
        for entry in os.scandir(self.disk):
            try:
                sizes[entry.name] = entry.stat().st_size
            except FileNotFoundError:
                pass
        return sizes

    def unfinished(self):
        return [name for name in self.sizes() if LEFT_OVER.fullmatch(name)]

    def wait_until_written(self, process, seconds):
        before, end = self.sizes(), time.monotonic() + seconds * 5 + 5
        while process.poll() is None and time.monotonic() < end and all(size == before.get(name, 0) for name, size in self.sizes().items()):
            time.sleep(0.0002)

    def expect(self, what, context, detail):
        if not what:
            self.bad.append(f"{context}: {detail}")
            print(f"BAD {self.bad[-1]}", flush=True)

    def check(self, context, command, code, kill):
        old, new = [], []
        for file in command.old:
            path = self.disk / file
            contents = path.read_bytes() if path.exists() else b""
            old.append(contents == command.old[file])
            new.append(is_json(contents) and not old[-1] if file.endswith(".json") else contents == command.new[file])
            self.expect(old[-1] or new[-1], context, f"{file} is neither the old nor the new one ({len(contents)} bytes)")
        if code == 0:
            self.expect(all(new), context, "exit code 0, and not all files are new")
        elif code == 1:
            self.expect(all(old), context, "exit code 1, and not all files are old")
        self.seen["new" if all(new) else "old" if all(old) else "some of each"] += 1
        extra = [path.name for path in self.disk.iterdir() if path.name not in command.old and path.name != "ballast"]
        left = [name for name in extra if LEFT_OVER.fullmatch(name)]
        self.expect(len(left) == len(extra) and (kill or not left), context, f"left behind: {extra}")
        self.expect(not any(self.temporary.iterdir()), context, f"in TMPDIR: {list(self.temporary.iterdir())}")
        if left:
            self.seen["left after SIGKILL"] += 1
            self.finished([BIN / "tessera-opt", self.folder / "small.mlir", "-o", "next.mlir"])
            self.expect(not self.unfinished(), context, f"the next command did not remove {left}")
            (self.disk / "next.mlir").unlink()

    def interrupt(self, number):
        command, seconds = self.choose.choice(self.commands)
        self.clean()
        for file, contents in command.old.items():
            (self.disk / file).write_bytes(contents)
        if self.choose.random() < 0.25:
            return self.fill(number, command)
        how, while_written = self.choose.choice(SIGNALS), self.choose.random() < 0.5
        moment = self.choose.random() * (0.02 if while_written else 1.1 * seconds)
        context = f"#{number} {command.name}, {how.name} {moment:.4f} s after {'writing began' if while_written else 'the start'}"
        ignored = how == signal.SIGHUP and self.choose.random() < 0.3  # nohup
        process = self.start(command.argv, ignored=how if ignored else None)
        if while_written:
            self.wait_until_written(process, seconds)
        time.sleep(moment)
        process.send_signal(how)
        try:
            messages = process.communicate(timeout=60)[1].decode(errors="replace")
        except subprocess.TimeoutExpired:
            process.kill()
            messages = process.communicate()[1].decode(errors="replace")
            self.expect(False, context, "no end in 60 s")
        self.seen["ignored SIGHUP" if ignored else how.name] += 1
        self.expect(process.returncode in ([0] if ignored else [0, -how]), context, f"exit code {process.returncode}: {messages[-300:]}")
        self.check(context, command, process.returncode, how == signal.SIGKILL)

    def fill(self, number, command):
        room = int(self.choose.random() * sum(map(len, command.new.values())))
        context, limit = f"#{number} {command.name}, a disk with room for {room} bytes", None
        if self.mounted:
            used = sum(-(-path.stat().st_size // 4096) * 4096 for path in self.disk.iterdir())
            (self.disk / "ballast").write_bytes(bytes(max(0, DISK - used - room)))
        else:
            limit = int(self.choose.random() * max(map(len, command.new.values())))
        process = self.start(command.argv, limit)
        messages = process.communicate(timeout=120)[1].decode(errors="replace")
        (self.disk / "ballast").unlink(missing_ok=True)
        self.seen["full"] += 1
        fits = process.returncode == 0 and self.mounted  # the last page
        answer = re.search(r"^error: .*: cannot be written: (No space left on device|File too large)|^error: .*no memory for", messages, re.M)
        self.expect(fits or (process.returncode == 1 and answer), context, f"exit code {process.returncode}: {messages[-300:]}")
        self.check(context, command, process.returncode, False)

    def race(self, number):
        both, name, results = self.pairs[number % 2]
        self.clean()
        context = f"pair {number} that writes {name}"
        processes = [self.start(argv) for argv in both]
        for process in processes:
            messages = process.communicate(timeout=120)[1].decode(errors="replace")
            self.expect(process.returncode == 0, context, f"exit code {process.returncode}: {messages[-300:]}")
        self.expect((self.disk / name).read_bytes() in results, context, "the file is neither's")
        self.expect(os.listdir(self.disk) == [name], context, f"left behind: {os.listdir(self.disk)}")


def mount(disk):
    return shutil.which("mount") and subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tessera", disk], stderr=subprocess.DEVNULL).returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=500, help="interruptions")
    parser.add_argument("--pairs", type=int, default=66)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    # In a mount namespace of its own the disk goes with the process, however it ends.
    if not os.environ.get("TESSERA_OWN_MOUNTS") and shutil.which("unshare") and subprocess.run(["unshare", "-m", "true"], stderr=subprocess.DEVNULL).returncode == 0:
        os.execvpe("unshare", ["unshare", "-m", sys.executable, *sys.argv], {**os.environ, "TESSERA_OWN_MOUNTS": "1"})
    with tempfile.TemporaryDirectory(prefix="interruptions-") as name:
        folder = pathlib.Path(name)
        disk = folder / "disk"
        disk.mkdir()
        mounted = bool(os.environ.get("TESSERA_OWN_MOUNTS")) and mount(disk)
        began = time.monotonic()
        work = Interruptions(folder, disk, mounted, random.Random(options.seed))
        try:
            work.prepare()
            for number in range(options.count):
                work.interrupt(number)
            for number in range(options.pairs):
                work.race(number)
        finally:
            if mounted:
                subprocess.run(["umount", disk])
        counts = ", ".join(f"{count} {what}" for what, count in sorted(work.seen.items()))
        print(f"seed {options.seed}: {options.count} interruptions ({counts}) on {'a disk of 64 MiB' if mounted else 'this disk, with ulimit -f'}, "
              f"{options.pairs} pairs: {len(work.bad)} bad, {time.monotonic() - began:.0f} s")
    sys.exit(bool(work.bad))


if __name__ == "__main__":
    main()
