"""The functions of the XLA bindings; the results are those of TensorFlow 2.21."""

import pytest

import tapeflow as tf
from tapeflow_compat.tensorflow_python import xla


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        ([0, 0], [[1, 2, 0], [0, 0, 0]]),
        ([1, 1], [[0, 0, 0], [0, 1, 2]]),
        ([5, -1], [[0, 0, 0], [1, 2, 0]]),  # clipped
        ([-3, 9], [[0, 1, 2], [0, 0, 0]]),
    ],
)
def test_updates_of_a_part(start, expected):
    x = tf.zeros([2, 3], tf.int32)
    found = xla.dynamic_update_slice(x, tf.constant([[1, 2]]), tf.constant(start))
    assert found.numpy().tolist() == expected and found.dtype == tf.int32
    assert x.numpy().tolist() == [[0, 0, 0], [0, 0, 0]]
    traced = tf.function(lambda v: xla.dynamic_update_slice(v, [[1, 2]], tf.constant(start, tf.int64)))
    assert traced(x).numpy().tolist() == expected


def test_updates_of_scalars():
    none = tf.constant([], tf.int32)
    assert xla.dynamic_update_slice(tf.constant(3.0), tf.constant(4.0), none).numpy() == 4.0


def test_names_of_the_calling_convention():
    assert xla.call_module_maximum_supported_version() >= 9
    assert xla.call_module_disable_check_platform() == "platform"
