"""`tf.test`: what its assertions take and refuse, as TensorFlow's do."""

import os
import subprocess
import sys
import textwrap
import unittest

import numpy as np
import pytest
from tensorboard.compat.proto.graph_pb2 import GraphDef

import tapeflow as tf

RAGGED = tf.ragged.constant([[1], [2, 3]])


class Case(tf.test.TestCase):
    def runTest(self):
        pass


@pytest.fixture(name="case")
def made_case():
    case = Case()
    case.setUp()
    yield case
    case.tearDown()


ACCEPTED = {
    "close": lambda t: t.assertAllClose(tf.constant([1.0, 2.0]), [1.0, 2.0 + 1e-7]),
    "close, nan": lambda t: t.assertAllClose([np.nan, np.inf], [np.nan, np.inf]),
    "close, dicts": lambda t: t.assertAllClose([{"a": tf.constant(1)}, 2], [{"a": 1.0}, 2]),
    "close, ragged": lambda t: t.assertAllClose(tf.cast(RAGGED, tf.float32), [[1.0], [2.0, 3.0]]),
    "close, half": lambda t: t.assertAllCloseAccordingToType(tf.constant([1.0], tf.bfloat16), [1.001]),
    "equal, nan": lambda t: t.assertAllEqual(tf.constant([np.nan]), [np.nan]),
    "equal, texts": lambda t: t.assertAllEqual(["a"], [b"a"]),
    "equal, ragged": lambda t: t.assertAllEqual(RAGGED, [[1], [2, 3]]),
    "shapes": lambda t: t.assertShapeEqual(np.ones([3]), tf.constant([1, 2, 3])),
    "devices": lambda t: t.assertDeviceEqual("/cpu:0", "/device:CPU:0"),
    "dicts": lambda t: t.assertDictEqual({"a": tf.constant(1)}, {"a": tf.constant(1)}),
    "dicts of functions": lambda t: t.assertDictEqual({"a": len, "b": [[1], [2, 3]]}, {"a": len, "b": [[1], [2, 3]]}),
    "dicts of others": lambda t: t.assertDictEqual({"a": np.float32(0.1), "b": "x"}, {"a": 0.1, "b": "x"}),
    "range": lambda t: t.assertAllInRange(tf.constant([1, 2]), 1, 2),
    "not equal": lambda t: t.assertNotAllEqual([1], [2]),
    "messages": lambda t: t.assertProtoEquals("node { name: 'a' }", GraphDef(node=[{"name": "a"}])),
}
REFUSED = {
    "close": (lambda t: t.assertAllClose([1.0, 2.0], [1.0, 2.1]), r"(?s)a is different from b.*close where = .*\[1\]"),
    "close, half": (lambda t: t.assertAllClose(tf.constant([1.0], tf.bfloat16), [1.001]), "rtol=1e-06"),
    "close, keys": (lambda t: t.assertAllClose({"a": 1}, {"b": 1}), "mismatched keys: a has keys"),
    "close, nested": (lambda t: t.assertAllClose([{"a": 1.0}], [{"a": 2.0}]), r"a\[0\]\[a\] is different"),
    "close, scalar": (lambda t: t.assertAllClose(np.ones((2, 2)), 1.0), r"Shape mismatch: expected \(2, 2\), got \(\)"),
    "close, ragged": (lambda t: t.assertAllClose(RAGGED, [[1], [2, 3.5]]), "not close rhs"),
    "equal": (lambda t: t.assertAllEqual([[1, 2]], [[1, 3]]), r"(?s)not equal lhs = array\(\[2\]\).*\[0, 1\]"),
    "equal, ragged": (lambda t: t.assertAllEqual(RAGGED, [[1], [2, 4]]), "Lists differ"),
    "not equal": (lambda t: t.assertNotAllEqual([1], [1]), "equal at all elements"),
    "not close": (lambda t: t.assertNotAllClose([1.0], [1.0]), "close at all elements"),
    "greater": (lambda t: t.assertAllGreater([1, 2], 1), "1.* not greater than 1"),
    "less": (lambda t: t.assertAllLessEqual([1, 3], 2), "3.* not less than or equal to 2"),
    "open range": (lambda t: t.assertAllInRange([1, 2, 3], 1, 3, True, True), r"2 of the 3 .*range \(1, 3\)"),
    "nan in range": (lambda t: t.assertAllInRange([np.nan], 0.0, 1.0), "are NaN"),
    "texts in range": (lambda t: t.assertAllInRange(["a"], 0, 1), "does not have an ordered numeric type"),
    "set": (lambda t: t.assertAllInSet([1, 2, 3], [1, 2]), "1 unique element"),
    "near": (lambda t: t.assertNear(1.0, 2.0, 0.5), "1.000000 != 2.000000"),
    "near, in arrays": (
        lambda t: t.assertNear(np.array([1.5]), tf.constant([1.7]), np.array([1e-5]), "why"),
        r"False is not true : 1.500000 != 1.700000 \+/- 0.000010 \(difference: 0.2\) \(why\)",
    ),
    "rows": (lambda t: t.assertNDArrayNear(np.ones(2), np.zeros(2), 1.0), "1.41"),
    "dtype": (lambda t: t.assertDTypeEqual(tf.constant(1), np.float32), "int32"),
    "dicts": (lambda t: t.assertDictEqual({"a": tf.constant(1)}, {"a": tf.constant(2)}), "a"),
    "messages": (lambda t: t.assertProtoEquals("node { name: 'b' }", GraphDef(node=[{"name": "a"}])), 'name: "b"'),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_takes(case, name):
    ACCEPTED[name](case)


@pytest.mark.parametrize("name", REFUSED)
def test_refuses(case, name):
    check, pattern = REFUSED[name]
    with pytest.raises(AssertionError, match=pattern):
        check(case)


def test_evaluate_gives_arrays(case):
    several = (RAGGED, tf.sparse.from_dense([1, 0]), None)
    values = case.evaluate({"a": tf.Variable(3), "b": several, "c": lambda: tf.ones(1)})
    ragged, sparse, nothing = values["b"]
    assert values["a"] == 3 and values["c"].tolist() == [1.0] and nothing is None
    assert ragged.to_list() == [[1], [2, 3]] and ragged.shape == (2, None)
    assert type(sparse).__name__ == "SparseTensorValue" and sparse.indices.tolist() == [[0]]
    with pytest.raises(ValueError, match="Unsupported type 'int'"):
        case.evaluate(3)


def test_sessions(case):
    with case.session() as session, pytest.raises(AttributeError, match="eager execution is enabled"):
        session.run(3)
    with case.cached_session() as session:
        assert session.run([tf.constant(1), {"a": tf.constant(2)}], feed_dict={}) == [1, {"a": 2}]
        with pytest.raises(RuntimeError, match="feed_dict is not supported when eager execution is enabled"):
            session.run(tf.constant(1), feed_dict={"x": 1})
        with pytest.raises(RuntimeError, match="Optional args are not supported"):
            session.run(tf.constant(1), options=1)
    with tf.Graph().as_default():
        with case.cached_session() as first:
            assert (first.run(tf.constant(3)), case.evaluate(tf.constant(4)), tf.constant(5).eval()) == (3, 4, 5)
        with case.cached_session(use_gpu=False) as second:
            assert second is first
        other_graph = case.cached_session(graph=tf.Graph())
        with pytest.raises(ValueError, match="The graph used to get the cached session is different"), other_graph:
            pass
        with case.session() as other:
            assert other is not first


def test_a_session_gives_ragged_values():
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        value = session.run(tf.RaggedTensor.from_row_lengths(tf.constant([1, 2, 3]), tf.constant([1, 2])))
    assert isinstance(value, tf.compat.v1.ragged.RaggedTensorValue) and value.to_list() == [[1], [2, 3]]
    with pytest.raises(TypeError, match="row_splits must be a 1D int32 or int64 numpy array"):
        tf.compat.v1.ragged.RaggedTensorValue(np.array([1]), np.array([0.0]))


def test_numbers_in_arrays_are_near(case):
    case.assertNear(np.array([1.5]), np.array([1.5]), 1e-5)
    case.assertNear(tf.constant([[1.5]]), tf.Variable(1.50001), np.array(1e-4))


def test_errors_of_ops(case):
    with case.assertRaisesOpError("did not hold"):
        tf.debugging.assert_equal(1, 2)
    with case.assertRaisesIncompatibleShapesError():
        tf.ones([2]) + tf.ones([3])
    check = case.assertRaisesWithPredicateMatch(ValueError, "x")
    with pytest.raises(AssertionError, match="ValueError not raised"), check:
        pass
    check = case.assertRaisesWithPredicateMatch(ValueError, lambda error: False)
    with pytest.raises(AssertionError, match="Exception of type <class 'ValueError'>: q"), check:
        raise ValueError("q")


def test_threads_must_be_joined_and_their_errors_count():
    case = Case()
    case.setUp()
    thread = case.checkedThread(lambda: 1 / 0)
    with pytest.raises(AssertionError, match="A checked thread was not joined"):
        case.tearDown()
    thread.start()
    with pytest.raises(AssertionError, match="Error in checkedThread: division by zero"):
        thread.join()


def test_every_test_starts_alike():
    drawn = []
    for _ in range(2):
        case = Case()
        case.setUp()
        drawn.append((tf.random.uniform([]).numpy(), np.random.rand()))
        case.tearDown()
    assert drawn[0] == drawn[1]


def test_writes_of_a_stream(case, tmp_path):
    with open(tmp_path / "out", "w") as stream:
        with case.captureWritesToStream(stream) as written:
            stream.write("text")
        stream.write("more")
    assert written.contents() == "text" and (tmp_path / "out").read_text() == "more"


def test_a_folder_of_its_own(case):
    folder = case.get_temp_dir()
    assert os.path.isdir(folder) and case.get_temp_dir() == folder
    case.doCleanups()
    assert os.path.isdir(folder)  # a later test may still stand in it


def test_compute_gradient():
    by_gradient, by_difference = tf.test.compute_gradient(
        lambda x, y: x * tf.reduce_sum(y), [tf.constant([1.0, 2.0]), tf.constant([3.0])]
    )
    assert [m.tolist() for m in by_gradient] == [[[3.0, 0.0], [0.0, 3.0]], [[1.0], [2.0]]]
    np.testing.assert_allclose(by_difference[0], by_gradient[0], atol=1e-3)
    complex_one, by_difference = tf.test.compute_gradient(lambda x: x * x, [tf.constant([1 + 2j])])
    assert complex_one[0].tolist() == [[2.0, -4.0], [4.0, 2.0]]
    np.testing.assert_allclose(by_difference[0], complex_one[0], atol=1e-6)
    assert tf.test.compute_gradient(lambda x: tf.gather(x, [0]), [np.ones((2, 2))])[0][0].shape == (2, 4)
    with pytest.raises(ValueError, match="`x` must be a list or tuple"):
        tf.test.compute_gradient(lambda x: x, 3.0)
    with pytest.raises(AssertionError, match="unsupported type int32 of argument 0"):
        tf.test.compute_gradient(lambda x: x, [3])


def test_graph_defs():
    graph, other = GraphDef(node=[{"name": "a", "op": "X", "input": ["^b", "^c"]}]), GraphDef()
    tf.test.assert_equal_graph_def(graph, GraphDef(node=[{"name": "a", "op": "X", "input": ["^c", "^b"]}]))
    with pytest.raises(AssertionError, match=r"Did not find expected node '\{\{node a\}\} = X"):
        tf.test.assert_equal_graph_def(graph, other)
    with pytest.raises(AssertionError, match="Found unexpected node"):
        tf.test.assert_equal_graph_def(other, graph)
    with pytest.raises(TypeError, match=r"Expected tf.GraphDef for actual, got int"):
        tf.test.assert_equal_graph_def(graph, 3)


def test_decorators(case):
    @tf.test.disable_with_predicate(pred=lambda: True, skip_message="skipped!")
    def skipped(self):
        raise AssertionError

    with pytest.raises(unittest.SkipTest, match="skipped!"):
        skipped(case)
    assert tf.test.with_eager_op_as_function(Case) is Case and tf.test.with_eager_op_as_function()(Case) is Case


def test_benchmarks_are_run_and_reported(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent("""
            import tapeflow as tf

            class SumBenchmark(tf.test.Benchmark):
                def benchmark_sum(self):
                    metrics = [{"name": "m", "value": 1.0}]
                    self.report_benchmark(iters=3, wall_time=0.5, extras={"kind": "x"}, metrics=metrics)

                def benchmark_session(self):
                    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
                        report = self.run_op_benchmark(session, tf.constant(3) + 1, min_iters=2)
                        assert report["iters"] == 2 and report["name"] == "SumBenchmark.benchmark_session"

            tf.test.main()
            """)
    )
    environment = {**os.environ, "TEST_REPORT_FILE_PREFIX": f"{tmp_path}/report_"}
    done = subprocess.run(
        [sys.executable, str(program), "--benchmarks=Sum"], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert sorted(p.name for p in tmp_path.glob("report_*")) == [
        "report_SumBenchmark.benchmark_session",
        "report_SumBenchmark.benchmark_sum",
    ]
    # The fields as test_log.proto numbers them: name, iters, wall_time, extras, metrics.
    head = b"\n\x1aSumBenchmark.benchmark_sum\x10\x03"
    fields = head, b"!\0\0\0\0\0\0\xe0?", b"2\x0b\n\x04kind\x12\x03\x12\x01x", b":\x0c\n\x01m\x11"
    report = (tmp_path / "report_SumBenchmark.benchmark_sum").read_bytes()
    assert all(field in report for field in fields), report


def test_what_there_is():
    assert tf.test.gpu_device_name() == "" or tf.test.is_gpu_available()
    assert tf.test.is_built_with_cuda() in (True, False) and not tf.test.is_cpu_target_available("z80")
    tf.test.experimental.sync_devices()


def test_a_test_may_begin_in_another_graph():
    case = Case()
    with tf.Graph().as_default() as graph:
        case.setUp()
        assert tf.compat.v1.get_default_graph() is graph


def test_lists_of_different_lengths_and_of_objects_are_compared():
    case, shapes = Case(), (tf.TensorShape([2]), tf.TensorShape([2, 3]))
    case.assertAllEqual(shapes, ([2], [2, 3]))
    with pytest.raises(AssertionError):
        case.assertAllEqual(shapes, ([2], [2, 4]))
    case.assertAllEqual([case], [case])
    dataset = tf.data.Dataset.range(1)  # has tensors, and is none
    case.assertAllEqual([dataset, case], [dataset, case])
