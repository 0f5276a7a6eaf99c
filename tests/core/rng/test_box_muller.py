"""Normal numbers from uniform ones, and the functions of C's library that they need."""

import math

import numpy as np
import pytest
import torch

from tapeflow.core.rng import box_muller


def test_logarithms():
    x = np.array([2e-38, 1e-7, 0.1, 0.5, 0.6999, 0.7, 0.9999999, 1.0, 1.0000001, 1.4, 2.0, 3.0, 1e38], np.float32)
    many = np.random.default_rng(0).uniform(0, 1, 10_000).astype(np.float32)
    for values in (x, many[many > 0]):
        exact = np.log(values.astype(np.float64))
        found = box_muller.log(values)
        assert found.dtype == np.float32
        assert (np.abs(found - exact) <= 0.8 * np.spacing(np.abs(exact).astype(np.float32))).all()
    assert box_muller.log(np.array([1.0], np.float32))[0] == 0.0


def test_sines_and_cosines():
    x = np.concatenate([np.linspace(0, 119, 20_001), np.arange(8) * math.pi / 4]).astype(np.float32)
    for found, function in zip(box_muller.sine_and_cosine(x), (np.sin, np.cos), strict=True):
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, function(x.astype(np.float64)), rtol=0, atol=6e-8)


def pairs_of(uniform):
    u, v = np.asarray(uniform, np.float64).reshape(-1, 2).T
    radius = np.sqrt(-2 * np.log(np.maximum(u, 1e-7)))
    return np.stack([np.sin(2 * np.pi * v) * radius, np.cos(2 * np.pi * v) * radius], 1).reshape(-1)


@pytest.mark.parametrize("count", [2, 100, 2048, 2050, 70_000])
@pytest.mark.parametrize(
    ("function", "dtype", "tolerance"),
    [
        (box_muller.normal_pairs, torch.float32, 2e-6),
        (box_muller.wide_normal_pairs, torch.float64, 1e-13),
        (box_muller._normal_pairs, torch.float32, 3e-6),
        (box_muller._normal_pairs, torch.float64, 1e-13),
    ],
)
def test_pairs(function, dtype, tolerance, count):
    uniform = torch.from_numpy(np.random.default_rng(count).uniform(0, 1, count)).to(dtype)
    uniform[0], uniform[1] = 0.0, 0.25  # the logarithm stays finite
    given = uniform.clone()
    found = function(uniform)
    assert found.dtype == dtype and found.shape == (count,) and torch.equal(uniform, given)
    np.testing.assert_allclose(found.double(), pairs_of(uniform.double()), rtol=tolerance, atol=tolerance)
    assert float(found[0]) == pytest.approx(math.sqrt(-2 * math.log(1e-7)), rel=1e-6)
