"""A Keras model as an estimator of scikit-learn."""

# sources: adriangb/scikeras v0.13.0
# tests: tests/test_deprecation.py tests/test_param_routing.py tests/test_utils_transformers.py
# helpers: tests/__init__.py tests/conftest.py tests/mlp_models.py tests/multi_output_models.py tests/testing_utils.py
import keras
import numpy as np
from scikeras.wrappers import KerasClassifier
from sklearn.model_selection import cross_val_score


def build(meta):
    return keras.Sequential([keras.Input([meta["n_features_in_"]]), keras.layers.Dense(1, "sigmoid")])


x = np.random.default_rng(0).normal(size=(40, 3)).astype("float32")
estimator = KerasClassifier(build, loss="binary_crossentropy", optimizer="adam", epochs=2, verbose=0)
assert cross_val_score(estimator, x, (x[:, 0] > 0).astype(int), cv=2).shape == (2,)
