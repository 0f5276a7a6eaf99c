"""Hooks that stop, log and wait, and their timers."""

import glob
import logging

import numpy as np
import pytest

import tapeflow as tf

v1 = tf.compat.v1
train = v1.train


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture
def log(caplog):
    """The messages that TensorFlow's logger has received."""
    logger = v1.logging.get_logger() if hasattr(v1.logging, "get_logger") else logging.getLogger("tensorflow")
    propagates, level = logger.propagate, logger.level
    logger.propagate = True
    logger.setLevel(logging.INFO)
    yield lambda: [record.getMessage() for record in caplog.records if record.name == "tensorflow"]
    logger.propagate = propagates
    logger.setLevel(level)


def count_steps(by=1):
    """An operation that counts the global step up."""
    return v1.assign_add(train.get_or_create_global_step(), by)


def run_until_stop(hooks, fetch):
    """The values of a fetch until a hook requests a stop."""
    found = []
    with train.MonitoredSession(hooks=hooks) as sess:
        while not sess.should_stop():
            found.append(sess.run(fetch))
    return found


# ---- stopping --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "by", "steps"),
    [
        ({"num_steps": 2}, 1, [4, 5]),
        ({"num_steps": 3}, 2, [5, 7]),
        ({"last_step": 5}, 1, [4, 5]),
        ({"last_step": 1}, 1, [4]),
    ],
)
def test_the_last_step(options, by, steps):
    train.create_global_step()
    add = count_steps(by)
    first = train.Scaffold(init_fn=lambda scaffold, sess: sess.run(begin))
    begin = v1.assign(train.get_global_step(), 3).op
    found = []
    with train.MonitoredSession(train.ChiefSessionCreator(first), [train.StopAtStepHook(**options)]) as sess:
        while not sess.should_stop():
            found.append(int(sess.run(add)))
    assert found == steps


def test_waiting_for_nothing():
    x = tf.constant(1.0)
    train.create_global_step()
    hook = train.GlobalStepWaiterHook(0)
    with train.MonitoredSession(hooks=[hook]) as sess:
        assert [sess.run(x), sess.run(x)] == [1.0, 1.0]


def test_waiting_for_a_step_only_at_first():
    step = train.get_or_create_global_step()
    x, back, reads = tf.constant(1.0), v1.assign(step, 0).op, []

    class Session:
        def __init__(self, sess):
            self.sess = sess

        def run(self, fetch):
            reads.append(fetch)
            return 2 + len(reads)

    hook = train.GlobalStepWaiterHook(5)
    hook._POLL_SECONDS = 0.001
    hook.begin()
    with v1.Session() as sess:
        sess.run([step.initializer])
        context = type("Context", (), {"session": Session(sess)})()
        assert hook.before_run(context) is None
        assert len(reads) == 3
        hook.before_run(context)
        assert len(reads) == 3
        sess.run([back, x])


# ---- logging ---------------------------------------------------------------------------------------------------------


def test_logged_tensors(log):
    tf.constant([1.0, 2.5], name="x")
    y = tf.constant(3, name="y")
    hooks = [train.LoggingTensorHook({"b": y, "a": "x:0"}, every_n_iter=2)]
    with train.MonitoredSession(hooks=hooks) as sess:
        for _ in range(4):
            sess.run(y)
    found = [m for m in log() if m.startswith("a =")]
    assert found[0] == "a = [1.  2.5], b = 3"
    assert len(found) == 2
    assert found[1].startswith("a = [1.  2.5], b = 3 (")
    assert found[1].endswith(" sec)")


@pytest.mark.parametrize(("options", "count"), [({"at_end": True}, 1), ({"at_end": True, "every_n_iter": 2}, 3)])
def test_logs_at_the_end(log, options, count):
    x = tf.constant(1.5, name="x")
    with train.MonitoredSession(hooks=[train.LoggingTensorHook(["x"], **options)]) as sess:
        for _ in range(3):
            sess.run(x)
    assert sum(m.startswith("x = 1.5") for m in log()) == count


def test_logs_by_seconds(log):
    x = tf.constant(1.5, name="x")
    for seconds, count in ((1000, 1), (0, 3)):
        with train.MonitoredSession(hooks=[train.LoggingTensorHook([x], every_n_secs=seconds)]) as sess:
            before = len(log())
            for _ in range(3):
                sess.run(x)
        assert sum("= 1.5" in m for m in log()[before:]) == count


def test_logs_in_another_format(log):
    x, y = tf.constant(1.5), tf.constant(2)
    hook = train.LoggingTensorHook({"x": x, "y": y}, every_n_iter=1, formatter=lambda d: f"{d['y']} before {d['x']}")
    with train.MonitoredSession(hooks=[hook]) as sess:
        sess.run(x)
    assert "2 before 1.5" in log()


