"""The public `tf.config.threading` namespace: numbers of threads."""

import torch as _torch

from tapeflow.core.public_names import publish as _publish

_configured = {"inter": 0, "intra": 0}


def _check_num_threads(num_threads: int) -> int:
    if num_threads < 0:
        raise ValueError(f"The number of threads can't be negative: {num_threads}. Use 0 to leave the choice open.")
    return int(num_threads)


def get_inter_op_parallelism_threads() -> int:
    """Returns the number of threads that independent ops share.

    Returns:
        An int; 0 is the library's choice.

    Example:
        >>> tf.config.threading.get_inter_op_parallelism_threads() >= 0
        True
    """
    return _configured["inter"]


def set_inter_op_parallelism_threads(num_threads: int) -> None:
    """Sets the number of threads that independent ops share.

    Args:
        num_threads: an int, the number of threads; 0 is the library's choice.

    Returns:
        None.

    Raises:
        ValueError: the number is negative.
        RuntimeError: the threads are in use.

    Example:
        >>> tf.config.threading.set_inter_op_parallelism_threads(2)  # doctest: +SKIP
    """
    threads = _check_num_threads(num_threads)
    if threads and threads != _torch.get_num_interop_threads():
        try:
            _torch.set_num_interop_threads(threads)
        except RuntimeError:
            raise RuntimeError("Inter op parallelism cannot be modified after initialization.") from None
    _configured["inter"] = threads


def get_intra_op_parallelism_threads() -> int:
    """Returns the number of threads that one op uses.

    Returns:
        An int; 0 is the library's choice.

    Example:
        >>> tf.config.threading.get_intra_op_parallelism_threads() >= 0
        True
    """
    return _configured["intra"]


def set_intra_op_parallelism_threads(num_threads: int) -> None:
    """Sets the number of threads that one op uses. Unlike in TensorFlow it can be changed at any time.

    Args:
        num_threads: an int, the number of threads; 0 is the library's choice.

    Returns:
        None.

    Raises:
        ValueError: the number is negative.

    Example:
        >>> before = tf.config.threading.get_intra_op_parallelism_threads()
        >>> tf.config.threading.set_intra_op_parallelism_threads(1)
        >>> tf.config.threading.get_intra_op_parallelism_threads()
        1
        >>> tf.config.threading.set_intra_op_parallelism_threads(before)
    """
    threads = _check_num_threads(num_threads)
    if threads:
        _torch.set_num_threads(threads)
    _configured["intra"] = threads


_publish(globals())
