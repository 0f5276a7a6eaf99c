"""Monitored sessions of TensorFlow 1: their hooks, what they initialize and restore, and what stops them."""

import threading

import pytest

import tapeflow as tf
from tapeflow.compat import v1

errors, train = tf.errors, v1.train


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        yield made
    v1.summary.FileWriterCache.clear()


def counting():
    """An operation that counts the global step up."""
    return v1.assign_add(train.get_or_create_global_step(), 1)


def events(folder):
    found = []
    for path in sorted(folder.glob("events.*")):
        found += [e for e in train.summary_iterator(str(path)) if not e.HasField("file_version")]
    return found


class Recorder(train.SessionRunHook):
    def __init__(self, fetches=None, feeds=None):
        self.args, self.calls, self.results = train.SessionRunArgs(fetches, feeds), [], []

    def begin(self):
        self.calls.append("begin")

    def after_create_session(self, session, coord):
        self.calls.append("created")

    def before_run(self, run_context):
        self.calls.append("before")
        return self.args

    def after_run(self, run_context, run_values):
        self.calls.append("after")
        self.results.append(run_values.results)

    def end(self, session):
        self.calls.append("end")


# ---- runs ------------------------------------------------------------------------------------------------------------


def test_hooks_are_called_around_runs_and_add_to_them():
    x = v1.placeholder(tf.float32, [], name="x")
    y = x * 2.0
    one, two = Recorder({"y": y, "again": [y]}), Recorder(feeds={x: 5.0})
    with train.MonitoredSession(hooks=[one, two]) as sess:
        assert sess.run([y, "x:0"]) == [10.0, 5.0]
        assert not sess.should_stop()
    assert one.calls == two.calls == ["begin", "created", "before", "after", "end"]
    assert one.results == [{"y": 10.0, "again": [10.0]}]
    assert two.results == [None]
    assert sess.should_stop() and sess.graph is None


def test_a_tensor_is_fed_once():
    x = v1.placeholder(tf.float32, [], name="x")
    y = x * 2.0
    hook = Recorder(feeds={x: 5.0})
    with train.MonitoredSession(hooks=[hook]) as one, pytest.raises(RuntimeError, match="a SessionRunHook and user"):
        one.run(y, {x: 1.0})
    with train.MonitoredSession(hooks=[hook] * 2) as two, pytest.raises(RuntimeError, match="fed by two hooks"):
        two.run(y)


def test_what_a_hook_asks_for_ends_up_in_the_options():
    seen = []

    class Asking(train.SessionRunHook):
        def before_run(self, run_context):
            return train.SessionRunArgs(None, options=v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE))

        def after_run(self, run_context, run_values):
            seen.append((run_context.original_args.fetches, run_values.options.trace_level))

    x = tf.constant(1.0)
    with train.MonitoredSession(hooks=[Asking()]) as sess:
        sess.run(x)
    assert seen == [(x, v1.RunOptions.FULL_TRACE)]


def test_nothing_runs_after_a_stop():
    add = counting()
    with train.MonitoredSession(hooks=[train.StopAtStepHook(num_steps=2)]) as sess:
        assert [sess.run(add), sess.should_stop(), sess.run(add), sess.should_stop()] == [1, False, 2, True]
        with pytest.raises(RuntimeError, match="after should_stop requested"):
            sess.run(add)
    with pytest.raises(RuntimeError, match="already closed"):
        sess.close()


def test_the_end_of_the_input_is_no_error_and_others_are():
    queue = tf.queue.FIFOQueue(2, tf.int32, shapes=[[]])
    take, close = queue.dequeue(), queue.close()
    hook = Recorder()
    with train.MonitoredSession(hooks=[hook]) as sess:
        sess.run(close)
        sess.run(take)
        raise AssertionError("the run above ends the block")
    assert hook.calls[-1] == "end"
    hook = Recorder()
    with pytest.raises(ZeroDivisionError), train.MonitoredSession(hooks=[hook]) as sess:
        1 / 0  # noqa: B018
    assert "end" not in hook.calls


