"""Graphs between TensorFlow and TapeFlow: those of `graph_programs.py`, as TensorFlow wrote them and as TapeFlow
does."""

import json
import pathlib
import subprocess
import sys

import pytest
from google.protobuf import text_format
from google.protobuf.message import DecodeError

import graph_gradients  # noqa: F401 (adds its programs)
import graph_kernels  # noqa: F401 (adds its programs)
import graph_second_gradients  # noqa: F401 (adds its programs)
import tapeflow as tf
from graph_files import difference, encoded, read, run, write
from graph_programs import PROGRAMS
from tapeflow import v1_graphs
from tapeflow.graph.graphdef.import_graph import Unstructured

v1 = tf.compat.v1
ROOT = pathlib.Path(__file__).parents[3]
HOME = ROOT / "tests" / "fixtures" / "graph_defs"
SCRIPT = ROOT / "scripts" / "record.py"
EXPECTED = json.loads((HOME / "expected.json").read_text())


# ---- whole graphs ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EXPECTED)
def test_runs_what_tensorflow_wrote(name):
    entry = EXPECTED[name]
    assert not difference(entry["values"], [encoded(v) for v in run(tf, read(tf, HOME / f"{name}.pb"), entry)])


@pytest.mark.parametrize("name", [name for name in EXPECTED if name.endswith(".v1")])
def test_runs_the_control_flow_of_tensorflow_1_as_it_stands(name, monkeypatch):
    def refused(nodes):
        raise Unstructured

    monkeypatch.setattr(v1_graphs, "functional", refused)
    entry = EXPECTED[name]
    assert not difference(entry["values"], [encoded(v) for v in run(tf, read(tf, HOME / f"{name}.pb"), entry)])


@pytest.mark.parametrize("name", PROGRAMS)
def test_gives_what_tensorflow_gave(name, tmp_path):
    """The program built here gives the same, and so does its GraphDef, imported again."""
    entry = write(tf, PROGRAMS[name], tmp_path / "graph.pb")
    assert not difference(EXPECTED[name]["values"], entry["values"])
    assert not difference(entry["values"], [encoded(v) for v in run(tf, read(tf, tmp_path / "graph.pb"), entry)])


@pytest.mark.tensorflow
def test_tensorflow_runs_ours(tmp_path):
    entries = {name: write(tf, build, tmp_path / f"{name}.pb") for name, build in PROGRAMS.items()}
    (tmp_path / "expected.json").write_text(json.dumps(entries))
    subprocess.run([sys.executable, str(SCRIPT), "graph_defs", "check", str(tmp_path)], check=True)


# ---- importing -------------------------------------------------------------------------------------------------------

CONST = """node { name: "a" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "value" value {
    tensor { dtype: DT_FLOAT tensor_shape {} float_val: 2 } } } } """
FLOAT = 'attr { key: "T" value { type: DT_FLOAT } }'


def graph_def(text):
    return text_format.Parse(text, v1.GraphDef())


def imported(text, **arguments):
    with tf.Graph().as_default() as graph:
        found = tf.import_graph_def(graph_def(text), **arguments)
        return found, [op.name for op in graph.get_operations()]


def test_names_and_elements():
    (tensor, operation), names = imported(CONST, return_elements=["a:0", "a"])
    assert (tensor.name, operation.name, names) == ("import/a:0", "import/a", ["import/a"])
    assert imported(CONST, name="")[1] == ["a"]
    with tf.Graph().as_default() as graph:
        for name in (None, None, "n", "", ""):
            tf.import_graph_def(graph_def(CONST), name=name)
        assert [op.name for op in graph.get_operations()] == ["import/a", "import_1/a", "n/a", "a", "a_1"]
    assert v1.import_graph_def is tf.import_graph_def is tf.graph_util.import_graph_def


def test_other_tensors_in_the_place_of_inputs():
    text = CONST + f'node {{ name: "x" op: "AddV2" input: "a" input: "a" {FLOAT} }}'
    with tf.Graph().as_default(), v1.Session() as session:
        (x,) = tf.import_graph_def(graph_def(text), {"a:0": tf.constant(5.0)}, ["x:0"])
        assert session.run(x) == 10.0


