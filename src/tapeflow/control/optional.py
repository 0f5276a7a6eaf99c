"""`tf.experimental.Optional`: a value that may be absent, and its spec."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tapeflow.core.ops.convert import operand
from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.raw_kernels import kernel_of
from tapeflow.core.ops.shape_rules import scalar, text
from tapeflow.core.types.dtypes import DType, string, variant
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.types.spec import TensorSpec, TypeSpec
from tapeflow.core.values import nest
from tapeflow.core.values.boxed_objects import box_object, hold_object
from tapeflow.core.values.composite import CompositeTensor
from tapeflow.core.values.strings import StringArray
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor, Tensor, invalid

if TYPE_CHECKING:
    from tapeflow.array.list_values import ListVariant


class Optional(CompositeTensor):
    """A value, or its absence; created by `from_value` and `empty`.

    Example:
        >>> from tapeflow.control.optional import Optional
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
    def from_value(value: dict[Any, Any] | float) -> Optional:
        """Creates an optional that holds a value.

        Args:
            value: a nest of tensors and composite values. As in datasets, a list is one tensor.

        Returns:
            The optional.

        Raises:
            InvalidArgumentError: there is no tensor in the value.
            TypeError: a part of it can't be a tensor.
        """
        try:
            components, spec = _elements_module().normalize_value(value)
        except ValueError as error:
            raise TypeError(f"Could not build a TypeSpec for {value!r} of type {type(value).__name__}.") from error
        if not [s for s in nest.flatten(spec) if s.flatten()]:
            raise invalid("An optional needs a value of at least one tensor [Op:OptionalFromValue]")
        if any(isinstance(t, SymbolicTensor) for t in nest.flatten(components, expand_composites=True)):
            return GraphOptional(ops.OptionalFromValue(_encode_value(components, spec)), spec)
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


class GraphOptional(Optional):
    """An optional in a graph.

    Args:
        variant_tensor: the symbolic tensor that stands for it.
        element_spec: the spec of its value.
    """

    __slots__ = ("_variant_tensor",)

    def __init__(self, variant_tensor: Tensor, element_spec: Any) -> None:
        super().__init__(None, element_spec)
        self._variant_tensor = variant_tensor

    def has_value(self, name: str | None = None) -> Tensor:
        """Returns a bool scalar, True if there is a value."""
        return ops.OptionalHasValue(self._variant_tensor)

    def get_value(self, name: str | None = None) -> Any:
        """Returns the value as symbolic tensors. Without one, running the graph raises an InvalidArgumentError."""
        specs = _tensor_specs(self._element_spec)
        types, shapes = [s.dtype for s in specs], [s.shape for s in specs]
        return _decode_value(ops.OptionalGetValue(self._variant_tensor, types, shapes), self._element_spec)


def _elements_module() -> Any:
    """Returns the module of elements. It is heavy, and most programs have no optionals."""
    from tapeflow.data import elements

    return elements


def _tensor_specs(spec: TensorSpec | dict[Any, Any] | Sequence[TensorSpec]) -> list[Any]:
    """Returns the specs of the tensors that an optional holds."""
    return [part for s in nest.flatten(spec) for part in _elements_module().encoded_specs(s)]


def _encode_value(value: Tensor | dict[Any, Any], spec: Any) -> list[Any]:
    """Returns the tensors that an optional of a value holds."""
    return _elements_module().encode_values(nest.flatten(value), nest.flatten(spec))


def _decode_value(tensors: Sequence[Any], spec: TensorSpec | dict[Any, Any] | Sequence[TensorSpec]) -> Any:
    """Returns the value of an optional that holds tensors."""
    return nest.pack_sequence_as(spec, _elements_module().decoded_values(tensors, nest.flatten(spec)))


# In kernels, an optional is a tuple of raw values. It is empty without a value.


@kernel_of("OptionalFromValue", shape=scalar)
def _from_value(components: Sequence[Any]) -> Any:
    return box_object(tuple(components))


