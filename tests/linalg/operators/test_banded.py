"""Toeplitz and tridiagonal operators: hints, shapes, results and errors. TensorFlow gave the outcomes."""

import pytest

import tapeflow as tf
from outcomes import read_rows
from traced_calls import check_row

# ---- outcomes that TensorFlow gave -----------------------------------------------------------------------------------

L = tf.linalg
FULL, LOWER, DIAG, ID = (
    L.LinearOperatorFullMatrix, L.LinearOperatorLowerTriangular, L.LinearOperatorDiag, L.LinearOperatorIdentity,
)  # fmt: skip
SCALED, TOEPLITZ, TRIDIAG = L.LinearOperatorScaledIdentity, L.LinearOperatorToeplitz, L.LinearOperatorTridiag
CIRC, HOUSE, PERM = L.LinearOperatorCirculant, L.LinearOperatorHouseholder, L.LinearOperatorPermutation
COMPOSE, KRON, BLOCK = L.LinearOperatorComposition, L.LinearOperatorKronecker, L.LinearOperatorBlockDiag
BLOCKS, UPDATE = L.LinearOperatorBlockLowerTriangular, L.LinearOperatorLowRankUpdate
ADJOINT, INVERSE, CIRC2 = L.LinearOperatorAdjoint, L.LinearOperatorInversion, L.LinearOperatorCirculant2D
S = tf.constant([[2.0, 1.0], [1.0, 3.0]])
M = tf.constant([[1.0, 2.0], [3.0, 4.0]])
W = tf.constant([[1.0, 2.0, 0.0], [3.0, 4.0, 1.0]])
C = tf.constant([[2 + 1j, 1], [3j, 4]])
T = FULL(S, is_self_adjoint=True, is_positive_definite=True)


def facts(o):
    hints = [o.is_non_singular, o.is_self_adjoint, o.is_positive_definite, o.is_square]
    return type(o).__name__, o.dtype.name, o.shape.as_list(), hints


def each(*operators):
    return [facts(o) for o in operators]


def in_graph(make, *xs, rank=True):
    """Makes an operator in a graph that knows no sizes; returns its static shape, its shapes and its matrix."""
    found = []

    def run(*xs):
        o = make(*xs)
        found.append(o.shape)
        sides = o.domain_dimension_tensor(), o.range_dimension_tensor()
        return o.to_dense(), o.shape_tensor(), o.batch_shape_tensor(), o.tensor_rank_tensor(), sides, o.diag_part()

    xs = [tf.convert_to_tensor(x) for x in xs]
    specs = [tf.TensorSpec([None] * len(x.shape) if rank else None, x.dtype) for x in xs]
    return tf.function(run, input_signature=specs)(*xs), found[0]


def all_of(o, x):
    products = [o.matmul(x), o.matmul(x, adjoint=True), o.matmul(x, adjoint_arg=True)]
    return [*products, o.matvec(x[..., 0]), o.add_to_tensor(x)]


def solutions(o, x):
    return [o.solve(x), o.solve(x, adjoint=True), o.solve(x, adjoint_arg=True), o.solvevec(x[..., 0])]


def numbers(o):
    return [o.determinant(), o.log_abs_determinant(), o.trace(), o.diag_part(), o.cond()]


