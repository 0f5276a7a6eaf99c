"""What the gradients of many ops share."""

from __future__ import annotations

from typing import Any

from tapeflow.core.tensor import EagerTensor


def conj(x: Any) -> Any:
    """The complex conjugate, which for a real tensor is the tensor itself."""
    if x.dtype.is_complex:
        from tapeflow.math.complex import conj as conjugate

        return conjugate(x)
    return x


def shape_of(x: Any) -> Any:
    """The shape of a tensor, as an op takes it."""
    return x.value.shape if type(x) is EagerTensor else x.shape


def sum_to_shape(dy: Any, shape: Any) -> Any:
    """Undoes broadcasting: sums `dy` over the dimensions that a tensor of `shape` was stretched along."""
    stretched = shape_of(dy)
    if stretched == shape:
        return dy
    from tapeflow.array.shaping import reshape
    from tapeflow.math.reduction import reduce_sum

    extra = len(stretched) - len(shape)
    axes = [i for i in range(len(stretched)) if i < extra or (shape[i - extra] == 1 and stretched[i] != 1)]
    if axes:
        dy = reduce_sum(dy, tuple(axes))
    return reshape(dy, tuple(shape))


def sum_like(dy: Any, x: Any) -> Any:
    """Undoes broadcasting: sums `dy` to the shape of `x`."""
    return sum_to_shape(dy, shape_of(x))
