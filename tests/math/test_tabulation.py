"""Functions that many float32 numbers look up in a table: the results of their formulas in float64."""

import numpy as np
import pytest

import tapeflow as tf

BESSEL = ("i0", "i0e", "i1", "i1e", "j0", "j1", "y0", "y1", "k0", "k0e", "k1", "k1e")
NAMES = (*(f"bessel_{name}" for name in BESSEL), "dawsn", "expint", "fresnel_sin", "fresnel_cos", "spence")
ENDS = np.float32([2.0**-24, 8.0, 32.0])  # of tables
SPECIAL = np.float32([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, -1e-40, *ENDS, *np.nextafter(ENDS, np.float32(0.0))])


def _numbers():
    sizes = np.exp(np.linspace(np.log(1e-9), np.log(80.0), 20_000))
    signed = np.concatenate([sizes, -sizes, np.linspace(0, 33, 20_000)]).astype(np.float32)
    return np.concatenate([signed, SPECIAL])


@pytest.mark.parametrize("name", NAMES)
def test_numbers_of_float32_are_those_of_float64(name):
    function, x = getattr(tf.math.special, name), _numbers()
    with np.errstate(over="ignore"):
        expected = function(x.astype(np.float64)).numpy().astype(np.float32)
    found = function(x).numpy()
    assert (np.isnan(found) == np.isnan(expected)).all()
    known, finite = ~np.isnan(expected), np.isfinite(expected)
    assert (np.signbit(found) == np.signbit(expected))[known].all()
    assert (found == expected)[known & ~finite].all()
    # One digit, or next to a zero of the function, of its values nearby.
    np.testing.assert_allclose(found[finite], expected[finite], rtol=1.2e-7, atol=4e-9)
    assert (found == expected)[finite].mean() > 0.998


def test_shapes_layouts_and_few_numbers():
    x = np.linspace(0.1, 9.0, 10_000, dtype=np.float32).reshape(100, 100)
    whole = tf.math.special.bessel_j0(x).numpy()
    assert whole.shape == (100, 100)
    np.testing.assert_allclose(tf.math.special.bessel_j0(tf.transpose(x)).numpy(), whole.T, rtol=1.2e-7, atol=4e-9)
    np.testing.assert_allclose(tf.math.special.bessel_j0(x[3]).numpy(), whole[3], rtol=1.2e-7, atol=4e-9)
