"""A network of slim's layers, in a graph."""

# requires: tf-keras
# tests: tf_slim/losses
import numpy as np
import tensorflow.compat.v1 as tf
import tf_slim as slim

with tf.Graph().as_default():
    images = tf.placeholder(tf.float32, [None, 8, 8, 3])
    net = slim.conv2d(images, 4, [3, 3], normalizer_fn=slim.batch_norm)
    logits = slim.fully_connected(slim.flatten(net), 2, activation_fn=None)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(logits, {images: np.ones([5, 8, 8, 3])}).shape == (5, 2)
