"""The fields of extension types: their annotations, and the values and specs that fit them."""

from __future__ import annotations

import collections.abc
import dataclasses
import inspect
import sys
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tapeflow.array.creation import convert_to_tensor
from tapeflow.core.types.dtypes import DType, as_dtype
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.types.type_spec import TypeSpec
from tapeflow.core.values.composite import CompositeTensor
from tapeflow.core.values.tensor import Tensor

REQUIRED: Any = type("Required", (), {"__repr__": lambda self: "<required>"})()  # stands for no default
_SIMPLE = (bool, int, float, str, bytes, type(None), Tensor, TensorShape, DType)


class ImmutableDict(collections.abc.Mapping):
    """A dict that never changes: the value of a field of mapping type.

    Example:
        >>> from tapeflow.experimental.fields import ImmutableDict
        >>> ImmutableDict({"a": 1})["a"]
        1
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._items = dict(*args, **kwargs)

    def __getitem__(self, key: Any) -> Any:
        return self._items[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        return f"ImmutableDict({self._items!r})"


@dataclasses.dataclass
class Field:
    """One field of an extension type.

    Attributes:
        name: of the field.
        annotation: its type, in the class.
        default: its value where there is no argument, or `REQUIRED`.
    """

    name: str
    annotation: Any
    default: Any = REQUIRED

    def value(self, raw: bytes) -> Any:
        """Converts to a value of this field: parts to tensors, and sequences and mappings to immutable ones.

        Raises:
            TypeError: it does not fit.
        """
        return _fit_value(raw, self.annotation, self.name, _convert_value)

    def spec(self, raw: bytes) -> Any:
        """Converts to the spec of a value of this field, with specs in the place of tensors.

        Raises:
            TypeError: it does not fit.
        """
        return _fit_value(raw, self.annotation, self.name, _spec_of)


def own_annotations(cls: type) -> Mapping[str, Any]:
    """Returns the annotations in the body of a class, with names that are not defined yet as texts or references."""
    if sys.version_info >= (3, 14):
        import annotationlib  # Python evaluates them when they are asked for

        return annotationlib.get_annotations(cls, format=annotationlib.Format.FORWARDREF)
    return inspect.get_annotations(cls)


def resolve_annotation(annotation: Any, name: str, owner: type, own_names: Mapping[str, Any]) -> Any:
    """Resolves an annotation that may be written as a text.

    Raises:
        NameError: a name in it is not defined yet.
    """
    if annotation is None:
        return type(None)
    if not isinstance(annotation, str) and not _mentions_texts(annotation):
        return annotation
    module = sys.modules.get(owner.__module__)
    holder = types.SimpleNamespace(__annotations__={name: annotation}, __module__=owner.__module__)
    names = {**vars(module), **own_names} if module else dict(own_names)
    return typing.get_type_hints(holder, names, names)[name]


def _mentions_texts(annotation: object) -> bool:
    inner = typing.get_args(annotation)
    return isinstance(annotation, typing.ForwardRef) or any(isinstance(a, str) or _mentions_texts(a) for a in inner)


def check(annotation: object, name: str) -> None:
    """Checks that an annotation is one that a field can have.

    Raises:
        TypeError: it is not.
    """
    origin, args = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        inner = args
    elif origin is tuple and args:
        inner = tuple([a for a in args if a is not Ellipsis])
    elif origin is collections.abc.Mapping and len(args) == 2:
        inner = args
    elif annotation in _SIMPLE or (isinstance(annotation, type) and issubclass(annotation, CompositeTensor)):
        inner = ()
    else:
        text = repr(annotation.__name__) if isinstance(annotation, type) and not origin else repr(annotation)
        raise TypeError(f"In field {name!r}: Unsupported type annotation {text}")
    for part in inner:
        check(part, name)


def _fit_value(value: Any, annotation: Any, path: str, leaf: Callable[[Any, Any, str], Any]) -> Any:
    """Converts a value, and all its parts by `leaf(value, annotation, path)`."""
    origin, args = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        for choice in args:
            try:
                return _fit_value(value, choice, path, leaf)
            except (TypeError, ValueError):
                continue
        kinds_text = annotation if origin is typing.Union else f"one of {annotation}"
        raise TypeError(f"{path}: expected {kinds_text}, got {type(value).__name__!r}")
    if origin is tuple:
        if not isinstance(value, (list, tuple)):
            raise TypeError(f"{path}: expected tuple, got {type(value).__name__!r}")
        kinds = [args[0]] * len(value) if len(args) == 2 and args[1] is Ellipsis else list(args)
        if len(kinds) != len(value):
            raise TypeError(f"{path}: expected tuple with length {len(kinds)}, got length {len(value)}")
        return tuple(
            [_fit_value(v, k, f"{path}[{i}]", leaf) for i, (v, k) in enumerate(zip(value, kinds, strict=True))]
        )
    if origin is collections.abc.Mapping:
        if not isinstance(value, Mapping):
            raise TypeError(f"{path}: expected mapping, got {type(value).__name__!r}")
        keys = [_fit_value(key, args[0], f"{path}[<key>]", leaf) for key in value]
        return ImmutableDict({key: _fit_value(value[key], args[1], f"{path}[{key!r}]", leaf) for key in keys})
    return leaf(value, annotation, path)


def _convert_value(value: Any, annotation: Any, path: str) -> Any:
    if annotation is Tensor:
        try:
            return convert_to_tensor(value)
        except (TypeError, ValueError) as error:
            raise TypeError(f"{path}: expected a Tensor, got {type(value).__name__!r}") from error
    if isinstance(annotation, type) and issubclass(annotation, CompositeTensor):
        return _check_instance(value, annotation, path)
    return _convert_plain(value, annotation, path)


def _spec_of(value: Any, annotation: Any, path: str) -> Any:
    if annotation is Tensor:
        if not isinstance(value, TypeSpec) or not issubclass(value.value_type, Tensor):
            raise TypeError(f"{path}: expected a TensorSpec, got {type(value).__name__!r}")
        return value
    if isinstance(annotation, type) and issubclass(annotation, CompositeTensor):
        if not isinstance(value, TypeSpec) or not issubclass(value.value_type, annotation):
            raise TypeError(f"{path}: expected a TypeSpec for {annotation.__name__!r}, got {type(value).__name__!r}")
        return value
    return _convert_plain(value, annotation, path)


def _convert_plain(value: object, annotation: type, path: str) -> Any:
    """Converts a part that a value and its spec have in common."""
    convert = {TensorShape: TensorShape, DType: as_dtype}.get(annotation)
    if convert is None:
        return _check_instance(value, annotation, path)
    try:
        return convert(value)
    except (TypeError, ValueError):
        raise TypeError(f"{path}: expected 'tf.{annotation.__name__}', got {type(value).__name__!r}") from None


def _check_instance(value: object, annotation: type, path: str) -> Any:
    if not isinstance(value, annotation):
        raise TypeError(f"{path}: expected {annotation.__name__!r}, got {type(value).__name__!r}")
    return value
