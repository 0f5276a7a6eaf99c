"""Rows of `tapeflow/math/special/special_functions.py`, `gamma.py`, `error_functions.py` and `sobol.py`."""

import numpy as np
import scipy.special
from scipy.stats import qmc

import tapeflow as tf
from op_table import FLOATS, WIDE_FLOATS, Row, rand, sample
from rows.arithmetic import MISMATCHED, other_dtype
from rows.elementwise import NOT_BOOL, NOT_FLOATING, NOT_TEXT

Invalid = tf.errors.InvalidArgumentError

ANY = [sample(rand(2, 3)), sample(rand()), sample(rand(0, 3)), sample(np.array([-7.5, 0.3, 12.0, 25.0]))]
POSITIVE = [sample(rand(2, 3, low=0.2, high=6.0)), sample(rand(low=0.5)), sample(rand(0, 3)),
            sample(np.array([1.0, 1.7, 12.0, 50.0]))]  # fmt: skip
SMALL = [sample(rand(2, 3)), sample(rand()), sample(rand(0, 3))]
FRESNEL = [*SMALL, sample(np.array([-5.1, 1.6, 3.0]))]
WITHIN_ONE = [sample(rand(2, 3, low=-0.9, high=0.9)), sample(rand(low=0.1, high=0.5))]
PROBABILITIES = [sample(rand(2, 3, low=0.05, high=0.95)), sample(rand(low=0.1, high=0.5))]
ORDERS = [sample(np.array([2.0, 3.5, 7.0]), np.array([1.5, 0.3, 4.0])),
          sample(np.array([[2.5], [4.0]]), rand(3, low=0.5))]  # fmt: skip
GAMMAS = [sample(np.array([0.5, 2.0, 7.0, 30.0]), np.array([1.0, 3.0, 2.0, 60.0])),
          sample(rand(2, 1, low=0.5, high=4.0), rand(3, low=0.5, high=9.0))]  # fmt: skip
BETAS = [sample(np.array([1.0, 2.0, 0.3, 12.0]), np.array([2.0, 0.5, 0.7, 30.0]), np.array([0.3, 0.7, 0.9, 0.2])),
         sample(np.array(2.0), np.array(3.0), rand(2, 3, low=0.1, high=0.9))]  # fmt: skip
# Half precision rounds the argument of what changes quickly.
LOOSE = {"float16": (5e-3, 5e-3), "bfloat16": (5e-2, 5e-2), "float32": (3e-5, 2e-6), "float64": (1e-9, 1e-10)}


def function(name, samples, reference, dtypes=WIDE_FLOATS, **options):
    """A function of one floating tensor."""
    return Row(name, samples, reference, dtypes, tolerance=LOOSE, bad=[NOT_FLOATING, NOT_BOOL, NOT_TEXT], **options)


def sobol(dim, num_results, skip=0, dtype=None):
    return qmc.Sobol(dim, scramble=False).fast_forward(skip + 1).random(num_results)


