"""Learning rates that fall with the steps; the expected values are the formulas of TensorFlow's documentation."""

import math

import numpy as np
import pytest

import tapeflow as tf

v1 = tf.compat.v1
train = v1.train

ROWS = [
    (lambda s: train.exponential_decay(0.5, s, 4, 0.9), lambda s: 0.5 * 0.9 ** (s / 4)),
    (lambda s: train.exponential_decay(0.5, s, 4, 0.9, staircase=True), lambda s: 0.5 * 0.9 ** (s // 4)),
    (lambda s: train.natural_exp_decay(0.5, s, 4, 0.9), lambda s: 0.5 * math.exp(-0.9 * s / 4)),
    (lambda s: train.natural_exp_decay(0.5, s, 4, 0.9, staircase=True), lambda s: 0.5 * math.exp(-0.9 * (s // 4))),
    (lambda s: train.inverse_time_decay(0.5, s, 4, 0.9), lambda s: 0.5 / (1 + 0.9 * s / 4)),
    (lambda s: train.inverse_time_decay(0.5, s, 4, 0.9, staircase=True), lambda s: 0.5 / (1 + 0.9 * (s // 4))),
    (lambda s: train.polynomial_decay(0.5, s, 4, 0.1), lambda s: 0.4 * (1 - min(s, 4) / 4) + 0.1),
    (lambda s: train.polynomial_decay(0.5, s, 4, 0.1, power=2.0), lambda s: 0.4 * (1 - min(s, 4) / 4) ** 2 + 0.1),
    (
        lambda s: train.polynomial_decay(0.5, s, 4, 0.1, cycle=True),
        lambda s: 0.4 * (1 - s / (4 * max(math.ceil(s / 4), 1))) + 0.1,
    ),
    (lambda s: train.polynomial_decay(0.5, s, 4), lambda s: 0.4999 * (1 - min(s, 4) / 4) + 0.0001),
    (lambda s: train.cosine_decay(0.5, s, 4), lambda s: 0.25 * (1 + math.cos(math.pi * min(s, 4) / 4))),
    (
        lambda s: train.cosine_decay(0.5, s, 4, alpha=0.2),
        lambda s: 0.5 * (0.8 * 0.5 * (1 + math.cos(math.pi * min(s, 4) / 4)) + 0.2),
    ),
    (
        lambda s: train.piecewise_constant(s, [2, 6], [1.0, 0.5, 0.25]),
        lambda s: 1.0 if s <= 2 else 0.5 if s <= 6 else 0.25,
    ),
    (
        lambda s: train.linear_cosine_decay(0.5, s, 4, num_periods=1.0, alpha=0.1, beta=0.2),
        lambda s: 0.5 * ((0.1 + 1 - min(s, 4) / 4) * 0.5 * (1 + math.cos(math.pi * 2 * min(s, 4) / 4)) + 0.2),
    ),
]


@pytest.mark.parametrize("row", range(len(ROWS)))
@pytest.mark.parametrize("step", [0, 1, 2, 3, 4, 6, 7, 9])
def test_rates(row, step):
    schedule, expected = ROWS[row]
    rate = schedule(tf.constant(step))
    value = rate() if callable(rate) and not tf.is_tensor(rate) else rate
    assert float(value) == pytest.approx(expected(step), rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("step", [0, 3, 4, 5, 11, 12])
def test_restarts(step):
    rate = train.cosine_decay_restarts(0.5, tf.constant(step), 4, t_mul=2.0, m_mul=0.5, alpha=0.1)
    first, length, height = 0, 4, 1.0
    while step >= first + length:
        first, length, height = first + length, length * 2, height * 0.5
    cosine = 0.5 * height * (1 + math.cos(math.pi * (step - first) / length))
    assert float(rate() if callable(rate) and not tf.is_tensor(rate) else rate) == pytest.approx(
        0.5 * (0.9 * cosine + 0.1), rel=1e-5
    )


def test_in_graphs():
    with tf.Graph().as_default(), v1.Session() as sess:
        step = v1.placeholder(tf.int64, [])
        rate = train.exponential_decay(np.float64(0.5), step, 2, 0.5, name="rate")
        assert [float(sess.run(rate, {step: s})) for s in (0, 2, 4)] == [0.5, 0.25, 0.125]


@pytest.mark.parametrize("name", ["exponential_decay", "natural_exp_decay", "inverse_time_decay"])
def test_steps_are_needed(name):
    with pytest.raises(ValueError, match="global_step is required"):
        getattr(train, name)(0.5, None, 4, 0.9)
    for call in (lambda: train.polynomial_decay(0.5, None, 4), lambda: train.cosine_decay(0.5, None, 4)):
        with pytest.raises(ValueError, match="is required"):
            call()
    with pytest.raises(ValueError):
        train.piecewise_constant(tf.constant(1), [1, 2], [0.1, 0.2])