def test_steps_with_and_without_hooks():
    x = tf.constant(3.0)
    hook = Recorder(x)

    def step(step_context):
        plain = step_context.session.run(x)
        return plain + step_context.run_with_hooks(x)

    with train.MonitoredSession(hooks=[hook]) as sess:
        assert sess.run_step_fn(step) == 6.0
        with pytest.raises(ValueError, match="`step_fn` may either have one `step_context` argument"):
            sess.run_step_fn(lambda other: None)
        sess.run_step_fn(lambda step_context: step_context.request_stop())
        raise AssertionError("the step above ends the block")
    assert hook.results == [3.0]


def test_a_session_that_is_preempted_goes_on_in_a_new_one():
    add = counting()
    preempted = [errors.AbortedError(None, None, "gone"), errors.UnavailableError(None, None, "gone")]

    class Preempt(train.SessionRunHook):
        sessions = 0

        def after_create_session(self, session, coord):
            self.sessions += 1

        def before_run(self, run_context):
            if preempted:
                raise preempted.pop()

    hook = Preempt()
    with train.MonitoredSession(hooks=[hook]) as sess:
        assert sess.run(add) == 1
    assert hook.sessions == 3
    preempted.append(errors.AbortedError(None, None, "gone"))
    with pytest.raises(errors.AbortedError), train.SingularMonitoredSession(hooks=[hook]) as single:
        single.run(add)


def test_what_a_thread_raises_comes_out_of_the_session():
    x = tf.constant(1.0)

    class Threads(train.SessionRunHook):
        def after_create_session(self, session, coord):
            self.coord = coord

    hook = Threads()
    with pytest.raises(KeyError, match="lost"), train.SingularMonitoredSession(hooks=[hook]) as sess:
        assert sess.raw_session().run(x) == 1.0
        hook.coord.request_stop(KeyError("lost"))
        sess.should_stop()
    hook = Threads()
    with pytest.raises(KeyError, match="lost"), train.MonitoredSession(hooks=[hook]) as sess:
        hook.coord.request_stop(KeyError("lost"))
        assert sess.should_stop()


def test_the_graph_is_final_until_the_end(graph):
    with train.MonitoredSession(), pytest.raises(RuntimeError, match="finalized"):
        tf.constant(1.0)
    tf.constant(1.0)
    graph.finalize()
    with train.MonitoredSession():
        pass
    assert graph.finalized


# ---- hooks -----------------------------------------------------------------------------------------------------------


def test_a_loss_that_is_no_number():
    loss = tf.math.log(-1.0)
    diverged = pytest.raises(train.NanLossDuringTrainingError, match="NaN loss during training")
    with diverged, train.MonitoredSession(hooks=[train.NanTensorHook(loss)]) as sess:
        sess.run(loss)
    with train.MonitoredSession(hooks=[train.NanTensorHook(loss, fail_on_nan_loss=False)]) as sess:
        sess.run(loss)
        assert sess.should_stop()


def test_logging(caplog):
    caplog.set_level("INFO", "tensorflow")
    x, add = tf.constant([1e-9, 2.0], name="x"), counting()
    every_two = train.LoggingTensorHook({"b": "x:0", "a": add}, every_n_iter=2)
    at_end = train.LoggingTensorHook(["x"], at_end=True, formatter=lambda values: f"end {sorted(values)}")
    with train.MonitoredSession(hooks=[every_two, at_end]) as sess:
        for _ in range(3):
            sess.run(x)
    said = [m for m in caplog.messages if m.startswith(("a = ", "end"))]
    assert said[0] == "a = 1, b = [0. 2.]"
    assert said[1].startswith("a = 2, b = [0. 2.] (") and said[1].endswith(" sec)")
    assert said[2:] == ["end ['x']"]