ROWS = [
    function("math.erf", SMALL, scipy.special.erf, FLOATS),
    function("math.erfc", SMALL, scipy.special.erfc, FLOATS),
    function("math.erfinv", WITHIN_ONE, scipy.special.erfinv),
    Row("math.erfcinv", WITHIN_ONE[1:], scipy.special.erfcinv, WIDE_FLOATS, tolerance=LOOSE, bad=[
        (sample([1, 2]), TypeError, "Cannot convert 0.5"), (sample("text"), TypeError, "Cannot convert 0.5"),
    ]),
    function("math.ndtri", PROBABILITIES, scipy.special.ndtri),
    function("math.lgamma", POSITIVE, scipy.special.gammaln),
    function("math.digamma", POSITIVE, scipy.special.digamma),
    Row("math.polygamma", [sample(np.array([0.0, 1.0, 4.0]), np.array([1.5, 0.3, 4.0])),
                           sample(np.array(2.0), rand(3, low=0.5))],
        lambda a, x: scipy.special.polygamma(a.astype(int), x), WIDE_FLOATS, nth=[1], tolerance=LOOSE, bad=[
        MISMATCHED, other_dtype("Polygamma"), (sample(1, 2), Invalid, "Value for attr 'T' of int32"),
    ]),
    Row("math.zeta", ORDERS, scipy.special.zeta, WIDE_FLOATS, nth=[1], tolerance=LOOSE,
        bad=[MISMATCHED, other_dtype("Zeta")]),
    Row("math.igamma", GAMMAS, scipy.special.gammainc, WIDE_FLOATS, second_order=False, tolerance=LOOSE, bad=[
        MISMATCHED, other_dtype("Igamma"), (sample(1, 2), Invalid, "Value for attr 'T' of int32"),
    ]),
    Row("math.igamma", GAMMAS, nth=[1]),
    Row("math.igammac", GAMMAS, scipy.special.gammaincc, WIDE_FLOATS, second_order=False, tolerance=LOOSE,
        bad=[MISMATCHED, other_dtype("Igammac")]),
    Row("math.betainc", BETAS, scipy.special.betainc, WIDE_FLOATS, nth=[2], tolerance=LOOSE, bad=[
        (sample([1.0], [1.0, 2.0], [1.0, 2.0, 3.0]), Invalid, "Shapes of a and b are inconsistent: [1] vs. [2]"),
    ]),
    Row("math.lbeta", [sample(rand(2, 3, low=0.5)), sample(rand(4, low=0.5))],
        lambda x: np.sum(scipy.special.gammaln(x), -1) - scipy.special.gammaln(np.sum(x, -1)), WIDE_FLOATS,
        tolerance=LOOSE, bad=[NOT_FLOATING, NOT_TEXT, (sample(2.0), Invalid, "Invalid reduction dimension")]),
    function("math.bessel_i0", SMALL, scipy.special.i0, FLOATS),
    function("math.bessel_i0e", ANY, scipy.special.i0e, FLOATS),
    function("math.bessel_i1", [*SMALL, sample(np.array([0.0, 1.0]))], scipy.special.i1, FLOATS),
    function("math.bessel_i1e", ANY, scipy.special.i1e, FLOATS),
    function("math.special.bessel_i0", SMALL, scipy.special.i0),
    function("math.special.bessel_j0", ANY, scipy.special.j0),
    function("math.special.bessel_j1", ANY, scipy.special.j1),
    function("math.special.bessel_y0", POSITIVE, scipy.special.y0),
    function("math.special.bessel_y1", POSITIVE, scipy.special.y1),
    function("math.special.bessel_k0", POSITIVE, scipy.special.k0),
    function("math.special.bessel_k0e", POSITIVE, scipy.special.k0e),
    function("math.special.bessel_k1", POSITIVE, scipy.special.k1),
    function("math.special.bessel_k1e", POSITIVE, scipy.special.k1e),
    function("math.special.dawsn", ANY, scipy.special.dawsn, FLOATS),
    function("math.special.expint", [*POSITIVE[:3], sample(np.array([1e-3, 39.0]))], scipy.special.expi),
    function("math.special.fresnel_cos", FRESNEL, lambda x: scipy.special.fresnel(x)[1]),
    function("math.special.fresnel_sin", FRESNEL, lambda x: scipy.special.fresnel(x)[0]),
    function("math.special.spence", [*POSITIVE[:3], sample(np.array([0.05, 0.5, 2.0, 30.0]))], scipy.special.spence),
    Row("math.sobol_sample", [sample(3, 8), sample(7, 5, 4), sample(dim=1, num_results=2)], sobol, ["float32"],
        gradient=False, bad=[
        (sample(0, 4), Invalid, "dim must be at least one"),
        (sample(21201, 1), Invalid, "dim must be at most 21200"),
        (sample(2, -1), Invalid, "num_results must be at least one"),
        (sample(2, 1, skip=-1), Invalid, "skip must be non-negative"),
        (sample(2, 1, dtype=tf.int32), Invalid, "Value for attr 'dtype' of int32"),
    ]),
]  # fmt: skip
