"""The fields of extension types: what an annotation says, and values and specs that fit it."""

from __future__ import annotations

import collections.abc
import dataclasses
import sys
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tapeflow.array.creation import convert_to_tensor
from tapeflow.core.types.dtypes import DType, as_dtype
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.types.type_spec import TypeSpec
from tapeflow.core.values.composite import CompositeTensor
from tapeflow.core.values.tensor import Tensor

REQUIRED: Any = type("Required", (), {"__repr__": lambda self: "<required>"})()  # stands for no default
_SIMPLE = (bool, int, float, str, bytes, type(None), Tensor, TensorShape, DType)


class ImmutableDict(collections.abc.Mapping):
    """A dict of which nothing changes: what a field of mapping type holds.

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

    def __contains__(self, key: object) -> bool:
        return key in self._items

    def __repr__(self) -> str:
        return f"ImmutableDict({self._items!r})"


@dataclasses.dataclass
class Field:
    """One field of an extension type.

    Attributes:
        name: of the field.
        annotation: what the class says of it.
        default: its value where none is given, or `REQUIRED`.
    """

    name: str
    annotation: Any
    default: Any = REQUIRED

    def value(self, given: Any) -> Any:
        """A value of this field; tensors are converted, and sequences and mappings become immutable.

        Raises:
            TypeError: it does not fit.
        """
        return _fitted(given, self.annotation, self.name, _value_of)

    def spec(self, given: Any) -> Any:
        """The same where specs stand for tensors.

        Raises:
            TypeError: it does not fit.
        """
        return _fitted(given, self.annotation, self.name, _spec_of)


def resolved(annotation: Any, name: str, owner: type, own_names: Mapping[str, Any]) -> Any:
    """An annotation that may be written as a text, with what it names.

    Raises:
        NameError: there is nothing of that name yet.
    """
    if annotation is None:
        return type(None)
    if not isinstance(annotation, str) and not _mentions_texts(annotation):
        return annotation
    module = sys.modules.get(owner.__module__)
    made = types.SimpleNamespace(__annotations__={name: annotation}, __module__=owner.__module__)
    names = {**vars(module), **own_names} if module else dict(own_names)
    return typing.get_type_hints(made, names, names)[name]


def _mentions_texts(annotation: Any) -> bool:
    inner = typing.get_args(annotation)
    return isinstance(annotation, typing.ForwardRef) or any(isinstance(a, str) or _mentions_texts(a) for a in inner)


def check(annotation: Any, name: str) -> None:
    """Refuses an annotation that no field can have.

    Raises:
        TypeError: it is one.
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
        shown = repr(annotation.__name__) if isinstance(annotation, type) and not origin else repr(annotation)
        raise TypeError(f"In field {name!r}: Unsupported type annotation {shown}")
    for part in inner:
        check(part, name)


def _fitted(given: Any, annotation: Any, path: str, leaf: Callable[[Any, Any, str], Any]) -> Any:
    """A value with all its parts converted by `leaf`, which knows what stands for a tensor."""
    origin, args = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        for choice in args:
            try:
                return _fitted(given, choice, path, leaf)
            except (TypeError, ValueError):
                continue
        shown = annotation if origin is typing.Union else f"one of {annotation}"
        raise TypeError(f"{path}: expected {shown}, got {type(given).__name__!r}")
    if origin is tuple:
        if not isinstance(given, (list, tuple)):
            raise TypeError(f"{path}: expected tuple, got {type(given).__name__!r}")
        kinds = [args[0]] * len(given) if len(args) == 2 and args[1] is Ellipsis else list(args)
        if len(kinds) != len(given):
            raise TypeError(f"{path}: expected tuple with length {len(kinds)}, got length {len(given)}")
        return tuple([_fitted(v, k, f"{path}[{i}]", leaf) for i, (v, k) in enumerate(zip(given, kinds, strict=True))])
    if origin is collections.abc.Mapping:
        if not isinstance(given, Mapping):
            raise TypeError(f"{path}: expected mapping, got {type(given).__name__!r}")
        keys = [_fitted(key, args[0], f"{path}[<key>]", leaf) for key in given]
        return ImmutableDict({key: _fitted(given[key], args[1], f"{path}[{key!r}]", leaf) for key in keys})
    return leaf(given, annotation, path)


def _value_of(given: Any, annotation: Any, path: str) -> Any:
    if annotation is Tensor:
        try:
            return convert_to_tensor(given)
        except (TypeError, ValueError) as error:
            raise type(error)(f"{path}: expected a Tensor, got {type(given).__name__!r}: {error}") from error
    if isinstance(annotation, type) and issubclass(annotation, CompositeTensor):
        return _instance(given, annotation, path)
    return _plain(given, annotation, path)


def _spec_of(given: Any, annotation: Any, path: str) -> Any:
    if annotation is Tensor:
        if not isinstance(given, TensorSpec):
            raise TypeError(f"{path}: expected a TensorSpec, got {type(given).__name__!r}")
        return given
    if isinstance(annotation, type) and issubclass(annotation, CompositeTensor):
        if not isinstance(given, TypeSpec) or not issubclass(given.value_type, annotation):
            raise TypeError(f"{path}: expected a TypeSpec for {annotation.__name__!r}, got {type(given).__name__!r}")
        return given
    return _plain(given, annotation, path)


def _plain(given: Any, annotation: Any, path: str) -> Any:
    """A value that a value and its spec have in common."""
    convert = {TensorShape: TensorShape, DType: as_dtype}.get(annotation)
    if convert is None:
        return _instance(given, annotation, path)
    try:
        return convert(given)
    except (TypeError, ValueError):
        raise TypeError(f"{path}: expected 'tf.{annotation.__name__}', got {type(given).__name__!r}") from None


def _instance(given: Any, annotation: type, path: str) -> Any:
    if not isinstance(given, annotation):
        raise TypeError(f"{path}: expected {annotation.__name__!r}, got {type(given).__name__!r}")
    return given
