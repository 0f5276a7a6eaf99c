"""Assertions about the shapes of tensors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tapeflow.core.convert import convert, host_value
from tapeflow.core.tensor import Tensor
from tapeflow.debugging.types import assert_type


def _prefix(message: str | None) -> str:
    return f"{message}.  " if message else ""


def _rank(rank: Any) -> int:
    rank = convert(rank)
    assert_type(rank, "int32")
    if rank.shape.rank:
        raise ValueError("Rank must be a scalar.")
    return int(host_value(rank))


def _refuse(x: Tensor, wanted: str, message: str | None, what: str = "") -> None:
    raise ValueError(
        f"{_prefix(message)}Tensor {what} must have rank {wanted}.  Received rank {x.shape.rank}, shape {x.shape}"
    )


def assert_rank(x: Any, rank: Any, message: str | None = None, name: str | None = None) -> None:
    """Checks the number of dimensions.

    Args:
        x: a tensor.
        rank: the number, an int or a scalar int32 tensor.
        message: what to put before the error's message.

    Raises:
        ValueError: it is another number.

    Example:
        >>> tf.debugging.assert_rank([[1, 2]], 2)
    """
    x, rank = convert(x), _rank(rank)
    if x.shape.rank != rank:
        _refuse(x, str(rank), message)


def assert_rank_at_least(x: Any, rank: Any, message: str | None = None, name: str | None = None) -> None:
    """Checks that there are at least so many dimensions. See `assert_rank`."""
    x, rank = convert(x), _rank(rank)
    if x.shape.rank < rank:
        _refuse(x, f"at least {rank}", message)


def assert_rank_in(x: Any, ranks: Iterable[Any], message: str | None = None, name: str | None = None) -> None:
    """Checks that the number of dimensions is one of several. See `assert_rank`."""
    x, wanted = convert(x), tuple(_rank(r) for r in ranks)
    if x.shape.rank not in wanted:
        _refuse(x, f"in {wanted}", message)


def assert_scalar(tensor: Any, message: str | None = None, name: str | None = None) -> None:
    """Checks that a tensor has no dimensions.

    Raises:
        ValueError: it has some.

    Example:
        >>> tf.debugging.assert_scalar(1.0)
    """
    tensor = convert(tensor)
    if tensor.shape.rank:
        raise ValueError(f"{_prefix(message)}Expected scalar shape, saw shape: {tensor.shape}.")


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
    sizes: dict[Any, tuple[int, str]] = {}
    pairs: Sequence[tuple[Any, Any]] = list(shapes.items()) if isinstance(shapes, dict) else list(shapes)
    for value, wanted in pairs:
        x = convert(value)
        what = f"Tensor shape={x.shape} dtype={x.dtype.name}"
        if not (hasattr(wanted, "__iter__") or hasattr(wanted, "__getitem__")):
            raise ValueError(
                f"{_prefix(message)}{what}.  Specified shape must be an iterable.  An iterable has the attribute `__iter__` "
                f"or `__getitem__`.  Received specified shape: {wanted}"
            )
        symbols = list(wanted)
        open_ended = bool(symbols) and symbols[0] in ("...", "*")
        for i, symbol in enumerate(symbols):
            if i and isinstance(symbol, str) and symbol in ("...", "*"):
                raise ValueError(
                    f"{_prefix(message)}{what} specified shape index {i}.  Symbol `...` or `*` for a variable number of "
                    "unspecified dimensions is only allowed as the first entry"
                )
        symbols = symbols[1:] if open_ended else symbols
        actual = x.shape.as_list()
        if open_ended:
            if len(actual) < len(symbols):
                _refuse(x, f"at least {len(symbols)}", message)
        elif len(actual) != len(symbols) and not (len(symbols) == 1 and len(actual) == 0):
            wanted_rank = "in (0, 1)" if len(symbols) == 1 else str(len(symbols))
            _refuse(x, wanted_rank, message)
        offset = len(actual) - len(symbols)
        for i, symbol in enumerate(symbols, start=offset):
            if i < 0 or symbol is None or (isinstance(symbol, str) and symbol == "."):
                continue
            size, said = (int(symbol), "Specified explicitly") if isinstance(symbol, int) else sizes.setdefault(
                symbol, (actual[i], f"Specified by tensor shape={x.shape} dtype={x.dtype.name} dimension {i}")
            )  # fmt: skip
            if actual[i] != size:
                raise ValueError(
                    f"{_prefix(message)}{said}.  {what} dimension {i} must have size {size}.  "
                    f"Received size {actual[i]}, shape {x.shape}"
                )
