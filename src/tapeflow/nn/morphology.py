"""Grey-scale morphology: dilation, which is a convolution with maximum for sum and sum for product, and erosion."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import torch

from tapeflow.array.blocks import windows_along
from tapeflow.array.padding import reverse
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.errors import UnimplementedError
from tapeflow.core.ops.batch_rules import Batch, NoRule, Slices
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.elementwise_kernels import by_value, may_have_nan
from tapeflow.core.ops.op import op
from tapeflow.core.ops.raw_kernels import defined_op
from tapeflow.core.ops.shape_rules import same
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.math.arithmetic import negative
from tapeflow.nn.pool_maxima import without_nan
from tapeflow.nn.windows import Geometry, check_channels_last, pad_image, unpad_image, window_geometry


class _Windows(NamedTuple):
    """The elements of images and of a filter. Dilation is the maximum of their sums in each window.

    Attributes:
        image: the images, padded, `[batch, channels, height, width]`.
        parts: for each position in a window, the slices of the image elements at this position in all windows.
        weights: the filter's elements at these positions, `[channels, 1, 1]`.
        least: the least number of the dtype.
        geometry: the positions of the windows.
    """

    image: torch.Tensor
    parts: list[tuple[slice, ...]]
    weights: list[torch.Tensor]
    least: float
    geometry: Geometry

    def sums(self) -> Iterator[torch.Tensor]:
        """Returns the sums at each position, `[batch, channels, rows, columns]`."""
        return (self.image[part] + weight for part, weight in zip(self.parts, self.weights, strict=True))


def _dilation_windows(
    input: torch.Tensor, filter: torch.Tensor, strides: Sequence[int], rates: Sequence[int], padding: str
) -> _Windows:
    for name, x, rank in (("input", input, 4), ("filter", filter, 3)):
        if x.dim() != rank:
            raise invalid(f"{name} must be {rank}-dimensional: {list(x.shape)}")
    for name, steps in (("Stride", strides), ("Rate", rates)):
        if len(steps) != 4 or steps[0] != 1 or steps[3] != 1:
            raise UnimplementedError.of(f"{name} is only supported across spatial dimensions.")
    if input.shape[3] != filter.shape[2]:
        raise invalid(f"input and filter must have the same depth: {input.shape[3]} vs {filter.shape[2]}")
    height, width = filter.shape[:2]
    if min(rates) < 0:
        raise invalid(f"Rate must be >= 0, but got {min(rates)}")
    whole = tuple((n - 1) * rate + 1 if n else 0 for n, rate in zip((height, width), rates[1:3], strict=True))
    geometry = window_geometry(
        "Dilation2D", tuple(input.shape[1:3]), whole, tuple(strides), (1, 1, 1, 1), padding, (), "NHWC"
    )
    x, weights = input, filter
    if not input.is_floating_point():  # int64 keeps the border least after the filter is added
        x, weights = input.long(), filter.long()
    least = -torch.inf if input.is_floating_point() else torch.iinfo(torch.int64).min // 2
    image = pad_image(x.permute(0, 3, 1, 2), geometry, least)
    places = [(i, j) for i in range(height) for j in range(width)]
    parts = [
        (slice(None), slice(None), *map(_strided_part, (i, j), rates[1:3], geometry.strides, geometry.out))
        for i, j in places
    ]
    bounds = torch.finfo(x.dtype) if x.is_floating_point() else torch.iinfo(input.dtype)
    return _Windows(image, parts, [weights[i, j, :, None, None] for i, j in places], bounds.min, geometry)


def _strided_part(place: int, rate: int, stride: int, count: int) -> slice:
    first = place * rate
    return slice(first, first + (count - 1) * stride + 1 if count else first, stride)


def _dilation_rule(
    x: TensorShape, filter: TensorShape, strides: tuple[int, ...], rates: tuple[int, ...], padding: str
) -> TensorShape:
    for name, values in (("strides", strides), ("rates", rates)):
        if len(values) != 4:
            raise invalid(f"Dilation2D requires the {name} attribute to contain 4 values, but got: {len(values)}")
    x, filter = x.with_rank(4), filter.with_rank(3)
    x[3:].assert_is_compatible_with(filter[2:])
    inner = (x[1], x[2]), (filter[0], filter[1]), strides[1:3], rates[1:3]
    if None in (*inner[0], *inner[1]):  # all or nothing
        return TensorShape([x[0], None, None, filter[2]])
    return TensorShape([x[0], *(windows_along(*sizes, padding) for sizes in zip(*inner, strict=True)), filter[2]])


@op("Dilation2D", shape=_dilation_rule)
def _dilation2_d(
    input: torch.Tensor, filter: torch.Tensor, strides: Sequence[int], rates: Sequence[int], padding: str
) -> torch.Tensor:
    """Computes grey-scale dilation.

    Computes the largest sum of an image element and a filter element in each window. The border does not count.
    """
    windows = _dilation_windows(input, filter, strides, rates, padding)
    largest = _largest_sums(windows, torch.maximum) if by_value(input) else None
    if largest is None or (largest.is_floating_point() and may_have_nan(largest)):
        largest = _largest_sums(windows, torch.fmax)  # slower, and NaN is no maximum
    return largest.permute(0, 2, 3, 1).to(input.dtype)


def _largest_sums(windows: _Windows, choose: Callable[..., torch.Tensor]) -> torch.Tensor:
    """Returns the largest sums, `[batch, channels, rows, columns]`."""
    image = windows.image
    start = image.new_full((), windows.least).expand(*image.shape[:2], *windows.geometry.out)
    return functools.reduce(choose, windows.sums(), start)


def _window_shares(windows: _Windows, dy: torch.Tensor) -> list[torch.Tensor]:
    """Returns for each element of a window the gradients of those windows where its sum was the largest."""
    # If several sums are the largest, the gradient goes to the first.
    if not windows.parts:
        return []
    largest = without_nan(torch.stack(list(windows.sums()))).max(0).indices
    dy = dy.permute(0, 3, 1, 2)
    return [torch.where(largest == k, dy, 0) for k in range(len(windows.parts))]


def _input_gradient(input: torch.Tensor, filter: torch.Tensor, dy: torch.Tensor, *attrs: Any) -> torch.Tensor:
    windows = _dilation_windows(input, filter, *attrs)
    image = torch.zeros_like(windows.image)
    for part, share in zip(windows.parts, _window_shares(windows, dy), strict=True):
        image[part] += share
    return unpad_image(image, windows.geometry, input.shape[1:3]).permute(0, 2, 3, 1).to(input.dtype)


def _filter_gradient(input: torch.Tensor, filter: torch.Tensor, dy: torch.Tensor, *attrs: Any) -> torch.Tensor:
    windows = _dilation_windows(input, filter, *attrs)
    sums = [share.sum((0, 2, 3)) for share in _window_shares(windows, dy)]
    return torch.stack(sums).reshape(filter.shape).to(filter.dtype) if sums else torch.zeros_like(filter)


# Compute the gradients of grey-scale dilation by its input and by its filter.
_back_input = defined_op("Dilation2DBackpropInput", _input_gradient, shape=same)
_back_filter = defined_op("Dilation2DBackpropFilter", _filter_gradient, shape=lambda x, filter, *_: filter)


@_dilation2_d.gradient(needs="inputs")
def _(call: Call, dy: Tensor) -> Any:
    backward = _back_input, _back_filter
    return [
        back(*[*call.inputs, dy, *call.attrs]) if w else None for back, w in zip(backward, call.wanted, strict=True)
    ]


@_dilation2_d.batching
@_back_input.batching
def _(batch: Batch, x: Slices, filters: Slices, *rest: Any) -> Any:
    if filters.stacked:
        raise NoRule
    flat = [batch.flat(value) if isinstance(value, Slices) else value for value in rest]
    return batch.unflat(batch.run(batch.flat(x), filters.value, *flat), batch.outputs[0], x)


def dilation2d(
    input: TensorLike,
    filters: TensorLike,
    strides: Sequence[int],
    padding: str,
    data_format: str,
    dilations: Sequence[int],
    name: str | None = None,
) -> Tensor:
    """Computes grey-scale dilation: the largest sum of a window's elements and the filter's.

    Args:
        input: a tensor of shape `[batch, height, width, channels]`, real.
        filters: a tensor of shape `[height, width, channels]`, the dtype of `input`.
        strides: a list of 4 ints. The first and last are 1.
        padding: "SAME" or "VALID".
        data_format: "NHWC".
        dilations: a list of 4 ints, the steps between the elements of a window. The first and last are 1.

    Returns:
        `[batch, new_height, new_width, channels]`.

    Raises:
        ValueError: the data format is another.
        InvalidArgumentError: the shapes do not go together.

    Example:
        >>> x = tf.constant([[[[1.0], [5.0], [2.0]]]])
        >>> tf.nn.dilation2d(x, tf.zeros([1, 2, 1]), [1] * 4, "VALID", "NHWC", [1] * 4)[0, 0, :, 0].numpy().tolist()
        [5.0, 5.0]
    """
    check_channels_last(data_format)
    return _dilation2_d(input, filters, strides, dilations, padding, name)


def erosion2d(
    value: TensorLike,
    filters: TensorLike,
    strides: Sequence[int],
    padding: str,
    data_format: str,
    dilations: Sequence[int],
    name: str | None = None,
) -> Tensor:
    """Computes grey-scale erosion: the smallest difference of a window's elements and the filter's.

    Args:
        value: a tensor of shape `[batch, height, width, channels]`, real.
        filters: a tensor of shape `[height, width, channels]`, the dtype of `value`.
        strides: a list of 4 ints. The first and last are 1.
        padding: "SAME" or "VALID".
        data_format: "NHWC".
        dilations: a list of 4 ints, the steps between the elements of a window. The first and last are 1.

    Returns:
        `[batch, new_height, new_width, channels]`.

    Raises:
        ValueError: the data format is another.
        InvalidArgumentError: the shapes do not go together.

    Example:
        >>> x = tf.constant([[[[1.0], [5.0], [2.0]]]])
        >>> tf.nn.erosion2d(x, tf.zeros([1, 2, 1]), [1] * 4, "VALID", "NHWC", [1] * 4)[0, 0, :, 0].numpy().tolist()
        [1.0, 2.0]
    """
    check_channels_last(data_format)
    # Erosion is dilation of the negative, by the filter rotated by 180 degrees.
    rotated = reverse(convert(filters), [0, 1])
    return negative(dilation2d(negative(value), rotated, strides, padding, data_format, dilations), name)
