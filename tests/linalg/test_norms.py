"""Norms, and tensors scaled by them. TensorFlow gave the outcomes."""

import pytest

import tapeflow as tf
from outcomes import read_rows
from traced_calls import check_row

# ---- outcomes that TensorFlow gave -----------------------------------------------------------------------------------

L, R = tf.linalg, tf.raw_ops
inf, nan = float("inf"), float("nan")


def norm_of(**options):
    return lambda x: tf.norm(x, **options)


def norms(x, *orders, **options):
    return [tf.norm(x, ord=o, **options) for o in orders]


V = tf.constant([3.0, -4.0, 1.0])
X = tf.constant([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]], tf.float64)
CUBE = tf.reshape(tf.range(12.0) * 7 % 11 - 4, [2, 3, 2])
Z = tf.constant([[3 + 4j, 1j], [2, 1 - 1j]])
SLICES = tf.IndexedSlices(tf.constant([[3.0, 4.0]]), tf.constant([1]), tf.constant([4, 2]))

ROWS = read_rows(r"""
norms(V, 'euclidean', 1, 2, 3, 0.5, inf, 1.5)
    (float32 [] 5.099; float32 [] 8; float32 [] 5.099; float32 [] 4.5144; float32 [] 22.392; float32 [] 4; float32 []
    5.8629)
norms(X, 'euclidean', 1, 2, 3, inf)
    (float64 [] 9.5394; float64 [] 21; float64 [] 9.5394; float64 [] 7.6117; float64 [] 6)
norms(X, 'euclidean', 1, 2, 3, inf, axis=0)
    (float64 [3] [4.1231, 5.3852, 6.7082]; float64 [3] [5, 7, 9]; float64 [3] [4.1231, 5.3852, 6.7082]; float64 [3]
    [4.0207, 5.1045, 6.2403]; float64 [3] [4, 5, 6])
norms(X, 'euclidean', 1, 2, 3, inf, axis=-1)
    (float64 [2] [3.7417, 8.775]; float64 [2] [6, 15]; float64 [2] [3.7417, 8.775]; float64 [2] [3.3019, 7.3986];
    float64 [2] [3, 6])
norms(X, 'euclidean', 1, 2, 3, inf, axis=1, keepdims=True)
    (float64 [2, 1] [[3.7417], [8.775]]; float64 [2, 1] [[6], [15]]; float64 [2, 1] [[3.7417], [8.775]]; float64 [2, 1]
    [[3.3019], [7.3986]]; float64 [2, 1] [[3], [6]])
norms(X, 'euclidean', 1, 2, 3, inf, keepdims=True)
    (float64 [1, 1] [[9.5394]]; float64 [1, 1] [[21]]; float64 [1, 1] [[9.5394]]; float64 [1, 1] [[7.6117]]; float64 [1,
    1] [[6]])
norms(X, 'euclidean', 'fro', 1, 2, inf, axis=[0, 1])
    (float64 [] 9.5394; float64 [] 9.5394; float64 [] 9; float64 [] 9.225; float64 [] 15)
norms(X, 'euclidean', 'fro', 1, 2, inf, axis=(1, 0))
    (float64 [] 9.5394; float64 [] 9.5394; float64 [] 15; float64 [] 9.225; float64 [] 9)
norms(X, 'euclidean', 'fro', 1, 2, inf, axis=(-2, -1), keepdims=True)
    (float64 [1, 1] [[9.5394]]; float64 [1, 1] [[9.5394]]; float64 [1, 1] [[9]]; float64 [1, 1] [[9.225]]; float64 [1,
    1] [[15]])
norms(CUBE, 'euclidean', 'fro', 1, 2, inf, axis=(0, 1))
    (float32 [2] [7.4162, 9.0554]; float32 [2] [7.4162, 9.0554]; float32 [2] [9, 10]; float32 [2] [6.7602, 8.7694];
    float32 [2] [8, 11])
norms(CUBE, 'euclidean', 'fro', 1, 2, inf, axis=(2, 0))
    (float32 [3] [7.1414, 7.874, 4.899]; float32 [3] [7.1414, 7.874, 4.899]; float32 [3] [7, 7, 4]; float32 [3] [6.5198,
    7.6589, 4.5765]; float32 [3] [9, 10, 6])
norms(CUBE, 'euclidean', 'fro', 1, 2, inf, axis=(1, 2))
    (float32 [2] [8.3666, 8.1854]; float32 [2] [8.3666, 8.1854]; float32 [2] [11, 9]; float32 [2] [7.8152, 6.3654];
    float32 [2] [7, 7])
norms(CUBE, 'euclidean', 'fro', 1, 2, inf, axis=(0, -1), keepdims=True)
    (float32 [1, 3, 1] [[[7.1414], [7.874], [4.899]]]; float32 [1, 3, 1] [[[7.1414], [7.874], [4.899]]]; float32 [1, 3,
    1] [[[9], [10], [6]]]; float32 [1, 3, 1] [[[6.5198], [7.6589], [4.5765]]]; float32 [1, 3, 1] [[[7], [7], [4]]])
norms(CUBE, 'euclidean', 'fro', 1, 2, inf, axis=(2, 1), keepdims=True)
    (float32 [2, 1, 1] [[[8.3666]], [[8.1854]]]; float32 [2, 1, 1] [[[8.3666]], [[8.1854]]]; float32 [2, 1, 1] [[[7]],
    [[7]]]; float32 [2, 1, 1] [[[7.8152]], [[6.3654]]]; float32 [2, 1, 1] [[[11]], [[9]]])
norms(Z, 'euclidean', 1, 2, 3, inf)
    (complex128 [] 5.6569+0j; float64 [] 9.4142; complex128 [] 5.6569+0j; float64 [] 5.153; float64 [] 5)
norms(Z, 'euclidean', 'fro', 1, 2, inf, axis=(0, 1))
    (complex128 [] 5.6569+0j; complex128 [] 5.6569+0j; float64 [] 7; float64 [] 5.5093; float64 [] 6)
tf.norm(X, axis=[0])
    ValueError: 'axis' must be None, an integer, or a tuple of 2 unique integers, got [0]
tf.norm(X, axis=[0, 1, 2])
    ValueError: 'axis' must be None, an integer, or a tuple of 2 unique integers, got [0, 1, 2]
tf.norm(X, axis=[0, 0])
    ValueError
tf.norm(X, axis=[0, 1.0])
    ValueError
tf.norm(X, axis='a')
    ValueError: 'axis' must be None, an integer, or a tuple of 2 unique integers, got a
tf.norm(X, axis=1.0)
    ValueError: 'axis' must be None, an integer, or a tuple of 2 unique integers, got 1.0
tf.norm(X, axis=2)
    InvalidArgumentError: Invalid reduction dimension (2 for input with 2 dimension(s)
tf.norm(X, axis=(0, 2))
    InvalidArgumentError: Invalid reduction dimension (2 for input with 2 dimension(s)
tf.norm(X, ord=2, axis=(0, 2))
    InvalidArgumentError
tf.norm(X, ord=2, axis=(-3, 1))
    InvalidArgumentError
tf.norm(X, ord='fro')
    ValueError: 'ord' must be a supported vector norm, got fro
tf.norm(X, ord='fro', axis=1)
    ValueError: 'ord' must be a supported vector norm, got fro
tf.norm(X, ord='other')
    ValueError: 'ord' must be a supported vector norm, got other
tf.norm(X, ord=0)
    ValueError: 'ord' must be a supported vector norm, got 0
tf.norm(X, ord=-1)
    ValueError: 'ord' must be a supported vector norm, got -1
tf.norm(X, ord=3, axis=(0, 1))
    ValueError: 'ord' must be a supported matrix norm in ['euclidean', 'fro', 1, 2, inf], got 3
tf.norm(X, ord='other', axis=(0, 1))
    ValueError: 'ord' must be a supported matrix norm in ['euclidean', 'fro', 1, 2, inf], got other
tf.norm(X, ord=0, axis=(0, 1))
    ValueError: 'ord' must be a supported matrix norm in ['euclidean', 'fro', 1, 2, inf], got 0
tf.norm(X, ord=tf.constant(2.0))
    TypeError
tf.norm([3, 4])
    InvalidArgumentError: Value for attr 'T' of int32 is not in the list of allowed values: bfloat16, half, float,
    double, complex64, complex128
tf.norm([3, 4], ord=1)
    int32 [] 7
tf.norm([3, 4], ord=2)
    InvalidArgumentError: Value for attr 'T' of int32 is not in the list of allowed values: bfloat16, half, float,
    double, complex64, complex128
tf.norm(5.0)
    float32 [] 5
tf.norm(tf.zeros([0]))
    float32 [] 0
tf.norm([])
    float32 [] 0
tf.norm(['a'])
    TypeError: Expected numeric or variant tensor, got dtype tf.string.
tf.norm(tf.constant([3.0, 4.0], tf.float16)).dtype
    tf.float16
static(norm_of(), [2,3])
    '()'
static(norm_of(), None)
    '<unknown>'
static(norm_of(axis=0), [2,None])
    '(None,)'
static(norm_of(axis=0, keepdims=True), [2,None])
    '(1, None)'
static(norm_of(axis=0), None)
    '<unknown>'
static(norm_of(ord=1), None)
    '<unknown>'
static(norm_of(ord=2, axis=(0, 1)), [2,3,4])
    '(None,)'
static(norm_of(ord=2, axis=(0, 1), keepdims=True), [2,3,4])
    '(None, None, None)'
static(norm_of(ord=1, axis=(0, 1)), [2,3,4])
    '(4,)'
static(norm_of(ord=inf, axis=(0, 1)), [2,3,4])
    '(4,)'
unranked(norm_of(), X)
    float64 [] 9.5394
unranked(norm_of(ord=1), X)
    float64 [] 21
unranked(norm_of(keepdims=True), X)
    float64 [1, 1] [[9.5394]]
unranked(norm_of(axis=1), X)
    float64 [2] [3.7417, 8.775]
unranked(norm_of(ord=2, axis=(0, 1)), CUBE)
    float32 [2] [6.7602, 8.7694]
unranked(norm_of(ord=2, axis=(-1, 0), keepdims=True), CUBE)
    float32 [1, 3, 1] [[[6.5198], [7.6589], [4.5765]]]
unranked(norm_of(ord=1, axis=(-1, 0)), CUBE)
    float32 [3] [7, 7, 4]
sized(norm_of(ord=2, axis=(0, 1), keepdims=True), CUBE)
    float32 [1, 1, 2] [[[6.7602, 8.7694]]]
grad(norm_of(), V)
    float32 [3] [0.58835, -0.78446, 0.19612]
grad(norm_of(axis=1), X)
    float64 [2, 3] [[0.26726, -0.53452, 0.80178], [0.45584, 0.5698, -0.68376]]
grad(norm_of(ord=1, axis=(0, 1)), X)
    float64 [2, 3] [[0, -0, 1], [0, 0, -1]]
grad(norm_of(ord=inf, axis=(0, 1)), X)
    float64 [2, 3] [[0, -0, 0], [1, 1, -1]]
grad(norm_of(ord=2, axis=(0, 1)), X)
    float64 [2, 3] [[-0.1203, -0.18641, 0.23035], [0.3564, 0.55226, -0.68242]]
grad(norm_of(ord=3), V)
    float32 [3] [0.44162, -0.78511, 0.049069]
grad(norm_of(), Z)
    complex128 [2, 2] [[0.53033+0.70711j, 0+0.17678j], [0.35355+0j, 0.17678-0.17678j]]
L.normalize([3.0, 4.0])
    (float32 [2] [0.6, 0.8]; float32 [1] [5])
L.normalize(X)
    (float64 [2, 3] [[0.10483, -0.20966, 0.31449], [0.41931, 0.52414, -0.62897]]; float64 [1, 1] [[9.5394]])
L.normalize(X, axis=1)
    (float64 [2, 3] [[0.26726, -0.53452, 0.80178], [0.45584, 0.5698, -0.68376]]; float64 [2, 1] [[3.7417], [8.775]])
L.normalize(X, ord=1, axis=0)
    (float64 [2, 3] [[0.2, -0.28571, 0.33333], [0.8, 0.71429, -0.66667]]; float64 [1, 3] [[5, 7, 9]])
L.normalize(X, ord='fro', axis=(0, 1))
    (float64 [2, 3] [[0.10483, -0.20966, 0.31449], [0.41931, 0.52414, -0.62897]]; float64 [1, 1] [[9.5394]])
L.normalize(X, ord=inf)
    (float64 [2, 3] [[0.16667, -0.33333, 0.5], [0.66667, 0.83333, -1]]; float64 [1, 1] [[6]])
L.normalize(X, ord='fro')
    ValueError: 'ord' must be a supported vector norm, got fro
L.normalize(Z)
    (complex128 [2, 2] [[0.53033+0.70711j, 0+0.17678j], [0.35355+0j, 0.17678-0.17678j]]; complex128 [1, 1]
    [[5.6569+0j]])
L.normalize(Z, ord=1)
    (complex128 [2, 2] [[0.31867+0.42489j, 0+0.10622j], [0.21244+0j, 0.10622-0.10622j]]; complex128 [1, 1]
    [[9.4142+0j]])
L.normalize([3, 4])
    InvalidArgumentError: Value for attr 'T' of int32 is not in the list of allowed values: bfloat16, half, float,
    double, complex64, complex128
L.global_norm([[3.0], [[4.0]], None])
    float32 [] 5
L.global_norm([])
    float32 [] 0
L.global_norm([None])
    float32 [] 0
L.global_norm((V, SLICES))
    float32 [] 7.1414
L.global_norm(V)
    TypeError
L.global_norm('ab')
    TypeError: `t_list` should be a sequence of tensors. Received <class 'str'>.
L.global_norm(3.0)
    TypeError: `t_list` should be a sequence of tensors. Received <class 'float'>.
L.global_norm([tf.constant([3.0, 4.0], tf.float64)])
    float64 [] 5
L.global_norm([[3, 4]])
    InvalidArgumentError
tf.clip_by_norm(V, 2.0)
    float32 [3] [1.1767, -1.5689, 0.39223]
tf.clip_by_norm(V, 20.0)
    float32 [3] [3, -4, 1]
tf.clip_by_norm(V, 0.0)
    float32 [3] [0, -0, 0]
tf.clip_by_norm(V, -1.0)
    float32 [3] [0, -0, 0]
tf.clip_by_norm(V, tf.constant(2.0))
    float32 [3] [1.1767, -1.5689, 0.39223]
tf.clip_by_norm(V, tf.constant(-2.0))
    float32 [3] [0, -0, 0]
tf.clip_by_norm(X, 2, axes=0)
    float64 [2, 3] [[0.48507, -0.74278, 0.89443], [1.9403, 1.857, -1.7889]]
tf.clip_by_norm(X, 2, axes=[1])
    float64 [2, 3] [[0.53452, -1.069, 1.6036], [0.91168, 1.1396, -1.3675]]
tf.clip_by_norm(X, 2, axes=[0, 1])
    float64 [2, 3] [[0.20966, -0.41931, 0.62897], [0.83863, 1.0483, -1.2579]]
tf.clip_by_norm(X, [[1.0], [2.0]], axes=[1])
    float64 [2, 3] [[0.26726, -0.53452, 0.80178], [0.91168, 1.1396, -1.3675]]
tf.clip_by_norm(X, np.float64(2))
    float64 [2, 3] [[0.20966, -0.41931, 0.62897], [0.83863, 1.0483, -1.2579]]
tf.clip_by_norm(V, [[1.0]])
    ValueError: Shapes (3,) and (1, 3) are incompatible
tf.clip_by_norm([0.0, 0.0], 1.0)
    float32 [2] [0, 0]
tf.clip_by_norm([3, 4], 1)
    InvalidArgumentError: Value for attr 'T' of int32 is not in the list of allowed values: bfloat16, half, float,
    double, complex64, complex128
tf.clip_by_norm([3, 4], 1.0)
    InvalidArgumentError: Value for attr 'T' of int32 is not in the list of allowed values: bfloat16, half, float,
    double, complex64, complex128
tf.clip_by_norm(SLICES, 2.0).values
    float32 [1, 2] [[1.2, 1.6]]
tf.clip_by_norm(SLICES, 2.0).indices
    int32 [1] [1]
tf.clip_by_norm(SLICES, 2.0).dense_shape
    int32 [2] [4, 2]
tf.clip_by_norm([inf, 1.0], 1.0)
    float32 [2] [nan, 0]
tf.clip_by_norm([nan, 1.0], 1.0)
    float32 [2] [nan, nan]
grad(lambda x: tf.clip_by_norm(x, 2.0), V)
    float32 [3] [0.39223, 0.39223, 0.39223]
grad(lambda x: tf.clip_by_norm(x, 20.0), V)
    float32 [3] [1, 1, 1]
tf.clip_by_global_norm([V, None, 2 * V], 2.0)[0][::2]
    (float32 [3] [0.52623, -0.70165, 0.17541]; float32 [3] [1.0525, -1.4033, 0.35082])
tf.clip_by_global_norm([V, None, 2 * V], 2.0)[1]
    float32 [] 11.402
tf.clip_by_global_norm([V, 2 * V], 200.0)
    ((float32 [3] [3, -4, 1]; float32 [3] [6, -8, 2]); float32 [] 11.402)
tf.clip_by_global_norm([V], 2.0, use_norm=tf.constant(10.0))
    ((float32 [3] [0.6, -0.8, 0.2]); float32 [] 10)
tf.clip_by_global_norm([V], tf.constant(2.0))
    ((float32 [3] [1.1767, -1.5689, 0.39223]); float32 [] 5.099)
tf.clip_by_global_norm([V], 2)
    ((float32 [3] [1.1767, -1.5689, 0.39223]); float32 [] 5.099)
tf.clip_by_global_norm([SLICES, V], 2.0)[0][0].values
    float32 [1, 2] [[0.84017, 1.1202]]
tf.clip_by_global_norm([SLICES, V], 2.0)[0][0].indices
    int32 [1] [1]
tf.clip_by_global_norm((V,), 2.0)
    ((float32 [3] [1.1767, -1.5689, 0.39223]); float32 [] 5.099)
tf.clip_by_global_norm(V, 2.0)
    TypeError
tf.clip_by_global_norm([tf.constant([inf, 1.0])], 1.0)
    ((float32 [2] [nan, nan]); float32 [] inf)
tf.clip_by_global_norm([tf.constant([nan, 1.0]), V], 1.0)
    ((float32 [2] [nan, nan]; float32 [3] [nan, nan, nan]); float32 [] nan)
tf.clip_by_global_norm([tf.constant([3.0, 4.0], tf.float64)], 2.5)
    ((float64 [2] [1.5, 2]); float64 [] 5)
tf.clip_by_global_norm([], 1.0)
    ((); float32 [] 0)
grad(lambda x: tf.clip_by_global_norm([x, 2 * x], 2.0)[0][0], V)
    float32 [3] [0.17541, 0.17541, 0.17541]
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())
