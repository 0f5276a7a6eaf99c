"""Sparse matrices in variants: batches, static shapes, sums, borders and what is refused."""

import itertools

import numpy as np
import pytest

import tapeflow as tf

R = tf.raw_ops


def csr(indices, values, shape):
    indices = np.reshape(indices, [-1, len(shape)])
    return R.SparseTensorToCSRSparseMatrix(
        indices=tf.constant(indices, tf.int64), values=tf.constant(values, tf.float32),
        dense_shape=tf.constant(shape, tf.int64),
    )  # fmt: skip


def from_dense(dense, indices=None):
    return R.DenseToCSRSparseMatrix(dense_input=dense, indices=tf.where(dense != 0) if indices is None else indices)


def to_dense(matrix):
    return R.CSRSparseMatrixToDense(sparse_input=matrix, type=tf.float32)


def components(matrix):
    return [part.numpy().tolist() for part in R.CSRSparseMatrixToSparseTensor(sparse_matrix=matrix, type=tf.float32)]


# ---- batches ---------------------------------------------------------------------------------------------------------

SHAPES = [(2, 3, 4), (1, 3, 4), (4, 3, 2)]
FLAGS = [(), ("transpose_a",), ("transpose_b",), ("adjoint_a", "adjoint_b")]


def drawn(*shape):
    numbers = np.random.default_rng(len(shape) + sum(shape))
    return np.where(numbers.random(shape) < 0.6, numbers.integers(1, 9, shape), 0).astype(np.float32)


@pytest.mark.parametrize(("batch", "flags"), itertools.product([1, 2, 3], FLAGS))
def test_products_of_batches(batch, flags):
    a, b = drawn(batch, 2, 4), drawn(batch, 4, 3)
    expected = a @ b
    a = a.transpose(0, 2, 1).copy() if flags and flags[0].endswith("a") else a
    b = b.transpose(0, 2, 1).copy() if flags and flags[-1].endswith("b") else b
    options = dict.fromkeys(flags, True)
    sparse = R.SparseMatrixSparseMatMul(a=from_dense(a), b=from_dense(b), type=tf.float32, **options)
    np.testing.assert_array_equal(to_dense(sparse), expected)
    np.testing.assert_array_equal(R.SparseMatrixMatMul(a=from_dense(a), b=b, **options), expected)


@pytest.mark.parametrize("shape", [(3, 4), *SHAPES])
def test_transposes_and_parts_of_batches(shape):
    dense = drawn(*shape)
    matrix = from_dense(dense)
    transposed = R.SparseMatrixTranspose(input=matrix, conjugate=False, type=tf.float32)
    np.testing.assert_array_equal(to_dense(transposed), dense.swapaxes(-1, -2))
    np.testing.assert_array_equal(R.SparseMatrixNNZ(sparse_matrix=matrix), (dense != 0).sum((-1, -2)))
    for index, each in enumerate(dense.reshape(-1, *shape[-2:])):
        starts, columns, values = R.CSRSparseMatrixComponents(csr_sparse_matrix=matrix, index=index, type=tf.float32)
        assert starts.numpy().tolist() == [0, *(each != 0).sum(1).cumsum()]
        assert columns.numpy().tolist() == np.nonzero(each)[1].tolist()
        assert values.numpy().tolist() == each[each != 0].tolist()