@kernel_of("OptionalNone", shape=scalar)
def _empty_optional() -> Any:
    return box_object(())


@kernel_of("OptionalHasValue", shape=scalar)
def _has_value(optional: ListVariant | np.ndarray) -> Any:
    return torch.tensor(bool(components_in(optional)))


def components_in(variant: ListVariant | np.ndarray, title: str = "an optional") -> tuple[Any, ...]:
    """Returns the raw values that a variant holds.

    Args:
        variant: the variant.
        title: what the caller takes.

    Raises:
        InvalidArgumentError: the variant is something else.
    """
    values = variant.item() if variant.ndim == 0 else None
    if isinstance(values, (tuple, list)) and all(hasattr(v, "shape") for v in values):
        return tuple(values)
    raise invalid(f"Input must be {title}, but is a variant of {type(values).__name__} of shape {variant.shape}.")


@kernel_of("OptionalGetValue", shape=lambda _optional, _types, shapes: list(shapes))
def _get_value(optional: ListVariant | np.ndarray, types: Sequence[DType], shapes: Sequence[Any]) -> Any:
    values = components_in(optional)
    if not values:
        raise invalid("The given optional does not have a value. [Op:OptionalGetValue]")
    return checked_components(values, types, shapes)


def checked_components(
    values: tuple[Any, ...], types: Sequence[DType], shapes: Sequence[Any], title: str = "optional"
) -> tuple[Any, ...]:
    """Returns raw values that have the expected types and shapes.

    Raises:
        InvalidArgumentError: they have others.
    """
    if len(values) != len(types):
        raise invalid(f"The given {title} has {len(values)} components, expected {len(types)}")
    for i, (value, dtype, shape) in enumerate(zip(values, types, shapes, strict=True)):
        start = f"The given {title} does not match the expected {{}} for component {i}. Expected: {{}}. Actual: {{}}."
        actual = "string" if isinstance(value, StringArray) else str(value.dtype).removeprefix("torch.")
        if isinstance(value, StringArray) != (dtype is string) or (dtype.torch and value.dtype != dtype.torch):
            raise invalid(start.format("type", dtype.name, actual))
        if not TensorShape(shape).is_compatible_with(value.shape):
            raise invalid(start.format("shape", text(TensorShape(shape)), text(value.shape)))
    return values


class OptionalSpec(TypeSpec):
    """The spec of a `tf.experimental.Optional`.

    Args:
        element_spec: the spec of its value, or a nest of specs.

    Example:
        >>> tf.OptionalSpec(tf.TensorSpec([2]))
        OptionalSpec(TensorSpec(shape=(2,), dtype=tf.float32, name=None),)
    """

    __slots__ = ("_element_spec",)

    value_type = Optional

    def __init__(self, element_spec: Any) -> None:
        self._element_spec = element_spec

    @classmethod
    def from_value(cls, value: Optional) -> OptionalSpec:
        """Returns the spec of an optional."""
        return cls(value.element_spec)

    @property
    def _component_specs(self) -> Any:
        return [TensorSpec([], variant)]

    def _to_components(self, value: Optional) -> Any:
        if isinstance(value, GraphOptional):
            return [value._variant_tensor]
        tensors = [] if value._components is None else _encode_value(value._components, self._element_spec)
        return [hold_object(tuple([t.value for t in tensors]), variant)]

    def _from_components(self, components: list[Tensor]) -> Optional:
        if isinstance(components[0], SymbolicTensor):
            return GraphOptional(components[0], self._element_spec)
        values = components[0].value[()]
        if not values:
            return Optional.empty(self._element_spec)
        specs = _tensor_specs(self._element_spec)
        tensors = [EagerTensor(v, s.dtype) for v, s in zip(values, specs, strict=True)]
        return Optional(_decode_value(tensors, self._element_spec), self._element_spec)

    def _serialize(self) -> tuple[Any, ...]:
        return (self._element_spec,)

    def _batch(self, batch_size: int | None) -> OptionalSpec:
        raise NotImplementedError("Batching for Optional is not implemented.")
