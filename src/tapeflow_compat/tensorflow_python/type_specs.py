"""Specs for libraries that define composite tensors of their own classes."""

from __future__ import annotations

from typing import Any

from tapeflow.array.creation import convert_to_tensor
from tapeflow.core.types.spec import TensorSpec, type_spec_from_value
from tapeflow.core.types.spec_registry import register
from tapeflow.core.values.composite import without_variables
from tapeflow.core.values.variable import Variable
from tapeflow.data.spec import DatasetSpec
from tapeflow.experimental.batchable_extension_type import BatchableSpec
from tapeflow.ragged.spec import RaggedTensorSpec
from tapeflow.sparse.tensor import SparseTensorSpec
from tapeflow_compat.tensorflow_python.nests import map_structure

__all__ = ["BatchableTypeSpec", "convert_variables_to_tensors", "register", "type_spec_from_value"]


class _Batchable(type(BatchableSpec)):  # type: ignore[misc]
    def __instancecheck__(cls, value: Any) -> bool:
        return super().__instancecheck__(value) or (cls is BatchableTypeSpec and isinstance(value, _STACKED))


class BatchableTypeSpec(BatchableSpec, metaclass=_Batchable):
    """The base of a library's specs of values that can be stacked. TapeFlow's own specs of such values count too."""

    __slots__ = ()


_STACKED = (TensorSpec, RaggedTensorSpec, SparseTensorSpec, DatasetSpec)


def convert_variables_to_tensors(values: Any) -> Any:
    """Returns a nest with tensors in the place of variables, including those inside composite values."""

    def converted(value: Any) -> Any:
        return convert_to_tensor(value) if isinstance(value, Variable) else without_variables(value)

    return map_structure(converted, values)
