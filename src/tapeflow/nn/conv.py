"""Convolution of images with filters, in one to three dimensions.

The filters are `[height, width, in channels / groups, out channels]` ("HWIO"). ATen takes a permuted view of them.
oneDNN reorders the view faster than a copy would, unless the filters have many elements. Some convolutions are products
of matrices: `window_products.py`. Most others are machine code that needs no other layout: `direct_convolutions.py`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import torch

from tapeflow.array.reshapes import expand_dims, reshape, squeeze
from tapeflow.core.autodiff.gradients import shape_of
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.context import state
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.op import OpFunction, op
from tapeflow.core.ops.raw_kernels import defined_op
from tapeflow.core.ops.shape_rules import check_rank, listed_shape, with_rank
from tapeflow.core.types.aliases import ShapeLike, TensorLike
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import EagerTensor, Tensor, invalid
from tapeflow.nn import direct_convolutions
from tapeflow.nn.batched_channels import (
    convolutions,
    gradients_by_filters,
    gradients_by_images,
    sum_of_gradients_by_filters,
)
from tapeflow.nn.conv_layout import Layout, convolution_layout
from tapeflow.nn.dilated_filters import declare_exports
from tapeflow.nn.direct_convolutions import is_direct
from tapeflow.nn.packed_filters import layer_of_convolution
from tapeflow.nn.window_products import (
    few_channels_back_input,
    has_few_channels,
    is_product,
    product,
    product_back_filter,
    product_back_input,
)
from tapeflow.nn.windows import (
    FORMATS,
    Ints,
    Padding,
    channels_last,
    channels_last_of_sequences,
    flat,
    pad_image,
    padded_sizes,
    padding_attrs,
    per_dimension,
    rank_of,
    spatial,
    text_only,
    unpad_image,
    window_rule,
    without_explicit,
)

_backward = torch.ops.aten.convolution_backward.default

# ---- kernels, for any number of dimensions ---------------------------------------------------------------------------


def convolve(op: str, x: torch.Tensor, filters: torch.Tensor, *attrs: Any) -> torch.Tensor:
    """Computes Conv2D and Conv3D.

    Args:
        op: the op's name.
        x: the images or volumes.
        filters: the filters.
        *attrs: strides, padding, explicit paddings, data format, dilations.
    """
    layout = convolution_layout(op, x.shape, filters.shape, *attrs)
    if layout.empty:
        return x.new_zeros(layout.output)
    if is_direct(layout, filters.shape, filters.shape[-1], x, filters):
        return direct_convolutions.convolution(layout, x, filters)
    if is_product(layout, x, filters.shape):
        return product(layout, x, filters)
    image, weight = _image_in_layout(x, layout), _filters_in_layout(filters, layout)
    if _is_one_volume(image):
        y = torch.mkldnn_convolution(
            image, weight, None, layout.border, layout.geometry.strides, layout.rates, layout.groups
        )
    else:
        y = torch.convolution(
            image, weight, None, layout.geometry.strides, layout.border, layout.rates, False, layout.zeros,
            layout.groups,
        )  # fmt: skip
    return y.permute(layout.from_first)


_FEW = 20480  # elements of a volume of one column: up to here ATen takes its slow kernel


def _is_one_volume(image: torch.Tensor) -> bool:
    """Returns True if ATen would take its slow kernel, a quarter as fast as oneDNN's: it does not count all sizes."""
    return (
        image.dim() == 5
        and image.shape[0] == 1
        and image.is_cpu
        and image.dtype is torch.float32
        and torch.backends.mkldnn.is_available()
    )


def _image_in_layout(x: torch.Tensor, layout: Layout) -> torch.Tensor:
    """Returns images in ATen's order of dimensions, with the padding that ATen can't add."""
    image = x.permute(layout.to_first)
    return image if layout.geometry.symmetric else pad_image(image, layout.rest)


