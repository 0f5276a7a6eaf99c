"""`tf.experimental.Optional`: a value that may be absent, and its spec."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow.core.ops.convert import convert, operand
from tapeflow.core.types.dtypes import variant
from tapeflow.core.types.spec import TensorSpec, TypeSpec, spec_of, type_spec_from_value
from tapeflow.core.values import nest
from tapeflow.core.values.composite import CompositeTensor
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor, Tensor, invalid


class Optional(CompositeTensor):
    """A value, or its absence; created by `from_value` and `empty`.

    Example:
        >>> from tapeflow.optional import Optional
        >>> Optional.from_value(3).get_value().numpy().item()
        3
        >>> Optional.empty(tf.TensorSpec([], tf.int32)).has_value().numpy().item()
        False
    """

    __slots__ = ("_components", "_element_spec")

    def __init__(self, components: Any, element_spec: Any) -> None:
        self._components = components
        self._element_spec = element_spec

    @staticmethod
    def from_value(value: Any) -> Optional:
        """Creates an optional that holds a value.

        Args:
            value: a nest of tensors and composite values.

        Returns:
            The optional.

        Raises:
            InvalidArgumentError: there is no tensor in the value.
        """
        spec = nest.map_structure(type_spec_from_value, value)
        if not [s for s in nest.flatten(spec) if s.flatten()]:
            raise invalid("An optional needs a value of at least one tensor [Op:OptionalFromValue]")
        components = nest.map_structure(lambda v: v if spec_of(v) is not None else convert(v), value)
        if any(isinstance(t, SymbolicTensor) for t in nest.flatten(components, expand_composites=True)):
            from tapeflow.data.staged import optional_of

            return optional_of(components, spec)
        return Optional(components, spec)

    @staticmethod
    def empty(element_spec: Any) -> Optional:
        """Creates an optional without a value.

        Args:
            element_spec: the spec of the value that it could hold, or a nest of specs.

        Returns:
            The optional.
        """
        return Optional(None, element_spec)

    @property
    def element_spec(self) -> Any:
        """The spec of the value."""
        return self._element_spec

    @property
    def _type_spec(self) -> OptionalSpec:
        return OptionalSpec(self._element_spec)

    def has_value(self, name: str | None = None) -> Tensor:
        """Tells if there is a value.

        Args:
            name: ignored.

        Returns:
            A bool scalar.
        """
        return operand(self._components is not None, None)

    def get_value(self, name: str | None = None) -> Any:
        """Returns the value.

        Args:
            name: ignored.

        Returns:
            The nest of tensors and composite values.

        Raises:
            InvalidArgumentError: there is no value.
        """
        if self._components is None:
            raise invalid("The given optional does not have a value. [Op:OptionalGetValue]")
        return self._components


class OptionalSpec(TypeSpec):
    """The spec of a `tf.experimental.Optional`.

    Args:
        element_spec: the spec of its value, or a nest of specs.

    Example:
        >>> tf.OptionalSpec(tf.TensorSpec([2]))
        OptionalSpec(TensorSpec(shape=(2,), dtype=tf.float32, name=None),)
    """

    __slots__ = ("_element_spec",)

    def __init__(self, element_spec: Any) -> None:
        self._element_spec = element_spec

    @classmethod
    def from_value(cls, value: Optional) -> OptionalSpec:
        """Returns the spec of an optional."""
        return cls(value.element_spec)

    @property
    def value_type(self) -> type:
        """`tf.experimental.Optional`."""
        return Optional

    @property
    def _component_specs(self) -> Any:
        return [TensorSpec([], variant)]

    def _to_components(self, value: Optional) -> Any:
        if hasattr(value, "_variant_tensor"):  # an optional of a graph
            return [value._variant_tensor]
        handle = np.empty((), object)
        handle[()] = value
        return [EagerTensor(handle, variant)]

    def _from_components(self, components: Any) -> Optional:
        if isinstance(components[0], SymbolicTensor):
            from tapeflow.data.staged import StagedOptional

            return StagedOptional(components[0], self._element_spec)
        return components[0].value[()]

    def _serialize(self) -> tuple[Any, ...]:
        return (self._element_spec,)

    def _batch(self, batch_size: int | None) -> OptionalSpec:
        raise NotImplementedError("Batching for Optional is not implemented.")
