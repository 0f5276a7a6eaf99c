"""An attack on a classifier."""

# sources: bethgelab/foolbox v3.3.4
# tests: tests/test_criteria.py tests/test_devutils.py tests/test_distances.py
# helpers: tests/conftest.py
# environment: PYTEST_ADDOPTS=--backend=tensorflow
import foolbox
import numpy as np
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.Input([8, 8, 1]), tf.keras.layers.Flatten(), tf.keras.layers.Dense(3)])
attacked = foolbox.TensorFlowModel(model, bounds=(0, 1))
images = tf.constant(np.random.default_rng(0).uniform(size=(4, 8, 8, 1)), tf.float32)
labels = tf.argmax(model(images), axis=1)
assert foolbox.accuracy(attacked, images, labels) == 1
raw, clipped, success = foolbox.attacks.LinfPGD()(attacked, images, labels, epsilons=[0.0, 0.5])
assert success.shape == (2, 4) and success.numpy()[1].any()
