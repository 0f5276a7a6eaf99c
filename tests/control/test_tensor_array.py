"""What `tf.TensorArray` does from one call to the next."""

import pytest

import tapeflow as tf


def written(**options):
    ta = tf.TensorArray(tf.float32, 3, **options)
    for i in range(3):
        ta = ta.write(i, [float(i), float(i)])
    return ta


def test_what_was_read_is_given_up():
    ta = written()
    ta.read(0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Could not read index 0 twice"):
        ta.read(0)
    assert ta.read(1).numpy().tolist() == [1.0, 1.0]
    assert ta.write(0, [5.0, 5.0]).read(0).numpy().tolist() == [5.0, 5.0]
    assert ta.stack().numpy().tolist() == [[0.0, 0.0], [0.0, 0.0], [2.0, 2.0]]


def test_what_was_read_stays_if_asked_to():
    ta = written(clear_after_read=False)
    assert ta.read(2).numpy().tolist() == ta.read(2).numpy().tolist() == [2.0, 2.0]


def test_stacking_leaves_it_as_it_is():
    ta = written()
    first, second = ta.stack(), ta.stack()
    assert first.numpy().tolist() == second.numpy().tolist()
    assert ta.element_shape == [2]


def test_a_closed_array_is_empty():
    ta = written()
    ta.close()
    assert ta.size() == 0
    with pytest.raises(tf.errors.OutOfRangeError):
        ta.write(0, [1.0, 2.0])


def test_gradients_pass():
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        ta = tf.TensorArray(tf.float32, 0, dynamic_size=True)
        for i in range(4):
            ta = ta.write(i, x**i)
        y = tf.reduce_sum(ta.stack()) + ta.read(3)
    assert tape.gradient(y, x).numpy() == 1.0 + 4.0 + 12.0 + 12.0


FILLS = {
    "unstack": lambda array: array.unstack([1.0, 2.0, 3.0]),
    "scatter": lambda array: array.scatter([0, 2, 1], [1.0, 3.0, 2.0]),
    "split": lambda array: array.split([1.0, 2.0, 3.0], [1, 1, 1]),
}


@pytest.mark.parametrize("fill", FILLS)
def test_only_a_dynamic_size_grows(fill):
    array = FILLS[fill](tf.TensorArray(tf.float32, 1, dynamic_size=True, infer_shape=False))
    assert [float(tf.reduce_sum(array.read(i))) for i in range(int(array.size()))] == [1, 2, 3]
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError, tf.errors.OutOfRangeError), match="size"):
        FILLS[fill](tf.TensorArray(tf.float32, 1, infer_shape=False))


@pytest.mark.parametrize(("dynamic", "size"), [(False, 4), (True, None)])
def test_unstack_tells_a_function_the_size(dynamic, size):
    @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
    def unstacked(count):
        array = tf.TensorArray(tf.float32, count, dynamic_size=dynamic).unstack(tf.ones([4, 2]))
        return array.stack()

    assert unstacked.get_concrete_function().outputs[0].shape.as_list() == [size, 2]
    assert unstacked(4).shape == [4, 2]


def test_gradients_pass_through_unstack_and_split():
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        rows = tf.TensorArray(tf.float32, 3).unstack(x)
        pieces = tf.TensorArray(tf.float32, 2, infer_shape=False).split(x * x, [1, 2])
        y = rows.read(1) * 10.0 + tf.reduce_sum(pieces.concat())
    assert tape.gradient(y, x).numpy().tolist() == [2.0, 14.0, 6.0]


def test_a_spec_keeps_the_array():
    ta = written()
    spec = tf.type_spec_from_value(ta)
    assert spec == tf.TensorArraySpec([2])
    assert spec._from_components(spec._to_components(ta)) is ta


def test_methods_taken_from_the_class_are_those_of_arrays_of_graphs_too():
    @tf.function
    def stacked(x):
        arrays = [tf.TensorArray(tf.float32, 2).unstack(x), tf.TensorArray(tf.float32, 2).unstack(x + 1.0)]
        return tf.nest.map_structure(tf.TensorArray.stack, arrays)

    assert [t.numpy().tolist() for t in stacked(tf.constant([1.0, 2.0]))] == [[1.0, 2.0], [2.0, 3.0]]
    assert tf.TensorArray.size(written()).numpy() == written().size().numpy()
