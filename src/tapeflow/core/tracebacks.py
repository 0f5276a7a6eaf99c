"""Removes this library's frames from tracebacks, unless `tf.debugging.disable_traceback_filtering()` was called.

The functions that users call catch errors and raise them again, filtered. A `try` costs nothing until an error is
raised.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import CodeType, TracebackType

import torch

from tapeflow.core.settings import settings

_ENGINE = str(Path(__file__).parents[1])  # and `tapeflow_compat`, whose path begins with it
_TORCH = str(Path(torch.__file__).parent)


class _Engine(dict[str, bool]):
    """A cache from files to True for the engine's own code, and False for user code and libraries."""

    def __missing__(self, file: str) -> bool:
        self[file] = result = file.startswith((_ENGINE, "<function "))  # the latter are compiled graphs
        return result


is_engine_file = _Engine()


def is_engine(code: CodeType) -> bool:
    """Returns True if code is the engine's own."""
    return is_engine_file[code.co_filename]


def user_traceback(traceback: TracebackType | None) -> TracebackType | None:
    """Returns a traceback without the frames of this library; None if there are no others."""
    result = None
    for entry in reversed([t for t in _traceback_entries(traceback) if not is_engine(t.tb_frame.f_code)]):
        result = TracebackType(result, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return result


def filter_traceback(error: Exception) -> Exception:
    """Removes this library's frames from the traceback of an error, and hides the error of a kernel that caused it.

    Args:
        error: the error, which the caller raises again.

    Returns:
        The error.
    """
    if settings.traceback_filtering:
        error.__traceback__ = user_traceback(error.__traceback__)
        for other in (error.__cause__, error.__context__):
            if other is not None and not _is_internal(other):
                return error
        error.__cause__ = None  # it also suppresses the context
    return error


def _is_internal(error: BaseException) -> bool:
    """Returns True if an error was raised by this library or by torch, with no other code between."""
    files = [t.tb_frame.f_code.co_filename for t in _traceback_entries(error.__traceback__)]
    return all(is_engine_file[file] or file.startswith(_TORCH) for file in files)


def _traceback_entries(traceback: TracebackType | None) -> Iterator[TracebackType]:
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next
