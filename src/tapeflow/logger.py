"""`tf.get_logger`."""

from __future__ import annotations

import logging


def get_logger() -> logging.Logger:
    """The logger of all messages. It has TensorFlow's name, so that what a program says of its level holds here too.

    Example:
        >>> tf.get_logger().name
        'tensorflow'
    """
    return logging.getLogger("tensorflow")
