"""The operators of tensors and variables: Python's symbols bound to ops.

`x + y` is the op's own function, with no layer in between. If `y` can't be converted to the dtype of `x`, its reflected
operator is called, as Python does for `NotImplemented`. Reflected operators swap the operands.
"""

from __future__ import annotations

import operator as python
from collections.abc import Callable
from typing import Any

from tapeflow.array.slicing import careful_getitem, getitem, iterate, variable_getitem
from tapeflow.bitwise import bitwise_and, bitwise_or, bitwise_xor, invert
from tapeflow.core import device as devices
from tapeflow.core.autodiff.tape import record_function
from tapeflow.core.context import state
from tapeflow.core.hooks import hooks
from tapeflow.core.ops.convert import convert, operand
from tapeflow.core.ops.op import operator
from tapeflow.core.types.dtypes import bool_, int32
from tapeflow.core.values.tensor import EagerTensor, ReadAsTensor, Tensor
from tapeflow.core.values.variable import Variable
from tapeflow.linalg.products import matmul
from tapeflow.math.arithmetic import add, multiply, negative, subtract
from tapeflow.math.casting import cast
from tapeflow.math.comparison import (
    compare_whole,
    equal,
    greater,
    greater_equal,
    less,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    not_equal,
)
from tapeflow.math.division import floordiv, floormod, realdiv, true_divide, truediv
from tapeflow.math.elementwise import abs as absolute
from tapeflow.math.elementwise import pow as power

Function = Callable[..., Any]


def _name_operator(function: Callable[..., Any], name: str) -> Any:
    function.__name__ = function.__qualname__ = name
    return function


_bound: set[str] = set()


def _bind_operator(name: str, function: Function, types: tuple[type, ...] = (Tensor, Variable)) -> None:
    _bound.add(name)
    for each in types:
        setattr(each, name, function)


# ---- arithmetic ------------------------------------------------------------------------------------------------------


def _reflected_operator(function: Callable[..., Any], slow: Function, name: str, public: Any) -> Function:
    """Returns the operator with the operands swapped, which converts other values to the tensor's dtype."""

    def with_converted(args: tuple[Any, Any], name: str | None = None) -> Any:
        left, right = args
        if not isinstance(left, (Tensor, ReadAsTensor)) and not hasattr(type(left), "__tf_dispatch__"):
            left = operand(left, right.dtype) if type(left) in (int, float) else convert(left, right.dtype)
        return slow((left, right), name)

    swapped = operator(function, name, with_converted, public)

    def reflected(self: Any, other: Any) -> Any:
        return swapped(other, self)

    return _name_operator(reflected, name)


def _divide_slowly(args: tuple[Any, Any], name: str | None = None) -> Any:
    """Computes `/` off the fast path: of integers, and of values that are no tensors yet."""
    for arg in args:
        if hasattr(type(arg), "__tf_dispatch__"):
            return realdiv.op.operate(args, name)
    return true_divide(args, name)


def _multiply_slowly(args: tuple[Any, Any], name: str | None = None) -> Any:
    """Computes `*` off the fast path. Bools are multiplied as integers, and the product is cast to bool."""
    if any(isinstance(arg, Tensor) and arg.dtype is bool_ for arg in args):
        x, y = (cast(arg, int32) for arg in args)
        return cast(multiply(x, y, name), bool_)
    return multiply.op.operate(args, name)


# The functions that dispatchers get for operators, if they differ from the op's.
_PUBLIC = {"add": python.add, "eq": python.eq, "ne": python.ne, "truediv": truediv}

for _symbol, _function, _slow in (
    ("add", add, add.op.operate),
    ("sub", subtract, subtract.op.operate),
    ("mul", multiply, _multiply_slowly),
    ("truediv", realdiv, _divide_slowly),
    ("floordiv", floordiv, floordiv.op.operate),
    ("mod", floormod, floormod.op.operate),
    ("pow", power, power.op.operate),
):
    _public = _PUBLIC.get(_symbol)
    _bind_operator(f"__{_symbol}__", operator(_function, f"__{_symbol}__", _slow, _public))
    _reflected_slow = _function.op.run if _slow == _function.op.operate else _slow
    _bind_operator(f"__r{_symbol}__", _reflected_operator(_function, _reflected_slow, f"__r{_symbol}__", _public))


_bind_operator("__matmul__", _name_operator(lambda self, other: matmul(self, other), "__matmul__"))
_bind_operator(
    "__rmatmul__", _name_operator(lambda self, other: matmul(convert(other, self.dtype), self), "__rmatmul__")
)
_bind_operator("__neg__", negative)
_bind_operator("__abs__", absolute)


# ---- comparisons -----------------------------------------------------------------------------------------------------

for _symbol, _function in (("lt", less), ("le", less_equal), ("gt", greater), ("ge", greater_equal)):
    _bind_operator(f"__{_symbol}__", operator(_function, f"__{_symbol}__"))


def _equality_operator(function: Callable[..., Any], unlike: bool, accepts_none: bool) -> Function:
    """Returns `==` or `!=` off the fast path; tensors whose shapes do not broadcast are unequal as a whole.

    Args:
        function: the op's function.
        unlike: the result for operands that are unequal as a whole.
        accepts_none: None is unequal to the left operand, rather than an error.
    """

    def slow(args: tuple[Any, Any], name: str | None = None) -> Any:
        if state.graph is not None and not state.graph.building_function:  # as TensorFlow 1: identities
            return (args[0] is not args[1]) is unlike
        if accepts_none and args[1] is None:
            return unlike
        return compare_whole(function, *args, unlike, name)

    return slow


