"""The numbers of floating-point operations; recorded from TensorFlow 2.21."""

import pytest

import tapeflow as tf
from tapeflow_compat.tensorflow_python.floating_point_operations import register_flops
from tapeflow_compat.tensorflow_python.op_statistics import get_stats_for_node_def

C = lambda *shape: tf.compat.v1.placeholder(tf.float32, shape)  # noqa: E731

CASES = [
    ("BiasAdd", 6, lambda: tf.nn.bias_add(C(2, 3), C(3))),
    ("Log", 6, lambda: tf.math.log(C(2, 3))),
    ("Neg", 6, lambda: -C(2, 3)),
    ("Reciprocal", 6, lambda: tf.math.reciprocal(C(2, 3))),
    ("Rsqrt", 12, lambda: tf.math.rsqrt(C(2, 3))),
    ("Softmax", 30, lambda: tf.nn.softmax(C(2, 3))),
    ("Square", 6, lambda: tf.square(C(2, 3))),
    ("AddV2", 6, lambda: C(2, 3) + C(3)),
    ("Mul", 6, lambda: C(2, 3) * C(2, 1)),
    ("SquaredDifference", 12, lambda: tf.math.squared_difference(C(2, 3), C(3))),
    ("RsqrtGrad", 24, lambda: tf.raw_ops.RsqrtGrad(y=C(2, 3), dy=C(2, 3))),
    ("Less", 6, lambda: C(2, 3) < C(3)),
    ("Pow", 6, lambda: C(2, 3) ** C(3)),
    ("ArgMax", 4, lambda: tf.argmax(C(2, 3), 1)),
    ("Mean", 6, lambda: tf.reduce_mean(C(2, 3), 1)),
    ("Sum", 3, lambda: tf.reduce_sum(C(2, 3), 0)),
    ("BiasAddGrad", 3, lambda: tf.raw_ops.BiasAddGrad(out_backprop=C(2, 3))),
    ("Mean", 6, lambda: tf.reduce_mean(C(2, 3))),
    ("AddN", 12, lambda: tf.add_n([C(2, 3), C(2, 3), C(2, 3)])),
    ("AvgPool", 72, lambda: tf.nn.avg_pool2d(C(1, 4, 6, 2), [2, 3], [1, 2], "VALID")),
    ("MaxPool", 72, lambda: tf.nn.max_pool2d(C(1, 4, 6, 2), [2, 3], [1, 2], "VALID")),
    (
        "AvgPoolGrad",
        144,
        lambda: tf.raw_ops.AvgPoolGrad(
            orig_input_shape=[1, 4, 6, 2], grad=C(1, 3, 2, 2), ksize=[1, 2, 3, 1], strides=[1, 1, 2, 1], padding="VALID"
        ),
    ),
    (
        "MaxPoolGrad",
        84,
        lambda: tf.raw_ops.MaxPoolGrad(
            orig_input=C(1, 4, 6, 2),
            orig_output=C(1, 3, 2, 2),
            grad=C(1, 3, 2, 2),
            ksize=[1, 2, 3, 1],
            strides=[1, 1, 2, 1],
            padding="VALID",
        ),
    ),
    ("MatMul", 60, lambda: tf.matmul(C(2, 3), C(3, 5))),
    ("MatMul", 60, lambda: tf.matmul(C(3, 2), C(3, 5), transpose_a=True)),
    ("BatchMatMulV2", 420, lambda: tf.matmul(C(7, 2, 3), C(7, 3, 5))),
    ("Conv2D", 2688, lambda: tf.nn.conv2d(C(1, 5, 6, 2), C(2, 3, 2, 7), 1, "VALID")),
    ("Conv3D", 16128, lambda: tf.nn.conv3d(C(1, 5, 6, 4, 2), C(2, 3, 2, 2, 7), [1] * 5, "VALID")),
    (
        "DepthwiseConv2dNative",
        1152,
        lambda: tf.nn.depthwise_conv2d(C(1, 5, 6, 2), C(2, 3, 2, 3), [1, 1, 1, 1], "VALID"),
    ),
    (
        "Dilation2D",
        384,
        lambda: tf.nn.dilation2d(C(1, 5, 6, 2), C(2, 3, 2), [1, 1, 1, 1], "VALID", "NHWC", [1, 1, 1, 1]),
    ),
    (
        "Conv2DBackpropInput",
        1260.0,
        lambda: tf.raw_ops.Conv2DBackpropInput(
            input_sizes=[1, 5, 6, 2],
            filter=C(2, 3, 2, 7),
            out_backprop=C(1, 2, 2, 7),
            strides=[1, 2, 2, 1],
            padding="VALID",
        ),
    ),
    (
        "Conv2DBackpropFilter",
        1260.0,
        lambda: tf.raw_ops.Conv2DBackpropFilter(
            input=C(1, 5, 6, 2),
            filter_sizes=[2, 3, 2, 7],
            out_backprop=C(1, 2, 2, 7),
            strides=[1, 2, 2, 1],
            padding="VALID",
        ),
    ),
    ("L2Loss", 17, lambda: tf.nn.l2_loss(C(2, 3))),
]


def flops_of(function):
    """Returns the types and numbers of the operations of a graph that have one."""
    with tf.Graph().as_default() as graph:
        function()
    numbers = {op.type: get_stats_for_node_def(graph, op.node_def, "flops").value for op in graph.get_operations()}
    return {kind: number for kind, number in numbers.items() if number is not None}


@pytest.mark.parametrize(("op", "number", "function"), CASES, ids=[f"{case[0]}-{case[1]}" for case in CASES])
def test_flops(op, number, function):
    assert flops_of(function) == {op: number}


def test_other_operations_have_no_number():
    assert flops_of(lambda: tf.nn.relu(C(2, 3))) == {}


@pytest.mark.parametrize("pool", [tf.nn.max_pool2d, tf.nn.avg_pool2d])
def test_channels_are_last(pool):
    with pytest.raises(ValueError, match="Only NHWC format is supported in flops computations"):
        flops_of(lambda: pool(C(1, 2, 4, 6), [2, 3], [1, 2], "VALID", data_format="NCHW"))


def test_shapes_are_static():
    with pytest.raises(ValueError, match=r"Shape \(2, None\) is not fully defined"):
        flops_of(lambda: tf.square(C(2, None)))


def test_statistics_are_registered_once():
    flops_of(lambda: C(1))
    with pytest.raises(KeyError, match="two statistics functions with name 'AssignAdd,flops'"):
        register_flops()
