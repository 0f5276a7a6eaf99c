"""The public functions of `tf.autograph`."""

from __future__ import annotations

import ast
import inspect
import logging
import sys
import textwrap
import types
from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.autograph.conversion import convert_function, transform_function
from tapeflow.autograph.experimental import Feature
from tapeflow.autograph.source import SourceNotFound
from tapeflow.core.logger import get_logger


def to_graph(
    entity: Callable[..., Any],
    recursive: bool = True,
    experimental_optional_features: Feature | Sequence[Feature] | None = None,
) -> Callable[..., Any]:
    """Converts a function: its control flow then works on tensors of a graph.

    Args:
        entity: a function, a method, or a callable object.
        recursive: accepted; functions that it calls are converted when they are called.
        experimental_optional_features: a `Feature`, or several, to turn on.

    Returns:
        The converted function.

    Raises:
        ValueError: the entity is not callable.

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
    result = convert_function(function, frozenset(f.name for f in _as_features(experimental_optional_features)))
    inner = _function_in(result)
    if inner is None:
        return result
    if result is function and isinstance(function, types.FunctionType):
        result = types.FunctionType(
            function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
        )
        result.__kwdefaults__, result.__doc__ = function.__kwdefaults__, function.__doc__
        inner = result
    inner.__name__ = f"tf__{inner.__name__.strip('<>')}"
    return result


def to_code(
    entity: Callable[..., Any],
    recursive: bool = True,
    experimental_optional_features: Feature | Sequence[Feature] | None = None,
) -> str:
    """Returns the source that a function is converted to.

    Args:
        entity: a function or method.
        recursive: accepted; functions that it calls are converted when they are called.
        experimental_optional_features: a `Feature`, or several, to turn on.

    Returns:
        Python source. `ag__` stands for AutoGraph's operators.

    Raises:
        ValueError: there is no source.

    Example:
        >>> print(tf.autograph.to_code(tf.cond).startswith("def tf__"))
        True
    """
    function = _function_in(getattr(entity, "python_function", entity))
    if function is None:
        raise ValueError(f"to_code takes a function or method, got {entity!r}")
    try:
        node, _ = transform_function(function)
    except SourceNotFound as error:
        raise ValueError(f"Cannot convert {entity!r}: {error}") from None
    if isinstance(node, ast.Lambda):
        return f"tf__lam = {ast.unparse(node)}\n"
    node.name = f"tf__{node.name}"
    return textwrap.dedent(ast.unparse(ast.fix_missing_locations(node))) + "\n"


def _function_in(value: Any) -> types.FunctionType | None:
    """Returns the Python function of a function, method or callable object, or None."""
    if isinstance(value, types.MethodType):
        value = value.__func__
    if not isinstance(value, types.FunctionType) and not isinstance(value, type):
        call = getattr(type(value), "__call__", None)  # noqa: B004 (the method of the class, not a test for callability)
        value = None if call is None else inspect.unwrap(call)
    return value if isinstance(value, types.FunctionType) else None


def _as_features(features: Feature | Sequence[Feature] | None) -> tuple[Feature, ...]:
    return () if features is None else (features,) if isinstance(features, Feature) else tuple(features)


class _Echo(logging.StreamHandler):
    """Prints the records of the log."""


def set_verbosity(level: int, alsologtostdout: bool = False) -> None:
    """Sets the verbosity of AutoGraph's log: from 0, warnings only, to 10.

    Args:
        level: the verbosity.
        alsologtostdout: whether to print the log, too.

    Returns:
        None.

    Raises:
        TypeError: `level` is not a number.

    Example:
        >>> tf.autograph.set_verbosity(0)
    """
    get_logger().setLevel(logging.DEBUG if level >= 3 else logging.INFO if level > 0 else get_logger().level)
    for handler in [h for h in get_logger().handlers if isinstance(h, _Echo)]:
        get_logger().removeHandler(handler)
    if alsologtostdout:
        get_logger().addHandler(_Echo(sys.stdout))


def trace(*args: object) -> None:
    """Prints its arguments when the function is traced, not when its graph runs.

    Args:
        *args: the values to print.

    Returns:
        None.

    Example:
        >>> tf.autograph.trace("tracing", 1)
        tracing 1
    """
    print(*args)
