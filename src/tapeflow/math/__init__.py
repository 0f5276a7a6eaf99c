"""The public `tf.math` namespace."""

from tapeflow.array.sorting import invert_permutation
from tapeflow.math import special
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
from tapeflow.math.counts import bincount, confusion_matrix, is_non_decreasing, is_strictly_increasing
from tapeflow.math.cumulative import cumprod, cumsum, cumulative_logsumexp
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
from tapeflow.math.elementwise import abs, exp, expm1, log, log1p, pow, rsqrt, sign, sqrt, square, xlog1py, xlogy
from tapeflow.math.error_functions import erf, erfc, erfcinv, erfinv, ndtri
from tapeflow.math.extrema import maximum, minimum
from tapeflow.math.gamma import betainc, digamma, igamma, igammac, lbeta, lgamma, polygamma, zeta
from tapeflow.math.normalize import l2_normalize
from tapeflow.math.reduction import (
    argmax,
    argmin,
    count_nonzero,
    reduce_all,
    reduce_any,
    reduce_euclidean_norm,
    reduce_logsumexp,
    reduce_max,
    reduce_mean,
    reduce_min,
    reduce_prod,
    reduce_std,
    reduce_sum,
    reduce_variance,
)
from tapeflow.math.rounding import ceil, floor, nextafter, rint, round
from tapeflow.math.segment import (
    segment_max,
    segment_mean,
    segment_min,
    segment_prod,
    segment_sum,
    unsorted_segment_max,
    unsorted_segment_mean,
    unsorted_segment_min,
    unsorted_segment_prod,
    unsorted_segment_sqrt_n,
    unsorted_segment_sum,
)
from tapeflow.math.sigmoid import log_sigmoid, sigmoid, softplus, softsign, tanh
from tapeflow.math.sobol import sobol_sample
from tapeflow.math.special import bessel_i0, bessel_i0e, bessel_i1, bessel_i1e
from tapeflow.math.topk import approx_max_k, approx_min_k, in_top_k, top_k
from tapeflow.math.trigonometric import acos, acosh, asin, asinh, atan, atan2, atanh, cos, cosh, sin, sinh, tan
from tapeflow.nn.softmaxes import log_softmax, softmax
from tapeflow.nn.statistics import zero_fraction

__all__ = [
    "abs", "accumulate_n", "acos", "acosh", "add", "add_n", "angle", "approx_max_k", "approx_min_k", "argmax", "argmin",
    "asin", "asinh", "atan", "atan2", "atanh", "bessel_i0", "bessel_i0e", "bessel_i1", "bessel_i1e", "betainc",
    "bincount", "ceil", "confusion_matrix", "conj", "cos", "cosh", "count_nonzero", "cumprod", "cumsum",
    "cumulative_logsumexp", "digamma", "divide", "divide_no_nan", "equal", "erf", "erfc", "erfcinv", "erfinv", "exp",
    "expm1", "floor", "floordiv", "floormod", "greater", "greater_equal", "igamma", "igammac", "imag", "in_top_k",
    "invert_permutation", "is_finite", "is_inf", "is_nan", "is_non_decreasing", "is_strictly_increasing",
    "l2_normalize", "lbeta", "less", "less_equal", "lgamma", "log", "log1p", "log_sigmoid", "log_softmax",
    "logical_and", "logical_not", "logical_or", "logical_xor", "maximum", "minimum", "mod", "multiply",
    "multiply_no_nan", "ndtri", "negative", "nextafter", "not_equal", "polygamma", "polyval", "pow", "real",
    "reciprocal", "reciprocal_no_nan", "reduce_all", "reduce_any", "reduce_euclidean_norm", "reduce_logsumexp",
    "reduce_max", "reduce_mean", "reduce_min", "reduce_prod", "reduce_std", "reduce_sum", "reduce_variance", "rint",
    "round", "rsqrt", "scalar_mul", "segment_max", "segment_mean", "segment_min", "segment_prod", "segment_sum",
    "sigmoid", "sign", "sin", "sinh", "sobol_sample", "softmax", "softplus", "softsign", "special", "sqrt", "square",
    "squared_difference", "subtract", "tan", "tanh", "top_k", "truediv", "unsorted_segment_max",
    "unsorted_segment_mean", "unsorted_segment_min", "unsorted_segment_prod", "unsorted_segment_sqrt_n",
    "unsorted_segment_sum", "xdivy", "xlog1py", "xlogy", "zero_fraction", "zeta",
]  # fmt: skip
__dir__ = __all__.copy
