"""`tf.TensorArray` in graphs: static shapes and sizes, names of operations, and what is refused. As in TensorFlow."""

import pytest

import tapeflow as tf


def shape_of(tensor):
    return tensor.shape.as_list() if tensor.shape.rank is not None else None


def in_graph(function):
    """Returns what a function returns while it is traced."""
    found = []

    @tf.function
    def traced():
        found.append(function())

    traced.get_concrete_function()
    return found[0]


@pytest.mark.parametrize("size", [3, tf.constant(3)])
@pytest.mark.parametrize(("options", "shape"), [({"element_shape": [2]}, [2]), ({"element_shape": [None]}, [None])])
def test_static_shapes(size, options, shape):
    def shapes():
        array = tf.TensorArray(tf.float32, size, **options)
        return [
            array.element_shape.as_list(),
            shape_of(array.read(0)),
            shape_of(array.stack()),
            shape_of(array.gather([0, 2])),
            shape_of(array.concat()),
        ]

    assert in_graph(shapes) == [shape, shape, [3, *shape], [2, *shape], [None]]


def test_shapes_are_inferred_of_what_is_written():
    def shapes(infer, element=None):
        array = tf.TensorArray(tf.float32, 2, infer_shape=infer, element_shape=element)
        after = [array.write(0, tf.ones([2, 3])).element_shape]
        after.append(tf.TensorArray(tf.float32, 2, infer_shape=infer).unstack(tf.ones([2, 4])).element_shape)
        scattered = tf.TensorArray(tf.float32, 2, infer_shape=infer).scatter([0, 1], tf.ones([2, 5]))
        after.append(scattered.element_shape)
        return [None if s.rank is None else s.as_list() for s in after]

    assert in_graph(lambda: shapes(True)) == [[2, 3], [4], [5]]
    assert in_graph(lambda: shapes(False)) == [None, None, None]
    assert in_graph(lambda: shapes(True, [None, 3]))[0] == [2, 3]
    assert in_graph(lambda: shapes(False, [None, 3]))[0] == [None, 3]


@pytest.mark.parametrize(
    "write",
    [
        lambda array: array.write(0, tf.ones([3])),
        lambda array: array.unstack(tf.ones([2, 3])),
        lambda array: array.scatter([0, 1], tf.ones([2, 3])),
        lambda array: array.split(tf.ones([4, 2, 2]), [2, 2]),
    ],
)
def test_other_shapes_are_refused(write):
    with pytest.raises(ValueError, match=r"[Ss]hape"):
        in_graph(lambda: write(tf.TensorArray(tf.float32, 2, element_shape=[2])))


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"size": 2, "handle": tf.constant(1)}, (ValueError, AssertionError)),
        ({}, ValueError),
        ({"size": 2, "flow": tf.constant(1.0)}, (ValueError, TypeError)),
        ({"flow": tf.constant(1.0)}, TypeError),
        ({"flow": 1.0}, (TypeError, AttributeError)),
    ],
)
def test_arguments_that_are_refused(options, error):
    with pytest.raises(error):
        in_graph(lambda: tf.TensorArray(tf.float32, **options))


def test_arrays_of_a_flow():
    @tf.function
    def stacked(x):
        first = tf.TensorArray(tf.float32, 2).unstack(x)
        assert first.flow.dtype == tf.variant
        return tf.TensorArray(tf.float32, flow=first.flow).stack()

    assert stacked(tf.constant([1.0, 2.0])).numpy().tolist() == [1.0, 2.0]


def test_scalars_are_not_unstacked():
    @tf.function
    def stacked():
        return tf.TensorArray(tf.float32, 1).unstack(1.0).stack()

    with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match=r"scalar|[Ss]hape"):
        stacked()


def test_values_are_converted():
    @tf.function
    def stacked():
        array = tf.TensorArray(tf.float64, 3).write(0, 1).write(1, 2.5)
        return array.write(2, tf.constant(3.0, tf.float64)).stack()

    assert stacked().numpy().tolist() == [1.0, 2.5, 3.0] and stacked().dtype == tf.float64


def test_sizes():
    @tf.function
    def sizes(n):
        fixed, dynamic = tf.TensorArray(tf.int32, 2), tf.TensorArray(tf.int32, 1, dynamic_size=True)
        dynamic = dynamic.write(3, 7)
        by_tensor = tf.TensorArray(tf.int32, n)
        longer = tf.TensorArray(tf.int32, 0, dynamic_size=True).unstack([1, 2, 3])
        return fixed.size(), dynamic.size(), by_tensor.size(), longer.size(), dynamic.write(0, 1).stack()

    found = sizes(tf.constant(5))
    assert [t.numpy().tolist() for t in found] == [2, 4, 5, 3, [1, 0, 0, 7]]
    assert {t.dtype for t in found[:4]} == {tf.int32}


def test_writing_beyond_the_end():
    @tf.function
    def written(i):
        return tf.TensorArray(tf.float32, 2, element_shape=[]).write(i, 1.0).stack()

    assert written(1).numpy().tolist() == [0.0, 1.0]
    for i in (2, -1):
        with pytest.raises(tf.errors.InvalidArgumentError):
            written(i)


def test_all_operations():
    @tf.function
    def results(x):
        array = tf.TensorArray(tf.float32, 3, clear_after_read=False).unstack(x)
        again = array.identity()
        again.close()
        pieces = tf.TensorArray(tf.float32, 2, infer_shape=False).split(x, tf.constant([1, 2], tf.int64))
        spread = tf.TensorArray(tf.float32, 3).scatter(tf.constant([2, 0, 1]), x)
        return array.read(1), again.gather([2, 0]), pieces.read(1), pieces.concat(), spread.stack()

    found = results(tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
    assert [t.numpy().tolist() for t in found] == [
        [3.0, 4.0],
        [[5.0, 6.0], [1.0, 2.0]],
        [[3.0, 4.0], [5.0, 6.0]],
        [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]],
        [[3.0, 4.0], [5.0, 6.0], [1.0, 2.0]],
    ]


def test_names_of_operations():
    def names():
        array = tf.TensorArray(tf.float32, 2, name="mine")
        array = array.unstack([1.0, 2.0]).write(0, 3.0)
        default = tf.TensorArray(tf.float32, 2, element_shape=[])
        return [
            array.flow.op.name.split("/")[0],
            default.flow.op.name,
            array.read(0).op.name.split("/")[0],
            array.stack().op.name.split("/")[0],
            tf.TensorArray(tf.float32, 1, name="mine").flow.op.name,
        ]

    assert in_graph(names) == [
        "TensorArrayV2Write",
        "TensorArrayV2",
        "TensorArrayV2Read",
        "TensorArrayV2Stack",
        "mine_1",
    ]


def test_what_is_learned_in_a_loop_is_shared():
    @tf.function
    def looped():
        array = tf.TensorArray(tf.float32, 4)
        for i in tf.range(4):
            array = array.write(i, tf.fill([2], tf.cast(i, tf.float32)))
        assert array.element_shape.as_list() == [2]
        stacked = array.stack()
        assert stacked.shape.as_list() == [4, 2]
        return stacked

    assert looped().numpy().tolist() == [[float(i)] * 2 for i in range(4)]
