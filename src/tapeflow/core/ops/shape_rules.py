"""Shape rules that families of ops share.

A rule takes an op's arguments in order, with `TensorShape`s (lists of them) for tensors, and returns the shape of the
result, or raises InvalidArgumentError for shapes that do not go together. Eager ops call it only when a kernel failed.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.core import errors
from tapeflow.core.context import state
from tapeflow.core.types.shape import TensorShape, broadcast_shape
from tapeflow.core.values.tensor import Tensor, invalid

if TYPE_CHECKING:
    from tapeflow.core.types.aliases import ShapeLike, TensorLike


def check_sizes(shape: Sequence[int]) -> None:
    """Checks the dimensions of a tensor, or of the one that a sparse tensor stands for, before it counts elements.

    Raises:
        InvalidArgumentError: one is negative, or the number of elements needs more than 63 bits.
    """
    count = 1
    for size in shape:
        if size < 0:
            raise invalid(f"Expected shape dimensions to be non-negative, got {size}")
        if count * size >= 2**63:
            raise invalid(f"Encountered overflow when multiplying {count} with {size}")
        count *= size


def unequal(message: str, first: int | None, second: int | None) -> errors.InvalidArgumentError:
    """Returns the error for two dimensions that differ.

    Args:
        message: the message of the kernel. While a graph is built, the message names only the dimensions.
        first, second: the dimensions.
    """
    error = invalid(message)
    error.unequal = first, second
    return error


def text(shape: TensorShape | Iterable[Any]) -> str:
    """Returns a shape, or indices, as TensorFlow's messages print them: `[2,?]`."""
    if isinstance(shape, TensorShape) and shape.rank is None:
        return "<unknown>"
    return f"[{','.join(['?' if d is None else str(int(d)) for d in shape])}]"


def too_large(shape: TensorShape) -> str:
    """Returns the message for a shape of more elements than TensorFlow counts."""
    return f"Shape {text(shape)} would have more than 2**63 - 1 elements"


def leave_to_kernel(message: str, error: Any = errors.InvalidArgumentError) -> None:
    """Raises an error that TensorFlow's kernel raises and its shape function does not. While a graph is built it raises
    nothing: the call fails when it runs, and the caller uses the static shape of a valid call.
    """
    if state.graph is None:
        raise error.of(message)


def divide_size(size: int, parts: int) -> int:
    """Returns a dimension's part of that many, which must be equally long."""
    if size % parts:
        raise invalid(f"Dimension size must be evenly divisible by {parts} but is {size}")
    return size // parts


def same(x: TensorShape, *_: Any) -> TensorShape:
    """Returns the shape of the first input."""
    return x


def merge_shapes(*shapes: Any) -> TensorShape:
    """Returns the common shape of several inputs. A dimension is static if it is static in any of them."""
    return functools.reduce(TensorShape.merge_with, shapes, TensorShape(None))


def argument_shape(argument: Any) -> TensorShape:
    """Returns the shape of an argument of a rule: a tensor, or the numbers of a host argument."""
    if isinstance(argument, TensorShape):
        return argument
    if isinstance(argument, Tensor):
        return argument.shape
    dims: list[int] = []
    while isinstance(argument, (tuple, list)):
        dims.append(len(argument))
        argument = argument[0] if argument else None
    return TensorShape(dims)


def with_rank(argument: Any, rank: int) -> TensorShape:
    """Returns the shape of an argument, which must have so many dimensions.

    Args:
        argument: as a rule gets it.
        rank: their number; negative for at least so many.

    Raises:
        InvalidArgumentError: it certainly has not.
    """
    shape = argument_shape(argument)
    if shape.rank is None:
        return TensorShape([None] * rank) if rank >= 0 else shape
    if shape.rank != rank and not shape.rank >= -rank > 0:
        least = "at least " if rank < 0 else ""
        raise invalid(f"Shape must be {least}rank {abs(rank)} but is rank {shape.rank}")
    return shape