@pytest.mark.parametrize("batch", [(), (1,), (3,)])
@pytest.mark.parametrize("flags", [*FLAGS, ("transpose_output",), ("transpose_a", "transpose_output")])
def test_gradients_of_products_of_batches(batch, flags):
    options = dict.fromkeys(flags, True)
    a = drawn(*batch, *((4, 2) if flags and flags[0].endswith("a") else (2, 4)))
    b = tf.constant(drawn(*batch, *((3, 4) if flags and flags[-1].endswith("b") else (4, 3))))
    weights = tf.constant(drawn(*batch, *((3, 2) if "transpose_output" in flags else (2, 3))))
    values = tf.constant(a[a != 0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([values, b])
        matrix = R.SparseTensorToCSRSparseMatrix(indices=np.argwhere(a != 0), values=values, dense_shape=a.shape)
        product = R.SparseMatrixMatMul(a=matrix, b=b, **options)
        dense = tf.scatter_nd(np.argwhere(a != 0), values, a.shape)
        names = {k: v for k, v in options.items() if k != "transpose_output"}
        expected = tf.matmul(dense, b, **names)
        expected = tf.linalg.matrix_transpose(expected) if "transpose_output" in flags else expected
    np.testing.assert_array_equal(product, expected)
    for found, other in zip(
        tape.gradient(product, [values, b], weights), tape.gradient(expected, [values, b], weights), strict=True
    ):
        np.testing.assert_allclose(found, other, rtol=1e-6)


@pytest.mark.parametrize("batch", [(), (2,)])
def test_cholesky_factors_of_batches(batch):
    factor = np.tril(drawn(*batch, 4, 4)) + 3 * np.eye(4, dtype=np.float32)
    dense = factor @ factor.swapaxes(-1, -2)
    matrix = from_dense(dense)
    order = R.SparseMatrixOrderingAMD(input=matrix)
    assert order.shape == (*batch, 4)
    assert np.array_equal(np.sort(order, -1), np.broadcast_to(np.arange(4), (*batch, 4)))
    for permutation in (order, np.broadcast_to(np.arange(4, dtype=np.int32), (*batch, 4))):
        found = to_dense(R.SparseMatrixSparseCholesky(input=matrix, permutation=permutation, type=tf.float32)).numpy()
        place = np.eye(4, dtype=np.float32)[np.asarray(permutation)]
        np.testing.assert_allclose(found @ found.swapaxes(-1, -2), place @ dense @ place.swapaxes(-1, -2), rtol=1e-4)
        np.testing.assert_array_equal(found, np.tril(found))


def test_the_row_with_the_fewest_neighbors_comes_first():
    arrow = np.eye(4, dtype=np.float32)
    arrow[0] = arrow[:, 0] = 1.0  # a factor in this order has all values
    order = R.SparseMatrixOrderingAMD(input=from_dense(arrow)).numpy().tolist()
    assert order[:2] == [1, 2] and set(order[2:]) == {0, 3}
    matrix = from_dense(arrow + 3 * np.eye(4, dtype=np.float32))
    factor = R.SparseMatrixSparseCholesky(input=matrix, permutation=order, type=tf.float32)
    assert int(R.SparseMatrixNNZ(sparse_matrix=factor)) == 7


# ---- sums ------------------------------------------------------------------------------------------------------------

A = ([[0, 1], [1, 0]], [1.0, 2.0], [2, 3])


@pytest.mark.parametrize(("other", "expected"), [
    (A, [[[0, 1], [1, 0]], [2.0, 4.0], [2, 3]]),
    (([[0, 2], [1, 0]], [3.0, 4.0], [2, 3]), [[[0, 1], [0, 2], [1, 0]], [1.0, 3.0, 6.0], [2, 3]]),
    (([[0, 1], [0, 2]], [3.0, 4.0], [2, 3]), [[[0, 1], [0, 2], [1, 0]], [4.0, 4.0, 2.0], [2, 3]]),
    (([[0, 1]], [5.0], [2, 3]), [[[0, 1], [1, 0]], [6.0, 2.0], [2, 3]]),
    (([], [], [2, 3]), [[[0, 1], [1, 0]], [1.0, 2.0], [2, 3]]),
])  # fmt: skip
def test_sums(other, expected):
    assert components(R.AddN(inputs=[csr(*A), csr(*other)])) == expected
    assert components(R.AddN(inputs=[csr(*other), csr(*A)])) == expected


# ---- empty matrices --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(0, 2), (2, 0), (0, 0), (2, 0, 3), (2, 3, 0), (0, 2, 3)])
def test_matrices_without_elements(shape):
    matrix = csr([], [], shape)
    assert components(matrix)[1:] == [[], list(shape)]
    assert to_dense(matrix).shape == shape
    transposed = R.SparseMatrixTranspose(input=matrix, conjugate=False, type=tf.float32)
    assert components(transposed)[2] == [*shape[:-2], shape[-1], shape[-2]]
    product = R.SparseMatrixSparseMatMul(a=matrix, b=transposed, type=tf.float32)
    assert components(product)[1:] == [[], [*shape[:-1], shape[-2]]]
    assert not R.SparseMatrixMatMul(a=matrix, b=tf.ones([*shape[:-2], shape[-1], 2])).numpy().any()
    assert R.SparseMatrixNNZ(sparse_matrix=matrix).numpy().tolist() == ([0] * shape[0] if len(shape) == 3 else 0)


# ---- what is refused -------------------------------------------------------------------------------------------------

BATCH = ([[0, 0, 0]], [1.0], [2, 2, 2])


@pytest.mark.parametrize(("call", "message"), [
    (lambda: R.SparseMatrixMatMul(a=csr(*BATCH), b=tf.ones([3, 2, 2])), "saw: 2 vs. 3"),
    (lambda: R.SparseMatrixMatMul(a=csr(*BATCH), b=tf.ones([2, 3, 2])), "Inner product dimensions"),
    (lambda: R.SparseMatrixSparseMatMul(a=csr(*BATCH), b=csr([], [], [3, 2, 2]), type=tf.float32), "saw: 2 vs. 3"),
    (lambda: R.SparseMatrixSparseMatMul(a=csr(*BATCH), b=csr(*A), type=tf.float32), "Ranks of a and b must match"),
    (lambda: R.SparseMatrixMatMul(a=csr(*A), b=tf.ones([3, 2], tf.complex64)), "a.dtype == float vs. b.dtype"),
    (lambda: R.SparseMatrixMatMul(a=csr(*A), b=tf.ones([2, 3]), transpose_b=True, adjoint_b=True), "transpose_b"),
    (lambda: R.CSRSparseMatrixComponents(csr_sparse_matrix=csr(*A), index=-1, type=tf.float32), "not in"),
    (lambda: R.CSRSparseMatrixComponents(csr_sparse_matrix=csr(*A), index=1, type=tf.float32), "not in"),
    (lambda: from_dense(tf.ones([2, 2]), tf.constant([[0, 0, 0]], tf.int64)), "rank of params"),
    (lambda: from_dense(tf.ones([2, 2]), tf.constant([[0, 2]], tf.int64)), "out of bounds"),
    (lambda: csr([[0, 3]], [1.0], [2, 3]), "out of bounds"),
    (lambda: csr([[1, 2], [0, 1]], [5.0, 6.0], [2, 3]), "must ascend"),
    (lambda: csr([[1, 0, 2], [0, 1, 1]], [5.0, 6.0], [2, 2, 3]), "must ascend"),
    (lambda: csr([[0, 0, 0, 0]], [1.0], [1, 1, 1, 1]), "rank"),
    (lambda: R.SparseMatrixSparseCholesky(input=csr(*A), permutation=[0, 1], type=tf.float32), "must be square"),
    (lambda: R.SparseMatrixNNZ(sparse_matrix=tf.raw_ops.EmptyTensorList(
        element_shape=[], max_num_elements=1, element_dtype=tf.float32)), "Unable to get CSRSparseMatrix"),
])  # fmt: skip
def test_refused(call, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        call()


def test_columns_in_any_order():
    assert components(csr([[0, 2], [0, 1]], [5.0, 6.0], [2, 3])) == [[[0, 2], [0, 1]], [5.0, 6.0], [2, 3]]


# ---- static shapes ---------------------------------------------------------------------------------------------------


def static(function, *shapes):
    def traced(*tensors):
        return function(*tensors)

    specs = [tf.TensorSpec(shape) for shape in shapes]
    outputs = tf.function(traced, autograph=False).get_concrete_function(*specs).structured_outputs
    shapes = [output.shape for output in tf.nest.flatten(outputs)]
    return [None if shape.rank is None else shape.as_list() for shape in shapes]


@pytest.mark.parametrize(("shapes", "flags", "expected"), [
    (([2, 3], [3, 4]), (), [2, 4]),
    (([2, 3], None), (), [2, None]),
    (([5, 2, 3], None), (), [5, 2, None]),
    ((None, [3, 4]), (), [None, 4]),
    ((None, [5, 3, 4]), (), [5, None, 4]),
    ((None, None), (), None),
    (([None, 3], [3, None]), (), [None, None]),
    (([None, 2, 3], [None, 3, 4]), (), [None, 2, 4]),
    (([3, 2], [4, 3]), ("transpose_a", "transpose_b"), [2, 4]),
    (([3, 2], [4, 3]), ("adjoint_a", "adjoint_b"), [2, 4]),
    (([2, 3], None), ("transpose_a",), [3, None]),
])  # fmt: skip
def test_static_shapes_of_products(shapes, flags, expected):
    options = dict.fromkeys(flags, True)
    assert static(lambda a, b: R.SparseMatrixMatMul(a=from_dense(a), b=b, **options), *shapes) == [expected]
    turned = expected and [*expected[:-2], expected[-1], expected[-2]]
    options["transpose_output"] = True
    assert static(lambda a, b: R.SparseMatrixMatMul(a=from_dense(a), b=b, **options), *shapes) == [turned]
    del options["transpose_output"]

    def product(a, b):
        return to_dense(R.SparseMatrixSparseMatMul(a=from_dense(a), b=from_dense(b), type=tf.float32, **options))

    assert static(product, *shapes) == [expected]


UNARY = {
    "dense": to_dense,
    "sparse": lambda m: R.CSRSparseMatrixToSparseTensor(sparse_matrix=m, type=tf.float32),
    "parts": lambda m: R.CSRSparseMatrixComponents(csr_sparse_matrix=m, index=0, type=tf.float32),
    "count": lambda m: R.SparseMatrixNNZ(sparse_matrix=m),
    "transpose": lambda m: to_dense(R.SparseMatrixTranspose(input=m, conjugate=False, type=tf.float32)),
    "order": lambda m: R.SparseMatrixOrderingAMD(input=m),
}


@pytest.mark.parametrize(("name", "shape", "expected"), [
    ("dense", [2, 3], [[2, 3]]),
    ("dense", [5, 2, 3], [[5, 2, 3]]),
    ("sparse", [2, 3], [[None, 2], [None], [2]]),
    ("sparse", [5, 2, 3], [[None, 3], [None], [3]]),
    ("sparse", None, [[None, None], [None], [None]]),
    ("parts", [2, 3], [[3], [None], [None]]),
    ("parts", [5, 2, 3], [[3], [None], [None]]),
    ("parts", [None, 3], [[None], [None], [None]]),
    ("parts", None, [[None], [None], [None]]),
    ("count", [2, 3], [[]]),
    ("count", [5, 2, 3], [[5]]),
    ("count", None, [None]),
    ("transpose", [2, 3], [[3, 2]]),
    ("transpose", [5, 2, None], [[5, None, 2]]),
    ("transpose", None, [None]),
    ("order", [3, 3], [[3]]),
    ("order", [5, 3, 3], [[5, 3]]),
])  # fmt: skip
def test_static_shapes(name, shape, expected):
    assert static(lambda dense: UNARY[name](from_dense(dense)), shape) == expected