_MANY_WEIGHTS = 2**16  # for fewer, oneDNN reorders TensorFlow's layout in less time than a copy takes


def _filters_in_layout(filters: torch.Tensor, layout: Layout) -> torch.Tensor:
    """Returns filters in ATen's order of dimensions.

    Many elements are copied to the memory order of channels-last images. The copy is a transposed matrix, which takes a
    third of the time of ATen's general copy.
    """
    if filters.numel() < _MANY_WEIGHTS or not layout.channels_last or layout.groups > 1 or not filters.is_contiguous():
        return filters.permute(layout.filter_to_first)
    *sizes, channels, results = filters.shape
    return filters.view(-1, results).t().contiguous().view(results, *sizes, channels).permute(layout.to_first)


def convolve_back_input(
    op: str, sizes: tuple[int, ...], filters: torch.Tensor, dy: torch.Tensor, *attrs: Any
) -> torch.Tensor:
    """Computes Conv2DBackpropInput and Conv3DBackpropInputV2."""
    dims = filters.dim() - 2
    if len(sizes) == dims and dy.dim() == dims + 2:  # the spatial ones alone
        channels = filters.shape[-2]
        sizes = (dy.shape[0], *sizes, channels) if channels_last(attrs[3]) else (dy.shape[0], channels, *sizes)
    layout = convolution_layout(op, sizes, filters.shape, *attrs)
    _check_backprop(op, dy.shape, layout)
    if layout.empty:
        return dy.new_zeros(sizes)
    if not dy.is_floating_point():  # ATen has this of floats alone; sums of integers are exact in float64
        return convolve_back_input(op, sizes, filters.double(), dy.double(), *attrs).long().to(dy.dtype)
    if is_direct(layout, filters.shape, filters.shape[-2], dy, filters):
        return direct_convolutions.image_gradient(layout, sizes, filters, dy)
    if is_product(layout, dy, filters.shape):
        return product_back_input(layout, sizes, filters, dy)
    if has_few_channels(layout, dy, filters.shape):
        return few_channels_back_input(layout, sizes, filters, dy)
    geometry = layout.geometry
    outer = padded_sizes(sizes, layout.rest, layout.channels_last)
    image = dy.new_empty(outer).permute(layout.to_first)  # only looked at for its shape and layout
    dx = _backward(
        dy.permute(layout.to_first), image, _filters_in_layout(filters, layout), None, geometry.strides,
        layout.border, layout.rates, False, layout.zeros, layout.groups, (True, False, False),
    )[0]  # fmt: skip
    if not geometry.symmetric:  # without the padding, gaps in memory slow batch normalization down
        return unpad_image(dx, layout.rest, spatial(sizes, attrs[3])).permute(layout.from_first).contiguous()
    return dx.permute(layout.from_first)


def convolve_back_filter(
    op: str, x: torch.Tensor, sizes: tuple[int, ...], dy: torch.Tensor, *attrs: Any
) -> torch.Tensor:
    """Computes Conv2DBackpropFilter and Conv3DBackpropFilterV2."""
    layout = convolution_layout(op, x.shape, sizes, *attrs)
    _check_backprop(op, dy.shape, layout)
    if layout.empty:
        return dy.new_zeros(sizes)
    if is_direct(layout, sizes, sizes[-1], x, dy):
        return direct_convolutions.filter_gradient(layout, x, sizes, dy)
    if is_product(layout, x, sizes):
        return product_back_filter(layout, x, sizes, dy)
    image = _image_in_layout(x, layout)
    # The kernel uses only its shape. It is copied if its layout differs from the layout of the images.
    weight = (
        dy.new_empty((sizes[-1], *sizes[:-1])).permute(layout.to_first)
        if layout.channels_last and layout.groups == 1
        else dy.new_empty((sizes[-1], sizes[-2], *sizes[:-2]))
    )
    above = dy.permute(layout.to_first)
    if _is_one_volume(image) and image[..., 0].numel() <= _FEW:
        image, above = (torch.cat([t, torch.zeros_like(t)]) for t in (image, above))  # oneDNN takes two of any size
    dfilters = _backward(
        above, image, weight, None, layout.geometry.strides, layout.border, layout.rates, False,
        layout.zeros, layout.groups, (False, True, False),
    )[1]  # fmt: skip
    # It is laid out as HWIO, like the variable it will be added to: mixed layouts would cost every later op more.
    rows = dfilters.permute(layout.from_first) if layout.channels_last else None
    if rows is not None and rows.is_contiguous():
        return rows.view(sizes[-1], -1).t().contiguous().view(tuple(sizes))
    return dfilters.permute(layout.filter_from_first).contiguous()


