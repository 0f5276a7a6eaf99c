"""A graph convolution."""

import numpy as np
import tensorflow as tf
from spektral.layers import GCNConv
from spektral.utils import gcn_filter

adjacency = gcn_filter(np.array([[0, 1], [1, 0]], np.float32))
out = GCNConv(3)([tf.ones([2, 4]), tf.constant(adjacency, tf.float32)])
assert out.shape == (2, 3)
