"""Keras 2: a model that is fitted, saved and loaded."""

# sources: keras-team/tf-keras v2.21.0
# tests: tf_keras/constraints_test.py tf_keras/regularizers_test.py tf_keras/initializers/initializers_test.py
# tests: tf_keras/metrics/hinge_metrics_test.py tf_keras/losses_test.py tf_keras/layers/activation
# tests: tf_keras/layers/merging/merging_test.py tf_keras/layers/reshaping/permute_test.py
# tests: tf_keras/layers/core/einsum_dense_test.py tf_keras/optimizers/schedules
# imports: tf_keras tf_keras.src
# environment: TF_USE_LEGACY_KERAS=1
import tempfile

import numpy as np
import tf_keras

model = tf_keras.Sequential([tf_keras.layers.Dense(4, activation="relu"), tf_keras.layers.Dense(1)])
model.compile(tf_keras.optimizers.legacy.Adam(0.1), "mse", metrics=["mae"])
x = np.random.default_rng(0).normal(size=(64, 3)).astype("float32")
history = model.fit(x, x.sum(1, keepdims=True), epochs=5, verbose=0)
assert history.history["loss"][-1] < history.history["loss"][0]
with tempfile.TemporaryDirectory() as folder:
    model.save(f"{folder}/saved")
    again = tf_keras.models.load_model(f"{folder}/saved")
    np.testing.assert_allclose(again.predict(x, verbose=0), model.predict(x, verbose=0), rtol=1e-5)
    model.save(f"{folder}/model.h5")
    again = tf_keras.models.load_model(f"{folder}/model.h5")
    np.testing.assert_allclose(again.predict(x, verbose=0), model.predict(x, verbose=0), rtol=1e-5)
