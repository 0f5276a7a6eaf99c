"""The public `tf.compat.v1.logging` namespace: TensorFlow's logger, which `tf.get_logger()` gives."""

from __future__ import annotations

import itertools
import logging
import threading
from collections import defaultdict
from logging import DEBUG, ERROR, FATAL, INFO
from typing import Any

from tapeflow.logger import get_logger

WARN = logging.WARNING
_counts: defaultdict[tuple[Any, str], itertools.count] = defaultdict(itertools.count)
_lock = threading.Lock()


def log(level: int, msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs a message, `msg % args`, at a level.

    Example:
        >>> tf.compat.v1.logging.log(tf.compat.v1.logging.DEBUG, "step %d", 3)
    """
    get_logger().log(level, msg, *args, **kwargs)


vlog = log


def debug(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs what helps to find errors."""
    log(DEBUG, msg, *args, **kwargs)


def info(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs what a program does."""
    log(INFO, msg, *args, **kwargs)


def warning(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs what may be wrong."""
    log(WARN, msg, *args, **kwargs)


warn = warning


def error(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs what is wrong."""
    log(ERROR, msg, *args, **kwargs)


def fatal(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs what is so wrong that nothing can go on."""
    log(FATAL, msg, *args, **kwargs)


def log_if(level: int, msg: Any, condition: bool, *args: Any) -> None:
    """Logs a message if a condition holds."""
    if condition:
        log(level, msg, *args)


def _count(msg: Any, kind: str) -> int:
    with _lock:
        return next(_counts[msg, kind])


def log_first_n(level: int, msg: Any, n: int, *args: Any) -> None:
    """Logs a message the first `n` times."""
    log_if(level, msg, _count(msg, "first") < n, *args)


def log_every_n(level: int, msg: Any, n: int, *args: Any) -> None:
    """Logs a message the first time, and every `n` times after."""
    log_if(level, msg, _count(msg, "every") % n == 0, *args)


def TaskLevelStatusMessage(msg: Any) -> None:
    """Logs a message as an error."""
    error(msg)


def flush() -> None:
    """Writes what handlers hold back."""
    for handler in get_logger().handlers:
        handler.flush()


def get_verbosity() -> int:
    """The level from which on messages are logged."""
    return get_logger().getEffectiveLevel()


def set_verbosity(v: Any) -> None:
    """Sets the level from which on messages are logged.

    Example:
        >>> before = tf.compat.v1.logging.get_verbosity()
        >>> tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.ERROR)
        >>> tf.compat.v1.logging.get_verbosity()
        40
        >>> tf.compat.v1.logging.set_verbosity(before)
    """
    get_logger().setLevel(v)
