"""The default graph and the default sessions of a thread."""

from __future__ import annotations

import threading
from typing import Any

from tapeflow.core.context import state
from tapeflow.graph.ir.graph import Graph, current_graph


class _Default(threading.local):
    def __init__(self) -> None:
        self.scope: Any = None  # of the default graph, while eager execution is disabled


default = _Default()


def get_default_session() -> Any:
    """Returns the innermost session of this thread.

    Returns:
        A `Session`, or None.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     tf.compat.v1.get_default_session() is sess
        True
    """
    return state.default_session()


def get_default_graph() -> Graph:
    """Returns the graph that this thread builds.

    Returns:
        A `Graph`. A thread that builds none has a default graph of its own.

    Example:
        >>> with tf.Graph().as_default() as g:
        ...     tf.compat.v1.get_default_graph() is g
        True
    """
    return current_graph()


def reset_default_graph() -> None:
    """Gives this thread a new, empty default graph.

    Raises:
        AssertionError: a graph is being built by `tf.Graph.as_default()`.

    Example:
        >>> tf.compat.v1.reset_default_graph()
        >>> tf.compat.v1.get_default_graph().get_operations()
        []
    """
    if state.graph is not (state.default_graph if default.scope is not None else None):
        raise AssertionError(
            "Do not use tf.reset_default_graph() to clear nested graphs. If you need a cleared graph, exit the "
            "nesting and create a new graph."
        )
    disabled = default.scope is not None
    if disabled:
        enable_eager_execution()
    state.default_graph = Graph()
    if disabled:
        disable_eager_execution()


def disable_eager_execution() -> None:
    """Makes this thread's ops build its default graph from now on, as in TensorFlow 1.

    In TensorFlow that holds for the whole process and for good; here for the calling thread, until
    `enable_eager_execution`.

    Raises:
        ValueError: another graph is being built.

    Example:
        >>> tf.compat.v1.disable_eager_execution()
        >>> tf.executing_eagerly()
        False
        >>> tf.compat.v1.enable_eager_execution()
        >>> tf.executing_eagerly()
        True
    """
    if default.scope is not None:
        return
    if state.graph is not None:
        raise ValueError(
            "tf.disable_eager_execution must be called at program startup, not while a graph is being built."
        )
    default.scope = get_default_graph().as_default()
    default.scope.__enter__()


def enable_eager_execution(config: Any = None, device_policy: Any = None, execution_mode: Any = None) -> None:
    """Undoes `disable_eager_execution`; without it, has no effect.

    Args:
        config, device_policy, execution_mode: accepted, and without effect.

    Raises:
        ValueError: another graph is being built.

    Example:
        >>> tf.compat.v1.enable_eager_execution()
        >>> tf.executing_eagerly()
        True
    """
    if default.scope is None:
        return
    if state.graph is not state.default_graph:
        raise ValueError(
            "tf.enable_eager_execution must be called at program startup, not while a graph is being built."
        )
    default.scope.__exit__(None, None, None)
    default.scope = None


def executing_eagerly_outside_functions() -> bool:
    """Tells whether ops run eagerly outside of functions that are being traced.

    Returns:
        True or False.

    Example:
        >>> tf.compat.v1.executing_eagerly_outside_functions()
        True
    """
    graph = state.graph
    while graph is not None and graph.building_function:
        graph = graph.around
    return graph is None
