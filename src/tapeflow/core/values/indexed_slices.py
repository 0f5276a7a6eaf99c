"""`tf.IndexedSlices`: some rows of a tensor whose other rows are zero; the gradient of a gather."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from tapeflow.core.hooks import hooks
from tapeflow.core.ops.definition import ops
from tapeflow.core.types.dtypes import DType, int64
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.composite import CompositeTensor
from tapeflow.core.values.tensor import Tensor


class IndexedSlices(CompositeTensor):
    """The rows `values` of a larger tensor, at `indices` of its first dimension; rows with the same index are summed.

    Args:
        values: a tensor of shape `[n, d1, ..., dk]`.
        indices: int32 or int64 of shape `[n]`.
        dense_shape: an integer vector, the larger tensor's shape `[d0, d1, ..., dk]`; needed to convert to it.

    Example:
        >>> s = tf.IndexedSlices(tf.constant([[1.0], [2.0]]), tf.constant([0, 2]), tf.constant([3, 1]))
        >>> tf.convert_to_tensor(s).numpy().tolist()
        [[1.0], [0.0], [2.0]]
    """

    _is_tensor = True

    def __init__(self, values: Any, indices: Any, dense_shape: Any = None) -> None:
        self._values, self._indices, self._dense_shape = values, indices, dense_shape

    @property
    def values(self) -> Tensor:
        """The rows."""
        return self._values

    @property
    def indices(self) -> Tensor:
        """The indices of the rows in the first dimension."""
        return self._indices

    @property
    def dense_shape(self) -> Tensor | None:
        """The shape of the whole tensor, or None."""
        return self._dense_shape

    @property
    def shape(self) -> TensorShape:
        """The shape of the whole tensor, with unknown first dimension where there is no `dense_shape`."""
        if self._dense_shape is None:
            return TensorShape([None]).concatenate(self._values.shape[1:])
        return hooks.static_shape(self._dense_shape)

    @property
    def dtype(self) -> DType:
        """The dtype of the rows."""
        return self._values.dtype

    @property
    def device(self) -> str:
        """The device of the rows."""
        return self._values.device

    @property
    def name(self) -> str:
        return self._values.name

    @property
    def op(self) -> Any:
        return self._values.op

    @property
    def graph(self) -> Any:
        return self._values.graph

    def consumers(self) -> Any:
        return self._values.consumers()

    @property
    def _type_spec(self) -> Any:
        dense = self._dense_shape
        return hooks.indexed_slices_spec(
            self.shape, self.dtype, self._indices.dtype, None if dense is None else dense.dtype, self._indices.shape
        )

    def __tf_tensor__(self, dtype: DType | None = None, name: str | None = None) -> Tensor:
        if dtype is not None and dtype is not self.dtype:
            raise ValueError(
                f"Incompatible tensor conversion requested to `dtype` {dtype.name} for IndexedSlices ({self}) with "
                f"dtype {self.dtype.name}"
            )
        if self._dense_shape is None:
            raise ValueError(
                f"Tensor conversion requested for IndexedSlices for argument without dense_shape: {self}: give it one"
            )
        return ops.UnsortedSegmentSum(self._values, self._indices, self._dense_shape[0])

    def __neg__(self) -> IndexedSlices:
        return IndexedSlices(-self._values, self._indices, self._dense_shape)

    def __str__(self) -> str:
        dense = "" if self._dense_shape is None else f", dense_shape={self._dense_shape!s}"
        return f"IndexedSlices(indices={self._indices!s}, values={self._values!s}{dense})"


class IndexedSlicesValue(NamedTuple):
    """The value of `tf.IndexedSlices`, as arrays.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     slices = tf.IndexedSlices(tf.constant([1.0]), tf.constant([2]))
        ...     print(sess.run(slices).indices)
        [2]
    """

    values: Any
    indices: Any
    dense_shape: Any


def concat_slices(slices: Sequence[IndexedSlices]) -> IndexedSlices:
    """Returns the sum of slices of one tensor: all their rows."""
    kinds = {s.indices.dtype for s in slices}
    indices = [s.indices if len(kinds) == 1 else ops.Cast(s.indices, int64) for s in slices]
    return IndexedSlices(_join_rows([s.values for s in slices]), _join_rows(indices), slices[0].dense_shape)


def _join_rows(values: list[Any]) -> Any:
    return ops.ConcatV2(values, 0) if len(values) > 1 else values[0]
