"""Block operators: hints, shapes, blocks and errors. TensorFlow gave the outcomes."""

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
each(BLOCK([M, N]), BLOCK([M]), BLOCK([P, P]), BLOCK([M, W]), BLOCK([C, C]), BLOCK([MANY, M]))
    (('LinearOperatorBlockDiag'; 'float32'; (5; 5); (None; None; None; True)); ('LinearOperatorBlockDiag'; 'float32';
    (2; 2); (None; None; None; True)); ('LinearOperatorBlockDiag'; 'float32'; (4; 4); (True; True; True; True));
    ('LinearOperatorBlockDiag'; 'float32'; (4; 5); (None; None; None; True)); ('LinearOperatorBlockDiag'; 'complex64';
    (4; 4); (None; None; None; True)); ('LinearOperatorBlockDiag'; 'float32'; (3; 4; 4); (None; None; None; True)))
each(BLOCK([GOOD, GOOD]), BLOCK([GOOD, BAD]), BLOCK([P, M], is_self_adjoint=True), BLOCK([W, V], is_square=False))
    ValueError: User set is_square hint to False, but the operator was square.
BLOCK([])
    ValueError: Expected a non-empty list of operators. Found: []
BLOCK(M)
    TypeError
BLOCK([M, F64])
    TypeError: Expected all operators to have the same dtype. Found ('LinearOperatorFullMatrix', tf.float32)
    ('LinearOperatorFullMatrix', tf.float64)
BLOCK([P, P], is_self_adjoint=False)
    ValueError: The direct sum of self-adjoint operators is always self-adjoint.
BLOCK([P, P], is_positive_definite=False)
    ValueError
BLOCK([GOOD, GOOD], is_non_singular=False)
    ValueError: The direct sum of non-singular operators is always non-singular.
[o.name for o in (BLOCK([M, N]), BLOCK([M, N], name='b'), COMPOSE([M, M]), KRON([M, N]), BLOCKS([[M]]), UPDATE(M, U))]
    ('LinearOperatorFullMatrix_ds_LinearOperatorFullMatrix'; 'b'; 'LinearOperatorFullMatrix_o_LinearOperatorFullMatrix';
    'LinearOperatorFullMatrix_x_LinearOperatorFullMatrix'; 'LinearOperatorBlockLowerTriangular';
    'LinearOperatorLowRankUpdate')
values(BLOCK([M, N]))
    (float32 [5, 5] [[1, 2, 0, 0, 0], [3, 4, 0, 0, 0], [0, 0, 2, 0, 1], [0, 0, 1, 3, 0], [0, 0, 0, 1, 4]]; float32 [5]
    [1, 4, 2, 3, 4]; float32 [] 14; float32 [] -50; float32 [] 3.912; float32 [] 14.933)
values(BLOCK([P, DIAG([3.0])]))
    (float32 [3, 3] [[2, 1, 0], [1, 3, 0], [0, 0, 3]]; float32 [3] [2, 3, 3]; float32 [] 8; float32 [] 15; float32 []
    2.7081; float32 [] 2.618)
BLOCK([P, DIAG([3.0])]).eigvals()
    float32 [3] [1.382, 3.618, 3]
BLOCK([MANY, N]).to_dense()
    float32 [3, 5, 5] [[[6, 2, 0, 0, 0], [3, 9, 0, 0, 0], [0, 0, 2, 0, 1], [0, 0, 1, 3, 0], [0, 0, 0, 1, 4]], [[10, 6,
    0, 0, 0], [7, 13, 0, 0, 0], [0, 0, 2, 0, 1], [0, 0, 1, 3, 0], [0, 0, 0, 1, 4]], [[14, 10, 0, 0, 0], [11, 17, 0, 0,
    0], [0, 0, 2, 0, 1], [0, 0, 1, 3, 0], [0, 0, 0, 1, 4]]]
BLOCK([MANY, M]).determinant()
    float32 [3] [-96, -176, -256]
[BLOCK([MANY, M]).trace(), BLOCK([MANY, M]).diag_part(), BLOCK([MANY, M]).log_abs_determinant()]
    (float32 [3] [20, 28, 36]; float32 [3, 4] [[6, 9, 1, 4], [10, 13, 1, 4], [14, 17, 1, 4]]; float32 [3] [4.5643,
    5.1705, 5.5452])