def test_the_rate_of_steps_is_logged_and_written(tmp_path, caplog):
    caplog.set_level("INFO", "tensorflow")
    add, x = counting(), tf.constant(1.0)
    with train.MonitoredSession(hooks=[train.StepCounterHook(every_n_steps=2, output_dir=str(tmp_path))]) as sess:
        for _ in range(5):
            sess.run(add)
        sess.run(x)
    v1.summary.FileWriterCache.clear()
    written = [(e.step, e.summary.value[0].tag) for e in events(tmp_path) if e.HasField("summary")]
    assert written == [(3, "global_step/sec"), (5, "global_step/sec")]
    assert any(m.startswith("global_step/sec: ") for m in caplog.messages)
    assert any("The global step" in m and "stays at 5" in m for m in caplog.messages)


def test_summaries_come_every_so_many_steps(tmp_path):
    add = counting()
    loss = v1.summary.scalar("loss", tf.cast(add, tf.float32))
    hook = train.SummarySaverHook(save_steps=3, output_dir=str(tmp_path), summary_op=loss)
    with train.MonitoredSession(hooks=[hook]) as sess:
        for _ in range(8):
            sess.run(add)
    found = [(e.step, e.summary.value[0].simple_value) for e in events(tmp_path) if e.HasField("summary")]
    assert found == [(1, 1.0), (4, 4.0), (7, 7.0)]


def test_a_listener_can_stop_the_training(tmp_path):
    add = counting()

    class Stop(train.CheckpointSaverListener):
        def after_save(self, session, global_step_value):
            return global_step_value >= 4

    hook = train.CheckpointSaverHook(tmp_path, save_steps=2, saver=train.Saver(), listeners=[Stop()])
    with train.MonitoredSession(hooks=[hook]) as sess:
        steps = []
        while not sess.should_stop():
            steps.append(int(sess.run(add)))
    assert steps == [1, 2, 3, 4]
    assert train.latest_checkpoint(str(tmp_path)).endswith("model.ckpt-4")


def test_hooks_that_wait_feed_and_end():
    step = train.get_or_create_global_step()
    x = v1.placeholder(tf.float32, [])
    later = train.GlobalStepWaiterHook(2)
    later._POLL_SECONDS = 0.01
    final = train.FinalOpsHook([step, x], {x: 7.0})
    with train.SingularMonitoredSession(hooks=[train.FeedFnHook(lambda: {x: 3.0}), later, final]) as sess:
        raw = sess.raw_session()
        initializer = step.initializer
        other = threading.Thread(target=raw.run, args=(initializer, {initializer.inputs[1]: 2}))
        other.start()
        assert sess.run(x) == 3.0
        other.join()
    assert final.final_ops_values == [2, 7.0]


def test_a_final_operation_must_not_need_the_input():
    queue = tf.queue.FIFOQueue(2, tf.int32, shapes=[[]])
    take, close = queue.dequeue(), queue.close()
    with pytest.raises(errors.OutOfRangeError), train.MonitoredSession(hooks=[train.FinalOpsHook(take)]) as sess:
        sess.run(close)


def test_timers(monkeypatch):
    now = [100.0]
    monkeypatch.setattr("time.time", lambda: now[0])
    timer = train.SecondOrStepTimer(every_secs=10)
    assert timer.should_trigger_for_step(1)
    assert timer.update_last_triggered_step(1) == (None, None)
    now[0] = 109.0
    assert not timer.should_trigger_for_step(5)
    now[0] = 110.0
    assert timer.should_trigger_for_step(5) and not timer.should_trigger_for_step(1)
    assert timer.update_last_triggered_step(5) == (10.0, 4)
    assert timer.last_triggered_step() == 5
    timer.reset()
    assert timer.last_triggered_step() is None


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (lambda: train.SecondOrStepTimer(), ValueError, "Either every_secs or every_steps"),
        (lambda: train.SecondOrStepTimer(1, 1), ValueError, "Can not provide both"),
        (lambda: train.StopAtStepHook(), ValueError, "One of num_steps or last_step"),
        (lambda: train.StopAtStepHook(1, 1), ValueError, "Only one of"),
        (lambda: train.LoggingTensorHook(["x"]), ValueError, "at_end and/or exactly one of"),
        (lambda: train.LoggingTensorHook(["x"], every_n_iter=0), ValueError, "invalid every_n_iter=0"),
        (lambda: train.StepCounterHook(every_n_secs=1), ValueError, "exactly one of"),
        (lambda: train.CheckpointSaverHook("d", 1, saver=1, scaffold=1), ValueError, "both saver and scaffold"),
        (lambda: train.SummarySaverHook(1), ValueError, "Exactly one of scaffold or summary_op"),
        (
            lambda: train.MonitoredSession(hooks=[train.StopAtStepHook(3)]),
            RuntimeError,
            "Global step should be created",
        ),
    ],
)
def test_hooks_refuse(make, kind, message):
    with pytest.raises(kind, match=message):
        make()


