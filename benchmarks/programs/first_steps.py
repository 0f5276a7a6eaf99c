"""The first training step of whole Keras models by `train_on_batch`, and the memory of ten, each in a new process."""

import functools

from programs.models import MODELS, Model, keras_on

THREADS = 1


def setup(tf):
    return _steps(tf.keras)


def setup_torch(torch):
    return _steps(keras_on("torch"))


def setup_jax(jax):
    return _steps(keras_on("jax"))


def _steps(keras):
    return {name: functools.partial(_step, keras, name) for name in MODELS}


def _step(keras, name):
    return Model(keras, name).train
