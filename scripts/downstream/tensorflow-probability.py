"""Distributions, bijectors and Hamiltonian Monte Carlo."""

# requires: tf-keras
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
