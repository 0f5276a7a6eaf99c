"""Variables on the storage of a module's parameters and buffers."""

from __future__ import annotations

from typing import Any

import torch

from tapeflow.core import aten
from tapeflow.core.types.dtypes import FROM_TORCH
from tapeflow.core.values.tensor import EagerTensor, alias
from tapeflow.core.values.variable import ResourceVariable, Variable

_slot: Any = Variable.__dict__["_value"]


class ParameterVariable(ResourceVariable):
    """A variable that is the parameter or buffer of a `torch.nn.Module`, in the same memory.

    An assignment changes the parameter, and writing to the parameter changes the variable. Tensors that were read
    before keep their values: torch copies the memory that they share when the parameter is written to.

    Args:
        parameter: the parameter or buffer.
        trainable: whether tapes watch it.
        name: its name.
    """

    __slots__ = ("parameter",)

    def __init__(self, parameter: torch.Tensor, trainable: bool, name: str) -> None:
        self.parameter = parameter
        super().__init__(EagerTensor(alias(parameter), FROM_TORCH[parameter.dtype]), trainable=trainable, name=name)

    @property
    def _value(self) -> EagerTensor:
        """The tensor that the parameter holds now."""
        if not aten.is_cow_tensor(self.parameter):  # it was written to, and has memory of its own
            value = alias(self.parameter)
            _slot.__set__(self, EagerTensor(value, self.dtype))
            self._tape_value = None
        return _slot.__get__(self)

    @_value.setter
    def _value(self, tensor: EagerTensor) -> None:
        value = tensor.value
        self.parameter.data = shared = alias(value)
        if not aten.is_cow_tensor(shared):  # NumPy's memory, which `alias` has copied
            tensor = EagerTensor(alias(shared), tensor.dtype)
        _slot.__set__(self, tensor)

    def _read(self) -> EagerTensor:
        self._value  # noqa: B018  # drops the value that tapes have read if it is outdated
        return super()._read()

    def _own(self, others: int = 0) -> tuple[EagerTensor, Any]:
        tensor = self._value
        return tensor, tensor.value  # not owned, since the module sees the memory too
