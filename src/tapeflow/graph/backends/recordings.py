"""A compiled function recorded on memory of its own, and replayed there.

What is recorded works on addresses. The arguments are copied into tensors that stay where they are; results come back
as copies, since the next replay writes over the tensors that they are in. A variable has a `Home`, a tensor that all
recordings find its value in: what the program assigns is copied there at its end. Tensors never change in TapeFlow, so
that a replay asks first whether anybody else sees the memory that it is going to write; then the recording no longer
fits, and another one has to be made. Where a variable has got another tensor since (`assign`, a restored checkpoint),
that is copied home.
"""

from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

import torch

from tapeflow.core.values.tensor import EagerTensor
from tapeflow.core.values.variable import Variable
from tapeflow.graph.backends.capturable import Keep

Run = Callable[[], list[torch.Tensor]]


class Recorder(Protocol):
    """What records launches on a device and repeats them: a CUDA graph.

    Attributes:
        lock: held while the memory of recordings is used; those of one device share it.
    """

    lock: Any

    def rehearse(self, run: Run, watch: AbstractContextManager[Any], uses: Callable[[], list[torch.Tensor]]) -> Any:
        """Runs as it will be recorded, under a watch. `uses` gives the tensors that it and the caller both use."""

    def generator(self) -> torch.Generator:
        """The generator of what is drawn while it is recorded; a replay goes on with it."""

    def record(self, run: Run) -> list[torch.Tensor]:
        """Records what a function launches; gives its tensors, which have values after a replay."""

    def wait(self) -> None:
        """Has what comes next on the device wait for the last replay."""

    def replay(self) -> None:
        """Does what was recorded."""


class Home:
    """The memory where recordings find the value of a variable.

    Attributes:
        variable: the variable.
        tensor: the memory.
        stand_in: a variable that the program works on while it is recorded, so that nobody sees it change.
    """

    __slots__ = ("__weakref__", "stand_in", "tensor", "variable")

    def __init__(self, variable: Variable) -> None:
        self.variable = variable
        value: torch.Tensor = variable._value.value
        variable._tape_value = None
        alone = sys.getrefcount(variable._value) <= 2 and sys.getrefcount(value) <= 3 and _holders(value) <= 2
        self.tensor = value if alone and value.is_contiguous() else value.clone(memory_format=torch.contiguous_format)
        self._move_in()
        self.stand_in: Variable = object.__new__(Variable)
        for attribute in ("dtype", "_id", "_name", "_shape", "_trainable"):
            setattr(self.stand_in, attribute, getattr(variable, attribute))
        self.stand_in._place = variable._place

    def _move_in(self) -> None:
        self.variable._value = EagerTensor(self.tensor, self.variable.dtype)
        self.variable._tape_value = None

    def lived_in(self) -> bool:
        """Whether the variable's value is here."""
        return self.variable._value.value is self.tensor

    def fits(self, changes: bool) -> bool:
        """Whether a replay may find the variable's value here, and change it if it `changes`."""
        variable = self.variable
        if vars(variable)["_home"]() is not self:
            return False
        if variable._value.value is self.tensor:
            return not changes or self._is_private(True)
        value = variable._value.value
        alike = value.shape == self.tensor.shape and value.device == self.tensor.device
        return alike and self._is_private(False)

    def _is_private(self, lived_in: bool) -> bool:
        """Whether nobody sees the memory but this home, and the variable if its value is here."""
        if lived_in:
            self.variable._tape_value = None
            if sys.getrefcount(self.variable._value) > 2:
                return False
        # the references of this home, of the variable, and of the question itself
        return sys.getrefcount(self.tensor) <= 2 + lived_in and _holders(self.tensor) <= 2


def _holders(tensor: torch.Tensor) -> int:
    """How many hold a tensor's memory, this function among them."""
    return torch._C._storage_Use_Count(tensor.untyped_storage()._cdata)


def home_of(variable: Variable) -> Home:
    """The home of a variable: the one that other recordings use, where it still serves."""
    reference = vars(variable).get("_home")
    home = None if reference is None else reference()
    if home is None or not home.fits(True):
        home = Home(variable)
        vars(variable)["_home"] = weakref.ref(home)
    return home


