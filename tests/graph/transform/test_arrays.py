"""`tf.TensorArray` and assertions in functions."""

import numpy as np
import pytest

import tapeflow as tf


def test_a_loop_writes_and_gradients_pass():
    @tf.function
    def powers(x):
        array, power = tf.TensorArray(tf.float32, size=0, dynamic_size=True), tf.constant(1.0)
        for i in tf.range(4):
            power = power * x
            array = array.write(i, power)
        return array.stack()

    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = powers(x)
    assert y.numpy().tolist() == [2.0, 4.0, 8.0, 16.0]
    assert tape.gradient(y, x).numpy().item() == 1 + 4 + 12 + 32


def test_size_may_be_a_tensor_and_the_shape_is_learned():
    @tf.function
    def squares(n):
        array = tf.TensorArray(tf.int32, size=n)
        for i in tf.range(n):
            array = array.write(i, [i, i * i])
        stacked = array.stack()
        assert stacked.shape.as_list() == [None, 2]
        return stacked

    assert squares(tf.constant(3)).numpy().tolist() == [[0, 0], [1, 1], [2, 4]]


def test_unstack_read_in_a_loop():
    @tf.function
    def total(x):
        array, s = tf.TensorArray(tf.float32, size=3).unstack(x), tf.constant(0.0)
        for v in array:
            s += v * v * v
        return s

    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = total(x)
    np.testing.assert_allclose(tape.gradient(y, x).numpy(), [3.0, 12.0, 27.0])


def test_assertions_wait_for_the_graph():
    @tf.function
    def checked(x):
        tf.debugging.assert_greater(x, 1)
        return x

    assert checked(tf.constant(2)).numpy() == 2
    with pytest.raises(tf.errors.InvalidArgumentError, match="x > y did not hold"):
        checked(tf.constant(0))


def test_what_is_known_of_shapes_whose_dimensions_are_computed():
    known = {}

    @tf.function(input_signature=[tf.TensorSpec([None, 4, None])])
    def look(x):
        known["values"] = [
            tf.get_static_value(v) for v in (tf.constant([1, 2]), tf.shape(x)[1] > 1, tf.rank(x), tf.shape(x)[0])
        ]
        known["partly"] = tf.get_static_value(tf.stack([tf.shape(x)[0], 3]), partial=True)
        repeated = [
            tf.repeat(x, 2, axis=1),
            tf.repeat(x, 2, axis=0),
            tf.repeat(x, tf.shape(x)[0], axis=1),
            tf.repeat(x, 2),
        ]
        known["repeated"] = [r.shape.as_list() for r in repeated]
        known["range"] = [tf.range(tf.rank(x)).shape, tf.range(0.0, 1.0, 0.25).shape, tf.range(tf.shape(x)[0]).shape]
        known["reversed"] = [
            tf.reverse(x, axis).shape.as_list() for axis in (tf.range(tf.rank(x)), tf.cast(x[0, 0], tf.int32))
        ]
        return repeated

    x = np.arange(24, dtype=np.float32).reshape(2, 4, 3)
    for found, repeats, axis in zip(look(x), (2, 2, 2, 2), (1, 0, 1, None), strict=True):
        np.testing.assert_array_equal(found, np.repeat(x, repeats, axis))
    assert [v if v is None else v.tolist() for v in known["values"]] == [[1, 2], None, 3, None]
    assert known["partly"].tolist() == [None, 3]
    assert known["repeated"] == [[None, 8, None], [None, 4, None], [None, None, None], [None]]
    assert [s.as_list() for s in known["range"]] == [[3], [4], [None]]
    assert known["reversed"] == [[None, 4, None]] * 2


