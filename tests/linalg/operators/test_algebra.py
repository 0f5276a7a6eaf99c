"""Products and solutions of two operators: their kinds, hints and matrices. TensorFlow gave the outcomes."""

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
[o.name for o in (FULL(M), LOWER(M), DIAG([1.0]), FULL(M).adjoint(), FULL(M).inverse(), FULL(M) @ FULL(M))]
    ('LinearOperatorFullMatrix'; 'LinearOperatorLowerTriangular'; 'LinearOperatorDiag';
    'LinearOperatorFullMatrix_adjoint'; 'LinearOperatorFullMatrix_inv';
    'LinearOperatorFullMatrix_o_LinearOperatorFullMatrix')
each(FULL(C).adjoint().adjoint(), FULL(M) @ FULL(M), FULL(M).solve(FULL(M)), FULL(M) @ FULL(W))
    (('LinearOperatorFullMatrix'; 'complex128'; (2; 2); (None; None; None; True)); ('LinearOperatorComposition';
    'float32'; (2; 2); (None; None; None; True)); ('LinearOperatorComposition'; 'float32'; (2; 2); (None; None; None;
    True)); ('LinearOperatorComposition'; 'float32'; (2; 3); (False; False; False; False)))
(FULL(M) @ FULL(W)).to_dense()
    float32 [2, 3] [[7, 10, 2], [15, 22, 4]]
FULL(M).solve(FULL(W)).to_dense()
    float32 [2, 3] [[1, 0, 1], [0, 1, -0.5]]
FULL(M).matmul(FULL(M), adjoint=True).to_dense()
    float32 [2, 2] [[10, 14], [14, 20]]
FULL(M).matmul(FULL(M), adjoint_arg=True).to_dense()
    float32 [2, 2] [[5, 11], [11, 25]]
FULL(M).solve(FULL(M), adjoint=True).to_dense()
    float32 [2, 2] [[2.5, 2], [-0.5, 0]]
FULL(W) @ FULL(W)
    ValueError: Operators are incompatible. Expected `x` to have dimension 3 but got 2.
FULL(W).matmul(FULL(W), adjoint_arg=True).to_dense()
    float32 [2, 2] [[5, 11], [11, 26]]
FULL(W).solve(FULL(W))
    NotImplementedError: Exact solve not implemented for an operator that is expected to not be square.
FULL(M).solve(FULL(tf.ones([3, 3])))
    ValueError: Operators are incompatible. Expected `rhs` to have dimension 2 but got 3.
M @ FULL(M)
    float32 [2, 2] [[7, 10], [15, 22]]
FULL(M) @ M
    float32 [2, 2] [[7, 10], [15, 22]]
tf.matmul(FULL(M), M)
    float32 [2, 2] [[7, 10], [15, 22]]
tf.matmul(FULL(M), M, adjoint_a=True)
    float32 [2, 2] [[10, 14], [14, 20]]
tf.matmul(FULL(M), M, transpose_a=True)
    ValueError: Transposing not supported at this time.
tf.linalg.solve(FULL(M), M)
    float32 [2, 2] [[1, 0], [0, 1]]
each(LOWER(M) @ LOWER(M), LOWER(M).inverse(), LOWER(M).adjoint(), LOWER(M) @ DIAG([1.0, 2.0]))
    (('LinearOperatorComposition'; 'float32'; (2; 2); (None; None; None; True)); ('LinearOperatorInversion'; 'float32';
    (2; 2); (None; None; None; True)); ('LinearOperatorAdjoint'; 'float32'; (2; 2); (None; None; None; True));
    ('LinearOperatorLowerTriangular'; 'float32'; (2; 2); (None; None; None; True)))
(LOWER(M) @ LOWER(M)).to_dense()
    float32 [2, 2] [[1, 0], [15, 16]]
(LOWER(M) @ DIAG([3.0, 2.0])).to_dense()
    float32 [2, 2] [[3, 0], [9, 8]]
