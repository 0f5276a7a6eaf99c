"""Operators of identity, of its multiples and of zeros: sizes, hints, batches and errors. TensorFlow gave the
outcomes."""

import numpy as np
import pytest

import tapeflow as tf
from outcomes import read_rows
from traced_calls import check_row

# ---- outcomes that TensorFlow gave -----------------------------------------------------------------------------------

L = tf.linalg
ID, SCALED, ZEROS = L.LinearOperatorIdentity, L.LinearOperatorScaledIdentity, L.LinearOperatorZeros
FULL, DIAG = L.LinearOperatorFullMatrix, L.LinearOperatorDiag
M, B = tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([[[1.0, 2.0], [3.0, 4.0]]] * 3)


def facts(o):
    hints = [o.is_non_singular, o.is_self_adjoint, o.is_positive_definite, o.is_square]
    return type(o).__name__, o.dtype.name, o.shape.as_list(), hints


def each(*operators):
    return [facts(o) for o in operators]


def uses(o, x, add=True):
    """What an operator gives for a matrix."""
    products = [o.matmul(x), o.matmul(x, adjoint=True), o.matmul(x, adjoint_arg=True)]
    return [*products, o.matvec(x[..., 0]), *([o.add_to_tensor(x)] if add else [])]


def numbers(o):
    return [o.determinant(), o.log_abs_determinant(), o.trace(), o.diag_part(), o.to_dense()]


def of_sizes(make, *sizes):
    """Makes an operator in a graph that does not know the sizes, and returns static shapes and values."""
    found = []

    def run(*sizes):
        o = make(*sizes)
        found.append((str(o.shape[-2:]), o.batch_shape))
        return o.to_dense(), o.diag_part(), o.shape_tensor(), o.batch_shape_tensor(), o.trace()

    return tf.function(run, input_signature=[tf.TensorSpec(np.shape(s), tf.int32) for s in sizes])(*sizes), found[0]


