"""What is static of values that are computed from shapes, as the rules of the ops say."""

import contextlib

import pytest

import tapeflow as tf

CASES = {
    "shape": (lambda x, n, v: tf.shape(x), [None, 3, 4]),
    "cast": (lambda x, n, v: tf.cast(tf.shape(x), tf.int64), [None, 3, 4]),
    "identity": (lambda x, n, v: tf.identity(tf.shape(x)), [None, 3, 4]),
    "stack": (lambda x, n, v: tf.stack([n, tf.shape(x)[2], tf.rank(x), 7]), [None, 4, 3, 7]),
    "concat": (lambda x, n, v: tf.concat([tf.shape(x)[1:], [n], v], 0), [3, 4, None, None, None]),
    "slice": (lambda x, n, v: tf.shape(x)[:2], [None, 3]),
    "slice backwards": (lambda x, n, v: tf.shape(x)[::-1], [4, 3, None]),
    "slice from the end": (lambda x, n, v: tf.shape(x)[-2:], [3, 4]),
    "slice of unknown numbers": (lambda x, n, v: tf.shape(x)[n:], None),
    "all unknown": (lambda x, n, v: v, [None, None]),
    "arithmetic": (lambda x, n, v: tf.stack([tf.shape(x)[1] * 2 + 1, tf.size(x)]), [7, None]),
    "rows": (lambda x, n, v: tf.stack([tf.shape(x), tf.shape(x)])[0], [None, None, None]),
}


@pytest.mark.parametrize("case", CASES)
def test_elements_that_are_static(case):
    function, expected = CASES[case]
    static = []

    signature = [tf.TensorSpec([None, 3, 4]), tf.TensorSpec([], tf.int32), tf.TensorSpec([2], tf.int32)]

    @tf.function(input_signature=signature)
    def traced(x, n, v):
        elements = tf.get_static_value(function(x, n, v), partial=True)
        static.append(None if elements is None else elements.tolist())

    traced.get_concrete_function()
    assert static == [expected]


def test_rows_of_paddings_are_static():
    @tf.function(input_signature=[tf.TensorSpec([None, 3]), tf.TensorSpec([], tf.int32)])
    def padded(x, n):
        result = tf.pad(x, tf.stack([[0, n], [1, 2]]))
        assert result.shape.as_list() == [None, 6]
        return result

    assert padded(tf.ones([2, 3]), 4).shape == [6, 6]


