"""Low rank updates: hints, shapes, results and errors. TensorFlow gave the outcomes."""

import numpy as np
import pytest

import tapeflow as tf
from outcomes import read_rows
from traced_calls import check_row

# ---- outcomes that TensorFlow gave -----------------------------------------------------------------------------------

L = tf.linalg
FULL, LOWER, DIAG, ID = (
    L.LinearOperatorFullMatrix, L.LinearOperatorLowerTriangular, L.LinearOperatorDiag, L.LinearOperatorIdentity,
)  # fmt: skip
COMPOSE, KRON, BLOCK = L.LinearOperatorComposition, L.LinearOperatorKronecker, L.LinearOperatorBlockDiag
BLOCKS, UPDATE, ZEROS = L.LinearOperatorBlockLowerTriangular, L.LinearOperatorLowRankUpdate, L.LinearOperatorZeros
ADJOINT, INVERSE = L.LinearOperatorAdjoint, L.LinearOperatorInversion
M = FULL(tf.constant([[1.0, 2.0], [3.0, 4.0]]))
N = FULL(tf.constant([[2.0, 0.0, 1.0], [1.0, 3.0, 0.0], [0.0, 1.0, 4.0]]))
W = FULL(tf.constant([[1.0, 2.0, 0.0], [3.0, 4.0, 1.0]]))
V = FULL(tf.constant([[1.0, 2.0], [0.0, 3.0], [4.0, 1.0]]))
P = FULL(tf.constant([[2.0, 1.0], [1.0, 3.0]]), is_self_adjoint=True, is_positive_definite=True)
C = FULL(tf.constant([[2 + 1j, 1], [3j, 4]], tf.complex64))
F64 = FULL(tf.constant([[1.0]], tf.float64))
MANY = FULL(tf.reshape(tf.range(1.0, 13.0), [3, 2, 2]) + 5 * tf.eye(2))
GOOD, BAD = FULL(M.matrix, is_non_singular=True), FULL(M.matrix, is_non_singular=False)
U, D = tf.constant([[1.0], [2.0]]), tf.constant([3.0])


def numbers(*shape):
    return tf.cast(tf.reshape(tf.range(int(np.prod(shape))) * 7 % 11 - 4, shape), tf.float32)


def facts(o):
    hints = [o.is_non_singular, o.is_self_adjoint, o.is_positive_definite, o.is_square]
    return type(o).__name__, o.dtype.name, o.shape.as_list(), hints


def each(*operators):
    return [facts(o) for o in operators]


def values(o):
    return [o.to_dense(), o.diag_part(), o.trace(), o.determinant(), o.log_abs_determinant(), o.cond()]


def products(o, x):
    turned = tf.linalg.adjoint(x)
    return [o.matmul(x), o.matmul(x, adjoint=True), o.matmul(turned, adjoint_arg=True), o.matvec(x[..., 0])]


def solutions(o, x):
    turned = tf.linalg.adjoint(x)
    return [o.solve(x), o.solve(x, adjoint=True), o.solve(turned, adjoint_arg=True), o.solvevec(x[..., 0])]


def in_graph(make, *xs):
    """Makes an operator in a graph that knows no sizes; returns its static shape, its shapes and some results."""
    found = []

    def run(*xs):
        o = make(*xs)
        found.append(o.shape)
        dense = o.to_dense()
        return dense, o.shape_tensor(), o.batch_shape_tensor(), o.matmul(dense, adjoint_arg=True), o.diag_part()

    xs = [tf.convert_to_tensor(x) for x in xs]
    specs = [tf.TensorSpec([None] * len(x.shape), x.dtype) for x in xs]
    return tf.function(run, input_signature=specs)(*xs), found[0]


