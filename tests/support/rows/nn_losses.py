"""Rows of `tapeflow/nn/cross_entropy.py`."""

import numpy as np
from scipy import special

import tapeflow as tf
from op_table import FLOATS, Row, rand, sample

Invalid = tf.errors.InvalidArgumentError


def softmax_xent(labels, logits, axis=-1):
    logs = special.log_softmax(logits, axis)
    return -np.sum(labels * logs, axis)


def sparse_xent(labels, logits):
    logs = special.log_softmax(logits, -1)
    return -np.take_along_axis(logs, np.asarray(labels)[..., None], -1)[..., 0]


def sigmoid_xent(labels, logits):
    return np.maximum(logits, 0) - logits * labels + np.log1p(np.exp(-np.abs(logits)))


def weighted_xent(labels, logits, pos_weight):
    return (1 - labels) * np.logaddexp(0, logits) + pos_weight * labels * np.logaddexp(0, -logits)


def log_poisson(targets, log_input, compute_full_loss=False):
    loss = np.exp(log_input) - log_input * targets
    if compute_full_loss:
        stirling = targets * np.log(targets) - targets + 0.5 * np.log(2 * np.pi * targets)
        loss += np.where((targets >= 0) & (targets <= 1), 0, stirling)
    return loss


LOW = {"float16": (5e-3, 5e-3), "bfloat16": (4e-2, 4e-2)}


def shares(*shape, axis=-1):
    """Probabilities along a dimension; what the gradient by the logits takes labels for."""
    weights = np.exp(rand(*shape, seed=5))
    return weights / weights.sum(axis, keepdims=True)


DIFFERENT = (sample(np.ones(2), np.ones(1)), ValueError, "must have the same shape")

ROWS = [
    Row("nn.softmax_cross_entropy_with_logits", [
        sample(shares(2, 3), rand(2, 3)), sample(shares(3), rand(3)),
        sample(shares(2, 4, 3, axis=1), rand(2, 4, 3), axis=1),
        sample(rand(0, 3), rand(0, 3)), sample(shares(2, 3, 4), rand(2, 3, 4)),
    ], softmax_xent, FLOATS, tolerance=LOW, bad=[
        (sample(np.ones([1, 2]), np.ones([1, 3])), Invalid, "logits and labels must be broadcastable"),
        (sample(None, np.ones([1, 3])), ValueError, "Both `labels` and `logits` must be provided"),
    ]),
    Row("nn.sparse_softmax_cross_entropy_with_logits", [
        sample(np.array([1, 0]), rand(2, 3)), sample(np.array([1, 2], np.int32), rand(2, 3)),
        sample(np.array([[1, 0], [2, 2]]), rand(2, 2, 3)), sample(np.array(1), rand(4)),
        sample(np.zeros([0], np.int64), rand(0, 3)),
    ], sparse_xent, FLOATS, nth=[1], tolerance=LOW, bad=[
        (sample([3, 0], np.ones([2, 3])), Invalid,
         "Received a label value of 3 which is outside the valid range of [0, 3).  Label values: 3 0"),
        (sample([-1], np.ones([1, 3])), Invalid, "Received a label value of -1"),
        (sample([0], np.ones([2, 3])), ValueError, "`labels.shape` must equal `logits.shape` except for the last"),
        (sample([[0], [1]], np.ones([2, 3])), ValueError, "`labels.shape.rank` must equal `logits.shape.rank - 1`"),
        (sample(0, 1.0), ValueError, "`logits` cannot be a scalar"),
        (sample([0.5], np.ones([1, 3])), Invalid, "'Tlabels' of float is not in the list of allowed values"),
        (sample([0], np.ones([1, 0])), Invalid, "Must have at least one class"),
    ]),
    Row("nn.sigmoid_cross_entropy_with_logits", [
        sample(rand(2, 3, low=0, high=1), rand(2, 3, seed=1, low=-30, high=30)), sample(rand(low=0, high=1), rand()),
        sample(rand(0), rand(0)),
    ], sigmoid_xent, FLOATS, tolerance=LOW, bad=[DIFFERENT]),
    Row("nn.weighted_cross_entropy_with_logits", [
        sample(rand(2, 3, low=0, high=1), rand(2, 3, seed=1, low=-8, high=8), 2.0),
        sample(rand(2, 3, low=0, high=1), rand(2, 3, seed=1), rand(3, low=1)),
    ], weighted_xent, bad=[(sample(np.ones(2), np.ones(1), 2.0), ValueError, "must have the same shape")]),
    Row("nn.log_poisson_loss", [
        sample(rand(2, 3, low=0, high=5), rand(2, 3, seed=1)),
        sample(rand(2, 3, low=2, high=5), rand(2, 3, seed=1), compute_full_loss=True),
    ], log_poisson, bad=[DIFFERENT]),
]  # fmt: skip
