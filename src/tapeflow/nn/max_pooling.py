"""Max pooling: the largest element of each window."""

from __future__ import annotations

import collections
import functools
from collections.abc import Callable
from typing import Any

import torch

from tapeflow.array.batched import joined_batches
from tapeflow.array.creation import zeros_like
from tapeflow.array.padding import pad
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.context import state
from tapeflow.core.errors import UnimplementedError
from tapeflow.core.ops.op import OpFunction, op
from tapeflow.core.ops.raw_kernels import defined_op
from tapeflow.core.ops.shape_rules import with_rank
from tapeflow.core.types.aliases import DTypeLike, TensorLike
from tapeflow.core.types.dtypes import DType, as_dtype, int64
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.nn.pool_maxima import (
    image_of,
    max_of_windows,
    max_of_windows_back,
    max_of_windows_back_back,
    places_of_maxima,
)
from tapeflow.nn.pooling import (
    PoolLayout,
    by_rank,
    of_sequences,
    pool_layout,
    pool_rule,
    pool_rule_without_explicit,
    pooled_depth,
)
from tapeflow.nn.windows import (
    Ints,
    Padding,
    channels_last,
    check_channels_last,
    length,
    padding_attrs,
    per_dimension,
    text_only,
    without_explicit,
)

MaxPoolWithArgmax = collections.namedtuple("MaxPoolWithArgmax", ["output", "argmax"])


def _declare_picking(function: Any, again: Callable[..., Any]) -> None:
    """Declares the gradient of an op that picks elements of its third input at the maxima of the first one.

    `again(x, y, dy, *attrs)` computes the gradient of the third input. The others have none.
    """

    @function.gradient(needs="input0 input1")
    def _(call: Call, dy: Tensor) -> Any:
        x, y = call.inputs[:2]
        want_x, want_y, want_grad = call.wanted
        return (
            zeros_like(x) if want_x else None,
            zeros_like(y) if want_y else None,
            again(x, y, dy, *call.attrs) if want_grad else None,
        )


def _max_pool_rule(
    x: TensorShape, ksize: tuple[int, ...], strides: tuple[int, ...], padding: str, explicit: tuple[Any, ...], fmt: str
) -> TensorShape:
    """Infers the shape of the result of `MaxPool`, whose windows may reach over channels."""
    if len(ksize) != 4:
        raise invalid(f"MaxPool requires the ksize attribute to contain 4 values, but got: {len(ksize)}")
    result = pool_rule(x, ksize, strides, padding, explicit, fmt)
    if state.graph is None:
        return result
    channels = 3 if channels_last(fmt) else 1
    dims = result.as_list()
    dims[channels] = length(dims[channels], ksize[channels], strides[channels], 1, padding)
    return TensorShape(dims)


def _declare_pooling(
    suffix: str, rank: int, kernel_of: Callable[..., Any], shape: Callable[..., Any], **traits: Any
) -> tuple[OpFunction[..., Any], OpFunction[..., Any], OpFunction[..., Any]]:
    """Declares the op that computes the maximum of each window, its gradient, and the gradient of that by `grad`.

    Args:
        suffix: is part of the registered names.
        rank: the rank of the images, or volumes.
        kernel_of: `kernel_of(function, name)` is the kernel that calls a function with explicit paddings.
        shape: the shape rule of the first op.
        **traits: of the first two ops.
    """
    name, grad_name, grad_grad_name = (f"MaxPool{suffix}{kind}" for kind in ("", "Grad", "GradGrad"))
    pool = defined_op(name, kernel_of(max_of_windows, name), shape=shape, batching=joined_batches, **traits)
    pool_grad = defined_op(
        grad_name,
        kernel_of(max_of_windows_back, grad_name),
        shape=lambda x, *_: with_rank(x, rank),
        batching=joined_batches,
        **traits,
    )
    pool_grad_grad = defined_op(
        grad_grad_name,
        without_explicit(max_of_windows_back_back, grad_grad_name, behind=1),
        shape=lambda x, y, *_: y,
        batching=joined_batches,
    )

    @pool.gradient(needs="inputs outputs")
    def _(call: Call, dy: Tensor) -> Any:
        return pool_grad(call.inputs[0], call.outputs[0], dy, *call.attrs)

    return pool, pool_grad, pool_grad_grad


