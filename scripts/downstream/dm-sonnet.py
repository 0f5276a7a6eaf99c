"""Modules of Sonnet, trained by its optimizer."""

import sonnet as snt
import tensorflow as tf

network = snt.Sequential([snt.Conv2D(4, 3), tf.nn.relu, snt.Flatten(), snt.nets.MLP([8, 2])])
optimizer = snt.optimizers.Adam(0.01)
x = tf.random.normal([4, 6, 6, 1], seed=0)
losses = []
for _ in range(5):
    with tf.GradientTape() as tape:
        losses.append(tf.reduce_mean((network(x) - 1.0) ** 2))
    optimizer.apply(tape.gradient(losses[-1], network.trainable_variables), network.trainable_variables)
assert losses[-1] < losses[0]
lstm = snt.LSTM(3)
assert snt.dynamic_unroll(lstm, tf.ones([5, 2, 4]), lstm.initial_state(2))[0].shape == (5, 2, 3)
