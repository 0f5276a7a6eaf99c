"""Layer normalizations, GELUs and attention, which TensorFlow spells with small ops, as the functions of torch that
compute them.

A module's source is shorter with them, its gradients take fewer passes over memory, and exporters know them. For `x`
over its last axis, a layer normalization is

    mean = Mean(x);  variance = Mean(SquaredDifference(x, mean))
    factor = Rsqrt(variance + epsilon) * scale
    result = x * factor + (offset - mean * factor)

(Ba et al., Layer Normalization, 2016), and a GELU is `x / 2 * (1 + Erf(x / sqrt(2)))`, or the same with the tanh of a
polynomial (Hendrycks and Gimpel, 2016). Attention is `Softmax(scale * q @ k^T + mask) @ v` (Vaswani et al., 2017);
Keras computes `k @ q^T`, and transposes the product; its masks are conditions, with zeros for the weights where they
are false. Steps that nothing uses any more are pruned later.
"""

from __future__ import annotations

import math
import string
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.static import numbers
from tapeflow.core.types.dtypes import float32, float64
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.codegen.producers import Producers
from tapeflow.graph.codegen.program import Program, Step
from tapeflow.graph.ir.operation import GraphOp, symbolic_in

_LEAST = -1e4  # numbers below it, for scores, are masks: their exponentials are zero


def recognize(program: Program) -> None:
    """Replaces the last steps of layer normalizations, GELUs and attention."""
    patterns = _Patterns(program)
    for step in program.steps:
        if len(step.outputs) != 1 or step.outputs[0].dtype not in (float32, float64) or step.placed:
            continue
        if step.op is ops.Mul.op:
            patterns.replace_gelu(step)
        elif step.op is ops.AddV2.op:
            patterns.replace_layer_norm(step)
        elif step.op in (ops.BatchMatMulV2.op, ops.Einsum.op):
            patterns.replace_attention(step)


def _equation(step: Step) -> str:
    """Returns the equation of an `Einsum`, with letters in the order in which they come."""
    names: dict[str, str] = {}
    text = step.args[1].replace(" ", "")
    return "".join([names.setdefault(c, string.ascii_letters[len(names)]) if c.isalpha() else c for c in text])