CALL = """node { name: "x" op: "PartitionedCall" attr { key: "f" value { func { name: "f" } } }
    attr { key: "Tin" value { list {} } } attr { key: "Tout" value { list { type: DT_FLOAT } } } }"""
RECURSIVE = (
    CALL
    + """library { function { signature { name: "f" output_arg { name: "y" type: DT_FLOAT } } node_def { name: "g"
    op: "PartitionedCall" attr { key: "f" value { func { name: "f" } } } attr { key: "Tin" value { list {} } }
    attr { key: "Tout" value { list { type: DT_FLOAT } } } } ret { key: "y" value: "g:output:0" } } }"""
)

FUNCTION_OF_NOTHING = """library { function { signature { name: "f" output_arg { name: "y" type: DT_FLOAT } } node_def {
    name: "a" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "value" value { tensor {
    dtype: DT_FLOAT tensor_shape {} float_val: 2 } } } } ret { key: "y" value: "a:output:0" } } }"""


# What TensorFlow says of these is the same, but for the last seven.
@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ('node { name: "x" op: "FooBar" }', tf.errors.NotFoundError, "Op type not registered 'FooBar'"),
        (f'node {{ name: "x" op: "Identity" input: "q" {FLOAT} }}', ValueError, "Node 'x': Unknown input node 'q'"),
        ('node { name: "x" op: "NoOp" input: "^q" }', ValueError, "Node 'x': Unknown input node '\\^q'"),
        (CONST + CONST, ValueError, "Node 'a' is not unique"),
        ('node { name: "a b" op: "NoOp" }', ValueError, "Node 'a b': Node name contains invalid characters"),
        ('node { op: "NoOp" }', ValueError, "Node '': Node name contains invalid characters"),
        (
            f'node {{ name: "x" op: "Identity" input: "y" {FLOAT} }}'
            f'node {{ name: "y" op: "Identity" input: "x" {FLOAT} }}',
            ValueError,
            "2 nodes in a cycle",
        ),
        (
            CONST + f'node {{ name: "x" op: "Identity" input: "a" input: "a" {FLOAT} }}',
            ValueError,
            "NodeDef expected inputs 'float' do not match 2 inputs specified",
        ),
        (
            CONST + 'node { name: "x" op: "Identity" input: "a" attr { key: "T" value { type: DT_INT32 } } }',
            ValueError,
            "Input 0 of node import/x was passed float from import/a:0 incompatible with expected int32.",
        ),
        (CONST + 'node { name: "x" op: "Identity" input: "a" }', ValueError, "NodeDef missing attr 'T'"),
        (
            CONST + 'node { name: "x" op: "Identity" input: "a" attr { key: "T" value { i: 3 } } }',
            ValueError,
            "AttrValue had value with type 'int' when 'type' expected",
        ),
        (
            CONST + f'node {{ name: "x" op: "Identity" input: "a:3" {FLOAT} }}',
            ValueError,
            "Node 'x': Connecting to invalid output 3 of source node a which has 1 outputs.",
        ),
        (CONST + f'node {{ name: "x" op: "MatMul" input: "a" input: "a" {FLOAT} }}', ValueError, "must be >= 2"),
        (CONST.replace("tensor_shape {}", "tensor_shape { dim { size: -2 } }"), ValueError, "not fully defined"),
        (CONST.replace("tensor_shape {}", "tensor_shape { dim { size: 99999999999 } }"), ValueError, "too large"),
        (
            CONST.replace("tensor_shape {} float_val: 2", "tensor_shape { dim { size: 2 } } tensor_content: 'abc'"),
            ValueError,
            "parse",
        ),
        (CONST.replace("type: DT_FLOAT }", "type: 77 }", 1), ValueError, "77 is the number of no dtype|Unknown enum"),
        (CALL, tf.errors.NotFoundError, "function 'f' is not in the library"),
        (
            CONST
            + CALL.replace('op: "PartitionedCall"', 'op: "PartitionedCall" input: "a"').replace(
                '"Tin" value { list {} }', '"Tin" value { list { type: DT_FLOAT } }'
            )
            + FUNCTION_OF_NOTHING,
            ValueError,
            r"Node 'import/x': function 'f' takes \[\], and is called with \['float32'\]",
        ),
        (
            """node { name: "s" op: "Const" attr { key: "dtype" value { type: DT_STRING } } attr { key: "value" value {
            tensor { dtype: DT_STRING tensor_shape {} string_val: "text" } } } } node { name: "p" op: "PrintV2"
            input: "s" attr { key: "output_stream" value { s: "nowhere" } } }""",
            tf.errors.UnimplementedError,
            "Node 'p' of op PrintV2: prints to 'nowhere', not to stdout",
        ),
        (RECURSIVE, tf.errors.UnimplementedError, "Function 'f' calls itself"),
        (
            'node { name: "x" op: "LMDBReader" }',
            tf.errors.UnimplementedError,
            "Op type 'LMDBReader' of node 'import/x' is TensorFlow's, and TapeFlow has no kernel",
        ),
    ],
)
def test_what_can_not_be_imported(text, error, message):
    try:
        graph_def(text)
    except text_format.ParseError:
        pytest.skip("the protobuf library at hand refuses the number itself")
    with pytest.raises(error, match=message):
        imported(text)


