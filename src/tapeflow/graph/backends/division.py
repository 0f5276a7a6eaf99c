"""Divides a program into parts that torch's compiler takes, and the steps between them.

Loops, conditionals, prints, Python functions, strings and tensors of a size that depends on values are obstacles: they
stay steps of the source that Python runs. The steps between two obstacles become one call of a compiled function. The
bodies of loops and the branches of conditionals are programs like any other, also in gradients, and are divided in the
same way. A loop itself is a few lines of Python and takes little time.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Mapping
from typing import Any

import torch

from tapeflow.array.concat_and_split import pack_op
from tapeflow.core.types.dtypes import variant
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.backends.graph_source import CHANGES, is_opaque, result_sizes
from tapeflow.graph.codegen.symbolic_source import Sizes
from tapeflow.graph.ir.graph import READ
from tapeflow.graph.ir.operation import GraphOp, variable_of
from tapeflow.graph.program.program import BYTES_OF_CALL, Program, Step, bytes_of

# The cost of a call of compiled code, in calls of small kernels.
LEAST_COST = 12
_NO_PLACE = "which has no place in a program of numbers"


class CompiledPart(GraphOp):
    """A part of a program as one step.

    Args:
        kernel: computes it.
    """

    runs_python = False

    def __init__(self, kernel: Callable[..., Any]) -> None:
        super().__init__("CompiledPart", kernel, gives_tuple=True)


def divide(
    program: Program, obstacles: Mapping[int, str], function_of: Callable[[Program], Callable[..., Any]]
) -> Program:
    """Returns a program with calls of compiled functions as steps.

    Args:
        program: the program. It does not change.
        obstacles: why steps can't be compiled, by the ids of their operations.
        function_of: returns the function that computes a part, a program.
    """
    counting = _counting_steps(program)
    steps = [step for step in program.steps if step in counting]
    runs: list[list[Step]] = [[]]
    for step in program.steps:
        if id(step.operation) in obstacles:
            runs += [[step], []]
        elif step not in counting:
            runs[-1].append(step)
    for i, run in enumerate(runs):
        cost = 0 if i % 2 else _steps_cost(program, run)
        if not cost or cost < LEAST_COST:
            steps += run
        else:
            steps.append(_part_step(program, run, function_of))
    whole = copy.copy(program)
    whole.steps = steps
    return whole


def _counting_steps(program: Program) -> set[Step]:
    """Returns the steps that the source computes with Python numbers, such as counters of loops.

    They are scalar integers and truth values from the program's inputs, and inputs sliced at such a number.
    """
    inputs, constants = {id(t) for t in program.inputs}, set(program.constants)
    numbers = {id(t) for t in program.inputs if t.shape.rank == 0 and t.dtype.is_integer}
    steps: set[Step] = set()
    for step in program.steps:
        operands = {id(t) for t in step.inputs}
        scalars = all(t.shape.rank == 0 and (t.dtype.is_integer or t.dtype.is_bool) for t in step.outputs)
        if not step.pure or not operands <= inputs | numbers | constants:
            continue
        if operands <= numbers | constants and ((step.op.elementwise and scalars) or step.op is pack_op.op):
            numbers.update(id(t) for t in step.outputs)
            steps.add(step)
        elif any(id(a) in numbers for a in step.op.hosts(step.args)):
            steps.add(step)
    return steps


def _part_step(program: Program, run: list[Step], function_of: Callable[[Program], Callable[..., Any]]) -> Step:
    """Returns the step that computes a run of steps."""
    part = program.part(_with_sizes(program, run))
    part.outputs = program.part(run).outputs
    must_run = any(step.must_run for step in run)
    return Step(CompiledPart(function_of(part)), part.inputs, part.outputs, [run[-1].operation], must_run=must_run)


def _with_sizes(program: Program, run: list[Step]) -> list[Step]:
    """Returns the steps of a run, and earlier steps that compute the sizes in it from the shapes of tensors."""
    producers = program.producers
    within = set(run)
    stack = [a for step in run if step.registered for a in step.op.hosts(step.args)]
    while stack:
        tensor = stack.pop()
        step = producers.get(id(tensor))
        if step is not None and step.pure and step not in within:
            within.add(step)
            stack += [] if step.op.reads_shape else step.inputs
    return [step for step in program.steps if step in within]


def _steps_cost(program: Program, steps: list[Step]) -> float:
    """Returns the estimated cost of steps, in calls of a small kernel; 0 if there is nothing to fuse."""
    kernels = [s for s in steps if s.op is not READ and not s.op.view and not (s.must_run and len(s.inputs) == 2)]
    if len(kernels) < 2:
        return 0
    tensors = [t for s in kernels for t in (*s.inputs, *s.outputs) if program.constant(t) is None]
    return len(kernels) + sum(map(bytes_of, tensors)) / BYTES_OF_CALL


# ---- obstacles -------------------------------------------------------------------------------------------------------


def obstacles_in(program: Program, untraceable: Collection[Any]) -> dict[int, str]:
    """Returns why steps of a program can't be compiled, by the ids of their operations.

    Args:
        program: the program.
        untraceable: the ops whose kernels can't be traced.
    """
    sizes = Sizes(lambda t: t.op.name, program.constant)
    sizes.add(program)
    whys = {id(step.operation): _find_obstacle(program, step, sizes, untraceable) for step in program.steps}
    return {i: why for i, why in whys.items() if why is not None}


def _find_obstacle(program: Program, step: Step, sizes: Sizes, untraceable: Collection[Any]) -> str | None:
    """Returns why a step can't be a part of a compiled function, or None."""
    why = _obstacle_of_op(step) if step.registered else _obstacle_of_node(step, untraceable)
    if why is None:
        why = next((w for t in (*step.inputs, *step.outputs) if (w := _no_place(program, t)) is not None), None)
    opaque = why is None and is_opaque(step, untraceable, sizes, program.constants, program.static)
    if opaque and result_sizes(step, sizes) is None:
        why = f"{label(step)} gives a tensor of a size that only its run can tell"
    return why


