"""Isotonic regression: the monotone sequence nearest to a given one."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np
import torch

import tapeflow as tf
from tapeflow.core.autodiff.gradients import shape_of
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.ops.convert import convert, host_value
from tapeflow.core.ops.op import op
from tapeflow.core.types.dtypes import DType, float32, float64, int8, int16
from tapeflow.math.arithmetic import negative
from tapeflow.math.division import realdiv

IsotonicRegression = collections.namedtuple("IsotonicRegression", ["output", "segments"])


def _pool_violators(row: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The nearest decreasing sequence, and the number of the segment of each element.

    Neighbours in the wrong order are pooled into a segment, which takes their mean, until there are none.
    """
    sums: list[float] = []
    counts: list[int] = []
    for value in row:
        total, count = float(value), 1
        while sums and sums[-1] * count < total * counts[-1]:  # the mean before is smaller
            total += sums.pop()
            count += counts.pop()
        sums.append(total)
        counts.append(count)
    return np.repeat(np.array(sums) / counts, counts), np.repeat(np.arange(len(counts)), counts)


def _isotonic_kernel(input: torch.Tensor, output_dtype: DType) -> tuple[torch.Tensor, torch.Tensor]:
    shape = input.shape
    rows = input.detach().double().cpu().numpy().reshape(-1, shape[-1] if shape else 1)
    output = np.zeros(rows.shape)
    segments = np.zeros(rows.shape, np.int32)
    for i, row in enumerate(rows):
        if len(row):
            output[i], segments[i] = _pool_violators(row)
    found = torch.from_numpy(output).to(output_dtype.torch).view(shape).to(input.device)
    return found, torch.from_numpy(segments).view(shape).to(input.device)


@op("IsotonicRegression", kernel=_isotonic_kernel)
def _isotonic(input: Any, output_dtype: Any, name: str | None = None) -> Any:
    """The decreasing sequence nearest to each row, and its segments."""


@_isotonic.gradient(needs="shapes outputs", none_for_zero=True)
def _(call: Call, dy: Any, _: Any) -> Any:
    """Within a segment, every output is the mean of the inputs."""
    if dy is None:
        return None
    shape, segments = call.shape(0), call.outputs[1]
    length = shape[-1] if len(shape) else 1
    flat = tf.reshape(segments, (-1, length))
    rows = shape_of(flat)[0]
    numbers = tf.reshape(tf.add(flat, tf.expand_dims(tf.multiply(tf.range(rows), length), 1)), (-1,))
    gradients = tf.reshape(dy, (-1,))
    sums = tf.math.unsorted_segment_sum(gradients, numbers, rows * length)
    counts = tf.math.unsorted_segment_sum(tf.ones_like(gradients), numbers, rows * length)
    means = realdiv(sums, tf.maximum(counts, 1))
    return tf.reshape(tf.gather(means, numbers), tuple(shape))


def isotonic_regression(inputs: Any, decreasing: bool = True, axis: int = -1) -> Any:
    """The monotone sequence nearest to the given one: which minimizes the sum of squared differences.

    Args:
        inputs: real; integers give floats.
        decreasing: whether it decreases, or else increases.
        axis: the dimension of the sequences.

    Returns:
        The sequences, and of each element the number of its segment, within which all are equal (int32).

    Example:
        >>> tf.nn.isotonic_regression([3.0, 1.0, 2.0])[0].numpy().tolist()
        [3.0, 1.5, 1.5]
    """
    inputs = convert(inputs)
    dtype = inputs.dtype
    output_dtype = dtype if dtype.is_floating else float32 if dtype in (int8, int16) else float64
    axis = host_value(axis)
    rank = inputs.shape.rank
    last = rank == 0 or axis in (-1, rank - 1)
    order = list(range(rank))
    if not last:
        order[axis], order[-1] = order[-1], order[axis]
        inputs = tf.transpose(inputs, order)
    if not decreasing:
        inputs = negative(inputs)
    output, segments = _isotonic(inputs, output_dtype)
    if not decreasing:
        output = negative(output)
    if not last:
        output, segments = tf.transpose(output, order), tf.transpose(segments, order)
    return IsotonicRegression(output, segments) if last and decreasing else (output, segments)
