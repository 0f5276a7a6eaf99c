"""Changes of parts of variables: `scatter_add` and its kin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.core.ops.convert import convert
from tapeflow.core.types.dtypes import int32, int64
from tapeflow.core.values.indexed_slices import IndexedSlices
from tapeflow.core.values.variable import Variable


def _rows(method: str, summary: str, example: str, result: str) -> Callable[..., Any]:
    locking = method == "scatter_update"  # the default differs, and means nothing

    def scatter(ref: Variable, indices: Any, updates: Any, use_locking: bool = locking, name: str | None = None) -> Any:
        slices = IndexedSlices(convert(updates, ref.dtype), _as_indices(indices))
        return getattr(ref, method)(slices, name=name)

    return _documented(scatter, method, f"{summary} rows of a variable", _INDICES, f"[0, 2], {example}", result)


def _parts(method: str, summary: str, example: str, result: str) -> Callable[..., Any]:
    locking = method == "scatter_nd_update"

    def scatter(ref: Variable, indices: Any, updates: Any, use_locking: bool = locking, name: str | None = None) -> Any:
        return getattr(ref, method)(_as_indices(indices), updates, name)

    return _documented(scatter, method, f"{summary} parts of a variable", _PLACES, f"[[0], [2]], {example}", result)


_INDICES = """indices: int32 or int64, of any shape: which rows.
        updates: of the shape of `indices` and then that of a row."""
_PLACES = """indices: int32 or int64, of shape [..., k]: where the parts are, by their first k dimensions.
        updates: of the leading shape of `indices` and then that of a part."""


def _as_indices(indices: Any) -> Any:
    index = convert(indices)
    return index if index.dtype in (int32, int64) else convert(indices, int32)


def _documented(
    scatter: Callable[..., Any], method: str, summary: str, args: str, example: str, result: str
) -> Callable[..., Any]:
    scatter.__name__ = scatter.__qualname__ = method
    scatter.__doc__ = f"""{summary}, see `tf.Variable.{method}`; in a graph, when the result is run or used.

    Args:
        ref: the variable.
        {args}
        use_locking: accepted, and without effect.

    Returns:
        The variable.

    Raises:
        InvalidArgumentError: an index is out of range, or the shapes do not fit.

    Example:
        >>> tf.compat.v1.{method}(tf.Variable([8.0, 9.0, 4.0]), {example}).numpy().tolist()
        {result}
    """
    return scatter


scatter_update = _rows("scatter_update", "Sets", "[1.0, 2.0]", "[1.0, 9.0, 2.0]")
scatter_add = _rows("scatter_add", "Adds to", "[1.0, 2.0]", "[9.0, 9.0, 6.0]")
scatter_sub = _rows("scatter_sub", "Subtracts from", "[1.0, 2.0]", "[7.0, 9.0, 2.0]")
scatter_mul = _rows("scatter_mul", "Multiplies", "[1.0, 2.0]", "[8.0, 9.0, 8.0]")
scatter_div = _rows("scatter_div", "Divides", "[1.0, 2.0]", "[8.0, 9.0, 2.0]")
scatter_max = _rows("scatter_max", "Takes the element-wise maximum with", "[1.0, 5.0]", "[8.0, 9.0, 5.0]")
scatter_min = _rows("scatter_min", "Takes the element-wise minimum with", "[1.0, 5.0]", "[1.0, 9.0, 4.0]")
scatter_nd_update = _parts("scatter_nd_update", "Sets", "[1.0, 2.0]", "[1.0, 9.0, 2.0]")
scatter_nd_add = _parts("scatter_nd_add", "Adds to", "[1.0, 2.0]", "[9.0, 9.0, 6.0]")
scatter_nd_sub = _parts("scatter_nd_sub", "Subtracts from", "[1.0, 2.0]", "[7.0, 9.0, 2.0]")


def count_up_to(ref: Any, limit: int, name: str | None = None) -> Any:
    """Adds one to a variable and returns its old value, see `tf.Variable.count_up_to`.

    Raises:
        OutOfRangeError: it is `limit` already.

    Example:
        >>> v = tf.Variable(0)
        >>> tf.compat.v1.count_up_to(v, 3).numpy().item(), v.numpy().item()
        (0, 1)
    """
    return ref.count_up_to(limit)
