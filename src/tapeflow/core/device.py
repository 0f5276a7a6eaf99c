"""Devices: their names, what is on them, and the scopes that choose one.

A device is named as in TensorFlow, `/job:localhost/replica:0/task:0/device:GPU:0`; any part may be left out (`gpu:0`,
`/GPU`, `CPU:1`). Each logical GPU is on one CUDA device; several logical CPUs share the one that torch has, so a tensor
on another than `CPU:0` carries its device's name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from tapeflow import errors
from tapeflow.core.context import detours, discard, state

PREFIX = "/job:localhost/replica:0/task:0/device:"
CPU = torch.device("cpu")
_NAME = re.compile(
    r"^(?:/job:(?P<job>\w+))?(?:/replica:(?P<replica>\d+|\*))?(?:/task:(?P<task>\d+|\*))?"
    r"/?(?:device:)?(?:(?P<kind>cpu|gpu)(?::(?P<index>\d+|\*))?)?$",
    re.IGNORECASE,
)


class Device(NamedTuple):
    """A logical device.

    Attributes:
        kind: "CPU" or "GPU".
        index: its number among the logical devices of its kind.
        torch: where its tensors are.
    """

    kind: str
    index: int
    torch: torch.device

    @property
    def name(self) -> str:
        return f"{PREFIX}{self.kind}:{self.index}"


class _Machine:
    """The devices of this process. `tf.config` changes them before their first use."""

    def __init__(self) -> None:
        self.visible_gpus: list[int] | None = None  # indices of CUDA devices; None: all there are
        self.logical_cpus = 1
        self.logical_gpus: dict[int, int] = {}  # physical index -> how many logical devices it is split into
        self.soft_placement = True
        self.used = False

    def gpus(self) -> list[int]:
        if self.visible_gpus is not None:
            return self.visible_gpus
        return list(range(torch.cuda.device_count())) if torch.cuda.is_available() else []


machine = _Machine()
_logical: list[Device] | None = None


def logical_devices() -> list[Device]:
    """All logical devices, CPUs first. After the first call the configuration is fixed."""
    global _logical
    if _logical is None:
        cpus = [Device("CPU", i, CPU) for i in range(machine.logical_cpus)]
        gpus = [torch.device("cuda", g) for g in machine.gpus() for _ in range(machine.logical_gpus.get(g, 1))]
        _logical = cpus + [Device("GPU", i, d) for i, d in enumerate(gpus)]
        machine.used = True
    return _logical


def reset() -> None:
    """Forgets the logical devices, so that a changed configuration takes effect."""
    global _logical
    _logical = None


def default() -> torch.device:
    """Where new tensors go outside of every device scope: the first GPU, or the CPU where there is none."""
    for device in _logical or logical_devices():
        if device.kind == "GPU":
            return device.torch
    return CPU


def find(name: str) -> Device | None:
    """The device of that (partial) name, or None where a name leaves the device open.

    Raises:
        ValueError: the name is malformed.
        InvalidArgumentError: there is no such device, and soft placement is off.
    """
    match = _NAME.match(name)
    if match is None:
        raise ValueError(f"Could not parse device name: {name!r}. It should look like '/device:GPU:0' or 'CPU:0'.")
    if match["kind"] is None:
        return None
    kind = match["kind"].upper()
    index = int(match["index"]) if match["index"] not in (None, "*") else 0
    found = [d for d in logical_devices() if d.kind == kind]
    if index < len(found):
        return found[index]
    if machine.soft_placement:
        return logical_devices()[0]
    known = ", ".join(d.name for d in logical_devices())
    raise errors.InvalidArgumentError(None, None, f"Could not satisfy device specification '{name}'. All available devices [{known}].")


def name_of(value: Any) -> str:
    """The name of the device that holds a kernel's value."""
    if isinstance(value, torch.Tensor) and value.is_cuda:
        for device in logical_devices():
            if device.torch == value.device:
                return device.name
        return f"{PREFIX}GPU:{value.device.index}"
    return f"{PREFIX}CPU:0"


def current() -> Device | None:
    """The device of the innermost scope that names one."""
    for scope in reversed(state.devices):
        if scope.device is not None:
            return scope.device
        if scope.stops:
            return None
    return None


def current_or_default() -> torch.device:
    """Where an op without tensor inputs puts its result."""
    device = current() if state.devices else None
    return default() if device is None else device.torch


def place(values: Sequence[Any], device: Device | None) -> list[Any]:
    """The kernel arguments with all tensors on the device."""
    if device is None:
        return list(values)
    target = device.torch
    return [
        v.to(target) if isinstance(v, torch.Tensor) and v.device != target
        else place(v, device) if type(v) is list else v
        for v in values
    ]  # fmt: skip


def stamp(outputs: Sequence[Any]) -> None:
    """Names the device on tensors that an op left on another logical CPU than the first."""
    device = current()
    if device is not None and device.kind == "CPU" and device.index:
        for output in outputs:
            output._device = device.name


class DeviceScope:
    """`with tf.device(name):` ops inside run there, and copy what they need there."""

    def __init__(self, name: Any) -> None:
        if callable(name):
            raise RuntimeError("tf.device does not support functions when eager execution is enabled.")
        self.stops = name is None
        if name is not None and not isinstance(name, str):
            name = name.to_string() if hasattr(name, "to_string") else name.name
        self.device_name = name or ""
        self.device = find(name) if name else None
        self._entered: list[bool] = []

    def __enter__(self) -> None:
        # On a machine with one device there is nothing to choose, and ops stay on the fast path.
        matters = len(logical_devices()) > 1
        self._entered.append(matters)
        state.devices.append(self)
        if matters:
            detours.append(self)

    def __exit__(self, *_: object) -> None:
        discard(state.devices, self)
        if self._entered.pop():
            discard(detours, self)
