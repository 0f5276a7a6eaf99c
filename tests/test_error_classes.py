"""The classes of errors against TensorFlow's, for the bad inputs of the op table and its samples with other shapes and
dtypes (`support/failures.py`), eagerly and in functions.

All differences are of the kinds below. A difference of another kind, or one more of a kind, fails: mend the op, or say
here why it is right.
"""

import collections
import json
import pathlib

import pytest

import failures
from failures import NONE

RECORD = json.loads((pathlib.Path(__file__).parent / "fixtures" / "errors.json").read_text())
MISSING = ("NotFoundError", "UnimplementedError")  # TensorFlow has no kernel

# The most differences of each kind, and why they are there.
KINDS = {
    "found while a function is traced": (12, "where TensorFlow finds it when the function runs"),
    "has a kernel": (112, "for dtypes or numbers of dimensions for which TensorFlow has none"),
    "accepts more": (17, "such as batches of videos where TensorFlow takes images, and other dtypes"),
    "another class": (46, "mostly a check of the op's in the place of one in TensorFlow's Python, or the other way"),
    "refuses": (
        20,
        "where TensorFlow reads memory that it should not, stretches a scalar of another rank, or rewrites "
        "reductions over dimensions of length 1, whose kernels would refuse an axis that is there twice",
    ),
}


def kind(place, wanted, got):
    """The kind of a difference."""
    if place == "traced" and wanted == NONE:
        return "found while a function is traced"
    if wanted in MISSING or (place == "run" and (got in MISSING or got == NONE)):
        return "has a kernel"
    if got == NONE:
        return "accepts more"
    return "refuses" if wanted == NONE else "another class"


@pytest.fixture(scope="module")
def differences():
    found = collections.defaultdict(list)
    for text, call in failures.calls().items():
        wanted = RECORD.get(text)
        assert text in RECORD, f"run `python scripts/record.py errors`: there is no record of {text}"
        if wanted is None:  # it ends TensorFlow's process
            continue
        got = failures.outcome(*call)
        for place, w, g in zip(("eager", "traced", "run"), wanted, got, strict=True):
            if w != g and not (place == "run" and wanted[1] != got[1]):
                found[kind(place, w, g)].append(f"{text} [{place}]: {g}, in TensorFlow {w}")
    return found


@pytest.mark.parametrize("name", KINDS)
def test_differences(differences, name):
    most, why = KINDS[name]
    assert len(differences[name]) <= most, "\n".join([f"{name}, {why}:", *differences[name]])


def test_no_bare_errors_of_python_or_torch(differences):
    meant = "signal.fftnd(complex64[2, 2], axes=[5])"  # says what is wrong
    bare = ("IndexError", "KeyError", "AttributeError", "RuntimeError", "ZeroDivisionError", "UnboundLocalError")
    all_differences = [d for ds in differences.values() for d in ds]
    assert [d for d in all_differences if d.partition("]: ")[2].startswith(bare) and not d.startswith(meant)] == []


def test_nothing_is_recorded_that_no_call_asks_for():
    assert set(RECORD) == set(failures.calls())
