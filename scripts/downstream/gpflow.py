"""Gaussian process regression, as GPflow's first page has it."""

# requires: tensorflow-probability
# requires: tf-keras
# sources: GPflow/GPflow HEAD
# tests: tests/gpflow/utilities/test_bijectors.py tests/gpflow/utilities/test_misc.py
# tests: tests/gpflow/utilities/test_multipledispatch.py tests/gpflow/utilities/test_set_trainable.py
# tests: tests/gpflow/test_base.py tests/gpflow/test_logdensities.py
# helpers: tests/__init__.py tests/gpflow/conftest.py
import gpflow
import numpy as np

x = np.linspace(0, 1, 12)[:, None]
model = gpflow.models.GPR((x, np.sin(6 * x)), kernel=gpflow.kernels.SquaredExponential())
gpflow.optimizers.Scipy().minimize(model.training_loss, model.trainable_variables, options={"maxiter": 20})
mean, variance = model.predict_f(x)
assert abs(mean.numpy() - np.sin(6 * x)).max() < 0.1