def test_an_operation_that_fails_is_not_static():
    @tf.function
    def traced(fail):
        if fail:
            return tf.fill([2], tf.constant(6) // tf.constant(0))
        return tf.range(2)

    assert traced(tf.constant(False)).numpy().tolist() == [0, 1]
    with pytest.raises(tf.errors.InvalidArgumentError, match="division by zero"):
        traced(tf.constant(True))


def test_a_value_that_fails_is_not_static():
    @tf.function
    def f(x, condition):
        return tf.reshape(x, tf.gather(tf.constant([2, 2]), [5]) if condition else tf.constant([4]))

    assert f(tf.zeros([2, 2]), tf.constant(False)).shape == [4]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[0\] = 5 is not in \[0, 2\)"):
        f(tf.zeros([2, 2]), tf.constant(True))


def test_lists_with_tensors_in_them():
    """A shape of numbers and tensors is static as far as the tensors are."""
    shapes = []

    @tf.function(autograph=False)
    def function(x, n):
        for dims in ([tf.shape(x)[0], 2], [n, tf.constant(3)], [n, 2], [tf.size(x), n]):
            shapes.append(tf.zeros(dims).shape.as_list())
        shapes.append(tf.tile(x, [1, n]).shape.as_list())
        return tf.zeros([tf.shape(x)[0], n])

    assert function(tf.zeros([4, 3]), tf.constant(5)).shape == [4, 5]
    assert shapes == [[4, 2], [None, 3], [None, 2], [12, None], [4, None]]


SHAPES = {
    "fill": (lambda x, n: tf.fill(tf.shape(x), 1.0), [None, 3, 4]),
    "fill of a part": (lambda x, n: tf.fill([tf.shape(x)[1], n, 2], 1.0), [3, None, 2]),
    "reshape": (lambda x, n: tf.reshape(x, [-1, tf.shape(x)[1] * tf.shape(x)[2]]), [None, 12]),
    "reshape of a concatenation": (lambda x, n: tf.reshape(x, tf.concat([[-1], tf.shape(x)[2:]], 0)), [None, 4]),
    "broadcast": (lambda x, n: tf.broadcast_to(x[:1, :1], tf.shape(x)), [None, 3, 4]),
    "zeros": (lambda x, n: tf.zeros(tf.stack([n, tf.shape(x)[2]])), [None, 4]),
    "zeros of a vector": (lambda x, n: tf.zeros(tf.shape(x)[1:]), [3, 4]),
    "cast shapes": (lambda x, n: tf.zeros(tf.cast(tf.shape(x), tf.int64)[1:]), [3, 4]),
    "range": (lambda x, n: tf.range(tf.shape(x)[1]), [3]),
    "range of unknown": (lambda x, n: tf.range(n), [None]),
    "tile": (lambda x, n: tf.tile(x, [2, 1, tf.shape(x)[1]]), [None, 3, 12]),
    "tile by unknown": (lambda x, n: tf.tile(x, [1, n, 1]), [None, None, 4]),
    "slices": (lambda x, n: x[:, : tf.shape(x)[1] - 1], [None, None, 4]),
    "rank": (lambda x, n: tf.zeros([tf.rank(x), 2]), [3, 2]),
    "unknown": (lambda x, n: tf.zeros(n[None]), [None]),
    "size": (lambda x, n: tf.zeros([tf.size(x[0])]), [12]),
}


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_of_values_that_are_computed_of_shapes(name):
    function, expected = SHAPES[name]
    shapes = []

    @tf.function(input_signature=[tf.TensorSpec([None, 3, 4]), tf.TensorSpec([], tf.int32)])
    def traced(x, n):
        y = function(x, n)
        shapes.append(y.shape.as_list())
        return tf.shape(y)

    ran = traced(tf.ones([2, 3, 4]), 1).numpy().tolist()
    assert shapes == [expected] or (name == "slices" and shapes == [[None, 2, 4]])
    assert all(static in (None, size) for static, size in zip(shapes[0], ran, strict=True))


VALUES = {
    "constants": (lambda x, n: tf.constant([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
    "texts": (lambda x, n: tf.constant(["a", "b"]), [b"a", b"b"]),
    "floats": (lambda x, n: tf.constant(1.5), 1.5),
    "an unknown dimension": (lambda x, n: tf.shape(x)[0], None),
    "a partly unknown shape": (lambda x, n: tf.shape(x), None),
    "an argument": (lambda x, n: n, None),
    "the rank": (lambda x, n: tf.rank(x), 3),
    "a captured tensor": (lambda x, n: tf.constant([1, 2], tf.int64), [1, 2]),
    "a cast": (lambda x, n: tf.cast(tf.constant([1, 2]), tf.int64), [1, 2]),
}


@pytest.mark.parametrize("name", VALUES)
def test_static_values(name):
    function, expected = VALUES[name]
    found = []

    @tf.function(input_signature=[tf.TensorSpec([None, 3, 4]), tf.TensorSpec([], tf.int32)])
    def traced(x, n):
        value = tf.get_static_value(function(x, n))
        found.append(value if value is None else value.tolist() if hasattr(value, "tolist") else value)

    traced.get_concrete_function()
    assert found == [expected]


def test_static_values_are_not_written_to():
    @tf.function
    def traced():
        value = tf.get_static_value(tf.constant([1, 2]))
        with contextlib.suppress(ValueError):
            value[0] = 5
        return tf.constant([1, 2])

    assert traced().numpy().tolist() == [1, 2]
