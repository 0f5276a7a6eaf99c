"""Assertions of linear operators in graphs, and the methods that subclasses call."""

import pytest

import tapeflow as tf

L = tf.linalg
SINGULAR = {
    "full": lambda: L.LinearOperatorFullMatrix([[1.0, 2.0], [2.0, 4.0]]),
    "diag": lambda: L.LinearOperatorDiag([1.0, 0.0]),
    "triangular": lambda: L.LinearOperatorLowerTriangular([[1.0, 0.0], [2.0, 0.0]]),
    "scaled": lambda: L.LinearOperatorScaledIdentity(2, 0.0),
    "circulant": lambda: L.LinearOperatorCirculant(tf.constant([1.0, 0.0], tf.complex64)),
    "kronecker": lambda: L.LinearOperatorKronecker([L.LinearOperatorDiag([1.0, 0.0]), L.LinearOperatorDiag([1.0])]),
    "blocks": lambda: L.LinearOperatorBlockDiag([L.LinearOperatorDiag([1.0, 0.0]), L.LinearOperatorIdentity(2)]),
    "product": lambda: L.LinearOperatorComposition([L.LinearOperatorDiag([1.0, 0.0]), L.LinearOperatorIdentity(2)]),
    "adjoint": lambda: L.LinearOperatorDiag([1.0, 0.0]).adjoint(),
    "zeros": lambda: L.LinearOperatorZeros(2),
}


def after_in_session(operator):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        with tf.control_dependencies([operator().assert_non_singular()]):
            result = tf.constant(1) * 1
        return session.run(result)


@pytest.mark.parametrize("operator", SINGULAR.values(), ids=SINGULAR)
def test_singular_matrices_fail_assertions_everywhere(operator):
    with pytest.raises(tf.errors.InvalidArgumentError):
        operator().assert_non_singular()
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.function(lambda: operator().assert_non_singular(), autograph=False)()
    with pytest.raises(tf.errors.InvalidArgumentError):
        after_in_session(operator)


@pytest.mark.parametrize("name", ["assert_non_singular", "assert_positive_definite", "assert_self_adjoint"])
def test_assertions_are_operations_of_graphs(name):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        for operator in (L.LinearOperatorIdentity(2), L.LinearOperatorDiag([1.0, 2.0])):
            assert session.run(getattr(operator, name)()) is None


def test_an_operator_that_is_never_positive_definite():
    with tf.Graph().as_default(), pytest.raises(tf.errors.InvalidArgumentError, match="non-positive definite"):
        L.LinearOperatorHouseholder([1.0, 0.0]).assert_positive_definite()


def test_subclasses_override_the_parts_of_triangular_matrices():
    class UnitTriangular(L.LinearOperatorLowerTriangular):
        def _get_tril(self):
            return tf.linalg.set_diag(super()._get_tril(), self._get_diag())

        def _get_diag(self):
            return tf.ones_like(super()._get_diag())

    operator = UnitTriangular([[2.0, 5.0], [3.0, 4.0]])
    assert operator.to_dense().numpy().tolist() == [[1.0, 0.0], [3.0, 1.0]]
    assert operator.diag_part().numpy().tolist() == [1.0, 1.0]
    assert float(operator.determinant()) == 1.0
    assert operator.matvec([1.0, 1.0]).numpy().tolist() == [1.0, 4.0]


def test_subclasses_call_the_general_algorithms():
    class Own(L.LinearOperatorFullMatrix):
        def _solve(self, rhs, adjoint=False, adjoint_arg=False):
            self._check_input_dtype(rhs)
            return self._dense_solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)

    operator = Own([[2.0, 0.0], [1.0, 4.0]])
    assert operator.solve([[2.0], [5.0]]).numpy().tolist() == [[1.0], [1.0]]
    assert operator.solve([[3.0], [4.0]], adjoint=True).numpy().tolist() == [[1.0], [1.0]]
    shape = tf.constant([5, 2, 3])
    numbers = operator._range_dimension_tensor(shape), operator._domain_dimension_tensor(shape)
    assert [int(n) for n in numbers] == [2, 3]
    assert operator._batch_shape_tensor(shape).numpy().tolist() == [5]
    assert int(operator._tensor_rank_tensor(shape)) == 3
    assert float(operator._max_condition_number_to_be_non_singular()) == pytest.approx(83886.08)
