"""A program as calls of kernels on tensors alone, the form that a compiler of tensor programs accepts.

Reads of variables become inputs, assigned values become outputs, and calls of functions are inlined. Calls that only
run eagerly (random numbers, kernels that look at values) run before or between the compiled parts. Other steps
are obstacles. `partitioning.py` removes them before a program is flattened.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch

from tapeflow.core import device as devices
from tapeflow.core.ops.kernels import compute
from tapeflow.core.ops.static import numbers
from tapeflow.core.types.dtypes import DType, variant
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.variable import _add, _assign, _subtract
from tapeflow.graph.codegen.program import CALLS, Program, Step
from tapeflow.graph.codegen.random_streams import with_stream
from tapeflow.graph.codegen.resolving import is_direct
from tapeflow.graph.ir.graph import READ
from tapeflow.graph.ir.operation import GraphOp, variable_of
from tapeflow.graph.ir.python_op import eager_arguments

# The new value of a variable from the old one and the operand; None: the operand itself.
_CHANGES: dict[Any, Any] = {_assign: None, _add: torch.add, _subtract: torch.sub}
_MOST_STAGES = 4  # each is compiled by itself
_NO_PLACE = "which has no place in a program of numbers"


class Refused(Exception):
    """A program can't be compiled; the text names the part of it that prevents that, and says why.

    Attributes:
        step: the step of the program that prevents it, if it is one.
    """

    def __init__(self, why: str, step: Step | None = None) -> None:
        super().__init__(why)
        self.step = step


class FlatValue:
    """A tensor between calls.

    Attributes:
        dtype: its dtype.
        constant: the `torch.Tensor`, if it is the same in all runs.
        fake: a tensor without memory that has its shape, after shapes were inferred.
    """

    __slots__ = ("constant", "dtype", "fake")

    def __init__(self, dtype: DType, constant: torch.Tensor | None = None) -> None:
        self.dtype = dtype
        self.constant = constant
        self.fake: Any = None

    @property
    def shape(self) -> TensorShape:
        """The shape of `stand_in()`."""
        return TensorShape(self.stand_in().shape)

    def stand_in(self) -> Any:
        """Returns the constant, or the tensor without memory."""
        return self.fake if self.constant is None else self.constant


class KernelCall:
    """A call of a kernel.

    Attributes:
        step: the step that it computes.
        kernel: the kernel.
        kinds: the kinds of its arguments, as in an op.
        args: its arguments; tensors are `FlatValue`s, or lists of them.
        outputs: its outputs.
        literal: True if the kernel reads the values of constants.
        eager_because: the reason to run it eagerly, "" for a reason without a warning; None if it is compiled.
        recorded: the ATen calls that the kernel makes, after it was traced.
        part_of: the step of the program that it belongs to; another than `step` inside the call of a function.
    """

    __slots__ = ("args", "eager_because", "kernel", "kinds", "literal", "outputs", "part_of", "recorded", "step")

    def __init__(
        self,
        step: Step,
        kernel: Callable[..., Any],
        kinds: Sequence[str],
        args: Sequence[Any],
        outputs: list[FlatValue],
    ) -> None:
        self.step = self.part_of = step
        self.kernel = kernel
        self.kinds = kinds
        self.args = args
        self.outputs = outputs
        self.literal = False
        self.recorded: list[Any] = []
        # TapeFlow's random generators run as in eager mode.
        random = step.registered and (step.op.random or step.name.startswith("Stateless"))
        self.eager_because: str | None = "" if random else None

    @property
    def inputs(self) -> list[FlatValue]:
        """The tensors among its arguments."""
        return [v for a in self.args for v in (a if type(a) is list else (a,)) if isinstance(v, FlatValue)]

    def kernel_arguments(self, value_of: Callable[[FlatValue], Any]) -> list[Any]:
        """Returns the kernel's arguments.

        Args:
            value_of: returns the tensor of a `FlatValue`.

        Raises:
            Refused: it takes Python numbers from a tensor that is not constant.
        """
        arguments: list[Any] = []
        for i, (kind, arg) in enumerate(zip(self.kinds, self.args, strict=True)):
            if kind == "list":
                arg = [value_of(v) for v in arg]
            elif isinstance(arg, FlatValue):
                arg = value_of(arg)
                if kind == "host":
                    if type(arg) is not torch.Tensor:
                        parameter = repr(self.step.op.params[i]) if self.step.registered else "number of slices"
                        why = f"{label(self.step)} has a {parameter} that is not known before it runs"
                        raise Refused(why, self.part_of)
                    arg = numbers(arg)
            arguments.append(arg)
        return arguments

    def with_dtypes(self, result: Any) -> list[torch.Tensor]:
        """Returns a kernel's result as tensors of the dtypes that the op declares."""
        results = list(result) if isinstance(result, (list, tuple)) else [result]
        dtypes = [v.dtype.torch for v in self.outputs]
        return [r if d is None or r.dtype is d else r.to(d) for r, d in zip(results, dtypes, strict=True)]

    def run(self, value_of: Callable[[FlatValue], Any]) -> list[torch.Tensor]:
        """Computes the call as eager mode does.

        Args:
            value_of: returns the tensor of a `FlatValue`.
        """
        op, arguments = self.step.op, self.kernel_arguments(value_of)
        if is_direct(self.step):
            return self.with_dtypes(self.kernel(*arguments))
        args = eager_arguments(op, self.args, arguments)
        return self.with_dtypes(compute(op, args, self.step.types, self.step.operation.name)[0])


