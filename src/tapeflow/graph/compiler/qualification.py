"""The parts of programs that machine code computes: their steps, and the sizes of tensors and products."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tapeflow.core.ops.elements import DTYPES, Unsupported
from tapeflow.core.types.dtypes import resource, variant
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.ir.graph import READ
from tapeflow.graph.program.program import Program, Step

SMALL = 1 << 13  # elements of a computed tensor
SMALL_PRODUCT, MOST_PRODUCT = 1 << 18, 1 << 24  # multiplications of a matrix product
KEPT = -1  # instead of the place of an output: iterations do not change the loop variable's cotangent


class TooLarge(Unsupported):
    """Tensors are too large for the machine code of a loop over small tensors."""


class Parts(NamedTuple):
    """The programs of a loop as machine code computes them.

    Attributes:
        condition, body: the programs. The body also returns residuals.
        tensors: the inputs of the loop.
        shared, stacked: the last inputs of the body: tensors from kernels that run before the loop, and tensors with a
            row for each iteration.
    """

    condition: Program
    body: Program
    tensors: Sequence[SymbolicTensor | TensorSpec]
    shared: Sequence[TensorSpec] = ()
    stacked: Sequence[TensorSpec] = ()

    def fit(self, count: int, most: int) -> bool:
        """Returns True if all shapes are static, and computed tensors have at most as many elements.

        Args:
            count: the number of loop variables.
            most: the number of elements.
        """
        variables, steps = self.tensors[:count], (*self.condition.steps, *self.body.steps)
        own = all(map(is_static, (*self.tensors, *self.shared, *self.stacked)))
        return own and all(is_small(t, most) for t in variables) and all(may_compile(step, most) for step in steps)


def is_static(tensor: SymbolicTensor | TensorSpec) -> bool:
    """Returns True if machine code can read a tensor: its shape is static, and it has elements."""
    shape = tensor.shape
    return tensor.dtype in (variant, resource) or (
        tensor.dtype in DTYPES and shape.is_fully_defined() and shape.num_elements() > 0
    )


def is_small(tensor: SymbolicTensor | TensorSpec, most: int) -> bool:
    """Returns True if machine code can compute a tensor of at most this number of elements."""
    return is_static(tensor) and (tensor.dtype is variant or tensor.shape.num_elements() <= most)


def may_compile(step: Step, most: int | None) -> bool:
    """Returns False if a step can't be compiled, or computes more elements; None is any number."""
    op = step.op
    if step.placed:
        return False
    kept = op is READ or (step.registered and op.moves)  # it may be a view of a tensor from outside the loop
    if most is not None and not all(is_static(t) if kept else is_small(t, most) for t in step.outputs):
        return False
    if step.registered:
        return bool(op.element or op.reduced or op.row or op.moves or op.random_fill or op.in_loops or op.draws)
    if op.control != "call" and not step.is_written:
        return op is READ
    return not op.stateful and all(may_compile(s, most) for program in step.programs for s in program.steps)
