"""The queue of scheduled functions, with the workers' part played by the test."""

import threading

import pytest

import tapeflow as tf
from tapeflow.distribute.parameter_server.queue import Closure, ClosureQueue


def closures(count):
    return [Closure(lambda worker, i=i: i) for i in range(count)]


def test_closures_come_in_order():
    queue, (first, second) = ClosureQueue(), closures(2)
    assert queue.done() and queue.join() is None and not queue.stopped
    queue.put(first)
    queue.put(second)
    assert not queue.done() and queue.take() is first and queue.take() is second
    assert first.run(None) == 0 and not queue.done()
    queue.end(first, {"a": tf.constant(5), "b": "text"})
    assert not queue.done()
    queue.end(second)
    assert queue.done() and queue.join() is None
    value = first.value
    assert isinstance(value.get()["a"], tf.Tensor) and value.fetch() == {"a": 5, "b": "text"}
    assert second.value.get() is None


def test_a_closure_that_comes_back_is_the_next():
    queue, (first, second) = ClosureQueue(), closures(2)
    queue.put(first)
    queue.put(second)
    queue.put_back(queue.take())
    assert queue.take() is first and queue.take() is second
    queue.end(first)
    queue.end(second)
    assert queue.done()


@pytest.mark.parametrize("method", ["join", "done", "put"])
def test_the_first_error_is_raised_once(method):
    queue, (first, second, third, fourth) = ClosureQueue(), closures(4)
    for closure in (first, second, third):
        queue.put(closure)
    for closure in (queue.take(), queue.take()):
        queue.end(closure, error=KeyError(closure.run(None)))
    with pytest.raises(KeyError, match="0"):
        queue.put(fourth) if method == "put" else getattr(queue, method)()
    with pytest.raises(KeyError, match="1"):
        second.value.get()
    for cancelled in (third, fourth)[: 2 if method == "put" else 1]:
        with pytest.raises(tf.errors.CancelledError, match="Please reschedule the function"):
            cancelled.value.fetch()
    assert queue.done()
    queue.put(fourth)
    assert queue.take() is fourth


def test_an_error_waits_for_those_that_run():
    queue, (first, second, third) = ClosureQueue(), closures(3)
    for closure in (first, second, third):
        queue.put(closure)
    queue.take(), queue.take()
    queue.end(first, error=KeyError("first"))
    raised = []

    def join():
        try:
            queue.join()
        except KeyError as error:
            raised.append((error, second.value.get()))

    thread = threading.Thread(target=join)
    thread.start()
    with pytest.raises(tf.errors.CancelledError):
        third.value.get()  # waits until the thread has begun
    assert raised == []
    queue.end(second, 7)
    thread.join(60)
    assert [result for _, result in raised] == [7]


def test_a_closure_that_comes_back_after_an_error_is_cancelled():
    queue, (first, second) = ClosureQueue(), closures(2)
    queue.put(first)
    queue.put(second)
    queue.take(), queue.take()
    queue.end(first, error=KeyError("first"))
    queue.put_back(second)
    with pytest.raises(KeyError):
        queue.join()
    with pytest.raises(tf.errors.CancelledError):
        second.value.get()


def in_thread(function):
    """Starts a thread, and returns it and the list that its result goes to."""
    results = []
    thread = threading.Thread(target=lambda: results.append(function()))
    thread.start()
    return thread, results


def test_workers_wait_for_closures_and_end():
    queue, (closure,) = ClosureQueue(), closures(1)
    thread, taken = in_thread(queue.take)
    queue.put(closure)
    thread.join(60)
    assert taken == [closure]
    thread, taken = in_thread(queue.take)
    queue.stop()
    thread.join(60)
    assert taken == [None] and queue.stopped and queue.take() is None


def test_programs_wait_for_results():
    queue, (closure,) = ClosureQueue(), closures(1)
    queue.put(closure)
    threads = [in_thread(queue.join), in_thread(closure.value.get)]
    assert queue.take() is closure and threads[1][1] == []
    queue.end(closure, 3)
    for thread, _ in threads:
        thread.join(60)
    assert [results for _, results in threads] == [[None], [3]]
