"""Each op of the op table, called directly and from `tf.function`: result and gradient must be the same."""

import numpy as np
import pytest

import op_table
import tapeflow as tf

# What a row can't do in a function: {(row, "known" or "unknown" dimensions): why}, by family.
IMPOSSIBLE = {("unstack", "unknown"): "how many tensors it gives must be known, in TensorFlow too"}
# Rows whose result may have any rank until it is there.
RANK_UNKNOWN = {"squeeze", "nn.isotonic_regression"}


def rows():
    """Each row's first sample, once with the shapes known while the graph is built and once without."""
    found = []
    for number, row in enumerate(op_table.all_rows()):
        if not row.samples:
            continue
        for dims in ("known", "unknown"):
            why = IMPOSSIBLE.get((row.name, dims))
            marks = [pytest.mark.xfail(strict=True, reason=why)] if why else []
            found.append(pytest.param(row, dims == "known", id=f"{row}-{number}-{dims}", marks=marks))
    return found


def as_tensor(value):
    return tf.constant(value) if isinstance(value, np.ndarray) else value


def in_function(call, tensors, known):
    """`call` as a function of these tensors, and the static shapes that its results had while it was traced."""
    static = []

    def body(*given):
        out = call(*given)
        static.extend(o.shape for o in tf.nest.flatten(out))
        return out

    specs = [tf.TensorSpec(t.shape if known else [None] * t.shape.rank, t.dtype) for t in tensors]
    return tf.function(body, input_signature=specs, autograph=False), static


def results(call, tensors, wanted):
    """What the call gives, and the gradients of a weighted sum of it by the float tensors."""
    seen = []

    def noted(*given):
        seen[:] = [call(*given)]
        return seen[0]

    floats = [i for i, t in enumerate(tensors) if t.dtype.is_floating]
    if wanted and floats:
        gradients = op_table._gradients(noted, list(tensors), {}, floats, 3)
        return tf.nest.flatten(seen[0]), gradients
    return tf.nest.flatten(call(*tensors)), []


@pytest.mark.parametrize(("row", "known"), rows())
def test_same_as_eager(row, known):
    args, kwargs = row.samples[0]
    dtype = "float32" if "float32" in row.dtypes else row.dtypes[0]
    leaves = [as_tensor(op_table.cast(a, dtype)) for a in tf.nest.flatten((args, kwargs))]
    places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, tf.Tensor)]
    tensors = [leaves[i] for i in places]

    def call(*given):
        filled = list(leaves)
        for i, tensor in zip(places, given, strict=True):
            filled[i] = tensor
        positional, named = tf.nest.pack_sequence_as((args, kwargs), filled)
        return row.function(*positional, **named)

    function, static = in_function(call, tensors, known)
    want, want_gradients = results(call, tensors, row.gradient)
    got, got_gradients = results(function, tensors, row.gradient)
    assert len(got) == len(want)
    for g, w, shape in zip(got, want, static, strict=True):
        assert g.dtype == w.dtype
        assert g.shape == w.shape
        assert shape.is_compatible_with(w.shape)
        assert shape.rank is not None or row.name in RANK_UNKNOWN
        assert np.array_equal(g.numpy(), w.numpy(), equal_nan=g.dtype.is_floating or g.dtype.is_complex)
    for g, w in zip(got_gradients, want_gradients, strict=True):
        np.testing.assert_allclose(g.numpy(), w.numpy(), rtol=1e-5, atol=1e-6)
