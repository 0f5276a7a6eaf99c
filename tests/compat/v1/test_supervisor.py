"""Supervisors: their parts, their sessions, and what their threads write."""

import glob
import os
import threading

import numpy as np
import pytest

import tapeflow as tf

v1 = tf.compat.v1


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def events_of(folder):
    """The events in a folder, in the order of the files."""
    return [e for path in sorted(glob.glob(f"{folder}/events*")) for e in v1.train.summary_iterator(path)]


def values_of(folder):
    """The step, tag and value of each summary."""
    return [(e.step, v.tag, v.simple_value) for e in events_of(folder) for v in e.summary.value]


# ---- parts -----------------------------------------------------------------------------------------------------------


def test_the_parts_are_those_of_the_arguments(tmp_path):
    v, step = tf.Variable(1.0), v1.train.create_global_step()
    init, ready, local = v1.global_variables_initializer(), v1.report_uninitialized_variables(), tf.no_op()
    ready_for_local = v1.report_uninitialized_variables([v])
    summary, saver = v1.summary.scalar("s", v), v1.train.Saver([v])
    manager = v1.train.SessionManager(local_init_op=local, ready_op=ready)
    feeds = {"a": 1}
    supervisor = v1.train.Supervisor(
        ready_op=ready,
        ready_for_local_init_op=ready_for_local,
        init_op=init,
        init_feed_dict=feeds,
        local_init_op=local,
        logdir=str(tmp_path),
        summary_op=summary,
        saver=saver,
        global_step=step,
        save_summaries_secs=5,
        save_model_secs=7,
        checkpoint_basename="base",
        session_manager=manager,
        summary_writer=None,
    )
    assert supervisor.is_chief and supervisor.session_manager is manager
    assert supervisor.init_op is init and supervisor.init_feed_dict is feeds
    assert supervisor.ready_op is ready and supervisor.ready_for_local_init_op is ready_for_local
    assert supervisor.summary_op is summary and supervisor.summary_writer is None
    assert supervisor.saver is saver and supervisor.global_step is step
    assert (supervisor.save_summaries_secs, supervisor.save_model_secs) == (5, 7)
    assert supervisor.save_path == str(tmp_path / "base")
    assert isinstance(supervisor.coord, tf.train.Coordinator)


def test_the_parts_by_default(graph, tmp_path):
    tf.Variable(1.0)
    supervisor = v1.train.Supervisor(logdir=str(tmp_path))
    assert supervisor.is_chief and graph.finalized
    assert isinstance(supervisor.session_manager, v1.train.SessionManager)
    assert isinstance(supervisor.saver, v1.train.Saver) and isinstance(supervisor.summary_writer, v1.summary.FileWriter)
    assert supervisor.summary_op is None and supervisor.global_step is None and supervisor.init_feed_dict is None
    assert supervisor.ready_for_local_init_op is None and supervisor.init_op.type == "NoOp"
    assert (supervisor.save_summaries_secs, supervisor.save_model_secs) == (120, 600)
    assert supervisor.save_path == str(tmp_path / "model.ckpt")
    supervisor.summary_writer.close()


def test_what_a_supervisor_that_is_not_the_chief_lacks(tmp_path):
    tf.Variable(1.0)
    supervisor = v1.train.Supervisor(is_chief=False, logdir=str(tmp_path))
    assert not supervisor.is_chief and supervisor.summary_writer is None
    assert supervisor.save_path is None and not list(tmp_path.iterdir())
    assert supervisor.save_summaries_secs is None and supervisor.save_model_secs is None
    with v1.Session() as sess, pytest.raises(RuntimeError, match="Only chief supervisor can start standard services"):
        supervisor.start_standard_services(sess)


def test_without_a_folder_nothing_is_written():
    v = tf.Variable(2.0)
    supervisor = v1.train.Supervisor()
    assert supervisor.summary_writer is None and supervisor.save_path is None
    with supervisor.managed_session() as sess:
        assert sess.run(v) == 2.0 and supervisor.start_standard_services(sess) is None
        with pytest.raises(RuntimeError, match="Writing a summary requires a summary writer"):
            supervisor.summary_computed(sess, b"")


