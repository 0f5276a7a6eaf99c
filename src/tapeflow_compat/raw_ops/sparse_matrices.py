"""Sparse matrices in one tensor: variants that hold a matrix in compressed rows (CSR), or a batch of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import torch

from tapeflow.array.concat_and_split import concat
from tapeflow.array.creation import zeros, zeros_like
from tapeflow.array.gathers import gather, gather_nd
from tapeflow.array.masks import where
from tapeflow.array.sorting import searchsorted
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.ops.definition import NotStatic
from tapeflow.core.ops.op import RegisteredOp, not_differentiable, op
from tapeflow.core.ops.shape_rules import (
    check_sparse,
    merge_shapes,
    scalar,
    stated_dims,
    text,
    with_dimension,
    with_rank,
)
from tapeflow.core.ops.static import static_or_unknown
from tapeflow.core.types.aliases import DTypeLike, TensorLike
from tapeflow.core.types.dtypes import FROM_TORCH, DType, variant
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.boxed_objects import Addend, box_object
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.linalg.diagonals import matrix_transpose
from tapeflow.math.arithmetic import multiply
from tapeflow.math.comparison import equal
from tapeflow.math.complex import conj
from tapeflow.math.cumulative import cumprod
from tapeflow.math.reduction import reduce_sum
from tapeflow.sparse import index_order

_LARGEST = 2**63 - 1


class Matrix(Addend):
    """A sparse matrix, or a batch of them as one block-diagonal matrix; it never changes.

    Args:
        rows: int64, ascending: the row of each element, counted through all matrices of the batch.
        columns: int64: its column, within its matrix.
        values: the elements.
        shape: `[m, n]`, or `[batch, m, n]`.
    """

    def __init__(self, rows: torch.Tensor, columns: torch.Tensor, values: torch.Tensor, shape: tuple[int, ...]) -> None:
        self.rows, self.columns, self.values, self.shape = rows, columns, values, shape

    def __repr__(self) -> str:
        return f"CSRSparseMatrix of shape {text(self.shape)} with {len(self.values)} values"

    @classmethod
    def of(cls, indices: torch.Tensor, values: torch.Tensor, shape: tuple[int, ...]) -> Matrix:
        """Returns the matrix of a sparse tensor.

        Raises:
            InvalidArgumentError: indices are outside of the shape, or their rows do not ascend.
        """
        index_order.check(indices, shape, sorted_once=False)
        rows = index_order.flat(indices[:, :-1], shape[:-1])
        if bool((rows[1:] < rows[:-1]).any()):
            raise invalid("The rows of indices must ascend: reorder the sparse tensor by tf.sparse.reorder")
        return cls(rows, indices[:, -1], values, shape)

    @property
    def dtype(self) -> DType:
        """The dtype of the values."""
        return FROM_TORCH[self.values.dtype]

    @property
    def batch(self) -> int:
        """The number of matrices."""
        return self.shape[0] if len(self.shape) == 3 else 1

    @property
    def indices(self) -> torch.Tensor:
        """The indices of the values in a tensor of the shape."""
        return torch.cat([index_order.unflat(self.rows, self.shape[:-1]), self.columns[:, None]], 1)

    @property
    def block_columns(self) -> torch.Tensor:
        """The columns in the block-diagonal matrix."""
        m, n = self.shape[-2:]
        return self.columns if self.batch == 1 else self.columns + self.rows // max(m, 1) * n

    def of_type(self, dtype: DType, message: str) -> Matrix:
        """Returns the matrix itself.

        Raises:
            InvalidArgumentError: it is of another dtype; `message` has places for both.
        """
        if dtype is not self.dtype:
            raise invalid(message.format(dtype=_TYPES[dtype.name], own=_TYPES[self.dtype.name]))
        return self

    def conj(self) -> Matrix:
        """Returns the matrix of the complex conjugates."""
        return Matrix(self.rows, self.columns, torch.conj_physical(self.values), self.shape)

    def transposed(self, conjugate: bool = False) -> Matrix:
        """Returns the transpose of each matrix of the batch."""
        *batch, m, n = self.shape
        rows = self.columns if not batch else self.columns + self.rows // max(m, 1) * n
        order = torch.argsort(rows, stable=True)
        values = torch.conj_physical(self.values) if conjugate else self.values
        return Matrix(rows[order], (self.rows % max(m, 1))[order], values[order], (*batch, n, m))

    def lengths(self) -> torch.Tensor:
        """Returns the number of values in each row."""
        return torch.bincount(self.rows, minlength=self.batch * self.shape[-2])

    def times(self, other: Matrix) -> Matrix:
        """Returns the product, by Gustavson's algorithm (1978): each value is multiplied by the values of the row of
        the other matrix that its column names, and products for the same place are summed."""
        lengths = other.lengths()
        partners = self.block_columns
        count = lengths[partners]
        own = torch.repeat_interleave(count)
        starts = count.cumsum(0) - count
        others = (lengths.cumsum(0) - lengths)[partners][own] + torch.arange(len(own)) - starts[own]
        shape = (*self.shape[:-1], other.shape[-1])
        positions, segments = torch.unique(
            self.rows[own] * shape[-1] + other.columns[others], sorted=True, return_inverse=True
        )
        products = self.values[own] * other.values[others]
        return self._from_positions(positions, segments, products, shape)

    def __add__(self, other: Matrix) -> Matrix:
        if torch.equal(self.rows, other.rows) and torch.equal(self.columns, other.columns):
            return Matrix(self.rows, self.columns, self.values + other.values, self.shape)
        columns = self.shape[-1]
        both = torch.cat([self.rows * columns + self.columns, other.rows * columns + other.columns])
        positions, segments = torch.unique(both, sorted=True, return_inverse=True)
        return self._from_positions(positions, segments, torch.cat([self.values, other.values]), self.shape)

    @staticmethod
    def _from_positions(
        positions: torch.Tensor, segments: torch.Tensor, values: torch.Tensor, shape: tuple[int, ...]
    ) -> Matrix:
        """Returns the matrix of the sums of values by segments, each at its position in row-major order."""
        sums = values.new_zeros(len(positions)).index_add_(0, segments, values)
        return Matrix(positions // max(shape[-1], 1), positions % max(shape[-1], 1), sums, shape)

    def zeros(self) -> Matrix:
        """Returns a matrix of the shape without values."""
        return Matrix(self.rows[:0], self.columns[:0], self.values[:0], self.shape)


_TYPES = {"float32": "float", "float64": "double", "complex64": "complex64", "complex128": "complex128"}


def _no_matrix(*_: Any) -> Any:
    raise invalid("Tensor is not a matrix in compressed rows")


def _held(tensor: Any) -> Matrix:
    matrix = tensor[()] if not tensor.shape else None
    if not isinstance(matrix, Matrix):
        raise invalid(f"Unable to get CSRSparseMatrix from a variant that holds {type(matrix).__name__}")
    return matrix


# ---- static shapes ---------------------------------------------------------------------------------------------------


def static_shape(tensor: Any) -> TensorShape:
    """Returns the static shape of the matrix in a variant, if static; of other tensors, their own shape."""
    if tensor.dtype is not variant:
        return tensor.shape
    if not isinstance(tensor, SymbolicTensor):
        matrix = tensor.value[()]
        return TensorShape(matrix.shape if isinstance(matrix, Matrix) else None)
    operation = tensor.op
    rule = getattr(operation.op, "held_shape", None)
    if rule is None:
        return TensorShape(None)
    try:
        return rule(*operation.op.rule_arguments(operation.args, static_or_unknown))
    except NotStatic:
        return TensorShape(None)


def _takes_matrices(*functions: Any) -> None:
    """Has the shape rules of ops take the shapes of the matrices that their inputs hold."""
    for function in functions:
        function.op.input_shape = static_shape


def _holds(function: Any, rule: Callable[..., TensorShape]) -> None:
    """Sets the rule for the static shape of the matrix that an op's output holds."""
    registered: RegisteredOp = function.op
    registered.held_shape = rule


