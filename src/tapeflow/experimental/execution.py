"""`tf.experimental.async_scope` and other settings of how ops run, which change nothing here."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tapeflow.core.errors import NotFoundError

_EXECUTORS = ("", "DEFAULT", "SINGLE_THREADED_EXECUTOR")


@contextmanager
def async_scope() -> Iterator[None]:
    """Returns a context whose ops may still run when Python goes on. Here errors are raised at once, as outside of it.

    Returns:
        A context manager.

    Example:
        >>> with tf.experimental.async_scope():
        ...     x = tf.constant(1) + 1
        >>> x.numpy().item()
        2
    """
    yield


def enable_strict_mode() -> None:
    """Makes names that TensorFlow gave up errors. There are none here that still work otherwise, so it changes nothing.

    Returns:
        None.

    Example:
        >>> tf.experimental.enable_strict_mode()
    """


def async_clear_error() -> None:
    """Clears the errors of ops that ran while Python went on. There are none.

    Returns:
        None.

    Example:
        >>> tf.experimental.async_clear_error()
    """


@contextmanager
def function_executor_type(executor_type: str | None) -> Iterator[None]:
    """Returns a context whose functions are run by an executor. Here all run operation after operation.

    Args:
        executor_type: "", "DEFAULT" or "SINGLE_THREADED_EXECUTOR"; None for no change.

    Returns:
        A context manager.

    Raises:
        NotFoundError: it is another type.

    Example:
        >>> with tf.experimental.function_executor_type("SINGLE_THREADED_EXECUTOR"):
        ...     tf.function(lambda x: x + 1)(1).numpy().item()
        2
    """
    if executor_type is not None and executor_type not in _EXECUTORS:
        raise NotFoundError.of(
            f"No executor factory registered for the given executor type: {executor_type} Registered factories are "
            "{DEFAULT, , SINGLE_THREADED_EXECUTOR}."
        )
    yield
