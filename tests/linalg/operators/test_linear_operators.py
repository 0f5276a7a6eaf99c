"""`tf.linalg.LinearOperator` and its subclasses: every method of every operator against the dense matrix."""

import itertools

import numpy as np
import pytest

import tapeflow as tf
from linear_operator_cases import CASES, DEFINITE, REGULAR, SQUARE, adjoint_of, normal

L = tf.linalg
A = [[2.0, 1.0], [1.0, 3.0]]


def over(cases):
    return pytest.mark.parametrize("case", list(cases.values()), ids=list(cases))


def close(got, want, tol=1e-8):
    got = got.numpy()
    assert got.shape == np.shape(want)
    np.testing.assert_allclose(got, want, rtol=tol, atol=tol)


def _argument(dense, adjoint, batch=None):
    rows = dense.shape[-2] if adjoint else dense.shape[-1]
    return normal(*(dense.shape[:-2] if batch is None else batch), rows, 2, dtype=dense.dtype.name)


# ---- shapes ----------------------------------------------------------------------------------------------------------


@over(CASES)
def test_shapes(case):
    operator, shape = case.make(), list(case.dense.shape)
    assert operator.shape == shape and operator.batch_shape == shape[:-2]
    assert (operator.range_dimension, operator.domain_dimension, operator.tensor_rank) == (*shape[-2:], len(shape))
    assert operator.is_square == (shape[-1] == shape[-2])
    dynamic = [operator.range_dimension_tensor(), operator.domain_dimension_tensor(), operator.tensor_rank_tensor()]
    assert [int(d) for d in dynamic] == [*shape[-2:], len(shape)]
    for tensor, want in (
        (operator.shape_tensor(), shape),
        (operator._shape_tensor(), shape),
        (operator.batch_shape_tensor(), shape[:-2]),
    ):
        assert tensor.dtype == tf.int32 and tensor.numpy().tolist() == want
    assert operator.dtype == case.dense.dtype.name


# ---- elements --------------------------------------------------------------------------------------------------------


@over(CASES)
def test_to_dense(case):
    close(case.make().to_dense(), case.dense)


@over(CASES)
def test_diag_part(case):
    close(case.make().diag_part(), np.diagonal(case.dense, axis1=-2, axis2=-1))


@over(CASES)
def test_trace(case):
    close(case.make().trace(), np.trace(case.dense, axis1=-2, axis2=-1))


@over(CASES)
def test_add_to_tensor(case):
    x = normal(*case.dense.shape, dtype=case.dense.dtype.name)
    close(case.make().add_to_tensor(x), case.dense + x)
    one = normal(*case.dense.shape[-2:], dtype=case.dense.dtype.name)
    close(case.make().add_to_tensor(one), case.dense + one)
    more = normal(2, *case.dense.shape, dtype=case.dense.dtype.name)
    close(case.make().add_to_tensor(more), case.dense + more)


# ---- products and equations ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("adjoint", [False, True])
@over(CASES)
def test_matmul(case, adjoint):
    dense = adjoint_of(case.dense) if adjoint else case.dense
    operator = case.make()
    batch = case.dense.shape[:-2]
    for shape in {batch, (), (4, *batch), (1,) * len(batch)}:
        x = _argument(case.dense, adjoint, shape)
        close(operator.matmul(x, adjoint=adjoint), dense @ x)
        close(operator.matmul(adjoint_of(x), adjoint=adjoint, adjoint_arg=True), dense @ x)


@over(CASES)
def test_matmul_operator(case):
    x = _argument(case.dense, False)
    close(case.make() @ x, case.dense @ x)
    y = adjoint_of(_argument(case.dense, True))
    close(tf.constant(y) @ case.make(), y @ case.dense)


@pytest.mark.parametrize("adjoint", [False, True])
@over(CASES)
def test_matvec(case, adjoint):
    dense = adjoint_of(case.dense) if adjoint else case.dense
    x = _argument(case.dense, adjoint)[..., 0]
    close(case.make().matvec(x, adjoint=adjoint), np.einsum("...ij,...j->...i", dense, x))


@pytest.mark.parametrize("adjoint", [False, True])
@over(REGULAR)
def test_solve(case, adjoint):
    inverse = np.linalg.inv(adjoint_of(case.dense) if adjoint else case.dense)
    operator = case.make()
    batch = case.dense.shape[:-2]
    for shape in {batch, (), (4, *batch), (1,) * len(batch)}:
        x = _argument(case.dense, adjoint, shape)
        close(operator.solve(x, adjoint=adjoint), inverse @ x)
        close(operator.solve(adjoint_of(x), adjoint=adjoint, adjoint_arg=True), inverse @ x)