products(BLOCK([M, N]), numbers(5, 2))
    (float32 [5, 2] [[-6, 15], [-16, 33], [1, 0], [17, 1], [-7, 17]]; float32 [5, 2] [[-7, 21], [-12, 30], [9, -3], [12,
    7], [-10, 14]]; float32 [5, 2] [[-6, 15], [-16, 33], [1, 0], [17, 1], [-7, 17]]; float32 [5] [-6, -16, 1, 17, -7])
products(BLOCK([M, N]), numbers(2, 5, 2))
    (float32 [2, 5, 2] [[[-6, 15], [-16, 33], [1, 0], [17, 1], [-7, 17]], [[6, -6], [12, -16], [13, 1], [0, 17], [2,
    -7]]]; float32 [2, 5, 2] [[[-7, 21], [-12, 30], [9, -3], [12, 7], [-10, 14]], [[9, -7], [12, -12], [10, 9], [-5,
    12], [10, -10]]]; float32 [2, 5, 2] [[[-6, 15], [-16, 33], [1, 0], [17, 1], [-7, 17]], [[6, -6], [12, -16], [13, 1],
    [0, 17], [2, -7]]]; float32 [2, 5] [[-6, -16, 1, 17, -7], [6, 12, 13, 0, 2]])
solutions(BLOCK([M, N]), numbers(5, 2))
    (float32 [5, 2] [[7, -1.5895e-07], [-5.5, 1.5], [1.52, -1.4], [1.16, 0.8], [-1.04, 0.8]]; float32 [5, 2] [[6.5, 3],
    [-3.5, 0], [0.04, -0.96], [1.92, -0.08], [-0.76, 1.24]]; float32 [5, 2] [[7, -1.5895e-07], [-5.5, 1.5], [1.52,
    -1.4], [1.16, 0.8], [-1.04, 0.8]]; float32 [5] [7, -5.5, 1.52, 1.16, -1.04])
[BLOCK([W, V]).matmul(numbers(5, 2)), BLOCK([W, V]).matmul(numbers(5, 2), adjoint=True)]
    (float32 [5, 2] [[-6, 15], [-14, 31], [-1, 9], [-9, 12], [17, 8]]; float32 [5, 2] [[-7, 21], [-12, 30], [-1, 6],
    [-10, 14], [16, 3]])
BLOCK([M, N]).matmul([numbers(2, 2), numbers(3, 2)])
    (float32 [2, 2] [[-6, 15], [-16, 33]]; float32 [3, 2] [[-6, 4], [-7, 21], [7, -2]])
BLOCK([M, N]).matmul([numbers(2, 2), numbers(3, 2)], adjoint=True)
    (float32 [2, 2] [[-7, 21], [-12, 30]]; float32 [3, 2] [[-9, 12], [-1, 16], [4, -5]])
BLOCK([M, N]).matmul([numbers(2, 2), numbers(2, 3)], adjoint_arg=True)
    (float32 [2, 2] [[2, 11], [0, 21]]; float32 [3, 2] [[-9, 10], [5, 12], [-1, -6]])
BLOCK([M, N]).matvec([numbers(2), numbers(3)])
    (float32 [2] [2, 0]; float32 [3] [-9, 5, -1])
BLOCK([M, N]).matvec([numbers(2), numbers(3)], adjoint=True)
    (float32 [2] [5, 4]; float32 [3] [-5, 8, -8])
BLOCK([M, N]).solve([numbers(2, 2), numbers(3, 2)])
    (float32 [2, 2] [[7, -1.5895e-07], [-5.5, 1.5]]; float32 [3, 2] [[-2.2, 1.92], [0.4, 1.36], [0.4, -0.84]])
BLOCK([M, N]).solve([numbers(2, 2), numbers(3, 2)], adjoint=True)
    (float32 [2, 2] [[6.5, 3], [-3.5, 0]]; float32 [3, 2] [[-1.68, 0.4], [-0.64, 2.2], [0.92, -0.6]])
BLOCK([M, N]).solve([numbers(2, 2), numbers(2, 3)], adjoint_arg=True)
    (float32 [2, 2] [[11, 8], [-7.5, -4.5]]; float32 [3, 2] [[-1.68, 3.2], [1.56, -0.4], [-0.64, -0.4]])
BLOCK([M, N]).solvevec([numbers(2), numbers(3)])
    (float32 [2] [11, -7.5]; float32 [3] [-1.68, 1.56, -0.64])
