"""Recognizing: layer normalizations, GELUs and attention, which TensorFlow spells with small ops, as one kernel each.

A normalization of `x` is

    mean = Mean(x);  variance = Mean(SquaredDifference(x, mean))
    factor = Rsqrt(variance + epsilon) * scale
    result = x * factor + (offset - mean * factor)

over the last axis (Ba et al., Layer Normalization, 2016); scale and offset may be missing. A GELU is
`x / 2 * (1 + Erf(x / sqrt(2)))`, or the same with the tanh of a polynomial (Hendrycks and Gimpel, 2016). Attention is
`Softmax(scale * q @ k^T + mask) @ v` (Vaswani et al., 2017); Keras computes `k @ q^T`, and transposes the product; its
masks are conditions, with zeros for the weights where they are false. Inner results must have no other use, such as in
a gradient. Clusters compute normalizations and GELUs as fast. But each is one step here that works row by row, so
`selecting.py` can take a slice before it. As with `fusing.py`, last bits may differ from eager ones; and next to the
largest number oneDNN's GELU is infinite, and beyond it NaN.
"""

from __future__ import annotations

import itertools
import math
import string
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.layer import Activation
from tapeflow.core.ops.static import numbers
from tapeflow.core.types.dtypes import float32, float64
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.codegen.passes.pruning import prune
from tapeflow.graph.codegen.producers import Producers, is_vector
from tapeflow.graph.codegen.program import Program, Step
from tapeflow.graph.ir.operation import GraphOp, symbolic_in

_CLOSE = {float32: 1e-6, float64: 1e-14}  # of a constant: `tf.nn.gelu` has those of float32 for float64 too
_LEAST = -1e4  # numbers below it, for scores, are masks: their exponentials are zero
_LARGE = -1e12  # the sum of it and a score is itself, if that is not large too


def _attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: torch.Tensor | None = None,
    dropout_p: float = 0.0,
    scale: float | None = None,
) -> torch.Tensor:
    """Computes attention, which is NaN where an infinite summand leaves no scores: torch's result is zeros there."""
    result = torch.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, scale=scale)
    if attn_mask is None or attn_mask.dtype is torch.bool:
        return result
    has_none = attn_mask.amax(-1, keepdim=True) == -math.inf
    if attn_mask.is_cpu and not has_none.any():  # which would make a GPU wait
        return result
    return result.masked_fill(has_none, math.nan)


_NAMES = {"scaled_dot_product_attention": "Attention"}
_KERNELS: dict[str, Callable[..., torch.Tensor]] = {
    "gelu": torch.nn.functional.gelu, "layer_norm": torch.layer_norm, "scaled_dot_product_attention": _attention,
}  # fmt: skip


def recognize(program: Program) -> None:
    """Replaces layer normalizations, GELUs and attention."""
    present = {step.op for step in program.steps}
    if present & {ops.Rsqrt.op, ops.Erf.op, ops.Tanh.op, ops.Softmax.op} and Patterns(program).replace():
        prune(program)


def _equation(step: Step) -> str:
    """Returns the equation of an `Einsum`, with letters in the order in which they come."""
    names: dict[str, str] = {}
    text = step.args[1].replace(" ", "")
    return "".join([names.setdefault(c, string.ascii_letters[len(names)]) if c.isalpha() else c for c in text])


def places(tensors: Sequence[Any], first: int = 1) -> list[str]:
    """Returns how a template names tensors, of which some are missing."""
    count = itertools.count(first)
    return ["None" if t is None else f"{{{next(count)}}}" for t in tensors]


class Moments(NamedTuple):
    """The statistics that a tensor is normalized with.

    Attributes:
        mean, variance: the steps that compute them.
        scale: what the result is multiplied by, or None.
        epsilon: the summand of the variance.
        is_of_layer: whether they are of the last axis; else they are of all others.
    """

    mean: Step
    variance: Step
    scale: Any
    epsilon: float
    is_of_layer: bool


