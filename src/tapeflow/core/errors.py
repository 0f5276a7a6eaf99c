"""The exceptions that ops raise: `tf.errors`.

An exception belongs to one of the canonical status codes, which TensorFlow shares with gRPC and Abseil.
"""

from __future__ import annotations

import copy
import inspect
import traceback
import warnings
from collections.abc import Iterator
from itertools import groupby
from typing import Any, Self

OK = 0
CANCELLED = 1
UNKNOWN = 2
INVALID_ARGUMENT = 3
DEADLINE_EXCEEDED = 4
NOT_FOUND = 5
ALREADY_EXISTS = 6
PERMISSION_DENIED = 7
RESOURCE_EXHAUSTED = 8
FAILED_PRECONDITION = 9
ABORTED = 10
OUT_OF_RANGE = 11
UNIMPLEMENTED = 12
INTERNAL = 13
UNAVAILABLE = 14
DATA_LOSS = 15
UNAUTHENTICATED = 16


class InaccessibleTensorError(TypeError, ValueError):
    """A tensor of a graph was used where that graph is not in scope. TensorFlow has a TypeError, once a ValueError."""


class OperatorNotAllowedInGraphError(TypeError):
    """A symbolic tensor was used where Python needs its value: as a `bool`, or to iterate over."""


class OpError(Exception):
    """An op failed. Most failures raise one of the subclasses, one per error code.

    Args:
      node_def: the `NodeDef` of the op that failed, or `None`.
      op: the `tf.Operation` that failed, or `None` (always in eager execution).
      message: the message.
      error_code: an int, a constant of this module.
      *args: at most one more: a dictionary with details.

    Example:
    >>> error = tf.errors.NotFoundError(None, None, "no such file: a.txt")
    >>> error.error_code == tf.errors.NOT_FOUND, str(error)
    (True, 'no such file: a.txt')
    """

    operation: Any = None  # the operation of a graph that failed, whose lines the message names
    reason: str | None = None  # the message without these lines
    unequal: tuple[Any, Any] | None = None  # of a shape rule: the dimensions that must be equal

    def __init__(self, node_def: Any, op: Any, message: str, error_code: int, *args: dict):
        super().__init__()
        self._node_def = node_def
        self._op = op
        self._message = message
        self._error_code = error_code
        self._experimental_payloads = args[0] if args else {}

    @classmethod
    def of(cls, message: str) -> Self:
        """Returns the error with a message, and without a node or an op."""
        return cls(None, None, message)  # type: ignore[call-arg]  # a subclass knows its code

    @property
    def message(self) -> str:
        """The message of the error."""
        return self._message

    @property
    def op(self) -> Any:
        """The `tf.Operation` that failed, or `None`."""
        return self._op

    @property
    def error_code(self) -> int:
        """The status code, an int: a constant of this module."""
        return self._error_code

    @property
    def node_def(self) -> Any:
        """The `NodeDef` of the op that failed, or `None`."""
        return self._node_def

    @property
    def experimental_payloads(self) -> dict:
        """Details of the error, by name."""
        return self._experimental_payloads

    def with_message(self, message: str) -> Self:
        """Returns the same error with another message."""
        error = copy.copy(self)
        error._message = message
        return error

    def __str__(self) -> str:
        return self._message if self._op is None else "".join(_describe_origins(self._message, self._op))

    def __reduce__(self) -> tuple:
        # A subclass may take other arguments, as long as it has attributes of those names.
        parameters = list(inspect.signature(type(self)).parameters.values())
        values = [getattr(self, p.name) for p in parameters if p.kind is not p.VAR_POSITIONAL]
        if self._experimental_payloads and parameters[-1].kind is inspect.Parameter.VAR_POSITIONAL:
            values.append(self._experimental_payloads)
        return type(self), tuple(values)


def _describe_origins(message: str, op: Any) -> Iterator[str]:
    """Yields the message, then the stack trace of the creation of `op`, and of each op that it was derived from."""
    yield f"{message}\n\nOriginal stack trace for {op.name!r}:\n"
    lines = traceback.format_list(op.traceback or [])
    yield from lines
    original = op._original_op
    while original is not None:
        yield f"\n...which was originally created as op {original.name!r}, defined at:\n"
        previous, lines = lines, traceback.format_list(original.traceback or [])
        yield from _elide_common_lines(lines, previous)
        original = original._original_op


