"""`tf.RaggedTensorSpec`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tapeflow.core.types.aliases import DTypeLike, ShapeLike
from tapeflow.core.types.dtypes import DType, as_dtype, float32, int64
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.types.type_spec import ShapedSpec
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.ragged.row_partition import RowPartition, length_of, tensor_of
from tapeflow.ragged.rows import as_ragged
from tapeflow.ragged.tensor import RaggedTensor, as_values, methods


class RaggedTensorSpec(ShapedSpec):
    """The spec of a `tf.RaggedTensor`. With `ragged_rank` 0, it is also the spec of a tensor.

    Args:
        shape: None for the ragged dimensions.
        dtype: the dtype of the values; float32 by default.
        ragged_rank: an int, the number of dimensions that are partitioned; by default all but the first.
        row_splits_dtype: int32 or int64; int64 by default.
        flat_values_spec: the spec of the innermost values; by default the spec of a tensor.

    Raises:
        ValueError: the ragged rank is not specified, or too large.

    Example:
        >>> tf.RaggedTensorSpec([2, None], tf.int32)
        RaggedTensorSpec(TensorShape([2, None]), tf.int32, 1, tf.int64)
    """

    __slots__ = ("_flat_values_spec", "_ragged_rank", "_row_splits_dtype")

    def __init__(
        self,
        shape: ShapeLike = None,
        dtype: DTypeLike = float32,
        ragged_rank: int | None = None,
        row_splits_dtype: DTypeLike = int64,
        flat_values_spec: Any = None,
    ) -> None:
        self._shape = TensorShape(shape)
        self._row_splits_dtype = as_dtype(row_splits_dtype)
        if flat_values_spec is not None:
            if dtype is None:
                dtype = flat_values_spec.dtype
            elif as_dtype(dtype) is not flat_values_spec.dtype:
                raise ValueError("dtype must be the same as flat_values_spec.dtype")
        elif dtype is None:
            raise ValueError("At least one of dtype or flat_values_spec must be provided")
        self._dtype = as_dtype(dtype)
        self._flat_values_spec = flat_values_spec
        rank = self._shape.rank
        if ragged_rank is None:
            if rank is None:
                raise ValueError("Must specify ragged_rank or a shape with a known rank.")
            ragged_rank = rank - 1
        elif not isinstance(ragged_rank, int):
            raise TypeError(f"Argument `ragged_rank` must be an int. Received {ragged_rank}.")
        if rank is not None and ragged_rank >= rank:
            raise ValueError(f"Argument `ragged_rank` ({ragged_rank}) must be less than rank ({rank}).")
        self._ragged_rank = ragged_rank

    @classmethod
    def from_value(cls, value: RaggedTensor) -> RaggedTensorSpec:
        """Returns the spec of a ragged tensor.

        Args:
            value: a ragged tensor.
        """
        return cls(value.shape, value.values.dtype, value.ragged_rank, value.row_splits.dtype)

    @property
    def ragged_rank(self) -> int:
        """The number of dimensions that are partitioned."""
        return self._ragged_rank

    @property
    def row_splits_dtype(self) -> DType:
        """The dtype of the row splits."""
        return self._row_splits_dtype

    @property
    def flat_values_spec(self) -> Any:
        """The spec of the innermost values; None for tensors."""
        return self._flat_values_spec

    @property
    def value_type(self) -> type:
        """`tf.RaggedTensor`, or `tf.Tensor` for a ragged rank of 0."""
        return RaggedTensor if self._ragged_rank > 0 else Tensor

    def is_compatible_with(self, spec_or_value: object) -> bool:
        """Returns True if this spec could describe a value, or a value of another spec.

        Args:
            spec_or_value: a spec, or a ragged tensor or tensor.
        """
        if self._ragged_rank == 0:
            dense = TensorSpec(self._shape, self._dtype)
            if isinstance(spec_or_value, (Tensor, TensorSpec)):
                return dense.is_compatible_with(spec_or_value)
        return super().is_compatible_with(spec_or_value)

    @property
    def _component_specs(self) -> Any:
        if self._ragged_rank <= 0:
            return [self._flat_values_spec or TensorSpec(self._shape, self._dtype)]
        flat = self._flat_spec(self._length_of(self._ragged_rank))
        counts = map(self._length_of, range(self._ragged_rank))
        splits = [TensorSpec([None if n is None else n + 1], self._row_splits_dtype) for n in counts]
        return [self._flat_values_spec or flat, *splits]

    def _length_of(self, levels: int) -> int | None:
        """Returns the number of rows in dimension `levels`, if all dimensions up to there are uniform."""
        dims = (self._shape._dims or ())[: levels + 1]
        static = [d for d in dims if d is not None]
        return math.prod(static) if len(static) == levels + 1 else None

    def _flat_spec(self, count: int | None) -> TensorSpec:
        """Returns the spec of so many innermost values."""
        return TensorSpec(TensorShape([count]).concatenate(self._shape[self._ragged_rank + 1 :]), self._dtype)

    def _to_components(self, value: Tensor | RaggedTensor) -> Any:
        return [value.flat_values, *value.nested_row_splits] if isinstance(value, RaggedTensor) else [value]

    def _from_components(self, components: Sequence[Any]) -> Any:
        result, *splits = components
        dims = self._shape._dims
        for i in range(len(splits) - 1, -1, -1):
            uniform = None if dims is None else dims[i + 1]
            partition = RowPartition.from_row_splits(splits[i], validate=False)
            if uniform is not None:
                partition = partition.with_uniform_row_length(uniform)
            result = RaggedTensor._from_row_partition(result, partition, validate=False)
        return result

    def _serialize(self) -> tuple[Any, ...]:
        parts = (self._shape, self._dtype, self._ragged_rank, self._row_splits_dtype)
        return parts if self._flat_values_spec is None else (*parts, self._flat_values_spec)

    def _batch(self, batch_size: int | None) -> RaggedTensorSpec:
        shape = TensorShape([batch_size]).concatenate(self._shape)
        return RaggedTensorSpec(shape, self._dtype, self._ragged_rank + 1, self._row_splits_dtype)

    def _unbatch(self) -> Any:
        # A row of a ragged tensor of ragged rank 1 is a tensor, but its spec stays ragged.
        return RaggedTensorSpec(self._shape[1:], self._dtype, self._ragged_rank - 1, self._row_splits_dtype)

    # Values of different lengths as one with a new first dimension: flat values, row lengths, and the number of rows.

    def _stacked_parts(self) -> list[TensorSpec]:
        lengths = TensorSpec([None], self._row_splits_dtype)
        return [self._flat_spec(None), *[lengths] * self._ragged_rank, TensorSpec([1], self._row_splits_dtype)]

    def _to_parts(self, value: Any) -> list[Any]:
        value = as_values(value)
        if value.dtype is not self._dtype:
            raise invalid(f"RaggedTensorSpec dtype is {self._dtype.name} but the value has dtype {value.dtype.name}")
        if value.shape.rank == 0:
            raise invalid(f"Ragged values must have rank >= 1; encoded scalar element has values {value}")
        if getattr(value, "ragged_rank", 0) < self._ragged_rank:
            value = as_ragged(value, self._ragged_rank)
        rows = tensor_of([length_of(value)], self._row_splits_dtype)
        if not isinstance(value, RaggedTensor):
            return [value, rows]
        value = value.with_row_splits_dtype(self._row_splits_dtype)
        return [value.flat_values, *value.nested_row_lengths(), rows]

    def _from_parts(self, parts: list[Any]) -> RaggedTensor:
        result, *lengths = parts
        for n in reversed([lengths[-1], *lengths[:-1]]):
            result = RaggedTensor.from_row_lengths(result, n, validate=False)
        return self._batch(None)._with_uniform_lengths(result)

    def _with_uniform_lengths(self, value: RaggedTensor) -> RaggedTensor:
        """Returns the value with the static row lengths of this spec."""
        return self._from_components(self._to_components(value.with_row_splits_dtype(self._row_splits_dtype)))


methods.spec_of = RaggedTensorSpec.from_value
