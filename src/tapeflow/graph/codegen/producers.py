"""The steps of a program by the tensors that they compute: what looks for patterns of ops asks for them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from tapeflow.core.ops.definition import ops
from tapeflow.graph.codegen.program import Program, Step


class Producers:
    """The steps of a program, by the tensors that they compute.

    Attributes:
        program: the program.
        producers: the steps, by the ids of the tensors.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.producers = {id(t): step for step in program.steps for t in step.outputs}

    def of(self, tensor: Any, op: Any) -> Step | None:
        """Returns the step that computes a tensor, if it is of this op."""
        step = self.producers.get(id(tensor))
        return step if step is not None and step.op is op.op and not step.placed else None

    def operands(self, tensor: Any, op: Any) -> Iterator[tuple[Any, Any]]:
        """Yields the operands of the commutative op that computes a tensor, in both orders."""
        step = self.of(tensor, op)
        if step is not None:
            yield step.args[0], step.args[1]
            yield step.args[1], step.args[0]

    def unshaped(self, tensor: Any) -> Any:
        """Returns a tensor before it was reshaped."""
        step = self.of(tensor, ops.Squeeze) or self.of(tensor, ops.Reshape)
        return tensor if step is None else self.unshaped(step.args[0])

    def number(self, tensor: Any) -> float | None:
        """Returns the value of a constant scalar, or None."""
        value = self.program.constant(tensor)
        return float(value) if isinstance(value, torch.Tensor) and value.numel() == 1 else None


def is_vector(tensor: Any, x: Any) -> bool:
    """Tests whether a tensor has one number for each channel of `x`, so that their product has the shape of `x`.

    The channels are the last dimension. The tensor is a vector, or has dimensions of 1 before that: so layers have it
    that name their axis.
    """
    rank, channels = tensor.shape.rank, x.shape[-1]
    return (
        bool(rank)
        and rank <= x.shape.rank
        and channels is not None
        and tensor.shape.as_list() == [1] * (rank - 1) + [channels]
    )
