"""Compiling small functions: runs of steps on small tensors become machine code.

Calling a kernel from Python takes about a microsecond, longer than most kernels need for a hundred numbers. A run of
steps on small tensors of static shapes therefore becomes one call. What qualifies is decided from the graph alone: the
steps' shapes show if Python would take longer than their arithmetic.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence

from tapeflow.core import device as devices
from tapeflow.core.ops.elements import Unsupported
from tapeflow.core.types.dtypes import resource, variant
from tapeflow.graph.codegen.passes.result_cache import fixed_tensors
from tapeflow.graph.compiler.clusters import changes_elements, has_llvm
from tapeflow.graph.compiler.native_functions import NativeOp, has_products, most_elements
from tapeflow.graph.compiler.qualification import SMALL, is_small, is_static, may_compile
from tapeflow.graph.ir.graph import READ
from tapeflow.graph.ir.operation import VariableUpdate, variable_of
from tapeflow.graph.program.program import Program, Step, name_of_steps

_LEAST_STEPS = 8  # fewer steps do not pay for compiling
_MOST_STEPS = 1 << 10


def compile_functions(program: Program) -> None:
    """Replaces runs of steps on small tensors by machine code."""
    if devices.machine.has_gpu or not has_llvm() or len(program.steps) < _LEAST_STEPS:
        return
    fixed = fixed_tensors(program)  # they are computed once
    ahead = [step for step in program.steps if step.outputs and all(id(t) in fixed for t in step.outputs)]
    first = set(ahead)
    rest = [step for step in program.steps if step not in first]
    most = most_elements()
    qualified = {step for step in rest if _step_qualifies(program, step, most)}
    if any(step.op.layer is not None for step in rest if step not in qualified):
        return  # Python does not dominate, and layers take the steps around them
    program.steps = [*ahead, *_compile_runs(program, rest, qualified)]


def _compile_runs(program: Program, steps: Sequence[Step], qualified: Collection[Step]) -> list[Step]:
    """Returns steps, with the runs of those that qualify as machine code."""
    result: list[Step] = []
    for qualifies, group in itertools.groupby(steps, lambda step: step in qualified):
        run = list(group)
        result += _compile_run(program, run) if qualifies else run
    return result


def _step_qualifies(program: Program, step: Step, most: int) -> bool:
    """Returns True if machine code can compute a step, and its outputs have at most this number of elements."""
    if step.op is READ:
        return is_static(step.outputs[0]) and variable_of(step.args[0]) is not None
    if isinstance(step.op, VariableUpdate):
        return changes_elements(program, step) and is_small(step.args[1], most)
    if step.op.control == "loop" or any(t.dtype in (variant, resource) for t in (*step.inputs, *step.outputs)):
        return False
    small = all(is_small(t, most) for t in step.outputs)
    return all(map(is_static, step.inputs)) and small and may_compile(step, most)


def _compile_run(program: Program, run: Sequence[Step]) -> list[Step]:
    """Returns the steps of a run, as one step of machine code if this pays."""
    changed = {variable_of(step.args[0])._id for step in run if isinstance(step.op, VariableUpdate)}
    reads = [step for step in run if step.op is READ and variable_of(step.args[0])._id not in changed]
    inside = set(reads)
    members = [step for step in run if step not in inside]
    if not has_products(run):  # clusters and kernels compute the larger tensors faster
        small = {step for step in run if _step_qualifies(program, step, SMALL)}
        if len(small) < len(run):
            return _compile_runs(program, run, small)
    if not _LEAST_STEPS <= len(members) <= _MOST_STEPS:
        return list(run)
    part = _part_of(program, members)
    try:
        op = NativeOp(f"Native{name_of_steps(members)}", part)
    except Unsupported as error:
        failed = getattr(error, "step", None)
        if failed is None:
            return list(run)
        place = next(i for i, step in enumerate(run) if _is_same(step, failed))
        return [*_compile_run(program, run[:place]), run[place], *_compile_run(program, run[place + 1 :])]
    origins = [operation for step in members for operation in step.origins]
    must_run = any(step.must_run for step in members)
    taken = {id(t) for t in part.inputs}
    before = [step for step in reads if id(step.outputs[0]) in taken]
    after = [step for step in reads if id(step.outputs[0]) not in taken]
    return [*before, Step(op, part.inputs, part.outputs, origins, must_run=must_run), *after]


def _is_same(step: Step, other: Step) -> bool:
    """Returns True if two steps are one step, or one is the other in another form."""
    return step is other or (bool(step.outputs) and bool(other.outputs) and step.outputs[0] is other.outputs[0])


def _part_of(program: Program, steps: Sequence[Step]) -> Program:
    """Returns some consecutive steps of a program as a program. Handles of the changed variables are its first
    inputs."""
    part = program.part(steps)
    changes = [step.args[0] for step in steps if isinstance(step.op, VariableUpdate)]
    handles = {variable_of(handle)._id: handle for handle in changes}
    known = {id(handle) for step in steps if step.op is READ or isinstance(step.op, VariableUpdate)
             for handle in step.args[:1]}  # fmt: skip
    part.inputs = [*handles.values(), *(t for t in part.inputs if id(t) not in known)]
    return part
