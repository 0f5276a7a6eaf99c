"""Diagonal operators: hints, results and errors. TensorFlow gave the outcomes."""

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
each(DIAG([1.0, 2.0]), DIAG([[1.0, 2.0]] * 3), DIAG(tf.constant([1j, 2])), DIAG(tf.constant([1.0], tf.float64)))
    (('LinearOperatorDiag'; 'float32'; (2; 2); (None; True; None; True)); ('LinearOperatorDiag'; 'float32'; (3; 2; 2);
    (None; True; None; True)); ('LinearOperatorDiag'; 'complex128'; (2; 2); (None; None; None; True));
    ('LinearOperatorDiag'; 'float64'; (1; 1); (None; True; None; True)))
DIAG([1.0, 2.0], is_self_adjoint=False)
    ValueError: A real diagonal operator is always self adjoint.
DIAG([1.0, 2.0], is_square=False)
    ValueError: Only square diagonal operators currently supported.
DIAG(1.0)
    ValueError
all_of(DIAG([3.0, -2.0]), M)
    (float32 [2, 2] [[3, 6], [-6, -8]]; float32 [2, 2] [[3, 6], [-6, -8]]; float32 [2, 2] [[3, 9], [-4, -8]]; float32
    [2] [3, -6]; float32 [2, 2] [[4, 2], [3, 2]])
all_of(DIAG(tf.constant([3j, -2])), C)
    (complex128 [2, 2] [[-3+6j, 0+3j], [-0-6j, -8+0j]]; complex128 [2, 2] [[3-6j, 0-3j], [0-6j, -8-0j]]; complex128 [2,
    2] [[3+6j, 9+0j], [-2+0j, -8+0j]]; complex128 [2] [-3+6j, -0-6j]; complex128 [2, 2] [[2+4j, 1+0j], [0+3j, 2+0j]])
solutions(DIAG([3.0, -2.0]), M)
    (float32 [2, 2] [[0.33333, 0.66667], [-1.5, -2]]; float32 [2, 2] [[0.33333, 0.66667], [-1.5, -2]]; float32 [2, 2]
    [[0.33333, 1], [-1, -2]]; float32 [2] [0.33333, -1.5])
solutions(DIAG(tf.constant([3j, -2])), C)
    (complex128 [2, 2] [[0.33333-0.66667j, 0-0.33333j], [0-1.5j, -2-0j]]; complex128 [2, 2] [[-0.33333+0.66667j,
    0+0.33333j], [-0-1.5j, -2+0j]]; complex128 [2, 2] [[-0.33333-0.66667j, -1-0j], [-0.5+0j, -2+0j]]; complex128 [2]
    [0.33333-0.66667j, 0-1.5j])
numbers(DIAG([3.0, -2.0]))
    (float32 [] -6; float32 [] 1.7918; float32 [] 1; float32 [2] [3, -2]; float32 [] 1.5)
DIAG([3.0, -2.0]).eigvals()
    float32 [2] [3, -2]
each(DIAG([3.0]).inverse(), DIAG(tf.constant([3j])).adjoint(), DIAG([3.0], is_positive_definite=True).cholesky())
    (('LinearOperatorDiag'; 'float32'; (1; 1); (None; True; None; True)); ('LinearOperatorDiag'; 'complex128'; (1; 1);
    (None; None; None; True)); ('LinearOperatorDiag'; 'float32'; (1; 1); (True; True; True; True)))
DIAG([4.0, 9.0], is_positive_definite=True).cholesky().to_dense()
    float32 [2, 2] [[2, 0], [0, 3]]
DIAG([0.0, 1.0]).assert_non_singular()
    InvalidArgumentError: Singular operator: Diagonal contained zero values.
DIAG([-1.0, 1.0]).assert_positive_definite()
    InvalidArgumentError: Real diagonal operator had non-positive diagonal entries, thus was not positive definite..
DIAG(tf.constant([1j, 1])).assert_self_adjoint()
    InvalidArgumentError: This diagonal operator contained non-zero imaginary values. Thus it was not self-adjoint.
DIAG(tf.constant([1j, 1])).assert_positive_definite()
    InvalidArgumentError: Diagonal operator had diagonal entries with non-positive real part, thus was not positive
    definite..
in_graph(DIAG, [1.0, 2.0])
    ((float32 [2, 2] [[1, 0], [0, 2]]; int32 [2] [2, 2]; int32 [0] []; int32 [] 2; (int32 [] 2; int32 [] 2); float32 [2]
    [1, 2]); TensorShape([None, None]))
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())
