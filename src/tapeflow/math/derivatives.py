"""Gradients of element-wise functions, by their derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.core.autodiff.gradients import conj, sum_like
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.values.tensor import Tensor
from tapeflow.math.arithmetic import multiply


def declare_derivative(function: Any, derivative: Callable[..., Any], needs: str = "input0") -> None:
    """Declares the gradient of a function of one tensor: the cotangent times the derivative.

    Args:
        function: the op's function.
        derivative: computes the derivative from the conjugates of what `needs` names.
        needs: "input0", "outputs" or "input0 outputs".
    """

    @function.gradient(needs=needs)
    def _(call: Call, dy: Tensor) -> Any:
        if needs == "input0":
            return multiply(dy, derivative(conj(call.inputs[0])))
        if needs == "outputs":
            return multiply(dy, derivative(conj(call.outputs[0])))
        return multiply(dy, derivative(conj(call.inputs[0]), conj(call.outputs[0])))


def declare_partial_derivatives(function: Any, *partials: Callable[..., Any] | None) -> None:
    """Declares the gradient of a function that broadcasts its inputs: the cotangent times each partial derivative.

    Args:
        function: the op's function.
        *partials: for each input, computes the derivative by it from all inputs; None if there is no gradient.
    """

    @function.gradient(needs="inputs")
    def _(call: Call, dy: Tensor) -> Any:
        return [
            sum_like(multiply(partial(*call.inputs), dy), x) if wanted and partial is not None else None
            for partial, x, wanted in zip(partials, call.inputs, call.wanted, strict=True)
        ]
