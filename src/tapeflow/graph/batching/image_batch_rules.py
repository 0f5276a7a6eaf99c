"""Ops of batches (of images, of rows) for all slices of a batch at once: the batches of all slices are joined."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.ops.batching import Batch, NoRule, Rule, Slices, static, times, vector
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import ops
from tapeflow.graph.batching.conv_batch_rules import Channels, apart, side_by_side


def _of_images(batch: Batch, *args: Any) -> Any:
    """All tensors are of batches, all results too."""
    kinds = zip(batch.op.kinds, args, strict=True)
    made = batch.run(*[batch.flat(a) if k == "tensor" else static(a) if k == "host" else a for k, a in kinds])
    like = next(a for k, a in zip(batch.op.kinds, args, strict=True) if k == "tensor")
    results = list(made) if isinstance(made, (list, tuple)) else [made]
    return [batch.unflat(r, t, like) for r, t in zip(results, batch.outputs, strict=True)]


def _of_first(batch: Batch, x: Slices, other: Slices, *attrs: Any) -> Any:
    """Only the first tensor is a batch."""
    if other.stacked:
        raise NoRule
    return batch.unflat(batch.run(batch.flat(x), other.value, *attrs), batch.outputs[0], x)


def _dilated_back(batch: Batch, x: Slices, filters: Slices, dy: Slices, *attrs: Any) -> Any:
    if filters.stacked:
        raise NoRule
    return batch.unflat(batch.run(batch.flat(x), filters.value, batch.flat(dy), *attrs), batch.outputs[0], x)


def _pooled_back(batch: Batch, shape: Any, dy: Slices, *attrs: Any) -> Any:
    first, *rest = vector(shape)
    made = batch.run((times(batch.count, first), *rest), batch.flat(dy), *attrs)
    return batch.reshape(made, [first, *rest])


def _cropped(
    batch: Batch,
    images: Slices,
    boxes: Slices,
    indices: Slices,
    size: Any,
    *attrs: Any,
) -> Any:
    """The boxes of all slices; each names an image of its slice."""
    number = convert(batch.dims(images)[0])
    starts = ops.Mul(ops.Range(convert(0), convert(batch.count), convert(1)), number)
    own = ops.AddV2(batch.stack(indices), ops.ExpandDims(ops.Cast(starts, indices.slice.dtype), 1))
    made = batch.run(batch.flat(images), batch.flat(boxes), ops.Reshape(own, (-1,)), static(size), *attrs)
    return batch.unflat(made, batch.outputs[0], boxes)


def _to_batch(batch: Batch, x: Slices, block: Any, sides: Any) -> Any:
    """Each place of a block is a batch of its own, in front of the others."""
    made = batch.run(batch.flat(x), static(block), static(sides))
    return _regrouped(batch, made, batch.dims(x)[0], batch.outputs[0].shape.as_list()[1:])


def _regrouped(batch: Batch, value: Any, number: Any, dims: Sequence[Any]) -> Any:
    """The slices of a batch of batches `[places, slices, number]`, as each slice would have them."""
    if None in dims:
        whole = ops.Shape(value)
        dims = [whole[i] if d is None else d for i, d in enumerate(dims, 1)]
    if not all(isinstance(n, int) for n in (batch.count, number)):
        raise NoRule
    each = ops.Reshape(value, (-1, batch.count, number, *dims))
    moved = ops.Transpose(each, (1, 0, *range(2, 3 + len(dims))))
    return ops.Reshape(moved, (batch.count, -1, *dims))


def _from_batch(batch: Batch, x: Slices, block: Any, crops: Any) -> Any:
    sizes = static(block)
    first, *rest = batch.dims(x)
    places = 1
    for size in sizes:
        places *= size
    if not isinstance(first, int) or first % places:
        raise NoRule
    each = batch.reshape(x.value, [places, first // places, *rest])
    moved = ops.Transpose(each, (1, 0, *range(2, 3 + len(rest))))
    made = batch.run(ops.Reshape(moved, (times(batch.count, first), *rest)), sizes, static(crops))
    return batch.unflat(made, batch.outputs[0], Slices(ops.Sum(each, 1), batch.outputs[0], True))


def _reversed(batch: Batch, x: Slices, lengths: Slices, seq_dim: int, batch_dim: int) -> Any:
    if batch_dim != 0:
        raise NoRule
    return batch.unflat(batch.run(batch.flat(x), batch.flat(lengths), seq_dim, 0), batch.outputs[0], x)


# ---- batch normalization ---------------------------------------------------------------------------------------------


def _normalized(batch: Batch, x: Slices, *rest: Any) -> Any:
    """By what all slices share, of all slices' images; by their own, as so many more channels."""
    vectors, attrs = rest[:4], rest[4:]
    if attrs[-1] or any(v.stacked for v in vectors):
        return _channel_by_channel(batch, [x], *rest)
    y, *others = batch.run(batch.flat(x), *(v.value for v in vectors), *attrs)
    return [
        batch.unflat(y, batch.outputs[0], x),
        *(batch.stack(Slices(v, t, False)) for v, t in zip(others, batch.outputs[1:], strict=True)),
    ]


def _normalized_back(batch: Batch, dy: Slices, x: Slices, *rest: Any) -> Any:
    return _channel_by_channel(batch, [dy, x], *rest)


def _channel_by_channel(batch: Batch, images: Sequence[Slices], *rest: Any) -> Any:
    """With the slices side by side, as channels; of images come images first, then vectors with a number for each
    channel."""
    vectors = [v for v in rest if isinstance(v, Slices)]
    attrs = rest[len(vectors) :]
    at = Channels(batch.op, attrs)
    sizes = [t.shape[0] for t in batch.outputs[1:]]
    if None in sizes:
        raise NoRule
    beside = [side_by_side(batch, x, at.of_images, at.images) for x in images]
    y, *others = batch.run(*beside, *(batch.flat(v) for v in vectors), *attrs)
    made = apart(batch, y, batch.dims(images[-1]), at.of_images)
    return [made, *(batch.reshape(v, [n]) for v, n in zip(others, sizes, strict=True))]


IMAGES: dict[str, Rule] = {
    **dict.fromkeys(
        ("MaxPool", "AvgPool", "MaxPoolGrad", "MaxPoolGradGrad", "MaxPool3D", "AvgPool3D", "MaxPool3DGrad",
         "MaxPool3DGradGrad", "LRN", "LRNGrad", "DepthToSpace", "SpaceToDepth", "ExtractImagePatches",
         "ExtractVolumePatches", "ResizeBilinear", "ResizeNearestNeighbor", "ResizeBicubic", "ResizeArea",
         "SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits", "LowerBound", "UpperBound",
         "InTopKV2"), _of_images),
    "AvgPoolGrad": _pooled_back, "AvgPool3DGrad": _pooled_back, "Dilation2D": _of_first,
    "Dilation2DBackpropInput": _dilated_back, "CropAndResize": _cropped,
    "SpaceToBatchND": _to_batch, "BatchToSpaceND": _from_batch, "ReverseSequence": _reversed,
    "FusedBatchNormV3": _normalized, "FusedBatchNormGradV3": _normalized_back,
}  # fmt: skip