# ---- what a session begins with --------------------------------------------------------------------------------------


def test_a_scaffold_finds_what_a_session_needs(graph):
    v = tf.Variable(1.0, name="v")
    local = v1.get_local_variable("local", initializer=2.0)
    v1.summary.scalar("v", v)
    said = []
    scaffold = train.Scaffold(init_fn=lambda scaffold, sess: said.append(sess.run(v)))
    with train.MonitoredSession(train.ChiefSessionCreator(scaffold)) as sess:
        assert sess.run([v, local]) == [1.0, 2.0]
    assert said == [1.0]
    assert scaffold.summary_op.op.type == "MergeSummary"
    assert v1.get_collection("savers") == [scaffold.saver]
    copied = train.Scaffold(copy_from_scaffold=scaffold, summary_op="mine")
    assert (copied.init_op, copied.summary_op) == (scaffold.init_op, "mine")
    graph.add_to_collection("init_op", "another")
    with pytest.raises(RuntimeError, match="More than one item in the collection"):
        train.Scaffold().finalize()
    with pytest.raises(TypeError, match="not a Scaffold"):
        train.Scaffold(copy_from_scaffold=1)


def test_initializers_can_be_fed():
    x = v1.placeholder(tf.float32, [])
    v = v1.get_variable("v", [], initializer=lambda shape, dtype=None: tf.zeros(shape))
    scaffold = train.Scaffold(init_op=v1.assign(v, x).op, init_feed_dict={x: 4.0})
    with train.MonitoredTrainingSession(scaffold=scaffold) as sess:
        assert sess.run(v) == 4.0


def test_what_stays_without_a_value_is_an_error():
    tf.Variable(1.0, name="v")
    with pytest.raises(RuntimeError, match="Variables not initialized: v"):
        train.MonitoredSession(train.ChiefSessionCreator(train.Scaffold(init_op=tf.no_op())))


def test_session_managers(tmp_path):
    v = tf.Variable(1.0, name="v")
    ready, init, saver = v1.report_uninitialized_variables(), v1.global_variables_initializer(), train.Saver()
    manager = train.SessionManager(ready_op=ready, recovery_wait_secs=0.01)
    sess, restored = manager.recover_session("", saver, str(tmp_path))
    assert not restored
    with pytest.raises(RuntimeError, match="no init_op"):
        manager.prepare_session("", None, saver, str(tmp_path))
    sess = manager.prepare_session("", init, saver, str(tmp_path), wait_for_checkpoint=True, max_wait_secs=0)
    sess.run(v.assign(6.0))
    saver.save(sess, f"{tmp_path}/model")
    assert manager.prepare_session("", init, saver, str(tmp_path)).run(v) == 6.0
    sess, restored = manager.recover_session("", saver, checkpoint_filename_with_path=f"{tmp_path}/model")
    assert restored and sess.run(v) == 6.0
    with pytest.raises(errors.DeadlineExceededError, match="not ready after waiting"):
        manager.wait_for_session("", max_wait_secs=0.02)
    with pytest.raises(ValueError, match="both checkpoint_dir and checkpoint_filename"):
        manager.prepare_session("", init, saver, "a", "b")
    with pytest.raises(ValueError, match="you must also pass a local_init_op"):
        train.SessionManager(ready_for_local_init_op=ready)


