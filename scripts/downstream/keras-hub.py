"""A small BERT backbone, and a sampler of tokens."""

# sources: keras-team/keras-hub v0.31.1
# helpers: keras_hub/src/tests/test_case.py keras_hub/src/tests/__init__.py
# tests: keras_hub/src/layers/modeling/alibi_bias_test.py keras_hub/src/layers/modeling/sine_position_encoding_test.py
# tests: keras_hub/src/samplers/greedy_sampler_test.py
import keras_hub
import numpy as np

backbone = keras_hub.models.BertBackbone(
    vocabulary_size=20, num_layers=1, num_heads=2, hidden_dim=8, intermediate_dim=16, max_sequence_length=12
)
tokens = {
    "token_ids": np.ones([1, 12], "int32"),
    "segment_ids": np.zeros([1, 12], "int32"),
    "padding_mask": np.ones([1, 12], "int32"),
}
assert backbone(tokens)["pooled_output"].shape == (1, 8)
classifier = keras_hub.models.BertTextClassifier(backbone=backbone, num_classes=2)
classifier.fit(tokens, np.array([1]), verbose=0)