def check_ranks_first(rule: Callable[..., Any], *ranks: int | None) -> Callable[..., Any]:
    """Returns a shape rule that first checks the ranks of an op's arguments.

    Args:
        rule: the rest of it.
        *ranks: the rank of each argument; negative for at least so many dimensions, None for any.
    """

    def check_ranks(*args: Any) -> Any:
        for argument, rank in zip(args, ranks, strict=False):
            if rank is not None and argument is not None:
                with_rank(argument, rank)
        return rule(*args)

    return check_ranks


def with_dimension(shape: TensorShape, axis: int, size: int) -> TensorShape:
    """Returns a shape whose dimension must be of a size.

    Raises:
        InvalidArgumentError: it certainly is not.
    """
    if shape.rank is not None and shape[axis] not in (None, size):
        raise invalid(f"Dimension must be {size} but is {shape[axis]}")
    return shape


def sparse(rule: Callable[..., Any], *positions: int) -> Callable[..., Any]:
    """Returns a shape rule that first checks the indices, values and shapes of sparse tensors among an op's arguments.

    Args:
        rule: the rest of it.
        *positions: the positions of the indices among the arguments. Values and dense shape follow the indices.
    """

    def check_parts(*args: Any) -> Any:
        for i in positions:
            check_sparse(*args[i : i + 3])
        return rule(*args)

    return check_parts


def check_sparse(indices: TensorShape, values: TensorShape, shape: ShapeLike) -> None:
    """Checks that the parts of a sparse tensor go together, as far as their shapes are static.

    Raises:
        InvalidArgumentError: they do not.
    """
    count, rank = with_rank(indices, 2)
    if count not in (None, elements := with_rank(values, 1)[0]) and elements is not None:
        raise invalid(f"Number of elements in index ({count}) and values ({elements}) do not match.")
    if rank not in (None, dims := with_rank(shape, 1)[0]) and dims is not None:
        raise invalid(f"Index rank ({rank}) and shape rank ({dims}) do not match.")


def listed_shape(dims: Any, *_: Any) -> TensorShape:
    """Returns the shape that the first argument lists. Unknown dimensions stay unknown."""
    check_rank(dims, 1)
    return TensorShape(None if isinstance(dims, Tensor) else stated_dims(dims) if isinstance(dims, tuple) else dims)


def check_shape_scalar(shape: ShapeLike) -> None:
    """Checks an argument that says a shape: a scalar, which is -1 and stands for an unknown one, must be static.

    Raises:
        InvalidArgumentError: it is a scalar whose value is not static.
    """
    if isinstance(shape, Tensor) and shape.shape.rank == 0:
        raise invalid("Received a shape scalar with unknown static value.  A static value of '-1' is required to "
                      "represent an unknown shape.")  # fmt: skip


def unknown(*_: Any) -> TensorShape:
    """Returns the unknown shape, for results whose shape depends on values."""
    return TensorShape(None)


def scalar(*_: Any) -> TensorShape:
    """Returns the shape of a scalar, such as a handle."""
    return TensorShape([])


def no_results(*_: Any) -> list[TensorShape]:
    """Returns the shapes of an op without results."""
    return []


def stated_dims(dims: Sequence[int | None]) -> tuple[int | None, ...]:
    """Returns the dimensions that the numbers of a host argument state, None for those that are not static.

    So is -1 while a graph is built, as in TensorFlow's shape functions: it is for the kernel to refuse it.

    Raises:
        InvalidArgumentError: a number is negative.
    """
    least, wrong = (0, "Dimension {} must be >= 0") if state.graph is None else (-1, _NO_SHAPE)
    for n in dims:
        if type(n) is int and n < least:
            raise invalid(wrong.format(n))
    return tuple([None if n == -1 else n for n in dims])


_NO_SHAPE = "Invalid value in tensor used for shape: {}"


