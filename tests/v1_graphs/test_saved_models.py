"""SavedModels that hold a graph and no objects; the results are those of TensorFlow 2.21."""

import pytest

import tapeflow as tf

v1 = tf.compat.v1


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """A model of TensorFlow 1 with a variable, a table of a file, sparse tensors, and several signatures."""
    path = tmp_path_factory.mktemp("models")
    words = path / "words.txt"
    words.write_text("a\nb\n")
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [None, 2], name="x")
        w = v1.get_variable("w", initializer=[2.0, 3.0], use_resource=True)
        steps = v1.get_variable("steps", initializer=0, trainable=False, use_resource=True)
        y = tf.multiply(x, w, name="y")
        v1.assign_add(steps, 1, name="count")
        steps.read_value()
        sparse = v1.sparse_placeholder(tf.float32, [None, None], name="s")
        doubled = tf.SparseTensor(sparse.indices, sparse.values * 2.0, sparse.dense_shape)
        asset = tf.constant(str(words), name="asset")
        v1.add_to_collection(v1.GraphKeys.ASSET_FILEPATHS, asset)
        initializer = tf.lookup.TextFileInitializer(asset, tf.string, -2, tf.int64, -1)
        table = v1.lookup.StaticHashTable(initializer, -1)
        word = v1.placeholder(tf.string, [None], name="word")
        number = tf.identity(table.lookup(word), name="number")
        session.run([v1.global_variables_initializer(), v1.tables_initializer()])
        build, predict = v1.saved_model.build_tensor_info, v1.saved_model.build_signature_def
        builder = v1.saved_model.Builder(str(path / "model"))
        builder.add_meta_graph_and_variables(
            session, ["serve"], main_op=v1.tables_initializer(), assets_collection=[asset],
            signature_def_map={
                "serving_default": predict({"x": build(x)}, {"y": build(y), "x_again": build(x)}, "predict"),
                "sparse": predict(
                    {"s": build(sparse)}, {"doubled": build(doubled), "w": build(w.read_value())}, "predict"
                ),
                "words": predict({"word": build(word)}, {"number": build(number)}, "predict"),
            },
        )  # fmt: skip
        builder.save()
    return str(path / "model")


@pytest.fixture
def loaded(directory):
    return tf.saved_model.load(directory)


def test_variables_have_their_values(loaded):
    assert {v.name: v.numpy().tolist() for v in loaded.variables} == {"w:0": [2.0, 3.0], "steps:0": 0}
    assert {v.name: v.trainable for v in loaded.variables} == {"w:0": True, "steps:0": False}


def test_signatures(loaded):
    signatures = loaded.signatures
    assert sorted(signatures) == ["serving_default", "sparse", "words"] and len(signatures) == 3
    assert "serving_default" in signatures and "__saved_model_init_op" not in signatures
    with pytest.raises(KeyError):
        signatures["nothing"]
    assert signatures["words"] is signatures["words"]
    assert repr(signatures).startswith("_SignatureMap({")


def test_calls_of_a_signature(loaded):
    serve = loaded.signatures["serving_default"]
    found = serve(x=tf.constant([[1.0, 10.0], [2.0, 20.0]]))
    assert {name: t.numpy().tolist() for name, t in found.items()} == {
        "y": [[2.0, 30.0], [4.0, 60.0]], "x_again": [[1.0, 10.0], [2.0, 20.0]],
    }  # fmt: skip
    assert serve.structured_input_signature[1]["x"].shape.as_list() == [None, 2]
    loaded.variables[[v.name for v in loaded.variables].index("w:0")].assign([1.0, 1.0])
    assert serve(x=tf.constant([[5.0, 7.0]]))["y"].numpy().tolist() == [[5.0, 7.0]]


def test_sparse_tensors_of_a_signature(loaded):
    serve = loaded.signatures["sparse"]
    s = tf.SparseTensor([[0, 1], [2, 0]], [3.0, 4.0], [3, 4])
    found = serve(s_indices=s.indices, s_values=s.values, s_dense_shape=s.dense_shape)
    assert isinstance(found["doubled"], tf.SparseTensor) and found["w"].numpy().tolist() == [2.0, 3.0]
    assert tf.sparse.to_dense(found["doubled"]).numpy().tolist() == [[0, 6, 0, 0], [0, 0, 0, 0], [8, 0, 0, 0]]


def test_tables_are_filled_from_the_assets(loaded):
    assert loaded.signatures["words"](word=tf.constant(["b", "c", "a"]))["number"].numpy().tolist() == [1, -1, 0]
    (asset,) = loaded.asset_paths
    assert tf.io.read_file(asset.asset_path).numpy() == b"a\nb\n"


@pytest.mark.parametrize(
    ("arguments", "keywords"),
    [((), {}), ((), {"z": 1.0}), ((), {"x": [[1.0, 2.0]], "z": 1.0}), (([[1.0, 2.0]], [[1.0, 2.0]]), {}),
     (([[1.0, 2.0]],), {"x": [[1.0, 2.0]]})],
)  # fmt: skip
def test_arguments_that_are_refused(loaded, arguments, keywords):
    with pytest.raises(TypeError):
        loaded.signatures["serving_default"](*arguments, **keywords)


