"""Functions that the gradients of many ops share. The rooms of those ops import this one, so it calls ops by name."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import torch

from tapeflow.core.hooks import hooks
from tapeflow.core.ops.definition import NotStatic, ops
from tapeflow.core.values.tensor import EagerTensor, Tensor

if TYPE_CHECKING:
    from tapeflow.core.autodiff.tape import Call
    from tapeflow.core.types.dtypes import DType


class DynamicShape(Sequence):
    """The shape of a symbolic tensor whose dimensions are not all static: ints, and scalar tensors for the others."""

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor
        self._dims: tuple[Any, ...] | None = None

    def _items(self) -> tuple[Any, ...]:
        if self.tensor.shape.rank is None:
            raise NotStatic(f"The rank of {self.tensor} must be known while a graph is built.")
        if self._dims is None:
            whole = self.__tf_tensor__()
            self._dims = tuple([whole[i] if d is None else d for i, d in enumerate(self.tensor.shape)])
        return self._dims

    def __tf_tensor__(self, dtype: DType | None = None, name: str | None = None) -> Any:
        return ops.Shape(self.tensor)

    def __len__(self) -> int:
        return len(self._items())

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items())

    def __getitem__(self, key: int | slice) -> Any:
        if self.tensor.shape.rank is None and isinstance(key, int):
            return self.__tf_tensor__()[key]
        return self._items()[key]

    def __eq__(self, other: object) -> bool:
        """Returns True if the two are certainly equal."""
        return isinstance(other, DynamicShape) and self.tensor is other.tensor

    __hash__ = None  # type: ignore[assignment]


def conj(x: Any) -> Any:
    """Returns the complex conjugate, which for a real tensor is the tensor itself."""
    return ops.Conj(x) if x.dtype.is_complex else x


def shape_of(x: Any) -> Any:
    """Returns the shape of a tensor for gradients: a tuple of ints, or a `DynamicShape` where some are not
    static."""
    if type(x) is EagerTensor:
        return x.value.shape
    return tuple(x.shape.as_list()) if x.shape.is_fully_defined() else DynamicShape(x)


def is_unranked(shape: DynamicShape | tuple[int, ...]) -> bool:
    """Returns True if the rank of a shape, as `shape_of` returns it, is unknown."""
    return not isinstance(shape, tuple) and shape.tensor.shape.rank is None


def shape_argument(shape: Any) -> Any:
    """Returns a shape of `shape_of` as the argument of an op: a tuple, or a tensor where the rank is unknown."""
    return shape.__tf_tensor__() if is_unranked(shape) else tuple(shape)


def size_of(dims: Iterable[Any]) -> Any:
    """Returns the product of dimensions. In a graph, some may be scalar tensors. A shape of `shape_of` may have an
    unknown rank."""
    if isinstance(dims, DynamicShape) and is_unranked(dims):
        return ops.Size(dims.tensor)
    return functools.reduce(operator.mul, dims, 1)


def zeros_like_value(x: Any) -> EagerTensor:
    """Returns zeros of the dtype and shape of an eager tensor, or of the value of a variable."""
    return EagerTensor(raw_zeros((x if type(x) is EagerTensor else x._value).value), x.dtype)


def raw_zeros(value: Any) -> Any:
    """Returns zeros like a raw value: a `torch.Tensor`, or a list of tensors."""
    if isinstance(value, torch.Tensor):
        return torch.zeros_like(value)
    return hooks.zeros_variant()


def declare_adjoint(function: Any, adjoint: Callable[..., Any]) -> None:
    """Declares the gradient of a linear op: its adjoint, an op that takes the same attrs, of the cotangent."""
    function.gradient()(lambda call, dy: adjoint(dy, *call.attrs))


def sum_to_shape(dy: Tensor, shape: DynamicShape | tuple[Tensor | int, ...]) -> Any:
    """Undoes broadcasting: sums `dy` over the dimensions that a tensor of `shape` was stretched along."""
    stretched = shape_of(dy)
    if not isinstance(shape, tuple):
        return ops.SumToShape(dy, shape.tensor)
    if not isinstance(stretched, tuple):
        if is_unranked(stretched) or not all(isinstance(d, int) for d in shape):
            return ops.SumToShape(dy, ops.Fill(shape, 0.0))
        # A dynamic dimension equals the one in `shape`, or the latter is 1.
        stretched = tuple(stretched.tensor.shape.as_list())
    if stretched == shape:
        return dy
    extra = len(stretched) - len(shape)
    if stretched[extra:] == shape:  # as when a bias was added
        return ops.Sum(dy, 0 if extra == 1 else tuple(range(extra)))
    axes = [i for i in range(len(stretched)) if i < extra or (shape[i - extra] == 1 and stretched[i] != 1)]
    if axes:
        dy = ops.Sum(dy, tuple(axes))
    return ops.Reshape(dy, tuple(shape))


def sum_wanted(call: Call, *gradients: Callable[[], Any]) -> list[Any]:
    """Computes the gradients of inputs that broadcast, if they are wanted, and sums them to the inputs' shapes."""
    return [
        sum_like(gradient(), x) if wanted else None
        for gradient, x, wanted in zip(gradients, call.inputs, call.wanted, strict=True)
    ]


def sum_like(dy: Tensor, x: Tensor) -> Any:
    """Undoes broadcasting: sums `dy` to the shape of `x`."""
    if type(dy) is EagerTensor and type(x) is EagerTensor and dy.value.shape == x.value.shape:
        return dy
    return sum_to_shape(dy, shape_of(x))
