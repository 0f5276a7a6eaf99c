"""Assertions about the shapes of tensors."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tapeflow.array.properties import shape_op
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.static import host_static
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.debugging.types import assert_type, prefix_of
from tapeflow.graph.ir.operation import Operation
from tapeflow.graph.ir.python_op import assertion, check_or_defer, nothing_to_check


def _as_rank(rank: Any) -> Any:
    """Returns a rank as an int if it is static, or else as a scalar tensor."""
    rank = convert(rank)
    assert_type(rank, "int32")
    if rank.shape.rank not in (0, None):
        raise ValueError("Rank must be a scalar.")
    static = host_static(rank) if isinstance(rank, SymbolicTensor) else int(rank)
    return static if isinstance(static, int) else rank


def _tensor_name(x: Tensor) -> str:
    return x.name if isinstance(x, SymbolicTensor) else ""


def _describe_tensor(x: Tensor) -> str:
    return x.name if isinstance(x, SymbolicTensor) else f"shape={x.shape} dtype={x.dtype.name}"


def _check_rank(x: Tensor, ranks: Sequence[Any], holds: Callable[..., bool], words: str, message: str | None) -> Any:
    """Checks `holds(rank of x, *ranks)`: at once where all ranks are static, else when the graph runs."""
    prefix, name = prefix_of(message), _tensor_name(x)
    shown = f"({', '.join(str(r) for r in ranks)})" if words.strip() == "in" else "{}"
    if x.shape.rank is not None and all(isinstance(r, int) for r in ranks):
        if not holds(x.shape.rank, *ranks):
            wanted = f"must have rank {words}{shown.format(ranks[0])}.  Received rank {x.shape.rank}, shape {x.shape}"
            raise ValueError(f"{prefix}Tensor {name} {wanted}")
        return nothing_to_check()

    def check(x: Tensor, *ranks: Any) -> None:
        numbers = [int(r) for r in ranks]
        if not holds(x.shape.rank, *numbers):
            raise invalid(
                f"assertion failed: [{prefix}] [Tensor {name} must have rank{' ' + words.strip() if words else ''}] "
                f"[{' '.join(map(str, numbers))}] [Received shape: ] [{_spaced_shape(x.shape)}]"
            )

    return assertion(check, x, *map(convert, ranks))


def _spaced_shape(shape: TensorShape) -> str:
    return " ".join(map(str, shape))


def assert_rank(
    x: TensorLike, rank: TensorLike, message: str | None = None, name: str | None = None
) -> Operation | None:
    """Checks the rank of a tensor.

    Args:
        x: a tensor of any shape.
        rank: the expected rank, an int or a scalar int32 tensor.
        message: text before the error's message.

    Returns:
        None; in a graph outside of functions, the operation that checks.

    Raises:
        ValueError: the rank differs.

    Example:
        >>> tf.debugging.assert_rank([[1, 2]], 2)
    """
    return _check_rank(convert(x), [_as_rank(rank)], operator.eq, "", message)


def assert_rank_at_least(
    x: TensorLike, rank: TensorLike, message: str | None = None, name: str | None = None
) -> Operation | None:
    """Checks that the rank of a tensor is not less than a number.

    Args:
        x: a tensor of any shape.
        rank: the smallest rank, an int or a scalar int32 tensor.
        message: text before the error's message.

    Returns:
        None; in a graph outside of functions, the operation that checks.

    Raises:
        ValueError: the rank is less.

    Example:
        >>> tf.debugging.assert_rank_at_least([[1, 2]], 1)
    """
    return _check_rank(convert(x), [_as_rank(rank)], operator.ge, "at least ", message)


def assert_rank_in(
    x: TensorLike, ranks: Iterable[TensorLike], message: str | None = None, name: str | None = None
) -> Operation | None:
    """Checks that the rank of a tensor is in a list of numbers.

    Args:
        x: a tensor of any shape.
        ranks: the accepted ranks, ints or scalar int32 tensors.
        message: text before the error's message.

    Returns:
        None; in a graph outside of functions, the operation that checks.

    Raises:
        ValueError: the rank is none of them.

    Example:
        >>> tf.debugging.assert_rank_in([[1, 2]], [1, 2])
    """
    return _check_rank(
        convert(x), [_as_rank(r) for r in ranks], lambda rank, *accepted: rank in accepted, "in ", message
    )


def assert_scalar(tensor: TensorLike, message: str | None = None, name: str | None = None) -> None:
    """Checks that a tensor is a scalar.

    Args:
        tensor: a tensor of any shape.
        message: text before the error's message.

    Returns:
        None.

    Raises:
        ValueError: it is not a scalar.

    Example:
        >>> tf.debugging.assert_scalar(1.0)
    """
    x = convert(tensor)
    if x.shape.rank != 0:
        of = f" for {x.name}" if isinstance(x, SymbolicTensor) else ""
        raise ValueError(f"{prefix_of(message)}Expected scalar shape{of}, saw shape: {x.shape}.")


def assert_shapes(
    shapes: Mapping[Any, Any] | Iterable[tuple[TensorLike, Any]],
    data: Sequence[TensorLike] | None = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> None:
    """Checks the shapes of several tensors, and that the dimensions with one name are equal.

    Args:
        shapes: pairs of a tensor and its shape, or a dict: a shape is a tuple of sizes, names (any other hashable)
            and None for any size. A first entry of `"..."` or `"*"` stands for any number of dimensions. In a string
            each letter is a name.
        data, summarize: accepted, and without effect.
        message: text before the error's message.

    Returns:
        None.

    Raises:
        ValueError: a shape differs, or is not an iterable.

    Example:
        >>> x, y = tf.ones([2, 3]), tf.ones([3])
        >>> tf.debugging.assert_shapes([(x, ("N", "D")), (y, ("D",))])
    """
    sizes: dict[Any, tuple[Any, str]] = {}
    pairs: Sequence[tuple[Any, Any]] = list(shapes.items() if isinstance(shapes, dict) else shapes)
    for value, expected in pairs:
        x = convert(value)
        subject = f"Tensor {_describe_tensor(x)}"
        if not (hasattr(expected, "__iter__") or hasattr(expected, "__getitem__")):
            raise ValueError(
                f"{prefix_of(message)}{subject}.  Specified shape must be an iterable.  An iterable has the attribute "
                f"`__iter__` or `__getitem__`.  Received specified shape: {expected}"
            )
        symbols = list(expected)
        open_ended = bool(symbols) and symbols[0] in ("...", "*")
        for i, symbol in enumerate(symbols):
            if i and isinstance(symbol, str) and symbol in ("...", "*"):
                raise ValueError(
                    f"{prefix_of(message)}{subject} specified shape index {i}.  Symbol `...` or `*` for a variable "
                    "number of unspecified dimensions is only allowed as the first entry"
                )
        symbols = symbols[1:] if open_ended else symbols
        if open_ended:
            _check_rank(x, [len(symbols)], operator.ge, "at least ", message)
        elif len(symbols) == 1:
            _check_rank(x, [0, 1], lambda rank, *accepted: rank in accepted, "in ", message)
        else:
            _check_rank(x, [len(symbols)], operator.eq, "", message)
        rank = x.shape.rank
        for i, symbol in enumerate(symbols, start=(-len(symbols) if rank is None else rank - len(symbols))):
            if (rank is not None and i < 0) or symbol is None or (isinstance(symbol, str) and symbol == "."):
                continue
            if isinstance(symbol, int):
                size, origin = int(symbol), "Specified explicitly"
            else:
                origin = f"Specified by tensor {_describe_tensor(x)} dimension {i}"
                size, origin = sizes.setdefault(symbol, (_dimension_size(x, i), origin))
            _check_dimension_size(x, i, size, origin, message)


def _dimension_size(x: Tensor, i: int) -> Any:
    """Returns the size of a dimension: an int, or a scalar tensor where it is not static."""
    static = None if x.shape.rank is None else x.shape[i]
    return shape_op(x)[i] if static is None else static


def _check_dimension_size(x: Tensor, i: int, expected: Tensor | int, origin: str, message: str | None) -> None:
    size, prefix, name = _dimension_size(x, i), prefix_of(message), _describe_tensor(x)
    if isinstance(size, int) and isinstance(expected, int):
        if size != expected:
            raise ValueError(
                f"{prefix}{origin}.  Tensor {name} dimension {i} must have size {expected}.  "
                f"Received size {size}, shape {x.shape}"
            )
        return

    def check(x: Tensor, expected: Tensor) -> None:
        if x.shape[i] != int(expected):
            raise invalid(
                f"assertion failed: [{prefix}] [{origin}] [Tensor {name} dimension] [{i}] [must have size] "
                f"[{int(expected)}] [Received shape: ] [{_spaced_shape(x.shape)}]"
            )

    check_or_defer(check, x, convert(expected))
