"""`tf.TypeSpec`: the type, shape and structure of a value, without the value.

A spec is identified by `_serialize()`: two specs of one class are equal, compatible, or more or less specific, as
the shapes, dtypes and Python values in there are.
"""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tapeflow.core.hooks import hooks
from tapeflow.core.types.dtypes import DType
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values import nest
from tapeflow.core.values.composite import CompositeSpec


class TypeSpec(CompositeSpec, metaclass=ABCMeta):
    """The description of a value without its tensors: the common base of all specs.

    A subclass defines `value_type`, `_component_specs`, `_to_components`, `_from_components` and `_serialize`: a tuple
    that the class can be called with to make an equal spec.

    Example:
        >>> tf.TensorSpec([2, None], tf.int32).is_compatible_with(tf.ones([2, 5], tf.int32))
        True
    """

    __slots__ = ()

    _proto_class = "TypeSpecProto"

    @property
    @abstractmethod
    def value_type(self) -> type:
        """The class of the values that this spec describes."""

    @property
    @abstractmethod
    def _component_specs(self) -> Any:
        """A nest of specs, one for each component."""

    @abstractmethod
    def _to_components(self, value: Any) -> Any:
        """Returns the components of a value, in the structure of `_component_specs`."""

    @abstractmethod
    def _from_components(self, components: Any) -> Any:
        """Returns the value with these components."""

    @abstractmethod
    def _serialize(self) -> tuple[Any, ...]:
        """Returns the arguments of the class that create an equal spec."""

    @classmethod
    def _deserialize(cls, serialization: tuple[Any, ...]) -> TypeSpec:
        return cls(*serialization)

    # ---- two specs together ------------------------------------------------------------------------------------------

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Returns True if a value, or some value of another spec, fits this spec."""
        if not isinstance(spec_or_value, TypeSpec):
            spec_or_value = hooks.spec_of(spec_or_value)
        return type(self) is type(spec_or_value) and _are_compatible(self._serialize(), spec_or_value._serialize())

    def is_subtype_of(self, other: Any) -> bool:
        """Returns True if every value of this spec fits `other` too."""
        return type(self) is type(other) and _is_subtype(self._serialize(), other._serialize())

    def most_specific_common_supertype(self, others: Sequence[Any]) -> Any:
        """Returns the most specific spec that the values of this and all `others` have, or None if there is none."""
        if any(type(other) is not type(self) for other in others):
            return None
        try:
            return self._deserialize(_common_supertype(self._serialize(), [other._serialize() for other in others]))
        except _NoSupertypeError:
            return None

    def most_specific_compatible_type(self, other: TypeSpec) -> TypeSpec:
        """Returns the most specific spec that the values of this and the other spec have.

        Raises:
            ValueError: there is none.
        """
        common = self.most_specific_common_supertype([other])
        if common is None:
            raise ValueError(f"No TypeSpec is compatible with both {self!r} and {other!r}")
        return common

    def _without_tensor_names(self) -> Any:
        return self

    # ---- values and their tensors ------------------------------------------------------------------------------------

    def flatten(self) -> list[Any]:
        """Returns the specs of a value's tensors."""
        return nest.flatten(self._component_specs, expand_composites=True)

    def to_tensors(self, value: Any) -> list[Any]:
        """Returns a value's tensors, in the order of `flatten`."""
        return nest.flatten(self._to_components(value), expand_composites=True)

    def from_tensors(self, tensors: Iterator[Any]) -> Any:
        """Returns the value composed of the next tensors of an iterator."""
        return self._from_components(nest.map_structure(lambda s: s.from_tensors(tensors), self._component_specs))

    def _decoded(self, parts: Iterator[Any]) -> Any:
        """Returns the value of the next parts of an iterator: its tensors, if the spec has no encoder."""
        return self.from_tensors(parts)

    def placeholder_value(self, placeholder_context: Any) -> Any:
        """Returns a value composed of placeholders, for a trace."""
        return self._from_components(
            nest.map_structure(lambda s: s.placeholder_value(placeholder_context), self._component_specs)
        )

    def cast(self, value: Any, casting_context: Any) -> Any:
        """Returns the value, if it is of this spec.

        Raises:
            TypeError: it is not.
        """
        if casting_context is not None and casting_context.allow_specs and isinstance(value, TypeSpec):
            if not value.is_subtype_of(self):
                raise TypeError(f"Can not cast {value!r} to {self!r}")
            return self
        actual = hooks.type_spec_from_value(value)
        if not self.is_compatible_with(actual):
            raise TypeError(f"Can not cast {actual!r} to {self!r}")
        return value

    # ---- protos ------------------------------------------------------------------------------------------------------

    @classmethod
    def experimental_type_proto(cls) -> type:
        """Returns the protobuf message class that holds a spec of this class."""
        from tensorboard.compat.proto import struct_pb2

        return getattr(struct_pb2, cls._proto_class)

    @classmethod
    def experimental_from_proto(cls, proto: Any) -> Any:
        """Returns the spec that a message holds."""
        from tapeflow.core.types.spec_proto import spec_from_proto

        return spec_from_proto(proto)

    def experimental_as_proto(self) -> Any:
        """Returns this spec as a message."""
        from tapeflow.core.types.spec_proto import spec_to_proto

        return spec_to_proto(self)

    # ---- identity ----------------------------------------------------------------------------------------------------

    def __tf_tracing_type__(self, context: Any) -> TypeSpec:
        return self

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._serialize() == other._serialize()

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((type(self), _make_hashable(self._serialize())))

    def __reduce__(self) -> Any:
        return type(self)._deserialize, (self._serialize(),)

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self._serialize()}"

    # The mangled names of private methods of TensorFlow's class, which libraries call in specs of their own.

    @staticmethod
    def _TypeSpec__is_compatible(a: object, b: object) -> bool:
        return _are_compatible(a, b)

    def _TypeSpec__make_cmp_key(self, value: Any) -> Any:
        return _make_hashable(value)


