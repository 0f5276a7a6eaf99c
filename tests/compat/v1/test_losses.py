"""Losses of TensorFlow 1: reductions, weights, collections, smoothed labels."""

import numpy as np
import pytest

import tapeflow as tf

v1 = tf.compat.v1
losses = v1.losses
R = losses.Reduction
LABELS, PREDICTIONS = [[1.0, 2.0], [3.0, 5.0]], [[0.0, 4.0], [6.0, 5.0]]  # squares: 1, 4, 9, 0


@pytest.mark.parametrize(
    ("weights", "reduction", "expected"),
    [
        (1.0, R.SUM, 14.0),
        (1.0, R.MEAN, 3.5),
        (1.0, R.SUM_OVER_BATCH_SIZE, 3.5),
        (1.0, R.SUM_OVER_NONZERO_WEIGHTS, 3.5),
        (1.0, R.SUM_BY_NONZERO_WEIGHTS, 3.5),
        (1.0, R.NONE, [[1.0, 4.0], [9.0, 0.0]]),
        (2.0, R.SUM, 28.0),
        ([[1.0], [0.0]], R.SUM, 5.0),
        ([[1.0], [0.0]], R.MEAN, 2.5),
        ([[2.0], [0.0]], R.MEAN, 2.5),
        ([[2.0], [0.0]], R.SUM_OVER_BATCH_SIZE, 2.5),
        ([[2.0], [0.0]], R.SUM_BY_NONZERO_WEIGHTS, 5.0),
        ([[2.0, 0.0], [1.0, 0.0]], R.SUM_BY_NONZERO_WEIGHTS, 5.5),
        ([[2.0, 0.0], [1.0, 0.0]], R.NONE, [[2.0, 0.0], [9.0, 0.0]]),
        (0.0, R.MEAN, 0.0),
        (0.0, R.SUM_BY_NONZERO_WEIGHTS, 0.0),
    ],
)
def test_reductions(weights, reduction, expected):
    with tf.Graph().as_default(), v1.Session() as sess:
        loss = losses.mean_squared_error(LABELS, PREDICTIONS, weights, reduction=reduction)
        assert np.asarray(sess.run(loss)).tolist() == expected
        assert losses.get_losses() == [loss]


def test_collections():
    with tf.Graph().as_default(), v1.Session() as sess:
        with v1.name_scope("a"):
            one = losses.absolute_difference(LABELS, PREDICTIONS)
        two = losses.absolute_difference(LABELS, PREDICTIONS, loss_collection="mine")
        losses.absolute_difference(LABELS, PREDICTIONS, loss_collection=None)
        losses.add_loss(tf.constant(3.0))
        v1.get_variable("v", initializer=2.0, regularizer=lambda v: v * 5.0)
        assert losses.get_losses("a") == [one]
        assert losses.get_losses(loss_collection="mine") == [two]
        sess.run(v1.global_variables_initializer())
        assert sess.run(losses.get_regularization_loss()) == 10.0
        assert sess.run(losses.get_total_loss()) == 1.5 + 3.0 + 10.0
        assert sess.run(losses.get_total_loss(add_regularization_losses=False)) == 4.5
        assert sess.run(losses.get_total_loss(scope="a")) == 1.5


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: losses.sigmoid_cross_entropy([[1.0, 0.0]], [[0.5, -1.0]]), (0.4740769 + 0.3132617) / 2),
        (
            lambda: losses.sigmoid_cross_entropy([[1, 0]], [[0.5, -1.0]], label_smoothing=0.5),
            (0.5990769 + 0.5632617) / 2,
        ),
        (lambda: losses.softmax_cross_entropy([[1, 0]], [[0.5, -1.0]]), 0.2014133),
        (lambda: losses.softmax_cross_entropy([[1, 0]], [[0.5, -1.0]], label_smoothing=0.5), 0.5764133),
        (lambda: losses.softmax_cross_entropy([[1, 0], [0, 1]], [[0.5, -1.0]] * 2, [1.0, 0.0]), 0.2014133),
        (
            lambda: losses.sparse_softmax_cross_entropy([0, 1], [[0.5, -1.0]] * 2, [1.0, 2.0]),
            (0.2014133 + 2 * 1.7014133) / 2,
        ),
        (lambda: losses.sparse_softmax_cross_entropy([[0], [1]], [[0.5, -1.0]] * 2), (0.2014133 + 1.7014133) / 2),
        (lambda: losses.hinge_loss([[1.0, 0.0]], [[0.5, -0.25]]), (0.5 + 0.75) / 2),
        (lambda: losses.huber_loss([1.0, 1.0], [1.5, 4.0]), (0.125 + 2.5) / 2),
        (lambda: losses.huber_loss([1.0, 1.0], [1.5, 4.0], delta=2.0), (0.125 + 4.0) / 2),
        (lambda: losses.log_loss([1.0, 0.0], [0.9, 0.3]), (0.1053604 + 0.3566748) / 2),
        (lambda: losses.log_loss([1.0, 0.0], [0.9, 0.3], epsilon=0.1), (0.0 + 0.2231435) / 2),
        (lambda: losses.cosine_distance([[1.0, 0.0]], [[0.6, 0.8]], axis=1), 0.4),
        (lambda: losses.cosine_distance([[1.0, 0.0]], [[0.6, 0.8]], dim=1), 0.4),
        (lambda: losses.mean_pairwise_squared_error([[1.0, 2.0, 4.0]], [[0.0, 0.0, 1.0]]), 2.0),
    ],
)
def test_values(make, expected):
    with tf.Graph().as_default(), v1.Session() as sess:
        np.testing.assert_allclose(sess.run(make()), expected, rtol=2e-6)


def test_shapes_that_do_not_fit():
    with tf.Graph().as_default():
        for make in (
            lambda: losses.sigmoid_cross_entropy([[1.0, 0.0]], [[1.0, 2.0, 3.0]]),
            lambda: losses.softmax_cross_entropy([[1.0, 0.0]], [[1.0, 2.0, 3.0]]),
            lambda: losses.mean_squared_error([[1.0, 0.0]], [[1.0, 2.0, 3.0]]),
            lambda: losses.compute_weighted_loss([1.0, 2.0], [1.0, 2.0, 3.0]),
            lambda: losses.compute_weighted_loss([1.0, 2.0], reduction="median"),
            lambda: losses.cosine_distance([[1.0]], [[1.0]]),
            lambda: losses.mean_squared_error(None, [1.0]),
        ):
            with pytest.raises(ValueError):
                make()
