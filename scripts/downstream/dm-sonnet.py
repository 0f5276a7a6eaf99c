"""Modules of Sonnet, trained by its optimizer."""

# sources: google-deepmind/sonnet v2.0.2
# tests: sonnet/src/base_test.py sonnet/src/batch_apply_test.py sonnet/src/bias_test.py sonnet/src/build_test.py
# tests: sonnet/src/custom_getter_test.py sonnet/src/deferred_test.py sonnet/src/embed_test.py
# tests: sonnet/src/leaky_clip_by_value_test.py sonnet/src/linear_test.py sonnet/src/metrics_test.py
# tests: sonnet/src/moving_averages_test.py sonnet/src/once_test.py sonnet/src/pad_test.py
# tests: sonnet/src/regularizers_test.py sonnet/src/reshape_test.py sonnet/src/scale_gradient_test.py
# tests: sonnet/src/sequential_test.py
# helpers: sonnet/src/test_utils.py
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
