"""Monitored sessions: which hooks and intervals they get, and what happens at errors, preemptions and the end."""

import glob

import numpy as np
import pytest

import tapeflow as tf

v1 = tf.compat.v1
train, errors = v1.train, tf.errors


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def count_steps():
    """An operation that counts the global step up."""
    return v1.assign_add(train.get_or_create_global_step(), 1)


def run_steps(count, **options):
    """Runs a monitored training session; returns the steps."""
    step = count_steps()
    v1.summary.scalar("twice", 2.0 * tf.cast(train.get_global_step().read_value(), tf.float32))
    with train.MonitoredTrainingSession(**options) as sess:
        return [int(sess.run(step)) for _ in range(count)]


def summaries_in(folder, tag):
    """The steps of the summaries with a tag."""
    events = [e for path in sorted(glob.glob(f"{folder}/events*")) for e in v1.train.summary_iterator(path)]
    return [e.step for e in events for v in e.summary.value if v.tag == tag]


def checkpoints_in(folder):
    """The steps of the checkpoints."""
    return sorted(int(path.rpartition("-")[2][: -len(".index")]) for path in glob.glob(f"{folder}/*.index"))


# ---- intervals -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "checkpoints", "summaries", "rates"),
    [
        ({}, [0, 5], [1], []),
        ({"save_checkpoint_steps": 2}, [0, 2, 4, 5], [1], []),
        ({"save_checkpoint_steps": 2, "save_checkpoint_secs": None}, [0, 2, 4, 5], [1], []),
        ({"save_checkpoint_steps": None}, [], [1], []),
        ({"save_checkpoint_secs": 0}, [], [1], []),
        ({"save_checkpoint_secs": None, "save_summaries_steps": 2}, [], [1, 3, 5], []),
        ({"save_checkpoint_secs": None, "save_summaries_secs": 1000}, [], [1], []),
        ({"save_checkpoint_secs": None, "save_summaries_secs": None}, [], [], []),
        ({"save_checkpoint_secs": None, "save_summaries_steps": 0}, [], [], []),
        ({"save_checkpoint_secs": None, "save_summaries_secs": 1000, "log_step_count_steps": 2}, [], [1], [3, 5]),
        ({"save_checkpoint_secs": None, "save_summaries_secs": 1000, "log_step_count_steps": 0}, [], [1], []),
    ],
)
def test_intervals(tmp_path, options, checkpoints, summaries, rates):
    folder = str(tmp_path)
    assert run_steps(5, checkpoint_dir=folder, **options) == [1, 2, 3, 4, 5]
    assert checkpoints_in(folder) == checkpoints
    assert summaries_in(folder, "twice") == summaries
    assert summaries_in(folder, "global_step/sec") == rates


def test_another_folder_for_summaries(tmp_path):
    checkpoints, summaries = tmp_path / "c", tmp_path / "s"
    run_steps(2, checkpoint_dir=str(checkpoints), summary_dir=str(summaries), save_graph_def=False)
    assert checkpoints_in(checkpoints) == [0, 2]
    assert summaries_in(summaries, "twice") == [1]
    assert not summaries_in(checkpoints, "twice")
    assert not list(checkpoints.glob("*.pbtxt"))
    assert not list(checkpoints.glob("*.meta"))


def test_without_folders_nothing_is_written():
    assert run_steps(2) == [1, 2]


def test_hooks_of_the_chief():
    calls = []

    class Named(train.SessionRunHook):
        def __init__(self, name):
            self.name = name

        def begin(self):
            calls.append(self.name)

    add = count_steps()
    with train.MonitoredTrainingSession(hooks=[Named("every")], chief_only_hooks=[Named("chief")]) as sess:
        assert sess.run(add) == 1
    assert calls == ["chief", "every"]


# ---- runs ------------------------------------------------------------------------------------------------------------


def test_feeds_of_hooks_and_programs():
    x, y = v1.placeholder(tf.float32, []), v1.placeholder(tf.float32, [])
    seen = []

    class Feed(train.SessionRunHook):
        def before_run(self, run_context):
            seen.append(run_context.original_args)
            return train.SessionRunArgs({"sum": x + 10.0 if not seen[:-1] else total}, {x: 1.0})

        def after_run(self, run_context, run_values):
            seen.append(run_values.results)

    total = x + 10.0
    difference = x - y

    class Fetch(Feed):
        def before_run(self, run_context):
            seen.append(run_context.original_args)
            return train.SessionRunArgs({"sum": total}, {x: 1.0})

    with train.MonitoredSession(hooks=[Fetch()]) as sess:
        assert sess.run(difference, {y: 5.0}) == -4.0
        assert sess.run([total]) == [11.0]
        with pytest.raises(RuntimeError, match="Same tensor is fed by a SessionRunHook and user"):
            sess.run(difference, {x: 2.0, y: 5.0})
    assert seen[0].fetches is difference
    assert seen[0].feed_dict == {y: 5.0}
    assert seen[1] == {"sum": np.float32(11.0)}


