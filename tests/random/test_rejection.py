"""Rejection ends, whatever the parameters are."""

import numpy as np
import pytest

import tapeflow as tf
from outcomes import read_rows
from traced_calls import check_row

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


# ---- outcomes that TensorFlow gave -----------------------------------------------------------------------------------

R, O = tf.random, tf.raw_ops  # noqa: E741
inf, nan = float("inf"), float("nan")
S = [3, 8]


def bounded(shape, *parameters, seed=S):
    return R.stateless_parameterized_truncated_normal(shape, seed, *parameters)


def digest(x, scale=1):
    """A number that changes if one of many draws does."""
    x = tf.cast(tf.reshape(tf.cast(x, tf.float64) * scale, [-1]), tf.int64)
    return tf.reduce_sum(x * (tf.range(tf.size(x, tf.int64)) % 97))


ROWS = read_rows(r"""
R.stateless_gamma([3], S, 2.0)
    float32 [3] [1.7822, 3.3352, 2.5412]
R.stateless_gamma([3, 2], S, [0.5, 3.0])
    float32 [3, 2] [[0.97425, 6.3703], [0.27821, 2.2172], [0.0011032, 2.4533]]
R.stateless_gamma([3, 2], S, [0.5, 3.0], 2.0)
    float32 [3, 2] [[0.48712, 3.1851], [0.1391, 1.1086], [0.00055158, 1.2267]]
R.stateless_gamma([2, 2], S, [0.5, 3.0], [[2.0], [4.0]])
    float32 [2, 2] [[0.48712, 2.3368], [0.00027579, 1.5926]]
R.stateless_gamma([3], S, 1.0)
    float32 [3] [1.4946, 0.114, 1.7382]
R.stateless_gamma([], S, 1.0)
    float32 [] 1.4946
R.stateless_gamma([2], S, [1.0, 2.0, 3.0])
    InvalidArgumentError: Shape passed in must end with broadcasted shape.
R.stateless_gamma([], S, [1.0])
    InvalidArgumentError: Shape passed in must end with broadcasted shape.
R.stateless_gamma([0, 2], S, [1.0, 2.0])
    float32 [0, 2] []
R.stateless_gamma([0, 3], S, [1.0, 2.0])
    float32 [0, 3] []
R.stateless_gamma([3], S, 2.0, dtype=tf.float64)
    float64 [3] [1.7822, 3.3352, 2.5412]
R.stateless_gamma([2, 3], S, [0.01, 0.9, 100.0])
    float32 [2, 3] [[1.6808e-06, 0.038307, 96.777], [1.1755e-38, 1.5557, 98.332]]
R.stateless_gamma([40, 2], [5, 6], [0.3, 1.5], dtype=tf.float64)[::8]
    float64 [5, 2] [[0.002599, 3.8832], [0.081, 1.2043], [4.8535e-07, 1.0588], [0.0061035, 0.72681], [0.03482, 0.86364]]
R.stateless_poisson([3], S, 2.0)
    int32 [3] [4, 0, 3]
R.stateless_poisson([3, 2], S, [0.5, 30.0])
    int32 [3, 2] [[2, 39], [0, 26], [1, 34]]
R.stateless_poisson([3, 3], S, [9.9, 10.0, 1000.0], tf.int64)
    int64 [3, 3] [[12, 15, 1000], [6, 8, 1032], [10, 12, 971]]
R.stateless_poisson([3, 2], S, [0.5, 30.0], dtype=tf.float32)
    float32 [3, 2] [[2, 39], [0, 26], [1, 34]]
R.stateless_poisson([3, 2], S, tf.constant([0.5, 30.0], tf.float64))
    int32 [3, 2] [[2, 39], [0, 26], [1, 34]]
R.stateless_poisson([2], S, [0.5, 30.0, 1.0])
    InvalidArgumentError: Shape passed in must end with broadcasted shape.
R.stateless_poisson([0, 2], S, [0.5, 30.0])
    int32 [0, 2] []
R.stateless_poisson([3], S, 0.0)
    int32 [3] [0, 0, 0]
R.stateless_poisson([30, 3], [5, 6], [3.0, 20.0, 200.0])[::5]
    int32 [6, 3] [[1, 16, 170], [5, 13, 208], [2, 20, 182], [1, 19, 193], [2, 25, 203], [5, 20, 193]]
R.stateless_binomial([3], S, 10.0, 0.5)
    int32 [3] [8, 6, 5]
R.stateless_binomial([3, 2], S, [10.0, 50.0], 0.3)
    int32 [3, 2] [[5, 20], [2, 13], [2, 17]]
R.stateless_binomial([3, 2], S, 40.0, [0.3, 0.9])
    int32 [3, 2] [[10, 38], [8, 34], [15, 35]]
R.stateless_binomial([3, 4], S, [5.0, 0.0, 9.0, -1.0], [0.0, 0.5, 1.0, 0.5])
    int32 [3, 4] [[0, 0, 9, 0], [0, 0, 9, 0], [0, 0, 9, 0]]
R.stateless_binomial([3, 2], S, [10.0, 50.0], [0.3, 0.9], output_dtype=tf.float32)
    float32 [3, 2] [[5, 47], [2, 43], [2, 43]]
R.stateless_binomial([3], S, 10, 0.5)
    int32 [3] [8, 6, 5]
R.stateless_binomial([3], S, 10.0, 0.5, tf.int64)
    int64 [3] [8, 6, 5]
R.stateless_binomial([2], S, [10.0, 9.0, 8.0], 0.5)
    InvalidArgumentError: Shape passed in must end with broadcasted shape.
R.stateless_binomial([0, 2], S, [10.0, 9.0], 0.5)
    int32 [0, 2] []
R.stateless_binomial([0, 3], S, [10.0, 9.0], 0.5)
    InvalidArgumentError: Shape passed in must end with broadcasted shape.
R.stateless_binomial([30, 4], [5, 6], [8.0, 40.0, 300.0, 1e5], [0.7, 0.5, 0.1, 0.99])[::5]
    int32 [6, 4] [[7, 25, 20, 99057], [7, 15, 33, 98994], [6, 20, 23, 99021], [7, 20, 27, 98964], [6, 24, 31, 99076],
    [6, 20, 27, 98964]]
R.stateless_binomial([20, 3], [5, 7], [20.0, 25.0, 21.0], [0.5, 0.6, 0.45])[::3]
    int32 [7, 3] [[7, 16, 13], [12, 19, 12], [9, 17, 12], [12, 20, 11], [12, 14, 11], [9, 15, 9], [12, 13, 9]]
R.stateless_categorical([[1.0, 2.0, 3.0], [0.0, 0.0, -inf]], 6, S)
    int64 [2, 6] [[2, 2, 2, 2, 2, 1], [0, 1, 0, 1, 1, 0]]
R.stateless_categorical([[1.0, 2.0]], 3, S, tf.int32)
    int32 [1, 3] [[1, 1, 1]]
R.stateless_categorical([[1.0, 2.0]], 3, S, None)
    int64 [1, 3] [[1, 1, 1]]
R.stateless_categorical([[1.0, 2.0]], 0, S)
    int64 [1, 0] [[]]
R.stateless_categorical([1.0, 2.0], 3, S)
    InvalidArgumentError: logits should be a matrix, got shape [2]
R.stateless_categorical([[1.0, 2.0]], -1, S)
    InvalidArgumentError: num_samples should be non-negative, got -1
R.stateless_categorical([[1.0, 2.0]], [3], S)
    InvalidArgumentError
R.stateless_categorical(tf.zeros([2, 0]), 3, S)
    InvalidArgumentError: num_classes should be positive, got 0
R.stateless_categorical(tf.zeros([0, 2]), 3, S)
    int64 [0, 3] []
R.stateless_categorical([[1.0, 2.0]], 3, S, tf.float32)
    ValueError: Argument `dtype` got invalid value <dtype: 'float32'>. Accepted dtypes are (tf.int32, tf.int64).
R.stateless_categorical([[1000.0, 1001.0], [-1000.0, -1001.0]], 6, S)
    int64 [2, 6] [[1, 1, 1, 1, 1, 1], [0, 0, 0, 0, 1, 0]]
R.stateless_categorical([[inf, 1.0, nan, 2.0]], 6, S)
    int64 [1, 6] [[3, 3, 3, 3, 3, 3]]
bounded([5])
    float32 [5] [-1.1859, -0.22396, 1.1439, 0.89923, 0.014256]
bounded([5], 1.0, 2.0, 0.0, 3.0)
    float32 [5] [1.4482, 2.1609, 1.0409, 0.43191, 2.1096]
bounded([3, 2], [0.0, 5.0], 1.0, -1.0, 6.0)
    float32 [3, 2] [[-0.22396, 5.0143], [1.1439, 4.0054], [0.89923, 5.9973]]
bounded([3, 2], [0.0, 5.0], [1.0, 2.0], [-1.0, 4.0], [1.0, 9.0])
    float32 [3, 2] [[-0.034559, 4.5099], [0.44059, 7.396], [-0.30609, 5.0203]]
bounded([4], 0.0, 1.0, 5.0, 6.0)
    float32 [4] [5.1403, 5.2039, 5.0953, 5.4786]
bounded([4], 0.0, 1.0, 2.0, 2.1)
    float32 [4] [2.0483, 2.072, 2.0347, 2.0144]
bounded([4], 0.0, 1.0, 2.0, inf)
    float32 [4] [2.3017, 2.4385, 2.2049, 3.0294]
bounded([4], 0.0, 1.0, -inf, -2.0)
    float32 [4] [-2.3017, -2.4385, -2.2049, -3.0294]
bounded([4], 0.0, 1.0, -inf, 1.0)
    float32 [4] [0.22396, -1.1439, -0.89923, -0.014256]
bounded([4], 0.0, 1.0, -6.0, -5.0)
    float32 [4] [-5.1403, -5.2039, -5.0953, -5.4786]
bounded([4], 3.0, 2.0, -6.0, 1.0)
    float32 [4] [0.09975, -0.30845, 0.38851, -2.072]
bounded([4], 0.0, 1.0, -0.1, 0.1)
    float32 [4] [-0.0034559, 0.044059, -0.030609, -0.071206]
bounded([4], 0.0, 1.0, 0.0, 0.2)
    float32 [4] [0.096544, 0.14406, 0.069391, 0.028794]
bounded([4], 0.0, 1.0, -1.3, 0.1)
    float32 [4] [-0.62419, -0.29159, -0.81426, -1.0984]
bounded([4], 0.0, 1.0, -0.1, 1.4)
    float32 [4] [1.1439, 0.89923, 0.014256, 0.99728]
bounded([40], 0.0, 1.0, 1.0, 1.5)[::6]
    float32 [7] [1.2414, 1.0805, 1.1945, 1.366, 1.2959, 1.2822, 1.4929]
bounded([40], 0.0, 1.0, 3.0, 30.0)[::6]
    float32 [7] [3.2205, 3.2567, 3.4634, 3.4732, 4.0041, 3.511, 3.3758]
bounded([40], 0.0, 1.0, -2.0, 0.5)[::6]
    float32 [7] [-1.1859, -1.1335, -0.72038, -1.1793, -0.94071, -0.31813, -0.82894]
bounded([4], 0.0, 0.0, -1.0, 1.0)
    InvalidArgumentError: Invalid parameters
bounded([4], 0.0, -1.0, -1.0, 1.0)
    InvalidArgumentError: Invalid parameters
bounded([4], 0.0, 1.0, 1.0, 1.0)
    InvalidArgumentError: Invalid parameters
bounded([4], 0.0, 1.0, 2.0, 1.0)
    InvalidArgumentError: Invalid parameters
bounded([4], 0.0, 1.0, -inf, inf)
    InvalidArgumentError: Invalid parameters
bounded([2], [0.0, 1.0, 2.0])
    InvalidArgumentError: Shape passed in must end with broadcasted shape.
bounded([3], *[tf.constant(v, tf.float64) for v in (0.0, 1.0, -1.0, 2.0)])
    float64 [3] [-0.53841, 0.087534, -0.44135]
bounded([40], *[tf.constant(v, tf.float64) for v in (0.0, 1.0, 3.0, 4.0)])[::6]
    float64 [7] [3.045, 3.0947, 3.1, 3.0913, 3.4697, 3.4512, 3.7782]
bounded([40], *[tf.constant(v, tf.float64) for v in (0.0, 1.0, 3.0, 3.1)])[::6]
    float64 [7] [3.0776, 3.0283, 3.0401, 3.0189, 3.0174, 3.0856, 3.0273]
static(lambda a: R.stateless_gamma([3, 2], S, a), [2])
    '(3, 2)'
static(lambda a: R.stateless_gamma([3, 2], S, a), [3])
    '(3, 2)'
static(lambda a: R.stateless_gamma([3, 2], S, a), None)
    '(3, 2)'
static(lambda a: R.stateless_gamma([2], S, a), [3,2])
    '(2,)'
static(lambda a: R.stateless_poisson([3, 2], S, a), [2])
    '(3, 2)'
static(lambda a: R.stateless_poisson([3, 2], S, a), None)
    '(3, 2)'
static(lambda a: R.stateless_binomial([3, 2], S, a, 0.5), [2])
    '(3, 2)'
static(lambda a: R.stateless_binomial([3, 2], S, a, 0.5), [3])
    '(3, 2)'
static(lambda a: R.stateless_categorical(a, 4, S), [None,3])
    '(None, 4)'
static(lambda a: R.stateless_categorical(a, 4, S), None)
    '(None, 4)'
static(lambda a: R.stateless_categorical(a, 4, S), [3])
    ValueError
static(lambda a: bounded([3], a), [3])
    '(3,)'
static(lambda a: bounded([3], a), [None])
    '(3,)'
grad(lambda a: R.stateless_gamma([3, 2], S, a), [0.5, 3.0])
    float32 [2] [2.8379, 3.3628]
[R.stateless_poisson([8, 2], [s, 3], [10.0, 9.99]) for s in range(6)]
    (int32 [8, 2] [[10, 1], [6, 7], [14, 9], [10, 5], [8, 8], [8, 8], [12, 8], [14, 11]]; int32 [8, 2] [[5, 7], [6, 9],
    [11, 10], [11, 7], [13, 11], [5, 16], [6, 10], [13, 8]]; int32 [8, 2] [[12, 10], [8, 14], [10, 17], [6, 11], [15,
    9], [12, 11], [15, 12], [12, 9]]; int32 [8, 2] [[7, 11], [9, 8], [19, 11], [12, 13], [19, 6], [5, 5], [10, 12], [9,
    13]]; int32 [8, 2] [[8, 11], [9, 14], [16, 9], [9, 9], [8, 7], [6, 10], [13, 12], [17, 9]]; int32 [8, 2] [[8, 9],
    [6, 5], [5, 6], [12, 10], [18, 10], [8, 12], [11, 8], [7, 7]])
[R.stateless_binomial([8, 3], [s, 3], [20.0, 19.0, 40.0], [0.5, 0.5, 0.75]) for s in range(6)]
    (int32 [8, 3] [[10, 16, 30], [9, 11, 31], [13, 9, 32], [10, 10, 30], [8, 12, 30], [9, 11, 29], [11, 9, 31], [13, 11,
    32]]; int32 [8, 3] [[12, 9, 28], [9, 9, 28], [11, 11, 31], [11, 8, 30], [12, 8, 29], [7, 10, 30], [7, 13, 34], [12,
    10, 30]]; int32 [8, 3] [[12, 12, 25], [13, 10, 33], [10, 9, 32], [7, 7, 33], [14, 8, 31], [8, 10, 34], [14, 13, 31],
    [12, 9, 23]]; int32 [8, 3] [[8, 8, 29], [9, 13, 28], [16, 8, 32], [11, 10, 31], [16, 5, 34], [7, 12, 31], [9, 11,
    32], [9, 5, 34]]; int32 [8, 3] [[11, 9, 29], [9, 7, 30], [14, 13, 31], [9, 11, 33], [9, 9, 30], [7, 12, 29], [12, 9,
    27], [14, 7, 33]]; int32 [8, 3] [[8, 8, 36], [10, 10, 26], [7, 10, 33], [7, 7, 27], [15, 7, 30], [8, 7, 31], [11, 4,
    30], [8, 10, 30]])
[bounded([6], 0.0, 1.0, -1.3, 0.0, seed=[s, 3]) for s in range(4)]
    (float32 [6] [-0.29061, -0.38882, -0.4037, -0.36105, -0.058423, -0.99658]; float32 [6] [-0.18872, -1.0358, -0.31061,
    -0.65202, -0.60898, -1.2369]; float32 [6] [-1.0727, -0.028487, -1.0184, -1.2354, -0.66766, -0.58225]; float32 [6]
    [-0.29422, -1.1811, -0.90759, -0.24566, -1.2105, -0.47615])
[bounded([6], 0.0, 1.0, 0.0, 1.3, seed=[s, 3]) for s in range(4)]
    (float32 [6] [1.0094, 0.93895, 0.30342, 0.97626, 0.63927, 1.2744]; float32 [6] [1.1113, 0.26418, 0.98939, 0.64798,
    0.69102, 0.063056]; float32 [6] [0.22726, 0.28158, 0.083202, 0.064614, 0.63234, 0.47454]; float32 [6] [1.0058,
    0.073233, 0.083768, 0.11891, 0.23712, 0.39241])
[bounded([6], 0.0, 1.0, -3.0, -2.0, seed=[s, 3]) for s in range(4)]
    (float32 [6] [-2.1048, -2.154, -2.807, -2.1277, -2.019, -2.1186]; float32 [6] [-2.065, -2.1131, -2.4941, -2.9987,
    -2.2618, -2.2293]; float32 [6] [-2.6336, -2.9683, -2.5719, -2.4174, -2.8299, -2.1336]; float32 [6] [-2.1063,
    -2.2654, -2.2842, -2.0427, -2.9907, -2.4962])
[bounded([6], 0.0, 1.0, 2.0, 5.0, seed=[s, 3]) for s in range(4)]
    (float32 [6] [2.1048, 2.154, 2.807, 2.1277, 2.019, 2.1186]; float32 [6] [2.065, 2.1131, 2.4941, 2.9987, 2.2618,
    2.2293]; float32 [6] [2.6336, 2.9683, 2.5719, 3.2433, 2.4174, 2.8299]; float32 [6] [2.1063, 2.2654, 2.2842, 2.0427,
    2.9907, 2.4962])
[bounded([6], 0.0, 1.0, -4.0, -3.9, seed=[s, 3]) for s in range(4)]
    (float32 [6] [-3.9776, -3.9689, -3.9722, -3.9955, -3.9233, -3.9751]; float32 [6] [-3.9855, -3.9203, -3.9761,
    -3.9498, -3.9532, -3.9049]; float32 [6] [-3.9175, -3.9978, -3.9217, -3.9064, -3.905, -3.9486]; float32 [6] [-3.9774,
    -3.9056, -3.9064, -3.9091, -3.9302, -3.9811])
bounded([6, 3], [0.0, 5.0, 1.0], [1.0, 2.0, 1.0], [2.0, -1.0, 0.0], [9.0, 9.0, 0.5])
    float32 [6, 3] [[2.3017, 7.396, 0.25608], [2.4385, 3.9791, 0.30614], [2.2049, 2.4733, 0.30961], [3.0294, 5.0203,
    0.3128], [2.1458, 4.9478, 0.41366], [2.7567, 3.5592, 0.3814]]
bounded([30, 3], [0.0, 5.0, 1.0], [1.0, 2.0, 1.0], [2.0, -1.0, 0.0], [9.0, 9.0, 0.5])[::5]
    float32 [6, 3] [[2.3017, 7.3236, 0.49069], [2.7567, 5.3824, 0.32241], [2.2973, 3.5636, 0.44462], [2.0807, 4.9851,
    0.13749], [2.0075, 4.3199, 0.0090245], [2.4335, 4.9266, 0.38178]]
bounded([200, 2], 0.0, 1.0, [2.0, -9.0], [9.0, -2.0])[::25]
    float32 [8, 2] [[2.3017, -2.4129], [2.4335, -2.1273], [2.0575, -2.3613], [2.4261, -2.0765], [2.0677, -2.0761],
    [2.491, -2.3682], [2.1909, -2.1848], [2.3251, -2.0874]]
bounded([4], 0.0, nan, -1.0, 1.0)
    InvalidArgumentError: Invalid parameters
bounded([4], 0.0, 1.0, nan, 1.0)
    InvalidArgumentError: Invalid parameters
bounded([3], 0.0, 1.0, -inf, inf)
    InvalidArgumentError: Invalid parameters
bounded([3], 0.0, 1.0, inf, inf)
    InvalidArgumentError: Invalid parameters
bounded([0], 0.0, 1.0, -1.0, 1.0)
    float32 [0] []
bounded([4], 0.0, 1.0, 50.0, 50.1)
    float32 [4] [50.015, 50.021, 50.01, 50.05]
bounded([6], 0.0, 1.0, 0.0, 2.0)
    float32 [6] [1.1439, 0.89923, 0.014256, 0.99728, 1.994, 1.198]
bounded([6], 0.0, 1.0, -2.0, 0.0)
    float32 [6] [-1.1859, -0.22396, -0.99459, -0.80258, -0.24505, -1.1335]
bounded([6, 4], 0.0, 1.0, [2.0, 2.0, 3.0, 3.0], [2.55, 2.4, 3.4, 3.25])
    float32 [6, 4] [[2.3017, 2.3085, 3.059, 3.1375], [2.4385, 2.2023, 3.1266, 3.2379], [2.2049, 2.2789, 3.0055, 3.2161],
    [2.1458, 2.1647, 3.1564, 3.1064], [2.3512, 2.0866, 3.3268, 3.0436], [2.3306, 2.1556, 3.3169, 3.1411]]
bounded([6, 4], 0.0, 1.0, [-2.55, -2.4, -3.4, -3.25], [-2.0, -2.0, -3.0, -3.0])
    float32 [6, 4] [[-2.3017, -2.3085, -3.059, -3.1375], [-2.4385, -2.2023, -3.1266, -3.2379], [-2.2049, -2.2789,
    -3.0055, -3.2161], [-2.1458, -2.1647, -3.1564, -3.1064], [-2.3512, -2.0866, -3.3268, -3.0436], [-2.3306, -2.1556,
    -3.3169, -3.1411]]
digest(R.stateless_binomial([2000, 4], S, [40.0, 300.0, 30.0, 25.0], [0.4, 0.5, 0.45, 0.6]))
    int64 [] 18608348
digest(R.stateless_binomial([2000, 3], S, [1000.0, 12.0, 21.0], [0.02, 0.9, 0.5]))
    int64 [] 3949472
digest(R.stateless_binomial([2000, 3], S, [9.0, 12.0, 3.0], [0.02, 0.4, 0.5]))
    int64 [] 617551
digest(R.stateless_poisson([2000, 4], S, [10.0, 12.0, 40.0, 500.0]))
    int64 [] 53697099
digest(R.stateless_poisson([2000, 3], S, [0.1, 3.0, 9.5]))
    int64 [] 1204661
digest(R.stateless_gamma([2000, 4], S, [0.1, 0.7, 1.5, 20.0]), 1000)
    int64 [] 2141705811
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())
