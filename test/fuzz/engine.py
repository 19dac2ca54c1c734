"""tessera-fuzz as an object: command lines in, how they ended out."""
import collections
import os
import re
import subprocess

Answer = collections.namedtuple("Answer", "end messages seconds")  # end: ok, error, or what is bad about it


class Engine:
    def __init__(self, binary, seconds, limit_bytes, folder, **environment):
        self.process = subprocess.Popen([binary, f"--seconds={seconds}", f"--bytes={limit_bytes}"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, cwd=folder, env={**os.environ, **environment})

    def run(self, *arguments):
        line = "\t".join(str(argument).replace("\t", " ").replace("\n", " ") for argument in arguments)
        self.process.stdin.write(line.encode(errors="surrogateescape") + b"\n")
        self.process.stdin.flush()
        kind, code, seconds, size = self.process.stdout.readline().split()
        messages = self.process.stdout.read(int(size)).decode(errors="replace")
        return Answer(describe(kind.decode(), int(code), messages, float(seconds)), messages, float(seconds))

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def describe(kind, code, messages, seconds):
    if kind == "exit" and code == 0:
        return "ok"
    if kind == "exit" and code == 1:
        if re.search(r"a mistake in Tessera|std::|bad_alloc", messages):
            return "an error that is no answer: " + messages.strip()[:200]
        if re.search(r"(^|: )error: ", messages, re.M):
            return "error"
        return "exit code 1 without an error line"
    if kind == "signal" and code in (14, 24, 9):
        return f"no end in {seconds:.0f} s"
    if kind == "exit" and code == 3:
        return "wrong: " + messages.strip()[:60]
    words = re.search(r"Assertion .*? failed|runtime error: .*|ERROR: \w+: [\w-]+|terminate called.*\n.*|LLVM ERROR.*", messages)
    return f"{kind} {code}" + (f": {words[0]}" if words else "")


def same_kind(one, other):
    """Whether two bad ends look like one mistake."""
    plain = lambda end: re.sub(r"\d+|0x[0-9a-f]+|'[^']*'", "#", end)[:60]
    return plain(one) == plain(other)
