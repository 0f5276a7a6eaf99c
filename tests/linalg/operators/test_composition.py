"""Products and Kronecker products of operators: hints, shapes, results and errors. TensorFlow gave the outcomes."""

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


def dense(*operators):
    return [o.to_dense() for o in operators]


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
each(COMPOSE([M, M]), COMPOSE([W, V]), COMPOSE([V, W]), COMPOSE([P]), COMPOSE([GOOD, GOOD]), COMPOSE([MANY, M]))
    (('LinearOperatorComposition'; 'float32'; (2; 2); (None; None; None; True)); ('LinearOperatorComposition';
    'float32'; (2; 2); (None; None; None; True)); ('LinearOperatorComposition'; 'float32'; (3; 3); (None; None; None;
    True)); ('LinearOperatorComposition'; 'float32'; (2; 2); (True; True; None; True)); ('LinearOperatorComposition';
    'float32'; (2; 2); (True; None; None; True)); ('LinearOperatorComposition'; 'float32'; (3; 2; 2); (None; None; None;
    True)))
each(COMPOSE([M, M.adjoint()]), COMPOSE([GOOD, GOOD.adjoint()]), COMPOSE([P, P]), COMPOSE([W, W.adjoint()]))
    (('LinearOperatorComposition'; 'float32'; (2; 2); (None; True; None; True)); ('LinearOperatorComposition';
    'float32'; (2; 2); (True; True; True; True)); ('LinearOperatorComposition'; 'float32'; (2; 2); (True; True; True;
    True)); ('LinearOperatorComposition'; 'float32'; (2; 2); (None; True; None; True)))
COMPOSE([])
    ValueError: Expected a non-empty list of operators. Found: []
COMPOSE([M, C])
    TypeError: Expected all operators to have the same dtype. Found ('LinearOperatorFullMatrix', tf.float32)
    ('LinearOperatorFullMatrix', tf.complex64)
COMPOSE([GOOD, GOOD], is_non_singular=False)
    ValueError: The composition of non-singular operators is always non-singular.
COMPOSE([M, M.adjoint()], is_self_adjoint=False)
    ValueError: The composition was determined to be self-adjoint but user provided incorrect `False` hint.
COMPOSE([GOOD, GOOD.adjoint()], is_positive_definite=False)
    ValueError: The composition was determined to be non-singular and have the form A @ A.H, hence it must be
    positive-definite. The user provided an incorrect `False` hint.
COMPOSE([W, W.adjoint()], is_square=False)
    ValueError: The composition was determined have the form A @ A.H, hence it must be square. The user provided an
    incorrect `False` hint.
values(COMPOSE([M, P]))
    (float32 [2, 2] [[4, 7], [10, 15]]; float32 [2] [4, 15]; float32 [] 19; float32 [] -10; float32 [] 2.3026; float32
    [] 38.974)
values(COMPOSE([MANY, P]))
    (float32 [3, 2, 2] [[[14, 12], [15, 30]], [[26, 28], [27, 46]], [[38, 44], [39, 62]]]; float32 [3, 2] [[14, 30],
    [26, 46], [38, 62]]; float32 [3] [44, 72, 100]; float32 [3] [240, 440, 640]; float32 [3] [5.4806, 6.0868, 6.4615];
    float32 [3] [5.9357, 9.6808, 13.59])
products(COMPOSE([M, P]), numbers(2, 2))
    (float32 [2, 2] [[-23, 54], [-55, 120]]; float32 [2, 2] [[-26, 72], [-43, 111]]; float32 [2, 2] [[-23, 54], [-55,
    120]]; float32 [2] [-23, -55])
solutions(COMPOSE([M, P]), numbers(2, 2))
    (float32 [2, 2] [[5.3, -0.3], [-3.6, 0.6]]; float32 [2, 2] [[5, 1.5], [-2.4, -0.3]]; float32 [2, 2] [[5.3, -0.3],
    [-3.6, 0.6]]; float32 [2] [5.3, -3.6])
