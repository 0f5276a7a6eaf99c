"""Updates of variables that threads share, such as `assign_add`.

An update, which computes a new value from the old one, holds the variable's lock meanwhile, so no update is lost. Reads
and assignments need no lock: a read takes the current tensor, and an assignment replaces it. If the variable was
assigned during an update, the update is dropped: the assignment came later.

An update writes in place if nobody else has the memory. A variable whose memory is its own holds an `Owned` tensor. The
first read of its value hands the memory out, and makes it an `EagerTensor`. The next update takes the memory back if
nobody has it any more: torch counts the tensors that use it.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch

from tapeflow.core import aten, errors
from tapeflow.core import device as devices
from tapeflow.core.context import once_for_each_slice, state
from tapeflow.core.fork_locks import new_lock
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.kernels import SAME_BITS
from tapeflow.core.types.dtypes import DType, bool_
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import EagerTensor

_IN_PLACE_FROM = 1 << 14  # bytes; below that a new sum costs less than taking the memory back
several = new_lock()


class Owned(EagerTensor):
    """The tensor of a variable whose memory nobody else has; updates may write to it.

    Its content is the variable's lock and the memory. Whoever asks for its value waits for the lock.
    """

    __slots__ = ()

    @property
    def value(self) -> Any:
        """The raw value. Asking for it makes this an `EagerTensor`, whose memory nobody writes to."""
        content = self._content
        if type(content) is not tuple:  # another thread has asked
            return content
        lock, memory = content
        lock.acquire()
        self._content = memory; self.__class__ = EagerTensor  # type: ignore[assignment]  # noqa: E702  # fmt: skip
        lock.release()
        return memory

    @value.setter
    def value(self, value: Any) -> None:
        self._content = value

    @property
    def shape(self) -> TensorShape:
        """The tensor's `tf.TensorShape`."""
        content = self._content
        return TensorShape._of((content[1] if type(content) is tuple else content).shape)


class Locked:
    """A context that holds the locks of several variables.

    Only one thread gathers locks at a time, so there is no deadlock.
    """

    __slots__ = ("_variables",)

    def __init__(self, variables: Sequence[Any]) -> None:
        self._variables = variables

    def __enter__(self) -> None:
        with several:
            for variable in self._variables:
                variable._lock.acquire()

    def __exit__(self, *error: object) -> None:
        for variable in self._variables:
            variable._lock.release()


