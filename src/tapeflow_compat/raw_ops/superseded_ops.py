"""Forms of ops that newer ones have replaced, and of small ops that others compose."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Sequence
from typing import Any

import torch

import tapeflow as tf
import tapeflow_compat.raw_ops as raw
from tapeflow.core.context import state
from tapeflow.core.ops.decompositions import form
from tapeflow.core.ops.definition import NotStatic
from tapeflow.core.ops.raw_kernels import kernel_of
from tapeflow.core.ops.shape_rules import (
    argument_shape,
    divide_size,
    length,
    merge_shapes,
    same,
    wholly_static,
    with_dimension,
    with_rank,
)
from tapeflow.core.types.aliases import ShapeLike, TensorLike
from tapeflow.core.types.dtypes import DType
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.nn.pooling import pool_rule_without_explicit

# ---- arrays ----------------------------------------------------------------------------------------------------------


@form("BiasAddV1")
def _bias_add(value: Tensor, bias: Tensor) -> Any:
    return raw.BiasAdd(value=value, bias=bias)


@form("AccumulateNV2", shape=lambda inputs, shape, *_: shape)
def _accumulate(inputs: list[Tensor]) -> Any:
    return raw.AddN(inputs=inputs)


@form("Concat")
def _concat(concat_dim: Tensor, values: list[Tensor]) -> Any:
    return raw.ConcatV2(values=values, axis=concat_dim)


@form("Gather")
def _gather(params: Tensor, indices: Tensor) -> Any:
    return raw.GatherV2(params=params, indices=indices, axis=0)


@form("MatrixDiag", "BatchMatrixDiag")
def _matrix_diag(diagonal: Tensor) -> Any:
    return tf.linalg.diag(diagonal)


@form("MatrixDiagPart", "BatchMatrixDiagPart")
def _matrix_diag_part(input: Tensor) -> Any:
    return tf.linalg.diag_part(input)


def _with_diagonal_rule(x: Any, diagonal: Any) -> TensorShape:
    x, diagonal = with_rank(x, -2), with_rank(diagonal, -1)
    if x.rank is None:
        return x if diagonal.rank is None else diagonal[:-1] + [None, None]
    diagonal = with_rank(diagonal, x.rank - 1)
    length = None if None in x[-2:].as_list() else min(x[-2:].as_list())
    merge_shapes(diagonal[-1:], [length])
    return merge_shapes(x, diagonal[:-1] + [None, None])


@form("MatrixSetDiag", "BatchMatrixSetDiag", shape=_with_diagonal_rule)
def _matrix_set_diag(input: Tensor, diagonal: Tensor) -> Any:
    return tf.linalg.set_diag(input, diagonal)


@form("MatrixDiagV2")
def _matrix_diag_v2(diagonal: Tensor, k: Tensor, num_rows: Tensor, num_cols: Tensor, padding_value: Tensor) -> Any:
    return raw.MatrixDiagV3(
        diagonal=diagonal, k=k, num_rows=num_rows, num_cols=num_cols, padding_value=padding_value, align="LEFT_LEFT"
    )


@form("MatrixSetDiagV2")
def _matrix_set_diag_v2(input: Tensor, diagonal: Tensor, k: Tensor) -> Any:
    return raw.MatrixSetDiagV3(input=input, diagonal=diagonal, k=k, align="LEFT_LEFT")


def _of_blocks(batch: Callable[..., int], space: Callable[..., int]) -> Callable[..., TensorShape]:
    """Returns the rule of an op that moves space into the batch, or back: `batch(size, places in a block)` and
    `space(size, side of a block, rows before and after)` compute the new dimensions."""

    def rule(input: TensorLike, borders: Any, block_size: int) -> TensorShape:
        first, *sides, channels = with_rank(input, 4)
        with_dimension(with_dimension(with_rank(borders, 2), 0, 2), 1, 2)
        if wholly_static(borders):
            sides = [n if n is None else space(n, block_size, sum(b)) for n, b in zip(sides, borders, strict=True)]
        else:
            sides = [None, None]
        return TensorShape([first if first is None else batch(first, block_size**2), *sides, channels])

    return rule


_batched = _of_blocks(lambda n, places: n * places, lambda n, block, border: divide_size(n + border, block))
_unbatched = _of_blocks(divide_size, lambda n, block, border: n * block - border)


@form("SpaceToBatch", shape=_batched, host=("paddings",))
def _space_to_batch(input: Tensor, paddings: Tensor, block_size: int) -> Any:
    return raw.SpaceToBatchND(input=input, block_shape=[block_size] * 2, paddings=paddings)


@form("BatchToSpace", shape=_unbatched, host=("crops",))
def _batch_to_space(input: Tensor, crops: Tensor, block_size: int) -> Any:
    return raw.BatchToSpaceND(input=input, block_shape=[block_size] * 2, crops=crops)


def _reversed_rule(tensor: TensorShape, dims: Sequence[Any]) -> TensorShape:
    number = with_rank(dims, 1)[0]
    if tensor.rank is not None and tensor.rank > 8:
        raise invalid("reverse does not work on tensors with more than 8 dimensions")
    return tensor if number is None else with_rank(tensor, number)


@form("Reverse", shape=_reversed_rule)
def _reverse(tensor: Tensor, dims: Tensor) -> Any:
    return raw.ReverseV2(tensor=tensor, axis=tf.where(dims)[:, 0])


def _check_formats(source: str, target: str) -> None:
    """Raises InvalidArgumentError for data formats that are no permutation of each other."""
    for kind, attr, value in (("Source", "src_format", source), ("Destination", "dst_format", target)):
        if len(value) not in (4, 5):
            raise invalid(f"{kind} format must be of length 4 or 5, received {attr} = {value}")
    if sorted(source) != sorted(target) or len(set(source)) < len(source):
        raise invalid(f"Destination and source format must determine a permutation, got {source} and {target}")


@form("DataFormatDimMap", shape=same)
def _dim_map(x: Tensor, src_format: str, dst_format: str) -> Any:
    _check_formats(src_format, dst_format)
    places = [dst_format.index(letter) for letter in src_format]
    return tf.gather(tf.constant(places, x.dtype), tf.math.floormod(x, len(src_format)))


@kernel_of("DataFormatVecPermute", shape=same)
def _vec_permute(x: torch.Tensor, src_format: str, dst_format: str) -> torch.Tensor:
    _check_formats(src_format, dst_format)
    shape, sizes = list(x.shape), (len(src_format) - 2, len(src_format))
    if len(shape) not in (1, 2):
        raise invalid(f"input must be a vector or 2D tensor, but got shape {shape}")
    if shape[0] not in sizes:
        which = "1D input" if len(shape) == 1 else "First dimension of 2D input"
        raise invalid(f"{which} must be of size {sizes[0]} or {sizes[1]}, but got shape {shape}")
    if shape[1:] not in ([], [2]):
        raise invalid(f"Second dimension of 2D input must be of size 2, but got shape {shape}")
    if shape[0] == sizes[0]:
        src_format, dst_format = (f.replace("N", "").replace("C", "") for f in (src_format, dst_format))
    return x[[src_format.index(letter) for letter in dst_format]]


def _nth_rule(input: Any, n: Any, reverse: bool) -> TensorShape:
    input = with_rank(input, -1)
    if argument_shape(n).rank:
        raise invalid(f"Input must be scalar but has rank {argument_shape(n).rank}")
    number = length(n)
    if number is not None and number < 0:
        raise invalid(f"Dimension size, given by scalar input 1, must be non-negative but is {number}")
    if input.rank is None:
        return input
    if None not in (number, input[-1]) and input[-1] <= number:
        raise invalid(f"Input must have last dimension > n = {number} but is {input[-1]}")
    return input[:-1]


@form("NthElement", shape=_nth_rule, host=("n",))
def _nth_element(input: Tensor, n: Tensor, reverse: bool) -> Any:
    return tf.sort(input, direction="DESCENDING" if reverse else "ASCENDING")[..., n]


@form("ToBool")
def _to_bool(input: Tensor) -> Any:
    if input.shape.rank != 0:
        return tf.size(input) > 0
    return tf.not_equal(input, "" if input.dtype is tf.string else tf.cast(0, input.dtype))


@form("Empty")
def _empty(shape: Tensor, dtype: DType) -> Any:
    return tf.zeros(shape, dtype)


@form("DeepCopy")
def _deep_copy(x: Tensor) -> Any:
    return tf.identity(x)


@form("Copy", "CopyHost", "DebugIdentity", "DebugIdentityV2", "DebugIdentityV3", "RefIdentity")
def _copy(input: Tensor) -> Any:
    return tf.identity(input)


@form("InplaceAdd", shape=same)
def _inplace_add(x: Tensor, i: Tensor, v: Tensor) -> Any:
    return tf.tensor_scatter_nd_add(x, i[:, None], v)


@form("InplaceSub", shape=same)
def _inplace_sub(x: Tensor, i: Tensor, v: Tensor) -> Any:
    return tf.tensor_scatter_nd_sub(x, i[:, None], v)


@form("InplaceUpdate", shape=same)
def _inplace_update(x: Tensor, i: Tensor, v: Tensor) -> Any:
    return tf.tensor_scatter_nd_update(x, i[:, None], v)


@form("ScatterNdNonAliasingAdd")
def _scatter_nd_add(input: Tensor, indices: Tensor, updates: Tensor) -> Any:
    return tf.tensor_scatter_nd_add(input, indices, updates)


def _rows_rule(values: list[TensorShape], shape: ShapeLike) -> TensorShape:
    whole = TensorShape(shape)
    if not whole.is_fully_defined():
        raise invalid("shape attr must be fully defined.")
    for i, value in enumerate(values):
        if not value.is_fully_defined():
            raise invalid("All input shapes must be fully defined.")
        if not value.rank:
            raise invalid(f"The rank of all input shapes must be greater than 0, but input {i} had rank 0.")
        if value[0] != 1:
            raise invalid("Size of first dimension must be 1.")
    merge_shapes(*values, TensorShape([1]) + whole[1:])
    return whole


@form("ParallelConcat", shape=_rows_rule)
def _parallel_concat(values: list[Tensor], shape: ShapeLike) -> Any:
    return tf.concat(values, 0)


@form("ParallelDynamicStitch")
def _dynamic_stitch(indices: list[Tensor], data: list[Tensor]) -> Any:
    return tf.dynamic_stitch(indices, data)


@form("TileGrad")
def _tile_grad(input: Tensor, multiples: Tensor) -> Any:
    sizes = tf.shape(input, multiples.dtype) // multiples
    parts = tf.reshape(tf.stack([multiples, sizes], 1), [-1])
    return tf.reduce_sum(tf.reshape(input, parts), tf.range(0, tf.size(parts), 2))


# ---- math ------------------------------------------------------------------------------------------------------------


@form("ApproximateEqual")
def _approximate_equal(x: Tensor, y: Tensor, tolerance: float) -> Any:
    if not x.shape.is_compatible_with(y.shape):
        raise invalid(f"x and y must be of the same shape. x shape: {x.shape}. y shape: {y.shape}")
    distance = tf.abs(x - y)
    return distance <= tf.cast(tolerance, distance.dtype)


@form("Bincount")
def _bincount(arr: Tensor, size: Tensor, weights: Tensor) -> Any:
    return raw.DenseBincount(input=arr, size=size, weights=weights, binary_output=False)


@form("SelfAdjointEig", "BatchSelfAdjointEig")
def _self_adjoint_eig(input: Tensor) -> Any:
    e, v = tf.linalg.eigh(input)
    return tf.concat([e[..., None, :], v], -2)


def _product_rule(a: Any, b: Any, transpose_a: bool, transpose_b: bool, *_: Any) -> TensorShape:
    a, b = (
        with_rank(x, 2).as_list()[:: -1 if transposed else 1] for x, transposed in ((a, transpose_a), (b, transpose_b))
    )
    merge_shapes(a[1:], b[:1])
    return TensorShape([a[0], b[1]])


@form("SparseMatMul", shape=_product_rule)
def _sparse_mat_mul(a: Tensor, b: Tensor, transpose_a: bool, transpose_b: bool) -> Any:
    return tf.matmul(tf.cast(a, tf.float32), tf.cast(b, tf.float32), transpose_a, transpose_b)


@form("CheckNumericsV2")
def _check_numerics(tensor: Tensor, message: str) -> Any:
    return tf.debugging.check_numerics(tensor, message)


def _segments_rule(data: TensorLike, indices: TensorLike, segment_ids: TensorLike, *_: Any) -> TensorShape:
    merge_shapes(with_rank(indices, 1), with_rank(segment_ids, 1))
    return TensorShape([None]) + with_rank(data, -1)[1:]


def _counted_segments_rule(data: Any, indices: Any, segment_ids: Any, num_segments: Any, *_: Any) -> TensorShape:
    with_rank(num_segments, 0)
    if wholly_static(num_segments) and num_segments < 0:
        raise invalid("Cannot specify a negative value for num_segments")
    return TensorShape([length(num_segments)]) + _segments_rule(data, indices, segment_ids)[1:]


@form("SparseSegmentSum", shape=_segments_rule)
def _segment_sum(data: Tensor, indices: Tensor, segment_ids: Tensor) -> Any:
    return tf.math.segment_sum(tf.gather(data, indices), segment_ids)


@form("SparseSegmentMean", shape=_segments_rule)
def _segment_mean(data: Tensor, indices: Tensor, segment_ids: Tensor) -> Any:
    return tf.math.segment_mean(tf.gather(data, indices), segment_ids)


@form("SparseSegmentSqrtN", shape=_segments_rule)
def _segment_sqrt_n(data: Tensor, indices: Tensor, segment_ids: Tensor) -> Any:
    total = tf.math.segment_sum(tf.gather(data, indices), segment_ids)
    return _over_sqrt(total, tf.math.segment_sum(tf.ones_like(segment_ids, data.dtype), segment_ids))


def _over_sqrt(total: Any, counts: Any) -> Any:
    scale = tf.math.rsqrt(tf.maximum(counts, tf.cast(1, counts.dtype)))
    return total * tf.reshape(scale, tf.concat([tf.shape(scale), tf.ones([tf.rank(total) - 1], tf.int32)], 0))


@form("SparseSegmentSumWithNumSegments", shape=_counted_segments_rule, host=("num_segments",))
def _segment_sum_n(data: Tensor, indices: Tensor, segment_ids: Tensor, num_segments: Tensor) -> Any:
    return tf.math.unsorted_segment_sum(tf.gather(data, indices), segment_ids, num_segments)


@form("SparseSegmentMeanWithNumSegments", shape=_counted_segments_rule, host=("num_segments",))
def _segment_mean_n(data: Tensor, indices: Tensor, segment_ids: Tensor, num_segments: Tensor) -> Any:
    return tf.math.unsorted_segment_mean(tf.gather(data, indices), segment_ids, num_segments)


@form("SparseSegmentSqrtNWithNumSegments", shape=_counted_segments_rule, host=("num_segments",))
def _segment_sqrt_n_n(data: Tensor, indices: Tensor, segment_ids: Tensor, num_segments: Tensor) -> Any:
    return tf.math.unsorted_segment_sqrt_n(tf.gather(data, indices), segment_ids, num_segments)


# ---- text ------------------------------------------------------------------------------------------------------------


@form("Fact")
def _fact() -> Any:
    return tf.constant(random.choice(["There is no one truth.", "A tensor is a list of lists.", "0! = 1"]))


# ---- images ----------------------------------------------------------------------------------------------------------


@form("NonMaxSuppression")
def _suppression(boxes: Tensor, scores: Tensor, max_output_size: Tensor, iou_threshold: float) -> Any:
    return tf.image.non_max_suppression(boxes, scores, max_output_size, iou_threshold)


@form("NonMaxSuppressionV2")
def _suppression_v2(boxes: Tensor, scores: Tensor, max_output_size: Tensor, iou_threshold: Tensor) -> Any:
    return tf.image.non_max_suppression(boxes, scores, max_output_size, iou_threshold)


@form("AdjustContrast")
def _adjust_contrast(images: Tensor, contrast_factor: Tensor, min_value: Tensor, max_value: Tensor) -> Any:
    floats = tf.cast(images, tf.float32)
    mean = tf.reduce_mean(floats, [-3, -2], keepdims=True)
    return tf.clip_by_value((floats - mean) * contrast_factor + mean, min_value, max_value)


@form("DrawBoundingBoxes")
def _draw_boxes(images: Tensor, boxes: Tensor) -> Any:
    return tf.compat.v1.image.draw_bounding_boxes(images, boxes)


@form("ImageProjectiveTransformV2")
def _projective_transform(
    images: Tensor, transforms: Tensor, output_shape: Tensor, interpolation: str, fill_mode: str
) -> Any:
    return raw.ImageProjectiveTransformV3(
        images=images, transforms=transforms, output_shape=output_shape, fill_value=0.0, interpolation=interpolation,
        fill_mode=fill_mode,
    )  # fmt: skip


@form("RandomCrop")
def _random_crop(image: Tensor, size: Tensor, seed: int, seed2: int) -> Any:
    sizes = tf.concat([tf.cast(size, "int32"), tf.shape(image)[2:]], 0)
    return tf.image.random_crop(image, sizes, seed2 or seed or None)


# ---- neural networks -------------------------------------------------------------------------------------------------


def _static_windows(ksize: Any, strides: Any) -> bool:
    """Checks the shapes of the sizes and steps of windows, and returns whether all their numbers are static."""
    for numbers in (ksize, strides):
        with_dimension(with_rank(numbers, 1), 0, 4)
    return wholly_static(ksize) and wholly_static(strides)


def _pooled_rule(input: Any, ksize: Any, strides: Any, padding: str, data_format: str) -> TensorShape:
    input = with_rank(input, 4)
    if not _static_windows(ksize, strides):
        return TensorShape(None)
    return pool_rule_without_explicit(input, ksize, strides, padding, data_format)


def _pooled_again_rule(
    orig_input: Any, orig_output: TensorShape, grad: TensorShape, ksize: Sequence[int], strides: Sequence[int],
    padding: str, data_format: str,
) -> TensorShape:  # fmt: skip
    pooled = _pooled_rule(orig_input, ksize, strides, padding, data_format)
    merge_shapes(orig_output, pooled)
    merge_shapes(grad, with_rank(orig_input, 4))
    return pooled


@form("MaxPoolV2", shape=_pooled_rule, host=("ksize", "strides"))
def _max_pool(input: Tensor, ksize: Tensor, strides: Tensor, padding: str, data_format: str) -> Any:
    sizes = _numbers(ksize), _numbers(strides)
    return raw.MaxPool(input=input, ksize=sizes[0], strides=sizes[1], padding=padding, data_format=data_format)


@form("MaxPoolGradV2", shape=lambda orig_input, *_: with_rank(orig_input, 4), host=("ksize", "strides"))
def _max_pool_grad(
    orig_input: Tensor,
    orig_output: Tensor,
    grad: Tensor,
    ksize: Tensor,
    strides: Tensor,
    padding: str,
    data_format: str,
) -> Any:
    return raw.MaxPoolGrad(
        orig_input=orig_input, orig_output=orig_output, grad=grad, ksize=_numbers(ksize), strides=_numbers(strides),
        padding=padding, data_format=data_format,
    )  # fmt: skip


@form("MaxPoolGradGradV2", shape=_pooled_again_rule, host=("ksize", "strides"))
def _max_pool_grad_grad(
    orig_input: Tensor,
    orig_output: Tensor,
    grad: Tensor,
    ksize: Tensor,
    strides: Tensor,
    padding: str,
    data_format: str,
) -> Any:
    return raw.MaxPoolGradGrad(
        orig_input=orig_input, orig_output=orig_output, grad=grad, ksize=_numbers(ksize), strides=_numbers(strides),
        padding=padding, data_format=data_format,
    )  # fmt: skip


def _numbers(values: Any) -> list[int]:
    """Returns the numbers of an argument.

    Raises:
        NotStatic: they are not static.
    """
    if not wholly_static(values):
        if state.graph is None:
            raise invalid(f"Expected a vector of integers, not {values}")
        raise NotStatic
    return list(values)


@form("BatchNormWithGlobalNormalization")
def _batch_norm(
    t: Tensor,
    m: Tensor,
    v: Tensor,
    beta: Tensor,
    gamma: Tensor,
    variance_epsilon: float,
    scale_after_normalization: bool,
) -> Any:
    scale = tf.math.rsqrt(v + tf.cast(variance_epsilon, v.dtype)) * (gamma if scale_after_normalization else 1)
    return (t - m) * scale + beta


# ---- TensorFlow 1's control flow, at once ----------------------------------------------------------------------------


def _entered_rule(data: TensorShape, frame_name: str, is_constant: bool, *_: Any) -> TensorShape:
    return data if is_constant else TensorShape(None)


@form("Enter", "RefEnter", shape=_entered_rule)
def _enter(data: Tensor) -> Any:
    return tf.identity(data)


@form("Exit", "RefExit", "NextIteration", "RefNextIteration")
def _pass(data: Tensor) -> Any:
    return tf.identity(data)


@form("LoopCond")
def _loop_cond(input: Tensor) -> Any:
    return tf.identity(input)


def _branches_rule(data: TensorShape, pred: TensorLike) -> list[TensorShape]:
    with_rank(pred, 0)
    return [data, data]


def _merged_rule(inputs: list[TensorShape]) -> list[TensorShape]:
    if not inputs:
        raise invalid("Value for attr 'N' of 0 must be at least minimum 1")
    return [functools.reduce(TensorShape.most_specific_compatible_shape, inputs), TensorShape([])]


@form("Switch", shape=_branches_rule)
def _switch(data: Tensor, pred: Tensor) -> Any:
    if tf.get_static_value(pred) is None:
        raise NotStatic
    nothing = tf.zeros([0], data.dtype)
    return (nothing, tf.identity(data)) if pred else (tf.identity(data), nothing)


@form("Merge", shape=_merged_rule, eager=True)  # a graph waits for the first input that arrives
def _merge(inputs: list[Tensor]) -> Any:
    return tf.identity(inputs[0]), tf.constant(0)


@form("Print")
def _print(input: Tensor, data: list[Tensor], message: str, summarize: int) -> Any:
    tf.print(message, *data, summarize=summarize, sep="")
    return tf.identity(input)
