"""Householder and permutation operators: hints, results and errors. TensorFlow gave the outcomes."""

import pytest

import tapeflow as tf
from outcomes import read_rows
from traced_calls import check_row

# ---- outcomes that TensorFlow gave -----------------------------------------------------------------------------------

L = tf.linalg
HOUSE, PERM = L.LinearOperatorHouseholder, L.LinearOperatorPermutation
X = tf.constant([[1.0, 2.0], [3.0, -1.0], [0.0, 4.0]])
V = [1.0, 2.0, 2.0]
CV, CX = tf.constant([1 + 1j, 2, 1j], tf.complex64), tf.complex(X, X[::-1])


def facts(o):
    hints = [o.is_non_singular, o.is_self_adjoint, o.is_positive_definite, o.is_square]
    return type(o).__name__, o.dtype.name, o.shape.as_list(), hints


def each(*operators):
    return [facts(o) for o in operators]


def results(o, x):
    products = [o.matmul(x), o.matmul(x, adjoint=True), o.matmul(tf.linalg.adjoint(x), adjoint_arg=True)]
    solutions = [o.solve(x), o.solve(x, adjoint=True), o.solve(tf.linalg.adjoint(x), adjoint_arg=True)]
    return [*products, *solutions, o.matvec(x[..., 0]), o.solvevec(x[..., 0]), o.to_dense(), o.diag_part()]


def numbers(o):
    return [o.determinant(), o.log_abs_determinant(), o.trace(), o.cond()]


