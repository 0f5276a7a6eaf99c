"""The shares of inputs in a model's output."""

import numpy as np
import shap
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(4, "relu"), tf.keras.layers.Dense(1)])
x = np.random.default_rng(0).normal(size=(20, 3)).astype("float32")
values = np.array(shap.GradientExplainer(model, x).shap_values(x[:2])).reshape(2, 3)
deep = np.array(shap.DeepExplainer(model, x).shap_values(x[:2])).reshape(2, 3)
expected = model(x[:2]).numpy()[:, 0] - model(x).numpy().mean()
np.testing.assert_allclose(deep.sum(1), expected, atol=1e-2)
