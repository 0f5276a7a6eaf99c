"""A layer that crosses features."""

import keras_rs
import numpy as np

assert keras_rs.layers.FeatureCross()(np.ones([2, 3], "float32")).shape == (2, 3)