BLOCK([W, V]).matmul([numbers(3, 2), numbers(2, 2)])
    (float32 [2, 2] [[-6, 15], [-14, 31]]; float32 [3, 2] [[-6, 15], [-3, 18], [-17, 18]])
BLOCK([M, N]).matmul([numbers(3, 2), numbers(2, 2)])
    ValueError: Dimensions 2 and 3 are not compatible
BLOCK([M, N]).matmul([numbers(2, 2)])
    ValueError: Dimensions 5 and 2 are not compatible
BLOCK([M, N]).matmul(numbers(4, 2))
    ValueError: Dimensions 5 and 4 are not compatible
BLOCK([M, N]).solve([numbers(3, 2), numbers(2, 2)])
    ValueError: Dimensions 2 and 3 are not compatible
BLOCK([M, BAD]).solve(numbers(4, 2))
    NotImplementedError: Exact solve not implemented for an operator that is expected to be singular.
each(BLOCK([M, N]).adjoint(), BLOCK([P, P]).adjoint(), BLOCK([M, N]).inverse(), BLOCK([P, P]).cholesky())
    (('LinearOperatorBlockDiag'; 'float32'; (5; 5); (None; None; None; True)); ('LinearOperatorBlockDiag'; 'float32';
    (4; 4); (True; True; True; True)); ('LinearOperatorBlockDiag'; 'float32'; (5; 5); (None; None; None; True));
    ('LinearOperatorBlockDiag'; 'float32'; (4; 4); (True; None; None; True)))
dense(BLOCK([M, N]).adjoint(), BLOCK([M, N]).inverse(), BLOCK([P, P]).cholesky())
    (float32 [5, 5] [[1, 3, 0, 0, 0], [2, 4, 0, 0, 0], [0, 0, 2, 1, 0], [0, 0, 0, 3, 1], [0, 0, 1, 0, 4]]; float32 [5,
    5] [[-2, 1, 0, 0, 0], [1.5, -0.5, 0, 0, 0], [0, 0, 0.48, 0.04, -0.12], [0, 0, -0.16, 0.32, 0.04], [0, 0, 0.04,
    -0.08, 0.24]]; float32 [4, 4] [[1.4142, 0, 0, 0], [0.70711, 1.5811, 0, 0], [0, 0, 1.4142, 0], [0, 0, 0.70711,
    1.5811]])
dense(BLOCK([M, N]) @ BLOCK([M, N]), BLOCK([M, N]).solve(BLOCK([M, N])))
    (float32 [5, 5] [[7, 10, 0, 0, 0], [15, 22, 0, 0, 0], [0, 0, 4, 1, 6], [0, 0, 5, 9, 1], [0, 0, 1, 7, 16]]; float32
    [5, 5] [[1, 0, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0, 1]])
BLOCK([M, DIAG([0.0])]).assert_non_singular()
    InvalidArgumentError: Singular operator: Diagonal contained zero values.
BLOCK([P, P]).assert_positive_definite()
    None
BLOCK([P, DIAG([-1.0])]).assert_positive_definite()
    InvalidArgumentError: Real diagonal operator had non-positive diagonal entries, thus was not positive definite..
BLOCK([P, DIAG([-1.0])]).assert_self_adjoint()
    None
BLOCK([M, DIAG([-1.0])]).assert_self_adjoint()
    InvalidArgumentError: Matrix was not equal to its adjoint.
in_graph(lambda a, b: BLOCK([FULL(a, is_square=True), FULL(b, is_square=True)]), M.matrix, N.matrix)
    ((float32 [5, 5] [[1, 2, 0, 0, 0], [3, 4, 0, 0, 0], [0, 0, 2, 0, 1], [0, 0, 1, 3, 0], [0, 0, 0, 1, 4]]; int32 [2]
    [5, 5]; int32 [0] []; float32 [5, 5] [[5, 11, 0, 0, 0], [11, 25, 0, 0, 0], [0, 0, 5, 2, 4], [0, 0, 2, 10, 3], [0, 0,
    4, 3, 17]]; float32 [5] [1, 4, 2, 3, 4]); TensorShape([None, None]))
