"""Element forms: the computation of an op for one element, in primitives that every backend has.

    @op("Sigmoid", kernel=torch.sigmoid, element=lambda b, x: b.div(1.0, b.add(1.0, b.exp(b.neg(x)))))

A form takes a builder and, in the order of the op's parameters, an `Element` for each tensor and a Python value for
each attr. It returns the element of the result. Python numbers may stand for operands: they take the other operand's
dtype. A form raises `Unsupported` where its builder does, and for values that the op's kernel refuses.
"""

from __future__ import annotations

import functools
import platform
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from tapeflow.core.types.dtypes import (
    DType,
    bfloat16,
    bool_,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)  # fmt: skip

if TYPE_CHECKING:
    from tapeflow.core.ops.definition import Op


class Element(NamedTuple):
    """One element of a tensor, or as many as a processor computes at once.

    Attributes:
        value: the builder's own representation.
        dtype: the dtype of the tensor.
        constant: its value, if that is static.
    """

    value: Any
    dtype: DType
    constant: Any = None


Form = Callable[..., Element]


class Unsupported(Exception):
    """A builder lacks a primitive for a dtype or on this machine, or the op's kernel may refuse values."""


# Arithmetic and exact functions of floats. `fma(x, y, z)` rounds `x * y + z` once.
_EXACT = frozenset(
    {"add", "sub", "mul", "div", "fma", "neg", "abs", "copysign", "floor", "ceil", "trunc", "rint", "sqrt"}
)
# Functions of floats, to at most a few units of the last digit.
FUNCTIONS = frozenset(
    {"exp", "expm1", "log", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh",
     "acosh", "atanh", "erf", "erfc", "lgamma", "pow", "atan2", "next_after"}
)  # fmt: skip
# Machine code calls SLEEF for these, as ATen does.
OF_SLEEF = frozenset({"erfc", "lgamma", "pow", "atan2", "next_after"})
# `quotient` and `remainder` divide towards zero; the divisor is neither 0 nor -1. `shift_right` keeps the sign of
# signed integers. Shifts are by fewer places than there are bits.
_BITWISE = frozenset({"bit_and", "bit_or", "bit_xor"})
_OF_INTEGERS = _BITWISE | {"add", "sub", "mul", "neg", "abs", "quotient", "remainder", "shift_left", "shift_right"}
OPERATIONS = _EXACT | FUNCTIONS | _OF_INTEGERS

HALVES = (float16, bfloat16)
DTYPES = frozenset(
    {float32, float64, float16, bfloat16, bool_, int8, int16, int32, int64, uint8, uint16, uint32, uint64}
)
_BITS_OF = {float32: int32, float64: int64}


