"""Batching rules: an op for all slices of a batch at once, by ops on tensors with one more dimension in front.

A batching rule, `rule(batch, *args)`, takes the arguments of an op of one slice, with `Slices` for tensors, and
returns the batch of the op's results, or `Slices` for a result that all slices share. It stands at its op:
`@f.batching`, or `batching=` in the declaration for a rule of this module, which families of ops share.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tapeflow.core.ops import shape_rules
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import Op, ops
from tapeflow.core.ops.static import numbers, partial_value, value_of
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor, Tensor


class NoRule(Exception):
    """An op can't be computed in this way with these arguments."""


class Slices(NamedTuple):
    """A tensor of a function of one slice, for all slices.

    Attributes:
        value: the batch, or the one tensor that all slices share.
        slice: the tensor of the function of one slice.
        stacked: whether `value` is a batch.
    """

    value: Any
    slice: SymbolicTensor
    stacked: bool

    @property
    def rank(self) -> int:
        """The rank of a slice.

        Raises:
            NoRule: it is unknown.
        """
        rank = self.slice.shape.rank
        if rank is None:
            raise NoRule
        return rank


def times(a: Any, b: Any) -> Any:
    """Returns the product of two numbers: ints, or scalar tensors where they are not static."""
    if isinstance(a, int) and isinstance(b, int):
        return a * b
    return ops.Mul(b, a) if isinstance(a, int) else ops.Mul(a, b)


class Batch:
    """A batch of slices, the operand of a batched op.

    Attributes:
        count: the number of slices: an int, or a scalar tensor where it is not static.
        op: the op.
        outputs: the op's outputs for one slice.
    """

    def __init__(self, count: Any, op: Any = None, outputs: Sequence[SymbolicTensor] = ()) -> None:
        value = value_of(count) if isinstance(count, SymbolicTensor) else getattr(count, "value", count)
        self.count = count if value is None else int(value)
        self.op, self.outputs = op, outputs

    def of_op(self, op: Op, outputs: Sequence[SymbolicTensor]) -> Batch:
        """Returns the same batch for another op."""
        return Batch(self.count, op, outputs)

    def of_count(self, count: Any) -> Batch:
        """Returns a batch of another number of slices for the same op."""
        return Batch(count, self.op, self.outputs)

    def run(self, *args: Any) -> Any:
        """Calls the op."""
        return self.op.run(args)

    def dims(self, x: Slices) -> list[Any]:
        """Returns the dimensions of a slice: ints, and scalar tensors for unknown ones."""
        if x.slice.shape.is_fully_defined():
            return x.slice.shape.as_list()
        if x.rank and isinstance(x.value, EagerTensor):
            return list(x.value.value.shape)[x.stacked :]
        whole = ops.Shape(x.value)
        return [whole[i + x.stacked] if d is None else d for i, d in enumerate(x.slice.shape)]

    def stack(self, x: Slices) -> Any:
        """Returns a batch, also of a tensor that all slices share."""
        return x.value if x.stacked else ops.BroadcastTo(x.value, (self.count, *self.dims(x)))

    def lift(self, x: Slices, rank: int) -> Any:
        """Returns `x` with slices of at least rank `rank`, and the same broadcasting."""
        lifted = x.value
        for _ in range(rank - x.rank if x.stacked else 0):
            lifted = ops.ExpandDims(lifted, 1)
        return lifted

    def reshape(self, value: Tensor, dims: Sequence[Any]) -> Any:
        """Returns a batch of slices of this shape."""
        return ops.Reshape(value, (self.count, *dims))

    def flat(self, x: Slices) -> Any:
        """Returns the slices, joined along their own first dimension."""
        first, *rest = self.dims(x)
        if isinstance(first, int) and isinstance(self.count, int):
            first *= self.count
        elif all(isinstance(d, int) and d for d in rest):
            first = -1  # which would be ambiguous if there were no elements in a row
        else:
            first = times(self.count, first)
        return ops.Reshape(self.stack(x), (first, *rest))

    def unflat(self, value: Any, slice: SymbolicTensor, like: Slices) -> Any:
        """Undoes `flat`: returns slices with the shape of `slice`, as many as `like` has."""
        if slice.shape.rank is None:
            first = ops.Pack([convert(self.count), convert(self.dims(like)[0])], 0)
            return ops.Reshape(value, ops.ConcatV2([first, ops.Shape(value)[1:]], 0))
        rest = slice.shape.as_list()[1:]
        if None in rest:
            whole = ops.Shape(value)
            rest = [whole[i] if d is None else d for i, d in enumerate(rest, 1)]
        return self.reshape(value, [self.dims(like)[0], *rest])


