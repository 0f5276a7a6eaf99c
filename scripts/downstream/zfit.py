"""A Gaussian that is fitted to samples."""

# sources: zfit/zfit 0.28.0
# requires: matplotlib pytest-helpers-namespace
# tests: tests/test_coordinates.py tests/test_operations.py tests/test_param_validation.py
# tests: tests/test_constraint.py tests/test_cache.py tests/test_dependencies.py tests/test_dimensions.py
# helpers: tests/__init__.py tests/conftest.py docs/images
import numpy as np
import zfit

observed = zfit.Space("x", limits=(-10, 10))
mu, sigma = zfit.Parameter("mu", 1.0, -4, 6), zfit.Parameter("sigma", 1.5, 0.1, 10)
gauss = zfit.pdf.Gauss(mu=mu, sigma=sigma, obs=observed)
data = zfit.Data.from_numpy(obs=observed, array=np.random.default_rng(0).normal(0.5, 2.0, 1000))
result = zfit.minimize.Minuit().minimize(zfit.loss.UnbinnedNLL(model=gauss, data=data))
assert result.converged and abs(result.params[mu]["value"] - 0.5) < 0.2
