"""Errors that converted code raises, in terms of the user's code.

Converted code has the file and lines of the user's code already (`conversion.compiled`). What remains is to remove the
other frames from tracebacks, and to name the user's lines in the message.
"""

from __future__ import annotations

import linecache
import types
from collections.abc import Iterator
from contextlib import contextmanager

from tapeflow.autograph.conversion import is_converted_code
from tapeflow.core.errors import OpError
from tapeflow.graph.ir.positions import is_engine

_HAS_LINES = "_autograph_has_lines"  # an attribute of errors whose message names the user's lines


@contextmanager
def in_user_code() -> Iterator[None]:
    """Adds the user's lines to errors from inside, and removes all other frames from their tracebacks.

    The errors are of the same class. Used around the call of a converted function.
    """
    try:
        yield
    except Exception as error:
        new = with_user_lines(error)
        if new is None:
            raise
        raise new.with_traceback(user_traceback(error.__traceback__)) from error.__cause__


def with_user_lines(error: Exception) -> Exception | None:
    """Returns the error with the user's lines in its message; None if it has them, or its class takes no message."""
    if getattr(error, _HAS_LINES, False):
        return None
    frames = [(frame, line) for frame, line in _frames(error.__traceback__) if not is_engine(frame.f_code)]
    first = next((k for k, (frame, _) in enumerate(frames) if is_converted_code(frame.f_code)), 0)
    frames = frames[first:]
    if not frames:
        return None
    new = _same_class(error, _message(error, frames))
    if new is not None:
        setattr(new, _HAS_LINES, True)
        for note in getattr(error, "__notes__", ()):
            new.add_note(note)
    return new


def _message(error: Exception, frames: list[tuple[types.FrameType, int]]) -> str:
    lines = ["in user code:", ""]
    for frame, line in frames:
        code = frame.f_code
        mark = "  *" if is_converted_code(code) else ""
        place = f'    File "{code.co_filename}", line {line}, in {code.co_name}{mark}'
        text = linecache.getline(code.co_filename, line, frame.f_globals).strip()
        lines += [place, f"        {text}"] if lines[-2:-1] != [place] else []
    text = str(error)
    if isinstance(error, KeyError):
        text = repr(error.args[0]) if error.args else ""
    body = f"{type(error).__name__}: {text}".replace("\n", "\n    ")
    return "\n".join([*lines, "", f"    {body}", ""])


class _KeyErrorOfLines(KeyError):
    """A `KeyError` prints the `repr` of its message; this one, the message."""

    def __str__(self) -> str:
        return str(self.args[0])


_KeyErrorOfLines.__name__ = _KeyErrorOfLines.__qualname__ = "KeyError"


def _same_class(error: Exception, message: str) -> Exception | None:
    cls = type(error)
    if cls is KeyError:
        return _KeyErrorOfLines(message)
    if isinstance(error, OpError) and cls.__module__ == OpError.__module__:
        return error.with_message(message)
    if (
        cls.__init__ in _SIMPLE
        and cls.__new__ in _SIMPLE_NEW
        and not isinstance(error, (OSError, UnicodeError, SyntaxError))
    ):
        new = cls(message)
        new.__dict__.update(error.__dict__)
        return new
    return None


_BUILTIN_ERRORS = (
    Exception, ValueError, TypeError, RuntimeError, AssertionError, AttributeError, NameError, UnboundLocalError,
    IndexError, LookupError, NotImplementedError, ArithmeticError, ZeroDivisionError, OverflowError, RecursionError,
)  # fmt: skip
_SIMPLE = frozenset(cls.__init__ for cls in _BUILTIN_ERRORS)
_SIMPLE_NEW = frozenset(cls.__new__ for cls in _BUILTIN_ERRORS)


def _frames(traceback: types.TracebackType | None) -> Iterator[tuple[types.FrameType, int]]:
    while traceback is not None:
        yield traceback.tb_frame, traceback.tb_lineno
        traceback = traceback.tb_next


def user_traceback(traceback: types.TracebackType | None) -> types.TracebackType | None:
    """Returns a traceback without the frames of this library, unless there are no others."""
    entries = [t for t in _entries(traceback) if not is_engine(t.tb_frame.f_code)]
    result = None
    for entry in reversed(entries):
        result = types.TracebackType(result, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return result or traceback


def _entries(traceback: types.TracebackType | None) -> Iterator[types.TracebackType]:
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next
