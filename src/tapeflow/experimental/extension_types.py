"""`tf.experimental.ExtensionType`: a user's class that functions, datasets and ops accept as they accept tensors.

A value is immutable. Its spec has the same fields, with specs in the place of tensors, and converts it to tensors and
back: `tf.nest`, `tf.function` and `tf.data` need no more than that.
"""

from __future__ import annotations

import functools
import inspect
from abc import ABCMeta
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tapeflow.core.types import spec_registry
from tapeflow.core.types.spec import type_spec_from_value
from tapeflow.core.types.type_spec import TypeSpec
from tapeflow.core.values import nest
from tapeflow.core.values.composite import CompositeTensor
from tapeflow.core.values.tensor import Tensor
from tapeflow.experimental.dispatch import of_op
from tapeflow.experimental.fields import REQUIRED, Field, ImmutableDict, check, own_annotations, resolve_annotation
from tapeflow.math.comparison import equal, logical_and, logical_not
from tapeflow.math.reduction import reduce_all

_RESERVED = frozenset({"self", "Spec", "_type_spec", "_declared", "_frozen", "_spec_kind"})


class _Meta(ABCMeta):
    """Creates a value or spec by its constructor, and then makes it final."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        instance = super().__call__(*args, **kwargs)
        instance._finish()
        return instance


class _Final(metaclass=_Meta):
    """A class with fields that only a constructor sets."""

    _frozen = False

    @classmethod
    def _all_fields(cls) -> tuple[Field, ...]:
        raise NotImplementedError

    def _finish(self) -> None:
        """Checks and converts the fields that the constructor set, after which they are final."""
        missing = {f.name for f in self._all_fields() if f.name not in vars(self)}
        if missing:
            raise ValueError(f"Missing required fields: {missing}")
        for field in self._all_fields():
            vars(self)[field.name] = self._fitted(field, vars(self)[field.name])
        self.__validate__()
        vars(self)["_frozen"] = True

    def _fitted(self, field: Field, value: object) -> Any:
        raise NotImplementedError

    def __validate__(self) -> None:
        """Checks the fields, in a subclass."""

    def __setattr__(self, name: str, value: object) -> None:
        if self._frozen or all(f.name != name for f in self._all_fields()):
            raise AttributeError(f"Cannot mutate attribute `{name}` outside the custom constructor of ExtensionType.")
        vars(self)[name] = value

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"Cannot mutate attribute `{name}` outside the custom constructor of ExtensionType.")

    @classmethod
    def _with_fields(cls, values: Mapping[str, Any]) -> Any:
        """Creates an instance with these fields unchanged, without its constructor."""
        instance = cls.__new__(cls)
        vars(instance).update(values, _frozen=True)
        return instance

    def _written(self, write: Callable[[Any], str]) -> str:
        parts = [f"{f.name}={write(vars(self)[f.name])}" for f in self._all_fields() if f.name in vars(self)]
        return f"{type(self).__qualname__.rpartition('<locals>.')[2]}({', '.join(parts)})"


class ExtensionTypeSpec(_Final, TypeSpec):
    """The spec of an extension type. Every extension type has its own, as its `Spec`.

    Its constructor takes the fields of the type: specs for tensors and for other extension types, and all other values
    unchanged. A class `Spec` inside the type may have its own constructor, which sets the fields, and properties and
    methods.

    Example:
        >>> class Pair(tf.experimental.ExtensionType):
        ...     left: tf.Tensor
        ...     right: tf.Tensor
        >>> Pair.Spec(left=tf.TensorSpec([2]), right=tf.TensorSpec([None], tf.int32)).left.shape
        TensorShape([2])
        >>> issubclass(Pair.Spec, tf.experimental.ExtensionTypeSpec)
        True
    """

    _value_type: Any  # an extension type

    @classmethod
    def _all_fields(cls) -> tuple[Field, ...]:
        return cls._value_type._all_fields()

    def _fitted(self, field: Field, value: Any) -> Any:
        return field.spec(value)

    @property
    def value_type(self) -> type:
        """The extension type."""
        return self._value_type

    @classmethod
    def from_value(cls, value: ExtensionType) -> Any:
        """Returns the spec of a value.

        Args:
            value: an instance of the extension type.
        """
        kinds = Tensor, CompositeTensor
        fields = {f.name: _map_field(vars(value)[f.name], kinds, type_spec_from_value) for f in cls._all_fields()}
        return cls._with_fields(fields)

    def _serialize(self) -> tuple[Any, ...]:
        return tuple([(f.name, vars(self)[f.name]) for f in self._all_fields()])

    @classmethod
    def _deserialize(cls, serialization: tuple[Any, ...]) -> TypeSpec:
        immutable = {name: _map_field(value, (), lambda part: part) for name, value in serialization}
        return cls._with_fields(immutable)

    @property
    def _component_specs(self) -> list[TypeSpec]:
        return list(_field_leaves([vars(self)[f.name] for f in self._all_fields()], TypeSpec))

    def _to_components(self, value: ExtensionType) -> list[Any]:
        return list(_field_leaves([vars(value)[f.name] for f in self._all_fields()], (Tensor, CompositeTensor)))

    def _from_components(self, components: Sequence[Any]) -> Any:
        rest = iter(components)
        fields = {f.name: _map_field(vars(self)[f.name], TypeSpec, lambda _: next(rest)) for f in self._all_fields()}
        return self._value_type._with_fields(fields)

    def __repr__(self) -> str:
        return self._written(_as_plain_text)


class ExtensionType(_Final, CompositeTensor):
    """The base of classes that functions, datasets and ops accept as they accept tensors.

    A subclass lists its fields with their types, as a dataclass does: `tf.Tensor` and its kin (`tf.RaggedTensor`,
    another extension type), `int`, `float`, `bool`, `str`, `bytes`, `tf.DType`, `tf.TensorShape`, `None`, and tuples,
    mappings and unions of them. A value's fields never change. Without a constructor of its own it is created with
    its fields; a constructor of its own sets them all. Then `__validate__`, if there is one, may refuse them. A type
    that goes into SavedModels has a name as its attribute `__name__`: `"project.Type"`.

    Raises:
        TypeError: for the class, a type that no field can have, or a default that does not fit; for a value, a field
            that does not fit.
        ValueError: a reserved name, or a class attribute without a type; a field that the constructor did not set.

    Example:
        >>> class Masked(tf.experimental.ExtensionType):
        ...     values: tf.Tensor
        ...     mask: tf.Tensor
        >>> @tf.function
        ... def filled(m, default):
        ...     return tf.where(m.mask, m.values, default)
        >>> filled(Masked([1, 2], [True, False]), 9).numpy().tolist()
        [1, 9]
        >>> tf.type_spec_from_value(Masked([1, 2], [True, False])).values.dtype
        tf.int32
    """

    Spec: type[ExtensionTypeSpec]
    _declared: tuple[Field, ...] = ()
    _spec_kind: type[ExtensionTypeSpec] = ExtensionTypeSpec

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "_spec_kind" in vars(cls):  # a base
            return
        cls._declared = _fields_of(cls)
        if "__init__" not in vars(cls):
            _add_constructor(cls, _constructor_signature(cls._declared, "value"))
        cls.Spec = _spec_class(cls)
        if "__name__" in vars(cls):
            spec_registry.register(f"{vars(cls)['__name__']}.Spec")(cls.Spec)

    @classmethod
    def _all_fields(cls) -> tuple[Field, ...]:
        return _resolved_fields(cls)

    def _fitted(self, field: Field, value: Any) -> Any:
        return field.value(value)

    @property
    def _type_spec(self) -> Any:
        spec = vars(self).get("_cached_spec")
        if spec is None:
            spec = vars(self)["_cached_spec"] = type(self).Spec.from_value(self)
        return spec

    def __tf_dispatch__(self, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        """Returns the result of the function registered for an op and this type, or NotImplemented."""
        return of_op(function, args)

    def __eq__(self, other: object) -> Any:
        """Returns a bool tensor that is true if all fields are equal; False if they can't be compared."""
        if type(self) is not type(other) or self._type_spec != type_spec_from_value(other):
            return False
        pairs = zip(*(nest.flatten(v, expand_composites=True) for v in (self, other)), strict=True)
        same = [reduce_all(equal(x, y)) for x, y in pairs]
        return functools.reduce(logical_and, same) if same else True

    def __ne__(self, other: object) -> Any:
        same = self == other
        return not same if isinstance(same, bool) else logical_not(same)

    def __hash__(self) -> int:
        raise TypeError(f"unhashable type: {type(self).__name__!r}")

    def __repr__(self) -> str:
        return self._written(repr)


