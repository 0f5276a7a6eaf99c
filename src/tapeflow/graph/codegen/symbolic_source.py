"""Writing programs for torch's compilers, which see sizes as symbols."""

from __future__ import annotations

from typing import Any

import torch

from tapeflow.core.ops.definition import ops
from tapeflow.graph.codegen.control_flow_source import ControlFlowWriter
from tapeflow.graph.codegen.size_expressions import Sizes, tensor_of
from tapeflow.graph.program.program import Program, Step


class SymbolicWriter(ControlFlowWriter):
    """Writes programs with Python numbers for the sizes of tensors, and called functions inline.

    Attributes:
        sizes: the expressions of sizes.
        device: the expression for the device of tensors that are computed from sizes.
    """

    deletes = False
    device = "None"

    def __init__(self) -> None:
        super().__init__()
        self.namespace["torch"] = torch
        self._used_names.add("torch")
        self.sizes = Sizes(self.reference, lambda t: self._constants.get(id(t)))

    def block(self, program: Program, indent: int) -> None:
        self.sizes.add(program)
        self._constants.update(program.constants)
        super().block(program, indent)

    def bounds(self, step: Step) -> list[str] | None:
        """Returns the bounds of a range as Python numbers, or None if they do not follow from sizes."""
        bounds = [self.sizes.whole(t) for t in step.args] if step.op is ops.Range.op else [None]
        return None if None in bounds else bounds  # type: ignore[return-value]

    def size_call(self, step: Step) -> str | None:
        """Returns the expression of a step that computes sizes or a range from sizes, or None for other steps."""
        if not step.registered or len(step.outputs) != 1:
            return None
        (out,), bounds = step.outputs, self.bounds(step)
        options = f"dtype={out.dtype.torch}, device={self.device}"
        if bounds is not None:
            return f"torch.arange({', '.join(bounds)}, {options})"
        sizes = self.sizes.of(out)
        return None if sizes is None else f"{self.helper(tensor_of)}({self._host_argument(out)}, {options})"

    def helper(self, function: Any, wish: str = "") -> str:
        """Returns the name of a function in the source; `wish` replaces the function's own."""
        return self.named(wish or function.__name__, function)

    def inline(self, step: Step, inner: Program, indent: int) -> None:
        """Writes the steps of a function that is called.

        Args:
            step: the call.
            inner: the function's program, with tensors of its own: the values of a call outlive the next one.
            indent: the indentation.
        """
        for t, arg in zip(inner.inputs, step.args, strict=True):
            self._set_forms(t, self._forms(arg))
        self.block(inner, indent)
        for t, own in zip(step.outputs, inner.outputs, strict=True):
            self._set_forms(t, self._forms(own))

    def _host_argument(self, arg: Any) -> str:
        sizes = self.sizes.of(arg)
        if sizes is None or id(arg) in self.numbers:
            return super()._host_argument(arg)
        return sizes if isinstance(sizes, str) else f"({', '.join(sizes)}{',' if len(sizes) == 1 else ''})"