ROWS = read_rows(r"""
each(HOUSE(V), HOUSE([V, V]), HOUSE(CV), PERM([1, 2, 0]), PERM([[1, 0], [0, 1]]), PERM([1, 0], dtype=tf.float64))
    (('LinearOperatorHouseholder'; 'float32'; (3; 3); (None; True; False; True)); ('LinearOperatorHouseholder';
    'float32'; (2; 3; 3); (None; True; False; True)); ('LinearOperatorHouseholder'; 'complex64'; (3; 3); (None; True;
    False; True)); ('LinearOperatorPermutation'; 'float32'; (3; 3); (None; None; None; True));
    ('LinearOperatorPermutation'; 'float32'; (2; 2; 2); (None; None; None; True)); ('LinearOperatorPermutation';
    'float64'; (2; 2); (None; None; None; True)))
HOUSE(V, is_self_adjoint=False)
    ValueError: A Householder operator is always self adjoint.
HOUSE(V, is_positive_definite=True)
    ValueError: A Householder operator is always non-positive definite.
HOUSE(V, is_square=False)
    ValueError: A Householder operator is always square.
HOUSE(1.0)
    ValueError
PERM([1, 0], is_non_singular=False)
    ValueError
PERM([1, 0], is_square=False)
    ValueError
PERM([1.0, 0.0])
    TypeError: Argument `perm` must be integer dtype. Received: [1. 0.].
PERM(1)
    ValueError
PERM([1, 1])
    ValueError: Argument `perm` must be a vector of unique integers from 0 to 1.
PERM([1, 2])
    ValueError: Argument `perm` must be a vector of unique integers from 0 to 1.
[HOUSE(V).name, PERM([0]).name, HOUSE(V).reflection_axis, PERM([1, 0]).perm]
    ('LinearOperatorHouseholder'; 'LinearOperatorPermutation'; float32 [3] [1, 2, 2]; int32 [2] [1, 0])
results(HOUSE(V), X)
    (float32 [3, 2] [[-0.55556, 0.22222], [-0.11111, -4.5556], [-3.1111, 0.44444]]; float32 [3, 2] [[-0.55556, 0.22222],
    [-0.11111, -4.5556], [-3.1111, 0.44444]]; float32 [3, 2] [[-0.55556, 0.22222], [-0.11111, -4.5556], [-3.1111,
    0.44444]]; float32 [3, 2] [[-0.55556, 0.22222], [-0.11111, -4.5556], [-3.1111, 0.44444]]; float32 [3, 2] [[-0.55556,
    0.22222], [-0.11111, -4.5556], [-3.1111, 0.44444]]; float32 [3, 2] [[-0.55556, 0.22222], [-0.11111, -4.5556],
    [-3.1111, 0.44444]]; float32 [3] [-0.55556, -0.11111, -3.1111]; float32 [3] [-0.55556, -0.11111, -3.1111]; float32
    [3, 3] [[0.77778, -0.44444, -0.44444], [-0.44444, 0.11111, -0.88889], [-0.44444, -0.88889, 0.11111]]; float32 [3]
    [0.77778, 0.11111, 0.11111])
results(HOUSE([V, [0.0, 1.0, 0.0]]), X)
    (float32 [2, 3, 2] [[[-0.55556, 0.22222], [-0.11111, -4.5556], [-3.1111, 0.44444]], [[1, 2], [-3, 1], [0, 4]]];
    float32 [2, 3, 2] [[[-0.55556, 0.22222], [-0.11111, -4.5556], [-3.1111, 0.44444]], [[1, 2], [-3, 1], [0, 4]]];
    float32 [2, 3, 2] [[[-0.55556, 0.22222], [-0.11111, -4.5556], [-3.1111, 0.44444]], [[1, 2], [-3, 1], [0, 4]]];
    float32 [2, 3, 2] [[[-0.55556, 0.22222], [-0.11111, -4.5556], [-3.1111, 0.44444]], [[1, 2], [-3, 1], [0, 4]]];
    float32 [2, 3, 2] [[[-0.55556, 0.22222], [-0.11111, -4.5556], [-3.1111, 0.44444]], [[1, 2], [-3, 1], [0, 4]]];
    float32 [2, 3, 2] [[[-0.55556, 0.22222], [-0.11111, -4.5556], [-3.1111, 0.44444]], [[1, 2], [-3, 1], [0, 4]]];
    float32 [2, 3] [[-0.55556, -0.11111, -3.1111], [1, -3, 0]]; float32 [2, 3] [[-0.55556, -0.11111, -3.1111], [1, -3,
    0]]; float32 [2, 3, 3] [[[0.77778, -0.44444, -0.44444], [-0.44444, 0.11111, -0.88889], [-0.44444, -0.88889,
    0.11111]], [[1, -0, -0], [-0, -1, -0], [-0, -0, 1]]]; float32 [2, 3] [[0.77778, 0.11111, 0.11111], [1, -1, 1]])
results(HOUSE(CV), CX)
    (complex64 [3, 2] [[0.14286-3.7143j, -0.85714+3.4286j], [-1.5714+0.14286j, -4.4286+1.2857j], [1.4286-1.2857j,
    2.8571+0.28571j]]; complex64 [3, 2] [[0.14286-3.7143j, -0.85714+3.4286j], [-1.5714+0.14286j, -4.4286+1.2857j],
    [1.4286-1.2857j, 2.8571+0.28571j]]; complex64 [3, 2] [[0.14286-3.7143j, -0.85714+3.4286j], [-1.5714+0.14286j,
    -4.4286+1.2857j], [1.4286-1.2857j, 2.8571+0.28571j]]; complex64 [3, 2] [[0.14286-3.7143j, -0.85714+3.4286j],
    [-1.5714+0.14286j, -4.4286+1.2857j], [1.4286-1.2857j, 2.8571+0.28571j]]; complex64 [3, 2] [[0.14286-3.7143j,
    -0.85714+3.4286j], [-1.5714+0.14286j, -4.4286+1.2857j], [1.4286-1.2857j, 2.8571+0.28571j]]; complex64 [3, 2]
    [[0.14286-3.7143j, -0.85714+3.4286j], [-1.5714+0.14286j, -4.4286+1.2857j], [1.4286-1.2857j, 2.8571+0.28571j]];
    complex64 [3] [0.14286-3.7143j, -1.5714+0.14286j, 1.4286-1.2857j]; complex64 [3] [0.14286-3.7143j, -1.5714+0.14286j,
    1.4286-1.2857j]; complex64 [3, 3] [[0.42857+0j, -0.57143-0.57143j, -0.28571+0.28571j], [-0.57143+0.57143j,
    -0.14286+0j, 0+0.57143j], [-0.28571-0.28571j, -0-0.57143j, 0.71429+0j]]; complex64 [3] [0.42857+0j, -0.14286+0j,
    0.71429+0j])
results(PERM([1, 2, 0]), X)
    (float32 [3, 2] [[3, -1], [0, 4], [1, 2]]; float32 [3, 2] [[0, 4], [1, 2], [3, -1]]; float32 [3, 2] [[3, -1], [0,
    4], [1, 2]]; float32 [3, 2] [[0, 4], [1, 2], [3, -1]]; float32 [3, 2] [[3, -1], [0, 4], [1, 2]]; float32 [3, 2] [[0,
    4], [1, 2], [3, -1]]; float32 [3] [3, 0, 1]; float32 [3] [0, 1, 3]; float32 [3, 3] [[0, 1, 0], [0, 0, 1], [1, 0,
    0]]; float32 [3] [0, 0, 0])
results(PERM([[1, 2, 0], [0, 2, 1]]), X)
    (float32 [2, 3, 2] [[[3, -1], [0, 4], [1, 2]], [[1, 2], [0, 4], [3, -1]]]; float32 [2, 3, 2] [[[0, 4], [1, 2], [3,
    -1]], [[1, 2], [0, 4], [3, -1]]]; float32 [2, 3, 2] [[[3, -1], [0, 4], [1, 2]], [[1, 2], [0, 4], [3, -1]]]; float32
    [2, 3, 2] [[[0, 4], [1, 2], [3, -1]], [[1, 2], [0, 4], [3, -1]]]; float32 [2, 3, 2] [[[3, -1], [0, 4], [1, 2]], [[1,
    2], [0, 4], [3, -1]]]; float32 [2, 3, 2] [[[0, 4], [1, 2], [3, -1]], [[1, 2], [0, 4], [3, -1]]]; float32 [2, 3] [[3,
    0, 1], [1, 0, 3]]; float32 [2, 3] [[0, 1, 3], [1, 0, 3]]; float32 [2, 3, 3] [[[0, 1, 0], [0, 0, 1], [1, 0, 0]], [[1,
    0, 0], [0, 0, 1], [0, 1, 0]]]; float32 [2, 3] [[0, 0, 0], [1, 0, 0]])
results(PERM([1, 2, 0], dtype=tf.complex64), CX)
    (complex64 [3, 2] [[3+3j, -1-1j], [0+1j, 4+2j], [1+0j, 2+4j]]; complex64 [3, 2] [[0+1j, 4+2j], [1+0j, 2+4j], [3+3j,
    -1-1j]]; complex64 [3, 2] [[3+3j, -1-1j], [0+1j, 4+2j], [1+0j, 2+4j]]; complex64 [3, 2] [[0+1j, 4+2j], [1+0j, 2+4j],
    [3+3j, -1-1j]]; complex64 [3, 2] [[3+3j, -1-1j], [0+1j, 4+2j], [1+0j, 2+4j]]; complex64 [3, 2] [[0+1j, 4+2j], [1+0j,
    2+4j], [3+3j, -1-1j]]; complex64 [3] [3+3j, 0+1j, 1+0j]; complex64 [3] [0+1j, 1+0j, 3+3j]; complex64 [3, 3] [[0+0j,
    1+0j, 0+0j], [0+0j, 0+0j, 1+0j], [1+0j, 0+0j, 0+0j]]; complex64 [3] [0+0j, 0+0j, 0+0j])
numbers(HOUSE(V))
    (float32 [] -1; float32 [] 0; float32 [] 1; float32 [] 1)
numbers(HOUSE([V, V]))
    (float32 [2] [-1, -1]; float32 [2] [0, 0]; float32 [2] [1, 1]; float32 [2] [1, 1])
numbers(PERM([1, 2, 0]))
    (float32 [] 1; float32 [] 0; float32 [] 0; float32 [] 1)
numbers(PERM([1, 0, 2]))
    (float32 [] -1; float32 [] 0; float32 [] 1; float32 [] 1)
numbers(PERM([[1, 2, 0], [0, 2, 1]]))
    (float32 [2] [1, -1]; float32 [2] [0, 0]; float32 [2] [0, 1]; float32 [2] [1, 1])
HOUSE(V).eigvals()
    float32 [3] [-1, 1, 1]
PERM([1, 0], is_self_adjoint=True).eigvals()
    float32 [2] [-1, 1]
HOUSE(V).assert_non_singular()
    None
HOUSE(V).assert_positive_definite()
    InvalidArgumentError: Householder operators are always non-positive definite.
HOUSE(V).assert_self_adjoint()
    None
PERM([1, 2, 0]).assert_non_singular()
    None
PERM([1, 2, 0]).assert_self_adjoint()
    InvalidArgumentError: Matrix was not equal to its adjoint.
PERM([1, 0, 2]).assert_self_adjoint()
    None
each(HOUSE(V).adjoint(), HOUSE(V).inverse(), PERM([1, 2, 0]).adjoint(), PERM([1, 2, 0]).inverse(), HOUSE([V, V])[0])
    (('LinearOperatorHouseholder'; 'float32'; (3; 3); (None; True; False; True)); ('LinearOperatorHouseholder';
    'float32'; (3; 3); (None; True; False; True)); ('LinearOperatorAdjoint'; 'float32'; (3; 3); (None; None; None;
    True)); ('LinearOperatorInversion'; 'float32'; (3; 3); (None; None; None; True)); ('LinearOperatorHouseholder';
    'float32'; (3; 3); (None; True; False; True)))
[HOUSE(V).inverse().to_dense(), PERM([1, 2, 0]).adjoint().to_dense(), PERM([1, 2, 0]).inverse().to_dense()]
    (float32 [3, 3] [[0.77778, -0.44444, -0.44444], [-0.44444, 0.11111, -0.88889], [-0.44444, -0.88889, 0.11111]];
    float32 [3, 3] [[0, 0, 1], [1, 0, 0], [0, 1, 0]]; float32 [3, 3] [[0, 0, 1], [1, 0, 0], [0, 1, 0]])
PERM([[1, 2, 0], [0, 2, 1]])[1].to_dense()
    float32 [3, 3] [[1, 0, 0], [0, 0, 1], [0, 1, 0]]
HOUSE(V).add_to_tensor(tf.ones([3, 3]))
    float32 [3, 3] [[1.7778, 0.55556, 0.55556], [0.55556, 1.1111, 0.11111], [0.55556, 0.11111, 1.1111]]
PERM([1, 2, 0]).add_to_tensor(tf.ones([3, 3]))
    float32 [3, 3] [[1, 2, 1], [1, 1, 2], [2, 1, 1]]
HOUSE(V).matmul(tf.ones([2, 2]))
    ValueError: Dimensions 3 and 2 are not compatible
PERM([1, 2, 0]).matmul(tf.ones([2, 2]))
    ValueError: Dimensions 3 and 2 are not compatible
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())
