"""`tf.test.TestCase`: seeds, values, errors, dicts, devices, threads, streams and sessions."""

import os
import random
import sys
import tempfile

import numpy as np
import pytest

import tapeflow as tf


class Case(tf.test.TestCase):
    def runTest(self):
        pass


@pytest.fixture(name="case")
def started_case():
    case = Case()
    case.setUp()
    yield case
    case.tearDown()


def test_seeds_of_a_test():
    drawn = []
    for _ in range(2):
        case = Case()
        case.setUp()
        drawn.append((random.random(), np.random.rand(), tf.random.uniform([]).numpy()))
        case.tearDown()
    assert drawn[0] == drawn[1]
    # As in TensorFlow, the seed is 87654321.
    assert drawn[0][:2] == (random.Random(87654321).random(), np.random.RandomState(87654321).rand())
    tf.random.set_seed(87654321)
    assert tf.random.uniform([]).numpy() == drawn[0][2]


def test_a_test_begins_with_an_empty_graph():
    tf.compat.v1.get_default_graph()
    with tf.compat.v1.get_default_graph().as_default():
        tf.constant(1)
    case = Case()
    case.setUp()
    assert tf.compat.v1.get_default_graph().get_operations() == []
    case.tearDown()


def test_values_of_slices(case):
    slices = tf.IndexedSlices(tf.constant([[1.0, 2.0]]), tf.constant([3]), tf.constant([5, 2]))
    value = case.evaluate(slices)
    assert value.values.tolist() == [[1.0, 2.0]] and value.indices.tolist() == [3]
    assert value.dense_shape.tolist() == [5, 2]
    assert case.evaluate(tf.IndexedSlices(tf.constant([1.0]), tf.constant([3]))).dense_shape is None


def test_values_of_two_tensors(case):
    one, other = case.evaluate_if_both_tensors(tf.constant(1), tf.constant(2))
    assert (type(one), one, other) == (np.int32, 1, 2)
    tensor = tf.constant(1)
    assert case.evaluate_if_both_tensors(tensor, 2) == (tensor, 2)
    assert case.evaluate_if_both_tensors(2, tensor) == (2, tensor)


def test_errors_with_a_predicate(case):
    with case.assertRaisesWithPredicateMatch(ValueError, lambda error: error.args == (3,)):
        raise ValueError(3)
    with case.assertRaisesWithPredicateMatch((ValueError, KeyError), "b..$"):
        raise KeyError("bc")  # whose text has quotes
    with (
        pytest.raises(AssertionError, match="ValueError or KeyError not raised"),
        case.assertRaisesWithPredicateMatch((ValueError, KeyError), ""),
    ):
        pass
    with (
        pytest.raises(AssertionError, match="Exception of type <class 'KeyError'>"),
        case.assertRaisesWithPredicateMatch(ValueError, ""),
    ):
        raise KeyError("a")
    with pytest.raises(AssertionError, match="Exception of type"), case.assertRaisesOpError("other words"):
        tf.debugging.assert_equal(1, 2, message="these words")
    with pytest.raises(AssertionError, match="Exception of type"), case.assertRaisesIncompatibleShapesError(KeyError):
        tf.ones([2]) + tf.ones([3])


def test_starts_of_texts(case):
    case.assertStartsWith("abc", "ab")
    with pytest.raises(AssertionError, match="'abc' does not start with 'b' : because"):
        case.assertStartsWith("abc", "b", "because")


def test_equal_dicts(case):
    case.assertDictEqual({"a": tf.constant([1.0]), "b": 2}, {"b": 2, "a": tf.constant([1.0 + 1e-7])})
    case.assertDictEqual({"a": np.array([1, 2])}, {"a": np.array([1, 2])})
    with pytest.raises(AssertionError, match="the first argument is no dict"):
        case.assertDictEqual([1], {"a": 1})
    with pytest.raises(AssertionError, match=r"the second argument is no dict.* because"):
        case.assertDictEqual({"a": 1}, [1], "because")
    with pytest.raises(AssertionError, match="because"):
        case.assertDictEqual({"a": 1}, {"a": 1, "b": 2}, "because")
    with pytest.raises(AssertionError, match="b because"):
        case.assertDictEqual({"a": 1, "b": 2}, {"a": 1, "b": 3}, "because")
    with pytest.raises(AssertionError):
        case.assertDictEqual({"a": 1.0}, {"a": 1.1})


def test_items_are_counted(case):
    case.assertItemsEqual([1, 2, 2], [2, 1, 2])
    with pytest.raises(AssertionError, match="because"):
        case.assertItemsEqual([1, 2, 2], [2, 1, 1], "because")