max_pool_op, max_pool_grad, max_pool_grad_grad = _declare_pooling(
    "", 4, functools.partial, _max_pool_rule, allocates=True
)
_max_pool1d = without_explicit(max_pool_op, behind=2)  # the data format, and the name
_max_pool3d, max_pool3d_grad, max_pool3d_grad_grad = _declare_pooling(
    "3D", 5, functools.partial(without_explicit, behind=1), pool_rule_without_explicit
)


def _pick_from_padded(x: Tensor, y: Tensor, dy: Tensor, *attrs: Any) -> Any:
    """Calls MaxPoolGradGrad, which has no explicit paddings: they become part of the images."""
    ksize, strides, padding, explicit, data_format = attrs
    if padding == "EXPLICIT":
        pairs = tuple(zip(explicit[::2], explicit[1::2], strict=True))
        x, dy, padding = pad(x, pairs, constant_values=x.dtype.min), pad(dy, pairs), "VALID"
    return max_pool_grad_grad(x, y, dy, ksize, strides, padding, data_format)


_declare_picking(max_pool_grad, _pick_from_padded)
_declare_picking(max_pool_grad_grad, without_explicit(max_pool_grad, behind=1))
_declare_picking(max_pool3d_grad, max_pool3d_grad_grad)
_declare_picking(max_pool3d_grad_grad, max_pool3d_grad)


# ---- with the place of the maximum -----------------------------------------------------------------------------------


def _flat_places(indices: torch.Tensor, layout: PoolLayout, x: torch.Tensor, with_batch: bool) -> torch.Tensor:
    """Converts indices into ATen's (padded) image to TensorFlow's, `(row * width + column) * channels + channel`."""
    height, width, channels = x.shape[1:]
    if layout.padded:
        top, left = layout.geometry.before
        padded_width = width + left + layout.geometry.after[1]
        rows, columns = indices // padded_width - top, indices % padded_width - left
        indices = rows * width + columns
    flat = indices * channels + torch.arange(channels, device=x.device).view(1, -1, 1, 1)
    if with_batch:
        flat += (torch.arange(x.shape[0], device=x.device) * (height * width * channels)).view(-1, 1, 1, 1)
    return flat


def _argmax_rule(
    x: TensorShape, ksize: tuple[int, ...], strides: tuple[int, ...], _: DType, padding: str, *__: Any
) -> list[TensorShape]:
    if state.graph is not None and min(ksize) < 1:
        raise invalid(f"ksize must be a positive int32 value, got:{min(ksize)}")
    return [_max_pool_rule(x, ksize, (*strides[:-1], 1), padding, (), "NHWC")] * 2  # the last stride is not read


