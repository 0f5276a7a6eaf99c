"""`tf.data.experimental.copy_to_device`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from tapeflow.core import device as devices
from tapeflow.data.elements import Element
from tapeflow.data.node import Unary


class OnDevice(Unary):
    """The same elements, with their tensors on a device."""

    device: str

    same_size = True

    def element_spec(self) -> Any:
        with devices.device(self.device):  # refuses names of no device
            return super().element_spec()

    def generate(self, *inputs: Iterator[Element]) -> Iterator[Element]:
        return map(self._moved, inputs[0])

    def _moved(self, element: Element) -> Element:
        with devices.device(self.device):
            target = devices.current_or_default()
        return tuple([v.to(target) if isinstance(v, torch.Tensor) else v for v in element])
