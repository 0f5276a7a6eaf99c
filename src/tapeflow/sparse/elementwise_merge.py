"""Sums, maxima and minima of two sparse tensors of one shape, element by element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from tapeflow.core.autodiff.tape import Call
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.op import op
from tapeflow.core.ops.raw_kernels import defined_op
from tapeflow.core.ops.shape_rules import check_ranks_first, with_rank
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.values.tensor import Tensor
from tapeflow.sparse import index_order
from tapeflow.sparse.dense import add_to_dense, as_sparse
from tapeflow.sparse.tensor import SparseLike, SparseTensor, SparseTensorValue


@op("SparseAdd", host=("a_shape", "b_shape"),
    shape=lambda at, values, shape, *_: index_order.components(with_rank(shape, 1)[0]))  # fmt: skip
def _sparse_add(
    a_indices: torch.Tensor, a_values: torch.Tensor, a_shape: tuple[int, ...], b_indices: torch.Tensor,
    b_values: torch.Tensor, b_shape: tuple[int, ...], thresh: torch.Tensor,
) -> Any:  # fmt: skip
    """Adds two sparse tensors, without the sums of two elements that are less than the threshold."""
    index_order.check_same_shape(a_shape, b_shape)
    both, at_a, at_b = index_order.merge_indices(a_indices, b_indices, a_shape)
    values = torch.zeros(len(both), dtype=a_values.dtype, device=a_values.device)
    values = values.index_add(0, at_a, a_values).index_add(0, at_b, b_values)
    in_a, in_b = (
        torch.zeros(len(both), dtype=torch.bool, device=a_values.device).index_fill(0, at, True) for at in (at_a, at_b)
    )
    retained = (values.abs() >= thresh) | ~(in_a & in_b)
    if not bool(retained.all()):
        rows = retained.nonzero().squeeze(1)
        both, values = both.index_select(0, rows), values.index_select(0, rows)
    return both, values, torch.tensor(a_shape, dtype=torch.int64)


def _looked_up(values: torch.Tensor, queries: torch.Tensor, numbers: torch.Tensor) -> torch.Tensor:
    """Returns for each query the value of the same number, or zero if there is none."""
    if not len(numbers):
        return values.new_zeros(len(queries))
    numbers, positions = torch.sort(numbers)
    at = torch.searchsorted(numbers, queries).clamp(max=len(numbers) - 1)
    return torch.where(numbers[at] == queries, values[positions[at]], values.new_zeros(()))


@op("SparseAddGrad", shape=lambda dy, a, b, _: [a[:1], b[:1]])
def sparse_add_grad(
    backprop_val_grad: torch.Tensor, a_indices: torch.Tensor, b_indices: torch.Tensor, sum_indices: torch.Tensor
) -> Any:
    """Returns for each index of two sparse tensors the gradient of the same index of their sum."""
    if not len(sum_indices):
        return backprop_val_grad.new_zeros(len(a_indices)), backprop_val_grad.new_zeros(len(b_indices))
    bound = [int(m) + 1 for m in torch.cat([a_indices, b_indices, sum_indices]).amax(0)]
    numbers = index_order.flat(sum_indices, bound)
    return tuple(_looked_up(backprop_val_grad, index_order.flat(i, bound), numbers) for i in (a_indices, b_indices))


@_sparse_add.gradient(needs="input0 input2 outputs")
def _(call: Call, d_indices: Tensor, d_values: Tensor, d_shape: Tensor) -> Any:
    da, db = sparse_add_grad(d_values, call.inputs[0], call.inputs[2], call.outputs[0])
    return None, da, None, db, None


def add(a: SparseLike | TensorLike, b: SparseLike | TensorLike, threshold: TensorLike = 0) -> SparseTensor | Tensor:
    """Adds two tensors of the same shape. At least one of them is sparse.

    Args:
        a, b: tensors of one dtype and shape. Sparse tensors must have sorted indices.
        threshold: a scalar; if both are sparse, sums of two elements with a smaller magnitude are left out. Elements
            that only one tensor has always stay. The default is 0.

    Returns:
        A `SparseTensor` if both are sparse, else a dense tensor.

    Raises:
        TypeError: both are dense.
        InvalidArgumentError: shapes or dtypes differ.

    Example:
        >>> a = tf.SparseTensor([[0]], [1], [3])
        >>> tf.sparse.to_dense(tf.sparse.add(a, tf.SparseTensor([[2]], [5], [3]))).numpy().tolist()
        [1, 0, 5]
    """
    kinds = (SparseTensor, SparseTensorValue)
    if not isinstance(a, kinds):
        if not isinstance(b, kinds):
            raise TypeError("At least one input should be SparseTensor; do you mean to use tf.add()?")
        a, b = b, a
    x = as_sparse(a)
    if not isinstance(b, kinds):
        return add_to_dense(x.indices, x.values, x.dense_shape, b)
    y = as_sparse(b)
    least = convert(threshold, x.dtype.real_dtype)
    sums = _sparse_add(x.indices, x.values, x.dense_shape, y.indices, y.values, y.dense_shape, least)
    x.shape.assert_is_compatible_with(y.shape)
    return SparseTensor(*sums)


def _combining_kernel(choose: Callable[..., torch.Tensor]) -> Callable[..., Any]:
    def kernel(
        ai: torch.Tensor, av: torch.Tensor, a_shape: tuple[int, ...], bi: torch.Tensor, bv: torch.Tensor,
        b_shape: tuple[int, ...],
    ) -> Any:  # fmt: skip
        index_order.check_same_shape(a_shape, b_shape)
        for indices in (ai, bi):
            index_order.check(indices, a_shape, sorted_once=False)
        both, at_a, at_b = index_order.merge_indices(ai, bi, a_shape)
        zeros = av.new_zeros(len(both))
        values = choose(zeros.index_copy(0, at_a, av), zeros.index_copy(0, at_b, bv))
        return both, values

    return kernel


_COMBINED = check_ranks_first(lambda *_: index_order.components(None)[:2], 2, 1, 1, 2, 1, 1)


_MERGE: dict[str, Any] = {"host": ("a_shape", "b_shape"), "shape": _COMBINED}
_sparse_maximum = defined_op("SparseSparseMaximum", _combining_kernel(torch.maximum), **_MERGE)
_sparse_minimum = defined_op("SparseSparseMinimum", _combining_kernel(torch.minimum), **_MERGE)


def maximum(sp_a: SparseLike, sp_b: SparseLike, name: str | None = None) -> SparseTensor:
    """Computes the greater elements of two sparse tensors. Missing elements are zero.

    Args:
        sp_a, sp_b: tensors of one dtype and shape.

    Returns:
        A sparse tensor with the indices of both.

    Raises:
        InvalidArgumentError: shapes or dtypes differ.

    Example:
        >>> a, b = tf.SparseTensor([[0]], [1], [3]), tf.SparseTensor([[1]], [-1], [3])
        >>> tf.sparse.maximum(a, b).values.numpy().tolist()
        [1, 0]
    """
    return _of_both(_sparse_maximum, sp_a, sp_b)


def minimum(sp_a: SparseLike, sp_b: SparseLike, name: str | None = None) -> SparseTensor:
    """Computes the lesser elements of two sparse tensors. Missing elements are zero.

    Args:
        sp_a, sp_b: tensors of one dtype and shape.

    Returns:
        A sparse tensor with the indices of both.

    Raises:
        InvalidArgumentError: shapes or dtypes differ.

    Example:
        >>> a, b = tf.SparseTensor([[0]], [1], [3]), tf.SparseTensor([[1]], [-1], [3])
        >>> tf.sparse.minimum(a, b).values.numpy().tolist()
        [0, -1]
    """
    return _of_both(_sparse_minimum, sp_a, sp_b)


def _of_both(function: Callable[..., Any], sp_a: SparseLike, sp_b: SparseLike) -> SparseTensor:
    a, b = as_sparse(sp_a), as_sparse(sp_b)
    indices, values = function(a.indices, a.values, a.dense_shape, b.indices, b.values, b.dense_shape)
    return SparseTensor(indices, values, a.dense_shape)
