"""Ctrl-C: it ends a wait, and the step that is waited for where nothing is lost by it; state stays whole."""

import os
import signal
import threading
import time

import numpy as np
import pytest
import tessera
from conftest import repeated

FOREVER = 2**31 - 1  # trips


@pytest.fixture
def ctrl_c():
    """Sends SIGINT to this process after some seconds."""
    timers = []

    def later(seconds):
        timers.append(threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT)))
        timers[-1].start()

    yield later
    for timer in timers:
        timer.cancel()
        timer.join()


def test_a_step_that_takes_nothing_over_is_given_up(client, ctrl_c):
    executable = client.load(repeated(FOREVER, donate=False))
    x = tessera.device_put(np.ones(64, np.float32), executable.program.inputs[0], client=client)
    (y,) = executable(x)
    assert not y.is_ready()
    ctrl_c(0.2)
    with pytest.raises(KeyboardInterrupt):
        y.block_until_ready()
    with pytest.raises(tessera.CancelledError, match="cancelled"):
        np.asarray(y)
    np.testing.assert_array_equal(x, 1)  # as before


def test_a_step_that_takes_its_inputs_over_runs_to_its_end(client, ctrl_c):
    trips = 300_000
    executable = client.load(repeated(trips, donate=True))
    x = tessera.device_put(np.zeros(64, np.float32), executable.program.inputs[0], client=client)
    (state,) = executable(x)
    if state.is_ready():
        pytest.skip("too fast a machine")
    ctrl_c(0.05)
    with pytest.raises(KeyboardInterrupt):
        while True:
            state.block_until_ready()
    np.testing.assert_array_equal(state, trips)  # whole


def test_a_call_that_waits_for_its_turn_has_taken_nothing(client, ctrl_c):
    executable = client.load(repeated(FOREVER, donate=True))
    first, second, third = (
        tessera.device_put(np.full(64, i, np.float32), executable.program.inputs[0], client=client) for i in range(3)
    )
    outputs = [*executable(first), *executable(second)]  # one executes, one is ready to
    ctrl_c(0.2)
    with pytest.raises(KeyboardInterrupt):
        executable(third)
    np.testing.assert_array_equal(third, 2)
    assert first.is_deleted() and second.is_deleted()
    executable.cancel()
    for output in outputs:
        with pytest.raises(tessera.CancelledError):
            output.block_until_ready()


def test_without_donation_even_such_a_step_can_be_given_up(client, ctrl_c):
    executable = client.load(repeated(FOREVER, donate=True))
    x = tessera.device_put(np.ones(64, np.float32), executable.program.inputs[0], client=client)
    (y,) = executable.execute([x], donate=False)
    ctrl_c(0.2)
    with pytest.raises(KeyboardInterrupt):
        y.block_until_ready()
    with pytest.raises(tessera.CancelledError):
        y.block_until_ready()
    np.testing.assert_array_equal(x, 1)


def test_what_a_donating_step_needs_is_not_given_up(client, ctrl_c):
    """Its donated state would be lost."""
    trips = 300_000
    first = client.load(repeated(trips, donate=False))
    second = client.load(repeated(10, donate=True))
    (x,) = first(np.zeros(64, np.float32))
    (state,) = second.execute([x], donate=True)
    if state.is_ready():
        pytest.skip("too fast a machine")
    ctrl_c(0.05)
    with pytest.raises(KeyboardInterrupt):
        while True:
            state.block_until_ready()
    np.testing.assert_array_equal(state, trips + 10)


def test_other_handlers_are_called(client):
    executable = client.load(repeated(FOREVER, donate=False))
    (y,) = executable(np.ones(64, np.float32))
    calls = []

    def handler(number, frame):
        calls.append(number)
        if len(calls) == 2:
            raise TimeoutError("enough")

    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05, 0.1)
        with pytest.raises(TimeoutError, match="enough"):
            y.block_until_ready()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert len(calls) >= 2


def test_cancelling_from_another_thread(client):
    executable = client.load(repeated(FOREVER, donate=False))
    (y,) = executable(np.ones(64, np.float32))
    threading.Timer(0.1, executable.cancel).start()
    begin = time.monotonic()
    with pytest.raises(tessera.CancelledError):
        y.block_until_ready()
    assert time.monotonic() - begin < 60