def _swapped(shape: TensorShape, *_: Any) -> TensorShape:
    return shape if shape.rank is None else TensorShape([*shape[:-2], shape[-1], shape[-2]])


def _product_shape(a: TensorShape, b: TensorShape, transposes_a: bool, transposes_b: bool) -> TensorShape:
    a, b = (_swapped(s) if swaps else s for s, swaps in ((a, transposes_a), (b, transposes_b)))
    if a.rank is None and b.rank is None:
        return TensorShape(None)
    batch, rows = (b[:-2], None) if a.rank is None else (a[:-2], a[-2])
    return TensorShape([*batch, rows, None if b.rank is None else b[-1]])


# ---- from and to tensors ---------------------------------------------------------------------------------------------


def _check_matrix_rank(rank: int | None) -> None:
    if rank not in (None, 2, 3):  # TensorFlow refuses an unknown rank, but knows the ranks of matrices
        raise invalid(f"Invalid rank: {rank}.  Expected a known rank of either 2 or 3.")


def _matrix_of_sparse_rule(indices: TensorShape, values: TensorShape, dense_shape: Any) -> TensorShape:
    check_sparse(indices, values, dense_shape)
    _check_matrix_rank(merge_shapes(with_rank(indices, 2)[1:], with_rank(dense_shape, 1))[0])
    return TensorShape([])


