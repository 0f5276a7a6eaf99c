"""Assignments to parts of a variable. TensorFlow changes some rows before it refuses one, TapeFlow none."""

import numpy as np
import pytest

import tapeflow as tf

TABLE = [[1, 2], [30, 40], [5, 6], [70, 80]]
UPDATES = [[9, 3], [4, 50]]

RESULTS = {
    "update": {2: [9, 3], 0: [4, 50]},
    "add": {2: [14, 9], 0: [5, 52]},
    "sub": {2: [-4, 3], 0: [-3, -48]},
    "mul": {2: [45, 18], 0: [4, 100]},
    "max": {2: [9, 6], 0: [4, 50]},
    "min": {2: [5, 3], 0: [1, 2]},
}


def table_with(rows):
    return [rows.get(i, row) for i, row in enumerate(TABLE)]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "float16"])
@pytest.mark.parametrize("name", RESULTS)
@pytest.mark.parametrize("index", [tf.int32, tf.int64])
def test_rows(name, dtype, index):
    v = tf.Variable(TABLE, dtype=dtype)
    delta = tf.IndexedSlices(tf.cast(UPDATES, dtype), tf.constant([2, 0], index))
    assert getattr(v, f"scatter_{name}")(delta).numpy().tolist() == table_with(RESULTS[name])
    assert v.numpy().tolist() == table_with(RESULTS[name])


def test_quotients_of_rows():
    v = tf.Variable([[1.0, 2.0], [30.0, 40.0]])
    v.scatter_div(tf.IndexedSlices([[2.0, 4.0], [5.0, 5.0]], [1, 1]))
    assert v.numpy().tolist() == [[1.0, 2.0], [3.0, 2.0]]
    whole = tf.Variable([7, -7, 20])
    assert whole.scatter_div(tf.IndexedSlices([2, 2, 3], [0, 1, 2])).numpy().tolist() == [3, -3, 6]
    complexes = tf.Variable([2 + 2j, 3 + 0j], dtype=tf.complex64)
    complexes.scatter_div(tf.IndexedSlices(tf.constant([1j, 2 + 0j], tf.complex64), [0, 1]))
    assert complexes.numpy().tolist() == [2 - 2j, 1.5]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "bfloat16", "complex64"])
def test_divisors_are_not_zero(dtype):
    v = tf.Variable(tf.cast([1, 2], dtype))
    for updates, indices in ((tf.cast([3, 0], dtype), [0, 1]), (tf.cast(0, dtype), [1])):
        with pytest.raises(tf.errors.InvalidArgumentError, match="updates must not contain 0"):
            v.scatter_div(tf.IndexedSlices(updates, indices))
    assert tf.cast(v, tf.int32).numpy().tolist() == [1, 2]


@pytest.mark.parametrize(("name", "expected"), [("add", [3.0, 22.0]), ("sub", [-1.0, -18.0]), ("mul", [1.0, 192.0]),
                                                ("max", [1.0, 12.0]), ("min", [1.0, 2.0])])  # fmt: skip
def test_an_index_that_occurs_twice(name, expected):
    v = tf.Variable([1.0, 2.0])
    indices = [1, 1, 0] if name in ("add", "sub") else [1, 1]
    values = [8.0, 12.0, 2.0] if name in ("add", "sub") else [8.0, 12.0]
    assert getattr(v, f"scatter_{name}")(tf.IndexedSlices(values, indices)).numpy().tolist() == expected


def test_one_number_for_all_rows():
    v = tf.Variable(TABLE)
    assert v.scatter_update(tf.IndexedSlices(7, [3, 1])).numpy().tolist() == table_with({3: [7, 7], 1: [7, 7]})
    assert v.scatter_add(tf.IndexedSlices(1, [0])).numpy()[0].tolist() == [2, 3]
    with pytest.raises(TypeError, match=r"must be a `tf\.IndexedSlices`|sparse_delta is not IndexedSlices"):
        v.scatter_update([1, 2])


def test_tables_of_indices():
    v = tf.Variable([[0.0], [0.0], [0.0]])
    v.scatter_add(tf.IndexedSlices([[[1.0], [2.0]], [[3.0], [4.0]]], [[0, 1], [2, 0]]))
    assert v.numpy().tolist() == [[5.0], [2.0], [3.0]]
    empty = tf.IndexedSlices(tf.zeros([0, 1]), tf.zeros([0], tf.int32))
    assert v.scatter_update(empty).numpy().tolist() == [[5.0], [2.0], [3.0]]


@pytest.mark.parametrize("method", ["scatter_update", "scatter_add", "scatter_max"])
@pytest.mark.parametrize(
    ("values", "indices", "said"),
    [
        ([[1.0, 2.0]], [4], r"indices\[0\] = 4 is not in \[0, 4\)"),
        ([[1.0, 2.0], [3.0, 4.0]], [0, -1], r"indices\[1\] = -1 is not in \[0, 4\)"),
        ([[1.0, 2.0, 3.0]], [0], "params.shape|Shapes must be equal"),
        ([[1.0, 2.0]], [0, 1], "shape"),
        ([1.0, 2.0], [0, 1], "shape"),
    ],
)
def test_rows_that_are_refused(method, values, indices, said):
    v = tf.Variable(TABLE, dtype=tf.float32)
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError), match=said):
        getattr(v, method)(tf.IndexedSlices(values, indices))
    assert v.numpy().tolist() == TABLE


