"""What the gradients of many ops share. The rooms of those ops import this one, so it finds its own ops by name."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable
from typing import Any

import torch

from tapeflow.core.ops.definition import ops
from tapeflow.core.values.tensor import EagerTensor


def conj(x: Any) -> Any:
    """The complex conjugate, which for a real tensor is the tensor itself."""
    if x.dtype.is_complex:
        return ops.Conj(x)
    return x


def shape_of(x: Any) -> Any:
    """The shape of a tensor, as an op takes it."""
    if type(x) is EagerTensor:
        return x.value.shape
    from tapeflow.graph.gradients.deferred import shape_of_symbolic

    return shape_of_symbolic(x)


def is_unranked(shape: Any) -> bool:
    """Whether of a shape, as `shape_of` gives it, not even the rank is known."""
    return not isinstance(shape, tuple) and shape.tensor.shape.rank is None


def shape_argument(shape: Any) -> Any:
    """A shape, as `shape_of` gives it, as an op takes it: a tuple, or a tensor where not even the rank is known."""
    return shape.__tf_tensor__() if is_unranked(shape) else tuple(shape)


def size_of(dims: Iterable[Any]) -> Any:
    """The product of dimensions, of which some may be scalar tensors, in a graph."""
    return functools.reduce(operator.mul, dims, 1)


def zeros_like_value(x: Any) -> EagerTensor:
    """Zeros of the dtype and shape of an eager tensor, or of the value of a variable."""
    return EagerTensor(raw_zeros((x if type(x) is EagerTensor else x._value).value), x.dtype)


def raw_zeros(value: Any) -> Any:
    """Zeros like a raw value: a `torch.Tensor`, or a list of tensors."""
    if isinstance(value, torch.Tensor):
        return torch.zeros_like(value)
    from tapeflow.array.tensor_list import zeros_variant

    return zeros_variant()


def sum_to_shape(dy: Any, shape: Any) -> Any:
    """Undoes broadcasting: sums `dy` over the dimensions that a tensor of `shape` was stretched along."""
    stretched = shape_of(dy)
    if not isinstance(shape, tuple) or not isinstance(stretched, tuple):
        return _sum_to_dynamic(dy, shape, stretched)
    if stretched == shape:
        return dy
    extra = len(stretched) - len(shape)
    if stretched[extra:] == shape:  # as when a bias was added
        return ops.Sum(dy, 0 if extra == 1 else tuple(range(extra)))
    axes = [i for i in range(len(stretched)) if i < extra or (shape[i - extra] == 1 and stretched[i] != 1)]
    if axes:
        dy = ops.Sum(dy, tuple(axes))
    return ops.Reshape(dy, tuple(shape))


def _sum_to_dynamic(dy: Any, shape: Any, stretched: Any) -> Any:
    """`sum_to_shape` in a graph, where dimensions are not known."""
    from tapeflow.graph.gradients.deferred import DynamicShape, sum_to_dynamic

    if isinstance(shape, DynamicShape):
        return sum_to_dynamic(dy, shape)
    extra = stretched.tensor.shape.rank - len(shape) if stretched.tensor.shape.rank is not None else -1
    if extra > 0 and tuple(stretched.tensor.shape.as_list()[extra:]) == shape:
        return ops.Sum(dy, tuple(range(extra)))
    return sum_to_dynamic(dy, DynamicShape(ops.Fill(shape, 0.0)))


def sum_like(dy: Any, x: Any) -> Any:
    """Undoes broadcasting: sums `dy` to the shape of `x`."""
    if type(dy) is EagerTensor and type(x) is EagerTensor and dy.value.shape == x.value.shape:
        return dy
    return sum_to_shape(dy, shape_of(x))
