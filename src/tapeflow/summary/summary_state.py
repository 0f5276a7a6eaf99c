"""The settings of a thread's summaries: the default writer, the default step, and whether to record at all."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tapeflow.core.context import override
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import bool as boolean
from tapeflow.core.types.dtypes import int64
from tapeflow.core.values.tensor import Tensor
from tapeflow.math.comparison import logical_and


class RecordingState(threading.local):
    """The state of one thread.

    Attributes:
        writer: the default writer, or None.
        step: the default step, or None.
        condition: the argument of `record_if`; None is True.
        in_replica: False in a replica of a distribution strategy that leaves the writing to another one.
    """

    def __init__(self) -> None:
        self.writer: Any = None
        self.step: Any = None
        self.condition: Any = None
        self.in_replica: bool = True


recording = RecordingState()


def get_step() -> TensorLike | None:
    """Returns the default step of this thread.

    Returns:
        The value that `set_step` got, or None.

    Example:
        >>> tf.summary.experimental.set_step(3)
        >>> tf.summary.experimental.get_step()
        3
        >>> tf.summary.experimental.set_step(None)
    """
    return recording.step


def set_step(step: TensorLike | None) -> None:
    """Sets the default step of this thread.

    Args:
        step: converts to an int64 scalar; or None for no default. A `tf.function` retains the step it was traced with,
            unless that is a variable.

    Example:
        >>> step = tf.Variable(0, dtype=tf.int64)
        >>> tf.summary.experimental.set_step(step)
        >>> tf.summary.experimental.set_step(None)
    """
    recording.step = step


def checked_step(step: TensorLike) -> Tensor:
    """Returns an explicit step as an int64 tensor of one element."""
    tensor = convert(step, int64)
    if tensor.shape.num_elements() != 1:
        raise ValueError(f"Argument `step` must be a scalar. Received step with shape {tensor.shape}.")
    return tensor


def chosen_step(step: TensorLike | None) -> Tensor:
    """Returns the explicit step, or else the default one, as an int64 tensor."""
    if step is None:
        step = recording.step
    if step is None:
        raise ValueError(
            "No step set. Please specify one either through the `step` argument or through "
            "tf.summary.experimental.set_step()"
        )
    return convert(step, int64)


@contextmanager
def record_if(condition: TensorLike | Callable[[], Any] | None) -> Iterator[None]:
    """Writes summaries in a scope only if a condition holds.

    Args:
        condition: a bool, a boolean scalar tensor, or a function that returns one and is called at every summary. None
            is True.

    Returns:
        A context manager, which decorates functions, too.

    Example:
        >>> with tf.summary.record_if(False):
        ...     bool(tf.summary.should_record_summaries())
        False
    """
    with override(recording, condition=condition):
        yield


def should_record_summaries() -> Tensor:
    """Returns True if a summary would be written: there is a default writer, and `record_if` allows it.

    Returns:
        A boolean scalar tensor.

    Example:
        >>> tf.summary.should_record_summaries().numpy().item()
        False
    """
    if recording.writer is None:
        return convert(False)
    condition = recording.condition
    if callable(condition) and not hasattr(condition, "dtype"):
        condition = condition()
    condition = convert(True if condition is None else condition, boolean)
    return condition if recording.in_replica else logical_and(False, condition)
