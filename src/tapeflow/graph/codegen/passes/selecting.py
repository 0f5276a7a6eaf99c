"""Selecting early: where only a slice of a result is used, only that slice is computed.

A decoding loop asks a model for the word at one place, and gets those at all places. Most layers compute each row of
the last axis from that row of their input alone: activations, softmax, normalizations and products with weights. A
slice that takes whole rows then selects from the input of such a step. As products of fewer rows may be summed in
another order, last bits may differ from eager ones.
"""

from __future__ import annotations

from typing import Any

from tapeflow.core.ops.definition import ops
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.codegen.passes.pruning import prune
from tapeflow.graph.codegen.producers import Producers
from tapeflow.graph.codegen.program import Program, Step, substituted


def select(program: Program) -> None:
    """Takes slices of rows before the steps that compute each row by itself."""
    if program.static and any(step.op is ops.StridedSlice.op for step in program.steps):
        selecting = _Selecting(program)
        program.steps = [new for step in program.steps for new in selecting.steps_for(step)]
        if selecting.has_moved:
            prune(program)


class _Selecting(Producers):
    """The state of a walk through a program.

    Attributes:
        has_moved: whether a slice moves to an earlier place.
    """

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self.has_moved = False
        self._uses = program.use_counts()

    def steps_for(self, step: Step) -> list[Step]:
        """Returns the step, or the steps that compute it from an earlier slice."""
        if step.op is not ops.StridedSlice.op or not _takes_rows(step):
            return [step]
        producer = self._only_used(step.args[0])
        if producer is None:
            return [step]
        steps = self._of_product(producer, step) if _is_reshape(producer) else self._of_rows(producer, step)
        if not steps:
            return [step]
        self.has_moved = True
        return [new for s in steps for new in self.steps_for(s)]

    def _only_used(self, tensor: Any) -> Step | None:
        """Returns the step that computes a tensor, if it may be moved and nothing else uses the tensor."""
        step = self.producers.get(id(tensor))
        if step is None or self._uses[id(tensor)] != 1 or step.placed or step.must_run or len(step.outputs) != 1:
            return None
        return step if step.pure or not step.registered else None

    def _of_rows(self, producer: Step, slice_: Step) -> list[Step]:
        """Returns the steps that compute a slice of a step's rows from slices of its inputs; none if they can't."""
        x, rows = slice_.args[0], slice_.outputs[0]
        is_bias = producer.op is ops.BiasAdd.op and producer.args[2] == "NHWC" and (rows.shape.rank or 0) > 1
        tensors = producer.inputs if producer.op.elementwise else producer.inputs[:1]
        if not (producer.op.elementwise or producer.op.by_rows or is_bias) or not rows.shape.rank:
            return []
        whole = [t for t in tensors if t.shape.rank == x.shape.rank]
        others = [t for t in tensors if (t.shape.rank is None or t.shape.rank > 1) and not any(t is w for w in whole)]
        if others or (len(whole) > 1 and not all(_has_rows_of(t, x) for t in whole)):
            return []
        steps: list[Step] = []
        selected: dict[int, SymbolicTensor] = {}
        for tensor in whole:
            if id(tensor) not in selected:
                steps.append(_slice_of(tensor, slice_))
                selected[id(tensor)] = steps[-1].outputs[0]
        args = substituted(producer.args, selected)
        return [*steps, Step(producer.op, args, [rows], [*slice_.origins, *producer.origins])]

    def _of_product(self, reshape: Step, slice_: Step) -> list[Step]:
        """Returns the steps that compute a slice of a product of rows that were reshaped to a matrix and back; none if
        it is no such product, or if the slice is no matrix."""
        x, rows = slice_.args[0], slice_.outputs[0]
        product = self._only_used(reshape.args[0])
        if product is None or product.name != ops.MatMul.op.name or (len(product.args) > 2 and product.args[2]):
            return []
        flat = self.producers.get(id(product.args[0]))
        if flat is None or not _is_reshape(flat) or self._uses[id(product.args[0])] != 1 or rows.shape.rank != 2:
            return []
        before, terms = flat.args[0], product.args[0].shape[-1]
        if before.shape.rank != x.shape.rank or before.shape[-1] != terms or terms is None:
            return []
        if before.shape.as_list()[:-1] != x.shape.as_list()[:-1] or before.shape.as_list()[:-1].count(None) > 1:
            return []
        if x.shape[-1] is None or x.shape[-1] != product.outputs[0].shape[-1]:
            return []
        part = _slice_of(before, slice_)
        origins = [*slice_.origins, *flat.origins, *reshape.origins, *product.origins]
        return [part, Step(product.op, [*part.outputs, *product.args[1:]], [rows], origins)]


def _takes_rows(step: Step) -> bool:
    """Returns True if a slice of floats takes the last axis as it is, and adds none."""
    x, begin, _, _, _, _, ellipsis_mask, new_axis_mask, _ = step.args
    if step.placed or not x.dtype.is_floating or x.shape.rank is None or ellipsis_mask or new_axis_mask:
        return False
    count = begin.shape.num_elements() if isinstance(begin, SymbolicTensor) else len(begin)
    return count is not None and count < x.shape.rank


def _is_reshape(step: Step) -> bool:
    return step.op is ops.Reshape.op


def _has_rows_of(tensor: SymbolicTensor, x: SymbolicTensor) -> bool:
    """Returns True if two tensors of one rank certainly have one shape, but for the last axis."""
    sizes = tensor.shape.as_list()[:-1]
    return sizes == x.shape.as_list()[:-1] and None not in sizes


def _slice_of(tensor: SymbolicTensor, slice_: Step) -> Step:
    """Returns the step that takes the same rows of another tensor as a slice does."""
    shape = TensorShape([*slice_.outputs[0].shape[:-1], tensor.shape[-1]])
    part = SymbolicTensor(tensor.op, tensor.value_index, tensor.dtype, shape)
    return Step(slice_.op, [tensor, *slice_.args[1:]], [part], slice_.origins)
