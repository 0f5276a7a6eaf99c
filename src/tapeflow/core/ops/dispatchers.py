"""Dispatchers: functions of a library that implement public functions for its own values, such as Keras 2's symbols.

An op offers a call to them off its fast path, before it refuses an argument. Without dispatchers it only checks that
their list is empty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tapeflow.core.ops.convert import has_converter

Dispatcher = Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]

# Each is called with a function, its arguments and keyword arguments, and returns the result or NotImplemented.
dispatchers: list[Dispatcher] = []

# The packages whose classes all functions know. Classes that TensorFlow's files name say that they are of `tensorflow`.
_KNOWN = frozenset({
    "abc", "builtins", "collections", "enum", "functools", "numpy", "tapeflow", "tensorflow", "torch", "types",
})  # fmt: skip


def offer_call(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Returns the result of a dispatcher for a call, or NotImplemented; only calls with foreign values are offered.

    Args:
        function: the function that was called.
        args: its arguments.
        kwargs: its keyword arguments.
    """
    if not (_any_foreign(args) or (kwargs and _any_foreign(kwargs.values()))):
        return NotImplemented
    for dispatcher in dispatchers:
        result = dispatcher(function, args, kwargs)
        if result is not NotImplemented:
            return result
    return NotImplemented


def explicit_arguments(function: Callable[..., Any], args: tuple[Any, ...]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Returns positional and keyword arguments for an op, without optional ones that equal their defaults.

    Args:
        function: the op's function.
        args: an argument for each of its parameters, but for `name`.
    """
    code, defaults = function.__code__, function.__defaults__ or ()
    required = min(code.co_argcount - len(defaults), len(args))
    optional = zip(code.co_varnames[required:], defaults, args[required:], strict=False)
    return args[:required], {name: arg for name, default, arg in optional if arg is not default}


def _any_foreign(values: Iterable[Any]) -> bool:
    for value in values:
        kind = type(value)
        if kind is list or kind is tuple:
            if _any_foreign(value):
                return True
        elif kind is dict:
            if _any_foreign(value.values()):
                return True
        elif kind.__module__.partition(".")[0] not in _KNOWN and not has_converter(kind):
            return True
    return False
