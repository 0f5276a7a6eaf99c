"""Layout, shape rule and arguments that max and average pooling share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tapeflow.array.reshapes import expand_dims, squeeze
from tapeflow.core.context import state
from tapeflow.core.errors import UnimplementedError
from tapeflow.core.loops import Int64s, Numbers, loop, simd_range
from tapeflow.core.ops.by_shapes import by_shapes
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import invalid
from tapeflow.nn.windows import (
    FORMATS,
    TO_FIRST,
    TO_LAST,
    Geometry,
    channels_last,
    channels_last_of_sequences,
    check_32_bits,
    flat,
    per_dimension,
    rank_of,
    spatial,
    text_only,
    window_geometry,
    window_rule,
    without_explicit,
)


class PoolLayout(NamedTuple):
    """The layout of pooling, for images of one shape and one set of attrs.

    Attributes:
        geometry: the positions of the windows.
        window: their size.
        output: the shape of the result.
        empty: whether there is nothing to compute, which ATen refuses.
        border: the padding that ATen adds.
        padded: whether instead the image must be padded first, as ATen can't: unevenly, or by more than half a window.
        to_first, from_first: permutations to ATen's order of dimensions, and back.
        in_blocks: whether small windows divide images with channels last, without rests, borders or overlaps.
        by_dimensions: whether images with channels last have few, small windows.
    """

    geometry: Geometry
    window: tuple[int, ...]
    output: tuple[int, ...]
    empty: bool
    border: tuple[int, ...]
    padded: bool
    to_first: tuple[int, ...]
    from_first: tuple[int, ...]
    in_blocks: bool
    by_dimensions: bool

    def check_gradient(self, dy: tuple[int, ...]) -> None:
        """Raises InvalidArgumentError for a gradient that has not the shape of the result."""
        if dy != self.output:
            raise invalid(f"Expected grad shape to be {list(self.output)}, but got {list(dy)}")


@by_shapes(4096)
def pool_layout(
    op: str,
    image: tuple[int, ...],
    ksize: tuple[int, ...],
    strides: tuple[int, ...],
    padding: str,
    explicit: tuple[int, ...],
    data_format: str,
) -> PoolLayout:
    """Lays out the windows of an image.

    Raises:
        InvalidArgumentError: the arguments do not go together.
        UnimplementedError: the windows reach over the batch, or over channels and more.
    """
    dims = len(ksize) - 2
    if len(image) != dims + 2:
        raise invalid(f"Input must be {'4 or 5' if dims == 2 else dims + 2}-dimensional, not of shape {list(image)}")
    check_32_bits("ksize", ksize)
    if any(k <= 0 for k in ksize):
        raise invalid(
            f"Sliding window ksize must be positive. The specified or inferred ksize is: {','.join(map(str, ksize))}"
        )
    if ksize[0] != 1 or strides[0] != 1:
        raise UnimplementedError.of("Pooling is not yet supported on the batch dimension.")
    windows = spatial(ksize, data_format)
    if padding == "SAME":
        sizes = spatial(image, data_format)
        windows = tuple(_clipped_window(*of) for of in zip(sizes, windows, spatial(strides, data_format), strict=True))
    one_each = (1,) * (dims + 2)
    geometry = window_geometry(
        op, spatial(image, data_format), windows, strides, one_each, padding, explicit, data_format
    )
    for b, a, k in zip(geometry.before, geometry.after, windows, strict=True):
        if padding == "EXPLICIT" and max(a, b) >= k:
            raise invalid(f"Padding {max(a, b)} needs to be smaller than the window size {k}")
    last = channels_last(data_format)
    as_is = tuple(range(dims + 2))
    is_padded = not geometry.symmetric or any(2 * b > k for b, k in zip(geometry.before, windows, strict=True))
    divided = all(type(n) is int and not n % k for n, k in zip(spatial(image, data_format), windows, strict=True))
    return PoolLayout(
        geometry=geometry,
        window=windows,
        output=(image[0], *geometry.out, image[-1]) if last else (*image[:2], *geometry.out),
        empty=0 in image or 0 in geometry.out,
        border=(0,) * dims if is_padded else geometry.before,
        padded=is_padded,
        to_first=TO_FIRST[dims + 2] if last else as_is,
        from_first=TO_LAST[dims + 2] if last else as_is,
        in_blocks=last
        and divided
        and max(windows) <= 4
        and tuple(geometry.strides) == tuple(windows)
        and not any(geometry.before),
        by_dimensions=last
        and max(windows) <= 4
        and all(s > 1 or k == 1 for s, k in zip(geometry.strides, windows, strict=True)),
    )


@loop
def combine_windows(
    x: Numbers, batch: int, depth: int, height: int, width: int, channels: int, planes: Int64s, plane_count: int,
    rows: Int64s, row_count: int, columns: Int64s, column_count: int, overlapping: int, means: int, out: Numbers,
) -> None:  # fmt: skip
    """Computes the maximum or the mean of each window, element after element.

    Args:
        x: images, `[batch, depth, height, width, channels]`.
        planes, rows, columns: the starts of the windows, followed by the end of the last one.
        plane_count, row_count, column_count: the numbers of windows.
        overlapping: windows share their border.
        means: computes means.
        out: the results, which are the least numbers before, or zeros.
    """
    at = 0
    for image in range(batch):
        for plane in range(plane_count):
            back = min(planes[plane + 1] + overlapping, depth)
            for row in range(row_count):
                bottom = min(rows[row + 1] + overlapping, height)
                for column in range(column_count):
                    right = min(columns[column + 1] + overlapping, width)
                    for h in range(planes[plane], back):
                        for i in range(rows[row], bottom):
                            for j in range(columns[column], right):
                                shift = (((image * depth + h) * height + i) * width + j) * channels - at
                                if means:
                                    for k in simd_range(at, at + channels):
                                        out[k] += x[k + shift]
                                else:
                                    for k in simd_range(at, at + channels):
                                        value, most = x[k + shift], out[k]
                                        out[k] = value if value > most else most
                    if means:
                        size = (back - planes[plane]) * (bottom - rows[row]) * (right - columns[column])
                        for k in simd_range(at, at + channels):
                            out[k] /= size
                    at += channels


def _clipped_window(size: int, window: int, stride: int) -> int:
    """Returns the size of the smallest window that takes the same elements with "SAME" padding: from a certain size on,
    all windows take the whole dimension."""
    if type(size) is not int or stride < 1:
        return window
    return min(window, max(size + (-(-size // stride) - 1) * stride, 1))


def pooled_depth(ksize: Sequence[int], data_format: str) -> int:
    """Returns the length of a window along the channels."""
    return ksize[-1 if channels_last(data_format) else 1]


def pool_rule(x: TensorShape, *attrs: Any) -> TensorShape:
    """Infers the shape of the result of pooling; `attrs`: see `pool_layout`."""
    ksize, strides, padding, explicit, data_format = attrs
    channels = x[-1 if channels_last(data_format) else 1] if x.rank == len(ksize) else None
    one_each = (1,) * len(ksize)
    result = window_rule(x, spatial(ksize, data_format), channels, (strides, one_each, padding, explicit, data_format))
    if state.graph is None and pooled_depth(ksize, data_format) == 1:  # a kernel failed, and its checks say why
        pool_layout("Pool", tuple(x.as_list()), *attrs)
    return result


pool_rule_without_explicit = without_explicit(pool_rule, behind=1)


def of_sequences(
    function: Callable[..., Any],
    input: TensorLike,
    ksize: Sequence[int] | int,
    strides: TensorLike,
    padding: str,
    data_format: str,
    name: str | None,
) -> Any:
    """Calls a 2-D pooling op with the arguments of a 1-D one, on images of height 1."""
    last = channels_last_of_sequences(data_format)
    window = flat(per_dimension(ksize, 1, last, "ksize"), last)
    steps = flat(per_dimension(strides, 1, last, "strides"), last)
    height = 1 if last else 2
    y = function(expand_dims(input, height), window, steps, text_only(padding), "NHWC" if last else "NCHW", name)
    return squeeze(y, (height,))


def by_rank(input: Any, data_format: str | None, *functions: Callable[..., Any]) -> tuple[Callable[..., Any], str]:
    """Selects the function for the input's number of spatial dimensions, and its default data format.

    Raises:
        ValueError: the rank is not 3, 4 or 5.
    """
    rank = rank_of(input)
    if rank not in (3, 4, 5):
        raise ValueError(
            f"`input.shape.rank` must be 3, 4 or 5. Received: input.shape={getattr(input, 'shape', ())} of rank {rank}."
        )
    return functions[rank - 3], data_format or FORMATS[rank - 2][0]
