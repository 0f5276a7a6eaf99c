"""A monotonic lattice over calibrated inputs."""

# requires: tf-keras
# tests: tensorflow_lattice/python/configs_test.py tensorflow_lattice/python/internal_utils_test.py
# tests: tensorflow_lattice/python/utils_test.py
# environment: TF_USE_LEGACY_KERAS=1
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tensorflow as tf
import tensorflow_lattice as tfl

calibrators = tfl.layers.ParallelCombination()
for _ in range(2):
    calibrators.append(tfl.layers.PWLCalibration(np.linspace(0, 1, 5), output_max=1.0, monotonicity="increasing"))
model = tf.keras.Sequential([calibrators, tfl.layers.Lattice([2, 2], monotonicities=["increasing"] * 2)])
model.compile("adam", "mse")
x = np.random.default_rng(0).uniform(size=(32, 2)).astype("float32")
model.fit(x, x.sum(1), epochs=2, verbose=0)
