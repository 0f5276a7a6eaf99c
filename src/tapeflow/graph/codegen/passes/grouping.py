"""Grouping: the same op on many small tensors becomes one call of ATen's `_foreach_` kernels.

Optimizers consist of such steps: a handful of ops, and an assignment, for each variable. In a run of them only data and
variables constrain the order, so that steps of one op at one depth can be computed together. Steps on large tensors
stay as they are, in their order: there a call costs nothing beside the arithmetic, and a group would extend the lives
of all their temporaries.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from tapeflow.core import aten
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.variable import ResourceVariable, Variable
from tapeflow.core.values.variable_updates import Locked
from tapeflow.graph.codegen.passes.updating import OF_MANY
from tapeflow.graph.codegen.program import Program, Step
from tapeflow.graph.ir.graph import READ
from tapeflow.graph.ir.operation import GraphOp, VariableUpdate, variable_of

_FEWEST = 3  # steps in a group: fewer gain nothing
_SMALL = 1 << 14  # bytes of a tensor

_CHANGES: dict[str, Callable[..., Any]] = {
    "AssignAddVariableOp": aten.later("foreach_add"),
    "AssignSubVariableOp": aten.later("foreach_sub"),
    **OF_MANY,
}


def group(program: Program) -> None:
    """Replaces several equal steps by one, in each run of elementwise steps and changes of variables."""
    steps: list[Step] = []
    run: list[Step] = []
    for step in program.steps:
        if _may_move(step):
            run.append(step)
            continue
        steps += _grouped(run)
        run = []
        steps.append(step)
    program.steps = steps + _grouped(run)


def _may_move(step: Step) -> bool:
    """Returns True if only data and variables constrain when a step runs."""
    if step.op is READ or isinstance(step.op, VariableUpdate):
        return _variable(step) is not None
    if step.op.foreach is None or step.placed or not step.native:
        return False
    return step.outputs[0].dtype.is_floating and step.outputs[0].shape.is_fully_defined()


def _variable(step: Step) -> Any:
    """Returns the plain floating variable that a step reads or changes, or None."""
    variable = variable_of(step.args[0])
    return variable if type(variable) is ResourceVariable and variable.dtype.is_floating else None


def _is_small(step: Step) -> bool:
    tensor = step.outputs[0] if step.outputs and step.op is not READ else _variable(step)
    return tensor.shape.is_fully_defined() and tensor.shape.num_elements() * tensor.dtype.size < _SMALL


def _grouped(run: list[Step]) -> list[Step]:
    """Returns the steps of a run reordered: small ones by depth, equal ones grouped; then large ones.

    The result of an elementwise step is no smaller than its inputs, so that no small step depends on a large one,
    unless the program has set the static shape of the value of a variable of unknown shape.
    """
    if len(run) < 2 * _FEWEST:
        return run
    small = [step for step in run if _is_small(step)]
    late = {id(t) for step in run if not _is_small(step) for t in step.outputs}
    if any(id(t) in late for step in small for t in step.inputs):
        return run
    by_kind: dict[Any, list[Step]] = {}
    for step, depth in zip(small, _depths(small), strict=True):
        by_kind.setdefault((depth, _kind(step)), []).append(step)
    result: list[Step] = []
    for (_, kind), steps in sorted(by_kind.items(), key=lambda item: item[0][0]):
        joined = None if kind is None or len(steps) < _FEWEST else _joined(kind, steps)
        result += steps if joined is None else [joined]
    return result + [step for step in run if not _is_small(step)]


def _depths(steps: Sequence[Step]) -> list[int]:
    """Returns the length of the longest chain of steps that each step depends on."""
    of_tensor: dict[int, int] = {}
    of_changes: dict[int, int] = {}  # by variable: the depth after its last change
    of_reads: dict[int, int] = {}
    depths = []
    for step in steps:
        depth = max([of_tensor.get(id(t), 0) for t in step.inputs], default=0)
        if step.op is READ or isinstance(step.op, VariableUpdate):
            variable = _variable(step)._id
            depth = max(depth, of_changes.get(variable, 0))
            if step.op is READ:
                of_reads[variable] = max(depth + 1, of_reads.get(variable, 0))
            else:
                depth = max(depth, of_reads.get(variable, 0))
                of_changes[variable] = depth + 1
        for t in step.outputs:
            of_tensor[id(t)] = depth + 1
        depths.append(depth)
    return depths


def _kind(step: Step) -> Any:
    """Returns the op, the dtype and the shared scalar that steps of one group have in common, or None for no group."""
    if step.op is READ:
        return None
    if not step.registered:
        if step.name not in _CHANGES:
            return None
        return step.name, _variable(step).dtype, id(step.args[-1]) if step.name in OF_MANY else None
    if step.outputs[0].shape.rank == 0:
        return None  # a scalar may be a Python number
    scalar, rest = _operands(step)
    if scalar is None and any(t.shape.rank is None or t.shape != rest[0].shape for t in rest):
        return None
    return step.name, step.outputs[0].dtype, None if scalar is None else id(scalar)


def _operands(step: Step) -> tuple[SymbolicTensor | None, list[SymbolicTensor]]:
    """Returns the scalar operand that ATen takes second, or None, and the other operands."""
    args = step.args
    if step.op.commutative and step.op.foreach_scalar and args[0].shape.rank == 0 and args[1].shape.rank != 0:
        args = args[::-1]
    if step.op.foreach_scalar and args[1].shape.rank == 0 and args[0].shape.rank != 0:
        return args[1], [args[0]]
    return None, args


def _joined(kind: Any, steps: list[Step]) -> Step | None:
    """Returns one step that does the work of several of one kind, or None if two of them change one variable."""
    name, _, scalar = kind
    if name in _CHANGES:
        columns = [list(column) for column in zip(*[step.args for step in steps], strict=True)]
        if len({id(handle) for handle in columns[0]}) < len(steps):
            return None
        shared = columns.pop()[0] if scalar is not None else None
        return on_lists(f"{name}s", _grouped_change(_CHANGES[name], steps[0].op.kernel), columns, shared, steps)
    shared, _ = _operands(steps[0])
    lists = [list(column) for column in zip(*[_operands(step)[1] for step in steps], strict=True)]
    return on_lists(f"{name}s", steps[0].op.foreach, lists, shared, steps)


def on_lists(
    name: str, kernel: Callable[..., Any], lists: list[list[Any]], shared: SymbolicTensor | None, steps: list[Step]
) -> Step:
    """Returns one step in the place of several, whose kernel takes lists of tensors.

    Args:
        name: the name of its op.
        kernel: called with the lists, and with `shared` if there is one.
        lists: lists of tensors with an element for each step.
        shared: a tensor that all steps take.
        steps: the steps.
    """
    args = [t for column in lists for t in column] + ([] if shared is None else [shared])
    places = iter(range(len(args)))
    columns = [f"[{', '.join(f'{{{next(places)}}}' for _ in column)}]" for column in lists]
    operands = ", ".join(columns + ([] if shared is None else [f"{{{next(places)}}}"]))
    op = GraphOp(name, kernel, template=f"{{kernel}}({operands})", gives_tuple=True)
    outputs = [t for step in steps for t in step.outputs]
    return Step(op, args, outputs, [o for s in steps for o in s.origins], must_run=any(s.must_run for s in steps))


def _grouped_change(change: Callable[..., Any], one: Callable[..., Any]) -> Callable[..., Any]:
    """Returns the kernel that changes several variables.

    Args:
        change: computes the new values from the old ones, lists of operands and a shared scalar if there is one.
        one: the kernel that changes one variable.
    """

    def kernel(variables: list[Variable], by: list[torch.Tensor], *rest: Any) -> None:
        with Locked(variables):
            held = [v._value for v in variables]
            values = [t.value for t in held]
            if any(a.shape != b.shape for a, b in zip(values, by, strict=True)):
                for i, (variable, tensor) in enumerate(zip(variables, by, strict=True)):
                    one(variable, tensor, *[r[i] if type(r) is list else r for r in rest])  # raises the error
                return
            for variable, before, value in zip(variables, held, change(values, by, *rest), strict=True):
                variable._set(value, before)

    return kernel
