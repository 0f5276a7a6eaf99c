"""Windows with gaps, computed by windows without gaps on images of every n-th point."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.array.blocks import batch_to_space, space_to_batch
from tapeflow.array.properties import shape_op
from tapeflow.core.ops.convert import convert, host_value
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import Tensor
from tapeflow.nn.avg_pooling import avg_pool1d, avg_pool2d, avg_pool3d
from tapeflow.nn.max_pooling import max_pool1d, max_pool2d, max_pool3d
from tapeflow.nn.windows import FORMATS, Ints, per_dimension, text_only


def with_space_to_batch(
    input: TensorLike,
    dilation_rate: Ints,
    padding: str,
    op: Callable[..., Any],
    filter_shape: Ints | None = None,
    spatial_dims: Ints | None = None,
    data_format: str | None = None,
) -> Tensor:
    """Runs an op of windows without gaps as one with gaps, by cutting the images up.

    Args:
        input: a tensor of shape `[batch, spatial..., channels]`, or `[batch, channels, spatial...]` for a data format
            "NC...".
        dilation_rate: ints, the steps between the elements of a window in each of `spatial_dims`.
        padding: "SAME" or "VALID".
        op: a function `op(input, num_spatial_dims, padding)`. It is called with "VALID" if a rate exceeds 1.
        filter_shape: the window's size in `spatial_dims`; needed for "SAME".
        spatial_dims: the dimensions to dilate; by default the first spatial ones.
        data_format: "N...C" for channels last, or "NC..." for channels second; None means channels last.

    Returns:
        The op's results, joined again.

    Raises:
        ValueError: a rate is not positive, or the arguments do not go together.

    Example:
        >>> window = lambda x, dims, padding: tf.nn.max_pool1d(x, 2, 1, padding)
        >>> x = tf.constant([[[1.0], [2.0], [3.0], [4.0]]])
        >>> tf.nn.with_space_to_batch(x, [2], "VALID", window)[0, :, 0].numpy().tolist()
        [3.0, 4.0]
    """
    x = convert(input)
    rates = host_value(dilation_rate)
    if not isinstance(rates, tuple):
        raise ValueError(f"`dilation_rate.shape.rank` must be 1. Received: dilation_rate={dilation_rate} of rank 0")
    if any(r < 1 for r in rates):
        raise ValueError(f"all values of `dilation_rate` must be positive. Received: dilation_rate={list(rates)}")
    first = 2 if data_format is not None and data_format.startswith("NC") else 1
    dims = tuple(range(first, first + len(rates))) if spatial_dims is None else tuple(sorted(host_value(spatial_dims)))
    if len(dims) != len(rates) or any(d < 1 for d in dims):
        raise ValueError(
            f"`spatial_dims` must be as many positive dimensions as there are rates. Received: {list(dims)}"
        )
    if all(r == 1 for r in rates):
        return op(x, len(dims), padding)
    base = _base_paddings(padding, filter_shape, rates)
    last = dims[-1]
    shape: list[Any] = [None] * (last + 1) if x.shape.rank is None else x.shape.as_list()
    # Everything up to the last dilated dimension takes part, with a rate of 1 if it is not dilated.
    block, paddings, crops = [], [], []
    for i in range(1, last + 1):
        rate, (before, after) = (rates[dims.index(i)], base[dims.index(i)]) if i in dims else (1, (0, 0))
        more = -((shape_op(x)[i] if shape[i] is None else shape[i]) + before + after) % rate
        block.append(rate)
        paddings.append((before, after + more))
        crops.append((0, more))
    result = op(space_to_batch(x, block, paddings), len(dims), "VALID")
    return batch_to_space(result, block, crops)


def _base_paddings(padding: str, filter_shape: Any, rates: tuple[int, ...]) -> list[tuple[int, int]]:
    """Returns the paddings before and after each dimension."""
    if padding == "VALID":
        return [(0, 0)] * len(rates)
    if padding != "SAME":
        raise ValueError(f"`padding` must be one of 'SAME' or 'VALID'. Received: padding={padding}")
    if filter_shape is None:
        raise ValueError("`filter_shape` must be specified for `padding='SAME'`.")
    sizes = host_value(filter_shape)[: len(rates)]
    total = [(k - 1) * r for k, r in zip(sizes, rates, strict=True)]
    return [(t // 2, t - t // 2) for t in total]


_POOLS = {"MAX": (max_pool1d, max_pool2d, max_pool3d), "AVG": (avg_pool1d, avg_pool2d, avg_pool3d)}


def pool(
    input: TensorLike,
    window_shape: Ints,
    pooling_type: str,
    strides: Ints | None = None,
    padding: str = "VALID",
    data_format: str | None = None,
    dilations: Ints | None = None,
    name: str | None = None,
) -> Tensor:
    """Computes the maximum or the mean of each window, in one to three spatial dimensions, with optional dilation.

    Args:
        input: a tensor of shape `[batch, spatial..., channels]`, or `[batch, channels, spatial...]` for a data format
            "NC...".
        window_shape: a list of ints, the size of the window in each spatial dimension.
        pooling_type: "MAX" or "AVG".
        strides: the steps from one window to the next; by default 1.
        padding: "SAME" or "VALID"; "VALID" by default.
        data_format: "N...C" or None for channels last, or "NC..." for channels second.
        dilations: the steps between the elements of a window; by default 1.

    Returns:
        `[batch, new spatial..., channels]`.

    Raises:
        ValueError: the arguments do not go together, or a stride exceeds the window.
        TypeError: the padding is no string.
        InvalidArgumentError: a window does not fit.

    Example:
        >>> tf.nn.pool(tf.constant([[[1.0], [2.0], [3.0]]]), [2], "AVG")[0, :, 0].numpy().tolist()
        [1.5, 2.5]
    """
    if isinstance(window_shape, SymbolicTensor):
        raise TypeError(f"`window_shape` must be ints while a graph is built, not {window_shape}")
    window = host_value(window_shape)
    window = window if isinstance(window, tuple) else (window,)
    dims = len(window)
    if not 1 <= dims <= 3:
        raise ValueError(f"`len(window_shape)` must be 1, 2, or 3. Received: window_shape={window} of length {dims}")
    x = convert(input)
    if x.shape.rank not in (dims + 2, None):
        raise ValueError(f"Shape {x.shape} must have rank {dims + 2}")
    if pooling_type not in _POOLS:
        raise ValueError(f"{dims}-D {pooling_type} pooling is not supported.")
    text_only(padding)
    last = data_format is None or not data_format.startswith("NC")
    steps = per_dimension(strides, dims, last, "strides")
    rates = host_value(dilations) if dilations is not None else (1,) * dims
    rates = rates if isinstance(rates, tuple) else (rates,) * dims
    dilated = any(r > 1 for r in rates)
    if dilated and padding == "SAME":
        raise ValueError(
            "pooling with 'SAME' padding is not implemented for `dilation_rate` > 1. "
            f"Received: padding={padding} and dilation_rate={list(rates)}"
        )
    if any(s > k for s, k in zip(steps[1:-1] if last else steps[2:], window, strict=True)):
        raise ValueError(
            "`strides` > `window_shape` not supported due to inconsistency between CPU and GPU implementations. "
            f"Received: strides={strides} and window_shape={list(window)}"
        )
    if dilated and any(s > 1 for s in steps):
        raise ValueError(
            "`strides > 1` not supported in conjunction with `dilation_rate > 1`. "
            f"Received: strides={strides} and dilation_rate={list(rates)}"
        )
    function, spatial_format = _POOLS[pooling_type][dims - 1], FORMATS[dims][0 if last else 1]

    def without_gaps(x: Tensor, _: int, padding: str) -> Any:
        return function(x, window, steps, padding, spatial_format, name)

    return with_space_to_batch(x, rates, padding, without_gaps, window, data_format=data_format)
