"""What all linear operators share: properties, shapes, checks of arguments, results. TensorFlow gave the outcomes."""

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


def hinted(kind, *args, **hints):
    return facts(kind(*args, **hints))


def shapes(o):
    tensors = o.shape_tensor(), o.batch_shape_tensor(), o.tensor_rank_tensor()
    return o.shape, o.batch_shape, o.tensor_rank, tensors


def in_graph(make, *xs, rank=True):
    """Makes an operator in a graph that knows no sizes; returns its static shape, its shapes and its matrix."""
    found = []

    def run(*xs):
        o = make(*xs)
        found.append(o.shape)
        sides = o.domain_dimension_tensor(), o.range_dimension_tensor()
        return o.to_dense(), o.shape_tensor(), o.batch_shape_tensor(), o.tensor_rank_tensor(), sides, o.diag_part()

    xs = [tf.convert_to_tensor(x) for x in xs]
    specs = [tf.TensorSpec([None] * len(x.shape) if rank else None, x.dtype) for x in xs]
    return tf.function(run, input_signature=specs)(*xs), found[0]


def all_of(o, x):
    products = [o.matmul(x), o.matmul(x, adjoint=True), o.matmul(x, adjoint_arg=True)]
    return [*products, o.matvec(x[..., 0]), o.add_to_tensor(x)]


def solutions(o, x):
    return [o.solve(x), o.solve(x, adjoint=True), o.solve(x, adjoint_arg=True), o.solvevec(x[..., 0])]


def numbers(o):
    return [o.determinant(), o.log_abs_determinant(), o.trace(), o.diag_part(), o.cond()]


