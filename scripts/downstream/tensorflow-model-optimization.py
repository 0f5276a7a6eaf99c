"""Training that prunes weights, and clustered ones."""

# requires: tf-keras
# sources: tensorflow/model-optimization v0.8.1
# tests: tensorflow_model_optimization/python/core/sparsity/keras/pruning_schedule_test.py
# tests: tensorflow_model_optimization/python/core/sparsity/keras/pruning_utils_test.py
# tests: tensorflow_model_optimization/python/core/quantization/keras/quant_ops_test.py
# tests: tensorflow_model_optimization/python/core/common/keras/compression/schedules_test.py
# environment: TF_USE_LEGACY_KERAS=1
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tensorflow as tf
import tensorflow_model_optimization as tfmot

model = tf.keras.Sequential([tf.keras.layers.Dense(8, input_shape=(4,)), tf.keras.layers.Dense(1)])
schedule = tfmot.sparsity.keras.ConstantSparsity(0.5, begin_step=0, frequency=1)
pruned = tfmot.sparsity.keras.prune_low_magnitude(model, pruning_schedule=schedule)
pruned.compile("adam", "mse")
x = np.random.default_rng(0).normal(size=(32, 4)).astype("float32")
pruned.fit(x, x[:, :1], epochs=2, verbose=0, callbacks=[tfmot.sparsity.keras.UpdatePruningStep()])
kernel = tfmot.sparsity.keras.strip_pruning(pruned).layers[0].kernel
assert (kernel.numpy() == 0).mean() >= 0.5