def test_devices(case):
    case.assertDeviceEqual(None, "")
    case.assertDeviceEqual("/job:a/task:1/cpu:0", "/job:a/task:1/device:CPU:0")
    with pytest.raises(AssertionError, match=r"Devices /device:CPU:0 and /device:CPU:1 are not equal. because"):
        case.assertDeviceEqual("/cpu:0", "/cpu:1", "because")
    with pytest.raises(AssertionError):
        case.assertDeviceEqual(None, "/cpu:0")


def test_threads_get_their_arguments(case):
    results = []
    thread = case.checkedThread(lambda a, b: results.append((a, b)), args=(1,), kwargs={"b": 2})
    thread.start()
    thread.join()
    other = case.checkedThread(lambda: results.append("none"))
    other.start()
    other.join(10.0)
    assert results == [(1, 2), "none"]


def test_writes_to_a_descriptor(case):
    with open(os.devnull, "w") as stream, case.captureWritesToStream(stream) as written:
        stream.write("begin ")
        stream.flush()
        os.write(stream.fileno(), b"from C \xff")
        with pytest.raises(ValueError, match="contents"):
            written.contents()
    assert written.contents() == "begin from C \ufffd"


def test_the_stream_is_given_back_after_an_error(case, tmp_path):
    with open(tmp_path / "out", "w") as stream:
        with pytest.raises(KeyError), case.captureWritesToStream(stream):
            stream.write("lost")
            raise KeyError
        stream.write("kept")
    assert (tmp_path / "out").read_text() == "kept"


def test_the_parent_of_a_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("TEST_TMPDIR", str(tmp_path))
    case, other = Case(), Case()
    assert os.path.dirname(case.get_temp_dir()) == str(tmp_path) and case.get_temp_dir() != other.get_temp_dir()
    monkeypatch.delenv("TEST_TMPDIR")
    assert os.path.dirname(Case().get_temp_dir()) == tempfile.gettempdir()


def test_devices_of_sessions(case):
    with tf.Graph().as_default():
        for open_session in (case.session, case.cached_session):
            with open_session():
                assert tf.constant(1).device == ""
            with open_session(use_gpu=False):
                assert tf.constant(1).device == "/device:CPU:0"
        with case.session(force_gpu=True):
            assert tf.constant(1).device == "/device:GPU:0"


def test_a_session_has_the_graph_and_the_options(case):
    graph, config = tf.Graph(), tf.compat.v1.ConfigProto(allow_soft_placement=True)
    with tf.Graph().as_default():
        with case.session(graph=graph, config=config) as session:
            assert session.graph is graph and tf.compat.v1.get_default_graph() is graph
            assert tf.compat.v1.get_default_session() is session
        with case.cached_session(graph=graph, config=config) as first:
            assert first.graph is graph and tf.compat.v1.get_default_graph() is graph
            assert tf.compat.v1.get_default_session() is first
        with case.cached_session(graph=graph, config=config) as second:
            assert second is first


@pytest.mark.parametrize(
    ("words", "change"), [("config", {"config": tf.compat.v1.ConfigProto()}), ("force_gpu value", {"force_gpu": True})]
)
def test_a_cached_session_is_of_one_kind(case, words, change):
    message = f"The {words} used to get the cached session is different"
    with tf.Graph().as_default():
        with case.cached_session():
            pass
        with pytest.raises(ValueError, match=message), case.cached_session(**change):
            pass


def test_the_session_of_a_test_is_closed():
    case = Case()
    case.setUp()
    with tf.Graph().as_default():
        value = tf.constant(3)
        with case.cached_session() as session:
            assert session.run(value) == 3
        case.tearDown()
        with pytest.raises(RuntimeError, match="closed"):
            session.run(value)


def test_the_method_named_test_session(case):
    with case.test_session() as session:
        assert session.run(tf.constant(2)) == 2
    graph = tf.Graph()
    with tf.Graph().as_default(), case.test_session() as shared, case.test_session() as same:
        assert shared is same
    with tf.Graph().as_default(), case.test_session(graph=graph) as session:
        assert session.graph is graph and session is not shared

    class Inherited(tf.test.TestCase):
        pass

    with pytest.raises(BaseException, match="Not a test"):
        Inherited("test_session").test_session()


def test_an_eager_session_takes_no_options(case):
    with case.cached_session() as session, pytest.raises(RuntimeError, match="Optional args are not supported"):
        session.run(tf.constant(1), None, 3)


def test_standard_error_is_captured(case, capfd):
    with case.captureWritesToStream(sys.__stderr__) as written:
        os.write(2, b"text")
    assert written.contents() == "text" and capfd.readouterr().err == ""
