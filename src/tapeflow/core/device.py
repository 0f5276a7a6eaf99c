"""Devices: their names, and the scopes that choose one.

A device is named as in TensorFlow, `/job:localhost/replica:0/task:0/device:GPU:0`; any part may be left out (`gpu:0`,
`/GPU`, `CPU:1`). Each logical GPU is on one accelerator of torch: NVIDIA's and AMD's GPUs (`cuda` in torch), Intel's
(`xpu`), Apple's (`mps`). All logical CPUs share torch's only one, so a tensor on a logical CPU other than `CPU:0`
carries its device's name.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from tapeflow.core import errors
from tapeflow.core.context import detours, discard, state
from tapeflow.core.device_spec import DeviceSpec

PREFIX = "/job:localhost/replica:0/task:0/device:"
CPU = torch.device("cpu")


class PhysicalDevice(NamedTuple):
    """A device of the machine.

    Attributes:
        name: such as `/physical_device:GPU:0`.
        device_type: "CPU" or "GPU".

    Example:
        >>> tf.config.list_physical_devices("CPU")
        [PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')]
    """

    name: str
    device_type: str


class LogicalDevice(NamedTuple):
    """A device that ops run on; a physical device has one or several.

    Attributes:
        name: such as `/device:GPU:0`.
        device_type: "CPU" or "GPU".

    Example:
        >>> tf.config.list_logical_devices("CPU")[0].device_type
        'CPU'
    """

    name: str
    device_type: str


class LogicalDeviceConfiguration(NamedTuple):
    """One of the logical devices that a physical one is split into.

    Attributes:
        memory_limit: in megabytes, for a GPU.
        experimental_priority: accepted, and without effect.
        experimental_device_ordinal: accepted, and without effect.

    Example:
        >>> tf.config.LogicalDeviceConfiguration(memory_limit=1024).memory_limit
        1024
    """

    memory_limit: float | None = None
    experimental_priority: int | None = None
    experimental_device_ordinal: int | None = None


class Device(NamedTuple):
    """A logical device as the runtime sees it.

    Attributes:
        kind: "CPU" or "GPU".
        index: its number among the logical devices of its kind.
        torch: the torch device that holds its tensors.
    """

    kind: str
    index: int  # type: ignore[assignment]
    torch: torch.device

    @property
    def name(self) -> str:
        return f"{PREFIX}{self.kind}:{self.index}"

    def claim(self, outputs: Sequence[Any]) -> None:
        """Marks tensors that an op computed here; those on the first logical CPU and on GPUs need no mark."""
        if self.kind == "CPU" and self.index:
            for output in outputs:
                output._device = self.name


class Machine:
    """The devices of this process, and their configuration by `tf.config`.

    The configuration can be changed until the logical devices are first needed.
    """

    def __init__(self) -> None:
        self._physical: list[PhysicalDevice] | None = None
        self._logical: list[Device] | None = None
        self._default: torch.device | None = None
        self.visible: list[PhysicalDevice] | None = None  # None: all
        self.split: dict[PhysicalDevice, list[LogicalDeviceConfiguration]] = {}
        self.memory_growth: dict[PhysicalDevice, bool] = {}
        self.soft_placement = True
        self.computed_on_cpu: dict[str, set[str]] = {}  # the dtypes, by the names of ops that a GPU has no kernel for

    def default(self) -> torch.device:
        """Returns the device of new tensors outside of all scopes: the first GPU, or the CPU if there is none."""
        if self._default is None:
            gpus = [d.torch for d in self.logical_devices() if d.kind == "GPU"]
            self._default = gpus[0] if gpus else CPU
        return self._default

    @property
    def initialized(self) -> bool:
        return self._logical is not None

    @property
    def has_gpu(self) -> bool:
        """Returns True if tensors may be in several memories."""
        return self.default() is not CPU

    def physical_devices(self) -> list[PhysicalDevice]:
        if self._physical is None:
            gpus = torch.accelerator.device_count()
            self._physical = [PhysicalDevice("/physical_device:CPU:0", "CPU")]
            self._physical += [PhysicalDevice(f"/physical_device:GPU:{i}", "GPU") for i in range(gpus)]
        return self._physical

    def visible_devices(self) -> list[PhysicalDevice]:
        return self.physical_devices() if self.visible is None else self.visible

    def logical_devices(self) -> list[Device]:
        """Returns all logical devices, CPUs first. From the first call on the configuration is fixed."""
        if self._logical is None:
            devices = []
            for kind in ("CPU", "GPU"):
                numbers = itertools.count()
                for physical in [d for d in self.visible_devices() if d.device_type == kind]:
                    place = CPU if kind == "CPU" else accelerator(int(physical.name.rsplit(":", 1)[1]))
                    first, *others = parts = self.split.get(physical) or [LogicalDeviceConfiguration()]
                    if kind == "GPU" and first.memory_limit and not others:
                        _limit_memory(place, first.memory_limit)
                    devices += [Device(kind, next(numbers), place) for _ in parts]
            self._logical = devices
        return self._logical


def accelerator(index: int) -> torch.device:
    """Returns the accelerator of that number, of the kind that this machine has."""
    kind = torch.accelerator.current_accelerator()
    assert kind is not None
    return torch.device(kind.type, index)


def _limit_memory(place: torch.device, megabytes: float) -> None:
    """Limits the memory that this process takes on an accelerator.

    Raises:
        UnimplementedError: torch can't limit it on such a device.
    """
    limit = getattr(torch.get_device_module(place), "set_per_process_memory_fraction", None)
    if limit is None:
        raise errors.UnimplementedError(None, None, f"torch can't limit the memory on {place}: leave out memory_limit.")
    _, total = torch.accelerator.get_memory_info(place)
    fraction = min(1.0, megabytes * 2**20 / total)
    if place.type == "mps":
        limit(fraction)  # there is one
    else:
        limit(fraction, place)


machine = Machine()
logical_devices, default = machine.logical_devices, machine.default


_spec_of = functools.lru_cache(DeviceSpec.from_string)  # scopes are entered at each step, with few names


def find(name: str) -> Device | None:
    """Returns the device of that (partial) name, or None where a name leaves the device open.

    Raises:
        ValueError: the name is malformed.
        InvalidArgumentError: there is no such device, and soft placement is off.
    """
    spec = _spec_of(name)
    if spec.device_type is None:
        return None
    index = spec.device_index or 0
    candidates = [d for d in logical_devices() if d.kind == spec.device_type]
    if index < len(candidates):
        return candidates[index]
    if machine.soft_placement:
        return logical_devices()[0]
    specification = f"{PREFIX}{spec.device_type}:{index}"
    available = ", ".join(d.name for d in logical_devices())
    kinds = ", ".join(sorted({d.kind for d in logical_devices()}))
    raise errors.InvalidArgumentError.of(
        f"Could not satisfy device specification '{specification}'. enable_soft_placement=0. "
        f"Supported device types [{kinds}]. All available devices [{available}]."
    )


def name_of(value: torch.Tensor) -> str:
    """Returns the name of the device that holds a kernel's value."""
    if isinstance(value, torch.Tensor) and not value.is_cpu:
        unknown = f"{PREFIX}GPU:{value.device.index}"
        return next((device.name for device in logical_devices() if device.torch == value.device), unknown)
    return getattr(value, "device_name", f"{PREFIX}CPU:0")  # a value on several devices has this attribute


def current() -> Device | None:
    """Returns the device of the innermost scope that names one."""
    for scope in reversed(state.devices):
        if scope.device is not None:
            return scope.device
        if scope.stops:
            return None
    return None


def requested_device() -> str:
    """Returns the device that the scopes in force request: inner ones add to it or override it."""
    spec = DeviceSpec()
    for scope in state.devices:
        named = DeviceSpec.from_string(scope.device_name)
        spec = DeviceSpec() if scope.stops else spec.make_merged_spec(named)
    return spec.to_string()


def current_or_default(dtype: torch.dtype | None = None) -> torch.device:
    """Returns the device for the result of an op without tensor inputs: the CPU for a dtype that the device lacks."""
    device = current() if state.devices else None
    place = default() if device is None else device.torch
    return place if place is CPU or dtype is None or holds(place, dtype) else CPU


@functools.cache
def holds(place: torch.device, dtype: torch.dtype) -> bool:
    """Returns True if a device has numbers of a dtype; Apple's GPUs have no float64."""
    if place.type in ("cpu", "cuda"):
        return True
    try:
        torch.empty(0, dtype=dtype, device=place)
    except (TypeError, RuntimeError):
        return False
    return True


def move_value(value: torch.Tensor, target: torch.device) -> torch.Tensor:
    """Returns a kernel's value on a device; on the CPU if the device lacks its dtype."""
    if target != CPU and not holds(target, value.dtype):
        return value
    if value.ndim == 0 and value.is_cpu and target != CPU and value.dtype != torch.uint64:
        # A number goes along with the launch of a kernel; a copy would wait for the device.
        return torch.full((), value.item(), dtype=value.dtype, device=target)
    return value if value.device == target else value.to(target)


def place(values: Sequence[Any], device: Device | None) -> list[Any]:
    """Returns the kernel arguments with all tensors on the device."""
    if device is None:
        return list(values)
    target = device.torch
    return [
        move_value(v, target) if isinstance(v, torch.Tensor)
        else place(v, device) if type(v) is list else v
        for v in values
    ]  # fmt: skip


def stamp(outputs: Sequence[Any]) -> None:
    """Marks tensors that an op computed on the device of the scopes in force, if they name one."""
    device = current()
    if device is not None:
        device.claim(outputs)


def synchronize() -> None:
    """Waits for all kernels on the GPUs."""
    if machine.initialized:
        for device in logical_devices():
            if device.kind == "GPU":
                torch.accelerator.synchronize(device.torch)


class DeviceScope:
    """`with tf.device(name):` ops inside run there, on copies of their inputs where need be.

    Args:
        device_name: a (partial) device name, a `DeviceSpec`, a logical device, or None to leave the enclosing scopes.

    Raises:
        RuntimeError: it is a function.
        ValueError: it is no device's name.

    Example:
        >>> with tf.device("CPU:0"):
        ...     x = tf.constant(1.0)
        >>> x.device
        '/job:localhost/replica:0/task:0/device:CPU:0'
    """

    def __init__(self, device_name: Any) -> None:
        if callable(device_name):
            raise RuntimeError("tf.device does not support functions when eager execution is enabled.")
        self.stops = device_name is None
        if device_name is not None and not isinstance(device_name, str):
            if not hasattr(device_name, "to_string") and not hasattr(device_name, "name"):
                raise ValueError(f"Expecting a string device name. Got {type(device_name)}({device_name!r})")
            device_name = device_name.to_string() if hasattr(device_name, "to_string") else device_name.name
        self.device_name: str = device_name or ""
        self.device: Device | None = None
        self._entered: list[bool] = []

    def __enter__(self) -> None:
        self.device = find(self.device_name)
        # With one device there is nothing to choose, and ops stay on the fast path.
        matters = len(logical_devices()) > 1
        self._entered.append(matters)
        state.devices.append(self)
        if matters:
            detours.append(self)

    def __exit__(self, *_: object) -> None:
        discard(state.devices, self)
        if self._entered.pop():
            discard(detours, self)


def device(device_name: int | str | None) -> DeviceScope:
    """Returns a scope whose ops run on a device. See `DeviceScope`.

    Args:
        device_name: a (partial) device name, a `DeviceSpec`, a logical device, or None to leave the enclosing scopes.

    Returns:
        A context manager.

    Raises:
        ValueError: the name is not a string, or not the name of a device.

    Example:
        >>> with tf.device("CPU:0"):
        ...     x = tf.constant(1.0)
    """
    return DeviceScope(device_name)
