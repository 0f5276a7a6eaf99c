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
    with v1.Session(graph=imported(text)) as sess, pytest.raises(tf.errors.InvalidArgumentError, match="product"):
        sess.run("product:0", {"x:0": np.ones([2, 3], np.float32), "p:0": False})


def test_gradients_say_what_they_can_not_pass():
    with (
        imported(BRANCHES).as_default() as graph,
        pytest.raises(tf.errors.UnimplementedError, match=r"'(negative|s|merged)' of op"),
    ):
        v1.gradients(graph.get_tensor_by_name("merged:0"), graph.get_tensor_by_name("x:0"))


def test_the_graph_can_be_written_and_read_again():
    graph = imported(BRANCHES)
    with tf.Graph().as_default() as again:
        tf.import_graph_def(graph.as_graph_def(), name="")
    with v1.Session(graph=again) as sess:
        assert sess.run("square:0", {"x:0": 3.0, "p:0": True}) == 9.0
