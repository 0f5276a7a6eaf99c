"""Average pooling: the mean of the part of each window that lies inside the image."""

from __future__ import annotations

import functools
from typing import Any, TypeAlias

import torch
from torch.nn import functional

from tapeflow.array.batched import joined_batches
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.errors import UnimplementedError
from tapeflow.core.ops.by_shapes import by_shapes
from tapeflow.core.ops.elementwise_kernels import by_value
from tapeflow.core.ops.op import OpFunction
from tapeflow.core.ops.raw_kernels import defined_op
from tapeflow.core.ops.shape_rules import listed_shape, with_rank
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.values.tensor import Tensor
from tapeflow.nn.batched_channels import joined_gradients
from tapeflow.nn.pooling import (
    by_rank,
    combine_windows,
    of_sequences,
    pool_layout,
    pool_rule_without_explicit,
    pooled_depth,
)
from tapeflow.nn.windows import Geometry, Ints, pad_image, per_dimension, text_only, unpad_image

aten = torch.ops.aten
_Sizes: TypeAlias = tuple[int, ...]

_AVG_POOL = {2: functional.avg_pool2d, 3: functional.avg_pool3d}
_LOOP_TYPES = torch.float32, torch.float64
_AVG_POOL_BACK = {2: aten.avg_pool2d_backward.default, 3: aten.avg_pool3d_backward.default}


def _check_depth(ksize: _Sizes, data_format: str) -> None:
    if min(ksize) > 0 and pooled_depth(ksize, data_format) != 1:
        raise UnimplementedError.of("Pooling is not yet supported on the depth dimension.")


@by_shapes(256)
def _window_counts(sizes: _Sizes, window: _Sizes, geometry: Geometry) -> torch.Tensor:
    """Counts the elements of the image in each window: `[1, 1, windows...]`, float64."""
    counts = torch.ones((), dtype=torch.float64)
    for n, k, s, b, o in zip(sizes, window, geometry.strides, geometry.before, geometry.out, strict=True):
        starts = torch.arange(o) * s - b
        counts = counts.unsqueeze(-1) * ((starts + k).clamp(max=n) - starts.clamp(min=0))
    return counts[None, None]


def mean_of_windows(
    op: str, x: torch.Tensor, ksize: _Sizes, strides: _Sizes, padding: str, data_format: str
) -> torch.Tensor:
    """Computes AvgPool and AvgPool3D."""
    _check_depth(ksize, data_format)
    layout = pool_layout(op, x.shape, ksize, strides, padding, (), data_format)
    if layout.empty:
        return x.new_zeros(layout.output)
    if len(layout.window) == 3 and layout.in_blocks and x.dtype in _LOOP_TYPES and by_value(x):
        starts = [torch.arange(0, n + 1, k) for n, k in zip(x.shape[1:], layout.window, strict=False)]
        windows = [part for each in starts for part in (each, len(each) - 1)]
        out = x.new_zeros(layout.output)
        combine_windows(x.contiguous(), *x.shape, *windows, False, True, out)
        return out
    geometry, image = layout.geometry, x.permute(layout.to_first)
    pool = _AVG_POOL[len(layout.window)]
    if not layout.padded:
        return pool(image, layout.window, geometry.strides, layout.border, False, False).permute(layout.from_first)
    sums = pool(pad_image(image, geometry), layout.window, geometry.strides, 0, False, True, 1)
    counts = _window_counts(tuple(image.shape[2:]), layout.window, geometry).to(x)
    return sums.div_(counts).permute(layout.from_first)


def mean_of_windows_back(
    op: str, sizes: _Sizes, dy: torch.Tensor, ksize: _Sizes, strides: _Sizes, padding: str, data_format: str
) -> torch.Tensor:
    """Computes AvgPoolGrad and AvgPool3DGrad: each gradient is divided evenly over its window."""
    _check_depth(ksize, data_format)
    layout = pool_layout(op, sizes, ksize, strides, padding, (), data_format)
    layout.check_gradient(dy.shape)
    if layout.empty:
        return dy.new_zeros(sizes)
    geometry, gradients = layout.geometry, dy.permute(layout.to_first)
    image = dy.new_empty(sizes).permute(layout.to_first)  # only looked at for its shape and layout
    back = _AVG_POOL_BACK[len(layout.window)]
    if not layout.padded:
        shares = back(gradients, image, layout.window, geometry.strides, layout.border, False, False, None)
        return shares.permute(layout.from_first)
    counts = _window_counts(tuple(image.shape[2:]), layout.window, geometry).to(dy)
    shares = back(
        gradients / counts, pad_image(image, geometry), layout.window, geometry.strides, layout.border, False, True, 1
    )
    return unpad_image(shares, geometry, image.shape[2:]).permute(layout.from_first)


def _declare_pooling(suffix: str, rank: int, **traits: Any) -> OpFunction[..., Any]:
    """Declares the op that computes the mean of each window of images, or volumes, of this rank; and its gradient."""
    name, grad_name = f"AvgPool{suffix}", f"AvgPool{suffix}Grad"
    pool = defined_op(
        name,
        functools.partial(mean_of_windows, name),
        shape=pool_rule_without_explicit,
        batching=joined_batches,
        **traits,
    )
    pool_grad = defined_op(
        grad_name,
        functools.partial(mean_of_windows_back, grad_name),
        host=("orig_input_shape",),
        shape=lambda sizes, *_: with_rank(listed_shape(sizes), rank),
        batching=joined_gradients,
        **traits,
    )

    @pool.gradient(needs="shapes")
    def _(call: Call, dy: Tensor) -> Any:
        return pool_grad(call.shape(0), dy, *call.attrs)

    @pool_grad.gradient()
    def _(call: Call, dy: Tensor) -> Any:
        return pool(dy, *call.attrs[1:])

    return pool


