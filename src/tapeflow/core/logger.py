"""`tf.get_logger`."""

from __future__ import annotations

import functools
import logging
import sys
from typing import TextIO


def get_logger() -> logging.Logger:
    """Returns the logger of all messages, which has TensorFlow's name: a program that sets its level does so here too.

    Unless the program has configured logging before, messages go to stderr as `WARNING:tensorflow:message`. In an
    interactive session they go to stdout, from the level INFO on.

    Returns:
        The logger named `tensorflow`.

    Example:
        >>> tf.get_logger().name
        'tensorflow'
    """
    _add_handler()
    return logging.getLogger("tensorflow")


class _Handler(logging.StreamHandler[TextIO]):
    """Writes to the stream that `sys` has at the moment: notebooks and tests replace it."""

    def __init__(self, name: str) -> None:
        logging.Handler.__init__(self)
        self._stream_name = name
        self.setFormatter(logging.Formatter(logging.BASIC_FORMAT))

    @property
    def stream(self) -> TextIO:  # type: ignore[override]
        stream: TextIO = getattr(sys, self._stream_name)
        return stream


@functools.cache
def _add_handler() -> None:
    """Adds the handler, once."""
    if logging.getLogger().handlers:
        return
    logger = logging.getLogger("tensorflow")
    interactive = hasattr(sys, "ps1") or bool(sys.flags.interactive)
    if interactive:
        logger.setLevel(logging.INFO)
    logger.addHandler(_Handler("stdout" if interactive else "stderr"))