def test_ranks_are_known_where_sizes_are_not():
    known = {}

    @tf.function(input_signature=[tf.TensorSpec([None, 1])])
    def look(x):
        n = tf.shape(x)[0]
        found = {
            "tile": tf.tile(x, tf.stack([n, 1])), "tile as": tf.tile(x, tf.cast(x[:2, 0], tf.int32)),
            "one_hot": tf.one_hot(tf.range(n), n), "pad": tf.pad(x, tf.cast(tf.concat([x[:2], x[:2]], 1), tf.int32)),
            "eye": tf.eye(n), "roll": tf.roll(x, n, 0),
        }  # fmt: skip
        known.update({name: value.shape.as_list() for name, value in found.items()})
        return found

    found = look(np.ones([3, 1], np.float32))
    assert known == {
        "tile": [None, 1], "tile as": [None, None], "one_hot": [None, None], "pad": [None, None],
        "eye": [None, None], "roll": [None, 1],
    }  # fmt: skip
    assert {name: value.shape.as_list() for name, value in found.items()} == {
        "tile": [9, 1], "tile as": [3, 1], "one_hot": [3, 3], "pad": [5, 3], "eye": [3, 3], "roll": [3, 1],
    }  # fmt: skip


def test_what_is_known_of_one_argument_is_known_of_the_result():
    known = {}

    @tf.function(input_signature=[tf.TensorSpec([None, None, 3]), tf.TensorSpec([2, 4, None])])
    def look(x, y):
        n = tf.shape(x)[0]
        found = {
            "concat": tf.concat([x, y], 1), "stack": tf.stack([x, y]), "axis": tf.concat([x, y], n),
            "pad": tf.pad(y, [[n, 1], [1, 2], [0, n]]), "reflect": tf.pad(y, [[1, 0], [n, 1], [0, 0]], "REFLECT"),
            "rows": tf.pad(y, tf.stack([[1, 1], tf.shape(x)[:2], [0, 0]])),
            "blocks": tf.space_to_batch(y, [2, 2], [[0, 0], [n, 0]]),
            "unblocked": tf.batch_to_space(y[..., None], [2, 1], [[0, n], [0, 0]]),
        }  # fmt: skip
        known.update({name: value.shape.as_list() for name, value in found.items()})
        return found

    look.get_concrete_function()
    assert known == {
        "concat": [2, None, 3], "stack": [2, 2, 4, 3], "axis": [None, None, None], "pad": [None, 7, None],
        "reflect": [3, None, None], "rows": [4, None, None], "blocks": [8, None, None],
        "unblocked": [1, None, None, 1],
    }  # fmt: skip


