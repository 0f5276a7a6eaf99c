"""Forms of reductions: the runtime and TapeFlow compute the same values."""

import numpy as np
import pytest

pytest.importorskip("ai_edge_litert")

import tapeflow as tf
from lite_runtime import check, convert

X = np.float32([[[1, -2, 3], [4, 5, -6]], [[0.5, 2, 2], [-1, 8, 7]]])
FLAGS = np.array([[True, False, True], [False, False, True]])
INTS = np.int32([3, 1, 3, 3, 1, 2])


@pytest.mark.parametrize(("function", "inputs", "batch"), [
    (lambda x: tf.reduce_sum(x, 1), [X], True),
    (lambda x: tf.reduce_sum(x, [1, 2], keepdims=True), [X], True),
    (lambda x: tf.reduce_sum(x, []), [X], True),
    (lambda x: tf.reduce_mean(x, -1), [X], True),
    (lambda x: tf.reduce_max(x), [X], True),
    (lambda x: tf.reduce_min(x, [-2]), [X], True),
    (lambda x: tf.reduce_prod(x, 2), [X], True),
    (lambda x: tf.reduce_any(x, 1), [FLAGS], True),
    (lambda x: tf.reduce_all(x, 0, keepdims=True), [FLAGS], False),
    (lambda x: tf.argmax(x, 2), [X], True),
    (lambda x: tf.argmin(x, -1, tf.int32), [X], True),
    (lambda x: tf.argmax(x, 1), [FLAGS], True),
    (lambda x: tf.cumsum(x, 1), [X], True),
    (lambda x: tf.cumsum(x, 2, exclusive=True, reverse=True), [X], True),
    (lambda x: tf.math.reduce_logsumexp(x, 1), [X], True),
    (lambda x: tf.math.reduce_std(x, -1), [X], True),
    (lambda x: tf.nn.softmax(x, 1), [X], True),
    (lambda x: tf.nn.log_softmax(x), [X], True),
    (lambda x: tf.math.top_k(x, 2), [X], True),
    (lambda x: tf.unique(x), [INTS], False),
    (lambda x: tf.unique(x, tf.int64), [INTS], False),
    (lambda x: tf.unique(x * 0.5), [X[0, 0]], False),
    (lambda x: tf.nn.l2_normalize(x, -1), [X], True),
    (lambda x: tf.nn.softmax_cross_entropy_with_logits([[0.25, 0.25, 0.5]], x), [X[0]], False),
    (lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits([2, 0], x), [X[0]], False),
])  # fmt: skip
def test_values(function, inputs, batch):
    check(function, *inputs, batch=batch)


SCALE, OFFSET, MEAN, VARIANCE = (np.float32(v) for v in ([1, 2, 0.5], [0.5, -1, 0], [1, 0, -2], [4, 1, 0.25]))


def test_batch_norm():
    images = X.reshape(1, 2, 2, 3)

    def normalize(x, *factors, training=False, data_format="NHWC"):
        return tf.raw_ops.FusedBatchNormV3(
            x=x, scale=factors[0], offset=factors[1], mean=factors[2], variance=factors[3], epsilon=0.01,
            is_training=training, data_format=data_format,
        ).y  # fmt: skip

    check(lambda x: normalize(x, SCALE, OFFSET, MEAN, VARIANCE), images)
    check(normalize, images, SCALE, OFFSET, MEAN, VARIANCE, batch=False)
    for options in ({"training": True}, {"data_format": "NCHW"}):
        with pytest.raises(TypeError, match="only the inference of the data formats NHWC and NDHWC"):
            convert(lambda x, o=options: normalize(x, *[np.ones(2, np.float32)] * 4, **o), tf.TensorSpec([1, 2, 3, 2]))


def test_classes_of_unknown_number():
    with pytest.raises(TypeError, match="the number of classes must be static"):
        convert(
            lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits([2, 0], x), tf.TensorSpec([2, None], tf.float32)
        )
