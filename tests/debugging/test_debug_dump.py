"""Dumps of debug events: which TensorFlow's own `DebugDataReader` reads, with the numbers that TensorFlow writes."""

import os
import threading

import numpy as np
import pytest
from tensorboard.compat.proto.tensor_pb2 import TensorProto

import tapeflow as tf
from tapeflow.core.protos import message_class

D = tf.debugging.experimental


@pytest.fixture(autouse=True)
def ends():
    yield
    D.disable_dump_debug_info()


def events(folder, kind):
    """The events of a kind that are on the disk."""
    found = []
    for name in sorted(os.listdir(folder)):
        for record in tf.data.TFRecordDataset(os.path.join(folder, name)):
            event = message_class("DebugEvent").FromString(record.numpy())
            if event.WhichOneof("what") == kind:
                found.append(getattr(event, kind))
    return found


def value(data):
    proto = TensorProto.FromString(data)
    return tf.make_ndarray(proto).tolist() if proto.dtype else None


def dump(folder, mode, **options):
    """What a small program dumps: the summaries of its executions, and of operations in its function."""
    writer = D.enable_dump_debug_info(str(folder), mode, circular_buffer_size=-1, **options)

    @tf.function
    def f(x, n):
        y = tf.math.log(x)
        return tf.reshape(y, [2, 1, 1, 1, 1, 1, 1, 2]), n * 2

    f(tf.constant([1.0, 0.0, -1.0, float("inf")]), tf.constant(3))
    tf.exp(tf.constant([[1.0, float("inf")]]))
    writer.FlushNonExecutionFiles()
    writer.FlushExecutionFiles()
    D.disable_dump_debug_info()
    executions = [[value(data) for data in e.tensor_protos] for e in events(folder, "execution")]
    traces = {t.op_name: value(t.tensor_proto) for t in events(folder, "graph_execution_trace")}
    return executions, {name: traces.get(name) for name in ("Log", "Reshape", "mul")}


@pytest.mark.parametrize(
    ("mode", "exp", "log", "reshape", "mul"),
    [
        ("NO_TENSOR", [], None, None, None),
        ("CURT_HEALTH", [[-1, 1]], [1], [1], None),
        ("CONCISE_HEALTH", [[-1, 2, 0, 1, 0]], [4, 1, 1, 1], [4, 1, 1, 1], None),
        (
            "FULL_HEALTH", [[-1, -1, 1, 2, 2, 0, 1, 0, 0, 0, 1]], [-1, 1, 1, 4, 1, 1, 1, 0, 1, 0],
            [-1, 1, 8, 4, 1, 1, 1, 0, 1, 0], None,
        ),
        (
            "SHAPE", [[-1, 1, 2, 2, 1, 2, 0, 0, 0, 0]], [1, 1, 4, 4, 0, 0, 0, 0, 0], [1, 8, 4, 1, 1, 1, 1, 1, 2],
            [3, 0, 1, 0, 0, 0, 0, 0, 0],
        ),
    ],
)  # fmt: skip
def test_summaries_are_tensorflows(tmp_path, mode, exp, log, reshape, mul):
    executions, traces = dump(tmp_path, mode)
    assert executions[1] == exp
    numbers = [
        summary and summary.pop(0) for summary in traces.values()
    ]  # of tensors, which differ from program to program
    assert list(traces.values()) == [log, reshape, mul]
    assert len({n for n in numbers if n is not None}) == sum(n is not None for n in numbers)


def test_whole_tensors(tmp_path):
    executions, traces = dump(tmp_path, "FULL_TENSOR")
    np.testing.assert_allclose(executions[1], [[[np.e, np.inf]]], rtol=1e-6)
    np.testing.assert_equal(traces["Log"], [0.0, -np.inf, np.nan, np.inf])
    assert traces["mul"] == 6 and executions[0][1] == 6


def test_filters(tmp_path):
    executions, traces = dump(tmp_path, "SHAPE", op_regex="Log|Mul", tensor_dtypes=lambda dtype: dtype.is_integer)
    assert executions[1] == [None]
    assert traces["Log"] is None and traces["mul"][1:] == [3, 0, 1, 0, 0, 0, 0, 0, 0]