@pytest.mark.parametrize("adjoint", [False, True])
@over(REGULAR)
def test_solvevec(case, adjoint):
    inverse = np.linalg.inv(adjoint_of(case.dense) if adjoint else case.dense)
    x = _argument(case.dense, adjoint)[..., 0]
    close(case.make().solvevec(x, adjoint=adjoint), np.einsum("...ij,...j->...i", inverse, x))


# ---- numbers ---------------------------------------------------------------------------------------------------------


@over(SQUARE)
def test_determinant(case):
    close(case.make().determinant(), np.linalg.det(case.dense), 1e-7)


@over(SQUARE)
def test_log_abs_determinant(case):
    close(case.make().log_abs_determinant(), np.linalg.slogdet(case.dense)[1])


@over(REGULAR)
def test_cond(case):
    close(case.make().cond(), np.linalg.cond(case.dense), 1e-7)


@over(SQUARE)
def test_eigvals(case):
    operator = case.make()
    if operator.is_self_adjoint:
        got = np.sort(operator.eigvals().numpy().real, -1)
        np.testing.assert_allclose(got, np.linalg.eigvalsh(case.dense), rtol=1e-8, atol=1e-8)
    else:
        with pytest.raises(NotImplementedError, match="self-adjoint"):
            operator.eigvals()


# ---- other operators -------------------------------------------------------------------------------------------------


@over(CASES)
def test_adjoint(case):
    operator = case.make()
    close(operator.H.to_dense(), adjoint_of(case.dense))
    close(operator.adjoint().H.to_dense(), case.dense)
    x = _argument(case.dense, True)
    close(operator.H.matmul(x), adjoint_of(case.dense) @ x)
    assert operator.H.dtype == operator.dtype


@over(REGULAR)
def test_inverse(case):
    operator = case.make()
    inverse = operator.inverse()
    close(inverse.to_dense(), np.linalg.inv(case.dense))
    x = _argument(case.dense, False)
    close(inverse.matmul(x), np.linalg.inv(case.dense) @ x)
    close(inverse.solve(x), case.dense @ x)
    assert inverse.is_self_adjoint == operator.is_self_adjoint


@over(SQUARE)
def test_cholesky(case):
    operator = case.make()
    if operator.is_self_adjoint and operator.is_positive_definite:
        factor = operator.cholesky()
        close(factor.to_dense(), np.linalg.cholesky(case.dense))
        close((factor @ factor.H).to_dense(), case.dense)
    else:
        with pytest.raises(ValueError, match="Cannot take the Cholesky decomposition"):
            operator.cholesky()


def _small():
    names = ("full", "full-definite", "full-wide", "tril", "diag", "identity", "scaled", "zeros", "householder",
    "adjoint-wide",
             "inversion-definite", "low-rank")  # fmt: skip
    return [(f"{n}{b}", f"{m}{b}") for n, m in itertools.product(names, names) for b in ("", "-2")]


@pytest.mark.parametrize(("left", "right"), _small())
def test_products_of_operators(left, right):
    a, b = CASES[left], CASES[right]
    if a.dense.shape[-1] != b.dense.shape[-2]:
        with pytest.raises(ValueError, match="Operators are incompatible"):
            a.make() @ b.make()
    elif "zeros" in left + right and not (a.make().is_square and b.make().is_square) and "identity" not in left + right:
        with pytest.raises(ValueError, match="non-square"):
            a.make() @ b.make()
    else:
        close((a.make() @ b.make()).to_dense(), a.dense @ b.dense)


@pytest.mark.parametrize(("left", "right"), _small())
def test_solutions_of_operators(left, right):
    a, b = CASES[left], CASES[right]
    if left in REGULAR and a.dense.shape[-1] == b.dense.shape[-2]:
        close(a.make().solve(b.make()).to_dense(), np.linalg.inv(a.dense) @ b.dense)


