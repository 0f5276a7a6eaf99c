"""The public functions of `tf.autograph`."""

from __future__ import annotations

import ast
import inspect
import logging
import os
import sys
import textwrap
import types
from typing import Any

from tapeflow.autograph.conversion import converted, logger, transformed
from tapeflow.autograph.experimental import Feature
from tapeflow.autograph.source import SourceNotFound

_verbosity = {"level": int(os.environ.get("AUTOGRAPH_VERBOSITY") or 0)}


def to_graph(entity: Any, recursive: bool = True, experimental_optional_features: Any = None) -> Any:
    """Converts a function so that its control flow works on tensors of a graph.

    Args:
        entity: a function, a method, or an object that can be called.
        recursive: accepted; what the function calls is converted when it is called.
        experimental_optional_features: a `Feature`, or several, to be on as well.

    Returns:
        The converted function.

    Raises:
        ValueError: the entity has no source.

    Example:
        >>> def sign(x):
        ...     return 1 if x > 0 else -1
        >>> tf.autograph.to_graph(lambda x: x + 1)(2)
        3
    """
    function = getattr(entity, "__wrapped__", entity) if hasattr(entity, "python_function") else entity
    function = getattr(function, "python_function", function)
    if not callable(function):
        raise ValueError(f"to_graph takes a function, got {entity!r}")
    made = converted(function, frozenset(f.name for f in _features(experimental_optional_features)))
    inner = _function_in(made)
    if inner is None:
        return made
    if made is function and isinstance(made, types.FunctionType):
        made = types.FunctionType(made.__code__, made.__globals__, made.__name__, made.__defaults__, made.__closure__)
        made.__kwdefaults__, made.__doc__ = function.__kwdefaults__, function.__doc__
        inner = made
    inner.__name__ = f"tf__{inner.__name__.strip('<>')}"
    return made


def to_code(entity: Any, recursive: bool = True, experimental_optional_features: Any = None) -> str:
    """Returns the source that a function is converted to.

    Args:
        entity: a function or method.
        recursive, experimental_optional_features: as for `to_graph`.

    Returns:
        Python source. `ag__` stands for AutoGraph's operators.

    Raises:
        ValueError: there is no source.

    Example:
        >>> print(tf.autograph.to_code(tf.cond).startswith("def tf__"))
        True
    """
    function = getattr(entity, "python_function", entity)
    function = _function_in(function)
    if function is None:
        raise ValueError(f"to_code takes a function or method, got {entity!r}")
    try:
        node, _ = transformed(function)
    except SourceNotFound as error:
        raise ValueError(f"Cannot convert {entity!r}: {error}") from None
    if isinstance(node, ast.Lambda):
        return f"tf__lam = {ast.unparse(node)}\n"
    node.name = f"tf__{node.name}"
    return textwrap.dedent(ast.unparse(ast.fix_missing_locations(node))) + "\n"


def _function_in(value: Any) -> types.FunctionType | None:
    """Returns the Python function of a method or an object that can be called."""
    if isinstance(value, types.MethodType):
        value = value.__func__
    if not isinstance(value, types.FunctionType) and not isinstance(value, type):
        call = getattr(type(value), "__call__", None)  # noqa: B004 (what its class calls, not whether it can be called)
        value = None if call is None else inspect.unwrap(call)
    return value if isinstance(value, types.FunctionType) else None


def _features(given: Any) -> tuple[Feature, ...]:
    return () if given is None else (given,) if isinstance(given, Feature) else tuple(given)


class _Echo(logging.StreamHandler):
    """Prints what the log says."""


def set_verbosity(level: int, alsologtostdout: bool = False) -> None:
    """Sets how much AutoGraph says in the log: 0 nothing but warnings, up to 10.

    Args:
        level: the verbosity.
        alsologtostdout: whether to print it, too.

    Example:
        >>> tf.autograph.set_verbosity(0)
    """
    _verbosity["level"] = level
    logger.setLevel(logging.DEBUG if level >= 3 else logging.INFO if level > 0 else logger.level)
    for handler in [h for h in logger.handlers if isinstance(h, _Echo)]:
        logger.removeHandler(handler)
    if alsologtostdout:
        logger.addHandler(_Echo(sys.stdout))


def trace(*args: Any) -> None:
    """Prints its arguments when the function is traced, not when its graph runs.

    Example:
        >>> tf.autograph.trace("tracing", 1)
        tracing 1
    """
    print(*args)
