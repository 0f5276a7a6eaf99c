"""How ops and functions run, as far as TensorFlow lets a program say so: here it changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tapeflow.core.errors import NotFoundError

_EXECUTORS = ("", "DEFAULT", "SINGLE_THREADED_EXECUTOR")


@contextmanager
def async_scope() -> Iterator[None]:
    """A scope whose ops may still run when Python goes on. Errors come at once here, as outside of it.

    Example:
        >>> with tf.experimental.async_scope():
        ...     x = tf.constant(1) + 1
        >>> x.numpy().item()
        2
    """
    yield


def async_clear_error() -> None:
    """Forgets errors of ops that ran while Python went on. There are none.

    Example:
        >>> tf.experimental.async_clear_error()
    """


@contextmanager
def function_executor_type(executor_type: str | None) -> Iterator[None]:
    """A scope whose functions are run in a way: all run operation after operation here.

    Args:
        executor_type: "", "DEFAULT" or "SINGLE_THREADED_EXECUTOR"; None says nothing.

    Raises:
        NotFoundError: it is none of these.

    Example:
        >>> with tf.experimental.function_executor_type("SINGLE_THREADED_EXECUTOR"):
        ...     tf.function(lambda x: x + 1)(1).numpy().item()
        2
    """
    if executor_type is not None and executor_type not in _EXECUTORS:
        raise NotFoundError(
            None,
            None,
            f"No executor factory registered for the given executor type: {executor_type} Registered factories are "
            "{DEFAULT, , SINGLE_THREADED_EXECUTOR}.",
        )
    yield
