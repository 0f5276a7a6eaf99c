"""Rejection ends, whatever the parameters are."""

import numpy as np
import pytest

import tapeflow as tf

SEED = [1, 2]


@pytest.mark.parametrize("alpha", [float("nan"), -1.0, float("-inf")])
def test_gamma_of_no_distribution_is_nan(alpha):
    """TensorFlow never returns."""
    drawn = tf.random.stateless_gamma([3, 2], SEED, alpha=[alpha, 2.0]).numpy()
    assert np.isnan(drawn[:, 0]).all() and (drawn[:, 1] > 0).all()
    tf.random.set_seed(1)
    drawn = tf.random.gamma([3], [alpha, 2.0], seed=1).numpy()
    assert np.isnan(drawn[:, 0]).all() and (drawn[:, 1] > 0).all()


@pytest.mark.parametrize("alpha", [0.0, 1e-30, 1e30, float("inf")])
def test_gamma_of_extreme_shapes_ends(alpha):
    assert tf.random.stateless_gamma([5], SEED, alpha=alpha).shape == [5]


@pytest.mark.parametrize("rate", [1e30, 1e300, 1e6])
def test_poisson_numbers_that_the_dtype_can_not_hold(rate):
    """TensorFlow never returns."""
    with pytest.raises(tf.errors.InvalidArgumentError, match="Poisson distribution"):
        tf.random.stateless_poisson([3, 1], SEED, tf.constant([rate], tf.float64), dtype=tf.float16)
    tf.random.set_seed(1)
    if rate > 2.0**63:
        with pytest.raises(tf.errors.InvalidArgumentError, match="Poisson distribution"):
            tf.random.poisson([3], tf.constant([rate], tf.float64), seed=1, dtype=tf.int64)


def test_binomials_of_infinitely_many_trials_end():
    drawn = tf.random.stateless_binomial([3, 1], SEED, np.float32([np.inf]), np.float32([0.5]), output_dtype=tf.float32)
    assert np.isinf(drawn).all()


def test_huge_results_are_refused_at_once():
    huge = [2**31 - 1, 2**20]
    for draw in (
        lambda: tf.random.stateless_gamma([*huge, 1], SEED, alpha=[2.0]),
        lambda: tf.random.stateless_poisson([*huge, 1], SEED, [2.0]),
        lambda: tf.random.stateless_binomial([*huge, 1], SEED, [2.0], [0.5]),
    ):
        with pytest.raises(tf.errors.ResourceExhaustedError, match="OOM when allocating"):
            draw()


def test_shuffled_indices_of_few():
    """A permutation of two numbers among 65536 takes thousands of steps each."""
    shuffle = tf.random.experimental.index_shuffle
    found = [int(shuffle(tf.constant(i), [1, 2], 1)) for i in (0, 1)]
    assert sorted(found) == [0, 1]
    many = shuffle(tf.range(20) % 2, [[i, 2] for i in range(20)], 1)
    assert set(many.numpy().tolist()) == {0, 1}
    with pytest.raises(tf.errors.InvalidArgumentError, match="rounds"):
        tf.raw_ops.RandomIndexShuffle(index=1, seed=[1, 2, 3], max_index=5, rounds=2**31 - 1)