# ---- arguments in blocks ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("adjoint", [False, True])
@pytest.mark.parametrize("name", ["block-diag", "block-tril", "block-diag-definite", "block-tril-3-2"])
def test_arguments_in_blocks(name, adjoint):
    operator, dense = CASES[name].make(), CASES[name].dense
    dense = adjoint_of(dense) if adjoint else dense
    diagonal = operator.operators if "diag" in name else [row[-1] for row in operator.operators]
    places = np.cumsum([o.domain_dimension for o in diagonal])[:-1]
    x = normal(*dense.shape[:-2], dense.shape[-1], 2, dtype=dense.dtype.name)
    for method, want in (("matmul", dense @ x), ("solve", np.linalg.inv(dense) @ x)):
        apply = getattr(operator, method)
        for blocks in (np.split(x, places, -2), tuple(map(tf.constant, np.split(x, places, -2)))):
            got = apply(blocks, adjoint=adjoint)
            assert isinstance(got, list)
            np.testing.assert_allclose(np.concatenate(got, -2), want, atol=1e-8)
        got = apply([adjoint_of(b) for b in np.split(x, places, -2)], adjoint=adjoint, adjoint_arg=True)
        np.testing.assert_allclose(np.concatenate(got, -2), want, atol=1e-8)
    for method, want in (("matvec", dense @ x), ("solvevec", np.linalg.inv(dense) @ x)):
        got = getattr(operator, method)(np.split(x[..., 0], places, -1), adjoint=adjoint)
        np.testing.assert_allclose(np.concatenate(got, -1), want[..., 0], atol=1e-8)


def test_lists_that_are_one_tensor():
    diag = L.LinearOperatorDiag
    operator = L.LinearOperatorBlockDiag([diag([1.0]), diag([2.0])])
    assert operator.matvec([1.0, 1.0]).numpy().tolist() == [1.0, 2.0]
    assert operator.matmul([[1.0], [1.0]]).numpy().tolist() == [[1.0], [2.0]]
    blocks = L.LinearOperatorBlockDiag([diag([1.0]), diag([2.0, 3.0])]).matvec([[1.0], [1.0, 1.0]])
    assert [b.numpy().tolist() for b in blocks] == [[1.0], [2.0, 3.0]]
    assert [type(o) for o in operator.matmul([L.LinearOperatorIdentity(1), diag([3.0])])] == [diag, diag]


# ---- in the rest of the library --------------------------------------------------------------------------------------


def test_functions_take_operators():
    full, definite = L.LinearOperatorFullMatrix(A), L.LinearOperatorFullMatrix(A, **DEFINITE)
    x = [[1.0], [2.0]]
    np.testing.assert_allclose(L.matmul(full, x), np.array(A) @ x)
    np.testing.assert_allclose(L.matmul(full, x, adjoint_a=True), np.array(A).T @ x)
    np.testing.assert_allclose(tf.matmul(tf.transpose(x), full), np.transpose(x) @ A)
    assert isinstance(tf.matmul(full, full), L.LinearOperatorComposition)
    np.testing.assert_allclose(L.solve(full, x), np.linalg.solve(A, x), rtol=1e-5)
    assert L.adjoint(full).operator is full and L.inv(full).operator is full
    assert isinstance(L.cholesky(definite), L.LinearOperatorLowerTriangular)
    np.testing.assert_allclose(L.det(full), 5.0, rtol=1e-5)
    np.testing.assert_allclose(L.logdet(definite), np.log(5.0), rtol=1e-5)
    assert L.trace(full).numpy() == 5.0 and L.diag_part(full).numpy().tolist() == [2.0, 3.0]


def test_variables_are_followed():
    variable = tf.Variable([1.0, 2.0], name="d")
    operator = L.LinearOperatorComposition([L.LinearOperatorDiag(variable), L.LinearOperatorFullMatrix(A)])
    assert [v is variable for v in operator.variables] == [True] and len(operator.trainable_variables) == 1
    assert {type(m) for m in operator.submodules} == {L.LinearOperatorDiag, L.LinearOperatorFullMatrix}
    u, d = tf.Variable([[1.0], [2.0]], name="u"), tf.Variable([1.0], name="d")
    update = L.LinearOperatorLowRankUpdate(L.LinearOperatorDiag(variable), u, diag_update=d)
    assert {v.ref() for v in update.variables} == {variable.ref(), u.ref(), d.ref()}
    variable.assign([3.0, 4.0])
    assert operator.diag_part().numpy().tolist() == [6.0, 12.0]
    with tf.GradientTape() as tape:
        y = operator.determinant()
    np.testing.assert_allclose(tape.gradient(y, variable), [20.0, 15.0], rtol=1e-5)


