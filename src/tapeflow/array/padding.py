"""Ops that pad a tensor, and ops that reverse or roll its dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from tapeflow.array.batched import joined_batches, with_entry_for_batch
from tapeflow.array.identities import cast_to
from tapeflow.array.slicing import slice as slice_op
from tapeflow.core.autodiff.gradients import declare_adjoint, shape_argument
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.context import state
from tapeflow.core.ops.batch_rules import Batch, NoRule, Slices, along_axis, behind, static
from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.op import op
from tapeflow.core.ops.shape_rules import argument_shape, leave_to_kernel, text, with_dimension, with_rank
from tapeflow.core.types.aliases import AxisLike, ShapeLike, TensorLike
from tapeflow.core.types.dtypes import int32
from tapeflow.core.types.shape import TensorShape, unknown_shape
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.math.arithmetic import subtract

# ---- pad -------------------------------------------------------------------------------------------------------------


def _pad_rule(x: TensorShape, paddings: TensorLike, *_: Any) -> TensorShape:
    if isinstance(paddings, Tensor):  # not static
        rank = with_dimension(with_rank(paddings, 2), 1, 2)[0]
        return unknown_shape(x.rank if rank is None else with_rank(x, rank).rank)
    rows = _static_rows(paddings)
    shape = np.shape(rows) if rows else (0, 2)
    if len(shape) != 2 or shape[1] != 2:
        if state.graph is not None:
            with_rank(paddings, 2)
        raise invalid(f"paddings must be a matrix with 2 columns: {text(TensorShape(shape))}")
    if x.rank is not None and shape[0] != x.rank:
        raise invalid(f"The first dimension of paddings must be the rank of inputs{text(TensorShape(shape))} {text(x)}")
    for before, after in rows:
        if (before or 0) < 0 or (after or 0) < 0:
            raise invalid(f"Paddings must be non-negative: {before} {after}")
    if x.rank is None:
        return unknown_shape(shape[0])
    return TensorShape([None if None in (d, b, a) else d + b + a for d, (b, a) in zip(x, rows, strict=True)])


def _static_rows(paddings: Any) -> Any:
    """Returns the rows of paddings, None for the numbers that are not static."""
    if not isinstance(paddings, (list, tuple)):
        return paddings  # the shape rule refuses them
    return [[None if isinstance(n, Tensor) else n for n in row] if isinstance(row, tuple) else row for row in paddings]


def _torch_paddings(x: torch.Tensor, paddings: Sequence[Any]) -> list[int]:
    """Returns paddings as torch takes them: in a flat list, the last dimension first."""
    if len(paddings) != x.ndim or any(type(row) is not tuple or len(row) != 2 for row in paddings):
        raise TypeError("the shape rule says what is wrong")
    flat: list[int] = []
    for before, after in reversed(paddings):
        if before < 0 or after < 0:  # torch would cut off
            raise TypeError("the shape rule says what is wrong")
        flat += (before, after)
    return flat


_pads_no_slices = with_entry_for_batch((0, 0))


@op("Pad", host=("paddings",), shape=_pad_rule, moves=True, batching=_pads_no_slices)
def pad_op(input: torch.Tensor, paddings: Sequence[TensorLike]) -> torch.Tensor:
    """Pads a tensor with zeros."""
    flat = _torch_paddings(input, paddings)
    return torch.constant_pad_nd(input, flat) if flat else input


@op("PadV2", host=("paddings",), shape=_pad_rule, moves=True, batching=_pads_no_slices)
def pad_v2(input: torch.Tensor, paddings: Sequence[Any], constant_values: torch.Tensor) -> torch.Tensor:
    """Pads a tensor with one value."""
    flat = _torch_paddings(input, paddings)
    if constant_values.ndim:
        raise invalid(f"constant_values must be a scalar. Found: {text(constant_values.shape)}")
    if input.dtype.is_floating_point or input.dtype in (torch.int32, torch.int64):
        return torch.constant_pad_nd(input, flat, constant_values.item())
    inside = tuple([slice(b, b + d) for (b, _), d in zip(paddings, input.shape, strict=True)])
    out = constant_values.expand([d + b + a for d, (b, a) in zip(input.shape, paddings, strict=True)]).clone()
    out[inside] = input
    return out


def _pad_gradient(call: Call, dy: Tensor) -> Any:
    paddings = call.attrs[0]
    symbolic = isinstance(paddings, Tensor)
    begin = cast_to(paddings[:, 0], int32) if symbolic else [before for before, _ in paddings]
    return slice_op(dy, begin, shape_argument(call.shape(0)))


pad_op.gradient(needs="shapes")(_pad_gradient)


@pad_v2.gradient(needs="shapes")
def _(call: Call, dy: Tensor) -> Any:
    inside = _pad_gradient(call, dy)
    return inside, subtract(ops.Sum(dy), ops.Sum(inside)) if call.wanted[1] else None


def _mirror_rule(x: TensorShape, paddings: TensorLike, mode: str) -> TensorShape:
    shape = _pad_rule(x, paddings)
    if x.rank is None or isinstance(paddings, Tensor):
        return shape
    offset = 1 if mode == "REFLECT" else 0
    for d, (b, a) in zip(x, _static_rows(paddings), strict=True):
        if d is not None and max(b or 0, a or 0) > d - offset:
            limit = "less than" if offset else "no greater than"
            excess = "not less than" if offset else "greater than"
            leave_to_kernel(f"paddings must be {limit} the dimension size: {b}, {a} {excess} {d}")
    return shape


def _mirrored_places(length: int, before: int, after: int, mode: str, device: torch.device) -> torch.Tensor:
    """Returns the places along a dimension that the elements of the mirrored one come from."""
    skip = 1 if mode == "REFLECT" else 0  # the border is its own mirror image
    if max(before, after) > length - skip:
        raise TypeError("the shape rule says what is wrong")
    return torch.cat([
        torch.arange(before - 1 + skip, skip - 1, -1, device=device),
        torch.arange(length, device=device),
        torch.arange(length - 1 - skip, length - 1 - skip - after, -1, device=device),
    ])  # fmt: skip


@op("MirrorPad", host=("paddings",), shape=_mirror_rule, moves=True, batching=_pads_no_slices)
def _mirror_pad(input: torch.Tensor, paddings: Sequence[Any], mode: str) -> torch.Tensor:
    """Pads a tensor with its mirror images."""
    _torch_paddings(input, paddings)
    for axis, (before, after) in enumerate(paddings):
        if before or after or not input.shape[axis]:
            input = torch.index_select(
                input, axis, _mirrored_places(input.shape[axis], before, after, mode, input.device)
            )
    return input


def _mirror_grad_rule(dy: TensorShape, paddings: Any, mode: str) -> TensorShape:
    rank = with_dimension(with_rank(paddings, 2), 1, 2)[0]
    if rank is None:
        return TensorShape(None)
    dy = with_rank(dy, rank)
    if isinstance(paddings, Tensor):
        return TensorShape([None] * rank)
    rows = _static_rows(paddings)
    return TensorShape([None if None in (d, b, a) else d - b - a for d, (b, a) in zip(dy, rows, strict=True)])


@op("MirrorPadGrad", host=("paddings",), shape=_mirror_grad_rule, batching=_pads_no_slices)
def _mirror_pad_grad(input: torch.Tensor, paddings: tuple[Any, ...], mode: str) -> torch.Tensor:
    """Adds up each element and its mirror images."""
    for axis, (before, after) in enumerate(paddings):
        if before or after:
            shape = list(input.shape)
            shape[axis] -= before + after
            places = _mirrored_places(shape[axis], before, after, mode, input.device)
            input = input.new_zeros(shape).index_add_(axis, places, input)
    return input


declare_adjoint(_mirror_pad, _mirror_pad_grad)
declare_adjoint(_mirror_pad_grad, _mirror_pad)


def pad(
    tensor: TensorLike,
    paddings: ShapeLike,
    mode: str = "CONSTANT",
    constant_values: TensorLike = 0,
    name: str | None = None,
) -> Tensor:
    """Pads a tensor.

    Args:
        tensor: a tensor of any dtype, of rank n.
        paddings: integers of shape `[n, 2]`: the number of elements before and after, for each dimension.
        mode: "CONSTANT"; "REFLECT" for the mirror image without the border; "SYMMETRIC" for that with the border. The
            default is "CONSTANT".
        constant_values: the scalar to pad with; 0 by default.

    Returns:
        A tensor of the same dtype and rank.

    Raises:
        InvalidArgumentError: the paddings do not fit the tensor.
        ValueError: there is no such mode.

    Example:
        >>> tf.pad([1, 2, 3], [[2, 1]], "REFLECT").numpy().tolist()
        [3, 2, 1, 2, 3, 2]
    """
    mode = mode.upper()
    if mode == "CONSTANT":
        if type(constant_values) is int and constant_values == 0:
            return pad_op(tensor, paddings, name)
        return pad_v2(tensor, paddings, constant_values, name)
    if mode in ("REFLECT", "SYMMETRIC"):
        return _mirror_pad(tensor, paddings, mode, name)
    raise ValueError(
        'Value of argument `mode` expected to be one of "CONSTANT", "REFLECT", or "SYMMETRIC". '
        f"Received `mode` = {mode}"
    )


# ---- reversed and rolled ---------------------------------------------------------------------------------------------


def _reverse_rule(x: TensorShape, axis: TensorLike) -> TensorShape:
    if isinstance(axis, int) or (isinstance(axis, Tensor) and axis.shape.rank not in (1, None)):
        raise invalid("'dims' must be 1-dimension, not 0")
    if isinstance(axis, tuple) and any(isinstance(a, tuple) for a in axis):
        raise invalid(f"'dims' must be 1-dimension, not {np.ndim(axis)}")
    if x.rank is None or not isinstance(axis, tuple) or None in axis:
        return x
    seen = set()
    for i, a in enumerate(axis):
        if not -x.rank <= a < x.rank:
            raise invalid(f"'axis'[{i}] = {a} is out of valid range [0, {x.rank - 1}")
        if a % x.rank in seen:
            raise invalid(f"axis {a % x.rank} specified more than once.")
        seen.add(a % x.rank)
    return x


def _flip_kernel(x: torch.Tensor, axis: Any) -> torch.Tensor:
    try:
        if type(axis) is int:
            raise TypeError("the shape rule says what is wrong")
        return torch.flip(x, axis)
    except (IndexError, RuntimeError, TypeError):
        if not x.ndim or not x.numel():  # its own reverse: only the shape rule of a trace checks the axis
            return x
        raise


@op("ReverseV2", kernel=_flip_kernel, host=("axis",), shape=_reverse_rule, moves=True, batching=along_axis)
def reverse(tensor: TensorLike, axis: AxisLike, name: str | None = None) -> Tensor:
    """Reverses dimensions.

    Args:
        tensor: a tensor of any dtype and shape.
        axis: a list of dimensions.

    Returns:
        A tensor of the same dtype and shape.

    Raises:
        InvalidArgumentError: there is no such dimension, or one is named twice.

    Example:
        >>> tf.reverse([[1, 2], [3, 4]], [1]).numpy().tolist()
        [[2, 1], [4, 3]]
    """


declare_adjoint(reverse, reverse)


def _roll_rule(x: TensorShape, shift: int | tuple[int, ...], axis: int | tuple[int, ...]) -> TensorShape:
    if x.rank == 0:
        raise invalid("input must be 1-D or higher")
    ranks = argument_shape(shift).rank, argument_shape(axis).rank
    for rank in ranks:
        if rank is not None and rank > 1:
            raise invalid(f"Shape must be at most rank 1 but is rank {rank}")
    if None not in ranks and ranks[0] != ranks[1]:
        raise invalid(f"Shapes must be equal rank, but are {ranks[0]} and {ranks[1]}")
    if isinstance(shift, Tensor) or isinstance(axis, Tensor):  # not static
        return x
    if isinstance(shift, int) != isinstance(axis, int):
        raise invalid("shift and axis must have the same size")
    shifts, axes = ((v,) if isinstance(v, int) else tuple(v) for v in (shift, axis))
    if len(shifts) != len(axes):
        raise invalid("shift and axis must have the same size")
    for a in axes:
        if x.rank is not None and a is not None and not -x.rank <= a < x.rank:
            leave_to_kernel(f"axis {a} is out of range")
    return x


def _roll_kernel(x: torch.Tensor, shift: Any, axis: Any) -> torch.Tensor:
    if not x.ndim or (type(shift) is int) != (type(axis) is int):
        raise TypeError("the shape rule says what is wrong")
    try:
        return torch.roll(x, shift, axis)
    except RuntimeError:  # torch takes integers below -2 ** 62 for symbols
        shifts, axes = np.ravel(shift).tolist(), np.ravel(axis).tolist()
        if len(shifts) != len(axes):
            raise
        return torch.roll(x, [s % max(x.shape[a], 1) for s, a in zip(shifts, axes, strict=True)], axis)


@op("Roll", kernel=_roll_kernel, host=("shift", "axis"), shape=_roll_rule, moves=True)
def roll(input: TensorLike, shift: TensorLike, axis: AxisLike, name: str | None = None) -> Tensor:
    """Moves elements along dimensions; those that leave one end come in at the other.

    Args:
        input: a tensor of any dtype, of rank at least 1.
        shift: by how much; a scalar, or a vector with one number for each axis.
        axis: the dimension, or a list of them; shifts along the same one add up.

    Returns:
        A tensor of the same dtype and shape.

    Raises:
        InvalidArgumentError: there is no such axis, or there are not as many shifts.

    Example:
        >>> tf.roll([1, 2, 3, 4], 1, 0).numpy().tolist()
        [4, 1, 2, 3]
    """


@roll.gradient()
def _(call: Call, dy: Tensor) -> Any:
    shift, axis = call.attrs
    return roll(dy, -shift if isinstance(shift, (int, Tensor)) else [-s for s in shift], axis)


@roll.batching
def _(batch: Batch, x: Slices, shift: int | tuple[int, ...], axis: int | tuple[int, ...]) -> Any:
    return batch.run(x.value, static(shift), behind(static(axis)))


def _reverse_sequence_rule(x: TensorShape, lengths: TensorShape, seq_dim: int, batch_dim: int = 0) -> TensorShape:
    if lengths.rank not in (1, None):
        raise invalid(f"seq_lengths must be 1-dim, not {lengths.rank}")
    if x.rank is None:
        return x
    for name, d in (("batch_dim", batch_dim), ("seq_dim", seq_dim)):
        if d >= x.rank:
            raise invalid(f"{name} must be < input rank ({d} vs. {x.rank})")
    if batch_dim < 0:
        raise invalid(f"batch_dim must be >=0, got {batch_dim}")
    if seq_dim < 0:
        leave_to_kernel(f"Invalid seq_dim {seq_dim}")
    if batch_dim == seq_dim:
        leave_to_kernel(f"batch_dim == seq_dim == {seq_dim}")
    lengths = with_rank(lengths, 1)
    if None not in (lengths[0], x[batch_dim]) and lengths[0] != x[batch_dim]:
        raise invalid(f"Length of seq_lengths != input.dims({batch_dim}), ({lengths[0]} vs. {x[batch_dim]})")
    dims = x.as_list()
    dims[batch_dim] = lengths[0] if x[batch_dim] is None else x[batch_dim]
    return TensorShape(dims)


@op("ReverseSequence", shape=_reverse_sequence_rule, moves=True)
def _reverse_sequence(input: torch.Tensor, seq_lengths: torch.Tensor, seq_dim: int, batch_dim: int = 0) -> torch.Tensor:
    """Reverses the beginning of each sequence."""
    batch, length = input.shape[batch_dim], input.shape[seq_dim]
    if not batch_dim != seq_dim >= 0 <= batch_dim or seq_lengths.shape != (batch,):
        raise TypeError("the shape rule says what is wrong")
    lengths = seq_lengths.to(torch.int64)
    values = not torch.compiler.is_exporting()
    if values and batch and (int(lengths.min()) < 0 or int(lengths.max()) > length):
        bad = next(i for i, n in enumerate(lengths.tolist()) if not 0 <= n <= length)
        wrong = f"seq_lens({bad}) < 0" if lengths[bad] < 0 else f"seq_lens({bad}) > input.dims({seq_dim})"
        raise invalid(wrong)
    place = torch.arange(length, device=input.device)
    source = torch.where(place < lengths[:, None], lengths[:, None] - 1 - place, place)  # [batch, length]
    moved = input.movedim((batch_dim, seq_dim), (0, 1))
    rows = torch.arange(batch, device=input.device)[:, None]
    return moved[rows, source].movedim((0, 1), (batch_dim, seq_dim))


@_reverse_sequence.gradient(needs="input1")
def _(call: Call, dy: Tensor) -> Any:
    return _reverse_sequence(dy, call.inputs[1], *call.attrs), None


@_reverse_sequence.batching
def _(batch: Batch, x: Slices, seq_lengths: Slices, seq_dim: int, batch_dim: int) -> Any:
    if batch_dim != 0:
        raise NoRule
    return joined_batches(batch, x, seq_lengths, seq_dim, 0)


def reverse_sequence(
    input: TensorLike,
    seq_lengths: TensorLike,
    seq_axis: int | None = None,
    batch_axis: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Reverses the first `seq_lengths[i]` elements of each sequence i; the others stay.

    Args:
        input: a tensor of any dtype, with at least two dimensions.
        seq_lengths: an int32 or int64 tensor of shape `[batch]`.
        seq_axis: an int, the dimension along which the sequences run.
        batch_axis: an int, the dimension of the batch, 0 by default.

    Returns:
        A tensor of the same dtype and shape.

    Raises:
        TypeError: there is no `seq_axis`.
        InvalidArgumentError: a length is greater than the dimension's, their number is not the batch's, or there is no
            such dimension.

    Example:
        >>> tf.reverse_sequence([[1, 2, 3], [4, 5, 6]], [2, 3], seq_axis=1).numpy().tolist()
        [[2, 1, 3], [6, 5, 4]]
    """
    return _reverse_sequence(input, seq_lengths, seq_axis, 0 if batch_axis is None else batch_axis, name)
