"""A search for the width of a layer."""

# sources: keras-team/keras-tuner v1.4.7
# tests: keras_tuner/engine/conditions_test.py keras_tuner/engine/hyperparameters/hyperparameters_test.py
# tests: keras_tuner/engine/hyperparameters/hp_types/choice_hp_test.py keras_tuner/engine/objective_test.py
# tests: keras_tuner/engine/trial_test.py
import tempfile

import keras
import keras_tuner
import numpy as np


def build(hp):
    model = keras.Sequential([keras.layers.Dense(hp.Int("units", 2, 8, step=2)), keras.layers.Dense(1)])
    model.compile("adam", "mse")
    return model


with tempfile.TemporaryDirectory() as folder:
    tuner = keras_tuner.RandomSearch(build, objective="val_loss", max_trials=2, directory=folder)
    x = np.random.default_rng(0).normal(size=(16, 3)).astype("float32")
    tuner.search(x, x[:, :1], validation_data=(x, x[:, :1]), verbose=0)
    assert tuner.get_best_models()[0].predict(x, verbose=0).shape == (16, 1)
