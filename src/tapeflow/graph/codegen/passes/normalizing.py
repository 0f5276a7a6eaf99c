"""Batch normalization in training: statistics and normalization in one kernel of ATen, and the gradient in another.

Layers spell it with small ops, each of which is a pass over memory. The forward pattern, for `x` with channels last,
over all other axes, is

    mean = Mean(x);  variance = Mean(SquaredDifference(x, mean))
    factor = Rsqrt(variance + epsilon) * scale
    result = x * factor + (offset - mean * factor)

in which `scale` and `offset` may be missing. Of the gradient, the sum of three terms is replaced,

    dy * factor  +  dvariance * 2 * (x - mean) / n  +  dmean / n

with the gradients of `scale` and `offset`, if `dvariance` and `dmean` follow from `dy` as for this pattern. (Ioffe &
Szegedy, Batch Normalization, 2015, algorithm 1 and section 3.) As with `fusing.py`, last bits may differ from eager
ones.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import torch

from tapeflow.core.ops.definition import ops
from tapeflow.core.types.dtypes import float32, float64
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.codegen.producers import Producers, is_vector, other_operand
from tapeflow.graph.codegen.program import Program, Step, substituted
from tapeflow.graph.ir.operation import GraphOp


def normalize(program: Program) -> None:
    """Replaces batch normalizations and their gradients."""
    if any(step.op is ops.Rsqrt.op for step in program.steps):
        steps = Steps(program)
        patterns = [p for step in program.steps if (p := _forward(steps, step)) is not None]
        for pattern in patterns:
            _replace_gradient(steps, pattern)
            _replace_forward(steps, pattern)
        program.steps = steps.remaining()


class _Pattern(NamedTuple):
    """A batch normalization in training.

    Attributes:
        x: what is normalized.
        mean, squares, variance: the steps that compute the statistics.
        epsilon: the summand of the variance.
        center: the mean as it is subtracted: of the form of the factor.
        root: the reciprocal of the standard deviation.
        factor: what `x` is multiplied by.
        scale, offset: the parameters, or None.
        scaled, result: the steps that compute `x * factor` and the result.
    """

    x: SymbolicTensor
    mean: Step
    squares: Step
    variance: Step
    epsilon: float
    center: SymbolicTensor
    root: SymbolicTensor
    factor: SymbolicTensor
    scale: SymbolicTensor | None
    offset: SymbolicTensor | None
    scaled: Step
    result: Step


class Steps(Producers):
    """The steps of a program, by what they compute and by what they take; some of them are replaced."""

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self.places = {id(step): i for i, step in enumerate(program.steps)}
        self._users: dict[int, list[Step | None]] = {}  # those that take more than the shape; None for an output
        for step in program.steps:
            for t in () if step.op.reads_shape else step.inputs[:1] if step.op is ops.SumToShape.op else step.inputs:
                self._users.setdefault(id(t), []).append(step)
        for t in program.outputs:
            self._users.setdefault(id(t), []).append(None)
        self._before: dict[int, list[Step]] = {}  # new steps, by the ids of the steps in whose places they are
        self._gone: set[int] = set()
        self._alike: dict[int, SymbolicTensor] = {}  # tensors of the shape of those that are gone, by the ids of these

    def users(self, tensor: Any, op: Any) -> Iterator[Step]:
        """Yields the steps of an op that take a tensor."""
        users = self._users.get(id(tensor), ())
        return (step for step in users if step is not None and step.op is op.op and not step.placed)

    def user(self, tensor: Any, op: Any) -> Step | None:
        """Returns the step that takes a tensor, if it is the only one and of this op."""
        return next(self.users(tensor, op), None) if len(self._users.get(id(tensor), ())) == 1 else None

    def reshaped(self, tensor: Any) -> Any:
        """Returns a tensor after the reshapes that alone take it."""
        step = self.user(tensor, ops.Reshape)
        return tensor if step is None else self.reshaped(step.outputs[0])

    def shared_out(self, tensor: Any, is_count: Callable[[Any], bool]) -> Any:
        """Returns a sum as a step divides it by the number of its terms and one broadcasts it, or None."""
        divided = self.user(self.reshaped(tensor), ops.RealDiv)
        broadcast = None if divided is None else self.user(divided.outputs[0], ops.BroadcastTo)
        if divided is None or broadcast is None or not is_count(divided.args[1]):
            return None
        return broadcast.outputs[0]

    def through_variance(self, of_root: Step, x: Any, mean: Any, is_count: Callable[[Any], bool]) -> Any:
        """Returns `dvariance * 2 * (x - mean) / n`, which follows from the gradient of the reciprocal root; or None."""
        of_variance = self.shared_out(of_root.outputs[0], is_count)
        twice = None if of_variance is None else self.user(of_variance, ops.Mul)
        term = None if twice is None else self.user(twice.outputs[0], ops.Mul)
        if twice is None or term is None or self.number(other_operand(twice, of_variance)) != 2.0:
            return None
        deviation = self.of(other_operand(term, twice.outputs[0]), ops.Sub)
        is_of_x = deviation is not None and deviation.args[0] is x and deviation.args[1] is mean
        return term.outputs[0] if is_of_x else None

    def whole(self, tensor: Any, *likes: Any) -> Any:
        """Returns a tensor before it was summed to the shape of one of others, all of which have one shape: it has that
        already, which is not static."""
        step = self.of(tensor, ops.SumToShape)
        return tensor if step is None or not any(step.args[1] is like for like in likes) else step.args[0]

    def is_gone(self, step: Step) -> bool:
        """Tests whether a step was replaced."""
        return id(step) in self._gone

    def place_of(self, tensor: Any) -> int:
        """Returns the place of the step that computes a tensor; -1 for an input or a constant."""
        step = self.producers.get(id(tensor))
        return -1 if step is None else self.places[id(step)]

    def replace(self, at: Step, new: Sequence[Step], gone: Sequence[Step], alike: SymbolicTensor | None = None) -> None:
        """Puts new steps in the place of one.

        Args:
            at: the step in whose place they are.
            new: the new steps.
            gone: the steps whose results they compute, or of whose results others take the shape at most.
            alike: has the shape of the latter.
        """
        self._before.setdefault(id(at), []).extend(new)
        self._gone.update(id(step) for step in gone)
        computed = {id(t) for step in new for t in step.outputs}
        if alike is not None:
            self._alike |= {id(t): alike for step in gone for t in step.outputs if id(t) not in computed}

    def add_others(self, last: Step, results: Sequence[Any], others: Sequence[Any]) -> None:
        """Puts sums in the place of a step: each result but the first is the one before, with another summand."""
        for summand, before, after in zip(others, results, results[1:], strict=False):
            self.replace(last, [Step(ops.AddV2.op, [before, summand], [after], last.origins)], [])

    def remaining(self) -> list[Step]:
        """Returns the steps, with the new ones."""
        steps: list[Step] = []
        for step in self.program.steps:
            steps += self._before.get(id(step), ())
            if id(step) not in self._gone:
                step.args = substituted(step.args, self._alike)
                steps.append(step)
        return steps


# ---- the forward pattern ---------------------------------------------------------------------------------------------


def _forward(steps: Steps, root: Step) -> _Pattern | None:
    """Returns the batch normalization whose reciprocal root a step computes, or None."""
    if root.op is not ops.Rsqrt.op or root.placed or root.outputs[0].dtype not in (float32, float64):
        return None
    shifted = steps.of(root.args[0], ops.AddV2)
    if shifted is None:
        return None
    flat, epsilon = shifted.args[0], steps.number(shifted.args[1])
    variance = steps.of(steps.unshaped(flat), ops.Mean)
    squares = None if variance is None else steps.of(variance.args[0], ops.SquaredDifference)
    mean = None if squares is None else steps.of(squares.args[1], ops.Mean)
    if epsilon is None or variance is None or squares is None or mean is None or mean.args[0] is not squares.args[0]:
        return None
    x = mean.args[0]
    rank = x.shape.rank
    if rank is None or rank < 2 or not all(r.args[2] and _is_over_others(r, x) for r in (mean, variance)):
        return None
    if not is_vector(root.outputs[0], x):
        return None
    for factor, scale in _factors(steps, root.outputs[0], x):
        for scaled in steps.users(x, ops.Mul):
            if other_operand(scaled, x) is not factor:
                continue
            shift = _shift(steps, scaled, mean.outputs[0], factor)
            if shift is not None:
                center, offset, result = shift
                return _Pattern(
                    x, mean, squares, variance, epsilon, center, root.outputs[0], factor, scale, offset, scaled,
                    result,
                )  # fmt: skip
    return None


def _factors(steps: Steps, root: Any, x: Any) -> Iterator[tuple[Any, Any]]:
    """Yields what may be the factor of `x`, and the scale in it."""
    yield root, None
    for product in steps.users(root, ops.Mul):
        scale = other_operand(product, root)
        if is_vector(scale, x):
            yield product.outputs[0], scale


def _is_over_others(reduction: Step, x: Any) -> bool:
    """Tests whether a step reduces all axes of `x` but the channels."""
    axes = reduction.args[1]  # a tensor in graphs that were imported
    return type(axes) in (int, tuple) and ((axes,) if type(axes) is int else axes) == tuple(range(x.shape.rank - 1))


def _shift(
    steps: Steps, scaled: Step, mean: Any, factor: Any
) -> tuple[SymbolicTensor, SymbolicTensor | None, Step] | None:
    """Returns the mean, the offset and the last step of a normalization, if this is how the scaled `x` goes on."""
    result = steps.user(scaled.outputs[0], ops.AddV2)
    if result is None:
        return None
    shift = other_operand(result, scaled.outputs[0])
    difference = steps.of(shift, ops.Sub)
    product = steps.of(shift if difference is None else difference.args[1], ops.Mul)
    if product is None or not any(t is factor for t in product.args):
        return None
    center = other_operand(product, factor)
    negative = steps.of(center, ops.Neg) if difference is None else None
    if difference is None:
        if negative is None:
            return None
        center = negative.args[0]
    offset = None if difference is None else difference.args[0]
    vectors = (center,) if offset is None else (center, offset)
    if steps.unshaped(center) is not mean or not all(is_vector(v, scaled.outputs[0]) for v in vectors):
        return None
    return center, offset, result


def _replace_forward(steps: Steps, pattern: _Pattern) -> None:
    """Replaces the statistics and the normalization, if the parameters are there before these."""
    mean, result = pattern.mean, pattern.result
    tensors = [pattern.x, *(steps.unshaped(t) for t in (pattern.scale, pattern.offset) if t is not None)]
    if any(steps.place_of(t) > steps.places[id(mean)] for t in tensors):
        return
    if steps.user(pattern.squares.outputs[0], ops.Mean) is None:
        return
    kernel = functools.partial(_normalized, pattern.scale is not None, pattern.offset is not None, pattern.epsilon)
    outputs = [result.outputs[0], mean.outputs[0], pattern.variance.outputs[0]]
    op = GraphOp("BatchNormalization", kernel, gives_tuple=True)
    op.allocates = True
    gone = [mean, pattern.squares, pattern.variance, pattern.scaled, result]
    steps.replace(mean, [Step(op, tensors, outputs, [step.origins[-1] for step in gone])], gone, pattern.x)


def _normalized(
    has_scale: bool, has_offset: bool, epsilon: float, x: torch.Tensor, *parameters: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Returns the result, the mean and the variance."""
    rest = iter([p.reshape(-1) for p in parameters])
    scale, offset = next(rest) if has_scale else None, next(rest) if has_offset else None
    count, channels = x.numel() // max(x.shape[-1], 1), x.shape[-1]
    if count < 2:  # of which the kernel has no variance
        axes = tuple(range(x.dim() - 1))
        center = x.mean(axes, True)
        spread = (x - center).square_().mean(axes, True)
        result = (x - center) * torch.rsqrt(spread + epsilon) * (1.0 if scale is None else scale)
        return result if offset is None else result + offset, center, spread
    shape = [1] * (x.dim() - 1) + [channels]
    mean, variance = x.new_zeros(channels), x.new_zeros(channels)
    result, *_ = torch.native_batch_norm(_image(x), scale, offset, mean, variance, True, 1.0, epsilon)
    # The kernel's is the unbiased one.
    return _from_image(result, x), mean.view(shape), variance.mul_((count - 1) / count).view(shape)


