"""Adjoints and inverses of operators: hints, shapes, results and errors. TensorFlow gave the outcomes."""

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
each(ADJOINT(M), ADJOINT(W), ADJOINT(P), INVERSE(M), INVERSE(P), INVERSE(GOOD), ADJOINT(MANY))
    (('LinearOperatorAdjoint'; 'float32'; (2; 2); (None; None; None; True)); ('LinearOperatorAdjoint'; 'float32'; (3;
    2); (None; None; None; False)); ('LinearOperatorAdjoint'; 'float32'; (2; 2); (True; True; True; True));
    ('LinearOperatorInversion'; 'float32'; (2; 2); (None; None; None; True)); ('LinearOperatorInversion'; 'float32'; (2;
    2); (True; True; True; True)); ('LinearOperatorInversion'; 'float32'; (2; 2); (True; None; None; True));
    ('LinearOperatorAdjoint'; 'float32'; (3; 2; 2); (None; None; None; True)))
ADJOINT(P, is_self_adjoint=False)
    ValueError: An operator is self-adjoint if and only if its adjoint is self-adjoint.
ADJOINT(GOOD, is_non_singular=False)
    ValueError: An operator is non-singular if and only if its adjoint is non-singular.
INVERSE(BAD)
    ValueError: Argument `is_non_singular` or argument `operator` must have supplied hint `is_non_singular` equal to
    `True` or `None`. Found `operator.is_non_singular`: False, `is_non_singular`: None.
INVERSE(W)
    ValueError: Argument `is_square` or argument `operator` must have supplied hint `is_square` equal to `True` or
    `None`. Found `operator.is_square`: False, `is_square`: None.
INVERSE(M, is_non_singular=False)
    ValueError: Argument `is_non_singular` or argument `operator` must have supplied hint `is_non_singular` equal to
    `True` or `None`. Found `operator.is_non_singular`: None, `is_non_singular`: False.
INVERSE(M, is_square=False)
    ValueError: Argument `is_square` or argument `operator` must have supplied hint `is_square` equal to `True` or
    `None`. Found `operator.is_square`: True, `is_square`: False.
INVERSE(P, is_positive_definite=False)
    ValueError: An operator is positive-definite if and only if its inverse is positive-definite.
[o.name for o in (ADJOINT(M), INVERSE(M), ADJOINT(M, name='a'))]
    ('LinearOperatorFullMatrix_adjoint'; 'LinearOperatorFullMatrix_inv'; 'a')
values(ADJOINT(C))
    (complex64 [2, 2] [[2-1j, 0-3j], [1-0j, 4-0j]]; complex64 [2] [2-1j, 4-0j]; complex64 [] 6-1j; complex64 [] 8-1j;
    complex64 [] 2.0872+0j; float32 [] 3.5645)
values(INVERSE(M))
    (float32 [2, 2] [[-2, 1], [1.5, -0.5]]; float32 [2] [-2, -0.5]; float32 [] -2.5; float32 [] -0.5; float32 []
    -0.69315; float32 [] 14.933)
values(INVERSE(P))
    (float32 [2, 2] [[0.6, -0.2], [-0.2, 0.4]]; float32 [2] [0.6, 0.4]; float32 [] 1; float32 [] 0.2; float32 []
    -1.6094; float32 [] 2.618)
[INVERSE(P).eigvals(), ADJOINT(P).eigvals()]
    (float32 [2] [0.72361, 0.27639]; float32 [2] [1.382, 3.618])
products(ADJOINT(C), tf.complex(numbers(2, 2), numbers(2, 2)))
    (complex64 [2, 2] [[-15-1j, 27-15j], [-8-8j, 27+27j]]; complex64 [2, 2] [[-5-13j, 9+15j], [8-16j, 15+33j]];
    complex64 [2, 2] [[-15-1j, 27-15j], [-8-8j, 27+27j]]; complex64 [2] [-15-1j, -8-8j])
solutions(ADJOINT(C), tf.complex(numbers(2, 2), numbers(2, 2)))
    (complex64 [2, 2] [[-1.3077-2.5385j, -1.2+3.6j], [0.076923+0.38462j, 1.8+0.6j]]; complex64 [2, 2] [[-2.0769-1.6154j,
    0.83077+0.64615j], [-1.4615+1.3077j, 1.9846+0.87692j]]; complex64 [2, 2] [[-1.3077-2.5385j, -1.2+3.6j],
    [0.076923+0.38462j, 1.8+0.6j]]; complex64 [2] [-1.3077-2.5385j, 0.076923+0.38462j])
products(INVERSE(M), numbers(2, 2))
    (float32 [2, 2] [[7, -1.5895e-07], [-5.5, 1.5]]; float32 [2, 2] [[6.5, 3], [-3.5, 0]]; float32 [2, 2] [[7,
    -1.5895e-07], [-5.5, 1.5]]; float32 [2] [7, -5.5])
solutions(INVERSE(M), numbers(2, 2))
    (float32 [2, 2] [[-6, 15], [-16, 33]]; float32 [2, 2] [[-7, 21], [-12, 30]]; float32 [2, 2] [[-6, 15], [-16, 33]];
    float32 [2] [-6, -16])
[ADJOINT(W).matmul(numbers(2, 2)), ADJOINT(W).matvec(numbers(2)), ADJOINT(W).to_dense()]
    (float32 [3, 2] [[-7, 21], [-12, 30], [-1, 6]]; float32 [3] [5, 4, 3]; float32 [3, 2] [[1, 3], [2, 4], [0, 1]])
each(ADJOINT(M).adjoint(), INVERSE(M).inverse(), ADJOINT(M).inverse(), ADJOINT(MANY)[0])
    (('LinearOperatorFullMatrix'; 'float32'; (2; 2); (None; None; None; True)); ('LinearOperatorFullMatrix'; 'float32';
    (2; 2); (None; None; None; True)); ('LinearOperatorInversion'; 'float32'; (2; 2); (None; None; None; True));
    ('LinearOperatorAdjoint'; 'float32'; (2; 2); (None; None; None; True)))
INVERSE(DIAG([0.0, 1.0])).assert_non_singular()
    InvalidArgumentError: Singular operator: Diagonal contained zero values.
ADJOINT(M).assert_self_adjoint()
    InvalidArgumentError: Matrix was not equal to its adjoint.
ADJOINT(P).assert_positive_definite()
    None
in_graph(lambda a: ADJOINT(FULL(a)), W.matrix)
    ((float32 [3, 2] [[1, 3], [2, 4], [0, 1]]; int32 [2] [3, 2]; int32 [0] []; float32 [3, 3] [[10, 14, 3], [14, 20, 4],
    [3, 4, 1]]; float32 [2] [1, 4]); TensorShape([None, None]))
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())
