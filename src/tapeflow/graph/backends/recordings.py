"""A compiled function, recorded on its own memory and replayed there.

A recording has fixed addresses. Arguments are copied into its tensors. Results are returned as copies, because the next
replay overwrites its tensors. A variable has a `Home`, a tensor that all recordings read. At its end, the program
copies assigned values to the home. Tensors never change in TapeFlow, so a replay first checks that only the variable
uses the memory to be written. If not, the recording is invalid and the function is recorded again. If a variable has a
new tensor (after `assign` or a restored checkpoint), the tensor is copied to the home.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

import torch

from tapeflow.core import aten
from tapeflow.core.forking import new_lock
from tapeflow.core.rng.seeds import drawing_from
from tapeflow.core.values.tensor import EagerTensor
from tapeflow.core.values.variable import ResourceVariable, Variable
from tapeflow.core.values.variable_updates import Locked, Owned

Run = Callable[[], list[torch.Tensor]]


class StreamRecorder(Protocol):
    """Records the launches on a device and repeats them, as a CUDA graph does.

    Attributes:
        lock: held while the memory of recordings is used. All recordings of a device share it.
    """

    lock: Any

    def rehearse(self, run: Run, watch: AbstractContextManager[Any], uses: Callable[[], list[torch.Tensor]]) -> Any:
        """Runs as in a recording, under a watch. `uses` returns the tensors that `run` and the caller both use."""

    def generator(self) -> torch.Generator:
        """Returns the generator for random numbers in the recording; replays continue its sequence."""

    def record(self, run: Run) -> list[torch.Tensor]:
        """Records the launches of a function and returns its tensors, which have values after a replay."""

    def wait(self) -> None:
        """Makes later work on the device wait for the last replay."""

    def replay(self) -> None:
        """Repeats the recorded launches."""


class Home:
    """The memory of a variable's value for recordings.

    Attributes:
        variable: the variable.
        tensor: the memory.
        stand_in: a variable that replaces it while the program is recorded: other threads see no change.

    Args:
        variable: the variable, whose lock the caller holds; its value moves here.
    """

    __slots__ = ("__weakref__", "stand_in", "tensor", "variable")

    def __init__(self, variable: Variable) -> None:
        self.variable = variable
        tensor, memory = variable._begin()
        variable._end(tensor, memory)
        self.tensor: torch.Tensor = memory.data
        self.stand_in: Variable = object.__new__(ResourceVariable)
        for attribute in ("dtype", "_id", "_lock", "_name", "_shape", "_trainable"):
            setattr(self.stand_in, attribute, getattr(variable, attribute))
        self.stand_in._place = variable._place

    def move_in(self, before: EagerTensor) -> None:
        """Makes this memory the variable's value if the variable still holds the tensor `before`."""
        self.variable._hold(self.tensor.data, before)

    def holds_value(self) -> bool:
        """Returns True if the variable's value is in this memory."""
        return self.variable._memory().is_set_to(self.tensor)

    def fits(self, changes: bool) -> bool:
        """Returns True if a replay may read the variable's value here, and write it if it `changes` the variable.

        The caller holds the variable's lock if the program changes it.
        """
        variable = self.variable
        if vars(variable)["_home"]() is not self:
            return False
        if self.holds_value():
            return not changes or type(variable._own(others=1)[0]) is Owned
        value = variable._memory()
        copyable = value.shape == self.tensor.shape and value.device == self.tensor.device
        return copyable and not aten.users(self.tensor)


def home_of(variable: Variable) -> Home:
    """Returns the home of a variable: the one that other recordings use, if it still fits."""
    reference = vars(variable).get("_home")
    home = None if reference is None else reference()
    with variable._lock:
        if home is None or not home.fits(True):
            home = Home(variable)
            vars(variable)["_home"] = weakref.ref(home)
    return home


def copy_home(homes: Sequence[Home]) -> None:
    """Copies the values of variables that hold other tensors to their homes."""
    away = [home for home in homes if not home.holds_value()]
    before = [home.variable._value for home in away]
    _copy([home.tensor for home in away], [tensor.value for tensor in before])
    for home, tensor in zip(away, before, strict=True):
        home.move_in(tensor)


