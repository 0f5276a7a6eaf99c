"""Sparse matrices as objects, as `tensorflow.python.ops.linalg.sparse` has them: a tensor of the ops of `raw_ops`, with
its dtype and static shape."""

from __future__ import annotations

import abc
from typing import Any, NamedTuple

from tapeflow.array.creation import convert_to_tensor
from tapeflow.array.masks import where
from tapeflow.core.scopes import name_scope
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import DType, int64, variant
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import EagerTensor, Tensor
from tapeflow.linalg.diagonals import matrix_transpose
from tapeflow.linalg.products import matmul as dense_matmul
from tapeflow.math.complex import conj
from tapeflow.sparse.tensor import SparseTensor
from tapeflow_compat import raw_ops as raw
from tapeflow_compat.raw_ops.sparse_matrices import Matrix, static_shape


class SparseMatrix(abc.ABC):
    """A sparse matrix, or a batch of them, of any format."""

    @abc.abstractmethod
    def __init__(self) -> None: ...

    @property
    @abc.abstractmethod
    def _matrix(self) -> Tensor: ...

    @abc.abstractmethod
    def _from_matrix(self, matrix: Tensor, handle_data: Any = None) -> Any: ...

    @abc.abstractmethod
    def to_dense(self) -> Tensor:
        """Returns it as a dense tensor."""

    @abc.abstractmethod
    def to_sparse_tensor(self) -> SparseTensor:
        """Returns it as a sparse tensor."""

    @property
    def graph(self) -> Any:
        """The graph that it belongs to."""
        return self._matrix.graph

    @property
    def shape(self) -> TensorShape:
        """The static shape."""
        return static_shape(self._matrix)

    @property
    @abc.abstractmethod
    def dtype(self) -> DType:
        """The dtype of the values."""

    def conj(self) -> Any:
        """Returns the matrix of the complex conjugates."""
        return self._from_matrix(conj(self._matrix))

    def hermitian_transpose(self) -> Any:
        """Returns the conjugate transpose."""
        return self._from_matrix(raw.SparseMatrixTranspose(input=self._matrix, conjugate=True, type=self.dtype))

    def nnz(self) -> Tensor:
        """Returns the number of values, zeros that are stored included."""
        return raw.SparseMatrixNNZ(sparse_matrix=self._matrix)

    nonzero = nnz

    def sorted_indices(self) -> Tensor:
        """Returns the indices of the values."""
        return self.to_sparse_tensor().indices

    def transpose(self) -> Any:
        """Returns the transpose."""
        return self._from_matrix(raw.SparseMatrixTranspose(input=self._matrix, type=self.dtype))


class CSRSparseMatrix(SparseMatrix):
    """A sparse matrix in compressed rows, or a batch of them.

    Args:
        value: a `SparseTensor`, or a dense tensor, of rank 2 or 3.
        indices: integers of shape [count, rank], the indices of a dense tensor's values; by default of the nonzero
            ones.

    Raises:
        ValueError: `value` is a `SparseTensor`, and there are indices.
    """

    def __init__(self, value: Any, indices: TensorLike | None = None, name: str | None = None) -> None:
        if isinstance(value, SparseTensor):
            if indices is not None:
                raise ValueError("indices must be None if value is a SparseTensor.")
            self._csr_matrix = raw.SparseTensorToCSRSparseMatrix(
                indices=value.indices, values=value.values, dense_shape=value.dense_shape
            )
        else:
            value = convert_to_tensor(value)
            indices = where(value) if indices is None else convert_to_tensor(indices, int64)
            self._csr_matrix = raw.DenseToCSRSparseMatrix(dense_input=value, indices=indices)
        self._dtype = value.dtype

    @property
    def _matrix(self) -> Tensor:
        return self._csr_matrix

    @property
    def dtype(self) -> DType:
        return self._dtype

    def _from_matrix(self, matrix: Tensor, handle_data: Any = None) -> Any:
        new = type(self).__new__(type(self))
        new._dtype, new._csr_matrix = self._dtype, matrix
        return new

    def to_dense(self) -> Tensor:
        return raw.CSRSparseMatrixToDense(sparse_input=self._matrix, type=self.dtype)

    def to_sparse_tensor(self) -> SparseTensor:
        return SparseTensor(*raw.CSRSparseMatrixToSparseTensor(sparse_matrix=self._matrix, type=self.dtype))


class DenseShapeAndType(NamedTuple):
    """The static shape and the dtype of a matrix."""

    shape: TensorShape
    dtype: DType


def dense_shape_and_type(matrix: Any) -> DenseShapeAndType:
    """Returns the static shape and the dtype of the matrix that a tensor holds.

    Raises:
        TypeError: it is no variant.
        ValueError: it is symbolic: a graph does not know the contents of its variants.
    """
    if not isinstance(matrix, Tensor):
        raise TypeError(f"matrix should be a tensor, but saw: {matrix}")
    if matrix.dtype != variant:
        raise TypeError(f"expected matrix to be type tf.variant, but saw: {matrix.dtype}")
    held = matrix.value[()] if isinstance(matrix, EagerTensor) else None
    if not isinstance(held, Matrix):
        raise ValueError(f"matrix has missing handle data: {matrix}")
    return DenseShapeAndType(TensorShape(held.shape), held.dtype)


def matmul(
    a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False, adjoint_a: bool = False,
    adjoint_b: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """Returns the product of two matrices, each sparse or dense; it is sparse if both are, else dense.

    Raises:
        TypeError: the classes of two sparse matrices have nothing to do with each other.
    """
    flags = {"transpose_a": transpose_a, "transpose_b": transpose_b, "adjoint_a": adjoint_a, "adjoint_b": adjoint_b}
    is_sparse_a, is_sparse_b = isinstance(a, SparseMatrix), isinstance(b, SparseMatrix)
    if not is_sparse_a and not is_sparse_b:
        return dense_matmul(a, b, name=name, **flags)
    with name_scope(name or "SparseMatrixMatMul"):
        if is_sparse_a and is_sparse_b:
            if not isinstance(a, type(b)) and not isinstance(b, type(a)):
                raise TypeError(f"SparseMatrix types don't inherit from each other: {type(a)} and {type(b)}")
            product = raw.SparseMatrixSparseMatMul(a=a._matrix, b=b._matrix, type=a.dtype, **flags)
            return a._from_matrix(product)
        if is_sparse_a:
            return raw.SparseMatrixMatMul(a=a._matrix, b=b, **flags)
        # The transpose of the product, or its adjoint, is the product of those in the other order.
        a = matrix_transpose(a, conjugate=adjoint_a) if transpose_a or adjoint_a else a
        return raw.SparseMatrixMatMul(
            a=b._matrix, b=a, transpose_a=not (transpose_b or adjoint_b), transpose_b=not adjoint_b,
            adjoint_b=adjoint_b, transpose_output=True, conjugate_output=adjoint_b,
        )  # fmt: skip
