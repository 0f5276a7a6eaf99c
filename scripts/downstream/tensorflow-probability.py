"""Distributions, bijectors and Hamiltonian Monte Carlo."""

# requires: tf-keras
# sources: tensorflow/probability v0.25.0
# tests: tensorflow_probability/python/bijectors/absolute_value_test.py
# tests: tensorflow_probability/python/bijectors/exp_test.py tensorflow_probability/python/math/numeric_test.py
# tests: tensorflow_probability/python/stats/ranking_test.py tensorflow_probability/python/util/seed_stream_test.py
# tests: tensorflow_probability/python/math/interpolation_test.py tensorflow_probability/python/math/linalg_test.py
# tests: tensorflow_probability/python/bijectors/softplus_test.py tensorflow_probability/python/bijectors/chain_test.py
# helpers: tensorflow_probability/python/bijectors/bijector_test_util.py
# environment: TF_USE_LEGACY_KERAS=1
import tensorflow as tf
import tensorflow_probability as tfp

normal = tfp.distributions.Normal([0.0, 1.0], 2.0)
log_normal = tfp.distributions.TransformedDistribution(normal, tfp.bijectors.Exp())
assert log_normal.log_prob([1.0, 2.0]).shape == (2,)
kernel = tfp.mcmc.HamiltonianMonteCarlo(lambda x: -((x - 3.0) ** 2) / 2, step_size=0.5, num_leapfrog_steps=3)
states = tf.function(
    lambda: tfp.mcmc.sample_chain(300, tf.zeros([]), kernel=kernel, num_burnin_steps=50, trace_fn=None, seed=1)
)()
assert abs(tf.reduce_mean(states).numpy() - 3) < 1
