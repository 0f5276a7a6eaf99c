"""The initializers of the top level."""

import pytest

import tapeflow as tf


def test_an_initializer_of_parts_creates_the_part():
    """TensorFlow's constants take no notice of the part."""
    part = {"partition_shape": [2], "partition_offset": [1]}
    for initializer in (tf.zeros_initializer(), tf.ones_initializer(), tf.constant_initializer(2.5, True)):
        assert initializer([4], **part).shape == [2]
        assert initializer([4]).shape == [4]
    assert tf.constant_initializer(2.5, True)([4], **part).numpy().tolist() == [2.5, 2.5]
    with pytest.raises(ValueError, match="doesn't support partition"):
        tf.constant_initializer(2.5)([4], **part)