COMPOSE([W, V, M]).to_dense()
    float32 [2, 2] [[25, 34], [64, 90]]
[COMPOSE([W, V, M]).matmul(numbers(2, 3)), COMPOSE([V, W]).matmul(numbers(3, 2), adjoint=True)]
    (float32 [2, 3] [[104, 143, -93], [284, 372, -244]]; float32 [3, 2] [[-23, 61], [-28, 78], [-9, 22]])
COMPOSE([M, DIAG([0.0, 1.0])]).assert_non_singular()
    InvalidArgumentError: Singular operator: Diagonal contained zero values.
each(COMPOSE([M, P]).adjoint(), COMPOSE([M, P]).inverse())
    (('LinearOperatorAdjoint'; 'float32'; (2; 2); (None; None; None; True)); ('LinearOperatorInversion'; 'float32'; (2;
    2); (None; None; None; True)))
COMPOSE([LOWER(M.matrix), LOWER(M.matrix).adjoint()], is_positive_definite=True).cholesky().to_dense()
    ValueError: Cannot take the Cholesky decomposition: Not a positive definite self adjoint matrix.
COMPOSE([LOWER([[-1.0, 0.0], [3.0, 4.0]]), LOWER([[-1.0, 0.0], [3.0, 4.0]]).adjoint()]).to_dense()
    float32 [2, 2] [[1, -3], [-3, 25]]
in_graph(lambda a, b: COMPOSE([FULL(a), FULL(b)]), M.matrix, P.matrix)
    ((float32 [2, 2] [[4, 7], [10, 15]]; int32 [2] [2, 2]; int32 [0] []; float32 [2, 2] [[65, 145], [145, 325]]; float32
    [2] [4, 15]); TensorShape([None, None]))
each(KRON([M, N]), KRON([M, W]), KRON([P, P]), KRON([GOOD, GOOD]), KRON([MANY, M]), KRON([M]))
    (('LinearOperatorKronecker'; 'float32'; (6; 6); (None; None; None; True)); ('LinearOperatorKronecker'; 'float32';
    (4; 6); (None; None; None; False)); ('LinearOperatorKronecker'; 'float32'; (4; 4); (True; True; True; True));
    ('LinearOperatorKronecker'; 'float32'; (4; 4); (True; None; None; True)); ('LinearOperatorKronecker'; 'float32'; (3;
    4; 4); (None; None; None; True)); ('LinearOperatorKronecker'; 'float32'; (2; 2); (None; None; None; True)))
KRON([])
    ValueError
KRON([M, F64])
    TypeError
KRON([P, P], is_self_adjoint=False)
    ValueError
values(KRON([M, DIAG([2.0, 3.0])]))
    (float32 [4, 4] [[2, 0, 4, 0], [0, 3, 0, 6], [6, 0, 8, 0], [0, 9, 0, 12]]; float32 [4] [2, 3, 8, 12]; float32 [] 25;
    float32 [] 144; float32 [] 4.9698; float32 [] 22.4)
values(KRON([P, DIAG([2.0, 3.0]), ID(2)]))[1:]
    (float32 [8] [4, 4, 6, 6, 6, 6, 9, 9]; float32 [] 50; float32 [] 8.1e+05; float32 [] 13.605; float32 [] 3.9271)
KRON([P, DIAG([2.0, 3.0])], is_self_adjoint=True).eigvals()
    float32 [4] [2.7639, 4.1459, 7.2361, 10.854]
products(KRON([M, P]), numbers(4, 2))
    (float32 [4, 2] [[9, 6], [27, 23], [9, 24], [47, 67]]; float32 [4, 2] [[18, 3], [44, 24], [18, 12], [54, 46]];
    float32 [4, 2] [[9, 6], [27, 23], [9, 24], [47, 67]]; float32 [4] [9, 27, 9, 47])
