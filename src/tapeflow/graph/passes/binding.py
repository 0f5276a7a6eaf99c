"""Binding: where a step's attrs choose among ATen's functions, the choice is made once.

A registered kernel looks at its attrs at every call. In a program they never change, so that the function they lead to
can be called itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from tapeflow.core.kernels import direct
from tapeflow.core.symbolic import SymbolicTensor
from tapeflow.graph.operation import NodeOp
from tapeflow.graph.program import Program, Step


def bind(program: Program) -> None:
    """Puts ATen's own functions in the place of kernels that would choose them."""
    program.steps = [_bound(step) or step for step in program.steps]


def _bound(step: Step) -> Step | None:
    rule = _RULES.get(step.name)
    if rule is None or not step.registered or step.placed or not step.exact or not step.outputs[0].dtype.is_floating:
        return None
    if step.outputs[0].shape.rank == 0:
        return None  # loops have better for scalars
    found = rule(*step.args)
    if found is None:
        return None
    kernel, template = found
    tensors = [a for a in step.args if isinstance(a, SymbolicTensor)]
    return Step(NodeOp(step.name, kernel, inline=template), tensors, step.outputs, step.origins)


def _product(a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False) -> Any:
    left = "{0}.t()" if transpose_a else "{0}"
    # `linear` is a @ b.T in one call.
    return (torch._C._nn.linear if transpose_b else torch.mm), f"{{kernel}}({left}, {{1}})"


def _sum_with_bias(value: Any, bias: Any, data_format: str = "NHWC") -> Any:
    shape = value.shape
    if (
        data_format != "NHWC"
        or not shape.rank
        or shape.rank < 2
        or bias.shape.rank != 1
        or None in (shape[-1], bias.shape[0])
    ):
        return None
    return torch.add, "{kernel}({0}, {1})"


# From an op's arguments to a function and how it is called, or None.
_RULES: dict[str, Callable[..., Any]] = {
    "MatMul": _product,
    "BiasAdd": _sum_with_bias,
    "RealDiv": lambda x, y: (torch.div, "{kernel}({0}, {1})"),
    "ReluGrad": lambda dy, y: (direct(torch.ops.aten.threshold_backward.default), "{kernel}({0}, {1}, 0)"),
}
