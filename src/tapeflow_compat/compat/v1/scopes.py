"""Scopes with the parameters of TensorFlow 1."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from tapeflow.core.context import state
from tapeflow.core.types.aliases import DTypeLike
from tapeflow_compat.compat.v1.variable_scopes import in_name_scope, names_of, variable_scope


class name_scope:
    """A scope that prefixes the names of operations. In a graph, a name that is taken gets a number.

    Args:
        name: its name; with a `/` at the end, a scope to go back to.
        default_name: its name where `name` is None.
        values: accepted, and without effect.

    Raises:
        ValueError: `name` is no string; in a graph, there is no name at all but there are `values`.

    Example:
        >>> with tf.Graph().as_default():
        ...     with tf.compat.v1.name_scope("a") as first, tf.compat.v1.name_scope(None, "b", []) as second:
        ...         print(first, second)
        a/ a/b/
    """

    def __init__(self, name: str | None, default_name: str | None = None, values: Any = None) -> None:
        if not all(isinstance(n, (str, type(None))) for n in (name, default_name)):
            raise ValueError("name for name_scope must be a string.")
        if name is None and default_name is None and values is not None and state.graph is not None:
            raise ValueError("At least one of name (None) and default_name (None) must be provided.")
        self._name = default_name if name is None else name
        self._open: list[Any] = []

    @property
    def name(self) -> str | None:
        """The specified name."""
        return self._name

    def __enter__(self) -> str:
        scope = (
            in_name_scope((self._name or "").rstrip("/"))
            if not self._name or self._name.endswith("/")
            else names_of(self._name)
        )
        scope.__enter__()
        self._open.append(scope)
        return f"{state.name_scope}/" if state.name_scope else ""

    def __exit__(self, *error: Any) -> None:
        self._open.pop().__exit__(*error)


def op_scope(values: Any, name: str | None, default_name: str | None = None) -> name_scope:
    """Returns the same as `name_scope(name, default_name, values)`, by its old name.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.op_scope([], "a"):
        ...     print(tf.constant(1, name="c").name)
        a/c:0
    """
    return name_scope(name, default_name, values)


def variable_op_scope(
    values: Any, name_or_scope: Any, default_name: str | None = None, initializer: Callable[..., Any] | None = None,
    regularizer: Callable[..., Any] | None = None, caching_device: Any = None,
    partitioner: Callable[..., Any] | None = None, custom_getter: Callable[..., Any] | None = None,
    reuse: bool | None = None, dtype: DTypeLike = None, use_resource: bool | None = None,
    constraint: Callable[..., Any] | None = None,
) -> variable_scope:  # fmt: skip
    """Returns the same as `variable_scope`, by its old name, and with `values` first.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.variable_op_scope([], "a"):
        ...     print(tf.compat.v1.get_variable("w", [2]).name)
        a/w:0
    """
    return variable_scope(
        name_or_scope, default_name, values, initializer, regularizer, caching_device, partitioner, custom_getter,
        reuse, dtype, use_resource, constraint,
    )  # fmt: skip


def colocate_with(op: Any, ignore_existing: bool = False) -> Any:
    """Returns a context that changes nothing: `tf.device` alone decides where ops run.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.colocate_with(tf.constant(1.0)):
        ...     c = tf.constant(2.0)
    """
    return nullcontext()


def container(container_name: str) -> Any:
    """Returns a context that changes nothing: every session has its own resources.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.container("mine"):
        ...     v = tf.Variable(1.0)
    """
    return nullcontext()


def executing_eagerly() -> bool:
    """Returns True if ops run eagerly, see `tf.executing_eagerly`.

    Example:
        >>> with tf.Graph().as_default():
        ...     print(tf.compat.v1.executing_eagerly())
        False
    """
    return state.graph is None
