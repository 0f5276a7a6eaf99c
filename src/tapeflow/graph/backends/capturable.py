"""Checking that a CUDA graph can hold a program: kernels on one device, and nothing else.

A capture stores the kernels that are launched, with the addresses and numbers among their arguments; a replay launches
the same again. Everything that Python and the host do in between (reading a value, printing, choosing a branch) happens
during the capture alone. So a program is checked twice: its steps before it runs (`obstacle`), and the calls of ATen
while it runs (`dispatch_modes.py`). The rules are CUDA's
(https://docs.nvidia.com/cuda/cuda-c-programming-guide/#cuda-graphs) and PyTorch's
(https://docs.pytorch.org/docs/stable/notes/cuda.html#constraints).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tapeflow.core import device as devices
from tapeflow.core.ops.definition import Op
from tapeflow.core.ops.static import value_of
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.variable import ResourceVariable, Variable, _add, _assign, _subtract
from tapeflow.graph.backends.kernel_calls import called_program, label
from tapeflow.graph.codegen.program import CALLS, Program, Step
from tapeflow.graph.codegen.random_streams import has_stream
from tapeflow.graph.ir.graph import READ
from tapeflow.graph.ir.operation import variable_of

_CHANGES = frozenset({_assign, _add, _subtract})
_BRANCHES = ("If", "Case")


# ---- the steps -------------------------------------------------------------------------------------------------------


def obstacle(program: Program) -> str | None:
    """Returns the first argument or op that prevents the capture of a program, and why; None if nothing does."""
    for t in program.inputs:
        why = _obstacle_of_input(t)
        if why is not None:
            return why
    for value in program.constants.values():
        if isinstance(value, Variable):
            return f"the variable {value.name} belongs to a graph, not to the program"
    for step in program.steps:
        why = _obstacle_of_step(step, program)
        if why is not None:
            return why
    return None


def _obstacle_of_input(tensor: SymbolicTensor) -> str | None:
    """Returns why a program with this input can't be captured, or None."""
    variable: Any = variable_of(tensor)
    if variable is None:
        name, dtype, shape = f"the argument {tensor.op.name!r}", tensor.dtype, tensor.shape
    else:
        name, dtype, shape = f"the variable {variable.name!r}", variable.dtype, variable.shape
        if type(variable) is not ResourceVariable:
            return f"{name} is a {type(variable).__name__}, which has copies on several devices"
    if dtype.torch is None:
        return f"{name} is of dtype {dtype.name}, which no GPU can hold"
    if not shape.is_fully_defined():
        return f"{name} has a shape with unknown dimensions, {shape}"
    return None


def _obstacle_of_step(step: Step, program: Program) -> str | None:
    """Returns why a step can't be captured, or None."""
    if step.placed:
        device = devices.find(step.operation.device)
        if device is not None and device.kind != "GPU":
            return f"{label(step)} runs on {device.name}"
    if step.name in CALLS and not step.registered and step.op.bodies["f"].jit is None:
        inner = obstacle(called_program(step))
        if inner is not None:
            return f"in {step.op.bodies['f'].name}: {inner}"
    why = _host_work_of_op(step, program) if step.registered else _host_work_of_node(step)
    if why is not None:
        return f"{label(step)} {why}"
    for t in step.outputs:
        if t.dtype.torch is None:
            return f"{label(step)} gives a tensor of dtype {t.dtype.name}, which no GPU can hold"
        if not t.shape.is_fully_defined():
            return f"{label(step)} gives a tensor whose shape, {t.shape}, only its run can tell"
    return None


def _host_work_of_op(step: Step, program: Program) -> str | None:
    """Returns the host's work in a call of a registered op as text, or None."""
    op = step.op
    if op.opdef.stateful:
        if not op.random:
            return "does more than to compute its result"
        if has_stream(step):
            return "draws from the stream of a seed, and the host keeps how far it got"
    for param, arg in zip(op.hosts(op.params), op.hosts(step.args), strict=True):
        for t in (arg,) if isinstance(arg, SymbolicTensor) else arg if type(arg) is tuple else ():
            if isinstance(t, SymbolicTensor) and program.constant(t) is None and (
                not program.static or value_of(t) is None
            ):  # fmt: skip
                return f"takes its {param!r} from a tensor, which the host has to read"
    return None


def _host_work_of_node(step: Step) -> str | None:
    """Returns the host's work in an operation that only graphs have as text, or None."""
    op, name = step.op, step.name.removeprefix("Stateless").removeprefix("Stateful")
    if op is READ:
        return None if variable_of(step.args[0]) is not None else "reads a variable that only its run can tell"
    if op.kernel in _CHANGES:
        return None if variable_of(step.args[0]) is not None else "changes a variable that only its run can tell"
    if step.name in CALLS:
        return None if op.bodies["f"].jit is None else "calls a function with jit_compile=True"
    if name in _BRANCHES:
        return "chooses its branch on the host"
    if name == "While":
        return "decides on the host whether to go on"
    return "is run by Python" if op.runs_python else None


# ---- costs -----------------------------------------------------------------------------------------------------------


def all_steps(program: Program) -> Iterator[Step]:
    """Yields the steps of a program, and of the functions that it calls."""
    for step in program.steps:
        if step.name in CALLS and not step.registered:
            yield from all_steps(called_program(step))
        else:
            yield step


def kernels(program: Program) -> list[Step]:
    """Returns the steps that launch a kernel."""
    return [step for step in all_steps(program) if not _launches_nothing(step.op)]


def _launches_nothing(op: Op) -> bool:
    return op.view or op.reads_shape or op is READ


def draws(program: Program) -> bool:
    """Returns True if a program that can be captured draws random numbers."""
    return any(step.op.random for step in all_steps(program))


def written(steps: list[Step]) -> int:
    """Returns the size of the outputs of steps in bytes."""
    return sum(t.shape.num_elements() * t.dtype.size for step in steps for t in step.outputs)
