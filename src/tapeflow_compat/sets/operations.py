"""Operations on the rows of tensors as sets."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import torch

from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.op import not_differentiable, op
from tapeflow.core.ops.shape_rules import sparse, text, unknown, with_rank
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import DType, int8, int16, int32, int64, string, uint8, uint16
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.strings import StringArray
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.sparse import index_order
from tapeflow.sparse.tensor import SparseTensor, SparseTensorValue

_OPERATIONS = {
    "a-b": lambda a, b: a - b,
    "b-a": lambda a, b: b - a,
    "intersection": lambda a, b: a & b,
    "union": lambda a, b: a | b,
}

Sets = dict[tuple[int, ...], set[Any]]  # each row's set, by the row's indices


def _array(value: Any) -> np.ndarray:
    return value.numpy() if isinstance(value, torch.Tensor) else value


def _dense_sets(value: Any) -> tuple[Sets, tuple[int, ...]]:
    """Returns the set of each row, and the shape without the last dimension."""
    array = _array(value)
    if array.ndim < 2:
        raise invalid(f"Input must have rank >= 2 to be sets in rows, not shape {text(array.shape)}.")
    groups = array.shape[:-1]
    rows = array.reshape(math.prod(groups), array.shape[-1]).tolist()
    every = itertools.product(*map(range, groups))
    return {group: set(row) for group, row in zip(every, rows, strict=True)}, groups


def _sparse_sets(indices: Any, values: Any, shape: Any, validate: bool) -> tuple[Sets, tuple[int, ...]]:
    """Returns the set of each row that has entries, and the shape without the last dimension."""
    if len(shape) < 2:
        raise invalid(f"Input must have rank >= 2 to be sets in rows, not shape {text(shape)}.")
    if validate:
        index_order.check(indices, shape)
    sets: Sets = {}
    for (*group, _), value in zip(indices.tolist(), _array(values).tolist(), strict=True):
        sets.setdefault(tuple(group), set()).add(value)
    return sets, tuple(shape[:-1])


def _combined(a: Any, b: Any, operation: str, like: Any) -> tuple[Any, Any, Any]:
    """Applies an operation to the sets of each row; returns indices, sorted values and shape."""
    (sets_a, groups), (sets_b, other) = a, b
    function = _OPERATIONS.get(operation.lower())
    if function is None:
        raise invalid(f"Invalid set_operation {operation}.")
    if groups != other:
        raise invalid(f"Mismatched group shapes of the sets: {text(groups)} vs. {text(other)}.")
    indices: list[tuple[int, ...]] = []
    values: list[Any] = []
    longest = 0
    for group in sorted({*sets_a, *sets_b}):
        row = sorted(function(sets_a.get(group, set()), sets_b.get(group, set())))
        longest = max(longest, len(row))
        indices.extend((*group, i) for i in range(len(row)))
        values.extend(row)
    where = torch.tensor(indices, dtype=torch.int64).reshape(-1, len(groups) + 1)
    shape = torch.tensor([*groups, longest], dtype=torch.int64)
    if isinstance(like, torch.Tensor):
        return where, torch.tensor(values, dtype=like.dtype), shape
    return where, StringArray.of(values), shape


def _sets_of_rank(rank: int | None) -> list[TensorShape]:
    return [TensorShape([None, rank]), TensorShape([None]), TensorShape([rank])]


def _rank_of(shape: Any) -> int | None:
    return with_rank(shape, 1)[0]


def _common_rank(a: int | None, b: int | None) -> int | None:
    """Returns the rank of two operands.

    Raises:
        InvalidArgumentError: it is less than 2, or they have different ones.
    """
    rank = b if a is None else a
    if rank is not None and rank < 2:
        raise invalid(f"Input 0, expected rank >= 2, got {rank}.")
    if None not in (a, b) and a != b:
        raise invalid(f"Dimension must be {a} but is {b}")
    return rank


def _of_dense_rule(set1: TensorShape, set2: TensorShape, *_: Any) -> list[TensorShape]:
    for shape in (set1, set2):
        if shape.rank in (0, 1):
            raise invalid(f"Shape must be at least rank 2 but is rank {shape.rank}")
    if None not in (set1.rank, set2.rank) and set1.rank != set2.rank:
        raise invalid(f"Shape must be rank {set1.rank} but is rank {set2.rank}")
    if set1.rank is not None and set2.rank is not None:
        set1[:-1].assert_is_compatible_with(set2[:-1])
    return _sets_of_rank(set2.rank if set1.rank is None else set1.rank)


@op("DenseToDenseSetOperation", strings=True, shape=_of_dense_rule)
def _of_dense(set1: Any, set2: Any, set_operation: str, validate_indices: bool = True) -> Any:
    """Applies an operation to the rows of two dense tensors."""
    if set1.ndim != set2.ndim:
        raise invalid(f"Ranks of the sets differ: {set1.ndim} and {set2.ndim}.")
    return _combined(_dense_sets(set1), _dense_sets(set2), set_operation, set1)


@op(
    "DenseToSparseSetOperation",
    strings=True,
    host=("set2_shape",),
    shape=sparse(lambda set1, at, values, shape, *_: _sets_of_rank(_common_rank(set1.rank, _rank_of(shape))), 1),
)
def _of_dense_and_sparse(
    set1: Any, set2_indices: Any, set2_values: Any, set2_shape: Any, set_operation: str, validate_indices: bool = True
) -> Any:
    """Applies an operation to the rows of a dense and a sparse tensor."""
    return _combined(
        _dense_sets(set1), _sparse_sets(set2_indices, set2_values, set2_shape, validate_indices), set_operation, set1
    )


@op(
    "SparseToSparseSetOperation",
    strings=True,
    host=("set1_shape", "set2_shape"),
    shape=sparse(lambda *a: _sets_of_rank(_common_rank(_rank_of(a[2]), _rank_of(a[5]))), 0, 3),
)
def _of_sparse(
    set1_indices: Any,
    set1_values: Any,
    set1_shape: Any,
    set2_indices: Any,
    set2_values: Any,
    set2_shape: Any,
    set_operation: str,
    validate_indices: bool = True,
) -> Any:
    """Applies an operation to the rows of two sparse tensors."""
    first = _sparse_sets(set1_indices, set1_values, set1_shape, validate_indices)
    return _combined(
        first, _sparse_sets(set2_indices, set2_values, set2_shape, validate_indices), set_operation, set1_values
    )


@op("SetSize", strings=True, host=("set_shape",), shape=unknown)
def _set_size(set_indices: Any, set_values: Any, set_shape: Any, validate_indices: bool = True) -> torch.Tensor:
    """Counts the distinct elements of each row."""
    sets, groups = _sparse_sets(set_indices, set_values, set_shape, validate_indices)
    out = torch.zeros(groups, dtype=torch.int32)
    for group, row in sets.items():
        out[group] = len(row)
    return out


not_differentiable(_of_dense, _of_dense_and_sparse, _of_sparse, _set_size)

_SPARSE = (SparseTensor, SparseTensorValue)
_DTYPES = frozenset({int8, int16, int32, int64, uint8, uint16, string})


def _as_sets(value: Any) -> Any:
    return SparseTensor.from_value(value) if isinstance(value, _SPARSE) else convert(value)


def _check_dtype(dtype: DType, wrong: str) -> None:
    """Raises TypeError for a dtype whose elements form no sets."""
    if dtype not in _DTYPES:
        allowed = ", ".join(sorted(d.name for d in _DTYPES))
        raise TypeError(f"{wrong} dtype `{dtype}` not in supported dtypes: {allowed}.")


def _operate(a: Any, b: Any, operation: str, validate_indices: bool) -> SparseTensor:
    """Applies an operation to dense or sparse sets; the ops take a dense one first."""
    a = _as_sets(a)
    _check_dtype(a.dtype, "'a' has invalid")
    b = _as_sets(b)
    if a.dtype is not b.dtype:
        raise TypeError(f"Types don't match, {a.dtype} vs {b.dtype}.")
    if isinstance(a, SparseTensor) and not isinstance(b, SparseTensor):
        a, b = b, a
        operation = {"a-b": "b-a", "b-a": "a-b"}.get(operation, operation)
    if not isinstance(b, SparseTensor):
        parts = _of_dense(a, b, operation, validate_indices)
    elif not isinstance(a, SparseTensor):
        parts = _of_dense_and_sparse(a, b.indices, b.values, b.dense_shape, operation, validate_indices)
    else:
        parts = _of_sparse(
            a.indices, a.values, a.dense_shape, b.indices, b.values, b.dense_shape, operation, validate_indices
        )
    return SparseTensor(*parts)


def size(a: SparseTensor | SparseTensorValue, validate_indices: bool = True) -> Tensor:
    """Counts the distinct elements of each row.

    Args:
        a: a `SparseTensor` of integers or strings; the sets are in its last dimension.
        validate_indices: checks that the indices are sorted and in range; True by default.

    Returns:
        An int32 tensor of the shape of `a` without the last dimension.

    Raises:
        TypeError: `a` is no `SparseTensor`.

    Example:
        >>> tf.sets.size(tf.SparseTensor([[0, 0], [0, 1]], [4, 4], [2, 2])).numpy().tolist()
        [1, 0]
    """
    if not isinstance(a, _SPARSE):
        raise TypeError(f"Expected `SparseTensor`, got {a}.")
    sets = SparseTensor.from_value(a)
    _check_dtype(sets.dtype, "Invalid")
    return _set_size(sets.indices, sets.values, sets.dense_shape, validate_indices)


def intersection(
    a: TensorLike | SparseTensorValue, b: TensorLike | SparseTensorValue, validate_indices: bool = True
) -> SparseTensor:
    """Returns the elements that are in both sets, row by row.

    Args:
        a: a tensor or `SparseTensor` of integers or strings; the sets are in its last dimension.
        b: a tensor or `SparseTensor` of the same dtype, with the same dimensions except the last.
        validate_indices: checks that the indices of sparse tensors are sorted and in range; True by default.

    Returns:
        A `SparseTensor` with each set sorted.

    Raises:
        TypeError: the dtypes differ, or have no sets.
        InvalidArgumentError: the shapes do not match.

    Example:
        >>> tf.sets.intersection([[1, 2, 3]], [[3, 5, 1]]).values.numpy().tolist()
        [1, 3]
    """
    return _operate(a, b, "intersection", validate_indices)


def difference(
    a: TensorLike | SparseTensorValue,
    b: TensorLike | SparseTensorValue,
    aminusb: bool = True,
    validate_indices: bool = True,
) -> SparseTensor:
    """Returns the elements that are in `a` and not in `b`, row by row.

    Args:
        a: a tensor or `SparseTensor` of integers or strings; the sets are in its last dimension.
        b: a tensor or `SparseTensor` of the same dtype, with the same dimensions except the last.
        aminusb: False for the elements that are in `b` and not in `a`.
        validate_indices: checks that the indices of sparse tensors are sorted and in range; True by default.

    Returns:
        A `SparseTensor` with each set sorted.

    Raises:
        TypeError: the dtypes differ, or have no sets.
        InvalidArgumentError: the shapes do not match.

    Example:
        >>> tf.sets.difference([[1, 2, 3]], [[3, 5, 1]]).values.numpy().tolist()
        [2]
    """
    return _operate(a, b, "a-b" if aminusb else "b-a", validate_indices)


def union(
    a: TensorLike | SparseTensorValue, b: TensorLike | SparseTensorValue, validate_indices: bool = True
) -> SparseTensor:
    """Returns the elements that are in either set, row by row.

    Args:
        a: a tensor or `SparseTensor` of integers or strings; the sets are in its last dimension.
        b: a tensor or `SparseTensor` of the same dtype, with the same dimensions except the last.
        validate_indices: checks that the indices of sparse tensors are sorted and in range; True by default.

    Returns:
        A `SparseTensor` with each set sorted.

    Raises:
        TypeError: the dtypes differ, or have no sets.
        InvalidArgumentError: the shapes do not match.

    Example:
        >>> tf.sets.union([[1, 2]], [[2, 9]]).values.numpy().tolist()
        [1, 2, 9]
    """
    return _operate(a, b, "union", validate_indices)
