"""Queue runners: their parts, their messages, and their threads."""

import threading

import pytest

import tapeflow as tf

v1 = tf.compat.v1
train, errors = v1.train, tf.errors


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture
def queue():
    return tf.queue.FIFOQueue(3, tf.int32, [[]], name="q")


def test_parts(queue):
    close, cancel, add = queue.close(), tf.no_op(), queue.enqueue(1)
    runner = train.QueueRunner(queue, [add], close, cancel, (errors.CancelledError, errors.OutOfRangeError))
    assert runner.queue is queue
    assert runner.name == "q"
    assert runner.enqueue_ops == [add]
    assert runner.close_op is close
    assert runner.cancel_op is cancel
    assert runner.queue_closed_exception_types == (errors.CancelledError, errors.OutOfRangeError)
    assert runner.exceptions_raised == []
    plain = train.QueueRunner(queue, [add])
    assert plain.close_op.type.startswith("QueueClose")
    assert plain.close_op.get_attr("cancel_pending_enqueues") is False
    assert plain.cancel_op.get_attr("cancel_pending_enqueues") is True


def test_messages(queue):
    runner = train.QueueRunner(queue, [queue.enqueue(1)])
    for arguments in ({"queue": queue}, {"enqueue_ops": runner.enqueue_ops}):
        with pytest.raises(ValueError, match="queue_runner_def and queue are mutually exclusive"):
            train.QueueRunner(queue_runner_def=runner.to_proto(), **arguments)
    with pytest.raises(ValueError, match="Must provide queue and enqueue_ops"):
        train.QueueRunner(queue, [])


def test_messages_within_scopes():
    with tf.name_scope("in"):
        queue = tf.queue.FIFOQueue(3, tf.int32, [[]], name="q")
        runner = train.QueueRunner(queue, [queue.enqueue(1)], queue_closed_exception_types=(errors.AbortedError,))
    proto = runner.to_proto(export_scope="in")
    assert proto.queue_name == "q"
    assert list(proto.enqueue_op_name) == ["q_enqueue"]
    assert list(proto.queue_closed_exception_types) == [errors.ABORTED]
    assert runner.to_proto().queue_name == "in/q"
    assert runner.to_proto(export_scope="out") is None
    again = train.QueueRunner.from_proto(proto, import_scope="in")
    assert again.name == "in/q"
    assert again.enqueue_ops == runner.enqueue_ops
    assert again.queue_closed_exception_types == (errors.AbortedError,)
    assert (again.close_op, again.cancel_op) == (runner.close_op, runner.cancel_op)
    proto.ClearField("queue_closed_exception_types")
    assert train.QueueRunner.from_proto(proto, "in").queue_closed_exception_types == (errors.OutOfRangeError,)
    with pytest.raises(KeyError):
        train.QueueRunner.from_proto(proto)


def test_runners_need_a_graph():
    found = []

    def make():
        with pytest.raises(RuntimeError, match="not supported when eager execution is enabled"):
            train.QueueRunner()
        with pytest.raises(RuntimeError, match="not compatible with eager execution"):
            train.start_queue_runners()
        found.append(True)

    thread = threading.Thread(target=make)
    thread.start()
    thread.join()
    assert found == [True]


def test_threads(queue):
    numbers = v1.get_local_variable("n", initializer=0)
    runner = train.QueueRunner(queue, [queue.enqueue(numbers.count_up_to(4))] * 2)
    take = queue.dequeue()
    with v1.Session() as sess:
        sess.run(v1.local_variables_initializer())
        threads = runner.create_threads(sess, daemon=True)
        assert len(threads) == 2
        assert not any(t.is_alive() for t in threads)
        assert all(t.daemon for t in threads)
        assert runner.create_threads(sess) == []
        for thread in threads:
            thread.start()
        assert sorted(int(sess.run(take)) for _ in range(4)) == [0, 1, 2, 3]
        with pytest.raises(errors.OutOfRangeError):  # the last thread has closed the queue
            sess.run(take)
        for thread in threads:
            thread.join()
        coord = tf.train.Coordinator()
        again = runner.create_threads(sess, coord, start=True)
        assert len(again) == 3
        assert not again[0].daemon
        coord.request_stop()
        coord.join(again)


def test_errors_without_a_coordinator(queue, monkeypatch):
    raised = []
    monkeypatch.setattr(threading, "excepthook", lambda hook: raised.append(hook.exc_type))
    wrong = queue.enqueue(v1.placeholder(tf.int32, []))
    runner = train.QueueRunner(queue, [wrong])
    with v1.Session() as sess:
        (thread,) = runner.create_threads(sess, start=True)
        thread.join()
        assert raised == [errors.InvalidArgumentError]
        assert [type(e) for e in runner.exceptions_raised] == [errors.InvalidArgumentError]
        assert len(runner.create_threads(sess)) == 1
        assert runner.exceptions_raised == []


def test_a_stop_cancels_the_queue(queue):
    runner = train.QueueRunner(queue, [queue.enqueue(1)])
    with v1.Session() as sess:
        coord = tf.train.Coordinator()
        threads = runner.create_threads(sess, coord, start=True)
        sess.run(queue.dequeue_many(5))
        coord.request_stop()
        coord.join(threads)
        assert not any(t.is_alive() for t in threads)
        with pytest.raises(errors.CancelledError):
            sess.run(queue.enqueue(2))


def test_all_runners_of_a_collection(queue):
    other = tf.queue.FIFOQueue(3, tf.int32, [[]], name="other")
    train.add_queue_runner(train.QueueRunner(queue, [queue.enqueue(1)]))
    train.add_queue_runner(train.QueueRunner(other, [other.enqueue(2)]), collection="mine")
    with v1.Session() as sess:
        assert len(train.start_queue_runners(start=False)) == 1
        coord = tf.train.Coordinator()
        threads = train.start_queue_runners(sess, coord, collection="mine")
        assert len(threads) == 2
        assert all(t.daemon for t in threads)
        assert sess.run(other.dequeue()) == 2
        coord.request_stop()
        coord.join(threads)
        assert train.start_queue_runners(sess, collection="nothing") == []
    with pytest.raises(ValueError, match="No default session is registered"):
        train.start_queue_runners()
    with pytest.raises(TypeError, match=r"sess must be a `tf\.Session` object"):
        train.start_queue_runners("sess")


def test_loopers_wait_between_their_calls():
    coord, calls = tf.train.Coordinator(), []

    def work(*args, **kwargs):
        calls.append((args, kwargs))
        if len(calls) == 2:
            coord.request_stop()

    looper = train.LooperThread.loop(coord, 0.01, work, args=[1], kwargs={"b": 2})
    coord.join([looper])
    assert calls == [((1,), {"b": 2})] * 2
    assert looper.daemon
    stopped = tf.train.Coordinator()
    stopped.request_stop()
    never = train.LooperThread.loop(stopped, None, work)
    never.join()
    assert len(calls) == 2
