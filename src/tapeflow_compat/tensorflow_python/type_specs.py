"""Specs for libraries that define composite tensors of their own classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.array.creation import convert_to_tensor
from tapeflow.core.types.spec import type_spec_from_value
from tapeflow.core.types.spec_registry import register
from tapeflow.core.types.type_spec import TypeSpec, _compatible, _hashable
from tapeflow.core.values.composite import CompositeTensor
from tapeflow.core.values.variable import Variable
from tapeflow_compat.tensorflow_python.nests import map_structure

__all__ = ["BatchableTypeSpec", "convert_variables_to_tensors", "register", "type_spec_from_value"]


class BatchableTypeSpec(TypeSpec):
    """A spec of values that can be stacked: a subclass defines `_batch` and `_unbatch`."""

    __slots__ = ()

    # The mangled names of private methods of TensorFlow's `TypeSpec`.

    @staticmethod
    def _TypeSpec__is_compatible(a: Any, b: Any) -> bool:
        return _compatible(a, b)

    def _TypeSpec__make_cmp_key(self, value: Any) -> Any:
        return _hashable(value)


def convert_variables_to_tensors(values: Any) -> Any:
    """Returns a nest with tensors in the place of variables, including those inside composite values."""

    def converted(value: Any) -> Any:
        if isinstance(value, Variable):
            return convert_to_tensor(value)
        if isinstance(value, CompositeTensor):
            own: Callable[[], Any] | None = getattr(value, "_convert_variables_to_tensors", None)
            return own() if own is not None else value
        return value

    return map_structure(converted, values)
