"""`tf.experimental.numpy`: functions of elements, of one tensor and of two."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow import bitwise, math, nn
from tapeflow.array.concat_and_split import unstack
from tapeflow.array.creation import ones_like
from tapeflow.array.masks import where
from tapeflow.array.properties import shape
from tapeflow.array.reshapes import broadcast_to, reshape
from tapeflow.control.conditions_and_loops import while_loop
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import DType, bool_, int8, int32
from tapeflow.core.values.tensor import Tensor
from tapeflow.experimental.numpy.documentation import named_function, numpy_function
from tapeflow.experimental.numpy.types import (
    Function,
    as_array,
    as_inexact,
    broadcast_shape_of,
    default_float,
    operands,
    promote_values,
)
from tapeflow.math.casting import cast
from tapeflow.math.extrema import clip_by_value

# ---- of one tensor ---------------------------------------------------------------------------------------------------


def _unary_function(
    name: str, of: Function, summary: str, floats: bool = True, example: str | None = "[0.25, 0.5]"
) -> Callable[[TensorLike], Tensor]:
    """Returns a function of each element; with `floats`, of integers it computes as of floats."""
    convert = as_inexact if floats else as_array

    def function(x: TensorLike) -> Tensor:
        return of(convert(x))

    return named_function(function, name, summary, example)


def _cube_root(x: Tensor) -> Any:
    root = math.pow(math.abs(x), 1.0 / 3)
    return where(x < 0, -root, root)


def _normalized_sinc(x: Tensor) -> Any:
    scaled = x * np.pi
    return where(math.equal(x, 0), ones_like(x), math.sin(scaled) / scaled)


def _is_negative(x: Tensor) -> Any:
    return math.logical_and(x, False) if x.dtype is bool_ else x < 0


def _is_infinity(infinity: float) -> Function:
    return lambda x: math.equal(x, infinity) if x.dtype.is_floating else False


abs = _unary_function("abs", math.abs, "Returns absolute values.", floats=False)
absolute = _unary_function("absolute", math.abs, "Returns absolute values.", floats=False)
fabs = _unary_function("fabs", math.abs, "Returns absolute values.", floats=False)
arccos = _unary_function("arccos", math.acos, "Computes the inverse cosine.")
arccosh = _unary_function("arccosh", math.acosh, "Computes the inverse hyperbolic cosine.", example="[1.5, 2.0]")
arcsin = _unary_function("arcsin", math.asin, "Computes the inverse sine.")
arcsinh = _unary_function("arcsinh", math.asinh, "Computes the inverse hyperbolic sine.")
arctan = _unary_function("arctan", math.atan, "Computes the inverse tangent.")
arctanh = _unary_function("arctanh", math.atanh, "Computes the inverse hyperbolic tangent.")
bitwise_not = _unary_function(
    "bitwise_not",
    lambda x: math.logical_not(x) if x.dtype is bool_ else bitwise.invert(x),
    "Inverts bits, or bools.",
    floats=False,
    example="[1, 2]",
)
cbrt = _unary_function("cbrt", _cube_root, "Computes cube roots.")
ceil = _unary_function("ceil", math.ceil, "Rounds up.")
conj = _unary_function("conj", math.conj, "Returns complex conjugates.", floats=False)
conjugate = _unary_function("conjugate", math.conj, "Returns complex conjugates.", floats=False)
cos = _unary_function("cos", math.cos, "Computes the cosine.")
cosh = _unary_function("cosh", math.cosh, "Computes the hyperbolic cosine.")
deg2rad = _unary_function("deg2rad", lambda x: x * (np.pi / 180), "Converts degrees to radians.")
exp = _unary_function("exp", math.exp, "Computes `e ** x`.")
exp2 = _unary_function("exp2", lambda x: math.pow(cast(2, x.dtype), x), "Computes `2 ** x`.")
expm1 = _unary_function("expm1", math.expm1, "Computes `e ** x - 1`.")
fix = _unary_function("fix", lambda x: where(x < 0, math.ceil(x), math.floor(x)), "Rounds towards zero.")
floor = _unary_function("floor", math.floor, "Rounds down.")
iscomplex = _unary_function(
    "iscomplex", lambda x: math.not_equal(math.imag(x), 0), "Tells where x has an imaginary part.", False
)
isfinite = _unary_function("isfinite", math.is_finite, "Tells where x is neither infinite nor NaN.")
isinf = _unary_function(
    "isinf", lambda x: math.is_inf(x) if x.dtype.is_floating else False, "Tells where x is infinite.", False
)
isnan = _unary_function("isnan", math.is_nan, "Tells where x is NaN.")
isneginf = _unary_function("isneginf", _is_infinity(-np.inf), "Tells where x is negative infinity.", False)
isposinf = _unary_function("isposinf", _is_infinity(np.inf), "Tells where x is positive infinity.", False)
isreal = _unary_function("isreal", lambda x: math.imag(x) == 0, "Tells where x has no imaginary part.", False)
log = _unary_function("log", math.log, "Computes natural logarithms.")
log10 = _unary_function("log10", lambda x: math.log(x) / np.log(10), "Computes logarithms to base 10.")
log1p = _unary_function("log1p", math.log1p, "Computes `log(1 + x)`.")
log2 = _unary_function("log2", lambda x: math.log(x) / np.log(2), "Computes logarithms to base 2.")
negative = _unary_function("negative", math.negative, "Negates.", floats=False)
positive = _unary_function("positive", lambda x: x, "Returns x as it is.", floats=False)
reciprocal = _unary_function("reciprocal", math.reciprocal, "Computes `1 / x`.", floats=False)
signbit = _unary_function("signbit", _is_negative, "Tells where x is below zero.", floats=False)
sin = _unary_function("sin", math.sin, "Computes the sine.")
sinc = _unary_function("sinc", _normalized_sinc, "Computes `sin(pi x) / (pi x)`.")
sinh = _unary_function("sinh", math.sinh, "Computes the hyperbolic sine.")
sqrt = _unary_function("sqrt", math.sqrt, "Computes square roots.")
square = _unary_function("square", math.square, "Computes squares.", floats=False)
tan = _unary_function("tan", math.tan, "Computes the tangent.")
tanh = _unary_function("tanh", math.tanh, "Computes the hyperbolic tangent.")


@numpy_function("[1.0]")
def rad2deg(x: TensorLike) -> Any:
    """Converts radians to degrees; integers must be converted before, and an array stays one."""
    angles: Any = as_array(x) if isinstance(x, (list, tuple)) else x
    return angles * (180 / np.pi)


@numpy_function("[1 + 2j]")
def real(val: TensorLike) -> Tensor:
    """Returns real parts."""
    return math.real(as_array(val))


@numpy_function("[1 + 2j]")
def imag(val: TensorLike) -> Tensor:
    """Returns imaginary parts."""
    return math.imag(as_array(val))


@numpy_function("[-2, 0, 3]")
def sign(x: TensorLike, out: None = None, where: None = None, **kwargs: Any) -> Tensor:
    """Returns signs; out and where can't be set."""
    unsupported = [name for name, value in (("out", out), ("where", where)) if value is not None] or list(kwargs)
    if unsupported:
        raise ValueError(f"tf.experimental.numpy.sign does not support setting {', '.join(unsupported)}.")
    return math.sign(as_array(x))


