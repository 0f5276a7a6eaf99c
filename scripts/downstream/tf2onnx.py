"""A function as an ONNX model."""

import tensorflow as tf
import tf2onnx

function = tf.function(lambda x: tf.nn.relu(x @ tf.ones([3, 2])), input_signature=[tf.TensorSpec([None, 3])])
model, _ = tf2onnx.convert.from_function(function, input_signature=[tf.TensorSpec([None, 3])])
assert any(node.op_type == "MatMul" for node in model.graph.node)