def test_parts_of_collections():
    v = tf.Variable(1.0)
    parts = {"ready_op": tf.no_op("r"), "init_op": v1.global_variables_initializer(), "summary_op": tf.constant(b"")}
    for key, value in parts.items():
        v1.add_to_collection(key, value)
    saver = v1.train.Saver([v])
    v1.add_to_collection(v1.GraphKeys.SAVERS, saver)
    step = v1.train.create_global_step()
    supervisor = v1.train.Supervisor()
    assert supervisor.init_op is parts["init_op"] and supervisor.ready_op is parts["ready_op"]
    assert supervisor.summary_op is parts["summary_op"] and supervisor.saver is saver
    assert supervisor.global_step is step
    assert v1.train.Supervisor(summary_op=None, saver=None, global_step=None).saver is None


def test_supervisors_need_a_graph():
    found = []

    def make():
        with pytest.raises(RuntimeError, match="Supervisors are incompatible with eager execution"):
            v1.train.Supervisor()
        found.append(True)

    thread = threading.Thread(target=make)  # in which no graph is the default
    thread.start()
    thread.join()
    assert found == [True]


# ---- sessions --------------------------------------------------------------------------------------------------------


def test_feeds_and_functions_of_the_beginning():
    x = v1.placeholder(tf.float32, [])
    v = tf.Variable(x)
    seen = []
    supervisor = v1.train.Supervisor(
        init_op=v1.global_variables_initializer(),
        init_feed_dict={x: 4.0},
        init_fn=lambda sess: seen.append(sess.run(v)),
    )
    with supervisor.managed_session() as sess:
        assert sess.run(v) == 4.0 and seen == [4.0]


def test_a_variable_that_begins_with_a_placeholder():
    x = v1.placeholder(tf.float32, [2])
    v = tf.Variable(x * 2.0, name="v")
    w = v1.get_variable("w", initializer=v1.placeholder_with_default(tf.constant([1, 2, 3]), [3]))
    assert v.shape == [2] and v.dtype is tf.float32
    missing = v1.report_uninitialized_variables()
    with v1.Session() as sess:
        with pytest.raises(tf.errors.FailedPreconditionError):
            sess.run(v)
        with pytest.raises(tf.errors.InvalidArgumentError, match="You must feed a value for placeholder"):
            sess.run(v.initializer)
        assert sess.run(missing).tolist() == [b"v", b"w"]
        sess.run(v1.global_variables_initializer(), {x: [3.0, 4.0]})
        assert sess.run(v).tolist() == [6.0, 8.0] and sess.run(w).tolist() == [1, 2, 3]


def test_local_variables_are_initialized():
    v = tf.Variable(1.0)
    local = v1.get_local_variable("local", initializer=3.0)
    doubled = v1.get_local_variable("d", initializer=1.0)
    with v1.train.Supervisor().managed_session() as sess:
        assert sess.run([v, local, doubled]) == [1.0, 3.0, 1.0]


@pytest.mark.parametrize("chief", [True, False])
def test_a_graph_without_variables_is_ready(chief):
    x = tf.constant(3.0)
    supervisor = v1.train.Supervisor(is_chief=chief)
    sess = supervisor.prepare_or_wait_for_session(start_standard_services=False)
    assert sess.run(x) == 3.0
    supervisor.stop()


def test_a_session_that_does_not_become_ready():
    tf.Variable(1.0)
    supervisor = v1.train.Supervisor(is_chief=False, recovery_wait_secs=0.01)
    with pytest.raises(tf.errors.DeadlineExceededError, match="Session was not ready after waiting"):
        supervisor.prepare_or_wait_for_session(max_wait_secs=0.03)


def test_training_resumes(tmp_path):
    step = v1.train.create_global_step()
    more = v1.assign_add(step, 2)
    supervisor = v1.train.Supervisor(logdir=str(tmp_path), save_summaries_secs=0)
    with supervisor.managed_session() as sess:
        assert sess.run(step) == 0
        sess.run([more])
        supervisor.saver.save(sess, supervisor.save_path, supervisor.global_step)
    with supervisor.managed_session() as sess:
        assert sess.run(step) == 2


