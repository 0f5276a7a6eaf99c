"""Elements on another device: the results of `copy_to_device` and `prefetch_to_device`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from tapeflow.core import device as devices
from tapeflow.data.node import Node
from tapeflow.data.structure import Element


class OnDeviceDataset(Node):
    """The same elements, with their tensors on a device.

    Args:
        source: the dataset that they come from.
        device: the name of the device.
    """

    _same_size = True

    def __init__(self, source: Any, device: Any) -> None:
        super().__init__(source.element_spec, source)
        self._device = device
        with devices.device(device):  # refuses what is no device
            pass

    def _iterate(self) -> Iterator[Element]:
        return map(self._moved, self._input_dataset._iterate())

    def _moved(self, element: Element) -> Element:
        with devices.device(self._device):
            target = devices.current_or_default()
        return tuple([v.to(target) if isinstance(v, torch.Tensor) else v for v in element])
