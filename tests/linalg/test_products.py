"""Products of matrices in `vectorized_map`: those of each slice."""

import itertools

import numpy as np
import pytest

import tapeflow as tf
from outcomes import read_rows
from traced_calls import check_row, grad, static


@pytest.mark.parametrize("stacked", ["a", "b", "ab"])
@pytest.mark.parametrize("rows", [3, 1])
@pytest.mark.parametrize(("transpose_a", "transpose_b"), [*itertools.product([False, True], repeat=2)])
def test_products_of_slices(stacked, rows, transpose_a, transpose_b):
    def numbers(name, shape, transposed):
        shape = shape[::-1] if transposed else shape
        random = np.random.default_rng(len(shape) + ord(name))
        return tf.constant(random.normal(size=(5, *shape) if name in stacked else shape), tf.float32)

    a, b = numbers("a", (rows, 4), transpose_a), numbers("b", (4, 2), transpose_b)
    given = [x for name, x in (("a", a), ("b", b)) if name in stacked]

    def product(slices):
        rest = iter(slices)
        x, y = next(rest) if "a" in stacked else a, next(rest) if "b" in stacked else b
        return tf.matmul(x, y, transpose_a, transpose_b)

    got = tf.vectorized_map(product, given)
    want = [product([x[i] for x in given]) for i in range(5)]
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 4), (2, 1, 3, 4)])
@pytest.mark.parametrize(("adj_x", "adj_y"), [*itertools.product([False, True], repeat=2)])
def test_gradients_of_products_in_another_dtype(adj_x, adj_y, shape):
    """They are those of products of what is cast first."""
    random = np.random.default_rng(0)
    x, y = random.normal(size=(2, *shape[-2:])), random.normal(size=(*shape[:-2], shape[-1], 5))
    x, y = x.swapaxes(-1, -2) if adj_x else x, y.swapaxes(-1, -2) if adj_y else y
    x, y, scale = tf.constant(x, tf.float16), tf.constant(y, tf.float16), tf.range(5.0)

    def product(x, y):
        return tf.raw_ops.BatchMatMulV3(x=x, y=y, Tout=tf.float32, adj_x=adj_x, adj_y=adj_y) * scale

    def product_of_wide(x, y):
        return tf.matmul(tf.cast(x, tf.float32), tf.cast(y, tf.float32), adjoint_a=adj_x, adjoint_b=adj_y) * scale

    assert product(x, y).numpy().tolist() == product_of_wide(x, y).numpy().tolist()
    for found, expected in zip(grad(product, x, y), grad(product_of_wide, x, y), strict=True):
        assert found.dtype == tf.float16
        np.testing.assert_allclose(found, expected, rtol=2e-3, atol=2e-3)


# ---- outcomes that TensorFlow gave -----------------------------------------------------------------------------------

L, R = tf.linalg, tf.raw_ops


def ones(*shape, dtype=tf.float32):
    return tf.ones(shape, dtype)


def numbers(*shape, dtype=tf.float32):
    x = tf.cast(tf.reshape(tf.range(int(np.prod(shape))) * 7 % 11 - 4, shape), tf.float64)
    return tf.cast(tf.complex(x, x[..., ::-1] - 1), dtype) if dtype.is_complex else tf.cast(x, dtype)


def static_product(a, b, **options):
    return static(lambda a, b: tf.matmul(a, b, **options), a, b)


def raw(a, b, **options):
    return R.MatMul(a=a, b=b, **options)


def batches(x, y, **options):
    return R.BatchMatMulV2(x=x, y=y, **options)


def wide(x, y, **options):
    return R.BatchMatMulV3(x=tf.cast(x, tf.int8), y=tf.cast(y, tf.int8), Tout=tf.int32, **options)


def product_of(**options):
    return lambda a, b: tf.matmul(a, b, **options)


A, B, C = numbers(2, 3), numbers(3, 4), numbers(2, 4) + 1
BATCH = numbers(2, 2, 3)
CA, CB = numbers(2, 3, dtype=tf.complex64), numbers(3, 2, dtype=tf.complex64) * (1 + 2j)
CBATCH = numbers(2, 2, 3, dtype=tf.complex64)

