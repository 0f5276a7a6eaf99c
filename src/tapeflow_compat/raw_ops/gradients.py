"""Forms of the ops in TensorFlow's own gradients: they compute the gradients of the ops that they belong to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tapeflow as tf
import tapeflow_compat.raw_ops as raw
from tapeflow.core.ops.decompositions import form
from tapeflow.core.ops.shape_rules import length, merge_shapes, stated_dims, wholly_static, with_dimension, with_rank
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import DType
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor, invalid


def _gradients(function: Callable[..., Any], primals: Sequence[Any], dy: Any) -> list[Any]:
    """Returns the gradients of a function's arguments, for the cotangent of its result."""
    with tf.GradientTape() as tape:
        tape.watch(list(primals))
        y = function(*primals)
    gradients = tape.gradient(y, list(primals), dy, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    return [tf.convert_to_tensor(g) for g in gradients]


# ---- math ------------------------------------------------------------------------------------------------------------


@form("InvGrad")
def _inv(y: Tensor, dy: Tensor) -> Any:
    return raw.ReciprocalGrad(y=y, dy=dy)


def _square_rule(matrix: Any, *_: Any) -> TensorShape:
    matrix = with_rank(matrix, -2)
    return matrix if matrix.rank is None else matrix[:-2] + [merge_shapes(matrix[-2:-1], matrix[-1:])[0]] * 2


@form("CholeskyGrad", "BatchCholeskyGrad", shape=_square_rule)
def _cholesky(l: Tensor, grad: Tensor) -> Any:  # noqa: E741 (the registered name)
    symmetric = tf.linalg.matmul(l, l, transpose_b=True)
    gradient = _gradients(tf.linalg.cholesky, [symmetric], tf.linalg.band_part(grad, -1, 0))[0]
    return (gradient + tf.linalg.matrix_transpose(gradient)) / 2


def _of_segments(scale: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """Returns the form of the gradient of a sparse segment op, whose rows `scale(grad, counts)` divides."""

    def rows(grad: Any, segment_ids: TensorLike) -> Any:
        ones = tf.ones_like(segment_ids, grad.dtype)
        counts = tf.maximum(tf.math.unsorted_segment_sum(ones, segment_ids, tf.shape(grad)[0]), tf.cast(1, grad.dtype))
        shape = tf.concat([tf.shape(counts), tf.ones([tf.rank(grad) - 1], tf.int32)], 0)
        return tf.gather(scale(grad, tf.reshape(counts, shape)), segment_ids)

    return rows


_ROWS = {
    "Sum": _of_segments(lambda grad, counts: grad),
    "Mean": _of_segments(lambda grad, counts: grad / counts),
    "SqrtN": _of_segments(lambda grad, counts: grad * tf.math.rsqrt(counts)),
}


def _whole_rule(grad: Any, indices: TensorLike, segment_ids: TensorLike, output_dim0: Any) -> TensorShape:
    merge_shapes(with_rank(indices, 1), with_rank(segment_ids, 1))
    with_rank(output_dim0, 0)
    if wholly_static(output_dim0) and output_dim0 < 0:
        raise invalid("Cannot specify a negative value for output_dim0")
    return TensorShape([length(output_dim0)]) + with_rank(grad, -1)[1:]


def _unique_rule(grad: Any, indices: TensorLike, segment_ids: TensorLike, dense_output_dim0: Any) -> list[TensorShape]:
    return [_whole_rule(grad, indices, segment_ids, None), TensorShape([None])]


def _declare_segments(name: str, rows: Callable[..., Any]) -> None:
    @form(f"SparseSegment{name}Grad", shape=_whole_rule, host=("output_dim0",))
    def _whole(grad: Any, indices: TensorLike, segment_ids: TensorLike, output_dim0: Any) -> Any:
        return tf.math.unsorted_segment_sum(rows(grad, segment_ids), indices, output_dim0)

    @form(f"SparseSegment{name}GradV2", shape=_unique_rule)
    def _unique(grad: Any, indices: TensorLike, segment_ids: TensorLike) -> Any:
        numbers = tf.sort(tf.unique(indices).y)
        places = tf.searchsorted(numbers, indices)
        return tf.math.unsorted_segment_sum(rows(grad, segment_ids), places, tf.size(numbers)), numbers


for _name, _rows in _ROWS.items():
    _declare_segments(_name, _rows)


def _filled_rows_rule(reverse_index_map: Any, grad_values: Any) -> list[TensorShape]:
    with_rank(grad_values, 1)
    return [with_rank(reverse_index_map, 1), TensorShape([])]


@form("SparseFillEmptyRowsGrad", shape=_filled_rows_rule)
def _fill_empty_rows(reverse_index_map: Tensor, grad_values: Tensor) -> Any:
    values = tf.gather(grad_values, reverse_index_map)
    return values, tf.reduce_sum(grad_values) - tf.reduce_sum(values)


@form("SparseSliceGrad")
def _sparse_slice(backprop_val_grad: Tensor, input_indices: Tensor, input_start: Tensor, output_indices: Tensor) -> Any:
    size = tf.reduce_max(tf.concat([input_indices, output_indices + input_start], 0), 0) + 1
    strides = tf.math.cumprod(size, exclusive=True, reverse=True)
    numbers = tf.reduce_sum(input_indices * strides, 1)
    slice_numbers = tf.reduce_sum((output_indices + input_start) * strides, 1)
    padded = tf.concat([slice_numbers, [-1]], 0)
    places = tf.searchsorted(slice_numbers, numbers)
    in_slice = tf.gather(padded, places) == numbers
    values = tf.concat([backprop_val_grad, tf.zeros([1], backprop_val_grad.dtype)], 0)
    return tf.where(in_slice, tf.gather(values, places), tf.zeros_like(values[0]))


# ---- images ----------------------------------------------------------------------------------------------------------


def _images_rule(grads: Any, size: Any, *_: Any) -> TensorShape:
    grads = with_rank(grads, 4)
    with_dimension(with_rank(size, 1), 0, 2)
    sides = stated_dims(size) if isinstance(size, tuple) else [None, None]
    return TensorShape([grads[0], *sides, grads[3]])


@form("ResizeNearestNeighborGrad", shape=_images_rule, host=("size",))
def _resize_nearest(grads: Tensor, size: Tensor, align_corners: bool, half_pixel_centers: bool) -> Any:
    def resized(images: TensorLike) -> Any:
        return raw.ResizeNearestNeighbor(
            images=images, size=tf.shape(grads)[1:3], align_corners=align_corners,
            half_pixel_centers=half_pixel_centers,
        )  # fmt: skip

    images = tf.zeros(tf.concat([tf.shape(grads)[:1], size, tf.shape(grads)[3:]], 0), grads.dtype)
    return _gradients(resized, [images], grads)[0]


def _image_rule(grads: Any, boxes: TensorLike, box_ind: TensorLike, image_size: Any, *_: Any) -> TensorShape:
    with_dimension(with_rank(image_size, 1), 0, 4)
    return TensorShape(stated_dims(image_size) if isinstance(image_size, tuple) else [None] * 4)


@form("CropAndResizeGradImage", shape=_image_rule, host=("image_size",))
def _crops_image(grads: Tensor, boxes: Tensor, box_ind: Tensor, image_size: Tensor, T: DType, method: str) -> Any:
    def cropped(image: TensorLike) -> Any:
        return raw.CropAndResize(
            image=image, boxes=boxes, box_ind=box_ind, crop_size=tf.shape(grads)[1:3], method=method
        )

    return _gradients(cropped, [tf.zeros(image_size, T)], grads)[0]


@form("CropAndResizeGradBoxes", shape=lambda grads, image, boxes, *_: boxes)
def _crops_boxes(grads: Tensor, image: Tensor, boxes: Tensor, box_ind: Tensor) -> Any:
    def cropped(corners: Any) -> Any:
        return raw.CropAndResize(image=image, boxes=corners, box_ind=box_ind, crop_size=tf.shape(grads)[1:3])

    return _gradients(cropped, [boxes], grads)[0]


# ---- neural networks -------------------------------------------------------------------------------------------------


@form("Conv3DBackpropInput")
def _conv_input(
    input: Tensor, filter: Tensor, out_backprop: Tensor, strides: Sequence[int], padding: str, dilations: Sequence[int]
) -> Any:
    return raw.Conv3DBackpropInputV2(
        input_sizes=tf.shape(input), filter=filter, out_backprop=out_backprop, strides=list(strides), padding=padding,
        dilations=list(dilations),
    )  # fmt: skip


@form("Conv3DBackpropFilter")
def _conv_filter(
    input: Tensor, filter: Tensor, out_backprop: Tensor, strides: Sequence[int], padding: str, dilations: Sequence[int]
) -> Any:
    return raw.Conv3DBackpropFilterV2(
        input=input, filter_sizes=tf.shape(filter), out_backprop=out_backprop, strides=list(strides), padding=padding,
        dilations=list(dilations),
    )  # fmt: skip


@form("FusedBatchNormGrad", "FusedBatchNormGradV2")
def _batch_norm(
    y_backprop: Tensor, x: Tensor, scale: Tensor, reserve_space_1: Tensor, reserve_space_2: Tensor, epsilon: float,
    data_format: str, is_training: bool,
) -> Any:  # fmt: skip
    gradients = raw.FusedBatchNormGradV3(
        y_backprop=y_backprop, x=x, scale=scale, reserve_space_1=reserve_space_1, reserve_space_2=reserve_space_2,
        reserve_space_3=tf.zeros([0]), epsilon=epsilon, data_format=data_format, is_training=is_training,
    )  # fmt: skip
    return *gradients[:3], tf.zeros([]), tf.zeros([])


@form("BatchNormWithGlobalNormalizationGrad")
def _global_norm(
    t: Tensor,
    m: Tensor,
    v: Tensor,
    gamma: Tensor,
    backprop: Tensor,
    variance_epsilon: float,
    scale_after_normalization: bool,
) -> Any:
    def normalized(*primals: Any) -> Any:
        return raw.BatchNormWithGlobalNormalization(
            t=primals[0], m=primals[1], v=primals[2], beta=primals[3], gamma=primals[4],
            variance_epsilon=variance_epsilon, scale_after_normalization=scale_after_normalization,
        )  # fmt: skip

    return _gradients(normalized, [t, m, v, tf.zeros_like(m), gamma], backprop)
