"""Cholesky, LU and QR factorizations: shapes, gradients and errors. TensorFlow gave the outcomes."""

import pytest

import tapeflow as tf
from outcomes import read_rows
from traced_calls import check_row

# ---- outcomes that TensorFlow gave -----------------------------------------------------------------------------------

L, R = tf.linalg, tf.raw_ops


def ones(*shape):
    return tf.ones(shape, tf.float64)


def batch(x):
    return tf.stack([x, 2 * x + tf.eye(x.shape[-2], x.shape[-1], dtype=x.dtype)])


def again(lu, p):
    return L.lu_reconstruct(lu, p)


def qr_product(x, **options):
    q, r = L.qr(x, **options)
    return q @ r


def square_q(x):
    return L.qr(x).q ** 2 * tf.cast(W[:, : x.shape[-1]], x.dtype)


M = tf.constant([[4.0, 1.0, 2.0], [0.5, 3.0, -1.0], [1.0, 2.0, 5.0]], tf.float64)
W = tf.constant([[1.0, 5.0, 2.0], [2.0, -1.0, 3.0], [3.0, 7.0, 1.0]], tf.float64)
SPD = M @ tf.transpose(M)
CM = tf.complex(M, M[::-1] / 2)
HERMITIAN = CM @ L.adjoint(CM)
SWAP = tf.constant([[0.0, 2.0, 1.0], [1.0, 1.0, 3.0], [4.0, 0.0, 2.0]], tf.float64)
LU, P = tf.constant([[4.0, 1.0, 2.0], [0.5, 3.0, -1.0], [0.25, 0.5, 5.0]], tf.float64), tf.constant([2, 0, 1])
RHS = W[:, :2]
nan = float("nan")

