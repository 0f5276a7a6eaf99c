"""What a thread's summaries go by: the default writer, the default step, and whether to record at all."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tapeflow.core.ops.convert import convert
from tapeflow.core.types.dtypes import bool as boolean
from tapeflow.core.types.dtypes import int64
from tapeflow.math import logical_and


class Recording(threading.local):
    """The state of one thread.

    Attributes:
        writer: the default writer, or None.
        step: the default step, or None.
        condition: what `record_if` was given; None is True.
        in_replica: False in a replica of a distribution strategy that leaves the writing to another one.
    """

    def __init__(self) -> None:
        self.writer: Any = None
        self.step: Any = None
        self.condition: Any = None
        self.in_replica: bool = True


recording = Recording()


def get_step() -> Any:
    """The default step of this thread, or None.

    Example:
        >>> tf.summary.experimental.set_step(3)
        >>> tf.summary.experimental.get_step()
        3
        >>> tf.summary.experimental.set_step(None)
    """
    return recording.step


def set_step(step: Any) -> None:
    """Sets the default step of this thread.

    Args:
        step: what converts to an int64 scalar, or None for no default. A `tf.function` keeps the step it was traced
            with, unless that is a variable.

    Example:
        >>> step = tf.Variable(0, dtype=tf.int64)
        >>> tf.summary.experimental.set_step(step)
        >>> tf.summary.experimental.set_step(None)
    """
    recording.step = step


def checked_step(step: Any) -> Any:
    """An explicit step as an int64 tensor of one element."""
    tensor = convert(step, int64)
    if tensor.shape.num_elements() != 1:
        raise ValueError(f"Argument `step` must be a scalar. Received step with shape {tensor.shape}.")
    return tensor


def chosen_step(step: Any) -> Any:
    """The step given, or else the default one, as an int64 tensor."""
    if step is None:
        step = recording.step
    if step is None:
        raise ValueError(
            "No step set. Please specify one either through the `step` argument or through "
            "tf.summary.experimental.set_step()"
        )
    return convert(step, int64)


@contextmanager
def record_if(condition: Any) -> Iterator[None]:
    """A scope in which summaries are written only where a condition holds.

    Args:
        condition: a bool, a boolean scalar tensor, or a function that gives one and is asked at every summary. None
            is True.

    Example:
        >>> with tf.summary.record_if(False):
        ...     bool(tf.summary.should_record_summaries())
        False
    """
    before = recording.condition
    recording.condition = condition
    try:
        yield
    finally:
        recording.condition = before


def should_record_summaries() -> Any:
    """Whether a summary would be written: there is a default writer, and `record_if` allows it.

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