class ElementBuilder:
    """The primitives of element forms.

    Arithmetic wraps around for integers, and is IEEE 754's for floats: no operation is contracted, reordered or
    approximated. float16 and bfloat16 are computed in float32 and rounded at the end of the form, as ATen's kernels do;
    a form rounds in between where the op's kernel consists of several of ATen's. A subclass has the methods that begin
    with `emit`.
    """

    def emit_number(self, value: Any, dtype: DType) -> Any:
        """Returns a constant."""
        raise NotImplementedError

    def emit(self, name: str, operands: Sequence[Any], dtype: DType) -> Any:
        """Returns the result of an operation in `OPERATIONS`, for operands of one dtype."""
        raise NotImplementedError

    def emit_compare(self, name: str, x: Any, y: Any, dtype: DType) -> Any:
        """Returns the result of `equal`, `less` or `less_equal`."""
        raise NotImplementedError

    def emit_select(self, condition: Any, x: Any, y: Any) -> Any:
        """Returns `x` if the condition holds, else `y`."""
        raise NotImplementedError

    def emit_convert(self, value: Any, source: DType, dtype: DType) -> Any:
        """Returns a value in another dtype, except bool. A float is within the range of an integer dtype."""
        raise NotImplementedError

    def emit_bits(self, value: Any, dtype: DType) -> Any:
        """Returns the bits of a value as a value of a dtype of the same size."""
        raise NotImplementedError

    def emit_rounded(self, value: Any, dtype: DType) -> Any:
        """Returns a value of float16 or bfloat16 that may have more digits than the dtype, without these."""
        raise NotImplementedError

    # ---- primitives ----------------------------------------------------------------------------------------------

    def number(self, value: float | bool, dtype: DType) -> Element:
        """Returns a constant."""
        _check_dtype(dtype)
        return Element(self.emit_number(value, dtype), dtype, value)

    def operate(self, name: str, *operands: Element) -> Element:
        """Returns the result of an operation in `OPERATIONS`, in the dtype of its operands.

        Raises:
            Unsupported: the dtype lacks the operation.
        """
        dtype = _common_dtype(name, operands)
        supported = _EXACT | FUNCTIONS if dtype.is_floating else _BITWISE if dtype is bool_ else _OF_INTEGERS
        if name not in supported:
            raise Unsupported(f"{name} is not compiled for {dtype.name}")
        return Element(self.emit(name, [o.value for o in operands], dtype), dtype)

    def select(self, condition: Element, x: Element | float, y: Element | float) -> Element:
        """Returns `x` where the condition holds, and `y` elsewhere."""
        x, y = self.same(x, y)
        return Element(self.emit_select(condition.value, x.value, y.value), _common_dtype("select", (x, y)))

    def convert(self, x: Element, dtype: DType) -> Element:
        """Returns an element in another dtype, as `tf.cast` does.

        Raises:
            Unsupported: the result for some values depends on the processor, or on their place in the tensor.
        """
        _check_dtype(dtype)
        if x.dtype is dtype:
            return x
        if dtype is bool_:
            return self.not_equal(x, 0)
        if x.dtype.is_floating and dtype.is_integer:
            # Whatever is out of range becomes the least number, on these processors.
            if dtype not in (int32, int64) or platform.machine().lower() not in ("x86_64", "amd64"):
                raise Unsupported(f"floats out of the range of {dtype.name} are not compiled")
            x = self.wide(x)
            least = -(2.0 ** (8 * dtype.size - 1))
            x = self.select(self.bit_and(self.less_equal(least, x), self.less(x, -least)), x, least)
        return Element(self.emit_convert(x.value, x.dtype, dtype), dtype)

    def bits(self, x: Element) -> Element:
        """Returns the bits of a float32 or float64 as a signed integer."""
        if x.dtype not in _BITS_OF:
            raise Unsupported(f"bits of {x.dtype.name} are not compiled")
        return Element(self.emit_bits(x.value, _BITS_OF[x.dtype]), _BITS_OF[x.dtype])

    def float_of_bits(self, x: Element) -> Element:
        """Returns the float that has the bits of an int32 or int64."""
        dtype = float32 if x.dtype is int32 else float64
        return Element(self.emit_bits(x.value, dtype), dtype)

    def rounded(self, x: Element) -> Element:
        """Returns an element with the precision of its dtype."""
        return Element(self.emit_rounded(x.value, x.dtype), x.dtype) if x.dtype in HALVES else x

    def same(self, *operands: Any) -> list[Element]:
        """Returns operands with Python numbers in the dtype of the elements among them."""
        dtype = next(o.dtype for o in operands if isinstance(o, Element))
        return [o if isinstance(o, Element) else self.number(o, dtype) for o in operands]

    def __getattr__(self, name: str) -> Callable[..., Element]:
        if name not in OPERATIONS:
            raise AttributeError(name)
        return lambda *operands: self.operate(name, *self.same(*operands))

    # ---- comparisons ---------------------------------------------------------------------------------------------

    def _compare(self, name: str, *operands: Any) -> Element:
        x, y = self.same(*operands)
        return Element(self.emit_compare(name, x.value, y.value, _common_dtype(name, (x, y))), bool_)

    def equal(self, x: Element, y: Element | float) -> Element:
        """Returns True if two elements are equal."""
        return self._compare("equal", x, y)

    def less(self, x: Element | float, y: Element | float) -> Element:
        """Returns True if `x` is below `y`."""
        return self._compare("less", x, y)

    def less_equal(self, x: Element | float, y: Element | float) -> Element:
        """Returns True if `x` is at or below `y`."""
        return self._compare("less_equal", x, y)

    def not_equal(self, x: Element, y: Element | int) -> Element:
        """Returns True if two elements differ; NaN differs from everything."""
        return self.logical_not(self.equal(x, y))

    def is_nan(self, x: Element) -> Element:
        """Returns True if an element is NaN."""
        return self.not_equal(x, x)

    def logical_not(self, x: Element) -> Element:
        """Returns True if a bool is False."""
        return self.bit_xor(x, True)

    # ---- division of integers ------------------------------------------------------------------------------------

    def floor_quotient(self, x: Element, y: Element) -> Element:
        """Returns the quotient of integers, rounded towards minus infinity.

        Raises:
            Unsupported: `divisor` does.
        """
        quotient = self.quotient(x, divisor(y))
        remainder = self.sub(x, self.mul(quotient, y))
        return self.select(self._has_other_sign(remainder, y), self.sub(quotient, 1), quotient)

    def floor_remainder(self, x: Element, y: Element) -> Element:
        """Returns the remainder of `floor_quotient`, which has the sign of the divisor.

        Raises:
            Unsupported: `divisor` does.
        """
        remainder = self.remainder(x, divisor(y))
        return self.select(self._has_other_sign(remainder, y), self.add(remainder, y), remainder)

    def _has_other_sign(self, remainder: Element, y: Element) -> Element:
        """Computes if a remainder is not 0 and its sign differs from the sign of the divisor."""
        return self.less(remainder, 0) if y.constant > 0 else self.less(0, remainder)

    # ---- selections ----------------------------------------------------------------------------------------------

    def maximum(self, x: Element, y: Element | int) -> Element:
        """Returns the larger element, or NaN if one is NaN."""
        x, y = self.same(x, y)
        larger = self.select(self.less(y, x), x, y)
        return self.select(self.is_nan(x), x, larger) if x.dtype.is_floating else larger

    def minimum(self, x: Element, y: Element | int) -> Element:
        """Returns the smaller element, or NaN if one is NaN."""
        x, y = self.same(x, y)
        smaller = self.select(self.less(x, y), x, y)
        return self.select(self.is_nan(x), x, smaller) if x.dtype.is_floating else smaller

    def combined(self, name: str, elements: Sequence[Element], halves: bool = False) -> Element:
        """Returns elements, combined in pairs.

        Args:
            name: `add`, `maximum` or `minimum`.
            elements: the elements.
            halves: False for pairs of neighbors, True for pairs of a first and a second half. The number of elements is
                then a power of two.
        """
        row = list(elements)
        while len(row) > 1:
            middle = len(row) // 2
            first, second = (row[:middle], row[middle:]) if halves else (row[:-1:2], row[1::2])
            row = [getattr(self, name)(x, y) for x, y in zip(first, second, strict=True)] + row[2 * middle :]
        return row[0]

    def zero_where_zero(self, product: Element, factor: Element) -> Element:
        """Returns a product, and 0 where a factor is 0, even if the other one is infinite or NaN."""
        return self.select(self.equal(factor, 0), 0, product)

    def wide(self, x: Element) -> Element:
        """Converts an element of float16 or bfloat16 to float32, for constants with more digits."""
        return self.convert(x, float32) if x.dtype in HALVES else x

    def sigmoid(self, x: Element) -> Element:
        """Returns `1 / (1 + exp(-x))`."""
        return self.div(1.0, self.add(1.0, self.exp(self.neg(x))))