def test_float_tensors_stand_for_integers_in_lists():
    x = tf.range(6.0)
    assert tf.reshape(x, (tf.constant(3.0), 2)).shape == [3, 2]
    assert tf.function(lambda k: tf.reshape(x, (k[0], k[1], 1)))(tf.constant([3.0, 2.0])).shape == [3, 2, 1]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Value for attr 'Tshape' of float"):
        tf.reshape(x, tf.constant([3.0, 2.0]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Value for attr 'Tshape' of float"):
        tf.reshape(x, (3.0, 2))


def filled(values):
    array = tf.TensorArray(tf.float32, size=len(values), clear_after_read=False)
    for i, v in enumerate(values):
        array = array.write(i, v)
    return array


def test_an_eager_array_as_argument_and_result():
    traces = []

    @tf.function
    def squared(array):
        traces.append(array)
        for i in tf.range(array.size()):
            array = array.write(i, array.read(i) ** 2.0)
        return array

    given = filled([1.0, 2.0, 3.0])
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        result = squared(filled([x, 2.0 * x]))
        y = tf.reduce_sum(result.stack())
    assert tape.gradient(y, x).numpy() == 2 * 3.0 + 8 * 3.0
    assert squared(given).stack().numpy().tolist() == [1.0, 4.0, 9.0]
    assert squared(squared(given)).read(2).numpy() == 81.0
    assert given.stack().numpy().tolist() == [1.0, 2.0, 3.0]
    assert len(traces) == 1


def test_an_eager_array_that_a_function_captures_stays_as_it_is():
    array = filled([1.0, 2.0])

    @tf.function
    def total(n):
        changed = array.write(0, 5.0)
        s = tf.constant(0.0)
        for i in tf.range(n):
            s += array.read(i) + changed.read(i)
        return s

    assert total(tf.constant(2)).numpy() == 3.0 + 7.0
    assert array.stack().numpy().tolist() == [1.0, 2.0]


def test_not_all_written():
    array = tf.TensorArray(tf.float32, size=3, element_shape=[2], clear_after_read=False).write(1, [1.0, 2.0])
    assert tf.function(lambda a: a.stack())(array).numpy().tolist() == [[0.0, 0.0], [1.0, 2.0], [0.0, 0.0]]


@pytest.mark.parametrize("staged", [False, True])
def test_raw_lists(staged):
    def program(x):
        raw = tf.raw_ops
        held = raw.TensorListFromTensor(tensor=x, element_shape=[2])
        held = raw.TensorListPushBack(input_handle=held, tensor=[9.0, 9.0])
        both = raw.TensorListConcatLists(input_a=held, input_b=held, element_dtype=tf.float32)
        both, last = raw.TensorListPopBack(input_handle=both, element_shape=[2], element_dtype=tf.float32)
        short = raw.TensorListResize(input_handle=both, size=2)
        placed = raw.TensorListScatterV2(tensor=x, indices=[2, 0], element_shape=[2], num_elements=4)
        return (
            raw.TensorListLength(input_handle=both), last,
            raw.TensorListStack(input_handle=short, element_shape=[2], element_dtype=tf.float32),
            raw.TensorListStack(input_handle=placed, element_shape=[2], element_dtype=tf.float32),
            raw.TensorListElementShape(input_handle=held, shape_type=tf.int32),
        )  # fmt: skip

    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    length, last, short, placed, shape = (tf.function(program) if staged else program)(x)
    assert length.numpy() == 5
    assert last.numpy().tolist() == [9.0, 9.0]
    assert short.numpy().tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert placed.numpy().tolist() == [[3.0, 4.0], [0.0, 0.0], [1.0, 2.0], [0.0, 0.0]]
    assert shape.numpy().tolist() == [2]


def test_gradients_of_raw_lists():
    raw = tf.raw_ops
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        held = raw.TensorListPushBack(input_handle=raw.TensorListFromTensor(tensor=x, element_shape=[2]), tensor=x[0])
        rest, last = raw.TensorListPopBack(input_handle=held, element_shape=[2], element_dtype=tf.float32)
        short = raw.TensorListResize(input_handle=rest, size=1)
        placed = raw.TensorListScatterV2(tensor=x, indices=[2, 0], element_shape=[2], num_elements=4)
        y = tf.reduce_sum(last * 10.0)
        for part, weight in ((rest, 1.0), (short, 5.0), (placed, 100.0)):
            whole = raw.TensorListStack(input_handle=part, element_shape=[2], element_dtype=tf.float32)
            y += tf.reduce_sum(whole * weight)
    assert tape.gradient(y, x).numpy().tolist() == [[116.0, 116.0], [101.0, 101.0]]


def test_lists_of_pieces():
    raw = tf.raw_ops
    x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])

    def program(x):
        scattered = raw.TensorListScatter(tensor=x, indices=[3, 0, 1], element_shape=[2])
        pieces = raw.TensorListSplit(tensor=x, element_shape=[-1, 2], lengths=tf.constant([1, 2], tf.int64))
        joined = raw.TensorListConcat(input_handle=pieces, element_dtype=tf.float32, element_shape=[None, 2])
        stacked = raw.TensorListStack(input_handle=scattered, element_shape=[2], element_dtype=tf.float32)
        return stacked, joined.tensor, joined.lengths

    for call in (program, tf.function(program)):
        with tf.GradientTape() as tape:
            tape.watch(x)
            stacked, joined, lengths = call(x)
            y = tf.reduce_sum(stacked * 2.0) + tf.reduce_sum(joined * 3.0)
        assert stacked.numpy().tolist() == [[3, 4], [5, 6], [0, 0], [1, 2]]
        assert joined.numpy().tolist() == x.numpy().tolist()
        assert lengths.numpy().tolist() == [1, 2]
        assert tape.gradient(y, x).numpy().tolist() == [[5, 5]] * 3


def test_shapes_that_others_broadcast_to_are_known():
    with tf.Graph().as_default():
        shape = tf.broadcast_dynamic_shape(tf.shape(tf.zeros([3, 1])), tf.shape(tf.zeros([4])))
        assert shape.shape.as_list() == [2] and tf.zeros(shape).shape.as_list() == [3, 4]
        unknown = tf.compat.v1.placeholder(tf.int32, [None])
        assert tf.broadcast_dynamic_shape(unknown, [1]).shape.as_list() == [None]