@numpy_function("[1 + 1j, 2j]")
def angle(z: TensorLike, deg: bool = False) -> Tensor:
    """Returns the angles of complex numbers, in radians or degrees."""
    x = as_inexact(z)
    radians = math.angle(x) if x.dtype.is_complex else where(x < 0, np.pi, 0)
    return rad2deg(radians) if deg else radians


@numpy_function("[1.234, 5.678], 1")
def around(a: TensorLike, decimals: int = 0) -> Tensor:
    """Rounds to decimals, halves to even."""
    tensor = as_array(a)
    x = as_inexact(tensor)
    factor = cast(10.0**decimals, x.dtype)
    return cast(math.round(x * factor) / factor, tensor.dtype)


@numpy_function("[1.234, 5.678], 1")
def round(a: TensorLike, decimals: int = 0) -> Tensor:
    """Rounds to decimals, halves to even."""
    return around(a, decimals)


@numpy_function("[1, 5, 9], 2, 6")
def clip(a: TensorLike, a_min: TensorLike | None, a_max: TensorLike | None) -> Tensor:
    """Limits values to an interval.

    Args:
        a, a_min, a_max: as for `numpy.clip`; tensors whose shapes broadcast take the place of arrays.

    Raises:
        TypeError, ValueError: an argument is invalid for `numpy.clip`.
        InvalidArgumentError: the shapes do not broadcast.
    """
    if a_min is None and a_max is None:
        raise ValueError("Not more than one of `a_min` and `a_max` may be `None`.")
    if a_min is None or a_max is None:
        bound: Any = a_max if a_min is None else a_min
        return (minimum if a_min is None else maximum)(a, bound)
    x, low, high = promote_values(a, a_min, a_max)
    common = broadcast_shape_of([x, low, high])
    return clip_by_value(broadcast_to(x, common), low, high)


