"""Stateless draws: numbers, shapes, bounds and errors. TensorFlow gave the outcomes."""

import pytest

import tapeflow as tf
from outcomes import read_rows
from traced_calls import check_row

# ---- outcomes that TensorFlow gave -----------------------------------------------------------------------------------

R, O = tf.random, tf.raw_ops  # noqa: E741
X = tf.random.experimental
S = [3, 8]

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
X.stateless_split(S)
    int32 [2, 2] [[1237174730, 626799256], [405563664, -317559405]]
X.stateless_split(S, 3)
    int32 [3, 2] [[1237174730, 626799256], [405563664, -317559405], [198052943, -1648380607]]
X.stateless_split(S, num=1)
    int32 [1, 2] [[1237174730, 626799256]]
X.stateless_split(S, 0)
    int32 [0, 2] []
X.stateless_fold_in(S, 5)
    int32 [2] [1237174730, 5]
X.stateless_fold_in(S, tf.constant(5, tf.int64))
    int64 [2] [2692082306914306506, 5]
R.split(S)
    int32 [2, 2] [[1237174730, 626799256], [405563664, -317559405]]
R.fold_in(S, 1)
    int32 [2] [1237174730, 1]
static(lambda s: R.stateless_uniform(s, S), tf.TensorSpec([2], tf.int32))
    '(None, None)'
static(lambda s: R.stateless_uniform(s, S), tf.TensorSpec(None, tf.int32))
    '<unknown>'
static(lambda n: R.stateless_normal([n, 3], S), tf.TensorSpec([], tf.int32))
    '(None, 3)'
static(lambda s: X.stateless_split(s, 3), tf.TensorSpec([2], tf.int32))
    '(3, 2)'
static(lambda n: X.stateless_split(S, n), tf.TensorSpec([], tf.int32))
    '(None, 2)'
unranked(lambda s: R.stateless_normal([3], s), S)
    float32 [3] [-1.1859, -0.22396, 1.1439]
mapped(lambda s: R.stateless_uniform([2], s), [[1, 2], [3, 4]])
    float32 [2, 2] [[0.84406, 0.19205], [0.24329, 0.98351]]
grad(lambda m, s: R.stateless_normal([3], S, m, s), 1.0, 2.0)
    (float32 [] 3; float32 [] -0.26601)
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())
