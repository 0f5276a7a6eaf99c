"""`tf.TensorArray`: how one begins, its attributes, and what it refuses, eagerly and in graphs."""

import pytest

import tapeflow as tf


def in_both(function):
    return [function(), tf.function(function, autograph=False)()]


def test_attributes():
    array = tf.TensorArray(tf.float32, 3, element_shape=[2])
    assert array.dtype == tf.float32 and array.element_shape == [2] and array.dynamic_size is False
    assert tf.TensorArray(tf.int32, size=0, dynamic_size=True).dynamic_size is True
    assert array.handle is None and array.flow is not None
    assert tf.TensorArray(tf.int32, 2, infer_shape=False).element_shape.rank is None
    filled = array.write(0, [1.0, 2.0])
    assert filled.identity().read(0).numpy().tolist() == [1.0, 2.0]
    assert array.size().numpy() == 3


def test_identity_and_size_in_graphs():
    @tf.function
    def copy():
        array = tf.TensorArray(tf.float32, 2, clear_after_read=False).write(1, 5.0).write(0, 4.0)
        same = array.identity()
        return same.stack(), same.size(), same.read(1), same.gather([1, 0, 1])

    stacked, size, item, gathered = copy()
    assert stacked.numpy().tolist() == [4.0, 5.0] and size.numpy() == 2 and item.numpy() == 5.0
    assert gathered.numpy().tolist() == [5.0, 4.0, 5.0]


@pytest.mark.parametrize(
    ("create", "error", "message"),
    [
        (lambda: tf.TensorArray(tf.float32), ValueError, "flow or size"),
        (lambda: tf.TensorArray(tf.float32, 2, flow=tf.constant(1.0)), ValueError, "both `flow` and `size`|flow"),
        (lambda: tf.TensorArray(tf.float32, flow=tf.constant(1.0)), TypeError, "`flow` must be a variant tensor"),
        (lambda: tf.TensorArray(tf.float32, 2, handle=tf.constant(1)), ValueError, "handle"),
        (lambda: tf.TensorArray(tf.float32, 2).unstack(tf.constant(1.0)), ValueError, "scalar|at least rank 1|rank"),
        (
            lambda: tf.TensorArray(tf.float32, 2, element_shape=[2]).write(0, [1.0]), ValueError,
            r"Incompatible shape for value \(\(1,\)\), expected \(\(2,\)\)",
        ),
        (
            lambda: tf.TensorArray(tf.float32, 2, element_shape=[2]).unstack([[1.0, 2.0, 3.0]]), ValueError,
            r"Incompatible shape for value \(\(3,\)\), expected \(\(2,\)\)",
        ),
    ],
)  # fmt: skip
def test_what_graphs_refuse(create, error, message):
    def build():
        create()
        return tf.constant(1)

    with pytest.raises(error, match=message):
        tf.function(build, autograph=False)()


def test_what_eager_mode_refuses():
    with pytest.raises(ValueError, match="handles are not supported when eager execution is enabled"):
        tf.TensorArray(tf.float32, 2, handle=tf.constant(1))
    array = tf.TensorArray(tf.float32, 2, element_shape=[2])
    with pytest.raises(ValueError, match="shape"):
        array.write(0, [1.0])
    for index in (2, -1, 7):
        with pytest.raises(tf.errors.OutOfRangeError):
            array.write(index, [1.0, 2.0])


def test_growing():
    def grow():
        array = tf.TensorArray(tf.int32, size=1, dynamic_size=True, element_shape=[])
        array = array.write(3, 30).write(0, 1).write(1, 2).write(2, 3)
        return array.stack(), array.size()

    for stacked, size in in_both(grow):
        assert stacked.numpy().tolist() == [1, 2, 3, 30] and size.numpy() == 4


def test_rows():
    def rows():
        array = tf.TensorArray(tf.float32, 3).unstack([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
        scattered = tf.TensorArray(tf.float32, 3).scatter([2, 0, 1], [[1.0], [2.0], [3.0]])
        split = tf.TensorArray(tf.float32, 2, infer_shape=False, clear_after_read=False).split(
            [[1.0], [2.0], [3.0]], [1, 2]
        )
        return array.gather([2, 0]), scattered.stack(), scattered.concat(), split.read(1), split.concat()

    for gathered, stacked, joined, part, whole in in_both(rows):
        assert gathered.numpy().tolist() == [[5.0, 6.0], [1.0, 2.0]] and stacked.numpy().tolist() == [
            [2.0],
            [3.0],
            [1.0],
        ]
        assert joined.numpy().tolist() == [2.0, 3.0, 1.0] and part.numpy().tolist() == [[2.0], [3.0]]
        assert whole.numpy().tolist() == [[1.0], [2.0], [3.0]]


def test_arrays_that_functions_return():
    @tf.function
    def fill(n):
        array = tf.TensorArray(tf.float32, 0, dynamic_size=True, element_shape=[2])
        for i in tf.range(n):
            array = array.write(i, tf.fill([2], tf.cast(i, tf.float32)))
        return array

    array = fill(tf.constant(3))
    assert array.dtype == tf.float32 and array.element_shape == [2] and array.size().numpy() == 3
    assert array.read(2).numpy().tolist() == [2.0, 2.0]
    assert fill(tf.constant(3)).stack().numpy().tolist() == [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]
    grown = fill(tf.constant(1)).write(1, [5.0, 6.0])
    assert grown.stack().numpy().tolist() == [[0.0, 0.0], [5.0, 6.0]]
    again = tf.function(lambda a: a.write(0, [9.0, 9.0]).stack())(fill(tf.constant(2)))
    assert again.numpy().tolist() == [[9.0, 9.0], [1.0, 1.0]]


@pytest.mark.parametrize("dtype", [tf.float32, tf.int32, tf.string])
def test_no_elements_are_stacked(dtype):
    array = tf.TensorArray(dtype, 0, element_shape=[2, 3])
    assert array.stack().shape == [0, 2, 3] and array.stack().dtype is dtype