def _check_backprop(op: str, dy: tuple[int, ...], layout: Layout) -> None:
    if dy != layout.output:
        raise invalid(
            f"{op}: Size of out_backprop doesn't match computed: actual = {list(dy)}, computed = {list(layout.output)}"
        )


def conv_rule(x: TensorShape, filters: TensorShape, *attrs: Any) -> TensorShape:
    """Infers the shape of a convolution; `attrs` are strides, padding, explicit paddings, data format, dilations."""
    strides, padding, explicit, data_format, dilations = attrs
    x, filters = x.with_rank(len(strides)), filters.with_rank(len(strides))
    sizes = filters.as_list()
    if state.graph is None:  # a kernel failed, and its checks say why
        convolution_layout("Conv3D" if len(sizes) == 5 else "Conv2D", tuple(x.as_list()), tuple(sizes), *attrs)
    else:
        _check_depth(x[-1 if channels_last(data_format) else 1], sizes[-2], sizes[-1])
    return window_rule(x, sizes[:-2], sizes[-1], (strides, dilations, padding, explicit, data_format))


def _check_depth(images: int | None, filters: int | None, results: int | None) -> None:
    """Checks the numbers of channels of images, filters and results, if they are static."""
    if filters == 0:
        raise invalid("Depth of filter must not be 0")
    if images is None or filters is None:
        return
    if images % filters:
        raise invalid(f"Depth of input ({images}) is not a multiple of input depth of filter ({filters})")
    if not images:
        raise invalid("Number of groups must not be 0")
    if results is not None and results % (images // filters):
        raise invalid(f"Depth of output ({results}) is not a multiple of the number of groups ({images // filters})")


def sizes_rule(sizes: Any, filters: TensorShape, out: TensorShape, strides: Any, *attrs: Any) -> TensorShape:
    """Infers the shape of the gradient of a convolution by its input."""
    rank = len(strides)
    check_rank(sizes, 1)
    shape = listed_shape(sizes)
    if rank == 5:
        return shape.with_rank(rank)
    out = out.with_rank(rank)
    filters = filters.with_rank(rank)
    if shape.rank not in (None, rank, rank - 2):
        raise invalid(
            "Conv2DBackpropInput requires input_sizes to contain 4 values or 2 values, but got: " + str(shape.rank)
        )
    if shape.rank == rank and out.rank and filters.rank:
        channels = -1 if channels_last(attrs[2]) else 1
        if shape[0] != out[0] and None not in (shape[0], out[0]):
            raise invalid(f"Dimensions must be equal, but are {shape[0]} and {out[0]}")
        if filters[-1] != out[channels] and None not in (filters[-1], out[channels]):
            raise invalid(f"Dimensions must be equal, but are {out[channels]} and {filters[-1]}")
    if state.graph is None and shape.rank == 4:  # a kernel failed, and its checks say why
        layout = convolution_layout(
            "Conv2DBackpropInput", tuple(shape.as_list()), tuple(filters.as_list()), strides, *attrs
        )
        _check_backprop("Conv2DBackpropInput", tuple(out.as_list()), layout)
    batch = out[:1]  # whatever the sizes say
    if shape.rank is None:
        return batch.concatenate(TensorShape([None] * (rank - 1)))
    if shape.rank == rank:
        return batch.concatenate(shape[1:])
    inner = (shape, filters[-2:-1]) if channels_last(attrs[2]) else (filters[-2:-1], shape)
    return batch.concatenate(inner[0]).concatenate(inner[1])


def filter_sizes_rule(rank: int, x: TensorShape, sizes: Any, out: TensorShape, *_: Any) -> TensorShape:
    """Infers the shape of the gradient of a convolution of images, or volumes, of this rank by its filters."""
    x.with_rank(rank)
    out.with_rank(rank)
    return with_rank(listed_shape(sizes), rank)


def declare_gradients(forward: Any, back_input: Any, back_filter: Any) -> None:
    """Declares the gradients of a convolution and of its two backward ops. Each is linear in either of its inputs."""
    back_filter.summed(sum_of_gradients_by_filters)

    @forward.gradient(needs="inputs")
    def _(call: Call, dy: Tensor) -> Any:
        x, filters = call.inputs
        want_x, want_filters = call.wanted
        return (
            back_input(shape_of(x), filters, dy, *call.attrs) if want_x else None,
            back_filter(x, shape_of(filters), dy, *call.attrs) if want_filters else None,
        )

    @back_input.gradient(needs="inputs")
    def _(call: Call, dy: Tensor) -> Any:
        filters, out_backprop = call.inputs
        want_filters, want_out = call.wanted
        attrs = call.attrs[1:]
        return (
            back_filter(dy, shape_of(filters), out_backprop, *attrs) if want_filters else None,
            forward(dy, filters, *attrs) if want_out else None,
        )

    @back_filter.gradient(needs="inputs")
    def _(call: Call, dy: Tensor) -> Any:
        x, out_backprop = call.inputs
        want_x, want_out = call.wanted
        attrs = call.attrs[1:]
        return (
            back_input(shape_of(x), dy, out_backprop, *attrs) if want_x else None,
            forward(x, dy, *attrs) if want_out else None,
        )


def declare_backward(
    forward: Any, names: Sequence[str], kernels: Sequence[Any], rules: Sequence[Any], always: bool = False
) -> tuple[OpFunction[..., Any], OpFunction[..., Any]]:
    """Declares the ops that compute the gradients of a convolution by its input and by its filters.

    Args:
        forward: the convolution.
        names, kernels, rules: the registered names, kernels and shape rules of the two ops.
        always: as in `declare_exports`.
    """
    back_input = defined_op(names[0], kernels[0], host=("input_sizes",), shape=rules[0], batching=gradients_by_images)
    back_filter = defined_op(
        names[1], kernels[1], host=("filter_sizes",), shape=rules[1], batching=gradients_by_filters
    )
    declare_gradients(forward, back_input, back_filter)
    declare_exports(forward, back_input, back_filter, always)
    return back_input, back_filter


# ---- two dimensions --------------------------------------------------------------------------------------------------


@op("Conv2D", shape=conv_rule, batching=convolutions, allocates=True)
def conv2_d(
    input: torch.Tensor,
    filters: torch.Tensor,
    strides: Sequence[int],
    padding: str,
    explicit_paddings: Sequence[int] = (),
    data_format: str = "NHWC",
    dilations: Sequence[int] = (1, 1, 1, 1),
) -> torch.Tensor:
    """Computes a 2-D convolution."""
    attrs = strides, padding, explicit_paddings, data_format, dilations
    if not input.is_floating_point():  # oneDNN has no integers; these are exact up to 2**53
        return convolve("Conv2D", input.double(), filters.double(), *attrs).to(input.dtype)
    return convolve("Conv2D", input, filters, *attrs)


conv2_d.layer(layer_of_convolution("Conv2D"))


@op(
    "Conv2DBackpropInput",
    kernel=functools.partial(convolve_back_input, "Conv2DBackpropInput"),
    host=("input_sizes",),
    shape=sizes_rule,
    batching=gradients_by_images,
    allocates=True,
)
def conv2d_backprop_input(
    input_sizes: ShapeLike, filter: TensorLike, out_backprop: TensorLike, strides: Sequence[int], padding: str,
    explicit_paddings: Sequence[int] = (), data_format: str = "NHWC", dilations: Sequence[int] = (1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Computes the gradient of a 2-D convolution by its input."""


@op(
    "Conv2DBackpropFilter",
    kernel=functools.partial(convolve_back_filter, "Conv2DBackpropFilter"),
    host=("filter_sizes",),
    shape=functools.partial(filter_sizes_rule, 4),
    batching=gradients_by_filters,
    allocates=True,
)
def conv2d_backprop_filter(
    input: TensorLike, filter_sizes: ShapeLike, out_backprop: TensorLike, strides: Sequence[int], padding: str,
    explicit_paddings: Sequence[int] = (), data_format: str = "NHWC", dilations: Sequence[int] = (1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Computes the gradient of a 2-D convolution by its filters."""


declare_gradients(conv2_d, conv2d_backprop_input, conv2d_backprop_filter)
declare_exports(None, conv2d_backprop_input, conv2d_backprop_filter)


def conv2d(
    input: TensorLike, filters: TensorLike, strides: Ints, padding: Padding,
    data_format: str = "NHWC", dilations: Ints | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Convolves images with filters: at each position, sums the products of a window and each filter.

    Args:
        input: a tensor of shape `[..., height, width, in_channels]` for "NHWC", with any number of batch dimensions;
            `[batch, in_channels, height, width]` for "NCHW". Half, bfloat16, float32, float64 or int32.
        filters: a tensor of shape `[height, width, in_channels / groups, out_channels]`, the dtype of `input`.
        strides: an int, or a list for the spatial dimensions or for all.
        padding: "SAME" (windows at every stride), "VALID" (windows inside the image), or for each dimension a pair of
            the padding before and after.
        data_format: "NHWC" or "NCHW"; "NHWC" by default.
        dilations: the steps between the elements of a window; like `strides`.

    Returns:
        `[..., new_height, new_width, out_channels]`.

    Raises:
        ValueError: a list has the wrong length.
        InvalidArgumentError: the shapes do not go together, or an option is not one.

    Example:
        >>> image = tf.ones([1, 3, 3, 1])
        >>> tf.nn.conv2d(image, tf.ones([2, 2, 1, 1]), 1, "VALID")[0, :, :, 0].numpy().tolist()
        [[4.0, 4.0], [4.0, 4.0]]
    """
    last = data_format == "NHWC"
    steps = per_dimension(strides, 2, last, "strides")
    rates = (1, 1, 1, 1) if dilations is None else per_dimension(dilations, 2, last, "dilations")
    kind, explicit = padding_attrs(padding)
    if (type(input) is EagerTensor and len(input.value.shape) == 4) or (rank_of(input) or 0) <= 4:
        return conv2_d(input, filters, steps, kind, explicit, data_format, rates, name)
    return with_one_batch(lambda x: conv2_d(x, filters, steps, kind, explicit, data_format, rates, name), input, 3)


def with_one_batch(function: Callable[[Any], Any], x: Any, inner: int) -> Any:
    """Calls a function of images with one batch dimension on images with any number of them."""
    x = convert(x)
    shape = tuple(shape_of(x))
    batch = shape[:-inner]
    y = function(reshape(x, (math.prod(batch), *shape[-inner:])))
    return reshape(y, (*batch, *shape_of(y)[1:]))


# ---- three dimensions ------------------------------------------------------------------------------------------------


# Computes a 3-D convolution.
_conv3_d = defined_op(
    "Conv3D",
    without_explicit(convolve, "Conv3D", behind=2),
    shape=without_explicit(conv_rule, behind=2),
    batching=convolutions,
)


_BACK_NAMES = "Conv3DBackpropInputV2", "Conv3DBackpropFilterV2"
conv3d_backprop_input, conv3d_backprop_filter = declare_backward(
    _conv3_d,
    _BACK_NAMES,
    (
        without_explicit(convolve_back_input, _BACK_NAMES[0], behind=2),
        without_explicit(convolve_back_filter, _BACK_NAMES[1], behind=2),
    ),
    (sizes_rule, functools.partial(filter_sizes_rule, 5)),
)


def conv3d(
    input: TensorLike, filters: TensorLike, strides: Sequence[int], padding: str, data_format: str = "NDHWC",
    dilations: Sequence[int] | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Convolves volumes with filters: at each position, sums the products of a window and each filter.

    Args:
        input: a tensor of shape `[..., depth, height, width, in_channels]` for "NDHWC", with any number of batch
            dimensions; `[batch, in_channels, depth, height, width]` for "NCDHW".
        filters: a tensor of shape `[depth, height, width, in_channels / groups, out_channels]`, the dtype of `input`.
        strides: a list of 5 ints. The entries for the batch and the channels are 1.
        padding: "SAME" or "VALID".
        data_format: "NDHWC" or "NCDHW"; "NDHWC" by default.
        dilations: the steps between the elements of a window; like `strides`.

    Returns:
        `[..., new_depth, new_height, new_width, out_channels]`.

    Raises:
        InvalidArgumentError: the shapes do not go together, or an option is not one.

    Example:
        >>> tf.nn.conv3d(tf.ones([1, 2, 2, 2, 1]), tf.ones([2, 2, 2, 1, 1]), [1] * 5, "VALID").numpy().item()
        8.0
    """
    text_only(padding)
    rates = (1, 1, 1, 1, 1) if dilations is None else dilations
    if (rank_of(input) or 0) <= 5:
        return _conv3_d(input, filters, strides, padding, data_format, rates, name)
    return with_one_batch(lambda x: _conv3_d(x, filters, strides, padding, data_format, rates, name), input, 4)


# ---- one dimension, and any ------------------------------------------------------------------------------------------


def conv1d(
    input: TensorLike, filters: TensorLike, stride: Ints, padding: str, data_format: str = "NWC",
    dilations: Ints | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Convolves sequences with filters: `conv2d` with a height of 1.

    Args:
        input: a tensor of shape `[..., width, in_channels]` for "NWC"; `[batch, in_channels, width]` for "NCW".
        filters: a tensor of shape `[width, in_channels / groups, out_channels]`, the dtype of `input`.
        stride: an int, or a list of one or three.
        padding: "SAME" or "VALID".
        data_format: "NWC" or "NCW"; "NWC" by default.
        dilations: the step between the elements of a window; like `stride`.

    Returns:
        `[..., new_width, out_channels]`.

    Raises:
        ValueError: the data format is neither.
        InvalidArgumentError: the shapes do not go together.

    Example:
        >>> tf.nn.conv1d(tf.ones([1, 3, 1]), tf.ones([2, 1, 1]), 1, "VALID")[0, :, 0].numpy().tolist()
        [2.0, 2.0]
    """
    last = channels_last_of_sequences("NWC" if data_format is None else data_format)
    spatial_format, height = ("NHWC", -3) if last else ("NCHW", -2)
    text_only(padding)
    steps = flat(per_dimension(stride, 1, last, "stride"), last)
    rates = flat(per_dimension(dilations, 1, last, "dilations"), last)
    x, kernels = expand_dims(input, height), expand_dims(filters, 0)
    if (rank_of(x) or 0) <= 4:
        y = conv2_d(x, kernels, steps, padding, (), spatial_format, rates, name)
    else:
        y = with_one_batch(lambda x: conv2_d(x, kernels, steps, padding, (), spatial_format, rates, name), x, 3)
    return squeeze(y, (height,))


def convolution(
    input: TensorLike, filters: TensorLike, strides: Ints | None = None, padding: str = "VALID",
    data_format: str | None = None, dilations: Ints | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Convolves inputs of one, two or three spatial dimensions with filters.

    Args:
        input: a tensor of shape `[..., spatial..., in_channels]`, or `[batch, in_channels, spatial...]` for a data
            format "NC...".
        filters: a tensor of shape `[spatial..., in_channels / groups, out_channels]`, the dtype of `input`.
        strides: an int, or a list for the spatial dimensions.
        padding: "SAME" or "VALID"; "VALID" by default.
        data_format: "NWC", "NHWC", "NDHWC" (the default), or "NCW", "NCHW", "NCDHW".
        dilations: the steps between the elements of a window; like `strides`.

    Returns:
        `[..., new spatial..., out_channels]`.

    Raises:
        ValueError: the ranks do not go together, or both strides and dilations exceed 1.
        InvalidArgumentError: the shapes do not go together, or the padding is neither.

    Example:
        >>> tf.nn.convolution(tf.ones([1, 4, 1]), tf.ones([2, 1, 1]), dilations=2)[0, :, 0].numpy().tolist()
        [2.0, 2.0]
    """
    kernels, x = convert(filters), convert(input)
    if not kernels.shape.rank and not x.shape.rank:
        raise ValueError("One of `input.shape.rank` or `filters.shape.rank` must be static.")
    dims = (kernels.shape.rank or x.shape.rank) - 2
    if not 1 <= dims <= 3:
        raise ValueError(f"`num_spatial_dims` must be 1, 2, or 3. Received: num_spatial_dims={dims}.")
    last = data_format is None or not data_format.startswith("NC")
    steps = per_dimension(strides, dims, last, "strides")
    rates = per_dimension(dilations, dims, last, "dilations")
    if any(r != 1 for r in rates):
        _check_dilated(x.shape, kernels.shape, dims, last, steps, rates, padding)
        if data_format not in (None, *FORMATS[dims]):
            a, b = FORMATS[dims]
            raise ValueError(f"`data_format` must be '{a}' or '{b}'. Received: data_format={data_format}")
        padding = "SAME" if padding == "SAME" else "VALID"  # of a tensor its text
    text_only(padding)
    spatial_format = FORMATS[dims][0] if data_format is None else data_format
    function: Any = (conv1d, conv2d, conv3d)[dims - 1]
    return function(x, kernels, steps, padding, data_format=spatial_format, dilations=rates, name=name)


def _check_dilated(
    x: TensorShape,
    filters: TensorShape,
    dims: int,
    last: bool,
    steps: Sequence[int],
    rates: Sequence[int],
    padding: Padding,
) -> None:
    """Raises for arguments that an op with gaps refuses and one without them takes."""
    if x.rank is not None and x.rank < dims + 2:
        raise ValueError(f"`input.shape.rank` must be at least {dims + 2}. Received: input.shape={x} of rank {x.rank}")
    channels = None if x.rank is None else x[-1 if last else -1 - dims]
    depth = None if filters.rank is None else filters[dims]
    if depth == 0 and channels is not None:
        raise ZeroDivisionError("integer modulo by zero")
    if channels is not None and depth is not None and channels % depth:
        raise ValueError(
            f"The number of input channels is not divisible by that of the filters: {channels} and {depth}. "
            f"Received: input.shape={x}, filters.shape={filters}"
        )
    if min(rates) < 1:
        raise ValueError(f"all values of `dilation_rate` must be positive. Received: dilation_rate={rates}")
    if any(s > 1 for s in steps) and any(r > 1 for r in rates):
        raise ValueError(
            "`strides > 1` not supported in conjunction with `dilation_rate > 1`. "
            f"Received: strides={steps} and dilation_rate={rates}"
        )
    if padding not in ("SAME", "VALID"):
        raise ValueError(f"`padding` must be one of 'SAME' or 'VALID'. Received: padding={padding}")
