"""Conversions, products and sums of sparse tensors and dense ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from tapeflow.array.gathers import gather, gather_nd
from tapeflow.array.masks import where
from tapeflow.array.properties import shape as shape_op
from tapeflow.array.reshapes import broadcast_to, transpose
from tapeflow.array.scatters import scatter_nd
from tapeflow.core.autodiff.gradients import conj, sum_to_shape
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.memory import UNFILLED, check_memory
from tapeflow.core.ops.op import op
from tapeflow.core.ops.raw_kernels import defined_op
from tapeflow.core.ops.shape_rules import check_rank, check_ranks_first, stated_dims, text, with_rank
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import DType, bool_, int64, string
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.math.arithmetic import multiply, negative, subtract
from tapeflow.math.comparison import not_equal
from tapeflow.math.division import realdiv
from tapeflow.math.reduction import reduce_sum
from tapeflow.sparse import index_order
from tapeflow.sparse.tensor import SparseLike, SparseTensor, SparseTensorValue


def as_sparse(value: Any) -> SparseTensor:
    """Returns an argument as a sparse tensor.

    Raises:
        TypeError: it is no sparse tensor.
    """
    if isinstance(value, SparseTensorValue):
        return SparseTensor.from_value(value)
    if not isinstance(value, SparseTensor):
        raise TypeError("Input must be a SparseTensor.")
    return value


# ---- conversions -----------------------------------------------------------------------------------------------------


def _dense_shape(shape: Any) -> TensorShape:
    """Returns the static part of a shape, as a shape rule gets it."""
    if isinstance(shape, (tuple, int)):
        return TensorShape(stated_dims(shape if isinstance(shape, tuple) else [shape]))
    rank = index_order.rank_of(shape)
    return TensorShape(None if rank is None else [None] * rank)


def _dense_rule(indices: TensorShape, shape: Any, *_: Any) -> TensorShape:
    check_rank(shape, 1)
    return _dense_shape(shape)


@op("SparseToDense", host=("output_shape",), moves=True, shape=_dense_rule)
def _sparse_to_dense(
    sparse_indices: torch.Tensor, output_shape: tuple[int, ...] | int, sparse_values: torch.Tensor,
    default_value: torch.Tensor, validate_indices: bool = True,
) -> torch.Tensor:  # fmt: skip
    """Returns a dense tensor with the values at the indices, and the default elsewhere."""
    output_shape = output_shape if isinstance(output_shape, tuple) else (output_shape,)
    if sparse_indices.ndim < 2:
        sparse_indices = sparse_indices.reshape(-1, 1)
    if sparse_indices.shape[1] != len(output_shape):
        raise invalid(
            f"output_shape has incorrect number of elements: {len(output_shape)} should be: {sparse_indices.shape[1]}"
        )
    sparse_indices = sparse_indices.long()
    index_order.check(sparse_indices, output_shape, sorted_once=validate_indices)
    if default_value.ndim:
        raise invalid("default_value should be a scalar.")
    if not output_shape:  # an element without an index is the only one
        return sparse_values.reshape(-1)[-1] if len(sparse_indices) else default_value.clone()
    check_memory(output_shape, default_value.itemsize, UNFILLED)
    return default_value.expand(output_shape).clone().index_put_(tuple(sparse_indices.unbind(1)), sparse_values)


@_sparse_to_dense.gradient(needs="input0")
def _(call: Call, dy: Tensor) -> Any:
    values = gather_nd(dy, call.inputs[0])
    return None, values, subtract(reduce_sum(dy), reduce_sum(values))


def to_dense(
    sp_input: SparseLike,
    default_value: TensorLike | None = None,
    validate_indices: bool = True,
    name: str | None = None,
) -> Tensor:
    """Converts a sparse tensor to a dense one.

    Args:
        sp_input: a `SparseTensor`.
        default_value: a scalar, the value of all other elements; by default zero, or an empty string.
        validate_indices: checks that the indices are sorted and different; True by default.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        TypeError: `sp_input` is no `SparseTensor`.
        InvalidArgumentError: indices are out of range, or not sorted, or repeated.

    Example:
        >>> tf.sparse.to_dense(tf.SparseTensor([[1]], [5], [3]), default_value=-1).numpy().tolist()
        [-1, 5, -1]
    """
    sp = as_sparse(sp_input)
    if default_value is None:
        default_value = _zero_value(sp.dtype)
    default = convert(default_value, sp.dtype)
    return _sparse_to_dense(sp.indices, sp.dense_shape, sp.values, default, validate_indices, name)


def _zero_value(dtype: DType) -> Any:
    return "" if dtype is string else False if dtype is bool_ else 0


def from_dense(tensor: TensorLike, name: str | None = None) -> SparseTensor:
    """Converts a dense tensor to a sparse one.

    Args:
        tensor: a tensor of rank 1 or more.

    Returns:
        A sparse tensor of the elements that are not zero, or not empty strings.

    Raises:
        InvalidArgumentError: the tensor is a scalar.

    Example:
        >>> tf.sparse.from_dense([0, 3, 0]).indices.numpy().tolist()
        [[1]]
    """
    dense = convert(tensor)
    if dense.shape.rank == 0:
        raise InvalidArgumentError.of("WhereOp : Unhandled input dimensions: 0 [Op:Where]")
    indices = where(not_equal(dense, convert(_zero_value(dense.dtype), dense.dtype)))
    if dense.shape.is_fully_defined():
        dense_shape: Any = np.array(dense.shape.as_list(), np.int64)
    else:
        dense_shape = shape_op(dense, int64)
    return SparseTensor(indices, gather_nd(dense, indices), dense_shape)


# ---- products --------------------------------------------------------------------------------------------------------


def _product_shape(
    indices: TensorShape, values: TensorShape, shape: Any, b: TensorShape, adjoint_a: bool, adjoint_b: bool
) -> TensorShape:
    a = _dense_shape(shape).with_rank(2)
    return TensorShape([a[1 if adjoint_a else 0], b.with_rank(2)[0 if adjoint_b else 1]])


@op("SparseTensorDenseMatMul", host=("a_shape",), shape=check_ranks_first(_product_shape, 2, 1, 1, 2))
def _sparse_matmul(
    a_indices: torch.Tensor, a_values: torch.Tensor, a_shape: tuple[int, ...], b: torch.Tensor, adjoint_a: bool = False,
    adjoint_b: bool = False,
) -> torch.Tensor:  # fmt: skip
    """Multiplies a sparse by a dense matrix."""
    if b.ndim != 2:
        raise invalid("Tensor 'b' is not a matrix")
    if len(a_shape) != 2:
        raise invalid("Tensor 'a_shape' must have 2 elements")
    if a_values.is_complex() and adjoint_a:
        a_values = a_values.conj()
    rows, columns = a_indices.long().unbind(1)
    m, k = a_shape
    if adjoint_a:
        rows, columns, m, k = columns, rows, k, m
    if adjoint_b:
        b = b.mH
    if b.shape[0] != k:
        raise invalid(
            f"Cannot multiply A and B because inner dimension does not match: {k} vs. {b.shape[0]}.  Did you forget a "
            f"transpose?  Dimensions of A: [{a_shape[0]}, {a_shape[1]}).  Dimensions of B: {text(b.shape)}"
        )
    for name, index, size in (("k", columns, k), ("m", rows, m)):
        outside = ((index < 0) | (index >= size)).nonzero()
        if len(outside):
            i = int(outside[0])
            raise invalid(f"{name} ({int(index[i])}) from index[{i}] out of bounds (>={size})")
    return index_order.times_dense(rows, columns, a_values, (m, k), b)


@_sparse_matmul.gradient(needs="inputs")
def _(call: Call, dy: Tensor) -> Any:
    indices, values, b = call.inputs
    shape, adjoint_a, adjoint_b = call.attrs
    rows, columns = (1, 0) if adjoint_a else (0, 1)
    factor = transpose(b, conjugate=True) if adjoint_b else b
    d_values = d_b = None
    if call.wanted[1]:
        d_rows = gather(dy, indices[:, rows])
        d_values = reduce_sum(multiply(d_rows, conj(gather(factor, indices[:, columns]))), 1)
        d_values = conj(d_values) if adjoint_a else d_values
    if call.wanted[2]:
        d_b = _sparse_matmul(indices, values, shape, dy, not adjoint_a)
        d_b = transpose(d_b, conjugate=True) if adjoint_b else d_b
    return None, d_values, d_b


def sparse_dense_matmul(
    sp_a: SparseLike | TensorLike, b: SparseLike | TensorLike, adjoint_a: bool = False, adjoint_b: bool = False,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Multiplies a sparse and a dense matrix, in either order.

    Args:
        sp_a: a `SparseTensor` of rank 2; or a dense matrix, and then `b` is sparse.
        b: a dense matrix of the same dtype.
        adjoint_a, adjoint_b: uses the conjugate transpose of the factor.

    Returns:
        A dense matrix.

    Raises:
        TypeError: both are sparse, or both dense.
        InvalidArgumentError: the shapes do not match, or an argument is no matrix.

    Example:
        >>> a = tf.SparseTensor([[0, 1]], [2.0], [2, 2])
        >>> tf.sparse.sparse_dense_matmul(a, [[1.0], [3.0]]).numpy().tolist()
        [[6.0], [0.0]]
    """
    if isinstance(b, (SparseTensor, SparseTensorValue)):
        if isinstance(sp_a, (SparseTensor, SparseTensorValue)):
            raise TypeError("sparse_dense_matmul takes one sparse matrix and one dense one, not two sparse ones")
        product = sparse_dense_matmul(b, sp_a, not adjoint_b, not adjoint_a)
        return transpose(product, conjugate=True)
    a = as_sparse(sp_a)
    return _sparse_matmul(a.indices, a.values, a.dense_shape, b, adjoint_a, adjoint_b, name)