ROWS = read_rows(r"""
each(FULL(M), FULL(W), FULL(tf.stack([M, M])), FULL(C), T)
    (('LinearOperatorFullMatrix'; 'float32'; (2; 2); (None; None; None; True)); ('LinearOperatorFullMatrix'; 'float32';
    (2; 3); (None; None; None; False)); ('LinearOperatorFullMatrix'; 'float32'; (2; 2; 2); (None; None; None; True));
    ('LinearOperatorFullMatrix'; 'complex128'; (2; 2); (None; None; None; True)); ('LinearOperatorFullMatrix';
    'float32'; (2; 2); (True; True; True; True)))
hinted(FULL, M, is_positive_definite=True)
    ('LinearOperatorFullMatrix'; 'float32'; (2; 2); (True; None; True; True))
hinted(FULL, M, is_self_adjoint=True)
    ('LinearOperatorFullMatrix'; 'float32'; (2; 2); (None; True; None; True))
hinted(FULL, M, is_non_singular=True)
    ('LinearOperatorFullMatrix'; 'float32'; (2; 2); (True; None; None; True))
hinted(FULL, M, is_non_singular=False)
    ('LinearOperatorFullMatrix'; 'float32'; (2; 2); (False; None; None; True))
hinted(FULL, M, is_square=True)
    ('LinearOperatorFullMatrix'; 'float32'; (2; 2); (None; None; None; True))
hinted(FULL, M, is_square=False)
    ValueError: User set is_square hint to False, but the operator was square.
hinted(FULL, W, is_square=False)
    ('LinearOperatorFullMatrix'; 'float32'; (2; 3); (None; None; None; False))
hinted(FULL, W, is_square=True)
    ('LinearOperatorFullMatrix'; 'float32'; (2; 3); (None; None; None; True))
hinted(FULL, W, is_non_singular=True)
    ('LinearOperatorFullMatrix'; 'float32'; (2; 3); (True; None; None; True))
hinted(FULL, M, is_positive_definite=True, is_non_singular=False)
    ValueError: A positive definite matrix is always non-singular.
hinted(FULL, M, is_non_singular=True, is_square=False)
    ValueError: A non-singular matrix is always square.
hinted(FULL, M, is_self_adjoint=True, is_square=False)
    ValueError: A self-adjoint matrix is always square.
hinted(FULL, [1.0, 2.0])
    ValueError
hinted(FULL, [[1, 2], [3, 4]])
    TypeError
hinted(FULL, tf.constant([[1.0]], tf.bfloat16))
    TypeError
shapes(FULL(W))
    (TensorShape([2, 3]); TensorShape([]); 2; (int32 [2] [2, 3]; int32 [0] []; int32 [] 2))
shapes(FULL(tf.stack([M, M])))
    (TensorShape([2, 2, 2]); TensorShape([2]); 3; (int32 [3] [2, 2, 2]; int32 [1] [2]; int32 [] 3))
in_graph(FULL, W)
    ((float32 [2, 3] [[1, 2, 0], [3, 4, 1]]; int32 [2] [2, 3]; int32 [0] []; int32 [] 2; (int32 [] 3; int32 [] 2);
    float32 [2] [1, 4]); TensorShape([None, None]))
in_graph(FULL, tf.stack([M, M]))
    ((float32 [2, 2, 2] [[[1, 2], [3, 4]], [[1, 2], [3, 4]]]; int32 [3] [2, 2, 2]; int32 [1] [2]; int32 [] 3; (int32 []
    2; int32 [] 2); float32 [2, 2] [[1, 4], [1, 4]]); TensorShape([None, None, None]))
in_graph(FULL, W, rank=False)
    ((float32 [2, 3] [[1, 2, 0], [3, 4, 1]]; int32 [2] [2, 3]; int32 [0] []; int32 [] 2; (int32 [] 3; int32 [] 2);
    float32 [2] [1, 4]); TensorShape(None))
sorted(FULL(M, is_square=True, name='m').parameters)
    ('is_non_singular'; 'is_positive_definite'; 'is_self_adjoint'; 'is_square'; 'matrix'; 'name')
FULL(M, name='m').name
    'm'
FULL(M).graph_parents
    ()
all_of(FULL(M), M)
    (float32 [2, 2] [[7, 10], [15, 22]]; float32 [2, 2] [[10, 14], [14, 20]]; float32 [2, 2] [[5, 11], [11, 25]];
    float32 [2] [7, 15]; float32 [2, 2] [[2, 4], [6, 8]])
all_of(FULL(C), C)
    (complex128 [2, 2] [[3+7j, 6+1j], [-3+18j, 16+3j]]; complex128 [2, 2] [[14+0j, 2-13j], [2+13j, 17+0j]]; complex128
    [2, 2] [[6+0j, 7-6j], [7+6j, 25+0j]]; complex128 [2] [3+7j, -3+18j]; complex128 [2, 2] [[4+2j, 2+0j], [0+6j, 8+0j]])
all_of(T, M)
    (float32 [2, 2] [[5, 8], [10, 14]]; float32 [2, 2] [[5, 8], [10, 14]]; float32 [2, 2] [[4, 10], [7, 15]]; float32
    [2] [5, 10]; float32 [2, 2] [[3, 3], [4, 7]])
solutions(FULL(M), M)
    (float32 [2, 2] [[1, 0], [0, 1]]; float32 [2, 2] [[2.5, 2], [-0.5, 0]]; float32 [2, 2] [[0, -2], [0.5, 2.5]];
    float32 [2] [1, 0])
solutions(T, M)
    (float32 [2, 2] [[0, 0.4], [1, 1.2]]; float32 [2, 2] [[0, 0.4], [1, 1.2]]; float32 [2, 2] [[0.2, 1], [0.6, 1]];
    float32 [2] [0, 1])
solutions(FULL(C), C)
    (complex128 [2, 2] [[1+0j, 0+0j], [0-0j, 1+0j]]; complex128 [2, 2] [[-0.18462+0.47692j, 0.30769+1.5385j],
    [0.046154+0.63077j, 0.92308-0.38462j]]; complex128 [2, 2] [[0.8-0.6j, -0.67692-1.4154j], [-0.2-0.6j,
    -0.061538+0.50769j]]; complex128 [2] [1+0j, 0-0j])
numbers(FULL(M))
    (float32 [] -2; float32 [] 0.69315; float32 [] 5; float32 [2] [1, 4]; float32 [] 14.933)
numbers(T)
    (float32 [] 5; float32 [] 1.6094; float32 [] 5; float32 [2] [2, 3]; float32 [] 2.618)
numbers(FULL(C))
    (complex128 [] 8+1j; complex128 [] 2.0872+0j; complex128 [] 6+1j; complex128 [2] [2+1j, 4+0j]; float64 [] 3.5645)
[FULL(W).matmul(tf.ones([3, 2])), FULL(W).matmul(tf.ones([2, 2]), adjoint=True), FULL(W).cond()]
    (float32 [2, 2] [[3, 3], [8, 8]]; float32 [3, 2] [[4, 4], [6, 6], [1, 1]]; float32 [] 10.236)
FULL(M).matmul(tf.ones([3, 2]))
    ValueError: Dimensions 2 and 3 are not compatible
FULL(W).matmul(tf.ones([2, 2]))
    ValueError: Dimensions 3 and 2 are not compatible
FULL(W).matmul(tf.ones([3, 2]), adjoint=True)
    ValueError: Dimensions 2 and 3 are not compatible
FULL(M).matmul(tf.ones([2, 3]), adjoint_arg=True)
    ValueError: Dimensions 2 and 3 are not compatible
FULL(M).matmul([1.0, 2.0])
    IndexError
FULL(M).matmul([[1, 2], [3, 4]])
    TypeError
FULL(M).matvec([[1.0, 2.0], [5.0, 6.0]])
    float32 [2, 2] [[5, 11], [17, 39]]
FULL(M).matvec([1.0])
    ValueError: Dimensions 2 and 1 are not compatible
FULL(M).matvec(1.0)
    IndexError
FULL(M).solve(tf.ones([3, 1]))
    ValueError: Dimensions 2 and 3 are not compatible
FULL(M).solve([1.0, 2.0])
    IndexError
FULL(M).solvevec([1.0, 2.0, 3.0])
    ValueError: Dimensions 2 and 3 are not compatible
FULL(M).solve(C)
    TypeError
FULL(W).solve(tf.ones([2, 1]))
    NotImplementedError: Exact solve not implemented for an operator that is expected to not be square.
FULL(M, is_non_singular=False).solve(M)
    NotImplementedError: Exact solve not implemented for an operator that is expected to be singular.
FULL(M, is_non_singular=False).inverse()
    ValueError: Cannot take the Inverse: This operator represents a singular matrix.
FULL(W).inverse()
    ValueError: Cannot take the Inverse: This operator represents a non square matrix.
FULL(W).determinant()
    NotImplementedError: Determinant not implemented for an operator that is expected to not be square.
FULL(W).log_abs_determinant()
    NotImplementedError: Determinant not implemented for an operator that is expected to not be square.
FULL(M).eigvals()
    NotImplementedError: Only self-adjoint matrices are supported.
T.eigvals()
    float32 [2] [1.382, 3.618]
FULL(M).cholesky()
    ValueError: Cannot take the Cholesky decomposition: Not a positive definite self adjoint matrix.
T.cholesky().to_dense()
    float32 [2, 2] [[1.4142, 0], [0.70711, 1.5811]]
facts(T.cholesky())
    ('LinearOperatorLowerTriangular'; 'float32'; (2; 2); (True; False; None; True))
FULL(M, is_self_adjoint=True).cholesky()
    ValueError: Cannot take the Cholesky decomposition: Not a positive definite self adjoint matrix.
each(T.adjoint(), FULL(C).adjoint(), FULL(C).H, T.inverse(), FULL(M).inverse(), FULL(M).inverse().inverse())
    (('LinearOperatorFullMatrix'; 'float32'; (2; 2); (True; True; True; True)); ('LinearOperatorAdjoint'; 'complex128';
    (2; 2); (None; None; None; True)); ('LinearOperatorAdjoint'; 'complex128'; (2; 2); (None; None; None; True));
    ('LinearOperatorInversion'; 'float32'; (2; 2); (True; True; True; True)); ('LinearOperatorInversion'; 'float32'; (2;
    2); (None; None; None; True)); ('LinearOperatorFullMatrix'; 'float32'; (2; 2); (None; None; None; True)))
FULL([[1.0, 1.0], [1.0, 1.0]]).assert_non_singular()
    InvalidArgumentError: Singular matrix up to precision epsilon.
FULL(M).assert_non_singular()
    None
FULL(M).assert_positive_definite()
    NotImplementedError: assert_positive_definite is not implemented.
FULL([[1.0, 2.0], [2.0, 1.0]], is_self_adjoint=True).assert_positive_definite()
    InvalidArgumentError: Matrix was not positive definite..
FULL(M).assert_self_adjoint()
    InvalidArgumentError: Matrix was not equal to its adjoint.
FULL(S).assert_self_adjoint()
    None
FULL(C).assert_self_adjoint()
    InvalidArgumentError: Matrix was not equal to its adjoint.
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())