# ---- of two tensors --------------------------------------------------------------------------------------------------

_Binary = Callable[[TensorLike, TensorLike], Tensor]


def _binary_function(
    name: str,
    of: Function,
    summary: str,
    bools: Function | DType | None = None,
    example: str | None = "[6, 5], [3, 2]",
    promote: Function = operands,
) -> _Binary:
    """Returns an elementwise function of two tensors, which are promoted.

    Args:
        name, of: its name, and the function for tensors of one dtype.
        summary, example: parts of its docstring.
        bools: the function for bools, or the dtype to which bools are converted.
        promote: converts both arguments to tensors of one dtype.
    """

    def function(x1: TensorLike, x2: TensorLike) -> Tensor:
        x, y = promote(x1, x2)
        if bools is None or x.dtype is not bool_:
            return of(x, y)
        return of(cast(x, bools), cast(y, bools)) if isinstance(bools, DType) else bools(x, y)

    return named_function(function, name, summary, example)


def _comparison_function(name: str, of: Function, summary: str, bools: DType | None = None) -> _Binary:
    return _binary_function(name, of, summary, bools, promote=promote_values)


def _divide_bools(x: Tensor, y: Tensor) -> Any:
    return math.truediv(cast(x, default_float()), cast(y, default_float()))


add = _binary_function("add", math.add, "Adds.", math.logical_or)
subtract = _binary_function("subtract", math.subtract, "Subtracts.")
multiply = _binary_function("multiply", math.multiply, "Multiplies.", math.logical_and)
true_divide = _binary_function("true_divide", math.truediv, "Divides, with fractions.", _divide_bools)
divide = _binary_function("divide", math.truediv, "Divides, with fractions.", _divide_bools)
floor_divide = _binary_function("floor_divide", math.floordiv, "Divides and rounds down.", int8)
mod = _binary_function("mod", math.floormod, "Returns what a division that rounds down leaves.", int8)
remainder = _binary_function("remainder", math.floormod, "Returns what `floor_divide` leaves.", int8)
power = _binary_function("power", math.pow, "Computes `x1 ** x2`.")
float_power = _binary_function("float_power", math.pow, "Computes `x1 ** x2`, with the dtype that `power` gives.")
arctan2 = _binary_function("arctan2", math.atan2, "Computes the angles of points.", example="[6., 5.], [3., 2.]")
nextafter = _binary_function(
    "nextafter", math.nextafter, "Returns the next number towards x2.", example="[6., 5.], [3., 2.]"
)
minimum = _binary_function("minimum", math.minimum, "Returns the smaller of two.", math.logical_and)
_maximum = _binary_function("maximum", math.maximum, "Returns the larger of two.", math.logical_or)
bitwise_and = _binary_function("bitwise_and", bitwise.bitwise_and, "Returns the bits set in both.", math.logical_and)
bitwise_or = _binary_function("bitwise_or", bitwise.bitwise_or, "Returns the bits set in one or both.", math.logical_or)
bitwise_xor = _binary_function(
    "bitwise_xor", bitwise.bitwise_xor, "Returns the bits set in one only.", math.logical_xor
)
equal = _comparison_function("equal", math.equal, "Tells where two are equal.")
not_equal = _comparison_function("not_equal", math.not_equal, "Tells where two are unequal.")
greater = _comparison_function("greater", math.greater, "Tells where `x1 > x2`.", int32)
greater_equal = _comparison_function("greater_equal", math.greater_equal, "Tells where `x1 >= x2`.", int32)
less = _comparison_function("less", math.less, "Tells where `x1 < x2`.", int32)
less_equal = _comparison_function("less_equal", math.less_equal, "Tells where `x1 <= x2`.", int32)