class Updates:
    """The part of `tf.Variable` with in-place updates, such as `assign_add`."""

    __slots__ = ()

    dtype: DType
    _lock: Any
    if TYPE_CHECKING:  # slots of `Variable`

        @property
        def _value(self) -> EagerTensor: ...
        @_value.setter
        def _value(self, value: EagerTensor) -> None: ...
        @property
        def _tape_value(self) -> EagerTensor | None: ...
        @_tape_value.setter
        def _tape_value(self, value: EagerTensor | None) -> None: ...

    _place: torch.device | None = None  # the device for its values, on a machine with a GPU

    # ---- storing -----------------------------------------------------------------------------------------------------

    def _set(self, raw: Any, before: EagerTensor | None = None) -> None:
        """Makes a raw value the variable's.

        Args:
            raw: the raw value.
            before: for the result of an update, the tensor that it began with; if that has been replaced since, by an
                assignment, this does nothing.
        """
        if state.on_slices:
            once_for_each_slice("an assignment")
        # A wrapper of the variable's own: the caller's may be watched, or recorded on a tape by its id.
        after = EagerTensor(raw if self._place is None else devices.move_value(raw, self._place), self.dtype)
        if before is None or self._value is before: self._value = after  # noqa: E701  # fmt: skip
        self._tape_value = None

    # ---- in place ----------------------------------------------------------------------------------------------------

    def _hold(self, memory: torch.Tensor, before: EagerTensor) -> EagerTensor:
        """Has the variable hold memory of its own, in a new tensor, if it still holds the tensor `before`."""
        tensor = EagerTensor((self._lock, memory), self.dtype)
        tensor.__class__ = Owned
        if self._value is before: self._value = tensor  # noqa: E701  # fmt: skip
        self._tape_value = None
        return tensor

    def _own(self, others: int = 0) -> tuple[EagerTensor, Any]:
        """Makes the memory the variable's own, if nobody else has it.

        The variable gets a new tensor with the same memory. Whoever has the old one, a view of it or an array on it
        keeps the memory in use. So neither the caller, which holds the lock, nor the functions that called it may have
        the old tensor or its value.

        Args:
            others: the number of tensors with this memory that don't count.

        Returns:
            The variable's tensor, which is `Owned` if the memory may be written to; and the memory.
        """
        if state.on_slices:
            once_for_each_slice("an assignment")
        before = self._value
        if type(before) is Owned:
            return before, before._content[1]
        memory = before.value
        if memory.requires_grad:  # torch's autograd has it
            return before, memory
        memory = memory.data  # a tensor that nobody else has
        tensor = self._hold(memory, before)
        if self._value is not tensor:  # it has been assigned meanwhile
            return self._own(others)
        del before
        if aten.users(memory) > others:
            tensor._content = memory; tensor.__class__ = EagerTensor  # noqa: E702  # fmt: skip
        return tensor, memory

    def _memory(self) -> Any:
        """Returns the raw value, only to look at."""
        content = self._value._content
        return content[1] if type(content) is tuple else content

    def _begin(self) -> tuple[EagerTensor, Any]:
        """Begins an update; the lock is held until `_end`.

        Returns:
            The tensor that the variable holds; and contiguous memory with its value, which nobody else sees.
        """
        tensor = self._value
        if type(tensor) is Owned:
            memory = tensor._content[1]
            if not state.on_slices and memory.is_contiguous():
                return tensor, memory
        else:
            memory = tensor.value
            if not isinstance(memory, torch.Tensor):
                return tensor, copy.copy(memory)
            if type(memory) is not torch.Tensor:
                return tensor, memory.clone(memory_format=torch.contiguous_format)
        del tensor, memory
        tensor, memory = self._own()
        if type(tensor) is Owned and memory.is_contiguous():
            return tensor, memory
        return tensor, tensor.value.clone(memory_format=torch.contiguous_format)

    def _end(self, tensor: EagerTensor, memory: torch.Tensor) -> None:
        """Ends an update that has written to the memory returned by `_begin`."""
        if type(tensor) is not Owned:
            self._set(memory, tensor)

    # ---- adding ------------------------------------------------------------------------------------------------------

    def _update(self, op: str, delta: Any, kernel: Callable[..., Any], kernel_in_place: Callable[..., Any]) -> None:
        """Changes the value to `kernel(value, delta)`, which `kernel_in_place` computes in the memory of the value."""
        if type(delta) is not EagerTensor or delta.dtype is not self.dtype:
            delta = convert(delta, self.dtype)
        change = delta.value
        lock = self._lock
        lock.acquire()  # as a `with` statement does, in a third of the time
        try:
            tensor = self._value
            is_owned = type(tensor) is Owned
            value = tensor._content[1] if is_owned else tensor.value
            if change.shape != value.shape or self.dtype is bool_ or self.dtype.torch is None:
                raise self._unfit(op, change)
            if devices.machine.has_gpu and change.device != value.device:
                change = change.to(value.device)
            if not is_owned and (value.nbytes < _IN_PLACE_FROM or type(value) is not torch.Tensor):
                self._set(kernel(value, change), tensor)
                return
            del tensor, value
            tensor, value = self._own()
            if type(tensor) is Owned:
                kernel_in_place(value, change)
            else:
                self._set(kernel(value, change), tensor)
        except NotImplementedError as error:
            if not self.dtype.is_unsigned:
                raise self._unfit(op, change) from error
            signed = SAME_BITS[self.dtype.size]  # integers that torch can add, with the same sums
            total = kernel(self._memory().view(signed), change.view(signed))
            self._set(total.view(self.dtype.torch), self._value)
        finally:
            lock.release()

    def _unfit(self, op: str, change: torch.Tensor) -> errors.InvalidArgumentError:
        """Returns the error for a change that can't be added."""
        message = f"Op '{op}' has no kernel for {self.dtype.name}"
        shape = self._memory().shape
        if change.shape != shape:
            mine, theirs = (str(list(s)).replace(" ", "") for s in (shape, change.shape))
            message = (
                f"Cannot update variable with shape {mine} using a Tensor with shape {theirs}, shapes must be equal."
            )
        return errors.InvalidArgumentError(None, None, f"{message} [Op:{op}] name: ")
