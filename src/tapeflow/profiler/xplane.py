"""Profiles as `XSpace` messages, the format of TensorFlow's profiler and TensorBoard's plugin.

A space has planes (the host, and each device), a plane has lines (threads, or streams), and a line has events. A table
of the plane has the names of events. A separate plane holds the times when the profile began and ended. All other times
are relative to the beginning.
"""

from __future__ import annotations

import socket
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from tapeflow.core.protos import XSpace


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


class _Names:
    """Numbers the names in a table of a plane: those of events, or of their stats.

    Args:
        table: the field of the plane.
    """

    def __init__(self, table: Any) -> None:
        self._table, self._numbers = table, dict[str, int]()

    def __getitem__(self, name: str) -> int:
        number = self._numbers.get(name)
        if number is None:
            number = self._numbers[name] = len(self._numbers) + 1
            self._table[number].id, self._table[number].name = number, name
        return number


def _add_lines(plane: Any, lines: Mapping[str, Iterable[Event]]) -> None:
    """Adds the events of each thread to a plane."""
    names, stats = _Names(plane.event_metadata), _Names(plane.stat_metadata)
    for i, (name, events) in enumerate(lines.items(), 1):
        line = plane.lines.add(id=i, name=name, display_id=i, display_name=name)
        for event in events:
            times = {"offset_ps": event.start * 1000, "duration_ps": event.duration * 1000}
            added = line.events.add(metadata_id=names[event.name], **times)
            for key, value in event.stats.items():
                field = {"int64_value": value} if isinstance(value, int) else {"str_value": str(value)}
                added.stats.add(metadata_id=stats[key], **field)


def space(planes: Mapping[str, Mapping[str, Iterable[Event]]], started: int, stopped: int) -> bytes:
    """Returns a serialized profile.

    Args:
        planes: the events by plane and line, such as those of `/host:CPU`.
        started, stopped: the times when the profile began and ended, in nanoseconds since 1970.
    """
    profile = XSpace(hostnames=[socket.gethostname()])
    for i, (name, lines) in enumerate(planes.items()):
        _add_lines(profile.planes.add(id=i, name=name), lines)
    environment = profile.planes.add(id=len(planes), name="Task Environment")
    stats = _Names(environment.stat_metadata)
    for name, time in (("profile_start_time", started), ("profile_stop_time", stopped)):
        environment.stats.add(metadata_id=stats[name], uint64_value=time)
    return profile.SerializeToString()
