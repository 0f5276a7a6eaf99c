"""Errors that converted code raises, in terms of the user's code.

Converted code has the file and lines of the user's code already (`conversion.compiled`). What remains is to remove the
other frames from tracebacks, and to name the user's lines in the message.
"""

from __future__ import annotations

import linecache
import types
from collections.abc import Iterator
from typing import Any

from tapeflow.autograph.conversion import DO_NOT_CONVERT, is_converted_code
from tapeflow.core.errors import InaccessibleTensorError, OperatorNotAllowedInGraphError, OpError
from tapeflow.core.ops.definition import NotStatic
from tapeflow.core.tracebacks import is_engine, user_traceback

_CAUSE = "_autograph_cause"  # an attribute of errors that name the user's lines: the class and text of the first error


class PyCTError(Exception):
    """An error of code that is converted."""


class AutoGraphError(PyCTError):
    """An error of AutoGraph."""


class StagingError(AutoGraphError):
    """An error of converted code, instead of one whose class may not take a message alone."""


class UserCode:
    """Adds the user's lines to errors from inside, and removes all other frames from their tracebacks.

    Used around the call of `function`, converted. The errors are of the classes that TensorFlow raises: the same where
    that takes nothing but a message, or else `StagingError`.
    """

    def __init__(self, function: Any = None) -> None:
        self._passes = getattr(function, DO_NOT_CONVERT, False)

    def __enter__(self) -> None:
        pass

    def __exit__(self, cls: type, error: BaseException | None, traceback: types.TracebackType | None) -> None:
        new = with_user_lines(error) if isinstance(error, Exception) and not self._passes else None
        if error is not None and new is not None:
            raise new.with_traceback(user_traceback(traceback) or traceback) from error.__cause__


def with_user_lines(error: Exception) -> Exception | None:
    """Returns the error with the user's lines in its message; None if there are none, or it is to pass through."""
    if hasattr(error, "ag_pass_through"):
        return None
    frames = [(frame, line) for frame, line in _traceback_frames(error.__traceback__) if not is_engine(frame.f_code)]
    first = next((k for k, (frame, _) in enumerate(frames) if is_converted_code(frame.f_code)), 0)
    frames = frames[first:]
    if not frames:
        return None
    cause = getattr(error, _CAUSE, None) or f"{type(error).__name__}: {error}"
    new = _of_its_class(error, _user_code_message(frames, cause), cause)
    setattr(new, _CAUSE, cause)
    return new


def _user_code_message(frames: list[tuple[types.FrameType, int]], cause: str) -> str:
    lines = ["in user code:", ""]
    converted = False
    for frame, line in frames:
        code = frame.f_code
        before, converted = converted, is_converted_code(code)
        mark = "  *" if converted else "  **" if before else ""
        place = f'    File "{code.co_filename}", line {line}, in {code.co_name}{mark}'
        text = linecache.getline(code.co_filename, line, frame.f_globals).strip()
        lines += [place, f"        {text}"] if lines[-2:-1] != [place] else []
    body = cause.replace("\n", "\n    ")
    return "\n".join([*lines, "", f"    {body}", ""])


class _KeyErrorOfLines(KeyError):
    """A `KeyError` prints the `repr` of its message; this one, the message."""

    def __init__(self, message: str, cause: str):
        super().__init__(cause)
        self._message = message

    def __str__(self) -> str:
        return self._message


_KeyErrorOfLines.__name__ = _KeyErrorOfLines.__qualname__ = "KeyError"

# Classes that take a message alone: these, and all that derive from no other built-in class than `Exception`, and have
# its constructor.
_OF_A_MESSAGE = (
    AssertionError, AttributeError, NameError, NotImplementedError, RuntimeError, StopIteration, TypeError,
    UnboundLocalError, ValueError, StagingError, InaccessibleTensorError, OperatorNotAllowedInGraphError,
)  # fmt: skip


def _of_its_class(error: Exception, message: str, cause: str) -> Exception:
    """Returns an error with the message and the attributes of `error`, of the class that TensorFlow raises for its."""
    cls = type(error)
    if isinstance(error, OpError) and cls.__init__ is not OpError.__init__:
        return error.with_message(message)
    if cls is KeyError:
        new: Exception = _KeyErrorOfLines(message, cause)
    elif cls is NotStatic:
        new = ValueError(message)
    elif cls in _OF_A_MESSAGE or (cls.__init__ is Exception.__init__ and _built_in(cls) is Exception):
        new = cls(message)
    else:
        new = StagingError(message)
    new.__dict__.update(error.__dict__)
    return new


def _built_in(cls: type) -> type:
    """Returns the nearest class of Python's own. From Python 3.14 on, most inherit the constructor of `Exception`."""
    return next(c for c in cls.__mro__ if c.__module__ == "builtins")


def _traceback_frames(traceback: types.TracebackType | None) -> Iterator[tuple[types.FrameType, int]]:
    while traceback is not None:
        yield traceback.tb_frame, traceback.tb_lineno
        traceback = traceback.tb_next
