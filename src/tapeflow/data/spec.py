"""The spec of datasets."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tapeflow.core.types.aliases import ShapeLike
from tapeflow.core.types.dtypes import variant
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.types.spec import TensorSpec, TypeSpec
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.data.node import Node, Variant, structure_node

if TYPE_CHECKING:
    from tapeflow.core.values.tensor import Tensor
    from tapeflow.data.dataset import Dataset


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

    dataset: Callable[[Node], Any]  # `tf.data.Dataset`, whose file sets it: its methods create nodes with such specs

    def __init__(self, element_spec: Any, dataset_shape: ShapeLike = ()) -> None:
        self._element_spec = element_spec
        self._dataset_shape = TensorShape(dataset_shape)

    @staticmethod
    def from_value(value: Dataset) -> DatasetSpec:
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
    def value_type(self) -> Any:
        """`tf.data.Dataset`."""
        return DatasetSpec.dataset

    @property
    def _component_specs(self) -> Any:
        return TensorSpec(self._dataset_shape, variant)

    def _to_components(self, value: Dataset) -> Any:
        return value._variant_tensor

    def _from_components(self, components: Tensor) -> Any:
        if isinstance(components, SymbolicTensor):
            return DatasetSpec.dataset(Variant(components, self._element_spec))
        return DatasetSpec.dataset(structure_node(components.value[()], self._element_spec))

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
