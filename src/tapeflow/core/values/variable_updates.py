"""Changing a variable by what it holds, where threads share it.

Whoever computes a new value from the old one holds the variable's lock meanwhile, so that no update is lost. Nobody
else needs it: a read takes the tensor that is there, and an assignment replaces it. An update that finds another tensor
than it began with leaves that where it is, since the assignment came after it.

Memory that changes is nobody's to read: while an update writes in place, whoever asks the variable's tensor for its
value waits.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from sys import getrefcount
from typing import TYPE_CHECKING, Any

import torch

from tapeflow.core import device as devices
from tapeflow.core import errors
from tapeflow.core.context import once_for_each_slice, state
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.dtypes import DType, bool_
from tapeflow.core.values.tensor import EagerTensor

_IN_PLACE_FROM = 1 << 14  # bytes; below that a new sum costs less than the check whether the old one is shared
_users = torch._C._storage_Use_Count
_several = threading.Lock()

_raw: Any = EagerTensor.value  # the slot


class Pending(EagerTensor):
    """An eager tensor while an update writes to its memory: whoever asks for its value waits.

    A tensor becomes one, and an `EagerTensor` again, while the variable's lock is held.
    """

    __slots__ = ()

    @property
    def value(self) -> Any:
        """The raw value, after the update."""
        value = _raw.__get__(self)
        if type(value) is tuple:
            lock, memory = value
            with lock:
                value = _raw.__get__(self)
            if type(value) is tuple:  # this very thread is updating, and was interrupted by a handler of signals
                return memory
        return value

    @value.setter
    def value(self, value: Any) -> None:
        _raw.__set__(self, value)


# A tensor is closed and reopened in one line each: the interpreter switches between threads where it calls or loops.


class Locked:
    """A context that holds the locks of several variables.

    One thread at a time gathers locks, so that no two wait for each other: who has all that it needs waits for none.
    """

    __slots__ = ("_locks",)

    def __init__(self, variables: Sequence[Any]) -> None:
        self._locks = [v._lock for v in variables]

    def __enter__(self) -> None:
        with _several:
            for lock in self._locks:
                lock.acquire()

    def __exit__(self, *error: object) -> None:
        for lock in self._locks:
            lock.release()


class Updates:
    """The part of `tf.Variable` for changing the value by what it is."""

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

    _place: torch.device | None = None  # where its values have to be, on a machine with a GPU

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
        after = EagerTensor(raw if self._place is None else devices.moved(raw, self._place), self.dtype)
        if before is None or self._value is before: self._value = after  # noqa: E701  # fmt: skip
        self._tape_value = None

    # ---- in place ----------------------------------------------------------------------------------------------------

    def _close(self, tensor: EagerTensor, memory: Any, least: int = 0) -> bool:
        """Closes the variable's tensor, if nobody else can see its memory, and this has at least so many bytes.

        The caller holds the lock, and these two references.
        """
        if type(memory) is not torch.Tensor or memory.nbytes < least:
            return False
        if state.on_slices:
            once_for_each_slice("an assignment")
        tensor.value = self._lock, memory; tensor.__class__ = Pending  # noqa: E702  # fmt: skip
        self._tape_value = None
        # The references without other holders: of a tensor, those of the variable, the caller, and the calls; of its
        # memory, the tensor's is the first.
        if (
            getrefcount(tensor) <= 4
            and getrefcount(memory) <= 4
            and _users(memory.untyped_storage()._cdata) <= 2  # it and the storage object here
        ):
            return True
        tensor.__class__ = EagerTensor; tensor.value = memory  # noqa: E702  # fmt: skip
        return False

    def _begin(self) -> tuple[EagerTensor, Any]:
        """Begins an update; the lock is held until `_end`.

        Returns:
            The tensor that the variable holds; and contiguous memory with its value, which nobody else sees.
        """
        tensor = self._value
        memory = tensor.value
        if not isinstance(memory, torch.Tensor):
            return tensor, memory.copy()
        if memory.is_contiguous() and self._close(tensor, memory):
            return tensor, memory
        return tensor, memory.clone(memory_format=torch.contiguous_format)

    def _end(self, tensor: EagerTensor, memory: Any) -> None:
        """Ends an update that has written to what `_begin` returned."""
        if type(tensor) is EagerTensor:  # it is not closed
            self._set(memory, tensor)
        else:
            tensor.__class__ = EagerTensor; tensor.value = memory  # noqa: E702  # fmt: skip

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
            value = tensor.value
            if change.shape != value.shape or self.dtype is bool_ or self.dtype.torch is None:
                raise self._unfit(op, change)
            if devices.machine.has_gpu and change.device != value.device:
                change = change.to(value.device)
            if not self._close(tensor, value, _IN_PLACE_FROM):
                self._set(kernel(value, change), tensor)
                return
            try:
                kernel_in_place(value, change)
            finally:
                tensor.__class__ = EagerTensor; tensor.value = value  # noqa: E702  # fmt: skip
        finally:
            lock.release()

    def _unfit(self, op: str, change: Any) -> errors.InvalidArgumentError:
        """Returns the error for a change that can't be added."""
        message = f"Op '{op}' has no kernel for {self.dtype.name}"
        if change.shape != self._value.value.shape:
            mine, theirs = (str(list(s)).replace(" ", "") for s in (self._value.value.shape, change.shape))
            message = (
                f"Cannot update variable with shape {mine} using a Tensor with shape {theirs}, shapes must be equal."
            )
        return errors.InvalidArgumentError(None, None, f"{message} [Op:{op}] name: ")