def test_rows_of_batches():
    v = tf.Variable([[[1], [2], [3]], [[4], [5], [6]]])
    v.batch_scatter_update(tf.IndexedSlices([[[9], [8]], [[7], [0]]], [[2, 0], [1, 2]]))
    assert v.numpy().tolist() == [[[8], [2], [9]], [[4], [7], [0]]]
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
        v.batch_scatter_update(tf.IndexedSlices([[[9]], [[8]]], [[3], [0]]))
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
        v.batch_scatter_update(tf.IndexedSlices([[[9]]] * 3, [[1], [0], [0]]))
    assert v.numpy().tolist() == [[[8], [2], [9]], [[4], [7], [0]]]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("update", [[1, 99], [-5, 4], [5, 6]]),
        ("add", [[1, 101], [-2, 4], [5, 6]]),
        ("sub", [[1, -97], [8, 4], [5, 6]]),
        ("max", [[1, 99], [3, 4], [5, 6]]),
        ("min", [[1, 2], [-5, 4], [5, 6]]),
    ],
)
def test_elements(name, expected):
    for dtype in (tf.int32, tf.float32):
        v = tf.Variable([[1, 2], [3, 4], [5, 6]], dtype=dtype)
        method = getattr(v, f"scatter_nd_{name}")
        assert method([[0, 1], [1, 0]], tf.cast([99, -5], dtype)).numpy().tolist() == expected


def test_slices_by_several_indices():
    v = tf.Variable(np.arange(24).reshape(2, 3, 4))
    v.scatter_nd_update([[1, 2], [0, 1]], [[90, 91, 92, 93], [80, 81, 82, 83]])
    expected = np.arange(24).reshape(2, 3, 4)
    expected[1, 2], expected[0, 1] = [90, 91, 92, 93], [80, 81, 82, 83]
    assert v.numpy().tolist() == expected.tolist()
    v.scatter_nd_add([[[1]], [[0]]], [[np.ones([3, 4], int)], [np.full([3, 4], 2)]])
    assert v.numpy().tolist() == (expected + np.array([2, 1]).reshape(2, 1, 1)).tolist()
    v.scatter_nd_sub(np.zeros([0, 3], np.int64), np.zeros([0], np.int64))
    assert v.gather_nd([[1, 2, 3], [0, 0, 0]]).numpy().tolist() == [94, 2]
    assert v.sparse_read([1, 1]).shape == [2, 3, 4]


@pytest.mark.parametrize(
    ("indices", "updates", "said"),
    [
        ([[2, 0]], [1], r"indices\[0\] = \[2, ?0\] does not index into"),
        ([[0, 0], [0, -1]], [1, 2], r"indices\[1\] = \[0, ?-1\] does not index into"),
        ([[0, 0]], [[1]], "shape"),
        ([[0]], [1], "shape"),
        ([[0, 0, 0]], [1], "shape|indices"),
    ],
)
def test_elements_that_are_refused(indices, updates, said):
    v = tf.Variable([[1, 2], [3, 4]])
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError), match=said):
        v.scatter_nd_update(indices, updates)
    assert v.numpy().tolist() == [[1, 2], [3, 4]]


def test_dtypes_of_indices():
    v = tf.Variable([1, 2])
    for call in (
        lambda: v.scatter_update(tf.IndexedSlices([5], tf.constant([0], tf.int8))),
        lambda: v.scatter_nd_update(tf.constant([[0.0]]), [5]),
    ):
        with pytest.raises((tf.errors.InvalidArgumentError, tf.errors.NotFoundError, TypeError, ValueError)):
            call()
    assert v.numpy().tolist() == [1, 2]


def test_strings_and_bools():
    text = tf.Variable(["a", "b", "c"])
    assert text.scatter_update(tf.IndexedSlices(["z", "y"], [2, 0])).numpy().tolist() == [b"y", b"b", b"z"]
    assert text.scatter_nd_update([[1]], ["x"]).numpy().tolist() == [b"y", b"x", b"z"]
    flags = tf.Variable([True, True, False])
    assert flags.scatter_update(tf.IndexedSlices([False, True], [0, 2])).numpy().tolist() == [False, True, True]


def test_counting():
    for dtype in (tf.int32, tf.int64):
        v = tf.Variable(1, dtype=dtype)
        assert [int(v.count_up_to(3)) for _ in range(2)] == [1, 2] and v.count_up_to(5).dtype is dtype
        with pytest.raises(tf.errors.OutOfRangeError, match="Reached limit of 4"):
            v.count_up_to(4)
        assert int(v) == 4
    for wrong in (tf.Variable(1.0), tf.Variable([1])):
        with pytest.raises((tf.errors.InvalidArgumentError, tf.errors.NotFoundError, TypeError)):
            wrong.count_up_to(3)


@pytest.mark.parametrize("name", ["update", "add", "mul"])
def test_readers_keep_what_they_read(name):
    v = tf.Variable([1.0, 2.0])
    before = v.read_value()
    getattr(v, f"scatter_{name}")(tf.IndexedSlices([5.0], [1]))
    assert before.numpy().tolist() == [1.0, 2.0] and v.numpy()[1] != 2.0
