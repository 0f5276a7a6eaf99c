"""Assertions about the shapes of tensors."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.static import host_static
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.debugging.types import assert_type, prefixed
from tapeflow.graph.ir.checks import assertion, checked, nothing_to_check


def _rank(rank: Any) -> Any:
    """Returns a rank as an int, if it is known, or else the scalar tensor."""
    rank = convert(rank)
    assert_type(rank, "int32")
    if rank.shape.rank not in (0, None):
        raise ValueError("Rank must be a scalar.")
    known = host_static(rank) if isinstance(rank, SymbolicTensor) else int(rank)
    return known if isinstance(known, int) else rank


def _name(x: Tensor) -> str:
    return x.name if isinstance(x, SymbolicTensor) else ""


def _described(x: Tensor) -> str:
    return x.name if isinstance(x, SymbolicTensor) else f"shape={x.shape} dtype={x.dtype.name}"


def _refuse(x: Tensor, wanted: str, message: str | None) -> None:
    raise ValueError(
        f"{prefixed(message)}Tensor {_name(x)} must have rank {wanted}.  Received rank {x.shape.rank}, shape {x.shape}"
    )


def _check_rank(x: Tensor, ranks: Sequence[Any], holds: Callable[..., bool], words: str, message: str | None) -> Any:
    """Checks `holds(rank of x, *ranks)`: at once where all are known, else when the graph runs."""
    prefix, name = prefixed(message), _name(x)
    shown = f"({', '.join(str(r) for r in ranks)})" if words.strip() == "in" else "{}"
    if x.shape.rank is not None and all(isinstance(r, int) for r in ranks):
        if not holds(x.shape.rank, *ranks):
            _refuse(x, words + shown.format(ranks[0]), message)
        return nothing_to_check()

    def check(x: Any, *ranks: Any) -> None:
        numbers = [int(r) for r in ranks]
        if not holds(x.shape.rank, *numbers):
            raise invalid(
                f"assertion failed: [{prefix}] [Tensor {name} must have rank{' ' + words.strip() if words else ''}] "
                f"[{' '.join(map(str, numbers))}] [Received shape: ] [{_spaced(x.shape)}]"
            )

    return assertion(check, x, *map(convert, ranks))


def _spaced(shape: Any) -> str:
    return " ".join(map(str, shape))


def assert_rank(x: Any, rank: Any, message: str | None = None, name: str | None = None) -> Any:
    """Checks the number of dimensions.

    Args:
        x: a tensor.
        rank: the number, an int or a scalar int32 tensor.
        message: what to put before the error's message.

    Returns:
        None; in a graph outside of functions, the operation that checks.

    Raises:
        ValueError: it is another number.

    Example:
        >>> tf.debugging.assert_rank([[1, 2]], 2)
    """
    return _check_rank(convert(x), [_rank(rank)], operator.eq, "", message)


def assert_rank_at_least(x: Any, rank: Any, message: str | None = None, name: str | None = None) -> Any:
    """Checks that there are at least so many dimensions. See `assert_rank`.

    Raises:
        ValueError: there are fewer.

    Example:
        >>> tf.debugging.assert_rank_at_least([[1, 2]], 1)
    """
    return _check_rank(convert(x), [_rank(rank)], operator.ge, "at least ", message)


def assert_rank_in(x: Any, ranks: Iterable[Any], message: str | None = None, name: str | None = None) -> Any:
    """Checks that the number of dimensions is one of several. See `assert_rank`.

    Raises:
        ValueError: it is none of them.

    Example:
        >>> tf.debugging.assert_rank_in([[1, 2]], [1, 2])
    """
    return _check_rank(convert(x), [_rank(r) for r in ranks], lambda rank, *wanted: rank in wanted, "in ", message)


def assert_scalar(tensor: Any, message: str | None = None, name: str | None = None) -> None:
    """Checks that a tensor has no dimensions.

    Raises:
        ValueError: it has some.

    Example:
        >>> tf.debugging.assert_scalar(1.0)
    """
    tensor = convert(tensor)
    if tensor.shape.rank != 0:
        of = f" for {tensor.name}" if isinstance(tensor, SymbolicTensor) else ""
        raise ValueError(f"{prefixed(message)}Expected scalar shape{of}, saw shape: {tensor.shape}.")


def assert_shapes(
    shapes: Any, data: Any = None, summarize: int | None = None, message: str | None = None, name: str | None = None
) -> None:
    """Checks the shapes of several tensors, and that the dimensions with one name are equal.

    Args:
        shapes: pairs of a tensor and its shape: a tuple of sizes, names (any other hashable) and None for any size. A
            first entry of `"..."` or `"*"` stands for any number of dimensions. A string gives a name a letter.
        message: what to put before the error's message.

    Raises:
        ValueError: a shape is another.

    Example:
        >>> x, y = tf.ones([2, 3]), tf.ones([3])
        >>> tf.debugging.assert_shapes([(x, ("N", "D")), (y, ("D",))])
    """
    sizes: dict[Any, tuple[Any, str]] = {}
    pairs: Sequence[tuple[Any, Any]] = list(shapes.items()) if isinstance(shapes, dict) else list(shapes)
    for value, wanted in pairs:
        x = convert(value)
        what = f"Tensor {_described(x)}"
        if not (hasattr(wanted, "__iter__") or hasattr(wanted, "__getitem__")):
            raise ValueError(
                f"{prefixed(message)}{what}.  Specified shape must be an iterable.  An iterable has the attribute "
                "`__iter__` "
                f"or `__getitem__`.  Received specified shape: {wanted}"
            )
        symbols = list(wanted)
        open_ended = bool(symbols) and symbols[0] in ("...", "*")
        for i, symbol in enumerate(symbols):
            if i and isinstance(symbol, str) and symbol in ("...", "*"):
                raise ValueError(
                    f"{prefixed(message)}{what} specified shape index {i}.  Symbol `...` or `*` for a variable "
                    "number of "
                    "unspecified dimensions is only allowed as the first entry"
                )
        symbols = symbols[1:] if open_ended else symbols
        if open_ended:
            _check_rank(x, [len(symbols)], operator.ge, "at least ", message)
        elif len(symbols) == 1:
            _check_rank(x, [0, 1], lambda rank, *allowed: rank in allowed, "in ", message)
        else:
            _check_rank(x, [len(symbols)], operator.eq, "", message)
        rank = x.shape.rank
        for i, symbol in enumerate(symbols, start=(-len(symbols) if rank is None else rank - len(symbols))):
            if (rank is not None and i < 0) or symbol is None or (isinstance(symbol, str) and symbol == "."):
                continue
            if isinstance(symbol, int):
                size, said = int(symbol), "Specified explicitly"
            else:
                said = f"Specified by tensor {_described(x)} dimension {i}"
                size, said = sizes.setdefault(symbol, (_size(x, i), said))
            _check_size(x, i, size, said, message)


def _size(x: Tensor, i: int) -> Any:
    """Returns a dimension: an int, or a scalar tensor where it is not known."""
    known = None if x.shape.rank is None else x.shape[i]
    return ops.Shape(x)[i] if known is None else known


def _check_size(x: Tensor, i: int, wanted: Any, said: str, message: str | None) -> None:
    size, prefix, name = _size(x, i), prefixed(message), _described(x)
    if isinstance(size, int) and isinstance(wanted, int):
        if size != wanted:
            raise ValueError(
                f"{prefix}{said}.  Tensor {name} dimension {i} must have size {wanted}.  "
                f"Received size {size}, shape {x.shape}"
            )
        return

    def check(x: Any, wanted: Any) -> None:
        if x.shape[i] != int(wanted):
            raise invalid(
                f"assertion failed: [{prefix}] [{said}] [Tensor {name} dimension] [{i}] [must have size] "
                f"[{int(wanted)}] "
                f"[Received shape: ] [{_spaced(x.shape)}]"
            )

    checked(check, x, convert(wanted))