def bring_home(homes: Sequence[Home]) -> None:
    """Copies the values of variables that got other tensors to where recordings find them."""
    away = [home for home in homes if not home.lived_in()]
    _copy([home.tensor for home in away], [home.variable._value.value for home in away])
    for home in away:
        home._move_in()


class Recording:
    """A program recorded for tensors of certain shapes.

    Args:
        program: `program(*raw values)`, the compiled function.
        recorder: what records it.
        device: where.
        values: raw values of its inputs, of which the first `given` are arguments and the others what it captures.
        given: how many.
        fixed: the outputs that are the same in all runs, by their places.
        draws: whether it draws random numbers.
    """

    def __init__(
        self, program: Callable[..., Any], recorder: Recorder, device: torch.device, values: Sequence[Any], given: int,
        fixed: dict[int, torch.Tensor], draws: bool,
    ) -> None:  # fmt: skip
        self._recorder = recorder
        self._changed: set[int] = set()
        self._kept: list[torch.Tensor] = []
        self._fixed = fixed
        self._captured = list(values[given:])
        with recorder.lock, _drawing(recorder) if draws else nullcontext():
            recorder.wait()
            self._arguments = [torch.empty_like(v, device=device).copy_(v) for v in values[:given]]
            self._homes = [home_of(v) for v in self._captured if isinstance(v, Variable)]
            bring_home(self._homes)
            homes = iter(self._homes)
            captured = [next(homes).stand_in if isinstance(v, Variable) else v for v in self._captured]
            inputs = [*self._arguments, *captured]
            self._outputs = recorder.record(lambda: self._run(program, inputs))

    def _run(self, program: Callable[..., Any], inputs: Sequence[Any]) -> list[torch.Tensor]:
        """Runs the program on the tensors that stay, and leaves the values of the variables where they are found."""
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
        # No result may be the memory of a variable, which is written next and must be nobody else's; nor may the value
        # for one variable be the memory of another.
        outputs, values = _apart(outputs, memory), _apart(values, memory)
        _copy([home.tensor for home in changed], values)
        self._changed, self._kept = {id(home) for home in changed}, keep.tensors
        return outputs

    def takes(self, values: Sequence[Any]) -> bool:
        """Whether it was recorded for such values."""
        given = self._arguments
        return all(v is c for v, c in zip(values[len(given) :], self._captured, strict=True)) and all(
            v.shape == a.shape for v, a in zip(values, given, strict=False)
        )

    def __call__(self, values: Sequence[Any]) -> list[torch.Tensor] | None:
        """What the program gives for values that it takes, or None, with nothing done, if it has to be recorded again:
        somebody sees the memory of a variable."""
        with self._recorder.lock:
            if not all(home.fits(id(home) in self._changed) for home in self._homes):
                return None
            self._recorder.wait()
            bring_home(self._homes)
            _copy(self._arguments, values[: len(self._arguments)])
            self._recorder.replay()
            return [o.clone() if i not in self._fixed else self._fixed[i] for i, o in enumerate(self._outputs)]


def _copy(into: list[torch.Tensor], values: Sequence[torch.Tensor]) -> None:
    """Copies values into tensors, at once where they are on the same device."""
    if all(v.is_cpu is t.is_cpu for t, v in zip(into, values, strict=True)):
        if into:
            torch._foreach_copy_(into, list(values))
        return
    for t, v in zip(into, values, strict=True):
        t.copy_(v)


def _apart(tensors: list[torch.Tensor], memory: set[int]) -> list[torch.Tensor]:
    """Tensors, with copies of those in this memory."""
    return [t.clone() if t.untyped_storage().data_ptr() in memory else t for t in tensors]


def _drawing(recorder: Recorder) -> AbstractContextManager[None]:
    from tapeflow.random.seeds import drawing_from  # the package needs graphs

    return drawing_from(recorder.generator())


recording = threading.Lock()  # only one capture may be under way in a process
