"""The steps of a program by the tensors that they compute: what looks for patterns of ops asks for them."""

from __future__ import annotations

from typing import Any

import torch

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

    def number(self, tensor: Any) -> float | None:
        """Returns the value of a constant scalar, or None."""
        value = self.program.constant(tensor)
        return float(value) if isinstance(value, torch.Tensor) and value.numel() == 1 else None
