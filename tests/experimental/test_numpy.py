"""`tf.experimental.numpy`: NumPy's behavior of tensors, and what is kept from processes that do not ask for it.

What the functions give is recorded in `goldens/cases_numpy.py`.
"""

import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.experimental import numpy as tnp

RECORDED = json.loads((pathlib.Path(__file__).parents[1] / "fixtures" / "numpy_behavior.json").read_text())


@pytest.mark.parametrize("options", RECORDED)
def test_numpy_behavior_is_tensorflows(options):
    program = pathlib.Path(__file__).with_name("numpy_behavior.py")
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


def test_gradients_pass_through():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tnp.sum(tnp.take_along_axis(tnp.exp(x), tnp.argsort(x, axis=0), 0) * tnp.kron(x, [1.0]))
    np.testing.assert_allclose(tape.gradient(y, x), np.exp(x) * (1 + x), rtol=1e-6)


def test_dimensions_may_be_unknown_in_graphs():
    spec = tf.TensorSpec([None, None])
    function = tf.function(lambda x: (tnp.tile(x, 2), tnp.atleast_3d(x), tnp.kron(x, x), tnp.take(x, [1])), [spec])
    x = tf.constant([[1.0, 2.0]])
    for traced, eager in zip(
        function(x), (np.tile(x, 2), np.atleast_3d(x), np.kron(x, x), np.take(x, [1])), strict=True
    ):
        np.testing.assert_array_equal(traced, eager)
