"""Ops on random strings give what TensorFlow gives, byte by byte."""

import json
import pathlib

import pytest

import random_strings
import tapeflow as tf

PATH = pathlib.Path(__file__).parents[1] / "fixtures" / "random_strings.json"
NAMES, *DRAWS = json.loads(PATH.read_text()) if PATH.exists() else [[]]


@pytest.mark.parametrize("seed", range(len(DRAWS)))
def test_as_in_tensorflow(seed):
    assert random_strings.draws(tf, seed) == dict(zip(NAMES, DRAWS[seed], strict=True))