class _Patterns(Producers):
    """The patterns that a program's steps are."""

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        operands = [t for step in program.steps for t in symbolic_in(step.args)]
        self._uses = Counter(map(id, [*operands, *program.outputs]))

    def _operands(self, tensor: Any, op: Any) -> Iterator[tuple[Any, Any]]:
        """Yields the operands of the commutative op that computes a tensor, in both orders."""
        step = self.of(tensor, op)
        if step is not None:
            yield step.args[0], step.args[1]
            yield step.args[1], step.args[0]

    def _without(self, tensor: Any, op: Any, number: float) -> Any:
        """Returns the other operand of a product with a number, or a sum; None if the tensor is none."""
        for other, constant in self._operands(tensor, op):
            value = self.number(constant)
            if value is not None and math.isclose(value, number, rel_tol=1e-6):
                return other
        return None

    # ---- GELU ----------------------------------------------------------------------------------------------------

    def replace_gelu(self, step: Step) -> None:
        """Replaces the last product of a GELU."""
        for half, sum_with_one in self._operands(step.outputs[0], ops.Mul):
            x = self._without(half, ops.Mul, 0.5)
            smooth = self._without(sum_with_one, ops.AddV2, 1.0)
            if x is None or smooth is None:
                continue
            erf, tanh = self.of(smooth, ops.Erf), self.of(smooth, ops.Tanh)
            if erf is not None and self._without(erf.args[0], ops.Mul, math.sqrt(0.5)) is x:
                self._replace(step, "gelu", [x], "torch.nn.functional.gelu({0})")
            elif tanh is not None and self._is_cubic(tanh.args[0], x):
                self._replace(step, "gelu", [x], "torch.nn.functional.gelu({0}, approximate='tanh')")
            return

    def _is_cubic(self, tensor: Any, x: Any) -> bool:
        """Returns whether a tensor is `sqrt(2 / pi) * (x + 0.044715 * x ** 3)`."""
        for a, b in self._operands(self._without(tensor, ops.Mul, math.sqrt(2 / math.pi)), ops.AddV2):
            for square, c in self._operands(self._without(b, ops.Mul, 0.044715), ops.Mul):
                product = self.of(square, ops.Mul)
                if a is x and c is x and product is not None and product.args[0] is product.args[1] is x:
                    return True
        return False

    # ---- layer normalization -------------------------------------------------------------------------------------

    def replace_layer_norm(self, step: Step) -> None:
        """Replaces the last sum of a layer normalization."""
        for scaled, shift in self._operands(step.outputs[0], ops.AddV2):
            for x, factor in self._operands(scaled, ops.Mul):
                normalized = self._normalized(x, factor)
                if normalized is None:
                    continue
                mean, scale, epsilon = normalized
                offset = self._offset(shift, mean, factor)
                size = x.shape[-1]
                vectors = scale.shape.as_list() == [size] == offset.shape.as_list() if offset is not None else False
                if vectors:
                    call = f"torch.nn.functional.layer_norm({{0}}, ({size},), {{1}}, {{2}}, {epsilon!r})"
                    self._replace(step, "layer_norm", [x, scale, offset], call)
                    return

    def _normalized(self, x: Any, factor: Any) -> tuple[Any, Any, float] | None:
        """Returns the mean, the scale and the epsilon of a factor of `x`, or None if it does not normalize."""
        for reciprocal, scale in self._operands(factor, ops.Mul):
            root = self.of(reciprocal, ops.Rsqrt)
            for variance, constant in self._operands(None if root is None else root.args[0], ops.AddV2):
                epsilon, squares = self.number(constant), self.of(self._mean_of(variance), ops.SquaredDifference)
                if epsilon is None or squares is None or squares.args[0] is not x:
                    continue
                mean = self._attached(squares.args[1])
                if self._mean_of(mean) is x:
                    return mean, self._unshaped(scale), float(str(np.float32(epsilon)))
        return None

    def _offset(self, shift: Any, mean: Any, factor: Any) -> Any:
        """Returns the offset of a shift, `offset - mean * factor`, or None if it is no such."""
        for product, offset in self._operands(shift, ops.AddV2):
            for negative, other in self._operands(product, ops.Mul):
                negated = self.of(negative, ops.Neg)
                if other is factor and negated is not None and negated.args[0] is mean:
                    return self._unshaped(offset)
        return None

    def _mean_of(self, tensor: Any) -> Any:
        """Returns what a tensor is the mean of, over the last axis; None if it is none."""
        step = self.of(tensor, ops.Mean)
        if step is None or step.args[0].shape.rank is None or not step.args[2]:
            return None
        axes = self.program.constant(step.args[1]) if isinstance(step.args[1], SymbolicTensor) else step.args[1]
        axes = numbers(axes) if isinstance(axes, torch.Tensor) else axes
        return (
            step.args[0] if axes in ((-1,), -1, (step.args[0].shape.rank - 1,), step.args[0].shape.rank - 1) else None
        )

    def _attached(self, tensor: Any) -> Any:
        """Returns a tensor before autograd was stopped at it."""
        step = self.producers.get(id(tensor))
        return step.args[0] if step is not None and step.op.kernel is torch.Tensor.detach else tensor

    def _unshaped(self, tensor: Any) -> Any:
        """Returns a tensor before it was reshaped."""
        step = self.of(tensor, ops.Reshape)
        return tensor if step is None else step.args[0]

    # ---- attention -----------------------------------------------------------------------------------------------

    def replace_attention(self, step: Step) -> None:
        """Replaces the last product of attention, if nothing else uses its weights."""
        operands = self._weights_and_values(step)
        if operands is None or self._uses[id(operands[0])] != 1 or step.outputs[0].shape.rank != 4:
            return
        weights, values, turn = operands
        weights, condition_of_zeros = self._masked(weights, lambda number: number == 0.0)
        softmax = self.of(weights, ops.Softmax)
        if softmax is None:
            return
        scores, mask = self._masked(softmax.args[0], lambda number: number <= _LEAST)
        total = self.of(scores, ops.AddV2)
        if mask is not condition_of_zeros:
            return  # where all are masked, weights are alike, and torch's are zeros
        if mask is None and total is not None:
            scores, mask = total.args if self._product(total.args[0]) else reversed(total.args)
        product = self._product(scores)
        if product is None or (mask is not None and mask.shape.rank not in (2, 4)):
            return
        (query, query_form), (key, key_form), scale = product
        scale *= self._factor(query) * self._factor(key)
        args = [query, key, values] if mask is None else [query, key, values, mask]
        forms = [f"{{0}}{query_form}", f"{{1}}{key_form}", f"{{2}}{turn}"]
        forms += [] if mask is None else ["attn_mask={3}"]
        call = f"torch.nn.functional.scaled_dot_product_attention({', '.join(forms)}, scale={scale!r}){turn}"
        self._replace(step, "attention", args, call)

    def _weights_and_values(self, step: Step) -> tuple[Any, Any, str] | None:
        """Returns the operands of a product, and the form of the second and of the result; None for other products."""
        if step.op is ops.BatchMatMulV2.op:
            return None if step.args[2] or step.args[3] else (step.args[0], step.args[1], "")
        if step.op is ops.Einsum.op and _equation(step) == "abcd,adbe->acbe":
            return step.args[0][0], step.args[0][1], ".transpose(1, 2)"
        return None

    def _masked(self, tensor: Any, is_masked: Callable[[float], bool]) -> tuple[Any, Any]:
        """Returns a tensor before a number was put in where a condition is false, and the condition, which is None if
        it was not."""
        step = self.of(tensor, ops.SelectV2)
        number = None if step is None else self.number(step.args[2])
        if step is None or number is None or not is_masked(number):
            return tensor, None
        return step.args[1], step.args[0]

    def _product(self, tensor: Any) -> tuple[tuple[Any, str], tuple[Any, str], float] | None:
        """Returns the queries and the keys whose product a tensor is, with their forms, and its scale; or None."""
        is_transposed, scale = False, 1.0
        while True:
            rows = self._rows(tensor)
            if rows is not None:
                return (*(reversed(rows) if is_transposed else rows), scale)
            transpose, scaled = self.of(tensor, ops.Transpose), self._scaled(tensor)
            if transpose is not None and self._order(transpose) == (0, 1, 3, 2):
                tensor, is_transposed = transpose.args[0], not is_transposed
            elif scaled is not None:
                tensor, scale = scaled[0], scale * scaled[1]
            else:
                return None

    def _rows(self, tensor: Any) -> list[tuple[Any, str]] | None:
        """Returns the two tensors whose rows a tensor is the products of, with the forms that they then have."""
        product, einsum = self.of(tensor, ops.BatchMatMulV2), self.of(tensor, ops.Einsum)
        if product is not None:
            a, b, transposes_a, transposes_b = product.args
            return [(a, ".mT" if transposes_a else ""), (b, "" if transposes_b else ".mT")]
        equation = "" if einsum is None else _equation(einsum)
        if einsum is None or equation not in ("abcd,aecd->acbe", "abcd,aecd->aceb"):
            return None
        rows = [(t, ".transpose(1, 2)") for t in einsum.args[0]]
        return rows if equation.endswith("be") else rows[::-1]

    def _factor(self, tensor: Any) -> float:
        """Returns the number that a transposed operand is multiplied by, which it then is no more."""
        transpose = self.of(tensor, ops.Transpose)
        scaled = None if transpose is None or self._uses[id(tensor)] != 1 else self._scaled(transpose.args[0])
        if transpose is None or scaled is None:
            return 1.0
        transpose.args = [scaled[0], *transpose.args[1:]]
        return scaled[1]

    def _scaled(self, tensor: Any) -> tuple[Any, float] | None:
        """Returns a tensor and the number that it is multiplied by, or None."""
        for x, factor in self._operands(tensor, ops.Mul):
            number = self.number(factor)
            if number is not None:
                return x, number
        return None

    def _order(self, transpose: Step) -> tuple[int, ...] | None:
        """Returns the order of dimensions that a step transposes to."""
        order = transpose.args[1]
        order = self.program.constant(order) if isinstance(order, SymbolicTensor) else order
        order = numbers(order) if isinstance(order, torch.Tensor) else order
        return None if order is None else tuple(order)

    def _replace(self, step: Step, name: str, args: list[Any], template: str) -> None:
        step.op, step.args = GraphOp(name, None, template=template), args
