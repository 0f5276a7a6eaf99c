"""TensorFlow 1's `constant`. What is expected is what TensorFlow 2.21 gave."""

import pytest

import tapeflow as tf
from tapeflow.compat import v1


@pytest.mark.parametrize(
    ("values", "shape", "eager", "in_graphs"),
    [
        ([1, 2], [3], TypeError, [1, 2, 2]),
        ([1, 2, 3], [2], TypeError, ValueError),
        (7, [2], [7, 7], [7, 7]),
        ([1, 2], [2, 1], [[1], [2]], [[1], [2]]),
    ],
)
def test_constants_fill_their_shape_in_graphs_only(values, shape, eager, in_graphs):
    def constant_of(graph):
        with graph.as_default() if graph else tf.init_scope():
            return tf.get_static_value(v1.constant(values, shape=shape)).tolist()

    for graph, expected in ((None, eager), (tf.Graph(), in_graphs)):
        if isinstance(expected, list):
            assert constant_of(graph) == expected
        else:
            with pytest.raises(expected):
                constant_of(graph)
