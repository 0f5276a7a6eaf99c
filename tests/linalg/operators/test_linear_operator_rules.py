"""What linear operators promise: the classes and properties of what is made of them, assertions and errors."""

import numpy as np
import pytest

import tapeflow as tf

L = tf.linalg
DEFINITE = {"is_self_adjoint": True, "is_positive_definite": True}

DIAG, FULL, TRIL = L.LinearOperatorDiag, L.LinearOperatorFullMatrix, L.LinearOperatorLowerTriangular
EYE, SCALED, ZEROS = L.LinearOperatorIdentity, L.LinearOperatorScaledIdentity, L.LinearOperatorZeros
CIRCULANT, BLOCKS = L.LinearOperatorCirculant, L.LinearOperatorBlockDiag

A = [[2.0, 1.0], [1.0, 3.0]]
OPERATORS = {
    "diag": lambda: DIAG([1.0, 2.0]),
    "full": lambda: FULL(A),
    "tril": lambda: TRIL(A),
    "eye": lambda: EYE(2),
    "scaled": lambda: SCALED(2, 2.0),
    "zeros": lambda: ZEROS(2),
    "circulant": lambda: CIRCULANT([1.0, 2.0], input_output_dtype=tf.float32),
    "circulant2d": lambda: L.LinearOperatorCirculant2D([[1.0, 2.0]], input_output_dtype=tf.float32),
    "blocks": lambda: BLOCKS([DIAG([1.0]), EYE(1)]),
    "inversion": lambda: FULL(A).inverse(),
    "householder": lambda: L.LinearOperatorHouseholder([1.0, 2.0]),
}

# The classes that TensorFlow gives; "Composition" wherever nothing is said.
PRODUCTS = {
    **{("eye", x): x for x in OPERATORS},
    **{(x, "eye"): x for x in OPERATORS},
    **{("zeros", x): "zeros" for x in OPERATORS},
    **{(x, "zeros"): "zeros" for x in OPERATORS if x != "eye"},
    ("diag", "diag"): "diag",
    ("diag", "scaled"): "diag",
    ("scaled", "diag"): "diag",
    ("scaled", "scaled"): "scaled",
    ("diag", "tril"): "tril",
    ("tril", "diag"): "tril",
    ("circulant", "circulant"): "circulant",
    ("circulant2d", "circulant2d"): "circulant2d",
    ("blocks", "blocks"): "blocks",
}
SOLUTIONS = {
    **{("eye", x): x for x in OPERATORS},
    ("diag", "diag"): "diag",
    ("diag", "scaled"): "diag",
    ("scaled", "diag"): "diag",
    ("scaled", "scaled"): "scaled",
    ("diag", "tril"): "tril",
    ("diag", "eye"): "diag",
    ("scaled", "eye"): "scaled",
    ("full", "eye"): "inversion",
    ("tril", "eye"): "inversion",
    ("inversion", "eye"): "full",
    ("householder", "eye"): "householder",
    ("circulant", "eye"): "circulant",
    ("circulant2d", "eye"): "circulant2d",
    ("blocks", "eye"): "blocks",
    ("inversion", "zeros"): "zeros",
    ("circulant", "circulant"): "circulant",
    ("circulant2d", "circulant2d"): "circulant2d",
    ("blocks", "blocks"): "blocks",
}


@pytest.mark.parametrize("left", OPERATORS)
@pytest.mark.parametrize("right", OPERATORS)
def test_operators_made_of_two(left, right):
    a, b = OPERATORS[left](), OPERATORS[right]()
    expected = OPERATORS[PRODUCTS[left, right]] if (left, right) in PRODUCTS else lambda: a_composition
    a_composition = L.LinearOperatorComposition([a, b])
    product = a @ b
    assert type(product) is type(expected())
    np.testing.assert_allclose(product.to_dense(), a.to_dense().numpy() @ b.to_dense().numpy(), atol=1e-5)
    if left != "zeros":
        expected = OPERATORS[SOLUTIONS[left, right]] if (left, right) in SOLUTIONS else lambda: a_composition
        solution = a.solve(b)
        assert type(solution) is type(expected())
        want = np.linalg.solve(a.to_dense().numpy(), b.to_dense().numpy())
        np.testing.assert_allclose(solution.to_dense(), want, atol=1e-5)