def test_graphs_and_lines(tmp_path):
    dump(tmp_path, "NO_TENSOR")
    (graph,) = events(tmp_path, "debugged_graph")
    operations = {o.op_name: o for o in events(tmp_path, "graph_op_creation")}
    frames = {f.id: f.file_line_col for f in events(tmp_path, "stack_frame_with_id")}
    log = operations["Log"]
    assert (graph.graph_name, log.graph_id, log.op_type, list(log.input_names)) == ("f", graph.graph_id, "Log", ["x:0"])
    line = frames[log.code_location.stack_frame_ids[-1]]
    assert (line.func, line.code) == ("f", "y = tf.math.log(x)")
    execution, exp = events(tmp_path, "execution")
    assert execution.graph_id == graph.graph_id and exp.op_type == "Exp" and not exp.graph_id
    assert frames[exp.code_location.stack_frame_ids[-1]].code.startswith("tf.exp(")
    sources = {s.file_path: s.lines for s in events(tmp_path, "source_file")}
    assert sources[os.path.abspath(__file__)][line.line - 1].strip() == line.code


def test_conditionals_have_graphs_within_their_functions(tmp_path):
    writer = D.enable_dump_debug_info(str(tmp_path), "FULL_TENSOR", circular_buffer_size=-1)

    @tf.function
    def f(x):
        return tf.cond(x > 0.0, lambda: x * 2.0, lambda: x * 3.0)

    f(tf.constant(-1.0))
    writer.Close()
    outer, *inner = events(tmp_path, "debugged_graph")
    assert {g.outer_context_id for g in inner} == {outer.graph_id} and len(inner) == 2
    values = {t.op_name: value(t.tensor_proto) for t in events(tmp_path, "graph_execution_trace")}
    assert values["cond/mul"] == -3.0 and values["cond"] == -3.0


def test_the_latest_executions_are_kept(tmp_path):
    writer = D.enable_dump_debug_info(str(tmp_path), circular_buffer_size=2)
    for _ in range(3):
        tf.exp(1.0)
    tf.math.log(1.0)
    writer.FlushExecutionFiles()
    assert [e.op_type for e in events(tmp_path, "execution")] == ["Exp", "Log"]


def test_threads_and_the_end(tmp_path):
    writer = D.enable_dump_debug_info(str(tmp_path), circular_buffer_size=-1)
    assert D.enable_dump_debug_info(str(tmp_path), circular_buffer_size=-1) is writer
    thread = threading.Thread(target=tf.exp, args=(1.0,))
    thread.start()
    thread.join()
    D.disable_dump_debug_info()
    tf.exp(1.0)
    assert events(tmp_path, "execution") == []


def test_checks_of_numbers_work_meanwhile(tmp_path):
    writer = D.enable_dump_debug_info(str(tmp_path), "CURT_HEALTH", circular_buffer_size=-1)
    tf.debugging.enable_check_numerics()
    try:
        with pytest.raises(tf.errors.InvalidArgumentError, match="Detected Infinity or NaN"):
            tf.function(lambda x: tf.math.log(x) * 2.0)(tf.constant(-1.0))
    finally:
        tf.debugging.disable_check_numerics()
    f = tf.function(lambda x: tf.math.log(x) * 2.0).get_concrete_function(tf.TensorSpec([]))
    f(tf.constant(-1.0))
    writer.Close()
    assert np.isnan(f(tf.constant(-1.0)))  # nothing more is written
    assert [t.op_name for t in events(tmp_path, "graph_execution_trace")][-2:] == ["mul", "Identity"]


def test_options_that_do_not_fit(tmp_path):
    path = str(tmp_path)
    with pytest.raises(ValueError, match=r"Invalid value in tensor_debug_mode \('NO'\)"):
        D.enable_dump_debug_info(path, "NO")
    with pytest.raises(NotImplementedError, match="FULL_NUMERICS is not implemented yet"):
        D.enable_dump_debug_info(path, "FULL_NUMERICS")
    with pytest.raises(ValueError, match="tensor_dtypes is expected to be a list"):
        D.enable_dump_debug_info(path, tensor_dtypes=3)
    with pytest.raises(ValueError, match="Empty or None dump root"):
        D.enable_dump_debug_info("")
    D.enable_dump_debug_info(path)
    with pytest.raises(ValueError, match="different tensor-debug mode"):
        D.enable_dump_debug_info(path, "SHAPE")
    with pytest.raises(ValueError, match="different circular-buffer size"):
        D.enable_dump_debug_info(path, circular_buffer_size=3)