def divisor(y: Element) -> Element:
    """Returns a divisor of integers that is safe for every dividend: a constant.

    Raises:
        Unsupported: it may be 0, which the kernels refuse, or -1, which overflows for the least number.
    """
    if y.dtype.is_integer and y.constant in (None, 0, -1):
        raise Unsupported("integers are divided only by constants")
    return y


def _check_dtype(dtype: DType) -> None:
    if dtype not in DTYPES:
        raise Unsupported(f"elements of {dtype.name} are not compiled")


def _common_dtype(name: str, operands: Sequence[Element]) -> DType:
    """Returns the dtype that operands have in common."""
    dtype = operands[0].dtype
    if any(o.dtype is not dtype for o in operands):
        raise TypeError(f"{name} takes elements of one dtype, not {[o.dtype.name for o in operands]}")
    _check_dtype(dtype)
    return dtype


# ---- supported dtypes ------------------------------------------------------------------------------------------------


class Probe(ElementBuilder):
    """A builder that computes nothing, and raises `Unsupported` where every builder does."""

    _nothing: Any = lambda *_: None
    emit_number = emit = emit_compare = emit_select = emit_convert = emit_bits = emit_rounded = _nothing


def supports(op: Op, dtypes: tuple[DType, ...], attrs: tuple[Any, ...] = (), constants: tuple[Any, ...] = ()) -> bool:
    """Returns True if an op has an element form that takes elements of these dtypes.

    Args:
        op: the op.
        dtypes: the dtypes of the tensors.
        attrs: the other arguments, in the order of the parameters.
        constants: for each tensor its value if that is static, else None; by default no value is static.

    Returns:
        A bool. False if the form raises `Unsupported` in every builder.

    Example:
        >>> from tapeflow.core.ops.definition import ops
        >>> from tapeflow.core.ops.elements import supports
        >>> supports(ops.Mul.op, (tf.float32, tf.float32))
        True
    """
    return op.element is not None and _supports_elements(op, dtypes, attrs, constants or (None,) * len(dtypes))


@functools.lru_cache(1 << 12)
def _supports_elements(op: Op, dtypes: tuple[DType, ...], attrs: tuple[Any, ...], constants: tuple[Any, ...]) -> bool:
    elements = [Element(None, d, c) for d, c in zip(dtypes, constants, strict=True)]
    form: Any = op.element
    try:
        for dtype in dtypes:
            _check_dtype(dtype)
        form(Probe(), *op.with_tensors(elements, attrs))
    except Unsupported:
        return False
    return True