def test_the_identity_gives_the_other_operator_itself():
    full, identity = FULL(A), EYE(2)
    assert identity @ full is full and full @ identity is full and identity.solve(full) is full
    assert full.H.H is full and full.inverse().inverse() is full
    assert identity.inverse() is identity and identity.H is identity


def test_hints_of_products():
    definite = FULL(A, is_self_adjoint=True, is_positive_definite=True)
    assert definite.is_non_singular and definite.is_square
    assert (definite @ definite).is_non_singular is True and (definite @ definite).is_self_adjoint is True
    assert (FULL(A) @ definite).is_non_singular is None
    assert (FULL(A, is_non_singular=False) @ definite).is_non_singular is False
    wide = FULL([[1.0, 2.0]])
    product = FULL(A) @ wide.H
    assert (product.is_square, product.is_non_singular, product.is_self_adjoint) == (False, False, False)
    assert (wide @ wide.H).is_square is True
    full = FULL(A)
    aah = L.LinearOperatorComposition([full, full.H], is_non_singular=True)
    assert aah.is_self_adjoint is True and aah.is_positive_definite is True
    diag = DIAG([1.0, 2.0], is_positive_definite=True)
    assert (diag @ diag).is_positive_definite is True and (diag @ DIAG([1.0, 2.0])).is_positive_definite is None
    assert diag.inverse().is_positive_definite is True and diag.H.is_positive_definite is True
    assert L.LinearOperatorLowRankUpdate(diag, [[1.0], [1.0]]).is_positive_definite is True
    assert L.LinearOperatorKronecker([diag, diag]).is_positive_definite is True
    assert BLOCKS([diag, full]).is_self_adjoint is None and BLOCKS([diag, diag]).is_non_singular is True


def test_names():
    diag, full = DIAG([1.0, 2.0]), FULL(A, name="full")
    assert diag.name == "LinearOperatorDiag" and full.name == "full"
    assert (diag @ full).name == "LinearOperatorDiag_o_full"
    assert L.LinearOperatorKronecker([diag, full]).name == "LinearOperatorDiag_x_full"
    assert BLOCKS([diag, full]).name == "LinearOperatorDiag_ds_full"
    assert full.H.name == "full_adjoint" and full.inverse().name == "full_inv"
    assert full.graph_parents == []


def test_parameters_are_the_arguments():
    operator = DIAG([1.0, 2.0], is_positive_definite=True)
    assert operator.parameters == {
        "diag": [1.0, 2.0],
        "is_non_singular": None,
        "is_self_adjoint": None,
        "is_positive_definite": True,
        "is_square": None,
        "name": "LinearOperatorDiag",
    }


# ---- assertions ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "operator",
    [
        DIAG([1.0, 2.0]),
        EYE(2),
        SCALED(2, 2.0),
        CIRCULANT([1.0, 2.0]),
        FULL(A, is_self_adjoint=True),
        FULL(A, **DEFINITE).inverse(),
        BLOCKS([DIAG([1.0]), EYE(1)]),
        L.LinearOperatorComposition([FULL(A)], is_self_adjoint=True),
    ],
    ids=lambda o: o.name,
)
def test_assertions_that_hold(operator):
    operator.assert_non_singular()
    operator.assert_positive_definite()
    operator.assert_self_adjoint()


