"""Sums of gradients of slices become concatenations."""

import numpy as np
import pytest

import tapeflow as tf

X = np.random.default_rng(0).normal(size=(3, 6)).astype(np.float32)


def halves(x):
    return tf.sin(x[:, 2:]) * 3.0, tf.exp(x[:, :2])


def columns(x):
    return [tf.sin(column) * float(i + 1) for i, column in enumerate(x[:, i] for i in (3, 0, 1, 2, 5, 4))]


def overlapping(x):
    return tf.sin(x[:, :4]), tf.exp(x[:, 3:])


def with_a_gap(x):
    return tf.sin(x[:, :2]), tf.exp(x[:, 3:])


def of_two_axes(x):
    return tf.sin(x[:1]), tf.exp(x[:, 1:]), tf.cos(x[1:])


def of_mixed_ranks(x):
    return tf.sin(x[:, 0]), tf.exp(x[:, 1:])


def empty(x):
    return tf.sin(x[:, :3]), tf.exp(x[:, 3:]), tf.cos(x[:, 6:])


def gradient(f, x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.add_n([tf.reduce_sum(y) for y in f(x)])
    return tape.gradient(loss, x)


@pytest.mark.parametrize("f", [halves, columns, overlapping, with_a_gap, of_two_axes, of_mixed_ranks, empty])
def test_gradients_stay_the_same(f):
    x = tf.constant(X)
    np.testing.assert_allclose(tf.function(gradient)(f, x), gradient(f, x), rtol=1e-6)


@pytest.mark.parametrize(("f", "op"), [(halves, "op_ConcatV2("), (columns, "op_Pack(")])
def test_slices_side_by_side_are_joined(f, op):
    source = tf.function(gradient).get_concrete_function(f, tf.constant(X)).source()
    assert op in source and "StridedSliceGrad" not in source
