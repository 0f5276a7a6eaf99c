"""Batch normalization refuses shapes that don't fit together: ATen's kernels trust them."""

import pytest

import tapeflow as tf

GRADIENTS = [tf.raw_ops.FusedBatchNormGrad, tf.raw_ops.FusedBatchNormGradV2, tf.raw_ops.FusedBatchNormGradV3]
IMAGE = (1, 2, 2, 3)


def gradients(op, dy=IMAGE, x=IMAGE, scale=(3,), mean=(3,), variance=(3,), **attrs):
    third = {"reserve_space_3": tf.zeros([0])} if op is tf.raw_ops.FusedBatchNormGradV3 else {}
    return op(
        y_backprop=tf.ones(dy), x=tf.ones(x), scale=tf.ones(scale), reserve_space_1=tf.ones(mean),
        reserve_space_2=tf.ones(variance), **third, **attrs,
    )  # fmt: skip


@pytest.mark.parametrize("op", GRADIENTS)
@pytest.mark.parametrize("is_training", [True, False])
@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        ({"scale": (1,)}, "scale must have the same number of elements as the channels of x, got 1 and 3"),
        ({"scale": (3, 1)}, "scale must be 1-dimensional"),
        ({"mean": (0,)}, "reserve_space_1 must have the same number of elements as the channels of x, got 0 and 3"),
        ({"variance": (2,)}, "reserve_space_2 must have the same number of elements as the channels of x, got 2 and 3"),
        ({"mean": ()}, "reserve_space_1 must be 1-dimensional"),
        ({"x": (10, 20, 20, 3)}, r"x and y_backprop must have same shape, but x has shape \[10, 20, 20, 3\]"),
        ({"x": (0, 2, 2, 3)}, "x and y_backprop must have same shape"),
        ({"x": (1, 2, 2, 30000), "dy": (1, 2, 2, 30000), "scale": (1,)}, "got 1 and 30000"),
        ({"x": (2, 3), "dy": (2, 3)}, "input must be 4 or 5-dimensional"),
    ],
)
def test_gradients_refuse_other_shapes(op, is_training, shapes, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        gradients(op, is_training=is_training, **shapes)
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
        tf.function(lambda: gradients(op, is_training=is_training, **shapes)[0])()


def test_running_statistics_have_a_number_for_each_channel():
    x, vector = tf.ones(IMAGE), tf.ones([3])
    with pytest.raises(tf.errors.InvalidArgumentError, match="mean must have the same number of elements"):
        tf.raw_ops.FusedBatchNormV3(
            x=x, scale=vector, offset=vector, mean=tf.ones([1]), variance=vector, exponential_avg_factor=0.5
        )