def _logical_function(name: str, of: Function, summary: str) -> _Binary:
    """Returns a function of the truth of the elements of two tensors."""

    def function(x1: TensorLike, x2: TensorLike) -> Tensor:
        return of(as_array(x1, bool), as_array(x2, bool))

    return named_function(function, name, summary, "[True, False], [1, 1]")


logical_and = _logical_function("logical_and", math.logical_and, "Tells where both are true.")
logical_or = _logical_function("logical_or", math.logical_or, "Tells where one is true.")
logical_xor = _logical_function("logical_xor", math.logical_xor, "Tells where just one is true.")


@numpy_function("[0, 2]")
def logical_not(x: TensorLike) -> Tensor:
    """Tells where x is false."""
    return math.logical_not(as_array(x, bool))


@numpy_function("[6, 5], [3, 7]")
def maximum(x1: TensorLike, x2: TensorLike) -> Tensor:
    """Returns the larger of two; against the number 0, as `tf.nn.relu` does, gradient included."""
    is_zero = isinstance(x2, (int, float)) and not isinstance(x2, bool) and x2 == 0
    return nn.relu(x1) if is_zero and isinstance(x1, Tensor) and x1.dtype is not bool_ else _maximum(x1, x2)


@numpy_function("[6, 5], [4, 2]")
def divmod(x1: TensorLike, x2: TensorLike) -> tuple[Tensor, Tensor]:
    """Returns `floor_divide` and `mod`."""
    return floor_divide(x1, x2), mod(x1, x2)


@numpy_function("[-1., 0., 2.], 0.5")
def heaviside(x1: TensorLike, x2: TensorLike) -> Tensor:
    """Returns 0 where x1 is negative, 1 where it is positive, and x2 where it is zero."""
    x, y = operands(x1, x2)
    return as_inexact(where(x < 0, cast(0, y.dtype), where(x > 0, cast(1, y.dtype), y)))


@numpy_function("[3., 6.], [4., 8.]")
def hypot(x1: TensorLike, x2: TensorLike) -> Tensor:
    """Returns the hypotenuse of right triangles."""
    return sqrt(math.square(as_array(x1)) + math.square(as_array(x2)))


def _log_add(x1: Any, x2: Any, exponential: Function, base: float) -> Any:
    larger, delta = maximum(x1, x2), x1 - x2  # the difference is computed before promotion
    of_numbers = larger + log1p(exponential(-math.abs(as_array(delta)))) / np.log(base)
    return where(isnan(delta), *promote_values(x1 + x2, of_numbers))  # the difference of two equal infinities is NaN


