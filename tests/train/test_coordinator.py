"""Coordinators: requests to stop, and the exceptions that `join` raises."""

import sys
import threading

import pytest

import tapeflow as tf


def exception_of(error):
    try:
        raise error
    except BaseException:
        return sys.exc_info()


def test_requests():
    coord = tf.train.Coordinator()
    assert not coord.should_stop()
    assert not coord.joined
    assert coord.wait_for_stop(0.001) in (False, None)
    coord.request_stop()
    assert coord.should_stop()
    assert coord.wait_for_stop(10) is True
    coord.join()
    assert coord.joined
    coord.clear_stop()
    assert not coord.should_stop()
    assert not coord.joined


def test_the_first_exception_counts():
    coord = tf.train.Coordinator()
    coord.request_stop(exception_of(KeyError("first")))
    coord.request_stop(exception_of(ValueError("second")))
    for call in (coord.raise_requested_exception, coord.join):
        with pytest.raises(KeyError, match="first"):
            call()
    with pytest.raises(ValueError, match="late"):
        coord.request_stop(exception_of(ValueError("late")))
    coord.request_stop()
    coord.clear_stop()
    coord.raise_requested_exception()
    coord.join()


def test_clean_exceptions():
    end = tf.errors.OutOfRangeError(None, None, "end")
    coord = tf.train.Coordinator()
    with coord.stop_on_exception():
        raise end
    assert coord.should_stop()
    coord.join()
    coord.request_stop(exception_of(end))
    mine = tf.train.Coordinator(clean_stop_exception_types=(KeyError,))
    with mine.stop_on_exception():
        raise KeyError("clean")
    mine.join()
    none = tf.train.Coordinator(clean_stop_exception_types=())
    with none.stop_on_exception():
        raise end
    with pytest.raises(tf.errors.OutOfRangeError):
        none.join()


def test_a_context_without_an_exception():
    coord = tf.train.Coordinator()
    with coord.stop_on_exception():
        pass
    assert not coord.should_stop()


def test_threads_are_joined():
    coord, done = tf.train.Coordinator(), []

    def work():
        coord.wait_for_stop()
        done.append(True)

    registered, given = threading.Thread(target=work), threading.Thread(target=work)
    coord.register_thread(registered)
    for thread in (registered, given):
        thread.start()
    threading.Timer(0.02, coord.request_stop).start()
    coord.join([given])
    assert done == [True, True]
    assert not registered.is_alive()
    assert not given.is_alive()
    coord.join(stop_grace_period_secs=0)  # the registered threads are forgotten


def test_threads_that_end_by_themselves():
    coord = tf.train.Coordinator()
    thread = threading.Thread(target=lambda: None)
    thread.start()
    coord.join([thread])
    assert not coord.should_stop()


def test_threads_that_stay():
    end = threading.Event()
    threads = [threading.Thread(target=end.wait, name=name, daemon=True) for name in ("one", "two")]
    for thread in threads:
        thread.start()
    coord = tf.train.Coordinator()
    coord.request_stop()
    with pytest.raises(RuntimeError, match=r"Coordinator stopped with threads still running: (one two|two one)"):
        coord.join(threads, stop_grace_period_secs=0.01)
    coord.join(threads, stop_grace_period_secs=0.01, ignore_live_threads=True)
    coord = tf.train.Coordinator()
    coord.request_stop(exception_of(KeyError("mine")))
    with pytest.raises(KeyError, match="mine"):
        coord.join(threads, stop_grace_period_secs=0.01)
    end.set()
