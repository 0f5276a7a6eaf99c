"""Torch's autograd through the calls that a module is made of gives the gradients of the ops."""

import numpy as np
import pytest
import torch

import op_table
import tapeflow as tf

# Where torch's function has another derivative than TensorFlow's at single points, or by convention.
DIFFERENT = {
    "math.pow": "at 0 ** y TensorFlow takes 0 for the derivative by y",
    "linalg.eigvalsh": "the cotangent of a symmetric matrix: torch's is symmetric, TensorFlow's is triangular",
}
ROWS = [r for r in op_table.all_rows() if r.gradient and r.samples and r.name not in DIFFERENT]


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_gradient(row):
    args, kwargs = row.samples[0]
    nth = op_table._differentiated(row, args)
    given = [tf.constant(a) if i in nth else op_table.cast(a, "float64") for i, a in enumerate(args)]
    named = {k: op_table.cast(v, "float64") for k, v in kwargs.items()}
    if not nth:
        pytest.skip("differentiates by lists")

    def projected(*sources):
        inputs = [*given]
        for i, source in zip(nth, sources, strict=True):
            inputs[i] = source
        return op_table._projected(row.function, inputs, named, 3)

    sources = [given[i] for i in nth]
    try:
        concrete = tf.function(projected, autograph=False).get_concrete_function(*sources)
    except TypeError as error:
        pytest.skip(f"needs static shapes: {error}")
    wanted = op_table._gradients(row.function, [*given], named, nth, 3)
    leaves = [tf.torch.to_torch(x).requires_grad_() for x in sources]
    result = tf.torch.module(concrete)(*leaves)
    gradients = [None] * len(nth)
    if result.requires_grad:
        gradients = torch.autograd.grad(result, leaves, allow_unused=True)
    for w, g in zip(wanted, gradients, strict=True):
        g = np.zeros(w.shape) if g is None else g.numpy(force=True)
        np.testing.assert_allclose(g, w, rtol=1e-6, atol=1e-8)