class ShapedSpec(TypeSpec):
    """The base of specs of values that have one shape and one dtype."""

    __slots__ = ("_dtype", "_shape")

    _dtype: DType
    _shape: TensorShape

    @property
    def shape(self) -> TensorShape:
        """The shape; dimensions may be unknown."""
        return self._shape

    @property
    def dtype(self) -> DType:
        """The dtype of the elements."""
        return self._dtype


class _NoSupertypeError(Exception):
    """Two serializations have nothing in common."""


def _agree(test: Callable[[Any, Any], bool], a: Any, b: Any) -> bool:
    """Returns True if two values of one type pass a test: their items in pairs, or else their equality."""
    if type(a) is not type(b):
        return False
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(test, a, b))
    if isinstance(a, Mapping):
        return a.keys() == b.keys() and all(test(a[k], b[k]) for k in a)
    return bool(a == b)


def _are_compatible(a: Any, b: Any) -> bool:
    if isinstance(a, (TypeSpec, TensorShape, DType)):
        return type(a) is type(b) and a.is_compatible_with(b)
    return _agree(_are_compatible, a, b)


def _is_subtype(a: Any, b: Any) -> bool:
    return a.is_subtype_of(b) if hasattr(a, "is_subtype_of") else _agree(_is_subtype, a, b)


def _common_supertype(a: Any, others: Sequence[Any]) -> Any:
    if hasattr(a, "most_specific_common_supertype"):
        common = a.most_specific_common_supertype(others)
        if common is None:
            raise _NoSupertypeError
        return common
    if any(type(o) is not type(a) for o in others):
        raise _NoSupertypeError
    if isinstance(a, (list, tuple)):
        if any(len(o) != len(a) for o in others):
            raise _NoSupertypeError
        items = [_common_supertype(x, ys) for x, *ys in zip(a, *others, strict=True)]
        return type(a)(*items) if hasattr(a, "_fields") else type(a)(items)
    if isinstance(a, Mapping):
        if any(o.keys() != a.keys() for o in others):
            raise _NoSupertypeError
        return {k: _common_supertype(v, [o[k] for o in others]) for k, v in a.items()}
    if any(o != a for o in others):
        raise _NoSupertypeError
    return a


def _make_hashable(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return tuple(map(_make_hashable, value))
    if isinstance(value, Mapping):
        return tuple((k, _make_hashable(v)) for k, v in sorted(value.items()))
    return value
