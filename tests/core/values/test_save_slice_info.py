"""The place of a part in its variable."""

import pytest

import tapeflow as tf


@pytest.mark.parametrize(
    ("place", "spec"),
    [
        (([10, 4], [3, 0], [2, 4]), "10 4 3,2:0,4"),
        (([5], [1], [3]), "5 1,3"),
        (([2, 3, 4], [0, 1, 2], [1, 2, 2]), "2 3 4 0,1:1,2:2,2"),
    ],
)
def test_spec_in_checkpoints(place, spec):
    assert tf.Variable.SaveSliceInfo("v", *place).spec == spec
    full_shape, var_offset, var_shape = place
    info = tf.Variable.SaveSliceInfo(var_shape=var_shape, var_offset=var_offset, full_shape=full_shape)
    assert (info.full_name, info.spec) == (None, spec)
