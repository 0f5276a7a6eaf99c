"""The parts of a `GraphDef`: attrs of every type, functions in the library, and what is refused in them."""

import numpy as np
import pytest
from google.protobuf import text_format

import tapeflow as tf
from tapeflow.graph.graphdef.export import op_def_proto
from tapeflow.graph.graphdef.node_protos import (
    ParsedNode,
    check_attrs,
    definition_of,
    function_of,
    in_order,
    node_attr,
    node_name,
    output_offsets,
    shape_of,
    unused_name,
    without_identities,
)

v1 = tf.compat.v1


def parsed(text):
    """A node, from its text in a `GraphDef`."""
    proto = text_format.Parse(text, v1.NodeDef())
    return ParsedNode(proto.name, proto.op, [], [], proto.attr)


def attr(name, value):
    return f'attr {{ key: "{name}" value {{ {value} }} }} '


# ---- attrs -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("op", "name", "given", "value", "default"),
    [
        ("LeakyRelu", "alpha", "f: 0.3", 0.3, 0.2),
        ("LeakyRelu", "T", "type: DT_DOUBLE", tf.float64, tf.float32),
        ("MatMul", "transpose_a", "b: true", True, False),
        ("Bitcast", "type", "type: DT_INT32", tf.int32, None),
        ("ArgMax", "output_type", "type: DT_INT32", tf.int32, tf.int64),
        ("Print", "first_n", "i: 3", 3, -1),
        ("Print", "message", 's: "text"', "text", ""),
        ("Print", "message", r's: "\377"', b"\xff", ""),
        ("Placeholder", "shape", "shape { dim { size: 2 } dim { size: -1 } }", [2, None], None),
        ("Squeeze", "squeeze_dims", "list { i: 1 i: 2 }", (1, 2), ()),
        ("Conv2D", "dilations", "list { i: 1 i: 2 i: 2 i: 1 }", (1, 2, 2, 1), (1, 1, 1, 1)),
        ("Print", "U", "list { type: DT_INT32 type: DT_HALF }", (tf.int32, tf.float16), None),
        ("While", "output_shapes", "list { shape { dim { size: 2 } } shape {} }", ([2], []), ()),
        ("FusedBatchNormV3", "epsilon", "f: 0.001", 0.001, 0.0001),
        ("GenerateVocabRemapping", "old_vocab_size", "i: 4", 4, -1),
    ],
)
def test_attrs_and_their_defaults(op, name, given, value, default):
    node = parsed(f'name: "n" op: "{op}" ' + attr(name, given))
    found = node_attr(node, name)
    if name in ("shape", "output_shapes"):
        found = found.as_list() if name == "shape" else tuple(s.as_list() for s in found)
    assert found == value and type(found) is type(value)
    if default is not None:
        without = node_attr(parsed(f'name: "n" op: "{op}"'), name)
        assert (tuple(without) if isinstance(default, tuple) else without) == default
    elif name != "shape":
        with pytest.raises(ValueError, match=f"NodeDef missing attr '{name}'"):
            node_attr(parsed(f'name: "n" op: "{op}"'), name)


def test_default_shapes():
    assert node_attr(parsed('name: "n" op: "Placeholder"'), "shape").rank is None
    assert node_attr(
        parsed('name: "n" op: "ParallelConcat"' + attr("shape", "shape { dim { size: 4 } }")), "shape"
    ) == [4]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (attr("T", "type: DT_FLOAT") + attr("transpose_a", "i: 1"), "value with type 'int' when 'bool' expected"),
        (attr("T", "f: 1.0"), "value with type 'float' when 'type' expected"),
        (attr("T", ""), "value with type 'none' when 'type' expected"),
        (attr("T", "list { type: DT_FLOAT }"), "value with type 'list' when 'type' expected"),
        ("", "NodeDef missing attr 'T' from Op<name=MatMul"),
    ],
)
def test_attrs_of_other_types(given, message):
    node = parsed(f'name: "n" op: "MatMul" {given}')
    with pytest.raises(ValueError, match=message) as raised:
        check_attrs(node, definition_of("MatMul"), "prefix/")
    assert "{{node prefix/n}}" in str(raised.value)


def test_lists_without_elements_may_have_no_value():
    for value in ("", "list {}", "list { i: 1 }"):
        node = parsed('name: "n" op: "Squeeze" ' + attr("T", "type: DT_FLOAT") + attr("squeeze_dims", value))
        check_attrs(node, definition_of("Squeeze"), "")
    with pytest.raises(ValueError, match=r"type 'int' when 'list\(int\)' expected"):
        node = parsed('name: "n" op: "Squeeze" ' + attr("T", "type: DT_FLOAT") + attr("squeeze_dims", "i: 1"))
        check_attrs(node, definition_of("Squeeze"), "")


