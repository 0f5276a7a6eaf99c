"""A binarized network."""

# requires: tf-keras
# sources: larq/larq HEAD
# tests: larq/activations_test.py larq/constraints_test.py larq/context_test.py larq/math_test.py larq/metrics_test.py
# tests: larq/utils_test.py
# helpers: larq/conftest.py larq/snapshots
# environment: TF_USE_LEGACY_KERAS=1
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import larq
import numpy as np
import tensorflow as tf

binary = {"kernel_quantizer": "ste_sign", "kernel_constraint": "weight_clip"}
model = tf.keras.Sequential(
    [
        larq.layers.QuantConv2D(4, 3, input_shape=(8, 8, 1), **binary),
        tf.keras.layers.BatchNormalization(),
        tf.keras.layers.Flatten(),
        larq.layers.QuantDense(2, input_quantizer="ste_sign", **binary),
    ]
)
model.compile("adam", "mse")
model.fit(np.ones([4, 8, 8, 1], "float32"), np.ones([4, 2], "float32"), verbose=0)
larq.models.summary(model, print_fn=lambda *_: None)
