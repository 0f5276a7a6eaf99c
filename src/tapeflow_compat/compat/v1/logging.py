"""The public `tf.compat.v1.logging` namespace: TensorFlow's logger, which `tf.get_logger()` gives."""

from __future__ import annotations

import itertools
import logging
import sys
from collections import defaultdict
from logging import DEBUG, ERROR, FATAL, INFO
from typing import Any

from tapeflow.core.fork_locks import new_lock
from tapeflow.core.logger import get_logger

WARN = logging.WARNING
_counts: defaultdict[tuple[str, int], itertools.count] = defaultdict(itertools.count)
_lock = new_lock()


def log(level: int, msg: str | None, *args: Any, **kwargs: Any) -> None:
    """Logs a message, `msg % args`, at a level.

    Example:
        >>> tf.compat.v1.logging.log(tf.compat.v1.logging.DEBUG, "step %d", 3)
    """
    get_logger().log(level, msg, *args, **kwargs)


vlog = log


def debug(msg: str | None, *args: Any, **kwargs: Any) -> None:
    """Logs a message for debugging: `msg % args`.

    Example:
        >>> tf.compat.v1.logging.debug("step %d", 3)
    """
    log(DEBUG, msg, *args, **kwargs)


def info(msg: str | None, *args: Any, **kwargs: Any) -> None:
    """Logs a message about normal progress: `msg % args`.

    Example:
        >>> tf.compat.v1.logging.info("step %d", 3)
    """
    log(INFO, msg, *args, **kwargs)


def warning(msg: str | None, *args: Any, **kwargs: Any) -> None:
    """Logs a warning: `msg % args`.

    Example:
        >>> tf.compat.v1.logging.warning("The loss is %f", 1e9)
    """
    log(WARN, msg, *args, **kwargs)


warn = warning


def error(msg: str | None, *args: Any, **kwargs: Any) -> None:
    """Logs an error: `msg % args`.

    Example:
        >>> tf.compat.v1.logging.error("There is no %s", "file")
    """
    log(ERROR, msg, *args, **kwargs)


def fatal(msg: str | None, *args: Any, **kwargs: Any) -> None:
    """Logs a fatal error: `msg % args`. The program continues nevertheless.

    Example:
        >>> tf.compat.v1.logging.fatal("There is no %s", "file")
    """
    log(FATAL, msg, *args, **kwargs)


def log_if(level: int, msg: str | None, condition: bool, *args: Any) -> None:
    """Logs a message, `msg % args`, if a condition holds.

    Example:
        >>> tf.compat.v1.logging.log_if(tf.compat.v1.logging.ERROR, "too large", 1 > 2)
    """
    if condition:
        log(level, msg, *args)


def _times() -> int:
    """Counts the earlier calls from the line that calls a function of this module."""
    line = sys._getframe(2)
    with _lock:
        return next(_counts[line.f_code.co_filename, line.f_lineno])


def log_first_n(level: int, msg: str | None, n: int, *args: Any) -> None:
    """Logs a message, `msg % args`, the first `n` times that this line of the program calls it.

    Example:
        >>> tf.compat.v1.logging.log_first_n(tf.compat.v1.logging.INFO, "once", 1)
    """
    log_if(level, msg, _times() < n, *args)


def log_every_n(level: int, msg: str | None, n: int, *args: Any) -> None:
    """Logs a message, `msg % args`, the first time that this line of the program calls it, and every `n` times after.

    Example:
        >>> tf.compat.v1.logging.log_every_n(tf.compat.v1.logging.INFO, "step %d", 10, 3)
    """
    log_if(level, msg, _times() % n == 0, *args)


def TaskLevelStatusMessage(msg: str | None) -> None:
    """Logs a message as an error.

    Example:
        >>> tf.compat.v1.logging.TaskLevelStatusMessage("lost a worker")
    """
    error(msg)


def flush() -> None:
    """Writes the messages that handlers buffer.

    Example:
        >>> tf.compat.v1.logging.flush()
    """
    for handler in get_logger().handlers:
        handler.flush()


def get_verbosity() -> int:
    """Returns the lowest level of logged messages.

    Example:
        >>> tf.compat.v1.logging.get_verbosity() in range(51)
        True
    """
    return get_logger().getEffectiveLevel()


def set_verbosity(v: Any) -> None:
    """Sets the lowest level of logged messages.

    Example:
        >>> before = tf.compat.v1.logging.get_verbosity()
        >>> tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.ERROR)
        >>> tf.compat.v1.logging.get_verbosity()
        40
        >>> tf.compat.v1.logging.set_verbosity(before)
    """
    get_logger().setLevel(v)
