"""Frames of signals: cut out and put together again."""

from __future__ import annotations

import math
from typing import Any

import tapeflow as tf
from tapeflow.core.ops.convert import convert, host_value
from tapeflow.core.values.tensor import invalid


def _whole_number(value: Any, name: str) -> int:
    number = host_value(value)
    if isinstance(number, tuple):
        raise ValueError(f"{name} must be a scalar, not {value}")
    if not isinstance(number, int):
        raise invalid(f"{name} must be an integer, not {value}")
    return number


def frame(
    signal: Any,
    frame_length: Any,
    frame_step: Any,
    pad_end: bool = False,
    pad_value: Any = 0,
    axis: int = -1,
    name: str | None = None,
) -> Any:
    """Cuts a dimension into frames that may overlap.

    Args:
        signal: of any dtype.
        frame_length: the length of a frame.
        frame_step: from the beginning of a frame to that of the next.
        pad_end: whether the last frames go beyond the end and are filled up, so that every sample that begins a frame
            does.
        pad_value: what they are filled up with.
        axis: the dimension.

    Returns:
        A tensor with two dimensions, `[frames, frame_length]`, in place of `axis`.

    Raises:
        IndexError: there is no such dimension.
        InvalidArgumentError: the length is negative, or the step not positive.

    Example:
        >>> tf.signal.frame([1, 2, 3, 4, 5], 2, 2).numpy().tolist()
        [[1, 2], [3, 4]]
        >>> tf.signal.frame([1, 2, 3], 2, 2, pad_end=True).numpy().tolist()
        [[1, 2], [3, 0]]
    """
    signal = convert(signal)
    signal.shape.with_rank_at_least(1)
    rank = len(signal.shape)
    axis = host_value(axis)
    if not -rank <= axis < rank:
        raise IndexError(f"there is no dimension {axis} in a tensor of rank {rank}")
    axis %= rank
    frame_length, frame_step = _whole_number(frame_length, "frame_length"), _whole_number(frame_step, "frame_step")
    if frame_step == 0:
        raise invalid("Integer division by zero: frame_step must not be 0")
    if frame_length < 0 or frame_step < 0:
        raise invalid(f"frame_length and frame_step must not be negative, got {frame_length} and {frame_step}")
    length = signal.shape[axis]
    if length is None:
        length = tf.shape(signal)[axis]
    if pad_end:
        count = -(-length // frame_step)
        missing = frame_length + frame_step * (count - 1) - length
        missing = max(0, missing) if isinstance(missing, int) else tf.maximum(0, missing)
        paddings = [[0, 0]] * axis + [[0, missing]] + [[0, 0]] * (rank - axis - 1)
        signal = tf.pad(signal, paddings, constant_values=tf.convert_to_tensor(pad_value, signal.dtype))
    else:
        count = 1 + (length - frame_length) // frame_step
        count = max(0, count) if isinstance(count, int) else tf.maximum(0, count)
    # Frames are made of the parts that they share: as long as the greatest common divisor of length and step.
    part = math.gcd(frame_length, frame_step)
    parts = tf.shape(signal)[axis] // part if signal.shape[axis] is None else signal.shape[axis] // part
    dims = [tf.shape(signal)[i] if d is None else d for i, d in enumerate(signal.shape.as_list())]
    before, after = dims[:axis], dims[axis + 1 :]
    signal = signal[(slice(None),) * axis + (slice(0, parts * part),)]
    signal = tf.reshape(signal, [*before, parts, part, *after])
    starts = tf.expand_dims(tf.range(count) * (frame_step // part), 1)
    frames = tf.gather(signal, starts + tf.range(frame_length // part), axis=axis)
    return tf.reshape(frames, [*before, count, frame_length, *after])


def overlap_and_add(signal: Any, frame_step: Any, name: str | None = None) -> Any:
    """Puts frames together, and adds where they overlap.

    Args:
        signal: frames, of shape `[..., frames, frame_length]` and a numeric dtype.
        frame_step: from the beginning of a frame to that of the next.

    Returns:
        A tensor of shape `[..., (frames - 1) * frame_step + frame_length]`.

    Raises:
        ValueError: `signal` has less than two dimensions, or `frame_step` is no integer.
        InvalidArgumentError: `frame_step` is not positive.

    Example:
        >>> tf.signal.overlap_and_add([[1, 2], [3, 4]], 1).numpy().tolist()
        [1, 5, 4]
    """
    signal = convert(signal)
    signal.shape.with_rank_at_least(2)
    step = host_value(frame_step)
    if not isinstance(step, int):
        raise ValueError(f"frame_step must be an integer. Got {frame_step}")
    if step <= 0:
        raise invalid(f"frame_step must be positive, not {step}")
    batch = len(signal.shape) - 2
    outer = signal.shape[:-2].as_list()
    if None in outer:
        outer = list(tf.unstack(tf.shape(signal)[:-2], num=batch))
    frames, length = [tf.shape(signal)[i - 2] if d is None else d for i, d in enumerate(signal.shape[-2:].as_list())]
    parts = -(-length // step)  # every frame is cut into so many parts of `step` samples
    kept = [[0, 0]] * batch
    # With `parts` empty frames at the end, and a row of `frames + parts - 1` parts for each place in a frame, the parts
    # that belong to the same samples stand below each other.
    x = tf.pad(signal, [*kept, [0, parts], [0, step * parts - length]])
    x = tf.reshape(x, [*outer, frames + parts, parts, step])
    x = tf.transpose(x, [*range(batch), batch + 1, batch, batch + 2])
    x = tf.reshape(x, [*outer, (frames + parts) * parts, step])
    x = x[..., : (frames + parts - 1) * parts, :]
    x = tf.reduce_sum(tf.reshape(x, [*outer, parts, frames + parts - 1, step]), -3)
    x = tf.reshape(x, [*outer, (frames + parts - 1) * step])
    return x[..., : (frames - 1) * step + length]
