"""`tf.image.non_max_suppression_padded` checks what is static, as a traced function does; a record of TensorFlow's own
errors would depend on how often its function was traced before."""

import numpy as np
import pytest

import tapeflow as tf


@pytest.mark.parametrize(
    ("boxes", "scores"),
    [([3, 3], [3]), ([4], [1]), ([], []), ([0, 4], [0]), ([3, 4], [4]), ([2, 3, 3], [2, 3]), ([2, 3, 4], [3, 3])],
)
def test_shapes_that_are_not_those_of_boxes_and_scores_are_refused_as_in_a_trace(boxes, scores):
    with pytest.raises(ValueError):
        tf.image.non_max_suppression_padded(tf.zeros(boxes), tf.zeros(scores), 2, pad_to_max_output_size=True)


def test_a_limit_that_is_no_scalar_is_refused_as_in_a_trace():
    with pytest.raises(ValueError, match="scalar"):
        tf.image.non_max_suppression_padded(tf.zeros([3, 4]), tf.zeros([3]), tf.constant([2]))


def test_the_boxes_of_one_image_do_not_take_the_scores_of_several():
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.image.non_max_suppression_padded(tf.zeros([3, 4]), tf.zeros([6]), 2)


@pytest.mark.parametrize("limit", [3, 100, 700])
def test_many_boxes_are_selected_one_after_another(limit):
    """More boxes than are compared at once, some of them with the same score."""
    rng = np.random.default_rng(limit)
    corners = rng.random((700, 2)) * 100
    boxes = np.concatenate([corners, corners + rng.random((700, 2)) * 30], 1).astype("float32")
    scores = rng.integers(0, 90, 700).astype("float32")

    def overlap(a, b):
        sides = np.clip(np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2]), 0, None)
        return sides.prod() / ((a[2:] - a[:2]).prod() + (b[2:] - b[:2]).prod() - sides.prod())

    expected = []
    for i in sorted(np.flatnonzero(scores > 5), key=lambda i: -scores[i]):
        if len(expected) < limit and all(overlap(boxes[i], boxes[j]) <= 0.3 for j in expected):
            expected.append(i)
    selected = tf.image.non_max_suppression(boxes, scores, limit, 0.3, 5.0)
    np.testing.assert_array_equal(selected, expected)
