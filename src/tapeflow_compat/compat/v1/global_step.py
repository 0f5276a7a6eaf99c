"""The global step: the variable of a graph that counts the steps of training."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from tapeflow.control.conditions_and_loops import cond
from tapeflow.core.context import state
from tapeflow.core.types.dtypes import int64
from tapeflow.core.values.variable import Variable
from tapeflow_compat.compat.v1.variable_scopes import in_collections
from tapeflow_compat.compat.v1.variables import GraphKeys, is_variable_initialized
from tapeflow_compat.default_graph import get_default_graph

if TYPE_CHECKING:
    from tapeflow.graph.ir.graph import Graph
    from tapeflow_compat.compat.v1.session import Session


def get_global_step(graph: Graph | None = None) -> Any:
    """Returns the global step of a graph, by default of the default one, or None.

    Raises:
        TypeError: the tensor named "global_step" is no scalar of integers.

    Example:
        >>> with tf.Graph().as_default():
        ...     before, step = tf.compat.v1.train.get_global_step(), tf.compat.v1.train.create_global_step()
        ...     print(before, tf.compat.v1.train.get_global_step() is step)
        None True
    """
    graph = graph or get_default_graph()
    steps = graph.get_collection(GraphKeys.GLOBAL_STEP)
    if len(steps) == 1:
        step = steps[0]
    elif not steps and "global_step" in graph._by_name:
        step = graph._shared_variables.get(("", "global_step"))
        step = graph.get_tensor_by_name("global_step:0") if step is None else step
    else:
        return None
    assert_global_step(step)
    return step


def create_global_step(graph: Graph | None = None) -> Any:
    """Returns a new global step: an int64 variable that is 0.

    Raises:
        ValueError: there is one already.

    Example:
        >>> with tf.Graph().as_default():
        ...     print(tf.compat.v1.train.create_global_step())
        <tf.Variable 'global_step:0' shape=() dtype=int64>
    """
    graph = graph or get_default_graph()
    if get_global_step(graph) is not None:
        raise ValueError('"global_step" already exists.')
    collections = [GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP]
    with ExitStack() as stack:
        stack.enter_context(graph._outside_of_scopes() if state.graph is graph else graph.as_default())
        return in_collections(Variable(0, trainable=False, name="global_step", dtype=int64), collections)


def get_or_create_global_step(graph: Graph | None = None) -> Any:
    """Returns the global step, and creates it if it does not exist.

    Example:
        >>> with tf.Graph().as_default():
        ...     step = tf.compat.v1.train.get_or_create_global_step()
        ...     print(tf.compat.v1.train.get_or_create_global_step() is step)
        True
    """
    graph = graph or get_default_graph()
    step = get_global_step(graph)
    return create_global_step(graph) if step is None else step


def global_step(sess: Session, global_step_tensor: Any) -> int:
    """Returns the global step as a number.

    Args:
        sess: the session whose step it is.
        global_step_tensor: the variable.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     step = tf.compat.v1.train.create_global_step()
        ...     sess.run(step.initializer)
        ...     print(tf.compat.v1.train.global_step(sess, step))
        0
    """
    if isinstance(global_step_tensor, Variable) and global_step_tensor._graph is None:
        return int(global_step_tensor.numpy())
    return int(sess.run(global_step_tensor))


def assert_global_step(global_step_tensor: Any) -> None:
    """Checks that something can be a global step.

    Raises:
        TypeError: it is no variable or tensor, or no scalar of integers.

    Example:
        >>> tf.compat.v1.train.assert_global_step(tf.Variable(0, dtype=tf.int64))
    """
    if not hasattr(global_step_tensor, "dtype") or not hasattr(global_step_tensor, "shape"):
        raise TypeError(f'Existing "global_step" must be a Variable or Tensor: {global_step_tensor}.')
    if not global_step_tensor.dtype.is_integer:
        raise TypeError(f'Existing "global_step" does not have integer type: {global_step_tensor.dtype}')
    if global_step_tensor.shape.rank not in (0, None):
        raise TypeError(f'Existing "global_step" is not scalar: {global_step_tensor.shape}')


_READ = "global_step_read_op_cache"  # the collection of the tensor that hooks read, as TensorFlow names it


def readable_global_step(graph: Graph | None = None) -> Any:
    """Returns a tensor with the value of the global step, which is its first one before it is initialized; None without
    a step.

    It is created once for a graph and cached, so it exists in a finalized graph.
    """
    graph = graph or get_default_graph()
    readings = graph.get_collection_ref(_READ)
    step = get_global_step(graph)
    if step is None:
        return None
    if not readings:
        with ExitStack() as stack:
            if state.graph is not graph:
                stack.enter_context(graph.as_default())
            stack.enter_context(graph._outside_of_scopes())
            if isinstance(step, Variable):
                first = step.initializer.inputs[1]
                readings.append(cond(is_variable_initialized(step), step.read_value, lambda: first) + 0)
            else:
                readings.append(step + 0)
    return readings[0]
