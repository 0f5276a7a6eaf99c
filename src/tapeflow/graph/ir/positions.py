"""The lines of the user's code that add operations. The error of a failed operation shows them.

A position is a code object with the index of an instruction, and the position of its caller. Looking up line numbers is
slow, so it happens only when an error is printed.
"""

from __future__ import annotations

import sys
from itertools import islice
from traceback import FrameSummary, StackSummary
from types import CodeType, FrameType
from typing import Any

from tapeflow.core.tracebacks import is_engine_file

Position = tuple[CodeType, int, Any]  # the code, the instruction's offset, and the caller's position or None


class Positions:
    """Finds the positions of the operations that are added to a graph.

    Args:
        base: the frame that calls the traced function. It outlives the trace, so the callers of a frame are looked up
            only once. Without a base, frames that add operations may end at any time and are not cached.
    """

    def __init__(self, base: FrameType | None = None) -> None:
        self._base = base
        self._outside = None if base is None else _position(base)
        self._frame: FrameType | None = None  # the last one, and the position of its caller
        self._caller: Position | None = None

    def here(self, depth: int) -> Position | None:
        """Returns the position of the user's code that adds an operation.

        Args:
            depth: the minimal number of the engine's frames, from this one on. They are skipped.
        """
        frame: Any = sys._getframe(depth)
        base = self._base
        while frame is not base and is_engine_file[frame.f_code.co_filename]:
            frame = frame.f_back
        if frame is base:
            return self._outside
        if base is None:
            return _position(frame)
        if frame is not self._frame:
            self._frame, self._caller = frame, _position(frame.f_back, base, self._outside)
        return frame.f_code, frame.f_lasti, self._caller


class Nowhere(Positions):
    """Finds no positions: the operations of a function that came from another process have none here."""

    def here(self, depth: int) -> Position | None:
        return None


def _position(frame: FrameType | None, base: FrameType | None = None, outside: Position | None = None) -> Any:
    """Returns the position of a frame and its callers, without the engine's frames; `outside` from `base` on."""
    frames = []
    while frame is not None and frame is not base:
        if not is_engine_file[frame.f_code.co_filename]:
            frames.append((frame.f_code, frame.f_lasti))
        frame = frame.f_back
    position = None if frame is None else outside  # another thread has another stack
    for code, offset in reversed(frames):
        position = (code, offset, position)
    return position


def stack_summary(position: Position | None) -> StackSummary:
    """Returns file, line and function of a position and its callers, the outermost first."""
    frames = []
    while position is not None:
        code, offset, position = position
        line = next(islice(code.co_positions(), offset // 2, None))[0] or code.co_firstlineno
        frames.append(FrameSummary(code.co_filename, line, code.co_name, lookup_line=False))
    return StackSummary.from_list(frames[::-1])
