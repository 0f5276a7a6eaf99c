"""Tridiagonal and banded equations, beside dense ones in NumPy."""

import numpy as np
import pytest

import tapeflow as tf
from outcomes import read_rows
from traced_calls import check_row, static

DTYPES = [np.float32, np.float64, np.complex64, np.complex128]


def _random(rng, dtype, *shape):
    x = rng.normal(size=shape)
    return (x + 1j * rng.normal(size=shape) if np.dtype(dtype).kind == "c" else x).astype(dtype)


def _assert_solves(matrix, x, rhs):
    error = abs(matrix @ x - rhs).max(initial=0)
    assert error <= 1000 * np.finfo(x.dtype).eps * (1 + abs(matrix).max() * abs(x).max(initial=0))


@pytest.mark.parametrize("dtype", DTYPES)
def test_tridiagonal_solve_against_a_dense_matrix(dtype):
    rng = np.random.default_rng(0)
    for batch, n, k in [((), 2, 1), ((2,), 2, 3), ((2, 3), 5, 1), ((), 40, 50)]:
        bands, rhs = _random(rng, dtype, *batch, 3, n), _random(rng, dtype, *batch, n, k)
        bands[..., 1, ::2] *= 0.01  # pivoting exchanges rows
        matrix = np.zeros((*batch, n, n), dtype)
        for i in range(n):
            matrix[..., i, i] = bands[..., 1, i]
            if i + 1 < n:
                matrix[..., i, i + 1], matrix[..., i + 1, i] = bands[..., 0, i], bands[..., 2, i + 1]
        for diagonals, form in ((bands, "compact"), (matrix, "matrix"), (list(np.moveaxis(bands, -2, 0)), "sequence")):
            x = tf.linalg.tridiagonal_solve(diagonals, rhs, form)
            _assert_solves(matrix, x.numpy(), rhs)
        bands[..., 1, :] += 4
        matrix += 4 * np.eye(n, dtype=dtype)
        _assert_solves(matrix, tf.linalg.tridiagonal_solve(bands, rhs, partial_pivoting=False).numpy(), rhs)


def test_tridiagonal_solve_of_matrices_that_are_singular_or_not_finite():
    bands = np.array([[[1, 1, 0], [1, 1, 2], [0, 1, 0]], [[0, 0, 0], [2, 2, 2], [0, 0, 0]]], np.float32)
    x = tf.linalg.tridiagonal_solve(bands, np.ones((2, 3, 1), np.float32)).numpy()
    assert np.isnan(x[0]).all()  # of the whole matrix
    assert x[1].ravel().tolist() == [0.5, 0.5, 0.5]
    bands[1, 1, 0] = np.nan
    x = tf.linalg.tridiagonal_solve(bands, np.ones((2, 3, 1), np.float32)).numpy()
    assert np.isnan(x[1]).all()
    perturbed = tf.linalg.tridiagonal_solve(bands[:1], np.ones((1, 3, 1), np.float32), perturb_singular=True)
    assert np.isfinite(perturbed.numpy()).all()
    assert tf.linalg.tridiagonal_solve(bands, np.ones((2, 3, 0), np.float32)).shape == [2, 3, 0]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("adjoint", [True, False])
def test_banded_triangular_solve_against_a_dense_matrix(dtype, lower, adjoint):
    rng = np.random.default_rng(0)
    for batch, count, n, k in [((), 1, 1, 1), ((2,), 2, 4, 3), ((2, 1), 5, 5, 1), ((), 6, 4, 2), ((), 3, 40, 50)]:
        bands, rhs = _random(rng, dtype, *batch, count, n), _random(rng, dtype, *batch[::-1], n, k)
        bands[..., 0 if lower else -1, :] += 4
        matrix = np.zeros((*batch, n, n), dtype)
        for d in range(min(count, n)):
            for i in range(n - d):
                if lower:
                    matrix[..., i + d, i] = bands[..., d, i + d]
                else:
                    matrix[..., i, i + d] = bands[..., count - 1 - d, i]
        matrix = matrix.conj().swapaxes(-1, -2) if adjoint else matrix
        x = tf.linalg.banded_triangular_solve(bands, rhs, lower=lower, adjoint=adjoint).numpy()
        _assert_solves(matrix, x, np.broadcast_to(rhs, x.shape))


# ---- outcomes that TensorFlow gave -----------------------------------------------------------------------------------

L, R = tf.linalg, tf.raw_ops


def ones(*shape):
    return tf.ones(shape)


