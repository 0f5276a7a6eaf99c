"""Meta graphs: which collections they hold, and how they are read back."""

import os

import pytest
from google.protobuf import text_format

import tapeflow as tf

v1 = tf.compat.v1
train = v1.train


@pytest.fixture
def meta():
    """A meta graph with a collection of each kind."""
    with tf.Graph().as_default():
        v = v1.get_variable("v", initializer=[1.0, 2.0])
        with tf.device("/cpu:0"):
            y = tf.identity(v * 2.0, name="y")
        v1.get_local_variable("local", initializer=3)
        collections = {
            "ints": [1, -2], "floats": [0.5, 2.0], "texts": ["a", b"\xff"], "nodes": [y, y.op], "none": [],
            "others": [object()],
        }  # fmt: skip
        for key, items in collections.items():
            for item in items:
                v1.add_to_collection(key, item)
        info = v1.MetaGraphDef.MetaInfoDef(meta_graph_version="mine", tags=["t"])
        return train.export_meta_graph(meta_info_def=info, saver_def=train.Saver(max_to_keep=3).as_saver_def())


def test_collections_by_kind(meta):
    found = meta.collection_def
    assert list(found["ints"].int64_list.value) == [1, -2]
    assert list(found["floats"].float_list.value) == [0.5, 2.0]
    assert list(found["texts"].bytes_list.value) == [b"a", b"\xff"]
    assert list(found["nodes"].node_list.value) == ["y:0", "y"]
    assert "none" not in found
    assert "others" not in found
    assert meta.meta_info_def.meta_graph_version == "mine"
    assert list(meta.meta_info_def.tags) == ["t"]
    assert meta.saver_def.max_to_keep == 3


def test_collections_come_back(meta):
    with tf.Graph().as_default() as graph:
        saver = train.import_meta_graph(meta)
        assert v1.get_collection("ints") == [1, -2]
        assert v1.get_collection("floats") == [0.5, 2.0]
        assert v1.get_collection("texts") == [b"a", b"\xff"]
        y = graph.get_tensor_by_name("y:0")
        assert v1.get_collection("nodes") == [y, y.op]
        assert v1.get_collection("others") == []
        (v,) = v1.global_variables()
        assert v1.trainable_variables() == [v]
        assert [w.name for w in v1.local_variables()] == ["local:0"]
        assert saver.as_saver_def().max_to_keep == 3
        with v1.Session() as sess:
            sess.run(v.initializer)
            assert sess.run(y).tolist() == [2.0, 4.0]


def test_names_with_a_prefix(meta):
    with tf.Graph().as_default(), v1.Session() as sess:
        train.import_meta_graph(meta, import_scope="in")
        assert [v.name for v in v1.global_variables()] == ["in/v:0"]
        assert [n.name for n in v1.get_collection("nodes")] == ["in/y:0", "in/y"]
        sess.run(v1.global_variables_initializer())
        assert sess.run("in/y:0").tolist() == [2.0, 4.0]


def test_devices_are_left_out(meta):
    assert any(node.device for node in meta.graph_def.node)
    for clear in (False, True):
        with tf.Graph().as_default() as graph:
            train.import_meta_graph(meta, clear_devices=clear)
            assert any(node.device for node in graph.as_graph_def().node) is not clear
            exported = train.export_meta_graph(clear_devices=True)
            assert not any(node.device for node in exported.graph_def.node)
    assert any(node.device for node in meta.graph_def.node)  # the message is as it was


@pytest.mark.parametrize("as_text", [False, True])
def test_files(tmp_path, as_text):
    path = str(tmp_path / "m.meta")
    with tf.Graph().as_default() as graph:
        v = v1.get_variable("v", initializer=[1.0, 2.0])
        v1.add_to_collection("kept", v.initializer)
        v1.add_to_collection("left", 1)
        with tf.Graph().as_default():
            written = train.export_meta_graph(path, as_text=as_text, graph=graph, collection_list=["kept", "variables"])
    assert sorted(written.collection_def) == ["kept", "variables"]
    data = (tmp_path / "m.meta").read_bytes()
    read = text_format.Parse(data.decode(), v1.MetaGraphDef()) if as_text else v1.MetaGraphDef.FromString(data)
    assert read.graph_def == written.graph_def
    with tf.Graph().as_default():
        saver = train.import_meta_graph(path, max_to_keep=7)
        assert isinstance(saver, train.Saver)
        assert saver.as_saver_def().max_to_keep == 7
        assert [w.name for w in v1.global_variables()] == ["v:0"]


def test_files_that_are_none(tmp_path):
    path = tmp_path / "m.meta"
    for data in (b"\xff\xfe\x01", b"neither { nor"):
        path.write_bytes(data)
        with tf.Graph().as_default(), pytest.raises(OSError, match="Cannot parse file"):
            train.import_meta_graph(str(path))
    with tf.Graph().as_default(), pytest.raises(OSError, match="File does not exist"):
        train.import_meta_graph(os.path.join(str(tmp_path), "nothing"))


def test_a_graph_without_variables():
    with tf.Graph().as_default():
        tf.constant(1.0, name="c")
        meta = train.export_meta_graph()
    with tf.Graph().as_default() as graph:
        assert train.import_meta_graph(meta) is None
        assert graph.get_operation_by_name("c").type == "Const"
    with tf.Graph().as_default(), v1.Session() as sess:
        meta.saver_def.CopyFrom(train.Saver(allow_empty=True).as_saver_def())
    other = v1.GraphDef()
    other.node.add(name="other", op="NoOp")
    with tf.Graph().as_default():
        assert [n.name for n in train.export_meta_graph(graph_def=other).graph_def.node] == ["other"]
    sess.close()
