"""Grouping: the same small op over many tensors becomes one call of ATen's `_foreach_` kernels.

Optimizers are made of it: a handful of ops, and an assignment, for each variable. In a run of such steps the order is
only what data and variables demand, so that steps of one op at one depth can go together. Large tensors stay as they
are, in their order: there a call costs nothing beside the arithmetic, and going together would keep all their
temporaries alive.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor
from tapeflow.core.values.variable import Variable
from tapeflow.graph.codegen.passes.updating import OF_MANY
from tapeflow.graph.codegen.program import Program, Step
from tapeflow.graph.ir.graph import READ
from tapeflow.graph.ir.operation import GraphOp, variable_of

_FEWEST = 3  # steps that are worth a group
_SMALL = 1 << 14  # bytes

_CHANGES: dict[str, Callable[..., Any]] = {
    "AssignAddVariableOp": torch._foreach_add,
    "AssignSubVariableOp": torch._foreach_sub,
    **OF_MANY,
}


def group(program: Program) -> None:
    """Makes one step of several, in each run of elementwise steps and changes of variables."""
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
    if step.op is READ or step.name.startswith("Assign"):
        return not step.registered and _variable(step) is not None
    if step.op.foreach is None or step.placed or not step.native:
        return False
    return step.outputs[0].dtype.is_floating and step.outputs[0].shape.is_fully_defined()


def _variable(step: Step) -> Any:
    """The variable that a step reads or changes, if it is one whose memory is its own."""
    found = variable_of(step.args[0])
    return found if type(found) is Variable and found.dtype.is_floating else None


def _is_small(step: Step) -> bool:
    tensor = step.outputs[0] if step.outputs and step.op is not READ else _variable(step)
    return tensor.shape.is_fully_defined() and tensor.shape.num_elements() * tensor.dtype.size < _SMALL


def _grouped(run: list[Step]) -> list[Step]:
    """The steps of a run: small ones by their depth, together where they are alike; then large ones.

    Elementwise steps make nothing smaller, so that no small step waits for a large one, unless somebody has told the
    shape of what a variable of unknown shape holds.
    """
    if len(run) < 2 * _FEWEST:
        return run
    small = [step for step in run if _is_small(step)]
    late = {id(t) for step in run if not _is_small(step) for t in step.outputs}
    if any(id(t) in late for step in small for t in step.inputs):
        return run
    alike: dict[Any, list[Step]] = {}
    for step, depth in zip(small, _depths(small), strict=True):
        alike.setdefault((depth, _kind(step)), []).append(step)
    made: list[Step] = []
    for (_, kind), steps in sorted(alike.items(), key=lambda item: item[0][0]):
        together = None if kind is None or len(steps) < _FEWEST else _together(kind, steps)
        made += steps if together is None else [together]
    return made + [step for step in run if not _is_small(step)]


def _depths(steps: Sequence[Step]) -> list[int]:
    """How many steps each has to wait for, one after the other."""
    of_tensor: dict[int, int] = {}
    of_changes: dict[int, int] = {}  # by variable: the depth of its last change
    of_reads: dict[int, int] = {}
    found = []
    for step in steps:
        depth = max([of_tensor.get(id(t), 0) for t in step.inputs], default=0)
        if step.op is READ or step.name in _CHANGES or step.name.startswith("Assign"):
            variable = _variable(step)._id
            depth = max(depth, of_changes.get(variable, 0))
            if step.op is READ:
                of_reads[variable] = max(depth + 1, of_reads.get(variable, 0))
            else:
                depth = max(depth, of_reads.get(variable, 0))
                of_changes[variable] = depth + 1
        for t in step.outputs:
            of_tensor[id(t)] = depth + 1
        found.append(depth)
    return found


def _kind(step: Step) -> Any:
    """What steps must have in common to go together, or None: the op, the dtype, and the scalar that all of them
    take."""
    if step.op is READ:
        return None
    if not step.registered:
        if step.name not in _CHANGES:
            return None
        return step.name, _variable(step).dtype, id(step.args[-1]) if step.name in OF_MANY else None
    if step.outputs[0].shape.rank == 0:
        return None  # loops have better for scalars
    scalar, rest = _operands(step)
    if scalar is None and len({tuple(t.shape.as_list()) for t in rest}) > 1:
        return None
    return step.name, step.outputs[0].dtype, None if scalar is None else id(scalar)


def _operands(step: Step) -> tuple[SymbolicTensor | None, list[SymbolicTensor]]:
    """The scalar that a step takes second, if it does, and its other inputs."""
    args = step.args
    if step.op.commutative and step.op.foreach_scalar and args[0].shape.rank == 0 and args[1].shape.rank != 0:
        args = args[::-1]
    if step.op.foreach_scalar and args[1].shape.rank == 0 and args[0].shape.rank != 0:
        return args[1], [args[0]]
    return None, args


def _together(kind: Any, steps: list[Step]) -> Step | None:
    """One step that does what several of one kind do."""
    name, _, scalar = kind
    if name in _CHANGES:
        columns = [list(column) for column in zip(*[step.args for step in steps], strict=True)]
        if len({id(handle) for handle in columns[0]}) < len(steps):
            return None
        together = columns.pop()[0] if scalar is not None else None
        return on_lists(f"{name}s", _changed_together(_CHANGES[name], steps[0].op.kernel), columns, together, steps)
    shared, _ = _operands(steps[0])
    lists = [list(column) for column in zip(*[_operands(step)[1] for step in steps], strict=True)]
    return on_lists(f"{name}s", steps[0].op.foreach, lists, shared, steps)


def on_lists(
    name: str, kernel: Callable[..., Any], lists: list[list[Any]], shared: SymbolicTensor | None, steps: list[Step]
) -> Step:
    """One step in the place of several, whose kernel takes lists of tensors, and a tensor for all of them if there is
    one."""
    args = [t for column in lists for t in column] + ([] if shared is None else [shared])
    places = iter(range(len(args)))
    columns = [f"[{', '.join(f'{{{next(places)}}}' for _ in column)}]" for column in lists]
    given = ", ".join(columns + ([] if shared is None else [f"{{{next(places)}}}"]))
    op = GraphOp(name, kernel, template=f"{{kernel}}({given})", gives_tuple=True)
    outputs = [t for step in steps for t in step.outputs]
    return Step(op, args, outputs, [o for s in steps for o in s.origins], must_run=any(s.must_run for s in steps))


def _changed_together(change: Callable[..., Any], one: Callable[..., Any]) -> Callable[..., Any]:
    """What changes several variables, each by tensors of its own, and all by the same scalar if there is one."""

    def kernel(variables: list[Variable], by: list[torch.Tensor], *rest: Any) -> None:
        values = [v._value.value for v in variables]
        if any(a.shape != b.shape for a, b in zip(values, by, strict=True)):
            for i, (variable, tensor) in enumerate(zip(variables, by, strict=True)):
                one(variable, tensor, *[r[i] if type(r) is list else r for r in rest])  # it says what is wrong
            return
        for variable, value in zip(variables, change(values, by, *rest), strict=True):
            variable._set(EagerTensor(value, variable.dtype))

    return kernel
