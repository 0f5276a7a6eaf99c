"""What turned TensorFlow 1 into 2, feature by feature: accepted, where there is only one way here."""

from __future__ import annotations

from tapeflow.compat.v1.defaults import disable_eager_execution, enable_eager_execution
from tapeflow.errors import UnimplementedError


def disable_v2_behavior() -> None:
    """Has this thread build graphs, as `disable_eager_execution` does; variables stay resource variables.

    Example:
        >>> tf.compat.v1.disable_v2_behavior()
        >>> tf.executing_eagerly()
        False
        >>> tf.compat.v1.enable_v2_behavior()
    """
    disable_eager_execution()


def enable_v2_behavior() -> None:
    """Undoes `disable_v2_behavior`."""
    enable_eager_execution()


def enable_resource_variables() -> None:
    """Nothing: variables are resource variables."""


def disable_resource_variables() -> None:
    """Nothing: variables stay resource variables, which do what the others did."""


def resource_variables_enabled() -> bool:
    """True: variables are resource variables."""
    return True


def enable_control_flow_v2() -> None:
    """Nothing: conditionals and loops are functional."""


def disable_control_flow_v2() -> None:
    """Nothing: conditionals and loops stay functional, and give the same results."""


def control_flow_v2_enabled() -> bool:
    """True: conditionals and loops are functional."""
    return True


def enable_v2_tensorshape() -> None:
    """Nothing: the dimensions of a `tf.TensorShape` are ints and None."""


def disable_v2_tensorshape() -> None:
    """Has the dimensions of a `tf.TensorShape` be `Dimension`s in TensorFlow, which there is no way to have here.

    Raises:
        UnimplementedError: always.
    """
    raise UnimplementedError(
        None,
        None,
        "The dimensions of a tf.TensorShape are ints and None here; `shape.dims` has them as tf.compat.v1.Dimension",
    )


def enable_tensor_equality() -> None:
    """Nothing: `==` compares elements, but in graphs that are no function's, as in TensorFlow."""


def disable_tensor_equality() -> None:
    """Has `==` compare tensors by identity in TensorFlow, which there is no way to have here for eager tensors.

    Raises:
        UnimplementedError: always.
    """
    raise UnimplementedError(None, None, "`==` compares the elements of eager tensors; compare identities with `is`")
