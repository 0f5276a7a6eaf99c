"""Postponing: moves reshapes behind elementwise steps.

Layers reshape their inputs to rows for a product, reshape the result back, and then add a bias. This pass swaps the
second reshape with the bias and the activation. One kernel can then compute the product and the bias, and the
activation can work in the product's memory.

A unary step moves before the reshape. A binary step moves if its other operand is a scalar or has one number per
channel. The channels are the last dimension before the reshape, and the last dimension or dimensions after it. The
tensors between product and step must have no other use. The step may be any element-wise op with the reshape at any
operand, so the pass reads traits instead of matching rules.
"""

from __future__ import annotations

import math
from typing import Any

from tapeflow.array.reshapes import expand_dims, squeeze_op
from tapeflow.array.reshapes import reshape as reshape_op
from tapeflow.core.ops.shape_rules import broadcast
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.codegen.patterns import Matcher
from tapeflow.graph.program.program import Program, Step, substitute
from tapeflow.nn.bias import bias_add_op


def postpone(program: Program) -> None:
    """Puts reshapes behind the steps that work element by element."""
    reshapes = (reshape_op.op, squeeze_op.op, expand_dims.op)
    if program.static and any(step.op in reshapes for step in program.steps):
        postponing = _Postponing(program, reshapes)
        steps = [new for step in program.steps for new in postponing.steps_for(step)]
        program.steps = [step for step in steps if id(step) not in postponing.gone]


class _Postponing(Matcher):
    """The state of a walk through a program.

    Attributes:
        gone: the ids of the reshapes that have been replaced by later ones.
    """

    def __init__(self, program: Program, reshapes: tuple[Any, ...]) -> None:
        super().__init__(program)
        self.gone: set[int] = set()
        self._reshapes = reshapes

    def steps_for(self, step: Step) -> list[Step]:
        """Returns the step itself, or steps that compute its result and end with a reshape."""
        tensors = step.inputs
        is_bias = step.op is bias_add_op.op
        if not (step.op.elementwise or (is_bias and step.args[2] == "NHWC")) or step.placed or len(tensors) > 2:
            return [step]
        if len(tensors) == 2 and not is_bias and not (step.registered and step.op.shape is broadcast):
            return [step]  # the kernel of a gradient takes two tensors of one shape
        pairs = zip(tensors, tensors[::-1] if len(tensors) > 1 else [None], strict=True)
        for tensor, other in list(pairs)[: 1 if is_bias else 2]:
            reshape = self._reshape(tensor)
            if reshape is not None and (other is None or _is_of_channels(other, reshape.args[0], tensor)):
                return self._postponed(step, reshape, tensor, other)
        return [step]

    def _reshape(self, tensor: Any) -> Step | None:
        """Returns the reshape that computes a tensor, if its operand owns its memory and neither has another use."""
        reshape = self.producers.get(id(tensor))
        if reshape is None or reshape.op not in self._reshapes or reshape.placed or self.uses[id(tensor)] != 1:
            return None
        before = reshape.args[0]
        product = self.producers.get(id(before))
        if product is None or not product.op.allocates or self.uses[id(before)] != 1 or (before.shape.rank or 0) < 2:
            return None
        return reshape

    def _postponed(self, step: Step, reshape: Step, tensor: Any, other: Any) -> list[Step]:
        before, out = reshape.args[0], step.outputs[0]
        steps, others = [], {id(tensor): before}
        if other is not None and other.shape.rank > 1:
            row = SymbolicTensor(other.op, other.value_index, other.dtype, TensorShape([other.shape.num_elements()]))
            others[id(other)] = row
            steps.append(Step(reshape_op.op, [other, (row.shape[0],)], [row], step.origins))
        result = SymbolicTensor(out.op, out.value_index, out.dtype, before.shape)
        args = substitute(step.args, others)
        steps.append(Step(step.op, args, [result], step.origins, step.must_run))
        steps.append(Step(reshape.op, [result, *reshape.args[1:]], [out], [*reshape.origins, *step.origins]))
        self.gone.add(id(reshape))
        self.uses[id(result)] = 1
        self.producers.update((id(t), new) for new in steps for t in new.outputs)
        return steps


def _is_of_channels(other: SymbolicTensor, before: SymbolicTensor, after: SymbolicTensor) -> bool:
    """Returns True if an operand is a scalar, or has one number per channel both before and after a reshape."""
    rank, channels = other.shape.rank, before.shape[-1]
    if rank is None or not other.shape.is_fully_defined() or channels is None or rank > (after.shape.rank or 0):
        return False
    sizes = other.shape.as_list()
    while len(sizes) > 1 and sizes[0] == 1:
        del sizes[0]
    return not rank or (math.prod(sizes) == channels and after.shape.as_list()[-len(sizes) :] == sizes)