# ---- creating classes ------------------------------------------------------------------------------------------------


def _fields_of(cls: type) -> tuple[Field, ...]:
    """Returns the fields of a class, inherited ones first."""
    inherited = [f for base in reversed(cls.__mro__[1:]) for f in vars(base).get("_declared", ())]
    fields = {f.name: f for f in inherited}
    own = own_annotations(cls)
    for name, value in vars(cls).items():
        if name not in own and not _is_part_of_the_class(name, value):
            raise ValueError(
                f"The field annotations for {cls.__name__} are invalid. Field {name} is missing a type annotation."
            )
    for name, annotation in own.items():
        if name in _RESERVED or name.startswith("_tf_extension_type"):
            raise ValueError(f"The field annotations for {cls.__name__} are invalid. Field {name!r} is reserved.")
        fields[name] = Field(name, annotation, vars(cls).get(name, REQUIRED))
    for field in fields.values():
        try:
            _resolve_field(field, cls)
        except NameError:  # a class that does not exist yet
            continue
    return tuple(fields.values())


def _resolve_field(field: Field, cls: type) -> None:
    """Resolves an annotation, and converts the default to it."""
    field.annotation = resolve_annotation(field.annotation, field.name, cls, {cls.__name__: cls})
    check(field.annotation, field.name)
    if field.default is not REQUIRED:
        try:
            field.default = field.value(field.default)
        except TypeError as error:
            raise TypeError(f"default value for {error}") from None


