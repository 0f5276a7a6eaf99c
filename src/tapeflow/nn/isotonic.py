"""Isotonic regression: the monotone sequence nearest to another one."""

from __future__ import annotations

import collections
from typing import Any

import torch

from tapeflow.array import creation
from tapeflow.array.concat_and_split import concat
from tapeflow.array.creation import ones_like
from tapeflow.array.gathers import gather
from tapeflow.array.properties import shape
from tapeflow.array.reshapes import expand_dims, reshape, transpose
from tapeflow.array.unranked import around_axis
from tapeflow.core.autodiff.gradients import is_unranked, shape_argument, shape_of
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.loops import Float64s, Int32s, Int64s, loop
from tapeflow.core.ops.batch_rules import leading_dimensions
from tapeflow.core.ops.convert import convert, host_value
from tapeflow.core.ops.op import op
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import DType, float32, float64, int8, int16
from tapeflow.core.values.tensor import Tensor
from tapeflow.math.arithmetic import add, multiply, negative
from tapeflow.math.division import realdiv
from tapeflow.math.extrema import maximum
from tapeflow.math.segment import unsorted_segment_sum
from tapeflow.nn.softmaxes import check_dim

IsotonicRegression = collections.namedtuple("IsotonicRegression", ["output", "segments"])


@loop
def _pool_violators(
    x: Float64s, rows: int, length: int, sums: Float64s, counts: Int64s, values: Float64s, segments: Int32s
) -> None:
    """Computes the nearest decreasing sequence of each row, and the numbers of its segments.

    Neighbours in the wrong order are pooled into a segment, which takes their mean, until there are none.

    Args:
        x: the sequences, `[rows, length]`.
        rows, length: the sizes.
        sums, counts: buffers of `length` numbers, for the sums and sizes of segments.
        values, segments: receive the sequences and the numbers of the segments.
    """
    for row in range(rows):
        start, last = row * length, -1
        for i in range(length):
            total, count = x[start + i], 1
            while last >= 0 and sums[last] * count < total * counts[last]:  # the mean before is smaller
                total += sums[last]
                count += counts[last]
                last -= 1
            last += 1
            sums[last], counts[last] = total, count
        at = start
        for segment in range(last + 1):
            mean = sums[segment] / counts[segment]
            for i in range(at, at + counts[segment]):
                values[i], segments[i] = mean, segment
            at += counts[segment]


@op("IsotonicRegression", shape=lambda input, _: [input, input], batching=leading_dimensions, autograd=False)
def _isotonic_regression(input: torch.Tensor, output_dtype: DType) -> tuple[torch.Tensor, torch.Tensor]:
    """Computes the decreasing sequence nearest to each row, and its segments."""
    shape = input.shape
    if not input.numel():
        return input.new_empty(shape, dtype=output_dtype.torch), input.new_empty(shape, dtype=torch.int32)
    x = input.detach().double().cpu().reshape(-1)
    length = shape[-1] if shape else 1
    values, segments = torch.empty_like(x), torch.empty(len(x), dtype=torch.int32)
    sums, counts = torch.empty(length, dtype=torch.float64), torch.empty(length, dtype=torch.int64)
    _pool_violators(x, x.numel() // length, length, sums, counts, values, segments)
    return values.view(shape).to(input.device, output_dtype.torch), segments.view(shape).to(input.device)


@_isotonic_regression.gradient(needs="shapes outputs", none_for_zero=True)
def _(call: Call, dy: Tensor, _: Tensor) -> Any:
    # Within a segment, every output is the mean of the inputs.
    if dy is None:
        return None
    whole, segments = call.shape(0), call.outputs[1]
    if is_unranked(whole):
        length = concat([[1], shape_argument(whole)], 0)[-1]
    else:
        length = whole[-1] if len(whole) else 1
    flat = reshape(segments, (-1, length))
    rows = shape_of(flat)[0]
    numbers = reshape(add(flat, expand_dims(multiply(creation.range(rows), length), 1)), (-1,))
    gradients = reshape(dy, (-1,))
    sums = unsorted_segment_sum(gradients, numbers, rows * length)
    counts = unsorted_segment_sum(ones_like(gradients), numbers, rows * length)
    means = realdiv(sums, maximum(counts, 1))
    return reshape(gather(means, numbers), shape_argument(whole))


def isotonic_regression(inputs: TensorLike, decreasing: bool = True, axis: int = -1) -> tuple[Tensor, Tensor]:
    """Computes the monotone sequence nearest to the input: it minimizes the sum of squared differences.

    Args:
        inputs: a real tensor of any shape; integers give floats.
        decreasing: True for a decreasing result, False for an increasing one; True by default.
        axis: an int, the dimension of the sequences; -1 by default.

    Returns:
        The sequences, and of each element the number of its segment, within which all are equal (int32).

    Raises:
        InvalidArgumentError: there is no such axis.

    Example:
        >>> tf.nn.isotonic_regression([3.0, 1.0, 2.0])[0].numpy().tolist()
        [3.0, 1.5, 1.5]
    """
    x = convert(inputs)
    dtype = x.dtype
    output_dtype = dtype if dtype.is_floating else float32 if dtype in (int8, int16) else float64
    axis = host_value(axis)
    rank = x.shape.rank
    if rank is None:
        parts = isotonic_regression(around_axis(x, axis)[0], decreasing, 1)
        output, segments = (reshape(part, shape(x)) for part in parts)
        return IsotonicRegression(output, segments) if axis == -1 and decreasing else (output, segments)
    last = axis in (-1, rank - 1)
    if not last:
        check_dim(axis, rank)
    order = list(range(rank))
    if not last:
        order[axis], order[-1] = order[-1], order[axis]
        x = transpose(x, order)
    if not decreasing:
        x = negative(x)
    output, segments = _isotonic_regression(x, output_dtype)
    if not decreasing:
        output = negative(output)
    if not last:
        output, segments = transpose(output, order), transpose(segments, order)
    return IsotonicRegression(output, segments) if last and decreasing else (output, segments)
