"""The public `tf.config.threading` namespace."""

from __future__ import annotations

import torch

_asked = {"inter": 0, "intra": 0}


def _checked(num_threads: int) -> int:
    if num_threads < 0:
        raise ValueError(f"The number of threads can't be negative: {num_threads}. Use 0 to leave the choice open.")
    return int(num_threads)


def get_inter_op_parallelism_threads() -> int:
    """Returns the number of threads that independent ops share; 0 is the library's choice.

    Example:
        >>> tf.config.threading.get_inter_op_parallelism_threads() >= 0
        True
    """
    return _asked["inter"]


def set_inter_op_parallelism_threads(num_threads: int) -> None:
    """Sets the number of threads that independent ops share.

    Raises:
        ValueError: the number is negative.
        RuntimeError: the threads are in use.

    Example:
        >>> tf.config.threading.set_inter_op_parallelism_threads(2)  # doctest: +SKIP
    """
    threads = _checked(num_threads)
    if threads and threads != torch.get_num_interop_threads():
        try:
            torch.set_num_interop_threads(threads)
        except RuntimeError:
            raise RuntimeError("Inter op parallelism cannot be modified after initialization.") from None
    _asked["inter"] = threads


def get_intra_op_parallelism_threads() -> int:
    """Returns the number of threads that one op uses; 0 is the library's choice.

    Example:
        >>> tf.config.threading.get_intra_op_parallelism_threads() >= 0
        True
    """
    return _asked["intra"]


def set_intra_op_parallelism_threads(num_threads: int) -> None:
    """Sets the number of threads that one op uses. Here, unlike in TensorFlow, it can be changed at any time.

    Raises:
        ValueError: the number is negative.

    Example:
        >>> before = tf.config.threading.get_intra_op_parallelism_threads()
        >>> tf.config.threading.set_intra_op_parallelism_threads(1)
        >>> tf.config.threading.get_intra_op_parallelism_threads()
        1
        >>> tf.config.threading.set_intra_op_parallelism_threads(before)
    """
    threads = _checked(num_threads)
    if threads:
        torch.set_num_threads(threads)
    _asked["intra"] = threads