def test_errors_leave_a_session():
    v = tf.Variable(1.0)
    supervisor = v1.train.Supervisor()
    with pytest.raises(ValueError, match="mine"), supervisor.managed_session() as sess:
        raise ValueError("mine")
    with pytest.raises(RuntimeError, match="closed Session"):
        sess.run(v)
    assert supervisor.should_stop()
    with pytest.raises(ValueError, match="other"), supervisor.managed_session():
        assert not supervisor.should_stop()  # the request is forgotten
        with supervisor.stop_on_exception():
            raise ValueError("other")


def test_input_that_ends_leaves_a_session_without_an_error():
    tf.Variable(1.0)
    supervisor = v1.train.Supervisor()
    with supervisor.managed_session():
        raise tf.errors.OutOfRangeError(None, None, "the end")
    assert supervisor.should_stop()


# ---- threads ---------------------------------------------------------------------------------------------------------


def test_loops_end_with_the_supervisor():
    tf.Variable(1.0)
    supervisor = v1.train.Supervisor()
    calls = []

    def work(a, b):
        calls.append((a, b))
        if len(calls) == 3:
            supervisor.request_stop()

    with supervisor.managed_session():
        thread = supervisor.loop(0, work, args=(1,), kwargs={"b": 2})
        supervisor.wait_for_stop()
    assert calls == [(1, 2)] * 3 and not thread.is_alive()


def test_an_error_in_a_loop():
    tf.Variable(1.0)
    supervisor = v1.train.Supervisor()

    def fail():
        raise ValueError("in a loop")

    with pytest.raises(ValueError, match="in a loop"), supervisor.managed_session():
        supervisor.loop(None, fail)
        supervisor.wait_for_stop()


def test_queue_runners_are_started():
    queue = tf.queue.FIFOQueue(10, tf.int32, [[]])
    v1.train.add_queue_runner(v1.train.QueueRunner(queue, [queue.enqueue_many([[5, 6, 7]])]))
    number = queue.dequeue()
    supervisor = v1.train.Supervisor()
    with supervisor.managed_session() as sess:
        assert [sess.run(number) for _ in range(4)] == [5, 6, 7, 5]
    other = tf.Graph()
    with other.as_default():
        queue = tf.queue.FIFOQueue(10, tf.int32, [[]])
        runner = v1.train.QueueRunner(queue, [queue.enqueue([1])])
        number = queue.dequeue()
        supervisor = v1.train.Supervisor()
        sess = supervisor.prepare_or_wait_for_session(start_standard_services=False)
        threads = supervisor.start_queue_runners(sess, [runner])
        assert sess.run(number) == 1 and len(threads) == 2 and supervisor.start_queue_runners(sess) == []
        supervisor.request_stop()
        supervisor.stop(threads)
        assert not any(thread.is_alive() for thread in threads)


def test_threads_that_do_not_stop():
    tf.Variable(1.0)
    supervisor = v1.train.Supervisor(stop_grace_secs=0.05)
    end = threading.Event()
    thread = threading.Thread(target=end.wait, daemon=True)
    thread.start()
    with pytest.raises(RuntimeError, match="Coordinator stopped with threads still running"):
        supervisor.stop([thread])
    supervisor.stop([thread], ignore_live_threads=True)
    end.set()
    thread.join()


# ---- files -----------------------------------------------------------------------------------------------------------


def test_summaries_that_the_program_computes(tmp_path):
    v = tf.Variable(3.0)
    more = v1.train.create_global_step().assign_add(2, read_value=False)
    summary = v1.summary.scalar("s", v)
    supervisor = v1.train.Supervisor(logdir=str(tmp_path), summary_op=None, save_summaries_secs=0, save_model_secs=0)
    with supervisor.managed_session() as sess:
        supervisor.summary_computed(sess, sess.run(summary), 7)
        sess.run(more)
        supervisor.summary_computed(sess, sess.run(summary))
        supervisor.summary_computed(sess, sess.run(summary), global_step=0)
    assert values_of(tmp_path) == [(7, "s", 3.0), (2, "s", 3.0), (0, "s", 3.0)]


