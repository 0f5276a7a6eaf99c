"""Large matrices, which are inverted and solved in other ways than small ones."""

import numpy as np
import pytest

import tapeflow as tf
from outcomes import read_rows
from traced_calls import check_row

SIZE = 70


def _matrix(dtype):
    draws = np.random.default_rng(0)
    matrix = draws.standard_normal((SIZE, SIZE))
    return (matrix + 1j * draws.standard_normal((SIZE, SIZE)) if "complex" in dtype else matrix).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
@pytest.mark.parametrize("adjoint", [False, True])
def test_the_inverse_of_a_large_matrix(dtype, adjoint):
    matrix = _matrix(dtype)
    inverse = tf.linalg.inv(matrix, adjoint=adjoint).numpy()
    product = inverse @ (matrix.conj().T if adjoint else matrix)
    np.testing.assert_allclose(product, np.eye(SIZE), atol=1e-10 if dtype == "float64" else 2e-3)


@pytest.mark.parametrize("matrix", [np.zeros, np.ones, lambda *args: np.full(*args[:1], np.nan, *args[1:])])
def test_a_large_matrix_without_an_inverse_is_refused(matrix):
    with pytest.raises(tf.errors.InvalidArgumentError, match="Input is not invertible"):
        tf.linalg.inv(matrix((SIZE, SIZE), np.float32))


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("adjoint", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_triangular_equations_with_many_right_hand_sides(dtype, lower, adjoint):
    matrix = _matrix(dtype) + SIZE * np.eye(SIZE, dtype=dtype)
    rhs = _matrix(dtype)
    triangle = np.tril(matrix) if lower else np.triu(matrix)
    x = tf.linalg.triangular_solve(matrix, rhs, lower, adjoint).numpy()
    np.testing.assert_allclose((triangle.conj().T if adjoint else triangle) @ x, rhs, atol=1e-4)
    few = tf.linalg.triangular_solve(matrix, rhs[:, :3], lower, adjoint).numpy()
    np.testing.assert_allclose(x[:, :3], few, rtol=1e-3, atol=1e-5)


# ---- outcomes that TensorFlow gave -----------------------------------------------------------------------------------

L, R = tf.linalg, tf.raw_ops


def solve(matrix, rhs, **options):
    return L.solve(matrix, rhs, **options)


def triangular(matrix, rhs, **options):
    return L.triangular_solve(matrix, rhs, **options)


def least_squares(matrix, rhs, **options):
    return L.lstsq(matrix, rhs, **options)


def with_options(function, **options):
    return lambda *xs: function(*xs, **options)


def ones(*shape):
    return tf.ones(shape, tf.float64)


def batch(x):
    return tf.stack([x, 2 * x + tf.eye(x.shape[-2], x.shape[-1], dtype=x.dtype)])


M = tf.constant([[4.0, 1.0, 2.0], [0.5, 3.0, -1.0], [1.0, 2.0, 5.0]], tf.float64)
B = tf.constant([[1.0, 2.0], [3.0, -4.0], [5.0, 6.0]], tf.float64)
W = tf.constant([[1.0, 5.0], [2.0, -1.0], [3.0, 7.0]], tf.float64)
CM, CB = tf.complex(M, M[::-1] / 2), tf.complex(B, B[::-1])
SPD = M @ tf.transpose(M)
T43, T34 = (
    tf.constant([[1.0, 2, 0], [0, 1, 1], [3, 0, 1], [1, 1, 5]], tf.float64),
    tf.constant([[1.0, 2, 0, 1], [0, 1, 1, 2], [3, 0, 1, -1]], tf.float64),
)
R4 = tf.constant([[1.0, 2], [3, 4], [5, -6], [7, 8]], tf.float64)
nan, inf = float("nan"), float("inf")

ROWS = read_rows(r"""
L.det(M)
    float64 [] 60.5
L.det(batch(M))
    float64 [2] [60.5, 695]
L.det(CM)
    complex128 [] 75.625+37.812j
L.det([[1., 2], [2, 4]])
    float32 [] -0
L.det(tf.zeros([0, 0]))
    float32 [] 1
L.det(tf.zeros([2, 0, 0]))
    float32 [2] [1, 1]
L.det([[1., 2]])
    InvalidArgumentError: Input matrix must be square.
L.det([1., 2])
    InvalidArgumentError: Input tensor 0 must have rank >= 2, got 1
L.det(1.0)
    InvalidArgumentError: Input tensor 0 must have rank >= 2, got 0
L.det([[1, 2], [3, 4]])
    InvalidArgumentError: Value for attr 'T' of int32 is not in the list of allowed values: half, float, double,
    complex64, complex128
L.det([[1e200, 0], [0, 1e-200]])
    ValueError: Can't convert Python sequence with a value out of range for a double-precision float.
L.det(tf.constant([[1e200, 0], [0, -1e200]], tf.float64))
    float64 [] -inf
L.det([[inf, 0.], [0, 1]])
    float32 [] inf
L.det([[inf, 0.], [0, -2]])
    float32 [] -inf
L.det([[nan, 0.], [0, 1]])
    float32 [] nan
L.det([[0., inf], [1, 2]])
    float32 [] -inf
static(L.det, [5,3,3])
    '(5,)'
static(L.det, [5,None,3])
    '(5,)'
static(L.det, [2,3])
    ValueError
static(L.det, [3])
    ValueError
static(L.det, None)
    '<unknown>'
grad(lambda x: L.det(x) * [1., 2], batch(M))
    float64 [2, 3, 3] [[[17, -3.5, -2], [-1, 18, -7], [-7, 5, 11.5]], [[170, -30, -20], [-12, 182, -64], [-64, 44,
    122]]]
grad(L.det, CM)
    complex128 [3, 3] [[18.75+5j, -4.75+0.75j, -4.875+4.75j], [-0.75-1j, 13.5+18j, -5.25-7j], [-11.25+5j, 5.875+0.75j,
    12+4.75j]]
mapped(L.det, batch(M))
    float64 [2] [60.5, 695]
unranked(L.det, batch(M))
    float64 [2] [60.5, 695]
L.slogdet(M)
    (float64 [] 1; float64 [] 4.1026)
L.slogdet(-M)
    (float64 [] -1; float64 [] 4.1026)
L.slogdet(CM)
    (complex128 [] 0.89443+0.44721j; complex128 [] 4.4374+0j)
L.slogdet(batch(-M))
    (float64 [2] [-1, -1]; float64 [2] [4.1026, 5.7714])
L.slogdet([[1., 2], [2, 4]])
    (float32 [] -0; float32 [] -inf)
L.slogdet(tf.zeros([0, 0]))
    (float32 [] 1; float32 [] 0)
L.slogdet([[1., 2]])
    InvalidArgumentError: Input matrix must be square.
L.slogdet(tf.constant([[1e200, 0], [0, -1e200]], tf.float64))
    (float64 [] -1; float64 [] 921.03)
L.slogdet([[inf, 0.], [0, 1]])
    (float32 [] 1; float32 [] inf)
L.slogdet([[inf, 0.], [0, -1]])
    (float32 [] -1; float32 [] inf)
L.slogdet([[0., 1], [inf, 2]])
    (float32 [] -1; float32 [] inf)
L.slogdet([[nan, 0.], [0, 1]])
    (float32 [] nan; float32 [] nan)
L.slogdet([[1., 2, 3], [inf, 5, 6], [7, 8, 10]])
    (float32 [] 1; float32 [] inf)
L.slogdet([[1., 2, 3], [4, 5, 6], [-inf, 8, 10]])
    (float32 [] 1; float32 [] inf)
L.slogdet([[1., 2, 3], [4, 5, inf], [7, 8, 10]])
    (float32 [] 1; float32 [] inf)
L.slogdet([[1., nan, 3], [4, 5, 6], [7, 8, 10]])
    (float32 [] nan; float32 [] nan)
L.slogdet([[[1., 2], [3, 4]], [[inf, 2], [3, 4]]])
    (float32 [2] [-1, 1]; float32 [2] [0.69315, inf])
type(L.slogdet(M)).__name__
    'LogMatrixDeterminant'
L.slogdet(M).log_abs_determinant
    float64 [] 4.1026
L.slogdet(M).sign
    float64 [] 1
static(L.slogdet, [5,3,3])
    ('(5,)'; '(5,)')
static(L.slogdet, None)
    ('<unknown>'; '<unknown>')
static(L.slogdet, [2,3])
    ValueError
grad(lambda x: L.slogdet(x)[1] * [1., 2], batch(M))
    float64 [2, 3, 3] [[[0.28099, -0.057851, -0.033058], [-0.016529, 0.29752, -0.1157], [-0.1157, 0.082645, 0.19008]],
    [[0.2446, -0.043165, -0.028777], [-0.017266, 0.26187, -0.092086], [-0.092086, 0.063309, 0.17554]]]
grad(lambda x: L.slogdet(x)[0], M)
    float64 [3, 3] [[0, -0, -0], [-0, 0, -0], [-0, 0, 0]]
mapped(lambda x: L.slogdet(x)[1], batch(M))
    float64 [2] [4.1026, 6.5439]
L.logdet(SPD)
    float64 [] 8.2053
L.logdet(batch(SPD))
    float64 [2] [8.2053, 10.403]
L.logdet(CM @ L.adjoint(CM))
    float64 [] 8.8747
L.logdet([[1., 0], [0, -1]])
    float32 [] nan
grad(lambda x: L.logdet(x) * [1., 2], batch(SPD))
    float64 [2, 3, 3] [[[0.083396, -0.018032, -0.043576], [-0.018032, 0.10218, 0.0045079], [-0.043576, 0.0045079,
    0.056349]], [[0.079065, -0.01639, -0.040671], [-0.01639, 0.097064, 0.0038243], [-0.040671, 0.0038243, 0.053934]]]
static(L.logdet, [5,3,3])
    '(5,)'
L.inv(M)
    float64 [3, 3] [[0.28099, -0.016529, -0.1157], [-0.057851, 0.29752, 0.082645], [-0.033058, -0.1157, 0.19008]]
L.inv(M, adjoint=True)
    float64 [3, 3] [[0.28099, -0.057851, -0.033058], [-0.016529, 0.29752, -0.1157], [-0.1157, 0.082645, 0.19008]]
L.inv(CM)
    complex128 [3, 3] [[0.22479+0.046281j, -0.013223+0.0066116j, -0.092562-0.1124j], [-0.046281-0.033058j,
    0.23802-0.11901j, 0.066116+0.02314j], [-0.026446-0.076033j, -0.092562+0.046281j, 0.15207+0.013223j]]
L.inv(CM, adjoint=True)
    complex128 [3, 3] [[0.22479-0.046281j, -0.046281+0.033058j, -0.026446+0.076033j], [-0.013223-0.0066116j,
    0.23802+0.11901j, -0.092562-0.046281j], [-0.092562+0.1124j, 0.066116-0.02314j, 0.15207-0.013223j]]
L.inv(batch(M))
    float64 [2, 3, 3] [[[0.28099, -0.016529, -0.1157], [-0.057851, 0.29752, 0.082645], [-0.033058, -0.1157, 0.19008]],
    [[0.1223, -0.0086331, -0.046043], [-0.021583, 0.13094, 0.031655], [-0.014388, -0.046043, 0.08777]]]
L.inv([[1., 2], [2, 4]])
    InvalidArgumentError: Input is not invertible.
L.inv([[0., 0], [0, 0]])
    InvalidArgumentError: Input is not invertible.
L.inv([[nan, 0], [0, 1.]])
    InvalidArgumentError: Input is not invertible.
L.inv([[1., 0], [0, nan]])
    float32 [2, 2] [[nan, nan], [nan, nan]]
L.inv([[2., 0], [0, inf]])
    float32 [2, 2] [[0.5, 0], [0, 0]]
L.inv([[1., 2]])
    InvalidArgumentError: Input matrix must be square.
L.inv([1., 2])
    InvalidArgumentError: Input tensor 0 must have rank >= 2, got 1
L.inv(tf.zeros([0, 0]))
    float32 [0, 0] []
static(L.inv, [5,None,3])
    '(5, 3, 3)'
static(L.inv, [2,3])
    ValueError
static(L.inv, None)
    '<unknown>'
grad(lambda x: L.inv(x) * M, M)
    float64 [3, 3] [[0.035858, -0.0049518, -0.16222], [-0.14309, 0.17895, 0.32894], [0.11406, -0.33413, 0.12076]]
grad(lambda x: L.inv(x, adjoint=True) * M, M)
    float64 [3, 3] [[0, 6.9389e-18, -6.9389e-18], [6.9389e-18, 0, -1.3878e-17], [-2.7756e-17, 1.3878e-17, 2.7756e-17]]
grad(lambda x: L.inv(x) * CM, CM)
    complex128 [3, 3] [[0.0043166-0.030413j, 0.0042839-0.042314j, -0.1159+0.093223j], [-0.11395+0.090365j,
    0.13372+0.04615j, 0.26682+0.020988j], [0.11566-0.024315j, -0.27634-0.076705j, 0.083038-0.015166j]]
grad(lambda x: L.inv(x, adjoint=True) * CM, CM)
    complex128 [3, 3] [[0.17983+0.1481j, -0.037025-0.10579j, -0.021157-0.24331j], [-0.010579+0.021157j,
    0.19041-0.38083j, -0.07405+0.1481j], [-0.07405-0.35967j, 0.052893+0.07405j, 0.12165+0.042314j]]
mapped(L.inv, batch(M))
    float64 [2, 3, 3] [[[0.28099, -0.016529, -0.1157], [-0.057851, 0.29752, 0.082645], [-0.033058, -0.1157, 0.19008]],
    [[0.1223, -0.0086331, -0.046043], [-0.021583, 0.13094, 0.031655], [-0.014388, -0.046043, 0.08777]]]
unranked(L.inv, M)
    float64 [3, 3] [[0.28099, -0.016529, -0.1157], [-0.057851, 0.29752, 0.082645], [-0.033058, -0.1157, 0.19008]]
solve(M, B)
    float64 [3, 2] [[-0.34711, -0.066116], [1.2479, -0.80992], [0.57025, 1.5372]]
solve(M, B, adjoint=True)
    float64 [3, 2] [[-0.057851, 0.59504], [0.29752, -1.9174], [1.0826, 0.57851]]
solve(CM, CB)
    complex128 [3, 2] [[-0.41653+0.49587j, -0.079339+0.60826j], [1.4975+0.27438j, -0.9719-0.54876j], [0.6843-0.12893j,
    1.8446+0.25785j]]
solve(CM, CB, adjoint=True)
    complex128 [3, 2] [[0.0099174+1.3917j, 0.73388+1.7124j], [-0.039669+0.67438j, -0.92562-1.9835j], [0.38678-0.13554j,
    -0.27769-0.27769j]]
solve(batch(M), batch(B))
    float64 [2, 3, 2] [[[-0.34711, -0.066116], [1.2479, -0.80992], [0.57025, 1.5372]], [[-0.14532, -0.0028777], [1.0374,
    -0.62302], [0.55827, 1.318]]]
solve(M, B[:, 0])
    InvalidArgumentError
solve(M, batch(B))
    InvalidArgumentError
solve(batch(M), B)
    InvalidArgumentError
solve(batch(M), tf.stack([B]))
    InvalidArgumentError
solve(M, B[:2])
    InvalidArgumentError
solve(M[:2], B[:2])
    InvalidArgumentError
solve(M[:2], B)
    InvalidArgumentError
solve(M[0], B[0])
    InvalidArgumentError: Input tensor 0 must have rank >= 2, got 1
solve([[1., 2], [2, 4]], [[1.], [1]])
    InvalidArgumentError: Input matrix is not invertible.
solve([[nan, 0.], [0, 1]], [[1.], [1]])
    InvalidArgumentError: Input matrix is not invertible.
solve([[1., 0.], [0, nan]], [[1.], [1]])
    float32 [2, 1] [[nan], [nan]]
solve(ones(0, 0), ones(0, 2))
    float64 [0, 2] []
solve(ones(2, 2), ones(2, 0))
    float64 [2, 0] [[], []]
solve(M, tf.cast(B, tf.float32))
    InvalidArgumentError: cannot compute MatrixSolve as input #1(zero-based) was expected to be a double tensor but is a
    float tensor
static(solve, [3,3],[3,2])
    '(3, 2)'
static(solve, [None,3],[None,2])
    '(3, 2)'
static(solve, [None,None],[3,2])
    '(3, 2)'
static(solve, [3,3],None)
    '(3, None)'
static(solve, None,[3,2])
    '(3, 2)'
static(solve, None,None)
    '<unknown>'
static(solve, None,[3])
    ValueError
static(solve, [3],None)
    ValueError
static(solve, [3],[3])
    ValueError: Shape must be at least rank 2 but is rank 1 for '{{node MatrixSolve}} = MatrixSolve[T=DT_FLOAT,
    adjoint=false](xs_0, xs_1)' with input shapes: [3], [3].
static(solve, [2,3],[3,1])
    ValueError
static(solve, [2,3],None)
    ValueError
static(solve, [3,3],[3])
    ValueError: Shape must be at least rank 2 but is rank 1 for '{{node MatrixSolve}} = MatrixSolve[T=DT_FLOAT,
    adjoint=false](xs_0, xs_1)' with input shapes: [3,3], [3].
static(solve, [5,3,3],[3,2])
    ValueError
static(solve, [5,3,3],[5,3,2])
    '(5, 3, 2)'
static(solve, [5,3,3],[6,3,2])
    ValueError
static(solve, [3,3],[4,2])
    ValueError: Dimensions must be equal, but are 3 and 4 for '{{node MatrixSolve}} = MatrixSolve[T=DT_FLOAT,
    adjoint=false](xs_0, xs_1)' with input shapes: [3,3], [4,2].
static(solve, [None,3,3],[5,3,2])
    '(5, 3, 2)'
grad(lambda m, r: solve(m, r) * W, M, B)
    (float64 [3, 3] [[0.10436, 0.91483, -1.9306], [0.0016392, -1.2526, 1.6974], [0.25941, -0.23134, -1.3825]]; float64
    [3, 2] [[0.066116, 1.2314], [0.2314, -1.1901], [0.61983, 0.66942]])
grad(lambda m, r: solve(m, r, adjoint=True) * W, M, B)
    (float64 [3, 3] [[-0.36965, 0.050338, -0.74455], [1.2021, -0.24944, 2.3651], [-0.24643, -0.84523, -1.0721]]; float64
    [3, 2] [[-0.099174, 0.61157], [0.78512, -0.0082645], [0.30579, 1.281]])
grad(lambda m, r: solve(m, r, adjoint=True), CM, CB)
    (complex128 [3, 3] [[0.09619-0.41368j, 0.20841-0.8963j, 0.026719-0.11491j], [0.036981+0.21323j, 0.080126+0.462j,
    0.010273+0.059231j], [-0.037571+0.042686j, -0.081404+0.092485j, -0.010436+0.011857j]]; complex128 [3, 2]
    [[0.11901-0.059504j, 0.11901-0.059504j], [0.25785-0.12893j, 0.25785-0.12893j], [0.033058-0.016529j,
    0.033058-0.016529j]])
grad(lambda m, r: solve(m, r), CM, CB)
    (complex128 [3, 3] [[0.0060542+0.19905j, -0.062695-0.074738j, -0.39266-0.13924j], [-0.0074312+0.17879j,
    -0.051363-0.071033j, -0.34293-0.15015j], [-0.02166+0.1764j, -0.045166-0.074432j, -0.32749-0.17609j]]; complex128 [3,
    2] [[0.15207+0.06281j, 0.15207+0.06281j], [0.13223+0.066116j, 0.13223+0.066116j], [0.12562+0.076033j,
    0.12562+0.076033j]])
grad(lambda r: solve(M, r) * W, B)
    float64 [3, 2] [[0.066116, 1.2314], [0.2314, -1.1901], [0.61983, 0.66942]]
mapped(solve, batch(M), batch(B))
    float64 [2, 3, 2] [[[-0.34711, -0.066116], [1.2479, -0.80992], [0.57025, 1.5372]], [[-0.14532, -0.0028777], [1.0374,
    -0.62302], [0.55827, 1.318]]]
mapped(lambda r: solve(M, r, adjoint=True), batch(B))
    float64 [2, 3, 2] [[[-0.057851, 0.59504], [0.29752, -1.9174], [1.0826, 0.57851]], [[0.16529, 1.1322], [0.57851,
    -3.5372], [2.0496, 1.2397]]]
mapped(lambda m: solve(m, B), batch(M))
    float64 [2, 3, 2] [[[-0.34711, -0.066116], [1.2479, -0.80992], [0.57025, 1.5372]], [[-0.13381, 0.0028777], [0.5295,
    -0.37698], [0.28633, 0.68201]]]
unranked(solve, M, B)
    float64 [3, 2] [[-0.34711, -0.066116], [1.2479, -0.80992], [0.57025, 1.5372]]
triangular(M, B)
    float64 [3, 2] [[0.25, 0.5], [0.95833, -1.4167], [0.56667, 1.6667]]
triangular(M, B, adjoint=True)
    float64 [3, 2] [[-0.041667, 0.46667], [0.33333, -2.1333], [1, 1.2]]
triangular(M, B, lower=False)
    float64 [3, 2] [[-0.58333, 0.13333], [1.3333, -0.93333], [1, 1.2]]
triangular(M, B, lower=False, adjoint=True)
    float64 [3, 2] [[0.25, 0.5], [0.91667, -1.5], [1.0833, 0.7]]
triangular(CM, CB)
    complex128 [3, 2] [[0.4+1.2j, 0.67692+1.4154j], [1.1333+0.2j, -1.7128-0.76923j], [0.85385-0.5641j, 2.2154-0.11795j]]
triangular(CM, CB, adjoint=True)
    complex128 [3, 2] [[-0.39487+1.4538j, -0.066667+2.0718j], [-0.10256+0.84615j, -1.0974-2.1128j], [0.92308+0.38462j,
    1.0769+0.61538j]]
triangular(CM, CB, lower=False, adjoint=True)
    complex128 [3, 2] [[0.092308+1.2615j, 0.30769+1.5385j], [0.19487+0.70769j, -0.86154-2.1744j], [0.45128-0.046154j,
    -8.3267e-17-0.41026j]]
triangular(M, batch(B))
    float64 [2, 3, 2] [[[0.25, 0.5], [0.95833, -1.4167], [0.56667, 1.6667]], [[0.75, 1], [1.875, -2.5], [1.1, 3.2]]]
triangular(batch(M), B)
    float64 [2, 3, 2] [[[0.25, 0.5], [0.95833, -1.4167], [0.56667, 1.6667]], [[0.11111, 0.22222], [0.4127, -0.60317],
    [0.28427, 0.72439]]]
triangular(batch(M), batch(B))
    float64 [2, 3, 2] [[[0.25, 0.5], [0.95833, -1.4167], [0.56667, 1.6667]], [[0.33333, 0.44444], [0.80952, -1.0635],
    [0.55411, 1.3968]]]
triangular(M, B[:, 0])
    InvalidArgumentError: In[1] ndims must be >= 2: 1
triangular(M[0], B)
    InvalidArgumentError: In[0] ndims must be >= 2: 1
triangular(M[:2], B)
    InvalidArgumentError: In[0] matrices in the last dimensions must be square (3 =/= 2)
triangular(M, B[:2])
    InvalidArgumentError
triangular(batch(M), tf.stack([B, B, B]))
    InvalidArgumentError: In[0] and In[1] must have compatible batch dimensions: [2,3,3] vs. [3,3,2]
triangular([[0., 0], [1, 1]], [[1.], [1]])
    float32 [2, 1] [[inf], [-inf]]
static(triangular, [3,3],[3,2])
    '(3, 2)'
static(triangular, [None,3],[None,2])
    '(3, 2)'
static(triangular, [None,None],[3,2])
    '(3, 2)'
static(triangular, [5,3,3],[1,3,2])
    '(5, 3, 2)'
static(triangular, [5,3,3],[3,2])
    '(5, 3, 2)'
static(triangular, [5,3,3],[6,3,2])
    ValueError
static(triangular, [3,3],None)
    '<unknown>'
static(triangular, None,[3,2])
    '<unknown>'
static(triangular, [3],None)
    ValueError
static(triangular, None,[3])
    ValueError
static(triangular, [3],[3,2])
    ValueError
static(triangular, [2,3],[3,2])
    ValueError
static(triangular, [3,3],[4,2])
    ValueError
grad(lambda m, r: triangular(m, r) * W, M, B)
    (float64 [3, 3] [[-0.54583, 0, 0], [0.56667, -2.05, 0], [-0.85, 1.4083, -2.6733]]; float64 [3, 2] [[0.066667,
    1.0583], [0.26667, -1.2667], [0.6, 1.4]])
grad(lambda m, r: triangular(m, r, adjoint=True) * W, M, B)
    (float64 [3, 3] [[-0.57292, 0, 0], [2.5833, -1.3639, 0], [-1.75, 0.025, -1.94]]; float64 [3, 2] [[0.25, 1.25],
    [0.625, -0.54167], [0.3, 1.3667]])
grad(lambda m, r: triangular(m, r, lower=False) * W, M, B)
    (float64 [3, 3] [[-0.020833, 0.83333, -1.75], [0, -1.4778, 0.31667], [0, 0, -1.5167]]; float64 [3, 2] [[0.25, 1.25],
    [0.58333, -0.75], [0.61667, 0.75]])
grad(lambda m, r: triangular(m, r, lower=False, adjoint=True) * W, M, B)
    (float64 [3, 3] [[-0.19167, -0.28333, -0.85], [0, -0.59444, 1.55], [0, 0, -1.63]]; float64 [3, 2] [[-0.26667,
    0.51667], [0.86667, 0.13333], [0.6, 1.4]])
grad(lambda m, r: triangular(m, r) * W, batch(M), B)
    (float64 [2, 3, 3] [[[-0.54583, 0, 0], [0.56667, -2.05, 0], [-0.85, 1.4083, -2.6733]], [[-0.10855, 0, 0], [0.098124,
    -0.3591, 0], [-0.17172, 0.27128, -0.5385]]]; float64 [3, 2] [[0.10274, 1.5288], [0.39654, -1.7732], [0.87273,
    2.0364]])
grad(lambda m, r: triangular(m, r) * W, M, batch(B))
    (float64 [3, 3] [[-1.6542, 0, 0], [1.6333, -5.7167, 0], [-2.7, 3.7833, -7.8133]]; float64 [2, 3, 2] [[[0.066667,
    1.0583], [0.26667, -1.2667], [0.6, 1.4]], [[0.066667, 1.0583], [0.26667, -1.2667], [0.6, 1.4]]])
grad(lambda r: triangular(M, r) * W, B)
    float64 [3, 2] [[0.066667, 1.0583], [0.26667, -1.2667], [0.6, 1.4]]
grad(lambda m, r: triangular(m, r, adjoint=True), CM, CB)
    (complex128 [3, 3] [[0.22209-0.85365j, 0+0j, 0+0j], [0.25641+0.34872j, 0.10838+0.43966j, 0+0j], [-0.46154-0.30769j,
    -0.32308-0.48205j, 0.024359-0.15769j]]; complex128 [3, 2] [[0.24615-0.030769j, 0.24615-0.030769j],
    [0.22564-0.12821j, 0.22564-0.12821j], [0.021795-0.067949j, 0.021795-0.067949j]])
mapped(triangular, batch(M), batch(B))
    float64 [2, 3, 2] [[[0.25, 0.5], [0.95833, -1.4167], [0.56667, 1.6667]], [[0.33333, 0.44444], [0.80952, -1.0635],
    [0.55411, 1.3968]]]
mapped(lambda r: triangular(M, r, lower=False), batch(B))
    float64 [2, 3, 2] [[[-0.58333, 0.13333], [1.3333, -0.93333], [1, 1.2]], [[-0.91667, 0.18333], [2.6667, -1.5333], [2,
    2.4]]]
unranked(triangular, M, B)
    float64 [3, 2] [[0.25, 0.5], [0.95833, -1.4167], [0.56667, 1.6667]]
L.cholesky_solve(L.cholesky(SPD), B)
    float64 [3, 2] [[-0.18858, -0.022539], [0.31104, -0.41773], [0.25169, 0.23291]]
L.cholesky_solve(M, B)
    float64 [3, 2] [[0.0036806, 0.12847], [0.24389, -0.69444], [0.11333, 0.33333]]
L.cholesky_solve(L.cholesky(CM @ L.adjoint(CM)), CB)
    complex128 [3, 2] [[-0.15736+0.22299j, 0.0050488+0.26711j], [0.26326+0.21998j, -0.31976-0.36304j],
    [0.19053-0.13788j, 0.14594-0.064192j]]
L.cholesky_solve([[2., 0], [1, 3]], [[1.], [2]])
    float32 [2, 1] [[0.16667], [0.16667]]
L.cholesky_solve([[2, 0], [1, 3]], tf.constant([[1.], [2]], tf.float64))
    float64 [2, 1] [[0.16667], [0.16667]]
L.cholesky_solve(tf.constant([[2., 0], [1, 3]], tf.float64), [[1.], [2]])
    float64 [2, 1] [[0.16667], [0.16667]]
L.cholesky_solve(batch(M), B)
    float64 [2, 3, 2] [[[0.0036806, 0.12847], [0.24389, -0.69444], [0.11333, 0.33333]], [[0.0016929, 0.023813],
    [0.04419, -0.1238], [0.025843, 0.065853]]]
grad(lambda c, r: L.cholesky_solve(c, r) * W, M, B)
    (float64 [3, 3] [[-0.31288, 0, 0], [0.94639, -1.2038, 0], [-0.59667, 0.43944, -0.97911]]; float64 [3, 2] [[0.026458,
    0.28951], [0.16833, -0.36278], [0.06, 0.27333]])
static(L.cholesky_solve, [5,3,3],[3,2])
    '(5, 3, 2)'
least_squares(T43, R4)
    float64 [3, 2] [[1.1576, -2.5559], [0.22063, 2.2884], [1.2006, 1.6562]]
least_squares(T34, B)
    float64 [4, 2] [[1.2931, 1.8046], [-0.55172, 1.0345], [1.931, -1.2874], [0.81034, -1.8736]]
least_squares(M, B)
    float64 [3, 2] [[-0.34711, -0.066116], [1.2479, -0.80992], [0.57025, 1.5372]]
least_squares(T43, R4, l2_regularizer=0.5)
    float64 [3, 2] [[1.1115, -2.3584], [0.23576, 2.0551], [1.1889, 1.6195]]
least_squares(T34, B, l2_regularizer=0.5)
    float64 [4, 2] [[1.2551, 1.7129], [-0.29107, 0.72225], [1.557, -0.89393], [0.63345, -1.626]]
least_squares(T43, R4, fast=False)
    float64 [3, 2] [[1.1576, -2.5559], [0.22063, 2.2884], [1.2006, 1.6562]]
least_squares(T34, B, fast=False)
    float64 [4, 2] [[1.2931, 1.8046], [-0.55172, 1.0345], [1.931, -1.2874], [0.81034, -1.8736]]
least_squares(T43, R4, l2_regularizer=0.5, fast=False)
    float64 [3, 2] [[1.1576, -2.5559], [0.22063, 2.2884], [1.2006, 1.6562]]
least_squares(tf.stack([T43, 2 * T43]), tf.stack([R4, R4]))
    float64 [2, 3, 2] [[[1.1576, -2.5559], [0.22063, 2.2884], [1.2006, 1.6562]], [[0.5788, -1.2779], [0.11032, 1.1442],
    [0.60029, 0.82808]]]
least_squares(tf.stack([T43, 2 * T43]), tf.stack([R4, R4]), fast=False)
    float64 [2, 3, 2] [[[1.1576, -2.5559], [0.22063, 2.2884], [1.2006, 1.6562]], [[0.5788, -1.2779], [0.11032, 1.1442],
    [0.60029, 0.82808]]]
least_squares(T43, B)
    InvalidArgumentError: Matrix size-incompatible: In[0]: [4,3], In[1]: [3,2]
least_squares(T43, B, fast=False)
    InvalidArgumentError
least_squares(T43, tf.stack([R4, R4]))
    float64 [2, 3, 2] [[[1.1576, -2.5559], [0.22063, 2.2884], [1.2006, 1.6562]], [[1.1576, -2.5559], [0.22063, 2.2884],
    [1.2006, 1.6562]]]
least_squares(T43, tf.stack([R4, R4]), fast=False)
    InvalidArgumentError
least_squares(T43, R4[:, 0], fast=False)
    InvalidArgumentError
least_squares(ones(0, 2), ones(0, 3))
    float64 [2, 3] [[0, 0, 0], [0, 0, 0]]
least_squares(ones(2, 0), ones(2, 3))
    float64 [0, 3] []
least_squares(tf.complex(T43, T43[::-1]), tf.complex(R4, R4))
    complex128 [3, 2] [[1.1003+0.057307j, -0.25788-2.298j], [1.8071-1.5864j, 1.9723+0.31614j], [0.30946+0.89112j,
    0.48997+1.1662j]]
least_squares([[1., 0], [0, 2], [0, 0]], [[1.], [2], [5]])
    float32 [2, 1] [[1], [1]]
least_squares(T43, [[1], [2], [3], [4]])
    float64 [3, 1] [[0.71633], [0.3362], [0.63897]]
sized(least_squares, T43, R4)
    float64 [3, 2] [[1.1576, -2.5559], [0.22063, 2.2884], [1.2006, 1.6562]]
sized(least_squares, T34, B)
    float64 [4, 2] [[1.2931, 1.8046], [-0.55172, 1.0345], [1.931, -1.2874], [0.81034, -1.8736]]
sized(least_squares, M, B)
    float64 [3, 2] [[-0.34711, -0.066116], [1.2479, -0.80992], [0.57025, 1.5372]]
sized(with_options(least_squares, l2_regularizer=0.5), T34, B)
    float64 [4, 2] [[1.2551, 1.7129], [-0.29107, 0.72225], [1.557, -0.89393], [0.63345, -1.626]]
static(least_squares, [4,3],[4,2])
    '(3, 2)'
static(least_squares, [4,None],[4,2])
    '(None, 2)'
static(with_options(least_squares, fast=False), [4,3],[4,2])
    '(3, 2)'
static(with_options(least_squares, fast=False), [5,4,3],[5,4,2])
    '(5, 3, 2)'
static(with_options(least_squares, fast=False), [5,4,3],[6,4,2])
    ValueError
static(with_options(least_squares, fast=False), [4,3],[3,2])
    ValueError
static(with_options(least_squares, fast=False), [4,3],[5,4,2])
    ValueError
static(with_options(least_squares, fast=False), [4],[4])
    ValueError
static(with_options(least_squares, fast=False), [None,3],[4,None])
    '(3, None)'
grad(lambda m, r: least_squares(m, r) * W, T43, R4)
    (float64 [4, 3] [[-2.9103, 1.7501, 0.76457], [-1.4026, 1.2261, 0.31827], [4.06, -3.5113, -2.5512], [2.3522, -2.8792,
    -2.5924]]; float64 [4, 2] [[0.55778, -0.88921], [0.34766, -0.383], [-0.031519, 1.5759], [0.53677, 1.1614]])
grad(lambda m, r: least_squares(m, r) * R4, T34, B)
    (float64 [3, 4] [[-2.5646, -8.2719, 0.80222, 12.269], [-8.6518, 7.4879, -2.3686, -9.7148], [2.2331, 1.3571, -3.6465,
    -2.6484]]; float64 [3, 2] [[-0.67816, 3.7586], [4.2184, -0.41379], [0.5977, -1.4483]])
grad(lambda m, r: least_squares(m, r, l2_regularizer=0.5) * W, T43, R4)
    (float64 [4, 3] [[-2.2557, 1.1545, 0.66918], [-1.0158, 0.80724, 0.31136], [3.2558, -2.5824, -2.4926], [2.1935,
    -2.6709, -2.4449]]; float64 [4, 2] [[0.50686, -0.76552], [0.32244, -0.31948], [-0.0090828, 1.4738], [0.53154,
    1.1427]])
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())
