"""The specs of datasets and iterators."""

from __future__ import annotations

from typing import Any

from tapeflow.core.types.aliases import ShapeLike
from tapeflow.core.types.dtypes import resource, variant
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.types.spec import TensorSpec, TypeSpec
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.data.parts import parts


class DatasetSpec(TypeSpec):
    """The spec of a `tf.data.Dataset`.

    Args:
        element_spec: the spec of its elements.
        dataset_shape: the shape of a tensor of datasets; a dataset by itself is a scalar.

    Example:
        >>> tf.data.DatasetSpec.from_value(tf.data.Dataset.range(3))
        DatasetSpec(TensorSpec(shape=(), dtype=tf.int64, name=None), TensorShape([]))
    """

    __slots__ = ("_dataset_shape", "_element_spec")

    def __init__(self, element_spec: Any, dataset_shape: ShapeLike = ()) -> None:
        self._element_spec = element_spec
        self._dataset_shape = TensorShape(dataset_shape)

    @staticmethod
    def from_value(value: Any) -> DatasetSpec:
        """Returns the spec of a dataset.

        Args:
            value: the dataset.

        Returns:
            Its spec.
        """
        return DatasetSpec(value.element_spec)

    @property
    def element_spec(self) -> Any:
        """The spec of the elements."""
        return self._element_spec

    @property
    def value_type(self) -> type:
        """`tf.data.Dataset`."""
        return parts.Dataset

    @property
    def _component_specs(self) -> Any:
        return TensorSpec(self._dataset_shape, variant)

    def _to_components(self, value: Any) -> Any:
        return value._variant_tensor

    def _from_components(self, components: Any) -> Any:
        if isinstance(components, SymbolicTensor):
            return parts.VariantDataset(components, self._element_spec)
        dataset = components.value[()]
        return dataset if self._element_spec is None else parts.structured(dataset, self._element_spec)

    def _batch(self, batch_size: int | None) -> DatasetSpec:
        return DatasetSpec(self._element_spec, TensorShape([batch_size]).concatenate(self._dataset_shape))

    def _unbatch(self) -> DatasetSpec:
        if self._dataset_shape.rank == 0:
            raise ValueError("Slicing dataset elements is not supported for rank 0.")
        return DatasetSpec(self._element_spec, self._dataset_shape[1:])

    def _serialize(self) -> tuple[Any, ...]:
        return self._element_spec, self._dataset_shape

    def __eq__(self, other: object) -> bool:
        return type(other) is DatasetSpec and self._serialize() == other._serialize()

    def __hash__(self) -> int:
        return hash(DatasetSpec)  # the elements may be dicts


class IteratorSpec(TypeSpec):
    """The spec of a `tf.data.Iterator`.

    Args:
        element_spec: the spec of its elements.

    Example:
        >>> tf.data.IteratorSpec(tf.TensorSpec([], tf.int32))
        IteratorSpec(TensorSpec(shape=(), dtype=tf.int32, name=None),)
    """

    __slots__ = ("_element_spec", "_hash")

    def __init__(self, element_spec: Any) -> None:
        self._element_spec = element_spec
        self._hash: int | None = None  # computed once: a step of training looks its trace up by it

    @staticmethod
    def from_value(value: Any) -> IteratorSpec:
        """Returns the spec of an iterator.

        Args:
            value: the iterator.

        Returns:
            Its spec.
        """
        return IteratorSpec(value.element_spec)

    @property
    def value_type(self) -> type:
        """The class of iterators."""
        return parts.OwnedIterator

    @property
    def _component_specs(self) -> Any:
        return (TensorSpec([], resource),)

    def _to_components(self, value: Any) -> Any:
        return (value._handle,)

    def _from_components(self, components: Any) -> Any:
        if isinstance(components[0], SymbolicTensor):
            return parts.GraphIterator(components[0], self._element_spec)
        return components[0].value[()].iterator

    def _serialize(self) -> tuple[Any, ...]:
        return (self._element_spec,)

    def __eq__(self, other: object) -> bool:
        same = type(other) is IteratorSpec and self._element_spec is other._element_spec
        return same or super().__eq__(other)

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = super().__hash__()
        return self._hash