@op("MaxPoolWithArgmax", shape=_argmax_rule)
def _max_pool_with_argmax(
    input: torch.Tensor,
    ksize: tuple[int, ...],
    strides: tuple[int, ...],
    Targmax: DType,
    padding: str,
    include_batch_in_index: bool = False,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Computes the maximum of each window of images, and its index."""
    op = "MaxPoolWithArgmax"
    if pooled_depth(ksize, "NHWC") != 1:
        raise UnimplementedError.of("MaxPoolWithArgmax is not supported across depth")
    if not input.numel():
        raise invalid("tensor_in must not be empty (2)")
    layout = pool_layout(op, input.shape, ksize, (*strides[:-1], 1), padding, (), "NHWC")
    if layout.empty:
        return input.new_zeros(layout.output), input.new_zeros(layout.output, dtype=Targmax.torch)
    values, indices = places_of_maxima(image_of(input, layout), layout)
    places = _flat_places(indices, layout, input, include_batch_in_index)
    return values.permute(layout.from_first), places.permute(layout.from_first).to(Targmax.torch)


@_max_pool_with_argmax.gradient(needs="input0 outputs")
def _(call: Call, dy: Tensor, _: Tensor) -> Any:
    ksize, strides, _, padding, with_batch = call.attrs
    return max_pool_grad_with_argmax(call.inputs[0], dy, call.outputs[1], ksize, strides, padding, with_batch)


def _argmax_places(x: torch.Tensor, argmax: torch.Tensor, with_batch: bool) -> torch.Tensor:
    """Returns the maxima's indices in the whole of `x`, `[batch, windows]`."""
    places = argmax.reshape(x.shape[0], -1).long()
    if not with_batch:
        places = places + (torch.arange(x.shape[0], device=x.device) * x[0].numel()).unsqueeze(1)
    return places


def _back_by_argmax(x: torch.Tensor, dy: torch.Tensor, argmax: torch.Tensor, *attrs: Any) -> torch.Tensor:
    if not dy.numel():
        return torch.zeros_like(x)
    places = _argmax_places(x, argmax, attrs[-1]).reshape(-1)
    return dy.new_zeros(x.numel()).index_add_(0, places, dy.reshape(-1)).view(x.shape)


# Computes the gradient of `max_pool_with_argmax`.
max_pool_grad_with_argmax = defined_op("MaxPoolGradWithArgmax", _back_by_argmax, shape=lambda x, *_: with_rank(x, 4))


def _back_back_by_argmax(x: torch.Tensor, ddx: torch.Tensor, argmax: torch.Tensor, *attrs: Any) -> torch.Tensor:
    if not argmax.numel():
        return ddx.new_zeros(argmax.shape)
    return ddx.reshape(-1)[_argmax_places(x, argmax, attrs[-1])].view(argmax.shape)


# Computes the gradient of `max_pool_grad_with_argmax` by `grad`.
max_pool_grad_grad_with_argmax = defined_op(
    "MaxPoolGradGradWithArgmax", _back_back_by_argmax, shape=lambda x, dx, argmax, *_: argmax
)


def _declare_argmax_gradient(function: Any, transpose: Callable[..., Any]) -> None:
    """Declares the gradient of an op that is linear in `grad`, by the op that is its transpose."""

    @function.gradient(needs="input0 input2")
    def _(call: Call, dy: Tensor) -> Any:
        x, _, argmax = call.inputs
        want_x, want_grad, _ = call.wanted
        by_grad = transpose(x, dy, argmax, *call.attrs) if want_grad else None
        return zeros_like(x) if want_x else None, by_grad, None


_declare_argmax_gradient(max_pool_grad_with_argmax, max_pool_grad_grad_with_argmax)
_declare_argmax_gradient(max_pool_grad_grad_with_argmax, max_pool_grad_with_argmax)


# ---- public functions ------------------------------------------------------------------------------------------------


def max_pool1d(
    input: TensorLike, ksize: Ints, strides: Ints, padding: str, data_format: str = "NWC", name: str | None = None
) -> Tensor:
    """Computes the maximum of each window of sequences.

    Args:
        input: a tensor of shape `[batch, width, channels]` for "NWC", `[batch, channels, width]` for "NCW".
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
        >>> tf.nn.max_pool1d([[[1.0], [3.0], [2.0]]], 2, 1, "VALID")[0, :, 0].numpy().tolist()
        [3.0, 3.0]
    """
    return of_sequences(_max_pool1d, input, ksize, strides, padding, data_format, name)


def max_pool2d(
    input: TensorLike, ksize: Ints, strides: Ints, padding: Padding, data_format: str = "NHWC", name: str | None = None
) -> Tensor:
    """Computes the maximum of each window of images.

    Args:
        input: a tensor of shape `[batch, height, width, channels]` for "NHWC", `[batch, channels, height, width]` for
            "NCHW".
        ksize: the size of the window: an int, or a list for the spatial dimensions or for all.
        strides: the steps from one window to the next; like `ksize`.
        padding: "SAME", "VALID", or for each dimension a pair of the padding before and after.
        data_format: "NHWC" or "NCHW"; "NHWC" by default.

    Returns:
        `[batch, new_height, new_width, channels]`.

    Raises:
        ValueError: a list has the wrong length.
        InvalidArgumentError: a window does not fit, or an option is not one.

    Example:
        >>> tf.nn.max_pool2d([[[[1.0], [3.0]], [[5.0], [7.0]]]], 2, 2, "VALID").numpy().item()
        7.0
    """
    last = data_format != "NCHW"
    window, steps = per_dimension(ksize, 2, last, "ksize"), per_dimension(strides, 2, last, "strides")
    kind, explicit = padding_attrs(padding)
    return max_pool_op(input, window, steps, kind, explicit, data_format, name)


def max_pool3d(
    input: TensorLike, ksize: Ints, strides: Ints, padding: str, data_format: str = "NDHWC", name: str | None = None
) -> Tensor:
    """Computes the maximum of each window of volumes.

    Args:
        input: a tensor of shape `[batch, depth, height, width, channels]` for "NDHWC", or "NCDHW"; half, bfloat16 or
            float32.
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
        >>> tf.nn.max_pool3d(tf.ones([1, 2, 2, 2, 1]), 2, 2, "VALID").numpy().item()
        1.0
    """
    last = data_format != "NCDHW"
    window, steps = per_dimension(ksize, 3, last, "ksize"), per_dimension(strides, 3, last, "strides")
    return _max_pool3d(input, window, steps, text_only(padding), data_format, name)


def max_pool(
    input: TensorLike,
    ksize: Ints,
    strides: Ints,
    padding: Padding,
    data_format: str | None = None,
    name: str | None = None,
) -> Tensor:
    """Computes the maximum of each window, in one to three spatial dimensions.

    Args:
        input: a tensor of shape `[batch, spatial..., channels]`, with one to three spatial dimensions, or
            `[batch, channels, spatial...]`.
        ksize: the size of the window: an int, or a list for the spatial dimensions or for all.
        strides: the steps from one window to the next; like `ksize`.
        padding: "SAME" or "VALID". For images also a pair for each dimension: the padding before and after.
        data_format: "NWC", "NHWC", "NDHWC" or None for channels last, or "NCW", "NCHW", "NCDHW".

    Returns:
        A tensor of the dtype of `input`: `[batch, new spatial..., channels]`, or with the channels second.

    Raises:
        ValueError: the rank is another, or a list has the wrong length.
        InvalidArgumentError: a window does not fit.

    Example:
        >>> tf.nn.max_pool(tf.ones([1, 4, 4, 1]), 2, 2, "SAME").shape
        TensorShape([1, 2, 2, 1])
    """
    function, last = by_rank(input, data_format, max_pool1d, max_pool2d, max_pool3d)
    return function(input, ksize, strides, padding, last, name)


def max_pool_with_argmax(
    input: TensorLike, ksize: Ints, strides: Ints, padding: str,
    data_format: str = "NHWC", output_dtype: DTypeLike = int64, include_batch_in_index: bool = False,
    name: str | None = None,
) -> MaxPoolWithArgmax:  # fmt: skip
    """Computes the maximum of each window of images, and its index.

    Args:
        input: a tensor of shape `[batch, height, width, channels]`, real.
        ksize: the size of the window: an int, or a list for the spatial dimensions or for all.
        strides: the steps from one window to the next; like `ksize`.
        padding: "SAME" or "VALID".
        data_format: "NHWC".
        output_dtype: the dtype of the indices: int64 or int32. The default is int64.
        include_batch_in_index: counts the elements of the images before this one, too.

    Returns:
        A named tuple of the maxima, `[batch, new_height, new_width, channels]`, and of each the index
        `(row * width + column) * channels + channel`.

    Raises:
        ValueError: the data format is another, or a list has the wrong length.
        InvalidArgumentError: a window does not fit.

    Example:
        >>> _, places = tf.nn.max_pool_with_argmax([[[[1.0], [3.0]], [[5.0], [7.0]]]], 2, 2, "VALID")
        >>> places.numpy().item()
        3
    """
    check_channels_last(data_format)
    window, steps = per_dimension(ksize, 2, True, "ksize"), per_dimension(strides, 2, True, "strides")
    dtype = as_dtype(output_dtype)
    return MaxPoolWithArgmax(
        *_max_pool_with_argmax(input, window, steps, dtype, text_only(padding), include_batch_in_index, name)
    )
