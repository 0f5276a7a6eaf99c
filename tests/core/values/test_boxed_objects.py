"""Scalar tensors that hold a Python object."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core.values.boxed_objects import Addend, box_object, held_object, hold_object


@pytest.mark.parametrize("value", [[1, 2], (3,), "text", None, {"k": 1}, np.zeros(2)])
def test_objects_are_held_as_they_are(value):
    boxed = box_object(value)
    assert boxed.shape == () and boxed.dtype == object and boxed[()] is value
    tensor = hold_object(value, tf.variant)
    assert tensor.dtype is tf.variant and tensor.shape == [] and tensor.value[()] is value


def test_objects_of_a_class():
    assert held_object(box_object([1]), list, "list") == [1] and held_object([1], (list, dict), "list") == [1]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Expected the handle of a table, but it holds a list\."):
        held_object(box_object([1]), dict, "table")
    with pytest.raises(tf.errors.InvalidArgumentError, match="it holds a ndarray"):
        held_object(np.array([1]), dict, "table")
    with tf.Graph().as_default(), pytest.raises(ValueError, match="it holds a int"):
        held_object(3, dict, "table")


def test_addends_are_abstract():
    for call in (lambda a: a + a, lambda a: a.conj(), lambda a: a.zeros()):
        with pytest.raises(NotImplementedError):
            call(Addend())