Rule = Callable[..., Any]


# ---- arguments that are numbers --------------------------------------------------------------------------------------


def static(arg: Slices | int | tuple[int, ...] | None) -> Any:
    """Returns the static value of a host argument.

    Raises:
        NoRule: it is not static, or each slice has its own.
    """
    if not isinstance(arg, Slices):
        return arg
    value = None if arg.stacked else value_of(arg.slice)
    if value is None and not arg.stacked and isinstance(arg.value, EagerTensor):
        value = arg.value.value
    if value is None:
        raise NoRule
    return numbers(value)


def vector(arg: Slices | tuple[int, ...]) -> list[Any]:
    """Returns the elements of a host argument that is a vector: ints, or scalar tensors where not static."""
    if not isinstance(arg, Slices):
        return [arg] if isinstance(arg, int) else list(arg)
    if arg.stacked:
        raise NoRule
    if isinstance(arg.value, EagerTensor):
        return list(numbers(arg.value.value))
    elements = partial_value(arg.slice)
    if elements is None:
        raise NoRule
    return [arg.value[i] if e is None else e for i, e in enumerate(elements)]


def behind(axis: Any) -> Any:
    """Returns a slice's axis as an axis of the batch. Axes counted from the end stay."""
    if isinstance(axis, (tuple, list)):
        return tuple([behind(a) for a in axis])
    return axis if axis < 0 else axis + 1


# ---- families --------------------------------------------------------------------------------------------------------


def equal_shapes(batch: Batch, *args: Any) -> Any:
    """Batches ops that compute with each element, or along the last dimensions, of tensors that agree in the others."""
    return batch.run(*batch.op.map(batch.stack, args, host=static))


def broadcasting(batch: Batch, *args: Any) -> Any:
    """Batches ops whose inputs are broadcast against each other."""
    rank = max(a.rank for a in args if isinstance(a, Slices))
    return batch.run(*[batch.lift(a, rank) if isinstance(a, Slices) else a for a in args])


def reducing(batch: Batch, x: Slices, axis: int | tuple[int, ...] | None, *attrs: Any) -> Any:
    """Batches ops that reduce dimensions away, by default all."""
    axis = static(axis)
    return batch.run(x.value, tuple(range(1, x.rank + 1)) if axis is None else behind(axis), *attrs)


def along_axis(batch: Batch, x: Slices, axis: Any, *attrs: Any) -> Any:
    """Batches ops along one axis, by default the first, or some of them."""
    axis = static(axis)
    return batch.run(x.value, behind(0 if axis is None else axis), *attrs)


def leading_dimensions(batch: Batch, x: Slices, *rest: Any) -> Any:
    """Batches ops that accept more leading dimensions than they compute with, in their first input alone."""
    if not x.stacked or any(isinstance(r, Slices) and r.stacked for r in rest):
        raise NoRule
    return batch.run(*batch.op.map(lambda slices: slices.value, (x, *rest), host=static))


def rule_of(op: Any) -> Rule | None:
    """Returns an op's batching rule: its own, or the one that follows from its traits and its shape rule."""
    if op.batching is not None:
        return op.batching
    if op.elementwise:
        return equal_shapes if op.shape in (shape_rules.same, shape_rules.of_both) else broadcasting
    return reducing if op.shape is shape_rules.reduction else None
