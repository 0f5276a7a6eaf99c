"""A layer that crosses features."""

# sources: keras-team/keras-rs v0.4.0
# tests: keras_rs/src/losses/list_mle_loss_test.py keras_rs/src/metrics/precision_at_k_test.py
# tests: keras_rs/src/layers/feature_interaction/dot_interaction_test.py
# tests: keras_rs/src/layers/retrieval/brute_force_retrieval_test.py
# tests: keras_rs/src/layers/retrieval/remove_accidental_hits_test.py
# helpers: keras_rs/src/testing
import keras_rs
import numpy as np

assert keras_rs.layers.FeatureCross()(np.ones([2, 3], "float32")).shape == (2, 3)
