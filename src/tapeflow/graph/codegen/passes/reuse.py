"""In-place reuse: writes a step's result into the memory of an input at the input's last use.

This saves memory. For large tensors it also saves most of the time: new memory pages cost more than the arithmetic.

A step may write only to memory with no other reference. Three conditions ensure that: the input's kernel always
allocates its result, the step is the input's last use, and all ops that use the input are declared to neither retain it
nor return a view.
"""

from __future__ import annotations

from collections.abc import Sequence

from tapeflow.core.types.dtypes import resource
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.compiler.clusters import ClusterOp, single_cluster
from tapeflow.graph.ir.operation import GraphOp
from tapeflow.graph.program.program import Program, Step

_LEAST_BYTES = 1 << 15  # allocating fewer bytes is cheap


def reuse(program: Program) -> None:
    """Makes steps write their results into the memory of an input at its last use."""
    users, lasting = program.users, program.lasting
    writable: dict[int, bool] = {}
    for i, step in enumerate(program.steps):
        free = [t for t in step.inputs if writable.get(id(t)) and users[id(t)][-1] == i]
        if free:
            program.steps[i] = step = _with_memory(program, step, free)
        for out in step.outputs if step.op.allocates else ():
            used_by = [program.steps[j].op for j in users.get(id(out), ())]
            writable[id(out)] = id(out) not in lasting and all(op.allocates or op.keeps_nothing for op in used_by)


def _with_memory(program: Program, step: Step, free: Sequence[SymbolicTensor]) -> Step:
    """Returns a step with outputs in the memory of inputs, if one fits and the step can write there.

    Args:
        program: its program.
        step: the step.
        free: the inputs with memory that it may overwrite.
    """
    if not any(_fits_memory(t, out) for t in free for out in step.outputs):
        return step
    if isinstance(step.op, GraphOp) and step.op.in_place is not None:
        if all(step.inputs[0] is not t for t in free) or not _fits_memory(step.inputs[0], step.outputs[0]):
            return step
        op: GraphOp = GraphOp(step.name, step.op.in_place, template=step.op.template)
        return Step(op, step.args, step.outputs, step.origins)
    if not isinstance(step.op, ClusterOp):
        step = single_cluster(program, step) or step
    if not isinstance(step.op, ClusterOp):
        return step
    memory: dict[int, int] = {}
    for i, t in enumerate([t for t in step.inputs if t.dtype is not resource]):
        if any(t is other for other in free):
            fitting = [j for j, out in enumerate(step.outputs) if j not in memory and _fits_memory(t, out)]
            memory.update((j, i) for j in fitting[:1])
    op = ClusterOp(step.name, step.op.cluster, memory)
    return Step(op, step.args, step.outputs, step.origins, step.must_run)


def _fits_memory(tensor: SymbolicTensor, out: SymbolicTensor) -> bool:
    """Returns True if a result has a tensor's dtype and static shape, and is large enough for reuse to pay."""
    if tensor.dtype is not out.dtype or not out.dtype.is_floating or tensor.shape != out.shape:
        return False
    return tensor.shape.is_fully_defined() and tensor.shape.num_elements() * out.dtype.size >= _LEAST_BYTES
