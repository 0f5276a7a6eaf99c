"""Scopes with the parameters of TensorFlow 1."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from tapeflow.compat.v1.variable_scopes import names_of, variable_scope
from tapeflow.core.context import state


class name_scope:
    """A scope that prefixes the names of operations; in a graph it gets a number where there was one of its name.

    Args:
        name: its name; with a `/` at the end, a scope to go back to.
        default_name: its name where `name` is None.
        values: accepted, and without effect.

    Raises:
        ValueError: `name` is no string.

    Example:
        >>> with tf.Graph().as_default():
        ...     with tf.compat.v1.name_scope("a") as first, tf.compat.v1.name_scope(None, "b", []) as second:
        ...         print(first, second)
        a/ a/b/
    """

    def __init__(self, name: str | None, default_name: str | None = None, values: Any = None) -> None:
        if not isinstance(name, (str, type(None))):
            raise ValueError("name for name_scope must be a string.")
        self._name = default_name if name is None else name
        self._open: list[Any] = []

    @property
    def name(self) -> str | None:
        """The name given."""
        return self._name

    def __enter__(self) -> str:
        scope = (
            _again((self._name or "").rstrip("/"))
            if not self._name or self._name.endswith("/")
            else names_of(self._name)
        )
        scope.__enter__()
        self._open.append(scope)
        return f"{state.name_scope}/" if state.name_scope else ""

    def __exit__(self, *error: Any) -> None:
        self._open.pop().__exit__(*error)


@contextmanager
def _again(scope: str) -> Iterator[None]:
    before, state.name_scope = state.name_scope, scope
    try:
        yield
    finally:
        state.name_scope = before


def op_scope(values: Any, name: str | None, default_name: str | None = None) -> name_scope:
    """The same as `name_scope(name, default_name, values)`, by its old name."""
    return name_scope(name, default_name, values)


def variable_op_scope(
    values: Any, name_or_scope: Any, default_name: str | None = None, initializer: Any = None,
    regularizer: Any = None, caching_device: Any = None, partitioner: Any = None, custom_getter: Any = None,
    reuse: Any = None, dtype: Any = None, use_resource: bool | None = None, constraint: Any = None,
) -> variable_scope:  # fmt: skip
    """The same as `variable_scope`, by its old name."""
    return variable_scope(
        name_or_scope, default_name, values, initializer, regularizer, caching_device, partitioner, custom_getter,
        reuse, dtype, use_resource, constraint,
    )  # fmt: skip


def device(device_name_or_function: Any) -> Any:
    """A context whose ops run on a device, see `tf.device`."""
    from tapeflow.core.device import device as scope

    return scope(device_name_or_function)


def colocate_with(op: Any, ignore_existing: bool = False) -> Any:
    """Nothing: where ops run is for `tf.device` to say."""
    return nullcontext()


def container(container_name: str) -> Any:
    """Nothing: every session has its own resources."""
    return nullcontext()


def executing_eagerly() -> bool:
    """Whether ops run at once, see `tf.executing_eagerly`."""
    return state.graph is None
