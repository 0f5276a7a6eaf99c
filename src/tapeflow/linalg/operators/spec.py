"""The specs of operators: the tensors that an operator is composed of, into which nests and functions flatten it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.array.creation import zeros
from tapeflow.array.properties import get_static_value
from tapeflow.core.types.spec import TensorSpec, TypeSpec, VariableSpec
from tapeflow.core.values import nest
from tapeflow.core.values.composite import CompositeTensor
from tapeflow.core.values.tensor import Tensor
from tapeflow.core.values.variable import Variable
from tapeflow.linalg.operators import hints

if TYPE_CHECKING:
    from tapeflow.linalg.operators.base import LinearOperator


class LinearOperatorSpec(TypeSpec):
    """The spec of an operator: specs of the tensors and operators that it is composed of, and its other arguments.

    Args:
        param_specs: specs, or lists of them, by the names of the arguments that are tensors or operators.
        non_tensor_params: the other arguments, by name.
    """

    __slots__ = ("_non_tensor_params", "_param_specs")

    operator_type: type[LinearOperator]

    def __init__(self, param_specs: dict[str, Any], non_tensor_params: dict[str, Any]) -> None:
        self._param_specs = param_specs
        self._non_tensor_params = non_tensor_params

    @property
    def value_type(self) -> type:
        """The class of the operators."""
        return self.operator_type

    @property
    def _component_specs(self) -> Any:
        return self._param_specs

    def _to_components(self, value: LinearOperator) -> Any:
        return {name: _operator_argument(value, name) for name in self._param_specs}

    def _from_components(self, components: Any) -> Any:
        leaves = nest.flatten(components)
        if leaves and all(leaf is None for leaf in leaves):
            return None  # the gradient of an operator that no target depends on
        if any(leaf is None for leaf in leaves):
            components = {name: _fill_missing(components[name], spec) for name, spec in self._param_specs.items()}
        return self.operator_type(**self._non_tensor_params, **components)

    def _serialize(self) -> tuple[Any, ...]:
        return self._param_specs, self._non_tensor_params

    def _batch(self, batch_size: int | None) -> LinearOperatorSpec:
        return type(self)(
            nest.map_structure(lambda s: s._batch(batch_size), self._param_specs), self._non_tensor_params
        )

    def _unbatch(self) -> LinearOperatorSpec:
        return type(self)(nest.map_structure(lambda s: s._unbatch(), self._param_specs), self._non_tensor_params)


def _spec_class(operator_type: Any) -> type[LinearOperatorSpec]:
    """Returns the class of the specs of a class of operators: specs of different classes are never compatible."""
    if "_spec_class" not in vars(operator_type):
        members = {"operator_type": operator_type, "__slots__": ()}
        operator_type._spec_class = type(f"{operator_type.__name__}Spec", (LinearOperatorSpec,), members)
    return operator_type._spec_class


def spec_of(operator: LinearOperator) -> LinearOperatorSpec:
    """Returns the spec of an operator."""
    parameters = operator.parameters
    # A class that does not say which of its arguments matter needs all of them.
    names = list(operator._matrix_dimensions) or [n for n in parameters if n not in hints.NAMES and n != "name"]
    specs, others = {}, {}
    for name in (*names, *(hint for hint in hints.NAMES if hint in parameters)):
        value = _operator_argument(operator, name)
        spec = _value_spec(value)
        if spec is None:
            others[name] = value
        else:
            specs[name] = spec
    return _spec_class(type(operator))(specs, others)


def _operator_argument(operator: LinearOperator, name: str) -> Any:
    """Returns an argument of an operator: a tensor, an operator, or a Python value."""
    argument = operator.parameters.get(name)
    if name in hints.NAMES or (argument is not None and hasattr(operator, name)):
        return getattr(operator, name)
    static = get_static_value(argument) if isinstance(argument, Tensor) else argument  # without a property: a size
    return static.tolist() if isinstance(static, (np.ndarray, np.generic)) else argument if static is None else static


def _value_spec(value: Any) -> Any:
    """Returns the spec of a tensor, a variable, an operator, or of a list of them; None for anything else."""
    if isinstance(value, CompositeTensor):
        return value._type_spec
    if isinstance(value, Variable):
        return VariableSpec(value.shape, value.dtype, value.trainable)
    if isinstance(value, Tensor):
        return TensorSpec(value.shape, value.dtype)
    if isinstance(value, list) and value:
        specs = [_value_spec(v) for v in value]
        return None if None in specs else specs
    return None


def _fill_missing(component: Any, spec: Any) -> Any:
    """Returns a component with zeros in the place of None, the gradient of tensors that no target depends on."""
    if isinstance(spec, list):
        parts = [None] * len(spec) if component is None else component
        return [_fill_missing(c, s) for c, s in zip(parts, spec, strict=True)]
    if component is not None:
        return component
    if isinstance(spec, LinearOperatorSpec):
        parts = {name: _fill_missing(None, s) for name, s in spec._param_specs.items()}
        return spec.operator_type(**spec._non_tensor_params, **parts)
    return zeros(spec.shape, spec.dtype)