def _matrix_of_dense_rule(dense_input: TensorShape, indices: TensorShape) -> TensorShape:
    _check_matrix_rank(dense_input.rank)
    indices = with_rank(indices, 2)
    if dense_input.rank is not None:
        with_dimension(indices, 1, dense_input.rank)
    return TensorShape([])


@op("SparseTensorToCSRSparseMatrix", host=("dense_shape",), shape=_matrix_of_sparse_rule)
def from_sparse(indices: torch.Tensor, values: torch.Tensor, dense_shape: Any) -> np.ndarray:
    """Returns the matrix of a sparse tensor's values, or a batch of matrices for a tensor of rank 3."""
    if indices.shape[1] not in (2, 3):
        raise invalid(f"SparseTensor must have rank 2 or 3; but indices has rank: {indices.shape[1]}")
    return box_object(Matrix.of(indices, values, dense_shape))


_holds(from_sparse, lambda indices, values, shape: TensorShape(stated_dims(shape)))


# The gradient of a matrix has the places of the matrix, in their order.


@from_sparse.gradient(needs="dtypes")
def _(call: Call, dy: Tensor) -> Any:
    return None, to_sparse(dy, call.dtype(1))[1]


@op("DenseToCSRSparseMatrix", shape=_matrix_of_dense_rule)
def from_dense(dense_input: torch.Tensor, indices: torch.Tensor) -> np.ndarray:
    """Returns the matrix of the elements of a tensor at some indices."""
    shape = tuple(dense_input.shape)
    if len(shape) not in (2, 3):
        raise invalid(f"params must have rank == 2 or 3; but saw shape: {text(shape)}")
    if indices.shape[1] != len(shape):
        raise invalid(
            f"indices.shape[1] must be equal to the rank of params, but saw: {indices.shape[1]} vs. {len(shape)}"
        )
    index_order.check(indices, shape, sorted_once=False)
    return box_object(Matrix.of(indices, dense_input[tuple(indices.unbind(1))], shape))


_holds(from_dense, lambda dense, indices: dense)


@from_dense.gradient(needs="dtypes")
def _(call: Call, dy: Tensor) -> Any:
    return to_dense(dy, call.dtype(0)), None


