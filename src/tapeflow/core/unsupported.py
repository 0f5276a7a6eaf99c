"""The public names that work with TensorFlow's own binaries alone: they can be imported, and say so when they are used.

`scripts/record.py unsupported` records them in `unsupported.json`: `tf.tpu`, `tf.mlir`, TensorRT, servers.
Enumerations are TensorFlow's. Calling a function, a class or a method raises NotImplementedError. Classes can have
subclasses, and work with `isinstance`.
"""

from __future__ import annotations

import enum
import functools
import json
import pathlib
import types
from collections.abc import Callable
from typing import Any, NoReturn


@functools.cache
def _unsupported_names() -> dict[str, Any]:
    return json.loads(pathlib.Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))


def _refuse_call(path: str) -> NoReturn:
    raise NotImplementedError(
        f"tf.{path} needs TensorFlow's own binaries, which are not part of TapeFlow: install TensorFlow to use it."
    )


def _stand_in(path: str, description: dict[Any, Any] | list[str] | None) -> Any:
    """Returns the function, enumeration or class of a path.

    Args:
        path: below `tf`.
        description: None for a function, the values of an enumeration, or the members of a class.
    """
    name = path.rpartition(".")[2]
    needs = f"`tf.{path}` needs TensorFlow's own binaries."
    summary = f"Is not supported.\n\nRaises:\n    NotImplementedError: {needs}"
    if isinstance(description, dict):
        numbered = all(type(value) is int for value in description.values())
        return enum.IntEnum(name, description) if numbered else enum.Enum(name, description)
    if description is None:

        def function(*args: Any, **kwargs: Any) -> NoReturn:
            _refuse_call(path)

        function.__name__ = function.__qualname__ = name
        function.__doc__ = summary
        return function

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        _refuse_call(path)

    inner = {name: f"{path}.{name}" for name in description}
    members = {name: _resolve_path(p) if p in _unsupported_names() else _stand_in(p, None) for name, p in inner.items()}
    return type(name, (), {**members, "__init__": __init__, "__doc__": summary})


@functools.cache
def _resolve_path(path: str) -> Any:
    """Returns the object or the namespace at a path; raises KeyError."""
    if path in _unsupported_names():
        return _stand_in(path, _unsupported_names()[path])
    if not any(name.startswith(f"{path}.") for name in _unsupported_names()):
        raise KeyError(path)
    module: Any = types.ModuleType(f"tapeflow.{path}", f"The public `tf.{path}` namespace, which can only be imported.")
    module.__all__ = names_below(path)
    module.__getattr__, module.__dir__ = below(path), module.__all__.copy
    module.__path__ = []
    return module


def below(namespace: str) -> Callable[[str], Any]:
    """Returns the `__getattr__` of a namespace, for its names that need TensorFlow's binaries.

    Args:
        namespace: its path below `tf`, "" for `tf` itself.
    """

    def __getattr__(name: str) -> Any:
        try:
            return _resolve_path(f"{namespace}.{name}" if namespace else name)
        except KeyError:
            module = f"tapeflow.{namespace}".removesuffix(".")
            raise AttributeError(f"module {module!r} has no attribute {name!r}") from None

    return __getattr__


def names_below(namespace: str) -> list[str]:
    """Returns the names in a namespace that need TensorFlow's binaries."""
    prefix = f"{namespace}."
    return sorted({n.removeprefix(prefix).partition(".")[0] for n in _unsupported_names() if n.startswith(prefix)})


__getattr__ = below("")
