"""Floating-point operations and parameters of graphs are TensorFlow's, and so are the printed tables."""

import pytest

import tapeflow as tf
from tapeflow.tensorflow_python.convert_to_constants import convert_variables_to_constants_v2_as_graph

v1 = tf.compat.v1
BUILDER = v1.profiler.ProfileOptionBuilder


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [8, 10, 10, 3], name="x")
        with v1.variable_scope("conv"):
            w, b = v1.get_variable("w", [3, 3, 3, 16]), v1.get_variable("b", [16])
            y = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, w, 2, "SAME"), b))
        y = tf.nn.max_pool2d(y, 2, 2, "VALID")
        y = v1.nn.depthwise_conv2d_native(y, v1.get_variable("dw", [3, 3, 16, 2]), [1, 1, 1, 1], "SAME")
        y = tf.reshape(y, [8, -1])
        with v1.variable_scope("fc"):
            with v1.variable_scope("inner"):
                k = v1.get_variable("k", [128, 10])
            y = tf.matmul(y, k) + v1.get_variable("frozen", [10], trainable=False)
        tf.reduce_mean(tf.square(tf.nn.softmax(y) - 1.0))
        v1.placeholder(tf.float32, [None, 3]) * 2.0
    return graph


# As TensorFlow 2.21 prints it for the same program.
KINDS = """\
node name | # float_ops
Conv2D                   172.80k float_ops (100.00%, 77.93%)
MatMul                   20.48k float_ops (22.07%, 9.24%)
DepthwiseConv2dNative    18.43k float_ops (12.83%, 8.31%)
BiasAdd                  3.20k float_ops (4.52%, 1.44%)
AddV2                    2.11k float_ops (3.08%, 0.95%)
MaxPool                  2.05k float_ops (2.13%, 0.92%)
Mul                      2.03k float_ops (1.20%, 0.91%)
Softmax                    400 float_ops (0.29%, 0.18%)
Sub                         85 float_ops (0.11%, 0.04%)
Mean                        80 float_ops (0.07%, 0.04%)
Square                      80 float_ops (0.04%, 0.04%)
"""
PARAMETERS = """\
node name | # parameters
_TFProfRoot (--/2.02k params)
  conv (--/448 params)
    conv/b (16, 16/16 params)
    conv/w (3x3x3x16, 432/432 params)
  dw (3x3x16x2, 288/288 params)
  fc (--/1.28k params)
    fc/inner (--/1.28k params)
      fc/inner/k (128x10, 1.28k/1.28k params)
"""


def test_operations_by_kind(graph, capsys):
    profile = v1.profiler.profile(graph, cmd="op", options=BUILDER.float_operation())
    assert profile.total_float_ops == 221737 and f"Profile:\n{KINDS}\n" in capsys.readouterr().out
    first = profile.children[0]
    assert (first.name, first.float_ops, first.total_float_ops) == ("Conv2D", 172800, 221737)
    assert [(n.name, n.float_ops) for n in first.graph_nodes] == [("conv/Conv2D", 172800)]
    assert (first.children[0].name, first.children[0].total_float_ops) == ("MatMul", 48937)


def test_operations_by_scope(graph):
    options = BUILDER(BUILDER.float_operation()).with_empty_output().build()
    profile = v1.profiler.profile(graph, options=options)
    assert profile.total_float_ops == 221737
    names = [child.name for child in profile.children]
    assert names[:4] == ["conv/Conv2D", "fc/MatMul", "DepthwiseConv2dNative", "conv/BiasAdd"]
    options = BUILDER(options).with_node_names(show_name_regexes=["fc/.*"], hide_name_regexes=[".*/k/.*"]).build()
    shown = v1.profiler.profile(graph, options=options)
    assert {c.name for c in shown.children} >= {"fc/MatMul"} and all(c.name.startswith("fc/") for c in shown.children)