def _dense(sparse_input: Any, type: DType) -> torch.Tensor:
    matrix = _held(sparse_input).of_type(type, "Asked for a CSRSparseMatrix of type {dtype} but saw dtype: {own}")
    dense = matrix.values.new_zeros((matrix.batch * matrix.shape[-2], matrix.shape[-1]))
    dense[matrix.rows, matrix.columns] = matrix.values
    return dense.reshape(matrix.shape)


@op("CSRSparseMatrixToDense", kernel=_no_matrix, strings=_dense, shape=lambda matrix, type: matrix)
def to_dense(sparse_input: Tensor, type: DTypeLike, name: str | None = None) -> Tensor:
    """Returns the dense tensor of a matrix."""


@to_dense.gradient(needs="input0")
def _(call: Call, dy: Tensor) -> Any:
    return from_dense(dy, to_sparse(call.inputs[0], dy.dtype)[0])


def _sparse(sparse_matrix: Any, type: DType) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    matrix = _held(sparse_matrix).of_type(type, "Expected a CSRSparseMatrix of type {dtype} but saw type: {own}")
    return matrix.indices, matrix.values, torch.tensor(matrix.shape, dtype=torch.int64)


@op("CSRSparseMatrixToSparseTensor", kernel=_no_matrix, strings=_sparse,
    shape=lambda matrix, type: index_order.components(matrix.rank))  # fmt: skip
