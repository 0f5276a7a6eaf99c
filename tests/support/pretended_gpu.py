"""A GPU that the CPU pretends to be, for machines without one.

Its tensors compute on the CPU and say that they are on `cuda:0`, or on an accelerator that lacks some dtypes. What
torch refuses of a real one they refuse too: arithmetic with tensors on the CPU, NumPy without a copy. So kernels take
the ways that they take on a GPU, and what mixes devices, falls off to the CPU, or reaches for memory that is not there
fails. What a GPU has no kernel for, or computes otherwise, is not found out.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from tapeflow.core import device
from tapeflow.core.rng import seeds
from tapeflow.core.values import tensor

CUDA = torch.device("cuda", 0)


class _Kind:
    """The kind that is pretended.

    Attributes:
        device: what its tensors say.
        lacks: the dtypes that it has no memory for.
    """

    device = CUDA
    lacks: frozenset[torch.dtype] = frozenset()


class Pretended(torch.Tensor):
    """A tensor that says it is on the GPU."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _called(func, args, kwargs or {})


class _Mode(TorchFunctionMode):
    """Takes over what makes tensors of nothing."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _called(func, args, kwargs or {})


# What a tensor is asked for, and says.
_SAID = {
    torch.Tensor.device.__get__: lambda: _Kind.device, torch.Tensor.is_cuda.__get__: lambda: _Kind.device is CUDA,
    torch.Tensor.is_cpu.__get__: lambda: False, torch.Tensor.get_device: lambda: 0,
}  # fmt: skip
_TO_NUMPY = (torch.Tensor.numpy, torch.Tensor.__array__)
_MOVES = (torch.Tensor.cpu, torch.Tensor.cuda, torch.Tensor.to)
# Ops that may have tensors on the CPU beside those on a GPU: indices, and what is copied.
_MIX = ("__getitem__", "__setitem__", "copy_", "index_put_", "set_", "is_same_size", "allclose")
# Ops that may not have even a scalar there.
_STRICT = (
    "cat", "concat", "concatenate", "stack", "matmul", "mm", "bmm", "addmm", "linear", "gather", "scatter", "scatter_",
    "scatter_add", "scatter_add_", "scatter_reduce_", "index_select", "index_add", "index_add_", "index_copy",
    "index_copy_", "searchsorted", "bucketize", "conv2d", "embedding", "take_along_dim", "equal",
)  # fmt: skip


def on_gpu(value: torch.Tensor) -> Pretended:
    """A tensor, said to be on the GPU."""
    if value.requires_grad:
        return value.as_subclass(Pretended)
    return torch.Tensor._make_subclass(Pretended, value)  # which holds no other tensor of the same memory


def _called(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    given = [t for t in _leaves([*args, *kwargs.values()]) if isinstance(t, torch.Tensor)]
    pretended = any(isinstance(t, Pretended) for t in given)
    if pretended and func in _SAID and isinstance(args[0], Pretended):
        return _SAID[func]()
    if pretended and func in _TO_NUMPY:
        raise TypeError(
            f"can't convert {_Kind.device} device type tensor to numpy. Use Tensor.cpu() to copy the tensor first."
        )
    _check(func, given, pretended)
    target = _target(func, args, kwargs)
    with torch._C.DisableTorchFunctionSubclass():
        if func is torch.Tensor.cuda:
            result = args[0].clone()
        else:
            result = func(*_mapped(_on_cpu, list(args)), **{k: _mapped(_on_cpu, v) for k, v in kwargs.items()})
        on_the_gpu = target.type == _Kind.device.type if target is not None else pretended and not _is_index(func, args)

        def placed(value: Any) -> Any:
            if not isinstance(value, torch.Tensor) or isinstance(value, Pretended) is on_the_gpu:
                return value
            if on_the_gpu and value.dtype in _Kind.lacks:
                raise TypeError(f"{_Kind.device.type} has no {value.dtype}")
            return on_gpu(value) if on_the_gpu else value.clone().as_subclass(torch.Tensor)

        return _mapped(placed, result)


def _on_cpu(value: Any) -> Any:
    """What is handed on: devices are the one that computes."""
    named = isinstance(value, torch.device) or (type(value) is str and value.startswith(_Kind.device.type))
    return torch.device("cpu") if named else value


def _check(func: Any, given: list[torch.Tensor], pretended: bool) -> None:
    """Refuses what torch refuses of tensors on several devices."""
    name = _name(func)
    if not pretended or func in _MOVES or name in _MIX or name.startswith("__get__"):
        return
    least = 0 if name in _STRICT else 1
    if any(not isinstance(t, Pretended) and t.ndim >= least for t in given):
        raise RuntimeError(
            f"Expected all tensors to be on the same device, but found at least two devices, {_Kind.device} and cpu! "
            f"({name})"
        )


def _name(func: Any) -> str:
    name = getattr(func, "__name__", "")
    return str(func).split(".")[1] if isinstance(func, torch._ops.OpOverload) else name


def _is_index(func: Any, args: Any) -> bool:
    """Whether what is on the GPU only says which elements of a tensor on the CPU are meant."""
    return _name(func) in ("__getitem__", "copy_") and not isinstance(args[0], Pretended)


def _target(func: Any, args: Any, kwargs: dict[str, Any]) -> torch.device | None:
    """The device that a call names."""
    if func is torch.Tensor.cpu:
        return torch.device("cpu")
    if func is torch.Tensor.cuda:
        return _Kind.device
    named = kwargs.get("device")
    if named is None and func is torch.Tensor.to:
        for a in args[1:]:
            if isinstance(a, (torch.device, str)):
                named = a
            elif isinstance(a, torch.Tensor):
                named = a.device
    return None if named is None else torch.device(named)


def _leaves(values: Any) -> Iterator[Any]:
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from _leaves(value)
        else:
            yield value


def _mapped(function: Any, value: Any) -> Any:
    if isinstance(value, list):
        return [_mapped(function, v) for v in value]
    if isinstance(value, torch.Size):
        return value
    if isinstance(value, tuple):
        items = [_mapped(function, v) for v in value]
        return type(value)(items) if type(value).__module__ == "torch.return_types" else tuple(items)
    return function(value)


@contextmanager
def pretended_gpu(
    monkeypatch: Any, place: torch.device = CUDA, lacks: frozenset[torch.dtype] = frozenset()
) -> Iterator[None]:
    """A machine with a GPU."""
    monkeypatch.setattr(_Kind, "device", place)
    monkeypatch.setattr(_Kind, "lacks", lacks)
    monkeypatch.setattr(device.machine, "computed_on_cpu", {})
    device.holds.cache_clear()
    found = [device.Device("CPU", 0, device.CPU), device.Device("GPU", 0, place)]
    monkeypatch.setattr(device.machine, "_logical", found)
    monkeypatch.setattr(device.machine, "_default", None)
    monkeypatch.setitem(seeds._own.generators, place, torch.Generator())
    monkeypatch.setattr(tensor.EagerTensor, "_numpy", _numpy)
    for module in list(sys.modules.values()):
        if getattr(module, "traced", None) is tensor.is_traced:
            monkeypatch.setattr(module, "traced", lambda value: not isinstance(value, torch.Tensor))
    with _Mode():
        yield
    device.holds.cache_clear()


def _numpy(self: Any) -> Any:
    return tensor.as_numpy(self.value, self.dtype) if isinstance(self.value, torch.Tensor) else self.value