def compare_elements() -> None:
    """Makes `==` and `!=` of tensors and variables compare elements. This is the default."""
    for kind, accepts_none in ((Tensor, True), (Variable, False)):
        for symbol, function, unlike in (("eq", equal, False), ("ne", not_equal, True)):
            slow = _equality_operator(function, unlike, accepts_none)
            _bind_operator(f"__{symbol}__", operator(function, f"__{symbol}__", slow, _PUBLIC[symbol]), (kind,))


def compare_identities() -> None:
    """Makes `==` and `!=` of tensors and variables compare identities, as in TensorFlow 1."""
    _bind_operator("__eq__", _name_operator(lambda self, other: self is other, "__eq__"))
    _bind_operator("__ne__", _name_operator(lambda self, other: self is not other, "__ne__"))


compare_elements()


# ---- logic and bits --------------------------------------------------------------------------------------------------


def _logical_or_bitwise(name: str, logical: Function, bitwise: Function) -> None:
    """Binds `&`, `|` or `^`: logical for bools, bitwise for integers."""

    def forward(self: Any, other: Any) -> Any:
        return logical(self, other) if self.dtype is bool_ else bitwise(self, other)

    def reflected(self: Any, other: Any) -> Any:
        other = convert(other, self.dtype)
        return logical(other, self) if self.dtype is bool_ else bitwise(other, self)

    _bind_operator(f"__{name}__", _name_operator(forward, f"__{name}__"))
    _bind_operator(f"__r{name}__", _name_operator(reflected, f"__r{name}__"))


_logical_or_bitwise("and", logical_and, bitwise_and)
_logical_or_bitwise("or", logical_or, bitwise_or)
_logical_or_bitwise("xor", logical_xor, bitwise_xor)


_bind_operator("__invert__", _name_operator(lambda x: logical_not(x) if x.dtype is bool_ else invert(x), "__invert__"))


# Libraries read this to define the operators of their classes.
Tensor.OVERLOADABLE_OPERATORS = {"__getitem__", *_bound}


def _of_value(name: str) -> Function:
    of_tensors = getattr(Tensor, name)
    return _name_operator(lambda self, *others: of_tensors(self.value(), *others), name)


def _overload_all(cls: type[Variable]) -> None:
    """Has the operators of a class of variables use its `value()`, as those that wrap another variable ask for."""
    for name in sorted(Tensor.OVERLOADABLE_OPERATORS - {"__eq__", "__ne__"} - vars(cls).keys()):
        setattr(cls, name, _of_value(name))


def _init_subclass(cls: type[Variable], **options: Any) -> None:
    """Has the operators of a program's class use its own `value`, if it has one."""
    super(Variable, cls).__init_subclass__(**options)
    if "value" in vars(cls) and "_read" not in vars(cls):
        _overload_all(cls)


Variable._OverloadAllOperators = classmethod(_overload_all)  # type: ignore[attr-defined]
Variable.__init_subclass__ = classmethod(_init_subclass)  # type: ignore[assignment]


# ---- in-place operators; variables refuse them -----------------------------------------------------------------------


def _refused_operator(name: str, symbol: str) -> Function:
    instead = f"assign_{name}(value)" if name in ("add", "sub") else f"assign(variable {symbol} value)"

    def in_place(self: Variable, other: Any) -> Any:
        raise RuntimeError(
            f"`variable {symbol}= value` with `tf.Variable`s is not supported. Use `variable.{instead}` to modify the "
            f"variable, or `out = variable {symbol} value` if you need to get a new output Tensor."
        )

    return in_place


_SYMBOLS = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**"}

for _name, _symbol in _SYMBOLS.items():
    _bind_operator(f"__i{_name}__", _name_operator(_refused_operator(_name, _symbol), f"__i{_name}__"), (Variable,))


# ---- copies between devices ------------------------------------------------------------------------------------------


def copied_to(self: EagerTensor, device: str) -> EagerTensor:
    """Returns a copy of a tensor on a device, by its name; gradients are copied back to the tensor's device.

    Raises:
        RuntimeError: there is no such device.
    """
    source, target = self.device, devices.find(device)
    if target is None or target.kind.lower() not in device.lower():
        raise RuntimeError(f"There is no {device}: see tf.config.list_logical_devices() for the devices there are.")
    if source == target.name:
        return self
    copied = EagerTensor(self.value if self.dtype.torch is None else self.value.to(target.torch), self.dtype)
    copied._device = target.name
    if state.tapes:
        record_function("Copy", [self], [copied], lambda dy: copied_to(dy, source))
    return copied


# ---- square brackets -------------------------------------------------------------------------------------------------

_bind_operator("__getitem__", careful_getitem, (Tensor,))
_bind_operator("__getitem__", getitem, (EagerTensor,))
_bind_operator("__getitem__", variable_getitem, (Variable,))
_bind_operator("__iter__", iterate, (Tensor,))


hooks.copied_to = copied_to
