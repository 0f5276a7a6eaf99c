"""The limits of operations that wait."""

import threading
import time

import pytest

import tapeflow as tf
from tapeflow_compat.queue import waits


@pytest.fixture
def condition():
    condition = threading.Condition()
    with condition:
        yield condition


def never():
    return False


def test_limits_of_a_thread():
    assert waits.limit() == 0
    with waits.time_limit(50.0):
        assert 40.0 < waits.limit() <= 50.0
        with waits.time_limit(0):
            assert waits.limit() == 0
        with waits.time_limit(5.0):
            assert 4.0 < waits.limit() <= 5.0
        assert 40.0 < waits.limit() <= 50.0
        seen = []
        thread = threading.Thread(target=lambda: seen.append(waits.limit()))
        thread.start()
        thread.join()
        assert seen == [0]  # another thread has none
    assert waits.limit() == 0
    with waits.time_limit(1e-9):
        assert waits.limit() == 1e-3  # the least


def test_a_condition_that_holds_is_not_waited_for(condition):
    waited = []
    with waits.observed(lambda: waited.append(1), threading.Event()):
        waits.wait_until(condition, lambda: True)
    assert waited == []


def test_waits_end_with_their_limit(condition):
    began = time.monotonic()
    with waits.time_limit(0.02), pytest.raises(tf.errors.DeadlineExceededError, match="Timed out waiting for notif"):
        waits.wait_until(condition, never)
    assert time.monotonic() - began < 5.0


def test_waits_are_observed_and_stopped(condition):
    waited, stopped = [], threading.Event()

    def on_wait():
        waited.append(1)
        stopped.set()

    with waits.observed(on_wait, stopped):
        with pytest.raises(tf.errors.CancelledError, match="Another operation of the same run failed"):
            waits.wait_until(condition, never)
        with waits.observed(lambda: waited.append(2), stopped), pytest.raises(tf.errors.CancelledError):
            waits.wait_until(condition, never)
        assert waited == [1, 2]
    outcomes = iter([False, True])
    waits.wait_until(condition, lambda: next(outcomes))  # neither observed nor stopped
    assert waited == [1, 2]


def test_waits_end_with_the_program(condition, monkeypatch):
    assert waits.ending() is False
    ended = threading.Event()
    ended.set()
    monkeypatch.setattr(waits, "_ending", ended)
    assert waits.ending() is True
    with pytest.raises(tf.errors.CancelledError, match="The program ends"):
        waits.wait_until(condition, never)


def test_waits_end_some_time_after_the_main_thread(condition, monkeypatch):
    monkeypatch.setattr(waits, "ending", lambda: True)
    monkeypatch.setattr(waits, "_PATIENCE", 0.01)
    monkeypatch.setattr(waits, "_POLL", 0.005)
    asked = []
    with pytest.raises(tf.errors.CancelledError, match="The program ends"):
        waits.wait_until(condition, lambda: asked.append(1))
    assert len(asked) > 1  # not at once


def test_threads_are_stopped_at_the_end(monkeypatch):
    monkeypatch.setattr(waits, "_ending", threading.Event())
    monkeypatch.setattr(waits, "_threads", {})
    asked = []

    class Coordinator:
        def request_stop(self):
            asked.append(1)
            release.set()

    class Thread(threading.Thread):
        joined = None

        def join(self, timeout=None):
            Thread.joined = timeout
            super().join(timeout)

    release = threading.Event()
    thread, ended = Thread(target=release.wait), threading.Thread(target=lambda: None)
    for other in (thread, ended):
        other.start()
    ended.join()
    waits.stopped_at_exit(thread, Coordinator())
    waits.stopped_at_exit(ended)
    waits._stop_all()
    assert waits._ending.is_set() and asked == [1] and not thread.is_alive()
    assert Thread.joined is None or 0 < Thread.joined <= 2.0
