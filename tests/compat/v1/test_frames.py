"""Control flow of TensorFlow 1 that runs as it stands."""

import numpy as np
import pytest
from google.protobuf import text_format

import tapeflow as tf

v1 = tf.compat.v1
FLOAT = 'attr { key: "T" value { type: DT_FLOAT } }'


def node(name, op, *inputs, attrs=""):
    return f'node {{ name: "{name}" op: "{op}" ' + " ".join(f'input: "{i}"' for i in inputs) + f" {attrs} }} "


def placeholder(name, dtype):
    return node(name, "Placeholder", attrs=f'attr {{ key: "dtype" value {{ type: {dtype} }} }}')


def imported(text):
    """Returns a graph of these nodes, and a placeholder `x` and a predicate `p`."""
    definition = text_format.Parse(placeholder("x", "DT_FLOAT") + placeholder("p", "DT_BOOL") + text, v1.GraphDef())
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(definition, name="")
    return graph


BRANCHES = (
    node("s", "Switch", "x", "p", attrs=FLOAT)
    + node("negative", "Neg", "s:0", attrs=FLOAT)
    + node("square", "Square", "s:1", attrs=FLOAT)
    + node("after", "NoOp", "^square")
    + node("merged", "Merge", "negative", "square", attrs=FLOAT + 'attr { key: "N" value { i: 2 } }')
)


def test_a_branch_that_was_not_taken_has_no_value():
    with v1.Session(graph=imported(BRANCHES)) as sess:
        assert sess.run(["negative:0", "merged:0", "merged:1"], {"x:0": 3.0, "p:0": False}) == [-3.0, -3.0, 0]
        assert sess.run(["square:0", "merged:0", "merged:1"], {"x:0": 3.0, "p:0": True}) == [9.0, 9.0, 1]
        with pytest.raises(tf.errors.InvalidArgumentError, match="does not have value: negative:0 was fetched"):
            sess.run("negative:0", {"x:0": 3.0, "p:0": True})
        assert sess.run("after", {"x:0": 3.0, "p:0": False}) is None  # an operation need not run
        assert sess.run("merged:0", {"s:1": 4.0, "negative:0": -1.0}) in (16.0, -1.0)


def test_a_placeholder_that_is_not_fed():
    with (
        v1.Session(graph=imported(BRANCHES)) as sess,
        pytest.raises(tf.errors.InvalidArgumentError, match=r"feed.*'x'"),
    ):
        sess.run("negative:0", {"p:0": False})


def test_errors_name_the_node():
    text = BRANCHES + node("product", "MatMul", "negative", "negative", attrs=FLOAT)
    raises = pytest.raises(tf.errors.InvalidArgumentError, match="product")
    with v1.Session(graph=imported(text)) as sess, raises as info:
        sess.run("product:0", {"x:0": np.ones([2, 3], np.float32), "p:0": False})
    assert "[Op:" not in str(info.value)  # that is for eager calls


def test_gradients_pass_the_branch_that_was_taken():
    with imported(BRANCHES).as_default() as graph, v1.Session() as sess:
        (gradient,) = v1.gradients(graph.get_tensor_by_name("merged:0"), graph.get_tensor_by_name("x:0"))
        assert sess.run(gradient, {"x:0": 3.0, "p:0": False}) == -1.0
        assert sess.run(gradient, {"x:0": 3.0, "p:0": True}) == 6.0


LOOP = (
    node("enter", "Enter", "x", attrs=FLOAT + 'attr { key: "frame_name" value { s: "f" } }')
    + node("merge", "Merge", "enter", "next", attrs=FLOAT + 'attr { key: "N" value { i: 2 } }')
    + node(
        "limit",
        "Const",
        "^merge",
        attrs="""attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "value" value {
        tensor { dtype: DT_FLOAT tensor_shape {} float_val: 100 } } }""",
    )
    + node("less", "Less", "merge", "limit", attrs=FLOAT)
    + node("condition", "LoopCond", "less")
    + node("switch", "Switch", "merge", "condition", attrs=FLOAT)
    + node("square", "Square", "switch:1", attrs=FLOAT)
    + node("next", "NextIteration", "square", attrs=FLOAT)
    + node("exit", "Exit", "switch", attrs=FLOAT)
    + node("pushed", "StackPushV2", "stack", "x", attrs=FLOAT)
    + node(
        "size",
        "Const",
        attrs="""attr { key: "dtype" value { type: DT_INT32 } } attr { key: "value" value {
        tensor { dtype: DT_INT32 tensor_shape {} int_val: 9 } } }""",
    )
    + node("stack", "StackV2", "size", attrs='attr { key: "elem_type" value { type: DT_FLOAT } }')
)  # a stack, as gradients of loops have it, keeps the loop from becoming a While


def test_a_loop_runs_in_a_frame():
    with v1.Session(graph=imported(LOOP)) as sess:
        assert sess.run("exit:0", {"x:0": 3.0}) == 3.0**8
        assert sess.run("exit:0", {"x:0": 200.0}) == 200.0
        with pytest.raises(tf.errors.InvalidArgumentError, match="square:0 was fetched, and it is in a branch"):
            sess.run("square:0", {"x:0": 3.0})