def test_parts_of_the_graph(loaded):
    double = loaded.prune("x:0", "y:0")
    assert double(tf.constant([[1.0, 1.0]])).numpy().tolist() == [[2.0, 3.0]]
    middle = loaded.prune(["y:0"], {"out": "y:0", "none": "count"})
    found = middle(tf.constant([[7.0, 8.0]]))
    assert found["out"].numpy().tolist() == [[7.0, 8.0]] and found["none"] is None
    assert {v.name: v.numpy().tolist() for v in loaded.variables}["steps:0"] == 1  # an operation that is fetched runs
    tensors = loaded.prune(loaded.graph.get_tensor_by_name("x:0"), [loaded.graph.get_tensor_by_name("y:0")])
    assert tensors(tf.constant([[1.0, 1.0]]))[0].numpy().tolist() == [[2.0, 3.0]]
    sparse = loaded.prune(("s/indices:0", "s/values:0", "s/shape:0"), "s/values:0")
    values = sparse(tf.zeros([1, 2], tf.int64), tf.constant([3.0]), tf.constant([1, 1], tf.int64))
    assert values.numpy().tolist() == [3.0]


def test_parts_that_are_refused(loaded):
    with pytest.raises(ValueError, match="must be tensors"):
        loaded.prune(["count"], "y:0")
    for fetch in ("nothing:0", "nothing"):
        with pytest.raises(KeyError, match="which does not exist"):
            loaded.prune("x:0", fetch)


def test_names_of_parameters(loaded):
    pruned = loaded.prune("x:0", "y:0")
    assert pruned(x=tf.constant([[1.0, 1.0]])).numpy().tolist() == [[2.0, 3.0]]


@pytest.fixture(scope="module")
def loop_directory(tmp_path_factory):
    """A loop and a conditional of TensorFlow 1."""
    path = str(tmp_path_factory.mktemp("loops") / "model")
    v1.disable_control_flow_v2()
    try:
        with tf.Graph().as_default(), v1.Session() as session:
            x = v1.placeholder(tf.float32, [], name="x")
            w = v1.get_variable("w", initializer=2.0, use_resource=True)
            y = v1.while_loop(lambda v: v < 50.0, lambda v: v * w, [x])
            z = v1.cond(y > 100.0, lambda: y + 1.0, lambda: y - 1.0)
            session.run(v1.global_variables_initializer())
            v1.saved_model.simple_save(session, path, {"x": x}, {"y": y, "z": tf.identity(z, name="z")})
    finally:
        v1.enable_control_flow_v2()
    return path


@pytest.mark.parametrize(
    ("x", "y", "z"), [(1.0, 64.0, 63.0), (60.0, 60.0, 59.0), (30.0, 60.0, 59.0), (101.0, 101.0, 102.0)]
)
def test_control_flow(loop_directory, x, y, z):
    serve = tf.saved_model.load(loop_directory).signatures["serving_default"]
    found = serve(x=tf.constant(x))
    assert (float(found["y"]), float(found["z"])) == (y, z)


@pytest.fixture(scope="module")
def dataflow_directory(tmp_path_factory):
    """A conditional of which a branch is read by other nodes, too: it is run as it stands."""
    attrs = {"T": tf.float32.as_datatype_enum}
    graph_def = v1.GraphDef()
    for name, op, *inputs in (
        ("x", "Placeholder"), ("p", "Placeholder"), ("w", "VarHandleOp"), ("v", "ReadVariableOp", "w"),
        ("s", "Switch", "x", "p"), ("no", "Neg", "s"), ("yes", "Mul", "s:1", "v"), ("m", "Merge", "no", "yes"),
        ("reader", "Exp", "yes"), ("three", "Const"), ("init", "AssignVariableOp", "w", "three"),
    ):  # fmt: skip
        node = graph_def.node.add(name=name, op=op, input=inputs)
        dtype = tf.bool.as_datatype_enum if name == "p" else attrs["T"]
        if op in ("Placeholder", "VarHandleOp", "ReadVariableOp", "Const", "AssignVariableOp"):
            node.attr["dtype"].type = dtype
        else:
            node.attr["T"].type = dtype
        if op == "Merge":
            node.attr["N"].i = 2
        if op == "Const":
            node.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(3.0))
        if op == "VarHandleOp":
            node.attr["shape"].shape.SetInParent()
            node.attr["shared_name"].s = b"w"
    meta = v1.MetaGraphDef(graph_def=graph_def)
    meta.meta_info_def.tags.append("serve")
    meta.collection_def["saved_model_main_op"].node_list.value.append("init")
    path = tmp_path_factory.mktemp("dataflow")
    (path / "saved_model.pb").write_bytes(b"\x08\x01\x12" + _varint(meta.ByteSize()) + meta.SerializeToString())
    return str(path)


def _varint(number):
    parts = [number >> shift & 127 for shift in range(0, max(number.bit_length(), 1), 7)]
    return bytes([*(part | 128 for part in parts[:-1]), parts[-1]])


def test_other_control_flow_is_run_as_it_stands(dataflow_directory):
    loaded = tf.saved_model.load(dataflow_directory)
    (w,) = loaded.variables
    assert float(w) == 3.0
    chosen = loaded.prune(["x:0", "p:0"], {"m": "m:0", "index": "m:1", "x": "x:0", "none": "reader"})
    found = chosen(tf.constant(2.0), tf.constant(True))
    assert (float(found["m"]), int(found["index"]), float(found["x"])) == (6.0, 1, 2.0) and found["none"] is None
    w.assign(5.0)
    reader = loaded.prune(["p:0", "x:0"], ["reader:0", "m:0"])
    found = reader(tf.constant(True), tf.constant(0.5))
    assert [round(float(t), 3) for t in found] == [12.182, 2.5]
    assert float(loaded.prune(["yes:0"], "reader:0")(tf.constant(0.0))) == 1.0
