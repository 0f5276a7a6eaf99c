"""Scopes that are neither devices nor tapes: names, control dependencies, variable creators; public at the top
level."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from tapeflow.core.context import nobody_listening, override, state


class name_scope:
    """A scope that prefixes the names of the variables created in it, and of operations. In a graph, its name gets a
    number if the graph has a scope of this name.

    Args:
        name: appended to the names of the scopes around it; with a `/` at the end it replaces them, and an empty one
            leads back to no scope at all.

    Raises:
        ValueError: `name` is no string.

    Example:
        >>> with tf.name_scope("layer") as scope:
        ...     v = tf.Variable(1.0, name="w")
        >>> scope, v.name
        ('layer/', 'layer/w:0')
    """

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            raise ValueError("name for name_scope must be a string.")
        self._name = name
        self._before: list[str] = []

    @property
    def name(self) -> str:
        """The `name` argument."""
        return self._name

    def __enter__(self) -> str:
        before = state.name_scope
        self._before.append(before)
        name = self._name
        if name and not name.endswith("/"):
            if state.graph is not None:
                name = f"{state.graph.unique_name(name)}/"
            else:
                name = f"{before}/{name}/" if before else f"{name}/"
        state.name_scope = name[:-1]
        return name

    def __exit__(self, *_: object) -> None:
        state.name_scope = self._before.pop()


def get_current_name_scope() -> str:
    """Returns the name scopes in force, joined by `/`; empty outside of all.

    Returns:
        The scope's name, without a `/` at the end.

    Example:
        >>> with tf.name_scope("a"), tf.name_scope("b"):
        ...     tf.get_current_name_scope()
        'a/b'
    """
    return state.name_scope


def control_dependencies(control_inputs: list[Any] | None) -> AbstractContextManager[Any]:
    """Returns a context whose ops run after `control_inputs`. Eager ops run in program order anyway, so there is
    nothing to do.

    Args:
        control_inputs: operations and tensors that run before; functions among them are called. None clears the
            dependencies.

    Returns:
        A context manager.

    Raises:
        TypeError: `control_inputs` is not a list of operations, tensors and functions.

    Example:
        >>> v = tf.Variable(1.0)
        >>> with tf.control_dependencies([v.assign(2.0)]):
        ...     print((v + 1.0).numpy().item())
        3.0
    """
    if state.graph is not None:
        return state.graph.control_dependencies(control_inputs)
    for control in control_inputs or ():
        if callable(control):
            control()
    return nullcontext()


@contextmanager
def init_scope() -> Iterator[None]:
    """Returns a context outside of the functions being traced and of all tapes: for making variables.

    Ops inside run eagerly, or in the outer graph, without control dependencies.

    Returns:
        A context manager.

    Example:
        >>> with tf.init_scope():
        ...     tf.executing_eagerly()
        True
    """
    graph = state.graph
    while graph is not None and graph.building_function:
        graph = graph.around
    outside = nullcontext() if graph is None else graph.control_dependencies(None)
    with nobody_listening(), outside, override(state, graph=graph):
        yield


def executing_eagerly() -> bool:
    """Returns True if ops run at once and return values, rather than being traced.

    Returns:
        False while a graph is built, else True.

    Example:
        >>> tf.executing_eagerly()
        True
    """
    return state.graph is None


def inside_function() -> bool:
    """Returns True if a `tf.function` is being traced here, in an `init_scope` too.

    Returns:
        True while a function's graph is built, else False.

    Example:
        >>> tf.inside_function()
        False
    """
    return state.tracing is not None if state.graph is None else state.graph.building_function


@contextmanager
def variable_creator_scope(variable_creator: Callable[..., Any]) -> Iterator[None]:
    """Returns a scope whose `tf.Variable(...)` calls create variables with `variable_creator`.

    Args:
        variable_creator: `variable_creator(next_creator, **kwargs)`, with the arguments of `tf.Variable`; it returns
            a variable, usually `next_creator(**kwargs)` of changed arguments. The innermost scope's is called first.

    Returns:
        A context manager.

    Example:
        >>> def frozen(next_creator, **kwargs):
        ...     return next_creator(**{**kwargs, "trainable": False})
        >>> with tf.variable_creator_scope(frozen):
        ...     print(tf.Variable(1.0).trainable)
        False
    """
    state.variable_creators.append(variable_creator)
    try:
        yield
    finally:
        state.variable_creators.pop()
