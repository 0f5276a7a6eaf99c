"""Profiles as `XSpace` messages, the format of TensorFlow's profiler and TensorBoard's plugin.

A space has planes (the host, and each device), a plane has lines (threads, or streams), and a line has events. A table
of the plane has the names of events. A separate plane holds the times when the profile began and ended. All other times
are relative to the beginning. The field numbers come from `xplane.proto` in TensorFlow's sources.
"""

from __future__ import annotations

import socket
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from tapeflow.core.varint import varint


class Event(NamedTuple):
    """An event of a profile.

    Attributes:
        name: the name of the kernel or scope.
        start, duration: ints, in nanoseconds. The start is relative to the start of the profile.
        stats: metadata by name: ints and strings.
    """

    name: str
    start: int
    duration: int
    stats: Mapping[str, Any] = {}


def _number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value & (1 << 64) - 1)


def _bytes(field: int, value: bytes | str) -> bytes:
    data = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(data)) + data


class _Names:
    """A plane's table of names: of events, or of their stats."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def __getitem__(self, name: str) -> int:
        return self._numbers.setdefault(name, len(self._numbers) + 1)

    def entries(self, field: int) -> bytes:
        """Returns the table as a field of a plane: entries of a map from a number to its metadata."""
        return b"".join(
            _bytes(field, _number(1, number) + _bytes(2, _number(1, number) + _bytes(2, name)))
            for name, number in self._numbers.items()
        )


def _stat(number: int, value: Any) -> bytes:
    encoded = _number(4, value) if isinstance(value, int) else _bytes(5, str(value))
    return _bytes(4, _number(1, number) + encoded)


def _plane(number: int, name: str, lines: Mapping[str, Iterable[Event]]) -> bytes:
    """Returns a serialized plane.

    Args:
        number: the id of the plane.
        name: the name, such as `/host:CPU`.
        lines: the events of each thread.
    """
    names, stats = _Names(), _Names()
    written = []
    for i, (line, events) in enumerate(lines.items(), 1):
        message = _number(1, i) + _number(10, i) + _bytes(2, line) + _bytes(11, line)
        for event in events:
            body = _number(1, names[event.name]) + _number(2, event.start * 1000) + _number(3, event.duration * 1000)
            message += _bytes(4, body + b"".join(_stat(stats[k], v) for k, v in event.stats.items()))
        written.append(_bytes(3, message))
    return _number(1, number) + _bytes(2, name) + b"".join(written) + names.entries(4) + stats.entries(5)


def _environment(number: int, started: int, stopped: int) -> bytes:
    """Returns the plane with the times when the profile began and ended."""
    stats = _Names()
    times = {"profile_start_time": started, "profile_stop_time": stopped}
    times_as_stats = [_bytes(6, _number(1, stats[name]) + _number(3, time)) for name, time in times.items()]
    return _number(1, number) + _bytes(2, "Task Environment") + stats.entries(5) + b"".join(times_as_stats)


def space(planes: Mapping[str, Mapping[str, Iterable[Event]]], started: int, stopped: int) -> bytes:
    """Returns a serialized profile.

    Args:
        planes: the events by plane and line.
        started, stopped: the times when the profile began and ended, in nanoseconds since 1970.
    """
    written = [_plane(i, name, lines) for i, (name, lines) in enumerate(planes.items())]
    written.append(_environment(len(written), started, stopped))
    return b"".join(_bytes(1, plane) for plane in written) + _bytes(4, socket.gethostname())
