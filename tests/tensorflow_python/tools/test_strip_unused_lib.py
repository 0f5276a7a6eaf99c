"""The part of a graph between its inputs and outputs; the results are those of TensorFlow 2.21."""

import pytest
from tensorboard.compat.proto.graph_pb2 import GraphDef

import tapeflow as tf
from tapeflow_compat.tensorflow_python.tools import strip_unused_lib as lib

FLOAT, INT = tf.float32.as_datatype_enum, tf.int32.as_datatype_enum


def graph_def():
    with tf.Graph().as_default() as graph:
        a = tf.constant([1.0, 2.0], name="a")
        b = tf.compat.v1.placeholder(tf.int32, [2], name="b")
        c = tf.add(tf.identity(a, name="inner"), tf.cast(b, tf.float32, name="cast"), name="c")
        tf.square(c, name="d")
        tf.negative(a, name="e")
    return graph.as_graph_def()


@pytest.mark.parametrize(
    ("inputs", "outputs", "types", "expected"),
    [
        (
            ["inner", "b"],
            ["c"],
            [FLOAT, INT],
            {"inner": "Placeholder", "b": "Placeholder", "cast": "Cast", "c": "AddV2"},
        ),
        (
            ["b", "inner"],
            ["c"],
            [INT, FLOAT],
            {"inner": "Placeholder", "b": "Placeholder", "cast": "Cast", "c": "AddV2"},
        ),
        (["c"], ["d"], FLOAT, {"c": "Placeholder", "d": "Square"}),
        ([], ["e"], FLOAT, {"a": "Const", "e": "Neg"}),
        (["c"], ["d", "e"], FLOAT, {"c": "Placeholder", "d": "Square", "a": "Const", "e": "Neg"}),
    ],
)
def test_nodes_that_stay(inputs, outputs, types, expected):
    whole = graph_def()
    part = lib.strip_unused(whole, inputs, outputs, types)
    assert {node.name: node.op for node in part.node} == expected
    dtypes = {"inner": FLOAT, "b": INT, "c": FLOAT}
    assert all(node.attr["dtype"].type == dtypes[node.name] for node in part.node if node.name in inputs)
    assert all(not node.input for node in part.node if node.name in inputs)
    assert whole == graph_def()


def test_placeholders_keep_their_shape():
    (b, *_) = [node for node in lib.strip_unused(graph_def(), ["b"], ["c"], INT).node if node.name == "b"]
    assert [d.size for d in b.attr["shape"].shape.dim] == [2]
    assert "shape" not in lib.strip_unused(graph_def(), ["c"], ["d"], FLOAT).node[0].attr


def test_names_that_are_refused():
    with pytest.raises(ValueError, match="Name 'c:0' appears to refer to a Tensor, not an Operation"):
        lib.strip_unused(graph_def(), ["b", "c:0"], ["d"], FLOAT)
    with pytest.raises(KeyError, match=r"The following input nodes were not found: {'no'}"):
        lib.strip_unused(graph_def(), ["b", "no"], ["d"], FLOAT)


@pytest.fixture
def path(tmp_path):
    (tmp_path / "in").write_bytes(graph_def().SerializeToString())
    (tmp_path / "text").write_text(str(graph_def()))
    return str(tmp_path / "in")


@pytest.mark.parametrize("binary", [True, False])
def test_files(path, tmp_path, binary, capsys):
    out = tmp_path / "out"
    source = path if binary else str(tmp_path / "text")
    assert lib.strip_unused_from_files(source, binary, str(out), binary, "c", "d,e", FLOAT) is None
    assert capsys.readouterr().out == "4 ops in the final graph.\n"
    if binary:
        names = {node.name for node in GraphDef.FromString(out.read_bytes()).node}
    else:
        names = {line.split('"')[1] for line in out.read_text().splitlines() if line.startswith("  name:")}
    assert names == {"c", "d", "a", "e"}


def test_what_is_missing_is_printed(path, tmp_path, capsys):
    out = str(tmp_path / "out")
    assert lib.strip_unused_from_files(str(tmp_path / "no"), True, out, True, "c", "d", FLOAT) == -1
    assert capsys.readouterr().out == f"Input graph file '{tmp_path / 'no'}' does not exist!\n"
    assert lib.strip_unused_from_files(path, True, out, True, "c", "", FLOAT) == -1
    assert capsys.readouterr().out == "You need to supply the name of a node to --output_node_names.\n"


@pytest.mark.parametrize(
    ("text", "expected"), [("float32", 1), ("int32, 1", [3, 1]), ("10", 10), ("float64,bool", [2, 10])]
)
def test_numbers_of_dtypes(text, expected):
    assert lib.dtype_numbers(text) == expected