def test_the_error_of_a_run_comes_before_the_error_of_a_thread():
    x = v1.placeholder(tf.float32, [])

    class Fail(train.SessionRunHook):
        def after_create_session(self, session, coord):
            self.coord = coord

        def before_run(self, run_context):
            if self.error is not None:
                self.coord.request_stop(self.error)

    hook = Fail()
    hook.error = KeyError("of the thread")
    with pytest.raises(KeyError, match="of the thread"), train.SingularMonitoredSession(hooks=[hook]) as sess:
        with pytest.raises(errors.InvalidArgumentError) as found:
            sess.run(x)
        assert found.value.__suppress_context__


def test_a_run_that_fails_as_a_thread_reports_a_preemption():
    x = v1.placeholder(tf.float32, [])
    feeds = [{x: 5.0}, {}]

    class Fail(train.SessionRunHook):
        sessions = 0

        def after_create_session(self, session, coord):
            self.coord, self.sessions = coord, self.sessions + 1

        def before_run(self, run_context):
            fed = feeds.pop()
            if not fed:
                self.coord.request_stop(errors.AbortedError(None, None, "gone"))
            return train.SessionRunArgs(None, fed)

    hook = Fail()
    with train.MonitoredSession(hooks=[hook]) as sess:
        assert sess.run(x) == 5.0
    assert hook.sessions == 2


def test_a_preemption_that_a_thread_reports_starts_a_new_session():
    v = tf.Variable(0)
    add = v1.assign_add(v, 1)
    reports = [errors.AbortedError(None, None, "gone")]

    class Report(train.SessionRunHook):
        sessions = 0

        def after_create_session(self, session, coord):
            self.coord, self.sessions = coord, self.sessions + 1

    hook = Report()
    with train.MonitoredSession(hooks=[hook]) as sess:
        assert sess.run(add) == 1
        assert sess.run(add) == 2
        hook.coord.request_stop(reports.pop())
        assert not sess.should_stop()
        assert sess.run(add) == 1
    assert hook.sessions == 2
    with pytest.raises(errors.UnavailableError), train.SingularMonitoredSession(hooks=[hook]) as sess:
        hook.coord.request_stop(errors.UnavailableError(None, None, "gone"))
        sess.should_stop()


@pytest.mark.parametrize("kind", [errors.AbortedError, errors.UnavailableError, errors.InternalError])
def test_a_session_that_cannot_be_created_at_once(kind):
    x = tf.constant(3.0)

    class Creator(train.SessionCreator):
        tries = 0

        def create_session(self):
            self.tries += 1
            if self.tries == 1:
                raise kind(None, None, "not yet")
            return v1.Session()

    creator = Creator()
    if kind is errors.InternalError:
        with pytest.raises(kind, match="not yet"):
            train.MonitoredSession(creator)
        return
    with train.MonitoredSession(creator) as sess:
        assert sess.run(x) == 3.0
        assert creator.tries == 2


def test_a_singular_session_is_created_once():
    def fail(scaffold, sess):
        raise errors.AbortedError(None, None, "not yet")

    with pytest.raises(errors.AbortedError, match="not yet"):
        train.SingularMonitoredSession(scaffold=train.Scaffold(init_fn=fail))


# ---- the end ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [train.MonitoredSession, train.SingularMonitoredSession])
def test_a_closed_session(graph, make):
    x = tf.constant(3.0)
    sess = make()
    assert sess.graph is graph
    assert not sess.should_stop()
    assert graph.finalized
    sess.close()
    assert sess.should_stop()
    assert not graph.finalized
    with pytest.raises(RuntimeError, match="Attempted to use a closed Session"):
        sess.run(x)


def test_steps_return_their_results_and_stop():
    x = tf.constant(3.0)

    class Steps:
        def step(self, step_context):
            return step_context.session.run(x), step_context.run_with_hooks(x)

    with train.MonitoredSession() as sess:
        assert sess.run_step_fn(Steps().step) == (3.0, 3.0)
        with pytest.raises(ValueError, match="`step_fn` may either have one `step_context` argument"):
            sess.run_step_fn(lambda step_context, more: None)
        with pytest.raises(ValueError, match="`step_fn` may either have one `step_context` argument"):
            sess.run_step_fn(lambda: None)


def test_a_checkpoint_of_a_name(tmp_path):
    v = tf.Variable(1.0, name="v")
    with v1.Session() as sess:
        sess.run(v.assign(4.0))
        path = train.Saver([v]).save(sess, str(tmp_path / "m"))
    with train.SingularMonitoredSession(checkpoint_filename_with_path=path) as sess:
        assert sess.raw_session().run(v) == 4.0
    with train.SingularMonitoredSession(checkpoint_dir=str(tmp_path)) as sess:
        assert sess.run(v) == 4.0
