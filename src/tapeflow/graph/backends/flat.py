"""A program as calls of kernels on tensors alone: what a compiler of tensor programs can take.

Reads of variables become inputs, what is assigned to them becomes outputs, and the functions that are called stand in
the place of their calls. What a compiler can't take but eager mode can (random numbers, kernels that look at values)
stands apart, and runs before or between what is compiled.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch

from tapeflow.core import device as devices
from tapeflow.core.ops.kernels import compute
from tapeflow.core.ops.static import numbers
from tapeflow.core.types.dtypes import DType
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.variable import Variable, _add, _assign, _subtract
from tapeflow.graph.batching.vmapped import draws, only_computes
from tapeflow.graph.codegen.program import CALLS, Program, Step
from tapeflow.graph.codegen.resolving import is_direct
from tapeflow.graph.codegen.writing import with_stream
from tapeflow.graph.ir.graph import READ
from tapeflow.graph.ir.operation import variable_of
from tapeflow.graph.ir.python_op import eager_arguments

# What a change of a variable computes of the old value and the operand; None: it is the operand.
_CHANGES: dict[Any, Any] = {_assign: None, _add: torch.add, _subtract: torch.sub}
_MOST_STAGES = 4  # each is compiled by itself
_NO_PLACE = "which has no place in a program of numbers"


class Refused(Exception):
    """What a program has that can't be compiled; its text names it and says why."""


class Value:
    """A tensor between calls.

    Attributes:
        dtype: its dtype.
        known: the `torch.Tensor`, where it is the same in all runs.
        fake: a tensor without memory that has its shape, once shapes were inferred.
    """

    __slots__ = ("dtype", "fake", "known")

    def __init__(self, dtype: DType, known: torch.Tensor | None = None) -> None:
        self.dtype = dtype
        self.known = known
        self.fake: Any = None

    def stand_in(self) -> Any:
        """The known tensor, or the one without memory."""
        return self.fake if self.known is None else self.known


class Call:
    """A call of a kernel.

    Attributes:
        step: the step that it does the work of.
        kernel: the kernel.
        kinds: what each of its arguments is, as of an op.
        args: its arguments; `Value`s, or lists of them, stand for tensors.
        outputs: what it gives.
        literal: whether the kernel looks at the values of known tensors.
        apart: why it is not compiled, "" where that is as it should be, None where it is compiled.
    """

    __slots__ = ("apart", "args", "kernel", "kinds", "literal", "outputs", "step")

    def __init__(
        self, step: Step, kernel: Callable[..., Any], kinds: Sequence[str], args: Sequence[Any], outputs: list[Value]
    ) -> None:
        self.step = step
        self.kernel = kernel
        self.kinds = kinds
        self.args = args
        self.outputs = outputs
        self.literal = False
        # TapeFlow's random generators run as in eager mode.
        random = step.registered and (step.op.random or step.name.startswith("Stateless"))
        self.apart: str | None = "" if random else None

    @property
    def takes(self) -> list[Value]:
        """The tensors that it takes."""
        return [v for a in self.args for v in (a if type(a) is list else (a,)) if isinstance(v, Value)]

    def given(self, value_of: Callable[[Value], Any]) -> list[Any]:
        """The kernel's arguments.

        Raises:
            Refused: it takes numbers that only a run can tell.
        """
        found: list[Any] = []
        for i, (kind, arg) in enumerate(zip(self.kinds, self.args, strict=True)):
            if kind == "list":
                arg = [value_of(v) for v in arg]
            elif isinstance(arg, Value):
                arg = value_of(arg)
                if kind == "host":
                    if type(arg) is not torch.Tensor:
                        what = repr(self.step.op.params[i]) if self.step.registered else "number of slices"
                        raise Refused(f"{label(self.step)} has a {what} that is not known before it runs")
                    arg = numbers(arg)
            found.append(arg)
        return found

    def promised(self, result: Any) -> list[torch.Tensor]:
        """A kernel's result as tensors of the dtypes that the op promises."""
        results = list(result) if isinstance(result, (list, tuple)) else [result]
        dtypes = [v.dtype.torch for v in self.outputs]
        return [r if d is None or r.dtype is d else r.to(d) for r, d in zip(results, dtypes, strict=True)]

    def run(self, value_of: Callable[[Value], Any]) -> list[torch.Tensor]:
        """What it gives for real tensors, as in eager mode."""
        op, given = self.step.op, self.given(value_of)
        if is_direct(self.step):
            return self.promised(self.kernel(*given))
        args = eager_arguments(op, self.args, given)
        return self.promised(compute(op, args, self.step.types, self.step.operation.name)[0])


