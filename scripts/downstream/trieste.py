"""Bayesian optimization."""

# requires: tf-keras
# sources: secondmind-labs/trieste HEAD
# tests: tests/unit/test_data.py tests/unit/test_observer.py tests/unit/utils
# tests: tests/unit/acquisition/multi_objective/test_dominance.py
# helpers: tests/conftest.py tests/util tests/unit/__init__.py tests/__init__.py
# environment: TF_USE_LEGACY_KERAS=1
import tensorflow as tf
import trieste

space = trieste.space.Box([0.0], [1.0])
observer = trieste.objectives.utils.mk_observer(lambda x: (x - 0.3) ** 2)
data = observer(space.sample(4))
model = trieste.models.gpflow.GaussianProcessRegression(
    trieste.models.gpflow.build_gpr(data, space, likelihood_variance=1e-5)
)
result = trieste.bayesian_optimizer.BayesianOptimizer(observer, space).optimize(2, data, model)
assert tf.reduce_min(result.try_get_final_dataset().observations) < 0.3