# ---- element by element ----------------------------------------------------------------------------------------------


def _dense_at(indices: torch.Tensor, shape: tuple[int, ...], dense: torch.Tensor) -> torch.Tensor:
    """Returns the elements of a dense tensor, broadcast to the shape, at the indices."""
    fits = dense.ndim <= len(shape) and all(
        n in (1, m) for m, n in zip(shape[::-1], tuple(dense.shape)[::-1], strict=False)
    )
    if not fits:
        raise invalid(
            "SparseDenseBinaryOpShared broadcasts dense to sparse only; got incompatible shapes: "
            f"{text(shape)} vs. {text(dense.shape)}"
        )
    return dense.expand(shape)[tuple(indices.long().unbind(1))] if shape else dense.expand(len(indices))


def _declare_with_dense(name: str, kernel: Callable[..., Any]) -> Any:
    """Declares an op of the values of a sparse tensor and the elements of a dense one at the same indices."""
    return defined_op(
        name,
        lambda at, x, shape, y: kernel(x, _dense_at(at, shape, y)),
        host=("sp_shape",),
        shape=lambda at, *_: with_rank(at, 2)[:1],
    )


_multiply_dense = _declare_with_dense("SparseDenseCwiseMul", torch.mul)
_divide_dense = _declare_with_dense("SparseDenseCwiseDiv", torch.div)
add_dense = _declare_with_dense("SparseDenseCwiseAdd", torch.add)