def test_gradients_run_the_loop_again():
    with imported(LOOP).as_default() as graph, v1.Session() as sess:
        (gradient,) = v1.gradients(graph.get_tensor_by_name("exit:0"), graph.get_tensor_by_name("x:0"))
        np.testing.assert_allclose(sess.run(gradient, {"x:0": 3.0}), 8 * 3.0**7, 1e-6)
        assert sess.run(gradient, {"x:0": 200.0}) == 1.0


def test_gradients_of_a_loop_with_side_effects_say_what_to_do():
    text = LOOP.replace('name: "square" op: "Square"', 'name: "square" op: "StackPushV2" input: "stack"')
    with imported(text).as_default() as graph:
        end, x = graph.get_tensor_by_name("exit:0"), graph.get_tensor_by_name("x:0")
        with pytest.raises(tf.errors.UnimplementedError, match=r"'exit' of op Exit .* run that; or load"):
            v1.gradients(end, x)


def test_the_graph_can_be_written_and_read_again():
    graph = imported(BRANCHES)
    with tf.Graph().as_default() as again:
        tf.import_graph_def(graph.as_graph_def(), name="")
    with v1.Session(graph=again) as sess:
        assert sess.run("square:0", {"x:0": 3.0, "p:0": True}) == 9.0


def test_a_function_of_a_whole_graph():
    def build(x, p):
        definition = imported(LOOP).as_graph_def()
        return tf.import_graph_def(definition, {"x:0": x}, ["exit:0"], name="")[0]

    wrapped = v1.wrap_function(build, [tf.TensorSpec([], tf.float32), tf.TensorSpec([], tf.bool)])
    assert wrapped(tf.constant(3.0), tf.constant(True)).numpy() == 3.0**8
    part = wrapped.prune([wrapped.graph.inputs[0]], wrapped.graph.outputs)
    assert part(tf.constant(3.0))[0].numpy() == 3.0**8


def test_a_function_with_control_flow_of_tensorflow_1():
    library = """library { function { signature { name: "f" input_arg { name: "x" type: DT_FLOAT }
        input_arg { name: "p" type: DT_BOOL } output_arg { name: "y" type: DT_FLOAT } }
        node_def { name: "s" op: "Switch" input: "x" input: "p" attr { key: "T" value { type: DT_FLOAT } } }
        node_def { name: "n" op: "Neg" input: "s:output_false:0" attr { key: "T" value { type: DT_FLOAT } } }
        node_def { name: "q" op: "Square" input: "s:output_true:0" attr { key: "T" value { type: DT_FLOAT } } }
        node_def { name: "m" op: "Merge" input: "n:y:0" input: "q:y:0" attr { key: "T" value { type: DT_FLOAT } }
            attr { key: "N" value { i: 2 } } }
        ret { key: "y" value: "m:output:0" } } }"""
    call = node(
        "c",
        "PartitionedCall",
        "x",
        "p",
        attrs="""attr { key: "f" value { func { name: "f" } } }
        attr { key: "Tin" value { list { type: DT_FLOAT type: DT_BOOL } } }
        attr { key: "Tout" value { list { type: DT_FLOAT } } }""",
    )
    with v1.Session(graph=imported(call + library)) as sess:
        assert sess.run("c:0", {"x:0": 3.0, "p:0": True}) == 9.0
        assert sess.run("c:0", {"x:0": 3.0, "p:0": False}) == -3.0


def test_a_tf_function_says_where_to_import_such_a_graph():
    definition = imported(LOOP).as_graph_def()
    function = tf.function(lambda x: tf.import_graph_def(definition, {"x:0": x}, ["exit:0"], name=""))
    with pytest.raises(tf.errors.UnimplementedError, match=r"import the graph in tf\.compat\.v1\.wrap_function"):
        function(tf.constant(3.0))


@pytest.mark.parametrize("taken", [False, True])
def test_raw_ops_of_control_flow_in_a_graph(taken):
    with tf.Graph().as_default():
        x, pred = v1.placeholder(tf.float32, [None]), v1.placeholder(tf.bool, [])
        no, yes = tf.raw_ops.Switch(data=x, pred=pred)
        merged, index = tf.raw_ops.Merge(inputs=[no * 10.0, yes * 2.0])
        (gradient,) = v1.gradients(merged, x)
        with v1.Session() as session:
            feed = {x: [1.0, 2.0], pred: taken}
            assert session.run(index, feed) == taken
            np.testing.assert_array_equal(session.run(merged, feed), [2.0, 4.0] if taken else [10.0, 20.0])
            np.testing.assert_array_equal(session.run(gradient, feed), [2.0, 2.0] if taken else [10.0, 10.0])
            with pytest.raises(tf.errors.InvalidArgumentError, match="not taken"):
                session.run([no, yes], feed)


def test_merge_in_a_function_says_what_to_use():
    @tf.function
    def f(x):
        no, yes = tf.raw_ops.Switch(data=x, pred=x > 0)
        return tf.raw_ops.Merge(inputs=[no, yes]).output

    with pytest.raises(tf.errors.UnimplementedError, match=r"tf\.cond"):
        f(1.0)