class _Slot:
    """A variable in the course of a program: its value by now, and whether it was changed."""

    __slots__ = ("changed", "now")

    def __init__(self, now: Value) -> None:
        self.now = now
        self.changed = False


class _Now:
    """What a function takes for a variable that it only reads.

    Attributes:
        value: the raw value.
    """

    __slots__ = ("value",)

    def __init__(self, value: torch.Tensor) -> None:
        self.value = value

    @property
    def _value(self) -> _Now:
        return self


def _reading(kernel: Callable[..., Any], reads: Sequence[bool], *values: Any) -> Any:
    """Calls a kernel that takes variables in some places, with the values that these have."""
    return kernel(*[_Now(v) if reads_it else v for v, reads_it in zip(values, reads, strict=True)])


class Flat:
    """The calls from tensors to tensors that a program makes.

    Attributes:
        inputs: a tensor for each input of the program; for a variable, its value before.
        calls: what is called, in order.
        outputs: the program's outputs.
        changes: the variables that change, by their places among the inputs, and their values after.

    Raises:
        Refused: the program does more than to compute.
    """

    def __init__(self, program: Program) -> None:
        self.calls: list[Call] = []
        self.inputs: list[Value] = []
        env: dict[int, Any] = {}
        slots: list[tuple[int, _Slot]] = []
        for place, t in enumerate(program.inputs):
            variable = variable_of(t)
            dtype = t.dtype if variable is None else variable.dtype
            if dtype.torch is None or (variable is not None and type(variable) is not Variable):
                kind = "a tensor" if variable is None else f"a {type(variable).__name__}"
                raise Refused(f"{t.op.name} is {kind} of dtype {dtype.name}, {_NO_PLACE}")
            self.inputs.append(Value(dtype))
            env[id(t)] = self.inputs[-1]
            if variable is not None:
                slots.append((place, _Slot(self.inputs[-1])))
                env[id(t)] = slots[-1][1]
        self.outputs: list[Value] = self._add(program, env)
        self.changes = [(place, slot.now) for place, slot in slots if slot.changed]
        self._prune()

    @property
    def results(self) -> list[Value]:
        """The outputs, then what the variables become."""
        return [*self.outputs, *(v for _, v in self.changes)]

    # ---- from steps to calls -------------------------------------------------------------------------------------

    def _add(self, program: Program, env: dict[int, Any]) -> list[Any]:
        """Adds the calls of a program; gives its outputs.

        Args:
            env: what stands for its inputs, by their ids; all its tensors are added.
        """

        def of(t: SymbolicTensor) -> Any:
            found = env.get(id(t))
            if found is None:
                raw = program.constants[id(t)]
                if not isinstance(raw, torch.Tensor):
                    raise Refused(f"{t.op.name} is a constant of dtype {t.dtype.name}")
                found = env[id(t)] = Value(t.dtype, raw)
            return found

        for step in program.steps:
            if step.op is READ:
                env[id(step.outputs[0])] = of(step.args[0]).now
            elif step.registered and not step.must_run:
                args = step.op.map(of, step.args, host=lambda a: of(a) if isinstance(a, SymbolicTensor) else a)
                self._call(step, _kernel(step), step.op.kinds, args, env)
            elif step.name == "Vectorized" and only_computes(step.op.body) and not step.must_run:
                self._on_slices(step, [of(t) for t in step.inputs], env)
            elif step.op.kernel in _CHANGES:
                self._change(step, of(step.args[0]), of(step.args[1]))
            elif step.name in CALLS:
                inner = step.op.bodies["f"].giving(step.op.gives).program
                given = {id(t): of(a) for t, a in zip(inner.inputs, step.args, strict=True)}
                env.update(zip(map(id, step.outputs), self._add(inner, given), strict=True))
            else:
                self._apart(step, [of(t) for t in step.inputs], env)
        return [of(t) for t in program.outputs]

    def _call(self, step: Step, kernel: Any, kinds: Sequence[str], args: list[Any], env: dict[int, Any]) -> None:
        strange = next((t for t in step.outputs if t.dtype.torch is None), None)
        if strange is not None:
            raise Refused(f"{label(step)} gives a tensor of dtype {strange.dtype.name}, {_NO_PLACE}")
        made = [Value(t.dtype) for t in step.outputs]
        self.calls.append(Call(step, kernel, kinds, args, made))
        env.update(zip(map(id, step.outputs), made, strict=True))

    def _apart(self, step: Step, args: list[Any], env: dict[int, Any]) -> None:
        """Adds a step that is an operation of graphs alone: it can't be compiled."""
        why = _why_not(step)
        if step.must_run or step.op.kernel is None or not all(isinstance(a, Value) for a in args):
            raise Refused(why)
        self._call(step, step.op.kernel, ["tensor"] * len(args), args, env)
        self.calls[-1].apart = why

    def _on_slices(self, step: Step, args: list[Any], env: dict[int, Any]) -> None:
        """Adds a call of a function on all slices: it is compiled as the kernels on batches that it comes to."""
        random = draws(step.op)
        kernel: Callable[..., Any] = step.op.on_slices if random else step.op.on_slices.compiled
        reads = [isinstance(a, _Slot) for a in args]
        if any(reads):
            kernel = functools.partial(_reading, kernel, reads)
        given = [a.now if isinstance(a, _Slot) else a for a in args]
        self._call(step, kernel, ["host", *["tensor"] * (len(args) - 1)], given, env)
        if random:
            self.calls[-1].apart = ""

    def _change(self, step: Step, slot: _Slot, operand: Value) -> None:
        kernel = _CHANGES[step.op.kernel]
        slot.changed = True
        if kernel is None:
            slot.now = operand
            return
        made = Value(slot.now.dtype)
        self.calls.append(Call(step, kernel, ("tensor", "tensor"), [slot.now, operand], [made]))
        slot.now = made

    def _prune(self) -> None:
        needed = {id(v) for v in self.results}
        kept = []
        for call in reversed(self.calls):
            if any(id(v) in needed for v in call.outputs):
                kept.append(call)
                needed.update(id(v) for v in call.takes)
        self.calls = kept[::-1]

    # ---- what is compiled ----------------------------------------------------------------------------------------

    def stages(self) -> list[Stage]:
        """The calls in groups that run one after the other, as few as can be.

        Raises:
            Refused: there is nothing to compile, or too much between what is.
        """
        found: list[Stage] = []
        ready: dict[int, tuple[int, int]] = {}  # by value: the first stage that can compile with it, or run without
        for call in self.calls:
            apart = call.apart is not None
            at = max([ready.get(id(v), (0, 0))[apart] for v in call.takes], default=0)
            found += [Stage([], []) for _ in range(at + 1 - len(found))]
            (found[at].before if apart else found[at].calls).append(call)
            ready.update((id(v), (at, at if apart else at + 1)) for v in call.outputs)
        reasons = [call.apart for stage in found for call in stage.before if call.apart]
        if found and not any(stage.calls for stage in found):
            raise Refused(reasons[0] if reasons else "it only draws random numbers")
        if len(found) > _MOST_STAGES:
            raise Refused(f"{(reasons or ['it draws random numbers'])[0]}, between {len(found)} parts that could be")
        return found


class Stage(NamedTuple):
    """Calls that are not compiled, and then calls that are."""

    before: list[Call]
    calls: list[Call]


def _kernel(step: Step) -> Callable[..., Any]:
    """The kernel of a registered op.

    Raises:
        Refused: it runs on a device of its own.
    """
    if step.placed:
        raise Refused(f"{label(step)} runs on {step.operation.device}, and TorchInductor is given one device")
    kernel = step.op.kernel
    if step.op.creates:
        kernel = functools.partial(kernel, device=devices.current_or_default())
    return with_stream(step, kernel)


def _why_not(step: Step) -> str:
    if step.name == "Vectorized":
        return f"{label(step)} has more than kernels in its function"
    if not step.registered and step.op.bodies:
        return f"{label(step)} decides by values what to run"
    if step.must_run:
        return f"{label(step)} has side effects"
    return f"{label(step)} runs Python code that no compiler can look into"


def label(step: Step) -> str:
    """A step's op, and its name where that tells more."""
    return step.name if step.operation.name == step.name else f"{step.name} ({step.operation.name})"
