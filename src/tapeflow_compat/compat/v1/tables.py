"""Initializers of tables."""

from __future__ import annotations

from typing import Any

from tapeflow.array.identities import group
from tapeflow.core.context import state
from tapeflow_compat.compat.v1.variables import GraphKeys, get_collection


def tables_initializer(name: str = "init_all_tables") -> Any:
    """Returns an operation that runs the initializers of the graph's tables; eagerly None.

    A table has its values from its creation on, unless they are tensors of the graph.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     sess.run(tf.compat.v1.tables_initializer())
    """
    if state.graph is None:
        return None
    return group(*get_collection(GraphKeys.TABLE_INITIALIZERS), name=name)


def initialize_all_tables(name: str = "init_all_tables") -> Any:
    """Returns the same as `tables_initializer`, by its old name.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     sess.run(tf.compat.v1.initialize_all_tables())
    """
    return tables_initializer(name)
