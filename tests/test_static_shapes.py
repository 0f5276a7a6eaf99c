"""The static shapes of results in functions of which little is static, against those that TensorFlow infers.

`scripts/record.py static_shapes` recorded these.
"""

import itertools
import json
import pathlib

import pytest

import partial_shapes
from static_shapes import MODES, cases

FIXTURES = pathlib.Path(__file__).parent / "fixtures"
RECORDED = json.loads((FIXTURES / "static_shapes.json").read_text())
PARTIAL = json.loads((FIXTURES / "partial_shapes.json").read_text())

# How many shapes of a row have more dimensions that are static than TensorFlow knows.
REFINED = {
    "fftnd": 1,
    "gather_nd": 2,
    "ifftnd": 1,
    "irfftnd": 1,
    "linalg.expm": 2,
    "rfftnd": 1,
    "signal.fftnd": 3,
    "signal.ifftnd": 1,
    "signal.irfftnd": 2,
    "signal.rfftnd": 1,
}
# How many shapes of a row differ otherwise, and why.
WRONG = "TensorFlow's static shape is not that of the result"
VALUE = "the shape depends on constants that are not followed: a rule sees the values of host arguments alone"
UNRANKED = "an intermediate result is of unknown rank"
COMPUTED = "parameters are broadcast to a shape that is computed when the graph runs"
DIFFERENT = {
    "extract_volume_patches": (2, WRONG),
    "image.resize": (2, VALUE),
    "irfftnd": (2, WRONG),
    "linalg.diag": (5, WRONG),
    "linalg.eye": (1, VALUE),
    "nn.fractional_max_pool": (2, WRONG),
    "nn.nce_loss": (1, UNRANKED),
    "nn.sampled_softmax_loss": (1, UNRANKED),
    "random.stateless_uniform": (1, UNRANKED),
    "repeat": (2, VALUE),
    "rfftnd": (2, WRONG),
    "signal.fftnd": (4, WRONG),
    "signal.irfftnd": (4, WRONG),
    "signal.rfftnd": (1, WRONG),
}


def by_row():
    groups = itertools.groupby(sorted(cases(), key=lambda c: c.row.name), key=lambda c: c.row.name)
    return [pytest.param(list(group), id=name) for name, group in groups]


def is_refined(ours, theirs):
    """Whether the shapes are TensorFlow's, with more dimensions that are static."""
    pairs = [(o, t) for o, t in zip(ours.split(), theirs.split(), strict=True) if t != "?"]
    dims = [(o[1:-1].split(","), t[1:-1].split(",")) for o, t in pairs]
    return all(o != "?" for o, _ in pairs) and all(
        len(o) == len(t) and all(b in ("?", a) for a, b in zip(o, t, strict=True)) for o, t in dims
    )


@pytest.mark.parametrize("group", by_row())
def test_static_shapes(group):
    refined, different = [], []
    for case in group:
        for mode in MODES:
            theirs = RECORDED[case.key][mode]
            ours = theirs if theirs == "raises" else case.static_shapes(mode)
            if ours != theirs:
                kind = refined if ours != "raises" and is_refined(ours, theirs) else different
                kind.append((case.key, mode, ours, theirs))
    row = group[0].row.name
    assert len(refined) == REFINED.get(row, 0), refined
    assert len(different) == DIFFERENT.get(row, (0, ""))[0], different


# Calls with partly static arguments whose static shape differs from TensorFlow's, and why.
PARTLY_DIFFERENT = {"linalg.diag rows": WRONG}


def by_call():
    groups = itertools.groupby(partial_shapes.calls(), key=lambda c: c[0].partition(": ")[0])
    return [pytest.param(list(group), id=name) for name, group in groups]


@pytest.mark.parametrize("group", by_call())
def test_numbers_that_are_static_stay_static(group):
    for name, call, vector in group:
        theirs = PARTIAL[name]
        if theirs != "raises" and name not in PARTLY_DIFFERENT:
            ours = partial_shapes.static_shapes(call, vector)
            assert ours == theirs or (ours != "raises" and is_refined(ours, theirs)), (name, ours, theirs)
