"""A Bayesian layer, and a model as a program."""

# requires: tf-keras tensorflow-probability scipy<1.12
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import edward2 as ed
import tensorflow as tf

layer = ed.layers.DenseReparameterization(3)
assert layer(tf.ones([2, 4])).shape == (2, 3)
joint = ed.make_log_joint_fn(lambda: ed.Normal(loc=ed.Normal(loc=0.0, scale=1.0, name="mean"), scale=1.0, name="x"))
assert joint(mean=0.0, x=0.0).shape == ()
