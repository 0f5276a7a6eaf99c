"""A graph convolution."""

# requires: tf-keras
# sources: danielegrattarola/spektral v1.3
# tests: tests/test_utils tests/test_transforms tests/test_data tests/test_layers/test_ops.py
# helpers: tests/__init__.py tests/test_layers/__init__.py
# environment: TF_USE_LEGACY_KERAS=1
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tensorflow as tf
from spektral.layers import GCNConv
from spektral.utils import gcn_filter

adjacency = gcn_filter(np.array([[0, 1], [1, 0]], np.float32))
out = GCNConv(3)([tf.ones([2, 4]), tf.constant(adjacency, tf.float32)])
assert out.shape == (2, 3)
