"""Graphs as `GraphDef`s compute what they did, once they are imported again."""

import numpy as np
import pytest

import compiled_programs
import tapeflow as tf
from tapeflow.core.ops import op_def

# Their datasets and variables, or results that are no tensors, are outside of the graph.
OUTSIDE = {"small: batches", "small: of_constants", "loop: newton", "loop: collatz"}
NAMES = [n for n in compiled_programs.PROGRAMS if not n.startswith("update") and n not in OUTSIDE]


def written_and_read(concrete):
    """Returns the function of a `GraphDef` that was bytes, by the names of its inputs and outputs."""
    definition = concrete.graph.as_graph_def()
    functions = {function.signature.name for function in definition.library.function}
    nodes = [*definition.node, *(node for function in definition.library.function for node in function.node_def)]
    assert all(node.op in functions or op_def.get(node.op) for node in nodes)  # TensorFlow has all ops
    read = type(definition).FromString(definition.SerializeToString())
    imported = tf.compat.v1.wrap_function(lambda: tf.import_graph_def(read, name=""), [])
    inputs = [imported.graph.as_graph_element(t.name) for t in concrete.inputs]
    outputs = [imported.graph.as_graph_element(t.name) for t in tf.nest.flatten(concrete.structured_outputs)]
    return imported.prune(inputs, outputs)


@pytest.mark.parametrize("name", NAMES)
def test_a_graph_that_was_written_and_read(name):
    function, arguments = compiled_programs.PROGRAMS[name]
    concrete = tf.function(function).get_concrete_function(*arguments)
    read, values = written_and_read(concrete), compiled_programs.values_of(name)
    compiled_programs.check_results(name, read(*values, *concrete.captured_inputs))


@pytest.mark.parametrize("seed", [[1, 2], [-5, 2**40]])
def test_draws_of_a_constant_seed_stay_the_same(seed):
    """Keys and counters are integers of 64 bits without a sign, which floats can't hold."""
    concrete = tf.function(lambda: tf.random.stateless_uniform([9], seed)).get_concrete_function()
    np.testing.assert_array_equal(written_and_read(concrete)()[0], tf.random.stateless_uniform([9], seed))


@pytest.mark.parametrize(
    ("shape", "dtype"),
    [
        ([2, 3], tf.int32),
        ([0, 2**31 - 1], tf.int32),
        ([0, 2**31], tf.int64),
        ([2**31, 0], tf.int64),
        ([3, 2**40, 0], tf.int64),
    ],
)
def test_the_dtype_of_a_constant_argument_holds_its_numbers(shape, dtype):
    with tf.Graph().as_default() as graph:
        tf.random.stateless_uniform(shape, [1, 2])
    (constant,) = [node for node in graph.as_graph_def().node if node.name.endswith("/shape")]
    assert constant.attr["dtype"].type == dtype.as_datatype_enum
    assert tf.make_ndarray(constant.attr["value"].tensor).tolist() == shape


def test_the_dtypes_of_results_that_no_input_tells():
    def values(prefix):
        return tf.raw_ops.RestoreV2(
            prefix=prefix, tensor_names=["a", "b"], shape_and_slices=["", ""], dtypes=[tf.float32, tf.int32]
        )

    graph = tf.function(values).get_concrete_function(tf.TensorSpec([], tf.string)).graph.as_graph_def()
    [node] = [n for n in graph.node if n.op == "RestoreV2"]
    assert list(node.attr["dtypes"].list.type) == [tf.float32.as_datatype_enum, tf.int32.as_datatype_enum]
