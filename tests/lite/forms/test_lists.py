"""Forms of tensor arrays: the runtime and TapeFlow compute the same values."""

import numpy as np
import pytest

pytest.importorskip("ai_edge_litert")

import tapeflow as tf
from lite_runtime import check, convert

X = np.arange(12, dtype=np.float32).reshape(3, 4)


def written(x):
    array = tf.TensorArray(tf.float32, 4, element_shape=[4])
    array = array.write(2, x[0]).write(0, x[1] * 2)
    return array.stack()


def unstacked(x):
    array = tf.TensorArray(tf.float32, 3).unstack(x)
    return array.read(1), array.size(), array.gather([2, 0])


def scattered(x):
    return tf.TensorArray(tf.float32, 3, element_shape=[4]).scatter([2, 0, 1], x).stack()


def in_order(x):
    return tf.TensorArray(tf.float32, 3, element_shape=[4]).scatter([0, 1, 2], x).stack()


def looped(x):
    array = tf.TensorArray(tf.float32, 3)
    for i in tf.range(3):
        array = array.write(i, x[i] * tf.cast(i, tf.float32))
    return array.stack()


def pushed(x):
    array = tf.TensorArray(tf.float32, 0, dynamic_size=True, element_shape=[4])
    return array.write(0, x[0]).write(1, x[2]).stack()


def nothing(x):
    return tf.TensorArray(tf.float32, 2, element_shape=[3]).stack() + tf.reduce_sum(x)


@pytest.mark.parametrize("function", [written, unstacked, scattered, in_order, looped, pushed, nothing])
def test_values(function):
    check(function, X, batch=False)


@pytest.mark.parametrize("function", [
    lambda x: tf.raw_ops.TensorListStack(
        input_handle=tf.raw_ops.TensorListPushBack(
            input_handle=tf.raw_ops.EmptyTensorList(element_shape=[4], max_num_elements=-1, element_dtype=tf.float32),
            tensor=x[1],
        ),
        element_shape=[4], element_dtype=tf.float32,
    ),
    lambda x: tf.raw_ops.TensorListStack(
        input_handle=tf.raw_ops.TensorListPushBack(
            input_handle=tf.raw_ops.TensorListFromTensor(tensor=x, element_shape=[4]), tensor=x[1] * 10
        ),
        element_shape=[4], element_dtype=tf.float32,
    ),
])  # fmt: skip
def test_entries_that_are_pushed(function):
    check(function, X, batch=False)


def reserved(count=3):
    return tf.raw_ops.TensorListReserve(element_shape=-1, num_elements=count, element_dtype=tf.float32)


@pytest.mark.parametrize(("function", "message"), [
    (
        lambda x: tf.raw_ops.TensorListGetItem(
            input_handle=reserved(), index=0, element_shape=[4], element_dtype=tf.float32
        ),
        "an entry of a list is read before one is set",
    ),
    (
        lambda x: tf.raw_ops.TensorListGather(
            input_handle=reserved(), indices=[0], element_shape=[4], element_dtype=tf.float32
        ),
        "entries of a list are read before one is set",
    ),
    (
        lambda x: tf.raw_ops.TensorListStack(input_handle=reserved(), element_shape=[-1], element_dtype=tf.float32),
        "no entry of the list is set, and its entries have no static shape",
    ),
    (
        lambda x: tf.raw_ops.TensorListStack(
            input_handle=tf.raw_ops.TensorListPushBack(input_handle=reserved(), tensor=x[0]), element_shape=[4],
            element_dtype=tf.float32,
        ),
        "an entry is pushed onto a list with reserved entries",
    ),
])  # fmt: skip
def test_lists_without_a_form(function, message):
    with pytest.raises(TypeError, match=message):
        convert(function, tf.TensorSpec([3, 4]))
