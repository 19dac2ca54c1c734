"""Threads, forks, interpreters, and the end of a process with steps on their way."""

import signal
import subprocess
import sys
import textwrap
import threading

import numpy as np
import tessera


def run(text, *program, expect=0):
    """A process of its own; what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(text), *program], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == expect, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def test_threads_share_an_executable(client, layer, rng):
    executable = client.load(layer)
    wrong = []

    def work(seed):
        own = np.random.default_rng(seed)
        w = own.normal(size=(16, 12)).astype(np.float32)
        for _ in range(30):
            x = own.normal(size=(6, 16)).astype(np.float32)
            (y,) = executable(w, x)
            if not np.allclose(y, np.tanh(x @ w), rtol=1e-4, atol=1e-5):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_one_of_two_threads_gets_what_is_donated(client, update):
    executable = client.load(update)
    x = np.ones((6, 8), np.float32)
    for _ in range(20):
        state = tessera.device_put(np.zeros(8, np.float32), executable.program.inputs[0], client=client)
        results = []

        def work(state=state, results=results):
            try:
                results.append(np.asarray(executable(state, x)[0])[0])
            except tessera.FailedPreconditionError:
                results.append("donated")

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(map(str, results)) == ["6.0", "donated", "donated"]


def test_a_fork_has_a_client_of_its_own(update, tmp_path):
    path = tmp_path / "update.tsr"
    update.save(path)
    out = run(
        """
        import os, sys
        import numpy as np, tessera
        program = tessera.Program.load(sys.argv[1])
        x = np.ones((6, 8), np.float32)
        executable = tessera.default_client().load(program)
        state = executable(np.zeros(8, np.float32), x)[0].block_until_ready()
        child = os.fork()
        if child == 0:
            assert float(state[0]) == 6               # what was there can be read
            try:
                executable(state, x)
            except tessera.FailedPreconditionError as e:
                assert "fork" in str(e), e
            else:
                os._exit(2)
            own = tessera.default_client().load(program)(np.asarray(state), x)[0]
            os._exit(0 if float(own[0]) == 12 else 3)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert float(executable(state, x)[0][0]) == 12
        print("done")
        """,
        str(path),
    )
    assert out == "done\n"


LONG = """
import os, sys, threading, time
import numpy as np, tessera
executable = tessera.default_client().load(tessera.Program.load(sys.argv[1]))
y = executable(np.ones(64, np.float32))[0]
"""


def test_a_process_ends_while_steps_are_on_their_way(tmp_path):
    from conftest import repeated

    path = str(tmp_path / "long.tsr")
    repeated(2**31 - 1, donate=False).save(path)
    assert run(LONG + "print('out')", path) == "out\n"
    assert "no way" in run(LONG + "raise SystemExit('no way')", path, expect=1)
    waiting = "threading.Timer(1, os.kill, (os.getpid(), 2)).start()\ny.block_until_ready()\n"
    assert "KeyboardInterrupt" in run(LONG + waiting, path, expect=-signal.SIGINT)
    child = """
if os.fork() == 0:
    try:
        y.block_until_ready()
    except tessera.FailedPreconditionError:
        print("told", flush=True)
    os._exit(0)
os.wait()
"""
    assert run(LONG + child, path) == "told\n"


def test_other_interpreters_are_refused():
    out = run(
        """
        import _xxsubinterpreters as interpreters
        text = "try:\\n  import tessera\\nexcept ImportError as e:\\n  print(e, e.__cause__, flush=True)"
        interpreters.run_string(interpreters.create(), text)
        """
    )
    assert "main interpreter" in out


def test_the_compiler_is_loaded_when_something_is_compiled():
    maps = "any('libLLVM' in line for line in open('/proc/self/maps'))"
    out = run(f"import sys, tessera; print({maps}, 'jax' in sys.modules); tessera.compile(sys.argv[1]); print({maps})", MODULE)
    assert out == "False False\nTrue\n"


MODULE = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
"""

