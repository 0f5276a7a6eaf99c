"""The public `tf.math` namespace."""

from tapeflow.array.sorting import invert_permutation
from tapeflow.core.public_names import publish as _publish
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

_publish(globals(), "special")
