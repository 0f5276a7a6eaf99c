"""Shape rules that families of ops share.

A rule takes an op's arguments in order, with `TensorShape`s (lists of them) for tensors, and returns the shape of the
result, or raises InvalidArgumentError for shapes that do not go together. Eager ops call it only when a kernel failed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tapeflow.core import errors
from tapeflow.core.context import state
from tapeflow.core.ops.definition import NotStatic
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor, invalid


def text(shape: TensorShape) -> str:
    """Returns the shape as TensorFlow's messages print it: `[2,3]`."""
    if shape.rank is None:
        return "<unknown>"
    return "[" + ",".join("?" if d is None else str(d) for d in shape) + "]"


def refused_when_run(message: str, error: Any = errors.InvalidArgumentError) -> Exception:
    """Returns the error of a rule for what TensorFlow's kernel refuses and its shape function lets pass.

    While a graph is built the shape is not static then, and the call fails when it runs.
    """
    return error.of(message) if state.graph is None else NotStatic(message)


def divided(size: int, parts: int) -> int:
    """Returns a dimension's part of that many, which must be equally long."""
    if size % parts:
        raise invalid(f"Dimension size must be evenly divisible by {parts} but is {size}")
    return size // parts


def same(x: TensorShape, *_: Any) -> TensorShape:
    """Returns the shape of the first input."""
    return x


def ranked(rule: Callable[..., Any], *ranks: int | None) -> Callable[..., Any]:
    """Returns a shape rule that first checks the ranks of an op's arguments.

    Args:
        rule: the rest of it.
        *ranks: the rank of each argument; negative for at least so many dimensions, None for any.
    """

    def check_ranks(*args: Any) -> Any:
        for shape, rank in zip(args, ranks, strict=False):
            if rank is None or not isinstance(shape, TensorShape) or shape.rank is None:
                continue
            if shape.rank != rank and not shape.rank >= -rank > 0:
                least = "at least " if rank < 0 else ""
                raise invalid(f"Shape must be {least}rank {abs(rank)} but is rank {shape.rank}")
        return rule(*args)

    return check_ranks


def listed(dims: Any, *_: Any) -> TensorShape:
    """Returns the shape that the first argument lists, as far as it is static."""
    check_rank(dims, 1)
    return TensorShape(None if isinstance(dims, Tensor) else dims)


def unknown(*_: Any) -> TensorShape:
    """Returns the shape of which nothing is known: that of results whose shape depends on values."""
    return TensorShape(None)


def scalar(*_: Any) -> TensorShape:
    """Returns the shape of a scalar, such as a handle."""
    return TensorShape([])


def no_results(*_: Any) -> list[TensorShape]:
    """Returns the shapes of an op without results."""
    return []


def check_rank(argument: Any, rank: int) -> None:
    """Raises InvalidArgumentError for a host argument that is not static and certainly of another rank."""
    if isinstance(argument, Tensor) and argument.shape.rank not in (None, rank):
        raise invalid(f"Shape must be rank {rank} but is rank {argument.shape.rank}")


def length(number: Any) -> int | None:
    """Returns a host argument that is the length of a dimension; None where it is not static."""
    return None if isinstance(number, Tensor) else number


def broadcast(x: TensorShape, y: TensorShape, *_: Any) -> TensorShape:
    """Returns the shape of two inputs broadcast against each other."""
    if x.rank is None or y.rank is None:
        return TensorShape(None)
    a, b = x.as_list(), y.as_list()
    rank = max(len(a), len(b))
    a, b = [1] * (rank - len(a)) + a, [1] * (rank - len(b)) + b
    out: list[int | None] = []
    for m, n in zip(a, b, strict=True):
        if m == n or n == 1:
            out.append(m)
        elif m == 1:
            out.append(n)
        elif m is None or n is None:
            out.append((m or n) or None)  # beside 0 it may be 1
        else:
            raise invalid(f"Incompatible shapes: {text(x)} vs. {text(y)}")
    return TensorShape(out)


def broadcast_all(*shapes: Any) -> TensorShape:
    """Returns the shape of all inputs broadcast against each other."""
    out = shapes[0]
    for shape in shapes[1:]:
        if isinstance(shape, TensorShape):
            out = broadcast(out, shape)
    return out


def reduced_dimensions(axis: Any, rank: int) -> tuple[int, ...]:
    """Returns the dimensions that an `axis` argument names, none of them negative; all for None.

    Raises:
        InvalidArgumentError: there is no such dimension, or it is named twice.
    """
    if axis is None:
        return tuple(range(rank))
    dimensions: list[int] = []
    for a in [axis] if isinstance(axis, int) else _flat(axis):
        if not -rank <= a < rank:
            raise invalid(f"Invalid reduction dimension ({a} for input with {rank} dimension(s)")
        if a % rank in dimensions:
            raise refused_when_run(f"Invalid reduction arguments: Axes contains duplicate dimension: {a % rank}")
        dimensions.append(a % rank)
    return tuple(dimensions)


def _flat(axis: Any) -> Iterator[int]:
    if isinstance(axis, (tuple, list)):
        for a in axis:
            yield from _flat(a)
    elif hasattr(axis, "__index__"):
        yield axis.__index__()
    else:
        raise invalid(f"Value for attr 'Tidx' of an axis is not int32 or int64 but {axis!r}")


def reduction(x: TensorShape, axis: Any, keepdims: bool = False, *_: Any) -> TensorShape:
    """Returns the shape with the dimensions of `axis` (all of them for None) reduced away, or to 1."""
    if x.rank is None:
        return TensorShape([] if axis is None and not keepdims else None)
    if isinstance(axis, tuple) and None in axis:  # their number is static, they are not
        return TensorShape([None] * x.rank if keepdims else None)
    reduced = reduced_dimensions(axis, x.rank)
    return TensorShape([1 if i in reduced else d for i, d in enumerate(x) if i not in reduced or keepdims])


def certainly_broadcasts(small: TensorShape, large: TensorShape) -> bool:
    """Returns whether a shape certainly broadcasts to another one, and does not make it larger."""
    if small.rank is None or large.rank is None or small.rank > large.rank:
        return False
    pairs = zip(small.as_list()[::-1], large.as_list()[::-1], strict=False)
    return all(a == 1 or (a is not None and a == b) for a, b in pairs)
