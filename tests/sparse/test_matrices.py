"""Sparse matrices in compressed rows: products of all kinds and their gradients, against dense ones."""

import itertools

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.tensorflow_python.sparse_matrices import CSRSparseMatrix, dense_shape_and_type, matmul

FLAGS = [
    dict(zip(("transpose_a", "adjoint_a", "transpose_b", "adjoint_b"), flags, strict=True))
    for flags in itertools.product((False, True), repeat=4)
    if not (flags[0] and flags[1]) and not (flags[2] and flags[3])
]


def random(numbers, shape, dtype):
    values = numbers.normal(size=shape) + (1j * numbers.normal(size=shape) if dtype.is_complex else 0)
    mask = numbers.random(shape) < 0.5
    return (values * mask).astype(dtype.as_numpy_dtype), mask


def product_and_gradients(function, a, b):
    with tf.GradientTape() as tape:
        tape.watch([a, b])
        product = function(a, b)
        total = tf.reduce_sum(tf.math.real(product * product * product))
    return product, *tape.gradient(total, [a, b])


@pytest.mark.parametrize("flags", FLAGS, ids=lambda flags: " ".join(k for k, v in flags.items() if v) or "plain")
@pytest.mark.parametrize("batch", [(), (2,)], ids=["one", "batch"])
@pytest.mark.parametrize("dtype", [tf.float64, tf.complex128], ids=lambda d: d.name)
def test_products(dtype, batch, flags):
    numbers = np.random.default_rng(0)
    shape_a = (4, 3) if flags["transpose_a"] or flags["adjoint_a"] else (3, 4)
    shape_b = (2, 4) if flags["transpose_b"] or flags["adjoint_b"] else (4, 2)
    (a, mask_a), (b, mask_b) = random(numbers, batch + shape_a, dtype), random(numbers, batch + shape_b, dtype)
    for is_sparse_a, is_sparse_b in ((True, False), (False, True), (True, True)):

        def sparse(a, b, is_sparse_a=is_sparse_a, is_sparse_b=is_sparse_b):
            a = CSRSparseMatrix(a, np.argwhere(mask_a)) if is_sparse_a else a
            b = CSRSparseMatrix(b, np.argwhere(mask_b)) if is_sparse_b else b
            product = matmul(a, b, **flags)
            return product.to_dense() if is_sparse_a and is_sparse_b else product

        def dense(a, b, is_sparse_a=is_sparse_a, is_sparse_b=is_sparse_b):
            a = a * tf.cast(mask_a, dtype) if is_sparse_a else a
            b = b * tf.cast(mask_b, dtype) if is_sparse_b else b
            return tf.matmul(a, b, **flags)

        expected = product_and_gradients(dense, tf.constant(a), tf.constant(b))
        for function in (sparse, tf.function(sparse)) if batch else (sparse,):
            for value, other in zip(
                product_and_gradients(function, tf.constant(a), tf.constant(b)), expected, strict=True
            ):
                np.testing.assert_allclose(value, other, rtol=1e-12, atol=1e-12)


def test_gradients_of_a_matrix_that_is_used_twice_are_summed():
    numbers = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(numbers)
        matrix = CSRSparseMatrix(tf.SparseTensor([[0, 1], [2, 0]], numbers, [3, 2]))
        product = matmul(matrix, matmul(matrix.transpose(), tf.ones([3, 4])))
        total = tf.reduce_sum(product) + tf.reduce_sum(matrix.to_dense())
    np.testing.assert_allclose(tape.gradient(total, numbers), [9.0, 17.0])


def test_a_graph_infers_shapes():
    @tf.function(input_signature=[tf.TensorSpec([None, 2]), tf.TensorSpec([None, 2, 5])])
    def shapes(dense, batch):
        matrix = CSRSparseMatrix(dense)
        assert matrix.shape.as_list() == [None, 2] and matrix.transpose().shape.as_list() == [2, None]
        assert matmul(matrix, tf.ones([2, 4])).shape.as_list() == [None, 4]
        assert matmul(matrix, matrix.transpose()).shape.as_list() == [None, None]
        assert CSRSparseMatrix(batch).to_dense().shape.as_list() == [None, 2, 5]
        assert CSRSparseMatrix(batch).to_sparse_tensor().shape.rank == 3
        assert CSRSparseMatrix(batch).nnz().shape.rank == 1
        return matrix.to_dense()

    assert shapes([[1.0, 0.0]], tf.ones([1, 2, 5])).numpy().tolist() == [[1.0, 0.0]]


def test_a_matrix():
    matrix = CSRSparseMatrix([[0.0, 1.0], [0.0, 0.0], [2.0, 0.0]])
    assert int(matrix.nnz()) == 2 and matrix.sorted_indices().numpy().tolist() == [[0, 1], [2, 0]]
    assert dense_shape_and_type(matrix._matrix) == (tf.TensorShape([3, 2]), tf.float32)
    assert matrix.hermitian_transpose().conj().to_dense().numpy().tolist() == [[0.0, 0.0, 2.0], [1.0, 0.0, 0.0]]
    assert int(tf.raw_ops.SparseMatrixNNZ(sparse_matrix=tf.zeros_like(matrix._matrix))) == 0
    with pytest.raises(ValueError, match="indices must be None"):
        CSRSparseMatrix(tf.SparseTensor([[0, 0]], [1.0], [1, 1]), [[0, 0]])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"must ascend: reorder .* by tf.sparse.reorder"):
        CSRSparseMatrix(tf.SparseTensor([[1, 0], [0, 0]], [1.0, 2.0], [2, 1]))
    with pytest.raises(TypeError, match=r"expected matrix to be type tf.variant"):
        dense_shape_and_type(tf.constant(1.0))


def test_a_minimum_degree_ordering_leaves_a_star_without_new_values():
    star = np.eye(6) * 10
    star[0], star[:, 0] = 1, 1
    star[0, 0] = 10
    matrix = CSRSparseMatrix(star)._matrix
    order = tf.raw_ops.SparseMatrixOrderingAMD(input=matrix)
    assert sorted(order.numpy().tolist()) == list(range(6))
    factor = tf.raw_ops.SparseMatrixSparseCholesky(input=matrix, permutation=order, type=tf.float64)
    assert int(tf.raw_ops.SparseMatrixNNZ(sparse_matrix=factor)) == 11
