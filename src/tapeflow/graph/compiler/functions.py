"""Functions of float32 in primitives. They keep values in registers; a call of SLEEF would spill all registers.

The error of each function is less than two units in the last place for all floats, including signed zeros, infinities
and NaN. The polynomials are minimax approximations on the stated intervals, fitted with Lawson's algorithm. Range
reduction follows Cody and Waite, Software Manual for the Elementary Functions, 1980, with fused multiply-adds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from tapeflow.core.ops.elements import Element, ElementBuilder

_LOG2_E = math.log2(math.e)
_LN_2, _LN_2_REST = 0.693147182464599609375, -1.904654299957768e-09  # a float32, and the rest
_ONE = 0x3F800000  # the bits of 1.0
_MANTISSA = 23  # bits
# Added to a number of a few bits, it leaves the nearest integer in the last bits, and subtracted again as a float.
_ROUNDING = 1.5 * 2.0**_MANTISSA

# (expm1(x) - x) / x**2 for |x| <= log(2) / 2
_EXPM1 = (
    0.5, 0.1666666567325592, 0.04166649281978607, 0.008333545178174973, 0.0013932330766692758, 0.00019762571901082993,
)  # fmt: skip
# (log1p(x) - x) / x**2 for |x| <= 1 / 3
_LOG1P = (
    -0.5, 0.3333321511745453, -0.2499980479478836, 0.20010437071323395, -0.16680215299129486, 0.14005506038665771,
    -0.12187588959932327, 0.13985812664031982, -0.12878544628620148,
)  # fmt: skip
# (tanh(x) / x - 1) / x**2 as a polynomial of x**2, for |x| < _TANH_BY_EXP
_TANH = (
    -0.3333331512262525, 0.1333269405813665, -0.05389272249330244, 0.021452027910162787, -0.007657244934318967,
    0.001736929467590203,
)  # fmt: skip
_TANH_BY_EXP = 0.75
# (sinh(x) / x - 1) / x**2 as a polynomial of x**2, for |x| < 1
_SINH = (0.166666664975558, 0.008333350058475497, 0.00019836159724874979, 2.8169515114192384e-06)
# (atanh(x) / x - 1) / x**2 as a polynomial of x**2, for |x| < 0.5
_ATANH = (
    0.3333330007120449, 0.2000251828933844, 0.14222762009277606, 0.1182373074138916, 0.05135821083600109,
    0.1766912339323261,
)  # fmt: skip
# erf(x) / x - 1 as a polynomial of x**2, for |x| < _ERF_BY_ROOT
_ERF = (
    0.12837916612625122, -0.37612590193748474, 0.11283177137374878, -0.02683710679411888, 0.005157502368092537,
    -0.000774854386691004, 7.021928468020633e-05,
)  # fmt: skip
_ERF_BY_ROOT = 1.125
# The fourth root of erfc(x) from there on to 4
_ROOT_OF_ERFC = (
    1.0055005550384521, -0.3087943196296692, -0.06341055780649185, -0.05049450695514679, 0.06613066047430038,
    -0.022216418758034706, 0.0032347622327506542, -0.00017954091890715063,
)  # fmt: skip


def _polynomial(b: ElementBuilder, x: Element, coefficients: Sequence[float]) -> Element:
    """Returns a polynomial by Horner's rule; the coefficient of the lowest power comes first."""
    *rest, result = [b.number(c, x.dtype) for c in coefficients]
    for coefficient in reversed(rest):
        result = b.fma(result, x, coefficient)
    return result


def _odd(b: ElementBuilder, x: Element, coefficients: Sequence[float]) -> Element:
    """Returns an odd function of slope 1 at 0."""
    square = b.mul(x, x)
    return b.fma(b.mul(x, square), _polynomial(b, square, coefficients), x)


def _at_most(b: ElementBuilder, x: Element, limit: float) -> Element:
    return b.select(b.less(limit, x), limit, x)  # NaN stays


def _at_least(b: ElementBuilder, x: Element, limit: float) -> Element:
    return b.select(b.less(x, limit), limit, x)


def _of_power(b: ElementBuilder, x: Element) -> tuple[Element, Element]:
    """Returns `n << 23` and `expm1(x - n * log(2))` for the integer n next to `x / log(2)`, with |n| < 256."""
    shifted = b.fma(x, _LOG2_E, _ROUNDING)
    n = b.sub(shifted, _ROUNDING)
    rest = b.fma(n, -_LN_2_REST, b.fma(n, -_LN_2, x))
    power = b.shift_left(b.bits(shifted), _MANTISSA)
    return power, b.fma(b.mul(rest, rest), _polynomial(b, rest, _EXPM1), rest)


def _scale(b: ElementBuilder, power: Element) -> Element:
    """Returns `2 ** n` for `n << 23`."""
    return b.float_of_bits(b.add(power, _ONE))


def exp(b: ElementBuilder, x: Element) -> Element:
    power, fraction = _of_power(b, _at_least(b, _at_most(b, x, 89.0), -104.0))
    # Two steps, because `2 ** n` is not a normal float if the result is subnormal.
    half = b.bit_and(b.shift_right(power, 1), -1 << _MANTISSA)
    return b.mul(b.mul(b.add(fraction, 1.0), _scale(b, half)), _scale(b, b.sub(power, half)))


