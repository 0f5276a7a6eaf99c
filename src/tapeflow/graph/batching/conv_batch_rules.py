"""Convolutions of all slices of a batch at once.

Where all slices have the same filters, their images are one long batch. Where each has its own, the slices stand side
by side as groups of channels, which ATen convolves apart in one call; so do the gradients of filters, of which each
slice has its own. What is copied for that is laid out with the channels first, in which ATen's grouped kernels are
fastest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.ops.batching import Batch, NoRule, Rule, Slices, times, vector
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import ops
from tapeflow.core.values.symbolic import SymbolicTensor


class Channels:
    """Where the channels of a convolution are, along which slices stand side by side.

    Attributes:
        of_images: their dimension in images.
        of_filters: that of filters, each of which has slices of its own.
        images, filters: the order in which ATen's kernels take their dimensions.
    """

    def __init__(self, op: Any, attrs: Sequence[Any]) -> None:
        data_format = next(a for a in attrs if isinstance(a, str) and a.startswith("N"))
        rank = len(data_format)
        outer, inner = rank - 1, rank - 2
        if op.name.startswith("Depthwise"):
            outer, inner = inner, outer
        self.of_images, self.of_filters = data_format.index("C"), outer
        self.images = [0, self.of_images, *(i for i in range(1, rank) if i != self.of_images)]
        self.filters = [outer, inner, *range(rank - 2)]


def side_by_side(batch: Batch, x: Slices, axis: int, order: Sequence[int]) -> Any:
    """The slices along one of their dimensions, one after the other; their memory has the dimensions in this order."""
    dims = batch.dims(x)
    moved = ops.Transpose(batch.stack(x), tuple([p for d in order for p in ((0, d + 1) if d == axis else (d + 1,))]))
    joined = ops.Reshape(moved, tuple([times(batch.count, dims[d]) if d == axis else dims[d] for d in order]))
    return ops.Transpose(joined, tuple([order.index(d) for d in range(len(order))]))


def _times_count(batch: Batch, dims: Sequence[Any], axis: int) -> tuple[Any, ...]:
    """The shape of slices of this shape that stand side by side."""
    return (*dims[:axis], times(batch.count, dims[axis]), *dims[axis + 1 :])


def apart(batch: Batch, value: Any, dims: Sequence[Any], axis: int) -> Any:
    """The batch of slices of this shape that stand side by side."""
    rank = len(dims)
    made = ops.Reshape(value, (*dims[:axis], batch.count, *dims[axis:]))
    return ops.Transpose(made, (axis, *[i for i in range(rank + 1) if i != axis]))


def _of_some(rule: Rule, batch: Batch, *args: Any) -> Any:
    """What a rule gives that needs at least one slice: without any there would be no channels."""
    if isinstance(batch.count, int):
        if not batch.count:
            raise NoRule
        return rule(batch, *args)
    missing = ops.Maximum(ops.Sub(convert(1), batch.count), convert(0))

    def lengthened(x: Any) -> Any:
        if not isinstance(x, Slices) or not x.stacked:
            return x
        zeros = ops.BroadcastTo(convert(0, x.slice.dtype), (missing, *batch.dims(x)))
        return x._replace(value=ops.ConcatV2([x.value, zeros], 0))

    made = rule(batch.of_count(ops.Maximum(batch.count, convert(1))), *map(lengthened, args))
    rank = batch.outputs[0].shape.rank
    if rank is None:
        raise NoRule
    return ops.Slice(made, (0,) * (rank + 1), (batch.count, *[-1] * rank))


def _shares_images(op: Any, images: Slices, channels: int, inner: Any) -> bool:
    """Whether all slices convolve the same images, in one group: then only their filters stand side by side.

    Args:
        inner: the input channels of the filters.
    """
    return not images.stacked and op.name.startswith("Conv") and images.slice.shape[channels] == inner is not None


def _convolved(batch: Batch, x: Slices, filters: Slices, *attrs: Any) -> Any:
    if not filters.stacked:
        return batch.unflat(batch.run(batch.flat(x), filters.value, *attrs), batch.outputs[0], x)
    return _of_some(_convolved_apart, batch, x, filters, *attrs)


def _convolved_apart(batch: Batch, x: Slices, filters: Slices, *attrs: Any) -> Any:
    at = Channels(batch.op, attrs)
    shared = _shares_images(batch.op, x, at.of_images, filters.slice.shape[-2])
    images = x.value if shared else side_by_side(batch, x, at.of_images, at.images)
    made = batch.run(images, side_by_side(batch, filters, at.of_filters, at.filters), *attrs)
    dims = batch.outputs[0].shape.as_list()
    if None in dims:
        whole = ops.Shape(made)
        dims = [whole[i] if d is None else d for i, d in enumerate(dims)]
        if isinstance(dims[at.of_images], SymbolicTensor):
            raise NoRule
    return apart(batch, made, dims, at.of_images)


def _back_to_images(batch: Batch, sizes: Any, filters: Slices, dy: Slices, *attrs: Any) -> Any:
    dims, at = vector(sizes), Channels(batch.op, attrs)
    if len(dims) == dy.rank - 2:  # the spatial ones alone
        dims = [batch.dims(dy)[0], *dims]
        dims.insert(at.of_images, batch.dims(filters)[-2])
    if not filters.stacked:
        return batch.reshape(batch.run(_times_count(batch, dims, 0), filters.value, batch.flat(dy), *attrs), dims)
    return _of_some(_back_to_images_apart, batch, dims, filters, dy, *attrs)


def _back_to_images_apart(batch: Batch, dims: Any, filters: Slices, dy: Slices, *attrs: Any) -> Any:
    at = Channels(batch.op, attrs)
    whole = _times_count(batch, dims, at.of_images)
    own = side_by_side(batch, filters, at.of_filters, at.filters)
    made = batch.run(whole, own, side_by_side(batch, dy, at.of_images, at.images), *attrs)
    return apart(batch, made, dims, at.of_images)


def _back_to_filters(batch: Batch, *args: Any) -> Any:
    return _of_some(_back_to_filters_apart, batch, *args)


def _back_to_filters_apart(batch: Batch, x: Slices, sizes: Any, dy: Slices, *attrs: Any) -> Any:
    dims, at = vector(sizes), Channels(batch.op, attrs)
    shared = _shares_images(batch.op, x, at.of_images, dims[-2])
    images = x.value if shared else side_by_side(batch, x, at.of_images, at.images)
    beside = side_by_side(batch, dy, at.of_images, at.images)
    made = batch.run(images, _times_count(batch, dims, at.of_filters), beside, *attrs)
    return apart(batch, made, dims, at.of_filters)


CONVOLUTIONS: dict[str, Rule] = {
    "Conv2D": _convolved, "Conv3D": _convolved, "DepthwiseConv2dNative": _convolved,
    "Conv2DBackpropInput": _back_to_images, "Conv3DBackpropInputV2": _back_to_images,
    "DepthwiseConv2dNativeBackpropInput": _back_to_images,
    "Conv2DBackpropFilter": _back_to_filters, "Conv3DBackpropFilterV2": _back_to_filters,
    "DepthwiseConv2dNativeBackpropFilter": _back_to_filters,
}  # fmt: skip