def test_a_chain_of_thousands_of_elementwise_nodes():
    with tf.Graph().as_default() as graph:
        y = v1.placeholder(tf.float32, [2], name="x")
        for _ in range(3000):
            y = -y
    with tf.Graph().as_default(), v1.Session() as session:
        (result,) = tf.import_graph_def(graph.as_graph_def(), return_elements=[y.name], name="")
        assert session.run(result, {"x:0": [1.0, 2.0]}).tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"return_elements": ["b:0"]}, ValueError, "Requested return tensor 'b:0' not found in graph def"),
        ({"return_elements": ["b"]}, ValueError, "Requested return node 'b' not found in graph def"),
        ({"return_elements": ["a:3"]}, ValueError, "Invalid return output 3 of node 'a', which has 1 output"),
        ({"return_elements": [3]}, TypeError, "Argument `return_elements` must be a list of strings"),
        (
            {"input_map": {"zz:0": 1.0}},
            ValueError,
            r"Attempted to map inputs that were not found in graph_def: \[zz:0\]",
        ),
        ({"input_map": {"a:x": 1.0}}, ValueError, r"not found in graph_def: \[a:x\]"),
        ({"return_elements": ["a:x"]}, ValueError, "Requested return node 'a:x' not found in graph def"),
        ({"input_map": [1]}, TypeError, "Argument `input_map` must be a dictionary"),
        ({"input_map": {1: 2}}, TypeError, "All keys for argument `input_map` must be strings"),
    ],
)
def test_arguments_that_do_not_fit(arguments, error, message):
    with pytest.raises(error, match=message):
        imported(CONST, **arguments)


@pytest.mark.parametrize(
    ("key", "new", "control_input", "inputs", "value"),
    [
        ("a:0", [5.0, 3.0], "import/n", ["import/s:0", "import/s:1"], 2.0),
        ("a", [5.0, 3.0], "import/n", ["import/s:0", "import/s:1"], 2.0),
        ("s:1", [7.0], "import/n", ["import/s:0", "new:0"], -6.0),
        ("s", [7.0], "import/n", ["new:0", "import/s:1"], 5.0),
        ("^n", [7.0], "new", ["import/s:0", "import/s:1"], -1.0),
    ],
)
def test_tensors_and_control_inputs_that_replace_others_as_in_tensorflow(key, new, control_input, inputs, value):
    with tf.Graph().as_default() as graph:
        s = tf.raw_ops.Split(axis=0, value=tf.constant([1.0, 2.0], name="a"), num_split=2, name="s")
        with tf.control_dependencies([tf.no_op(name="n")]):
            tf.subtract(*s, name="y")
    with tf.Graph().as_default(), v1.Session() as session:
        (y,) = tf.import_graph_def(graph.as_graph_def(), {key: tf.constant(new, name="new")}, ["y"])
        assert [o.name for o in y.control_inputs] == [control_input]
        assert [t.name for t in y.inputs] == inputs
        assert session.run(y.outputs[0]).tolist() == [value]


