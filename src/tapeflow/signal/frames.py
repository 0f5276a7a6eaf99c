"""Division of signals into frames, and their reconstruction from frames."""

from __future__ import annotations

import math
from typing import Any

from tapeflow.array.concat_and_split import unstack
from tapeflow.array.creation import range as range_of
from tapeflow.array.gathers import gather
from tapeflow.array.padding import pad
from tapeflow.array.properties import shape
from tapeflow.array.reshapes import expand_dims, reshape, transpose
from tapeflow.array.unranked import around_axis, joined_dims, with_joined_batch
from tapeflow.core.context import state
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.ops.convert import convert, datatype_name, host_value
from tapeflow.core.ops.memory import check_memory
from tapeflow.core.ops.static import host_static
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import string
from tapeflow.core.values.tensor import Tensor, dtype_error, invalid
from tapeflow.math.extrema import maximum
from tapeflow.math.reduction import reduce_sum
from tapeflow.signal.fourier_ops import length_of


def _frame_sizes(frame_length: TensorLike, frame_step: TensorLike, pad_end: TensorLike) -> tuple[Any, Any]:
    """Returns the length and the step of frames as integers, or as scalar tensors if they are not static.

    The number of frames is computed in the dtype of the length, or of the step if the signal is padded. Both must have
    this dtype.

    Raises:
        ValueError: the length or the step is not a scalar, or not an integer.
        TypeError: the length or the step is not a number.
        InvalidArgumentError: the dtypes differ.
    """
    length, step = convert(frame_length), convert(frame_step)
    for scalar in (length, step):
        scalar.shape.assert_has_rank(0)
    first, other = (step, length) if pad_end else (length, step)
    if not (first.dtype.is_integer or first.dtype.is_floating):
        raise TypeError(f"unsupported operand type(s) for -: 'int' and '{first.dtype.name}'")
    if first.dtype is not other.dtype:
        if other.dtype is string and state.graph is None:
            raise TypeError("unsupported operand type(s) for -: 'int' and 'str'")
        wanted, wrong = datatype_name(first.dtype), datatype_name(other.dtype)
        raise dtype_error(f"cannot compute FloorDiv as input #1(zero-based) was expected to be {wanted} but is {wrong}")
    if not first.dtype.is_integer:
        raise ValueError(f"a must be an integer type. Got: {first.dtype}")
    return host_static(host_value(length)), host_static(host_value(step))


