"""Convolutions with dilations as those without, by filters with zeros in between: for TensorFlow's kernels.

TensorFlow's backward kernels of depthwise convolutions leave the dilations out of account, and its forward one refuses
them on CPUs without oneDNN; so do the backward ones of the others for float64. Its Python functions move elements from
space to batch, where strides allow that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tapeflow as tf
from tapeflow.core.autodiff.gradients import shape_of
from tapeflow.core.types.dtypes import bfloat16, float32
from tapeflow.core.values.tensor import Tensor
from tapeflow.graph.graphdef.composed import composed
from tapeflow.nn.windows import channels_last


def declare_exports(forward: Any, back_input: Any, back_filter: Any, always: bool = False) -> None:
    """Declares how a convolution and its two backward ops are exported where they have dilations.

    Args:
        forward: None, where TensorFlow's kernel takes any dilations.
        always: whether TensorFlow's kernels can't have any; by default those for float32 and bfloat16 can.
    """

    def refused(tensor: int) -> Callable[..., bool]:
        return lambda *args: max(args[-1]) > 1 and (always or args[tensor].dtype not in (float32, bfloat16))

    if forward is not None:

        @composed(forward, refused(0))
        def convolved(x: Any, filters: Any, *attrs: Any) -> Any:
            return forward(x, _spread(filters, _rates(attrs)), *_without(attrs))

    @composed(back_input, refused(1))
    def of_input(sizes: Any, filters: Any, dy: Any, *attrs: Any) -> Any:
        return back_input(sizes, _spread(filters, _rates(attrs)), dy, *_without(attrs))

    @composed(back_filter, refused(0))
    def of_filters(x: Any, sizes: Any, dy: Any, *attrs: Any) -> Any:
        rates = _rates(attrs)
        dims = [sizes[i] for i in range(len(rates) + 2)] if isinstance(sizes, Tensor) else list(sizes)
        wide = [(n - 1) * r + 1 for n, r in zip(dims, rates, strict=False)] + dims[len(rates) :]
        found = back_filter(x, tf.stack(wide) if isinstance(sizes, Tensor) else wide, dy, *_without(attrs))
        return found[tuple([slice(None, None, r) for r in rates])]


def _rates(attrs: Sequence[Any]) -> list[int]:
    """The dilations of the spatial dimensions."""
    *_, data_format, dilations = attrs
    return list(dilations[1:-1] if channels_last(data_format) else dilations[2:])


def _without(attrs: Sequence[Any]) -> tuple[Any, ...]:
    """The attrs with no dilations."""
    return (*attrs[:-1], [1] * len(attrs[-1]))


def _spread(filters: Any, rates: Sequence[int]) -> Any:
    """Filters with `rate - 1` zeros between the elements of each dimension of the window."""
    for axis, rate in enumerate(rates):
        dims = list(shape_of(filters))
        wide = tf.expand_dims(filters, axis + 1)
        paddings = [[0, rate - 1 if i == axis + 1 else 0] for i in range(len(dims) + 1)]
        filters = tf.reshape(tf.pad(wide, paddings), [*dims[:axis], dims[axis] * rate, *dims[axis + 1 :]])
        filters = filters[(*[slice(None)] * axis, slice(0, (dims[axis] - 1) * rate + 1))]
    return filters
