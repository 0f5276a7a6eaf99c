"""A quantized layer."""

# requires: tf-keras pyparsing
# sources: google/qkeras v0.9.0
# tests: tests/codebook_test.py tests/leakyrelu_test.py tests/qalpha_test.py tests/range_test.py
# tests: tests/safe_eval_test.py
# environment: TF_USE_LEGACY_KERAS=1
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import tensorflow as tf
from qkeras import QDense, quantized_bits

model = tf.keras.Sequential([QDense(2, kernel_quantizer=quantized_bits(4, 0, 1), input_shape=(3,))])
model.compile("sgd", "mse")
model.fit(tf.ones([4, 3]), tf.ones([4, 2]), verbose=0)
