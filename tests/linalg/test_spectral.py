"""Eigenvalues, singular values, pseudo-inverses and ranks. TensorFlow gave the outcomes."""

import numpy as np
import pytest

import tapeflow as tf
from outcomes import read_rows
from traced_calls import check_row

# ---- outcomes that TensorFlow gave -----------------------------------------------------------------------------------

L, R = tf.linalg, tf.raw_ops


def batch(x):
    return tf.stack([x, 2 * x + tf.eye(x.shape[-2], x.shape[-1], dtype=x.dtype)])


def sorted_values(x):
    return tf.constant(np.sort_complex(L.eigvals(x).numpy()))


def singular(x, **options):
    return L.svd(x, compute_uv=False, **options)


def rebuilt(x, **options):
    s, u, v = L.svd(x, **options)
    return L.matmul(u[..., : s.shape[-1]] * s[..., None, :], v[..., : s.shape[-1]], adjoint_b=True)


M = tf.constant([[4.0, 1.0, 2.0], [0.5, 3.0, -1.0], [1.0, 2.0, 5.0]], tf.float64)
W = tf.constant([[1.0, 5.0, 2.0], [2.0, -1.0, 3.0], [3.0, 7.0, 1.0]], tf.float64)
SYMMETRIC = M @ tf.transpose(M)
CM = tf.complex(M, M[::-1] / 2)
HERMITIAN = CM @ L.adjoint(CM)
TALL = tf.constant([[1.0, 2.0], [3.0, -4.0], [5.0, 6.0]], tf.float64)
LOW = tf.constant([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 1.0, 1.0]], tf.float64)
nan, inf = float("nan"), float("inf")