(DIAG([3.0, 2.0]) @ LOWER(M)).to_dense()
    float32 [2, 2] [[3, 0], [6, 8]]
DIAG([3.0, 2.0]).solve(LOWER(M)).to_dense()
    float32 [2, 2] [[0.33333, 0], [1.5, 2]]
[facts(DIAG([3.0, 2.0]) @ o) for o in (DIAG([1.0, 2.0]), SCALED(2, 3.0), ID(2), FULL(M), LOWER(M))]
    (('LinearOperatorDiag'; 'float32'; (2; 2); (None; True; None; True)); ('LinearOperatorDiag'; 'float32'; (2; 2);
    (None; True; None; True)); ('LinearOperatorDiag'; 'float32'; (2; 2); (None; True; None; True));
    ('LinearOperatorComposition'; 'float32'; (2; 2); (None; None; None; True)); ('LinearOperatorLowerTriangular';
    'float32'; (2; 2); (None; None; None; True)))
[facts(DIAG([3.0, 2.0]).solve(o)) for o in (DIAG([1.0, 2.0]), SCALED(2, 3.0), ID(2), FULL(M), LOWER(M))]
    (('LinearOperatorDiag'; 'float32'; (2; 2); (None; True; None; True)); ('LinearOperatorDiag'; 'float32'; (2; 2);
    (None; True; None; True)); ('LinearOperatorDiag'; 'float32'; (2; 2); (None; True; None; True));
    ('LinearOperatorComposition'; 'float32'; (2; 2); (None; None; None; True)); ('LinearOperatorLowerTriangular';
    'float32'; (2; 2); (None; None; None; True)))
[facts(o @ DIAG([3.0, 2.0])) for o in (SCALED(2, 3.0), ID(2), FULL(M), LOWER(M))]
    (('LinearOperatorDiag'; 'float32'; (2; 2); (None; True; None; True)); ('LinearOperatorDiag'; 'float32'; (2; 2);
    (None; True; None; True)); ('LinearOperatorComposition'; 'float32'; (2; 2); (None; None; None; True));
    ('LinearOperatorLowerTriangular'; 'float32'; (2; 2); (None; None; None; True)))
[(DIAG([3.0, 2.0]) @ SCALED(2, 3.0)).to_dense(), SCALED(2, 4.0).solve(DIAG([3.0, 2.0])).to_dense()]
    (float32 [2, 2] [[9, 0], [0, 6]]; float32 [2, 2] [[0.75, 0], [0, 0.5]])
[(SCALED(2, 3.0) @ SCALED(2, 2.0)).to_dense(), SCALED(2, 4.0).solve(SCALED(2, 2.0)).to_dense()]
    (float32 [2, 2] [[6, 0], [0, 6]]; float32 [2, 2] [[0.5, 0], [0, 0.5]])
each(SCALED(2, 3.0) @ SCALED(2, 2.0), ID(2) @ FULL(M), FULL(M) @ ID(2), FULL(M).solve(ID(2)), ID(2).solve(FULL(M)))
    (('LinearOperatorScaledIdentity'; 'float32'; (2; 2); (None; True; None; True)); ('LinearOperatorFullMatrix';
    'float32'; (2; 2); (None; None; None; True)); ('LinearOperatorFullMatrix'; 'float32'; (2; 2); (None; None; None;
    True)); ('LinearOperatorInversion'; 'float32'; (2; 2); (None; None; None; True)); ('LinearOperatorFullMatrix';
    'float32'; (2; 2); (None; None; None; True)))
[facts(FULL(M).inverse() @ o) for o in (FULL(M), ID(2))]
    (('LinearOperatorComposition'; 'float32'; (2; 2); (None; None; None; True)); ('LinearOperatorInversion'; 'float32';
    (2; 2); (None; None; None; True)))
facts(FULL(M).inverse().solve(FULL(S)))
    ('LinearOperatorComposition'; 'float32'; (2; 2); (None; None; None; True))
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())
