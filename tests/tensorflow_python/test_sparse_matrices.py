"""Sparse matrices as objects; the results are those of TensorFlow 2.21."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow_compat.tensorflow_python import sparse_matrices
from tapeflow_compat.tensorflow_python.sparse_matrices import CSRSparseMatrix, matmul

A = np.array([[1.0 + 2.0j, 0.0, 3.0], [0.0, 4.0 - 1.0j, 0.0]])
B = np.array([[0.0, 2.0j], [1.0, 0.0], [5.0, 1.0 - 1.0j]])


def dense(matrix):
    return (matrix.to_dense() if isinstance(matrix, CSRSparseMatrix) else matrix).numpy()


def test_values_and_shapes():
    matrix = CSRSparseMatrix(A)
    assert matrix.dtype == tf.complex128 and matrix.shape == tf.TensorShape([2, 3])
    assert int(matrix.nnz()) == int(matrix.nonzero()) == 3
    assert dense(matrix).tolist() == A.tolist()
    assert matrix.sorted_indices().numpy().tolist() == [[0, 0], [0, 2], [1, 1]]
    assert dense(matrix.conj()).tolist() == A.conj().tolist()
    assert dense(matrix.transpose()).tolist() == A.T.tolist()
    assert dense(matrix.hermitian_transpose()).tolist() == A.conj().T.tolist()
    assert isinstance(matrix.transpose(), CSRSparseMatrix) and matrix.transpose().shape == tf.TensorShape([3, 2])
    sparse = matrix.to_sparse_tensor()
    assert sparse.values.numpy().tolist() == [1.0 + 2.0j, 3.0, 4.0 - 1.0j] and sparse.shape == [2, 3]
    again = CSRSparseMatrix(sparse)
    assert again.dtype == tf.complex128 and dense(again).tolist() == A.tolist()


def test_values_at_indices():
    matrix = CSRSparseMatrix(tf.constant([[1.0, 0.0], [2.0, 3.0]]), indices=[[0, 1], [1, 0]])
    assert int(matrix.nnz()) == 2 and dense(matrix).tolist() == [[0.0, 0.0], [2.0, 0.0]]
    with pytest.raises(ValueError, match=r"indices must be None if value is a SparseTensor\."):
        CSRSparseMatrix(matrix.to_sparse_tensor(), [[0, 1]])


FLAGS = [
    {}, {"transpose_a": True}, {"transpose_b": True}, {"adjoint_a": True}, {"adjoint_b": True},
    {"transpose_a": True, "transpose_b": True}, {"adjoint_a": True, "adjoint_b": True},
    {"adjoint_a": True, "transpose_b": True}, {"transpose_a": True, "adjoint_b": True},
]  # fmt: skip


@pytest.mark.parametrize("flags", FLAGS, ids=lambda flags: "-".join(flags))
@pytest.mark.parametrize("sparse", [(True, True), (True, False), (False, True), (False, False)])
def test_products(flags, sparse):
    a = {"transpose_a": A.T, "adjoint_a": A.conj().T}.get(next((f for f in flags if f.endswith("a")), ""), A)
    b = {"transpose_b": B.T, "adjoint_b": B.conj().T}.get(next((f for f in flags if f.endswith("b")), ""), B)
    factors = [CSRSparseMatrix(x) if is_sparse else tf.constant(x) for x, is_sparse in zip((a, b), sparse, strict=True)]
    product = matmul(*factors, **flags)
    assert isinstance(product, CSRSparseMatrix) is all(sparse)
    np.testing.assert_allclose(dense(product), A @ B, rtol=1e-12)


def test_products_of_other_classes():
    class Other(CSRSparseMatrix):
        pass

    class Another(CSRSparseMatrix):
        pass

    first, second = Other(A.real), Another(B.real)
    with pytest.raises(TypeError, match=r"SparseMatrix types don't inherit from each other: .*Other.*Another"):
        matmul(first, second)
    expected = A.real @ B.real
    assert dense(matmul(first, CSRSparseMatrix(B.real))).tolist() == expected.tolist()
    assert dense(matmul(CSRSparseMatrix(A.real), second)).tolist() == expected.tolist()


def test_the_shape_and_dtype_that_a_tensor_holds():
    found = sparse_matrices.dense_shape_and_type(CSRSparseMatrix(tf.zeros([2, 3]))._matrix)
    assert found.shape == tf.TensorShape([2, 3]) and found.dtype == tf.float32
    with pytest.raises(TypeError, match="matrix should be a tensor, but saw: 3"):
        sparse_matrices.dense_shape_and_type(3)
    with pytest.raises(TypeError, match=r"expected matrix to be type tf.variant, but saw: .*float32"):
        sparse_matrices.dense_shape_and_type(tf.constant([1.0]))
    with pytest.raises(ValueError, match="matrix has missing handle data"):
        sparse_matrices.dense_shape_and_type(
            tf.raw_ops.EmptyTensorList(element_shape=[], max_num_elements=1, element_dtype=tf.int32)
        )


def test_matrices_of_graphs():
    with tf.Graph().as_default() as graph:
        matrix = CSRSparseMatrix(tf.constant(A))
        assert matrix.graph is graph
        product = matmul(matrix, tf.constant(B), name="product")
        with tf.compat.v1.Session() as session:
            np.testing.assert_allclose(session.run(product), A @ B, rtol=1e-12)