class GraphRecording:
    """A program recorded for tensors of certain shapes.

    Args:
        program: `program(*raw values)`, the compiled function.
        recorder: records and replays it.
        device: the device.
        values: raw values of its inputs: the arguments, then the captured values.
        argument_count: the number of arguments.
        fixed: the outputs that are constant, by their places.
        draws: True if it draws random numbers.
    """

    def __init__(
        self, program: Callable[..., Any], recorder: StreamRecorder, device: torch.device, values: Sequence[Any],
        argument_count: int, fixed: dict[int, torch.Tensor], draws: bool,
    ) -> None:  # fmt: skip
        self._recorder = recorder
        self._changed: set[int] = set()
        self._updating = Locked(())
        self._retained: list[torch.Tensor] = []
        self._fixed = fixed
        self._captured = list(values[argument_count:])
        with recorder.lock, drawing_from(recorder.generator()) if draws else nullcontext():
            recorder.wait()
            self._arguments = [torch.empty_like(v, device=device).copy_(v) for v in values[:argument_count]]
            self._homes = [home_of(v) for v in self._captured if isinstance(v, Variable)]
            copy_home(self._homes)
            homes = iter(self._homes)
            captured = [next(homes).stand_in if isinstance(v, Variable) else v for v in self._captured]
            inputs = [*self._arguments, *captured]
            self._outputs = recorder.record(lambda: self._run(program, inputs))

    def _run(self, program: Callable[..., Any], inputs: Sequence[Any]) -> list[torch.Tensor]:
        """Runs the program on the fixed tensors, and copies the new values of variables to their homes."""
        from tapeflow.graph.backends.dispatch_modes import Keep  # here, as it takes a private name of torch

        for home in self._homes:
            home.stand_in._tape_value = None
            home.stand_in._value = EagerTensor(home.tensor, home.stand_in.dtype)
        memory = {t.untyped_storage().data_ptr() for t in (*self._arguments, *(h.tensor for h in self._homes))}
        try:
            with Keep(memory) as keep:
                outputs = list(program(*inputs))
            changed = [home for home in self._homes if home.stand_in._value.value is not home.tensor]
            values = [home.stand_in._value.value for home in changed]
        finally:
            for home in self._homes:
                del home.stand_in._value
        # No result may share the memory of a variable, which is written next and must be private; nor may the value for
        # one variable share the memory of another.
        outputs, values = _separated(outputs, memory), _separated(values, memory)
        _copy([home.tensor for home in changed], values)
        self._changed, self._retained = {id(home) for home in changed}, keep.tensors
        self._updating = Locked([home.variable for home in changed])
        return outputs

    def accepts(self, values: Sequence[Any]) -> bool:
        """Returns True if it was recorded for arguments of these shapes and for these captured values."""
        arguments = self._arguments
        return all(v is c for v, c in zip(values[len(arguments) :], self._captured, strict=True)) and all(
            v.shape == a.shape for v, a in zip(values, arguments, strict=False)
        )

    def __call__(self, values: Sequence[Any]) -> list[torch.Tensor] | None:
        """Replays the program for values that it accepts.

        Returns:
            The outputs. None, without a replay, if the program must be recorded again because another object refers to
            the memory of a variable.
        """
        with self._recorder.lock, self._updating:
            if not all(home.fits(id(home) in self._changed) for home in self._homes):
                return None
            self._recorder.wait()
            copy_home(self._homes)
            _copy(self._arguments, values[: len(self._arguments)])
            self._recorder.replay()
            return [o.clone() if i not in self._fixed else self._fixed[i] for i, o in enumerate(self._outputs)]


def _copy(targets: list[torch.Tensor], values: Sequence[torch.Tensor]) -> None:
    """Copies values to tensors, all in one call if each pair is on one device."""
    if all(v.is_cpu is t.is_cpu for t, v in zip(targets, values, strict=True)):
        if targets:
            aten.foreach_copy_(targets, list(values))
        return
    for t, v in zip(targets, values, strict=True):
        t.copy_(v)


def _separated(tensors: list[torch.Tensor], memory: set[int]) -> list[torch.Tensor]:
    """Returns the tensors, after copying each tensor with memory at one of the addresses."""
    return [t.clone() if t.untyped_storage().data_ptr() in memory else t for t in tensors]


recording = new_lock()  # only one capture may be under way in a process
