"""Shapes and scales of draws by a seed. TensorFlow gave the outcomes."""

import pytest

import tapeflow as tf
from outcomes import read_rows
from traced_calls import check_row, static

# ---- outcomes that TensorFlow gave -----------------------------------------------------------------------------------

R, O = tf.random, tf.raw_ops  # noqa: E741
S = [3, 8]
KEY, COUNTER = tf.constant([5], tf.uint64), tf.constant([7, 9], tf.uint64)


def draw(op, *shape, **options):
    return getattr(O, f"StatelessRandom{op}")(shape=list(shape), key=KEY, counter=COUNTER, alg=1, **options)


def static_draw(shape, key, counter, alg=()):
    specs = [tf.TensorSpec(shape, tf.int32), tf.TensorSpec(key, tf.uint64), tf.TensorSpec(counter, tf.uint64)]

    def run(shape, key, counter, alg):
        return O.StatelessRandomNormalV2(shape=shape, key=key, counter=counter, alg=alg)

    return static(run, *specs, tf.TensorSpec(alg, tf.int32))


ROWS = read_rows(r"""
draw('UniformV2', 3)
    float32 [3] [0.26479, 0.73641, 0.39209]
draw('UniformV2', 2, 2, dtype=tf.float64)
    float64 [2, 2] [[0.11835, 0.1367], [0.69786, 0.52097]]
draw('NormalV2', 3)
    float32 [3] [-1.6243, -0.13905, 1.0734]
draw('UniformFullIntV2', 3, dtype=tf.int32)
    int32 [3] [832693445, 132006561, 1697787879]
draw('UniformFullIntV2', 2, dtype=tf.uint64)
    uint64 [2] [566963863185122501, 8119322786418274279]
draw('UniformIntV2', 3, minval=2, maxval=9)
    int32 [3] [5, 3, 6]
draw('UniformIntV2', 3, minval=9, maxval=9)
    InvalidArgumentError: Need minval < maxval, got 9 >= 9
draw('UniformIntV2', 0, minval=9, maxval=9)
    int32 [0] []
draw('UniformIntV2', 3, minval=[2], maxval=9)
    InvalidArgumentError: minval must be 0-D, got shape [1]
draw('UniformIntV2', 3, minval=2, maxval=[9])
    InvalidArgumentError: maxval must be 0-D, got shape [1]
draw('UniformV2', -1)
    InvalidArgumentError: Dimension -1 must be >= 0
draw('UniformV2')
    float32 [] 0.26479
draw('UniformV2', 0)
    float32 [0] []
draw('GammaV3', 3, alpha=2.0)
    float32 [3] [4.0868, 4.0431, 1.383]
draw('GammaV3', 2, alpha=[0.5, 2.0])
    float32 [2] [1.6149, 4.0431]
O.StatelessRandomNormalV2(shape=[2], key=KEY, counter=COUNTER, alg=3)
    float32 [2] [-1.6243, -0.13905]
O.StatelessRandomNormalV2(shape=[2], key=KEY, counter=COUNTER, alg=2)
    InvalidArgumentError: Unsupported algorithm id: 2
O.StatelessRandomNormalV2(shape=[2], key=KEY, counter=COUNTER, alg=9)
    InvalidArgumentError
O.StatelessRandomNormalV2(shape=[2], key=KEY[:0], counter=COUNTER, alg=1)
    InvalidArgumentError
O.StatelessRandomNormalV2(shape=[2], key=KEY[0], counter=COUNTER, alg=1)
    InvalidArgumentError
O.StatelessRandomNormalV2(shape=[2], key=KEY, counter=COUNTER[0], alg=1)
    InvalidArgumentError
O.StatelessTruncatedNormalV2(shape=[3], key=KEY, counter=COUNTER, alg=1)
    float32 [3] [-1.6243, -0.13905, 1.0734]
static_draw([2], [1], [2])
    '(None, None)'
static_draw([2], [None], [None])
    '(None, None)'
static_draw([None], [1], [2])
    '<unknown>'
static_draw(None, None, None)
    '<unknown>'
static_draw([], [1], [2])
    ValueError: Shape must be rank 1 but is rank 0 for '{{node StatelessRandomNormalV2}} =
    StatelessRandomNormalV2[Tshape=DT_INT32, dtype=DT_FLOAT](xs_0, xs_1, xs_2, xs_3)' with input shapes: [], [1], [2],
    [].
static_draw([2, 2], [1], [2])
    ValueError: Shape must be rank 1 but is rank 2 for '{{node StatelessRandomNormalV2}} =
    StatelessRandomNormalV2[Tshape=DT_INT32, dtype=DT_FLOAT](xs_0, xs_1, xs_2, xs_3)' with input shapes: [2,2], [1],
    [2], [].
static_draw([2], [2], [2])
    ValueError: Dimension must be 1 but is 2 for '{{node StatelessRandomNormalV2}} =
    StatelessRandomNormalV2[Tshape=DT_INT32, dtype=DT_FLOAT](xs_0, xs_1, xs_2, xs_3)' with input shapes: [2], [2], [2],
    [].
static_draw([2], [1], [3])
    '(None, None)'
static_draw([2], [1], [1])
    '(None, None)'
static_draw([2], [], [2])
    ValueError: Shape must be rank 1 but is rank 0 for '{{node StatelessRandomNormalV2}} =
    StatelessRandomNormalV2[Tshape=DT_INT32, dtype=DT_FLOAT](xs_0, xs_1, xs_2, xs_3)' with input shapes: [2], [], [2],
    [].
static_draw([2], [1], [])
    ValueError: Shape must be rank 1 but is rank 0 for '{{node StatelessRandomNormalV2}} =
    StatelessRandomNormalV2[Tshape=DT_INT32, dtype=DT_FLOAT](xs_0, xs_1, xs_2, xs_3)' with input shapes: [2], [1], [],
    [].
static_draw([2], [1], [2], [1])
    ValueError: Shape must be rank 0 but is rank 1 for '{{node StatelessRandomNormalV2}} =
    StatelessRandomNormalV2[Tshape=DT_INT32, dtype=DT_FLOAT](xs_0, xs_1, xs_2, xs_3)' with input shapes: [2], [1], [2],
    [1].
R.stateless_uniform([2], S, 5, 5.5)
    float32 [2] [5.2414, 5.3601]
R.stateless_uniform([2], S, 0, 5.5)
    float32 [2] [2.655, 3.9616]
R.stateless_uniform([2], S, 0.0, 1.0)
    float32 [2] [0.48272, 0.72029]
R.stateless_uniform([2], S, -1.0, 0.0)
    float32 [2] [-0.51728, -0.27971]
R.stateless_uniform([2], S, tf.constant(2.0), tf.constant(3.0))
    float32 [2] [2.4827, 2.7203]
R.stateless_uniform([2], S, tf.constant(2, tf.int32), 3)
    ValueError
R.stateless_normal([2], S, 0.0, 1.0)
    float32 [2] [-1.1859, -0.22396]
R.stateless_normal([2], S, 0.0, 2.0)
    float32 [2] [-2.3719, -0.44792]
R.stateless_normal([2], S, 3.0, 1.0)
    float32 [2] [1.8141, 2.776]
R.stateless_normal([2], S, tf.constant(3.0), tf.constant(2.0))
    float32 [2] [0.6281, 2.5521]
R.stateless_normal([2], S, 3, 2)
    float32 [2] [0.6281, 2.5521]
R.stateless_normal([2], S, tf.constant(3.0, tf.float64), 2.0)
    ValueError
R.stateless_normal([2], S, dtype=tf.complex64)
    InvalidArgumentError: Value for attr 'dtype' of complex64 is not in the list of allowed values: half, bfloat16,
    float, double
R.stateless_normal([2], S, dtype=tf.string)
    TypeError: Cannot convert 0.0 to EagerTensor of dtype string
R.stateless_truncated_normal([2], S, 3.0, 0.5, tf.float64)
    float64 [2] [2.7308, 3.0438]
R.stateless_gamma([3], S, 2.0, 0.5)
    float32 [3] [3.5645, 6.6703, 5.0823]
R.stateless_gamma([2, 2], S, 2.0, [0.5, 4.0])
    float32 [2, 2] [[3.5645, 0.63529], [6.6703, 1.2082]]
R.stateless_gamma([3], S, [2.0, 3.0], [1.0, 2.0, 3.0])
    InvalidArgumentError: Incompatible shapes: [2] vs. [3]
R.stateless_gamma([3], S, 1e-9)
    float32 [3] [1.1755e-38, 1.1755e-38, 1.1755e-38]
R.stateless_gamma([3], S, 2.0, dtype=tf.float16)
    float16 [3] [1.7822, 3.3359, 2.541]
R.stateless_categorical([[0.0, 1.0]], 4, S, dtype='int32')
    int32 [1, 4] [[1, 1, 1, 1]]
R.stateless_poisson([3], S, 4, tf.float64)
    float64 [3] [7, 2, 3]
R.stateless_binomial([3], S, 5, 1)
    int32 [3] [5, 5, 5]
R.stateless_binomial([2], S, tf.constant([5.0, 6.0], tf.float64), tf.constant(0.5, tf.float64))
    int32 [2] [4, 3]
R.stateless_binomial([2], S, [5, 6], tf.constant(0.5, tf.float64))
    int32 [2] [4, 3]
R.stateless_uniform(tf.TensorShape([2]), S)
    float32 [2] [0.48272, 0.72029]
R.stateless_uniform([tf.constant(2), 1], S)
    float32 [2, 1] [[0.48272], [0.72029]]
R.stateless_uniform(np.int32([2]), S)
    float32 [2] [0.48272, 0.72029]
R.stateless_uniform(np.array([1.5]), S)
    InvalidArgumentError: Value for attr 'Tshape' of double is not in the list of allowed values: int32, int64
R.stateless_uniform([2**40, 2**40], S)
    InvalidArgumentError: Shape [1099511627776,1099511627776] would have more than 2**63 - 1 elements
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())
