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


def _number_field(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value & (1 << 64) - 1)


def _bytes_field(field: int, value: bytes | str) -> bytes:
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
            _bytes_field(
                field, _number_field(1, number) + _bytes_field(2, _number_field(1, number) + _bytes_field(2, name))
            )
            for name, number in self._numbers.items()
        )


def _encode_stat(number: int, value: Any) -> bytes:
    encoded = _number_field(4, value) if isinstance(value, int) else _bytes_field(5, str(value))
    return _bytes_field(4, _number_field(1, number) + encoded)


def _encode_plane(number: int, name: str, lines: Mapping[str, Iterable[Event]]) -> bytes:
    """Returns a serialized plane.

    Args:
        number: the id of the plane.
        name: the name, such as `/host:CPU`.
        lines: the events of each thread.
    """
    names, stats = _Names(), _Names()
    written = []
    for i, (line, events) in enumerate(lines.items(), 1):
        message = _number_field(1, i) + _number_field(10, i) + _bytes_field(2, line) + _bytes_field(11, line)
        for event in events:
            body = (
                _number_field(1, names[event.name])
                + _number_field(2, event.start * 1000)
                + _number_field(3, event.duration * 1000)
            )
            message += _bytes_field(4, body + b"".join(_encode_stat(stats[k], v) for k, v in event.stats.items()))
        written.append(_bytes_field(3, message))
    return _number_field(1, number) + _bytes_field(2, name) + b"".join(written) + names.entries(4) + stats.entries(5)


def _environment_plane(number: int, started: int, stopped: int) -> bytes:
    """Returns the plane with the times when the profile began and ended."""
    stats = _Names()
    times = {"profile_start_time": started, "profile_stop_time": stopped}
    times_as_stats = [
        _bytes_field(6, _number_field(1, stats[name]) + _number_field(3, time)) for name, time in times.items()
    ]
    return _number_field(1, number) + _bytes_field(2, "Task Environment") + stats.entries(5) + b"".join(times_as_stats)


def space(planes: Mapping[str, Mapping[str, Iterable[Event]]], started: int, stopped: int) -> bytes:
    """Returns a serialized profile.

    Args:
        planes: the events by plane and line.
        started, stopped: the times when the profile began and ended, in nanoseconds since 1970.
    """
    written = [_encode_plane(i, name, lines) for i, (name, lines) in enumerate(planes.items())]
    written.append(_environment_plane(len(written), started, stopped))
    return b"".join(_bytes_field(1, plane) for plane in written) + _bytes_field(4, socket.gethostname())
