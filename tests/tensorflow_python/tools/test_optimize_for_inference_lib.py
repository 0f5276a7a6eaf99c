"""Graphs for inference; the results are those of TensorFlow 2.21."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow_compat.tensorflow_python.tools import optimize_for_inference_lib as lib

v1 = tf.compat.v1
FLOAT = tf.float32.as_datatype_enum
RANDOM = np.random.default_rng(3)
MEAN, VARIANCE, OFFSET, SCALE = (RANDOM.uniform(0.5, 2.0, [6]).astype("float32") for _ in range(4))


def graph_def_of(function):
    with tf.Graph().as_default() as graph:
        function()
    return graph.as_graph_def()


def normalize(y, op, epsilon):
    options = {"scale": SCALE, "offset": OFFSET, "mean": MEAN, "variance": VARIANCE, "epsilon": epsilon}
    return getattr(tf.raw_ops, op)(x=y, is_training=False, **options)[0]


def build_network(op="FusedBatchNormV3", convolution="Conv2D", bias=None, epsilon=0.25):
    def build():
        x = v1.placeholder(tf.float32, [2, 4, 5, 3], name="x")
        filters = tf.constant(RANDOM.normal(size=[2, 2, 3, 6 if convolution == "Conv2D" else 2]), tf.float32)
        if convolution == "Conv2D":
            y = tf.nn.conv2d(x, filters, 1, "VALID", name="convolution")
        else:
            y = tf.raw_ops.DepthwiseConv2dNative(
                input=x, filter=filters, strides=[1] * 4, padding="SAME", name="convolution"
            )
        if bias == "BiasAdd":
            y = tf.nn.bias_add(y, tf.constant(MEAN * 2.0))
        elif bias == "Add":
            y = tf.raw_ops.AddV2(x=y, y=tf.constant(MEAN * 2.0))
        elif bias == "reversed":
            y = tf.raw_ops.AddV2(x=tf.constant(MEAN * 2.0), y=y)
        tf.identity(normalize(y, op, epsilon), name="y")

    return build


def run(graph_def):
    x = np.random.default_rng(0).normal(size=[2, 4, 5, 3]).astype("float32")
    with tf.Graph().as_default(), v1.Session() as session:
        tf.graph_util.import_graph_def(graph_def, name="")
        return session.run("y:0", {"x:0": x})


@pytest.mark.parametrize(
    "options",
    [
        {}, {"op": "FusedBatchNorm"}, {"convolution": "Depthwise"},
        {"bias": "BiasAdd"}, {"bias": "Add"}, {"bias": "reversed"}, {"bias": "BiasAdd", "convolution": "Depthwise"},
        {"epsilon": 0.001},
    ],
    ids=str,
)  # fmt: skip
def test_normalizations_become_a_bias(options):
    graph_def = graph_def_of(build_network(**options))
    before = graph_def.SerializeToString(deterministic=True)
    folded = lib.optimize_for_inference(graph_def, ["x"], ["y"], FLOAT)
    kinds = sorted(node.op for node in folded.node)
    convolution = "Conv2D" if options.get("convolution") is None else "DepthwiseConv2dNative"
    assert kinds == sorted(["BiasAdd", "Const", "Const", convolution, "Identity", "Placeholder"])
    np.testing.assert_allclose(run(folded), run(graph_def), rtol=1e-4, atol=1e-5)
    assert graph_def.SerializeToString(deterministic=True) == before
    names = {node.name: node for node in folded.node}
    assert "convolution_weights" in names and "convolution_bn_offset" in names
    assert names["convolution"].input[1] == "convolution_weights"


@pytest.mark.parametrize("scale_after", [True, False])
def test_normalizations_of_older_graphs_become_a_bias(scale_after):
    graph_def = graph_def_of(build_network(epsilon=0.5))
    (node,) = [node for node in graph_def.node if node.op == "FusedBatchNormV3"]
    y, scale, offset, mean, variance = node.input
    node.ClearField("attr")
    node.op = "BatchNormWithGlobalNormalization"
    node.input[:] = [y, mean, variance, offset, scale]
    node.attr["T"].type, node.attr["variance_epsilon"].f = FLOAT, 0.5
    node.attr["scale_after_normalization"].b = scale_after
    folded = lib.optimize_for_inference(graph_def, ["x"], ["y"], FLOAT)
    assert "BiasAdd" in {node.op for node in folded.node}
    np.testing.assert_allclose(run(folded), run(graph_def), rtol=1e-4, atol=1e-5)
    assert not np.allclose(run(folded), run(graph_def_of(build_network(epsilon=0.5)))) or scale_after


def test_normalizations_of_other_values_stay():
    def build():
        x = v1.placeholder(tf.float32, [2, 4, 5, 6], name="x")
        tf.identity(normalize(tf.nn.relu(x), "FusedBatchNormV3", 0.1), name="y")

    folded = lib.fold_batch_norms(graph_def_of(build))
    assert sorted(node.op for node in folded.node).count("FusedBatchNormV3") == 1
    assert {node.name for node in folded.node} == {node.name for node in graph_def_of(build).node}


def test_nodes_run_after_those_that_stay():
    graph_def = graph_def_of(build_network())
    (normalization,) = [node for node in graph_def.node if node.op == "FusedBatchNormV3"]
    (last,) = [node for node in graph_def.node if node.name == "y"]
    last.input.extend([f"^{normalization.name}", "^x"])
    folded = lib.fold_batch_norms(graph_def)
    (last,) = [node for node in folded.node if node.name == "y"]
    assert list(last.input)[1:] == ["^x"]


def test_normalizations_of_filters_that_are_fed_stay():
    def build():
        x, filters = v1.placeholder(tf.float32, [2, 4, 5, 3], name="x"), v1.placeholder(tf.float32, [2, 2, 3, 6])
        tf.identity(normalize(tf.nn.conv2d(x, filters, 1, "VALID"), "FusedBatchNormV3", 0.1), name="y")

    graph_def = graph_def_of(build)
    with pytest.raises(ValueError, match=r"Can not extract constant value from a node that is not Const. Got:"):
        lib.values_from_const(next(node for node in graph_def.node if node.op == "Placeholder"))


def test_values_of_constants():
    (node,) = graph_def_of(lambda: tf.constant([[1.5, 2.5]])).node
    value = lib.values_from_const(node)
    assert value.tolist() == [[1.5, 2.5]] and value.dtype == np.float32


def test_damaged_graphs():
    graph_def = graph_def_of(lambda: tf.identity(tf.constant(1.0, name="a"), name="b"))
    lib.ensure_graph_is_valid(graph_def)
    graph_def.node[1].input[:] = ["a:0"]
    lib.ensure_graph_is_valid(graph_def)
    graph_def.node[1].input.append("^c")
    with pytest.raises(ValueError, match=r"Input for b not found: \^c"):
        lib.ensure_graph_is_valid(graph_def)
    graph_def.node[1].input[:] = ["a"]
    graph_def.node[1].name = "a"
    with pytest.raises(ValueError, match="Duplicate node names detected for a"):
        lib.ensure_graph_is_valid(graph_def)


@pytest.mark.parametrize(("name", "node"), [("a", "a"), ("a:1", "a"), ("^a", "a"), ("a/b:12", "a/b"), ("a:b", "a:b")])
def test_nodes_of_inputs(name, node):
    assert lib.node_name_from_input(name) == node
    assert lib.node_from_map({node: 7}, name) == 7
    with pytest.raises(ValueError, match=r"No node named '.*' found in map"):
        lib.node_from_map({"other": 7}, name)


def build_placeholders():
    v1.placeholder(tf.bool, [], name="keras_learning_phase")
    v1.placeholder_with_default(True, [], name="training")
    v1.placeholder(tf.float32, [], name="rate")
    v1.placeholder(tf.bool, [], name="other")
    tf.constant(True, name="training_constant")


@pytest.mark.parametrize(
    ("names", "values"),
    [
        (None, {"keras_learning_phase": False}),
        ([], {"keras_learning_phase": False}),
        (["training=True", "other=false"], {"keras_learning_phase": False, "training": True, "other": False}),
        (["keras_learning_phase=true"], {"keras_learning_phase": True}),
        (["rate=True"], {"keras_learning_phase": False}),
    ],
)
def test_placeholders_become_constants(names, values):
    graph_def = graph_def_of(build_placeholders)
    result = lib.convert_placeholder_to_const(graph_def, names)
    constants = {node.name: bool(lib.values_from_const(node)) for node in result.node if node.op == "Const"}
    constants = {
        name: value for name, value in constants.items() if name not in ("training_constant", "training/input")
    }
    assert constants == values
    kept = {node.name for node in result.node if node.op.startswith("Placeholder")}
    assert kept == {"keras_learning_phase", "training", "rate", "other"} - values.keys()
    assert graph_def == graph_def_of(build_placeholders)  # unchanged
    assert all(node.attr["dtype"].type == tf.bool.as_datatype_enum for node in result.node if node.name in values)


@pytest.mark.parametrize("entry", ["training", "training=1", "=", "training:True"])
def test_entries_of_another_form(entry):
    with pytest.raises(ValueError, match=f"'{entry}' is neither NAME=True nor NAME=False"):
        lib.convert_placeholder_to_const(graph_def_of(build_placeholders), [entry])


def test_nodes_of_training_go():
    def build():
        x = v1.placeholder(tf.float32, [2], name="x")
        y = tf.identity(tf.debugging.check_numerics(tf.identity(x), "m"))
        tf.add(y, 1.0, name="y")
        tf.add(x, 3.0, name="z")

    optimized = lib.optimize_for_inference(graph_def_of(build), ["x"], ["y"], [FLOAT])
    assert sorted(node.op for node in optimized.node) == ["AddV2", "Const", "Placeholder"]
    with pytest.raises(KeyError):
        lib.optimize_for_inference(graph_def_of(build), ["nothing"], ["y"], FLOAT)