def to_sparse(sparse_matrix: Tensor, type: DTypeLike, name: str | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """Returns the components of the sparse tensor of a matrix."""


@to_sparse.gradient(needs="outputs")
def _(call: Call, d_indices: Any, d_values: Any, d_shape: Any) -> Any:
    indices, _, shape = call.outputs
    return from_sparse(indices, d_values, shape)


def _compressed(csr_sparse_matrix: Any, index: int, type: DType) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    matrix = _held(csr_sparse_matrix).of_type(type, "dtype of input is not equal to 'type': {own} vs. {dtype}")
    if not 0 <= index < matrix.batch:
        raise invalid(f"index ({index}) not in [0, {matrix.batch})")
    m = matrix.shape[-2]
    ends = torch.cat([matrix.rows.new_zeros(1), matrix.lengths().cumsum(0)])[index * m : (index + 1) * m + 1]
    own = slice(int(ends[0]), int(ends[-1]))
    return (ends - ends[0]).int(), matrix.columns[own].int(), matrix.values[own]


@op("CSRSparseMatrixComponents", kernel=_no_matrix, strings=_compressed, host=("index",),
    shape=lambda matrix, index, type: [_row_ends(matrix), TensorShape([None]), TensorShape([None])])  # fmt: skip
def components(
    csr_sparse_matrix: Tensor, index: TensorLike, type: DTypeLike, name: str | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Returns of a matrix of the batch where each row begins, and one more, the columns and the values."""


def _row_ends(matrix: TensorShape) -> TensorShape:
    rows = None if matrix.rank is None else matrix[-2]
    return TensorShape([None if rows is None else rows + 1])


def _count(sparse_matrix: Any) -> torch.Tensor:
    matrix = _held(sparse_matrix)
    count = matrix.lengths().reshape(matrix.batch, matrix.shape[-2]).sum(1).int()
    return count if len(matrix.shape) == 3 else count[0]


@op("SparseMatrixNNZ", kernel=_no_matrix, strings=_count, shape=lambda matrix: matrix[:-2])
def number_of_values(sparse_matrix: Tensor, name: str | None = None) -> Tensor:
    """Returns the number of values of each matrix, zeros that are stored included."""


_takes_matrices(to_dense, to_sparse, components, number_of_values)
not_differentiable(components, number_of_values)

# ---- transposes and products -----------------------------------------------------------------------------------------


def _transposed(input: TensorLike, conjugate: bool, type: DType) -> np.ndarray:
    matrix = _held(input).of_type(type, "dtype of input is not equal to 'type': {own} vs. {dtype}")
    return box_object(matrix.transposed(conjugate))


@op("SparseMatrixTranspose", kernel=_no_matrix, strings=_transposed, shape=scalar)
def transpose(input: Tensor, conjugate: bool, type: DTypeLike, name: str | None = None) -> Tensor:
    """Returns the transpose of each matrix, conjugate or not."""


@transpose.gradient()
def _(call: Call, dy: Tensor) -> Any:
    return transpose(dy, *call.attrs)


def _factor(name: str, tensor: Any, transposes: bool, adjoint: bool) -> Any:
    """Returns a factor as a product takes it: a matrix, or a dense tensor."""
    if transposes and adjoint:
        raise invalid(f"Only one of adjoint_{name} and transpose_{name} may be true.")
    if isinstance(tensor, Matrix):
        return tensor.transposed(adjoint) if transposes or adjoint else tensor
    tensor = tensor.mT if transposes or adjoint else tensor
    return torch.conj_physical(tensor) if adjoint else tensor


def _check_factors(a: Any, b: Any) -> None:
    """Raises InvalidArgumentError unless two factors fit."""
    if len(a.shape) != len(b.shape):
        raise invalid(f"Ranks of a and b must match, saw: {len(a.shape)} vs. {len(b.shape)}.")
    if a.shape[:-2] != b.shape[:-2]:
        raise invalid(f"Batch sizes of a and b must match, saw: {a.shape[0]} vs. {b.shape[0]}.")
    if a.shape[-1] != b.shape[-2]:
        raise invalid(
            f"Inner product dimensions of A and B do not agree. Shapes are: {text(a.shape)} vs. {text(b.shape)}"
        )


def _times_dense(
    a: Any, b: torch.Tensor, transpose_a: bool, transpose_b: bool, adjoint_a: bool, adjoint_b: bool,
    transpose_output: bool, conjugate_output: bool,
) -> torch.Tensor:  # fmt: skip
    dtype = FROM_TORCH[b.dtype]
    matrix = _held(a)
    if dtype is not matrix.dtype:
        raise invalid(
            f"Input types don't match.  a.dtype == {_TYPES[matrix.dtype.name]} vs. b.dtype == "
            f"{_TYPES.get(dtype.name, dtype.name)}"
        )
    matrix, b = _factor("a", matrix, transpose_a, adjoint_a), _factor("b", b, transpose_b, adjoint_b)
    _check_factors(matrix, b)
    blocks = (matrix.batch * matrix.shape[-2], matrix.batch * matrix.shape[-1])
    product = index_order.times_dense(matrix.rows, matrix.block_columns, matrix.values, blocks, b.flatten(0, -2))
    product = product.reshape(*matrix.shape[:-1], b.shape[-1])
    product = product.mT if transpose_output else product
    return (torch.conj_physical(product) if conjugate_output else product).contiguous()


def _times_dense_shape(
    a: TensorShape, b: TensorShape, transpose_a: bool, transpose_b: bool, adjoint_a: bool, adjoint_b: bool,
    transpose_output: bool, conjugate_output: bool,
) -> TensorShape:  # fmt: skip
    product = _product_shape(a, b, transpose_a or adjoint_a, transpose_b or adjoint_b)
    return _swapped(product) if transpose_output else product


@op("SparseMatrixMatMul", kernel=_no_matrix, strings=_times_dense, shape=_times_dense_shape)
def times_dense(
    a: Tensor, b: TensorLike, transpose_a: bool = False, transpose_b: bool = False, adjoint_a: bool = False,
    adjoint_b: bool = False, transpose_output: bool = False, conjugate_output: bool = False, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Returns the products of matrices and dense ones."""


_takes_matrices(times_dense)


@times_dense.gradient(needs="inputs")
def _(call: Call, dy: Tensor) -> Any:
    a, b = call.inputs
    transpose_a, transpose_b, adjoint_a, adjoint_b, transpose_output, conjugate_output = call.attrs
    dy = matrix_transpose(dy, conjugate=conjugate_output) if transpose_output else conj(dy) if conjugate_output else dy
    d_a = d_b = None
    if call.wanted[0]:
        factor = matrix_transpose(b, conjugate=adjoint_b) if transpose_b or adjoint_b else b
        indices, _, shape = to_sparse(a, b.dtype)
        batch, rows, columns = indices[:, :-2], indices[:, -2:-1], indices[:, -1:]
        if transpose_a or adjoint_a:
            rows, columns = columns, rows
        left, right = (gather_nd(x, concat([batch, at], 1)) for x, at in ((dy, rows), (factor, columns)))
        values = reduce_sum(multiply(left, conj(right)), 1)
        d_a = from_sparse(indices, conj(values) if adjoint_a else values, shape)
    if call.wanted[1]:
        if transpose_a:
            d_b = times_dense(a, conj(dy), conjugate_output=True)
        else:
            d_b = times_dense(a, dy, adjoint_a=not adjoint_a)
        d_b = matrix_transpose(d_b, conjugate=adjoint_b) if transpose_b or adjoint_b else d_b
    return d_a, d_b


def _times_sparse(
    a: Any, b: Any, type: DType, transpose_a: bool, transpose_b: bool, adjoint_a: bool, adjoint_b: bool
) -> np.ndarray:
    first, second = (
        _held(x).of_type(type, f"dtype of {name} is not equal to 'type': {{own}} vs. {{dtype}}")
        for name, x in (("a", a), ("b", b))
    )
    first, second = _factor("a", first, transpose_a, adjoint_a), _factor("b", second, transpose_b, adjoint_b)
    _check_factors(first, second)
    return box_object(first.times(second))


@op("SparseMatrixSparseMatMul", kernel=_no_matrix, strings=_times_sparse, shape=scalar)
def times_sparse(
    a: Tensor, b: Tensor, type: DTypeLike, transpose_a: bool = False, transpose_b: bool = False,
    adjoint_a: bool = False, adjoint_b: bool = False, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Returns the products of matrices, which are sparse."""


@times_sparse.gradient(needs="inputs")
def _(call: Call, dy: Tensor) -> Any:
    a, b = call.inputs
    dtype, transpose_a, transpose_b, adjoint_a, adjoint_b = call.attrs
    d_a = d_b = None
    if call.wanted[0]:
        right = conj(b) if transpose_b else b
        d_a = times_sparse(dy, right, dtype, adjoint_b=not (transpose_b or adjoint_b))
        d_a = transpose(d_a, adjoint_a, dtype) if transpose_a or adjoint_a else d_a
        d_a = _at_places(d_a, a, dtype)
    if call.wanted[1]:
        left = conj(a) if transpose_a else a
        d_b = times_sparse(left, dy, dtype, adjoint_a=not (transpose_a or adjoint_a))
        d_b = transpose(d_b, adjoint_b, dtype) if transpose_b or adjoint_b else d_b
        d_b = _at_places(d_b, b, dtype)
    return d_a, d_b


def _at_places(matrix: Any, like: Any, dtype: DType) -> Any:
    """Returns the matrix that has the values of one at the places of another, zeros where there is none."""
    (indices, values, shape), (places_of_like, *_) = to_sparse(matrix, dtype), to_sparse(like, dtype)
    strides = cumprod(shape, exclusive=True, reverse=True)
    positions, wanted = (reduce_sum(multiply(i, strides), 1) for i in (indices, places_of_like))
    # A last position behind all others stands for places without a value.
    positions, values = concat([positions, [_LARGEST]], 0), concat([values, zeros([1], dtype)], 0)
    at = searchsorted(positions, wanted)
    candidates = gather(values, at)
    return from_sparse(
        places_of_like, where(equal(gather(positions, at), wanted), candidates, zeros_like(candidates)), shape
    )


def _product_held(a: Any, b: Any, type: Any, transpose_a: Any, transpose_b: Any, adjoint_a: Any, adjoint_b: Any) -> Any:
    return _product_shape(a, b, transpose_a or adjoint_a, transpose_b or adjoint_b)


for _function, _rule in ((transpose, _swapped), (times_sparse, _product_held)):
    _takes_matrices(_function)
    _holds(_function, _rule)

# ---- factors ---------------------------------------------------------------------------------------------------------


def _ordering(input: TensorLike) -> torch.Tensor:
    matrix = _held(input)
    orders = []
    m = matrix.shape[-2]
    for index in range(matrix.batch):
        own = matrix.rows // max(m, 1) == index
        orders.append(_minimum_degree(m, (matrix.rows[own] % m).tolist(), matrix.columns[own].tolist()))
    return torch.tensor(orders, dtype=torch.int32).reshape(matrix.shape[:-1])


def _minimum_degree(size: int, rows: Iterable[int], columns: Iterable[int]) -> list[int]:
    """Returns an order of elimination that keeps a Cholesky factor sparse: the next row always has the fewest remaining
    neighbors (Tinney and Walker 1967)."""
    neighbors: dict[int, set[int]] = {i: set() for i in range(size)}
    for i, j in zip(rows, columns, strict=True):
        if i != j:
            neighbors[i].add(j)
            neighbors[j].add(i)
    order = []
    while neighbors:
        i = min(neighbors, key=lambda k: (len(neighbors[k]), k))
        order.append(i)
        beside = neighbors.pop(i)
        for j in beside:
            neighbors[j] = (neighbors[j] | beside) - {i, j}
    return order


@op("SparseMatrixOrderingAMD", kernel=_no_matrix, strings=_ordering, shape=lambda matrix: matrix[:-1])
def ordering(input: Tensor, name: str | None = None) -> Tensor:
    """Returns for each symmetric matrix a permutation whose Cholesky factor has few values."""


def _cholesky(input: TensorLike, permutation: torch.Tensor, type: DType) -> np.ndarray:
    matrix = _held(input).of_type(type, "dtype of input is not equal to 'type': {own} vs. {dtype}")
    *_, m, n = matrix.shape
    if m != n:
        raise invalid(f"sparse matrix must be square; got: {n} != {m}")
    if permutation.shape[-1] != m:
        raise invalid(
            "permutation must have the same number of elements in each batch as the number of rows in sparse matrix; "
            f"got: {permutation.shape[-1]} != {m}"
        )
    lower = torch.tril(_dense(input, type)).reshape(-1, m, m)
    whole = lower + torch.tril(lower, -1).mH
    order = permutation.long().reshape(-1, m)
    permuted = whole.gather(1, order[:, :, None].expand(-1, m, m)).gather(2, order[:, None, :].expand(-1, m, m))
    factors, failures = torch.linalg.cholesky_ex(permuted)
    for index in failures.nonzero().flatten().tolist():
        raise invalid(f"Sparse Cholesky factorization failed for batch index {index}. The input might not be valid.")
    factors = factors.reshape(matrix.shape)
    indices = factors.nonzero()
    return box_object(Matrix.of(indices, factors[tuple(indices.unbind(1))], matrix.shape))


@op("SparseMatrixSparseCholesky", kernel=_no_matrix, strings=_cholesky, shape=scalar)
def cholesky(input: Tensor, permutation: TensorLike, type: DTypeLike, name: str | None = None) -> Tensor:
    """Returns the lower Cholesky factor of each matrix with its rows and columns in another order."""


_takes_matrices(ordering, cholesky)
_holds(cholesky, lambda matrix, permutation, type: matrix)
not_differentiable(ordering, cholesky)
