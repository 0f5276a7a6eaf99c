"""Element forms: what an op computes for one element, in primitives that every backend has.

    @op("Sigmoid", kernel=torch.sigmoid, element=lambda b, x: b.div(1.0, b.add(1.0, b.exp(b.neg(x)))))

A form takes a builder and, in the order of the op's parameters, an `Element` for each tensor and a Python value for
each attr. It returns the element of the result. Python numbers may stand for operands: they take the other operand's
dtype.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tapeflow.core.types.dtypes import DType, bool_


class Element(NamedTuple):
    """One element of a tensor, or as many as a processor computes at once.

    Attributes:
        value: what the builder computes with.
        dtype: the dtype of the tensor.
    """

    value: Any
    dtype: DType


Form = Callable[..., Element]


class Unsupported(Exception):
    """A builder lacks a primitive for a dtype or on this machine."""


class ElementBuilder:
    """The primitives of element forms.

    Arithmetic wraps around for integers, and is IEEE 754's for floats: no operation is contracted, reordered or
    approximated. float16 and bfloat16 are computed in float32 and rounded once, at the end of the form, as ATen's
    kernels do. A subclass has `number`, `operate`, `compare`, `select` and `convert`.
    """

    def number(self, value: float | bool, dtype: DType) -> Element:
        """Returns a constant."""
        raise NotImplementedError

    def operate(self, name: str, *operands: Element) -> Element:
        """Returns the result of one of `OPERATIONS` for operands of one dtype, which the result has."""
        raise NotImplementedError

    def compare(self, name: str, x: Element, y: Element) -> Element:
        """Returns a bool: one of the comparisons `equal`, `less` and `less_equal`, which NaN fails."""
        raise NotImplementedError

    def select(self, condition: Element, x: Any, y: Any) -> Element:
        """Returns `x` where the condition holds, and `y` elsewhere."""
        raise NotImplementedError

    def convert(self, x: Element, dtype: DType) -> Element:
        """Returns an element in another dtype, as `tf.cast` does."""
        raise NotImplementedError

    def same(self, *operands: Any) -> list[Element]:
        """Returns operands with Python numbers in the dtype of the elements among them."""
        dtype = next(o.dtype for o in operands if isinstance(o, Element))
        return [o if isinstance(o, Element) else self.number(o, dtype) for o in operands]

    def __getattr__(self, name: str) -> Callable[..., Element]:
        if name not in OPERATIONS:
            raise AttributeError(name)
        return lambda *operands: self.operate(name, *self.same(*operands))

    # ---- comparisons ---------------------------------------------------------------------------------------------

    def equal(self, x: Any, y: Any) -> Element:
        """Returns whether two elements are equal."""
        return self.compare("equal", *self.same(x, y))

    def less(self, x: Any, y: Any) -> Element:
        """Returns whether `x` is below `y`."""
        return self.compare("less", *self.same(x, y))

    def less_equal(self, x: Any, y: Any) -> Element:
        """Returns whether `x` is at or below `y`."""
        return self.compare("less_equal", *self.same(x, y))

    def not_equal(self, x: Any, y: Any) -> Element:
        """Returns whether two elements differ; NaN differs from everything."""
        return self.logical_not(self.equal(x, y))

    def is_nan(self, x: Element) -> Element:
        """Returns whether an element is NaN."""
        return self.not_equal(x, x)

    def logical_not(self, x: Element) -> Element:
        """Returns whether a bool is False."""
        return self.bit_xor(x, self.number(True, bool_))

    # ---- what has a choice in it ---------------------------------------------------------------------------------

    def maximum(self, x: Any, y: Any) -> Element:
        """Returns the larger element, or NaN if one is NaN."""
        x, y = self.same(x, y)
        larger = self.select(self.less(y, x), x, y)
        return self.select(self.is_nan(x), x, larger) if x.dtype.is_floating else larger

    def minimum(self, x: Any, y: Any) -> Element:
        """Returns the smaller element, or NaN if one is NaN."""
        x, y = self.same(x, y)
        smaller = self.select(self.less(x, y), x, y)
        return self.select(self.is_nan(x), x, smaller) if x.dtype.is_floating else smaller


# Of two operands: arithmetic, and for integers `quotient` and `remainder` of a division towards zero. `shift_right`
# keeps the sign of signed integers.
BINARY = frozenset(
    {"add", "sub", "mul", "div", "quotient", "remainder", "bit_and", "bit_or", "bit_xor", "shift_left", "shift_right",
     "copysign"}
)  # fmt: skip
# Of one operand, exact for floats.
EXACT = frozenset({"neg", "abs", "floor", "ceil", "trunc", "rint", "sqrt"})
# Functions of floats, to at most a few units of the last digit.
FUNCTIONS = {
    "exp": 1, "expm1": 1, "log": 1, "log1p": 1, "sin": 1, "cos": 1, "tan": 1, "asin": 1, "acos": 1, "atan": 1,
    "sinh": 1, "cosh": 1, "tanh": 1, "asinh": 1, "acosh": 1, "atanh": 1, "erf": 1, "erfc": 1, "lgamma": 1, "pow": 2,
    "atan2": 2, "next_after": 2,
}  # fmt: skip
OPERATIONS = BINARY | EXACT | frozenset(FUNCTIONS)
