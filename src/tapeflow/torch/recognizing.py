"""Normalizations, GELUs and attention, which TensorFlow spells with small ops, as the functions of torch that compute
them.

A module's source is shorter with them, its gradients take fewer passes over memory, and exporters know them. A
normalization of `x` is

    mean = Mean(x);  variance = Mean(SquaredDifference(x, mean))
    factor = Rsqrt(variance + epsilon) * scale
    result = x * factor + (offset - mean * factor)

over the last axis (Ba et al., Layer Normalization, 2016), or over all others (Ioffe and Szegedy, Batch Normalization,
2015); scale and offset may be missing. A GELU is `x / 2 * (1 + Erf(x / sqrt(2)))`, or the same with the tanh of a
polynomial (Hendrycks and Gimpel, 2016). Attention is `Softmax(scale * q @ k^T + mask) @ v` (Vaswani et al., 2017);
Keras computes `k @ q^T`, and transposes the product; its masks are conditions, with zeros for the weights where they
are false. Steps that nothing uses any more are pruned later.
"""

from __future__ import annotations

import itertools
import math
import string
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.static import numbers
from tapeflow.core.types.dtypes import float32, float64
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.codegen.producers import Producers
from tapeflow.graph.codegen.program import Program, Step
from tapeflow.graph.ir.operation import GraphOp, symbolic_in
from tapeflow.torch.changes import is_change

_DRAWS = (ops.RandomUniform, ops.StatelessRandomUniformV2)
_PRODUCTS = (ops.MatMul.op.name, ops.BatchMatMulV2.op.name)
_LEAST = -1e4  # numbers below it, for scores, are masks: their exponentials are zero


def recognize(program: Program) -> None:
    """Replaces the last steps of normalizations, GELUs and attention, and the statistics of batch normalizations."""
    patterns = _Patterns(program)
    for step in program.steps:
        if len(step.outputs) != 1 or step.outputs[0].dtype not in (float32, float64) or step.placed:
            continue
        if step.op is ops.Mul.op:
            patterns.replace_gelu(step)
        elif step.op is ops.AddV2.op:
            patterns.replace_normalization(step)
        elif step.op is ops.SelectV2.op:
            patterns.replace_dropout(step)
        elif step.op in (ops.BatchMatMulV2.op, ops.Einsum.op):
            patterns.replace_attention(step)


def recognize_layers(program: Program) -> None:
    """Replaces sums of a product with a matrix and a bias, which TapeFlow's own passes prepare the weights of."""
    patterns = _Patterns(program)
    for step in program.steps:
        if step.op in (ops.AddV2.op, ops.BiasAdd.op) and step.outputs[0].dtype.is_floating and not step.placed:
            patterns.replace_linear(step)


def _equation(step: Step) -> str:
    """Returns the equation of an `Einsum`, with letters in the order in which they come."""
    names: dict[str, str] = {}
    text = step.args[1].replace(" ", "")
    return "".join([names.setdefault(c, string.ascii_letters[len(names)]) if c.isalpha() else c for c in text])


def _is_vector(tensor: Any, x: Any) -> bool:
    """Returns whether a tensor has one number for each element of the last axis of `x`, along which it is broadcast."""
    rank, size = tensor.shape.rank, x.shape[-1]
    return bool(rank) and size is not None and tensor.shape.as_list() == [1] * (rank - 1) + [size]


def _places(tensors: Sequence[Any], first: int = 1) -> list[str]:
    """Returns how a template names tensors, of which some are missing."""
    count = itertools.count(first)
    return ["None" if t is None else f"{{{next(count)}}}" for t in tensors]


