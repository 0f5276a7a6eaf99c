"""Tensors of a rank that is unknown while a graph is built, as tensors of a static rank."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.array.concat_and_split import concat_v2
from tapeflow.array.creation import range_op
from tapeflow.array.legacy_ops import list_diff
from tapeflow.array.properties import rank as rank_op
from tapeflow.array.properties import shape_op, size_op
from tapeflow.array.reshapes import reshape
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import ops
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import int32
from tapeflow.core.values.tensor import Tensor


def joined_dims(*parts: Any) -> Any:
    """Returns the vector of the dimensions in several parts: vectors, and sequences of ints and scalars."""
    return concat_v2([convert(list(p), int32) if isinstance(p, Sequence) else p for p in parts], 0)


def around_axis(x: Tensor, axis: int) -> tuple[Any, Any, Any]:
    """Joins the dimensions before an axis to one, and those after it.

    Returns:
        The tensor of rank 3, and the vectors of the dimensions before the axis and after it.
    """
    dims = shape_op(x)
    place = axis if axis >= 0 else size_op(dims) + axis
    before, after = dims[:place], dims[place + 1 :]
    return reshape(x, [ops.Prod(before, 0), dims[place], ops.Prod(after, 0)]), before, after


def with_joined_batch(function: Callable[[Any], Any], x: TensorLike, rank: int) -> Any:
    """Joins the leading dimensions of a tensor to one, calls a function, and restores the leading dimensions.

    Args:
        function: takes and returns a tensor with one leading dimension.
        x: the tensor.
        rank: the number of dimensions behind the leading ones.

    Returns:
        The result, with the leading dimensions of `x` in place of the first one.
    """
    dims = shape_op(x)
    batch = dims[:-rank]
    flat = reshape(x, joined_dims([ops.Prod(batch, 0)], dims[-rank:]))
    flat.set_shape([None] * (rank + 1))
    result = function(flat)
    return reshape(result, joined_dims(batch, shape_op(result)[1:]))


def other_dimensions(x: Tensor, dimensions: Tensor) -> Any:
    """Returns the vector of the dimensions of a tensor that are not in a vector, in their order."""
    return list_diff(range_op(0, rank_op(x), 1), dimensions, int32)[0]
