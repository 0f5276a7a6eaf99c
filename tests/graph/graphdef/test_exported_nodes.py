"""The nodes of a `GraphDef` that functions leave: the names and ops that TensorFlow 2.21 gives them."""

import pytest

import tapeflow as tf

v1 = tf.compat.v1


def nodes(build):
    with tf.Graph().as_default() as graph:
        build()
    return [f"{node.name} {node.op}" for node in graph.as_graph_def().node]


def known():
    return v1.placeholder(tf.float32, [2, 3], name="p")


def unknown():
    return v1.placeholder(tf.float32, [None, 3], name="p")


FILLED = ["zeros/shape_as_tensor Const", "zeros/Const Const", "zeros Fill"]


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda: tf.ones([2, 3]), ["ones Const"]),
        (lambda: tf.ones([2, 3], name="named"), ["named Const"]),
        (lambda: (tf.zeros([2]), tf.zeros([2], tf.string)), ["zeros Const", "zeros_1 Const"]),
        (lambda: tf.zeros([999]), ["zeros Const"]),
        (lambda: tf.zeros([1000]), FILLED),
        (lambda: tf.zeros([20, 50]), FILLED),
        (
            lambda: tf.zeros(v1.placeholder(tf.int32, [2], name="n")),
            ["n Placeholder", "zeros/Const Const", "zeros Fill"],
        ),
        (lambda: tf.ones(tf.constant([2, 3])), ["Const Const", "ones/Const Const", "ones Fill"]),
        (lambda: tf.zeros_like(known()), ["p Placeholder", "zeros_like Const"]),
        (lambda: tf.zeros_like(unknown()), ["p Placeholder", "zeros_like ZerosLike"]),
        (lambda: tf.ones_like(unknown()), ["p Placeholder", "ones_like OnesLike"]),
        (
            lambda: tf.ones_like(unknown(), tf.int32),
            ["p Placeholder", "ones_like/Shape Shape", "ones_like/Const Const", "ones_like Fill"],
        ),
        (lambda: tf.argmax(unknown()), ["p Placeholder", "ArgMax/dimension Const", "ArgMax ArgMax"]),
    ],
)
def test_names_and_ops(build, expected):
    assert nodes(build) == expected


def test_filled_constants_are_nobody_elses():
    """A variable that begins with one and is updated in place leaves it as it was."""

    @tf.function
    def f(x):
        start = tf.zeros([3])
        return start + x, start

    v = tf.Variable(f(tf.constant([0.0, 0.0, 0.0]))[1])
    v.assign_add([1.0, 1.0, 1.0])
    assert f(tf.constant([1.0, 2.0, 3.0]))[1].numpy().tolist() == [0.0, 0.0, 0.0]


def test_argmax_without_an_axis_runs_again():
    with tf.Graph().as_default() as graph:
        tf.argmax(v1.placeholder(tf.float32, [None, 2], name="x"), name="y")
    with tf.Graph().as_default(), v1.Session() as session:
        tf.import_graph_def(graph.as_graph_def(), name="")
        assert session.run("y:0", {"x:0": [[1.0, 5.0], [2.0, 3.0]]}).tolist() == [1, 0]


def ops(graph_def):
    return {node.op for part in (graph_def, *graph_def.library.function) for node in getattr(part, "node_def", ())} | {
        node.op for node in graph_def.node
    }


