"""Batches of slices: what the rules of `batch_rules.py` take and give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tapeflow.core.context import registry
from tapeflow.core.convert import convert
from tapeflow.core.symbolic import SymbolicTensor
from tapeflow.core.tensor import EagerTensor
from tapeflow.graph.static import numbers, partial_value, value_of


class NoRule(Exception):
    """An op can't be computed in this way with these arguments."""


class Slices(NamedTuple):
    """What a tensor of a function of one slice is for all slices.

    Attributes:
        value: the batch, or what is the same for all slices.
        slice: the tensor of the function.
        stacked: whether it is a batch.
    """

    value: Any
    slice: SymbolicTensor
    stacked: bool

    @property
    def rank(self) -> int:
        """The rank of a slice.

        Raises:
            NoRule: it is not known.
        """
        rank = self.slice.shape.rank
        if rank is None:
            raise NoRule
        return rank


def run(name: str, *args: Any) -> Any:
    """Calls a registered op."""
    return registry[name].function(*args)


def times(a: Any, b: Any) -> Any:
    """The product of two numbers: ints, or scalar tensors where they are not known."""
    if isinstance(a, int) and isinstance(b, int):
        return a * b
    return run("Mul", b, a) if isinstance(a, int) else run("Mul", a, b)


class Batch:
    """A batch of slices.

    Attributes:
        count: how many slices there are: an int, or a scalar tensor where that is not known.
    """

    def __init__(self, count: Any) -> None:
        known = value_of(count) if isinstance(count, SymbolicTensor) else count.value
        self.count = count if known is None else int(known)

    def dims(self, x: Slices) -> list[Any]:
        """The dimensions of a slice: ints, and scalar tensors for those that are not known."""
        if x.slice.shape.is_fully_defined():
            return x.slice.shape.as_list()
        if x.rank and isinstance(x.value, EagerTensor):
            return list(x.value.value.shape)[x.stacked :]
        whole = run("Shape", x.value)
        return [whole[i + x.stacked] if d is None else d for i, d in enumerate(x.slice.shape)]

    def stack(self, x: Slices) -> Any:
        """A batch, also of what is the same for all slices."""
        return x.value if x.stacked else run("BroadcastTo", x.value, (self.count, *self.dims(x)))

    def lift(self, x: Slices, rank: int) -> Any:
        """The tensor with slices of a rank at least that of `x`, with which it broadcasts as `x` would."""
        made = x.value
        for _ in range(rank - x.rank if x.stacked else 0):
            made = run("ExpandDims", made, 1)
        return made

    def reshape(self, value: Any, dims: Sequence[Any]) -> Any:
        """A batch of slices of this shape."""
        return run("Reshape", value, (self.count, *dims))

    def flat(self, x: Slices) -> Any:
        """The slices, joined along their own first dimension."""
        first, *rest = self.dims(x)
        if isinstance(first, int) and isinstance(self.count, int):
            first *= self.count
        elif all(isinstance(d, int) and d for d in rest):
            first = -1  # which would be ambiguous if there were no elements in a row
        else:
            first = times(self.count, first)
        return run("Reshape", self.stack(x), (first, *rest))

    def unflat(self, value: Any, slice: SymbolicTensor, like: Slices) -> Any:
        """Slices of what `flat` joined: of the shape of `slice`, as long as those of `like`."""
        if slice.shape.rank is None:
            first = run("Pack", [convert(self.count), convert(self.dims(like)[0])], 0)
            return run("Reshape", value, run("ConcatV2", [first, run("Shape", value)[1:]], 0))
        rest = slice.shape.as_list()[1:]
        if None in rest:
            whole = run("Shape", value)
            rest = [whole[i] if d is None else d for i, d in enumerate(rest, 1)]
        return self.reshape(value, [self.dims(like)[0], *rest])


Rule = Callable[..., Any]


# ---- arguments that are numbers --------------------------------------------------------------------------------------


def known(arg: Any) -> Any:
    """A host argument whose value must be known.

    Raises:
        NoRule: it is not, or each slice has its own.
    """
    if not isinstance(arg, Slices):
        return arg
    value = None if arg.stacked else value_of(arg.slice)
    if value is None and not arg.stacked and isinstance(arg.value, EagerTensor):
        value = arg.value.value
    if value is None:
        raise NoRule
    return numbers(value)


def vector(arg: Any) -> list[Any]:
    """The elements of a host argument that is a vector: ints, and scalar tensors for those that are not known."""
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
    """An axis of a slice as one of the batch; those counted from the end stay."""
    if isinstance(axis, (tuple, list)):
        return tuple([behind(a) for a in axis])
    return axis if axis < 0 else axis + 1
