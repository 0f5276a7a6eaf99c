"""Functions of `tf.linalg` with operators. TensorFlow gave the outcomes."""

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


ROWS = read_rows(r"""
tf.matmul(M, FULL(M))
    float32 [2, 2] [[7, 10], [15, 22]]
tf.linalg.matvec(FULL(M), [1.0, 2.0])
    float32 [2] [5, 11]
[tf.linalg.det(FULL(M)), tf.linalg.trace(FULL(M)), tf.linalg.diag_part(FULL(M)), tf.linalg.logdet(T)]
    (float32 [] -2; float32 [] 5; float32 [2] [1, 4]; float32 [] 1.6094)
[facts(tf.linalg.inv(FULL(M))), facts(tf.linalg.adjoint(FULL(M))), facts(tf.linalg.cholesky(T))]
    (('LinearOperatorInversion'; 'float32'; (2; 2); (None; None; None; True)); ('LinearOperatorAdjoint'; 'float32'; (2;
    2); (None; None; None; True)); ('LinearOperatorLowerTriangular'; 'float32'; (2; 2); (True; False; None; True)))
tf.linalg.svd(FULL(M))
    ValueError
tf.linalg.eigvalsh(T)
    ValueError
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())
