"""The switches between the behaviors of TensorFlow 1 and 2; those that have only one behavior here are accepted."""

from __future__ import annotations

import threading

from tapeflow.core.errors import UnimplementedError
from tapeflow.math.operators import compare_elements, compare_identities
from tapeflow_compat.default_graph import disable_eager_execution, enable_eager_execution


class _ControlFlow(threading.local):
    """Per thread: whether results of conditionals are unpacked as in TensorFlow 2."""

    v2 = True


_control_flow = _ControlFlow()


def disable_v2_behavior() -> None:
    """Has this thread build graphs, as `disable_eager_execution` and `disable_control_flow_v2` do, and `==` compare
    identities, as `disable_tensor_equality` does; variables stay resource variables.

    Example:
        >>> tf.compat.v1.disable_v2_behavior()
        >>> tf.executing_eagerly()
        False
        >>> tf.compat.v1.enable_v2_behavior()
    """
    disable_eager_execution()
    disable_control_flow_v2()
    disable_tensor_equality()


def enable_v2_behavior() -> None:
    """Undoes `disable_v2_behavior`.

    Example:
        >>> tf.compat.v1.enable_v2_behavior()
        >>> tf.executing_eagerly()
        True
    """
    enable_eager_execution()
    enable_control_flow_v2()
    enable_tensor_equality()


def enable_resource_variables() -> None:
    """Nothing: variables are resource variables.

    Example:
        >>> tf.compat.v1.enable_resource_variables()
        >>> tf.compat.v1.resource_variables_enabled()
        True
    """


def disable_resource_variables() -> None:
    """Has no effect: variables stay resource variables, which behave like the older ones.

    Example:
        >>> tf.compat.v1.disable_resource_variables()
        >>> tf.compat.v1.resource_variables_enabled()
        True
    """


def resource_variables_enabled() -> bool:
    """True: variables are resource variables.

    Example:
        >>> tf.compat.v1.resource_variables_enabled()
        True
    """
    return True


def enable_control_flow_v2() -> None:
    """Makes `cond` and `case` return lists of one element unchanged in graphs of this thread: the default.

    Example:
        >>> tf.compat.v1.enable_control_flow_v2()
        >>> with tf.Graph().as_default():
        ...     print(type(tf.compat.v1.cond(tf.constant(True), lambda: [1], lambda: [2])))
        <class 'list'>
    """
    _control_flow.v2 = True


def disable_control_flow_v2() -> None:
    """Has `cond` and `case` take the element out of lists of one element when this thread builds a graph.

    That is all there is to it: conditionals and loops stay functional, and give the same results.

    Example:
        >>> tf.compat.v1.disable_control_flow_v2()
        >>> with tf.Graph().as_default():
        ...     print(tf.compat.v1.cond(tf.constant(True), lambda: [1], lambda: [2]).shape)
        ()
        >>> tf.compat.v1.enable_control_flow_v2()
    """
    _control_flow.v2 = False


def control_flow_v2_enabled() -> bool:
    """Returns True if `enable_control_flow_v2` was called last, or neither switch at all.

    Example:
        >>> tf.compat.v1.control_flow_v2_enabled()
        True
    """
    return _control_flow.v2


def enable_v2_tensorshape() -> None:
    """Nothing: the dimensions of a `tf.TensorShape` are ints and None.

    Example:
        >>> tf.compat.v1.enable_v2_tensorshape()
        >>> tf.TensorShape([2, None])[0]
        2
    """


def disable_v2_tensorshape() -> None:
    """Has the dimensions of a `tf.TensorShape` be `Dimension`s in TensorFlow, which there is no way to have here.

    Raises:
        UnimplementedError: always.

    Example:
        >>> tf.compat.v1.disable_v2_tensorshape()
        Traceback (most recent call last):
        tapeflow.errors.UnimplementedError: The dimensions of a tf.TensorShape are ints and None here; ...
    """
    raise UnimplementedError.of(
        "The dimensions of a tf.TensorShape are ints and None here; `shape.dims` has them as tf.compat.v1.Dimension"
    )


def enable_tensor_equality() -> None:
    """Undoes `disable_tensor_equality`: `==` compares elements, but in graphs that are no function's.

    Example:
        >>> tf.compat.v1.enable_tensor_equality()
        >>> bool(tf.constant(1) == tf.constant(1))
        True
    """
    compare_elements()


def disable_tensor_equality() -> None:
    """Has `==` and `!=` compare tensors and variables by identity, in the whole process.

    Example:
        >>> tf.compat.v1.disable_tensor_equality()
        >>> tf.constant(1) == tf.constant(1)
        False
        >>> tf.compat.v1.enable_tensor_equality()
    """
    compare_identities()
