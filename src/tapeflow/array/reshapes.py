"""Ops that change shapes and keep the elements."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tapeflow.array.properties import rank as rank_op
from tapeflow.array.properties import size_op
from tapeflow.core.autodiff.gradients import sum_to_shape
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.ops.batch_rules import Batch, NoRule, Slices, along_axis, behind, static, vector
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import NotStatic, ops
from tapeflow.core.ops.memory import check_memory
from tapeflow.core.ops.op import op, widen
from tapeflow.core.ops.raw_kernels import defined_op
from tapeflow.core.ops.shape_rules import check_rank, leave_to_kernel, stated_dims, text
from tapeflow.core.ops.static import elements, host_static
from tapeflow.core.types.aliases import AxisLike, ShapeLike, TensorLike
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import EagerTensor, Tensor, invalid

if TYPE_CHECKING:
    from tapeflow.core.values.strings import StringArray


def _reshape_rule(x: TensorShape, shape: Any) -> TensorShape:
    """Returns the new shape, with the dimension that a -1 stands for."""
    check_rank(shape, 1)
    if isinstance(shape, Tensor):  # not static
        return TensorShape(None)
    new_shape = [shape] if isinstance(shape, int) else list(shape)
    if any(isinstance(d, tuple) for d in new_shape):
        raise invalid(f"sizes input must be 1-D, not {text(np.shape(new_shape))}")
    count = x.num_elements()
    if new_shape.count(-1) > 1:
        first, second = [i for i, d in enumerate(new_shape) if d == -1][:2]
        leave_to_kernel(f"Only one input size may be -1, not both {first} and {second}")
    for i, d in enumerate(new_shape):
        if d is not None and d < -1:
            raise invalid(f"Size {i} must be non-negative, not {d}")
    unknown = [i for i, d in enumerate(new_shape) if d is None or d == -1]
    size = math.prod(d for d in new_shape if d is not None and d != -1)
    if unknown:
        rest = count // size if len(unknown) == 1 and count is not None and size else None
        result = TensorShape([rest if i in unknown else d for i, d in enumerate(new_shape)])
        if len(unknown) > 1:
            return result
    if unknown and not size and count:
        raise invalid(f"Input to reshape is a tensor with {count} values, but the requested shape has 0")
    if unknown and size and count is not None and count % size:
        raise invalid(
            f"Input to reshape is a tensor with {count} values, but the requested shape requires a multiple of {size}"
        )
    if not unknown and count is not None and count != size:
        raise invalid(f"Input to reshape is a tensor with {count} values, but the requested shape has {size}")
    return result if unknown else TensorShape(new_shape)


def _reshape_kernel(x: torch.Tensor, shape: Any) -> torch.Tensor:
    try:
        return torch.reshape(x, shape if type(shape) is not int else (shape,))
    except RuntimeError:
        if x.numel() or type(shape) is int or 0 not in shape or list(shape).count(-1) != 1 or min(shape) < -1:
            raise
        # A -1 is ambiguous beside a 0, and torch refuses it. In TensorFlow the other dimensions decide.
        rest = math.prod(d for d in x.shape if d) // math.prod(d for d in shape if d > 0)
        return torch.reshape(x, [rest if d == -1 else d for d in shape])


def _reshaped_strings(x: StringArray | np.ndarray, shape: tuple[int, ...]) -> Any:
    if not x.size:
        shape = _reshape_kernel(torch.empty(x.shape), shape).shape
    try:
        return x.reshape(shape)
    except ValueError as error:
        raise RuntimeError(error) from None  # torch's error class: the shape rule then explains the failure


@op(
    "Reshape",
    kernel=_reshape_kernel,
    strings=_reshaped_strings,
    host=("shape",),
    shape=_reshape_rule,
    moves=True,
    linear=True,
    identity_if_same_shape=True,
    view=True,
)
def reshape(tensor: TensorLike, shape: ShapeLike, name: str | None = None) -> Tensor:
    """Reshapes a tensor; the elements stay the same, in the same order.

    Args:
        tensor: a tensor of any dtype and shape.
        shape: the new shape; one dimension may be -1 and is computed from the others.

    Returns:
        A tensor of that shape and of the dtype of `tensor`.

    Raises:
        InvalidArgumentError: the number of elements differs.

    Example:
        >>> tf.reshape([1, 2, 3, 4], [2, -1]).numpy().tolist()
        [[1, 2], [3, 4]]
    """


@reshape.static_value
def _(tensor: Tensor, shape: ShapeLike) -> tuple[int | None, ...]:
    dims = host_static(shape)
    if tensor.shape.rank != 1 or not isinstance(dims, tuple) or len(dims) != 1:
        raise NotStatic
    return elements(tensor)


@reshape.inline
def _(tensor: Tensor, shape: TensorLike) -> Any:
    dims = host_static(shape)
    if type(dims) is not tuple or not all(type(d) is int and d > 0 for d in dims):
        return None
    return None, f"{{0}}.reshape({dims})"


@reshape.batching
def _(batch: Batch, x: Slices, shape: Slices | tuple[int, ...]) -> Any:
    dims = vector(shape)
    static_dims = batch.outputs[0].shape.as_list() if batch.outputs[0].shape.rank == len(dims) else dims
    # A -1 would be ambiguous if there are no slices.
    return batch.reshape(x.value, [d if s is None else s for d, s in zip(dims, static_dims, strict=True)])


def _broadcast_rule(x: TensorShape, shape: Any) -> TensorShape:
    if isinstance(shape, Tensor):  # not static
        check_rank(shape, 1)
        return TensorShape(None)
    if isinstance(shape, int) or any(isinstance(d, tuple) for d in shape):
        raise invalid(f"shape must be a vector of {{int32,int64}}, got shape {text(np.shape(shape))}")
    dims = stated_dims(shape)
    target = TensorShape(dims)
    if x.rank is None:
        return target
    if x.rank > len(dims):
        raise invalid(f"Rank of input ({x.rank}) must be no greater than rank of output shape ({len(dims)}).")
    for m, n in zip(x.as_list()[::-1], dims[::-1], strict=False):
        if m != n and m != 1 and m is not None and n is not None:
            raise invalid(f"Incompatible shapes: {text(x)} vs. {text(target)}")
    return TensorShape([
        (m if m != 1 else None) if n is None else n
        for m, n in zip([None] * (len(dims) - x.rank) + x.as_list(), dims, strict=True)
    ])  # fmt: skip


def _broadcast_kernel(x: torch.Tensor, shape: Sequence[int]) -> torch.Tensor:
    if type(shape) is int or -1 in shape:  # torch would keep the dimension
        raise TypeError("the shape rule says what is wrong")
    result = torch.broadcast_to(x, shape)
    if result.numel() >= 2**31:
        check_memory(shape, x.itemsize)
    return result


@op("BroadcastTo", _broadcast_kernel, host=("shape",), shape=_broadcast_rule, moves=True, identity_if_same_shape=True)
def broadcast_to(input: TensorLike, shape: ShapeLike, name: str | None = None) -> Tensor:
    """Repeats a tensor along dimensions of length 1, and along new leading ones.

    Args:
        input: a tensor of any dtype, of a shape that broadcasts to `shape`.
        shape: the shape of the result.

    Returns:
        A tensor of that shape and of the dtype of `input`.

    Raises:
        InvalidArgumentError: `input` does not broadcast to that shape.

    Example:
        >>> tf.broadcast_to([1, 2], [2, 2]).numpy().tolist()
        [[1, 2], [1, 2]]
    """


@broadcast_to.gradient(needs="shapes")
def _(call: Call, dy: Tensor) -> Any:
    return sum_to_shape(dy, call.shape(0))


@broadcast_to.batching
def _(batch: Batch, x: Slices, shape: Slices | tuple[int, ...]) -> Any:
    dims = vector(shape)
    return batch.run(batch.lift(x, len(dims)), (batch.count, *dims))


def _squeeze_rule(x: TensorShape, squeeze_dims: tuple[int, ...] | None = None) -> TensorShape:
    if x.rank is None:
        return TensorShape(None)
    rank = x.rank
    axes = set()
    for a in _squeeze_axes(squeeze_dims):
        if not -rank <= a < rank:
            raise invalid(f"Tried to squeeze dim index {a} for tensor with {rank} dimensions.")
        if x[a] not in (1, None):
            raise invalid(f"Can not squeeze dim[{a % rank}], expected a dimension of 1, got {x[a]}")
        axes.add(a % rank)
    if not axes:
        return TensorShape([d for d in x if d != 1]) if None not in x.as_list() else TensorShape(None)
    return TensorShape([d for i, d in enumerate(x) if i not in axes])


def _squeeze_axes(squeeze_dims: int | Sequence[int] | None) -> tuple[int, ...]:
    if squeeze_dims is None:
        return ()
    return (int(squeeze_dims),) if isinstance(squeeze_dims, int) else tuple(map(int, squeeze_dims))


@op("Squeeze", rename={"axis": "squeeze_dims"}, shape=_squeeze_rule, moves=True, view=True)
def squeeze_op(input: torch.Tensor, axis: int | Sequence[int] | None = None) -> torch.Tensor:
    """Removes dimensions of length 1."""
    axes = _squeeze_axes(axis)
    if not axes:
        return torch.squeeze(input)
    shape = input.shape
    for a in axes:
        if shape[a] != 1:
            raise TypeError("the shape rule says what is wrong")
    if len(axes) > 1:
        axes = tuple({a % len(shape) for a in axes})  # a dimension may be named twice
    return torch.squeeze(input, axes)


def _squeeze_one_or_more(args: tuple[Any, Any], name: str | None = None) -> Any:
    input, axis = args
    return squeeze_op.op.run((input, [axis] if np.isscalar(axis) else axis), name)


@widen(squeeze_op, _squeeze_one_or_more)
def squeeze(input: TensorLike, axis: AxisLike = None, name: str | None = None) -> Tensor:
    """Removes dimensions of length 1.

    Args:
        input: a tensor of any dtype and shape.
        axis: an int or a list of ints, the dimension or dimensions to remove; all that have length 1 by default.

    Returns:
        A tensor with the same elements and fewer dimensions.

    Raises:
        InvalidArgumentError: a dimension of `axis` is not of length 1, or does not exist.

    Example:
        >>> tf.squeeze([[[1], [2]]]).numpy().tolist()
        [1, 2]
    """


@squeeze_op.inline
def _(input: Tensor, axis: int | Sequence[int] | None = None) -> Any:
    dims, axes = input.shape, _squeeze_axes(axis)
    if not axes and dims.is_fully_defined():
        axes = tuple([i for i, d in enumerate(dims) if d == 1])
    elif not axes or dims.rank is None or any(dims[a] != 1 for a in axes):
        return None
    return None, f"{{0}}.squeeze({tuple({a % dims.rank for a in axes})})"


@squeeze_op.batching
def _(batch: Batch, x: Slices, axis: tuple[int, ...] | None) -> Any:
    axes = list(_squeeze_axes(axis))
    if not axes:
        if not x.slice.shape.is_fully_defined():
            raise NoRule
        axes = [i for i, d in enumerate(x.slice.shape) if d == 1]
    return batch.run(x.value, behind(axes)) if axes else x.value


def _expand_dims_rule(x: TensorShape, axis: int) -> TensorShape:
    axis = axis[0] if isinstance(axis, tuple) and len(axis) == 1 else axis
    if isinstance(axis, tuple):
        raise invalid("'dim' must be a tensor with a single value")
    if x.rank is None:
        return TensorShape(None)
    if isinstance(axis, Tensor) or axis is None:  # not static
        return TensorShape(None)
    if not -x.rank - 1 <= axis <= x.rank:
        raise invalid(f"Tried to expand dim index {axis} for tensor with {x.rank} dimensions.")
    dims = x.as_list()
    dims.insert(axis if axis >= 0 else axis + x.rank + 1, 1)
    return TensorShape(dims)


def _insert_dimension(x: torch.Tensor, axis: int) -> torch.Tensor:
    return torch.unsqueeze(x, axis if type(axis) is not tuple or len(axis) != 1 else axis[0])


@op(
    "ExpandDims", _insert_dimension, host=("axis",), shape=_expand_dims_rule, moves=True, view=True, batching=along_axis
)
def expand_dims(input: TensorLike, axis: AxisLike, name: str | None = None) -> Tensor:
    """Inserts a dimension of length 1.

    Args:
        input: a tensor of any dtype, of rank n.
        axis: an int, the position of the new dimension, from -n - 1 to n.

    Returns:
        A tensor of rank n + 1 with the same elements.

    Raises:
        InvalidArgumentError: `axis` is out of that range.

    Example:
        >>> tf.expand_dims([1, 2], 1).numpy().tolist()
        [[1], [2]]
    """


@reshape.gradient(needs="shapes")
@squeeze_op.gradient(needs="shapes")
@expand_dims.gradient(needs="shapes")
def _(call: Call, dy: Tensor) -> Any:
    return reshape(dy, call.shape(0))


# ---- transpose -------------------------------------------------------------------------------------------------------


def _transpose_rule(x: TensorShape, perm: tuple[int, ...]) -> TensorShape:
    if isinstance(perm, Tensor):
        check_rank(perm, 1)
    if x.rank is None and not isinstance(perm, tuple):
        return TensorShape(None if perm.shape.rank != 1 else perm.shape[:1].num_elements())
    rank = len(perm) if x.rank is None else x.rank
    if isinstance(perm, Tensor):  # not static
        return TensorShape([None] * rank)
    if not isinstance(perm, tuple) or any(isinstance(p, tuple) for p in perm):
        raise invalid(f"perm must be a vector, got shape {text(np.shape(perm))}")
    if len(perm) != rank:
        raise invalid(f"transpose expects a vector of size {rank}. But input(1) is a vector of size {len(perm)}")
    if None in perm:
        return TensorShape([None] * rank)
    for p in perm:
        if not -rank <= p < rank:
            raise invalid(f"{p} is out of range [0 .. {rank})")
    if x.rank is None:
        return TensorShape([None] * rank)
    sources = {p % rank for p in perm}
    for i in range(rank):
        if i not in sources:
            leave_to_kernel(f"{i} is missing from {{{','.join(map(str, perm))}}}.")
    return TensorShape([x[p] for p in perm])


# Permutes dimensions.
transpose_op = defined_op(
    "Transpose", torch.permute, host=("perm",), shape=_transpose_rule, moves=True, view=True, node_name="transpose"
)


@transpose_op.gradient()
def _(call: Call, dy: Tensor) -> Any:
    return transpose_op(dy, inverse_permutation(call.attrs[0]))


@op("ConjugateTranspose", host=("perm",), shape=_transpose_rule)
def _conjugate_transpose(a: torch.Tensor, perm: tuple[int, ...]) -> torch.Tensor:
    """Permutes dimensions, and takes the complex conjugate."""
    return torch.permute(a, perm).conj().resolve_conj()


@_conjugate_transpose.gradient()
def _(call: Call, dy: Tensor) -> Any:
    return _conjugate_transpose(dy, inverse_permutation(call.attrs[0]))


@_conjugate_transpose.batching
@transpose_op.batching
def _(batch: Batch, x: Slices, perm: tuple[int, ...]) -> Any:
    return batch.run(x.value, (0, *(p % x.rank + 1 for p in static(perm))))


_REVERSED = [tuple(range(rank))[::-1] for rank in range(16)]


def inverse_permutation(perm: Sequence[int]) -> Any:
    """Returns the permutation that undoes another, whose entries may count from the end."""
    if isinstance(perm, Tensor) or any(isinstance(p, Tensor) for p in perm):  # not static
        perm = convert(perm)
        return ops.InvertPermutation(perm % size_op(perm))
    rank = len(perm)
    inverse = [0] * rank
    for i, p in enumerate(perm):
        inverse[int(p) % rank] = i
    return tuple(inverse)


def transpose(a: TensorLike, perm: AxisLike = None, conjugate: bool = False, name: str | None = "transpose") -> Tensor:
    """Permutes the dimensions of a tensor.

    Args:
        a: a tensor of any dtype, of rank n.
        perm: dimension i of the result is dimension `perm[i]` of `a`; by default the order is reversed.
        conjugate: also takes the complex conjugate of complex numbers.

    Returns:
        A tensor of the same dtype and rank.

    Raises:
        InvalidArgumentError: `perm` is no permutation of the n dimensions.

    Example:
        >>> tf.transpose([[1, 2], [3, 4]]).numpy().tolist()
        [[1, 3], [2, 4]]
    """
    tensor: Any = a
    if (perm is None or conjugate) and not isinstance(a, Tensor):
        tensor = convert(a)
    if perm is None:
        rank = len(tensor.value.shape) if type(tensor) is EagerTensor else tensor.shape.rank
        perm = ops.Range(rank_op(tensor) - 1, -1, -1) if rank is None else _REVERSED[rank]
    if conjugate and tensor.dtype.is_complex:
        return _conjugate_transpose(tensor, perm, name)
    return transpose_op(tensor, perm, name)