def _elements_and_transpose(call: Call) -> tuple[Any, Any]:
    """Returns the dense elements beside the values, and the function that sums their gradient to the dense tensor."""
    indices, _, dense = call.inputs
    shape = call.attrs[0]
    elements = gather_nd(broadcast_to(dense, shape), indices)
    return elements, lambda dy: sum_to_shape(scatter_nd(indices, dy, convert(shape, int64)), tuple(dense.shape))


@_multiply_dense.gradient(needs="inputs")
def _(call: Call, dy: Tensor) -> Any:
    elements, back = _elements_and_transpose(call)
    return None, multiply(dy, conj(elements)), back(multiply(dy, conj(call.inputs[1]))) if call.wanted[2] else None


@_divide_dense.gradient(needs="inputs")
def _(call: Call, dy: Tensor) -> Any:
    elements, back = _elements_and_transpose(call)
    by_x = realdiv(dy, conj(elements))
    quotient = conj(realdiv(call.inputs[1], elements))
    return None, by_x, back(negative(multiply(by_x, quotient))) if call.wanted[2] else None


@add_dense.gradient(needs="inputs")
def _(call: Call, dy: Tensor) -> Any:
    _, back = _elements_and_transpose(call)
    return None, dy, back(dy) if call.wanted[2] else None


@op("SparseTensorDenseAdd", host=("a_shape",), shape=lambda at, values, shape, b: b)
def add_to_dense(
    a_indices: torch.Tensor, a_values: torch.Tensor, a_shape: tuple[int, ...], b: torch.Tensor
) -> torch.Tensor:
    """Adds a sparse to a dense tensor of the same shape."""
    if len(a_shape) != b.ndim:
        raise invalid(f"Two operands have different ranks; received: {len(a_shape)} and {b.ndim}")
    for i, (m, n) in enumerate(zip(a_shape, b.shape, strict=True)):
        if m != n:
            raise invalid(
                f"Dimension {i} does not equal (no broadcasting is supported): sparse side {m} vs dense side {n}"
            )
    index_order.check(a_indices, a_shape, sorted_once=False)
    return b.clone().index_put_(tuple(a_indices.long().unbind(1)), a_values, accumulate=True)


@add_to_dense.gradient(needs="input0")
def _(call: Call, dy: Tensor) -> Any:
    return None, gather_nd(dy, call.inputs[0]), dy