ROWS = read_rows(r"""
static(raw, [2,3],[3,4])
    '(2, 4)'
static(raw, [2,3],[4,4])
    ValueError: Dimensions must be equal, but are 3 and 4 for '{{node MatMul}} = MatMul[T=DT_FLOAT, grad_a=false,
    grad_b=false, transpose_a=false, transpose_b=false](xs_0, xs_1)' with input shapes: [2,3], [4,4].
static(raw, [None,3],[None,4])
    '(None, 4)'
static(raw, [None,None],[3,None])
    '(None, None)'
static(raw, None,[3,4])
    '(None, 4)'
static(raw, [2,3],None)
    '(2, None)'
static(raw, None,None)
    '(None, None)'
static(raw, [3],[3,4])
    ValueError
static(raw, [2,3],[3])
    ValueError
static(raw, [],[3,4])
    ValueError
static(raw, [2,2,3],[3,4])
    ValueError
static(raw, [2,3],[2,3,4])
    ValueError
static(lambda a, b: raw(a, b, transpose_a=True), [2,3],[2,4])
    '(3, 4)'
static(lambda a, b: raw(a, b, transpose_a=True), [2,3],[3,4])
    ValueError: Dimensions must be equal, but are 2 and 3 for '{{node MatMul}} = MatMul[T=DT_FLOAT, grad_a=false,
    grad_b=false, transpose_a=true, transpose_b=false](xs_0, xs_1)' with input shapes: [2,3], [3,4].
static(lambda a, b: raw(a, b, transpose_b=True), [2,3],[4,3])
    '(2, 4)'
static(lambda a, b: raw(a, b, transpose_b=True), [2,3],[3,4])
    ValueError: Dimensions must be equal, but are 3 and 4 for '{{node MatMul}} = MatMul[T=DT_FLOAT, grad_a=false,
    grad_b=false, transpose_a=false, transpose_b=true](xs_0, xs_1)' with input shapes: [2,3], [3,4].
static(lambda a, b: raw(a, b, transpose_a=True, transpose_b=True), [3,2],[4,3])
    '(2, 4)'
static(lambda a, b: raw(a, b, transpose_a=True, transpose_b=True), [3,2],[3,4])
    ValueError: Dimensions must be equal, but are 3 and 4 for '{{node MatMul}} = MatMul[T=DT_FLOAT, grad_a=false,
    grad_b=false, transpose_a=true, transpose_b=true](xs_0, xs_1)' with input shapes: [3,2], [3,4].
raw(A, B)
    float32 [2, 4] [[25, -22, 19, -17], [-14, 6, 4, 46]]
raw(A, B[:2])
    InvalidArgumentError: Matrix size-incompatible: In[0]: [2,3], In[1]: [2,4]
raw(A, B[0])
    InvalidArgumentError
raw(A[0], B)
    InvalidArgumentError
raw(BATCH, B)
    InvalidArgumentError
raw(tf.transpose(A), B, transpose_a=True)
    float32 [2, 4] [[25, -22, 19, -17], [-14, 6, 4, 46]]
raw(A, tf.transpose(B), transpose_b=True)
    float32 [2, 4] [[25, -22, 19, -17], [-14, 6, 4, 46]]
raw(tf.transpose(A), tf.transpose(B), transpose_a=True, transpose_b=True)
    float32 [2, 4] [[25, -22, 19, -17], [-14, 6, 4, 46]]
raw(A, B, grad_a=True, grad_b=True)
    float32 [2, 4] [[25, -22, 19, -17], [-14, 6, 4, 46]]
raw(CA, CB)
    complex64 [2, 2] [[-22-14j, -51+43j], [-112+21j, 114-17j]]
raw(CA, CA, transpose_a=True)
    complex64 [3, 3] [[39-20j, 7-14j, -3+58j], [7-14j, 8+16j, -2-9j], [-3+58j, -2-9j, -45-10j]]
raw(CA, CA, transpose_b=True)
    complex64 [2, 2] [[-7+38j, 1+12j], [1+12j, 9-52j]]
grad(raw, A, B)
    (float32 [2, 3] [[4, 6, -3], [4, 6, -3]]; float32 [3, 4] [[2, 2, 2, 2], [5, 5, 5, 5], [-3, -3, -3, -3]])
grad(raw, CA, CB)
    (complex64 [2, 3] [[5+5j, -1-13j, 4+2j], [5+5j, -1-13j, 4+2j]]; complex64 [3, 2] [[2+5j, 2+5j], [5-3j, 5-3j],
    [-3+0j, -3+0j]])
grad(lambda a: raw(a, B) * C, A)
    float32 [2, 3] [[66, -7, -3], [-9, 40, -21]]
grad(lambda b: raw(A, b) * C, B)
    float32 [3, 4] [[30, -22, 36, -16], [-3, 10, 12, 25], [-3, -2, -12, -11]]
grad(lambda a, b: raw(a, b, transpose_a=True) * C, tf.transpose(A), B)
    (float32 [3, 2] [[66, -9], [-7, 40], [-3, -21]]; float32 [3, 4] [[30, -22, 36, -16], [-3, 10, 12, 25], [-3, -2, -12,
    -11]])
grad(lambda a, b: raw(a, b, transpose_b=True) * C, A, tf.transpose(B))
    (float32 [2, 3] [[66, -7, -3], [-9, 40, -21]]; float32 [4, 3] [[30, -3, -3], [-22, 10, -2], [36, 12, -12], [-16, 25,
    -11]])
grad(lambda a, b: raw(a, b, transpose_a=True, transpose_b=True) * C, tf.transpose(A), tf.transpose(B))
    (float32 [3, 2] [[66, -9], [-7, 40], [-3, -21]]; float32 [4, 3] [[30, -3, -3], [-22, 10, -2], [36, 12, -12], [-16,
    25, -11]])
grad(lambda a, b: raw(a, b, transpose_a=True) * CA[:, :2], tf.transpose(CA), CB)
    (complex64 [3, 2] [[57-69j, -41-3j], [60-60j, -47-81j], [-36+37j, 46+28j]]; complex64 [3, 2] [[39+20j, 7+14j],
    [7+14j, 8-16j], [-3-58j, -2+9j]])
grad(lambda a, b: raw(a, b, transpose_b=True) * CA[:, :2], CA, tf.transpose(CB))
    (complex64 [2, 3] [[35-55j, 9-103j, -36+37j], [-153-24j, 67-64j, 46+28j]]; complex64 [2, 3] [[39+20j, 7+14j,
    -3-58j], [7+14j, 8-16j, -2+9j]])
grad(lambda a, b: raw(a, b, transpose_a=True, transpose_b=True) * CA[:, :2], tf.transpose(CA), tf.transpose(CB))
    (complex64 [3, 2] [[57-69j, -41-3j], [60-60j, -47-81j], [-36+37j, 46+28j]]; complex64 [2, 3] [[39+20j, 7+14j,
    -3-58j], [7+14j, 8-16j, -2+9j]])
grad(lambda a: raw(a, B, transpose_a=True), tf.transpose(A))
    float32 [3, 2] [[4, 4], [6, 6], [-3, -3]]
grad(lambda b: raw(A, b, transpose_b=True), tf.transpose(B))
    float32 [4, 3] [[2, 5, -3], [2, 5, -3], [2, 5, -3], [2, 5, -3]]
grad(lambda a: raw(a, a, transpose_b=True) * [[1., 2], [3, 4]], A)
    float32 [2, 3] [[22, 16, -12], [28, 31, -21]]
grad(lambda a: raw(a, a, transpose_a=True), A)
    float32 [2, 3] [[-4, -4, -4], [12, 12, 12]]
grad(lambda a: raw(raw(a, a, transpose_b=True) * [[1., 2], [3, 4]], a), A)
    float32 [2, 3] [[30, -22, -30], [408, 258, 42]]
grad(lambda a: raw(a, B) * C + 2 * raw(a, B + 1), A)
    float32 [2, 3] [[82, 13, -1], [7, 60, -19]]
grad(lambda b: raw(A, b) * C + 2 * raw(A + 1, b), B)
    float32 [3, 4] [[38, -14, 44, -8], [11, 24, 26, 39], [-5, -4, -14, -13]]
grad(lambda a, b: tf.reduce_sum(raw(a, b) * C) + tf.reduce_sum(raw(a, b)) + tf.reduce_sum(a) + tf.reduce_sum(b), A, B)
    (float32 [2, 3] [[71, 0, -5], [-4, 47, -23]]; float32 [3, 4] [[33, -19, 39, -13], [3, 16, 18, 31], [-5, -4, -14,
    -13]])
grad(lambda a, b: tf.reduce_sum(raw(a, b)) + tf.reduce_sum(a * a) + tf.reduce_sum(b * b), CA, CB)
    (complex64 [2, 3] [[-3+9j, 5-17j, 2+12j], [17+11j, 3-15j, 0-8j]]; complex64 [3, 2] [[-14+17j, 28+3j], [-17-9j,
    25-23j], [13-2j, -11+6j]])
grad(lambda a: raw(a, B) * C + raw(tf.transpose(a), B, transpose_a=True), A)
    float32 [2, 3] [[70, -1, -6], [-5, 46, -24]]
static(batches, [2,3],[3,4])
    '(2, 4)'
static(batches, [2,3],[4,4])
    ValueError
static(batches, [5,2,3],[3,4])
    '(5, 2, 4)'
static(batches, [2,3],[5,3,4])
    '(5, 2, 4)'
static(batches, [5,2,3],[5,3,4])
    '(5, 2, 4)'
static(batches, [5,2,3],[6,3,4])
    ValueError
static(batches, [5,1,2,3],[6,3,4])
    '(5, 6, 2, 4)'
static(batches, [1,2,3],[6,3,4])
    '(6, 2, 4)'
static(batches, [None,2,3],[6,3,4])
    '(6, 2, 4)'
static(batches, [None,2,3],[1,3,4])
    '(None, 2, 4)'
static(batches, [None,None],[3,None])
    '(None, None)'
static(batches, None,[3,4])
    '<unknown>'
static(batches, [2,3],None)
    '<unknown>'
static(batches, None,[3])
    ValueError
static(batches, [3],None)
    ValueError
static(batches, [3],[3,4])
    ValueError
static(batches, [2,3],[3])
    ValueError
static(lambda x, y: batches(x, y, adj_x=True), [5,2,3],[2,4])
    '(5, 3, 4)'
static(lambda x, y: batches(x, y, adj_x=True), [5,2,3],[3,4])
    ValueError
static(lambda x, y: batches(x, y, adj_y=True), [5,2,3],[4,3])
    '(5, 2, 4)'
static(lambda x, y: batches(x, y, adj_y=True), [5,2,3],[3,4])
    ValueError
static(wide, [5,2,3],[6,1,3,4])
    '(6, 5, 2, 4)'
static(lambda x, y: wide(x, y, adj_x=True), [5,2,3],[2,4])
    '(5, 3, 4)'
static(lambda x, y: wide(x, y, adj_y=True), [5,2,3],[4,3])
    '(5, 2, 4)'
batches(BATCH, B)
    float32 [2, 2, 4] [[[25, -22, 19, -17], [-14, 6, 4, 46]], [[-9, 1, 0, 43], [-4, -4, -4, 40]]]
batches(A, B)
    float32 [2, 4] [[25, -22, 19, -17], [-14, 6, 4, 46]]
batches(BATCH, B[:2])
    InvalidArgumentError: Matrix size-incompatible: In[0]: [2,2,3], In[1]: [2,4]
batches(BATCH, B[0])
    InvalidArgumentError: In[1] ndims must be >= 2: 1
batches(A[0], BATCH)
    InvalidArgumentError: In[0] ndims must be >= 2: 1
batches(BATCH, A, adj_y=True)
    float32 [2, 2, 2] [[[26, -16], [-16, 44]], [[-14, 38], [-12, 32]]]
batches(BATCH, C, adj_x=True)
    float32 [2, 3, 4] [[[30, -22, 36, -16], [-3, 10, 12, 25], [-3, -2, -12, -11]], [[-3, 16, 24, 43], [-3, 4, 0, 7],
    [-3, -8, -24, -29]]]
batches(CBATCH, CA, adj_x=True)
    complex64 [2, 3, 3] [[[65+0j, -7+10j, -13+42j], [-7-10j, 18+0j, -12-1j], [-13-42j, -12+1j, 55+0j]], [[27-8j, 10+36j,
    -18-19j], [-1+4j, 2+4j, -6-7j], [-29+16j, -6-28j, 6+5j]]]
batches(CBATCH, CA, adj_y=True)
    complex64 [2, 2, 2] [[[59+0j, -33-8j], [-33+8j, 79+0j]], [[-26+5j, 70-3j], [-19+2j, 61-6j]]]
batches(CBATCH, CB, adj_x=True, adj_y=True)
    complex64 [2, 3, 3] [[[101-7j, 140-40j, -63+26j], [13+19j, -29-17j, 17-9j], [-53-109j, -44-82j, 20+55j]], [[-7+59j,
    47-49j, 13+19j], [-7+19j, -1+7j, 5-5j], [-7-21j, -49+63j, -3-29j]]]
batches(BATCH, numbers(3, 2, 2))
    InvalidArgumentError: In[0] and In[1] must have compatible batch dimensions: [2,2,3] vs. [3,2,2]
batches(ones(0, 2, 3), B)
    float32 [0, 2, 4] []
batches(ones(2, 0), ones(0, 3))
    float32 [2, 3] [[0, 0, 0], [0, 0, 0]]
grad(batches, BATCH, B)
    (float32 [2, 2, 3] [[[4, 6, -3], [4, 6, -3]], [[4, 6, -3], [4, 6, -3]]]; float32 [3, 4] [[11, 11, 11, 11], [6, 6, 6,
    6], [-10, -10, -10, -10]])
grad(lambda x, y: batches(x, y) * C, BATCH, B)
    (float32 [2, 2, 3] [[[66, -7, -3], [-9, 40, -21]], [[66, -7, -3], [-9, 40, -21]]]; float32 [3, 4] [[27, -6, 60, 27],
    [-6, 14, 12, 32], [-6, -10, -36, -40]])
grad(lambda x, y: batches(x, y) * C, A, numbers(2, 3, 4))
    (float32 [2, 3] [[67, -2, 6], [41, 29, -27]]; float32 [2, 3, 4] [[[30, -22, 36, -16], [-3, 10, 12, 25], [-3, -2,
    -12, -11]], [[30, -22, 36, -16], [-3, 10, 12, 25], [-3, -2, -12, -11]]])
grad(lambda x, y: batches(x, y, adj_x=True) * C, numbers(2, 3, 2), B)
    (float32 [2, 3, 2] [[[66, -9], [-7, 40], [-3, -21]], [[66, -9], [-7, 40], [-3, -21]]]; float32 [3, 4] [[9, 0, 24,
    15], [42, -26, 60, -8], [-24, 14, -36, 2]])
grad(lambda x, y: batches(x, y, adj_y=True) * C, BATCH, tf.transpose(B))
    (float32 [2, 2, 3] [[[66, -7, -3], [-9, 40, -21]], [[66, -7, -3], [-9, 40, -21]]]; float32 [4, 3] [[27, -6, -6],
    [-6, 14, -10], [60, 12, -36], [27, 32, -40]])
grad(lambda x, y: batches(x, y, adj_y=True) * C, BATCH, numbers(2, 4, 3))
    (float32 [2, 2, 3] [[[64, -1, -33], [20, 13, -27]], [[-1, -33, 23], [13, -27, 43]]]; float32 [2, 4, 3] [[[30, -3,
    -3], [-22, 10, -2], [36, 12, -12], [-16, 25, -11]], [[-3, -3, -3], [16, 4, -8], [24, 0, -24], [43, 7, -29]]])
grad(lambda x, y: batches(x, y, adj_x=True, adj_y=True) * C, numbers(2, 3, 2), numbers(1, 4, 3))
    (float32 [2, 3, 2] [[[64, 20], [-1, 13], [-33, -27]], [[64, 20], [-1, 13], [-33, -27]]]; float32 [1, 4, 3] [[[9, 42,
    -24], [0, -26, 14], [24, 60, -36], [15, -8, 2]]])
grad(lambda x, y: batches(x, y) * CA[:, :2], CBATCH, CB)
    (complex64 [2, 2, 3] [[[57-69j, 60-60j, -36+37j], [-41-3j, -47-81j, 46+28j]], [[57-69j, 60-60j, -36+37j], [-41-3j,
    -47-81j, 46+28j]]]; complex64 [3, 2] [[20+56j, 43+22j], [0+22j, 12-16j], [2-78j, -30+1j]])
grad(lambda x, y: batches(x, y, adj_x=True) * CA[:, :2], numbers(2, 3, 2, dtype=tf.complex64), CB)
    (complex64 [2, 3, 2] [[[57+69j, -41+3j], [60+60j, -47+81j], [-36-37j, 46-28j]], [[57+69j, -41+3j], [60+60j,
    -47+81j], [-36-37j, 46-28j]]]; complex64 [3, 2] [[19+0j, 14-2j], [78-46j, 18+10j], [-28+18j, -22-22j]])
grad(lambda x, y: batches(x, y, adj_y=True) * CA[:, :2], CBATCH, CA)
    (complex64 [2, 2, 3] [[[32-21j, -8-3j, 18+37j], [-9-36j, 17+21j, 10-21j]], [[32-21j, -8-3j, 18+37j], [-9-36j,
    17+21j, 10-21j]]]; complex64 [2, 3] [[53-61j, 37-11j, 2+78j], [-9-32j, 152+22j, -30-1j]])
grad(lambda x, y: batches(x, y, adj_x=True, adj_y=True), numbers(2, 3, 2, dtype=tf.complex64), CA)
    (complex64 [2, 3, 2] [[[2+5j, 2+5j], [5-3j, 5-3j], [-3+0j, -3+0j]], [[2+5j, 2+5j], [5-3j, 5-3j], [-3+0j, -3+0j]]];
    complex64 [2, 3] [[5-1j, 6-2j, -4+8j], [5-1j, 6-2j, -4+8j]])
grad(lambda x: batches(x, B), BATCH)
    float32 [2, 2, 3] [[[4, 6, -3], [4, 6, -3]], [[4, 6, -3], [4, 6, -3]]]
grad(lambda y: batches(BATCH, y), B)
    float32 [3, 4] [[11, 11, 11, 11], [6, 6, 6, 6], [-10, -10, -10, -10]]
grad(batches, ones(2, 0, 3), B)
    (float32 [2, 0, 3] [[], []]; float32 [3, 4] [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]])
grad(batches, ones(2, 2, 0), ones(0, 3))
    (float32 [2, 2, 0] [[[], []], [[], []]]; float32 [0, 3] [])
sized(batches, BATCH, B)
    float32 [2, 2, 4] [[[25, -22, 19, -17], [-14, 6, 4, 46]], [[-9, 1, 0, 43], [-4, -4, -4, 40]]]
unranked(batches, BATCH, B)
    float32 [2, 2, 4] [[[25, -22, 19, -17], [-14, 6, 4, 46]], [[-9, 1, 0, 43], [-4, -4, -4, 40]]]
grad(lambda x, y: unranked(batches, x, y) * C, BATCH, B)
    (float32 [2, 2, 3] [[[66, -7, -3], [-9, 40, -21]], [[66, -7, -3], [-9, 40, -21]]]; float32 [3, 4] [[27, -6, 60, 27],
    [-6, 14, 12, 32], [-6, -10, -36, -40]])
grad(lambda x, y: sized(batches, x, y) * C, BATCH, B)
    (float32 [2, 2, 3] [[[66, -7, -3], [-9, 40, -21]], [[66, -7, -3], [-9, 40, -21]]]; float32 [3, 4] [[27, -6, 60, 27],
    [-6, 14, 12, 32], [-6, -10, -36, -40]])
wide(A, B)
    int32 [2, 4] [[25, -22, 19, -17], [-14, 6, 4, 46]]
wide(BATCH, B)
    int32 [2, 2, 4] [[[25, -22, 19, -17], [-14, 6, 4, 46]], [[-9, 1, 0, 43], [-4, -4, -4, 40]]]
wide(A, tf.transpose(B), adj_y=True)
    int32 [2, 4] [[25, -22, 19, -17], [-14, 6, 4, 46]]
wide(tf.transpose(A), B, adj_x=True)
    int32 [2, 4] [[25, -22, 19, -17], [-14, 6, 4, 46]]
tf.matmul(A, B)
    float32 [2, 4] [[25, -22, 19, -17], [-14, 6, 4, 46]]
tf.matmul(BATCH, B)
    float32 [2, 2, 4] [[[25, -22, 19, -17], [-14, 6, 4, 46]], [[-9, 1, 0, 43], [-4, -4, -4, 40]]]
tf.matmul(A, A, transpose_b=True)
    float32 [2, 2] [[26, -16], [-16, 44]]
tf.matmul(A, A, transpose_a=True)
    float32 [3, 3] [[52, 0, -8], [0, 13, -7], [-8, -7, 5]]
tf.matmul(A, A, adjoint_b=True)
    float32 [2, 2] [[26, -16], [-16, 44]]
tf.matmul(A, A, adjoint_a=True)
    float32 [3, 3] [[52, 0, -8], [0, 13, -7], [-8, -7, 5]]
tf.matmul(CA, CA, transpose_a=True)
    complex64 [3, 3] [[39-20j, 7-14j, -3+58j], [7-14j, 8+16j, -2-9j], [-3+58j, -2-9j, -45-10j]]
tf.matmul(CA, CA, transpose_b=True)
    complex64 [2, 2] [[-7+38j, 1+12j], [1+12j, 9-52j]]
tf.matmul(CA, CA, adjoint_a=True)
    complex64 [3, 3] [[65+0j, -7+10j, -13+42j], [-7-10j, 18+0j, -12-1j], [-13-42j, -12+1j, 55+0j]]
tf.matmul(CA, CA, adjoint_b=True)
    complex64 [2, 2] [[59+0j, -33-8j], [-33+8j, 79+0j]]
tf.matmul(CBATCH, CA, transpose_a=True)
    complex64 [2, 3, 3] [[[39-20j, 7-14j, -3+58j], [7-14j, 8+16j, -2-9j], [-3+58j, -2-9j, -45-10j]], [[-19-36j, 36-8j,
    -8+9j], [-7-8j, 4+0j, 4-3j], [5+20j, -28+8j, 16-15j]]]
tf.matmul(CBATCH, CA, transpose_b=True)
    complex64 [2, 2, 2] [[[-7+38j, 1+12j], [1+12j, 9-52j]], [[-2+19j, 6-61j], [-5+26j, 3-70j]]]
tf.matmul(CBATCH, CA, adjoint_a=True)
    complex64 [2, 3, 3] [[[65+0j, -7+10j, -13+42j], [-7-10j, 18+0j, -12-1j], [-13-42j, -12+1j, 55+0j]], [[27-8j, 10+36j,
    -18-19j], [-1+4j, 2+4j, -6-7j], [-29+16j, -6-28j, 6+5j]]]
tf.matmul(CBATCH, CA, adjoint_b=True)
    complex64 [2, 2, 2] [[[59+0j, -33-8j], [-33+8j, 79+0j]], [[-26+5j, 70-3j], [-19+2j, 61-6j]]]
tf.matmul(CA, CBATCH, True, False, False, False)
    complex64 [2, 3, 3] [[[39-20j, 7-14j, -3+58j], [7-14j, 8+16j, -2-9j], [-3+58j, -2-9j, -45-10j]], [[-19-36j, -7-8j,
    5+20j], [36-8j, 4+0j, -28+8j], [-8+9j, 4-3j, 16-15j]]]
tf.matmul(CA, CBATCH, False, True, False, False)
    complex64 [2, 2, 2] [[[-7+38j, 1+12j], [1+12j, 9-52j]], [[-2+19j, -5+26j], [6-61j, 3-70j]]]
tf.matmul(CA, CBATCH, False, False, True, False)
    complex64 [2, 3, 3] [[[65+0j, -7+10j, -13+42j], [-7-10j, 18+0j, -12-1j], [-13-42j, -12+1j, 55+0j]], [[27+8j, -1-4j,
    -29-16j], [10-36j, 2-4j, -6+28j], [-18+19j, -6+7j, 6-5j]]]
tf.matmul(CA, CBATCH, False, False, False, True)
    complex64 [2, 2, 2] [[[59+0j, -33-8j], [-33+8j, 79+0j]], [[-26-5j, -19-2j], [70+3j, 61+6j]]]
tf.matmul(A, B, transpose_a=True, adjoint_a=True)
    ValueError: Only one of `transpose_a` and `adjoint_a` can be True. Received `transpose_a`=True, `adjoint_a`=True.
tf.matmul(A, B, transpose_b=True, adjoint_b=True)
    ValueError: Only one of `transpose_b` and `adjoint_b` can be True. Received `transpose_b`=True, `adjoint_b`=True.
tf.matmul(A, B[0])
    InvalidArgumentError
tf.matmul(A[0], B)
    InvalidArgumentError
tf.matmul(2.0, B)
    InvalidArgumentError
tf.matmul(A, 2.0)
    InvalidArgumentError
tf.matmul(BATCH, B[0])
    InvalidArgumentError: In[1] ndims must be >= 2: 1
tf.matmul(A[0], BATCH)
    InvalidArgumentError: In[0] ndims must be >= 2: 1
tf.matmul(A, A)
    InvalidArgumentError: Matrix size-incompatible: In[0]: [2,3], In[1]: [2,3]
tf.matmul(A, tf.cast(B, tf.float64))
    InvalidArgumentError: cannot compute MatMul as input #1(zero-based) was expected to be a float tensor but is a
    double tensor
tf.matmul(BATCH, tf.cast(B, tf.float64))
    InvalidArgumentError: cannot compute BatchMatMulV2 as input #1(zero-based) was expected to be a float tensor but is
    a double tensor
tf.matmul([[1, 2]], [[3], [4]])
    int32 [1, 1] [[11]]
tf.matmul([[1., 2]], [[3], [4]])
    float32 [1, 1] [[11]]
tf.matmul([[1, 2]], [[3.], [4]])
    InvalidArgumentError: cannot compute MatMul as input #1(zero-based) was expected to be a int32 tensor but is a float
    tensor
tf.matmul(tf.constant([[1, 2]], tf.int64), [[3], [4]])
    int64 [1, 1] [[11]]
tf.matmul(np.float32([[1, 2]]), [[3], [4]])
    float32 [1, 1] [[11]]
tf.matmul([[True]], [[True]])
    InvalidArgumentError: Value for attr 'T' of bool is not in the list of allowed values: bfloat16, half, float,
    double, int32, int64, uint8, uint16, uint32, uint64, complex64, complex128
tf.matmul([['a']], [['a']])
    InvalidArgumentError: Value for attr 'T' of string is not in the list of allowed values: bfloat16, half, float,
    double, int32, int64, uint8, uint16, uint32, uint64, complex64, complex128
tf.matmul(A, B, output_type=tf.float32)
    float32 [2, 4] [[25, -22, 19, -17], [-14, 6, 4, 46]]
tf.matmul(tf.cast(A, tf.int8), tf.cast(B, tf.int8), output_type=tf.int32)
    int32 [2, 4] [[25, -22, 19, -17], [-14, 6, 4, 46]]
tf.matmul(tf.cast(A, tf.bfloat16), B, a_is_sparse=True)
    float32 [2, 4] [[25, -22, 19, -17], [-14, 6, 4, 46]]
tf.matmul(A, tf.cast(B, tf.bfloat16), b_is_sparse=True)
    float32 [2, 4] [[25, -22, 19, -17], [-14, 6, 4, 46]]
tf.matmul(tf.cast(A, tf.bfloat16), B)
    float32 [2, 4] [[25, -22, 19, -17], [-14, 6, 4, 46]]
tf.matmul(A, A, transpose_a=True, a_is_sparse=True)
    float32 [3, 3] [[52, 0, -8], [0, 13, -7], [-8, -7, 5]]
tf.matmul(A, A, transpose_b=True, b_is_sparse=True)
    float32 [2, 2] [[26, -16], [-16, 44]]
tf.matmul(A, A, adjoint_b=True, b_is_sparse=True)
    float32 [2, 2] [[26, -16], [-16, 44]]
tf.matmul(A, A, adjoint_a=True, a_is_sparse=True)
    float32 [3, 3] [[52, 0, -8], [0, 13, -7], [-8, -7, 5]]
tf.matmul(tf.cast(A, tf.bfloat16), tf.cast(B, tf.bfloat16), a_is_sparse=True)
    bfloat16 [2, 4] [[25, -22, 19, -17], [-14, 6, 4, 46]]
tf.matmul(tf.cast(A, tf.float64), tf.cast(B, tf.float64), a_is_sparse=True)
    float64 [2, 4] [[25, -22, 19, -17], [-14, 6, 4, 46]]
tf.matmul(A, B, grad_a=True, grad_b=True)
    float32 [2, 4] [[25, -22, 19, -17], [-14, 6, 4, 46]]
tf.matmul(tf.Variable(A), tf.Variable(B))
    float32 [2, 4] [[25, -22, 19, -17], [-14, 6, 4, 46]]
tf.matmul(A, tf.Variable(B))
    float32 [2, 4] [[25, -22, 19, -17], [-14, 6, 4, 46]]
static_product([2,3],[3,4])
    '(2, 4)'
static_product(None,[3,4])
    '<unknown>'
static_product([2,3],None)
    '<unknown>'
static_product([2,3],[3])
    ValueError
static_product([3],[3,4])
    ValueError
static_product([5,2,3],[3,4])
    '(5, 2, 4)'
static_product([None,2,3],[3,4])
    '(None, 2, 4)'
static_product([2,3],[2,4], transpose_a=True)
    '(3, 4)'
static_product([2,3],[2,4], adjoint_a=True)
    '(3, 4)'
static_product([2,3],[4,3], transpose_b=True)
    '(2, 4)'
static_product([2,3],[4,3], adjoint_b=True)
    '(2, 4)'
static_product([5,3,2],[3,4], transpose_a=True)
    '(5, 2, 4)'
static_product([5,2,3],[4,3], transpose_b=True)
    '(5, 2, 4)'
static_product([5,2,3],[4,3], adjoint_b=True, output_type=tf.float64)
    '(5, 2, 4)'
unranked(tf.matmul, A, B)
    float32 [2, 4] [[25, -22, 19, -17], [-14, 6, 4, 46]]
unranked(product_of(transpose_b=True), CA, CA)
    complex64 [2, 2] [[-7+38j, 1+12j], [1+12j, 9-52j]]
unranked(product_of(transpose_a=True), CA, CA)
    complex64 [3, 3] [[39-20j, 7-14j, -3+58j], [7-14j, 8+16j, -2-9j], [-3+58j, -2-9j, -45-10j]]
unranked(product_of(adjoint_a=True), CA, CA)
    complex64 [3, 3] [[65-0j, -7+10j, -13+42j], [-7-10j, 18-0j, -12-1j], [-13-42j, -12+1j, 55-0j]]
sized(product_of(transpose_b=True), CA, CA)
    complex64 [2, 2] [[-7+38j, 1+12j], [1+12j, 9-52j]]
sized(product_of(transpose_a=True), CA, CA)
    complex64 [3, 3] [[39-20j, 7-14j, -3+58j], [7-14j, 8+16j, -2-9j], [-3+58j, -2-9j, -45-10j]]
sized(product_of(adjoint_b=True), CA, CA)
    complex64 [2, 2] [[59+0j, -33-8j], [-33+8j, 79+0j]]
sized(product_of(adjoint_a=True), CA, CA)
    complex64 [3, 3] [[65+0j, -7+10j, -13+42j], [-7-10j, 18+0j, -12-1j], [-13-42j, -12+1j, 55+0j]]
sized(product_of(adjoint_a=True), CBATCH, CA)
    complex64 [2, 3, 3] [[[65+0j, -7+10j, -13+42j], [-7-10j, 18+0j, -12-1j], [-13-42j, -12+1j, 55+0j]], [[27-8j, 10+36j,
    -18-19j], [-1+4j, 2+4j, -6-7j], [-29+16j, -6-28j, 6+5j]]]
grad(product_of(transpose_b=True), CA, CA)
    (complex64 [2, 3] [[4+10j, 10-6j, -6+0j], [4+10j, 10-6j, -6+0j]]; complex64 [2, 3] [[4+10j, 10-6j, -6+0j], [4+10j,
    10-6j, -6+0j]])
grad(product_of(adjoint_a=True), CA, CA)
    (complex64 [2, 3] [[-4-10j, -4-10j, -4-10j], [12+6j, 12+6j, 12+6j]]; complex64 [2, 3] [[-4-10j, -4-10j, -4-10j],
    [12+6j, 12+6j, 12+6j]])
grad(product_of(transpose_a=True), CBATCH, CA)
    (complex64 [2, 2, 3] [[[-2+5j, -2+5j, -2+5j], [6-3j, 6-3j, 6-3j]], [[-2+5j, -2+5j, -2+5j], [6-3j, 6-3j, 6-3j]]];
    complex64 [2, 3] [[1+5j, 1+5j, 1+5j], [6+0j, 6+0j, 6+0j]])
mapped(tf.matmul, CBATCH, tf.stack([CB, CB]))
    complex64 [2, 2, 2] [[[-22-14j, -51+43j], [-112+21j, 114-17j]], [[-103+34j, 103-44j], [-94+47j, 92-71j]]]
mapped(lambda a: tf.matmul(a, CB), CBATCH)
    complex64 [2, 2, 2] [[[-22-14j, -51+43j], [-112+21j, 114-17j]], [[-103+34j, 103-44j], [-94+47j, 92-71j]]]
mapped(lambda b: tf.matmul(CB, b), CBATCH)
    complex64 [2, 3, 3] [[[101+7j, 13-19j, -53+109j], [140+40j, -29+17j, -44+82j], [-63-26j, 17+9j, 20-55j]], [[-7-59j,
    -7-19j, -7+21j], [47+49j, -1-7j, -49-63j], [13-19j, 5+5j, -3+29j]]]
mapped(lambda a: tf.matmul(a, CA, transpose_a=True), CBATCH)
    complex64 [2, 3, 3] [[[39-20j, 7-14j, -3+58j], [7-14j, 8+16j, -2-9j], [-3+58j, -2-9j, -45-10j]], [[-19-36j, 36-8j,
    -8+9j], [-7-8j, 4+0j, 4-3j], [5+20j, -28+8j, 16-15j]]]
mapped(lambda a: tf.matmul(a, CA, transpose_b=True), CBATCH)
    complex64 [2, 2, 2] [[[-7+38j, 1+12j], [1+12j, 9-52j]], [[-2+19j, 6-61j], [-5+26j, 3-70j]]]
mapped(lambda a: tf.matmul(a, CA, adjoint_a=True), CBATCH)
    complex64 [2, 3, 3] [[[65+0j, -7+10j, -13+42j], [-7-10j, 18+0j, -12-1j], [-13-42j, -12+1j, 55+0j]], [[27-8j, 10+36j,
    -18-19j], [-1+4j, 2+4j, -6-7j], [-29+16j, -6-28j, 6+5j]]]
mapped(lambda a: tf.matmul(CA, a, adjoint_b=True), CBATCH)
    complex64 [2, 2, 2] [[[59+0j, -33-8j], [-33+8j, 79+0j]], [[-26-5j, -19-2j], [70+3j, 61+6j]]]
mapped(product_of(transpose_a=True), CBATCH[:, :1], CBATCH[:, :1])
    complex64 [2, 3, 3] [[[12+16j, -8-14j, -6+22j], [-8-14j, 5+12j, 7-17j], [-6+22j, 7-17j, -24+10j]], [[9-40j, 5-4j,
    1+32j], [5-4j, 1+0j, -3+4j], [1+32j, -3+4j, -7-24j]]]
mapped(product_of(transpose_b=True), CBATCH[:, :1], CBATCH[:, :1])
    complex64 [2, 1, 1] [[[-7+38j]], [[3-64j]]]
mapped(product_of(adjoint_b=True), CBATCH, CBATCH)
    complex64 [2, 2, 2] [[[59+0j, -33-8j], [-33+8j, 79+0j]], [[67+0j, 64+3j], [64-3j, 67+0j]]]
mapped(tf.matmul, tf.stack([BATCH, BATCH + 1]), tf.stack([B, B]))
    float32 [2, 2, 2, 4] [[[[25, -22, 19, -17], [-14, 6, 4, 46]], [[-9, 1, 0, 43], [-4, -4, -4, 40]]], [[[20, -17, 23,
    -14], [-19, 11, 8, 49]], [[-14, 6, 4, 46], [-9, 1, 0, 43]]]]
mapped(lambda b: tf.matmul(BATCH, b), tf.stack([B, B + 1]))
    float32 [2, 2, 2, 4] [[[[25, -22, 19, -17], [-14, 6, 4, 46]], [[-9, 1, 0, 43], [-4, -4, -4, 40]]], [[[23, -24, 17,
    -19], [-8, 12, 10, 52]], [[-6, 4, 3, 46], [-4, -4, -4, 40]]]]
mapped(lambda a: tf.matmul(a, tf.stack([B, B + 1])), BATCH)
    float32 [2, 2, 2, 4] [[[[25, -22, 19, -17], [-14, 6, 4, 46]], [[23, -24, 17, -19], [-8, 12, 10, 52]]], [[[-9, 1, 0,
    43], [-4, -4, -4, 40]], [[-6, 4, 3, 46], [-4, -4, -4, 40]]]]
grad(lambda x: mapped(lambda a: tf.matmul(a, B), x) * C, BATCH)
    float32 [2, 2, 3] [[[66, -7, -3], [-9, 40, -21]], [[66, -7, -3], [-9, 40, -21]]]
grad(lambda b: mapped(lambda a: tf.matmul(a, b), BATCH) * C, B)
    float32 [3, 4] [[27, -6, 60, 27], [-6, 14, 12, 32], [-6, -10, -36, -40]]
mapped(lambda a: grad(lambda b: tf.matmul(a, b) * C, B), BATCH)
    float32 [2, 3, 4] [[[30, -22, 36, -16], [-3, 10, 12, 25], [-3, -2, -12, -11]], [[-3, 16, 24, 43], [-3, 4, 0, 7],
    [-3, -8, -24, -29]]]
mapped(lambda b: grad(lambda a: tf.matmul(a, b) * C, A), tf.stack([B, B + 1]))
    float32 [2, 2, 3] [[[66, -7, -3], [-9, 40, -21]], [[74, 1, 5], [1, 50, -11]]]
mapped(lambda a: grad(lambda b: tf.matmul(a, b) * C + tf.matmul(A, b), B), BATCH)
    float32 [2, 3, 4] [[[32, -20, 38, -14], [2, 15, 17, 30], [-6, -5, -15, -14]], [[-1, 18, 26, 45], [2, 9, 5, 12], [-6,
    -11, -27, -32]]]
L.matvec(A, [1., 2, 3])
    float32 [2] [-1, 4]
L.matvec(A, [1., 2], transpose_a=True)
    float32 [3] [8, 7, -5]
L.matvec(CA, tf.constant([1, 1j], tf.complex64), transpose_a=True)
    ValueError: Can't convert Python sequence with mixed types to Tensor.
L.matvec(CA, tf.constant([1, 1j], tf.complex64), adjoint_a=True)
    ValueError: Can't convert Python sequence with mixed types to Tensor.
L.matvec(CA, tf.constant([1, 1j], tf.complex64), True, True)
    ValueError: Can't convert Python sequence with mixed types to Tensor.
L.matvec(BATCH, [1., 2, 3])
    float32 [2, 2] [[-1, 4], [-2, -8]]
L.matvec(A, numbers(2, 3))
    float32 [2, 2] [[26, -16], [-16, 44]]
L.matvec([[1, 2], [3, 4]], [5, 6])
    int32 [2] [17, 39]
L.matvec(A, [1., 2])
    InvalidArgumentError: Matrix size-incompatible: In[0]: [2,3], In[1]: [2,1]
L.matvec(A, 1.0)
    InvalidArgumentError
L.matvec(A[0], [1., 2, 3])
    InvalidArgumentError
L.matvec(tf.cast(A, tf.bfloat16), [1., 2, 3], a_is_sparse=True)
    float32 [2] [-1, 4]
L.matvec(A, tf.constant([1., 2, 3], tf.bfloat16), b_is_sparse=True)
    float32 [2] [-1, 4]
static(L.matvec, [5,2,3],[3])
    '(5, 2)'
static(L.matvec, [2,3],[5,3])
    '(5, 2)'
static(L.matvec, None,[3])
    '<unknown>'
static(L.cross, [3],[3])
    '(3,)'
static(L.cross, [None],[3])
    '(3,)'
static(L.cross, [None],[None])
    '(None,)'
static(L.cross, [2,None],[None,3])
    '(2, 3)'
static(L.cross, None,[5,3])
    '(5, 3)'
static(L.cross, None,None)
    '<unknown>'
static(L.cross, [2],[2])
    ValueError
static(L.cross, [],[])
    ValueError
static(L.cross, [2,3],[3])
    ValueError
static(L.cross, [2,3],[1,3])
    ValueError
L.cross([1, 2, 3], [4, 5, 7])
    int32 [3] [-1, 5, -3]
L.cross(numbers(2, 3), C[:, :3])
    float32 [2, 3] [[4, 3, -7], [10, -42, -12]]
L.cross(numbers(3), numbers(2, 3))
    InvalidArgumentError: Both inputs must be of same shape: [3] vs. [2,3]
L.cross(numbers(1, 3), numbers(2, 3))
    InvalidArgumentError: Both inputs must be of same shape: [1,3] vs. [2,3]
L.cross([1., 2], [3., 4])
    FailedPreconditionError: Cross-products are only defined for 3-element vectors.
L.cross(1., 2.)
    InvalidArgumentError: Input must be at least 1D[]
L.cross(ones(0, 3), ones(0, 3))
    float32 [0, 3] []
L.cross(ones(3, 2), ones(3, 2))
    FailedPreconditionError: Cross-products are only defined for 3-element vectors.
grad(lambda a, b: L.cross(a, b) * [1., 2, 3], [1., 2, 3], [4., 5, 7])
    (float32 [3] [1, -5, 3]; float32 [3] [0, 0, 0])
mapped(L.cross, numbers(2, 3), C[:, :3])
    float32 [2, 3] [[4, 3, -7], [10, -42, -12]]
unranked(L.cross, numbers(2, 3), C[:, :3])
    float32 [2, 3] [[4, 3, -7], [10, -42, -12]]
L.matvec(A, tf.constant([1., 2, 3], tf.bfloat16))
    float32 [2] [-1, 4]
tf.matmul(tf.cast(BATCH, tf.bfloat16), B)
    InvalidArgumentError: cannot compute BatchMatMulV2 as input #1(zero-based) was expected to be a bfloat16 tensor but
    is a float tensor
tf.matmul(A, tf.cast(B, tf.bfloat16), grad_a=True)
    float32 [2, 4] [[25, -22, 19, -17], [-14, 6, 4, 46]]
tf.matmul(A, tf.cast(A, tf.bfloat16), transpose_b=True)
    float32 [2, 2] [[26, -16], [-16, 44]]
tf.matmul(A, tf.cast(A, tf.bfloat16), adjoint_a=True)
    float32 [3, 3] [[52, 0, -8], [0, 13, -7], [-8, -7, 5]]
tf.matmul(tf.cast(A, tf.float16), B)
    InvalidArgumentError: cannot compute MatMul as input #1(zero-based) was expected to be a half tensor but is a float
    tensor
tf.function(tf.matmul)(A, tf.cast(B, tf.bfloat16))
    float32 [2, 4] [[25, -22, 19, -17], [-14, 6, 4, 46]]
tf.matmul(tf.cast(A, tf.int8), tf.cast(B, tf.int8), output_type='int32')
    int32 [2, 4] [[25, -22, 19, -17], [-14, 6, 4, 46]]
tf.matmul(tf.cast(A, tf.int8), tf.cast(A, tf.int8), transpose_a=True, output_type=tf.int32)
    int32 [3, 3] [[52, 0, -8], [0, 13, -7], [-8, -7, 5]]
tf.matmul(tf.cast(A, tf.int8), tf.cast(A, tf.int8), transpose_b=True, output_type=tf.int32)
    int32 [2, 2] [[26, -16], [-16, 44]]
tf.matmul(tf.cast(A, tf.int8), tf.cast(A, tf.int8), adjoint_a=True, output_type=tf.int32)
    int32 [3, 3] [[52, 0, -8], [0, 13, -7], [-8, -7, 5]]
tf.matmul(tf.cast(A, tf.int8), tf.cast(A, tf.int8), adjoint_b=True, output_type=tf.int32)
    int32 [2, 2] [[26, -16], [-16, 44]]
tf.matmul(tf.cast(BATCH, tf.int8), tf.cast(A, tf.int8), transpose_b=True, output_type=tf.int32)
    int32 [2, 2, 2] [[[26, -16], [-16, 44]], [[-14, 38], [-12, 32]]]
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())
