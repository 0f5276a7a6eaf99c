"""Batching rules of ops on images.

An op whose first dimension is already a batch joins the batches of all slices to one long batch
(`joined_batches`). If each slice has its own filters (or scales), the slices become groups of channels instead, which
ATen convolves separately in one call. Gradients with respect to filters differ between slices, too, and use groups.
The copies for groups have the channels first, the fastest layout for ATen's grouped kernels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.array.concat_and_split import concat_v2
from tapeflow.array.properties import shape_op
from tapeflow.array.reshapes import broadcast_to, reshape, transpose_op
from tapeflow.array.slicing import slice as slice_op
from tapeflow.core.ops.batch_rules import Batch, NoRule, Rule, Slices, times, vector
from tapeflow.core.ops.convert import convert
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.math.arithmetic import subtract
from tapeflow.math.extrema import maximum

if TYPE_CHECKING:
    from tapeflow.core.ops.op import RegisteredOp
    from tapeflow.core.values.tensor import Tensor


def joined_gradients(batch: Batch, shape: tuple[int, ...], dy: Slices, *attrs: Any) -> Any:
    """Computes a gradient by a batch from the shape of that batch alone, as average pooling's is."""
    first, *rest = vector(shape)
    gradients = batch.run((times(batch.count, first), *rest), batch.flat(dy), *attrs)
    return batch.reshape(gradients, [first, *rest])


# ---- slices side by side ---------------------------------------------------------------------------------------------


class Channels:
    """The dimensions of channels, along which slices stand side by side.

    Attributes:
        of_images: the dimension of the channels in images.
        of_filters: the dimension of filters that grows with the number of slices.
        images, filters: the order of dimensions in ATen's kernels.
    """

    def __init__(self, op: RegisteredOp, attrs: Sequence[Any]) -> None:
        data_format = next(a for a in attrs if isinstance(a, str) and a.startswith("N"))
        rank = len(data_format)
        outer, inner = rank - 1, rank - 2
        if op.name.startswith("Depthwise"):
            outer, inner = inner, outer
        self.of_images, self.of_filters = data_format.index("C"), outer
        self.images = [0, self.of_images, *(i for i in range(1, rank) if i != self.of_images)]
        self.filters = [outer, inner, *range(rank - 2)]


def side_by_side(batch: Batch, x: Slices, axis: int, order: Sequence[int]) -> Any:
    """Joins the slices along one of their dimensions.

    Args:
        batch: the batch.
        x: the slices.
        axis: the dimension.
        order: the memory order of a slice's dimensions in the result.
    """
    dims = batch.dims(x)
    moved = transpose_op(batch.stack(x), tuple([p for d in order for p in ((0, d + 1) if d == axis else (d + 1,))]))
    joined = reshape(moved, tuple([times(batch.count, dims[d]) if d == axis else dims[d] for d in order]))
    return transpose_op(joined, tuple([order.index(d) for d in range(len(order))]))


def _times_count(batch: Batch, dims: Sequence[Any], axis: int) -> tuple[Any, ...]:
    """Returns the shape of slices of shape `dims` that stand side by side along `axis`."""
    return (*dims[:axis], times(batch.count, dims[axis]), *dims[axis + 1 :])


def apart(batch: Batch, value: Tensor, dims: Sequence[Any], axis: int) -> Any:
    """Returns the batch of slices of shape `dims` that stand side by side along `axis`."""
    rank = len(dims)
    split = reshape(value, (*dims[:axis], batch.count, *dims[axis:]))
    return transpose_op(split, (axis, *[i for i in range(rank + 1) if i != axis]))


def _at_least_one(rule: Rule, batch: Batch, *args: Any) -> Any:
    """Applies a rule that needs at least one slice: without any there would be no channels."""
    if isinstance(batch.count, int):
        if not batch.count:
            raise NoRule
        return rule(batch, *args)
    missing = maximum(subtract(convert(1), batch.count), convert(0))

    def lengthened(x: Any) -> Any:
        if not isinstance(x, Slices) or not x.stacked:
            return x
        zeros = broadcast_to(convert(0, x.slice.dtype), (missing, *batch.dims(x)))
        return x._replace(value=concat_v2([x.value, zeros], 0))

    results = rule(batch.of_count(maximum(batch.count, convert(1))), *map(lengthened, args))
    rank = batch.outputs[0].shape.rank
    if rank is None:
        raise NoRule
    return slice_op(results, (0,) * (rank + 1), (batch.count, *[-1] * rank))


