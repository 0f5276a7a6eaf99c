"""Slices of an operator's batch: `operator[0]`, `operator[..., tf.newaxis]`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tapeflow.array.identities import identity
from tapeflow.array.reshapes import reshape
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.linalg.operators.shapes import dimensions

if TYPE_CHECKING:
    from tapeflow.linalg.operators.base import LinearOperator


def batch_slice(operator: LinearOperator, slices: Any) -> LinearOperator:
    """Slices the leading dimensions of an operator.

    Raises:
        InvalidArgumentError: there are more slices than dimensions, or an index is out of range.
        ValueError: there is more than one `...`.
    """
    entries = slices if isinstance(slices, tuple) else tuple(slices) if isinstance(slices, list) else (slices,)
    batch_shape = operator.batch_shape
    return operator._sliced(_explicit_slices(entries, batch_shape.rank), batch_shape)


def _explicit_slices(entries: tuple[Any, ...], rank: int | None) -> tuple[Any, ...]:
    """Returns slices with an entry for each dimension, beside new axes, and no `...`.

    Raises:
        InvalidArgumentError: there are more slices than dimensions.
        ValueError: there is more than one `...`, or the rank is unknown.
    """
    if rank is None:
        raise ValueError("An operator of unknown rank can't be sliced.")
    dots = [i for i, entry in enumerate(entries) if entry is Ellipsis]
    if len(dots) > 1:
        raise ValueError(f"Found multiple `...` in slices {entries}")
    count = sum(entry is not None and entry is not Ellipsis for entry in entries)
    if count > rank:
        raise invalid(f"Too many slices: the operator has {rank} batch dimensions, and {count} slices were given.")
    at = dots[0] if dots else len(entries)
    return (*entries[:at], *[slice(None)] * (rank - count), *entries[at + len(dots) :])


def slice_parameters(operator: LinearOperator, entries: tuple[Any, ...], batch_shape: TensorShape) -> LinearOperator:
    """Creates an operator of the same class whose parameters are sliced.

    Args:
        operator: the operator to slice, or one of its parameters. Its batch broadcasts to `batch_shape`.
        entries: the slices, one for each dimension of `batch_shape`, and None for new axes.
        batch_shape: the batch of the sliced operator.
    """

    def sliced(value: Any, inner: int) -> Any:
        if hasattr(type(value), "_sliced"):  # an operator
            return value._sliced(entries, batch_shape)
        if isinstance(value, (list, tuple)):
            return [sliced(v, inner) for v in value]
        return slice_batch(value, inner, entries, batch_shape)

    parameters = operator.parameters
    for name, inner in operator._matrix_dimensions.items():
        if inner is not None and parameters.get(name) is not None:
            parameters[name] = sliced(getattr(operator, name), inner)
    return type(operator)(**parameters)


def slice_batch(x: Tensor, inner: int, entries: tuple[Any, ...], batch_shape: TensorShape) -> Any:
    """Slices a tensor. All its dimensions but the last `inner` broadcast to `batch_shape`."""
    shape = dimensions(x)
    own = len(shape) - inner
    if own == 0 and batch_shape.rank:
        return identity(x)  # it has no batch at all, and broadcasts to any
    missing = batch_shape.rank - own
    x = reshape(x, [1] * missing + shape)
    sizes = iter(zip([1] * missing + shape[:own], batch_shape, strict=True))
    adapted = []
    for entry in entries:
        if entry is not None:
            size, of_batch = next(sizes)
            if size == 1 and of_batch != 1:  # a dimension that broadcasts has its only element at every index
                entry = slice(None) if isinstance(entry, slice) else 0
        adapted.append(entry)
    return x[(*adapted, *[slice(None)] * inner)]
