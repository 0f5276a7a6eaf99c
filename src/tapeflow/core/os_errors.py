"""Errors of the operating system, as TensorFlow raises them.

TensorFlow gives each number of `errno.h` a status code. The message has the path, then the system's words.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tapeflow.core import errors

_NAMES: dict[Any, str] = {
    errors.InvalidArgumentError: (
        "E2BIG EDESTADDRREQ EDOM EFAULT EILSEQ EINVAL ENAMETOOLONG ENOPROTOOPT ENOSTR ENOTSOCK ENOTTY EPROTOTYPE ESPIPE"
    ),
    errors.DeadlineExceededError: "ETIME ETIMEDOUT",
    errors.NotFoundError: "ENODEV ENOENT ENOMEDIUM ENXIO ESRCH",
    errors.AlreadyExistsError: "EADDRNOTAVAIL EALREADY EEXIST ENOTUNIQ",
    errors.PermissionDeniedError: "EACCES ENOKEY EPERM EROFS",
    errors.FailedPreconditionError: (
        "EADDRINUSE EBADF EBADFD EBUSY ECHILD EISCONN EISDIR EISNAM ENOTBLK ENOTCONN ENOTDIR ENOTEMPTY EPIPE ESHUTDOWN "
        "ETXTBSY EUNATCH"
    ),
    errors.ResourceExhaustedError: "EDQUOT EMFILE EMLINK ENFILE ENOBUFS ENODATA ENOMEM ENOSPC ENOSR EUSERS",
    errors.OutOfRangeError: "ECHRNG EFBIG EOVERFLOW ERANGE",
    errors.UnimplementedError: (
        "EAFNOSUPPORT ENOPKG ENOSYS ENOTSUP EPFNOSUPPORT EPROTONOSUPPORT ESOCKTNOSUPPORT EXDEV"
    ),
    errors.UnavailableError: (
        "EAGAIN ECOMM ECONNABORTED ECONNREFUSED ECONNRESET EHOSTDOWN EHOSTUNREACH EINTR ENETDOWN ENETRESET ENETUNREACH "
        "ENOLCK ENOLINK ENONET"
    ),
    errors.AbortedError: "EDEADLK ESTALE",
    errors.CancelledError: "ECANCELED",
}
_CLASSES: dict[int, Any] = {
    getattr(errno, name): kind for kind, names in _NAMES.items() for name in names.split() if hasattr(errno, name)
}


@contextmanager
def translate_os_errors(path: Any) -> Iterator[None]:
    """Raises TensorFlow's error for an error of the operating system.

    Args:
        path: the path that the message names.

    Returns:
        A context manager.

    Raises:
        NotFoundError, PermissionDeniedError, ...: a file can't be read or written, by the error's number.
        InvalidArgumentError: a path holds a zero byte.

    Example:
        >>> from tapeflow.core.os_errors import translate_os_errors
        >>> with translate_os_errors("/no/such/file"):
        ...     open("/no/such/file")
        Traceback (most recent call last):
        tapeflow.errors.NotFoundError: /no/such/file; No such file or directory
    """
    try:
        yield
    except OSError as error:
        if error.errno is None:  # it was not the system that raised it
            raise
        raise _CLASSES.get(error.errno, errors.UnknownError).of(f"{_text_of(path)}; {error.strerror}") from None
    except ValueError as error:
        if not str(error).startswith("embedded null"):
            raise
        raise errors.InvalidArgumentError.of(f"{_text_of(path)!r}; A path holds no zero bytes") from None


def _text_of(path: bytes | str) -> str:
    return os.fsdecode(path) if isinstance(path, (str, bytes, os.PathLike)) else str(path)
