"""Tensors that are rearranged, in a function and in a layer."""

# sources: arogozhnikov/einops v0.8.2
# tests: einops/tests/test_ops.py einops/tests/test_einsum.py einops/tests/test_packing.py einops/tests/test_layers.py
# tests: einops/tests/test_other.py einops/tests/test_parsing.py
# helpers: einops/tests/__init__.py
# environment: EINOPS_TEST_BACKENDS=tensorflow
import numpy as np
import tensorflow as tf
from einops import einsum, rearrange, reduce, repeat
from einops.layers.tensorflow import EinMix, Rearrange

x = tf.reshape(tf.range(24.0), [2, 3, 4])
assert rearrange(x, "a b c -> (a c) b").shape == (8, 3)
np.testing.assert_allclose(reduce(x, "a b c -> b", "mean"), tf.reduce_mean(x, [0, 2]))
assert tf.function(lambda t: repeat(t, "a b c -> a r b c", r=2))(x).shape == (2, 2, 3, 4)
assert einsum(x, x, "a b c, a d c -> a b d").shape == (2, 3, 3)
model = tf.keras.Sequential([Rearrange("a b c -> a c b"), EinMix("a c b -> a d", "c b d", d=5, c=4, b=3)])
assert model(x).shape == (2, 5)
