"""Forms of convolutions, pooling and boxes: the runtime and TapeFlow compute the same values."""

import numpy as np
import pytest

pytest.importorskip("ai_edge_litert")

import tapeflow as tf
from lite_runtime import check, convert

rng = np.random.default_rng(3)
IMAGES = rng.standard_normal([2, 7, 6, 3]).astype(np.float32)
FIRST = np.ascontiguousarray(IMAGES.transpose(0, 3, 1, 2))
FILTER = rng.standard_normal([3, 2, 3, 4]).astype(np.float32)
EACH = rng.standard_normal([3, 3, 3, 2]).astype(np.float32)
BACK = rng.standard_normal([3, 3, 5, 3]).astype(np.float32)
VOLUME = rng.standard_normal([1, 4, 6, 4, 2]).astype(np.float32)
VOLUME_FILTER = rng.standard_normal([2, 3, 2, 2, 3]).astype(np.float32)
ROWS = rng.standard_normal([2, 9, 3]).astype(np.float32)
EXPLICIT = [[0, 0], [1, 2], [0, 1], [0, 0]]
EXPLICIT_FIRST = [[0, 0], [0, 0], [1, 2], [0, 1]]


@pytest.mark.parametrize(("function", "images"), [
    (lambda x: tf.nn.conv2d(x, FILTER, 1, "VALID"), IMAGES),
    (lambda x: tf.nn.conv2d(x, FILTER, [2, 1], "SAME"), IMAGES),
    (lambda x: tf.nn.conv2d(x, FILTER, 1, "SAME", dilations=[1, 2]), IMAGES),
    (lambda x: tf.nn.conv2d(x, FILTER, 2, EXPLICIT), IMAGES),
    (lambda x: tf.nn.conv2d(x, FILTER, [1, 1, 2, 1], "SAME", "NCHW"), FIRST),
    (lambda x: tf.nn.conv2d(x, FILTER, 1, EXPLICIT_FIRST, "NCHW"), FIRST),
    (lambda x: tf.nn.depthwise_conv2d(x, EACH, [1, 1, 1, 1], "SAME"), IMAGES),
    (lambda x: tf.nn.depthwise_conv2d(x, EACH, [1, 2, 2, 1], "VALID"), IMAGES),
    (lambda x: tf.nn.depthwise_conv2d(x, EACH, [1, 1, 1, 1], "VALID", dilations=[2, 1]), IMAGES),
    (lambda x: tf.nn.depthwise_conv2d(x, EACH, [1, 1, 1, 1], EXPLICIT), IMAGES),
    (lambda x: tf.nn.conv2d_transpose(x, BACK, [2, 14, 12, 5], 2, "SAME"), IMAGES),
    (lambda x: tf.nn.conv2d_transpose(x, BACK, [2, 9, 8, 5], 1, "VALID"), IMAGES),
    (lambda x: tf.nn.conv3d(x, VOLUME_FILTER, [1, 1, 1, 1, 1], "SAME"), VOLUME),
    (lambda x: tf.nn.conv3d(x, VOLUME_FILTER, [1, 1, 2, 1, 1], "VALID"), VOLUME),
    (lambda x: tf.nn.conv1d(x, FILTER[0], 2, "SAME"), ROWS),
    (lambda x: tf.nn.conv1d(x, FILTER[:, 0], 1, "VALID", dilations=2), ROWS),
    (lambda x: tf.nn.max_pool2d(x, [3, 2], [2, 1], "SAME"), IMAGES),
    (lambda x: tf.nn.max_pool2d(x, 2, 2, "VALID"), IMAGES),
    (lambda x: tf.nn.max_pool2d(x, 2, 1, "SAME", "NCHW"), FIRST),
    (lambda x: tf.nn.max_pool2d(x, 3, 2, EXPLICIT), IMAGES),
    (lambda x: tf.nn.max_pool2d(x, 3, 2, EXPLICIT_FIRST, "NCHW"), FIRST),
    (lambda x: tf.nn.avg_pool2d(x, [3, 2], [2, 1], "SAME"), IMAGES),
    (lambda x: tf.nn.avg_pool2d(x, 2, 2, "VALID", "NCHW"), FIRST),
    (lambda x: tf.nn.max_pool3d(x, 2, 2, "VALID"), VOLUME),
    (lambda x: tf.nn.avg_pool3d(x, [1, 3, 2], [1, 2, 1], "VALID"), VOLUME),
])  # fmt: skip
def test_values(function, images):
    check(function, images, batch=False, tolerance=2e-5)


BOXES = np.float32([[0, 0, 1, 1], [0, 0, 1, 1.1], [0, 2, 1, 3], [0.1, 0, 1.1, 1], [4, 4, 5, 5]])
SCORES = np.float32([0.9, 0.8, 0.7, 0.95, 0.2])


@pytest.mark.parametrize("function", [
    lambda b, s: tf.image.non_max_suppression(b, s, 3),
    lambda b, s: tf.image.non_max_suppression(b, s, 5, 0.5, 0.3),
    lambda b, s: tf.image.non_max_suppression_padded(b, s, 4, 0.5, pad_to_max_output_size=True)[1],
    lambda b, s: tf.raw_ops.NonMaxSuppressionV4(
        boxes=b, scores=s, max_output_size=4, iou_threshold=0.5, score_threshold=0.3, pad_to_max_output_size=True
    ),
    lambda b, s: tf.image.non_max_suppression_with_scores(b, s, 4, 0.5, 0.1, 0.5),
])  # fmt: skip
def test_boxes(function):
    check(function, BOXES, SCORES, batch=False)


@pytest.mark.parametrize(("function", "shape", "message"), [
    (
        lambda x: tf.nn.conv2d_transpose(x, BACK, [2, 5, 14, 12], 2, "SAME", "NCHW"), [2, 3, 7, 6],
        "only the data format NHWC has a form",
    ),
    (
        lambda x: tf.nn.conv2d_transpose(x, BACK, [2, 7, 6, 5], 1, [[0, 0], [1, 1], [1, 1], [0, 0]]), [2, 7, 6, 3],
        "only the paddings SAME and VALID without dilation",
    ),
    (lambda x: tf.nn.max_pool3d(x, 2, 2, "VALID"), [1, None, 4, 4, 2], "the images must have static sizes"),
])  # fmt: skip
def test_ops_without_a_form(function, shape, message):
    with pytest.raises(TypeError, match=message):
        convert(function, tf.TensorSpec(shape))
