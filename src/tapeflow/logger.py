"""`tf.get_logger`."""

from __future__ import annotations

import logging


def get_logger() -> logging.Logger:
    """Returns the logger of all messages, which has TensorFlow's name: a program that sets its level does so here too.

    Returns:
        The logger named `tensorflow`.

    Example:
        >>> tf.get_logger().name
        'tensorflow'
    """
    return logging.getLogger("tensorflow")