class Patterns(Producers):
    """The patterns that a program's steps are.

    Attributes:
        uses: how often the values of tensors are used, by the tensors' ids.
        rules: for ops, what replaces a step that may be the last of a pattern.
    """

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        operands = [t for step in program.steps if not step.op.reads_shape for t in symbolic_in(step.args)]
        self.uses = Counter(map(id, [*operands, *program.outputs]))
        self.rules: dict[Any, Callable[[Step], None]] = {
            ops.Mul.op: self.replace_gelu, ops.AddV2.op: self.replace_normalization,
            ops.BatchMatMulV2.op: self.replace_attention, ops.Einsum.op: self.replace_attention,
        }  # fmt: skip

    def replace(self) -> bool:
        """Replaces the last steps of patterns, and returns True if there are any."""
        replaced = False
        for step in self.program.steps:
            rule = self.rules.get(step.op)
            if rule is not None and step.outputs[0].dtype in (float32, float64) and not step.placed:
                rule(step)
                replaced |= not step.registered
        return replaced

    def write(self, step: Step, name: str, args: list[Any], arguments: str, ending: str = "") -> None:
        """Replaces a step, if it may be replaced.

        Args:
            step: the step.
            name: the name of a function in `torch.nn.functional`.
            args: the tensors that it takes.
            arguments: the template of its arguments.
            ending: what follows the call.
        """
        if not self.may_replace(step, args):
            return
        op = GraphOp(_NAMES.get(name, name), _KERNELS[name], template=f"{{kernel}}({arguments}){ending}")
        if name == "gelu":
            op.elementwise, op.in_place = True, lambda *_: (torch.ops.aten.gelu_.default, op.template)
            op.activation = Activation("gelu", (), "tanh" if "tanh" in arguments else "none")
        op.by_rows = name == "layer_norm"
        self._substitute(step, op, args)

    def _substitute(self, step: Step, op: GraphOp, args: list[Any]) -> None:
        op.allocates = True
        inner = self.inner(step, args)
        origins = [o for s in inner for o in s.origins]
        step.op, step.args, step.origins = op, args, [*origins, *step.origins]

    def may_replace(self, step: Step, args: Sequence[Any], results: Sequence[Any] = ()) -> bool:
        """Returns True if no other step needs what is between a step and the tensors that it then takes.

        Args:
            step: the step.
            args: the tensors.
            results: what else the step then computes, which others may need.
        """
        inner = self.inner(step, args)
        within = Counter(id(t) for s in (*inner, step) for t in s.inputs)
        shared = {id(t) for t in results}
        return all(s.op.view or id(t) in shared or within[id(t)] == self.uses[id(t)] for s in inner for t in s.outputs)

    def inner(self, step: Step, args: Iterable[Any]) -> list[Step]:
        """Returns the steps from some tensors to a step."""
        ids, inner, stack = {id(t) for t in args}, [], step.inputs
        while stack:
            t = stack.pop()
            before = self.producers.get(id(t)) if id(t) not in ids else None
            ids.add(id(t))
            if before is not None:
                inner.append(before)
                stack += before.inputs
        return inner[::-1]

    def _without(self, tensor: Any, op: Any, number: float) -> Any:
        """Returns the other operand of a product with a number, or a sum; None if the tensor is none."""
        for other, constant in self.operands(tensor, op):
            value = self.number(constant)
            if value is not None and math.isclose(value, number, rel_tol=_CLOSE[other.dtype]):
                return other
        return None

    # ---- GELU ----------------------------------------------------------------------------------------------------

    def replace_gelu(self, step: Step) -> None:
        """Replaces the last product of a GELU."""
        for half, sum_with_one in self.operands(step.outputs[0], ops.Mul):
            x = self._without(half, ops.Mul, 0.5)
            smooth = self._without(sum_with_one, ops.AddV2, 1.0)
            if x is None or smooth is None:
                continue
            erf, tanh = self.of(smooth, ops.Erf), self.of(smooth, ops.Tanh)
            if erf is not None and self._without(erf.args[0], ops.Mul, math.sqrt(0.5)) is x:
                self.write(step, "gelu", [x], "{0}")
            elif tanh is not None and self._is_cubic(tanh.args[0], x):
                self.write(step, "gelu", [x], "{0}, approximate='tanh'")
            return

    def _is_cubic(self, tensor: Any, x: Any) -> bool:
        """Returns whether a tensor is `sqrt(2 / pi) * (x + 0.044715 * x ** 3)`."""
        for a, b in self.operands(self._without(tensor, ops.Mul, math.sqrt(2 / math.pi)), ops.AddV2):
            for square, c in self.operands(self._without(b, ops.Mul, 0.044715), ops.Mul):
                product = self.of(square, ops.Mul)
                if a is x and c is x and product is not None and product.args[0] is product.args[1] is x:
                    return True
        return False

    # ---- normalizations ------------------------------------------------------------------------------------------

    def replace_normalization(self, step: Step) -> None:
        """Replaces the last sum of a layer normalization."""
        normalization = self.normalization(step)
        if normalization is not None and normalization[2].is_of_layer:
            self.replace_layer_norm(step, *normalization)

    def normalization(self, step: Step) -> tuple[Any, list[Any], Moments] | None:
        """Returns what is normalized, the scale and the offset, which may be None, and the statistics of a
        normalization whose last sum a step is, or None."""
        for scaled, shift in self.operands(step.outputs[0], ops.AddV2):
            for x, factor in self.operands(scaled, ops.Mul):
                moments = self._moments(x, factor)
                offset = None if moments is None else self._offset(shift, moments, factor)
                if moments is not None and offset is not None:
                    return x, [moments.scale, *offset], moments
        return None

    def _moments(self, x: Any, factor: Any) -> Moments | None:
        """Returns the statistics of `x` in a factor, or None if the factor does not normalize `x`."""
        for root, scale in [(factor, None), *self.operands(factor, ops.Mul)]:
            reciprocal = self.of(root, ops.Rsqrt)
            for spread, constant in self.operands(None if reciprocal is None else reciprocal.args[0], ops.AddV2):
                epsilon, variance = self.number(constant), self.of(self.unshaped(spread), ops.Mean)
                squares = None if variance is None else self.of(variance.args[0], ops.SquaredDifference)
                if epsilon is None or variance is None or squares is None or squares.args[0] is not x:
                    continue
                mean = self.of(self._attached(squares.args[1]), ops.Mean)
                if mean is None or mean.args[0] is not x or not (mean.args[2] and x.shape.rank):
                    continue
                axes, rank = self.axes(mean), x.shape.rank
                is_of_layer = axes == (rank - 1,) and spread is variance.outputs[0]
                is_of_batch = rank > 1 and axes == tuple(range(rank - 1)) and is_vector(root, x)
                if self.axes(variance) == axes and variance.args[2] and (is_of_layer or is_of_batch):
                    return Moments(mean, variance, scale, float(str(np.float32(epsilon))), is_of_layer)
        return None

    def _offset(self, shift: Any, moments: Moments, factor: Any) -> tuple[Any] | None:
        """Returns the offset of a shift, `offset - mean * factor`, which may be missing; None if it is no such."""
        negative = self.of(shift, ops.Sub)
        if negative is not None and self._is_scaled(negative.args[1], moments, factor):
            return (negative.args[0],)
        for product, offset in [(shift, None), *self.operands(shift, ops.AddV2)]:
            for part, other in self.operands(product, ops.Mul):
                negated = self.of(part, ops.Neg)
                if other is factor and negated is not None and self._is_mean(negated.args[0], moments):
                    return (offset,)
        return None

    def _is_scaled(self, product: Any, moments: Moments, factor: Any) -> bool:
        """Returns whether a tensor is the mean, multiplied by the factor."""
        return any(b is factor and self._is_mean(a, moments) for a, b in self.operands(product, ops.Mul))

    def _is_mean(self, tensor: Any, moments: Moments) -> bool:
        mean = moments.mean.outputs[0]
        return tensor is mean or (
            not moments.is_of_layer and self.unshaped(tensor) is mean and is_vector(tensor, moments.mean.args[0])
        )

    def replace_layer_norm(self, step: Step, x: Any, vectors: Sequence[Any], moments: Moments) -> None:
        """Replaces the last sum of a layer normalization."""
        parameters = self.parameters(vectors, x)
        if parameters is not None:
            weight, bias = [
                name if p is None or p.shape.rank == 1 else f"{name}.view(-1)"
                for p, name in zip(parameters, places(parameters), strict=True)
            ]
            tensors = [x, *(p for p in parameters if p is not None)]
            self.write(step, "layer_norm", tensors, f"{{0}}, ({x.shape[-1]},), {weight}, {bias}, {moments.epsilon!r}")

    def parameters(self, vectors: Sequence[Any], x: Any) -> list[Any] | None:
        """Returns vectors for the last axis of `x` before they were reshaped, or as they are where that is not seen
        (it was done before a loop); None if one of them is none."""
        if not all(v is None or is_vector(v, x) for v in vectors):
            return None
        unshaped: list[Any] = [None if v is None else self.unshaped(v) for v in vectors]
        return [v if u is None or u.shape.rank != 1 else u for v, u in zip(vectors, unshaped, strict=True)]

    def axes(self, step: Step) -> tuple[int, ...] | None:
        """Returns the axes that a step reduces, if they are static."""
        axes = self.program.constant(step.args[1]) if isinstance(step.args[1], SymbolicTensor) else step.args[1]
        axes = numbers(axes) if isinstance(axes, torch.Tensor) else axes
        axes, rank = (axes,) if type(axes) is int else axes, step.args[0].shape.rank
        return None if axes is None or rank is None else tuple([a % rank for a in axes])

    def _attached(self, tensor: Any) -> Any:
        """Returns a tensor before autograd was stopped at it."""
        step = self.producers.get(id(tensor))
        return step.args[0] if step is not None and step.op.kernel is torch.Tensor.detach else tensor

    # ---- attention -----------------------------------------------------------------------------------------------

    def replace_attention(self, step: Step) -> None:
        """Replaces the last product of attention, or notes why it can't be."""
        operands = self._weights_and_values(step)
        if operands is None:
            return
        weights, values, turn = operands
        dropped, rate = self.dropped(weights)
        unmasked, condition_of_zeros, _ = self._masked(dropped, lambda number: number == 0.0)
        softmax = self.of(unmasked, ops.Softmax)
        if softmax is None:
            return
        miss: str | None
        if any(self.uses[id(t)] != 1 for t in (weights, dropped)):
            miss = "the weights are used elsewhere, such as in a gradient"
        elif step.outputs[0].shape.rank not in (3, 4):
            miss = "the result has not three or four dimensions"
        else:
            miss = self._replace_attention(step, softmax, condition_of_zeros, rate, values, turn)
        if miss:
            self.program.misses.append(("attention", step.operation, miss))

    def _replace_attention(
        self, step: Step, softmax: Step, condition_of_zeros: Any, rate: float, values: Any, turn: str
    ) -> str | None:
        """Replaces the last product of attention; returns what keeps it from that, or None.

        Args:
            step: the product.
            softmax: the step that computes the weights.
            condition_of_zeros: where weights are not replaced by zeros; None if they are nowhere.
            rate: the rate of dropout.
            values, turn: see `_weights_and_values`.
        """
        scores, mask, number = self._masked(softmax.args[0], lambda number: number <= _LEAST)
        total, is_added = self.of(scores, ops.AddV2), False
        if mask is not condition_of_zeros:  # where all are masked, weights are alike, and torch's are zeros
            is_added = condition_of_zeros is None and self.may_add(number)
            if not is_added:
                return "rows without scores would have other weights"
        if mask is None and total is not None:
            scores, mask = total.args if self._product(total.args[0]) else reversed(total.args)
        product = self._product(scores)
        if product is None:
            return "the scores are not a product, a constant times a product, or the sum of such and a mask"
        if mask is not None and mask.shape.rank not in (2, step.outputs[0].shape.rank):
            return "the mask has not two dimensions, or as many as the scores"
        (query, query_form), (key, key_form), scale = product
        args = [query, key, values] if mask is None else [query, key, values, mask]
        if not self.may_replace(step, args):
            return "something between the queries and the result is used elsewhere"
        scale *= self._factor(query) * self._factor(key)
        forms = [f"{{0}}{query_form}", f"{{1}}{key_form}", f"{{2}}{turn}"]
        if mask is not None:
            added = f".logical_not().to({{0}}.dtype) * {number!r}" if is_added else ""
            forms.append(f"attn_mask={{3}}{added}")
        forms += [f"dropout_p={rate!r}"] if rate else []
        self.write(step, "scaled_dot_product_attention", args, f"{', '.join(forms)}, scale={scale!r}", turn)
        return None

    def may_add(self, number: float) -> bool:
        """Returns True if it is the same whether scores are replaced by a number, or it is added: if they get lost."""
        return -math.inf < number <= _LARGE

    def dropped(self, tensor: Any) -> tuple[Any, float]:
        """Returns a tensor before dropout by a generator of torch, and its rate, which is 0 if there is none."""
        return tensor, 0.0

    def _weights_and_values(self, step: Step) -> tuple[Any, Any, str] | None:
        """Returns the operands of a product, and the form of the second and of the result; None for other products."""
        if step.op is ops.BatchMatMulV2.op:
            return None if step.args[2] or step.args[3] else (step.args[0], step.args[1], "")
        if step.op is ops.Einsum.op and _equation(step) == "abcd,adbe->acbe":
            return step.args[0][0], step.args[0][1], ".transpose(1, 2)"
        return None

    def _masked(self, tensor: Any, is_masked: Callable[[float], bool]) -> tuple[Any, Any, float]:
        """Returns a tensor before a number was put in where a condition is false, the condition, which is None if it
        was not, and the number."""
        step = self.of(tensor, ops.SelectV2)
        number = None if step is None else self.number(step.args[2])
        if step is None or number is None or not is_masked(number):
            return tensor, None, 0.0
        return step.args[1], step.args[0], number

    def _product(self, tensor: Any) -> tuple[tuple[Any, str], tuple[Any, str], float] | None:
        """Returns the queries and the keys whose product a tensor is, with their forms, and its scale; or None."""
        is_transposed, scale = False, 1.0
        while True:
            rows = self._rows(tensor)
            if rows is not None:
                return (*(reversed(rows) if is_transposed else rows), scale)
            transpose, scaled = self.of(tensor, ops.Transpose), self.scaled(tensor)
            if transpose is not None and self._order(transpose) in ((0, 2, 1), (0, 1, 3, 2)):
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
        scaled = None if transpose is None or self.uses[id(tensor)] != 1 else self.scaled(transpose.args[0])
        if transpose is None or scaled is None:
            return 1.0
        transpose.args = [scaled[0], *transpose.args[1:]]
        return scaled[1]

    def scaled(self, tensor: Any) -> tuple[Any, float] | None:
        """Returns a tensor and the number that it is multiplied by, or None."""
        for x, factor in self.operands(tensor, ops.Mul):
            number = self.number(factor)
            if number is not None:
                return x, number
        quotient = self.of(tensor, ops.RealDiv)
        number = None if quotient is None else self.number(quotient.args[1])
        return (quotient.args[0], 1.0 / number) if quotient is not None and number else None

    def _order(self, transpose: Step) -> tuple[int, ...] | None:
        """Returns the order of dimensions that a step transposes to."""
        order = transpose.args[1]
        order = self.program.constant(order) if isinstance(order, SymbolicTensor) else order
        order = numbers(order) if isinstance(order, torch.Tensor) else order
        return None if order is None else tuple(order)