def numbers(*shape, dtype=tf.float32, by=1):
    x = tf.cast(tf.reshape(tf.range(int(np.prod(shape))) * 7 % 11 - 4, shape), tf.float64)
    return tf.complex(x, x[..., ::-1] / 2) if dtype == tf.complex128 else tf.cast(x * by, dtype)


def static_solve(diagonals, rhs):
    return static(lambda d, r: R.TridiagonalSolve(diagonals=d, rhs=r), diagonals, rhs)


def product(above, main, below, rhs):
    return R.TridiagonalMatMul(superdiag=above, maindiag=main, subdiag=below, rhs=rhs)


def static_banded(bands, rhs):
    return static(lambda b, r: R.BandedTriangularSolve(matrix=b, rhs=r), bands, rhs)


def banded(bands, rhs, **options):
    return L.banded_triangular_solve(bands, rhs, **options)


MAIN = tf.constant([[0.0], [1.0], [0.0]], tf.float64) * 30
BANDS, RHS = numbers(3, 4, dtype=tf.float64) + MAIN, numbers(4, 2, dtype=tf.float64)
CBANDS, CRHS = numbers(3, 4, dtype=tf.complex128) + tf.cast(MAIN, tf.complex128), numbers(4, 2, dtype=tf.complex128)
CMATRIX = tf.constant([[8 + 1j, 2j, 5], [3, 9j, 1 - 1j], [7, 1 + 2j, 8]], tf.complex128)
LOWER, UPPER = tf.constant([[2.0, 4.0, 8.0], [9.0, 1.0, 2.0]]), tf.constant([[1.0, 2.0, 9.0], [2.0, 4.0, 8.0]])
CLOWER = tf.complex(LOWER, LOWER[:, ::-1])