_avg_pool, _avg_pool3d = _declare_pooling("", 4, allocates=True), _declare_pooling("3D", 5)


# ---- public functions ------------------------------------------------------------------------------------------------


def avg_pool1d(
    input: TensorLike, ksize: Ints, strides: Ints, padding: str, data_format: str = "NWC", name: str | None = None
) -> Tensor:
    """Computes the mean of each window of sequences.

    Args:
        input: a tensor of shape `[batch, width, channels]` for "NWC", `[batch, channels, width]` for "NCW"; floating.
        ksize: the length of the window: an int, or a list of one or three.
        strides: the steps from one window to the next; like `ksize`.
        padding: "SAME" or "VALID".
        data_format: "NWC" or "NCW"; "NWC" by default.

    Returns:
        `[batch, new_width, channels]`.

    Raises:
        ValueError: the data format is neither, or a list has the wrong length.
        InvalidArgumentError: a window does not fit.

    Example:
        >>> tf.nn.avg_pool1d([[[1.0], [3.0], [7.0]]], 2, 1, "VALID")[0, :, 0].numpy().tolist()
        [2.0, 5.0]
    """
    return of_sequences(_avg_pool, input, ksize, strides, padding, data_format, name)


def avg_pool2d(
    input: TensorLike, ksize: Ints, strides: Ints, padding: str, data_format: str = "NHWC", name: str | None = None
) -> Tensor:
    """Computes the mean of each window of images.

    Args:
        input: a tensor of shape `[batch, height, width, channels]` for "NHWC", `[batch, channels, height, width]` for
            "NCHW"; floating.
        ksize: the size of the window: an int, or a list for the spatial dimensions or for all.
        strides: the steps from one window to the next; like `ksize`.
        padding: "SAME" or "VALID".
        data_format: "NHWC" or "NCHW"; "NHWC" by default.

    Returns:
        `[batch, new_height, new_width, channels]`. Windows over the border average only the elements inside.

    Raises:
        ValueError: a list has the wrong length.
        InvalidArgumentError: a window does not fit, or an option is not one.

    Example:
        >>> tf.nn.avg_pool2d([[[[1.0], [3.0]], [[5.0], [7.0]]]], 2, 2, "VALID").numpy().item()
        4.0
    """
    last = data_format != "NCHW"
    window, steps = per_dimension(ksize, 2, last, "ksize"), per_dimension(strides, 2, last, "strides")
    return _avg_pool(input, window, steps, text_only(padding), data_format, name)


def avg_pool3d(
    input: TensorLike, ksize: Ints, strides: Ints, padding: str, data_format: str = "NDHWC", name: str | None = None
) -> Tensor:
    """Computes the mean of each window of volumes.

    Args:
        input: a tensor of shape `[batch, depth, height, width, channels]` for "NDHWC", or "NCDHW"; floating.
        ksize: the size of the window: an int, or a list for the spatial dimensions or for all.
        strides: the steps from one window to the next; like `ksize`.
        padding: "SAME" or "VALID".
        data_format: "NDHWC" or "NCDHW"; "NDHWC" by default.

    Returns:
        `[batch, new_depth, new_height, new_width, channels]`.

    Raises:
        ValueError: a list has the wrong length.
        InvalidArgumentError: a window does not fit, or an option is not one.

    Example:
        >>> tf.nn.avg_pool3d(tf.ones([1, 2, 2, 2, 1]), 2, 2, "VALID").numpy().item()
        1.0
    """
    last = data_format != "NCDHW"
    window, steps = per_dimension(ksize, 3, last, "ksize"), per_dimension(strides, 3, last, "strides")
    return _avg_pool3d(input, window, steps, text_only(padding), data_format, name)


def avg_pool(
    input: TensorLike, ksize: Ints, strides: Ints, padding: str, data_format: str | None = None, name: str | None = None
) -> Tensor:
    """Computes the mean of each window, in one to three spatial dimensions.

    Args:
        input: a floating tensor of shape `[batch, spatial..., channels]`, with one to three spatial dimensions, or
            `[batch, channels, spatial...]`.
        ksize: the size of the window: an int, or a list for the spatial dimensions or for all.
        strides: the steps from one window to the next; like `ksize`.
        padding: "SAME" or "VALID".
        data_format: "NWC", "NHWC", "NDHWC" or None for channels last, or "NCW", "NCHW", "NCDHW".

    Returns:
        A tensor of the dtype of `input`: `[batch, new spatial..., channels]`, or with the channels second.

    Raises:
        ValueError: the rank is another, or a list has the wrong length.
        InvalidArgumentError: a window does not fit.

    Example:
        >>> tf.nn.avg_pool(tf.ones([1, 4, 4, 1]), 2, 2, "SAME").shape
        TensorShape([1, 2, 2, 1])
    """
    function, last = by_rank(input, data_format, avg_pool1d, avg_pool2d, avg_pool3d)
    return function(input, ksize, strides, padding, last, name)