def test_assertions_that_do_not_hold():
    wrong = tf.errors.InvalidArgumentError
    skew = tf.constant([1j, 1.0])
    for operator, method, message in (
        (DIAG([0.0, 1.0]), "non_singular", "Diagonal contained zero values"),
        (DIAG([-1.0, 1.0]), "positive_definite", "not positive definite"),
        (DIAG(skew), "self_adjoint", "not self-adjoint"),
        (SCALED(2, 0.0), "non_singular", "singular"),
        (SCALED(2, -1.0), "positive_definite", "not positive definite"),
        (SCALED(2, tf.constant(1j)), "self_adjoint", "not self-adjoint"),
        (FULL([[1.0, 1.0], [1.0, 1.0]]), "non_singular", "Singular matrix up to precision epsilon"),
        (FULL([[1.0, 2.0], [0.0, 1.0]]), "self_adjoint", "not equal to its adjoint"),
        (FULL([[-1.0]], is_self_adjoint=True), "positive_definite", ""),
        (TRIL([[0.0, 0.0], [1.0, 1.0]]), "non_singular", "Diagonal contained zero values"),
        (ZEROS(2), "non_singular", "always non-invertible"),
        (ZEROS(2), "positive_definite", "always non-positive definite"),
        (L.LinearOperatorHouseholder([1.0]), "positive_definite", "always non-positive definite"),
        (CIRCULANT([0.0, 1.0]), "non_singular", "Spectrum contained zero values"),
        (CIRCULANT([-1.0, 1.0]), "positive_definite", "not all positive"),
        (CIRCULANT(skew), "self_adjoint", "non-zero imaginary part"),
        (CIRCULANT(skew), "hermitian_spectrum", "not Hermitian"),
        (L.LinearOperatorToeplitz([1.0, 2.0], [1.0, 3.0]), "self_adjoint", "not self-adjoint"),
        (L.LinearOperatorTridiag([[1.0, 0.0], [1.0, 1.0], [0.0, 2.0]]), "self_adjoint", "non-conjugate"),
        (BLOCKS([EYE(1), ZEROS(1)]), "non_singular", "always non-invertible"),
        (L.LinearOperatorKronecker([FULL([[1.0, 2.0]]), EYE(1)]), "non_singular", "must be square"),
    ):
        with pytest.raises(wrong, match=message or None):
            getattr(operator, f"assert_{method}")()
    with pytest.raises(NotImplementedError):
        FULL(A).assert_positive_definite()


def test_assertions_of_structured_operators_hold():
    L.LinearOperatorPermutation([1, 0]).assert_non_singular()
    L.LinearOperatorPermutation([1, 0]).assert_self_adjoint()
    L.LinearOperatorHouseholder([1.0, 2.0]).assert_self_adjoint()
    L.LinearOperatorToeplitz(tf.constant([1 + 0j, 2 + 1j]), tf.constant([1 + 0j, 2 - 1j])).assert_self_adjoint()
    L.LinearOperatorTridiag(tf.constant([[1j, 0j], [1 + 0j, 1 + 0j], [0j, -1j]])).assert_self_adjoint()
    L.LinearOperatorLowRankUpdate(DIAG([1.0, 2.0]), [[1.0], [2.0]]).assert_self_adjoint()
    CIRCULANT(tf.constant([1 + 0j, 1j, -1j])).assert_hermitian_spectrum()
    L.LinearOperatorKronecker([DIAG([1.0]), EYE(2)]).assert_self_adjoint()


# ---- errors ----------------------------------------------------------------------------------------------------------

