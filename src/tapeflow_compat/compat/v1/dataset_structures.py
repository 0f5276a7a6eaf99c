"""The old names of the specs of datasets' elements, in `tf.compat.v1.data.experimental`."""

from __future__ import annotations

from tapeflow.control.tensor_array import TensorArraySpec
from tapeflow.core.types.aliases import DTypeLike, ShapeLike
from tapeflow.core.types.spec import TensorSpec
from tapeflow.ragged.spec import RaggedTensorSpec
from tapeflow.sparse.tensor import SparseTensorSpec


def TensorStructure(dtype: DTypeLike, shape: ShapeLike) -> TensorSpec:
    """Returns a `tf.TensorSpec`.

    Args:
        dtype: the dtype.
        shape: the static shape.

    Example:
        >>> tf.compat.v1.data.experimental.TensorStructure(tf.int32, [2])
        TensorSpec(shape=(2,), dtype=tf.int32, name=None)
    """
    return TensorSpec(shape, dtype)


def SparseTensorStructure(dtype: DTypeLike, shape: ShapeLike) -> SparseTensorSpec:
    """Returns a `tf.SparseTensorSpec`.

    Args:
        dtype: the dtype of the values.
        shape: the static dense shape.

    Example:
        >>> tf.compat.v1.data.experimental.SparseTensorStructure(tf.int32, [2])
        SparseTensorSpec(TensorShape([2]), tf.int32)
    """
    return SparseTensorSpec(shape, dtype)


def TensorArrayStructure(
    dtype: DTypeLike, element_shape: ShapeLike, dynamic_size: bool, infer_shape: bool
) -> TensorArraySpec:
    """Returns a `tf.TensorArraySpec`.

    Args:
        dtype: the dtype of the elements.
        element_shape: their static shape.
        dynamic_size: whether the array can grow.
        infer_shape: whether all elements have the shape of the first.

    Example:
        >>> tf.compat.v1.data.experimental.TensorArrayStructure(tf.int32, [2], False, True)
        TensorArraySpec(TensorShape([2]), tf.int32, False, True)
    """
    return TensorArraySpec(element_shape, dtype, dynamic_size, infer_shape)


def RaggedTensorStructure(dtype: DTypeLike, shape: ShapeLike, ragged_rank: int) -> RaggedTensorSpec:
    """Returns a `tf.RaggedTensorSpec`.

    Args:
        dtype: the dtype of the values.
        shape: the static shape.
        ragged_rank: the number of ragged dimensions.

    Example:
        >>> tf.compat.v1.data.experimental.RaggedTensorStructure(tf.int32, [2, None], 1)
        RaggedTensorSpec(TensorShape([2, None]), tf.int32, 1, tf.int64)
    """
    return RaggedTensorSpec(shape, dtype, ragged_rank)
