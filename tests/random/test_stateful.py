"""`tf.random` with op seeds: draws, shapes, bounds and errors. TensorFlow gave the outcomes."""

import pytest

import tapeflow as tf
from outcomes import read_rows
from traced_calls import check_row

# ---- outcomes that TensorFlow gave -----------------------------------------------------------------------------------

R, O = tf.random, tf.raw_ops  # noqa: E741
inf, nan = float("inf"), float("nan")


def drawn(function, *args, seed=5, **options):
    """Draws twice after a global seed: the second draw goes on with the stream."""
    tf.random.set_seed(seed)
    return [function(*args, seed=7, **options) for _ in range(2)]


def drawn_by_op_seed(function, *args, **options):
    tf.random.set_seed(5)
    return function(*args, **options)


def shape_of(function, *args, **options):
    x = function(*args, **options)
    return x.dtype.name, x.shape.as_list()


def inside(function, low, high, *args, **options):
    """Draws of no seed, by their dtype, shape and whether all are in a range."""
    x = function(*args, **options)
    wide = tf.cast(x, tf.float64)
    return x.dtype.name, x.shape.as_list(), bool(tf.reduce_all((wide >= low) & (wide <= high)))


def spread(function, *args, **options):
    """Whether the mean and the deviation of many draws of no seed are about 3 and 2."""
    x = tf.cast(function([20000], *args, **options), tf.float64)
    return bool(abs(tf.reduce_mean(x) - 3) < 0.15), bool(abs(tf.math.reduce_std(x) - 2) < 0.15)


