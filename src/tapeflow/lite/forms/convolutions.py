"""TFLite forms of convolutions, pools and resizes. TFLite computes them for channels-last images."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core.types.dtypes import float32, int32
from tapeflow.lite.forms.elementwise import binary
from tapeflow.lite.forms.shapes import as_int32
from tapeflow.lite.program import LiteTensor
from tapeflow.lite.table import NoForm, form

if TYPE_CHECKING:
    from tapeflow.lite.lower import LoweredCall, Writer

_SAME, _VALID = 0, 1


def _channels_first(attrs: Mapping[str, Any]) -> bool:
    return str(attrs.get("data_format", "NHWC")).startswith("NC")


def _spatial_entries(attrs: Mapping[str, Any], name: str) -> list[int]:
    """Returns the entries of an attr for the spatial dimensions."""
    values = attrs.get(name) or [1] * 4
    return [int(v) for v in (values[2:] if _channels_first(attrs) else values[1:-1])]


def _with_channels_last(w: Writer, call: LoweredCall, x: LiteTensor, compute: Callable[..., LiteTensor]) -> LiteTensor:
    """Adds the operators of `compute(x, shape)`, with transposes around them if the channels come first."""
    rank, shape = x.rank, call.shape
    if not _channels_first(call.attrs):
        return compute(x, shape)
    last = [0, *range(2, rank), 1]
    y = compute(w.transpose(x, last), [shape[i] for i in last])
    return w.transpose(y, [0, rank - 1, *range(1, rank - 1)])


def _pad_images(w: Writer, attrs: Any, x: LiteTensor, value: LiteTensor | float = 0.0) -> tuple[LiteTensor, int]:
    """Returns the images with explicit padding, and the padding of the operator."""
    padding = attrs["padding"]
    padding = padding.decode() if isinstance(padding, bytes) else padding
    if padding != "EXPLICIT":
        return x, _SAME if padding == "SAME" else _VALID
    edges = np.asarray(attrs["explicit_paddings"], np.int32).reshape(-1, 2)
    if _channels_first(attrs):
        edges = edges[[0, *range(2, len(edges)), 1]]
    shape = [None if d is None else d + int(a + b) for d, (a, b) in zip(x.shape, edges, strict=True)]
    inputs = [x, w.constant(edges)]
    if value:
        return w.add("PADV2", [*inputs, w.constant(value, x.dtype)], shape), _VALID
    return w.add("PAD", inputs, shape), _VALID


def _zero_bias(w: Writer, count: int | None, like: LiteTensor) -> LiteTensor:
    if count is None:
        raise NoForm("the number of filters must be static")
    return w.constant(np.zeros(count, like.dtype.as_numpy_dtype))


@form("Conv2D", "DepthwiseConv2dNative")
def _lower_conv2d(w: Writer, call: LoweredCall, x: LiteTensor, filters: LiteTensor) -> LiteTensor:
    (rows, columns), (high, wide) = (_spatial_entries(call.attrs, name) for name in ("strides", "dilations"))
    options: dict[str, Any] = {"strideH": rows, "strideW": columns, "dilationHFactor": high, "dilationWFactor": wide}

    def compute(x: LiteTensor, shape: Sequence[int | None]) -> LiteTensor:
        x, options["padding"] = _pad_images(w, call.attrs, x)
        if call.operation.type == "Conv2D":
            weights = w.transpose(filters, [3, 0, 1, 2])
            return w.add("CONV_2D", [x, weights, _zero_bias(w, shape[-1], x)], shape, **options)
        weights = w.reshape(filters, [1, *filters.shape[:2], filters.shape[2] * filters.shape[3]])
        options["depthMultiplier"] = filters.shape[3]
        return w.add("DEPTHWISE_CONV_2D", [x, weights, _zero_bias(w, shape[-1], x)], shape, **options)

    return _with_channels_last(w, call, x, compute)


@form("Conv3D")
def _lower_conv3d(w: Any, call: Any, x: LiteTensor, filters: LiteTensor) -> LiteTensor:
    def compute(x: LiteTensor, shape: Any) -> LiteTensor:
        x, padding = _pad_images(w, call.attrs, x)
        inputs = [x, filters, _zero_bias(w, shape[-1], x)]
        return w.add("CONV_3D", inputs, shape, padding=padding, **_strides_3d(call.attrs))

    return _with_channels_last(w, call, x, compute)


def _strides_3d(attrs: Mapping[str, Any]) -> dict[str, int]:
    names = [f"stride{d}" for d in "DHW"] + [f"dilation{d}Factor" for d in "DHW"]
    strides, dilations = (_spatial_entries(attrs, name) for name in ("strides", "dilations"))
    return dict(zip(names, [*strides, *(dilations if len(dilations) == 3 else [1] * 3)], strict=True))


@form("Conv2DBackpropInput", "Conv3DBackpropInputV2")
def _transposed_conv(w: Writer, call: LoweredCall, sizes: LiteTensor, filters: LiteTensor, x: LiteTensor) -> LiteTensor:
    if _channels_first(call.attrs):
        raise NoForm("only the data format NHWC has a form")
    padding = call.attrs["padding"]
    if padding not in ("SAME", "VALID") or set(_spatial_entries(call.attrs, "dilations")) != {1}:
        raise NoForm("only the paddings SAME and VALID without dilation have a form")
    sizes = as_int32(w, sizes) if None in call.shape else w.constant(list(call.shape), int32)
    padding = _SAME if padding == "SAME" else _VALID
    if call.operation.type == "Conv3DBackpropInputV2":
        inputs = [sizes, filters, x, _zero_bias(w, call.shape[-1], x)]
        return w.add("CONV_3D_TRANSPOSE", inputs, call.shape, x.dtype, padding=padding, **_strides_3d(call.attrs))
    inputs = [sizes, w.transpose(filters, [2, 0, 1, 3]), x, _zero_bias(w, call.shape[-1], x)]
    rows, columns = _spatial_entries(call.attrs, "strides")
    return w.add("TRANSPOSE_CONV", inputs, call.shape, x.dtype, padding=padding, strideH=rows, strideW=columns)


@form("AvgPool", "MaxPool")
def _lower_pool(w: Writer, call: LoweredCall, x: LiteTensor) -> LiteTensor:
    window, steps = (_spatial_entries(call.attrs, name) for name in ("ksize", "strides"))

    def compute(x: LiteTensor, shape: LiteTensor) -> LiteTensor:
        x, padding = _pad_images(w, call.attrs, x, value=-np.inf)
        return _add_pool(w, f"{_POOLS[call.operation.type]}_POOL_2D", x, window, steps, padding, shape)

    return _with_channels_last(w, call, x, compute)


_POOLS = {"AvgPool": "AVERAGE", "MaxPool": "MAX", "AvgPool3D": "AVERAGE", "MaxPool3D": "MAX"}


def _add_pool(
    w: Any, code: str, x: LiteTensor, window: Sequence[int], steps: Sequence[int], padding: int, shape: Any
) -> LiteTensor:
    names = {"filterHeight": window[0], "filterWidth": window[1], "strideH": steps[0], "strideW": steps[1]}
    return w.add(code, [x], shape, padding=padding, **names)


@form("AvgPool3D", "MaxPool3D")
def _lower_pool3d(w: Any, call: LoweredCall, x: LiteTensor) -> LiteTensor:
    window, steps = (_spatial_entries(call.attrs, name) for name in ("ksize", "strides"))
    code = f"{_POOLS[call.operation.type]}_POOL_2D"

    def compute(x: LiteTensor, shape: Any) -> LiteTensor:
        if None in x.shape[1:]:
            raise NoForm("the images must have static sizes")
        _, depth, height, width, channels = x.shape
        padding = _pad_images(w, call.attrs, x)[1]
        frames = w.reshape(x, [None, height, width, channels])
        small = _add_pool(w, code, frames, window[1:], steps[1:], padding, [None, *shape[2:4], channels])
        columns = w.reshape(small, [shape[0], depth, shape[2] * shape[3], channels])
        pooled = [shape[0], shape[1], shape[2] * shape[3], channels]
        return w.reshape(_add_pool(w, code, columns, [window[0], 1], [steps[0], 1], padding, pooled), shape)

    return _with_channels_last(w, call, x, compute)


@form("ResizeBilinear", "ResizeNearestNeighbor")
def _lower_resize(w: Writer, call: LoweredCall, x: LiteTensor, size: LiteTensor) -> LiteTensor:
    if call.code == "RESIZE_BILINEAR":
        x = w.cast(x, float32)
    corners, centers = call.attrs["align_corners"], call.attrs["half_pixel_centers"]
    y = w.add(call.code, [x, as_int32(w, size)], call.shape, alignCorners=corners, halfPixelCenters=centers)
    return w.cast(y, call.dtype)


@form("NonMaxSuppressionV4", "NonMaxSuppressionV3", "NonMaxSuppressionV2")
def _lower_suppress(
    w: Any, call: LoweredCall, boxes: Any, scores: Any, limit: Any, overlap: Any, *least: Any
) -> list[LiteTensor]:
    least = least[0] if least else w.constant(-np.inf, scores.dtype)
    results = [([None], int32), ([], int32)]
    places, count = w.add_many("NON_MAX_SUPPRESSION_V4", [boxes, scores, limit, overlap, least], results)
    if call.operation.type == "NonMaxSuppressionV4":
        return [places, count]
    length = w.reshape(count, [1])
    return [w.add("SLICE", [places, w.constant([0], int32), length], [None])]


@form("NonMaxSuppressionV5")
def _soft_suppress(w: Writer, call: LoweredCall, *inputs: LiteTensor) -> list[LiteTensor]:
    boxes, scores, limit, overlap, least, sigma = inputs
    if sigma.value is None:
        raise NoForm("its soft_nms_sigma must be constant")
    if sigma.value > 0:  # then TensorFlow drops no box for its overlap, and the runtime does
        overlap = w.constant(1.0, overlap.dtype)
    results = [([None], int32), ([None], scores.dtype), ([], int32)]
    return w.add_many("NON_MAX_SUPPRESSION_V5", [boxes, scores, limit, overlap, least, sigma], results)


@form("AdjustContrastv2")
def _lower_contrast(w: Writer, call: LoweredCall, x: LiteTensor, factor: LiteTensor) -> LiteTensor:
    shape = [*x.shape[:-3], 1, 1, x.shape[-1]]
    mean = w.add("MEAN", [x, w.constant([x.rank - 3, x.rank - 2], int32)], shape, keepDims=True)
    return binary(w, "ADD", binary(w, "MUL", binary(w, "SUB", x, mean), factor), mean)
