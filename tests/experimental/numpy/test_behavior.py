"""NumPy's behavior of tensors, and what is kept from processes that do not ask for it."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

import tapeflow as tf
from tapeflow.experimental import numpy as tnp

RECORDED = json.loads((pathlib.Path(__file__).parents[2] / "fixtures" / "numpy_behavior.json").read_text())


@pytest.mark.parametrize("options", RECORDED)
def test_numpy_behavior_is_tensorflows(options):
    program = pathlib.Path(__file__).parents[1] / "numpy_behavior.py"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    done = subprocess.run(
        [sys.executable, program, "tapeflow", *options.split()], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == RECORDED[options]


def test_tensors_lack_numpy_methods_until_asked_for():
    with pytest.raises(AttributeError, match="experimental_enable_numpy_behavior"):
        tf.constant([1]).reshape(1)


def test_unknown_promotion_modes_are_refused():
    with pytest.raises(ValueError, match="does not exist"):
        tnp.experimental_enable_numpy_behavior(dtype_conversion_mode="some")
    with pytest.raises(NotImplementedError, match="weak types"):
        tnp.experimental_enable_numpy_behavior(dtype_conversion_mode="all")