@pytest.mark.parametrize(
    "case",
    [REGULAR[n] for n in REGULAR if n.endswith("-2") and "3-2" not in n and "variable" not in n],
    ids=[n for n in REGULAR if n.endswith("-2") and "3-2" not in n and "variable" not in n],
)
def test_gradients_flow_to_the_parameters(case):
    """The gradients of products and solutions, against finite differences along one direction."""
    operator = case.make()
    spec = operator._type_spec
    parts = tf.nest.flatten(operator, expand_composites=True)
    floats = [i for i, p in enumerate(parts) if p.dtype.is_floating or p.dtype.is_complex]
    x = _argument(case.dense, False)

    def value(parts):
        made = tf.nest.pack_sequence_as(operator, parts, expand_composites=True)
        products = made.matmul(x), made.solve(x), made.log_abs_determinant()
        return sum(tf.reduce_sum(tf.math.real(p) ** 2) for p in products)

    parts = [tf.identity(p) for p in parts]
    with tf.GradientTape() as tape:
        tape.watch([parts[i] for i in floats])
        y = value(parts)
    found = tape.gradient(y, [parts[i] for i in floats])
    step, slope = 1e-6, 0.0
    moved = [[], []]
    for i, part in enumerate(parts):
        direction = normal(*part.shape, dtype=part.dtype.name) if i in floats else np.zeros(part.shape, part.dtype.name)
        if operator.is_self_adjoint and part.shape.rank > 2 and part.shape[-1] == part.shape[-2]:
            direction = direction + adjoint_of(direction)  # matrices stay self-adjoint
        for sign, into in zip((1, -1), moved, strict=True):
            into.append(tf.constant(part.numpy() + sign * (step * direction if i in floats else direction)))
        if i in floats:
            gradient = found[floats.index(i)]
            slope += np.sum(np.conj(gradient.numpy()) * direction).real
    difference = (value(moved[0]) - value(moved[1])).numpy() / (2 * step)
    np.testing.assert_allclose(slope, difference, rtol=1e-4, atol=1e-4)
    assert spec.is_compatible_with(tf.nest.pack_sequence_as(operator, parts, expand_composites=True))


def test_gradients_for_an_operator_are_an_operator():
    operator = L.LinearOperatorKronecker([L.LinearOperatorFullMatrix(A), L.LinearOperatorDiag([1.0, 2.0])])
    with tf.GradientTape() as tape:
        tape.watch(operator)
        y = tf.reduce_sum(operator.operators[0].to_dense() ** 2)
    gradient = tape.gradient(y, operator)
    np.testing.assert_allclose(gradient.operators[0].to_dense(), 2 * np.array(A))
    np.testing.assert_allclose(gradient.operators[1].to_dense(), np.zeros([2, 2]))
    with tf.GradientTape() as tape:
        tape.watch(operator)
        y = tf.constant(1.0)
    assert tape.gradient(y, operator) is None


@over(CASES)
def test_specs(case):
    operator = case.make()
    spec = operator._type_spec
    assert type(spec).__name__ == type(operator).__name__ + "Spec" and spec.value_type is type(operator)
    assert spec == case.make()._type_spec and hash(spec) == hash(case.make()._type_spec)
    parts = tf.nest.flatten(operator, expand_composites=True)
    assert all(isinstance(p, (tf.Tensor, tf.Variable)) for p in parts)
    again = tf.nest.pack_sequence_as(operator, parts, expand_composites=True)
    close(again.to_dense(), case.dense)
    assert (again.is_self_adjoint, again.is_positive_definite) == (
        operator.is_self_adjoint,
        operator.is_positive_definite,
    )
    assert spec.from_tensors(iter(spec.to_tensors(operator))).shape == operator.shape


SLICES = [
    np.index_exp[0],
    np.index_exp[1:],
    np.index_exp[..., 1],
    np.index_exp[:, 1],
    np.index_exp[1, 0],
    np.index_exp[..., None],
    np.index_exp[None, ..., ::-1],
    np.index_exp[2, None, :1],
    np.index_exp[...],
]


@pytest.mark.parametrize("name", [n for n in CASES if n.endswith("-3-2")])
def test_slices(name):
    operator, dense = CASES[name].make(), CASES[name].dense
    for index in SLICES:
        full = (*index, slice(None), slice(None)) if Ellipsis in index else (*index, ..., slice(None), slice(None))
        got = operator[index if len(index) > 1 else index[0]]
        assert type(got) is type(operator) and got.is_self_adjoint in (operator.is_self_adjoint, None)
        want = dense[full]
        np.testing.assert_allclose(np.broadcast_to(got.to_dense(), want.shape), want, atol=1e-8)