def test_a_training_goes_on_from_its_checkpoint(tmp_path):
    found = []
    for _ in range(2):
        with tf.Graph().as_default():
            add = counting()
            hooks = [train.StopAtStepHook(num_steps=3)]
            with train.MonitoredTrainingSession(checkpoint_dir=str(tmp_path), hooks=hooks) as sess:
                while not sess.should_stop():
                    found.append(int(sess.run(add)))
    assert found == [1, 2, 3, 4, 5, 6]
    assert (tmp_path / "graph.pbtxt").exists()


def test_workers_save_nothing(tmp_path):
    x = tf.constant(1.0)
    only = Recorder()
    with train.MonitoredTrainingSession(
        is_chief=False, checkpoint_dir=str(tmp_path), chief_only_hooks=[only], hooks=[Recorder()]
    ) as sess:
        assert sess.run(x) == 1.0
    assert not list(tmp_path.iterdir()) and not only.calls


# ---- threads ---------------------------------------------------------------------------------------------------------


def test_queue_runners():
    queue = tf.queue.FIFOQueue(1, tf.int32, shapes=[[]])
    numbers = v1.get_local_variable("n", initializer=0)
    add = queue.enqueue(numbers.count_up_to(5))
    runner = train.QueueRunner(queue, [add])
    train.add_queue_runner(runner)
    assert v1.get_collection("queue_runners") == [runner]
    take = queue.dequeue()
    assert (runner.name, runner.queue, runner.enqueue_ops) == ("fifo_queue", queue, [add])
    assert runner.queue_closed_exception_types == (errors.OutOfRangeError,)
    with v1.Session() as sess:
        sess.run(v1.local_variables_initializer())
        coord = tf.train.Coordinator()
        threads = runner.create_threads(sess, coord, start=True)
        assert len(threads) == 2 and runner.create_threads(sess, coord) == []
        assert [int(sess.run(take)) for _ in range(5)] == [0, 1, 2, 3, 4]
        with pytest.raises(errors.OutOfRangeError):
            sess.run(take)
        coord.request_stop()
        coord.join(threads)
    assert runner.exceptions_raised == []


def test_queue_runners_tell_what_went_wrong():
    queue = tf.queue.FIFOQueue(10, tf.int32)
    wrong = queue.enqueue(v1.placeholder(tf.int32, []))
    runner = train.QueueRunner(queue, [wrong], queue_closed_exception_types=(errors.CancelledError,))
    with v1.Session() as sess:
        coord = tf.train.Coordinator()
        threads = runner.create_threads(sess, coord, daemon=True, start=True)
        with pytest.raises(errors.InvalidArgumentError, match="You must feed a value for placeholder"):
            coord.join(threads)


def test_queue_runners_as_messages(graph):
    queue = tf.queue.FIFOQueue(10, tf.int32, name="numbers")
    runner = train.QueueRunner(queue, [queue.enqueue(1)])
    proto = runner.to_proto()
    assert (proto.queue_name, list(proto.enqueue_op_name)) == ("numbers", ["numbers_enqueue"])
    assert (proto.close_op_name, proto.cancel_op_name) == ("numbers_Close", "numbers_Close_1")
    assert list(proto.queue_closed_exception_types) == [errors.OUT_OF_RANGE]
    again = train.QueueRunner.from_proto(proto)
    assert (again.enqueue_ops, again.close_op) == (runner.enqueue_ops, runner.close_op)
    assert runner.to_proto(export_scope="other") is None


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (lambda q: train.QueueRunner(), ValueError, "Must provide queue and enqueue_ops"),
        (
            lambda q: train.QueueRunner(q, [q.enqueue(1)], queue_closed_exception_types=[1]),
            TypeError,
            "must be a tuple",
        ),
        (lambda q: train.start_queue_runners(), ValueError, "No default session is registered"),
        (lambda q: train.start_queue_runners(3), TypeError, "must be a `tf.Session` object"),
        (lambda q: train.LooperThread(3, 1), ValueError, "must be a Coordinator"),
        (lambda q: train.LooperThread(tf.train.Coordinator(), 1, args=[1]), ValueError, "also pass 'target'"),
    ],
)
def test_threads_refuse(make, kind, message):
    with pytest.raises(kind, match=message):
        make(tf.queue.FIFOQueue(10, tf.int32))


