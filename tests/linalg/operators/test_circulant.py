"""Circulant operators: spectra, blocks, hints, results and errors. TensorFlow gave the outcomes."""

import pytest

import tapeflow as tf
from outcomes import read_rows
from traced_calls import check_row

# ---- outcomes that TensorFlow gave -----------------------------------------------------------------------------------

L = tf.linalg
ONE, TWO, THREE = L.LinearOperatorCirculant, L.LinearOperatorCirculant2D, L.LinearOperatorCirculant3D
C64 = tf.complex64
S = tf.constant([6 + 0j, 1 - 2j, 3, 1 + 2j], C64)
R4 = tf.constant([4.0, 2.0, 3.0, 2.0])
S2 = tf.constant([[4.0, 2.0], [3.0, 5.0]])
S3 = tf.reshape(tf.range(1.0, 9.0), [2, 2, 2])
X = tf.cast([[1, 2], [3, -1], [0, 4], [2, 2]], tf.complex64)


def facts(o):
    hints = [o.is_non_singular, o.is_self_adjoint, o.is_positive_definite, o.is_square]
    return type(o).__name__, o.dtype.name, o.shape.as_list(), hints


def each(*operators):
    return [facts(o) for o in operators]


def results(o, x):
    products = [o.matmul(x), o.matmul(x, adjoint=True), o.matmul(tf.linalg.adjoint(x), adjoint_arg=True)]
    return [*products, o.matvec(x[..., 0]), o.solve(x), o.solve(x, adjoint=True), o.to_dense()]


def numbers(o):
    return [o.determinant(), o.log_abs_determinant(), o.trace(), o.diag_part(), o.cond()]


def in_graph(kind, spectrum, x):
    @tf.function(input_signature=[tf.TensorSpec([None] * len(spectrum.shape), spectrum.dtype)])
    def run(s):
        o = kind(s)
        return o.matmul(x), o.shape_tensor(), o.block_shape_tensor(), o.diag_part(), o.convolution_kernel()

    return run(spectrum)


