"""Slices of operators. TensorFlow gave the outcomes."""

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


ROWS = read_rows(r"""
each(FULL(tf.stack([M, M]))[0], FULL(tf.stack([M, M]))[1:], FULL(tf.stack([M, M]))[..., tf.newaxis])
    (('LinearOperatorFullMatrix'; 'float32'; (2; 2); (None; None; None; True)); ('LinearOperatorFullMatrix'; 'float32';
    (1; 2; 2); (None; None; None; True)); ('LinearOperatorFullMatrix'; 'float32'; (2; 1; 2; 2); (None; None; None;
    True)))
FULL(M)[0]
    InvalidArgumentError
FULL(tf.stack([M, 2 * M]))[1].to_dense()
    float32 [2, 2] [[2, 4], [6, 8]]
FULL(tf.stack([M, 2 * M]))[..., 0].to_dense()
    float32 [2, 2] [[1, 2], [3, 4]]
FULL(tf.stack([M, 2 * M]))[..., ...]
    ValueError: Found multiple `...` in slices (Ellipsis, Ellipsis)
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())
