"""`CentralStorageStrategy`: replicas on several devices, variables on one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.core.device import device
from tapeflow.distribute.mirrored import MirroredExtended, default_devices, full_name
from tapeflow.distribute.replica_reductions import CrossDeviceOps
from tapeflow.distribute.strategy import Strategy, StrategyExtended
from tapeflow.distribute.values import MirroredValues
from tapeflow.distribute.variables import MirroredVariable, make_distributed


class AggregatingVariable(MirroredVariable):
    """A variable that replicas share: their writes are aggregated into one write."""

    def _write_all(self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        written = super()._write_all(method, args, kwargs)
        return written.values[0] if isinstance(written, MirroredValues) else written  # the same in all replicas


class CentralStorageExtended(MirroredExtended):
    def __init__(
        self, container_strategy: Strategy, compute_devices: Sequence[str] | None = None,
        parameter_device: str | None = None,
    ) -> None:  # fmt: skip
        devices = default_devices()
        names = [full_name(d) for d in compute_devices or (devices if "GPU" in devices[0] else devices[:1])]
        super().__init__(container_strategy, names, CrossDeviceOps())
        home = names[0] if len(names) == 1 else full_name("CPU:0")
        self._parameter_device = full_name(parameter_device) if parameter_device else home

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        return (self._parameter_device,)

    def _devices_of_copies(self, on_read: bool) -> tuple[str, ...]:
        return (self._parameter_device,) * (len(self._devices) if on_read else 1)

    def _create_variable(self, next_creator: Callable[..., Any], kwargs: dict[str, Any]) -> Any:
        if len(self._devices) > 1:
            return make_distributed(self._strategy, next_creator, kwargs, AggregatingVariable)
        with device(self._parameter_device):
            return StrategyExtended._make_variable(self, next_creator, **kwargs)


class CentralStorageStrategy(Strategy):
    """Trains on several devices of one process, with all variables on one device: the CPU, or the only GPU.

    Args:
        compute_devices: the devices of the replicas; by default all GPUs, or the first CPU where there are no GPUs.
        parameter_device: the device of the variables.

    Raises:
        ValueError: a name is not a device's.

    Example:
        >>> strategy = tf.distribute.experimental.CentralStorageStrategy()
        >>> with strategy.scope():
        ...     v = tf.Variable(1.0)
        >>> strategy.run(lambda: v + 1.0).numpy().item()
        2.0
    """

    def __init__(self, compute_devices: Sequence[str] | None = None, parameter_device: str | None = None) -> None:
        super().__init__(CentralStorageExtended(self, compute_devices, parameter_device))
