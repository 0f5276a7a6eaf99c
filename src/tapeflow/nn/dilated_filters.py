"""Dilated convolutions as plain ones, by filters with zeros in between: for TensorFlow's kernels.

TensorFlow's backward kernels of depthwise convolutions ignore the dilations, and its forward kernel refuses them on
CPUs without oneDNN. The backward kernels of other convolutions refuse them for float64. TensorFlow's Python functions
move elements from space to batch instead, if the strides allow it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.array.concat_and_split import stack
from tapeflow.array.padding import pad
from tapeflow.array.reshapes import expand_dims, reshape
from tapeflow.core.autodiff.gradients import shape_of
from tapeflow.core.types.dtypes import bfloat16, float32
from tapeflow.core.values.tensor import Tensor
from tapeflow.nn.windows import channels_last


def declare_exports(forward: Any, back_input: Any, back_filter: Any, always: bool = False) -> None:
    """Declares how a convolution and its two backward ops are exported if they have dilations.

    Args:
        forward: the convolution, or None if TensorFlow's kernel takes any dilations.
        back_input, back_filter: the backward ops.
        always: whether no kernel of TensorFlow takes dilations; by default those for float32 and bfloat16 do.
    """

    def is_taken(attrs: Sequence[Any], tensor: Tensor) -> bool:
        """Tests whether TensorFlow has a kernel for these dilations."""
        return max(attrs[-1]) == 1 or (not always and tensor.dtype in (float32, bfloat16))

    if forward is not None:

        @forward.decomposition
        def convolved(x: Tensor, filters: Tensor, *attrs: Any) -> Any:
            return (
                None
                if is_taken(attrs, x)
                else forward(x, _spread_filters(filters, _spatial_rates(attrs)), *_without_rates(attrs))
            )

    @back_input.decomposition
    def of_input(sizes: tuple[int, ...], filters: Tensor, dy: Tensor, *attrs: Any) -> Any:
        if is_taken(attrs, filters):
            return None
        return back_input(sizes, _spread_filters(filters, _spatial_rates(attrs)), dy, *_without_rates(attrs))

    @back_filter.decomposition
    def of_filters(x: Tensor, sizes: tuple[int, ...], dy: Tensor, *attrs: Any) -> Any:
        if is_taken(attrs, x):
            return None
        rates = _spatial_rates(attrs)
        dims = [sizes[i] for i in range(len(rates) + 2)] if isinstance(sizes, Tensor) else list(sizes)
        wide = [(n - 1) * r + 1 for n, r in zip(dims, rates, strict=False)] + dims[len(rates) :]
        gradient = back_filter(x, stack(wide) if isinstance(sizes, Tensor) else wide, dy, *_without_rates(attrs))
        return gradient[tuple([slice(None, None, r) for r in rates])]


def _spatial_rates(attrs: Sequence[Any]) -> list[int]:
    """Returns the dilations of the spatial dimensions."""
    *_, data_format, dilations = attrs
    return list(dilations[1:-1] if channels_last(data_format) else dilations[2:])


def _without_rates(attrs: Sequence[Any]) -> tuple[Any, ...]:
    """Returns the attrs without dilations."""
    return (*attrs[:-1], [1] * len(attrs[-1]))


def _spread_filters(filters: Any, rates: Sequence[int]) -> Any:
    """Inserts `rate - 1` zeros between the elements of filters along each dimension of the window."""
    for axis, rate in enumerate(rates):
        dims = list(shape_of(filters))
        wide = expand_dims(filters, axis + 1)
        paddings = [[0, rate - 1 if i == axis + 1 else 0] for i in range(len(dims) + 1)]
        filters = reshape(pad(wide, paddings), [*dims[:axis], dims[axis] * rate, *dims[axis + 1 :]])
        filters = filters[(*[slice(None)] * axis, slice(0, (dims[axis] - 1) * rate + 1))]
    return filters