WIDE = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
ERRORS = {
    "matmul of a vector": (lambda: DIAG([1.0, 2.0]).matmul([1.0, 2.0]), IndexError, ""),
    "matmul dimension": (lambda: DIAG([1.0, 2.0]).matmul([[1.0]]), ValueError, "Dimensions 2 and 1 are not compatible"),
    "matvec dimension": (lambda: DIAG([1.0, 2.0]).matvec([1.0]), ValueError, "Dimensions 2 and 1 are not compatible"),
    "solve dimension": (lambda: DIAG([1.0, 2.0]).solve([[1.0]]), ValueError, "Dimensions 2 and 1 are not compatible"),
    "dtype": (lambda: DIAG([1.0, 2.0]).matmul([[1], [2]]), TypeError, "Expected argument to have dtype"),
    "operator dimension": (lambda: FULL(A).matmul(FULL(WIDE).H), ValueError, "Operators are incompatible"),
    "wide inverse": (lambda: FULL(WIDE).inverse(), ValueError, "non square"),
    "singular inverse": (lambda: ZEROS(2).inverse(), ValueError, "singular"),
    "wide determinant": (lambda: FULL(WIDE).determinant(), NotImplementedError, "not be square"),
    "wide log determinant": (lambda: FULL(WIDE).log_abs_determinant(), NotImplementedError, "not be square"),
    "wide solve": (lambda: FULL(WIDE).solve([[1.0], [2.0]]), NotImplementedError, "not be square"),
    "singular solve": (lambda: ZEROS(2).solve([[1.0], [2.0]]), NotImplementedError, "be singular"),
    "singular": (lambda: FULL([[1.0, 2.0], [2.0, 4.0]]).solve([[1.0], [1.0]]),
    tf.errors.InvalidArgumentError, "invertible"),
    "integers": (lambda: FULL([[1, 2]]), TypeError, "must have dtype in"),
    "vector": (lambda: FULL([1.0, 2.0]), ValueError, "at least 2 dimensions"),
    "scalar diag": (lambda: DIAG(1.0), ValueError, "at least 1 dimension"),
    "tril of a vector": (lambda: TRIL([1.0]), ValueError, "at least 2 dimensions"),
    "rectangular tril": (lambda: TRIL(A, is_square=False), ValueError, "Only square"),
    "real diag": (lambda: DIAG([1.0], is_self_adjoint=False), ValueError, "always self adjoint"),
    "rectangular diag": (lambda: DIAG([1.0], is_square=False), ValueError, "Only square"),
    "hints definite": (lambda: FULL(A, is_positive_definite=True, is_non_singular=False),
    ValueError, "always non-singular"),
    "hints regular": (lambda: FULL(A, is_non_singular=True, is_square=False), ValueError, "always square"),
    "hints adjoint": (lambda: FULL(A, is_self_adjoint=True, is_square=False), ValueError, "always square"),
    "hints shape": (lambda: FULL(A, is_square=False).is_square, ValueError, "the operator was square"),
    "hints of an adjoint": (lambda: L.LinearOperatorAdjoint(FULL(A), is_square=False), ValueError, "if and only if"),
    "inversion": (lambda: L.LinearOperatorInversion(FULL(WIDE)), ValueError, "must have supplied hint"),
    "identity rank": (lambda: EYE([2]), ValueError, "0-D Tensor"),
    "identity dtype": (lambda: EYE(2.0), TypeError, "integer type"),
    "identity sign": (lambda: EYE(-2), ValueError, "non-negative"),
    "identity batch": (lambda: EYE(2, batch_shape=3), ValueError, "1-D Tensor"),
    "identity batch sign": (lambda: EYE(2, batch_shape=[-3]), ValueError, "non-negative"),
    "identity variable": (lambda: EYE(tf.Variable(2)), TypeError, "reference type"),
    "identity hint": (lambda: EYE(2, is_non_singular=False), ValueError, "always non-singular"),
    "scaled hint": (lambda: SCALED(2, 1.0, is_square=False), ValueError, "always square"),
    "zeros shape": (lambda: ZEROS(2, 3), ValueError, "is_square=True"),
    "zeros hint": (lambda: ZEROS(2, is_non_singular=True), ValueError, "always singular"),
    "zeros product": (lambda: FULL(WIDE) @ ZEROS(3, 2, is_square=False, is_self_adjoint=False),
    ValueError, "non-square"),
    "permutation": (lambda: L.LinearOperatorPermutation([0, 2]), ValueError, "unique integers from 0 to 1"),
    "permutation dtype": (lambda: L.LinearOperatorPermutation([0.0]), TypeError, "integer dtype"),
    "permutation rank": (lambda: L.LinearOperatorPermutation(0), ValueError, "at least 1 dimension"),
    "permutation hint": (lambda: L.LinearOperatorPermutation([0], is_non_singular=False),
    ValueError, "always non-singular"),
    "toeplitz": (lambda: L.LinearOperatorToeplitz([1.0], [1.0, 2.0]), ValueError, "mismatched dimensions"),
    "toeplitz rank": (lambda: L.LinearOperatorToeplitz(1.0, [1.0]), ValueError, "at least 1 dimension"),
    "tridiag": (lambda: L.LinearOperatorTridiag([1.0], diagonals_format="foo"), ValueError, "must be one of compact"),
    "householder": (lambda: L.LinearOperatorHouseholder(1.0), ValueError, "at least 1 dimension"),
    "circulant rank": (lambda: L.LinearOperatorCirculant2D([1.0]), ValueError, "at least 2 dimensions"),
    "circulant hint": (lambda: CIRCULANT([1.0], is_self_adjoint=False), ValueError, "self-adjoint"),
    "circulant shape": (lambda: CIRCULANT([1.0], is_square=False), ValueError, "always square"),
    "low rank": (lambda: L.LinearOperatorLowRankUpdate(FULL(A), [[1.0]]), ValueError, "Dimensions 2 and 1"),
    "low rank diag": (lambda: L.LinearOperatorLowRankUpdate(FULL(A), [[1.0], [2.0]], [1.0, 2.0]),
    ValueError, "Dimensions"), "low rank hint": (
        lambda: L.LinearOperatorLowRankUpdate(FULL(A), [[1.0], [2.0]], is_diag_update_positive=False),
        ValueError, "positive",
    ),
    "no operators": (lambda: L.LinearOperatorComposition([]), ValueError, "non-empty list"),
    "one operator": (lambda: L.LinearOperatorComposition(FULL(A)), TypeError, "iterable"),
    "operators that do not fit": (lambda: L.LinearOperatorComposition([FULL(WIDE),
    FULL(A)]).shape, ValueError, "Dimensions"), "operators of two dtypes": (
        lambda: L.LinearOperatorComposition([FULL(A), DIAG(tf.constant([1.0], tf.float64))]), TypeError, "same dtype",
    ),
    "composition hint": (
        lambda: L.LinearOperatorComposition([EYE(2)], is_non_singular=False), ValueError, "always non-singular",
    ),
    "blocks that do not fit": (
        lambda: L.LinearOperatorBlockLowerTriangular([[EYE(2)], [FULL(WIDE), EYE(2)]]), ValueError, "domain_dimension",
    ),
    "missing block": (lambda: L.LinearOperatorBlockLowerTriangular([[EYE(2)], [EYE(2)]]),
    ValueError, "must contain `2`"),
    "no blocks": (lambda: L.LinearOperatorBlockLowerTriangular([]), ValueError, ">=1 operators"),
    "blocks of an argument": (
        lambda: BLOCKS([EYE(2), EYE(2)]).matvec([tf.ones(2), tf.ones(1)]), ValueError, "Dimensions 2 and 1",
    ),
    "abstract": (lambda: L.LinearOperator(tf.float32), TypeError, "abstract"),
    "slices": (lambda: FULL(A)[0], tf.errors.InvalidArgumentError, "slice"),
    "index": (lambda: FULL(tf.zeros([3, 2, 2]))[3], tf.errors.InvalidArgumentError, ""),
    "as a tensor": (lambda: tf.convert_to_tensor(FULL(A)), ValueError, ""),
    "matmul flags": (lambda: tf.matmul(FULL(A), [[1.0], [2.0]], transpose_a=True), ValueError, "Transposing"),
    "logdet": (lambda: tf.linalg.logdet(FULL(A)), ValueError, "self.adjoint"),
}  # fmt: skip


@pytest.mark.parametrize("what", ERRORS)
def test_errors(what):
    call, error, message = ERRORS[what]
    with pytest.raises(error, match=message or None):
        call()
