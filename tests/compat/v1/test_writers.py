"""Writers of event files: what they add, and when a file is closed."""

import pytest

import tapeflow as tf

v1 = tf.compat.v1
summary = v1.summary


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def events_in(folder):
    """The events in a folder, in the order of the files, without the version of each."""
    events = [e for path in sorted(folder.iterdir()) for e in v1.train.summary_iterator(str(path))]
    return [e for e in events if not e.HasField("file_version")]


def one_value(tag, number):
    """A summary of a number."""
    return summary.Summary(value=[summary.Summary.Value(tag=tag, simple_value=number)])


def test_summaries(tmp_path):
    with summary.FileWriter(str(tmp_path)) as writer:
        assert writer.get_logdir() == str(tmp_path)
        writer.add_summary(one_value("a", 1.0), 5)
        writer.add_summary(one_value("b", 2.0).SerializeToString())
        writer.add_event(v1.Event(step=9))
    found = events_in(tmp_path)
    assert [(e.step, [(v.tag, v.simple_value) for v in e.summary.value]) for e in found] == [
        (5, [("a", 1.0)]), (0, [("b", 2.0)]), (9, []),
    ]  # fmt: skip
    assert found[0].wall_time > 1e9


def test_metadata_are_written_once(tmp_path):
    value = one_value("a", 1.0)
    value.value[0].metadata.display_name = "shown"
    with summary.FileWriter(str(tmp_path)) as writer:
        writer.add_summary(value, 1)
        writer.add_summary(value, 2)
    assert [e.summary.value[0].metadata.display_name for e in events_in(tmp_path)] == ["shown", ""]
    assert value.value[0].metadata.display_name == "shown"


def test_graphs(graph, tmp_path):
    tf.constant(1.0, name="c")
    proto = graph.as_graph_def()
    with summary.FileWriter(str(tmp_path / "a"), graph) as writer:
        writer.add_graph(None, 3, graph_def=proto)
        for arguments, kind, message in (
            ((graph, None, proto), ValueError, "Please pass only graph, or graph_def"),
            ((None,), ValueError, "Either graph or graph_def must be specified"),
            ((3,), TypeError, "The passed graph must be an instance of `Graph`"),
        ):
            with pytest.raises(kind, match=message):
                writer.add_graph(*arguments)
        with pytest.raises(TypeError, match="meta_graph_def must be type MetaGraphDef"):
            writer.add_meta_graph(proto)
        writer.add_meta_graph(v1.train.export_meta_graph(), 4)
    found = [(e.step, e.WhichOneof("what")) for e in events_in(tmp_path / "a")]
    assert found == [(0, "graph_def"), (0, "meta_graph_def"), (3, "graph_def"), (4, "meta_graph_def")]
    names = [n.name for n in v1.GraphDef.FromString(events_in(tmp_path / "a")[2].graph_def).node]
    assert names == ["c"]
    with summary.FileWriter(str(tmp_path / "b"), graph_def=proto):
        pass
    assert [e.WhichOneof("what") for e in events_in(tmp_path / "b")] == ["graph_def", "meta_graph_def"]


def test_logs_and_metadata_of_runs(tmp_path):
    log = summary.SessionLog(status=summary.SessionLog.START)
    with summary.FileWriter(str(tmp_path)) as writer:
        writer.add_session_log(log, 2)
        writer.add_session_log(log)
        writer.add_run_metadata(v1.RunMetadata(), "run", 3)
        with pytest.raises(ValueError, match="The provided tag was already used for this event type"):
            writer.add_run_metadata(v1.RunMetadata(), "run", 4)
    found = events_in(tmp_path)
    assert [(e.step, e.session_log.status) for e in found] == [(2, 1), (0, 1), (3, 0)]
    assert found[2].tagged_run_metadata.tag == "run"


def test_files_are_flushed_closed_and_reopened(tmp_path):
    writer = summary.FileWriter(str(tmp_path), max_queue=100, flush_secs=1000, filename_suffix=".mine")
    writer.add_summary(one_value("a", 1.0), 1)
    writer.reopen()  # without effect
    writer.flush()
    assert len(events_in(tmp_path)) == 1
    assert len(list(tmp_path.iterdir())) == 1
    assert next(tmp_path.iterdir()).name.endswith(".mine")
    writer.close()
    writer.close()
    with pytest.warns(UserWarning, match="closed FileWriter"):
        writer.add_summary(one_value("a", 2.0), 2)
    writer.flush()
    writer.reopen()
    writer.add_summary(one_value("a", 3.0), 3)
    writer.close()
    assert sorted(e.step for e in events_in(tmp_path)) == [1, 3]
    assert len(list(tmp_path.iterdir())) == 2


def test_one_writer_for_each_folder(graph, tmp_path):
    tf.constant(1.0, name="c")
    one, two = (summary.FileWriterCache.get(str(tmp_path / name)) for name in "ab")
    assert summary.FileWriterCache.get(str(tmp_path / "a")) is one
    assert one is not two
    one.flush()
    assert [e.WhichOneof("what") for e in events_in(tmp_path / "a")][:1] == ["graph_def"]
    summary.FileWriterCache.clear()
    with pytest.warns(UserWarning, match="closed FileWriter"):
        one.add_summary(one_value("a", 1.0))
    again = summary.FileWriterCache.get(str(tmp_path / "a"))
    assert again is not one
    summary.FileWriterCache.clear()


def test_files_of_events(tmp_path):
    path = tmp_path / "events"
    with tf.io.TFRecordWriter(str(path)) as writer:
        writer.write(b"\xff\xff")
    with pytest.raises(Exception, match=r"(?i)event|pars|decod"):
        list(v1.train.summary_iterator(str(path)))
    with pytest.raises(tf.errors.NotFoundError):
        list(v1.train.summary_iterator(str(tmp_path / "nothing")))
