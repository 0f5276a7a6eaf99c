"""Lower triangular operators: results and errors. TensorFlow gave the outcomes."""

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
facts(LOWER(M))
    ('LinearOperatorLowerTriangular'; 'float32'; (2; 2); (None; None; None; True))
LOWER(M).to_dense()
    float32 [2, 2] [[1, 0], [3, 4]]
all_of(LOWER(M), M)
    (float32 [2, 2] [[1, 2], [15, 22]]; float32 [2, 2] [[10, 14], [12, 16]]; float32 [2, 2] [[1, 3], [11, 25]]; float32
    [2] [1, 15]; float32 [2, 2] [[2, 2], [6, 8]])
solutions(LOWER(M), M)
    (float32 [2, 2] [[1, 2], [0, -0.5]]; float32 [2, 2] [[-1.25, -1], [0.75, 1]]; float32 [2, 2] [[1, 3], [-0.25,
    -1.25]]; float32 [2] [1, 0])
numbers(LOWER(M))
    (float32 [] 4; float32 [] 1.3863; float32 [] 5; float32 [2] [1, 4]; float32 [] 6.3423)
LOWER(M, is_square=False)
    ValueError: Only square lower triangular operators supported at this time.
LOWER([1.0])
    ValueError
LOWER(C).solve(C, adjoint=True)
    complex128 [2, 2] [[-0.3+0.35j, -0.2+1.4j], [0+0.75j, 1+0j]]
LOWER([[0.0, 1.0], [2.0, 3.0]]).assert_non_singular()
    InvalidArgumentError: Singular operator: Diagonal contained zero values.
in_graph(LOWER, M)
    ((float32 [2, 2] [[1, 0], [3, 4]]; int32 [2] [2, 2]; int32 [0] []; int32 [] 2; (int32 [] 2; int32 [] 2); float32 [2]
    [1, 4]); TensorShape([None, None]))
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())