# ---- convolutions ----------------------------------------------------------------------------------------------------


def _shares_images(op: RegisteredOp, images: Slices, channels: int, inner: int) -> bool:
    """Tells whether all slices convolve the same images, in one group: then only their filters stand side by side.

    Args:
        op: the convolution.
        images: its images.
        channels: their dimension of channels.
        inner: the input channels of the filters.
    """
    return not images.stacked and op.name.startswith("Conv") and images.slice.shape[channels] == inner is not None


def convolutions(batch: Batch, x: Slices, filters: Slices, *attrs: Any) -> Any:
    """Computes the convolutions of all slices."""
    if not filters.stacked:
        return batch.unflat(batch.run(batch.flat(x), filters.value, *attrs), batch.outputs[0], x)
    return _at_least_one(_convolutions_by_own_filters, batch, x, filters, *attrs)


def _convolutions_by_own_filters(batch: Batch, x: Slices, filters: Slices, *attrs: Any) -> Any:
    channels = Channels(batch.op, attrs)
    shared = _shares_images(batch.op, x, channels.of_images, filters.slice.shape[-2])
    images = x.value if shared else side_by_side(batch, x, channels.of_images, channels.images)
    outputs = batch.run(images, side_by_side(batch, filters, channels.of_filters, channels.filters), *attrs)
    dims = batch.outputs[0].shape.as_list()
    if None in dims:
        whole = shape_op(outputs)
        dims = [whole[i] if d is None else d for i, d in enumerate(dims)]
        if isinstance(dims[channels.of_images], SymbolicTensor):
            raise NoRule
    return apart(batch, outputs, dims, channels.of_images)


def gradients_by_images(batch: Batch, sizes: Slices | tuple[int, ...], filters: Slices, dy: Slices, *attrs: Any) -> Any:
    """Computes the gradients of the convolutions of all slices by their images."""
    dims, channels = vector(sizes), Channels(batch.op, attrs)
    if len(dims) == dy.rank - 2:  # the spatial ones alone
        dims = [batch.dims(dy)[0], *dims]
        dims.insert(channels.of_images, batch.dims(filters)[-2])
    if not filters.stacked:
        return batch.reshape(batch.run(_times_count(batch, dims, 0), filters.value, batch.flat(dy), *attrs), dims)
    return _at_least_one(_gradients_by_own_filters, batch, dims, filters, dy, *attrs)


def _gradients_by_own_filters(batch: Batch, dims: Sequence[Any], filters: Slices, dy: Slices, *attrs: Any) -> Any:
    channels = Channels(batch.op, attrs)
    sizes = _times_count(batch, dims, channels.of_images)
    joined_filters = side_by_side(batch, filters, channels.of_filters, channels.filters)
    gradients = batch.run(sizes, joined_filters, side_by_side(batch, dy, channels.of_images, channels.images), *attrs)
    return apart(batch, gradients, dims, channels.of_images)


def gradients_by_filters(batch: Batch, *args: Any) -> Any:
    """Computes the gradients of the convolutions of all slices by their filters."""
    return _at_least_one(_gradients_by_filters, batch, *args)


def sum_of_gradients_by_filters(batch: Batch, x: Slices, sizes: Any, dy: Slices, *attrs: Any) -> Any:
    """Computes the sum of the results of `gradients_by_filters` by one convolution of all images."""
    return batch.run(batch.flat(x), tuple(vector(sizes)), batch.flat(dy), *attrs)


def _gradients_by_filters(batch: Batch, x: Slices, sizes: tuple[int, ...], dy: Slices, *attrs: Any) -> Any:
    dims, channels = vector(sizes), Channels(batch.op, attrs)
    shared = _shares_images(batch.op, x, channels.of_images, dims[-2])
    images = x.value if shared else side_by_side(batch, x, channels.of_images, channels.images)
    joined_dy = side_by_side(batch, dy, channels.of_images, channels.images)
    gradients = batch.run(images, _times_count(batch, dims, channels.of_filters), joined_dy, *attrs)
    return apart(batch, gradients, dims, channels.of_filters)
