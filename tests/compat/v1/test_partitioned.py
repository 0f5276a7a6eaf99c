"""Variables in parts: sizes of the parts, values, updates, and what initializers are told."""

import numpy as np
import pytest

import tapeflow as tf

v1 = tf.compat.v1


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.mark.parametrize(
    ("partitioner", "shape", "expected"),
    [
        (v1.fixed_size_partitioner(3), [7, 2], [[3, 2], [2, 2], [2, 2]]),
        (v1.fixed_size_partitioner(2, axis=1), [3, 5], [[3, 3], [3, 2]]),
        (v1.fixed_size_partitioner(9), [2, 2], [[1, 2], [1, 2]]),
        (v1.variable_axis_size_partitioner(16), [8, 2], [[2, 2]] * 4),
        (v1.variable_axis_size_partitioner(16, max_shards=2), [8, 2], [[4, 2]] * 2),
        (v1.variable_axis_size_partitioner(1 << 20), [8, 2], [[8, 2]]),
        (v1.min_max_variable_partitioner(3, min_slice_size=16), [12, 2], [[4, 2]] * 3),
        (v1.min_max_variable_partitioner(3, min_slice_size=64), [12, 2], [[6, 2]] * 2),
    ],
)
def test_sizes_of_parts(partitioner, shape, expected):
    v = v1.get_variable("v", shape, partitioner=partitioner)
    assert [p.shape.as_list() for p in v] == expected
    assert v.shape.as_list() == shape
    assert [p.name for p in v] == [f"v/part_{i}:0" for i in range(len(expected))]
    assert len(v) == len(expected)
    assert v.name == "v"
    assert v.dtype == tf.float32
    assert list(v._get_variable_list()) == list(v)
    assert sorted(v1.global_variables(), key=id) == sorted(v, key=id)


def test_values_and_updates():
    numbers = np.arange(10.0, dtype=np.float32).reshape(5, 2)
    v = v1.get_variable("v", [5, 2], initializer=v1.zeros_initializer(), partitioner=v1.fixed_size_partitioner(2))
    doubled = tf.convert_to_tensor(v) * 2.0
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer())
        results = sess.run(v.assign(numbers))
        assert np.concatenate(results).tolist() == sess.run(v.as_tensor()).tolist() == numbers.tolist()
        assert sess.run(doubled)[4].tolist() == [16.0, 18.0]
        results = sess.run(v.assign_sub(np.ones([5, 2], np.float32)))
        assert [r.shape for r in results] == [(3, 2), (2, 2)]
        assert results[1].tolist() == [[5.0, 6.0], [7.0, 8.0]]
        sess.run(v.assign(np.full([5, 2], 3.0, np.float32)))
        added = sess.run(v.assign_add(np.ones([5, 2], np.float32)))
        assert np.concatenate(added).tolist() == [[4.0, 4.0]] * 5
        sess.run(v.assign_add(np.zeros([5, 2], np.float32), read_value=False))
        assert sess.run(v.as_tensor()).tolist() == [[4.0, 4.0]] * 5
    with pytest.raises(ValueError):
        tf.convert_to_tensor(v, tf.int32)


def test_what_initializers_are_told():
    told = []

    def first(shape, dtype=None, partition_info=None):
        told.append((list(shape), list(partition_info.full_shape), list(partition_info.var_offset)))
        told.append((partition_info.single_offset(shape), partition_info.single_slice_dim(shape)))
        return tf.zeros(shape, dtype)

    v1.get_variable("v", [2, 5], initializer=first, partitioner=v1.fixed_size_partitioner(2, axis=1))
    assert told == [([2, 3], [2, 5], [0, 0]), (0, 1), ([2, 2], [2, 5], [0, 3]), (3, 1)]


@pytest.mark.parametrize(
    ("shape", "partitioner"),
    [
        ([None, 2], v1.fixed_size_partitioner(2)),
        ([4, 4], lambda **_: [2, 2]),
        ([4, 4], lambda **_: [2]),
        ([4, 4], lambda **_: 2),
    ],
)
def test_parts_that_are_none(shape, partitioner):
    with pytest.raises((ValueError, TypeError)):
        v1.get_variable("v", shape, partitioner=partitioner)


def test_parts_are_saved_as_a_whole(tmp_path):
    v = v1.get_variable("v", [5, 2], initializer=v1.ones_initializer(), partitioner=v1.fixed_size_partitioner(2))
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer())
        sess.run(v.assign(np.arange(10.0, dtype=np.float32).reshape(5, 2)))
        path = v1.train.Saver().save(sess, str(tmp_path / "m"), write_meta_graph=False)
    assert tf.train.list_variables(path) == [("v", [5, 2])]
    with tf.Graph().as_default(), v1.Session() as sess:
        w = v1.get_variable("v", [5, 2], partitioner=v1.fixed_size_partitioner(3))
        v1.train.Saver().restore(sess, path)
        assert sess.run(w.as_tensor())[4].tolist() == [8.0, 9.0]