solutions(KRON([M, P]), numbers(4, 2))
    (float32 [4, 2] [[4.6, -2.6], [0.8, -2.8], [-3.4, 1.6], [-0.2, 2.3]]; float32 [4, 2] [[4.7, -3.3], [1.6, -2.4],
    [-2.3, 1.3], [-0.4, 1.4]]; float32 [4, 2] [[4.6, -2.6], [0.8, -2.8], [-3.4, 1.6], [-0.2, 2.3]]; float32 [4] [4.6,
    0.8, -3.4, -0.2])
[KRON([W, M]).matmul(numbers(6, 2)), KRON([W, M]).matmul(numbers(4, 2), adjoint=True), KRON([W, V]).to_dense()]
    (float32 [4, 2] [[18, 15], [36, 29], [27, 41], [47, 87]]; float32 [6, 2] [[44, 24], [60, 30], [54, 46], [72, 60],
    [17, 1], [24, 0]]; float32 [6, 6] [[1, 2, 2, 4, 0, 0], [0, 3, 0, 6, 0, 0], [4, 1, 8, 2, 0, 0], [3, 6, 4, 8, 1, 2],
    [0, 9, 0, 12, 0, 3], [12, 3, 16, 4, 4, 1]])
KRON([MANY, M]).matmul(numbers(4, 1))
    float32 [3, 4, 1] [[[34], [42], [105], [189]], [[86], [126], [157], [273]], [[138], [210], [209], [357]]]
KRON([MANY, M]).determinant()
    float32 [3] [9216, 30976, 65536]
KRON([W, M]).solve(numbers(4, 2))
    NotImplementedError: Exact solve not implemented for an operator that is expected to not be square.
KRON([W, M]).determinant()
    NotImplementedError: Determinant not implemented for an operator that is expected to not be square.
KRON([W, V]).assert_non_singular()
    InvalidArgumentError
KRON([W, V]).assert_self_adjoint()
    InvalidArgumentError
KRON([M, DIAG([0.0, 1.0])]).assert_non_singular()
    InvalidArgumentError: Singular operator: Diagonal contained zero values.
KRON([P, P]).assert_self_adjoint()
    None
each(KRON([M, N]).adjoint(), KRON([M, N]).inverse(), KRON([P, P]).cholesky())
    (('LinearOperatorKronecker'; 'float32'; (6; 6); (None; None; None; True)); ('LinearOperatorKronecker'; 'float32';
    (6; 6); (None; None; None; True)); ('LinearOperatorKronecker'; 'float32'; (4; 4); (True; None; None; True)))
dense(KRON([M, P]).adjoint(), KRON([M, P]).inverse(), KRON([P, P]).cholesky())
    (float32 [4, 4] [[2, 1, 6, 3], [1, 3, 3, 9], [4, 2, 8, 4], [2, 6, 4, 12]]; float32 [4, 4] [[-1.2, 0.4, 0.6, -0.2],
    [0.4, -0.8, -0.2, 0.4], [0.9, -0.3, -0.3, 0.1], [-0.3, 0.6, 0.1, -0.2]]; float32 [4, 4] [[2, 0, 0, 0], [1, 2.2361,
    0, 0], [1, 0, 2.2361, 0], [0.5, 1.118, 1.118, 2.5]])
in_graph(lambda a, b: KRON([FULL(a), FULL(b)]), M.matrix, P.matrix)
    ((float32 [4, 4] [[2, 1, 4, 2], [1, 3, 2, 6], [6, 3, 8, 4], [3, 9, 4, 12]]; int32 [2] [4, 4]; int32 [0] []; float32
    [4, 4] [[25, 25, 55, 55], [25, 50, 55, 110], [55, 55, 125, 125], [55, 110, 125, 250]]; float32 [4] [2, 3, 8, 12]);
    TensorShape([None, None]))
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())
