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


def _overlap(a, b):
    low = np.maximum(np.minimum(a[:2], a[2:]), np.minimum(b[:2], b[2:]))
    high = np.minimum(np.maximum(a[:2], a[2:]), np.maximum(b[:2], b[2:]))
    areas = [np.prod(abs(box[2:] - box[:2])) for box in (a, b)]
    shared = np.prod(np.maximum(high - low, 0))
    return shared / (sum(areas) - shared) if min(areas) > 0 else np.float32(0)


def _select_plainly(overlap, scores, limit, threshold, least, sigma=0.0):
    """Selects boxes by the definition, one after the other."""
    scores, least, chosen, values = scores.astype(np.float64), float(np.float32(least)), [], []
    scores[~(scores > least)] = -np.inf
    while len(chosen) < limit and len(scores) and scores.max() > least:
        best = int(scores.argmax())
        chosen.append(best)
        values.append(scores[best])
        scores[best] = -np.inf
        for i in np.flatnonzero(scores > -np.inf):
            if sigma:
                scores[i] *= np.exp(-0.5 / sigma * float(overlap(i, best)) ** 2)
                scores[i] = scores[i] if scores[i] > least else -np.inf
            elif overlap(i, best) > threshold:
                scores[i] = -np.inf
    return chosen, values


@pytest.mark.parametrize("n", [0, 1, 30, 200])
@pytest.mark.parametrize("kind", ["plain", "ties", "nan"])
def test_selected_boxes_are_those_of_the_definition(n, kind):
    rng = np.random.default_rng(n)
    boxes, scores = rng.uniform(0, 1, (n, 4)).astype(np.float32), rng.uniform(0, 1, n).astype(np.float32)
    table = rng.uniform(0, 1, (n, n)).astype(np.float32)
    if kind == "ties":
        scores = scores.round(1)
    if kind == "nan" and n > 1:
        scores[3], boxes[5, 2], boxes[7, :2] = np.nan, np.nan, boxes[7, 2:]
    for limit, threshold, least in ((5, 0.5, -np.inf), (1000, 0.2, 0.1), (0, 0.5, 0.0)):
        expected = _select_plainly(lambda i, j: _overlap(boxes[i], boxes[j]), scores, limit, threshold, least)
        assert tf.image.non_max_suppression(boxes, scores, limit, threshold, least).numpy().tolist() == expected[0]
        found = tf.image.non_max_suppression_with_scores(boxes, scores, limit, threshold, least)
        assert found[0].numpy().tolist() == expected[0]
        np.testing.assert_array_equal(found[1].numpy(), np.float32(expected[1]))
        expected = _select_plainly(lambda i, j: table[i, j], scores, limit, threshold, least)
        chosen = tf.image.non_max_suppression_overlaps(table, scores, limit, threshold, least)
        assert chosen.numpy().tolist() == expected[0]
        if kind == "plain":  # roundings decide between equal scores
            expected = _select_plainly(lambda i, j: _overlap(boxes[i], boxes[j]), scores, limit, 0.5, 0.1, 0.3)
            found = tf.image.non_max_suppression_with_scores(boxes, scores, limit, 0.5, 0.1, 0.3)
            assert found[0].numpy().tolist() == expected[0]
            np.testing.assert_allclose(found[1].numpy(), expected[1], 1e-5)
