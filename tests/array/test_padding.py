"""`tf.pad` with paddings that are known in part. What is expected is what TensorFlow 2.21 gave."""

import pytest

import tapeflow as tf


@pytest.mark.parametrize(
    ("paddings", "static", "shape"),
    [
        (lambda n: [[1, n], [0, 0]], [None, 3], [5, 3]),
        (lambda n: [[n, 1], [2, n]], [None, None], [5, 7]),
        (lambda n: [[1, 2], [0, n]], [5, None], [5, 5]),
    ],
)
def test_static_shapes_of_paddings_that_are_known_in_part(paddings, static, shape):
    found = []

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
    def padded(n):
        y = tf.pad(tf.ones([2, 3]), paddings(n))
        found.append(y.shape.as_list())
        return y

    assert padded(2).shape == shape and found == [static]
