"""In-place reuse: a result takes the memory of an input that nobody needs any more.

It saves the memory, and with large tensors most of the time: fresh pages cost more than the arithmetic.

Only memory that is certainly a step's own is written to: that of a result which its kernel always allocates, which no
later step takes, and which no step before could keep or look at through a view. So all steps that take it must be of
ops that are known to do neither.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from tapeflow.core.symbolic import SymbolicTensor
from tapeflow.graph.operation import NodeOp
from tapeflow.graph.program import Program, Step
from tapeflow.math.elementwise import sqrt_in_place

_FROM = 1 << 15  # bytes: below that, an allocation costs nothing worth mentioning

_threshold_backward = torch.ops.aten.threshold_backward.grad_input

# How an op is computed in the memory of its first input; the others are inputs too.
_IN_PLACE = {
    "AddV2": "{0}.add_({1})", "Sub": "{0}.sub_({1})", "Mul": "{0}.mul_({1})", "RealDiv": "{0}.div_({1})",
    "Relu": "{0}.relu_()", "Sigmoid": "{0}.sigmoid_()", "Exp": "{0}.exp_()", "Sqrt": "{kernel}({0})",
    "Neg": "{0}.neg_()", "Square": "{0}.square_()", "Rsqrt": "{0}.rsqrt_()", "Log": "{0}.log_()",
    "ReluGrad": "{kernel}({0}, {1}, 0, grad_input={0})", "BiasAdd": "{0}.add_({1})", "Abs": "{0}.abs_()",
    "Erf": "{0}.erf_()", "Log1p": "{0}.log1p_()", "Expm1": "{0}.expm1_()", "Sin": "{0}.sin_()", "Cos": "{0}.cos_()",
}  # fmt: skip
_KERNELS: dict[str, Callable[..., Any]] = {"ReluGrad": _threshold_backward, "Sqrt": sqrt_in_place}
_COMMUTES = frozenset({"AddV2", "Mul"})

# Ops that keep no input and give no view of one. All but the reductions always allocate what they give.
_REDUCTIONS = frozenset({"Sum", "Mean", "BiasAddGrad", "Max", "Min", "Prod", "ArgMax", "L2Loss"})
_FRESH = frozenset({
    *_IN_PLACE, "MatMul", "BatchMatMulV2", "Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter", "MaxPool",
    "AvgPool", "MaxPoolGrad", "AvgPoolGrad", "Softmax", "Tanh", "TanhGrad", "SigmoidGrad", "SqrtGrad", "RsqrtGrad",
    "Maximum", "Minimum", "Greater", "GreaterEqual", "Less", "LessEqual", "Equal", "NotEqual", "MatMulAddV2",
    "MatMulBiasAdd", "MulAddV2", "RealDivAddV2", "Conv2DBiasAdd",
})  # fmt: skip
_HARMLESS = _FRESH | _REDUCTIONS


def reuse(program: Program) -> None:
    """Lets steps write into the memory of an input at its last use."""
    takers: dict[int, list[int]] = {}
    for i, step in enumerate(program.steps):
        for t in step.inputs:
            takers.setdefault(id(t), []).append(i)
    kept = {id(t) for t in (*program.inputs, *program.outputs)} | set(program.constants)
    own: dict[int, bool] = {}
    for i, step in enumerate(program.steps):
        place = _place(step, i, own, takers)
        if place is not None:
            program.steps[i] = _in_place(step, place)
        if step.name in _FRESH and len(step.outputs) == 1:
            out = step.outputs[0]
            users = takers.get(id(out), ())
            own[id(out)] = id(out) not in kept and all(program.steps[j].name in _HARMLESS for j in users)


def _place(step: Step, index: int, own: dict[int, bool], takers: dict[int, list[int]]) -> int | None:
    """Which of a step's inputs can take its result."""
    if step.name not in _IN_PLACE or step.placed or not step.registered or not step.exact:
        return None
    if step.name == "BiasAdd" and step.args[2] != "NHWC":
        return None
    out = step.outputs[0]
    for i in (0, 1) if step.name in _COMMUTES else (0,):
        t = step.args[i]
        if own.get(id(t)) and takers[id(t)][-1] == index and _alike(t, out):
            return i
    return None


def _alike(tensor: SymbolicTensor, out: SymbolicTensor) -> bool:
    """Whether a tensor's memory certainly fits the result, and is worth having."""
    if tensor.dtype is not out.dtype or not out.dtype.is_floating or tensor.shape != out.shape:
        return False
    return tensor.shape.is_fully_defined() and tensor.shape.num_elements() * out.dtype.size >= _FROM


def _in_place(step: Step, place: int) -> Step:
    tensors: list[Any] = [a for a in step.args if isinstance(a, SymbolicTensor)]
    if place == 1:
        tensors.reverse()
    op = NodeOp(step.name, _KERNELS.get(step.name), inline=_IN_PLACE[step.name])
    return Step(op, tensors, step.outputs, step.origins)