@pytest.mark.parametrize(
    ("build", "name"),
    [
        (lambda x: tf.nn.leaky_relu(x, 0.3), "LeakyRelu"),
        (lambda x: tf.matmul(x, x, transpose_b=True), "MatMul"),
        (lambda x: tf.argmax(x, 1, tf.int32), "ArgMax"),
        (lambda x: tf.squeeze(x[None, :, None], [0, 2]), "Squeeze"),
        (lambda x: tf.strings.as_string(x, precision=2, fill="0", width=7), "AsString"),
        (lambda x: tf.reshape(tf.quantization.fake_quant_with_min_max_args(x, -1.5, 2.5, 4, True), [-1]), "FakeQuant"),
    ],
)
def test_attrs_pass_through_files(build, name):
    x = tf.constant([[0.4, -1.0], [2.0, 3.25]])
    with tf.Graph().as_default() as graph:
        build(v1.placeholder(tf.float32, [2, 2], name="x"))
    last = graph.get_operations()[-1].name
    with tf.Graph().as_default() as again, v1.Session() as session:
        tf.import_graph_def(graph.as_graph_def(), name="")
        result = session.run(f"{last}:0", {"x:0": x.numpy()})
    nodes = [list(map(str, g.as_graph_def().node)) for g in (graph, again)]
    assert nodes[0] == nodes[1]
    assert any(name in node for node in nodes[0])
    np.testing.assert_array_equal(result, build(x))


def test_shapes_of_protos():
    def shape(text):
        return shape_of(text_format.Parse(text, tf.TensorShape([]).as_proto().__class__()))

    assert shape("unknown_rank: true").rank is None
    assert shape("dim { size: 0 } dim { size: -1 } dim { size: 3 }").as_list() == [0, None, 3]
    with pytest.raises(ValueError, match=r"Shape \[1, -2\] has dimensions with values below -1"):
        shape("dim { size: 1 } dim { size: -2 }")


# ---- nodes -----------------------------------------------------------------------------------------------------------


def test_names():
    assert [node_name(text) for text in ("a", "a:1", "^a", "b/c:0")] == ["a", "a", "a", "b/c"]
    assert unused_name("a", {"a", "a_"}) == "a__" and unused_name("a", {"b"}) == "a"


def test_nodes_come_after_those_that_they_need_and_keep_their_order_otherwise():
    needs = {"a": ("cd", ""), "b": ("", ""), "c": ("x", "e"), "d": ("", ""), "e": ("b", "")}
    nodes = [ParsedNode(n, "NoOp", [(i, 0) for i in inputs], list(after), {}) for n, (inputs, after) in needs.items()]
    assert [node.name for node in in_order(nodes, ["x"])] == ["b", "e", "c", "d", "a"]
    cycle = [ParsedNode(n, "NoOp", [(i, 0)], [], {}) for n, i in (("p", "q"), ("q", "r"), ("r", "p"), ("s", "r"))]
    with pytest.raises(ValueError, match="4 nodes in a cycle"):
        in_order(cycle)
    with pytest.raises(ValueError, match="3 nodes in a cycle"):
        in_order([ParsedNode("t", "NoOp", [], [], {}), *cycle[:3]])


def test_identities_are_followed_to_their_source():
    nodes = {name: ParsedNode(name, op, [(source, 1)], [], {}) for name, op, source in
             (("a", "Identity", "b"), ("b", "Identity", "x"), ("c", "Neg", "x"))}  # fmt: skip
    assert [without_identities(nodes, (name, 0)) for name in "abcx"] == [("x", 1), ("x", 1), ("c", 0), ("x", 0)]


def test_offsets_of_outputs_in_lists():
    dtypes = "list { type: DT_FLOAT type: DT_INT32 }"
    text = 'name: "n" op: "IteratorGetNext" ' + attr("output_types", dtypes)
    assert output_offsets(text_format.Parse(text, v1.NodeDef())) == {"components": 0}
    text = 'name: "n" op: "ParseExampleV2" ' + attr("sparse_types", dtypes) + attr("num_sparse", "i: 2")
    text += attr("Tdense", "list { type: DT_FLOAT }") + attr("ragged_value_types", dtypes)
    text += attr("ragged_split_types", "list { type: DT_INT64 type: DT_INT64 }")
    assert output_offsets(text_format.Parse(text, v1.NodeDef())) == {
        "sparse_indices": 0, "sparse_values": 2, "sparse_shapes": 4, "dense_values": 6, "ragged_values": 7,
        "ragged_row_splits": 9,
    }  # fmt: skip
    assert output_offsets(text_format.Parse('name: "n" op: "TopKV2"', v1.NodeDef())) == {"values": 0, "indices": 1}