ROWS = read_rows(r"""
L.eigvalsh(SYMMETRIC)
    float64 [3] [7.8474, 11, 42.403]
L.eigvalsh(M)
    float64 [3] [1.7588, 3.5449, 6.6963]
L.eigvalsh(batch(SYMMETRIC))
    float64 [2, 3] [[7.8474, 11, 42.403], [16.695, 23, 85.805]]
L.eigvalsh(HERMITIAN)
    complex128 [3] [9.8092+0j, 13.75+0j, 53.003+0j]
L.eigvalsh([[3.0]])
    float32 [1] [3]
L.eigvalsh(tf.constant([[3 + 1j]]))
    complex128 [1] [3+0j]
L.eigvalsh([[nan]])
    float32 [1] [nan]
L.eigvalsh([[nan, 0.], [0, 1]])
    InvalidArgumentError: Self-adjoint eigen decomposition was not successful. The input might not be valid.
L.eigvalsh([[1., inf], [0, 1]])
    float32 [2] [1, 1]
L.eigvalsh([[1., 0], [inf, 1]])
    InvalidArgumentError: Self-adjoint eigen decomposition was not successful. The input might not be valid.
L.eigvalsh([[1., 2]])
    InvalidArgumentError: Input matrix must be square.
L.eigvalsh([1., 2])
    InvalidArgumentError: Input tensor 0 must have rank >= 2, got 1
L.eigvalsh(tf.zeros([0, 0]))
    float32 [0] []
tf.abs(L.eigh(SYMMETRIC)[1])
    float64 [3, 3] [[0.68404, 0.40825, 0.6045], [0.56976, 0.8165, 0.093311], [0.45548, 0.40825, 0.79112]]
L.eigh(SYMMETRIC)[0]
    float64 [3] [7.8474, 11, 42.403]
L.eigh([[3.0]])
    (float32 [1] [3]; float32 [1, 1] [[1]])
L.eigh(tf.constant([[3 + 1j]]))
    (complex128 [1] [3+0j]; complex128 [1, 1] [[1+0j]])
L.eigh([[nan]])
    (float32 [1] [nan]; float32 [1, 1] [[1]])
tf.abs(L.eigh(M)[1])
    float64 [3, 3] [[0.051045, 0.92277, 0.38195], [0.8428, 0.24499, 0.47924], [0.5358, 0.29744, 0.79022]]
tf.abs(L.eigh(HERMITIAN)[1])
    float64 [3, 3] [[0.64484, 0.40825, 0.64615], [0.56976, 0.8165, 0.093311], [0.50946, 0.40825, 0.75748]]
L.eigh(HERMITIAN)[0]
    complex128 [3] [9.8092+0j, 13.75+0j, 53.003+0j]
L.eigh([[nan, 0.], [0, 1]])
    InvalidArgumentError: Self-adjoint eigen decomposition was not successful. The input might not be valid.
L.eigh([[1., 2]])
    InvalidArgumentError: Input matrix must be square.
static(L.eigh, [5,None,3])
    ('(5, 3)'; '(5, 3, 3)')
static(L.eigh, [2,3])
    ValueError
static(L.eigh, None)
    ('<unknown>'; '<unknown>')
static(L.eigh, [3])
    ValueError
static(L.eigvalsh, [5,None,3])
    '(5, 3)'
static(L.eigvalsh, None)
    '<unknown>'
grad(lambda x: L.eigvalsh(x) * [1., 2, 3], SYMMETRIC)
    float64 [3, 3] [[1.8975, 0, 0], [0.89229, 1.6841, 0], [1.5796, -0.37139, 2.4184]]
grad(lambda x: L.eigvalsh(x) * [1., 2, 3], batch(SYMMETRIC))
    float64 [2, 3, 3] [[[1.8975, 0, 0], [0.89229, 1.6841, 0], [1.5796, -0.37139, 2.4184]], [[1.8975, 0, 0], [0.89229,
    1.6841, 0], [1.5796, -0.37139, 2.4184]]]
grad(lambda x: L.eigh(x)[0] * [1., 2, 3], SYMMETRIC)
    float64 [3, 3] [[1.8975, 0, 0], [0.89229, 1.6841, 0], [1.5796, -0.37139, 2.4184]]
grad(lambda x: L.eigh(x)[1] ** 2 * W, SYMMETRIC)
    float64 [3, 3] [[0.6264, 0, 0], [0.70661, -0.9571, 0], [-0.93714, -0.26047, 0.3307]]
grad(lambda x: tf.abs(L.eigh(x)[1]) * W, HERMITIAN)
    complex128 [3, 3] [[0.52064+0j, 0+0j, 0+0j], [0.50348+0.33828j, -0.85181+0j, 0+0j], [-0.85316+0.15376j,
    -0.020218+0.33286j, 0.33117+0j]]
grad(lambda x: tf.math.real(L.eigh(x)[0]) * [1., 2, 3], HERMITIAN)
    complex128 [3, 3] [[2.0017+0j, 0+0j, 0+0j], [0.63956+0.50547j, 1.6841+0j, 0+0j], [1.5796-0.41672j,
    -0.11865+0.50547j, 2.3142+0j]]
mapped(L.eigvalsh, batch(SYMMETRIC))
    float64 [2, 3] [[7.8474, 11, 42.403], [16.695, 23, 85.805]]
unranked(L.eigvalsh, batch(SYMMETRIC))
    float64 [2, 3] [[7.8474, 11, 42.403], [16.695, 23, 85.805]]
sorted_values(M)
    complex128 [3] [3.1406-0.84608j, 3.1406+0.84608j, 5.7189+0j]
sorted_values(CM)
    complex128 [3] [3.0219-1.7706j, 3.2558+1.9048j, 5.7222+2.8659j]
sorted_values(batch(M)[1])
    complex128 [3] [7.2811-1.6922j, 7.2811+1.6922j, 12.438+0j]
L.eigvals(CM)
    complex128 [3] [3.0219-1.7706j, 3.2558+1.9048j, 5.7222+2.8659j]
L.eigvals(tf.constant([[3 + 0j, 0, 0], [0, -1, 0], [0, 0, 2j]]))
    complex128 [3] [-1+0j, 0+2j, 3+0j]
L.eigvals(tf.constant([[-2 + 0j, 0, 0], [0, 2, 0], [0, 0, 2j]]))
    complex128 [3] [-2+0j, 2+0j, 0+2j]
L.eig(tf.constant([[3 + 0j, 0, 0], [0, -1, 0], [0, 0, 2j]]))[0]
    complex128 [3] [-1+0j, 0+2j, 3+0j]
tf.abs(L.eig(CM)[1])
    float64 [3, 3] [[0.76875, 0.39803, 0.70341], [0.31246, 0.77795, 0.12776], [0.55802, 0.48617, 0.69921]]
L.eig(M)[0].dtype
    tf.complex128
L.eig(tf.cast(M, tf.float32))[0].dtype
    tf.complex64
L.eig(tf.cast(CM, tf.complex64))[1].dtype
    tf.complex64
static(L.eig, [5,None,3])
    ('(5, 3)'; '(5, 3, 3)')
static(L.eig, None)
    ('<unknown>'; '<unknown>')
static(L.eigvals, [5,3,3])
    '(5, 3)'
static(L.eigvals, [2,3])
    ValueError
static(L.eigvals, None)
    '<unknown>'
grad(lambda x: tf.math.real(L.eigvals(x) ** 2), M)
    float64 [3, 3] [[8, 1, 2], [2, 6, 4], [4, -2, 10]]
grad(lambda x: tf.math.real(L.eig(x)[0] ** 3), M)
    float64 [3, 3] [[55.5, 7.5, 30], [33, 22.5, 51], [51, -21, 75]]
grad(lambda x: tf.math.real(tf.reduce_sum(L.eig(x)[0] ** 2)), CM)
    complex128 [3, 3] [[8-1j, 1-0.5j, 2-4j], [2-2j, 6-3j, 4-1j], [4-5j, -2+1j, 10-2j]]
singular(M)
    float64 [3] [6.5117, 3.3166, 2.8013]
singular(TALL)
    float64 [2] [8.2516, 4.7866]
singular(tf.transpose(TALL))
    float64 [2] [8.2516, 4.7866]
singular(batch(M))
    float64 [2, 3] [[6.5117, 3.3166, 2.8013], [13.982, 7.5938, 6.5459]]
singular(CM)
    float64 [3] [7.2803, 3.7081, 3.132]
singular(CM).dtype
    tf.float64
singular(tf.zeros([0, 2]))
    float32 [0] []
singular(tf.zeros([2, 2]))
    float32 [2] [0, 0]
singular([[nan, 0.], [0, 1]])
    float32 [2] [nan, nan]
singular([[inf, 0.], [0, 1]])
    float32 [2] [nan, nan]
singular([[[1., 0], [0, 2]], [[nan, 0], [0, 1]]])
    float32 [2, 2] [[2, 1], [nan, nan]]
singular([1., 2])
    InvalidArgumentError: Input tensor 0 must have rank >= 2, got 1
rebuilt(M)
    float64 [3, 3] [[4, 1, 2], [0.5, 3, -1], [1, 2, 5]]
rebuilt(TALL)
    float64 [3, 2] [[1, 2], [3, -4], [5, 6]]
rebuilt(tf.transpose(TALL), full_matrices=True)
    float64 [2, 3] [[1, 3, 5], [2, -4, 6]]
rebuilt(tf.stack([TALL, 2 * TALL]))
    float64 [2, 3, 2] [[[1, 2], [3, -4], [5, 6]], [[2, 4], [6, -8], [10, 12]]]
[t.shape for t in L.svd(TALL)]
    (TensorShape([2]); TensorShape([3, 2]); TensorShape([2, 2]))
[t.shape for t in L.svd(TALL, full_matrices=True)]
    (TensorShape([2]); TensorShape([3, 3]); TensorShape([2, 2]))
[t.shape for t in L.svd(tf.transpose(TALL))]
    (TensorShape([2]); TensorShape([2, 2]); TensorShape([3, 2]))
[t.shape for t in L.svd(tf.transpose(TALL), True)]
    (TensorShape([2]); TensorShape([2, 2]); TensorShape([3, 3]))
[tf.abs(t) for t in L.svd(TALL)]
    (float64 [2] [8.2516, 4.7866]; float64 [3, 2] [[0.27012, 0.037345], [0.22679, 0.96866], [0.93574, 0.24555]]; float64
    [2, 2] [[0.51728, 0.85581], [0.85581, 0.51728]])
[tf.abs(t) for t in L.svd(CM)]
    (float64 [3] [7.2803, 3.7081, 3.132]; float64 [3, 3] [[0.64615, 0.40825, 0.64484], [0.093311, 0.8165, 0.56976],
    [0.75748, 0.40825, 0.50946]]; float64 [3, 3] [[0.49999, 0.49237, 0.71245], [0.3788, 0.61546, 0.69117], [0.77879,
    0.61546, 0.12121]])
L.svd([[nan, 0.], [0, 1]])
    (float32 [2] [nan, nan]; float32 [2, 2] [[nan, nan], [nan, nan]]; float32 [2, 2] [[nan, nan], [nan, nan]])
[tf.abs(t) for t in L.svd([[[1., 0], [0, 2]], [[nan, 0], [0, 1]]])]
    (float32 [2, 2] [[2, 1], [nan, nan]]; float32 [2, 2, 2] [[[0, 1], [1, 0]], [[nan, nan], [nan, nan]]]; float32 [2, 2,
    2] [[[0, 1], [1, 0]], [[nan, nan], [nan, nan]]])
L.svd(TALL, False, False)
    float64 [2] [8.2516, 4.7866]
static(L.svd, [5,4,3])
    ('(5, 3)'; '(5, 4, 3)'; '(5, 3, 3)')
static(L.svd, [None,3])
    ('(None,)'; '(None, None)'; '(3, None)')
static(L.svd, [3,None])
    ('(None,)'; '(3, None)'; '(None, None)')
static(L.svd, None)
    ('<unknown>'; '<unknown>'; '<unknown>')
static(L.svd, [3])
    ValueError
static(lambda x: L.svd(x, full_matrices=True), [5,4,3])
    ('(5, 3)'; '(5, 4, 4)'; '(5, 3, 3)')
static(lambda x: L.svd(x, full_matrices=True), [None,3])
    ('(None,)'; '(None, None)'; '(3, 3)')
static(lambda x: L.svd(x, compute_uv=False), [5,4,3])
    '(5, 3)'
static(lambda x: L.svd(x, compute_uv=False), None)
    '<unknown>'
grad(lambda x: singular(x) * [1., 2], TALL)
    float64 [3, 2] [[0.075807, 0.26981], [1.5407, -1.1962], [0.90434, 0.54677]]
grad(lambda x: singular(x) * [1., 2, 3], M)
    float64 [3, 3] [[2.1663, -0.68687, -0.28048], [-0.3671, 2.2218, -0.72519], [-0.97999, 0.7416, 1.2843]]
grad(lambda x: singular(x) * [[1., 2, 3], [4, 5, 6]], batch(M))
    float64 [2, 3, 3] [[[2.1663, -0.68687, -0.28048], [-0.3671, 2.2218, -0.72519], [-0.97999, 0.7416, 1.2843]],
    [[5.1326, -0.62945, 0.038895], [-0.34085, 5.1058, -1.6238], [-1.2924, 1.6344, 4.1346]]]
grad(lambda x: L.svd(x)[0] * [1., 2], TALL)
    float64 [3, 2] [[0.075807, 0.26981], [1.5407, -1.1962], [0.90434, 0.54677]]
grad(lambda x: L.svd(x)[1] ** 2 * W[:, :2], TALL)
    float64 [3, 2] [[-0.36968, 0.1126], [-0.25036, -0.49875], [-0.25199, 0.026755]]
grad(lambda x: L.svd(x)[2] ** 2 * W[:2, :2], TALL)
    float64 [3, 2] [[-0.249, 0.17916], [-0.10932, -0.67717], [-0.98995, 0.40995]]
grad(lambda x: L.svd(x)[1] ** 2 * W[:2, :2], tf.transpose(TALL))
    float64 [2, 3] [[-0.249, -0.10932, -0.98995], [0.17916, -0.67717, 0.40995]]
grad(lambda x: L.svd(x)[2] ** 2 * W[:, :2], tf.transpose(TALL))
    float64 [2, 3] [[-0.36968, -0.25036, -0.25199], [0.1126, -0.49875, 0.026755]]
grad(lambda x: L.svd(x)[1] ** 2 * W, M)
    float64 [3, 3] [[4.5384, 1.5098, -3.8899], [1.8917, -6.4655, 2.4603], [-3.7787, -0.15028, 2.6213]]
grad(lambda x: L.svd(x)[2] ** 2 * W, M)
    float64 [3, 3] [[4.0856, 0.83237, -2.8875], [2.5002, -5.6343, 1.5304], [-3.0916, 0.64832, 1.5156]]
mapped(singular, batch(M))
    float64 [2, 3] [[6.5117, 3.3166, 2.8013], [13.982, 7.5938, 6.5459]]
unranked(singular, batch(M))
    float64 [2, 3] [[6.5117, 3.3166, 2.8013], [13.982, 7.5938, 6.5459]]
L.pinv(TALL)
    float64 [2, 3] [[0.010256, 0.15897, 0.10256], [0.032051, -0.12821, 0.070513]]
L.pinv(tf.transpose(TALL))
    float64 [3, 2] [[0.010256, 0.032051], [0.15897, -0.12821], [0.10256, 0.070513]]
L.pinv(LOW)
    float64 [3, 3] [[-0.1, -0.2, 1.3333], [-1.3878e-17, -2.0817e-17, 0.33333], [0.1, 0.2, -0.66667]]
L.pinv(batch(LOW))
    float64 [2, 3, 3] [[[-0.1, -0.2, 1.3333], [-1.3878e-17, -2.0817e-17, 0.33333], [0.1, 0.2, -0.66667]], [[-1,
    -2.7756e-16, 2], [-4, 1, 4], [3.3333, -0.66667, -3.6667]]]
L.pinv(M)
    float64 [3, 3] [[0.28099, -0.016529, -0.1157], [-0.057851, 0.29752, 0.082645], [-0.033058, -0.1157, 0.19008]]
L.pinv(M, rcond=0.5)
    float64 [3, 3] [[0.10702, 0.12838, 0.00013818], [0.11092, 0.15694, -0.029736], [-0.0034602, -0.14036, 0.17037]]
L.pinv(batch(M), rcond=[0.5, 0.1])
    float64 [2, 3, 3] [[[0.10702, 0.12838, 0.00013818], [0.11092, 0.15694, -0.029736], [-0.0034602, -0.14036, 0.17037]],
    [[0.1223, -0.0086331, -0.046043], [-0.021583, 0.13094, 0.031655], [-0.014388, -0.046043, 0.08777]]]
L.pinv(LOW, rcond=1e-20).shape
    TensorShape([3, 3])
L.pinv(TALL, validate_args=True)
    float64 [2, 3] [[0.010256, 0.15897, 0.10256], [0.032051, -0.12821, 0.070513]]
L.pinv([[1., 0], [0, 2], [0, 0]])
    float32 [2, 3] [[1, 0, 0], [0, 0.5, 0]]
L.pinv([[1, 0], [0, 2]])
    TypeError: Input `a` must have `float`-like `dtype` (saw int32).
L.pinv(CM)
    TypeError: Input `a` must have `float`-like `dtype` (saw complex128).
L.pinv([1., 2])
    ValueError: Input `a` must have at least 2 dimensions (saw: 1).
L.pinv(tf.zeros([2, 3]))
    float32 [3, 2] [[0, 0], [0, 0], [0, 0]]
L.pinv(tf.zeros([2, 0]))
    float32 [0, 2] []
static(L.pinv, [5,4,3])
    '(5, 3, 4)'
static(L.pinv, [4,None])
    '(None, 4)'
static(L.pinv, None)
    '<unknown>'
static(L.pinv, [3])
    ValueError: Input `a` must have at least 2 dimensions (saw: 1).
sized(L.pinv, TALL)
    float64 [2, 3] [[0.010256, 0.15897, 0.10256], [0.032051, -0.12821, 0.070513]]
unranked(L.pinv, LOW)
    float64 [3, 3] [[-0.1, -0.2, 1.3333], [-1.3878e-17, -2.0817e-17, 0.33333], [0.1, 0.2, -0.66667]]
grad(lambda x: L.pinv(x) * W[:2], TALL)
    float64 [3, 2] [[0.0043261, 0.0029421], [-0.13679, 0.12733], [-0.12084, 0.016601]]
L.matrix_rank(TALL)
    int32 [] 2
L.matrix_rank(LOW)
    int32 [] 2
L.matrix_rank(batch(LOW))
    int32 [2] [2, 3]
L.matrix_rank(LOW, tol=0.5)
    int32 [] 2
L.matrix_rank(M, tol=3.0)
    int32 [] 2
L.matrix_rank(batch(M), tol=[[3.0], [11.0]])
    int32 [2] [2, 1]
L.matrix_rank([[1, 2], [3, 4]])
    int32 [] 2
L.matrix_rank(tf.constant([[1, 2], [3, 4]]))
    TypeError: Input `a` must have `float`-like `dtype` (saw int32).
L.matrix_rank([[1., 2], [2, 4]])
    int32 [] 1
L.matrix_rank([1., 2])
    ValueError: Input `a` must have at least 2 dimensions (saw: 1).
L.matrix_rank(CM)
    TypeError: Input `a` must have `float`-like `dtype` (saw complex128).
L.matrix_rank(tf.zeros([2, 3]))
    int32 [] 0
L.matrix_rank(tf.zeros([2, 0]))
    int32 [] 0
L.matrix_rank(TALL, validate_args=True)
    int32 [] 2
static(L.matrix_rank, [5,4,3])
    '(5,)'
static(L.matrix_rank, None)
    '<unknown>'
sized(L.matrix_rank, LOW)
    int32 [] 2
unranked(L.matrix_rank, batch(LOW))
    int32 [2] [2, 3]
L.eigvals(tf.constant([[nan, 0.], [0, 1]]))
    InvalidArgumentError: Eigen decomposition was not successful. The input might not be valid.
L.eigvals(tf.constant([[1., inf], [0, 1]]))
    InvalidArgumentError: Eigen decomposition was not successful. The input might not be valid.
L.eigvals(tf.constant([[1., 2]]))
    InvalidArgumentError: Input matrix must be square.
L.eigvals(tf.constant([1., 2]))
    InvalidArgumentError: Input tensor 0 must have rank >= 2, got 1
L.eig(tf.constant([[inf, 0.], [0, 1]]))
    InvalidArgumentError: Eigen decomposition was not successful. The input might not be valid.
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())
