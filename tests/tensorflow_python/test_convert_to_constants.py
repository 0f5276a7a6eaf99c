"""Functions in which constants stand for variables, as TensorFlow's exporters and ONNX's take them."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.compat.v1.wrapping import WrappedFunction
from tapeflow.tensorflow_python.convert_to_constants import (
    convert_variables_to_constants_v2,
    convert_variables_to_constants_v2_as_graph,
)

v1 = tf.compat.v1
v, w = tf.Variable([1.0, 2.0], name="v"), tf.Variable(3.0, name="w")
rows = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
CONSTANT = tf.constant([3.0, 4.0])


@tf.function
def scaled(x):
    return x * v


def product(x):
    return {"b": x, "a": x * v + w}


def captured(x):
    return x * CONSTANT + v


def called(x):
    return scaled(scaled(x)) + w


def branches(x):
    return tf.cond(tf.reduce_sum(x) > 0.0, lambda: scaled(x), lambda: x + w)


def cases(x):
    return tf.switch_case(tf.cast(x[0], tf.int32), [lambda: x * v, lambda: x + w])


def loop(x):
    return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, scaled(y) + w), (0, x))[1]


def nested(x):
    def body(i, y):
        return i + 1, tf.cond(tf.reduce_sum(y) > 5.0, lambda: y + v, lambda: y * w)

    return tf.while_loop(lambda i, y: i < 3, body, (0, x))[1]


def gathered(x):
    return tf.gather(rows, tf.cast(x, tf.int32)), rows.sparse_read(tf.cast(x, tf.int32))


def frozen(function, *values):
    specs = [tf.TensorSpec(np.shape(value), tf.float32, name=f"x{i}") for i, value in enumerate(values)]
    return convert_variables_to_constants_v2(tf.function(function).get_concrete_function(*specs))


def operations(graph_def):
    yield from graph_def.node
    for function in graph_def.library.function:
        yield from function.node_def


@pytest.mark.parametrize("function", [product, captured, called, branches, cases, loop, nested, gathered])
def test_a_frozen_function_has_constants_and_the_same_values(function):
    x = tf.constant([1.0, 0.0])
    expected = tf.nest.flatten(function(x))
    converted = frozen(function, x)
    assert isinstance(converted, WrappedFunction)
    assert [t.name for t in converted.inputs] == ["x0:0"]
    assert converted.variables == () and converted.captured_inputs == []
    of_resources = {"ReadVariableOp", "VarHandleOp", "ResourceGather", "PartitionedCall", "StatefulPartitionedCall"}
    assert not of_resources & {node.op for node in operations(converted.graph.as_graph_def())}
    results = converted(x)
    assert isinstance(results, list)
    for a, b, output in zip(results, expected, converted.outputs, strict=True):
        np.testing.assert_allclose(a, b)
        assert output.shape == b.shape


def test_its_graph_can_be_imported():
    graph_def = frozen(nested, [1.0, 0.0]).graph.as_graph_def()
    expected = nested(tf.constant([1.0, 0.0])).numpy()
    with tf.Graph().as_default(), v1.Session() as session:
        (y,) = tf.import_graph_def(graph_def, {"x0:0": [1.0, 0.0]}, ["Identity:0"])
        np.testing.assert_allclose(session.run(y), expected)


def test_values_are_those_of_its_time():
    u = tf.Variable(2.0)
    converted, graph_def = convert_variables_to_constants_v2_as_graph(
        tf.function(lambda x: x * u).get_concrete_function(tf.TensorSpec([], name="x"))
    )
    u.assign(5.0)
    assert converted(tf.constant(3.0))[0] == 6.0
    assert [node.op for node in graph_def.node] == ["Placeholder", "Const", "Identity", "Mul", "Identity"]


def test_a_table_stays_captured():
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1.0, 2.0]), -1.0)
    f = tf.function(lambda x: table.lookup(x) * w).get_concrete_function(tf.TensorSpec([None], tf.string, name="x"))
    converted = convert_variables_to_constants_v2(f)
    assert [t.name for t in converted.inputs if t.dtype != tf.resource] == ["x:0"]
    assert converted(tf.constant(["b", "c"]))[0].numpy().tolist() == [6.0, -3.0]


def test_an_assignment_cannot_be_frozen():
    u = tf.Variable(0.0)
    with pytest.raises(ValueError, match="was passed float from AssignAddVariableOp/resource:0 incompatible with"):
        frozen(lambda x: x + u.assign_add(1.0), 1.0)


def test_layers_of_keras():
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [tf.keras.Input([4, 3]), layers.LSTM(2, return_sequences=True), layers.BatchNormalization(),
         layers.LayerNormalization(), layers.Dropout(0.5), layers.Dense(2)]
    )  # fmt: skip
    x = np.random.default_rng(0).normal(size=(2, 4, 3)).astype("float32")
    converted = frozen(lambda x: model(x, training=False), x)
    np.testing.assert_allclose(converted(x)[0], model(x), rtol=1e-5, atol=1e-6)


# ---- sessions --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("names", [None, ["a"]])
def test_variables_of_a_session_in_branches(names):
    with tf.Graph().as_default() as graph, v1.Session() as session:
        x = v1.placeholder(tf.float32, [], name="x")
        a, b = (v1.get_variable(name, initializer=value) for name, value in (("a", 2.0), ("b", 3.0)))
        tf.identity(tf.cond(x > 0.0, lambda: x * a, lambda: x * b), name="y")
        session.run(v1.global_variables_initializer())
        graph_def = v1.graph_util.convert_variables_to_constants(session, graph.as_graph_def(), ["y"], names)
    assert [n.name for n in graph_def.node if n.op == "VarHandleOp"] == (["b"] if names else [])
    with tf.Graph().as_default(), v1.Session() as session:
        x, y = tf.import_graph_def(graph_def, return_elements=["x:0", "y:0"])
        assert session.run(y, {x: 4.0}) == 8.0
        if not names:
            assert session.run(y, {x: -4.0}) == -12.0
