"""`tf.DeviceSpec`: the parts of a device's name."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

_PARTS = ("job", "replica", "task", "device_type", "device_index")


class DeviceSpec:
    """A device name in its parts; each part may be left open.

    Args:
        job: the job's name.
        replica: the replica's index.
        task: the task's index.
        device_type: "CPU" or "GPU".
        device_index: the index among the devices of that type.

    Example:
        >>> tf.DeviceSpec(job="worker", device_type="gpu", device_index=1).to_string()
        '/job:worker/device:GPU:1'
    """

    __slots__ = ("_device_index", "_device_type", "_job", "_replica", "_task")

    def __init__(
        self,
        job: str | None = None,
        replica: int | None = None,
        task: int | None = None,
        device_type: str | None = None,
        device_index: int | None = None,
    ) -> None:
        self._job = None if job is None else str(job)
        self._replica = None if replica is None else int(replica)
        self._task = None if task is None else int(task)
        self._device_type = None if device_type is None else str(device_type).upper()
        self._device_index = None if device_index is None else int(device_index)

    job, replica, task, device_type, device_index = (property(attrgetter(f"_{part}")) for part in _PARTS)

    @classmethod
    def from_string(cls, spec: str) -> DeviceSpec:
        """Returns the parts of a name such as `/job:worker/task:0/device:GPU:1` or `gpu:0`.

        Raises:
            ValueError: something in it is no part of a device's name.
        """
        parts: dict[str, Any] = {}
        for piece in spec.split("/"):
            words = piece.split(":")
            kind, rest = words[0], words[1:]
            if not piece:
                continue
            if kind in ("job", "replica", "task") and len(rest) == 1:
                if rest[0] != "*":
                    parts[kind] = rest[0]
            elif kind.upper() in ("CPU", "GPU") and len(rest) <= 1:
                parts.update(_parse_device(words))
            elif kind == "device" and 1 <= len(rest) <= 2:
                parts.update(_parse_device(rest))
            else:
                raise ValueError(f"Unknown attribute '{kind}' is encountered while parsing the device spec: '{spec}'.")
        return cls(**parts)

    def parse_from_string(self, spec: str) -> DeviceSpec:
        """Returns the same as `from_string`."""
        return self.from_string(spec)

    def to_string(self) -> str:
        """Returns the name, with only the specified parts."""
        text = ""
        for part in _PARTS[:3]:
            value = getattr(self, part)
            if value is not None:
                text += f"/{part}:{value}"
        if self.device_type is not None:
            text += f"/device:{self.device_type}:{'*' if self.device_index is None else self.device_index}"
        return text

    def make_merged_spec(self, dev: DeviceSpec) -> DeviceSpec:
        """Returns this spec with the parts that `dev` specifies in place of its own."""
        specified = {p: v for p, v in dev._parts().items() if v is not None}
        return type(self)(**{**self._parts(), **specified})

    def replace(self, **kwargs: Any) -> DeviceSpec:
        """Returns this spec with some parts changed."""
        return type(self)(**{**self._parts(), **kwargs})

    def _parts(self) -> dict[str, Any]:
        return {p: getattr(self, p) for p in _PARTS}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash(tuple(self._parts().values()))

    def __repr__(self) -> str:
        return f"<DeviceSpec({', '.join(f'{p}={v}' for p, v in self._parts().items())})>"


def _parse_device(words: list[str]) -> dict[str, Any]:
    index = {} if len(words) < 2 or words[1] == "*" else {"device_index": words[1]}
    return {} if words[0] == "*" else {"device_type": words[0], **index}
