"""Training as TensorFlow 1 programs do it."""

import json
import pathlib

import numpy as np
import pytest

import tapeflow as tf
from v1_programs import PROGRAMS, plain

v1 = tf.compat.v1
EXPECTED = json.loads((pathlib.Path(__file__).parent / "data" / "v1_programs.json").read_text())


def assert_close(given, expected, path=""):
    if isinstance(expected, dict):
        assert given.keys() == expected.keys(), path
        for key, value in expected.items():
            assert_close(given[key], value, f"{path}/{key}")
    elif isinstance(expected, list) and any(isinstance(v, (list, str)) for v in expected):
        assert len(given) == len(expected), path
        for i, value in enumerate(expected):
            assert_close(given[i], value, f"{path}/{i}")
    elif isinstance(expected, str):
        assert given == expected, path
    else:
        np.testing.assert_allclose(given, expected, rtol=2e-3, atol=2e-5, err_msg=path)


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_of_tensorflow_1(name, tmp_path):
    with tf.Graph().as_default():
        assert_close(plain(PROGRAMS[name](v1, str(tmp_path))), EXPECTED[name])
