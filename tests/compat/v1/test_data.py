"""Datasets and iterators of TensorFlow 1: expected values are of TensorFlow 2.21."""

import numpy as np
import pytest

import tapeflow as tf

v1 = tf.compat.v1


def take_all(element):
    """Runs an element until the iterator ends."""
    with v1.Session() as session:
        taken = []
        while True:
            try:
                taken.append(session.run(element))
            except tf.errors.OutOfRangeError:
                return taken


def lines(folder):
    path = folder / "lines.txt"
    path.write_text("a\nb\n")
    return v1.data.TextLineDataset(str(path))


SOURCES = {
    "range": (lambda _: v1.data.Dataset.range(3), [0, 1, 2]),
    "zip": (lambda _: v1.data.Dataset.zip((v1.data.Dataset.range(2), tf.data.Dataset.range(2))), [(0, 0), (1, 1)]),
    "chain": (lambda _: v1.data.Dataset.range(4).filter(lambda x: x > 0).map(lambda x: x * x).skip(1), [4, 9]),
    "apply": (lambda _: v1.data.Dataset.range(3).apply(lambda ds: tf.data.Dataset.range(2)), [0, 1]),
    "legacy map": (lambda _: v1.data.Dataset.range(2).map_with_legacy_function(lambda x: x + 1), [1, 2]),
    "lines": (lambda folder: lines(folder).map(lambda x: x + "!"), [b"a!", b"b!"]),
    "counter": (lambda _: v1.data.experimental.Counter(5).take(2), [5, 6]),
    "choice": (
        lambda _: v1.data.experimental.choose_from_datasets(
            [tf.data.Dataset.range(2), tf.data.Dataset.range(5, 7)],
            tf.data.Dataset.from_tensor_slices(np.int64([1, 0, 1, 0])),
        ),
        [5, 0, 6, 1],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SOURCES)
def test_datasets_make_iterators(name, tmp_path):
    make, expected = SOURCES[name]
    with tf.Graph().as_default():
        assert take_all(make(tmp_path).make_one_shot_iterator().get_next()) == expected
    with tf.Graph().as_default(), v1.Session() as session:
        iterator = make(tmp_path).make_initializable_iterator()
        element = iterator.get_next(name="taken")
        assert tf.nest.flatten(element)[0].op.name == "taken"
        for _ in range(2):
            session.run(iterator.initializer)
            assert session.run(element) == expected[0]


def test_random_datasets_have_the_methods_of_tensorflow_1():
    expected = list(v1.data.experimental.RandomDataset(7).take(2).as_numpy_iterator())
    with tf.Graph().as_default():
        assert take_all(v1.data.experimental.RandomDataset(7).take(2).make_one_shot_iterator().get_next()) == expected


def test_only_datasets_of_tensorflow_1_have_the_methods():
    dataset = v1.data.Dataset.range(2)
    assert isinstance(dataset, tf.data.Dataset) and isinstance(dataset.batch(2), v1.data.Dataset)
    assert not isinstance(tf.data.Dataset.range(2), v1.data.Dataset)
    assert not hasattr(tf.data.Dataset.range(2), "make_one_shot_iterator")
    assert (dataset.output_types, dataset.output_shapes, dataset.output_classes) == (tf.int64, [], tf.Tensor)
    assert [int(x) for x in dataset.filter_with_legacy_function(lambda x: x > 0)] == [1]
    assert [int(x) for x in dataset] == [0, 1] and int(dataset.reduce(np.int64(0), lambda a, x: a + x)) == 1


def test_eagerly_an_iterator_of_python_goes_over_a_dataset_once():
    iterator = v1.data.Dataset.range(2).make_one_shot_iterator()
    assert [int(iterator.get_next()), int(next(iterator))] == [0, 1]
    with pytest.raises(RuntimeError, match="not supported in eager mode"):
        v1.data.Dataset.range(2).make_initializable_iterator()


def test_rows_of_a_sparse_tensor():
    sparse = tf.sparse.SparseTensor([[0, 1], [2, 0]], [5, 6], [3, 2])
    rows = [[part.numpy().tolist() for part in row] for row in v1.data.Dataset.from_sparse_tensor_slices(sparse)]
    assert rows == [[[[1]], [5], [2]], [[], [], [2]], [[[0]], [6], [2]]]
    with pytest.raises(TypeError, match="SparseTensor"):
        v1.data.Dataset.from_sparse_tensor_slices([1])


def test_a_string_names_the_iterator_of_a_run():
    with tf.Graph().as_default(), v1.Session() as session:
        first = v1.data.Dataset.range(3).make_one_shot_iterator()
        second = v1.data.Dataset.range(10, 13).make_initializable_iterator()
        handle = v1.placeholder(tf.string, [])
        iterator = v1.data.Iterator.from_string_handle(handle, first.output_types, first.output_shapes)
        element = iterator.get_next()
        handles = session.run([first.string_handle(), second.string_handle()])
        session.run(second.initializer)
        assert [session.run(element, {handle: handles[i]}) for i in (0, 1, 0, 1)] == [0, 10, 1, 11]
        with pytest.raises(tf.errors.InvalidArgumentError, match="Could not parse string_handle"):
            session.run(element, {handle: b"other"})
        floats = v1.data.Iterator.from_string_handle(handle, tf.float32).get_next()
        with pytest.raises(tf.errors.InvalidArgumentError, match="expected float but got int64"):
            session.run(floats, {handle: handles[0]})
        rows = v1.data.Iterator.from_string_handle(handle, tf.int64, [2]).get_next()
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"expected \[2\] but got \[\]"):
            session.run(rows, {handle: handles[1]})
