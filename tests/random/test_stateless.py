"""Stateless draws: numbers, shapes, bounds and errors. TensorFlow gave the outcomes."""

import pytest

import tapeflow as tf
import traced_calls
from outcomes import agree, outcome, read_rows

# ---- outcomes that TensorFlow gave -----------------------------------------------------------------------------------

R, O = tf.random, tf.raw_ops  # noqa: E741
X = tf.random.experimental
inf, nan = float("inf"), float("nan")
S = [3, 8]
BIG = tf.constant([3, 2**40], tf.int64)


def bounded(shape, *parameters, seed=S):
    return R.stateless_parameterized_truncated_normal(shape, seed, *parameters)


def key_and_counter(seed):
    return [tf.cast(t, tf.int64) for t in O.StatelessRandomGetKeyCounter(seed=seed)]


ROWS = read_rows(r"""
R.stateless_uniform([3], S)
    float32 [3] [0.48272, 0.72029, 0.34696]
R.stateless_uniform([2, 2], S, 1, 5)
    float32 [2, 2] [[2.9309, 3.8812], [2.3878, 1.5759]]
R.stateless_uniform([3], S, 1.0, 5.0, tf.float64)
    float64 [3] [4.4471, 4.1026, 4.512]
R.stateless_uniform([3], S, maxval=7.0)
    float32 [3] [3.379, 5.0421, 2.4287]
R.stateless_uniform([3], S, -2, 9, tf.int32)
    int32 [3] [-2, 4, -2]
R.stateless_uniform([3], S, -2, 9, tf.int64)
    int64 [3] [0, 0, 5]
R.stateless_uniform([3], S, None, None, tf.int32)
    int32 [3] [1237174730, 626799256, 405563664]
R.stateless_uniform([3], S, None, None, tf.uint32)
    uint32 [3] [1237174730, 626799256, 405563664]
R.stateless_uniform([3], S, None, None, tf.uint64)
    uint64 [3] [2692082306914306506, 17082836815102896400, 11367003275481975887]
R.stateless_uniform([3], S, None, 9, tf.int32)
    ValueError: For integer `dtype` argument <dtype: 'int32'>, argument `minval` and `maxval` must be both None or not
    None. Got `minval`=None and `maxval`=9.
R.stateless_uniform([3], S, 9, None, tf.int32)
    ValueError: For integer `dtype` argument <dtype: 'int32'>, argument `minval` and `maxval` must be both None or not
    None. Got `minval`=9 and `maxval`=None.
R.stateless_uniform([3], S, dtype=tf.int32)
    ValueError: For integer `dtype` argument <dtype: 'int32'>, argument `minval` and `maxval` must be both None or not
    None. Got `minval`=0 and `maxval`=None.
R.stateless_uniform([3], S, 5, 5, tf.int32)
    InvalidArgumentError: Need minval < maxval, got 5 >= 5
R.stateless_uniform([0], S, 5, 5, tf.int32)
    int32 [0] []
R.stateless_uniform([3], S, 6, 5, tf.int32)
    InvalidArgumentError: Need minval < maxval, got 6 >= 5
R.stateless_uniform([3], S, [1], 5, tf.int32)
    InvalidArgumentError: minval must be 0-D, got shape [1]
R.stateless_uniform([3], S, 1, 5, tf.uint32)
    ValueError: Argument `dtype` got invalid value <dtype: 'uint32'> when argument `minval` is not None. Please don't
    use unsigned integers in this case.
R.stateless_uniform([3], S, 1, 5, tf.int8)
    ValueError: Argument `dtype` got invalid value <dtype: 'int8'>. Accepted dtypes are (tf.float16, tf.bfloat16,
    tf.float32, tf.float64, tf.int32, tf.int64, tf.uint32, tf.uint64).
R.stateless_uniform([3], S, dtype=tf.bool)
    ValueError: Argument `dtype` got invalid value <dtype: 'bool'>. Accepted dtypes are (tf.float16, tf.bfloat16,
    tf.float32, tf.float64, tf.int32, tf.int64, tf.uint32, tf.uint64).
R.stateless_uniform([3], S, dtype=tf.float16)
    float16 [3] [0.44727, 0.64844, 0.26562]
R.stateless_uniform([3], S, dtype=tf.bfloat16)
    bfloat16 [3] [0.57812, 0.1875, 0.125]
R.stateless_uniform([2], S, [1.0, 10.0], [2.0, 20.0])
    float32 [2] [1.4827, 17.203]
R.stateless_uniform([], S)
    float32 [] 0.48272
R.stateless_uniform([0], S)
    float32 [0] []
R.stateless_uniform([-1], S)
    InvalidArgumentError: Dimension -1 must be >= 0
R.stateless_uniform(3, S)
    InvalidArgumentError: shape must be a vector of {int32,int64}, got shape []
R.stateless_uniform([[3]], S)
    InvalidArgumentError: shape must be a vector of {int32,int64}, got shape [1,1]
R.stateless_uniform(None, S)
    ValueError: Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>) to a Tensor.
R.stateless_uniform(np.array([2, 1]), S)
    float32 [2, 1] [[0.48272], [0.72029]]
R.stateless_uniform(tf.constant([2, 1]), S)
    float32 [2, 1] [[0.48272], [0.72029]]
R.stateless_uniform((2,), tf.constant(S, tf.int64))
    float32 [2] [0.48272, 0.72029]
R.stateless_uniform([2], BIG)
    float32 [2] [0.32973, 0.38187]
R.stateless_uniform([2], [-3, -8])
    float32 [2] [0.24484, 0.81531]
R.stateless_uniform([2], [3])
    InvalidArgumentError: seed must have shape [2], not [1]
R.stateless_uniform([2], [3, 8, 9])
    InvalidArgumentError: seed must have shape [2], not [3]
R.stateless_uniform([2], 3)
    InvalidArgumentError: seed must have shape [2], not []
R.stateless_uniform([2], [[3, 8]])
    InvalidArgumentError: seed must have shape [2], not [1,2]
R.stateless_uniform([2], [3.0, 8.0])
    InvalidArgumentError: Value for attr 'Tseed' of float is not in the list of allowed values: int32, int64
R.stateless_uniform([2], tf.constant([3, 8], tf.uint8))
    InvalidArgumentError: Value for attr 'Tseed' of uint8 is not in the list of allowed values: int32, int64
R.stateless_uniform([2], tf.Variable(S))
    float32 [2] [0.48272, 0.72029]
[R.stateless_uniform([2], S, alg=a) for a in ('philox', 'auto_select', 'Philox', 'auto-select', 1, 3)]
    (float32 [2] [0.48272, 0.72029]; float32 [2] [0.48272, 0.72029]; float32 [2] [0.48272, 0.72029]; float32 [2]
    [0.48272, 0.72029]; float32 [2] [0.48272, 0.72029]; float32 [2] [0.48272, 0.72029])
R.stateless_uniform([2], S, alg='threefry')
    InvalidArgumentError
R.stateless_uniform([2], S, alg=R.Algorithm.THREEFRY)
    InvalidArgumentError
R.stateless_uniform([2], S, alg='other')
    ValueError: Argument `alg` got unsupported value other. Supported values are philox for the Philox algorithm,
    threefry for the ThreeFry algorithm, and auto_select for auto-selection.
R.stateless_uniform([2], S, alg=7)
    ValueError: Argument `alg` got unsupported value 7. Supported values are 1 for the Philox algorithm, 2 for the
    ThreeFry algorithm, and 3 for auto-selection.
R.stateless_uniform([2], S, alg=1.5)
    TypeError: Can't convert argument `alg` (of value 1.5 and type <class 'float'>) to int.
R.stateless_normal([3], S)
    float32 [3] [-1.1859, -0.22396, 1.1439]
R.stateless_normal([2, 2], S, 1.0, 5.0)
    float32 [2, 2] [[-4.9297, -0.11981], [6.7195, 5.4961]]
R.stateless_normal([3], S, [1.0, 2.0, 3.0], 0.5)
    float32 [3] [0.40703, 1.888, 3.5719]
R.stateless_normal([3], S, dtype=tf.float64)
    float64 [3] [-0.53841, 0.087534, -0.44135]
R.stateless_normal([3], S, dtype=tf.float16)
    float16 [3] [-1.1855, -0.224, 1.1436]
R.stateless_normal([3], S, dtype=tf.int32)
    TypeError: Cannot convert 0.0 to EagerTensor of dtype int32
R.stateless_normal([3], S, alg='philox')
    float32 [3] [-1.1859, -0.22396, 1.1439]
R.stateless_normal([3], S, mean='a')
    TypeError: Cannot convert 'a' to EagerTensor of dtype float
R.stateless_normal(np.array([2, 1]), S)
    float32 [2, 1] [[-1.1859], [-0.22396]]
R.stateless_truncated_normal([5], S)
    float32 [5] [-1.1859, -0.22396, 1.1439, 0.89923, 1.2425]
R.stateless_truncated_normal([5], S, 1.0, 5.0)
    float32 [5] [-4.9297, -0.11981, 6.7195, 5.4961, 7.2127]
R.stateless_truncated_normal([3], S, dtype=tf.float64)
    float64 [3] [-0.53841, 0.087534, 0.6054]
R.stateless_truncated_normal([3], S, dtype=tf.float16)
    float16 [3] [-1.1855, -0.224, 1.1436]
R.stateless_truncated_normal([3], S, dtype=tf.int32)
    TypeError: Cannot convert 0.0 to EagerTensor of dtype int32
R.stateless_truncated_normal([300], [5, 6])[::30]
    float32 [10] [1.024, 0.6926, 0.42664, 1.2023, -0.89508, 0.66521, 1.0727, 1.7111, 1.1536, -0.8079]
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
X.stateless_shuffle([1, 2, 3, 4, 5], S)
    int32 [5] [1, 2, 3, 5, 4]
X.stateless_shuffle([[1, 2], [3, 4], [5, 6]], S)
    int32 [3, 2] [[5, 6], [3, 4], [1, 2]]
X.stateless_shuffle([1], S)
    int32 [1] [1]
X.stateless_shuffle([], S)
    float32 [0] []
X.stateless_shuffle([1, 2], [1, 1])
    int32 [2] [1, 2]
X.stateless_shuffle([1, 2, 3, 4, 5], S, 'philox')
    int32 [5] [1, 2, 3, 5, 4]
X.stateless_shuffle([1, 2, 3, 4, 5], S, alg='threefry')
    InvalidArgumentError
X.stateless_split(S)
    int32 [2, 2] [[1237174730, 626799256], [405563664, -317559405]]
X.stateless_split(S, 3)
    int32 [3, 2] [[1237174730, 626799256], [405563664, -317559405], [198052943, -1648380607]]
X.stateless_split(S, num=1)
    int32 [1, 2] [[1237174730, 626799256]]
X.stateless_split(BIG, 2)
    int64 [2, 2] [[-94327939341339506, -2027811955287244799], [3005289955417739733, -4709735326248110891]]
X.stateless_split(S, 2, alg='philox')
    int32 [2, 2] [[1237174730, 626799256], [405563664, -317559405]]
X.stateless_split(S, 0)
    int32 [0, 2] []
X.stateless_fold_in(S, 5)
    int32 [2] [1237174730, 5]
X.stateless_fold_in(S, tf.constant(5, tf.int64))
    int64 [2] [2692082306914306506, 5]
X.stateless_fold_in(S, 5, alg='philox')
    int32 [2] [1237174730, 5]
X.stateless_fold_in(BIG, 5)
    int32 [2] [724186254, 5]
R.split(S)
    int32 [2, 2] [[1237174730, 626799256], [405563664, -317559405]]
R.fold_in(S, 1)
    int32 [2] [1237174730, 1]
X.index_shuffle(0, S, 9)
    int32 [] 9
[X.index_shuffle(i, S, 9) for i in range(10)]
    (int32 [] 9; int32 [] 5; int32 [] 2; int32 [] 1; int32 [] 3; int32 [] 8; int32 [] 0; int32 [] 7; int32 [] 6; int32
    [] 4)
[X.index_shuffle(i, [1, 2], 255) for i in (0, 100, 255)]
    (int32 [] 29; int32 [] 215; int32 [] 20)
[X.index_shuffle(i, [1, 2], 100000) for i in (0, 100, 99999, 100000)]
    (int32 [] 66456; int32 [] 90138; int32 [] 29872; int32 [] 69511)
[X.index_shuffle(tf.constant(i, tf.int64), [1, 2], tf.constant(2**40, tf.int64)) for i in (0, 100, 2**40)]
    (int64 [] 560705115234; int64 [] 712247182887; int64 [] 560705115234)
X.index_shuffle(0, S, 0)
    int32 [] 0
X.index_shuffle(10, S, 9)
    InvalidArgumentError: max_index must be >= index, but 9 < 10
X.index_shuffle(-1, S, 9)
    InvalidArgumentError
X.index_shuffle([0, 1, 2], S, 9)
    int32 [3] [9, 5, 2]
X.index_shuffle([0, 1, 2], S, [9, 8, 7])
    int32 [3] [9, 5, 2]
X.index_shuffle([0, 1], S, [9, 8, 7])
    InvalidArgumentError
X.index_shuffle([[0]], S, 9)
    InvalidArgumentError
X.index_shuffle(0, [1, 2, 3], 9)
    InvalidArgumentError
X.index_shuffle(0, S, [[9]])
    InvalidArgumentError: Maxval must be a scalar or a vector of the same size as index but got [1,1]
O.RandomIndexShuffle(index=3, seed=[1, 2, 3], max_index=9, rounds=4)
    int32 [] 4
O.RandomIndexShuffle(index=3, seed=[1, 2, 3], max_index=9, rounds=8)
    int32 [] 1
O.RandomIndexShuffle(index=3, seed=[1, 2, 3], max_index=9999999, rounds=8)
    int32 [] 3042914
O.RandomIndexShuffle(index=tf.constant(3, tf.uint32), seed=[1, 2, 3], max_index=tf.constant(9, tf.uint32))
    uint32 [] 4
O.RandomIndexShuffle(index=3, seed=[1, 2], max_index=9)
    InvalidArgumentError
static(lambda i: X.index_shuffle(i, S, 9), tf.TensorSpec([None], tf.int32))
    '(None,)'
static(lambda i: X.index_shuffle(i, S, 9), tf.TensorSpec([], tf.int32))
    '()'
static(lambda i: X.index_shuffle(i, S, 9), tf.TensorSpec([2, 2], tf.int32))
    ValueError
static(lambda i: X.index_shuffle(i, S, [1, 2]), tf.TensorSpec([None], tf.int32))
    '(2,)'
static(lambda i: X.index_shuffle(i, S, [1, 2]), tf.TensorSpec([3], tf.int32))
    ValueError
static(lambda i: X.index_shuffle(i, S, 9), tf.TensorSpec(None, tf.int32))
    '<unknown>'
static(lambda s: R.stateless_uniform([3], s), tf.TensorSpec([2], tf.int32))
    '(3,)'
static(lambda s: R.stateless_uniform([3], s), tf.TensorSpec([None], tf.int32))
    '(3,)'
static(lambda s: R.stateless_uniform([3], s), tf.TensorSpec(None, tf.int32))
    '(3,)'
static(lambda s: R.stateless_uniform([3], s), tf.TensorSpec([3], tf.int32))
    ValueError
static(lambda s: R.stateless_uniform(s, S), tf.TensorSpec([2], tf.int32))
    '(None, None)'
static(lambda s: R.stateless_uniform(s, S), tf.TensorSpec(None, tf.int32))
    '<unknown>'
static(lambda n: R.stateless_normal([n, 3], S), tf.TensorSpec([], tf.int32))
    '(None, 3)'
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
static(lambda a: X.stateless_shuffle(a, S), [None,3])
    '(None, 3)'
static(lambda s: X.stateless_split(s, 3), tf.TensorSpec([2], tf.int32))
    '(3, 2)'
static(lambda n: X.stateless_split(S, n), tf.TensorSpec([], tf.int32))
    '(None, 2)'
key_and_counter(S)
    (int64 [1] [-7238618464301915653]; int64 [2] [0, -7601624337311338208])
key_and_counter(BIG)
    (int64 [1] [-4713641121810753306]; int64 [2] [0, 730798621449076458])
key_and_counter([1])
    InvalidArgumentError: seed must have shape [2], not [1]
key_and_counter([[1, 2]])
    InvalidArgumentError: seed must have shape [2], not [1,2]
sized(lambda s: R.stateless_uniform([3], s), S)
    float32 [3] [0.48272, 0.72029, 0.34696]
unranked(lambda s: R.stateless_normal([3], s), S)
    float32 [3] [-1.1859, -0.22396, 1.1439]
mapped(lambda s: R.stateless_uniform([2], s), [[1, 2], [3, 4]])
    float32 [2, 2] [[0.84406, 0.19205], [0.24329, 0.98351]]
grad(lambda a: R.stateless_gamma([3, 2], S, a), [0.5, 3.0])
    float32 [2] [2.8379, 3.3628]
grad(lambda m, s: R.stateless_normal([3], S, m, s), 1.0, 2.0)
    (float32 [] 3; float32 [] -0.26601)
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    assert agree(outcome(source, {**vars(traced_calls), **globals()}), ROWS[source])
