"""Iterators over datasets. Expected values are TensorFlow's."""

import collections.abc

import numpy as np
import pytest

import tapeflow as tf

Dataset = tf.data.Dataset
r3 = Dataset.range(3)


def test_iterators_are_spent():
    iterator = iter(r3)
    assert isinstance(iterator, tf.data.Iterator)
    assert isinstance(iterator, collections.abc.Iterator)
    assert iter(iterator) is iterator
    assert [int(iterator.get_next()), int(next(iterator))] == [0, 1]
    assert [int(x) for x in iterator] == [2]
    with pytest.raises(StopIteration):
        next(iterator)
    with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
        iterator.get_next()
    assert [int(x) for x in r3] == [0, 1, 2]


def test_optionals():
    iterator = iter(Dataset.range(5, 6))
    first, rest = iterator.get_next_as_optional(), iterator.get_next_as_optional()
    assert (bool(first.has_value()), bool(rest.has_value())) == (True, False)
    assert int(first.get_value()) == 5
    assert first.element_spec == rest.element_spec == tf.TensorSpec([], tf.int64)
    with pytest.raises(tf.errors.InvalidArgumentError):
        rest.get_value()


def test_iterators_in_functions():
    @tf.function
    def two(iterator):
        return next(iterator) * 10 + iterator.get_next()

    iterator = iter(Dataset.range(1, 6))
    assert [int(two(iterator)), int(two(iterator)), int(next(iterator))] == [12, 34, 5]
    with pytest.raises(tf.errors.OutOfRangeError):
        two(iterator)

    @tf.function
    def total(iterator):
        result = tf.constant(0, tf.int64)
        for x in iterator:
            result += x
        return result

    iterator = iter(Dataset.range(5))
    next(iterator)
    next(iterator)
    assert int(total(iterator)) == 9

    @tf.function
    def count(iterator):
        optional = iterator.get_next_as_optional()
        return optional.has_value()

    iterator = iter(Dataset.range(1))
    assert [bool(count(iterator)), bool(count(iterator))] == [True, False]


def test_python_loops_in_functions_end():
    @tf.function(autograph=False)
    def everything():
        return list(r3)

    with pytest.raises((ValueError, RuntimeError, TypeError)):
        everything()


def test_specs_of_iterators():
    iterator = iter(r3.batch(2))
    spec = tf.data.IteratorSpec(tf.TensorSpec([None], tf.int64))
    assert tf.data.IteratorSpec.from_value(iterator) == spec == tf.type_spec_from_value(iterator)
    assert hash(spec) == hash(tf.data.IteratorSpec(tf.TensorSpec([None], tf.int64)))
    assert spec != tf.data.IteratorSpec(tf.TensorSpec([2], tf.int64))
    assert spec != tf.TensorSpec([None], tf.int64)
    assert isinstance(iterator, spec.value_type)
    assert not isinstance(3, spec.value_type)
    traced = []

    @tf.function(input_signature=[spec])
    def take(values):
        traced.append(values.element_spec)
        return next(values)

    assert take(iterator).numpy().tolist() == [0, 1]
    assert take(iterator).numpy().tolist() == [2]
    assert traced == [tf.TensorSpec([None], tf.int64)]


def test_arrays():
    iterator = Dataset.from_tensor_slices({"a": [[1, 2], [3, 4]], "b": ["x", "y"]}).as_numpy_iterator()
    assert isinstance(iterator, tf.data.NumpyIterator)
    assert iter(iterator) is iterator
    first = iterator.next()
    assert (first["a"].tolist(), first["a"].dtype, first["b"]) == ([1, 2], np.int32, b"x")
    with pytest.raises(ValueError, match="read-only"):
        first["a"][0] = 5
    assert next(iterator)["b"] == b"y"
    with pytest.raises(StopIteration):
        iterator.next()


def test_arrays_of_other_components():
    ragged = next(r3.map(lambda x: (tf.ragged.range([x + 1, 1]), x > 0, None)).as_numpy_iterator())
    assert [r.tolist() for r in ragged[0]] == [[0], [0]]
    assert isinstance(ragged[1], np.bool_)
    assert ragged[2] is None
    with pytest.raises(TypeError, match="not supported for datasets that produce values of type"):
        r3.window(2).as_numpy_iterator()
    with pytest.raises(RuntimeError):
        tf.function(lambda: r3.as_numpy_iterator())()


def test_positions_of_arrays():
    iterator = Dataset.range(9).shuffle(4, seed=3).as_numpy_iterator()
    begun = [next(iterator) for _ in range(3)]
    position = iterator.save()
    rest = list(iterator)
    assert sorted([*begun, *rest]) == list(range(9))
    iterator.restore(position)
    assert list(iterator) == rest
    for wrong in (b"a", b"!!!!"):
        with pytest.raises(tf.errors.InvalidArgumentError):
            iterator.restore(wrong)


def test_positions_in_shorter_datasets(tmp_path):
    iterator = iter(Dataset.range(9))
    for _ in range(5):
        next(iterator)
    path = tf.train.Checkpoint(iterator=iterator).save(str(tmp_path / "point"))
    again = iter(Dataset.range(9))
    tf.train.Checkpoint(iterator=again).restore(path)
    assert int(next(again)) == 5


def test_debug_mode_needs_no_graph():
    with pytest.raises(ValueError, match="is only supported in eager mode"):
        tf.function(lambda: tf.data.experimental.enable_debug_mode())()


def test_shapes_that_were_declared_are_checked():
    def declared(x):
        result = tf.numpy_function(lambda v: np.zeros([v], np.int64), [x], tf.int64)
        result.set_shape([2])
        return result

    iterator = iter(r3.map(declared))
    for _ in range(2):
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"Incompatible shapes at component 0: expected \[2\]"):
            next(iterator)
    assert next(iterator).numpy().tolist() == [0, 0]
    arrays = r3.skip(1).map(declared).as_numpy_iterator()
    with pytest.raises(tf.errors.InvalidArgumentError):
        next(arrays)
    assert next(arrays).tolist() == [0, 0]
