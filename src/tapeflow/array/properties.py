"""Properties of tensors: shape, size and rank as tensors, and static values."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

import numpy as np
import torch

from tapeflow.core.autodiff.tape import Call
from tapeflow.core.context import state
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.ops.batch_rules import Batch, Slices
from tapeflow.core.ops.convert import as_operand, convert
from tapeflow.core.ops.definition import NotStatic, ops
from tapeflow.core.ops.op import not_differentiable, op
from tapeflow.core.ops.shape_rules import broadcast, check_ranks_first, text
from tapeflow.core.ops.static import array_of, partial_value
from tapeflow.core.types.aliases import DTypeLike, ShapeLike, TensorLike
from tapeflow.core.types.dtypes import DType, as_dtype, int32, int64
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.composite import CompositeTensor
from tapeflow.core.values.strings import StringArray
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor, Tensor, TensorType, invalid


@functools.lru_cache(maxsize=1024)
def _shape_tensor(shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    return torch.tensor(shape, dtype=dtype)


def _shape_kernel(input: StringArray | torch.Tensor, out_type: DType = int32) -> torch.Tensor:
    return _shape_tensor(input.shape, out_type.torch)


@op("Shape", kernel=_shape_kernel, shape=lambda x, _: TensorShape([x.rank]), strings=_shape_kernel, reads_shape=True)
def shape_op(input: TensorLike, out_type: DTypeLike = int32, name: str | None = None) -> Any:
    """Returns the shape of a tensor as a tensor."""


@shape_op.static_value
def _(input: Tensor, out_type: DType) -> tuple[int | None, ...]:
    if input.shape.rank is None:
        raise NotStatic
    return tuple(input.shape)


def shape(input: TensorLike, out_type: DTypeLike = None, name: str | None = None) -> Tensor:
    """Returns the shape of a tensor, as a tensor.

    Args:
        input: a tensor of any dtype and shape.
        out_type: int32 (the default) or int64.

    Returns:
        A tensor of shape `[rank]`.

    Raises:
        ValueError: `input` does not convert to a tensor.

    Example:
        >>> tf.shape([[1, 2, 3]]).numpy().tolist()
        [1, 3]
    """
    if out_type is None:
        return shape_op(input, int32, name)
    dtype = as_dtype(out_type)
    if dtype not in (int32, int64) and state.graph is not None:  # TensorFlow writes a static shape as a constant
        tensor = as_operand(input)
        if isinstance(tensor, Tensor) and tensor.shape.is_fully_defined():
            return convert(np.array(tensor.shape.as_list()), dtype)
    return shape_op(input, dtype, name)


def _all_dims(input: list[Any], out_type: DType = int32) -> list[torch.Tensor]:
    return [_shape_kernel(x, out_type) for x in input]


@op("ShapeN", _all_dims, shape=lambda xs, _: [TensorShape([x.rank]) for x in xs], strings=_all_dims, reads_shape=True)
def shape_n(input: Sequence[TensorLike], out_type: DTypeLike = int32, name: str | None = None) -> list[Tensor]:
    """Returns the shapes of tensors, as tensors.

    Args:
        input: a list of tensors of one dtype and of any shapes.
        out_type: int32 or int64; int32 by default.

    Returns:
        A list of tensors of shape `[rank]`, one for each.

    Raises:
        TypeError: `input` is not a list of tensors of one dtype.

    Example:
        >>> [s.numpy().tolist() for s in tf.shape_n([[1, 2], [[3]]])]
        [[2], [1, 1]]
    """


@shape_n.static_value
def _(input: list[Tensor], out_type: DType) -> tuple[Any, ...]:
    if any(x.shape.rank is None for x in input):
        raise NotStatic
    return tuple([tuple(x.shape) for x in input])


@op("Size", shape=lambda x, _: TensorShape([]), strings=True, reads_shape=True)
def size_op(input: StringArray | torch.Tensor, out_type: DType = int32) -> torch.Tensor:
    """Returns the number of elements."""
    count = input.numel() if isinstance(input, torch.Tensor) else input.size
    return torch.scalar_tensor(count, dtype=out_type.torch)


@size_op.static_value
def _(input: Tensor, out_type: DType) -> int | None:
    return input.shape.num_elements()


def size(input: TensorLike, out_type: DTypeLike = None, name: str | None = None) -> Tensor:
    """Returns the number of elements of a tensor, as a scalar tensor.

    Args:
        input: a tensor of any dtype and shape.
        out_type: the dtype of the result, int32 by default.

    Returns:
        A scalar of dtype `out_type`.

    Raises:
        ValueError: `input` does not convert to a tensor.

    Example:
        >>> int(tf.size([[1, 2, 3], [4, 5, 6]]))
        6
    """
    out_type = int32 if out_type is None else as_dtype(out_type)
    if out_type not in (int32, int64):  # TensorFlow writes a static size as a constant of any dtype
        tensor = as_operand(input)
        if isinstance(tensor, Tensor) and tensor.shape.is_fully_defined():
            return convert(np.prod(tensor.shape.as_list(), dtype=out_type.as_numpy_dtype), out_type)
        if hasattr(type(input), "flat_values") and state.graph is None:
            return ops.Cast(size_op(input, int32), out_type)
    return size_op(input, out_type, name)


def _rank_of(input: StringArray | torch.Tensor) -> torch.Tensor:
    return torch.scalar_tensor(input.ndim, dtype=torch.int32)


@op("Rank", kernel=_rank_of, shape=lambda x: TensorShape([]), strings=_rank_of, reads_shape=True)
def rank(input: TensorLike, name: str | None = None) -> Tensor:
    """Returns the number of dimensions of a tensor, as a scalar tensor.

    Args:
        input: a tensor of any dtype and shape.

    Returns:
        An int32 scalar.

    Raises:
        ValueError: `input` does not convert to a tensor.

    Example:
        >>> int(tf.rank([[1, 2], [3, 4]]))
        2
    """


@rank.static_value
def _(input: Tensor) -> int | None:
    return input.shape.rank


not_differentiable(shape_op, shape_n, size_op, rank)


def is_tensor(x: object) -> bool:
    """Tells tensors and variables, dense or composite, from values that convert to tensors.

    Args:
        x: any object.

    Returns:
        True if `x` is a tensor or a variable, or of a class that says that its instances are, by a method
        `is_tensor_like`.

    Example:
        >>> tf.is_tensor(tf.constant(1)), tf.is_tensor([1]), tf.is_tensor(tf.ragged.constant([[1], []]))
        (True, False, True)
    """
    return (
        isinstance(x, TensorType) or (isinstance(x, CompositeTensor) and x._is_tensor) or hasattr(x, "is_tensor_like")
    )


def is_symbolic_tensor(tensor: object) -> bool:
    """Tells tensors in a graph, which have no values yet, from all else.

    Args:
        tensor: any object.

    Returns:
        True if it is a tensor in a graph.

    Example:
        >>> tf.is_symbolic_tensor(tf.constant(1))
        False
    """
    return isinstance(tensor, Tensor) and not isinstance(tensor, EagerTensor)


# The ops whose static values TensorFlow's `tf.get_static_value` returns. More values are static here, but programs read
# a value as a sign that Python can compute it.
_OPS_WITH_STATIC_VALUES = frozenset({
    "BroadcastTo", "Cast", "ConcatV2", "Const", "Equal", "Fill", "Identity", "NotEqual", "Pack", "Range", "Rank",
    "Shape", "Size", "Split", "StopGradient", "Unpack",
})  # fmt: skip


def get_static_value(tensor: TensorLike, partial: bool = False) -> Any:
    """Returns the value of a tensor as a NumPy array, if that is static: no graph runs.

    Args:
        tensor: a tensor of any shape.
        partial: returns a vector of integers in part: the static ones, and None for the others.

    Returns:
        A new array, or None.

    Example:
        >>> tf.get_static_value(tf.constant([1, 2])).tolist()
        [1, 2]
    """
    if isinstance(tensor, EagerTensor):
        has_array = isinstance(tensor.value, (torch.Tensor, StringArray, np.ndarray))
        return tensor.numpy() if has_array else None  # None of a handle
    if not isinstance(tensor, SymbolicTensor):
        return None if is_tensor(tensor) else tensor
    value = array_of(tensor) if tensor.op.type in _OPS_WITH_STATIC_VALUES else None
    if value is None and partial:
        elements = partial_value(tensor)
        return None if elements is None else np.array(elements, dtype=object)
    return None if value is None else value.copy()  # callers may write to it


def broadcast_static_shape(shape_x: ShapeLike, shape_y: ShapeLike) -> TensorShape:
    """Returns the shape that two static shapes broadcast to.

    Args:
        shape_x, shape_y: static shapes, which may have unknown dimensions.

    Returns:
        A `tf.TensorShape`.

    Raises:
        ValueError: they do not broadcast.

    Example:
        >>> tf.broadcast_static_shape(tf.TensorShape([1, 3]), tf.TensorShape([2, 1]))
        TensorShape([2, 3])
    """
    try:
        return broadcast(TensorShape(shape_x), TensorShape(shape_y))
    except (InvalidArgumentError, ValueError):
        raise ValueError(
            "Incompatible shapes for broadcasting. Two shapes are compatible if for each dimension pair they are "
            f"either equal or one of them is 1. Received: {shape_x} and {shape_y}."
        ) from None


def _broadcast_rank(s0: TensorShape, s1: TensorShape) -> TensorShape:
    ranks = [s[0] for s in (s0, s1) if s.rank == 1 and s[0] is not None]
    return TensorShape([max(ranks) if len(ranks) == 2 else None])


@op("BroadcastArgs", shape=check_ranks_first(_broadcast_rank, 1, 1))
def broadcast_args(shape_x: torch.Tensor, shape_y: torch.Tensor) -> torch.Tensor:
    """Returns the shape that two shapes broadcast to."""
    dims = []
    for m, n in zip_longest(shape_x.tolist()[::-1], shape_y.tolist()[::-1], fillvalue=1):
        if m != n and 1 not in (m, n):  # dimensions are any numbers here
            raise invalid(f"Incompatible shapes: {shape_x.tolist()} vs. {shape_y.tolist()}")
        dims.append(n if m == 1 else m)
    return torch.tensor(dims[::-1], dtype=shape_x.dtype)


def broadcast_dynamic_shape(shape_x: ShapeLike, shape_y: ShapeLike) -> Tensor:
    """Returns the shape that two shapes, both tensors, broadcast to.

    Args:
        shape_x, shape_y: int32 or int64 tensors of shape `[rank]`.

    Returns:
        A tensor of shape `[rank]`.

    Raises:
        InvalidArgumentError: they do not broadcast.

    Example:
        >>> tf.broadcast_dynamic_shape([1, 3], [2, 1]).numpy().tolist()
        [2, 3]
    """
    return broadcast_args(shape_x, shape_y)


not_differentiable(broadcast_args)


@op("EnsureShape", strings=True, shape=lambda x, shape: x.merge_with(shape))
def _ensure_shape(input: StringArray | torch.Tensor, shape: Sequence[int | None] | None) -> Any:
    """Returns the same tensor, if it has the shape."""
    expected, sizes = TensorShape(shape), tuple(input.shape)  # sizes may be unknown in an export
    if expected.rank is not None:
        same_rank = len(sizes) == expected.rank
        if not same_rank or any(d is not None and d != n for d, n in zip(expected.as_list(), sizes, strict=True)):
            actual = text(TensorShape(sizes))
            raise invalid(f"Shape of tensor input {actual} is not compatible with expected shape {text(expected)}.")
    return input


@_ensure_shape.gradient()
def _(call: Call, dy: Tensor) -> Any:
    return dy


@_ensure_shape.batching
def _(batch: Batch, x: Slices, shape: Any) -> Any:
    expected = TensorShape(shape)
    return x.value if expected.rank is None else batch.run(x.value, TensorShape([None]).concatenate(expected))


def ensure_shape(x: TensorLike, shape: ShapeLike, name: str | None = None) -> Tensor:
    """Checks that a tensor has a shape.

    Args:
        x: a tensor of any dtype and shape.
        shape: the shape, with None for dimensions of any length; None for any shape.

    Returns:
        The same tensor, whose static shape is at least `shape`.

    Raises:
        InvalidArgumentError: `x` does not have it.

    Example:
        >>> tf.ensure_shape([[1, 2]], [None, 2]).shape
        TensorShape([1, 2])
    """
    expected = TensorShape(shape)
    return _ensure_shape(x, None if expected.rank is None else tuple(expected.as_list()), name)
