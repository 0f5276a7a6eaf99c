"""Python numbers in the place of scalar tensors: the forms of ops for them, and the code that the compiler writes."""

from __future__ import annotations

from typing import NamedTuple

from tapeflow.core.types.dtypes import float32, float64, int32, int64

# Python's integers do not wrap around, and its floats do not round to float32: the code around an expression.
WRAPPED = {
    int32: "({} + 2147483648 & 4294967295) - 2147483648",
    int64: "({} + 9223372036854775808 & 18446744073709551615) - 9223372036854775808",
}
FLOATS = {float32: "f32({0})", float64: "f64({0})"}


class ScalarForm(NamedTuple):
    """The computation of an op on scalars that the compiler holds as Python numbers.

    Attributes:
        template: an expression of `{0}`, `{1}`, ...: the inputs.
        integers: it holds for int32 and int64; their results wrap around unless `bounded`.
        floats: it holds for float32 and float64.
        bounded: no result of integers leaves the range of the inputs.
        to_bool: the result is a Python bool.
    """

    template: str
    integers: bool = True
    floats: bool = True
    bounded: bool = False
    to_bool: bool = False