def expm1(b: ElementBuilder, x: Element) -> Element:
    power, fraction = _of_power(b, _at_least(b, _at_most(b, x, 89.0), -20.0))
    half = _scale(b, b.sub(power, 1 << _MANTISSA))  # of `2 ** n`, which may overflow
    result = b.fma(fraction, half, b.sub(half, 0.5))
    return b.select(b.less(b.abs(x), 2.0**-60), x, b.add(result, result))  # half of it may have been subnormal


def tanh(b: ElementBuilder, x: Element) -> Element:
    size = b.abs(x)
    power, fraction = _of_power(b, _at_most(b, b.add(size, size), 20.0))
    scale = _scale(b, power)
    far = b.sub(1.0, b.div(2.0, b.fma(fraction, scale, b.add(scale, 1.0))))
    return b.copysign(b.select(b.less(size, _TANH_BY_EXP), _odd(b, x, _TANH), far), x)


def sinh(b: ElementBuilder, x: Element) -> Element:
    half = _half_of_exp(b, x)
    return b.select(b.less(b.abs(x), 1.0), _odd(b, x, _SINH), b.copysign(b.sub(half, b.div(0.25, half)), x))


def cosh(b: ElementBuilder, x: Element) -> Element:
    half = _half_of_exp(b, x)
    return b.add(half, b.div(0.25, half))


def _half_of_exp(b: ElementBuilder, x: Element) -> Element:
    """Returns `exp(abs(x)) / 2`, which overflows later than `exp(abs(x))`."""
    power, fraction = _of_power(b, _at_most(b, b.abs(x), 89.5))
    quarter = b.mul(b.add(fraction, 1.0), _scale(b, b.sub(power, 2 << _MANTISSA)))
    return b.add(quarter, quarter)


def _log_of_parts(b: ElementBuilder, exponent: Element, f: Element) -> Element:
    """Returns `exponent * log(2) + log1p(f)` for |f| <= 1 / 3."""
    log1p = b.fma(b.mul(f, f), _polynomial(b, f, _LOG1P), f)
    return b.fma(exponent, _LN_2, log1p)


def _parts(b: ElementBuilder, x: Element) -> tuple[Element, Element, Element]:
    """Returns `n << 23`, n and f of a positive normal number `2 ** n * (1 + f)`, with |f| <= 1 / 3."""
    two_thirds = 0x3F2AAAAB
    bits = b.sub(b.bits(x), two_thirds)
    power = b.bit_and(bits, -1 << _MANTISSA)
    f = b.sub(b.float_of_bits(b.sub(b.bits(x), power)), 1.0)
    return power, b.convert(b.shift_right(bits, _MANTISSA), x.dtype), f


def _with_limits(b: ElementBuilder, log: Element, x: Element) -> Element:
    """Returns a logarithm of `x` that is also correct for 0, infinity, NaN and negative numbers."""
    log = b.select(b.less(x, math.inf), log, x)
    below = b.select(b.equal(x, 0.0), b.number(-math.inf, x.dtype), math.nan)
    return b.select(b.less_equal(x, 0.0), below, log)


def log(b: ElementBuilder, x: Element) -> Element:
    is_subnormal = b.less(x, 2.0**-126)
    normal = b.select(is_subnormal, b.mul(x, 2.0**_MANTISSA), x)
    _, exponent, f = _parts(b, normal)
    exponent = b.select(is_subnormal, b.sub(exponent, float(_MANTISSA)), exponent)
    return _with_limits(b, _log_of_parts(b, exponent, f), x)


def log1p(b: ElementBuilder, x: Element) -> Element:
    sum = b.add(x, 1.0)
    power, exponent, f = _parts(b, sum)
    scale = b.float_of_bits(b.sub(_ONE, power))
    # The digits that the sum lacks are in here; the sum of a large number lacks none.
    exact = b.fma(x, scale, b.sub(scale, 1.0))
    log = _log_of_parts(b, exponent, b.select(b.less(x, 2.0**60), exact, f))
    return b.copysign(_with_limits(b, log, sum), x)


def atanh(b: ElementBuilder, x: Element) -> Element:
    size = b.abs(x)
    quotient = b.div(size, b.sub(1.0, size))
    far = b.copysign(b.mul(log1p(b, b.add(quotient, quotient)), 0.5), x)
    return b.select(b.less(size, 0.5), _odd(b, x, _ATANH), far)


def erf(b: ElementBuilder, x: Element) -> Element:
    size = b.abs(x)
    near = b.fma(_polynomial(b, b.mul(x, x), _ERF), x, x)
    root = _polynomial(b, _at_most(b, size, 4.0), _ROOT_OF_ERFC)
    square = b.mul(root, root)
    far = b.copysign(b.fma(b.neg(square), square, 1.0), x)
    return b.select(b.less(size, _ERF_BY_ROOT), near, far)


FUNCTIONS: dict[str, Callable[[ElementBuilder, Element], Element]] = {
    "exp": exp, "expm1": expm1, "sinh": sinh, "cosh": cosh, "tanh": tanh, "log": log, "log1p": log1p, "atanh": atanh,
    "erf": erf,
}  # fmt: skip


def of_large(b: ElementBuilder, inverse: Element, x: Element) -> Element:
    """Returns asinh or acosh. Also correct for large numbers, where SLEEF's functions overflow.

    Args:
        inverse: the result of SLEEF's function.
        x: their argument.
    """
    size = b.abs(x)
    large = b.copysign(b.add(b.log(size), _LN_2 + _LN_2_REST), x)
    return b.select(b.bit_and(b.less(2.0**60, size), b.equal(inverse, inverse)), large, inverse)