@numpy_function("np.array([1., 2.]), np.array([3., 4.])")
def logaddexp(x1: TensorLike, x2: TensorLike) -> Tensor:
    """Computes `log(exp(x1) + exp(x2))`."""
    return _log_add(x1, x2, exp, np.e)


@numpy_function("np.array([1., 2.]), np.array([3., 4.])")
def logaddexp2(x1: TensorLike, x2: TensorLike) -> Tensor:
    """Computes `log2(2 ** x1 + 2 ** x2)`."""
    return _log_add(x1, x2, exp2, 2.0)


def _greatest_divisor(x: Tensor, y: Tensor) -> Any:
    """Returns greatest common divisors by Euclid's rule, all elements at once."""
    if not (x.dtype.is_integer and y.dtype.is_integer):
        raise ValueError("Arguments to gcd must be integers.")
    common = broadcast_shape_of([x, y])
    one = cast(1, x.dtype)

    def step(x: Tensor, y: Tensor) -> Any:
        rest = math.floormod(x, where(math.equal(y, 0), one, y))
        done = math.equal(y, 0)
        return where(done, x, y), where(done, y, rest)

    start = (broadcast_to(math.abs(x), common), broadcast_to(math.abs(y), common))
    return while_loop(lambda x, y: math.reduce_any(math.not_equal(y, 0)), step, start)[0]


@numpy_function("[12, 9], [18, 6]")
def gcd(x1: TensorLike, x2: TensorLike) -> Tensor:
    """Returns greatest common divisors."""
    return _greatest_divisor(*operands(x1, x2))


@numpy_function("[4, 0], [6, 3]")
def lcm(x1: TensorLike, x2: TensorLike) -> Tensor:
    """Returns least common multiples."""
    x, y = operands(x1, x2)
    divisor = _greatest_divisor(x, y)
    nothing = math.equal(divisor, 0)
    quotient = math.abs(y) // where(nothing, ones_like(divisor), divisor)
    return where(nothing, cast(0, x.dtype), math.abs(x) * quotient)


@numpy_function("[1., 2.], [1., 2.1]")
def isclose(a: TensorLike, b: TensorLike, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Tensor:
    """Tells where two are equal within tolerances.

    Raises:
        TypeError, ValueError: an argument is invalid for `numpy.isclose`.
        InvalidArgumentError: the shapes do not broadcast.
    """
    x, y = operands(a, b)
    if not (x.dtype.is_floating or x.dtype.is_complex):
        return x == y  # eagerly False where their shapes are incompatible
    close = math.abs(x - y) <= atol + rtol * math.abs(y)
    return math.logical_or(close, math.logical_and(math.is_nan(x), math.is_nan(y))) if equal_nan else close


@numpy_function("[1., 2.], [1., 2.1]")
def allclose(a: TensorLike, b: TensorLike, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Tensor:
    """Tells whether all elements are equal within tolerances.

    Raises:
        TypeError, ValueError: an argument is invalid for `numpy.allclose`.
        InvalidArgumentError: the shapes do not broadcast.
    """
    return math.reduce_all(isclose(a, b, rtol, atol, equal_nan))


@numpy_function("[1, 2], [1, 2, 3]")
def array_equal(a1: TensorLike, a2: TensorLike) -> Tensor:
    """Tells whether two have one shape and equal elements."""
    x, y = promote_values(a1, a2)
    if x.shape.is_fully_defined() and y.shape.is_fully_defined() and x.shape != y.shape:
        return cast(False, bool_)
    same = math.reduce_all(math.equal(shape(x), shape(y)))
    return math.logical_and(same, math.reduce_all(math.equal(x, y)))


@numpy_function("[1, 2, 3], [4, 5]")
def polyval(p: TensorLike, x: TensorLike) -> Tensor:
    """Evaluates a polynomial, its highest coefficient first, by Horner's rule."""
    coefficients, points = operands(p, x)
    parts: list[Any] = unstack(reshape(coefficients, [-1]))
    return broadcast_to(math.polyval(parts, points), shape(points))