def test_summaries_without_a_step(tmp_path):
    summary = v1.summary.scalar("s", tf.Variable(3.0))
    supervisor = v1.train.Supervisor(logdir=str(tmp_path), summary_op=None, save_summaries_secs=0, save_model_secs=0)
    with supervisor.managed_session() as sess:
        supervisor.summary_computed(sess, sess.run(summary))
    assert values_of(tmp_path) == [(0, "s", 3.0)]


def wait_for(found):
    """Waits until something is found."""
    pause = threading.Event()
    for _ in range(2000):
        if found():
            return
        pause.wait(0.005)
    raise AssertionError("it did not happen")


@pytest.mark.parametrize("with_step", [True, False])
def test_what_the_threads_write(tmp_path, with_step):
    v = tf.Variable(3.0, name="v")
    if with_step:
        v1.train.create_global_step().assign(5)
    v1.summary.scalar("s", v)
    folder = str(tmp_path)
    supervisor = v1.train.Supervisor(logdir=folder, save_summaries_secs=1, save_model_secs=1)
    sess = supervisor.prepare_or_wait_for_session(start_standard_services=False)
    if with_step:
        sess.run(supervisor.global_step.initializer)
    threads = supervisor.start_standard_services(sess)
    assert len(threads) == 2 + with_step
    ending = "-0" if with_step else ""
    wait_for(lambda: v1.train.latest_checkpoint(folder) == supervisor.save_path + ending)

    def written():
        supervisor.summary_writer.flush()
        return any(tag == "s" for _, tag, _ in values_of(folder))

    wait_for(written)
    supervisor.stop()
    assert os.path.exists(f"{folder}/graph.pbtxt")
    assert v1.train.list_variables(folder)[-1] == ("v", [])
    found = events_of(folder)
    kinds = [e.session_log.status for e in found if e.HasField("session_log")]
    # START and CHECKPOINT only with a step; STOP ends both.
    assert kinds[-1] == 2 and (kinds[0] == 1) is with_step and (3 in kinds) is with_step
    assert [e.session_log.checkpoint_path for e in found if e.session_log.status == 3][:1] == (
        [supervisor.save_path] if with_step else []
    )
    assert (0, "s", 3.0) in values_of(folder)
    assert sum(e.HasField("graph_def") or e.HasField("meta_graph_def") for e in found) == 2
    if with_step:
        rates = [value for _, tag, value in values_of(folder) if tag == "global_step/sec"]
        assert rates and rates[0] == 0.0


def test_no_threads_are_asked_for(tmp_path):
    v1.train.create_global_step()
    supervisor = v1.train.Supervisor(logdir=str(tmp_path), save_summaries_secs=0, save_model_secs=0)
    with supervisor.managed_session() as sess:
        assert supervisor.start_standard_services(sess) == []


def test_the_writer_stays_open(tmp_path):
    v = tf.Variable(np.float32(3.0))
    summary = v1.summary.scalar("s", v)
    supervisor = v1.train.Supervisor(logdir=str(tmp_path), summary_op=None, save_model_secs=0)
    with supervisor.managed_session(close_summary_writer=False) as sess:
        text = sess.run(summary)
    supervisor.summary_writer.add_summary(text, 4)
    supervisor.stop()
    assert values_of(tmp_path) == [(4, "s", 3.0)]


def test_a_training_loop_goes_on_after_an_abort():
    v = tf.Variable(0)
    count = v1.assign_add(v, 1)
    supervisor, seen = v1.train.Supervisor(), []

    def train_step(sess, last, by=0):
        seen.append(int(sess.run(count)) + by)
        if len(seen) == 2:
            raise tf.errors.AbortedError(None, None, "preempted")
        if len(seen) == last:
            supervisor.request_stop()

    v1.train.basic_train_loop(supervisor, train_step, args=(4,), kwargs={"by": 10})
    assert seen == [11, 12, 11, 12]