@pytest.mark.parametrize(("x", "value"), [(0, 0), (3, 3), (-2, -4)])
def test_only_the_branch_that_is_taken_divides(x, value):
    with tf.Graph().as_default() as graph:
        given = v1.placeholder(tf.int32, [], name="x")
        no, yes = tf.raw_ops.Switch(data=given, pred=given > 0)
        for branch, result in (("no", no * 2), ("yes", 6 // yes + 1)):
            tf.identity(result, name=branch)
        tf.identity(given, name="merge")
        tf.identity(given, name="y")
    proto = graph.as_graph_def()
    merge, y = (next(n for n in proto.node if n.name == name) for name in ("merge", "y"))
    merge.op, merge.input[:], merge.attr["N"].i, y.input[:] = "Merge", ["no", "yes"], 2, ["merge"]
    with tf.Graph().as_default(), v1.Session() as session:
        (y,) = tf.import_graph_def(proto, return_elements=["y:0"], name="")
        assert session.run(y, {"x:0": x}) == value


def test_only_graph_defs_are_imported():
    for wrong in (3, b"\n\0", "text"):
        with pytest.raises(TypeError, match="must be a GraphDef proto"):
            tf.import_graph_def(wrong)
    data = (HOME / "conditional.pb").read_bytes()
    for length in range(0, len(data), 97):
        try:
            proto = v1.GraphDef.FromString(data[:length])
        except DecodeError:
            continue
        try:
            with tf.Graph().as_default():
                tf.import_graph_def(proto)
        except (ValueError, tf.errors.OpError):
            pass


def test_gradients_of_what_was_imported():
    with tf.Graph().as_default(), v1.Session() as session:
        x = tf.constant(3.0)
        (y,) = tf.import_graph_def(read(tf, HOME / "conditional.pb"), {"x:0": x}, ["choice/Identity:0"])
        assert session.run(tf.gradients(y, x)) == [6.0]


def test_gradients_stop_and_add_up():
    with tf.Graph().as_default(), v1.Session() as session:
        x = tf.constant([1.0, 2.0])
        y = x * x
        assert session.run(tf.gradients([y, 3.0 * x], x))[0].tolist() == [5.0, 7.0]
        assert session.run(tf.gradients(y * x, x, stop_gradients=[y]))[0].tolist() == [1.0, 4.0]
        assert session.run(tf.gradients(y, x, grad_ys=[tf.constant([1.0, 0.5])]))[0].tolist() == [2.0, 2.0]
        assert tf.gradients(y, tf.constant(1.0)) == [None]
        assert session.run(tf.gradients(y, tf.constant(1.0), unconnected_gradients="zero")) == [0.0]
    with pytest.raises(RuntimeError, match="not supported when eager execution is enabled"):
        tf.gradients(tf.constant(1.0), tf.constant(1.0))


# ---- cutting and freezing --------------------------------------------------------------------------------------------


def test_frozen_graphs():
    with tf.Graph().as_default() as graph, v1.Session() as session:
        x = v1.placeholder(tf.float32, [2], name="x")
        tf.identity(tf.Variable([2.0, 3.0], name="v") * x, name="y")
        session.run(v1.global_variables_initializer())
        frozen = v1.graph_util.convert_variables_to_constants(session, graph.as_graph_def(), ["y"])
    assert {node.op for node in frozen.node} == {"Placeholder", "Const", "Identity", "Mul"}
    smaller = v1.graph_util.remove_training_nodes(frozen, ["y"])
    with tf.Graph().as_default(), v1.Session() as session:
        y, again = tf.import_graph_def(frozen, return_elements=["y:0", "x:0"])
        assert session.run(y, {again: [1.0, 1.0]}).tolist() == [2.0, 3.0]
        y, again = tf.import_graph_def(smaller, return_elements=["y:0", "x:0"])
        assert session.run(y, {again: [1.0, 1.0]}).tolist() == [2.0, 3.0]
    with pytest.raises(AssertionError, match="nothing is not in graph"):
        v1.graph_util.extract_sub_graph(frozen, ["nothing"])


def test_graphs_in_files(tmp_path):
    with tf.Graph().as_default() as graph:
        tf.constant(1.5, name="c")
    text, binary = (
        tf.io.write_graph(graph, tmp_path / "new", "g.pbtxt"),
        tf.io.write_graph(graph, tmp_path, "g.pb", as_text=False),
    )
    assert (
        text_format.Parse(pathlib.Path(text).read_text(), v1.GraphDef())
        == read(tf, pathlib.Path(binary))
        == graph.as_graph_def()
    )


def test_clipping_is_written_as_tensorflow_writes_it():
    """Its op takes no bounds that broadcast."""
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [2, 3], name="x")
        tf.clip_by_value(x, [0.0, -1.0, -5.0], 2.0, name="clipped")
    nodes = {node.name: node for node in graph.as_graph_def().node}
    assert [nodes[name].op for name in ("clipped/Minimum", "clipped")] == ["Minimum", "Maximum"]
    assert nodes["clipped"].input[0] == "clipped/Minimum"


def test_names_of_outputs_count_what_tensorflow_gives_before_them():
    """A loop gives its counter and its limit first."""
    with tf.Graph().as_default() as graph:
        tf.while_loop(lambda i: i < 3, lambda i: [i + 1], [tf.constant(0)], name="loop")
    assert graph.get_tensor_by_name("loop:2").dtype is tf.int32
    with pytest.raises(KeyError):
        graph.get_tensor_by_name("loop:0")
    (loop,) = [node for node in graph.as_graph_def().node if node.name == "loop"]
    assert loop.input[:3] == ["loop/loop_counter", "loop/maximum_iterations", "Const"]


# ---- constants of one value ------------------------------------------------------------------------------------------


def constants_of_one_value(count, text):
    """Returns a graph with large constants, and the last element of each."""
    from google.protobuf import text_format

    graph_def = tf.compat.v1.GraphDef()
    for i in range(count):
        text_format.Merge(
            f"""node {{ name: "c{i}" op: "Const" attr {{ key: "dtype" value {{ type: DT_FLOAT }} }}
                attr {{ key: "value" value {{ tensor {{ dtype: DT_FLOAT {text} }} }} }} }}
                node {{ name: "s{i}" op: "Shape" input: "c{i}" attr {{ key: "T" value {{ type: DT_FLOAT }} }} }}""",
            graph_def,
        )
    return graph_def


@pytest.mark.parametrize("value", ["float_val: 1.5", ""])
def test_constants_of_one_value_take_the_memory_of_one(value):
    graph_def = constants_of_one_value(6, "tensor_shape { dim { size: 805306368 } } " + value)
    assert graph_def.ByteSize() < 1000
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name="")
        shapes = [graph.get_tensor_by_name(f"s{i}:0") for i in range(6)]
        for i in range(6):
            raw = graph.get_operation_by_name(f"c{i}").static[0]
            assert raw.untyped_storage().nbytes() == 4
        with tf.compat.v1.Session() as session:
            assert [s.tolist() for s in session.run(shapes)] == [[805306368]] * 6


def test_the_last_of_several_values_is_not_repeated_without_end():
    graph_def = constants_of_one_value(1, "tensor_shape { dim { size: 805306368 } } float_val: 1.5 float_val: 2.5")
    with tf.Graph().as_default(), pytest.raises(ValueError, match="is too large"):
        tf.import_graph_def(graph_def)
    graph_def = constants_of_one_value(1, "tensor_shape { dim { size: 1000 } } float_val: 1.5 float_val: 2.5")
    with tf.Graph().as_default() as graph, tf.compat.v1.Session() as session:
        tf.import_graph_def(graph_def, name="")
        values = session.run(graph.get_tensor_by_name("c0:0"))
    assert values[0] == 1.5 and (values[1:] == 2.5).all()
