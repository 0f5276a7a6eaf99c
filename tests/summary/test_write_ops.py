"""Writing messages and graphs: where there is a writer, and where there is none."""

import pytest
from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.summary_pb2 import Summary

import tapeflow as tf

SUMMARY = Summary(value=[Summary.Value(tag="old", simple_value=3.0)])


@pytest.fixture(name="writer")
def created_writer(tmp_path):
    writer = tf.summary.create_file_writer(tmp_path / "logs")
    yield writer
    writer.close()


def events(writer):
    writer.flush()
    return [Event.FromString(record) for record in RawEventFileLoader(writer._file.path).Load()][1:]


def test_events_are_imported_unchanged(writer):
    message = Event(step=5, wall_time=1.5, summary=SUMMARY)

    @tf.function
    def imports(text):
        tf.summary.import_event(text)

    with writer.as_default(), tf.summary.record_if(False):
        tf.summary.import_event(message.SerializeToString())
        imports(tf.constant(message.SerializeToString()))
        with pytest.raises(tf.errors.DataLossError, match=r"Bad tf.Event binary proto tensor string"):
            tf.summary.import_event(b"zzzz")
    assert events(writer) == [message, message]
    with pytest.raises(ValueError, match="import_event needs a default writer"):
        tf.summary.import_event(message.SerializeToString())


def test_graphs(writer):
    graph = GraphDef()
    graph.node.add(name="x", op="Placeholder")
    function = tf.function(lambda x: tf.exp(x)).get_concrete_function(tf.constant([1.0, 2.0]))
    assert not tf.summary.graph(graph).numpy()
    with writer.as_default():
        assert tf.summary.graph(graph).numpy() and tf.summary.graph(function.graph).numpy()
        with tf.summary.record_if(False):
            assert not tf.summary.graph(graph).numpy()

        @tf.function
        def inside():
            return tf.summary.graph(graph)

        with pytest.raises(ValueError, match=r"graph\(\) cannot be invoked inside a graph context"):
            inside()
        for other in (3, SUMMARY, "x"):
            with pytest.raises(ValueError, match=r"Argument 'graph_data' is not tf.Graph or tf.compat.v1.GraphDef"):
                tf.summary.graph(other)
    first, second = (GraphDef.FromString(e.graph_def) for e in events(writer))
    assert first == graph and "Exp" in {n.op for n in second.node}
    assert any("_output_shapes" in n.attr for n in second.node)


def test_raw_messages(writer):
    with writer.as_default(step=3):
        assert tf.summary.experimental.write_raw_pb(SUMMARY.SerializeToString()).numpy()
        assert tf.summary.experimental.write_raw_pb(SUMMARY.SerializeToString(), step=9).numpy()
        with tf.summary.record_if(False):
            assert not tf.summary.experimental.write_raw_pb(SUMMARY.SerializeToString()).numpy()
    assert not tf.summary.experimental.write_raw_pb(SUMMARY.SerializeToString(), step=1).numpy()
    assert [(e.step, e.summary) for e in events(writer)] == [(3, SUMMARY), (9, SUMMARY)]


def test_writers_of_functions(tmp_path):
    writer = tf.summary.create_file_writer(tmp_path / "logs")

    @tf.function
    def write_and_close(x):
        with writer.as_default():
            tf.summary.scalar("x", x, step=1)
        writer.flush()
        writer.close()

    write_and_close(tf.constant(2.0))
    found = [Event.FromString(record) for record in RawEventFileLoader(writer._file.path).Load()][1:]
    assert [e.step for e in found] == [1]
    with pytest.raises(ValueError, match="Invalid graph Tensor argument 'max_queue="):
        tf.function(lambda n: tf.summary.create_file_writer(str(tmp_path), max_queue=n) and n)(tf.constant(3))
    with pytest.raises(ValueError, match="Argument `logdir` cannot be None"):
        tf.summary.create_file_writer(None)


def test_a_writer_is_abstract():
    class Other(tf.summary.SummaryWriter):
        pass

    try:
        other = Other()
    except TypeError:
        return
    for method in (other.init, other.flush, other.close):
        with pytest.raises(NotImplementedError):
            method()
