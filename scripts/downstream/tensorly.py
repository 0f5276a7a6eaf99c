"""Decompositions of a tensor, and a gradient through one."""

# tests: tensorly/tenalg/tests tensorly/metrics/tests
# environment: TENSORLY_BACKEND=tensorflow
import numpy as np
import tensorflow as tf
import tensorly as tl
from tensorly.decomposition import parafac, tucker

tl.set_backend("tensorflow")
x = tl.tensor(np.random.default_rng(0).normal(size=(3, 4, 5)))
core, factors = tucker(x, rank=[3, 4, 5])
np.testing.assert_allclose(tl.tucker_to_tensor((core, factors)), x, atol=1e-6)
assert [f.shape[1] for f in parafac(x, rank=2).factors] == [2, 2, 2]
with tf.GradientTape() as tape:
    tape.watch(x)
    loss = tl.norm(tl.unfold(x, 1))
assert tape.gradient(loss, x).shape == x.shape