def _obstacle_of_op(step: Step) -> str | None:
    """Returns why a call of a registered op can't be compiled, or None."""
    if step.must_run:
        return f"{label(step)} has side effects"
    if step.placed:
        return f"{label(step)} runs on {step.operation.device}, and the compiler is given one device"
    if any(variable_of(t) is not None for t in step.inputs):
        return f"{label(step)} takes a variable itself"
    return None


def _obstacle_of_node(step: Step, untraceable: Collection[Any]) -> str | None:
    """Returns why an operation that only graphs have can't be compiled, or None."""
    op = step.op
    if op.control == "call":
        if op.body.graph.locks:
            return f"{label(step)} runs under a lock"
        return next(iter(obstacles_in(step.programs[0], untraceable).values()), None)
    if step.name == "Vectorized":
        registered = not isinstance(op.operation.op, GraphOp) and not step.must_run
        return None if registered else f"{label(step)} has more than kernels in it"
    if op is READ or (op.kernel in CHANGES and not step.inputs[1].dtype.is_unsigned):
        return None if variable_of(step.args[0]) is not None else f"{label(step)} takes an unknown variable"
    if op.bodies or op.gradient_of:
        return f"{label(step)} decides by values what to run"
    return f"{label(step)} {'has side effects' if step.must_run else 'runs Python code'}"


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
        return f"{tensor.op.name} is a constant of dtype {tensor.dtype.name}, {_NO_PLACE}"
    if dtype.torch is None or (variable is not None and variable._has_copies):
        kind = "a tensor" if variable is None else f"a {type(variable).__name__}"
        return f"{tensor.op.name} is {kind} of dtype {dtype.name}, {_NO_PLACE}"
    return None


def label(step: Step) -> str:
    """Returns a step's op for messages, with the operation's name if that differs."""
    return step.name if step.operation.name == step.name else f"{step.name} ({step.operation.name})"