in_graph(lambda a, b: BLOCK([FULL(a, is_square=True), FULL(b, is_square=True)]), MANY.matrix, N.matrix)
    ((float32 [3, 5, 5] [[[6, 2, 0, 0, 0], [3, 9, 0, 0, 0], [0, 0, 2, 0, 1], [0, 0, 1, 3, 0], [0, 0, 0, 1, 4]], [[10, 6,
    0, 0, 0], [7, 13, 0, 0, 0], [0, 0, 2, 0, 1], [0, 0, 1, 3, 0], [0, 0, 0, 1, 4]], [[14, 10, 0, 0, 0], [11, 17, 0, 0,
    0], [0, 0, 2, 0, 1], [0, 0, 1, 3, 0], [0, 0, 0, 1, 4]]]; int32 [3] [3, 5, 5]; int32 [1] [3]; float32 [3, 5, 5]
    [[[40, 36, 0, 0, 0], [36, 90, 0, 0, 0], [0, 0, 5, 2, 4], [0, 0, 2, 10, 3], [0, 0, 4, 3, 17]], [[136, 148, 0, 0, 0],
    [148, 218, 0, 0, 0], [0, 0, 5, 2, 4], [0, 0, 2, 10, 3], [0, 0, 4, 3, 17]], [[296, 324, 0, 0, 0], [324, 410, 0, 0,
    0], [0, 0, 5, 2, 4], [0, 0, 2, 10, 3], [0, 0, 4, 3, 17]]]; float32 [3, 5] [[6, 9, 2, 3, 4], [10, 13, 2, 3, 4], [14,
    17, 2, 3, 4]]); TensorShape([None, None, None]))
each(BLOCK([MANY, N])[0], BLOCK([MANY, N])[1:], BLOCK([MANY, MANY])[..., 0])
    (('LinearOperatorBlockDiag'; 'float32'; (5; 5); (None; None; None; True)); ('LinearOperatorBlockDiag'; 'float32';
    (2; 5; 5); (None; None; None; True)); ('LinearOperatorBlockDiag'; 'float32'; (4; 4); (None; None; None; True)))
each(BLOCKS([[M]]), BLOCKS([[M], [V, N]]), BLOCKS([[GOOD]]), BLOCKS([[BAD], [V, N]]))
    (('LinearOperatorBlockLowerTriangular'; 'float32'; (2; 2); (None; None; None; True));
    ('LinearOperatorBlockLowerTriangular'; 'float32'; (5; 5); (None; None; None; True));
    ('LinearOperatorBlockLowerTriangular'; 'float32'; (2; 2); (True; None; None; True));
    ('LinearOperatorBlockLowerTriangular'; 'float32'; (5; 5); (False; None; None; True)))
BLOCKS([])
    ValueError: Argument `operators` must be a list of >=1 operators. Received: [].
BLOCKS([[M], [N]])
    ValueError: Argument `operators[1]` must contain `2` blocks. Received: 1 blocks.
BLOCKS([[M, N]])
    ValueError: Argument `operators[0]` must contain `1` blocks. Received: 2 blocks.
BLOCKS(M)
    TypeError
BLOCKS([[W]])
    ValueError
BLOCKS([[M], [W, N]])
    ValueError: Argument `operators[1][0].domain_dimension` (3) must be the same as `operators[0][0].domain_dimension`
    (2).
BLOCKS([[M], [V, M]])
    ValueError: Argument `operators[1][0].range_dimension` (3) must be the same as `operators[1][1].range_dimension`
    (2).
BLOCKS([[M]], is_square=False)
    ValueError
BLOCKS([[GOOD]], is_non_singular=False)
    ValueError
BLOCKS([[BAD]], is_non_singular=True)
    ValueError
BLOCKS([[M], [FULL(tf.ones([1, 2], tf.float64)), F64]])
    TypeError
values(BLOCKS([[M], [V, N]]))
    (float32 [5, 5] [[1, 2, 0, 0, 0], [3, 4, 0, 0, 0], [1, 2, 2, 0, 1], [0, 3, 1, 3, 0], [4, 1, 0, 1, 4]]; float32 [5]
    [1, 4, 2, 3, 4]; float32 [] 14; float32 [] -50; float32 [] 3.912; float32 [] 30.496)
products(BLOCKS([[M], [V, N]]), numbers(5, 2))
    (float32 [5, 2] [[-6, 15], [-16, 33], [-5, 15], [14, 19], [-24, 35]]; float32 [5, 2] [[-17, 35], [4, 33], [9, -3],
    [12, 7], [-10, 14]]; float32 [5, 2] [[-6, 15], [-16, 33], [-5, 15], [14, 19], [-24, 35]]; float32 [5] [-6, -16, -5,
    14, -24])
