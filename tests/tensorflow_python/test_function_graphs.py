"""The graphs of functions in a graph's library; the results are those of TensorFlow 2.21."""

import pytest

import tapeflow as tf
from tapeflow_compat.tensorflow_python.function_graphs import function_def_to_graph


@pytest.fixture
def definition():
    @tf.function
    def function(x, y):
        return tf.square(x) + y

    spec = tf.TensorSpec([2, None], tf.float32)
    concrete = function.get_concrete_function(spec, tf.TensorSpec([], tf.float32))
    with tf.Graph().as_default() as graph:
        concrete(tf.ones([2, 3]), tf.constant(1.0))
    (found,) = [f for f in graph.as_graph_def().library.function if len(f.signature.input_arg) == 2]
    return found


def test_shapes_of_arguments(definition):
    graph = function_def_to_graph(definition)
    assert [t.dtype for t in graph.inputs] == [tf.float32, tf.float32] and len(graph.outputs) == 1
    given = function_def_to_graph(definition, input_shapes=[[2, 5], None])
    assert [t.shape.rank for t in given.inputs] == [2, None] and given.inputs[0].shape.as_list() == [2, 5]
    assert {"Square", "AddV2"} <= {o.type for o in given.get_operations()}
    for shapes in ([[2]], [[2], [2], [2]]):
        with pytest.raises(
            ValueError, match="Length of `input_shapes` must match the number of `input_arg`s in `fdef`"
        ):
            function_def_to_graph(definition, input_shapes=shapes)


def test_signatures_of_graphs(definition):
    plain = function_def_to_graph(definition)
    assert plain.structured_input_signature is None
    signature, outputs = ((1,), {}), {"out": 2}
    graph = function_def_to_graph(definition, signature, outputs)
    assert graph.structured_input_signature == signature and graph.structured_outputs == outputs
