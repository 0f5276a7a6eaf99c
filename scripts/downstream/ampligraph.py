"""Embeddings of a graph of knowledge."""

# requires: tf-keras
# sources: Accenture/AmpliGraph 2.2.0
# tests: tests/ampligraph/latent_features/layers/scoring tests/ampligraph/latent_features/test_loss_functions.py
# tests: tests/ampligraph/latent_features/test_regularizer.py tests/ampligraph/latent_features/test_initializers.py
# helpers: tests/__init__.py tests/ampligraph/__init__.py
# environment: TF_USE_LEGACY_KERAS=1
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
from ampligraph.latent_features import ScoringBasedEmbeddingModel

triples = np.array([["a", "r", "b"], ["b", "r", "c"], ["c", "s", "a"], ["a", "s", "c"]])
model = ScoringBasedEmbeddingModel(eta=2, k=4, scoring_type="ComplEx")
model.compile(optimizer="adam", loss="multiclass_nll")
model.fit(triples, batch_size=2, epochs=3, verbose=False)
assert model.predict(triples).shape == (4,)
