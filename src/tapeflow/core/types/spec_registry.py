"""The names under which classes of specs that are not TensorFlow's own stand in SavedModels."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from tapeflow.core.types.type_spec import TypeSpec

_NAME_TO_TYPE_SPEC: dict[str, type[TypeSpec]] = {}
_TYPE_SPEC_TO_NAME: dict[type[TypeSpec], str] = {}


def register(name: str) -> Callable[[Any], Any]:
    """Returns a decorator that gives a class of specs its name: `"project.Type"`.

    Raises:
        TypeError: the name is no text, or the class no class of specs.
        ValueError: the name has another form; the name or the class is registered already.
    """
    if not isinstance(name, str):
        raise TypeError(f"Expected `name` to be a string; got {name!r}")
    if not re.fullmatch(r"(\w+\.)+\w+", name):
        raise ValueError(
            "Registered name must have the form '{project_name}.{type_name}' (e.g. 'my_project.MyTypeSpec'); "
            f"got {name!r}."
        )

    def decorate(kind: str) -> Any:
        if not (isinstance(kind, type) and issubclass(kind, TypeSpec)):
            raise TypeError(f"Expected `cls` to be a TypeSpec; got {kind!r}")
        if kind in _TYPE_SPEC_TO_NAME:
            raise ValueError(
                f"Class {_full_name(kind)} has already been registered with name {_TYPE_SPEC_TO_NAME[kind]}."
            )
        if name in _NAME_TO_TYPE_SPEC:
            raise ValueError(
                f"Name {name} has already been registered for class {_full_name(_NAME_TO_TYPE_SPEC[name])}."
            )
        _NAME_TO_TYPE_SPEC[name], _TYPE_SPEC_TO_NAME[kind] = kind, name
        return kind

    return decorate


def lookup(name: str) -> type[TypeSpec]:
    """Returns the class of a name.

    Raises:
        TypeError: the name is no text.
        ValueError: there is no class of that name.
    """
    if not isinstance(name, str):
        raise TypeError(f"Expected `name` to be a string; got {name!r}")
    if name not in _NAME_TO_TYPE_SPEC:
        raise ValueError(f"No TypeSpec has been registered with name {name!r}")
    return _NAME_TO_TYPE_SPEC[name]


def get_name(cls: type[TypeSpec]) -> str:
    """Returns the name of a class.

    Raises:
        TypeError: it is no class of specs.
        ValueError: it has no name.
    """
    if not (isinstance(cls, type) and issubclass(cls, TypeSpec)):
        raise TypeError(f"Expected `cls` to be a TypeSpec; got {cls!r}")
    if cls not in _TYPE_SPEC_TO_NAME:
        raise ValueError(f"TypeSpec {_full_name(cls)} has not been registered.")
    return _TYPE_SPEC_TO_NAME[cls]


def _full_name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__name__}"
