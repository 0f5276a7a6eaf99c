"""Modes that follow the calls of ATen in a run of a program that a CUDA graph is to hold."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch

from tapeflow.core.aten import TorchDispatchMode
from tapeflow.graph.backends.kernel_calls import label
from tapeflow.graph.codegen.program import Step


class Watch(TorchDispatchMode):
    """Checks all calls of ATen while it is active, for one that a capture could not hold.

    Args:
        device: the device to be captured.
        running: returns the step whose kernel runs.

    Attributes:
        obstacle: the op of the first such call, and why; None if there was none.
    """

    def __init__(self, device: torch.device, running: Callable[[], Step | None]) -> None:
        super().__init__()
        self.obstacle: str | None = None
        self._device = device
        self._running = running

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if self.obstacle is None:
            why = self._why_not(func, args, kwargs or {})
            if why is not None:
                step = self._running()
                self.obstacle = f"{func if step is None else label(step)} {why}"
        return func(*args, **(kwargs or {}))

    def _why_not(self, func: Any, args: Any, kwargs: dict[str, Any]) -> str | None:
        """Returns why a call of ATen can't be captured, or None."""
        name, target = _name_of(func), kwargs.get("device")
        operands = list(_tensors_in(args))
        if name in _COPIES:
            involved = {t.device for t in operands}
            if target is not None:
                involved.add(self._indexed(torch.device(target)))
            return _COPIED if self._device in involved and len(involved) > 1 else None
        if not any(t.device == self._device for t in operands):
            return None
        tags = func.tags
        if torch.Tag.data_dependent_output in tags or name in _READS_VALUES:
            return "reads a value on the host"
        if name in _INDEXING:
            indices = [t for t in args[1] if t is not None]
            if any(t.device != self._device for t in indices):
                return _COPIED
            masks = any(t.dtype in (torch.bool, torch.uint8) for t in indices)
            return "takes elements by a mask, and only its values tell how many" if masks else None
        if torch.Tag.dynamic_output_shape in tags:
            return "gives a tensor whose shape depends on values"
        if torch.Tag.cudagraph_unsafe in tags:
            return f"runs {name}, which no CUDA graph can hold"
        return None

    def _indexed(self, device: torch.device) -> torch.device:
        """Returns a device with its index; without one it is the device to be captured."""
        return self._device if device.index is None and device.type == self._device.type else device


class Keep(TorchDispatchMode):
    """Retains the tensors that calls of ATen use, but did not create, while it is active.

    A replay reads their memory, which a cache elsewhere might free.

    Args:
        memory: the addresses of memory that is retained already.

    Attributes:
        tensors: the tensors that it retains.
    """

    def __init__(self, memory: set[int]) -> None:
        super().__init__()
        self.tensors: list[torch.Tensor] = []
        self._seen = {0, *memory}  # addresses

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        for t in _tensors_in([*args, *(kwargs or {}).values()]):
            address = t.untyped_storage().data_ptr()
            if address not in self._seen:
                self._seen.add(address)
                self.tensors.append(t)
        result = func(*args, **(kwargs or {}))
        created = result if type(result) in (list, tuple) else (result,)
        self._seen.update(t.untyped_storage().data_ptr() for t in _tensors_in(created))
        return result


def _tensors_in(values: Iterable[Any]) -> Iterator[torch.Tensor]:
    """Yields the strided tensors among values and in lists of them."""
    for value in values:
        for item in value if type(value) in (list, tuple) else (value,):
            if isinstance(item, torch.Tensor) and item.layout is torch.strided:  # others have no memory of their own
                yield item


_COPIED = "copies between devices"
_COPIES = frozenset({"aten::_to_copy", "aten::copy_", "aten::copy"})
_INDEXING = frozenset({"aten::index", "aten::index_put", "aten::index_put_", "aten::_index_put_impl_"})
_READS_VALUES = frozenset({"aten::_linalg_check_errors", "aten::is_nonzero"})


@functools.cache
def _name_of(func: Any) -> str:
    return func._schema.name
