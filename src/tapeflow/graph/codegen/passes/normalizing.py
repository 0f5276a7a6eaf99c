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
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import torch

from tapeflow.core.ops.definition import ops
from tapeflow.core.types.dtypes import float32, float64
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.codegen.program import Program, Step, substituted
from tapeflow.graph.ir.operation import GraphOp


def normalize(program: Program) -> None:
    """Replaces batch normalizations and their gradients."""
    if any(step.op is ops.Rsqrt.op for step in program.steps):
        steps = _Steps(program)
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
        flat_mean: the mean as a vector.
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
    flat_mean: SymbolicTensor
    root: SymbolicTensor
    factor: SymbolicTensor
    scale: SymbolicTensor | None
    offset: SymbolicTensor | None
    scaled: Step
    result: Step


class _Steps:
    """The steps of a program, by what they compute and by what they take; some of them are replaced."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self.places = {id(step): i for i, step in enumerate(program.steps)}
        self.producers = {id(t): step for step in program.steps for t in step.outputs}
        self._users: dict[int, list[Step | None]] = {}  # those that take more than the shape; None for an output
        for step in program.steps:
            for t in () if step.op.reads_shape else step.inputs[:1] if step.op is ops.SumToShape.op else step.inputs:
                self._users.setdefault(id(t), []).append(step)
        for t in program.outputs:
            self._users.setdefault(id(t), []).append(None)
        self._before: dict[int, Step] = {}  # new steps, by the ids of the steps in whose places they are
        self._gone: set[int] = set()
        self._alike: dict[int, SymbolicTensor] = {}  # tensors of the shape of those that are gone, by the ids of these

    def of(self, tensor: Any, op: Any) -> Step | None:
        """Returns the step that computes a tensor, if it is of this op."""
        step = self.producers.get(id(tensor))
        return step if step is not None and step.op is op.op and not step.placed else None

    def users(self, tensor: Any, op: Any) -> Iterator[Step]:
        """Yields the steps of an op that take a tensor."""
        users = self._users.get(id(tensor), ())
        return (step for step in users if step is not None and step.op is op.op and not step.placed)

    def user(self, tensor: Any, op: Any) -> Step | None:
        """Returns the step that takes a tensor, if it is the only one and of this op."""
        return next(self.users(tensor, op), None) if len(self._users.get(id(tensor), ())) == 1 else None

    def number(self, tensor: Any) -> float | None:
        """Returns the value of a constant scalar, or None."""
        value = self._program.constant(tensor)
        return float(value) if isinstance(value, torch.Tensor) and value.numel() == 1 else None

    def unshaped(self, tensor: Any) -> Any:
        """Returns a tensor before reshapes."""
        step = self.of(tensor, ops.Squeeze) or self.of(tensor, ops.Reshape)
        return tensor if step is None else self.unshaped(step.args[0])

    def whole(self, tensor: Any, *likes: Any) -> Any:
        """Returns a tensor before it was summed to the shape of one of others, all of which have one shape: it has that
        already, which is not static."""
        step = self.of(tensor, ops.SumToShape)
        return tensor if step is None or not any(step.args[1] is like for like in likes) else step.args[0]

    def place_of(self, tensor: Any) -> int:
        """Returns the place of the step that computes a tensor; -1 for an input or a constant."""
        step = self.producers.get(id(tensor))
        return -1 if step is None else self.places[id(step)]

    def replace(self, at: Step, new: Step, gone: Sequence[Step], alike: SymbolicTensor | None = None) -> None:
        """Puts a new step in the place of one.

        Args:
            at: the step in whose place it is.
            new: the new step.
            gone: the steps whose results it computes, or of whose results others take the shape at most.
            alike: has the shape of the latter.
        """
        self._before[id(at)] = new
        self._gone.update(id(step) for step in gone)
        computed = {id(t) for t in new.outputs}
        if alike is not None:
            self._alike |= {id(t): alike for step in gone for t in step.outputs if id(t) not in computed}

    def remaining(self) -> list[Step]:
        """Returns the steps, with the new ones."""
        steps = []
        for step in self._program.steps:
            if id(step) in self._before:
                steps.append(self._before[id(step)])
            if id(step) not in self._gone:
                step.args = substituted(step.args, self._alike)
                steps.append(step)
        return steps


def _other(step: Step, tensor: Any) -> Any:
    """Returns the other operand of a step of two."""
    return step.args[1] if step.args[0] is tensor else step.args[0]


# ---- the forward pattern ---------------------------------------------------------------------------------------------


def _forward(steps: _Steps, root: Step) -> _Pattern | None:
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
    if (
        rank is None
        or rank < 2
        or mean.args[1:] != variance.args[1:]
        or mean.args[1:] != [tuple(range(rank - 1)), True]
    ):
        return None
    if not _is_vector(root.outputs[0], x):
        return None
    for factor, scale in _factors(steps, root.outputs[0], x):
        means = list(_vectors(steps, mean.outputs[0]))
        for scaled in steps.users(x, ops.Mul):
            if _other(scaled, x) is not factor:
                continue
            found = _shift(steps, scaled, means, factor)
            if found is not None:
                flat_mean, offset, result = found
                return _Pattern(
                    x, mean, squares, variance, epsilon, flat_mean, root.outputs[0], factor, scale, offset, scaled,
                    result,
                )  # fmt: skip
    return None


def _factors(steps: _Steps, root: Any, x: Any) -> Iterator[tuple[Any, Any]]:
    """Yields what may be the factor of `x`, and the scale in it."""
    yield root, None
    for product in steps.users(root, ops.Mul):
        scale = _other(product, root)
        if _is_vector(scale, x):
            yield product.outputs[0], scale


def _is_over_others(reduction: Step, x: Any) -> bool:
    """Tests whether a step reduces all axes of `x` but the channels."""
    axes = reduction.args[1]
    return ((axes,) if isinstance(axes, int) else axes) == tuple(range(x.shape.rank - 1))


def _is_vector(tensor: Any, x: Any) -> bool:
    """Tests whether a tensor has one number for each channel of `x`, so that their product has the shape of `x`."""
    return tensor.shape.rank == 1 and x.shape[-1] is not None and tensor.shape[0] == x.shape[-1]


def _vectors(steps: _Steps, tensor: Any) -> Iterator[Any]:
    """Yields the tensors of one dimension that have the elements of another."""
    for reshape in (ops.Squeeze, ops.Reshape):
        for step in steps.users(tensor, reshape):
            if step.outputs[0].shape.rank == 1:
                yield step.outputs[0]


def _shift(
    steps: _Steps, scaled: Step, means: Sequence[Any], factor: Any
) -> tuple[SymbolicTensor, SymbolicTensor | None, Step] | None:
    """Returns the mean, the offset and the last step of a normalization, if this is how the scaled `x` goes on."""
    result = steps.user(scaled.outputs[0], ops.AddV2)
    if result is None:
        return None
    shift = _other(result, scaled.outputs[0])
    difference = steps.of(shift, ops.Sub)
    product = steps.of(shift if difference is None else difference.args[1], ops.Mul)
    if product is None or not any(t is factor for t in product.args):
        return None
    center = _other(product, factor)
    negative = steps.of(center, ops.Neg) if difference is None else None
    if difference is None:
        if negative is None:
            return None
        center = negative.args[0]
    offset = None if difference is None else difference.args[0]
    if not any(center is mean for mean in means) or not (offset is None or _is_vector(offset, scaled.outputs[0])):
        return None
    return center, offset, result


def _replace_forward(steps: _Steps, pattern: _Pattern) -> None:
    """Replaces the statistics and the normalization, if the parameters are there before these."""
    mean, result = pattern.mean, pattern.result
    tensors = [t for t in (pattern.x, pattern.scale, pattern.offset) if t is not None]
    if any(steps.place_of(t) > steps.places[id(mean)] for t in tensors):
        return
    if steps.user(pattern.squares.outputs[0], ops.Mean) is None:
        return
    kernel = functools.partial(_normalized, pattern.scale is not None, pattern.offset is not None, pattern.epsilon)
    outputs = [result.outputs[0], mean.outputs[0], pattern.variance.outputs[0]]
    op = GraphOp("BatchNormalization", kernel, gives_tuple=True)
    gone = [mean, pattern.squares, pattern.variance, pattern.scaled, result]
    steps.replace(mean, Step(op, tensors, outputs, [step.origins[-1] for step in gone]), gone, pattern.x)


def _normalized(
    has_scale: bool, has_offset: bool, epsilon: float, x: torch.Tensor, *parameters: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Returns the result, the mean and the variance."""
    rest = iter(parameters)
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
    batch = x.shape[0] if x.dim() > 2 else 1
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
        last: the step that computes that of `x`.
    """

    dy: SymbolicTensor
    offset: Step
    scale: Step | None
    last: Step


def _replace_gradient(steps: _Steps, pattern: _Pattern) -> None:
    """Replaces the gradients of a batch normalization, where they are computed."""
    for of_root in steps.users(pattern.root, ops.RsqrtGrad):
        gradient = _gradient(steps, pattern, of_root) if of_root.args[0] is pattern.root else None
        if gradient is None:
            continue
        at = gradient.offset
        tensors = [gradient.dy, pattern.x, pattern.flat_mean, pattern.root]
        tensors += [] if pattern.scale is None else [pattern.scale]
        if any(steps.place_of(t) > steps.places[id(at)] for t in tensors):
            continue
        own = [step for step in (gradient.last, gradient.offset, gradient.scale) if step is not None]
        op = GraphOp(
            "BatchNormalizationGrad", functools.partial(_gradients, gradient.scale is not None), gives_tuple=True
        )
        outputs = [step.outputs[0] for step in own]
        steps.replace(at, Step(op, tensors, outputs, [step.origins[-1] for step in own]), own)


def _gradient(steps: _Steps, pattern: _Pattern, of_root: Step) -> _Gradient | None:
    """Returns the gradient of which a step computes the part that the reciprocal root has."""
    x, factor, scaled = pattern.x, pattern.factor, pattern.scaled.outputs[0]
    of_variance = _over_count(steps, of_root.outputs[0], pattern)
    twice = None if of_variance is None else steps.user(of_variance, ops.Mul)
    term = None if twice is None else steps.user(twice.outputs[0], ops.Mul)
    if twice is None or term is None or steps.number(_other(twice, of_variance)) != 2.0:
        return None
    deviation = steps.of(_other(term, twice.outputs[0]), ops.Sub)
    if deviation is None or deviation.args[0] is not x or deviation.args[1] is not pattern.mean.outputs[0]:
        return None
    summed = steps.user(term.outputs[0], ops.SumToShape)
    last, summands = _sum(steps, term.outputs[0] if summed is None or summed.args[1] is not x else summed.outputs[0])
    if last is None or len(summands) != 2:
        return None
    for direct, of_mean in (summands, summands[::-1]):
        product = steps.of(steps.whole(direct, x), ops.Mul)
        if product is None or not any(t is factor for t in product.args):
            continue
        dy = steps.whole(_other(product, factor), scaled)
        total = next((s for s in steps.users(dy, ops.Sum) if _is_over_others(s, x) and not s.args[2]), None)
        if total is None or not _is_of_mean(steps, pattern, of_mean, total.outputs[0]):
            continue
        weighted = _weighted(steps, pattern, of_root.args[1], dy, total.outputs[0])
        if weighted is not None:
            scale = next((s for s in steps.users(weighted, ops.Mul) if _other(s, weighted) is pattern.root), None)
            return _Gradient(dy, total, None if pattern.scale is None else scale, last)
    return None


def _over_count(steps: _Steps, tensor: Any, pattern: _Pattern) -> Any:
    """Returns a vector as a step divides it by the number of elements of a channel and broadcasts it, or None."""
    reshaped = steps.user(tensor, ops.Reshape)
    divided = None if reshaped is None else steps.user(reshaped.outputs[0], ops.RealDiv)
    broadcast = None if divided is None else steps.user(divided.outputs[0], ops.BroadcastTo)
    if divided is None or broadcast is None or not _is_count(steps, divided.args[1], pattern):
        return None
    return broadcast.outputs[0]


def _is_count(steps: _Steps, tensor: Any, pattern: _Pattern) -> bool:
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


def _sum(steps: _Steps, tensor: Any) -> tuple[Step | None, list[Any]]:
    """Returns the last step of a sum of three, and the two other summands."""
    summands: list[Any] = []
    last = None
    while len(summands) < 2:
        step = steps.user(tensor, ops.AddV2)
        if step is None:
            break
        last = step
        other = _other(step, tensor)
        inner = steps.of(other, ops.AddV2) if not summands else None
        if inner is not None and steps.user(inner.outputs[0], ops.AddV2) is step:
            summands += inner.args
        else:
            summands.append(other)
        tensor = step.outputs[0]
    return last, summands


def _is_of_mean(steps: _Steps, pattern: _Pattern, tensor: Any, total: Any) -> bool:
    """Tests whether a summand is what the gradient of the mean contributes: -total * factor / n, broadcast."""
    broadcast = steps.of(tensor, ops.BroadcastTo)
    divided = None if broadcast is None else steps.of(broadcast.args[0], ops.RealDiv)
    if divided is None or not _is_count(steps, divided.args[1], pattern):
        return False
    return _is_negative_product(steps, steps.unshaped(divided.args[0]), total, pattern.factor)


def _is_negative_product(steps: _Steps, tensor: Any, a: Any, b: Any) -> bool:
    """Tests whether a tensor is `-(a * b)`, wherever the sign stands."""
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
    return signs and {id(o) for o in operands} == {id(a), id(b)}


def _weighted(steps: _Steps, pattern: _Pattern, tensor: Any, dy: Any, total: Any) -> Any:
    """Returns the gradient of the factor, the sum of `dy * (x - mean)`, if that of the root follows from it."""
    if pattern.scale is not None:
        product = steps.of(tensor, ops.Mul)
        if product is None or not any(t is pattern.scale for t in product.args):
            return None
        tensor = _other(product, pattern.scale)
    both = steps.of(tensor, ops.AddV2)
    for first, second in () if both is None else (both.args, both.args[::-1]):
        summed = steps.of(first, ops.Sum)
        product = None if summed is None else steps.of(summed.args[0], ops.Mul)
        if summed is None or product is None or not _is_over_others(summed, pattern.x) or summed.args[2]:
            continue
        if {id(steps.whole(t, pattern.scaled.outputs[0])) for t in product.args} == {id(dy), id(pattern.x)}:
            return tensor if _is_negative_product(steps, second, total, pattern.flat_mean) else None
    return None


def _gradients(
    of_scale: bool, dy: torch.Tensor, x: torch.Tensor, mean: torch.Tensor, root: torch.Tensor, *scale: torch.Tensor
) -> tuple[torch.Tensor, ...]:
    """Returns the gradients of `x`, of the offset and, if wanted, of the scale."""
    if not x.numel():
        return (torch.zeros_like(x), torch.zeros_like(mean), *([mean * 0] if of_scale else []))  # the mean is NaN
    weight = scale[0] if scale else None
    dx, dscale, doffset = torch.ops.aten.native_batch_norm_backward(
        _image(dy), _image(x), weight, None, None, mean, root, True, 0.0, [True, of_scale, True]
    )
    return (_from_image(dx, x), doffset, dscale) if of_scale else (_from_image(dx, x), doffset)