ROWS = read_rows(r"""
static_solve([3,4],[4,2])
    '(4, 2)'
static_solve([None,4],[4,2])
    '(4, 2)'
static_solve([3,None],[4,2])
    '(4, 2)'
static_solve([3,4],[None,2])
    '(None, 2)'
static_solve([2,4],[4,2])
    ValueError
static_solve([4],[4,2])
    ValueError: Shape must be at least rank 2 but is rank 1 for '{{node TridiagonalSolve}} =
    TridiagonalSolve[T=DT_FLOAT, partial_pivoting=true, perturb_singular=false](xs_0, xs_1)' with input shapes: [4],
    [4,2].
static_solve([3,4],[4])
    ValueError: Shape must be at least rank 2 but is rank 1 for '{{node TridiagonalSolve}} =
    TridiagonalSolve[T=DT_FLOAT, partial_pivoting=true, perturb_singular=false](xs_0, xs_1)' with input shapes: [3,4],
    [4].
static_solve([3,4],[5,2])
    ValueError
static_solve([5,3,4],[4,2])
    ValueError
static_solve([5,3,4],[5,4,2])
    '(5, 4, 2)'
static_solve([5,3,4],[6,4,2])
    ValueError
static_solve(None,[4,2])
    '(4, 2)'
static_solve([3,4],None)
    '<unknown>'
static_solve(None,[4])
    ValueError
static_solve([4],None)
    ValueError
R.TridiagonalSolve(diagonals=ones(2, 4), rhs=ones(4, 2))
    InvalidArgumentError
R.TridiagonalSolve(diagonals=ones(3, 4), rhs=ones(5, 2))
    InvalidArgumentError
R.TridiagonalSolve(diagonals=ones(3), rhs=ones(5, 2))
    InvalidArgumentError
R.TridiagonalSolve(diagonals=ones(3, 5), rhs=ones(5))
    InvalidArgumentError
R.TridiagonalSolve(diagonals=ones(3, 0), rhs=ones(0, 2))
    float32 [0, 2] []
R.TridiagonalSolve(diagonals=ones(3, 4), rhs=ones(4, 0))
    float32 [4, 0] [[], [], [], []]
R.TridiagonalSolve(diagonals=[[1., 0], [1, 1], [0, 1]], rhs=ones(2, 1), perturb_singular=True).dtype
    tf.float32
R.TridiagonalSolve(diagonals=[[1., 5, 9], [0, 2, 3], [9, 4, 1]], rhs=[[1.], [2], [3]])
    float32 [3, 1] [[-0.83333], [1], [0.66667]]
R.TridiagonalSolve(diagonals=[[1., 5, 9], [0, 2, 3], [9, 4, 1]], rhs=[[1.], [2], [3]], partial_pivoting=False)
    float32 [3, 1] [[nan], [nan], [nan]]
R.TridiagonalSolve(diagonals=[[1., 5, 9], [0, 2, 3], [9, 0, 1]], rhs=[[1.], [2], [3]])
    float32 [3, 1] [[nan], [nan], [nan]]
static(product, [1,4],[1,4],[1,4],[4,2])
    '(4, 2)'
static(product, [2,4],[1,4],[1,4],[4,2])
    ValueError
static(product, [4],[1,4],[1,4],[4,2])
    ValueError: Shape must be at least rank 2 but is rank 1 for '{{node TridiagonalMatMul}} =
    TridiagonalMatMul[T=DT_FLOAT](xs_0, xs_1, xs_2, xs_3)' with input shapes: [4], [1,4], [1,4], [4,2].
static(product, [1,4],[2,4],[1,4],[4,2])
    ValueError
static(product, [1,4],[1,4],[2,4],[4,2])
    ValueError
static(product, [1,5],[1,4],[1,4],[4,2])
    ValueError
static(product, [1,4],[1,5],[1,4],[4,2])
    ValueError
static(product, [1,4],[1,4],[1,5],[4,2])
    ValueError
static(product, [None,4],[1,None],[1,4],[None,2])
    '(None, 2)'
static(product, None,[1,4],[1,4],[4,2])
    '(4, 2)'
static(product, [1,4],[1,4],[1,4],None)
    '<unknown>'
static(product, [1,4],[1,4],[1,4],[4])
    ValueError
static(product, [4],[4],[4],[4])
    ValueError: Shape must be at least rank 2 but is rank 1 for '{{node TridiagonalMatMul}} =
    TridiagonalMatMul[T=DT_FLOAT](xs_0, xs_1, xs_2, xs_3)' with input shapes: [4], [4], [4], [4].
static(product, [3,1,4],[3,1,4],[3,1,4],[3,4,2])
    '(3, 4, 2)'
static(product, [3,1,4],[2,1,4],[3,1,4],[3,4,2])
    ValueError
static(product, [3,1,4],[1,4],[3,1,4],[3,4,2])
    ValueError
product(ones(1, 4), ones(1, 4), ones(1, 4), ones(4, 2))
    float32 [4, 2] [[2, 2], [3, 3], [3, 3], [2, 2]]
product(ones(1, 4), ones(1, 4), ones(1, 4), ones(5, 2))
    InvalidArgumentError
product(ones(1, 4), ones(1, 3), ones(1, 4), ones(4, 2))
    InvalidArgumentError
product(ones(1, 4), ones(1, 4), ones(1, 5), ones(4, 2))
    InvalidArgumentError
product(ones(1, 1, 4), ones(1, 4), ones(1, 4), ones(4, 2))
    InvalidArgumentError: All input tensors must have the same rank.
product(ones(4), ones(4), ones(4), ones(4))
    InvalidArgumentError
static_banded([2,4],[4,3])
    '(4, 3)'
static_banded([2,None],[4,3])
    '(4, 3)'
static_banded([None,4],[None,3])
    '(4, 3)'
static_banded([2,4],[5,3])
    ValueError
static_banded([4],[4,3])
    ValueError
static_banded([2,4],[4])
    ValueError
static_banded(None,[4,3])
    '<unknown>'
static_banded([2,4],None)
    '<unknown>'
static_banded(None,[4])
    ValueError
static_banded([0,4],[4,3])
    ValueError: Number of bands must be positive, but is 0 for '{{node BandedTriangularSolve}} =
    BandedTriangularSolve[T=DT_FLOAT, adjoint=false, lower=true](xs_0, xs_1)' with input shapes: [0,4], [4,3].
static_banded([4,4],[4,3])
    '(4, 3)'
static_banded([5,4],[4,3])
    ValueError: Number of bands 5 cannot exceed the size of the matrix 4 for '{{node BandedTriangularSolve}} =
    BandedTriangularSolve[T=DT_FLOAT, adjoint=false, lower=true](xs_0, xs_1)' with input shapes: [5,4], [4,3].
static_banded([5,None],[None,3])
    '(None, 3)'
static_banded([5,2,4],[1,4,3])
    '(5, 4, 3)'
static_banded([5,2,4],[5,4,3])
    '(5, 4, 3)'
static_banded([5,2,4],[6,4,3])
    ValueError: Dimensions must be equal, but are 5 and 6 for '{{node BandedTriangularSolve}} =
    BandedTriangularSolve[T=DT_FLOAT, adjoint=false, lower=true](xs_0, xs_1)' with input shapes: [5,2,4], [6,4,3].
static_banded([2,4],[6,4,3])
    '(6, 4, 3)'
banded(ones(5, 4), ones(4, 3))
    float32 [4, 3] [[1, 1, 1], [0, 0, 0], [0, 0, 0], [0, 0, 0]]
banded(ones(0, 4), ones(4, 3))
    InvalidArgumentError
banded(ones(2, 4), ones(4, 0))
    InvalidArgumentError
banded(0 * ones(2, 4), ones(4, 1))
    InvalidArgumentError: Input matrix is not invertible.
banded(ones(2, 4), ones(5, 1))
    InvalidArgumentError
banded(ones(4), ones(4, 1))
    InvalidArgumentError: In[0] ndims must be >= 2: 1
banded(ones(2, 4), ones(4))
    InvalidArgumentError: In[1] ndims must be >= 2: 1
banded([[1., 1, 0], [1, 1, 1]], ones(3, 1))
    InvalidArgumentError: Input matrix is not invertible.
banded([[1., 1, 0], [1, 1, 1]], ones(3, 1), lower=False)
    float32 [3, 1] [[1], [0], [1]]
banded([[1., 1, 0], [1, 1, 0]], ones(3, 1), lower=False)
    InvalidArgumentError: Input matrix is not invertible.
banded(LOWER, [[2.], [5], [9]])
    float32 [3, 1] [[1], [1], [0.875]]
banded(LOWER, [[2.], [5], [9]], adjoint=True)
    float32 [3, 1] [[0.65625], [0.6875], [1.125]]
banded(UPPER, [[2.], [5], [9]], lower=False)
    float32 [3, 1] [[0.65625], [0.6875], [1.125]]
banded(UPPER, [[2.], [5], [9]], lower=False, adjoint=True)
    float32 [3, 1] [[1], [1], [0.875]]
banded(LOWER, [[[2.], [5], [9]], [[4.], [2], [1]]])
    float32 [2, 3, 1] [[[1], [1], [0.875]], [[2], [0], [0.125]]]
banded(tf.stack([LOWER, UPPER + 1]), [[2.], [5], [9]])
    float32 [2, 3, 1] [[[1], [1], [0.875]], [[1], [0], [0.9]]]
sized(banded, LOWER, [[2.], [5], [9]])
    float32 [3, 1] [[1], [1], [0.875]]
unranked(banded, LOWER, [[2.], [5], [9]])
    float32 [3, 1] [[1], [1], [0.875]]
mapped(banded, tf.stack([LOWER, UPPER + 1]), tf.ones([2, 3, 1]))
    float32 [2, 3, 1] [[[0.5], [0.125], [0.09375]], [[0.5], [-0.5], [0.55]]]
mapped(lambda b: banded(b, tf.ones([3, 1]), lower=False), tf.stack([LOWER, UPPER + 1]))
    float32 [2, 3, 1] [[[0.33333], [-1], [0.5]], [[0.24444], [0.13333], [0.11111]]]
mapped(lambda r: banded(LOWER, r, adjoint=True), numbers(2, 3, 1))
    float32 [2, 3, 1] [[[-2.4062], [0.8125], [-0.125]], [[2.6875], [0.625], [-0.25]]]
grad(banded, LOWER, [[2.], [5], [9]])
    (float32 [2, 3] [[-0.40625, -0.1875, -0.10938], [0, -0.1875, -0.125]]; float32 [3, 1] [[0.40625], [0.1875],
    [0.125]])
grad(lambda b, r: banded(b, r, adjoint=True), LOWER, [[2., 1], [5, 3], [9, -1]])
    (float32 [2, 3] [[-0.375, -0.1875, -0.09375], [0, -0.75, -0.125]]; float32 [3, 2] [[0.5, 0.5], [0.125, 0.125],
    [0.09375, 0.09375]])
grad(lambda b, r: banded(b, r, lower=False), UPPER, [[2., 1], [5, 3], [9, -1]])
    (float32 [2, 3] [[-0.75, -0.125, 0], [-0.375, -0.1875, -0.09375]]; float32 [3, 2] [[0.5, 0.5], [0.125, 0.125],
    [0.09375, 0.09375]])
grad(lambda b, r: banded(b, r, lower=False, adjoint=True), UPPER, [[2., 1], [5, 3], [9, -1]])
    (float32 [2, 3] [[-0.28125, -0.20312, 0], [-0.60938, -0.30469, -0.074219]]; float32 [3, 2] [[0.40625, 0.40625],
    [0.1875, 0.1875], [0.125, 0.125]])
grad(lambda b, r: banded(b, r, adjoint=True), CLOWER, tf.constant([[2 + 1j], [5], [9j]], tf.complex64))
    (complex64 [2, 3] [[0.053633+0.0068123j, -0.10892+0.11903j, 0.095372+0.065203j], [0+0j, -0.12684+0.023897j,
    0.13235-0.099265j]]; complex64 [3, 1] [[0.029412-0.11765j], [0.11765-0.095588j], [-0.036765-0.099265j]])
grad(banded, CLOWER, tf.constant([[2 + 1j], [5], [9j]], tf.complex64))
    (complex64 [2, 3] [[0.0099481-0.028222j, 0.14384-0.07307j, 0.04801+0.10759j], [0+0j, 0.049632-0.020221j,
    -0.051471-0.084559j]]; complex64 [3, 1] [[0.055147+0.095588j], [-0.0625+0.1875j], [0.11765+0.029412j]])
grad(lambda b: banded(b, ones(3, 1)), LOWER)
    float32 [2, 3] [[-0.20312, -0.023438, -0.011719], [0, -0.09375, -0.015625]]
grad(lambda r: banded(LOWER, r), ones(3, 1))
    float32 [3, 1] [[0.40625], [0.1875], [0.125]]
grad(banded, LOWER, numbers(2, 3, 1))
    (float32 [2, 3] [[-0.40625, -0.1875, 0.078125], [0, -0.1875, -0.125]]; float32 [2, 3, 1] [[[0.40625], [0.1875],
    [0.125]], [[0.40625], [0.1875], [0.125]]])
grad(banded, tf.stack([LOWER, UPPER + 1]), ones(3, 1))
    (float32 [2, 2, 3] [[[-0.20312, -0.023438, -0.011719], [0, -0.09375, -0.015625]], [[-0.20833, 0.016667, -0.055], [0,
    -0.016667, 0.05]]]; float32 [3, 1] [[0.82292], [0.22083], [0.225]])
L.tridiagonal_solve(ones(3, 4), ones(4))
    float32 [4] [1, 0, 0, 1]
L.tridiagonal_solve(ones(2, 4), ones(4))
    ValueError: Expected 3 diagonals got 2
L.tridiagonal_solve(ones(0, 4), ones(4))
    InvalidArgumentError: Expected diagonals to be provided as a matrix with 3 rows, got 0 rows.
L.tridiagonal_solve(ones(4), ones(4))
    ValueError
L.tridiagonal_solve(ones(3, 4), ones(5))
    ValueError: Expected number of left-hand sided and right-hand sides to be equal, got 4 and 5
L.tridiagonal_solve(ones(3, 4), ones(5, 2))
    ValueError: Expected number of left-hand sided and right-hand sides to be equal, got 4 and 5
L.tridiagonal_solve(ones(3, 4), ones(4), transpose_rhs=True)
    float32 [4] [1, 0, 0, 1]
L.tridiagonal_solve(ones(3, 4), ones(4, 2), transpose_rhs=True)
    ValueError: Expected number of left-hand sided and right-hand sides to be equal, got 4 and 2
L.tridiagonal_solve(ones(2, 3, 4), ones(2, 4))
    float32 [2, 4] [[1, 0, 0, 1], [1, 0, 0, 1]]
L.tridiagonal_solve(ones(2, 3, 4), ones(3, 4))
    ValueError: Batch shapes (2,) and (3,) are incompatible
L.tridiagonal_solve(ones(2, 3, 4), ones(3, 4, 1))
    ValueError: Batch shapes (2,) and (3,) are incompatible
L.tridiagonal_solve(ones(3, 4), ones(4), 'other')
    ValueError: Unrecognized diagonals_format: other
L.tridiagonal_solve([ones(4), ones(4)], ones(4), 'sequence')
    ValueError
L.tridiagonal_solve([ones(4), ones(4), ones(4), ones(4)], ones(4), 'sequence')
    ValueError
L.tridiagonal_solve([ones(2), ones(4), ones(4)], ones(4), 'sequence')
    ValueError
L.tridiagonal_solve([ones(5), ones(4), ones(4)], ones(4), 'sequence')
    ValueError
L.tridiagonal_solve([ones(4), ones(4), ones(5)], ones(4), 'sequence')
    ValueError
L.tridiagonal_solve([ones(4), ones(4), ones(2)], ones(4), 'sequence')
    ValueError
L.tridiagonal_solve(ones(3, 4), ones(4), 'matrix')
    ValueError
L.tridiagonal_solve(ones(4), ones(4), 'matrix')
    IndexError: tuple index out of range
L.tridiagonal_solve(tf.constant([[8., 1, 5], [3, 9, 2], [7, 4, 8]]), ones(3), 'matrix')
    float32 [3] [0.11885, 0.04918, 0.10041]
static(lambda d, r: L.tridiagonal_solve(d, r), [3,None],[4])
    '(4,)'
static(lambda d, r: L.tridiagonal_solve(d, r), [None,4],[None])
    '(None,)'
static(lambda d, r: L.tridiagonal_solve(d, r), None,[4,2])
    '(4, 2)'
static(lambda d, r: L.tridiagonal_solve(d, r), [3,4],None)
    '<unknown>'
static(lambda d, r: L.tridiagonal_solve(d, r, 'matrix'), [None,4],[4,2])
    '(4, 2)'
static(lambda d, r: L.tridiagonal_solve(d, r, 'matrix'), [4,None],[4,2])
    '(4, 2)'
static(lambda d, r: L.tridiagonal_solve(d, r, 'matrix'), [3,4],[4,2])
    ValueError
static(lambda d, r: L.tridiagonal_solve(d, r, transpose_rhs=True), [3,4],[2,None])
    '(None, 2)'
L.tridiagonal_solve(BANDS, tf.transpose(RHS), transpose_rhs=True)
    float64 [4, 2] [[-0.12801, 0.11916], [-0.024068, 0.20331], [0.06198, -0.056429], [0.16929, 0.024977]]
L.tridiagonal_solve(BANDS, RHS)
    float64 [4, 2] [[-0.12801, 0.11916], [-0.024068, 0.20331], [0.06198, -0.056429], [0.16929, 0.024977]]
L.tridiagonal_solve(CBANDS, CRHS)
    complex128 [4, 2] [[-0.11631+0.063293j, 0.11508-0.086429j], [-0.016632+0.10433j, 0.2011-0.026227j],
    [0.069374-0.032739j, -0.05495+0.016621j], [0.17214+0.0097086j, 0.02692+0.079263j]]
L.tridiagonal_solve(CBANDS, CRHS, conjugate_rhs=True)
    complex128 [4, 2] [[-0.13893-0.054086j, 0.11968+0.04119j], [-0.030961-0.098277j, 0.20412-0.0024309j],
    [0.054922+0.024317j, -0.059161-0.045527j], [0.16669-0.015711j, 0.023919-0.090154j]]
L.tridiagonal_solve(CBANDS, CRHS[:, 1], conjugate_rhs=True)
    complex128 [4] [0.11968+0.04119j, 0.20412-0.0024309j, -0.059161-0.045527j, 0.023919-0.090154j]
L.tridiagonal_solve(CBANDS, tf.transpose(CRHS), transpose_rhs=True, conjugate_rhs=True)
    complex128 [4, 2] [[-0.13893-0.054086j, 0.11968+0.04119j], [-0.030961-0.098277j, 0.20412-0.0024309j],
    [0.054922+0.024317j, -0.059161-0.045527j], [0.16669-0.015711j, 0.023919-0.090154j]]
L.tridiagonal_solve(CMATRIX, CRHS[:3], 'matrix')
    complex128 [3, 2] [[-0.4922+0.16878j, 0.18548-0.26426j], [0.32098-0.053179j, -0.035713-0.62593j], [0.19658-0.1986j,
    -0.40202+0.21217j]]
grad(L.tridiagonal_solve, BANDS, RHS)
    (float64 [3, 4] [[-0.0047169, -0.0002191, -0.0056301, -0], [0.00023276, -0.0070753, -0.00016086, -0.0064482], [-0,
    0.00034914, -0.0051946, -0.00018423]]; float64 [4, 2] [[0.026316, 0.026316], [0.039474, 0.039474], [0.028981,
    0.028981], [0.033193, 0.033193]])
grad(L.tridiagonal_solve, BANDS, RHS[:, 0])
    (float64 [3, 4] [[0.00063337, -0.0024466, -0.0049062, -0], [0.0033686, 0.00095005, -0.0017963, -0.0056192], [-0,
    0.005053, 0.00069753, -0.0020573]]; float64 [4] [0.026316, 0.039474, 0.028981, 0.033193])
grad(lambda d, r: L.tridiagonal_solve(d, r, partial_pivoting=False), BANDS, RHS)
    (float64 [3, 4] [[-0.0047169, -0.0002191, -0.0056301, -0], [0.00023276, -0.0070753, -0.00016086, -0.0064482], [-0,
    0.00034914, -0.0051946, -0.00018423]]; float64 [4, 2] [[0.026316, 0.026316], [0.039474, 0.039474], [0.028981,
    0.028981], [0.033193, 0.033193]])
unranked(L.tridiagonal_solve, BANDS, RHS)
    float64 [4, 2] [[-0.12801, 0.11916], [-0.024068, 0.20331], [0.06198, -0.056429], [0.16929, 0.024977]]
sized(L.tridiagonal_solve, BANDS, RHS)
    float64 [4, 2] [[-0.12801, 0.11916], [-0.024068, 0.20331], [0.06198, -0.056429], [0.16929, 0.024977]]
mapped(L.tridiagonal_solve, tf.stack([BANDS, BANDS + MAIN]), tf.stack([RHS, RHS + 1]))
    float64 [2, 4, 2] [[[-0.12801, 0.11916], [-0.024068, 0.20331], [0.06198, -0.056429], [0.16929, 0.024977]],
    [[-0.048331, 0.072032], [0.00086516, 0.11649], [0.047715, -0.014895], [0.10149, 0.03181]]]
L.tridiagonal_matmul(ones(3, 4), ones(4, 2))
    float32 [4, 2] [[2, 2], [3, 3], [3, 3], [2, 2]]
L.tridiagonal_matmul(ones(3, 4), ones(4))
    InvalidArgumentError: All input tensors must have the same rank.
L.tridiagonal_matmul(ones(2, 4), ones(4, 2))
    InvalidArgumentError: slice index 2 of dimension 0 out of bounds.
L.tridiagonal_matmul(tf.constant([[8., 1, 5], [3, 9, 2], [7, 4, 8]]), ones(3, 1), 'matrix')
    float32 [3, 1] [[9], [14], [12]]
L.tridiagonal_matmul(ones(3, 4), ones(4, 1), 'matrix')
    ValueError
L.tridiagonal_matmul([ones(4), ones(4)], ones(4, 2), 'sequence')
    ValueError: not enough values to unpack (expected 3, got 2)
L.tridiagonal_matmul([ones(4), 3 * ones(4), 7 * ones(4)], ones(4, 2), 'sequence')
    float32 [4, 2] [[4, 4], [11, 11], [11, 11], [10, 10]]
L.tridiagonal_matmul([ones(3), ones(4), ones(3)], ones(4, 2), 'sequence')
    InvalidArgumentError
L.tridiagonal_matmul(ones(3, 4), ones(4, 2), 'x')
    ValueError: Unrecognized diagonals_format: x
L.tridiagonal_matmul(BANDS, RHS)
    float64 [4, 2] [[-124, 72], [-38, 174], [65, -71], [147, 39]]
L.tridiagonal_matmul(CBANDS, CRHS)
    complex128 [4, 2] [[-133.75+31j, 74.5-42.5j], [-46+83.5j, 175.75-3j], [57.25-32j, -72.75+48j], [145+21.5j,
    38+77.5j]]
L.tridiagonal_matmul(tf.stack([BANDS, 2 * BANDS]), tf.stack([RHS, RHS]))
    float64 [2, 4, 2] [[[-124, 72], [-38, 174], [65, -71], [147, 39]], [[-248, 144], [-76, 348], [130, -142], [294,
    78]]]
grad(L.tridiagonal_matmul, BANDS, RHS)
    (float64 [3, 4] [[5, 0, 6, 0], [-1, 5, 0, 6], [0, -1, 5, 0]]; float64 [4, 2] [[36, 36], [24, 24], [34, 34], [30,
    30]])
grad(L.tridiagonal_matmul, CBANDS, CRHS)
    (complex128 [3, 4] [[5-2.5j, 0+0j, 6-3j, 0+0j], [-1+0.5j, 5-2.5j, 0+0j, 6-3j], [0+0j, -1+0.5j, 5-2.5j, 0+0j]];
    complex128 [4, 2] [[36-0.5j, 36-0.5j], [24-7.5j, 24-7.5j], [34+3j, 34+3j], [30-2.5j, 30-2.5j]])
mapped(L.tridiagonal_matmul, tf.stack([BANDS, 2 * BANDS]), tf.stack([RHS, RHS]))
    float64 [2, 4, 2] [[[-124, 72], [-38, 174], [65, -71], [147, 39]], [[-248, 144], [-76, 348], [130, -142], [294,
    78]]]
sized(L.tridiagonal_matmul, BANDS, RHS)
    float64 [4, 2] [[-124, 72], [-38, 174], [65, -71], [147, 39]]
L.eigh_tridiagonal(tf.constant(1.0), [1.0])
    IndexError: tuple index out of range
L.eigh_tridiagonal([], [1.0])
    float32 [0] []
L.eigh_tridiagonal([3.0], [1.0])
    float32 [1] [3]
L.eigh_tridiagonal([3.0], [])
    float32 [1] [3]
L.eigh_tridiagonal([3.0], [], eigvals_only=False)
    float32 [1] [3]
L.eigh_tridiagonal(tf.constant([3 + 1j]), [])
    float64 [1] [3]
L.eigh_tridiagonal([1.0, 2.0], tf.constant([1.0], tf.float64))
    ValueError: 'alpha' and 'beta' must have the same type.
L.eigh_tridiagonal([1.0, 2.0], [1.0], select=tf.constant('a'))
    TypeError: Tensor is unhashable. Instead, use tensor.ref() as the key.
L.eigh_tridiagonal([1, 2], [1])
    ValueError: data type <class 'numpy.int32'> not inexact
L.eigh_tridiagonal([1.0, 2.0], [1.0], select='b')
    ValueError: 'select must have a value in {'a', 'i', 'v'}.
L.eigh_tridiagonal([1.0, 2.0], tf.constant(1.0))
    InvalidArgumentError
L.eigh_tridiagonal([1.0, 2.0], [1.0, 2.0])
    InvalidArgumentError
L.eigh_tridiagonal([2.0, 5.0, 3.0], [1., 2.])
    float32 [3] [1.2813, 2.316, 6.4027]
L.eigh_tridiagonal([2.0, 5.0, 3.0], [1., 2.], select='i', select_range=(2, 1))
    InvalidArgumentError
L.eigh_tridiagonal([1.0, 2.0, 3.0], [0., 0.], select='i', select_range=(1, 1))
    float32 [1] [2]
L.eigh_tridiagonal([1.0, 2.0, 3.0], [0., 0.], select='i', select_range=(1, 2))
    float32 [2] [2, 3]
L.eigh_tridiagonal([1.0, 2.0, 3.0], [0., 0.], select='v', select_range=(1., 1.))
    InvalidArgumentError
L.eigh_tridiagonal([1.0, 2.0, 3.0], [0., 0.], select='v', select_range=(2., 1.))
    InvalidArgumentError
L.eigh_tridiagonal([1.0, 2.0, 3.0], [0., 0.], select='v', select_range=(1.5, 3.5))
    float32 [2] [2, 3]
L.eigh_tridiagonal([3.0, 2.0, 1.0], [0., 0.], select='v', select_range=(-5., 1.5))
    float32 [1] [1]
L.eigh_tridiagonal(tf.constant([2 + 3j, 5, 3]), tf.constant([1j, 2 - 1j]))
    float64 [3] [1.1424, 2.2532, 6.6044]
tf.abs(L.eigh_tridiagonal([2.0, 5.0, 3.0], [1., 2.], eigvals_only=False, select='i', select_range=(1, 2))[1])
    float32 [3, 2] [[0.71541, 0.19217], [0.22609, 0.84604], [0.66112, 0.49728]]
static(lambda a, b: L.eigh_tridiagonal(a, b), [3],[2])
    '(3,)'
static(lambda a, b: L.eigh_tridiagonal(a, b), [3],[3])
    ValueError
static(lambda a, b: L.eigh_tridiagonal(a, b), [3],[None])
    '(3,)'
static(lambda a, b: L.eigh_tridiagonal(a, b, eigvals_only=False), [3],[2])
    ('(3,)'; '(3, 3)')
L.tridiagonal_solve([tf.constant([1., 2]), tf.constant([8., 9, 7]), tf.constant([3., 4])], ones(3), 'sequence')
    float32 [3] [0.11933, 0.045346, 0.11695]
L.tridiagonal_solve([tf.constant([1., 2, 5]), tf.constant([8., 9, 7]), tf.constant([3., 4])], ones(3), 'sequence')
    float32 [3] [0.11933, 0.045346, 0.11695]
L.tridiagonal_solve([tf.constant([1., 2]), tf.constant([8., 9, 7]), tf.constant([5., 3, 4])], ones(3), 'sequence')
    float32 [3] [0.11933, 0.045346, 0.11695]
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())
