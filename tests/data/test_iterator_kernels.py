"""Raw ops of iterators. Expected values are TensorFlow's."""

import numpy as np
import pytest

import tapeflow as tf

Dataset, raw = tf.data.Dataset, tf.raw_ops
declared = {"output_types": [tf.int64], "output_shapes": [[]]}


def variant(*args):
    return tf.data.experimental.to_variant(Dataset.range(*args))


def next_of(iterator):
    return int(raw.IteratorGetNext(iterator=iterator, **declared)[0])


def made(dataset, iterator):
    raw.MakeIterator(dataset=dataset, iterator=iterator)
    return iterator


def test_iterators_end():
    iterator = made(variant(5, 7), raw.AnonymousIteratorV3(**declared))
    assert [next_of(iterator), next_of(iterator)] == [5, 6]
    for get in (raw.IteratorGetNext, raw.IteratorGetNextSync):
        with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
            get(iterator=iterator, **declared)
    made(variant(8, 10), iterator)
    assert int(raw.IteratorGetNextSync(iterator=iterator, **declared)[0]) == 8


def test_iterators_with_deleters():
    iterator, deleter = raw.AnonymousIteratorV2(**declared)
    assert (iterator.dtype, deleter.dtype) == (tf.resource, tf.variant)
    made(variant(5, 7), iterator)
    assert next_of(iterator) == 5
    raw.DeleteIterator(handle=iterator, deleter=deleter)
    own = made(variant(3), raw.AnonymousIterator(**declared))
    assert next_of(own) == 0


def test_iterators_of_a_name_are_shared():
    first = raw.IteratorV2(shared_name="iterators_are_shared", container="", **declared)
    same = raw.IteratorV2(shared_name="iterators_are_shared", container="", **declared)
    other = raw.IteratorV2(shared_name="iterators_are_not_shared", container="", **declared)
    made(variant(5, 9), first)
    made(variant(20, 30), other)
    assert [next_of(first), next_of(same), next_of(other), next_of(first)] == [5, 6, 20, 7]


@pytest.mark.parametrize("other", ["a", [1, 2]])
def test_iterators_refuse_other_elements(other):
    iterator = raw.AnonymousIteratorV3(**declared)
    with pytest.raises(tf.errors.InvalidArgumentError):
        made(tf.data.experimental.to_variant(Dataset.from_tensors(other)), iterator)


def test_optional_elements():
    iterator = made(variant(6, 7), raw.AnonymousIteratorV3(**declared))
    first, rest = (raw.IteratorGetNextAsOptional(iterator=iterator, **declared) for _ in range(2))
    assert [bool(raw.OptionalHasValue(optional=o)) for o in (first, rest)] == [True, False]
    assert raw.OptionalGetValue(optional=first, **declared)[0].numpy() == 6


def test_handles_as_strings():
    iterator = made(variant(4, 9), raw.AnonymousIteratorV3(**declared))
    text = raw.IteratorToStringHandle(resource_handle=iterator)
    assert (text.dtype, text.shape) == (tf.string, [])
    same = raw.IteratorFromStringHandleV2(string_handle=text, **declared)
    assert [next_of(iterator), next_of(same), next_of(iterator)] == [4, 5, 6]
    untyped = raw.IteratorFromStringHandle(string_handle=text)
    assert next_of(untyped) == 7
    with pytest.raises(tf.errors.InvalidArgumentError):
        raw.IteratorFromStringHandleV2(string_handle=text, output_types=[tf.string], output_shapes=[[]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="Could not parse string_handle"):
        raw.IteratorFromStringHandleV2(string_handle="no handle", **declared)


def test_positions_are_kept():
    iterator = made(variant(9), raw.AnonymousIteratorV3(**declared))
    assert [next_of(iterator) for _ in range(3)] == [0, 1, 2]
    position = raw.SerializeIterator(resource_handle=iterator)
    assert [next_of(iterator) for _ in range(2)] == [3, 4]
    raw.DeserializeIterator(resource_handle=iterator, serialized=position)
    assert next_of(iterator) == 3
    other = made(variant(9), raw.AnonymousIteratorV3(**declared))
    raw.DeserializeIterator(resource_handle=other, serialized=position)
    assert [next_of(other), next_of(iterator)] == [3, 4]


def test_one_shot_iterators():
    @tf.function(input_signature=[])
    def build():
        return tf.data.experimental.to_variant(Dataset.range(3, 5))

    iterator = raw.OneShotIterator(dataset_factory=build.get_concrete_function(), **declared)
    assert [next_of(iterator), next_of(iterator)] == [3, 4]


def test_the_device_of_an_iterator():
    iterator = made(variant(9), raw.AnonymousIteratorV3(**declared))
    device = raw.IteratorGetDevice(resource=iterator)
    assert device.numpy() == b"/job:localhost/replica:0/task:0/device:CPU:0"
    assert device.shape == []


def test_iterators_of_structures():
    types = {"output_types": [tf.string, tf.float32], "output_shapes": [[2], []]}
    iterator = raw.AnonymousIteratorV3(**types)
    made(tf.data.experimental.to_variant(Dataset.from_tensors((["a", "b"], np.float32(1.5)))), iterator)
    words, number = raw.IteratorGetNext(iterator=iterator, **types)
    assert (words.numpy().tolist(), number.numpy()) == ([b"a", b"b"], 1.5)