def _resolved_fields(cls: Any) -> tuple[Field, ...]:
    """Returns the fields, with annotations that can all be resolved by now."""
    if not vars(cls).get("_is_resolved", False):
        for field in cls._declared:
            _resolve_field(field, cls)
        type.__setattr__(cls, "_is_resolved", True)
    return cls._declared


def _is_part_of_the_class(name: str, value: object) -> bool:
    special = (name.startswith("__") and name.endswith("__")) or name.startswith("_abc_")
    return special or callable(value) or hasattr(type(value), "__get__") or name in _RESERVED or name == "_is_resolved"


def _constructor_signature(fields: tuple[Field, ...], kind_of_class: str) -> inspect.Signature:
    """Returns the signature of the constructor of a value or a spec. Fields without a default that follow one with a
    default are keyword-only."""
    empty = inspect.Parameter.empty
    by_name = False
    parameters: list[inspect.Parameter] = []
    for field in fields:
        default = empty if field.default is REQUIRED or kind_of_class == "spec" else field.default
        by_name = by_name or (default is empty and bool(parameters) and parameters[-1].default is not empty)
        kind = inspect.Parameter.KEYWORD_ONLY if by_name else inspect.Parameter.POSITIONAL_OR_KEYWORD
        note = empty if kind_of_class == "spec" else field.annotation
        parameters.append(inspect.Parameter(field.name, kind, default=default, annotation=note))
    return inspect.Signature(parameters)


def _add_constructor(kind: Any, signature: inspect.Signature) -> None:
    """Adds a constructor with a signature to a class."""

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        vars(self).update(bound.arguments)

    kind.__init__ = __init__
    kind.__signature__ = signature.replace(return_annotation=kind)  # for `inspect.signature`


def _spec_class(cls: Any) -> Any:
    """Creates the spec class of an extension type, which inherits from a class `Spec` inside of it."""
    own = vars(cls).get("Spec")
    names = {"__module__": cls.__module__, "__qualname__": f"{cls.__qualname__}.Spec", "_value_type": cls}
    bases: tuple[type, ...] = (cls._spec_kind,)
    if own is not None:
        bases = (own, *[b for b in bases if not issubclass(own, b)])
    spec = _Meta(f"{cls.__name__}.Spec", bases, names)
    if own is None or "__init__" not in vars(own):
        _add_constructor(spec, _constructor_signature(cls._declared, "spec"))
    return spec


# ---- the parts of fields ---------------------------------------------------------------------------------------------


def _field_leaves(field: Any, kinds: Any) -> Iterator[Any]:
    """Yields the tensors, or specs, in a field."""
    if isinstance(field, kinds):
        yield field
    elif isinstance(field, (list, tuple)):
        for part in field:
            yield from _field_leaves(part, kinds)
    elif isinstance(field, Mapping):
        for key in sorted(field):  # as nests are flattened
            yield from _field_leaves(field[key], kinds)


def _map_field(field: Any, kinds: Any, function: Callable[[Any], Any]) -> Any:
    """Returns a field with a function applied to each tensor, or spec, in it."""
    if isinstance(field, kinds):
        return function(field)
    if isinstance(field, tuple):
        return tuple([_map_field(part, kinds, function) for part in field])
    if isinstance(field, Mapping):
        parts = {key: _map_field(field[key], kinds, function) for key in sorted(field)}
        return ImmutableDict({key: parts[key] for key in field})
    return field


def _as_plain_text(field: object) -> str:
    """Returns a field's text, with mappings as dicts."""
    if isinstance(field, Mapping):
        return "{" + ", ".join(f"{key!r}: {_as_plain_text(value)}" for key, value in field.items()) + "}"
    return repr(field)
