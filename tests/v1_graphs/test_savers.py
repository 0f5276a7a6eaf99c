"""The operations of TensorFlow 1's savers in graphs that are read; the results are those of TensorFlow 2.21."""

import numpy as np
import pytest

import tapeflow as tf

v1 = tf.compat.v1
VALUES = np.arange(12.0, dtype=np.float32).reshape(4, 3)


def add_node(graph_def, name, op, inputs=(), **attrs):
    node = graph_def.node.add()
    node.name, node.op = name, op
    node.input.extend(inputs)
    for key, value in attrs.items():
        if isinstance(value, tf.DType):
            node.attr[key].type = value.as_datatype_enum
        elif isinstance(value, list) and isinstance(value[0], tf.DType):
            node.attr[key].list.type.extend(d.as_datatype_enum for d in value)
        else:
            node.attr[key].tensor.CopyFrom(tf.make_tensor_proto(value))
            node.attr["dtype"].type = node.attr[key].tensor.dtype


def run(nodes, fetches):
    """Runs a graph of nodes: (name, op, inputs, attrs); plain values are constants."""
    graph_def = v1.GraphDef()
    graph_def.versions.producer = 22
    for name, *node in nodes:
        if len(node) == 1:
            add_node(graph_def, name, "Const", value=node[0])
        else:
            add_node(graph_def, name, node[0], node[1], **node[2])
    with tf.Graph().as_default(), v1.Session() as session:
        tf.graph_util.import_graph_def(graph_def, name="")
        return session.run(fetches)


def save(path, names, slices, values):
    """Saves parts of variables by `SaveV2`."""
    tensors = [(f"v{i}", value) for i, value in enumerate(values)]
    inputs = ["path", "names", "slices", *(name for name, _ in tensors)]
    dtypes = [tf.as_dtype(np.asarray(value).dtype) for value in values]
    run([("path", path), ("names", names), ("slices", slices), *tensors,
         ("save", "SaveV2", inputs, {"dtypes": dtypes})], "save")  # fmt: skip


def restore(path, names, slices, dtypes):
    fetches = [f"restore:{i}" for i in range(len(names))]
    return run([("path", path), ("names", names), ("slices", slices),
                ("restore", "RestoreV2", ["path", "names", "slices"], {"dtypes": dtypes})], fetches)  # fmt: skip


@pytest.fixture
def path(tmp_path):
    path = str(tmp_path / "values")
    save(path, ["a", "b"], ["", ""], [VALUES, np.array([7, 8], np.int64)])
    return path


def test_whole_variables(path):
    b, a = restore(path, ["b", "a"], ["", ""], [tf.int64, tf.float32])
    assert a.tolist() == VALUES.tolist() and b.tolist() == [7, 8] and b.dtype == np.int64
    assert tf.train.load_checkpoint(path).get_variable_to_shape_map() == {"a": [4, 3], "b": [2]}


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("4 3 -:-", VALUES), ("4 3 1,2:-", VALUES[1:3]), ("4 3 0,4:2,1", VALUES[:, 2:]),
        ("4 3 3,1:0,2", VALUES[3:, :2]),
    ],
)  # fmt: skip
def test_parts_of_variables(path, place, expected):
    (part,) = restore(path, ["a"], [place], [tf.float32])
    assert part.tolist() == expected.tolist() and part.shape == expected.shape


def test_parts_are_saved_as_one(tmp_path):
    path = str(tmp_path / "parts")
    save(path, ["a", "b", "a"], ["4 3 0,1:-", "", "4 3 1,3:-"], [VALUES[:1], np.float32(5.0), VALUES[1:]])
    whole, b = restore(path, ["a", "b"], ["", ""], [tf.float32, tf.float32])
    assert whole.tolist() == VALUES.tolist() and b == 5.0


@pytest.mark.parametrize("place", ["4 3", "4 3 0,1", "4 3 0,1:-:-", "4 x -:-", "4 3 a,1:-", "-:-"])
def test_places_that_can_not_be_read(path, place):
    with pytest.raises(tf.errors.InvalidArgumentError):
        restore(path, ["a"], [place], [tf.float32])


def test_places_in_variables_of_another_shape(path):
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not match the shape in the save file"):
        restore(path, ["a"], ["5 3 0,1:-"], [tf.float32])


def test_names_that_are_not_there(path):
    with pytest.raises(tf.errors.NotFoundError, match="c"):
        restore(path, ["c"], [""], [tf.float32])


def test_one_variable(path):
    nodes = [("path", path), ("name", "a"), ("restore", "Restore", ["path", "name"], {"dt": tf.float32})]
    assert run(nodes, "restore:0").tolist() == VALUES.tolist()
    nodes = [("path", path), ("name", "a"), ("place", "4 3 2,2:-"),
             ("restore", "RestoreSlice", ["path", "name", "place"], {"dt": tf.float32})]  # fmt: skip
    assert run(nodes, "restore:0").tolist() == VALUES[2:].tolist()


@pytest.mark.parametrize("op", ["Save", "SaveSlices"])
def test_older_operations_save(tmp_path, op):
    path = str(tmp_path / "old")
    slices = [("slices", ["", "2 -"])] if op == "SaveSlices" else []
    inputs = ["path", "names", *(name for name, _ in slices), "a", "b"]
    run([("path", path), ("names", ["x", "y"]), *slices, ("a", VALUES), ("b", np.array([1, 2], np.int32)),
         ("save", op, inputs, {"T": [tf.float32, tf.int32]})], "save")  # fmt: skip
    nodes = [("path", path), ("name", "y"), ("restore", "Restore", ["path", "name"], {"dt": tf.int32})]
    assert run(nodes, "restore:0").tolist() == [1, 2]


@pytest.mark.parametrize(("shard", "shards", "expected"), [(0, 1, b"p-00000-of-00001"), (12, 345, b"p-00012-of-00345")])
def test_names_of_shards(shard, shards, expected):
    nodes = [("base", "p"), ("shard", np.int32(shard)), ("shards", np.int32(shards)),
             ("name", "ShardedFilename", ["base", "shard", "shards"], {})]  # fmt: skip
    assert run(nodes, "name:0") == expected


def test_names_are_text():
    for base in (["p"], b"\xff"):
        nodes = [("base", base), ("shard", np.int32(0)), ("shards", np.int32(1)),
                 ("name", "ShardedFilename", ["base", "shard", "shards"], {})]  # fmt: skip
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"Expected a scalar string|Expected text"):
            run(nodes, "name:0")
