"""Resources that functions use: created on the first use, once."""

import pytest

import tapeflow as tf

Resource = tf.saved_model.experimental.TrackableResource


class Counter(Resource):
    """A resource that counts how often it is created."""

    def __init__(self, **options):
        super().__init__(**options)
        self.created = 0

    def _create_resource(self):
        self.created += 1
        assert tf.executing_eagerly()
        return tf.constant(self.created)


def test_a_resource_is_created_on_its_first_use():
    counter = Counter()
    assert counter.created == 0 and counter.resource_device == ""
    assert int(counter.resource_handle) == 1 and counter.resource_handle is counter.resource_handle
    assert counter.created == 1 and counter._initialize() is None
    assert int(Counter().resource_handle) == 1


def test_a_resource_of_a_function_is_created_outside_of_it():
    counter = Counter()
    function = tf.function(lambda x: x + counter.resource_handle)
    assert int(function(tf.constant(2))) == 3 and int(function(tf.constant(4))) == 5
    assert counter.created == 1


def test_devices_of_resources():
    places = []

    class Placed(Resource):
        def _create_resource(self):
            places.append(tf.constant(1).device)
            return tf.constant(1)

    placed = Placed(device="/CPU:0")
    assert placed.resource_device == "/CPU:0" and int(placed.resource_handle) == 1
    assert len(places) == 1 and places[0].endswith("CPU:0")


def test_a_resource_has_to_be_created_somehow():
    with pytest.raises(NotImplementedError, match=r"TrackableResource\._create_resource not implemented"):
        _ = Resource().resource_handle


def test_resources_are_tracked():
    module = tf.Module()
    module.counter = Counter()
    assert any(o is module.counter for o in tf.train.TrackableView(module).descendants())