ROWS = read_rows(r"""
each(TOEPLITZ([1.0, 2.0], [1.0, 3.0]), TRIDIAG(tf.ones([3, 4])), TRIDIAG(tf.ones([4, 4]), 'matrix'))
    (('LinearOperatorToeplitz'; 'float32'; (2; 2); (None; None; None; True)); ('LinearOperatorTridiag'; 'float32'; (4;
    4); (None; None; None; True)); ('LinearOperatorTridiag'; 'float32'; (4; 4); (None; None; None; True)))
TOEPLITZ([1.0, 2.0], [1.0, 3.0, 4.0])
    ValueError: Expected square matrix, got row and col with mismatched dimensions.
TOEPLITZ([1.0, 2.0], [1.0, 3.0], is_square=False)
    ValueError: Only square Toeplitz operators currently supported.
TOEPLITZ(1.0, [1.0, 3.0])
    ValueError: Argument col must have at least 1 dimension. Found: 1.0
all_of(TOEPLITZ([1.0, 2.0], [1.0, 3.0]), M)
    (float32 [2, 2] [[10, 14], [5, 8]]; float32 [2, 2] [[7, 10], [6, 10]]; float32 [2, 2] [[7, 15], [4, 10]]; float32
    [2] [10, 5]; float32 [2, 2] [[2, 5], [5, 5]])
numbers(TOEPLITZ([1.0, 2.0], [1.0, 3.0]))
    (float32 [] -5; float32 [] 1.6094; float32 [] 2; float32 [2] [1, 1]; float32 [] 2.618)
TOEPLITZ([1.0, 2.0, 5.0], [1.0, 3.0, 4.0]).to_dense()
    float32 [3, 3] [[1, 3, 4], [2, 1, 3], [5, 2, 1]]
TOEPLITZ([[1.0, 2.0], [5.0, 6.0]], [1.0, 3.0]).to_dense()
    float32 [2, 2, 2] [[[1, 3], [2, 1]], [[5, 3], [6, 5]]]
TOEPLITZ([[1.0, 2.0], [5.0, 6.0]], [1.0, 3.0]).trace()
    float32 [2] [2, 10]
TOEPLITZ([1.0, 2.0], [1.0, 3.0]).assert_self_adjoint()
    InvalidArgumentError
TOEPLITZ([1.0, 2.0], [1.0, 2.0]).assert_self_adjoint()
    None
in_graph(TOEPLITZ, [1.0, 2.0], [1.0, 3.0])
    ((float32 [2, 2] [[1, 3], [2, 1]]; int32 [2] [2, 2]; int32 [0] []; int32 [] 2; (int32 [] 2; int32 [] 2); float32 [2]
    [1, 1]); TensorShape([None, None]))
TRIDIAG(tf.ones([3, 4]), 'other')
    ValueError: Argument `diagonals_format` must be one of compact, matrix, or sequence. Received : other.
all_of(TRIDIAG([[5.0, 0.0], [1.0, 2.0], [0.0, 7.0]]), M)
    (float32 [2, 2] [[16, 22], [13, 22]]; float32 [2, 2] [[22, 30], [11, 18]]; float32 [2, 2] [[11, 23], [11, 29]];
    float32 [2] [16, 13]; float32 [2, 2] [[2, 7], [10, 6]])
solutions(TRIDIAG([[5.0, 0.0], [1.0, 2.0], [0.0, 7.0]]), M)
    (float32 [2, 2] [[0.39394, 0.48485], [0.12121, 0.30303]]; float32 [2, 2] [[0.57576, 0.72727], [0.060606, 0.18182]];
    float32 [2, 2] [[0.24242, 0.42424], [0.15152, 0.51515]]; float32 [2] [0.39394, 0.12121])
numbers(TRIDIAG([[5.0, 0.0], [1.0, 2.0], [0.0, 7.0]]))
    (float32 [] -33; float32 [] 3.4965; float32 [] 3; float32 [2] [1, 2]; float32 [] 1.8548)
TRIDIAG(tf.stack([tf.range(1.0, 5), tf.range(5.0, 9), tf.range(9.0, 13)])).to_dense()
    float32 [4, 4] [[5, 1, 0, 0], [10, 6, 2, 0], [0, 11, 7, 3], [0, 0, 12, 8]]
TRIDIAG([tf.range(1.0, 4), tf.range(5.0, 8), tf.range(9.0, 12)], 'sequence').to_dense()
    float32 [3, 3] [[5, 1, 0], [10, 6, 2], [0, 11, 7]]
TRIDIAG([tf.range(1.0, 4), tf.range(5.0, 8), tf.range(9.0, 12)], 'sequence').matmul(tf.ones([3, 1]), adjoint=True)
    float32 [3, 1] [[15], [18], [9]]
TRIDIAG(M, 'matrix').matmul(M)
    float32 [2, 2] [[7, 10], [15, 22]]
TRIDIAG([[5.0, 0.0], [1.0, 2.0], [0.0, 7.0]]).assert_self_adjoint()
    InvalidArgumentError: This tridiagonal operator has non-conjugate subdiagonal and superdiagonal.
TRIDIAG([[5.0, 9.0], [1.0, 2.0], [8.0, 5.0]]).assert_self_adjoint()
    None
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())