def test_parameters_of_trainable_variables(graph, capsys):
    with graph.as_default():
        profile = v1.profiler.profile()
    assert profile.total_parameters == 2016 and f"Profile:\n{PARAMETERS}\n" in capsys.readouterr().out
    assert [d.size for d in profile.children[1].shapes[0].dim] == [3, 3, 16, 2]
    options = BUILDER(BUILDER.trainable_variables_parameter()).with_min_parameters(400).with_empty_output().build()
    assert v1.profiler.Profiler(graph).profile_name_scope(options).total_parameters == 1280 + 432


def test_a_keras_model_frozen_as_papers_do():
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [tf.keras.Input((12, 12, 3)), layers.Conv2D(4, 3), layers.BatchNormalization(), layers.ReLU(),
         layers.AveragePooling2D(2), layers.Flatten(), layers.Dense(5, activation="softmax")]
    )  # fmt: skip
    call = tf.function(lambda x: model(x, training=False))
    concrete = call.get_concrete_function(tf.TensorSpec([1, 12, 12, 3], tf.float32))
    frozen, graph_def = convert_variables_to_constants_v2_as_graph(concrete)
    with tf.Graph().as_default() as graph:
        tf.graph_util.import_graph_def(graph_def, name="")
    options = BUILDER(BUILDER.float_operation()).with_empty_output().build()
    for each in (graph, frozen.graph, concrete.graph):
        profile = v1.profiler.profile(graph=each, run_meta=v1.RunMetadata(), cmd="op", options=options)
        assert profile.total_float_ops == 24254


def test_gradients_of_convolutions(tmp_path):
    """The formulas of nodes that TensorFlow writes, with its values."""
    with tf.Graph().as_default() as graph:
        x, w = v1.placeholder(tf.float32, [2, 8, 8, 3]), v1.placeholder(tf.float32, [3, 3, 3, 5])
        dy = v1.placeholder(tf.float32, [2, 4, 4, 5])
        tf.raw_ops.Conv2DBackpropInput(
            input_sizes=[2, 8, 8, 3], filter=w, out_backprop=dy, strides=[1, 2, 2, 1], padding="SAME"
        )
        tf.raw_ops.Conv2DBackpropFilter(
            input=x, filter_sizes=[3, 3, 3, 5], out_backprop=dy, strides=[1, 2, 2, 1], padding="SAME"
        )
        tf.raw_ops.BiasAddGrad(out_backprop=dy)
        tf.nn.l2_loss(x)
        tf.linalg.matmul(tf.ones([2, 3, 4]), tf.ones([2, 5, 4]), transpose_b=True)
    path = tmp_path / "report.txt"
    options = BUILDER(BUILDER.float_operation()).with_file_output(str(path)).build()
    kinds, profile = {}, v1.profiler.profile(graph, cmd="op", options=options)
    while profile.children:
        profile = profile.children[0]
        kinds[profile.name] = profile.float_ops
    both = 2 * 2 * 8 * 8 * 3 * 3 * 3 * 5 // 4
    assert kinds.pop("BatchMatMulV2") == 2 * 3 * 5 * 4 * 2
    assert kinds == {
        "Conv2DBackpropInput": both, "Conv2DBackpropFilter": both, "BiasAddGrad": 160 - 5, "L2Loss": 384 * 3 - 1,
    }  # fmt: skip
    assert "L2Loss" in path.read_text()


def test_what_it_does_not_do(graph):
    with pytest.raises(tf.errors.UnimplementedError, match=r"tf\.profiler\.experimental records times"):
        v1.profiler.profile(graph, options=BUILDER.time_and_memory())
    with pytest.raises(tf.errors.InvalidArgumentError, match="unknown cmd: nothing"):
        v1.profiler.profile(graph, cmd="nothing")
    with pytest.raises(tf.errors.InvalidArgumentError, match="not a regular expression"):
        v1.profiler.profile(graph, options=BUILDER().with_accounted_types(["("]).select(["params"]).build())
    with pytest.raises(tf.errors.InvalidArgumentError, match="order_by is"):
        v1.profiler.profile(graph, options=BUILDER().order_by("size").select(["params"]).build())
    assert v1.profiler.profile(tf.Graph()).total_parameters == 0
