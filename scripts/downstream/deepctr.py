"""A click-through model."""

# requires: tf-keras
# sources: shenweichen/DeepCTR v0.9.4
# tests: tests/layers/activations_test.py tests/layers/core_test.py tests/layers/normalization_test.py
# helpers: tests/__init__.py tests/utils.py tests/utils_mtl.py tests/models/__init__.py
# environment: TF_USE_LEGACY_KERAS=1
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
from deepctr.feature_column import DenseFeat, SparseFeat, get_feature_names
from deepctr.models import DeepFM

columns = [SparseFeat("item", 10, embedding_dim=4), DenseFeat("price", 1)]
model = DeepFM(columns, columns, task="binary", dnn_hidden_units=(8,))
model.compile("adam", "binary_crossentropy")
data = {"item": np.arange(32) % 10, "price": np.linspace(0, 1, 32)}
inputs = {name: data[name] for name in get_feature_names(columns)}
model.fit(inputs, (np.arange(32) % 2).astype("float32"), epochs=2, verbose=0)