ROWS = read_rows(r"""
facts(ID(2))
    ('LinearOperatorIdentity'; 'float32'; (2; 2); (True; True; True; True))
facts(ID(2, [3]))
    ('LinearOperatorIdentity'; 'float32'; (3; 2; 2); (True; True; True; True))
facts(ID(2, dtype=tf.float64))
    ('LinearOperatorIdentity'; 'float64'; (2; 2); (True; True; True; True))
facts(ID(2, dtype='complex64'))
    ('LinearOperatorIdentity'; 'complex64'; (2; 2); (True; True; True; True))
facts(ID(tf.constant(2), tf.constant([3, 1])))
    ('LinearOperatorIdentity'; 'float32'; (3; 1; 2; 2); (True; True; True; True))
facts(ID(np.int64(2)))
    ('LinearOperatorIdentity'; 'float32'; (2; 2); (True; True; True; True))
ID(2).name
    'LinearOperatorIdentity'
[ID(2, **{h: False}) for h in ('is_self_adjoint',)]
    ValueError: An identity operator is always self adjoint.
ID(2, is_non_singular=False)
    ValueError: An identity operator is always non-singular.
ID(2, is_positive_definite=False)
    ValueError: An identity operator is always positive-definite.
ID(2, is_square=False)
    ValueError: An identity operator is always square.
ID(2, is_square=None)
    ValueError: An identity operator is always square.
ID(-1)
    ValueError: Argument num_rows must be non-negative. Found: -1
ID([2])
    ValueError: Argument num_rows must be a 0-D Tensor. Found: [2]
ID(2.0)
    TypeError
ID(2, 3)
    ValueError: Argument batch_shape must be a 1-D Tensor. Found: 3
ID(2, [-3])
    ValueError
ID(2, [[3]])
    ValueError: Argument batch_shape must be a 1-D Tensor. Found: [[3]]
ID(2, [1.5])
    TypeError
ID(tf.Variable(2))
    TypeError
ID(2, tf.Variable([3]))
    TypeError
ID(0).to_dense()
    float32 [0, 0] []
uses(ID(2), M)
    (float32 [2, 2] [[1, 2], [3, 4]]; float32 [2, 2] [[1, 2], [3, 4]]; float32 [2, 2] [[1, 3], [2, 4]]; float32 [2] [1,
    3]; float32 [2, 2] [[2, 2], [3, 5]])
uses(ID(2, [3]), M, add=False)
    (float32 [3, 2, 2] [[[1, 2], [3, 4]], [[1, 2], [3, 4]], [[1, 2], [3, 4]]]; float32 [3, 2, 2] [[[1, 2], [3, 4]], [[1,
    2], [3, 4]], [[1, 2], [3, 4]]]; float32 [3, 2, 2] [[[1, 3], [2, 4]], [[1, 3], [2, 4]], [[1, 3], [2, 4]]]; float32
    [3, 2] [[1, 3], [1, 3], [1, 3]])
uses(ID(2, [1]), M, add=False)
    (float32 [1, 2, 2] [[[1, 2], [3, 4]]]; float32 [1, 2, 2] [[[1, 2], [3, 4]]]; float32 [1, 2, 2] [[[1, 3], [2, 4]]];
    float32 [1, 2] [[1, 3]])
uses(ID(2, []), M)
    (float32 [2, 2] [[1, 2], [3, 4]]; float32 [2, 2] [[1, 2], [3, 4]]; float32 [2, 2] [[1, 3], [2, 4]]; float32 [2] [1,
    3]; float32 [2, 2] [[2, 2], [3, 5]])
uses(ID(2, [3]), B)
    (float32 [3, 2, 2] [[[1, 2], [3, 4]], [[1, 2], [3, 4]], [[1, 2], [3, 4]]]; float32 [3, 2, 2] [[[1, 2], [3, 4]], [[1,
    2], [3, 4]], [[1, 2], [3, 4]]]; float32 [3, 2, 2] [[[1, 3], [2, 4]], [[1, 3], [2, 4]], [[1, 3], [2, 4]]]; float32
    [3, 2] [[1, 3], [1, 3], [1, 3]]; float32 [3, 2, 2] [[[2, 2], [3, 5]], [[2, 2], [3, 5]], [[2, 2], [3, 5]]])
uses(ID(2, [3], assert_proper_shapes=True), M, add=False)
    (float32 [3, 2, 2] [[[1, 2], [3, 4]], [[1, 2], [3, 4]], [[1, 2], [3, 4]]]; float32 [3, 2, 2] [[[1, 2], [3, 4]], [[1,
    2], [3, 4]], [[1, 2], [3, 4]]]; float32 [3, 2, 2] [[[1, 3], [2, 4]], [[1, 3], [2, 4]], [[1, 3], [2, 4]]]; float32
    [3, 2] [[1, 3], [1, 3], [1, 3]])
numbers(ID(2))
    (float32 [] 1; float32 [] 0; float32 [] 2; float32 [2] [1, 1]; float32 [2, 2] [[1, 0], [0, 1]])
numbers(ID(2, [3]))
    (float32 [3] [1, 1, 1]; float32 [3] [0, 0, 0]; float32 [3] [2, 2, 2]; float32 [3, 2] [[1, 1], [1, 1], [1, 1]];
    float32 [3, 2, 2] [[[1, 0], [0, 1]], [[1, 0], [0, 1]], [[1, 0], [0, 1]]])
numbers(ID(2, [0]))
    (float32 [0] []; float32 [0] []; float32 [0] []; float32 [0, 2] []; float32 [0, 2, 2] [])
[ID(2, [3]).solve(M), ID(2, [3]).solvevec([1.0, 2.0]), ID(2).cond(), ID(2, [3]).cond(), ID(2, [3]).eigvals()]
    (float32 [3, 2, 2] [[[1, 2], [3, 4]], [[1, 2], [3, 4]], [[1, 2], [3, 4]]]; float32 [3, 2] [[1, 2], [1, 2], [1, 2]];
    float32 [] 1; float32 [3] [1, 1, 1]; float32 [3, 2] [[1, 1], [1, 1], [1, 1]])
each(ID(2).inverse(), ID(2).cholesky(), ID(2).adjoint(), ID(2, [3])[0], ID(2, [3, 4])[1:])
    (('LinearOperatorIdentity'; 'float32'; (2; 2); (True; True; True; True)); ('LinearOperatorIdentity'; 'float32'; (2;
    2); (True; True; True; True)); ('LinearOperatorIdentity'; 'float32'; (2; 2); (True; True; True; True));
    ('LinearOperatorIdentity'; 'float32'; (2; 2); (True; True; True; True)); ('LinearOperatorIdentity'; 'float32'; (2;
    4; 2; 2); (True; True; True; True)))
ID(2).matmul(tf.ones([3, 3]))
    ValueError: Dimensions 2 and 3 are not compatible
ID(2).matmul(tf.ones([2, 2], tf.float64))
    TypeError
ID(2, assert_proper_shapes=True).matmul(tf.ones([3, 3]))
    ValueError: Dimensions 2 and 3 are not compatible
ID(2).matvec([1.0, 2.0, 3.0])
    ValueError: Dimensions 2 and 3 are not compatible
ID(2).matmul([1.0, 2.0])
    IndexError
[ID(2).assert_non_singular(), ID(2).assert_positive_definite(), ID(2).assert_self_adjoint()]
    (None; None; None)
of_sizes(lambda n: ID(n), 2)
    ((float32 [2, 2] [[1, 0], [0, 1]]; float32 [2] [1, 1]; int32 [2] [2, 2]; int32 [0] []; float32 [] 2); ('(None,
    None)'; TensorShape([])))
of_sizes(lambda n: ID(n, [2]), 2)
    ((float32 [2, 2, 2] [[[1, 0], [0, 1]], [[1, 0], [0, 1]]]; float32 [2, 2] [[1, 1], [1, 1]]; int32 [3] [2, 2, 2];
    int32 [1] [2]; float32 [2] [2, 2]); ('(None, None)'; TensorShape([2])))
of_sizes(lambda n: ID(n, assert_proper_shapes=True), -2)
    InvalidArgumentError
facts(SCALED(2, 3.0))
    ('LinearOperatorScaledIdentity'; 'float32'; (2; 2); (None; True; None; True))
facts(SCALED(2, [3.0, 4.0]))
    ('LinearOperatorScaledIdentity'; 'float32'; (2; 2; 2); (None; True; None; True))
facts(SCALED(2, 3j))
    ('LinearOperatorScaledIdentity'; 'complex128'; (2; 2); (None; None; None; True))
facts(SCALED(2, tf.constant(3.0, tf.float64), is_non_singular=True))
    ('LinearOperatorScaledIdentity'; 'float64'; (2; 2); (True; True; None; True))
facts(SCALED(2, 3.0, is_positive_definite=True))
    ('LinearOperatorScaledIdentity'; 'float32'; (2; 2); (True; True; True; True))
SCALED(2, 3.0).name
    'LinearOperatorScaledIdentity'
SCALED(2, 3.0, is_self_adjoint=False)
    ValueError: A real diagonal operator is always self adjoint.
facts(SCALED(2, 3j, is_self_adjoint=False))
    ('LinearOperatorScaledIdentity'; 'complex128'; (2; 2); (None; False; None; True))
SCALED(2, 3.0, is_square=False)
    ValueError: A ScaledIdentity operator is always square.
SCALED(-2, 3.0)
    ValueError: Argument num_rows must be non-negative. Found: -2
SCALED([2], 3.0)
    ValueError: Argument num_rows must be a 0-D Tensor. Found: [2]
SCALED(2.5, 3.0)
    TypeError
SCALED(2, [3.0, 4.0]).multiplier
    float32 [2] [3, 4]
uses(SCALED(2, 3.0), M)
    (float32 [2, 2] [[3, 6], [9, 12]]; float32 [2, 2] [[3, 6], [9, 12]]; float32 [2, 2] [[3, 9], [6, 12]]; float32 [2]
    [3, 9]; float32 [2, 2] [[4, 2], [3, 7]])
uses(SCALED(2, [3.0, -1.0]), M, add=False)
    (float32 [2, 2, 2] [[[3, 6], [9, 12]], [[-1, -2], [-3, -4]]]; float32 [2, 2, 2] [[[3, 6], [9, 12]], [[-1, -2], [-3,
    -4]]]; float32 [2, 2, 2] [[[3, 9], [6, 12]], [[-1, -3], [-2, -4]]]; float32 [2, 2] [[3, 9], [-1, -3]])
uses(SCALED(2, [3.0, -1.0, 2.0]), B)
    (float32 [3, 2, 2] [[[3, 6], [9, 12]], [[-1, -2], [-3, -4]], [[2, 4], [6, 8]]]; float32 [3, 2, 2] [[[3, 6], [9,
    12]], [[-1, -2], [-3, -4]], [[2, 4], [6, 8]]]; float32 [3, 2, 2] [[[3, 9], [6, 12]], [[-1, -3], [-2, -4]], [[2, 6],
    [4, 8]]]; float32 [3, 2] [[3, 9], [-1, -3], [2, 6]]; float32 [3, 2, 2] [[[4, 2], [3, 7]], [[0, 2], [3, 3]], [[3, 2],
    [3, 6]]])
uses(SCALED(2, 3.0, assert_proper_shapes=True), M)
    (float32 [2, 2] [[3, 6], [9, 12]]; float32 [2, 2] [[3, 6], [9, 12]]; float32 [2, 2] [[3, 9], [6, 12]]; float32 [2]
    [3, 9]; float32 [2, 2] [[4, 2], [3, 7]])
uses(SCALED(2, [3j, 1 + 1j]), tf.complex(M, M))
    TypeError
numbers(SCALED(2, 3.0))
    (float32 [] 9; float32 [] 2.1972; float32 [] 6; float32 [2] [3, 3]; float32 [2, 2] [[3, 0], [0, 3]])
numbers(SCALED(3, -2.0))
    (float32 [] -8; float32 [] 2.0794; float32 [] -6; float32 [3] [-2, -2, -2]; float32 [3, 3] [[-2, -0, -0], [-0, -2,
    -0], [-0, -0, -2]])
numbers(SCALED(2, [3.0, -1.0]))
    (float32 [2] [9, 1]; float32 [2] [2.1972, 0]; float32 [2] [6, -2]; float32 [2, 2] [[3, 3], [-1, -1]]; float32 [2, 2,
    2] [[[3, 0], [0, 3]], [[-1, -0], [-0, -1]]])
numbers(SCALED(2, 2j))
    (complex128 [] -4+4.8986e-16j; float64 [] 1.3863; complex128 [] 0+4j; complex128 [2] [0+2j, 0+2j]; complex128 [2, 2]
    [[0+2j, 0+0j], [0+0j, 0+2j]])
[SCALED(2, 4.0).solve(M), SCALED(2, [4.0, 2.0]).solvevec([1.0, 2.0]), SCALED(2, 3.0).cond(), SCALED(2, 3.0).eigvals()]
    (float32 [2, 2] [[0.25, 0.5], [0.75, 1]]; float32 [2, 2] [[0.25, 0.5], [0.5, 1]]; float32 [] 1; float32 [2] [3, 3])
[SCALED(2, 2j).solve(tf.complex(M, M)), SCALED(2, 2j).solve(tf.complex(M, M), adjoint=True, adjoint_arg=True)]
    TypeError
each(SCALED(2, 4.0).inverse(), SCALED(2, 4j).adjoint(), SCALED(2, [4.0, 1.0])[1])
    (('LinearOperatorScaledIdentity'; 'float32'; (2; 2); (None; True; None; True)); ('LinearOperatorScaledIdentity';
    'complex128'; (2; 2); (None; None; None; True)); ('LinearOperatorScaledIdentity'; 'float32'; (2; 2); (None; True;
    None; True)))
[SCALED(2, 4.0).inverse().to_dense(), SCALED(2, 1 + 4j).adjoint().to_dense()]
    (float32 [2, 2] [[0.25, 0], [0, 0.25]]; complex128 [2, 2] [[1-4j, 0+0j], [0+0j, 1-4j]])
SCALED(2, 4.0).cholesky()
    ValueError: Cannot take the Cholesky decomposition: Not a positive definite self adjoint matrix.
SCALED(2, 4.0, is_positive_definite=True).cholesky().to_dense()
    float32 [2, 2] [[2, 0], [0, 2]]
facts(SCALED(2, 4.0, is_positive_definite=True).cholesky())
    ('LinearOperatorScaledIdentity'; 'float32'; (2; 2); (True; True; True; True))
SCALED(2, 0.0).assert_non_singular()
    InvalidArgumentError: LinearOperator was singular.
SCALED(2, [1.0, 0.0]).assert_non_singular()
    InvalidArgumentError: LinearOperator was singular.
SCALED(2, 1.0).assert_non_singular()
    None
SCALED(2, -1.0).assert_positive_definite()
    InvalidArgumentError: LinearOperator was not positive definite..
SCALED(2, 1.0).assert_positive_definite()
    None
SCALED(2, 1j).assert_self_adjoint()
    InvalidArgumentError: LinearOperator was not self-adjoint
SCALED(2, 1 + 0j).assert_self_adjoint()
    None
of_sizes(lambda n: SCALED(n, 3.0), 2)
    ((float32 [2, 2] [[3, 0], [0, 3]]; float32 [2] [3, 3]; int32 [2] [2, 2]; int32 [0] []; float32 [] 6); ('(None,
    None)'; TensorShape([])))
of_sizes(lambda n: SCALED(n, [3.0, 1.0]), 2)
    ((float32 [2, 2, 2] [[[3, 0], [0, 3]], [[1, 0], [0, 1]]]; float32 [2, 2] [[3, 3], [1, 1]]; int32 [3] [2, 2, 2];
    int32 [1] [2]; float32 [2] [6, 2]); ('(None, None)'; TensorShape([2])))
of_sizes(lambda n: SCALED(n, 3.0, assert_proper_shapes=True), 2)
    ((float32 [2, 2] [[3, 0], [0, 3]]; float32 [2] [3, 3]; int32 [2] [2, 2]; int32 [0] []; float32 [] 6); ('(None,
    None)'; TensorShape([])))
facts(ZEROS(2))
    ('LinearOperatorZeros'; 'float32'; (2; 2); (False; True; False; True))
facts(ZEROS(2, 3, is_square=False, is_self_adjoint=False))
    ('LinearOperatorZeros'; 'float32'; (2; 3); (False; False; False; False))
facts(ZEROS(2, 3, is_square=False))
    ValueError: A self-adjoint matrix is always square.
facts(ZEROS(2, batch_shape=[3]))
    ('LinearOperatorZeros'; 'float32'; (3; 2; 2); (False; True; False; True))
facts(ZEROS(2, dtype=tf.float64))
    ('LinearOperatorZeros'; 'float64'; (2; 2); (False; True; False; True))
ZEROS(2).name
    'LinearOperatorZeros'
ZEROS(2, is_self_adjoint=False)
    ValueError: A zero operator is always self adjoint.
ZEROS(2, is_non_singular=True)
    ValueError: A zero operator is always singular.
ZEROS(2, is_positive_definite=True)
    ValueError: A zero operator is always not positive-definite.
ZEROS(2, 3)
    ValueError: LinearOperatorZeros initialized as is_square=True, but got num_rows(2) != num_columns(3)
ZEROS(-2)
    ValueError: Argument num_rows must be non-negative. Found: -2
ZEROS(2, -3, is_square=False)
    ValueError: A self-adjoint matrix is always square.
ZEROS(2.0)
    TypeError
ZEROS(2, batch_shape=3)
    ValueError: Argument batch_shape must be a 1-D Tensor. Found: 3
uses(ZEROS(2), M)
    (float32 [2, 2] [[0, 0], [0, 0]]; float32 [2, 2] [[0, 0], [0, 0]]; float32 [2, 2] [[0, 0], [0, 0]]; float32 [2] [0,
    0]; float32 [2, 2] [[1, 2], [3, 4]])
uses(ZEROS(2, batch_shape=[3]), M)
    (float32 [3, 2, 2] [[[0, 0], [0, 0]], [[0, 0], [0, 0]], [[0, 0], [0, 0]]]; float32 [3, 2, 2] [[[0, 0], [0, 0]], [[0,
    0], [0, 0]], [[0, 0], [0, 0]]]; float32 [3, 2, 2] [[[0, 0], [0, 0]], [[0, 0], [0, 0]], [[0, 0], [0, 0]]]; float32
    [3, 2] [[0, 0], [0, 0], [0, 0]]; float32 [3, 2, 2] [[[1, 2], [3, 4]], [[1, 2], [3, 4]], [[1, 2], [3, 4]]])
uses(ZEROS(2, batch_shape=[3]), B)
    (float32 [3, 2, 2] [[[0, 0], [0, 0]], [[0, 0], [0, 0]], [[0, 0], [0, 0]]]; float32 [3, 2, 2] [[[0, 0], [0, 0]], [[0,
    0], [0, 0]], [[0, 0], [0, 0]]]; float32 [3, 2, 2] [[[0, 0], [0, 0]], [[0, 0], [0, 0]], [[0, 0], [0, 0]]]; float32
    [3, 2] [[0, 0], [0, 0], [0, 0]]; float32 [3, 2, 2] [[[1, 2], [3, 4]], [[1, 2], [3, 4]], [[1, 2], [3, 4]]])
uses(ZEROS(2, assert_proper_shapes=True), M)
    (float32 [2, 2] [[0, 0], [0, 0]]; float32 [2, 2] [[0, 0], [0, 0]]; float32 [2, 2] [[0, 0], [0, 0]]; float32 [2] [0,
    0]; float32 [2, 2] [[1, 2], [3, 4]])
ZEROS(3, 2, is_square=False).matmul(M)
    ValueError: A self-adjoint matrix is always square.
ZEROS(3, 2, is_square=False).matmul(tf.ones([3, 4]), adjoint=True)
    ValueError: A self-adjoint matrix is always square.
ZEROS(3, 2, is_square=False).matvec([1.0, 2.0])
    ValueError: A self-adjoint matrix is always square.
ZEROS(3, 2, is_square=False).to_dense()
    ValueError: A self-adjoint matrix is always square.
ZEROS(3, 2, is_square=False).diag_part()
    ValueError: A self-adjoint matrix is always square.
ZEROS(3, 2, is_square=False).add_to_tensor(tf.ones([3, 2]))
    ValueError: A self-adjoint matrix is always square.
ZEROS(3, 2, is_square=False).determinant()
    ValueError: A self-adjoint matrix is always square.
numbers(ZEROS(2))
    (float32 [] 0; float32 [] -inf; float32 [] 0; float32 [2] [0, 0]; float32 [2, 2] [[0, 0], [0, 0]])
numbers(ZEROS(2, batch_shape=[3]))
    (float32 [3] [0, 0, 0]; float32 [3] [-inf, -inf, -inf]; float32 [3] [0, 0, 0]; float32 [3, 2] [[0, 0], [0, 0], [0,
    0]]; float32 [3, 2, 2] [[[0, 0], [0, 0]], [[0, 0], [0, 0]], [[0, 0], [0, 0]]])
ZEROS(2).solve(M)
    NotImplementedError: Exact solve not implemented for an operator that is expected to be singular.
ZEROS(2).inverse()
    ValueError: Cannot take the Inverse: This operator represents a singular matrix.
ZEROS(2).assert_non_singular()
    InvalidArgumentError: Zero operators are always non-invertible.
ZEROS(2).assert_positive_definite()
    InvalidArgumentError: Zero operators are always non-positive definite.
ZEROS(2).assert_self_adjoint()
    None
each(ZEROS(2).adjoint(), ZEROS(2, batch_shape=[3, 4])[0], ZEROS(2) @ ZEROS(2), ID(2) @ ZEROS(2))
    (('LinearOperatorZeros'; 'float32'; (2; 2); (False; True; False; True)); ('LinearOperatorZeros'; 'float32'; (4; 2;
    2); (False; True; False; True)); ('LinearOperatorZeros'; 'float32'; (2; 2); (False; True; False; True));
    ('LinearOperatorZeros'; 'float32'; (2; 2); (False; True; False; True)))
[facts(ZEROS(2) @ FULL(M)), facts(FULL(M) @ ZEROS(2)), facts(DIAG([1.0, 2.0]) @ ZEROS(2)), facts(ZEROS(2) @ ID(2))]
    (('LinearOperatorZeros'; 'float32'; (2; 2); (False; True; False; True)); ('LinearOperatorZeros'; 'float32'; (2; 2);
    (False; True; False; True)); ('LinearOperatorZeros'; 'float32'; (2; 2); (False; True; False; True));
    ('LinearOperatorZeros'; 'float32'; (2; 2); (False; True; False; True)))
facts(ZEROS(2) @ FULL(tf.ones([2, 3])))
    ValueError: Matmul with non-square `LinearOperator`s or non-square `LinearOperatorZeros` not supported at this time.
facts(FULL(tf.ones([3, 2])) @ ZEROS(2))
    ValueError: Matmul with non-square `LinearOperator`s or non-square `LinearOperatorZeros` not supported at this time.
of_sizes(lambda n, m: ZEROS(n, m, is_square=False), 2, 3)
    ValueError
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())
