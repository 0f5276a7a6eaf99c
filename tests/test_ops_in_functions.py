"""Each op of the op table, called directly and from `tf.function`: result and gradient must be the same."""

import json
import pathlib

import numpy as np
import pytest

import op_table
import static_shape_rows
import tapeflow as tf
from static_shapes import MODES, Case

# Calls that fail when they run, in TensorFlow too.
ONE_IMAGE = "images of unknown rank are a single one"
IMPOSSIBLE = {
    ("image.crop_to_bounding_box", "rank"): ONE_IMAGE,
    ("image.pad_to_bounding_box", "rank"): ONE_IMAGE,
    ("image.resize_with_crop_or_pad", "rank"): ONE_IMAGE,
    ("image.resize_with_pad", "rank"): ONE_IMAGE,
    ("linalg.tridiagonal_solve", "rank"): "right-hand sides of unknown rank are matrices",
}
RECORDED = json.loads((pathlib.Path(__file__).parent / "fixtures" / "static_shapes.json").read_text())


def cases():
    """Each row's first sample, with as much static as may be where TensorFlow builds the graph."""
    params = []
    for number, row in enumerate([*op_table.all_rows(), *static_shape_rows.ROWS]):
        if not row.samples:
            continue
        case = Case(row, *row.samples[0])
        for mode in MODES:
            if mode == "first":
                continue
            if RECORDED.get(case.key, {}).get(mode) == "raises":
                continue
            why = IMPOSSIBLE.get((row.name, mode))
            marks = [pytest.mark.xfail(strict=True, reason=why)] if why else []
            params.append(pytest.param(case, mode, id=f"{row}-{number}-{mode}", marks=marks))
    return params


def results(case, call):
    """What the call gives, and the gradients of a weighted sum of it by the float tensors."""
    seen = []

    def noted(*given):
        seen[:] = [call(*given)]
        return seen[0]

    floats = [i for i, t in enumerate(case.tensors) if t.dtype.is_floating]
    if case.row.gradient and floats:
        gradients = op_table._gradients(noted, list(case.tensors), {}, floats, 3)
        return tf.nest.flatten(seen[0]), gradients
    return tf.nest.flatten(call(*case.tensors), expand_composites=True), []


@pytest.mark.parametrize(("case", "mode"), cases())
def test_same_as_eager(case, mode):
    function, static = case.function(mode)
    want, want_gradients = results(case, case.call)
    got, got_gradients = results(case, function)
    assert len(got) == len(want)
    for g, w, shape in zip(got, want, static, strict=True):
        assert g.dtype == w.dtype
        assert g.shape == w.shape
        assert shape.is_compatible_with(w.shape)
        if g.dtype is tf.float32:  # machine code of small functions sums in another order
            np.testing.assert_allclose(g.numpy(), w.numpy(), rtol=1e-6, atol=1e-7)
        else:
            assert np.array_equal(g.numpy(), w.numpy(), equal_nan=g.dtype.is_floating or g.dtype.is_complex)
    for g, w in zip(got_gradients, want_gradients, strict=True):
        np.testing.assert_allclose(g.numpy(), w.numpy(), rtol=1e-5, atol=1e-6)