ROWS = read_rows(r"""
each(ONE(S), ONE(R4), ONE(R4, tf.float32), TWO(S2), THREE(S3), ONE([R4, 2 * R4]), TWO([S2, S2, S2]))
    (('LinearOperatorCirculant'; 'complex64'; (4; 4); (None; None; None; True)); ('LinearOperatorCirculant';
    'complex64'; (4; 4); (None; True; None; True)); ('LinearOperatorCirculant'; 'float32'; (4; 4); (None; True; None;
    True)); ('LinearOperatorCirculant2D'; 'complex64'; (4; 4); (None; True; None; True)); ('LinearOperatorCirculant3D';
    'complex64'; (8; 8); (None; True; None; True)); ('LinearOperatorCirculant'; 'complex64'; (2; 4; 4); (None; True;
    None; True)); ('LinearOperatorCirculant2D'; 'complex64'; (3; 4; 4); (None; True; None; True)))
each(ONE(S, is_self_adjoint=True), ONE(R4, is_positive_definite=True), ONE(S, is_non_singular=True))
    (('LinearOperatorCirculant'; 'complex64'; (4; 4); (None; True; None; True)); ('LinearOperatorCirculant';
    'complex64'; (4; 4); (True; True; True; True)); ('LinearOperatorCirculant'; 'complex64'; (4; 4); (True; None; None;
    True)))
ONE(R4, is_self_adjoint=False)
    ValueError
ONE(S, is_square=False)
    ValueError
ONE(tf.constant(1.0))
    ValueError: Argument `spectrum` must have at least 1 dimensions. Received: 1.0.
TWO(R4)
    ValueError: Argument `spectrum` must have at least 2 dimensions. Received: [4. 2. 3. 2.].
THREE(S2)
    ValueError: Argument `spectrum` must have at least 3 dimensions. Received: [[4. 2.]
[o.block_shape for o in (ONE(S), TWO(S2), THREE(S3), TWO([S2, S2]))]
    (TensorShape([4]); TensorShape([2, 2]); TensorShape([2, 2, 2]); TensorShape([2, 2]))
[o.block_depth for o in (ONE(S), TWO(S2), THREE(S3))]
    (1; 2; 3)
[o.block_shape_tensor() for o in (ONE(S), TWO(S2), THREE(S3))]
    (int32 [1] [4]; int32 [2] [2, 2]; int32 [3] [2, 2, 2])
[o.name for o in (ONE(S), TWO(S2), THREE(S3), ONE(S, name='c'))]
    ('LinearOperatorCirculant'; 'LinearOperatorCirculant2D'; 'LinearOperatorCirculant3D'; 'c')
results(ONE(S), X)
    (complex64 [4, 2] [[5.5+0j, 16.25+0j], [13.5+0j, 3.25+0j], [6.5+0j, 12.25+0j], [10.5+0j, 10.25+0j]]; complex64 [4,
    2] [[7.5+0j, 10.25+0j], [11.5+0j, 7.25+0j], [4.5+0j, 18.25+0j], [12.5+0j, 6.25+0j]]; complex64 [4, 2] [[5.5+0j,
    16.25+0j], [13.5+0j, 3.25+0j], [6.5+0j, 12.25+0j], [10.5+0j, 10.25+0j]]; complex64 [4] [5.5+0j, 13.5+0j, 6.5+0j,
    10.5+0j]; complex64 [4, 2] [[0.21667+0j, -0.091667+0j], [0.48333+0j, -0.025+0j], [-0.38333+0j, 1.5083+0j],
    [0.68333+0j, -0.225+0j]]; complex64 [4, 2] [[-0.18333+0j, 1.1083+0j], [0.88333+0j, -0.825+0j], [0.016667+0j,
    0.30833+0j], [0.28333+0j, 0.575+0j]]; complex64 [4, 4] [[2.75+0j, -0.25+0j, 1.75+0j, 1.75+0j], [1.75+0j, 2.75+0j,
    -0.25+0j, 1.75+0j], [1.75+0j, 1.75+0j, 2.75+0j, -0.25+0j], [-0.25+0j, 1.75+0j, 1.75+0j, 2.75+0j]])
results(ONE(R4), X)
    (complex64 [4, 2] [[4+0j, 8.75+0j], [10+0j, 0.25+0j], [2+0j, 12.75+0j], [8+0j, 6.25+0j]]; complex64 [4, 2] [[4+0j,
    8.75+0j], [10+0j, 0.25+0j], [2+0j, 12.75+0j], [8+0j, 6.25+0j]]; complex64 [4, 2] [[4+0j, 8.75+0j], [10+0j, 0.25+0j],
    [2+0j, 12.75+0j], [8+0j, 6.25+0j]]; complex64 [4] [4+0j, 10+0j, 2+0j, 8+0j]; complex64 [4, 2] [[0.29167+0j,
    0.35417+0j], [0.95833+0j, -0.72917+0j], [-0.20833+0j, 1.3542+0j], [0.45833+0j, 0.77083+0j]]; complex64 [4, 2]
    [[0.29167+0j, 0.35417+0j], [0.95833+0j, -0.72917+0j], [-0.20833+0j, 1.3542+0j], [0.45833+0j, 0.77083+0j]]; complex64
    [4, 4] [[2.75+0j, 0.25+0j, 0.75+0j, 0.25+0j], [0.25+0j, 2.75+0j, 0.25+0j, 0.75+0j], [0.75+0j, 0.25+0j, 2.75+0j,
    0.25+0j], [0.25+0j, 0.75+0j, 0.25+0j, 2.75+0j]])
results(ONE(R4, tf.float32), tf.math.real(X))
    (float32 [4, 2] [[4, 8.75], [10, 0.25], [2, 12.75], [8, 6.25]]; float32 [4, 2] [[4, 8.75], [10, 0.25], [2, 12.75],
    [8, 6.25]]; float32 [4, 2] [[4, 8.75], [10, 0.25], [2, 12.75], [8, 6.25]]; float32 [4] [4, 10, 2, 8]; float32 [4, 2]
    [[0.29167, 0.35417], [0.95833, -0.72917], [-0.20833, 1.3542], [0.45833, 0.77083]]; float32 [4, 2] [[0.29167,
    0.35417], [0.95833, -0.72917], [-0.20833, 1.3542], [0.45833, 0.77083]]; float32 [4, 4] [[2.75, 0.25, 0.75, 0.25],
    [0.25, 2.75, 0.25, 0.75], [0.75, 0.25, 2.75, 0.25], [0.25, 0.75, 0.25, 2.75]])
results(TWO(S2), X)
    (complex64 [4, 2] [[5.5+0j, 7+0j], [9.5+0j, -0.5+0j], [2.5+0j, 12+0j], [6.5+0j, 9.5+0j]]; complex64 [4, 2] [[5.5+0j,
    7+0j], [9.5+0j, -0.5+0j], [2.5+0j, 12+0j], [6.5+0j, 9.5+0j]]; complex64 [4, 2] [[5.5+0j, 7+0j], [9.5+0j, -0.5+0j],
    [2.5+0j, 12+0j], [6.5+0j, 9.5+0j]]; complex64 [4] [5.5+0j, 9.5+0j, 2.5+0j, 6.5+0j]; complex64 [4, 2] [[0.041667+0j,
    0.69583+0j], [1.0417+0j, -0.65417+0j], [-0.29167+0j, 1.4292+0j], [0.70833+0j, 0.27917+0j]]; complex64 [4, 2]
    [[0.041667+0j, 0.69583+0j], [1.0417+0j, -0.65417+0j], [-0.29167+0j, 1.4292+0j], [0.70833+0j, 0.27917+0j]]; complex64
    [4, 4] [[3.5+0j, 0+0j, -0.5+0j, 1+0j], [0+0j, 3.5+0j, 1+0j, -0.5+0j], [-0.5+0j, 1+0j, 3.5+0j, 0+0j], [1+0j, -0.5+0j,
    0+0j, 3.5+0j]])
results(ONE([R4, 2 * R4]), X)
    (complex64 [2, 4, 2] [[[4+0j, 8.75+0j], [10+0j, 0.25+0j], [2+0j, 12.75+0j], [8+0j, 6.25+0j]], [[8+0j, 17.5+0j],
    [20+0j, 0.5+0j], [4+0j, 25.5+0j], [16+0j, 12.5+0j]]]; complex64 [2, 4, 2] [[[4+0j, 8.75+0j], [10+0j, 0.25+0j],
    [2+0j, 12.75+0j], [8+0j, 6.25+0j]], [[8+0j, 17.5+0j], [20+0j, 0.5+0j], [4+0j, 25.5+0j], [16+0j, 12.5+0j]]];
    complex64 [2, 4, 2] [[[4+0j, 8.75+0j], [10+0j, 0.25+0j], [2+0j, 12.75+0j], [8+0j, 6.25+0j]], [[8+0j, 17.5+0j],
    [20+0j, 0.5+0j], [4+0j, 25.5+0j], [16+0j, 12.5+0j]]]; complex64 [2, 4] [[4+0j, 10+0j, 2+0j, 8+0j], [8+0j, 20+0j,
    4+0j, 16+0j]]; complex64 [2, 4, 2] [[[0.29167+0j, 0.35417+0j], [0.95833+0j, -0.72917+0j], [-0.20833+0j, 1.3542+0j],
    [0.45833+0j, 0.77083+0j]], [[0.14583+0j, 0.17708+0j], [0.47917+0j, -0.36458+0j], [-0.10417+0j, 0.67708+0j],
    [0.22917+0j, 0.38542+0j]]]; complex64 [2, 4, 2] [[[0.29167+0j, 0.35417+0j], [0.95833+0j, -0.72917+0j], [-0.20833+0j,
    1.3542+0j], [0.45833+0j, 0.77083+0j]], [[0.14583+0j, 0.17708+0j], [0.47917+0j, -0.36458+0j], [-0.10417+0j,
    0.67708+0j], [0.22917+0j, 0.38542+0j]]]; complex64 [2, 4, 4] [[[2.75+0j, 0.25+0j, 0.75+0j, 0.25+0j], [0.25+0j,
    2.75+0j, 0.25+0j, 0.75+0j], [0.75+0j, 0.25+0j, 2.75+0j, 0.25+0j], [0.25+0j, 0.75+0j, 0.25+0j, 2.75+0j]], [[5.5+0j,
    0.5+0j, 1.5+0j, 0.5+0j], [0.5+0j, 5.5+0j, 0.5+0j, 1.5+0j], [1.5+0j, 0.5+0j, 5.5+0j, 0.5+0j], [0.5+0j, 1.5+0j,
    0.5+0j, 5.5+0j]]])
THREE(S3).matmul(tf.eye(8, dtype=C64))
    complex64 [8, 8] [[4.5+0j, -0.5+0j, -1+0j, 0+0j, -2+0j, 0+0j, 0+0j, 0+0j], [-0.5+0j, 4.5+0j, 0+0j, -1+0j, 0+0j,
    -2+0j, 0+0j, 0+0j], [-1+0j, 0+0j, 4.5+0j, -0.5+0j, 0+0j, 0+0j, -2+0j, 0+0j], [0+0j, -1+0j, -0.5+0j, 4.5+0j, 0+0j,
    0+0j, 0+0j, -2+0j], [-2+0j, 0+0j, 0+0j, 0+0j, 4.5+0j, -0.5+0j, -1+0j, 0+0j], [0+0j, -2+0j, 0+0j, 0+0j, -0.5+0j,
    4.5+0j, 0+0j, -1+0j], [0+0j, 0+0j, -2+0j, 0+0j, -1+0j, 0+0j, 4.5+0j, -0.5+0j], [0+0j, 0+0j, 0+0j, -2+0j, 0+0j,
    -1+0j, -0.5+0j, 4.5+0j]]
THREE(S3).solvevec(tf.cast(tf.range(8), C64))
    complex64 [8] [2.5167+0j, 3.0167+0j, 3.1833+0j, 3.6833+0j, 3.3167+0j, 3.8167+0j, 3.9833+0j, 4.4833+0j]
TWO([S2, S2 + 1]).to_dense()
    complex64 [2, 4, 4] [[[3.5+0j, 0+0j, -0.5+0j, 1+0j], [0+0j, 3.5+0j, 1+0j, -0.5+0j], [-0.5+0j, 1+0j, 3.5+0j, 0+0j],
    [1+0j, -0.5+0j, 0+0j, 3.5+0j]], [[4.5+0j, 0+0j, -0.5+0j, 1+0j], [0+0j, 4.5+0j, 1+0j, -0.5+0j], [-0.5+0j, 1+0j,
    4.5+0j, 0+0j], [1+0j, -0.5+0j, 0+0j, 4.5+0j]]]
numbers(ONE(S))
    (complex64 [] 90+0j; complex64 [] 4.4998+0j; complex64 [] 11+0j; complex64 [4] [2.75+0j, 2.75+0j, 2.75+0j, 2.75+0j];
    float32 [] 2.6833)
numbers(ONE(R4))
    (complex64 [] 48+0j; complex64 [] 3.8712+0j; complex64 [] 11+0j; complex64 [4] [2.75+0j, 2.75+0j, 2.75+0j, 2.75+0j];
    float32 [] 2)
numbers(ONE(R4, tf.float32))
    (float32 [] 48; float32 [] 3.8712; float32 [] 11; float32 [4] [2.75, 2.75, 2.75, 2.75]; float32 [] 2)
numbers(TWO(S2))
    (complex64 [] 120+0j; complex64 [] 4.7875+0j; complex64 [] 14+0j; complex64 [4] [3.5+0j, 3.5+0j, 3.5+0j, 3.5+0j];
    float32 [] 2.5)
numbers(THREE(S3))
    (complex64 [] 40320+0j; complex64 [] 10.605+0j; complex64 [] 36+0j; complex64 [8] [4.5+0j, 4.5+0j, 4.5+0j, 4.5+0j,
    4.5+0j, 4.5+0j, 4.5+0j, 4.5+0j]; float32 [] 8)
numbers(ONE([R4, 2 * R4]))
    (complex64 [2] [48+0j, 768+0j]; complex64 [2] [3.8712+0j, 6.6438+0j]; complex64 [2] [11+0j, 22+0j]; complex64 [2, 4]
    [[2.75+0j, 2.75+0j, 2.75+0j, 2.75+0j], [5.5+0j, 5.5+0j, 5.5+0j, 5.5+0j]]; float32 [2] [2, 2])
ONE(R4, is_self_adjoint=True).eigvals()
    float32 [4] [4, 2, 3, 2]
TWO(S2).eigvals()
    float32 [4] [4, 2, 3, 5]
ONE(S).eigvals()
    NotImplementedError: Only self-adjoint matrices are supported.
[o.convolution_kernel() for o in (ONE(S), ONE(R4), ONE(R4, tf.float32), TWO(S2))]
    (complex64 [4] [2.75+0j, 1.75+0j, 1.75+0j, -0.25+0j]; complex64 [4] [2.75+0j, 0.25+0j, 0.75+0j, 0.25+0j]; float32
    [4] [2.75, 0.25, 0.75, 0.25]; complex64 [2, 2] [[3.5+0j, 0+0j], [-0.5+0j, 1+0j]])
[o.spectrum for o in (ONE(S), TWO(S2))]
    (complex64 [4] [6+0j, 1-2j, 3+0j, 1+2j]; float32 [2, 2] [[4, 2], [3, 5]])
ONE(tf.constant([6 + 0j, 1 - 2j, 3, 1 + 3j], C64)).assert_hermitian_spectrum()
    InvalidArgumentError
ONE(tf.constant([1.0, 0.0])).assert_non_singular()
    InvalidArgumentError: Singular operator: Spectrum contained zero values.
ONE(S).assert_non_singular()
    None
ONE(tf.constant([1.0, -1.0])).assert_positive_definite()
    InvalidArgumentError: Not positive definite: Real part of spectrum was not all positive..
ONE(S).assert_positive_definite()
    None
ONE(S).assert_self_adjoint()
    InvalidArgumentError: Not self-adjoint: The spectrum contained non-zero imaginary part.
ONE(R4).assert_self_adjoint()
    None
each(ONE(S).adjoint(), ONE(R4).adjoint(), ONE(S).inverse(), TWO(S2).inverse(), ONE([R4, R4])[0], TWO([S2, S2])[1:])
    (('LinearOperatorCirculant'; 'complex64'; (4; 4); (None; None; None; True)); ('LinearOperatorCirculant';
    'complex64'; (4; 4); (None; True; None; True)); ('LinearOperatorCirculant'; 'complex64'; (4; 4); (None; None; None;
    True)); ('LinearOperatorCirculant2D'; 'complex64'; (4; 4); (None; True; None; True)); ('LinearOperatorCirculant';
    'complex64'; (4; 4); (None; True; None; True)); ('LinearOperatorCirculant2D'; 'complex64'; (1; 4; 4); (None; True;
    None; True)))
[ONE(S).adjoint().spectrum, ONE(S).inverse().spectrum, TWO(S2).inverse().spectrum]
    (complex64 [4] [6-0j, 1+2j, 3-0j, 1-2j]; complex64 [4] [0.16667+0j, 0.2+0.4j, 0.33333+0j, 0.2-0.4j]; float32 [2, 2]
    [[0.25, 0.5], [0.33333, 0.2]])
each(ONE(S) @ ONE(S), ONE(R4) @ ONE(R4), ONE(S).solve(ONE(S)), TWO(S2) @ TWO(S2), TWO(S2) @ ONE(R4))
    (('LinearOperatorCirculant'; 'complex64'; (4; 4); (None; None; None; True)); ('LinearOperatorCirculant';
    'complex64'; (4; 4); (None; True; None; True)); ('LinearOperatorCirculant'; 'complex64'; (4; 4); (None; None; None;
    True)); ('LinearOperatorCirculant2D'; 'complex64'; (4; 4); (None; True; None; True)); ('LinearOperatorComposition';
    'complex64'; (4; 4); (None; None; None; True)))
[(ONE(S) @ ONE(S)).spectrum, (ONE(R4) @ ONE(R4)).spectrum, ONE(S).solve(ONE(S)).spectrum]
    (complex64 [4] [36+0j, -3-4j, 9+0j, -3+4j]; float32 [4] [16, 4, 9, 4]; complex64 [4] [1+0j, 1+0j, 1+0j, 1+0j])
in_graph(ONE, S, X)
    (complex64 [4, 2] [[5.5+0j, 16.25+0j], [13.5+0j, 3.25+0j], [6.5+0j, 12.25+0j], [10.5+0j, 10.25+0j]]; int32 [2] [4,
    4]; int32 [1] [4]; complex64 [4] [2.75+0j, 2.75+0j, 2.75+0j, 2.75+0j]; complex64 [4] [2.75+0j, 1.75+0j, 1.75+0j,
    -0.25+0j])
in_graph(TWO, S2, X)
    (complex64 [4, 2] [[5.5+0j, 7+0j], [9.5+0j, -0.5+0j], [2.5+0j, 12+0j], [6.5+0j, 9.5+0j]]; int32 [2] [4, 4]; int32
    [2] [2, 2]; complex64 [4] [3.5+0j, 3.5+0j, 3.5+0j, 3.5+0j]; complex64 [2, 2] [[3.5+0j, 0+0j], [-0.5+0j, 1+0j]])
ONE(S).matmul(tf.ones([3, 2], C64))
    ValueError: Dimensions 4 and 3 are not compatible
ONE(S).matmul(tf.ones([4, 2]))
    TypeError
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())
