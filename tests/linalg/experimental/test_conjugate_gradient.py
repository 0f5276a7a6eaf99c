"""Conjugate gradients: iterations, starts, preconditioners. TensorFlow gave the outcomes."""

import pytest

import tapeflow as tf
from outcomes import read_rows
from traced_calls import check_row

# ---- outcomes that TensorFlow gave -----------------------------------------------------------------------------------

L = tf.linalg
A = L.LinearOperatorFullMatrix(
    tf.constant([[4.0, 1.0, 0.5], [1.0, 3.0, 1.0], [0.5, 1.0, 5.0]], tf.float64),
    is_self_adjoint=True,
    is_positive_definite=True,
)
B = tf.constant([1.0, 2.0, -1.0], tf.float64)
D = L.LinearOperatorDiag(1 / A.diag_part(), is_positive_definite=True)


def solved(operator=A, rhs=B, **options):
    state = L.experimental.conjugate_gradient(operator, rhs, **options)
    return state.i, state.x, state.r


ROWS = read_rows(r"""
solved()[1]
    float64 [3] [0.10732, 0.75122, -0.36098]
solved()[0]
    int32 [] 3
solved(max_iter=1)
    (int32 [] 1; float64 [3] [0.3, 0.6, -0.3]; float64 [3] [-0.65, 0.2, -0.25])
solved(max_iter=2)
    (int32 [] 2; float64 [3] [0.13333, 0.71111, -0.4]; float64 [3] [-0.044444, 0.13333, 0.22222])
solved(max_iter=0)
    (int32 [] 0; float64 [3] [0, 0, 0]; float64 [3] [1, 2, -1])
solved(tol=0.5)
    (int32 [] 1; float64 [3] [0.3, 0.6, -0.3]; float64 [3] [-0.65, 0.2, -0.25])
solved(tol=10.0)
    (int32 [] 0; float64 [3] [0, 0, 0]; float64 [3] [1, 2, -1])
solved(preconditioner=D)[1]
    float64 [3] [0.10732, 0.75122, -0.36098]
solved(preconditioner=D, max_iter=1)
    (int32 [] 1; float64 [3] [0.24769, 0.66049, -0.19815]; float64 [3] [-0.55216, -0.031019, -0.7936])
solved(x=tf.constant([1.0, 1.0, 1.0], tf.float64), max_iter=1)
    (int32 [] 1; float64 [3] [0.22273, 0.48182, -0.29545]; float64 [3] [-0.225, 0.62727, -0.11591])
solved(x=A.solvevec(B))[0]
    int32 [] 0
solved(rhs=0 * B)
    (int32 [] 0; float64 [3] [0, 0, 0]; float64 [3] [0, 0, -0])
solved(rhs=tf.stack([B, 2 * B]), max_iter=2)
    (int32 [] 2; float64 [2, 3] [[0.13333, 0.71111, -0.4], [0.26667, 1.4222, -0.8]]; float64 [2, 3] [[-0.044444,
    0.13333, 0.22222], [-0.088889, 0.26667, 0.44444]])
solved(operator=L.LinearOperatorFullMatrix(A.to_dense()))
    ValueError: Expected a self-adjoint, positive definite operator.
L.experimental.conjugate_gradient(A, B, max_iter=1)._fields
    ('i'; 'x'; 'r'; 'p'; 'gamma')
L.experimental.conjugate_gradient(A, B, max_iter=1).p
    float64 [3] [-0.5625, 0.375, -0.3375]
L.experimental.conjugate_gradient(A, B, max_iter=1).gamma
    float64 [] 0.525
tf.function(lambda b: L.experimental.conjugate_gradient(A, b, max_iter=2).x)(B)
    float64 [3] [0.13333, 0.71111, -0.4]
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())
