"""Normalizations, GELUs, attention, dropout and linear layers as the functions of torch that compute them.

A module's source is shorter with them, its gradients take fewer passes over memory, and exporters know them. A
normalization is

    mean = Mean(x);  variance = Mean(SquaredDifference(x, mean))
    factor = Rsqrt(variance + epsilon) * scale
    result = x * factor + (offset - mean * factor)

over the last axis (layer normalization; Ba et al., 2016) or all others (batch normalization; Ioffe and Szegedy, 2015).
Scale and offset may be missing. A GELU is `x / 2 * (1 + Erf(x / sqrt(2)))`, or the same with the tanh of a polynomial
(Hendrycks and Gimpel, 2016). Inner results may have other uses. Steps that nothing uses any more are pruned later.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch

from tapeflow.core.ops.definition import ops
from tapeflow.graph.codegen.passes.attention import Attention, Parts, scaled_patterns
from tapeflow.graph.codegen.patterns import Call, Capture, Captures, Either, Matcher, Number, Pattern, Rule, Static
from tapeflow.graph.ir.operation import GraphOp
from tapeflow.graph.program.program import NATIVE, Program, Step
from tapeflow.torch.changes import is_change


def recognize(program: Program) -> None:
    """Replaces normalizations and their statistics, GELUs, dropout and attention."""
    _Functions(program).replace_functions()


def recognize_layers(program: Program) -> None:
    """Replaces sums of a product with a matrix and a bias."""
    _Functions(program).replace_layers()


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


# ---- patterns --------------------------------------------------------------------------------------------------------


class _BehindReshapes(Pattern):
    """A tensor that results from reshapes of a matching tensor; `pattern` is the pattern of that tensor."""

    def __init__(self, pattern: Pattern) -> None:
        self._pattern = pattern

    def match(self, matcher: Matcher, value: Any, captures: Captures) -> Iterator[Captures]:
        yield from self._pattern.match(matcher, matcher.before_views(value), captures)


def _half_pattern(x: Pattern, smooth: Pattern) -> Call:
    """Returns the pattern of `x / 2 * (1 + smooth)`."""
    return Call(ops.Mul, Call(ops.Mul, x, Number(0.5)), Call(ops.AddV2, smooth, Number(1.0)))


@functools.cache
def _gelu_patterns() -> tuple[Call, Call]:
    """Returns the patterns of a GELU, and of the one with tanh."""
    x = Capture("x")
    cube = Call(ops.Mul, Call(ops.Mul, x, x), x)
    cubic = Call(ops.AddV2, x, Call(ops.Mul, cube, Number(0.044715)))
    return (
        _half_pattern(x, Call(ops.Erf, Call(ops.Mul, x, Number(math.sqrt(0.5))))),
        _half_pattern(x, Call(ops.Tanh, Call(ops.Mul, cubic, Number(math.sqrt(2 / math.pi))))),
    )


@functools.cache
def _normalization_pattern() -> Call:
    """Returns the pattern of a normalization, from the last sum."""
    x, factor, offset = Capture("x"), Capture("factor"), Capture("offset")
    mean = Call(ops.Mean, x, Static("axes"), True, name="mean")
    squares = Call(ops.SquaredDifference, x, Either(mean, Call(ops.StopGradient, mean)))
    variance = Call(ops.Mean, squares, Static("axes"), True, name="variance")
    spread = Call(ops.AddV2, Capture("spread", pattern=_BehindReshapes(variance)), Number("epsilon"))
    root = Call(ops.Rsqrt, spread, name="root")
    factors = Capture("factor", pattern=Either(root, Call(ops.Mul, root, Capture("scale"))))
    center = Capture("center", pattern=_BehindReshapes(Capture("mean")))
    shift = Call(ops.Mul, Call(ops.Neg, center), factor)
    shifts = Either(Call(ops.Sub, offset, Call(ops.Mul, center, factor)), shift, Call(ops.AddV2, shift, offset))
    return Call(ops.AddV2, Call(ops.Mul, x, factors), shifts)


@functools.cache
def _dropout_pattern() -> Call:
    """Returns the pattern of a choice between scaled numbers and zeros, by random numbers."""
    shape = Either(Call(ops.Shape, Capture("like")), Capture())
    draws = Call((ops.RandomUniform, ops.StatelessRandomUniformV2), shape, name="draws")
    keeps = Call(ops.GreaterEqual, draws, Number("rate"))
    scaled_up = Capture("scaled", pattern=Either(*scaled_patterns(Capture("x"))))
    return Call(ops.SelectV2, keeps, scaled_up, Number(0.0))


@functools.cache
def _linear_patterns() -> tuple[Call, Call]:
    """Returns the patterns of the sum of a product with a matrix, which may be reshaped, and a bias."""
    x, matrix, bias = Capture("x"), Capture("matrix", lambda _, t: t.shape.rank == 2), Capture("bias")
    product = Call((ops.MatMul, ops.BatchMatMulV2), x, matrix, name="product", once=True)
    total = Either(product, Call(ops.Reshape, product, name="reshape", once=True))
    return Call(ops.AddV2, total, bias), Call(ops.BiasAdd, total, bias, "NHWC")


# ---- replacements ----------------------------------------------------------------------------------------------------


class _Functions(Attention):
    """The parts of a program that are functions of torch."""

    def replace_functions(self) -> None:
        """Replaces normalizations, GELUs, dropout and attention."""
        exact, approximate = _gelu_patterns()
        self.replace([
            *self.rules(), Rule(exact, functools.partial(self._replace_gelu, "{0}")),
            Rule(approximate, functools.partial(self._replace_gelu, "{0}, approximate='tanh'")),
            Rule(_normalization_pattern(), self._replace_normalization),
            Rule(_dropout_pattern(), self._replace_dropout),
        ])  # fmt: skip

    def replace_layers(self) -> None:
        """Replaces linear layers."""
        self.replace([Rule(pattern, self._replace_linear, dtypes=NATIVE) for pattern in _linear_patterns()])

    def write_call(
        self, step: Step, name: str, args: list[Any], arguments: str, ending: str = "", **attrs: Any
    ) -> None:
        """Replaces a step.

        Args:
            step: the step.
            name: the name of a function in `torch.nn.functional`.
            args: the tensor arguments of the function.
            arguments: the template of its arguments.
            ending: source code after the call, such as a transpose.
            **attrs: the attrs of the step's op.
        """
        call = f"torch.nn.functional.{name}({arguments}){ending}"
        step.op, step.args = GraphOp(name, None, template=call, attrs=attrs), args

    def used_elsewhere(self, step: Step, args: Sequence[Any]) -> Step | None:
        return None

    def refuses(self, step: Step, parts: Parts) -> str | None:
        # If all scores of a row are masked, TensorFlow's weights are equal, and torch's are zeros.
        return "rows without scores would have other weights" if parts.mask is not None and not parts.zeroed else None

    def write_attention(self, step: Step, parts: Parts) -> None:
        arguments = [f"{{{i}}}{rows.form}" for i, rows in enumerate(parts[:3])]
        if len(parts.tensors) > 3:
            arguments.append("attn_mask={3}")
        if parts.dropout is not None:
            arguments.append(f"dropout_p={self.producers[id(parts.dropout)].op.attrs['rate']!r}")
        ending = f".permute{parts.order}" if parts.order else ""
        arguments.append(f"scale={parts.scale!r}")
        self.write_call(step, "scaled_dot_product_attention", parts.tensors, ", ".join(arguments), ending)

    def _replace_gelu(self, arguments: str, step: Step, captures: Captures) -> str | None:
        self.write_call(step, "gelu", [captures["x"]], arguments)
        return None

    def _replace_linear(self, step: Step, captures: Captures) -> str | None:
        """Replaces the sum of a product and a bias."""
        x, matrix, bias = captures["x"], captures["matrix"], captures["bias"]
        product, reshape = self.producers[id(captures["product"])], self.producers.get(id(captures["reshape"]))
        transposes_x, is_transposed = product.args[2:] or (False, False)
        sizes, total = bias.shape.as_list() if bias.shape.rank else [None], (reshape or product).outputs[0]
        columns = captures["product"].shape[-1]
        fits = None not in sizes and math.prod(sizes) == columns and total.shape[-len(sizes) :] == sizes
        if transposes_x or not fits:
            return "the bias has not a number for each column"
        flat = "{2}" if len(sizes) == 1 else "{2}.reshape(-1)"
        arguments = f"{{0}}, {{1}}{'' if is_transposed else '.mT'}, {flat}"
        if reshape is None:
            self.write_call(step, "linear", [x, matrix, bias], arguments)
            return None
        linear = Step(product.op, [], product.outputs, [*product.origins, *step.origins])
        self.write_call(linear, "linear", [x, matrix, bias], arguments)
        step.op, step.args = reshape.op, [captures["product"], *reshape.args[1:]]
        rest = [s for s in self.program.steps if s is not product and s is not reshape]
        place = next(i for i, s in enumerate(rest) if s is step)
        self.program.steps = [*rest[:place], linear, *rest[place:]]
        return None

    def _replace_dropout(self, step: Step, captures: Captures) -> str | None:
        """Replaces dropout by random numbers of the same shape."""
        x, like, rate, shape = captures["x"], captures["like"], captures["rate"], captures["draws"].shape
        factor = math.prod(captures["factors*"]) / (math.prod(captures["divisors*"]) or math.inf)
        is_of_x = like is x or like is captures["scaled"] or (shape.is_fully_defined() and shape == x.shape)
        if not 0.0 < rate < 1.0 or not is_of_x or not math.isclose(factor * (1.0 - rate), 1.0, rel_tol=1e-6):
            return "the numbers are not those of dropout"
        rate = float(str(np.float32(rate)))
        self.write_call(step, "dropout", [x], f"{{0}}, {rate!r}", rate=rate)
        return None

    def _replace_normalization(self, step: Step, captures: Captures) -> str | None:
        """Replaces the last sum of a layer normalization, or of a batch normalization and its statistics."""
        x, axes, rank = captures["x"], captures["axes"], captures["x"].shape.rank or 0
        axes = {a % rank for a in ((axes,) if type(axes) is int else axes)} if rank else set()
        parameters = self._parameters([captures["scale"], captures["offset"]], x)
        if parameters is None:
            return "scale and offset are no vectors"
        is_reshaped = captures["spread"] is not captures["variance"] or captures["center"] is not captures["mean"]
        tensors = [x, *(p for p in parameters if p is not None)]
        epsilon = float(str(np.float32(captures["epsilon"])))
        if axes == {rank - 1} and not is_reshaped:
            weight, bias = [
                name if p is None or p.shape.rank == 1 else f"{name}.view(-1)"
                for p, name in zip(parameters, _template_places(parameters), strict=True)
            ]
            self.write_call(step, "layer_norm", tensors, f"{{0}}, ({x.shape[-1]},), {weight}, {bias}, {epsilon!r}")
            return None
        if rank < 2 or axes != {*range(rank - 1)} or not all(_has_channels(captures[n], x) for n in ("root", "center")):
            return "the axes are neither the last one nor all others"
        statistics = [self.producers[id(captures[name])] for name in ("mean", "variance")]
        return self._replace_batch_norm(step, tensors, _template_places(parameters), epsilon, statistics)

    def _parameters(self, vectors: Sequence[Any], x: Any) -> list[Any] | None:
        """Returns vectors for the last axis of `x` before they were reshaped, or as they are where that is not seen
        (it was done before a loop); None if one of them is none."""
        if not all(v is None or _has_channels(v, x) for v in vectors):
            return None
        before = [None if v is None else self.before_views(v) for v in vectors]
        return [v if u is None or u.shape.rank != 1 else u for v, u in zip(vectors, before, strict=True)]

    def _replace_batch_norm(
        self, step: Step, operands: list[Any], places: Sequence[str], epsilon: float, statistics: Sequence[Step]
    ) -> str | None:
        """Replaces the statistics of a batch normalization and its last sum.

        Autograd does not follow the statistics. They stay if the program uses them for more than the module's hidden
        updates, such as moving averages.
        """
        steps, (mean, variance) = self.program.steps, statistics
        place = next(i for i, s in enumerate(steps) if s is mean)
        before = {id(t) for s in steps[:place] for t in s.outputs}
        if any(id(t) in self.producers and id(t) not in before for t in operands):
            return "the mean is computed before the parameters"
        weight, bias = places
        call = f"{{kernel}}({{0}}, {weight}, {bias}, {epsilon!r})"
        op = GraphOp("batch_norm", batch_norm, template=call, gives_tuple=True)
        outputs = [step.outputs[0], *mean.outputs, *variance.outputs]
        new = Step(op, operands, outputs, [*mean.origins, *variance.origins, *step.origins])
        rest = [s for s in steps if s is not step]
        followed = {id(t) for t in self.program.outputs}
        for s in reversed(rest):
            is_followed = (s.must_run and not is_change(s)) or any(id(t) in followed for t in s.outputs)
            if s not in statistics and is_followed:
                followed.update(id(t) for t in s.inputs)
        if any(id(t) in followed for s in statistics for t in s.outputs):
            return "the statistics are used elsewhere"
        self.program.steps = [new if s is mean else s for s in rest if s is not variance]
        return None


def _template_places(tensors: Sequence[Any]) -> list[str]:
    """Returns how a template names tensors behind the first one, of which some are missing."""
    count = itertools.count(1)
    return ["None" if t is None else f"{{{next(count)}}}" for t in tensors]


def _has_channels(tensor: Any, x: Any) -> bool:
    """Returns True if a tensor has one number for each channel of `x`, and their product has the shape of `x`.

    The channels are the last dimension. The tensor is a vector, possibly with leading dimensions of 1. Layers with an
    `axis` argument create these dimensions.
    """
    rank, channels = tensor.shape.rank, x.shape[-1]
    if not rank or channels is None or rank > x.shape.rank:
        return False
    return tensor.shape.as_list() == [1] * (rank - 1) + [channels]
