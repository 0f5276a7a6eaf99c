"""Normalizations, GELUs, attention, dropout and linear layers as the functions of torch that compute them.

A module's source is shorter with them, its gradients take fewer passes over memory, and exporters know them. To the
patterns of `graph/codegen/passes/recognizing.py` come those that gradients and TapeFlow's random numbers keep from
being one kernel in its own functions: batch normalizations, over all axes but the last (Ioffe and Szegedy, 2015), and
dropout. Inner results may have other uses. Steps that nothing uses any more are pruned later.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from tapeflow.core.ops.definition import ops
from tapeflow.graph.codegen.passes.recognizing import Moments, Patterns, places
from tapeflow.graph.codegen.program import Program, Step
from tapeflow.graph.ir.operation import GraphOp
from tapeflow.torch.changes import is_change

_DRAWS = (ops.RandomUniform, ops.StatelessRandomUniformV2)
_PRODUCTS = (ops.MatMul.op.name, ops.BatchMatMulV2.op.name)


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


class _Patterns(Patterns):
    """The patterns that a program's steps are."""

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self.rules[ops.SelectV2.op] = self.replace_dropout
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

    def replace_normalization(self, step: Step) -> None:
        """Replaces the last sum of a layer normalization, or of a batch normalization and its statistics."""
        normalization = self.normalization(step)
        if normalization is not None:
            is_of_layer = normalization[2].is_of_layer
            (self.replace_layer_norm if is_of_layer else self._replace_batch_norm)(step, *normalization)

    def _replace_batch_norm(self, step: Step, x: Any, vectors: Sequence[Any], moments: Moments) -> None:
        """Replaces the statistics of a batch normalization and its last sum.

        Autograd does not follow the statistics. They stay if the program uses them for more than the module's hidden
        updates, such as moving averages.
        """
        parameters = self.parameters(vectors, x)
        operands = [] if parameters is None else [x, *(p for p in parameters if p is not None)]
        steps = self.program.steps
        place = next(i for i, s in enumerate(steps) if s is moments.mean)
        before = {id(t) for s in steps[:place] for t in s.outputs}
        if parameters is None or any(id(t) in self.producers and id(t) not in before for t in operands):
            return
        statistics = [moments.mean.outputs[0], moments.variance.outputs[0]]
        weight, bias = places(parameters)
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
