"""Keys and counters of seeds, and names of algorithms. TensorFlow gave the outcomes."""

import pytest

import tapeflow as tf
from outcomes import read_rows
from traced_calls import check_row

# ---- outcomes that TensorFlow gave -----------------------------------------------------------------------------------

R, O = tf.random, tf.raw_ops  # noqa: E741
X = tf.random.experimental
S = [3, 8]
BIG = tf.constant([3, 2**40], tf.int64)


def key_and_counter(seed):
    return [tf.cast(t, tf.int64) for t in O.StatelessRandomGetKeyCounter(seed=seed)]


ROWS = read_rows(r"""
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
R.stateless_normal([3], S, alg='philox')
    float32 [3] [-1.1859, -0.22396, 1.1439]
X.stateless_split(BIG, 2)
    int64 [2, 2] [[-94327939341339506, -2027811955287244799], [3005289955417739733, -4709735326248110891]]
X.stateless_split(S, 2, alg='philox')
    int32 [2, 2] [[1237174730, 626799256], [405563664, -317559405]]
X.stateless_fold_in(S, 5, alg='philox')
    int32 [2] [1237174730, 5]
X.stateless_fold_in(BIG, 5)
    int32 [2] [724186254, 5]
static(lambda s: R.stateless_uniform([3], s), tf.TensorSpec([2], tf.int32))
    '(3,)'
static(lambda s: R.stateless_uniform([3], s), tf.TensorSpec([None], tf.int32))
    '(3,)'
static(lambda s: R.stateless_uniform([3], s), tf.TensorSpec(None, tf.int32))
    '(3,)'
static(lambda s: R.stateless_uniform([3], s), tf.TensorSpec([3], tf.int32))
    ValueError
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
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())
