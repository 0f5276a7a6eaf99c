"""What the gradients of many ops share. The rooms of those ops import this one, so it finds its own ops by name."""

from __future__ import annotations

from typing import Any

from tapeflow.core.context import registry
from tapeflow.core.tensor import EagerTensor


def conj(x: Any) -> Any:
    """The complex conjugate, which for a real tensor is the tensor itself."""
    if x.dtype.is_complex:
        return registry["Conj"].function(x)
    return x


def shape_of(x: Any) -> Any:
    """The shape of a tensor, as an op takes it."""
    return x.value.shape if type(x) is EagerTensor else x.shape


def sum_to_shape(dy: Any, shape: Any) -> Any:
    """Undoes broadcasting: sums `dy` over the dimensions that a tensor of `shape` was stretched along."""
    stretched = shape_of(dy)
    if stretched == shape:
        return dy
    extra = len(stretched) - len(shape)
    if stretched[extra:] == shape:  # as when a bias was added
        return registry["Sum"].function(dy, 0 if extra == 1 else tuple(range(extra)))
    axes = [i for i in range(len(stretched)) if i < extra or (shape[i - extra] == 1 and stretched[i] != 1)]
    if axes:
        dy = registry["Sum"].function(dy, tuple(axes))
    return registry["Reshape"].function(dy, tuple(shape))


def sum_like(dy: Any, x: Any) -> Any:
    """Undoes broadcasting: sums `dy` to the shape of `x`."""
    if type(dy) is EagerTensor and type(x) is EagerTensor and dy.value.shape == x.value.shape:
        return dy
    return sum_to_shape(dy, shape_of(x))