def _elide_common_lines(lines: list[str], previous: list[str]) -> Iterator[str]:
    """`lines`, with each run of lines that `previous` has in the same place cut to its first and last."""
    pairs = zip(lines, previous, strict=False)
    runs = [(same, [line for line, _ in run]) for same, run in groupby(pairs, lambda pair: pair[0] == pair[1])]
    for index, (same, run) in enumerate(runs):
        if not same:
            yield from run
            continue
        yield run[0]
        if len(run) > 1 and index + 1 < len(runs):
            yield f"[elided {len(run) - 2} identical lines from previous traceback]\n"
            yield run[-1]


class _StatusError(OpError):
    """An `OpError` whose class says its error code."""

    _code: int

    def __init_subclass__(cls, code: int | None = None, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if code is not None:  # a program's own subclass has the code of its base
            cls._code = code

    def __init__(self, node_def: Any, op: Any, message: str, *args: dict):
        super().__init__(node_def, op, message, self._code, *args)


class CancelledError(_StatusError, code=CANCELLED):
    """The operation was cancelled, for example by a `CancellationManager` or a queue that closes."""


class UnknownError(_StatusError, code=UNKNOWN):
    """An error of an unknown kind, for example from another address space or an exception in a `tf.py_function`."""


class InvalidArgumentError(_StatusError, code=INVALID_ARGUMENT):
    """An op got an argument that it can't work with, such as shapes that don't fit each other.

    Example:
    >>> raise tf.errors.InvalidArgumentError(None, None, "rank must be 2")
    Traceback (most recent call last):
    tapeflow.errors.InvalidArgumentError: rank must be 2
    """


class DeadlineExceededError(_StatusError, code=DEADLINE_EXCEEDED):
    """A deadline passed before the operation was done."""


class NotFoundError(_StatusError, code=NOT_FOUND):
    """A thing that was asked for, such as a file, does not exist."""


class AlreadyExistsError(_StatusError, code=ALREADY_EXISTS):
    """A thing that was to be created exists already."""


class PermissionDeniedError(_StatusError, code=PERMISSION_DENIED):
    """The caller may not do this, for example read that file."""


class UnauthenticatedError(_StatusError, code=UNAUTHENTICATED):
    """The caller has not shown who it is."""


class ResourceExhaustedError(_StatusError, code=RESOURCE_EXHAUSTED):
    """Something ran out: memory on a device, space on a disk, a quota."""


class FailedPreconditionError(_StatusError, code=FAILED_PRECONDITION):
    """The system is not in the state that the operation needs, such as a variable that has no value yet."""


class AbortedError(_StatusError, code=ABORTED):
    """The operation was aborted, mostly because of one that ran at the same time."""


class OutOfRangeError(_StatusError, code=OUT_OF_RANGE):
    """The operation went past the end, of a dataset or of a file."""


class UnimplementedError(_StatusError, code=UNIMPLEMENTED):
    """The operation, or this use of it, is not implemented."""


class InternalError(_StatusError, code=INTERNAL):
    """The system is in a state that should not be possible."""


class UnavailableError(_StatusError, code=UNAVAILABLE):
    """The service can't be reached now; trying again may help."""


class DataLossError(_StatusError, code=DATA_LOSS):
    """Data is lost or damaged beyond repair, for example a file that ends too early."""


_CODE_TO_CLASS: dict[int, type[OpError]] = {cls._code: cls for cls in _StatusError.__subclasses__()}
_CLASS_TO_CODE: dict[type[OpError], int] = {cls: code for code, cls in _CODE_TO_CLASS.items()}


def exception_type_from_error_code(error_code: int) -> type[OpError]:
    """Returns the exception class for a status code of this module.

    Raises:
      KeyError: if no class has that code (`OK` has none).
    """
    return _CODE_TO_CLASS[error_code]


def error_code_from_exception_type(cls: type[OpError]) -> Any:
    """Returns the code of an exception class of this module; for others, warns and returns an `UnknownError`."""
    try:
        return _CLASS_TO_CODE[cls]
    except KeyError:
        warnings.warn("Unknown class exception", stacklevel=2)
        return UnknownError(None, None, "Unknown class exception")


for _class in [v for v in list(globals().values()) if isinstance(v, type) and v.__module__ == __name__]:
    _class.__module__ = "tapeflow.errors"  # the public name, as tracebacks print it