def _image(x: torch.Tensor) -> torch.Tensor:
    """Returns a view of a tensor as images, in the layout for which the kernels have channels last in memory."""
    channels = x.shape[-1]
    x, batch = x.contiguous(), x.shape[0] if x.dim() > 2 else 1  # with gaps, the kernels take ten times as long
    images = x if x.dim() == 4 else x.reshape(batch, math.prod(x.shape[:-1]) // max(batch, 1), 1, channels)
    return images.permute(0, 3, 1, 2)


def _from_image(image: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    return image.permute(0, 2, 3, 1).reshape(like.shape)


# ---- the gradient ----------------------------------------------------------------------------------------------------


class _Gradient(NamedTuple):
    """The gradient of a batch normalization.

    Attributes:
        dy: the cotangent of the result.
        offset: the step that computes the gradient of the offset, the sum of `dy`.
        scale: the step that computes that of the scale, if there is one.
        sum: the steps that add up that of `x`.
        term: a summand that is as large as `x`, and has no other use.
        rest: the summands that are not of the normalization, such as that of a connection past it.
    """

    dy: SymbolicTensor
    offset: Step
    scale: Step | None
    sum: list[Step]
    term: SymbolicTensor
    rest: list[SymbolicTensor]


def _replace_gradient(steps: Steps, pattern: _Pattern) -> None:
    """Replaces the gradients of a batch normalization, where they are computed."""
    for of_root in steps.users(pattern.root, ops.RsqrtGrad):
        gradient = _gradient(steps, pattern, of_root) if of_root.args[0] is pattern.root else None
        if gradient is None:
            continue
        *adds, last = gradient.sum
        of_x = steps.producers[id(gradient.term)] if gradient.rest else last
        # The sum of dy may be that of another normalization too, to which this one's result is added.
        parts = (of_x, gradient.scale, None if steps.is_gone(gradient.offset) else gradient.offset)
        own = [step for step in parts if step is not None]
        at = min(own, key=lambda step: steps.places[id(step)])
        tensors = [gradient.dy, pattern.x, pattern.center, pattern.root]
        tensors += [] if pattern.scale is None else [pattern.scale]
        late = any(steps.place_of(t) > steps.places[id(at)] for t in tensors)
        if late or any(steps.is_gone(step) for step in gradient.sum):  # `x` is normalized twice
            continue
        kernel = functools.partial(_gradients, [step is not None for step in parts])
        op = GraphOp("BatchNormalizationGrad", kernel, gives_tuple=True)
        op.allocates = True
        outputs = [step.outputs[0] for step in own]
        steps.replace(at, [Step(op, tensors, outputs, [step.origins[-1] for step in own])], [*own, *gradient.sum])
        partial = [step.outputs[0] for step in adds][: len(gradient.rest) - 1]
        steps.add_others(last, [outputs[0], *partial, last.outputs[0]], gradient.rest)


def _gradient(steps: Steps, pattern: _Pattern, of_root: Step) -> _Gradient | None:
    """Returns the gradient of which a step computes the part that the reciprocal root has."""
    x, factor, scaled = pattern.x, pattern.factor, pattern.scaled.outputs[0]
    is_count = functools.partial(_is_count, steps, pattern)
    term = steps.through_variance(of_root, x, pattern.mean.outputs[0], is_count)
    if term is None:
        return None
    summed = steps.user(term, ops.SumToShape)
    own = term if summed is None or summed.args[1] is not x else summed.outputs[0]
    adds, summands = _sum(steps, own)
    for direct, of_mean in itertools.permutations(summands, 2):
        product = steps.of(steps.whole(direct, x), ops.Mul)
        if product is None or not any(t is factor for t in product.args):
            continue
        dy = steps.whole(other_operand(product, factor), scaled)
        total = next((s for s in steps.users(dy, ops.Sum) if _is_over_others(s, x) and not s.args[2]), None)
        if total is None or not _is_of_mean(steps, pattern, of_mean, total.outputs[0]):
            continue
        weighted = _weighted(steps, pattern, of_root.args[1], dy, total.outputs[0])
        if weighted is not None:
            products = () if pattern.scale is None else steps.users(weighted, ops.Mul)
            scale = next((s for s in products if other_operand(s, weighted) is pattern.root), None)
            rest = [t for t in summands if t is not direct and t is not of_mean]
            return _Gradient(dy, total, scale, adds, own, rest)
    return None


def _is_count(steps: Steps, pattern: _Pattern, tensor: Any) -> bool:
    """Tests whether a tensor is the number of elements of a channel: a constant, or from the size of `x`."""
    number = steps.number(tensor)
    *dims, channels = pattern.x.shape.as_list()
    if number is not None:
        return None not in dims and number == math.prod(dims)
    cast = steps.of(tensor, ops.Cast)
    quotient = None if cast is None else steps.of(cast.args[0], ops.FloorDiv)
    size = None if quotient is None else steps.of(quotient.args[0], ops.Size)
    if quotient is None or size is None or steps.number(quotient.args[1]) != channels:
        return False
    return size.args[0] is pattern.x or size.args[0] is pattern.squares.outputs[0]


def _sum(steps: Steps, tensor: Any) -> tuple[list[Step], list[Any]]:
    """Returns the steps that add others to a tensor, and these others."""
    adds: list[Step] = []
    summands: list[Any] = []
    while (step := steps.user(tensor, ops.AddV2)) is not None:
        inner, more = _summands(steps, other_operand(step, tensor), step)
        adds += [*inner, step]
        summands += more
        tensor = step.outputs[0]
    return adds, summands


def _summands(steps: Steps, tensor: Any, user: Step) -> tuple[list[Step], list[Any]]:
    """Returns the steps that compute a tensor as a sum for one step alone, and the summands."""
    step = steps.of(tensor, ops.AddV2)
    if step is None or steps.user(tensor, ops.AddV2) is not user:
        return [], [tensor]
    parts = [_summands(steps, t, step) for t in step.args]
    return [*(s for adds, _ in parts for s in adds), step], [t for _, summands in parts for t in summands]


def _is_of_mean(steps: Steps, pattern: _Pattern, tensor: Any, total: Any) -> bool:
    """Tests whether a summand is what the gradient of the mean contributes: -total * factor / n, broadcast."""
    broadcast = steps.of(tensor, ops.BroadcastTo)
    divided = None if broadcast is None else steps.of(broadcast.args[0], ops.RealDiv)
    if divided is None or not _is_count(steps, pattern, divided.args[1]):
        return False
    return _is_negative_product(steps, steps.unshaped(divided.args[0]), total, pattern.factor)


def _is_negative_product(steps: Steps, tensor: Any, a: Any, b: Any) -> bool:
    """Tests whether a tensor is `-(a * b)`, wherever the sign and reshapes stand."""
    outer = steps.of(tensor, ops.Neg)
    product = steps.of(tensor if outer is None else outer.args[0], ops.Mul)
    if product is None:
        return False
    signs = outer is not None
    operands = []
    for operand in product.args:
        inner = steps.of(operand, ops.Neg)
        signs ^= inner is not None
        operands.append(operand if inner is None else inner.args[0])
    return signs and {id(steps.unshaped(o)) for o in operands} == {id(steps.unshaped(a)), id(steps.unshaped(b))}


def _weighted(steps: Steps, pattern: _Pattern, tensor: Any, dy: Any, total: Any) -> Any:
    """Returns the gradient of the factor, the sum of `dy * (x - mean)`, if that of the root follows from it."""
    if pattern.scale is not None:
        product = steps.of(tensor, ops.Mul)
        if product is None or not any(t is pattern.scale for t in product.args):
            return None
        tensor = other_operand(product, pattern.scale)
    both = steps.of(tensor, ops.AddV2)
    for first, second in () if both is None else (both.args, both.args[::-1]):
        summed = steps.of(steps.unshaped(first), ops.Sum)
        product = None if summed is None else steps.of(summed.args[0], ops.Mul)
        if summed is None or product is None or not _is_over_others(summed, pattern.x) or summed.args[2]:
            continue
        if {id(steps.whole(t, pattern.scaled.outputs[0])) for t in product.args} == {id(dy), id(pattern.x)}:
            return tensor if _is_negative_product(steps, second, total, pattern.center) else None
    return None


def _gradients(
    wanted: list[bool],
    dy: torch.Tensor,
    x: torch.Tensor,
    mean: torch.Tensor,
    root: torch.Tensor,
    scale: torch.Tensor | None = None,
) -> tuple[torch.Tensor, ...]:
    """Returns those of the gradients of `x`, of the scale and of the offset that are wanted."""
    if not x.numel():
        of_offset = torch.zeros_like(mean).reshape(-1)
        return tuple(itertools.compress((torch.zeros_like(x), mean * 0, of_offset), wanted))  # the mean is NaN
    weight, vectors = None if scale is None else scale.reshape(-1), (mean.reshape(-1), root.reshape(-1))
    of_x, of_scale, of_offset = torch.ops.aten.native_batch_norm_backward(
        _image(dy), _image(x), weight, None, None, *vectors, True, 0.0, wanted
    )
    of_scale = of_scale.view(root.shape) if wanted[1] else of_scale
    return tuple(itertools.compress((_from_image(of_x, x), of_scale, of_offset), wanted))
