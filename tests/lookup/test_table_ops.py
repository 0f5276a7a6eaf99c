"""Nodes of tables in a `GraphDef`: graphs that are written and read again. Expected values are TensorFlow's."""

import pytest
from google.protobuf import text_format

import tapeflow as tf

v1 = tf.compat.v1
WORDS = ["b", "x", "a"]


def imported(make):
    """Returns the names of the outputs that `make` returns, and its graph as a message."""
    with tf.Graph().as_default() as graph:
        outputs = make()
    return [t.name for t in outputs], graph.as_graph_def()


def run(names, definition, *initializers, prefix="again", session=None):
    graph = tf.Graph()
    with graph.as_default():
        tf.import_graph_def(definition, name=prefix)
        with v1.Session() as session:
            for name in initializers:
                session.run(graph.get_operation_by_name(f"{prefix}/{name}"))
            return [session.run(f"{prefix}/{name}").tolist() for name in names]


def test_tables_of_pairs():
    def make():
        initializer = tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([1, 2], tf.int64))
        table = tf.lookup.StaticHashTable(initializer, -1, name="mine")
        keys, values = table.export()
        initializers.append(v1.get_collection("table_initializer")[0].name)
        return table.lookup(tf.constant(WORDS)), table.size(), tf.sort(values), tf.shape(keys)

    initializers = []
    names, definition = imported(make)
    kinds = {node.op for node in definition.node}
    assert {"HashTableV2", "LookupTableImportV2", "LookupTableFindV2", "LookupTableSizeV2"} <= kinds
    assert "LookupTableExportV2" in kinds
    (table,) = [node for node in definition.node if node.op == "HashTableV2"]
    assert table.name == "mine" and (table.attr["key_dtype"].type, table.attr["value_dtype"].type) == (7, 9)
    assert run(names, definition, *initializers) == [[2, -1, 1], 2, [1, 2], [2]]
    with pytest.raises(tf.errors.FailedPreconditionError, match="not initialized"):
        run(names, definition)


NODES = """
node { name: "table" op: "HashTableV2"
  attr { key: "key_dtype" value { type: DT_STRING } } attr { key: "value_dtype" value { type: DT_INT64 } } SHARED }
node { name: "file" op: "Const" attr { key: "dtype" value { type: DT_STRING } }
  attr { key: "value" value { tensor { dtype: DT_STRING tensor_shape { } string_val: "PATH" } } } }
node { name: "init" op: "InitializeTableFromTextFileV2" input: "table" input: "file" OPTIONS }
node { name: "words" op: "Placeholder" attr { key: "dtype" value { type: DT_STRING } } }
node { name: "default" op: "Const" attr { key: "dtype" value { type: DT_INT64 } }
  attr { key: "value" value { tensor { dtype: DT_INT64 tensor_shape { } int64_val: -1 } } } }
node { name: "found" op: "LookupTableFindV2" input: "table" input: "words" input: "default"
  attr { key: "Tin" value { type: DT_STRING } } attr { key: "Tout" value { type: DT_INT64 } } }
"""


def integers(**values):
    return " ".join(f'attr {{ key: "{name}" value {{ i: {value} }} }}' for name, value in values.items())


def definition_of(path, options, shared=""):
    text = NODES.replace("PATH", str(path)).replace("OPTIONS", options).replace("SHARED", shared)
    return text_format.Parse(text, v1.GraphDef())


def find(session, graph, prefix="t"):
    found = graph.get_tensor_by_name(f"{prefix}/found:0")
    return session.run(found, {f"{prefix}/words:0": ["a", "b", "c", "x"]}).tolist()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"key_index": -2, "value_index": -1}, [-1, -1, -1, -1]),
        ({"key_index": 0, "value_index": 1}, [5, 6, 7, -1]),
        ({"key_index": 0, "value_index": -1}, [0, 1, 2, -1]),
        ({"key_index": 0, "value_index": -1, "offset": 10}, [10, 11, 12, -1]),
        ({"key_index": 0, "value_index": 1, "vocab_size": 2}, [5, 6, -1, -1]),
        ({"key_index": 1, "value_index": 0}, None),
    ],
)
def test_tables_of_files(tmp_path, options, expected):
    (tmp_path / "words").write_text("a;5\nb;6\nc;7\n")
    definition = definition_of(
        tmp_path / "words", f'{integers(**options)} attr {{ key: "delimiter" value {{ s: ";" }} }}'
    )
    with tf.Graph().as_default() as graph, v1.Session() as session:
        tf.import_graph_def(definition, name="t")
        init = graph.get_operation_by_name("t/init")
        if expected is None:
            with pytest.raises(tf.errors.InvalidArgumentError):
                session.run(init)
            return
        session.run(init)
        assert find(session, graph) == expected
        again = graph.as_graph_def()
    written = {node.name: node for node in again.node}["t/init"]
    assert written.op == "InitializeTableFromTextFileV2"
    for name, value in options.items():
        assert written.attr[name].i == value
    assert written.attr["delimiter"].s == b";"


@pytest.mark.parametrize("shared", [True, False])
def test_tables_of_one_name_are_one(tmp_path, shared):
    (tmp_path / "words").write_text("a\nb\n")
    options = integers(key_index=-2, value_index=-1)
    text = 'attr { key: "shared_name" value { s: "one" } }' if shared else ""
    definition = definition_of(tmp_path / "words", options, text)
    with tf.Graph().as_default() as graph, v1.Session() as session:
        for prefix in ("t", "u"):
            tf.import_graph_def(definition, name=prefix)
        session.run(graph.get_operation_by_name("t/init"))
        assert find(session, graph) == [0, 1, -1, -1]
        if shared:
            assert find(session, graph, "u") == [0, 1, -1, -1]
            return
        with pytest.raises(tf.errors.FailedPreconditionError, match="not initialized"):
            find(session, graph, "u")
        with v1.Session() as other, pytest.raises(tf.errors.FailedPreconditionError, match="not initialized"):
            find(other, graph)