# ---- functions -------------------------------------------------------------------------------------------------------

FUNCTION = """signature { name: "f" input_arg { name: "x" type: DT_FLOAT }
    output_arg { name: "y" type: DT_FLOAT } output_arg { name: "i" type: DT_INT32 } }
    node_def { name: "top" op: "TopKV2" input: "x" input: "k:output:0" attr { key: "T" value { type: DT_FLOAT } } }
    node_def { name: "k" op: "Const" input: "^x" }
    ret { key: "y" value: "top:values:0" } ret { key: "i" value: "top:indices" }
    control_ret { key: "any" value: "k" }"""


def library_function(text):
    return function_of(text_format.Parse(text, v1.GraphDef().library.function.add().__class__()))


def test_functions_of_a_library():
    function = library_function(FUNCTION)
    assert (function.name, function.arguments, function.dtypes) == ("f", ["x"], [tf.float32])
    assert function.outputs == [("top", 0), ("top", 1)] and function.effects == ["k"]
    assert [(n.name, n.op, n.inputs, n.controls) for n in function.nodes] == [
        ("top", "TopKV2", [("x", 0), ("k", 0)], []), ("k", "Const", [], ["x"]),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "error", "message"),
    [
        ("type: DT_FLOAT }", 'type_attr: "T" }', tf.errors.UnimplementedError, "'f' is generic in its argument 'x'"),
        ("type: DT_FLOAT }", 'number_attr: "N" }', tf.errors.UnimplementedError, "is generic in its argument 'x'"),
        ("type: DT_FLOAT }", 'type_list_attr: "T" }', tf.errors.UnimplementedError, "is generic in its argument 'x'"),
        ("k:output:0", "q:output:0", ValueError, "Function 'f': 'q:output:0' is the output of no node"),
        ("k:output:0", "k:value:0", ValueError, "node 'k' of op Const has no output 'value:0'"),
        ("k:output:0", "k:output:a", ValueError, "node 'k' of op Const has no output 'output:a'"),
        ('"^x"', '"^q"', ValueError, "Node 'k': Unknown input node '\\^q'"),
        ('ret { key: "i" value: "top:indices" }', "", ValueError, "Function 'f': no node gives its result 'i'"),
        ('name: "k"', 'name: "x"', ValueError, "'k:output:0' is the output of no node"),
        ("top:indices", "x", None, None),
    ],
)
def test_functions_that_contradict_themselves(old, new, error, message):
    text = FUNCTION.replace(old, new, 1)
    assert text != FUNCTION
    if error is None:
        assert library_function(text).outputs == [("top", 0), ("x", 0)]
    else:
        with pytest.raises(error, match=message):
            library_function(text)


# ---- definitions -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["MatMul", "Split", "IdentityN", "AssignAdd", "RandomUniform", "Conv2D", "ConcatV2"])
def test_definitions_are_those_of_operations(name):
    """The declarations in `op_defs.txt`, as protos."""
    definition, proto = definition_of(name), op_def_proto(name)
    assert (proto.name, proto.is_stateful, proto.is_commutative) == (
        name, definition.stateful, definition.commutative,
    )  # fmt: skip
    for own, arguments in ((proto.input_arg, definition.inputs), (proto.output_arg, definition.outputs)):
        assert [a.name for a in own] == [a.name for a in arguments]
        assert [a.is_ref for a in own] == [a.is_ref for a in arguments]
        for field in ("type_attr", "number_attr", "type_list_attr"):
            assert [getattr(a, field) or None for a in own] == [getattr(a, field) or None for a in arguments]
        assert [a.type for a in own] == [a.type.as_datatype_enum if a.type else 0 for a in arguments]
    for attribute in proto.attr:
        own = definition.attrs[attribute.name]
        assert attribute.type == own.type
        assert attribute.HasField("default_value") == own.has_default
        assert (attribute.minimum if attribute.has_minimum else None) == own.minimum
        assert attribute.HasField("allowed_values") == (own.allowed is not None)
    assert len(proto.attr) == len(definition.attrs)