ROWS = read_rows(r"""
each(UPDATE(P, U), UPDATE(P, U, D), UPDATE(P, U, D, is_diag_update_positive=True), UPDATE(P, U, D, U + 1), UPDATE(M, U))
    (('LinearOperatorLowRankUpdate'; 'float32'; (2; 2); (True; True; True; True)); ('LinearOperatorLowRankUpdate';
    'float32'; (2; 2); (None; True; None; True)); ('LinearOperatorLowRankUpdate'; 'float32'; (2; 2); (True; True; True;
    True)); ('LinearOperatorLowRankUpdate'; 'float32'; (2; 2); (None; None; None; True));
    ('LinearOperatorLowRankUpdate'; 'float32'; (2; 2); (None; None; None; True)))
each(UPDATE(DIAG([1.0, 2.0]), U), UPDATE(MANY, U), UPDATE(ID(2), tf.ones([3, 2, 1])), UPDATE(C, C.matrix))
    (('LinearOperatorLowRankUpdate'; 'float32'; (2; 2); (None; True; None; True)); ('LinearOperatorLowRankUpdate';
    'float32'; (3; 2; 2); (None; None; None; True)); ('LinearOperatorLowRankUpdate'; 'float32'; (3; 2; 2); (True; True;
    True; True)); ('LinearOperatorLowRankUpdate'; 'complex64'; (2; 2); (None; None; None; True)))
UPDATE(P, U, is_diag_update_positive=False)
    ValueError: Default diagonal is the identity, which is positive. However, user set 'is_diag_update_positive' to
    False.
UPDATE(DIAG([1.0, 2.0]), U, is_self_adjoint=False)
    ValueError: A = L + UDU^H, with L self-adjoint and D real diagonal. Since UDU^H is self-adjoint, this must be a
    self-adjoint operator.
UPDATE(P, U, is_positive_definite=False)
    ValueError: Arguments imply this is self-adjoint positive-definite operator.
UPDATE(P, U, is_non_singular=False)
    ValueError: Arguments imply this is self-adjoint positive-definite operator.
UPDATE(P, tf.ones([3, 1]))
    ValueError: Dimensions 2 and 3 are not compatible
UPDATE(P, U, tf.ones([2]))
    ValueError: Dimensions 1 and 2 are not compatible
UPDATE(P, U, D, tf.ones([3, 1]))
    ValueError: Incompatible shapes for broadcasting. Two shapes are compatible if for each dimension pair they are
    either equal or one of them is 1. Received: (2, 1) and (3, 1).
[values(UPDATE(P, U))[i] for i in (0, 1, 2, 3, 4)]
    (float32 [2, 2] [[3, 3], [3, 7]]; float32 [2] [3, 7]; float32 [] 10; float32 [] 12; float32 [] 2.4849)
[values(UPDATE(P, U, -D))[i] for i in (0, 1, 2, 3, 4)]
    (float32 [2, 2] [[-1, -5], [-5, -9]]; float32 [2] [-1, -9]; float32 [] -10; float32 [] -16; float32 [] 2.7726)
[values(UPDATE(P, U, D, U + 1))[i] for i in (0, 1, 2, 3, 4)]
    (float32 [2, 2] [[8, 10], [13, 21]]; float32 [2] [8, 21]; float32 [] 29; float32 [] 38; float32 [] 3.6376)
[values(UPDATE(M, U, D, is_diag_update_positive=True))[i] for i in (0, 1, 2, 3, 4)]
    (float32 [2, 2] [[4, 8], [9, 16]]; float32 [2] [4, 16]; float32 [] 20; float32 [] -8; float32 [] 2.0794)
products(UPDATE(P, U, D, U + 1), numbers(2, 2))
    (float32 [2, 2] [[-42, 84], [-73, 165]]; float32 [2, 2] [[-45, 102], [-61, 156]]; float32 [2, 2] [[-42, 84], [-73,
    165]]; float32 [2] [-42, -73])
solutions(UPDATE(P, U, D, U + 1), numbers(2, 2))
    (float32 [2, 2] [[-1.9474, 0.078947], [1.1579, 0.23684]]; float32 [2, 2] [[-1.8684, -0.39474], [0.84211, 0.47368]];
    float32 [2, 2] [[-1.9474, 0.078947], [1.1579, 0.23684]]; float32 [2] [-1.9474, 1.1579])
solutions(UPDATE(P, U), numbers(2, 2))
    (float32 [2, 2] [[-2.0833, 0.25], [0.75, 0.75]]; float32 [2, 2] [[-2.0833, 0.25], [0.75, 0.75]]; float32 [2, 2]
    [[-2.0833, 0.25], [0.75, 0.75]]; float32 [2] [-2.0833, 0.75])
solutions(UPDATE(P, U, -D), numbers(2, 2))
    (float32 [2, 2] [[-1.9375, -0.1875], [1.1875, -0.5625]]; float32 [2, 2] [[-1.9375, -0.1875], [1.1875, -0.5625]];
    float32 [2, 2] [[-1.9375, -0.1875], [1.1875, -0.5625]]; float32 [2] [-1.9375, 1.1875])
products(UPDATE(C, tf.cast(U, tf.complex64) * 1j), tf.complex(numbers(2, 2), numbers(2, 2)))
    (complex64 [2, 2] [[-11-19j, 24+30j], [-4-28j, 45+63j]]; complex64 [2, 2] [[-21-7j, 42+0j], [-20-20j, 57+57j]];
    complex64 [2, 2] [[-11-19j, 24+30j], [-4-28j, 45+63j]]; complex64 [2] [-11-19j, -4-28j])
solutions(UPDATE(C, tf.cast(U, tf.complex64) * 1j), tf.complex(numbers(2, 2), numbers(2, 2)))
    (complex64 [2, 2] [[-1.5169-1.6954j, 0.31385+0.35077j], [-0.38154+0.86769j, 0.80308+0.54462j]]; complex64 [2, 2]
    [[-1.5969-1.7446j, -0.24+1.68j], [0.47385+0.52923j, 0.84+0.12j]]; complex64 [2, 2] [[-1.5169-1.6954j,
    0.31385+0.35077j], [-0.38154+0.86769j, 0.80308+0.54462j]]; complex64 [2] [-1.5169-1.6954j, -0.38154+0.86769j])
UPDATE(BAD, U).solve(numbers(2, 2))
    ValueError: Solve not implemented unless this is a perturbation of a non-singular LinearOperator.
UPDATE(P, U).assert_self_adjoint()
    None
UPDATE(M, U).assert_self_adjoint()
    InvalidArgumentError: Matrix was not equal to its adjoint.
[UPDATE(P, U).u, UPDATE(P, U).v, UPDATE(P, U).diag_update, UPDATE(P, U).is_diag_update_positive]
    (float32 [2, 1] [[1], [2]]; float32 [2, 1] [[1], [2]]; None; True)
each(UPDATE(P, U).base_operator, UPDATE(P, U).diag_operator, UPDATE(P, U, D).diag_operator)
    (('LinearOperatorFullMatrix'; 'float32'; (2; 2); (True; True; True; True)); ('LinearOperatorIdentity'; 'float32';
    (1; 1); (True; True; True; True)); ('LinearOperatorDiag'; 'float32'; (1; 1); (None; True; None; True)))
in_graph(lambda a, u: UPDATE(FULL(a), u), P.matrix, U)
    ((float32 [2, 2] [[3, 3], [3, 7]]; int32 [2] [2, 2]; int32 [0] []; float32 [2, 2] [[18, 30], [30, 58]]; float32 [2]
    [3, 7]); TensorShape([None, None]))
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())