ROWS = read_rows(r"""
drawn(R.uniform, [3])
    (float32 [3] [0.44746, 0.62076, 0.25907]; float32 [3] [0.78062, 0.45387, 0.22468])
drawn(R.uniform, [2, 2], 1, 5)
    (float32 [2, 2] [[2.7899, 3.483], [2.0363, 2.2031]]; float32 [2, 2] [[1.5101, 4.3447], [1.6307, 3.7767]])
drawn(R.uniform, [3], 1.0, 5.0, tf.float64)
    (float64 [3] [3.3188, 1.2902, 3.5775]; float64 [3] [1.9797, 4.1897, 3.719])
drawn(R.uniform, [3], -2, 9, tf.int32)
    (int32 [3] [8, 0, 0]; int32 [3] [4, 3, 7])
drawn(R.uniform, [3], minval=-2, maxval=9, dtype=tf.int64)
    (int64 [3] [5, 1, -2]; int64 [3] [2, 4, 0])
drawn(R.uniform, [3], dtype=tf.float16)
    (float16 [3] [0.62305, 0.24121, 0.2959]; float16 [3] [0.80176, 0.094727, 0.56152])
drawn(R.uniform, [3], maxval=7.0)
    (float32 [3] [3.1322, 4.3453, 1.8135]; float32 [3] [5.4643, 3.1771, 1.5727])
drawn(R.uniform, [2], [1.0, 10.0], [2.0, 20.0])
    (float32 [2] [1.4475, 16.208]; float32 [2] [1.4175, 17.107])
drawn(R.uniform, [], 2.0, 3.0)
    (float32 [] 2.4475; float32 [] 2.0483)
drawn(R.uniform, [0])
    (float32 [0] []; float32 [0] [])
drawn(R.uniform, [3], None, None)
    ValueError: Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>) to a Tensor.
drawn(R.uniform, [3], dtype=tf.int32)
    ValueError: Must specify maxval for integer dtype tf.int32
drawn(R.uniform, [3], 5, 5, tf.int32)
    InvalidArgumentError: Need minval < maxval, got 5 >= 5
drawn(R.uniform, [0], 5, 5, tf.int32)
    (int32 [0] []; int32 [0] [])
drawn(R.uniform, [3], 6, 5, tf.int32)
    InvalidArgumentError: Need minval < maxval, got 6 >= 5
drawn(R.uniform, [3], [1], 5, tf.int32)
    InvalidArgumentError: minval must be 0-D, got shape [1]
drawn(R.uniform, [3], 1, [5], tf.int32)
    InvalidArgumentError: maxval must be 0-D, got shape [1]
drawn(R.uniform, [3], 1.5, 5, tf.int32)
    TypeError: Cannot convert 1.5 to EagerTensor of dtype int32
drawn(R.uniform, [3], dtype=tf.uint8)
    ValueError: Argument `dtype` got invalid value <dtype: 'uint8'>. Accepted dtypes are (tf.float16, tf.bfloat16,
    tf.float32, tf.float64, tf.int32, tf.int64).
drawn(R.uniform, [3], dtype=tf.bool)
    ValueError: Argument `dtype` got invalid value <dtype: 'bool'>. Accepted dtypes are (tf.float16, tf.bfloat16,
    tf.float32, tf.float64, tf.int32, tf.int64).
drawn(R.uniform, [3], dtype=tf.complex64)
    ValueError: Argument `dtype` got invalid value <dtype: 'complex64'>. Accepted dtypes are (tf.float16, tf.bfloat16,
    tf.float32, tf.float64, tf.int32, tf.int64).
drawn(R.uniform, [-1])
    InvalidArgumentError: Dimension -1 must be >= 0
drawn(R.uniform, 3)
    InvalidArgumentError: shape must be a vector of {int32,int64}, got shape []
drawn(R.uniform, None)
    ValueError: Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>) to a Tensor.
drawn(R.uniform, [[3]])
    InvalidArgumentError: shape must be a vector of {int32,int64}, got shape [1,1]
drawn(R.uniform, [2.5])
    InvalidArgumentError: Value for attr 'T' of float is not in the list of allowed values: int32, int64
drawn(R.uniform, tf.constant([2, 1]))
    (float32 [2, 1] [[0.44746], [0.62076]]; float32 [2, 1] [[0.41755], [0.71071]])
drawn(R.normal, [3])
    (float32 [3] [-0.87253, -0.92033, 1.5606]; float32 [3] [0.20115, -0.67445, 1.5538])
drawn(R.normal, [2, 2], 1.0, 5.0)
    (float32 [2, 2] [[-3.3626, -3.6017], [8.8031, -1.5777]]; float32 [2, 2] [[-7.6959, 6.2302], [-8.0252, -2.3029]])
drawn(R.normal, [3], 1, 2)
    (float32 [3] [-0.74505, -0.84067, 4.1212]; float32 [3] [1.4023, -0.3489, 4.1076])
drawn(R.normal, [3], [1.0, 2.0, 3.0], 0.5)
    (float32 [3] [0.56374, 1.5398, 3.7803]; float32 [3] [1.1006, 1.6628, 3.7769])
drawn(R.normal, [3], dtype=tf.float64)
    (float64 [3] [0.45973, 0.9376, 0.51808]; float64 [3] [-1.6035, 0.49245, -0.82688])
drawn(R.normal, [3], dtype=tf.float16)
    (float16 [3] [-0.87256, -0.92041, 1.5605]; float16 [3] [0.20117, -0.67432, 1.5537])
drawn(R.normal, [3], dtype=tf.int32)
    TypeError: Cannot convert 0.0 to EagerTensor of dtype int32
drawn(R.normal, [3], mean=tf.constant(1.0, tf.float64))
    ValueError
drawn(R.normal, [3], stddev='a')
    TypeError: Cannot convert 'a' to EagerTensor of dtype float
drawn(R.normal, [-3])
    InvalidArgumentError: Dimension -3 must be >= 0
drawn(R.truncated_normal, [5])
    (float32 [5] [-0.87253, -0.92033, 1.5606, -0.51554, -1.2513]; float32 [5] [-0.031238, 0.071678, -1.7185, -0.37533,
    0.1888])
drawn(R.truncated_normal, [5], 1.0, 5.0)
    (float32 [5] [-3.3626, -3.6017, 8.8031, -1.5777, -5.2567]; float32 [5] [0.84381, 1.3584, -7.5925, -0.87666, 1.944])
drawn(R.truncated_normal, [3], dtype=tf.float64)
    (float64 [3] [0.45973, 0.9376, 0.8056]; float64 [3] [-1.6035, 0.49245, 0.70071])
drawn(R.truncated_normal, [3], dtype=tf.int32)
    TypeError: Cannot convert 0.0 to EagerTensor of dtype int32
drawn(R.gamma, [3], 2.0)
    (float32 [3] [3.1938, 2.2818, 0.40192]; float32 [3] [2.3867, 1.4226, 2.0326])
drawn(R.gamma, [2], [0.5, 3.0])
    (float32 [2, 2] [[1.0384, 0.9206], [0.0038461, 3.5544]]; float32 [2, 2] [[0.46104, 3.8346], [0.29818, 2.3252]])
drawn(R.gamma, [2], [0.5, 3.0], 2.0)
    (float32 [2, 2] [[0.51918, 0.4603], [0.0019231, 1.7772]]; float32 [2, 2] [[0.23052, 1.9173], [0.14909, 1.1626]])
drawn(R.gamma, [2], [0.5, 3.0], [[2.0], [4.0]])
    (float32 [2, 2, 2] [[[0.51918, 0.4603], [0.11526, 0.95865]], [[0.0019231, 1.7772], [0.074544, 0.58129]]]; float32
    [2, 2, 2] [[[0.021184, 2.1783], [0.20563, 1.0413]], [[0.067741, 1.2047], [0.01696, 1.4795]]])
drawn(R.gamma, [], 1.0)
    (float32 [] 0.075322; float32 [] 0.22293)
drawn(R.gamma, [3], 2.0, dtype=tf.float64)
    (float64 [3] [3.1938, 2.2818, 0.40192]; float64 [3] [2.3867, 1.4226, 2.0326])
drawn(R.gamma, [3], 2, dtype=tf.int32)
    ValueError
drawn(R.gamma, [0], [2.0])
    (float32 [0, 1] []; float32 [0, 1] [])
drawn(R.gamma, [3], [0.0, 2.0])
    (float32 [3, 2] [[1.1755e-38, 2.3867], [1.1755e-38, 1.4226], [1.1755e-38, 2.0326]]; float32 [3, 2] [[1.1755e-38,
    2.1995], [1.1755e-38, 3.0627], [1.1755e-38, 1.4651]])
drawn(R.poisson, [3], 2.0)
    (float32 [3] [0, 1, 2]; float32 [3] [3, 1, 4])
drawn(R.poisson, [2], [0.5, 30.0])
    (float32 [2, 2] [[0, 30], [0, 35]]; float32 [2, 2] [[0, 25], [2, 25]])
drawn(R.poisson, [2], [0.5, 30.0], tf.int32)
    (int32 [2, 2] [[0, 30], [0, 35]]; int32 [2, 2] [[0, 25], [2, 25]])
drawn(R.poisson, [], 3.0, dtype=tf.int64)
    (int64 [] 1; int64 [] 3)
drawn(R.poisson, [0], [3.0])
    (float32 [0, 1] []; float32 [0, 1] [])
drawn(R.poisson, [2], 0.0)
    (float32 [2] [0, 0]; float32 [2] [0, 0])
drawn(R.poisson, [2], 2.0, dtype=tf.string)
    InvalidArgumentError: Value for attr 'dtype' of string is not in the list of allowed values: half, float, double,
    int32, int64
drawn(R.categorical, [[1.0, 2.0, 3.0], [0.0, 0.0, -inf]], 6)
    (int64 [2, 6] [[2, 0, 2, 1, 1, 2], [0, 1, 1, 0, 0, 1]]; int64 [2, 6] [[1, 1, 0, 1, 2, 2], [0, 1, 0, 0, 1, 1]])
drawn(R.categorical, [[1.0, 2.0]], 3, tf.int32)
    (int32 [1, 3] [[1, 0, 1]]; int32 [1, 3] [[1, 1, 0]])
drawn(R.categorical, [[1.0, 2.0]], 0)
    (int64 [1, 0] [[]]; int64 [1, 0] [[]])
drawn(R.categorical, [1.0, 2.0], 3)
    InvalidArgumentError: logits should be a matrix, got shape [2]
drawn(R.categorical, [[1.0, 2.0]], -1)
    InvalidArgumentError: num_samples should be non-negative, got -1
drawn(R.categorical, [[1.0, 2.0]], [3])
    InvalidArgumentError
drawn(R.categorical, tf.zeros([2, 0]), 3)
    InvalidArgumentError: num_classes should be positive, got 0
drawn(R.categorical, tf.zeros([0, 2]), 3)
    (int64 [0, 3] []; int64 [0, 3] [])
drawn(R.categorical, [[1.0, 2.0]], 3, tf.float32)
    ValueError: Argument `dtype` got invalid value <dtype: 'float32'>. Accepted dtypes are (tf.int32, tf.int64).
drawn(R.categorical, tf.constant([[1.0, 2.0]], tf.float64), 3)
    (int64 [1, 3] [[1, 0, 1]]; int64 [1, 3] [[1, 1, 0]])
drawn(R.shuffle, [1, 2, 3, 4, 5])
    (int32 [5] [1, 5, 4, 3, 2]; int32 [5] [5, 2, 1, 4, 3])
drawn(R.shuffle, [[1, 2], [3, 4], [5, 6]])
    (int32 [3, 2] [[3, 4], [5, 6], [1, 2]]; int32 [3, 2] [[3, 4], [1, 2], [5, 6]])
drawn(R.shuffle, [1])
    (int32 [1] [1]; int32 [1] [1])
drawn(R.shuffle, 5)
    (int32 [] 5; int32 [] 5)
drawn(R.shuffle, [1, 2])
    (int32 [2] [1, 2]; int32 [2] [2, 1])
drawn(R.shuffle, [])
    (float32 [0] []; float32 [0] [])
[drawn(f, [2], seed=None) for f in ()]
    ()
drawn_by_op_seed(R.uniform, [3])
    float32 [3] [0.62639, 0.52984, 0.75846]
drawn_by_op_seed(R.normal, [3])
    float32 [3] [-0.18031, -0.95029, -0.03964]
drawn_by_op_seed(R.normal, [3], 1.0, 5.0)
    float32 [3] [0.098467, -3.7514, 0.8018]
drawn_by_op_seed(R.truncated_normal, [3])
    float32 [3] [-0.18031, -0.95029, -0.03964]
drawn_by_op_seed(R.gamma, [3], 2.0)
    float32 [3] [8.2665, 0.65503, 0.88684]
drawn_by_op_seed(R.poisson, [3], 2.0)
    float32 [3] [0, 2, 3]
drawn_by_op_seed(R.categorical, [[1.0, 2.0, 3.0]], 5)
    int64 [1, 5] [[0, 0, 2, 2, 1]]
drawn_by_op_seed(R.shuffle, [1, 2, 3, 4, 5])
    int32 [5] [1, 5, 2, 4, 3]
drawn_by_op_seed(O.RandomUniform, shape=[3], dtype=tf.float32, seed=1, seed2=0)
    float32 [3] [0.8127, 0.078575, 0.89169]
drawn_by_op_seed(O.RandomUniform, shape=[3], dtype=tf.float32, seed=0, seed2=1)
    float32 [3] [0.53973, 0.10494, 0.20118]
drawn_by_op_seed(O.RandomUniformInt, shape=[3], minval=1, maxval=9, seed=1, seed2=2)
    int32 [3] [8, 4, 7]
drawn_by_op_seed(O.RandomStandardNormal, shape=[3], dtype=tf.float32, seed=0, seed2=1)
    float32 [3] [0.68035, 0.87778, -0.64774]
drawn_by_op_seed(O.TruncatedNormal, shape=[3], dtype=tf.float32, seed=3, seed2=0)
    float32 [3] [-1.8647, 0.80265, -0.44322]
drawn_by_op_seed(O.RandomGamma, shape=[3], alpha=2.0, seed=3, seed2=0)
    float32 [3] [3.6488, 1.8105, 0.27744]
drawn_by_op_seed(O.RandomGamma, shape=[3], alpha=2.0, seed=0, seed2=3)
    float32 [3] [3.2914, 0.15115, 1.8783]
drawn_by_op_seed(O.RandomPoissonV2, shape=[3], rate=2.0, seed=0, seed2=3)
    int64 [3] [4, 1, 2]
drawn_by_op_seed(O.RandomPoissonV2, shape=[3], rate=-2.0, seed=0, seed2=3)
    int64 [3] [0, 0, 0]
drawn_by_op_seed(O.Multinomial, logits=[[1.0, 2.0, 3.0]], num_samples=4, seed=0, seed2=3)
    int64 [1, 4] [[2, 2, 2, 2]]
drawn_by_op_seed(O.RandomShuffle, value=[1, 2, 3, 4], seed=0, seed2=3)
    int32 [4] [1, 3, 2, 4]
drawn_by_op_seed(O.RandomShuffle, value=[1, 2, 3, 4], seed=3, seed2=0)
    int32 [4] [4, 3, 2, 1]
inside(R.uniform, 0, 1, [3])
    ('float32'; (3); True)
inside(R.uniform, 2, 3, [2, 2], 2.0, 3.0)
    ('float32'; (2; 2); True)
inside(R.uniform, 2, 9, [2], 2, 9, tf.int32)
    ('int32'; (2); True)
inside(R.uniform, 0, 1, [2], dtype=tf.float64)
    ('float64'; (2); True)
inside(R.uniform, 0, 5, [2], maxval=5)
    ('float32'; (2); True)
inside(R.truncated_normal, -2, 2, [300])
    ('float32'; (300); True)
inside(R.truncated_normal, -3, 5, [300], 1.0, 2.0)
    ('float32'; (300); True)
inside(R.normal, -inf, inf, [3], 1.0, 2.0, tf.float64)
    ('float64'; (3); True)
inside(R.normal, -inf, inf, (2,), 1.0, 2.0, tf.float16)
    ('float16'; (2); True)
inside(R.gamma, 0, inf, [3], [1.0, 2.0])
    ('float32'; (3; 2); True)
inside(R.gamma, 0, inf, [3], [1.0, 2.0], dtype=tf.float16)
    ('float16'; (3; 2); True)
inside(R.poisson, 0, inf, [3], [1.0, 2.0])
    ('float32'; (3; 2); True)
inside(R.poisson, 0, inf, [3], [1.0, 2.0], tf.int32)
    ('int32'; (3; 2); True)
inside(R.poisson, 0, 0, [3], 0.0)
    ('float32'; (3); True)
inside(R.categorical, 0, 2, [[1.0, 2.0, 3.0]], 50)
    ('int64'; (1; 50); True)
inside(R.categorical, 1, 1, [[-inf, 2.0, -inf]], 50)
    ('int64'; (1; 50); True)
inside(R.uniform, 5, 5, [], 5, 6, tf.int64)
    ('int64'; (); True)
spread(R.normal, 3.0, 2.0)
    (True; True)
spread(R.normal, 3, 2)
    (True; True)
spread(R.uniform, 3 - 12 ** 0.5, 3 + 12 ** 0.5)
    (True; True)
spread(R.gamma, 2.25, 0.75)
    (True; True)
R.uniform([3], 6, 5, tf.int32)
    InvalidArgumentError: Need minval < maxval, got 6 >= 5
R.uniform([-1])
    InvalidArgumentError: Dimension -1 must be >= 0
R.normal([-1])
    InvalidArgumentError: Dimension -1 must be >= 0
R.normal([2.5])
    InvalidArgumentError: Value for attr 'T' of float is not in the list of allowed values: int32, int64
R.uniform('a')
    InvalidArgumentError: Value for attr 'T' of string is not in the list of allowed values: int32, int64
R.normal('a')
    InvalidArgumentError: Value for attr 'T' of string is not in the list of allowed values: int32, int64
R.uniform([2**40, 2**40])
    InvalidArgumentError: Shape [1099511627776,1099511627776] would have more than 2**63 - 1 elements
R.normal([3], 'a')
    TypeError: Cannot convert 'a' to EagerTensor of dtype float
static(lambda: R.uniform([3, 2]))
    '(3, 2)'
static(lambda n: R.uniform([n, 2]), tf.TensorSpec([], tf.int32))
    '(None, 2)'
static(lambda s: R.normal(s), tf.TensorSpec([2], tf.int32))
    '(None, None)'
static(lambda s: R.normal(s), tf.TensorSpec(None, tf.int32))
    '<unknown>'
static(lambda s: R.normal(s), tf.TensorSpec([], tf.int32))
    ValueError
static(lambda s: R.gamma(s, [1.0, 2.0]), tf.TensorSpec([2], tf.int32))
    '(None, None, 2)'
static(lambda a: R.gamma([3], a), [2,None])
    '(3, 2, None)'
static(lambda a: R.gamma([3], a, [[1.0]]), [None])
    '(3, None, None)'
static(lambda a: R.poisson([3], a), [2,None])
    '(3, 2, None)'
static(lambda a: R.poisson([3], a), None)
    '<unknown>'
static(lambda a: R.categorical(a, 4), [None,3])
    '(None, 4)'
static(lambda a: R.categorical(a, 4), None)
    '(None, 4)'
static(lambda a: R.categorical(a, 4), [3])
    ValueError
static(lambda a, n: R.categorical(a, n), [2,3], tf.TensorSpec([], tf.int32))
    '(2, None)'
static(R.shuffle, [2,None])
    '(2, None)'
static(R.shuffle, None)
    '<unknown>'
mapped(lambda x: x + 0 * R.uniform([2]), tf.ones([3, 2]))
    float32 [3, 2] [[1, 1], [1, 1], [1, 1]]
mapped(lambda x: x + 0 * R.normal([2]), tf.ones([3, 2]))
    float32 [3, 2] [[1, 1], [1, 1], [1, 1]]
mapped(lambda x: 0 * tf.cast(R.categorical(x[None], 4), tf.float32), tf.ones([3, 2]))
    float32 [3, 1, 4] [[[0, 0, 0, 0]], [[0, 0, 0, 0]], [[0, 0, 0, 0]]]
grad(lambda a: 0 * R.gamma([2], a), [1.0, 2.0])
    float32 [2] [0, 0]
grad(lambda m: R.normal([3], m, 2.0), 1.0)
    float32 [] 3
drawn_by_op_seed(O.RandomUniformInt, shape=[3], minval=1, maxval=9, seed=0, seed2=3)
    int32 [3] [5, 1, 5]
drawn_by_op_seed(O.RandomUniformInt, shape=[3], minval=1, maxval=9, seed=3, seed2=0)
    int32 [3] [8, 7, 3]
drawn_by_op_seed(O.RandomStandardNormal, shape=[3], dtype=tf.float32, seed=3, seed2=0)
    float32 [3] [-1.8647, 0.80265, -0.44322]
drawn_by_op_seed(O.TruncatedNormal, shape=[3], dtype=tf.float32, seed=0, seed2=3)
    float32 [3] [-1.4096, -0.53668, -0.56524]
drawn_by_op_seed(O.RandomPoissonV2, shape=[3], rate=2.0, seed=3, seed2=0)
    int64 [3] [1, 4, 1]
drawn_by_op_seed(O.Multinomial, logits=[[1.0, 2.0, 3.0]], num_samples=4, seed=3, seed2=0)
    int64 [1, 4] [[0, 1, 2, 0]]
inside(R.gamma, 0, inf, [50], [0.5, 0.01, 2.0])
    ('float32'; (50; 3); True)
inside(R.gamma, 0, inf, [50], [0.5, 2.0], dtype=tf.float64)
    ('float64'; (50; 2); True)
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())