@pytest.mark.parametrize(
    ("build", "refused"),
    [
        (lambda x: tf.linalg.expm(x[0, :, :, 0]), "MatrixExponential"),
        (lambda x: tf.nn.depthwise_conv2d(x, tf.ones([2, 2, 2, 1], tf.float64), [1] * 4, "SAME", dilations=(2, 2)), ""),
        (lambda x: tf.nn.conv2d(x, tf.ones([2, 2, 2, 1], tf.float64), 1, "VALID", dilations=2), ""),
        (lambda x: tf.nn.conv3d(x[None], tf.ones([1, 2, 2, 2, 1], tf.float64), [1] * 5, "VALID",
                                dilations=[1, 1, 2, 2, 1]), ""),
    ],
)  # fmt: skip
def test_what_tensorflow_has_no_kernels_for(build, refused):
    """Neither the op, nor dilations of convolutions of float64 whose kernels take none; and it gives the same."""
    with tf.Graph().as_default() as graph, v1.Session() as session:
        x = v1.placeholder(tf.float64, [1, 5, 5, 2], name="x")
        y = build(x)
        fetches = [t.name for t in (y, *tf.gradients(y * y, x))]
        value = [[[[0.1 * (i * j % 7) + 0.05 * k for k in range(2)] for i in range(5)] for j in range(5)]]
        expected = session.run(fetches, {"x:0": value})
        exported = graph.as_graph_def()
    assert refused not in ops(exported)
    for part in (exported.node, *(function.node_def for function in exported.library.function)):
        for node in part:
            if node.op.startswith(("Depthwise", "Conv3D", "Conv2DBackprop")):
                assert max(node.attr["dilations"].list.i, default=1) == 1
    with tf.Graph().as_default(), v1.Session() as session:
        tf.import_graph_def(exported, name="")
        for a, b in zip(session.run(fetches, {"x:0": value}), expected, strict=True):
            assert a == pytest.approx(b, rel=1e-12)


def test_functions_are_not_called_as_ops_are():
    """TensorFlow refuses a library that has a function of an op's name."""

    @tf.function
    def Exp(x):
        return x * 2.0

    with tf.Graph().as_default() as graph:
        Exp(known())
    assert [f.signature.name for f in graph.as_graph_def().library.function] == ["Exp_0"]


def _checked(x):
    tf.debugging.assert_equal(x, x)
    tf.debugging.assert_positive(x)
    tf.debugging.assert_near(x, x)
    tf.debugging.Assert(tf.reduce_all(x > 0), ["text", x], summarize=2)
    tf.sparse.map_values(tf.add, tf.sparse.from_dense(x), tf.sparse.from_dense(x))  # checks that indices are equal
    return x + 1


def test_assertions_have_the_registered_form():
    """`Assert(condition: bool, data: list(type))`, with a condition that any reader can evaluate."""
    graph_def = tf.function(_checked).get_concrete_function(tf.TensorSpec([None])).graph.as_graph_def()
    asserts = [node for node in graph_def.node if node.op == "Assert"]
    assert [len(node.attr["T"].list.type) for node in asserts] == [2, 1, 4, 2, 4]
    assert [node.attr["summarize"].i for node in asserts] == [3, 3, 3, 2, 3]
    with tf.Graph().as_default() as graph, v1.Session(graph=graph) as session:
        x = v1.placeholder(tf.float32, [None])
        tf.graph_util.import_graph_def(graph_def, {"x": x}, name="")
        for node in asserts:
            assert graph.get_tensor_by_name(f"{node.input[0]}:0").dtype is tf.bool
            session.run(graph.get_operation_by_name(node.name), {x: [1.0, 2.0]})
        for name in ("Assert_1", "Assert_3"):
            with pytest.raises(tf.errors.InvalidArgumentError):
                session.run(graph.get_operation_by_name(name), {x: [-1.0, 2.0]})


def test_lists_from_outside_of_a_function():
    """No constant can hold a list or a dataset: it is an input of the graph, and no part of a file."""
    empty = tf.raw_ops.EmptyTensorList(
        element_shape=tf.constant([], tf.int32), max_num_elements=5, element_dtype=tf.float32
    )

    def push(i, items):
        return i + 1, tf.raw_ops.TensorListPushBack(input_handle=items, tensor=1.0)

    @tf.function(input_signature=[])
    def function():
        return tf.raw_ops.TensorListLength(input_handle=tf.while_loop(lambda i, _: i < 3, push, (0, empty))[1])

    nodes = function.get_concrete_function().graph.as_graph_def(add_shapes=True).node
    assert [n.op for n in nodes if n.attr["dtype"].type == tf.variant.as_datatype_enum] == ["Placeholder"]
    module = tf.Module()
    module.function = function
    with pytest.raises(AssertionError, match="untracked"):
        tf.saved_model.save(module, "/nowhere")
