"""Normalizations, GELUs, attention, dropout and linear layers as the functions of torch that compute them.

A module's source is shorter with them, its gradients take fewer passes over memory, and exporters know them. To
attention, which TapeFlow's own functions have as one kernel too, come what these compute in clusters. A normalization
of `x` is

    mean = Mean(x);  variance = Mean(SquaredDifference(x, mean))
    factor = Rsqrt(variance + epsilon) * scale
    result = x * factor + (offset - mean * factor)

over the last axis (Ba et al., Layer Normalization, 2016) or over all others (Ioffe and Szegedy, Batch Normalization,
2015); scale and offset may be missing. A GELU is `x / 2 * (1 + Erf(x / sqrt(2)))`, or the same with the tanh of a
polynomial (Hendrycks and Gimpel, 2016). Inner results may have other uses. Steps that nothing uses any more are pruned
later.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.static import numbers
from tapeflow.core.types.dtypes import float32, float64
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.codegen.passes.recognizing import Patterns
from tapeflow.graph.codegen.producers import is_vector
from tapeflow.graph.codegen.program import Program, Step
from tapeflow.graph.ir.operation import GraphOp
from tapeflow.torch.changes import is_change

_DRAWS = (ops.RandomUniform, ops.StatelessRandomUniformV2)
_PRODUCTS = (ops.MatMul.op.name, ops.BatchMatMulV2.op.name)
_CLOSE = {float32: 1e-6, float64: 1e-14}  # of a constant: `tf.nn.gelu` has those of float32 for float64 too


def recognize(program: Program) -> None:
    """Replaces the last steps of normalizations, GELUs and attention, and the statistics of batch normalizations."""
    _Patterns(program).replace()


def recognize_layers(program: Program) -> None:
    """Replaces sums of a product with a matrix and a bias."""
    patterns = _Patterns(program)
    for step in program.steps:
        if step.op in (ops.AddV2.op, ops.BiasAdd.op) and step.outputs[0].dtype.is_floating and not step.placed:
            patterns.replace_linear(step)


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


def _places(tensors: Sequence[Any], first: int = 1) -> list[str]:
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


class _Patterns(Patterns):
    """The patterns that a program's steps are."""

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self.rules |= {
            ops.Mul.op: self._replace_gelu, ops.AddV2.op: self._replace_normalization,
            ops.SelectV2.op: self.replace_dropout,
        }  # fmt: skip
        self._rates: dict[int, float] = {}  # of dropout, by the ids of its steps

    def write(self, step: Step, name: str, args: list[Any], arguments: str, ending: str = "") -> None:
        call = f"torch.nn.functional.{name}({arguments}){ending}"
        step.op, step.args = GraphOp(name, None, template=call), args

    def may_replace(self, step: Step, args: Sequence[Any], results: Sequence[Any] = ()) -> bool:
        return True

    def may_add(self, number: float) -> bool:
        return False  # a score that is replaced has no gradient

    def replace_linear(self, step: Step) -> None:
        """Replaces the sum of a product with a matrix, which may be reshaped, and a bias."""
        is_biased = step.op is ops.BiasAdd.op
        for total, bias in [step.args[:2]] if is_biased else self.operands(step.outputs[0], ops.AddV2):
            reshape = self.of(total, ops.Reshape)
            inner = total if reshape is None else reshape.args[0]
            product = self.producers.get(id(inner))
            if (
                product is None
                or product.name not in _PRODUCTS
                or self.uses[id(total)] != 1
                or self.uses[id(inner)] != 1
            ):
                continue
            x, matrix, *transposed = product.args
            transposes_x, is_transposed = transposed or (False, False)
            sizes = bias.shape.as_list() if bias.shape.rank else [None]
            fits = None not in sizes and math.prod(sizes) == inner.shape[-1] and total.shape[-len(sizes) :] == sizes
            if transposes_x or matrix.shape.rank != 2 or not fits or (is_biased and step.args[2] != "NHWC"):
                continue
            flat = "{2}" if len(sizes) == 1 else "{2}.reshape(-1)"
            arguments = f"{{0}}, {{1}}{'' if is_transposed else '.mT'}, {flat}"
            if reshape is None:
                self.write(step, "linear", [x, matrix, bias], arguments)
            else:
                linear = Step(product.op, [], [inner], [*product.origins, *step.origins])
                self.write(linear, "linear", [x, matrix, bias], arguments)
                step.op, step.args = reshape.op, [inner, *reshape.args[1:]]
                self.program.steps = [
                    s
                    for old in self.program.steps
                    if old is not product and old is not reshape
                    for s in ((linear, old) if old is step else (old,))
                ]
            return

    def replace_dropout(self, step: Step) -> None:
        """Replaces a choice between scaled numbers and zeros, by random numbers of the same shape."""
        keeps, scaled = self.of(step.args[0], ops.GreaterEqual), self.scaled(step.args[1])
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
            self.write(step, "dropout", [x], f"{{0}}, {rate!r}")

    def _draws(self, tensor: Any) -> Step | None:
        """Returns the step that draws a tensor from 0 to 1, or None."""
        return next((step for op in _DRAWS if (step := self.of(tensor, op)) is not None), None)

    def dropped(self, tensor: Any) -> tuple[Any, float]:
        """Returns a tensor before dropout, and its rate, which is 0 if there is none."""
        step = self.producers.get(id(tensor))
        rate = 0.0 if step is None else self._rates.get(id(step), 0.0)
        return (step.args[0], rate) if step is not None and rate else (tensor, 0.0)

    def _replace_batch_norm(self, step: Step, x: Any, vectors: Sequence[Any], moments: Moments) -> None:
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

    # ---- GELU ----------------------------------------------------------------------------------------------------

    def _replace_gelu(self, step: Step) -> None:
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

    def _without(self, tensor: Any, op: Any, number: float) -> Any:
        """Returns the other operand of a product with a number, or a sum; None if the tensor is none."""
        for other, constant in self.operands(tensor, op):
            value = self.number(constant)
            if value is not None and math.isclose(value, number, rel_tol=_CLOSE[other.dtype]):
                return other
        return None

    # ---- normalizations ------------------------------------------------------------------------------------------

    def _replace_normalization(self, step: Step) -> None:
        """Replaces the last sum of a layer normalization, or of a batch normalization and its statistics."""
        normalization = self._normalization(step)
        if normalization is not None:
            is_of_layer = normalization[2].is_of_layer
            (self._replace_layer_norm if is_of_layer else self._replace_batch_norm)(step, *normalization)

    def _normalization(self, step: Step) -> tuple[Any, list[Any], Moments] | None:
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
                axes, rank = self._axes(mean), x.shape.rank
                is_of_layer = axes == (rank - 1,) and spread is variance.outputs[0]
                is_of_batch = rank > 1 and axes == tuple(range(rank - 1)) and is_vector(root, x)
                if self._axes(variance) == axes and variance.args[2] and (is_of_layer or is_of_batch):
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

    def _replace_layer_norm(self, step: Step, x: Any, vectors: Sequence[Any], moments: Moments) -> None:
        """Replaces the last sum of a layer normalization."""
        parameters = self._parameters(vectors, x)
        if parameters is not None:
            weight, bias = [
                name if p is None or p.shape.rank == 1 else f"{name}.view(-1)"
                for p, name in zip(parameters, _places(parameters), strict=True)
            ]
            tensors = [x, *(p for p in parameters if p is not None)]
            self.write(step, "layer_norm", tensors, f"{{0}}, ({x.shape[-1]},), {weight}, {bias}, {moments.epsilon!r}")

    def _parameters(self, vectors: Sequence[Any], x: Any) -> list[Any] | None:
        """Returns vectors for the last axis of `x` before they were reshaped, or as they are where that is not seen
        (it was done before a loop); None if one of them is none."""
        if not all(v is None or is_vector(v, x) for v in vectors):
            return None
        unshaped: list[Any] = [None if v is None else self.unshaped(v) for v in vectors]
        return [v if u is None or u.shape.rank != 1 else u for v, u in zip(vectors, unshaped, strict=True)]

    def _axes(self, step: Step) -> tuple[int, ...] | None:
        """Returns the axes that a step reduces, if they are static."""
        axes = self.program.constant(step.args[1]) if isinstance(step.args[1], SymbolicTensor) else step.args[1]
        axes = numbers(axes) if isinstance(axes, torch.Tensor) else axes
        axes, rank = (axes,) if type(axes) is int else axes, step.args[0].shape.rank
        return None if axes is None or rank is None else tuple([a % rank for a in axes])

    def _attached(self, tensor: Any) -> Any:
        """Returns a tensor before autograd was stopped at it."""
        step = self.producers.get(id(tensor))
        return step.args[0] if step is not None and step.op.kernel is torch.Tensor.detach else tensor