def batch_norm(
    x: torch.Tensor, scale: torch.Tensor | None, offset: torch.Tensor | None, epsilon: float
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Normalizes `x` over all axes but the last.

    Returns:
        The result; and the mean and the variance, which autograd does not follow.
    """
    images = x if x.dim() == 4 else x.reshape(-1, 1, 1, x.shape[-1])  # with channels last in memory
    y, mean, inverse = torch.native_batch_norm(
        images.permute(0, 3, 1, 2), scale, offset, None, None, True, 0.0, epsilon
    )
    shape = [1] * (x.dim() - 1) + [-1]
    variance = (inverse.detach() ** -2 - epsilon).clamp_min(0.0)
    return y.permute(0, 2, 3, 1).reshape(x.shape), mean.detach().view(shape), variance.view(shape)


class _Moments(NamedTuple):
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


class _Patterns(Producers):
    """The patterns that a program's steps are."""

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        operands = [t for step in program.steps if not step.op.reads_shape for t in symbolic_in(step.args)]
        self._uses = Counter(map(id, [*operands, *program.outputs]))
        self._rates: dict[int, float] = {}  # of dropout, by the ids of its steps

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

    # ---- linear layers and dropout -------------------------------------------------------------------------------

    def replace_linear(self, step: Step) -> None:
        """Replaces the sum of a product with a matrix, which may be reshaped, and a bias."""
        is_biased = step.op is ops.BiasAdd.op
        for total, bias in [step.args[:2]] if is_biased else self._operands(step.outputs[0], ops.AddV2):
            reshape = self.of(total, ops.Reshape)
            inner = total if reshape is None else reshape.args[0]
            product = self.producers.get(id(inner))
            if (
                product is None
                or product.name not in _PRODUCTS
                or self._uses[id(total)] != 1
                or self._uses[id(inner)] != 1
            ):
                continue
            x, matrix, *transposed = product.args
            transposes_x, is_transposed = transposed or (False, False)
            sizes = bias.shape.as_list() if bias.shape.rank else [None]
            fits = None not in sizes and math.prod(sizes) == inner.shape[-1] and total.shape[-len(sizes) :] == sizes
            if transposes_x or matrix.shape.rank != 2 or not fits or (is_biased and step.args[2] != "NHWC"):
                continue
            flat = "{2}" if len(sizes) == 1 else "{2}.reshape(-1)"
            call = f"torch.nn.functional.linear({{0}}, {{1}}{'' if is_transposed else '.mT'}, {flat})"
            if reshape is None:
                self._replace(step, "linear", [x, matrix, bias], call)
            else:
                op = GraphOp("linear", None, template=call)
                linear = Step(op, [x, matrix, bias], [inner], [*product.origins, *step.origins])
                step.op, step.args, step.types = reshape.op, [inner, *reshape.args[1:]], reshape.types
                self.program.steps = [
                    s
                    for old in self.program.steps
                    if old is not product and old is not reshape
                    for s in ((linear, old) if old is step else (old,))
                ]
            return

    def replace_dropout(self, step: Step) -> None:
        """Replaces a choice between scaled numbers and zeros, by random numbers of the same shape."""
        keeps, scaled = self.of(step.args[0], ops.GreaterEqual), self._scaled(step.args[1])
        draws = None if keeps is None else self._draws(keeps.args[0])
        rate = None if keeps is None else self.number(keeps.args[1])
        if draws is None or rate is None or scaled is None or self.number(step.args[2]) != 0.0 or not 0.0 < rate < 1.0:
            return
        x, factor = scaled
        of_shape = self.of(draws.args[0], ops.Shape)
        shape, like = draws.outputs[0].shape, of_shape and of_shape.args[0]
        is_of_x = like is x or like is step.args[1] or (shape.is_fully_defined() and shape == x.shape)
        if is_of_x and math.isclose(factor * (1.0 - rate), 1.0, rel_tol=1e-6):
            self._rates[id(step)] = rate = float(str(np.float32(rate)))
            self._replace(step, "dropout", [x], f"torch.nn.functional.dropout({{0}}, {rate!r})")

    def _draws(self, tensor: Any) -> Step | None:
        """Returns the step that draws a tensor from 0 to 1, or None."""
        return next((step for op in _DRAWS if (step := self.of(tensor, op)) is not None), None)

    def _dropped(self, tensor: Any) -> tuple[Any, float]:
        """Returns a tensor before dropout, and its rate, which is 0 if there is none."""
        step = self.producers.get(id(tensor))
        rate = 0.0 if step is None else self._rates.get(id(step), 0.0)
        return (step.args[0], rate) if step is not None and rate else (tensor, 0.0)

    # ---- normalizations ------------------------------------------------------------------------------------------

    def replace_normalization(self, step: Step) -> None:
        """Replaces the last sum of a layer normalization, or of a batch normalization and its statistics."""
        for scaled, shift in self._operands(step.outputs[0], ops.AddV2):
            for x, factor in self._operands(scaled, ops.Mul):
                moments = self._moments(x, factor)
                offset = None if moments is None else self._offset(shift, moments, factor)
                if moments is not None and offset is not None:
                    vectors = [moments.scale, *offset]
                    if moments.is_of_layer:
                        self._replace_layer_norm(step, x, vectors, moments.epsilon)
                    else:
                        self._replace_batch_norm(step, x, vectors, moments)
                    return

    def _moments(self, x: Any, factor: Any) -> _Moments | None:
        """Returns the statistics of `x` in a factor, or None if the factor does not normalize `x`."""
        for root, scale in [(factor, None), *self._operands(factor, ops.Mul)]:
            reciprocal = self.of(root, ops.Rsqrt)
            for spread, constant in self._operands(None if reciprocal is None else reciprocal.args[0], ops.AddV2):
                epsilon, variance = self.number(constant), self.of(self._unshaped(spread), ops.Mean)
                squares = None if variance is None else self.of(variance.args[0], ops.SquaredDifference)
                if epsilon is None or variance is None or squares is None or squares.args[0] is not x:
                    continue
                mean = self.of(self._attached(squares.args[1]), ops.Mean)
                if mean is None or mean.args[0] is not x or not (mean.args[2] and x.shape.rank):
                    continue
                axes, rank = self._axes(mean), x.shape.rank
                is_of_layer = axes == (rank - 1,) and spread is variance.outputs[0]
                is_of_batch = rank > 1 and axes == tuple(range(rank - 1)) and _is_vector(root, x)
                if self._axes(variance) == axes and variance.args[2] and (is_of_layer or is_of_batch):
                    return _Moments(mean, variance, scale, float(str(np.float32(epsilon))), is_of_layer)
        return None

    def _offset(self, shift: Any, moments: _Moments, factor: Any) -> tuple[Any] | None:
        """Returns the offset of a shift, `offset - mean * factor`, which may be missing; None if it is no such."""
        negative = self.of(shift, ops.Sub)
        if negative is not None and self._is_scaled(negative.args[1], moments, factor):
            return (negative.args[0],)
        for product, offset in [(shift, None), *self._operands(shift, ops.AddV2)]:
            for part, other in self._operands(product, ops.Mul):
                negated = self.of(part, ops.Neg)
                if other is factor and negated is not None and self._is_mean(negated.args[0], moments):
                    return (offset,)
        return None

    def _is_scaled(self, product: Any, moments: _Moments, factor: Any) -> bool:
        """Returns whether a tensor is the mean, multiplied by the factor."""
        return any(b is factor and self._is_mean(a, moments) for a, b in self._operands(product, ops.Mul))

    def _is_mean(self, tensor: Any, moments: _Moments) -> bool:
        mean = moments.mean.outputs[0]
        return tensor is mean or (
            not moments.is_of_layer and self._unshaped(tensor) is mean and _is_vector(tensor, moments.mean.args[0])
        )

    def _replace_layer_norm(self, step: Step, x: Any, vectors: Sequence[Any], epsilon: float) -> None:
        """Replaces the last sum of a layer normalization."""
        parameters = self._parameters(vectors, x)
        if parameters is not None:
            size, tensors = x.shape[-1], [p for p in parameters if p is not None]
            weight, bias = _places(parameters)
            call = f"torch.nn.functional.layer_norm({{0}}, ({size},), {weight}, {bias}, {epsilon!r})"
            self._replace(step, "layer_norm", [x, *tensors], call)

    def _replace_batch_norm(self, step: Step, x: Any, vectors: Sequence[Any], moments: _Moments) -> None:
        """Replaces the statistics of a batch normalization and its last sum.

        Autograd does not follow the statistics: where they are needed by more than what a module changes unseen by it,
        such as moving averages, they stay as they are.
        """
        parameters = self._parameters(vectors, x)
        operands = [] if parameters is None else [x, *(p for p in parameters if p is not None)]
        steps = self.program.steps
        place = next(i for i, s in enumerate(steps) if s is moments.mean)
        before = {id(t) for s in steps[:place] for t in s.outputs}
        if parameters is None or any(id(t) in self.producers and id(t) not in before for t in operands):
            return
        statistics = [moments.mean.outputs[0], moments.variance.outputs[0]]
        weight, bias = _places(parameters)
        call = f"{{kernel}}({{0}}, {weight}, {bias}, {moments.epsilon!r})"
        op = GraphOp("batch_norm", batch_norm, template=call, gives_tuple=True)
        outputs = [step.outputs[0], *statistics]
        new = Step(op, operands, outputs, [*moments.mean.origins, *moments.variance.origins, *step.origins])
        rest = [s for s in steps if s is not step]
        gone = (moments.mean, moments.variance)
        followed = {id(t) for t in self.program.outputs}
        for s in reversed(rest):
            if s not in gone and ((s.must_run and not is_change(s)) or any(id(t) in followed for t in s.outputs)):
                followed.update(id(t) for t in s.inputs)
        if not any(id(t) in followed for t in statistics):
            self.program.steps = [new if s is moments.mean else s for s in rest if s is not moments.variance]

    def _parameters(self, vectors: Sequence[Any], x: Any) -> list[Any] | None:
        """Returns vectors for the last axis of `x` before they were reshaped; None if one of them is none."""
        unshaped: list[Any] = [None if v is None else self._unshaped(v) for v in vectors]
        fit = all(v is None or (_is_vector(v, x) and u.shape.rank == 1) for v, u in zip(vectors, unshaped, strict=True))
        return unshaped if fit else None

    def _axes(self, mean: Step) -> tuple[int, ...] | None:
        """Returns the axes that a step takes means over, if they are static."""
        axes = self.program.constant(mean.args[1]) if isinstance(mean.args[1], SymbolicTensor) else mean.args[1]
        axes = numbers(axes) if isinstance(axes, torch.Tensor) else axes
        axes, rank = (axes,) if type(axes) is int else axes, mean.args[0].shape.rank
        return None if axes is None or rank is None else tuple([a % rank for a in axes])

    def _attached(self, tensor: Any) -> Any:
        """Returns a tensor before autograd was stopped at it."""
        step = self.producers.get(id(tensor))
        return step.args[0] if step is not None and step.op.kernel is torch.Tensor.detach else tensor

    def _unshaped(self, tensor: Any) -> Any:
        """Returns a tensor before it was reshaped."""
        step = self.of(tensor, ops.Reshape) or self.of(tensor, ops.Squeeze)
        return tensor if step is None else self._unshaped(step.args[0])

    # ---- attention -----------------------------------------------------------------------------------------------

    def replace_attention(self, step: Step) -> None:
        """Replaces the last product of attention, if nothing else uses its weights."""
        operands = self._weights_and_values(step)
        if operands is None or self._uses[id(operands[0])] != 1 or step.outputs[0].shape.rank != 4:
            return
        weights, values, turn = operands
        weights, rate = self._dropped(weights)
        if self._uses[id(weights)] != 1:
            return
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
        forms += [f"dropout_p={rate!r}"] if rate else []
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