solutions(BLOCKS([[M], [V, N]]), numbers(5, 2))
    (float32 [5, 2] [[7, -1.5895e-07], [-5.5, 1.5], [6.8, -2.84], [4.9, -0.22], [-7.6, 0.68]]; float32 [5, 2] [[-7.12,
    12.38], [2.04, -4.46], [0.04, -0.96], [1.92, -0.08], [-0.76, 1.24]]; float32 [5, 2] [[7, -1.5895e-07], [-5.5, 1.5],
    [6.8, -2.84], [4.9, -0.22], [-7.6, 0.68]]; float32 [5] [7, -5.5, 6.8, 4.9, -7.6])
BLOCKS([[M], [V, N]]).matmul([numbers(2, 2), numbers(3, 2)])
    (float32 [2, 2] [[-6, 15], [-16, 33]]; float32 [3, 2] [[-12, 19], [-10, 39], [-10, 16]])
BLOCKS([[M], [V, N]]).matmul([numbers(2, 2), numbers(3, 2)], adjoint=True)
    (float32 [2, 2] [[-3, 16], [-21, 52]]; float32 [3, 2] [[-9, 12], [-1, 16], [4, -5]])
BLOCKS([[M], [V, N]]).matvec([numbers(2), numbers(3)])
    (float32 [2] [2, 0]; float32 [3] [-7, 14, -14])
BLOCKS([[M], [V, N]]).solve([numbers(2, 2), numbers(3, 2)])
    (float32 [2, 2] [[7, -1.5895e-07], [-5.5, 1.5]]; float32 [3, 2] [[3.08, 0.48], [4.14, 0.34], [-6.16, -0.96]])
BLOCKS([[M], [V, N]]).solve([numbers(2, 2), numbers(3, 2)], adjoint=True)
    (float32 [2, 2] [[17.04, -11.2], [-7.68, 5.4]]; float32 [3, 2] [[-1.68, 0.4], [-0.64, 2.2], [0.92, -0.6]])
BLOCKS([[M], [V, N]]).solvevec([numbers(2), numbers(3)])
    (float32 [2] [11, -7.5]; float32 [3] [5.52, 6.66, -11.04])
dense(BLOCKS([[M], [V, N]]).adjoint(), BLOCKS([[M], [V, N]]).inverse())
    (float32 [5, 5] [[1, 3, 1, 0, 4], [2, 4, 2, 3, 1], [0, 0, 2, 1, 0], [0, 0, 0, 3, 1], [0, 0, 1, 0, 4]]; float32 [5,
    5] [[-2, 1, 0, 0, 0], [1.5, -0.5, 0, 0, 0], [-1.44, 0.48, 0.48, 0.04, -0.12], [-1.02, 0.34, -0.16, 0.32, 0.04],
    [1.88, -0.96, 0.04, -0.08, 0.24]])
each(BLOCKS([[M], [V, N]]).adjoint(), BLOCKS([[M], [V, N]]).inverse())
    (('LinearOperatorAdjoint'; 'float32'; (5; 5); (None; None; None; True)); ('LinearOperatorBlockLowerTriangular';
    'float32'; (5; 5); (None; None; None; True)))
BLOCKS([[M], [M, M], [M, ZEROS(2), M]]).inverse().to_dense()
    float32 [6, 6] [[-2, 1, 0, 0, 0, 0], [1.5, -0.5, 0, 0, 0, 0], [2, -1, -2, 1, 0, 0], [-1.5, 0.5, 1.5, -0.5, 0, 0],
    [2, -1, -0, -0, -2, 1], [-1.5, 0.5, -0, -0, 1.5, -0.5]]
BLOCKS([[M], [V, DIAG([0.0, 1.0, 1.0])]]).assert_non_singular()
    InvalidArgumentError: Singular operator: Diagonal contained zero values.
BLOCKS([[MANY], [V, N]]).to_dense()
    float32 [3, 5, 5] [[[6, 2, 0, 0, 0], [3, 9, 0, 0, 0], [1, 2, 2, 0, 1], [0, 3, 1, 3, 0], [4, 1, 0, 1, 4]], [[10, 6,
    0, 0, 0], [7, 13, 0, 0, 0], [1, 2, 2, 0, 1], [0, 3, 1, 3, 0], [4, 1, 0, 1, 4]], [[14, 10, 0, 0, 0], [11, 17, 0, 0,
    0], [1, 2, 2, 0, 1], [0, 3, 1, 3, 0], [4, 1, 0, 1, 4]]]
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())