def test_slices_of_an_identity_without_a_batch():
    operator = L.LinearOperatorIdentity(2)
    assert operator[...] is operator


def test_sizes_are_checked_when_asked():
    identity = L.LinearOperatorIdentity(tf.constant(2), batch_shape=tf.constant([3]), assert_proper_shapes=True)
    assert identity.shape == [3, 2, 2] and identity.matvec([1.0, 2.0]).shape == [3, 2]
    zeros = L.LinearOperatorZeros(2, assert_proper_shapes=True)
    assert zeros.matmul([[1.0], [2.0]]).numpy().tolist() == [[0.0], [0.0]]
    assert zeros.add_to_tensor(A).numpy().tolist() == A
    assert np.isnan(zeros.cond()) and zeros.log_abs_determinant().numpy() == -np.inf


def test_circulant_properties():
    spectrum = tf.signal.fft(tf.constant([1.0, 2.0, 3.0], tf.complex64))
    operator = L.LinearOperatorCirculant(spectrum, input_output_dtype=tf.float32)
    np.testing.assert_allclose(operator.convolution_kernel(), [1.0, 2.0, 3.0], atol=1e-6)
    assert operator.block_depth == 1 and operator.block_shape == [3]
    assert operator.block_shape_tensor().numpy().tolist() == [3]
    operator = L.LinearOperatorCirculant3D(tf.ones([4, 2, 3, 5]))
    assert operator.block_depth == 3 and operator.block_shape == [2, 3, 5] and operator.shape == [4, 30, 30]
    assert operator.block_shape_tensor().numpy().tolist() == [2, 3, 5]
    assert operator.dtype == tf.complex64 and operator.convolution_kernel().shape == [4, 2, 3, 5]


def test_operators_of_integers():
    operator = L.LinearOperatorDiag([1, 2])
    assert operator.to_dense().numpy().tolist() == [[1, 0], [0, 2]] and int(operator.determinant()) == 2
    assert L.LinearOperatorIdentity(2, dtype=tf.int32).matmul([[1], [2]]).numpy().tolist() == [[1], [2]]


def test_a_subclass_of_ones_own():
    class Shift(L.LinearOperator):
        def __init__(self, size, name=None):
            self._size = size
            super().__init__(tf.float64, is_square=True, name=name)

        def _shape(self):
            return tf.TensorShape([self._size, self._size])

        def _matmul(self, x, adjoint=False, adjoint_arg=False):
            x = tf.linalg.adjoint(x) if adjoint_arg else x
            return tf.roll(x, -1 if adjoint else 1, -2)

    operator = Shift(3)
    dense = np.roll(np.eye(3), 1, 0)
    close(operator.to_dense(), dense)
    close(operator.H.to_dense(), dense.T)
    close(operator.solvevec(tf.constant([1.0, 2.0, 3.0], tf.float64)), np.array([2.0, 3.0, 1.0]))
    close(operator.determinant(), np.linalg.det(dense))
    assert operator.parameters == {"size": 3, "name": None} and operator.name == "Shift"
    assert (operator @ operator).to_dense().numpy().tolist() == (dense @ dense).tolist()
    again = tf.nest.pack_sequence_as(
        operator, tf.nest.flatten(operator, expand_composites=True), expand_composites=True
    )
    assert type(again) is Shift and again.shape == [3, 3]


def test_a_subclass_with_a_tensor():
    class Times(L.LinearOperator):
        def __init__(self, number, is_self_adjoint=True):
            self.number = tf.convert_to_tensor(number)
            super().__init__(self.number.dtype, is_self_adjoint=is_self_adjoint)

        def _shape(self):
            return tf.TensorShape([2, 2])

        def _matmul(self, x, adjoint=False, adjoint_arg=False):
            return self.number * (tf.linalg.adjoint(x) if adjoint_arg else x)

    operator = Times(3.0)
    assert [t.numpy() for t in tf.nest.flatten(operator, expand_composites=True)] == [3.0]
    with tf.GradientTape() as tape:
        tape.watch(operator)
        y = operator.trace()
    gradient = tape.gradient(y, operator)
    assert isinstance(gradient, Times) and gradient.number.numpy() == 2.0
