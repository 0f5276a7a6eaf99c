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
        self._outside = None if base is None else _extend_position([], _users_frames(base)[0], None)
        self._frame: FrameType | None = None  # the last one, and the position of its caller
        self._caller: Position | None = None
        self._callers: list[Position] = []  # of the last frame, the outermost first: most operations share them

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
            return _extend_position([], _users_frames(frame)[0], None)
        if frame is not self._frame:
            frames, has_base = _users_frames(frame.f_back, base)
            self._frame = frame  # another thread has another stack
            self._caller = (
                _extend_position(self._callers, frames, self._outside)
                if has_base
                else _extend_position([], frames, None)
            )
        return frame.f_code, frame.f_lasti, self._caller


def _users_frames(frame: FrameType | None, base: FrameType | None = None) -> tuple[list[FrameType], bool]:
    """Returns a frame and its callers up to `base`, without the engine's frames, and whether `base` is among these."""
    frames = []
    while frame is not None and frame is not base:
        if not is_engine_file[frame.f_code.co_filename]:
            frames.append(frame)
        frame = frame.f_back
    return frames, frame is not None


def _extend_position(earlier: list[Position], frames: list[FrameType], outside: Position | None) -> Position | None:
    """Returns the position of the first of some frames.

    Args:
        earlier: the positions of earlier frames, the outermost first, which is reused if it is the same, and updated.
        frames: each frame before its caller.
        outside: the position of the caller of the outermost one.
    """
    position = outside
    for i, frame in enumerate(reversed(frames)):
        if i < len(earlier) and earlier[i][0] is frame.f_code and earlier[i][1] == frame.f_lasti:
            position = earlier[i]
            continue
        position = frame.f_code, frame.f_lasti, position
        earlier[i:] = [position]
    return position


def stack_summary(position: Position | None) -> StackSummary:
    """Returns file, line and function of a position and its callers, the outermost first."""
    frames = []
    while position is not None:
        code, offset, position = position
        line = next(islice(code.co_positions(), offset // 2, None))[0] or code.co_firstlineno
        frames.append(FrameSummary(code.co_filename, line, code.co_name, lookup_line=False))
    return StackSummary.from_list(frames[::-1])


def user_line(position: Position | None) -> str:
    """Returns the file and the line number of a position; "" for None."""
    frames = stack_summary(position)
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else ""