class _Slot:
    """The state of a variable at a point of a program.

    Attributes:
        value: its current value.
        changed: True if it was changed.
    """

    __slots__ = ("changed", "value")

    def __init__(self, value: FlatValue) -> None:
        self.value = value
        self.changed = False


class Flat:
    """The calls of kernels in a program.

    Args:
        program: the program.

    Attributes:
        inputs: a tensor for each input of the program; for a variable, its value before the program.
        calls: the calls, in order.
        outputs: the program's outputs.
        changes: for each variable that changes, its place among the inputs and its value after the program.

    Raises:
        Refused: a step is an obstacle.
    """

    def __init__(self, program: Program) -> None:
        self.calls: list[KernelCall] = []
        self.inputs: list[FlatValue] = []
        env: dict[int, Any] = {}
        slots: list[tuple[int, _Slot]] = []
        for place, t in enumerate(program.inputs):
            variable = variable_of(t)
            why = _no_place(program, t)
            if why is not None:
                raise Refused(why)
            self.inputs.append(FlatValue(t.dtype if variable is None else variable.dtype))
            env[id(t)] = self.inputs[-1]
            if variable is not None:
                slots.append((place, _Slot(self.inputs[-1])))
                env[id(t)] = slots[-1][1]
        self.outputs: list[FlatValue] = self._add(program, env)
        self.changes = [(place, slot.value) for place, slot in slots if slot.changed]
        self._prune()

    @property
    def results(self) -> list[FlatValue]:
        """The outputs, then the new values of variables."""
        return [*self.outputs, *(v for _, v in self.changes)]

    # ---- from steps to calls -------------------------------------------------------------------------------------

    def _add(self, program: Program, env: dict[int, Any]) -> list[Any]:
        """Adds the calls of a program, and returns its outputs.

        Args:
            program: the program.
            env: the values of its inputs, by their ids. The values of other tensors are added.
        """

        def of(t: SymbolicTensor) -> Any:
            value = env.get(id(t))
            if value is None:
                value = env[id(t)] = FlatValue(t.dtype, program.constants[id(t)])
            return value

        for step in program.steps:
            why, before = obstacle(program, step), len(self.calls)
            if why is not None:
                raise Refused(why, step)
            if step.op is READ:
                env[id(step.outputs[0])] = of(step.args[0]).value
            elif step.name == "Vectorized":
                self._on_slices(step, [of(t) for t in step.inputs], env)
            elif step.registered:
                args = step.op.map(of, step.args, host=lambda a: of(a) if isinstance(a, SymbolicTensor) else a)
                self._call(step, _kernel(step), step.op.kinds, args, env)
            elif step.name in CALLS:
                inner = called_program(step)
                inputs = {id(t): of(a) for t, a in zip(inner.inputs, step.args, strict=True)}
                env.update(zip(map(id, step.outputs), self._add(inner, inputs), strict=True))
            else:
                self._change(step, of(step.args[0]), of(step.args[1]))
            for call in self.calls[before:]:
                call.part_of = step
        return [of(t) for t in program.outputs]

    def _call(self, step: Step, kernel: Any, kinds: Sequence[str], args: list[Any], env: dict[int, Any]) -> None:
        """Adds the call that computes a step, and its outputs to `env`."""
        outputs = [FlatValue(t.dtype) for t in step.outputs]
        self.calls.append(KernelCall(step, kernel, kinds, args, outputs))
        env.update(zip(map(id, step.outputs), outputs, strict=True))

    def _on_slices(self, step: Step, args: list[Any], env: dict[int, Any]) -> None:
        """Adds a call of an op on all slices, which is compiled as its kernels on batches."""
        random = step.op.one_by_one
        kernel = step.op.kernel if random else step.op.at_once
        self._call(step, kernel, ["host", *["tensor"] * (len(args) - 1)], args, env)
        if random:
            self.calls[-1].eager_because = ""

    def _change(self, step: Step, slot: _Slot, operand: FlatValue) -> None:
        """Adds the call that computes a variable's new value."""
        kernel = _CHANGES[step.op.kernel]
        slot.changed = True
        if kernel is None:
            slot.value = operand
            return
        value = FlatValue(slot.value.dtype)
        self.calls.append(KernelCall(step, kernel, ("tensor", "tensor"), [slot.value, operand], [value]))
        slot.value = value

    def _prune(self) -> None:
        """Removes the calls that no result depends on."""
        needed = {id(v) for v in self.results}
        live = []
        for call in reversed(self.calls):
            if any(id(v) in needed for v in call.outputs):
                live.append(call)
                needed.update(id(v) for v in call.inputs)
        self.calls = live[::-1]

    # ---- stages --------------------------------------------------------------------------------------------------

    def stages(self) -> list[Stage]:
        """Returns the calls in the smallest number of groups that can run one after the other.

        Raises:
            Refused: there is nothing to compile, or there are too many compiled parts.
        """
        stages: list[Stage] = []
        ready: dict[int, tuple[int, int]] = {}  # by value, the first stage of its compiled and eager uses
        for call in self.calls:
            eager = call.eager_because is not None
            place = max([ready.get(id(v), (0, 0))[eager] for v in call.inputs], default=0)
            stages += [Stage([], []) for _ in range(place + 1 - len(stages))]
            (stages[place].eager if eager else stages[place].compiled).append(call)
            ready.update((id(v), (place, place if eager else place + 1)) for v in call.outputs)
        reasons = [call.eager_because for stage in stages for call in stage.eager if call.eager_because]
        if stages and not any(stage.compiled for stage in stages):
            raise Refused(reasons[0] if reasons else "it only draws random numbers")
        if len(stages) > _MOST_STAGES:
            raise Refused(f"{(reasons or ['it draws random numbers'])[0]}, between {len(stages)} parts that could be")
        return stages