def frame(
    signal: TensorLike,
    frame_length: TensorLike,
    frame_step: TensorLike,
    pad_end: bool = False,
    pad_value: TensorLike = 0,
    axis: int = -1,
    name: str | None = None,
) -> Tensor:
    """Divides a dimension into frames, which may overlap.

    Args:
        signal: a tensor of any dtype, with at least one dimension.
        frame_length: the number of samples in a frame, a scalar integer.
        frame_step: a scalar integer, the number of samples between the beginnings of successive frames.
        pad_end: adds the frames that begin inside of the signal and end after it, and pads the signal for them.
        pad_value: the value of the padding, a scalar; 0 by default.
        axis: an int, the dimension; -1 by default.

    Returns:
        A tensor of the same dtype, with two dimensions `[frames, frame_length]` in place of `axis`.

    Raises:
        IndexError: the dimension does not exist.
        InvalidArgumentError: the length is negative, the step is 0, or their dtypes differ.
        ValueError: the signal, the length or the step has the wrong rank, or the length or the step is not an integer.
        TypeError: the length or the step is not a number.

    Example:
        >>> tf.signal.frame([1, 2, 3, 4, 5], 2, 2).numpy().tolist()
        [[1, 2], [3, 4]]
        >>> tf.signal.frame([1, 2, 3], 2, 2, pad_end=True).numpy().tolist()
        [[1, 2], [3, 0]]
    """
    x = convert(signal)
    x.shape.with_rank_at_least(1)
    size, step = _frame_sizes(frame_length, frame_step, pad_end)
    place = convert(axis)
    place.shape.assert_has_rank(0)
    axis = host_value(place)
    rank = x.shape.rank
    if rank is None:
        x, before, after = around_axis(x, axis)
        frames = frame(x, frame_length, frame_step, pad_end, pad_value, 1)
        return reshape(frames, joined_dims(before, shape(frames)[1:3], after))
    if isinstance(axis, bool):
        raise TypeError("list indices must be integers or slices, not numpy.bool")
    if not -rank <= axis < rank:
        raise IndexError(f"there is no dimension {axis} in a tensor of rank {rank}")
    axis %= rank
    if isinstance(step, int) and step == 0:
        raise InvalidArgumentError.of("Integer division by zero: frame_step must not be 0")
    if isinstance(size, int) and size < 0:
        raise invalid(f"Requires start <= limit when delta > 0: 0/{size} [Op:Range] name: ")
    length = length_of(x, axis)
    dims = [length_of(x, i) for i in range(rank)]
    before, after = dims[:axis], dims[axis + 1 :]
    count = -(-length // step) if pad_end else _at_least_zero(1 + (length - size) // step)
    if isinstance(count, int) and count < 0:
        raise invalid(f"Requires start <= limit when delta > 0: 0/{count} [Op:Range] name: ")
    # Frames consist of parts that they share, as long as the greatest common divisor of their length and step.
    part = math.gcd(size, step) if isinstance(size, int) and isinstance(step, int) else 1
    if isinstance(count, int) and isinstance(size, int):
        check_memory([count, size], max(x.dtype.size, 1))
        part = part if count else max(size, 1)  # otherwise as many indices as there would be samples in a frame
    if pad_end:
        padding = convert(pad_value, x.dtype)
        padding.shape.assert_has_rank(0)
        missing = _at_least_zero(size + step * (count - 1) - length)
        paddings = [[0, 0]] * axis + [[0, missing]] + [[0, 0]] * (rank - axis - 1)
        x = pad(x, paddings, constant_values=padding)
    parts = length_of(x, axis) // part
    x = x[(slice(None),) * axis + (slice(0, parts * part),)]
    x = reshape(x, [*before, parts, part, *after])
    starts = expand_dims(range_of(count) * (step // part), 1)
    frames = gather(x, starts + range_of(size // part), axis=axis)
    return reshape(frames, [*before, count, size, *after])


_LARGEST = 2**31 - 1  # the number of samples that the length of a frame in int32 holds


def _at_least_zero(count: TensorLike) -> Any:
    return max(0, count) if isinstance(count, int) else maximum(count, 0)


def overlap_and_add(signal: TensorLike, frame_step: TensorLike, name: str | None = None) -> Tensor:
    """Reconstructs a signal from frames, adding them where they overlap.

    Args:
        signal: frames, of shape `[..., frames, frame_length]` and a numeric dtype.
        frame_step: a scalar integer, the number of samples between the beginnings of successive frames.

    Returns:
        A tensor of shape `[..., (frames - 1) * frame_step + frame_length]` and the same dtype.

    Raises:
        ValueError: `signal` has fewer than two dimensions, or `frame_step` is not an integer.
        InvalidArgumentError: `frame_step` is not positive.

    Example:
        >>> tf.signal.overlap_and_add([[1, 2], [3, 4]], 1).numpy().tolist()
        [1, 5, 4]
    """
    x = convert(signal)
    x.shape.with_rank_at_least(2)
    if x.shape.rank is None:
        return with_joined_batch(lambda frames: overlap_and_add(frames, frame_step), x, 2)
    argument: Any = frame_step
    step: Any = host_static(host_value(argument))
    if not isinstance(step, int) and not (isinstance(step, Tensor) and step.dtype.is_integer):
        raise ValueError(f"frame_step must be an integer. Got {argument}")
    if isinstance(step, int) and step <= 0:
        raise invalid(f"frame_step must be positive, not {step}")
    batch = len(x.shape) - 2
    outer = x.shape[:-2].as_list()
    if None in outer:
        outer = list(unstack(shape(x)[:-2], num=batch))
    frames, length = length_of(x, -2), length_of(x, -1)
    parts = -(-length // step)  # of `step` samples, in each frame
    if isinstance(parts, int) and isinstance(step, int) and isinstance(length, int) and parts * step > _LARGEST:
        raise invalid(f"Paddings must be non-negative: the frames are padded to {parts * step} samples [Op:Pad] name: ")
    # With `parts` empty frames at the end, and a row of `frames + parts - 1` parts for each place in a frame, the parts
    # that belong to the same samples stand below each other.
    x = pad(x, [*[[0, 0]] * batch, [0, parts], [0, step * parts - length]])
    x = reshape(x, [*outer, frames + parts, parts, step])
    x = transpose(x, [*range(batch), batch + 1, batch, batch + 2])
    x = reshape(x, [*outer, (frames + parts) * parts, step])
    x = x[..., : (frames + parts - 1) * parts, :]
    x = reduce_sum(reshape(x, [*outer, parts, frames + parts - 1, step]), -3)
    x = reshape(x, [*outer, (frames + parts - 1) * step])
    return x[..., : (frames - 1) * step + length]
