"""Files of released versions: each is loaded, and gives the outputs that it gave then."""

import json
import pathlib
import shutil

import numpy as np
import pytest

import release_artefacts
import tapeflow as tf

RELEASES = sorted((pathlib.Path(__file__).parent / "fixtures" / "releases").iterdir())
FILES = [(folder, name) for folder in RELEASES for name in release_artefacts.expected(folder)]


def assert_same(actual, expected):
    """Asserts that nests of lists are equal, and floats close."""
    if isinstance(expected, dict):
        assert actual.keys() == expected.keys()
        for key, value in expected.items():
            assert_same(actual[key], value)
    elif isinstance(expected, list):
        assert len(actual) == len(expected)
        for a, e in zip(actual, expected, strict=True):
            assert_same(a, e)
    elif isinstance(expected, float):
        np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-6)
    else:
        assert actual == expected


def is_older_keras(recorded):
    """Returns True if a newer Keras than the present one wrote these files: Keras does not promise to read them."""
    present, writer = (version.split(".")[:2] for version in (tf.keras.__version__, recorded.get("keras", "0.0")))
    return [int(n) for n in present] < [int(n) for n in writer]


@pytest.mark.parametrize(("folder", "name"), FILES, ids=[f"{folder.name}-{name}" for folder, name in FILES])
def test_files_of_a_release(folder, name, tmp_path):
    recorded = release_artefacts.expected(folder)[name]
    if is_older_keras(recorded):
        pytest.skip(f"Keras {recorded['keras']} wrote these files")
    copy = shutil.copytree(folder / name, tmp_path / name)  # a checkpoint's manager may write
    assert_same(release_artefacts.results(copy.parent, name, recorded["inputs"]), recorded["outputs"])


def test_what_is_written_now(tmp_path):
    """The next release's files: every kind is written, and gives what the newest release's files give."""
    release_artefacts.freeze(tmp_path / "now")
    now = release_artefacts.expected(tmp_path / "now")
    newest = release_artefacts.expected(RELEASES[-1])
    assert now.keys() >= newest.keys()
    for name, recorded in newest.items():
        if recorded["inputs"] == json.loads(json.dumps(now[name]["inputs"])) and not is_older_keras(recorded):
            assert_same(now[name]["outputs"], recorded["outputs"])


def test_releases_stay_small():
    for folder in RELEASES:
        assert sum(p.stat().st_size for p in folder.rglob("*") if p.is_file()) < 2 << 20