ROWS = read_rows(r"""
L.cholesky(SPD)
    float64 [3, 3] [[4.5826, 0, 0], [0.65465, 3.1339, 0], [3.4915, -0.25071, 4.2127]]
L.cholesky(batch(SPD))
    float64 [2, 3, 3] [[[4.5826, 0, 0], [0.65465, 3.1339, 0], [3.4915, -0.25071, 4.2127]], [[6.5574, 0, 0], [0.91499,
    4.5456, 0], [4.88, -0.32231, 6.0895]]]
L.cholesky(HERMITIAN)
    complex128 [3, 3] [[5.3385+0j, 0+0j, 0+0j], [0.6322+0.14049j, 3.5204+0j, 0+0j], [3.7463-0.84293j, 0+0.51392j,
    4.4989+0j]]
L.cholesky([[4., 99], [2, 5]])
    float32 [2, 2] [[2, 0], [1, 2]]
L.cholesky([[-1., 0], [0, 1]])
    float32 [2, 2] [[nan, 4.5827e-41], [nan, nan]]
L.cholesky([[0., 0], [0, 1]])
    float32 [2, 2] [[nan, 4.5827e-41], [nan, nan]]
L.cholesky([[[4., 0], [0, 4]], [[-4, 0], [0, 4]]])
    float32 [2, 2, 2] [[[2, 0], [0, 2]], [[nan, 0], [nan, nan]]]
L.cholesky([[1., 2]])
    InvalidArgumentError: Input matrix must be square.
L.cholesky([1., 2])
    InvalidArgumentError: Input tensor 0 must have rank >= 2, got 1
L.cholesky(ones(0, 0))
    float64 [0, 0] []
L.cholesky(tf.constant([[4., 2], [2, 5]], tf.float32)).dtype
    tf.float32
static(L.cholesky, [5,None,3])
    '(5, 3, 3)'
static(L.cholesky, None)
    '<unknown>'
static(L.cholesky, [2,3])
    ValueError
static(L.cholesky, [3])
    ValueError
grad(lambda x: L.cholesky(x) * W, SPD)
    float64 [3, 3] [[0.14121, -0.63, 0.075996], [-0.63, -0.06944, 1.1263], [0.075996, 1.1263, 0.11869]]
grad(lambda x: L.cholesky(x) * W, batch(SPD))
    float64 [2, 3, 3] [[[0.14121, -0.63, 0.075996], [-0.63, -0.06944, 1.1263], [0.075996, 1.1263, 0.11869]], [[0.090258,
    -0.41716, 0.059394], [-0.41716, -0.054987, 0.77579], [0.059394, 0.77579, 0.082108]]]
grad(L.cholesky, HERMITIAN)
    complex128 [3, 3] [[0.1001+0j, -0.025673-0.0072402j, -0.0015792-0.015732j], [-0.025673+0.0072402j, 0.1444+0j,
    0.14203+0.016224j], [-0.0015792+0.015732j, 0.14203-0.016224j, 0.11114+0j]]
mapped(L.cholesky, batch(SPD))
    float64 [2, 3, 3] [[[4.5826, 0, 0], [0.65465, 3.1339, 0], [3.4915, -0.25071, 4.2127]], [[6.5574, 0, 0], [0.91499,
    4.5456, 0], [4.88, -0.32231, 6.0895]]]
unranked(L.cholesky, SPD)
    float64 [3, 3] [[4.5826, 0, 0], [0.65465, 3.1339, 0], [3.4915, -0.25071, 4.2127]]
grad(lambda x: unranked(lambda y: L.cholesky(y) * W, x), SPD)
    float64 [3, 3] [[0.14121, -0.63, 0.075996], [-0.63, -0.06944, 1.1263], [0.075996, 1.1263, 0.11869]]
static(L.qr, [4,3])
    ('(4, 3)'; '(3, 3)')
static(L.qr, [3,4])
    ('(3, 3)'; '(3, 4)')
static(L.qr, [5,4,3])
    ('(5, 4, 3)'; '(5, 3, 3)')
static(L.qr, [None,3])
    ('(None, None)'; '(None, 3)')
static(L.qr, [3,None])
    ('(3, None)'; '(None, None)')
static(L.qr, None)
    ('<unknown>'; '<unknown>')
static(L.qr, [3])
    ValueError
static(lambda x: L.qr(x, full_matrices=True), [4,3])
    ('(4, 4)'; '(4, 3)')
static(lambda x: L.qr(x, full_matrices=True), [3,4])
    ('(3, 3)'; '(3, 4)')
static(lambda x: L.qr(x, full_matrices=True), [None,4])
    ('(None, None)'; '(None, 4)')
qr_product(M)
    float64 [3, 3] [[4, 1, 2], [0.5, 3, -1], [1, 2, 5]]
qr_product(W[:, :2])
    float64 [3, 2] [[1, 5], [2, -1], [3, 7]]
qr_product(W[:2])
    float64 [2, 3] [[1, 5, 2], [2, -1, 3]]
qr_product(W[:, :2], full_matrices=True)
    float64 [3, 2] [[1, 5], [2, -1], [3, 7]]
qr_product(CM)
    complex128 [3, 3] [[4+0.5j, 1+1j, 2+2.5j], [0.5+0.25j, 3+1.5j, -1-0.5j], [1+2j, 2+0.5j, 5+1j]]
[t.shape for t in L.qr(W[:, :2])]
    (TensorShape([3, 2]); TensorShape([2, 2]))
[t.shape for t in L.qr(W[:2])]
    (TensorShape([2, 2]); TensorShape([2, 3]))
[t.shape for t in L.qr(W[:, :2], full_matrices=True)]
    (TensorShape([3, 3]); TensorShape([3, 2]))
[t.shape for t in L.qr(W[:2], True)]
    (TensorShape([2, 2]); TensorShape([2, 3]))
type(L.qr(M)).__name__
    'Qr'
tf.abs(L.qr(M).q)
    float64 [3, 3] [[0.96309, 0.22555, 0.14694], [0.12039, 0.84912, 0.5143], [0.24077, 0.47763, 0.84493]]
tf.abs(L.qr(M).r)
    float64 [3, 3] [[4.1533, 1.8058, 3.0096], [0, 3.2771, 1.0879], [0, 0, 4.445]]
tf.abs(L.qr(batch(M)).r)
    float64 [2, 3, 3] [[[4.1533, 1.8058, 3.0096], [0, 3.2771, 1.0879], [0, 0, 4.445]], [[9.2736, 3.5585, 6.0386], [0,
    7.5058, 2.1998], [0, 0, 9.9848]]]
tf.abs(L.qr(CM).r)
    float64 [3, 3] [[4.6435, 2.0189, 3.3649], [0, 3.6639, 1.2163], [0, 0, 4.9697]]
tf.abs(L.qr(W[:, :2], full_matrices=True).r)
    float64 [3, 2] [[3.7417, 6.4143], [0, 5.8187], [0, 0]]
L.qr([1., 2])
    InvalidArgumentError: Input tensor 0 must have rank >= 2, got 1
grad(lambda x: L.qr(x).q ** 2 * W, M)
    float64 [3, 3] [[0.045498, -0.38272, 4.9953e-17], [0.72383, -1.3395, -3.9963e-16], [-0.54391, 2.2006, -9.9907e-17]]
grad(lambda x: L.qr(x).r ** 2 * W, M)
    float64 [3, 3] [[3.9298, 18.002, 8.8156], [12.186, -6.4271, 2.4198], [12.688, 6.2048, 13.528]]
grad(lambda x: L.qr(x).r ** 2 * W[:2, :2], W[:, :2])
    float64 [3, 2] [[69.592, 10.571], [-87.102, 43.143], [44.204, 47.714]]
grad(lambda x: L.qr(x).q ** 2 * W[:, 1:], W[:, :2])
    float64 [3, 2] [[0.31574, -0.031779], [-1.8358, -0.014955], [1.1186, 0.020563]]
grad(lambda x: L.qr(x).r ** 2 * W[:2], W[:2])
    float64 [2, 3] [[32.4, -2.8, 8.8], [-11.2, 16.4, 11.6]]
grad(lambda x: L.qr(x).q ** 2 * W[:2, :2], W[:2])
    float64 [2, 3] [[-2.24, 7.2219e-16, 0], [1.12, 3.611e-16, 0]]
grad(lambda x: L.qr(x, full_matrices=True).r ** 2 * W[:2], W[:2])
    float64 [2, 3] [[32.4, -2.8, 8.8], [-11.2, 16.4, 11.6]]
grad(lambda x: L.qr(x, full_matrices=True).r, W[:, :2])
    NotImplementedError: QrGrad not implemented when nrows > ncols and full_matrices is true. Received r.shape=(3, 2)
    with nrows=3and ncols=2.
grad(lambda x: L.qr(x).r ** 2 * W, batch(M))
    float64 [2, 3, 3] [[[3.9298, 18.002, 8.8156], [12.186, -6.4271, 2.4198], [12.688, 6.2048, 13.528]], [[10.639, 35.76,
    18.017], [26.027, -14.777, 5.0589], [25.11, 11.468, 28.394]]]
mapped(lambda x: tf.abs(L.qr(x).r), batch(M))
    float64 [2, 3, 3] [[[4.1533, 1.8058, 3.0096], [0, 3.2771, 1.0879], [0, 0, 4.445]], [[9.2736, 3.5585, 6.0386], [0,
    7.5058, 2.1998], [0, 0, 9.9848]]]
unranked(lambda x: tf.abs(L.qr(x).r), M)
    float64 [3, 3] [[4.1533, 1.8058, 3.0096], [0, 3.2771, 1.0879], [0, 0, 4.445]]
L.lu(SWAP)
    (float64 [3, 3] [[4, 0, 2], [0, 2, 1], [0.25, 0.5, 2]]; int32 [3] [2, 0, 1])
L.lu(M)
    (float64 [3, 3] [[4, 1, 2], [0.125, 2.875, -1.25], [0.25, 0.6087, 5.2609]]; int32 [3] [0, 1, 2])
L.lu(CM)
    (complex128 [3, 3] [[4+0.5j, 1+1j, 2+2.5j], [0.13077+0.046154j, 2.9154+1.3231j, -1.1462-0.91923j],
    [0.30769+0.46154j, 0.57786-0.3546j, 6.5267-0.56754j]]; int32 [3] [0, 1, 2])
L.lu(batch(SWAP))
    (float64 [2, 3, 3] [[[4, 0, 2], [0, 2, 1], [0.25, 0.5, 2]], [[8, 0, 5], [0.125, 4, 1.375], [0.25, 0.75, 3.7188]]];
    int32 [2, 3] [[2, 0, 1], [2, 0, 1]])
L.lu(batch(CM))
    (complex128 [2, 3, 3] [[[4+0.5j, 1+1j, 2+2.5j], [0.13077+0.046154j, 2.9154+1.3231j, -1.1462-0.91923j],
    [0.30769+0.46154j, 0.57786-0.3546j, 6.5267-0.56754j]], [[9+1j, 2+2j, 4+5j], [0.11585+0.042683j, 6.8537+2.6829j,
    -2.25-1.75j], [0.26829+0.41463j, 0.52499-0.25889j, 13.634-0.66378j]]]; int32 [2, 3] [[0, 1, 2], [0, 1, 2]])
L.lu(SWAP, output_idx_type=tf.int64)
    (float64 [3, 3] [[4, 0, 2], [0, 2, 1], [0.25, 0.5, 2]]; int64 [3] [2, 0, 1])
L.lu(SWAP, tf.int64).p.dtype
    tf.int64
type(L.lu(M)).__name__
    'Lu'
L.lu([[1., 2], [2, 4]])
    InvalidArgumentError: Input is not invertible.
L.lu([[0., 0], [0, 1]])
    InvalidArgumentError: Input is not invertible.
L.lu([[nan, 1], [1, 1.]])
    InvalidArgumentError: Input is not invertible.
L.lu([[1., 2]])
    InvalidArgumentError: Input matrix must be square.
L.lu([1., 2])
    InvalidArgumentError
L.lu(tf.constant([[3 + 3j, 4], [5, 1]]))
    (complex128 [2, 2] [[5+0j, 1+0j], [0.6+0.6j, 3.4-0.6j]]; int32 [2] [1, 0])
L.lu(tf.constant([[3 + 3j, 4, 1j], [5, 1, 2], [4 + 4j, 2, 7]]))
    (complex128 [3, 3] [[4+4j, 2+0j, 7+0j], [0.75+0j, 2.5+0j, -5.25+1j], [0.625-0.625j, -0.1+0.5j, -2.4+7.1j]]; int32
    [3] [2, 0, 1])
L.lu(tf.constant([[2j]]))
    (complex128 [1, 1] [[0+2j]]; int32 [1] [0])
L.lu(tf.constant([[1 + 0j, 2, 3, 1], [2j, 1, 1, 4], [5, 2, 1j, 1], [1, 1, 7, 2]]))
    (complex128 [4, 4] [[5+0j, 2+0j, 0+1j, 1+0j], [0.2+0j, 1.6+0j, 3-0.2j, 0.8+0j], [0.2+0j, 0.375+0j, 5.875-0.125j,
    1.5+0j], [0+0.4j, 0.625-0.5j, -0.069683+0.27511j, 3.6045-0.41267j]]; int32 [4] [2, 0, 3, 1])
L.lu(tf.zeros([0, 0], tf.complex64))
    (complex64 [0, 0] []; int32 [0] [])
L.lu(ones(0, 0))
    (float64 [0, 0] []; int32 [0] [])
static(L.lu, [5,None,3])
    ('(5, 3, 3)'; '(5, 3)')
static(L.lu, None)
    ('<unknown>'; '<unknown>')
static(L.lu, [2,3])
    ValueError
static(L.lu, [3])
    ValueError
mapped(lambda x: L.lu(x).lu, batch(SWAP))
    float64 [2, 3, 3] [[[4, 0, 2], [0, 2, 1], [0.25, 0.5, 2]], [[8, 0, 5], [0.125, 4, 1.375], [0.25, 0.75, 3.7188]]]
again(*L.lu(SWAP))
    float64 [3, 3] [[0, 2, 1], [1, 1, 3], [4, 0, 2]]
again(*L.lu(batch(SWAP)))
    float64 [2, 3, 3] [[[0, 2, 1], [1, 1, 3], [4, 0, 2]], [[1, 4, 2], [2, 3, 6], [8, 0, 5]]]
again(LU, P)
    float64 [3, 3] [[2, 3.5, 0], [1, 1.75, 5], [4, 1, 2]]
again(LU, tf.cast(P, tf.int64))
    float64 [3, 3] [[2, 3.5, 0], [1, 1.75, 5], [4, 1, 2]]
again(batch(LU), tf.stack([P, P[::-1]]))
    float64 [2, 3, 3] [[[2, 3.5, 0], [1, 1.75, 5], [4, 1, 2]], [[9, 9, 2], [9, 2, 4], [4.5, 8, 11]]]
again([[1., 2], [3, 4]], [1, 0])
    float32 [2, 2] [[3, 10], [1, 2]]
again([1., 2], [0])
    ValueError: Input `lower_upper` must have at least 2 dimensions.
again(LU, 1)
    ValueError
again(batch(LU), P)
    ValueError: `rank(lower_upper)` must equal `rank(perm) + 1`
again(LU, tf.stack([P, P]))
    ValueError: `rank(lower_upper)` must equal `rank(perm) + 1`
again(LU[:2], P[:2])
    ValueError: `lower_upper` must be square.
static(again, [3,3], tf.TensorSpec([3], tf.int32))
    '(3, 3)'
static(again, None, tf.TensorSpec(None, tf.int32))
    '<unknown>'
static(again, [3], tf.TensorSpec(None, tf.int32))
    ValueError: Input `lower_upper` must have at least 2 dimensions.
static(again, [2,3], tf.TensorSpec([3], tf.int32))
    ValueError: `lower_upper` must be square.
static(again, [5,3,3], tf.TensorSpec([5,3], tf.int32))
    '(5, 3, 3)'
static(again, [5,3,3], tf.TensorSpec([3], tf.int32))
    ValueError: `rank(lower_upper)` must equal `rank(perm) + 1`
sized(again, LU, P)
    float64 [3, 3] [[2, 3.5, 0], [1, 1.75, 5], [4, 1, 2]]
unranked(again, LU, P)
    float64 [3, 3] [[2, 3.5, 0], [1, 1.75, 5], [4, 1, 2]]
unranked(again, batch(LU), tf.stack([P, P[::-1]]))
    float64 [2, 3, 3] [[[2, 3.5, 0], [1, 1.75, 5], [4, 1, 2]], [[9, 9, 2], [9, 2, 4], [4.5, 8, 11]]]
grad(lambda x: again(x, P) * W, LU)
    float64 [3, 3] [[4, 9.25, 2.75], [13, 4.5, 3.5], [13, -6, 3]]
L.lu_reconstruct(LU, P, validate_args=True)
    float64 [3, 3] [[2, 3.5, 0], [1, 1.75, 5], [4, 1, 2]]
L.lu_reconstruct(LU, [0, 0, 1], validate_args=True)
    InvalidArgumentError
L.lu_reconstruct(LU, [1, 2, 3], validate_args=True)
    InvalidArgumentError
L.lu_solve(LU, P, RHS)
    float64 [3, 2] [[0.61667, 2.0333], [-0.066667, 0.26667], [0.3, -0.7]]
L.lu_solve(LU, P, RHS, validate_args=True)
    float64 [3, 2] [[0.61667, 2.0333], [-0.066667, 0.26667], [0.3, -0.7]]
L.lu_solve(LU, P, [[1], [2], [3]])
    float64 [3, 1] [[0.61667], [-0.066667], [0.3]]
L.lu_solve(batch(LU), tf.stack([P, P[::-1]]), batch(RHS))
    float64 [2, 3, 2] [[[0.61667, 2.0333], [-0.066667, 0.26667], [0.3, -0.7]], [[0.24531, -0.62193], [-0.012987,
    1.6623], [0.45455, 0.31818]]]
L.lu_solve(batch(LU), tf.stack([P, P[::-1]]), RHS)
    float64 [2, 3, 2] [[[0.61667, 2.0333], [-0.066667, 0.26667], [0.3, -0.7]], [[0.11544, -0.37085], [-0.064935,
    0.8961], [0.27273, 0.13636]]]
L.lu_solve(LU, P, RHS[:, 0])
    ValueError: Input `rhs` must have at least 2 dimensions.
L.lu_solve(LU, P, RHS[:2])
    ValueError
L.lu_solve(LU, P, tf.stack([RHS, 2 * RHS]))
    float64 [2, 3, 2] [[[0.61667, 2.0333], [-0.066667, 0.26667], [0.3, -0.7]], [[1.2333, 4.0667], [-0.13333, 0.53333],
    [0.6, -1.4]]]
L.lu_solve([[2., 1], [0.5, 4]], [1, 0], [[1.], [2]])
    float32 [2, 1] [[1], [0]]
unranked(L.lu_solve, LU, P, RHS)
    float64 [3, 2] [[0.61667, 2.0333], [-0.066667, 0.26667], [0.3, -0.7]]
unranked(L.lu_solve, batch(LU), tf.stack([P, P[::-1]]), batch(RHS))
    float64 [2, 3, 2] [[[0.61667, 2.0333], [-0.066667, 0.26667], [0.3, -0.7]], [[0.24531, -0.62193], [-0.012987,
    1.6623], [0.45455, 0.31818]]]
sized(L.lu_solve, batch(LU), tf.stack([P, P[::-1]]), batch(RHS))
    float64 [2, 3, 2] [[[0.61667, 2.0333], [-0.066667, 0.26667], [0.3, -0.7]], [[0.24531, -0.62193], [-0.012987,
    1.6623], [0.45455, 0.31818]]]
static(L.lu_solve, [3,3], tf.TensorSpec([3], tf.int32), [3,2])
    '(3, 2)'
static(L.lu_solve, [3,3], tf.TensorSpec([3], tf.int32), [4,2])
    ValueError
static(L.lu_solve, [3,3], tf.TensorSpec([3], tf.int32), [3])
    ValueError: Input `rhs` must have at least 2 dimensions.
static(L.lu_solve, [5,3,3], tf.TensorSpec([5,3], tf.int32), [5,3,2])
    '(5, 3, 2)'
grad(lambda x, r: L.lu_solve(x, P, r) * RHS, LU, RHS)
    (float64 [3, 3] [[-2.6958, -0.31667, 0.8], [7.05, 0.23889, -0.7], [-7.1, -0.81667, 0.34]]; float64 [3, 2] [[0.89167,
    0.90833], [0.55, 1.0167], [0.25833, 0.925]])
L.lu_matrix_inverse(LU, P)
    float64 [3, 3] [[-0.025, -0.11667, 0.29167], [0.3, 0.066667, -0.16667], [-0.1, 0.2, 0]]
L.lu_matrix_inverse(LU, P, validate_args=True)
    float64 [3, 3] [[-0.025, -0.11667, 0.29167], [0.3, 0.066667, -0.16667], [-0.1, 0.2, 0]]
L.lu_matrix_inverse(batch(LU), tf.stack([P, P[::-1]]))
    float64 [2, 3, 3] [[[-0.025, -0.11667, 0.29167], [0.3, 0.066667, -0.16667], [-0.1, 0.2, 0]], [[0.01443, 0.11977,
    -0.046176], [0.11688, -0.12987, 0.025974], [-0.090909, 0.045455, 0.090909]]]
L.lu_matrix_inverse([1., 2], [0])
    ValueError: Input `lower_upper` must have at least 2 dimensions.
sized(L.lu_matrix_inverse, LU, P)
    float64 [3, 3] [[-0.025, -0.11667, 0.29167], [0.3, 0.066667, -0.16667], [-0.1, 0.2, 0]]
unranked(L.lu_matrix_inverse, LU, P)
    float64 [3, 3] [[-0.025, -0.11667, 0.29167], [0.3, 0.066667, -0.16667], [-0.1, 0.2, 0]]
grad(lambda x: L.lu_matrix_inverse(x, P) * W, LU)
    float64 [3, 3] [[0.00625, -0.075, -0.225], [-0.75, 0.013889, 0.20833], [-0.16667, -0.53333, -0.088333]]
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())
