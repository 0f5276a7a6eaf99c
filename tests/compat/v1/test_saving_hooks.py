"""Hooks that save checkpoints and summaries: when, with which listeners, and by which saver."""

import glob

import pytest

import tapeflow as tf

v1 = tf.compat.v1
train = v1.train


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def count_steps():
    """An operation that counts the global step up."""
    return v1.assign_add(train.get_or_create_global_step(), 1)


def run_steps(count, hook, add=None):
    """Runs steps; returns their number until the hook requests a stop."""
    add = count_steps() if add is None else add
    done = 0
    with train.SingularMonitoredSession([hook]) as sess:
        while done < count and not sess.should_stop():
            done = int(sess.run(add))
    return done


def events_in(folder):
    """The events in a folder."""
    v1.summary.FileWriterCache.get(str(folder)).flush()
    return [e for path in sorted(glob.glob(f"{folder}/events*")) for e in v1.train.summary_iterator(path)]


class Listener(train.CheckpointSaverListener):
    """Records its calls; requests a stop after one step."""

    def __init__(self, last=None):
        self.calls, self.last = [], last

    def begin(self):
        self.calls.append("begin")

    def before_save(self, session, global_step_value):
        self.calls.append(("before", global_step_value))

    def after_save(self, session, global_step_value):
        self.calls.append(("after", global_step_value))
        return global_step_value == self.last

    def end(self, session, global_step_value):
        self.calls.append(("end", global_step_value))


def test_listeners(tmp_path):
    listener, plain = Listener(), train.CheckpointSaverListener()
    assert plain.after_save(None, 1) is None
    assert plain.begin() is None
    assert plain.before_save(None, 1) is None
    assert plain.end(None, 1) is None
    assert run_steps(3, train.CheckpointSaverHook(str(tmp_path), save_steps=2, listeners=[plain, listener])) == 3
    saves = [(kind, step) for step in (0, 2, 3) for kind in ("before", "after")]
    assert listener.calls == ["begin", *saves, ("end", 3)]
    other = Listener(last=2)
    with tf.Graph().as_default():
        hook = train.CheckpointSaverHook(str(tmp_path / "o"), save_steps=1, listeners=[other, Listener()])
        assert run_steps(5, hook) == 2
    assert other.calls[-1] == ("end", 2)
    assert other.calls.count(("after", 2)) == 1


def test_files_of_checkpoints(tmp_path):
    run_steps(2, train.CheckpointSaverHook(str(tmp_path), save_steps=10, checkpoint_basename="base"))
    assert sorted(p.name for p in tmp_path.glob("*.index")) == ["base-0.index", "base-2.index"]
    assert sorted(p.name for p in tmp_path.glob("*.meta")) == ["base-0.meta", "base-2.meta"]
    assert (tmp_path / "graph.pbtxt").exists()
    logs = [(e.step, e.session_log.status, e.session_log.checkpoint_path) for e in events_in(tmp_path)]
    assert [log for log in logs if log[1]] == [(step, 3, str(tmp_path / "base")) for step in (0, 2)]
    kinds = [e.WhichOneof("what") for e in events_in(tmp_path)]
    assert "graph_def" in kinds
    assert "meta_graph_def" in kinds


def test_savers_of_hooks(tmp_path):
    add = count_steps()
    v = tf.Variable(1.0, name="v")
    hook = train.CheckpointSaverHook(str(tmp_path / "a"), save_steps=5, saver=train.Saver([v]), save_graph_def=False)
    run_steps(1, hook, add)
    assert train.list_variables(str(tmp_path / "a")) == [("v", [])]
    assert not list((tmp_path / "a").glob("*.meta"))
    assert not (tmp_path / "a" / "graph.pbtxt").exists()
    scaffold = train.Scaffold(saver=train.Saver({"other": v}))
    run_steps(1, train.CheckpointSaverHook(str(tmp_path / "b"), save_secs=1000, scaffold=scaffold), add)
    assert train.list_variables(str(tmp_path / "b")) == [("other", [])]


def test_the_saver_of_a_graph(tmp_path):
    train.create_global_step()
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer())
        hook = train.CheckpointSaverHook(str(tmp_path), save_steps=1)
        hook.begin()
        with pytest.raises(RuntimeError, match="No items in collection"):
            hook.after_create_session(sess, None)
        one, two = train.Saver(), train.Saver()
        v1.add_to_collection(v1.GraphKeys.SAVERS, one)
        hook.after_create_session(sess, None)
        assert one.last_checkpoints == [str(tmp_path / "model.ckpt-0")]
        v1.add_to_collection(v1.GraphKeys.SAVERS, two)
        hook = train.CheckpointSaverHook(str(tmp_path), save_steps=1)
        hook.begin()
        with pytest.raises(RuntimeError, match="More than one item in collection"):
            hook.after_create_session(sess, None)


# ---- summaries -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "expected"),
    [({"save_steps": 2}, [1, 3, 5]), ({"save_secs": 1000}, [1]), ({"save_steps": 1}, [1, 2, 3, 4, 5])],
)
def test_intervals_of_summaries(tmp_path, options, expected):
    add = count_steps()
    one, two = v1.summary.scalar("one", tf.constant(1.0)), v1.summary.scalar("two", tf.constant(2.0))
    run_steps(5, train.SummarySaverHook(output_dir=str(tmp_path), summary_op=[one, two], **options), add)
    found = [(e.step, v.tag, v.simple_value) for e in events_in(tmp_path) for v in e.summary.value]
    assert found == [(step, tag, value) for step in expected for tag, value in (("one", 1.0), ("two", 2.0))]
    assert [e.step for e in events_in(tmp_path) if e.session_log.status == 1] == [1]


def test_summaries_of_a_scaffold(tmp_path):
    add = count_steps()
    scaffold = train.Scaffold(summary_op=v1.summary.scalar("s", tf.constant(1.0)))
    writer = v1.summary.FileWriterCache.get(str(tmp_path))
    run_steps(2, train.SummarySaverHook(save_steps=1, summary_writer=writer, scaffold=scaffold), add)
    assert [(e.step, v.tag) for e in events_in(tmp_path) for v in e.summary.value] == [(1, "s"), (2, "s")]


def test_summaries_that_go_nowhere():
    add = count_steps()
    summary = v1.summary.scalar("s", tf.constant(1.0))
    assert run_steps(2, train.SummarySaverHook(save_steps=1, summary_op=summary), add) == 2
    empty = train.SummarySaverHook(save_steps=1, scaffold=train.Scaffold())
    with tf.Graph().as_default():
        assert run_steps(1, empty) == 1