class Stage(NamedTuple):
    """Calls that run eagerly, and then calls that are compiled."""

    eager: list[KernelCall]
    compiled: list[KernelCall]


def _kernel(step: Step) -> Callable[..., Any]:
    """Returns the kernel of a registered op."""
    kernel = step.op.kernel
    if step.op.creates:
        kernel = functools.partial(kernel, device=devices.current_or_default(step.outputs[0].dtype.torch))
    return with_stream(step, kernel)


def called_program(step: Step) -> Program:
    """Returns the program of the function that a step calls."""
    program: Program = step.op.bodies["f"].returning(step.op.results).program
    return program


# ---- obstacles -------------------------------------------------------------------------------------------------------


def obstacle(program: Program, step: Step) -> str | None:
    """Returns why a step has no form as calls of kernels on tensors, or None.

    Args:
        program: the program.
        step: a step of it.
    """
    if step.name in CALLS:
        inner = called_program(step)
        if step.op.body.graph.locks:
            return f"{label(step)} runs under a lock"
        whys = (_no_place(program, t) for t in step.inputs)
        return next((w for w in (*whys, *(obstacle(inner, s) for s in inner.steps)) if w is not None), None)
    if step.name == "Vectorized":
        registered = not isinstance(step.op.operation.op, GraphOp)
        why = None if registered and not step.must_run else f"{label(step)} has more than kernels in it"
    elif step.op is READ or step.op.kernel in _CHANGES or (step.registered and not step.must_run):
        why = None
    elif not step.registered and step.op.bodies:
        why = f"{label(step)} decides by values what to run"
    elif step.must_run:
        why = f"{label(step)} has side effects"
    else:
        why = f"{label(step)} runs Python code that no compiler can look into"
    if why is None and step.registered and step.placed:
        why = f"{label(step)} runs on {step.operation.device}, and TorchInductor is given one device"
    if why is None and step.registered and any(variable_of(t) is not None for t in step.inputs):
        why = f"{label(step)} takes a variable itself"
    whys = (_no_place(program, t) for t in (*step.inputs, *step.outputs))
    return why or next((w for w in whys if w is not None), None)


def is_structure(step: Step) -> bool:
    """Returns True for loops, conditionals, their gradients and lists of tensors: their place is the source."""
    return bool(not step.registered and (step.op.bodies or step.op.gradient_of)) or any(
        t.dtype is variant for t in (*step.inputs, *step.outputs)
    )


def _no_place(program: Program, tensor: SymbolicTensor) -> str | None:
    """Returns why a tensor has no place in a program of numbers, or None."""
    variable, raw = variable_of(tensor), program.constant(tensor)
    dtype = tensor.dtype if variable is None else variable.dtype
    if raw is not None and not isinstance(raw, torch.Tensor):
        return f"{tensor.op.name} is a constant of dtype {tensor.dtype.name}"
    if dtype.torch is None or (variable is not None and variable._has_copies):
        kind = "a tensor" if variable is None else f"a {type(variable).__name__}"
        return f"{tensor.op.name} is {kind} of dtype {dtype.name}, {_NO_PLACE}"
    return None


def label(step: Step) -> str:
    """Returns a step's op for messages, with the operation's name if that differs."""
    return step.name if step.operation.name == step.name else f"{step.name} ({step.operation.name})"
