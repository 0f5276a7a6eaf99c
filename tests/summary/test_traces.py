"""`tf.summary.trace_on` and what is exported: graphs, profiles, and what is refused with a warning."""

import logging

import pytest
from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader
from tensorboard.compat.proto.config_pb2 import RunMetadata
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.util.tensor_util import make_ndarray

import tapeflow as tf


@pytest.fixture(name="writer")
def created_writer(tmp_path):
    writer = tf.summary.create_file_writer(tmp_path / "logs")
    yield writer
    tf.summary.trace_off()
    writer.close()


def exported(writer):
    writer.flush()
    found = [Event.FromString(record) for record in RawEventFileLoader(writer._file.path).Load()]
    return [
        (v.tag, e.step, v.metadata.plugin_data.plugin_name, RunMetadata.FromString(make_ndarray(v.tensor).item()))
        for e in found
        for v in e.summary.value
    ]


def double(x):
    return x * 2.0


def test_graphs_of_functions_that_run(writer):
    before, function, other = tf.function(double), tf.function(double), tf.function(lambda x: tf.exp(x) + 1.0)
    before(tf.constant(1.0))
    with writer.as_default():
        tf.summary.trace_on()
        for _ in range(2):
            function(tf.constant(1.0))
        other(tf.constant(1.0))
        tf.summary.trace_export("graphs", step=7)
    ((tag, step, plugin, metadata),) = exported(writer)
    assert (tag, step, plugin) == ("graphs", 7, "graph_run_metadata_graph")
    names = [{n.op for n in g.pre_optimization_graph.node} for g in metadata.function_graphs]
    assert len(names) == 2 and "Mul" in names[0] and "Exp" in names[1]
    for graphs, whole in zip(metadata.function_graphs, metadata.partition_graphs, strict=True):
        assert graphs.pre_optimization_graph == graphs.post_optimization_graph == graphs.partition_graphs[0] == whole
    function(tf.constant(1.0))
    with pytest.raises(ValueError, match="Must enable trace before export"):
        tf.summary.trace_export("again", step=8)


def test_a_trace_without_graphs_or_profile(writer, tmp_path, caplog):
    with writer.as_default(), caplog.at_level(logging.WARNING):
        tf.summary.trace_on(graph=False)
        tf.function(double)(tf.constant(1.0))
        tf.summary.trace_export("nothing", step=1)
        tf.summary.trace_on(graph=True, profiler=True)
        assert "No `profiler_outdir` passed to trace_on()" in caplog.text
        tf.summary.trace_export("no folder", step=2, profiler_outdir=str(tmp_path / "p"))
    first, second = exported(writer)
    assert first[2] == second[2] == "graph_run_metadata" and len(first[3].function_graphs) == 0
    assert "Ignoring `profiler_outdir` passed to trace_export()" in caplog.text and not (tmp_path / "p").exists()


def test_one_trace_at_a_time(caplog):
    with caplog.at_level(logging.WARNING):
        tf.summary.trace_on()
        assert "already" not in caplog.text
        tf.summary.trace_on()
        assert "Trace already enabled" in caplog.text
        tf.summary.trace_off()
        caplog.clear()
        tf.summary.trace_on()
        tf.summary.trace_off()
        assert caplog.text == ""


def test_functions_switch_no_trace(writer, caplog):
    @tf.function
    def switches():
        tf.summary.trace_on()
        tf.summary.trace_export("t", step=0)
        tf.summary.trace_off()
        return 1

    with writer.as_default(), caplog.at_level(logging.WARNING):
        switches()
    for text in ("Cannot enable trace inside a tf.function", "Cannot export trace inside a tf.function"):
        assert text in caplog.text
    with pytest.raises(ValueError, match="Must enable trace before export"):
        tf.summary.trace_export("t", step=0)
    assert exported(writer) == []


def test_an_export_without_a_step(writer):
    tf.summary.trace_on()
    with writer.as_default(), pytest.raises(ValueError, match="No step set"):
        tf.summary.trace_export("t")
