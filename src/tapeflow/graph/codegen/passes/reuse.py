"""In-place reuse: writes a step's result into the memory of an input at the input's last use.

This saves memory. For large tensors it also saves most of the time: new memory pages cost more than the arithmetic.

A step may write only to memory with no other reference. Three conditions ensure that: the input's kernel always
allocates its result, the step is the input's last use, and all ops that use the input are declared to neither retain it
nor return a view.
"""

from __future__ import annotations

from tapeflow.core.ops.definition import Op
from tapeflow.core.types.dtypes import resource
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.compiler.clusters import Cluster, ClusterOp
from tapeflow.graph.ir.operation import GraphOp
from tapeflow.graph.program.program import Program, Step

_LEAST_BYTES = 1 << 15  # allocating fewer bytes is cheap


def reuse(program: Program) -> None:
    """Makes steps write their results into the memory of an input at its last use."""
    users, lasting = program.users, program.lasting
    writable: dict[int, bool] = {}
    for i, step in enumerate(program.steps):
        if isinstance(step.op, ClusterOp):
            program.steps[i] = _with_memory(step, step.op.cluster, i, writable, users)
        elif (place := _writable_input(step, i, writable, users)) is not None:
            program.steps[i] = _in_place(step, place)
        for out in step.outputs if step.op.allocates else ():
            used_by = [program.steps[j].op for j in users.get(id(out), ())]
            writable[id(out)] = id(out) not in lasting and all(_retains_nothing(op) for op in used_by)


def _writable_input(step: Step, index: int, writable: dict[int, bool], users: dict[int, list[int]]) -> int | None:
    """Returns the place of the input into which the step at `index` can write its result, or None.

    Args:
        step: the step.
        index: its index in the program.
        writable: True for tensors with memory that their last use may overwrite, by the tensors' ids.
        users: the indices of the steps that use a tensor, by the tensors' ids.
    """
    if step.op.in_place is None or step.placed or not step.native:
        return None
    out = step.outputs[0]
    for i, t in enumerate(step.inputs[: 2 if step.op.commutative else 1]):
        if writable.get(id(t)) and users[id(t)][-1] == index and _fits_memory(t, out):
            return i
    return None


def _with_memory(
    step: Step, cluster: Cluster, index: int, writable: dict[int, bool], users: dict[int, list[int]]
) -> Step:
    """Returns the step of a cluster with outputs in the memory of inputs; arguments as in `_writable_input`."""
    inputs = [t for t in step.inputs if t.dtype is not resource]
    memory: dict[int, int] = {}
    for i, t in enumerate(inputs):
        if writable.get(id(t)) and users[id(t)][-1] == index:
            fitting = [j for j, out in enumerate(step.outputs) if j not in memory and _fits_memory(t, out)]
            memory.update((j, i) for j in fitting[:1])
    if not memory:
        return step
    return Step(ClusterOp(step.name, cluster, memory), step.args, step.outputs, step.origins, step.must_run)


def _fits_memory(tensor: SymbolicTensor, out: SymbolicTensor) -> bool:
    """Returns True if a result has a tensor's dtype and static shape, and is large enough for reuse to pay."""
    if tensor.dtype is not out.dtype or not out.dtype.is_floating or tensor.shape != out.shape:
        return False
    return tensor.shape.is_fully_defined() and tensor.shape.num_elements() * out.dtype.size >= _LEAST_BYTES


def _in_place(step: Step, place: int) -> Step:
    """Returns a step that writes into the input at a place, or the step itself if its attrs forbid that."""
    form, call = step.op.in_place, None
    if step.op.kernel_for_many is not None:
        call = step.op.kernel_for_many, "{kernel}({0}, {0})"
    elif form is not None:
        call = (None, form) if isinstance(form, str) else form(*step.args)
    if call is None:
        return step
    tensors = step.inputs[::-1] if place == 1 else step.inputs
    kernel, template = call
    return Step(GraphOp(step.name, kernel, template=template), tensors, step.outputs, step.origins)


def _retains_nothing(op: Op) -> bool:
    return op.allocates or op.keeps_nothing