def test_a_monitored_session_has_started_its_queue_runners():
    with train.MonitoredSession() as sess:
        assert train.start_queue_runners(sess) == []


def test_loopers():
    coord, seen = tf.train.Coordinator(), []

    class Counting(train.LooperThread):
        def start_loop(self):
            seen.append("start")

        def run_loop(self):
            seen.append(len(seen))
            if len(seen) > 3:
                self._coord.request_stop()

        def stop_loop(self):
            seen.append("stop")

    looper = Counting(coord, 0.0)
    looper.start()
    coord.join()
    assert seen == ["start", 1, 2, 3, "stop"]

    def fail(what):
        raise KeyError(what)

    coord = tf.train.Coordinator()
    train.LooperThread.loop(coord, None, fail, args=["lost"])
    with pytest.raises(KeyError, match="lost"):
        coord.join()


# ---- supervisors -----------------------------------------------------------------------------------------------------


def test_a_supervisor_saves_and_writes_summaries(tmp_path):
    add = counting()
    v1.summary.scalar("step", tf.cast(train.get_global_step().read_value(), tf.float32))
    supervisor = train.Supervisor(logdir=str(tmp_path), save_summaries_secs=0.01, save_model_secs=0.01)
    assert supervisor.is_chief and supervisor.save_path == str(tmp_path / "model.ckpt")
    with supervisor.managed_session() as sess:
        while not supervisor.should_stop():
            step = sess.run(add)
            supervisor.summary_writer.flush()
            kinds = {e.WhichOneof("what") for e in events(tmp_path)}
            if "summary" in kinds and train.latest_checkpoint(str(tmp_path)):
                supervisor.request_stop()
    found = events(tmp_path)
    tags = {v.tag for e in found for v in e.summary.value}
    assert tags >= {"step", "global_step/sec"} and step >= 1
    assert {e.WhichOneof("what") for e in found} == {"graph_def", "meta_graph_def", "summary", "session_log"}
    assert found[-1].session_log.status == v1.SessionLog.STOP


def test_a_supervisor_raises_what_its_threads_raise(tmp_path):
    v = tf.Variable(1.0)
    supervisor = train.Supervisor(summary_writer=None)
    with pytest.raises(RuntimeError, match="requires a summary writer"):
        supervisor.summary_computed(None, b"")
    with pytest.raises(KeyError, match="lost"), supervisor.managed_session() as sess:
        assert sess.run(v) == 1.0
        raise KeyError("lost")
    calls = []

    def step(sess, what):
        calls.append(what)
        if len(calls) == 1:
            raise errors.AbortedError(None, None, "gone")
        supervisor.stop()

    train.basic_train_loop(supervisor, step, args=["x"])
    assert calls == ["x", "x"]
    with pytest.raises(RuntimeError, match="Only chief supervisor"):
        train.Supervisor(is_chief=False).start_standard_services(None)


def test_what_hooks_are_told():
    args = train.SessionRunArgs("x:0", {"y:0": 1})
    assert (args.fetches, args.feed_dict, args.options) == ("x:0", {"y:0": 1}, None)
    context = train.SessionRunContext(args, "session")
    assert (context.original_args, context.session, context.stop_requested) == (args, "session", False)
    assert train.SessionRunValues(results=1, options=2, run_metadata=3) == (1, 2, 3)


def test_creators_of_sessions():
    class Plain(train.SessionCreator):
        def create_session(self):
            return v1.Session()

    x = tf.constant(3.0)
    with train.MonitoredSession(Plain()) as sess:
        assert sess.run(x) == 3.0
    with pytest.raises(TypeError, match="abstract"):
        train.SessionCreator()
    assert train.WorkerSessionCreator().create_session().run(x) == 3.0
    with tf.Graph().as_default():
        tf.Variable(1.0)
        with pytest.raises(errors.DeadlineExceededError):
            train.WorkerSessionCreator(max_wait_secs=0).create_session()
