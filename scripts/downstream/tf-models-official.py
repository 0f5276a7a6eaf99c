"""A transformer's encoder and a block of a residual network, from the model garden."""

# requires: tf-keras
# tests: official/nlp/modeling/layers/cls_head_test.py official/nlp/modeling/layers/masked_softmax_test.py
# tests: official/nlp/modeling/layers/position_embedding_test.py
# tests: official/nlp/modeling/layers/on_device_embedding_test.py
# tests: official/nlp/modeling/layers/gated_feedforward_test.py
# tests: official/nlp/modeling/layers/talking_heads_attention_test.py
# environment: TF_USE_LEGACY_KERAS=1
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import tensorflow as tf
from official.nlp.modeling import layers, networks
from official.vision.modeling.layers import nn_blocks

block = layers.TransformerEncoderBlock(num_attention_heads=2, inner_dim=8, inner_activation="relu")
assert block(tf.ones([2, 5, 4])).shape == (2, 5, 4)
encoder = networks.BertEncoder(vocab_size=20, hidden_size=8, num_layers=1, num_attention_heads=2)
ids = tf.zeros([2, 5], tf.int32)
assert encoder([ids, tf.ones_like(ids), ids])[0].shape == (2, 5, 8)
assert nn_blocks.ResidualBlock(filters=4, strides=1)(tf.ones([1, 8, 8, 4])).shape == (1, 8, 8, 4)
