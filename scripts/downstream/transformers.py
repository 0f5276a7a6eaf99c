"""A BERT that is fine-tuned, saved and loaded, and a GPT-2 that writes."""

# distribution: transformers==4.44.2
# requires: tf-keras
import tempfile

import numpy as np
import tensorflow as tf
from transformers import BertConfig, GPT2Config, TFBertForSequenceClassification, TFGPT2LMHeadModel

config = BertConfig(50, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32)
model = TFBertForSequenceClassification(config)
tokens = {"input_ids": np.arange(40).reshape(4, 10), "attention_mask": np.ones([4, 10], int)}
model.compile(optimizer="adam")
history = model.fit(tokens, np.array([0, 1, 0, 1]), epochs=3, verbose=0)
assert np.isfinite(history.history["loss"]).all()
with tempfile.TemporaryDirectory() as folder:
    model.save_pretrained(folder)
    again = TFBertForSequenceClassification.from_pretrained(folder)
    np.testing.assert_allclose(again(tokens).logits, model(tokens).logits, rtol=1e-5, atol=1e-6)

gpt = TFGPT2LMHeadModel(GPT2Config(50, n_positions=32, n_embd=16, n_layer=2, n_head=2, eos_token_id=None))
written = gpt.generate(tf.constant([[1, 2, 3]]), max_length=8, pad_token_id=0)
assert written.shape == (1, 8)