def test_what_can_not_be_logged():
    with tf.Graph().as_default():
        other = tf.constant(1.0)
    tf.unique(tf.constant([1, 2]), name="pair")
    for tensor, kind, message in (
        (other, ValueError, "should have graph attribute that is equal to current graph"),
        ("pair", ValueError, "Name pair is ambiguous, as this `Operation` has multiple outputs"),
        ("nothing", KeyError, "nothing"),
    ):
        with pytest.raises(kind, match=message):
            train.MonitoredSession(hooks=[train.LoggingTensorHook([tensor], every_n_iter=1)])
    assert v1.train.LoggingTensorHook(["pair:1"], every_n_iter=1).begin() is None


# ---- rates -----------------------------------------------------------------------------------------------------------


def test_a_step_that_stays_is_told_five_times(log):
    x = tf.constant(1.0)
    train.create_global_step()
    with train.MonitoredSession(hooks=[train.StepCounterHook(every_n_steps=1)]) as sess:
        for _ in range(8):
            sess.run(x)
    assert sum("global step" in m for m in log()) == 5
    add = None
    with tf.Graph().as_default():
        add = count_steps()
        before = len(log())
        with train.MonitoredSession(hooks=[train.StepCounterHook(every_n_steps=1)]) as sess:
            for _ in range(3):
                sess.run(add)
    assert not any("(tf.train.get_global_step)" in m for m in log()[before:])


@pytest.mark.parametrize("by_writer", [True, False])
def test_rates_of_steps_in_files(tmp_path, by_writer):
    add = count_steps()
    folder = str(tmp_path)
    writer = v1.summary.FileWriterCache.get(folder)
    where = {"summary_writer": writer} if by_writer else {"output_dir": folder}
    with train.MonitoredSession(hooks=[train.StepCounterHook(every_n_steps=2, **where)]) as sess:
        for _ in range(5):
            sess.run(add)
    writer.flush()
    events = [e for path in glob.glob(f"{folder}/events*") for e in v1.train.summary_iterator(path)]
    rates = [(e.step, v.tag, v.simple_value > 0) for e in events for v in e.summary.value]
    assert rates == [(3, "global_step/sec", True), (5, "global_step/sec", True)]


# ---- losses and ends -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fails", [True, False])
def test_losses(fails):
    x = v1.placeholder_with_default(1.0, [])
    hook = train.NanTensorHook(x, fail_on_nan_loss=fails)
    with train.MonitoredSession(hooks=[hook]) as sess:
        assert sess.run(x) == 1.0
        assert not sess.should_stop()
        assert np.isinf(sess.run(x, {x: np.inf}))
        assert not sess.should_stop()
        if fails:
            with pytest.raises(train.NanLossDuringTrainingError, match="NaN loss during training"):
                sess.run(x, {x: np.nan})
        else:
            assert np.isnan(sess.run(x, {x: np.nan}))
            assert sess.should_stop()


def test_final_operations():
    x = v1.placeholder(tf.float32, [])
    hook = train.FinalOpsHook({"x": x, "y": [x + 1.0]}, {x: 2.0})
    with train.MonitoredSession(hooks=[hook]):
        assert hook.final_ops_values is None
    assert hook.final_ops_values == {"x": 2.0, "y": [3.0]}
    nothing = train.FinalOpsHook(None)
    with train.MonitoredSession(hooks=[nothing]):
        pass
    assert nothing.final_ops_values is None


def test_feeds_of_a_function():
    x = v1.placeholder(tf.float32, [])
    values = iter([1.0, 2.0])
    with train.MonitoredSession(hooks=[train.FeedFnHook(lambda: {x: next(values)})]) as sess:
        assert [sess.run(x), sess.run(x)] == [1.0, 2.0]


# ---- timers ----------------------------------------------------------------------------------------------------------


def test_a_timer_of_steps():
    timer = train.SecondOrStepTimer(every_steps=3)
    assert timer.should_trigger_for_step(7)
    assert timer.last_triggered_step() is None
    assert timer.update_last_triggered_step(7) == (None, None)
    assert [timer.should_trigger_for_step(step) for step in (7, 8, 9, 10, 11)] == [False, False, False, True, True]
    seconds, steps = timer.update_last_triggered_step(11)
    assert seconds >= 0
    assert steps == 4
    assert timer.last_triggered_step() == 11
    timer.reset()
    assert timer.should_trigger_for_step(11)
    assert timer.last_triggered_step() is None


def test_a_timer_of_seconds():
    for seconds, due in ((1000.0, False), (0.0, True)):
        timer = train.SecondOrStepTimer(every_secs=seconds)
        timer.update_last_triggered_step(1)
        assert timer.should_trigger_for_step(2) is due
        assert not timer.should_trigger_for_step(1)


def test_the_context_of_a_run():
    context = train.SessionRunContext(train.SessionRunArgs("f", {"a": 1}), "session")
    assert context.original_args == ("f", {"a": 1}, None)
    assert context.session == "session"
    assert context.stop_requested is False
    context.request_stop()
    assert context.stop_requested is True
    values = train.SessionRunValues(1, 2, 3)
    assert (values.results, values.options, values.run_metadata) == (1, 2, 3)
