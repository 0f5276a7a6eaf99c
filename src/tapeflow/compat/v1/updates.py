"""Changes of parts of variables: `scatter_add` and its kin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.core.convert import convert
from tapeflow.core.dtypes import int32, int64
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.core.variable import Variable


def _rows(method: str, what: str) -> Callable[..., Any]:
    def scatter(ref: Variable, indices: Any, updates: Any, use_locking: bool = True, name: str | None = None) -> Any:
        slices = IndexedSlices(convert(updates, ref.dtype), _as_indices(indices))
        return getattr(ref, method)(slices, name=name)

    return _described(scatter, method, f"{what} rows of a variable, see `tf.Variable.{method}`")


def _parts(method: str, what: str) -> Callable[..., Any]:
    def scatter(ref: Variable, indices: Any, updates: Any, use_locking: bool = True, name: str | None = None) -> Any:
        return getattr(ref, method)(_as_indices(indices), updates, name)

    return _described(scatter, method, f"{what} parts of a variable, see `tf.Variable.{method}`")


def _as_indices(indices: Any) -> Any:
    found = convert(indices)
    return found if found.dtype in (int32, int64) else convert(indices, int32)


def _described(scatter: Callable[..., Any], method: str, what: str) -> Callable[..., Any]:
    scatter.__name__ = scatter.__qualname__ = method
    scatter.__doc__ = f"""{what}.

    Args:
        ref: the variable.
        indices: which.
        updates: the values.
        use_locking: accepted, and without effect.

    Returns:
        The variable.
    """
    return scatter


scatter_update = _rows("scatter_update", "Sets")
scatter_add = _rows("scatter_add", "Adds to")
scatter_sub = _rows("scatter_sub", "Subtracts from")
scatter_mul = _rows("scatter_mul", "Multiplies")
scatter_div = _rows("scatter_div", "Divides")
scatter_max = _rows("scatter_max", "Makes larger")
scatter_min = _rows("scatter_min", "Makes smaller")
scatter_nd_update = _parts("scatter_nd_update", "Sets")
scatter_nd_add = _parts("scatter_nd_add", "Adds to")
scatter_nd_sub = _parts("scatter_nd_sub", "Subtracts from")
