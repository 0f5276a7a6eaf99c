"""The public `tf.math` namespace."""

from tapeflow.math.arithmetic import (
    accumulate_n,
    add,
    add_n,
    multiply,
    multiply_no_nan,
    negative,
    polyval,
    scalar_mul,
    squared_difference,
    subtract,
)
from tapeflow.math.comparison import (
    equal,
    greater,
    greater_equal,
    is_finite,
    is_inf,
    is_nan,
    less,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    not_equal,
)
from tapeflow.math.complex import angle, conj, imag, real
from tapeflow.math.division import (
    divide,
    divide_no_nan,
    floordiv,
    floormod,
    mod,
    reciprocal,
    reciprocal_no_nan,
    truediv,
    xdivy,
)
from tapeflow.math.elementwise import (
    abs,
    exp,
    expm1,
    log,
    log1p,
    pow,
    rsqrt,
    sign,
    sqrt,
    square,
    xlog1py,
    xlogy,
)
from tapeflow.math.extrema import maximum, minimum
from tapeflow.math.reduction import reduce_sum
from tapeflow.math.rounding import ceil, floor, nextafter, rint, round
from tapeflow.math.sigmoid import log_sigmoid, sigmoid, softplus, softsign, tanh
from tapeflow.math.trigonometric import acos, acosh, asin, asinh, atan, atan2, atanh, cos, cosh, sin, sinh, tan
