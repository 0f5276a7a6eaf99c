"""`experimental_enable_numpy_behavior`: tensors with NumPy's methods, promotion in operators, and NumPy's indexing."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.values.tensor import EagerTensor, Tensor
from tapeflow.core.values.variable import Variable
from tapeflow.experimental.numpy.indices import numpy_getitem
from tapeflow.experimental.numpy.linalg import matmul
from tapeflow.experimental.numpy.manipulation import flatten, ravel, reshape, transpose
from tapeflow.experimental.numpy.math import around, clip
from tapeflow.experimental.numpy.reductions import amax, amin, mean
from tapeflow.experimental.numpy.types import Function, as_array, preferences, result_type
from tapeflow.math.casting import cast

_PROMOTING = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor")
_COMPARING = ("lt", "le", "gt", "ge", "eq", "ne")


def _promoting_operator(operator: Function) -> Function:
    """Returns an operator that promotes its operands to one dtype and calls `operator`."""

    @functools.wraps(operator)
    def function(self: Tensor, other: TensorLike) -> Any:
        if other is None or isinstance(other, (str, bytes)) or hasattr(type(other), "__tf_dispatch__"):
            return operator(self, other)
        try:
            dtype = result_type(self, other)
        except TypeError:  # no numbers
            return operator(self, other)
        if self.dtype is not dtype:
            self = cast(self, dtype)
        return operator(self, as_array(other, dtype))

    return function


def _reshape_method(self: Tensor, *newshape: Any, order: str = "C") -> Any:
    """Returns the elements in another shape, said by one argument or by one for each dimension."""
    dims = newshape[0] if len(newshape) == 1 and not isinstance(newshape[0], int) else newshape
    return reshape(self, dims, order)


def _size_property(self: Tensor) -> Any:
    """The number of elements, or None where the static shape does not say."""
    return np.prod(self.shape.as_list()) if self.shape.is_fully_defined() else None


def _to_list(self: Tensor) -> Any:
    """Returns the elements as nested lists.

    Raises:
        ValueError: the tensor is symbolic.
    """
    if not isinstance(self, EagerTensor):
        raise ValueError("Symbolic Tensors do not support the tolist API.")
    return self.numpy().tolist()


_METHODS: dict[str, Any] = {
    "T": property(transpose),
    "__getitem__": numpy_getitem,
    "__pos__": lambda self: self,
    "__round__": around,
    "astype": cast,
    "clip": clip,
    "data": property(lambda self: self),
    "flatten": flatten,
    "max": amax,
    "mean": mean,
    "min": amin,
    "ndim": property(lambda self: self.shape.rank),
    "ravel": ravel,
    "reshape": _reshape_method,
    "size": property(_size_property),
    "tolist": _to_list,
    "transpose": transpose,
}


@functools.cache
def _promote_in_operators() -> None:
    for kind in (Tensor, Variable):
        for name in _PROMOTING:
            for symbol in (f"__{name}__", f"__r{name}__"):
                setattr(kind, symbol, _promoting_operator(getattr(kind, symbol)))
        for name in _COMPARING:
            setattr(kind, f"__{name}__", _promoting_operator(getattr(kind, f"__{name}__")))
        for symbol, product in (("__matmul__", matmul), ("__rmatmul__", lambda self, other: matmul(other, self))):
            setattr(kind, symbol, product)


@functools.cache
def _take_numpy_methods() -> None:
    for name, method in _METHODS.items():
        setattr(Tensor, name, method)
    EagerTensor.__getitem__ = numpy_getitem  # type: ignore[method-assign]  # it overrides `Tensor.__getitem__`


def experimental_enable_numpy_behavior(prefer_float32: bool = False, dtype_conversion_mode: str = "legacy") -> None:
    """Gives tensors NumPy's behavior: its methods, such as `reshape` and `T`, its indexing, and promotion in operators.

    It holds for the whole process and can't be undone.

    Args:
        prefer_float32: take Python floats as float32, not float64.
        dtype_conversion_mode: "legacy" promotes as NumPy does; "off" does not promote in operators.

    Raises:
        NotImplementedError: the mode is "safe" or "all": there are no weak types.
        ValueError: there is no such mode.
    """
    if dtype_conversion_mode in ("safe", "all"):
        raise NotImplementedError(
            f"dtype_conversion_mode={dtype_conversion_mode!r} needs tensors of weak types, which TapeFlow lacks: "
            'use "legacy", which promotes as NumPy does, or "off".'
        )
    if dtype_conversion_mode not in ("legacy", "off"):
        raise ValueError(
            f"The provided promotion mode {dtype_conversion_mode} does not exist. Make sure the provided dtype "
            "conversion mode is one of the followings: off, legacy, safe, all."
        )
    _take_numpy_methods()
    if dtype_conversion_mode == "legacy":
        _promote_in_operators()
    preferences.float32 = prefer_float32