def wholly_static(argument: object) -> bool:
    """Returns True if all numbers of a host argument are static: TensorFlow's shape functions mostly ask no less."""
    if isinstance(argument, tuple):
        return all(map(wholly_static, argument))
    return argument is not None and not isinstance(argument, Tensor)


def check_rank(argument: Any, rank: int) -> None:
    """Raises InvalidArgumentError for a host argument that is certainly of another rank. Only while a graph is built,
    when TensorFlow's shape functions run: its kernels take a number for a vector of one."""
    if isinstance(argument, Tensor) or (state.graph is not None and argument != ()):
        with_rank(argument, rank)


def length(number: Tensor | int | None) -> int | None:
    """Returns a host argument that is the length of a dimension; None where it is not static."""
    return None if isinstance(number, Tensor) else number


def broadcast(x: TensorShape, y: TensorShape, *_: Any) -> TensorShape:
    """Returns the shape of two inputs broadcast against each other."""
    try:
        return broadcast_shape(x, y)
    except ValueError:
        raise invalid(f"Incompatible shapes: {text(x)} vs. {text(y)}") from None


def broadcast_all(*shapes: Any) -> TensorShape:
    """Returns the shape of all inputs broadcast against each other."""
    return functools.reduce(broadcast, [s for s in shapes[1:] if isinstance(s, TensorShape)], shapes[0])


def of_both(x: TensorShape, y: TensorShape, *_: Any) -> TensorShape:
    """Returns the shape of the first input. The second input has the same shape: they are not broadcast."""
    return merge_shapes(x, y)


def reduced_dimensions(axis: Any, rank: int) -> tuple[int, ...]:
    """Returns the dimensions that an `axis` argument names, none of them negative; all for None.

    Raises:
        InvalidArgumentError: there is no such dimension, or it is named twice.
    """
    if axis is None:
        return tuple(range(rank))
    dimensions: list[int] = []
    for a in [axis] if isinstance(axis, int) else _flatten_axis(axis):
        if not -rank <= a < rank:
            raise invalid(f"Invalid reduction dimension ({a} for input with {rank} dimension(s)")
        if a % rank in dimensions:
            leave_to_kernel(f"Invalid reduction arguments: Axes contains duplicate dimension: {a % rank}")
        dimensions.append(a % rank)
    return tuple(dimensions)


def _flatten_axis(axis: float | str | Sequence[Any]) -> Iterator[int]:
    if isinstance(axis, (tuple, list)):
        for a in axis:
            yield from _flatten_axis(a)
    elif hasattr(axis, "__index__"):
        yield axis.__index__()
    else:
        raise invalid(f"Value for attr 'Tidx' of an axis is not int32 or int64 but {axis!r}")


def reduction(x: TensorShape, axis: TensorLike | None, keepdims: bool = False, *_: Any) -> TensorShape:
    """Returns the shape with the dimensions of `axis` (all of them for None) reduced away, or to 1."""
    if state.graph is not None and (rank := argument_shape(axis).rank) is not None and rank > 1:
        raise invalid(f"Shape must be at most rank 1 but is rank {rank}")
    if x.rank is None:
        return TensorShape([] if axis is None and not keepdims else None)
    if isinstance(axis, Tensor) or (isinstance(axis, tuple) and None in axis):  # not static, or their number alone
        return TensorShape([None] * x.rank if keepdims else None)
    reduced = reduced_dimensions(axis, x.rank)
    return TensorShape([1 if i in reduced else d for i, d in enumerate(x) if i not in reduced or keepdims])


def certainly_broadcasts(small: TensorShape, large: TensorShape) -> bool:
    """Returns True if a shape certainly broadcasts to another one, and does not make it larger."""
    if small.rank is None or large.rank is None or small.rank > large.rank:
        return False
    pairs = zip(small.as_list()[::-1], large.as_list()[::-1], strict=False)
    return all(a == 1 or (a is not None and a == b) for a, b in pairs)
